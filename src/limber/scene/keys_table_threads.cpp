// Every key of a scene, continued: what threads have beyond beams, contact, and the options of method thread.
#include "limber/scene/keys_parts.h"

namespace limber::scene::keys {

std::vector<Key> thread_beam_keys() {
  return {
      choice("root", "clamped pinned welded free", "thread: how `from` holds the root").otherwise("clamped"),
      object_list("clamps", ObjectType::clamp, "thread: other places that are held"),
      boolean("straight", "thread: at ease it is straight and untwisted, whatever its path at t = 0"),
      quantity("air_damping", rate, "thread: force against the velocity, a mass")
          .with(Range::non_negative)
          .otherwise("0"),
      vector("velocity", velocity, "thread: of all of it at t = 0").otherwise("[0, 0, 0]"),
  };
}

// Of a surface, or of a pair.
std::vector<Key> touch_terms() {
  return {
      quantity("friction", number, "Coulomb's coefficient").with(Range::non_negative).like("0.8"),
      quantity("restitution", number, "speed of parting over speed of approach").with(Range::fraction),
      quantity("stiffness", stiffness,
               "of every place that touches; without it nothing gives, and nothing overlaps")
          .with(Range::positive)
          .like("20 kN/m"),
      quantity("damping", damping, "beside a stiffness").with(Range::non_negative).like("40 N*s/m"),
  };
}

std::vector<Object> thread_objects() {
  using T = ObjectType;
  return {
      {T::clamp,
       "clamp",
       "A clamp of a thread",
       "Holds a node where it is at t = 0, relative to a body that is fixed or driven: clamped holds the "
       "position and "
       "the directions of the section, pinned the position, welded the direction and stretch of the midline "
       "too.",
       {quantity("at", number, "fraction of the length; a node of the coarsest mesh")
            .needed()
            .with(Range::fraction),
        refer("to", "body", "a body or world").otherwise("world"),
        choice("hold", "clamped pinned welded", "").otherwise("clamped"),
        quantity("until", time, "it lets go then, within a step too")
            .with(Range::positive)
            .otherwise("never")},
       {},
       "",
       "beams:\n  cord: {path: [[0, 0, 0], [1 m, 0, 0]], material: rubber, section: round, elements: 32, "
       "clamps: [{at: 1, "
       "to: hand}]}\n"},
      {T::contact,
       "contact",
       "Contact",
       "Bodies and beams touch each other and planes (method `articulated`): all but those that a joint, "
       "loop or "
       "weld joins, and what one that is joined to the world overlaps at the start. Threads touch "
       "themselves, "
       "each other, the shapes of bodies, and planes; bodies of a reduced model touch other bodies and "
       "planes.",
       {quantity("friction", number, "Coulomb's coefficient").with(Range::non_negative).otherwise("0.3"),
        choice("combine", "geometric minimum maximum average",
               "of two surfaces with frictions that differ; geometric: the root of the product")
            .otherwise("geometric"),
        object_list("pairs", T::surface_pair, "two that touch on terms of their own, or not at all"),
        Key{"self", Type::boolean, "threads touch themselves and each other"}.otherwise("true"),
        object_list("planes", T::plane, "solid below a plane"),
        quantity("restitution", number, "of bodies: speed of parting over speed of approach")
            .with(Range::fraction)
            .otherwise("0")},
       {},
       "",
       "contact: {friction: 0.3, planes: [{at: [0, 0, 0], normal: [0, 0, 1]}]}\n"},
      {T::surface,
       "surface",
       "A surface",
       "A name for what bodies, beams and planes touch with: their `surfaces`. Of two that touch, frictions "
       "combine as [contact](#contact) says, the larger restitution counts, and what gives (`stiffness`) is "
       "one "
       "spring behind the other. Pairs name them too.",
       touch_terms(),
       {{{"stiffness", "restitution"}, false}},
       "",
       "surfaces:\n"
       "  rubber: {friction: 1, stiffness: 20 kN/m, damping: 40 N*s/m}\n"
       "  ice: {friction: 0.02}\n"
       "bodies:\n  wheel: {cylinder: {radius: 30 cm, length: 10 cm}, surfaces: [rubber]}\n"},
      {T::surface_pair,
       "surface_pair",
       "A pair of surfaces",
       "Comes before what both say, however that combines. Of several pairs that mean the same two the first "
       "that says something counts.",
       join({{names("between", "body, beam or surface",
                    "two of bodies, beams, surfaces and world, which has the planes; a beam and itself: "
                    "where it touches itself; a surface and itself: all that have it")
                  .needed()
                  .like("[cord, drum]")},
             touch_terms(),
             {Key{"collide", Type::boolean,
                  "whether they touch. false: they pass through each other; true: although a joint, tie or "
                  "loop is between them, or they overlap at the start"}
                  .otherwise("true, but where something joins them")}}),
       {{{"stiffness", "restitution"}, false}},
       "",
       "contact:\n"
       "  friction: 0.3\n"
       "  pairs: [{between: [cord, drum], friction: 0.1}, {between: [leg, leg], collide: false}]\n"},
      {T::plane,
       "plane",
       "A plane",
       "",
       {vector("at", length, "a point of it").otherwise("[0, 0, 0]"),
        axis("normal", "away from the solid").otherwise("[0, 0, 1]"),
        names("surfaces", "surface", "what it touches with; the first that says something counts")},
       {},
       "",
       ""},
  };
}

}  // namespace limber::scene::keys
