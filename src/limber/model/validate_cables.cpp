// What is wrong with cables and with probes of them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/model/validate.h"

namespace limber {
namespace {

class CableChecker {
 public:
  CableChecker(const ModelParts& parts, const Cable& cable, std::vector<Problem>& out)
      : parts_(parts), c_(cable), out_(out) {}

  void run() {
    if (c_.route.size() < 2) add("route", "runs over two guides or more");
    for (std::size_t k = 0; k < c_.route.size(); ++k) check_guide(k);
    non_negative("stiffness", c_.stiffness);
    non_negative("EA", c_.EA);
    if ((c_.stiffness > 0) == (c_.EA > 0)) add("", "needs a stiffness or EA, one of them");
    non_negative("damping", c_.damping);
    non_negative("pretension", c_.pretension);
    if (!std::isfinite(c_.rest_length)) add("rest_length", "must be a finite number");
    if (c_.rest_length >= 0 && c_.pretension > 0)
      add("pretension", "goes without a rest_length: one gives the other");
    const bool moves = std::ranges::any_of(c_.route, [](const CableGuide& g) { return !g.at.on_world(); });
    if (!moves) add("route", "touches nothing that can move");
    const bool pulley = std::ranges::any_of(c_.route, [](const CableGuide& g) { return g.radius > 0; });
    if (c_.closed && !pulley && c_.route.size() < 3)
      add("closed", "cannot close: between two points there is no way round");
    if (c_.closed && !c_.winch.is_zero())
      add("winch", "a closed cable has no end at which it could be taken in");
  }

 private:
  void add(const char* field, std::string message) {
    out_.push_back({"cable", c_.name, field, std::move(message)});
  }
  void non_negative(const char* field, double value) {
    if (!(value >= 0) || !std::isfinite(value))
      add(field, fmt::format("must be zero or positive, got {:.6g}", value));
  }

  void check_place(const Attachment& a) {
    if (a.beam.valid() ? a.beam.value >= int(parts_.beams.size()) : a.body.value >= int(parts_.bodies.size()))
      add("route", "refers to a body or beam that does not exist");
    if (a.beam.valid() && !(a.s >= 0 && a.s <= 1))
      add("route", fmt::format("must lie on the beam, 0…1, got {:.6g}", a.s));
    if (!a.p.allFinite()) add("route", "must be a finite point");
  }

  void check_guide(std::size_t k) {
    const CableGuide& g = c_.route[k];
    const std::string which = fmt::format("guide {}: ", k);
    check_place(g.at);
    non_negative("route", g.radius);
    non_negative("route", g.friction);
    if (g.radius > 0 && g.at.beam.valid())
      add("route", which + "a pulley turns about an axis of a body; this is a beam");
    if (g.radius > 0 && (!(g.axis.norm() > 0) || !g.axis.allFinite()))
      add("route", which + "the axis must be a direction");
    if (std::abs(g.sense) != 1) add("route", which + "the sense is +1 or −1");
    if (g.turns < 0 || g.turns > 1000)
      add("route", fmt::format("{}turns must lie within 0…1000, got {}", which, g.turns));
    const bool end = !c_.closed && (k == 0 || k + 1 == c_.route.size());
    if (end && (g.friction > 0 || (g.grip && g.radius == 0)))
      add("route", which + "an end is fixed: nothing slides there");
    if (end && g.turns > 0)
      add("route", which + "what is on a drum does not count: turns are of guides in between");
    if (g.friction > 0 && c_.damping > 0)
      add("damping", "goes without friction at its guides, which damps it");
    if (g.grip && g.friction > 0) add("route", which + "what grips has no friction beside it");
    if (k == 0 && !c_.closed) return;
    const CableGuide& before = c_.route[k > 0 ? k - 1 : c_.route.size() - 1];
    if (g.radius == 0 && before.radius == 0 && g.at.body == before.at.body && g.at.beam == before.at.beam &&
        g.at.s == before.at.s && g.at.p == before.at.p)
      add("route", which + "stands where the one before it does");
  }

  const ModelParts& parts_;
  const Cable& c_;
  std::vector<Problem>& out_;
};

}  // namespace

void find_cable_problems(const ModelParts& parts, std::vector<Problem>& out) {
  for (const Cable& c : parts.cables) CableChecker(parts, c, out).run();
}

void find_cable_problems(const Probe& p, const ModelParts& parts, std::vector<Problem>& out) {
  if (!p.cable.valid() || p.cable.value >= static_cast<int>(parts.cables.size())) {
    out.push_back({"probe", p.name, "", "refers to a cable that does not exist"});
    return;
  }
  const Cable& c = parts.cables[p.cable.value];
  if (p.guide < -1 || p.guide >= static_cast<int>(c.route.size()))
    out.push_back({"probe", p.name, "", fmt::format("cable \"{}\" has no guide {}", c.name, p.guide)});
}

}  // namespace limber
