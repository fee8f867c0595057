#include "limber/sim/static_gradient.h"

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <set>
#include <stdexcept>

#include "limber/articulated/static_sensitivity.h"
#include "limber/chain/static_sensitivity.h"
#include "limber/sim/driver.h"
#include "limber/sim/static_parts.h"

namespace limber::sim {

class StaticGradient::Way {
 public:
  virtual ~Way() = default;
  // Observes both sides.
  virtual void look(const Model& up, const Model& down, double delta, result::Snapshot& at_up,
                    result::Snapshot& at_down) = 0;
  // … of rests that numbers of these rates move, `turn` apart; delta: of the parameter, then of the rests.
  virtual void look(const elastic::NumberRates& rates, double turn, double& delta, result::Snapshot& at_up,
                    result::Snapshot& at_down) = 0;
  result::Layout layout;
  std::vector<char> places;  // columns that tell where things stand
  result::Snapshot rest;
};

namespace {

// What follows from places alone, whatever the numbers are.
std::vector<char> columns_of_places(const Model& model, const result::Layout& layout) {
  std::set<std::string> names;
  for (const Probe& p : model.probes())
    if (p.told() == Told::pose || p.quantity == Quantity::joint_position ||
        p.quantity == Quantity::spring_length)
      names.insert(p.name);
  std::vector<char> out;
  for (const auto& s : layout.scalars)  // with a component behind the name, or none
    out.push_back(names.contains(s.name) || names.contains(s.name.substr(0, s.name.rfind('.'))));
  return out;
}

void require_found(const result::SolveReport& report) {
  if (!report.ok()) throw StaticFailure(report.message);
}

class ArticulatedGradient : public StaticGradient::Way {
 public:
  ArticulatedGradient(const Model& model, const RunOptions& run, const StaticOptions& options)
      : run_(run.articulated),
        system_(articulated::compile((require(model, Question::articulated_static), model), run_)) {
    articulated::State state = system_.rest();
    state.t = options.time;
    articulated::Workspace workspace(system_);
    articulated::StaticOptions statics;
    statics.load = statics.weight = options.load;
    statics.modes = 0;
    statics.load_steps = options.load_steps.value_or(statics.load_steps);
    statics.max_iterations = options.max_iterations.value_or(statics.max_iterations);
    const articulated::StaticResult found = articulated::solve_static(system_, state, workspace, statics);
    require_found(found.report);
    articulated::observe(system_, state, workspace, rest, &found);
    layout = system_.layout();
    places = columns_of_places(system_.model(), layout);
    sensitivity_.emplace(system_, state, statics);
    work_.emplace(sensitivity_->workspace_of(system_));
  }
  void look(const elastic::NumberRates& rates, double turn, double& delta, result::Snapshot& at_up,
            result::Snapshot& at_down) override {
    const auto moved = sensitivity_->move(rates, turn, delta);
    articulated::put_places(system_, moved.up, *work_, at_up);
    articulated::put_places(system_, moved.down, *work_, at_down);
  }
  void look(const Model& up, const Model& down, double delta, result::Snapshot& at_up,
            result::Snapshot& at_down) override {
    const articulated::System a = articulated::compile(up, run_), b = articulated::compile(down, run_);
    const auto moved = sensitivity_->move(a, b, delta);
    articulated::Workspace work_a = sensitivity_->workspace_of(a), work_b = sensitivity_->workspace_of(b);
    articulated::observe(a, moved.up, work_a, at_up);
    articulated::observe(b, moved.down, work_b, at_down);
  }

 private:
  articulated::Options run_;
  articulated::System system_;
  std::optional<articulated::StaticSensitivity> sensitivity_;
  std::optional<articulated::Workspace> work_;
};

class ChainGradient : public StaticGradient::Way {
 public:
  ChainGradient(const Model& model, const StaticOptions& options)
      : options_(how(model, options)), system_(chain::compile(model, options_)) {
    chain::Solver solver(system_.structure());
    chain::Rest found = system_.rest();
    const chain::StaticOptions statics = chain_options(options);
    require_found((options.load == 1 ? chain::solve_from_coarse(system_, solver, found, statics)
                                     : solver.solve(found, options.load, statics))
                      .report);
    // To rounding: what is left over would be taken for a change.
    chain::StaticOptions last = statics;
    last.tolerance = 1e-14;
    chain::StaticReport report;
    solver.newton(found, last, report);
    chain::observe(system_, solver, found, rest);
    layout = system_.layout();
    places = columns_of_places(system_.model(), layout);
    sensitivity_.emplace(system_, found);
  }
  void look(const elastic::NumberRates& rates, double turn, double& delta, result::Snapshot& at_up,
            result::Snapshot& at_down) override {
    const auto moved = sensitivity_->move(rates, turn, delta);
    chain::observe_places(system_, sensitivity_->with_numbers(rates, delta), moved.up, at_up);
    chain::observe_places(system_, sensitivity_->with_numbers(rates, -delta), moved.down, at_down);
  }
  void look(const Model& up, const Model& down, double delta, result::Snapshot& at_up,
            result::Snapshot& at_down) override {
    const chain::System a = chain::compile(up, options_), b = chain::compile(down, options_);
    const auto moved = sensitivity_->move(a, b, delta);
    chain::Solver solver_a(a.structure()), solver_b(b.structure());
    chain::observe(a, solver_a, moved.up, at_up);
    chain::observe(b, solver_b, moved.down, at_down);
  }

 private:
  static chain::Options how(const Model& model, const StaticOptions& options) {
    refuse_without_potential(model);
    refuse_past(model, options.time, "a gradient");
    chain::Options out;
    out.time = options.time;
    return out;
  }
  chain::Options options_;
  chain::System system_;
  std::optional<chain::StaticSensitivity> sensitivity_;
};

}  // namespace

StaticGradient::StaticGradient(const Model& model, const RunOptions& run, const StaticOptions& options)
    : time_(options.time) {
  const Method method = static_method(model, run, options).method;
  if (options.error > 0 || options.estimate)
    throw std::invalid_argument(
        "a gradient is of the elements as the model has them: leave error and estimate out");
  if (method == Method::articulated)
    way_ = std::make_unique<ArticulatedGradient>(model, run, options);
  else if (method == Method::chain)
    way_ = std::make_unique<ChainGradient>(model, options);
  else
    throw std::invalid_argument(
        fmt::format("method {} finds no gradients: articulated and chain do", to_string(method)));
}

StaticGradient::~StaticGradient() = default;
StaticGradient::StaticGradient(StaticGradient&&) noexcept = default;

const result::Layout& StaticGradient::layout() const { return way_->layout; }
const result::Snapshot& StaticGradient::rest() const { return way_->rest; }

std::vector<double> StaticGradient::derivative(const Model& up, const Model& down, double delta) {
  result::Snapshot a, b;
  way_->look(up, down, delta, a, b);
  if (a.scalars.size() != way_->rest.scalars.size() || b.scalars.size() != a.scalars.size())
    throw std::invalid_argument("the parameter changes what is probed: there is no gradient");
  std::vector<double> out(a.scalars.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = (a.scalars[i] - b.scalars[i]) / (2 * delta);
  return out;
}

std::vector<double> StaticGradient::derivative(const elastic::NumberRates& rates, double delta) {
  constexpr double turn = 1e-5;  // [rad] errors are its square, and rounding over it
  result::Snapshot a, b;
  way_->look(rates, turn, delta, a, b);
  std::vector<double> out(a.scalars.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < out.size(); ++i)
    if (way_->places[i]) out[i] = (a.scalars[i] - b.scalars[i]) / (2 * delta);
  return out;
}

}  // namespace limber::sim
