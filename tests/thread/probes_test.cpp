// What probes say of a thread, against closed forms.
#include <algorithm>
#include <random>

#include "limber/math/so3.h"
#include "limber/thread/system.h"
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

struct OffSpring {
  double s = 1;
  Vec3 at = Vec3(0, 0, 0.1), to = Vec3(2, 0, 0.1);
  double stiffness = 1, rest_length = 0.5, damping = 0;
};
System with_spring(Rope rope, const OffSpring& o) {
  Beam beam = rope.beam();
  Spring spring;
  spring.name = "k";
  spring.a.beam = rope.builder.add(beam), spring.a.s = o.s, spring.a.p = o.at;
  spring.b.p = o.to;
  spring.stiffness = o.stiffness, spring.rest_length = o.rest_length, spring.damping = o.damping;
  const SpringId id = rope.builder.add(spring);
  for (const Quantity q : {Quantity::spring_length, Quantity::spring_tension}) {
    Probe p;
    p.name = q == Quantity::spring_length ? "length" : "tension";
    p.quantity = q, p.spring = id;
    rope.builder.add(p);
  }
  rope.builder.parts.gravity = VectorFunction::constant(rope.gravity);
  return compile(std::move(rope.builder).build(), rope.options);
}

// A spring 10 cm beside the tip, along the thread: 1 m long at first, and its force F bends the thread as the
// moment F a does, w = F a L²/(2EI).
TEST(Spring, OffTheMidline) {
  Rope rope;
  rope.section = Circle{0.01}, rope.elements = 10;
  OffSpring o;
  const System system = with_spring(rope, o);
  State state = system.rest();
  Workspace w(system);
  result::Snapshot now;
  observe(system, state, w, now);
  EXPECT_NEAR(now.scalars[0], 1, 1e-14);
  EXPECT_NEAR(now.scalars[1], 0.5, 1e-14);
  o.stiffness = 1e-3;
  const System soft = with_spring(rope, o);
  Workspace w2(soft);
  state = soft.rest();
  const StaticResult r = solve_static(soft, state, w2);
  ASSERT_TRUE(r.report.ok()) << r.report.message;
  EXPECT_LT(r.report.iterations, 8);  // the tangent is exact: Newton's
  // A pull at +z beside the tip turns it down, about +y.
  const double F = 0.5e-3, down = F * 0.1 / (2 * rope.E * rope.I());
  // F L²/EI = 0.06 of the tension's own moment: 5/12 of it straightens.
  EXPECT_NEAR(node_of(state, 10).z(), -down, 0.05 * down);
}

// Without a length given it is the one at the start, also between nodes.
TEST(Spring, LengthAtTheStart) {
  Rope rope;
  rope.elements = 10;
  OffSpring o;
  o.s = 0.43, o.at = Vec3(0.01, 0.02, 0.03), o.to = Vec3(0.43, 1, 0.5), o.rest_length = -1;
  const System system = with_spring(rope, o);
  Workspace w(system);
  result::Snapshot now;
  observe(system, system.rest(), w, now);
  EXPECT_NEAR(now.scalars[0], (Vec3(0.44, 0.02, 0.03) - o.to).norm(), 1e-13);
  EXPECT_NEAR(now.scalars[1], 0, 1e-12);
}

// Forces are the energy's gradient and its tangent theirs along turns, on a node and between two, in a thread
// that is bent and strained: by central differences.
TEST(Spring, OffTheMidlineHasGradientAndTangent) {
  for (const double s : {1.0, 0.75, 0.77}) {
    Rope rope;
    rope.section = Circle{0.01}, rope.elements = 4;
    OffSpring o;
    o.s = s, o.at = Vec3(0.02, 0.05, 0.1), o.to = Vec3(0.8, 0.9, 0.6), o.rest_length = 0.2;
    const System system = with_spring(rope, o);
    const SystemData& data = system.data();
    State state = system.rest();
    Workspace workspace(system);
    WorkspaceData& w = workspace.data();
    set_mesh(data, state, w);
    std::mt19937 engine(5);
    std::normal_distribution<double> normal;
    const auto vec = [&] { return Vec3(normal(engine), normal(engine), normal(engine)); };
    const int nodes = state.node_count(), n = 12 * nodes;
    for (const double strain : {0.0, 0.05}) {
      for (int j = 0; j < nodes; ++j) {
        const Mat3 R = math::so3_exp(0.3 * vec());
        for (int i = 0; i < 3; ++i) state.e[12 * j + i] += 0.02 * normal(engine);
        for (int i = 0; i < 9; ++i) state.e[12 * j + 3 + i] = R(i % 3, i / 3) + strain * normal(engine);
      }
      const auto force = [&](const std::vector<double>& e, bool tangent) {
        EXPECT_TRUE(tangent ? evaluate_tangent(data, e.data(), {}, w) : evaluate(data, e.data(), w));
        external_forces(data, state, e.data(), 0, 1, 0, false, w);
        return w.external;
      };
      const std::vector<double> f = force(state.e, false);
      // Turns and motions: along them the rotation has no second derivative of its own.
      std::vector<double> along(n), plus = state.e, minus = state.e;
      double most = 0;
      for (int i = 0; i < n; ++i) most = std::max(most, std::abs(f[i]));
      constexpr double h = 1e-6;
      for (int i = 0; i < n; ++i) {
        plus[i] += h, minus[i] -= h;
        const double slope =
            (potential(data, state, plus.data(), 0, 1, w) - potential(data, state, minus.data(), 0, 1, w)) /
            (2 * h);
        plus[i] = minus[i] = state.e[i];
        EXPECT_NEAR(f[i], -slope, 1e-8 * most) << s << " " << i;  // rounding over h
      }
      if (strain > 0) continue;
      for (int j = 0; j < nodes; ++j) {
        const Vec3 x = vec(), turn = vec();
        for (int i = 0; i < 3; ++i) along[12 * j + i] = x[i];
        for (int c = 0; c < 3; ++c) {
          const Vec3 d = turn.cross(
              Vec3(state.e[12 * j + 3 + 3 * c], state.e[12 * j + 4 + 3 * c], state.e[12 * j + 5 + 3 * c]));
          for (int i = 0; i < 3; ++i) along[12 * j + 3 + 3 * c + i] = d[i];
        }
      }
      force(state.e, true);
      const Numbers D = w.elements.D, O = w.elements.O;
      external_forces(data, state, state.e.data(), 0, 1, 0, true, w);
      std::vector<double> local(n);
      to_node_axes(w, nodes, along.data(), local.data());
      double quadratic = 0;
      for (int j = 0; j < nodes; ++j)
        for (int r = 0; r < 12; ++r)
          for (int c = 0; c < 12; ++c) {
            const std::size_t at = 144 * static_cast<std::size_t>(j) + 12 * r + c;
            quadratic += local[12 * j + r] * (w.elements.D[at] - D[at]) * local[12 * j + c];
            if (j + 1 < nodes)
              quadratic += 2 * local[12 * j + r] * (w.elements.O[at] - O[at]) * local[12 * j + 12 + c];
          }
      constexpr double step = 1e-4;
      for (int i = 0; i < n; ++i) plus[i] += step * along[i], minus[i] -= step * along[i];
      const double second = (potential(data, state, plus.data(), 0, 1, w) -
                             2 * potential(data, state, state.e.data(), 0, 1, w) +
                             potential(data, state, minus.data(), 0, 1, w)) /
                            (step * step);
      EXPECT_NEAR(quadratic, second, 1e-4 * std::abs(second)) << s;
    }
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
