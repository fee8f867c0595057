// The Jacobians of SO(3) and their coefficients, from 0 to just below 2π, on both sides of every switch of
// formula.
#include <gtest/gtest.h>

#include "limber/math/so3_coefficients.h"
#include "tests/math/generators.h"
#include "tests/math/oracle.h"

namespace limber::test {
namespace {

using namespace limber::math;

// Σ weight (−x)ᵏ/(2k+shift)! in 80 bits; the terms grow to e^φ before they fall, so up to φ = 4 it keeps
// 2⁻⁵⁸.
Long series(int shift, bool weighted, Long x) {
  Long sum = 0, term = 1;
  for (int j = 2; j <= shift; ++j) term /= j;
  for (int k = 0; k < 40; ++k) {
    sum += (weighted ? 2 * k + 2 : 1) * term;
    term *= -x / ((2 * k + shift + 1) * Long(2 * k + shift + 2));
  }
  return sum;
}

double relative(double got, Long expected) {
  return static_cast<double>(std::fabs(got - expected) / std::fabs(expected));
}

// Series keep 2 eps; the differences above φ = 3 lose three bits of A and B, which carry 2 eps themselves.
RC_GTEST_PROP(So3Coefficients, RelativePrecisionOnBothSidesOfTheSwitches, ()) {
  const double x = *rc::gen::oneOf(real(0, 16), log_real(-300, 0),
                                   rc::gen::map(real(-1, 1), [](double e) { return 9 + 1e-14 * e; }),
                                   rc::gen::map(real(-1, 1), [](double e) { return 0.25 + 1e-16 * e; }));
  const So3Coefficients f(x);
  const Long B = series(2, false, x), B_slope = -series(4, true, x), K = series(6, true, x);
  const double bound = (x < series_limit ? 4 : 16) * eps;
  RC_ASSERT(std::fabs(f.A - series(1, false, x)) <= 2 * eps);  // A itself passes through 0 at π
  RC_ASSERT(relative(f.B, B) <= 4 * eps);
  RC_ASSERT(relative(f.C(), series(3, false, x)) <= bound);
  RC_ASSERT(relative(f.B_slope(), B_slope) <= bound);
  RC_ASSERT(relative(f.C_slope(), -series(5, true, x)) <= bound);
  RC_ASSERT(relative(f.D(), -B_slope / (2 * B)) <= bound + 4 * eps);
  RC_ASSERT(relative(f.D_slope(), K / (2 * B)) <= bound + 4 * eps);
}

// Entries up to 1; φ² B, φ² C carry the rounding of φ like the entries of exp.
RC_GTEST_PROP(So3Jacobian, IsPhi1OfMinusSkew, ()) {
  const Vec3 theta = *rotation_vector(wide_angle());
  RC_ASSERT(distance(so3_jacobian(theta), jacobian(theta)) <= eps * (2 + theta.norm()));
}

RC_GTEST_PROP(So3Jacobian, InverseIsTheInverse, ()) {
  const Vec3 theta = *rotation_vector(angle());
  const LongMat<3> expected = jacobian(theta).inverse();
  RC_ASSERT(distance(so3_jacobian_inverse(theta), expected) <= 6 * eps);
}

// Beyond π the closed form in 80 bits, as inverting J_r would cost the oracle too many. J_r⁻¹ grows like
// φ/gap, and a rounding of φ (2 eps) changes it by φ/gap more.
RC_GTEST_PROP(So3Jacobian, InverseUpTo2Pi, ()) {
  const double gap = *log_real(-9, 0.45);
  const Vec3 theta = (2 * pi - gap) * *unit_vector();
  const LongMat<3> T = long_skew(theta);
  const Long phi = std::sqrt(-(T * T).trace() / 2), h = phi / 2;
  const LongMat<3> expected = LongMat<3>::Identity() + T / 2 + (1 - h / std::tan(h)) / (phi * phi) * T * T;
  const double growth = 2 * pi / gap;
  RC_ASSERT(distance(so3_jacobian_inverse(theta), expected) <= 2 * eps * (4 + growth * growth));
}

// exp(θ + δ) = exp(θ) exp(J_r δ): the defining property, in exact arithmetic off by |δ|² = 1e-16.
RC_GTEST_PROP(So3Jacobian, PerturbsOnTheRight, ()) {
  const Vec3 theta = *rotation_vector(angle()), delta = 1e-8 * *unit_vector();
  const Mat3 moved = so3_exp(theta) * so3_exp(so3_jacobian(theta) * delta);
  RC_ASSERT(distance(moved, so3_exp(theta + delta)) <= 1e-16 + 20 * eps);
}

RC_GTEST_PROP(So3Jacobian, DerivativeOfTheProductWithW, ()) {
  const Vec3 theta = *rotation_vector(wide_angle()), w = *vector(1);
  LongMat<3> expected;
  for (int k = 0; k < 3; ++k) expected.col(k) = jacobian_along(theta, Vec3::Unit(k)) * w.cast<Long>();
  // sums of four terms, each up to φ |w|
  RC_ASSERT(distance(so3_jacobian_derivative(theta, w), expected) <= 4 * eps * (1 + theta.norm()) * w.norm());
}

// ∂(J⁻ᵀ) = −J⁻ᵀ (∂J)ᵀ J⁻ᵀ
RC_GTEST_PROP(So3Jacobian, DerivativeOfTheInverseTransposeWithW, ()) {
  const Vec3 theta = *rotation_vector(wide_angle()), w = *vector(1);
  const LongMat<3> Jit = jacobian(theta).inverse().transpose();
  LongMat<3> expected;
  for (int k = 0; k < 3; ++k)
    expected.col(k) = -Jit * jacobian_along(theta, Vec3::Unit(k)).transpose() * Jit * w.cast<Long>();
  const double gap = 2 * pi - theta.norm();
  const double magnified =
      theta.norm() <= pi ? 1 : 1 + 8 * pi * pi * pi / (gap * gap * gap);  // one power more than J⁻¹
  RC_ASSERT(distance(so3_jacobian_inverse_transpose_derivative(theta, w), expected) <=
            8 * eps * magnified * w.norm());
}

TEST(So3Jacobian, AtZero) {
  const Vec3 zero = Vec3::Zero(), w(1, -2, 3);
  EXPECT_EQ(so3_jacobian(zero), Mat3::Identity());
  EXPECT_EQ(so3_jacobian_inverse(zero), Mat3::Identity());
  EXPECT_EQ(so3_jacobian_derivative(zero, w), 0.5 * skew(w));
  EXPECT_EQ(so3_jacobian_inverse_transpose_derivative(zero, w), 0.5 * skew(w));
}

}  // namespace
}  // namespace limber::test
