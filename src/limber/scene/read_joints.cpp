// Joints, loops, drives and motions. X_PF and X_BM follow from the bodies' poses as written, or are given.
#include <fmt/format.h>

#include <cmath>

#include "limber/elastic/beam_frames.h"
#include "limber/scene/fields.h"

namespace limber::scene {

std::optional<Vec3> world_point(const Fields& fields) {
  if (!fields.has("at")) return std::nullopt;
  const Node& node = fields.node("at");
  if (node.is_sequence())
    return fields.reader.vector(node, fields.path("at"), dimension::length).value_or(Vec3::Zero());
  const auto place = fields.place("at");
  if (!place) return Vec3::Zero();
  if (place->beam.valid()) {
    fields.error("at", "a joint cannot be on a beam");
    return Vec3::Zero();
  }
  return fields.reader.reference_pose(place->body) * place->p;
}

namespace {

Mat3 read_axes(const Fields& fields, JointKind kind) {
  const bool uses_axis = kind != JointKind::fixed && kind != JointKind::spherical && kind != JointKind::free;
  if (fields.has("axis") && !uses_axis)
    fields.error("axis", fmt::format("a {} joint has no axis", to_string(kind)));
  if (fields.has("axis2") && kind != JointKind::universal)
    fields.error("axis2", "only a universal joint has a second axis");
  if (!uses_axis) return Mat3::Identity();
  if (kind != JointKind::universal) return joint_axes(kind, fields.axis("axis", Vec3::UnitZ()), Vec3::Zero());
  const Vec3 x = fields.axis("axis", Vec3::UnitX());
  const auto given = fields.axis("axis2");
  const Vec3 y = given.value_or(std::abs(x.y()) < 0.9 ? Vec3::UnitY() : Vec3::UnitX());
  // 1e-6: perpendicular as typed by hand; then made exact.
  if (given && std::abs(x.dot(y)) > 1e-6) {
    fields.error("axis2", "the two axes of a universal joint must be perpendicular");
    return Mat3::Identity();
  }
  return joint_axes(kind, x, y);
}

struct Frames {
  Pose X_PF, X_BM;
  bool given = false;  // in the bodies' frames
};

// Frames that are given in the bodies; the rest needs the reference poses.
std::optional<Frames> explicit_frames(const Fields& fields, const char* first, const char* second) {
  if (!fields.has(first) && !fields.has(second)) return std::nullopt;
  Frames frames;
  frames.given = true;
  for (const auto& [key, X] : {std::pair{first, &frames.X_PF}, std::pair{second, &frames.X_BM}})
    if (fields.has(key))
      *X = Fields(fields.reader, fields.node(key), ObjectType::frame, fields.path(key), fields.mark(key))
               .pose();
  for (const char* key : {"at", "axis", "axis2"})
    if (fields.has(key)) fields.error(key, fmt::format("give either {} and {}, or this", first, second));
  return frames;
}

Frames world_frames(const Fields& fields, JointKind kind, BodyId a, BodyId b) {
  Reader& reader = fields.reader;
  const Pose X_WA = reader.reference_pose(a), X_WB = reader.reference_pose(b);
  Pose X_WF;
  X_WF.p = world_point(fields).value_or(X_WB.p);
  X_WF.R = read_axes(fields, kind);
  return {X_WA.inverse() * X_WF, X_WB.inverse() * X_WF, false};
}

Drive read_drive(const Fields& fields, JointId id, JointKind kind) {
  Drive drive;
  drive.joint = id;
  if (fields.has("force")) {
    drive.target = fields.functions("force", kind);
    return drive;
  }
  if (!fields.has("servo")) return drive;
  const Fields servo(fields.reader, fields.node("servo"), ObjectType::servo, fields.path("servo"),
                     fields.mark("servo"));
  drive.kind = Drive::Kind::servo;
  drive.target = servo.functions("target", kind);
  drive.kp = servo.values("kp", kind);
  drive.kd = servo.values("kd", kind);
  drive.max_force = servo.values("max_force", kind, std::numeric_limits<double>::infinity());
  return drive;
}

// The body that a key names; the world if it is missing or wrong.
BodyId read_body(const Fields& fields, const char* key, bool allow_world) {
  if (!fields.has(key)) return world;
  return fields.reader.body(fields.node(key), fields.path(key), allow_world).value_or(world);
}

// A parent that is a place on a beam: known once beams are read.
bool hangs_on_beam(const Fields& fields) {
  return fields.has("parent") && fields.reader.names_beam(fields.node("parent"));
}

BodyId read_child(const Fields& fields) {
  if (!fields.has("child") || !fields.reader.names_beam(fields.node("child")))
    return read_body(fields, "child", false);
  fields.error(
      "child",
      fmt::format("a beam hangs on its root already: make it the parent, or give ties: {{on: {}, to: …}}",
                  fields.node("child").text));
  return world;
}

// Keys that only one kind has.
double read_pitch(const Fields& fields, JointKind kind) {
  for (const auto& [key, owner] :
       {std::pair{"pitch", JointKind::screw}, std::pair{"length", JointKind::distance}})
    if (fields.has(key) && kind != owner)
      fields.error(key, fmt::format("only a {} has a {}", to_string(owner), key));
  return kind == JointKind::screw ? fields.quantity("pitch", 0) : 0;
}

// A distance between two bodies whose joints are read; `keys`: of the bodies and the frames.
void read_rod(const Fields& fields, std::string_view name, const std::array<const char*, 4>& keys) {
  Reader& reader = fields.reader;
  Loop loop;
  loop.name = name;
  loop.kind = JointKind::distance;
  loop.law = fields.law(loop.kind);
  loop.a = read_body(fields, keys[0], true);
  loop.b = read_body(fields, keys[1], true);
  const Frames frames = explicit_frames(fields, keys[2], keys[3]).value_or(Frames{});
  for (const char* key : {"at", "axis", "axis2"})
    if (!frames.given && fields.has(key))
      fields.error(key, fmt::format("a distance has two ends: give {} and {}", keys[2], keys[3]));
  loop.X_AF = frames.X_PF;
  loop.X_BM = frames.X_BM;
  read_pitch(fields, loop.kind);
  const Vec3 a = reader.start_pose(loop.a) * loop.X_AF.p, b = reader.start_pose(loop.b) * loop.X_BM.p;
  loop.length = fields.quantity("length", (b - a).norm());
  reader.remember("loop", name, fields.self(), fields.mark(), fields.path());
  reader.parts.loops.push_back(std::move(loop));
}

// One under `joints`: what only a joint of the tree has is refused.
void read_rod_of_joints(const Fields& fields, std::string_view name) {
  for (const char* key : {"position", "velocity", "drive", "motion"})
    if (fields.has(key)) fields.error(key, "a distance joint has no coordinates");
  read_rod(fields, name, {"parent", "child", "parent_frame", "child_frame"});
}

bool is_rod(const Fields& fields) { return all_joint_kinds[fields.choice("type", 0)] == JointKind::distance; }

// One whose frames need the reference poses of all bodies.
struct PendingJoint {
  int index;
  const Node* node;
  Mark mark;
  bool given;  // its frames are in the bodies
};

// Reads a joint as far as it goes before these are known; `pending` lists all that have a child.
void read_joint(const Fields& fields, std::string_view name, std::vector<PendingJoint>& pending) {
  Reader& reader = fields.reader;
  Joint joint;
  joint.name = name;
  joint.kind = all_joint_kinds[fields.choice("type", 0)];
  const BodyId parent = hangs_on_beam(fields) ? world : read_body(fields, "parent", true),
               child = read_child(fields);
  joint.law = fields.law(joint.kind);
  joint.position = fields.values("position", joint.kind);
  joint.velocity = fields.values("velocity", joint.kind);
  joint.pitch = read_pitch(fields, joint.kind);
  const auto frames = explicit_frames(fields, "parent_frame", "child_frame");
  reader.joint_names.emplace(name, static_cast<int>(reader.parts.joints.size()));
  reader.remember("joint", name, fields.self(), fields.mark(), fields.path());
  const JointId id{static_cast<std::int32_t>(reader.parts.joints.size())};
  if (fields.has("drive")) {
    const Fields drive(reader, fields.node("drive"), ObjectType::drive, fields.path("drive"),
                       fields.mark("drive"));
    reader.parts.drives.push_back(read_drive(drive, id, joint.kind));
  }
  if (fields.has("motion")) reader.parts.motions.push_back({id, fields.functions("motion", joint.kind)});
  joint.parent = parent;
  joint.child = child;
  if (hangs_on_beam(fields))
    reader.joints_on_beams.push_back({joint.name, &fields.self(), fields.mark(), frames.has_value()});
  if (!child.valid()) {  // reported; keeps the numbering
    reader.parts.joints.push_back(std::move(joint));
    return;
  }
  if (frames) {
    joint.X_PF = frames->X_PF;
    joint.X_BM = frames->X_BM;
  }
  reader.parts.joints.push_back(std::move(joint));
  pending.push_back({id.value, &fields.self(), fields.mark(), frames.has_value()});
}

// The pose of a body that hangs on frames in the bodies follows from them.
void hang_on_frames(const Fields& fields, int joint) {
  Reader& reader = fields.reader;
  const BodyId child = reader.parts.joints[joint].child;
  Reader::BodyExtra& extra = reader.extras[child.value];
  if (extra.has_pose)
    fields.error("child_frame",
                 fmt::format("the pose of \"{}\" follows from the frames; remove its at and rotate",
                             reader.parts.bodies[child.value].name));
  else if (extra.relative_joint < 0)
    extra.relative_joint = joint;
}

// Explicit bodies that hang on no joint get one: fixed, or free at the centre of mass.
void add_own_joint(const Fields& fields, std::string_view name) {
  Reader& reader = fields.reader;
  std::vector<int>& joint_of = reader.joint_of;
  const auto found = reader.body_names.find(name);
  if (found == reader.body_names.end()) return;
  const BodyId id{found->second};
  const bool fixed = fields.boolean("fixed");
  for (const char* key : {"fixed", "velocity", "angular_velocity"})
    if (fields.has(key) && joint_of[id.value] >= 0 && (std::string_view(key) != "fixed" || fixed))
      fields.error(
          key, fmt::format("the body hangs on joint \"{}\"", reader.parts.joints[joint_of[id.value]].name));
  if (joint_of[id.value] >= 0) return;
  const Body& body = reader.parts.bodies[id.value];
  const Pose& X_WB = reader.extras[id.value].written;
  Joint joint;
  joint.name = fmt::format("{}.joint", name);
  joint.kind = fixed ? JointKind::fixed : JointKind::free;
  joint.child = id;
  if (!fixed) joint.X_BM = Pose::translation(body.inertia.com());
  joint.X_PF = X_WB * joint.X_BM;
  for (const char* key : {"velocity", "angular_velocity"})
    if (fixed && fields.has(key)) fields.error(key, "the body is fixed");
  const Vec3 w = X_WB.R.transpose() * fields.vector("angular_velocity"),
             v = joint.X_PF.R.transpose() * fields.vector("velocity");
  if (!fixed)
    for (int i = 0; i < 3; ++i) joint.velocity[i] = w[i], joint.velocity[i + 3] = v[i];
  reader.extras[id.value].own_joint = joint_of[id.value] = static_cast<int>(reader.parts.joints.size());
  reader.parts.joints.push_back(std::move(joint));
}

}  // namespace

JointKind joint_kind_of(std::string_view name) {
  for (JointKind kind : all_joint_kinds)
    if (name == to_string(kind)) return kind;
  return JointKind::fixed;
}

Mat3 joint_axes(JointKind kind, const Vec3& axis, const Vec3& axis2) {
  if (kind == JointKind::universal) {
    Mat3 R;
    const Vec3 y = (axis2 - axis2.dot(axis) * axis).normalized();
    R << axis, y, axis.cross(y);
    return R;
  }
  return kind == JointKind::spherical || kind == JointKind::free || kind == JointKind::fixed ||
                 kind == JointKind::distance
             ? Mat3::Identity()
             : math::rotation_from_z(axis);
}

namespace {

// Where a place is when nothing acts, with a beam's own axes there.
Pose place_at_rest(Reader& reader, const Attachment& a, std::size_t depth = 0) {
  const Pose own = Pose::translation(a.p);
  if (!a.beam.valid()) return reader.reference_pose(a.body) * own;
  if (depth > reader.parts.beams.size()) return own;  // a ring of beams: reported elsewhere
  const Beam& beam = reader.parts.beams[static_cast<std::size_t>(a.beam.value)];
  return place_at_rest(reader, beam.from, depth + 1) * elastic::BeamFrames(beam.path, beam.up).at(a.s) * own;
}

}  // namespace

void hang_joints_on_beams(const Fields& scene) {
  Reader& reader = scene.reader;
  const Path path = scene.path("joints");
  for (const Reader::JointOnBeam& j : reader.joints_on_beams) {
    const Fields fields(reader, *j.node, ObjectType::joint, {&path, j.name}, j.mark);
    const auto found = reader.joint_names.find(j.name);
    if (found == reader.joint_names.end()) {
      fields.error("parent", fmt::format("the joint closes a loop, and one on a beam cannot: give ties: "
                                         "{{on: {}, to: …}}",
                                         fields.node("parent").text));
      continue;
    }
    const auto place = fields.place("parent");
    if (!place || !reader.diagnostics.empty()) continue;
    Joint& joint = reader.parts.joints[static_cast<std::size_t>(found->second)];
    joint.beam = place->beam, joint.s = place->s;
    if (j.given) continue;
    const Pose X_WB = reader.reference_pose(joint.child);
    joint.X_PF = {read_axes(fields, joint.kind),
                  world_point(fields).value_or(place_at_rest(reader, *place).p)};
    joint.X_BM = X_WB.inverse() * joint.X_PF;
  }
}

void read_joints(const Fields& scene) {
  Reader& reader = scene.reader;
  if (scene.has("beams") && scene.node("beams").is_map())
    for (const Entry& entry : scene.node("beams").entries) reader.beam_keys.emplace(entry.key->text);
  // First what does not need poses, for all joints; then which of them make the tree; then the frames.
  std::vector<PendingJoint> pending;
  const std::size_t of_short_forms = reader.parts.joints.size();
  for_each_entry(scene, "joints", ObjectType::joint, [&](const Fields& fields, std::string_view name) {
    if (!is_rod(fields) && reader.claim_entities(1, fields.mark(), fields.path()))
      read_joint(fields, name, pending);
  });
  const std::vector<char> in_tree = choose_tree(scene, of_short_forms);
  const Path path = scene.path("joints");
  const auto fields_of = [&](const PendingJoint& p) {
    return Fields(reader, *p.node, ObjectType::joint, {&path, reader.parts.joints[p.index].name}, p.mark);
  };
  for (const PendingJoint& p : pending)
    if (p.given && in_tree[p.index]) hang_on_frames(fields_of(p), p.index);
  for (const PendingJoint& p : pending) {
    if (p.given) continue;
    Joint& joint = reader.parts.joints[p.index];
    const Frames frames = world_frames(fields_of(p), joint.kind, joint.parent, joint.child);
    joint.X_PF = frames.X_PF;
    joint.X_BM = frames.X_BM;
  }
  cut_joints(scene, in_tree);
  std::vector<int>& joint_of = reader.joint_of;
  joint_of.assign(reader.parts.bodies.size(), -1);
  for (std::size_t j = 0; j < reader.parts.joints.size(); ++j)
    if (const BodyId child = reader.parts.joints[j].child; child.valid())
      joint_of[child.value] = static_cast<int>(j);
  for_each_entry(scene, "bodies", ObjectType::body,
                 [&](const Fields& fields, std::string_view name) { add_own_joint(fields, name); });
}

void read_loops(const Fields& scene) {
  Reader& reader = scene.reader;
  for_each_entry(scene, "joints", ObjectType::joint, [&](const Fields& fields, std::string_view name) {
    if (is_rod(fields) && reader.claim_entities(1, fields.mark(), fields.path()))
      read_rod_of_joints(fields, name);
  });
  for_each_entry(scene, "loops", ObjectType::loop, [&](const Fields& fields, std::string_view name) {
    if (!reader.claim_entities(1, fields.mark(), fields.path())) return;
    if (is_rod(fields)) return read_rod(fields, name, {"a", "b", "a_frame", "b_frame"});
    Loop loop;
    loop.name = name;
    loop.kind = all_joint_kinds[fields.choice("type", 0)];
    loop.law = fields.law(loop.kind);
    loop.pitch = read_pitch(fields, loop.kind);
    const auto a = fields.has("a") ? reader.body(fields.node("a"), fields.path("a")) : std::nullopt;
    const auto b = fields.has("b") ? reader.body(fields.node("b"), fields.path("b")) : std::nullopt;
    const auto given = explicit_frames(fields, "a_frame", "b_frame");
    if (!a || !b) return;
    const Frames frames = given ? *given : world_frames(fields, loop.kind, *a, *b);
    loop.a = *a;
    loop.b = *b;
    loop.X_AF = frames.X_PF;
    loop.X_BM = frames.X_BM;
    reader.remember("loop", name, fields.self(), fields.mark(), fields.path());
    reader.parts.loops.push_back(std::move(loop));
  });
}

void read_drives(const Fields& scene) {
  Reader& reader = scene.reader;
  const auto kind_of = [&](JointId id) { return reader.parts.joints[id.value].kind; };
  for_each_item(scene, "drives", ObjectType::joint_drive, [&](const Fields& fields) {
    const auto id =
        fields.has("joint") ? reader.joint(fields.node("joint"), fields.path("joint")) : std::nullopt;
    if (!id) return;
    reader.parts.drives.push_back(read_drive(fields, *id, kind_of(*id)));
    reader.remember("drive", reader.parts.joints[id->value].name, fields.self(), fields.mark(),
                    fields.path());
  });
  for_each_item(scene, "motions", ObjectType::joint_motion, [&](const Fields& fields) {
    const auto id =
        fields.has("joint") ? reader.joint(fields.node("joint"), fields.path("joint")) : std::nullopt;
    if (!id) return;
    reader.parts.motions.push_back({*id, fields.functions("position", kind_of(*id))});
    reader.remember("motion", reader.parts.joints[id->value].name, fields.self(), fields.mark(),
                    fields.path());
  });
}

}  // namespace limber::scene
