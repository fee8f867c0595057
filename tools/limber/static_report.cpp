#include "static_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/export/report.h"
#include "limber/sim/snap.h"
#include "report_json.h"
#include "viewer_page.h"

namespace limber::cli {
namespace {

struct ReportStep {
  double at = 0;  // on the slider: share of the load, number along the path, time
  double load = 1;
  const result::Snapshot* snapshot = nullptr;
  const result::Fields* fields = nullptr;
  result::Touches touches = {};
};

struct StaticPage {
  const scene::Scene& scene;
  const result::Layout& layout;
  std::string subtitle, axis, unit;  // of the slider
  std::vector<ReportStep> steps;
  double force = 0;      // [N] of the only load; 0: curves are against its share
  bool against = false;  // the curve's abscissa is the slider: a history
  Json tables = Json::array();
  std::vector<std::string> warnings;
  Json plots = Json::array();  // empty: one is made
  Json marks = Json::array();  // on the slider
};

// The body or point that goes farthest from where it began.
struct Mover {
  bool point = false;
  std::size_t index = 0;
  std::string name;
  double way(const result::Snapshot& from, const result::Snapshot& to) const {
    return point ? (to.points[index] - from.points[index]).norm()
                 : (to.positions[index] - from.positions[index]).norm();
  }
};

// Lines that follow another, such as the stripes of a thread, have a dot in their names.
Mover farthest(const StaticPage& c) {
  Mover out;
  double most = -1;
  const auto look = [&](const Mover& at) {
    for (const ReportStep& s : c.steps)
      if (const double way = at.way(*c.steps.front().snapshot, *s.snapshot); way > most) most = way, out = at;
  };
  std::size_t next = 0;
  for (const auto& line : c.layout.polylines)
    for (int k = 0; k < line.points; ++k, ++next)
      if (line.name.find('.') == std::string::npos) look({true, next, line.name});
  const bool lines = most >= 0;
  for (std::size_t i = 0; !lines && i < c.layout.frames.size(); ++i)
    look({false, i, c.layout.frames[i].name});
  return out;
}

Json deflection_curve(const StaticPage& c) {
  const Mover mover = farthest(c);
  Json x = Json::array(), y = Json::array();
  for (const ReportStep& s : c.steps) {
    const double way = mover.name.empty() ? 0 : mover.way(*c.steps.front().snapshot, *s.snapshot);
    x.push_back(c.against ? s.at : way);
    y.push_back(c.against ? way : c.force > 0 ? s.load * c.force : s.load);
  }
  return {{"title", fmt::format("{} of {}", c.against ? "Deflection" : "Force and deflection", mover.name)},
          {"x", c.against ? "time [s]" : "deflection [m]"},
          {"y", c.against     ? "deflection [m]"
                : c.force > 0 ? "force [N]"
                              : "share of the load"},
          {"points", true},
          {"curves", Json::array({Json{{"label", mover.name}, {"x", x}, {"y", y}}})}};
}

void write_page(const StaticPage& c, const std::filesystem::path& file) {
  if (viewer_page().empty()) throw result::IoError(file, page_is_missing);
  exporting::RecordingText text(c.layout, c.steps.size());
  static const result::Fields no_fields;
  std::string colour;
  for (const ReportStep& s : c.steps) {
    result::Snapshot at = *s.snapshot;
    at.time = s.at;
    text.add(at, s.fields ? *s.fields : no_fields);
    text.touch(s.touches);
  }
  if (const result::Fields* last = c.steps.back().fields)
    for (const result::Field& f : *last)
      if (colour.empty() || f.name.find("stress") != std::string::npos) colour = f.name;
  const std::string name = c.scene.model.title();
  const Json head = {{"kind", "static"},
                     {"title", name.empty() ? c.scene.file : name},
                     {"subtitle", c.subtitle},
                     {"axis", {{"name", c.axis}, {"unit", c.unit}}},
                     {"ghost", true},
                     {"colour", colour},
                     {"warnings", c.warnings},
                     {"tables", c.tables},
                     {"plots", c.plots.empty() ? Json::array({deflection_curve(c)}) : c.plots},
                     {"marks", c.marks},
                     {"sources", report_sources(c.scene.sources)}};
  result::write_atomically(file, exporting::fill_page(viewer_page(), join_report(head, text.json())));
}

// Of what it leans on: the force on what can move, whichever is told first.
result::Touches touches_of(const sim::Equilibrium& e) {
  result::Touches out;
  for (const sim::Reaction& r : e.reactions)
    if (r.of == "contact")
      out.push_back({-1, -1, r.at, r.name.starts_with("a plane") ? Vec3(-r.force) : r.force});
  return out;
}

Json summary_table(const std::vector<sim::Statement>& statements) {
  Json rows = Json::array();
  for (const auto& [label, text] : statements) rows.push_back(Json::array({label, text}));
  return report_table("What was found", {"", ""}, rows);
}

Json cell_or_dash(double x) { return std::isfinite(x) ? Json(x) : Json("-"); }

Json beam_table(const sim::Equilibrium& e) {
  Json rows = Json::array();
  for (const sim::BeamRest& b : e.beams) {
    const sim::SectionForce* w = b.worst();
    rows.push_back(Json::array({b.name, b.tip.x(), b.tip.y(), b.tip.z(), b.slope, w ? w->stress.combined : 0,
                                w ? w->s : 0, w ? cell_or_dash(w->safety) : Json("-")}));
  }
  return report_table(
      "Beams", {"", "tip x [m]", "tip y [m]", "tip z [m]", "slope [rad]", "stress [Pa]", "at", "safety"},
      rows, "Largest stress along the beam and where; safety against yield.");
}

Json reaction_table(const sim::Equilibrium& e) {
  Json rows = Json::array();
  for (const sim::Reaction& r : e.reactions)
    rows.push_back(Json::array(
        {r.name, r.of, r.force.x(), r.force.y(), r.force.z(), r.moment.x(), r.moment.y(), r.moment.z()}));
  return report_table(
      "Reactions", {"", "of", "Fx [N]", "Fy [N]", "Fz [N]", "Mx [N m]", "My [N m]", "Mz [N m]"}, rows,
      "On the beam, on what hangs on the joint, on b of the loop; world axes, at that place.");
}

Json spring_table(const sim::Equilibrium& e) {
  Json rows = Json::array();
  for (const auto& [name, length, tension] : e.springs) rows.push_back(Json::array({name, length, tension}));
  return report_table("Springs", {"", "length [m]", "tension [N]"}, rows);
}

std::string file_name(const scene::Scene& scene) {
  return std::filesystem::path(scene.file).filename().string();
}

// Of the only force where nothing else grows with it.
void take_axis(sim::StaticJob job, StaticPage& page) {
  page.axis = job == sim::StaticJob::history ? "time"
              : job == sim::StaticJob::path  ? "point of the path"
                                             : "share of the load";
  page.unit = job == sim::StaticJob::history ? "s" : "";
  page.against = job == sim::StaticJob::history;
}

void take_points(const sim::StaticCurve& curve, std::size_t count, StaticPage& page) {
  take_axis(curve.job, page);
  for (std::size_t i = 0; i < count; ++i) {
    const sim::CurvePoint& p = curve.points[i];
    const double at = curve.job == sim::StaticJob::history ? p.time
                      : curve.job == sim::StaticJob::path  ? static_cast<double>(i)
                                                           : p.load;
    page.steps.push_back({at, p.load, &p.snapshot, &p.fields});
  }
}

// Force over the deflection of the place where it acts.
Json path_curve(const sim::StaticCurve& curve, const std::vector<sim::CurvePoint>& points,
                const std::string& title) {
  Json x = Json::array(), y = Json::array();
  for (const sim::CurvePoint& p : points)
    x.push_back(p.deflection), y.push_back(curve.way > 0 ? p.reaction : p.load * curve.force);
  const std::string way = fmt::format("way of \"{}\" [{}]", curve.moved, curve.turns ? "rad" : "m");
  return {{"title", title},
          {"x", curve.way > 0 ? way : "deflection along the load [m]"},
          {"y", curve.turns ? "torque [N m]" : "force [N]"},
          {"points", true},
          {"curves", Json::array({Json{{"label", title}, {"x", x}, {"y", y}}})}};
}

void take_path(const sim::StaticCurve& curve, StaticPage& page) {
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    const sim::CurvePoint& p = curve.points[i];
    if (p.kind == sim::CurvePoint::Kind::regular) continue;
    const std::string what = p.kind == sim::CurvePoint::Kind::limit ? "limit point" : "bifurcation";
    page.marks.push_back({{"at", static_cast<double>(i)},
                          {"name", curve.force > 0 ? fmt::format("{}, {:.5g} N", what, p.load * curve.force)
                                                   : fmt::format("{}, {:.5g} of the {}", what, p.load,
                                                                 curve.way > 0 ? "way" : "load")}});
  }
  if (curve.force == 0 && curve.way == 0) return;
  page.plots.push_back(path_curve(curve, curve.points, "Force and deflection along the path"));
  if (!curve.other.empty())
    page.plots.push_back(path_curve(curve, curve.other, "The other way at the crossing"));
}

double distance(const result::Snapshot& a, const result::Snapshot& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.points.size(); ++i) most = std::max(most, (a.points[i] - b.points[i]).norm());
  for (std::size_t i = 0; i < a.positions.size(); ++i)
    most = std::max(most, (a.positions[i] - b.positions[i]).norm());
  return most;
}

}  // namespace

void write_static_report(const scene::Scene& scene, const sim::Equilibrium& e, const sim::StaticCurve& way,
                         const std::filesystem::path& file) {
  StaticPage page{scene,      e.layout,      {},           {}, {}, {}, 0, false, Json::array(),
                  e.warnings, Json::array(), Json::array()};
  const std::vector<sim::Statement> found = describe(e);
  page.subtitle = fmt::format("{}: where it comes to rest, by {}", file_name(scene), e.method);
  page.force = way.job == sim::StaticJob::ramp ? sim::only_force(scene.model, e.time, true) : 0;
  // The last point is the rest that was found, whatever way was drawn.
  const std::size_t before = way.points.size() - (way.ok() && !way.points.empty() ? 1 : 0);
  take_points(way, before, page);
  if (!way.ok()) page.warnings.push_back("the way to it is not complete: " + way.report.message);
  if (page.steps.empty()) page.steps.push_back({0, 0, &e.before, &e.fields});
  const double size = distance(e.before, e.after);
  if (way.ok() && !way.points.empty() && distance(way.points.back().snapshot, e.after) > 1e-3 * size)
    page.warnings.emplace_back(
        "the loads brought on in even steps end at another rest: the last point is the one that was found");
  page.steps.push_back({page.against ? e.time : 1, 1, &e.after, &e.fields, touches_of(e)});
  page.tables.push_back(summary_table(found));
  if (!e.beams.empty()) page.tables.push_back(beam_table(e));
  if (!e.reactions.empty()) page.tables.push_back(reaction_table(e));
  if (!e.springs.empty()) page.tables.push_back(spring_table(e));
  write_page(page, file);
}

void write_static_report(const scene::Scene& scene, const sim::StaticCurve& curve,
                         const std::filesystem::path& file) {
  StaticPage page{scene,          curve.layout,  {},           {}, {}, {}, 0, false, Json::array(),
                  curve.warnings, Json::array(), Json::array()};
  page.subtitle = fmt::format("{}: {}, by {}", file_name(scene), to_string(curve.job), curve.method);
  if (curve.points.empty()) return;
  page.force = sim::only_force(scene.model, curve.points[0].time, false);
  take_points(curve, curve.points.size(), page);
  if (curve.job == sim::StaticJob::path) take_path(curve, page);
  if (!curve.ok()) page.warnings.push_back("it ends early: " + curve.report.message);
  page.tables.push_back(summary_table(describe(curve)));
  write_page(page, file);
}

void write_static_report(const scene::Scene& scene, const sim::UnloadedShape& shape,
                         const std::filesystem::path& file) {
  StaticPage page{scene,          shape.layout,  {},           {}, {}, {}, 0, false, Json::array(),
                  shape.warnings, Json::array(), Json::array()};
  page.subtitle = fmt::format("{}: its unloaded shape, by chain", file_name(scene));
  take_axis(sim::StaticJob::ramp, page);
  page.steps = {{0, 0, &shape.unloaded, nullptr}, {1, 1, &shape.loaded, nullptr}};
  page.tables.push_back(summary_table(describe(shape)));
  write_page(page, file);
}

}  // namespace limber::cli
