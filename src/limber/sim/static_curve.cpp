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

CurvePoint::Kind point_kind(chain::PathPoint::Kind kind) {
  return kind == chain::PathPoint::Kind::limit         ? CurvePoint::Kind::limit
         : kind == chain::PathPoint::Kind::bifurcation ? CurvePoint::Kind::bifurcation
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

void refuse_weight(const Model& model, Growth growth, const char* method, double time) {
  if (growth == Growth::everything || !has_loads(model) || model.gravity().value(time).isZero(0)) return;
  throw ModelError({{"scene", "", "gravity",
                     fmt::format("loads that grow while the weight stays: method {} grows both at once; "
                                 "method chain takes it, or a scene without gravity",
                                 method)}});
}

StaticCurve load_curve(const Model& model, const RunOptions& run, int steps, Growth growth,
                       const CurveOptions& options) {
  if (steps < 1) throw std::invalid_argument(fmt::format("steps: expected at least 1, got {}", steps));
  const MethodInfo& method = static_method(model, run, options.statics, StaticJob::ramp);
  const Follower work = method.statics->follow(model, run, growth, options.statics);
  StaticCurve out;
  out.job = StaticJob::ramp, out.method = method.name(), out.layout = work.layout;
  out.warnings = static_notes(model, *method.rest);
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
    work.observe(p.snapshot);
    if (options.shapes) p.fields = work.fields();
    keep(p, options.shapes);
    out.points.push_back(std::move(p));
  }
  return out;
}

namespace {

// The place of the only load, and which way it pushes.
struct LoadedPlace {
  const chain::System& system;
  double time;
  bool known;
  Vec3 first = Vec3::Zero();
  double along(const result::Snapshot& at, bool is_first) {
    if (!known) return 0;
    const PointLoad& l = system.model().point_loads()[0];
    const auto body = static_cast<std::size_t>(l.at.body.value);
    const Vec3 p = at.positions[body] + at.rotations[body] * l.at.p;
    if (is_first) first = p;
    const Vec3 f = l.follows ? Vec3(at.rotations[body] * l.force.value(time)) : l.force.value(time);
    return (p - first).dot(f.normalized());
  }
};

void take_stress(const chain::System& system, chain::Solver& solver, const chain::Rest& rest, CurvePoint& p) {
  p.safety = INFINITY;
  for (const chain::Station& s : chain::stresses(system, solver, rest)) {
    if (!(s.stress.combined > p.largest_stress)) continue;
    p.largest_stress = s.stress.combined, p.safety = s.safety;
    p.stressed = system.written().beams()[s.beam].name, p.stressed_at = s.s;
  }
}

}  // namespace

static StaticCurve path_once(const Model& model, Branch branch, const CurveOptions& options) {
  chain_method(StaticJob::path, options.statics);
  refuse_past(model, options.statics.time, "a path of equilibria");
  refuse_without_potential(model);
  chain::Options how;
  how.time = options.statics.time;
  how.weight_ramps = !has_loads(model);
  const chain::System system = chain::compile(model, how);
  chain::Solver solver(system.structure()), viewer(system.structure());
  StaticCurve out;
  out.job = StaticJob::path, out.method = "chain", out.layout = system.layout();
  out.warnings = static_notes(model, Question::chain_static);
  out.force = only_force(model, options.statics.time, how.weight_ramps);
  chain::Rest rest = system.rest();
  const chain::StaticOptions statics = chain_options(options.statics);
  out.report = solver.solve(rest, 0, statics).report;
  if (!out.ok()) return out;
  const auto walk = [&](Branch way, bool shapes, std::vector<CurvePoint>& points) {
    chain::PathOptions path;
    path.statics = statics;
    path.branching = way == Branch::straight ? chain::Branching::straight
                     : way == Branch::stable ? chain::Branching::least_unstable
                                             : chain::Branching::first;
    path.side = way == Branch::other_side ? -1 : 1;
    path.end_stable = way == Branch::stable;
    LoadedPlace loaded{system, how.time, out.force > 0 && system.model().point_loads()[0].at.body.valid()};
    chain::Rest at = rest;
    return chain::follow(solver, at, path, [&](const chain::PathPoint& found, const chain::Rest& there) {
      CurvePoint& p = points.emplace_back();
      p.load = found.factor, p.time = how.time, p.negative = found.negative, p.kind = point_kind(found.kind);
      chain::observe(system, viewer, there, p.snapshot);
      p.deflection = loaded.along(p.snapshot, points.size() == 1);
      take_stress(system, viewer, there, p);
      if (points.size() == 1 && out.force > 0 && found.give > 0)
        out.stiffness = out.force * out.force / found.give;
      if (shapes) p.fields = chain_fields(system, viewer, there);
      keep(p, shapes);
    });
  };
  const chain::PathReport report = walk(branch, options.shapes, out.points);
  out.lost = report.lost;
  if (!report.reached) {
    out.report.status = result::Status::not_converged;
    out.report.message = report.message;
  }
  const bool crossed = std::ranges::any_of(report.lost, [](const auto& l) { return !l.limit; });
  if (options.shapes && crossed)
    walk(branch == Branch::straight ? Branch::stable : Branch::straight, false, out.other);
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

StaticCurve equilibrium_path(const Model& model, Branch branch, const CurveOptions& options) {
  CurveOptions plain = options;
  plain.statics.estimate = false;
  if (options.statics.estimate) refuse_estimate(model, options.statics);
  StaticCurve out = path_once(model, branch, plain);
  plain.shapes = false;
  if (options.statics.estimate && out.ok())
    out.lost_error = errors_of_losses(out, path_once(with_twice_the_elements(model), branch, plain));
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
    out.push_back({to_string(curve.job),
                   curve.job == StaticJob::history
                       ? fmt::format("{} rests up to {:.6g} s", curve.points.size(), last.time)
                       : fmt::format("{} rests up to {:.6g} of the load", curve.points.size(), last.load)});
  }
  if (!curve.ok()) out.push_back({"ends", curve.report.message});
  if (curve.job == StaticJob::path && !curve.points.empty()) {
    const std::vector<Statement> snap = describe(snap_of(curve), curve);
    out.insert(out.begin() + 1, snap.begin(), snap.end());
  }
  for (std::size_t i = 0; i < curve.lost.size(); ++i) {
    Statement one = describe(curve.lost[i], curve.force);
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
