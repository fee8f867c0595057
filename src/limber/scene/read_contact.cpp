// Surfaces, contact and its pairs.
#include <fmt/format.h>

#include "limber/scene/fields.h"
#include "limber/scene/suggest.h"

namespace limber::scene {

namespace {

TouchTerms read_terms(const Fields& fields) {
  return {fields.quantity("friction"), fields.quantity("restitution"), fields.quantity("stiffness"),
          fields.quantity("damping")};
}

// A body, a beam, a surface or the world, by its name.
std::optional<Surface> read_surface(const Fields& pair, const Node& node, const Path& path) {
  Reader& reader = pair.reader;
  if (node.is_scalar()) {
    const auto beam = reader.beam_names.find(node.text);
    const auto kind = reader.surface_names.find(node.text);
    const bool is_beam = beam != reader.beam_names.end(), is_kind = kind != reader.surface_names.end();
    if (is_kind && (is_beam || reader.find_body(node.text))) {
      reader.error(node, path,
                   fmt::format("{} is a surface, and a {} too: give one of them another name",
                               quoted(node.text), is_beam ? "beam" : "body"));
      return {};
    }
    if (is_kind) return Surface{.kind = kind->second};
    if (is_beam) return Surface{.beam = BeamId{beam->second}};
  }
  if (const auto body = reader.body(node, path)) return Surface{.body = *body};
  return {};
}

void read_pair(const Fields& pair, Contact& contact) {
  if (!pair.has("between")) return;
  const Node& names = pair.node("between");
  const Path path = pair.path("between");
  if (!names.is_sequence() || names.items.size() != 2)
    return pair.error("between", "expected two names, such as [cord, drum]");
  const auto a = read_surface(pair, *names.items[0], {&path, {}, 0}),
             b = read_surface(pair, *names.items[1], {&path, {}, 1});
  SurfacePair out{a.value_or(Surface{}), b.value_or(Surface{}), read_terms(pair), {}};
  if (pair.has("collide")) out.collide = pair.boolean("collide");
  if (a && b) contact.pairs.push_back(std::move(out));
}

}  // namespace

void read_contact_surfaces(const Fields& scene) {
  Reader& reader = scene.reader;
  for_each_entry(scene, "surfaces", ObjectType::surface, [&](const Fields& fields, std::string_view name) {
    reader.surface_names.emplace(name, static_cast<int>(reader.parts.surfaces.size()));
    reader.remember("surface", name, fields.self(), fields.mark(), fields.path());
    reader.parts.surfaces.push_back({std::string(name), read_terms(fields)});
  });
}

std::vector<int> surfaces_of(const Fields& thing) {
  std::vector<int> out;
  for (const std::string& name : thing.names("surfaces")) {
    const auto found = thing.reader.surface_names.find(name);
    if (found != thing.reader.surface_names.end()) {
      out.push_back(found->second);
      continue;
    }
    Suggestion suggestion(name);
    for (const auto& [known, index] : thing.reader.surface_names) suggestion.offer(known);
    thing.error("surfaces",
                fmt::format("there is no surface {}{}", quoted(std::string_view(name)), suggestion.text()));
  }
  return out;
}

void read_contact(const Fields& scene) {
  if (!scene.has("contact")) return;
  Reader& reader = scene.reader;
  const Fields fields(reader, scene.node("contact"), ObjectType::contact, scene.path("contact"),
                      scene.mark("contact"));
  Contact contact;
  contact.friction = fields.quantity("friction", contact.friction);
  contact.restitution = fields.quantity("restitution", contact.restitution);
  if (fields.has("self")) contact.self = fields.boolean("self");
  contact.combine = all_combines[fields.choice("combine", 0)];
  for_each_item(fields, "pairs", ObjectType::surface_pair,
                [&](const Fields& pair) { read_pair(pair, contact); });
  for_each_item(fields, "planes", ObjectType::plane, [&](const Fields& plane) {
    contact.planes.push_back(
        {"", plane.vector("at"), plane.axis("normal", Vec3::UnitZ()), surfaces_of(plane)});
  });
  reader.remember("contact", "", fields.self(), fields.mark(), fields.path());
  reader.parts.contact = contact;
}

}  // namespace limber::scene
