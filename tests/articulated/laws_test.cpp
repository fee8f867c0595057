// Laws of springs and joints, friction, stops that give and bushings against closed forms.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "limber/articulated/statics.h"
#include "limber/articulated/system.h"
#include "limber/math/dense.h"
#include "limber/math/so3.h"

namespace limber::articulated {
namespace {

using math::Op;
using math::Program;

// c₁ x + c₃ x³
Law cubic(double c1, double c3) {
  Program p;
  p.push_constant(c1), p.push_variable(0), p.push(Op::multiply);
  p.push_constant(c3), p.push_variable(0), p.push_constant(3), p.push(Op::power), p.push(Op::multiply);
  p.push(Op::add);
  return Law::expression(p);
}
// c v |v|
Law quadratic(double c) {
  Program p;
  p.push_constant(c), p.push_variable(0), p.push(Op::multiply);
  p.push_variable(0), p.push(Op::abs), p.push(Op::multiply);
  return Law::expression(p);
}

// A block of 1 kg on a slide along z, without weight unless it is given.
struct Block {
  ModelBuilder b;
  JointExtras extras;
  Joint joint;
  explicit Block(double g = 0, BodyId parent = world) {
    b.parts.gravity = VectorFunction::constant({0, 0, -g});
    joint.name = "slide";
    joint.kind = JointKind::prismatic;
    joint.parent = parent;
  }
  Model build() {
    Body body;
    body.name = "block";
    body.inertia = Inertia::about_com(1, Vec3::Zero(), Mat3::Identity());
    joint.law.extras = std::make_shared<const JointExtras>(extras);
    joint.child = b.add(body);
    b.add(joint);
    return b.build();
  }
  // To a point 1 m below, at ease in between.
  Spring& spring() {
    Spring s;
    s.name = "spring";
    s.a = {world, {}, 0, Vec3(0, 0, -1)};
    s.b = {BodyId{static_cast<std::int32_t>(b.parts.bodies.size())}, {}, 0, Vec3::Zero()};
    s.rest_length = 1;
    b.add(s);
    return b.parts.springs.back();
  }
};

struct Motion {
  System system;
  State state;
  Workspace w;
  explicit Motion(const Model& model, Integrator by = Integrator::midpoint)
      : system(compile(model, {.integrator = by})), state(system.rest()), w(system) {
    open_ledger(system, state, w);
  }
  void step(double h) {
    const auto report = articulated::step(system, state, w, h);
    ASSERT_TRUE(report.ok()) << report.message;
  }
  void advance(double h, int steps) {
    for (int i = 0; i < steps; ++i) step(h);
  }
  double energy() { return articulated::energy(system, state, w).total(); }
  // What the books leave over.
  double remainder() { return energy() + state.dissipated - state.work - state.energy0; }
};

double agm(double a, double b) {
  for (int i = 0; i < 60; ++i) {
    const double m = 0.5 * (a + b);
    b = std::sqrt(a * b), a = m;
  }
  return a;
}

// x″ + 100 x + 2e4 x³ = 0 from rest at A: T = 4 K(m)/√(α + βA²), m = βA²/2(α + βA²), K = π/(2 agm(1,
// √(1−m))).
double duffing_period(double amplitude) {
  const double w2 = 100 + 2e4 * amplitude * amplitude, m = 2e4 * amplitude * amplitude / (2 * w2);
  return 4 * pi / (2 * agm(1, std::sqrt(1 - m))) / std::sqrt(w2);
}

// Mean time between passages of zero upwards, and the largest error of the energy.
double measured_period(Motion& run, double h, int steps, double& energy_error) {
  double first = -1, last = -1;
  int count = 0;
  energy_error = 0;
  for (int i = 0; i < steps; ++i) {
    const double before = run.state.q[0];
    run.step(h);
    const double after = run.state.q[0];
    energy_error = std::max(energy_error, std::abs(run.remainder()) / run.state.energy0);
    if (!(before < 0 && after >= 0)) continue;
    last = run.state.t - h * after / (after - before);
    if (first < 0) first = last;
    ++count;
  }
  return (last - first) / (count - 1);
}

TEST(Laws, DuffingOscillatorHasItsPeriod) {
  const double amplitude = 0.1, exact = duffing_period(amplitude);
  for (const bool by_joint : {true, false})
    for (const Integrator by :
         {Integrator::midpoint, Integrator::sdirk, Integrator::gauss, Integrator::rk4}) {
      Block block;
      block.joint.position[0] = amplitude;
      if (by_joint)
        block.extras.spring[0] = cubic(100, 2e4);
      else
        block.spring().force = cubic(100, 2e4);
      Motion run(block.build(), by);
      EXPECT_NEAR(run.state.energy0, 50 * 0.01 + 5e3 * 1e-4, 1e-14);
      double energy_error = 0;
      const double period = measured_period(run, 1e-3, 4000, energy_error);
      const bool fourth = order_of(by) == 4;
      // Second order: ω²h²/12 of the period, 5e-5 at ω² = 600 or less. L-stable sdirk damps what is fast.
      EXPECT_NEAR(period, exact, (fourth ? 1e-7 : 1e-4) * exact) << to_string(by);
      EXPECT_LT(energy_error, fourth ? 1e-7 : by == Integrator::sdirk ? 3e-3 : 2e-4) << to_string(by);
      std::printf("duffing %s by %s: period error %.2g, energy %.2g\n", to_string(by),
                  by_joint ? "joint" : "spring", period / exact - 1, energy_error);
    }
}

// The same curve by points: its energy is the integral of the cubics, so that it is kept all the same.
TEST(Laws, LawByPointsKeepsItsEnergy) {
  std::vector<double> x, f;
  for (int i = -20; i <= 20; ++i)
    x.push_back(0.01 * i), f.push_back(x.back() * (100 + 2e4 * x.back() * x.back()));
  Block block;
  block.joint.position[0] = 0.1;
  block.extras.spring[0] = Law::table(x, f);
  Motion run(block.build(), Integrator::midpoint);
  double energy_error = 0;
  const double period = measured_period(run, 5e-4, 8000, energy_error);
  EXPECT_NEAR(period, duffing_period(0.1), 1e-3 * period);  // 40 points of a curve that bends
  EXPECT_LT(energy_error, 5e-5);
}

// 100 x + 2e4 x³ = m g − preload, and the frequency there is √f′.
TEST(Laws, RestOfANonlinearSpring) {
  for (const bool by_joint : {true, false}) {
    Block block(9.81);
    if (by_joint)
      block.extras.spring[0] = cubic(100, 2e4), block.extras.preload[0] = 2;
    else
      block.spring().force = cubic(100, 2e4), block.b.parts.springs[0].preload = -2;
    Motion run(block.build());
    const StaticResult r = solve_static(run.system, run.state, run.w, {.modes = 1});
    ASSERT_TRUE(r.report.ok()) << r.report.message;
    double x = -0.05;
    for (int i = 0; i < 50; ++i) x -= (100 * x + 2e4 * x * x * x + 7.81) / (100 + 6e4 * x * x);
    EXPECT_NEAR(run.state.q[0], x, 1e-13);
    EXPECT_NEAR(r.modes.at(0).eigenvalue, 100 + 6e4 * x * x, 1e-8);
    std::printf("rest: x error %.2g, eigenvalue error %.2g\n", run.state.q[0] - x,
                r.modes.at(0).eigenvalue / (100 + 6e4 * x * x) - 1);
  }
}

// v̇ = −c v|v|: v = v₀/(1 + c v₀ t), x = log(1 + c v₀ t)/c.
TEST(Laws, QuadraticDamperStopsAsItShould) {
  for (const bool by_joint : {true, false}) {
    Block block;
    block.joint.velocity[0] = 2;
    if (by_joint)
      block.extras.damper[0] = quadratic(3);
    else
      block.spring().damper = quadratic(3);
    Motion run(block.build(), Integrator::gauss);
    run.advance(1e-3, 1000);
    EXPECT_NEAR(run.state.v[0], 2.0 / 7, 1e-8);
    EXPECT_NEAR(run.state.q[0], std::log(7.0) / 3, 1e-8);
    EXPECT_NEAR(run.state.dissipated, 2 - 0.5 * 4.0 / 49, 1e-6);
    EXPECT_NEAR(run.remainder(), 0, 1e-6);
  }
}

// Half swings lose 2F/k each: 0.105, −0.065, 0.025, 0.015, where k x < F.
TEST(Friction, BlockOnASpringStopsAtItsPlace) {
  for (const Integrator by : {Integrator::midpoint, Integrator::implicit_euler, Integrator::sdirk,
                              Integrator::euler, Integrator::gauss, Integrator::sdirk4, Integrator::rk4}) {
    Block block;
    block.joint.law.stiffness[0] = 100;
    block.joint.position[0] = 0.105;
    block.extras.friction_static[0] = block.extras.friction_dynamic[0] = 2;
    Motion run(block.build(), by);
    run.advance(1e-3, 2000);
    const bool first_order = order_of(by) == 1;
    EXPECT_NEAR(run.state.q[0], 0.015, first_order ? 3e-3 : 1e-6) << to_string(by);
    EXPECT_EQ(run.state.v[0], 0) << to_string(by);
    EXPECT_NEAR(run.state.dissipated, 50 * (0.105 * 0.105 - 0.015 * 0.015), first_order ? 0.03 : 2e-5)
        << to_string(by);
    std::printf("block by %s: x error %.2g, dissipated error %.2g\n", to_string(by), run.state.q[0] - 0.015,
                run.state.dissipated - 50 * (0.105 * 0.105 - 0.015 * 0.015));
  }
}

TEST(Friction, WhatSticksStandsToTheLastBit) {
  Block block(9.81);
  block.extras.friction_static[0] = block.extras.friction_dynamic[0] = 9.82;
  block.joint.position[0] = 0.3;
  Motion run(block.build());
  run.advance(1e-2, 100);
  EXPECT_EQ(run.state.q[0], 0.3);
  EXPECT_EQ(run.state.v[0], 0);
  block = Block(9.81);
  block.extras.friction_static[0] = block.extras.friction_dynamic[0] = 9.80;
  Motion falls(block.build());
  falls.advance(1e-2, 100);
  EXPECT_NEAR(falls.state.q[0], -0.005, 1e-12);
}

// A block on a belt that runs with V, on a spring k: it sticks until k x = F_s, then slides back. With
// Δ = (F_s − F_d)/k: T = 2Δ/V + 2 (π − atan(ωΔ/V))/ω.
TEST(Friction, StickSlipHasItsPeriod) {
  const double V = 0.1, k = 100, static_level = 3, dynamic = 1;
  ModelBuilder belt;
  Body body;
  body.name = "belt";
  body.inertia = Inertia::about_com(1, Vec3::Zero(), Mat3::Identity());
  Joint drive;
  drive.name = "roll";
  drive.kind = JointKind::prismatic;
  drive.child = belt.add(body);
  PrescribedMotion motion;
  Program p;
  p.push_constant(V), p.push_variable(0), p.push(Op::multiply);
  motion.position[0] = TimeFunction::expression(p);
  motion.joint = belt.add(drive);
  belt.add(motion);
  Block block(0, BodyId{0});
  block.b = belt;
  block.b.parts.gravity = VectorFunction::constant(Vec3::Zero());
  block.spring().stiffness = k;
  block.extras.friction_static[0] = static_level, block.extras.friction_dynamic[0] = dynamic;
  const Model model = block.build();
  for (const Integrator by : {Integrator::midpoint, Integrator::sdirk}) {
    Motion run(model, by);
    const double h = 1e-3;
    double first = -1, last = -1;
    int count = 0;
    bool slid = false;
    for (int i = 0; i < 8000; ++i) {
      run.step(h);
      const bool slides = run.state.v[1] != 0;
      if (slid && !slides) {
        last = run.state.t;
        if (first < 0) first = last;
        ++count;
      }
      slid = slides;
    }
    const double d = (static_level - dynamic) / k, w = std::sqrt(k);
    const double exact = 2 * d / V + 2 * (pi - std::atan(w * d / V)) / w;
    const double period = (last - first) / (count - 1);
    EXPECT_NEAR(period, exact, 0.005 * exact) << to_string(by);
    EXPECT_NEAR(run.remainder(), 0, 1e-3 * run.state.work) << to_string(by);
    std::printf("stick-slip by %s: period %.6f of %.6f (%.2g), %d cycles, remainder %.2g of work %.3g\n",
                to_string(by), period, exact, period / exact - 1, count - 1, run.remainder(), run.state.work);
  }
}

// Stribeck: sliding at a steady pull F(v) = pull, v = v_s √log((F_s − F_d)/(pull − F_d)) is where it turns.
TEST(Friction, FallsWithTheRate) {
  Rub rub;
  rub.sticking = 3, rub.sliding = 1, rub.velocity = 0.1;
  EXPECT_DOUBLE_EQ(rub.level(0), 3);
  EXPECT_NEAR(rub.level(0.1), 1 + 2 * std::exp(-1), 1e-15);
  EXPECT_NEAR(rub.level(5), 1, 1e-15);
}

// A given motion works against friction: F times the way.
TEST(Friction, OfAGivenMotionIsItsWork) {
  Block block;
  block.extras.friction_static[0] = block.extras.friction_dynamic[0] = 2;
  PrescribedMotion motion;
  Program p;
  p.push_constant(0.5), p.push_variable(0), p.push(Op::multiply);
  motion.position[0] = TimeFunction::expression(p);
  motion.joint = JointId{0};
  block.b.add(motion);
  Motion run(block.build());
  run.advance(1e-2, 100);
  EXPECT_NEAR(run.state.dissipated, 1, 1e-12);
  EXPECT_NEAR(run.state.work, 1, 1e-10);
}

// A planar four-bar of hinges that rub, closed by a loop, driven by weight: it comes to rest and stays, by
// every solver, and the books close.
Model rubbing_four_bar(double level) {
  ModelBuilder b;
  const auto add = [&](const char* name, BodyId parent, const Vec3& at, const Vec3& com, double friction) {
    Body body;
    body.name = name;
    body.inertia = Inertia::about_com(1, com, 0.01 * Mat3::Identity());
    Joint j;
    j.name = std::string(name) + ".hinge";
    j.kind = JointKind::revolute;
    j.parent = parent;
    j.X_PF = {math::rotation_from_z(Vec3::UnitY()), at};
    j.X_BM = {math::rotation_from_z(Vec3::UnitY()), Vec3::Zero()};
    JointExtras extras;
    extras.friction_static[0] = friction, extras.friction_dynamic[0] = 0.7 * friction;
    extras.friction_velocity[0] = 0.1;
    j.law.extras = std::make_shared<const JointExtras>(extras);
    j.child = b.add(body);
    b.add(j);
    return j.child;
  };
  const BodyId crank = add("crank", world, Vec3::Zero(), Vec3(0.1, 0, 0.05), level);
  const BodyId coupler = add("coupler", crank, Vec3(0.2, 0, 0.1), Vec3(0.15, 0, 0), level);
  const BodyId rocker = add("rocker", world, Vec3(0.5, 0, -0.1), Vec3(0, 0, 0.1), level);
  Loop loop;
  loop.name = "closure";
  loop.kind = JointKind::revolute;
  loop.a = coupler, loop.b = rocker;
  loop.X_AF = {math::rotation_from_z(Vec3::UnitY()), Vec3(0.3, 0, 0)};
  loop.X_BM = {math::rotation_from_z(Vec3::UnitY()), Vec3(0, 0, 0.2)};
  b.add(loop);
  return b.build();
}

TEST(Friction, FourBarComesToRest) {
  std::vector<double> last;
  for (const Solver solver : {Solver::automatic, Solver::pcg}) {
    const System system =
        compile(rubbing_four_bar(0.3), {.integrator = Integrator::midpoint, .solver = solver});
    State state = system.rest();
    Workspace w(system);
    open_ledger(system, state, w);
    for (int i = 0; i < 3000; ++i) {
      const auto report = step(system, state, w, 1e-3);
      ASSERT_TRUE(report.ok()) << report.message;
    }
    for (const double v : state.v) EXPECT_LT(std::abs(v), 1e-12) << to_string(solver);
    const double left = energy(system, state, w).total() + state.dissipated - state.energy0;
    EXPECT_NEAR(left, 0, 2e-3 * state.dissipated) << to_string(solver);
    std::printf("four-bar by %s: dissipated %.6g J, left over %.2g\n", to_string(solver), state.dissipated,
                left);
    if (last.empty()) last = state.q;
    for (std::size_t k = 0; k < last.size(); ++k) EXPECT_NEAR(state.q[k], last[k], 1e-6) << to_string(solver);
  }
}

// Probes at a frame: what sticks does not accelerate, what slides does with what is left of its weight.
TEST(Friction, AccelerationsAtAFrame) {
  for (const double level : {9.0, 10.0}) {
    Block block(9.81);
    block.extras.friction_static[0] = block.extras.friction_dynamic[0] = level;
    Probe probe;
    probe.name = "a";
    probe.quantity = Quantity::acceleration;
    probe.at = {BodyId{0}, {}, 0, Vec3::Zero()};
    block.b.add(probe);
    Motion run(block.build());
    result::Snapshot shot;
    observe(run.system, run.state, run.w, shot);
    EXPECT_NEAR(shot.scalars[2], level > 9.81 ? 0 : level - 9.81, 1e-12);
    run.advance(1e-2, 10);
    observe(run.system, run.state, run.w, shot);
    EXPECT_NEAR(shot.scalars[2], level > 9.81 ? 0 : level - 9.81, 1e-12);
  }
}

// A stop and friction on one coordinate: it slides into the stop, bounces and comes to stand.
TEST(Friction, BesideAStop) {
  for (const Integrator by : {Integrator::midpoint, Integrator::sdirk, Integrator::implicit_euler}) {
    Block block;
    block.joint.velocity[0] = 1;
    block.joint.law.upper[0] = 0.1;
    block.joint.law.restitution = 0.5;
    block.extras.friction_static[0] = block.extras.friction_dynamic[0] = 2;
    Motion run(block.build(), by);
    run.advance(1e-3, 2000);
    // v² = 1 − 2·2·0.1 at the stop, a quarter of that after it, and v²/4 of way.
    const double after = 0.25 * (1 - 0.4);
    EXPECT_NEAR(run.state.q[0], 0.1 - after / 4, 1e-3) << to_string(by);
    EXPECT_EQ(run.state.v[0], 0) << to_string(by);
  }
}

// Half a swing on the stop's spring: π√(m/k) long, v√(m/k) deep.
TEST(Stops, GiveAndPushBack) {
  Block block;
  block.joint.velocity[0] = 0.2;
  block.joint.law.upper[0] = 0.05;
  block.extras.stop_stiffness[0] = 400;
  Motion run(block.build());
  double deepest = 0;
  for (int i = 0; i < 1000; ++i) run.step(1e-3), deepest = std::max(deepest, run.state.q[0]);
  EXPECT_NEAR(deepest, 0.05 + 0.2 / 20, 2e-6);
  EXPECT_NEAR(run.state.v[0], -0.2, 1e-3);
  EXPECT_NEAR(run.remainder(), 0, 1e-5);
  std::printf("stop: depth error %.2g, speed error %.2g\n", deepest - 0.06, run.state.v[0] + 0.2);
}

// Damped, it leaves where the stop would pull; what is left in the stop's spring then is lost.
TEST(Stops, DampingIsBooked) {
  Block block;
  block.joint.velocity[0] = 0.2;
  block.joint.law.upper[0] = 0.05;
  block.extras.stop_stiffness[0] = 400, block.extras.stop_damping[0] = 10;
  Motion run(block.build());
  run.advance(1e-4, 6000);
  EXPECT_LT(run.state.v[0], 0);
  EXPECT_GT(run.state.v[0], -0.15);
  EXPECT_NEAR(run.remainder(), 0, 1e-5);
}

// Under weight it stands in the stop: k (x − upper) = −m g.
TEST(Stops, HoldAtRest) {
  Block block(9.81);
  block.joint.law.lower[0] = -0.05;
  block.extras.stop_stiffness[0] = 4000;
  block.joint.law.stiffness[0] = 1;
  Motion run(block.build());
  const StaticResult r = solve_static(run.system, run.state, run.w);
  ASSERT_TRUE(r.report.ok()) << r.report.message;
  EXPECT_NEAR(run.state.q[0], -(9.81 + 4000 * 0.05) / 4001, 1e-12);
}

Mat6 some_stiffness() {
  Mat6 A;
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) A(i, j) = std::sin(1.0 + 3 * i + 7 * j * j) * (i < 3 ? 1 : 8);
  return A * A.transpose() + Mat6(Vec6(20, 30, 40, 900, 800, 700).asDiagonal());
}

// Free bodies on bushings: K x = ω² M x, in the rates of the joints.
TEST(Bushings, FrequenciesAreThoseOfTheEigenvalueProblem) {
  for (const bool pair : {false, true}) {
    ModelBuilder b;
    b.parts.gravity = VectorFunction::constant(Vec3::Zero());
    const Vec3 moments[] = {{0.2, 0.3, 0.25}, {0.1, 0.15, 0.12}};
    Bushing bush;
    bush.stiffness = some_stiffness();
    MatX K = MatX::Zero(pair ? 12 : 6, pair ? 12 : 6), M = K;
    for (int i = 0; i < (pair ? 2 : 1); ++i) {
      Body body;
      body.name = "body" + std::to_string(i);
      body.inertia = Inertia::about_com(2 + i, Vec3::Zero(), Mat3(moments[i].asDiagonal()));
      bush.name = "bush" + std::to_string(i);
      bush.a = i == 0 ? world : BodyId{0};
      bush.b = b.add(body);
      b.add(bush);
      // At ease both frames are one: x = (turn, shift) of b less that of a.
      const int n = 6 * i;
      K.block(n, n, 6, 6) += bush.stiffness;
      if (i > 0) {
        K.block(0, 0, 6, 6) += bush.stiffness;
        K.block(0, 6, 6, 6) -= bush.stiffness, K.block(6, 0, 6, 6) -= bush.stiffness;
      }
      for (int k = 0; k < 3; ++k) M(n + k, n + k) = moments[i][k], M(n + 3 + k, n + 3 + k) = 2 + i;
    }
    Motion run(b.build());
    const int dofs = pair ? 12 : 6;
    const StaticResult r = solve_static(run.system, run.state, run.w, {.modes = dofs});
    ASSERT_TRUE(r.report.ok()) << r.report.message;
    const math::SymmetricEigen exact = math::symmetric_eigen(K, M);
    ASSERT_EQ(r.modes.size(), static_cast<std::size_t>(dofs));
    double worst = 0;
    for (int k = 0; k < dofs; ++k) {
      EXPECT_NEAR(r.modes[k].eigenvalue, exact.values[k], 1e-9 * exact.values[k]) << k;
      worst = std::max(worst, std::abs(r.modes[k].eigenvalue / exact.values[k] - 1));
    }
    std::printf("bushing frequencies (%s): worst error %.2g\n", pair ? "two bodies" : "one body", worst);
  }
}

// Far from ease, without dampers: energy is kept, momentum between two free bodies too.
TEST(Bushings, KeepEnergyAndMomentum) {
  ModelBuilder b;
  b.parts.gravity = VectorFunction::constant(Vec3::Zero());
  Bushing bush;
  bush.name = "bush";
  bush.stiffness = some_stiffness();
  for (int i = 0; i < 2; ++i) {
    Body body;
    body.name = "body" + std::to_string(i);
    body.inertia = Inertia::about_com(2 + i, Vec3::Zero(), Mat3(Vec3(0.2, 0.3, 0.25).asDiagonal()));
    (i == 0 ? bush.a : bush.b) = b.add(body);
  }
  bush.X_BM = {math::so3_exp(Vec3(0.5, -0.8, 0.3)), Vec3(0.1, 0.05, -0.1)};
  b.add(bush);
  Motion run(b.build(), Integrator::gauss);
  run.advance(1e-3, 1000);
  EXPECT_GT(run.state.energy0, 1);
  EXPECT_NEAR(run.energy(), run.state.energy0, 1e-7 * run.state.energy0);
  multibody::kinematics(run.system.data().tree, run.state.q.data(), run.state.v.data(), run.w.data().links);
  const Vec6 p = multibody::momentum_in_world(run.system.data().tree, run.w.data().links);
  EXPECT_LT(p.norm(), 1e-8);
  std::printf("bushing: energy error %.2g, momentum %.2g\n", run.energy() / run.state.energy0 - 1, p.norm());
}

// With dampers in all directions it comes to rest, and the books close.
TEST(Bushings, DampersAreBooked) {
  ModelBuilder b;
  Bushing bush;
  bush.name = "bush";
  bush.stiffness = some_stiffness(), bush.damping = 0.05 * some_stiffness();
  Body body;
  body.name = "body";
  body.inertia = Inertia::about_com(2, Vec3::Zero(), Mat3(Vec3(0.2, 0.3, 0.25).asDiagonal()));
  bush.b = b.add(body);
  bush.X_BM = {math::so3_exp(Vec3(0.5, -0.8, 0.3)), Vec3(0.1, 0.05, -0.1)};
  b.add(bush);
  Motion run(b.build(), Integrator::sdirk);
  run.advance(1e-3, 25000);  // the slowest way decays with 1/s
  EXPECT_LT(std::abs(run.remainder()), 1e-3 * run.state.dissipated);
  Motion rest(b.build());
  ASSERT_TRUE(solve_static(rest.system, rest.state, rest.w).report.ok());
  for (std::size_t k = 0; k < rest.state.q.size(); ++k)
    EXPECT_NEAR(run.state.q[k], rest.state.q[k], 1e-6) << k;
}

}  // namespace
}  // namespace limber::articulated
