// Bodies: shapes, mass, pose, points.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/math/trig.h"
#include "limber/scene/fields.h"

namespace limber::scene {

namespace {

// The IEC 61966-2-1 transfer from sRGB to linear light.
float linear_light(int byte) {
  const double c = byte / 255.0;
  return static_cast<float>(c <= 0.04045 ? c / 12.92 : math::pow((c + 0.055) / 1.055, 2.4));
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

struct Rod {
  double radius = 0, length = 0;
  Pose X;
};
Rod read_rod(const Fields& parent, std::string_view key) {
  const Fields rod(parent.reader, parent.node(key), ObjectType::rod, parent.path(key), parent.mark(key));
  Rod out{rod.quantity("radius", 1), 1, {}};
  if (!rod.has("from") || !rod.has("to")) {
    out.length = rod.quantity("length", 1);
    return out;
  }
  const Vec3 a = rod.vector("from"), b = rod.vector("to", Vec3::UnitZ());
  out.length = (b - a).norm();
  if (!(out.length > 0) || !std::isfinite(out.length)) {
    rod.error("to", "the two ends must be apart");
    out.length = 1;
    return out;
  }
  out.X = {math::rotation_from_z((b - a) / out.length), 0.5 * (a + b)};
  return out;
}

// The shape that is given, if any.
std::optional<Shape> read_geometry(const Fields& fields) {
  if (auto geometry = read_surface(fields)) return Shape{std::move(*geometry), {}};
  if (fields.has("box")) return Shape{BoxShape{fields.vector("box", Vec3::Ones())}, {}};
  if (fields.has("sphere")) {
    const Fields sphere(fields.reader, fields.node("sphere"), ObjectType::sphere, fields.path("sphere"),
                        fields.mark("sphere"));
    return Shape{SphereShape{sphere.quantity("radius", 1)}, {}};
  }
  if (fields.has("cylinder")) {
    const Rod rod = read_rod(fields, "cylinder");
    return Shape{CylinderShape{rod.radius, rod.length}, rod.X};
  }
  if (fields.has("capsule")) {
    const Rod rod = read_rod(fields, "capsule");
    return Shape{CapsuleShape{rod.radius, rod.length}, rod.X};
  }
  return std::nullopt;
}

std::optional<Shape> read_placed_shape(const Fields& item) {
  const Pose X = item.pose();
  auto shape = read_geometry(item);
  // A product with the identity would lose the signs of zeros.
  if (shape) shape->X_BG = shape->X_BG.R.isIdentity(0) && shape->X_BG.p.isZero(0) ? X : X * shape->X_BG;
  return shape;
}

}  // namespace

std::vector<Shape> read_shapes(const Fields& fields) {
  std::vector<Shape> shapes;
  if (const auto shape = read_geometry(fields)) shapes.push_back(*shape);
  for_each_item(fields, "shapes", ObjectType::shape, [&](const Fields& item) {
    if (auto shape = read_placed_shape(item)) shapes.push_back(std::move(*shape));
  });
  return shapes;
}

namespace {

Inertia explicit_inertia(const Fields& fields) {
  const Path path = fields.path("inertia");
  const Node& node = fields.node("inertia");
  const int count = node.is_sequence() && node.items.size() == 6 ? 6 : 3;
  const auto x = fields.reader.quantities(node, path, dimension::inertia, count);
  const double mass = fields.quantity("mass", 1);
  if (!fields.has("mass")) fields.error("inertia", "an inertia needs a mass beside it");
  if (!x) return Inertia::about_com(mass, Vec3::Zero(), Mat3::Identity());
  Mat3 I = Vec3((*x)[0], (*x)[1], (*x)[2]).asDiagonal();
  if (count == 6) {
    I(0, 1) = I(1, 0) = (*x)[3];
    I(0, 2) = I(2, 0) = (*x)[4];
    I(1, 2) = I(2, 1) = (*x)[5];
  }
  if (fields.has("first_moment")) return {mass, fields.vector("first_moment"), I};
  return Inertia::about_com(mass, fields.vector("com"), I);
}

// A shape of a body with what is said of its mass.
struct Solid {
  Shape shape;
  std::optional<double> density{};  // its own, of a mass as well
  double side = 1;                  // −1: a hole
  double volume() const { return side * limber::volume(shape.geometry); }
};

std::optional<double> said_density(const Fields& fields) {
  Reader& reader = fields.reader;
  if (!fields.has("material")) return fields.quantity("density");
  const Node& node = fields.node("material");
  const auto found = node.is_scalar() ? reader.material_names.find(node.text) : reader.material_names.end();
  if (found != reader.material_names.end()) return reader.parts.materials[found->second].density;
  fields.error("material",
               fmt::format("there is no material {}", node.is_scalar() ? quoted(node.text) : describe(node)));
  return 1000;
}

// What moves needs a volume to take its mass from; ground must stand.
void check_volume(const Fields& fields, const ShapeGeometry& geometry) {
  const auto fail = [&](const char* why) { fields.reader.error(fields.mark(), fields.path(), why); };
  if (std::holds_alternative<HeightFieldShape>(geometry))
    return fail("a height field stands still: add `fixed: true`");
  const auto* mesh = std::get_if<MeshShape>(&geometry);
  if (!mesh) return;
  if (!is_closed(*mesh->mesh))
    return fail("the mesh is not closed, so that it has no volume: give mass and inertia");
  if (!(volume(geometry) > 0))
    fail("the mesh is inside out: seen from outside, corners run counter-clockwise");
}

// Of a body: its shape, or all of `shapes`.
std::vector<Solid> read_solids(const Fields& fields) {
  const bool by_volume = !fields.has("inertia") && !fields.boolean("fixed");
  std::vector<Solid> out;
  if (auto shape = read_geometry(fields)) {
    if (by_volume) check_volume(fields, shape->geometry);
    out.push_back({std::move(*shape)});
  }
  for_each_item(fields, "shapes", ObjectType::solid, [&](const Fields& item) {
    auto shape = read_placed_shape(item);
    if (!shape) return;
    for (const char* key : {"density", "mass", "material", "hole"})
      if (item.has(key) && fields.has("inertia"))
        item.error(key, "the body has an inertia already: its shapes give none");
    if (by_volume) check_volume(item, shape->geometry);
    Solid solid{std::move(*shape), said_density(item), item.boolean("hole") ? -1.0 : 1.0};
    if (item.has("mass")) solid.density = item.quantity("mass", 1) / solid.volume();
    out.push_back(std::move(solid));
  });
  return out;
}

// Masses that are said twice agree within this: numbers of three digits and more do.
constexpr double same_mass = 1e-3;

// The density of solids that have none of their own.
double common_density(const Fields& fields, const std::vector<Solid>& solids) {
  const auto said = said_density(fields);
  if (said && std::all_of(solids.begin(), solids.end(), [](const Solid& s) { return s.density.has_value(); }))
    fields.error(fields.has("density") ? "density" : "material",
                 "every shape has a density or mass of its own");
  if (!fields.has("mass")) return said.value_or(1000);
  const double mass = fields.quantity("mass", 1);
  double own = 0, free = 0;  // mass of those that have a density, volume of those that have none
  for (const Solid& s : solids) (s.density ? own : free) += s.density.value_or(1) * s.volume();
  const double by_density = own + said.value_or(0) * free;
  if ((said || free == 0) && std::abs(by_density - mass) > same_mass * mass)
    fields.error("mass",
                 fmt::format("the shapes have {:.6g} kg by their densities, and the mass is {:.6g} kg",
                             by_density, mass));
  else if (free > 0 && mass < own)
    fields.error("mass", fmt::format("the shapes with a density or mass of their own have {:.6g} kg already, "
                                     "and all together {:.6g} kg",
                                     own, mass));
  return free == 0 ? 0 : std::max(0.0, mass - own) / free;
}

void expect_mass(const Fields& fields) {
  const bool given = fields.has("shapes") || fields.nearly_has("box") || fields.nearly_has("sphere") ||
                     fields.nearly_has("cylinder") || fields.nearly_has("capsule") || fields.has("hull") ||
                     fields.has("mesh") || fields.has("height_field") || fields.nearly_has("hull") ||
                     fields.nearly_has("mesh") || fields.nearly_has("height_field") ||
                     fields.nearly_has("shapes") || fields.nearly_has("point_masses");
  if (!fields.boolean("fixed") && !given && (fields.self().is_map() || fields.self().kind == NodeKind::null))
    fields.reader.error(fields.mark(), fields.path(),
                        "needs a shape (box, sphere, …), or mass and inertia, or point_masses");
}

Inertia read_inertia(const Fields& fields, const std::vector<Solid>& solids) {
  if (fields.has("inertia")) return explicit_inertia(fields);
  for (const char* key : {"com", "first_moment"})
    if (fields.has(key))
      fields.error(key, "a centre of mass needs an inertia beside it; else it follows from the shapes");
  if (solids.empty() && fields.has("point_masses")) {
    for (const char* key : {"mass", "density", "material"})
      if (fields.has(key)) fields.error(key, "needs a shape or an inertia; point masses have their own");
    return {};
  }
  if (solids.empty()) expect_mass(fields);
  // Nothing, ground, or a fault that has been reported.
  if (std::all_of(solids.begin(), solids.end(), [](const Solid& s) { return !(s.volume() > 0); }))
    return Inertia::about_com(1, Vec3::Zero(), Mat3::Identity());
  const double density = common_density(fields, solids);
  Inertia inertia;
  for (const Solid& s : solids) inertia += solid_inertia(s.shape, s.side * s.density.value_or(density));
  if (inertia.m < 0) fields.error("shapes", "its holes take out more than there is");
  return inertia;
}

void read_point_masses(const Fields& fields, Body& body) {
  for_each_item(fields, "point_masses", ObjectType::point_mass, [&](const Fields& item) {
    add_point_mass(body,
                   {item.has("name") ? item.text("name") : "", item.quantity("mass", 1), item.vector("at")});
  });
}

void read_points(const Fields& fields, Body& body) {
  if (!fields.has("points")) return;
  const Node& map = fields.node("points");
  const Path path = fields.path("points");
  if (!map.is_map())
    return fields.error("points", fmt::format("expected a mapping of names, got {}", describe(map)));
  for (const Entry& entry : map.entries) {
    const Path at{&path, entry.key->text};
    if (!fields.reader.check_name(*entry.key, at)) continue;
    if (entry.key->text.find('.') != std::string_view::npos) {
      fields.reader.error(*entry.key, at, "a point's name has no dots");
      continue;
    }
    const auto p = fields.reader.vector(*entry.value, at, dimension::length);
    if (p) body.points.push_back({std::string(entry.key->text), *p});
  }
}

}  // namespace

std::optional<double> read_density(const Fields& fields) {
  if (fields.has("mass")) return std::nullopt;
  return said_density(fields).value_or(1000);
}

std::optional<Color> read_color(const Fields& fields) {
  if (!fields.has("color")) return std::nullopt;
  const Node& node = fields.node("color");
  Color color{};
  if (node.is_sequence()) {
    const auto rgb =
        fields.reader.quantities(node, fields.path("color"), dimension::number, 3, Range::fraction);
    for (int i = 0; i < 3; ++i) color[i] = rgb ? static_cast<float>((*rgb)[i]) : 0.5f;
    return color;
  }
  bool good = node.is_scalar() && node.text.size() == 7 && node.text[0] == '#';
  for (int i = 0; good && i < 3; ++i) {
    const int high = hex_digit(node.text[1 + 2 * i]), low = hex_digit(node.text[2 + 2 * i]);
    good = high >= 0 && low >= 0;
    if (good) color[i] = linear_light(16 * high + low);
  }
  if (good) return color;
  fields.error("color", "expected \"#rrggbb\" (in quotes) or [r, g, b]");
  return std::nullopt;
}

void read_bodies(const Fields& scene) {
  Reader& reader = scene.reader;
  for_each_entry(scene, "bodies", ObjectType::body, [&](const Fields& fields, std::string_view name) {
    if (!reader.claim_entities(1, fields.mark(), fields.path())) return;
    Body body;
    body.name = name;
    const std::vector<Solid> solids = read_solids(fields);
    body.inertia = read_inertia(fields, solids);
    for (const Solid& s : solids)
      if (s.side > 0) body.shapes.push_back(s.shape);
    read_point_masses(fields, body);
    body.color = read_color(fields);
    body.linear_drag = fields.quantity("linear_drag", 0);
    body.angular_drag = fields.quantity("angular_drag", 0);
    body.friction = fields.quantity("friction");
    body.restitution = fields.quantity("restitution");
    body.surfaces = surfaces_of(fields);
    if (fields.has("collide")) body.collide = fields.boolean("collide");
    read_points(fields, body);
    Reader::BodyExtra extra;
    extra.written = fields.pose();
    extra.has_pose = fields.has("at") || fields.has("rotate");
    reader.body_names.emplace(name, static_cast<int>(reader.parts.bodies.size()));
    reader.remember("body", name, fields.self(), fields.mark(), fields.path());
    reader.parts.bodies.push_back(std::move(body));
    reader.extras.push_back(extra);
  });
}

}  // namespace limber::scene
