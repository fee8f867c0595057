#include "limber/rom/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "limber/math/enclosing_ball.h"

namespace limber::rom {
namespace {

class Partitioner {
 public:
  Partitioner(const Model& model, const std::vector<std::string>& ends)
      : model_(model), n_(count()), part_(n_) {
    std::iota(part_.begin(), part_.end(), 0);
    find_ground();
    connect();
    find_ends(ends);
  }

  Partition run() {
    Partition out;
    for (int i = 0; i < n_; ++i)
      if (ground_[i]) out.ground.push_back(i);
    for (int root = 0; root < n_; ++root) {
      if (ground_[root] || find(root) != root) continue;
      std::vector<int> bodies;
      for (int i = root; i < n_; ++i)
        if (!ground_[i] && find(i) == root) bodies.push_back(i);
      const bool has_end = std::any_of(bodies.begin(), bodies.end(), [&](int b) { return end_[b] != 0; });
      if (!has_end) {
        if (bodies.size() == 1 && model_.joints()[root].kind == JointKind::free && !held_[root]) {
          out.props.push_back(root);
          continue;
        }
        problems_.push_back(
            {"body", model_.bodies()[root].name, "",
             "belongs to a mechanism without an end effector: name one of its bodies in rom.ends"});
        continue;
      }
      out.mechanisms.push_back(mechanism(bodies));
    }
    if (!problems_.empty()) throw ModelError(problems_);
    return out;
  }

 private:
  int count() const { return static_cast<int>(model_.bodies().size()); }
  int find(int i) {
    while (part_[i] != i) i = part_[i] = part_[part_[i]];
    return i;
  }
  void join(int a, int b) {
    a = find(a), b = find(b);
    part_[std::max(a, b)] = std::min(a, b);
  }

  void find_ground() {
    ground_.assign(n_, 0), held_.assign(n_, 0), end_.assign(n_, 0);
    for (int i = 0; i < n_; ++i) {
      const Joint& joint = model_.joints()[i];
      ground_[i] = joint.kind == JointKind::fixed && (!joint.parent.valid() || ground_[joint.parent.value]);
    }
  }

  void tie(BodyId a, BodyId b) {
    const bool moves_a = a.valid() && !ground_[a.value], moves_b = b.valid() && !ground_[b.value];
    if (moves_a && moves_b) join(a.value, b.value);
    if (moves_a && !moves_b) held_[a.value] = 1;
    if (moves_b && !moves_a) held_[b.value] = 1;
  }

  void connect() {
    for (const Joint& joint : model_.joints())
      if (joint.parent.valid()) tie(joint.parent, joint.child);
    for (const Loop& loop : model_.loops()) tie(loop.a, loop.b);
    for (const Spring& spring : model_.springs()) tie(spring.a.body, spring.b.body);
    for (const Joint& joint : model_.joints())
      if (joint.kind == JointKind::free &&
          std::any_of(joint.law.stiffness.begin(), joint.law.stiffness.end(), [](double k) { return k > 0; }))
        held_[joint.child.value] = 1;
  }

  void find_ends(const std::vector<std::string>& ends) {
    if (ends.empty())
      problems_.push_back(
          {"run", "", "rom.ends", "names the bodies that are touched and loaded; there is none"});
    for (const std::string& name : ends) {
      const int body = find_end(model_, name);
      if (body < 0) {
        problems_.push_back({"run", "", "rom.ends", fmt::format("there is no body \"{}\"", name)});
        continue;
      }
      if (ground_[body])
        problems_.push_back(
            {"body", name, "", "an end effector that never moves: it is the base of its mechanism"});
      else if (end_[body])
        problems_.push_back({"run", "", "rom.ends", fmt::format("\"{}\" is named twice", name)});
      end_[body] = 1;
      order_.push_back(body);
    }
  }

  Mechanism mechanism(const std::vector<int>& bodies) {
    Mechanism out;
    out.bodies = bodies;
    const auto place = [&](int body) {
      return static_cast<int>(std::find(bodies.begin(), bodies.end(), body) - bodies.begin());
    };
    const int root = bodies[0];
    out.name = model_.bodies()[root].name;
    const bool held = std::any_of(bodies.begin(), bodies.end(), [&](int b) {
      const Joint& joint = model_.joints()[b];
      const bool on_ground = !joint.parent.valid() || ground_[joint.parent.value];
      return held_[b] || (on_ground && joint.kind != JointKind::free);
    });
    out.free_base = !held;
    for (const int body : order_) {
      if (ground_[body] || find(body) != find(root)) continue;
      if (out.free_base && body == root)
        problems_.push_back(
            {"body", model_.bodies()[body].name, "",
             "an end effector that is the base of its mechanism: name bodies that hang on it"});
      out.ends.push_back(place(body));
    }
    for (const int body : bodies) {
      out.inertias.push_back(model_.bodies()[body].inertia);
      out.names.push_back(model_.bodies()[body].name);
    }
    for (const Drive& drive : model_.drives()) {
      if (ground_[drive.joint.value] || find(drive.joint.value) != find(root)) continue;
      for (int k = 0; k < dof_count(model_[drive.joint].kind); ++k) {
        const bool servo = drive.kind == Drive::Kind::servo;
        if (drive.target[k].is_constant() || (servo && drive.kp[k] == 0)) continue;
        out.inputs.push_back({place(drive.joint.value), k, servo ? drive.kp[k] : 1.0});
      }
      for (int k = 0; k < dof_count(model_[drive.joint].kind); ++k)
        if (drive.kind == Drive::Kind::servo && std::isfinite(drive.max_force[k]))
          out.servos.push_back({place(drive.joint.value), k, drive.kp[k], drive.kd[k], drive.max_force[k]});
    }
    for (const int body : bodies) {
      const Joint& joint = model_.joints()[body];
      if (joint.kind == JointKind::spherical || joint.kind == JointKind::free) continue;
      for (int k = 0; k < dof_count(joint.kind); ++k) {
        const int at = place(body);
        if (std::isfinite(joint.law.lower[k])) out.limits.push_back({at, k, false, joint.law.lower[k]});
        if (std::isfinite(joint.law.upper[k])) out.limits.push_back({at, k, true, joint.law.upper[k]});
      }
    }
    out.radius = radius_of(bodies);
    return out;
  }

  // Of the smallest ball around joints and centres of mass, each body as wide as it is hard to turn: its
  // radius of gyration, √(tr I / 2m).
  double radius_of(const std::vector<int>& bodies) const {
    const std::vector<Pose> at = model_.initial_poses();
    std::vector<Vec3> points;
    for (const int body : bodies) {
      points.push_back(at[body] * model_.bodies()[body].inertia.com());
      points.push_back(at[body] * model_.joints()[body].X_BM.p);
    }
    const math::Ball ball = math::enclosing_ball(points);
    double radius = ball.radius;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      const Inertia& inertia = model_.bodies()[bodies[i]].inertia;
      if (!(inertia.m > 0)) continue;
      const Mat3 I = inertia.about_com();
      radius =
          std::max(radius, (points[2 * i] - ball.center).norm() + std::sqrt(0.5 * I.trace() / inertia.m));
    }
    return std::max(radius, 1e-300);
  }

  const Model& model_;
  int n_;
  std::vector<int> part_;
  std::vector<char> ground_, held_, end_;
  std::vector<int> order_;  // of the ends
  std::vector<Problem> problems_;
};

}  // namespace

int find_end(const Model& model, const std::string& name) {
  const auto bodies = model.bodies();
  const std::string start = name.ends_with(".tip") ? name.substr(0, name.size() - 3) : "";
  int last = -1;
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    if (bodies[b].name == name) return static_cast<int>(b);
    if (!start.empty() && bodies[b].name.size() > start.size() && bodies[b].name.starts_with(start) &&
        bodies[b].name.find_first_not_of("0123456789", start.size()) == std::string::npos)
      last = static_cast<int>(b);
  }
  return last;
}

Partition partition(const Model& model, const std::vector<std::string>& ends) {
  return Partitioner(model, ends).run();
}

std::vector<JointSite> joint_sites(const Model& sub) {
  std::vector<JointSite> out;
  const auto add = [&](JointKind kind, BodyId a, BodyId b, const Pose& F, const Pose& M) {
    if (kind == JointKind::prismatic || kind == JointKind::planar || kind == JointKind::free) return;
    out.push_back({a.value, b.value, F.p, M.p});
  };
  for (const Joint& j : sub.joints()) add(j.kind, j.parent, j.child, j.X_PF, j.X_BM);
  for (const Loop& l : sub.loops()) add(l.kind, l.a, l.b, l.X_AF, l.X_BM);
  return out;
}

Model model_of(const Model& model, const Mechanism& m, const std::vector<Pose>& at,
               const std::vector<Vec6>& wrenches, double t) {
  std::vector<int> place(model.bodies().size(), -1);
  for (std::size_t k = 0; k < m.bodies.size(); ++k) place[m.bodies[k]] = static_cast<int>(k);
  const Pose X_BaseWorld = m.free_base ? at[m.bodies[0]].inverse() : Pose{};
  // A place on the model, in the mechanism: bodies of its own, or the frame of its base.
  const auto own = [&](BodyId b) { return b.valid() && place[b.value] >= 0; };
  const auto frame = [&](BodyId b, const Pose& X) {
    if (own(b)) return X;
    return X_BaseWorld * (b.valid() ? at[b.value] * X : X);
  };
  const auto id = [&](BodyId b) { return own(b) ? BodyId{place[b.value]} : world; };
  const auto attachment = [&](Attachment a) {
    a.p = frame(a.body, Pose::translation(a.p)).p;
    a.body = id(a.body);
    return a;
  };
  const auto now = [&](const VectorFunction& f) { return VectorFunction::constant(f.value(t)); };
  ModelParts parts;
  parts.title = model.title();
  parts.gravity = m.free_base ? VectorFunction::constant(Vec3::Zero()) : now(model.gravity());
  for (const int body : m.bodies) {
    parts.bodies.push_back(model.bodies()[body]);
    Joint joint = model.joints()[body];
    joint.X_PF = frame(joint.parent, joint.X_PF);
    joint.parent = id(joint.parent);
    joint.child = BodyId{place[body]};
    joint.velocity = dofs(0);
    if (m.free_base && body == m.bodies[0]) {  // the base is welded where it is
      joint.kind = JointKind::fixed;
      joint.X_PF = Pose{}, joint.X_BM = Pose{};
      joint.position = dofs(0);
      joint.law = JointLaw{};
    }
    parts.joints.push_back(joint);
  }
  for (Drive drive : model.drives()) {
    if (place[drive.joint.value] < 0) continue;
    drive.joint = JointId{place[drive.joint.value]};
    for (TimeFunction& f : drive.target) f = TimeFunction(f.value(t));
    drive.max_force = dofs(std::numeric_limits<double>::infinity());  // cut where it acts (servos.cpp)
    parts.drives.push_back(drive);
  }
  for (Loop loop : model.loops()) {
    if (!own(loop.a) && !own(loop.b)) continue;
    loop.X_AF = frame(loop.a, loop.X_AF), loop.X_BM = frame(loop.b, loop.X_BM);
    loop.a = id(loop.a), loop.b = id(loop.b);
    parts.loops.push_back(loop);
  }
  for (Spring spring : model.springs()) {
    if (!own(spring.a.body) && !own(spring.b.body)) continue;
    spring.a = attachment(spring.a), spring.b = attachment(spring.b);
    parts.springs.push_back(spring);
  }
  for (PointLoad load : model.point_loads()) {
    if (!own(load.at.body) || m.free_base) continue;
    load.at = attachment(load.at);
    load.force = now(load.force), load.moment = now(load.moment);
    parts.point_loads.push_back(load);
  }
  for (std::size_t e = 0; e < wrenches.size(); ++e) {
    PointLoad load;
    load.name = fmt::format("end {}", e);
    load.at.body = BodyId{m.ends[e]};
    load.moment = VectorFunction::constant(wrenches[e].head<3>());
    load.force = VectorFunction::constant(wrenches[e].tail<3>());
    parts.point_loads.push_back(load);
  }
  return Model(std::move(parts));
}

}  // namespace limber::rom
