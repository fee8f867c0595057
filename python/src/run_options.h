// Options of runs by name, as scenes and the command line have them (sim/option_table.h).
#pragma once

#include <nanobind/nanobind.h>

#include "limber/sim/options.h"

namespace limber::python {

// {"time": 3, "step": "5 ms", "method": "rom", "ends": ["a", "b"]}: numbers are SI, texts may carry units.
// Keys are short ones; those of the method that runs go before others. Throws std::invalid_argument.
void apply(const nanobind::dict& given, sim::RunOptions& options);

nanobind::dict to_dict(const sim::RunOptions& options);  // of every run and of its method

// A number, or a text with a unit of that dimension ("m", "N", …; "": a pure number).
double number_of(nanobind::handle value, const char* name, const char* si);

}  // namespace limber::python
