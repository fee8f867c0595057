#include "limber/sim/options_json.h"

#include <fmt/format.h>

#include <stdexcept>

#include "limber/sim/option_table.h"

namespace limber::sim {
namespace {

using OptionsJson = nlohmann::ordered_json;

// Numbers are written with the digits that read back to the same double.
OptionsJson plain_json(const OptionValue& value) {
  return std::visit(
      [](const auto& x) -> OptionsJson {
        if constexpr (std::is_same_v<decltype(x), const OptionValue::List&>) {
          OptionsJson list = OptionsJson::array();
          for (const OptionValue& item : x) list.push_back(plain_json(item));
          return list;
        } else {
          return x;
        }
      },
      value.is);
}

OptionsJson value_json(const OptionInfo& o, const OptionValue& value) {
  if (o.type != OptionType::records) return plain_json(value);
  OptionsJson list = OptionsJson::array();
  for (const OptionValue& record : value.list()) {
    OptionsJson& item = list.emplace_back(OptionsJson::object());
    for (std::size_t i = 0; i < o.fields.size(); ++i)
      item[o.fields[i].key] = value_json(o.fields[i], record.list()[i]);
  }
  return list;
}

OptionValue parse_value(const OptionInfo& o, const OptionsJson& json);

OptionValue parse_record(const OptionInfo& o, const OptionsJson& json) {
  OptionValue::List record;
  for (const OptionInfo& field : o.fields)
    record.push_back(json.contains(field.key) ? parse_value(field, json.at(field.key)) : field.initial);
  return {std::move(record)};
}

OptionValue parse_value(const OptionInfo& o, const OptionsJson& json) {
  OptionValue::List list;
  switch (o.type) {
    case OptionType::number:
      return {json.get<double>()};
    case OptionType::integer:
      return {json.get<int>()};
    case OptionType::boolean:
      return {json.get<bool>()};
    case OptionType::choice:
    case OptionType::name:
      return {json.get<std::string>()};
    case OptionType::names:
      for (const OptionsJson& item : json) list.push_back({item.get<std::string>()});
      return {std::move(list)};
    case OptionType::vector:
      for (int i = 0; i < 3; ++i) list.push_back({json.at(i).get<double>()});
      return {std::move(list)};
    case OptionType::records:
      for (const OptionsJson& item : json) list.push_back(parse_record(o, item));
      return {std::move(list)};
  }
  return {};
}

void parse_group(const OptionGroup& group, const OptionsJson& json, RunOptions& out) {
  for (const RunOption& option : group.options) {
    const std::string key = option.short_key();
    if (option.machine || (group.method && !json.contains(key))) continue;
    const OptionValue value = parse_value(option, json.at(key));
    if (const std::string text = objection(option, value); !text.empty())
      throw std::invalid_argument(fmt::format("{}: {}", option.key, text));
    option.set(out, value);
  }
}

}  // namespace

OptionsJson options_json(const RunOptions& options) {
  OptionsJson json;
  for (const OptionGroup& group : option_groups()) {
    if (group.method && group.method != options.method) continue;
    OptionsJson& into = group.method ? json[to_string(*group.method)] : json;
    for (const RunOption& option : group.options)
      if (!option.machine) into[option.short_key()] = value_json(option, option.get(options));
  }
  return json;
}

RunOptions parse_options(const OptionsJson& json) {
  RunOptions out;
  for (const OptionGroup& group : option_groups()) {
    if (!group.method)
      parse_group(group, json, out);
    else if (json.contains(to_string(*group.method)))
      parse_group(group, json.at(to_string(*group.method)), out);
  }
  return out;
}

}  // namespace limber::sim
