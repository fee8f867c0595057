// What the rest of the program sees: poses, lines, probes, and how much moved within which error. Bodies are
// at rest at every moment of quasi-statics: velocities are zero.
#include <algorithm>

#include "limber/adaptive/system.h"

namespace limber::adaptive {
namespace {

double activity(const State& state, int link) {
  const double steps = static_cast<double>(std::max<std::int64_t>(state.step, 1));
  return std::min(1.0, state.active_steps[link] / steps);
}

struct Observer : observe::Source {
  const SystemData& s;
  const State& state;
  const std::vector<multibody::LinkMotion>& links;
  result::Energy energies;

  Observer(const SystemData& system, const State& at, const std::vector<multibody::LinkMotion>& l)
      : s(system), state(at), links(l) {
    energies.gravity = multibody::gravity_energy(s.tree, links, s.model.gravity().value(state.t));
    energies.elastic = elastic_energy(s, state.q.data(), links);
  }

  Vec3 position(const Attachment& at) const override {
    const LinkPoint p = s.link_point(at);
    return links[p.link].X_WM * p.p;
  }
  Mat3 axes(const Attachment& at) const override {
    return links[at.body.value].X_WM.R * s.tree[at.body.value].X_MB.R;
  }
  Vec3 velocity(const Attachment&) const override { return Vec3::Zero(); }
  Vec3 angular_velocity(const Attachment&) const override { return Vec3::Zero(); }

  observe::JointReading joint(JointId id) const override {
    const multibody::Link& link = s.tree[id.value];
    observe::JointReading out;
    out.position = multibody::get_coordinates(link, state.q.data() + link.q);
    if (!s.has_law[id.value]) return out;
    std::vector<double> tau(s.tree.v_count()), kappa(s.tree.block_count());
    joint_law(s, id.value, state.q.data(), state.t, 0, tau.data(), kappa.data());
    std::copy_n(tau.begin() + link.v, link.dofs, out.force.data());
    return out;
  }
  observe::SpringReading spring(SpringId id) const override {
    const elastic::SpringState now = spring_state(s.tied_springs[id.value], links);
    return {now.length, now.tension};
  }
  result::Energy energy() const override { return energies; }
};

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
  w.links.resize(s.tree.size());
  w.rest_rates.resize(s.tree.v_count(), 0.0);
  multibody::kinematics(s.tree, state.q.data(), w.rest_rates.data(), w.links, w.workers.get());
  const Observer at(s, state, w.links);
  snapshot.resize(s.layout);
  snapshot.time = state.t;
  for (int i = 0; i < s.tree.size(); ++i) {
    const auto frame = static_cast<std::size_t>(i);
    observe::put_frame(w.links[i].X_WM * s.tree[i].X_MB, frame, snapshot);
    snapshot.values[frame] = activity(state, i);
  }
  observe::put_lines(s.traces, s.model, at, snapshot);
  std::size_t next = observe::put_columns(s.model, s.columns, at, snapshot);
  for (const OwnColumn& own : own_columns)
    if (!own.of_loops || !s.tied_loops.empty()) snapshot.scalars[next++] = own.value(state);
}

}  // namespace limber::adaptive
