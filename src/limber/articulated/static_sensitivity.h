// How a rest moves when what the structure is made of changes: implicit differentiation of r(q, λ; p) = 0.
//
//   [K, Gᵀ; G, 0] (q', λ') = (∂r/∂p, −∂gap/∂p)      K = −∂r/∂q, at fixed q and λ on the right
//
// with the tangent of the search for equilibria, factored once: every parameter then costs two evaluations of
// forces and one solve, O(n), and serves all outputs. What p changes is told by two systems, of p ± δ;
// central differences of forces at a fixed place have no iteration in them, so their error is δ²'s and
// rounding's alone. Loads without a potential are completed as the search does (static_circulatory.cpp).
//
// Rows of loops are those of loops that are closed. So the coordinates first go where p ± δ closes them, and
// what is left over is looked at there.
#pragma once

#include <memory>
#include <vector>

#include "limber/articulated/statics.h"
#include "limber/elastic/number_rates.h"

namespace limber::articulated {

class Equilibrium;

class StaticSensitivity {
 public:
  // `rest`: where solve_static() left the state, with these options. Throws std::invalid_argument where a
  // rest has no derivative: something leans on something, or the tangent is singular.
  StaticSensitivity(const System& system, const State& rest, const StaticOptions& options);
  ~StaticSensitivity();

  // The rest of p ± δ to first order, one state for each. Throws std::invalid_argument where the systems have
  // other parts than this one.
  struct Moved {
    State up, down;
  };
  Moved move(const System& up, const System& down, double delta);
  // The same, of numbers that change by these rates: neither systems nor evaluations of forces, one solve. By
  // as much as turns no joint by more than `turn`; `delta` becomes that share of the parameter.
  Moved move(const elastic::NumberRates& rates, double turn, double& delta);

  // Ready to observe what `system`, one of the two, says.
  Workspace workspace_of(const System& system) const;

 private:
  struct Side;  // what is left over of another system
  Side left_over(const System& system, const std::vector<double>& q) const;
  std::vector<Vec6> wrenches(const elastic::NumberRates& rates) const;
  void add_joint_forces(const elastic::NumberRates& rates, std::vector<double>& force) const;
  void solve(const Side& up, const Side& down, double delta, bool forces, std::vector<double>& rates);

  System system_;
  State rest_;
  Workspace workspace_;
  StaticOptions options_;
  std::unique_ptr<Equilibrium> at_;
  std::vector<multibody::LinkMotion> links_;  // at the rest
};

// Probes of a state; right are those that follow from places alone.
void put_places(const System& system, const State& state, Workspace& workspace, result::Snapshot& snapshot);

}  // namespace limber::articulated
