// limber info: what is in a scene, or in the folder of a run.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "info.h"
#include "scene_arguments.h"
#include "terminal.h"

namespace limber::cli {

namespace {

struct InfoArguments {
  SceneArguments input;
  bool json = false;
};

Info info_of(const SceneArguments& input) {
  if (std::filesystem::is_directory(input.file)) return run_info(input.file);
  const scene::Scene scene = load_scene(input);
  return with_places(scene, [&] { return scene_info(scene); });
}

int info(const InfoArguments& a) {
  const Info info = info_of(a.input);
  out(a.json ? to_json(info) : to_text(info));
  return ExitCode::done;
}

}  // namespace

void add_info(CLI::App& app, int& code) {
  auto a = std::make_shared<InfoArguments>();
  CLI::App* sub = app.add_subcommand("info", "show what is in a scene or in a run");
  sub->add_option("input", a->input.file, "scene file, or folder of a run")->required()->type_name("FILE");
  add_set_option(*sub, a->input.set);
  sub->add_flag("--json", a->json, "as JSON on stdout");
  sub->footer("Examples:\n  limber info arm.yaml --set links=40\n  limber info runs/arm");
  sub->callback([a, &code] { code = info(*a); });
}

}  // namespace limber::cli
