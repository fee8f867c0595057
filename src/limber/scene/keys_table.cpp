// Every key of a scene: the scene itself, materials, sections, bodies and joints.
#include <algorithm>

#include "limber/scene/keys.h"
#include "limber/scene/keys_parts.h"

namespace limber::scene {
namespace keys {
namespace {

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
              object_map("surfaces", T::surface, "how what has them touches"),
              object_map("bodies", T::body, "rigid bodies"),
              object_map("joints", T::joint, "joints between bodies; those beyond a tree close loops"),
              object_map("linkages", T::chain, "short form: links in a row"),
              object_map("trees", T::tree, "short form: branches on branches"),
              object_map("ladders", T::ladder, "short form: two rails and rungs between them"),
              object_map("molecules", T::molecule, "short form: a random tree of links"),
              object_map("helices", T::helix, "short form: links in a row along a helix"),
              object_map("beams", T::beam, "elastic beams"),
              object_map("springs", T::spring, "straight springs and cables"),
              object_map("bushings", T::bushing, "springs and dampers in all six directions"),
              object_map("cables", T::cable, "ropes, tendons and belts over eyelets and pulleys"),
              object_map("couplings", T::coupling,
                         "gears, belts, racks, differentials: joints that move together"),
              object_map("loops", T::loop, "joints that close loops"),
              object_map("ties", T::tie, "places on beams and bodies that are held, or joined to each other"),
              object_map("loads", T::load, "forces and moments"),
              object_map("riders", T::rider, "vehicles that cross a row of bodies"),
              object("wind", T::wind, "air that moves"),
              object("contact", T::contact,
                     "what happens where threads touch; without it they pass through everything"),
              object_list("drives", T::joint_drive, "motors of joints that are named elsewhere"),
              object_list("motions", T::joint_motion, "given motions of joints that are named elsewhere"),
              object_list("changes", T::change, "what changes while it stands under load"),
              Key{"probes", Type::probes, "what to write down at every frame"}.like(
                  "[finger.tip.position, energy.total]"),
              object_map("controllers", T::controller, "forces on joints by what probes read"),
              object_map("events", T::event, "what happens at a time, or when a probe passes a value"),
              object("run", T::run, "how to run it; the command line overrides"),
          },
          {},
          "",
          "limber: 1\n"
          "title: A double pendulum\n"
          "parameters: {span: 2 m, links: 2}\n"
          "linkages:\n"
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
           quantity("strength", pressure, "it breaks beyond this stress")
               .with(Range::positive)
               .otherwise("inf")
               .like("400 MPa"),
           object("creep", T::aging, "the unloaded shape follows the loaded one"),
           object("fatigue", T::aging, "E and G fall under stress"),
       },
       {},
       "",
       "materials:\n  pla: {E: 3.2 GPa, nu: 0.35, density: 1240 kg/m3, yield: 55 MPa}\n"},
      {T::aging,
       "aging",
       "Creep or fatigue",
       "A part of the bend (of E and G) goes every second: rate · (stress / `stress`)^exponent. Quasi-static "
       "histories (`limber static --until`) use it.",
       {
           quantity("rate", rate, "at that stress").needed().with(Range::non_negative).like("1e-6 Hz"),
           quantity("stress", pressure, "").needed().with(Range::positive).like("10 MPa"),
           quantity("exponent", number, "").with(Range::non_negative).otherwise("1"),
       },
       {},
       "",
       "materials:\n  oak: {E: 11 GPa, density: 700 kg/m3, creep: {rate: 1e-7 Hz, stress: 20 MPa, exponent: "
       "3}}\n"},
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
                 object_list("shapes", T::solid, "several shapes, each with its place in the body"),
                 quantity("density", density, "of the shapes that have none of their own")
                     .with(Range::positive)
                     .otherwise("1000 kg/m3")
                     .like("1240 kg/m3"),
                 quantity("mass", mass,
                          "of all shapes, without point masses: gives those without a density of their own "
                          "theirs. Beside a density it counts, and must agree with it within 0.1 %")
                     .with(Range::non_negative)
                     .like("2 kg"),
                 refer("material", "material", "gives the density").like("steel"),
                 object_list("point_masses", T::point_mass, "added to all that is said of the mass above"),
                 vector("com", length, "centre of mass in the body; with `mass` and `inertia`")
                     .otherwise("[0, 0, 0]"),
                 vector("first_moment", first_moment,
                        "mass times centre of mass, instead of `com`; then `inertia` is about the body's "
                        "origin. For numbers to their last bit, as `limber convert` writes them"),
                 Key{"inertia", Type::inertia,
                     "about the centre of mass, in the body's axes: [xx, yy, zz] or [xx, yy, zz, xy, xz, "
                     "yz], the "
                     "entries of the tensor, so that xy is −∫ x y dm",
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
                 quantity("friction", number, "of its surface in contact; two surfaces: root of the product")
                     .with(Range::non_negative)
                     .otherwise("the scene's"),
                 quantity("restitution", number, "of its surface; of two the larger counts")
                     .with(Range::fraction)
                     .otherwise("the scene's"),
                 names("surfaces", "surface", "what it touches with; the first that says something counts")
                     .like("[rubber]"),
                 Key{"collide", Type::boolean, "touches other things"}.otherwise("true"),
             },
             look_keys()}),
       {one_geometry_or_shapes(), {{"density", "material"}, false}, {{"com", "first_moment"}, false}},
       "",
       "bodies:\n"
       "  palm: {box: [40 mm, 40 mm, 10 mm], density: 1240 kg/m3, fixed: true, points: {left: [-15 mm, 0, 5 "
       "mm]}}\n"
       "  ball: {sphere: 5 cm, mass: 1 kg, at: [0, 0, 2 m], velocity: [1 m/s, 0, 0]}\n"
       "  hammer: {shapes: [{cylinder: {radius: 1 cm, length: 30 cm}, density: 700 kg/m3},\n"
       "                    {box: [9 cm, 3 cm, 3 cm], at: [0, 0, 15 cm], density: 7850 kg/m3}],\n"
       "           point_masses: [{name: tag, mass: 5 g, at: [0, 0, -15 cm]}]}\n"},
      {T::shape,
       "shape",
       "A shape",
       "",
       join({geometry_keys(), pose_keys("its centre in the body", "turns the shape in the body")}),
       {one_geometry(true)},
       "",
       ""},
      {T::solid,
       "solid",
       "A shape of a body",
       "A shape with a density, a material or a mass of its own, or with the body's density.",
       join({geometry_keys(),
             pose_keys("its centre in the body", "turns the shape in the body"),
             {quantity("density", density, "of this shape")
                  .with(Range::positive)
                  .otherwise("the body's")
                  .like("7850 kg/m3"),
              quantity("mass", mass, "of this shape").with(Range::non_negative).like("0.2 kg"),
              refer("material", "material", "gives this shape's density").like("steel"),
              boolean("hole",
                      "is taken out of the others' mass: it lies within them, has the density of what "
                      "it is cut from, and is neither drawn nor touched")}}),
       {one_geometry(true), {{"density", "mass", "material"}, false}, {{"mass", "hole"}, false}},
       "",
       "bodies:\n  pulley: {density: 2700 kg/m3, shapes: [{cylinder: {radius: 5 cm, length: 2 cm}},\n"
       "                                             {cylinder: {radius: 1 cm, length: 2 cm}, hole: "
       "true}]}\n"},
      {T::point_mass,
       "point_mass",
       "A point mass",
       "A mass without size. A body may have nothing else: three that are not on a line make it turn as a "
       "body.",
       {text("name", "for a reader"), quantity("mass", mass, "").needed().with(Range::positive).like("50 g"),
        vector("at", length, "in the body").otherwise("[0, 0, 0]").like("[0, 0, 30 cm]")},
       {},
       "",
       "bodies:\n  bob: {point_masses: [{mass: 1 kg, at: [0, 0, -1 m]}]}\n"},
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
      {T::hull,
       "hull",
       "hull",
       "At most 256 points, not all in a plane.",
       {Key{"points", Type::vectors, "those inside do not matter", length}.needed().like(
           "[[0, 0, 0], [1 cm, 0, 0], [0, 1 cm, 0], [0, 0, 1 cm]]")},
       {},
       "",
       "bodies:\n  wedge: {hull: {points: [[0, 0, 0], [4 cm, 0, 0], [0, 2 cm, 0], [0, 0, 3 cm]]}, density: "
       "900 "
       "kg/m3}\n"},
      {T::mesh,
       "mesh",
       "mesh",
       "Either `vertices` and `triangles`, or a `file` in the scene's folder: Wavefront OBJ, of which `v` "
       "and `f` "
       "count. Seen from outside, the corners of a triangle run counter-clockwise. A body that moves and "
       "takes its "
       "mass from the mesh needs it closed. At most 20000 triangles.",
       {Key{"vertices", Type::vectors, "corners", length},
        Key{"triangles", Type::vectors,
            "three numbers of vertices "
            "each, from 0"},
        text("file", "path of an OBJ file in the scene's folder").like("rock.obj"),
        quantity("scale", length, "length of one unit of the file").with(Range::positive).otherwise("1 m")},
       {{{"vertices", "file"}, true}, {{"triangles", "file"}, true}},
       "",
       "bodies:\n  tent: {mass: 1 kg, mesh: {vertices: [[0, 0, 0], [1 m, 0, 0], [0, 1 m, 0], [0, 0, 1 m]],\n"
       "         triangles: [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]}}\n"},
      {T::height_field,
       "height_field",
       "height field",
       "Heights over a grid centred on the body's origin; all below is solid. Either `rows` of heights, or "
       "`height` as "
       "an expression of `x` and `y` in metres, on a grid of `cells`. At most 250 by 250 heights.",
       {[] {
          Key key = vector("size", length, "along x and y").with(Range::positive).needed().like("[4 m, 2 m]");
          key.count = 2;
          return key;
        }(),
        Key{"rows", Type::vectors, "rows along x, one after the other along y", length},
        text("height", "expression of x and y").like("0.1 * sin(3 * x) * cos(2 * y)"),
        [] {
          Key key = vector("cells", number, "with `height`: along x and y")
                        .with(Range::at_least_one)
                        .otherwise("[32, 32]");
          key.count = 2;
          return key;
        }()},
       {{{"rows", "height"}, true}, {{"rows", "cells"}, false}},
       "",
       "bodies:\n  ground: {fixed: true, height_field: {size: [4 m, 4 m], height: 0.05 * sin(6 * x), cells: "
       "[40, "
       "20]}}\n"},
      {T::turn,
       "turn",
       "rotation",
       "How something stands, against what it stands in: a body in the world, a shape or a frame in its "
       "body. A list of three "
       "is a rotation vector: its direction is the axis, in the axes of what it stands in, its length the "
       "angle, right-handed; "
       "the three are one turn about one axis, not three turns in some order. `{axis, angle}` says the same. "
       "A 3x3 matrix, row by "
       "row, has the turned axes as its columns. All are active: a point p of the body is at `at` + R p. The "
       "probe `rotation` is "
       "the rotation vector of a body or of a section of a beam in the world, of an angle up to 180 deg.",
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
       "Hangs `child` on `parent`. With all coordinates at 0 the bodies stand as they are written. A body "
       "may "
       "be the child of several joints, and joints may make rings: a tree is found among them in which those "
       "that are driven, moved, limited or sprung come first, and the others close its loops. A `distance` "
       "is "
       "a massless rod between the origins of its frames (without them: of the bodies) and always closes a "
       "loop.",
       join(
           {{
                choice("type", joint_types,
                       "coordinates: revolute and screw: angle; prismatic: shift; cylindrical: angle, shift; "
                       "universal: two angles; planar: two shifts, angle; spherical: rotation vector; "
                       "constant_velocity: rotation vector across the shaft, two components; point_on_line: "
                       "rotation vector, shift; point_on_plane: rotation vector, two shifts; free: rotation "
                       "vector, three shifts; fixed and distance: none")
                    .needed(),
                refer("parent", "body", "a body, world, or a place on a beam (arm.tip, arm@0.5)")
                    .otherwise("world"),
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
      {T::friction,
       "friction",
       "Dry friction",
       "While a coordinate moves, this force acts against it; while it stands, whatever keeps it standing, "
       "up to `static`: "
       "it sticks, and its rate is zero to the last bit. A level alone is the same moving and standing. "
       "With all three, a "
       "coordinate that moves at a rate v feels dynamic + (static − dynamic) exp(−(v/velocity)²) "
       "(Stribeck). Of coordinates "
       "that are angles or shifts, not of rotation vectors. Rests (`limber static`) refuse it: where a thing "
       "stays within "
       "its friction depends on how it came there.",
       {values("static", Role::force, "the most it holds while it stands").with(Range::non_negative).needed(),
        values("dynamic", Role::force, "while it moves, at high rates")
            .with(Range::non_negative)
            .otherwise("static"),
        values("velocity", Role::rate, "of the way between the two; 0: dynamic at any rate")
            .with(Range::non_negative)
            .otherwise("0")},
       {},
       "static",
       "joints:\n"
       "  slide: {type: prismatic, child: block, axis: [1, 0, 0], friction: {static: 12 N, dynamic: 8 N, "
       "velocity: 1 cm/s}}\n"},
      {T::frame,
       "frame",
       "A frame",
       "",
       pose_keys(
           "its origin in the body",
           "its axes in the body: x and y are the axes of universal joints, z is the axis of all others "
           "that have one"),
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
      {T::tie,
       "tie",
       "A tie",
       "Holds a place on a beam or body where it is when nothing acts: to the world (a support), or to "
       "another "
       "place (two branches joined). What the joint's type leaves free stays free: `fixed` clamps, "
       "`spherical` "
       "pins, `prismatic` guides along `axis`.",
       {
           place("on", "what is held").needed().like("arch.tip"),
           place("to", "what it is held to").otherwise("world"),
           choice("type", joint_types, "").otherwise("fixed"),
           axis("axis", "the joint's z axis").otherwise("[0, 0, 1]"),
           Key{"shift", Type::vector_function, "the support is moved by so much, joint axes", length},
           Key{"turn", Type::vector_function, "the support is turned by this rotation vector, joint axes",
               angle},
       },
       {},
       "",
       "ties:\n  foot: {on: arch.tip, type: fixed}\n  push: {on: strip.tip, type: fixed, shift: [0, 0, -3 "
       "mm]}\n"},
      {T::change,
       "change",
       "A change",
       "What happens to a beam at a time of a quasi-static history (`limber static --until`), or of a run "
       "with "
       "method thread, which knows cuts at its nodes. The rest goes on from where it stands.",
       {
           quantity("at", time, "when").needed(),
           refer("beam", "beam", "which beam").needed(),
           refer("material", "material", "it is of this material from then on"),
           refer("section", "section", "it has this section from then on"),
           boolean("grow", "it is there only from then on, unloaded where it starts"),
           quantity("cut", number, "it is cut there, as a fraction of its length").like("0.5"),
       },
       {{{"material", "section", "grow", "cut"}, true}},
       "",
       "changes:\n  - {at: 2 s, beam: limb, cut: 0.3}\n  - {at: 1 s, beam: shoot, grow: true}\n"},
  };
}

}  // namespace
}  // namespace keys

namespace {

// What stands under a name, or in a list, may be repeated.
void allow_repeat(std::vector<Object>& all) {
  std::vector<ObjectType> types{ObjectType::probe};
  for (const Object& object : all)
    for (const Key& key : object.keys)
      if (key.type == Type::object_map || key.type == Type::object_list || key.type == Type::road)
        types.push_back(key.object);
  for (Object& object : all)
    if (std::find(types.begin(), types.end(), object.type) != types.end())
      object.keys.push_back(
          Key{"repeat", Type::repeat, "makes one for every index; see [Repetition](#repetition)"}.like(
              "{i: 30}"));
}

}  // namespace

const std::vector<Object>& key_table() {
  static const std::vector<Object> table = [] {
    std::vector<Object> all{keys::scene_object()};
    for (const auto& part :
         {keys::body_objects(), keys::joint_objects(), keys::short_form_objects(), keys::material_objects(),
          keys::beam_objects(), keys::thread_objects(), keys::load_objects(), keys::cable_objects(),
          keys::control_objects(), keys::run_objects()})
      all.insert(all.end(), part.begin(), part.end());
    allow_repeat(all);
    return all;
  }();
  return table;
}

}  // namespace limber::scene
