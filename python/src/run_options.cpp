#include "run_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "limber/scene/expression.h"
#include "limber/scene/option_units.h"
#include "limber/sim/method_table.h"
#include "limber/sim/option_table.h"

namespace limber::python {

namespace nb = nanobind;
using sim::OptionInfo;
using sim::OptionType;
using sim::OptionValue;

namespace {

double quantity(nb::handle value, const std::string& name, const scene::Dimension& dimension) {
  double number = 0;
  if (nb::isinstance<nb::bool_>(value))
    throw std::invalid_argument(
        fmt::format("{}: expected {}, got a truth value", name, scene::name_of(dimension)));
  if (nb::try_cast(value, number)) return number;
  std::string text;
  if (!nb::try_cast(value, text))
    throw std::invalid_argument(
        fmt::format("{}: expected {} as a number (SI) or a text with its unit, got {}", name,
                    scene::name_of(dimension), nb::repr(value).c_str()));
  const auto unknown = [](std::string_view, std::string&) { return std::optional<scene::Quantified>(); };
  const auto parsed = scene::compile_expression(text, unknown, false);
  if (!parsed.expression) throw std::invalid_argument(fmt::format("{} '{}': {}", name, text, parsed.error));
  if (!parsed.expression->loose && !scene::agree(parsed.expression->dimension, dimension))
    throw std::invalid_argument(fmt::format("{} '{}': expected {}, got {}", name, text,
                                            scene::name_of(dimension),
                                            scene::name_of(parsed.expression->dimension)));
  return parsed.expression->value;
}

std::string text_of(nb::handle value, const std::string& name) {
  std::string text;
  if (!nb::try_cast(value, text))
    throw std::invalid_argument(fmt::format("{}: expected a text, got {}", name, nb::repr(value).c_str()));
  return text;
}

OptionValue value_of(nb::handle value, const std::string& name, const OptionInfo& o);

OptionValue::List items_of(nb::handle value, const std::string& name) {
  if (!nb::isinstance<nb::sequence>(value) || nb::isinstance<nb::str>(value))
    throw std::invalid_argument(fmt::format("{}: expected a list, got {}", name, nb::repr(value).c_str()));
  return {};
}

OptionValue record(nb::handle value, const std::string& name, const OptionInfo& o) {
  nb::dict given;
  if (!nb::try_cast(value, given))
    throw std::invalid_argument(
        fmt::format("{}: expected dictionaries, got {}", name, nb::repr(value).c_str()));
  OptionValue::List fields;
  std::size_t used = 0;
  for (const OptionInfo& field : o.fields) {
    const bool there = given.contains(field.key.c_str());
    if (!there && field.required)
      throw std::invalid_argument(fmt::format("{}: \"{}\" is missing", name, field.key));
    used += there;
    fields.push_back(there ? value_of(given[field.key.c_str()], name + "." + field.key, field)
                           : field.initial);
  }
  if (used != nb::len(given))
    throw std::invalid_argument(fmt::format("{}: unknown key among {}", name, nb::repr(value).c_str()));
  return {std::move(fields)};
}

OptionValue value_of(nb::handle value, const std::string& name, const OptionInfo& o) {
  switch (o.type) {
    case OptionType::number:
      return {quantity(value, name, scene::dimension_of(o))};
    case OptionType::integer: {
      const double x = quantity(value, name, scene::dimension::number);
      if (std::floor(x) != x || std::abs(x) > std::numeric_limits<int>::max())
        throw std::invalid_argument(fmt::format("{}: expected a whole number, got {}", name, x));
      return {static_cast<int>(x)};
    }
    case OptionType::boolean: {
      bool is = false;
      if (!nb::isinstance<nb::bool_>(value) || !nb::try_cast(value, is))
        throw std::invalid_argument(
            fmt::format("{}: expected True or False, got {}", name, nb::repr(value).c_str()));
      return {is};
    }
    case OptionType::choice:
    case OptionType::name:
      return {text_of(value, name)};
    case OptionType::names: {
      OptionValue::List list = items_of(value, name);
      for (nb::handle item : value) list.push_back({text_of(item, name)});
      return {std::move(list)};
    }
    case OptionType::vector: {
      OptionValue::List list = items_of(value, name);
      for (nb::handle item : value) list.push_back({quantity(item, name, scene::dimension_of(o))});
      if (list.size() != 3) throw std::invalid_argument(fmt::format("{}: expected three numbers", name));
      return {std::move(list)};
    }
    case OptionType::records: {
      OptionValue::List list = items_of(value, name);
      for (nb::handle item : value) list.push_back(record(item, name, o));
      return {std::move(list)};
    }
  }
  throw std::invalid_argument(name);
}

void apply_one(const std::string& key, nb::handle value, sim::RunOptions& options) {
  std::vector<std::string> owners;
  for (const sim::RunKey& k : sim::run_keys()) {
    if (k.option().key != key && k.option().short_key() != key) continue;
    if (!k.option().machine && !k.belongs_to(options.method)) {
      for (const auto& of : k.of)
        if (of.method) owners.emplace_back(to_string(*of.method));
      continue;
    }
    const sim::RunOption* own = &k.option();
    for (const auto& [method, option] : k.of)
      if (method == options.method) own = option;
    const OptionValue given = value_of(value, key, *own);
    if (const std::string wrong = sim::objection(*own, given); !wrong.empty())
      throw std::invalid_argument(fmt::format("{}: {}", key, wrong));
    k.set(options, given);
    return;
  }
  if (owners.empty()) throw std::invalid_argument(fmt::format("{}: a run has no such option", key));
  throw std::invalid_argument(fmt::format("{}: method {} has no such option; it belongs to {}", key,
                                          to_string(options.method), fmt::join(owners, ", ")));
}

nb::object object_of(const OptionValue& value) {
  struct Visitor {
    nb::object operator()(bool x) const { return nb::bool_(x); }
    nb::object operator()(int x) const { return nb::int_(x); }
    nb::object operator()(double x) const { return nb::float_(x); }
    nb::object operator()(const std::string& x) const { return nb::str(x.c_str(), x.size()); }
    nb::object operator()(const OptionValue::List& list) const {
      nb::list out;
      for (const OptionValue& item : list) out.append(object_of(item));
      return out;
    }
  };
  return std::visit(Visitor{}, value.is);
}

}  // namespace

void apply(const nb::dict& given, sim::RunOptions& options) {
  if (given.contains("method")) apply_one("method", given["method"], options);  // the others belong to it
  for (const auto& [key, value] : given) {
    std::string name = text_of(key, "options");
    if (name.ends_with('_')) name.pop_back();  // from_: Python has a word of its own there
    if (name != "method") apply_one(name, value, options);
  }
  sim::validate(options);
}

nb::dict to_dict(const sim::RunOptions& options) {
  nb::dict out;
  for (const sim::OptionGroup& group : sim::option_groups())
    if (!group.method || *group.method == options.method)
      for (const sim::RunOption& option : group.options)
        out[option.key.c_str()] = object_of(option.get(options));
  return out;
}

double number_of(nb::handle value, const char* name, const char* si) {
  const auto unit = scene::parse_unit(si).unit;
  return quantity(value, name, unit ? unit->dimension : scene::dimension::number);
}

}  // namespace limber::python
