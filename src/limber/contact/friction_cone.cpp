// The cone solver: Newton's method on the natural map, and an interior-point method where that fails.
//
// All in the scaled problem G = D W D, g = D free, where D divides each contact by the root of its own mean
// mobility, which leaves its cone as it is: unequal masses are evened out.
//
// Newton (Alart, Curnier 1991): F(q) = q − P_K(q − ũ(q)) = 0 from the last step's impulses, with halved steps
// while |F| does not fall. Between steps of a simulation that is mostly all it takes. Where contacts begin
// and end, or many of them say nearly the same, it gets stuck.
//
// Interior point (Acary, Armand, Nguyen, Shpakovych 2023): for given s = μ|u_t| e_n the problem is that of
// the smallest ½ xᵀGx + xᵀ(g + s) in the cone. In x̂ = (μ x_n, x_t), ŷ = (y_n/μ, y_t) both cones are
// Lorentz's, and with the scaling H x̂ = ŷ of Nesterov and Todd and the Jordan product ∘ a step is
//
//   (Ĝ + H) dx = −(Ĝx̂ + ĝ + ŝ) + ŷ + W⁻¹d,   ŷ + dy = −H dx + ŷ + W⁻¹d,   d = λ \ (σν e − a∘b) − λ,   λ =
//   W⁻¹x̂
//
// (a, b: the scaled predictor, Mehrotra 1992). The change of s belongs to the step, less of it where
// steps get short. H is regular, so contacts that say
// the same do no harm. Then Newton goes the rest of the way. The result is projected, so it violates no cone.
#include <algorithm>
#include <cmath>

#include "limber/contact/friction.h"

namespace limber::contact {
void FrictionSolver::scale(const ConeProblem& p) {
  n_ = 3 * p.contacts;
  const auto n = static_cast<std::size_t>(n_);
  G_.assign(n * n, 0.0);
  J_.resize(n * n);
  for (auto* v : {&g_, &y_, &rhs_, &q_, &step_, &trial_, &at_, &kept_}) v->resize(n);
  scale_.resize(static_cast<std::size_t>(p.contacts));
  for (int c = 0; c < p.contacts; ++c) {
    const double* d = p.W->values.data() + 16 * static_cast<std::size_t>(p.W->diagonal[c]);
    const double w = (d[0] + d[5] + d[10]) / 3;
    scale_[c] = w > 0 ? 1 / std::sqrt(w) : 0;
  }
  for (int c = 0; c < p.contacts; ++c) {
    for (int i = 0; i < 3; ++i) g_[3 * c + i] = scale_[c] * p.free[4 * c + i];
    for (int e = p.W->start[c]; e < p.W->start[c + 1]; ++e) {
      const int b = p.W->columns[e];
      const double* v = p.W->values.data() + 16 * static_cast<std::size_t>(e);
      for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k)
          G_[static_cast<std::size_t>(3 * c + i) * n + 3 * b + k] = scale_[c] * scale_[b] * v[4 * k + i];
    }
  }
}

// F = q − P_K(q − ũ(q)), and if wanted its derivative 1 − P'(1 − ũ'); returns |F|².
double FrictionSolver::natural_map(const ConeProblem& p, const double* q, bool derivative) {
  const auto n = static_cast<std::size_t>(n_);
  double sum = 0;
  for (int c = 0; c < p.contacts; ++c) {
    const double mu = p.friction[c];
    double u[3], v[3], P[3];
    for (int i = 0; i < 3; ++i) {
      const std::size_t r = static_cast<std::size_t>(3 * c + i);
      u[i] = g_[r];
      for (std::size_t k = 0; k < n; ++k) u[i] += G_[r * n + k] * q[k];
    }
    const double slip = std::sqrt(u[1] * u[1] + u[2] * u[2]);
    u[0] += mu * slip;
    for (int i = 0; i < 3; ++i) P[i] = v[i] = q[3 * c + i] - u[i];
    project_on_cone(mu, P);
    for (int i = 0; i < 3; ++i) {
      rhs_[3 * c + i] = q[3 * c + i] - P[i];
      sum += rhs_[3 * c + i] * rhs_[3 * c + i];
    }
    if (!derivative) continue;
    double D[3][3] = {};  // of the projection
    const double t = std::sqrt(v[1] * v[1] + v[2] * v[2]);
    if (v[0] >= 0 && t <= mu * v[0]) {
      D[0][0] = D[1][1] = D[2][2] = 1;
    } else if (mu * t > -v[0] && t > 0) {
      const double k = 1 / (1 + mu * mu), d[2] = {v[1] / t, v[2] / t}, turn = P[0] * mu / t;
      D[0][0] = k;
      for (int i = 0; i < 2; ++i) {
        D[0][1 + i] = D[1 + i][0] = k * mu * d[i];
        for (int l = 0; l < 2; ++l)
          D[1 + i][1 + l] = k * mu * mu * d[i] * d[l] + turn * ((i == l ? 1 : 0) - d[i] * d[l]);
      }
    }
    const double e[2] = {slip > 0 ? mu * u[1] / slip : 0, slip > 0 ? mu * u[2] / slip : 0};
    const double* G[3] = {&G_[(3 * c) * n], &G_[(3 * c + 1) * n], &G_[(3 * c + 2) * n]};
    for (std::size_t k = 0; k < n; ++k) {
      // Column k of 1 − ũ', a little regularised.
      double a[3] = {-(G[0][k] + e[0] * G[1][k] + e[1] * G[2][k]), -G[1][k], -G[2][k]};
      const int own = static_cast<int>(k) - 3 * c;
      if (own >= 0 && own < 3) a[own] += 1 - soft_;
      for (int i = 0; i < 3; ++i)
        J_[static_cast<std::size_t>(3 * c + i) * n + k] =
            (own == i ? 1 : 0) - (D[i][0] * a[0] + D[i][1] * a[1] + D[i][2] * a[2]);
    }
  }
  return sum;
}

// Gauss with row pivoting on J_ and rhs_; false if singular.
bool FrictionSolver::gauss() {
  const auto n = static_cast<std::size_t>(n_);
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t best = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::abs(J_[i * n + k]) > std::abs(J_[best * n + k])) best = i;
    if (!(std::abs(J_[best * n + k]) > 0)) return false;
    if (best != k) {
      std::swap_ranges(&J_[k * n] + k, &J_[k * n] + n, &J_[best * n] + k);
      std::swap(rhs_[k], rhs_[best]);
    }
    for (std::size_t i = k + 1; i < n; ++i) {
      const double f = J_[i * n + k] / J_[k * n + k];
      if (f == 0) continue;
      for (std::size_t c = k + 1; c < n; ++c) J_[i * n + c] -= f * J_[k * n + c];
      rhs_[i] -= f * rhs_[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t c = k + 1; c < n; ++c) rhs_[k] -= J_[k * n + c] * rhs_[c];
    rhs_[k] /= J_[k * n + k];
  }
  return true;
}

// Newton's method from y_; the best that it meets is in q_. Careful: steps are halved while |F| does not
// fall. Bold: whole steps, which may first lead away and then hit.
void FrictionSolver::newton(const ConeProblem& p, double goal, int rounds, bool bold,
                            FrictionReport& report) {
  q_ = trial_ = y_;
  double now = natural_map(p, trial_.data(), true), best = now;
  for (int round = 0; round < rounds && best > goal * goal; ++round) {
    if (!gauss()) return;
    ++report.solves;
    step_ = rhs_;
    at_ = trial_;
    double t = 1, next = now;
    for (; t > 1e-4; t *= 0.5) {
      for (std::size_t i = 0; i < at_.size(); ++i) trial_[i] = at_[i] - t * step_[i];
      next = natural_map(p, trial_.data(), false);
      if (bold || next < (1 - 0.1 * t) * now) break;
    }
    if (!(t > 1e-4) || !std::isfinite(next)) return;
    now = natural_map(p, trial_.data(), true);
    if (now < best) best = now, q_ = trial_;
  }
}

void FrictionSolver::solve_cone(const ConeProblem& p, const FrictionOptions& options, double* lambda,
                                FrictionReport& report) {
  scale(p);
  const int m = p.contacts;
  for (int c = 0; c < m; ++c) {
    for (int i = 0; i < 3; ++i) y_[3 * c + i] = scale_[c] > 0 ? lambda[4 * c + i] / scale_[c] : 0;
    project_on_cone(p.friction[c], &y_[3 * c]);
  }
  double size = 0;
  for (const double x : g_) size = std::max(size, std::abs(x));
  const auto result = [&](const std::vector<double>& from) {
    for (int c = 0; c < m; ++c) {
      double* x = lambda + 4 * c;
      for (int i = 0; i < 3; ++i) x[i] = scale_[c] * from[3 * c + i];
      project_on_cone(p.friction[c], x);
    }
    FrictionReport now;
    measure(p, lambda, now);
    return now.residual;
  };
  double best = result(y_);
  kept_ = y_;
  const auto keep = [&](const std::vector<double>& from) {
    if (const double found = result(from); found < best) best = found, kept_ = from;
    return best <= options.tolerance;
  };
  const double goal = 0.1 * options.tolerance * size;
  const auto polish = [&](bool bold) {
    for (const double soft : {1e-12, 1e-8}) {
      soft_ = soft;
      newton(p, goal, bold ? 8 : 20, bold, report);
      if (keep(q_)) return true;
    }
    return false;
  };
  if (best > options.tolerance && size > 0 && !polish(false)) {
    // Heavy bodies that press on a light one need large forces to begin with.
    bool done = false;
    for (const double force : {1.0, 1e2, 1e4, 1e-2}) {
      interior_.start(p, G_, g_, n_, force);
      const int until = std::min(options.max_iterations, report.iterations + 50);
      // Ever closer to the cone, and tries of Newton's method from there.
      for (const double close : {1e-4, 1e-8, 1e-11, 1e-13}) {
        interior_.run(close, until - report.iterations, report);
        interior_.forces(y_.data());
        done = keep(y_) || polish(false) || polish(true);
        if (done || report.iterations >= until) break;
      }
      if (done || report.iterations >= options.max_iterations) break;
    }
  }
  result(kept_);
}

}  // namespace limber::contact
