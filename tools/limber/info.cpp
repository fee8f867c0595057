#include "info.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "limber/elastic/beam_links.h"
#include "limber/elastic/section_constants.h"
#include "limber/result/recording.h"
#include "limber/sim/option_table.h"
#include "limber/sim/run.h"
#include "summary.h"
#include "terminal.h"

namespace limber::cli {

namespace {

using Json = nlohmann::ordered_json;

InfoSection model_section(const sim::Sizes& s) {
  InfoSection section{"model",
                      {{"bodies", s.bodies, "", s.beams > 0 ? "with the links of beams" : ""},
                       {"joints", s.joints, "", ""},
                       {"degrees of freedom", s.dofs, "", ""},
                       {"mass", s.mass, "kg", ""},
                       {"springs", s.springs, "", ""},
                       {"loops", s.loops, "", ""},
                       {"drives", s.drives, "", ""},
                       {"prescribed motions", s.motions, "", ""},
                       {"loads", s.loads, "", ""},
                       {"probes", s.probes, "", ""}}};
  return section;
}

InfoSection joint_section(const Model& model) {
  InfoSection section{"joints", {}};
  for (const JointKind kind : all_joint_kinds) {
    const auto n = std::ranges::count_if(model.joints(), [&](const Joint& j) { return j.kind == kind; });
    if (n > 0) section.entries.push_back({to_string(kind), static_cast<std::size_t>(n), "", ""});
  }
  return section;
}

// How many bodies of the tree a beam became: they are named "beam.0", "beam.1", …
std::size_t links_of(const Beam& beam, const Model& linked) {
  const auto is_link = [&](const Body& body) { return body.name.starts_with(beam.name + "."); };
  return static_cast<std::size_t>(std::ranges::count_if(linked.bodies(), is_link));
}

InfoSection beam_section(const Model& model) {
  InfoSection section{"beams", {}};
  if (model.beams().empty()) return section;
  const elastic::LinkedModel linked = elastic::beams_to_links(model);
  for (const Beam& beam : model.beams())
    section.entries.push_back(
        {beam.name, path_length(beam.path), "m",
         fmt::format("{} of '{}' in '{}', {}",
                     format_count(static_cast<std::size_t>(beam.elements), "element", "elements"),
                     model[beam.section].name, model[beam.material].name,
                     format_count(links_of(beam, linked.model), "link", "links"))});
  return section;
}

InfoSection constants_section(const Model& model) {
  InfoSection section{"sections", {}};
  for (const Section& s : model.sections()) {
    const elastic::SectionConstants c = elastic::section_constants(s.shape);
    section.entries.push_back({s.name + ".A", c.A, "m2", "area"});
    section.entries.push_back({s.name + ".I_y", c.I_y, "m4", "bending in the x-z plane"});
    section.entries.push_back({s.name + ".I_z", c.I_z, "m4", "bending in the x-y plane"});
    section.entries.push_back({s.name + ".J", c.J, "m4", "torsion"});
  }
  return section;
}

InfoSection parameter_section(const scene::Scene& scene) {
  InfoSection section{"parameters", {}};
  for (const scene::Parameter& p : scene.parameters) section.entries.push_back({p.name, p.value, p.unit, ""});
  return section;
}

InfoSection probe_section(const Model& model) {
  InfoSection section{"probes", {}};
  for (std::size_t i = 0; i < model.probes().size(); ++i)
    section.entries.push_back({fmt::format("{}", i + 1), model.probes()[i].name, "", ""});
  return section;
}

InfoEntry option_entry(const sim::RunOption& option, const sim::RunOptions& o) {
  const sim::OptionValue value = option.get(o);
  if (const double* x = std::get_if<double>(&value.is)) return {option.key, *x, option.unit, ""};
  if (const int* n = std::get_if<int>(&value.is)) return {option.key, static_cast<std::size_t>(*n), "", ""};
  return {option.key, sim::to_text(value), "", ""};
}

InfoSection options_section(const sim::RunOptions& o) {
  InfoSection s{"run", {{"method", std::string(sim::to_string(o.method)), "", ""}}};
  for (const sim::OptionGroup& group : sim::option_groups())
    for (const sim::RunOption& option : group.options)
      if (group.method == o.method && !option.machine) s.entries.push_back(option_entry(option, o));
  s.entries.push_back({"time", o.time, "s", ""});
  s.entries.push_back(
      {"step", o.step, "s", format_count(static_cast<std::size_t>(o.steps()), "step", "steps")});
  const auto frames = static_cast<std::size_t>(o.frames_per_step());
  s.entries.push_back(
      {"frame", o.frame_interval(), "s",
       frames > 1 ? fmt::format("{} in each step", frames)
                  : fmt::format("every {}", format_count(static_cast<std::size_t>(o.steps_per_frame()),
                                                         "step", "steps"))});
  return s;
}

InfoSection outcome_section(const sim::StoredRun& run) {
  InfoSection s{"outcome",
                {{"outcome", run.outcome == "running" ? "running or killed" : run.outcome, "", ""},
                 {"time reached", run.report.time, "s", ""},
                 {"steps", static_cast<std::size_t>(run.report.steps), "", ""},
                 {"iterations", static_cast<std::size_t>(run.report.total_iterations), "", ""},
                 {"split steps", static_cast<std::size_t>(run.report.substeps), "", ""},
                 {"largest residual", run.report.residual, "", run.report.worst}}};
  if (run.report.parts > 0)
    s.entries.push_back({"parts by error", static_cast<std::size_t>(run.report.parts), "",
                         fmt::format("{} more were too long", run.report.rejected)});
  if (!run.report.message.empty()) s.entries.push_back({"message", run.report.message, "", ""});
  for (const sim::Happening& h : run.events) s.entries.push_back({"event", sim::to_string(h), "", ""});
  for (const std::string& warning : run.warnings) s.entries.push_back({"warning", warning, "", ""});
  s.entries.push_back({"started", run.wall_clock.started, "", ""});
  s.entries.push_back({"finished", run.wall_clock.finished, "", ""});
  s.entries.push_back({"wall time", run.wall_clock.seconds, "s", ""});
  s.entries.push_back({"resumed", static_cast<std::size_t>(run.wall_clock.resumed), "", ""});
  return s;
}

InfoSection recording_section(const std::filesystem::path& folder) {
  InfoSection s{"frames", {}};
  std::error_code error;
  if (!std::filesystem::exists(folder / "frames", error)) return s;
  const result::RecordingReader recording(folder / "frames");
  s.entries.push_back({"recorded", static_cast<std::size_t>(recording.frame_count()), "",
                       recording.torn() ? "the last one is not complete" : ""});
  for (const EnergyChange& c : energy_changes(folder / "frames")) {
    s.entries.push_back({c.name + " first", c.first, "J", ""});
    s.entries.push_back({c.name + " last", c.last, "J", ""});
  }
  return s;
}

InfoSection file_section(const std::filesystem::path& folder) {
  InfoSection s{"files", {}};
  for (const auto& [file, use] : describe_files(folder)) s.entries.push_back({file, use, "", ""});
  return s;
}

std::string value_text(const InfoEntry& e) {
  std::string text = std::visit([](const auto& v) { return fmt::format("{}", v); }, e.value);
  if (const auto* number = std::get_if<double>(&e.value)) text = fmt::format("{:.6g}", *number);
  if (!e.unit.empty()) text += " " + e.unit;
  if (!e.note.empty()) text += fmt::format("  ({})", e.note);
  return text;
}

}  // namespace

Info scene_info(const scene::Scene& scene) {
  const Model& model = scene.model;
  Info info{model.title(), {}};
  info.sections.push_back(model_section(sim::measure(model, scene.run)));
  info.sections.push_back(joint_section(model));
  info.sections.push_back(beam_section(model));
  info.sections.push_back(constants_section(model));
  info.sections.push_back(parameter_section(scene));
  info.sections.push_back(probe_section(model));
  info.sections.push_back(options_section(scene.run));
  return info;
}

Info run_info(const std::filesystem::path& folder) {
  const sim::StoredRun run = sim::read_run(folder);
  Info info{run.title.empty() ? run.scene_file : run.title, {}};
  InfoSection what{"scene", {{"file", run.scene_file, "", ""}, {"limber", run.version, "", ""}}};
  for (const auto& [name, value] : run.set) what.entries.push_back({"--set " + name, value, "", ""});
  info.sections.push_back(std::move(what));
  info.sections.push_back({"model",
                           {{"bodies", run.sizes.bodies, "", ""},
                            {"joints", run.sizes.joints, "", ""},
                            {"degrees of freedom", run.sizes.dofs, "", ""}}});
  info.sections.push_back(options_section(run.options));
  info.sections.push_back(outcome_section(run));
  info.sections.push_back(recording_section(folder));
  info.sections.push_back(file_section(folder));
  return info;
}

std::string to_text(const Info& info) {
  std::string text;
  if (!info.title.empty()) text = styled(info.title, Style::bold, STDOUT_FILENO) + "\n";
  for (const InfoSection& section : info.sections) {
    if (section.entries.empty()) continue;
    Rows rows;
    for (const InfoEntry& e : section.entries) rows.emplace_back(e.name, value_text(e));
    text += fmt::format("\n{}\n{}", styled(section.title, Style::bold, STDOUT_FILENO), format_rows(rows));
  }
  return text;
}

std::string to_json(const Info& info) {
  Json json = {{"title", info.title}};
  for (const InfoSection& section : info.sections) {
    Json& object = json[section.title] = Json::object();
    for (const InfoEntry& e : section.entries)
      std::visit([&](const auto& v) { object[e.name] = v; }, e.value);
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace limber::cli
