// Paths of solutions of r(x, factor) = 0 with arc length: what is asked of them, and what they tell. Each
// method has its own x; the walk itself is math/path_follower.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace limber::math {

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
};

struct PathPoint {
  double length = 0;  // along the path
  double factor = 0;
  double give = 0;  // [J] Σ F·du/dλ: how the displacement of the growing loads grows with their factor
  int negative = 0, held = 0;  // unstable directions under given loads; under a given displacement of them
  enum class Kind { regular, limit, bifurcation } kind = Kind::regular;
  bool left = false;  // the path goes on along another branch from here
};

struct StabilityLoss {
  double factor = 0;   // where a direction of instability appears or goes
  int negative = 0;    // directions after it; −1: not counted
  bool limit = false;  // the load has a maximum or minimum there; else another branch crosses
  std::string moves;   // the joint that turns most
};

struct PathReport {
  bool reached = false;  // options.end
  std::string message;   // why it ended, if not reached
  std::vector<PathPoint> points;
  std::vector<StabilityLoss> lost;
  int iterations = 0;  // Newton steps in all
};

}  // namespace limber::math
