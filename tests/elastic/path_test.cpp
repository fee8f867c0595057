#include <gtest/gtest.h>

#include <cmath>

#include "limber/elastic/beam_frames.h"
#include "limber/math/trig.h"
#include "limber/model/beam.h"

namespace limber::elastic {
namespace {

const PolylinePath corner{{{0, 0, 0}, {3, 0, 0}, {3, 1, 0}}};
const ArcPath arc{{1, 2, 3}, {2, 0, 0}, {1, 0, 5}, 0.7, 2.1};  // directions neither unit nor orthogonal
const HelixPath helix{{1, 0, -1}, {0, 0, 2}, {3, 0, 1}, 0.4, 0.15, 2.5};
HelixPath left_helix() {
  HelixPath h = helix;
  h.turns = -2.5;
  return h;
}

TEST(Path, PolylineByArcLength) {
  const Path p = corner;
  EXPECT_DOUBLE_EQ(path_length(p), 4);
  EXPECT_LT((path_point(p, 0.5) - Vec3(2, 0, 0)).norm(), 1e-15);
  EXPECT_LT((path_point(p, 0.75) - Vec3(3, 0, 0)).norm(), 1e-15);
  EXPECT_LT((path_point(p, 0.875) - Vec3(3, 0.5, 0)).norm(), 1e-15);
  EXPECT_LT((path_point(p, 1) - Vec3(3, 1, 0)).norm(), 1e-15);
  EXPECT_EQ(path_tangent(p, 0.2), Vec3::UnitX());
  EXPECT_EQ(path_tangent(p, 0.75), Vec3::UnitY());  // at the corner, the segment that follows
  EXPECT_EQ(path_tangent(p, 1), Vec3::UnitY());
  // A repeated point changes nothing.
  const Path doubled = PolylinePath{{{0, 0, 0}, {3, 0, 0}, {3, 0, 0}, {3, 1, 0}, {3, 1, 0}}};
  for (const double s : {0.0, 0.3, 0.75, 0.9, 1.0}) {
    EXPECT_EQ(path_point(doubled, s), path_point(p, s));
    EXPECT_EQ(path_tangent(doubled, s), path_tangent(p, s));
  }
}

TEST(Path, ArcClosedForm) {
  EXPECT_DOUBLE_EQ(path_length(arc), 0.7 * 2.1);
  const Vec3 center(1, 2, 3.7);
  for (const double s : {0.0, 0.25, 0.5, 1.0}) {
    EXPECT_NEAR((path_point(arc, s) - center).norm(), 0.7, 1e-15);
    const auto [sin, cos] = math::sincos(2.1 * s);
    EXPECT_LT((path_tangent(arc, s) - Vec3(cos, 0, sin)).norm(), 1e-15);
    EXPECT_LT((path_point(arc, s) - (center + 0.7 * Vec3(sin, 0, -cos))).norm(), 1e-15);
  }
}

TEST(Path, HelixClosedForm) {
  EXPECT_DOUBLE_EQ(path_length(helix), 2.5 * std::sqrt(4 * pi * pi * 0.16 + 0.15 * 0.15));
  for (const bool left : {false, true})
    for (const double s : {0.0, 0.1, 0.37, 1.0}) {
      const Path path = left ? left_helix() : helix;
      const auto [sin, cos] = math::sincos((left ? -1 : 1) * 5 * pi * s);
      const Vec3 expected(1 + 0.4 * cos, 0.4 * sin, -1 + 0.375 * s);
      EXPECT_LT((path_point(path, s) - expected).norm(), 1e-14);
    }
}

TEST(Path, TangentIsTheDerivativeByArcLength) {
  for (const Path& path : {Path(arc), Path(helix), Path(left_helix())})
    for (const double s : {0.1, 0.5, 0.83}) {
      const double h = 1e-5;
      const Vec3 slope = (path_point(path, s + h) - path_point(path, s - h)) / (2 * h * path_length(path));
      EXPECT_LT((slope - path_tangent(path, s)).norm(), 1e-8);  // h² times the third derivative
    }
}

TEST(BeamFrames, AreRotationsAlongThePath) {
  for (const Path& path : {Path(corner), Path(arc), Path(helix), Path(left_helix())}) {
    const BeamFrames frames(path, {0.1, 0.3, 1});
    for (int i = 0; i <= 40; ++i) {
      const double s = i / 40.0;
      const Pose X = frames.at(s);
      EXPECT_LT((X.R.transpose() * X.R - Mat3::Identity()).norm(), 1e-14);
      EXPECT_GT(X.R.determinant(), 0);
      EXPECT_LT((X.R.col(0) - path_tangent(path, s)).norm(), 1e-15);
      EXPECT_LT((X.p - path_point(path, s)).norm(), 1e-15);
    }
    // z starts as near to `up` as it can be.
    const Mat3 R0 = frames.at(0).R;
    EXPECT_NEAR(R0.col(1).dot(Vec3(0.1, 0.3, 1)), 0, 1e-15);
    EXPECT_GT(R0.col(2).dot(Vec3(0.1, 0.3, 1)), 0);
  }
}

TEST(BeamFrames, PlanarPathsKeepTheirNormal) {
  const BeamFrames round(ArcPath{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, 2, 3}, {0, 0, 1});
  const BeamFrames bent(corner, {0, 0, 1});
  for (const double s : {0.0, 0.2, 0.75, 0.9, 1.0}) {
    EXPECT_LT((round.at(s).R.col(2) - Vec3::UnitZ()).norm(), 1e-14);
    EXPECT_LT((bent.at(s).R.col(2) - Vec3::UnitZ()).norm(), 1e-15);
  }
}

TEST(BeamFrames, HelixTurnsByItsTorsionAgainstTheNormal) {
  // Against the principal normal a rotation-minimising frame turns by −τ a length, τ = c/(r² + c²), c =
  // pitch/2π.
  for (const bool left : {false, true}) {
    const Path path = left ? left_helix() : helix;
    const BeamFrames frames(path, {0, 0, 1});
    const double c = 0.15 / (2 * pi), tau = (left ? -1 : 1) * c / (0.16 + c * c);
    const auto angle = [&](double s) {
      const Mat3 R = frames.at(s).R;
      const Vec3 x = path_point(path, s), normal = -Vec3(x[0] - 1, x[1], 0).normalized();
      return math::atan2(normal.dot(R.col(2)), normal.dot(R.col(1)));  // of the normal in (y, z)
    };
    for (const double s : {0.1, 0.43, 1.0}) {
      const double turned = angle(s) - angle(0) - tau * s * path_length(path);
      EXPECT_NEAR(turned - 2 * pi * std::round(turned / (2 * pi)), 0, 1e-6);
    }
  }
}

TEST(BeamFrames, ATurnStraightBackStaysARotation) {
  const BeamFrames frames(PolylinePath{{{0, 0, 0}, {1, 0, 0}, {0.2, 0, 0}}}, {0, 0, 1});
  const Mat3 R = frames.at(0.9).R;
  EXPECT_LT((R.transpose() * R - Mat3::Identity()).norm(), 1e-14);
  EXPECT_EQ(R.col(0), -Vec3::UnitX());
}

}  // namespace
}  // namespace limber::elastic
