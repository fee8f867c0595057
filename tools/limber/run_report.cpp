#include "run_report.h"

#include <fmt/format.h>

#include <cmath>

#include "limber/export/report.h"
#include "limber/sim/run.h"
#include "report_json.h"
#include "viewer_page.h"

namespace limber::cli {

namespace fs = std::filesystem;

Json report_table(const std::string& title, const Json& head, const Json& rows, const std::string& note) {
  Json table = {{"title", title}, {"head", head}, {"rows", rows}};
  if (!note.empty()) table["note"] = note;
  return table;
}

Json report_sources(const std::vector<sim::SourceFile>& sources) {
  Json out = Json::array();
  for (const sim::SourceFile& s : sources) out.push_back({{"path", s.path}, {"text", s.text}});
  return out;
}

std::string join_report(const Json& head, const std::string& recording_json) {
  std::string text = head.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.pop_back();  // the recording's text goes in as it is: it may be megabytes
  return text + ",\"recording\":" + recording_json + "}";
}

namespace {

std::string number(double x) { return fmt::format("{:.6g}", x); }

Json what_ran(const sim::StoredRun& run) {
  Json rows = Json::array();
  const auto row = [&](const char* name, const std::string& value) { rows.push_back({name, value}); };
  const auto& o = run.options;
  row("limber", run.version);
  row("scene", run.scene_file);
  for (const auto& [name, value] : run.set) row("--set", name + "=" + value);
  const std::string integrator = sim::integrator_of(o);
  row("method", fmt::format("{}{}, linear solver {}", sim::to_string(o.method),
                            integrator.empty() ? "" : ", integrator " + integrator, run.solver));
  row("time, step", fmt::format("{:g} s, {:g} s", o.time, o.step));
  row("starts", o.from_static ? "at rest under the loads of t = 0" : "as written");
  const auto& s = run.sizes;
  row("bodies, joints, freedoms", fmt::format("{}, {}, {}", s.bodies, s.joints, s.dofs));
  row("beams, springs, loops", fmt::format("{}, {}, {}", s.beams, s.springs, s.loops));
  row("mass", fmt::format("{:.6g} kg", s.mass));
  row("outcome", fmt::format("{}, {:g} s reached, {} frames", run.outcome, run.report.time, run.frames));
  return report_table("What ran", {"", ""}, rows);
}

Json effort(const sim::StoredRun& run) {
  const auto& r = run.report;
  const double steps = static_cast<double>(std::max(1L, r.steps));
  Json rows = Json::array();
  rows.push_back({"steps", std::to_string(r.steps)});
  rows.push_back({"steps that had to be split", std::to_string(r.substeps)});
  if (r.parts > 0) {
    rows.push_back({"parts that steps were taken in", std::to_string(r.parts)});
    rows.push_back({"parts that missed their error and were shortened", std::to_string(r.rejected)});
  }
  rows.push_back({"iterations in all", std::to_string(r.total_iterations)});
  rows.push_back({"iterations a step", number(static_cast<double>(r.total_iterations) / steps)});
  rows.push_back({"most iterations in a step", std::to_string(r.iterations)});
  if (r.solver_iterations > 0)
    rows.push_back({"most iterations of the linear solver", std::to_string(r.solver_iterations)});
  return report_table("Solver effort", {"", ""}, rows, "Wall-clock times are in run.json.");
}

// Of each energy: start, end, least and largest. The remainder is what the integrator itself gained or lost.
struct Ledger {
  Json table;
  double remainder = 0, scale = 0;
  bool has_remainder = false;
};
Ledger ledger(result::RecordingReader& recording) {
  Ledger out;
  const auto& scalars = recording.layout().scalars;
  std::vector<double> first(scalars.size()), last(scalars.size()), low(scalars.size(), INFINITY),
      high(scalars.size(), -INFINITY);
  result::Snapshot s;
  for (std::uint64_t i = 0; i < recording.frame_count(); ++i) {
    recording.read(i, s);
    if (i == 0) first = s.scalars;
    last = s.scalars;
    for (std::size_t k = 0; k < scalars.size(); ++k)
      low[k] = std::min(low[k], s.scalars[k]), high[k] = std::max(high[k], s.scalars[k]);
  }
  Json rows = Json::array();
  for (std::size_t k = 0; k < scalars.size(); ++k) {
    if (!scalars[k].name.starts_with("energy.")) continue;
    rows.push_back({scalars[k].name, first[k], last[k], low[k], high[k]});
    if (scalars[k].name == "energy.remainder")
      out.has_remainder = true, out.remainder = std::max(std::abs(low[k]), std::abs(high[k]));
    else
      out.scale = std::max(out.scale, high[k] - low[k]);
  }
  if (!rows.empty())
    out.table = report_table("Energy ledger", {"", "start [J]", "end [J]", "least [J]", "largest [J]"}, rows);
  return out;
}

Json errors(const sim::StoredRun& run, const Ledger& ledger) {
  const auto& r = run.report;
  Json rows = Json::array();
  rows.push_back({"largest residual that was accepted, relative", number(r.residual)});
  if (run.sizes.loops > 0)
    rows.push_back({"largest gap of a loop, of the structure's size", number(r.loop_gap)});
  if (r.contact_residual > 0) {
    rows.push_back(
        {"largest residual of contact forces, of the velocities they stop", number(r.contact_residual)});
    rows.push_back({"largest violation of a friction cone, of the largest force", number(r.cone_violation)});
    rows.push_back(
        {"largest overlap that a step left, of the smaller one's size", number(r.contact_overlap)});
  }
  if (ledger.has_remainder)
    rows.push_back({"energy that the integrator gained or lost, at most",
                    fmt::format("{:.6g} J ({:.2g} % of the largest change of an energy)", ledger.remainder,
                                ledger.scale > 0 ? 100 * ledger.remainder / ledger.scale : 0)});
  if (!r.worst.empty()) rows.push_back({"where the residual was largest", r.worst});
  return report_table("Error estimates", {"", ""}, rows);
}

Json events(const sim::StoredRun& run) {
  Json rows = Json::array();
  for (const sim::Happening& h : run.events) rows.push_back({h.event, h.found, h.acted, h.what});
  return report_table("Events", {"", "found [s]", "acted [s]", "what"}, rows);
}

// Where the slider and the curves are marked.
Json marks(const sim::StoredRun& run) {
  Json out = Json::array();
  for (const sim::Happening& h : run.events) out.push_back({{"at", h.acted}, {"name", h.event}});
  return out;
}

Json warnings(const sim::StoredRun& run, const result::RecordingReader& recording,
              const exporting::RecordingText& text) {
  Json out = Json::array();
  const auto& r = run.report;
  if (!r.ok()) out.push_back(run.outcome + ": " + r.message);
  for (const std::string& warning : run.warnings) out.push_back(warning);
  if (recording.torn()) out.push_back("the last frame is not complete and is left out");
  if (text.number_stride() > 1)
    out.push_back(fmt::format("to keep this file small it holds every {}th frame; probes.csv has all",
                              text.number_stride()));
  else if (text.motion_stride() > 1)
    out.push_back(
        fmt::format("to keep this file small the picture moves between every {}th frame; numbers are "
                    "all there",
                    text.motion_stride()));
  if (text.rounded())
    out.push_back(
        "to keep this file small the poses of the picture are rounded to a 65,534th of its size; numbers are "
        "exact");
  return out;
}

}  // namespace

void write_run_report(const fs::path& folder, const fs::path& file) {
  const sim::StoredRun run = sim::read_run(folder);
  result::RecordingReader recording(folder / "frames");
  std::optional<result::TouchReader> touches;
  if (std::error_code error; fs::exists(folder / "touches", error)) touches.emplace(folder / "touches");
  const exporting::RecordingText text = exporting::read_recording(recording, touches ? &*touches : nullptr);
  const Ledger energies = ledger(recording);
  Json tables = Json::array();
  if (!energies.table.is_null()) tables.push_back(energies.table);
  if (!run.events.empty()) tables.push_back(events(run));
  tables.push_back(effort(run));
  tables.push_back(errors(run, energies));
  tables.push_back(what_ran(run));
  Json head = {{"kind", "run"},
               {"title", run.title.empty() ? run.scene_file : run.title},
               {"subtitle", fmt::format("{}, {}, {:g} s", run.scene_file, sim::to_string(run.options.method),
                                        run.report.time)},
               {"axis", {{"name", "time"}, {"unit", "s"}}},
               {"warnings", warnings(run, recording, text)},
               {"tables", tables},
               {"plots", Json::array()},
               {"sources", report_sources(run.sources)}};
  if (!run.events.empty()) head["marks"] = marks(run);
  result::write_atomically(file, exporting::fill_page(viewer_page(), join_report(head, text.json())));
}

}  // namespace limber::cli
