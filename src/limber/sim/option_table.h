// All options of a run: those of every run, then those of each method, as their structs describe them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "limber/sim/option.h"
#include "limber/sim/options.h"

namespace limber::sim {

using RunOption = Option<RunOptions>;

struct OptionGroup {
  std::optional<Method> method;  // whose; none: of every run
  std::string section;           // of scenes: run.SECTION; "": they stand in `run` itself
  std::string about, example;
  std::vector<RunOption> options;
};
const std::vector<OptionGroup>& option_groups();

// Of the method, or of every run; null: it has no such option.
const RunOption* find_option(Method method, std::string_view key);

// A key of `run:` in scenes. Where the options of several methods stand in one mapping and have one name, one
// key sets them all; what is about the machine is one key for all methods.
struct RunKey {
  std::string section;
  struct Of {
    std::optional<Method> method;  // none: of every run
    const RunOption* option;
  };
  std::vector<Of> of;  // at least one

  const RunOption& option() const { return *of.front().option; }
  bool belongs_to(Method method) const;
  void set(RunOptions& options, const OptionValue& value) const;
  // What a scene has to say for these options; nullopt: nothing, its defaults are these. Everything that is
  // not its default is said, and everything about the method that runs.
  std::optional<OptionValue> to_write(const RunOptions& options) const;
};
const std::vector<RunKey>& run_keys();

struct OptionProblem {
  std::string section, key, message;
  std::string text() const;  // "thread.bend: expected …"
};
// Values that are out of their ranges, of all methods.
std::vector<OptionProblem> range_problems(const RunOptions& options);
// Values that do not go together.
std::vector<OptionProblem> combination_problems(const RunOptions& options);
std::vector<Problem> as_problems(const std::vector<OptionProblem>& list);  // of `run`, at their keys

}  // namespace limber::sim
