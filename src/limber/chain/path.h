// The path of equilibria of a chain, past limit points and onto the branches of a buckling point.
//
// Arc length as in Riks 1979: the load factor is one more unknown, the step's length along the path one more
// equation. A point where the load has a maximum or minimum (limit point) and one where another branch
// crosses (bifurcation) both change the signs of the tangent's pivots; only at the first does the load's rate
// pass zero. Both are located, and the path can be left there along the tangent's null direction, either way.
#pragma once

#include <functional>
#include <string>

#include "limber/chain/statics.h"

namespace limber::chain {

struct PathOptions {
  double end = 1;                       // stop when the load factor comes to this …
  bool pass_end = false;                // … or go on until `length` or `max_points`
  double least = -1e300, most = 1e300;  // stop when the factor leaves these
  double step = 0.02;  // first arc length; a unit is the full load, or a turn of one radian in all
  double least_step = 1e-8, largest_step = 0.2;
  double length = 1e300;  // of the path at most
  int max_points = 4000;
  int branch = 0;  // ±1: leave at the first bifurcation, either way
  StaticOptions statics;
};

struct PathPoint {
  double length = 0;  // along the path
  double factor = 0;
  int negative = 0;
  enum class Kind { regular, limit, bifurcation } kind = Kind::regular;
};

struct PathReport {
  bool reached = false;  // options.end
  std::string message;   // why it ended, if not reached
  std::vector<PathPoint> points;
  std::vector<StabilityLoss> lost;
};

using PathObserver = std::function<void(const PathPoint&, const Rest&)>;

// From an equilibrium, in the direction of options.end.
PathReport follow(Solver& solver, Rest& rest, const PathOptions& options, const PathObserver& observer);

// The joint that turns most in the direction that the tangent resists least, at an equilibrium.
int most_turned(Solver& solver, const Rest& rest);
// That direction, joint rotations in the links' own axes, norm 1.
std::vector<Vec3> weakest_direction(Solver& solver, const Rest& rest);

}  // namespace limber::chain
