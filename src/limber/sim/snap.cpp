#include "limber/sim/snap.h"

#include <fmt/format.h>

#include <cmath>

namespace limber::sim {
namespace {

std::string length_text(double m) { return fmt::format("{:.4g} mm", 1e3 * m); }

std::string way_text(const StaticCurve& path, double way) {
  return path.turns ? fmt::format("{:.4g} deg", way * 180 / pi) : length_text(way);
}

std::string at_load(const StaticCurve& path, double factor) {
  if (path.way > 0) return way_text(path, factor * path.way);
  return path.force > 0 ? fmt::format("{:.5g} N", factor * path.force)
                        : fmt::format("{:.5g} of the load", factor);
}

std::string turn_text(const StaticCurve& path, const Turn& t) {
  return path.force > 0 ? fmt::format("at {}, {} along it", at_load(path, t.load), length_text(t.deflection))
                        : "at " + at_load(path, t.load);
}

// Where `y` is zero between points i − 1 and i: x as a parabola of y through these and the next, where y goes
// on the same way; else the straight line.
template <class Y>
double way_without(const std::vector<CurvePoint>& p, std::size_t i, Y y) {
  const double x0 = p[i - 1].deflection, x1 = p[i].deflection, y0 = y(p[i - 1]), y1 = y(p[i]);
  const double line = x0 - y0 * (x1 - x0) / (y1 - y0);
  if (i + 1 == p.size()) return line;
  const double x2 = p[i + 1].deflection, y2 = y(p[i + 1]);
  if ((y2 - y1) * (y1 - y0) <= 0) return line;
  return line + y0 * y1 / (y2 - y0) * ((x2 - x1) / (y2 - y1) - (x1 - x0) / (y1 - y0));
}

// An extreme of what the way takes: the parabola through three points.
struct Extreme {
  double way = 0, reaction = 0;
  bool most = true;
};

std::vector<Extreme> extremes_of(const std::vector<CurvePoint>& points) {
  std::vector<Extreme> out;
  for (std::size_t i = 1; i + 1 < points.size(); ++i) {
    const double x0 = points[i - 1].deflection, x1 = points[i].deflection, x2 = points[i + 1].deflection;
    const double y0 = points[i - 1].reaction, y1 = points[i].reaction, y2 = points[i + 1].reaction;
    if ((y1 - y0) * (y2 - y1) >= 0 || (x1 - x0) * (x2 - x1) <= 0) continue;
    const double d1 = (y1 - y0) / (x1 - x0), d2 = (y2 - y1) / (x2 - x1), bend = (d2 - d1) / (x2 - x0);
    const double x = 0.5 * (x0 + x1) - d1 / (2 * bend), from = x - x0;
    out.push_back({x, y0 + d1 * from + bend * from * (x - x1), y1 > y0});
  }
  return out;
}

// Of a way that grows: how its force goes up and down, and whether it would stay without it.
std::vector<Statement> describe_way(const StaticCurve& path) {
  const char* unit = path.turns ? "N m" : "N";
  std::vector<Statement> out;
  bool pulled = false;
  for (const Extreme& e : extremes_of(path.points)) {
    out.push_back({"force", fmt::format("{} {:.5g} {} at {} of \"{}\"", e.most ? "at most" : "at least",
                                        e.reaction, unit, way_text(path, e.way), path.moved)});
    pulled = pulled || (!e.most && e.reaction < 0);
  }
  std::optional<double> stays;
  const auto& p = path.points;
  for (std::size_t i = 1; i < p.size(); ++i)
    if (p[i - 1].reaction < 0 && p[i].reaction >= 0 && p[i].deflection > p[i - 1].deflection && i > 1) {
      stays = way_without(p, i, [](const CurvePoint& at) { return at.reaction; });
    }
  if (stays)
    out.push_back({"bistable", fmt::format("yes: let go, it stays at {}", way_text(path, *stays))});
  else if (pulled)
    out.push_back({"bistable", "not known: the way ends before the force is zero again"});
  if (!p.empty())
    out.push_back({"force", fmt::format("{:.5g} {} at the end, {} of \"{}\"", p.back().reaction, unit,
                                        way_text(path, p.back().deflection), path.moved)});
  return out;
}

}  // namespace

Snap snap_of(const StaticCurve& path) {
  Snap out;
  const auto& points = path.points;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const CurvePoint& p = points[i];
    if (!out.worst || p.largest_stress > out.worst->largest_stress) out.worst = &p;
    if (i == 0) continue;
    const CurvePoint& before = points[i - 1];
    const Turn turn{p.load, p.deflection, p.kind == CurvePoint::Kind::limit};
    // A located point counts the directions after it.
    if (!out.snaps) {
      if (before.negative == 0 && p.negative > 0) out.snaps = turn;
    } else if (!out.comes_back) {
      if (before.negative > 0 && p.negative == 0 && p.kind != CurvePoint::Kind::regular)
        out.comes_back = turn;
    } else if (!out.stays && before.negative == 0 && p.negative == 0 && before.load < 0 && p.load >= 0) {
      out.stays = way_without(points, i, [](const CurvePoint& at) { return at.load; });
    }
  }
  return out;
}

std::vector<Statement> describe(const Snap& snap, const StaticCurve& path) {
  std::vector<Statement> out;
  if (path.way > 0) {
    out = describe_way(path);
  } else if (snap.snaps) {
    out.push_back(
        {"snaps", turn_text(path, *snap.snaps) +
                      (snap.snaps->limit ? "" : ": another branch crosses there, and it takes it")});
    if (snap.comes_back)
      out.push_back({"comes back", turn_text(path, *snap.comes_back) +
                                       (snap.comes_back->load < 0 ? ": it has to be pushed back" : "")});
    else
      out.push_back({"comes back", "not known: the path ends before"});
    if (snap.comes_back) {
      std::string text = "no: it returns when it is let go";
      if (snap.comes_back->load < 0)
        text = snap.stays && path.force > 0
                   ? fmt::format("yes: without load it stays at {}", length_text(*snap.stays))
                   : "yes: it stays on the other side without load";
      out.push_back({"bistable", text});
    }
  } else if (path.ok() && !path.points.empty()) {
    out.push_back({"snaps", "not up to " + at_load(path, path.points.back().load)});
  }
  if (path.stiffness > 0)
    out.push_back({"stiffness", fmt::format("{:.4g} N/mm against the load, at {}", 1e-3 * path.stiffness,
                                            at_load(path, path.points.front().load))});
  if (const CurvePoint* w = snap.worst; w && w->largest_stress > 0)
    out.push_back(
        {"stress", fmt::format("{:.4g} MPa at most, in \"{}\" at {:.3g} of its length, at {}{}",
                               1e-6 * w->largest_stress, w->stressed, w->stressed_at, at_load(path, w->load),
                               std::isfinite(w->safety) && w->safety > 0
                                   ? fmt::format("; safety {:.3g} against yield", w->safety)
                                   : "")});
  return out;
}

Statement describe(const chain::StabilityLoss& lost, const StaticCurve& path) {
  return path.way > 0 ? describe(lost, at_load(path, lost.factor)) : describe(lost, path.force);
}

Statement describe(const chain::StabilityLoss& lost, double force) {
  return describe(lost, force > 0 ? fmt::format("{:.6g} N", lost.factor * force)
                                  : fmt::format("{:.8g} of the load", lost.factor));
}

Statement describe(const chain::StabilityLoss& lost, const std::string& at) {
  return {lost.limit ? "limit point" : "bifurcation",
          fmt::format("at {}, \"{}\" turns most{}", at, lost.moves,
                      lost.negative < 0 ? ""
                                        : fmt::format("; {} unstable direction{} after it", lost.negative,
                                                      lost.negative == 1 ? "" : "s"))};
}

double only_force(const Model& model, double time, bool weight_grows) {
  const auto loads = model.point_loads();
  if (loads.size() != 1 || !model.distributed_loads().empty() || model.wind()) return 0;
  if (weight_grows && !model.gravity().value(time).isZero(0)) return 0;
  if (!loads[0].moment.value(time).isZero(0)) return 0;
  return loads[0].force.value(time).norm();
}

}  // namespace limber::sim
