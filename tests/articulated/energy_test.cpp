// The energy balance: what is booked as work and dissipation explains the energy, to the integrator's order.
#include <gtest/gtest.h>

#include <cmath>

#include "limber/articulated/system.h"

namespace limber::articulated {
namespace {

// amplitude · sin(rate t)
TimeFunction field_of_time(double amplitude, double rate) {
  math::Program p;
  p.push_constant(amplitude);
  p.push_constant(rate);
  p.push_variable(0);
  p.push(math::Op::multiply);
  p.push(math::Op::sin);
  p.push(math::Op::multiply);
  return TimeFunction::expression(p);
}

// Hinges about z in a row along x, 0.3 m apart; `ring`: a slide along y on the last one, closed to the world.
ModelBuilder pendulum_row(int bars, JointKind first = JointKind::revolute) {
  ModelBuilder b;
  for (int i = 0; i < bars; ++i) {
    Body bar;
    bar.name = "bar" + std::to_string(i);
    bar.inertia = Inertia::about_com(0.7, Vec3(0.15, 0, 0), math::box_inertia(0.7, Vec3(0.3, 0.02, 0.02)));
    const BodyId id = b.add(bar);
    Joint j;
    j.name = "joint" + std::to_string(i);
    j.kind = i == 0 ? first : JointKind::revolute;
    j.parent = BodyId{i - 1};
    j.child = id;
    if (i > 0) j.X_PF = Pose::translation({0.3, 0, 0});
    b.add(j);
  }
  return b;
}

double remainder_of(const System& s, const State& state, Workspace& w) {
  return energy(s, state, w).total() - s.data().energy0 + state.dissipated - state.work;
}

double largest_remainder(const Model& model, Integrator integrator, double time, int steps) {
  const System s = compile(model, {.integrator = integrator});
  State state = s.rest();
  Workspace w(s);
  double largest = 0;
  for (int i = 0; i < steps; ++i) {
    const auto report = step(s, state, w, time / steps);
    EXPECT_TRUE(report.ok()) << report.message;
    largest = std::max(largest, std::abs(remainder_of(s, state, w)));
  }
  return largest;
}

// A mass on a slide in a field that changes, with a jump: for the midpoint rule h v̄ is the way itself, so the
// balance is exact.
TEST(Energy, MidpointBalancesAFieldOfTimeExactly) {
  ModelBuilder b = pendulum_row(1, JointKind::prismatic);
  b.parts.gravity = {{0.0, 0.0, TimeFunction::table({0, 0.3, 0.301, 1, 2}, {-9.81, 4, -30, 5, 0})}};
  b.parts.joints[0].velocity[0] = 1;
  b.parts.joints[0].position[0] = 100;  // energies count from the world's origin
  // 50 steps of numbers near 0.7 · 30 · 100 J.
  EXPECT_LT(largest_remainder(b.build(), Integrator::midpoint, 1, 50), 1e-10);
}

// What the changing field does is work: the rest vanishes at the integrator's order.
TEST(Energy, WorkOfAFieldOfTimeIsBooked) {
  for (const bool ring : {false, true}) {
    ModelBuilder b = pendulum_row(ring ? 3 : 2);
    b.parts.gravity = {{1.0, field_of_time(3, 8), -9.81}};
    if (ring) {
      b.parts.joints[0].position[0] = 1.2, b.parts.joints[1].position[0] = -1.0;
      b.parts.joints[2].position[0] = -1.1;
      Loop loop;
      loop.name = "ring";
      loop.kind = JointKind::revolute;
      loop.a = BodyId{2};
      loop.X_AF = Pose::translation({0.3, 0, 0});
      Vec3 end = Vec3::Zero();
      for (const double angle : {1.2, 0.2, -0.9}) end += 0.3 * Vec3(std::cos(angle), std::sin(angle), 0);
      loop.X_BM = {math::so3_exp(Vec3(0, 0, -0.9)), end};
      b.add(loop);
    }
    const Model model = b.build();
    for (const Integrator integrator : all_integrators) {
      SCOPED_TRACE(std::string(to_string(integrator)) + (ring ? ", ring" : ""));
      const bool first = integrator == Integrator::euler || integrator == Integrator::implicit_euler;
      const double coarse = largest_remainder(model, integrator, 0.5, 250);
      const double fine = largest_remainder(model, integrator, 0.5, 500);
      EXPECT_NEAR(std::log2(coarse / fine), first ? 1 : 2, 0.25);  // the next order: of ω h = 0.02
      EXPECT_LT(fine, first ? 0.02 : 2e-4);                        // of 1 J
      RecordProperty(to_string(integrator), std::to_string(fine));
    }
  }
}

}  // namespace
}  // namespace limber::articulated
