// limber reduce: a scene's mechanisms as seen from their end effectors, into one file that runs alone.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "errors.h"
#include "exit_code.h"
#include "limber/math/dense.h"
#include "limber/result/recording.h"
#include "limber/sim/reduce.h"
#include "run_overrides.h"
#include "scene_arguments.h"
#include "terminal.h"

namespace limber::cli {

namespace {

struct ReduceArguments {
  SceneArguments scene;
  RunOverrides overrides{"reduce", {}};
  std::string out;
  bool json = false, quiet = false;
};

// Lowest frequency of the reduced model at rest [Hz]; 0 where its base flies.
double first_frequency(const rom::Mechanism& m) {
  const rom::Point& p = m.points[0];
  const VecX values =
      math::symmetric_eigen(p.response.topLeftCorner(m.coordinates(), m.coordinates()), p.M).values;
  return values.size() > 0 && values[0] > 0 ? std::sqrt(values[0]) / (2 * pi) : 0;
}

nlohmann::json as_json(const rom::ReducedModel& reduced, const std::string& file, std::size_t bytes,
                       double seconds) {
  nlohmann::json out = {
      {"file", file}, {"bytes", bytes}, {"seconds", seconds}, {"mechanisms", nlohmann::json::array()}};
  for (const rom::Mechanism& m : reduced.mechanisms) {
    nlohmann::json ends = nlohmann::json::array();
    for (const int e : m.ends) ends.push_back(m.names[e]);
    nlohmann::json one = {{"name", m.name},
                          {"links", m.bodies.size()},
                          {"ends", ends},
                          {"free_base", m.free_base},
                          {"rank", m.points[0].rank},
                          {"radius", m.radius},
                          {"points", m.points.size()},
                          {"first_frequency", first_frequency(m)}};
    if (m.quality.tested > 0)
      one["quality"] = {{"tested", m.quality.tested},
                        {"beyond", m.quality.beyond},
                        {"share", m.quality.share},
                        {"confidence", 0.95},
                        {"reached", m.quality.reached},
                        {"end_error", m.quality.end},
                        {"end_error_asked", m.quality.end_bound},
                        {"gap", m.quality.gap},
                        {"gap_asked", m.quality.gap_bound},
                        {"force", m.quality.force},
                        {"moment", m.quality.moment}};
    out["mechanisms"].push_back(std::move(one));
  }
  return out;
}

std::string as_text(const rom::ReducedModel& reduced, const std::string& file, std::size_t bytes,
                    double seconds) {
  std::string out;
  for (const rom::Mechanism& m : reduced.mechanisms) {
    std::vector<std::string> ends;
    for (const int e : m.ends) ends.push_back(m.names[e]);
    out += fmt::format("{}: {} links seen from {}{}\n", m.name, m.bodies.size(), fmt::join(ends, ", "),
                       m.free_base ? ", flying freely" : "");
    out += fmt::format("  directions they can move in   {} of {}\n", m.coordinates(), 6 * m.ends.size());
    out += fmt::format("  linearisation points          {}\n", m.points.size());
    if (const double f = first_frequency(m); f > 0)
      out += fmt::format("  first frequency               {:.4g} Hz\n", f);
    if (m.quality.tested > 0) {
      const auto& q = m.quality;
      out += fmt::format(
          "  for loads up to               {:.4g} N, {:.4g} N m on every end; {} drawn from them, none used "
          "before\n",
          q.force, q.moment, q.tested);
      out +=
          fmt::format("  pose of the ends              off by {:.3g} of the radius at most (asked {:.3g})\n",
                      q.end, q.end_bound);
      out +=
          fmt::format("  gaps of the joints            {:.3g} of the radius in sum at most (asked {:.3g})\n",
                      q.gap, q.gap_bound);
      out += fmt::format("  so are at least               {:.3g} % of all loads (confidence 95 %)\n",
                         100 * q.share);
      if (q.beyond > 0)
        out += fmt::format(
            "  what was asked is NOT reached: {} of {} loads are beyond it, the least of them {:.3g} of the "
            "range: "
            "allow more points or a smaller range\n",
            q.beyond, q.tested, q.reached);
    }
  }
  out += fmt::format("wrote {} ({} bytes) in {:.2f} s; limber run {} simulates it\n", file, bytes, seconds,
                     file);
  return out;
}

int reduce_scene(const ReduceArguments& a) {
  scene::Scene scene = load_scene(a.scene);
  scene.run.method = sim::Method::rom;
  scene.run.reduced = nullptr;
  with_places(scene, [&] { apply(a.overrides, scene.run); });
  const auto start = std::chrono::steady_clock::now();
  rom::ModelFile file;
  const auto progress = [&](const std::string& what, int points) {
    if (!a.quiet) message(fmt::format("limber: {}: point {}", what, points));
  };
  with_places(scene, [&] {
    file.model = sim::reduce(scene.model, scene.run.rom, progress);
    return 0;
  });
  file.scene = scene::write_yaml(scene.model, scene.run);
  const std::string bytes = rom::save(file);
  const std::string path =
      a.out.empty() ? std::filesystem::path(a.scene.file).stem().string() + ".rom" : a.out;
  result::write_atomically(path, bytes);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (a.json)
    out(as_json(file.model, path, bytes.size(), seconds).dump(2) + "\n");
  else if (!a.quiet)
    out(as_text(file.model, path, bytes.size(), seconds));
  return ExitCode::done;
}

}  // namespace

void add_reduce(CLI::App& app, int& code) {
  auto a = std::make_shared<ReduceArguments>();
  CLI::App* sub =
      app.add_subcommand("reduce", "reduce mechanisms to their end effectors, into a file that runs alone");
  sub->add_option("scene", a->scene.file, "scene file")->required()->type_name("FILE");
  add_set_option(*sub, a->scene.set);
  sub->add_option("--out", a->out, "file to write (default: NAME.rom)")->type_name("FILE");
  add_overrides(*sub, a->overrides);
  sub->add_flag("--quiet,-q", a->quiet, "no progress, no summary");
  sub->add_flag("--json", a->json, "the summary as JSON on stdout");
  sub->footer(
      "Example:\n  limber reduce gripper.yaml --ends finger1,finger2 --force '20 N'\n  limber run "
      "gripper.rom");
  sub->callback([a, &code] { code = reduce_scene(*a); });
}

}  // namespace limber::cli
