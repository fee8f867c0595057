// The contact library against brute force and closed forms.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "limber/contact/box_tree.h"
#include "limber/contact/segments.h"
#include "limber/contact/solid.h"
#include "limber/contact/sparse_cone.h"
#include "random.h"

namespace limber::contact {
namespace {

TEST(Segments, ClosestPointsBeatEverySample) {
  Random random;
  for (int k = 0; k < 300; ++k) {
    const Vec3 a = random.point(1), b = random.point(1), c = random.point(1), d = random.point(1);
    const SegmentPair found = closest(a, b, c, d);
    EXPECT_NEAR((a + found.s * (b - a) - c - found.t * (d - c)).norm(), found.distance, 1e-12);
    for (int i = 0; i <= 20; ++i)
      for (int j = 0; j <= 20; ++j)
        ASSERT_GE((a + i / 20.0 * (b - a) - c - j / 20.0 * (d - c)).norm(), found.distance - 1e-12);
  }
}

TEST(Segments, SideBySideMeetInTheMiddle) {
  const auto found = closest(Vec3(0, 0, 0), Vec3(2, 0, 0), Vec3(1, 1, 0), Vec3(5, 1, 0));
  EXPECT_NEAR(found.distance, 1, 1e-15);
  EXPECT_NEAR(found.s, 0.75, 1e-12);  // the middle of 1 … 2
}

TEST(Segments, TimeOfImpactOfCrossingRods) {
  // One along x falls from z = 1 to −1 onto one along y: within 0.2 at z = 0.2, t = 0.4.
  const MovingSegment falling{{-1, 0, 1}, {1, 0, 1}, {-1, 0, -1}, {1, 0, -1}};
  const MovingSegment resting{{0, -1, 0}, {0, 1, 0}, {0, -1, 0}, {0, 1, 0}};
  EXPECT_NEAR(time_of_impact(falling, resting, 0.2), 0.4, 1e-6);
  const MovingSegment aside{{-1, 2, 1}, {1, 2, 1}, {-1, 2, -1}, {1, 2, -1}};
  EXPECT_EQ(time_of_impact(aside, resting, 0.2), 2);
}

TEST(Segments, NothingTunnels) {
  Random random;
  for (int k = 0; k < 200; ++k) {
    MovingSegment p{random.point(1), random.point(1), random.point(1), random.point(1)};
    MovingSegment q{random.point(1), random.point(1), random.point(1), random.point(1)};
    const double t = time_of_impact(p, q, 0.05);
    for (int i = 0; i <= 400; ++i) {
      const double s = i / 400.0;
      if (s >= t) break;
      const auto at = [&](const Vec3& x, const Vec3& y) -> Vec3 { return x + s * (y - x); };
      ASSERT_GT(closest(at(p.a0, p.a1), at(p.b0, p.b1), at(q.a0, q.a1), at(q.b0, q.b1)).distance,
                0.05 - 1e-6);
    }
  }
}

TEST(Solid, DistancesByHand) {
  const Solid box{Box{Vec3(1, 2, 3)}, Pose::translation({10, 0, 0})};
  EXPECT_NEAR(distance(box, Vec3(12, 0, 0)).value, 1, 1e-15);
  EXPECT_NEAR(distance(box, Vec3(10.9, 0, 0)).value, -0.1, 1e-12);
  EXPECT_NEAR(distance(box, Vec3(12, 3, 3)).value, std::sqrt(2.0), 1e-12);
  const Solid rod{Cylinder{1, 4}, Pose::identity()};
  EXPECT_NEAR(distance(rod, Vec3(2, 0, 0)).value, 1, 1e-15);
  EXPECT_NEAR(distance(rod, Vec3(0, 0, 2.5)).value, 0.5, 1e-15);
  EXPECT_NEAR(distance(rod, Vec3(4, 0, 6)).value, 5, 1e-12);
  EXPECT_NEAR(distance(Solid{Capsule{1, 4}, {}}, Vec3(0, 0, 4)).value, 1, 1e-15);
  EXPECT_NEAR(distance(Solid{HalfSpace{}, {}}, Vec3(7, 8, -2)).value, -2, 1e-15);
}

TEST(Solid, ClosestPlaceOfASegment) {
  Random random;
  const Geometry shapes[] = {Sphere{0.4},        Capsule{0.2, 0.8},
                             Cylinder{0.3, 0.7}, Box{Vec3(0.2, 0.4, 0.3)},
                             HalfSpace{},        random_hull(random, 20)};
  for (const Geometry& g : shapes)
    for (int k = 0; k < 60; ++k) {
      const Solid solid{g, {math::so3_exp(random.point(2)), random.point(0.3)}};
      // Outside the solid distance is convex along the segment and the search exact.
      const Vec3 a = random.point(2) + Vec3(0, 0, 3), b = random.point(2) + Vec3(0, 0, 3);
      const SegmentTouch found = closest(solid, a, b);
      for (int i = 0; i <= 200; ++i)
        ASSERT_GE(distance(solid, Vec3(a + i / 200.0 * (b - a))).value, found.distance.value - 1e-6);
    }
}

TEST(BoxTree, FindsEveryPairOnce) {
  Random random;
  BoxTree tree;
  const int n = 77;
  tree.resize(n);
  std::set<std::pair<int, int>> wanted, found;
  for (int i = 0; i < n; ++i) {
    const Vec3 p = random.point(1);
    tree.box(i) = {p, p + Vec3::Constant(0.2)};
  }
  tree.refit();
  for (int i = 0; i < n; ++i)
    for (int k = i + 1; k < n; ++k)
      if (BoxTree::overlap(tree.box(i), tree.box(k))) wanted.insert({i, k});
  tree.self_pairs([&](int i, int k) { EXPECT_TRUE(found.insert({i, k}).second); });
  EXPECT_EQ(found, wanted);
  EXPECT_GT(wanted.size(), 10u);
  int hits = 0;
  tree.query({Vec3::Constant(-2), Vec3::Constant(2)}, [&](int) { ++hits; });
  EXPECT_EQ(hits, n);
}

// A block of mass 1 on a floor, pushed sideways for a step: W = h²/m for every row.
ConeProblem block_on_floor(ContactMatrix& W, const double* free, const double* mu, double w) {
  W.start = {0, 1};
  W.columns = {0};
  W.diagonal = {0};
  W.values.assign(16, 0);
  for (int i = 0; i < 3; ++i) W.values[5 * i] = w;
  return {1, &W, free, mu};
}

TEST(Cone, SticksAndSlidesAsCoulombSays) {
  ContactMatrix W;
  const double w = 1e-4, mu = 0.5;  // weight 10 N: a fall of w·10 without the floor
  const double sticking[4] = {-w * 10, w * 3, w * 2, 0}, sliding[4] = {-w * 10, w * 6, w * 8, 0};
  double lambda[4] = {};
  SparseCone().solve(block_on_floor(W, sticking, &mu, w), 1e-15, 100, lambda);
  EXPECT_NEAR(lambda[0], 10, 1e-9);
  EXPECT_NEAR(lambda[1], -3, 1e-9);
  EXPECT_NEAR(lambda[2], -2, 1e-9);
  std::fill_n(lambda, 4, 0.0);
  SparseCone().solve(block_on_floor(W, sliding, &mu, w), 1e-15, 100, lambda);
  EXPECT_NEAR(lambda[0], 10, 1e-9);
  EXPECT_NEAR(lambda[1], -5 * 0.6, 1e-9);  // μN against the slip
  EXPECT_NEAR(lambda[2], -5 * 0.8, 1e-9);
  const double lifted[4] = {w, w, 0, 0};
  SparseCone().solve(block_on_floor(W, lifted, &mu, w), 1e-15, 100, lambda);
  EXPECT_EQ(lambda[0], 0);
  EXPECT_EQ(lambda[1], 0);
}

}  // namespace
}  // namespace limber::contact
