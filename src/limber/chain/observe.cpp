// What the rest of the program sees of a chain at rest: poses, lines, probes.
#include "limber/chain/chain.h"
#include "limber/observe/columns.h"
#include "limber/observe/layout.h"

namespace limber::chain {
namespace {

struct Observer : observe::Source {
  const System& system;
  const Solver& solver;

  Observer(const System& s, const Solver& at) : system(s), solver(at) {}

  Pose pose(BodyId body) const {
    const Balance& b = solver.balance();
    const BodyPlace& at = system.bodies()[body.value];
    return at.link < 0 ? at.X : Pose{b.R[at.link], b.in.c[at.link]} * at.X;
  }
  Vec3 position(const Attachment& at) const override { return pose(at.body) * at.p; }
  Mat3 axes(const Attachment& at) const override { return pose(at.body).R; }
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

void System::lay_out() {
  layout_.title = model().title();
  observe::add_bodies(model(), layout_);
  observe::add_beams(traces(), layout_);
  observe::add_springs(model(), layout_);
  columns_ = observe::columns_for(model(), Question::chain_static);
  observe::add_columns(model(), columns_, layout_);
}

void observe(const System& system, Solver& solver, const Rest& rest, result::Snapshot& out) {
  solver.evaluate(rest, false);
  const Observer at(system, solver);
  out.resize(system.layout());
  out.time = system.options().time;
  for (std::size_t i = 0; i < system.bodies().size(); ++i)
    observe::put_frame(at.pose(BodyId{static_cast<std::int32_t>(i)}), i, out);
  observe::put_lines(system.traces(), system.model(), at, out);
  observe::put_columns(system.model(), system.columns(), at, out);
}

}  // namespace limber::chain
