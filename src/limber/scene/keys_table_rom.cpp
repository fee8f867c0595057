// Every key of a scene, continued: the options of method rom.
#include "limber/scene/keys_parts.h"

namespace limber::scene::keys {

std::vector<Object> rom_objects() {
  using T = ObjectType;
  Key ends{"ends", Type::names,
           "the bodies that are touched and loaded; of a beam its last link, `finger.tip`"};
  ends.refers = "body";
  return {
      {T::rom_run,
       "rom_run",
       "Options of method rom",
       "Everything that hangs together and has end effectors is reduced to them; single free bodies stay as "
       "they are.",
       {ends.needed().like("[finger1, finger2]"),
        choice("inertia", "condensed operational published",
               "condensed: all links move as the static maps move them; operational: what moves in the first "
               "instant; "
               "published: single inertias added up. The last two ring too fast")
            .otherwise("condensed"),
        choice(
            "construction", "exact walk",
            "exact: one solve of the whole, loops anywhere; walk: link by link from the base, as published")
            .otherwise("exact"),
        integer("modes", "internal vibrations beside the ends").otherwise("0"),
        object_list("points", T::rom_point, "further linearisation points: where it rests under these loads"),
        object("range", T::rom_range,
               "linearisation points chosen by error, for loads up to these on every end"),
        quantity("end_error", number, "allowed with `range`: of an end's pose, of the mechanism's radius")
            .with(Range::positive)
            .otherwise("0.02"),
        quantity("gap_error", number, "allowed with `range`: of the joints' gaps, summed, of the radius")
            .with(Range::positive)
            .otherwise("0.05"),
        integer("most_points", "that may be taken").with(Range::at_least_one).otherwise("16"),
        choice("integrator", "euler midpoint",
               "euler: damps, as published; midpoint: does not; where there is contact, steps are Euler's")
            .otherwise("euler"),
        choice("solver", "cone pgs",
               "of contact; cone: Coulomb's cone to rounding; pgs: a given number of sweeps")
            .otherwise("cone"),
        integer("sweeps", "of pgs").with(Range::at_least_one).otherwise("50")},
       {},
       "",
       "run: {method: rom, time: 2 s, step: 1 ms, rom: {ends: [hand], range: {force: 20 N}}}\n"},
      {T::rom_point,
       "rom_point",
       "A linearisation point",
       "",
       {quantity("time", time, "whose loads and drives act").with(Range::non_negative).otherwise("0"),
        object_list("loads", T::rom_load, "on the ends, beside the scene's own")},
       {},
       "",
       ""},
      {T::rom_load,
       "rom_load",
       "A load at a linearisation point",
       "",
       {refer("on", "body", "an end effector").needed(),
        vector("force", force, "world axes, at the body's origin").otherwise("[0, 0, 0]"),
        vector("moment", torque, "world axes").otherwise("[0, 0, 0]")},
       {},
       "",
       ""},
      {T::rom_range,
       "rom_range",
       "Range of loads",
       "",
       {quantity("force", force, "on every end, any direction").with(Range::non_negative).otherwise("0"),
        quantity("moment", torque, "on every end, any direction").with(Range::non_negative).otherwise("0")},
       {},
       "",
       ""},
  };
}

}  // namespace limber::scene::keys
