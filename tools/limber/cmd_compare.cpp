// limber compare: one scene through every method that applies; which is the cheapest that is good enough?
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "errors.h"
#include "limber/export/report.h"
#include "limber/sim/compare.h"
#include "report_json.h"
#include "scene_arguments.h"
#include "terminal.h"
#include "viewer_page.h"

namespace limber::cli {

namespace {

using sim::Candidate;
using sim::Comparison;

struct CompareArguments {
  SceneArguments scene;
  std::string at, time, out;
  double exaggerate = 1;
  bool motion = false, json = false;
};

std::string cost_name(const Comparison& c) {
  return c.kind == Comparison::Kind::rest ? "time of the solve [ms]" : "time of a step [ms]";
}

Json to_json(const Comparison& c) {
  Json list = Json::array();
  for (const Candidate& k : c.candidates) {
    Json one = {{"method", k.method}, {"setting", k.setting}, {"applies", k.refusal.empty()}};
    if (k.refusal.empty()) one["error"] = k.error, one["seconds"] = k.seconds;
    if (k.refusal.empty() && k.force_error) one["force_error"] = *k.force_error;
    if (k.refusal.empty() && k.gap) one["gap"] = *k.gap;
    if (!k.refusal.empty()) one["reason"] = k.refusal;
    list.push_back(one);
  }
  constexpr const char* kinds[] = {"static", "motion", "reduced"};
  return {{"kind", kinds[static_cast<int>(c.kind)]},
          {"time", c.time},
          {"reference", c.reference},
          {"methods", list}};
}

void print(const Comparison& c) {
  out(fmt::format("\n  against {}\n\n", c.reference));
  const bool reduced = c.kind == Comparison::Kind::reduced;
  out(fmt::format("  {:<28} {:<20} {:>14}{}  {:>14}\n", "method", "",
                  reduced ? "ends off by" : "off by [size]", reduced ? "   force off by    gaps in sum" : "",
                  c.kind == Comparison::Kind::rest ? "a solve [ms]" : "a step [ms]"));
  for (const Candidate& k : c.candidates)
    if (k.refusal.empty())
      out(fmt::format("  {:<28} {:<20} {:>14.3g}{}  {:>14.4g}\n", k.method, k.setting, k.error,
                      reduced ? fmt::format("{:>15.3g}{:>15.3g}", *k.force_error, *k.gap) : "",
                      1e3 * k.seconds));
    else
      out(fmt::format("  {:<28} {:<20} does not apply: {}\n", k.method, k.setting, k.refusal));
  out("\n");
}

// Okabe and Ito's colours, one a method.
Json color_of(std::size_t k) {
  constexpr double colors[][3] = {{0, .45, .7},   {.84, .37, 0}, {0, .62, .45},
                                  {.8, .47, .65}, {.9, .62, 0},  {.34, .71, .91}};
  const auto& c = colors[k % 6];
  return Json::array({c[0], c[1], c[2]});
}

std::string recording_of(const result::Layout& layout, const std::vector<result::Snapshot>& moments) {
  exporting::ReportLimits limits;
  limits.motion_bytes = 400'000;
  exporting::RecordingText text(layout, moments.size(), limits);
  for (const result::Snapshot& s : moments) text.add(s);
  return text.json();
}

void write_report(const Comparison& c, const scene::Scene& scene, double exaggerate,
                  const std::string& file) {
  Json rows = Json::array(), curves = Json::array(), layers = Json::array(), warnings = Json::array();
  std::vector<std::string> methods;
  for (const Candidate& k : c.candidates) {
    if (!k.refusal.empty()) {
      warnings.push_back(fmt::format("{}, {}: {}", k.method, k.setting, k.refusal));
      continue;
    }
    Json row = Json::array({k.method, k.setting, k.error});
    if (k.force_error) row.push_back(*k.force_error);
    if (k.gap) row.push_back(*k.gap);
    row.push_back(1e3 * k.seconds);
    rows.push_back(std::move(row));
    if (std::ranges::find(methods, k.method) != methods.end()) continue;
    methods.push_back(k.method);
    // The best of each method is drawn; its curve runs through all its settings.
    layers.push_back({{"name", fmt::format("{}, {}", k.method, k.setting)},
                      {"color", color_of(methods.size() - 1)},
                      {"opacity", 0.55},
                      {"recording", Json::parse(recording_of(
                                        k.layout, sim::exaggerated(scene.model, k, c, exaggerate)))}});
    Json x = Json::array(), y = Json::array();
    std::vector<std::pair<double, double>> points;
    for (const Candidate& other : c.candidates)
      if (other.method == k.method && other.refusal.empty() && other.error > 0)
        points.emplace_back(other.seconds, other.error);
    std::ranges::sort(points);
    for (const auto& [seconds, error] : points) x.push_back(1e3 * seconds), y.push_back(error);
    if (!points.empty()) curves.push_back({{"label", k.method}, {"x", x}, {"y", y}});
  }
  Json plots = Json::array();
  plots.push_back({{"title", "Error against cost"},
                   {"x", cost_name(c)},
                   {"y", "error, of the size"},
                   {"logarithmic", true},
                   {"points", true},
                   {"curves", curves}});
  Json tables = Json::array();
  const bool reduced = c.kind == Comparison::Kind::reduced;
  const Json columns =
      reduced ? Json::array({"method", "", "pose of the ends, of the radius", "force, by its work",
                             "gaps of the joints in sum, of the radius", cost_name(c)})
              : Json::array({"method", "", "error, of the size", cost_name(c)});
  tables.push_back(
      report_table("Methods, best first", columns, rows,
                   fmt::format("Measured against {}. Times are of this computer.", c.reference)));
  const Json head = {{"kind", "compare"},
                     {"title", scene.model.title().empty() ? scene.file : scene.model.title()},
                     {"subtitle", fmt::format("{} methods against {}{}", methods.size(), c.reference,
                                              exaggerate == 1 ? ""
                                                              : fmt::format("; drawn {:g} times as far from "
                                                                            "it as they are",
                                                                            exaggerate))},
                     {"axis", {{"name", reduced ? "load" : "time"}, {"unit", reduced ? "" : "s"}}},
                     {"layers", layers},
                     {"warnings", warnings},
                     {"tables", tables},
                     {"plots", plots},
                     {"sources", report_sources(scene.sources)}};
  result::write_atomically(
      file, exporting::fill_page(viewer_page(), join_report(head, recording_of(c.layout, c.moments))));
  message(fmt::format("wrote {}", file));
}

bool is_unloaded(const Model& model, double t) {
  return model.gravity().value(t).norm() == 0 && model.drives().empty() && model.springs().empty() &&
         model.ties().empty() && !model.wind() &&
         std::ranges::all_of(model.point_loads(), [&](const PointLoad& l) {
           return l.force.value(t).norm() == 0 && l.moment.value(t).norm() == 0;
         });
}

int compare(const CompareArguments& a) {
  const scene::Scene scene = load_scene(a.scene);
  return with_places(scene, [&] {
    const bool motion = a.motion || scene.model.beams().empty();
    const double at = a.at.empty() ? 0.0 : parse_time("--at", a.at);
    const bool reduced = scene.run.method == sim::Method::rom && !a.motion && a.at.empty() && a.time.empty();
    const Comparison c = reduced  ? sim::compare_reduced(scene.model, scene.run)
                         : motion ? sim::compare_motion(scene.model, scene.run,
                                                        a.time.empty() ? std::min(scene.run.time, 1.0)
                                                                       : parse_time("--time", a.time))
                                  : sim::compare_statics(scene.model, scene.run, at);
    if (!reduced && !motion && is_unloaded(scene.model, at))
      message(
          fmt::format("limber: nothing loads it at t = {:g} s, so all methods agree: --at TIME takes the "
                      "loads of that time",
                      at));
    if (a.out.empty() && a.exaggerate != 1) throw UsageError("--exaggerate has no effect without --out");
    if (!a.out.empty()) {
      if (viewer_page().empty()) throw result::IoError(a.out, page_is_missing);
      write_report(c, scene, a.exaggerate, a.out);
    }
    if (a.json)
      out(to_json(c).dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
    else
      print(c);
    return ExitCode::done;
  });
}

}  // namespace

void add_compare(CLI::App& app, int& code) {
  auto a = std::make_shared<CompareArguments>();
  CLI::App* sub =
      app.add_subcommand("compare", "one scene through every method: what each is off, and what it costs");
  sub->add_option("scene", a->scene.file, "scene file")->required()->type_name("FILE");
  add_set_option(*sub, a->scene.set);
  sub->add_option("--at", a->at, "beams at rest: time whose loads act (default: 0 s)")->type_name("TIME");
  sub->add_flag("--motion", a->motion, "compare how it moves, also where there are beams");
  sub->add_option("--time", a->time, "time to simulate (default: as the scene, 1 s at most)")
      ->type_name("TIME");
  sub->add_option("--out", a->out, "write a report.html: shapes over each other, error against cost")
      ->type_name("FILE");
  sub->add_option("--exaggerate", a->exaggerate,
                  "draw every method so many times as far from the reference as it is")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  sub->add_flag("--json", a->json, "the result as JSON on stdout");
  sub->footer(
      "A scene with beams is compared where it comes to rest, with a quarter to twice its elements; one\n"
      "without as it moves; one with method rom as its reduced model stands beside the whole under loads\n"
      "on its end effectors. The reference is the exact rod where the scene is one (a straight clamped "
      "beam,\n"
      "loads at its tip), else the finest answer.\n\n"
      "Example:\n  limber compare cantilever.yaml --at '0.9 s' --out compare.html");
  sub->callback([a, &code] { code = compare(*a); });
}

}  // namespace limber::cli
