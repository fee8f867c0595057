// The path of equilibria of a chain, past limit points and onto the branches of a buckling point.
//
// Arc length as in Riks 1979: the load factor is one more unknown, the step's length along the path one more
// equation. Steps are as long as the path bends: its direction may turn by `bend` in one, and the equilibrium
// that is found must lie where an arc between both directions does, else another path was met and the step is
// made again, shorter. Stability is counted by the inertia of the tangent: `negative` directions under given
// loads, `held` under a given displacement of the loads.
//
// A point where the load has a maximum or minimum (limit point) and one where another branch crosses
// (bifurcation) both change the signs of the tangent's pivots; only at the first does the load's rate pass
// zero. Everything that happens within a step is taken apart and located on the path to rounding.
#pragma once

#include <functional>
#include <string>

#include "limber/chain/statics.h"

namespace limber::chain {

// Which way a path goes on where others cross it.
enum class Branching : std::uint8_t {
  straight,       // through every crossing
  first,          // leaves at the first one, by PathOptions::side; from then on as the next
  least_unstable  // at each where the fewest directions are unstable, as a structure does that is led slowly
};

struct PathOptions {
  double end = 1;                       // stop when the load factor comes to this …
  bool pass_end = false;                // … or go on until `length` or `max_points`
  bool end_stable = false;              // … but only where it would stay there
  double least = -1e300, most = 1e300;  // stop when the factor leaves these
  double step = 0.02;  // first arc length; a unit is the full load, or a turn of one radian in all
  double least_step = 1e-9, largest_step = 0.2;
  double bend = 0.15;     // [rad] by which the path turns in a step
  double length = 1e300;  // of the path at most
  int max_points = 4000;
  Branching branching = Branching::straight;
  int side = 1;  // ±1, of Branching::first
  StaticOptions statics;
};

struct PathPoint {
  double length = 0;  // along the path
  double factor = 0;
  double give = 0;  // [J] Σ F·du/dλ: how the displacement of the growing loads grows with their factor
  int negative = 0, held = 0;  // unstable directions under given loads; under a given displacement of them
  enum class Kind { regular, limit, bifurcation } kind = Kind::regular;
  bool left = false;  // the path goes on along another branch from here
};

struct PathReport {
  bool reached = false;  // options.end
  std::string message;   // why it ended, if not reached
  std::vector<PathPoint> points;
  std::vector<StabilityLoss> lost;
  int iterations = 0;  // Newton steps in all
};

using PathObserver = std::function<void(const PathPoint&, const Rest&)>;

// From an equilibrium, in the direction of options.end.
PathReport follow(Solver& solver, Rest& rest, const PathOptions& options, const PathObserver& observer);

// The joint that turns most in the direction that the tangent resists least, at an equilibrium.
int most_turned(Solver& solver, const Rest& rest);
// That direction, joint rotations in the links' own axes, norm 1.
std::vector<Vec3> weakest_direction(Solver& solver, const Rest& rest);

}  // namespace limber::chain
