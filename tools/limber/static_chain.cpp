#include "static_chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "errors.h"
#include "limber/chain/chain.h"
#include "limber/chain/elements.h"
#include "limber/chain/history.h"
#include "limber/chain/inverse.h"
#include "limber/chain/stress.h"
#include "limber/math/so3.h"
#include "limber/result/files.h"
#include "scene_arguments.h"
#include "terminal.h"
#include "vector_text.h"

namespace limber::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr double degrees = 180 / std::numbers::pi;

struct Tip {
  std::string beam;
  Vec3 position, moved;
  double slope = 0;  // [rad] that its tangent has turned
};

std::vector<Tip> tips(const chain::System& system, const result::Snapshot& before,
                      const result::Snapshot& after) {
  std::vector<Tip> out;
  std::size_t next = 0;
  for (const auto& trace : system.traces()) {
    next += trace.points.size();
    const auto body = static_cast<std::size_t>(trace.bodies.back().value);
    // The tangent at rest, turned with the last link.
    const Vec3 tangent = (before.points[next - 1] - before.points[next - 2]).normalized();
    const Vec3 now = (after.rotations[body] * before.rotations[body].conjugate()) * tangent;
    out.push_back({trace.name, after.points[next - 1], after.points[next - 1] - before.points[next - 1],
                   std::atan2(tangent.cross(now).norm(), tangent.dot(now))});
  }
  return out;
}

Json lost_json(const std::vector<chain::StabilityLoss>& lost) {
  Json list = Json::array();
  for (const auto& l : lost)
    list.push_back({{"factor", l.factor},
                    {"kind", l.limit ? "limit" : "bifurcation"},
                    {"negative_directions", l.negative},
                    {"moves", l.moves}});
  return list;
}

void print_lost(const std::vector<chain::StabilityLoss>& lost) {
  for (const auto& l : lost)
    out(fmt::format("  {:<12} at {:.8g} of the load, \"{}\" turns most; {} unstable direction{} after it\n",
                    l.limit ? "limit point" : "bifurcation", l.factor, l.moves, l.negative,
                    l.negative == 1 ? "" : "s"));
}

// Rows of numbers: to a file if asked, else to stdout.
class Csv {
 public:
  explicit Csv(std::string header) : text_(std::move(header) + "\n") {}
  void row(const std::vector<std::string>& cells) { text_ += fmt::format("{}\n", fmt::join(cells, ",")); }
  void finish(const std::string& file) const {
    if (file.empty())
      out(text_);
    else
      result::write_atomically(file, text_);
  }

 private:
  std::string text_;
};

std::string cell(double x) { return fmt::format("{:.17g}", x); }

std::string probe_header(const chain::System& system) {
  std::string header;
  for (const auto& s : system.layout().scalars)
    header += fmt::format(",{}{}", s.name, s.unit.empty() ? "" : fmt::format(" [{}]", s.unit));
  return header;
}

// A force–deflection curve: even load steps, or along the path of equilibria.
int curve(const scene::Scene& scene, const ChainArguments& a) {
  chain::Options o;
  o.time = a.time;
  o.weight_ramps = scene.model.point_loads().empty() && scene.model.distributed_loads().empty();
  chain::System system = chain::compile(scene.model, o);
  chain::Solver solver(system.structure()), viewer(system.structure());
  chain::Rest rest = system.rest();
  result::Snapshot shot;
  Csv csv("load_factor,unstable_directions,point" + probe_header(system));
  std::vector<chain::StabilityLoss> lost;
  const auto note = [&](double factor, int negative, const char* kind, const chain::Rest& at) {
    chain::observe(system, viewer, at, shot);
    std::vector<std::string> cells{cell(factor), fmt::format("{}", negative), kind};
    for (const double x : shot.scalars) cells.push_back(cell(x));
    csv.row(cells);
  };
  std::string failure;
  if (a.path) {
    chain::StaticReport start = solver.solve(rest, 0, a.options);
    if (!start.report.ok()) failure = start.report.message;
    chain::PathOptions path;
    path.statics = a.options;
    path.branch = a.branch;
    path.end = 1;
    if (failure.empty()) {
      const auto report =
          chain::follow(solver, rest, path, [&](const chain::PathPoint& p, const chain::Rest& at) {
            constexpr const char* kinds[] = {"regular", "limit", "bifurcation"};
            note(p.factor, p.negative, kinds[static_cast<int>(p.kind)], at);
          });
      lost = report.lost;
      if (!report.reached) failure = report.message;
    }
  } else {
    for (int i = 0; i <= a.ramp && failure.empty(); ++i) {
      chain::StaticReport r = solver.solve(rest, static_cast<double>(i) / a.ramp, a.options);
      if (!r.report.ok()) {
        failure = r.report.message;
        break;
      }
      lost.insert(lost.end(), r.lost.begin(), r.lost.end());
      note(rest.factor, r.negative, "regular", rest);
    }
  }
  csv.finish(a.csv);
  if (!a.csv.empty()) print_lost(lost);
  if (failure.empty()) return ExitCode::done;
  message(fmt::format("limber: did not converge: {}", failure));
  return ExitCode::failed;
}

int history(const scene::Scene& scene, const ChainArguments& a) {
  chain::History h(scene.model, a.options);
  result::Snapshot shot;
  Csv csv("time [s],unstable_directions,largest_stress [Pa],severed" + probe_header(h.system()));
  std::size_t told = 0;
  std::string failure;
  for (int i = 0; i <= a.steps; ++i) {
    const double t = a.until * i / a.steps;
    const chain::StaticReport r = h.advance_to(t);
    for (; told < h.events().size(); ++told)
      message(fmt::format("{:.6g} s: {}", h.events()[told].time, h.events()[told].text));
    if (!r.report.ok()) {
      failure = fmt::format("at {:.6g} s: {}", t, r.report.message);
      break;
    }
    chain::observe(h.system(), h.solver(), h.rest(), shot);
    double most = 0;
    for (const auto& s : chain::stresses(h.system(), h.solver(), h.rest()))
      most = std::max(most, s.stress.combined);
    std::vector<std::string> cells{cell(t), fmt::format("{}", r.negative), cell(most),
                                   fmt::format("{}", h.severed().size())};
    for (const double x : shot.scalars) cells.push_back(cell(x));
    csv.row(cells);
  }
  csv.finish(a.csv);
  if (failure.empty()) return ExitCode::done;
  message(fmt::format("limber: did not converge: {}", failure));
  return ExitCode::failed;
}

// The unloaded shape of what was measured under its loads: nodes as CSV, checked by loading it again.
int inverse(const scene::Scene& scene, const ChainArguments& a) {
  chain::Options o;
  o.time = a.time;
  chain::System system = chain::compile(scene.model, o);
  if (!system.structure().closures.empty())
    throw ModelError(
        {{"tie", system.structure().closures[0].name, "",
          "what it carries does not follow from the shape: --inverse is for trees held by their roots"}});
  chain::Solver given(system.structure());
  result::Snapshot wanted, unloaded, loaded;
  chain::observe(system, given, system.rest(), wanted);
  system.structure() = chain::unloaded(system.structure());
  chain::Solver solver(system.structure());
  chain::Rest rest = system.rest();
  chain::observe(system, solver, rest, unloaded);
  const chain::StaticReport r = solver.solve(rest, 1, a.options);
  if (!r.report.ok()) {
    message(fmt::format("limber: the unloaded shape was found, but it does not come back under load: {}",
                        r.report.message));
    return ExitCode::failed;
  }
  chain::observe(system, solver, rest, loaded);
  double off = 0;
  for (std::size_t i = 0; i < wanted.points.size(); ++i)
    off = std::max(off, (wanted.points[i] - loaded.points[i]).norm());
  Csv csv("beam,s,x [m],y [m],z [m],loaded_x [m],loaded_y [m],loaded_z [m]");
  std::size_t next = 0;
  for (const auto& trace : system.traces())
    for (const double s : trace.s) {
      const Vec3 &p = unloaded.points[next], &q = loaded.points[next];
      ++next;
      csv.row({trace.name, cell(s), cell(p.x()), cell(p.y()), cell(p.z()), cell(q.x()), cell(q.y()),
               cell(q.z())});
    }
  csv.finish(a.csv);
  message(fmt::format("loaded again it is off the given shape by {:.1e} of its size{}",
                      off / system.structure().size,
                      r.stable() ? "" : "; the given shape is not stable under these loads"));
  return ExitCode::done;
}

int sweeps(const scene::Scene& scene, const ChainArguments& a) {
  const chain::ElementModel m = chain::elements_of(scene.model, a.time);
  chain::Sweeper sweeper(m.elements);
  chain::SweepOptions o;
  o.algorithm = a.solver == "quadratic"   ? chain::SweepAlgorithm::quadratic
                : a.solver == "linear_16" ? chain::SweepAlgorithm::linear_16
                                          : chain::SweepAlgorithm::linear_12;
  o.load_increments = a.increments;
  o.tolerance = std::max(a.options.tolerance, 1e-8);
  const chain::SweepReport r = sweeper.solve(o);
  Json json = {{"ok", r.converged},  {"method", "chain"},      {"solver", chain::to_string(o.algorithm)},
               {"sweeps", r.sweeps}, {"residual", r.residual}, {"message", r.message}};
  if (!a.json)
    out(fmt::format("\n{}\n\n  sweeps       {}, {:.1e} of the moments left over\n",
                    styled(scene.model.title(), Style::bold, 1), r.sweeps, r.residual));
  json["beams"] = Json::object();
  for (std::size_t b = 0; b < m.tips.size(); ++b) {
    const Vec3 p = sweeper.tip(m.tips[b]);
    json["beams"][scene.model.beams()[b].name] = {{"tip", json_of(p)}};
    if (!a.json) out(fmt::format("  {:<12} tip at {} m\n", scene.model.beams()[b].name, to_text(p)));
  }
  if (a.json) out(json.dump(2) + "\n");
  if (r.converged) return ExitCode::done;
  message(fmt::format("limber: did not converge: {}", r.message));
  return ExitCode::failed;
}

struct Answer {
  chain::System system;
  chain::Rest rest;
  chain::StaticReport report;
  chain::ErrorEstimate error;
};

// With as many elements as the wanted error asks for.
Answer answer(const scene::Scene& scene, const ChainArguments& a) {
  chain::Options o;
  o.time = a.time;
  double factor = 1;
  for (;;) {
    Answer r{chain::compile(factor == 1 ? scene.model : chain::refined(scene.model, factor), o), {}, {}, {}};
    chain::Solver solver(r.system.structure());
    r.rest = r.system.rest();
    r.report = chain::solve_from_coarse(r.system, solver, r.rest, a.options);
    if (!r.report.report.ok()) return r;
    if (a.estimate || a.error > 0) r.error = chain::estimate_error(r.system, r.rest, a.options);
    if (a.error <= 0 || (r.error.ok && r.error.largest <= a.error)) return r;
    if (r.system.structure().links.count() > 2'000'000) {
      r.report.report.status = result::Status::not_converged;
      r.report.report.message = fmt::format("the wanted error is out of reach: {:.1e} with {} joints",
                                            r.error.largest, r.system.structure().links.count());
      return r;
    }
    factor *= 2;
  }
}

}  // namespace

void add_chain_options(CLI::App& sub, ChainArguments& a) {
  const char* group = "Method chain";
  sub.add_option("--ramp", a.ramp, "force–deflection curve: loads in N even steps, as CSV")
      ->check(CLI::Range(1, 100000))
      ->group(group);
  sub.add_flag("--path", a.path, "follow the path of equilibria past limit points (arc length), as CSV")
      ->group(group);
  sub.add_option("--branch", a.branch, "leave the path at its first bifurcation: 1 one way, -1 the other")
      ->check(CLI::Range(-1, 1))
      ->group(group);
  sub.add_option("--csv", a.csv, "write curves and shapes to a file instead of stdout")
      ->type_name("FILE")
      ->group(group);
  sub.add_flag("--estimate", a.estimate, "estimate the error by solving with twice as many elements")
      ->group(group);
  sub.add_option("--error", a.error, "use as many elements as this error asks for, of the structure's size")
      ->check(CLI::PositiveNumber)
      ->group(group);
  sub.add_flag("--inverse", a.inverse, "the scene shows the loaded shape: find the unloaded one")
      ->group(group);
  sub.add_option("--until", a.until,
                 "quasi-static history to this time [s], with the scene's changes, as CSV")
      ->check(CLI::PositiveNumber)
      ->group(group);
  sub.add_option("--steps", a.steps, "of the history")->check(CLI::Range(1, 1000000))->group(group);
  sub.add_option("--solver", a.solver, "newton, or the published sweeps: quadratic, linear_16, linear_12")
      ->check(CLI::IsMember({"newton", "quadratic", "linear_16", "linear_12"}))
      ->group(group);
  sub.add_option("--increments", a.increments, "load increments of the sweeps")
      ->check(CLI::Range(1, 100000))
      ->group(group);
}

int static_chain(const scene::Scene& scene, const ChainArguments& a) {
  if (a.inverse) return inverse(scene, a);
  if (a.until > 0) return history(scene, a);
  if (a.ramp > 0 || a.path) return curve(scene, a);
  const bool published_1r = std::any_of(scene.model.beams().begin(), scene.model.beams().end(),
                                        [](const Beam& b) { return b.recipe == Recipe::published_1r; });
  if (a.solver != "newton") return sweeps(scene, a);
  if (published_1r)
    throw ModelError({{"beam", scene.model.beams()[0].name, "recipe",
                       "published_1r has no potential and is solved by sweeps only: --solver linear_12"}});

  const Answer f = answer(scene, a);
  const auto& r = f.report;
  Json json = {{"ok", r.report.ok()},
               {"method", "chain"},
               {"stable", r.stable()},
               {"iterations", r.report.iterations},
               {"load_steps", r.load_steps},
               {"residual", r.residual},
               {"worst", r.report.worst},
               {"gap", r.gap},
               {"joints", f.system.structure().links.count()},
               {"negative_directions", r.symmetric ? Json(r.negative) : Json()},
               {"lost", lost_json(r.lost)},
               {"message", r.report.message}};
  if (!r.report.ok()) {
    if (a.json) out(json.dump(2) + "\n");
    message(fmt::format("limber: did not converge: {}", r.report.message));
    return ExitCode::failed;
  }
  chain::Solver solver(f.system.structure());
  result::Snapshot before, after;
  chain::observe(f.system, solver, f.system.rest(), before);
  chain::observe(f.system, solver, f.rest, after);
  const auto stations = chain::stresses(f.system, solver, f.rest);
  const auto held = chain::reactions(f.system, solver, f.rest);
  const auto warnings = chain::out_of_range(f.system, stations, f.rest);
  const auto ends = tips(f.system, before, after);

  const auto worst_of = [&](int beam) {
    const chain::Station* worst = nullptr;
    for (const auto& s : stations)
      if (s.beam == beam && (!worst || s.stress.combined > worst->stress.combined)) worst = &s;
    return worst;
  };
  if (a.json || !a.write.empty()) {
    json["beams"] = Json::object();
    for (std::size_t b = 0; b < ends.size(); ++b) {
      Json beam = {
          {"tip", json_of(ends[b].position)}, {"moved", json_of(ends[b].moved)}, {"slope", ends[b].slope}};
      if (const auto* w = worst_of(static_cast<int>(b)))
        beam["stress"] = {
            {"largest", w->stress.combined}, {"at", w->s},
            {"bending", w->stress.bending},  {"torsion", w->stress.torsion},
            {"axial", w->stress.axial},      {"safety", std::isfinite(w->safety) ? Json(w->safety) : Json()},
            {"yields", w->yields},           {"breaks", w->breaks}};
      json["beams"][ends[b].beam] = std::move(beam);
    }
    json["reactions"] = Json::object();
    for (const auto& h : held)
      json["reactions"][h.name] = {
          {"at", json_of(h.at)}, {"force", json_of(h.force)}, {"moment", json_of(h.moment)}};
    json["probes"] = Json::object();
    for (std::size_t i = 0; i < f.system.layout().scalars.size(); ++i)
      json["probes"][f.system.layout().scalars[i].name] = after.scalars[i];
    json["out_of_range"] = Json::array();
    for (const auto& w : warnings)
      json["out_of_range"].push_back({{"beam", w.beam}, {"element", w.element}, {"why", w.why}});
    if (f.error.ok)
      json["error_estimate"] = {{"largest", f.error.largest}, {"tip", f.error.tip}, {"beam", f.error.where}};
    const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
    if (!a.write.empty()) result::write_atomically(a.write, text);
    if (a.json) out(text);
  }
  if (a.json) return ExitCode::done;

  out(fmt::format("\n{}\n\n", styled(f.system.layout().title, Style::bold, 1)));
  out(fmt::format("  equilibrium  {} joints, {} iterations, {:.1e} of the moments left over{}\n",
                  f.system.structure().links.count(), r.report.iterations, r.residual,
                  held.empty() || f.system.structure().closures.empty()
                      ? ""
                      : fmt::format(", ties open by {:.1e} of the size", r.gap)));
  if (!r.symmetric)
    out("  stability    not counted: moments or loads that turn with the beam have no potential\n");
  else if (r.negative == 0)
    out("  stability    stable\n");
  else
    out(fmt::format("  stability    unstable: {} direction{} in which it would leave\n", r.negative,
                    r.negative == 1 ? "" : "s"));
  print_lost(r.lost);
  if (f.error.ok)
    out(fmt::format("  error        about {:.1e} of the size (most on \"{}\"), {:.1e} at the tips\n",
                    f.error.largest, f.error.where, f.error.tip));
  if (r.redundant_rows > 0) out(fmt::format("  ties         {} rows hang on others\n", r.redundant_rows));

  const std::size_t most = a.all ? SIZE_MAX : 12;
  out("\n  beam            tip [m]                                   slope [deg]  stress [MPa]  at     "
      "safety\n");
  for (std::size_t b = 0; b < std::min(most, ends.size()); ++b) {
    const auto* w = worst_of(static_cast<int>(b));
    out(fmt::format("  {:<14}  {:<40}  {:>11.5g}  {:>12.5g}  {:<5.3g}  {}{}\n", ends[b].beam,
                    to_text(ends[b].position), ends[b].slope * degrees, w ? w->stress.combined / 1e6 : 0,
                    w ? w->s : 0, w && std::isfinite(w->safety) ? fmt::format("{:.3g}", w->safety) : "-",
                    w && w->breaks ? "  BREAKS" : (w && w->yields ? "  YIELDS" : "")));
  }
  if (ends.size() > most) out(fmt::format("  … {} more beams: --all or --json\n", ends.size() - most));
  out("\n  reaction        force [N]; moment [N m]\n");
  for (std::size_t i = 0; i < std::min(most, held.size()); ++i)
    out(fmt::format("  {:<14}  {}; {}\n", held[i].name, to_text(held[i].force), to_text(held[i].moment)));
  if (!f.system.layout().scalars.empty()) out("\n  probe                              value\n");
  for (std::size_t i = 0; i < f.system.layout().scalars.size(); ++i)
    out(fmt::format("  {:<32}  {:>14.8g} {}\n", f.system.layout().scalars[i].name, after.scalars[i],
                    f.system.layout().scalars[i].unit));
  for (std::size_t i = 0; i < std::min<std::size_t>(warnings.size(), 5); ++i)
    message(fmt::format("warning: beam \"{}\", element {}: {}", warnings[i].beam, warnings[i].element,
                        warnings[i].why));
  if (warnings.size() > 5)
    message(fmt::format("warning: {} more elements out of range: --json", warnings.size() - 5));
  out("\n");
  return ExitCode::done;
}

}  // namespace limber::cli
