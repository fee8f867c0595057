// One function a subcommand that adds it to the command line. CLI11 is slow to compile: only cmd_*.cpp and
// main.cpp include it.
#pragma once

#include "exit_code.h"

namespace CLI {
class App;
}

namespace limber::cli {

// Each puts its exit code into `code` when the subcommand runs, or throws.
void add_new(CLI::App& app, int& code);
void add_check(CLI::App& app, int& code);
void add_info(CLI::App& app, int& code);
void add_run(CLI::App& app, int& code);
void add_static(CLI::App& app, int& code);
void add_view(CLI::App& app, int& code);
void add_compare(CLI::App& app, int& code);
void add_reduce(CLI::App& app, int& code);
void add_resume(CLI::App& app, int& code);
void add_convert(CLI::App& app, int& code);
void add_schema(CLI::App& app, int& code);
void add_bench(CLI::App& app, int& code);
void add_completion(CLI::App& app, int& code);
void add_doors(CLI::App& app, int& code);  // import, export: by the Python package

}  // namespace limber::cli
