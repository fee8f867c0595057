#include "limber/contact/lorentz.h"

#include <algorithm>

namespace limber::contact::lorentz {

double longest_step(const double* x, const double* dx) {
  // det(x + t dx) = a t² + 2 b t + d
  double step = 1;
  const double a = det(dx), b = x[0] * dx[0] - x[1] * dx[1] - x[2] * dx[2], d = det(x);
  if (dx[0] < 0) step = std::min(step, -x[0] / dx[0]);
  const double disc = b * b - a * d;
  if (disc < 0) return step;
  const double root = std::sqrt(disc);
  // The smaller positive root, without cancellation.
  const double k = b < 0 ? -b + root : -b - root;
  for (const double t : {a != 0 ? k / a : -1.0, k != 0 ? d / k : -1.0})
    if (t > 0) step = std::min(step, t);
  return step;
}

Scaling::Scaling(const double* x, const double* y) {
  const double dx = std::sqrt(std::max(det(x), 1e-300)), dy = std::sqrt(std::max(det(y), 1e-300));
  double dot = 0;
  for (int i = 0; i < 3; ++i) dot += x[i] / dx * (y[i] / dy);
  const double gamma = std::sqrt(0.5 * (1 + dot));
  for (int i = 0; i < 3; ++i) w[i] = (x[i] / dx + (i == 0 ? 1 : -1) * y[i] / dy) / (2 * gamma);
  eta = std::sqrt(dx / dy);
  apply(y, lambda);
}

void Scaling::turn(const double* v, double sign, double size, double* out) const {
  const double along = w[1] * v[1] + w[2] * v[2], first = v[0];
  const double part = sign * first + along / (1 + w[0]);
  const double rest[2] = {v[1], v[2]};
  out[0] = size * (w[0] * first + sign * along);
  for (int i = 1; i < 3; ++i) out[i] = size * (rest[i - 1] + part * w[i]);
}

void Scaling::square(double sign, double size, double* H) const {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const double a = i == 0 ? w[0] : sign * w[i], b = j == 0 ? w[0] : sign * w[j];
      H[3 * i + j] = size * (2 * a * b - (i == j ? (i == 0 ? 1 : -1) : 0));
    }
}

}  // namespace limber::contact::lorentz
