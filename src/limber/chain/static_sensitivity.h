// How a chain's rest moves when what it is made of changes; articulated/static_sensitivity.h has the idea.
//
//   K δ + Gᵀ λ' = −∂r/∂p,  G δ = −∂gap/∂p     at fixed joints and multipliers on the right
//
// δ are small rotations of the joints in world axes, as in Newton's step (statics.h).
#pragma once

#include "limber/chain/chain.h"
#include "limber/elastic/number_rates.h"

namespace limber::chain {

class StaticSensitivity {
 public:
  // At a rest of `system`, which must outlive it. Throws std::invalid_argument where the tangent is singular.
  StaticSensitivity(const System& system, const Rest& rest);

  // The rest of p ± δ to first order, from the systems of both. Throws std::invalid_argument where they have
  // other parts.
  struct Moved {
    Rest up, down;
  };
  Moved move(const System& up, const System& down, double delta);
  // The same of numbers that change by these rates, ±delta of the parameter for the differences of moments;
  // the rests are so far apart that no joint turns by more than `turn`, and `delta` becomes that share, ten
  // times itself at most.
  Moved move(const elastic::NumberRates& rates, double turn, double& delta);
  // Evaluates rests with numbers that `by` times their rates have changed, until it is asked again: where
  // links stretch, they stand elsewhere by these.
  Solver& with_numbers(const elastic::NumberRates& rates, double by);

 private:
  struct Side {
    std::vector<Vec3> r;
    std::vector<double> gap;
  };
  Side left_over(const System& system) const;
  Side left_over(const elastic::NumberRates& rates, double by);
  void touch(int link);
  void take_back();
  void solve(const Side& up, const Side& down, double delta);
  Moved apart(double delta) const;

  const System& system_;
  Rest rest_;
  Solver solver_;
  Structure varied_;  // with other numbers
  Solver of_varied_;
  Side here_;                 // left over at the rest
  std::vector<int> touched_;  // links whose numbers these are
  std::vector<Vec3> t_, delta_;
  std::vector<double> gap_, dlambda_;
};

}  // namespace limber::chain
