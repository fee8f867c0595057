#include "limber/chain/structure.h"

#include <algorithm>
#include <cmath>

#include "limber/math/so3.h"

namespace limber::chain {
namespace {

using math::skew;

// Σ r × f of Σ f rᵀ.
Vec3 axial(const Mat3& S) { return {S(2, 1) - S(1, 2), S(0, 2) - S(2, 0), S(1, 0) - S(0, 1)}; }

// Drag on a shape that stands still: F = ½ ρ C_d A |u| u, A seen along u.
Vec3 drag(const WindShape& w, const Mat3& R_WL, const Vec3& air, double pressure) {
  const double speed = air.norm();
  if (speed == 0) return Vec3::Zero();
  const Vec3 along = (R_WL * w.X_LG.R).transpose() * air / speed;
  return pressure * projected_area(w.geometry, along) * speed * air;
}

// The wind's speed grows so that its force is proportional to the factor, or goes from one to another.
Vec3 air_at(const Structure& s, double factor) {
  if (!s.wind_ramped) return s.air_before + factor * (s.air - s.air_before);
  return std::sqrt(std::max(factor, 0.0)) * s.air;
}

}  // namespace

Pose Closure::frame(double factor) const {
  const auto between = [&](const Vec3& from, const Vec3& to) -> Vec3 { return from + factor * (to - from); };
  const Vec3 by = between(turn_before, turn), along = between(shift_before, shift);
  return by.isZero(0) && along.isZero(0) ? X_A : X_A * Pose{math::so3_exp(by), along};
}

void Structure::resize_loads() {
  fixed.resize(links.parent.size());
  ramped.resize(links.parent.size());
}

void Structure::loads_changed() {
  loaded.resize(links.parent.size());
  for (std::size_t k = 0; k < loaded.size(); ++k) {
    const auto any = [](const DeadLoad& d) { return !d.F.isZero(0) || !d.S.isZero(0) || !d.M.isZero(0); };
    loaded[k] = any(fixed[k]) || any(ramped[k]) ? 1 : 0;
  }
  const auto moment = [](const DeadLoad& d) { return !d.M.isZero(0); };
  const bool blows =
      !wind.empty() && air_pressure != 0 && !(air.isZero(0) && (wind_ramped || air_before.isZero(0)));
  conservative = turning_fixed.empty() && turning_ramped.empty() && !blows &&
                 std::none_of(fixed.begin(), fixed.end(), moment) &&
                 std::none_of(ramped.begin(), ramped.end(), moment);
}

void Balance::resize(int links) {
  const auto n = static_cast<std::size_t>(links);
  R.resize(n), N.resize(n), tau.resize(n), g.resize(n), r.resize(n);
  shift.assign(n, Vec3::Zero()), give.assign(n, Mat3::Zero()), reach.assign(n, Mat3::Zero());
  in.resize(links);
}

void turn(const Structure& s, const Shape& shape, Balance& b) {
  const Links& l = s.links;
  for (int k = 0; k < l.count(); ++k) {
    const int p = l.parent[k];
    if (p < 0) {
      b.R[k] = l.R_f[k].lazyProduct(shape.R[k]);
    } else if (l.straight[k]) {
      b.R[k] = b.R[p].lazyProduct(shape.R[k]);
    } else {
      const Mat3 F = b.R[p].lazyProduct(l.R_f[k]);
      b.R[k] = F.lazyProduct(shape.R[k]);
    }
  }
}

void place(const Structure& s, Balance& b) {
  const Links& l = s.links;
  for (int k = 0; k < l.count(); ++k) {
    const int p = l.parent[k];
    if (p < 0) {
      b.in.c[k] = l.p_f[k];
    } else {
      b.in.c[k] = b.in.c[p];
      b.in.c[k].noalias() += b.R[p] * l.p_f[k];
    }
    if (l.stretch) b.in.c[k] += b.shift[k];
  }
}

Vec3 drag_on(const Structure& s, const WindShape& w, double factor, const Balance& b) {
  return drag(w, b.R[w.link], air_at(s, factor), s.air_pressure);
}

// The parent's turn changes the shift by B (N × Ω), and with it the moment of N; a change of N changes it
// too.
static void add_stretch(Balance& b, int k, int p) {
  const Mat3 N = skew(b.N[k]), NB = N * b.give[k];
  if (p >= 0) b.in.A[p] += NB * N;
  b.in.lever[k] = NB;
}

void weigh(const Structure& s, const Shape& shape, double factor, const std::vector<Tug>& tugs, bool tangent,
           Balance& b) {
  const Links& l = s.links;
  const int n = l.count();
  b.elastic = b.dead = b.scale = 0;
  b.in.general = tangent && !s.conservative;

  for (int k = 0; k < n; ++k) {
    b.in.S[k].setZero();
    if (b.in.general || l.stretch) b.in.A[k].setZero(), b.in.B[k].setZero();
    if (!l.active[k] || !s.loaded[k]) {
      b.N[k].setZero(), b.in.mu[k].setZero();
      continue;
    }
    const DeadLoad &d0 = s.fixed[k], &d1 = s.ramped[k];
    const Mat3 S0 = d0.S + factor * d1.S;
    b.N[k] = d0.F + factor * d1.F;
    b.in.mu[k] = d0.M + factor * d1.M;
    b.in.S[k] = S0.lazyProduct(b.R[k].transpose());
    b.dead -= b.N[k].dot(b.in.c[k]) + b.in.S[k].trace();
  }

  const auto turn_with = [&](const std::vector<TurningLoad>& loads, double part) {
    for (const TurningLoad& t : loads) {
      if (!l.active[t.link]) continue;
      const Mat3& R = b.R[t.link];
      const Vec3 f = part * (R * t.F), m = part * (R * t.M);
      const Mat3 S = part * (R * t.S * R.transpose());
      b.N[t.link] += f;
      b.in.S[t.link] += S;
      b.in.mu[t.link] += m;
      if (!b.in.general) continue;
      b.in.A[t.link] += S - S.trace() * Mat3::Identity() + skew(m);
      b.in.B[t.link] -= skew(f);
    }
  };
  turn_with(s.turning_fixed, 1);
  turn_with(s.turning_ramped, factor);

  const Vec3 air = air_at(s, factor);
  if (!air.isZero(0))
    for (const WindShape& w : s.wind) {
      if (!l.active[w.link]) continue;
      const Mat3& R = b.R[w.link];
      const Vec3 arm = R * w.X_LG.p, f = drag(w, R, air, s.air_pressure);
      b.N[w.link] += f;
      b.in.S[w.link] += f * arm.transpose();
      if (!b.in.general) continue;
      Mat3 F;  // by central differences: the seen area has no closed derivative for every shape
      constexpr double h = 1e-6;
      for (int i = 0; i < 3; ++i) {
        const Vec3 step = h * Vec3::Unit(i);
        F.col(i) = (drag(w, math::so3_exp(step) * R, air, s.air_pressure) -
                    drag(w, math::so3_exp(-step) * R, air, s.air_pressure)) /
                   (2 * h);
      }
      b.in.A[w.link] -= skew(arm) * F;
      b.in.B[w.link] += F;
    }

  for (const Tug& t : tugs) {
    if (t.link < 0 || !l.active[t.link]) continue;
    b.in.S[t.link] += t.f * t.arm.transpose();
    if (!t.director) b.N[t.link] += t.f;
  }

  if (!tangent)
    for (int k = 0; k < n; ++k) b.in.mu[k] += axial(b.in.S[k]);
  for (int k = n - 1; k >= 0; --k) {
    if (!l.active[k]) {
      b.r[k].setZero(), b.g[k].setZero(), b.tau[k].setZero();
      continue;
    }
    const int p = l.parent[k];
    const Vec3 arm = p >= 0 ? Vec3(b.in.c[k] - b.in.c[p]) : Vec3::Zero().eval();
    if (tangent) {
      b.tau[k] = axial(b.in.S[k]) + b.in.mu[k];
      if (p >= 0) {
        b.in.S[p] += b.in.S[k];
        b.in.S[p].noalias() += b.N[k] * arm.transpose();
        b.in.mu[p] += b.in.mu[k];
      }
    } else {  // moments alone
      b.tau[k] = b.in.mu[k];
      if (p >= 0) b.in.mu[p] += b.in.mu[k] + arm.cross(b.N[k]);
    }
    if (p >= 0) b.N[p] += b.N[k];
    if (l.stretch) {
      b.elastic += 0.5 * b.shift[k].dot(b.N[k]);
      if (tangent) add_stretch(b, k, p);
    }
    const JointMoment j = joint_moment(l.stiffness[k], shape.theta[k], l.hinge[k] != 0, tangent);
    b.elastic += j.energy;
    b.g[k].noalias() = b.R[k] * j.moment;
    b.r[k] = b.g[k] - b.tau[k];
    if (l.hinge[k]) {
      b.in.axis[k] = b.R[k].col(2);
      b.r[k] = b.in.axis[k] * b.in.axis[k].dot(b.r[k]);
    }
    if (tangent) {
      const Mat3 RK = b.R[k].lazyProduct(j.K);
      b.in.E[k] = RK.lazyProduct(b.R[k].transpose());
    }
    b.scale = std::max(b.scale, std::max(b.g[k].norm(), b.tau[k].norm()));
  }
}

double load_rate(const Structure& s, double factor, const Balance& b, std::vector<Vec3>& t,
                 std::vector<Vec3>& shift) {
  const Links& l = s.links;
  const int n = l.count();
  std::vector<Vec3> N(static_cast<std::size_t>(n), Vec3::Zero());
  std::vector<Vec3> moment(static_cast<std::size_t>(n), Vec3::Zero());
  for (int k = 0; k < n; ++k) {
    if (!l.active[k]) continue;
    N[k] = s.ramped[k].F;
    moment[k] = axial(s.ramped[k].S * b.R[k].transpose()) + s.ramped[k].M;
  }
  for (const TurningLoad& w : s.turning_ramped) {
    if (!l.active[w.link]) continue;
    const Mat3& R = b.R[w.link];
    N[w.link] += R * w.F;
    moment[w.link] += axial(R * w.S * R.transpose()) + R * w.M;
  }
  const bool changes = !s.wind_ramped && s.air != s.air_before;
  if ((s.wind_ramped && factor >= 0) || changes)
    for (const WindShape& w : s.wind) {
      if (!l.active[w.link]) continue;
      constexpr double h = 1e-4;  // the drag is of second order in the factor: differences are exact
      const Vec3 f = changes ? Vec3((drag(w, b.R[w.link], air_at(s, factor + h), s.air_pressure) -
                                     drag(w, b.R[w.link], air_at(s, factor - h), s.air_pressure)) /
                                    (2 * h))
                             : drag(w, b.R[w.link], s.air, s.air_pressure);
      N[w.link] += f;
      moment[w.link] += (b.R[w.link] * w.X_LG.p).cross(f);
    }
  t.assign(static_cast<std::size_t>(n), Vec3::Zero());
  for (int k = n - 1; k >= 0; --k) {
    if (!l.active[k]) continue;
    t[k] = moment[k];
    const int p = l.parent[k];
    if (p >= 0) {
      N[p] += N[k];
      moment[p] += moment[k] + (b.in.c[k] - b.in.c[p]).cross(N[k]);
      if (l.stretch) moment[p] += (b.give[k] * N[k]).cross(b.N[k]);
    }
    if (l.hinge[k]) t[k] = b.in.axis[k] * b.in.axis[k].dot(t[k]);
  }
  shift.assign(l.stretch ? static_cast<std::size_t>(n) : 0, Vec3::Zero());
  double work = 0;
  for (int k = 0; l.stretch && k < n; ++k) {
    const Vec3 own = b.give[k] * N[k];
    work += own.dot(N[k]);
    shift[k] = own + (l.parent[k] >= 0 ? shift[l.parent[k]] : Vec3(Vec3::Zero()));
  }
  return work;
}

}  // namespace limber::chain
