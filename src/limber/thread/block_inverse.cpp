#include "limber/thread/block_inverse.h"

#include <algorithm>

#include "limber/thread/pack.h"

namespace limber::thread {
namespace {

constexpr double died = 1e-6;

// C (+)= A B, all in rows of 12, four of them at a time; Upper: A has zeros below its diagonal.
template <bool Add, bool Upper>
LIMBER_INLINE void multiply(const double* A, const double* B, double* C) {
  for (int r = 0; r < 12; r += 4) {
    Pack c[4][3];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i)
#pragma GCC unroll 3
      for (int p = 0; p < 3; ++p) c[i][p] = Add ? load(C + 12 * (r + i) + 4 * p) : pack(0);
    for (int k = Upper ? r : 0; k < 12; ++k) {
      const Pack b0 = load(B + 12 * k), b1 = load(B + 12 * k + 4), b2 = load(B + 12 * k + 8);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        const Pack f = pack(A[12 * (r + i) + k]);
        c[i][0] += f * b0, c[i][1] += f * b1, c[i][2] += f * b2;
      }
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i)
#pragma GCC unroll 3
      for (int p = 0; p < 3; ++p) store(C + 12 * (r + i) + 4 * p, c[i][p]);
  }
}

// V = U⁻¹ of a unit upper triangle, with the zeros below.
LIMBER_INLINE void invert_upper(const double* U, double* V) {
  for (int k = 11; k >= 0; --k) {
    Pack a[3] = {pack(0), pack(0), pack(0)};
    for (int i = k + 1; i < 12; ++i) {
      const Pack f = pack(U[12 * k + i]);
#pragma GCC unroll 3
      for (int p = 0; p < 3; ++p) a[p] -= f * load(V + 12 * i + 4 * p);
    }
    for (int p = 0; p < 3; ++p) store(V + 12 * k + 4 * p, a[p]);
    V[13 * k] = 1;
  }
}

LIMBER_KERNEL void block_kernel(const double* U, const double* pivots, const double* X, const double* G_next,
                                double* T, double* G) {
  double V[144] __attribute__((aligned(32))), W[144] __attribute__((aligned(32)));
  invert_upper(U, V);
  // A⁻¹ = V D⁻¹ Vᵀ
  transpose12(V, W);
  for (int i = 0; i < 12; ++i) {
    const Pack d = pack(pivots[i]);
    for (int p = 0; p < 3; ++p) store(W + 12 * i + 4 * p, d * load(W + 12 * i + 4 * p));
  }
  multiply<false, true>(V, W, G);
  if (X == nullptr) return;
  multiply<false, true>(V, X, T);
  for (int i = 0; i < 144; i += 4) store(T + i, -load(T + i));
  multiply<false, false>(T, G_next, V);
  transpose12(T, W);
  multiply<true, false>(V, W, G);
}

LIMBER_INLINE double largest(const double* y) {
  Pack m = pack(0);
  for (int k = 0; k < 36; k += 4) {
    const Pack x = load(y + k);
    m = larger(m, x > -x ? x : -x);
  }
  return std::max(std::max(m[0], m[1]), std::max(m[2], m[3]));
}

// to = Tᵀ from
LIMBER_INLINE void carry(const double* T, const double* from, double* to) {
  Pack b[3][3];
#pragma GCC unroll 3
  for (int r = 0; r < 3; ++r)
#pragma GCC unroll 3
    for (int p = 0; p < 3; ++p) b[r][p] = pack(0);
  for (int k = 0; k < 12; ++k) {
    const Pack t0 = load(T + 12 * k), t1 = load(T + 12 * k + 4), t2 = load(T + 12 * k + 8);
#pragma GCC unroll 3
    for (int r = 0; r < 3; ++r) {
      const Pack f = pack(from[12 * r + k]);
      b[r][0] += f * t0, b[r][1] += f * t1, b[r][2] += f * t2;
    }
  }
#pragma GCC unroll 3
  for (int r = 0; r < 3; ++r)
#pragma GCC unroll 3
    for (int p = 0; p < 3; ++p) store(to + 12 * r + 4 * p, b[r][p]);
}

LIMBER_KERNEL void carry_kernel(const double* T, const double* from, double* to) { carry(T, from, to); }

LIMBER_KERNEL void follow_kernel(const double* T, const double* y, double* out) {
  for (int r = 0; r < 3; ++r) {
    const Pack y0 = load(y + 12 * r), y1 = load(y + 12 * r + 4), y2 = load(y + 12 * r + 8);
    for (int i = 0; i < 12; ++i) {
      const Pack s = load(T + 12 * i) * y0 + load(T + 12 * i + 4) * y1 + load(T + 12 * i + 8) * y2;
      out[12 * r + i] += (s[0] + s[1]) + (s[2] + s[3]);
    }
  }
}

LIMBER_KERNEL int walk_kernel(const double* T, int steps, int way, bool may_end, double* y, double* size) {
  for (int k = 0; k < steps; ++k, T += 144 * way, y += 36) {
    const double here = largest(y);
    *size = here > *size ? here : *size;
    if (may_end && here <= died * *size) return k;
    carry(T, y, y + 36);
  }
  return steps;
}

}  // namespace

void BlockInverse::resize(int capacity) {
  T_.assign(144 * static_cast<std::size_t>(capacity), 0);
  G_.assign(144 * static_cast<std::size_t>(capacity), 0);
}

void BlockInverse::cover(const BlockTridiagonal& factor, int low, int high) {
  const int top = factor.top();
  const auto block = [&](int j, int next) {
    double *T = T_.data() + 144 * static_cast<std::ptrdiff_t>(j),
           *G = G_.data() + 144 * static_cast<std::ptrdiff_t>(j);
    block_kernel(factor.upper(j), factor.pivots(j), j == top ? nullptr : factor.coupling(j),
                 G_.data() + 144 * static_cast<std::ptrdiff_t>(next), T, G);
  };
  if (high_ < low_) block(top, top), low_ = high_ = top;
  while (low_ > low) --low_, block(low_, low_ + 1);
  while (high_ < high) ++high_, block(high_, high_ - 1);
}

int carry_forces(const BlockInverse& inverse, int j, int end, int way, bool may_end, double* y,
                 double& size) {
  return j + way * walk_kernel(inverse.transfer(j), way * (end - j), way, may_end, y, &size);
}

void apply3(const double* G, const double* y, double* out) { carry_kernel(G, y, out); }  // G is symmetric
void add_follow3(const double* T, const double* y, double* out) { follow_kernel(T, y, out); }

}  // namespace limber::thread
