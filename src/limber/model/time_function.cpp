// Tables by bisection, expressions by math::Program. Everything is checked when it is built, nothing when
// evaluated.
#include "limber/model/time_function.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

namespace limber {
namespace {

[[noreturn]] void reject(const std::string& why) {
  throw std::invalid_argument("TimeFunction::table: " + why);
}

std::string entry(const char* name, std::size_t i, double value) {
  return std::string(name) + "[" + std::to_string(i) + "] = " + std::to_string(value);
}

void check_table(const std::vector<double>& times, const std::vector<double>& values, bool periodic) {
  if (times.size() != values.size())
    reject("expected as many values as times, got " + std::to_string(times.size()) + " times and " +
           std::to_string(values.size()) + " values");
  const std::size_t least = periodic ? 2 : 1;
  if (times.size() < least)
    reject("expected at least " + std::to_string(least) + (periodic ? " points when periodic" : " point") +
           ", got " + std::to_string(times.size()));
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (!std::isfinite(times[i])) reject("expected finite times, got " + entry("times", i, times[i]));
    if (!std::isfinite(values[i])) reject("expected finite values, got " + entry("values", i, values[i]));
    if (i > 0 && !(times[i] > times[i - 1]))
      reject("expected strictly increasing times, got " + entry("times", i, times[i]) + " after " +
             entry("times", i - 1, times[i - 1]));
  }
  if (!std::isfinite(times.back() - times.front())) reject("expected a finite span of times");
}

// t moved by whole periods to front ≤ t < front + period (≤ by a rounding).
double wrapped(double t, double front, double period) {
  const double m = std::fmod(t - front, period);
  return front + (m < 0 ? m + period : m);
}

// The i with times[i] ≤ t < times[i+1], kept inside the table; for two points or more.
std::size_t segment(const std::vector<double>& times, double t) {
  const auto after = std::upper_bound(times.begin() + 1, times.end() - 1, t);
  return static_cast<std::size_t>(after - times.begin()) - 1;
}

}  // namespace

TimeFunction TimeFunction::table(std::vector<double> times, std::vector<double> values, bool periodic) {
  check_table(times, values, periodic);
  if (times.size() == 1) return {values[0]};
  TimeFunction f;
  f.data_ = std::make_shared<const Data>(Data{std::move(times), std::move(values), periodic, {}});
  return f;
}

TimeFunction TimeFunction::expression(math::Program program) {
  if (!program.complete())
    throw std::invalid_argument("TimeFunction::expression: expected a program that leaves one value within " +
                                std::to_string(math::Program::max_stack) + " stack places");
  if (program.variable_count() > 1)
    throw std::invalid_argument(
        "TimeFunction::expression: expected the time as the only variable, got variable " +
        std::to_string(program.variable_count() - 1));
  TimeFunction f;
  f.data_ = std::make_shared<const Data>(Data{{}, {}, false, std::move(program)});
  return f;
}

TimeFunction TimeFunction::scaled(double factor) const {
  if (!data_) return {factor * constant_};
  Data data = *data_;
  for (double& v : data.values) v *= factor;
  if (data.times.empty()) {
    data.program.push_constant(factor);
    data.program.push(math::Op::multiply);
  }
  TimeFunction f;
  f.data_ = std::make_shared<const Data>(std::move(data));
  return f;
}

double TimeFunction::value(double t) const {
  if (!data_) return constant_;
  const auto& [times, values, periodic, program] = *data_;
  if (times.empty()) return program.evaluate(&t);
  if (periodic) {
    t = wrapped(t, times.front(), times.back() - times.front());
  } else {
    if (t <= times.front()) return values.front();
    if (t >= times.back()) return values.back();
  }
  const std::size_t i = segment(times, t);
  return values[i] + (values[i + 1] - values[i]) * ((t - times[i]) / (times[i + 1] - times[i]));
}

double TimeFunction::rate(double t) const {
  if (!data_) return 0;
  const auto& [times, values, periodic, program] = *data_;
  if (times.empty()) return program.evaluate_dual(&t).rate;
  if (periodic)
    t = wrapped(t, times.front(), times.back() - times.front());
  else if (t < times.front() || t >= times.back())
    return 0;
  const std::size_t i = segment(times, t);
  return (values[i + 1] - values[i]) / (times[i + 1] - times[i]);
}

}  // namespace limber
