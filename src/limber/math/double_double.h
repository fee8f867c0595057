// Numbers as unevaluated sums hi + lo of two doubles, about 106 bits (Dekker 1971; Knuth TAOCP 2, 4.2.2).
//
// Internal to math/: the elementary functions carry one here where a rounding in the middle would cost the
// last bit. Only +, −, ×, ÷ and √ in round-to-nearest, so the bits are the same everywhere; compile without
// contraction.
#pragma once

#include <cmath>

namespace limber::math {

struct DoubleDouble {
  double hi = 0, lo = 0;
};

// a + b = hi + lo exactly; the quick form needs |a| ≥ |b| or a = 0.
inline DoubleDouble two_sum(double a, double b) {
  const double s = a + b, t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}
inline DoubleDouble quick_two_sum(double a, double b) {
  const double s = a + b;
  return {s, b - (s - a)};
}

// a · b = hi + lo exactly, by halves of 26 bits; for |a|, |b| below 2⁹⁹⁵ and |ab| above 2⁻⁹⁶⁸.
inline DoubleDouble two_product(double a, double b) {
  constexpr double splitter = 134217729;  // 2²⁷ + 1
  const double p = a * b, ta = splitter * a, tb = splitter * b;
  const double ah = ta - (ta - a), al = a - ah;
  const double bh = tb - (tb - b), bl = b - bh;
  return {p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

inline DoubleDouble operator-(const DoubleDouble& a) { return {-a.hi, -a.lo}; }

inline DoubleDouble operator+(const DoubleDouble& a, const DoubleDouble& b) {
  const DoubleDouble s = two_sum(a.hi, b.hi);
  return quick_two_sum(s.hi, s.lo + (a.lo + b.lo));
}

inline DoubleDouble operator-(const DoubleDouble& a, const DoubleDouble& b) { return a + (-b); }

inline DoubleDouble operator*(const DoubleDouble& a, const DoubleDouble& b) {
  const DoubleDouble p = two_product(a.hi, b.hi);
  return quick_two_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

inline DoubleDouble operator/(const DoubleDouble& a, const DoubleDouble& b) {
  const double q = a.hi / b.hi;
  const DoubleDouble p = two_product(q, b.hi);
  const double remainder = (((a.hi - p.hi) - p.lo) + a.lo) - q * b.lo;
  return quick_two_sum(q, remainder / b.hi);
}

inline DoubleDouble sqrt(const DoubleDouble& a) {  // a > 0
  const double s = std::sqrt(a.hi);
  const DoubleDouble p = two_product(s, s);
  return quick_two_sum(s, (((a.hi - p.hi) - p.lo) + a.lo) / (2 * s));
}

}  // namespace limber::math
