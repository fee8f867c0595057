// Independent answers in 80-bit arithmetic: everything from the matrix exponential, itself a scaled Taylor
// series.
//
//   φ₁(A) = Σ Aᵏ/(k+1)! is the upper right block of exp [A I; 0 0]; the right Jacobian of exp at V is
//   φ₁(−ad_V). Its derivative along δ is the upper right block of φ₁ [A E; 0 A] with E = −ad_δ.
#pragma once

#include <Eigen/Core>
#include <Eigen/LU>
#include <cmath>
#include <limits>

#include "limber/math/spatial.h"

namespace limber::test {

using Long = long double;
template <int n>
using LongMat = Eigen::Matrix<Long, n, n>;

inline constexpr double eps = std::numeric_limits<double>::epsilon();  // 2⁻⁵²

template <int n>
LongMat<n> expm(const LongMat<n>& A) {
  int halvings = 0;
  Long norm = A.cwiseAbs().rowwise().sum().maxCoeff();
  for (; norm > Long(0.25); norm /= 2) ++halvings;
  const LongMat<n> S = A / std::ldexp(Long(1), halvings);
  LongMat<n> sum = LongMat<n>::Identity();
  for (int k = 18; k >= 1; --k) sum = LongMat<n>::Identity() + S * sum / Long(k);
  for (int k = 0; k < halvings; ++k) sum = sum * sum;
  return sum;
}

template <int n>
LongMat<n> phi1(const LongMat<n>& A) {
  LongMat<2 * n> M = LongMat<2 * n>::Zero();
  M.template topLeftCorner<n, n>() = A;
  M.template topRightCorner<n, n>().setIdentity();
  return expm<2 * n>(M).template topRightCorner<n, n>();
}

inline LongMat<3> long_skew(const Vec3& v) { return math::skew(v).cast<Long>(); }

inline LongMat<3> jacobian(const Vec3& theta) { return phi1<3>(-long_skew(theta)); }
inline LongMat<6> jacobian(const Vec6& V) { return phi1<6>(-ad(V).cast<Long>()); }

// The derivative of J_r(θ) along δ.
inline LongMat<3> jacobian_along(const Vec3& theta, const Vec3& delta) {
  LongMat<6> M = LongMat<6>::Zero();
  M.topLeftCorner<3, 3>() = M.bottomRightCorner<3, 3>() = -long_skew(theta);
  M.topRightCorner<3, 3>() = -long_skew(delta);
  return phi1<6>(M).topRightCorner<3, 3>();
}

// Largest difference of two matrices, entry by entry.
template <typename A, typename B>
double distance(const A& a, const B& b) {
  return static_cast<double>((a.template cast<Long>() - b.template cast<Long>()).cwiseAbs().maxCoeff());
}

}  // namespace limber::test
