// What joints carry, what accelerates, momenta, powers and works, against closed forms and balances.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "limber/scene/scene.h"
#include "limber/sim/driver.h"
#include "limber/sim/equilibrium.h"

namespace limber {
namespace {

using Numbers = std::map<std::string, double>;

Numbers read_columns(const result::Layout& layout, const result::Snapshot& now) {
  Numbers out;
  for (std::size_t k = 0; k < layout.scalars.size(); ++k) out[layout.scalars[k].name] = now.scalars[k];
  return out;
}

Vec3 three(const Numbers& n, const std::string& name) {
  return {n.at(name + ".x"), n.at(name + ".y"), n.at(name + ".z")};
}

// A run, frame by frame.
class Motion {
 public:
  explicit Motion(const std::string& text, articulated::Integrator by = articulated::Integrator::midpoint)
      : scene_(scene::parse(text, "test.yaml")), driver_(scene_.model, options(by)) {}
  void advance(double h, int steps) {
    for (int k = 0; k < steps; ++k) {
      const auto report = driver_.step(h);
      ASSERT_TRUE(report.ok()) << report.message;
      if (!report.warning.empty()) warning = report.warning;
    }
  }
  Numbers now() {
    result::Snapshot snapshot;
    driver_.observe(snapshot);
    return read_columns(driver_.layout(), snapshot);
  }
  sim::Driver& driver() { return driver_; }
  std::string warning;

 private:
  sim::RunOptions options(articulated::Integrator by) {
    sim::RunOptions out = scene_.run;
    out.method = sim::Method::articulated;
    out.articulated.integrator = by;
    return out;
  }
  scene::Scene scene_;
  sim::Driver driver_;
};

Numbers at_rest(const std::string& text, sim::Method method, double load = 1) {
  const scene::Scene scene = scene::parse(text, "test.yaml");
  sim::StaticOptions options;
  options.method = method;
  options.load = load;
  const sim::Equilibrium e = sim::find_equilibrium(scene.model, scene.run, options);
  EXPECT_TRUE(e.ok()) << e.report.message;
  return read_columns(e.layout, e.after);
}

// A point mass on a rod of length l about y: θ from the downward vertical, m l² θ̈ = −m g l sin θ. The hinge
// holds with m (g cos θ + l θ̇²) along the rod and, for a point mass, with nothing across it.
TEST(Reactions, OfAPendulumOverASwing) {
  const double m = 2, l = 0.5, g = 9.81;
  Motion run(R"(limber: 1
bodies: {bob: {mass: 2 kg, inertia: [0, 0, 0], at: [0.5 m, 0, 0]}}
joints: {hinge: {type: revolute, child: bob, at: [0, 0, 0], axis: [0, 1, 0]}}
probes: [hinge.reaction.force, hinge.reaction.torque, hinge.reaction.force.local, hinge.angle, hinge.velocity, bob.acceleration,
  bob.angular_acceleration, bob.momentum, bob.angular_momentum]
)",
             articulated::Integrator::gauss);
  double most = 0;
  for (int frame = 0; frame < 40; ++frame) {
    const Numbers now = run.now();
    const double q = now.at("hinge.angle"), w = now.at("hinge.velocity");
    // θ = q − π/2: at the start the rod points along x.
    const Vec3 along(std::cos(q), 0, -std::sin(q)), across(-std::sin(q), 0, -std::cos(q));
    const double pull = m * (g * std::sin(q) + l * w * w);
    const Vec3 force = -pull * along;
    // The formula at the state's own angle and rate: rounding alone.
    EXPECT_LT((three(now, "hinge.reaction.force") - force).norm(), 1e-12 * m * g);
    EXPECT_LT(three(now, "hinge.reaction.torque").norm(), 1e-12 * m * g * l);
    EXPECT_NEAR(three(now, "hinge.reaction.force.local").norm(), std::abs(pull), 1e-12 * m * g);
    EXPECT_LT((three(now, "bob.acceleration") - (g * std::cos(q) * across - l * w * w * along)).norm(),
              1e-11);
    EXPECT_NEAR(now.at("bob.angular_acceleration.y"), g * std::cos(q) / l, 1e-11);
    EXPECT_LT((three(now, "bob.momentum") - m * l * w * across).norm(), 1e-12);
    EXPECT_NEAR(now.at("bob.angular_momentum.y"), m * l * l * w, 1e-12);
    // Over the swing: θ̇² = 2 g sin q / l from rest, so the pull is 3 m g sin q, at this step to 1e-6 of m g.
    EXPECT_NEAR(pull, 3 * m * g * std::sin(q), 1e-6 * m * g);
    most = std::max(most, pull);
    run.advance(2.5e-3, 10);
  }
  EXPECT_GT(most, 2.9 * m * g);  // it passed the lowest point
}

// By the default integrator the same to 1e-6 of m g with a step of 0.25 ms: its error is of second order.
TEST(Reactions, OfAPendulumByMidpoint) {
  const double g = 9.81;
  Motion run(R"(limber: 1
bodies: {bob: {mass: 1 kg, inertia: [0, 0, 0], at: [1 m, 0, 0]}}
joints: {hinge: {type: revolute, child: bob, at: [0, 0, 0], axis: [0, 1, 0]}}
probes: [hinge.reaction.force, hinge.angle]
)");
  for (int frame = 0; frame < 20; ++frame) {
    run.advance(2.5e-4, 200);
    const Numbers now = run.now();
    EXPECT_NEAR(three(now, "hinge.reaction.force").norm(), 3 * g * std::abs(std::sin(now.at("hinge.angle"))),
                1e-6 * g);
  }
}

const std::string four_bar_bodies = R"(limber: 1
bodies:
  crank:   {box: [0.4 m, 2 cm, 2 cm], mass: 1 kg, at: [0, 0, 0.2 m], rotate: [0, 90 deg, 0]}
  coupler: {box: [1 m, 2 cm, 2 cm], mass: 2 kg, at: [0.5 m, 0, 0.4 m]}
  rocker:  {box: [0.4 m, 2 cm, 2 cm], mass: 1.5 kg, at: [1 m, 0, 0.2 m], rotate: [0, 90 deg, 0]}
probes: [A.reaction.force, B.reaction.force, C.reaction.force, D.reaction.force, coupler.position]
loads: {push: {on: coupler, force: [9 N, 0, 0]}}
)";
// Planar: three of the four hinges hold to the plane, the fourth is a ball that leaves out what they hold.
const std::string open_at_D = R"(joints:
  A: {type: revolute, child: crank, at: [0, 0, 0], axis: [0, 1, 0], stiffness: 2 N*m/rad, damping: 0.1 N*m*s/rad}
  B: {type: revolute, parent: crank, child: coupler, at: [0, 0, 0.4 m], axis: [0, 1, 0]}
  C: {type: spherical, parent: coupler, child: rocker, at: [1 m, 0, 0.4 m]}
loops:
  D: {type: revolute, a: world, b: rocker, at: [1 m, 0, 0], axis: [0, 1, 0], stiffness: 1 N*m/rad}
)";
const std::string open_at_C = R"(joints:
  A: {type: revolute, child: crank, at: [0, 0, 0], axis: [0, 1, 0], stiffness: 2 N*m/rad, damping: 0.1 N*m*s/rad}
  B: {type: revolute, parent: crank, child: coupler, at: [0, 0, 0.4 m], axis: [0, 1, 0]}
  D: {type: revolute, child: rocker, at: [1 m, 0, 0], axis: [0, 1, 0], stiffness: 1 N*m/rad}
loops:
  C: {type: spherical, a: coupler, b: rocker, at: [1 m, 0, 0.4 m]}
)";

// A hinge carries the same whether the tree has it or a loop. Forces across the plane and torques in it are
// shared by two ways that the ball leaves open: in the plane there is one answer.
TEST(Reactions, OfAFourBarOpenedAtAnotherJoint) {
  for (const auto by : {articulated::Integrator::gauss, articulated::Integrator::rk4}) {
    Motion one(four_bar_bodies + open_at_D, by), other(four_bar_bodies + open_at_C, by);
    for (int frame = 0; frame < 10; ++frame) {
      const Numbers a = one.now(), b = other.now();
      for (const char* joint : {"A", "B", "C", "D"})
        for (const char* axis : {".x", ".z"}) {
          const std::string name = std::string(joint) + ".reaction.force" + axis;
          EXPECT_NEAR(a.at(name), b.at(name), 1e-8 * 50) << name << " in frame " << frame;  // 50 N of weight
        }
      one.advance(2e-3, 20), other.advance(2e-3, 20);
    }
    EXPECT_GT(std::abs(one.now().at("coupler.position.x") - 0.5), 0.01);  // it moved
    // The planes of hinges A and D hold each other: said once.
    EXPECT_NE((one.warning + other.warning).find("one of many"), std::string::npos);
  }
}

// Newton for all together: what comes from the world is Σ m a − Σ m g − loads, whatever holds where.
TEST(Reactions, HoldWhatAccelerates) {
  Motion known(R"(limber: 1
bodies:
  crank:   {box: [0.4 m, 2 cm, 2 cm], mass: 1 kg, at: [0, 0, 0.2 m], rotate: [0, 90 deg, 0]}
  coupler: {box: [1 m, 2 cm, 2 cm], mass: 2 kg, at: [0.5 m, 0, 0.4 m]}
  rocker:  {box: [0.4 m, 2 cm, 2 cm], mass: 1.5 kg, at: [1 m, 0, 0.2 m], rotate: [0, 90 deg, 0]}
probes: [A.reaction.force, D.reaction.force, crank.acceleration, coupler.acceleration, rocker.acceleration]
loads: {push: {on: coupler, force: [9 N, 0, 0]}}
)" + open_at_D,
               articulated::Integrator::gauss);
  for (int frame = 0; frame < 5; ++frame) {
    const Numbers n = known.now();
    const Vec3 sum = three(n, "crank.acceleration") + 2 * three(n, "coupler.acceleration") +
                     1.5 * three(n, "rocker.acceleration");
    const Vec3 held = three(n, "A.reaction.force") + three(n, "D.reaction.force");
    // Rounding of the loops' solve.
    EXPECT_LT((held - (sum - 4.5 * Vec3(0, 0, -9.81) - Vec3(9, 0, 0))).norm(), 1e-9 * 50);
    known.advance(5e-3, 10);
  }
}

// What moves a crank gives the power that its energy grows by: dE/dt = τ ω.
TEST(Reactions, TheTorqueBehindAGivenMotion) {
  Motion run(R"(limber: 1
bodies:
  crank: {box: [0.4 m, 2 cm, 2 cm], mass: 1 kg, at: [0.2 m, 0, 0]}
  bob:   {sphere: 5 cm, mass: 2 kg, at: [0.4 m, 0, -0.3 m]}
joints:
  motor: {type: revolute, child: crank, at: [0, 0, 0], axis: [0, 1, 0], motion: "1 rad * sin(3*t) + 2 rad/s * t", stiffness: 1 N*m/rad}
  pin:   {type: revolute, parent: crank, child: bob, at: [0.4 m, 0, 0], axis: [0, 1, 0]}
probes: [motor.motion.force, motor.motion.work, motor.velocity, motor.force]
)",
             articulated::Integrator::gauss);
  const double h = 1e-3;
  run.advance(h, 100);
  Numbers before = run.now();
  for (int k = 0; k < 50; ++k) {
    run.advance(h, 1);
    const Numbers at = run.now();
    run.advance(h, 1);
    const Numbers after = run.now();
    const double power = at.at("motor.motion.force") * at.at("motor.velocity");
    // Central difference over 2 ms of what swings with some 5 rad/s: off by (h ω)²/6 of it.
    const double rate = (after.at("energy.total") - before.at("energy.total")) / (2 * h);
    EXPECT_NEAR(power, rate, 2e-4 * (1 + std::abs(rate)));
    EXPECT_NEAR(after.at("motor.motion.work"), after.at("energy.work"),
                1e-13 * std::abs(after.at("energy.work")));
    before = after;
  }
  EXPECT_GT(std::abs(before.at("energy.work")), 0.1);
}

// A chain that floats without weight: p and L stay, and p is m v of the centre of mass.
TEST(Momentum, StaysInAFreeChain) {
  Motion run(R"(limber: 1
gravity: [0, 0, 0]
bodies:
  a: {box: [20 cm, 2 cm, 4 cm], mass: 1 kg, at: [0.1 m, 0, 0]}
  b: {box: [20 cm, 2 cm, 4 cm], mass: 2 kg, at: [0.3 m, 0, 0]}
  c: {box: [20 cm, 4 cm, 2 cm], mass: 3 kg, at: [0.5 m, 0, 0]}
joints:
  base:  {type: free, child: a, velocity: [1 rad/s, 2 rad/s, -1 rad/s, 0.3 m/s, 0.1 m/s, -0.2 m/s]}
  elbow: {type: revolute, parent: a, child: b, at: [0.2 m, 0, 0], axis: [0, 1, 0], velocity: 3 rad/s, stiffness: 2 N*m/rad}
  wrist: {type: spherical, parent: b, child: c, at: [0.4 m, 0, 0], velocity: [0, 1 rad/s, 2 rad/s]}
probes: [total.momentum, total.angular_momentum, a.velocity, b.velocity, c.velocity, a.momentum, b.momentum, c.momentum,
  a.angular_momentum, b.angular_momentum, c.angular_momentum, base.reaction.force, base.reaction.torque]
)",
             articulated::Integrator::gauss);
  const Numbers start = run.now();
  for (int frame = 0; frame < 5; ++frame) {
    const Numbers now = run.now();
    const Vec3 p = three(now, "total.momentum"), L = three(now, "total.angular_momentum");
    const Vec3 mv = three(now, "a.velocity") + 2 * three(now, "b.velocity") + 3 * three(now, "c.velocity");
    EXPECT_LT((p - mv).norm(), 1e-13 * p.norm());
    EXPECT_LT((p - three(now, "a.momentum") - three(now, "b.momentum") - three(now, "c.momentum")).norm(),
              1e-13 * p.norm());
    EXPECT_LT((L - three(now, "a.angular_momentum") - three(now, "b.angular_momentum") -
               three(now, "c.angular_momentum"))
                  .norm(),
              1e-13 * L.norm());
    // Of fourth order at 1 ms.
    EXPECT_LT((p - three(start, "total.momentum")).norm(), 1e-9 * p.norm());
    EXPECT_LT((L - three(start, "total.angular_momentum")).norm(), 1e-9 * L.norm());
    EXPECT_LT(three(now, "base.reaction.force").norm(), 1e-11);  // nothing holds it
    EXPECT_LT(three(now, "base.reaction.torque").norm(), 1e-11);
    run.advance(1e-3, 100);
  }
}

const std::string worked = R"(limber: 1
bodies:
  arm:  {box: [40 cm, 3 cm, 3 cm], mass: 1 kg, at: [0.2 m, 0, 0]}
  hand: {box: [30 cm, 3 cm, 3 cm], mass: 0.5 kg, at: [0.55 m, 0, 0]}
joints:
  motor: {type: revolute, child: arm, at: [0, 0, 0], axis: [0, 1, 0], drive: {servo: {target: 0.5 rad * sin(4*t), kp: 30, kd: 0.4, max_force: 4 N*m}}}
  elbow: {type: revolute, parent: arm, child: hand, at: [0.4 m, 0, 0], axis: [0, 1, 0], stiffness: 3 N*m/rad, damping: 0.05 N*m*s/rad, drive: {force: 0.5 N*m * sin(9*t)}}
materials: {rubber: {E: 100 MPa, density: 1000 kg/m3}}
sections: {round: {circle: 5 mm}}
beams: {tail: {from: hand, path: [[15 cm, 0, 0], [25 cm, 0, 0]], material: rubber, section: round, elements: 2}}
loads:
  push: {on: hand, force: [0, 0, 2 N * sin(7*t)]}
  turn: {on: tail.tip, force: [0, 0, 0.02 N * sin(5*t)], follows: true}
  line: {along: tail, force_per_length: [0, 0, 0.1 N/m]}
probes: [motor.drive.power, motor.drive.work, elbow.drive.work, push.work, turn.work, line.work]
)";

// Works are booked as the balance of energy books them: together they are it, to rounding.
TEST(Works, AddUpToTheLedger) {
  using articulated::Integrator;
  for (const auto by : articulated::all_integrators) {
    Motion run(worked, by);
    run.advance(2e-3, 150);
    const Numbers now = run.now();
    double sum = 0, size = 0;
    for (const char* name : {"motor.drive.work", "elbow.drive.work", "push.work", "turn.work", "line.work"}) {
      EXPECT_NE(now.at(name), 0) << name;
      sum += now.at(name), size += std::abs(now.at(name));
    }
    EXPECT_NEAR(sum, now.at("energy.work"), 1e-13 * size) << articulated::to_string(by);
  }
}

// A state that was saved goes on with what was booked.
TEST(Works, AreSaved) {
  const scene::Scene scene = scene::parse(worked, "test.yaml");
  const articulated::System system = articulated::compile(scene.model);
  articulated::Workspace w(system);
  articulated::State state = system.rest(), copy = system.rest();
  for (int k = 0; k < 20; ++k) ASSERT_TRUE(articulated::step(system, state, w, 2e-3).ok());
  copy.load(state.save());
  EXPECT_EQ(copy.works, state.works);
  EXPECT_EQ(state.works.size(), 5u);
  const articulated::System bare =
      articulated::compile(scene::parse(four_bar_bodies + open_at_C, "t.yaml").model);
  EXPECT_TRUE(bare.rest().works.empty());  // nobody asks
}

// A servo's power is its force, cut as it is, times the rate.
TEST(Works, PowerIsForceTimesRate) {
  Motion run(R"(limber: 1
bodies: {arm: {box: [40 cm, 3 cm, 3 cm], mass: 1 kg, at: [0.2 m, 0, 0]}}
joints: {motor: {type: revolute, child: arm, at: [0, 0, 0], axis: [0, 1, 0], drive: {servo: {target: -2 rad, kp: 30, kd: 0.4, max_force: 4 N*m}}}}
probes: [motor.drive.power, motor.force, motor.velocity, motor.reaction.torque]
)");
  run.advance(1e-3, 50);
  const Numbers now = run.now();
  EXPECT_EQ(now.at("motor.force"), -4);
  EXPECT_NEAR(now.at("motor.drive.power"), -4 * now.at("motor.velocity"), 1e-15);
  EXPECT_NEAR(now.at("motor.reaction.torque.y"), -4, 1e-12);  // the axis carries the drive and nothing else
}

// A joint at its stop carries the weight that leans on it.
TEST(Reactions, OfAJointAtItsStop) {
  Motion run(R"(limber: 1
bodies: {arm: {mass: 1 kg, inertia: [0, 0.01, 0.01], at: [0.2 m, 0, 0]}}
joints: {hinge: {type: revolute, child: arm, at: [0, 0, 0], axis: [0, 1, 0], limits: [-1 rad, 0]}}
probes: [hinge.reaction.force, hinge.reaction.torque, arm.acceleration]
)");
  run.advance(1e-3, 20);
  const Numbers now = run.now();
  EXPECT_LT((three(now, "hinge.reaction.force") - Vec3(0, 0, 9.81)).norm(), 1e-12);
  EXPECT_NEAR(now.at("hinge.reaction.torque.y"), -0.2 * 9.81, 1e-12);
  EXPECT_LT(three(now, "arm.acceleration").norm(), 1e-12);
}

// A cantilever: P and P L at its root by every method, and at half the load half of them.
const std::string cantilever = R"(limber: 1
gravity: [0, 0, 0]
materials: {steel: {E: 200 GPa, density: 7800 kg/m3}}
sections: {round: {circle: 10 mm}}
beams: {bar: {path: [[0, 0, 0], [1 m, 0, 0]], material: steel, section: round, elements: 6}}
loads: {tip: {on: bar.tip, force: [0, 3 N, -2 N], moment: [0.7 N*m, 0, 0]}}
probes: [bar.reaction.force, bar.reaction.torque, bar@0.3.section.force, bar@0.3.section.moment, bar@0.3.tension,
  bar@0.3.bending_moment, bar@0.3.torque, bar@0.3.curvature, bar@0.3.twist, bar.tip.position, bar.tip.section.moment]
)";

TEST(Reactions, OfACantilever) {
  for (const auto method : {sim::Method::chain, sim::Method::articulated}) {
    const Numbers n = at_rest(cantilever, method);
    const Vec3 tip = three(n, "bar.tip.position");
    // Force and moment of all that acts, about the root, in the bent state: to the search's tolerance.
    EXPECT_LT((three(n, "bar.reaction.force") - Vec3(0, -3, 2)).norm(), 1e-9);
    EXPECT_LT((three(n, "bar.reaction.torque") + tip.cross(Vec3(0, 3, -2)) + Vec3(0.7, 0, 0)).norm(), 1e-8);
    // It bends by a thousandth: P and P L.
    EXPECT_NEAR(n.at("bar.reaction.torque.z"), -3, 1e-4);
    // The part beyond 0.3: V = P, M = P (L − x), in axes that lean by up to 1e-3 and are twisted by
    // 0.7·0.3/GJ = 1.7e-4.
    EXPECT_NEAR(n.at("bar@0.3.section.force.y"), 3, 1e-3);
    EXPECT_NEAR(n.at("bar@0.3.section.force.z"), -2, 1e-3);
    EXPECT_NEAR(n.at("bar@0.3.section.moment.y"), 0.7 * 2, 5e-3);
    EXPECT_NEAR(n.at("bar@0.3.section.moment.z"), 0.7 * 3, 5e-3);
    EXPECT_NEAR(n.at("bar@0.3.torque"), 0.7, 5e-3);
    EXPECT_NEAR(n.at("bar@0.3.bending_moment"), 0.7 * std::hypot(2, 3), 5e-3);
    const double EI = 200e9 * pi / 4 * 1e-8, GJ = 2 * EI / 2.6;
    EXPECT_NEAR(n.at("bar@0.3.curvature"), n.at("bar@0.3.bending_moment") / EI, 1e-3 * 0.7 * 3.6 / EI);
    EXPECT_NEAR(n.at("bar@0.3.twist"), n.at("bar@0.3.torque") / GJ, 1e-2 * 0.7 / GJ);
    EXPECT_LT((three(n, "bar.tip.section.moment") - Vec3(0.7, 0, 0)).norm(), 5e-3);
    const Numbers half = at_rest(cantilever, method, 0.5);
    EXPECT_LT((three(half, "bar.reaction.force") - 0.5 * Vec3(0, -3, 2)).norm(), 1e-9);
  }
}

// Statically determinate: a triangle of pinned bars under a load. By the joints' balance the foot holds −F
// and the bars carry F/2 / cos 30°.
TEST(Reactions, OfATruss) {
  const std::string truss = R"(limber: 1
gravity: [0, 0, 0]
bodies:
  left:  {mass: 1 kg, inertia: [0.1, 0.1, 0.1], at: [0.25 m, 0, 0.4330127018922193 m]}
  right: {mass: 1 kg, inertia: [0.1, 0.1, 0.1], at: [0.75 m, 0, 0.4330127018922193 m]}
joints:
  A: {type: revolute, child: left, at: [0, 0, 0], axis: [0, 1, 0], stiffness: 1e-9 N*m/rad}
  B: {type: revolute, child: right, at: [1 m, 0, 0], axis: [0, 1, 0], stiffness: 1e-9 N*m/rad}
loops:
  C: {type: spherical, a: left, b: right, at: [0.5 m, 0, 0.8660254037844386 m]}
loads: {down: {on: {on: left, at: [0.25 m, 0, 0.4330127018922193 m]}, force: [0, 0, -100 N]}}
probes: [A.reaction.force, B.reaction.force, C.reaction.force]
)";
  const double N = 50 / std::cos(pi / 6);  // in each bar
  const Numbers n = at_rest(truss, sim::Method::articulated);
  // Springs of 1e-9 N·m/rad do not count.
  EXPECT_NEAR(n.at("A.reaction.force.z"), 50, 1e-7);
  EXPECT_NEAR(n.at("A.reaction.force.x"), N / 2, 1e-7);
  EXPECT_NEAR(n.at("B.reaction.force.z"), 50, 1e-7);
  EXPECT_NEAR(n.at("B.reaction.force.x"), -N / 2, 1e-7);
  EXPECT_NEAR(n.at("C.reaction.force.x"), N / 2, 1e-7);
  EXPECT_NEAR(n.at("C.reaction.force.z"), -50, 1e-7);
}

// A tie that guides a cantilever's tip: by both methods, and with the root all that acts.
TEST(Reactions, OfATie) {
  const std::string propped = R"(limber: 1
materials: {steel: {E: 200 GPa, density: 7800 kg/m3}}
sections: {round: {circle: 10 mm}}
beams: {bar: {path: [[0, 0, 0], [1 m, 0, 0]], material: steel, section: round, elements: 6}}
ties: {prop: {on: bar.tip, type: prismatic, axis: [1, 0, 0]}}
loads: {line: {along: bar, force_per_length: [0, 0, -20 N/m]}}
probes: [bar.reaction.force, bar.reaction.torque, prop.reaction.force, bar@0.5.section.force, bar@0.5.section.moment]
)";
  const Numbers a = at_rest(propped, sim::Method::chain), b = at_rest(propped, sim::Method::articulated);
  const double weight = 7800 * pi * 1e-4 * 9.81 + 20;
  for (const Numbers& n : {a, b}) {
    EXPECT_NEAR(n.at("bar.reaction.force.z") + n.at("prop.reaction.force.z"), weight, 1e-8 * weight);
    // Clamped at one end and guided along x at the other: half of the load each, and w L²/12 at the root. It
    // hangs through by a thousandth, and links put a load at their centres.
    EXPECT_NEAR(n.at("prop.reaction.force.z"), 0.5 * weight, 1e-3 * weight);
    EXPECT_NEAR(std::abs(n.at("bar.reaction.torque.y")), weight / 12, 1e-2 * weight / 12);
    EXPECT_NEAR(std::abs(n.at("bar@0.5.section.moment.y")), weight / 24, 2e-2 * weight / 24);
  }
  for (const auto& [name, value] : a)
    if (name.find("reaction") != std::string::npos || name.find("section") != std::string::npos) {
      EXPECT_NEAR(b.at(name), value, 1e-6 * weight) << name;  // of their tolerances
    }
}

// A cord that swings: its momentum changes by what its root holds, weight and load; and what the part beyond
// the root's piece pulls with is what the root holds, less the weight of that piece, which does not move.
TEST(Sections, HoldWhatIsBeyondTheCut) {
  Motion run(R"(limber: 1
materials: {rubber: {E: 100 MPa, density: 1000 kg/m3}}
sections: {round: {circle: 5 mm}}
beams: {cord: {path: [[0, 0, 0], [20 cm, 0, 0]], material: rubber, section: round, elements: 4, damping: 2 ms}}
loads: {tip: {on: cord.tip, force: [0, 0.1 N, 0]}}
probes: [cord.reaction.force, cord.reaction.torque, total.momentum, cord.root.section.force, cord.root.section.moment,
  cord@0.5.section.force, cord@0.5.tension]
)",
             articulated::Integrator::gauss);
  const double m = 1000 * pi * 25e-6 * 0.2, h = 1e-4;
  run.advance(h, 300);
  Numbers before = run.now();
  double piece = 0;  // weight of the root's
  for (int k = 0; k < 20; ++k) {
    run.advance(h, 1);
    const Numbers at = run.now();
    run.advance(h, 1);
    const Numbers after = run.now();
    const Vec3 rate = (three(after, "total.momentum") - three(before, "total.momentum")) / (2 * h);
    const Vec3 acting = three(at, "cord.reaction.force") + m * Vec3(0, 0, -9.81) + Vec3(0, 0.1, 0);
    // Central difference: what the damper leaves swings with some 50 rad/s, (h ω)²/6 of 0.2 N.
    EXPECT_LT((rate - acting).norm(), 1e-5 * 0.2);
    const Vec3 left = three(at, "cord.reaction.force") + three(at, "cord.root.section.force");
    if (k == 0) piece = left.z();
    EXPECT_LT((left - Vec3(0, 0, piece)).norm(), 1e-13);
    EXPECT_GT(piece, 0);
    EXPECT_LT(piece, m * 9.81 / 4);  // less than an element
    // The piece's weight has a short lever.
    EXPECT_LT((three(at, "cord.reaction.torque") + three(at, "cord.root.section.moment")).norm(),
              piece * 0.05);
    EXPECT_EQ(at.at("cord@0.5.section.force.x"), at.at("cord@0.5.tension"));
    before = after;
  }
}

}  // namespace
}  // namespace limber
