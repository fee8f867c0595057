#include "limber/contact/cone_solver.h"

#include <algorithm>
#include <cmath>

namespace limber::contact {
namespace {

// u = free_c + Σ W_cb λ_b
void motion(const ConeProblem& p, int c, const double* lambda, double* u) {
  const ContactMatrix& W = *p.W;
  for (int i = 0; i < 4; ++i) u[i] = p.free[4 * c + i];
  for (int e = W.start[c]; e < W.start[c + 1]; ++e) {
    const double* b = W.values.data() + 16 * static_cast<std::size_t>(e);
    const double* x = lambda + 4 * W.columns[e];
    for (int i = 0; i < 4; ++i) u[i] += b[i] * x[0] + (b[4 + i] * x[1] + b[8 + i] * x[2]);
  }
}

// New force of one contact; returns the largest change of motion it makes at its own place.
double update(const ConeProblem& p, int c, double* lambda) {
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

}  // namespace

ConeReport solve_cone(const ConeProblem& p, double tolerance, int max_sweeps, double* lambda) {
  ConeReport report;
  while (report.sweeps < max_sweeps) {
    ++report.sweeps;
    report.change = 0;
    for (int c = 0; c < p.contacts; ++c) report.change = std::max(report.change, update(p, c, lambda));
    if (report.change <= tolerance) break;
  }
  return report;
}

}  // namespace limber::contact
