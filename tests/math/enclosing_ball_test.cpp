// The smallest ball: known ones, and what makes it a size: no turn, order or point inside changes it.
#include "limber/math/enclosing_ball.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "limber/math/so3.h"

namespace limber::math {
namespace {

std::vector<Vec3> cloud(unsigned seed, int count) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<Vec3> out;
  for (int i = 0; i < count; ++i) {
    const double x = normal(random), y = normal(random), z = normal(random);
    out.emplace_back(x, 2 * y, 0.3 * z);
  }
  return out;
}

TEST(EnclosingBall, KnownOnes) {
  EXPECT_EQ(enclosing_ball({}).radius, 0);
  EXPECT_EQ(enclosing_ball({Vec3(1, 2, 3), Vec3(1, 2, 3)}).radius, 0);
  EXPECT_NEAR(enclosing_ball({Vec3(1, 0, 0), Vec3(3, 0, 0), Vec3(2, 0.1, 0)}).radius, 1, 1e-12);
  const Ball triangle = enclosing_ball({Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1)});
  EXPECT_NEAR(triangle.radius, std::sqrt(2.0 / 3), 1e-12);  // of an equilateral one with sides of √2
  std::vector<Vec3> cube;
  for (int i = 0; i < 8; ++i) cube.emplace_back(i & 1, (i >> 1) & 1, (i >> 2) & 1);
  EXPECT_NEAR(enclosing_ball(cube).radius, std::sqrt(0.75), 1e-12);  // eight points on one ball
}

TEST(EnclosingBall, HoldsAllAndNoneIsSmaller) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    const auto points = cloud(seed, 3 + static_cast<int>(seed) * 4);
    const Ball ball = enclosing_ball(points);
    double largest = 0, farthest = 0;
    for (const Vec3& p : points) {
      farthest = std::max(farthest, (p - ball.center).norm());
      for (const Vec3& q : points) largest = std::max(largest, (p - q).norm());
    }
    EXPECT_NEAR(farthest, ball.radius, 1e-11 * ball.radius);
    EXPECT_GE(ball.radius, 0.5 * largest * (1 - 1e-12));
    EXPECT_LE(ball.radius, largest * std::sqrt(3.0 / 8) * (1 + 1e-12));  // Jung's theorem
  }
}

TEST(EnclosingBall, DoesNotDependOnAxesOrderOrPointsInside) {
  const auto points = cloud(7, 200);
  const Ball ball = enclosing_ball(points);
  std::vector<Vec3> other;
  const Mat3 R = so3_exp(Vec3(0.4, -1.1, 0.7));
  for (const Vec3& p : points) other.push_back(R * p + Vec3(5, -3, 2));
  other.push_back(R * ball.center + Vec3(5, -3, 2));
  std::reverse(other.begin(), other.end());
  EXPECT_NEAR(enclosing_ball(other).radius, ball.radius, 1e-11 * ball.radius);
}

}  // namespace
}  // namespace limber::math
