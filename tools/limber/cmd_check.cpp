// limber check: all that is wrong with scenes, or their sizes.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "errors.h"
#include "limber/model/model.h"
#include "limber/result/recording.h"
#include "limber/sim/method_table.h"
#include "limber/sim/methods.h"
#include "scene_arguments.h"
#include "terminal.h"

namespace limber::cli {

namespace {

using Json = nlohmann::ordered_json;

struct CheckArguments {
  std::vector<std::string> files, set;
  bool json = false;
};

Json diagnostic_json(const scene::Diagnostic& d) {
  return {{"file", d.file}, {"line", d.line}, {"column", d.column}, {"path", d.path}, {"message", d.message}};
}

// What a method says against a scene, each at its place.
struct MethodCheck {
  Question question;
  std::vector<scene::Diagnostic> against;
};

struct FileCheck {
  std::vector<scene::Diagnostic> diagnostics;
  sim::CompiledSizes sizes;
  std::string unreadable;  // why the file could not be read at all
  std::vector<MethodCheck> methods;
  std::vector<std::string> notes;
  bool runs = false;
};

sim::CompiledSizes sizes_of(const scene::Scene& scene, const sim::Verdict& verdict) {
  if (verdict.sizes) return *verdict.sizes;
  const sim::Sizes s = with_places(scene, [&] { return sim::measure(scene.model, scene.run); });
  return {s.bodies, s.joints, s.dofs};
}

FileCheck check_file(const std::string& file, const std::vector<std::string>& set) {
  FileCheck v;
  try {
    const scene::Scene scene = load_scene({file, set}, true);
    const scene::Places places(scene);
    const std::vector<sim::Verdict> verdicts = sim::methods_for(scene.model, scene.run);
    for (const sim::Verdict& m : verdicts)
      v.methods.push_back({m.question, m.against.empty() ? std::vector<scene::Diagnostic>{}
                                                         : places.of(ModelError(m.against))});
    v.notes = sim::notes(scene.model, scene.run);
    // A scene that only comes to rest is as good as one that runs, unless it names a method that does not
    // take it.
    const auto own = std::find_if(v.methods.begin(), v.methods.end(), [&](const MethodCheck& m) {
      return m.question == sim::question_of(scene.run.method);
    });
    const bool rests = std::any_of(v.methods.begin(), v.methods.end(), [](const MethodCheck& m) {
      return is_static(m.question) && m.against.empty();
    });
    v.runs = own->against.empty() && !is_static(own->question);
    if (v.runs)
      v.sizes = sizes_of(scene, verdicts[own - v.methods.begin()]);
    else if (scene.run.method != sim::RunOptions().method || !rests)
      v.diagnostics = own->against;
  } catch (const scene::SceneError& e) {
    v.diagnostics = e.diagnostics();
  } catch (const result::IoError& e) {
    v.unreadable = e.what();
  }
  return v;
}

// "articulated, adaptive": those that take the scene for a run, or to find its rest.
std::string takers(const FileCheck& v, bool at_rest) {
  std::string names;
  for (const MethodCheck& m : v.methods)
    if (m.against.empty() && is_static(m.question) == at_rest)
      names += (names.empty() ? "" : ", ") + std::string(method_of(m.question));
  return names.empty() ? "no method" : names;
}

void print_methods(const FileCheck& v) {
  out(fmt::format("  run     {}\n  static  {}\n", takers(v, false), takers(v, true)));
  for (const MethodCheck& m : v.methods) {
    if (m.against.empty()) continue;
    const std::size_t more = m.against.size() - 1;
    out(fmt::format("  not {} {}: {}{}\n", is_static(m.question) ? "static by" : "run by",
                    method_of(m.question), scene::to_string(m.against[0]),
                    more == 0 ? "" : fmt::format(" (and {} more)", more)));
  }
  for (const std::string& note : v.notes) out(fmt::format("  warning: {}\n", note));
}

void print(const std::string& file, const FileCheck& v, bool several, bool methods) {
  for (const auto& d : v.diagnostics) message(scene::to_string(d));
  if (!v.unreadable.empty()) message(fmt::format("limber: {}", v.unreadable));
  if (v.diagnostics.empty() && v.unreadable.empty())
    out(fmt::format("{}ok: {}\n", several ? file + ": " : "",
                    v.runs ? describe(v.sizes) : "comes to rest (limber static), and does not run"));
  if (methods && !v.methods.empty()) print_methods(v);
}

Json diagnostic_json(const std::string& file, const FileCheck& v) {
  Json json = {
      {"file", file}, {"ok", v.diagnostics.empty() && v.unreadable.empty()}, {"diagnostics", Json::array()}};
  for (const auto& d : v.diagnostics) json["diagnostics"].push_back(diagnostic_json(d));
  if (!v.unreadable.empty()) json["error"] = v.unreadable;
  for (const MethodCheck& m : v.methods) {
    Json against = Json::array();
    for (const auto& d : m.against) against.push_back(diagnostic_json(d));
    json["methods"].push_back({{"method", method_of(m.question)},
                               {"question", is_static(m.question) ? "static" : "run"},
                               {"applies", m.against.empty()},
                               {"against", against}});
  }
  if (!v.notes.empty()) json["warnings"] = v.notes;
  if (v.runs)
    json["model"] = {{"bodies", v.sizes.bodies}, {"joints", v.sizes.joints}, {"dofs", v.sizes.dofs}};
  return json;
}

int check(const CheckArguments& a) {
  int code = ExitCode::done;
  Json list = Json::array();
  for (const std::string& file : a.files) {
    const FileCheck v = check_file(file, a.set);
    if (!v.diagnostics.empty()) code = std::max<int>(code, ExitCode::bad_input);
    if (!v.unreadable.empty()) code = ExitCode::io_failed;
    if (a.json)
      list.push_back(diagnostic_json(file, v));
    else
      print(file, v, a.files.size() > 1, a.files.size() == 1);
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
      "Every finding is 'file:line:column: what is wrong'. Of one scene it also says which methods take it\n"
      "and why the others do not.\n\nExample:\n  limber check arm.yaml --set "
      "links=40");
  sub->callback([a, &code] { code = check(*a); });
}

}  // namespace limber::cli
