// The options of a run in run.json: those of every run and those of its method, each by its key. Keys that an
// older run does not have keep their defaults; what is about the machine stands in "wall_clock".
#pragma once

#include <nlohmann/json.hpp>

#include "limber/sim/options.h"

namespace limber::sim {

nlohmann::ordered_json options_json(const RunOptions& options);
// Throws std::invalid_argument and nlohmann's exceptions.
RunOptions parse_options(const nlohmann::ordered_json& json);

}  // namespace limber::sim
