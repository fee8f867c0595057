// The one table of keys. Validation, the JSON Schema and the reference page come from it; the reader cannot
// ask for a key that is not in it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "limber/scene/units.h"
#include "limber/sim/range.h"

namespace limber::scene {

enum class Type : unsigned char {
  quantity,         // a number, with a unit or an expression
  integer,          // a whole number, or an expression that gives one
  boolean,          // true or false
  text,             // words
  choice,           // one of `choices`
  name,             // the name of a thing of kind `refers`
  names,            // a list of such names
  place,            // world, body, body.point, beam.tip, beam@0.5, or {on, at}
  places,           // two of them
  vector,           // `count` quantities
  vectors,          // a list of vectors of `count` quantities
  outlines,         // a list of lists of [y, z]
  vector_map,       // named vectors
  axis,             // a direction, three numbers, not all zero
  rotation,         // rotation vector, {axis, angle} or 3x3 matrix
  values,           // a quantity for all coordinates of a joint, or a list with one for each
  joint_limits,     // ±x, [lower, upper], or a list of them
  function,         // a quantity, an expression of t, or {table} or {file}
  law,              // a force by x or v: an expression, or {table} or {file}
  laws,             // a law for the coordinate of a joint, or a list with one for each
  matrix,           // six numbers of a diagonal, or six rows of a symmetric matrix
  functions,        // a function for all coordinates of a joint, or a list
  vector_function,  // a list of three functions, or {table} or {file} with three values a row
  color,            // "#rrggbb" or [r, g, b]
  inertia,          // three or six quantities
  polyline,         // a beam's path: a list of points, {arc: …} or {helix: …}
  parameters,       // named numbers
  probes,           // a list of probes
  repeat,           // indices with their counts
  road,             // the name of a chain, or a list of stretches
  object,           // a mapping described by `object`
  object_map,       // named objects
  object_list,
};

using sim::Range;

// What the numbers of a joint's coordinates measure; the dimension follows from the joint's kind.
enum class Role : unsigned char { none, coordinate, rate, stiffness, damping, force };

enum class ObjectType : unsigned char {
  none,
  scene,
  material,
  section,
  circle,
  tube,
  rectangle,
  ellipse,
  polygon,
  body,
  shape,
  solid,
  point_mass,
  sphere,
  rod,
  hull,
  mesh,
  height_field,
  turn,
  joint,
  frame,
  drive,
  servo,
  joint_drive,
  joint_motion,
  first_joint,
  chain,
  tree,
  ladder,
  helix,
  molecule,
  beam,
  arc,
  helix_path,
  spring,
  coupling,
  cable,
  guide,
  loop,
  tie,
  change,
  aging,
  load,
  rider,
  stretch,
  wind,
  function_table,
  law_table,
  friction,
  bushing,
  place,
  probe,
  clamp,
  rest,
  contact,
  surface,
  surface_pair,
  plane,
  controller,
  event,
  passing,
  release,
  switching,
  run  // and after it the mappings in it, see run_object()
};

struct Key {
  std::string name;
  Type type;
  std::string doc;
  Dimension dimension{};
  Range range = Range::any;
  Role role = Role::none;
  ObjectType object = ObjectType::none;
  int count = 3;
  bool required = false;
  std::string choices{};   // separated by blanks
  std::string refers{};    // "body", "joint", …
  std::string fallback{};  // the default, as text
  std::string example{};

  // Written after one another in the table.
  Key with(const Range& r) const;
  Key needed() const;
  Key otherwise(std::string text) const;
  Key like(const char* text) const;
};

// At most (or exactly) one of these may be given.
struct OneOf {
  std::vector<const char*> keys;
  bool required = false;
};

struct Object {
  ObjectType type;
  std::string name;   // in the schema
  std::string title;  // in the reference
  std::string doc;
  std::vector<Key> keys;
  std::vector<OneOf> groups;
  const char* shorthand = "";  // the key that a bare value stands for
  std::string example{};       // YAML
};

const std::vector<Object>& key_table();
const Object& object_of(ObjectType type);
// Of a mapping of `run`: "" is run itself, "rom.points" the items of run.rom.points.
ObjectType run_object(std::string_view path);
const Key* find_key(const Object& object, std::string_view name);

std::vector<std::string_view> split_choices(const Key& key);

// Dimension of coordinate `dof` for a role, given whether it is an angle.
Dimension dof_dimension(Role role, bool rotational);

}  // namespace limber::scene
