// Materials, sections and beams.
#include <fmt/format.h>

#include <cmath>

#include "limber/scene/fields.h"
#include "limber/scene/suggest.h"

namespace limber::scene {

namespace {

std::vector<Vec2> read_outline(const Fields& fields, const Node& node, const Path& path) {
  std::vector<Vec2> outline;
  if (!node.is_sequence() || node.items.size() < 3) {
    fields.reader.error(node, path, "expected a list of at least three corners [y, z]");
    return outline;
  }
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const auto p =
        fields.reader.quantities(*node.items[i], {&path, {}, static_cast<int>(i)}, dimension::length, 2);
    if (p) outline.emplace_back((*p)[0], (*p)[1]);
  }
  return outline;
}

Polygon read_polygon(const Fields& polygon) {
  Polygon out;
  if (polygon.has("outline"))
    out.outline = read_outline(polygon, polygon.node("outline"), polygon.path("outline"));
  if (!polygon.has("holes")) return out;
  const Node& holes = polygon.node("holes");
  const Path path = polygon.path("holes");
  if (!holes.is_sequence()) {
    polygon.error("holes", "expected a list of outlines");
    return out;
  }
  for (std::size_t i = 0; i < holes.items.size(); ++i)
    out.holes.push_back(read_outline(polygon, *holes.items[i], {&path, {}, static_cast<int>(i)}));
  return out;
}

SectionShape read_section_shape(const Fields& fields) {
  const auto part = [&](const char* key, ObjectType type) {
    return Fields(fields.reader, fields.node(key), type, fields.path(key), fields.mark(key));
  };
  if (fields.has("circle")) return Circle{part("circle", ObjectType::circle).quantity("radius", 1)};
  if (fields.has("tube")) {
    const Fields tube = part("tube", ObjectType::tube);
    const Tube out{tube.quantity("outer", 1), tube.quantity("inner", 0)};
    if (!(out.inner_radius < out.outer_radius)) tube.error("inner", "must be less than the outer radius");
    return out;
  }
  if (fields.has("rectangle")) {
    const Fields r = part("rectangle", ObjectType::rectangle);
    return Rectangle{r.quantity("width", 1), r.quantity("height", 1)};
  }
  if (fields.has("ellipse")) {
    const Fields e = part("ellipse", ObjectType::ellipse);
    return Ellipse{e.quantity("a", 1), e.quantity("b", 1)};
  }
  if (fields.has("polygon")) return read_polygon(part("polygon", ObjectType::polygon));
  return Circle{1};
}

PolylinePath read_points(const Fields& fields, const Node& node, const Path& path) {
  PolylinePath out;
  if (node.items.size() < 2) fields.reader.error(node, path, "a path has at least two points");
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const auto p = fields.reader.vector(*node.items[i], {&path, {}, static_cast<int>(i)}, dimension::length);
    if (p) out.points.push_back(*p);
  }
  // Stand-ins after an error, so that later checks find a path.
  while (out.points.size() < 2) out.points.push_back(static_cast<double>(out.points.size()) * Vec3::UnitX());
  return out;
}

limber::Path read_path(const Fields& fields) {
  const PolylinePath unit{{Vec3::Zero(), Vec3::UnitX()}};
  if (!fields.has("path")) return unit;
  const Node& node = fields.node("path");
  const Path path = fields.path("path");
  if (node.is_sequence()) return read_points(fields, node, path);
  const Entry* only = node.is_map() && node.entries.size() == 1 ? &node.entries[0] : nullptr;
  if (only && only->key->text == "arc") {
    const Fields arc(fields.reader, *only->value, ObjectType::arc, {&path, "arc"}, only->key->mark);
    ArcPath out{arc.vector("start"), arc.axis("direction", Vec3::UnitX()), arc.axis("towards", Vec3::UnitZ()),
                arc.quantity("radius", 1), arc.quantity("angle", 1)};
    if (out.direction.cross(out.towards).norm() < 1e-6)
      arc.error("towards", "must not be parallel to direction");
    return out;
  }
  if (only && only->key->text == "spline") {
    const Path inside{&path, "spline"};
    if (!only->value->is_sequence() || only->value->items.size() < 3) {
      fields.reader.error(*only->value, inside, "expected a list of at least three points");
      return unit;
    }
    return spline_through(read_points(fields, *only->value, inside).points);
  }
  if (only && only->key->text == "helix") {
    const Fields helix(fields.reader, *only->value, ObjectType::helix_path, {&path, "helix"},
                       only->key->mark);
    HelixPath out{helix.vector("center"),
                  helix.axis("axis", Vec3::UnitZ()),
                  helix.axis("start_direction", Vec3::UnitX()),
                  helix.quantity("radius", 1),
                  helix.quantity("pitch", 0.1),
                  helix.quantity("turns", 1)};
    if (out.axis.cross(out.start_direction).norm() < 1e-6)
      helix.error("start_direction", "must not be parallel to axis");
    return out;
  }
  fields.error("path", "expected a list of points, {arc: …}, {helix: …} or {spline: …}");
  return unit;
}

// The index of a named material or section.
int read_name(const Fields& fields, const char* key, const std::unordered_map<std::string_view, int>& names) {
  if (!fields.has(key)) return -1;
  const Node& node = fields.node(key);
  if (node.is_scalar())
    if (const auto found = names.find(node.text); found != names.end()) return found->second;
  Suggestion suggestion(node.text);
  for (const auto& [known, index] : names) suggestion.offer(known);
  fields.error(key, fmt::format("there is no {} {}{}", key,
                                node.is_scalar() ? quoted(node.text) : describe(node), suggestion.text()));
  return -1;
}

}  // namespace

namespace {

Aging read_aging(const Fields& material, std::string_view key) {
  Aging rule;
  if (!material.has(key)) return rule;
  const Path path = material.path(key);
  const Fields fields(material.reader, material.node(key), ObjectType::aging, path, material.mark(key));
  rule.rate = fields.quantity("rate", 0);
  rule.stress = fields.quantity("stress", 1);
  rule.exponent = fields.quantity("exponent", 1);
  return rule;
}

}  // namespace

void read_materials(const Fields& scene) {
  Reader& reader = scene.reader;
  for_each_entry(scene, "materials", ObjectType::material, [&](const Fields& fields, std::string_view name) {
    Material m;
    m.name = name;
    m.E = fields.quantity("E", 1);
    m.nu = fields.quantity("nu", 0.3);
    if (!(m.nu > -1 && m.nu <= 0.5)) {
      fields.error("nu", fmt::format("expected a number between -1 and 0.5, got {}", m.nu));
      m.nu = 0.3;
    }
    m.G = fields.quantity("G", m.E / (2 * (1 + m.nu)));
    m.density = fields.quantity("density", 1000);
    m.yield = fields.quantity("yield", std::numeric_limits<double>::infinity());
    m.strength = fields.quantity("strength", std::numeric_limits<double>::infinity());
    m.creep = read_aging(fields, "creep");
    m.fatigue = read_aging(fields, "fatigue");
    reader.material_names.emplace(name, static_cast<int>(reader.parts.materials.size()));
    reader.remember("material", name, fields.self(), fields.mark(), fields.path());
    reader.parts.materials.push_back(std::move(m));
  });
}

void read_sections(const Fields& scene) {
  Reader& reader = scene.reader;
  for_each_entry(scene, "sections", ObjectType::section, [&](const Fields& fields, std::string_view name) {
    reader.section_names.emplace(name, static_cast<int>(reader.parts.sections.size()));
    reader.remember("section", name, fields.self(), fields.mark(), fields.path());
    reader.parts.sections.push_back({std::string(name), read_section_shape(fields)});
  });
}

namespace {

Vec3 read_up(const Fields& fields, const limber::Path& path) {
  const bool upright = std::abs(path_tangent(path, 0).z()) > 0.99;
  return fields.axis("up", upright ? Vec3::UnitX() : Vec3::UnitZ());
}

std::optional<BeamEase> read_rest(const Fields& beam) {
  if (!beam.has("rest")) return {};
  const Fields fields(beam.reader, beam.node("rest"), ObjectType::rest, beam.path("rest"), beam.mark("rest"));
  BeamEase rest;
  if (fields.has("path")) {
    rest.path = read_path(fields);
    rest.up = read_up(fields, *rest.path);
  } else {
    rest.length = fields.quantity("length", 1);
  }
  return rest;
}

}  // namespace

void read_beams(const Fields& scene) {
  Reader& reader = scene.reader;
  // Names first: a beam may start from one that comes later.
  if (scene.has("beams") && scene.node("beams").is_map())
    for (const Entry& entry : scene.node("beams").entries)
      reader.beam_names.emplace(entry.key->text, static_cast<int>(reader.beam_names.size()));
  reader.parts.beams.resize(reader.beam_names.size());
  for_each_entry(scene, "beams", ObjectType::beam, [&](const Fields& fields, std::string_view name) {
    Beam beam;
    beam.name = name;
    beam.from = fields.place("from").value_or(Attachment{});
    beam.path = read_path(fields);
    beam.material.value = read_name(fields, "material", reader.material_names);
    beam.section.value = read_name(fields, "section", reader.section_names);
    beam.up = read_up(fields, beam.path);
    beam.elements = fields.integer("elements", 10);
    beam.recipe = static_cast<Recipe>(fields.choice("recipe", 0));
    beam.planar = fields.boolean("planar");
    if (fields.has("stretch")) beam.stretch = fields.boolean("stretch");
    beam.damping = fields.quantity("damping", 0);
    beam.rest = read_rest(fields);
    beam.surfaces = surfaces_of(fields);
    read_thread(fields, beam);
    if (!reader.claim_entities(6.0 * beam.elements, fields.mark("elements"), fields.path("elements"))) return;
    reader.remember("beam", name, fields.self(), fields.mark(), fields.path());
    reader.parts.beams[reader.beam_names.at(name)] = std::move(beam);
  });
}

void read_ties(const Fields& scene) {
  Reader& reader = scene.reader;
  for_each_entry(scene, "ties", ObjectType::tie, [&](const Fields& fields, std::string_view name) {
    if (!reader.claim_entities(1, fields.mark(), fields.path())) return;
    Tie tie;
    tie.name = name;
    tie.kind = all_joint_kinds[fields.choice("type", 0)];
    tie.on = fields.place("on").value_or(Attachment{});
    tie.to = fields.place("to").value_or(Attachment{});
    tie.axis = fields.axis("axis", Vec3::UnitZ());
    tie.shift = fields.vector_function("shift");
    tie.turn = fields.vector_function("turn");
    reader.remember("tie", name, fields.self(), fields.mark(), fields.path());
    reader.parts.ties.push_back(std::move(tie));
  });
}

void read_changes(const Fields& scene) {
  Reader& reader = scene.reader;
  for_each_item(scene, "changes", ObjectType::change, [&](const Fields& fields) {
    Change change;
    change.at = fields.quantity("at", 0);
    change.beam.value = read_name(fields, "beam", reader.beam_names);
    if (fields.has("material")) {
      change.kind = Change::Kind::material;
      change.material.value = read_name(fields, "material", reader.material_names);
    } else if (fields.has("section")) {
      change.kind = Change::Kind::section;
      change.section.value = read_name(fields, "section", reader.section_names);
    } else if (fields.has("cut")) {
      change.kind = Change::Kind::cut;
      change.s = fields.quantity("cut", 0);
    } else {
      change.kind = Change::Kind::grow;
      if (fields.has("grow") && !fields.boolean("grow")) fields.error("grow", "expected true");
    }
    if (!change.beam.valid()) return;
    reader.parts.changes.push_back(change);
    reader.remember("change", fmt::format("{}", reader.parts.changes.size()), fields.self(), fields.mark(),
                    fields.path());
  });
}

}  // namespace limber::scene
