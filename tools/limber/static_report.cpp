#include "static_report.h"

#include <fmt/format.h>

#include "limber/export/report.h"
#include "viewer_page.h"

namespace limber::cli {

namespace {

// The body or point that ends farthest from where it began, by its way.
Json deflection_curve(const StaticReportContent& c) {
  const result::Snapshot &first = c.steps.front().snapshot, &last = c.steps.back().snapshot;
  const bool points = !first.points.empty();
  const auto& from = points ? first.points : first.positions;
  const auto& to = points ? last.points : last.positions;
  std::size_t most = 0;
  for (std::size_t i = 0; i < from.size(); ++i)
    if ((to[i] - from[i]).norm() > (to[most] - from[most]).norm()) most = i;
  Json x = Json::array(), y = Json::array();
  for (const LoadStep& s : c.steps) {
    const auto& now = points ? s.snapshot.points : s.snapshot.positions;
    x.push_back(from.empty() ? 0.0 : (now[most] - from[most]).norm());
    y.push_back(c.force > 0 ? s.share * c.force : s.share);
  }
  std::string name = "what moves most";
  if (points) {
    std::size_t k = most;
    for (const auto& line : c.layout.polylines) {
      if (k < static_cast<std::size_t>(line.points)) {
        name = line.name;
        break;
      }
      k -= static_cast<std::size_t>(line.points);
    }
  } else if (!c.layout.frames.empty()) {
    name = c.layout.frames[most].name;
  }
  return {{"title", fmt::format("Force and deflection of {}", name)},
          {"x", "deflection [m]"},
          {"y", c.force > 0 ? "force [N]" : "share of the load"},
          {"points", true},
          {"curves", Json::array({Json{{"label", name}, {"x", x}, {"y", y}}})}};
}

}  // namespace

void write_static_report(const StaticReportContent& c, const std::filesystem::path& file) {
  exporting::RecordingText text(c.layout, c.steps.size());
  for (const LoadStep& s : c.steps) {
    result::Snapshot at = s.snapshot;
    at.time = s.share;
    text.add(at, s.fields);
  }
  std::string colour;
  for (const result::Field& f : c.steps.back().fields)
    if (colour.empty() || f.name.find("stress") != std::string::npos) colour = f.name;
  Json head = {{"kind", "static"},
               {"title", c.layout.title},
               {"subtitle", c.subtitle},
               {"axis", {{"name", "share of the load"}, {"unit", ""}}},
               {"ghost", true},
               {"colour", colour},
               {"warnings", c.warnings},
               {"tables", c.tables},
               {"plots", Json::array({deflection_curve(c)})},
               {"sources", report_sources(c.sources)}};
  result::write_atomically(file, exporting::fill_page(viewer_page(), join_report(head, text.json())));
}

}  // namespace limber::cli
