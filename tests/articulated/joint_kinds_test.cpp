// Every joint kind as a joint of the tree and as one that closes a loop: the same motion and the same rest;
// and the closed forms of screws, constant velocity joints, beads and rods.
#include <gtest/gtest.h>

#include <cmath>

#include "limber/articulated/statics.h"
#include "limber/articulated/system.h"
#include "limber/math/so3.h"
#include "limber/math/trig.h"

namespace limber::articulated {
namespace {

const Pose at_joint{math::so3_exp({0.4, -0.3, 0.7}), Vec3(0.3, 0.1, -0.2)};
const Pose on_part{math::so3_exp({-0.2, 0.5, 0.1}), Vec3(-0.15, 0.05, 0.1)};

Body block(const std::string& name, double m) {
  Body b;
  b.name = name;
  b.inertia = Inertia::about_com(m, Vec3(0.02, -0.01, 0.03), math::box_inertia(m, Vec3(0.3, 0.2, 0.1)));
  return b;
}

JointLaw some_law(JointKind kind) {
  JointLaw law;
  for (int k = 0; k < dof_count(kind); ++k) {
    law.stiffness[k] = is_rotational(kind, k) ? 3 + k : 90 + 10 * k;
    law.damping[k] = is_rotational(kind, k) ? 0.02 : 0.5;
    law.rest[k] = is_rotational(kind, k) ? 0.2 : 0.03;
  }
  return law;
}

// An arm on a sprung hinge, and a part that hangs on it: by a joint of the kind, or floating and tied by it.
ModelBuilder arm_and_part() {
  ModelBuilder b;
  b.add(block("arm", 2));
  b.add(block("part", 1));
  Joint hinge;
  hinge.name = "hinge";
  hinge.kind = JointKind::revolute;
  hinge.child = BodyId{0};
  hinge.X_PF = Pose::rotation(math::rotation_x(1.3));
  hinge.X_BM = Pose::translation({-0.2, 0, 0});
  hinge.law.stiffness[0] = 40;
  hinge.velocity[0] = 0.7;
  b.add(hinge);
  return b;
}

void probe(ModelBuilder& b, JointId joint, LoopId loop) {
  for (const Quantity quantity :
       {Quantity::joint_position, Quantity::joint_velocity, Quantity::joint_force}) {
    Probe p;
    p.name = "of " + std::to_string(static_cast<int>(quantity));
    p.quantity = quantity;
    p.joint = joint;
    p.loop = loop;
    b.add(p);
  }
}

Model as_tree(JointKind kind, bool with_law = true) {
  ModelBuilder b = arm_and_part();
  Joint j;
  j.name = "joint";
  j.kind = kind;
  j.parent = BodyId{0};
  j.child = BodyId{1};
  j.X_PF = at_joint;
  j.X_BM = on_part;
  if (kind == JointKind::screw) j.pitch = -0.3;
  if (with_law) j.law = some_law(kind);
  for (int k = 0; k < dof_count(kind); ++k) {
    j.position[k] = is_rotational(kind, k) ? 0.3 - 0.1 * k : 0.02 * k;
    j.velocity[k] = is_rotational(kind, k) ? 0.8 - 0.3 * k : 0.1;
  }
  probe(b, b.add(j), {});
  return b.build();
}

// The same with the part floating, from where the other one starts.
Model as_loop(const Model& tree) {
  const System s = compile(tree, {});
  const State state = s.rest();
  const SystemData& data = s.data();
  std::vector<LinkMotion> links(data.tree.size());
  multibody::kinematics(data.tree, state.q.data(), state.v.data(), links);
  const Joint& j = tree.joints()[1];
  ModelBuilder b = arm_and_part();
  Joint floats;
  floats.name = "floats";
  floats.kind = JointKind::free;
  floats.child = BodyId{1};
  floats.X_PF = links[1].X_WM * data.tree[1].X_MB;
  const Vec6 V = data.tree[1].X_MB.inverse_motion(links[1].V);
  for (int k = 0; k < 6; ++k) floats.velocity[k] = V[k];
  b.add(floats);
  Loop loop;
  loop.name = "loop";
  loop.kind = j.kind;
  loop.a = BodyId{0};
  loop.b = BodyId{1};
  loop.X_AF = j.X_PF;
  loop.X_BM = j.X_BM;
  loop.pitch = j.pitch;
  loop.law = j.law;
  probe(b, {}, b.add(loop));
  return b.build();
}

double difference(const System& a, const State& at, const System& b, const State& bt) {
  Workspace wa(a), wb(b);
  result::Snapshot x, y;
  observe(a, at, wa, x);
  observe(b, bt, wb, y);
  double most = 0;
  for (int i = 0; i < 2; ++i) {
    most = std::max(most, (x.positions[i] - y.positions[i]).norm());
    most = std::max(most, (math::to_matrix(x.rotations[i]) - math::to_matrix(y.rotations[i])).norm());
  }
  for (std::size_t k = 0; k < a.layout().scalars.size(); ++k) {
    EXPECT_EQ(a.layout().scalars[k].name, b.layout().scalars[k].name);
    if (a.layout().scalars[k].name.starts_with("of "))
      most = std::max(most, std::abs(x.scalars[k] - y.scalars[k]));
  }
  return most;
}

class JointOfKind : public ::testing::TestWithParam<JointKind> {};
INSTANTIATE_TEST_SUITE_P(All, JointOfKind,
                         ::testing::Values(JointKind::fixed, JointKind::revolute, JointKind::prismatic,
                                           JointKind::universal, JointKind::planar, JointKind::spherical,
                                           JointKind::cylindrical, JointKind::screw, JointKind::point_on_line,
                                           JointKind::point_on_plane, JointKind::constant_velocity),
                         [](const auto& kind) { return std::string(to_string(kind.param)); });

// Fourth order, 0.5 ms: its error in 0.3 s is below 1e-9 at frequencies of up to 50/s.
TEST_P(JointOfKind, MovesAsAClosingJointDoes) {
  const Model tree = as_tree(GetParam()), loop = as_loop(tree);
  const Options options{.integrator = Integrator::gauss};
  const System a = compile(tree, options), b = compile(loop, options);
  State at = a.rest(), bt = b.rest();
  Workspace wa(a), wb(b);
  EXPECT_LT(difference(a, at, b, bt), 1e-12);
  for (int i = 0; i < 600; ++i) {
    ASSERT_TRUE(step(a, at, wa, 5e-4).ok());
    const auto report = step(b, bt, wb, 5e-4);
    ASSERT_TRUE(report.ok()) << report.message;
  }
  EXPECT_LT(difference(a, at, b, bt), 1e-9);
  EXPECT_GT(difference(a, at, a, a.rest()), 1e-2);  // something moved
}

// The other integrators differ by their own errors in different coordinates, which fall with h².
TEST_P(JointOfKind, SecondOrderInBothForms) {
  const Model tree = as_tree(GetParam()), loop = as_loop(tree);
  for (const Integrator integrator : {Integrator::midpoint, Integrator::sdirk}) {
    const Options options{.integrator = integrator};
    const System a = compile(tree, options), b = compile(loop, options);
    double apart[2];
    for (int fine = 0; fine < 2; ++fine) {
      State at = a.rest(), bt = b.rest();
      Workspace wa(a), wb(b);
      for (int i = 0; i < (fine ? 80 : 20); ++i) {
        ASSERT_TRUE(step(a, at, wa, fine ? 2.5e-3 : 1e-2).ok());
        ASSERT_TRUE(step(b, bt, wb, fine ? 2.5e-3 : 1e-2).ok());
      }
      apart[fine] = difference(a, at, b, bt);
    }
    EXPECT_LT(apart[1], 0.1 * apart[0] + 1e-9) << to_string(integrator);
  }
}

TEST_P(JointOfKind, RestsWhereAClosingJointDoes) {
  const Model tree = as_tree(GetParam()), loop = as_loop(tree);
  const System a = compile(tree, {}), b = compile(loop, {});
  State at = a.rest(), bt = b.rest();
  Workspace wa(a), wb(b);
  const StaticResult ra = solve_static(a, at, wa), rb = solve_static(b, bt, wb);
  ASSERT_TRUE(ra.stable()) << ra.report.message;
  ASSERT_TRUE(rb.stable()) << rb.report.message;
  std::fill(at.v.begin(), at.v.end(), 0.0);
  std::fill(bt.v.begin(), bt.v.end(), 0.0);
  EXPECT_LT(difference(a, at, b, bt), 1e-9);
  // Newton on the exact tangent: as few steps as in the tree, up to those that close the loop.
  EXPECT_LT(rb.report.iterations, 2 * ra.report.iterations + 6);
  ASSERT_FALSE(ra.modes.empty());
  ASSERT_FALSE(rb.modes.empty());
  EXPECT_NEAR(rb.modes[0].eigenvalue, ra.modes[0].eigenvalue, 1e-6 * std::abs(ra.modes[0].eigenvalue));
}

// Without weight a servo holds the coordinates at its target, in statics and after a while of damped motion.
TEST_P(JointOfKind, IsHeldByAServo) {
  const JointKind kind = GetParam();
  const int n = dof_count(kind);
  if (n == 0) return;
  ModelBuilder b = arm_and_part();
  b.parts.gravity = VectorFunction::constant(Vec3::Zero());
  b.parts.joints[0].velocity[0] = 0;
  Joint j;
  j.name = "joint";
  j.kind = kind;
  j.parent = BodyId{0};
  j.child = BodyId{1};
  j.X_PF = at_joint;
  j.X_BM = on_part;
  if (kind == JointKind::screw) j.pitch = 0.2;
  Drive servo;
  servo.kind = Drive::Kind::servo;
  servo.joint = b.add(j);
  for (int k = 0; k < n; ++k) {
    servo.target[k] = is_rotational(kind, k) ? 0.3 - 0.1 * k : 0.02 * k;
    servo.kp[k] = is_rotational(kind, k) ? 20 : 600;
    servo.kd[k] = is_rotational(kind, k) ? 2 : 60;
  }
  b.add(servo);
  b.parts.joints[0].law.damping[0] = 5;
  const System s = compile(b.build(), {});
  const auto check = [&](const State& state) {
    const DofArray x = multibody::get_coordinates(s.data().tree[1], state.q.data() + s.data().tree[1].q);
    for (int k = 0; k < n; ++k) EXPECT_NEAR(x[k], servo.target[k].value(0), 1e-9) << k;
  };
  State rests = s.rest();
  Workspace w(s);
  const StaticResult r = solve_static(s, rests, w);
  ASSERT_TRUE(r.stable()) << r.report.message;
  check(rests);
  State moves = s.rest();
  for (int i = 0; i < 400; ++i) ASSERT_TRUE(step(s, moves, w, 0.02).ok());
  check(moves);
}

// A given motion is where its functions say, and its rates are theirs.
TEST_P(JointOfKind, FollowsAGivenMotion) {
  const JointKind kind = GetParam();
  const int n = dof_count(kind);
  if (n == 0) return;
  ModelParts parts = as_tree(kind, false).parts();
  parts.joints[1].position = parts.joints[1].velocity = {};
  PrescribedMotion motion;
  motion.joint = JointId{1};
  for (int k = 0; k < n; ++k)
    motion.position[k] = TimeFunction::table({0, 1}, {0.1 * (k + 1), 0.1 * (k + 1) + 0.3 - 0.1 * k});
  parts.motions.push_back(motion);
  const System s = compile(Model(parts), {});
  State state = s.rest();
  Workspace w(s);
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(step(s, state, w, 0.01).ok());
  const multibody::Link& link = s.data().tree[1];
  const DofArray x = multibody::get_coordinates(link, state.q.data() + link.q);
  for (int k = 0; k < n; ++k) EXPECT_NEAR(x[k], 0.1 * (k + 1) + 0.5 * (0.3 - 0.1 * k), 1e-13) << k;
}

Body ball(double m, double I) {
  Body b;
  b.name = "ball";
  b.inertia = Inertia::about_com(m, Vec3::Zero(), I * Mat3::Identity());
  return b;
}

void advance(const System& s, State& state, double h, int steps) {
  Workspace w(s);
  for (int i = 0; i < steps; ++i) {
    const auto report = step(s, state, w, h);
    ASSERT_TRUE(report.ok()) << report.message;
  }
}

// q̈ = (τ − m g l)/(I + m l²), l = pitch/2π; constant, so that midpoint is exact. As a closing joint the turns
// follow from the height.
TEST(JointKinds, ScrewUnderTorque) {
  const double m = 2, I = 0.05, pitch = -0.5, torque = 2, l = pitch / (2 * pi), g = 9.81;
  const double a = (torque - m * g * l) / (I + m * l * l), t = 2;
  ModelBuilder tree, loop;
  for (ModelBuilder* b : {&tree, &loop}) b->add(ball(m, I));
  Joint j;
  j.name = "screw";
  j.kind = JointKind::screw;
  j.child = BodyId{0};
  j.pitch = pitch;
  tree.add(j);
  Drive drive;
  drive.joint = JointId{0};
  drive.target[0] = TimeFunction(torque);
  tree.add(drive);
  const System s = compile(tree.build(), {});
  State state = s.rest();
  advance(s, state, 0.01, 200);
  EXPECT_NEAR(state.q[0], 0.5 * a * t * t, 1e-10 * a * t * t);
  EXPECT_NEAR(state.v[0], a * t, 1e-10 * a * t);

  Loop thread;
  thread.name = "thread";
  thread.kind = JointKind::screw;
  thread.b = BodyId{0};
  thread.pitch = pitch;
  probe(loop, {}, loop.add(thread));
  PointLoad load;
  load.name = "torque";
  load.at.body = BodyId{0};
  load.moment = VectorFunction::constant({0, 0, torque});
  loop.add(load);
  const System c = compile(loop.build(), {});
  State closed = c.rest();
  advance(c, closed, 0.01, 200);
  Workspace w(c);
  result::Snapshot shot;
  observe(c, closed, w, shot);
  ASSERT_GT(0.5 * a * t * t, 8 * pi);
  EXPECT_NEAR(shot.scalars[0], 0.5 * a * t * t, 1e-9 * a * t * t);
  EXPECT_NEAR(shot.positions[0].z(), l * 0.5 * a * t * t, 1e-9);
}

// Two shafts at 30°: where the one stands the other stands, at every angle.
TEST(JointKinds, ConstantVelocityJointTurnsBothShaftsAlike) {
  const double tilt = pi / 6;
  ModelBuilder b;
  Body in = ball(1, 0.01), out = ball(1, 0.02);
  in.name = "in", out.name = "out";
  b.add(in);
  b.add(out);
  Joint bearing;
  bearing.kind = JointKind::revolute;
  bearing.name = "first";
  bearing.child = BodyId{0};
  const JointId first = b.add(bearing);
  bearing.name = "second";
  bearing.child = BodyId{1};
  bearing.X_PF = Pose::rotation(math::rotation_x(tilt));
  b.add(bearing);
  Loop joint;
  joint.name = "joint";
  joint.kind = JointKind::constant_velocity;
  joint.a = BodyId{0};
  joint.b = BodyId{1};
  b.add(joint);
  b.add(PrescribedMotion{first, {TimeFunction(0)}});
  for (const double angle : {0.3, 1.4, 2.9, -2.0}) {
    b.parts.motions[0].position[0] = TimeFunction(angle);
    const System s = compile(b.build(), {});
    EXPECT_NEAR(std::remainder(s.rest().q[1] - angle, 2 * pi), 0, 1e-10) << angle;
  }
  b.parts.motions.clear();
  b.parts.joints[0].velocity[0] = b.parts.joints[1].velocity[0] = 5;
  Drive drive;
  drive.joint = first;
  drive.target[0] = TimeFunction(0.6);
  b.add(drive);
  const System s = compile(b.build(), {});
  State state = s.rest();
  for (int i = 0; i < 100; ++i) {
    advance(s, state, 0.01, 1);
    ASSERT_NEAR(state.q[1], state.q[0], 1e-10);
    ASSERT_NEAR(state.v[1], state.v[0], 1e-10);
  }
  EXPECT_NEAR(state.v[0], 5 + 0.6 / 0.03, 1e-9);  // both inertias feel the torque
}

// A bead on a line or plane that slopes falls with the part of g along it, and keeps its spin.
TEST(JointKinds, BeadsOnALineAndAPlane) {
  const double slope = 0.6, g = 9.81, t = 1;
  for (const JointKind kind : {JointKind::point_on_line, JointKind::point_on_plane, JointKind::cylindrical})
    for (const bool closing : {false, true}) {
      ModelBuilder b;
      b.add(ball(1.5, 0.01));
      // z of F slopes for lines, x of F for the plane.
      const bool plane = kind == JointKind::point_on_plane;
      const Pose F = Pose::rotation(plane ? math::rotation_y(slope) : math::rotation_y(pi / 2 + slope));
      if (closing) {
        Loop l;
        l.name = "guide";
        l.kind = kind;
        l.b = BodyId{0};
        l.X_AF = l.X_BM = F;
        b.add(l);
        Joint floats;
        floats.name = "floats";
        floats.kind = JointKind::free;
        floats.child = BodyId{0};
        const Vec3 spin = F.R.col(2) * 3;
        for (int k = 0; k < 3; ++k) floats.velocity[k] = spin[k];
        b.add(floats);
      } else {
        Joint j;
        j.name = "guide";
        j.kind = kind;
        j.child = BodyId{0};
        j.X_PF = j.X_BM = F;
        j.velocity[kind == JointKind::cylindrical ? 0 : 2] = 3;
        b.add(j);
      }
      const System s = compile(b.build(), {.integrator = Integrator::gauss});
      State state = s.rest();
      advance(s, state, 2e-3, 500);
      Workspace w(s);
      result::Snapshot shot;
      observe(s, state, w, shot);
      const Vec3 fall = F.R.col(plane ? 0 : 2) * (0.5 * g * math::sincos(slope).sin * t * t);
      // A floating body that spins is known in its own axes: fourth order in 3 rad/s · 2 ms.
      EXPECT_LT((shot.positions[0] - fall).norm(), 1e-10) << to_string(kind) << closing;
      const Mat3 turned = math::so3_exp(3 * t * F.R.col(2));
      EXPECT_LT((math::to_matrix(shot.rotations[0]) - turned).norm(), 1e-10) << to_string(kind);
    }
}

// A ball on a massless rod is a pendulum of a point mass, whatever its inertia.
TEST(JointKinds, RodIsAPendulum) {
  const double length = 0.7;
  ModelBuilder rod, pendulum;
  rod.add(ball(2, 0.3));
  pendulum.add(ball(2, 0));
  Joint floats;
  floats.name = "floats";
  floats.kind = JointKind::free;
  floats.child = BodyId{0};
  floats.X_PF = Pose::translation({length, 0, 0});
  floats.velocity[4] = 1.1;
  rod.add(floats);
  Loop loop;
  loop.name = "rod";
  loop.kind = JointKind::distance;
  loop.b = BodyId{0};
  loop.length = length;
  rod.add(loop);
  Joint pivot;
  pivot.name = "pivot";
  pivot.kind = JointKind::universal;  // turns about y and z
  pivot.child = BodyId{0};
  pivot.X_PF = pivot.X_BM = Pose::rotation(math::rotation_z(pi / 2) * math::rotation_x(pi / 2));
  pivot.X_BM.p = Vec3(-length, 0, 0);
  pivot.velocity[0] = 0;
  pivot.velocity[1] = 1.1 / length;
  pendulum.add(pivot);
  const Options options{.integrator = Integrator::gauss};
  const System a = compile(rod.build(), options), b = compile(pendulum.build(), options);
  State at = a.rest(), bt = b.rest();
  Workspace wa(a), wb(b);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(step(a, at, wa, 1e-3).ok());
    ASSERT_TRUE(step(b, bt, wb, 1e-3).ok());
  }
  result::Snapshot x, y;
  observe(a, at, wa, x);
  observe(b, bt, wb, y);
  EXPECT_LT((x.positions[0] - y.positions[0]).norm(), 1e-9);
  EXPECT_NEAR(x.positions[0].norm(), length, 1e-12);
  EXPECT_GT((x.positions[0] - Vec3(length, 0, 0)).norm(), 0.3);

  State hangs = a.rest();
  const StaticResult r = solve_static(a, hangs, wa);
  ASSERT_TRUE(r.report.ok()) << r.report.message;
  observe(a, hangs, wa, x);
  EXPECT_LT((x.positions[0] - Vec3(0, 0, -length)).norm(), 1e-9);
  ASSERT_EQ(r.loops.size(), 1u);
  EXPECT_NEAR(r.loops[0].force.z(), 2 * 9.81, 1e-9);
}

// Stops of a bead: along its line in the tree and closing, and of its angle.
TEST(JointKinds, BeadEndsAtItsStop) {
  for (const bool closing : {false, true}) {
    ModelBuilder b;
    b.add(ball(1, 0.01));
    JointLaw law;
    law.lower[3] = -0.4;
    law.upper[0] = 0.5;
    if (closing) {
      Loop l;
      l.name = "guide";
      l.kind = JointKind::point_on_line;
      l.b = BodyId{0};
      l.law = law;
      probe(b, {}, b.add(l));
      Joint floats;
      floats.name = "floats";
      floats.kind = JointKind::free;
      floats.child = BodyId{0};
      floats.velocity[0] = 2;
      b.add(floats);
    } else {
      Joint j;
      j.name = "guide";
      j.kind = JointKind::point_on_line;
      j.child = BodyId{0};
      j.law = law;
      j.velocity[0] = 2;
      probe(b, b.add(j), {});
    }
    const System s = compile(b.build(), {});
    State state = s.rest();
    advance(s, state, 0.01, 100);
    Workspace w(s);
    result::Snapshot shot;
    observe(s, state, w, shot);
    EXPECT_NEAR(shot.positions[0].z(), -0.4, 1e-10) << closing;
    EXPECT_NEAR(shot.scalars[3], -0.4, 1e-10);
    EXPECT_NEAR(shot.scalars[0], 0.5, 1e-10);  // its axis does not turn
  }
}

// A stop of a screw that closes a loop holds beyond the first turn.
TEST(JointKinds, ClosingScrewEndsAtItsStop) {
  ModelBuilder b;
  b.add(ball(1, 0.01));
  Loop thread;
  thread.name = "thread";
  thread.kind = JointKind::screw;
  thread.b = BodyId{0};
  thread.pitch = 0.2;
  thread.law.lower[0] = -5 * pi;  // 2.5 turns down
  probe(b, {}, b.add(thread));
  const System s = compile(b.build(), {});
  State state = s.rest();
  advance(s, state, 0.01, 400);
  Workspace w(s);
  result::Snapshot shot;
  observe(s, state, w, shot);
  EXPECT_NEAR(shot.scalars[0], -5 * pi, 1e-9);
  EXPECT_NEAR(shot.positions[0].z(), -0.5, 1e-9);
}

}  // namespace
}  // namespace limber::articulated
