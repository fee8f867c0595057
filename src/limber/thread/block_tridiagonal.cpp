#include "limber/thread/block_tridiagonal.h"

#include <algorithm>
#include <cmath>

#include "limber/thread/pack.h"

namespace limber::thread {
namespace {

LIMBER_INLINE Pack splat(double x) { return Pack{x, x, x, x}; }

// Several blocks in lockstep, so that one waits for no division of the other.
// In place: the rows of D become those of the unit triangle times nothing else; `inverse` is 1/pivot.
template <int M>
LIMBER_INLINE void ldl12(double* const (&D)[M], double* const (&inverse)[M]) {
  for (int k = 0; k < 12; ++k) {
    const int c0 = k / 4 * 4;
    for (int m = 0; m < M; ++m) {
      double* row = D[m] + 12 * k;
      const double inv = 1 / row[k];
      inverse[m][k] = inv;
      for (int i = k + 1; i < 12; ++i) {
        const Pack f = splat(row[i] * inv);
        for (int c = i / 4 * 4; c < 12; c += 4)
          store(D[m] + 12 * i + c, load(D[m] + 12 * i + c) - f * load(row + c));
      }
      for (int c = c0; c < 12; c += 4) store(row + c, splat(inv) * load(row + c));
    }
  }
}

// Z = L⁻¹ B in place, then X = D⁻¹Z beside it.
template <int M>
LIMBER_INLINE void solve_rows(double* const (&U)[M], double* const (&inverse)[M], double* const (&Z)[M],
                              double* const (&X)[M]) {
  for (int k = 0; k < 12; ++k)
    for (int m = 0; m < M; ++m) {
      double* z = Z[m];
      Pack a = load(z + 12 * k), b = load(z + 12 * k + 4), c = load(z + 12 * k + 8);
      for (int i = 0; i < k; ++i) {
        const Pack f = splat(U[m][12 * i + k]);
        a -= f * load(z + 12 * i);
        b -= f * load(z + 12 * i + 4);
        c -= f * load(z + 12 * i + 8);
      }
      store(z + 12 * k, a), store(z + 12 * k + 4, b), store(z + 12 * k + 8, c);
      const Pack inv = splat(inverse[m][k]);
      store(X[m] + 12 * k, inv * a), store(X[m] + 12 * k + 4, inv * b), store(X[m] + 12 * k + 8, inv * c);
    }
}

// D −= ZᵀX, upper triangle in packs.
LIMBER_INLINE void subtract_product(const double* Z, const double* X, double* D) {
  for (int block = 0; block < 3; ++block) {
    const int c0 = 4 * block, wide = 3 - block;
    for (int i = c0; i < c0 + 4; i += 2) {
      Pack a[2][3];
      for (int r = 0; r < 2; ++r)
        for (int c = 0; c < wide; ++c) a[r][c] = load(D + 12 * (i + r) + c0 + 4 * c);
      for (int k = 0; k < 12; ++k) {
        const Pack f0 = splat(Z[12 * k + i]), f1 = splat(Z[12 * k + i + 1]);
        for (int c = 0; c < wide; ++c) {
          const Pack x = load(X + 12 * k + c0 + 4 * c);
          a[0][c] -= f0 * x;
          a[1][c] -= f1 * x;
        }
      }
      for (int r = 0; r < 2; ++r)
        for (int c = 0; c < wide; ++c) store(D + 12 * (i + r) + c0 + 4 * c, a[r][c]);
    }
  }
}

LIMBER_INLINE void copy144(const double* from, double* to) {
  for (int i = 0; i < 144; i += 4) store(to + i, load(from + i));
}
LIMBER_INLINE void copy_transposed(const double* from, double* to) {
  for (int i = 0; i < 12; ++i)
    for (int k = 0; k < 12; ++k) to[12 * k + i] = from[12 * i + k];
}

// b = L⁻¹ b of twelve numbers.
LIMBER_INLINE void forward12(const double* U, double* b) {
  for (int k = 0; k < 12; ++k) {
    const double own = b[k];
    const int next = (k / 4 + 1) * 4;
    for (int c = k + 1; c < next; ++c) b[c] -= own * U[12 * k + c];
    const Pack f = splat(own);
    for (int c = next; c < 12; c += 4) store(b + c, load(b + c) - f * load(U + 12 * k + c));
  }
}

// One block eliminated at either end, or at one end only.
LIMBER_KERNEL void factor_kernel(int nodes, int top, const double* D, const double* O, double* U, double* X,
                                 double* inverse) {
  double Z[2][144] __attribute__((aligned(32)));
  int lo = 0, hi = nodes - 1;
  copy144(D, U);
  if (hi > 0) copy144(D + 144 * hi, U + 144 * hi);
  for (; lo < top && hi > top; ++lo, --hi) {
    double *Ul = U + 144 * lo, *Uh = U + 144 * hi;
    ldl12<2>({Ul, Uh}, {inverse + 12 * lo, inverse + 12 * hi});
    copy144(O + 144 * lo, Z[0]);
    copy_transposed(O + 144 * (hi - 1), Z[1]);
    solve_rows<2>({Ul, Uh}, {inverse + 12 * lo, inverse + 12 * hi}, {Z[0], Z[1]},
                  {X + 144 * lo, X + 144 * hi});
    copy144(D + 144 * (lo + 1), Ul + 144);
    subtract_product(Z[0], X + 144 * lo, Ul + 144);
    if (hi - 1 != lo + 1) copy144(D + 144 * (hi - 1), Uh - 144);
    subtract_product(Z[1], X + 144 * hi, Uh - 144);
  }
  for (; lo < top; ++lo) {
    ldl12<1>({U + 144 * lo}, {inverse + 12 * lo});
    copy144(O + 144 * lo, Z[0]);
    solve_rows<1>({U + 144 * lo}, {inverse + 12 * lo}, {Z[0]}, {X + 144 * lo});
    if (lo + 1 != hi) copy144(D + 144 * (lo + 1), U + 144 * (lo + 1));
    subtract_product(Z[0], X + 144 * lo, U + 144 * (lo + 1));
  }
  for (; hi > top; --hi) {
    ldl12<1>({U + 144 * hi}, {inverse + 12 * hi});
    copy_transposed(O + 144 * (hi - 1), Z[0]);
    solve_rows<1>({U + 144 * hi}, {inverse + 12 * hi}, {Z[0]}, {X + 144 * hi});
    if (hi - 1 != lo) copy144(D + 144 * (hi - 1), U + 144 * (hi - 1));
    subtract_product(Z[0], X + 144 * hi, U + 144 * (hi - 1));
  }
  ldl12<1>({U + 144 * top}, {inverse + 12 * top});
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
  for (int k = 0; k < 12; ++k) y[k] *= inverse[k];
  if (X != nullptr) {
    const Pack z0 = load(z), z1 = load(z + 4), z2 = load(z + 8);
    for (int k = 0; k < 12; ++k) {
      const Pack s = load(X + 12 * k) * z0 + load(X + 12 * k + 4) * z1 + load(X + 12 * k + 8) * z2;
      y[k] -= (s[0] + s[1]) + (s[2] + s[3]);
    }
  }
  for (int k = 10; k >= 0; --k) {
    double s = y[k];
    for (int i = k + 1; i < 12; ++i) s -= U[12 * k + i] * y[i];
    y[k] = s;
  }
}

LIMBER_KERNEL void solve_kernel(int nodes, int top, const double* U, const double* X, const double* inverse,
                                double* x) {
  for (int j = 0; j < top; ++j) {
    forward12(U + 144 * j, x + 12 * j);
    forward_step(X + 144 * j, x + 12 * j, x + 12 * (j + 1));
  }
  for (int j = nodes - 1; j > top; --j) {
    forward12(U + 144 * j, x + 12 * j);
    forward_step(X + 144 * j, x + 12 * j, x + 12 * (j - 1));
  }
  forward12(U + 144 * top, x + 12 * top);
  backward_step(U + 144 * top, inverse + 12 * top, nullptr, nullptr, x + 12 * top);
  for (int j = top - 1; j >= 0; --j)
    backward_step(U + 144 * j, inverse + 12 * j, X + 144 * j, x + 12 * (j + 1), x + 12 * j);
  for (int j = top + 1; j < nodes; ++j)
    backward_step(U + 144 * j, inverse + 12 * j, X + 144 * j, x + 12 * (j - 1), x + 12 * j);
}

// Four right-hand sides side by side: y (12 packs a node).
LIMBER_INLINE void forward_packs(const double* U, double* y) {
  Pack b[12];
  for (int k = 0; k < 12; ++k) b[k] = load(y + 4 * k);
  for (int k = 0; k < 12; ++k) {
    for (int i = k + 1; i < 12; ++i) b[i] -= splat(U[12 * k + i]) * b[k];
  }
  for (int k = 0; k < 12; ++k) store(y + 4 * k, b[k]);
}
LIMBER_INLINE void carry_packs(const double* X, const double* y, double* to) {
  Pack b[12];
  for (int i = 0; i < 12; ++i) b[i] = load(to + 4 * i);
  for (int k = 0; k < 12; ++k) {
    const Pack f = load(y + 4 * k);
    for (int i = 0; i < 12; ++i) b[i] -= splat(X[12 * k + i]) * f;
  }
  for (int i = 0; i < 12; ++i) store(to + 4 * i, b[i]);
}

LIMBER_INLINE void scale_packs(const double* root, double* y) {
  for (int k = 0; k < 12; ++k) store(y + 4 * k, splat(root[k]) * load(y + 4 * k));
}

LIMBER_INLINE double largest(const double* y) {
  Pack m = pack(0);
  for (int k = 0; k < 12; ++k) {
    const Pack x = load(y + 4 * k);
    m = larger(m, x > -x ? x : -x);
  }
  return std::max(std::max(m[0], m[1]), std::max(m[2], m[3]));
}

LIMBER_KERNEL int forward4_kernel(int top, const double* U, const double* X, const double* root, double* y,
                                  int first, int last) {
  double size = 0;
  for (int j = first; j < top; ++j) {
    forward_packs(U + 144 * j, y + 48 * j);
    carry_packs(X + 144 * j, y + 48 * j, y + 48 * (j + 1));
    scale_packs(root + 12 * j, y + 48 * j);
    const double here = largest(y + 48 * j);
    size = std::max(size, here);
    if (j > last && here < 1e-9 * size) return j;
  }
  for (int j = last; j > top; --j) {
    forward_packs(U + 144 * j, y + 48 * j);
    carry_packs(X + 144 * j, y + 48 * j, y + 48 * (j - 1));
    scale_packs(root + 12 * j, y + 48 * j);
  }
  forward_packs(U + 144 * top, y + 48 * top);
  scale_packs(root + 12 * top, y + 48 * top);
  return std::max(top, last);
}

LIMBER_KERNEL void cross_kernel(const double* a, const double* b, int from, int to, double* out) {
  Pack c[4] = {pack(0), pack(0), pack(0), pack(0)};
  for (int i = 12 * from; i < 12 * (to + 1); ++i) {
    const Pack x = load(a + 4 * i);
    for (int k = 0; k < 3; ++k) c[k] += x * splat(b[4 * i + k]);
  }
  for (int k = 0; k < 4; ++k) store(out + 4 * k, c[k]);
}

}  // namespace

void BlockTridiagonal::resize(int capacity) {
  U_.assign(144 * static_cast<std::size_t>(capacity), 0);
  X_.assign(144 * static_cast<std::size_t>(capacity), 0);
  inverse_.assign(12 * static_cast<std::size_t>(capacity), 0);
  root_.assign(12 * static_cast<std::size_t>(capacity), 0);
}

int BlockTridiagonal::factor(int nodes, int top, const double* D, const double* O) {
  nodes_ = nodes;
  top_ = top;
  factor_kernel(nodes, top, D, O, U_.data(), X_.data(), inverse_.data());
  negative_ = 0;
  int worst = -1;
  for (int i = 12 * nodes - 1; i >= 0; --i) {
    if (!(inverse_[i] > 0)) ++negative_, worst = i / 12;
    root_[i] = std::sqrt(std::abs(inverse_[i]));
  }
  return worst;
}

void BlockTridiagonal::solve(double* x) const {
  solve_kernel(nodes_, top_, U_.data(), X_.data(), inverse_.data(), x);
}

int BlockTridiagonal::forward4(double* y, int first, int last) const {
  return forward4_kernel(top_, U_.data(), X_.data(), root_.data(), y, first, last);
}

void cross_products(const double* a, const double* b, int from, int to, double* out) {
  cross_kernel(a, b, from, to, out);
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
