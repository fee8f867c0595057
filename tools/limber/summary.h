// What to say when a run has ended.
#pragma once

#include <string>

#include "limber/result/recording.h"
#include "limber/sim/run.h"
#include "terminal.h"

namespace limber::cli {

std::string summary_text(const sim::RunResult& result, const sim::RunRequest& request, bool exported);
std::string summary_json(const sim::RunResult& result, const sim::RunRequest& request);
std::string failure_text(const sim::RunResult& result);  // of a run that diverged or did not converge

// First and last value of every recorded energy: "total_energy", "1.2 J, then 1.1 J (-8.3 %)".
struct EnergyChange {
  std::string name;
  double first = 0, last = 0;  // [J]
};
std::vector<EnergyChange> energy_changes(const std::filesystem::path& frames);
std::string describe(const EnergyChange& change);

// The files of a run and what opens them.
Rows describe_files(const std::filesystem::path& folder);

}  // namespace limber::cli
