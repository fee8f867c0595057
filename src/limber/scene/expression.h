// Arithmetic in scenes: numbers with units, parameters, functions, and `t` where a value may change with
// time.
//
//   expression := or ; or := and ("||" and)* ; and := equality ("&&" equality)*
//   equality := compare (("==" | "!=") compare)* ; compare := sum (("<" | "<=" | ">" | ">=") sum)*
//   sum := product (("+" | "-") product)* ; product := unary (("*" | "/") unary)*
//   unary := ("-" | "+" | "!") unary | power ; power := primary ("^" unary)?
//   primary := number [unit] | name | function "(" expression ("," expression)* ")" | "(" expression ")"
//
// Compiled to math::Program; constant parts are folded with the operations that a run would use, so that the
// bits are the same. A plain number is SI and combines with anything; whatever depends on t may stand for any
// dimension that its plain factors could carry.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "limber/math/program.h"
#include "limber/scene/units.h"

namespace limber::scene {

struct Quantified {
  double value = 0;
  Dimension dimension;
  bool loose = false;  // plain: fits any dimension
};

// What a name stands for; nullopt: unknown. `note` may explain why (a cycle) and ends up in the message.
using Lookup = std::function<std::optional<Quantified>(std::string_view name, std::string& note)>;

struct Expression {
  math::Program program;
  Dimension dimension;
  bool loose = false;
  bool constant = true;
  double value = 0;  // when constant
};

struct ExpressionResult {
  std::optional<Expression> expression;
  std::string error;       // set when there is no expression
  std::size_t offset = 0;  // where in the text, bytes from 0
};

// The name that stands for variable 0, if there is one: t, or of laws x (a stretch) and v (a rate).
struct Variable {
  std::string_view name;
  Dimension dimension;
};
using Suggest = std::function<std::string(std::string_view)>;

// `suggest`: ends the message about an unknown name.
ExpressionResult compile_expression(std::string_view text, const Lookup& lookup, const Variable& variable,
                                    const Suggest& suggest = {});
inline ExpressionResult compile_expression(std::string_view text, const Lookup& lookup, bool allow_time,
                                           const Suggest& suggest = {}) {
  return compile_expression(text, lookup, allow_time ? Variable{"t", dimension::time} : Variable{}, suggest);
}

// The text of a number alone ("-3.5e2"), locale or not; nullopt if there is anything else or it is out of
// range.
std::optional<double> parse_number(std::string_view text);

// Multiplies by min(t / ramp, 1).
math::Program ramped(const math::Program& program, double ramp);

// An expression that compiles to `program` again, with `variable` for its variable.
std::string program_text(const math::Program& program, const char* variable = "t");

// Names that a parameter cannot have: functions, constants and t.
bool is_reserved_name(std::string_view name);
std::string function_list();  // "abs, acos, …"

}  // namespace limber::scene
