// 6×6 kernels of the assembly pass: column-major blocks of 36 doubles, two rows at a time.
//
// Only +, −, × in a fixed order, no fused operation: the same bits on every x86-64 CPU. Blocks are aligned to
// 16 bytes (a column is 48). F is the matrix of Pose::force, (τ; f)_A = F (τ; f)_B, F = [R, [p]R; 0, R];
// Fᵀ takes motions the other way, V_B = Fᵀ V_A.
#pragma once

#include "limber/math/spatial.h"

namespace limber::adaptive {

using Pair = double __attribute__((vector_size(16)));  // rows 2i and 2i+1 of a column

inline Pair load(const double* x) { return *reinterpret_cast<const Pair*>(x); }
inline void store(double* x, Pair v) { *reinterpret_cast<Pair*>(x) = v; }
inline Pair both(double x) { return Pair{x, x}; }

// Two columns of C ± A B at once: C = Sign A B (Keep = false) or C += Sign A B.
template <int Sign, bool Keep>
inline void multiply(const double* A, const double* B, double* C) {
  for (int j = 0; j < 6; j += 2) {
    const double* b0 = B + 6 * j;
    const double* b1 = b0 + 6;
    Pair c[6] = {};
    for (int k = 0; k < 6; ++k) {
      const Pair a0 = load(A + 6 * k), a1 = load(A + 6 * k + 2), a2 = load(A + 6 * k + 4);
      const Pair x = both(b0[k]), y = both(b1[k]);
      c[0] += a0 * x, c[1] += a1 * x, c[2] += a2 * x;
      c[3] += a0 * y, c[4] += a1 * y, c[5] += a2 * y;
    }
    double* out = C + 6 * j;
    for (int i = 0; i < 6; ++i) {
      const Pair value = Sign > 0 ? c[i] : -c[i];
      store(out + 2 * i, Keep ? load(out + 2 * i) + value : value);
    }
  }
}

// y = A x, or y += Sign A x.
inline void apply(const double* A, const double* x, double* y) {
  Pair c0 = {}, c1 = {}, c2 = {};
  for (int k = 0; k < 6; ++k) {
    const Pair s = both(x[k]);
    c0 += load(A + 6 * k) * s, c1 += load(A + 6 * k + 2) * s, c2 += load(A + 6 * k + 4) * s;
  }
  store(y, c0), store(y + 2, c1), store(y + 4, c2);
}
template <int Sign>
inline void apply_add(const double* A, const double* x, double* y) {
  alignas(16) double t[6];
  apply(A, x, t);
  for (int i = 0; i < 6; ++i) y[i] += Sign > 0 ? t[i] : -t[i];
}
inline double dot(const double* a, const double* b) {
  return ((a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3])) + (a[4] * b[4] + a[5] * b[5]);
}
// y = Aᵀ x
inline void apply_transposed(const double* A, const double* x, double* y) {
  for (int j = 0; j < 6; ++j) y[j] = dot(A + 6 * j, x);
}

inline void transpose(const double* A, double* At) {
  for (int j = 0; j < 6; ++j)
    for (int i = 0; i < 6; ++i) At[6 * i + j] = A[6 * j + i];
}

// B = A F: columns 0…2 are A_w R, columns 3…5 (A_w [p] + A_v) R. X = (R column-major, p), 12 doubles.
inline void times_force(const double* A, const double* X, double* B) {
  const double* R = X;
  const Pair px = both(X[9]), py = both(X[10]), pz = both(X[11]);
  for (int i = 0; i < 6; i += 2) {
    const Pair a0 = load(A + i), a1 = load(A + 6 + i), a2 = load(A + 12 + i);
    // column k of [p] is p × e_k
    const Pair v0 = load(A + 18 + i) + (a1 * pz - a2 * py);
    const Pair v1 = load(A + 24 + i) + (a2 * px - a0 * pz);
    const Pair v2 = load(A + 30 + i) + (a0 * py - a1 * px);
    for (int k = 0; k < 3; ++k) {
      const Pair r0 = both(R[3 * k]), r1 = both(R[3 * k + 1]), r2 = both(R[3 * k + 2]);
      store(B + 6 * k + i, (a0 * r0 + a1 * r1) + a2 * r2);
      store(B + 6 * (k + 3) + i, (v0 * r0 + v1 * r1) + v2 * r2);
    }
  }
}

// B = A Fᵀ: columns 3…5 are A_v Rᵀ, columns 0…2 A_w Rᵀ − (A_v Rᵀ)[p].
inline void times_force_transposed(const double* A, const double* X, double* B) {
  const double* R = X;
  const Pair px = both(X[9]), py = both(X[10]), pz = both(X[11]);
  for (int i = 0; i < 6; i += 2) {
    const Pair a0 = load(A + i), a1 = load(A + 6 + i), a2 = load(A + 12 + i);
    const Pair v0 = load(A + 18 + i), v1 = load(A + 24 + i), v2 = load(A + 30 + i);
    Pair w[3], v[3];
    for (int k = 0; k < 3; ++k) {
      const Pair r0 = both(R[k]), r1 = both(R[3 + k]), r2 = both(R[6 + k]);
      w[k] = (a0 * r0 + a1 * r1) + a2 * r2;
      v[k] = (v0 * r0 + v1 * r1) + v2 * r2;
      store(B + 6 * (k + 3) + i, v[k]);
    }
    store(B + i, w[0] - (v[1] * pz - v[2] * py));
    store(B + 6 + i, w[1] - (v[2] * px - v[0] * pz));
    store(B + 12 + i, w[2] - (v[0] * py - v[1] * px));
  }
}

// Fᵀ A F of a symmetric A; `left` receives A F.
inline void congruence(const double* A, const double* X, double* left, double* out) {
  alignas(16) double t[36];
  times_force(A, X, left);
  transpose(left, t);
  times_force(t, X, out);
}

// F A Fᵀ of a symmetric A.
inline void congruence_back(const double* A, const double* X, double* out) {
  alignas(16) double left[36], t[36];
  times_force_transposed(A, X, left);
  transpose(left, t);
  times_force_transposed(t, X, out);
}

inline void symmetrize(double* A) {
  for (int j = 0; j < 6; ++j)
    for (int i = 0; i < j; ++i) A[6 * j + i] = A[6 * i + j] = 0.5 * (A[6 * j + i] + A[6 * i + j]);
}

// A⁻¹ by Gauss–Jordan with row pivots. False if a pivot vanishes.
inline bool invert(double* A) {
  int row_of[6];
  bool good = true;
  for (int k = 0; k < 6; ++k) {
    int best = k;
    for (int i = k + 1; i < 6; ++i)
      if (A[6 * k + i] * A[6 * k + i] > A[6 * k + best] * A[6 * k + best]) best = i;
    row_of[k] = best;
    if (best != k)
      for (int j = 0; j < 6; ++j) {
        const double t = A[6 * j + k];
        A[6 * j + k] = A[6 * j + best];
        A[6 * j + best] = t;
      }
    const double pivot = A[7 * k];
    good = good && (pivot > 0 || pivot < 0);
    const double inverse = 1 / pivot;
    alignas(16) double column[6];
    for (int i = 0; i < 6; ++i) column[i] = A[6 * k + i];
    column[k] = 0;
    const Pair c0 = load(column), c1 = load(column + 2), c2 = load(column + 4);
    for (int i = 0; i < 6; ++i) A[6 * k + i] = 0;
    A[7 * k] = 1;
    for (int j = 0; j < 6; ++j) {
      double* a = A + 6 * j;
      a[k] *= inverse;
      const Pair s = both(a[k]);
      store(a, load(a) - c0 * s), store(a + 2, load(a + 2) - c1 * s), store(a + 4, load(a + 4) - c2 * s);
    }
  }
  for (int k = 5; k >= 0; --k)  // undo the swaps, now of columns
    if (row_of[k] != k)
      for (int i = 0; i < 6; ++i) {
        const double t = A[6 * k + i];
        A[6 * k + i] = A[6 * row_of[k] + i];
        A[6 * row_of[k] + i] = t;
      }
  return good;
}

inline void force_in(const double* X, const double* f, double* out) {  // F f
  const double* R = X;
  const double* p = X + 9;
  double t[3], g[3];
  for (int i = 0; i < 3; ++i) {
    t[i] = (R[i] * f[0] + R[3 + i] * f[1]) + R[6 + i] * f[2];
    g[i] = (R[i] * f[3] + R[3 + i] * f[4]) + R[6 + i] * f[5];
  }
  out[0] = t[0] + (p[1] * g[2] - p[2] * g[1]);
  out[1] = t[1] + (p[2] * g[0] - p[0] * g[2]);
  out[2] = t[2] + (p[0] * g[1] - p[1] * g[0]);
  out[3] = g[0], out[4] = g[1], out[5] = g[2];
}
inline void motion_out(const double* X, const double* V, double* out) {  // Fᵀ V
  const double* R = X;
  const double* p = X + 9;
  const double v[3] = {V[3] - (p[1] * V[2] - p[2] * V[1]), V[4] - (p[2] * V[0] - p[0] * V[2]),
                       V[5] - (p[0] * V[1] - p[1] * V[0])};
  for (int i = 0; i < 3; ++i) {
    out[i] = (R[3 * i] * V[0] + R[3 * i + 1] * V[1]) + R[3 * i + 2] * V[2];
    out[3 + i] = (R[3 * i] * v[0] + R[3 * i + 1] * v[1]) + R[3 * i + 2] * v[2];
  }
}

inline Pose pose_at(const double* X) { return {Eigen::Map<const Mat3>(X), Eigen::Map<const Vec3>(X + 9)}; }
inline void store_pose(const Pose& X, double* out) {
  Eigen::Map<Mat3>{out} = X.R;
  Eigen::Map<Vec3>(out + 9) = X.p;
}
// Xc = Xa · Xb
inline void compose(const double* a, const double* b, double* c) {
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 3; ++i)
      c[3 * j + i] = (a[i] * b[3 * j] + a[3 + i] * b[3 * j + 1]) + a[6 + i] * b[3 * j + 2];
  for (int i = 0; i < 3; ++i) c[9 + i] = a[9 + i] + ((a[i] * b[9] + a[3 + i] * b[10]) + a[6 + i] * b[11]);
}

}  // namespace limber::adaptive
