#include "static_thread.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "exit_code.h"
#include "limber/result/files.h"
#include "limber/thread/thread.h"
#include "scene_arguments.h"
#include "terminal.h"

namespace limber::cli {
namespace {

using Json = nlohmann::ordered_json;

Json report(const thread::System& system, const thread::StaticResult& r, const result::Snapshot& after) {
  Json json = {{"ok", r.report.ok()},
               {"stable", r.report.ok() && r.negative == 0},
               {"iterations", r.report.iterations},
               {"residual", r.residual},
               {"negative_directions", r.negative},
               {"message", r.report.message}};
  if (!r.report.ok()) return json;
  json["energy"] = {{"gravity", r.energy.gravity}, {"elastic", r.energy.elastic}};
  json["probes"] = Json::object();
  const auto& scalars = system.layout().scalars;
  for (std::size_t i = 0; i < scalars.size(); ++i) json["probes"][scalars[i].name] = after.scalars[i];
  json["threads"] = Json::object();
  std::size_t next = 0;
  for (const auto& line : system.layout().polylines) {
    Json points = Json::array();
    for (int i = 0; i < line.points; ++i) {
      const Vec3& p = after.points[next++];
      points.push_back({p.x(), p.y(), p.z()});
    }
    if (line.name.find('.') == std::string::npos) json["threads"][line.name] = points;
  }
  return json;
}

void print(const thread::System& system, const thread::StaticResult& r, const result::Snapshot& after,
           bool all) {
  out(fmt::format("\n{}\n\n", styled(system.layout().title, Style::bold, 1)));
  out(fmt::format("  equilibrium  {} iterations, {:.1e} of the acting forces left over\n",
                  r.report.iterations, r.residual));
  if (r.negative == 0)
    out("  stability    stable\n");
  else
    out(fmt::format("  stability    unstable: {} direction{} in which it would leave\n", r.negative,
                    r.negative == 1 ? "" : "s"));
  const auto& scalars = system.layout().scalars;
  out("\n  probe                              value\n");
  for (std::size_t i = 0; i < scalars.size(); ++i)
    if (!scalars[i].name.starts_with("energy.") || all)
      out(fmt::format("  {:<32}  {:>14.8g} {}\n", scalars[i].name, after.scalars[i], scalars[i].unit));
  out("\n");
}

}  // namespace

int solve_threads(const scene::Scene& scene, const ThreadStaticArguments& a) {
  return with_places(scene, [&] {
    const thread::System system = thread::compile(scene.model, scene.run.thread);
    thread::State state = system.rest();
    state.t = a.at;
    thread::Workspace w(system);
    thread::StaticOptions options;
    options.load_steps = a.load_steps;
    const thread::StaticResult r = thread::solve_static(system, state, w, options);
    result::Snapshot after;
    thread::observe(system, state, w, after);
    const std::string json =
        report(system, r, after).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
    if (!a.write.empty()) result::write_atomically(a.write, json);
    if (a.json)
      out(json);
    else if (r.report.ok())
      print(system, r, after, a.all);
    if (r.report.ok()) return static_cast<int>(ExitCode::done);
    message(fmt::format("limber: did not converge: {}", r.report.message));
    return static_cast<int>(ExitCode::failed);
  });
}

}  // namespace limber::cli
