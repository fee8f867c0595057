// From a node's turn θ and strain V to the columns of its gradient, and where halves of the tangent wait for
// each other. Internal to element.cpp and element_nodes.cpp.
//
// A change A of the gradient (node axes) turns the node by θ = G⁻¹ axial(A − Aᵀ), G = tr(U) − U, and strains
// it by V = sym(A) − sym([θ]U). What is linear in (θ, V), one row of a tangent, becomes linear in A.
#pragma once

#include "limber/thread/element_geometry.h"

namespace limber::thread {

struct NodeMap {
  P33 G;                           // G⁻¹
  Pack exy, exz, eyz;              // strains
  Pack hxy, hxz, hyz;              // … halved
  Pack half_yz, half_zx, half_xy;  // ½(ε_yy − ε_zz), ½(ε_zz − ε_xx), ½(ε_xx − ε_yy)
};

LIMBER_INLINE NodeMap node_map(const Strain& e) {
  NodeMap m;
  P33 G;
  const Pack t = pack(2.0) + e.v[0] + e.v[1] + e.v[2];
  G(0, 0) = t - e.v[0], G(1, 1) = t - e.v[1], G(2, 2) = t - e.v[2];
  G(0, 1) = G(1, 0) = -e.v[3];
  G(0, 2) = G(2, 0) = -e.v[4];
  G(1, 2) = G(2, 1) = -e.v[5];
  const P33 c = cofactors(G);
  const Pack det = G(0, 0) * c(0, 0) + G(0, 1) * c(0, 1) + G(0, 2) * c(0, 2);
  m.G = (1.0 / det) * c;
  m.exy = e.v[3], m.exz = e.v[4], m.eyz = e.v[5];
  m.hxy = 0.5 * m.exy, m.hxz = 0.5 * m.exz, m.hyz = 0.5 * m.eyz;
  m.half_yz = 0.5 * (e.v[1] - e.v[2]), m.half_zx = 0.5 * (e.v[2] - e.v[0]);
  m.half_xy = 0.5 * (e.v[0] - e.v[1]);
  return m;
}

// A row (θ, V) → columns of the gradient: w = G⁻¹(θ − Yᵀ V) is its skew part, V its symmetric one; sym([θ]ε)
// = Yθ. Returns w.
LIMBER_INLINE P3 map_row(const NodeMap& m, const P3& t, const Pack* V, Pack* out) {
  const P3 w = m.G * P3{{t[0] - (m.eyz * (V[2] - V[1]) + (m.hxy * V[4] - m.hxz * V[3] + m.half_yz * V[5])),
                         t[1] - (m.exz * (V[0] - V[2]) + (m.hyz * V[3] - m.hxy * V[5] + m.half_zx * V[4])),
                         t[2] - (m.exy * (V[1] - V[0]) + (m.hxz * V[5] - m.hyz * V[4] + m.half_xy * V[3]))}};
  const Pack xy = 0.5 * V[3], xz = 0.5 * V[4], yz = 0.5 * V[5];
  out[0] = V[0], out[1] = xy + w[2], out[2] = xz - w[1];
  out[3] = xy - w[2], out[4] = V[1], out[5] = yz + w[0];
  out[6] = xz + w[1], out[7] = yz - w[0], out[8] = V[2];
  return w;
}
// The same where V has no shears.
LIMBER_INLINE void map_axial(const NodeMap& m, const P3& t, const Pack* V, Pack* out) {
  const P3 w =
      m.G * P3{{t[0] - m.eyz * (V[2] - V[1]), t[1] - m.exz * (V[0] - V[2]), t[2] - m.exy * (V[1] - V[0])}};
  out[0] = V[0], out[1] = w[2], out[2] = -w[1];
  out[3] = -w[2], out[4] = V[1], out[5] = w[0];
  out[6] = w[1], out[7] = -w[0], out[8] = V[2];
}
// … and where it has only shear K: 0 xy, 1 xz, 2 yz.
template <int K>
LIMBER_INLINE void map_shear(const NodeMap& m, const P3& t, Pack v, Pack* out) {
  const P3 y = K == 0   ? P3{{-(m.hxz * v), m.hyz * v, m.half_xy * v}}
               : K == 1 ? P3{{m.hxy * v, m.half_zx * v, -(m.hyz * v)}}
                        : P3{{m.half_yz * v, -(m.hxy * v), m.hxz * v}};
  const P3 w = m.G * (t - y);
  const Pack h = 0.5 * v, o = pack(0);
  out[0] = o, out[4] = o, out[8] = o;
  out[1] = K == 0 ? h + w[2] : w[2], out[3] = K == 0 ? h - w[2] : -w[2];
  out[2] = K == 1 ? h - w[1] : -w[1], out[6] = K == 1 ? h + w[1] : w[1];
  out[5] = K == 2 ? h + w[0] : w[0], out[7] = K == 2 ? h - w[0] : -w[0];
}

// Writes row r of four neighbouring blocks of `Size` numbers in rows of 12, from column `first` on; of fewer
// blocks at the end.
template <int Size>
LIMBER_INLINE void store_rows(double* blocks, int j, int nodes, int r, int first, const Pack* row) {
  const int n = nodes - j < lanes ? nodes - j : lanes;
  double* to = blocks + static_cast<std::size_t>(j) * Size + 12 * r;
  for (int c = first; c < 12; c += 4) {
    const Pack a = row[c], b = row[c + 1], d = row[c + 2], e = row[c + 3];
    const Pack ab_lo = __builtin_shufflevector(a, b, 0, 4, 2, 6),
               ab_hi = __builtin_shufflevector(a, b, 1, 5, 3, 7);
    const Pack de_lo = __builtin_shufflevector(d, e, 0, 4, 2, 6),
               de_hi = __builtin_shufflevector(d, e, 1, 5, 3, 7);
    store(to + c, __builtin_shufflevector(ab_lo, de_lo, 0, 1, 4, 5));
    if (n > 1) store(to + Size + c, __builtin_shufflevector(ab_hi, de_hi, 0, 1, 4, 5));
    if (n > 2) store(to + 2 * Size + c, __builtin_shufflevector(ab_lo, de_lo, 2, 3, 6, 7));
    if (n > 3) store(to + 3 * Size + c, __builtin_shufflevector(ab_hi, de_hi, 2, 3, 6, 7));
  }
}

// Where a node's half of the tangent stands in `half`: ξξ 9, ξθ 9, θθ 9 (of ξξ and θθ the upper triangle),
// then columns of ξV and θV (5 x 3 each).
inline constexpr int half_rows = 57;

struct Half {
  P33 xx, xt, tt;
  P3 xV[5], tV[5];
};
LIMBER_INLINE void store_half(Table& t, int base, int j, const Half& h) {
  for (int k = 0; k < 9; ++k) {
    store(t[base + 9 + k] + j, h.xt.m[k / 3][k % 3]);
    if (k % 3 < k / 3) continue;
    store(t[base + k] + j, h.xx.m[k / 3][k % 3]);
    store(t[base + 18 + k] + j, h.tt.m[k / 3][k % 3]);
  }
  for (int c = 0; c < 5; ++c)
    for (int i = 0; i < 3; ++i) {
      store(t[base + 27 + 3 * c + i] + j, h.xV[c][i]);
      store(t[base + 42 + 3 * c + i] + j, h.tV[c][i]);
    }
}

constexpr int upper7(int i, int k) { return i <= k ? 7 * i - i * (i - 1) / 2 + k - i : upper7(k, i); }

}  // namespace limber::thread
