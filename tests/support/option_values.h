// Values for every option that a description allows, and that it does not: tests are generated from
// descriptions.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "limber/sim/option_table.h"

namespace limber::sim::testing {

// An allowed value that is not the default.
inline OptionValue other_value(const OptionInfo& o) {
  switch (o.type) {
    case OptionType::boolean:
      return {!std::get<bool>(o.initial.is)};
    case OptionType::choice:
      return {o.words[0] == o.initial.text() ? o.words[1] : o.words[0]};
    case OptionType::name:
      return {std::string("hand")};
    case OptionType::names:
      return {OptionValue::List{{std::string("hand")}, {std::string("arm.2")}}};
    case OptionType::vector:
      return {OptionValue::List{{0.1}, {-2e-7}, {1.0 / 3}}};
    case OptionType::integer: {
      const int n = std::get<int>(o.initial.is);
      return {o.range.contains(n + 1) ? n + 1 : n - 1};
    }
    case OptionType::number: {
      const double x = std::get<double>(o.initial.is);
      for (const double y : {x * (4.0 / 3), x / 3, 1.0 / 7})
        if (y != x && o.range.contains(y)) return {y};
      return {};
    }
    case OptionType::records: {
      OptionValue::List record;
      for (const OptionInfo& field : o.fields) record.push_back(other_value(field));
      return {OptionValue::List{{record}, {record}}};
    }
  }
  return {};
}

// Just inside and just outside of each bound that the description gives.
struct Bound {
  OptionValue inside, outside;
};
inline std::vector<Bound> bounds_of(const OptionInfo& o) {
  std::vector<Bound> out;
  const auto add = [&](double bound, bool open, double away) {
    if (!std::isfinite(bound)) return;
    if (o.type == OptionType::integer) {
      const int n = static_cast<int>(bound), step = away > 0 ? 1 : -1;
      out.push_back({{open ? n - step : n}, {open ? n : n + step}});
      return;
    }
    const double beyond = std::nextafter(bound, away), within = std::nextafter(bound, -away);
    out.push_back({{open ? within : bound}, {open ? bound : beyond}});
  };
  if (o.type != OptionType::number && o.type != OptionType::integer) return out;
  add(o.range.low, o.range.open_low, -HUGE_VAL);
  add(o.range.high, o.range.open_high, HUGE_VAL);
  return out;
}

// Options in which this one may be set to anything allowed: its method runs, and what it needs beside it is
// there.
inline RunOptions room_for(const std::optional<Method>& method, const OptionInfo& o) {
  RunOptions options;
  if (method) options.method = *method;
  options.rom.ends = {"hand"};
  if (method == Method::thread && o.key == "error") options.thread.levels = 2;
  if (o.key == "step") options.time = 1e9;
  return options;
}

}  // namespace limber::sim::testing
