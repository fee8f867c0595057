// What the rest of the program sees of a tree: poses, lines, probes and energies.
#include <algorithm>

#include "limber/articulated/system.h"

namespace limber::articulated {
namespace {

struct Observer : observe::Source {
  const SystemData& s;
  const State& state;
  const std::vector<LinkMotion>& links;
  result::Energy energies;

  Observer(const SystemData& system, const State& at, const std::vector<LinkMotion>& l,
           const result::Energy& e)
      : s(system), state(at), links(l), energies(e) {}

  Vec3 position(const Attachment& at) const override {
    const LinkPoint p = s.link_point(at);
    return links[p.link].X_WM * p.p;
  }
  Mat3 axes(const Attachment& at) const override {
    return links[at.body.value].X_WM.R * s.tree[at.body.value].X_MB.R;
  }
  Vec3 velocity(const Attachment& at) const override {
    const LinkPoint p = s.link_point(at);
    const LinkMotion& m = links[p.link];
    return m.X_WM.R * (m.V.tail<3>() + m.V.head<3>().cross(p.p));
  }
  Vec3 angular_velocity(const Attachment& at) const override {
    const LinkMotion& m = links[at.body.value];
    return m.X_WM.R * m.V.head<3>();
  }

  observe::JointReading joint(JointId id) const override {
    const multibody::Link& link = s.tree[id.value];
    observe::JointReading out;
    out.position = multibody::get_coordinates(link, state.q.data() + link.q);
    std::copy_n(state.v.begin() + link.v, link.dofs, out.velocity.data());
    out.force = joint_force(s, id.value, state.q.data(), state.v.data(), state.t);
    return out;
  }
  observe::JointReading closing_joint(LoopId id) const override {
    std::vector<LoopState> loops(s.loops.size());
    place_loops(s, links, loops);
    const LoopState& at = loops[id.value];
    const Vec6 rates = loop_rates(s, id.value, at, links);
    return {at.x, rates, loop_force(s, id.value, at, rates)};
  }
  observe::SpringReading spring(SpringId id) const override {
    const SpringEnds& e = s.springs[id.value];
    const auto pose = [&](const LinkPoint& at) { return at.link < 0 ? Pose{} : links[at.link].X_WM; };
    const auto twist = [&](const LinkPoint& at) {
      return at.link < 0 ? Vec6(Vec6::Zero()) : links[at.link].V;
    };
    const elastic::SpringState now =
        elastic::spring_state(e.law, pose(e.a), e.a.p, twist(e.a), pose(e.b), e.b.p, twist(e.b));
    return {now.length, now.tension};
  }
  Vec3 rider(RiderId id) const override { return rider_pose(id.value).p; }
  result::Energy energy() const override { return energies; }
  observe::Ledger ledger() const override { return {state.dissipated, state.work, state.energy0}; }

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

void open_ledger(const System& system, State& state, Workspace& workspace) {
  state.energy0 = energy(system, state, workspace).total();
  state.dissipated = state.work = 0;
}

void observe(const System& system, const State& state, Workspace& workspace, result::Snapshot& snapshot) {
  const SystemData& s = system.data();
  const result::Energy energies = energy(system, state, workspace);
  const Observer at(s, state, workspace.data().links, energies);
  snapshot.resize(s.layout);
  snapshot.time = state.t;
  const auto bodies = static_cast<std::size_t>(s.tree.size());
  for (std::size_t i = 0; i < bodies; ++i)
    observe::put_frame(at.links[i].X_WM * s.tree[static_cast<int>(i)].X_MB, i, snapshot);
  for (std::size_t r = 0; r < s.riders.size(); ++r)
    observe::put_frame(at.rider_pose(static_cast<int>(r)), bodies + r, snapshot);
  observe::put_lines(s.traces, s.model, at, snapshot);
  observe::put_columns(s.model, s.columns, at, snapshot);
}

}  // namespace limber::articulated
