// Options of rests by name.
#pragma once

#include <nanobind/nanobind.h>

#include "limber/sim/equilibrium.h"

namespace limber::python {

// {"at": "2 s", "method": "chain", "load_steps": 4, …}. Throws std::invalid_argument.
sim::StaticOptions static_options(const nanobind::dict& given);

}  // namespace limber::python
