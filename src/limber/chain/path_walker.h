// Inside chain/: one step along a path of equilibria, and what is to be known where it ends.
#pragma once

#include "limber/chain/path.h"
#include "limber/math/path_follower.h"

namespace limber::chain {

// A direction in the space of shapes and loads: joint rotations in the links' own axes, multipliers, and the
// load factor.
struct Direction {
  std::vector<Vec3> turn;
  std::vector<double> lambda;
  double factor = 0;
  double work = 0;  // by which the loads' displacement grows: what a unit of load would do along it
  void scale(double a);
  void add(double a, const Direction& other);
};

using Waypoint = math::Waypoint<Rest, Direction>;

class PathWalker {
 public:
  using Place = Rest;
  using Direction = chain::Direction;

  PathWalker(Solver& solver, const PathOptions& options);

  // An equilibrium; the path goes towards greater or (way < 0) smaller loads there.
  Waypoint start(const Rest& rest, double way);
  // The equilibrium on the plane that stands on `d` at distance s from `from`.
  Waypoint step(const Rest& from, const Direction& d, double s);
  Waypoint step(const Waypoint& from, double s) { return step(from.rest, from.d, s); }
  // The equilibrium at a load factor, near a station.
  Waypoint land(const Waypoint& near, double factor);

  void exactly(bool yes) { exact_ = yes; }  // to the full tolerance, as not needed on the way
  int iterations() const { return iterations_; }
  int most_iterations() const { return 20 * options_.statics.max_iterations; }
  double inner(const Direction& a, const Direction& b) const;
  double distance(const Rest& a, const Rest& b) const;
  bool symmetric() const { return solver_.tangent().symmetric(); }  // of the last station
  // 1 / bᵀK⁻¹b at an equilibrium: passes zero with an eigenvalue of the tangent whose direction b sees.
  double pivot_along(const Rest& rest, const Direction& b);
  // Directions that the tangent resists least, unit and orthogonal, the weakest first; of each the stiffness.
  struct Weak {
    std::vector<Direction> directions;
    std::vector<double> stiffness;
  };
  Weak weakest(const Rest& rest, int count);
  const std::string& moves_most(const Direction& d) const;
  const char* why() const { return ""; }

 private:
  bool correct(Rest& rest, const Direction& d, Waypoint& out);
  void describe(Waypoint& s, const Direction* last, double way);
  void to_body(std::vector<Vec3>& v) const;

  Solver& solver_;
  const Structure& s_;
  const PathOptions& options_;
  double weight_;
  bool exact_ = false;
  int iterations_ = 0;
  std::vector<Vec3> shift_, t_, back_, along_, off_;
  std::vector<double> back_lambda_, along_lambda_;
};

}  // namespace limber::chain
