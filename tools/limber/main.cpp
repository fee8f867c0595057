// limber: the command. Data on stdout, messages on stderr; exit codes in exit_code.h.
#include <fmt/format.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <CLI/CLI.hpp>
#include <string>

#include "app.h"
#include "errors.h"
#include "limber/scene/suggest.h"
#include "limber/sim/run.h"
#include "signals.h"
#include "terminal.h"

namespace limber::cli {

namespace {

// What is freed stays with the process, and it asks for more in large pieces: reading a large scene makes and
// drops millions of small objects, and a third of its time went into handing pages back and forth.
void keep_memory() {
#ifdef __GLIBC__
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 1 << 24);
  mallopt(M_MMAP_THRESHOLD, 1 << 26);
#endif
}

void build_app(CLI::App& app, int& code) {
  app.name("limber");
  app.description("Simulates structures that bend: sprung linkages, flexures, cables, trees.");
  app.footer(
      "Examples:\n"
      "  limber new arm --template chain      write a first scene, arm.yaml\n"
      "  limber run arm.yaml                  simulate it into runs/arm\n"
      "  limber info runs/arm                 look at the result\n"
      "  limber view arm.yaml                 see it move in a browser, and pull at it\n"
      "  limber reduce arm.yaml --ends hand   the same arm as its hand feels it, in arm.rom\n\n"
      "Exit codes: 0 done, 2 bad input, 3 diverged or did not converge, 4 I/O or memory, 130 interrupted.");
  app.set_version_flag("--version", fmt::format("limber {}", sim::version()), "print the version and leave");
  app.require_subcommand(1);
  for (const auto add : {add_new, add_check, add_info, add_run, add_static, add_view, add_compare, add_reduce,
                         add_resume, add_convert, add_doors, add_schema, add_bench, add_completion})
    add(app, code);
}

// "; did you mean …?" for the first word, when it names no subcommand.
void check_command_word(CLI::App& app, const std::string& word) {
  scene::Suggestion suggestion(word);
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (sub->get_name() == word) return;
    suggestion.offer(sub->get_name());
  }
  throw UsageError(
      fmt::format("unknown command \"{}\"{}\nRun 'limber --help' for the list.", word, suggestion.text()));
}

CLI::App& selected(CLI::App& app) {
  const auto subs = app.get_subcommands();
  return subs.empty() ? app : *subs.back();
}

std::string suggest_option(CLI::App& sub) {
  for (const std::string& word : sub.remaining(true)) {
    if (!word.starts_with("--")) continue;
    scene::Suggestion suggestion(word.substr(0, word.find('=')));
    for (const CLI::Option* option : sub.get_options())
      for (const std::string& name : option->get_lnames()) suggestion.offer("--" + name);
    return suggestion.text();
  }
  return {};
}

void parse(CLI::App& app, int argc, char** argv) {
  if (argc > 1 && argv[1][0] != '-') check_command_word(app, argv[1]);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    out(app.help());
  } catch (const CLI::CallForVersion& e) {
    out(fmt::format("{}\n", e.what()));
  } catch (const CLI::ParseError& e) {
    CLI::App& sub = selected(app);
    const std::string name = &sub == &app ? "limber" : "limber " + sub.get_name();
    throw UsageError(fmt::format("{}{}\nRun '{} --help' for an explanation and an example.", e.what(),
                                 suggest_option(sub), name));
  }
}

}  // namespace
}  // namespace limber::cli

int main(int argc, char** argv) {
  using namespace limber::cli;
  keep_memory();
  install_signal_handlers();
  int code = ExitCode::done;
  code = guarded(
      [&] {
        CLI::App app;
        build_app(app, code);
        parse(app, argc, argv);
      },
      code);
  return flush_output(code);
}
