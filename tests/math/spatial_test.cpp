// Poses, spatial vectors and inertias: identities between the shortcuts and their 6×6 matrices, and SE(3)
// against the 80-bit exponential.
#include "limber/math/spatial.h"

#include <gtest/gtest.h>

#include "tests/math/generators.h"
#include "tests/math/oracle.h"

namespace limber::test {
namespace {

using namespace limber::math;

// Entries here are up to about 30, sums of up to 6 products.
constexpr double roundoff = 200 * eps;

LongMat<4> twist_matrix(const Vec6& V) {
  LongMat<4> M = LongMat<4>::Zero();
  M.topLeftCorner<3, 3>() = long_skew(V.head<3>());
  M.topRightCorner<3, 1>() = V.tail<3>().cast<Long>();
  return M;
}

rc::Gen<Vec6> twist(rc::Gen<double> angles) {
  return rc::gen::map(rc::gen::pair(rotation_vector(std::move(angles)), vector(2)), [](const auto& t) {
    Vec6 V;
    V << t.first, t.second;
    return V;
  });
}

double pose_distance(const Pose& a, const Pose& b) {
  return std::fmax(distance(a.R, b.R), distance(a.p, b.p));
}

RC_GTEST_PROP(Pose, AdjointIsMotion, ()) {
  const Pose X = *pose();
  const Vec6 V = *spatial_vector(3), F = *spatial_vector(3);
  RC_ASSERT(distance(X.adjoint() * V, X.motion(V)) <= roundoff);
  RC_ASSERT(distance(X.inverse().adjoint() * V, X.inverse_motion(V)) <= roundoff);
  RC_ASSERT(distance(X.inverse().adjoint().transpose() * F, X.force(F)) <= roundoff);
  RC_ASSERT(distance(X.adjoint().transpose() * F, X.inverse_force(F)) <= roundoff);
}

RC_GTEST_PROP(Pose, CompositionAndInverse, ()) {
  const Pose X = *pose(), Y = *pose();
  const Vec3 x = *vector(2);
  const Vec6 V = *spatial_vector(3);
  RC_ASSERT(pose_distance(X * X.inverse(), Pose::identity()) <= roundoff);
  RC_ASSERT(distance((X * Y) * x, X * (Y * x)) <= roundoff);
  RC_ASSERT(distance((X * Y).motion(V), X.motion(Y.motion(V))) <= roundoff);
  RC_ASSERT(distance((X * Y).force(V), X.force(Y.force(V))) <= roundoff);
}

// V·F does not depend on the frame.
RC_GTEST_PROP(Pose, PowerIsInvariant, ()) {
  const Pose X = *pose();
  const Vec6 V = *spatial_vector(3), F = *spatial_vector(3);
  RC_ASSERT(std::fabs(X.motion(V).dot(X.force(F)) - V.dot(F)) <= 10 * roundoff);
}

RC_GTEST_PROP(Pose, CrossProductsAreAd, ()) {
  const Vec6 V = *spatial_vector(3), W = *spatial_vector(3), F = *spatial_vector(3);
  RC_ASSERT(distance(ad(V) * W, cross_motion(V, W)) <= roundoff);
  RC_ASSERT(distance(-ad(V).transpose() * F, cross_force(V, F)) <= roundoff);
  RC_ASSERT(distance(cross_motion(V, W), -cross_motion(W, V)) <= roundoff);
}

// Ad(exp V) = exp(ad V)
RC_GTEST_PROP(Se3, AdjointOfExpIsExpOfAd, ()) {
  const Vec6 V = *twist(wide_angle());
  RC_ASSERT(distance(se3_exp(V).adjoint(), expm<6>(ad(V).cast<Long>())) <= roundoff);
}

RC_GTEST_PROP(Se3, ExpIsTheMatrixExponential, ()) {
  const Vec6 V = *twist(wide_angle());
  const LongMat<4> M = expm<4>(twist_matrix(V));
  const Pose X = se3_exp(V);
  const double bound = eps * (2 + 2 * V.head<3>().norm());  // as for SO(3), for p times |v|
  RC_ASSERT(distance(X.R, M.topLeftCorner<3, 3>()) <= bound);
  RC_ASSERT(distance(X.p, M.topRightCorner<3, 1>()) <= bound * (1 + V.tail<3>().norm()));
}

// Errors of ω of 6 eps π reach v through J⁻¹ of norm ≤ π/2 and its derivative.
RC_GTEST_PROP(Se3, LogInvertsExp, ()) {
  const Vec6 V = *twist(rc::gen::suchThat(angle(), [](double a) { return a < pi - 1e-13; }));
  const Vec6 back = se3_log(se3_exp(V));
  RC_ASSERT((back.head<3>() - V.head<3>()).norm() <= 6 * eps * V.head<3>().norm());
  RC_ASSERT((back.tail<3>() - V.tail<3>()).norm() <= 30 * eps * (1 + V.tail<3>().norm()));
}

RC_GTEST_PROP(Se3, ExpInvertsLogAtPiToo, ()) {
  const Pose X{so3_exp(*rotation_vector(angle())), *vector(2)};
  RC_ASSERT(pose_distance(se3_exp(se3_log(X)), X) <= 40 * eps);
}

RC_GTEST_PROP(Se3, JacobianIsPhi1OfMinusAd, ()) {
  const Vec6 V = *twist(wide_angle());
  const double bound = eps * (3 + V.head<3>().norm()) * (1 + V.tail<3>().norm());
  RC_ASSERT(distance(se3_jacobian(V), jacobian(V)) <= bound);
}

// As for SO(3); the lower left block is a derivative and grows by one power more towards 2π.
RC_GTEST_PROP(Se3, JacobianInverseIsTheInverse, ()) {
  const Vec6 V = *twist(wide_angle());
  const LongMat<6> expected = jacobian(V).inverse();
  const double gap = 2 * pi - V.head<3>().norm();
  const double magnified = V.head<3>().norm() <= pi ? 1 : 1 + 8 * pi * pi * pi / (gap * gap * gap);
  RC_ASSERT(distance(se3_jacobian_inverse(V), expected) <= 8 * eps * magnified * (1 + V.tail<3>().norm()));
}

// X exp(V) moves X along its own twist: the body velocity of t ↦ exp(tV) is V. Central difference in 80 bits.
TEST(Se3, ExpMovesAlongItsOwnTwist) {
  Vec6 V;
  V << 0.3, -0.8, 0.5, 1, 2, -1;
  const Long h = 1e-4L;  // h² |ad V|² ~ 1e-8
  const LongMat<4> T = twist_matrix(V);
  const LongMat<4> velocity = (expm<4>((1 + h) * T) - expm<4>((1 - h) * T)) / (2 * h);
  const Pose X = se3_exp(V);
  EXPECT_LE(distance(X.R.transpose() * velocity.topRightCorner<3, 1>().cast<double>(), V.tail<3>().eval()),
            1e-7);
}

RC_GTEST_PROP(Inertia, MatrixIsMomentum, ()) {
  const Inertia M = *inertia();
  const Vec6 V = *spatial_vector(3);
  RC_ASSERT(distance(M.matrix() * V, M.momentum(V)) <= roundoff);
  RC_ASSERT(distance(M.matrix(), M.matrix().transpose()) <= roundoff);
}

// M_A = Ad⁻ᵀ M_B Ad⁻¹; entries reach m (|c| + |p|)² ≈ 130, and cancel from as much.
RC_GTEST_PROP(Inertia, InFrameIsTheCongruence, ()) {
  const Inertia M = *inertia();
  const Pose X = *pose();
  const Mat6 Ad_inverse = X.inverse().adjoint();
  const Mat6 expected = Ad_inverse.transpose() * M.matrix() * Ad_inverse;
  RC_ASSERT(distance(M.in_frame(X).matrix(), expected) <= 10 * roundoff);
}

RC_GTEST_PROP(Inertia, KineticEnergyIsInvariant, ()) {
  const Inertia M = *inertia();
  const Pose X = *pose();
  const Vec6 V = *spatial_vector(3);
  const double energy = V.dot(M.momentum(V)), moved = X.motion(V).dot(M.in_frame(X).momentum(X.motion(V)));
  RC_ASSERT(energy >= -roundoff);
  RC_ASSERT(std::fabs(energy - moved) <= 100 * roundoff);  // sums of 36 products of up to 5 · 15²
}

RC_GTEST_PROP(Inertia, AboutComRoundTrip, ()) {
  const Inertia M = *inertia();
  const Inertia again = Inertia::about_com(M.m, M.com(), M.about_com());
  RC_ASSERT(distance(again.matrix(), M.matrix()) <= roundoff);
}

TEST(Inertia, MasslessNeedsNoCentre) {
  Inertia M;
  M.I = Vec3(1, 2, 3).asDiagonal();
  EXPECT_EQ(M.com(), Vec3::Zero());
  EXPECT_EQ(M.in_frame(Pose::translation({1, 2, 3})).I, M.I);
}

TEST(Inertia, SumsAdd) {
  const Inertia a = Inertia::about_com(1, {1, 0, 0}, Mat3::Identity());
  const Inertia b = Inertia::about_com(3, {-1, 0, 0}, 2 * Mat3::Identity());
  const Inertia sum = a + b;
  EXPECT_EQ(sum.com(), Vec3(-0.5, 0, 0));
  EXPECT_EQ(sum.matrix(), a.matrix() + b.matrix());
}

// ∫ over the solid of revolution ρ(z) about z: Izz = ½ σ ∫ ρ⁴, Ixx = σ ∫ (ρ⁴/4 + ρ² z²), σ = m/∫ ρ².
template <typename Radius>
Mat3 revolved(double m, double half_length, Radius squared_radius) {
  const int n = 200000;
  double volume = 0, axial = 0, across = 0;
  for (int k = 0; k < n; ++k) {
    const double z = half_length * (2 * (k + 0.5) / n - 1), rr = squared_radius(z);
    volume += rr, axial += rr * rr / 2, across += rr * rr / 4 + rr * z * z;
  }
  return Vec3(across, across, axial).asDiagonal().toDenseMatrix() * (m / volume);
}

// The midpoint rule over 2·10⁵ slices is good to (1/n)² ~ 1e-10 of values near 10.
TEST(SolidInertia, AgainstSlices) {
  const double m = 3, r = 0.7, L = 1.9, close = 1e-8;
  const auto capsule = [&](double z) {
    const double out = std::fmax(std::fabs(z) - L / 2, 0.0);
    return r * r - out * out;
  };
  EXPECT_LE(distance(capsule_inertia(m, r, L), revolved(m, L / 2 + r, capsule)), close);
  EXPECT_LE(distance(sphere_inertia(m, r), revolved(m, r, [&](double z) { return r * r - z * z; })), close);
  EXPECT_LE(distance(cylinder_inertia(m, r, L), revolved(m, L / 2, [&](double) { return r * r; })), close);
}

TEST(SolidInertia, LimitsAndBox) {
  EXPECT_LE(distance(capsule_inertia(2, 0.3, 0), sphere_inertia(2, 0.3)), eps);
  EXPECT_LE(distance(capsule_inertia(2, 0, 0.3), cylinder_inertia(2, 0, 0.3)), eps);
  EXPECT_EQ(capsule_inertia(2, 0, 0), Mat3::Zero());
  const Mat3 box = Vec3(13, 10, 5).asDiagonal();
  EXPECT_EQ(box_inertia(12, {1, 2, 3}), box);  // m/12 (b² + c²)
}

}  // namespace
}  // namespace limber::test
