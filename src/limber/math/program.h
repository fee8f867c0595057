// A compiled arithmetic expression: postfix code on a small stack, value and exact derivative by dual
// numbers.
//
// The scene reader compiles text into this; loads and motions evaluate it in a step. No allocation, bits
// fixed on every CPU (math/trig.h). Variable 0 is the time t; the derivative is with respect to it, to the
// right in time at a corner of abs, min or max. modulo takes the divisor's sign, round takes halves away from
// 0, step(x) = x ≥ 0 ? 1 : 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace limber::math {

enum class Op : std::uint8_t {
  constant,
  variable,  // push
  negate,
  logical_not,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  exp,
  log,
  sqrt,
  abs,
  floor,
  ceil,
  round,
  sign,
  step,  // unary
  add,
  subtract,
  multiply,
  divide,
  power,
  modulo,
  atan2,
  min,
  max,  // binary
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  logical_and,
  logical_or,  // binary, 0 or 1
  select       // ternary: cond, a, b → cond ≠ 0 ? a : b
};

struct Dual {
  double value = 0, rate = 0;
};

struct Jet {
  double value = 0, rate = 0, second = 0;
};

class Program {
 public:
  static constexpr int max_stack = 64;
  struct Instruction {
    Op op;
    std::int32_t variable;
    double constant;
  };

  void push_constant(double value);
  void push_variable(int index);
  void push(Op op);  // pops its operands

  // True when exactly one value is left and the stack never passed max_stack; evaluate only then.
  bool complete() const;
  bool depends_on(int variable) const;
  int variable_count() const;  // 1 + the highest index used, 0 without variables
  int stack_needed() const { return needed_; }
  std::size_t size() const { return code_.size(); }
  const std::vector<Instruction>& code() const { return code_; }

  double evaluate(const double* variables) const;
  Dual evaluate_dual(const double* variables) const;  // derivative by variable 0
  Jet evaluate_jet(const double* variables) const;    // … and the second one; 0 at corners

 private:
  std::vector<Instruction> code_;
  int depth_ = 0, needed_ = 0;
  bool underflow_ = false;
};

}  // namespace limber::math
