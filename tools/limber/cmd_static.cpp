// limber static: where a scene comes to rest under its loads, whether it would stay there, and what its
// joints, springs and loops carry.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>

#include "errors.h"
#include "limber/articulated/live.h"
#include "limber/articulated/statics.h"
#include "limber/chain/chain.h"
#include "limber/result/files.h"
#include "limber/sim/method_table.h"
#include "limber/sim/methods.h"
#include "scene_arguments.h"
#include "static_chain.h"
#include "static_report.h"
#include "static_thread.h"
#include "terminal.h"
#include "vector_text.h"
#include "viewer_page.h"

namespace limber::cli {
namespace {

struct StaticArguments {
  SceneArguments scene;
  articulated::StaticOptions options;
  std::string at, write, report, method = "automatic";
  bool json = false, all = false;
  ChainArguments chain;
};

sim::Method method_of(const StaticArguments& a, const scene::Scene& scene) {
  if (a.method != "automatic") return sim::find_method(a.method)->method;
  const sim::Method method = sim::rest_method(scene.model, scene.run);
  return method == sim::Method::articulated && a.chain.wanted() ? sim::Method::chain : method;
}

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
               {"circulatory", r.circulatory},
               {"message", r.report.message}};
  if (!r.report.ok()) return json;
  json["energy"] = {{"gravity", r.energy.gravity}, {"elastic", r.energy.elastic}};
  json["bodies"] = Json::object();
  const auto& frames = system.layout().frames;
  for (std::size_t i = 0; i < frames.size(); ++i)
    json["bodies"][frames[i].name] = {
        {"position", json_of(f.after.positions[i])},
        {"quaternion", Json::array({f.after.rotations[i].w(), f.after.rotations[i].x(),
                                    f.after.rotations[i].y(), f.after.rotations[i].z()})},
        {"moved", json_of(f.after.positions[i] - f.before.positions[i])}};
  json["probes"] = Json::object();
  const auto& scalars = system.layout().scalars;
  for (std::size_t i = 0; i < scalars.size(); ++i) json["probes"][scalars[i].name] = f.after.scalars[i];
  json["springs"] = Json::object();
  for (const auto& [name, length, tension] : articulated::spring_tensions(system, f.state))
    json["springs"][name] = {{"length", length}, {"tension", tension}};
  json["joints"] = Json::object();
  for (const auto& j : r.joints)
    json["joints"][j.joint] = {{"at", json_of(j.at)},
                               {"force", json_of(j.force)},
                               {"moment", json_of(j.moment)},
                               {"torque", j.torque}};
  json["loops"] = Json::object();
  for (const auto& l : r.loops)
    json["loops"][l.loop] = {
        {"at", json_of(l.at)}, {"force", json_of(l.force)}, {"moment", json_of(l.moment)}};
  json["stops"] = Json::array();
  for (const auto& stop : r.stops)
    json["stops"].push_back(
        {{"joint", stop.joint}, {"dof", stop.dof}, {"bound", stop.bound}, {"force", stop.force}});
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
    out(fmt::format(
        "  stability    stable{}\n",
        r.circulatory ? " (some loads have no potential: this counts the symmetric part alone)" : ""));
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
  for (const auto& stop : r.stops)
    out(fmt::format("  stop         \"{}\" stands at its bound {:.6g}, which pushes with {:.6g}\n",
                    stop.joint, stop.bound, stop.force));
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

Json reaction_tables(const articulated::System& system, const Found& f) {
  const auto row = [](const std::string& name, const Vec3& force, const Vec3& moment) {
    return Json::array({name, force.x(), force.y(), force.z(), moment.x(), moment.y(), moment.z()});
  };
  const Json head = {"", "Fx [N]", "Fy [N]", "Fz [N]", "Mx [N m]", "My [N m]", "Mz [N m]"};
  Json joints = Json::array(), loops = Json::array(), springs = Json::array(), tables = Json::array();
  for (const auto& j : f.result.joints) joints.push_back(row(j.joint, j.force, j.moment));
  for (const auto& l : f.result.loops) loops.push_back(row(l.loop, l.force, l.moment));
  for (const auto& [name, length, tension] : articulated::spring_tensions(system, f.state))
    springs.push_back(Json::array({name, length, tension}));
  tables.push_back(
      report_table("Reactions at joints", head, joints,
                   "On what hangs on the joint, world axes, at the joint. The first joints bear the rest."));
  if (!loops.empty()) tables.push_back(report_table("Reactions of loops", head, loops));
  if (!springs.empty())
    tables.push_back(report_table("Springs", Json::array({"", "length [m]", "tension [N]"}), springs));
  return tables;
}

// The load comes on in equal parts, each solved from the one before.
void write_report(const StaticArguments& a, const scene::Scene& scene, const articulated::System& system,
                  const Found& f, double at) {
  if (viewer_page().empty()) throw result::IoError(a.report, page_is_missing);
  StaticReportContent content;
  content.layout = system.layout();
  content.subtitle =
      fmt::format("{}: where it comes to rest; {}", std::filesystem::path(scene.file).filename().string(),
                  f.result.stable() ? "stable" : "unstable");
  content.sources = scene.sources;
  content.tables = reaction_tables(system, f);
  if (!f.result.stable())
    content.warnings.push_back(
        fmt::format("unstable: {} directions in which it would leave", f.result.negative));
  const auto loads = scene.model.point_loads();
  if (loads.size() == 1 && scene.model.gravity().value(at).norm() == 0)
    content.force = loads[0].force.value(at).norm();
  constexpr int parts = 20;
  articulated::State state = system.rest();
  state.t = at;
  articulated::Workspace w(system);
  for (int k = 0; k <= parts; ++k) {
    articulated::StaticOptions options = a.options;
    options.load = static_cast<double>(k) / parts;
    options.modes = 0;
    if (k == parts) {
      state = f.state;
    } else if (!articulated::solve_static(system, state, w, options).report.ok()) {
      content.warnings.push_back(fmt::format("no equilibrium at {:g} of the load", options.load));
      continue;
    }
    LoadStep step;
    step.share = options.load;
    articulated::observe(system, state, w, step.snapshot);
    step.fields = articulated::fields(system, state, w);
    content.steps.push_back(std::move(step));
  }
  write_static_report(content, a.report);
  message(fmt::format("wrote {}", a.report));
}

// What is asked, and which options it honours; every other one that is given is refused by name.
struct Mode {
  const char* name;
  std::vector<const char*> honours;
};
const Mode by_thread{"method thread", {"--at", "--load-steps", "--write", "--all", "--json"}};
const Mode by_articulated{
    "method articulated",
    {"--at", "--load-steps", "--max-iterations", "--modes", "--write", "--report", "--all", "--json"}};
const Mode by_chain{"method chain",
                    {"--at", "--load-steps", "--max-iterations", "--write", "--report", "--all", "--json",
                     "--estimate", "--error"}};
const Mode ramp{"--ramp", {"--ramp", "--csv", "--at", "--load-steps", "--max-iterations"}};
const Mode path{"--path", {"--path", "--branch", "--csv", "--at", "--load-steps", "--max-iterations"}};
const Mode until{"--until", {"--until", "--steps", "--csv", "--load-steps", "--max-iterations"}};
const Mode inverse_mode{"--inverse", {"--inverse", "--csv", "--at", "--load-steps", "--max-iterations"}};
const Mode by_sweeps{"--solver", {"--solver", "--increments", "--at", "--json"}};

const Mode& chain_mode(const ChainArguments& c) {
  return c.inverse              ? inverse_mode
         : c.until > 0          ? until
         : c.path               ? path
         : c.ramp > 0           ? ramp
         : c.solver != "newton" ? by_sweeps
                                : by_chain;
}

void refuse_others(const CLI::App& sub, const Mode& mode) {
  for (const CLI::Option* option : sub.get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0 || name == "--method" || name == "--set" || !name.starts_with("--")) continue;
    if (std::none_of(mode.honours.begin(), mode.honours.end(), [&](const char* x) { return name == x; }))
      throw UsageError(fmt::format("{} has no effect with {}: leave one of them out", name, mode.name));
  }
}

int solve(const StaticArguments& a, const CLI::App& sub) {
  const scene::Scene scene = load_scene(a.scene);
  const sim::Method method = method_of(a, scene);
  const bool threads = method == sim::Method::thread, chained = method == sim::Method::chain;
  refuse_others(sub, threads ? by_thread : chained ? chain_mode(a.chain) : by_articulated);
  if (threads)
    return solve_threads(
        scene, {a.at.empty() ? 0 : parse_time("--at", a.at), a.options.load_steps, a.json, a.all, a.write});
  Found f;
  try {
    if (chained) {
      ChainArguments c = a.chain;
      c.options.load_steps = a.options.load_steps > 1 ? a.options.load_steps : 0;
      c.options.max_iterations = std::max(2000, a.options.max_iterations);
      c.time = a.at.empty() ? 0 : parse_time("--at", a.at);
      c.write = a.write, c.json = a.json, c.all = a.all;
      if (!a.report.empty() && viewer_page().empty()) throw result::IoError(a.report, page_is_missing);
      const int code = static_chain(scene, c);
      if (!a.report.empty() && code == ExitCode::done) write_chain_report(scene, c.time, c.options, a.report);
      return code;
    }
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
    if (!a.report.empty() && f.result.report.ok()) write_report(a, scene, system, f, f.state.t);
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
  std::vector<std::string> methods = sim::names_of_methods(true);
  methods.insert(methods.begin(), "automatic");
  sub->add_option("--method", a->method,
                  "one that finds rests, or automatic: the scene's, chain (beams) where it applies")
      ->check(CLI::IsMember(methods));
  add_chain_options(*sub, a->chain);
  sub->add_option("--at", a->at, "time whose loads act (default: 0 s)")->type_name("TIME");
  sub->add_option("--load-steps", a->options.load_steps, "apply loads and weight in so many steps")
      ->check(CLI::Range(1, 10000));
  sub->add_option("--max-iterations", a->options.max_iterations, "Newton steps at most")
      ->check(CLI::Range(1, 1000000));
  sub->add_option("--modes", a->options.modes, "lowest modes to show")->check(CLI::Range(0, 100));
  sub->add_option("--write", a->write, "write the result as JSON to a file")->type_name("FILE");
  sub->add_option("--report", a->report,
                  "write a report.html: the shape under load, stress, curves, reactions")
      ->type_name("FILE");
  sub->add_flag("--all", a->all, "every spring, loop and joint");
  sub->add_flag("--json", a->json, "the result as JSON on stdout");
  sub->footer(
      "Reactions act on what hangs on the joint, in world axes. Modes are of small swings about the\n"
      "equilibrium; one that leaves with a rate shows which way an unstable structure would go.\n\n"
      "Examples:\n  limber static bridge.yaml --set links=60\n  limber static arm.yaml --json > rest.json\n"
      "  limber run bridge.yaml --from static        start a run from there\n"
      "  limber static lateral-buckling.yaml --ramp 20 --csv curve.csv      force and deflection\n"
      "  limber static arch.yaml --path --csv path.csv                      through snap-through");
  sub->callback([a, sub, &code] { code = solve(*a, *sub); });
}

}  // namespace limber::cli
