// Meshes and height fields: distances, one side only, and no catching on inner edges.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "limber/contact/collide.h"
#include "random.h"

namespace limber::contact {
namespace {

template <class Height>
HeightField field(double size, int n, Height height) {
  std::vector<double> h;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i)
      h.push_back(height((static_cast<double>(i) / (n - 1) - 0.5) * size,
                         (static_cast<double>(j) / (n - 1) - 0.5) * size));
  return {std::make_shared<const TriangleSurface>(make_height_field(size, size, n, n, h))};
}

Mesh mesh_of(const math::ConvexHull& hull) {
  std::vector<std::array<int, 3>> triangles;
  for (const math::HullFace& f : hull.faces)
    for (int i = 1; i + 1 < f.count; ++i)
      triangles.push_back({hull.loops[f.first], hull.loops[f.first + i], hull.loops[f.first + i + 1]});
  return {std::make_shared<const TriangleSurface>(make_surface(hull.vertices, triangles))};
}

const std::vector<Geometry>& bodies() {
  static const std::vector<Geometry> shapes = [] {
    Random random;
    return std::vector<Geometry>{Sphere{0.13}, Capsule{0.05, 0.3}, Cylinder{0.1, 0.25},
                                 Box{Vec3(0.1, 0.15, 0.08)}, random_hull(random, 14)};
  }();
  return shapes;
}

// Every body on flat ground of many triangles touches as on a half space: same depth, normals upright.
TEST(Surface, FlatGroundIsAPlane) {
  Random random;
  const Solid plane{HalfSpace{}, {}};
  std::vector<Vec3> vertices;
  std::vector<std::array<int, 3>> triangles;
  const HeightField flat = field(4, 23, [](double, double) { return 0.0; });
  const Mesh sheet{
      std::make_shared<const TriangleSurface>(make_surface(flat.surface->vertices, flat.surface->triangles))};
  for (const Geometry& ground : {Geometry(flat), Geometry(sheet)})
    for (const Geometry& g : bodies())
      for (int k = 0; k < 60; ++k) {
        Solid body{g, random.pose(1)};
        body.X_WG.p.z() = 0;
        body.X_WG.p.z() =
            -lowest_gap(touch(body, plane, 10)) + (k % 3 - 1) * 0.02;  // above, touching, inside
        const Manifold m = touch(body, {ground, {}}, 0.03), w = touch(body, plane, 0.03);
        ASSERT_GT(m.count, 0);
        ASSERT_NEAR(lowest_gap(m), lowest_gap(w), 1e-9) << g.index() << " " << k;
        for (int i = 0; i < m.count; ++i)
          ASSERT_GT(m.points[i].normal.z(), 1 - 1e-9) << g.index() << " " << k;
      }
}

TEST(Surface, DeepInTheGroundIsPushedUp) {
  const HeightField hills =
      field(4, 30, [](double x, double y) { return 0.2 * std::sin(2 * x) + 0.1 * std::cos(3 * y); });
  Random random;
  for (const Geometry& g : bodies())
    for (int k = 0; k < 20; ++k) {
      Solid body{g, random.pose(1)};
      body.X_WG.p.z() = -1.5;  // wholly below
      const Manifold m = touch(body, {hills, {}}, 0.01);
      ASSERT_GT(m.count, 0);
      for (int i = 0; i < m.count; ++i) {
        ASSERT_GT(m.points[i].normal.z(), 0.5);
        ASSERT_LT(m.points[i].gap, -0.5);
      }
    }
}

// A box slides over a floor of triangles: nothing but upright normals, the support keeps its width.
TEST(Surface, SlidingCatchesOnNoInnerEdge) {
  const HeightField flat = field(2, 20, [](double, double) { return 0.0; });
  for (int k = 0; k < 400; ++k) {
    const double x = -0.7 + 1.4 * k / 400;
    const Solid box{Box{Vec3(0.1, 0.15, 0.08)}, {math::rotation_z(0.3), {x, 0.37 * x, 0.08 - 1e-4}}};
    const Manifold m = touch(box, {flat, {}}, 1e-3);
    ASSERT_GE(m.count, 4);
    Vec3 low = Vec3::Constant(1e9), high = -low;
    for (int i = 0; i < m.count; ++i) {
      ASSERT_NEAR(m.points[i].gap, -1e-4, 1e-12);
      const Vec3 p = box.X_WG.R.transpose() * (m.points[i].on_a - box.X_WG.p);
      low = low.cwiseMin(p), high = high.cwiseMax(p);
    }
    // Of the eight kept points the outermost of the box's corners are some.
    ASSERT_GT(high.x() - low.x(), 0.19);
    ASSERT_GT(high.y() - low.y(), 0.29);
  }
}

// The mesh of a hull is the hull, for bodies that overlap it little.
TEST(Surface, MeshOfAHullIsTheHull) {
  Random random;
  int touched = 0;
  for (int k = 0; k < 1000; ++k) {
    const Hull big = random_hull(random, 16);
    const Mesh mesh = mesh_of(*big.hull);
    const Pose X = random.pose(0.2);
    const Solid body{bodies()[k % 5], random.pose(0.9)};
    const Manifold w = touch(body, {big, X}, 0.05), m = touch(body, {mesh, X}, 0.05);
    if (w.count == 0 || lowest_gap(w) < -0.02) continue;
    ++touched;
    ASSERT_GT(m.count, 0);
    ASSERT_NEAR(lowest_gap(m), lowest_gap(w), 1e-6) << k;
  }
  EXPECT_GT(touched, 40);
}

TEST(Surface, DistanceOfAPoint) {
  Random random;
  const Hull hull = random_hull(random, 20);
  const Mesh mesh = mesh_of(*hull.hull);
  for (int k = 0; k < 2000; ++k) {
    const Vec3 p = random.point(0.8);
    ASSERT_NEAR(distance(Geometry(hull), p).value, distance(Geometry(mesh), p).value, 1e-9);
  }
}

// A mesh on a plane stands on its corners; on another mesh it stands as its hull would.
TEST(Surface, MeshOnMesh) {
  const Hull cube = make_hull({{-.1, -.1, -.1},
                               {.1, -.1, -.1},
                               {-.1, .1, -.1},
                               {.1, .1, -.1},
                               {-.1, -.1, .1},
                               {.1, -.1, .1},
                               {-.1, .1, .1},
                               {.1, .1, .1}});
  const Mesh mesh = mesh_of(*cube.hull);
  const HeightField flat = field(2, 9, [](double, double) { return 0.0; });
  const Mesh sheet{
      std::make_shared<const TriangleSurface>(make_surface(flat.surface->vertices, flat.surface->triangles))};
  for (const Geometry& ground : {Geometry(HalfSpace{}), Geometry(flat), Geometry(sheet)})
    for (const double h : {1e-4, -1e-4}) {
      const Solid a{mesh, {math::rotation_z(0.4), {0.03, 0.02, 0.1 + h}}};
      const Manifold m = touch(a, {ground, {}}, 1e-3);
      ASSERT_GE(m.count, 4) << ground.index() << " " << h;
      for (int i = 0; i < m.count; ++i) {
        ASSERT_NEAR(m.points[i].gap, h, 1e-9);
        ASSERT_GT(m.points[i].normal.z(), 1 - 1e-9);
      }
      const Manifold w = touch({ground, {}}, a, 1e-3);
      ASSERT_EQ(w.count, m.count);
      for (int i = 0; i < m.count; ++i) ASSERT_EQ(w.points[i].on_b, m.points[i].on_a);
    }
}

TEST(Surface, BadTrianglesAreRefused) {
  EXPECT_THROW(make_surface({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 3}}), std::invalid_argument);
  EXPECT_THROW(make_surface({{0, 0, 0}, {1, 0, 0}, {2, 0, 0}}, {{0, 1, 2}}), std::invalid_argument);
  EXPECT_THROW(make_height_field(1, 1, 2, 2, {0, 0, 0}), std::invalid_argument);
}

}  // namespace
}  // namespace limber::contact
