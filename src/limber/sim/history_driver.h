// A history as a run: at rest at the end of every step, with everything that happens until then. What breaks
// off falls freely (chain/history.h).
#pragma once

#include <string>
#include <vector>

#include "limber/chain/history.h"
#include "limber/sim/happening.h"

namespace limber::sim {

struct HistoryDriver {
  chain::History history;
  struct {
    std::int64_t step = 0;
    double t = 0;
  } state;

  // Comes to rest under what acts at t = 0; throws StaticFailure where there is no rest.
  explicit HistoryDriver(const Model& model);

  // The scene's probes, then the largest stress and how many branches have come off.
  const result::Layout& layout() const { return layout_; }
  const Model& model() const { return history.system().model(); }
  int dof_count() const;
  std::string solver() const { return "exact tangent of the chain"; }
  result::SolveReport step(double h);
  void observe(result::Snapshot& snapshot);
  void set_clock(std::int64_t step, double t) { state.step = step, state.t = t; }
  bool finite() const;
  std::string save() const { return history.save(); }
  void load(const std::string& bytes) { history.load(bytes); }
  std::vector<Happening> happened() const;

 private:
  result::Layout layout_;
};

}  // namespace limber::sim
