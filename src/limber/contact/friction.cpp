#include "limber/contact/friction.h"

#include <algorithm>
#include <cmath>

namespace limber::contact {
namespace {

void velocity(const ConeProblem& p, int c, const double* lambda, double* u) {
  const ContactMatrix& W = *p.W;
  for (int i = 0; i < 3; ++i) u[i] = p.free[4 * c + i];
  for (int e = W.start[c]; e < W.start[c + 1]; ++e) {
    const double *x = lambda + 4 * W.columns[e], *b = W.values.data() + 16 * static_cast<std::size_t>(e);
    for (int i = 0; i < 3; ++i) u[i] += b[i] * x[0] + b[4 + i] * x[1] + b[8 + i] * x[2];
  }
}

}  // namespace

void project_on_cone(double mu, double* x) {
  const double t = std::sqrt(x[1] * x[1] + x[2] * x[2]);
  if (x[0] >= 0 && t <= mu * x[0]) return;  // without friction t = 0 alone is not enough
  if (mu * t <= -x[0]) {
    x[0] = x[1] = x[2] = 0;
    return;
  }
  const double n = (x[0] + mu * t) / (1 + mu * mu), s = t > 0 ? mu * n / t : 0;
  x[0] = n, x[1] *= s, x[2] *= s;
}

void make_dense(int contacts, ContactMatrix& W) {
  W.start.resize(static_cast<std::size_t>(contacts) + 1);
  W.columns.resize(static_cast<std::size_t>(contacts) * contacts);
  W.diagonal.resize(static_cast<std::size_t>(contacts));
  W.values.assign(16 * static_cast<std::size_t>(contacts) * contacts, 0.0);
  for (int c = 0; c < contacts; ++c) {
    W.start[c] = c * contacts;
    W.diagonal[c] = c * contacts + c;
    for (int b = 0; b < contacts; ++b) W.columns[c * contacts + b] = b;
  }
  W.start[contacts] = contacts * contacts;
}

void ContactMeasure::add(double mu, double w, const double* free, const double* u, const double* x) {
  for (int i = 0; i < 3; ++i) {
    free_ = std::max(free_, std::abs(free[i]));
    force_ = std::max(force_, std::abs(x[i]));
  }
  if (!(w > 0)) return;
  const double tilde[3] = {u[0] + mu * std::sqrt(u[1] * u[1] + u[2] * u[2]), u[1], u[2]};
  double y[3];
  for (int i = 0; i < 3; ++i) y[i] = x[i] - tilde[i] / w;
  project_on_cone(mu, y);
  for (int i = 0; i < 3; ++i)
    if (const double off = w * std::abs(x[i] - y[i]); !(off <= miss_))
      miss_ = off;  // keeps what is no number
  outside_ = std::max({outside_, -x[0], std::sqrt(x[1] * x[1] + x[2] * x[2]) - mu * x[0]});
  work_ = std::max(work_, std::abs(tilde[0] * x[0] + tilde[1] * x[1] + tilde[2] * x[2]));
}

void ContactMeasure::tell(FrictionReport& report) const {
  report.residual = free_ > 0 ? miss_ / free_ : miss_;
  report.cone_violation = force_ > 0 ? outside_ / force_ : 0;
  report.complementarity = force_ > 0 && free_ > 0 ? work_ / (force_ * free_) : 0;
}

void measure(const ConeProblem& p, const double* lambda, FrictionReport& report) {
  ContactMeasure all;
  for (int c = 0; c < p.contacts; ++c) {
    const double* d = p.W->values.data() + 16 * static_cast<std::size_t>(p.W->diagonal[c]);
    double u[3];
    velocity(p, c, lambda, u);
    all.add(p.friction[c], (d[0] + d[5] + d[10]) / 3, p.free + 4 * c, u, lambda + 4 * c);
  }
  all.tell(report);
}

void FrictionSolver::sweep_pyramid(const ConeProblem& p, double* lambda) const {
  for (int c = 0; c < p.contacts; ++c) {
    double* x = lambda + 4 * c;
    const double* d = p.W->values.data() + 16 * static_cast<std::size_t>(p.W->diagonal[c]);
    double u[3];
    for (int i = 0; i < 3; ++i) {
      if (!(d[5 * i] > 0)) continue;
      velocity(p, c, lambda, u);
      const double bound = p.friction[c] * x[0], next = x[i] - u[i] / d[5 * i];
      x[i] = i == 0 ? std::max(0.0, next) : std::clamp(next, -bound, bound);
    }
  }
}

FrictionReport FrictionSolver::solve(const ConeProblem& p, const FrictionOptions& options, double* lambda) {
  FrictionReport report;
  for (int c = 0; c < p.contacts; ++c) lambda[4 * c + 3] = 0;
  if (options.method == FrictionMethod::pgs) {
    for (; report.iterations < options.sweeps; ++report.iterations) sweep_pyramid(p, lambda);
  } else if (p.contacts > 0) {
    solve_cone(p, options, lambda, report);
  }
  measure(p, lambda, report);
  report.converged = report.residual <= options.tolerance;
  return report;
}

double with_restitution(double free_n, double approach, double restitution, double threshold) {
  return approach < -threshold ? free_n + restitution * approach : free_n;
}

}  // namespace limber::contact
