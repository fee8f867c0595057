#include "run_overrides.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <limits>

#include "errors.h"
#include "limber/scene/option_units.h"
#include "limber/sim/method_table.h"
#include "limber/sim/option_table.h"
#include "scene_arguments.h"
#include "terminal.h"

namespace limber::cli {

namespace {

using sim::OptionType;
using sim::OptionValue;

std::string flag_of(const std::string& key) {
  std::string out = "--" + key;
  std::ranges::replace(out, '_', '-');
  return out;
}

// One option of the command line: what it sets in each method.
struct Flag {
  std::string key;  // short
  std::vector<const sim::RunKey*> keys;

  const sim::RunOption& option() const { return keys.front()->option(); }
};

std::vector<Flag> flags_of(const std::string& command) {
  std::vector<Flag> out;
  for (const sim::RunKey& key : sim::run_keys()) {
    if (key.option().command != command) continue;
    const std::string name = key.option().short_key();
    auto found = std::ranges::find(out, name, &Flag::key);
    if (found == out.end()) found = out.insert(out.end(), Flag{name, {}});
    found->keys.push_back(&key);
  }
  return out;
}

// Lines of up to `width` characters; those after the first begin with two blanks.
std::string wrapped(const std::string& text, std::size_t width) {
  std::string out;
  std::size_t line = 0;
  for (const std::string& word : CLI::detail::split(text, ' ')) {
    if (line > 0 && line + 1 + word.size() > width)
      out += "\n  ", line = 2;
    else if (line > 0)
      out += ' ', ++line;
    out += word, line += word.size();
  }
  return out;
}

// "how a step is taken (articulated, thread, rom)"; what differs is said for each, on a line of its own.
std::string help_of(const Flag& flag, const std::string& command) {
  std::vector<std::pair<std::string, std::vector<std::string>>> texts;
  for (const sim::RunKey* key : flag.keys)
    for (const auto& [method, option] : key->of) {
      auto found = std::ranges::find(texts, option->doc, &decltype(texts)::value_type::first);
      if (found == texts.end()) found = texts.insert(texts.end(), {option->doc, {}});
      if (method && !option->machine && command == "run") found->second.emplace_back(to_string(*method));
    }
  std::string out;
  for (const auto& [doc, methods] : texts)
    out += fmt::format(
        "{}{}", out.empty() ? "" : "\n",
        wrapped(methods.empty() ? doc : fmt::format("{} ({})", doc, fmt::join(methods, ", ")), 80));
  return out;
}

std::string value_name(const Flag& flag) {
  const sim::OptionInfo& o = flag.option();
  const bool mixed =
      std::ranges::any_of(flag.keys, [&](const sim::RunKey* key) { return key->option().unit != o.unit; });
  if (mixed) return "VALUE";
  if (o.type == OptionType::names) return "NAME,...";
  if (o.type == OptionType::integer) return "N";
  return o.unit == "s" ? "TIME" : o.unit == "N" ? "FORCE" : o.unit == "N*m" ? "MOMENT" : "NUMBER";
}

std::vector<std::string> words_of(const Flag& flag) {
  if (flag.key == "method") return sim::names_of_methods(false);  // one that only rests runs nothing
  std::vector<std::string> out;
  for (const sim::RunKey* key : flag.keys)
    for (const std::string& word : key->option().words)
      if (std::ranges::find(out, word) == out.end()) out.push_back(word);
  return out;
}

void add_flag(CLI::App& sub, const Flag& flag, RunOverrides& overrides) {
  CLI::Option* option =
      sub.add_option(flag_of(flag.key), overrides.given[flag.key], help_of(flag, overrides.command));
  if (const auto words = words_of(flag); !words.empty())
    option->check(CLI::IsMember(words));
  else
    option->type_name(value_name(flag));
  if (const std::string& was = flag.option().was; !was.empty())
    sub.add_option(flag_of(was), overrides.given[was])->group("");  // hidden
}

// Values under an old word stand under the new one.
std::map<std::string, std::string> renamed(const RunOverrides& overrides, const std::vector<Flag>& flags) {
  std::map<std::string, std::string> given = overrides.given;
  for (const Flag& flag : flags) {
    const auto old = given.find(flag.option().was);
    if (old == given.end() || old->second.empty()) continue;
    const std::string was = flag_of(old->first), now = flag_of(flag.key);
    if (!given[flag.key].empty()) throw UsageError(fmt::format("{} and {} are the same option", was, now));
    message(fmt::format("limber: {} is called {} now; the old word is read in this release only", was, now));
    given[flag.key] = old->second;
  }
  return given;
}

OptionValue parse_number_option(const std::string& flag, const std::string& text, const sim::OptionInfo& o) {
  const double x = parse_quantity(flag, text, scene::dimension_of(o));
  const bool whole = o.type == OptionType::integer;
  const bool fits = std::abs(x) <= std::numeric_limits<int>::max() && std::floor(x) == x;
  if (!std::isfinite(x) || !o.range.contains(x) || (whole && !fits))
    throw UsageError(fmt::format("{} '{}': expected {}{}{}", flag, text,
                                 whole ? "a whole number" : scene::name_of(scene::dimension_of(o)),
                                 o.range.text().empty() ? "" : ", ", o.range.text()));
  if (whole) return {static_cast<int>(x)};
  return {x};
}

OptionValue parse_value(const std::string& flag, const std::string& text, const sim::OptionInfo& o,
                        sim::Method method) {
  if (o.type == OptionType::names) {
    OptionValue::List list;
    for (std::string& name : CLI::detail::split(text, ',')) list.push_back({std::move(name)});
    return {std::move(list)};
  }
  if (o.type != OptionType::choice) return parse_number_option(flag, text, o);
  if (std::ranges::find(o.words, text) == o.words.end())
    throw UsageError(fmt::format("{} {}: method {} has no such one, only {}", flag, text, to_string(method),
                                 fmt::join(o.words, ", ")));
  return {text};
}

[[noreturn]] void refuse(const Flag& flag, sim::Method method) {
  std::vector<std::string> owners;
  for (const sim::RunKey* key : flag.keys)
    for (const auto& of : key->of) owners.emplace_back(to_string(*of.method));
  throw UsageError(fmt::format("{}: method {} has no such option; it belongs to {} (--method)",
                               flag_of(flag.key), to_string(method), fmt::join(owners, ", ")));
}

void apply_flag(const Flag& flag, const std::string& text, sim::RunOptions& options) {
  for (const sim::RunKey* key : flag.keys) {
    if (!key->option().machine && !key->belongs_to(options.method)) continue;
    const sim::RunOption* own = &key->option();
    for (const auto& [method, option] : key->of)
      if (method == options.method) own = option;
    return key->set(options, parse_value(flag_of(flag.key), text, *own, options.method));
  }
  refuse(flag, options.method);
}

}  // namespace

void add_overrides(CLI::App& sub, RunOverrides& overrides) {
  for (const Flag& flag : flags_of(overrides.command)) add_flag(sub, flag, overrides);
}

void add_machine_overrides(CLI::App& sub, RunOverrides& overrides) {
  for (const Flag& flag : flags_of(overrides.command))
    if (flag.option().machine) add_flag(sub, flag, overrides);
}

void apply(const RunOverrides& overrides, sim::RunOptions& options) {
  const std::vector<Flag> flags = flags_of(overrides.command);
  const std::map<std::string, std::string> given = renamed(overrides, flags);
  const auto apply_all = [&](bool method) {
    for (const Flag& flag : flags) {
      const auto text = given.find(flag.key);
      if ((flag.key == "method") == method && text != given.end() && !text->second.empty())
        apply_flag(flag, text->second, options);
    }
  };
  apply_all(true);  // the others belong to it
  apply_all(false);
  // What was given here is named as it was given; the rest has its line in the scene.
  for (const sim::OptionProblem& p : sim::combination_problems(options))
    if (const auto text = given.find(p.key); text != given.end() && !text->second.empty())
      throw UsageError(fmt::format("{} {}: {}", flag_of(p.key), text->second, p.message));
  sim::validate(options);
}

}  // namespace limber::cli
