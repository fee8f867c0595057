// Between the ends of a part of a step: q = q₀ ⊕ u, with u of fifth degree in time, u and its first two
// derivatives those of both ends,
//
//   u̇ = Σ c_k ad_u^k v,   ü = Σ c_k (ad_u^k v)˙,   c_k = B_k/k! but c₁ = ½        (dexp⁻¹, left-trivialised)
//   v = Σ (−1)^k/(k+1)! ad_u^k u̇                                                  (dexp)
//
// so u is off by h⁶/46080 of its sixth derivative and v by the same of one order less: below what a part of
// fourth order is off by. Books follow their powers at both ends by a cubic.
#include <algorithm>
#include <array>
#include <cmath>

#include "limber/articulated/stepper.h"

namespace limber::articulated {

namespace {

constexpr std::array<double, 9> dexp_inverse = {1,           0.5, 1.0 / 12,      0, -1.0 / 720, 0,
                                                1.0 / 30240, 0,   -1.0 / 1209600};

Vec6 rates_of(const multibody::Link& link, const std::vector<double>& v) {
  Vec6 out = Vec6::Zero();
  std::copy_n(v.data() + link.v, link.dofs, out.data());
  return out;
}

// u, u̇ and ü at the end of the part.
struct Way {
  Vec6 u = Vec6::Zero(), rate = Vec6::Zero(), second = Vec6::Zero();
};

Way way_to(const multibody::Link& link, const State& start, const State& end, const Node& at_end) {
  Way way;
  multibody::rates_between(link.kind, start.q.data() + link.q, end.q.data() + link.q, 1, way.u.data());
  const Vec6 v = rates_of(link, end.v), a = rates_of(link, at_end.a);
  if (!has_rotation_vector(link.kind)) return {way.u, v, a};
  Vec6 x = v;
  for (const double c : dexp_inverse) {
    way.rate += c * x;
    x = bracket(link.kind, way.u, x);
  }
  Vec6 rate = a;  // of x
  x = v;
  for (const double c : dexp_inverse) {
    way.second += c * rate;
    rate = bracket(link.kind, way.rate, x) + bracket(link.kind, way.u, rate);
    x = bracket(link.kind, way.u, x);
  }
  return way;
}

// v for u and u̇.
Vec6 velocity_along(JointKind kind, const Vec6& u, const Vec6& rate) {
  Vec6 sum = rate, x = rate;
  if (!has_rotation_vector(kind)) return sum;
  for (int k = 1; k < 16; ++k) {
    x = -bracket(kind, u, x) / (k + 1);
    sum += x;
  }
  return sum;
}

// Of degree three, by values and rates at both ends of [0, 1].
double cubic(double at, double from, double rate_from, double to, double rate_to) {
  const double b = 1 - at;
  return from + at * at * (3 - 2 * at) * (to - from) + at * b * (b * rate_from - at * rate_to);
}

}  // namespace

void interpolate(const SystemData& s, const State& start, const Node& at_start, const State& end,
                 const Node& at_end, double t, State& out) {
  const double h = at_end.t - at_start.t, x = (t - at_start.t) / h;
  out = end;
  out.t = t;
  for (const multibody::Link& link : s.tree.links()) {
    const Way way = way_to(link, start, end, at_end);
    const Vec6 v0 = h * rates_of(link, start.v), a0 = h * h * rates_of(link, at_start.a);
    const Vec6 d0 = way.u - v0 - 0.5 * a0, d1 = h * way.rate - v0 - a0, d2 = h * h * way.second - a0;
    const Vec6 A = 10 * d0 - 4 * d1 + 0.5 * d2, B = -15 * d0 + 7 * d1 - d2, C = 6 * d0 - 3 * d1 + 0.5 * d2;
    const Vec6 u = x * (v0 + x * (0.5 * a0 + x * (A + x * (B + x * C))));
    const Vec6 rate = (v0 + x * (a0 + x * (3 * A + x * (4 * B + x * 5 * C)))) / h;
    multibody::integrate_joint(link.kind, start.q.data() + link.q, u.data(), 1, out.q.data() + link.q);
    const Vec6 v = velocity_along(link.kind, u, rate);
    std::copy_n(v.data(), link.dofs, out.v.data() + link.v);
    for (int k = 0; k < link.dofs; ++k)
      out.a[link.v + k] = (1 - x) * at_start.a[link.v + k] + x * at_end.a[link.v + k];
  }
  for (const CompiledMotion& m : s.motions)
    prescribed(m, s.tree[m.link], t, out.q.data() + s.tree[m.link].q, out.v.data() + s.tree[m.link].v);
  out.dissipated = cubic(x, start.dissipated, h * at_start.taken, end.dissipated, h * at_end.taken);
  out.work = cubic(x, start.work, h * (at_start.given + at_start.field), end.work,
                   h * (at_end.given + at_end.field));
  for (std::size_t i = 0; i < out.works.size(); ++i)
    out.works[i] = cubic(x, start.works[i], h * at_start.powers[i], end.works[i], h * at_end.powers[i]);
}

}  // namespace limber::articulated
