// The one place that knows every method. A driver wraps one of them: system, state and scratch behind the
// same few calls. A new method is one more struct and one more alternative of `Driver`.
#pragma once

#include <stdexcept>
#include <string>
#include <variant>

#include "limber/articulated/articulated.h"
#include "limber/result/report.h"
#include "limber/result/snapshot.h"
#include "limber/sim/options.h"
#include "limber/thread/thread.h"

namespace limber::sim {

// A run that should start at rest, and found no place to rest.
struct StaticFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct ArticulatedDriver {
  articulated::System system;
  articulated::State state;
  articulated::Workspace workspace;

  ArticulatedDriver(const Model& model, const articulated::Options& options, bool from_static);

  const result::Layout& layout() const { return system.layout(); }
  const Model& model() const { return system.model(); }
  int dof_count() const { return system.dof_count(); }
  std::string solver() const { return system.solver(); }
  result::SolveReport step(double h) { return articulated::step(system, state, workspace, h); }
  void observe(result::Snapshot& snapshot) { articulated::observe(system, state, workspace, snapshot); }
  void set_clock(std::int64_t step, double t) { state.step = step, state.t = t; }
  bool finite() const;  // every number of the state
  std::string save() const { return state.save(); }
  void load(const std::string& bytes) { state.load(bytes); }
};

struct ThreadDriver {
  thread::System system;
  thread::State state;
  thread::Workspace workspace;

  ThreadDriver(const Model& model, const thread::Options& options, bool from_static);

  const result::Layout& layout() const { return system.layout(); }
  const Model& model() const { return system.model(); }
  int dof_count() const { return system.dof_count(); }
  std::string solver() const { return system.solver(); }
  result::SolveReport step(double h) { return thread::step(system, state, workspace, h); }
  void observe(result::Snapshot& snapshot) { thread::observe(system, state, workspace, snapshot); }
  void set_clock(std::int64_t step, double t) { state.step = step, state.t = t; }
  bool finite() const;
  std::string save() const { return state.save(); }
  void load(const std::string& bytes) { state.load(bytes); }
};

class Driver {
 public:
  Driver(const Model& model, const RunOptions& options) : method_(make(model, options)) {}

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
  result::SolveReport step(double h) {
    return std::visit([&](auto& m) { return m.step(h); }, method_);
  }
  void observe(result::Snapshot& snapshot) {
    std::visit([&](auto& m) { m.observe(snapshot); }, method_);
  }
  // Time is step · h, never a sum of h.
  void set_clock(std::int64_t step, double t) {
    std::visit([&](auto& m) { m.set_clock(step, t); }, method_);
  }
  bool finite() const {
    return std::visit([](auto& m) { return m.finite(); }, method_);
  }
  std::string save() const {
    return std::visit([](auto& m) { return m.save(); }, method_);
  }
  void load(const std::string& bytes) {
    std::visit([&](auto& m) { m.load(bytes); }, method_);
  }

 private:
  using Variant = std::variant<ArticulatedDriver, ThreadDriver>;
  static Variant make(const Model& model, const RunOptions& options);
  Variant method_;
};

}  // namespace limber::sim
