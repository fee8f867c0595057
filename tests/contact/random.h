// Random numbers, poses and solids for the tests of contact.
#pragma once

#include <random>

#include "limber/contact/solid.h"

namespace limber::contact {

struct Random {
  std::mt19937 engine{7};
  double operator()(double a, double b) { return std::uniform_real_distribution<double>(a, b)(engine); }
  Vec3 point(double size) { return {(*this)(-size, size), (*this)(-size, size), (*this)(-size, size)}; }
  Vec3 direction() {
    while (true)
      if (const Vec3 p = point(1); p.norm() < 1 && p.norm() > 0.1) return p.normalized();
  }
  Pose pose(double size) { return {math::so3_exp(point(2)), point(size)}; }
};

inline Hull make_hull(const std::vector<Vec3>& points) {
  return {std::make_shared<const math::ConvexHull>(math::convex_hull(points))};
}
inline Hull random_hull(Random& random, int points) {
  std::vector<Vec3> p;
  for (int i = 0; i < points; ++i) p.push_back(random.point(0.5));
  return make_hull(p);
}

}  // namespace limber::contact
