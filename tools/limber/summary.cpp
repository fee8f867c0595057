#include "summary.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace limber::cli {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::vector<EnergyChange> energy_changes(const fs::path& frames) {
  result::RecordingReader recording(frames);
  if (recording.frame_count() == 0) return {};
  const auto& scalars = recording.layout().scalars;
  result::Snapshot first, last;
  first.resize(recording.layout());
  last.resize(recording.layout());
  recording.read(0, first);
  recording.read(recording.frame_count() - 1, last);
  std::vector<EnergyChange> changes;
  for (std::size_t i = 0; i < scalars.size(); ++i)
    if (scalars[i].unit == "J") changes.push_back({scalars[i].name, first.scalars[i], last.scalars[i]});
  return changes;
}

std::string describe(const EnergyChange& c) {
  const std::string values = fmt::format("{:.6g} J at the start, {:.6g} J at the end", c.first, c.last);
  return c.first == 0 ? values
                      : fmt::format("{} ({:+.2g} %)", values, 100 * (c.last - c.first) / std::abs(c.first));
}

Rows describe_files(const fs::path& folder) {
  const std::pair<const char*, const char*> known[] = {
      {"run.json", "what ran and how it went"},
      {"frames", "every recorded frame"},
      {"touches", "where things pressed on each other in it"},
      {"checkpoint", "to go on from"},
      {"probes.csv", "the probes, for a spreadsheet or a plot"},
      {"scene.glb", "the motion in 3D: Blender or any glTF viewer"},
      {"scene.pvd", "the motion and its numbers: ParaView"},
      {"report.html", "all of it to look at and to send: any browser, no network"}};
  Rows rows;
  std::error_code error;
  for (const auto& [name, use] : known)
    if (fs::exists(folder / name, error)) rows.emplace_back((folder / name).string(), use);
  return rows;
}

namespace {

double simulated_here(const sim::RunResult& r, const sim::RunRequest& request) {
  return static_cast<double>(r.report.steps - r.first_step) * request.options.step;
}

std::string headline(const sim::RunResult& r) {
  switch (r.outcome) {
    case sim::Outcome::done:
      return r.stopped_by.empty()
                 ? "done"
                 : fmt::format("done: event \"{}\" stopped it at {:.9g} s", r.stopped_by, r.report.time);
    case sim::Outcome::interrupted:
      return fmt::format("interrupted at {:.6g} s", r.report.time);
    case sim::Outcome::diverged:
      return fmt::format("diverged at {:.6g} s", r.report.time);
    case sim::Outcome::not_converged:
      return fmt::format("did not converge at {:.6g} s", r.report.time);
  }
  return "?";
}

}  // namespace

std::string summary_text(const sim::RunResult& r, const sim::RunRequest& request, bool exported) {
  Rows rows;
  rows.emplace_back("outcome", headline(r));
  rows.emplace_back("steps", fmt::format("{} of {} ({:g} s each)", r.report.steps, request.options.steps(),
                                         request.options.step));
  rows.emplace_back("wall time", fmt::format("{} ({:.3g}× real time)", format_duration(r.wall_seconds),
                                             simulated_here(r, request) / r.wall_seconds));
  rows.emplace_back("frames", fmt::format("{}", r.frames));
  for (const EnergyChange& change : energy_changes(r.folder / "frames"))
    rows.emplace_back(change.name, describe(change));
  if (r.report.contact_residual > 0)
    rows.emplace_back(
        "contact", fmt::format("residual {:.1e}, cone violation {:.1e}, overlap {:.1e} of the size at most",
                               r.report.contact_residual, r.report.cone_violation, r.report.contact_overlap));
  for (const sim::Happening& h : r.events) rows.emplace_back("event", sim::to_string(h));
  for (const std::string& warning : r.warnings) rows.emplace_back("warning", warning);
  std::string text = format_rows(rows);
  if (exported) text += "\n" + format_rows(describe_files(r.folder));
  return text;
}

std::string summary_json(const sim::RunResult& r, const sim::RunRequest& request) {
  Json energies = Json::object();
  for (const EnergyChange& c : energy_changes(r.folder / "frames"))
    energies[c.name] = {{"first", c.first}, {"last", c.last}};
  Json files = Json::array();
  for (const auto& row : describe_files(r.folder)) files.push_back(row.first);
  Json json = {{"folder", r.folder.string()},
               {"outcome", sim::to_string(r.outcome)},
               {"time", r.report.time},
               {"steps", r.report.steps},
               {"substeps", r.report.substeps},
               {"parts", r.report.parts},
               {"rejected", r.report.rejected},
               {"total_iterations", r.report.total_iterations},
               {"contact_residual", r.report.contact_residual},
               {"cone_violation", r.report.cone_violation},
               {"contact_overlap", r.report.contact_overlap},
               {"frames", r.frames},
               {"worst", r.report.worst},
               {"message", r.report.message},
               {"warnings", r.warnings},
               {"energies", energies},
               {"wall_seconds", r.wall_seconds},
               {"real_time_factor", simulated_here(r, request) / r.wall_seconds},
               {"files", files}};
  for (const sim::Happening& h : r.events)
    json["events"].push_back({{"event", h.event}, {"found", h.found}, {"acted", h.acted}, {"what", h.what}});
  if (!r.stopped_by.empty()) json["stopped_by"] = r.stopped_by;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string failure_text(const sim::RunResult& r) {
  return fmt::format("{}: {}\n{} up to there in {}; a shorter step (--step) or more damping may help",
                     r.outcome == sim::Outcome::diverged ? "diverged" : "did not converge", r.report.message,
                     format_count(r.frames, "frame", "frames"), r.folder.string());
}

}  // namespace limber::cli
