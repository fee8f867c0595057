// The energy balance: what is booked as work and dissipation explains the energy, to the integrator's order.
#include <fmt/format.h>
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

// Hinges about z in a row along x, 0.3 m apart; the first joint may be another.
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
      const int order = order_of(integrator);
      const double coarse = largest_remainder(model, integrator, 0.5, 250);
      const double fine = largest_remainder(model, integrator, 0.5, 500);
      EXPECT_NEAR(std::log2(coarse / fine), order, 0.25);             // the next order: of ω h = 0.02
      EXPECT_LT(fine, order == 1 ? 0.02 : order == 2 ? 2e-4 : 1e-7);  // of 1 J
      RecordProperty(to_string(integrator), std::to_string(fine));
    }
  }
}

// Bricard's linkage: six rods along the edges of a cube, the first fixed, hinges across their two rods.
Model bricard() {
  ModelBuilder b;
  b.parts.gravity = VectorFunction::constant({0, 0, -9.81});
  const Vec3 corner[6] = {{1, 0, 0}, {1, 1, 0}, {1, 1, 1}, {0, 1, 1}, {0, 0, 1}, {0, 0, 0}};
  const Vec3 axis[6] = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 0}, {0, 1, 0}};
  const auto frame = [](const Vec3& at, const Vec3& z) { return Pose{math::rotation_from_z(z), at}; };
  Vec3 before = Vec3::Zero();  // where the parent's origin stands
  for (int i = 0; i < 5; ++i) {
    const Vec3 middle = (corner[i] + corner[i + 1]) / 2, along = corner[i + 1] - corner[i];
    Body rod;
    rod.name = "rod" + std::to_string(i + 1);
    rod.inertia = Inertia::about_com(1, Vec3::Zero(), (Mat3::Identity() - along * along.transpose()) / 12);
    const BodyId id = b.add(rod);
    Joint j;
    j.name = "hinge" + std::to_string(i + 1);
    j.kind = JointKind::revolute;
    j.parent = BodyId{i - 1};
    j.child = id;
    j.X_PF = frame(corner[i] - before, axis[i]);
    j.X_BM = frame(corner[i] - middle, axis[i]);
    b.add(j);
    before = middle;
  }
  Loop loop;
  loop.name = "hinge6";
  loop.kind = JointKind::revolute;
  loop.a = BodyId{4};
  loop.X_AF = frame(corner[5] - before, axis[5]);
  loop.X_BM = frame(corner[5], axis[5]);
  b.add(loop);
  return b.build();
}

// Steps far too long for the motion: energy stays within 5 % of what moves, or the step says that it does
// not. Left alone the double pendulum ended with 30,000 times its energy.
TEST(Energy, IsNotMadeOutOfNothing) {
  ModelBuilder pendulum = pendulum_row(2);
  pendulum.parts.gravity = VectorFunction::constant({0, -9.81, 0});
  pendulum.parts.joints[0].position[0] = 1.2;
  pendulum.parts.joints[1].position[0] = 0.9;
  const std::pair<const char*, Model> models[] = {{"double pendulum", pendulum.build()},
                                                  {"bricard", bricard()}};
  for (const auto& [name, model] : models)
    for (const Integrator integrator : all_integrators)
      for (const double h : {0.03, 0.05}) {
        SCOPED_TRACE(fmt::format("{}, {}, {} s", name, to_string(integrator), h));
        const System s = compile(model, {.integrator = integrator});
        State state = s.rest();
        Workspace w(s);
        double moving = 0;
        std::string message;
        for (int i = 0; i * h < 10 && message.empty(); ++i) {
          const auto report = step(s, state, w, h);
          message = report.message;
          moving = std::max(moving, energy(s, state, w).kinetic);
          if (report.ok()) continue;
          EXPECT_NE(message.find("out of nothing"), std::string::npos) << message;
          EXPECT_NE(message.find(fmt::format("step {} ", i + 1)), std::string::npos) << message;
        }
        RecordProperty(
            fmt::format("{} {} {}", name, to_string(integrator), h),
            fmt::format("{:.4f} of {:.3g} J {}", remainder_of(s, state, w) / moving, moving, message));
        EXPECT_LT(remainder_of(s, state, w), 0.05 * moving);
      }
}

// A mass against a damper that an explicit step is too long for: v = e^(−2.5) in closed form, and the one
// step's own books would have eight times the energy made. It is split until they are right.
TEST(Energy, ExplicitStepsFollowDampers) {
  ModelBuilder b = pendulum_row(1, JointKind::prismatic);
  b.parts.gravity = VectorFunction::constant(Vec3::Zero());
  b.parts.joints[0].velocity[0] = 1;
  b.parts.joints[0].law.damping[0] = 0.7 * 25;
  const System s = compile(b.build(), {.integrator = Integrator::rk4});
  State state = s.rest();
  Workspace w(s);
  const auto report = step(s, state, w, 0.1);
  ASSERT_TRUE(report.ok()) << report.message;
  EXPECT_GT(report.substeps, 0);
  EXPECT_NEAR(state.v[0], std::exp(-2.5), 0.05 * std::exp(-2.5));  // the guard's own share
  EXPECT_LT(std::abs(remainder_of(s, state, w)), 0.05 * 0.5 * 0.7);
}

// A chain that falls on its stops, all of them hit at other times: what is made is less than 5 % of what
// moves, and the rest is that of a step of 1/16 (first order: of the time of a hit).
TEST(Energy, StopsMakeNone) {
  ModelBuilder b = pendulum_row(5);
  b.parts.gravity = VectorFunction::constant({1, 0.5, -9.81});
  const Mat3 plane = math::rotation_from_z(Vec3(0.1, 1, 0.3).normalized());
  const Vec3 along = Vec3(1, 0.2, -0.1).normalized(), link = 0.08 * along;
  for (std::size_t i = 0; i < b.parts.joints.size(); ++i) {  // rods of 24 mm, 2000 kg/m³
    const double m = 0.0724, across = m * (0.08 * 0.08 / 12 + 0.012 * 0.012 / 4),
                 about = m * 0.012 * 0.012 / 2;
    b.parts.bodies[i].inertia = Inertia::about_com(
        m, link / 2, across * Mat3::Identity() + (about - across) * along * along.transpose());
    Joint& j = b.parts.joints[i];
    j.X_PF = {plane, i > 0 ? link : Vec3(Vec3::Zero())};
    j.X_BM = Pose::rotation(plane);
    j.law.stiffness = dofs(15), j.law.damping = dofs(0.02);
    j.law.lower[0] = -0.01, j.law.upper[0] = 0.01;
  }
  PointLoad push;
  push.name = "push";
  push.at.body = BodyId{4};
  push.at.p = link;
  push.force = {{field_of_time(1, 30), 0.5, -1.0}};
  b.add(push);
  for (const Integrator integrator : all_integrators) {
    SCOPED_TRACE(to_string(integrator));
    const auto run = [&](int steps, double& moving) {
      const System s = compile(b.build(), {.integrator = integrator});
      State state = s.rest();
      Workspace w(s);
      double drawn_up = 0, least = 0;  // the most that was made since the least
      for (int i = 0; i < steps; ++i) {
        const auto report = step(s, state, w, 0.2 / steps);
        EXPECT_TRUE(report.ok()) << report.message;
        const double now = remainder_of(s, state, w);
        least = std::min(least, now), drawn_up = std::max(drawn_up, now - least);
        moving = std::max(moving, energy(s, state, w).kinetic);
      }
      return std::pair{drawn_up, remainder_of(s, state, w)};
    };
    double moving = 0;
    const auto [made, rest] = run(100, moving);
    const auto [fine_made, fine_rest] = run(1600, moving);
    EXPECT_LT(made, 0.05 * moving);
    EXPECT_LT(fine_made, 0.01 * moving);
    EXPECT_NEAR(rest, fine_rest, 0.25 * moving);
    RecordProperty(to_string(integrator), fmt::format("made {:.4f}, rest {:.3f}, {:.3f}", made / moving,
                                                      rest / moving, fine_rest / moving));
  }
}

}  // namespace
}  // namespace limber::articulated
