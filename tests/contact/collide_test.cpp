// Contact of solids against closed forms, brute force and themselves in another place.
#include "limber/contact/collide.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "random.h"

namespace limber::contact {
namespace {

// s(n) = min over a of n·x − max over b of n·y, by the supports alone.
double gap_along(const Convex& a, const Convex& b, const Vec3& n) {
  return -reach(a, -n) - reach(b, n) - a.radius - b.radius;
}

// The best of many directions, then of ever smaller turns of the best few: slow, and knows nothing of faces.
double brute_gap(const Convex& a, const Convex& b) {
  struct Try {
    double s;
    Vec3 n;
  };
  std::vector<Try> tries;
  const int count = 600;
  for (int i = 0; i < count; ++i) {
    const double z = 1 - (2 * i + 1.0) / count, r = std::sqrt(1 - z * z), t = 2.399963229728653 * i;
    const Vec3 n(r * std::cos(t), r * std::sin(t), z);
    tries.push_back({gap_along(a, b, n), n});
  }
  std::sort(tries.begin(), tries.end(), [](const Try& x, const Try& y) { return x.s > y.s; });
  double best = -1e9;
  Random random;
  for (int k = 0; k < 8; ++k) {
    Try at = tries[k];
    double step = 0.1;
    for (int round = 0; round < 600; ++round) {
      const Vec3 n = (at.n + step * random.point(1)).normalized();
      if (const double s = gap_along(a, b, n); s > at.s)
        at = {s, n}, step *= 1.5;
      else
        step *= 0.93;
    }
    best = std::max(best, at.s);
  }
  return best;
}

const std::vector<Geometry>& convex_shapes() {
  static const std::vector<Geometry> shapes = [] {
    Random random;
    return std::vector<Geometry>{Sphere{0.4}, Capsule{0.2, 0.8}, Cylinder{0.3, 0.7}, Box{Vec3(0.2, 0.4, 0.3)},
                                 random_hull(random, 12)};
  }();
  return shapes;
}

TEST(Collide, GapIsTheBestOfAllDirections) {
  Random random;
  int overlaps = 0, apart = 0;
  for (const Geometry& f : convex_shapes())
    for (const Geometry& g : convex_shapes())
      for (int k = 0; k < 40; ++k) {
        const Solid a{f, random.pose(0.3)}, b{g, random.pose(0.3 + 0.02 * k)};
        const Manifold m = touch(a, b);
        ASSERT_GT(m.count, 0);
        Convex ca, cb;
        place(a.geometry, a.X_WG, ca);
        place(b.geometry, b.X_WG, cb);
        const double found = lowest_gap(m), brute = brute_gap(ca, cb);
        (found < 0 ? overlaps : apart) += 1;
        // Brute force falls short of the maximum by its last steps; the climb of a cylinder may end at
        // another maximum that is lower.
        const bool curved = ca.cylinder || cb.cylinder;
        ASSERT_GE(found, brute - (curved && found < 0 ? 1e-3 : 2e-6))
            << f.index() << " " << g.index() << " " << k;
        ASSERT_LE(found, brute + 5e-3) << f.index() << " " << g.index() << " " << k;
      }
  EXPECT_GT(overlaps, 200);
  EXPECT_GT(apart, 200);
}

// Every point: on both surfaces, its gap along its normal, no more than the margin.
void expect_consistent(const Solid& a, const Solid& b, const Manifold& m, double margin) {
  for (int i = 0; i < m.count; ++i) {
    const ContactPoint& p = m.points[i];
    ASSERT_NEAR(p.normal.norm(), 1, 1e-12);
    ASSERT_NEAR((p.on_a - p.on_b).dot(p.normal), p.gap, 1e-9);
    ASSERT_NEAR((p.on_a - p.on_b - p.gap * p.normal).norm(), 0, 1e-9);
    ASSERT_LT(p.gap, margin);
    // A climb to a cylinder's normal ends when depth stops changing; the touching point is known to its root.
    const bool curved =
        std::holds_alternative<Cylinder>(a.geometry) || std::holds_alternative<Cylinder>(b.geometry);
    const double known = curved && p.gap < 0 ? 1e-4 : 1e-8;
    ASSERT_LT(distance(a, p.on_a).value, known);
    ASSERT_LT(distance(b, p.on_b).value, known);
  }
}

TEST(Collide, PointsLieOnTheirSolids) {
  Random random;
  for (const Geometry& f : convex_shapes())
    for (const Geometry& g : convex_shapes())
      for (int k = 0; k < 100; ++k) {
        const Solid a{f, random.pose(0.3)}, b{g, random.pose(0.6)};
        for (const double margin : {0.0, 0.05, 0.3}) expect_consistent(a, b, touch(a, b, margin), margin);
      }
}

TEST(Collide, TheOtherWayRoundIsTheSame) {
  Random random;
  std::vector<Geometry> shapes = convex_shapes();
  shapes.push_back(HalfSpace{});
  for (const Geometry& f : shapes)
    for (const Geometry& g : shapes)
      for (int k = 0; k < 40; ++k) {
        const Solid a{f, random.pose(0.3)}, b{g, random.pose(0.6)};
        const Manifold m = touch(a, b, 0.2), w = touch(b, a, 0.2);
        ASSERT_EQ(m.count, w.count);
        for (int i = 0; i < m.count; ++i) {
          ASSERT_EQ(m.points[i].on_a, w.points[i].on_b);
          ASSERT_EQ(m.points[i].normal, Vec3(-w.points[i].normal));
          ASSERT_EQ(m.points[i].gap, w.points[i].gap);
          ASSERT_EQ(m.points[i].feature, w.points[i].feature);
        }
      }
}

// Gap and normal change with the pose by no more than the pose does.
TEST(Collide, GapsAreContinuous) {
  Random random;
  for (const Geometry& f : convex_shapes())
    for (const Geometry& g : convex_shapes())
      for (int k = 0; k < 40; ++k) {
        const Solid a{f, random.pose(0.3)};
        Solid b{g, random.pose(0.6)};
        const double before = lowest_gap(touch(a, b));
        const Vec3 move = 1e-5 * random.direction();
        b.X_WG.p += move;
        ASSERT_NEAR(lowest_gap(touch(a, b)), before, 1e-5 + 1e-6)
            << f.index() << " " << g.index() << " " << k;
      }
}

TEST(Collide, BallsByHand) {
  const Manifold m = touch({Sphere{1}, {}}, {Sphere{2}, Pose::translation({0, 0, -2.5})});
  ASSERT_EQ(m.count, 1);
  EXPECT_NEAR(m.points[0].gap, -0.5, 1e-15);
  EXPECT_NEAR((m.points[0].normal - Vec3::UnitZ()).norm(), 0, 1e-15);
  const Manifold in = touch({Sphere{1}, Pose::translation({0.9, 0, 0})}, {Box{Vec3::Ones()}, {}});
  EXPECT_NEAR(in.points[0].gap, -1.1, 1e-15);
  EXPECT_NEAR((in.points[0].normal - Vec3::UnitX()).norm(), 0, 1e-15);
}

TEST(Collide, ABoxRestsOnFourCorners) {
  Collider scratch;
  const Solid floor{Box{Vec3(5, 5, 1)}, Pose::translation({0, 0, -1})}, plane{HalfSpace{}, {}};
  const Solid hull{make_hull({{-5, -5, -2},
                              {5, -5, -2},
                              {5, 5, -2},
                              {-5, 5, -2},
                              {-5, -5, 0},
                              {5, -5, 0},
                              {5, 5, 0},
                              {-5, 5, 0}}),
                   {}};
  // A little above and a little inside, tilted by what a solver leaves: four corners with the same names.
  for (const Solid& ground : {floor, plane, hull}) {
    std::vector<std::uint32_t> names;
    for (const double h : {1e-3, 1e-9, 0.0, -1e-9, -1e-3})
      for (const double tilt : {0.0, 1e-9, -1e-6, 1e-5}) {
        const Solid box{Box{Vec3(0.3, 0.2, 0.1)},
                        {math::so3_exp({tilt, 0.7 * tilt, 0.4}), {0.3, 0.1, 0.1 + h}}};
        Manifold m;
        collide(box, ground, 0.01, scratch, m);
        ASSERT_EQ(m.count, 4) << h << " " << tilt;
        std::vector<std::uint32_t> now;
        for (int i = 0; i < 4; ++i) {
          EXPECT_NEAR(m.points[i].gap, h, 1e-12 + std::abs(tilt));
          EXPECT_GT(m.points[i].normal.z(), 1 - 1e-9);
          now.push_back(m.points[i].feature);
        }
        std::sort(now.begin(), now.end());
        if (names.empty()) names = now;
        EXPECT_EQ(now, names);
      }
  }
}

TEST(Collide, StackedBoxesTouchOverTheirOverlap) {
  const Solid low{Box{Vec3(0.5, 0.5, 0.5)}, {}},
      high{Box{Vec3(0.5, 0.5, 0.5)}, {math::rotation_z(pi / 4), {0, 0, 0.999}}};
  const Manifold m = touch(high, low, 0.01);
  ASSERT_EQ(m.count, 8);  // a regular octagon of inradius 0.5
  for (int i = 0; i < 8; ++i) {
    EXPECT_NEAR(m.points[i].gap, -1e-3, 1e-12);
    EXPECT_NEAR(m.points[i].on_a.head<2>().norm(), 0.5 / std::cos(pi / 8), 1e-9);
  }
}

TEST(Collide, CrossedEdges) {
  // Two cubes, each on an edge, one edge along x below, one along y above: gap by hand, normal z.
  const double s = std::sqrt(0.5);
  for (const double gap : {0.1, 1e-6, -1e-6, -0.1}) {
    const Solid low{Box{Vec3::Constant(0.5)}, {math::rotation_x(pi / 4), {0, 0, 0}}},
        high{Box{Vec3::Constant(0.5)}, {math::rotation_y(pi / 4), {0.1, 0.05, 2 * s + gap}}};
    const Manifold m = touch(high, low, 0.5);
    ASSERT_EQ(m.count, 1);
    EXPECT_NEAR(m.points[0].gap, gap, 1e-12);
    EXPECT_NEAR((m.points[0].normal - Vec3::UnitZ()).norm(), 0, 1e-9);
    EXPECT_NEAR((m.points[0].on_b - Vec3(0.1, 0, s)).norm(), 0, 1e-9);
  }
}

TEST(Collide, CapsulesAndCylindersLieAlong) {
  const Solid floor{Box{Vec3(5, 5, 1)}, Pose::translation({0, 0, -1})};
  const Pose lying{math::rotation_y(pi / 2), {0, 0, 0.2 - 1e-4}};
  for (const Geometry& g : {Geometry(Capsule{0.2, 1}), Geometry(Cylinder{0.2, 1})})
    for (const Geometry& h : {floor.geometry, Geometry(HalfSpace{})}) {
      const Solid ground{h, std::holds_alternative<HalfSpace>(h) ? Pose{} : floor.X_WG};
      const Manifold m = touch({g, lying}, ground, 1e-3);
      ASSERT_EQ(m.count, 2);
      for (int i = 0; i < 2; ++i) {
        EXPECT_NEAR(m.points[i].gap, -1e-4, 1e-12);
        EXPECT_NEAR(std::abs(m.points[i].on_a.x()), 0.5, 1e-9);
      }
    }
  // Side by side.
  const Manifold m = touch({Capsule{0.2, 1}, {}}, {Capsule{0.3, 2}, Pose::translation({0.49, 0, 0.7})}, 1e-3);
  ASSERT_EQ(m.count, 2);
  EXPECT_NEAR(m.points[0].gap, -0.01, 1e-12);
  EXPECT_NEAR(std::abs(m.points[0].on_a.z() - m.points[1].on_a.z()), 0.8, 1e-9);
  // A standing cylinder has its rim.
  const Manifold stand = touch({Cylinder{0.2, 1}, Pose::translation({0, 0, 0.5})}, floor, 1e-3);
  EXPECT_EQ(stand.count, 8);
  EXPECT_NEAR(lowest_gap(stand), 0, 1e-12);
}

TEST(Collide, HullsOfBoxesAreBoxes) {
  Random random;
  for (int k = 0; k < 300; ++k) {
    const Vec3 h(random(0.1, 0.5), random(0.1, 0.5), random(0.1, 0.5));
    std::vector<Vec3> corners;
    for (int i = 0; i < 8; ++i)
      corners.push_back(h.cwiseProduct(Vec3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1)));
    corners.push_back(Vec3(0.3 * h.x(), -0.2 * h.y(), h.z()));  // on a face
    corners.push_back(Vec3(h.x(), -0.2 * h.y(), h.z()));        // on an edge
    corners.push_back(0.5 * h);                                 // inside
    const Hull hull = make_hull(corners);
    ASSERT_EQ(hull.hull->vertices.size(), 8u);
    ASSERT_EQ(hull.hull->faces.size(), 6u);
    ASSERT_EQ(hull.hull->edges.size(), 12u);
    const Pose X = random.pose(0.3);
    const Solid other{convex_shapes()[k % 5], random.pose(0.6)};
    const Manifold m = touch({hull, X}, other, 0.1), w = touch({Box{h}, X}, other, 0.1);
    ASSERT_EQ(m.count, w.count);
    ASSERT_NEAR(lowest_gap(m), lowest_gap(w), 1e-9);
  }
}

TEST(ConvexHull, EulerAndConvexity) {
  Random random;
  for (int k = 0; k < 60; ++k) {
    std::vector<Vec3> points;
    for (int i = 0; i < 5 + 2 * k; ++i) points.push_back(k % 2 ? random.point(1) : random.direction());
    const math::ConvexHull hull = math::convex_hull(points);
    ASSERT_EQ(hull.vertices.size() + hull.faces.size(), hull.edges.size() + 2);
    ASSERT_TRUE(k % 2 == 1 || hull.vertices.size() == points.size());  // all on a sphere
    for (const math::HullFace& f : hull.faces)
      for (const Vec3& p : points) ASSERT_LT(f.normal.dot(p - hull.vertices[hull.loops[f.first]]), 1e-9);
  }
  EXPECT_THROW(math::convex_hull({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {3, 2, 0}}),
               std::invalid_argument);
  EXPECT_THROW(math::convex_hull({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}), std::invalid_argument);
}

// Of many points the same eight are kept however the world is turned, also where several are as good.
TEST(Collide, KeepsTheSamePointsInATurnedWorld) {
  Random random;
  for (int k = 0; k < 100; ++k) {
    const Pose turn = random.pose(1);
    std::vector<ContactPoint> points, turned;
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 3; ++j) {  // every second time a grid, all as deep
        const Vec3 x = Vec3(0.1 * i, 0.1 * j, 0) + (k % 2 ? random.point(0.04) : Vec3(0, 0, 0));
        const double gap = k % 2 ? random(-0.01, 0) : -0.01;
        const auto feature = static_cast<std::uint32_t>(points.size());
        points.push_back({x + gap * Vec3::UnitZ(), x, Vec3::UnitZ(), gap, feature});
        turned.push_back({turn * points.back().on_a, turn * x, turn.R.col(2), gap, feature});
      }
    Manifold m, w;
    reduce(points, m), reduce(turned, w);
    ASSERT_EQ(m.count, 8);
    ASSERT_EQ(w.count, 8);
    for (int i = 0; i < 8; ++i) EXPECT_EQ(m.points[i].feature, w.points[i].feature) << k;
  }
}

}  // namespace
}  // namespace limber::contact
