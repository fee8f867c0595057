// A beam that is bent at ease other than its path, by every method that finds rests.
#include <gtest/gtest.h>

#include "limber/sim/equilibrium.h"

namespace limber::sim {
namespace {

// 1 m along x, at ease an arc of 0.6 rad upwards or a helix, heavy.
Model bent(const Path& ease, double gravity, int elements, bool planar = false) {
  ModelBuilder b("bow");
  Material m;
  m.name = "m", m.E = 1e9, m.nu = 0.3, m.G = 1e9 / 2.6, m.density = 1000;
  Beam beam;
  beam.name = "bow";
  beam.path = PolylinePath{{Vec3::Zero(), Vec3::UnitX()}};
  beam.rest = BeamEase{0, ease, Vec3::UnitZ()};
  beam.material = b.add(m);
  beam.section = b.add(Section{"s", Circle{5e-3}});
  beam.elements = elements;
  beam.planar = planar;
  b.add(beam);
  b.parts.gravity = VectorFunction::constant(Vec3(0, 0, -gravity));
  return std::move(b).build();
}
Path arc(double angle) {
  ArcPath path;
  path.radius = 1 / angle, path.angle = angle;
  return path;
}

Equilibrium rest_by(Method method, const Model& model) {
  StaticOptions options;
  options.method = method;
  return find_equilibrium(model, {}, options);
}

// Nothing acts: it is the arc. A chain of links is off by the square of its elements: 2e-5 of the length
// with 16.
TEST(RestShape, WithoutLoadsItIsTheShapeAtEase) {
  const double a = 0.6;
  const Vec3 tip(std::sin(a) / a, 0, (1 - std::cos(a)) / a);
  for (const Method method : {Method::chain, Method::articulated, Method::thread})
    for (const bool planar : {false, true}) {
      if (planar && method == Method::thread) continue;
      const Equilibrium e = rest_by(method, bent(arc(a), 0, 16, planar));
      ASSERT_TRUE(e.ok()) << e.method << " " << e.report.message;
      EXPECT_LT((e.beams[0].tip - tip).norm(), method == Method::thread ? 1e-8 : 1e-4) << e.method;
      // From where it stood at t = 0.
      EXPECT_LT((e.beams[0].tip - e.beams[0].moved - Vec3::UnitX()).norm(), 1e-9) << e.method;
    }
}

// With its weight of 1.6 EI/L²: links are the same to the last digits, the thread is the rod that they
// approach, but for its shear and stretch, 2e-5 of the length.
TEST(RestShape, MethodsAgreeUnderLoad) {
  HelixPath helix;
  helix.radius = 0.15, helix.pitch = 0.5, helix.turns = 1 / std::hypot(2 * pi * 0.15, 0.5);
  for (const Path& ease : {arc(0.6), Path(helix)}) {
    const Equilibrium thread = rest_by(Method::thread, bent(ease, 9.81, 64));
    ASSERT_TRUE(thread.ok()) << thread.report.message;
    for (const int elements : {8, 32}) {
      const Model model = bent(ease, 9.81, elements);
      const Equilibrium chain = rest_by(Method::chain, model), tree = rest_by(Method::articulated, model);
      ASSERT_TRUE(chain.ok() && tree.ok()) << chain.report.message << tree.report.message;
      EXPECT_LT((chain.beams[0].tip - tree.beams[0].tip).norm(), 1e-7);
      EXPECT_LT((chain.beams[0].moved - tree.beams[0].moved).norm(), 1e-7);
      EXPECT_LT((chain.beams[0].tip - thread.beams[0].tip).norm(), elements == 8 ? 1e-3 : 1e-4) << elements;
    }
  }
}

// Links do not stretch, and a planar beam does not bend aside: refused at the key.
TEST(RestShape, WhatLinksCannotBeIsRefused) {
  EXPECT_THROW(rest_by(Method::chain,
                       bent(Path(ArcPath{Vec3::Zero(), Vec3::UnitX(), Vec3::UnitY(), 2, 0.5}), 0, 4, true)),
               ModelError);
  try {
    rest_by(Method::articulated,
            bent(Path(ArcPath{Vec3::Zero(), Vec3::UnitX(), Vec3::UnitZ(), 2, 0.55}), 0, 4));
    FAIL() << "no refusal";
  } catch (const ModelError& error) {
    EXPECT_EQ(error.problems()[0].field, "rest");
  }
}

}  // namespace
}  // namespace limber::sim
