#include "limber/scene/reader.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "limber/scene/fields.h"

namespace limber::scene {

namespace {

constexpr std::size_t max_kept = 2000;

// "a length" + positive → "a positive length".
std::string with_adjective(const std::string& thing, const char* adjective) {
  const std::size_t blank = thing.find(' ');
  return fmt::format("a {} {}", adjective, thing.substr(blank + 1));
}

// A number and what stands behind it: 3 and " mm"; nothing where no number begins.
std::pair<double, std::string_view> split_number(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.empty() || !((digits[0] >= '0' && digits[0] <= '9') || digits[0] == '.')) return {};
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return {};
  return {value, text.substr(static_cast<std::size_t>(end - text.data()))};
}

}  // namespace

std::string Path::text() const {
  std::vector<const Path*> chain;
  for (const Path* p = this; p; p = p->up) chain.push_back(p);
  std::string out;
  for (auto it = chain.rbegin(); it != chain.rend(); ++it) {
    if ((*it)->index >= 0)
      out += fmt::format("[{}]", (*it)->index);
    else if (!(*it)->name.empty())
      out += fmt::format("{}{}", out.empty() ? "" : ".", (*it)->name.substr(0, 80));
  }
  return out;
}

std::string expected_text(const Dimension& dimension, Range range) {
  const std::string thing = dimension.is_number() ? "a number" : name_of(dimension);
  if (range == Range::positive) return with_adjective(thing, "positive");
  if (range == Range::any) return thing;
  return fmt::format("{}, {}", thing, range.text());
}

std::string quoted(std::string_view text) {
  if (text.size() <= 60) return fmt::format("\"{}\"", text);
  std::size_t n = 57;
  while (n > 0 && (static_cast<unsigned char>(text[n]) & 0xc0) == 0x80) --n;
  return fmt::format("\"{}…\"", text.substr(0, n));
}

Reader::Reader(const Document& doc, std::string file_name, const LoadOptions& load_options,
               std::filesystem::path scene_folder, const std::vector<sim::SourceFile>* embedded_files)
    : document(doc),
      file(std::move(file_name)),
      options(load_options),
      folder(std::move(scene_folder)),
      embedded(embedded_files) {}

void Reader::error(const Mark& mark, const Path& path, std::string message) {
  if (diagnostics.size() >= max_kept) {
    ++dropped;
    return;
  }
  diagnostics.push_back(diagnostic(mark, path.text(), std::move(message)));
}

Diagnostic Reader::diagnostic(const Mark& mark, std::string path, std::string message) const {
  if (mark.scope) message += fmt::format(" ({})", mark.scope->text());
  return {file, mark.line, mark.column, std::move(path), std::move(message)};
}

void Reader::command_line_error(const std::string& name, std::string message) {
  diagnostics.push_back({"", 0, 0, "--set " + name.substr(0, 80), std::move(message)});
}

std::optional<Expression> Reader::expression(const Node& node, const Path& path, const Dimension& expected,
                                             const Variable& variable) {
  if (!node.is_scalar()) {
    error(node, path,
          fmt::format("expected {}, got {}", expected_text(expected, Range::any), describe(node)));
    return std::nullopt;
  }
  Expression out;
  if (const std::optional<double> plain = parse_number(node.text)) {
    out.value = *plain;
    out.loose = true;
    return out;
  }
  const auto [number, unit] = split_number(node.text);
  // An index may have the name of a unit: with one in reach it is looked at each time.
  const auto known = node.mark.scope ? units_.end() : units_.find(unit);
  if (known != units_.end() && agree(known->second.dimension, expected) &&
      (!expected.is_number() || known->second.dimension.rad == 0)) {
    out.value = number * known->second.factor;
    out.dimension = known->second.dimension;
    return out;
  }
  const auto suggest = [this](std::string_view name) { return suggest_parameter(name); };
  const ExpressionResult result =
      compile_expression(node.text, lookup_in(node.mark.scope), variable, suggest);
  if (!result.expression) {
    Mark mark = node.mark;
    if (!node.quoted && node.text.find('\n') == std::string_view::npos)
      mark.column += static_cast<int>(result.offset);
    error(mark, path, fmt::format("expected {}: {}", expected_text(expected, Range::any), result.error));
    return std::nullopt;
  }
  out = *result.expression;
  const bool pure = !expected.is_number() || out.dimension.rad == 0;
  if (!out.loose && (!agree(out.dimension, expected) || !pure)) {
    error(node, path,
          fmt::format("expected {}, got {} ({})", expected_text(expected, Range::any), name_of(out.dimension),
                      quoted(node.text)));
    return std::nullopt;
  }
  if (!unit.empty() && !node.mark.scope)
    if (const UnitParse parsed = parse_unit(unit); parsed.unit && out.value == number * parsed.unit->factor)
      units_.emplace(unit, *parsed.unit);
  return out;
}

std::optional<Quantified> Reader::value_within(const Node& node, const Path& path, std::string_view text,
                                               std::size_t offset, const Scope* scope) {
  const auto suggest = [this](std::string_view name) { return suggest_parameter(name); };
  const ExpressionResult result = compile_expression(text, lookup_in(scope), false, suggest);
  std::string problem = result.error;
  if (result.expression && std::isfinite(result.expression->value))
    return Quantified{result.expression->value, result.expression->dimension, result.expression->loose};
  if (result.expression) problem = fmt::format("expected a number, got {}", result.expression->value);
  Mark mark = node.mark;
  mark.scope = scope;
  if (!node.quoted && node.text.find('\n') == std::string_view::npos)
    mark.column += static_cast<int>(offset + result.offset);
  error(mark, path, fmt::format("in {}: {}", quoted(node.text), problem));
  return std::nullopt;
}

std::optional<double> Reader::quantity(const Node& node, const Path& path, const Dimension& expected,
                                       Range range, bool infinite) {
  const std::optional<Expression> e = expression(node, path, expected, false);
  if (!e) return std::nullopt;
  if (std::isnan(e->value) || (std::isinf(e->value) && !infinite)) {
    error(node, path,
          fmt::format("expected {}, got {} from {}", expected_text(expected, range), e->value,
                      quoted(node.text)));
    return std::nullopt;
  }
  if (!range.contains(e->value)) {
    error(node, path,
          fmt::format("expected {}, got {}", expected_text(expected, range), node.text.substr(0, 60)));
    return std::nullopt;
  }
  return e->value;
}

std::optional<std::vector<double>> Reader::quantities(const Node& node, const Path& path,
                                                      const Dimension& expected, int count, Range range) {
  if (!node.is_sequence() || static_cast<int>(node.items.size()) != count) {
    const std::string got = node.is_sequence() ? fmt::format("{} items", node.items.size()) : describe(node);
    error(node, path, fmt::format("expected a list of {} numbers, got {}", count, got));
    return std::nullopt;
  }
  std::vector<double> out;
  bool good = true;
  for (int i = 0; i < count; ++i) {
    const std::optional<double> x = quantity(*node.items[i], {&path, {}, i}, expected, range);
    good = good && x;
    out.push_back(x.value_or(0));
  }
  if (!good) return std::nullopt;
  return out;
}

std::optional<Vec3> Reader::vector(const Node& node, const Path& path, const Dimension& expected,
                                   Range range) {
  const auto x = quantities(node, path, expected, 3, range);
  if (!x) return std::nullopt;
  return Vec3((*x)[0], (*x)[1], (*x)[2]);
}

std::optional<Vec3> Reader::axis(const Node& node, const Path& path) {
  const std::optional<Vec3> a = vector(node, path, dimension::number);
  if (!a) return std::nullopt;
  const double largest = a->cwiseAbs().maxCoeff();
  if (!(largest > 0)) {
    error(node, path, "expected a direction, got three zeros");
    return std::nullopt;
  }
  // A unit vector is kept to the bit, so that one written out is read back: dividing by a norm and squaring
  // again may be off by 8e-16. Anything else is scaled without overflow.
  if (std::abs(a->squaredNorm() - 1) < 1e-15) return a;
  return (*a / largest).normalized();
}

std::optional<Mat3> Reader::rotation(const Node& node, const Path& path) {
  if (node.is_map()) {
    const Fields fields(*this, node, ObjectType::turn, path, node.mark);
    return math::so3_exp(fields.quantity("angle", 0) * fields.axis("axis", Vec3::UnitZ()));
  }
  if (!node.is_sequence() || node.items.size() != 3 || !node.items[0]->is_sequence()) {
    const auto theta = vector(node, path, dimension::angle);
    if (!theta) return std::nullopt;
    return math::so3_exp(*theta);
  }
  Mat3 R;
  for (int i = 0; i < 3; ++i) {
    const auto row = vector(*node.items[i], {&path, {}, i}, dimension::number);
    if (!row) return std::nullopt;
    R.row(i) = row->transpose();
  }
  // 1e-9: a matrix typed with ten digits passes.
  if (!((R.transpose() * R - Mat3::Identity()).norm() < 1e-9) || !(R.determinant() > 0)) {
    error(node, path, "expected a rotation matrix: orthonormal rows, determinant 1");
    return std::nullopt;
  }
  return R;
}

// Parts of letters, digits, _ and -, joined by dots as in generated names; the first begins with a letter or
// _.
bool Reader::check_name(const Node& key, const Path& path) {
  const std::string_view name = key.text;
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto other = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '-'; };
  bool good = !name.empty() && name.size() <= 200 && letter(name[0]);
  for (std::size_t i = 1; good && i < name.size(); ++i)
    good = other(name[i]) || (name[i] == '.' && name[i - 1] != '.' && i + 1 < name.size());
  if (good && name == "world") {
    error(key, path, "\"world\" is taken: it is the ground");
    return false;
  }
  if (!good)
    error(key, path,
          fmt::format("{} is no name: letters, digits, _ and -, beginning with a letter", quoted(name)));
  return good;
}

bool Reader::claim_entities(double count, const Mark& mark, const Path& path) {
  if (count + entities_ > static_cast<double>(options.limits.entities)) {
    error(mark, path,
          fmt::format("makes {:.3g} bodies and joints; the limit for a scene is {}", count,
                      options.limits.entities));
    return false;
  }
  entities_ += count;
  return true;
}

}  // namespace limber::scene
