#include "limber/elastic/triangulate.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <string>

#include "limber/math/trig.h"

namespace limber::elastic {
namespace {

using Ring = std::vector<Vec2>;

double area(const TriangleMesh& mesh) {
  double sum = 0;
  for (int t = 0; t < static_cast<int>(mesh.triangles.size()); ++t) sum += mesh.area(t);
  return sum;
}

double area(const Ring& ring) {
  double sum = 0;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const Vec2 &a = ring[i], &b = ring[(i + 1) % ring.size()];
    sum += 0.5 * (a[0] * b[1] - a[1] * b[0]);
  }
  return sum;
}

// Neighbours agree, triangles are counter-clockwise, and V − E + F counts the holes.
void check_valid(const TriangleMesh& mesh, int holes) {
  int boundary = 0;
  for (int t = 0; t < static_cast<int>(mesh.triangles.size()); ++t) {
    ASSERT_GT(mesh.area(t), 0);
    for (int i = 0; i < 3; ++i) {
      const Triangle& T = mesh.triangles[t];
      const int u = T.neighbor[i];
      ASSERT_EQ(u < 0, T.ring[i] >= 0);
      if (u < 0) {
        ++boundary;
        continue;
      }
      const Triangle& U = mesh.triangles[u];
      const int j = mesh.edge_towards(u, t);
      ASSERT_EQ(U.neighbor[j], t);
      ASSERT_EQ(U.v[next3(j)], T.v[previous3(i)]);
      ASSERT_EQ(U.v[previous3(j)], T.v[next3(i)]);
    }
  }
  const int f = static_cast<int>(mesh.triangles.size()), e = (3 * f + boundary) / 2;
  ASSERT_EQ(static_cast<int>(mesh.points.size()) - e + f, 1 - holes);
}

TEST(Triangulate, SquareWithTwoHoles) {
  const Polygon p{
      {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}},
      {{{-0.8, -0.5}, {-0.1, -0.5}, {-0.1, 0.5}, {-0.8, 0.5}}, {{0.2, 0}, {0.7, 0.1}, {0.4, 0.6}}}};
  const auto rings = polygon_rings(p);
  TriangleMesh mesh = triangulate(rings);
  check_valid(mesh, 2);
  EXPECT_NEAR(area(mesh), area(rings[0]) + area(rings[1]) + area(rings[2]), 1e-14);
  refine_angles(mesh, 0.354, 5000);
  check_valid(mesh, 2);
  EXPECT_LT(mesh.triangles.size(), 1000u);
  for (int t = 0; t < static_cast<int>(mesh.triangles.size()); ++t)
    EXPECT_GE(mesh.smallest_angle_sine(t), 0.354);
}

RC_GTEST_PROP(Triangulate, StarShapedPolygons, ()) {
  // Random radii at rising angles: never self-crossing, any number of re-entrant corners.
  const int n = *rc::gen::inRange(3, 80);
  Ring ring;
  for (int i = 0; i < n; ++i) {
    const double r = *rc::gen::inRange(200, 1000) / 1000.0;
    const auto [s, c] = math::sincos(2 * pi * i / n);
    ring.push_back({r * c, r * s});
  }
  const auto rings = polygon_rings({ring, {}});
  TriangleMesh mesh = triangulate(rings);
  check_valid(mesh, 0);
  RC_ASSERT(std::abs(area(mesh) - area(ring)) < 1e-13);
  RC_ASSERT(mesh.triangles.size() == rings[0].size() - 2);
  refine_angles(mesh, 0.3, 2000);
  check_valid(mesh, 0);
  std::vector<int> marked;
  for (int t = 0; t < static_cast<int>(mesh.triangles.size()); t += 3) marked.push_back(t);
  refine_marked(mesh, marked);
  check_valid(mesh, 0);
  RC_ASSERT(std::abs(area(mesh) - area(ring)) < 1e-12);
}

TEST(Triangulate, SensesAndStraightPointsDoNotMatter) {
  const auto rings =
      polygon_rings({{{0, 1}, {1, 1}, {1, 0.5}, {1, 0}, {0, 0}}, {{{0.2, 0.2}, {0.4, 0.2}, {0.4, 0.4}}}});
  EXPECT_EQ(rings[0].size(), 4u);
  EXPECT_NEAR(area(rings[0]), 1, 1e-15);
  EXPECT_NEAR(area(rings[1]), -0.02, 1e-15);
}

std::string complaint(const Polygon& p) {
  try {
    polygon_rings(p);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

TEST(Triangulate, SaysWhatIsWrongWithAPolygon) {
  const Ring square{{0, 0}, {1, 0}, {1, 1}, {0, 1}};
  EXPECT_EQ(complaint({{{0, 0}, {1, 0}}, {}}), "polygon: the outline needs at least three points, got 2");
  EXPECT_EQ(complaint({{{0, 0}, {1, 1}, {1, 0}, {0, 1}}, {}}),
            "polygon: the outline crosses or touches itself: its sides 1 and 3 meet");
  EXPECT_EQ(complaint({{{0, 0}, {1, 0}, {1, 0}, {0, 1}}, {}}),
            "polygon: points 2 and 3 of the outline coincide");
  EXPECT_EQ(complaint({{{0, 0}, {1, 0}, {0, 1}, {0, 0}}, {}}),
            "polygon: points 4 and 1 of the outline coincide (the outline closes by itself: leave out the "
            "repeated point)");
  EXPECT_EQ(complaint({{{0, 0}, {1, 0}, {0.5, 0}, {0.5, 1}}, {}}),
            "polygon: the outline turns straight back at point 2");
  EXPECT_EQ(complaint({square, {{{2, 2}, {3, 2}, {3, 3}}}}), "polygon: hole 1 lies outside the outline");
  EXPECT_EQ(complaint({square, {{{0.5, 0.5}, {1.5, 0.5}, {0.5, 0.7}}}}),
            "polygon: hole 1 touches or crosses the outline");
  EXPECT_EQ(complaint({square, {{{0, 0.5}, {0.5, 0.4}, {0.5, 0.6}}}}),
            "polygon: hole 1 touches or crosses the outline");
  EXPECT_EQ(complaint({square, {{{0.1, 0.1}, {0.9, 0.1}, {0.5, 0.9}}, {{0.4, 0.3}, {0.6, 0.3}, {0.5, 0.4}}}}),
            "polygon: hole 2 lies inside hole 1");
  EXPECT_EQ(complaint({{{0, 0}, {1, 0}, {2, 0}}, {}}).substr(0, 8), "polygon:");
  EXPECT_EQ(complaint({{{0, 0}, {1, NAN}, {2, 0}}, {}}), "polygon: point 2 of the outline is not finite");
  EXPECT_EQ(complaint({Ring(2001, Vec2(0, 0)), {}}), "polygon: at most 2000 points, got 2001");
  // A bow of two triangles that share a corner point.
  EXPECT_EQ(complaint({{{0, 0}, {1, 1}, {2, 0}, {2, 2}, {1, 1}, {0, 2}}, {}}).substr(0, 37),
            "polygon: the outline crosses or touch");
}

TEST(Triangulate, SizesFromNanometresToKilometres) {
  for (const double scale : {1e-9, 1e-3, 1.0, 1e4})
    for (const double shift : {0.0, 100.0}) {
      Polygon p{{{0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}}, {}};
      for (Vec2& v : p.outline) v = scale * (v + Vec2(shift, -shift));
      EXPECT_EQ(complaint(p), "");
    }
}

}  // namespace
}  // namespace limber::elastic
