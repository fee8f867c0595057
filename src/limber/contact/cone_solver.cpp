#include "limber/contact/cone_solver.h"

#include <algorithm>
#include <cmath>

#include "limber/math/pack.h"

namespace limber::contact {
namespace {

// u = free_c + Σ W_cb λ_b
inline __attribute__((always_inline)) void motion(const ConeProblem& p, int c, const double* lambda,
                                                  double* u) {
  const ContactMatrix& W = *p.W;
  for (int i = 0; i < 4; ++i) u[i] = p.free[4 * c + i];
  for (int e = W.start[c]; e < W.start[c + 1]; ++e) {
    const double* x = lambda + 4 * W.columns[e];
    if (x[0] == 0) continue;  // open: no force at all
    const double* b = W.values.data() + 16 * static_cast<std::size_t>(e);
    for (int i = 0; i < 4; ++i) u[i] += b[i] * x[0] + (b[4 + i] * x[1] + b[8 + i] * x[2]);
  }
}

// New force of one contact; returns the largest change of motion it makes at its own place.
inline __attribute__((always_inline)) double update(const ConeProblem& p, int c, double* lambda) {
  double u[4];
  motion(p, c, lambda, u);
  double* x = lambda + 4 * c;
  const double* d = p.W->values.data() + 16 * static_cast<std::size_t>(p.W->diagonal[c]);
  if (!(d[0] > 0)) return 0;
  const double n = std::max(0.0, x[0] - u[0] / d[0]);
  double change = std::abs(n - x[0]) * d[0];
  u[1] += d[1] * (n - x[0]);
  u[2] += d[2] * (n - x[0]);
  x[0] = n;
  if (!(p.friction[c] > 0)) return change;
  const double wt = std::max(d[5], d[10]);
  if (!(wt > 0)) return change;
  double t1 = x[1] - u[1] / wt, t2 = x[2] - u[2] / wt;
  const double size = std::sqrt(t1 * t1 + t2 * t2), limit = p.friction[c] * n;
  if (size > limit) t1 *= limit / size, t2 *= limit / size;
  change = std::max(change, wt * std::max(std::abs(t1 - x[1]), std::abs(t2 - x[2])));
  x[1] = t1, x[2] = t2;
  return change;
}

LIMBER_KERNEL double sweep_kernel(const ConeProblem& p, double* lambda) {
  double change = 0;
  for (int c = 0; c < p.contacts; ++c) change = std::max(change, update(p, c, lambda));
  return change;
}

// Gauss with row pivoting, in place; false if the matrix is singular.
LIMBER_KERNEL bool gauss(int n, int stride, double* a, double* b) {
  for (int k = 0; k < n; ++k) {
    int best = k;
    for (int i = k + 1; i < n; ++i)
      if (std::abs(a[i * stride + k]) > std::abs(a[best * stride + k])) best = i;
    if (!(std::abs(a[best * stride + k]) > 0)) return false;
    if (best != k) {
      std::swap_ranges(a + k * stride + k, a + k * stride + n, a + best * stride + k);
      std::swap(b[k], b[best]);
    }
    const double inverse = 1 / a[k * stride + k];
    const double* pivot = a + k * stride;
    for (int i = k + 1; i < n; ++i) {
      double* row = a + i * stride;
      const double f = row[k] * inverse;
      if (f == 0) continue;
      for (int c = k + 1; c < n; ++c) row[c] -= f * pivot[c];
      b[i] -= f * b[k];
    }
  }
  for (int k = n - 1; k >= 0; --k) {
    double sum = b[k];
    for (int c = k + 1; c < n; ++c) sum -= a[k * stride + c] * b[c];
    b[k] = sum / a[k * stride + k];
  }
  return true;
}

}  // namespace

double sweep_contacts(const ConeProblem& p, double* lambda) { return sweep_kernel(p, lambda); }
void contact_motion(const ConeProblem& p, int c, const double* lambda, double* u) { motion(p, c, lambda, u); }

// x = out − Σ γ Δout with the γ that makes |f − Σ γ Δf| least.
void ConeSolver::extrapolate(const ConeProblem& p, double* lambda) {
  const std::size_t n = 4 * static_cast<std::size_t>(p.contacts);
  for (std::size_t i = 0; i < n; ++i) before_[i] = after_[i] - before_[i];  // f
  if (!last_f_.empty()) {
    newest_ = (newest_ + 1) % depth;
    history_ = std::min(history_ + 1, depth);
    out_[newest_].resize(n), f_[newest_].resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      out_[newest_][i] = after_[i] - last_out_[i];
      f_[newest_][i] = before_[i] - last_f_[i];
    }
  }
  last_out_.assign(after_.begin(), after_.end());
  last_f_.assign(before_.begin(), before_.end());
  std::copy(after_.begin(), after_.end(), lambda);
  if (history_ == 0) return;
  const auto dot = [&](const std::vector<double>& x, const std::vector<double>& y) {
    double sum = 0;
    for (int c = 0; c < p.contacts; ++c) {
      const std::size_t i = 4 * static_cast<std::size_t>(c);
      sum += weight_[c] * (x[i] * y[i] + (x[i + 1] * y[i + 1] + x[i + 2] * y[i + 2]));
    }
    return sum;
  };
  double A[depth * depth], b[depth];
  const auto entry = [&](int k) { return (newest_ - k + depth) % depth; };
  double trace = 0;
  for (int i = 0; i < history_; ++i) {
    b[i] = dot(f_[entry(i)], before_);
    for (int k = 0; k <= i; ++k) A[i * history_ + k] = A[k * history_ + i] = dot(f_[entry(i)], f_[entry(k)]);
    trace = std::max(trace, A[i * history_ + i]);
  }
  for (int i = 0; i < history_; ++i) A[i * history_ + i] += 1e-12 * trace;
  if (!(trace > 0) || !gauss(history_, history_, A, b)) return;
  for (int i = 0; i < history_; ++i) {
    const std::vector<double>& d = out_[entry(i)];
    for (std::size_t k = 0; k < n; ++k) lambda[k] -= b[i] * d[k];
  }
  for (int c = 0; c < p.contacts; ++c) {  // open ones stay open, the others within their disk
    double* x = lambda + 4 * static_cast<std::size_t>(c);
    x[0] = std::max(0.0, x[0]);
    const double size = std::sqrt(x[1] * x[1] + x[2] * x[2]), limit = p.friction[c] * x[0];
    if (size > limit) x[1] *= limit / size, x[2] *= limit / size;
  }
}

ConeReport ConeSolver::solve_many(const ConeProblem& p, double tolerance, int max_sweeps, double* lambda) {
  ConeReport report;
  const auto size = 4 * static_cast<std::size_t>(p.contacts);
  weight_.resize(static_cast<std::size_t>(p.contacts));
  for (int c = 0; c < p.contacts; ++c) {
    const double* d = p.W->values.data() + 16 * static_cast<std::size_t>(p.W->diagonal[c]);
    weight_[c] = (d[0] + d[5] + d[10]) / 3;
  }
  history_ = 0;
  last_f_.clear();
  double best = 0;
  int plain = 0;  // sweeps that are taken as they come
  while (report.sweeps < max_sweeps) {
    before_.assign(lambda, lambda + size);
    ++report.sweeps;
    report.change = sweep_contacts(p, lambda);
    if (report.change <= tolerance) return report;
    if (report.sweeps == 1 || report.change < best) {
      best = report.change;
      best_.assign(lambda, lambda + size);
    } else if (plain == 0 && !(report.change < 4 * best)) {  // leads away: from the best, without a past
      std::copy(best_.begin(), best_.end(), lambda);
      history_ = 0;
      last_f_.clear();
      plain = 2 * depth;
      continue;
    }
    if (plain > 0) {
      --plain;
      continue;
    }
    after_.assign(lambda, lambda + size);
    extrapolate(p, lambda);
  }
  std::copy(best_.begin(), best_.end(), lambda);
  return report;
}

}  // namespace limber::contact
