#include "limber/chain/stretch.h"

#include "limber/chain/ties.h"
#include "limber/math/dense.h"

namespace limber::chain {
namespace {

// The force on each link by all that acts, but for springs.
void forces_on_links(const Structure& s, double factor, const std::vector<double>& lambda, const Balance& b,
                     std::vector<Vec3>& N) {
  const Links& l = s.links;
  for (int k = 0; k < l.count(); ++k)
    N[k] = l.active[k] && s.loaded[k] ? Vec3(s.fixed[k].F + factor * s.ramped[k].F) : Vec3(Vec3::Zero());
  for (const TurningLoad& t : s.turning_fixed)
    if (l.active[t.link]) N[t.link] += b.R[t.link] * t.F;
  for (const TurningLoad& t : s.turning_ramped)
    if (l.active[t.link]) N[t.link] += factor * (b.R[t.link] * t.F);
  for (const WindShape& w : s.wind)
    if (l.active[w.link]) N[w.link] += drag_on(s, w, factor, b);
  add_closure_forces(s, b, factor, lambda, N);
}

void stretch(const Structure& s, Balance& b) {
  const Links& l = s.links;
  for (int k = l.count() - 1; k >= 0; --k)
    if (l.active[k] && l.parent[k] >= 0) b.N[l.parent[k]] += b.N[k];
  for (int k = 0; k < l.count(); ++k) b.shift[k] = b.give[k] * b.N[k];
  place(s, b);
}

void find_give(const Structure& s, Balance& b) {
  const Links& l = s.links;
  for (int k = 0; k < l.count(); ++k) {
    const int p = l.parent[k];
    if (!l.active[k])
      b.give[k].setZero();
    else if (p < 0)
      b.give[k] = l.compliance[k];
    else
      b.give[k] = b.R[p] * l.compliance[k] * b.R[p].transpose();
    b.reach[k] = b.give[k];
    if (p >= 0) b.reach[k] += b.reach[p];
  }
}

bool is_there(const Structure& s, const SpringTie& t) {
  return (t.a < 0 || s.links.active[t.a]) && (t.b < 0 || s.links.active[t.b]);
}

// How the length vector of spring i answers to a pull in spring j: shortens by this.
Mat3 give_between(const Structure& s, const Balance& b, const SpringTie& i, const SpringTie& j) {
  Mat3 sum = Mat3::Zero();
  const auto add = [&](int x, int y, double sign) {
    if (const int k = s.links.common(x, y); k >= 0) sum += sign * b.reach[k];
  };
  add(i.a, j.a, 1), add(i.a, j.b, -1), add(i.b, j.a, -1), add(i.b, j.b, 1);
  return sum;
}

// Springs pull by where links are, and links are where they are by the springs' pull: d = d₀ − D P, P = f(d).
// Small and dense; Newton, halved where the law has a corner.
void pull_springs(const Structure& s, const std::vector<Vec3>& own, Balance& b) {
  std::vector<const SpringTie*> springs;
  for (const SpringTie& t : s.springs)
    if (is_there(s, t)) springs.push_back(&t);
  const int n = static_cast<int>(springs.size());
  if (n == 0) return;
  const auto place_of = [&](int link, const Vec3& p) {
    return link < 0 ? p : Vec3(b.in.c[link] + b.R[link] * p);
  };
  MatX D(3 * n, 3 * n);
  VecX d0(3 * n), P(3 * n), left(3 * n);
  for (int i = 0; i < n; ++i) {
    d0.segment<3>(3 * i) =
        place_of(springs[i]->b, springs[i]->p_b) - place_of(springs[i]->a, springs[i]->p_a);
    for (int j = 0; j < n; ++j) D.block<3, 3>(3 * i, 3 * j) = give_between(s, b, *springs[i], *springs[j]);
  }
  const auto pull = [&](const VecX& d, MatX* K) {
    VecX out(3 * n);
    for (int i = 0; i < n; ++i) {
      const elastic::SpringLine line =
          elastic::spring_line(springs[i]->law, d.segment<3>(3 * i), Vec3::Zero(), false);
      out.segment<3>(3 * i) = line.pull;
      if (K) K->middleRows(3 * i, 3) = line.K() * D.middleRows(3 * i, 3);
    }
    return out;
  };
  P = pull(d0, nullptr);
  constexpr int most = 50;
  for (int round = 0; round < most; ++round) {
    MatX J = MatX::Zero(3 * n, 3 * n);
    left = pull(d0 - D * P, &J) - P;
    if (left.norm() <= 1e-15 * P.norm()) break;
    J.diagonal().array() += 1;
    const auto step = math::solve_full_rank(J, left);
    if (!step) break;
    double part = 1;
    for (; part > 0.1; part /= 2) {
      const VecX trial = P + part * *step;
      if ((pull(d0 - D * trial, nullptr) - trial).norm() < left.norm()) break;
    }
    P += part * *step;
  }
  b.N = own;
  for (int i = 0; i < n; ++i) {
    if (springs[i]->a >= 0) b.N[springs[i]->a] += P.segment<3>(3 * i);
    if (springs[i]->b >= 0) b.N[springs[i]->b] -= P.segment<3>(3 * i);
  }
  stretch(s, b);
}

}  // namespace

void stand(const Structure& s, const Shape& shape, double factor, const std::vector<double>& lambda,
           Balance& b) {
  turn(s, shape, b);
  if (!s.links.stretch) return place(s, b);
  find_give(s, b);
  forces_on_links(s, factor, lambda, b, b.N);
  if (s.springs.empty()) return stretch(s, b);
  const std::vector<Vec3> own = b.N;
  stretch(s, b);
  pull_springs(s, own, b);
}

}  // namespace limber::chain
