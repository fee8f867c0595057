#include "limber/thread/block_tridiagonal.h"

#include <algorithm>
#include <cmath>

#include "limber/thread/pack.h"

namespace limber::thread {
namespace {

LIMBER_INLINE Pack splat(double x) { return Pack{x, x, x, x}; }

// Rows 4B … 4B + 3 of one node less what the rows above them leave: columns First … First + N − 1 (packs; 3
// to 5 are O's) in registers.
template <int B, int First, int N>
LIMBER_INLINE void subtract_above(const double* U, const double* O, double* R) {
  Pack a[4][N];
#pragma GCC unroll 4
  for (int r = 0; r < 4; ++r)
#pragma GCC unroll 3
    for (int c = 0; c < N; ++c)
      a[r][c] = First + c < 3 ? load(R + 24 * (4 * B + r) + 4 * (First + c))
                              : load(O + 12 * (4 * B + r) + 4 * (First + c - 3));
  for (int k = 0; k < 4 * B; ++k) {
    Pack x[N];
#pragma GCC unroll 3
    for (int c = 0; c < N; ++c) x[c] = load(R + 24 * k + 4 * (First + c));
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r) {
      const Pack f = splat(U[12 * k + 4 * B + r]);
#pragma GCC unroll 3
      for (int c = 0; c < N; ++c) a[r][c] -= f * x[c];
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < 4; ++r)
#pragma GCC unroll 3
    for (int c = 0; c < N; ++c) store(R + 24 * (4 * B + r) + 4 * (First + c), a[r][c]);
}

// Rows 4B … 4B + 3 of [D O] eliminated, several nodes in lockstep, so that one waits for no division of the
// other.
template <int B, int M>
LIMBER_INLINE void eliminate_rows(const double* const (&O)[M], double* const (&R)[M], double* const (&U)[M],
                                  double* const (&X)[M], double* const (&inverse)[M]) {
#pragma GCC unroll 2
  for (int m = 0; m < M; ++m) {
    if constexpr (B == 1)
      subtract_above<1, 1, 2>(U[m], O[m], R[m]), subtract_above<1, 3, 3>(U[m], O[m], R[m]);
    if constexpr (B == 2)
      subtract_above<2, 2, 1>(U[m], O[m], R[m]), subtract_above<2, 3, 3>(U[m], O[m], R[m]);
  }
#pragma GCC unroll 4
  for (int i = 4 * B; i < 4 * B + 4; ++i) {
#pragma GCC unroll 2
    for (int m = 0; m < M; ++m) {
      Pack a[6];
#pragma GCC unroll 6
      for (int c = B; c < 6; ++c)
        a[c] = B == 0 && c >= 3 ? load(O[m] + 12 * i + 4 * (c - 3)) : load(R[m] + 24 * i + 4 * c);
#pragma GCC unroll 4
      for (int k = 4 * B; k < i; ++k) {
        const Pack f = splat(U[m][12 * k + i]);
#pragma GCC unroll 6
        for (int c = B; c < 6; ++c) a[c] -= f * load(R[m] + 24 * k + 4 * c);
      }
      const double inv = 1 / a[B][i % 4];
      inverse[m][i] = inv;
      const Pack over = splat(inv);
#pragma GCC unroll 3
      for (int c = B; c < 3; ++c) {
        store(R[m] + 24 * i + 4 * c, a[c]);
        store(U[m] + 12 * i + 4 * c, over * a[c]);
      }
#pragma GCC unroll 3
      for (int c = 3; c < 6; ++c) {
        store(R[m] + 24 * i + 4 * c, a[c]);
        store(X[m] + 12 * i + 4 * (c - 3), over * a[c]);
      }
    }
    // What is stored is read again from memory, where a factor is broadcast for nothing: too many rows for
    // the registers.
    asm volatile("" ::: "memory");
  }
}

// Rows of [D O] eliminated, four at a time. R has D in its first twelve columns; it is left with the rows as
// eliminated (D's upper triangle, O). U and X: the same over their pivots; X may be O.
template <int M>
LIMBER_INLINE void eliminate(const double* const (&O)[M], double* const (&R)[M], double* const (&U)[M],
                             double* const (&X)[M], double* const (&inverse)[M]) {
  eliminate_rows<0, M>(O, R, U, X, inverse);
  eliminate_rows<1, M>(O, R, U, X, inverse);
  eliminate_rows<2, M>(O, R, U, X, inverse);
}

// R = D − ZᵀX, upper triangle in packs; Z and R in rows of 24, D in rows of Stride.
template <int First, int Stride>
LIMBER_INLINE void subtract_rows(const double* Z, const double* X, const double* D, double* R) {
  Pack a[4][3];
#pragma GCC unroll 4
  for (int r = 0; r < 4; ++r)
#pragma GCC unroll 3
    for (int c = First; c < 3; ++c) a[r][c] = load(D + Stride * (4 * First + r) + 4 * c);
  for (int k = 0; k < 12; ++k) {
    Pack x[3];
#pragma GCC unroll 3
    for (int c = First; c < 3; ++c) x[c] = load(X + 12 * k + 4 * c);
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r) {
      const Pack f = splat(Z[24 * k + 4 * First + r]);
#pragma GCC unroll 3
      for (int c = First; c < 3; ++c) a[r][c] -= f * x[c];
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < 4; ++r)
#pragma GCC unroll 3
    for (int c = First; c < 3; ++c) store(R + 24 * (4 * First + r) + 4 * c, a[r][c]);
}
template <int Stride>
LIMBER_INLINE void subtract_product(const double* Z, const double* X, const double* D, double* R) {
  subtract_rows<0, Stride>(Z, X, D, R);
  subtract_rows<1, Stride>(Z, X, D, R);
  subtract_rows<2, Stride>(Z, X, D, R);
}

LIMBER_INLINE void copy_block(const double* D, double* R) {
  for (int i = 0; i < 12; ++i)
    for (int c = 0; c < 12; c += 4) store(R + 24 * i + c, load(D + 12 * i + c));
}
// b = L⁻¹ b of twelve numbers.
LIMBER_INLINE void forward12(const double* U, double* b) {
  Pack a[3] = {load(b), load(b + 4), load(b + 8)};
#pragma GCC unroll 12
  for (int k = 0; k < 12; ++k) {
    const Pack f = splat(a[k / 4][k % 4]);
    // Left of the diagonal U is not set: those lanes are finished and kept.
    const Pack own = a[k / 4] - f * load(U + 12 * k + k / 4 * 4);
    const int lane = k % 4;
    a[k / 4] = lane == 0   ? __builtin_shufflevector(a[k / 4], own, 0, 5, 6, 7)
               : lane == 1 ? __builtin_shufflevector(a[k / 4], own, 0, 1, 6, 7)
               : lane == 2 ? __builtin_shufflevector(a[k / 4], own, 0, 1, 2, 7)
                           : a[k / 4];
#pragma GCC unroll 2
    for (int c = k / 4 + 1; c < 3; ++c) a[c] -= f * load(U + 12 * k + 4 * c);
  }
  store(b, a[0]), store(b + 4, a[1]), store(b + 8, a[2]);
}

// One block eliminated at either end, or at one end only. Two buffers at each end: the rows of the block at
// hand and those of the next one.
LIMBER_KERNEL void factor_kernel(int nodes, int top, double* D, double* O, double* inverse) {
  double buffer[4][288] __attribute__((aligned(32))), T[144] __attribute__((aligned(32)));
  double *up = buffer[0], *up_next = buffer[1], *down = buffer[2], *down_next = buffer[3];
  int lo = 0, hi = nodes - 1;
  copy_block(D, up);
  copy_block(D + 144 * hi, down);
  while (lo < top && hi > top) {
    transpose12(O + 144 * (hi - 1), T);
    eliminate<2>({O + 144 * lo, T}, {up, down}, {D + 144 * lo, D + 144 * hi},
                 {O + 144 * lo, O + 144 * (hi - 1)}, {inverse + 12 * lo, inverse + 12 * hi});
    subtract_product<12>(up + 12, O + 144 * lo, D + 144 * (lo + 1), up_next);
    if (hi - 1 == lo + 1)  // the last two meet in one block
      subtract_product<24>(down + 12, O + 144 * (hi - 1), up_next, up_next);
    else
      subtract_product<12>(down + 12, O + 144 * (hi - 1), D + 144 * (hi - 1), down_next);
    std::swap(up, up_next), std::swap(down, down_next);
    ++lo, --hi;
  }
  for (; lo < top; ++lo) {
    eliminate<1>({O + 144 * lo}, {up}, {D + 144 * lo}, {O + 144 * lo}, {inverse + 12 * lo});
    if (lo + 1 == hi)
      subtract_product<24>(up + 12, O + 144 * lo, down, up_next);
    else
      subtract_product<12>(up + 12, O + 144 * lo, D + 144 * (lo + 1), up_next);
    std::swap(up, up_next);
  }
  for (; hi > top; --hi) {
    transpose12(O + 144 * (hi - 1), T);
    eliminate<1>({T}, {down}, {D + 144 * hi}, {O + 144 * (hi - 1)}, {inverse + 12 * hi});
    if (hi - 1 == lo) {
      subtract_product<24>(down + 12, O + 144 * (hi - 1), up, up);
    } else {
      subtract_product<12>(down + 12, O + 144 * (hi - 1), D + 144 * (hi - 1), down_next);
      std::swap(down, down_next);
    }
  }
  // No neighbour is left of the last: its rows of O are nothing.
  std::fill_n(T, 144, 0.0);
  double none[144];
  eliminate<1>({T}, {up}, {D + 144 * top}, {none}, {inverse + 12 * top});
}

LIMBER_INLINE void forward_step(const double* X, const double* y, double* b) {
  Pack a = load(b), c = load(b + 4), d = load(b + 8);
  for (int k = 0; k < 12; ++k) {
    const Pack f = splat(y[k]);
    a -= f * load(X + 12 * k);
    c -= f * load(X + 12 * k + 4);
    d -= f * load(X + 12 * k + 8);
  }
  store(b, a), store(b + 4, c), store(b + 8, d);
}

// y = U⁻¹ (D⁻¹y − X z): rows are dotted.
LIMBER_INLINE void backward_step(const double* U, const double* inverse, const double* X, const double* z,
                                 double* y) {
  double b[12];
  for (int k = 0; k < 12; ++k) b[k] = y[k] * inverse[k];
  if (X != nullptr) {
    const Pack z0 = load(z), z1 = load(z + 4), z2 = load(z + 8);
#pragma GCC unroll 12
    for (int k = 0; k < 12; ++k) {
      const Pack s = load(X + 12 * k) * z0 + load(X + 12 * k + 4) * z1 + load(X + 12 * k + 8) * z2;
      b[k] -= (s[0] + s[1]) + (s[2] + s[3]);
    }
  }
  // By columns: a number that is known leaves all rows above.
#pragma GCC unroll 12
  for (int i = 11; i > 0; --i)
#pragma GCC unroll 12
    for (int k = 0; k < i; ++k) b[k] -= U[12 * k + i] * b[i];
  for (int k = 0; k < 12; ++k) y[k] = b[k];
}

// Both ends in step, so that one waits for no result of the other.
LIMBER_KERNEL void solve_kernel(int nodes, int top, const double* U, const double* X, const double* inverse,
                                double* x) {
  const auto up = [&](int j) LIMBER_LAMBDA {
    forward12(U + 144 * j, x + 12 * j);
    forward_step(X + 144 * j, x + 12 * j, x + 12 * (j + 1));
  };
  const auto down = [&](int j) LIMBER_LAMBDA {
    forward12(U + 144 * j, x + 12 * j);
    forward_step(X + 144 * (j - 1), x + 12 * j, x + 12 * (j - 1));
  };
  const auto back = [&](int j, int from) LIMBER_LAMBDA {
    backward_step(U + 144 * j, inverse + 12 * j, X + 144 * (j < from ? j : from), x + 12 * from, x + 12 * j);
  };
  int lo = 0, hi = nodes - 1;
  for (; lo < top && hi > top; ++lo, --hi) up(lo), down(hi);
  for (; lo < top; ++lo) up(lo);
  for (; hi > top; --hi) down(hi);
  forward12(U + 144 * top, x + 12 * top);
  backward_step(U + 144 * top, inverse + 12 * top, nullptr, nullptr, x + 12 * top);
  lo = top - 1, hi = top + 1;
  for (; lo >= 0 && hi < nodes; --lo, ++hi) back(lo, lo + 1), back(hi, hi - 1);
  for (; lo >= 0; --lo) back(lo, lo + 1);
  for (; hi < nodes; ++hi) back(hi, hi - 1);
}

}  // namespace

void BlockTridiagonal::resize(int capacity) { inverse_.assign(12 * static_cast<std::size_t>(capacity), 0); }

int BlockTridiagonal::factor(int nodes, int top, double* D, double* O) {
  nodes_ = nodes;
  top_ = top;
  U_ = D, X_ = O;
  factor_kernel(nodes, top, D, O, inverse_.data());
  negative_ = 0;
  int worst = -1;
  for (int i = 12 * nodes - 1; i >= 0; --i) {
    if (!(inverse_[i] > 0)) ++negative_, worst = i / 12;
  }
  return worst;
}

void BlockTridiagonal::solve(double* x) const { solve_kernel(nodes_, top_, U_, X_, inverse_.data(), x); }

double BlockTridiagonal::negative_share(const double* x) const {
  double taken = 0, given = 0;
  for (int j = 0; j < nodes_; ++j) {
    const double *U = upper(j), *y = x + 12 * static_cast<std::ptrdiff_t>(j);
    const double* X = j == top_ ? nullptr : coupling(j);
    const double* z = j < top_ ? y + 12 : y - 12;
    for (int k = 0; k < 12; ++k) {
      double s = y[k];
      for (int i = k + 1; i < 12; ++i) s += U[12 * k + i] * y[i];
      for (int i = 0; i < 12 && X != nullptr; ++i) s += X[12 * k + i] * z[i];
      const double part = s * s / pivots(j)[k];
      (part < 0 ? taken : given) += std::abs(part);
    }
  }
  return taken / given;
}

void block_multiply(int nodes, const double* D, const double* O, const double* x, double* y) {
  for (int j = 0; j < nodes; ++j) {
    const double* d = D + 144 * static_cast<std::size_t>(j);
    for (int i = 0; i < 12; ++i) {
      double s = 0;
      for (int k = 0; k < 12; ++k) s += (k >= i ? d[12 * i + k] : d[12 * k + i]) * x[12 * j + k];
      y[12 * j + i] += s;
    }
    if (j + 1 == nodes) break;
    const double* o = O + 144 * static_cast<std::size_t>(j);
    for (int i = 0; i < 12; ++i)
      for (int k = 0; k < 12; ++k) {
        y[12 * j + i] += o[12 * i + k] * x[12 * (j + 1) + k];
        y[12 * (j + 1) + k] += o[12 * i + k] * x[12 * j + i];
      }
  }
}

}  // namespace limber::thread
