// Commands that the Python package has: everything after their name is handed to it, and it takes this
// process's place, so signals and exit codes are its own.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "app.h"
#include "terminal.h"

namespace limber::cli {

namespace {

// A line for each; python/limber/__main__.py has the same names.
struct Door {
  const char* name;
  const char* about;
};
constexpr Door doors[] = {
    {"import", "make a scene of a robot's file: MJCF, URDF or SDF (by the Python package)"},
    {"export", "write a scene as MJCF or URDF, for comparing (by the Python package)"},
};

// Not from the folder at hand, which may hold anything. 4: a resource is missing (exit_code.h).
constexpr const char* enter = R"(import sys
sys.path[:] = [p for p in sys.path if p]
try:
    from limber.__main__ import main
except ImportError as e:
    print(f"limber {sys.argv[1]}: this needs the Python package, which {sys.executable} does not have ({e}):"
          " pip install 'limber-sim[import]' (or `make wheel`), and LIMBER_PYTHON=… if that is another Python",
          file=sys.stderr)
    sys.exit(4)
main(sys.argv[1:])
)";

int pass(const char* name, const std::vector<std::string>& words) {
  const char* chosen = std::getenv("LIMBER_PYTHON");
  const std::string python = chosen && *chosen ? chosen : "python3";
  std::vector<std::string> all{python, "-c", enter, name};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> argv;
  for (std::string& word : all) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execvp(python.c_str(), argv.data());
  message(fmt::format(
      "limber {}: this needs Python, and '{}' cannot be started ({}); LIMBER_PYTHON names another", name,
      python, std::strerror(errno)));
  return ExitCode::io_failed;
}

}  // namespace

void add_doors(CLI::App& app, int& code) {
  for (const Door& door : doors) {
    CLI::App* sub = app.add_subcommand(door.name, door.about);
    sub->set_help_flag();
    sub->prefix_command();
    sub->callback([sub, &door, &code] { code = pass(door.name, sub->remaining()); });
  }
}

}  // namespace limber::cli
