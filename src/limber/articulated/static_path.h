// The path of equilibria of bodies, joints, beams as links, springs and loops, past limit points and onto the
// branches of a bifurcation (math/path_follower.h).
//
//   articulated::PathReport r = articulated::follow(system, state, options, [](const auto& at) { … });
//
// Unknown are the joints' coordinates, the loops' multipliers and the load factor. With the exact tangent K
// of the search for rests (static_search.cpp), a correction is
//   [K, Gᵀ; G, 0] (δ, λ) = (f, −gap) + df (∂f/∂factor, 0),     d·δ + d_f df = 0
// with two solves by one factor: K is bordered by the direction d of the step. What grows may be the loads,
// the weight, or the way of given motions (∂q/∂factor of the locked joints): then the factor is a
// displacement, and a limit point is where the structure snaps though it is held by its motion.
//
// Lengths are those of the links, ‖φ‖² = w Σ (ω² + v²/size²) / n over those that move: no matter how many
// joints a beam is cut into or how a loop is opened. w makes the first response to all of the load as long
// as the load itself, so that a stiff structure's path bends where one can see it, and is at least 1.
#pragma once

#include <functional>
#include <optional>

#include "limber/articulated/statics.h"
#include "limber/math/path.h"

namespace limber::articulated {

struct PathOptions : math::PathOptions {
  StaticOptions statics;  // load, weight and motion: what acts of those that do not grow
  bool loads_grow = true, weight_grows = false, motions_grow = false;
};

struct PathStation {
  const math::PathPoint& point;
  const State& state;
  const StaticResult& rest;  // reactions; without modes
};
using PathObserver = std::function<void(const PathStation&)>;

// From the rest of factor 0, which is searched for from where the state stands; the state is left at the end
// of the path. `first`: how that search went; the path is empty where it found nothing. Throws
// std::invalid_argument for what leans on something.
struct Path {
  StaticResult first;
  math::PathReport report;
};
Path follow(const System& system, State& state, const PathOptions& options, const PathObserver& observer);

// [J] Σ F·du/dλ at a rest with all of the loads: how the displacement of what grows grows with it. Nothing
// where something is touched, or where the rest has no tangent.
std::optional<double> give_of(const System& system, const State& rest, const PathOptions& options);

}  // namespace limber::articulated
