// What the rest of the program sees of a tree: poses, lines, probes and energies.
#include <algorithm>

#include "limber/articulated/column_gradient.h"
#include "limber/articulated/static_sensitivity.h"
#include "limber/articulated/statics.h"
#include "limber/articulated/system.h"
#include "limber/math/so3.h"
#include "limber/observe/sections.h"

namespace limber::articulated {
namespace {

struct Observer : observe::Source {
  const SystemData& s;
  const State& state;
  const std::vector<LinkMotion>& links;
  const FrameForces& forces;
  std::vector<CableShape>& cables;
  result::Energy energies;

  Observer(const SystemData& system, const State& at, WorkspaceData& w, const result::Energy& e)
      : s(system), state(at), links(w.links), forces(w.frame), cables(w.cables), energies(e) {}

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

  // a + α × p + ω × (v + ω × p): an acceleration seen in M lacks ω × v of its origin.
  Vec3 acceleration(const Attachment& at) const override {
    const LinkPoint p = s.link_point(at);
    const LinkMotion& m = links[p.link];
    const Vec6& A = forces.acceleration[p.link];
    const Vec3 w = m.V.head<3>(), v = m.V.tail<3>();
    return m.X_WM.R * (A.tail<3>() + A.head<3>().cross(p.p) + w.cross(v + w.cross(p.p)));
  }
  Vec3 angular_acceleration(const Attachment& at) const override {
    return links[at.body.value].X_WM.R * forces.acceleration[at.body.value].head<3>();
  }
  observe::MomentumReading momentum(BodyId id) const override {
    const LinkMotion& m = links[id.value];
    const Vec6 p = m.X_WM.force(s.tree[id.value].inertia.momentum(m.V));
    return {p.tail<3>(), p.head<3>()};
  }
  observe::MomentumReading total_momentum() const override {
    const Vec6 p = multibody::momentum_in_world(s.tree, links);
    return {p.tail<3>(), p.head<3>()};
  }

  observe::ReactionReading reaction(JointId id) const override {
    const Mat3& R = links[id.value].X_WM.R;
    const Vec6& F = forces.joint[id.value];
    return {R * F.tail<3>(), R * F.head<3>(), R};
  }
  observe::ReactionReading closing_reaction(LoopId id) const override {
    const CompiledLoop& loop = s.loops[id.value];
    const Vec6& F = forces.loop[id.value];
    const Mat3 R = loop.b >= 0 ? Mat3(links[loop.b].X_WM.R * loop.X_BM.R) : loop.X_BM.R;
    return {F.tail<3>(), F.head<3>(), R};
  }
  double force_of(const CompiledCoupling& c) const {  // on its gap
    return c.rigid ? forces.loop[c.row][0] : coupling_force(c, state.q.data(), state.v.data());
  }
  observe::CouplingReading coupling(CouplingId id) const override {
    const CompiledCoupling& c = s.couplings[id.value];
    const double factor = c.terms.front().factor;
    return {s.asks_forces ? force_of(c) * factor : 0, coupling_gap(c, state.q.data()) / factor};
  }
  // What the joint carries along its coordinates, less what its spring, damper, drive and couplings give.
  observe::MotionReading given_motion(JointId id) const override {
    observe::MotionReading out;
    const multibody::Link& link = s.tree[id.value];
    if (s.asks_forces) {
      const multibody::Subspace S = multibody::motion_subspace(link, state.q.data() + link.q);
      out.force.head(link.dofs) = S.leftCols(link.dofs).transpose() * forces.joint[id.value];
      out.force.head(link.dofs) -= joint_force(s, id.value, state).head(link.dofs);
      for (const CompiledCoupling& c : s.couplings)
        for (const CompiledCoupling::Term& t : c.terms)
          if (t.link == id.value)
            out.force[t.dof] -= slope_of(c, t, profile_at(c, state.q.data())) * force_of(c);
    }
    for (std::size_t m = 0; m < s.motions.size() && s.asks_works; ++m)
      if (s.motions[m].link == id.value) out.work += state.works[s.work_of_motion(m)];
    return out;
  }
  observe::DriveReading drive(JointId id) const override {
    observe::DriveReading out;
    const multibody::Link& link = s.tree[id.value];
    for (std::size_t d = 0; d < s.drives.size(); ++d) {
      if (s.drives[d].link != id.value) continue;
      const Vec6 force = drive_force(s.drives[d], link, state);
      for (int k = 0; k < link.dofs; ++k) out.power += force[k] * state.v[link.v + k];
      if (s.asks_works) out.work += state.works[s.work_of_drive(d)];
    }
    return out;
  }
  double load_work(LoadId id) const override { return state.works[id.value]; }

  // A joint of a beam, piece k + 1's.
  observe::SectionStation station(const elastic::BeamTrace& trace, std::size_t k) const {
    const int i = trace.pieces[k + 1].value;
    const multibody::Link& link = s.tree[i];
    const observe::ReactionReading r = reaction(JointId{i});
    const DofArray x = multibody::get_coordinates(link, state.q.data() + link.q);
    const Vec2 share = trace.shares[k];
    // A hinge's z is the section's y.
    const Vec3 bend = link.kind == JointKind::revolute
                          ? Vec3(0, x[0] / share[1], 0)
                          : Vec3(x[0] / share[0], x[1] / share[1], x[2] / share[1]);
    return {trace.joints[k], links[i].X_WM.p, -r.force, -r.torque, bend};
  }
  observe::SectionReading section(const Probe& p) const override {
    const elastic::BeamTrace& trace = s.traces[p.beam.value];
    const auto [first, second] = observe::joints_around(trace.joints, p.s);
    return observe::section_between(station(trace, first), station(trace, second), p.s, position(p.at),
                                    axes(p.at));
  }

  observe::JointReading joint(JointId id) const override {
    const multibody::Link& link = s.tree[id.value];
    observe::JointReading out;
    out.position = multibody::get_coordinates(link, state.q.data() + link.q);
    std::copy_n(state.v.begin() + link.v, link.dofs, out.velocity.data());
    out.force = joint_force(s, id.value, state);
    return out;
  }
  observe::JointReading closing_joint(LoopId id) const override {
    std::vector<LoopState> loops(s.loops.size());
    place_loops(s, state.q.data(), links, loops);
    LoopState& at = loops[id.value];
    const CompiledLoop& loop = s.loops[id.value];
    if (loop.kind != loop.written) {  // released: the same coordinates of two bodies that are apart
      const multibody::ClosingJoint joint{loop.written, loop.lead, loop.length};
      multibody::closing_coordinates(joint, at.X_FM, at.q, at.x);
      return {at.x, closing_rates(loop, joint, at, links), Vec6::Zero()};
    }
    const Vec6 rates = loop_rates(s, id.value, at, links);
    Vec6 sliding = rates;
    const double standing = standing_rate(s, links, mean_step(state));
    for (int k = 0; k < dof_count(loop.kind); ++k)
      if (std::abs(rates[k]) <= standing * (is_rotational(loop.kind, k) ? 1 : s.size)) sliding[k] = 0;
    return {at.x, rates, loop_force(s, id.value, at, rates) + sliding_force(s, -1, id.value, sliding.data())};
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
  observe::CableReading cable(CableId id, int guide) const override {
    return read_cable(s, id.value, guide, links, state.t, cables);
  }
  Vec3 rider(RiderId id) const override { return rider_pose(id.value).p; }
  result::Energy energy() const override { return energies; }
  observe::Ledger ledger() const override { return {state.dissipated, state.work, state.energy0}; }

  observe::ContactReading contact() const override {
    return {static_cast<int>(state.touching.size() / State::touching_width), state.overlap};
  }

  observe::TouchReading touch(const Probe& p) const override {
    observe::TouchReading out;
    for (std::size_t k = 0; k < state.touching.size(); k += State::touching_width) {
      const double* x = state.touching.data() + k;
      const auto body = [&](int side) { return s.contacts.solids()[static_cast<std::size_t>(x[side])].body; };
      const auto mine = [&](int side) {
        return s.contacts.is_of(static_cast<int>(x[side]), p.at.body, p.touching);
      };
      const auto meant = [&](int side) {
        return !p.against || s.contacts.is_of(static_cast<int>(x[side]), p.against->body, p.against->beam);
      };
      const bool first = mine(0) && meant(1), second = mine(1) && meant(0);
      if (!first && !second) continue;
      const Vec3 at(x[3], x[4], x[5]), force(x[6], x[7], x[8]), n(x[9], x[10], x[11]);
      const auto velocity_of = [&](BodyId b) -> Vec3 {
        if (!b.valid()) return Vec3::Zero();
        const LinkMotion& m = links[b.value];
        return m.X_WM.R * m.V.tail<3>() + (m.X_WM.R * m.V.head<3>()).cross(at - m.X_WM.p);
      };
      const Vec3 u = velocity_of(body(0)) - velocity_of(body(1));
      if (first) out.force += force;
      if (second) out.force -= force;
      out.slip = std::max(out.slip, (u - n.dot(u) * n).norm());
      out.normal += n.dot(force);
      ++out.places;
      out.depth = std::max(out.depth, -x[12]);
    }
    return out;
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
};

result::Energy energy_at(const SystemData& s, const State& state, WorkspaceData& w) {
  w.cable_from = state.cables;
  return {multibody::kinetic_energy(s.tree, w.links),
          multibody::gravity_energy(s.tree, w.links, s.model.gravity().value(state.t)),
          elastic_energy(s, state.q.data(), w.links, state.t, w) + stored_in_touches(s, state.touching)};
}

}  // namespace

result::Energy energy(const System& system, const State& state, Workspace& workspace) {
  const SystemData& s = system.data();
  WorkspaceData& w = workspace.data();
  multibody::kinematics(s.tree, state.q.data(), state.v.data(), w.links, w.workers.get());
  return energy_at(s, state, w);
}

void open_ledger(const System& system, State& state, Workspace& workspace) {
  state.energy0 = energy(system, state, workspace).total();
  state.dissipated = state.work = 0;
  std::fill(state.works.begin(), state.works.end(), 0.0);
}

namespace {

// Behind the lines of beams and springs.
void put_cables(const SystemData& s, const WorkspaceData& w, result::Snapshot& snapshot) {
  if (s.cables.empty()) return;
  std::vector<Vec3> points;
  std::size_t next = s.layout.point_count();
  for (const CompiledCable& c : s.cables) next -= static_cast<std::size_t>(cable_points(c));
  for (std::size_t i = 0; i < s.cables.size(); ++i) {
    draw_cable(s.cables[i], w.cables[i], points);
    for (const Vec3& p : points) snapshot.points[next++] = p;
  }
}

// Those that a rest was found with: nothing accelerates.
void take_rest(const SystemData& s, const StaticResult& rest, WorkspaceData& w) {
  const auto wrench = [](const auto& r, const Mat3& R) {
    Vec6 out;
    out << R.transpose() * r.moment, R.transpose() * r.force;
    return out;
  };
  FrameForces& f = w.frame;
  f.acceleration.assign(s.tree.size(), Vec6::Zero());
  f.joint.resize(s.tree.size()), f.loop.resize(s.loops.size());
  for (int i = 0; i < s.tree.size(); ++i) f.joint[i] = wrench(rest.joints[i], w.links[i].X_WM.R);
  for (std::size_t l = 0; l < s.loops.size(); ++l) {
    f.loop[l].setZero();
    if (const int k = s.loops[l].coupling; k >= 0)
      f.loop[l][0] = rest.coupling_forces[k];
    else
      f.loop[l] = wrench(rest.loops[l], Mat3::Identity());
  }
}

}  // namespace

void put_scalars_placed(const SystemData& s, const State& state, WorkspaceData& w,
                        const result::Energy& energies, result::Snapshot& snapshot) {
  observe::put_columns(s.model, s.columns, Observer(s, state, w, energies), snapshot);
}

void put_places(const System& system, const State& state, Workspace& workspace, result::Snapshot& snapshot) {
  const SystemData& s = system.data();
  if (s.asks_forces) return put_scalars(system, state, workspace, snapshot);
  WorkspaceData& w = workspace.data();
  multibody::kinematics(s.tree, state.q.data(), state.v.data(), w.links);
  snapshot.resize(s.layout);
  put_scalars_placed(s, state, w, {}, snapshot);
}

void put_scalars(const System& system, const State& state, Workspace& workspace, result::Snapshot& snapshot) {
  const SystemData& s = system.data();
  WorkspaceData& w = workspace.data();
  if (s.asks_forces)
    find_frame_forces(s, state, w);
  else
    multibody::kinematics(s.tree, state.q.data(), state.v.data(), w.links);
  snapshot.resize(s.layout);
  put_scalars_placed(s, state, w, energy_at(s, state, w), snapshot);
}

void observe(const System& system, const State& state, Workspace& workspace, result::Snapshot& snapshot,
             const StaticResult* rest) {
  const SystemData& s = system.data();
  WorkspaceData& w = workspace.data();
  const bool at_rest = rest && rest->report.ok(), placed = w.at_start.has_links;
  w.cable_from = state.cables;
  if (s.asks_forces && !at_rest)
    find_frame_forces(s, state, w);  // and places the links
  else
    multibody::kinematics(s.tree, state.q.data(), state.v.data(), w.links, w.workers.get());
  const result::Energy energies = energy_at(s, state, w);
  if (s.asks_forces && at_rest) take_rest(s, *rest, w);
  const Observer at(s, state, w, energies);
  snapshot.resize(s.layout);
  snapshot.time = state.t;
  const auto bodies = static_cast<std::size_t>(s.tree.size());
  for (std::size_t i = 0; i < bodies; ++i)
    observe::put_frame(at.links[i].X_WM * s.tree[static_cast<int>(i)].X_MB, i, snapshot);
  for (std::size_t r = 0; r < s.riders.size(); ++r)
    observe::put_frame(at.rider_pose(static_cast<int>(r)), bodies + r, snapshot);
  observe::put_lines(s.traces, s.model, at, snapshot);
  put_cables(s, w, snapshot);
  observe::put_columns(s.model, s.columns, at, snapshot);
  if (placed && !w.at_start.has_links) {  // the next step starts from where they stand
    std::swap(w.links, w.at_start.links);
    w.at_start.has_links = true;
  }
}

}  // namespace limber::articulated
