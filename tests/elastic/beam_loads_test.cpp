// Loads on a beam keep their resultant when the beam becomes links.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/elastic/beam_scene.h"

namespace limber::elastic {
namespace {

using namespace limber::testing;  // NOLINT: Scene and its helpers

// Force and moment about the world's origin of all point loads at t, at rest.
std::pair<Vec3, Vec3> resultant(const Model& m, double t) {
  const auto X = m.initial_poses();
  Vec3 force = Vec3::Zero(), moment = Vec3::Zero();
  for (const PointLoad& l : m.point_loads()) {
    const Mat3 R = l.follows ? X[l.at.body.value].R : Mat3::Identity().eval();
    const Vec3 f = R * l.force.value(t);
    force += f;
    moment += in_world(X, l.at.body, l.at.p).cross(f) + R * l.moment.value(t);
  }
  return {force, moment};
}

TEST(BeamLoads, DistributedLoadsKeepForceAndMoment) {
  Scene s;
  const BeamId beam = s.beam("beam", quarter, 4);
  DistributedLoad load;
  load.name = "wind";
  load.beam = beam;
  load.force_per_length = {{TimeFunction::table({0, 1}, {0, 3}), -2, 5}};
  s.b.add(load);
  const LinkedModel out = s.links();
  EXPECT_TRUE(out.model.distributed_loads().empty());
  EXPECT_EQ(out.model.point_loads().size(), 13u);
  EXPECT_EQ(out.model.point_loads()[3].name, "wind.3");
  const double L = 0.4 * pi;
  const auto [force, moment] = resultant(out.model, 1);
  EXPECT_LT((force - L * Vec3(3, -2, 5)).norm(), 1e-12);
  // The resultant acts at the curve's centroid.
  EXPECT_LT((moment - Vec3(0.1 + 1.6 / pi, 0.8 - 1.6 / pi, 0).cross(L * Vec3(3, -2, 5))).norm(), 1e-9);
}

TEST(BeamLoads, PartialLoadOnAStraightBeam) {
  Scene s;
  const BeamId beam = s.beam("beam", straight, 3);
  DistributedLoad load;
  load.name = "load";
  load.beam = beam;
  load.s0 = 0.2;
  load.s1 = 0.55;
  load.follows = true;
  load.force_per_length = VectorFunction::constant({0, 0, -4});
  s.b.add(load);
  const auto [force, moment] = resultant(s.links().model, 0);
  const double l = 0.35 * 1.5, middle = 0.375 * 1.5;
  EXPECT_LT((force - Vec3(0, 0, -4 * l)).norm(), 1e-13);
  EXPECT_LT((moment - Vec3(middle, 0, 0).cross(force)).norm(), 1e-13);
}

TEST(BeamLoads, FollowerOnACurveTurnsWithIt) {
  // Along the tangent, the forces add up to the chord: ∫t ds. With time-dependent components too.
  for (const bool varying : {false, true}) {
    Scene s;
    const BeamId beam = s.beam("beam", quarter, 40);
    DistributedLoad load;
    load.name = "load";
    load.beam = beam;
    load.follows = true;
    load.force_per_length.c[0] = varying ? TimeFunction::table({0, 1}, {0, 2}) : TimeFunction(2);
    s.b.add(load);
    const auto [force, moment] = resultant(s.links().model, 1);
    EXPECT_LT((force - 2 * Vec3(0.8, 0.8, 0)).norm(), 2e-4);  // midpoint rule, 121 pieces
    EXPECT_NEAR(moment[0], 0, 1e-12);
  }
}

TEST(BeamLoads, ExpressionsOfTimeAreScaled) {
  // t² a metre along 1.5 m.
  math::Program square;
  square.push_variable(0);
  square.push_variable(0);
  square.push(math::Op::multiply);
  Scene s;
  DistributedLoad load;
  load.name = "load";
  load.beam = s.beam("beam", straight, 2);
  load.force_per_length.c[2] = TimeFunction::expression(square);
  s.b.add(load);
  EXPECT_NEAR(resultant(s.links().model, 3).first[2], 9 * 1.5, 1e-12);
}

}  // namespace
}  // namespace limber::elastic
