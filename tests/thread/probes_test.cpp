// What probes say of a thread, against closed forms.
#include <algorithm>

#include "limber/math/so3.h"
#include "thread_support.h"

namespace limber::thread {
namespace {

constexpr Quantity section_quantities[] = {Quantity::tension, Quantity::bending_moment, Quantity::curvature,
                                           Quantity::torque, Quantity::twist};
struct Sections {
  double tension, moment, curvature, torque, twist;
};

// By probes at s of a cantilever at rest.
Sections at_rest(Rope rope, double s) {
  const BeamId id = rope.builder.add(rope.beam());
  for (const Quantity q : section_quantities) {
    Probe p;
    p.name = std::string("p") + std::to_string(static_cast<int>(q));
    p.quantity = q;
    p.at.beam = id, p.at.s = s;
    rope.builder.add(p);
  }
  PointLoad load;
  load.name = "load";
  load.at.beam = id, load.at.s = 1;
  load.force = VectorFunction::constant(rope.tip_force);
  load.moment = VectorFunction::constant(rope.tip_moment);
  rope.builder.add(load);
  rope.builder.parts.gravity = VectorFunction::constant(rope.gravity);
  const System system = compile(std::move(rope.builder).build(), rope.options);
  State state = system.rest();
  Workspace w(system);
  StaticOptions options;
  options.load_steps = 2;
  EXPECT_TRUE(solve_static(system, state, w, options).report.ok());
  result::Snapshot now;
  observe(system, state, w, now);
  return {now.scalars[0], now.scalars[1], now.scalars[2], now.scalars[3], now.scalars[4]};
}

// A cantilever pulled, bent and twisted a little at its tip: N, M = F (L − s), T. Forces are those of rest
// with every element; the strains are the stiffness's: the printed element is stiffer by the modulus of
// uniaxial strain in bending (docs/theory/thread.md).
TEST(Probe, SectionForcesOfEveryElement) {
  const double nu = 0.3, lock = (1 - nu) / ((1 + nu) * (1 - 2 * nu));
  for (const Element element : all_elements)
    for (const double s : {0.25, 0.5, 0.8}) {
      Rope rope;
      rope.nu = nu, rope.section = Circle{0.01}, rope.elements = 40;
      rope.options.element = element;
      const double EI = rope.E * rope.I(), GJ = rope.E / (2 * (1 + nu)) * 2 * rope.I();
      const double N = 1e-3 * EI, F = 3e-4 * EI, T = 2e-4 * GJ;
      rope.tip_force = Vec3(N, 0, -F), rope.tip_moment = Vec3(T, 0, 0);
      const Sections at = at_rest(rope, s);
      const double M = F * (1 - s), stiffer = element == Element::printed ? lock : 1;
      // Slopes of F L²/(2EI) = 1.5e-4 mix the forces, and the deflection moves N: both 2e-4 of F and M.
      EXPECT_NEAR(at.tension, N, 2e-3 * N) << to_string(element) << s;
      EXPECT_NEAR(at.moment, M, 2e-3 * M) << to_string(element) << s;
      EXPECT_NEAR(at.torque, T, 2e-3 * T) << to_string(element) << s;
      EXPECT_NEAR(at.curvature, M / (stiffer * EI), 0.01 * M / EI) << to_string(element) << s;
      EXPECT_NEAR(at.twist, T / GJ, 2e-3 * T / GJ) << to_string(element) << s;
    }
}

// Bent to a quarter of a circle by a moment: with the log element M/EI exactly, with the others what their
// mesh makes of it.
TEST(Probe, SectionForcesOfLargeTurns) {
  for (const Element element : {Element::log, Element::green}) {
    Rope rope;
    rope.nu = 0, rope.section = Circle{0.01}, rope.elements = 96;
    rope.options.element = element;
    const double EI = rope.E * rope.I(), M = 0.5 * pi * EI;
    rope.tip_moment = Vec3(0, 0, M);
    const Sections at = at_rest(rope, 0.5);
    EXPECT_NEAR(at.moment, M, 0.01 * M) << to_string(element);
    EXPECT_NEAR(at.curvature, M / EI, 0.01 * M / EI) << to_string(element);
    EXPECT_NEAR(at.tension, 0, 0.01 * M) << to_string(element);
  }
}

// The estimate of a mesh's error is the log element's.
TEST(Compile, ErrorOfOtherElementsIsRefused) {
  Rope rope;
  rope.options.element = Element::green, rope.options.levels = 1, rope.options.error = 1e-3;
  EXPECT_THROW(rope.build(), ModelError);
}

}  // namespace
}  // namespace limber::thread
