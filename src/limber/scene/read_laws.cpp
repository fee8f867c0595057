// Laws of joints and springs, friction and bushings.
#include <fmt/format.h>

#include <algorithm>

#include "limber/scene/fields.h"

namespace limber::scene {

Law Fields::law(std::string_view name, const Variable& variable) const {
  const Key& k = key(name, Type::law);
  const Node* node = find(name);
  return node ? reader.law(*node, path(name), k.dimension, variable) : Law{};
}

std::array<Law, 6> Fields::laws(std::string_view name, JointKind kind, bool by_rate) const {
  key(name, Type::laws);
  std::array<Law, 6> out;
  const Node* node = find(name);
  if (!node) return out;
  const int n = dof_count(kind);
  const Path at = path(name);
  const auto read = [&](const Node& item, const Path& where, int i) {
    const bool turns = is_rotational(kind, i);
    const Variable variable{by_rate ? "v" : "x",
                            dof_dimension(by_rate ? Role::rate : Role::coordinate, turns)};
    return reader.law(item, where, dof_dimension(Role::force, turns), variable);
  };
  if (n == 0) {
    error(name, fmt::format("a {} joint has no coordinates", to_string(kind)));
  } else if (node->is_sequence() && static_cast<int>(node->items.size()) == n) {
    for (int i = 0; i < n; ++i) out[i] = read(*node->items[i], {&at, {}, i}, i);
  } else if (!node->is_sequence() && n == 1) {
    out[0] = read(*node, at, 0);
  } else {
    error(name, fmt::format("a {} joint has {} coordinate{}: expected {}", to_string(kind), n,
                            n == 1 ? "" : "s", n == 1 ? "one law" : "a list with one law each"));
  }
  return out;
}

// A level, one for each coordinate, or {static, dynamic, velocity}.
void Fields::friction(JointKind kind, JointExtras& out) const {
  const Node* node = find("friction");
  if (!node) return;
  const Fields inner(reader, *node, ObjectType::friction, path("friction"), mark("friction"));
  out.friction_static = inner.values("static", kind);
  out.friction_dynamic = inner.has("dynamic") ? inner.values("dynamic", kind) : out.friction_static;
  out.friction_velocity = inner.values("velocity", kind);
}

std::optional<JointExtras> Fields::extras(JointKind kind) const {
  constexpr const char* keys[] = {"spring_force",   "damping_force", "preload",
                                  "stop_stiffness", "stop_damping",  "friction"};
  if (std::none_of(std::begin(keys), std::end(keys), [&](const char* k) { return has(k); }))
    return std::nullopt;
  JointExtras out;
  out.spring = laws("spring_force", kind, false);
  out.damper = laws("damping_force", kind, true);
  out.preload = values("preload", kind);
  out.stop_stiffness = values("stop_stiffness", kind);
  out.stop_damping = values("stop_damping", kind);
  friction(kind, out);
  for (const char* k : {"stop_stiffness", "stop_damping"})
    if (has(k) && !has("limits")) error(k, "needs limits: beyond them it acts");
  return out;
}

// Entries between turns and shifts are forces; what `unit` is of a shift decides the others.
Mat6 Fields::matrix(std::string_view name) const {
  const Key& k = key(name, Type::matrix);
  Mat6 out = Mat6::Zero();
  const Node* node = find(name);
  if (!node) return out;
  const Path at = path(name);
  const auto dimension_of = [&](int i, int j) {
    const int turns = (i < 3) + (j < 3);
    return turns == 0   ? k.dimension
           : turns == 1 ? k.dimension * dimension::length
                        : k.dimension * dimension::length * dimension::length / dimension::angle;
  };
  const auto expect = [&](const Node& list, const Path& where) {
    if (list.is_sequence() && list.items.size() == 6) return true;
    reader.error(list, where, "expected six numbers (three turns, three shifts), or six rows of six");
    return false;
  };
  if (!expect(*node, at)) return out;
  const bool full = node->items[0]->is_sequence();
  for (int i = 0; i < 6; ++i) {
    const Path row{&at, {}, i};
    const Node& item = *node->items[i];
    if (!full) {
      out(i, i) = reader.quantity(item, row, dimension_of(i, i)).value_or(0);
      continue;
    }
    if (!expect(item, row)) return out;
    for (int j = 0; j < 6; ++j)
      out(i, j) = reader.quantity(*item.items[j], {&row, {}, j}, dimension_of(i, j)).value_or(0);
  }
  return out;
}

namespace {

Pose frame_in_body(const Fields& fields, const char* name) {
  if (!fields.has(name)) return {};
  return Fields(fields.reader, fields.node(name), ObjectType::frame, fields.path(name), fields.mark(name))
      .pose();
}

// Frames in the bodies, or one place in the world where the bodies stand as written.
void place_bushing(const Fields& fields, Bushing& out) {
  Reader& reader = fields.reader;
  if (fields.has("a_frame") || fields.has("b_frame")) {
    out.X_AF = frame_in_body(fields, "a_frame");
    out.X_BM = frame_in_body(fields, "b_frame");
    for (const char* k : {"at", "rotate"})
      if (fields.has(k)) fields.error(k, "give either a_frame and b_frame, or this");
    return;
  }
  const Pose X_WA = reader.reference_pose(out.a), X_WB = reader.reference_pose(out.b);
  Pose X_WF;
  X_WF.p = world_point(fields).value_or(X_WB.p);
  if (fields.has("rotate"))
    X_WF.R = reader.rotation(fields.node("rotate"), fields.path("rotate")).value_or(Mat3::Identity());
  out.X_AF = X_WA.inverse() * X_WF;
  out.X_BM = X_WB.inverse() * X_WF;
}

}  // namespace

void read_bushings(const Fields& scene) {
  Reader& reader = scene.reader;
  for_each_entry(scene, "bushings", ObjectType::bushing, [&](const Fields& fields, std::string_view name) {
    if (!reader.claim_entities(1, fields.mark(), fields.path())) return;
    const auto body_of = [&](const char* k) {
      return fields.has(k) ? reader.body(fields.node(k), fields.path(k)) : std::optional<BodyId>(world);
    };
    const auto a = body_of("a"), b = body_of("b");
    Bushing out;
    out.name = name;
    out.stiffness = fields.matrix("stiffness");
    out.damping = fields.matrix("damping");
    if (!a || !b) return;
    out.a = *a, out.b = *b;
    place_bushing(fields, out);
    reader.remember("bushing", name, fields.self(), fields.mark(), fields.path());
    reader.parts.bushings.push_back(std::move(out));
  });
}

}  // namespace limber::scene
