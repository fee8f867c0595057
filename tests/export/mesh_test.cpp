#include "limber/export/mesh.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <tuple>

namespace limber::exporting {
namespace {

// Six times the signed volume, by the divergence theorem.
double volume_of(const Mesh& mesh) {
  double six = 0;
  for (const auto& [a, b, c] : mesh.triangles)
    six += mesh.positions[a].dot(mesh.positions[b].cross(mesh.positions[c]));
  return six / 6;
}

HullShape a_hull() {
  return {std::make_shared<const math::ConvexHull>(math::convex_hull(
      {{0.1, 0, 0}, {0, 0.2, 0}, {-0.3, 0, 0}, {0, -0.1, 0.1}, {0, 0, 0.4}, {0, 0, -0.2}}))};
}

const std::vector<ShapeGeometry>& all_shapes() {
  static const std::vector<ShapeGeometry> shapes = {
      BoxShape{{0.1, 0.2, 0.3}},
      SphereShape{0.5},
      CylinderShape{0.2, 1.5},
      CapsuleShape{0.3, 0.8},
      CapsuleShape{0.3, 0},
      a_hull(),
      MeshShape{std::make_shared<const TriangleMesh>(triangles_of(*a_hull().hull))}};
  return shapes;
}

TEST(Mesh, IsClosedAndFacesOutwards) {
  for (const ShapeGeometry& shape : all_shapes()) {
    const Mesh mesh = mesh_of(shape);
    ASSERT_EQ(mesh.positions.size(), mesh.normals.size());
    // Doubled vertices have the very same coordinates: every edge is met once in each direction.
    std::map<std::array<double, 6>, int> edges;
    for (const auto& triangle : mesh.triangles) {
      const Vec3 &a = mesh.positions[triangle[0]], &b = mesh.positions[triangle[1]],
                 &c = mesh.positions[triangle[2]];
      const Vec3 n = (b - a).cross(c - a);
      EXPECT_GT(n.norm(), 0);
      for (const std::uint32_t v : triangle) EXPECT_GT(n.dot(mesh.normals[v]), 0);
      for (const auto& [p, q] : {std::pair{a, b}, {b, c}, {c, a}}) {
        ++edges[{p.x(), p.y(), p.z(), q.x(), q.y(), q.z()}];
        --edges[{q.x(), q.y(), q.z(), p.x(), p.y(), p.z()}];
      }
    }
    for (const auto& [edge, count] : edges) EXPECT_EQ(count, 0) << shape.index();
  }
}

TEST(Mesh, NormalsAreUnitAndVerticesWithinTheShape) {
  for (const ShapeGeometry& shape : all_shapes()) {
    const Mesh mesh = mesh_of(shape);
    for (const Vec3& n : mesh.normals) EXPECT_NEAR(n.norm(), 1, 1e-15);
    // r cos, r sin and their sum round a few times
    for (const Vec3& p : mesh.positions) EXPECT_LE(p.norm(), bounding_radius(shape) * (1 + 1e-15));
  }
}

// Ground shares its vertices and looks up.
TEST(Mesh, OfAHeightField) {
  const Mesh mesh = mesh_of(HeightFieldShape{2, 1, 3, 2, {0, 0.1, 0, 0.2, 0.3, 0.1}});
  EXPECT_EQ(mesh.positions.size(), 6u);
  EXPECT_EQ(mesh.triangles.size(), 4u);
  EXPECT_EQ(mesh.positions[5], Vec3(1, 0.5, 0.1));
  for (const Vec3& n : mesh.normals) EXPECT_GT(n.z(), 0.5);
}

// The prism over a regular n-gon holds n/2 sin(2π/n) r² l; 24 roundings of a number of size 1.
TEST(Mesh, VolumesOfPrismAndBoxAreExact) {
  EXPECT_NEAR(volume_of(mesh_of(BoxShape{{0.1, 0.2, 0.3}})), 0.006, 1e-17);
  for (const int n : {3, 12, 24})
    EXPECT_NEAR(volume_of(mesh_of(CylinderShape{0.2, 1.5}, n)), n / 2.0 * std::sin(2 * pi / n) * 0.04 * 1.5,
                1e-15);
}

// An inscribed surface misses a part of the volume that falls as 1/n².
TEST(Mesh, RoundVolumesConverge) {
  const double sphere = 4.0 / 3 * pi * 0.125, capsule = 4.0 / 3 * pi * 0.027 + pi * 0.09 * 0.8;
  double before_sphere = 0, before_capsule = 0;
  for (const int n : {24, 48, 96}) {
    const double miss_sphere = 1 - volume_of(mesh_of(SphereShape{0.5}, n)) / sphere;
    const double miss_capsule = 1 - volume_of(mesh_of(CapsuleShape{0.3, 0.8}, n)) / capsule;
    EXPECT_GT(miss_sphere, 0);
    EXPECT_GT(miss_capsule, 0);
    EXPECT_LT(miss_sphere, 0.03);
    // The ratio tends to 4; the next term, O(1/n²) = 2e-3, shifts it by less than 1 %.
    if (n > 24) {
      EXPECT_NEAR(before_sphere / miss_sphere, 4, 0.04);
      EXPECT_NEAR(before_capsule / miss_capsule, 4, 0.04);
    }
    before_sphere = miss_sphere;
    before_capsule = miss_capsule;
  }
}

TEST(Mesh, ShapesWithoutExtentStayFinite) {
  for (const ShapeGeometry& shape :
       std::vector<ShapeGeometry>{BoxShape{}, SphereShape{}, CylinderShape{}, CapsuleShape{},
                                  CylinderShape{0, 1}, CapsuleShape{0, 1}}) {
    const Mesh mesh = mesh_of(shape);
    EXPECT_FALSE(mesh.triangles.empty());
    for (const Vec3& p : mesh.positions) EXPECT_TRUE(p.allFinite());
    for (const Vec3& n : mesh.normals) EXPECT_NEAR(n.norm(), 1, 1e-15);
  }
}

}  // namespace
}  // namespace limber::exporting
