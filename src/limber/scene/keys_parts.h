// The pieces from which the table of keys is put together. Internal to keys_table*.cpp.
#pragma once

#include "limber/scene/keys.h"

namespace limber::scene::keys {

using namespace dimension;

inline Key quantity(const char* name, const Dimension& d, const char* doc) {
  return {name, Type::quantity, doc, d};
}
inline Key integer(const char* name, const char* doc) { return {name, Type::integer, doc}; }
inline Key boolean(const char* name, const char* doc) {
  return Key{name, Type::boolean, doc}.otherwise("false");
}
inline Key text(const char* name, const char* doc) { return {name, Type::text, doc}; }
inline Key place(const char* name, const char* doc) { return {name, Type::place, doc}; }
inline Key axis(const char* name, const char* doc) { return {name, Type::axis, doc}; }
inline Key vector(const char* name, const Dimension& d, const char* doc) {
  return {name, Type::vector, doc, d};
}
inline Key vector_function(const char* name, const Dimension& d, const char* doc) {
  return {name, Type::vector_function, doc, d};
}
inline Key choice(const char* name, std::string choices, std::string doc) {
  Key key{name, Type::choice, std::move(doc)};
  key.choices = std::move(choices);
  return key;
}
inline Key refer(const char* name, const char* kind, const char* doc) {
  Key key{name, Type::name, doc};
  key.refers = kind;
  return key;
}
inline Key names(const char* name, const char* kind, const char* doc) {
  Key key{name, Type::names, doc};
  key.refers = kind;
  return key;
}
inline Key values(const char* name, Role role, const char* doc) {
  Key key{name, Type::values, doc};
  key.role = role;
  return key;
}
inline Key functions(const char* name, Role role, const char* doc) {
  Key key{name, Type::functions, doc};
  key.role = role;
  return key;
}
inline Key law(const char* name, const char* doc) { return {name, Type::law, doc, force}; }
inline Key laws(const char* name, const char* doc) {
  Key key{name, Type::laws, doc};
  key.role = Role::force;
  return key;
}
inline Key matrix(const char* name, const Dimension& d, const char* doc) {
  return {name, Type::matrix, doc, d};
}
inline Key object(const char* name, ObjectType type, const char* doc) {
  Key key{name, Type::object, doc};
  key.object = type;
  return key;
}
inline Key object_map(const char* name, ObjectType type, const char* doc) {
  Key key{name, Type::object_map, doc};
  key.object = type;
  return key;
}
inline Key object_list(const char* name, ObjectType type, const char* doc) {
  Key key{name, Type::object_list, doc};
  key.object = type;
  return key;
}

// Of a file with rows of numbers.
inline Key file_columns(const char* example) {
  return names("columns", "", "of the file, by the names in its first line")
      .otherwise("all of them, in their order")
      .like(example);
}
inline Key file_units(const char* example) {
  return names("units", "", "of these columns").otherwise("as the names say, or SI").like(example);
}

inline std::vector<Key> join(std::initializer_list<std::vector<Key>> lists) {
  std::vector<Key> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

inline constexpr const char* joint_types =
    "fixed revolute prismatic universal planar spherical free cylindrical screw point_on_line point_on_plane "
    "constant_velocity distance";
inline constexpr const char* link_types = "revolute universal spherical fixed prismatic";

inline std::vector<Key> law_keys() {
  return {
      values("stiffness", Role::stiffness, "spring on the coordinates")
          .with(Range::non_negative)
          .otherwise("0")
          .like("2 N*m/rad"),
      values("damping", Role::damping, "damping of the coordinates")
          .with(Range::non_negative)
          .otherwise("0")
          .like("0.1 N*m*s/rad"),
      values("rest", Role::coordinate, "where the spring is at ease").otherwise("0").like("10 deg"),
      Key{"limits", Type::joint_limits,
          "stops: `x` for ±x, `[lower, upper]`, or a list of them, one a coordinate; for the rotation of "
          "spherical, free, point_on_line and point_on_plane "
          "joints one angle"}
          .like("[-30 deg, 90 deg]"),
      quantity("restitution", number, "speed after a hit on a stop over the speed before")
          .with(Range::fraction)
          .otherwise("0"),
      laws("spring_force",
           "force against the coordinate by `x`, its way from `rest`; `stiffness: 100` says the same as "
           "`spring_force: 100*x`; see [A law by points](#a-law-by-points)")
          .like("100*x + 2e4*x^3"),
      laws("damping_force",
           "force against the rate by the rate `v`, 0 where that is 0; `damping: 2` says the same as "
           "`damping_force: 2*v`")
          .like("2*v + 5*v*abs(v)"),
      values("preload", Role::force, "force of the spring on the coordinate at `rest`")
          .otherwise("0")
          .like("3 N*m"),
      values("stop_stiffness", Role::stiffness, "of stops that give, beyond the limits; 0: they are rigid")
          .with(Range::non_negative)
          .otherwise("0")
          .like("2 kN*m/rad"),
      values("stop_damping", Role::damping, "of stops that give; they push and never pull")
          .with(Range::non_negative)
          .otherwise("0"),
      object("friction", ObjectType::friction,
             "dry friction against the rate: a level for all coordinates, one for each, or {static, dynamic, "
             "velocity}")
          .like("0.4 N*m"),
  };
}

inline std::vector<Key> start_keys() {
  return {
      values("position", Role::coordinate, "coordinates at t = 0; 0 is the pose as written")
          .otherwise("0")
          .like("30 deg"),
      values("velocity", Role::rate, "rates at t = 0").otherwise("0").like("1 rad/s"),
  };
}

inline std::vector<Key> mass_keys() {
  return {
      quantity("density", density, "of the shapes")
          .with(Range::positive)
          .otherwise("1000 kg/m3")
          .like("1240 kg/m3"),
      quantity("mass", mass, "instead of a density").with(Range::non_negative).like("2 kg"),
      refer("material", "material", "gives the density").like("steel"),
  };
}

inline std::vector<Key> look_keys() {
  return {
      Key{"color", Type::color, "to draw it: \"#rrggbb\" or [r, g, b] within 0 … 1"}.like("\"#c04020\""),
      quantity("linear_drag", damping, "force against the velocity of the centre of mass")
          .with(Range::non_negative)
          .otherwise("0"),
      quantity("angular_drag", torsional_damping, "torque against the angular velocity")
          .with(Range::non_negative)
          .otherwise("0"),
  };
}

inline std::vector<Key> geometry_keys() {
  return {
      vector("box", length, "full sides along x, y, z").with(Range::positive).like("[40 mm, 40 mm, 10 mm]"),
      object("sphere", ObjectType::sphere, "a radius, or {radius: …}").like("5 cm"),
      object("cylinder", ObjectType::rod, "about z, or between two points")
          .like("{radius: 1 cm, length: 30 cm}"),
      object("capsule", ObjectType::rod, "a cylinder with round ends beyond its length")
          .like("{radius: 1 cm, from: [0, 0, 0], to: [0, 0, 30 cm]}"),
      object("hull", ObjectType::hull, "the convex hull of points"),
      object("mesh", ObjectType::mesh, "a surface of triangles").like("{file: rock.obj, scale: 1 mm}"),
      object("height_field", ObjectType::height_field, "ground, of a body that is `fixed`"),
  };
}
// Of the keys above, one at most (or exactly one).
inline OneOf one_geometry(bool required) {
  return {{"box", "sphere", "cylinder", "capsule", "hull", "mesh", "height_field"}, required};
}
inline OneOf one_geometry_or_shapes() {
  OneOf group = one_geometry(false);
  group.keys.push_back("shapes");
  return group;
}

inline std::vector<Key> pose_keys(const char* at, const char* rotate) {
  return {
      vector("at", length, at).otherwise("[0, 0, 0]").like("[0, 0, 1 m]"),
      Key{"rotate", Type::rotation, rotate}.otherwise("[0, 0, 0]").like("[0, 30 deg, 0]"),
  };
}

inline std::vector<Key> frame_keys(const char* first, const char* second) {
  return {
      object(first, ObjectType::frame, "the joint's frame in that body, instead of `at` and `axis`"),
      object(second, ObjectType::frame, "the joint's frame in the other body"),
  };
}

inline std::vector<Key> joint_place_keys() {
  return {
      Key{"at", Type::place, "where, in world coordinates with the bodies as written, or a body's point"}
          .otherwise("the origin of the child")
          .like("[0, 0, 1 m]"),
      axis("axis",
           "in world axes: turning axis of revolute, cylindrical and screw, direction of prismatic and "
           "point_on_line, normal of planar and point_on_plane, shaft of constant_velocity, first axis of "
           "universal")
          .otherwise("[0, 0, 1]; universal: [1, 0, 0]"),
      axis("axis2", "universal: the second axis, perpendicular to the first").otherwise("[0, 1, 0]"),
      quantity("pitch", length, "screw: how far it goes along its axis in a full turn; negative: left-handed")
          .like("5 mm"),
      quantity("length", length, "distance: of the rod between the two frames' origins")
          .with(Range::positive)
          .otherwise("what it is at t = 0"),
  };
}

inline std::vector<Key> link_keys() {
  return join({{
                   choice("joint", link_types, "the joint at the start of every link"),
                   axis("axis",
                        "of revolute and prismatic joints, first axis of universal ones; see `direction` for "
                        "the axes"),
               },
               law_keys(),
               start_keys(),
               mass_keys(),
               look_keys()});
}

inline std::vector<Key> root_keys() {
  return {
      place("from", "what it hangs on; the coordinates below are in that body's axes").otherwise("world"),
      vector("start", length, "where it begins, from the place `from`").otherwise("[0, 0, 0]"),
  };
}

// The table's other half (keys_table_structures.cpp).
std::vector<Object> short_form_objects();
std::vector<Object> beam_objects();
std::vector<Object> load_objects();
std::vector<Object> cable_objects();
// keys_table_threads.cpp
std::vector<Key> thread_beam_keys();
std::vector<Object> thread_objects();
// keys_table_controls.cpp
std::vector<Object> control_objects();
// keys_table_run.cpp
std::vector<Object> run_objects();

}  // namespace limber::scene::keys
