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

int info(const InfoArguments& a) {
  const Info info =
      std::filesystem::is_directory(a.input.file) ? run_info(a.input.file) : scene_info(load_scene(a.input));
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
