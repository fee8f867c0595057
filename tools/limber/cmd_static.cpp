// limber static: where a scene comes to rest under its loads, whether it would stay there, and what its
// joints, springs and loops carry.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>

#include "errors.h"
#include "limber/articulated/statics.h"
#include "limber/result/files.h"
#include "static_thread.h"
#include "scene_arguments.h"
#include "terminal.h"

namespace limber::cli {
namespace {

using Json = nlohmann::ordered_json;

struct StaticArguments {
  SceneArguments scene;
  articulated::StaticOptions options;
  std::string at, write, method;
  bool json = false, all = false;
};

Json to_json(const Vec3& v) { return Json::array({v.x(), v.y(), v.z()}); }
std::string to_text(const Vec3& v) { return fmt::format("({:.6g}, {:.6g}, {:.6g})", v.x(), v.y(), v.z()); }

struct Found {
  articulated::StaticResult result;
  articulated::State state;
  result::Snapshot before, after;
};

Json report(const articulated::System& system, const Found& f) {
  const auto& r = f.result;
  Json json = {{"ok", r.report.ok()},
               {"stable", r.stable()},
               {"iterations", r.report.iterations},
               {"residual", r.residual},
               {"loop_gap", r.gap},
               {"negative_directions", r.negative},
               {"least_pivot", r.least_pivot},
               {"redundant_rows", r.redundant_rows},
               {"message", r.report.message}};
  if (!r.report.ok()) return json;
  json["energy"] = {{"gravity", r.energy.gravity}, {"elastic", r.energy.elastic}};
  json["bodies"] = Json::object();
  const auto& frames = system.layout().frames;
  for (std::size_t i = 0; i < frames.size(); ++i)
    json["bodies"][frames[i].name] = {
        {"position", to_json(f.after.positions[i])},
        {"quaternion", Json::array({f.after.rotations[i].w(), f.after.rotations[i].x(),
                                    f.after.rotations[i].y(), f.after.rotations[i].z()})},
        {"moved", to_json(f.after.positions[i] - f.before.positions[i])}};
  json["probes"] = Json::object();
  const auto& scalars = system.layout().scalars;
  for (std::size_t i = 0; i < scalars.size(); ++i) json["probes"][scalars[i].name] = f.after.scalars[i];
  json["springs"] = Json::object();
  for (const auto& [name, length, tension] : articulated::spring_tensions(system, f.state))
    json["springs"][name] = {{"length", length}, {"tension", tension}};
  json["joints"] = Json::object();
  for (const auto& j : r.joints)
    json["joints"][j.joint] = {{"at", to_json(j.at)},
                               {"force", to_json(j.force)},
                               {"moment", to_json(j.moment)},
                               {"torque", j.torque}};
  json["loops"] = Json::object();
  for (const auto& l : r.loops)
    json["loops"][l.loop] = {
        {"at", to_json(l.at)}, {"force", to_json(l.force)}, {"moment", to_json(l.moment)}};
  json["modes"] = Json::array();
  for (const auto& m : r.modes)
    json["modes"].push_back({{"eigenvalue", m.eigenvalue}, {"moves", m.moves}, {"shape", m.shape}});
  return json;
}

void print(const articulated::System& system, const Found& f, bool all) {
  const auto& r = f.result;
  out(fmt::format("\n{}\n\n", styled(system.layout().title, Style::bold, 1)));
  out(fmt::format("  equilibrium  {} iterations, {:.1e} of the acting forces left over{}\n",
                  r.report.iterations, r.residual,
                  r.loops.empty() ? "" : fmt::format(", loops open by {:.1e} of the size", r.gap)));
  if (r.negative == 0)
    out("  stability    stable\n");
  else
    out(fmt::format("  stability    unstable: {} direction{} in which it would leave\n", r.negative,
                    r.negative == 1 ? "" : "s"));
  if (r.least_pivot < 1e-6)
    out(fmt::format("  warning      a pivot is {:.1e} of its size: at or near a limit point\n",
                    r.least_pivot));
  for (const auto& m : r.modes) {
    if (m.eigenvalue >= 0)
      out(fmt::format("  mode         {:.6g} Hz, moves \"{}\" most\n",
                      std::sqrt(m.eigenvalue) / (2 * std::numbers::pi), m.moves));
    else
      out(fmt::format("  mode         leaves with a rate of {:.6g} 1/s, moves \"{}\" most\n",
                      std::sqrt(-m.eigenvalue), m.moves));
  }
  const std::size_t most = all ? SIZE_MAX : 12;
  const auto rest = [&](std::size_t n, const char* what) {
    if (n > most) out(fmt::format("  … {} more {}: --all or --json\n", n - most, what));
  };
  const auto& scalars = system.layout().scalars;
  out("\n  probe                              value\n");
  for (std::size_t i = 0; i < scalars.size(); ++i)
    if (!scalars[i].name.starts_with("energy.") || all)
      out(fmt::format("  {:<32}  {:>14.8g} {}\n", scalars[i].name, f.after.scalars[i], scalars[i].unit));
  std::size_t largest = 0;
  for (std::size_t i = 0; i < f.after.positions.size(); ++i)
    if ((f.after.positions[i] - f.before.positions[i]).norm() >
        (f.after.positions[largest] - f.before.positions[largest]).norm())
      largest = i;
  if (!f.after.positions.empty())
    out(fmt::format("  moved most: {} by {} m\n", system.layout().frames[largest].name,
                    to_text(f.after.positions[largest] - f.before.positions[largest])));
  const auto springs = articulated::spring_tensions(system, f.state);
  if (!springs.empty()) out("\n  spring                       length [m]   tension [N]\n");
  for (std::size_t i = 0; i < std::min(most, springs.size()); ++i)
    out(fmt::format("  {:<26}  {:>11.6g}  {:>12.6g}\n", springs[i].name, springs[i].length,
                    springs[i].tension));
  rest(springs.size(), "springs");
  if (!r.loops.empty()) out("\n  loop                      force [N]; moment [N m]\n");
  for (std::size_t i = 0; i < std::min(most, r.loops.size()); ++i)
    out(fmt::format("  {:<24}  {}; {}\n", r.loops[i].loop, to_text(r.loops[i].force),
                    to_text(r.loops[i].moment)));
  rest(r.loops.size(), "loops");
  out("\n  joint                     force [N]; moment [N m] on what hangs on it\n");
  for (std::size_t i = 0; i < std::min(most, r.joints.size()); ++i)
    out(fmt::format("  {:<24}  {}; {}\n", r.joints[i].joint, to_text(r.joints[i].force),
                    to_text(r.joints[i].moment)));
  rest(r.joints.size(), "joints");
  out("\n");
}

int solve(const StaticArguments& a) {
  const scene::Scene scene = load_scene(a.scene);
  if (a.method == "thread" || (a.method.empty() && scene.run.method == sim::Method::thread))
    return solve_threads(scene, {a.at.empty() ? 0 : parse_time("--at", a.at), a.options.load_steps, a.json, a.all, a.write});
  Found f;
  try {
    const articulated::System system = articulated::compile(scene.model, scene.run.articulated);
    f.state = system.rest();
    if (!a.at.empty()) f.state.t = parse_time("--at", a.at);
    articulated::Workspace w(system);
    articulated::observe(system, f.state, w, f.before);
    f.result = articulated::solve_static(system, f.state, w, a.options);
    articulated::observe(system, f.state, w, f.after);
    const std::string json =
        a.json || !a.write.empty()
            ? report(system, f).dump(2, ' ', false, Json::error_handler_t::replace) + "\n"
            : "";
    if (!a.write.empty()) result::write_atomically(a.write, json);
    if (a.json)
      out(json);
    else if (f.result.report.ok())
      print(system, f, a.all);
  } catch (const ModelError& e) {
    throw scene::SceneError(scene::locate(scene, e));
  }
  if (f.result.report.ok()) return ExitCode::done;
  message(fmt::format("limber: did not converge: {}", f.result.report.message));
  return ExitCode::failed;
}

}  // namespace

void add_static(CLI::App& app, int& code) {
  auto a = std::make_shared<StaticArguments>();
  CLI::App* sub =
      app.add_subcommand("static", "where a scene comes to rest, and whether it would stay there");
  sub->add_option("scene", a->scene.file, "scene file")->required()->type_name("FILE");
  add_set_option(*sub, a->scene.set);
  sub->add_option("--method", a->method, "method (default: the scene's)")->check(CLI::IsMember({"articulated", "thread"}));
  sub->add_option("--at", a->at, "time whose loads act (default: 0 s)")->type_name("TIME");
  sub->add_option("--load-steps", a->options.load_steps, "apply loads and weight in so many steps")
      ->check(CLI::Range(1, 10000));
  sub->add_option("--max-iterations", a->options.max_iterations, "Newton steps at most")
      ->check(CLI::Range(1, 1000000));
  sub->add_option("--modes", a->options.modes, "lowest modes to show")->check(CLI::Range(0, 100));
  sub->add_option("--write", a->write, "write the result as JSON to a file")->type_name("FILE");
  sub->add_flag("--all", a->all, "every spring, loop and joint");
  sub->add_flag("--json", a->json, "the result as JSON on stdout");
  sub->footer(
      "Reactions act on what hangs on the joint, in world axes. Modes are of small swings about the\n"
      "equilibrium; one that leaves with a rate shows which way an unstable structure would go.\n\n"
      "Examples:\n  limber static bridge.yaml --set links=60\n  limber static arm.yaml --json > rest.json\n"
      "  limber run bridge.yaml --from static        start a run from there");
  sub->callback([a, &code] { code = solve(*a); });
}

}  // namespace limber::cli
