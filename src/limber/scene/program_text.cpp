// From a compiled expression back to text, and ramps.
#include <fmt/format.h>

#include <cmath>

#include "limber/scene/expression.h"

namespace limber::scene {

namespace {

using math::Op;

struct Piece {
  std::string text;
  int level;  // of the outermost operator, as in expression.cpp; 9: never needs parentheses
};

std::string wrap(const Piece& piece, int level) {
  return piece.level < level ? "(" + piece.text + ")" : piece.text;
}

struct Infix {
  const char* token;
  int level;
};
Infix infix(Op op) {
  switch (op) {
    case Op::logical_or:
      return {" || ", 0};
    case Op::logical_and:
      return {" && ", 1};
    case Op::equal:
      return {" == ", 2};
    case Op::not_equal:
      return {" != ", 2};
    case Op::less:
      return {" < ", 3};
    case Op::less_equal:
      return {" <= ", 3};
    case Op::greater:
      return {" > ", 3};
    case Op::greater_equal:
      return {" >= ", 3};
    case Op::add:
      return {" + ", 4};
    case Op::subtract:
      return {" - ", 4};
    case Op::multiply:
      return {"*", 5};
    case Op::divide:
      return {"/", 5};
    case Op::power:
      return {"^", 7};
    default:
      return {nullptr, 0};
  }
}

const char* function_name(Op op) {
  switch (op) {
    case Op::sin:
      return "sin";
    case Op::cos:
      return "cos";
    case Op::tan:
      return "tan";
    case Op::asin:
      return "asin";
    case Op::acos:
      return "acos";
    case Op::atan:
      return "atan";
    case Op::sinh:
      return "sinh";
    case Op::cosh:
      return "cosh";
    case Op::tanh:
      return "tanh";
    case Op::exp:
      return "exp";
    case Op::log:
      return "log";
    case Op::sqrt:
      return "sqrt";
    case Op::abs:
      return "abs";
    case Op::floor:
      return "floor";
    case Op::ceil:
      return "ceil";
    case Op::round:
      return "round";
    case Op::sign:
      return "sign";
    case Op::step:
      return "step";
    case Op::modulo:
      return "mod";
    case Op::atan2:
      return "atan2";
    case Op::min:
      return "min";
    case Op::max:
      return "max";
    case Op::select:
      return "if";
    default:
      return "";
  }
}

Piece constant(double value) {
  if (std::isinf(value)) return value > 0 ? Piece{"inf", 9} : Piece{"-inf", 6};
  return {fmt::format("{}", value), std::signbit(value) ? 6 : 9};
}

Piece pop(std::vector<Piece>& stack) {
  Piece piece = std::move(stack.back());
  stack.pop_back();
  return piece;
}

}  // namespace

std::string program_text(const math::Program& program, const char* variable) {
  std::vector<Piece> stack;
  for (const math::Program::Instruction& code : program.code()) {
    if (code.op == Op::constant) {
      stack.push_back(constant(code.constant));
    } else if (code.op == Op::variable) {
      stack.push_back({variable, 9});
    } else if (code.op == Op::negate || code.op == Op::logical_not) {
      const Piece a = pop(stack);
      stack.push_back({(code.op == Op::negate ? "-" : "!") + wrap(a, 6), 6});
    } else if (const Infix in = infix(code.op); in.token) {
      const Piece b = pop(stack), a = pop(stack);
      const bool power = code.op == Op::power;
      stack.push_back(
          {wrap(a, power ? 9 : in.level) + in.token + wrap(b, power ? 6 : in.level + 1), in.level});
    } else {
      const int count = code.op == Op::select ? 3 : code.op >= Op::add ? 2 : 1;
      std::string text;
      for (int i = 0; i < count; ++i) text = pop(stack).text + (i > 0 ? ", " : "") + text;
      stack.push_back({fmt::format("{}({})", function_name(code.op), text), 9});
    }
  }
  return stack.empty() ? "0" : stack.back().text;
}

math::Program ramped(const math::Program& program, double ramp) {
  math::Program out = program;
  out.push_variable(0);
  out.push_constant(ramp);
  out.push(Op::divide);
  out.push_constant(1);
  out.push(Op::min);
  out.push(Op::multiply);
  return out;
}

}  // namespace limber::scene
