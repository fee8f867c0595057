// Every key of a scene.
#include "limber/scene/keys.h"

namespace limber::scene {

namespace {

using namespace dimension;

Key quantity(const char* name, const Dimension& d, const char* doc) { return {name, Type::quantity, doc, d}; }
Key integer(const char* name, const char* doc) { return {name, Type::integer, doc}; }
Key boolean(const char* name, const char* doc) { return Key{name, Type::boolean, doc}.otherwise("false"); }
Key text(const char* name, const char* doc) { return {name, Type::text, doc}; }
Key place(const char* name, const char* doc) { return {name, Type::place, doc}; }
Key axis(const char* name, const char* doc) { return {name, Type::axis, doc}; }
Key vector(const char* name, const Dimension& d, const char* doc) { return {name, Type::vector, doc, d}; }
Key vector_function(const char* name, const Dimension& d, const char* doc) {
  return {name, Type::vector_function, doc, d};
}
Key choice(const char* name, const char* choices, const char* doc) {
  Key key{name, Type::choice, doc};
  key.choices = choices;
  return key;
}
Key refer(const char* name, const char* kind, const char* doc) {
  Key key{name, Type::name, doc};
  key.refers = kind;
  return key;
}
Key values(const char* name, Role role, const char* doc) {
  Key key{name, Type::values, doc};
  key.role = role;
  return key;
}
Key functions(const char* name, Role role, const char* doc) {
  Key key{name, Type::functions, doc};
  key.role = role;
  return key;
}
Key object(const char* name, ObjectType type, const char* doc) {
  Key key{name, Type::object, doc};
  key.object = type;
  return key;
}
Key object_map(const char* name, ObjectType type, const char* doc) {
  Key key{name, Type::object_map, doc};
  key.object = type;
  return key;
}
Key object_list(const char* name, ObjectType type, const char* doc) {
  Key key{name, Type::object_list, doc};
  key.object = type;
  return key;
}

std::vector<Key> join(std::initializer_list<std::vector<Key>> lists) {
  std::vector<Key> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

constexpr const char* joint_types = "fixed revolute prismatic universal planar spherical free";
constexpr const char* link_types = "revolute universal spherical fixed prismatic";

std::vector<Key> law_keys() {
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
          "spherical and free "
          "joints one angle"}
          .like("[-30 deg, 90 deg]"),
      quantity("restitution", number, "speed after a hit on a stop over the speed before")
          .with(Range::fraction)
          .otherwise("0"),
  };
}

std::vector<Key> start_keys() {
  return {
      values("position", Role::coordinate, "coordinates at t = 0; 0 is the pose as written")
          .otherwise("0")
          .like("30 deg"),
      values("velocity", Role::rate, "rates at t = 0").otherwise("0").like("1 rad/s"),
  };
}

std::vector<Key> mass_keys() {
  return {
      quantity("density", density, "of the shapes")
          .with(Range::positive)
          .otherwise("1000 kg/m3")
          .like("1240 kg/m3"),
      quantity("mass", mass, "instead of a density").with(Range::positive).like("2 kg"),
      refer("material", "material", "gives the density").like("steel"),
  };
}

std::vector<Key> look_keys() {
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

std::vector<Key> geometry_keys() {
  return {
      vector("box", length, "full sides along x, y, z").with(Range::positive).like("[40 mm, 40 mm, 10 mm]"),
      object("sphere", ObjectType::sphere, "a radius, or {radius: …}").like("5 cm"),
      object("cylinder", ObjectType::rod, "about z, or between two points")
          .like("{radius: 1 cm, length: 30 cm}"),
      object("capsule", ObjectType::rod, "a cylinder with round ends beyond its length")
          .like("{radius: 1 cm, from: [0, 0, 0], to: [0, 0, 30 cm]}"),
  };
}

std::vector<Key> pose_keys(const char* at, const char* rotate) {
  return {
      vector("at", length, at).otherwise("[0, 0, 0]").like("[0, 0, 1 m]"),
      Key{"rotate", Type::rotation, rotate}.otherwise("[0, 0, 0]").like("[0, 30 deg, 0]"),
  };
}

std::vector<Key> frame_keys(const char* first, const char* second) {
  return {
      object(first, ObjectType::frame, "the joint's frame in that body, instead of `at` and `axis`"),
      object(second, ObjectType::frame, "the joint's frame in the other body"),
  };
}

std::vector<Key> joint_place_keys() {
  return {
      Key{"at", Type::place, "where, in world coordinates with the bodies as written, or a body's point"}
          .otherwise("the origin of the child")
          .like("[0, 0, 1 m]"),
      axis("axis",
           "in world axes: turning axis of revolute, direction of prismatic, normal of planar, first axis of "
           "universal")
          .otherwise("[0, 0, 1]; universal: [1, 0, 0]"),
      axis("axis2", "universal: the second axis, perpendicular to the first").otherwise("[0, 1, 0]"),
  };
}

std::vector<Key> link_keys() {
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

std::vector<Key> root_keys() {
  return {
      place("from", "what it hangs on; the coordinates below are in that body's axes").otherwise("world"),
      vector("start", length, "where it begins, from the place `from`").otherwise("[0, 0, 0]"),
  };
}

Object scene_object() {
  using T = ObjectType;
  return {T::scene,
          "scene",
          "A scene",
          "The file is a mapping with these keys. Only `limber` is required.",
          {
              integer("limber", "version of the scene language").needed().like("1"),
              text("title", "one line").like("A finger"),
              text("description", "more lines"),
              Key{"parameters", Type::parameters, "named numbers for expressions, set by `--set name=value`"}
                  .like("{span: 2 m, links: 12}"),
              vector_function("gravity", acceleration, "acceleration of free fall")
                  .otherwise("[0, 0, -9.81 m/s2]"),
              object_map("materials", T::material, "what beams and bodies are made of"),
              object_map("sections", T::section, "cross-sections of beams"),
              object_map("bodies", T::body, "rigid bodies"),
              object_map("joints", T::joint, "joints between bodies, one for each body that does not float"),
              object_map("chains", T::chain, "short form: links in a row"),
              object_map("trees", T::tree, "short form: branches on branches"),
              object_map("ladders", T::ladder, "short form: two rails and rungs between them"),
              object_map("helices", T::helix, "short form: links in a row along a helix"),
              object_map("beams", T::beam, "elastic beams"),
              object_map("springs", T::spring, "straight springs and cables"),
              object_map("loops", T::loop, "joints that close loops"),
              object_map("loads", T::load, "forces and moments"),
              object("wind", T::wind, "air that moves"),
              object_list("drives", T::joint_drive, "motors of joints that are named elsewhere"),
              object_list("motions", T::joint_motion, "given motions of joints that are named elsewhere"),
              Key{"probes", Type::probes, "what to write down at every frame"}.like(
                  "[finger.tip.position, energy.total]"),
              object("run", T::run, "how to run it; the command line overrides"),
          },
          {},
          "",
          "limber: 1\n"
          "title: A double pendulum\n"
          "parameters: {span: 2 m, links: 2}\n"
          "chains:\n"
          "  arm: {links: =links, length: span/links, radius: 2 cm, direction: [0, 0, -1], axis: [0, 1, 0], "
          "position: 1 rad}\n"
          "probes: [arm.tip.position, energy.total]\n"
          "run: {time: 5 s, step: 5 ms}\n"};
}

std::vector<Object> material_objects() {
  using T = ObjectType;
  return {
      {T::material,
       "material",
       "A material",
       "",
       {
           quantity("E", pressure, "Young's modulus").needed().with(Range::positive).like("200 GPa"),
           quantity("nu", number, "Poisson's ratio, between -1 and 0.5").otherwise("0.3"),
           quantity("G", pressure, "shear modulus").with(Range::positive).otherwise("E / (2 (1 + nu))"),
           quantity("density", density, "").needed().with(Range::positive).like("7850 kg/m3"),
           quantity("yield", pressure, "yield stress").with(Range::positive).otherwise("inf").like("250 MPa"),
       },
       {},
       "",
       "materials:\n  pla: {E: 3.2 GPa, nu: 0.35, density: 1240 kg/m3, yield: 55 MPa}\n"},
      {T::section,
       "section",
       "A cross-section",
       "Exactly one of these. A section lies in the beam's y and z axes; x runs along the beam.",
       {
           object("circle", T::circle, "a radius, or {radius: …}"),
           object("tube", T::tube, "a round tube"),
           object("rectangle", T::rectangle, ""),
           object("ellipse", T::ellipse, ""),
           object("polygon", T::polygon, ""),
       },
       {{{"circle", "tube", "rectangle", "ellipse", "polygon"}, true}},
       "",
       "sections:\n  flexure: {rectangle: {width: 12 mm, height: 1.2 mm}}\n"},
      {T::circle,
       "circle",
       "circle",
       "",
       {quantity("radius", length, "").needed().with(Range::positive)},
       {},
       "radius",
       ""},
      {T::tube,
       "tube",
       "tube",
       "",
       {quantity("outer", length, "outer radius").needed().with(Range::positive),
        quantity("inner", length, "inner radius, less than the outer").needed().with(Range::non_negative)},
       {},
       "",
       ""},
      {T::rectangle,
       "rectangle",
       "rectangle",
       "",
       {quantity("width", length, "along y").needed().with(Range::positive),
        quantity("height", length, "along z").needed().with(Range::positive)},
       {},
       "",
       ""},
      {T::ellipse,
       "ellipse",
       "ellipse",
       "",
       {quantity("a", length, "half axis along y").needed().with(Range::positive),
        quantity("b", length, "half axis along z").needed().with(Range::positive)},
       {},
       "",
       ""},
      {T::polygon,
       "polygon",
       "polygon",
       "",
       {[] {
          Key key{"outline", Type::vectors, "corners [y, z] in order, the first not repeated", length};
          key.count = 2;
          return key.needed();
        }(),
        Key{"holes", Type::outlines, "a list of outlines", length}},
       {},
       "",
       ""},
  };
}

std::vector<Object> body_objects() {
  using T = ObjectType;
  return {
      {T::body,
       "body",
       "A body",
       "A rigid body: shapes, a mass, named points. Without a joint it floats freely.",
       join({geometry_keys(),
             {
                 object_list("shapes", T::shape, "several shapes, each with its place in the body"),
             },
             mass_keys(),
             {
                 vector("com", length, "centre of mass in the body; with `mass` and `inertia`")
                     .otherwise("[0, 0, 0]"),
                 Key{"inertia", Type::inertia,
                     "about the centre of mass, in the body's axes: [xx, yy, zz] or [xx, yy, zz, xy, xz, yz]",
                     inertia},
             },
             pose_keys("the body's origin in the world",
                       "turns the body: rotation vector, {axis, angle} or a 3x3 matrix"),
             {
                 boolean("fixed", "does not move"),
                 vector("velocity", velocity,
                        "of the centre of mass at t = 0, in world axes; only without a joint")
                     .otherwise("[0, 0, 0]"),
                 vector("angular_velocity", angular_velocity, "at t = 0, in world axes; only without a joint")
                     .otherwise("[0, 0, 0]"),
                 Key{"points", Type::vector_map, "named points in the body, for `body.point`", length}.like(
                     "{tip: [0, 0, 30 cm]}"),
             },
             look_keys()}),
       {{{"box", "sphere", "cylinder", "capsule", "shapes"}, false},
        {{"density", "mass", "material"}, false}},
       "",
       "bodies:\n"
       "  palm: {box: [40 mm, 40 mm, 10 mm], density: 1240 kg/m3, fixed: true, points: {left: [-15 mm, 0, 5 "
       "mm]}}\n"
       "  ball: {sphere: 5 cm, mass: 1 kg, at: [0, 0, 2 m], velocity: [1 m/s, 0, 0]}\n"},
      {T::shape,
       "shape",
       "A shape",
       "",
       join({geometry_keys(), pose_keys("its centre in the body", "turns the shape in the body")}),
       {{{"box", "sphere", "cylinder", "capsule"}, true}},
       "",
       ""},
      {T::sphere,
       "sphere",
       "sphere",
       "",
       {quantity("radius", length, "").needed().with(Range::positive)},
       {},
       "radius",
       ""},
      {T::rod,
       "rod",
       "cylinder, capsule",
       "A radius, and either `length` (about z, centred) or both `from` and `to`.",
       {quantity("radius", length, "").needed().with(Range::positive),
        quantity("length", length, "").with(Range::positive), vector("from", length, "one end"),
        vector("to", length, "the other end")},
       {{{"length", "from"}, true}, {{"length", "to"}, true}},
       "",
       ""},
      {T::turn,
       "turn",
       "rotation",
       "A rotation given by axis and angle.",
       {axis("axis", "").needed(), quantity("angle", angle, "").needed()},
       {},
       "",
       ""},
  };
}

std::vector<Object> joint_objects() {
  using T = ObjectType;
  return {
      {T::joint,
       "joint",
       "A joint",
       "Hangs `child` on `parent`. With all coordinates at 0 the bodies stand as they are written.",
       join({{
                 choice("type", joint_types, "").needed(),
                 refer("parent", "body", "a body or world").otherwise("world"),
                 refer("child", "body", "the body that hangs on it").needed(),
             },
             joint_place_keys(),
             frame_keys("parent_frame", "child_frame"),
             law_keys(),
             start_keys(),
             {
                 object("drive", T::drive, "a motor: {force: …} or {servo: …}"),
                 functions("motion", Role::coordinate, "the coordinates follow these functions of time"),
             }}),
       {},
       "",
       "joints:\n"
       "  knee: {type: revolute, parent: thigh, child: shin, at: [0, 0, 0.5 m], axis: [0, 1, 0], limits: [0, "
       "140 deg],\n"
       "         stiffness: 20 N*m/rad, damping: 0.5 N*m*s/rad}\n"},
      {T::frame,
       "frame",
       "A frame",
       "",
       pose_keys("its origin in the body",
                 "its axes in the body: z is the axis of revolute, prismatic and planar joints, x and y "
                 "those of universal ones"),
       {},
       "",
       ""},
      {T::drive,
       "drive",
       "A drive",
       "",
       {functions("force", Role::force, "a force or torque on the coordinates"),
        object("servo", T::servo, "pulls the coordinates to a target")},
       {{{"force", "servo"}, true}},
       "",
       ""},
      {T::servo,
       "servo",
       "A servo",
       "force = kp (target - q) + kd (target rate - q rate), cut at ± max_force.",
       {functions("target", Role::coordinate, "wanted coordinates").needed(),
        values("kp", Role::stiffness, "").with(Range::non_negative).needed(),
        values("kd", Role::damping, "").with(Range::non_negative).otherwise("0"),
        values("max_force", Role::force, "").with(Range::positive).otherwise("inf")},
       {},
       "",
       ""},
      {T::joint_drive,
       "joint_drive",
       "An entry of drives",
       "",
       {refer("joint", "joint", "").needed(),
        functions("force", Role::force, "a force or torque on the coordinates"),
        object("servo", T::servo, "pulls the coordinates to a target")},
       {{{"force", "servo"}, true}},
       "",
       "drives:\n  - {joint: arm.0.joint, force: 2 N*m * sin(2*pi*t)}\n"},
      {T::joint_motion,
       "joint_motion",
       "An entry of motions",
       "",
       {refer("joint", "joint", "").needed(),
        functions("position", Role::coordinate, "the coordinates as functions of time").needed()},
       {},
       "",
       "motions:\n  - {joint: arm.0.joint, position: 20 deg * sin(2*pi*t)}\n"},
      {T::loop,
       "loop",
       "A loop",
       "A joint between two bodies that hang on the tree already.",
       join({{
                 choice("type", joint_types, "").needed(),
                 refer("a", "body", "a body or world").needed(),
                 refer("b", "body", "a body or world").needed(),
             },
             joint_place_keys(),
             frame_keys("a_frame", "b_frame"),
             law_keys()}),
       {},
       "",
       "loops:\n  closure: {type: revolute, a: coupler, b: rocker, at: [1 m, 0, 0.4 m], axis: [0, 1, 0]}\n"},
  };
}

std::vector<Object> short_form_objects() {
  using T = ObjectType;
  return {
      {T::chain,
       "chain",
       "A chain",
       "Links in a row: bodies `arm.0`, `arm.1`, …, joints `arm.0.joint`, …; `arm.first` and `arm.last` are "
       "links, `arm.base` and "
       "`arm.tip` the two ends, and every link has its end as the point `tip`. A link's frame sits at its "
       "joint, with "
       "the axes of `from`.",
       join({root_keys(),
             {
                 axis("direction", "of the links, in the axes of `from`").otherwise("[0, 0, -1]"),
                 integer("links", "how many").needed().with(Range::at_least_one),
                 quantity("length", length, "of one link").needed().with(Range::positive).like("span/links"),
                 quantity("radius", length, "links are capsules of this radius")
                     .with(Range::positive)
                     .otherwise("length/20"),
                 Key{"box", Type::vector, "links are boxes of this width and thickness instead", length,
                     Range::positive, Role::none, ObjectType::none, 2},
                 boolean("alternate", "every second joint's axis is turned by 90 degrees about `direction`"),
             },
             link_keys()}),
       {{{"radius", "box"}, false}, {{"density", "mass", "material"}, false}},
       "",
       "chains:\n  arm: {links: 12, length: 10 cm, radius: 1 cm, joint: revolute, axis: [0, 1, 0], "
       "stiffness: 2 N*m/rad}\n"},
      {T::tree,
       "tree",
       "A tree",
       "Branches on branches: bodies `oak.0` (the trunk), `oak.1`, … level by level, joints `oak.0.joint`, "
       "…; the last level is "
       "also `oak.leaf.0`, …. Each branch has z along it and its end as the point `tip`.",
       join({root_keys(),
             {
                 axis("direction", "of the trunk").otherwise("[0, 0, 1]"),
                 integer("levels", "").needed().with(Range::at_least_one),
                 integer("branches", "on each branch").with(Range::at_least_one).otherwise("2"),
                 quantity("length", length, "of the trunk").needed().with(Range::positive),
                 quantity("radius", length, "of the trunk").with(Range::positive).otherwise("length/20"),
                 quantity("length_ratio", number, "length from level to level")
                     .with(Range::positive)
                     .otherwise("0.75"),
                 quantity("radius_ratio", number, "radius from level to level")
                     .with(Range::positive)
                     .otherwise("0.7"),
                 quantity("stiffness_ratio", number, "stiffness and damping from level to level")
                     .with(Range::positive)
                     .otherwise("radius_ratio^4 / length_ratio, as for a bent beam"),
                 quantity("angle", angle, "between a branch and its parent").otherwise("30 deg"),
                 quantity("twist", angle, "turns the branches from level to level").otherwise("90 deg"),
                 boolean("fixed_trunk", "welds the trunk to `from`"),
             },
             link_keys()}),
       {{{"density", "mass", "material"}, false}},
       "",
       "trees:\n  oak: {levels: 5, length: 1 m, radius: 5 cm, angle: 30 deg, density: 700 kg/m3, stiffness: "
       "900 N*m/rad}\n"},
      {T::ladder,
       "ladder",
       "A ladder",
       "Two rails, chains `rope.left` and `rope.right` with a link a rung, and rungs `rope.rung.0`, …: each "
       "hangs on the left rail by "
       "`rope.rung.0.joint` and closes the loop `rope.rung.0.loop` with the right one.",
       join({root_keys(),
             {
                 axis("direction", "of the rails").otherwise("[0, 0, -1]"),
                 axis("across", "from the left rail to the right one, perpendicular to `direction`")
                     .otherwise("[1, 0, 0]"),
                 integer("rungs", "").needed().with(Range::at_least_one),
                 quantity("spacing", length, "between rungs").needed().with(Range::positive),
                 quantity("width", length, "between the rails").needed().with(Range::positive),
                 quantity("radius", length, "of rails and rungs")
                     .with(Range::positive)
                     .otherwise("spacing/20"),
             },
             link_keys()}),
       {{{"density", "mass", "material"}, false}},
       "",
       "ladders:\n  rope: {rungs: 6, spacing: 30 cm, width: 40 cm, radius: 1 cm}\n"},
      {T::helix,
       "helix",
       "A helix of links",
       "A chain whose joints lie on a helix; names as for a chain. A link's frame sits at its joint, z along "
       "the link. "
       "(An elastic helix is a beam with a helix for its path.)",
       join({root_keys(),
             {
                 axis("direction", "of the helix' axis").otherwise("[0, 0, 1]"),
                 integer("links", "how many").needed().with(Range::at_least_one),
                 quantity("coil", length, "radius of the helix").needed().with(Range::positive),
                 quantity("pitch", length, "rise in one turn").needed(),
                 quantity("turns", number, "negative: left-handed").needed(),
                 quantity("radius", length, "of the links")
                     .with(Range::positive)
                     .otherwise("a tenth of a link"),
             },
             link_keys()}),
       {{{"density", "mass", "material"}, false}},
       "",
       "helices:\n  coil: {links: 60, coil: 10 cm, pitch: 4 cm, turns: 5, radius: 4 mm, stiffness: 0.5 "
       "N*m/rad}\n"},
  };
}

std::vector<Object> beam_objects() {
  using T = ObjectType;
  return {
      {T::beam,
       "beam",
       "A beam",
       "A slender elastic beam, clamped at its root. Its ends are `finger.root` and `finger.tip`, a place "
       "between `finger@0.5`.",
       {
           place("from", "where the root is clamped; the path is given from there").otherwise("world"),
           Key{"path", Type::polyline, "a list of points, {arc: …} or {helix: …}"}.needed().like(
               "[[0, 0, 0], [0, 0, 80 mm]]"),
           refer("material", "material", "").needed(),
           refer("section", "section", "").needed(),
           axis("up", "the section's z axis at the root, made perpendicular to the path")
               .otherwise("[0, 0, 1]; [1, 0, 0] if the path begins along z"),
           integer("elements", "").with(Range::at_least_one).otherwise("10"),
           choice("recipe", "consistent_3r consistent_1r published_3r published_1r",
                  "how an element becomes links and joints")
               .otherwise("consistent_3r"),
           quantity("damping", time, "moment a rate of moment: stiffness-proportional")
               .with(Range::non_negative)
               .otherwise("0"),
       },
       {},
       "",
       "beams:\n  finger: {from: palm, path: [[0, 0, 0], [0, 0, 80 mm]], up: [1, 0, 0], material: pla, "
       "section: flexure, elements: 12}\n"},
      {T::arc,
       "arc",
       "arc",
       "A path along a circle.",
       {vector("start", length, "").otherwise("[0, 0, 0]"),
        axis("direction", "at the start").otherwise("[1, 0, 0]"),
        axis("towards", "where it bends to").otherwise("[0, 0, 1]"),
        quantity("radius", length, "").needed().with(Range::positive),
        quantity("angle", angle, "").needed().with(Range::positive)},
       {},
       "",
       ""},
      {T::helix_path,
       "helix_path",
       "helix (path)",
       "A path along a helix.",
       {vector("center", length, "").otherwise("[0, 0, 0]"), axis("axis", "").otherwise("[0, 0, 1]"),
        axis("start_direction", "from the axis to the first point").otherwise("[1, 0, 0]"),
        quantity("radius", length, "").needed().with(Range::positive),
        quantity("pitch", length, "rise in one turn").needed(),
        quantity("turns", number, "negative: left-handed").needed()},
       {},
       "",
       ""},
  };
}

std::vector<Object> load_objects() {
  using T = ObjectType;
  return {
      {T::spring,
       "spring",
       "A spring",
       "Straight, between two places.",
       {Key{"between", Type::places, "its two ends"}.needed().like("[palm.left, finger.tip]"),
        quantity("stiffness", stiffness, "").needed().with(Range::non_negative).like("4 kN/m"),
        quantity("damping", damping, "").with(Range::non_negative).otherwise("0"),
        quantity("rest_length", length, "").with(Range::non_negative).otherwise("the distance at t = 0"),
        boolean("tension_only", "a cable: no force when it is shorter than its rest length")},
       {},
       "",
       "springs:\n  tendon: {between: [palm.left, finger.tip], stiffness: 4 kN/m, tension_only: true}\n"},
      {T::load,
       "load",
       "A load",
       "At a place (`on`, with `force` and `moment`) or along a beam (`along`, with `force_per_length`).",
       {place("on", "where it acts"),
        vector_function("force", force, "").otherwise("[0, 0, 0]").like("[=pull, 0, 0]"),
        vector_function("moment", torque, "").otherwise("[0, 0, 0]"),
        refer("along", "beam", "a beam that it is spread over"),
        vector_function("force_per_length", force_per_length, ""),
        Key{"between", Type::vector, "fractions of the beam's length where it begins and ends", number,
            Range::fraction, Role::none, ObjectType::none, 2}
            .otherwise("[0, 1]"),
        boolean("follows", "components in the axes of the body or beam instead of the world's"),
        quantity("ramp", time, "grows from nothing during this time").with(Range::positive)},
       {{{"on", "along"}, true}},
       "",
       "loads:\n  pull: {on: finger.tip, force: [20 N, 0, 0], ramp: 1 s}\n"
       "  snow: {along: roof, force_per_length: [0, 0, -500 N/m]}\n"},
      {T::wind,
       "wind",
       "Wind",
       "Drag on every body with a shape: F = ½ ρ C A |u| u with the relative velocity u.",
       {vector_function("velocity", velocity, "of the air").needed().like("[8 m/s, 0, 0]"),
        quantity("air_density", density, "").with(Range::non_negative).otherwise("1.225 kg/m3"),
        quantity("drag_coefficient", number, "").with(Range::non_negative).otherwise("1"),
        quantity("ramp", time, "grows from nothing during this time").with(Range::positive)},
       {},
       "",
       ""},
      {T::function_table,
       "function_table",
       "A function of time by points",
       "Straight lines between points; held before the first and after the last, unless periodic. A file has "
       "a row a line, numbers "
       "in SI separated by commas or blanks, `#` for comments, and lies in the scene's folder.",
       {Key{"table", Type::vectors, "rows [time, value], or [time, x, y, z] for a vector"}.like(
            "[[0 s, 0], [1 s, 20 N]]"),
        text("file", "a CSV file with such rows").like("gust.csv"), boolean("periodic", "repeats")},
       {{{"table", "file"}, true}},
       "",
       ""},
      {T::place,
       "place",
       "A place",
       "`world`, `body`, `body.point`, `beam.root`, `beam.tip`, `beam@0.5`, or a mapping with an offset.",
       {text("on", "one of the above").needed(),
        vector("at", length, "offset in the axes of the body").otherwise("[0, 0, 0]")},
       {},
       "",
       ""},
      {T::probe,
       "probe",
       "A probe",
       "A text like `finger.tip.position` (`position`, `velocity`, `rotation`, `angular_velocity` of a "
       "place; `angle` or `position`, "
       "`velocity`, `force` of a joint; `length`, `tension` of a spring; `energy.kinetic`, `energy.gravity`, "
       "`energy.elastic`, "
       "`energy.total`), or a mapping that gives it a name.",
       {text("name", "of the column").needed(),
        choice("quantity",
               "position velocity rotation angular_velocity joint_position joint_velocity joint_force "
               "spring_length "
               "spring_tension kinetic_energy gravity_energy elastic_energy total_energy",
               "")
            .needed(),
        place("on", "for quantities of a place"), refer("joint", "joint", "for quantities of a joint"),
        refer("spring", "spring", "for quantities of a spring")},
       {{{"on", "joint", "spring"}, false}},
       "",
       "probes:\n  - finger.tip.position\n  - energy.total\n"
       "  - {name: middle, quantity: position, on: finger@0.5}\n"},
      {T::run,
       "run",
       "How to run it",
       "",
       {choice("method", "articulated", "").otherwise("articulated"),
        quantity("time", time, "to simulate").with(Range::positive).otherwise("5 s"),
        quantity("step", time, "").with(Range::positive).otherwise("10 ms"),
        quantity("frame", time, "between recorded frames").with(Range::positive).otherwise("1/30"),
        choice("integrator", "midpoint euler",
               "midpoint: second order, does not damp; euler: first order, damps")
            .otherwise("midpoint"),
        quantity("tolerance", number, "of midpoint's iteration, relative")
            .with(Range::positive)
            .otherwise("1e-12"),
        integer("max_iterations", "of midpoint; then the step is split")
            .with(Range::at_least_one)
            .otherwise("40"),
        integer("threads", "results do not depend on it").with(Range::at_least_one).otherwise("1")},
       {},
       "",
       "run: {time: 3 s, step: 5 ms, integrator: midpoint}\n"},
  };
}

}  // namespace

const std::vector<Object>& key_table() {
  static const std::vector<Object> table = [] {
    std::vector<Object> all{scene_object()};
    for (const auto& part : {body_objects(), joint_objects(), short_form_objects(), material_objects(),
                             beam_objects(), load_objects()})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }();
  return table;
}

}  // namespace limber::scene
