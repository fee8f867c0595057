// Cables against closed forms: lengths of belts, Atwood's machine, tackles, capstans, drums, a bead on a
// rope; gradients of routes against differences.
#include <gtest/gtest.h>

#include <cmath>

#include "limber/articulated/statics.h"
#include "limber/articulated/system.h"
#include "limber/math/so3.h"
#include "tests/support/random_tree.h"

namespace limber::articulated {
namespace {

using limber::testing::Random;

GuideFrame random_guide(Random& random, const Vec3& near, bool circle, double tilt) {
  GuideFrame g;
  g.c = near + random.vector(0.3);
  const Mat3 R = math::so3_exp(random.vector(tilt)) * math::rotation_z(random.uniform(-3, 3));
  g.e1 = R.col(0), g.e2 = R.col(1), g.n = R.col(2);
  g.radius = circle ? random.uniform(0.05, 0.4) : 0;
  g.sense = random.integer(2) ? 1 : -1;
  return g;
}

GuideFrame moved(const GuideFrame& g, const Vec6& twist) {
  const Mat3 R = math::so3_exp(twist.head<3>());
  GuideFrame out = g;
  out.c = R * g.c + twist.tail<3>(), out.n = R * g.n, out.e1 = R * g.e1, out.e2 = R * g.e2;
  return out;
}

double value_of(const Stretch& s, const GuideFrame& A, const GuideFrame& B) {
  return s.length + A.radius * A.sense * s.leaves - B.radius * B.sense * s.meets;
}

// Guides of all kinds, also where their planes are inclined: the gradient is that of one function.
TEST(CableRoute, GradientAndCurvatureAreThoseOfItsLength) {
  Random random(7);
  int tried = 0;
  for (int k = 0; k < 300; ++k) {
    const GuideFrame A = random_guide(random, Vec3::Zero(), k % 4 != 0, 0.3);
    const GuideFrame B = random_guide(random, {0, 2, 0}, k % 3 != 0, 0.3);
    const Stretch s = find_stretch(A, B);
    if (!s.exists) continue;
    ++tried;
    const auto at = [&](const Vec6& a, const Vec6& b) {
      const GuideFrame X = moved(A, a), Y = moved(B, b);
      Stretch t = find_stretch(X, Y);
      t.leaves += 2 * pi * std::round((s.leaves - t.leaves) / (2 * pi));
      t.meets += 2 * pi * std::round((s.meets - t.meets) / (2 * pi));
      return value_of(t, X, Y);
    };
    const double h = 1e-5;
    const Vec6 zero = Vec6::Zero();
    const StretchCurvature H = curvature_of(A, Vec3::Zero(), B, Vec3::Zero());
    for (int c = 0; c < 6; ++c) {
      const Vec6 e = h * Vec6::Unit(c);
      ASSERT_NEAR((at(e, zero) - at(-e, zero)) / (2 * h), gradient_on_start(s, Vec3::Zero())[c], 1e-9) << k;
      ASSERT_NEAR((at(zero, e) - at(zero, -e)) / (2 * h), gradient_on_end(s, Vec3::Zero())[c], 1e-9) << k;
      const double g = 1e-3;  // second differences: rounding over g², and g² of the fourth derivative
      const Vec6 f = g * Vec6::Unit(c);
      ASSERT_NEAR((at(f, zero) - 2 * at(zero, zero) + at(-f, zero)) / (g * g), H.AA(c, c), 2e-3) << k;
      ASSERT_NEAR((at(f, f) - at(f, -f) - at(-f, f) + at(-f, -f)) / (4 * g * g), H.AB(c, c), 2e-3) << k;
    }
  }
  EXPECT_GT(tried, 200);
}

Body weight(const std::string& name, double mass, double inertia = 1e-3) {
  Body b;
  b.name = name;
  b.inertia = Inertia::about_com(mass, Vec3::Zero(), inertia * Mat3::Identity());
  return b;
}

struct Rig {
  ModelBuilder b;
  BodyId body(const std::string& name, double mass, const Vec3& at, JointKind kind,
              const Mat3& axes = Mat3::Identity(), double inertia = 1e-3) {
    const BodyId id = b.add(weight(name, mass, inertia));
    Joint j;
    j.name = name + ".joint";
    j.kind = kind;
    j.child = id;
    j.X_PF = {axes, at};
    j.X_BM = {axes, Vec3::Zero()};
    b.add(j);
    return id;
  }
  BodyId slide(const std::string& name, double mass, const Vec3& at) {
    return body(name, mass, at, JointKind::prismatic);  // along z
  }
  // A wheel about y.
  BodyId wheel(const std::string& name, double inertia, const Vec3& at) {
    return body(name, 1, at, JointKind::revolute, math::rotation_x(-pi / 2), inertia);
  }
};

CableGuide eyelet(BodyId on, const Vec3& p) {
  CableGuide g;
  g.at.body = on, g.at.p = p;
  return g;
}
// About y; sense +1 runs from +x over the top (+z) ... about −y; see below.
CableGuide pulley(BodyId on, const Vec3& p, double radius, int sense) {
  CableGuide g = eyelet(on, p);
  g.radius = radius, g.axis = Vec3::UnitY(), g.sense = sense;
  return g;
}

const Integrator all_integrators[] = {Integrator::euler, Integrator::midpoint, Integrator::implicit_euler,
                                      Integrator::sdirk, Integrator::rk4,      Integrator::gauss,
                                      Integrator::sdirk4};

struct Motion {
  System system;
  State state;
  Workspace w;
  explicit Motion(const Model& model, Integrator by = Integrator::midpoint)
      : system(compile(model, {.integrator = by})), state(system.rest()), w(system) {}
  void go(double h, int steps) {
    for (int i = 0; i < steps; ++i) {
      const auto report = step(system, state, w, h);
      ASSERT_TRUE(report.ok()) << report.message;
    }
  }
  observe::CableReading cable(int guide = -1, int which = 0) {
    const SystemData& s = system.data();
    energy(system, state, w);  // places them
    return read_cable(s, which, guide, w.data().links, state.t, w.data().cables);
  }
  double remainder() {
    return energy(system, state, w).total() - state.energy0 + state.dissipated - state.work;
  }
};

// From −x over the top to +x: about +y, z × … the top moves along y × z = x, so the sense is +1.
Model atwood(double m1, double m2, double pulley_inertia, bool grip, double pretension, double damping = 0) {
  Rig r;
  const double radius = 0.1;
  const BodyId a = r.slide("a", m1, {-radius, 0, -1}), c = r.slide("b", m2, {radius, 0, -1.2});
  const BodyId wheel = r.wheel("wheel", pulley_inertia, Vec3::Zero());
  Cable rope;
  rope.name = "rope";
  CableGuide over = pulley(wheel, Vec3::Zero(), radius, 1);
  over.grip = grip;
  rope.route = {eyelet(a, Vec3::Zero()), over, eyelet(c, Vec3::Zero())};
  rope.EA = 2e5;
  rope.pretension = pretension;
  rope.damping = damping;
  r.b.add(rope);
  return r.b.build();
}

TEST(Cables, LengthOverAPulley) {
  Motion run(atwood(1, 2, 1, false, 0));
  EXPECT_NEAR(run.cable().length, 1 + 1.2 + pi * 0.1, 1e-14);
  EXPECT_NEAR(run.cable(1).wrap, pi, 1e-14);
}

// Without grip the wheel does not turn, and one tension acts on both weights: a = (m₁ − m₂) g/(m₁ + m₂). With
// that tension from the start nothing swings.
TEST(Cables, AtwoodWithASmoothPulley) {
  const double m1 = 3, m2 = 2, g = 9.81, a = (m1 - m2) * g / (m1 + m2);
  for (const Integrator by : all_integrators) {
    Motion run(atwood(m1, m2, 1, false, 2 * m1 * m2 * g / (m1 + m2)), by);
    run.go(1e-3, 300);
    EXPECT_NEAR(run.state.v[0], -a * 0.3, 1e-8 * a) << to_string(by);
    EXPECT_NEAR(run.state.v[1], a * 0.3, 1e-8 * a) << to_string(by);
    EXPECT_NEAR(run.state.v[2], 0, 1e-9);
    EXPECT_NEAR(run.cable().tension, 2 * m1 * m2 * g / (m1 + m2), 1e-6);
  }
}

// A cable that grips carries the wheel along: a = (m₁ − m₂) g/(m₁ + m₂ + I/r²) once it swings no more.
TEST(Cables, AtwoodWithAHeavyPulley) {
  const double m1 = 3, m2 = 2, g = 9.81, I = 0.05, a = (m1 - m2) * g / (m1 + m2 + I / 0.01);
  Motion run(atwood(m1, m2, I, true, m2 * g, 2000), Integrator::sdirk);
  run.go(1e-3, 600);
  const double v0 = run.state.v[0], w0 = run.state.v[2];
  run.go(1e-3, 100);
  EXPECT_NEAR((run.state.v[0] - v0) / 0.1, -a, 1e-8 * a);
  EXPECT_NEAR((run.state.v[2] - w0) / 0.1, -a / 0.1, 1e-7 * a);
  EXPECT_NEAR(run.cable(0).tension, m1 * (g - a), 1e-6);
  EXPECT_NEAR(run.cable(1).tension, m2 * (g + a), 1e-6);
}

// Belts round two wheels: open 2 √(D² − (R − r)²) + π (R + r) + 2 (R − r) asin((R − r)/D), crossed with sums.
TEST(Cables, LengthsOfBelts) {
  const double R = 0.3, r = 0.1, D = 0.8;
  for (const bool crossed : {false, true}) {
    Rig rig;
    const BodyId a = rig.wheel("a", 1, Vec3::Zero()), b = rig.wheel("b", 1, {D, 0, 0.0});
    Cable belt;
    belt.name = "belt";
    belt.route = {pulley(a, Vec3::Zero(), R, 1), pulley(b, Vec3::Zero(), r, crossed ? -1 : 1)};
    belt.closed = true;
    belt.EA = 1e5;
    rig.b.add(belt);
    Motion run(rig.b.build());
    const double s = crossed ? R + r : R - r;
    EXPECT_NEAR(run.cable().length, 2 * std::sqrt(D * D - s * s) + pi * (R + r) + 2 * s * std::asin(s / D),
                1e-14);
  }
}

// A belt that grips two wheels: their speeds are as their radii, its taut side carries the torque.
TEST(Cables, BeltCarriesATorque) {
  const double R = 0.3, r = 0.1, torque = 6, preload = 500;
  Rig rig;
  const BodyId a = rig.wheel("a", 0.2, Vec3::Zero()), b = rig.wheel("b", 0.1, {0.8, 0, 0.0});
  rig.b.parts.joints[1].law.damping[0] = 0.4;
  Drive d;
  d.joint = JointId{0};
  d.target[0] = torque;
  rig.b.add(d);
  Cable belt;
  belt.name = "belt";
  for (CableGuide g : {pulley(a, Vec3::Zero(), R, 1), pulley(b, Vec3::Zero(), r, 1)}) {
    g.grip = true;
    belt.route.push_back(g);
  }
  belt.closed = true;
  belt.EA = 1e6, belt.pretension = preload, belt.damping = 300;
  rig.b.add(belt);
  Motion run(rig.b.build(), Integrator::sdirk);
  run.go(5e-3, 4000);  // many times I/d: it turns steadily
  EXPECT_NEAR(run.state.v[1] / run.state.v[0], R / r, 1e-9);
  EXPECT_NEAR(run.state.v[1], torque * r / R / 0.4, 1e-8);
  const double taut = run.cable(1).tension, slack = run.cable(0).tension;
  EXPECT_NEAR((taut - slack) * R, torque, 1e-7);
  EXPECT_NEAR(taut + slack, 2 * preload, 1e-6 * preload);
}

// A block on n strands of one rope, its end at a counterweight: n to 1 balances, and the energy of moving
// ones is kept.
TEST(Cables, Tackles) {
  for (int n = 2; n <= 6; ++n) {
    Rig rig;
    const double m = 1, r = 0.03;
    const BodyId block = rig.slide("block", n * m, {0, 0, -2});
    const BodyId counter = rig.slide("counter", m, {2 * r * n + (n % 2 == 0 ? r : r), 0, -1.5});
    Cable rope;
    rope.name = "rope";
    // Strands at x = 0, 2r, 4r, …, all vertical: down, round under a sheave, up, round over a sheave …
    const bool from_block = n % 2 == 1;
    rope.route.push_back(eyelet(from_block ? block : world, from_block ? Vec3(0, 0, 0) : Vec3(0, 0, 0)));
    for (int k = 0; k < n; ++k) {
      const double x = r + 2 * r * k;
      const bool above = (k % 2 == 0) == from_block;
      // Over the top along +x the sense is +1; under the bottom along +x it is −1.
      rope.route.push_back(pulley(above ? world : block, {x, 0, above ? 0.0 : 0.0}, r, above ? 1 : -1));
    }
    rig.b.parts.joints[1].X_PF.p[0] = 2 * r * n;
    rope.route.push_back(eyelet(counter, Vec3::Zero()));
    rope.EA = 1e5;
    rope.pretension = m * 9.81;
    rig.b.add(rope);
    const Model model = rig.b.build();
    Motion run(model, Integrator::gauss);
    run.go(2e-3, 100);
    EXPECT_NEAR(run.state.v[0], 0, 1e-9) << n;
    EXPECT_NEAR(run.state.v[1], 0, 1e-9) << n;
  }
}

// With friction at each sheave, lifted: T_{k+1} = T_k e^{μπ}.
TEST(Cables, TacklesThatRub) {
  const double mu = 0.1, e = std::exp(mu * pi);
  for (int n = 2; n <= 6; ++n) {
    Rig rig;
    const double r = 0.03, W = 50;
    const BodyId block = rig.slide("block", W / 9.81, {0, 0, -2});
    const BodyId hand = rig.slide("hand", 1, {2 * r * n, 0, -1.5});
    PrescribedMotion motion;
    motion.joint = JointId{1};
    motion.position[0] = TimeFunction::table({0, 100}, {0, -10});
    rig.b.add(motion);
    Cable rope;
    rope.name = "rope";
    const bool from_block = n % 2 == 1;
    rope.route.push_back(eyelet(from_block ? block : world, Vec3::Zero()));
    for (int k = 0; k < n; ++k) {
      const bool above = (k % 2 == 0) == from_block;
      rope.route.push_back(pulley(above ? world : block, {r + 2 * r * k, 0, 0}, r, above ? 1 : -1));
      rope.route.back().friction = mu;
    }
    rope.route.push_back(eyelet(hand, Vec3::Zero()));
    rope.EA = 2e4;
    rope.pretension = W / n;
    rig.b.add(rope);
    Motion run(rig.b.build(), Integrator::implicit_euler);
    run.go(5e-3, 800);
    double sum = 0;  // of the strands that carry the block, over that at its end
    for (int k = 0; k < n; ++k) sum += std::pow(e, -(k + 1));
    EXPECT_NEAR(run.cable(n).tension / W, 1 / sum, 1e-6 / sum) << n;
    for (int k = 1; k <= n; ++k) EXPECT_NEAR(run.cable(k).tension / run.cable(k - 1).tension, e, 1e-9) << n;
  }
}

// A weight on a rope that runs with several turns round a post and is let out slowly.
TEST(Cables, CapstanWithTurns) {
  const double mu = 0.15;
  for (const int turns : {0, 1, 3}) {
    Rig rig;
    const BodyId load = rig.slide("load", 10, {-0.1, 0, -1});
    const BodyId hand = rig.slide("hand", 1, {0.1, 0, -1});
    PrescribedMotion motion;
    motion.joint = JointId{1};
    motion.position[0] = TimeFunction::table({0, 100}, {0, 10});
    rig.b.add(motion);
    Cable rope;
    rope.name = "rope";
    rope.route = {eyelet(load, Vec3::Zero()), pulley(world, Vec3::Zero(), 0.1, 1),
                  eyelet(hand, Vec3::Zero())};
    rope.route[1].friction = mu, rope.route[1].turns = turns;
    rope.EA = 1e4, rope.pretension = 98;
    rig.b.add(rope);
    Motion run(rig.b.build(), Integrator::implicit_euler);
    run.go(5e-3, 1000);
    const double theta = pi + 2 * pi * turns;
    EXPECT_NEAR(run.cable(1).wrap, theta, 1e-12);
    EXPECT_NEAR(run.cable(0).tension / run.cable(1).tension, std::exp(mu * theta),
                1e-9 * std::exp(mu * theta));
    EXPECT_NEAR(run.cable(0).tension, 98.1, 0.02);  // what it still swings after five seconds
    EXPECT_LT(run.cable(1).slip, -0.1);
    EXPECT_GT(run.state.dissipated, 0);
  }
}

// A drum that turns at a given rate takes up r ω of rope, also over many turns.
TEST(Cables, DrumTakesUpRope) {
  Rig rig;
  const double r = 0.05, rate = 20;
  const BodyId drum = rig.wheel("drum", 1, Vec3::Zero());
  const BodyId load = rig.slide("load", 10, {r, 0, -10});
  PrescribedMotion motion;
  motion.joint = JointId{0};
  motion.position[0] = TimeFunction::table({0, 1, 100}, {0, 0, -99 * rate});
  rig.b.add(motion);
  Cable rope;
  rope.name = "rope";
  rope.route = {pulley(drum, Vec3::Zero(), r, 1), eyelet(load, Vec3::Zero())};
  rope.EA = 1e5, rope.pretension = 98.1, rope.damping = 1000;
  rig.b.add(rope);
  Motion run(rig.b.build(), Integrator::sdirk);
  run.go(1e-2, 400);
  EXPECT_NEAR(run.cable(0).wrap, 3 * rate, 1e-9);  // 9.5 turns
  EXPECT_NEAR(run.state.q[1], 3 * rate * r, 2e-4);
  EXPECT_NEAR(run.state.v[1], rate * r, 1e-3);
}

// A winch is work: what it gives is what the load has, and what the rope takes.
TEST(Cables, WinchGivesItsWork) {
  for (const Integrator by : {Integrator::midpoint, Integrator::gauss, Integrator::sdirk4}) {
    Rig rig;
    const BodyId load = rig.slide("load", 5, {0, 0, -3});
    Cable rope;
    rope.name = "rope";
    rope.route = {eyelet(world, Vec3::Zero()), eyelet(load, Vec3::Zero())};
    rope.EA = 1e4, rope.pretension = 5 * 9.81;
    rope.winch = TimeFunction::table({0, 10}, {0, 5});
    rig.b.add(rope);
    Motion run(rig.b.build(), by);
    run.go(1e-3, 1000);
    EXPECT_GT(run.state.work, 20);
    EXPECT_NEAR(run.remainder(), 0, 1e-3 * run.state.work) << to_string(by);
  }
}

// A bead on a rope between two walls: both strands have the same angle, sin α = D/L, 2 T cos α = W; the rope
// stretches, L = L₀ (1 + T/EA).
TEST(Cables, BeadOnARopeBetweenWalls) {
  const double D = 2, drop = 0.3, L0 = 2.6, EA = 5e3, W = 40;
  Rig rig;
  const BodyId bead = rig.b.add(weight("bead", W / 9.81));
  Joint j;
  j.name = "plane", j.kind = JointKind::planar, j.child = bead;
  j.X_PF = {math::rotation_x(pi / 2), {0.7, 0, -0.6}};
  j.X_BM.R = math::rotation_x(pi / 2);
  rig.b.add(j);
  rig.b.parts.joints[0].law.stiffness[2] = 1;  // the bead itself does not turn
  Cable rope;
  rope.name = "rope";
  rope.route = {eyelet(world, {0, 0, 0}), eyelet(bead, Vec3::Zero()), eyelet(world, {D, 0, -drop})};
  rope.EA = EA, rope.rest_length = L0;
  rig.b.add(rope);
  double T = W / 2;
  for (int k = 0; k < 200; ++k) {
    const double L = L0 * (1 + T / EA);
    T = W / (2 * std::sqrt(1 - D * D / (L * L)));
  }
  const double L = L0 * (1 + T / EA), sine = D / L, cosine = std::sqrt(1 - sine * sine);
  // Strands of l₁ and l₂: (l₁ − l₂) cos α = drop of the second wall.
  const double l1 = (L + -(-drop) / cosine) / 2, x = l1 * sine, z = -l1 * cosine;
  Motion run(rig.b.build());
  StaticOptions options;
  const StaticResult rest = solve_static(run.system, run.state, run.w, options);
  ASSERT_TRUE(rest.report.ok()) << rest.report.message;
  EXPECT_TRUE(rest.stable());
  const Vec3 at = run.w.data().links[0].X_WM.p;
  EXPECT_NEAR(run.cable().tension, T, 1e-9 * T);
  EXPECT_NEAR(at[0], x, 1e-9);
  EXPECT_NEAR(at[2], z, 1e-9);
}

// Two free bodies on one rope through an eyelet of the second one: momentum stays, energy is kept, and errors
// fall with the step by the order of the integrator.
Model tumbling() {
  Rig rig;
  rig.b.parts.gravity = VectorFunction::constant({0, 0, 0});
  const BodyId a = rig.b.add(weight("a", 2, 0.02)), b = rig.b.add(weight("b", 1, 0.01));
  for (const BodyId id : {a, b}) {
    Joint j;
    j.name = id == a ? "ja" : "jb";
    j.kind = JointKind::free;
    j.child = id;
    j.X_PF.p = id == a ? Vec3(0, 0, 0) : Vec3(1, 0, 0.1);
    j.velocity = id == a ? DofArray{2, 3, -1, 0, 0.4, 0} : DofArray{4, -3, 5, 0.1, -0.8, 0.2};
    rig.b.add(j);
  }
  Cable rope;
  rope.name = "rope";
  rope.route = {eyelet(a, {0, 0.1, 0}), pulley(b, {0, 0, 0.02}, 0.05, 1), eyelet(a, {0, -0.12, 0.03})};
  rope.route[1].axis = Vec3::UnitZ();
  rope.route[1].sense = -1;
  rope.EA = 100, rope.pretension = 40;
  rig.b.add(rope);
  return rig.b.build();
}

TEST(Cables, OrdersOfIntegratorsAndMomentum) {
  const Model model = tumbling();
  const auto at = [&](Integrator by, double h) {
    Motion run(model, by);
    run.go(h, static_cast<int>(std::lround(0.06 / h)));
    return run.state.q;
  };
  const auto exact = at(Integrator::gauss, 0.06 / 320);
  for (const Integrator by : all_integrators) {
    if (by == Integrator::euler || by == Integrator::implicit_euler) continue;
    double errors[2];
    for (int k = 0; k < 2; ++k) {
      const auto q = at(by, 0.06 / (20 << k));
      errors[k] = 0;
      for (std::size_t i = 0; i < q.size(); ++i) errors[k] = std::max(errors[k], std::abs(q[i] - exact[i]));
    }
    EXPECT_NEAR(std::log2(errors[0] / errors[1]), order_of(by), 0.35) << to_string(by) << " " << errors[0];
  }
  Motion run(model, Integrator::gauss);
  const auto momentum = [&] {
    multibody::kinematics(run.system.data().tree, run.state.q.data(), run.state.v.data(), run.w.data().links);
    return multibody::momentum_in_world(run.system.data().tree, run.w.data().links);
  };
  const Vec6 before = momentum();
  run.go(5e-4, 120);
  EXPECT_LT((momentum() - before).norm(), 1e-9);
  EXPECT_NEAR(run.remainder(), 0, 1e-8);
}

// A tip on a rope over a fixed pulley: it leaves the pulley on its way, and comes back; no jump of energy.
TEST(Cables, LeavesAPulleyAndTouchesAgain) {
  Rig rig;
  const BodyId ball = rig.body("ball", 1, {1, 0, -0.2}, JointKind::prismatic);
  rig.b.parts.joints[0].velocity[0] = 4;
  Cable rope;
  rope.name = "rope";
  rope.route = {eyelet(world, {-1, 0, -0.2}), pulley(world, Vec3::Zero(), 0.1, 1),
                eyelet(ball, Vec3::Zero())};
  rope.EA = 100, rope.pretension = 5;
  rig.b.add(rope);
  Motion run(rig.b.build(), Integrator::midpoint);
  bool left = false, back = false;
  for (int i = 0; i < 1500; ++i) {
    run.go(1e-3, 1);
    const double wrap = run.cable(1).wrap;
    left = left || wrap == 0;
    back = back || (left && wrap > 0.1);
    const Vec3 p(1, 0, run.state.q[0] - 0.2);
    if (wrap == 0) {
      EXPECT_NEAR(run.cable().length, (p - Vec3(-1, 0, -0.2)).norm(), 1e-12);
    }
  }
  EXPECT_TRUE(left && back);
  EXPECT_NEAR(run.remainder(), 0, 1e-3 * 8);
}

// Every solver gives the same motion.
TEST(Cables, SolversAgree) {
  const Model model = tumbling();
  std::vector<double> first;
  for (const Solver solver : {Solver::gaba, Solver::dense, Solver::pcg}) {
    const System system = compile(model, {.integrator = Integrator::sdirk, .solver = solver});
    State state = system.rest();
    Workspace w(system);
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(step(system, state, w, 4e-3).ok());
    if (first.empty()) first = state.q;
    for (std::size_t i = 0; i < first.size(); ++i)
      EXPECT_NEAR(state.q[i], first[i], 1e-9) << to_string(solver);
  }
}

// The exact tangent of statics is that of the forces: differences of the generalised forces over the joints.
TEST(Cables, TangentOfStaticsFindsFrequencies) {
  // A bead on a taut rope between two walls, without weight: across k = T (1/l₁ + 1/l₂), along EA/L₀-free:
  // the rope slides through it, so that only T's direction holds it along: k = 0 there by symmetry.
  Rig rig;
  rig.b.parts.gravity = VectorFunction::constant({0, 0, 0});
  const BodyId bead = rig.slide("bead", 2, {0.5, 0, 0});  // across
  Cable rope;
  rope.name = "rope";
  rope.route = {eyelet(world, {0, 0, 0}), eyelet(bead, Vec3::Zero()), eyelet(world, {2, 0, 0})};
  rope.EA = 1e4, rope.pretension = 30;
  rig.b.add(rope);
  Motion run(rig.b.build());
  StaticOptions options;
  options.modes = 1;
  const StaticResult rest = solve_static(run.system, run.state, run.w, options);
  ASSERT_TRUE(rest.report.ok()) << rest.report.message;
  ASSERT_EQ(rest.modes.size(), 1u);
  const double k = 30 * (1 / 0.5 + 1 / 1.5);
  EXPECT_NEAR(rest.modes[0].eigenvalue, k / 2, 1e-8 * k);
}

// Three bones on sprung hinges and a tendon through eyelets and round a pulley: the rest is where it comes to
// stand when it is damped, from wherever.
Model finger(double pull) {
  Rig rig;
  BodyId before = world;
  Cable tendon;
  tendon.name = "tendon";
  tendon.route = {pulley(world, {-0.02, 0, -0.01}, 0.005, -1)};
  tendon.route[0].axis = Vec3::UnitY();
  for (int k = 0; k < 3; ++k) {
    Body bone = weight("bone" + std::to_string(k), 0.02, 1e-5);
    const BodyId id = rig.b.add(bone);
    Joint j;
    j.name = "j" + std::to_string(k);
    j.kind = JointKind::revolute;
    j.parent = before, j.child = id;
    const Mat3 about_y = math::rotation_x(-pi / 2);
    j.X_PF = {about_y, {k == 0 ? 0.0 : 0.02, 0, 0}};
    j.X_BM = {about_y, {-0.02, 0, 0}};
    j.law.stiffness[0] = 0.2 - 0.05 * k, j.law.damping[0] = 0.004;
    rig.b.add(j);
    tendon.route.push_back(eyelet(id, {-0.01, 0, -0.008}));
    tendon.route.push_back(eyelet(id, {0.01, 0, -0.008}));
    before = id;
  }
  tendon.EA = 2000, tendon.pretension = 0.5, tendon.damping = 5;
  tendon.winch = pull;
  rig.b.add(tendon);
  return rig.b.build();
}

TEST(Cables, FingerRestsWhereItsMotionEnds) {
  for (const double pull : {0.0, 0.004, 0.012}) {
    Motion rest(finger(pull)), run(finger(pull), Integrator::implicit_euler);
    const StaticResult found = solve_static(rest.system, rest.state, rest.w, {});
    ASSERT_TRUE(found.report.ok()) << found.report.message;
    EXPECT_TRUE(found.stable());
    EXPECT_LT(found.report.iterations, 40);
    run.go(2e-3, 3000);
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(run.state.q[k], rest.state.q[k], 1e-8) << pull;
    EXPECT_NEAR(run.cable().tension, rest.cable().tension, 1e-6 * (1 + rest.cable().tension));
  }
}

// A state that is written and read goes on with the same bits, also in the middle of a wrap that slides.
TEST(Cables, GoOnAfterSaveAndLoad) {
  const Model model = atwood(3, 2, 0.05, true, 20);
  Motion a(model), b(model);
  a.go(1e-3, 700);
  b.go(1e-3, 350);
  const std::string bytes = b.state.save();
  Motion c(model);
  c.state.load(bytes);
  c.go(1e-3, 350);
  EXPECT_EQ(a.state.q, c.state.q);
  EXPECT_EQ(a.state.v, c.state.v);
  EXPECT_EQ(a.state.save(), c.state.save());
}

TEST(Cables, RefusedWithReasons) {
  const auto refused = [](const Rig& rig, const char* words) {
    try {
      compile(ModelBuilder(rig.b).build());
      ADD_FAILURE() << "not refused: " << words;
    } catch (const ModelError& e) {
      EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
    }
  };
  const auto rig_of = [](double D, double R, double r, double rest) {
    Rig rig;
    const BodyId a = rig.wheel("a", 1, Vec3::Zero()), b = rig.wheel("b", 1, {D, 0, 0.0});
    Cable belt;
    belt.name = "belt";
    belt.route = {pulley(a, Vec3::Zero(), R, 1), pulley(b, Vec3::Zero(), r, -1)};
    belt.closed = true;
    belt.EA = 1e5, belt.rest_length = rest;
    rig.b.add(belt);
    return rig;
  };
  refused(rig_of(0.2, 0.3, 0.1, -1), "stand inside each other");
  refused(rig_of(0.35, 0.3, 0.1, -1), "cannot close");
  refused(rig_of(0.8, 0.3, 0.1, 0.5), "shorter than its route");
}

}  // namespace
}  // namespace limber::articulated
