// limber resume: go on with a run that was interrupted or killed, from its own copy of the scene.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "errors.h"
#include "limber/result/recording.h"
#include "run_overrides.h"
#include "scene_arguments.h"
#include "session.h"
#include "terminal.h"

namespace limber::cli {

namespace {

struct ResumeArguments {
  std::string folder, checkpoint;
  RunOverrides machine;
  SessionOptions session;
};

// A run that came to its end: only its exported files may be missing.
int finish_ended(const ResumeArguments& a, const sim::StoredRun& run) {
  sim::clean_up(a.folder);
  if (!make_exports(a.folder, run.files, true, a.session.quiet)) return ExitCode::interrupted;
  if (!run.report.ok()) {
    message(fmt::format("limber: {}: this run ended at {:g} s: {}", a.folder, run.report.time,
                        run.report.message));
    return ExitCode::failed;
  }
  if (!a.session.quiet)
    message(fmt::format("limber: {}: this run is done: {:g} s, {} frames", a.folder, run.report.time,
                        run.frames));
  return ExitCode::done;
}

int resume(const ResumeArguments& a) {
  sim::StoredRun run = sim::read_run(a.folder);
  if (run.outcome != "running" && run.outcome != sim::to_string(sim::Outcome::interrupted))
    return finish_ended(a, run);
  sim::require_unedited(a.folder, run);

  scene::LoadOptions load;
  load.set = run.set;
  const std::string text = run.sources.empty() ? "" : run.sources.front().text;
  const scene::Scene scene = scene::parse(text, run.scene_file, {}, load, &run.sources);
  sim::RunRequest request;
  request.folder = a.folder;
  request.resume = true;
  request.scene_file = run.scene_file;
  request.sources = run.sources;
  request.set = run.set;
  request.options = run.options;
  apply(a.machine, request.options);
  request.files = run.files;
  if (!a.checkpoint.empty()) request.checkpoint_interval = parse_time("--checkpoint", a.checkpoint);
  return with_places(scene, [&] { return run_session(scene.model, std::move(request), a.session); });
}

}  // namespace

void add_resume(CLI::App& app, int& code) {
  auto a = std::make_shared<ResumeArguments>();
  CLI::App* sub = app.add_subcommand("resume", "go on with a run that was interrupted or killed");
  sub->add_option("run", a->folder, "folder of the run")->required()->type_name("DIR");
  add_machine_overrides(*sub, a->machine);
  sub->add_option("--checkpoint", a->checkpoint, "wall-clock time between checkpoints (default: 30 s)")
      ->type_name("TIME");
  sub->add_flag("--quiet,-q", a->session.quiet, "no progress, no summary");
  sub->add_flag("--json", a->session.json, "the summary as JSON on stdout");
  sub->footer(
      "The result is the same, bit for bit, as if the run had never stopped. A run that is done only gets "
      "the files\n"
      "that are missing.\n\nExample:\n  limber resume runs/arm");
  sub->callback([a, &code] { code = resume(*a); });
}

}  // namespace limber::cli
