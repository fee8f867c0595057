// Newton for the rest of threads (static_search.cpp). Internal to thread/.
#pragma once

#include "limber/thread/static_motion.h"

namespace limber::thread {

class StaticSearch {
 public:
  StaticSearch(const SystemData& s, State& state, WorkspaceData& w, const StaticOptions& options,
               StaticResult& out);
  // From w.e to a rest under a share of the loads, in w.e; false: none was found, and out says why.
  bool find(double load);
  const std::string& why() const { return why_; }  // it did not; "": too many iterations

 private:
  struct Level {
    double value = 0, scale = 0;  // [J] of Π, and of what it is the sum of
  };
  bool shifted_step();
  bool factored();
  bool foresee();
  void take_loads();
  void take_residual();
  Level level();
  bool advance(double share);
  void lengthen(double share);
  double mass_of_metric() const;
  bool downhill(double share, double highest);
  bool corrected(double share);
  double norm(const double* r) const;
  bool failed(const std::string& why);
  int nodes() const { return state_.node_count(); }

  const SystemData& s_;
  State& state_;
  WorkspaceData& w_;
  const StaticOptions& options_;
  StaticResult& out_;
  StaticMotion motion_;
  std::string why_;
  double load_ = 1;
  double sigma_ = 0;
  double mass_ = 0;  // [1/s²] of the mass in the metric
  int halvings_ = 0;
  bool in_vain_ = false;       // foreseen stresses did not make the tangent positive
  double longest_ = 1;         // share of the step that turns nothing too far
  bool told_by_level_ = true;  // the last step was long enough for Π to tell
  double displaced_ = 0;       // of the last step, of the size
  double turn_ = 0;            // [rad] of the whole step
  double slope_ = 0;           // [J] of Π along the step, downwards
  Level here_;
  double rise_ = 0;                 // [J] of Π in the step that is tried
  std::vector<double> correction_;  // (nodes x 12)
  std::vector<double> push_;        // (nodes x 12) forces left over, node axes
  std::vector<double> loads_;       // (nodes x 12) loads at w.e, world axes
  std::vector<double> highest_;
};

}  // namespace limber::thread
