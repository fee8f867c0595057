// What events change in a system. A joint that one releases is a closing joint from the start, of a body that
// floats: to let it go is to drop its rows, and coordinates and velocities stay to the last bit. Everything
// else that is released or switched off is left out of the forces. The model and the layout stay as they are.
#include <algorithm>
#include <limits>
#include <map>

#include "limber/articulated/live.h"
#include "limber/articulated/system.h"

namespace limber::articulated {

namespace {

// Poses and twists of the links at t = 0, as the model says.
std::vector<LinkMotion> motion_at_start(const Model& model, const multibody::Tree& tree) {
  std::vector<double> q(tree.q_count()), v(tree.v_count());
  for (int i = 0; i < tree.size(); ++i) {
    const multibody::Link& link = tree[i];
    multibody::set_coordinates(link, model.joints()[i].position, q.data() + link.q);
    std::copy_n(model.joints()[i].velocity.begin(), link.dofs, v.data() + link.v);
  }
  for (const PrescribedMotion& m : model.motions()) {
    const multibody::Link& link = tree[m.joint.value];
    prescribed({m.joint.value, m.position}, link, 0, q.data() + link.q, v.data() + link.v);
  }
  std::vector<LinkMotion> links(tree.size());
  multibody::kinematics(tree, q.data(), v.data(), links, nullptr);
  return links;
}

// Free at the centre of mass, where the joint has its child at t = 0 and as it moves it there.
Joint floating(const Model& model, const multibody::Tree& tree, const std::vector<LinkMotion>& links, int i) {
  const Body& body = model.bodies()[i];
  Joint out;
  out.name = model.joints()[i].name + ".released";
  out.kind = JointKind::free;
  out.child = BodyId{i};
  out.X_BM = Pose::translation(body.inertia.m > 0 ? body.inertia.com() : Vec3(Vec3::Zero()));
  const Pose X_MC = tree[i].X_MB * out.X_BM;  // the frame at the centre of mass in the link's own
  out.X_PF = links[i].X_WM * X_MC;
  const Vec6 V = X_MC.inverse_motion(links[i].V);
  std::copy_n(V.data(), 6, out.velocity.begin());
  return out;
}

Loop closing(const Joint& joint) {
  Loop out;
  out.name = joint.name;
  out.kind = joint.kind;
  out.a = joint.parent;
  out.b = joint.child;
  out.X_AF = joint.X_PF;
  out.X_BM = joint.X_BM;
  out.pitch = joint.pitch;
  out.law = joint.law;
  return out;
}

}  // namespace

std::optional<Model> with_releasable_joints(const Model& model) {
  std::vector<int> joints;
  for (const Event& e : model.events())
    for (const Action& a : e.actions)
      if (a.kind == Action::Kind::release)
        if (const int j = tree_joint_of(model.parts(), a);
            j >= 0 && std::ranges::find(joints, j) == joints.end())
          joints.push_back(j);
  if (joints.empty()) return std::nullopt;
  const multibody::Tree tree(model);
  const std::vector<LinkMotion> links = motion_at_start(model, tree);
  ModelParts parts = model.parts();
  for (const int j : joints) {
    const LoopId loop{static_cast<std::int32_t>(parts.loops.size())};
    parts.loops.push_back(closing(parts.joints[j]));
    parts.joints[j] = floating(model, tree, links, j);
    for (Probe& p : parts.probes)
      if (p.joint == JointId{j}) p.joint = {}, p.loop = loop;
  }
  return Model(std::move(parts));
}

namespace {

void release_loop(SystemData& s, int l) {
  CompiledLoop& loop = s.loops[l];
  loop.kind = JointKind::free;
  loop.law = {};
  loop.has_law = false;
  std::erase_if(s.limits, [&](const Limit& limit) { return limit.loop == l; });
  std::erase_if(s.rubs, [&](const Rub& rub) { return rub.loop == l; });
}

// Its row, or its spring.
void release_coupling(CompiledCoupling& c) {
  c.released = c.rigid;
  c.stiffness = c.damping = 0;
}

void switch_spring_off(SystemData& s, int index) {
  std::erase_if(s.ground_springs, [&](const GroundSpring& g) { return g.spring == index; });
  std::erase_if(s.pair_springs, [&](const PairSpring& p) { return p.spring == index; });
  elastic::SpringParameters& law = s.springs[index].law;
  law.stiffness = law.damping = 0;
  law.curves = nullptr;
}

void switch_drive_off(CompiledDrive& d) {
  d.drive.kind = Drive::Kind::force;
  d.drive.target = {};
  const double inf = std::numeric_limits<double>::infinity();
  d.law.kp = d.law.ki = d.law.kd = 0;
  d.law.lower = -inf, d.law.upper = inf;
}

template <class List>
int index_of(const List& list, const std::string& name) {
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i].name == name) return static_cast<int>(i);
  return -1;
}

// Loops of the model are followed by those of its ties, in their order.
int loop_of(const SystemData& s, const Action& a) {
  if (a.on == Action::On::joint) return index_of(s.model.loops(), a.name);
  for (std::size_t l = s.model.loops().size(); l-- > 0;)
    if (s.model.loops()[l].name == a.name) return static_cast<int>(l);
  return -1;
}

void switch_load_off(SystemData& s, const std::string& name) {
  std::erase_if(s.loads, [&](const CompiledLoad& l) { return s.load_names[l.of] == name; });
}

void switch_off(SystemData& s, const Action& a) {
  switch (a.on) {
    case Action::On::joint:
    case Action::On::tie:
      return release_loop(s, loop_of(s, a));
    case Action::On::coupling:
      return release_coupling(s.couplings[static_cast<std::size_t>(index_of(s.model.couplings(), a.name))]);
    case Action::On::spring:
      return switch_spring_off(s, index_of(s.model.springs(), a.name));
    case Action::On::load:
      return switch_load_off(s, a.name);
    case Action::On::drive:
    case Action::On::controller:
      for (CompiledDrive& d : s.drives)
        if (d.control >= 0 ? a.on == Action::On::controller && d.law.name == a.name
                           : a.on == Action::On::drive && s.model.joints()[d.link].name == a.name)
          switch_drive_off(d);
      return;
    case Action::On::run:
    case Action::On::clamp:
      return;
  }
}

void give_target(SystemData& s, const Action& a) {
  for (CompiledDrive& d : s.drives)
    if (d.control >= 0) {
      if (a.on == Action::On::controller && d.law.name == a.name) d.law.target = a.target[0];
    } else if (a.on == Action::On::drive && s.model.joints()[d.link].name == a.name) {
      d.drive.target = a.target;
    }
}

}  // namespace

System after(const System& compiled, std::span<const Done> actions) {
  auto data = std::make_shared<SystemData>(compiled.data());
  std::map<std::pair<Action::On, std::string>, const Action*> off;  // what is off in the end
  for (const Done& done : actions) {
    const Action& a = done.action;
    if (a.kind == Action::Kind::retarget) give_target(*data, a);
    if (a.kind == Action::Kind::release || a.kind == Action::Kind::switch_off) off[{a.on, a.name}] = &a;
    if (a.kind == Action::Kind::switch_on) off.erase({a.on, a.name});
  }
  for (const auto& [thing, action] : off) switch_off(*data, *action);
  return System(std::move(data));
}

void take_over(const System& before, const System& now, State& state, Workspace& workspace) {
  Workspace fresh(now);
  const WorkspaceData& old = workspace.data();
  fresh.data().load = old.load, fresh.data().weight = old.weight;
  if (old.held) hold(now, fresh, old.held->hand);
  state.work += energy(now, state, fresh).total() - energy(before, state, workspace).total();
  workspace = std::move(fresh);
}

}  // namespace limber::articulated
