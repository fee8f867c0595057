// Free bodies that a thread carries: closed forms of a bob that bounces, twists and swings.
#include "limber/math/so3.h"
#include "limber/thread/live.h"
#include "thread_support.h"

namespace limber::thread {
namespace {

// A thread that hangs down from the origin with a ball at its end.
struct Bob {
  double E = 1e6, radius = 5e-3, length = 1, mass = 0.1, ball = 0.02;
  Vec3 gravity = Vec3::Zero();
  Hold root = Hold::clamped, hold = Hold::clamped;
  Vec3 velocity = Vec3::Zero(), turn = Vec3::Zero();
  Vec3 com = Vec3::Zero();
  int elements = 16, clamps = 1;

  double own_mass() const { return 1100 * pi * radius * radius * length; }
  double inertia() const { return 0.4 * mass * ball * ball; }
  Model model() const {
    ModelBuilder b("bob");
    Body body;
    body.name = "ball";
    body.inertia = Inertia::about_com(mass, com, inertia() * Mat3::Identity());
    body.shapes.push_back({SphereShape{ball}, {Mat3::Identity(), com}});
    Joint joint;
    joint.name = "ball.joint";
    joint.kind = JointKind::free;
    joint.child = b.add(body);
    joint.X_PF = Pose::translation(Vec3(0, 0, -length));
    joint.velocity = {turn[0], turn[1], turn[2], velocity[0], velocity[1], velocity[2]};
    b.add(joint);
    Beam beam;
    beam.name = "thread";
    beam.path = PolylinePath{{Vec3::Zero(), Vec3(0, 0, -length)}};
    beam.up = Vec3::UnitX();
    beam.root = root;
    beam.material = b.add(material_of(E, 0, 1100));
    beam.section = b.add(Section{"s", Circle{radius}});
    beam.elements = elements;
    for (int k = 0; k < clamps; ++k) beam.clamps.push_back({k == 0 ? 1.0 : 0.5, BodyId{0}, hold});
    b.add(beam);
    Probe probe;
    for (const auto& [name, quantity] : {std::pair{"position", Quantity::position},
                                         {"velocity", Quantity::velocity},
                                         {"angular_velocity", Quantity::angular_velocity}}) {
      probe.name = name, probe.quantity = quantity;
      probe.at.body = BodyId{0};
      b.add(probe);
    }
    b.parts.gravity = VectorFunction::constant(gravity);
    return std::move(b).build();
  }
};

// The first solution of x tan x = ratio.
double first_root(double ratio) {
  double lo = 0, hi = pi / 2;
  for (int i = 0; i < 60; ++i) {
    const double x = 0.5 * (lo + hi);
    (x * std::tan(x) < ratio ? lo : hi) = x;
  }
  return lo;
}

// Angular frequency by the times at which a number passes zero upwards, over some periods.
template <class Value>
double frequency(const System& system, State& state, Workspace& w, double h, int periods, Value value) {
  double first = -1, last = -1, before = value();
  int passed = 0;
  while (passed <= periods && state.t < 5000 * periods * h) {
    EXPECT_TRUE(step(system, state, w, h).ok());
    const double now = value();
    if (before < 0 && now >= 0) {
      last = state.t - h * now / (now - before);
      if (passed++ == 0) first = last;
    }
    before = now;
  }
  return 2 * pi * (passed - 1) / (last - first);
}

// ωL/c tan(ωL/c) = m/M (Rayleigh): a rod with a mass at its end, along and in torsion. Other modes are there
// too, faster and smaller: over ten periods they shift the last zero by little.
TEST(Carried, BouncesAndTwistsAsARodWithAMass) {
  for (const double ratio : {0.2, 1.0}) {
    Bob bob;
    bob.mass = bob.own_mass() / ratio;
    bob.velocity = Vec3(0, 0, 0.01);
    const System system = compile(bob.model());
    State state = system.rest();
    Workspace w(system);
    const double c = std::sqrt(bob.E / 1100), expected = first_root(ratio) * c / bob.length;
    const double found = frequency(system, state, w, 0.0025 * 2 * pi / expected, 10,
                                   [&] { return node_of(state, 16).z() + bob.length; });
    EXPECT_NEAR(found, expected, 3e-3 * expected) << ratio;
  }
  for (const double ratio : {0.2, 1.0}) {
    Bob bob;
    const double polar = 1100 * pi * std::pow(bob.radius, 4) / 2 * bob.length;
    bob.ball = 0.01, bob.mass = polar / ratio / (0.4 * bob.ball * bob.ball);
    bob.turn = Vec3(0, 0, 1);
    const System system = compile(bob.model());
    State state = system.rest();
    Workspace w(system);
    const double c = std::sqrt(bob.E / 2 / 1100), expected = first_root(ratio) * c / bob.length;
    // The node's y axis begins along some direction: its turn shows in the other one.
    const Vec3 y0(state.e[12 * 16 + 6], state.e[12 * 16 + 7], state.e[12 * 16 + 8]);
    const auto turned = [&] {
      return Vec3::UnitZ().cross(y0).dot(
          Vec3(state.e[12 * 16 + 6], state.e[12 * 16 + 7], state.e[12 * 16 + 8]));
    };
    const double found = frequency(system, state, w, 0.0025 * 2 * pi / expected, 10, turned);
    EXPECT_NEAR(found, expected, 3e-3 * expected) << ratio;
  }
}

// At rest the thread is longer by (M + m/2) g L/EA. From there it swings as a stiff pendulum of the thread,
// the ball and its own inertia, which follows the thread, and its energy stays.
TEST(Carried, HangsAndSwings) {
  Bob bob;
  bob.E = 1e10, bob.radius = 5e-4, bob.mass = 1, bob.ball = 0.03, bob.root = Hold::pinned;
  bob.gravity = Vec3(0, 0, -9.81);
  const System system = compile(bob.model());
  State state = system.rest();
  Workspace w(system);
  const StaticResult rest = solve_static(system, state, w);
  ASSERT_TRUE(rest.report.ok()) << rest.report.message;
  EXPECT_LE(rest.negative, 1);  // it may spin about itself at no cost: that pivot is rounding
  const double m = bob.own_mass(), L = -node_of(state, 16).z(), EA = bob.E * pi * bob.radius * bob.radius;
  EXPECT_NEAR(L - 1, (bob.mass + m / 2) * 9.81 / EA, 1e-3 * (L - 1));

  const double omega = 0.1;  // about y at the lowest point: an amplitude of 0.03 rad
  for (int j = 0; j < state.node_count(); ++j)
    for (int k = 0; k < 4; ++k) {
      const Eigen::Map<const Vec3> q(state.e.data() + 12 * j + 3 * k);
      const Vec3 rate = Vec3(0, omega, 0).cross(q);
      for (int i = 0; i < 3; ++i) state.v[12 * j + 3 * k + i] = rate[i];
    }
  const double expected =
      std::sqrt((bob.mass + m / 2) * 9.81 * L / (bob.mass * L * L + bob.inertia() + m * L * L / 3));
  const result::Energy start = energy(system, state, w);
  const double amplitude = omega / expected;
  const double found = frequency(system, state, w, 2e-3, 4, [&] { return node_of(state, 16).x(); });
  EXPECT_NEAR(found, expected * (1 - amplitude * amplitude / 16), 1e-3 * expected);
  EXPECT_NEAR(energy(system, state, w).total(), start.total(), 5e-3 * start.kinetic);
  // The snapshot has the body where the thread's end is, and its rates.
  result::Snapshot snapshot;
  observe(system, state, w, snapshot);
  EXPECT_LT((snapshot.positions[0] - node_of(state, 16)).norm(), 1e-12);
  EXPECT_NEAR(snapshot.scalars[0], node_of(state, 16).x(), 1e-12);
  EXPECT_NEAR(snapshot.scalars[3], state.v[12 * 16], 1e-12);
  const Eigen::Map<const Vec3> d(state.e.data() + 12 * 16 + 3);
  EXPECT_NEAR(d.norm(), 1, 1e-9);  // it does not stretch
}

// Nothing acts from outside: a ball with its centre beside the node is thrown with a loose thread. Momentum
// stays, and so does energy but for what a scheme of finite steps takes of whirling.
TEST(Carried, MomentumOfAThrowStays) {
  Bob bob;
  bob.root = Hold::free, bob.com = Vec3(0.03, 0, -0.01), bob.mass = 0.2;
  bob.velocity = Vec3(0.3, 0.2, 0), bob.turn = Vec3(0, 2, 1);
  const System system = compile(bob.model());
  State state = system.rest();
  Workspace w(system);
  result::Snapshot at;
  // The rates of the ball are those asked for.
  observe(system, state, w, at);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(at.scalars[3 + i], bob.velocity[i], 1e-12);
    EXPECT_NEAR(at.scalars[6 + i], bob.turn[i], 1e-12);
  }
  // Momentum of the whole, from the centre of all mass: the thread's by its elements, Hermite.
  const auto centre = [&] {
    Vec3 sum = Vec3::Zero();
    const double l = bob.length / 16, part = bob.own_mass() / 16;
    for (int j = 0; j < 16; ++j) {
      const Eigen::Map<const Vec3> s1(state.e.data() + 12 * j + 3), s2(state.e.data() + 12 * j + 15);
      sum += part * (0.5 * (node_of(state, j) + node_of(state, j + 1)) + l / 12 * (s1 - s2));
    }
    result::Snapshot now;
    observe(system, state, w, now);
    const Mat3 R = now.rotations[0].toRotationMatrix();
    return Vec3((sum + bob.mass * (now.positions[0] + R * bob.com)) / (bob.own_mass() + bob.mass));
  };
  const double start = energy(system, state, w).total();
  Vec3 at_step[4];
  for (int k = 0; k <= 900; ++k) {
    if (k % 300 == 0) at_step[k / 300] = centre();
    ASSERT_TRUE(step(system, state, w, 1e-3).ok());
    ASSERT_LT(energy(system, state, w).total(), start * (1 + 1e-3)) << k;
  }
  // The ball alone has this much; the last element of the thread begins with its end.
  const Vec3 speed = bob.mass * (bob.velocity + bob.turn.cross(bob.com)) / (bob.own_mass() + bob.mass);
  const Vec3 found = (at_step[3] - at_step[0]) / 0.9;
  EXPECT_LT((found - speed).norm(), 0.03 * speed.norm());
  EXPECT_LT((at_step[2] - at_step[1] - 0.3 * found).norm(), 1e-4 * 0.3 * found.norm());
  EXPECT_LT((at_step[3] - at_step[2] - 0.3 * found).norm(), 1e-4 * 0.3 * found.norm());
}

// A hand of the live view on the body: at rest its spring and the weight are in balance.
TEST(Carried, IsPulledAt) {
  Bob bob;
  bob.mass = 0.5, bob.gravity = Vec3(0, 0, -9.81);
  const System system = compile(bob.model());
  State state = system.rest();
  Workspace w(system);
  result::Hand handle;
  handle.on = result::Hand::On::frame, handle.index = 0;
  handle.p = Vec3(0, 0, -0.02), handle.target = Vec3(0, 0, -1.2), handle.stiffness = 200;
  ASSERT_TRUE(hold(system, w, handle));
  ASSERT_TRUE(solve_static(system, state, w).report.ok());
  const result::Pull pulled = pull(system, state, w);
  EXPECT_NEAR(pulled.point.z(), node_of(state, 16).z() - 0.02, 1e-9);
  EXPECT_NEAR(pulled.force.z(), 200 * (-1.2 - pulled.point.z()), 1e-9);
  const double load = 9.81 * (bob.mass + bob.own_mass() / 2) - pulled.force.z(),
               EA = bob.E * pi * bob.radius * bob.radius;
  EXPECT_NEAR(-node_of(state, 16).z() - 1, load / EA, 1e-3 * load / EA);
}

TEST(Carried, WhatCannotBeIsRefused) {
  const auto message = [](const Bob& bob) -> std::string {
    try {
      compile(bob.model());
    } catch (const ModelError& e) {
      return e.what();
    }
    return "";
  };
  Bob bob;
  EXPECT_EQ(message(bob), "");
  bob.clamps = 0;
  EXPECT_NE(message(bob).find("can move freely"), std::string::npos);
  bob.clamps = 2;
  EXPECT_NE(message(bob).find("two clamps"), std::string::npos);
  bob.clamps = 1, bob.hold = Hold::pinned;
  EXPECT_NE(message(bob).find("not pinned"), std::string::npos);
}

}  // namespace
}  // namespace limber::thread
