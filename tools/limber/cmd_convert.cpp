// limber convert: a run to files for other programs, a scene to a scene without short forms.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "errors.h"
#include "limber/export/export.h"
#include "limber/result/recording.h"
#include "scene_arguments.h"
#include "terminal.h"

namespace limber::cli {

namespace {

namespace fs = std::filesystem;

struct ConvertArguments {
  std::string input, to, out;
  std::vector<std::string> set;
};

int convert_scene(const ConvertArguments& a) {
  if (a.to != "yaml")
    throw UsageError(
        fmt::format("--to {}: '{}' is a scene; run it first, then convert its folder", a.to, a.input));
  const scene::Scene scene = load_scene({a.input, a.set});
  const std::string text = scene::write_yaml(scene.model, scene.run);
  if (a.out.empty() || a.out == "-") {
    out(text);
  } else {
    result::write_atomically(a.out, text);
    message(fmt::format("wrote {}", a.out));
  }
  return ExitCode::done;
}

int convert_run(const ConvertArguments& a) {
  if (a.to == "yaml")
    throw UsageError(fmt::format("--to yaml: '{}' is a run; the scene it ran is {}", a.input,
                                 (fs::path(a.input) / "scene").string()));
  result::RecordingReader recording(fs::path(a.input) / "frames");
  if (recording.torn())
    message("limber: the last frame is not complete and is left out (a running or killed run)");
  const fs::path folder = a.input;
  fs::path file = a.out;
  if (a.to == "csv") exporting::write_csv(recording, file = a.out.empty() ? folder / "probes.csv" : file);
  if (a.to == "glb") exporting::write_glb(recording, file = a.out.empty() ? folder / "scene.glb" : file);
  if (a.to == "vtk") {
    std::error_code error;
    if (!a.out.empty()) fs::create_directories(a.out, error);
    exporting::write_vtk(recording, a.out.empty() ? folder : file);
    file = (a.out.empty() ? folder : file) / "scene.pvd";
  }
  message(fmt::format("wrote {} ({} frames)", file.string(), recording.frame_count()));
  return ExitCode::done;
}

}  // namespace

void add_convert(CLI::App& app, int& code) {
  auto a = std::make_shared<ConvertArguments>();
  CLI::App* sub =
      app.add_subcommand("convert", "make files for other programs from a run, or write a scene out in full");
  sub->add_option("input", a->input, "folder of a run, or a scene file")->required()->type_name("FILE");
  sub->add_option("--to", a->to, "format: csv, glb or vtk from a run, yaml from a scene")
      ->required()
      ->check(CLI::IsMember({"csv", "glb", "vtk", "yaml"}));
  sub->add_option("--out", a->out, "file to write (vtk: folder)")->type_name("FILE");
  add_set_option(*sub, a->set);
  sub->footer(
      "Examples:\n  limber convert runs/arm --to csv --out arm.csv\n  limber convert arm.yaml --to yaml > "
      "full.yaml");
  sub->callback([a, &code] { code = fs::is_directory(a->input) ? convert_run(*a) : convert_scene(*a); });
}

}  // namespace limber::cli
