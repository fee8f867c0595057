// What the rest of the program sees of a reduced model: poses of all links, lines, probes, energies, how far
// it is from where it was linearised, and how far its joints come apart.
#include <algorithm>
#include <cmath>

#include "limber/elastic/joint_law.h"
#include "limber/multibody/closing_joint.h"
#include "limber/multibody/joint_kinematics.h"
#include "limber/rom/statics.h"
#include "limber/rom/system.h"

namespace limber::rom {
namespace {

class Observer : public observe::Source {
 public:
  Observer(const SystemData& s, const State& state, WorkspaceData& w) : s_(s), state_(state), w_(w) {
    for (std::size_t k = 0; k < s.mechanisms.size(); ++k)
      read_mechanism(s, state, static_cast<int>(k), state.t, w.mechanisms[k]);
    place_bodies(s, state, w);
    find_energies();
  }

  Vec3 position(const Attachment& at) const override { return w_.X[at.body.value] * at.p; }
  Mat3 axes(const Attachment& at) const override { return w_.X[at.body.value].R; }
  Vec3 velocity(const Attachment& at) const override {
    const Vec6 V = twist(at.body.value);
    return w_.X[at.body.value].R * (V.tail<3>() + V.head<3>().cross(at.p));
  }
  Vec3 angular_velocity(const Attachment& at) const override {
    return w_.X[at.body.value].R * twist(at.body.value).head<3>();
  }
  observe::JointReading joint(JointId id) const override {
    const JointAt at = joint_at(id.value);
    return {at.x, at.rate, joint_force(id.value)};
  }
  observe::SpringReading spring(SpringId id) const override {
    const Spring& spring = s_.model[id];
    const auto pose = [&](const Attachment& a) { return a.body.valid() ? w_.X[a.body.value] : Pose{}; };
    const auto speed = [&](const Attachment& a) {
      return a.body.valid() ? twist(a.body.value) : Vec6(Vec6::Zero());
    };
    const elastic::SpringState now =
        elastic::spring_state(elastic::law_of(spring), pose(spring.a), spring.a.p, speed(spring.a),
                              pose(spring.b), spring.b.p, speed(spring.b));
    return {now.length, now.tension};
  }
  result::Energy energy() const override { return energy_; }
  observe::ContactReading contact() const override { return {w_.contact_count, w_.overlap}; }

  // Twist of a body in its own axes.
  Vec6 twist(int body) const {
    const BodyPlace& at = s_.places[body];
    if (at.on == BodyPlace::On::prop) {
      const PropPlace& p = s_.props[at.prop];
      const Mat3& R = w_.X[body].R;
      const double* v = state_.v.data() + p.v;
      const Vec3 spin = R.transpose() * Vec3(v[0], v[1], v[2]);
      Vec6 out;
      out << spin, R.transpose() * Vec3(v[3], v[4], v[5]) - spin.cross(p.com);
      return out;
    }
    if (at.on != BodyPlace::On::mechanism) return Vec6::Zero();
    const Mechanism& m = s_.reduced.mechanisms[at.mechanism];
    const MechanismPlace& place = s_.mechanisms[at.mechanism];
    MechanismScratch& x = w_.mechanisms[at.mechanism];
    const double* v = state_.v.data();
    VecX rates(m.columns());
    rates << Eigen::Map<const VecX>(v + place.rate(), m.coordinates()), x.input_rate;
    Vec6 out = link_map(m, x.blend, at.link) * rates;
    if (place.base > 0) out += x.X[at.link].inverse_motion(Eigen::Map<const Vec6>(v + place.v));
    return out;
  }

  // The columns of lay_out_own() (compile.cpp), in the same order.
  void put_own(std::size_t next, result::Snapshot& out) const {
    const auto put = [&](double x) { out.scalars[next++] = x; };
    if (s_.model.contact()) put(w_.cone_violation);
    for (std::size_t k = 0; k < s_.reduced.mechanisms.size(); ++k) {
      const Mechanism& m = s_.reduced.mechanisms[k];
      put(w_.mechanisms[k].blend.distance);
      put(joint_gap(m, w_.mechanisms[k].X));
      if (m.quality.tested > 0) put(out_of_range(m, w_.mechanisms[k].blend) ? 1 : 0);
      if (!m.free_base) continue;
      const Vec6 sum = momentum(static_cast<int>(k));
      for (int c = 0; c < 3; ++c) put(sum[3 + c]);
      for (int c = 0; c < 3; ++c) put(sum[c]);
    }
  }

 private:
  // Of all links as they move, about their centre of mass, world axes: (angular; linear).
  Vec6 momentum(int k) const {
    const Mechanism& m = s_.reduced.mechanisms[k];
    Vec6 sum = Vec6::Zero();
    double mass = 0;
    Vec3 com = Vec3::Zero();
    for (std::size_t l = 0; l < m.bodies.size(); ++l) {
      const Pose& X = w_.X[m.bodies[l]];
      sum += X.force(m.inertias[l].momentum(twist(m.bodies[l])));
      com += m.inertias[l].m * (X * m.inertias[l].com());
      mass += m.inertias[l].m;
    }
    com /= mass;
    sum.head<3>() -= com.cross(sum.tail<3>());
    // The links' centre of mass goes where the momentum says, whatever the maps say about their velocities.
    const double* v = state_.v.data() + s_.mechanisms[k].v;
    sum.tail<3>() = mass * Vec3(v[6], v[7], v[8]);
    return sum;
  }

  // A joint as the links stand: coordinates (x: rotation vectors), rates.
  struct JointAt {
    double q[7] = {};
    DofArray x{};
    Vec6 rate = Vec6::Zero();
  };
  JointAt joint_at(int body) const {
    const Joint& j = s_.model.joints()[body];
    const Pose X_WF = j.parent.valid() ? w_.X[j.parent.value] * j.X_PF : j.X_PF;
    const Pose X = X_WF.inverse() * (w_.X[body] * j.X_BM);
    JointAt out;
    multibody::closing_coordinates({j.kind}, X, out.q, out.x);
    Vec6 V = j.X_BM.inverse_motion(twist(body));
    if (j.parent.valid()) V -= X.inverse_motion(j.X_PF.inverse_motion(twist(j.parent.value)));
    const int n = dof_count(j.kind);
    const multibody::Subspace S = multibody::motion_subspace(j.kind, 0, out.q);
    for (int k = 0; k < n; ++k) out.rate[k] = S.col(k).dot(V) / S.col(k).squaredNorm();
    return out;
  }

  // Elastic + damping + drive force on the coordinates: what the reduced model says the joint carries.
  Vec6 joint_force(int body) const {
    const Joint& j = s_.model.joints()[body];
    const JointAt at = joint_at(body);
    const elastic::JointConfiguration c = elastic::configuration_of(j.kind, at.q);
    Vec6 out = -elastic::joint_energy_gradient(j.kind, j.law, c).gradient;
    for (int k = 0; k < dof_count(j.kind); ++k) out[k] -= j.law.damping[k] * at.rate[k];
    for (const Drive& d : s_.model.drives()) {
      if (d.joint.value != body) continue;
      for (int k = 0; k < dof_count(j.kind); ++k) {
        const double target = d.target[k].value(state_.t);
        out[k] += d.kind == Drive::Kind::force
                      ? target
                      : std::clamp(d.kp[k] * (target - at.x[k]) +
                                       d.kd[k] * (d.target[k].rate(state_.t) - at.rate[k]),
                                   -d.max_force[k], d.max_force[k]);
      }
    }
    return out;
  }

  // The energy of the coordinates holds all that has a potential: weight, servos, driving forces and constant
  // loads on inner links are told apart from what springs store.
  void find_energies() {
    const Vec3 g = s_.model.gravity().value(state_.t);
    for (std::size_t k = 0; k < s_.mechanisms.size(); ++k) {
      const Mechanism& m = s_.reduced.mechanisms[k];
      const MechanismPlace& place = s_.mechanisms[k];
      MechanismScratch& x = w_.mechanisms[k];
      const int n = m.coordinates();
      const Eigen::Map<const VecX> u(state_.v.data() + place.rate(), n);
      blend_inertia(m, x.blend);
      energy_.kinetic += 0.5 * u.dot(x.blend.M * u);
      Vec3 moment = Vec3::Zero(), known = Vec3::Zero();
      for (std::size_t l = 0; l < m.bodies.size(); ++l)
        moment += m.inertias[l].m * (w_.X[m.bodies[l]] * m.inertias[l].com());
      for (std::size_t i = 0; i < m.points.size(); ++i)  // whose weight the points are in
        known += x.blend.weight[i] * s_.model.gravity().value(m.points[i].time);
      energy_.gravity -= g.dot(moment);
      energy_.elastic += x.blend.energy - others(static_cast<int>(k));
      if (place.base == 0) {
        energy_.elastic += known.dot(moment);
        continue;
      }
      const Eigen::Map<const Vec6> V(state_.v.data() + place.v);
      for (std::size_t i = 0; i < m.points.size(); ++i) {
        const Point& p = m.points[i];
        energy_.kinetic += x.blend.weight[i] * (0.5 * V.dot(p.inertia.momentum(V)) + V.dot(p.momentum * u));
      }
    }
    for (const PropPlace& p : s_.props) {
      const Pose& X = w_.X[p.body];
      const double* v = state_.v.data() + p.v;
      const Vec3 spin = X.R.transpose() * Vec3(v[0], v[1], v[2]), speed(v[3], v[4], v[5]);
      energy_.kinetic += 0.5 * (p.inertia.m * speed.squaredNorm() + spin.dot(p.inertia.I * spin));
      energy_.gravity -= p.inertia.m * g.dot(X * p.com);
    }
  }

  // Of drives and of dead loads on inner links, as settle() counts them.
  double others(int k) const {
    const Mechanism& m = s_.reduced.mechanisms[k];
    const Blend& b = w_.mechanisms[k].blend;
    double out = 0;
    // The points know forces of their own times; what is different now is a load, and has no potential here.
    const auto known = [&](const TimeFunction& f) {
      double sum = 0;
      for (std::size_t i = 0; i < m.points.size(); ++i) sum += b.weight[i] * f.value(m.points[i].time);
      return sum;
    };
    for (const Drive& d : s_.model.drives()) {
      if (s_.places[d.joint.value].mechanism != k) continue;
      const JointAt at = joint_at(d.joint.value);
      for (int c = 0; c < dof_count(s_.model[d.joint].kind); ++c) {
        double target = d.target[c].value(state_.t);
        bool input = false;
        for (std::size_t i = 0; i < m.inputs.size(); ++i)
          if (m.bodies[m.inputs[i].joint] == d.joint.value && m.inputs[i].dof == c)
            input = true, target = w_.mechanisms[k].blend.at[m.coordinates() + static_cast<int>(i)];
        if (d.kind == Drive::Kind::force) {
          out -= known(d.target[c]) * at.x[c];
          continue;
        }
        out += d.kp[c] * (0.5 * at.x[c] * at.x[c] - target * at.x[c] + (input ? 0 : 0.5 * target * target));
      }
    }
    for (const PlacedLoad& load : s_.loads) {
      const PointLoad& l = s_.model.point_loads()[load.load];
      if (load.at.mechanism != k || load.at.end >= 0 || l.follows || m.free_base) continue;
      const Vec3 at = w_.X[m.bodies[load.at.link]] * l.at.p;
      for (int i = 0; i < 3; ++i) out -= known(l.force.c[i]) * at[i];
    }
    return out;
  }

  const SystemData& s_;
  const State& state_;
  WorkspaceData& w_;
  result::Energy energy_;
};

}  // namespace

VecX joint_coordinates(const SystemData& s, const Mechanism& m, const std::vector<Pose>& X) {
  VecX out(m.rest.size());
  int next = 0;
  for (std::size_t l = 0; l < m.bodies.size(); ++l) {
    const Joint& j = s.model.joints()[m.bodies[l]];
    if (m.free_base && l == 0) continue;
    const Pose X_WF = j.parent.valid() ? X[j.parent.value] * j.X_PF : j.X_PF;
    double q[7] = {};
    DofArray x{};
    multibody::closing_coordinates({j.kind}, X_WF.inverse() * (X[m.bodies[l]] * j.X_BM), q, x);
    for (int k = 0; k < dof_count(j.kind); ++k) out[next++] = x[k];
  }
  return out;
}

bool out_of_range(const Mechanism& m, Blend& b) {
  const Quality& q = m.quality;
  if (q.tested == 0) return false;
  const VecX w = end_wrenches(m, b);
  for (std::size_t e = 0; e < m.ends.size(); ++e)
    if (w.segment<3>(6 * e + 3).norm() > 1.05 * q.reached * q.force + 1e-9 ||
        w.segment<3>(6 * e).norm() > q.reached * (1.05 * q.moment + 0.1 * q.force * m.radius) + 1e-9)
      return true;
  return false;
}

void observe(const System& system, const State& state, Workspace& workspace, result::Snapshot& snapshot) {
  const SystemData& s = system.data();
  WorkspaceData& w = workspace.data();
  const Observer at(s, state, w);
  snapshot.resize(s.layout);
  snapshot.time = state.t;
  for (std::size_t i = 0; i < w.X.size(); ++i) observe::put_frame(w.X[i], i, snapshot);
  observe::put_lines(s.traces, s.model, at, snapshot);
  at.put_own(observe::put_columns(s.model, s.columns, at, snapshot), snapshot);
}

}  // namespace limber::rom
