// Couplings of joints against closed forms: trains of gears, racks, differentials, teeth that give.
#include <gtest/gtest.h>

#include <cmath>

#include "limber/articulated/statics.h"
#include "limber/articulated/system.h"

namespace limber::articulated {
namespace {

// Wheels on axes along z, side by side, without weight.
struct Wheels {
  ModelBuilder b;
  Wheels() { b.parts.gravity = VectorFunction::constant({0, 0, 0}); }
  JointId wheel(double inertia, JointKind kind = JointKind::revolute, double mass = 1,
                BodyId parent = world) {
    Body body;
    body.name = "wheel" + std::to_string(b.parts.bodies.size());
    body.inertia = Inertia::about_com(mass, Vec3::Zero(), inertia * Mat3::Identity());
    Joint j;
    j.name = "axle" + std::to_string(b.parts.bodies.size());
    j.kind = kind;
    j.parent = parent;
    j.X_PF = Pose::translation({0.3 * static_cast<double>(b.parts.bodies.size()), 0.1, 0});
    j.child = b.add(body);
    return b.add(j);
  }
  Coupling& couple(std::vector<Coupling::Term> terms) {
    Coupling c;
    c.name = "coupling" + std::to_string(b.parts.couplings.size());
    c.terms = std::move(terms);
    b.add(c);
    return b.parts.couplings.back();
  }
  void torque(JointId joint, double value) {
    Drive d;
    d.joint = joint;
    d.target[0] = value;
    b.add(d);
  }
};

const Integrator all_integrators[] = {Integrator::euler, Integrator::midpoint, Integrator::implicit_euler,
                                      Integrator::sdirk, Integrator::rk4,      Integrator::gauss,
                                      Integrator::sdirk4};

State advanced(const Model& model, Integrator by, double h, int steps, double* largest_gap = nullptr) {
  const System system = compile(model, {.integrator = by});
  State state = system.rest();
  Workspace w(system);
  for (int i = 0; i < steps; ++i) {
    const auto report = step(system, state, w, h);
    EXPECT_TRUE(report.ok()) << report.message;
    for (const CompiledCoupling& c : system.data().couplings)
      if (largest_gap && c.rigid)
        *largest_gap = std::max(*largest_gap, std::abs(coupling_gap(c, state.q.data())));
  }
  return state;
}

// Three wheels in a row, ratios r₁ and r₂: the first one feels I₁ + r₁² I₂ + r₁² r₂² I₃.
TEST(Couplings, TrainOfGearsHasTheEffectiveInertia) {
  Wheels w;
  const JointId a = w.wheel(0.2), b = w.wheel(0.05), c = w.wheel(0.7);
  w.couple({{b, 0, 1}, {a, 0, 3}});     // b = −3 a
  w.couple({{c, 0, 1}, {b, 0, 0.25}});  // c = −b/4
  w.torque(a, 1.5);
  const double I = 0.2 + 9 * 0.05 + 9.0 / 16 * 0.7, rate = 1.5 / I;
  for (const Integrator by : all_integrators) {
    double gap = 0;
    const State s = advanced(w.b.build(), by, 0.01, 100, &gap);
    EXPECT_NEAR(s.v[0], rate, 1e-10 * rate);  // steps of constant acceleration are exact in velocity
    EXPECT_NEAR(s.v[1], -3 * rate, 1e-10);
    EXPECT_NEAR(s.v[2], 0.75 * rate, 1e-10);
    EXPECT_LE(gap, 1e-11);
  }
}

// A pinion on a rack: m a = τ/r − I a/r², so a = τ r/(I + m r²).
TEST(Couplings, RackMovesWithTheEffectiveMass) {
  Wheels w;
  const JointId pinion = w.wheel(0.02), rack = w.wheel(1, JointKind::prismatic, 3);
  const double r = 0.05;
  w.couple({{rack, 0, 1}, {pinion, 0, -r}});
  w.torque(pinion, 0.4);
  const double expected = 0.4 * r / (0.02 + 3 * r * r);
  const State s = advanced(w.b.build(), Integrator::midpoint, 0.01, 100);
  EXPECT_NEAR(s.v[1], expected, 1e-10 * expected);
}

// A differential: left + right = 2 carrier. With the carrier driven and unequal wheels,
// minimise ½ Σ I a² − τ a_c within it: I_l a_l = I_r a_r = λ, and I_c a_c = τ − 2λ.
TEST(Couplings, DifferentialSharesTorqueEqually) {
  Wheels w;
  const JointId carrier = w.wheel(0.3), left = w.wheel(0.1), right = w.wheel(0.4);
  w.couple({{right, 0, 1}, {left, 0, 1}, {carrier, 0, -2}});
  w.torque(carrier, 2);
  const double a_c = 2 / (0.3 + 4 / (1 / 0.1 + 1 / 0.4)), force = (2 - 0.3 * a_c) / 2;
  const State s = advanced(w.b.build(), Integrator::gauss, 0.02, 50);
  EXPECT_NEAR(s.v[0], a_c, 1e-10 * a_c);
  EXPECT_NEAR(s.v[1], force / 0.1, 1e-9);
  EXPECT_NEAR(s.v[2], force / 0.4, 1e-9);
}

// Couplings of joints that hang on one another: row of child, parent and their parents.
TEST(Couplings, MimicAlongAChainEqualsOneFreedomLess) {
  Wheels w;
  const JointId a = w.wheel(0.2);
  const JointId b = w.wheel(0.1, JointKind::revolute, 1, BodyId{0});
  w.couple({{b, 0, 1}, {a, 0, -2}});
  w.torque(a, 1);
  // T = ½ I_a ω² + ½ m (|p| ω)² + ½ I_b (3 ω)², p where b's axle stands on a
  const double I = 0.2 + 1 * (0.3 * 0.3 + 0.1 * 0.1) + 0.1 * 9;
  const State s = advanced(w.b.build(), Integrator::rk4, 0.01, 50);
  EXPECT_NEAR(s.v[0], 0.5 / I, 1e-9);
  EXPECT_NEAR(s.v[1], 1 / I, 1e-9);
}

// Two wheels on a belt that gives: (a, −b/n … ) one free turn, one vibration ω² = k (1/I_b + n²/I_a).
TEST(Couplings, ElasticOneVibratesAtItsFrequency) {
  Wheels w;
  const JointId a = w.wheel(0.2), b = w.wheel(0.05);
  const double n = 2, k = 30;
  Coupling& c = w.couple({{b, 0, 1}, {a, 0, -n}});
  c.stiffness = k;
  w.b.parts.joints[1].velocity[0] = 1;  // gap rate 1
  const double omega = std::sqrt(k * (1 / 0.05 + n * n / 0.2)), t = 0.3;
  const int steps = 3000;
  const State s = advanced(w.b.build(), Integrator::midpoint, t / steps, steps);
  const double gap = s.q[1] - n * s.q[0];
  // The midpoint rule's own frequency is off by (ωh)²/12 of itself.
  const double turned = omega * t * std::pow(omega * t / steps, 2) / 12;
  EXPECT_NEAR(gap, std::sin(omega * t) / omega, 1.1 * turned / omega);
  EXPECT_NEAR(0.2 * s.v[0] * n + 0.05 * s.v[1] * n * n, 0.05 * n * n + 0 * t,
              1e-9);  // momentum of the free turn
}

// Within the backlash nothing acts; beyond it the spring, and energy is kept.
TEST(Couplings, BacklashIsFreePlay) {
  Wheels w;
  const JointId a = w.wheel(0.2), b = w.wheel(0.05);
  Coupling& c = w.couple({{b, 0, 1}, {a, 0, -1}});
  c.stiffness = 1e3;
  c.backlash = 0.1;
  w.b.parts.joints[1].velocity[0] = 1;
  const Model model = w.b.build();
  const State before = advanced(model, Integrator::midpoint, 1e-3, 49);  // 0.05 rad of play, at 1 rad/s
  EXPECT_EQ(before.v[0], 0);
  EXPECT_EQ(before.v[1], 1);
  const State after = advanced(model, Integrator::midpoint, 1e-4, 1200);
  EXPECT_LT(after.v[1] - after.v[0], 0);  // thrown back
  EXPECT_NEAR(0.5 * (0.2 * after.v[0] * after.v[0] + 0.05 * after.v[1] * after.v[1]), 0.025, 1e-5);
}

// A weight on a lever, geared to a spring: the rest is where both moments meet.
TEST(Couplings, RestOfAGearedSpring) {
  Wheels w;
  w.b.parts.gravity = VectorFunction::constant({0, -10, 0});
  const JointId lever = w.wheel(0.1), wheel = w.wheel(0.1);
  w.b.parts.bodies[0].inertia = Inertia::about_com(2, Vec3(0.5, 0, 0), 0.1 * Mat3::Identity());
  w.b.parts.joints[1].law.stiffness[0] = 40;
  w.couple({{wheel, 0, 1}, {lever, 0, 2}});  // wheel = −2 lever
  for (const bool elastic : {false, true}) {
    ModelBuilder b = w.b;
    const double k = 500;
    if (elastic) b.parts.couplings[0].stiffness = k;
    const Model model = b.build();
    const System system = compile(model, {});
    State state = system.rest();
    Workspace scratch(system);
    const auto found = solve_static(system, state, scratch, {});
    ASSERT_TRUE(found.report.ok()) << found.report.message;
    const double q = state.q[0];
    // 10 · cos q (m g l) = 2 λ on the lever; λ = 40 · wheel's angle; the teeth give λ/k.
    const double lambda = -10 * std::cos(q) / 2;
    EXPECT_NEAR(state.q[1], -lambda / 40, 1e-9);
    EXPECT_NEAR(state.q[1] + 2 * q, elastic ? lambda / k : 0, 1e-9);
    EXPECT_TRUE(found.stable());
  }
}

}  // namespace
}  // namespace limber::articulated
