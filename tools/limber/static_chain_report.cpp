// The report of `limber static` by method chain.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "limber/chain/chain.h"
#include "limber/chain/stress.h"
#include "static_report.h"
#include "terminal.h"

namespace limber::cli {

namespace {

// Von Mises stress at the points of the beams: that of the last joint before each.
result::Field stress_field(const chain::System& system, chain::Solver& solver, const chain::Rest& rest) {
  result::Field field{"stress", "Pa", result::Field::On::points, {}};
  field.values.assign(system.layout().point_count(), std::nanf(""));
  const auto stations = chain::stresses(system, solver, rest);
  std::size_t first = 0;
  for (const auto& line : system.layout().polylines) {
    const auto& traces = system.traces();
    const auto trace = std::ranges::find(traces, line.name, &elastic::BeamTrace::name);
    for (int k = 0; trace != traces.end() && k < line.points; ++k)
      for (const chain::Station& s : stations)
        if (s.beam == trace - traces.begin() && s.s <= trace->s[k] + 1e-12)
          field.values[first + k] = static_cast<float>(s.stress.combined);
    first += static_cast<std::size_t>(line.points);
  }
  return field;
}

}  // namespace

void write_chain_report(const scene::Scene& scene, double time, const chain::StaticOptions& options,
                        const std::string& file) {
  chain::Options how;
  how.time = time;
  chain::System system = chain::compile(scene.model, how);
  chain::Solver solver(system.structure());
  chain::Rest rest = system.rest();
  StaticReportContent content;
  content.layout = system.layout();
  if (content.layout.title.empty()) content.layout.title = scene.file;
  content.sources = scene.sources;
  const auto loads = scene.model.point_loads();
  if (loads.size() == 1 && scene.model.gravity().value(time).norm() == 0)
    content.force = loads[0].force.value(time).norm();
  constexpr int parts = 20;
  chain::StaticReport found;
  for (int k = 0; k <= parts; ++k) {
    const double share = static_cast<double>(k) / parts;
    if (k > 0) found = solver.solve(rest, share, options);
    if (k > 0 && !found.report.ok()) {
      content.warnings.push_back(
          fmt::format("no equilibrium at {:g} of the load: {}", share, found.report.message));
      break;
    }
    LoadStep step;
    step.share = share;
    chain::observe(system, solver, rest, step.snapshot);
    step.fields.push_back(stress_field(system, solver, rest));
    content.steps.push_back(std::move(step));
  }
  content.subtitle = fmt::format("{}: where it comes to rest, by chain; {}",
                                 std::filesystem::path(scene.file).filename().string(),
                                 found.stable() ? "stable" : "not stable");
  Json rows = Json::array();
  for (const chain::Reaction& r : chain::reactions(system, solver, rest))
    rows.push_back(Json::array(
        {r.name, r.force.x(), r.force.y(), r.force.z(), r.moment.x(), r.moment.y(), r.moment.z()}));
  content.tables.push_back(
      report_table("Reactions", {"", "Fx [N]", "Fy [N]", "Fz [N]", "Mx [N m]", "My [N m]", "Mz [N m]"}, rows,
                   "On the beam, world axes, at its root or tie."));
  for (const chain::RangeWarning& w :
       chain::out_of_range(system, chain::stresses(system, solver, rest), rest))
    content.warnings.push_back(fmt::format("{}, element {}: {}", w.beam, w.element, w.why));
  write_static_report(content, file);
  message(fmt::format("wrote {}", file));
}

}  // namespace limber::cli
