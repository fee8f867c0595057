#include "static_print.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "terminal.h"
#include "vector_text.h"

namespace limber::cli {
namespace {

constexpr double in_degrees = 180 / std::numbers::pi;
constexpr std::size_t few_rows = 12, few_warnings = 5;

// A table of at most so many rows, and how many there are beyond.
template <class List, class Row>
std::string rows_of(const List& list, std::size_t most, const char* head, const char* what, const Row& row) {
  if (list.empty()) return "";
  std::string out = fmt::format("\n{}\n", head);
  for (std::size_t i = 0; i < std::min(most, list.size()); ++i) out += row(list[i]);
  if (list.size() > most) out += fmt::format("  … {} more {}: --all or --json\n", list.size() - most, what);
  return out;
}

std::string beam_row(const sim::BeamRest& b) {
  const sim::SectionForce* w = b.worst();
  return fmt::format("  {:<14}  {:<40}  {:>11.5g}  {:>12.5g}  {:<5.3g}  {}{}\n", b.name, to_text(b.tip),
                     b.slope * in_degrees, w ? w->stress.combined / 1e6 : 0, w ? w->s : 0,
                     w && std::isfinite(w->safety) ? fmt::format("{:.3g}", w->safety) : "-",
                     w && w->breaks ? "  BREAKS" : (w && w->yields ? "  YIELDS" : ""));
}

// Energies are shown where the scene asks for them.
std::string probe_rows(const Model& model, const sim::Equilibrium& e, bool all) {
  std::set<std::string> asked;
  for (const Probe& p : model.probes()) asked.insert(p.name);
  std::string out;
  for (std::size_t i = 0; i < e.layout.scalars.size(); ++i) {
    const result::ScalarInfo& s = e.layout.scalars[i];
    if (all || !s.name.starts_with("energy.") || asked.contains(s.name))
      out += fmt::format("  {:<32}  {:>14.8g} {}\n", s.name, e.after.scalars[i], s.unit);
  }
  return out.empty() ? "" : "\n  probe                              value\n" + out;
}

std::string moved_most(const sim::Equilibrium& e) {
  std::size_t most = 0;
  const auto way = [&](std::size_t i) { return Vec3(e.after.positions[i] - e.before.positions[i]); };
  for (std::size_t i = 0; i < e.after.positions.size(); ++i)
    if (way(i).norm() > way(most).norm()) most = i;
  if (e.after.positions.empty()) return "";
  return fmt::format("\n  moved most: {} by {} m\n", e.layout.frames[most].name, to_text(way(most)));
}

std::string title_text(const std::string& title) {
  if (title.empty()) return "\n";
  return fmt::format("\n{}\n\n", styled(title, Style::bold, 1));
}

std::string cell(double x) { return fmt::format("{:.17g}", x); }

std::string csv_line(const std::vector<std::string>& cells) {
  return fmt::format("{}\n", fmt::join(cells, ","));
}

}  // namespace

std::string static_text(const std::vector<sim::Statement>& statements) {
  std::string out;
  for (const auto& [label, text] : statements) out += fmt::format("  {:<11}  {}\n", label, text);
  return out;
}

std::string static_text(const Model& model, const sim::Equilibrium& e, bool all) {
  std::vector<sim::Statement> statements = describe(e);
  if (!all && e.warnings.size() > few_warnings) {  // they come last
    statements.resize(statements.size() - (e.warnings.size() - few_warnings));
    statements.push_back(
        {"…", fmt::format("{} more warnings: --all or --json", e.warnings.size() - few_warnings)});
  }
  const std::size_t most = all ? SIZE_MAX : few_rows;
  std::string out = title_text(model.title()) + static_text(statements);
  out +=
      rows_of(e.beams, most,
              "  beam            tip [m]                                   slope [deg]  stress [MPa]  at     "
              "safety",
              "beams", beam_row);
  out += rows_of(e.reactions, most, "  reaction                  of     force [N]; moment [N m]", "reactions",
                 [](const sim::Reaction& r) {
                   return fmt::format("  {:<24}  {:<5}  {}; {}\n", r.name, r.of, to_text(r.force),
                                      to_text(r.moment));
                 });
  out += rows_of(e.springs, most, "  spring                       length [m]   tension [N]", "springs",
                 [](const auto& s) {
                   return fmt::format("  {:<26}  {:>11.6g}  {:>12.6g}\n", s.name, s.length, s.tension);
                 });
  return out + probe_rows(model, e, all) + moved_most(e) + "\n";
}

std::string static_text(const Model& model, const sim::SweepResult& result) {
  std::string out = title_text(model.title()) + static_text(describe(result)) + "\n";
  for (const auto& [beam, tip] : result.tips)
    out += fmt::format("  {:<11}  tip at {} m\n", beam, to_text(tip));
  return out + "\n";
}

std::string to_csv(const sim::StaticCurve& curve) {
  const bool history = curve.job == sim::StaticJob::history;
  std::string out = history ? "time [s],unstable_directions,largest_stress [Pa],severed"
                            : "load_factor,unstable_directions,point";
  if (curve.way > 0) out += curve.turns ? ",way [rad],reaction [N m]" : ",way [m],reaction [N]";
  for (const auto& s : curve.layout.scalars)
    out += fmt::format(",{}{}", s.name, s.unit.empty() ? "" : fmt::format(" [{}]", s.unit));
  out += "\n";
  for (const sim::CurvePoint& p : curve.points) {
    std::vector<std::string> cells{cell(history ? p.time : p.load), fmt::format("{}", p.negative)};
    if (history) {
      cells.push_back(cell(p.largest_stress));
      cells.push_back(fmt::format("{}", p.severed));
    } else {
      cells.emplace_back(to_string(p.kind));
    }
    if (curve.way > 0) cells.insert(cells.end(), {cell(p.deflection), cell(p.reaction)});
    for (const double x : p.snapshot.scalars) cells.push_back(cell(x));
    out += csv_line(cells);
  }
  return out;
}

std::string to_csv(const sim::UnloadedShape& shape) {
  std::string out = "beam,s,x [m],y [m],z [m],loaded_x [m],loaded_y [m],loaded_z [m]\n";
  std::size_t next = 0;
  for (std::size_t b = 0; b < shape.s.size(); ++b)
    for (const double s : shape.s[b]) {
      const Vec3 &p = shape.unloaded.points[next], &q = shape.loaded.points[next];
      ++next;
      out += csv_line({shape.layout.polylines[b].name, cell(s), cell(p.x()), cell(p.y()), cell(p.z()),
                       cell(q.x()), cell(q.y()), cell(q.z())});
    }
  return out;
}

}  // namespace limber::cli
