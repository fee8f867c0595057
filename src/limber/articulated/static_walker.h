// One step along a path of equilibria, and what is to be known where it ends: a Walker of
// math/path_follower.h. Internal to articulated/; the equations are in static_path.h.
#pragma once

#include "limber/articulated/equilibrium.h"
#include "limber/articulated/static_path.h"
#include "limber/math/path_follower.h"

namespace limber::articulated {

struct PathPlace {
  std::vector<double> q;
  std::vector<Vec6> lambda;
  double factor = 0;
};

struct PathDirection {
  std::vector<double> rate;  // (v_count) of the coordinates
  std::vector<Vec6> twist;   // (size) of the links, world axes; slides over the size
  std::vector<Vec6> lambda;  // (loops)
  double factor = 0;
  double work = 0;  // by which the loads' displacement grows: what a unit of load would do along it
  void scale(double a) {
    for (double& x : rate) x *= a;
    for (Vec6& x : twist) x *= a;
    for (Vec6& x : lambda) x *= a;
    factor *= a;
  }
  void add(double a, const PathDirection& d) {
    for (std::size_t k = 0; k < rate.size(); ++k) rate[k] += a * d.rate[k];
    for (std::size_t k = 0; k < twist.size(); ++k) twist[k] += a * d.twist[k];
    for (std::size_t k = 0; k < lambda.size(); ++k) lambda[k] += a * d.lambda[k];
    factor += a * d.factor;
  }
};

class PathWalker {
 public:
  using Place = PathPlace;
  using Direction = PathDirection;
  using Station = math::Waypoint<Place, Direction>;

  PathWalker(const SystemData& s, const State& state, WorkspaceData& w, const PathOptions& options);

  // Where the state stands, an equilibrium of that factor. False: nothing holds it there.
  bool begin(Place& out, double factor = 0);

  Station start(const Place& rest, double way);
  Station step(const Place& from, const Direction& d, double s);
  Station step(const Station& from, double s) { return step(from.rest, from.d, s); }
  Station land(const Station& near, double factor);

  void exactly(bool yes) { exact_ = yes; }
  int iterations() const { return iterations_; }
  int most_iterations() const { return 20 * options_.statics.max_iterations; }
  double inner(const Direction& a, const Direction& b) const;
  double distance(const Place& a, const Place& b);
  bool symmetric() const { return !e_.circulatory_; }
  double pivot_along(const Place& rest, const Direction& b);
  struct Weak {
    std::vector<Direction> directions;
    std::vector<double> stiffness;
  };
  Weak weakest(const Place& rest, int count);
  const std::string& moves_most(const Direction& d) const;
  const std::string& why() const { return why_; }  // the last step found nothing

  StaticResult told(const Place& rest);

 private:
  void put(const Place& at);
  bool factored(const Place& at);
  bool stops_hold();
  bool let_go_of_stops(const Place& at);
  bool correct(Place& at, const Direction* d, Station& out);
  void find_rate();
  void respond(Direction& d);
  void describe(Station& at, const Direction* last, double way);
  void solve_for(const std::vector<double>& tau, std::vector<double>& rate);
  Direction direction_of(const std::vector<double>& rate);
  void give(double factor);
  void place_given(double share, bool rates);

  const SystemData& s_;
  const PathOptions& options_;
  Equilibrium e_;
  double weight_ = 1;  // w / n
  int moving_ = 0;     // links
  double acting_ = 0;  // [N or N m] of what grows, on a joint, at factor 1
  bool exact_ = false;
  std::string why_;
  int iterations_ = 0;
  multibody::BlockRhs rate_;  // of the forces by the factor
  std::vector<Vec6> off_;
};

}  // namespace limber::articulated
