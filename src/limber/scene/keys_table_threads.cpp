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
        object_list("pairs", T::friction_pair, "two that have a friction of their own on each other"),
        Key{"self", Type::boolean, "threads touch themselves and each other"}.otherwise("true"),
        object_list("planes", T::plane, "solid below a plane"),
        quantity("restitution", number, "of bodies: speed of parting over speed of approach")
            .with(Range::fraction)
            .otherwise("0")},
       {},
       "",
       "contact: {friction: 0.3, planes: [{at: [0, 0, 0], normal: [0, 0, 1]}]}\n"},
      {T::friction_pair,
       "friction_pair",
       "Friction of a pair",
       "Comes before the frictions of both, however these combine.",
       {names("between", "body or beam",
              "two of bodies, beams (method thread) and world, which has the planes; a beam and itself: "
              "where it "
              "touches itself")
            .needed()
            .like("[cord, drum]"),
        quantity("friction", number, "Coulomb's coefficient").needed().with(Range::non_negative)},
       {},
       "",
       "contact: {friction: 0.3, pairs: [{between: [cord, drum], friction: 0.1}]}\n"},
      {T::plane,
       "plane",
       "A plane",
       "",
       {vector("at", length, "a point of it").otherwise("[0, 0, 0]"),
        axis("normal", "away from the solid").otherwise("[0, 0, 1]")},
       {},
       "",
       ""},
  };
}

}  // namespace limber::scene::keys
