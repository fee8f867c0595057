// The interior-point method of friction_cone.cpp, whose head says what it does.
#include <algorithm>
#include <cmath>

#include "limber/contact/friction.h"
#include "limber/contact/lorentz.h"

namespace limber::contact {

using lorentz::Scaling;

void InteriorPoint::start(const ConeProblem& p, const std::vector<double>& G, const std::vector<double>& g,
                          int n, double force) {
  n_ = n;
  follow_ = 1;
  const auto size = static_cast<std::size_t>(n);
  G_ = G, g_ = g;
  mu_.assign(p.friction, p.friction + p.contacts);
  // Without friction a contact has no tangents: they are cut off from the rest.
  for (int c = 0; c < p.contacts; ++c) {
    if (mu_[c] > 1e-8) continue;
    mu_[c] = 1;
    for (int i = 1; i < 3; ++i) {
      const std::size_t r = static_cast<std::size_t>(3 * c + i);
      g_[r] = 0;
      for (std::size_t k = 0; k < size; ++k) G_[r * size + k] = G_[k * size + r] = r == k ? 1 : 0;
    }
  }
  double largest = 0;
  for (int c = 0; c < p.contacts; ++c) {
    const std::size_t r = static_cast<std::size_t>(3 * c);
    g_[r] /= mu_[c];
    for (std::size_t k = 0; k < size; ++k) G_[r * size + k] /= mu_[c];
    for (std::size_t k = 0; k < size; ++k) G_[k * size + r] /= mu_[c];
  }
  for (const double v : g_) largest = std::max(largest, std::abs(v));
  for (auto* v : {&x_, &y_, &r_, &dx_, &dy_, &d_}) v->assign(size, 0.0);
  for (int c = 0; c < p.contacts; ++c) x_[3 * c] = force * largest, y_[3 * c] = largest;
  first_ = largest * largest;
  L_.resize(size * size);
  pivot_.resize(size);
  H_.resize(9 * static_cast<std::size_t>(p.contacts));
}

void InteriorPoint::residual() {
  const auto n = static_cast<std::size_t>(n_);
  for (std::size_t i = 0; i < n; ++i) {
    double sum = g_[i];
    for (std::size_t k = 0; k < n; ++k) sum += G_[i * n + k] * x_[k];
    r_[i] = sum;
  }
  // s = μ|u_t| e_n; in ŷ that is |u_t|.
  for (std::size_t i = 0; i < n; i += 3) {
    const double slip = std::sqrt(r_[i + 1] * r_[i + 1] + r_[i + 2] * r_[i + 2]);
    for (std::size_t k = 1; k < 3; ++k) d_[i + k] = slip > 0 ? follow_ * r_[i + k] / slip : 0;
    r_[i] += slip;
  }
}

// L U of Ĝ + H with the derivative of s, row e_n of a contact gaining the row along its slip (in d_); rows
// pivot.
bool InteriorPoint::factor() {
  const auto n = static_cast<std::size_t>(n_);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < n; ++k) {
      L_[i * n + k] = G_[i * n + k];
      if (i % 3 == 0) L_[i * n + k] += d_[i + 1] * G_[(i + 1) * n + k] + d_[i + 2] * G_[(i + 2) * n + k];
    }
    for (std::size_t k = 0; k < 3; ++k) L_[i * n + i / 3 * 3 + k] += H_[9 * (i / 3) + 3 * (i % 3) + k];
  }
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t best = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::abs(L_[i * n + k]) > std::abs(L_[best * n + k])) best = i;
    if (!(std::abs(L_[best * n + k]) > 0)) return false;
    pivot_[k] = static_cast<int>(best);
    if (best != k) std::swap_ranges(&L_[k * n], &L_[k * n] + n, &L_[best * n]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const double f = L_[i * n + k] /= L_[k * n + k];
      for (std::size_t c = k + 1; c < n; ++c) L_[i * n + c] -= f * L_[k * n + c];
    }
  }
  return true;
}

void InteriorPoint::back_solve(double* x) const {
  const auto n = static_cast<std::size_t>(n_);
  for (std::size_t k = 0; k < n; ++k) std::swap(x[k], x[pivot_[k]]);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < i; ++k) x[i] -= L_[i * n + k] * x[k];
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) x[i] -= L_[i * n + k] * x[k];
    x[i] /= L_[i * n + i];
  }
}

// The largest step, at most 1, that stays in the cone.
double InteriorPoint::longest_step(const std::vector<double>& x, const std::vector<double>& dx) const {
  double step = 1;
  for (std::size_t c = 0; c < x.size(); c += 3) step = std::min(step, lorentz::longest_step(&x[c], &dx[c]));
  return step;
}

void InteriorPoint::run(double close, int max_iterations, FrictionReport& report) {
  const int contacts = n_ / 3;
  for (int round = 0; round < max_iterations; ++round) {
    double nu = 0;
    for (int i = 0; i < n_; ++i) nu += x_[i] * y_[i] / contacts;
    residual();
    double off = 0;
    for (int i = 0; i < n_; ++i) off = std::max(off, std::abs(r_[i] - y_[i]));
    if (nu <= close * first_ && off * off <= close * close * first_) return;
    ++report.iterations, ++report.solves;
    for (int c = 0; c < contacts; ++c) Scaling(&x_[3 * c], &y_[3 * c]).inverse_square(&H_[9 * c]);
    if (!factor()) return;
    // Predictor: straight at the solution.
    for (int i = 0; i < n_; ++i) dx_[i] = -r_[i];
    back_solve(dx_.data());
    const auto follow = [&](int c, const double* w_d) {  // dy = −H dx + W⁻¹d
      for (int i = 0; i < 3; ++i) {
        dy_[3 * c + i] = w_d[i];
        for (int k = 0; k < 3; ++k) dy_[3 * c + i] -= H_[9 * c + 3 * i + k] * dx_[3 * c + k];
      }
    };
    for (int c = 0; c < contacts; ++c) {
      const double w_d[3] = {-y_[3 * c], -y_[3 * c + 1], -y_[3 * c + 2]};
      follow(c, w_d);
    }
    const double reach = std::min(longest_step(x_, dx_), longest_step(y_, dy_));
    const double sigma = std::max(1e-3, (1 - reach) * (1 - reach) * (1 - reach));
    // Corrector.
    for (int c = 0; c < contacts; ++c) {
      const Scaling scaling(&x_[3 * c], &y_[3 * c]);
      double a[3], b[3], rhs[3], z[3];
      scaling.undo(&dx_[3 * c], a);
      scaling.apply(&dy_[3 * c], b);
      rhs[0] = sigma * nu - (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
      for (int i = 1; i < 3; ++i) rhs[i] = -(a[0] * b[i] + b[0] * a[i]);
      lorentz::divide(scaling.lambda, rhs, z);
      for (int i = 0; i < 3; ++i) z[i] -= scaling.lambda[i];
      scaling.undo(z, &d_[3 * c]);
    }
    for (int i = 0; i < n_; ++i) dx_[i] = -r_[i] + y_[i] + d_[i];
    back_solve(dx_.data());
    for (int c = 0; c < contacts; ++c) follow(c, &d_[3 * c]);
    const double step = 0.99 * std::min(longest_step(x_, dx_), longest_step(y_, dy_));
    for (int i = 0; i < n_; ++i) x_[i] += step * dx_[i], y_[i] += step * dy_[i];
    follow_ = step < 0.3 ? 0.5 * follow_ : std::min(1.0, 1.5 * follow_);
    if (!(step > 1e-10)) return;
  }
}

void InteriorPoint::forces(double* x) const {
  for (int i = 0; i < n_; ++i) x[i] = i % 3 == 0 ? x_[i] / mu_[i / 3] : x_[i];
}

}  // namespace limber::contact
