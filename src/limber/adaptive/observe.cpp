// What the rest of the program sees: poses, lines, probes, and how much moved within which error. Bodies are
// at rest at every moment of quasi-statics: velocities are zero.
#include <algorithm>

#include "limber/adaptive/system.h"
#include "limber/math/so3.h"

namespace limber::adaptive {
namespace {

double activity(const State& state, int link) {
  const double steps = static_cast<double>(std::max<std::int64_t>(state.step, 1));
  return std::min(1.0, state.active_steps[link] / steps);
}

}  // namespace

result::Fields fields(const System& system, const State& state) {
  result::Field field{"activity", "", result::Field::On::frames, {}};
  for (int i = 0; i < system.data().tree.size(); ++i)
    field.values.push_back(static_cast<float>(activity(state, i)));
  return {std::move(field)};
}

void observe(const System& system, const State& state, Workspace& workspace, result::Snapshot& snapshot) {
  const SystemData& s = system.data();
  WorkspaceData& w = workspace.data();
  const int n = s.tree.size();
  w.links.resize(n);
  w.rest_rates.resize(s.tree.v_count(), 0.0);
  multibody::kinematics(s.tree, state.q.data(), w.rest_rates.data(), w.links, w.workers.get());
  snapshot.resize(s.layout);
  snapshot.time = state.t;
  for (int i = 0; i < n; ++i) {
    const Pose X = w.links[i].X_WM * s.tree[i].X_MB;
    snapshot.rotations[i] = math::to_quat(X.R);
    snapshot.positions[i] = X.p;
    snapshot.values[i] = activity(state, i);
  }
  const auto world_point = [&](const LinkPoint& at) {
    return at.link < 0 ? at.p : Vec3(w.links[at.link].X_WM * at.p);
  };
  std::size_t next = 0;
  for (const elastic::BeamTrace& trace : s.traces)
    for (std::size_t k = 0; k < trace.points.size(); ++k)
      snapshot.points[next++] = world_point(s.link_point({trace.bodies[k], {}, 0, trace.points[k]}));
  for (std::size_t k = 0; k < s.model.springs().size(); ++k) {  // not of a hand
    const TiedSpring& spring = s.tied_springs[k];
    snapshot.points[next++] = world_point({spring.link_a, spring.p_a});
    snapshot.points[next++] = world_point({spring.link_b, spring.p_b});
  }

  const double gravity = multibody::gravity_energy(s.tree, w.links, s.model.gravity().value(state.t));
  const double elastic = elastic_energy(s, state.q.data(), w.links);
  std::vector<double> tau, kappa;  // for probes of joint forces, all of them
  for (std::size_t k = 0; k < s.columns.size(); ++k) {
    const Column& c = s.columns[k];
    double& out = snapshot.scalars[k];
    out = 0;
    switch (c.own) {
      case Column::Own::active:
        out = state.active;
        continue;
      case Column::Own::bound:
        out = state.bound;
        continue;
      case Column::Own::total:
        out = state.total;
        continue;
      case Column::Own::distance:
        out = state.distance;
        continue;
      case Column::Own::settled:
        out = state.settled_at >= 0;
        continue;
      case Column::Own::by_pass:
        out = state.tree == 0;
        continue;
      case Column::Own::gap:
        out = state.gap;
        continue;
      case Column::Own::none:
        break;
    }
    if (c.quantity == Quantity::position)
      out = world_point(c.at)[c.component];
    else if (c.quantity == Quantity::rotation && c.at.link >= 0)
      out = math::so3_log(w.links[c.at.link].X_WM.R * s.tree[c.at.link].X_MB.R)[c.component];
    else if (c.quantity == Quantity::joint_position)
      out = multibody::get_coordinates(s.tree[c.link], state.q.data() + s.tree[c.link].q)[c.component];
    else if (c.quantity == Quantity::joint_force && s.has_law[c.link]) {
      tau.resize(s.tree.v_count()), kappa.resize(s.tree.block_count());
      joint_law(s, c.link, state.q.data(), state.t, 0, tau.data(), kappa.data());
      out = tau[s.tree[c.link].v + c.component];
    } else if (c.quantity == Quantity::spring_length)
      out = spring_state(s.tied_springs[c.spring], w.links).length;
    else if (c.quantity == Quantity::spring_tension)
      out = spring_state(s.tied_springs[c.spring], w.links).tension;
    else if (c.quantity == Quantity::gravity_energy)
      out = gravity;
    else if (c.quantity == Quantity::elastic_energy)
      out = elastic;
    else if (c.quantity == Quantity::total_energy)
      out = gravity + elastic;
  }
}

}  // namespace limber::adaptive
