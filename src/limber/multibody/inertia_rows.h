// The articulated inertia [[A, B], [Bᵀ, C]] of a link in rows of four numbers, with its bias force p: the
// fourth number of row r is p's moment in B and its force in C (of A it is scratch). So what is done to rows
// of B and C is done to p as well, and the whole of I^a c comes with the turn into the parent's axes.
#pragma once

#include "limber/math/pack.h"
#include "limber/math/spatial.h"
#include "limber/multibody/aba.h"

namespace limber::multibody::rows {

using math::load;
using math::pack;
using math::Pack;
using math::store;

struct Rows {
  Pack A[3], B[3], C[3];
};

LIMBER_INLINE Pack all(Pack x, int k) {
  return k == 0   ? __builtin_shufflevector(x, x, 0, 0, 0, 0)
         : k == 1 ? __builtin_shufflevector(x, x, 1, 1, 1, 1)
                  : __builtin_shufflevector(x, x, 2, 2, 2, 2);
}
LIMBER_INLINE Pack with_fourth(Pack x, Pack y) { return __builtin_shufflevector(x, y, 0, 1, 2, 7); }
LIMBER_INLINE Pack fourth_alone(Pack x) { return with_fourth(pack(0), x); }
LIMBER_INLINE Pack turned(Pack x) { return __builtin_shufflevector(x, x, 1, 2, 0, 3); }  // (x₁ x₂ x₀)
LIMBER_INLINE Pack cross(Pack a, Pack b) { return turned(a * turned(b) - turned(a) * b); }
LIMBER_INLINE double dot(Pack a, Pack b) {
  const Pack m = a * b;
  return (m[0] + m[1]) + m[2];
}
// Three numbers; the fourth is zero.
LIMBER_INLINE Pack load3(const double* p) { return Pack{p[0], p[1], p[2], 0}; }
LIMBER_INLINE void store3(double* p, Pack x) { p[0] = x[0], p[1] = x[1], p[2] = x[2]; }

LIMBER_INLINE void clear(Rows& I) {
  for (int r = 0; r < 3; ++r) I.A[r] = I.B[r] = I.C[r] = pack(0);
}
LIMBER_INLINE void load(const Stored& from, Rows& I) {
#pragma GCC unroll 3
  for (int r = 0; r < 3; ++r)
    I.A[r] = load(from.A + 4 * r), I.B[r] = load(from.B + 4 * r), I.C[r] = load(from.C + 4 * r);
}
LIMBER_INLINE void store(const Rows& I, Stored& to) {
#pragma GCC unroll 3
  for (int r = 0; r < 3; ++r)
    store(to.A + 4 * r, I.A[r]), store(to.B + 4 * r, I.B[r]), store(to.C + 4 * r, I.C[r]);
}
LIMBER_INLINE void add(const Rows& I, Stored& to) {
  Rows sum;
  load(to, sum);
#pragma GCC unroll 3
  for (int r = 0; r < 3; ++r) sum.A[r] += I.A[r], sum.B[r] += I.B[r], sum.C[r] += I.C[r];
  store(sum, to);
}

// I V of a body, its moment and its force.
LIMBER_INLINE void momentum(const Inertia& body, Pack w, Pack v, Pack& moment, Pack& force) {
  const double* J = body.I.data();
  const Pack h = load3(body.h.data());
  moment = ((load3(J) * all(w, 0) + load3(J + 3) * all(w, 1)) + load3(J + 6) * all(w, 2)) + cross(h, v);
  force = pack(body.m) * v - cross(h, w);
}

// V ×* (I V).
LIMBER_INLINE void bias_force(const Inertia& body, const Vec6& V, Pack& p_w, Pack& p_v) {
  const Pack w = load3(V.data()), v = load3(V.data() + 3);
  Pack moment, force;
  momentum(body, w, v, moment, force);
  p_w = cross(w, moment) + cross(v, force), p_v = cross(w, force);
}

// A rigid body and the bias force p = V ×* (I V) − F.
LIMBER_INLINE void add_body(const Inertia& body, const Vec6& V, const Vec6* F, Rows& I) {
  const double *J = body.I.data(), *h = body.h.data();
  Pack p_w, p_v;
  bias_force(body, V, p_w, p_v);
  if (F) p_w -= load3(F->data()), p_v -= load3(F->data() + 3);
  I.A[0] += load3(J), I.A[1] += load3(J + 3), I.A[2] += load3(J + 6);
  I.B[0] += Pack{0, -h[2], h[1], p_w[0]};
  I.B[1] += Pack{h[2], 0, -h[0], p_w[1]};
  I.B[2] += Pack{-h[1], h[0], 0, p_w[2]};
  I.C[0] += Pack{body.m, 0, 0, p_v[0]};
  I.C[1] += Pack{0, body.m, 0, p_v[1]};
  I.C[2] += Pack{0, 0, body.m, p_v[2]};
}

// A symmetric 6×6 block.
LIMBER_INLINE void add_block(const Mat6& block, Rows& I) {
#pragma GCC unroll 3
  for (int r = 0; r < 3; ++r) {
    const double* column = block.data() + 6 * r;
    I.A[r] += load3(column), I.B[r] += load3(column + 3), I.C[r] += load3(column + 21);
  }
}

// A symmetric 3×3 block on the turn.
LIMBER_INLINE void add_turn_block(const Mat3& block, Rows& I) {
#pragma GCC unroll 3
  for (int r = 0; r < 3; ++r) I.A[r] += load3(block.data() + 3 * r);
}

LIMBER_INLINE void transpose(const Pack (&M)[3], Pack (&T)[3]) {
  const Pack low = __builtin_shufflevector(M[0], M[1], 0, 4, 2, 6),
             high = __builtin_shufflevector(M[0], M[1], 1, 5, 3, 7),
             last = __builtin_shufflevector(M[2], M[2], 1, 0, 3, 2);
  T[0] = __builtin_shufflevector(low, M[2], 0, 1, 4, 5);
  T[1] = __builtin_shufflevector(high, last, 0, 1, 4, 5);
  T[2] = __builtin_shufflevector(low, M[2], 2, 3, 6, 7);
}

// R M Q, R by columns of three, Q the rows (column of R, c).
LIMBER_INLINE void turn(const double* R, const Pack (&Q)[3], Pack (&M)[3]) {
  Pack T[3];
#pragma GCC unroll 3
  for (int r = 0; r < 3; ++r) T[r] = (pack(R[r]) * M[0] + pack(R[3 + r]) * M[1]) + pack(R[6 + r]) * M[2];
#pragma GCC unroll 3
  for (int r = 0; r < 3; ++r)
    M[r] = ((all(T[r], 0) * Q[0] + all(T[r], 1) * Q[1]) + all(T[r], 2) * Q[2]) + fourth_alone(T[r]);
}

// I^a and p^a = p + I^a c, seen in the parent: turned by R, then with P = [p]ₓ
//   A' = A − E P − (E P)ᵀ,  B' = B + P C,  C' = C,  E = B + ½ P C.
LIMBER_INLINE void pass(const Pose& X, const Vec6& c, Rows& I) {
  const Pack c_w = load3(c.data());
  const Pack y = (I.B[0] * all(c_w, 0) + I.B[1] * all(c_w, 1)) + I.B[2] * all(c_w, 2);
  const double* R = X.R.data();
  Pack Q[3], Q_w[3];
#pragma GCC unroll 3
  for (int r = 0; r < 3; ++r) {
    I.C[r] += fourth_alone(all(y, r));
    const Pack column = load(R + 3 * r);
    Q[r] = with_fourth(column, pack(c[3 + r])), Q_w[r] = with_fourth(column, pack(c[r]));
    I.A[r] = with_fourth(I.A[r], pack(0));
  }
  turn(R, Q_w, I.A);
  turn(R, Q, I.B);
  turn(R, Q, I.C);
  const double* p = X.p.data();
  const Pack x = pack(p[0]), y_ = pack(p[1]), z = pack(p[2]), r = load3(p), half = pack(0.5);
  const Pack PC[3] = {y_ * I.C[2] - z * I.C[1], z * I.C[0] - x * I.C[2], x * I.C[1] - y_ * I.C[0]};
  Pack EP[3], PE[3];
#pragma GCC unroll 3
  for (int k = 0; k < 3; ++k) {
    I.B[k] += fourth_alone(I.A[k]);
    EP[k] = cross(I.B[k] + half * PC[k], r);
    I.B[k] += PC[k];
  }
  transpose(EP, PE);
#pragma GCC unroll 3
  for (int k = 0; k < 3; ++k) I.A[k] -= EP[k] + PE[k];
}

}  // namespace limber::multibody::rows
