#include "limber/sim/driver.h"

#include <algorithm>
#include <cmath>

#include "limber/articulated/statics.h"
#include "limber/sim/reduce.h"

namespace limber::sim {

ArticulatedDriver::ArticulatedDriver(const Model& model, const articulated::Options& options,
                                     bool from_static)
    : system(articulated::compile(model, options)), state(system.rest()), workspace(system) {
  if (!from_static) return;
  const auto found = articulated::solve_static(system, state, workspace);
  if (!found.report.ok()) throw StaticFailure("--from static: " + found.report.message);
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

Driver::Variant Driver::make(const Model& model, const RunOptions& options) {
  switch (options.method) {
    case Method::thread:
      return Variant(std::in_place_type<ThreadDriver>, model, options.thread, options.from_static);
    case Method::rom:
      return Variant(std::in_place_type<RomDriver>, model, options);
    case Method::articulated:
      break;
    case Method::adaptive:
      return Variant(std::in_place_type<AdaptiveDriver>, model, options.adaptive);
  }
  return Variant(std::in_place_type<ArticulatedDriver>, model, options.articulated, options.from_static);
}

}  // namespace limber::sim
