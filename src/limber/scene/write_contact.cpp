#include "limber/scene/write_contact.h"

#include <fmt/format.h>

#include "limber/scene/write_text.h"

namespace limber::scene {
namespace {

std::string planes_text(const Model& model) {
  std::string out;
  for (const Plane& p : model.contact()->planes)
    out += (out.empty() ? "" : ", ") +
           Flow()
               .add("at", list(p.at, 3))
               .add("normal", list(p.normal, 3))
               .add_if(!p.surfaces.empty(), "surfaces", surface_names(model, p.surfaces))
               .str();
  return "[" + out + "]";
}

std::string pairs_text(const Model& model) {
  std::string out;
  for (const SurfacePair& p : model.contact()->pairs) {
    Flow flow;
    flow.add("between", fmt::format("[{}, {}]", surface_name(model, p.a), surface_name(model, p.b)));
    add_terms(flow, p.terms);
    if (p.collide) flow.add("collide", *p.collide ? "true" : "false");
    out += (out.empty() ? "" : ", ") + flow.str();
  }
  return "[" + out + "]";
}

}  // namespace

void add_terms(Flow& flow, const TouchTerms& t) {
  if (t.friction) flow.add("friction", number(*t.friction));
  if (t.restitution) flow.add("restitution", number(*t.restitution));
  if (t.stiffness) flow.add("stiffness", number(*t.stiffness));
  if (t.damping) flow.add("damping", number(*t.damping));
}

std::string surface_names(const Model& model, const std::vector<int>& kinds) {
  std::string out;
  for (const int k : kinds) out += (out.empty() ? "" : ", ") + model.surfaces()[k].name;
  return "[" + out + "]";
}

std::string surface_name(const Model& model, const Surface& s) {
  if (s.kind >= 0) return model.surfaces()[s.kind].name;
  if (s.beam.valid()) return model[s.beam].name;
  return s.body.valid() ? model[s.body].name : "world";
}

std::string contact_text(const Model& model) {
  const Contact& c = *model.contact();
  return Flow()
      .add("friction", number(c.friction))
      .add("self", c.self ? "true" : "false")
      .add_if(c.combine != Combine::geometric, "combine", to_string(c.combine))
      .add_if(!c.pairs.empty(), "pairs", pairs_text(model))
      .add_if(!c.planes.empty(), "planes", planes_text(model))
      .add_if(c.restitution != 0, "restitution", number(c.restitution))
      .str();
}

}  // namespace limber::scene
