#include "limber/model/control.h"

#include <fmt/format.h>

#include <algorithm>

#include "limber/model/model.h"

namespace limber {

const char* to_string(Action::Kind kind) {
  constexpr const char* names[] = {"release", "switch off", "switch on", "give a new target to", "stop"};
  return names[static_cast<int>(kind)];
}

const char* to_string(Action::On on) {
  constexpr const char* names[] = {"run",   "joint", "tie",  "coupling",  "spring",
                                   "clamp", "drive", "load", "controller"};
  return names[static_cast<int>(on)];
}

std::string to_string(const Action& action) {
  if (action.kind == Action::Kind::stop) return "stop the run";
  if (action.on == Action::On::clamp)
    return fmt::format("release clamp {} of \"{}\"", action.clamp, action.name);
  return fmt::format("{} {} \"{}\"", to_string(action.kind), to_string(action.on), action.name);
}

// Of a coupling whose gap is a length.
static bool is_along(const ModelParts& parts, const Probe& p) {
  if (!p.coupling.valid()) return false;
  const Coupling::Term& t = parts.couplings[p.coupling.value].terms.front();
  return !is_rotational(parts.joints[t.joint.value].kind, t.dof);
}

std::vector<Column> columns_of(const ModelParts& parts, const Probe& p) {
  const QuantityInfo& row = info_of(p.quantity);
  switch (row.components) {
    case Components::one:
      return {{p.name, is_along(parts, p) ? row.unit_along : row.unit}};
    case Components::xyz:
      return {{p.name + ".x", row.unit}, {p.name + ".y", row.unit}, {p.name + ".z", row.unit}};
    case Components::coordinates:
      break;
  }
  const JointKind kind = p.loop.valid() ? parts.loops[p.loop.value].kind : parts.joints[p.joint.value].kind;
  const int count = dof_count(kind);
  std::vector<Column> out;
  for (int k = 0; k < count; ++k)
    out.push_back({count == 1 ? p.name : fmt::format("{}.{}", p.name, k),
                   is_rotational(kind, k) ? row.unit : row.unit_along});
  return out;
}

std::optional<Column> find_column(const ModelParts& parts, std::string_view name) {
  for (const Probe& p : parts.probes)
    for (Column& c : columns_of(parts, p))
      if (c.name == name) return std::move(c);
  for (const QuantityInfo& row : quantity_table)
    if (is_usual(row.told, parts.contact.has_value()) && row.words == name)
      return Column{row.words, row.unit};
  return std::nullopt;
}

ControllerReads what_it_reads(const ModelParts& parts, const Controller& c) {
  if (c.period > 0) return ControllerReads::samples;
  for (const Probe& p : parts.probes) {
    const bool position = p.quantity == Quantity::joint_position;
    if (!(position || p.quantity == Quantity::joint_velocity) || p.joint != c.joint || p.loop.valid())
      continue;
    const std::vector<Column> columns = columns_of(parts, p);
    if (c.dof < static_cast<int>(columns.size()) && columns[c.dof].name == c.reads)
      return position ? ControllerReads::position : ControllerReads::rate;
  }
  return ControllerReads::samples;
}

int tree_joint_of(const ModelParts& parts, const Action& a) {
  if (a.on != Action::On::joint && a.on != Action::On::drive) return -1;
  const auto found = std::ranges::find(parts.joints, a.name, &Joint::name);
  return found == parts.joints.end() ? -1 : static_cast<int>(found - parts.joints.begin());
}

}  // namespace limber
