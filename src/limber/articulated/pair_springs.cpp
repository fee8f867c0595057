// Springs between two links, four numbers at a time: their forces, what their dampers take, and their blocks
// in the matrix of a step, world axes. The law is that of elastic/spring_law.h with `clamp`.
#include <algorithm>
#include <cmath>

#include "limber/articulated/system.h"
#include "limber/multibody/inertia_rows.h"

namespace limber::articulated {
namespace {

using math::pack;
using multibody::rows::all;
using multibody::rows::cross;
using multibody::rows::dot;
using multibody::rows::load3;
using multibody::rows::Pack;
using multibody::rows::store3;

// [r]ₓ M by columns.
LIMBER_INLINE void cross_columns(Pack r, const Pack (&M)[3], Pack (&out)[3]) {
#pragma GCC unroll 3
  for (int k = 0; k < 3; ++k) out[k] = cross(r, M[k]);
}

// to += sign ((A, B; Cᵀ, Q)), all by columns but C.
LIMBER_INLINE void add_columns(double sign, const Pack (&A)[3], const Pack (&C_turned)[3], const Pack (&B)[3],
                               const Pack (&Q)[3], Mat6& to) {
  const Pack s = pack(sign);
#pragma GCC unroll 3
  for (int k = 0; k < 3; ++k) {
    double *left = to.data() + 6 * k, *right = left + 18;
    store3(left, load3(left) + s * A[k]);
    store3(left + 3, load3(left + 3) + s * C_turned[k]);
    store3(right, load3(right) + s * B[k]);
    store3(right + 3, load3(right + 3) + s * Q[k]);
  }
}

// The three blocks JᵀQJ' of a line between a and b, [[r]Q[r']ᵀ, [r]Q; Q[r']ᵀ, Q], with [r]Q and what follows
// from it shared.
LIMBER_INLINE void add_line_blocks(Pack a, Pack b, const Pack (&Q)[3], Mat6& at_a, Mat6& at_b, Mat6& off) {
  Pack aQ[3], bQ[3], Qa[3], Qb[3], aa[3], bb[3], ab[3];  // Qa = −Q [a]ₓ = ([a]ₓ Q)ᵀ
  cross_columns(a, Q, aQ), cross_columns(b, Q, bQ);
  multibody::rows::transpose(aQ, Qa), multibody::rows::transpose(bQ, Qb);
  cross_columns(a, Qa, aa), cross_columns(b, Qb, bb), cross_columns(a, Qb, ab);
  add_columns(1, aa, Qa, aQ, Q, at_a);
  add_columns(1, bb, Qb, bQ, Q, at_b);
  add_columns(-1, ab, Qb, aQ, Q, off);
}

// One end of a spring: its link's axes, the point in M, from the link's origin, and its velocity, in the
// world's axes.
struct SpringEnd {
  Pack R[3], p, r, v;
};

// Sums as Eigen has them: x + (y + z) in the third row.
LIMBER_INLINE Pack turned_by(const Pack (&R)[3], Pack x) {
  const Pack a = R[0] * all(x, 0), b = R[1] * all(x, 1), c = R[2] * all(x, 2);
  return __builtin_shufflevector((a + b) + c, a + (b + c), 0, 1, 6, 7);
}

LIMBER_INLINE SpringEnd end_of(const LinkMotion& m, const Vec3& p) {
  const double *R = m.X_WM.R.data(), *V = m.V.data();
  SpringEnd e;
  e.R[0] = load3(R), e.R[1] = load3(R + 3), e.R[2] = load3(R + 6), e.p = load3(p.data());
  e.r = turned_by(e.R, e.p);
  e.v = turned_by(e.R, load3(V + 3) + cross(load3(V), e.p));
  return e;
}

LIMBER_INLINE void pull_at(const SpringEnd& e, Pack f_W, Vec6& wrench) {
  Pack turn[3];
  multibody::rows::transpose(e.R, turn);
  const Pack f = (turn[0] * all(f_W, 0) + turn[1] * all(f_W, 1)) + turn[2] * all(f_W, 2);
  double* F = wrench.data();
  store3(F, load3(F) + cross(e.p, f));
  store3(F + 3, load3(F + 3) + f);
}

// The law by its line: elastic::spring_line().
struct Line {
  Pack n, pull;
  double along = 0, across = 0, damping = 0, power = 0;
};

// Of a law by curves, one number at a time; slack: zero.
void find_curved_line(const elastic::SpringParameters& s, const Vec3& d, const Vec3& rate, Line& out) {
  const elastic::SpringLine line = elastic::spring_line(s, d, rate, true);
  out.n = load3(line.n.data()), out.pull = load3(line.pull.data());
  out.along = line.along, out.across = line.across, out.damping = line.damping, out.power = line.power;
}

// False: slack.
LIMBER_INLINE bool find_line(const elastic::SpringParameters& s, Pack d, Pack rate, Line& out) {
  if (s.curves) {
    find_curved_line(s, Vec3(d[0], d[1], d[2]), Vec3(rate[0], rate[1], rate[2]), out);
    return true;
  }
  const double l = std::sqrt(dot(d, d));
  if (s.tension_only && l <= s.rest_length) return false;
  const bool directed = l > 1e-12 * s.rest_length;
  out.n = directed ? d / pack(l) : pack(0);
  out.along = out.across = s.stiffness;
  if (s.rest_length != 0 && directed) out.across = std::max(s.stiffness * (1 - s.rest_length / l), 0.0);
  const double speed = dot(out.n, rate);
  const Pack elastic =
      s.rest_length == 0 ? pack(s.stiffness) * d : pack(s.stiffness * (l - s.rest_length)) * out.n;
  out.pull = elastic + pack(s.damping * speed) * out.n;
  if (s.tension_only && dot(out.pull, out.n) < 0) {  // shortens too quickly: slack rather than push
    out.pull = pack(0);
    out.power = -dot(elastic, out.n) * speed;
    out.damping = 0;
    return true;
  }
  out.power = s.damping * speed * speed;
  out.damping = s.damping;
  return true;
}

// matrix: null for forces alone. Returns the power with what the dampers take.
LIMBER_KERNEL double add_springs(const std::vector<PairSpring>& springs, const LinkMotion* links,
                                 const Weights& weights, double power, Vec6* wrench,
                                 multibody::BlockSystem* matrix) {
  for (const PairSpring& spring : springs) {
    const LinkMotion &A = links[spring.a.link], &B = links[spring.b.link];
    const SpringEnd a = end_of(A, spring.a.p), b = end_of(B, spring.b.p);
    const Pack d = (load3(B.X_WM.p.data()) + b.r) - (load3(A.X_WM.p.data()) + a.r), rate = b.v - a.v;
    Line line;
    if (!find_line(spring.law, d, rate, line)) continue;
    const double beyond = line.along - line.across;
    const Pack K_rate = pack(line.across) * rate + pack(beyond * dot(line.n, rate)) * line.n;
    const Pack f = line.pull + pack(weights.ahead) * K_rate;
    pull_at(a, f, wrench[spring.a.link]);
    pull_at(b, -f, wrench[spring.b.link]);
    power += line.power;
    if (!matrix) continue;
    const double k = weights.k * line.across;
    const Pack n = pack(weights.k * beyond + weights.d * line.damping) * line.n;
    const Pack Q[3] = {Pack{k, 0, 0, 0} + n * all(line.n, 0), Pack{0, k, 0, 0} + n * all(line.n, 1),
                       Pack{0, 0, k, 0} + n * all(line.n, 2)};
    const bool forward = spring.a.link < spring.b.link;
    const int first = forward ? spring.a.link : spring.b.link,
              second = forward ? spring.b.link : spring.a.link;
    add_line_blocks(forward ? a.r : b.r, forward ? b.r : a.r, Q, matrix->diagonal[first],
                    matrix->diagonal[second], matrix->off[spring.pair]);
  }
  return power;
}

}  // namespace

void add_pair_springs(const SystemData& s, const Weights& weights, WorkspaceData& w) {
  w.dissipated_power = add_springs(s.pair_springs, w.links.data(), weights, w.dissipated_power,
                                   w.wrench.data(), weights.matrix ? &w.blocks->system : nullptr);
}

}  // namespace limber::articulated
