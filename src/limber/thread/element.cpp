// Derivatives (docs/theory/thread.md). With a_j the turn of node j seen in the element's frame, a₁ = Mᵀθ₁,
// a₂ = Mθ₂, M = exp(φ/2), σ = a₂ − a₁, ā = ½(a₁ + a₂):
//
//   δφ = Bσ,   ρ = ā − κ φ × σ (turn of the frame),  κ = tan(|φ|/4) / (2|φ|),   δp = δ + p × ρ,  p = RᵀΔx
//
// and, θ_j being constant along P_j exp(tθ_j), a_j' = −ρ × a_j gives the second derivatives in closed form.
// β = (φ/2)/sin(φ/2), γ = (1 − β)/φ² and κ are power series in s = φ² with radius 4π².
#include "limber/thread/element.h"

#include "limber/thread/element_gradient.h"

namespace limber::thread {
namespace {

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

  const P3 nu = (-c.kappa) * phi;  // N = [ν]
  const P33 Ca = times_skew(o.B, g.p);
  const P33 Cs = o.Y * o.B + times_skew(Ca, nu);
  // Second-order terms of q and φ (see the head of the file).
  const P33 rho = symmetric(outer(o.nb, g.p)) - diagonal(dot(o.nb, g.p));
  const P33 Xd = pack(-1) * skew(o.nb);
  const P33 BZ = o.B * transpose(dB(c, phi, o.n));
  const P33 Xs = times_skew(BZ, g.p);
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
  h.ds = times_skew(Xd, nu) + transpose(BZ) + transposed_times(HqB, Cs);
  h.aa = rho + transposed_times(Ca, Hq * Ca);
  const Pack cf = dot(o.c, phi), mf = dot(o.m, phi);
  const P33 rho_N = times_skew(rho, nu);
  h.as = rho_N + transpose(Xs) + transposed_times(Ca, HqCs) +
         (0.5 * c.kappa) * (outer(o.c, phi) - diagonal(cf)) + pack(0.5) * skew(o.Bm);
  P33 phi_phi = G2 + diagonal(2.0 * s.wall) + (4.0 * s.wall_s) * outer(phi, phi);
  phi_phi(0, 0) += k(slot::torsion);
  phi_phi(1, 1) += k(slot::bend_y);
  phi_phi(2, 2) += k(slot::bend_z);
  const P33 XsN = times_skew(Xs, nu);
  const P3 cxf = cross(o.c, phi);
  h.ss = skew_transposed_times(nu, rho_N) + XsN + transpose(XsN) + o.B * (phi_phi * o.B) +
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
                                      const P33& da1, const P33& da2, int j, int nodes, Pack scale) {
  const Table& t = a.constants;
  const auto k = [&](int row) LIMBER_LAMBDA { return scale * load(t[row] + j); };
  const Strain e1 = load_strain(a.strain, 0, j), e2 = load_strain(a.strain, 0, j + 1);
  const NodeMap n1 = node_map(e1), n2 = node_map(e2);
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
  for (int r = 0; r < 6; ++r) {
    for (int i = 0; i < 3; ++i) A[r][i] = H[r][i];
    map_row(n2, {{H[r][3], H[r][4], H[r][5]}}, &H[r][6], &A[r][3]);
  }
  for (int r = 6; r < 12; ++r)
    for (int i = 0; i < 3; ++i) A[r][i] = H[r][i];
  for (int r = 6; r < 9; ++r) map_axial(n2, {{H[r][3], H[r][4], H[r][5]}}, &H[r][6], &A[r][3]);
  map_shear<0>(n2, {{H[9][3], H[9][4], H[9][5]}}, H[9][9], &A[9][3]);
  map_shear<1>(n2, {{H[10][3], H[10][4], H[10][5]}}, H[10][10], &A[10][3]);
  map_shear<2>(n2, {{H[11][3], H[11][4], H[11][5]}}, H[11][11], &A[11][3]);
  // Node 1: the same for rows.
  Pack out[12][12];
  for (int c = 0; c < 12; ++c) {
    const Pack E[6] = {A[6][c], A[7][c], A[8][c], A[9][c], A[10][c], A[11][c]};
    Pack column[9];
    map_row(n1, {{A[3][c], A[4][c], A[5][c]}}, E, column);
    for (int i = 0; i < 3; ++i) out[i][c] = A[i][c];
    for (int i = 0; i < 9; ++i) out[3 + i][c] = column[i];
  }
  const P33 Q = M * M;
  const Pack mw = load(a.weight[0] + j);
  Pack m[6];
  for (int i = 0; i < 6; ++i) m[i] = mw * load(t[slot::mass + i] + j);
  for (int i = 0; i < 3; ++i)
    for (int l = 0; l < 3; ++l) {
      out[i][l] += m[0] * Q(i, l), out[i][3 + l] += m[1] * Q(i, l);
      out[3 + i][l] += m[2] * Q(i, l), out[3 + i][3 + l] += m[3] * Q(i, l);
      out[6 + i][6 + l] += m[4] * Q(i, l), out[9 + i][9 + l] += m[5] * Q(i, l);
    }
  for (int r = 0; r < 12; ++r) store_rows<144>(a.O.data(), j, nodes, r, 0, out[r]);
}

// What one pass over a few packs leaves for the next. Passes and not one long kernel: that is more code than
// the cache of instructions holds, and every pack would fetch it anew.
struct Between {
  Geometry g;
  Stress s;
  Moments o;
  Slope lean;
  MidTangent h;
  P33 da1, da2;
};
constexpr int packs_at_once = 6;

LIMBER_KERNEL void force_kernel(int begin, int end, ElementArrays& a, Between* between) {
  for (int j = begin; j < end; j += lanes, ++between) {
    const Pack scale = load(a.constants[slot::scale] + j);
    const Geometry g = geometry(a, j);
    const Strain e1 = load_strain(a.strain, 0, j), e2 = load_strain(a.strain, 0, j + 1);
    Stress s = stresses(a, g, e1, e2, j, scale);
    const Moments o = moments(g, s);
    const Slope lean = slope(a, g, j, s);
    store_forces(a, g, s, o, lean, j);
    between->g = g, between->s = s, between->o = o, between->lean = lean;
  }
}

// The tangent of other stresses, or of a share of them: the stiffness of the strains is left whole.
LIMBER_KERNEL void share_kernel(int begin, int end, const ElementArrays& a, Between* between) {
  const Pack share = pack(a.geometric);
  for (int j = begin; j < end; j += lanes, ++between) {
    Stress& s = between->s;
    if (a.foresees)
      s.n = load(a.foreseen[0] + j), s.vy = load(a.foreseen[1] + j), s.vz = load(a.foreseen[2] + j);
    s.n *= share, s.vy *= share, s.vz *= share, s.wall *= share;
    s.m = share * s.m;
    between->o = moments(between->g, s);
    if (between->lean.leans)
      for (Pack& first : between->lean.first) first *= share;
  }
}

LIMBER_KERNEL void tangent_kernel(int begin, int end, const ElementArrays& a, Between* between) {
  for (int j = begin; j < end; j += lanes, ++between) {
    Between& b = *between;
    b.h = mid_tangent(a, b.g, b.s, b.o, j, load(a.constants[slot::scale] + j));
    if (b.lean.leans) add_slope(b.lean, b.h);
    b.da1 = pack(0.5) * b.h.da - b.h.ds, b.da2 = pack(0.5) * b.h.da + b.h.ds;
  }
}

LIMBER_KERNEL void halves_kernel(int begin, int end, ElementArrays& a, const Between* between) {
  for (int j = begin; j < end; j += lanes, ++between) {
    const MidTangent& h = between->h;
    const P33& M = between->g.M;
    const P33 cross_part = symmetric(h.as), quarter = pack(0.25) * h.aa + h.ss;
    Half first{M * times_transposed(h.dd, M),
               pack(-1) * (M * times_transposed(between->da1, M)),
               M * times_transposed(quarter - cross_part, M),
               {},
               {}};
    Half second{transposed_times(M, h.dd * M),
                transposed_times(M, between->da2 * M),
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
  }
}

LIMBER_KERNEL void off_diagonal_kernel(int begin, int end, int nodes, ElementArrays& a,
                                       const Between* between) {
  for (int j = begin; j < end; j += lanes, ++between)
    store_off_diagonal(a, between->g, between->h, between->da1, between->da2, j, nodes,
                       load(a.constants[slot::scale] + j));
}

}  // namespace

void elements(int nodes, bool tangent, ElementArrays& a) {
  Between between[packs_at_once];
  const int slots = nodes - 1;  // the last node's is empty
  for (int begin = 0; begin < slots; begin += packs_at_once * lanes) {
    const int end = begin + packs_at_once * lanes < slots ? begin + packs_at_once * lanes : slots;
    force_kernel(begin, end, a, between);
    if (!tangent) continue;
    if (a.geometric != 1 || a.foresees) share_kernel(begin, end, a, between);
    tangent_kernel(begin, end, a, between);
    halves_kernel(begin, end, a, between);
    off_diagonal_kernel(begin, end, nodes, a, between);
  }
  assemble_nodes(nodes, tangent, a);
}

}  // namespace limber::thread
