// One mapping of the scene, read through the table of keys.
#pragma once

#include "limber/scene/reader.h"

namespace limber::scene {

class Fields {
 public:
  // Checks at once: a mapping (or its shorthand), known keys, required keys, groups. `mark` is where the
  // thing is named.
  Fields(Reader& scene_reader, const Node& node, ObjectType type, const Path& path, const Mark& mark);

  bool has(std::string_view name) const { return find(name) != nullptr; }
  const Node& node(std::string_view name) const { return *find(name); }  // must be there
  bool nearly_has(std::string_view name) const;  // an unknown key looks like a slip for this one
  const Node& self() const { return node_; }
  Mark mark(std::string_view name) const;  // of the value, or of the whole
  Path path(std::string_view name) const { return {&path_, name}; }
  const Path& path() const { return path_; }
  const Mark& mark() const { return mark_; }
  void error(std::string_view name, std::string message) const;

  // Values by key, checked against the table; the fallback stands in for a missing or wrong one.
  double quantity(std::string_view name, double fallback) const;
  std::optional<double> quantity(std::string_view name) const;
  int integer(std::string_view name, int fallback) const;
  bool boolean(std::string_view name) const;
  std::string text(std::string_view name) const;
  std::vector<std::string> names(std::string_view name) const;
  int choice(std::string_view name, int fallback) const;  // index into the choices
  Vec3 vector(std::string_view name, const Vec3& fallback = Vec3::Zero()) const;
  std::optional<std::vector<double>> numbers(std::string_view name) const;
  std::optional<Vec3> axis(std::string_view name) const;
  Vec3 axis(std::string_view name, const Vec3& fallback) const { return axis(name).value_or(fallback); }
  Pose pose() const;  // keys at, rotate
  DofArray values(std::string_view name, JointKind kind, double fallback = 0) const;
  std::array<TimeFunction, 6> functions(std::string_view name, JointKind kind) const;
  TimeFunction function(std::string_view name) const;
  Law law(std::string_view name, const Variable& variable) const;
  Mat6 matrix(std::string_view name) const;
  VectorFunction vector_function(std::string_view name, double ramp = 0) const;
  std::optional<Attachment> place(std::string_view name) const;
  void limits(std::string_view name, JointKind kind, JointLaw& law) const;
  JointLaw law(JointKind kind) const;  // stiffness, damping, rest, limits, restitution and extras

  Reader& reader;

 private:
  const Node* find(std::string_view name) const;
  const Key& key(std::string_view name, Type type) const;
  void check_keys();
  void check_groups();
  std::array<Law, 6> laws(std::string_view name, JointKind kind, bool by_rate) const;
  void friction(JointKind kind, JointExtras& out) const;
  std::optional<JointExtras> extras(JointKind kind) const;
  std::optional<std::array<double, 2>> limit_pair(const Node& node, const Path& path,
                                                  const Dimension& d) const;

  const Node& node_;
  const Object& object_;
  Path path_;
  Mark mark_;
  bool shorthand_ = false;
  std::vector<std::string> slips_;  // known keys that unknown ones look like
};

// Calls `each(fields, name)` for every entry of the object map `key` of `scene`.
template <class Function>
void for_each_entry(const Fields& scene, std::string_view key, ObjectType type, Function each) {
  if (!scene.has(key)) return;
  const Node& map = scene.node(key);
  const Path path = scene.path(key);
  if (map.kind == NodeKind::null) return;
  if (!map.is_map()) {
    scene.reader.error(map, path, std::string("expected a mapping of names, got ") + describe(map));
    return;
  }
  for (const Entry& entry : map.entries) {
    const Path at{&path, entry.key->text};
    if (!scene.reader.check_name(*entry.key, at)) continue;
    scene.reader.reading = key;
    const Fields fields(scene.reader, *entry.value, type, at, entry.key->mark);
    each(fields, entry.key->text);
    scene.reader.reading = {};
  }
}

// The same for the object list `key`.
template <class Function>
void for_each_item(const Fields& scene, std::string_view key, ObjectType type, Function each) {
  if (!scene.has(key)) return;
  const Node& list = scene.node(key);
  const Path path = scene.path(key);
  if (list.kind == NodeKind::null) return;
  if (!list.is_sequence()) {
    scene.reader.error(list, path, std::string("expected a list, got ") + describe(list));
    return;
  }
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const Path at{&path, {}, static_cast<int>(i)};
    const Fields fields(scene.reader, *list.items[i], type, at, list.items[i]->mark);
    each(fields);
  }
}

// The parts of a scene, in the order in which they need each other.
void read_materials(const Fields& scene);
void read_sections(const Fields& scene);
void read_contact_surfaces(const Fields& scene);
std::vector<int> surfaces_of(const Fields& thing);  // by its key `surfaces`
void read_bodies(const Fields& scene);
void read_short_forms(const Fields& scene);
void hang_joints_on_beams(const Fields& scene);  // those of read_joints() whose parent is a place on a beam
void read_joints(const Fields& scene);           // and the joints of floating and fixed bodies
// Which of the joints make the tree; the first ones, of short forms, always do. The others become loops.
std::vector<char> choose_tree(const Fields& scene, std::size_t first);
void cut_joints(const Fields& scene, const std::vector<char>& in_tree);
void read_beams(const Fields& scene);
void read_springs(const Fields& scene);
void read_couplings(const Fields& scene);
void read_cables(const Fields& scene);
void read_bushings(const Fields& scene);
// Where a joint or bushing is in the world, from `at`: a point, or a place on a body.
std::optional<Vec3> world_point(const Fields& fields);
std::vector<std::string> coupled_joints(const Fields& scene);  // names in couplings, as written or nearly so
void read_loops(const Fields& scene);
void read_ties(const Fields& scene);
void read_changes(const Fields& scene);
void read_loads(const Fields& scene);  // gravity and wind too
void read_riders(const Fields& scene);
void read_drives(const Fields& scene);
void read_probes(const Fields& scene);
void add_probe(Reader& reader, const Node& text, const Path& path);  // "finger.tip.position"
void read_controls(const Fields& scene);                             // after the probes
void read_run(const Fields& scene);
void read_contact(const Fields& scene);
void read_thread(const Fields& beam, Beam& out);
PolylinePath spline_through(const std::vector<Vec3>& points);

// What short forms share: shape and mass of a link, its joint.
struct LinkStyle {
  JointKind kind = JointKind::spherical;
  JointLaw law;
  DofArray position{}, velocity{};
  std::optional<Color> color;
  double linear_drag = 0, angular_drag = 0;
  std::optional<double> mass;
  double density = 1000;
};
LinkStyle read_link_style(const Fields& fields, JointKind default_kind);
void read_link_matter(const Fields& fields,
                      LinkStyle& style);  // its part without the joint: color, drag, mass
// A body whose shape has the style's mass; `scale` multiplies a given mass.
Body make_link(const LinkStyle& style, std::string name, Shape shape, double scale = 1);
void expand_chain(const Fields& fields, std::string_view name, const Attachment& from);
void expand_helix(const Fields& fields, std::string_view name, const Attachment& from);
void expand_tree(const Fields& fields, std::string_view name, const Attachment& from);
void expand_molecule(const Fields& fields, std::string_view name, const Attachment& from);
void expand_ladder(const Fields& fields, std::string_view name, const Attachment& from);

JointKind joint_kind_of(std::string_view name);
std::optional<double> read_density(const Fields& fields);  // density or material; nullopt: a mass was given
std::optional<Color> read_color(const Fields& fields);
std::vector<Shape> read_shapes(const Fields& fields);
std::optional<ShapeGeometry> read_surface(const Fields& fields);  // hull, mesh or height_field
// F's axes for a joint: z along `axis`; universal: x and y; none of spherical, free, fixed and distance.
Mat3 joint_axes(JointKind kind, const Vec3& axis, const Vec3& axis2);

}  // namespace limber::scene
