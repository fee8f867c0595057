// Short forms, their common part, and linkages: in a row, and along a helix.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/scene/fields.h"

namespace limber::scene {

namespace {

struct Waiting {
  const Entry* entry;
  std::string_view section;
  ObjectType type;
};

Attachment read_from(const Fields& fields) {
  const auto from = fields.place("from");
  if (from && from->beam.valid()) {
    fields.error("from", "a body cannot hang on a beam");
    return {};
  }
  return from.value_or(Attachment{});
}

// Can its `from` be found yet?
bool is_ready(const Reader& reader, const Node& node) {
  const Entry* from = node.is_map() ? node.find("from") : nullptr;
  if (!from) return true;
  const Node* text = from->value;
  if (text->is_map()) {
    const Entry* on = text->find("on");
    if (on) text = on->value;
  }
  std::string note;
  return !text->is_scalar() || reader.find_place(text->text, note).has_value();
}

void expand(const Fields& scene, const Waiting& item) {
  const Path section = scene.path(item.section), path{&section, item.entry->key->text};
  const Fields fields(scene.reader, *item.entry->value, item.type, path, item.entry->key->mark);
  const Attachment from = read_from(fields);
  const std::string_view name = item.entry->key->text;
  scene.reader.remember("short form", name, *item.entry->value, item.entry->key->mark, path);
  if (scene.reader.find_series(name) || scene.reader.find_series(fmt::format("{}.left", name)) ||
      scene.reader.body_names.count(name)) {
    scene.reader.error(item.entry->key->mark, path, fmt::format("the name {} is used twice", quoted(name)));
    return;
  }
  switch (item.type) {
    case ObjectType::chain:
      return expand_chain(fields, name, from);
    case ObjectType::helix:
      return expand_helix(fields, name, from);
    case ObjectType::tree:
      return expand_tree(fields, name, from);
    case ObjectType::molecule:
      return expand_molecule(fields, name, from);
    default:
      return expand_ladder(fields, name, from);
  }
}

// A vector across the unit vector d.
Vec3 any_across(const Vec3& d) { return math::rotation_from_z(d).col(0); }

}  // namespace

void read_short_forms(const Fields& scene) {
  Reader& reader = scene.reader;
  std::vector<Waiting> waiting;
  const std::tuple<const char*, ObjectType> sections[] = {{"linkages", ObjectType::chain},
                                                          {"trees", ObjectType::tree},
                                                          {"ladders", ObjectType::ladder},
                                                          {"helices", ObjectType::helix},
                                                          {"molecules", ObjectType::molecule}};
  for (const auto& [section, type] : sections) {
    if (!scene.has(section)) continue;
    const Node& map = scene.node(section);
    const Path path = scene.path(section);
    if (!map.is_map()) {
      scene.error(section, fmt::format("expected a mapping of names, got {}", describe(map)));
      continue;
    }
    for (const Entry& entry : map.entries)
      if (reader.check_name(*entry.key, {&path, entry.key->text})) waiting.push_back({&entry, section, type});
  }
  // One may hang on another, whichever comes first in the file.
  while (!waiting.empty()) {
    const auto late = std::stable_partition(
        waiting.begin(), waiting.end(), [&](const Waiting& w) { return is_ready(reader, *w.entry->value); });
    const auto end = late == waiting.begin() ? waiting.end() : late;  // no progress: let them report why
    for (auto it = waiting.begin(); it != end; ++it) expand(scene, *it);
    waiting.erase(waiting.begin(), end);
  }
}

LinkStyle read_link_style(const Fields& fields, JointKind default_kind) {
  LinkStyle style;
  style.kind = default_kind;
  if (fields.has("joint") && fields.choice("joint", -1) >= 0)
    style.kind = joint_kind_of(fields.node("joint").text);
  if (fields.has("axis") && (style.kind == JointKind::spherical || style.kind == JointKind::fixed))
    fields.error("axis", fmt::format("a {} joint has no axis", to_string(style.kind)));
  style.law = fields.law(style.kind);
  style.position = fields.values("position", style.kind);
  style.velocity = fields.values("velocity", style.kind);
  read_link_matter(fields, style);
  return style;
}

void read_link_matter(const Fields& fields, LinkStyle& style) {
  style.color = read_color(fields);
  style.linear_drag = fields.quantity("linear_drag", 0);
  style.angular_drag = fields.quantity("angular_drag", 0);
  if (const auto density = read_density(fields))
    style.density = *density;
  else
    style.mass = fields.quantity("mass", 1);
}

Body make_link(const LinkStyle& style, std::string name, Shape shape, double scale) {
  Body body;
  body.name = std::move(name);
  const double density = style.mass ? *style.mass * scale / volume(shape.geometry) : style.density;
  body.inertia = solid_inertia(shape, density);
  body.shapes.push_back(shape);
  body.color = style.color;
  body.linear_drag = style.linear_drag;
  body.angular_drag = style.angular_drag;
  return body;
}

namespace {

// A straight row of `count` links; every link like `link`, joint frames `axes` (and `odd_axes` for every
// second).
struct Row {
  Body link;
  Joint joint;
  Vec3 step;  // from joint to joint, in the link
  Mat3 odd_axes;
  Mat3 bend = Mat3::Identity();  // of a link in the one before
};

void add_row(Reader& reader, std::string_view name, int count, const Row& row, const Attachment& from,
             const Node& node) {
  ModelParts& parts = reader.parts;
  const int first_body = static_cast<int>(parts.bodies.size()),
            first_joint = static_cast<int>(parts.joints.size());
  reader.add_series({std::string(name), first_body, first_joint, count, -1, &node});
  parts.bodies.reserve(parts.bodies.size() + static_cast<std::size_t>(count));
  parts.joints.reserve(parts.joints.size() + static_cast<std::size_t>(count));
  reader.extras.reserve(reader.extras.size() + static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    Body body = row.link;
    body.name = fmt::format("{}.{}", name, i);
    Joint joint = row.joint;
    joint.name = body.name + ".joint";
    joint.parent = i == 0 ? from.body : BodyId{first_body + i - 1};
    joint.child = BodyId{first_body + i};
    if (i > 0) joint.X_PF.p = row.step;
    if (i % 2 == 1) joint.X_PF.R = joint.X_BM.R = row.odd_axes;
    if (i > 0) joint.X_PF.R = row.bend * joint.X_PF.R;
    parts.bodies.push_back(std::move(body));
    parts.joints.push_back(std::move(joint));
    reader.extras.push_back({{}, false, first_joint + i, -1});
  }
}

}  // namespace

namespace {

// What the first joint has of its own.
void read_first_joint(const Fields& chain, Joint& joint) {
  const Fields fields(chain.reader, chain.node("first_joint"), ObjectType::first_joint,
                      chain.path("first_joint"), chain.mark("first_joint"));
  const auto set = [&](const char* key, DofArray& values) {
    if (fields.has(key)) values = fields.values(key, joint.kind);
  };
  set("stiffness", joint.law.stiffness);
  set("damping", joint.law.damping);
  set("rest", joint.law.rest);
  set("position", joint.position);
  set("velocity", joint.velocity);
  fields.limits("limits", joint.kind, joint.law);
  joint.law.restitution = fields.quantity("restitution", joint.law.restitution);
}

}  // namespace

void expand_chain(const Fields& fields, std::string_view name, const Attachment& from) {
  Reader& reader = fields.reader;
  const int links = fields.integer("links", 1);
  const double length = fields.quantity("length", 1);
  const Vec3 d = fields.axis("direction", -Vec3::UnitZ());
  const LinkStyle style = read_link_style(fields, JointKind::revolute);
  const double radius = fields.quantity("radius", length / 20);
  const auto box = fields.numbers("box");
  const Vec3 start = fields.vector("start");
  const Vec3 default_axis = std::abs(d.y()) < 0.9 ? Vec3::UnitY() : Vec3::UnitX();
  const Vec3 axis = fields.axis("axis", style.kind == JointKind::prismatic ? d : default_axis);
  if (!reader.claim_entities(2.0 * links, fields.mark("links"), fields.path("links"))) return;

  Row row;
  const Pose X_BG{math::rotation_from_z(d), 0.5 * length * d};
  Shape shape{CapsuleShape{radius, length}, X_BG};
  if (box) shape.geometry = BoxShape{{(*box)[0], (*box)[1], length}};
  row.link = make_link(style, "", shape);
  row.link.points.push_back({"tip", length * d});
  row.step = length * d;
  row.joint.kind = style.kind;
  row.joint.law = style.law;
  row.joint.position = style.position;
  row.joint.velocity = style.velocity;
  // Universal: the first axis as given, the second across it and, if it can be, across the link.
  const Vec3 across = axis.cross(d).norm() > 1e-6 ? axis.cross(d).normalized() : any_across(axis);
  row.joint.X_BM.R = joint_axes(style.kind, axis, across);
  row.odd_axes = row.joint.X_BM.R;
  if (fields.boolean("alternate")) row.odd_axes = math::so3_exp(0.5 * pi * d) * row.joint.X_BM.R;
  row.bend = math::so3_exp(fields.quantity("bend", 0) * axis);
  row.joint.X_PF = {row.joint.X_BM.R, from.p + start};
  const std::size_t first = reader.parts.joints.size();
  add_row(reader, name, links, row, from, fields.self());
  if (fields.has("first_joint")) read_first_joint(fields, reader.parts.joints[first]);
}

void expand_helix(const Fields& fields, std::string_view name, const Attachment& from) {
  Reader& reader = fields.reader;
  const int links = fields.integer("links", 1);
  HelixPath helix;
  helix.axis = fields.axis("direction", Vec3::UnitZ());
  helix.start_direction = any_across(helix.axis);
  helix.radius = fields.quantity("coil", 1);
  helix.pitch = fields.quantity("pitch", 0.1);
  helix.turns = fields.quantity("turns", 1);
  helix.center = fields.vector("start") - helix.radius * helix.start_direction;
  const LinkStyle style = read_link_style(fields, JointKind::spherical);
  const double total = path_length(helix);
  if (!(total > 0) || !std::isfinite(total)) return fields.error("turns", "the helix has no length");
  const double radius = fields.quantity("radius", total / links / 10);
  if (!reader.claim_entities(2.0 * links, fields.mark("links"), fields.path("links"))) return;

  // Checked before anything is added: others may refer to every link by name.
  const auto joint_at = [&](int i) { return Vec3(from.p + path_point(helix, double(i) / links)); };
  for (int i = 0; i < links; ++i)
    if (!((joint_at(i + 1) - joint_at(i)).norm() > 0))
      return fields.error("links", "two joints fall on the same point");

  ModelParts& parts = reader.parts;
  const int first_body = static_cast<int>(parts.bodies.size()),
            first_joint = static_cast<int>(parts.joints.size());
  reader.add_series({std::string(name), first_body, first_joint, links, -1, &fields.self()});
  const Mat3 axes = joint_axes(style.kind, fields.axis("axis", Vec3::UnitX()), Vec3::UnitY());
  Pose X_AP = Pose::translation(from.p);  // the link before, in from's frame
  double length = 0;
  for (int i = 0; i < links; ++i) {
    const Vec3 a = joint_at(i), b = joint_at(i + 1);
    length = (b - a).norm();
    const Pose X_AB{math::rotation_from_z((b - a) / length), a};
    const Shape shape{CapsuleShape{radius, length}, Pose::translation(0.5 * length * Vec3::UnitZ())};
    Body body = make_link(style, fmt::format("{}.{}", name, i), shape);
    body.points.push_back({"tip", length * Vec3::UnitZ()});
    Joint joint;
    joint.name = body.name + ".joint";
    joint.kind = style.kind;
    joint.parent = i == 0 ? from.body : BodyId{first_body + i - 1};
    joint.child = BodyId{first_body + i};
    joint.X_BM.R = axes;
    joint.X_PF = (i == 0 ? X_AB : X_AP.inverse() * X_AB) * joint.X_BM;
    joint.law = style.law;
    joint.position = style.position;
    joint.velocity = style.velocity;
    parts.bodies.push_back(std::move(body));
    parts.joints.push_back(std::move(joint));
    reader.extras.push_back({{}, false, first_joint + i, -1});
    X_AP = X_AB;
  }
}

void expand_ladder(const Fields& fields, std::string_view name, const Attachment& from) {
  Reader& reader = fields.reader;
  const int rungs = fields.integer("rungs", 1);
  const double spacing = fields.quantity("spacing", 1), width = fields.quantity("width", 1);
  const double radius = fields.quantity("radius", spacing / 20);
  const Vec3 d = fields.axis("direction", -Vec3::UnitZ()), start = fields.vector("start");
  const Vec3 across = fields.axis("across", std::abs(d.x()) < 0.9 ? Vec3::UnitX() : Vec3::UnitY());
  const LinkStyle style = read_link_style(fields, JointKind::spherical);
  if (std::abs(d.dot(across)) > 1e-6) return fields.error("across", "must be perpendicular to direction");
  if (!reader.claim_entities(7.0 * rungs, fields.mark("rungs"), fields.path("rungs"))) return;

  Row rail;
  rail.link =
      make_link(style, "", {CapsuleShape{radius, spacing}, {math::rotation_from_z(d), 0.5 * spacing * d}});
  rail.link.points.push_back({"tip", spacing * d});
  rail.step = spacing * d;
  rail.joint.kind = style.kind;
  rail.joint.law = style.law;
  rail.joint.position = style.position;
  rail.joint.velocity = style.velocity;
  rail.joint.X_BM.R = rail.odd_axes = joint_axes(
      style.kind, fields.axis("axis", style.kind == JointKind::prismatic ? d : across), d.cross(across));
  int first[2] = {};
  for (int side = 0; side < 2; ++side) {
    rail.joint.X_PF = {rail.joint.X_BM.R, from.p + start + side * width * across};
    first[side] = static_cast<int>(reader.parts.bodies.size());
    add_row(reader, fmt::format("{}.{}", name, side == 0 ? "left" : "right"), rungs, rail, from,
            fields.self());
  }

  // Rungs: a ball joint at the left, a ball joint that closes the loop at the right.
  ModelParts& parts = reader.parts;
  const int first_rung = static_cast<int>(parts.bodies.size()),
            first_joint = static_cast<int>(parts.joints.size());
  reader.add_series({fmt::format("{}.rung", name), first_rung, first_joint, rungs, -1, &fields.self()});
  Body rung = make_link(style, "",
                        {CapsuleShape{radius, width}, {math::rotation_from_z(across), 0.5 * width * across}});
  rung.points.push_back({"tip", width * across});
  for (int i = 0; i < rungs; ++i) {
    rung.name = fmt::format("{}.rung.{}", name, i);
    Joint joint;
    joint.name = rung.name + ".joint";
    joint.kind = JointKind::spherical;
    joint.parent = BodyId{first[0] + i};
    joint.child = BodyId{first_rung + i};
    joint.X_PF.p = spacing * d;
    Loop loop;
    loop.name = rung.name + ".loop";
    loop.a = BodyId{first[1] + i};
    loop.b = BodyId{first_rung + i};
    loop.X_AF.p = spacing * d;
    loop.X_BM.p = width * across;
    parts.bodies.push_back(rung);
    parts.joints.push_back(std::move(joint));
    parts.loops.push_back(std::move(loop));
    reader.extras.push_back({{}, false, first_joint + i, -1});
  }
}

}  // namespace limber::scene
