// The unloaded shape of a structure that was measured under load.
//
// A tree is statically determinate: where the shape under load is given, so are the moments at its joints,
// and each joint's angle from its rest follows alone, J_r⁻ᵀ(θ)Kθ = m. Turning every joint back by its θ gives
// the shape at rest, exactly and in O(n). The thesis runs the load backwards instead (section 1.1): a first
// guess that is right to first order only; opposite_load() is that.
#pragma once

#include "limber/chain/chain.h"

namespace limber::chain {

// The same links at rest where the given loads bring them to the pose that `s` has with all θ = 0. Loads that
// grow count at `factor`. Throws std::invalid_argument where ties make the moments depend on more than the
// shape.
Structure unloaded(const Structure& s, double factor = 1);

// The published guess: the rest found under the opposite loads.
StaticReport opposite_load(Solver& solver, Rest& rest, const StaticOptions& options = {});

}  // namespace limber::chain
