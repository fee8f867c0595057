// Steps of single joints against closed forms and exact discrete recurrences: springs, dampers, limits,
// drives, prescribed motion, ground springs, drag, wind, loads.
#include <gtest/gtest.h>

#include <cmath>

#include "limber/articulated/system.h"
#include "tests/support/random_tree.h"

namespace limber::articulated {
namespace {

Body ball(const std::string& name, double m = 2, double r = 0.1) {
  Body b;
  b.name = name;
  b.inertia = Inertia::about_com(m, Vec3::Zero(), math::sphere_inertia(m, r));
  return b;
}

struct Single {
  ModelBuilder b;
  Joint joint;
  explicit Single(JointKind kind) {
    b.add(ball("ball"));
    b.parts.gravity = VectorFunction::constant({0, 0, 0});
    joint.name = "joint";
    joint.kind = kind;
    joint.child = BodyId{0};
  }
  System system(const Options& options) {
    ModelBuilder copy = b;
    copy.add(joint);
    return compile(copy.build(), options);
  }
};

const Options euler{.integrator = Integrator::euler};
const Options midpoint{.integrator = Integrator::midpoint};

void advance(const System& s, State& state, Workspace& w, double h, int steps) {
  for (int i = 0; i < steps; ++i) {
    const auto report = step(s, state, w, h);
    ASSERT_TRUE(report.ok()) << report.message;
  }
}

// Mass on a spring and damper: both integrators are known 2×2 recurrences, at any step size.
TEST(Step, OscillatorFollowsItsRecurrence) {
  const double m = 2, k = 50, d = 0.7;
  for (const double h : {1e-3, 0.05, 3.0}) {
    Single single(JointKind::prismatic);
    single.joint.law.stiffness = dofs(k);
    single.joint.law.damping = dofs(d);
    single.joint.law.rest[0] = 0.2;
    single.joint.position[0] = 0.5;
    single.joint.velocity[0] = -1;
    for (const Options& options : {euler, midpoint}) {
      const System s = single.system(options);
      State state = s.rest();
      Workspace w(s);
      double x = 0.3, v = -1;
      for (int i = 0; i < 50; ++i) {
        ASSERT_TRUE(step(s, state, w, h).ok());
        if (options.integrator == Integrator::euler) {
          const double a = (-k * x - d * v - h * k * v) / (m + h * d + h * h * k);
          v += h * a;
          x += h * v;
        } else {
          const double a = (-k * (x + h / 2 * v) - d * v) / (m + h / 2 * d + h * h / 4 * k);
          x += h * (v + h / 2 * a);
          v += h * a;
        }
        ASSERT_NEAR(state.q[0] - 0.2, x, 1e-12) << "h " << h;
        ASSERT_NEAR(state.v[0], v, 1e-11);
      }
    }
  }
}

// An undamped free swing keeps its energy with the midpoint rule: it wavers by h², and does not drift in 100
// periods.
TEST(Step, MidpointDoesNotDampASwing) {
  Single single(JointKind::revolute);
  single.b.parts.gravity = VectorFunction::constant({0, -9.81, 0});
  single.joint.X_BM = Pose::translation({0, 1, 0});
  single.joint.position[0] = 1.5;
  const System s = single.system(midpoint);
  State state = s.rest();
  Workspace w(s);
  const double start = energy(s, state, w).total(), scale = 2 * 9.81 * 1;
  double early = 0, late = 0;  // mean energy of the first and of the last ten periods or so
  for (int i = 0; i < 22000; ++i) {
    ASSERT_TRUE(step(s, state, w, 0.01).ok());
    const double error = (energy(s, state, w).total() - start) / scale;
    ASSERT_LT(std::abs(error), 1e-4);  // (ω h)² = 1e-3, times the pendulum's small constant
    (i < 2200 ? early : late) += i < 2200 || i >= 19800 ? error / 2200 : 0;
  }
  EXPECT_NEAR(late, early, 1e-6);
}

TEST(Step, LimitStopsAndBounces) {
  for (const double restitution : {0.0, 0.5, 1.0}) {
    for (const Options& options : {euler, midpoint}) {
      Single single(JointKind::prismatic);
      single.joint.velocity[0] = 1;
      single.joint.law.upper[0] = 0.505;
      single.joint.law.restitution = restitution;
      const System s = single.system(options);
      State state = s.rest();
      Workspace w(s);
      double highest = 0;
      for (int i = 0; i < 100; ++i) {
        ASSERT_TRUE(step(s, state, w, 0.01).ok());
        highest = std::max(highest, state.q[0]);
      }
      EXPECT_LE(highest, 0.505 + 1e-12);
      EXPECT_NEAR(highest, 0.505, 1e-12);  // the hit ends on the bound
      EXPECT_NEAR(state.v[0], -restitution, 1e-12);
    }
  }
}

// A weight that rests on a limit stays there, and leaves it when pulled away.
TEST(Step, LimitHoldsAWeightAndLetsGo) {
  for (const Options& options : {euler, midpoint}) {
    Single single(JointKind::prismatic);
    single.b.parts.gravity = {{0.0, 0.0, TimeFunction::table({0, 1, 1.001, 2}, {-9.81, -9.81, 5, 5})}};
    single.joint.law.lower[0] = 0;
    const System s = single.system(options);
    State state = s.rest();
    Workspace w(s);
    advance(s, state, w, 0.01, 100);
    EXPECT_NEAR(state.q[0], 0, 1e-12);
    EXPECT_NEAR(state.v[0], 0, 1e-12);
    advance(s, state, w, 0.01, 50);
    EXPECT_NEAR(state.q[0], 0.5 * 5 * 0.25, 0.05);  // first order of the switch and of Euler
  }
}

TEST(Step, SphericalLimitHoldsTheAngle) {
  for (const Options& options : {euler, midpoint}) {
    Single single(JointKind::spherical);
    single.b.parts.gravity = VectorFunction::constant({3, -1, -9.81});
    single.joint.X_BM = Pose::translation({0, 0, -0.5});  // stands upright above its joint
    single.joint.law.upper[0] = 0.6;
    single.joint.law.damping = dofs(0.5);
    const System s = single.system(options);
    State state = s.rest();
    Workspace w(s);
    double largest = 0;
    for (int i = 0; i < 2000; ++i) {
      ASSERT_TRUE(step(s, state, w, 0.005).ok());
      largest =
          std::max(largest, math::quat_log(Quat(state.q[0], state.q[1], state.q[2], state.q[3])).norm());
    }
    EXPECT_LT(largest, 0.6 + 2e-3);  // the axis turns within a step: second order in h ω
    EXPECT_GT(largest, 0.6 - 1e-9);
  }
}

TEST(Step, PrescribedMotionIsFollowedExactly) {
  for (const JointKind kind : {JointKind::revolute, JointKind::universal, JointKind::planar,
                               JointKind::spherical, JointKind::free}) {
    for (const Options& options : {euler, midpoint}) {
      Single single(kind);
      PrescribedMotion m;
      m.joint = JointId{0};
      for (int k = 0; k < dof_count(kind); ++k) {
        math::Program p;  // (0.1 + 0.1 k) sin(2 t)
        p.push_constant(0.1 + 0.1 * k);
        p.push_constant(2);
        p.push_variable(0);
        p.push(math::Op::multiply);
        p.push(math::Op::sin);
        p.push(math::Op::multiply);
        m.position[k] = TimeFunction::expression(p);
      }
      single.b.add(m);
      const System s = single.system(options);
      State state = s.rest();
      Workspace w(s);
      advance(s, state, w, 0.01, 70);
      const DofArray q = multibody::get_coordinates(s.data().tree[0], state.q.data());
      for (int k = 0; k < dof_count(kind); ++k)
        EXPECT_NEAR(q[k], (0.1 + 0.1 * k) * std::sin(2 * 0.7), 1e-12) << to_string(kind);
    }
  }
}

// What is carried by a prescribed joint feels its acceleration: a pendulum on a shaken pivot against one in
// shaken gravity.
TEST(Step, PrescribedPivotEqualsInertialForce) {
  const auto expression = [](double factor) {  // factor · sin(3 t)
    math::Program p;
    p.push_constant(factor);
    p.push_constant(3);
    p.push_variable(0);
    p.push(math::Op::multiply);
    p.push(math::Op::sin);
    p.push(math::Op::multiply);
    return TimeFunction::expression(p);
  };
  const auto pendulum = [&](bool shaken) {
    ModelBuilder b;
    const BodyId cart = b.add(ball("cart")), bob = b.add(ball("bob"));
    Joint slide;
    slide.name = "slide";
    slide.kind = JointKind::prismatic;
    slide.X_PF = slide.X_BM = Pose::rotation(math::rotation_from_z(Vec3::UnitX()));
    slide.child = cart;
    b.add(slide);
    Joint hinge;
    hinge.name = "hinge";
    hinge.kind = JointKind::revolute;
    hinge.parent = cart;
    hinge.child = bob;
    hinge.X_PF = Pose::rotation(math::rotation_from_z(Vec3::UnitY()));
    hinge.X_BM = {math::rotation_from_z(Vec3::UnitY()), Vec3(0, 0, 0.5)};
    hinge.position[0] = 0.4;
    b.add(hinge);
    PrescribedMotion m;
    m.joint = JointId{0};
    if (shaken) m.position[0] = expression(0.2);
    b.add(m);
    b.parts.gravity = {{shaken ? TimeFunction(0.0) : expression(0.2 * 9), 0.0, -9.81}};  // −ẍ of the pivot
    return b.build();
  };
  const System a = compile(pendulum(true), midpoint), b = compile(pendulum(false), midpoint);
  State sa = a.rest(), sb = b.rest();
  Workspace wa(a), wb(b);
  // The pivot starts at speed 0.6, so in its frame the bob starts at rest: the same relative motion, to h² =
  // 1e-6.
  advance(a, sa, wa, 1e-3, 2000);
  advance(b, sb, wb, 1e-3, 2000);
  EXPECT_NEAR(sa.q[1], sb.q[1], 2e-5);
}

TEST(Step, ServoHoldsAndIsCut) {
  for (const Options& options : {euler, midpoint}) {
    Single single(JointKind::prismatic);
    Drive d;
    d.joint = JointId{0};
    d.kind = Drive::Kind::servo;
    d.target[0] = 0.3;
    d.kp = dofs(4000);
    d.kd = dofs(300);
    d.max_force = dofs(5);
    single.b.add(d);
    const System s = single.system(options);
    State state = s.rest();
    Workspace w(s);
    advance(s, state, w, 0.01, 10);
    // Far from its target the servo pushes with 5 N on 2 kg: x = ½ · 2.5 · t² (Euler: first order in h).
    EXPECT_NEAR(state.v[0], 0.25, 1e-9);
    advance(s, state, w, 0.01, 1000);
    EXPECT_NEAR(state.q[0], 0.3, 1e-9);
  }
}

TEST(Step, MotorForceAcceleratesAsNewtonSays) {
  Single single(JointKind::prismatic);
  Drive d;
  d.joint = JointId{0};
  d.target[0] = 6;
  single.b.add(d);
  const System s = single.system(midpoint);
  State state = s.rest();
  Workspace w(s);
  advance(s, state, w, 0.1, 10);
  EXPECT_NEAR(state.q[0], 0.5 * 3 * 1, 1e-12);
}

// A free ball on a ground spring: the spring's period, and no drift, at a step far above an explicit method's
// limit.
TEST(Step, GroundSpringIsImplicit) {
  Single single(JointKind::free);
  Spring spring;
  spring.name = "spring";
  spring.a.p = {0, 0, 2};
  spring.b.body = BodyId{0};
  spring.stiffness = 1e7;
  spring.rest_length = 1;
  single.b.add(spring);
  single.joint.position = {0, 0, 0, 0, 0, 1 - 1e-3};  // stretched by 1 mm
  const System s = single.system(midpoint);
  State state = s.rest();
  Workspace w(s);
  const double omega = std::sqrt(1e7 / 2.0), h = 0.01, omega_d = 2 / h * std::atan(omega * h / 2);
  for (int n = 1; n <= 100; ++n) {
    ASSERT_TRUE(step(s, state, w, h).ok());
    // q_n = A cos(ω_d n h): the spring is straight and linear; tolerance of the iteration.
    ASSERT_NEAR(state.q[6] - 1, -1e-3 * std::cos(omega_d * n * h), 1e-8);
  }
  const System damped = single.system(euler);
  State rest = damped.rest();
  Workspace wd(damped);
  advance(damped, rest, wd, 0.01, 200);
  EXPECT_NEAR(rest.q[6], 1, 1e-9);
}

TEST(Step, DragSlowsExponentially) {
  Single single(JointKind::free);
  single.b.parts.bodies[0].linear_drag = 0.8;
  single.b.parts.bodies[0].angular_drag = 0.01;
  single.joint.velocity = {1, 0, 0, 2, 0, 0};
  const System s = single.system(midpoint);
  State state = s.rest();
  Workspace w(s);
  advance(s, state, w, 1e-3, 1000);
  EXPECT_NEAR(state.v[3], 2 * std::exp(-0.8 / 2.0), 1e-6);
  EXPECT_NEAR(state.v[0], std::exp(-0.01 / (0.4 * 2 * 0.01)), 1e-5);
}

// Terminal velocity in wind: a sphere with A = πr² ends at the wind's speed.
TEST(Step, WindCarriesALightSphereAlong) {
  Single single(JointKind::free);
  single.b.parts.bodies[0] = ball("ball", 0.01, 0.2);
  single.b.parts.bodies[0].shapes.push_back({SphereShape{0.2}, {}});
  single.b.parts.wind = Wind{VectorFunction::constant({5, 0, 0}), 1.2, 0.5};
  const System s = single.system(midpoint);
  State state = s.rest();
  Workspace w(s);
  // u' = −c u² / m from u₀ = 5: u = u₀/(1 + c u₀ t/m)
  const double c = 0.5 * 1.2 * 0.5 * pi * 0.04, t = 1;
  advance(s, state, w, 1e-3, 1000);
  EXPECT_NEAR(5 - state.v[3], 5 / (1 + c * 5 * t / 0.01), 1e-4);
}

// The origin of a free body that spins flies its parabola at any step: rates of its shift are in F's axes. At
// 0.6 rad a step, where rates in the body's own axes turn a straight flight into a spiral.
TEST(Step, SpinningBodyFliesStraight) {
  for (const Integrator integrator :
       {Integrator::euler, Integrator::implicit_euler, Integrator::midpoint, Integrator::sdirk,
        Integrator::gauss, Integrator::rk4, Integrator::sdirk4}) {
    Single single(JointKind::free);
    single.b.parts.gravity = VectorFunction::constant({0, 0, -9.81});
    single.joint.velocity = {100, 250, -120, 2, 1, 5};
    Options options;
    options.integrator = integrator;
    const System s = single.system(options);
    State state = s.rest();
    Workspace w(s);
    advance(s, state, w, 2e-3, 500);
    const Vec3 p(state.q[4], state.q[5], state.q[6]), start(2, 1, 5);
    const bool first_order = integrator == Integrator::euler || integrator == Integrator::implicit_euler;
    // First order errs by ½ g h t on a parabola, the others only by what their iterations leave over.
    EXPECT_NEAR((p - start - Vec3(0, 0, -0.5 * 9.81)).norm(), first_order ? 0.5 * 9.81 * 2e-3 : 0,
                first_order ? 1e-9 : 1e-11)
        << to_string(integrator);
    EXPECT_NEAR(Vec3(state.v[3], state.v[4], state.v[5] + 9.81).cross(start).norm(), 0, 1e-11)
        << to_string(integrator);
  }
}

// Drag that is too stiff for a step of rk4: steps are split, and rounding does not grow into a spin.
TEST(Step, ExplicitStepsAreSplitWhereDragIsStiff) {
  Single single(JointKind::free);
  single.b.parts.gravity = VectorFunction::constant({0, 0, -9.81});
  single.b.parts.bodies[0].angular_drag = 10;  // 1250/s of 0.008 kg m²
  single.joint.velocity = {1e-9, 0, 0, 0, 0, 0};
  Options options;
  options.integrator = Integrator::rk4;
  const System s = single.system(options);
  State state = s.rest();
  Workspace w(s);
  advance(s, state, w, 5e-3, 100);  // h λ = 6
  EXPECT_LT(std::abs(state.v[0]), 1e-9);
}

TEST(Step, FollowerAndDeadLoads) {
  // A ball turning at ω carries a follower force: it goes in a circle; a dead force pushes straight.
  Single single(JointKind::free);
  PointLoad load;
  load.name = "push";
  load.at.body = BodyId{0};
  load.force = VectorFunction::constant({4, 0, 0});
  load.follows = true;
  single.b.add(load);
  single.joint.velocity = {0, 0, 2, 0, 0, 0};
  const System s = single.system(midpoint);
  State state = s.rest();
  Workspace w(s);
  result::Snapshot shot;
  advance(s, state, w, 1e-3, 1000);
  observe(s, state, w, shot);
  // ẍ = 2 (cos 2t, sin 2t): x = ½(1 − cos 2t), y = t − ½ sin 2t
  EXPECT_NEAR(shot.positions[0].x(), 0.5 * (1 - std::cos(2.0)), 1e-6);
  EXPECT_NEAR(shot.positions[0].y(), 1 - 0.5 * std::sin(2.0), 1e-6);
}

// What a step leaves in the workspace must not matter, and a state that was saved goes on bit for bit.
TEST(Step, DependsOnNothingButTheState) {
  limber::testing::Random random(5);
  ModelParts parts = limber::testing::random_tree(random, 30, 3);
  for (Joint& j : parts.joints) j.law.stiffness = dofs(20), j.law.damping = dofs(0.1);
  for (const Options& options : {euler, midpoint}) {
    const System s = compile(Model(parts), options);
    State a = s.rest(), b = s.rest();
    Workspace w(s), other(s);
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(step(s, a, w, 0.01).ok());
      other.fill_with_nan();
      State copy = s.rest();
      copy.load(b.save());
      b = copy;
      ASSERT_TRUE(step(s, b, other, 0.01).ok());
      ASSERT_EQ(a.save(), b.save()) << "step " << i;
    }
  }
  State wrong;
  EXPECT_THROW(wrong.load("short"), std::invalid_argument);
}

// All joint kinds with springs: second order in time, by comparing three step sizes.
TEST(Step, MidpointIsSecondOrderOnEveryJointKind) {
  for (unsigned seed = 0; seed < 5; ++seed) {
    limber::testing::Random random(seed);
    ModelParts parts = limber::testing::random_tree(random, 8, 2);
    parts.gravity = VectorFunction::constant({0, 0, -9.81});
    for (Joint& j : parts.joints) {
      j.law.stiffness = dofs(random.uniform(5, 50));
      j.law.damping = dofs(0.05);
      for (double& x : j.position) x = random.uniform(-0.5, 0.5);
    }
    const System s = compile(Model(parts), midpoint);
    const auto end = [&](int steps) {
      State state = s.rest();
      Workspace w(s);
      advance(s, state, w, 0.2 / steps, steps);
      return VecX(Eigen::Map<VecX>(state.v.data(), s.dof_count()));
    };
    const VecX a = end(200), b = end(400), c = end(800);
    EXPECT_NEAR(std::log2((a - b).norm() / (b - c).norm()), 2, 0.15) << "seed " << seed;
  }
}

TEST(Step, FailureNamesTheBodyAndKeepsTheState) {
  Single single(JointKind::prismatic);
  Drive d;
  d.joint = JointId{0};
  d.target[0] = TimeFunction::table({0, 0.5, 1}, {0, 0, 1e308});
  single.b.parts.bodies[0] = ball("rocket", 1e-3);
  single.b.add(d);
  const System s = single.system(midpoint);
  State state = s.rest();
  Workspace w(s);
  for (int i = 0; i < 200; ++i) {
    const std::string before = state.save();
    const auto report = step(s, state, w, 0.01);
    if (report.ok()) continue;
    EXPECT_EQ(report.status, result::Status::diverged);
    EXPECT_EQ(report.worst, "rocket");
    EXPECT_GT(report.time, 0.5);
    EXPECT_EQ(state.save(), before);
    return;
  }
  FAIL() << "never diverged";
}

// Two balls on hinges 10 m apart, to be joined 1 m from each hinge.
ModelBuilder two_balls() {
  ModelBuilder b;
  for (int i = 0; i < 2; ++i) {
    const BodyId id = b.add(ball(i == 0 ? "left" : "right"));
    Joint j;
    j.name = i == 0 ? "left hinge" : "right hinge";
    j.kind = JointKind::revolute;
    j.child = id;
    j.X_PF = Pose::translation({10.0 * i, 0, 0});
    b.add(j);
  }
  Loop loop;
  loop.name = "ring";
  loop.kind = JointKind::spherical;
  loop.a = BodyId{0}, loop.b = BodyId{1};
  loop.X_AF = Pose::translation({1, 0, 0});
  loop.X_BM = Pose::translation({-1, 0, 0});
  b.add(loop);
  return b;
}

TEST(Compile, NamesALoopThatCannotClose) {
  try {
    compile(two_balls().build(), midpoint);
    FAIL() << "no error";
  } catch (const ModelError& e) {
    ASSERT_EQ(e.problems().size(), 1u);
    EXPECT_EQ(e.problems()[0].kind, "loop");
    EXPECT_EQ(e.problems()[0].name, "ring");
  }
}

// A force past all numbers comes late in the step: its first half succeeds, the whole does not.
TEST(Step, FailureInALaterPartKeepsTheState) {
  ModelBuilder b = two_balls();
  b.parts.loops[0].X_AF = Pose::translation({6, 0, 0});
  b.parts.loops[0].X_BM = Pose::translation({-6, 0, 0});
  b.parts.joints[0].position[0] = 0.6;  // no force along a straight line could bend it
  PointLoad load;
  load.name = "bang";
  load.at.body = BodyId{1};
  load.at.p = {-1, 0, 0};
  load.force.c[1] = TimeFunction::table({0, 0.003, 0.004, 1}, {1, 1, 1e308, 1e308});
  b.add(load);
  for (const Integrator integrator : all_integrators) {
    const System s = compile(b.build(), {.integrator = integrator});
    State state = s.rest();
    Workspace w(s);
    const std::string before = state.save();
    EXPECT_FALSE(step(s, state, w, 0.01).ok()) << to_string(integrator);
    EXPECT_EQ(state.save(), before) << to_string(integrator);
  }
}

TEST(Compile, NamesAMasslessBody) {
  Single single(JointKind::revolute);
  single.b.parts.bodies[0].inertia = {};
  try {
    single.system(midpoint);
    FAIL() << "no error";
  } catch (const ModelError& e) {
    EXPECT_EQ(e.problems()[0].name, "ball");
  }
}

}  // namespace
}  // namespace limber::articulated
