// What the rest of the program sees of a tree: poses, lines, probes and energies.
#include <algorithm>

#include "limber/articulated/system.h"
#include "limber/math/so3.h"

namespace limber::articulated {
namespace {

struct Observer {
  const SystemData& s;
  const State& state;
  const std::vector<LinkMotion>& links;
  result::Energy energy;

  Vec3 world_point(const LinkPoint& at) const { return at.link < 0 ? at.p : links[at.link].X_WM * at.p; }

  Vec3 point_quantity(const Column& c) const {
    if (c.quantity == Quantity::position) return world_point(c.at);
    if (c.at.link < 0) return Vec3::Zero();
    const LinkMotion& m = links[c.at.link];
    switch (c.quantity) {
      case Quantity::velocity:
        return m.X_WM.R * (m.V.tail<3>() + m.V.head<3>().cross(c.at.p));
      case Quantity::rotation:
        return math::so3_log(m.X_WM.R * s.tree[c.at.link].X_MB.R);
      default:
        return m.X_WM.R * m.V.head<3>();
    }
  }

  elastic::SpringState spring(int index) const {
    const SpringEnds& e = s.springs[index];
    const auto pose = [&](const LinkPoint& at) { return at.link < 0 ? Pose{} : links[at.link].X_WM; };
    const auto twist = [&](const LinkPoint& at) {
      return at.link < 0 ? Vec6(Vec6::Zero()) : links[at.link].V;
    };
    return elastic::spring_state(e.law, pose(e.a), e.a.p, twist(e.a), pose(e.b), e.b.p, twist(e.b));
  }

  double scalar(const Column& c) const {
    switch (c.quantity) {
      case Quantity::position:
      case Quantity::velocity:
      case Quantity::rotation:
      case Quantity::angular_velocity:
        return point_quantity(c)[c.component];
      case Quantity::joint_position:
        return multibody::get_coordinates(s.tree[c.link], state.q.data() + s.tree[c.link].q)[c.component];
      case Quantity::joint_velocity:
        return state.v[s.tree[c.link].v + c.component];
      case Quantity::joint_force:
        return joint_force(s, c.link, state.q.data(), state.v.data(), state.t)[c.component];
      case Quantity::spring_length:
        return spring(c.spring).length;
      case Quantity::spring_tension:
        return spring(c.spring).tension;
      case Quantity::kinetic_energy:
        return energy.kinetic;
      case Quantity::gravity_energy:
        return energy.gravity;
      case Quantity::elastic_energy:
        return energy.elastic;
      case Quantity::total_energy:
        return energy.total();
      case Quantity::rider_position:
        break;
    }
    return 0;
  }
};

result::Energy energy_at(const SystemData& s, const State& state, const std::vector<LinkMotion>& links) {
  return {multibody::kinetic_energy(s.tree, links),
          multibody::gravity_energy(s.tree, links, s.model.gravity().value(state.t)),
          elastic_energy(s, state.q.data(), links)};
}

}  // namespace

result::Energy energy(const System& system, const State& state, Workspace& workspace) {
  const SystemData& s = system.data();
  WorkspaceData& w = workspace.data();
  multibody::kinematics(s.tree, state.q.data(), state.v.data(), w.links, w.workers.get());
  return energy_at(s, state, w.links);
}

void observe(const System& system, const State& state, Workspace& workspace, result::Snapshot& snapshot) {
  const SystemData& s = system.data();
  const Observer at{s, state, workspace.data().links, energy(system, state, workspace)};
  snapshot.resize(s.layout);
  snapshot.time = state.t;
  for (int i = 0; i < s.tree.size(); ++i) {
    const Pose X_WB = at.links[i].X_WM * s.tree[i].X_MB;
    snapshot.rotations[i] = math::to_quat(X_WB.R);
    snapshot.positions[i] = X_WB.p;
  }
  std::size_t next = 0;
  for (const elastic::BeamTrace& trace : s.traces)
    for (std::size_t k = 0; k < trace.points.size(); ++k)
      snapshot.points[next++] = at.world_point(s.link_point({trace.bodies[k], {}, 0, trace.points[k]}));
  for (const SpringEnds& e : s.springs) {
    snapshot.points[next++] = at.world_point(e.a);
    snapshot.points[next++] = at.world_point(e.b);
  }
  for (std::size_t k = 0; k < s.columns.size(); ++k) snapshot.scalars[k] = at.scalar(s.columns[k]);
}

}  // namespace limber::articulated
