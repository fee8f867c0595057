// What the rest of the program sees of a chain at rest: poses, lines, probes.
#include <algorithm>

#include "limber/chain/chain.h"
#include "limber/chain/stress.h"
#include "limber/math/so3.h"
#include "limber/observe/columns.h"
#include "limber/observe/layout.h"
#include "limber/observe/sections.h"

namespace limber::chain {
namespace {

struct Observer : observe::Source {
  const System& system;
  const Solver& solver;
  const Rest& rest;

  Observer(const System& s, const Solver& at, const Rest& r) : system(s), solver(at), rest(r) {}

  Pose pose(BodyId body) const {
    const Balance& b = solver.balance();
    const BodyPlace& at = system.bodies()[body.value];
    if (at.link < 0) return at.X;
    return system.fallen(at.link).value_or(Pose{b.R[at.link], b.in.c[at.link]}) * at.X;
  }
  Vec3 position(const Attachment& at) const override { return pose(at.body) * at.p; }
  Mat3 axes(const Attachment& at) const override { return pose(at.body).R; }
  bool there(int link) const { return system.structure().links.active[link] != 0; }

  observe::ReactionReading reaction(JointId id) const override {
    const int link = system.reaction_link(id.value);
    if (!there(link)) return {};
    if (system.root_beam(id.value) < 0) {
      const Reaction r = joint_reaction(system, solver, rest, link);
      return {r.force, r.moment, solver.balance().R[link]};
    }
    const Reaction r = root_reaction(system, solver, rest, link);
    return {r.force, r.moment, pose(BodyId{id.value}).R * system.model()[id].X_BM.R};
  }
  observe::ReactionReading closing_reaction(LoopId id) const override {
    const auto& closures = system.structure().closures;
    const auto found = std::ranges::find(closures, id.value, &Closure::loop);
    if (found == closures.end()) return {};  // cut off
    const Reaction r = closure_reaction(system, solver, static_cast<int>(found - closures.begin()));
    const Mat3 R = found->b < 0 ? found->X_B.R : Mat3(solver.balance().R[found->b] * found->X_B.R);
    return {r.force, r.moment, R};
  }

  // A joint of a beam, piece k + 1's.
  observe::SectionStation station(const elastic::BeamTrace& trace, std::size_t k) const {
    const int link = system.bodies()[trace.pieces[k + 1].value].link;
    const Balance& b = solver.balance();
    if (!there(link)) return {trace.joints[k], b.in.c[link], Vec3::Zero(), Vec3::Zero()};
    const Vec3& theta = rest.shape.theta[link];
    const Vec2 share = trace.shares[k];
    const Vec3 bend = system.structure().links.hinge[link]
                          ? Vec3(0, theta.z() / share[1], 0)
                          : Vec3(theta.x() / share[0], theta.y() / share[1], theta.z() / share[1]);
    return {trace.joints[k], b.in.c[link], b.N[link], b.tau[link], bend};
  }
  observe::SectionReading section(const Probe& p) const override {
    const elastic::BeamTrace& trace = system.traces()[p.beam.value];
    const auto [first, second] = observe::joints_around(trace.joints, p.s);
    return observe::section_between(station(trace, first), station(trace, second), p.s, position(p.at),
                                    axes(p.at));
  }
  observe::SpringReading spring(SpringId id) const override {
    const Spring& spring = system.model()[id];
    const double length = (point(spring.b) - point(spring.a)).norm();
    return {length, elastic::spring_tension(system.structure().springs[id.value].law, length, 0)};
  }
  result::Energy energy() const override {
    const Balance& b = solver.balance();
    return {0, b.dead, b.elastic + solver.ties().spring_energy()};
  }
};

}  // namespace

std::optional<Pose> System::fallen(int link) const {
  const auto found = fallen_.find(link);
  if (found == fallen_.end()) return std::nullopt;
  const Fallen& f = found->second;
  const double since = options_.time - f.time;
  return Pose{f.X.R, f.X.p + 0.5 * since * since * f.g};
}

void System::lay_out() {
  layout_.title = model().title();
  observe::add_bodies(model(), layout_);
  observe::add_beams(traces(), layout_);
  observe::add_springs(model(), layout_);
  columns_ = observe::columns_for(model(), Question::chain_static);
  observe::add_columns(model(), columns_, layout_);
}

void observe_places(const System& system, Solver& solver, const Rest& rest, result::Snapshot& out) {
  solver.place_links(rest);
  out.resize(system.layout());
  observe::put_columns(system.model(), system.columns(), Observer(system, solver, rest), out);
}

void observe(const System& system, Solver& solver, const Rest& rest, result::Snapshot& out) {
  solver.evaluate(rest, false);
  const Observer at(system, solver, rest);
  out.resize(system.layout());
  out.time = system.options().time;
  for (std::size_t i = 0; i < system.bodies().size(); ++i)
    observe::put_frame(at.pose(BodyId{static_cast<std::int32_t>(i)}), i, out);
  observe::put_lines(system.traces(), system.model(), at, out);
  observe::put_columns(system.model(), system.columns(), at, out);
}

}  // namespace limber::chain
