// Probes: "finger.tip.position", "knee.angle", "tendon.tension", "energy.total", or spelled out as a mapping.
#include <fmt/format.h>

#include "limber/scene/fields.h"
#include "limber/scene/suggest.h"

namespace limber::scene {

namespace {

enum class Of : unsigned char { place, joint, spring, rider, scene };
struct Word {
  const char* name;
  Of of;
  Quantity quantity;
};
constexpr Word words[] = {
    {"position", Of::place, Quantity::position},
    {"velocity", Of::place, Quantity::velocity},
    {"rotation", Of::place, Quantity::rotation},
    {"angular_velocity", Of::place, Quantity::angular_velocity},
    {"angle", Of::joint, Quantity::joint_position},
    {"position", Of::joint, Quantity::joint_position},
    {"velocity", Of::joint, Quantity::joint_velocity},
    {"force", Of::joint, Quantity::joint_force},
    {"length", Of::spring, Quantity::spring_length},
    {"tension", Of::spring, Quantity::spring_tension},
    {"position", Of::rider, Quantity::rider_position},
    {"tension", Of::place, Quantity::tension},
    {"curvature", Of::place, Quantity::curvature},
    {"twist", Of::place, Quantity::twist},
    {"bending_moment", Of::place, Quantity::bending_moment},
    {"torque", Of::place, Quantity::torque},
};
constexpr std::pair<const char*, Quantity> energies[] = {
    {"kinetic", Quantity::kinetic_energy},       {"gravity", Quantity::gravity_energy},
    {"elastic", Quantity::elastic_energy},       {"total", Quantity::total_energy},
    {"dissipated", Quantity::dissipated_energy}, {"work", Quantity::work_energy},
    {"remainder", Quantity::remainder_energy}};

Of of(Quantity quantity) {
  if (quantity <= Quantity::angular_velocity) return Of::place;
  if (quantity <= Quantity::joint_force) return Of::joint;
  if (quantity <= Quantity::spring_tension) return Of::spring;
  if (quantity >= Quantity::tension && quantity <= Quantity::torque) return Of::place;
  return quantity == Quantity::rider_position ? Of::rider : Of::scene;
}

// A joint of the tree, or one that closes a loop.
bool resolve_joint(const Reader& reader, std::string_view name, Probe& probe) {
  if (const auto id = reader.find_joint(name)) {
    probe.joint = *id;
    return true;
  }
  for (std::size_t l = 0; l < reader.parts.loops.size(); ++l)
    if (reader.parts.loops[l].name == name) {
      probe.loop = LoopId{static_cast<std::int32_t>(l)};
      return true;
    }
  return false;
}

// Fills the probe if `subject` names something that has this quantity.
bool resolve(const Reader& reader, const Word& word, std::string_view subject, Probe& probe,
             std::string& note) {
  probe.quantity = word.quantity;
  if (word.of == Of::place) {
    const auto at = reader.find_place(subject, note);
    if (at) probe.at = *at;
    if (word.quantity >= Quantity::tension) {
      note.clear();
      return at && at->beam.valid();
    }
    return at.has_value();
  }
  if (word.of == Of::joint) {
    return resolve_joint(reader, subject, probe);
  }
  if (word.of == Of::rider) {
    const auto found = reader.rider_names.find(subject);
    if (found != reader.rider_names.end()) probe.rider = RiderId{found->second};
    return found != reader.rider_names.end();
  }
  const auto found = reader.spring_names.find(subject);
  if (found != reader.spring_names.end()) probe.spring = SpringId{found->second};
  return found != reader.spring_names.end();
}

std::string unknown_quantity(std::string_view quantity) {
  Suggestion suggestion(quantity);
  std::string list;
  for (const Word& word : words) {
    suggestion.offer(word.name);
    if (list.find(word.name) == std::string::npos)
      list += fmt::format("{}{}", list.empty() ? "" : ", ", word.name);
  }
  return fmt::format("{} cannot be probed ({} can){}", quoted(quantity), list, suggestion.text());
}

void read_text_probe(Reader& reader, const Node& node, const Path& path) {
  Probe probe;
  probe.name = node.text;
  const std::size_t dot = node.text.rfind('.');
  if (dot == std::string_view::npos || dot == 0)
    return reader.error(
        node, path,
        fmt::format("expected thing.quantity, as in finger.tip.position, got {}", quoted(node.text)));
  const std::string_view subject = node.text.substr(0, dot), quantity = node.text.substr(dot + 1);
  if (subject == "energy" && !reader.find_body("energy")) {
    Suggestion suggestion(quantity);
    for (const auto& [name, q] : energies) {
      suggestion.offer(name);
      if (quantity != name) continue;
      probe.quantity = q;
      reader.parts.probes.push_back(std::move(probe));
      return;
    }
    return reader.error(node, path,
                        fmt::format("energy is kinetic, gravity, elastic or total, not {}{}",
                                    quoted(quantity), suggestion.text()));
  }
  if (subject == "contact" && !reader.find_body("contact") &&
      (quantity == "count" || quantity == "overlap")) {
    probe.quantity = quantity == "count" ? Quantity::contact_count : Quantity::overlap;
    reader.parts.probes.push_back(std::move(probe));
    return;
  }
  bool known = false;
  std::string note, suggestion;
  int hits = 0;
  for (const Word& word : words) {
    if (quantity != word.name) continue;
    known = true;
    Probe candidate = probe;
    std::string why;
    if (resolve(reader, word, subject, candidate, why)) {
      if (++hits == 1) reader.parts.probes.push_back(std::move(candidate));
      continue;
    }
    if (!why.empty()) note = why;
    if (suggestion.empty())
      suggestion = word.of == Of::place   ? reader.suggest_body(subject)
                   : word.of == Of::joint ? reader.suggest_joint(subject)
                   : word.of == Of::rider ? reader.suggest_rider(subject)
                                          : reader.suggest_spring(subject);
  }
  if (hits > 1)
    return reader.error(
        node, path,
        fmt::format("several things are called {0}; write {{name: …, quantity: …, joint: {0}}} or on: {0}",
                    subject));
  if (hits == 1) return;
  if (!known) return reader.error(node, path, unknown_quantity(quantity));
  if (note.empty())
    note =
        fmt::format("nothing called {} has {} {}{}", quoted(subject),
                    quantity == "angle" || quantity == "angular_velocity" ? "an" : "a", quantity, suggestion);
  reader.error(node, path, note);
}

void read_probe_object(Reader& reader, const Node& node, const Path& path) {
  const Fields fields(reader, node, ObjectType::probe, path, node.mark);
  Probe probe;
  probe.name = fields.text("name");
  probe.quantity = static_cast<Quantity>(fields.choice("quantity", static_cast<int>(Quantity::total_energy)));
  const Of kind = of(probe.quantity);
  const char* wanted = kind == Of::place    ? "on"
                       : kind == Of::joint  ? "joint"
                       : kind == Of::spring ? "spring"
                       : kind == Of::rider  ? "rider"
                                            : "";
  for (const char* key : {"on", "joint", "spring", "rider"}) {
    if (fields.has(key) && std::string_view(key) != wanted)
      return fields.error(key, "does not fit the quantity");
  }
  if (*wanted && !fields.has(wanted))
    return reader.error(fields.mark(), path, fmt::format("this quantity needs the key \"{}\"", wanted));
  if (kind == Of::place) {
    const auto at = fields.place("on");
    if (!at) return;
    probe.at = *at;
  } else if (kind == Of::joint) {
    const Node& name = fields.node("joint");
    if (!name.is_scalar() || !resolve_joint(reader, name.text, probe)) {
      const auto id = reader.joint(name, fields.path("joint"));  // says what is wrong
      if (!id) return;
      probe.joint = *id;
    }
  } else if (kind == Of::spring) {
    const Node& name = fields.node("spring");
    const auto found = reader.spring_names.find(name.text);
    if (!name.is_scalar() || found == reader.spring_names.end())
      return fields.error("spring", fmt::format("there is no spring {}{}", quoted(name.text),
                                                reader.suggest_spring(name.text)));
    probe.spring = SpringId{found->second};
  } else if (kind == Of::rider) {
    const Node& name = fields.node("rider");
    const auto found = reader.rider_names.find(name.text);
    if (!name.is_scalar() || found == reader.rider_names.end())
      return fields.error(
          "rider", fmt::format("there is no rider {}{}", quoted(name.text), reader.suggest_rider(name.text)));
    probe.rider = RiderId{found->second};
  }
  reader.parts.probes.push_back(std::move(probe));
}

}  // namespace

void read_probes(const Fields& scene) {
  if (!scene.has("probes")) return;
  Reader& reader = scene.reader;
  const Node& list = scene.node("probes");
  const Path path = scene.path("probes");
  if (!list.is_sequence())
    return scene.error("probes", fmt::format("expected a list, got {}", describe(list)));
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const Path at{&path, {}, static_cast<int>(i)};
    const Node& item = *list.items[i];
    const std::size_t before = reader.parts.probes.size();
    if (item.is_scalar())
      read_text_probe(reader, item, at);
    else
      read_probe_object(reader, item, at);
    if (reader.parts.probes.size() > before)
      reader.remember("probe", reader.parts.probes.back().name, item, item.mark, at);
  }
}

}  // namespace limber::scene
