#include "limber/sim/driver.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "limber/articulated/statics.h"
#include "limber/sim/method_table.h"
#include "limber/sim/methods.h"
#include "limber/sim/reduce.h"

namespace limber::sim {

ArticulatedDriver::ArticulatedDriver(const Model& model, const articulated::Options& options,
                                     bool from_static)
    : system(articulated::compile(model, options)), state(system.rest()), workspace(system) {
  if (!from_static) return;
  const auto found = articulated::solve_static(system, state, workspace);
  if (!found.report.ok()) throw StaticFailure("--from static: " + found.report.message);
  articulated::open_ledger(system, state, workspace);
}

bool ArticulatedDriver::finite() const {
  const auto is_finite = [](double x) { return std::isfinite(x); };
  return std::ranges::all_of(state.q, is_finite) && std::ranges::all_of(state.v, is_finite);
}

ThreadDriver::ThreadDriver(const Model& model, const thread::Options& options, bool from_static)
    : system(thread::compile(model, options)), state(system.rest()), workspace(system) {
  if (!from_static) return;
  const auto found = thread::solve_static(system, state, workspace);
  if (!found.report.ok()) throw StaticFailure("--from static: " + found.report.message);
  thread::open_ledger(system, state, workspace);
  start_warning = found.report.warning;
}

result::SolveReport ThreadDriver::step(double h) {
  result::SolveReport report = thread::step(system, state, workspace, h);
  if (!start_warning.empty()) report.warning = start_warning;
  return report;
}

bool ThreadDriver::finite() const {
  const auto is_finite = [](double x) { return std::isfinite(x); };
  return std::ranges::all_of(state.e, is_finite) && std::ranges::all_of(state.v, is_finite);
}

RomDriver::RomDriver(const Model& model, const RunOptions& options)
    : system(
          rom::compile(model, options.reduced ? *options.reduced : reduce(model, options.rom), options.rom)),
      state(system.rest()),
      workspace(system) {}

bool RomDriver::finite() const {
  const auto is_finite = [](double x) { return std::isfinite(x); };
  return std::ranges::all_of(state.q, is_finite) && std::ranges::all_of(state.v, is_finite);
}

// A joint that is lost shows in the sums over the joints that moved: no walk over all of them.
bool AdaptiveDriver::finite() const {
  return std::isfinite(state.total) && std::isfinite(state.largest) && std::isfinite(state.distance);
}

namespace {

Driver make_driver(const Model& model, const RunOptions& options) {
  const MethodInfo& info = info_of(options.method);
  if (auto problems = start_refusals(model, options); !problems.empty())
    throw ModelError(std::move(problems));
  if (info.make) return info.make(model, options);
  throw ModelError(
      {{"run", "", "method",
        fmt::format(
            "method {} finds where a scene comes to rest (limber static) and does not run; those that "
            "run: {}",
            info.name(), fmt::join(names_of_methods(false), ", "))}});
}

}  // namespace

Driver::Driver(const Model& model, const RunOptions& options) : Driver(make_driver(model, options)) {}

}  // namespace limber::sim
