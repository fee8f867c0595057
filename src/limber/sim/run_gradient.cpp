#include "limber/sim/run_gradient.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>

#include "limber/articulated/column_gradient.h"
#include "limber/articulated/step_adjoint.h"
#include "limber/math/stop.h"
#include "limber/sim/driver.h"
#include "limber/sim/methods.h"

namespace limber::sim {

using articulated::State;
using articulated::StepPart;
using articulated::System;
using articulated::SystemData;

namespace {

constexpr std::size_t most_memory = 200'000'000;  // [B] for the parts of steps between two checkpoints

void refuse(const std::string& what) {
  throw std::invalid_argument(fmt::format("a run with {} has no gradient by this way", what));
}

// Numbers alone may differ.
void require_same_kind(const SystemData& a, const SystemData& b) {
  const auto same = [&](auto get) { return get(a) == get(b); };
  if (!same([](const auto& x) { return x.tree.size(); }) ||
      !same([](const auto& x) { return x.tree.q_count(); }) ||
      !same([](const auto& x) { return x.loops.size(); }) ||
      !same([](const auto& x) { return x.limits.size(); }) ||
      !same([](const auto& x) { return x.drives.size(); }) ||
      !same([](const auto& x) { return x.motions.size(); }) ||
      !same([](const auto& x) { return x.layout.scalars.size(); }))
    throw std::invalid_argument("the parameter changes what the structure is made of: there is no gradient");
}

}  // namespace

struct RunGradient::Data {
  RunOptions options;
  System system;
  articulated::Workspace workspace;
  std::int64_t steps = 0, per_frame = 1;

  Data(const Model& model, const RunOptions& o)
      : options(o), system(articulated::compile(model, o.articulated)), workspace(system) {
    steps = o.steps(), per_frame = o.steps_per_frame();
  }

  std::int64_t frames() const { return steps / per_frame + 1 + (steps % per_frame != 0); }
  std::int64_t step_of_frame(std::int64_t frame) const { return std::min(frame * per_frame, steps); }

  // Time is the step's number times h, as the run loop has it.
  void take_step(State& state, std::int64_t n) {
    stop_if_requested();
    state.step = n, state.t = static_cast<double>(n) * options.step;
    const result::SolveReport report = articulated::step(system, state, workspace, options.step);
    if (!report.ok()) throw std::runtime_error(report.message);
    state.t = static_cast<double>(n + 1) * options.step;
  }
};

RunGradient::RunGradient(const Model& model, const RunOptions& options) {
  validate(options);
  if (options.method != Method::articulated)
    throw std::invalid_argument(
        fmt::format("method {} finds no gradients of runs: articulated does", to_string(options.method)));
  require(model, Question::articulated_run);
  if (options.from_static) refuse("a start at rest (from: static)");
  if (Conductor::is_needed(model)) refuse("events or controllers");
  d_ = std::make_unique<Data>(model, options);
  if (const std::string what = articulated::no_gradient_of(d_->system.data()); !what.empty()) refuse(what);
}

RunGradient::~RunGradient() = default;
RunGradient::RunGradient(RunGradient&&) noexcept = default;

const result::Layout& RunGradient::layout() const { return d_->system.layout(); }

std::vector<double> RunGradient::times() const {
  std::vector<double> out;
  for (std::int64_t f = 0; f < d_->frames(); ++f)
    out.push_back(static_cast<double>(d_->step_of_frame(f)) * d_->options.step);
  return out;
}

std::vector<std::pair<std::string, int>> RunGradient::freedoms() const {
  std::vector<std::pair<std::string, int>> out;
  const SystemData& s = d_->system.data();
  for (int i = 0; i < s.tree.size(); ++i)
    for (int k = 0; k < s.tree[i].dofs; ++k) out.emplace_back(s.model.joints()[i].name, k);
  return out;
}

namespace {

using Weights = std::map<std::int64_t, std::vector<articulated::WeightedColumn>>;  // by step

// A parameter: two systems at its two sides.
struct Side {
  System system;
  std::optional<articulated::LinearDynamics> dynamics{};  // where λ·r is looked at
  std::optional<articulated::Workspace> workspace{};      // where that of the system itself does not serve
  Side(const Model& model, const RunOptions& options)
      : system(articulated::compile(model, options.articulated)) {}
};
struct Parameter {
  Side up, down;
  double delta;
  bool wholly = false;         // λ·r has to be looked at
  std::vector<int> springs{};  // else of the springs of these links …
  bool elements = false;       // … and of elements and gravity
};

bool same_gravity(const SystemData& a, const SystemData& b) {
  const VectorFunction &g = a.model.gravity(), &other = b.model.gravity();
  return g.is_constant() && other.is_constant() && g.value(0) == other.value(0);
}

// Given motions are the same on both sides: their derivatives are not followed.
void require_same_motions(const SystemData& up, const SystemData& down, double t) {
  for (std::size_t k = 0; k < up.motions.size(); ++k) {
    const multibody::Link& link = up.tree[up.motions[k].link];
    double q[2][7] = {}, v[2][6] = {};
    articulated::prescribed(up.motions[k], link, t, q[0], v[0]);
    articulated::prescribed(down.motions[k], link, t, q[1], v[1]);
    if (!std::equal(q[0], q[0] + 7, q[1]) || !std::equal(v[0], v[0] + 6, v[1]))
      throw std::invalid_argument("the parameter changes a given motion: a run has no gradient by it");
  }
}

// What of the two sides has to be looked at at each stage.
void look_closer(Parameter& p) {
  const SystemData &up = p.up.system.data(), &down = p.down.system.data();
  p.wholly = articulated::differ_beyond_numbers(up, down);
  p.elements = !p.wholly && (articulated::elements_may_differ(up, down) || !same_gravity(up, down));
  if (!p.wholly) p.springs = articulated::springs_apart(up, down);
  for (Side* s : {&p.up, &p.down}) {
    if (p.wholly || p.elements) s->dynamics.emplace(s->system);
    if (p.wholly) s->workspace.emplace(s->system);
  }
}

// What follows by where the run starts, times how the start moves with the parameter.
double by_start(const SystemData& here, const Parameter& p, const std::vector<double>& q_bar,
                const std::vector<double>& v_bar) {
  const SystemData &up = p.up.system.data(), &down = p.down.system.data();
  double sum = 0;
  for (const multibody::Link& link : here.tree.links()) {
    double to_up[6] = {}, to_down[6] = {};
    const double* q = here.q0.data() + link.q;
    multibody::rates_between(link.kind, q, up.q0.data() + link.q, 1, to_up);
    multibody::rates_between(link.kind, q, down.q0.data() + link.q, 1, to_down);
    for (int k = 0; k < link.dofs; ++k)
      sum += q_bar[link.v + k] * (to_up[k] - to_down[k]) +
             v_bar[link.v + k] * (up.v0[link.v + k] - down.v0[link.v + k]);
  }
  return sum / (2 * p.delta);
}

class Backwards {
 public:
  Backwards(const System& system, std::vector<Parameter>& parameters, const Weights& weights,
            RunSensitivity& out)
      : system_(system),
        numbers_(system.data()),
        by_numbers_(std::ranges::any_of(parameters, [](const Parameter& p) { return !p.wholly; })),
        adjoint_(system),
        workspace_(system),
        parameters_(parameters),
        weights_(weights),
        out_(out) {
    const auto n = static_cast<std::size_t>(system.data().tree.v_count());
    q_bar.assign(n, 0.0), v_bar.assign(n, 0.0);
  }

  void look(std::int64_t step, const State& state) {
    const auto found = weights_.find(step);
    if (found == weights_.end()) return;
    const std::span<const articulated::WeightedColumn> columns = found->second;
    out_.value += articulated::sum_of_columns(system_, state, workspace_, columns);
    articulated::add_column_gradient(system_, state, workspace_, columns, q_bar, v_bar);
    for (std::size_t k = 0; k < parameters_.size(); ++k) {
      Parameter& p = parameters_[k];
      const auto value = [&](Side& s) {
        return articulated::sum_of_columns(s.system, state, s.workspace ? *s.workspace : workspace_, columns);
      };
      out_.by[k] += (value(p.up) - value(p.down)) / (2 * p.delta);
    }
  }

  void back(const StepPart& part, double* forces) {
    adjoint_.back(part, q_bar, v_bar);
    if (by_numbers_) adjoint_.add_to(numbers_);
    for (std::size_t k = 0; k < parameters_.size(); ++k) {
      Parameter& p = parameters_[k];
      require_same_motions(p.up.system.data(), p.down.system.data(), part.t);
      double apart = 0;
      if (p.wholly)
        apart = adjoint_.power(*p.up.dynamics) - adjoint_.power(*p.down.dynamics);
      else if (p.elements)
        apart = adjoint_.power_of_elements(*p.up.dynamics) - adjoint_.power_of_elements(*p.down.dynamics);
      if (!p.springs.empty())
        apart += adjoint_.power_of_springs(p.springs, p.up.system.data()) -
                 adjoint_.power_of_springs(p.springs, p.down.system.data());
      out_.by[k] += apart / (2 * p.delta);
    }
    if (!forces) return;
    for (const std::vector<double>& lambda : adjoint_.multipliers())
      for (std::size_t k = 0; k < lambda.size(); ++k) forces[k] -= lambda[k];
  }

  // What the system's own numbers say, once all parts are behind.
  void finish() {
    for (std::size_t k = 0; k < parameters_.size(); ++k) {
      const Parameter& p = parameters_[k];
      if (!p.wholly)
        out_.by[k] += numbers_.between(p.up.system.data(), p.down.system.data(), p.springs) / (2 * p.delta);
    }
  }

  std::vector<double> q_bar, v_bar;

 private:
  const System& system_;
  articulated::NumberGradient numbers_;
  bool by_numbers_;
  articulated::StepAdjoint adjoint_;
  articulated::Workspace workspace_;
  std::vector<Parameter>& parameters_;
  const Weights& weights_;
  RunSensitivity& out_;
};

bool is_told_by_the_past(const SystemData& s, int column) {
  int at = 0;
  for (const Probe& p : s.columns) {
    result::Layout one;
    observe::add_columns(s.model, {p}, one);
    at += static_cast<int>(one.scalars.size());
    if (column >= at) continue;
    const Told told = p.told();
    return told == Told::ledger || told == Told::load_work || p.quantity == Quantity::motion_work ||
           p.quantity == Quantity::drive_work;
  }
  return false;
}

Weights weights_by_step(const SystemData& s, std::span<const RecordedNumber> numbers, std::int64_t frames,
                        const auto& step_of_frame) {
  Weights out;
  for (const RecordedNumber& r : numbers) {
    const std::int64_t frame = r.frame < 0 ? r.frame + frames : r.frame;
    if (frame < 0 || frame >= frames)
      throw std::invalid_argument(fmt::format("there are {} frames, not {}", frames, r.frame));
    if (r.column < 0 || r.column >= static_cast<int>(s.layout.scalars.size()))
      throw std::invalid_argument("there is no such column");
    if (is_told_by_the_past(s, r.column))
      throw std::invalid_argument(
          fmt::format("{} adds up over the run: it has no gradient", s.layout.scalars[r.column].name));
    out[step_of_frame(frame)].push_back({r.column, r.weight});
  }
  return out;
}

}  // namespace

RunSensitivity RunGradient::of(std::span<const RecordedNumber> numbers, std::span<const ModelChange> changes,
                               bool forces) {
  Data& d = *d_;
  const SystemData& s = d.system.data();
  const Weights weights =
      weights_by_step(s, numbers, d.frames(), [&](std::int64_t frame) { return d.step_of_frame(frame); });
  std::vector<Parameter> parameters;
  parameters.reserve(changes.size());
  for (const ModelChange& c : changes) {
    parameters.push_back({Side(*c.up, d.options), Side(*c.down, d.options), c.delta});
    Parameter& p = parameters.back();
    require_same_kind(s, p.up.system.data());
    require_same_kind(s, p.down.system.data());
    look_closer(p);
  }
  RunSensitivity out;
  const auto n = static_cast<std::size_t>(s.tree.v_count());
  out.by.assign(changes.size(), 0.0);
  const std::int64_t steps = weights.empty() ? 0 : weights.rbegin()->first;  // nothing is asked beyond
  out.steps = steps;
  if (forces) out.forces.assign(static_cast<std::size_t>(d.steps) * n, 0.0);

  // Forwards: a checkpoint in front of each stretch. The parts of the last stretch are kept at once.
  const std::size_t bytes = 8 * (s.q0.size() + 7 * n) + 200;
  const auto stretch = std::max<std::int64_t>(1, static_cast<std::int64_t>(most_memory / bytes));
  std::vector<StepPart> parts;
  std::vector<std::size_t> first;  // part of each step of the stretch
  std::map<std::int64_t, State> seen;
  std::vector<State> checkpoints;
  const auto walk = [&](State state, std::int64_t from, std::int64_t to) {
    parts.clear(), first.clear(), seen.clear();
    d.workspace.data().trace = &parts;
    for (std::int64_t i = from; i <= to; ++i) {
      if (weights.contains(i)) seen.emplace(i, state);
      if (i == to) break;
      first.push_back(parts.size());
      d.take_step(state, i);
    }
    d.workspace.data().trace = nullptr;
    first.push_back(parts.size());
    return state;
  };
  State state = d.system.rest();
  for (std::int64_t from = 0; from < steps || from == 0; from += stretch) {
    checkpoints.push_back(state);
    state = walk(state, from, std::min(from + stretch, steps));
    if (steps == 0) break;
  }

  Backwards backwards(d.system, parameters, weights, out);
  for (std::size_t c = checkpoints.size(); c-- > 0;) {
    const std::int64_t from = static_cast<std::int64_t>(c) * stretch, to = std::min(from + stretch, steps);
    if (c + 1 < checkpoints.size()) {
      walk(checkpoints[c], from, to);
      out.recomputed += to - from;
    }
    if (to == steps)
      if (const auto found = seen.find(to); found != seen.end()) backwards.look(to, found->second);
    for (std::int64_t i = to; i-- > from;) {
      stop_if_requested();
      const auto k = static_cast<std::size_t>(i - from);
      for (std::size_t part = first[k + 1]; part-- > first[k];)
        backwards.back(parts[part], forces ? out.forces.data() + static_cast<std::size_t>(i) * n : nullptr);
      if (const auto found = seen.find(i); found != seen.end()) backwards.look(i, found->second);
    }
  }
  backwards.finish();
  out.positions = backwards.q_bar, out.velocities = backwards.v_bar;
  for (std::size_t k = 0; k < parameters.size(); ++k)
    out.by[k] += by_start(s, parameters[k], backwards.q_bar, backwards.v_bar);
  return out;
}

}  // namespace limber::sim
