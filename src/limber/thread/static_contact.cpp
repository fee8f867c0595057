// Rests of threads that lean on things, on each other and on themselves (docs/theory/thread.md, "Rest").
//
// As `articulated` does (its static_contact.cpp): steps of backward Euler that each start at rest,
//
//   M v/h = f(e₁) + Jᵀλ,   e₁ = e₀ + h v,   0 ≤ gap ⟂ λ_n ≥ 0,   λ_t in Coulomb's disk against the slip,
//
// each the nearest rest pulled back by M/h² to where it began: downhill at any length, Newton's step where it
// is long. What is left over of the forces is M v/h. A rest with friction is one of many: the one that is met
// on the way. A step moves less than a thread's radius, so that nothing is passed through. Whether the rest
// is stable is tried with pushes.
#include "limber/thread/static_contact.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "limber/math/stop.h"

namespace limber::thread {
namespace {

constexpr int most_settling_steps = 20000;
constexpr double first_of_natural = 0.01;  // of the natural time √(size/acceleration)
constexpr double longest_of_natural = 1000;
constexpr double usual_way = 0.4;  // of the smallest radius, in a step; more, and the next one is shorter
constexpr double settled = 1e-11;  // of the forces that act
constexpr double settled_at_last = 1e-8;
constexpr double far_away = 20;  // sizes from where it began: nothing holds it
constexpr int most_pushes = 4;
constexpr double push_share = 0.01;      // of the forces that act …
constexpr double push_share_time = 0.1;  // … for so much of the natural time
constexpr double push_grown = 10;        // times what the push did
constexpr double least_way = 1e-9;       // of the size: what sticks does not move at all
constexpr double trial_begin = 1e-3, trial_growth_rate = 1.2, trial_end = 1;  // of steps, of the natural time

// Nothing depends on time, loads and weight are the share that acts, steps are backward Euler's.
std::shared_ptr<SystemData> frozen_at(const SystemData& s, double t, double load) {
  auto out = std::make_shared<SystemData>(s);
  const auto now = [&](VectorFunction& f) { f = VectorFunction::constant(load * f.value(t)); };
  ModelParts parts = s.model.parts();
  now(parts.gravity);
  out->model = Model(std::move(parts));
  for (ThreadLoad& l : out->loads) now(l.force), now(l.moment);
  for (LineLoad& l : out->line_loads) now(l.force);
  for (BodyLoad& l : out->body_loads) now(l.force), now(l.moment);
  for (DrivenBody& b : out->bodies) {
    for (TimeFunction& f : b.q) f = TimeFunction(f.value(t));
    b.moves = false;
  }
  for (Fix& f : out->fixes)
    if (f.until <= t) f.until = -1;
  out->cuts.clear();
  out->driven_solids = false;
  out->options.integrator = Integrator::euler;
  out->options.iterations = 0;
  out->options.substep = std::numeric_limits<double>::infinity();
  out->options.levels = 0;
  return out;
}

class Settling {
 public:
  Settling(const SystemData& s, const State& state, double load)
      : data_(frozen_at(s, state.t, load)), system_(data_), state_(state), w_(system_) {
    stop();
  }

  bool find(StaticResult& out);
  bool is_stable();
  const State& state() const { return state_; }

 private:
  void stop() {
    std::fill(state_.v.begin(), state_.v.end(), 0.0);
    state_.t = 0, state_.step = 0, state_.h_before = 0;
  }
  bool advance(double h) {
    stop_if_requested();
    stop();
    report_ = step(system_, state_, w_, h);
    ++steps_;
    return report_.ok();
  }
  double farthest_from(const std::vector<double>& e) const {
    double most = 0;
    for (std::size_t i = 0; i < e.size(); i += 12)
      most = std::max(
          most, (Eigen::Map<const Vec3>(state_.e.data() + i) - Eigen::Map<const Vec3>(e.data() + i)).norm());
    return most;
  }
  double mass_of(int node) { return w_.data().weight[2 * static_cast<std::size_t>(node)]; }
  double left_over(double h, const std::vector<double>& before);
  double acting();
  bool fail(StaticResult& out, std::string message) const;
  bool grows(const State& rest, unsigned seed);

  std::shared_ptr<SystemData> data_;
  System system_;
  State state_;
  Workspace w_;
  result::SolveReport report_;
  double natural_ = 0;  // [s] in which what acts moves it by its size
  int steps_ = 0;
};

// M v/h, at the nodes.
double Settling::left_over(double h, const std::vector<double>& before) {
  double most = 0;
  for (int j = 0; j < state_.node_count(); ++j) {
    const Eigen::Map<const Vec3> a(before.data() + 12 * j), b(state_.e.data() + 12 * j);
    most = std::max(most, mass_of(j) * (b - a).norm() / (h * h));
  }
  return most;
}

// The largest weight of a node, load or force of contact.
double Settling::acting() {
  const double g = data_->model.gravity().value(0).norm();
  double most = 0;
  for (int j = 0; j < state_.node_count(); ++j) most = std::max(most, g * mass_of(j));
  for (const ThreadLoad& l : data_->loads) most = std::max(most, l.force.value(0).norm());
  for (const BodyLoad& l : data_->body_loads) most = std::max(most, l.force.value(0).norm());
  for (std::size_t k = 0; k + LastTouch::size <= state_.touch.size(); k += LastTouch::size)
    most = std::max(most, Eigen::Map<const Vec3>(state_.touch.data() + k + 4).norm());
  return most;
}

bool Settling::fail(StaticResult& out, std::string message) const {
  out.report.status = result::Status::not_converged;
  out.report.total_iterations = steps_;
  out.report.message = std::move(message);
  return false;
}

bool Settling::find(StaticResult& out) {
  const double size = data_->size, usual = usual_way * data_->smallest_radius;
  const State start = state_;
  // By a step so short that nothing bends: how fast it sets off.
  double h = 1e-6 * std::sqrt(size / std::max(data_->model.gravity().value(0).norm(), 1e-3));
  if (!advance(h)) return fail(out, report_.message);
  const double set_off = farthest_from(start.e) / (h * h);
  natural_ = set_off > 0 ? std::sqrt(size / set_off) : 0;
  state_ = start;
  h = first_of_natural * natural_;
  double best = std::numeric_limits<double>::infinity();
  for (int no_better = 0; natural_ > 0;) {
    if (steps_ >= most_settling_steps)
      return fail(out,
                  fmt::format("no rest that leans on something found in {} steps: forces of {:.2g} of those "
                              "that act are left over",
                              steps_, best));
    const State before = state_;
    const bool good = advance(h);
    if (!good || report_.substeps > 0) {
      state_ = before;
      if ((h /= 4) < 1e-9 * natural_) return fail(out, report_.message);
      continue;
    }
    if (farthest_from(start.e) > far_away * size)
      return fail(out, "it slides, rolls or falls away: nothing holds it");
    const double left = left_over(h, before.e) / std::max(acting(), 1e-300);
    no_better = left < 0.5 * best ? 0 : no_better + 1;
    best = std::min(best, left);
    out.residual = left;
    if (left <= settled || (left <= settled_at_last && no_better > 3)) break;
    const double way = farthest_from(before.e);
    h = way > usual ? h * std::max(0.25, usual / way)
                    : std::min(std::min(2.0, 0.9 * std::sqrt(usual / std::max(way, 1e-300))) * h,
                               longest_of_natural * natural_);
  }
  stop();
  out.report = report_;
  out.report.status = result::Status::ok;
  out.report.total_iterations = steps_;
  return true;
}

// With random dead forces on all nodes it takes one step; without them it moves on in steps that start at
// rest and grow: whether it gets much farther than the push took it.
bool Settling::grows(const State& rest, unsigned seed) {
  auto pushed = std::make_shared<SystemData>(*data_);
  const auto random = [&seed] {
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) * (2.0 / 16777216) - 1;
  };
  state_ = rest;
  const double force = push_share * acting();
  for (std::size_t t = 0; t < data_->threads.size(); ++t) {
    const int last = rest.place[rest.first[t + 1] - 1];
    for (int j = rest.first[t]; j < rest.first[t + 1]; ++j) {
      ThreadLoad load;
      load.thread = static_cast<int>(t), load.s = static_cast<double>(rest.place[j]) / last;
      load.force = VectorFunction::constant(force * Vec3(random(), random(), random()));
      load.moment = VectorFunction::constant(Vec3::Zero());
      pushed->loads.push_back(load);
    }
  }
  const System system(pushed);
  Workspace w(system);
  if (!step(system, state_, w, push_share_time * natural_).ok()) return false;
  const double way = std::max(farthest_from(rest.e), least_way * data_->size);
  for (double h = trial_begin * natural_; h < trial_end * natural_; h *= trial_growth_rate) {
    if (!advance(h)) return false;  // a longer step than it can take says nothing
    if (farthest_from(rest.e) > push_grown * way) return true;
  }
  return false;
}

bool Settling::is_stable() {
  const State rest = state_;
  bool stable = true;
  for (unsigned k = 1; stable && natural_ > 0 && k <= most_pushes; ++k) stable = !grows(rest, k);
  state_ = rest;
  return stable;
}

}  // namespace

bool settle_touching(const SystemData& s, State& state, double load, StaticResult& out) {
  Settling settling(s, state, load);
  if (!settling.find(out)) return false;
  const bool touches = !settling.state().touch.empty();
  if (touches) {
    out.pushes = most_pushes;
    out.negative = settling.is_stable() ? 0 : 1;
  }
  const State& found = settling.state();
  state.e = found.e, state.touch = found.touch, state.strain_before = found.strain_before;
  state.e_before = state.e;
  std::fill(state.v.begin(), state.v.end(), 0.0);
  state.v_before = state.v;
  state.h_before = 0;
  return true;
}

}  // namespace limber::thread
