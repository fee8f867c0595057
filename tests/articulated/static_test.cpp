// Equilibria at the edges of what can be asked: nothing that moves, parts that know nothing of each other,
// tangents that nothing holds.
#include <gtest/gtest.h>

#include <cmath>

#include "limber/articulated/statics.h"
#include "limber/articulated/system.h"

namespace limber::articulated {
namespace {

Body lump(const std::string& name, double m = 2) {
  Body b;
  b.name = name;
  b.inertia = Inertia::about_com(m, Vec3::Zero(), math::sphere_inertia(m, 0.1));
  return b;
}

// All joints fixed: the rest is the start, and the joint carries weight, force and moment, whatever the load
// is. The closed form is the sum of wrenches about the joint.
TEST(Static, WhatCannotMoveIsAtRest) {
  for (const bool follows : {false, true})
    for (const bool moment : {false, true}) {
      ModelBuilder b;
      const BodyId body = b.add(lump("body"));
      b.parts.gravity = VectorFunction::constant({0, 0, -10});
      Joint j;
      j.name = "weld";
      j.kind = JointKind::fixed;
      j.child = body;
      j.X_BM = Pose::translation({-0.1, 0, 0});  // the body's origin stands at x = 0.1
      b.add(j);
      PointLoad load;
      load.name = "load";
      load.at.body = body;
      load.force = VectorFunction::constant({0, 3, 0});
      if (moment) load.moment = VectorFunction::constant({0, 0, 0.5});
      load.follows = follows;
      b.add(load);
      const System s = compile(b.build());
      State state = s.rest();
      Workspace w(s);
      const StaticResult r = solve_static(s, state, w);
      ASSERT_TRUE(r.stable()) << r.report.message;
      EXPECT_EQ(r.residual, 0);
      EXPECT_TRUE(r.modes.empty());
      ASSERT_EQ(r.joints.size(), 1u);
      // A handful of sums of numbers near 10.
      EXPECT_LT((r.joints[0].force - Vec3(0, -3, 20)).norm(), 1e-13);
      EXPECT_LT((r.joints[0].moment - Vec3(0, -2, -0.3 - (moment ? 0.5 : 0))).norm(), 1e-13);
    }
}

// A hinge on which nothing acts, with a stretched spring within what it carries, the world turned in many
// ways: its stiffness and its force are both rounding, and it stays where it is.
TEST(Static, AHingeWithNothingOnItStays) {
  for (int way = 0; way < 40; ++way) {
    const Mat3 R = math::rotation_z(0.7 * way) * math::rotation_x(1.1 * way) * math::rotation_y(0.3 * way);
    ModelBuilder b;
    b.parts.gravity = VectorFunction::constant(Vec3::Zero());
    const BodyId arm = b.add(lump("arm")), hand = b.add(lump("hand"));
    Joint hinge;
    hinge.name = "hinge";
    hinge.kind = JointKind::revolute;
    hinge.child = arm;
    hinge.X_PF = {R, Vec3::Zero()};
    hinge.X_BM = {R, R * Vec3(-0.06, -0.1, 0.1)};
    b.add(hinge);
    Joint wrist;
    wrist.name = "wrist";
    wrist.kind = JointKind::spherical;
    wrist.parent = arm, wrist.child = hand;
    wrist.X_PF = Pose::translation(R * Vec3(0.2, 0.05, 0.1));
    wrist.X_BM = Pose::translation(R * Vec3(-0.1, 0.03, 0.02));
    wrist.law.stiffness = {40, 40, 40};
    b.add(wrist);
    Spring spring;
    spring.name = "spring";
    spring.a.body = arm, spring.a.p = R * Vec3(0, 0, 0.03);
    spring.b.body = hand, spring.b.p = R * Vec3(0, -0.01, -0.05);
    spring.stiffness = 200, spring.rest_length = 0.03;
    b.add(spring);
    const System s = compile(b.build());
    State state = s.rest();
    Workspace w(s);
    const StaticResult r = solve_static(s, state, w);
    ASSERT_TRUE(r.report.ok()) << r.report.message;
    EXPECT_GT(r.report.iterations, 1) << "the wrist gives way";
    // What a rounded force of 1e-15 N·m does in a few steps of the wrist's own 40 N·m/rad.
    EXPECT_NEAR(state.q[0], 0, 1e-14) << way;
  }
}

}  // namespace
}  // namespace limber::articulated
