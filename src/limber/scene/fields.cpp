#include "limber/scene/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "limber/scene/suggest.h"

namespace limber::scene {

namespace {
constexpr double max_integer = 1e9;

std::string join(const std::vector<const char*>& keys) {
  std::string out;
  for (std::size_t i = 0; i < keys.size(); ++i)
    out += fmt::format("{}{}", i == 0 ? "" : i + 1 == keys.size() ? " and " : ", ", keys[i]);
  return out;
}
}  // namespace

Fields::Fields(Reader& scene_reader, const Node& node, ObjectType type, const Path& path, const Mark& mark)
    : reader(scene_reader), node_(node), object_(object_of(type)), path_(path), mark_(mark) {
  if (node.is_map() || node.kind == NodeKind::null) {
    check_keys();
    check_groups();
  } else if (*object_.shorthand &&
             (node.is_scalar() ||
              (node.is_sequence() && find_key(object_, object_.shorthand)->type == Type::values))) {
    shorthand_ = true;
  } else {
    reader.error(node, path_, fmt::format("expected a mapping, got {}", describe(node)));
  }
}

void Fields::check_keys() {
  for (const Entry& entry : node_.entries) {
    if (find_key(object_, entry.key->text)) continue;
    Suggestion suggestion(entry.key->text);
    for (const Key& key : object_.keys) suggestion.offer(key.name);
    reader.error(entry.key->mark, path_,
                 fmt::format("unknown key {}{}", quoted(entry.key->text), suggestion.text()));
    slips_.push_back(suggestion.best());
  }
  for (const Key& key : object_.keys)
    if (key.required && !has(key.name) && !nearly_has(key.name))
      reader.error(mark_, path_, fmt::format("needs the key \"{}\"", key.name));
}

void Fields::check_groups() {
  for (const OneOf& group : object_.groups) {
    const auto in_group = [&](std::string_view name) {
      return std::find(group.keys.begin(), group.keys.end(), name) != group.keys.end();
    };
    int count = 0;
    for (const Entry& entry : node_.entries)
      if (in_group(entry.key->text) && ++count == 2)
        reader.error(entry.key->mark, path_, fmt::format("give only one of {}", join(group.keys)));
    const bool slip = std::any_of(slips_.begin(), slips_.end(), in_group);
    if (group.required && count == 0 && !slip)
      reader.error(mark_, path_, fmt::format("needs one of {}", join(group.keys)));
  }
}

bool Fields::nearly_has(std::string_view name) const {
  return std::find(slips_.begin(), slips_.end(), name) != slips_.end();
}

// A key with nothing after it counts as missing.
const Node* Fields::find(std::string_view name) const {
  assert(find_key(object_, name) && "a key that is not in the table");
  if (shorthand_) return name == object_.shorthand ? &node_ : nullptr;
  const Entry* entry = node_.find(name);
  return entry && entry->value->kind != NodeKind::null ? entry->value : nullptr;
}

const Key& Fields::key(std::string_view name, [[maybe_unused]] Type type) const {
  const Key* found = find_key(object_, name);
  assert(found && found->type == type && "a key read as another type than the table says");
  return *found;
}

Mark Fields::mark(std::string_view name) const {
  const Node* node = find(name);
  return node ? node->mark : mark_;
}

void Fields::error(std::string_view name, std::string message) const {
  reader.error(mark(name), path(name), std::move(message));
}

std::optional<double> Fields::quantity(std::string_view name) const {
  const Key& k = key(name, Type::quantity);
  const Node* node = find(name);
  if (!node) return std::nullopt;
  return reader.quantity(*node, path(name), k.dimension, k.range, k.fallback == "inf");
}

double Fields::quantity(std::string_view name, double fallback) const {
  return quantity(name).value_or(fallback);
}

int Fields::integer(std::string_view name, int fallback) const {
  const Key& k = key(name, Type::integer);
  const Node* node = find(name);
  if (!node) return fallback;
  const std::optional<Expression> e = reader.expression(*node, path(name), dimension::number, false);
  if (!e) return fallback;
  const std::string kind =
      fmt::format("a whole number{}{}", k.range == Range::any ? "" : ", ", k.range.text());
  const bool truth = node->text == "true" || node->text == "false";
  if (truth || !(std::floor(e->value) == e->value) || !k.range.contains(e->value)) {
    error(name, fmt::format("expected {}, got {}", kind, node->text.substr(0, 60)));
    return fallback;
  }
  if (std::abs(e->value) > max_integer) {
    error(name, fmt::format("expected {}, got {}, which is more than {:.0e}", kind, node->text.substr(0, 60),
                            max_integer));
    return fallback;
  }
  return static_cast<int>(e->value);
}

bool Fields::boolean(std::string_view name) const {
  key(name, Type::boolean);
  const Node* node = find(name);
  if (!node) return false;
  if (node->is_scalar() && !node->quoted && (node->text == "true" || node->text == "false"))
    return node->text == "true";
  error(name, fmt::format("expected true or false, got {}",
                          node->is_scalar() ? quoted(node->text) : describe(*node)));
  return false;
}

std::string Fields::text(std::string_view name) const {
  key(name, Type::text);
  const Node* node = find(name);
  if (!node) return "";
  if (node->is_scalar()) return std::string(node->text);
  error(name, fmt::format("expected text, got {}", describe(*node)));
  return "";
}

std::vector<std::string> Fields::names(std::string_view name) const {
  key(name, Type::names);
  const Node* list = find(name);
  std::vector<std::string> out;
  if (!list) return out;
  if (!list->is_sequence()) {
    error(name, fmt::format("expected a list of names, got {}", describe(*list)));
    return out;
  }
  for (const Node* item : list->items) {
    if (item->is_scalar())
      out.emplace_back(item->text);
    else
      reader.error(*item, path(name), fmt::format("expected a name, got {}", describe(*item)));
  }
  return out;
}

int Fields::choice(std::string_view name, int fallback) const {
  const Key& k = key(name, Type::choice);
  const Node* node = find(name);
  if (!node) return fallback;
  const std::vector<std::string_view> choices = split_choices(k);
  Suggestion suggestion(node->text);
  std::string list;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (node->is_scalar() && node->text == choices[i]) return static_cast<int>(i);
    suggestion.offer(choices[i]);
    list += fmt::format("{}{}", i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ", choices[i]);
  }
  error(name, fmt::format("expected {}, got {}{}", list,
                          node->is_scalar() ? quoted(node->text) : describe(*node), suggestion.text()));
  return fallback;
}

Vec3 Fields::vector(std::string_view name, const Vec3& fallback) const {
  const Key& k = key(name, Type::vector);
  const Node* node = find(name);
  return node ? reader.vector(*node, path(name), k.dimension, k.range).value_or(fallback) : fallback;
}

std::optional<std::vector<double>> Fields::numbers(std::string_view name) const {
  const Key& k = key(name, Type::vector);
  const Node* node = find(name);
  if (!node) return std::nullopt;
  return reader.quantities(*node, path(name), k.dimension, k.count, k.range);
}

std::optional<Vec3> Fields::axis(std::string_view name) const {
  key(name, Type::axis);
  const Node* node = find(name);
  if (!node) return std::nullopt;
  return reader.axis(*node, path(name));
}

Pose Fields::pose() const {
  Pose X;
  X.p = vector("at");
  key("rotate", Type::rotation);
  if (const Node* node = find("rotate"))
    X.R = reader.rotation(*node, path("rotate")).value_or(Mat3::Identity());
  return X;
}

DofArray Fields::values(std::string_view name, JointKind kind, double fallback) const {
  const Key& k = key(name, Type::values);
  DofArray out = dofs(fallback);
  const Node* node = find(name);
  if (!node) return out;
  const int n = dof_count(kind);
  const bool one_for_all = n == 1 || (k.role != Role::coordinate && k.role != Role::rate);
  const bool infinite = k.fallback == "inf";
  const Path at = path(name);
  if (n == 0) {
    error(name, fmt::format("a {} joint has no coordinates", to_string(kind)));
  } else if (node->is_scalar() && one_for_all) {
    for (int i = 0; i < n; ++i) {
      const Dimension d = dof_dimension(k.role, is_rotational(kind, i));
      const std::optional<double> x = reader.quantity(*node, at, d, k.range, infinite);
      if (!x) break;
      out[i] = *x;
    }
  } else if (node->is_sequence() && static_cast<int>(node->items.size()) == n) {
    for (int i = 0; i < n; ++i) {
      const Dimension d = dof_dimension(k.role, is_rotational(kind, i));
      out[i] = reader.quantity(*node->items[i], {&at, {}, i}, d, k.range, infinite).value_or(fallback);
    }
  } else {
    const std::string got = node->is_sequence() ? fmt::format("{} items", node->items.size())
                            : node->is_map()    ? "a mapping"
                                                : "one value";
    error(name, fmt::format("a {} joint has {} coordinate{}: expected {}, got {}", to_string(kind), n,
                            n == 1 ? "" : "s", n == 1 ? "one number" : fmt::format("a list of {}", n), got));
  }
  return out;
}

std::array<TimeFunction, 6> Fields::functions(std::string_view name, JointKind kind) const {
  const Key& k = key(name, Type::functions);
  std::array<TimeFunction, 6> out;
  const Node* node = find(name);
  if (!node) return out;
  const int n = dof_count(kind);
  const Path at = path(name);
  if (node->is_sequence()) {
    if (static_cast<int>(node->items.size()) != n) {
      error(name, fmt::format("a {} joint has {} coordinate{}, got {} items", to_string(kind), n,
                              n == 1 ? "" : "s", node->items.size()));
      return out;
    }
    for (int i = 0; i < n; ++i)
      out[i] = reader.function(*node->items[i], {&at, {}, i}, dof_dimension(k.role, is_rotational(kind, i)));
  } else if (n == 1) {
    out[0] = reader.function(*node, at, dof_dimension(k.role, is_rotational(kind, 0)));
  } else {
    error(name, fmt::format("a {} joint has {} coordinates: expected a list with one function each",
                            to_string(kind), n));
  }
  return out;
}

TimeFunction Fields::function(std::string_view name) const {
  const Key& k = key(name, Type::function);
  const Node* node = find(name);
  return node ? reader.function(*node, path(name), k.dimension) : TimeFunction{};
}

VectorFunction Fields::vector_function(std::string_view name, double ramp) const {
  const Key& k = key(name, Type::vector_function);
  const Node* node = find(name);
  return node ? reader.vector_function(*node, path(name), k.dimension, ramp) : VectorFunction{};
}

std::optional<Attachment> Fields::place(std::string_view name) const {
  key(name, Type::place);
  const Node* node = find(name);
  if (!node) return std::nullopt;
  return reader.place(*node, path(name));
}

std::optional<std::array<double, 2>> Fields::limit_pair(const Node& node, const Path& at,
                                                        const Dimension& d) const {
  if (node.is_scalar()) {
    const auto x = reader.quantity(node, at, d, Range::non_negative, true);
    if (!x) return std::nullopt;
    return std::array<double, 2>{-*x, *x};
  }
  if (!node.is_sequence() || node.items.size() != 2) {
    reader.error(node, at, "expected one number or [lower, upper]");
    return std::nullopt;
  }
  const auto lower = reader.quantity(*node.items[0], {&at, {}, 0}, d, Range::any, true);
  const auto upper = reader.quantity(*node.items[1], {&at, {}, 1}, d, Range::any, true);
  if (!lower || !upper) return std::nullopt;
  return std::array<double, 2>{*lower, *upper};
}

void Fields::limits(std::string_view name, JointKind kind, JointLaw& law) const {
  key(name, Type::joint_limits);
  const Node* node = find(name);
  if (!node) return;
  const int n = dof_count(kind);
  const Path at = path(name);
  const bool ball = has_rotation_vector(kind);
  const auto set = [&](int i, const Node& value, const Path& where) {
    const auto pair = limit_pair(value, where, dof_dimension(Role::coordinate, is_rotational(kind, i)));
    if (pair) law.lower[i] = (*pair)[0], law.upper[i] = (*pair)[1];
  };
  const auto set_ball = [&](const Node& value, const Path& where) {
    law.upper[0] =
        reader.quantity(value, where, dimension::angle, Range::non_negative, true).value_or(law.upper[0]);
  };
  if (n == 0) return error(name, fmt::format("a {} joint has no coordinates", to_string(kind)));
  if (n == 1) return set(0, *node, at);
  if (ball && node->is_scalar()) return set_ball(*node, at);
  if (!ball && node->is_scalar()) {
    for (int i = 0; i < n; ++i) set(i, *node, at);
    return;
  }
  const int entries = ball ? n - 2 : n;  // the rotation has one
  if (!node->is_sequence() || static_cast<int>(node->items.size()) != entries)
    return error(name, !ball ? fmt::format("expected {} times [lower, upper]", n)
                       : entries == 1
                           ? "expected one angle"
                           : fmt::format("expected one angle and {} [lower, upper]", entries == 4   ? "three"
                                                                                     : entries == 3 ? "two"
                                                                                                    : "one"));
  for (int i = 0; i < entries; ++i) {
    const Path where{&at, {}, i};
    if (ball && i == 0)
      set_ball(*node->items[0], where);
    else
      set(ball ? i + 2 : i, *node->items[i], where);
  }
}

JointLaw Fields::law(JointKind kind) const {
  JointLaw law;
  law.stiffness = values("stiffness", kind);
  law.damping = values("damping", kind);
  law.rest = values("rest", kind);
  limits("limits", kind, law);
  law.restitution = quantity("restitution", 0);
  if (std::optional<JointExtras> more = extras(kind))
    law.extras = std::make_shared<const JointExtras>(*std::move(more));
  return law;
}

}  // namespace limber::scene
