// Probes: "finger.tip.position", "knee.angle", "knee.reaction.force", "energy.total", or spelled out as a
// mapping.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "limber/scene/fields.h"
#include "limber/scene/suggest.h"

namespace limber::scene {

namespace {

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

// The number of what has this name, −1: nothing has.
template <class T>
int index_of(const std::vector<T>& list, std::string_view name) {
  const auto found = std::ranges::find(list, name, &T::name);
  return found == list.end() ? -1 : static_cast<int>(found - list.begin());
}

bool resolve_tie(const Reader& reader, std::string_view name, Probe& probe) {
  probe.tie = TieId{index_of(reader.parts.ties, name)};
  return probe.tie.valid();
}

bool resolve_beam(const Reader& reader, std::string_view name, Probe& probe) {
  const auto found = reader.beam_names.find(name);
  if (found != reader.beam_names.end()) probe.beam = BeamId{found->second};
  return probe.beam.valid();
}

// Point loads are counted first, then those along beams.
bool resolve_load(const Reader& reader, std::string_view name, Probe& probe) {
  const int points = static_cast<int>(reader.parts.point_loads.size());
  const int along = index_of(reader.parts.distributed_loads, name);
  probe.load = LoadId{along >= 0 ? points + along : index_of(reader.parts.point_loads, name)};
  return probe.load.valid();
}

bool resolve_coupling(const Reader& reader, std::string_view name, Probe& probe) {
  probe.coupling = CouplingId{index_of(reader.parts.couplings, name)};
  return probe.coupling.valid();
}

// "rope", or "rope.2": behind guide 2.
bool resolve_cable(const Reader& reader, std::string_view name, Probe& probe) {
  probe.cable = CableId{index_of(reader.parts.cables, name)};
  if (probe.cable.valid()) return true;
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot + 1 == name.size() || name.size() - dot > 6) return false;
  int guide = 0;
  for (const char c : name.substr(dot + 1)) {
    if (c < '0' || c > '9') return false;
    guide = 10 * guide + (c - '0');
  }
  probe.cable = CableId{index_of(reader.parts.cables, name.substr(0, dot))};
  if (!probe.cable.valid() || guide >= static_cast<int>(reader.parts.cables[probe.cable.value].route.size()))
    return false;
  probe.guide = guide;
  return true;
}

// What is held by a joint, a tie, or at a beam's root: one of them alone.
bool resolve_support(const Reader& reader, std::string_view name, Probe& probe, std::string& note) {
  const int found = int(resolve_joint(reader, name, probe)) + int(resolve_tie(reader, name, probe)) +
                    int(resolve_beam(reader, name, probe));
  if (found > 1)
    note = fmt::format(
        "several things are called {0}; write {{name: …, quantity: …, joint: {0}}}, tie: {0} or "
        "beam: {0}",
        name);
  return found == 1;
}

// A body or a beam.
std::optional<Surface> find_touching(const Reader& reader, std::string_view name) {
  if (const auto beam = reader.beam_names.find(name); beam != reader.beam_names.end())
    return Surface{.beam = BeamId{beam->second}};
  if (const auto body = reader.find_body(name)) return Surface{.body = *body};
  return {};
}

// "box", "finger" (a beam), "box.floor", "box.world": what touches, and by what.
bool resolve_touch(const Reader& reader, std::string_view subject, Probe& probe, std::string& note) {
  int hits = 0;
  const auto take = [&](const Surface& who, std::optional<Surface> by) {
    if (++hits > 1) note = "several readings: write {name: …, quantity: …, on: …, against: …}";
    probe.at = {}, probe.at.body = who.body, probe.touching = who.beam, probe.against = by;
  };
  if (const auto who = find_touching(reader, subject)) take(*who, {});
  for (std::size_t dot = subject.find('.'); dot != std::string_view::npos; dot = subject.find('.', dot + 1)) {
    const auto who = find_touching(reader, subject.substr(0, dot));
    const std::string_view other = subject.substr(dot + 1);
    const auto by = other == "world" ? Surface{} : find_touching(reader, other);
    if (who && by) take(*who, by);
  }
  return hits == 1;
}

// Fills the probe if `subject` names something that has this quantity.
bool resolve(const Reader& reader, const QuantityInfo& row, std::string_view subject, Probe& probe,
             std::string& note) {
  probe.quantity = row.quantity;
  switch (subject_of(row.told)) {
    case Subject::place: {
      if (row.told == Told::touch) return resolve_touch(reader, subject, probe, note);
      const auto at = reader.find_place(subject, note);
      if (at) probe.at = *at;
      if (row.told == Told::momentum) return at && at->body.valid() && at->p.isZero(0);
      if (!is_of_section(row.told)) return at.has_value();
      note.clear();
      return at && at->beam.valid();
    }
    case Subject::joint:
      return resolve_joint(reader, subject, probe);
    case Subject::support:
      return resolve_support(reader, subject, probe, note);
    case Subject::load:
      return resolve_load(reader, subject, probe);
    case Subject::coupling:
      return resolve_coupling(reader, subject, probe);
    case Subject::cable: {
      if (!resolve_cable(reader, subject, probe)) return false;
      const bool of_guide = row.quantity == Quantity::cable_wrap || row.quantity == Quantity::cable_slip;
      return of_guide ? probe.guide >= 0 : row.quantity == Quantity::cable_tension || probe.guide < 0;
    }
    case Subject::rider: {
      const auto found = reader.rider_names.find(subject);
      if (found != reader.rider_names.end()) probe.rider = RiderId{found->second};
      return found != reader.rider_names.end();
    }
    case Subject::spring: {
      const auto found = reader.spring_names.find(subject);
      if (found != reader.spring_names.end()) probe.spring = SpringId{found->second};
      return found != reader.spring_names.end();
    }
    case Subject::whole:
      break;
  }
  return false;
}

std::string suggestion_for(const Reader& reader, Subject subject, std::string_view name) {
  switch (subject) {
    case Subject::place:
      return reader.suggest_body(name);
    case Subject::joint:
    case Subject::support:
      return reader.suggest_joint(name);
    case Subject::rider:
      return reader.suggest_rider(name);
    case Subject::spring:
      return reader.suggest_spring(name);
    case Subject::load:
    case Subject::coupling:
    case Subject::cable:
    case Subject::whole:
      break;
  }
  return "";
}

// All words of the quantities that things have, each once.
std::vector<std::string_view> words_of_things() {
  std::vector<std::string_view> out;
  for (const QuantityInfo& row : quantity_table) {
    if (subject_of(row.told) == Subject::whole) continue;
    std::string_view words = row.words;
    while (!words.empty()) {
      const std::size_t end = std::min(words.find(' '), words.size());
      if (std::ranges::find(out, words.substr(0, end)) == out.end()) out.push_back(words.substr(0, end));
      words.remove_prefix(std::min(end + 1, words.size()));
    }
  }
  return out;
}

std::string unknown_quantity(std::string_view quantity) {
  Suggestion suggestion(quantity);
  std::string list;
  for (const std::string_view word : words_of_things()) {
    suggestion.offer(word);
    list += fmt::format("{}{}", list.empty() ? "" : ", ", word);
  }
  return fmt::format("{} cannot be probed ({} can){}", quoted(quantity), list, suggestion.text());
}

// "energy.total", "contact.count": of nothing in particular, unless a body has that name.
bool read_probe_of_whole(Reader& reader, const Node& node, const Path& path, std::string_view subject,
                         std::string_view quantity) {
  if (reader.find_body(subject)) return false;
  Suggestion suggestion(quantity);
  std::string list;
  for (const QuantityInfo& row : quantity_table) {
    const std::string_view text = row.words;
    if (subject_of(row.told) != Subject::whole || text.substr(0, text.find('.')) != subject) continue;
    if (text == node.text) {
      Probe probe;
      probe.name = node.text;
      probe.quantity = row.quantity;
      reader.parts.probes.push_back(std::move(probe));
      return true;
    }
    const std::string_view word = text.substr(text.find('.') + 1);
    suggestion.offer(word);
    list += fmt::format("{}{}", list.empty() ? "" : ", ", word);
  }
  const auto things = words_of_things();
  if (list.empty() || std::ranges::find(things, quantity) != things.end()) return false;
  reader.error(node, path,
               fmt::format("{} has {}, not {}{}", subject, list, quoted(quantity), suggestion.text()));
  return true;
}

void read_text_probe(Reader& reader, const Node& node, const Path& path) {
  Probe probe;
  probe.name = node.text;
  const std::size_t dot = node.text.rfind('.');
  if (dot == std::string_view::npos || dot == 0)
    return reader.error(
        node, path,
        fmt::format("expected thing.quantity, as in finger.tip.position, got {}", quoted(node.text)));
  std::string_view subject = node.text.substr(0, dot), quantity = node.text.substr(dot + 1);
  if (read_probe_of_whole(reader, node, path, subject, quantity)) return;
  bool known = false;
  std::string note, suggestion;
  int hits = 0;
  for (const QuantityInfo& row : quantity_table) {
    const std::string_view word = word_at_end(row, node.text);
    if (subject_of(row.told) == Subject::whole || word.empty()) continue;
    const std::string_view thing = node.text.substr(0, node.text.size() - word.size() - 1);
    if (word.size() > quantity.size()) quantity = word, subject = thing, suggestion.clear();
    known = true;
    Probe candidate = probe;
    std::string why;
    if (resolve(reader, row, thing, candidate, why)) {
      if (++hits == 1) reader.parts.probes.push_back(std::move(candidate));
      continue;
    }
    if (!why.empty()) note = why;
    if (suggestion.empty()) suggestion = suggestion_for(reader, subject_of(row.told), thing);
  }
  if (hits > 1)
    return reader.error(
        node, path,
        fmt::format("several things are called {0}; write {{name: …, quantity: …, joint: {0}}} or on: {0}",
                    subject));
  if (hits == 1) return;
  if (!known) return reader.error(node, path, unknown_quantity(quantity));
  if (note.empty())
    note = fmt::format("nothing called {} has {} {}{}", quoted(subject),
                       quantity.starts_with('a') ? "an" : "a", quantity, suggestion);
  reader.error(node, path, note);
}

// Of a mapping: who touches, and by what.
bool read_touch(const Fields& fields, Probe& probe) {
  const auto named = [&](const char* key, bool world_too) -> std::optional<Surface> {
    const Node& node = fields.node(key);
    if (node.is_scalar() && world_too && node.text == "world") return Surface{};
    if (node.is_scalar())
      if (const auto found = find_touching(fields.reader, node.text)) return found;
    fields.error(key, fmt::format("there is no body or beam {}{}",
                                  node.is_scalar() ? quoted(node.text) : describe(node),
                                  fields.reader.suggest_body(node.text)));
    return {};
  };
  const auto who = named("on", false);
  if (fields.has("against")) probe.against = named("against", true);
  if (!who || (fields.has("against") && !probe.against)) return false;
  probe.at.body = who->body, probe.touching = who->beam;
  return true;
}

void read_probe_object(Reader& reader, const Node& node, const Path& path) {
  const Fields fields(reader, node, ObjectType::probe, path, node.mark);
  Probe probe;
  probe.name = fields.text("name");
  // Its choices are the names of the table's rows, in their order.
  const int number = fields.choice("quantity", -1);
  if (number < 0) return;
  const QuantityInfo& row = quantity_table[number];
  probe.quantity = row.quantity;
  const Subject subject = subject_of(row.told);
  const std::string wanted = fmt::format(" {} ", keys_of(subject));
  int given = 0;
  for (const char* key : {"on", "joint", "tie", "beam", "spring", "rider", "load", "coupling", "cable"}) {
    if (!fields.has(key)) continue;
    if (wanted.find(fmt::format(" {} ", key)) == std::string::npos)
      return fields.error(key, "does not fit the quantity");
    ++given;
  }
  if (subject != Subject::whole && given == 0)
    return reader.error(fields.mark(), path,
                        subject == Subject::support
                            ? "this quantity needs one of the keys \"joint\", \"tie\" and \"beam\""
                            : fmt::format("this quantity needs the key \"{}\"", keys_of(subject)));
  if (fields.has("guide") && subject != Subject::cable)
    return fields.error("guide", "does not fit the quantity");
  if (fields.has("against") && row.told != Told::touch)
    return fields.error("against", "does not fit the quantity");
  if (subject == Subject::cable) {
    const Node& name = fields.node("cable");
    if (!name.is_scalar() || !resolve_cable(reader, name.text, probe) || probe.guide >= 0)
      return fields.error("cable", fmt::format("there is no cable {}", quoted(name.text)));
    probe.guide = fields.integer("guide", -1);
    const int guides = static_cast<int>(reader.parts.cables[probe.cable.value].route.size());
    if (fields.has("guide") && (probe.guide < 0 || probe.guide >= guides))
      return fields.error("guide", fmt::format("the cable has guides 0 … {}", guides - 1));
    const bool of_guide = row.quantity == Quantity::cable_wrap || row.quantity == Quantity::cable_slip;
    if (of_guide && probe.guide < 0) return reader.error(fields.mark(), path, "say at which guide");
    if (!of_guide && row.quantity != Quantity::cable_tension && probe.guide >= 0)
      return fields.error("guide", "does not fit the quantity");
  } else if (row.told == Told::touch) {
    if (!read_touch(fields, probe)) return;
  } else if (subject == Subject::place) {
    const auto at = fields.place("on");
    if (!at) return;
    probe.at = *at;
  } else if (fields.has("tie") || fields.has("beam") || fields.has("load") || fields.has("coupling")) {
    const char* key = fields.has("tie")    ? "tie"
                      : fields.has("beam") ? "beam"
                      : fields.has("load") ? "load"
                                           : "coupling";
    const Node& name = fields.node(key);
    const bool found = name.is_scalar() && (*key == 't'   ? resolve_tie(reader, name.text, probe)
                                            : *key == 'b' ? resolve_beam(reader, name.text, probe)
                                            : *key == 'l' ? resolve_load(reader, name.text, probe)
                                                          : resolve_coupling(reader, name.text, probe));
    if (!found) return fields.error(key, fmt::format("there is no {} {}", key, quoted(name.text)));
  } else if (subject == Subject::joint || subject == Subject::support) {
    const Node& name = fields.node("joint");
    if (!name.is_scalar() || !resolve_joint(reader, name.text, probe)) {
      const auto id = reader.joint(name, fields.path("joint"));  // says what is wrong
      if (!id) return;
      probe.joint = *id;
    }
  } else if (subject == Subject::spring) {
    const Node& name = fields.node("spring");
    const auto found = reader.spring_names.find(name.text);
    if (!name.is_scalar() || found == reader.spring_names.end())
      return fields.error("spring", fmt::format("there is no spring {}{}", quoted(name.text),
                                                reader.suggest_spring(name.text)));
    probe.spring = SpringId{found->second};
  } else if (subject == Subject::rider) {
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

void add_probe(Reader& reader, const Node& text, const Path& path) { read_text_probe(reader, text, path); }

void read_probes(const Fields& scene) {
  if (!scene.has("probes")) return;
  Reader& reader = scene.reader;
  const Node& list = scene.node("probes");
  const Path path = scene.path("probes");
  if (!list.is_sequence())
    return scene.error("probes", fmt::format("expected a list, got {}", describe(list)));
  std::unordered_map<std::string, int> lines;  // of the names so far
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const Path at{&path, {}, static_cast<int>(i)};
    const Node& item = *list.items[i];
    const std::size_t before = reader.parts.probes.size();
    if (item.is_scalar())
      read_text_probe(reader, item, at);
    else
      read_probe_object(reader, item, at);
    if (reader.parts.probes.size() == before) continue;
    const std::string& name = reader.parts.probes.back().name;
    if (const auto [first, fresh] = lines.emplace(name, item.mark.line); !fresh)
      reader.error(
          item, at,
          fmt::format("{} is probed already, on line {}", quoted(std::string_view(name)), first->second));
    reader.remember("probe", name, item, item.mark, at);
  }
}

}  // namespace limber::scene
