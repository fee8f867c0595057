// What the command line may change about how a scene runs: the options whose descriptions
// (sim/option_table.h) say so, with help, words, units and ranges from there.
#pragma once

#include <map>
#include <string>

#include "app.h"
#include "limber/sim/options.h"

namespace limber::cli {

struct RunOverrides {
  std::string command = "run";               // whose options they are; "reduce"
  std::map<std::string, std::string> given;  // by short key, as written; empty: not given
};
void add_overrides(CLI::App& sub, RunOverrides& overrides);
void add_machine_overrides(CLI::App& sub, RunOverrides& overrides);  // only what results do not depend on

// Sets what is given; the method first. Throws UsageError for values that are out of range and for options
// that the method does not have.
void apply(const RunOverrides& overrides, sim::RunOptions& options);

}  // namespace limber::cli
