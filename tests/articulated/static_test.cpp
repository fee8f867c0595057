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

}  // namespace
}  // namespace limber::articulated
