// The scalar coefficients of SO(3), functions of x = φ² that are entire or have their only poles at φ = 2πk.
//
//   A = sin φ/φ                B  = (1−cos φ)/φ²          C  = (φ−sin φ)/φ³
//   B′/φ = (A − 2B)/x          C′/φ = (B − 3C)/x          K  = (1 + A − 4B)/x²
//   D = (1 − (φ/2) cot(φ/2))/x = −(B′/φ)/(2B)             D′/φ = K/(2B)
// A and B come from the half angle, A = s c, B = s²/2 with s = sin(φ/2)/(φ/2), c = cos(φ/2): no cancellation.
// The differences in the others cancel for small φ, so below φ = 3 they are their power series
//   C    =  Σ (−x)ᵏ/(2k+3)!              B′/φ = −Σ (2k+2)(−x)ᵏ/(2k+4)!
//   C′/φ = −Σ (2k+2)(−x)ᵏ/(2k+5)!        K    =  Σ (2k+2)(−x)ᵏ/(2k+6)!
// whose own terms cancel by less than a bit there; above, the differences lose at most three bits.
#pragma once

#include <array>
#include <cmath>

#include "limber/math/trig.h"

namespace limber::math {

// Terms kept: at φ = ½ the ninth, at φ = 3 the seventeenth is below 2⁻⁵⁶ of the sum.
inline constexpr int series_terms = 16, short_series_terms = 8;
inline constexpr double series_limit = 9.0, short_series_limit = 0.25;  // in x = φ²

// Coefficients of Σ weight(k) (−x)ᵏ/(2k + shift)!, where weight = 2k+2 or 1.
constexpr std::array<double, series_terms> so3_series(int shift, bool weighted) {
  std::array<double, series_terms> a{};
  double factorial = 1;
  for (int j = 2; j <= shift; ++j) factorial *= j;
  for (int k = 0; k < series_terms; ++k) {
    a[k] = (k % 2 ? -1.0 : 1.0) * (weighted ? 2 * k + 2 : 1) / factorial;
    factorial *= (2.0 * k + shift + 1) * (2.0 * k + shift + 2);
  }
  return a;
}

inline double sum_series(const std::array<double, series_terms>& a, double x) {
  double sum = 0;
  if (x < short_series_limit) {
    for (int k = short_series_terms - 1; k >= 0; --k) sum = a[k] + x * sum;
  } else {
    for (int k = series_terms - 1; k >= 0; --k) sum = a[k] + x * sum;
  }
  return sum;
}

struct HalfAngle {
  double s, c;  // sin(φ/2)/(φ/2), cos(φ/2)
};

inline HalfAngle half_angle(double x) {
  if (x < 0x1p-60) return {1, 1};
  const double h = 0.5 * std::sqrt(x);
  const SinCos t = sincos(h);
  return {t.sin / h, t.cos};
}

struct So3Coefficients {
  double A, B;

  explicit So3Coefficients(double x) : x_(x) {
    const HalfAngle t = half_angle(x);
    A = t.s * t.c;
    B = 0.5 * t.s * t.s;
  }
  double C() const {
    static constexpr auto a = so3_series(3, false);
    return x_ < series_limit ? sum_series(a, x_) : (1 - A) / x_;
  }
  double B_slope() const {  // B′/φ
    static constexpr auto a = so3_series(4, true);
    return x_ < series_limit ? -sum_series(a, x_) : (A - 2 * B) / x_;
  }
  double C_slope() const {  // C′/φ
    static constexpr auto a = so3_series(5, true);
    return x_ < series_limit ? -sum_series(a, x_) : (B - 3 * C()) / x_;
  }
  double D() const { return -B_slope() / (2 * B); }
  double D_slope() const {  // D′/φ
    static constexpr auto a = so3_series(6, true);
    const double K = x_ < series_limit ? sum_series(a, x_) : (1 + A - 4 * B) / (x_ * x_);
    return K / (2 * B);
  }

 private:
  double x_;
};

}  // namespace limber::math
