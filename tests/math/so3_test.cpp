// exp, log and quaternions: against the 80-bit matrix exponential, against each other, and at 0 and π.
#include "limber/math/so3.h"

#include <gtest/gtest.h>

#include "tests/math/generators.h"
#include "tests/math/oracle.h"

namespace limber::test {
namespace {

using namespace limber::math;

Vec3 axis_of(int k) { return Vec3::Unit(k); }

Mat3 half_turn(const Vec3& a) { return 2 * a * a.transpose() - Mat3::Identity(); }

// The angle of log depends on the sign of w alone at π; there θ and −θ are the same rotation.
double log_error(const Vec3& got, const Vec3& expected) {
  return expected.norm() < pi - 1e-14 ? (got - expected).norm()
                                      : std::fmin((got - expected).norm(), (got + expected).norm());
}

// A rounding of φ = |θ| (2 eps relative with its square) turns R by as much; the entries add 2 eps.
RC_GTEST_PROP(So3, ExpIsTheMatrixExponential, ()) {
  const Vec3 theta = *rotation_vector(wide_angle());
  RC_ASSERT(distance(so3_exp(theta), expm<3>(long_skew(theta))) <= eps * (2 + 2 * theta.norm()));
}

// Off the diagonal a tiny rotation is [θ] to full relative precision, whatever its size.
RC_GTEST_PROP(So3, ExpKeepsTinyAngles, ()) {
  const Vec3 theta = *rotation_vector(log_real(-300, -9));
  const Mat3 difference = so3_exp(theta) - Mat3::Identity();
  // [θ]²/2 is below 1e-9 of [θ] here
  RC_ASSERT((difference - skew(theta)).norm() <= 1e-9 * theta.norm());
}

// φ that differs from |θ| by a rounding stretches the columns by up to 4 eps; A, B and the products add as
// much again.
RC_GTEST_PROP(So3, ExpIsARotation, ()) {
  const Mat3 R = so3_exp(*rotation_vector(wide_angle()));
  RC_ASSERT(distance(R.transpose() * R, Mat3::Identity()) <= 12 * eps);
  RC_ASSERT(std::fabs(R.determinant() - 1) <= 18 * eps);
}

// Relative for small angles: R − Rᵀ carries them without loss. For angles of order 1 the entries of R are
// rounded to eps/2 each, which moves the log by a few eps; near π the log's derivative grows to J_r⁻¹ ≈ π/2.
RC_GTEST_PROP(So3, LogInvertsExp, ()) {
  const Vec3 theta = *rotation_vector(angle());
  RC_ASSERT(log_error(so3_log(so3_exp(theta)), theta) <= 6 * eps * theta.norm());
}

RC_GTEST_PROP(So3, QuatLogInvertsQuatExp, ()) {
  const Vec3 theta = *rotation_vector(angle());
  RC_ASSERT(log_error(quat_log(quat_exp(theta)), theta) <= 4 * eps * theta.norm());
}

RC_GTEST_PROP(So3, ExpInvertsLogOnAnyRotation, ()) {
  const Mat3 R = so3_exp(*rotation_vector(wide_angle())) * so3_exp(*rotation_vector(angle()));
  const Vec3 theta = so3_log(R);
  RC_ASSERT(theta.norm() <= pi * (1 + 2 * eps));
  // the product's columns are off unit length by 8 eps, which log cannot return
  RC_ASSERT(distance(so3_exp(theta), R) <= 16 * eps);
}

// 2aaᵀ − I is exactly symmetric: the antisymmetric part that small angles read is 0.
RC_GTEST_PROP(So3, LogAtExactlyPi, ()) {
  const Vec3 a = *unit_vector();
  const Vec3 theta = so3_log(half_turn(a));
  RC_ASSERT(log_error(theta, pi * a) <= 8 * eps);
}

TEST(So3, LogOfHalfTurnsAboutTheAxes) {
  for (int k = 0; k < 3; ++k) {
    EXPECT_EQ(so3_log(half_turn(axis_of(k))), pi * axis_of(k));
    EXPECT_EQ(quat_log(Quat(0, k == 0, k == 1, k == 2)), pi * axis_of(k));
    EXPECT_EQ(quat_log(Quat(-0.0, -(k == 0), -(k == 1), -(k == 2))), pi * axis_of(k));
  }
  EXPECT_EQ(so3_log(Mat3::Identity()), Vec3::Zero());
}

RC_GTEST_PROP(So3, OppositeQuaternionsHaveOneLog, ()) {
  const Vec3 a = *unit_vector();
  const bool turned_by_pi = *rc::gen::inRange(0, 8) == 0;
  const Quat q = turned_by_pi ? Quat(0, a[0], a[1], a[2]) : quat_exp(*rotation_vector(wide_angle()));
  const Quat opposite(-q.w(), -q.x(), -q.y(), -q.z());
  RC_ASSERT(quat_log(q) == quat_log(opposite));
}

// Each conversion rounds once or twice per entry.
RC_GTEST_PROP(So3, MatrixAndQuaternionAgree, ()) {
  const Vec3 theta = *rotation_vector(angle());
  const Quat q = quat_exp(theta);
  RC_ASSERT(distance(to_matrix(q), so3_exp(theta)) <= 6 * eps);
  const Quat back = to_quat(to_matrix(q));
  RC_ASSERT(back.w() >= 0);
  const double sign = q.coeffs().dot(back.coeffs()) < 0 ? -1 : 1;
  RC_ASSERT(distance(sign * back.coeffs(), q.coeffs()) <= 4 * eps);
}

RC_GTEST_PROP(So3, QuaternionProductIsTheMatrixProduct, ()) {
  const Quat a = quat_exp(*rotation_vector(angle())), b = quat_exp(*rotation_vector(angle()));
  RC_ASSERT(distance(to_matrix(multiply(a, b)), to_matrix(a) * to_matrix(b)) <= 12 * eps);
  const Quat scaled(3 * a.w(), 3 * a.x(), 3 * a.y(), 3 * a.z());
  RC_ASSERT(distance(normalized(scaled).coeffs(), a.coeffs()) <= 3 * eps);
}

// R exp(θ) Rᵀ = exp(R θ)
RC_GTEST_PROP(So3, ConjugationTurnsTheAxis, ()) {
  const Vec3 theta = *rotation_vector(angle());
  const Mat3 R = so3_exp(*rotation_vector(angle()));
  RC_ASSERT(distance(R * so3_exp(theta) * R.transpose(), so3_exp(R * theta)) <= 24 * eps);
}

RC_GTEST_PROP(So3, AxisRotationsAreExpAlongTheAxis, ()) {
  const double a = *real(-7, 7);
  const double bound = eps * (2 + 2 * std::fabs(a));  // as for exp
  RC_ASSERT(distance(rotation_x(a), so3_exp(a * axis_of(0))) <= bound);
  RC_ASSERT(distance(rotation_y(a), so3_exp(a * axis_of(1))) <= bound);
  RC_ASSERT(distance(rotation_z(a), so3_exp(a * axis_of(2))) <= bound);
}

TEST(So3, SkewIsTheCrossProduct) {
  const Vec3 a(1, 2, 3), b(-4, 5, 7);
  EXPECT_EQ(skew(a) * b, a.cross(b));
}

// Directions at any distance from the pole −z, down to 1e-300.
RC_GTEST_PROP(So3, RotationFromAxis, ()) {
  const double tilt = *rc::gen::oneOf(log_real(-300, 0), real(0, 1.5)), turn = *real(-4, 4);
  const int below = *rc::gen::inRange(0, 2);
  Vec3 a(std::sin(tilt) * std::cos(turn), std::sin(tilt) * std::sin(turn), (below ? -1 : 1) * std::cos(tilt));
  a /= a.norm();
  const Mat3 Z = rotation_from_z(a), X = rotation_from_x(a);
  RC_ASSERT(Z.col(2) == a);
  RC_ASSERT(X.col(0) == a);
  // a is of unit length to 1 eps, which 1 − c ≤ 2 doubles in the other columns, and each entry is rounded
  // thrice
  RC_ASSERT(distance(Z.transpose() * Z, Mat3::Identity()) <= 12 * eps);
  RC_ASSERT(distance(X.transpose() * X, Mat3::Identity()) <= 12 * eps);
  RC_ASSERT(Z.determinant() > 0.9 && X.determinant() > 0.9);
  // the shortest rotation: its axis is normal to z (x)
  RC_ASSERT(std::fabs(Z(1, 0) - Z(0, 1)) <= 4 * eps);
  RC_ASSERT(std::fabs(X(2, 1) - X(1, 2)) <= 4 * eps);
}

TEST(So3, RotationFromAxisAtThePoles) {
  EXPECT_EQ(rotation_from_z(Vec3::UnitZ()), Mat3::Identity());
  EXPECT_EQ(rotation_from_x(Vec3::UnitX()), Mat3::Identity());
  for (const Mat3& R : {rotation_from_z(-Vec3::UnitZ()), rotation_from_x(-Vec3::UnitX())}) {
    EXPECT_EQ(R.transpose() * R, Mat3::Identity());
    EXPECT_EQ(R.determinant(), 1);
  }
}

}  // namespace
}  // namespace limber::test
