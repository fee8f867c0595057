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

  double loop_quantity(const Column& c) const {
    std::vector<LoopState> loops(s.loops.size());
    place_loops(s, links, loops);
    const LoopState& at = loops[c.loop];
    if (c.quantity == Quantity::joint_position) return at.x[c.component];
    const Vec6 rates = loop_rates(s, c.loop, at, links);
    return c.quantity == Quantity::joint_velocity ? rates[c.component]
                                                  : loop_force(s, c.loop, at, rates)[c.component];
  }

  // On the road between the two links that bear it: x along the road, z as near to up as can be.
  Pose rider_pose(int index) const {
    const CompiledRider& r = s.riders[index];
    const double x = std::clamp(r.position.value(state.t), r.road.front().begin, r.road.back().end);
    std::size_t k = 0;
    while (k + 1 < r.road.size() && r.road[k].end < x) ++k;
    const CompiledRider::Stretch& stretch = r.road[k];
    const Pose& X = links[stretch.link].X_WM;
    const double along = (x - stretch.begin) / (stretch.end - stretch.begin);
    Pose out;
    out.p = X * Vec3(stretch.from + along * (stretch.to - stretch.from));
    const Vec3 e_x = (X.R * (stretch.to - stretch.from)).normalized();
    const Vec3 up = s.model.gravity().value(state.t).norm() > 0
                        ? Vec3(-s.model.gravity().value(state.t).normalized())
                        : Vec3(Vec3::UnitZ());
    Vec3 e_y = up.cross(e_x);
    if (e_y.norm() < 1e-6) e_y = e_x.unitOrthogonal();
    e_y.normalize();
    out.R << e_x, e_y, e_x.cross(e_y);
    return out;
  }

  double scalar(const Column& c) const {
    switch (c.quantity) {
      case Quantity::position:
      case Quantity::velocity:
      case Quantity::rotation:
      case Quantity::angular_velocity:
        return point_quantity(c)[c.component];
      case Quantity::joint_position:
        if (c.loop >= 0) return loop_quantity(c);
        return multibody::get_coordinates(s.tree[c.link], state.q.data() + s.tree[c.link].q)[c.component];
      case Quantity::joint_velocity:
        if (c.loop >= 0) return loop_quantity(c);
        return state.v[s.tree[c.link].v + c.component];
      case Quantity::joint_force:
        if (c.loop >= 0) return loop_quantity(c);
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
      case Quantity::dissipated_energy:
        return state.dissipated;
      case Quantity::work_energy:
        return state.work;
      case Quantity::remainder_energy:
        return energy.total() - s.energy0 + state.dissipated - state.work;
      case Quantity::rider_position:
        return rider_pose(c.rider).p[c.component];
      default:
        return 0;  // of threads: refused by compile()
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
  for (std::size_t r = 0; r < s.riders.size(); ++r) {
    const Pose X = at.rider_pose(static_cast<int>(r));
    snapshot.rotations[s.tree.size() + r] = math::to_quat(X.R);
    snapshot.positions[s.tree.size() + r] = X.p;
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
