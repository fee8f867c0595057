#include "limber/sim/option.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace limber::sim {

OptionValue::OptionValue(const OptionValue&) = default;
OptionValue::OptionValue(OptionValue&&) noexcept = default;
OptionValue& OptionValue::operator=(const OptionValue&) = default;
OptionValue& OptionValue::operator=(OptionValue&&) noexcept = default;
OptionValue::~OptionValue() = default;

std::string Range::text() const {
  if (*this == positive) return "positive";
  if (*this == non_negative) return "zero or positive";
  if (std::isfinite(low) && std::isfinite(high) && !open_low && !open_high)
    return fmt::format("within {} … {}", low, high);
  std::string out;
  if (std::isfinite(low)) out = fmt::format("{} {}", open_low ? "above" : "at least", low);
  if (std::isfinite(high))
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", open_high ? "below" : "up to", high);
  return out;
}

namespace {

std::string number_objection(const OptionInfo& o, double x) {
  if (std::isfinite(x) && o.range.contains(x)) return "";
  const std::string range = o.range.text();
  return fmt::format("expected a {}number{}{}{}, got {}", o.type == OptionType::integer ? "whole " : "",
                     o.unit.empty() ? "" : fmt::format(" in {}", o.unit), range.empty() ? "" : ", ", range,
                     x);
}

std::string record_objection(const OptionInfo& o, const OptionValue& record) {
  for (std::size_t i = 0; i < o.fields.size(); ++i)
    if (std::string text = objection(o.fields[i], record.list().at(i)); !text.empty())
      return fmt::format("{}: {}", o.fields[i].key, text);
  return "";
}

}  // namespace

std::string objection(const OptionInfo& o, const OptionValue& value) {
  const auto first = [&](const auto& of_item) -> std::string {
    for (const OptionValue& item : value.list())
      if (std::string text = of_item(item); !text.empty()) return text;
    return "";
  };
  switch (o.type) {
    case OptionType::number:
      return number_objection(o, std::get<double>(value.is));
    case OptionType::integer:
      return number_objection(o, std::get<int>(value.is));
    case OptionType::vector:
      return first([&](const OptionValue& x) { return number_objection(o, std::get<double>(x.is)); });
    case OptionType::records:
      return first([&](const OptionValue& x) { return record_objection(o, x); });
    case OptionType::choice:
      if (std::ranges::find(o.words, value.text()) != o.words.end()) return "";
      return fmt::format("expected one of {}, got {}", fmt::join(o.words, ", "), value.text());
    case OptionType::boolean:
    case OptionType::name:
    case OptionType::names:
      return "";
  }
  return "";
}

std::string to_text(const OptionValue& value) {
  return std::visit(
      [](const auto& x) -> std::string {
        if constexpr (std::is_same_v<decltype(x), const OptionValue::List&>) {
          std::vector<std::string> items;
          for (const OptionValue& item : x) items.push_back(to_text(item));
          return fmt::format("[{}]", fmt::join(items, ", "));
        } else {
          return fmt::format("{}", x);
        }
      },
      value.is);
}

}  // namespace limber::sim
