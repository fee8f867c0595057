// Random numbers, poses and solids, and how two solids touch, for the tests of contact.
#pragma once

#include <algorithm>
#include <random>

#include "limber/contact/collide.h"
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

inline Manifold touch(const Solid& a, const Solid& b, double margin = 10) {
  Collider scratch;
  Manifold m;
  collide(a, b, margin, scratch, m);
  return m;
}
inline double lowest_gap(const Manifold& m) {
  double gap = 1e9;
  for (int i = 0; i < m.count; ++i) gap = std::min(gap, m.points[i].gap);
  return gap;
}

}  // namespace limber::contact
