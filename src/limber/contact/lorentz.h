// The cone x₀ ≥ |(x₁, x₂)| of three numbers, its own dual: the product that says when x and y in it are
// complementary, x∘y = (x·y, x₀y₁ + y₀x₁) = 0, and the scaling of Nesterov and Todd (1997), which makes one
// place of both: W y = W⁻¹ x. Shared by the interior-point methods. Internal to contact/.
#pragma once

#include <cmath>

namespace limber::contact::lorentz {

inline double det(const double* x) { return x[0] * x[0] - x[1] * x[1] - x[2] * x[2]; }

// z = x \ y: x∘z = y.
inline void divide(const double* x, const double* y, double* z) {
  const double dot = x[1] * y[1] + x[2] * y[2], delta = det(x);
  z[0] = (x[0] * y[0] - dot) / delta;
  for (int i = 1; i < 3; ++i) z[i] = (y[i] - x[i] * z[0]) / x[0];
}

// The longest step along dx, at most 1, that stays in the cone.
double longest_step(const double* x, const double* dx);

// W y = W⁻¹ x = lambda.
struct Scaling {
  double w[3], eta, lambda[3];

  Scaling(const double* x, const double* y);
  void apply(const double* v, double* out) const { turn(v, 1, eta, out); }
  void undo(const double* v, double* out) const { turn(v, -1, 1 / eta, out); }
  // (3 x 3) of W² and W⁻².
  void square(double* H) const { square(1, eta * eta, H); }
  void inverse_square(double* H) const { square(-1, 1 / (eta * eta), H); }

 private:
  void turn(const double* v, double sign, double size, double* out) const;
  void square(double sign, double size, double* H) const;
};

}  // namespace limber::contact::lorentz
