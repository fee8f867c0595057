// Couplings of joints: gears, belts, racks, differentials and their like, all read into one sum.
#include <fmt/format.h>

#include "limber/scene/fields.h"

namespace limber::scene {
namespace {

constexpr const char* kinds[] = {"gear", "mimic", "belt", "rack", "differential", "cam"};

// "slider.1": joint and coordinate; a name alone: its only coordinate, −1 if it has several.
struct Coordinate {
  JointId joint;
  int dof = 0;
};

std::optional<Coordinate> find_coordinate(const Reader& reader, std::string_view name) {
  if (const auto id = reader.find_joint(name))
    return Coordinate{*id, dof_count(reader.parts.joints[id->value].kind) == 1 ? 0 : -1};
  if (name.size() < 3 || name[name.size() - 2] != '.' || name.back() < '0' || name.back() > '9')
    return std::nullopt;
  const auto id = reader.find_joint(name.substr(0, name.size() - 2));
  if (!id) return std::nullopt;
  return Coordinate{*id, name.back() - '0'};
}

class CouplingReader {
 public:
  CouplingReader(const Fields& fields, Coupling& out) : fields_(fields), reader_(fields.reader), out_(out) {}

  void read() {
    for (const char* kind : kinds)
      if (fields_.has(kind)) read_kind(kind);
    if (fields_.has("sum")) read_sum();
    refuse_strangers();
    if (out_.terms.empty()) return;
    if (fields_.has("cam") && out_.terms.size() == 2) read_profile();
    const Joint& j = reader_.parts.joints[out_.terms.front().joint.value];
    const bool turns = is_rotational(j.kind, out_.terms.front().dof);
    out_.offset = measured("offset", dof_dimension(Role::coordinate, turns), Range::any);
    out_.stiffness = measured("stiffness", dof_dimension(Role::stiffness, turns), Range::positive);
    out_.damping = measured("damping", dof_dimension(Role::damping, turns), Range::non_negative).value_or(0);
    out_.backlash =
        measured("backlash", dof_dimension(Role::coordinate, turns), Range::non_negative).value_or(0);
  }

 private:
  std::optional<double> measured(const char* key, const Dimension& d, Range range) {
    if (!fields_.has(key)) return std::nullopt;
    return reader_.quantity(fields_.node(key), fields_.path(key), d, range);
  }

  bool add(const Node& node, const Path& path, double factor) {
    if (!node.is_scalar()) {
      reader_.error(node, path, fmt::format("expected the name of a joint, got {}", describe(node)));
      return false;
    }
    const auto found = find_coordinate(reader_, node.text);
    if (!found) {
      for (const Loop& loop : reader_.parts.loops)
        if (loop.name == node.text) {
          reader_.error(
              node, path,
              fmt::format("joint {} closes a loop; a coupling needs one of the tree", quoted(node.text)));
          return false;
        }
      reader_.error(
          node, path,
          fmt::format("there is no joint {}{}", quoted(node.text), reader_.suggest_joint(node.text)));
      return false;
    }
    if (found->dof < 0) {
      const Joint& j = reader_.parts.joints[found->joint.value];
      reader_.error(
          node, path,
          dof_count(j.kind) == 0
              ? fmt::format("joint {} does not move", quoted(node.text))
              : fmt::format("joint {} has {} coordinates: say which, {}.0 … {}.{}", quoted(node.text),
                            dof_count(j.kind), node.text, node.text, dof_count(j.kind) - 1));
      return false;
    }
    out_.terms.push_back({found->joint, found->dof, factor});
    return true;
  }

  // Factors of the named coordinates, as listed.
  std::vector<double> factors_of(std::string_view kind) {
    if (kind == "gear" || kind == "mimic") {
      if (kind == "gear" && !fields_.has("ratio")) fields_.error("gear", "needs a ratio: b = ratio · a");
      const double ratio = fields_.quantity("ratio", 1);
      if (ratio == 0) fields_.error("ratio", "must not be zero");
      return {-ratio, 1};
    }
    if (kind == "rack") {
      if (!fields_.has("radius")) fields_.error("rack", "needs the radius of its pinion");
      const double radius = fields_.quantity("radius", 1);
      if (radius == 0) fields_.error("radius", "must not be zero");
      return {-radius, 1};
    }
    if (kind == "belt") {
      const auto radii = fields_.numbers("radii");
      if (!fields_.has("radii")) fields_.error("belt", "needs the radii of its two wheels");
      if (!radii) return {-1, 1};
      return {(fields_.boolean("crossed") ? 1 : -1) * (*radii)[0] / (*radii)[1], 1};
    }
    if (kind == "cam") {
      if (!fields_.has("profile"))
        fields_.error("cam", "needs a profile: follower = profile(x) at x of the cam");
      return {-1, 1};
    }
    return {-2, 1, 1};  // differential
  }

  // By x of the cam, in what its follower is measured in.
  void read_profile() {
    if (!fields_.has("profile")) return;
    const auto dimension_of = [&](const Coupling::Term& t) {
      return dof_dimension(Role::coordinate, is_rotational(reader_.parts.joints[t.joint.value].kind, t.dof));
    };
    const std::size_t before = reader_.diagnostics.size();
    out_.profile = reader_.law(fields_.node("profile"), fields_.path("profile"), dimension_of(out_.terms[0]),
                               {"x", dimension_of(out_.terms[1])});
    const bool by_x = out_.profile && (out_.profile.is_table() || out_.profile.program().depends_on(0));
    if (!by_x && reader_.diagnostics.size() == before)
      fields_.error("profile", "expected a law of x, the cam's coordinate: a constant moves nothing");
  }

  void read_kind(const char* kind) {
    const Node& list = fields_.node(kind);
    const std::vector<double> factors = factors_of(kind);
    if (!list.is_sequence() || list.items.size() != factors.size()) {
      fields_.error(kind, fmt::format("expected a list of {} joints", factors.size()));
      return;
    }
    // The last one first: it says what the gap is measured in.
    const Path path = fields_.path(kind);
    for (std::size_t i = factors.size(); i-- > 0;)
      add(*list.items[i], {&path, {}, static_cast<int>(i)}, factors[i]);
  }

  void read_sum() {
    const Node& map = fields_.node("sum");
    const Path path = fields_.path("sum");
    if (!map.is_map() || map.entries.size() < 2) {
      fields_.error("sum", "expected a mapping of two joints or more to their factors");
      return;
    }
    for (const Entry& e : map.entries) {
      const Path at{&path, e.key->text};
      const auto factor = reader_.quantity(*e.value, at, dimension::number);
      if (factor && *factor == 0) reader_.error(*e.value, at, "must not be zero");
      add(*e.key, at, factor.value_or(1));
    }
  }

  // Keys of another kind of coupling.
  void refuse_strangers() {
    const auto only_with = [&](const char* key, std::initializer_list<const char*> wanted) {
      if (!fields_.has(key)) return;
      for (const char* kind : wanted)
        if (fields_.has(kind)) return;
      fields_.error(key, fmt::format("goes with {} only", fmt::join(wanted, " and ")));
    };
    only_with("ratio", {"gear", "mimic"});
    only_with("radii", {"belt"});
    only_with("crossed", {"belt"});
    only_with("radius", {"rack"});
    only_with("profile", {"cam"});
  }

  const Fields& fields_;
  Reader& reader_;
  Coupling& out_;
};

}  // namespace

void read_couplings(const Fields& scene) {
  Reader& reader = scene.reader;
  for_each_entry(scene, "couplings", ObjectType::coupling, [&](const Fields& fields, std::string_view name) {
    if (!reader.claim_entities(1, fields.mark(), fields.path())) return;
    Coupling coupling;
    coupling.name = name;
    reader.remember("coupling", name, fields.self(), fields.mark(), fields.path());
    const std::size_t before = reader.diagnostics.size();
    CouplingReader(fields, coupling).read();
    if (reader.diagnostics.size() == before) reader.parts.couplings.push_back(std::move(coupling));
  });
}

// Called before it is known which joints make the tree: whatever stands where a joint may.
std::vector<std::string> coupled_joints(const Fields& scene) {
  std::vector<std::string> out;
  const auto take = [&](const Node& node) {
    if (!node.is_scalar()) return;
    const std::string text(node.text);
    out.push_back(text);
    if (text.size() > 2 && text[text.size() - 2] == '.') out.push_back(text.substr(0, text.size() - 2));
  };
  if (!scene.has("couplings") || !scene.node("couplings").is_map()) return out;
  for (const Entry& entry : scene.node("couplings").entries) {
    if (!entry.value->is_map()) continue;
    for (const char* kind : kinds)
      if (const Entry* e = entry.value->find(kind); e && e->value->is_sequence())
        for (const Node* item : e->value->items) take(*item);
    if (const Entry* e = entry.value->find("sum"); e && e->value->is_map())
      for (const Entry& term : e->value->entries) take(*term.key);
  }
  return out;
}

}  // namespace limber::scene
