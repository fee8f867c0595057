#include "limber/scene/expression.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

#include "limber/math/types.h"
#include "limber/scene/suggest.h"

namespace limber::scene {

namespace {

using math::Op;

constexpr std::size_t max_length = 4096;
constexpr int max_depth = 100;

enum class Rule : unsigned char { angle_to_number, number_to_angle, to_number, keep, half, same };
struct Function {
  const char* name;
  Op op;
  int arguments;
  Rule rule;
};
constexpr Function functions[] = {
    {"abs", Op::abs, 1, Rule::keep},
    {"acos", Op::acos, 1, Rule::number_to_angle},
    {"asin", Op::asin, 1, Rule::number_to_angle},
    {"atan", Op::atan, 1, Rule::number_to_angle},
    {"atan2", Op::atan2, 2, Rule::number_to_angle},
    {"ceil", Op::ceil, 1, Rule::keep},
    {"cos", Op::cos, 1, Rule::angle_to_number},
    {"cosh", Op::cosh, 1, Rule::to_number},
    {"exp", Op::exp, 1, Rule::to_number},
    {"floor", Op::floor, 1, Rule::keep},
    {"if", Op::select, 3, Rule::same},
    {"log", Op::log, 1, Rule::to_number},
    {"max", Op::max, 2, Rule::same},
    {"min", Op::min, 2, Rule::same},
    {"mod", Op::modulo, 2, Rule::same},
    {"round", Op::round, 1, Rule::keep},
    {"sign", Op::sign, 1, Rule::to_number},
    {"sin", Op::sin, 1, Rule::angle_to_number},
    {"sinh", Op::sinh, 1, Rule::to_number},
    {"sqrt", Op::sqrt, 1, Rule::half},
    {"step", Op::step, 1, Rule::to_number},
    {"tan", Op::tan, 1, Rule::angle_to_number},
    {"tanh", Op::tanh, 1, Rule::to_number},
};
const Function* find_function(std::string_view name) {
  for (const Function& f : functions)
    if (name == f.name) return &f;
  return nullptr;
}

struct Failure {
  std::string message;
  std::size_t offset;
};

struct Value {
  Dimension dimension;
  bool loose = false;  // fits any dimension
  bool constant = true;
  double value = 0;
  std::size_t begin = 0;  // its code starts here
};

struct Code {
  Op op;
  double constant = 0;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name(char c) { return is_name_start(c) || is_digit(c); }

double fold(Op op, const double* operands, int count) {
  math::Program program;
  for (int i = 0; i < count; ++i) program.push_constant(operands[i]);
  program.push(op);
  return program.evaluate(nullptr);
}

class Compiler {
 public:
  Compiler(std::string_view text, const Lookup& lookup, const Variable& variable, const Suggest& suggest)
      : text_(text), lookup_(lookup), variable_(variable), suggest_(suggest) {}

  Expression run() {
    if (text_.size() > max_length)
      fail(fmt::format("an expression has at most {} characters", max_length), 0);
    const Value value = binary(0);
    skip();
    if (at_ < text_.size()) fail_unexpected();
    Expression out{{}, value.dimension, value.loose, value.constant, value.value};
    for (const Code& code : code_) {
      if (code.op == Op::constant)
        out.program.push_constant(code.constant);
      else if (code.op == Op::variable)
        out.program.push_variable(0);
      else
        out.program.push(code.op);
    }
    if (!out.program.complete()) fail("the expression is nested too deeply", 0);
    return out;
  }

 private:
  [[noreturn]] void fail(std::string message, std::size_t offset) {
    throw Failure{std::move(message), offset};
  }
  [[noreturn]] void fail_unexpected() {
    if (at_ >= text_.size()) {
      if (parentheses_ > 0)
        fail("a ( is not closed; inside [ ] or { } put quotes around an expression with commas", at_);
      fail("the expression ends too early", at_);
    }
    fail(fmt::format("\"{}\" does not belong here",
                     text_.substr(at_, std::min<std::size_t>(12, text_.size() - at_))),
         at_);
  }

  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
  }
  bool take(std::string_view token) {
    skip();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }

  // Operators from the loosest to the tightest; a longer token before its own beginning.
  struct Binary {
    const char* token;
    Op op;
    int level;
  };
  static constexpr Binary binaries[] = {
      {"||", Op::logical_or, 0}, {"&&", Op::logical_and, 1}, {"==", Op::equal, 2},
      {"!=", Op::not_equal, 2},  {"<=", Op::less_equal, 3},  {">=", Op::greater_equal, 3},
      {"<", Op::less, 3},        {">", Op::greater, 3},      {"+", Op::add, 4},
      {"-", Op::subtract, 4},    {"*", Op::multiply, 5},     {"/", Op::divide, 5},
  };
  static constexpr int unary_level = 6;

  Value binary(int level) {
    if (level == unary_level) return unary();
    Value left = binary(level + 1);
    for (;;) {
      const Binary* found = nullptr;
      const std::size_t at = at_;
      for (const Binary& b : binaries)
        if (b.level == level && take(b.token)) {
          found = &b;
          break;
        }
      if (!found) return left;
      const Value operands[] = {left, binary(level + 1)};
      left = apply_binary(found->op, operands, at);
    }
  }

  Value apply_binary(Op op, const Value (&x)[2], std::size_t at) {
    Value out;
    if (op == Op::multiply || op == Op::divide) {
      out.dimension = op == Op::multiply ? x[0].dimension * x[1].dimension : x[0].dimension / x[1].dimension;
      // A plain number scales a quantity; two plain ones stay plain; what depends on t stays loose.
      out.loose =
          (x[0].loose && x[1].loose) || (x[0].loose && !x[0].constant) || (x[1].loose && !x[1].constant);
    } else {
      out.dimension = common_dimension(x[0], x[1], at, out.loose);
      if (op != Op::add && op != Op::subtract) out.dimension = {}, out.loose = true;
    }
    return emit(op, out, x, 2);
  }

  Dimension common_dimension(const Value& a, const Value& b, std::size_t at, bool& loose) {
    loose = a.loose && b.loose;
    if (a.loose) return b.dimension;
    if (!b.loose && !agree(a.dimension, b.dimension))
      fail(fmt::format("{} and {} do not combine", name_of(a.dimension), name_of(b.dimension)), at);
    return a.dimension;
  }

  Value unary() {
    const Depth depth(*this);
    skip();
    if (take("-")) {
      const Value x[] = {unary()};
      return emit(Op::negate, x[0], x, 1);
    }
    if (take("+")) return unary();
    if (!text_.substr(at_).starts_with("!=") && take("!")) {
      const Value x[] = {unary()};
      Value out;
      out.loose = true;
      return emit(Op::logical_not, out, x, 1);
    }
    return raised();
  }

  Value raised() {
    const Value base = primary();
    skip();
    const std::size_t at = at_;
    if (!take("^")) return base;
    const Value x[] = {base, unary()};
    if (!x[1].loose && !x[1].dimension.is_number()) fail("an exponent must be a pure number", at);
    Value out;
    out.loose = base.loose;
    if (!base.loose && !base.dimension.is_number()) {
      if (!x[1].constant) fail("a quantity with a unit takes a constant exponent only", at);
      out.dimension = power(base.dimension, x[1].value);
    }
    return emit(Op::power, out, x, 2);
  }

  Value primary() {
    skip();
    if (at_ >= text_.size()) fail_unexpected();
    const char c = text_[at_];
    if (is_digit(c) || c == '.') return number();
    if (c == '(') {
      ++at_;
      ++parentheses_;
      const Value inner = binary(0);
      if (!take(")")) fail_unexpected();
      --parentheses_;
      return inner;
    }
    if (is_name_start(c)) return name();
    fail_unexpected();
  }

  Value number() {
    Value out;
    const char* first = text_.data() + at_;
    const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), out.value);
    if (error == std::errc::result_out_of_range) fail("the number is too large or too small", at_);
    if (error != std::errc{}) fail_unexpected();
    at_ += static_cast<std::size_t>(end - first);
    out.loose = true;
    if (const std::size_t n = unit_length(); n > 0) {
      const UnitParse parsed = parse_unit(text_.substr(at_, n));
      if (!parsed.unit) {
        const std::string_view bad = parsed.unknown;
        fail(fmt::format("\"{}\" is no unit{}", bad, suggest_unit(bad)), at_);
      }
      at_ += n;
      out.value *= parsed.unit->factor;
      out.dimension = parsed.unit->dimension;
      out.loose = false;
    }
    return push(out);
  }

  // How many characters after a number are its unit: names, with * / ^ between them while names of units
  // follow.
  std::size_t unit_length() {
    std::size_t end = at_, at = at_;
    for (bool first = true;; first = false) {
      while (at < text_.size() && text_[at] == ' ') ++at;
      if (!first) {
        if (at < text_.size() && (text_[at] == '*' || text_[at] == '/'))
          ++at;
        else if (text_.substr(at).starts_with("\xc2\xb7"))
          at += 2;
        while (at < text_.size() && text_[at] == ' ') ++at;
      }
      std::size_t n = name_length(at);
      if (n == 0) return end - at_;
      const std::string_view name = text_.substr(at, n);
      if (!first) {
        const bool unit = find_unit(name.substr(0, letters(name))).has_value();
        if (!unit || text_.substr(at + n).starts_with("(")) return end - at_;
        std::string note;
        if (lookup_ && lookup_(name, note))
          fail(fmt::format("\"{0}\" is a unit and a parameter here; write ( ) around the number and its "
                           "unit, or rename "
                           "the parameter",
                           name),
               at);
      }
      at += n;
      if (text_.substr(at).starts_with("^")) {
        std::size_t e = at + 1;
        if (e < text_.size() && text_[e] == '-') ++e;
        if (e < text_.size() && is_digit(text_[e])) at = e + 1;
      }
      if (text_.substr(at).starts_with("\xc2\xb2") || text_.substr(at).starts_with("\xc2\xb3")) at += 2;
      end = at;
    }
  }
  static std::size_t letters(std::string_view name) {
    std::size_t n = 0;
    while (n < name.size() && !is_digit(name[n])) ++n;
    return n;
  }
  std::size_t name_length(std::size_t at) const {
    const std::string_view rest = text_.substr(at);
    if (rest.starts_with("\xc2\xb0")) return 2;
    std::size_t n = rest.starts_with("\xc2\xb5") || rest.starts_with("\xce\xbc") ? 2 : 0;
    if (n == 0 && (rest.empty() || !is_name_start(rest[0]))) return 0;
    while (n < rest.size() && is_name(rest[n])) ++n;
    return n;
  }

  Value name() {
    const std::size_t at = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    const std::string_view word = text_.substr(at, at_ - at);
    skip();
    if (at_ < text_.size() && text_[at_] == '(') return call(word, at);
    Value out;
    out.loose = true;
    std::string note;
    if (word == "pi") {
      out.value = pi;
    } else if (word == "inf") {
      out.value = std::numeric_limits<double>::infinity();
    } else if (word == "true" || word == "false") {
      out.value = word == "true";
    } else if (word == variable_.name) {
      if (word != "t" && lookup_ && lookup_(word, note))
        fail(fmt::format("\"{}\" is the variable here and a parameter; rename the parameter", word), at);
      out.dimension = variable_.dimension;
      out.constant = false;
      out.begin = code_.size();
      code_.push_back({Op::variable});
      return out;
    } else if (word == "t") {
      fail("t, the time, can be used only where a value may change with time", at);
    } else if (const std::optional<Quantified> found = lookup_ ? lookup_(word, note) : std::nullopt) {
      out.value = found->value;
      out.dimension = found->dimension;
      out.loose = found->loose;
    } else {
      if (!note.empty()) fail(note, at);
      fail(fmt::format("\"{}\" is no parameter{}", word.substr(0, 60), suggest_ ? suggest_(word) : ""), at);
    }
    return push(out);
  }

  Value call(std::string_view word, std::size_t at) {
    const Function* f = find_function(word);
    if (!f) {
      Suggestion suggestion(word);
      for (const Function& known : functions) suggestion.offer(known.name);
      fail(fmt::format("there is no function \"{}\"{}", word.substr(0, 60), suggestion.text()), at);
    }
    ++at_;
    ++parentheses_;
    Value x[3];
    for (int i = 0; i < f->arguments; ++i) {
      if (i > 0 && !take(",")) fail_count(*f, at);
      x[i] = binary(0);
    }
    skip();
    if (at_ < text_.size() && text_[at_] == ',') fail_count(*f, at);
    if (!take(")")) fail_unexpected();
    --parentheses_;
    return emit(f->op, result_of(*f, x, at), x, f->arguments);
  }

  [[noreturn]] void fail_count(const Function& f, std::size_t at) {
    if (at_ >= text_.size()) fail_unexpected();
    fail(fmt::format("{} takes {} argument{}", f.name, f.arguments, f.arguments == 1 ? "" : "s"), at);
  }

  Value result_of(const Function& f, const Value* x, std::size_t at) {
    Value out;
    switch (f.rule) {
      case Rule::angle_to_number:
        if (!x[0].loose && !agree(x[0].dimension, dimension::angle))
          fail(fmt::format("{} expects an angle, got {}", f.name, name_of(x[0].dimension)), at);
        break;
      case Rule::number_to_angle:
        if (f.arguments == 2) {
          bool loose = false;
          common_dimension(x[0], x[1], at, loose);
        } else if (!x[0].loose && !x[0].dimension.is_number()) {
          fail(fmt::format("{} expects a pure number, got {}", f.name, name_of(x[0].dimension)), at);
        }
        out.dimension = dimension::angle;
        return out;
      case Rule::to_number:
        if (f.op != Op::sign && f.op != Op::step && !x[0].loose && !x[0].dimension.is_number())
          fail(fmt::format("{} expects a pure number, got {}", f.name, name_of(x[0].dimension)), at);
        break;
      case Rule::keep:
        return x[0];
      case Rule::half:
        out.dimension = power(x[0].dimension, 0.5);
        out.loose = x[0].loose;
        return out;
      case Rule::same:
        out.dimension = common_dimension(x[f.arguments - 2], x[f.arguments - 1], at, out.loose);
        return out;
    }
    out.loose = true;
    return out;
  }

  Value push(Value value) {
    value.begin = code_.size();
    value.constant = true;
    code_.push_back({Op::constant, value.value});
    return value;
  }

  // Appends `op` on the operands that end the code, or folds it away. `out` brings dimension and looseness.
  Value emit(Op op, Value out, const Value* x, int count) {
    out.begin = x[0].begin;
    out.constant = true;
    double operands[3] = {};
    for (int i = 0; i < count; ++i) {
      out.constant = out.constant && x[i].constant;
      operands[i] = x[i].value;
    }
    if (!out.constant) {
      code_.push_back({op});
      return out;
    }
    out.value = fold(op, operands, count);
    code_.resize(out.begin);
    return push(out);
  }

  struct Depth {
    explicit Depth(Compiler& c) : compiler(c) {
      if (++compiler.depth_ > max_depth) compiler.fail("the expression is nested too deeply", compiler.at_);
    }
    ~Depth() { --compiler.depth_; }
    Compiler& compiler;
  };

  std::string_view text_;
  const Lookup& lookup_;
  Variable variable_;
  const Suggest& suggest_;
  std::size_t at_ = 0;
  int depth_ = 0, parentheses_ = 0;
  std::vector<Code> code_;
};

}  // namespace

ExpressionResult compile_expression(std::string_view text, const Lookup& lookup, const Variable& variable,
                                    const Suggest& suggest) {
  const std::size_t skipped = text.starts_with('=') ? 1 : 0;
  try {
    return {Compiler(text.substr(skipped), lookup, variable, suggest).run(), {}, 0};
  } catch (const Failure& failure) {
    return {std::nullopt, failure.message, failure.offset + skipped};
  }
}

std::optional<double> parse_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.empty() || !(is_digit(digits[0]) || digits[0] == '.')) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_reserved_name(std::string_view name) {
  return find_function(name) || name == "t" || name == "pi" || name == "inf" || name == "true" ||
         name == "false";
}

std::string function_list() {
  std::string list;
  for (const Function& f : functions) list += fmt::format("{}`{}`", list.empty() ? "" : ", ", f.name);
  return list;
}

}  // namespace limber::scene
