#include "limber/math/anderson.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace limber::math {
namespace {

// x ← A x + b with eigenvalues 0.95 … −0.9: plain iteration gains a digit in 45.
std::vector<double> linear(const std::vector<double>& x) {
  static const double lambda[] = {0.95, 0.6, 0.1, -0.4, -0.9};
  std::vector<double> g(5);
  for (int i = 0; i < 5; ++i) {
    g[i] = 1 + 0.1 * i;
    for (int j = 0; j < 5; ++j) {
      double A = 0;  // Q diag(λ) Qᵀ, Q a Householder reflection of (1, 1, 1, 1, 1)
      for (int k = 0; k < 5; ++k) A += ((i == k) - 0.4) * lambda[k] * ((j == k) - 0.4);
      g[i] += A * x[j];
    }
  }
  return g;
}

double left_over(const std::vector<double>& x) {
  const std::vector<double> g = linear(x);
  double sum = 0;
  for (int i = 0; i < 5; ++i) sum += (g[i] - x[i]) * (g[i] - x[i]);
  return std::sqrt(sum);
}

TEST(Anderson, SolvesALinearIterationInItsDimension) {
  Anderson anderson(std::vector<double>(5, 1.0), 5);
  std::vector<double> x(5, 0.0);
  for (int k = 0; k < 7; ++k) {  // GMRES: five directions, and one more for the first step; one for rounding
    std::vector<double> g = linear(x);
    anderson.next(x, g);
    x = g;
  }
  EXPECT_LT(left_over(x), 1e-10);
}

TEST(Anderson, KeepsLinearEquationsThatEveryValueObeys) {
  // cos of each, then moved so that the sum is 2: every value obeys that, and so must every combination.
  Anderson anderson({1, 2, 3}, 3);
  std::vector<double> x = {0.1, 0.9, 0.4};
  for (int k = 0; k < 12; ++k) {
    std::vector<double> g = {std::cos(x[0]), std::cos(2 * x[1]), std::cos(x[2] / 2)};
    const double off = (2 - g[0] - g[1] - g[2]) / 3;
    for (double& e : g) e += off;
    anderson.next(x, g);
    x = g;
    EXPECT_NEAR(x[0] + x[1] + x[2], 2, 1e-13);
  }
}

TEST(Anderson, RemembersNothingAfterARestart) {
  Anderson used({1, 1, 1, 1, 1}, 3), fresh({1, 1, 1, 1, 1}, 3);
  std::vector<double> x(5, 0.3), g(5, std::numeric_limits<double>::quiet_NaN());
  used.next(x, g);
  used.next(x, g);
  used.restart();
  std::vector<double> a(5, 0.0), b(5, 0.0);
  for (int k = 0; k < 6; ++k) {
    std::vector<double> ga = linear(a), gb = linear(b);
    used.next(a, ga), fresh.next(b, gb);
    a = ga, b = gb;
    EXPECT_EQ(a, b);
  }
}

TEST(Anderson, StandsStillWhereTheIterationDoes) {
  Anderson anderson({1, 1}, 2);
  const std::vector<double> x = {1, 2};
  for (int k = 0; k < 4; ++k) {
    std::vector<double> g = x;
    anderson.next(x, g);
    EXPECT_EQ(g, x);
  }
}

}  // namespace
}  // namespace limber::math
