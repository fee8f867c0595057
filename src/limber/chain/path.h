// The path of equilibria of a chain, past limit points and onto the branches of a buckling point.
//
// By arc length (math/path_follower.h). Stability is counted by the inertia of the tangent: `negative`
// directions under given loads, `held` under a given displacement of the loads.
#pragma once

#include <functional>

#include "limber/chain/statics.h"

namespace limber::chain {

using math::Branching;
using math::PathPoint;
using math::PathReport;

struct PathOptions : math::PathOptions {
  StaticOptions statics;
};

using PathObserver = std::function<void(const PathPoint&, const Rest&)>;

// From an equilibrium, in the direction of options.end.
PathReport follow(Solver& solver, Rest& rest, const PathOptions& options, const PathObserver& observer);

// The joint that turns most in the direction that the tangent resists least, at an equilibrium.
int most_turned(Solver& solver, const Rest& rest);
// That direction, joint rotations in the links' own axes, norm 1.
std::vector<Vec3> weakest_direction(Solver& solver, const Rest& rest);

}  // namespace limber::chain
