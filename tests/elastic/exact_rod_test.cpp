// The exact rod against closed forms: Bisshopp and Drucker's cantilever (elliptic integrals), a rod rolled up
// by a moment, a twisted one; and its own order of convergence in space.
#include "limber/elastic/exact_rod.h"

#include <gtest/gtest.h>

#include <cmath>

namespace limber::elastic {
namespace {

// EI = L = 1, force P across the tip. Tip of Bisshopp and Drucker (1945) for P = 1, 2, 5, from their elliptic
// integrals evaluated to 16 digits.
TEST(ExactRod, CantileverWithAnEndForce) {
  const double known[][3] = {{1, 0.9435667637166231, 0.30172077379981355},
                             {2, 0.8393582791748327, 0.49345748039671183},
                             {5, 0.6123716392755701, 0.7137915236119128}};
  for (const auto& [force, x, z] : known) {
    RodProblem p;
    p.tip_force = {0, 0, -force};
    const auto shape = solve_rod(p, 11);
    ASSERT_TRUE(shape);
    EXPECT_NEAR(shape->points.back().x(), x, 1e-11);
    EXPECT_NEAR(shape->points.back().z(), -z, 1e-11);
    EXPECT_NEAR(shape->root_moment.y(), force * x, 1e-10);  // moment of the force about the clamp
  }
}

// A moment bends a rod to a circle of radius EI/M; a torque twists it by T L/GJ.
TEST(ExactRod, RollsUpAndTwists) {
  RodProblem p;
  p.length = 2;
  p.stiffness = {0.5, 3, 4};
  p.tip_moment = {0, -3 * pi / 2, 0};  // half a circle
  auto shape = solve_rod(p, 5);
  ASSERT_TRUE(shape);
  const double r = p.length / pi;
  EXPECT_LT((shape->points.back() - Vec3(0, 0, 2 * r)).norm(), 1e-10);
  p.tip_moment = {0.25, 0, 0};
  shape = solve_rod(p, 5);
  ASSERT_TRUE(shape);
  EXPECT_LT((shape->points.back() - Vec3(2, 0, 0)).norm(), 1e-12);
  EXPECT_NEAR(std::asin(shape->axes.back()(2, 1)), 1.0, 1e-11);  // 0.25 · 2 / 0.5
}

// Bent, twisted, heavy and curved from the start: halving the step divides the error by 7 or more.
TEST(ExactRod, ConvergesInSpace) {
  RodProblem p;
  p.stiffness = {0.7, 1, 2};
  p.curvature = {0.5, 0.3, -0.8};
  p.tip_force = {0.5, 1, -2};
  p.tip_moment = {0.2, 0.1, 0.4};
  p.line_load = {0.3, -1, -1};
  const Vec3 exact = solve_rod(p, 3, 2000)->points.back();
  double before = 0;
  for (const int steps : {50, 100, 200}) {
    const double error = (solve_rod(p, 3, steps)->points.back() - exact).norm();
    if (before > 0) {
      EXPECT_GT(before / error, 7);
    }
    before = error;
  }
  EXPECT_LT(before, 2e-8);
}

}  // namespace
}  // namespace limber::elastic
