// A law: a force by a stretch or by a rate, given by points or by an expression of one variable. Value and
// slope are exact, and so is the integral, which is the energy that a spring stores.
//
//   points      piecewise cubic with the slopes of Fritsch and Butland (1984), as `pchip` of SciPy:
//               continuous in its slope, monotone where the points are; straight lines beyond the first and
//               the last one, with the slope there; periodic: repeated, smooth in its slope where it joins
//   expression  polynomials are integrated by their coefficients, all else by Gauss–Kronrod rules on
//               intervals that are halved until nothing but rounding is left
#pragma once

#include <memory>
#include <vector>

#include "limber/math/program.h"

namespace limber {

class Law {
 public:
  Law() = default;  // none: zero everywhere
  // x strictly increasing, as many values, two points or more. Throws std::invalid_argument.
  // Periodic: with the period from the first to the last point, which have one value.
  static Law table(std::vector<double> x, std::vector<double> values, bool periodic = false);
  static Law expression(math::Program program);  // of variable 0; throws if incomplete

  explicit operator bool() const { return data_ != nullptr; }
  math::Dual at(double x) const;     // value and slope (to the right at a corner)
  math::Jet jet_at(double x) const;  // and how the slope changes
  double value(double x) const;
  double integral(double x) const;  // from 0 to x

  // What it was made from, to write it down again. Only the ones that apply may be called.
  bool is_table() const { return !data_->x.empty(); }
  const std::vector<double>& points() const { return data_->x; }
  const std::vector<double>& values() const { return data_->y; }
  bool is_periodic() const { return data_->periodic; }
  const math::Program& program() const { return data_->program; }

 private:
  struct Data {
    std::vector<double> x, y, slope;
    std::vector<double> area;  // from x[0] to each point
    double area_at_zero = 0;   // from x[0] to 0
    bool periodic = false;
    math::Program program;
    std::vector<double> polynomial;  // c₀, c₁, …; empty: no polynomial
  };
  static double area_to(const Data& d, double x);    // of a table, from its first point
  static double turns_to(const Data& d, double& x);  // whole periods, taken out of x
  std::shared_ptr<const Data> data_;
};

}  // namespace limber
