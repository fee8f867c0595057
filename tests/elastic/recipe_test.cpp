#include <gtest/gtest.h>

#include "limber/elastic/pseudo_rigid_body.h"

namespace limber::elastic {
namespace {

struct Sums {
  double c = 0, cx = 0, cxx = 0, t = 0, tx = 0, txx = 0;
  explicit Sums(Recipe recipe) {
    for (const RecipeJoint& j : recipe_joints(recipe)) {
      c += j.bend_compliance, cx += j.bend_compliance * j.x, cxx += j.bend_compliance * j.x * j.x;
      t += j.twist_compliance, tx += j.twist_compliance * j.x, txx += j.twist_compliance * j.x * j.x;
    }
  }
};

TEST(Recipe, ConsistentOnesMeetTheConditions) {
  for (const Recipe recipe : {Recipe::consistent_3r, Recipe::consistent_1r}) {
    const Sums s(recipe);
    EXPECT_NEAR(s.c, 1, 1e-15);
    EXPECT_NEAR(s.cx, 0.5, 1e-15);
    EXPECT_NEAR(s.t, 1, 1e-15);
    EXPECT_NEAR(s.tx, 0.5, 1e-15);
  }
  EXPECT_NEAR(Sums(Recipe::consistent_3r).cxx, 1.0 / 3, 1e-15);
  EXPECT_NEAR(Sums(Recipe::consistent_1r).cxx, 0.25, 1e-15);
  const auto joints = recipe_joints(Recipe::consistent_3r);
  EXPECT_NEAR(joints[0].bend_compliance, 0.28772, 5e-6);
  EXPECT_NEAR(joints[1].bend_compliance, 0.38962, 5e-6);
  EXPECT_NEAR(joints[2].bend_compliance, 0.32266, 5e-6);
}

TEST(Recipe, PublishedOnesDoNot) {
  // Why they converge at first order only: Σ1/κ = 0.9988, Σλx = 0.396.
  const Sums s(Recipe::published_3r);
  EXPECT_NEAR(s.c, 0.99879, 1e-5);
  EXPECT_NEAR(s.t, 1, 1e-15);
  EXPECT_NEAR(s.tx, 0.396, 5e-4);
  const auto joints = recipe_joints(Recipe::published_3r);
  ASSERT_EQ(joints.size(), 3u);
  EXPECT_DOUBLE_EQ(joints[0].x, 0.12525);
  EXPECT_DOUBLE_EQ(joints[1].x, 0.4755);
  EXPECT_DOUBLE_EQ(joints[2].x, 0.86375);
  EXPECT_DOUBLE_EQ(1 / joints[1].bend_compliance, 2.84);
  EXPECT_NEAR(joints[0].twist_compliance, 0.400, 5e-4);
}

TEST(Recipe, Published1R) {
  const auto joints = recipe_joints(Recipe::published_1r);
  ASSERT_EQ(joints.size(), 1u);
  EXPECT_DOUBLE_EQ(joints[0].x, 0.2654);
  EXPECT_NEAR(1 / joints[0].bend_compliance, 1.5164, 5e-5);  // c_θ as printed
  EXPECT_DOUBLE_EQ(joints[0].twist_compliance, 1);
}

TEST(Recipe, HaveNames) {
  EXPECT_STREQ(to_string(Recipe::consistent_3r), "consistent_3r");
  EXPECT_STREQ(to_string(Recipe::published_1r), "published_1r");
}

}  // namespace
}  // namespace limber::elastic
