// run.json: what ran and how it went. Everything outside "wall_clock" is the same for every run of the same
// scene with the same options, interrupted or not, on any number of threads.
#pragma once

#include <string>

#include "limber/sim/run.h"

namespace limber::sim {

// The text of run.json; `outcome` is "running" until the end.
std::string run_json(const StoredRun& run);
// Throws std::invalid_argument. Leaves the texts of the sources empty.
StoredRun parse_run_json(const std::string& text);

std::string sources_hash(const StoredRun& run);

// What decides the results: sources, parameters, options, version.
std::uint64_t run_hash(const StoredRun& run);

}  // namespace limber::sim
