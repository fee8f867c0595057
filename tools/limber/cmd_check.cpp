// limber check: all that is wrong with scenes, or their sizes.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "errors.h"
#include "limber/model/model.h"
#include "limber/result/recording.h"
#include "scene_arguments.h"
#include "terminal.h"

namespace limber::cli {

namespace {

using Json = nlohmann::ordered_json;

struct CheckArguments {
  std::vector<std::string> files, set;
  bool json = false;
};

Json to_json(const scene::Diagnostic& d) {
  return {{"file", d.file}, {"line", d.line}, {"column", d.column}, {"path", d.path}, {"message", d.message}};
}

struct Verdict {
  std::vector<scene::Diagnostic> diagnostics;
  sim::Sizes sizes;
  std::string unreadable;  // why the file could not be read at all
};

Verdict check_file(const std::string& file, const std::vector<std::string>& set) {
  Verdict v;
  try {
    const scene::Scene scene = load_scene({file, set});
    v.sizes = with_places(scene, [&] { return sim::measure(scene.model, scene.run); });
  } catch (const scene::SceneError& e) {
    v.diagnostics = e.diagnostics();
  } catch (const result::IoError& e) {
    v.unreadable = e.what();
  }
  return v;
}

void print(const std::string& file, const Verdict& v, bool several) {
  for (const auto& d : v.diagnostics) message(scene::to_string(d));
  if (!v.unreadable.empty()) message(fmt::format("limber: {}", v.unreadable));
  if (v.diagnostics.empty() && v.unreadable.empty())
    out(fmt::format("{}ok: {}\n", several ? file + ": " : "", describe(v.sizes)));
}

Json to_json(const std::string& file, const Verdict& v) {
  Json json = {
      {"file", file}, {"ok", v.diagnostics.empty() && v.unreadable.empty()}, {"diagnostics", Json::array()}};
  for (const auto& d : v.diagnostics) json["diagnostics"].push_back(to_json(d));
  if (!v.unreadable.empty()) json["error"] = v.unreadable;
  if (json["ok"] == true)
    json["model"] = {{"bodies", v.sizes.bodies}, {"joints", v.sizes.joints}, {"dofs", v.sizes.dofs}};
  return json;
}

int check(const CheckArguments& a) {
  int code = ExitCode::done;
  Json list = Json::array();
  for (const std::string& file : a.files) {
    const Verdict v = check_file(file, a.set);
    if (!v.diagnostics.empty()) code = std::max<int>(code, ExitCode::bad_input);
    if (!v.unreadable.empty()) code = ExitCode::io_failed;
    if (a.json)
      list.push_back(to_json(file, v));
    else
      print(file, v, a.files.size() > 1);
  }
  if (a.json)
    out(Json{{"ok", code == ExitCode::done}, {"files", list}}.dump(2, ' ', false,
                                                                   Json::error_handler_t::replace) +
        "\n");
  return code;
}

}  // namespace

void add_check(CLI::App& app, int& code) {
  auto a = std::make_shared<CheckArguments>();
  CLI::App* sub = app.add_subcommand("check", "look for errors in scenes without running them");
  sub->add_option("scenes", a->files, "scene files")->required()->type_name("FILE");
  add_set_option(*sub, a->set);
  sub->add_flag("--json", a->json, "the findings as JSON on stdout");
  sub->footer(
      "Every finding is 'file:line:column: what is wrong'.\n\nExample:\n  limber check arm.yaml --set "
      "links=40");
  sub->callback([a, &code] { code = check(*a); });
}

}  // namespace limber::cli
