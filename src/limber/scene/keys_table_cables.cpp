// Every key of a scene, continued: cables and the guides of their routes.
#include "limber/scene/keys_parts.h"

namespace limber::scene::keys {

std::vector<Object> cable_objects() {
  using T = ObjectType;
  return {
      {T::cable,
       "cable",
       "A cable",
       "One elastic length over the guides of its route, from its start to its end. It pulls with stiffness "
       "times how much longer its route is than its rest length, and goes slack where it is shorter; over a "
       "guide it slides without friction unless that grips or rubs. See theory/cables.md.",
       {object_list("route", T::guide, "eyelets and pulleys in order; a place alone is an eyelet, or an end")
            .needed()
            .like("[hook, {pulley: sheave, radius: 5 cm, axis: [0, 1, 0]}, load.top]"),
        boolean("closed", "a belt: its end is tied to its start"),
        quantity("stiffness", stiffness, "of the whole length").with(Range::positive).like("40 kN/m"),
        quantity("EA", force, "instead: stiffness = EA / rest length, also while a winch changes that")
            .with(Range::positive)
            .like("200 kN"),
        quantity("damping", damping, "of the whole length, while it pulls")
            .with(Range::non_negative)
            .otherwise("0"),
        quantity("rest_length", length, "of what is off its drums")
            .with(Range::positive)
            .otherwise("what gives the pretension at t = 0"),
        quantity("pretension", force, "tension at t = 0").with(Range::non_negative).otherwise("0"),
        Key{"winch", Type::function, "length that is taken in at its start, a function of the time", length}
            .otherwise("0")
            .like("0.2 m/s * t"),
        Key{"color", Type::color, "to draw it: \"#rrggbb\" or [r, g, b] within 0 … 1"}.like("\"#c04020\"")},
       {{{"stiffness", "EA"}, true}, {{"rest_length", "pretension"}, false}},
       "",
       "cables:\n"
       "  rope:\n"
       "    route:\n"
       "      - {on: world, at: [0, 0, 2 m]}\n"
       "      - {pulley: block, at: [10 cm, 0, 0], radius: 5 cm, axis: [0, 1, 0], turn: under}\n"
       "      - {pulley: drum, radius: 8 cm, axis: [0, 1, 0], turn: over}\n"
       "    EA: 200 kN\n"
       "    pretension: 10 N\n"},
      {T::guide,
       "guide",
       "A guide of a cable",
       "An eyelet or an end (`on` a place), or a pulley: a circle about an axis of a body, which the cable "
       "leaves where "
       "its shadow in the pulley's plane is tangent to it. A pulley at an end is a drum: the cable is fixed "
       "to "
       "its rim and winds up.",
       {place("on", "where the eyelet is, or the end"),
        place("pulley", "where its centre is, on a body or the world"),
        vector("at", length, "offset of either, in the axes of the body").otherwise("[0, 0, 0]"),
        quantity("radius", length, "of the pulley, to the middle of the cable")
            .with(Range::positive)
            .like("5 cm"),
        axis("axis", "of the pulley, in the axes of its body").otherwise("[0, 0, 1]"),
        choice("turn", "over under positive negative",
               "round which side: over or under the pulley (z is up), or positive: counter-clockwise about "
               "`axis` as the cable runs from its start to its end")
            .otherwise("over"),
        integer("turns", "full turns beyond the least wrap at t = 0")
            .with(Range::non_negative)
            .otherwise("0"),
        boolean("grip", "the cable does not slide: what turns the pulley is the cable"),
        quantity("friction", number,
                 "Coulomb's coefficient; tensions on the two sides differ by at most "
                 "exp(friction · wrap)")
            .with(Range::non_negative)
            .otherwise("0")},
       {{{"on", "pulley"}, true}, {{"grip", "friction"}, false}},
       "on",
       ""},
  };
}

}  // namespace limber::scene::keys
