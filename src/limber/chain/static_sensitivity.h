// How a chain's rest moves when what it is made of changes; articulated/static_sensitivity.h has the idea.
//
//   K δ + Gᵀ λ' = −∂r/∂p,  G δ = −∂gap/∂p     at fixed joints and multipliers on the right
//
// δ are small rotations of the joints in world axes, as in Newton's step (statics.h).
#pragma once

#include "limber/chain/chain.h"

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

 private:
  struct Side {
    std::vector<Vec3> r;
    std::vector<double> gap;
  };
  Side left_over(const System& system) const;

  const System& system_;
  Rest rest_;
  Solver solver_;
  std::vector<Vec3> t_, delta_;
  std::vector<double> gap_, dlambda_;
};

}  // namespace limber::chain
