#include "limber/sim/option_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/sim/method_table.h"

namespace limber::sim {
namespace {

OptionGroup general_options() {
  const OptionTable<RunOptions>& table = options_of<RunOptions>();
  return {{}, "", table.about, table.example, table.options};
}

RunKey& key_for(std::vector<RunKey>& keys, const std::string& section, const RunOption& option) {
  const auto same = [&](const RunKey& k) { return k.section == section && k.option().key == option.key; };
  const auto found = std::ranges::find_if(keys, same);
  if (found != keys.end()) return *found;
  return keys.emplace_back(RunKey{section, {}});
}

}  // namespace

const std::vector<OptionGroup>& option_groups() {
  static const std::vector<OptionGroup> groups = [] {
    std::vector<OptionGroup> all{general_options()};
    for (const MethodInfo& m : method_table())
      if (m.options) all.push_back(m.options(m.method));
    return all;
  }();
  return groups;
}

const RunOption* find_option(Method method, std::string_view key) {
  for (const OptionGroup& group : option_groups())
    for (const RunOption& option : group.options)
      if (option.key == key && (!group.method || group.method == method)) return &option;
  return nullptr;
}

const std::vector<RunKey>& run_keys() {
  static const std::vector<RunKey> keys = [] {
    std::vector<RunKey> all;
    for (const OptionGroup& group : option_groups())
      for (const RunOption& option : group.options)
        key_for(all, option.machine ? "" : group.section, option).of.push_back({group.method, &option});
    return all;
  }();
  return keys;
}

bool RunKey::belongs_to(Method method) const {
  return std::ranges::any_of(of, [&](const Of& o) { return !o.method || o.method == method; });
}

void RunKey::set(RunOptions& options, const OptionValue& value) const {
  for (const Of& o : of) o.option->set(options, value);
}

std::optional<OptionValue> RunKey::to_write(const RunOptions& options) const {
  bool all_default = true, all_equal = true;
  OptionValue value = of.front().option->get(options);
  for (const Of& o : of) {
    const OptionValue x = o.option->get(options);
    all_default = all_default && x == o.option->initial;
    all_equal = all_equal && x == of.front().option->get(options);
    if (o.method == options.method) value = x;
  }
  if (all_default && (!all_equal || !belongs_to(options.method))) return std::nullopt;
  return value;
}

std::string OptionProblem::text() const {
  return fmt::format("{}{}{}: {}", section, section.empty() ? "" : ".", key, message);
}

std::vector<Problem> as_problems(const std::vector<OptionProblem>& list) {
  std::vector<Problem> out;
  for (const OptionProblem& p : list)
    out.push_back(
        {"run", "", fmt::format("{}{}{}", p.section, p.section.empty() ? "" : ".", p.key), p.message});
  return out;
}

std::vector<OptionProblem> range_problems(const RunOptions& options) {
  std::vector<OptionProblem> out;
  for (const RunKey& key : run_keys())
    for (const RunKey::Of& o : key.of)
      if (std::string text = objection(*o.option, o.option->get(options)); !text.empty())
        out.push_back({key.section, o.option->key, std::move(text)});
  return out;
}

std::vector<OptionProblem> combination_problems(const RunOptions& o) {
  constexpr double max_steps = 9e15;  // below 2^53: i * step stays exact in i
  std::vector<OptionProblem> out;
  const auto refuse = [&](bool wrong, const char* section, const char* key, std::string message) {
    if (wrong) out.push_back({section, key, std::move(message)});
  };
  refuse(o.time > 0 && o.step > o.time * (1 + 1e-9), "", "step", "is longer than the whole run");
  refuse(!(o.time / o.step < max_steps), "", "step", "expected fewer than 9e15 steps in all");
  constexpr std::int64_t most_frames = 100'000;  // each is a state in memory until the step is over
  refuse(o.frames_per_step() > most_frames, "", "frame", "expected at most 100000 frames in a step");
  refuse(o.from_static && !info_of(o.method).rest, "", "from",
         fmt::format("method {} finds no rest: it starts as written", to_string(o.method)));
  refuse(o.thread.error > 0 && o.thread.levels == 0, "thread", "error",
         "expected `levels` of 1 or more with it");
  refuse(o.thread.error > 0 && o.thread.element != thread::Element::log, "thread", "error",
         "expected `element: log` with it");
  refuse(o.method == Method::rom && o.rom.ends.empty(), "", "method",
         "method rom needs to know its end effectors: rom: {ends: [...]}");
  return out;
}

}  // namespace limber::sim
