// A number that may change with time: a constant, a table (straight lines between its points, held outside
// them, or repeated), or a compiled expression of t. Value and exact rate; no allocation when evaluated.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "limber/math/program.h"
#include "limber/math/types.h"

namespace limber {

class TimeFunction {
 public:
  TimeFunction(double constant = 0) : constant_(constant) {}  // NOLINT: a number is a function of time
  // Times strictly increasing, as many values; periodic repeats with period times.back() − times.front().
  // Throws std::invalid_argument.
  static TimeFunction table(std::vector<double> times, std::vector<double> values, bool periodic = false);
  static TimeFunction expression(math::Program program);  // throws if incomplete

  TimeFunction scaled(double factor) const;  // factor · this

  double value(double t) const;
  double rate(double t) const;  // d value / dt (to the right at a table's corner)
  bool is_constant() const { return !data_; }
  bool is_zero() const { return !data_ && constant_ == 0; }

  // What it was made from, to write it down again. Only the ones that apply may be called.
  bool is_table() const { return data_ && !data_->times.empty(); }
  const std::vector<double>& times() const { return data_->times; }
  const std::vector<double>& values() const { return data_->values; }
  bool is_periodic() const { return data_->periodic; }
  const math::Program& program() const { return data_->program; }

 private:
  struct Data {
    std::vector<double> times, values;
    bool periodic = false;
    math::Program program;
  };
  double constant_ = 0;
  std::shared_ptr<const Data> data_;
};

struct VectorFunction {
  std::array<TimeFunction, 3> c;
  Vec3 value(double t) const { return {c[0].value(t), c[1].value(t), c[2].value(t)}; }
  bool is_zero() const { return c[0].is_zero() && c[1].is_zero() && c[2].is_zero(); }
  bool is_constant() const { return c[0].is_constant() && c[1].is_constant() && c[2].is_constant(); }
  static VectorFunction constant(const Vec3& v) { return {{v[0], v[1], v[2]}}; }
};

}  // namespace limber
