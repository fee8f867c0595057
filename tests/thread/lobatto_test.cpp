// Collocation at two stages: order, energy, and what it has to get on with.
#include "thread_support.h"

namespace limber::thread {
namespace {

// A thread of 1 m, radius 5 mm, E = 1 MPa, released straight on: where its tip is every 10 ms.
std::vector<Vec3> fall(Integrator integrator, double h) {
  Rope rope;
  rope.nu = 0.4, rope.gravity = Vec3(0, 0, -9.81);
  rope.options.integrator = integrator;
  const System system = rope.build();
  State state = system.rest();
  Workspace w(system);
  std::vector<Vec3> out;
  const int each = static_cast<int>(std::lround(0.01 / h));
  for (int k = 1; k <= 40 * each; ++k) {
    const result::SolveReport report = step(system, state, w, h);
    EXPECT_TRUE(report.ok()) << report.message;
    if (!report.ok()) break;
    if (k % each == 0) out.push_back(node_of(state, state.node_count() - 1));
  }
  return out;
}
double farthest(const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
  double most = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) most = std::max(most, (a[i] - b[i]).norm());
  return most;
}

// The velocities of a cantilever's slowest bending, about: `speed` at the tip.
void set_swinging(State& state, int elements, double speed) {
  for (int j = 0; j < state.node_count(); ++j) {
    const double x = static_cast<double>(j) / elements, slope = speed * x * (12 - 12 * x + 4 * x * x) / 3;
    state.v[12 * j + 2] = speed * x * x * (6 - 4 * x + x * x) / 3;
    state.v[12 * j + 5] = slope;
    state.v[12 * j + 9] = -slope;
  }
}

// Soft and thick, so that steps resolve all of its motions: c = 1 m/s, a section of 0.1 m, two elements.
std::vector<double> wave(double rho, int steps) {
  Rope rope;
  rope.E = 1e3, rope.section = Circle{0.1}, rope.elements = 2;
  rope.options.integrator = Integrator::lobatto, rope.options.rho = rho;
  rope.options.iterations = 16;  // the order is that of the scheme, not of its iteration
  const System system = rope.build();
  State state = system.rest();
  Workspace w(system);
  set_swinging(state, 2, 1);
  for (int k = 0; k < steps; ++k) EXPECT_TRUE(step(system, state, w, 0.32 / steps).ok());
  return state.e;
}

TEST(Lobatto, IsOfThirdOrderAndOfFourthWithoutDamping) {
  const std::vector<double> fine = wave(1, 256);
  for (const double rho : {1.0, 0.5}) {
    double error[2] = {0, 0};
    for (int k = 0; k < 2; ++k) {
      const std::vector<double> e = wave(rho, k == 0 ? 8 : 16);
      for (std::size_t i = 0; i < e.size(); ++i) error[k] = std::max(error[k], std::abs(e[i] - fine[i]));
    }
    EXPECT_NEAR(std::log2(error[0] / error[1]), rho == 1 ? 4 : 3, 0.1) << rho << " " << error[0];
  }
}

// Over a fall and the whip of the tip at its end, at 5 ms: measured a 40th of the error of generalised-α.
TEST(Lobatto, IsFarCloserAtLongSteps) {
  const auto fine = fall(Integrator::lobatto, 5e-4);
  EXPECT_LT(farthest(fall(Integrator::lobatto, 5e-3), fine),
            0.1 * farthest(fall(Integrator::alpha, 5e-3), fine));
}

// A thread that falls, whips and whirls: nothing is ever made, in long runs at steps that do not resolve it.
TEST(Lobatto, MakesNoEnergy) {
  for (const double rho : {1.0, 0.8})
    for (const double h : {5e-3, 1.0 / 60}) {
      Rope rope;
      rope.gravity = Vec3(0, 0, -9.81), rope.elements = 16;
      rope.options.integrator = Integrator::lobatto, rope.options.rho = rho;
      const Gained gained = gained_in(rope.build(), h, 2);
      // What it may make before it is calmed: a hundredth of what moves.
      EXPECT_LT(gained.most, 0.01 * gained.kinetic) << rho << " " << h;
      EXPECT_GT(gained.kinetic, 0.01);
    }
}

// Short steps: an acceleration is what is left of coordinates over h².
TEST(Lobatto, KeepsEnergyInShortSteps) {
  Rope rope;
  rope.elements = 4, rope.E = 1e4, rope.section = Circle{0.03};
  rope.options.integrator = Integrator::lobatto, rope.options.rho = 1;
  const System system = rope.build();
  State state = system.rest();
  Workspace w(system);
  set_swinging(state, 4, 0.1);
  const double start = energy(system, state, w).total();
  for (int k = 0; k < 2000; ++k) ASSERT_TRUE(step(system, state, w, 5e-5).ok());
  EXPECT_NEAR(energy(system, state, w).total(), start, 1e-3 * start);
}

// Goes on from bytes with the same bits, and its books do not gain.
void goes_on_exactly(const System& system, double h, int steps) {
  State a = system.rest();
  Workspace w(system);
  for (int k = 0; k < steps; ++k) ASSERT_TRUE(step(system, a, w, h).ok()) << k;
  State b = system.rest();
  b.load(a.save());
  Workspace fresh(system);
  for (int k = 0; k < steps; ++k) {
    ASSERT_TRUE(step(system, a, w, h).ok()) << k;
    fresh.fill_with_nan();
    ASSERT_TRUE(step(system, b, fresh, h).ok()) << k;
  }
  EXPECT_EQ(a.save(), b.save());
  const double left = energy(system, a, w).total() + a.dissipated - a.work;
  EXPECT_LT(left - a.energy0, 0.01 * std::abs(a.energy0) + 1e-6);
}
Rope dropped() {
  Rope rope;
  rope.elements = 16, rope.gravity = Vec3(0, 0, -9.81);
  rope.options.integrator = Integrator::lobatto;
  return rope;
}

TEST(Lobatto, GoesOnWithACut) {
  Rope rope = dropped();
  Beam beam = rope.beam();
  rope.builder.add(Change{0.1, Change::Kind::cut, BeamId{0}, {}, {}, 0.5});
  goes_on_exactly(rope.build(beam), 2e-3, 100);
}

TEST(Lobatto, GoesOnOnAFloor) {
  Rope rope = dropped();
  Contact contact;
  contact.friction = 0.3, contact.self = false;
  contact.planes.push_back({"floor", Vec3(0, 0, -0.3), Vec3::UnitZ()});
  rope.builder.parts.contact = contact;
  const System system = rope.build();
  goes_on_exactly(system, 2e-3, 150);
  // It lies there: contact was met, though the scheme does not look for it.
  State state = system.rest();
  Workspace w(system);
  for (int k = 0; k < 300; ++k) ASSERT_TRUE(step(system, state, w, 2e-3).ok());
  EXPECT_LT(contact_report(system, state, w).deepest, 0.02 * 0.01);
  EXPECT_GT(contact_report(system, state, w).contacts, 0);
}

TEST(Lobatto, GoesOnLoadedAndDriven) {
  Rope rope = dropped();
  rope.tip_force = Vec3(0, 0.05, 0);
  Beam beam = rope.beam();
  beam.air_damping = 1;
  Body hand;
  hand.name = "hand", hand.inertia.m = 1;
  Joint joint;
  joint.name = "turn", joint.kind = JointKind::revolute, joint.child = rope.builder.add(hand);
  joint.X_PF = {Mat3::Identity(), Vec3(1, 0, 0)};
  PrescribedMotion motion;
  motion.joint = rope.builder.add(joint);
  // Smooth: a jump of its rate is a blow, whose work no force at the end of a step knows.
  std::vector<double> t, turn;
  for (int i = 0; i <= 100; ++i) {
    const double x = i / 100.0;
    t.push_back(1e-3 * i);
    turn.push_back(0.3 * x * x * x * (10 - 15 * x + 6 * x * x));
  }
  motion.position[0] = TimeFunction::table(t, turn);
  rope.builder.add(motion);
  beam.clamps.push_back({0.5, BodyId{0}, Hold::clamped});
  goes_on_exactly(rope.build(beam), 1e-3, 150);
}

// What it does not go with is refused.
TEST(Lobatto, RefusesWhatItDoesNotHonour) {
  Rope rope = dropped();
  rope.options.levels = 2;
  EXPECT_THROW(rope.build(), ModelError);
  rope = dropped();
  Beam beam = rope.beam();
  beam.damping = 1e-3;
  EXPECT_THROW(rope.build(beam), ModelError);
  rope = dropped();
  rope.options.rho = 0.05;
  EXPECT_THROW(rope.build(), ModelError);
  rope = dropped();
  rope.options.solver = Solver::cg;
  EXPECT_THROW(rope.build(), ModelError);
  for (const Integrator by : {Integrator::alpha, Integrator::lobatto}) {
    rope = dropped();
    rope.options.integrator = by, rope.options.element = Element::green;
    EXPECT_THROW(rope.build(), ModelError);
  }
}

// Where nothing keeps it from making energy, it says so.
TEST(Lobatto, SaysWhereEnergyIsNotWatched) {
  Rope steady = dropped();
  steady.tip_force = Vec3(0, 0, -0.1);
  const System watched = steady.build();
  State state = watched.rest();
  Workspace w(watched);
  EXPECT_EQ(step(watched, state, w, 1e-3).warning, "");
  Rope turning = dropped();
  turning.tip_moment = Vec3(0, 1e-4, 0);
  const System open = turning.build();
  State other = open.rest();
  Workspace v(open);
  EXPECT_NE(step(open, other, v, 1e-3).warning.find("energy"), std::string::npos);
}

}  // namespace
}  // namespace limber::thread
