#include "session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "exit_code.h"
#include "limber/export/export.h"
#include "limber/math/stop.h"
#include "limber/result/recording.h"
#include "progress.h"
#include "run_report.h"
#include "scene_arguments.h"
#include "signals.h"
#include "summary.h"
#include "terminal.h"
#include "viewer_page.h"

namespace limber::cli {

namespace fs = std::filesystem;

std::vector<std::string> export_files(bool glb, bool vtk, bool report) {
  std::vector<std::string> files{"probes.csv"};
  if (glb) files.push_back("scene.glb");
  if (vtk) files.push_back("scene.pvd");
  if (report && !viewer_page().empty()) files.push_back("report.html");
  return files;
}

bool make_exports(const fs::path& folder, const std::vector<std::string>& files, bool only_missing,
                  bool quiet) {
  const sim::RunLock lock(folder);
  result::RecordingReader recording(folder / "frames");
  for (const std::string& file : files) {
    if (stop_requested()) return false;
    std::error_code error;
    if (only_missing && fs::exists(folder / file, error)) continue;
    if (!quiet) message(fmt::format("writing {}", (folder / file).string()));
    if (file == "probes.csv") exporting::write_csv(recording, folder / file);
    if (file == "scene.glb") exporting::write_glb(recording, folder / file);
    if (file == "scene.pvd") exporting::write_vtk(recording, folder);
    if (file == "report.html" && !viewer_page().empty()) write_run_report(folder, folder / file);
  }
  return true;
}

namespace {

sim::RunResult simulate(const Model& model, sim::RunRequest& request, bool quiet) {
  ProgressDisplay display(quiet);
  fs::path folder;
  request.progress = [&](const sim::Progress& p) { display.show(p); };
  request.note = [&](const std::string& text) { display.say(fmt::format("limber: {}", text)); };
  request.started = [&](const fs::path& f) {
    folder = f;
    if (!quiet)
      display.say(fmt::format("limber: {} {} into {}", request.resume ? "going on with" : "running",
                              request.scene_file, f.string()));
  };
  try {
    const GracefulStop graceful;
    return sim::run(model, request);
  } catch (const result::OtherRun&) {  // room on the disk would not help
    throw;
  } catch (const result::IoError&) {
    if (!folder.empty())
      display.say(
          fmt::format("limber: stopped; what was recorded stays, and 'limber resume {}' goes on from it",
                      folder.string()));
    throw;
  }
}

int exit_code(sim::Outcome outcome) {
  switch (outcome) {
    case sim::Outcome::done:
      return ExitCode::done;
    case sim::Outcome::interrupted:
      return ExitCode::interrupted;
    case sim::Outcome::diverged:
    case sim::Outcome::not_converged:
      return ExitCode::failed;
  }
  return ExitCode::failed;
}

}  // namespace

int run_session(const Model& model, sim::RunRequest request, const SessionOptions& options) {
  const sim::RunResult result = simulate(model, request, options.quiet);
  int code = exit_code(result.outcome);
  const bool exported = result.outcome != sim::Outcome::interrupted &&
                        make_exports(result.folder, request.files, false, options.quiet);
  if (!exported) code = ExitCode::interrupted;
  if (options.json)
    out(summary_json(result, request));
  else if (!options.quiet)
    out(summary_text(result, request, exported));
  if (!result.report.ok())
    message(fmt::format("{} {}", styled("limber:", Style::red, STDERR_FILENO), failure_text(result)));
  if (!exported)
    message(fmt::format("limber: interrupted; 'limber resume {}' goes on", result.folder.string()));
  return code;
}

}  // namespace limber::cli
