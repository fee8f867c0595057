// Cams, and dry friction of closing joints, against closed forms.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "limber/articulated/statics.h"
#include "limber/articulated/system.h"
#include "limber/math/trig.h"

namespace limber::articulated {
namespace {

using math::Op;
using math::Program;

constexpr double lift = 0.02;  // [m] of f(x) = lift (1 − cos x)

Law eccentric() {
  Program p;
  p.push_constant(lift), p.push_constant(1), p.push_variable(0), p.push(Op::cos), p.push(Op::subtract);
  p.push(Op::multiply);
  return Law::expression(p);
}

// A shaft about y and a stem that slides along x, without weight: x = f(θ).
struct Valve {
  ModelBuilder b;
  JointId shaft, stem;
  Valve(double inertia = 0.01, double mass = 0.7) {
    b.parts.gravity = VectorFunction::constant({0, 0, 0});
    const auto add = [&](const char* name, JointKind kind, double m, double I) {
      Body body;
      body.name = name;
      body.inertia = Inertia::about_com(m, Vec3::Zero(), I * Mat3::Identity());
      Joint j;
      j.name = std::string(name) + ".joint";
      j.kind = kind;
      j.X_PF.R =
          math::rotation_from_z(kind == JointKind::revolute ? Vec3(Vec3::UnitY()) : Vec3(Vec3::UnitX()));
      j.X_BM.R = j.X_PF.R;
      j.child = b.add(body);
      return b.add(j);
    };
    shaft = add("shaft", JointKind::revolute, 1, inertia);
    stem = add("stem", JointKind::prismatic, mass, 1);
    Coupling c;
    c.name = "cam";
    c.terms = {{stem, 0, 1}, {shaft, 0, -1}};
    c.profile = eccentric();
    b.add(c);
  }
  Coupling& cam() { return b.parts.couplings[0]; }
  Joint& joint(JointId id) { return b.parts.joints[id.value]; }
  void turn(double omega) {
    PrescribedMotion m;
    m.joint = shaft;
    Program p;
    p.push_constant(omega), p.push_variable(0), p.push(Op::multiply);
    m.position[0] = TimeFunction::expression(p);
    b.add(m);
  }
  void probe(Quantity quantity) {
    Probe p;
    p.name = info_of(quantity).name, p.quantity = quantity, p.coupling = CouplingId{0};
    p.joint = shaft;
    b.add(p);
  }
};

const Integrator every_integrator[] = {Integrator::euler, Integrator::midpoint, Integrator::implicit_euler,
                                       Integrator::sdirk, Integrator::rk4,      Integrator::gauss,
                                       Integrator::sdirk4};

struct Ride {
  System system;
  State state;
  Workspace w;
  result::Snapshot now;
  Ride(const Model& model, Integrator by, Solver solver = Solver::automatic)
      : system(compile(model, {.integrator = by, .solver = solver})), state(system.rest()), w(system) {
    open_ledger(system, state, w);
  }
  void advance(double h, int steps) {
    for (int i = 0; i < steps; ++i) {
      const auto report = step(system, state, w, h);
      ASSERT_TRUE(report.ok()) << report.message;
    }
  }
  const std::vector<double>& probes() {
    articulated::observe(system, state, w, now);
    return now.scalars;
  }
};

// Driven at constant speed: N = m f″ ω² + k f + preload, at every frame and by every integrator, because the
// place, the rate and the acceleration of the follower are given. The torque on the shaft is N f′.
TEST(Cams, FollowerForceHasItsClosedForm) {
  const double mass = 0.7, k = 300, preload = 5, omega = 7, stiff = 2e5;
  for (const bool elastic : {false, true}) {
    for (const Integrator by : every_integrator) {
      Valve v(0.01, mass);
      v.turn(omega);
      v.joint(v.stem).law.stiffness[0] = k;
      JointExtras extras;
      extras.preload[0] = -preload;
      v.joint(v.stem).law.extras = std::make_shared<const JointExtras>(extras);
      if (elastic) v.cam().stiffness = stiff, v.cam().damping = 400;  // half critical
      v.probe(Quantity::coupling_force), v.probe(Quantity::coupling_gap), v.probe(Quantity::motion_force);
      Ride run(v.b.build(), by);
      for (int i = 0; i < 5; ++i) {
        run.advance(elastic ? 2e-4 : 0.02, elastic ? 500 : 5);
        const double x = omega * run.state.t, f1 = lift * std::sin(x), f2 = lift * std::cos(x);
        const double N = mass * f2 * omega * omega + k * lift * (1 - std::cos(x)) + preload;
        const auto& told = run.probes();
        // Elastic: the follower lags by its damper and (ω/ω₀)² = 2e-4; Euler's rule of first order, by h ω₀ =
        // 0.1.
        const double tolerance = !elastic ? 1e-9 : order_of(by) == 1 ? 0.02 : 2e-3;
        EXPECT_NEAR(told[0], N, tolerance * N) << to_string(by) << elastic;
        EXPECT_NEAR(told[1], elastic ? -N / stiff : 0, elastic ? 0.02 * N / stiff : 1e-13) << to_string(by);
        EXPECT_NEAR(told[2], N * f1, tolerance * N * lift) << to_string(by) << elastic;
        EXPECT_NEAR(run.state.q[1], lift * (1 - std::cos(x)), elastic ? 1.1 * N / stiff : 1e-13)
            << to_string(by);
      }
    }
  }
}

// Free: ½ (I + m f′²) θ̇² is kept, so that θ̇ is known wherever the shaft stands.
TEST(Cams, EnergyIsKept) {
  const double I = 1e-3, mass = 4, omega = 5;
  for (const Integrator by :
       {Integrator::midpoint, Integrator::sdirk, Integrator::rk4, Integrator::gauss, Integrator::sdirk4}) {
    double error[2];
    for (int fine = 0; fine < 2; ++fine) {
      Valve v(I, mass);
      v.joint(v.shaft).velocity[0] = omega;
      Ride run(v.b.build(), by);
      run.advance(fine ? 2.5e-3 : 5e-3, fine ? 800 : 400);
      const double f1 = lift * std::sin(run.state.q[0]);
      EXPECT_NEAR(run.state.v[1], f1 * run.state.v[0], 1e-12);
      EXPECT_NEAR(run.state.q[1], lift * (1 - std::cos(run.state.q[0])), 1e-12);
      error[fine] = std::abs(run.state.v[0] - omega * std::sqrt(I / (I + mass * f1 * f1))) / omega;
    }
    const double order = by == Integrator::midpoint || by == Integrator::sdirk ? 2 : 4;
    std::printf("cam by %s: %.2g, %.2g of the speed\n", to_string(by), error[0], error[1]);
    EXPECT_LT(error[1], order == 2 ? 2e-4 : 1e-7) << to_string(by);
    EXPECT_LT(error[1], 1.5 * std::pow(2, -order) * error[0] + 1e-11) << to_string(by);  // near its order
  }
}

// A spring that gives keeps it too: ½ I θ̇² + ½ m ẋ² + ½ k g².
TEST(Cams, ElasticOneKeepsEnergy) {
  Valve v(1e-3, 4);
  v.cam().stiffness = 500;
  v.joint(v.shaft).velocity[0] = 5;
  Ride run(v.b.build(), Integrator::gauss);
  const double before = energy(run.system, run.state, run.w).total();
  run.advance(2e-3, 1000);
  EXPECT_NEAR(energy(run.system, run.state, run.w).total(), before, 1e-7 * before);
  EXPECT_GT(std::abs(coupling_gap(run.system.data().couplings[0], run.state.q.data())), 1e-6);  // it gave
}

// A weight G on the follower against a torsional spring k on the shaft: k θ = −G f′(θ) at rest, and the
// square of the lowest frequency is (k + G f″)/(I + m f′²). Rigid, and with a stiffness c: then x = f − (G −
// …)/c.
TEST(Cams, RestHasItsClosedForm) {
  const double G = 30, k = 2, c = 2000, mass = 0.7, I = 0.01;
  for (const bool elastic : {false, true}) {
    Valve v(I, mass);
    if (elastic) v.cam().stiffness = c;
    Drive push;
    push.joint = v.stem;
    push.target[0] = -G;
    v.b.add(push);
    v.joint(v.shaft).law.stiffness[0] = k;
    v.joint(v.shaft).law.rest[0] = 1;
    v.probe(Quantity::coupling_force);
    const System system = compile(v.b.build(), {});
    State state = system.rest();
    Workspace w(system);
    const StaticResult rest = solve_static(system, state, w, {});
    ASSERT_TRUE(rest.stable()) << rest.report.message;
    double x = 0.9;  // k (x − 1) + G lift sin x = 0, by Newton
    for (int i = 0; i < 50; ++i) x -= (k * (x - 1) + G * lift * std::sin(x)) / (k + G * lift * std::cos(x));
    EXPECT_NEAR(state.q[0], x, 1e-10) << elastic;
    EXPECT_NEAR(state.q[1], lift * (1 - std::cos(x)) - (elastic ? G / c : 0), 1e-11) << elastic;
    result::Snapshot now;
    articulated::observe(system, state, w, now, &rest);
    EXPECT_NEAR(now.scalars[0], G, 1e-8 * G) << elastic;
    if (elastic) continue;
    const double f1 = lift * std::sin(x), f2 = lift * std::cos(x);
    ASSERT_FALSE(rest.modes.empty());
    EXPECT_NEAR(rest.modes[0].eigenvalue, (k + G * f2) / (I + mass * f1 * f1), 1e-6 * k / I);
  }
}

// A periodic table turns on and on; its force jumps with f″ at the points and is exact between them.
TEST(Cams, TableTurnsOn) {
  Valve v;
  v.cam().profile = Law::table({0, 1, 2, 4, 2 * pi}, {0, 0.01, 0.015, 0.004, 0}, true);
  v.turn(11);
  v.probe(Quantity::coupling_force);
  Ride run(v.b.build(), Integrator::midpoint);
  for (int i = 0; i < 40; ++i) {
    run.advance(0.013, 3);
    const double x = 11 * run.state.t;
    const math::Jet f = v.cam().profile.jet_at(x);
    EXPECT_NEAR(run.state.q[1], f.value, 1e-13);
    EXPECT_NEAR(run.probes()[0], 0.7 * f.second * 121, 1e-8) << x;
  }
}

// The gap alone needs no forces of the frame.
TEST(Cams, GapIsToldWithoutForces) {
  Valve v;
  v.turn(3);
  v.probe(Quantity::coupling_gap);
  Ride run(v.b.build(), Integrator::midpoint);
  run.advance(0.01, 10);
  EXPECT_NEAR(run.probes()[0], 0, 1e-13);
}

// Play between cam and follower: with none of it taken up nothing acts.
TEST(Cams, BacklashIsFreePlay) {
  Valve v;
  v.cam().stiffness = 1e4, v.cam().backlash = 0.01;
  v.turn(1);
  Ride run(v.b.build(), Integrator::midpoint);
  run.advance(1e-3, 700);  // f(0.7) = 4.7 mm < 5 mm
  EXPECT_EQ(run.state.q[1], 0);
  run.advance(1e-3, 200);
  EXPECT_GT(run.state.q[1], 0);
}

// ---- friction of closing joints

// A block on two slides in a row between it and the world, of which one closes: the same as one slide,
// whatever of them rubs.
Model sliding_block(double level, bool closing, double speed, double push) {
  ModelBuilder b;
  b.parts.gravity = VectorFunction::constant({0, 0, 0});
  Body body;
  body.name = "block";
  body.inertia = Inertia::about_com(2, Vec3::Zero(), Mat3::Identity());
  Joint j;
  j.name = "slide";
  j.kind = closing ? JointKind::free : JointKind::prismatic;
  j.X_PF.R = j.X_BM.R = math::rotation_from_z(Vec3::UnitX());
  if (closing) j.X_PF.R = j.X_BM.R = Mat3::Identity();
  j.velocity[closing ? 3 : 0] = speed;
  j.child = b.add(body);
  JointExtras extras;
  extras.friction_static[0] = 1.5 * level, extras.friction_dynamic[0] = level;
  const auto shared = std::make_shared<const JointExtras>(extras);
  if (!closing) j.law.extras = shared;
  b.add(j);
  if (closing) {
    Loop loop;
    loop.name = "closing";
    loop.kind = JointKind::prismatic;
    loop.b = BodyId{0};
    loop.X_AF.R = loop.X_BM.R = math::rotation_from_z(Vec3::UnitX());
    loop.law.extras = shared;
    b.add(loop);
  }
  PointLoad load;
  load.name = "push";
  load.at.body = BodyId{0};
  load.force = VectorFunction::constant({push, 0, 0});
  b.add(load);
  return b.build();
}

double place_of(const Ride& run) {
  const multibody::Link& link = run.system.data().tree[0];
  return run.state.q[link.kind == JointKind::free ? link.q + 4 : link.q];
}

// m v̇ = −F until it stands, at v²m/(2F); then not another bit.
TEST(ClosingFriction, BlockStopsAtItsPlace) {
  const double level = 4, speed = 3, stops_at = 2 * speed * speed / (2 * level);
  for (const Integrator by : every_integrator) {
    Ride run(sliding_block(level, true, speed, 0), by);
    run.advance(0.01, 180);  // stands at t = 1.5
    const double error = std::abs(place_of(run) - stops_at);
    // Euler's rule moves with the rate at the step's end: h v/2.
    EXPECT_LT(error, order_of(by) == 1 ? 0.51 * 0.01 * speed : 1e-9) << to_string(by);
    EXPECT_NEAR(run.state.dissipated, 9, order_of(by) == 1 ? 0.2 : 1e-8) << to_string(by);
    const double there = place_of(run);
    run.advance(0.01, 50);
    EXPECT_NEAR(place_of(run), there, 1e-15) << to_string(by);
  }
}

// It sticks below the static level, and slides beyond it with what the dynamic one leaves.
TEST(ClosingFriction, StickingHasItsLevel) {
  for (const Integrator by : every_integrator) {
    Ride sticks(sliding_block(4, true, 0, 5.99), by);
    sticks.advance(0.01, 50);
    EXPECT_NEAR(place_of(sticks), 0, 1e-15) << to_string(by);
    Ride slides(sliding_block(4, true, 0, 6.01), by);
    slides.advance(0.01, 50);
    const double expected = 0.5 * (6.01 - 4) / 2 * 0.25;
    EXPECT_NEAR(place_of(slides), expected, (order_of(by) == 1 ? 0.03 : 1e-9) * expected) << to_string(by);
  }
}

// A closing joint rubs as one of the tree does: the same block, hung up either way.
TEST(ClosingFriction, IsThatOfTheTree) {
  for (const double push : {-9.0, 0.0, 3.0, 9.0}) {
    Ride tree(sliding_block(4, false, 1, push), Integrator::midpoint);
    Ride closing(sliding_block(4, true, 1, push), Integrator::midpoint);
    tree.advance(0.01, 100), closing.advance(0.01, 100);
    EXPECT_NEAR(place_of(closing), place_of(tree), 1e-9) << push;
    EXPECT_NEAR(closing.state.dissipated, tree.state.dissipated, 1e-8) << push;
  }
}

// Four hinges that rub, one of them closing, against the same with another one closing.
Model four_bar(int cut, double level) {
  const Vec3 pins[] = {{0, 0, 0}, {0.2, 0, 0.1}, {0.5, 0, 0.1}, {0.5, 0, -0.1}};
  const Vec3 coms[] = {{0.1, 0, 0.05}, {0.35, 0, 0.1}, {0.5, 0, 0}};
  ModelBuilder b;
  JointExtras extras;
  extras.friction_static[0] = level, extras.friction_dynamic[0] = 0.7 * level,
  extras.friction_velocity[0] = 0.1;
  const auto shared = std::make_shared<const JointExtras>(extras);
  const Mat3 R = math::rotation_from_z(Vec3::UnitY());
  for (int i = 0; i < 3; ++i) {  // body frames stand in the world's
    Body body;
    body.name = "bar" + std::to_string(i);
    body.inertia = Inertia::about_com(1, coms[i], 0.01 * Mat3::Identity());
    b.add(body);
  }
  for (int i = 0; i < 4;
       ++i) {  // pin i between bars i − 1 and i; before the first and after the last: the world
    const BodyId before = i > 0 ? BodyId{i - 1} : world, after = i < 3 ? BodyId{i} : world;
    if (i == cut) {
      Loop loop;
      loop.name = "pin" + std::to_string(i);
      loop.kind = JointKind::revolute;
      loop.a = before, loop.b = after;
      loop.X_AF = loop.X_BM = {R, pins[i]};
      loop.law.extras = shared;
      b.add(loop);
      continue;
    }
    Joint j;
    j.name = "pin" + std::to_string(i);
    j.kind = JointKind::revolute;
    j.parent = i < cut ? before : after;
    j.child = i < cut ? after : before;
    j.X_PF = j.X_BM = {R, pins[i]};
    j.law.extras = shared;
    b.add(j);
  }
  return b.build();
}

TEST(ClosingFriction, FourBarMovesTheSameWhicheverPinCloses) {
  for (const Integrator by : {Integrator::midpoint, Integrator::sdirk, Integrator::gauss}) {
    Vec3 at[4];
    double lost[4];
    for (int cut = 0; cut < 4; ++cut) {
      Ride run(four_bar(cut, 0.3), by);
      run.advance(1e-3, 3000);
      for (const double v : run.state.v) EXPECT_LT(std::abs(v), 1e-11) << to_string(by) << cut;
      const double left =
          energy(run.system, run.state, run.w).total() + run.state.dissipated - run.state.energy0;
      EXPECT_NEAR(left, 0, 2e-3 * run.state.dissipated) << to_string(by) << cut;
      const std::vector<double> before = run.state.q;
      run.advance(1e-3, 100);
      for (std::size_t k = 0; k < before.size(); ++k) EXPECT_NEAR(run.state.q[k], before[k], 1e-12);
      multibody::kinematics(run.system.data().tree, run.state.q.data(), run.state.v.data(),
                            run.w.data().links, nullptr);
      for (int i = 0; i < run.system.data().tree.size(); ++i)
        if (run.system.data().model.bodies()[i].name == "bar1")
          at[cut] = run.w.data().links[i].X_WM * run.system.data().tree[i].X_MB * Vec3(0.35, 0, 0.1);
      lost[cut] = run.state.dissipated;
      std::printf("four-bar by %s, pin %d closes: lost %.8g J at (%.6f, %.6f)\n", to_string(by), cut,
                  lost[cut], at[cut].x(), at[cut].z());
    }
    for (int cut = 1; cut < 4; ++cut) {
      EXPECT_LT((at[cut] - at[0]).norm(), 1e-4)
          << to_string(by) << cut;  // stops within steps: of first order
      EXPECT_NEAR(lost[cut], lost[0], 1e-3 * lost[0]) << to_string(by) << cut;
    }
  }
}

// A four-bar that sticks carries at every frame what it carried at the first, whatever rounding its rates
// have.
TEST(ClosingFriction, WhatSticksCarriesTheSame) {
  for (const Integrator by : every_integrator) {
    ModelParts parts = four_bar(3, 0.8).parts();
    Probe force;
    force.name = "force", force.quantity = Quantity::reaction_force, force.loop = LoopId{0};
    parts.probes = {force};
    Ride run(Model(parts), by);
    const std::vector<double> first = run.probes();
    for (int i = 0; i < 5; ++i) {
      run.advance(1e-3, 40);
      for (int k = 0; k < 3; ++k) EXPECT_NEAR(run.probes()[k], first[k], 1e-6) << to_string(by);
    }
  }
}

// The place it stands in is held at the frame as well: what sticks carries what is left, and no more.
TEST(ClosingFriction, ReactionAtAFrameHasIt) {
  for (const double push : {5.0, 8.0}) {
    Model model = sliding_block(4, true, 0, push);
    ModelParts parts = model.parts();
    Probe force, acceleration;
    force.name = "force", force.quantity = Quantity::reaction_force, force.loop = LoopId{0};
    acceleration.name = "a", acceleration.quantity = Quantity::acceleration, acceleration.at.body = BodyId{0};
    parts.probes = {force, acceleration};
    Ride run(Model(parts), Integrator::midpoint);
    run.advance(0.01, 10);
    const double friction = push < 6 ? push : 4;
    EXPECT_NEAR(run.probes()[0], -friction, 1e-9);
    EXPECT_NEAR(run.probes()[3], (push - friction) / 2, 1e-9);
  }
}

}  // namespace
}  // namespace limber::articulated
