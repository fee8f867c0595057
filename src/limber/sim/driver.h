// A driver wraps one of the methods that run: system, state and scratch behind the same few calls. A new
// method is one more struct, one more alternative of `Driver`, and a row of method_table.h.
#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "limber/adaptive/adaptive.h"
#include "limber/adaptive/live.h"
#include "limber/articulated/articulated.h"
#include "limber/articulated/live.h"
#include "limber/result/fields.h"
#include "limber/result/hand.h"
#include "limber/result/report.h"
#include "limber/result/snapshot.h"
#include "limber/rom/live.h"
#include "limber/rom/rom.h"
#include "limber/sim/conductor.h"
#include "limber/sim/history_driver.h"
#include "limber/sim/options.h"
#include "limber/thread/live.h"
#include "limber/thread/thread.h"

namespace limber::sim {

// A run that should start at rest, and found no place to rest.
struct StaticFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct ArticulatedDriver {
  articulated::System compiled, system;  // system: after events
  articulated::State state;
  articulated::Workspace workspace;
  std::vector<articulated::State> between = {};  // frames within the last step

  ArticulatedDriver(const Model& model, const articulated::Options& options, bool from_static);

  const result::Layout& layout() const { return system.layout(); }
  const Model& model() const { return system.model(); }
  int dof_count() const { return system.dof_count(); }
  std::string solver() const { return system.solver(); }
  result::SolveReport step(double h) { return articulated::step(system, state, workspace, h, between); }
  void observe(result::Snapshot& snapshot) { articulated::observe(system, state, workspace, snapshot); }
  void set_frames_per_step(std::int64_t n) { between.assign(n - 1, state); }
  void observe_between(std::size_t i, result::Snapshot& snapshot) {
    articulated::observe(system, between[i], workspace, snapshot);
  }
  void set_clock(std::int64_t step, double t) { state.step = step, state.t = t; }
  bool finite() const;  // every number of the state
  std::string save() const { return state.save(); }
  void load(const std::string& bytes) { state.load(bytes); }
  void apply(std::span<const Done> actions);
  void set_control(std::size_t controller, double force) { state.control[controller] = force; }

  // For a live view (articulated/live.h).
  bool hold(const result::Hand& handle) { return articulated::hold(system, workspace, handle); }
  void release() { articulated::release(system, workspace); }
  int held_body() { return articulated::held_body(workspace); }
  result::Pull pull() { return articulated::pull(system, state, workspace); }
  void scale_loads(double factor) { articulated::scale_loads(workspace, factor); }
  result::Fields fields() { return articulated::fields(system, state, workspace); }
  void touches(result::Touches& out) { articulated::touches(system, state, out); }
  void touches_between(std::size_t i, result::Touches& out) { articulated::touches(system, between[i], out); }
  std::vector<result::Reading> readings(const std::string& name) {
    return articulated::readings(system, state, workspace, name);
  }
  Model model_at() const { return articulated::model_at(system, state); }
  bool adopt(const result::Layout& layout, const result::Snapshot& before, const result::Snapshot& now) {
    return articulated::adopt(system, state, layout, before, now);
  }
};

struct AdaptiveDriver {
  adaptive::System system;
  adaptive::State state;
  adaptive::Workspace workspace;

  AdaptiveDriver(const Model& model, const adaptive::Options& options)
      : system(adaptive::compile(model, options)), state(system.rest()), workspace(system) {}

  const result::Layout& layout() const { return system.layout(); }
  const Model& model() const { return system.model(); }
  int dof_count() const { return system.dof_count(); }
  std::string solver() const { return "assembly tree"; }
  result::SolveReport step(double h) { return adaptive::step(system, state, workspace, h); }
  void observe(result::Snapshot& snapshot) { adaptive::observe(system, state, workspace, snapshot); }
  result::Fields fields() { return adaptive::fields(system, state); }
  void set_clock(std::int64_t step, double t) { state.step = step, state.t = t; }
  bool finite() const;  // every joint that the last step moved
  std::string save() const { return state.save(); }
  void load(const std::string& bytes) { state.load(bytes); }

  // For a live view (adaptive/live.h).
  bool hold(const result::Hand& handle) { return adaptive::hold(system, state, workspace, handle); }
  void release() { adaptive::release(system, state, workspace); }
  result::Pull pull() { return adaptive::pull(system, state, workspace); }
  std::vector<result::Reading> readings(const std::string& name) {
    return adaptive::readings(system, state, name);
  }
};

struct ThreadDriver {
  thread::System compiled, system;  // system: after events
  thread::State state;
  thread::Workspace workspace;
  std::string start_warning;  // of the rest that it starts from

  ThreadDriver(const Model& model, const thread::Options& options, bool from_static);

  const result::Layout& layout() const { return system.layout(); }
  const Model& model() const { return system.model(); }
  int dof_count() const { return system.dof_count(); }
  std::string solver() const { return system.solver(); }
  result::SolveReport step(double h);
  void observe(result::Snapshot& snapshot) { thread::observe(system, state, workspace, snapshot); }
  void set_clock(std::int64_t step, double t) { state.step = step, state.t = t; }
  bool finite() const;
  std::string save() const { return state.save(); }
  void load(const std::string& bytes) { state.load(bytes); }
  void apply(std::span<const Done> actions);

  // For a live view (thread/live.h).
  bool hold(const result::Hand& handle) { return thread::hold(system, workspace, handle); }
  std::optional<Change> cut_at(int point) const { return thread::cut_at(system, state, point); }
  void release() { thread::release(workspace); }
  result::Pull pull() { return thread::pull(system, state, workspace); }
  result::Fields fields() { return thread::fields(system, state, workspace); }
  void touches(result::Touches& out) { thread::touches(system, state, workspace, out); }
  std::vector<result::Reading> readings(const std::string& name) {
    return thread::readings(system, state, workspace, name);
  }
  bool adopt(const result::Layout& layout, const result::Snapshot& before, const result::Snapshot& now) {
    return thread::adopt(system, state, layout, before, now);
  }
};

struct RomDriver {
  rom::System system;
  rom::State state;
  rom::Workspace workspace;

  RomDriver(const Model& model, const RunOptions& options);

  const result::Layout& layout() const { return system.layout(); }
  const Model& model() const { return system.model(); }
  int dof_count() const { return system.dof_count(); }
  std::string solver() const { return system.solver(); }
  result::SolveReport step(double h) { return rom::step(system, state, workspace, h); }
  void observe(result::Snapshot& snapshot) { rom::observe(system, state, workspace, snapshot); }
  void set_clock(std::int64_t step, double t) { state.step = step, state.t = t; }
  bool finite() const;
  std::vector<rom::ContactPart> contact_parts() const { return rom::contact_parts(system); }
  std::string save() const { return state.save(); }
  void load(const std::string& bytes) { state.load(bytes); }

  // For a live view (rom/live.h).
  bool hold(const result::Hand& handle) { return rom::hold(system, workspace, handle); }
  void release() { rom::release(workspace); }
  int held_body() { return rom::held_body(workspace); }
  void touches(result::Touches& out) { rom::touches(system, state, workspace, out); }
  result::Pull pull() { return rom::pull(system, state, workspace); }
  void scale_loads(double factor) { rom::scale_loads(workspace, factor); }
  std::vector<result::Reading> readings(const std::string& name) {
    return rom::readings(system, state, workspace, name);
  }
  bool adopt(const result::Layout& layout, const result::Snapshot& before, const result::Snapshot& now) {
    return rom::adopt(system, state, layout, before, now);
  }
};

class Driver {
 public:
  using Variant = std::variant<ArticulatedDriver, AdaptiveDriver, ThreadDriver, RomDriver, HistoryDriver>;
  // By the method's row of the table. Throws ModelError where the method does not run, or refuses the model.
  Driver(const Model& model, const RunOptions& options);
  explicit Driver(Variant method) : method_(std::move(method)) {}
  // Of beams at rest in the course of time, by method chain, which runs nothing else.
  static Driver of_history(const Model& model);

  const result::Layout& layout() const {
    return std::visit(
        [](auto& m) -> auto& { return m.layout(); }, method_);
  }
  const Model& model() const {  // as the method sees it: beams replaced by links
    return std::visit(
        [](auto& m) -> auto& { return m.model(); }, method_);
  }
  int dof_count() const {
    return std::visit([](auto& m) { return m.dof_count(); }, method_);
  }
  std::string solver() const {
    return std::visit([](auto& m) { return m.solver(); }, method_);
  }
  // With the model's events and controllers; without them: what the conductor divides a step into.
  result::SolveReport step(double h) { return conductor_ ? conductor_->step(*this, h) : step_plainly(h); }
  result::SolveReport step_plainly(double h) {
    return std::visit([&](auto& m) { return m.step(h); }, method_);
  }
  double time() const {
    return std::visit([](auto& m) { return m.state.t; }, method_);
  }
  std::int64_t steps() const {  // finished
    return std::visit([](auto& m) { return m.state.step; }, method_);
  }
  const Conductor* conductor() const { return conductor_.get(); }  // null: nothing to conduct
  const Variant& method() const { return method_; }
  // Goes on with what these actions of events left.
  void apply(std::span<const Done> actions) {
    std::visit(
        [&](auto& m) {
          if constexpr (requires { m.apply(actions); }) m.apply(actions);
        },
        method_);
  }
  void set_control(std::size_t controller, double force) {
    std::visit(
        [&](auto& m) {
          if constexpr (requires { m.set_control(controller, force); }) m.set_control(controller, force);
        },
        method_);
  }
  void observe(result::Snapshot& snapshot) {
    std::visit([&](auto& m) { m.observe(snapshot); }, method_);
  }
  // Frames within steps, where a method can tell them (RunOptions::frames_per_step): those of the last step.
  void set_frames_per_step(std::int64_t n) {
    if (auto* m = std::get_if<ArticulatedDriver>(&method_)) m->set_frames_per_step(n);
  }
  void observe_between(std::size_t i, result::Snapshot& snapshot) {
    std::get<ArticulatedDriver>(method_).observe_between(i, snapshot);
  }
  // Time is step · h, never a sum of h.
  void set_clock(std::int64_t step, double t) {
    std::visit([&](auto& m) { m.set_clock(step, t); }, method_);
  }
  bool finite() const {
    return std::visit([](auto& m) { return m.finite(); }, method_);
  }
  std::string save() const;
  void load(const std::string& bytes);
  std::string save_plainly() const {
    return std::visit([](auto& m) { return m.save(); }, method_);
  }
  void load_plainly(const std::string& bytes) {
    std::visit([&](auto& m) { m.load(bytes); }, method_);
  }

  // Of the bodies of model(); empty: contact looks at all of them, or at none.
  std::vector<rom::ContactPart> contact_parts() const {
    return std::visit(
        [](auto& m) {
          if constexpr (requires { m.contact_parts(); }) return m.contact_parts();
          return std::vector<rom::ContactPart>{};
        },
        method_);
  }

  // For a live view. A method that lacks one of them says so by its answer.
  bool can_hold() const {
    return std::visit(
        [](auto& m) {
          return requires(std::remove_cvref_t<decltype(m)> & x, result::Hand h) { x.hold(h); };
        },
        method_);
  }
  bool hold(const result::Hand& handle) {
    return std::visit(
        [&](auto& m) {
          if constexpr (requires { m.hold(handle); }) return m.hold(handle);
          return false;
        },
        method_);
  }
  std::optional<Change> cut_at(int point) const {
    return std::visit(
        [&](auto& m) -> std::optional<Change> {
          if constexpr (requires { m.cut_at(point); }) return m.cut_at(point);
          return {};
        },
        method_);
  }
  void release() {
    std::visit(
        [](auto& m) {
          if constexpr (requires { m.release(); }) m.release();
        },
        method_);
  }
  int held_body() {  // of model(); −1: none, or not known
    return std::visit(
        [](auto& m) {
          if constexpr (requires { m.held_body(); }) return m.held_body();
          return -1;
        },
        method_);
  }
  result::Pull pull() {
    return std::visit(
        [](auto& m) {
          if constexpr (requires { m.pull(); }) return m.pull();
          return result::Pull{};
        },
        method_);
  }
  bool scale_loads(double factor) {
    return std::visit(
        [&](auto& m) {
          constexpr bool can = requires { m.scale_loads(factor); };
          if constexpr (can) m.scale_loads(factor);
          return can;
        },
        method_);
  }
  result::Fields fields() {
    return std::visit(
        [](auto& m) {
          if constexpr (requires { m.fields(); }) return m.fields();
          return result::Fields{};
        },
        method_);
  }
  // Where things press on each other now; nothing where the method has no contact.
  void touches(result::Touches& out) {
    out.clear();
    std::visit(
        [&](auto& m) {
          if constexpr (requires { m.touches(out); }) m.touches(out);
        },
        method_);
  }
  void touches_between(std::size_t i, result::Touches& out) {  // at observe_between()'s moment
    std::get<ArticulatedDriver>(method_).touches_between(i, out);
  }
  std::vector<result::Reading> readings(const std::string& name) {
    return std::visit(
        [&](auto& m) {
          if constexpr (requires { m.readings(name); }) return m.readings(name);
          return std::vector<result::Reading>{};
        },
        method_);
  }
  // What happened in a history; nothing of a run, whose events the conductor knows.
  std::vector<Happening> happened() const {
    const auto* history = std::get_if<HistoryDriver>(&method_);
    return history ? history->happened() : std::vector<Happening>{};
  }
  std::optional<Model> model_at() const {  // with the state as its start
    return std::visit(
        [](auto& m) -> std::optional<Model> {
          if constexpr (requires { m.model_at(); }) return m.model_at();
          return std::nullopt;
        },
        method_);
  }
  // Goes on from the poses of another method; false: it cannot, the state is as it was.
  bool adopt(const result::Layout& layout, const result::Snapshot& before, const result::Snapshot& now) {
    return std::visit(
        [&](auto& m) {
          if constexpr (requires { m.adopt(layout, before, now); }) return m.adopt(layout, before, now);
          return false;
        },
        method_);
  }

 private:
  Variant method_;
  std::unique_ptr<Conductor> conductor_;
};

}  // namespace limber::sim
