// Controllers and events. What they read is a column of the probes; one that is not there yet is added.
#include <fmt/format.h>

#include <algorithm>

#include "limber/scene/fields.h"
#include "limber/scene/suggest.h"

namespace limber::scene {

namespace {

// "ball.position.z" is the z of the probe "ball.position".
std::string_view probe_of(std::string_view column) {
  const std::size_t dot = column.rfind('.');
  if (dot == std::string_view::npos || dot + 2 != column.size()) return column;
  const char last = column.back();
  return (last >= 'x' && last <= 'z') || (last >= '0' && last <= '5') ? column.substr(0, dot) : column;
}

// With its dimension.
struct ReadColumn {
  std::string name;
  Dimension dimension;
};

std::optional<ReadColumn> read_column(const Fields& fields) {
  Reader& reader = fields.reader;
  if (!fields.has("reads")) return std::nullopt;
  const Node& node = fields.node("reads");
  if (!node.is_scalar()) {
    fields.error("reads", fmt::format("expected the column of a probe, got {}", describe(node)));
    return std::nullopt;
  }
  auto found = find_column(reader.parts, node.text);
  const std::string_view probe = probe_of(node.text);
  if (!found && std::ranges::none_of(reader.parts.probes, [&](const Probe& p) { return p.name == probe; })) {
    const std::size_t before = reader.parts.probes.size();
    Node part = node;
    part.text = probe;
    add_probe(reader, part, fields.path("reads"));
    if (reader.parts.probes.size() == before) return std::nullopt;  // reported
    reader.remember("probe", std::string(probe), node, node.mark, fields.path("reads"));
    found = find_column(reader.parts, node.text);
  }
  if (!found) {
    std::string columns;
    for (const Probe& p : reader.parts.probes)
      if (p.name == probe || p.name == node.text)
        for (const Column& c : columns_of(reader.parts, p)) columns += (columns.empty() ? "" : ", ") + c.name;
    fields.error("reads", fmt::format("has several columns, or others: say one of {}", columns));
    return std::nullopt;
  }
  const std::string_view unit = found->unit;
  return ReadColumn{found->name, unit.empty() ? Dimension{} : parse_unit(unit).unit->dimension};
}

double number_of(const Fields& fields, const char* key, const Dimension& d) {
  if (!fields.has(key)) return 0;
  return fields.reader.quantity(fields.node(key), fields.path(key), d).value_or(0);
}

void read_limits(const Fields& fields, const Dimension& d, Controller& c) {
  if (!fields.has("limits")) return;
  const Node& node = fields.node("limits");
  const Path at = fields.path("limits");
  if (node.is_sequence() && node.items.size() == 2) {
    c.lower = fields.reader.quantity(*node.items[0], {&at, {}, 0}, d, Range::any, true).value_or(c.lower);
    c.upper = fields.reader.quantity(*node.items[1], {&at, {}, 1}, d, Range::any, true).value_or(c.upper);
  } else if (node.is_scalar()) {
    c.upper = fields.reader.quantity(node, at, d, Range::positive).value_or(c.upper);
    c.lower = -c.upper;
  } else {
    fields.error("limits", fmt::format("expected x or [lower, upper], got {}", describe(node)));
  }
}

void read_controller(const Fields& fields, std::string_view name,
                     std::vector<std::pair<std::string, Dimension>>& targets) {
  Reader& reader = fields.reader;
  const auto joint =
      fields.has("joint") ? reader.joint(fields.node("joint"), fields.path("joint")) : std::nullopt;
  const auto column = read_column(fields);
  if (!joint || !column) return;
  Controller c;
  c.name = name;
  c.joint = *joint;
  c.reads = column->name;
  c.dof = fields.integer("coordinate", 0);
  const JointKind kind = reader.parts.joints[joint->value].kind;
  const bool turns = c.dof >= 0 && c.dof < dof_count(kind) && is_rotational(kind, c.dof);
  const Dimension force = dof_dimension(Role::force, turns), gain = force / column->dimension;
  if (fields.has("target"))
    c.target = reader.function(fields.node("target"), fields.path("target"), column->dimension);
  c.kp = number_of(fields, "kp", gain);
  c.ki = number_of(fields, "ki", gain / dimension::time);
  c.kd = number_of(fields, "kd", gain * dimension::time);
  read_limits(fields, force, c);
  c.period = fields.quantity("period", 0);
  reader.remember("controller", name, fields.self(), fields.mark(), fields.path());
  targets.emplace_back(c.name, column->dimension);
  reader.parts.controllers.push_back(std::move(c));
}

// The name under a key, of something in a list; reports one that is not there.
template <class List>
std::optional<std::string> named(const Fields& fields, const char* key, const List& list) {
  const Node& node = fields.node(key);
  Suggestion suggestion(node.text);
  for (const auto& item : list) {
    if (node.is_scalar() && item.name == node.text) return item.name;
    suggestion.offer(item.name);
  }
  fields.error(key, fmt::format("there is no {} {}{}", key,
                                node.is_scalar() ? quoted(node.text) : describe(node), suggestion.text()));
  return std::nullopt;
}

// A joint of the tree or one that closes a loop.
std::optional<std::string> named_joint(const Fields& fields, const char* key) {
  Reader& reader = fields.reader;
  const Node& node = fields.node(key);
  if (node.is_scalar() &&
      std::ranges::find(reader.parts.loops, node.text, &Loop::name) != reader.parts.loops.end())
    return std::string(node.text);
  const auto id = reader.joint(node, fields.path(key));
  return id ? std::optional(reader.parts.joints[id->value].name) : std::nullopt;
}

void read_release(const Fields& event, Event& out) {
  const Fields fields(event.reader, event.node("release"), ObjectType::release, event.path("release"),
                      event.mark("release"));
  const ModelParts& parts = event.reader.parts;
  const std::size_t before = out.actions.size();
  const auto add = [&](Action::On on, std::optional<std::string> name) {
    Action a;
    a.kind = Action::Kind::release;
    a.on = on;
    a.name = name.value_or("");
    if (on == Action::On::clamp) a.clamp = fields.integer("clamp", 0);
    out.actions.push_back(std::move(a));
  };
  if (fields.has("joint")) add(Action::On::joint, named_joint(fields, "joint"));
  if (fields.has("tie")) add(Action::On::tie, named(fields, "tie", parts.ties));
  if (fields.has("coupling")) add(Action::On::coupling, named(fields, "coupling", parts.couplings));
  if (fields.has("spring")) add(Action::On::spring, named(fields, "spring", parts.springs));
  if (fields.has("beam")) add(Action::On::clamp, named(fields, "beam", parts.beams));
  if (fields.has("clamp") && !fields.has("beam")) fields.error("clamp", "of which beam? give `beam`");
  if (out.actions.size() == before)
    event.error("release", "releases nothing: give joint, tie, coupling, spring or beam");
}

// The functions of a drive that is given another target.
std::array<TimeFunction, 6> read_targets(const Fields& fields, const std::string& joint) {
  Reader& reader = fields.reader;
  std::array<TimeFunction, 6> out;
  for (const Drive& d : reader.parts.drives) {
    const Joint& j = reader.parts.joints[d.joint.value];
    if (j.name != joint) continue;
    const Role role = d.kind == Drive::Kind::force ? Role::force : Role::coordinate;
    const int n = dof_count(j.kind);
    const Node& node = fields.node("target");
    const Path at = fields.path("target");
    if (!node.is_sequence() && n == 1) {
      out[0] = reader.function(node, at, dof_dimension(role, is_rotational(j.kind, 0)));
    } else if (node.is_sequence() && static_cast<int>(node.items.size()) == n) {
      for (int i = 0; i < n; ++i)
        out[i] = reader.function(*node.items[i], {&at, {}, i}, dof_dimension(role, is_rotational(j.kind, i)));
    } else {
      fields.error("target", fmt::format("joint \"{}\" has {} coordinates: expected as many", joint, n));
    }
  }
  return out;
}

void read_switch(const Fields& event, Event& out,
                 const std::vector<std::pair<std::string, Dimension>>& targets) {
  const Fields fields(event.reader, event.node("switch"), ObjectType::switching, event.path("switch"),
                      event.mark("switch"));
  Reader& reader = event.reader;
  const ModelParts& parts = reader.parts;
  Action a;
  a.kind = fields.has("target")   ? Action::Kind::retarget
           : fields.boolean("on") ? Action::Kind::switch_on
                                  : Action::Kind::switch_off;
  std::optional<std::string> name;
  if (fields.has("drive")) {
    a.on = Action::On::drive, name = named_joint(fields, "drive");
    if (name && fields.has("target")) a.target = read_targets(fields, *name);
  } else if (fields.has("spring")) {
    a.on = Action::On::spring, name = named(fields, "spring", parts.springs);
  } else if (fields.has("load")) {
    a.on = Action::On::load;
    std::vector<Column> loads;  // only their names are asked for
    for (const PointLoad& l : parts.point_loads) loads.push_back({l.name, ""});
    for (const DistributedLoad& l : parts.distributed_loads) loads.push_back({l.name, ""});
    name = named(fields, "load", loads);
  } else if (fields.has("controller")) {
    a.on = Action::On::controller, name = named(fields, "controller", parts.controllers);
    for (const auto& [controller, d] : targets)
      if (name == controller && fields.has("target"))
        a.target[0] = reader.function(fields.node("target"), fields.path("target"), d);
  }
  if (!name) return;
  a.name = *name;
  out.actions.push_back(std::move(a));
}

void read_passing(const Fields& event, Event& out) {
  const Fields fields(event.reader, event.node("when"), ObjectType::passing, event.path("when"),
                      event.mark("when"));
  const auto column = read_column(fields);
  if (!column) return;
  out.reads = column->name;
  const char* key = fields.has("above") ? "above" : fields.has("below") ? "below" : "passes";
  out.way = *key == 'a' ? Event::Way::rising : *key == 'b' ? Event::Way::falling : Event::Way::either;
  out.value = number_of(fields, key, column->dimension);
}

}  // namespace

void read_controls(const Fields& scene) {
  Reader& reader = scene.reader;
  std::vector<std::pair<std::string, Dimension>> targets;  // of controllers: what they read
  for_each_entry(
      scene, "controllers", ObjectType::controller,
      [&](const Fields& fields, std::string_view name) { read_controller(fields, name, targets); });
  for_each_entry(scene, "events", ObjectType::event, [&](const Fields& fields, std::string_view name) {
    Event event;
    event.name = name;
    event.at = fields.quantity("at", 0);
    if (fields.has("when")) read_passing(fields, event);
    event.delay = fields.quantity("delay", 0);
    event.once = !fields.boolean("again");
    if (fields.has("again") && fields.has("at")) fields.error("again", "a time comes once");
    if (fields.has("release")) read_release(fields, event);
    if (fields.has("switch")) read_switch(fields, event, targets);
    if (fields.boolean("stop")) event.actions.emplace_back();
    reader.remember("event", name, fields.self(), fields.mark(), fields.path());
    reader.parts.events.push_back(std::move(event));
  });
}

}  // namespace limber::scene
