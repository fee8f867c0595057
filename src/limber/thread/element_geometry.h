// Where four elements stand: their nodes' turn against each other, their frame, and the series of the turn.
// Internal to element.cpp.
//
// β = (φ/2)/sin(φ/2), γ = (1 − β)/φ² and κ = tan(|φ|/4)/(2|φ|) are power series in s = φ² with radius 4π².
#pragma once

#include <array>

#include "limber/thread/element.h"

namespace limber::thread {

inline constexpr int terms = 22;

struct Series {
  std::array<double, terms + 3> beta{}, kappa{};
};

// x/sin x = Σ b_k x^2k and tan x/x = Σ t_k x^2k by division of the series of sin and cos.
constexpr Series make_series() {
  Series out;
  std::array<double, terms + 3> s{}, c{}, b{}, t{};
  double factorial = 1;
  for (int k = 0; k < terms + 3; ++k) {
    if (k > 0) factorial *= -1.0 / ((2.0 * k - 1) * (2.0 * k));
    c[k] = factorial;
    s[k] = factorial / (2.0 * k + 1);
  }
  for (int k = 0; k < terms + 3; ++k) {
    double vb = k == 0 ? 1 : 0, vt = s[k];
    for (int i = 1; i <= k; ++i) {
      vb -= s[i] * b[k - i];
      vt -= c[i] * t[k - i];
    }
    b[k] = vb;
    t[k] = vt;
  }
  double quarter = 1, sixteenth = 1;  // x = φ/2: x² = s/4; x = φ/4: x² = s/16
  for (int k = 0; k < terms + 3; ++k) {
    out.beta[k] = b[k] * quarter;
    out.kappa[k] = t[k] * sixteenth / 8;  // tan(φ/4)/(2φ) = (1/8) tan(x)/x
    quarter /= 4;
    sixteenth /= 16;
  }
  return out;
}
inline constexpr Series series = make_series();

// asin(x)/x = Σ a_k x^2k
constexpr std::array<double, 24> make_asin() {
  std::array<double, 24> a{};
  double c = 1;
  for (int k = 0; k < 24; ++k) {
    a[k] = c / (2.0 * k + 1);
    c *= (2.0 * k + 1) / (2.0 * k + 2);
  }
  return a;
}
inline constexpr std::array<double, 24> asin_series = make_asin();

struct Coefficients {
  Pack beta, beta_s, beta_ss, gamma, gamma_s, gamma_ss, kappa, kappa_s;
};

// Terms that matter below the last bit, by the largest turn of the four: of the series in φ² (radius 4π²) and
// of the arc sine of φ/8.
LIMBER_INLINE double largest_of(Pack x) {
  const double a = x[0] > x[1] ? x[0] : x[1], b = x[2] > x[3] ? x[2] : x[3];
  return a > b ? a : b;
}
LIMBER_INLINE int terms_of_turn(double s) { return s < 0.1 ? 8 : s < 1 ? 12 : terms; }
LIMBER_INLINE int terms_of_asin(double x2) { return x2 < 0.0016 ? 7 : x2 < 0.016 ? 11 : 24; }

LIMBER_INLINE Coefficients coefficients(Pack s) {
  Coefficients c;
  const Pack o = pack(0);
  Pack b = o, b1 = o, b2 = o, g = o, g1 = o, g2 = o, k = o, k1 = o;
  for (int i = terms_of_turn(largest_of(s)) - 1; i >= 0;
       --i) {  // Horner for a polynomial and its derivatives
    b2 = b2 * s + 2.0 * b1;
    b1 = b1 * s + b;
    b = b * s + pack(series.beta[i]);
    g2 = g2 * s + 2.0 * g1;
    g1 = g1 * s + g;
    g = g * s - pack(series.beta[i + 1]);
    k1 = k1 * s + k;
    k = k * s + pack(series.kappa[i]);
  }
  c.beta = b, c.beta_s = b1, c.beta_ss = b2;
  c.gamma = g, c.gamma_s = g1, c.gamma_ss = g2;
  c.kappa = k, c.kappa_s = k1;
  return c;
}

LIMBER_INLINE P3 load3(const Table& t, int row, int j) {
  return {{load(t[row] + j), load(t[row + 1] + j), load(t[row + 2] + j)}};
}
LIMBER_INLINE P33 load33(const Table& t, int j) {
  P33 a;
  for (int k = 0; k < 9; ++k) a.m[k / 3][k % 3] = load(t[k] + j);
  return a;
}

struct Strain {
  Pack v[6];  // xx yy zz xy xz yz
};
LIMBER_INLINE Strain load_strain(const Table& t, int row, int j) {
  Strain e;
  for (int k = 0; k < 6; ++k) e.v[k] = load(t[row + k] + j);
  return e;
}

// The geometry of a pack of elements, from its nodes.
struct Geometry {
  P33 M;  // exp(φ/2)
  P3 phi, p, q;
  Pack norm_q, gap;
  Coefficients c;
};

LIMBER_INLINE Geometry geometry(const ElementArrays& a, int j) {
  const P33 P1 = load33(a.P, j), P2 = load33(a.P, j + 1);
  const P33 Q = transposed_times(P1, P2);
  Geometry g;
  // Quaternion of Q, halved twice: of φ, φ/2 (the frame), φ/4 (for the angle).
  const Pack one = pack(1), tiny = pack(1e-8);
  const Pack w = 0.5 * root(larger(one + Q(0, 0) + Q(1, 1) + Q(2, 2), tiny));
  P3 v = (0.25 / w) * P3{{Q(2, 1) - Q(1, 2), Q(0, 2) - Q(2, 0), Q(1, 0) - Q(0, 1)}};
  const Pack length = root(w * w + dot(v, v));
  g.gap = w / length;
  Pack n = 1.0 / root((one + g.gap) * (one + g.gap) + (1.0 / (length * length)) * dot(v, v));
  const Pack w2 = (one + g.gap) * n;
  const P3 v2 = (n / length) * v;
  const P33 K = skew(v2);
  g.M = diagonal(one) + (2.0 * w2) * K + pack(2.0) * times_skew(K, v2);
  n = 1.0 / root((one + w2) * (one + w2) + dot(v2, v2));
  const P3 v4 = n * v2;
  const Pack x2 = dot(v4, v4);
  Pack f = pack(0);
  for (int k = terms_of_asin(largest_of(x2)) - 1; k >= 0; --k) f = f * x2 + pack(asin_series[k]);
  g.phi = (8.0 * f) * v4;
  g.c = coefficients(dot(g.phi, g.phi));
  const P33 R = P1 * g.M;
  g.p = transposed_times(R, load3(a.x, 0, j + 1) - load3(a.x, 0, j));
  g.q = g.c.beta * g.p + (g.c.gamma * dot(g.phi, g.p)) * g.phi;
  g.norm_q = root(dot(g.q, g.q) + pack(1e-300));
  return g;
}

}  // namespace limber::thread
