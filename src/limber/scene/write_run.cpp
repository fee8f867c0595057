#include "limber/scene/write_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "limber/sim/option_table.h"

namespace limber::scene {

namespace {

using Entries = std::vector<std::string>;  // "key: value"

std::string mapping_text(const Entries& entries) { return fmt::format("{{{}}}", fmt::join(entries, ", ")); }

// Every double to its last bit.
std::string option_text(const sim::OptionInfo& o, const sim::OptionValue& value) {
  if (o.type != sim::OptionType::records) return sim::to_text(value);
  std::vector<std::string> items;
  for (const sim::OptionValue& record : value.list()) {
    Entries entries;
    for (std::size_t i = 0; i < o.fields.size(); ++i)
      entries.push_back(fmt::format("{}: {}", o.fields[i].key, option_text(o.fields[i], record.list()[i])));
    items.push_back(mapping_text(entries));
  }
  return fmt::format("[{}]", fmt::join(items, ", "));
}

// Adds "a.b" as {a: {b: …}}; what has one outer key stands together in the table.
class Mapping {
 public:
  void add(const std::string& key, const std::string& value) {
    const auto dot = key.find('.');
    if (dot == std::string::npos) return entries_.push_back(fmt::format("{}: {}", key, value));
    const std::string outer = key.substr(0, dot);
    if (outer != outer_) close(), outer_ = outer;
    inner_.push_back(fmt::format("{}: {}", key.substr(dot + 1), value));
  }
  bool empty() const { return entries_.empty() && inner_.empty(); }
  std::string text() {
    close();
    return mapping_text(entries_);
  }

 private:
  void close() {
    if (!inner_.empty()) entries_.push_back(fmt::format("{}: {}", outer_, mapping_text(inner_)));
    inner_.clear(), outer_.clear();
  }
  Entries entries_, inner_;
  std::string outer_;
};

Mapping section_text(const std::string& section, const sim::RunOptions& run) {
  const auto of_section = [&](const sim::RunKey& key) { return key.section == section; };
  const bool any = std::ranges::any_of(sim::run_keys(), [&](const sim::RunKey& key) {
    return of_section(key) && key.to_write(run).has_value();
  });
  Mapping out;
  for (const sim::RunKey& key : sim::run_keys()) {
    if (!any || !of_section(key)) continue;
    auto value = key.to_write(run);
    if (!value && key.option().required) value = key.option().get(run);
    if (value) out.add(key.option().key, option_text(key.option(), *value));
  }
  return out;
}

}  // namespace

std::string run_text(const sim::RunOptions& run) {
  Mapping out = section_text("", run);
  for (const sim::OptionGroup& group : sim::option_groups()) {
    if (group.section.empty()) continue;
    Mapping section = section_text(group.section, run);
    if (!section.empty()) out.add(group.section, section.text());
  }
  return out.text();
}

}  // namespace limber::scene
