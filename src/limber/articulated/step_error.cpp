// A step divided so that each part keeps its share of a given error.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "limber/articulated/stepper.h"
#include "limber/math/trig.h"

namespace limber::articulated {

using result::SolveReport;
using result::Status;

namespace {

constexpr double shortest_part = 1e-6;  // of a step
constexpr int most_parts = 20'000;      // that are tried: beyond that it hardly moves

// What a step by error has spent of what it may.
struct Spent {
  int parts = 0;         // tried
  double error = 0;      // of parts that missed their share
  double long_part = 0;  // [s] the first of them
  int astray = 0;        // estimates in a row that are far out
  bool stiff = false;    // parts of gauss are judged by halves: explicit steps beside them go astray
};

// A part is too far off, and a shorter one can be no better.
bool out_of_reach(const SystemData& s, const Spent& spent, double t, SolveReport& report) {
  if (spent.parts <= most_parts && spent.error <= s.options.error) return false;
  report.status = Status::not_converged;
  report.time = t;
  report.message = fmt::format(
      "at t = {:.9g} s: the error of {:.3g} a step that was asked for is out of reach: {}; ask for a larger "
      "one, or for shorter steps",
      t, s.options.error,
      spent.parts > most_parts
          ? fmt::format("after {} parts the step is not over", most_parts)
          : fmt::format("parts of {:g} of a step add up to {:.3g}", shortest_part, spent.error));
  return true;
}

// Below this error halves, whose estimate is of fourth order, are cheaper than one of third order.
constexpr double least_of_weights = 1e-6;

// An estimate so many times what is allowed is that of an explicit step gone astray, or of a part far too
// long: one that is shortened and still so far out is stiff. Below it shorter parts are cheaper than halves,
// which are three steps.
constexpr double far_beyond = 100;
constexpr int most_astray = 3;  // in a row, each a third or less of the one before

// The stages tell what a part is off by, and where it has been. (With contacts things happen within it; what
// the end of a part knows leaves out what controllers add up.)
bool tells_its_error(const SystemData& s, const WorkspaceData& w, const Spent& spent) {
  const Integrator by = s.options.integrator;
  return !w.contacts && w.control.empty() && !spent.stiff && !s.options.halves &&
         (by == Integrator::rk4 || by == Integrator::gauss ||
          (by == Integrator::sdirk4 && s.options.error >= least_of_weights));
}

// A part that is taken: its end, error and by which power of its length the error falls.
struct Part {
  bool good = false;
  double error = 0;     // of the structure's size
  int power = 1;        // of the error over the part's length
  bool smooth = false;  // what stands within it is known
};

// Once in two halves beside the whole, which is in w.whole if it was taken already; the end is in w.halves.
Part take_halves(const SystemData& s, const State& state, WorkspaceData& w, double t, double tau, bool whole,
                 SolveReport& report) {
  const int order = order_of(s.options.integrator);
  SolveReport coarse;
  Part part{.power = order};
  if (!whole) w.whole = state;
  w.halves = state;
  part.good = whole || Stepper(s, w.whole, w, coarse).advance(t, tau, 0);
  part.good = part.good && Stepper(s, w.halves, w, report).advance(t, tau / 2, 0) &&
              Stepper(s, w.halves, w, report).advance(t + tau / 2, tau / 2, 0);
  if (coarse.status != Status::ok) report.status = coarse.status, report.message = coarse.message;
  if (part.good) part.error = distance(s, w.whole.q, w.halves.q, w) / s.size / ((1 << order) - 1);
  return part;
}

// By the stages' own estimate where the integrator has one and the part was taken whole, else in halves.
Part take(const SystemData& s, const State& state, WorkspaceData& w, double t, double tau, double wanted,
          Spent& spent, SolveReport& report) {
  if (!tells_its_error(s, w, spent)) return take_halves(s, state, w, t, tau, false, report);
  w.whole = state;
  const auto splits = report.substeps;
  w.own_estimate = true;
  Stepper one(s, w.whole, w, report);
  const bool good = one.advance(t, tau, 0);
  w.own_estimate = false;
  if (!good) return {};
  if (one.estimate() < 0 || report.substeps != splits) return take_halves(s, state, w, t, tau, true, report);
  const double error = one.estimate() / s.size;
  const bool far = s.options.integrator == Integrator::gauss && !(error <= far_beyond * wanted);
  spent.astray = far ? spent.astray + 1 : 0;
  if (spent.astray == 1) spent.long_part = tau;
  if (spent.astray > most_astray) {
    const Part halves = take_halves(s, state, w, t, tau, true, report);
    spent.stiff = halves.good && halves.error <= wanted;
    return halves;
  }
  std::swap(w.whole, w.halves);
  return {true, error, s.options.integrator == Integrator::sdirk4 ? 3 : 4, true};
}

// A part is so much longer or shorter than the one whose error is `ratio` below its share. Where the part
// before it had such a ratio too (0: none), a controller with proportional and integral part: it does not
// chase every wave of the estimate (Gustafsson 1991).
double factor_of(double ratio, double before, int power) {
  constexpr double aim = 0.6;  // of what is allowed
  if (before > 0) return math::pow(aim * ratio, 0.7 / power) * math::pow(aim * before, -0.4 / power);
  const double root = power == 1   ? ratio
                      : power == 2 ? std::sqrt(ratio)
                      : power == 3 ? math::pow(ratio, 1.0 / 3)
                                   : std::sqrt(std::sqrt(ratio));
  return 0.9 * root;
}

// The frames that are to be told within a step.
struct Frames {
  std::span<State> states;
  double start, h;  // [s] of the step
  std::size_t next = 0;

  bool left() const { return next < states.size(); }
  double time() const {
    return start + h * (static_cast<double>(next + 1) / static_cast<double>(states.size() + 1));
  }
  bool before(double t) const { return left() && time() < t - 1e-12 * h; }
};

// Two parts where one would leave a sliver.
double length_of(double part, double rest) { return rest <= part ? rest : rest < 2 * part ? rest / 2 : part; }

// Frames up to t + tau, from the part in w.halves that begins at the state.
void tell_frames(const SystemData& s, const State& state, const WorkspaceData& w, double t_end,
                 Frames& frames) {
  for (; frames.before(t_end); ++frames.next)
    interpolate(s, state, w.node, w.halves, w.node_end, frames.time(), frames.states[frames.next]);
  if (!frames.left() || frames.time() > t_end + 1e-12 * frames.h) return;
  State& out = frames.states[frames.next];
  out = w.halves;
  out.t = frames.time();
  ++frames.next;
}

// The part in w.halves is taken.
void accept(State& state, WorkspaceData& w) {
  std::swap(state.q, w.halves.q);
  std::swap(state.v, w.halves.v);
  std::swap(state.a, w.halves.a);
  state.dissipated = w.halves.dissipated;
  state.work = w.halves.work;
  std::swap(state.works, w.halves.works);
  std::swap(state.control, w.halves.control);
  std::swap(state.touching, w.halves.touching);
  state.overlap = w.halves.overlap;
  state.made = w.halves.made;
  state.at_stake = w.halves.at_stake;
  std::swap(w.node, w.node_end);
  w.node_end.known = false;
}

}  // namespace

double distance(const SystemData& s, const std::vector<double>& a, const std::vector<double>& b,
                WorkspaceData& w) {
  std::vector<LinkMotion>& links = w.at_end.links;  // its owner is measured anew at the end of a step
  w.at_end.has_links = false;
  links.resize(s.tree.size());
  multibody::poses(s.tree, a.data(), links, w.workers.get());
  multibody::poses(s.tree, b.data(), w.links_other, w.workers.get());
  double largest = 0;
  for (int i = 0; i < s.tree.size(); ++i) {
    const Pose &A = links[i].X_WM, &B = w.links_other[i].X_WM;
    largest = std::max({largest, (A.p - B.p).norm(), s.size * (A.R - B.R).norm() / std::sqrt(2.0)});
  }
  return largest;
}

// The step in parts, each with an estimate of its error, which may have its share of the step's. Where
// something happens at once (a stop is hit) no part is short enough: the shortest is taken as it is, while
// what such parts are off by adds up to no more than the whole step may be. Frames within a part are
// interpolated where it is smooth; else parts end at them.
bool advance_adaptively(const SystemData& s, State& state, WorkspaceData& w, SolveReport& report, double h,
                        std::span<State> between) {
  double t = state.t, part = state.part > 0 ? std::min(state.part, h) : h, before = 0;
  const double end = state.t + h, least = h * shortest_part;
  w.node.known = w.node_end.known = false;
  w.own_estimate = false;  // a step that was stopped may have left it
  w.wants_nodes = !between.empty();
  Frames frames{between, state.t, h};
  bool to_frame = false;
  for (Spent spent; end - t > 1e-12 * h;) {
    to_frame = to_frame || !tells_its_error(s, w, spent);
    ++spent.parts;
    if (out_of_reach(s, spent, t, report)) return false;
    double tau = length_of(part, end - t);
    if (to_frame && frames.before(t + tau)) tau = frames.time() - t;
    const double wanted = s.options.error * tau / h;
    const Part taken = take(s, state, w, t, tau, wanted, spent, report);
    if (!taken.good) {
      if (tau <= least) return false;
      report.status = Status::ok;
      part = tau / 4;
      ++report.substeps;
      continue;
    }
    const double error = taken.error;
    const double ratio = error > 0 ? wanted / error : 1e6;
    if (!(error <= wanted) && tau > least) {
      part = std::max(least, tau * std::clamp(factor_of(ratio, 0, taken.power), 0.1, 0.8));
      ++report.rejected;
      before = 0;
      continue;
    }
    if (!taken.smooth && !to_frame && frames.before(t + tau)) {
      to_frame = true;
      ++report.rejected;
      continue;
    }
    if (error > wanted) spent.error += error;
    tell_frames(s, state, w, t + tau, frames);
    accept(state, w);
    t += tau;
    ++report.parts;
    to_frame = false;
    const double next = tau * std::clamp(factor_of(ratio, before, taken.power), 0.2, 4.0);
    before = taken.smooth ? std::min(ratio, 16.0) : 0;                 // more says only that it was short
    part = std::max(least, tau < part ? std::max(part, next) : next);  // one cut short says less
    if (spent.stiff) part = std::max(part, std::exchange(spent.long_part, 0.0));
  }
  state.part = part;
  return true;
}

}  // namespace limber::articulated
