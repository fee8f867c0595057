// The ball is held by at most four points. In every round the point farthest outside joins those that hold
// it, and of the at most five the smallest ball around all of them is found by trying: its radius grows
// strictly, so no set of holders comes twice (a simplex method; compare Gärtner, Schönherr 2000).
#include "limber/math/enclosing_ball.h"

#include <array>
#include <limits>

namespace limber::math {
namespace {

constexpr double rounding = 1e-12;  // of the radius: a point so near is on the ball

// The centre in the plane or space of the corners at equal distances of all: for the edges e_i from the first
// corner, 2 e_i · x = e_i², x a combination of the e_j. Flat simplices have none.
bool circumscribe(const std::array<Vec3, 4>& corner, int count, Ball& out) {
  Eigen::Matrix3d G = Eigen::Matrix3d::Identity();
  Vec3 half = Vec3::Zero();
  for (int i = 1; i < count; ++i) {
    const Vec3 e = corner[i] - corner[0];
    half[i - 1] = 0.5 * e.squaredNorm();
    for (int j = 1; j < count; ++j) G(i - 1, j - 1) = e.dot(corner[j] - corner[0]);
  }
  double size = 1;
  for (int i = 1; i < count; ++i) size *= G(i - 1, i - 1);
  const double det = G.determinant();
  if (!(det > 1e-14 * size)) return false;
  const Vec3 share = G.inverse() * half;
  Vec3 x = Vec3::Zero();
  for (int i = 1; i < count; ++i) x += share[i - 1] * (corner[i] - corner[0]);
  out = {corner[0] + x, x.norm()};
  return true;
}

bool holds(const Ball& ball, const Vec3& p) {
  return (p - ball.center).norm() <= ball.radius * (1 + rounding);
}

// The smallest ball around at most five points, and which of them it stands on.
Ball smallest(const std::vector<Vec3>& of, std::vector<Vec3>& holders) {
  Ball best{Vec3::Zero(), std::numeric_limits<double>::infinity()};
  std::vector<Vec3> found;
  for (unsigned set = 1; set < (1u << of.size()); ++set) {
    std::array<Vec3, 4> corner;
    int count = 0;
    for (std::size_t i = 0; i < of.size() && count <= 4; ++i)
      if ((set >> i) & 1u) {
        if (count < 4) corner[count] = of[i];
        ++count;
      }
    Ball ball;
    if (count > 4 || !circumscribe(corner, count, ball) || ball.radius >= best.radius) continue;
    bool all = true;
    for (const Vec3& p : of) all = all && holds(ball, p);
    if (!all) continue;
    best = ball;
    found.assign(corner.begin(), corner.begin() + count);
  }
  holders = found;
  return best;
}

}  // namespace

Ball enclosing_ball(const std::vector<Vec3>& points) {
  if (points.empty()) return {};
  Ball ball{points[0], 0};
  std::vector<Vec3> holders{points[0]};
  constexpr int most_rounds = 1000;  // a handful, unless rounding lets two sets alternate
  for (int round = 0; round < most_rounds; ++round) {
    const Vec3* outside = nullptr;
    double most = ball.radius * (1 + rounding);
    for (const Vec3& p : points)
      if (const double d = (p - ball.center).norm(); d > most) most = d, outside = &p;
    if (!outside) return ball;
    std::vector<Vec3> tried = holders;
    tried.push_back(*outside);
    const Ball next = smallest(tried, holders);
    if (!(next.radius > ball.radius) || !std::isfinite(next.radius)) return {ball.center, most};
    ball = next;
  }
  return ball;
}

}  // namespace limber::math
