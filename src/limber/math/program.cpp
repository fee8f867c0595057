// A stack machine over doubles, and the same machine over dual numbers (x, ẋ).
//
// The dual value is computed by the very function the plain one uses, so both agree to the bit. A rate of 0
// stays 0 through a vertical tangent (√ at a constant 0). Where a function has a corner (abs, min, max), the
// rate is the one to the right in time; steps (floor, sign, comparisons) have rate 0.
#include "limber/math/program.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>

#include "limber/math/trig.h"

namespace limber::math {
namespace {

bool is_unary(Op op) { return op >= Op::negate && op <= Op::step; }
bool is_binary(Op op) { return op >= Op::add && op <= Op::logical_or; }

int operands(Op op) { return is_unary(op) ? 1 : is_binary(op) ? 2 : op == Op::select ? 3 : 0; }

double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }

// a − b ⌊a/b⌋: the sign of b, exact but for one rounding when a and b differ in sign.
double floored_modulo(double a, double b) {
  const double m = std::fmod(a, b);
  if (m == 0) return std::copysign(0.0, b);
  return (m < 0) == (b < 0) ? m : m + b;
}

double unary(Op op, double x) {
  switch (op) {
    case Op::negate:
      return -x;
    case Op::logical_not:
      return x == 0;
    case Op::sin:
      return sin(x);
    case Op::cos:
      return cos(x);
    case Op::tan:
      return tan(x);
    case Op::asin:
      return asin(x);
    case Op::acos:
      return acos(x);
    case Op::atan:
      return atan(x);
    case Op::sinh:
      return sinh(x);
    case Op::cosh:
      return cosh(x);
    case Op::tanh:
      return tanh(x);
    case Op::exp:
      return exp(x);
    case Op::log:
      return log(x);
    case Op::sqrt:
      return std::sqrt(x);
    case Op::abs:
      return std::fabs(x);
    case Op::floor:
      return std::floor(x);
    case Op::ceil:
      return std::ceil(x);
    case Op::round:
      return std::round(x);
    case Op::sign:
      return sign(x);
    default:
      return x >= 0;  // step
  }
}

double binary(Op op, double a, double b) {
  switch (op) {
    case Op::add:
      return a + b;
    case Op::subtract:
      return a - b;
    case Op::multiply:
      return a * b;
    case Op::divide:
      return a / b;
    case Op::power:
      return pow(a, b);
    case Op::modulo:
      return floored_modulo(a, b);
    case Op::atan2:
      return atan2(a, b);
    case Op::min:
      return b < a || std::isnan(b) ? b : a;
    case Op::max:
      return b > a || std::isnan(b) ? b : a;
    case Op::less:
      return a < b;
    case Op::less_equal:
      return a <= b;
    case Op::greater:
      return a > b;
    case Op::greater_equal:
      return a >= b;
    case Op::equal:
      return a == b;
    case Op::not_equal:
      return a != b;
    case Op::logical_and:
      return a != 0 && b != 0;
    default:
      return a != 0 || b != 0;  // logical_or
  }
}

// d f(x)/dx for smooth f, given y = f(x); 0 for the stepwise ones.
double slope(Op op, double x, double y) {
  switch (op) {
    case Op::negate:
      return -1;
    case Op::sin:
      return cos(x);
    case Op::cos:
      return -sin(x);
    case Op::tan:
      return 1 + y * y;
    case Op::asin:
      return 1 / std::sqrt((1 - x) * (1 + x));
    case Op::acos:
      return -1 / std::sqrt((1 - x) * (1 + x));
    case Op::atan:
      return 1 / (1 + x * x);
    case Op::sinh:
      return cosh(x);
    case Op::cosh:
      return sinh(x);
    case Op::tanh:
      return (1 - y) * (1 + y);
    case Op::exp:
      return y;
    case Op::log:
      return 1 / x;
    case Op::sqrt:
      return 0.5 / y;
    default:
      return 0;
  }
}

double unary_rate(Op op, const Dual& x, double y) {
  if (x.rate == 0) return 0;
  if (op == Op::abs) return x.value == 0 ? std::fabs(x.rate) : sign(x.value) * x.rate;
  return slope(op, x.value, y) * x.rate;
}

// ḟ of f = aᵇ: b aᵇ⁻¹ ȧ + f log(a) ḃ; each term only where its rate is not 0.
double power_rate(const Dual& a, const Dual& b, double f) {
  double rate = 0;
  if (a.rate != 0 && b.value != 0) rate += b.value * pow(a.value, b.value - 1) * a.rate;
  if (b.rate != 0 && f != 0) rate += f * log(a.value) * b.rate;
  return rate;
}

// (x ẏ − y ẋ)/(x² + y²), scaled by the larger of |x| and |y|.
double atan2_rate(const Dual& y, const Dual& x) {
  if (x.rate == 0 && y.rate == 0) return 0;
  const double size = std::fmax(std::fabs(x.value), std::fabs(y.value));
  const double u = x.value / size, v = y.value / size;
  return (u * y.rate - v * x.rate) / (u * u + v * v) / size;
}

double binary_rate(Op op, const Dual& a, const Dual& b, double f) {
  const bool tie = a.value == b.value;
  switch (op) {
    case Op::add:
      return a.rate + b.rate;
    case Op::subtract:
      return a.rate - b.rate;
    case Op::multiply:
      return a.rate * b.value + a.value * b.rate;
    case Op::divide:
      return (a.rate - f * b.rate) / b.value;
    case Op::power:
      return power_rate(a, b, f);
    case Op::modulo:
      return b.rate == 0 ? a.rate : a.rate - std::nearbyint((a.value - f) / b.value) * b.rate;
    case Op::atan2:
      return atan2_rate(a, b);
    case Op::min:
      return tie ? std::min(a.rate, b.rate) : b.value < a.value ? b.rate : a.rate;
    case Op::max:
      return tie ? std::max(a.rate, b.rate) : b.value > a.value ? b.rate : a.rate;
    default:
      return 0;
  }
}

// d² f(x)/dx² for smooth f, given y = f(x) and its slope s; 0 for all others.
double bend(Op op, double x, double y, double s) {
  switch (op) {
    case Op::sin:
    case Op::cos:
      return -y;
    case Op::tan:
      return 2 * y * s;
    case Op::asin:
    case Op::acos:
      return x * s / ((1 - x) * (1 + x));
    case Op::atan:
      return -2 * x * s * s;
    case Op::sinh:
    case Op::cosh:
    case Op::exp:
      return y;
    case Op::tanh:
      return -2 * y * s;
    case Op::log:
      return -s * s;
    case Op::sqrt:
      return -0.5 * s / x;
    default:
      return 0;
  }
}

double unary_second(Op op, const Jet& x, double y) {
  if (op == Op::abs) return sign(x.value) * x.second;
  if (x.rate == 0 && x.second == 0) return 0;
  const double s = slope(op, x.value, y);
  return bend(op, x.value, y, s) * x.rate * x.rate + s * x.second;
}

// Of aᵇ: with a constant exponent by its powers; else of exp(L), L = b log a.
double power_second(const Jet& a, const Jet& b, double f) {
  if (b.rate == 0 && b.second == 0) {
    double out = 0;
    const double n = b.value;
    if (a.second != 0 && n != 0) out += n * pow(a.value, n - 1) * a.second;
    if (a.rate != 0 && n != 0 && n != 1) out += n * (n - 1) * pow(a.value, n - 2) * a.rate * a.rate;
    return out;
  }
  if (f == 0) return 0;
  const double l = log(a.value), r = a.rate / a.value;
  const double first = b.rate * l + b.value * r;
  return f * (first * first + b.second * l + 2 * b.rate * r + b.value * (a.second / a.value - r * r));
}

// (x ÿ − y ẍ)/n − 2 (x ẏ − y ẋ)(x ẋ + y ẏ)/n², n = x² + y², scaled by the larger of |x| and |y|.
double atan2_second(const Jet& y, const Jet& x) {
  if (x.rate == 0 && y.rate == 0 && x.second == 0 && y.second == 0) return 0;
  const double size = std::fmax(std::fabs(x.value), std::fabs(y.value));
  const double u = x.value / size, v = y.value / size, n = u * u + v * v;
  const double u1 = x.rate / size, v1 = y.rate / size;
  return (u * y.second - v * x.second) / (n * size) - 2 * (u * v1 - v * u1) * (u * u1 + v * v1) / (n * n);
}

double binary_second(Op op, const Jet& a, const Jet& b, double f, double rate) {
  switch (op) {
    case Op::add:
      return a.second + b.second;
    case Op::subtract:
      return a.second - b.second;
    case Op::multiply:
      return a.second * b.value + 2 * a.rate * b.rate + a.value * b.second;
    case Op::divide:
      return (a.second - 2 * rate * b.rate - f * b.second) / b.value;
    case Op::power:
      return power_second(a, b, f);
    case Op::modulo:
      return b.second == 0 ? a.second : a.second - std::nearbyint((a.value - f) / b.value) * b.second;
    case Op::atan2:
      return atan2_second(a, b);
    case Op::min:
      return (a.value == b.value ? b.rate < a.rate : b.value < a.value) ? b.second : a.second;
    case Op::max:
      return (a.value == b.value ? b.rate > a.rate : b.value > a.value) ? b.second : a.second;
    default:
      return 0;
  }
}

}  // namespace

void Program::push_constant(double value) {
  code_.push_back({Op::constant, 0, value});
  needed_ = std::max(needed_, ++depth_);
}

void Program::push_variable(int index) {
  if (index < 0)
    throw std::invalid_argument("Program::push_variable: expected an index ≥ 0, got " +
                                std::to_string(index));
  code_.push_back({Op::variable, index, 0});
  needed_ = std::max(needed_, ++depth_);
}

void Program::push(Op op) {
  const int count = operands(op);
  if (count == 0)
    throw std::invalid_argument("Program::push: constants and variables have their own push functions");
  if (depth_ < count) underflow_ = true;
  code_.push_back({op, 0, 0});
  depth_ -= count - 1;
}

bool Program::complete() const { return depth_ == 1 && !underflow_ && needed_ <= max_stack; }

bool Program::depends_on(int variable) const {
  return std::any_of(code_.begin(), code_.end(),
                     [&](const Instruction& i) { return i.op == Op::variable && i.variable == variable; });
}

int Program::variable_count() const {
  int count = 0;
  for (const Instruction& i : code_)
    if (i.op == Op::variable) count = std::max(count, i.variable + 1);
  return count;
}

double Program::evaluate(const double* variables) const {
  if (!complete()) throw std::logic_error("Program::evaluate: the program is not complete");
  std::array<double, max_stack> stack;
  int n = 0;  // values on the stack
  for (const Instruction& i : code_) {
    if (i.op == Op::constant) {
      stack[n++] = i.constant;
    } else if (i.op == Op::variable) {
      stack[n++] = variables[i.variable];
    } else if (is_unary(i.op)) {
      stack[n - 1] = unary(i.op, stack[n - 1]);
    } else if (is_binary(i.op)) {
      --n;
      stack[n - 1] = binary(i.op, stack[n - 1], stack[n]);
    } else {
      n -= 2;
      stack[n - 1] = stack[n - 1] != 0 ? stack[n] : stack[n + 1];
    }
  }
  return stack[0];
}

Dual Program::evaluate_dual(const double* variables) const {
  if (!complete()) throw std::logic_error("Program::evaluate_dual: the program is not complete");
  std::array<Dual, max_stack> stack;
  int n = 0;  // values on the stack
  for (const Instruction& i : code_) {
    if (i.op == Op::constant) {
      stack[n++] = {i.constant, 0};
    } else if (i.op == Op::variable) {
      stack[n++] = {variables[i.variable], i.variable == 0 ? 1.0 : 0.0};
    } else if (is_unary(i.op)) {
      Dual& x = stack[n - 1];
      const double y = unary(i.op, x.value);
      x = {y, unary_rate(i.op, x, y)};
    } else if (is_binary(i.op)) {
      --n;
      Dual& a = stack[n - 1];
      const double f = binary(i.op, a.value, stack[n].value);
      a = {f, binary_rate(i.op, a, stack[n], f)};
    } else {
      n -= 2;
      stack[n - 1] = stack[n - 1].value != 0 ? stack[n] : stack[n + 1];
    }
  }
  return stack[0];
}

Jet Program::evaluate_jet(const double* variables) const {
  if (!complete()) throw std::logic_error("Program::evaluate_jet: the program is not complete");
  std::array<Jet, max_stack> stack;
  const auto dual = [](const Jet& x) { return Dual{x.value, x.rate}; };
  int n = 0;  // values on the stack
  for (const Instruction& i : code_) {
    if (i.op == Op::constant) {
      stack[n++] = {i.constant, 0, 0};
    } else if (i.op == Op::variable) {
      stack[n++] = {variables[i.variable], i.variable == 0 ? 1.0 : 0.0, 0};
    } else if (is_unary(i.op)) {
      Jet& x = stack[n - 1];
      const double y = unary(i.op, x.value);
      x = {y, unary_rate(i.op, dual(x), y), unary_second(i.op, x, y)};
    } else if (is_binary(i.op)) {
      --n;
      Jet& a = stack[n - 1];
      const Jet& b = stack[n];
      const double f = binary(i.op, a.value, b.value), rate = binary_rate(i.op, dual(a), dual(b), f);
      a = {f, rate, binary_second(i.op, a, b, f, rate)};
    } else {
      n -= 2;
      stack[n - 1] = stack[n - 1].value != 0 ? stack[n] : stack[n + 1];
    }
  }
  return stack[0];
}

}  // namespace limber::math
