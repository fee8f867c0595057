// Inertias of bodies that are put together, of meshes, and of points.
#include "limber/model/body.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "limber/model/model.h"

namespace limber {
namespace {

Shape of_mesh(TriangleMesh mesh) {
  return {MeshShape{std::make_shared<const TriangleMesh>(std::move(mesh))}, {}};
}

void expect_same(const Inertia& a, const Inertia& b, double tolerance) {
  EXPECT_NEAR(a.m, b.m, tolerance * b.m);
  EXPECT_LT((a.h - b.h).norm(), tolerance * (b.h.norm() + b.m));
  EXPECT_LT((a.I - b.I).norm(), tolerance * b.I.norm());
}

TriangleMesh box_mesh(const Vec3& size, const Vec3& at) {
  TriangleMesh mesh;
  for (int i = 0; i < 8; ++i)
    mesh.vertices.push_back(
        at + Vec3(i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, i & 4 ? 0.5 : -0.5).cwiseProduct(size));
  mesh.triangles = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                    {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  return mesh;
}

// Tonon (2004): the corner tetrahedron with edges a, b, c along the axes has V = abc/6 and about its corner
// I_xx = ρV (b² + c²)/10, I_xy = −ρV ab/20.
TEST(Bodies, TetrahedronHasItsClosedForm) {
  const double a = 0.3, b = 0.5, c = 0.2, density = 700, m = density * a * b * c / 6;
  const TriangleMesh mesh{{{0, 0, 0}, {a, 0, 0}, {0, b, 0}, {0, 0, c}},
                          {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}}};
  ASSERT_TRUE(is_closed(mesh));
  const Inertia got = solid_inertia(of_mesh(mesh), density);
  Mat3 I;
  I << (b * b + c * c) / 10, -a * b / 20, -a * c / 20,  //
      -a * b / 20, (a * a + c * c) / 10, -b * c / 20,   //
      -a * c / 20, -b * c / 20, (a * a + b * b) / 10;
  expect_same(got, {m, m * Vec3(a, b, c) / 4, m * I}, 1e-14);
}

TEST(Bodies, MeshOfABoxIsTheBox) {
  const Vec3 size(0.2, 0.3, 0.7), at(1, -2, 0.4);
  const TriangleMesh mesh = box_mesh(size, at);
  ASSERT_TRUE(is_closed(mesh));
  // Sums of terms with m |at|² cancel: a few ulp of that.
  expect_same(solid_inertia(of_mesh(mesh), 800), solid_inertia({BoxShape{size}, Pose::translation(at)}, 800),
              1e-14);
  TriangleMesh open = mesh, inside_out = mesh;
  open.triangles.pop_back();
  EXPECT_FALSE(is_closed(open));
  for (auto& t : inside_out.triangles) std::swap(t[1], t[2]);
  EXPECT_TRUE(is_closed(inside_out));
  EXPECT_LT(volume(MeshShape{std::make_shared<const TriangleMesh>(inside_out)}), 0);
}

// Every triangle of an icosahedron into four, corners on the unit sphere.
TriangleMesh icosphere(int rounds) {
  const double g = (1 + std::sqrt(5.0)) / 2;
  TriangleMesh mesh{{{-1, g, 0},
                     {1, g, 0},
                     {-1, -g, 0},
                     {1, -g, 0},
                     {0, -1, g},
                     {0, 1, g},
                     {0, -1, -g},
                     {0, 1, -g},
                     {g, 0, -1},
                     {g, 0, 1},
                     {-g, 0, -1},
                     {-g, 0, 1}},
                    {{0, 11, 5},  {0, 5, 1},  {0, 1, 7},  {0, 7, 10}, {0, 10, 11}, {1, 5, 9}, {5, 11, 4},
                     {11, 10, 2}, {10, 7, 6}, {7, 1, 8},  {3, 9, 4},  {3, 4, 2},   {3, 2, 6}, {3, 6, 8},
                     {3, 8, 9},   {4, 9, 5},  {2, 4, 11}, {6, 2, 10}, {8, 6, 7},   {9, 8, 1}}};
  for (int i = 0; i < rounds; ++i) {
    std::map<std::pair<int, int>, int> middles;
    const auto middle = [&](int a, int b) {
      const auto [found, fresh] =
          middles.try_emplace(std::minmax(a, b), static_cast<int>(mesh.vertices.size()));
      if (fresh) mesh.vertices.push_back(mesh.vertices[a].normalized() + mesh.vertices[b].normalized());
      return found->second;
    };
    std::vector<std::array<int, 3>> finer;
    for (const auto& [a, b, c] : mesh.triangles) {
      const int ab = middle(a, b), bc = middle(b, c), ca = middle(c, a);
      finer.insert(finer.end(), {{a, ab, ca}, {b, bc, ab}, {c, ca, bc}, {ab, bc, ca}});
    }
    mesh.triangles = std::move(finer);
  }
  for (Vec3& v : mesh.vertices) v.normalize();
  return mesh;
}

// Flat faces within the sphere: the error falls with the square of their size.
TEST(Bodies, IcospheresConvergeToTheSphere) {
  const Inertia sphere = solid_inertia({SphereShape{1}, {}}, 1);
  double before = 0;
  for (int rounds = 1; rounds <= 4; ++rounds) {
    const TriangleMesh mesh = icosphere(rounds);
    ASSERT_TRUE(is_closed(mesh));
    const Inertia got = solid_inertia(of_mesh(mesh), 1);
    EXPECT_LT(got.h.norm(), 1e-14);
    const double error = 1 - got.I(0, 0) / sphere.I(0, 0);
    EXPECT_GT(error, 0);
    if (rounds > 2) {  // 3.6, 3.9, 3.98: higher orders fade
      EXPECT_NEAR(before / error, 4, 0.15) << rounds;
    }
    before = error;
  }
  EXPECT_LT(before, 0.01);
}

// m L² beside the rest, whatever the order; and a model made of a model's parts adds nothing twice.
TEST(Bodies, PointMassesAreAddedOnce) {
  Body body;
  body.name = "bob";
  body.inertia = solid_inertia({BoxShape{{0.1, 0.2, 0.3}}, Pose::translation({0.1, 0, 0})}, 1000);
  const Inertia before = body.inertia;
  add_point_mass(body, {"", 0.5, {0, 0, -2}});
  add_point_mass(body, {"tag", 0.25, {1, 1, 0}});
  EXPECT_DOUBLE_EQ(body.inertia.m, before.m + 0.75);
  EXPECT_DOUBLE_EQ(body.inertia.I(0, 0), before.I(0, 0) + 0.5 * 4 + 0.25);
  EXPECT_DOUBLE_EQ(body.inertia.I(0, 1), before.I(0, 1) - 0.25);
  EXPECT_DOUBLE_EQ(body.inertia.h.z(), before.h.z() - 1);
  ModelParts parts;
  parts.bodies.push_back(body);
  const Model first{parts}, second{first.parts()};
  EXPECT_EQ(first.bodies()[0].inertia.I, second.bodies()[0].inertia.I);
  EXPECT_EQ(first.bodies()[0].inertia.m, body.inertia.m);
  EXPECT_LT((first.bodies()[0].inertia.I - body.inertia.I).norm(), 1e-15 * body.inertia.I.norm());
}

TEST(Bodies, APointMassIsPositiveAndFinite) {
  ModelParts parts;
  Body body;
  body.name = "bob";
  add_point_mass(body, {"", -1, Vec3::Zero()});
  parts.bodies.push_back(body);
  try {
    const Model model{parts};
    FAIL();
  } catch (const ModelError& e) {
    EXPECT_NE(std::string(e.what()).find("body \"bob\".point_masses: expected a positive mass"),
              std::string::npos)
        << e.what();
  }
}

}  // namespace
}  // namespace limber
