// Where a chain comes to rest: Newton on r(θ) = Kθ − τ(θ) with the exact tangent, O(n) a step.
//
// A step is cut where the natural monotonicity test asks for it (Deuflhard 2004, section 3.3): the correction
// that the old tangent would make next must have become smaller. Loads are brought up in steps that grow and
// shrink with the work; where no step gets through (a limit point) the path is followed around it (path.h).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "limber/chain/tied_tangent.h"
#include "limber/math/path.h"
#include "limber/result/report.h"

namespace limber::chain {

struct StaticOptions {
  double tolerance = 1e-10;   // of the moments left over, relative to the largest
  int max_iterations = 2000;  // in all
  int load_steps = 0;         // equal ones; 0: as large as they go
  bool follow = true;         // past limit points
};

// All that a solve depends on and changes.
struct Rest {
  Shape shape;
  std::vector<double> lambda;  // of the closures' rows
  double factor = 0;           // of the loads that grow
};
Rest at_rest(const Structure& s);

using math::StabilityLoss;

struct StaticReport {
  result::SolveReport report;
  double residual = 0;  // moments left over, relative
  double gap = 0;       // of closures, of the size
  int load_steps = 0;
  int negative = 0;       // directions of instability
  bool symmetric = true;  // false: moments or turning loads, stability is not counted
  int redundant_rows = 0;
  std::vector<StabilityLoss> lost;
  bool stable() const { return report.ok() && negative == 0; }
};

// Scratch of a solve; a test may use a fresh one each time and gets the same bits.
class Solver {
 public:
  explicit Solver(const Structure& s);

  // Brings the loads from rest.factor to `factor`.
  StaticReport solve(Rest& rest, double factor, const StaticOptions& options = {});
  // Newton at a fixed factor; false: no convergence, `rest` is left as it was. With `negative` ≥ 0 it gives
  // up at once where the tangent's negative directions are not that many.
  bool newton(Rest& rest, const StaticOptions& options, StaticReport& report, int negative = -1);
  // From where it stands, loads and all, slowly to a rest that is stable: by steps of a motion in a thick
  // fluid that resists turns of joints as their own springs do. `push`: leaves an unstable rest first.
  StaticReport relax(Rest& rest, bool push, const StaticOptions& options = {});
  // Balance and tangent at `rest`, ready to be read or solved with.
  void evaluate(const Rest& rest, bool tangent);
  void stiffness_changed();  // of the structure's joints
  // Where links are alone, in balance().
  void place_links(const Rest& rest);

  const Structure& structure() const { return *s_; }
  const Balance& balance() const { return now_; }
  const Ties& ties() const { return ties_; }
  TiedTangent& tangent() { return tangent_; }
  double residual() const { return residual_; }  // of the last evaluate()

 private:
  friend class PathWalker;
  void weigh_at(const Rest& rest, bool tangent, Balance& b, Ties& ties) const;
  void measure(const Balance& b, const Ties& ties);
  void resist(const Rest& rest, bool tangent, Balance& b) const;

  const Structure* s_;
  double thick_ = 0;  // of the fluid: so many times the springs' stiffness against turns from slow_
  Shape slow_;
  Rest before_, trial_rest_;
  Balance now_, trial_;
  Ties ties_, trial_ties_;
  TiedTangent tangent_;
  std::vector<Vec3> t_, delta_, next_, body_;
  std::vector<double> gap_, dlambda_, next_lambda_;
  double residual_ = 0, gap_size_ = 0, force_ = 0;
  double stiffest_ = 0;  // of all joints [N·m/rad]
  int iterations_ = 0, worst_ = -1;
};

}  // namespace limber::chain
