#include "limber/sim/snap.h"

#include <fmt/format.h>

#include <cmath>

namespace limber::sim {
namespace {

std::string length_text(double m) { return fmt::format("{:.4g} mm", 1e3 * m); }

std::string at_load(const StaticCurve& path, double factor) {
  return path.force > 0 ? fmt::format("{:.5g} N", factor * path.force)
                        : fmt::format("{:.5g} of the load", factor);
}

std::string turn_text(const StaticCurve& path, const Turn& t) {
  return path.force > 0 ? fmt::format("at {}, {} along it", at_load(path, t.load), length_text(t.deflection))
                        : "at " + at_load(path, t.load);
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
      const double part = before.load / (before.load - p.load);
      out.stays = before.deflection + part * (p.deflection - before.deflection);
    }
  }
  return out;
}

std::vector<Statement> describe(const Snap& snap, const StaticCurve& path) {
  std::vector<Statement> out;
  if (snap.snaps) {
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

Statement describe(const chain::StabilityLoss& lost, double force) {
  const std::string at = force > 0 ? fmt::format("{:.6g} N", lost.factor * force)
                                   : fmt::format("{:.8g} of the load", lost.factor);
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
