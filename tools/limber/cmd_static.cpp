// limber static: where a scene comes to rest under its loads, whether it would stay there, and what its
// joints, springs and loops carry; as the loads come on, along the path of equilibria, in the course of time,
// and back to the unloaded shape. What is computed is in sim/; here it is asked for, printed and written.
#include <fmt/format.h>
#include <time.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "errors.h"
#include "limber/result/files.h"
#include "limber/sim/static_curve.h"
#include "limber/sim/static_inverse.h"
#include "scene_arguments.h"
#include "session.h"
#include "static_json.h"
#include "static_pose.h"
#include "static_print.h"
#include "static_report.h"
#include "terminal.h"
#include "viewer_page.h"

namespace limber::cli {
namespace {

using sim::StaticJob;

struct StaticArguments {
  SceneArguments scene;
  std::string method = "automatic", at, write, report, csv, solver, out;
  bool json = false, all = false, force = false;
  int load_steps = 0, max_iterations = 0, modes = 0;  // where they are given
  bool estimate = false, inverse = false, path = false;
  double error = 0, until = -1;
  int ramp = 0, steps = 50, increments = 1;
  int branch = 0;  // a sim::Branch
};

// What a job is asked for by, and which other options it honours; every other one that is given is refused.
struct Job {
  StaticJob job;
  const char* option;  // empty: a rest
  std::vector<const char*> honours;
};
const std::vector<Job>& jobs() {
  static const std::vector<Job> list = {
      {StaticJob::inverse,
       "--inverse",
       {"--at", "--out", "--force", "--csv", "--write", "--json", "--report", "--load-steps",
        "--max-iterations"}},
      {StaticJob::history,
       "--until",
       {"--steps", "--out", "--force", "--csv", "--write", "--json", "--report", "--load-steps",
        "--max-iterations"}},
      {StaticJob::path,
       "--path",
       {"--branch", "--at", "--estimate", "--csv", "--write", "--json", "--report", "--load-steps",
        "--max-iterations"}},
      {StaticJob::ramp,
       "--ramp",
       {"--at", "--csv", "--write", "--json", "--report", "--load-steps", "--max-iterations"}},
      {StaticJob::sweeps, "--solver", {"--increments", "--at", "--write", "--json"}},
      {StaticJob::rest,
       "",
       {"--at", "--out", "--force", "--write", "--json", "--report", "--all", "--load-steps",
        "--max-iterations", "--estimate", "--error"}}};
  return list;
}

bool given(const CLI::App& sub, const std::string& name) { return sub.get_option(name)->count() > 0; }

const Job& job_of(const CLI::App& sub, const StaticArguments& a) {
  for (const Job& job : jobs()) {
    const std::string option = job.option;
    if (option.empty() || (given(sub, option) && !(option == "--solver" && a.solver == "newton"))) return job;
  }
  return jobs().back();
}

void refuse_others(const CLI::App& sub, const Job& job, const sim::MethodInfo& method) {
  const std::string what = job.job == StaticJob::rest ? fmt::format("method {}", method.name()) : job.option;
  for (const CLI::Option* option : sub.get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0 || name == "--method" || name == "--set" || !name.starts_with("--")) continue;
    const bool newton = name == "--solver" && option->results().front() == "newton";
    const bool modes = name == "--modes" && job.job == StaticJob::rest && method.statics->modes;
    if (name == job.option || newton || modes ||
        std::any_of(job.honours.begin(), job.honours.end(), [&](const char* x) { return name == x; }))
      continue;
    throw UsageError(fmt::format("{} has no effect with {}: leave one of them out", name, what));
  }
}

sim::StaticOptions options_of(const StaticArguments& a, const CLI::App& sub) {
  sim::StaticOptions o;
  if (a.method != "automatic") o.method = sim::find_method(a.method)->method;
  if (!a.at.empty()) o.time = parse_time("--at", a.at);
  if (given(sub, "--load-steps")) o.load_steps = a.load_steps;
  if (given(sub, "--max-iterations")) o.max_iterations = a.max_iterations;
  o.estimate = a.estimate, o.error = a.error;
  return o;
}

int finish(bool ok, const std::string& why) {
  if (ok) return ExitCode::done;
  message(fmt::format("limber: did not converge: {}", why));
  return ExitCode::failed;
}

// JSON to stdout, to a file, or both. What the clock says, if anything, goes to stdout alone: files are the
// same every time.
void put_json(const StaticArguments& a, nlohmann::ordered_json json,
              const nlohmann::ordered_json& wall_clock = {}) {
  const auto text = [&] {
    return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  };
  if (!a.write.empty()) result::write_atomically(a.write, text());
  if (!wall_clock.is_null()) json["wall_clock"] = wall_clock;
  if (a.json) out(text());
}

// Of this process: what it took to compile the model and to find its rest stands beside what was found.
double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Rows go to stdout unless a file or JSON is asked for; what is to be said then goes there instead.
void put_rows(const StaticArguments& a, const std::string& rows, const std::vector<sim::Statement>& say) {
  if (!a.csv.empty()) result::write_atomically(a.csv, rows);
  if (a.json) return;
  if (!a.csv.empty()) {
    out("\n" + static_text(say) + "\n");
    return;
  }
  out(rows);
  for (const auto& [label, text] : say)
    if (label != "method" && label != "ends") message(fmt::format("{}: {}", label, text));
}

int rest(const scene::Scene& scene, const StaticArguments& a, const sim::StaticOptions& options) {
  const double begin = cpu_seconds();
  const sim::Equilibrium e = sim::find_equilibrium(scene.model, scene.run, options);
  const double took = cpu_seconds() - begin;
  put_json(a, to_json(e), {{"cpu_seconds", took}});
  if (!a.json && e.ok()) out(static_text(scene.model, e, a.all));
  if (!a.out.empty() && e.ok()) {
    write_pose(e.layout, e.after, e.before, e.fields, a.out, a.force);
    message(fmt::format("wrote {}/pose.glb, pose.vtp and nodes.csv", a.out));
  }
  if (!a.report.empty() && e.ok()) {
    sim::CurveOptions way;
    way.statics = options;
    way.statics.method = sim::find_method(e.method)->method;
    way.statics.modes.reset();
    const Model model = e.refinement == 1 ? scene.model : chain::refined(scene.model, e.refinement);
    write_static_report(scene, e, sim::way_to_rest(model, scene.run, 20, way), a.report);
    message(fmt::format("wrote {}", a.report));
  }
  return finish(e.ok(), e.report.message);
}

int curve(const scene::Scene& scene, const StaticArguments& a, StaticJob job,
          const sim::StaticOptions& statics) {
  const sim::CurveOptions options{statics, !a.report.empty()};
  const sim::StaticCurve c =
      job == StaticJob::history ? sim::static_history(scene.model, a.until, a.steps, options)
      : job == StaticJob::path
          ? sim::equilibrium_path(scene.model, sim::Branch{static_cast<std::int8_t>(a.branch)}, options,
                                  scene.run)
          : sim::load_curve(scene.model, scene.run, a.ramp, sim::Growth::loads, options);
  put_json(a, to_json(c));
  put_rows(a, to_csv(c), describe(c));
  if (!a.report.empty() && !c.points.empty()) {
    write_static_report(scene, c, a.report);
    message(fmt::format("wrote {}", a.report));
  }
  return finish(c.ok(), c.report.message);
}

// A history into a folder, like any run: what it is asked for beside its steps is in the folder's files.
int history_run(const scene::Scene& scene, const StaticArguments& a, const CLI::App& sub) {
  for (const char* option : {"--csv", "--write", "--report", "--load-steps", "--max-iterations"})
    if (given(sub, option))
      throw UsageError(fmt::format("{} has no effect with --out: leave one of them out", option));
  sim::RunRequest request;
  request.history = true;
  request.options.method = sim::Method::chain;
  request.options.time = a.until;
  request.options.step = request.options.frame = a.until / a.steps;
  request.folder = a.out;
  request.force = a.force;
  request.scene_file = scene.sources.front().path;
  request.sources = scene.sources;
  request.set = parse_set(a.scene.set);
  request.files = export_files(true, true, true);
  SessionOptions session;
  session.json = a.json;
  return run_session(scene.model, std::move(request), session);
}

int inverse(const scene::Scene& scene, const StaticArguments& a, const sim::StaticOptions& options) {
  const sim::UnloadedShape shape = sim::unloaded_shape(scene.model, options);
  put_json(a, to_json(shape));
  if (shape.ok()) {
    put_rows(a, to_csv(shape), describe(shape));
    if (!a.out.empty()) {
      write_pose(shape.layout, shape.unloaded, shape.loaded, {}, a.out, a.force);
      message(fmt::format("wrote {}/pose.glb, pose.vtp and nodes.csv", a.out));
    }
    if (!a.report.empty()) {
      write_static_report(scene, shape, a.report);
      message(fmt::format("wrote {}", a.report));
    }
  }
  return finish(shape.ok(), shape.ok() ? "" : describe(shape)[1].text);
}

int sweeps(const scene::Scene& scene, const StaticArguments& a, double time) {
  const sim::SweepResult r = sim::published_sweeps(scene.model, a.solver, a.increments, time);
  put_json(a, to_json(r));
  if (!a.json) out(static_text(scene.model, r));
  return finish(r.report.converged, r.report.message);
}

int solve(const StaticArguments& a, const CLI::App& sub) {
  const scene::Scene scene = load_scene(a.scene);
  const Job& job = job_of(sub, a);
  sim::StaticOptions options = options_of(a, sub);
  refuse_others(sub, job, sim::static_method(scene.model, scene.run, options, job.job));
  if (given(sub, "--modes")) options.modes = a.modes;
  if (!a.report.empty() && viewer_page().empty()) throw result::IoError(a.report, page_is_missing);
  if (a.force && a.out.empty()) throw UsageError("--force has no effect without --out");
  return with_places(scene, [&] {
    if (job.job == StaticJob::history && !a.out.empty()) return history_run(scene, a, sub);
    switch (job.job) {
      case StaticJob::rest:
        return rest(scene, a, options);
      case StaticJob::inverse:
        return inverse(scene, a, options);
      case StaticJob::sweeps:
        return sweeps(scene, a, options.time);
      default:
        return curve(scene, a, job.job, options);
    }
  });
}

void add_curve_options(CLI::App& sub, StaticArguments& a) {
  const char* group = "Curves and shapes";
  sub.add_option("--ramp", a.ramp, "force–deflection curve: loads in N even steps, as CSV")
      ->check(CLI::Range(1, 100000))
      ->group(group);
  sub.add_flag("--path", a.path, "follow the path of equilibria past limit points (arc length), as CSV")
      ->group(group);
  static const std::map<std::string, int> branches = {{"0", 0}, {"1", 1}, {"-1", -1}, {"stable", 2}};
  sub.add_option(
         "--branch", a.branch,
         "leave the path at its first bifurcation: 1 one way, -1 the other; stable: at each, where the "
         "fewest directions are unstable")
      ->transform(CLI::CheckedTransformer(branches))
      ->type_name("1|-1|stable")
      ->group(group);
  sub.add_option("--until", a.until,
                 "quasi-static history to this time [s], with the scene's changes, as CSV")
      ->check(CLI::PositiveNumber)
      ->group(group);
  sub.add_option("--steps", a.steps, "of the history")->check(CLI::Range(1, 1000000))->group(group);
  sub.add_flag("--inverse", a.inverse, "the scene shows the loaded shape: find the unloaded one, as CSV")
      ->group(group);
  sub.add_option("--csv", a.csv, "write the CSV to a file instead of stdout")
      ->type_name("FILE")
      ->group(group);
  sub.add_option("--solver", a.solver, "newton, or the published sweeps: quadratic, linear_16, linear_12")
      ->check(CLI::IsMember({"newton", "quadratic", "linear_16", "linear_12"}))
      ->group(group);
  sub.add_option("--increments", a.increments, "load increments of the sweeps")
      ->check(CLI::Range(1, 100000))
      ->group(group);
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
  add_curve_options(*sub, *a);
  sub->add_option("--at", a->at, "time whose loads act (default: 0 s)")->type_name("TIME");
  sub->add_option("--load-steps", a->load_steps, "apply loads and weight in so many steps")
      ->check(CLI::Range(1, 10000));
  sub->add_option("--max-iterations", a->max_iterations, "Newton steps at most")
      ->check(CLI::Range(1, 1000000));
  sub->add_option("--modes", a->modes, "lowest modes to show (method articulated)")
      ->check(CLI::Range(0, 100));
  sub->add_flag("--estimate", a->estimate, "estimate the error by solving with twice as many elements");
  sub->add_option("--error", a->error, "use as many elements as this error asks for, of the structure's size")
      ->check(CLI::PositiveNumber);
  sub->add_option("--write", a->write, "write the result as JSON to a file")->type_name("FILE");
  sub->add_option("--report", a->report,
                  "write a report.html: the shape under load, stress, curves, reactions")
      ->type_name("FILE");
  sub->add_option(
         "--out", a->out,
         "of --until: a run folder with frames, report and exported files; of a rest and of --inverse: "
         "pose.glb, pose.vtp, nodes.csv")
      ->type_name("DIR");
  sub->add_flag("--force", a->force, "replace what is there");
  sub->add_flag("--all", a->all, "every beam, reaction, spring and warning");
  sub->add_flag("--json", a->json, "the result as JSON on stdout");
  sub->footer(
      "Reactions act on the beam, or on what hangs on the joint, in world axes. Modes are of small swings "
      "about\n"
      "the equilibrium; one that leaves with a rate shows which way an unstable structure would go.\n\n"
      "Examples:\n  limber static bridge.yaml --set links=60\n  limber static arm.yaml --json > rest.json\n"
      "  limber run bridge.yaml --from static        start a run from there\n"
      "  limber static lateral-buckling.yaml --ramp 20 --csv curve.csv      force and deflection\n"
      "  limber static arch.yaml --path --report path.html                  through snap-through");
  sub->callback([a, sub, &code] { code = solve(*a, *sub); });
}

}  // namespace limber::cli
