// Small vectors and matrices of packs: an element kernel written once runs on four elements. Only +, −, ×, ÷
// and √ of each lane: the same bits on every CPU, whatever its vectors' width.
#pragma once

#include <cmath>

#include "limber/math/numbers.h"
#include "limber/math/pack.h"

namespace limber::thread {

using math::lanes;
using math::LineAllocator;
using math::load;
using math::Numbers;
using math::pack;
using math::Pack;
using math::store;

LIMBER_INLINE Pack root(Pack x) {
  return Pack{std::sqrt(x[0]), std::sqrt(x[1]), std::sqrt(x[2]), std::sqrt(x[3])};
}
LIMBER_INLINE Pack larger(Pack a, Pack b) { return a > b ? a : b; }

// 12 x 12 in rows.
LIMBER_INLINE void transpose12(const double* from, double* to) {
  for (int i = 0; i < 12; i += 4)
    for (int k = 0; k < 12; k += 4) {
      const Pack a = load(from + 12 * i + k), b = load(from + 12 * (i + 1) + k),
                 c = load(from + 12 * (i + 2) + k), d = load(from + 12 * (i + 3) + k);
      const Pack ab_lo = __builtin_shufflevector(a, b, 0, 4, 2, 6),
                 ab_hi = __builtin_shufflevector(a, b, 1, 5, 3, 7);
      const Pack cd_lo = __builtin_shufflevector(c, d, 0, 4, 2, 6),
                 cd_hi = __builtin_shufflevector(c, d, 1, 5, 3, 7);
      store(to + 12 * k + i, __builtin_shufflevector(ab_lo, cd_lo, 0, 1, 4, 5));
      store(to + 12 * (k + 1) + i, __builtin_shufflevector(ab_hi, cd_hi, 0, 1, 4, 5));
      store(to + 12 * (k + 2) + i, __builtin_shufflevector(ab_lo, cd_lo, 2, 3, 6, 7));
      store(to + 12 * (k + 3) + i, __builtin_shufflevector(ab_hi, cd_hi, 2, 3, 6, 7));
    }
}

struct P3 {
  Pack v[3];
  LIMBER_INLINE Pack& operator[](int i) { return v[i]; }
  LIMBER_INLINE Pack operator[](int i) const { return v[i]; }
};
LIMBER_INLINE P3 operator+(const P3& a, const P3& b) { return {{a[0] + b[0], a[1] + b[1], a[2] + b[2]}}; }
LIMBER_INLINE P3 operator-(const P3& a, const P3& b) { return {{a[0] - b[0], a[1] - b[1], a[2] - b[2]}}; }
LIMBER_INLINE P3 operator*(Pack s, const P3& a) { return {{s * a[0], s * a[1], s * a[2]}}; }
LIMBER_INLINE Pack dot(const P3& a, const P3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
LIMBER_INLINE P3 cross(const P3& a, const P3& b) {
  return {{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]}};
}

struct P33 {
  Pack m[3][3];
  LIMBER_INLINE Pack& operator()(int i, int k) { return m[i][k]; }
  LIMBER_INLINE Pack operator()(int i, int k) const { return m[i][k]; }
};

#define LIMBER_EACH33         \
  for (int i = 0; i < 3; ++i) \
    for (int k = 0; k < 3; ++k)

LIMBER_INLINE P33 operator+(const P33& a, const P33& b) {
  P33 c;
  LIMBER_EACH33 c(i, k) = a(i, k) + b(i, k);
  return c;
}
LIMBER_INLINE P33 operator-(const P33& a, const P33& b) {
  P33 c;
  LIMBER_EACH33 c(i, k) = a(i, k) - b(i, k);
  return c;
}
LIMBER_INLINE P33 operator*(Pack s, const P33& a) {
  P33 c;
  LIMBER_EACH33 c(i, k) = s * a(i, k);
  return c;
}
LIMBER_INLINE P33 operator*(const P33& a, const P33& b) {
  P33 c;
  LIMBER_EACH33 c(i, k) = a(i, 0) * b(0, k) + a(i, 1) * b(1, k) + a(i, 2) * b(2, k);
  return c;
}
LIMBER_INLINE P33 transposed_times(const P33& a, const P33& b) {  // aᵀ b
  P33 c;
  LIMBER_EACH33 c(i, k) = a(0, i) * b(0, k) + a(1, i) * b(1, k) + a(2, i) * b(2, k);
  return c;
}
LIMBER_INLINE P33 times_transposed(const P33& a, const P33& b) {  // a bᵀ
  P33 c;
  LIMBER_EACH33 c(i, k) = a(i, 0) * b(k, 0) + a(i, 1) * b(k, 1) + a(i, 2) * b(k, 2);
  return c;
}
LIMBER_INLINE P33 transpose(const P33& a) {
  P33 c;
  LIMBER_EACH33 c(i, k) = a(k, i);
  return c;
}
LIMBER_INLINE P3 operator*(const P33& a, const P3& x) {
  P3 y;
  for (int i = 0; i < 3; ++i) y[i] = a(i, 0) * x[0] + a(i, 1) * x[1] + a(i, 2) * x[2];
  return y;
}
LIMBER_INLINE P3 transposed_times(const P33& a, const P3& x) {
  P3 y;
  for (int i = 0; i < 3; ++i) y[i] = a(0, i) * x[0] + a(1, i) * x[1] + a(2, i) * x[2];
  return y;
}
LIMBER_INLINE P33 outer(const P3& a, const P3& b) {  // a bᵀ
  P33 c;
  LIMBER_EACH33 c(i, k) = a[i] * b[k];
  return c;
}
LIMBER_INLINE P33 skew(const P3& a) {
  const Pack o = pack(0);
  return {{{o, -a[2], a[1]}, {a[2], o, -a[0]}, {-a[1], a[0], o}}};
}
LIMBER_INLINE P33 times_skew(const P33& a, const P3& v) {  // a [v]: its zeros are left out
  P33 c;
  for (int i = 0; i < 3; ++i) {
    c(i, 0) = a(i, 1) * v[2] - a(i, 2) * v[1];
    c(i, 1) = a(i, 2) * v[0] - a(i, 0) * v[2];
    c(i, 2) = a(i, 0) * v[1] - a(i, 1) * v[0];
  }
  return c;
}
LIMBER_INLINE P33 skew_transposed_times(const P3& v, const P33& a) {  // [v]ᵀ a
  P33 c;
  for (int k = 0; k < 3; ++k) {
    c(0, k) = v[2] * a(1, k) - v[1] * a(2, k);
    c(1, k) = v[0] * a(2, k) - v[2] * a(0, k);
    c(2, k) = v[1] * a(0, k) - v[0] * a(1, k);
  }
  return c;
}
LIMBER_INLINE P33 diagonal(Pack d) {
  const Pack o = pack(0);
  return {{{d, o, o}, {o, d, o}, {o, o, d}}};
}
LIMBER_INLINE P33 symmetric(const P33& a) {
  P33 c;
  LIMBER_EACH33 c(i, k) = 0.5 * (a(i, k) + a(k, i));
  return c;
}
LIMBER_INLINE P33 cofactors(const P33& a) {  // det(a) a⁻ᵀ
  P33 c;
  for (int i = 0; i < 3; ++i) {
    const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
    for (int k = 0; k < 3; ++k) {
      const int k1 = (k + 1) % 3, k2 = (k + 2) % 3;
      c(i, k) = a(i1, k1) * a(i2, k2) - a(i1, k2) * a(i2, k1);
    }
  }
  return c;
}

}  // namespace limber::thread
