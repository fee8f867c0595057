// A step divided so that each part keeps its share of a given error.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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
  int parts = 0;     // tried
  double error = 0;  // of parts that missed their share
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
constexpr double least_of_estimate = 1e-6;

// A part that is taken: its end, error and by which power of its length the error falls.
struct Part {
  bool good = false;
  double error = 0;  // of the structure's size
  int power = 1;     // of the error over the part's length
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
Part take(const SystemData& s, const State& state, WorkspaceData& w, double t, double tau,
          SolveReport& report) {
  if (s.options.integrator != Integrator::sdirk4 || s.options.error < least_of_estimate)
    return take_halves(s, state, w, t, tau, false, report);
  w.whole = state;
  const auto splits = report.substeps;
  Stepper one(s, w.whole, w, report);
  if (!one.advance(t, tau, 0)) return {};
  if (one.estimate() < 0 || report.substeps != splits) return take_halves(s, state, w, t, tau, true, report);
  std::swap(w.whole, w.halves);
  return {true, one.estimate() / s.size, 3};
}

// A part is so much longer or shorter than the one whose error is `ratio` below its share.
double factor_of(double ratio, int power) {
  const double root = power == 1   ? ratio
                      : power == 2 ? std::sqrt(ratio)
                      : power == 3 ? math::pow(ratio, 1.0 / 3)
                                   : std::sqrt(std::sqrt(ratio));
  return 0.9 * root;
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
// what such parts are off by adds up to no more than the whole step may be.
bool advance_adaptively(const SystemData& s, State& state, WorkspaceData& w, SolveReport& report, double h) {
  double t = state.t, part = state.part > 0 ? std::min(state.part, h) : h;
  const double end = state.t + h, least = h * shortest_part;
  for (Spent spent; end - t > 1e-12 * h;) {
    ++spent.parts;
    if (out_of_reach(s, spent, t, report)) return false;
    const double tau = std::min(part, end - t);
    const Part taken = take(s, state, w, t, tau, report);
    if (!taken.good) {
      if (tau <= least) return false;
      report.status = Status::ok;
      part = tau / 4;
      ++report.substeps;
      continue;
    }
    const double error = taken.error, wanted = s.options.error * tau / h;
    const double ratio = error > 0 ? wanted / error : 1e6;
    const double factor = factor_of(ratio, taken.power);
    if (error > wanted && tau > least) {
      part = std::max(least, tau * std::clamp(factor, 0.1, 0.8));
      ++report.substeps;
      continue;
    }
    if (error > wanted) spent.error += error;
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
    t += tau;
    part = std::max(least, tau * std::clamp(factor, 0.2, 4.0));
  }
  state.part = part;
  return true;
}

}  // namespace limber::articulated
