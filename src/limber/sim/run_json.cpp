#include "limber/sim/run_json.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "limber/result/recording.h"
#include "limber/sim/checkpoint.h"
#include "limber/sim/folder.h"
#include "limber/sim/option_table.h"
#include "limber/sim/options_json.h"

namespace limber::sim {

using Json = nlohmann::ordered_json;

namespace {

template <class Values>
auto parse_enum(const std::string& text, const Values& values) {
  for (const auto value : values)
    if (text == to_string(value)) return value;
  throw std::invalid_argument(fmt::format("unknown word '{}'", text));
}

// One list for both directions: name and field.
template <class SizesType, class Visit>
void each_size(SizesType& s, Visit visit) {
  visit("bodies", s.bodies), visit("joints", s.joints), visit("dofs", s.dofs), visit("beams", s.beams);
  visit("springs", s.springs), visit("loops", s.loops), visit("drives", s.drives),
      visit("motions", s.motions);
  visit("loads", s.loads), visit("probes", s.probes);
}

Json sizes_json(const Sizes& sizes) {
  Json json;
  each_size(sizes, [&](const char* name, std::size_t value) { json[name] = value; });
  json["mass"] = sizes.mass;
  return json;
}

Sizes parse_sizes(const Json& json) {
  Sizes sizes;
  each_size(sizes, [&](const char* name, std::size_t& value) { value = json.at(name).get<std::size_t>(); });
  sizes.mass = json.at("mass").get<double>();
  return sizes;
}

Json report_json(const result::SolveReport& r) {
  return {{"status", result::to_string(r.status)},
          {"time", r.time},
          {"steps", r.steps},
          {"substeps", r.substeps},
          {"parts", r.parts},
          {"rejected", r.rejected},
          {"iterations", r.iterations},
          {"total_iterations", r.total_iterations},
          {"residual", r.residual},
          {"loop_gap", r.loop_gap},
          {"contact_residual", r.contact_residual},
          {"cone_violation", r.cone_violation},
          {"contact_overlap", r.contact_overlap},
          {"redundant_rows", r.redundant_rows},
          {"redundant", r.redundant},
          {"solver_iterations", r.solver_iterations},
          {"worst", r.worst},
          {"message", r.message}};
}

double number_or_nan(const Json& json) {  // JSON has no NaN: written as null
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

result::SolveReport parse_report(const Json& json) {
  using result::Status;
  result::SolveReport r;
  r.status = parse_enum(json.at("status").get<std::string>(),
                        std::array{Status::ok, Status::not_converged, Status::diverged});
  r.time = number_or_nan(json.at("time"));
  r.steps = json.at("steps").get<long>();
  r.substeps = json.at("substeps").get<long>();
  r.parts = json.value("parts", 0L), r.rejected = json.value("rejected", 0L);  // runs of before have none
  r.iterations = json.at("iterations").get<int>();
  r.total_iterations = json.at("total_iterations").get<long>();
  r.residual = number_or_nan(json.at("residual"));
  r.loop_gap = number_or_nan(json.at("loop_gap"));
  if (json.contains("contact_residual")) {  // runs of before have none
    r.contact_residual = number_or_nan(json.at("contact_residual"));
    r.cone_violation = number_or_nan(json.at("cone_violation"));
  }
  if (json.contains("contact_overlap")) r.contact_overlap = number_or_nan(json.at("contact_overlap"));
  r.redundant_rows = json.at("redundant_rows").get<int>();
  r.redundant = json.at("redundant").get<std::string>();
  r.solver_iterations = json.at("solver_iterations").get<int>();
  r.worst = json.at("worst").get<std::string>();
  r.message = json.at("message").get<std::string>();
  return r;
}

Json wall_clock_json(const WallClock& w, long steps) {
  return {{"started", w.started},
          {"finished", w.finished},
          {"seconds", w.seconds},
          {"seconds_per_step", steps > 0 ? w.seconds / static_cast<double>(steps) : 0.0},
          {"checkpoints", w.checkpoints},
          {"resumed", w.resumed},
          {"cpu_threads", w.cpu_threads}};
}

WallClock parse_wall_clock(const Json& json) {
  WallClock w;
  w.started = json.at("started").get<std::string>();
  w.finished = json.at("finished").get<std::string>();
  w.seconds = json.at("seconds").get<double>();
  w.checkpoints = json.at("checkpoints").get<std::uint64_t>();
  w.resumed = json.at("resumed").get<int>();
  w.cpu_threads = json.at(json.contains("threads") ? "threads" : "cpu_threads").get<int>();  // older runs
  return w;
}

std::string dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json set_json(const StoredRun& run) {
  Json set = Json::array();
  for (const auto& [name, value] : run.set) set.push_back({{"name", name}, {"value", value}});
  return set;
}

// What happened in a run that has events, and what stopped it.
void put_events(const StoredRun& run, Json& json) {
  if (run.events.empty()) return;
  Json list = Json::array();
  for (const Happening& h : run.events)
    list.push_back({{"event", h.event}, {"found", h.found}, {"acted", h.acted}, {"what", h.what}});
  json["events"] = std::move(list);
  if (!run.stopped_by.empty()) json["stopped_by"] = run.stopped_by;
}

StoredRun parse(const Json& json) {
  StoredRun run;
  run.version = json.at("limber").get<std::string>();
  run.scene_file = json.at("scene").get<std::string>();
  run.title = json.at("title").get<std::string>();
  for (const Json& path : json.at("sources")) run.sources.push_back({path.get<std::string>(), ""});
  run.began_with = json.value("sources_hash", "");
  for (const Json& item : json.at("set"))
    run.set.emplace_back(item.at("name").get<std::string>(), item.at("value").get<std::string>());
  run.options = parse_options(json.at("options"));
  run.sizes = parse_sizes(json.at("model"));
  run.solver = json.at("solver").get<std::string>();
  run.outcome = json.at("outcome").get<std::string>();
  run.report = parse_report(json.at("report"));
  run.warnings = json.value("warnings", std::vector<std::string>{});
  run.frames = json.at("frames").get<std::uint64_t>();
  for (const Json& e : json.value("events", Json::array()))
    run.events.push_back({e.at("event").get<std::string>(), number_or_nan(e.at("found")),
                          number_or_nan(e.at("acted")), e.at("what").get<std::string>()});
  run.stopped_by = json.value("stopped_by", "");
  run.files = json.at("files").get<std::vector<std::string>>();
  run.wall_clock = parse_wall_clock(json.at("wall_clock"));
  set_cpu_threads(run.options, run.wall_clock.cpu_threads);
  if (const auto wrong = range_problems(run.options); !wrong.empty())
    throw std::invalid_argument(wrong.front().text());
  return run;
}

}  // namespace

std::string run_json(const StoredRun& run) {
  Json sources = Json::array();
  for (const SourceFile& source : run.sources) sources.push_back(source.path);
  Json json = {{"limber", run.version},
               {"scene", run.scene_file},
               {"title", run.title},
               {"sources", sources},
               {"sources_hash", run.began_with},
               {"set", set_json(run)},
               {"options", options_json(run.options)},
               {"model", sizes_json(run.sizes)},
               {"solver", run.solver},
               {"outcome", run.outcome},
               {"report", report_json(run.report)},
               {"warnings", run.warnings},
               {"frames", run.frames},
               {"files", run.files}};
  put_events(run, json);
  json["wall_clock"] = wall_clock_json(run.wall_clock, run.report.steps);
  return dump(json, 2) + "\n";
}

StoredRun parse_run_json(const std::string& text) {
  try {
    return parse(Json::parse(text));
  } catch (const nlohmann::json::exception& e) {
    throw std::invalid_argument(e.what());
  }
}

namespace {

// Lengths stand before texts, so that no two runs give the same bytes.
std::string source_bytes(const StoredRun& run) {
  std::string bytes;
  for (const SourceFile& s : run.sources)
    bytes += fmt::format("{} {} {}{}", s.path.size(), s.text.size(), s.path, s.text);
  return bytes;
}

}  // namespace

std::string sources_hash(const StoredRun& run) { return fmt::format("{:016x}", fnv1a(source_bytes(run))); }

std::uint64_t run_hash(const StoredRun& run) {
  return fnv1a(
      fmt::format("{}\n{}\n{}\n", run.version, dump(set_json(run), -1), dump(options_json(run.options), -1)) +
      source_bytes(run));
}

StoredRun read_run(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "run.json";
  std::error_code error;
  if (!std::filesystem::exists(file, error))
    throw result::IoError(folder, "holds no run: there is no run.json");
  StoredRun run;
  try {
    run = parse_run_json(result::read_file(file));
  } catch (const std::invalid_argument& e) {
    throw result::IoError(file, fmt::format("cannot be read as a run: {}", e.what()));
  }
  for (SourceFile& source : run.sources) {
    if (!stays_inside(source.path))
      throw result::IoError(file, fmt::format("source '{}' is not inside", source.path));
    source.text = result::read_file(folder / "scene" / source.path);
  }
  run.edited = !run.began_with.empty() && run.began_with != sources_hash(run);
  return run;
}

void require_unedited(const std::filesystem::path& folder, const StoredRun& run) {
  if (!run.edited) return;
  throw std::invalid_argument(fmt::format(
      "{} cannot be continued: the files in {} are no longer those that it began with; 'limber "
      "run {}' runs them as they are now",
      folder.string(), (folder / "scene").string(), (folder / "scene" / run.scene_file).string()));
}

}  // namespace limber::sim
