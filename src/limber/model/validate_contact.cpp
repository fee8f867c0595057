// What is wrong with surfaces, with what touches and with pairs.
#include <fmt/format.h>

#include <cmath>

#include "limber/model/validate.h"

namespace limber {
namespace {

class ContactChecker {
 public:
  ContactChecker(const ModelParts& parts, std::vector<Problem>& out) : parts_(parts), out_(out) {}

  void run() {
    for (const SurfaceKind& k : parts_.surfaces) check_terms("surface", k.name, k.terms);
    for (const Body& b : parts_.bodies) {
      check_surfaces("body", b.name, b.surfaces);
      if (const double e = b.restitution.value_or(0); !(e >= 0 && e <= 1))
        add("body", b.name, "restitution", fmt::format("must lie within 0…1, got {:.6g}", e));
    }
    for (const Beam& b : parts_.beams) check_surfaces("beam", b.name, b.surfaces);
    if (!parts_.contact) return;
    non_negative("scene", "", "contact.friction", parts_.contact->friction);
    if (!(parts_.contact->restitution >= 0 && parts_.contact->restitution <= 1))
      add("scene", "", "contact.restitution",
          fmt::format("must lie within 0…1, got {:.6g}", parts_.contact->restitution));
    for (const Plane& p : parts_.contact->planes) {
      if (!(p.normal.norm() > 1e-9) || !p.at.allFinite())
        add("scene", "", "contact.planes", "a plane needs a finite place and a normal that is not zero");
      check_surfaces("contact", "", p.surfaces);
    }
    check_pairs(parts_.contact->pairs);
  }

  void check_surfaces(const char* kind, const std::string& name, const std::vector<int>& surfaces) {
    for (const int k : surfaces)
      if (k < 0 || k >= int(parts_.surfaces.size()))
        add(kind, name, "surfaces", "refers to a surface that does not exist");
  }

  void check_terms(const char* kind, const std::string& name, const TouchTerms& t) {
    non_negative(kind, name, "friction", t.friction.value_or(0));
    if (const double e = t.restitution.value_or(0); !(e >= 0 && e <= 1))
      add(kind, name, "restitution", fmt::format("must lie within 0…1, got {:.6g}", e));
    if (t.stiffness && !(*t.stiffness > 0 && std::isfinite(*t.stiffness)))
      add(kind, name, "stiffness", fmt::format("must be positive, got {:.6g}", *t.stiffness));
    non_negative(kind, name, "damping", t.damping.value_or(0));
    if (t.damping && !t.stiffness) add(kind, name, "damping", "damps what gives: it goes with a `stiffness`");
    if (t.restitution && t.stiffness)
      add(kind, name, "restitution", "what gives comes back by its stiffness and damping: one or the other");
  }

  void check_pairs(const std::vector<SurfacePair>& pairs) {
    const auto exists = [&](const Surface& s) {
      return s.body.value < int(parts_.bodies.size()) && s.beam.value < int(parts_.beams.size()) &&
             s.kind < int(parts_.surfaces.size());
    };
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const SurfacePair& p = pairs[i];
      check_terms("contact", "", p.terms);
      if (!exists(p.a) || !exists(p.b)) {
        add("contact", "", "pairs", "refers to what does not exist");
        continue;
      }
      if (p.a == p.b && !p.a.beam.valid() && p.a.kind < 0)
        add("contact", "", "pairs", "two bodies touch, or a thread and itself: not a body and itself");
      for (const Surface& s : {p.a, p.b})
        if (s.body.valid() && s.kind < 0 && !parts_.bodies[s.body.value].collide)
          add("contact", "", "pairs",
              fmt::format("\"{}\" touches nothing (`collide: false`)", parts_.bodies[s.body.value].name));
      for (std::size_t k = 0; k < i; ++k)
        if ((pairs[k].a == p.a && pairs[k].b == p.b) || (pairs[k].a == p.b && pairs[k].b == p.a))
          add("contact", "", "pairs", fmt::format("pair {} is given again as pair {}", k + 1, i + 1));
    }
  }

 private:
  void add(const char* kind, const std::string& name, const char* field, std::string message) {
    out_.push_back({kind, name, field, std::move(message)});
  }
  void non_negative(const char* kind, const std::string& name, const char* field, double value) {
    if (!(value >= 0) || !std::isfinite(value))
      add(kind, name, field, fmt::format("must be zero or positive, got {:.6g}", value));
  }

  const ModelParts& parts_;
  std::vector<Problem>& out_;
};

}  // namespace

void find_contact_problems(const ModelParts& parts, std::vector<Problem>& out) {
  ContactChecker(parts, out).run();
}

}  // namespace limber
