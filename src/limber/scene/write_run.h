// How to run, written as a scene's `run:`.
#pragma once

#include <string>

#include "limber/sim/options.h"

namespace limber::scene {

// "{method: thread, time: 2, …}": all options of the method that runs, and of the others what is not their
// default.
std::string run_text(const sim::RunOptions& run);

}  // namespace limber::scene
