// Equilibria of method chain: as it stands, or as its past has left it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "limber/math/trig.h"
#include "limber/sim/snap.h"
#include "limber/sim/static_parts.h"

namespace limber::sim {
namespace {

constexpr int aging_steps = 50;  // of a past with creep or fatigue

bool ages(const Material& m) { return m.creep.rate > 0 || m.fatigue.rate > 0; }

// The material of a beam, now or after a change, that creeps or tires; −1: none.
int aging_material(const Model& model) {
  std::vector<MaterialId> used;
  for (const Beam& b : model.beams()) used.push_back(b.material);
  for (const Change& c : model.changes())
    if (c.kind == Change::Kind::material) used.push_back(c.material);
  for (const MaterialId id : used)
    if (ages(model[id])) return id.value;
  return -1;
}

bool matters_at(const Change& c, double time) { return c.at <= time || c.kind == Change::Kind::grow; }

void take_report(const chain::StaticReport& r, Equilibrium& e) {
  e.report = r.report;
  e.residual = r.residual;
  e.gap = r.gap;
  e.load_steps = r.load_steps;
  e.redundant_rows = r.redundant_rows;
  e.stability.negative = r.symmetric ? r.negative : 0;
  e.stability.counted = r.symmetric;
  e.stability.lost = r.lost;
}

result::Energy energy_of(const chain::System& system, const chain::Solver& solver, const result::Snapshot& at,
                         double time) {
  result::Energy out;
  const auto bodies = system.model().bodies();
  const Vec3 g = system.model().gravity().value(time);
  for (std::size_t i = 0; i < bodies.size(); ++i)
    out.gravity -= bodies[i].inertia.m * g.dot(at.positions[i] + at.rotations[i] * bodies[i].inertia.com());
  out.elastic = solver.balance().elastic + solver.ties().spring_energy();
  return out;
}

std::vector<articulated::SpringTension> tensions(const chain::System& system, const result::Snapshot& at) {
  std::vector<articulated::SpringTension> out;
  std::size_t next = system.layout().point_count() - 2 * system.structure().springs.size();
  for (const chain::SpringTie& spring : system.structure().springs) {
    const double length = (at.points[next + 1] - at.points[next]).norm();
    out.push_back({spring.name, length, elastic::spring_tension(spring.law, length, 0)});
    next += 2;
  }
  return out;
}

// What a name is, of many: beam's roots, ties, loops, else joints.
class Kinds {
 public:
  explicit Kinds(const Model& model) {
    for (const Loop& x : model.loops()) of_[x.name] = "loop";
    for (const Tie& x : model.ties()) of_[x.name] = "tie";
    for (const Beam& x : model.beams()) of_[x.name] = "root";
  }
  std::string of(const std::string& name) const {
    const auto found = of_.find(name);
    return found == of_.end() ? "joint" : found->second;
  }

 private:
  std::unordered_map<std::string, const char*> of_;
};

void take_shape(const chain::System& system, chain::Solver& solver, const chain::Rest& rest, Equilibrium& e) {
  const Model& model = system.written();
  e.layout = system.layout();
  chain::observe(system, solver, system.start(), e.before);
  chain::observe(system, solver, rest, e.after);
  e.energy = energy_of(system, solver, e.after, system.options().time);
  e.springs = tensions(system, e.after);
  e.beams = linked_beams(system.traces(), e.before, e.after);
  const auto stations = chain::stresses(system, solver, rest);
  for (const chain::Station& s : stations)
    e.beams[s.beam].sections.push_back({s.s, s.force, s.moment, s.stress, s.safety, s.yields, s.breaks});
  e.out_of_range = chain::out_of_range(system, stations, rest);
  const Kinds kinds(model);
  for (const chain::Reaction& r : chain::reactions(system, solver, rest))
    e.reactions.push_back({r.name, kinds.of(r.name), r.at, r.force, r.moment, {}});
  e.fields = chain_fields(system, solver, rest);
}

// Σ F·du/dλ of the tangent at the rest.
void take_stiffness(const Model& model, chain::Solver& solver, const chain::Rest& rest, Equilibrium& e) {
  const double force = only_force(model, e.time, true);
  if (force == 0) return;
  chain::PathOptions here;
  here.max_points = 1;
  chain::Rest at = rest;
  const chain::PathReport found = chain::follow(solver, at, here, nullptr);
  if (const double give = found.points[0].give; give > 0) e.stiffness = force * force / give;
}

void take_sizes(const chain::Links& links, Equilibrium& e) {
  e.joints = static_cast<std::size_t>(links.count());
  for (int k = 0; k < links.count(); ++k) e.dofs += links.hinge[k] ? 1 : 3;
}

// From t = 0 through everything that happens until then.
void with_past(const Model& model, const StaticOptions& options, Equilibrium& e) {
  chain::History history(model, chain_options(options));
  chain::StaticReport r;
  for (const double t : history_times(model, options.time, aging_steps)) {
    r = history.advance_to(t);
    if (r.report.ok()) continue;
    r.report.message = fmt::format("at {:.6g} s: {}", t, r.report.message);
    break;
  }
  take_report(r, e);
  take_sizes(history.system().structure().links, e);
  for (const chain::HistoryEvent& event : history.events())
    e.events.push_back(fmt::format("{:.6g} s: {}", event.time, event.text));
  if (e.ok()) take_shape(history.system(), history.solver(), history.rest(), e);
}

void as_it_stands(const Model& model, const StaticOptions& options, Equilibrium& e) {
  chain::Options how;
  how.time = options.time;
  chain::System system = chain::compile(model, how);
  chain::Solver solver(system.structure());
  chain::Rest rest = system.rest();
  const chain::StaticOptions statics = chain_options(options);
  take_report(options.load == 1 ? chain::solve_from_coarse(system, solver, rest, statics)
                                : solver.solve(rest, options.load, statics),
              e);
  take_sizes(system.structure().links, e);
  if (!e.ok()) return;
  if (options.estimate || options.error > 0) e.error = chain::estimate_error(system, rest, statics);
  take_shape(system, solver, rest, e);
  take_stiffness(model, solver, rest, e);
  if (!e.stability.lost.empty() && options.load == 1) {
    CurveOptions way;
    way.statics = options, way.shapes = false;
    way.statics.modes.reset(), way.statics.error = 0, way.statics.estimate = false;
    const StaticCurve path = equilibrium_path(model, Branch::stable, way);
    if (path.ok()) e.snap = describe(snap_of(path), path);
  }
}

Equilibrium find_by_chain(const Model& model, const RunOptions&, const StaticOptions& options) {
  refuse_without_potential(model);
  Equilibrium e;
  e.method = "chain";
  e.time = options.time, e.load = options.load;
  if (!has_past(model, options.time)) {
    as_it_stands(model, options, e);
    return e;
  }
  if (options.load != 1) refuse_past(model, options.time, "a share of the load");
  with_past(model, options, e);
  return e;
}

// Supports that are moved stand where they are before loads grow: led there, without the loads.
chain::StaticReport move_supports(const Model& model, chain::System& system, chain::Rest& rest,
                                  const chain::StaticOptions& statics) {
  chain::Structure& s = system.structure();
  const bool any = std::ranges::any_of(s.closures, [](const chain::Closure& c) { return c.moves(); });
  if (!any || what_grows(model, system.options().time) != Grows::loads) return {};
  chain::Structure unloaded = s;
  std::fill(unloaded.ramped.begin(), unloaded.ramped.end(), chain::DeadLoad{});
  unloaded.turning_ramped.clear();
  unloaded.air.setZero();
  unloaded.loads_changed();
  chain::Solver solver(unloaded);
  const chain::StaticReport out = solver.solve(rest, 1, statics);
  for (chain::Closure& c : s.closures) c.shift_before = c.shift, c.turn_before = c.turn;
  rest.factor = 0;
  return out;
}

void observe_point(const chain::System& system, chain::Solver& solver, const chain::Rest& rest,
                   LoadedPlace& loaded, const MovedPlace& moved, CurvePoint& p, bool shapes) {
  chain::observe(system, solver, rest, p.snapshot);
  p.deflection = loaded.along(p.snapshot);
  if (moved.way != 0) {
    solver.evaluate(rest, false);
    take_way(moved, rest.factor, solver.ties().work_of_supports(rest.lambda), p);
  }
  for (const chain::Station& s : chain::stresses(system, solver, rest))
    take_stress(s.stress.combined, s.safety, system.written().beams()[s.beam].name, s.s, p);
  if (shapes) p.fields = chain_fields(system, solver, rest);
}

Follower follow_chain(const Model& model, const RunOptions&, Growth growth, const StaticOptions& options) {
  refuse_past(model, options.time, "a ramp of the loads");
  refuse_without_potential(model);
  struct Work {
    chain::System system;
    chain::Solver solver;
    chain::Rest rest;
    chain::StaticOptions options;
    chain::StaticReport supports;
    LoadedPlace loaded;
    MovedPlace moved;
    Work(const Model& m, const chain::Options& how, const chain::StaticOptions& statics)
        : system(chain::compile(m, how)),
          solver(system.structure()),
          rest(system.rest()),
          options(statics),
          loaded(system.model(), how.time, how.weight_ramps),
          moved(only_moved(m, how.time)) {
      supports = move_supports(m, system, rest, statics);
    }
  };
  chain::Options how;
  how.time = options.time;
  how.weight_ramps = growth == Growth::everything || !has_loads(model);
  const auto work = std::make_shared<Work>(model, how, chain_options(options));
  return {work->system.layout(),
          [work](double load) {
            if (!work->supports.report.ok()) return Follower::Rest{work->supports.report, 0, {}};
            const chain::StaticReport r = work->solver.solve(work->rest, load, work->options);
            return Follower::Rest{r.report, r.negative, r.lost};
          },
          [work](CurvePoint& p, bool shapes) {
            observe_point(work->system, work->solver, work->rest, work->loaded, work->moved, p, shapes);
          }};
}

PathWork path_of_chain(const Model& model, const RunOptions&, const StaticOptions& options) {
  struct Work {
    chain::System system;
    chain::Rest rest;
    chain::StaticReport supports;
    chain::Solver solver, viewer;
    Work(const Model& m, const chain::Options& how, const chain::StaticOptions& statics)
        : system(chain::compile(m, how)),
          rest(system.rest()),
          supports(move_supports(m, system, rest, statics)),
          solver(system.structure()),
          viewer(system.structure()) {}
  };
  chain::Options how;
  how.time = options.time;
  how.weight_ramps = !has_loads(model);
  const chain::StaticOptions statics = chain_options(options);
  const auto work = std::make_shared<Work>(model, how, statics);
  return {work->system.layout(),
          [=](const math::PathOptions& asked, bool shapes, const PathWork::Observer& observer) {
            const chain::System& system = work->system;
            PathWork::Walk out;
            chain::Rest rest = work->rest;
            out.first = work->supports.report;
            if (out.first.ok()) out.first = work->solver.solve(rest, 0, statics).report;
            if (!out.first.ok()) return out;
            chain::PathOptions path{asked, statics};
            LoadedPlace loaded(system.model(), how.time, how.weight_ramps);
            const MovedPlace moved = only_moved(system.written(), how.time);
            out.path = chain::follow(work->solver, rest, path,
                                     [&](const math::PathPoint& found, const chain::Rest& there) {
                                       CurvePoint p;
                                       observe_point(system, work->viewer, there, loaded, moved, p, shapes);
                                       observer(found, p);
                                     });
            return out;
          }};
}

constexpr StaticJob chain_jobs[] = {StaticJob::rest,    StaticJob::ramp,    StaticJob::path,
                                    StaticJob::history, StaticJob::inverse, StaticJob::sweeps};

}  // namespace

const StaticAbility chain_statics{chain_jobs, false, find_by_chain, follow_chain, path_of_chain};

chain::StaticOptions chain_options(const StaticOptions& options) {
  chain::StaticOptions out;
  out.load_steps = options.load_steps.value_or(out.load_steps);
  out.max_iterations = options.max_iterations.value_or(out.max_iterations);
  return out;
}

bool has_past(const Model& model, double time) {
  return (time > 0 && aging_material(model) >= 0) ||
         std::ranges::any_of(model.changes(), [&](const Change& c) { return matters_at(c, time); });
}

void refuse_past(const Model& model, double time, const std::string& what) {
  for (std::size_t i = 0; i < model.changes().size(); ++i)
    if (matters_at(model.changes()[i], time))
      throw ModelError({{"change", fmt::format("{}", i + 1), "",
                         what + " knows no changes: a rest at a time and --until honour them"}});
  if (const int m = aging_material(model); time > 0 && m >= 0)
    throw ModelError(
        {{"material", model.materials()[m].name, model.materials()[m].creep.rate > 0 ? "creep" : "fatigue",
          what + " knows no aging: a rest at a time and --until honour it"}});
}

bool solved_by_sweeps(const Model& model) {
  return std::ranges::any_of(model.beams(), [](const Beam& b) { return b.recipe == Recipe::published_1r; });
}

void refuse_without_potential(const Model& model) {
  for (const Beam& b : model.beams())
    if (b.recipe == Recipe::published_1r)
      throw ModelError({{"beam", b.name, "recipe",
                         "published_1r has no potential and is solved by sweeps only: --solver linear_12"}});
}

std::vector<double> history_times(const Model& model, double time, int steps) {
  std::set<double> out{0, time};
  for (const Change& c : model.changes())
    if (c.at > 0 && c.at < time) out.insert(c.at);
  if (aging_material(model) >= 0)
    for (int i = 1; i < steps; ++i) out.insert(time * i / steps);
  return {out.begin(), out.end()};
}

result::Fields chain_fields(const chain::System& system, chain::Solver& solver, const chain::Rest& rest) {
  result::Field stress{"stress", "Pa", result::Field::On::points, {}};
  const float none = std::nanf("");
  const auto stations = chain::stresses(system, solver, rest);
  std::size_t next = 0;
  for (std::size_t b = 0; b < system.traces().size(); ++b) {
    float now = none;  // of the last joint before the point
    for (const double s : system.traces()[b].s) {
      for (; next < stations.size() && stations[next].beam == static_cast<int>(b) &&
             stations[next].s <= s + 1e-12;
           ++next)
        now = static_cast<float>(stations[next].stress.combined);
      stress.values.push_back(now);
    }
    while (next < stations.size() && stations[next].beam <= static_cast<int>(b)) ++next;
  }
  stress.values.resize(system.layout().point_count(), none);
  result::Fields out{std::move(stress)};
  if (system.structure().springs.empty()) return out;
  result::Snapshot at;
  chain::observe(system, solver, rest, at);
  result::Field tension{"tension", "N", result::Field::On::polylines, {}};
  tension.values.assign(system.traces().size(), none);
  for (const auto& spring : tensions(system, at))
    tension.values.push_back(static_cast<float>(spring.tension));
  out.push_back(std::move(tension));
  return out;
}

std::vector<BeamRest> linked_beams(const std::vector<elastic::BeamTrace>& traces,
                                   const result::Snapshot& before, const result::Snapshot& after) {
  std::vector<BeamRest> out;
  std::size_t next = 0;
  for (const elastic::BeamTrace& trace : traces) {
    next += trace.points.size();
    const auto body = static_cast<std::size_t>(trace.bodies.back().value);
    // The tangent unloaded, turned with the last link.
    const Vec3 tangent = (before.points[next - 1] - before.points[next - 2]).normalized();
    const Vec3 now = (after.rotations[body] * before.rotations[body].conjugate()) * tangent;
    out.push_back({trace.name,
                   after.points[next - 1],
                   after.points[next - 1] - before.points[next - 1],
                   math::atan2(tangent.cross(now).norm(), tangent.dot(now)),
                   {}});
  }
  return out;
}

}  // namespace limber::sim
