// What was found, in words.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "limber/sim/snap.h"

namespace limber::sim {
namespace {

std::string plural(int n, const char* what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); }

std::string stability_text(const Equilibrium& e) {
  const Stability& s = e.stability;
  if (!s.counted) return "not counted: moments or loads that turn with the beam have no potential";
  if (s.pushes > 0)
    return s.negative > 0
               ? "unstable: a push of a hundredth of the forces that act brings it down"
               : fmt::format("stable: {} pushes of a hundredth of the forces that act die out", s.pushes);
  if (s.negative > 0)
    return fmt::format("unstable: {} in which it would leave", plural(s.negative, "direction"));
  return s.circulatory ? "stable (some loads have no potential: this counts the symmetric part alone)"
                       : "stable";
}

// The largest of all beams, and what it takes to bend them further.
void say_stress(const Equilibrium& e, std::vector<Statement>& out) {
  if (e.stiffness)
    out.push_back(
        {"stiffness", fmt::format("{:.4g} N/mm against the load, at this rest", 1e-3 * *e.stiffness)});
  if (!e.snap.empty()) return;  // told with the way
  const BeamRest* beam = nullptr;
  const SectionForce* most = nullptr;
  for (const BeamRest& b : e.beams)
    if (const SectionForce* w = b.worst(); w && (!most || w->stress.combined > most->stress.combined))
      beam = &b, most = w;
  if (!most || most->stress.combined == 0) return;
  out.push_back({"stress", fmt::format("{:.4g} MPa at most, in \"{}\" at {:.3g} of its length{}",
                                       1e-6 * most->stress.combined, beam->name, most->s,
                                       std::isfinite(most->safety)
                                           ? fmt::format("; safety {:.3g} against yield", most->safety)
                                           : "")});
}

std::string mode_text(const articulated::StaticMode& m) {
  if (m.eigenvalue >= 0)
    return fmt::format("{:.6g} Hz, moves \"{}\" most", std::sqrt(m.eigenvalue) / (2 * std::numbers::pi),
                       m.moves);
  return fmt::format("leaves with a rate of {:.6g} 1/s, moves \"{}\" most", std::sqrt(-m.eigenvalue),
                     m.moves);
}

}  // namespace

Statement describe(const chain::StabilityLoss& lost) { return describe(lost, 0); }

std::vector<Statement> describe(const Equilibrium& e) {
  std::vector<Statement> out;
  const auto say = [&](const char* label, std::string text) { out.push_back({label, std::move(text)}); };
  say("method", fmt::format("{}, {} freedoms", e.method, e.dofs));
  if (!e.ok()) {
    say("equilibrium", "none found: " + e.report.message);
    return out;
  }
  const bool closed = e.gap > 0 || e.redundant_rows > 0;
  say("equilibrium",
      fmt::format("{} iterations, {:.1e} of the acting forces left over{}", e.report.iterations, e.residual,
                  closed ? fmt::format(", loops and ties open by {:.1e} of the size", e.gap) : ""));
  say("stability", stability_text(e));
  if (e.stability.pushes > 0)
    say("contact",
        "it leans on something: of the rests that friction allows, the one on the way from its start");
  for (const Statement& snap : e.snap) out.push_back(snap);
  if (e.snap.empty())
    for (const chain::StabilityLoss& lost : e.stability.lost) out.push_back(describe(lost));
  say_stress(e, out);
  if (e.error.ok)
    say("error", fmt::format("about {:.1e} of the size (most on \"{}\"), {:.1e} at the tips", e.error.largest,
                             e.error.where, e.error.tip));
  if (e.redundant_rows > 0)
    say("loops", fmt::format("{} of loops and ties depend on others", plural(e.redundant_rows, "row")));
  for (const articulated::StaticMode& m : e.modes) say("mode", mode_text(m));
  for (const articulated::StopReaction& stop : e.stops)
    say("stop", fmt::format("\"{}\" stands at its bound {:.6g}, which pushes with {:.6g}", stop.joint,
                            stop.bound, stop.force));
  for (const std::string& event : e.events) say("change", event);
  for (const std::string& warning : e.warnings) say("warning", warning);
  return out;
}

}  // namespace limber::sim
