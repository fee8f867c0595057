// Generalised-α: order, energy, and what it has to get on with.
#include "thread_support.h"

namespace limber::thread {
namespace {

// A thread of 1 m, radius 5 mm, E = 1 MPa, released straight on: where its tip is every 10 ms.
std::vector<Vec3> swing(Integrator integrator, double rho, double h, double time, int elements = 64) {
  Rope rope;
  rope.nu = 0.4, rope.elements = elements, rope.gravity = Vec3(0, 0, -9.81);
  rope.options.integrator = integrator, rope.options.rho = rho;
  const System system = rope.build();
  State state = system.rest();
  Workspace w(system);
  std::vector<Vec3> out;
  const int each = static_cast<int>(std::lround(0.01 / h)), steps = static_cast<int>(std::lround(time / h));
  for (int k = 1; k <= steps; ++k) {
    const result::SolveReport report = step(system, state, w, h);
    EXPECT_TRUE(report.ok()) << report.message;
    if (!report.ok()) break;
    if (k % each == 0) out.push_back(node_of(state, state.node_count() - 1));
  }
  return out;
}
double largest_error(const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
  double most = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) most = std::max(most, (a[i] - b[i]).norm());
  return most;
}

// Against its own solution at 0.1 ms, over a fall and the whip of the tip at its end: the order between 2 and
// 1 ms, and a third of the error of BDF2.
TEST(Alpha, IsOfSecondOrder) {
  const double time = 0.5;
  const auto fine = swing(Integrator::alpha, 0.8, 1e-4, time, 32);
  for (const double rho : {1.0, 0.8}) {
    double error[2];
    for (int k = 0; k < 2; ++k)
      error[k] = largest_error(swing(Integrator::alpha, rho, k == 0 ? 2e-3 : 1e-3, time, 32), fine);
    EXPECT_NEAR(std::log2(error[0] / error[1]), 2, 0.1) << rho;
    EXPECT_LT(error[0], 0.4 * largest_error(swing(Integrator::bdf2, rho, 2e-3, time, 32), fine));
  }
}

// A thread that falls, whips and whirls, at steps that resolve it and at steps that do not: nothing is ever
// made, where the scheme by itself doubles the energy within two seconds (ρ = 1, 5 ms).
TEST(Alpha, MakesNoEnergy) {
  for (const double rho : {1.0, 0.8})
    for (const double h : {5e-3, 1.0 / 60}) {
      Rope rope;
      rope.gravity = Vec3(0, 0, -9.81);
      rope.options.integrator = Integrator::alpha, rope.options.rho = rho;
      const Gained gained = gained_in(rope.build(), h, 3);
      EXPECT_LT(gained.most, 1e-9 * gained.kinetic) << rho << " " << h;
      EXPECT_GT(gained.kinetic, 0.01);
    }
}

// A cantilever that swings a little, 50 times at 100 steps each: with ρ = 1 nothing is lost. (BDF2 loses π
// (ωh)³/2 of it in a period: 40 % with 100 steps.)
TEST(Alpha, KeepsWhatItResolves) {
  Rope rope;
  rope.elements = 8;
  rope.options.integrator = Integrator::alpha, rope.options.rho = 1;
  const double f =
      1.87510407 * 1.87510407 / (2 * pi) * std::sqrt(rope.E * rope.I() / (rope.density * rope.A()));
  const System system = rope.build();
  State state = system.rest();
  Workspace w(system);
  for (int j = 0; j < state.node_count(); ++j) {
    const double x = j / 8.0;
    state.v[12 * j + 2] = 1e-3 * x * x * (6 - 4 * x + x * x) / 3;
    state.v[12 * j + 5] = 1e-3 * x * (12 - 12 * x + 4 * x * x) / 3;
  }
  const double start = energy(system, state, w).total();
  int calm = 0;
  for (int k = 0; k < 5000; ++k) {
    ASSERT_TRUE(step(system, state, w, 1 / (100 * f)).ok());
    calm += state.energy_before == 0 ? 1 : 0;
  }
  EXPECT_EQ(calm, 0);
  EXPECT_NEAR(energy(system, state, w).total(), start, 1e-3 * start);
}

// With what threads can have: goes on from bytes with the same bits, and its books do not gain.
void goes_on(const System& system, double h, int steps) {
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
Rope falling() {
  Rope rope;
  rope.elements = 16, rope.gravity = Vec3(0, 0, -9.81);
  rope.options.integrator = Integrator::alpha;
  return rope;
}

// A split makes a little strain, which the scheme keeps (measured: 0.12 J in a fall of 0.4 J).
TEST(Alpha, RefusesAMeshThatChanges) {
  Rope rope = falling();
  rope.options.levels = 2;
  EXPECT_THROW(rope.build(), ModelError);
}

TEST(Alpha, GoesOnWithACut) {
  Rope rope = falling();
  Beam beam = rope.beam();
  rope.builder.add(Change{0.1, Change::Kind::cut, BeamId{0}, {}, {}, 0.5});
  goes_on(rope.build(beam), 2e-3, 100);
}

TEST(Alpha, GoesOnOnAFloor) {
  Rope rope = falling();
  Contact contact;
  contact.friction = 0.3, contact.self = false;
  contact.planes.push_back({"floor", Vec3(0, 0, -0.3), Vec3::UnitZ()});
  rope.builder.parts.contact = contact;
  goes_on(rope.build(), 2e-3, 150);
}

TEST(Alpha, GoesOnDampedAndDriven) {
  Rope rope = falling();
  Beam beam = rope.beam();
  beam.damping = 1e-3, beam.air_damping = 1;
  Body hand;
  hand.name = "hand", hand.inertia.m = 1;
  Joint joint;
  joint.name = "turn", joint.kind = JointKind::revolute, joint.child = rope.builder.add(hand);
  joint.X_PF = {Mat3::Identity(), Vec3(1, 0, 0)};
  PrescribedMotion motion;
  motion.joint = rope.builder.add(joint);
  motion.position[0] = TimeFunction::table({0, 0.1, 1}, {0, 0.3, 0.3});
  rope.builder.add(motion);
  beam.clamps.push_back({1, BodyId{0}, Hold::clamped});
  goes_on(rope.build(beam), 1e-3, 150);
}

}  // namespace
}  // namespace limber::thread
