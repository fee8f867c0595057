// Derivatives (docs/theory/thread.md). With a_j the turn of node j seen in the element's frame, a₁ = Mᵀθ₁,
// a₂ = Mθ₂, M = exp(φ/2), σ = a₂ − a₁, ā = ½(a₁ + a₂):
//
//   δφ = Bσ,   ρ = ā − κ φ × σ (turn of the frame),  κ = tan(|φ|/4) / (2|φ|),   δp = δ + p × ρ,  p = RᵀΔx
//
// and, θ_j being constant along P_j exp(tθ_j), a_j' = −ρ × a_j gives the second derivatives in closed form.
// β = (φ/2)/sin(φ/2), γ = (1 − β)/φ² and κ are power series in s = φ² with radius 4π².
#include "limber/thread/element.h"

#include "limber/thread/element_geometry.h"

namespace limber::thread {
namespace {

// sym([θ]ε) = Yθ; this is Yᵀr.
LIMBER_INLINE P3 yt(const Strain& e, const Pack* r) {
  const Pack exy = e.v[3], exz = e.v[4], eyz = e.v[5];
  return {{eyz * (r[2] - r[1]) + 0.5 * (exy * r[4] - exz * r[3] + (e.v[1] - e.v[2]) * r[5]),
           exz * (r[0] - r[2]) + 0.5 * (eyz * r[3] - exy * r[5] + (e.v[2] - e.v[0]) * r[4]),
           exy * (r[1] - r[0]) + 0.5 * (exz * r[5] - eyz * r[4] + (e.v[0] - e.v[1]) * r[3])}};
}

// 2 G⁻¹, G = tr(U) − U: skew part of a change of the gradient → turn.
LIMBER_INLINE P33 turn_of_skew(const Strain& e) {
  P33 G;
  const Pack t = pack(2.0) + e.v[0] + e.v[1] + e.v[2];
  G(0, 0) = t - e.v[0], G(1, 1) = t - e.v[1], G(2, 2) = t - e.v[2];
  G(0, 1) = G(1, 0) = -e.v[3];
  G(0, 2) = G(2, 0) = -e.v[4];
  G(1, 2) = G(2, 1) = -e.v[5];
  const P33 c = cofactors(G);
  const Pack det = G(0, 0) * c(0, 0) + G(0, 1) * c(0, 1) + G(0, 2) * c(0, 2);
  return (2.0 / det) * c;
}

// Nine numbers by (turn w, strain E) → by columns of the gradient.
LIMBER_INLINE void to_columns(const P3& w, const Pack* E, Pack* out) {
  out[0] = E[0];
  out[1] = 0.5 * (E[3] + w[2]);
  out[2] = 0.5 * (E[4] - w[1]);
  out[3] = 0.5 * (E[3] - w[2]);
  out[4] = E[1];
  out[5] = 0.5 * (E[5] + w[0]);
  out[6] = 0.5 * (E[4] + w[1]);
  out[7] = 0.5 * (E[5] - w[0]);
  out[8] = E[2];
}

// Writes row r of four neighbouring 12 x 12 blocks; of fewer at the end.
LIMBER_INLINE void store_rows(double* blocks, int j, int nodes, int r, const Pack* row) {
  const int n = nodes - j < lanes ? nodes - j : lanes;
  double* to = blocks + static_cast<std::size_t>(j) * 144 + 12 * r;
  for (int c = 0; c < 12; c += 4) {
    const Pack a = row[c], b = row[c + 1], d = row[c + 2], e = row[c + 3];
    const Pack ab_lo = __builtin_shufflevector(a, b, 0, 4, 2, 6),
               ab_hi = __builtin_shufflevector(a, b, 1, 5, 3, 7);
    const Pack de_lo = __builtin_shufflevector(d, e, 0, 4, 2, 6),
               de_hi = __builtin_shufflevector(d, e, 1, 5, 3, 7);
    store(to + c, __builtin_shufflevector(ab_lo, de_lo, 0, 1, 4, 5));
    if (n > 1) store(to + 144 + c, __builtin_shufflevector(ab_hi, de_hi, 0, 1, 4, 5));
    if (n > 2) store(to + 288 + c, __builtin_shufflevector(ab_lo, de_lo, 2, 3, 6, 7));
    if (n > 3) store(to + 432 + c, __builtin_shufflevector(ab_hi, de_hi, 2, 3, 6, 7));
  }
}

// Where a node's half of the tangent stands in `half`: ξξ 9, ξθ 9, θθ 9, then columns of ξV and θV (5 x 3
// each).
constexpr int half_rows = 57;

struct Half {
  P33 xx, xt, tt;
  P3 xV[5], tV[5];
};
LIMBER_INLINE void store_half(Table& t, int base, int j, const Half& h) {
  for (int k = 0; k < 9; ++k) {
    store(t[base + k] + j, h.xx.m[k / 3][k % 3]);
    store(t[base + 9 + k] + j, h.xt.m[k / 3][k % 3]);
    store(t[base + 18 + k] + j, h.tt.m[k / 3][k % 3]);
  }
  for (int c = 0; c < 5; ++c)
    for (int i = 0; i < 3; ++i) {
      store(t[base + 27 + 3 * c + i] + j, h.xV[c][i]);
      store(t[base + 42 + 3 * c + i] + j, h.tV[c][i]);
    }
}
LIMBER_INLINE Half load_half(const Table& t, int base, int j) {
  Half h;
  for (int k = 0; k < 9; ++k) {
    h.xx.m[k / 3][k % 3] = load(t[base + k] + j);
    h.xt.m[k / 3][k % 3] = load(t[base + 9 + k] + j);
    h.tt.m[k / 3][k % 3] = load(t[base + 18 + k] + j);
  }
  for (int c = 0; c < 5; ++c)
    for (int i = 0; i < 3; ++i) {
      h.xV[c][i] = load(t[base + 27 + 3 * c + i] + j);
      h.tV[c][i] = load(t[base + 42 + 3 * c + i] + j);
    }
  return h;
}

constexpr int upper7(int i, int k) { return i <= k ? 7 * i - i * (i - 1) / 2 + k - i : upper7(k, i); }

// Stresses of a pack: gradient of the energy in (Λ, q_y, q_z, φ, ε₁, ε₂), and the energy.
struct Stress {
  Pack n, vy, vz, energy;
  Pack wall, wall_s;  // dΨ/dS and d²Ψ/dS² of the wall
  Pack gap;           // from the nearest wall
  P3 m;
  Pack S1[6], S2[6];
};

LIMBER_INLINE Stress stresses(const ElementArrays& a, const Geometry& g, const Strain& e1, const Strain& e2,
                              int j, Pack scale) {
  const Table& t = a.constants;
  const auto k = [&](int row) LIMBER_LAMBDA { return scale * load(t[row] + j); };
  const auto rest = [&](int row) LIMBER_LAMBDA { return load(t[row] + j); };
  Pack z[7];
  z[0] = g.norm_q - rest(slot::rest);
  for (int i = 0; i < 3; ++i) {
    z[1 + i] = e1.v[i] - rest(slot::rest_strain_1 + i);
    z[4 + i] = e2.v[i] - rest(slot::rest_strain_2 + i);
  }
  Pack s[7];
  Stress out;
  out.energy = pack(0);
  for (int i = 0; i < 7; ++i) {
    s[i] = pack(0);
    for (int l = 0; l < 7; ++l) s[i] += load(t[slot::axial + upper7(i, l)] + j) * z[l];
    s[i] *= scale;
    out.energy += 0.5 * s[i] * z[i];
  }
  out.n = s[0];
  for (int i = 0; i < 3; ++i) out.S1[i] = s[1 + i], out.S2[i] = s[4 + i];
  // Shear and bending in either plane: (q, ε₁, ε₂) and φ against ε₂ − ε₁.
  for (int plane = 0; plane < 2; ++plane) {
    const int row = plane == 0 ? slot::shear_y : slot::shear_z, e = 3 + plane;
    const Pack q = g.q[1 + plane] - rest(slot::rest + 1 + plane);
    const Pack a1 = e1.v[e] - rest(slot::rest_strain_1 + e), a2 = e2.v[e] - rest(slot::rest_strain_2 + e);
    const Pack k01 = k(row + 1), k02 = k(row + 2), k12 = k(row + 4);
    const Pack sq = k(row) * q + k01 * a1 + k02 * a2;
    Pack s1 = k01 * q + k(row + 3) * a1 + k12 * a2, s2 = k02 * q + k12 * a1 + k(row + 5) * a2;
    const int axis = plane == 0 ? 2 : 1;
    const Pack phi = g.phi[axis] - rest(slot::rest + 3 + axis);
    const Pack turn = plane == 0 ? phi - (a2 - a1) : phi + (a2 - a1);
    const Pack m = k(plane == 0 ? slot::bend_z : slot::bend_y) * turn;
    out.energy += 0.5 * (sq * q + s1 * a1 + s2 * a2 + m * turn);
    out.m[axis] = m;
    if (plane == 0) {
      out.vy = sq;
      s1 += m, s2 -= m;
    } else {
      out.vz = sq;
      s1 -= m, s2 += m;
    }
    out.S1[e] = s1, out.S2[e] = s2;
  }
  const Pack twist = g.phi[0] - rest(slot::rest + 3);
  out.m[0] = k(slot::torsion) * twist;
  const Pack y1 = e1.v[5] - rest(slot::rest_strain_1 + 5), y2 = e2.v[5] - rest(slot::rest_strain_2 + 5);
  out.S1[5] = k(slot::skew_yz) * y1 + k(slot::skew_yz + 1) * y2;
  out.S2[5] = k(slot::skew_yz + 1) * y1 + k(slot::skew_yz + 2) * y2;
  out.energy += 0.5 * (out.m[0] * twist + out.S1[5] * y1 + out.S2[5] * y2);
  const Pack S = dot(g.phi, g.phi), x = larger(S - pack(fold_begins), pack(0)), wall = rest(slot::fold);
  const Pack left = 1.0 / larger(pack(fold_ends) - S, pack(1e-3)), ratio = x * left;
  out.energy += wall * (x * x * ratio);
  out.wall = wall * (3.0 * x * ratio + x * ratio * ratio);
  out.wall_s = wall * (6.0 * ratio + 6.0 * ratio * ratio + 2.0 * ratio * ratio * ratio);
  out.gap = g.gap - pack(least_gap);
  return out;
}

// The wall at the nodes' slopes. c_j = b_j·p/|p| with b_j node j's normal in the element's frame; in the
// turns a_j and the motion δ of p
//
//   c_δ = (b − c p̂)/|p|,   c_a = b × p̂,   c_δδ = (3c p̂p̂ᵀ − c − bp̂ᵀ − p̂bᵀ)/|p|²,
//   c_δa = −([b] + p̂ c_aᵀ)/|p|,   c_aa = sym(bp̂ᵀ) − c
struct Slope {
  bool leans = false;        // one of the pack is at a wall
  Pack first[2], second[2];  // dΨ/dc and d²Ψ/dc² at either node
  Pack c[2], over_p;
  P3 b[2], along;  // along: p/|p|
};

LIMBER_INLINE Slope slope(const ElementArrays& a, const Geometry& g, int j, Stress& s) {
  Slope o;
  o.over_p = 1.0 / root(dot(g.p, g.p) + pack(1e-300));
  o.along = o.over_p * g.p;
  const Pack wall = 4.0 * load(a.constants[slot::fold] + j);
  Pack x[2];
  for (int n = 0; n < 2; ++n) {
    for (int i = 0; i < 3; ++i) o.b[n][i] = n == 0 ? g.M(0, i) : g.M(i, 0);
    o.c[n] = dot(o.b[n], o.along);
    x[n] = larger(pack(slope_begins) - o.c[n], pack(0));
    o.leans = o.leans || largest_of(wall * x[n]) > 0;
  }
  if (!o.leans) return o;
  for (int n = 0; n < 2; ++n) {
    const Pack room = wall > pack(0) ? o.c[n] - pack(slope_ends) : pack(1);
    const Pack ratio = x[n] / larger(room, pack(1e-3));
    s.energy += wall * (x[n] * x[n] * ratio);
    s.gap = s.gap < room ? s.gap : room;
    o.first[n] = -wall * (3.0 * x[n] * ratio + x[n] * ratio * ratio);
    o.second[n] = wall * (6.0 * ratio + 6.0 * ratio * ratio + 2.0 * ratio * ratio * ratio);
  }
  return o;
}

// B-weighted quantities of a pack that both gradient and tangent need.
struct Moments {
  P33 B, Y;     // Y = ∂(Bp)/∂φ
  P3 n, nb, c;  // force on q; on p; n̄ × p
  P3 m, Bm;     // whole moment on φ
  P3 f_bar, f_sigma;
};

LIMBER_INLINE P33 dB(const Coefficients& c, const P3& phi, const P3& p) {  // ∂(B p)/∂φ
  const Pack d = dot(phi, p);
  return outer((2.0 * c.beta_s) * p + (2.0 * c.gamma_s * d) * phi, phi) + diagonal(c.gamma * d) +
         c.gamma * outer(phi, p);
}

LIMBER_INLINE Moments moments(const Geometry& g, const Stress& s) {
  Moments o;
  o.B = diagonal(g.c.beta) + g.c.gamma * outer(g.phi, g.phi);
  o.Y = dB(g.c, g.phi, g.p);
  o.n = (s.n / g.norm_q) * g.q;
  o.n[1] += s.vy;
  o.n[2] += s.vz;
  o.nb = o.B * o.n;
  o.c = cross(o.nb, g.p);
  o.m = s.m + (2.0 * s.wall) * g.phi + transposed_times(o.Y, o.n);
  o.Bm = o.B * o.m;
  o.f_bar = o.c;
  o.f_sigma = g.c.kappa * cross(g.phi, o.c) + o.Bm;  // Nᵀc, N = −κ[φ]
  return o;
}

LIMBER_INLINE void store_forces(ElementArrays& a, const Geometry& g, const Stress& s, const Moments& o,
                                const Slope& slope, int j) {
  P3 nb = o.nb, a1 = 0.5 * pack(1) * o.f_bar - o.f_sigma, a2 = 0.5 * pack(1) * o.f_bar + o.f_sigma;
  if (slope.leans) {
    for (int n = 0; n < 2; ++n)
      nb = nb + (slope.first[n] * slope.over_p) * (slope.b[n] - slope.c[n] * slope.along);
    a1 = a1 + slope.first[0] * cross(slope.b[0], slope.along);
    a2 = a2 + slope.first[1] * cross(slope.b[1], slope.along);
  }
  const P3 x1 = g.M * nb, x2 = transposed_times(g.M, nb);
  const P3 t1 = g.M * a1, t2 = transposed_times(g.M, a2);
  for (int i = 0; i < 3; ++i) {
    store(a.force[i] + j, -x1[i]);
    store(a.force[3 + i] + j, t1[i]);
    store(a.force[12 + i] + j, x2[i]);
    store(a.force[15 + i] + j, t2[i]);
  }
  for (int i = 0; i < 6; ++i) {
    store(a.force[6 + i] + j, s.S1[i]);
    store(a.force[18 + i] + j, s.S2[i]);
  }
  const Pack z[6] = {g.norm_q, g.q[1], g.q[2], g.phi[0], g.phi[1], g.phi[2]};
  const Pack stress[6] = {s.n, s.vy, s.vz, s.m[0], s.m[1], s.m[2]};
  for (int i = 0; i < 6; ++i) {
    store(a.z[i] + j, z[i]);
    store(a.stress[i] + j, stress[i]);
  }
  store(a.energy[0] + j, s.energy);
  store(a.gap[0] + j, s.gap);
}

// Second derivatives in (δ, ā, σ) and with the nodes' strains.
struct MidTangent {
  P33 dd, da, ds, aa, as, ss;
  P3 dV[2][5], aV[2][5], sV[2][5];  // columns xx yy zz xy xz of either node
};

LIMBER_INLINE void add_slope(const Slope& s, MidTangent& h) {
  for (int n = 0; n < 2; ++n) {
    const P3 &b = s.b[n], &p = s.along;
    const P3 c_d = s.over_p * (b - s.c[n] * p), c_a = cross(b, p);
    const P33 bp = symmetric(outer(b, p));
    const P33 dd =
        s.second[n] * outer(c_d, c_d) +
        (s.first[n] * s.over_p * s.over_p) * ((3.0 * s.c[n]) * outer(p, p) - diagonal(s.c[n]) - pack(2) * bp);
    const P33 da = s.second[n] * outer(c_d, c_a) - (s.first[n] * s.over_p) * (skew(b) + outer(p, c_a));
    const P33 aa = s.second[n] * outer(c_a, c_a) + s.first[n] * (bp - diagonal(s.c[n]));
    const Pack half = pack(n == 0 ? -0.5 : 0.5);  // a = ā ∓ σ/2
    h.dd = h.dd + dd;
    h.da = h.da + da, h.ds = h.ds + half * da;
    h.aa = h.aa + aa, h.as = h.as + half * aa, h.ss = h.ss + pack(0.25) * aa;
  }
}

LIMBER_INLINE MidTangent mid_tangent(const ElementArrays& a, const Geometry& g, const Stress& s,
                                     const Moments& o, int j, Pack scale) {
  const Table& t = a.constants;
  const auto k = [&](int row) LIMBER_LAMBDA { return scale * load(t[row] + j); };
  const Coefficients& c = g.c;
  const P3& phi = g.phi;
  const Pack inverse_q = 1.0 / g.norm_q;
  const P3 along = inverse_q * g.q;
  const Pack nq = s.n * inverse_q;
  P33 Hq = (k(slot::axial) - nq) * outer(along, along) + diagonal(nq);
  Hq(1, 1) += k(slot::shear_y);
  Hq(2, 2) += k(slot::shear_z);

  const P33 N = (-c.kappa) * skew(phi);
  const P33 Ca = o.B * skew(g.p);
  const P33 Cs = o.Y * o.B + Ca * N;
  // Second-order terms of q and φ (see the head of the file).
  const P33 rho = symmetric(outer(o.nb, g.p)) - diagonal(dot(o.nb, g.p));
  const P33 Xd = pack(-1) * skew(o.nb);
  const P33 BZ = o.B * transpose(dB(c, phi, o.n));
  const P33 Xs = BZ * skew(g.p);
  const Pack np = dot(o.n, g.p), nf = dot(o.n, phi), pf = dot(g.p, phi);
  const P3 mixed = pf * o.n + nf * g.p;
  const P33 G2 = diagonal(2.0 * c.beta_s * np + 2.0 * c.gamma_s * nf * pf) +
                 (4.0 * c.beta_ss * np + 4.0 * c.gamma_ss * nf * pf) * outer(phi, phi) +
                 (4.0 * c.gamma_s) * symmetric(outer(phi, mixed)) +
                 (2.0 * c.gamma) * symmetric(outer(o.n, g.p));

  const P33 HqB = Hq * o.B, HqCs = Hq * Cs;
  MidTangent h;
  h.dd = o.B * HqB;
  h.da = Xd + transposed_times(HqB, Ca);
  h.ds = Xd * N + transpose(BZ) + transposed_times(HqB, Cs);
  h.aa = rho + transposed_times(Ca, Hq * Ca);
  const Pack cf = dot(o.c, phi), mf = dot(o.m, phi);
  h.as = rho * N + transpose(Xs) + transposed_times(Ca, HqCs) +
         (0.5 * c.kappa) * (outer(o.c, phi) - diagonal(cf)) + pack(0.5) * skew(o.Bm);
  P33 phi_phi = G2 + diagonal(2.0 * s.wall) + (4.0 * s.wall_s) * outer(phi, phi);
  phi_phi(0, 0) += k(slot::torsion);
  phi_phi(1, 1) += k(slot::bend_y);
  phi_phi(2, 2) += k(slot::bend_z);
  const P33 XsN = Xs * N;
  const P3 cxf = cross(o.c, phi);
  h.ss = transposed_times(N, rho * N) + XsN + transpose(XsN) + o.B * (phi_phi * o.B) +
         transposed_times(Cs, HqCs) + (2.0 * c.beta_s) * symmetric(outer(phi, o.m)) +
         (2.0 * c.gamma_s * mf) * outer(phi, phi) + (c.gamma + c.kappa) * symmetric(outer(o.Bm, phi)) +
         (c.gamma * mf) * o.B - diagonal(c.kappa * mf) -
         (c.kappa * c.gamma + 2.0 * c.kappa_s + c.kappa * c.kappa) * symmetric(outer(phi, cxf));

  for (int node = 0; node < 2; ++node) {
    const P3 Ba = o.B * along, Caa = transposed_times(Ca, along), Csa = transposed_times(Cs, along);
    for (int i = 0; i < 3; ++i) {  // xx, yy, zz act on the stretch
      const Pack kk = k(slot::axial + upper7(0, 1 + 3 * node + i));
      h.dV[node][i] = kk * Ba;
      h.aV[node][i] = kk * Caa;
      h.sV[node][i] = kk * Csa;
    }
    for (int plane = 0; plane < 2; ++plane) {  // xy, xz on the slope and on the turn
      const Pack kk = k((plane == 0 ? slot::shear_y : slot::shear_z) + 1 + node);
      const Pack bend = k(plane == 0 ? slot::bend_z : slot::bend_y);
      const Pack sign = (plane == 0) == (node == 0) ? bend : -bend;
      const int r = 1 + plane, axis = plane == 0 ? 2 : 1;
      for (int i = 0; i < 3; ++i) {
        h.dV[node][3 + plane][i] = kk * o.B(r, i);
        h.aV[node][3 + plane][i] = kk * Ca(r, i);
        h.sV[node][3 + plane][i] = kk * Cs(r, i) + sign * o.B(axis, i);
      }
    }
  }
  return h;
}

// The off-diagonal block in node axes, by columns of the gradients, with mass.
LIMBER_INLINE void store_off_diagonal(ElementArrays& a, const Geometry& g, const MidTangent& h,
                                      const P33& da1, const P33& da2, int j, int nodes, Pack scale,
                                      double mass_weight) {
  const Table& t = a.constants;
  const auto k = [&](int row) LIMBER_LAMBDA { return scale * load(t[row] + j); };
  const Strain e1 = load_strain(a.strain, 0, j), e2 = load_strain(a.strain, 0, j + 1);
  const P33 G1 = turn_of_skew(e1), G2 = turn_of_skew(e2);
  const P33& M = g.M;
  const P33 xx = pack(-1) * (M * (h.dd * M)), xt = pack(-1) * (M * (da2 * M));
  const P33 tx = M * (transposed_times(da1, M));
  const P33 a12 = pack(0.25) * h.aa + pack(0.5) * (h.as - transpose(h.as)) - h.ss;
  const P33 tt = M * (a12 * M);
  // Rows by node 1's (ξ, θ, V), columns by node 2's.
  Pack H[12][12];
  for (int i = 0; i < 3; ++i)
    for (int l = 0; l < 3; ++l) {
      H[i][l] = xx(i, l), H[i][3 + l] = xt(i, l);
      H[3 + i][l] = tx(i, l), H[3 + i][3 + l] = tt(i, l);
    }
  for (int c = 0; c < 5; ++c) {
    const P3 xV = M * h.dV[1][c], tV = M * (pack(0.5) * h.aV[1][c] - h.sV[1][c]);
    const P3 Vx = transposed_times(M, h.dV[0][c]),
             Vt = transposed_times(M, pack(0.5) * h.aV[0][c] + h.sV[0][c]);
    for (int i = 0; i < 3; ++i) {
      H[i][6 + c] = -xV[i], H[3 + i][6 + c] = tV[i];
      H[6 + c][i] = Vx[i], H[6 + c][3 + i] = Vt[i];
    }
  }
  for (int i = 0; i < 6; ++i) {
    H[i][11] = H[11][i] = pack(0);
    for (int l = 0; l < 6; ++l) H[6 + i][6 + l] = pack(0);
  }
  for (int i = 0; i < 3; ++i)
    for (int l = 0; l < 3; ++l) H[6 + i][6 + l] = k(slot::axial + upper7(1 + i, 4 + l));
  H[9][9] = k(slot::shear_y + 4) - k(slot::bend_z);
  H[10][10] = k(slot::shear_z + 4) - k(slot::bend_y);
  H[11][11] = k(slot::skew_yz + 1);
  // Node 2: (θ, V) → columns of its gradient, row by row.
  Pack A[12][12];
  for (int r = 0; r < 12; ++r) {
    const P3 w = G2 * (P3{{H[r][3], H[r][4], H[r][5]}} - yt(e2, &H[r][6]));
    for (int i = 0; i < 3; ++i) A[r][i] = H[r][i];
    to_columns(w, &H[r][6], &A[r][3]);
  }
  // Node 1: the same for rows.
  Pack out[12][12];
  for (int c = 0; c < 12; ++c) {
    const Pack E[6] = {A[6][c], A[7][c], A[8][c], A[9][c], A[10][c], A[11][c]};
    const P3 w = G1 * (P3{{A[3][c], A[4][c], A[5][c]}} - yt(e1, E));
    Pack column[9];
    to_columns(w, E, column);
    for (int i = 0; i < 3; ++i) out[i][c] = A[i][c];
    for (int i = 0; i < 9; ++i) out[3 + i][c] = column[i];
  }
  const P33 Q = M * M;
  const Pack mw = pack(mass_weight);
  Pack m[6];
  for (int i = 0; i < 6; ++i) m[i] = mw * load(t[slot::mass + i] + j);
  for (int i = 0; i < 3; ++i)
    for (int l = 0; l < 3; ++l) {
      out[i][l] += m[0] * Q(i, l), out[i][3 + l] += m[1] * Q(i, l);
      out[3 + i][l] += m[2] * Q(i, l), out[3 + i][3 + l] += m[3] * Q(i, l);
      out[6 + i][6 + l] += m[4] * Q(i, l), out[9 + i][9 + l] += m[5] * Q(i, l);
    }
  for (int r = 0; r < 12; ++r) store_rows(a.O.data(), j, nodes, r, out[r]);
}

LIMBER_KERNEL void slots_kernel(int nodes, bool tangent, double mass_weight, ElementArrays& a) {
  for (int j = 0; j < nodes; j += lanes) {
    const Pack scale = load(a.constants[slot::scale] + j);
    const Geometry g = geometry(a, j);
    const Strain e1 = load_strain(a.strain, 0, j), e2 = load_strain(a.strain, 0, j + 1);
    Stress s = stresses(a, g, e1, e2, j, scale);
    const Moments o = moments(g, s);
    const Slope lean = slope(a, g, j, s);
    store_forces(a, g, s, o, lean, j);
    if (!tangent) continue;
    MidTangent h = mid_tangent(a, g, s, o, j, scale);
    if (lean.leans) add_slope(lean, h);
    const P33 da1 = pack(0.5) * h.da - h.ds, da2 = pack(0.5) * h.da + h.ds;
    const P33 cross_part = symmetric(h.as), quarter = pack(0.25) * h.aa + h.ss;
    const P33& M = g.M;
    Half first{M * times_transposed(h.dd, M),
               pack(-1) * (M * times_transposed(da1, M)),
               M * times_transposed(quarter - cross_part, M),
               {},
               {}};
    Half second{transposed_times(M, h.dd * M),
                transposed_times(M, da2 * M),
                transposed_times(M, (quarter + cross_part) * M),
                {},
                {}};
    for (int c = 0; c < 5; ++c) {
      first.xV[c] = pack(-1) * (M * h.dV[0][c]);
      first.tV[c] = M * (pack(0.5) * h.aV[0][c] - h.sV[0][c]);
      second.xV[c] = transposed_times(M, h.dV[1][c]);
      second.tV[c] = transposed_times(M, pack(0.5) * h.aV[1][c] + h.sV[1][c]);
    }
    store_half(a.half, 0, j, first);
    store_half(a.half, half_rows, j, second);
    store_off_diagonal(a, g, h, da1, da2, j, nodes, scale, mass_weight);
  }
}

// A node's gradient and diagonal block from the two elements at it: node j has the first half of slot j and
// the second half of slot j − 1. Slots before 0 and empty ones hold zeros.
LIMBER_KERNEL void nodes_kernel(int nodes, bool tangent, double mass_weight, ElementArrays& a) {
  const Table& t = a.constants;
  for (int j = 0; j < nodes; j += lanes) {
    const Strain e = load_strain(a.strain, 0, j);
    const P33 G = turn_of_skew(e);
    const auto both = [&](const Table& table, int first, int second) LIMBER_LAMBDA {
      Pack x = load(table[first] + j);
      Pack y = j == 0 ? Pack{0, table[second][0], table[second][1], table[second][2]}
                      : load(table[second] + j - 1);
      return x + y;
    };
    P3 x, m;
    Pack S[6];
    for (int i = 0; i < 3; ++i) {
      x[i] = both(a.force, i, 12 + i);
      m[i] = both(a.force, 3 + i, 15 + i);
    }
    for (int i = 0; i < 6; ++i) S[i] = both(a.force, 6 + i, 18 + i);
    const P3 w = G * (m - yt(e, S));
    Pack column[12];
    for (int i = 0; i < 3; ++i) column[i] = x[i];
    to_columns(w, S, column + 3);
    const int n = nodes - j < lanes ? nodes - j : lanes;
    for (int i = 0; i < n; ++i)
      for (int c = 0; c < 12; ++c) a.g[12 * static_cast<std::size_t>(j + i) + c] = column[c][i];
    if (!tangent) continue;

    const auto half = [&](int row) LIMBER_LAMBDA { return both(a.half, row, half_rows + row); };
    const auto constant = [&](int first, int second) LIMBER_LAMBDA {
      const Pack s1 = load(t[slot::scale] + j), k1 = load(t[first] + j);
      Pack s2, k2;
      if (j == 0) {
        s2 = Pack{0, t[slot::scale][0], t[slot::scale][1], t[slot::scale][2]};
        k2 = Pack{0, t[second][0], t[second][1], t[second][2]};
      } else {
        s2 = load(t[slot::scale] + j - 1), k2 = load(t[second] + j - 1);
      }
      return s1 * k1 + s2 * k2;
    };
    Pack H[12][12];
    for (int i = 0; i < 3; ++i)
      for (int l = 0; l < 3; ++l) {
        H[i][l] = half(3 * i + l);
        H[i][3 + l] = H[3 + l][i] = half(9 + 3 * i + l);
        H[3 + i][3 + l] = half(18 + 3 * i + l);
      }
    for (int c = 0; c < 5; ++c)
      for (int i = 0; i < 3; ++i) {
        H[i][6 + c] = H[6 + c][i] = half(27 + 3 * c + i);
        H[3 + i][6 + c] = H[6 + c][3 + i] = half(42 + 3 * c + i);
      }
    for (int i = 0; i < 6; ++i) {
      H[i][11] = H[11][i] = pack(0);
      for (int l = 0; l < 6; ++l) H[6 + i][6 + l] = pack(0);
    }
    for (int i = 0; i < 3; ++i)
      for (int l = 0; l < 3; ++l)
        H[6 + i][6 + l] = constant(slot::axial + upper7(1 + i, 1 + l), slot::axial + upper7(4 + i, 4 + l));
    H[9][9] = constant(slot::shear_y + 3, slot::shear_y + 5) + constant(slot::bend_z, slot::bend_z);
    H[10][10] = constant(slot::shear_z + 3, slot::shear_z + 5) + constant(slot::bend_y, slot::bend_y);
    H[11][11] = constant(slot::skew_yz, slot::skew_yz + 2);

    // Curvature of the map from F to (P, U): θ' and V' of a straight path in F.
    const P3 mu = pack(0.5) * w;
    P33 U, T;  // U, and the gradient in U as a tensor
    const int index[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
    for (int i = 0; i < 3; ++i)
      for (int l = 0; l < 3; ++l) {
        U(i, l) = e.v[index[i][l]];
        T(i, l) = i == l ? S[index[i][l]] : 0.5 * S[index[i][l]];
      }
    for (int i = 0; i < 3; ++i) U(i, i) += pack(1);
    const P33 UT = U * T, mU = U * skew(mu);
    const Pack trace = UT(0, 0) + UT(1, 1) + UT(2, 2);
    const P33 turn = symmetric(mU) - symmetric(UT) + diagonal(trace);
    for (int i = 0; i < 3; ++i)
      for (int l = 0; l < 3; ++l) H[3 + i][3 + l] += turn(i, l);
    for (int c = 0; c < 6; ++c) {  // −μ tr V + Vμ + axial(VT − TV) for each component of V
      P33 V;
      for (int i = 0; i < 3; ++i)
        for (int l = 0; l < 3; ++l) V(i, l) = pack(index[i][l] == c ? 1.0 : 0.0);
      const P33 VT = V * T;
      P3 block = V * mu + P3{{VT(2, 1) - VT(1, 2), VT(0, 2) - VT(2, 0), VT(1, 0) - VT(0, 1)}};
      if (c < 3) block = block - mu;
      for (int i = 0; i < 3; ++i) {
        H[3 + i][6 + c] += block[i];
        H[6 + c][3 + i] += block[i];
      }
    }
    Pack A[12][12];
    for (int r = 0; r < 12; ++r) {
      const P3 v = G * (P3{{H[r][3], H[r][4], H[r][5]}} - yt(e, &H[r][6]));
      for (int i = 0; i < 3; ++i) A[r][i] = H[r][i];
      to_columns(v, &H[r][6], &A[r][3]);
    }
    Pack out[12][12];
    for (int c = 0; c < 12; ++c) {
      const Pack E[6] = {A[6][c], A[7][c], A[8][c], A[9][c], A[10][c], A[11][c]};
      const P3 v = G * (P3{{A[3][c], A[4][c], A[5][c]}} - yt(e, E));
      Pack rows[9];
      to_columns(v, E, rows);
      for (int i = 0; i < 3; ++i) out[i][c] = A[i][c];
      for (int i = 0; i < 9; ++i) out[3 + i][c] = rows[i];
    }
    const Pack mw = pack(mass_weight);
    const auto mass = [&](int row) LIMBER_LAMBDA { return mw * load(a.node_constants[row] + j); };
    for (int i = 0; i < 3; ++i) {
      out[i][i] += mass(node::mass_xx);
      out[i][3 + i] += mass(node::mass_xs);
      out[3 + i][i] += mass(node::mass_xs);
      out[3 + i][3 + i] += mass(node::mass_ss);
      out[6 + i][6 + i] += mass(node::mass_yy);
      out[9 + i][9 + i] += mass(node::mass_zz);
    }
    for (int r = 0; r < 12; ++r) store_rows(a.D.data(), j, nodes, r, out[r]);
  }
}

}  // namespace

void elements(int nodes, bool tangent, double mass_weight, ElementArrays& a) {
  slots_kernel(nodes, tangent, mass_weight, a);
  nodes_kernel(nodes, tangent, mass_weight, a);
}

}  // namespace limber::thread
