#include "limber/sim/options.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "limber/sim/method_table.h"

namespace limber::sim {

namespace {

constexpr double max_steps = 9e15;  // below 2^53: i * step stays exact in i

void require(bool ok, const char* name, const char* expected, double value) {
  if (!ok) throw std::invalid_argument(fmt::format("{}: expected {}, got {}", name, expected, value));
}

}  // namespace

std::int64_t RunOptions::steps() const {
  // 1.1 / 0.1 is 11.000000000000002: a quotient that is whole up to rounding is meant to be whole.
  const double n = time / step;
  return static_cast<std::int64_t>(std::ceil(n - 1e-9 * std::max(1.0, n)));
}

std::int64_t RunOptions::steps_per_frame() const {
  return std::max<std::int64_t>(1,
                                static_cast<std::int64_t>(std::llround(std::min(frame / step, max_steps))));
}

const char* integrator_of(const RunOptions& o) {
  const MethodInfo& info = info_of(o.method);
  return info.integrator ? info.integrator(o) : "";
}

int threads_of(RunOptions o) {
  const MethodInfo& info = info_of(o.method);
  return info.threads ? *info.threads(o) : 1;
}
void set_threads(RunOptions& o, int threads) {
  for (const MethodInfo& info : method_table())
    if (info.threads) *info.threads(o) = threads;
}

void validate(const RunOptions& o) {
  require(std::isfinite(o.time) && o.time >= 0, "time", "a time of at least 0 s", o.time);
  require(std::isfinite(o.step) && o.step > 0, "step", "a positive time", o.step);
  require(o.time == 0 || o.step <= o.time * (1 + 1e-9), "step", "at most the time of the run", o.step);
  require(std::isfinite(o.frame) && o.frame > 0, "frame", "a positive time", o.frame);
  require(o.time / o.step < max_steps, "step", "fewer than 9e15 steps in all", o.step);
  require(o.articulated.tolerance > 0, "tolerance", "a positive number", o.articulated.tolerance);
  require(std::isfinite(o.articulated.error) && o.articulated.error >= 0, "error", "a number of at least 0",
          o.articulated.error);
  require(o.articulated.max_iterations > 0, "max_iterations", "at least 1", o.articulated.max_iterations);
  const thread::Options& t = o.thread;
  require(t.iterations >= 0, "iterations", "at least 0", t.iterations);
  require(t.substep > 0, "substep", "a positive time", t.substep);
  require(t.levels >= 0 && t.levels <= 12, "levels", "0 to 12", t.levels);
  require(t.bend > 0 && t.bend < 2, "bend", "an angle between 0 and 2 rad", t.bend);
  require(t.twist > 0 && t.twist < 3, "twist", "an angle between 0 and 3 rad", t.twist);
  require(t.join > 0 && t.join < 1, "join", "a number between 0 and 1", t.join);
  require(std::isfinite(t.error) && t.error >= 0, "error", "a length of at least 0", t.error);
  require(t.cg_tolerance > 0, "cg_tolerance", "a positive number", t.cg_tolerance);
  require(o.articulated.threads > 0, "threads", "at least 1", o.articulated.threads);
  require(std::isfinite(o.adaptive.error) && o.adaptive.error >= 0, "error", "a number of at least 0",
          o.adaptive.error);
  require(std::isfinite(o.adaptive.budget) && o.adaptive.budget >= 0, "budget", "a time of at least 0 s",
          o.adaptive.budget);
  require(o.adaptive.settle > 0 && o.adaptive.settle < 1, "settle", "a number between 0 and 1",
          o.adaptive.settle);
  require(o.adaptive.turn > 0 && o.adaptive.turn <= 1, "turn", "a number above 0, up to 1", o.adaptive.turn);
  const rom::Options& r = o.rom;
  require(r.build.modes >= 0 && r.build.modes <= 100, "modes", "0 to 100", r.build.modes);
  require(r.force >= 0 && std::isfinite(r.force), "range.force", "a force of at least 0 N", r.force);
  require(r.moment >= 0 && std::isfinite(r.moment), "range.moment", "a moment of at least 0 N m", r.moment);
  require(r.end_error > 0, "end_error", "a positive number", r.end_error);
  require(r.gap_error > 0, "gap_error", "a positive number", r.gap_error);
  require(r.most_points >= 1 && r.most_points <= 1000, "most_points", "1 to 1000", r.most_points);
  require(r.sweeps >= 1, "sweeps", "at least 1", r.sweeps);
  if (o.from_static && !info_of(o.method).rest)
    throw std::invalid_argument(
        fmt::format("from: method {} finds no rest: it starts as written", to_string(o.method)));
}

}  // namespace limber::sim
