// The table of keys as a page to read.
#include <fmt/format.h>

#include "limber/model/quantity.h"
#include "limber/scene/expression.h"
#include "limber/scene/keys.h"
#include "limber/scene/scene.h"

namespace limber::scene {

namespace {

std::string anchor(const std::string& title) {
  std::string text;
  for (const char c : title) {
    if (c == ' ')
      text += '-';
    else if (c >= 'A' && c <= 'Z')
      text += static_cast<char>(c - 'A' + 'a');
    else if ((c >= 'a' && c <= 'z') || c == '-' || c == '_')
      text += c;
  }
  return text;
}

std::string link(ObjectType type) {
  const std::string& title = object_of(type).title;
  return fmt::format("[{}](#{})", title, anchor(title));
}

std::string dimension_text(const Key& key) {
  const std::string unit = si_unit_of(key.dimension);
  return unit.empty()
             ? "number"
             : fmt::format("{} [{}]", name_of(key.dimension).substr(name_of(key.dimension).find(' ') + 1),
                           unit);
}

std::string type_text(const Key& key) {
  switch (key.type) {
    case Type::quantity:
      return dimension_text(key);
    case Type::integer:
      return "whole number";
    case Type::boolean:
      return "true, false";
    case Type::text:
      return "text";
    case Type::choice: {
      std::string list;
      for (const std::string_view c : split_choices(key))
        list += fmt::format("{}`{}`", list.empty() ? "" : ", ", c);
      return list;
    }
    case Type::name:
      return fmt::format("name of a {}", key.refers);
    case Type::names:
      return fmt::format("list of names of a {}", key.refers);
    case Type::place:
      return key.name == "at" ? "point or [place](#a-place)" : "[place](#a-place)";
    case Type::places:
      return "two [places](#a-place)";
    case Type::vector:
      return fmt::format("list of {}, {}", key.count, dimension_text(key));
    case Type::vectors:
      return "list of lists";
    case Type::outlines:
      return "list of lists of corners";
    case Type::vector_map:
      return "named points, length [m]";
    case Type::axis:
      return "direction [x, y, z]";
    case Type::rotation:
      return "rotation";
    case Type::values:
      return "one for all coordinates, or a list";
    case Type::joint_limits:
      return "see there";
    case Type::function:
      return "function of time, " + dimension_text(key);
    case Type::law:
      return "law, " + dimension_text(key);
    case Type::laws:
      return "law, or a list";
    case Type::matrix:
      return "six numbers or 6x6, " + dimension_text(key);
    case Type::functions:
      return "function of time, or a list";
    case Type::vector_function:
      return "three functions of time, " + dimension_text(key);
    case Type::color:
      return "color";
    case Type::inertia:
      return "3 or 6 of moment of inertia [kg*m2]";
    case Type::polyline:
      return "points [m], or " + link(ObjectType::arc) + ", or " + link(ObjectType::helix_path);
    case Type::parameters:
      return "names with numbers";
    case Type::probes:
      return "list of " + link(ObjectType::probe);
    case Type::repeat:
      return "indices with their counts";
    case Type::road:
      return "name of a chain, or list of " + link(key.object);
    case Type::object:
      return link(key.object);
    case Type::object_map:
      return "names with " + link(key.object);
    case Type::object_list:
      return "list of " + link(key.object);
  }
  return "";
}

std::string cell(std::string text) {
  for (std::size_t i = 0; (i = text.find('|', i)) != std::string::npos; i += 2) text.insert(i, "\\");
  return text;
}

std::string key_row(const Key& key) {
  std::string doc = key.doc;
  const auto add = [&](const std::string& more) { doc += (doc.empty() ? "" : "; ") + more; };
  if (key.range != Range::any) add(key.range.text());
  if (!key.example.empty()) add(fmt::format("as in `{}`", key.example));
  const std::string need = key.required           ? "**required**"
                           : key.fallback.empty() ? ""
                                                  : fmt::format("`{}`", key.fallback);
  return fmt::format("| `{}` | {} | {} | {} |\n", key.name, cell(type_text(key)), cell(need), cell(doc));
}

std::string object_section(const Object& object) {
  std::string text = fmt::format("## {}\n\n", object.title);
  if (!object.doc.empty()) text += fmt::format("{}\n\n", object.doc);
  text += "| key | value | default | |\n|---|---|---|---|\n";
  for (const Key& key : object.keys) text += key_row(key);
  for (const OneOf& group : object.groups) {
    std::string list;
    for (const char* key : group.keys) list += fmt::format("{}`{}`", list.empty() ? "" : ", ", key);
    text += fmt::format("\n{} one of {}.\n", group.required ? "Exactly" : "At most", list);
  }
  if (object.type == ObjectType::probe) text += "\n" + quantity_markdown();
  if (*object.shorthand) text += fmt::format("\nA bare value stands for `{}`.\n", object.shorthand);
  if (!object.example.empty()) text += fmt::format("\n```yaml\n{}```\n", object.example);
  return text + "\n";
}

}  // namespace

std::string reference_markdown() {
  std::string text = fmt::format(
      "# Scenes\n\n"
      "A scene is a YAML file. This page is made from the table of keys that the reader itself uses\n"
      "(`limber schema --reference`); editors check scenes while you type with the JSON Schema from the same "
      "table, by the first\n"
      "line `# yaml-language-server: $schema=limber.schema.json`.\n\n"
      "Every error comes with file, line and column, all of them at once.\n\n"
      "## Numbers, units, expressions\n\n"
      "A plain number is SI and radians. A unit may follow: `2 mm`, `30 deg`, `200 GPa`, `7850 kg/m3`, `4 "
      "N*m/rad`, `9.81 m/s^2`.\n"
      "Anything else is an expression: `span/links`, `=2*width + 3 mm`, `\"max(a, b)\"` (inside `[ ]` or `{{ "
      "}}` quote what has a\n"
      "comma). A leading `=` is allowed. Operators, loosest first: `||`, `&&`, `== !=`, `< <= > >=`, `+ -`, "
      "`* /`, unary `- + !`, `^`.\n"
      "Functions: {}.\nConstants: `pi`, `inf`. Units are checked: a time where a length belongs is an error; "
      "a plain number combines\n"
      "with anything.\n\n"
      "Parameters are named numbers in any order; `--set links=300` or `--set \"span=3 ft\"` overrides "
      "one.\n\n"
      "Where a value may change with time, an expression may use `t` (in seconds), as in `5 N * sin(2*pi*t)` "
      "or\n"
      "`\"if(t < 1 s, 20 N, 0 N)\"`. In a step from t to t + h loads and gravity are taken at t + h; by "
      "`midpoint` at t + h/2; by\n"
      "`sdirk` at t + γh and at t + h, with the weights 1 − γ and γ, γ = 1 − 1/√2; by `rk4`, `gauss` and "
      "`sdirk4` at their stages,\n"
      "so that a cubic of t counts exactly.\n\n"
      "{}\n"
      "Powers are written `m2`, `m^2` or `m²`; products `N*m`, `N m` or `N·m`.\n\n"
      "## Names\n\n"
      "Names are letters, digits, `_` and `-`, beginning with a letter. Short forms make names with dots: "
      "chain `arm` has the bodies\n"
      "`arm.0`, `arm.1`, … and the joints `arm.0.joint`, …. A body that floats or is fixed has the joint "
      "`body.joint`. References are by\n"
      "name, never by position in the file, and may point forward. YAML anchors, aliases and `<<` may be "
      "used.\n\n"
      "`${{expression}}` in a name, a reference or any other text but `title`, `description` and "
      "`parameters` "
      "is replaced by its\n"
      "value: `\"deck.${{links - 1}}\"` (in quotes inside `[ ]` or `{{ }}`). Whole numbers are written "
      "without "
      "a point, others in full,\n"
      "with their SI unit.\n\n"
      "## Repetition\n\n"
      "Whatever stands under a name (a body, a joint, a spring, a chain, …), and a mapping in a list, may "
      "have "
      "a `repeat`. It is\n"
      "made once for every value of the index: `repeat: {{i: 30}}` counts from 0 to 29, `{{i: [1, 29]}}` "
      "from 1 "
      "to 29. Up to four\n"
      "indices are nested, the first outermost; a later one's count may use the earlier ones, as in "
      "`{{level: 5, "
      "k: 2^level}}`.\n"
      "Expressions in it use the indices like parameters; names need `${{ }}` and must come out "
      "different:\n\n"
      "```yaml\n"
      "springs:\n"
      "  cable.${{i}}:\n"
      "    repeat: {{i: 30}}\n"
      "    between: [\"tower.${{i}}\", \"deck.${{3*i + 1}}\"]\n"
      "    stiffness: (10 + i) * 1 kN/m\n"
      "```\n\n",
      function_list(), unit_table_markdown());
  for (const Object& object : key_table()) text += object_section(object);
  text.pop_back();
  return text;
}

}  // namespace limber::scene
