#include "limber/scene/units.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "limber/math/types.h"
#include "limber/scene/suggest.h"

namespace limber::scene {

namespace {

struct Named {
  const char* name;
  Dimension dimension;
  double factor;
  const char* prefixes;  // allowed, one character each
  const char* what;
};

// clang-format off
constexpr Named units[] = {
    {"m",    dimension::length,           1,              "kcmun", "length"},
    {"in",   dimension::length,           0.0254,         "",      "inch"},
    {"ft",   dimension::length,           0.3048,         "",      "foot"},
    {"g",    dimension::mass,             1e-3,           "km",    "mass (g: gram)"},
    {"s",    dimension::time,             1,              "mun",   "time"},
    {"min",  dimension::time,             60,             "",      "minute"},
    {"h",    dimension::time,             3600,           "",      "hour"},
    {"rad",  dimension::angle,            1,              "m",     "angle"},
    {"deg",  dimension::angle,            pi / 180,       "",      "degree"},
    {"rev",  dimension::angle,            2 * pi,         "",      "revolution"},
    {"rpm",  dimension::angular_velocity, 2 * pi / 60,    "",      "revolutions a minute"},
    {"Hz",   {0, 0, -1, 0},               1,              "kM",    "1/s"},
    {"N",    dimension::force,            1,              "kMmu",  "force"},
    {"lbf",  dimension::force,            4.4482216152605, "",     "pound-force"},
    {"Pa",   dimension::pressure,         1,              "kMG",   "stress, modulus"},
    {"psi",  dimension::pressure,         6894.757293168361, "",   "pound-force a square inch"},
    {"bar",  dimension::pressure,         1e5,            "m",     "pressure"},
    {"J",    dimension::torque,           1,              "kMm",   "energy"},
    {"W",    {2, 1, -3, 0},               1,              "kMm",   "power"},
};

constexpr std::pair<char, double> prefixes[] = {{'G', 1e9}, {'M', 1e6}, {'k', 1e3}, {'c', 1e-2}, {'m', 1e-3}, {'u', 1e-6}, {'n', 1e-9}};

constexpr std::pair<Dimension, const char*> names[] = {
    {dimension::number, "a pure number"},          {dimension::length, "a length"},
    {dimension::area, "an area"},                  {dimension::mass, "a mass"},
    {dimension::time, "a time"},                   {dimension::angle, "an angle"},
    {dimension::velocity, "a velocity"},           {dimension::angular_velocity, "an angular velocity"},
    {dimension::acceleration, "an acceleration"},  {dimension::force, "a force"},
    {dimension::torque, "a torque"},               {dimension::pressure, "a stress"},
    {dimension::density, "a density"},             {dimension::inertia, "a moment of inertia"},
    {dimension::first_moment, "a first moment"},
    {dimension::stiffness, "a stiffness"},         {dimension::torsional_stiffness, "a torsional stiffness"},
    {dimension::damping, "a damping"},             {dimension::torsional_damping, "a torsional damping"},
    {{0, 0, -1, 0}, "a frequency"},
};
constexpr std::pair<Dimension, const char*> si_names[] = {
    {dimension::number, ""},                {dimension::length, "m"},
    {dimension::area, "m2"},                {dimension::mass, "kg"},
    {dimension::time, "s"},                 {dimension::angle, "rad"},
    {dimension::velocity, "m/s"},           {dimension::angular_velocity, "rad/s"},
    {dimension::acceleration, "m/s2"},      {dimension::force, "N"},
    {dimension::torque, "N*m"},             {dimension::pressure, "Pa"},
    {dimension::density, "kg/m3"},          {dimension::inertia, "kg*m2"},
    {dimension::first_moment, "kg*m"},
    {dimension::stiffness, "N/m"},          {dimension::torsional_stiffness, "N*m/rad"},
    {dimension::damping, "N*s/m"},          {dimension::torsional_damping, "N*m*s/rad"},
    {{0, 0, -1, 0}, "1/s"},
};
// clang-format on

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Reads a unit expression: factors joined by *, · or blanks, and divided by /, each with an optional
// exponent.
class UnitScanner {
 public:
  explicit UnitScanner(std::string_view text) : rest_(text) {}

  UnitParse run() {
    Unit total;
    bool divide = false;
    for (bool first = true;; first = false) {
      skip_blanks();
      if (rest_.empty()) return first ? UnitParse{} : UnitParse{total, {}};
      if (!first) {
        divide = false;
        if (take("/"))
          divide = true;
        else if (!take("*"))
          take("\xc2\xb7");
        skip_blanks();
      }
      const std::optional<Unit> unit = factor();
      if (!unit) return {std::nullopt, unknown_};
      total.dimension = divide ? total.dimension / unit->dimension : total.dimension * unit->dimension;
      total.factor = divide ? total.factor / unit->factor : total.factor * unit->factor;
    }
  }

 private:
  void skip_blanks() {
    while (!rest_.empty() && rest_[0] == ' ') rest_.remove_prefix(1);
  }
  bool take(std::string_view token) {
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  std::optional<Unit> factor() {
    if (take("1")) return rest_.starts_with('/') ? std::optional<Unit>(Unit{}) : std::nullopt;
    std::optional<Unit> unit;
    if (take("\xc2\xb0")) {
      unit = find_unit("deg");
    } else {
      std::size_t n = rest_.starts_with("\xc2\xb5") || rest_.starts_with("\xce\xbc") ? 2 : 0;
      while (n < rest_.size() && is_letter(rest_[n])) ++n;
      unit = find_unit(rest_.substr(0, n));
      if (!unit) unknown_ = rest_.substr(0, n);
      rest_.remove_prefix(n);
    }
    if (unit) apply_exponent(*unit);
    return unit;
  }

  void apply_exponent(Unit& unit) {
    int exponent = 1;
    const bool caret = take("^");
    const bool minus = caret && take("-");
    if (take("\xc2\xb2"))
      exponent = 2;
    else if (take("\xc2\xb3"))
      exponent = 3;
    else if (!rest_.empty() && rest_[0] >= '1' && rest_[0] <= '9') {
      exponent = rest_[0] - '0';
      rest_.remove_prefix(1);
    }
    if (minus) exponent = -exponent;
    unit.dimension = power(unit.dimension, exponent);
    double value = 1;
    for (int i = 0; i < std::abs(exponent); ++i) value *= unit.factor;
    unit.factor = exponent < 0 ? 1 / value : value;
  }

  std::string_view rest_, unknown_;
};

}  // namespace

Dimension operator*(const Dimension& a, const Dimension& b) {
  return {a.m + b.m, a.kg + b.kg, a.s + b.s, a.rad + b.rad};
}
Dimension operator/(const Dimension& a, const Dimension& b) {
  return {a.m - b.m, a.kg - b.kg, a.s - b.s, a.rad - b.rad};
}
Dimension power(const Dimension& a, double e) { return {a.m * e, a.kg * e, a.s * e, a.rad * e}; }
bool agree(const Dimension& a, const Dimension& b) { return a.m == b.m && a.kg == b.kg && a.s == b.s; }

std::string name_of(const Dimension& d) {
  for (const auto& [dimension, name] : names)
    if (dimension == d) return name;
  for (const auto& [dimension, name] : names)
    if (agree(dimension, d) && !dimension.is_number()) return name;
  return "a quantity in " + si_unit_of(d);
}

std::string si_unit_of(const Dimension& d) {
  for (const auto& [dimension, name] : si_names)
    if (dimension == d) return name;
  std::string text;
  const std::pair<double, const char*> parts[] = {{d.m, "m"}, {d.kg, "kg"}, {d.s, "s"}, {d.rad, "rad"}};
  for (const auto& [exponent, name] : parts)
    if (exponent != 0)
      text += fmt::format("{}{}{}", text.empty() ? "" : "*", name,
                          exponent == 1 ? "" : fmt::format("^{}", exponent));
  return text;
}

std::optional<Unit> find_unit(std::string_view name) {
  std::string folded(name);
  if (name.starts_with("\xc2\xb5") || name.starts_with("\xce\xbc"))
    folded = "u" + std::string(name.substr(2));
  for (const Named& unit : units)
    if (folded == unit.name) return Unit{unit.dimension, unit.factor};
  for (const Named& unit : units) {
    if (folded.size() < 2 || folded.substr(1) != unit.name) continue;
    if (std::string_view(unit.prefixes).find(folded[0]) == std::string_view::npos) continue;
    for (const auto& [letter, factor] : prefixes)
      if (letter == folded[0]) {
        // The kilogram is exact, not 1000 times a thousandth.
        return Unit{unit.dimension, folded == "kg" ? 1.0 : factor * unit.factor};
      }
  }
  return std::nullopt;
}

UnitParse parse_unit(std::string_view text) { return UnitScanner(text).run(); }

std::string suggest_unit(std::string_view name) {
  // A wrong capital is the usual slip: "Mm", "kpa", "n".
  Suggestion suggestion(name);
  for (const Named& unit : units) {
    suggestion.offer(unit.name);
    for (const char* p = unit.prefixes; *p; ++p) suggestion.offer(std::string(1, *p) + unit.name);
  }
  return suggestion.text();
}

std::string unit_table_markdown() {
  std::string text = "| unit | prefixes | |\n|---|---|---|\n";
  for (const Named& unit : units) {
    std::string list;
    for (const char* p = unit.prefixes; *p; ++p)
      list += fmt::format("{}`{}{}`", list.empty() ? "" : ", ", *p, unit.name);
    text += fmt::format("| `{}` | {} | {} |\n", unit.name, list, unit.what);
  }
  return text;
}

}  // namespace limber::scene
