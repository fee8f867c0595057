#include "scene_arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "errors.h"
#include "limber/result/recording.h"
#include "limber/scene/expression.h"
#include "limber/sim/method_table.h"
#include "terminal.h"

namespace limber::cli {

void add_set_option(CLI::App& sub, std::vector<std::string>& set) {
  sub.add_option("--set", set, "give a parameter of the scene another value; may be repeated")
      ->type_name("NAME=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

std::vector<std::pair<std::string, std::string>> parse_set(const std::vector<std::string>& set) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& item : set) {
    const auto equals = item.find('=');
    if (equals == 0 || equals == std::string::npos)
      throw UsageError(fmt::format("--set: expected NAME=VALUE, got '{}'", item));
    pairs.emplace_back(item.substr(0, equals), item.substr(equals + 1));
  }
  return pairs;
}

scene::Scene load_scene(const SceneArguments& arguments) {
  scene::LoadOptions options;
  options.set = parse_set(arguments.set);
  // A reduced model carries its scene along.
  if (std::filesystem::path(arguments.file).extension() == ".rom") {
    if (!options.set.empty())
      throw UsageError(
          "--set: a reduced model has no parameters left; set them when it is made (limber reduce)");
    rom::ModelFile file;
    try {
      file = rom::load(result::read_file(arguments.file));
    } catch (const std::invalid_argument& e) {
      throw UsageError(fmt::format("{}: {}", arguments.file, e.what()));
    }
    const std::string name = std::filesystem::path(arguments.file).stem().string() + ".yaml";
    scene::Scene scene = scene::parse(file.scene, name, {}, options);
    scene.run.reduced = std::make_shared<rom::ReducedModel>(std::move(file.model));
    return scene;
  }
  return scene::load(arguments.file, options);
}

void add_threads_option(CLI::App& sub, int& threads) {
  sub.add_option("--threads", threads, "threads to use; results do not depend on it")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
}

void add_run_overrides(CLI::App& sub, RunOverrides& o) {
  sub.add_option("--time", o.time, "time to simulate")->type_name("TIME");
  sub.add_option("--step", o.step, "time step")->type_name("TIME");
  sub.add_option("--frame", o.frame, "time between recorded frames")->type_name("TIME");
  sub.add_option("--method", o.method, "method")->check(CLI::IsMember(sim::names_of_methods(false)));
  sub.add_option("--integrator", o.integrator, "integrator")
      ->check(CLI::IsMember({"midpoint", "euler", "implicit_euler", "sdirk", "bdf2"}));
  sub.add_option("--solver", o.solver, "solver of the linear systems")
      ->check(
          CLI::IsMember({"automatic", "gaba", "pcg", "pcg_rows", "dense", "direct", "cg", "cone", "pgs"}));
  sub.add_option("--from", o.from, "where to start: as written, or at rest under the loads")
      ->check(CLI::IsMember({"written", "static"}));
  sub.add_option("--error", o.error, "error allowed in a step (see run.error of scenes)")
      ->type_name("NUMBER");
  sub.add_option("--budget", o.budget, "adaptive: wall-clock time that a step may take, as in 200us")
      ->type_name("TIME");
  sub.add_option("--measure", o.measure, "adaptive: what the error is measured in")
      ->check(CLI::IsMember({"relative_joint", "absolute_joint", "relative_linkage", "absolute_linkage"}));
  sub.add_option("--weights", o.weights, "adaptive: what an acceleration that is left out counts for")
      ->check(CLI::IsMember({"none", "reach", "inertia"}));
  add_threads_option(sub, o.threads);
}

void apply(const RunOverrides& o, sim::RunOptions& options) {
  if (!o.time.empty()) options.time = parse_time("--time", o.time);
  if (!o.step.empty()) options.step = parse_time("--step", o.step);
  if (!o.frame.empty()) options.frame = parse_time("--frame", o.frame);
  if (!o.method.empty()) options.method = sim::find_method(o.method)->method;
  if (!o.error.empty()) options.articulated.error = options.adaptive.error = parse_number("--error", o.error);
  if (!o.budget.empty()) options.adaptive.budget = parse_time("--budget", o.budget);
  for (const auto measure : adaptive::all_measures)
    if (o.measure == adaptive::to_string(measure)) options.adaptive.measure = measure;
  for (const auto weights : adaptive::all_weights)
    if (o.weights == adaptive::to_string(weights)) options.adaptive.weights = weights;
  if (options.method != sim::Method::adaptive &&
      (!o.budget.empty() || !o.measure.empty() || !o.weights.empty()))
    throw UsageError("--budget, --measure and --weights belong to the adaptive method (--method adaptive)");
  const bool threads = options.method == sim::Method::thread;
  const bool reduced = options.method == sim::Method::rom;
  const auto unknown = [&](const char* option, const std::string& value) {
    throw UsageError(
        fmt::format("{} {}: method {} has no such one", option, value, sim::to_string(options.method)));
  };
  bool known = o.integrator.empty();
  for (const auto integrator : thread::all_integrators)
    if (threads && o.integrator == thread::to_string(integrator))
      options.thread.integrator = integrator, known = true;
  for (const auto integrator : rom::all_integrators)
    if (reduced && o.integrator == rom::to_string(integrator))
      options.rom.integrator = integrator, known = true;
  for (const auto integrator : articulated::all_integrators)
    if (!threads && !reduced && o.integrator == articulated::to_string(integrator)) known = true;
  if (!known) unknown("--integrator", o.integrator);
  known = o.solver.empty();
  for (const auto solver : thread::all_solvers)
    if (threads && o.solver == thread::to_string(solver)) options.thread.solver = solver, known = true;
  for (const auto solver : rom::all_contact_solvers)
    if (reduced && o.solver == rom::to_string(solver)) options.rom.solver = solver, known = true;
  for (const auto solver : articulated::all_solvers)
    if (!threads && !reduced && o.solver == articulated::to_string(solver)) known = true;
  if (!known) unknown("--solver", o.solver);
  for (const auto integrator : articulated::all_integrators)
    if (o.integrator == articulated::to_string(integrator)) options.articulated.integrator = integrator;
  for (const auto solver : articulated::all_solvers)
    if (o.solver == articulated::to_string(solver)) options.articulated.solver = solver;
  if (!o.from.empty()) options.from_static = o.from == "static";
  if (o.threads > 0) sim::set_threads(options, o.threads);
  sim::validate(options);
}

double parse_quantity(const std::string& option, const std::string& text, const scene::Dimension& dimension) {
  const auto unknown = [](std::string_view, std::string&) { return std::optional<scene::Quantified>(); };
  const auto parsed = scene::compile_expression(text, unknown, false);
  if (!parsed.expression) throw UsageError(fmt::format("{} '{}': {}", option, text, parsed.error));
  if (!parsed.expression->loose && !scene::agree(parsed.expression->dimension, dimension))
    throw UsageError(scene::agree(dimension, scene::dimension::number)
                         ? fmt::format("{} '{}': expected a number without a unit", option, text)
                         : fmt::format("{} '{}': expected {}, got {}", option, text,
                                       scene::name_of(dimension),
                                       scene::name_of(parsed.expression->dimension)));
  return parsed.expression->value;
}

double parse_number(const std::string& option, const std::string& text) {
  return parse_quantity(option, text, scene::dimension::number);
}

double parse_time(const std::string& option, const std::string& text) {
  const double value = parse_quantity(option, text, scene::dimension::time);
  if (!(value >= 0))
    throw UsageError(fmt::format("{} '{}': expected a time that is not negative", option, text));
  return value;
}

std::string describe(const sim::Sizes& s) {
  return fmt::format("{}, {}, {}", format_count(s.bodies, "body", "bodies"),
                     format_count(s.joints, "joint", "joints"),
                     format_count(s.dofs, "degree of freedom", "degrees of freedom"));
}

}  // namespace limber::cli
