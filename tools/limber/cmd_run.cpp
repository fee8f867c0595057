// limber run: simulate a scene into a folder.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "errors.h"
#include "run_overrides.h"
#include "scene_arguments.h"
#include "session.h"

namespace limber::cli {

namespace {

struct RunArguments {
  SceneArguments scene;
  RunOverrides overrides;
  std::string out, checkpoint;
  bool force = false, no_vtk = false, no_glb = false, no_report = false;
  SessionOptions session;
};

int run_scene(const RunArguments& a) {
  const scene::Scene scene = load_scene(a.scene);
  sim::RunRequest request;
  request.options = scene.run;
  with_places(scene, [&] { apply(a.overrides, request.options); });
  request.next_free_name = a.out.empty();
  request.folder = a.out.empty() ? std::filesystem::path("runs") / std::filesystem::path(a.scene.file).stem()
                                 : std::filesystem::path(a.out);
  request.force = a.force;
  request.scene_file = scene.sources.front().path;
  request.sources = scene.sources;
  request.set = parse_set(a.scene.set);
  request.files = export_files(!a.no_glb, !a.no_vtk, !a.no_report);
  if (!a.checkpoint.empty()) request.checkpoint_interval = parse_time("--checkpoint", a.checkpoint);
  return with_places(scene, [&] { return run_session(scene.model, std::move(request), a.session); });
}

}  // namespace

void add_run(CLI::App& app, int& code) {
  auto a = std::make_shared<RunArguments>();
  CLI::App* sub = app.add_subcommand("run", "simulate a scene into a folder");
  sub->add_option("scene", a->scene.file, "scene file")->required()->type_name("FILE");
  add_set_option(*sub, a->scene.set);
  add_overrides(*sub, a->overrides);
  sub->add_option("--out", a->out, "folder to write (default: runs/NAME, then runs/NAME-2, …)")
      ->type_name("DIR");
  sub->add_flag("--force", a->force, "replace the run that is in the folder");
  sub->add_option("--checkpoint", a->checkpoint, "wall-clock time between checkpoints (default: 30 s)")
      ->type_name("TIME");
  sub->add_flag("--no-vtk", a->no_vtk, "no files for ParaView");
  sub->add_flag("--no-glb", a->no_glb, "no scene.glb");
  sub->add_flag("--no-report", a->no_report, "no report.html");
  sub->add_flag("--quiet,-q", a->session.quiet, "no progress, no summary");
  sub->add_flag("--json", a->session.json, "the summary as JSON on stdout");
  sub->footer(
      "Ctrl-C saves and leaves; 'limber resume DIR' goes on, also after a crash.\n\n"
      "Example:\n  limber run arm.yaml --set links=40 --time '5 s' --step '2 ms' --out out/arm");
  sub->callback([a, &code] { code = run_scene(*a); });
}

}  // namespace limber::cli
