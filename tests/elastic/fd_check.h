// One finite-difference harness for every energy: gradient and Hessian on any product of vectors and Lie
// groups.
//
// An energy is given by four callables on a configuration type C with n rates:
//   energy(C) → double, gradient(C) → n, hessian(C) → n×n (derivative of the gradient by the rates),
//   retract(C, δ) → C, moving along the rates δ to first order.
// Central differences, Richardson-extrapolated: D = (4 D(h/2) − D(h))/3, error O(h⁴) from the function plus
// ε|f|/h from rounding. With h = 1e-3 and functions of order 1 that is about 1e-12 (times fifth derivatives)
// and 1e-12, so `tolerance` defaults to 1e-8 of the larger of the value's scale and the expected entries.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "limber/math/types.h"

namespace limber::testing {

struct FdOptions {
  double step = 1e-3;
  double tolerance = 1e-8;
  double scale = 0;  // entries are compared relative to max(scale, largest expected entry)
};

// dF/dδ of a vector-valued F at δ = 0, one column a rate.
template <class Function>
MatX finite_difference(const Function& f, int n, double step) {
  const auto central = [&](int i, double h) -> VecX {
    VecX delta = VecX::Zero(n);
    delta[i] = h;
    const VecX plus = f(delta);
    delta[i] = -h;
    const VecX minus = f(delta);
    return (plus - minus) / (2 * h);
  };
  MatX out;
  for (int i = 0; i < n; ++i) {
    const VecX column = (4 * central(i, step / 2) - central(i, step)) / 3;
    if (i == 0) out.resize(column.size(), n);
    out.col(i) = column;
  }
  return out;
}

inline ::testing::AssertionResult close(const MatX& expected, const MatX& got, const FdOptions& options) {
  if (expected.rows() != got.rows() || expected.cols() != got.cols())
    return ::testing::AssertionFailure() << "sizes differ";
  const double scale = std::max({options.scale, expected.cwiseAbs().maxCoeff(), 1e-300});
  const double error = (expected - got).cwiseAbs().maxCoeff() / scale;
  if (error <= options.tolerance) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << "relative difference " << error << " > " << options.tolerance << "\nby differences\n"
         << expected << "\ngiven\n"
         << got;
}

template <class C, class Energy, class Gradient, class Hessian, class Retract>
void check_derivatives(const C& at, int n, const Energy& energy, const Gradient& gradient,
                       const Hessian& hessian, const Retract& retract, const FdOptions& options = {}) {
  const auto value = [&](const VecX& delta) -> VecX { return VecX::Constant(1, energy(retract(at, delta))); };
  const auto slope = [&](const VecX& delta) -> VecX { return gradient(retract(at, delta)); };
  const VecX g = gradient(at);
  const MatX H = hessian(at);
  EXPECT_TRUE(close(finite_difference(value, n, options.step).transpose(), g, options)) << "gradient";
  EXPECT_TRUE(close(finite_difference(slope, n, options.step), H, options)) << "Hessian";
}

// Symmetric and without a negative eigenvalue, beyond rounding.
::testing::AssertionResult is_psd(const MatX& H);

}  // namespace limber::testing
