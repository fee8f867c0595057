// Along a path of solutions r(x, factor) = 0: past limit points and onto the branches of a bifurcation.
//
// Arc length as in Riks 1979: the factor is one more unknown, the step's length along the path one more
// equation. Steps are as long as the path bends: its direction may turn by `bend` in one, and the solution
// that is found must lie where an arc between both directions does, else another path was met and the step is
// made again, shorter. A point where the factor has a maximum or minimum (limit point) and one where another
// branch crosses (bifurcation) both change the signs of the tangent's pivots; only at the first does the
// factor's rate pass zero. Everything that happens within a step is taken apart and located on the path.
//
// What a Walker knows of its own x:
//   Place       x and everything that hangs on it, with `factor`; copyable
//   Direction   in the space of x and the factor: `factor`, `work` (by which the loads' displacement grows),
//               scale(a), add(a, direction)
//   start(place, way), step(place, direction, s), land(waypoint, factor) -> Waypoint
//   inner(direction, direction), distance(place, place)
//   symmetric()           of the last station: whether `negative` is counted
//   exactly(bool)         to the full tolerance, as not needed on the way
//   weakest(place, n)     directions that the tangent resists least, orthogonal, and their stiffness
//   pivot_along(place, b) 1 / bᵀK⁻¹b: passes zero with an eigenvalue of the tangent whose direction b sees
//   moves_most(direction), why() the last step found nothing, iterations(), most_iterations()
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <tuple>

#include "limber/math/path.h"
#include "limber/math/trig.h"
#include "limber/math/types.h"

namespace limber::math {

template <class Place, class Direction>
struct Waypoint {
  Place rest;
  Direction d;        // of the path, unit
  double s = 0;       // from the station before, along its direction
  double offset = 0;  // across it
  int negative = 0, held = 0, iterations = 0;
  bool ok = false;
};

template <class Walker>
class PathFollower {
 public:
  using Place = typename Walker::Place;
  using Direction = typename Walker::Direction;
  using Station = Waypoint<Place, Direction>;
  using Observer = std::function<void(const PathPoint&, const Place&)>;

  PathFollower(Walker& walker, const PathOptions& options)
      : walker_(walker), options_(options), leaves_first_(options.branching == Branching::first) {}

  // From a solution, in the direction of options.end; `rest` is left where the path ends.
  PathReport run(Place& rest, const Observer& observer);

 private:
  static constexpr int most_events = 12;     // in one step
  static constexpr double not_apart = 1e-6;  // of a step: what happens within is one event
  static constexpr double as_far = 1e-3;     // of a step: what follows so closely belongs to it
  static constexpr double torn =
      0.05;  // of a step: two stations side by side, so far apart, are on two paths
  static constexpr double closed = 1e-3;  // [as PathOptions::step] apart: the same crossing
  static constexpr double as_one = 0.02;  // stiffnesses below this part of the fourth weakest vanish together

  struct Event {
    Station at, after;
    PathPoint::Kind kind;
  };

  static bool turned(const Station& a, const Station& b) { return a.d.factor * b.d.factor < 0; }
  static bool differs(const Station& a, const Station& b) { return turned(a, b) || a.negative != b.negative; }
  // One eigenvalue changes its sign between them: a limit point where the load turns, else a crossing. Where
  // directions are not counted only the load's turn is seen.
  bool single(const Station& a, const Station& b) const {
    return !walker_.symmetric() || std::abs(a.negative - b.negative) == 1;
  }
  std::string stuck(const Station& at) const {
    const std::string why = walker_.why();
    return fmt::format("stuck at {:.6g} of the load{}{}", at.rest.factor, why.empty() ? "" : ": ", why);
  }
  bool acceptable(const Station& at, const Station& next, double& bent) const;
  std::optional<std::vector<Event>> events(const Station& at, const Station& next);
  Station locate(const Station& from, const Station& before, Station& low, Station& high);
  std::optional<Station> leave(const Station& before, const Event& e);
  std::vector<Direction> ways_out(const Event& e);
  std::optional<Station> land(const Station& at, const Station& a, const Station& b);
  bool met_before(const Place& rest);
  void note(const Station& at, PathPoint::Kind kind, double length, int negative, int held, bool left);

  Walker& walker_;
  const PathOptions& options_;
  const Observer* observer_ = nullptr;
  PathReport report_;
  bool leaves_first_;  // at the next crossing, by the asked side
  std::vector<Place> crossings_;
};

template <class Walker>
void PathFollower<Walker>::note(const Station& at, PathPoint::Kind kind, double length, int negative,
                                int held, bool left) {
  const PathPoint p{length, at.rest.factor, at.d.work / at.d.factor, negative, held, kind, left};
  report_.points.push_back(p);
  if (*observer_) (*observer_)(p, at.rest);
}

// An arc between two directions lies off the first by half the angle between them.
template <class Walker>
bool PathFollower<Walker>::acceptable(const Station& at, const Station& next, double& bent) const {
  if (!next.ok) return false;
  bent = math::acos(std::clamp(walker_.inner(at.d, next.d), -1.0, 1.0));
  return bent <= 2 * options_.bend && next.offset <= next.s * (0.75 * bent + 0.02);
}

// What happens between two stations of a step: each taken apart from the next by bisection, then located.
// Nothing where the step jumps from one path to another: what differs between them lies at no place.
template <class Walker>
auto PathFollower<Walker>::events(const Station& at, const Station& next)
    -> std::optional<std::vector<Event>> {
  std::vector<Event> out;
  Station low = at;
  low.s = 0;
  while (static_cast<int>(out.size()) < most_events && differs(low, next)) {
    const Station before = low;
    Station high = next;
    while (!single(low, high) && high.s - low.s > not_apart * next.s) {
      Station middle = walker_.step(at, 0.5 * (low.s + high.s));
      if (!middle.ok) return std::nullopt;
      (differs(before, middle) ? high : low) = std::move(middle);
    }
    Event e;
    e.at = locate(at, before, low, high);
    if (walker_.distance(low.rest, high.rest) > torn * next.s + 10 * (high.s - low.s)) return std::nullopt;
    // A little beyond: what comes within that is the same event.
    const double beyond = high.s + as_far * next.s;
    low = beyond < next.s ? walker_.step(at, beyond) : next;
    if (!low.ok) return std::nullopt;
    if (!differs(before, low)) continue;
    const bool limit =
        turned(before, low) && (!walker_.symmetric() || (before.negative - low.negative) % 2 != 0);
    e.kind = limit ? PathPoint::Kind::limit : PathPoint::Kind::bifurcation;
    e.after = low;
    out.push_back(std::move(e));
  }
  return out;
}

// Three times at one crossing: there is no way out.
template <class Walker>
bool PathFollower<Walker>::met_before(const Place& rest) {
  const auto same = [&](const Place& other) { return walker_.distance(rest, other) < closed; };
  const bool often = std::ranges::count_if(crossings_, same) >= 2;
  crossings_.push_back(rest);
  return often;
}

// The root of the load's rate, or of an eigenvalue, by false position (Illinois) between the two; they come
// close to it from either side.
template <class Walker>
auto PathFollower<Walker>::locate(const Station& from, const Station& before, Station& low, Station& high)
    -> Station {
  const bool limit = turned(low, high);
  Direction b;
  if (!limit) b = walker_.weakest(high.rest, 1).directions[0];
  const auto value = [&](const Station& s) { return limit ? s.d.factor : walker_.pivot_along(s.rest, b); };
  double f_low = value(low), f_high = value(high);
  Station best = std::abs(f_low) < std::abs(f_high) ? low : high;
  double least = std::min(std::abs(f_low), std::abs(f_high));
  const double small = 1e-8 * std::max(std::abs(f_low), std::abs(f_high));
  int side = 0;
  walker_.exactly(true);
  for (int i = 0; i < 40 && least > small && high.s - low.s > 1e-13; ++i) {
    const double width = high.s - low.s;
    double s =
        f_low * f_high < 0 ? (low.s * f_high - high.s * f_low) / (f_high - f_low) : low.s + 0.5 * width;
    s = std::clamp(s, low.s + 1e-3 * width, high.s - 1e-3 * width);
    Station middle = walker_.step(from, s);
    if (!middle.ok) break;
    const double f = value(middle);
    if (std::abs(f) < least) least = std::abs(f), best = middle;
    if (differs(before, middle)) {
      high = std::move(middle), f_high = f;
      if (side == 1) f_low /= 2;
      side = 1;
    } else {
      low = std::move(middle), f_low = f;
      if (side == -1) f_high /= 2;
      side = -1;
    }
  }
  walker_.exactly(false);
  return best;
}

// Directions in which branches may leave. Where one stiffness vanishes its direction, either way, and what
// the load alone does across it, either way: one of the two pairs is the path that comes in. Where two
// vanish, eight in their plane.
template <class Walker>
auto PathFollower<Walker>::ways_out(const Event& e) -> std::vector<Direction> {
  const auto weak = walker_.weakest(e.at.rest, 4);
  std::vector<Direction> out;
  const auto add = [&](Direction d, double sign) {
    d.scale(sign / std::sqrt(walker_.inner(d, d)));
    out.push_back(std::move(d));
  };
  const Direction& own = weak.directions[0];
  if (leaves_first_) {
    add(own, options_.side);
    return out;
  }
  const bool two = std::abs(weak.stiffness[1]) < as_one * std::abs(weak.stiffness[3]);
  for (int i = 0; i < (two ? 8 : 2); ++i) {
    const double angle = 2 * pi * i / (two ? 8 : 2), c = math::cos(angle), s = math::sin(angle);
    Direction d = own;
    d.scale(c);
    if (two) d.add(s, weak.directions[1]);
    add(std::move(d), 1);
  }
  Direction across = e.at.d;  // of any length: without what it has of the vanishing directions
  for (int i = 0; i < (two ? 2 : 1); ++i) {
    const Direction& d = weak.directions[i];
    across.add(-(walker_.inner(across, d) / walker_.inner(d, d)), d);
  }
  for (const double sign : {1.0, -1.0}) add(across, sign);
  return out;
}

// The first station on another branch, if that is the way to go.
template <class Walker>
auto PathFollower<Walker>::leave(const Station& before, const Event& e) -> std::optional<Station> {
  std::optional<Station> best;
  // Fewest unstable directions while the loads' displacement is held; of equals, what does not take that
  // displacement back; then fewest under the loads themselves.
  const auto rank = [&](const Station& s) {
    return std::tuple(s.held, s.d.work * before.d.work < 0 ? 1 : 0, s.negative);
  };
  // As near as the branch goes that way; farther off where two crossings lie so close that between them no
  // path has the direction of either.
  constexpr double near = 0.05, nearest = 1e-5, far = 0.2;
  const auto step = [&](const Direction& d, double reach) -> std::optional<Station> {
    Station s = walker_.step(e.at.rest, d, reach);
    if (!s.ok || s.offset > 0.6 * reach) return std::nullopt;
    return s;
  };
  for (const Direction& d : ways_out(e)) {
    std::optional<Station> s;
    for (double reach = near; !s && reach > nearest; reach /= 2) s = step(d, reach);
    for (double reach = 2 * near; !s && reach <= far; reach *= 2) s = step(d, reach);
    if (!s) continue;
    const bool back = walker_.inner(s->d, before.d) < -0.5;
    if (!back && (!best || rank(*s) < rank(*best))) best = std::move(s);
  }
  if (best && !leaves_first_ && !(rank(*best) < rank(e.after))) best.reset();
  leaves_first_ = leaves_first_ && !best;
  return best;
}

// Between two stations of the step from `at`, where the load is the wanted one.
template <class Walker>
auto PathFollower<Walker>::land(const Station& at, const Station& a, const Station& b)
    -> std::optional<Station> {
  const double end = options_.end;
  Station low = a, high = b;
  for (int i = 0; i < 8 && std::abs(high.rest.factor - low.rest.factor) > 0; ++i) {
    const double part = (end - low.rest.factor) / (high.rest.factor - low.rest.factor);
    Station middle = walker_.step(at, low.s + part * (high.s - low.s));
    if (!middle.ok) break;
    const bool close = std::abs(middle.rest.factor - end) < 1e-6 * std::max(1.0, std::abs(end));
    ((middle.rest.factor - end) * (high.rest.factor - end) > 0 ? high : low) = middle;
    if (!close) continue;
    Station landed = walker_.land(middle, end);
    if (!landed.ok) break;
    landed.s = middle.s;
    return landed;
  }
  return std::nullopt;
}

template <class Walker>
PathReport PathFollower<Walker>::run(Place& rest, const Observer& observer) {
  using Kind = PathPoint::Kind;
  observer_ = &observer;
  const double sign = options_.end < rest.factor ? -1 : 1;
  double step = options_.step, length = 0;
  Station at = walker_.start(rest, sign);
  note(at, Kind::regular, length, at.negative, at.held, false);
  const bool may_leave = options_.branching != Branching::straight;
  std::optional<Station> unstable;  // came to the end, where it would not stay

  const auto done = [&](const Station& s, bool reached, std::string message) {
    rest = s.rest;
    report_.reached = reached;
    report_.message = std::move(message);
    report_.iterations = walker_.iterations();
    return report_;
  };
  const auto ended = [&](std::string message) {
    return unstable ? done(*unstable, true, "") : done(at, options_.pass_end, std::move(message));
  };
  while (static_cast<int>(report_.points.size()) < options_.max_points) {
    if (walker_.iterations() >= walker_.most_iterations()) return ended("the iterations are used up");
    const Station next = walker_.step(at, step);
    double bent = 0;
    if (!acceptable(at, next, bent)) {
      step *= next.ok && bent > options_.bend ? std::clamp(0.8 * options_.bend / bent, 0.1, 0.5) : 0.25;
      if (step < options_.least_step) return ended(stuck(at));
      continue;
    }
    std::vector<Event> list;
    if (differs(at, next)) {
      auto found = events(at, next);
      if (!found) {
        step *= 0.3;
        if (step < options_.least_step) return ended(stuck(at));
        continue;
      }
      list = std::move(*found);
    }
    std::optional<Station> branch;
    double left = 0;  // where it leaves, from `at`
    Station from = at;
    from.s = 0;
    for (std::size_t i = 0; i <= list.size() && !branch; ++i) {
      const Station& to = i < list.size() ? list[i].at : next;
      const double low = from.rest.factor - options_.end, high = to.rest.factor - options_.end;
      if (!options_.pass_end && low * high <= 0 && sign * (high - low) > 0)
        if (const auto landed = land(at, from, to)) {
          if (!options_.end_stable || landed->negative == 0) {
            note(*landed, Kind::regular, length + landed->s, landed->negative, landed->held, false);
            return done(*landed, true, "");
          }
          if (!unstable) unstable = landed;
        }
      if (i == list.size()) break;
      const Event& e = list[i];
      if (e.kind == Kind::bifurcation && met_before(e.at.rest)) return ended("the path closes on itself");
      if (may_leave && e.kind == Kind::bifurcation) branch = leave(at, e), left = e.at.s;
      const Station& goes_on = branch ? *branch : e.after;
      // A crossing at a limit point, left on a branch that turns back with the load, is a limit point of the
      // way that is gone.
      const Kind kind = branch && turned(from, *branch) ? Kind::limit : e.kind;
      note(e.at, kind, length + e.at.s, goes_on.negative, goes_on.held, branch.has_value());
      report_.lost.push_back({e.at.rest.factor, walker_.symmetric() ? goes_on.negative : -1,
                              kind == Kind::limit,
                              walker_.moves_most(walker_.weakest(e.at.rest, 1).directions[0])});
      from = e.after;
    }
    if (branch) {
      length += left + branch->s;
      step = std::min(step, branch->s);
      at = std::move(*branch);
    } else {
      length += step;
      step =
          std::min(step * std::clamp(options_.bend / std::max(bent, 1e-6), 0.5, 1.6), options_.largest_step);
      at = next;
    }
    note(at, Kind::regular, length, at.negative, at.held, false);
    if (at.rest.factor < options_.least || at.rest.factor > options_.most || length > options_.length)
      return ended(fmt::format("left the asked range at {:.6g} of the load", at.rest.factor));
  }
  return ended(
      fmt::format("stopped after {} points at {:.6g} of the load", report_.points.size(), at.rest.factor));
}

}  // namespace limber::math
