#include "limber/sim/driver.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "limber/articulated/statics.h"
#include "limber/result/state_bytes.h"
#include "limber/sim/method_table.h"
#include "limber/sim/methods.h"
#include "limber/sim/reduce.h"

namespace limber::sim {

ArticulatedDriver::ArticulatedDriver(const Model& model, const articulated::Options& options,
                                     bool from_static)
    : compiled(articulated::compile(model, options)),
      system(compiled),
      state(system.rest()),
      workspace(system) {
  if (!from_static) return;
  const auto found = articulated::solve_static(system, state, workspace);
  if (!found.report.ok()) throw StaticFailure("--from static: " + found.report.message);
  articulated::open_ledger(system, state, workspace);
}

void ArticulatedDriver::apply(std::span<const Done> actions) {
  articulated::System now = articulated::after(compiled, actions);
  articulated::take_over(system, now, state, workspace);
  system = std::move(now);
}

bool ArticulatedDriver::finite() const {
  const auto is_finite = [](double x) { return std::isfinite(x); };
  return std::ranges::all_of(state.q, is_finite) && std::ranges::all_of(state.v, is_finite);
}

ThreadDriver::ThreadDriver(const Model& model, const thread::Options& options, bool from_static)
    : compiled(thread::compile(model, options)), system(compiled), state(system.rest()), workspace(system) {
  if (!from_static) return;
  const auto found = thread::solve_static(system, state, workspace);
  if (!found.report.ok()) throw StaticFailure("--from static: " + found.report.message);
  thread::open_ledger(system, state, workspace);
  start_warning = found.report.warning;
}

void ThreadDriver::apply(std::span<const Done> actions) {
  system = thread::after(compiled, actions);
  workspace = thread::Workspace(system);
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

Driver::Driver(const Model& model, const RunOptions& options) : Driver(make_driver(model, options)) {
  if (!Conductor::is_needed(model)) return;
  conductor_ = std::make_unique<Conductor>(model, layout(), info_of(options.method).name());
  conductor_->start(*this);
}

Driver Driver::of_history(const Model& model) {
  return Driver(Variant(std::in_place_type<HistoryDriver>, model));
}

// What happened stands before the method's state: the system that it is of follows from that.
std::string Driver::save() const {
  if (!conductor_) return save_plainly();
  result::StateWriter out;
  out.put(conductor_->save());
  out.put(save_plainly());
  return out.take();
}

void Driver::load(const std::string& bytes) {
  if (!conductor_) return load_plainly(bytes);
  result::StateReader in(bytes);
  std::string events, state;
  in.get(events), in.get(state);
  in.end();
  const std::size_t before = conductor_->done().size();
  conductor_->load(events);
  if (before + conductor_->done().size() > 0) apply(conductor_->done());
  load_plainly(state);
}

}  // namespace limber::sim
