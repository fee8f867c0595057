#include "limber/sim/static_curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/sim/snap.h"
#include "limber/sim/static_parts.h"

namespace limber::sim {
namespace {

// The poses go where only the probes are wanted.
void keep(CurvePoint& p, bool shapes) {
  if (shapes) return;
  p.snapshot.rotations.clear(), p.snapshot.positions.clear(), p.snapshot.points.clear();
}

CurvePoint::Kind point_kind(math::PathPoint::Kind kind) {
  return kind == math::PathPoint::Kind::limit         ? CurvePoint::Kind::limit
         : kind == math::PathPoint::Kind::bifurcation ? CurvePoint::Kind::bifurcation
                                                      : CurvePoint::Kind::regular;
}

}  // namespace

const char* to_string(CurvePoint::Kind kind) {
  constexpr const char* names[] = {"regular", "limit", "bifurcation"};
  return names[static_cast<int>(kind)];
}

bool has_loads(const Model& m) {
  return !m.point_loads().empty() || !m.distributed_loads().empty() || m.wind().has_value();
}

Grows what_grows(const Model& m, double time) {
  if (has_loads(m)) return Grows::loads;
  const auto moves = [&](const auto& list) {
    return std::ranges::any_of(list, [&](const TimeFunction& f) { return f.value(time) != 0; });
  };
  if (std::ranges::any_of(m.motions(), [&](const PrescribedMotion& x) { return moves(x.position); }))
    return Grows::moves;
  const auto moved = [&](const auto& x) {
    return !x.shift.value(time).isZero(0) || !x.turn.value(time).isZero(0);
  };
  return std::ranges::any_of(m.ties(), moved) || std::ranges::any_of(m.loops(), moved) ? Grows::moves
                                                                                       : Grows::weight;
}

MovedPlace only_moved(const Model& m, double time) {
  if (what_grows(m, time) != Grows::moves) return {};
  std::vector<MovedPlace> all;
  for (const PrescribedMotion& x : m.motions()) {
    const JointKind kind = m[x.joint].kind;
    for (int k = 0; k < dof_count(kind); ++k)
      if (const double way = x.position[static_cast<std::size_t>(k)].value(time); way != 0)
        all.push_back({m[x.joint].name, std::abs(way), is_rotational(kind, k)});
  }
  const auto add = [&](const auto& x) {
    for (const bool turns : {false, true})
      if (const double way = (turns ? x.turn : x.shift).value(time).norm(); way != 0)
        all.push_back({x.name, way, turns});
  };
  for (const Tie& x : m.ties()) add(x);
  for (const Loop& x : m.loops()) add(x);
  return all.size() == 1 ? all[0] : MovedPlace{};
}

void take_way(const MovedPlace& moved, double factor, double work, CurvePoint& p) {
  if (moved.way == 0) return;
  p.deflection = factor * moved.way;
  p.reaction = work / moved.way;
}

void refuse_weight(const Model& model, Growth growth, const char* method, double time) {
  if (growth == Growth::everything || !has_loads(model) || model.gravity().value(time).isZero(0)) return;
  throw ModelError({{"scene", "", "gravity",
                     fmt::format("loads that grow while the weight stays: method {} grows both at once; "
                                 "method chain takes it, or a scene without gravity",
                                 method)}});
}

LoadedPlace::LoadedPlace(const Model& linked, double time, bool weight_grows) : time_(time) {
  if (only_force(linked, time, weight_grows) > 0 && linked.point_loads()[0].at.body.valid())
    load_ = &linked.point_loads()[0];
}

double LoadedPlace::along(const result::Snapshot& at) {
  if (!load_) return 0;
  const auto body = static_cast<std::size_t>(load_->at.body.value);
  const Vec3 p = at.positions[body] + at.rotations[body] * load_->at.p;
  if (!first_) first_ = p;
  const Vec3 f =
      load_->follows ? Vec3(at.rotations[body] * load_->force.value(time_)) : load_->force.value(time_);
  return (p - *first_).dot(f.normalized());
}

void take_stress(double stress, double safety, const std::string& beam, double s, CurvePoint& p) {
  if (p.stressed.empty()) p.safety = INFINITY;
  if (!(stress > p.largest_stress)) return;
  p.largest_stress = stress, p.safety = safety, p.stressed = beam, p.stressed_at = s;
}

static math::Branching branching_of(Branch way) {
  return way == Branch::straight ? math::Branching::straight
         : way == Branch::stable ? math::Branching::least_unstable
                                 : math::Branching::first;
}

// What the curve is drawn over: the only load, or the only way.
static void take_axes(const Model& model, double time, StaticCurve& out) {
  out.force = only_force(model, time, !has_loads(model));
  const MovedPlace moved = only_moved(model, time);
  out.way = moved.way, out.turns = moved.turns, out.moved = moved.name;
}

static StaticCurve path_once(const Model& model, const RunOptions& run, Branch branch,
                             const CurveOptions& options) {
  const MethodInfo& method = static_method(model, run, options.statics, StaticJob::path);
  refuse_past(model, options.statics.time, "a path of equilibria");
  refuse_without_potential(model);
  const PathWork work = method.statics->path(model, run, options.statics);
  StaticCurve out;
  out.job = StaticJob::path, out.method = method.name(), out.layout = work.layout;
  out.warnings = static_notes(model, *method.rest);
  take_axes(model, options.statics.time, out);
  const auto walk = [&](Branch way, bool shapes, std::vector<CurvePoint>& points) {
    math::PathOptions path;
    path.branching = branching_of(way);
    path.side = way == Branch::other_side ? -1 : 1;
    path.end_stable = way == Branch::stable;
    if (out.way > 0) path.largest_step = 0.04;  // the way bends little itself: it is the force that is drawn
    return work.walk(path, shapes, [&](const math::PathPoint& found, CurvePoint& p) {
      p.load = found.factor, p.time = options.statics.time, p.negative = found.negative;
      p.kind = point_kind(found.kind);
      if (points.empty() && out.force > 0 && found.give > 0)
        out.stiffness = out.force * out.force / found.give;
      keep(p, shapes);
      points.push_back(std::move(p));
    });
  };
  const PathWork::Walk walked = walk(branch, options.shapes, out.points);
  out.report = walked.first;
  if (!out.ok()) return out;
  out.lost = walked.path.lost;
  if (!walked.path.reached) {
    out.report.status = result::Status::not_converged;
    out.report.message = walked.path.message;
  }
  const bool crossed = std::ranges::any_of(out.lost, [](const auto& l) { return !l.limit; });
  if (options.shapes && crossed)
    walk(branch == Branch::straight ? Branch::stable : Branch::straight, false, out.other);
  return out;
}

StaticCurve load_curve(const Model& model, const RunOptions& run, int steps, Growth growth,
                       const CurveOptions& options) {
  if (steps < 1) throw std::invalid_argument(fmt::format("steps: expected at least 1, got {}", steps));
  const MethodInfo& method = static_method(model, run, options.statics, StaticJob::ramp);
  const Follower work = method.statics->follow(model, run, growth, options.statics);
  StaticCurve out;
  out.job = StaticJob::ramp, out.method = method.name(), out.layout = work.layout;
  out.warnings = static_notes(model, *method.rest);
  if (growth == Growth::loads) take_axes(model, options.statics.time, out);
  for (int i = 0; i <= steps; ++i) {
    const double load = static_cast<double>(i) / steps;
    const Follower::Rest rest = work.solve(load);
    out.report = rest.report;
    out.lost.insert(out.lost.end(), rest.lost.begin(), rest.lost.end());
    if (!rest.report.ok()) {
      out.report.message = fmt::format("at {:g} of the load: {}", load, rest.report.message);
      return out;
    }
    CurvePoint p;
    p.load = load, p.time = options.statics.time, p.negative = rest.negative;
    work.observe(p, options.shapes);
    keep(p, options.shapes);
    out.points.push_back(std::move(p));
  }
  return out;
}

// Of limit points and bifurcations, as long as twice the elements meet the same ones: Richardson, for
// elements of second order.
static std::vector<double> errors_of_losses(const StaticCurve& curve, const StaticCurve& fine) {
  std::vector<double> out(curve.lost.size(), NAN);
  for (std::size_t i = 0; i < std::min(out.size(), fine.lost.size()); ++i) {
    if (curve.lost[i].limit != fine.lost[i].limit) break;
    out[i] = 4.0 / 3 * std::abs(curve.lost[i].factor - fine.lost[i].factor);
  }
  return out;
}

StaticCurve equilibrium_path(const Model& model, Branch branch, const CurveOptions& options,
                             const RunOptions& run) {
  CurveOptions plain = options;
  plain.statics.estimate = false;
  if (options.statics.estimate) refuse_estimate(model, options.statics);
  StaticCurve out = path_once(model, run, branch, plain);
  plain.shapes = false;
  if (options.statics.estimate && out.ok())
    out.lost_error = errors_of_losses(out, path_once(with_twice_the_elements(model), run, branch, plain));
  return out;
}

StaticCurve way_to_rest(const Model& model, const RunOptions& run, int steps, const CurveOptions& options) {
  return has_past(model, options.statics.time) ? static_history(model, options.statics.time, steps, options)
                                               : load_curve(model, run, steps, Growth::everything, options);
}

std::vector<Statement> describe(const StaticCurve& curve) {
  std::vector<Statement> out{{"method", curve.method}};
  if (!curve.points.empty()) {
    const CurvePoint& last = curve.points.back();
    out.push_back(
        {to_string(curve.job), curve.job == StaticJob::history
                                   ? fmt::format("{} rests up to {:.6g} s", curve.points.size(), last.time)
                                   : fmt::format("{} rests up to {:.6g} of the {}", curve.points.size(),
                                                 last.load, curve.way > 0 ? "way" : "load")});
  }
  if (!curve.ok()) out.push_back({"ends", curve.report.message});
  if (curve.job == StaticJob::path && !curve.points.empty()) {
    const std::vector<Statement> snap = describe(snap_of(curve), curve);
    out.insert(out.begin() + 1, snap.begin(), snap.end());
  }
  for (std::size_t i = 0; i < curve.lost.size(); ++i) {
    Statement one = describe(curve.lost[i], curve);
    if (i < curve.lost_error.size())
      one.text += std::isfinite(curve.lost_error[i])
                      ? fmt::format("; error about {:.1e} of the load", curve.lost_error[i])
                      : "; error not known: twice as many elements go another way";
    out.push_back(std::move(one));
  }
  for (const std::string& event : curve.events) out.push_back({"change", event});
  for (const std::string& warning : curve.warnings) out.push_back({"warning", warning});
  return out;
}

StaticCurve static_history(const Model& model, double until, int steps, const CurveOptions& options) {
  chain_method(StaticJob::history, options.statics);
  if (!(until >= 0) || steps < 1)
    throw std::invalid_argument(
        fmt::format("history: expected a time of at least 0 s and a step, got {} s, {}", until, steps));
  refuse_without_potential(model);
  chain::History history(model, chain_options(options.statics));
  StaticCurve out;
  out.job = StaticJob::history, out.method = "chain", out.layout = history.system().layout();
  out.warnings = static_notes(model, Question::chain_static);
  std::size_t told = 0;
  for (int i = 0; i <= steps; ++i) {
    CurvePoint p;
    p.time = until * i / steps;
    const chain::StaticReport r = history.advance_to(p.time);
    out.report = r.report;
    for (; told < history.events().size(); ++told)
      out.events.push_back(
          fmt::format("{:.6g} s: {}", history.events()[told].time, history.events()[told].text));
    if (!r.report.ok()) {
      out.report.message = fmt::format("at {:.6g} s: {}", p.time, r.report.message);
      return out;
    }
    p.negative = r.negative, p.severed = history.severed().size();
    chain::observe(history.system(), history.solver(), history.rest(), p.snapshot);
    for (const auto& s : chain::stresses(history.system(), history.solver(), history.rest()))
      p.largest_stress = std::max(p.largest_stress, s.stress.combined);
    if (options.shapes) p.fields = chain_fields(history.system(), history.solver(), history.rest());
    p.snapshot.time = p.time;
    keep(p, options.shapes);
    out.points.push_back(std::move(p));
  }
  return out;
}

}  // namespace limber::sim
