// What the generalised ABA does with its 6×6 blocks, four numbers at a time. Blocks are stored by columns,
// `stride` numbers each.
//
// X is the shift between two origins, φ_i = X φ_q: ω_i = ω_q, v_i = v_q + ω_q × r. So Xᵀ takes a wrench from
// i to q: τ_q = τ_i + r × f_i, f_q = f_i.
#pragma once

#include "limber/math/pack.h"
#include "limber/math/types.h"

namespace limber::multibody::block6 {

using math::load;
using math::pack;
using math::Pack;
using math::store;

constexpr int stride = 40;  // whole lines of the cache; the last four numbers stay zero

LIMBER_INLINE void clear(double* W) {
#pragma GCC unroll 9
  for (int i = 0; i < 36; i += 4) store(W + i, pack(0));
}
LIMBER_INLINE void copy(const double* from, double* W) {
#pragma GCC unroll 9
  for (int i = 0; i < 36; i += 4) store(W + i, load(from + i));
}

// A column of six as it lies in a pair of columns: (0 1 2 3), (4 5 | 0 1), (2 3 4 5).
struct Column {
  Pack a, b, c;
};
LIMBER_INLINE Column column(const double* v) {
  const Pack a = load(v), c = load(v + 2);
  return {a, __builtin_shufflevector(c, a, 2, 3, 4, 5), c};
}

// A column of six by itself.
using Two = double __attribute__((vector_size(16)));
using LooseTwo = double __attribute__((vector_size(16), aligned(8), may_alias));
struct Six {
  Pack a;
  Two b;
};
LIMBER_INLINE Six load6(const double* p) { return {load(p), *reinterpret_cast<const LooseTwo*>(p + 4)}; }
LIMBER_INLINE void store6(double* p, Six x) {
  store(p, x.a);
  *reinterpret_cast<LooseTwo*>(p + 4) = x.b;
}
LIMBER_INLINE Six operator+(Six x, Six y) { return {x.a + y.a, x.b + y.b}; }
LIMBER_INLINE Six operator-(Six x, Six y) { return {x.a - y.a, x.b - y.b}; }
LIMBER_INLINE Six operator*(double s, Six x) { return {pack(s) * x.a, Two{s, s} * x.b}; }
LIMBER_INLINE Six operator*(Six x, Six y) { return {x.a * y.a, x.b * y.b}; }
LIMBER_INLINE double sum(Six x) { return ((x.a[0] + x.a[2]) + x.b[0]) + ((x.a[1] + x.a[3]) + x.b[1]); }

// W −= V Uᵀ in the first 2 `pairs` columns of W; V and U have D columns.
template <int D>
LIMBER_INLINE void subtract_product(const double* V, const double* U, int pairs, double* W) {
  Column v[D > 0 ? D : 1];
  for (int j = 0; j < D; ++j) v[j] = column(V + 6 * j);
  for (int p = 0; p < 2 * pairs; p += 2) {
    double* w = W + 6 * p;
    Pack w0 = load(w), w1 = load(w + 4), w2 = load(w + 8);
    for (int j = 0; j < D; ++j) {
      const double x = U[6 * j + p], y = U[6 * j + p + 1];
      w0 -= v[j].a * pack(x), w1 -= v[j].b * Pack{x, x, y, y}, w2 -= v[j].c * pack(y);
    }
    store(w, w0), store(w + 4, w1), store(w + 8, w2);
  }
}

// x − V u for D columns of V and every sixth number of U.
template <int D>
LIMBER_INLINE Six less_product(Six x, const double* V, const double* U) {
  for (int j = 0; j < D; ++j) x = x - U[6 * j] * load6(V + 6 * j);
  return x;
}

// U = W S, D columns.
template <int D>
LIMBER_INLINE void times(const double* W, const double* S, double* U) {
  for (int j = 0; j < D; ++j) {
    Pack a = pack(0), b = pack(0), c = pack(0);
    for (int p = 0; p < 6; p += 2) {
      const double x = S[6 * j + p], y = S[6 * j + p + 1];
      const double* w = W + 6 * p;
      a += load(w) * pack(x), b += load(w + 4) * Pack{x, x, y, y}, c += load(w + 8) * pack(y);
    }
    store(U + 6 * j, a + __builtin_shufflevector(b, c, 2, 3, 4, 5));
    U[6 * j + 4] = b[0] + c[2], U[6 * j + 5] = b[1] + c[3];
  }
}

// U = Wᵀ S, D columns.
template <int D>
LIMBER_INLINE void transpose_times(const double* W, const double* S, double* U) {
  for (int j = 0; j < D; ++j) {
    const Column s = column(S + 6 * j);
    Pack t[3];
    for (int p = 0; p < 3; ++p) {
      const double* w = W + 12 * p;
      const Pack m0 = load(w) * s.a, m1 = load(w + 4) * s.b, m2 = load(w + 8) * s.c;
      t[p] = (__builtin_shufflevector(m0, m2, 0, 1, 4, 5) + __builtin_shufflevector(m0, m2, 2, 3, 6, 7)) + m1;
    }
    double* u = U + 6 * j;
    store(u,
          __builtin_shufflevector(t[0], t[1], 0, 2, 4, 6) + __builtin_shufflevector(t[0], t[1], 1, 3, 5, 7));
    u[4] = t[2][0] + t[2][1], u[5] = t[2][2] + t[2][3];
  }
}

// A wrench-like column brought from i to q: Xᵀ w.
LIMBER_INLINE Six shifted(const Vec3& r, Six w) {
  const double f0 = w.a[3], f1 = w.b[0], f2 = w.b[1];
  return {w.a + Pack{r[1] * f2 - r[2] * f1, r[2] * f0 - r[0] * f2, r[0] * f1 - r[1] * f0, 0}, w.b};
}
// The same of a column in memory. Reads, and does not use, one number behind it.
LIMBER_INLINE Six shifted(const Vec3& r, const double* w) {
  const Pack f = load(w + 3);  // (f₀ f₁ f₂ ·)
  const Pack cross = Pack{r[1], r[2], r[0], 0} * __builtin_shufflevector(f, f, 2, 0, 1, 3) -
                     Pack{r[2], r[0], r[1], 0} * __builtin_shufflevector(f, f, 1, 2, 0, 3);
  Six x = load6(w);
  x.a += Pack{cross[0], cross[1], cross[2], 0};
  return x;
}

// T += Xᵀ W − V Uᵀ; V and U have D columns.
template <int D>
LIMBER_INLINE void add_shifted(const Vec3& r, const double* W, const double* V, const double* U, double* T) {
  for (int c = 0; c < 6; ++c)
    store6(T + 6 * c, load6(T + 6 * c) + less_product<D>(shifted(r, W + 6 * c), V, U + c));
}

// T += (Xᵀ W)ᵀ − V Uᵀ.
template <int D>
LIMBER_INLINE void add_shifted_turned(const Vec3& r, const double* W, const double* V, const double* U,
                                      double* T) {
  Six z[6];
  for (int c = 0; c < 6; ++c) z[c] = shifted(r, W + 6 * c);
  const Pack ab_lo = __builtin_shufflevector(z[0].a, z[1].a, 0, 4, 2, 6),
             ab_hi = __builtin_shufflevector(z[0].a, z[1].a, 1, 5, 3, 7),
             cd_lo = __builtin_shufflevector(z[2].a, z[3].a, 0, 4, 2, 6),
             cd_hi = __builtin_shufflevector(z[2].a, z[3].a, 1, 5, 3, 7);
  const auto add = [=](int row, Pack first, double fifth, double sixth) LIMBER_LAMBDA {
    store6(T + 6 * row, load6(T + 6 * row) + less_product<D>(Six{first, Two{fifth, sixth}}, V, U + row));
  };
  add(0, __builtin_shufflevector(ab_lo, cd_lo, 0, 1, 4, 5), z[4].a[0], z[5].a[0]);
  add(1, __builtin_shufflevector(ab_hi, cd_hi, 0, 1, 4, 5), z[4].a[1], z[5].a[1]);
  add(2, __builtin_shufflevector(ab_lo, cd_lo, 2, 3, 6, 7), z[4].a[2], z[5].a[2]);
  add(3, __builtin_shufflevector(ab_hi, cd_hi, 2, 3, 6, 7), z[4].a[3], z[5].a[3]);
  add(4, Pack{z[0].b[0], z[1].b[0], z[2].b[0], z[3].b[0]}, z[4].b[0], z[5].b[0]);
  add(5, Pack{z[0].b[1], z[1].b[1], z[2].b[1], z[3].b[1]}, z[4].b[1], z[5].b[1]);
}

// T += Xᵀ W X − V Uᵀ for a symmetric W = (A, B; Bᵀ, C). Its lower left is not read and that of what is added
// follows from the upper right, so that rounding leaves T symmetric over thousands of bodies.
template <int D>
LIMBER_INLINE void add_shifted_both(const Vec3& r, const double* W, const double* V, const double* U,
                                    double* T) {
  Six z[6];
  for (int c = 3; c < 6; ++c) z[c] = shifted(r, W + 6 * c);
  for (int c = 0; c < 3; ++c) {
    const Pack w = load(W + 6 * c);
    z[c] = shifted(r, Six{Pack{w[0], w[1], w[2], W[18 + c]}, Two{W[24 + c], W[30 + c]}});
  }
  z[0] = z[0] + (r[1] * z[5] - r[2] * z[4]);
  z[1] = z[1] + (r[2] * z[3] - r[0] * z[5]);
  z[2] = z[2] + (r[0] * z[4] - r[1] * z[3]);
  for (int c = 0; c < 3; ++c) {
    const Six x = {Pack{z[c].a[0], z[c].a[1], z[c].a[2], z[3].a[c]}, Two{z[4].a[c], z[5].a[c]}};
    store6(T + 6 * c, load6(T + 6 * c) + less_product<D>(x, V, U + c));
  }
  for (int c = 3; c < 6; ++c) store6(T + 6 * c, load6(T + 6 * c) + less_product<D>(z[c], V, U + c));
}

}  // namespace limber::multibody::block6
