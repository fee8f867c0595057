// What each thread is slowed by, and where its energy goes.
#include "thread_support.h"

namespace limber::thread {
namespace {

// Threads that fall side by side, each in its own air: v = g/c (1 − e^{−ct}).
void fall_in_air(Element element, Solver solver) {
  const double g = 9.81, air[] = {0, 10, 2};
  ModelBuilder b("fall");
  const MaterialId rubber = b.add(material_of(1e6, 0.4, 1100));
  const SectionId round = b.add(Section{"s", Circle{3e-3}});
  for (int i = 0; i < 3; ++i) {
    Beam beam;
    beam.name = std::string("thread") + std::to_string(i);
    beam.path = PolylinePath{{Vec3(0, i, 0), Vec3(0.3, i, 0)}};
    beam.root = Hold::free;
    beam.material = rubber, beam.section = round;
    beam.elements = 4;
    beam.air_damping = air[i];
    b.add(beam);
  }
  b.parts.gravity = VectorFunction::constant(Vec3(0, 0, -g));
  Options options;
  options.element = element, options.solver = solver;
  const System system = compile(std::move(b).build(), options);
  State state = system.rest();
  Workspace w(system);
  const double h = 2e-3, time = 1;
  for (int k = 0; k < 500; ++k) ASSERT_TRUE(step(system, state, w, h).ok());
  for (int i = 0; i < 3; ++i) {
    const double expected = air[i] > 0 ? g / air[i] * (1 - std::exp(-air[i] * time)) : g * time;
    // BDF2 is off by (ch)²/3, its first step by (ch)²/2 of what has since faded.
    for (int j = state.first[i]; j < state.first[i + 1]; ++j)
      EXPECT_NEAR(-state.v[12 * j + 2], expected, 2e-4 * expected) << air[i];
  }
}

TEST(Air, SlowsEachThreadByItsOwn) {
  fall_in_air(Element::log, Solver::direct);
  fall_in_air(Element::log, Solver::cg);
  fall_in_air(Element::green, Solver::direct);
}

}  // namespace
}  // namespace limber::thread
