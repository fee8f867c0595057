// Every key of a scene, continued: short forms, beams, springs, loops, loads.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "limber/model/quantity.h"
#include "limber/scene/keys_parts.h"

namespace limber::scene::keys {

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
       "the axes of `from`, turned by `bend` from link to link.",
       join({root_keys(),
             {
                 axis("direction", "of the first link, in the axes of `from`").otherwise("[0, 0, -1]"),
                 integer("links", "how many").needed().with(Range::at_least_one),
                 quantity("length", length, "of one link").needed().with(Range::positive).like("span/links"),
                 quantity("radius", length, "links are capsules of this radius")
                     .with(Range::positive)
                     .otherwise("length/20"),
                 Key{"box", Type::vector, "links are boxes of this width and thickness instead", length,
                     Range::positive, Role::none, ObjectType::none, 2},
                 boolean("alternate", "every second joint's axis is turned by 90 degrees about `direction`"),
                 quantity("bend", angle,
                          "from each link to the next about `axis`, as written: all joints lie on a circle")
                     .otherwise("0")
                     .like("20 deg/links"),
                 object("first_joint", T::first_joint, "where the first joint differs from the others"),
             },
             link_keys()}),
       {{{"radius", "box"}, false}, {{"alternate", "bend"}, false}, {{"density", "mass", "material"}, false}},
       "",
       "linkages:\n  arm: {links: 12, length: 10 cm, radius: 1 cm, joint: revolute, axis: [0, 1, 0], "
       "stiffness: 2 N*m/rad}\n"},
      {T::first_joint,
       "first_joint",
       "first_joint",
       "What is not given is as for the other joints.",
       join({law_keys(), start_keys()}),
       {},
       "",
       "linkages:\n  arm: {links: 12, length: 10 cm, stiffness: 2 N*m/rad, first_joint: {stiffness: 0}}\n"},
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
      {T::molecule,
       "molecule",
       "A molecule",
       "Boxes on joints with random axes, in a random tree: bodies `m.0`, `m.1`, …, joints `m.0.joint`, …. "
       "The same "
       "seed gives the same molecule on every computer. Each link has x along it and its end as the point "
       "`tip`.",
       join({root_keys(),
             {
                 integer("bodies", "how many").needed().with(Range::at_least_one),
                 integer("kind",
                         "0 polymer: each body on one of the last four; 1 protein: a backbone with side "
                         "trees; 2 random: "
                         "on any earlier body; 3: a chain")
                     .otherwise("0"),
                 integer("seed", "of the random numbers").otherwise("1"),
                 quantity("length", length, "of one link").needed().with(Range::positive),
                 quantity("radius", length, "half a link's width")
                     .with(Range::positive)
                     .otherwise("0.15 length"),
             },
             mass_keys(),
             look_keys()}),
       {{{"density", "mass", "material"}, false}},
       "",
       "molecules:\n  m: {bodies: 50000, kind: 0, seed: 7, length: 10 cm, mass: 1 kg}\n"},
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
       "between `finger@0.5`. With `run: {method: thread}` every beam is a thread.",
       join({{
                 place("from",
                       "where the root is clamped; `path` and `up` are given from there, in the axes of the "
                       "body, or of the "
                       "section of another beam at that place: x along it, y and z as its own `up` made them")
                     .otherwise("world"),
                 Key{"path", Type::polyline,
                     "a list of points, {arc: …}, {helix: …}, or {spline: [points]}: a smooth curve through "
                     "them, centripetal "
                     "Catmull-Rom, which begins and ends along its first and last chord"}
                     .needed()
                     .like("[[0, 0, 0], [0, 0, 80 mm]]"),
                 refer("material", "material", "").needed(),
                 refer("section", "section", "").needed(),
                 axis("up", "the section's z axis at the root, made perpendicular to the path")
                     .otherwise("[0, 0, 1]; [1, 0, 0] if the path begins along z"),
                 integer("elements", "").with(Range::at_least_one).otherwise("10"),
                 choice("recipe", "consistent_3r consistent_1r published_3r published_1r",
                        "how an element becomes links and joints")
                     .otherwise("consistent_3r"),
                 boolean("planar", "bends about the section's y axis only"),
                 boolean("stretch",
                         "stretches along itself and gives way in shear, as links. Not said: where something "
                         "holds it beyond its root (a tie, a loop goes through it); threads always do"),
                 quantity("damping", time, "moment a rate of moment: stiffness-proportional")
                     .with(Range::non_negative)
                     .otherwise("0"),
                 object("rest", T::rest, "what it is at ease, where that is not its path"),
                 names("surfaces", "surface", "what it touches with; the first that says something counts"),
             },
             thread_beam_keys()}),
       {},
       "",
       "beams:\n  finger: {from: palm, path: [[0, 0, 0], [0, 0, 80 mm]], up: [1, 0, 0], material: pla, "
       "section: flexure, elements: 12}\n"},
      {T::rest,
       "rest",
       "A beam at ease",
       "A beam that is stretched or bent at t = 0. Places at the same fraction of the length are the same; "
       "the "
       "mass is that of the length at ease. Beams of links (all methods but thread) do not stretch: their "
       "`path` "
       "here has the length of the beam's.",
       {quantity("length", length, "thread: its path in this length: stretched or pressed at t = 0")
            .with(Range::positive),
        Key{"path", Type::polyline, "only its shape counts, not where it is and how it is turned"}.like(
            "{arc: {radius: 1 m, angle: 30 deg}}"),
        axis("up", "the section's z axis at the root of that path")
            .otherwise("[0, 0, 1]; [1, 0, 0] if the path begins along z")},
       {{{"length", "path"}, true}},
       "",
       "beams:\n  bow: {path: [[0, 0, 0], [1 m, 0, 0]], material: steel, section: round, rest: {path: {arc: "
       "{radius: 2 m, angle: 0.5 rad}}}}\n"},
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
        quantity("stiffness", stiffness, "").with(Range::non_negative).like("4 kN/m"),
        quantity("EA", force, "of a cable: stiffness = EA / rest length")
            .with(Range::non_negative)
            .like("10 MN"),
        law("spring_force",
            "tension by `x`, how much it is longer than its rest length; `stiffness: 100` says the same as "
            "`spring_force: 100*x`")
            .like("100*x + 2e4*x^3"),
        quantity("damping", damping, "").with(Range::non_negative).otherwise("0"),
        law("damping_force", "tension by the rate `v` of its length, 0 where that is 0")
            .like("{table: [[-1, -30], [0, 0], [1, 12]]}"),
        quantity("rest_length", length, "").with(Range::non_negative).otherwise("the distance at t = 0"),
        quantity("preload", force, "tension at its rest length; negative: it pushes").otherwise("0"),
        boolean("tension_only", "a cable: no force when it is shorter than its rest length")},
       {{{"stiffness", "EA", "spring_force"}, true}, {{"damping", "damping_force"}, false}},
       "",
       "springs:\n  tendon: {between: [palm.left, finger.tip], stiffness: 4 kN/m, tension_only: true}\n"
       "  bumper: {between: [cart, wall], spring_force: 2 kN/m * x + 80 kN * x^3, damping_force: {table: "
       "[[-1, "
       "-300], [0, 0], [1, 40]]}}\n"},
      {T::bushing,
       "bushing",
       "A bushing",
       "Springs and dampers in all six directions between a frame on `a` and one on `b`, at ease where the "
       "two "
       "are one. Its "
       "coordinates are the rotation vector of b's frame against a's and the shift of its origin, both in "
       "the "
       "axes of a's "
       "frame: three turns, then three shifts. V = ½ xᵀ K x, whatever the angle; for small ones the turns "
       "are "
       "angles about the "
       "three axes.",
       {refer("a", "body", "a body or world").otherwise("world"),
        refer("b", "body", "a body or world").needed(),
        Key{"at", Type::place, "where, in world coordinates with the bodies as written, or a body's point"}
            .otherwise("the origin of b"),
        Key{"rotate", Type::rotation, "its axes in the world, with the bodies as written"}.otherwise(
            "[0, 0, 0]"),
        object("a_frame", T::frame, "its frame in a, instead of `at` and `rotate`"),
        object("b_frame", T::frame, "its frame in b"),
        matrix("stiffness", stiffness,
               "six numbers (turns [N*m/rad], shifts [N/m]), or six rows of six: symmetric, positive")
            .needed()
            .like("[40, 40, 10, 9e4, 9e4, 2e4]"),
        matrix("damping", damping, "as the stiffness, for the rates of the coordinates").otherwise("0")},
       {},
       "",
       "bushings:\n  mount: {a: frame, b: engine, at: engine.foot, stiffness: [40, 40, 10, 9e4, 9e4, 2e4], "
       "damping: [1, 1, 1, 50, 50, 50]}\n"},
      {T::coupling,
       "coupling",
       "A coupling",
       "Coordinates of joints that move together. A joint with several coordinates is written with its "
       "number, "
       "`slider.1`. As drawn the coupling is at ease, unless `offset` says otherwise.",
       {names("gear", "joint", "`[a, b]`: b = ratio · a"),
        quantity("ratio", number, "of gear and mimic; negative: turns the other way").like("-3"),
        names("mimic", "joint", "`[a, b]`: b = ratio · a, ratio 1 if not given"),
        names("belt", "joint", "`[a, b]`: b = a · first radius / second radius"),
        Key{"radii", Type::vector, "of a belt's two wheels", length, Range::positive, Role::none,
            ObjectType::none, 2}
            .like("[30 mm, 10 mm]"),
        boolean("crossed", "the belt is crossed: its wheels turn against each other"),
        names("rack", "joint",
              "`[pinion, slide]`: slide = radius · pinion. Rack and pinion are two joints, a hinge and a "
              "slide, and this between "
              "them"),
        quantity("radius", length, "of a rack's pinion; negative: the other way").like("20 mm"),
        names("differential", "joint", "`[carrier, left, right]`: left + right = 2 · carrier"),
        names("cam", "joint", "`[cam, follower]`: follower = profile(cam)"),
        Key{"profile", Type::law,
            "of a cam, by its coordinate `x`: an expression, or points (`periodic` for one that turns); see "
            "[A law by points](#a-law-by-points)"}
            .like("10 mm * (1 - cos(x))"),
        Key{"sum", Type::parameters,
            "any other: `{a: 1, b: -2, c: 0.5}` for a − 2 b + c/2 = offset, in rad and m"},
        quantity("offset", number,
                 "of what is right of = and left of it, as above, a length where b or slide is one")
            .otherwise("so that it holds at t = 0; of a cam 0"),
        quantity("stiffness", number, "of the teeth or the belt, by the last coordinate; N*m/rad or N/m")
            .with(Range::positive)
            .otherwise("rigid"),
        quantity("damping", number, "beside the stiffness").with(Range::non_negative).otherwise("0"),
        quantity("backlash", number, "play between the flanks, by the last coordinate; needs a stiffness")
            .with(Range::non_negative)
            .otherwise("0")},
       {{{"gear", "mimic", "belt", "rack", "differential", "cam", "sum"}, true}},
       "",
       "couplings:\n  gears: {gear: [shaft, wheel], ratio: -1/3}\n"
       "  steering: {rack: [pinion, rod], radius: 8 mm, stiffness: 50 kN/m, backlash: 0.1 mm}\n"
       "  valve: {cam: [shaft, stem], profile: 4 mm * (1 - cos(2*x))}\n"},
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
      {T::rider,
       "rider",
       "A rider",
       "A weight that travels over a row of bodies, as a car over the links of a bridge. It stands on the "
       "two "
       "bodies whose middles are nearest around it, shared so that it passes from one to the next without a "
       "jump.",
       join({{
                 Key{"on", Type::road, "a chain, link after link from base to tip, or its road in pieces",
                     number, Range::any, Role::none, ObjectType::stretch}
                     .needed()
                     .like("deck"),
                 quantity("mass", mass, "").needed().with(Range::non_negative).like("1500 kg"),
                 Key{"position", Type::function,
                     "along the road from its beginning; before it and beyond its end the rider is not there",
                     length}
                     .needed()
                     .like("5 m/s * t"),
             },
             geometry_keys(),
             {object_list("shapes", T::shape, "several shapes, each with its place"),
              Key{"color", Type::color, "to draw it"}.like("\"#c04020\"")}}),
       {one_geometry_or_shapes()},
       "",
       "riders:\n  car: {on: deck, mass: 1500 kg, position: 5 m/s * t, shapes: [{box: [4 m, 1.8 m, 1.4 m], "
       "at: "
       "[0, 0, 0.7 m]}]}\n"},
      {T::stretch,
       "stretch",
       "A stretch of road",
       "A piece of a rider's road, on one body.",
       {refer("body", "body", "").needed(), vector("from", length, "where it begins, in the body").needed(),
        vector("to", length, "where it ends, in the body").needed()},
       {},
       "",
       ""},
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
       "separated by commas or blanks, `#` for comments, and lies in the scene's folder. A line of names "
       "before "
       "them may give units in brackets, `time [ms], angle [deg]`; without them numbers are in SI. The "
       "`probes.csv` of a run is such a file.",
       {Key{"table", Type::vectors, "rows [time, value], or [time, x, y, z] for a vector"}.like(
            "[[0 s, 0], [1 s, 20 N]]"),
        text("file", "a CSV file with such rows").like("gust.csv"), file_columns("[time, angle]"),
        file_units("[ms, deg]"), boolean("periodic", "repeats")},
       {{{"table", "file"}, true}},
       "",
       "drives:\n  - {joint: hip, servo: {target: {file: walk.csv, columns: [time, hip], units: [s, deg]}, "
       "kp: 40 "
       "N*m/rad}}\n"},
      {T::law_table,
       "law_table",
       "A law by points",
       "A force by the way `x` of a spring from where it is at ease, or by a rate `v`: an expression of that "
       "variable, or "
       "points. A curve goes through the points, smooth in its slope and monotone where they are (the cubics "
       "of `pchip`), and "
       "straight on beyond the first and the last. The energy of a spring is the integral of its law, "
       "exactly. A file has a "
       "row a line, numbers separated by commas or blanks, in SI or as a line of names before them says, "
       "`x [mm], force [N]`, and lies in the scene's folder.",
       {Key{"table", Type::vectors, "rows [x, force] or [v, force]"}.like(
            "[[-1 cm, -5 N], [0, 0], [1 cm, 20 N]]"),
        text("file", "a CSV file with such rows").like("bumper.csv"), file_columns("[stretch, force]"),
        file_units("[mm, N]"), boolean("periodic", "repeats; the last point has the first one's value")},
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
       "A text like `finger.tip.position`, as in the table below, or a mapping that gives it a name.",
       {text("name", "of the column").needed(),
        choice("quantity", quantity_names(), "see the table").needed(),
        place("on", "for quantities of a place; of contact a body or a beam"),
        refer("against", "body", "of contact: only what this body, beam or world (its planes) does")
            .otherwise("all that touches"),
        refer("joint", "joint", "for quantities of a joint"),
        refer("spring", "spring", "for quantities of a spring"),
        refer("rider", "rider", "for the position of a rider"),
        refer("tie", "tie", "for the reaction of a tie"),
        refer("beam", "beam", "for the reaction at its root"),
        refer("load", "load", "for the work of a load"),
        refer("coupling", "coupling", "for quantities of a coupling"),
        refer("cable", "cable", "for quantities of a cable"),
        integer("guide", "of the cable's route, counted from 0: behind it; of a wrap or slip the guide")
            .otherwise("where the cable begins")},
       {{{"on", "joint", "spring", "rider", "tie", "beam", "load", "cable"}, false}},
       "",
       "probes:\n  - finger.tip.position\n  - energy.total\n"
       "  - {name: middle, quantity: position, on: finger@0.5}\n"},
  };
}

}  // namespace limber::scene::keys
