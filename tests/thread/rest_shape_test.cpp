// Threads that begin stretched or bent, clamps that let go, and frictions of pairs: closed forms.
#include "limber/math/so3.h"
#include "thread_support.h"

namespace limber::thread {
namespace {

// Stretched by 1e-4 and let go at its tip, a rod swings along itself at f = c/(4 L). Of its lowest motion,
// over ten periods: the mesh of 16 elements and the step are off by less than 1e-4 of the frequency.
TEST(RestLength, AStretchedRodSwingsAlongItself) {
  Rope rope;
  rope.nu = 0, rope.elements = 16;
  rope.path = PolylinePath{{Vec3::Zero(), Vec3(1.0001, 0, 0)}};
  rope.options.integrator = Integrator::lobatto, rope.options.rho = 1;
  Beam beam = rope.beam();
  beam.rest = BeamEase{1, {}, Vec3::UnitZ()};
  const System system = rope.build(beam);
  EXPECT_EQ(system.length(0), 1);
  State state = system.rest();
  Workspace w(system);
  const double EA = rope.E * rope.A();
  EXPECT_NEAR(energy(system, state, w).elastic, 0.5 * EA * 1e-8, 1e-6 * EA * 1e-8);
  const double c = std::sqrt(rope.E / rope.density), period = 4 / c, h = period / 200;
  const auto lowest = [&] {
    double sum = 0;
    for (int j = 1; j <= 16; ++j)
      sum += (j < 16 ? 1 : 0.5) * std::sin(0.5 * pi * j / 16) * (state.e[12 * j] - j / 16.0);
    return sum;
  };
  double before = lowest(), crossed = 0;
  int crossings = 0;
  for (int k = 0; crossings < 21; ++k) {
    ASSERT_LT(k, 2200);
    ASSERT_TRUE(step(system, state, w, h).ok());
    const double now = lowest();
    if (before * now < 0) ++crossings, crossed = (k + before / (before - now)) * h;
    before = now;
  }
  EXPECT_NEAR(crossed / (10.25 * period), 1, 1e-4);
}

// Its mass is that of the length at ease.
TEST(RestLength, MassIsThatAtEase) {
  Rope rope;
  rope.path = PolylinePath{{Vec3::Zero(), Vec3(1.2, 0, 0)}};
  Beam beam = rope.beam();
  beam.rest = BeamEase{1, {}, Vec3::UnitZ()};
  beam.root = Hold::free;
  beam.velocity = Vec3(0, 0, 2);
  const System system = rope.build(beam);
  Workspace w(system);
  EXPECT_NEAR(energy(system, system.rest(), w).kinetic, 0.5 * rope.density * rope.A() * 4, 1e-12);
}

Beam bow(Rope& rope, double kappa) {
  Beam beam = rope.beam();
  ArcPath arc;
  arc.radius = 1 / kappa, arc.angle = kappa;
  beam.rest = BeamEase{0, Path(arc), Vec3::UnitZ()};
  return beam;
}

// Held straight at both ends it needs the moment E I κ there, and none between: exact for the element.
TEST(RestShape, HeldStraightNeedsItsMoment) {
  const double kappa = 0.8;
  Rope rope;
  Beam beam = bow(rope, kappa);
  beam.clamps.push_back({1, world, Hold::clamped});
  const double EI = rope.E * rope.I();
  const System system = rope.build(beam);
  State state = system.rest();
  Workspace w(system);
  ASSERT_TRUE(solve_static(system, state, w).report.ok());
  const auto held = reactions(system, state, w);
  ASSERT_EQ(held.size(), 2u);
  for (const Reaction& r : held) {
    EXPECT_NEAR(r.moment.norm(), EI * kappa, 1e-6 * EI * kappa) << r.name;
    EXPECT_LT(r.force.norm(), 1e-6 * EI * kappa);
  }
  EXPECT_NEAR(station(system, state, w, 0, 0.5).moment.norm(), EI * kappa, 1e-6 * EI * kappa);
}

// Let go it becomes the arc, exactly: at once where nothing holds its tip, after `until` where a clamp does.
TEST(RestShape, LetGoItIsItsOwnArc) {
  const double kappa = 0.8;
  const Vec3 tip(std::sin(kappa) / kappa, 0, (1 - std::cos(kappa)) / kappa);
  for (const bool clamped : {false, true}) {
    Rope rope;
    Beam beam = bow(rope, kappa);
    if (clamped) beam.clamps.push_back({1, world, Hold::clamped, 0.5});
    const System system = rope.build(beam);
    Workspace w(system);
    State state = system.rest();
    ASSERT_TRUE(solve_static(system, state, w).report.ok());
    EXPECT_LT((node_of(state, 32) - (clamped ? Vec3(1, 0, 0) : tip)).norm(), 1e-8);
    state.t = 0.5;
    ASSERT_TRUE(solve_static(system, state, w).report.ok());
    EXPECT_LT((node_of(state, 32) - tip).norm(), 1e-8);
    EXPECT_EQ(reactions(system, state, w).size(), 1u);
  }
}

// A helix at ease and a straight path: it is twisted and bent as the helix is, whatever the frames are.
TEST(RestShape, TwistsTooAtEase) {
  Rope rope;
  Beam beam = rope.beam();
  HelixPath helix;
  helix.radius = 0.1, helix.pitch = 0.2, helix.turns = 1 / std::hypot(2 * pi * 0.1, 0.2);
  beam.rest = BeamEase{0, Path(helix), Vec3::UnitZ()};
  const System system = rope.build(beam);
  Workspace w(system);
  State state = system.rest();
  ASSERT_TRUE(solve_static(system, state, w).report.ok());
  EXPECT_NEAR((node_of(state, 32) - node_of(state, 0)).norm(),
              (path_point(helix, 1) - path_point(helix, 0)).norm(), 1e-8);
  EXPECT_LT(energy(system, state, w).elastic, 1e-12);
}

// A clamp lets go within a step at its own time: the same as steps that end there.
TEST(Release, IsExactWithinAStep) {
  for (const Integrator by : {Integrator::bdf2, Integrator::alpha, Integrator::lobatto}) {
    std::vector<double> end[2];
    for (const bool there : {false, true}) {
      Rope rope;
      rope.elements = 8, rope.gravity = Vec3(0, 0, -9.81), rope.options.integrator = by;
      Beam beam = rope.beam();
      beam.clamps.push_back({1, world, Hold::pinned, 0.007});
      const System system = rope.build(beam);
      State state = system.rest();
      Workspace w(system);
      for (const double h :
           there ? std::vector<double>{5e-3, 2e-3, 3e-3, 5e-3} : std::vector<double>{5e-3, 5e-3, 5e-3})
        ASSERT_TRUE(step(system, state, w, h).ok());
      end[there] = state.e;
      EXPECT_LT(node_of(state, 8).z(), -1e-4);  // it falls
    }
    for (std::size_t i = 0; i < end[0].size(); ++i)
      ASSERT_NEAR(end[0][i], end[1][i], 1e-12) << i;  // rounding of t
  }
}

// Nothing is gained or lost when a clamp at rest lets go, and the state goes on from its bytes.
TEST(Release, KeepsEnergyAndBits) {
  Rope rope;
  rope.elements = 16;
  rope.path = PolylinePath{{Vec3::Zero(), Vec3(1.1, 0, 0)}};
  rope.options.integrator = Integrator::lobatto, rope.options.rho = 1;
  Beam beam = rope.beam();
  beam.rest = BeamEase{1, {}, Vec3::UnitZ()};
  beam.clamps.push_back({1, world, Hold::pinned, 0.0113});
  const System system = rope.build(beam);
  State a = system.rest();
  Workspace w(system);
  const double start = energy(system, a, w).total();
  for (int k = 0; k < 5; ++k) ASSERT_TRUE(step(system, a, w, 2e-3).ok());
  State b = system.rest();
  b.load(a.save());
  Workspace fresh(system);
  for (int k = 0; k < 20; ++k) {
    ASSERT_TRUE(step(system, a, w, 2e-3).ok());
    fresh.fill_with_nan();
    ASSERT_TRUE(step(system, b, fresh, 2e-3).ok());
  }
  EXPECT_EQ(a.save(), b.save());
  EXPECT_LT(energy(system, a, w).total(), start * 1.01);  // what may be made before a step is calmed
  EXPECT_GT(energy(system, a, w).kinetic, 0.1 * start);
}

// A thread slides along a floor: it slows by μ g of the pair, or of the rule, whatever the others are.
double slowed_by(double own, Combine rule, std::vector<SurfacePair> pairs) {
  Rope rope;
  rope.elements = 4, rope.gravity = Vec3(0, 0, -10);
  rope.path = PolylinePath{{Vec3(0, 0, 0.00499), Vec3(1, 0, 0.00499)}};
  Beam beam = rope.beam();
  beam.root = Hold::free;
  beam.velocity = Vec3(1, 0, 0);
  Body floor;
  floor.name = "floor", floor.inertia.m = 1, floor.friction = own;
  Shape shape;
  shape.geometry = BoxShape{{10, 10, 1}};
  shape.X_BG = {Mat3::Identity(), Vec3(0, 0, -0.5)};
  floor.shapes.push_back(shape);
  Joint joint;
  joint.name = "floor.joint", joint.child = rope.builder.add(floor);
  rope.builder.add(joint);
  Contact contact;
  contact.friction = 0.4, contact.self = false, contact.combine = rule, contact.pairs = std::move(pairs);
  rope.builder.parts.contact = contact;
  const System system = rope.build(beam);
  State state = system.rest();
  Workspace w(system);
  for (int k = 0; k < 100; ++k) EXPECT_TRUE(step(system, state, w, 1e-3).ok());
  double speed = 0;
  for (int j = 0; j < state.node_count(); ++j) speed += state.v[12 * j] / state.node_count();
  return (1 - speed) / (0.1 * 10);
}
SurfacePair pair_of(const Surface& a, const Surface& b, double friction) {
  SurfacePair out;
  out.a = a, out.b = b, out.terms.friction = friction;
  return out;
}
TEST(Friction, IsThatOfThePairOrOfTheRule) {
  // 1 %: the overlap at the start is pushed out, and presses a little.
  EXPECT_NEAR(slowed_by(0.1, Combine::geometric, {}), 0.2, 0.002);
  EXPECT_NEAR(slowed_by(0.1, Combine::minimum, {}), 0.1, 0.001);
  EXPECT_NEAR(slowed_by(0.1, Combine::maximum, {}), 0.4, 0.004);
  EXPECT_NEAR(slowed_by(0.1, Combine::average, {}), 0.25, 0.0025);
  const Surface thread{.beam = BeamId{0}}, floor{.body = BodyId{0}};
  EXPECT_NEAR(slowed_by(0.1, Combine::maximum, {pair_of(floor, thread, 0.3)}), 0.3, 0.003);
  EXPECT_NEAR(slowed_by(0.1, Combine::minimum, {pair_of(thread, thread, 0.3)}), 0.1, 0.001);
}

}  // namespace
}  // namespace limber::thread
