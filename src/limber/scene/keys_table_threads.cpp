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
        choice("hold", "clamped pinned welded", "").otherwise("clamped")},
       {},
       "",
       "beams:\n  cord: {path: [[0, 0, 0], [1 m, 0, 0]], material: rubber, section: round, elements: 32, "
       "clamps: [{at: 1, "
       "to: hand}]}\n"},
      {T::contact,
       "contact",
       "Contact",
       "Threads touch themselves, each other, the shapes of bodies, and planes; bodies of a reduced model "
       "touch other "
       "bodies and planes.",
       {quantity("friction", number, "Coulomb's coefficient").with(Range::non_negative).otherwise("0.3"),
        Key{"self", Type::boolean, "threads touch themselves and each other"}.otherwise("true"),
        object_list("planes", T::plane, "solid below a plane"),
        quantity("restitution", number, "of bodies: speed of parting over speed of approach")
            .with(Range::fraction)
            .otherwise("0")},
       {},
       "",
       "contact: {friction: 0.3, planes: [{at: [0, 0, 0], normal: [0, 0, 1]}]}\n"},
      {T::plane,
       "plane",
       "A plane",
       "",
       {vector("at", length, "a point of it").otherwise("[0, 0, 0]"),
        axis("normal", "away from the solid").otherwise("[0, 0, 1]")},
       {},
       "",
       ""},
      {T::thread_run,
       "thread_run",
       "Options of method thread",
       "",
       {choice("integrator", "bdf2 euler", "bdf2: second order, damps little; euler: as published, damps")
            .otherwise("bdf2"),
        choice("element", "log printed green",
               "log: exact tangent, no locking; printed: the paper's, with frozen rotations; green: "
               "Green-Lagrange strain")
            .otherwise("log"),
        choice("frame", "chord polar",
               "of the printed element: along its nodes, or of the gradient in its middle")
            .otherwise("chord"),
        choice("solver", "direct cg", "of the linear systems").otherwise("direct"),
        quantity("cg_tolerance", number, "of conjugate gradients, relative")
            .with(Range::positive)
            .otherwise("1e-8"),
        integer("iterations", "Newton iterations a step; 0: as many as it needs").otherwise("0"),
        quantity("substep", time, "longest step with contact; longer ones are divided")
            .with(Range::positive)
            .otherwise("1 ms"),
        integer("levels", "an element may be split so many times over; 0: fixed mesh").otherwise("0"),
        quantity("bend", angle, "of an element: it is split beyond")
            .with(Range::positive)
            .otherwise("0.35 rad"),
        quantity("twist", angle, "of an element: it is split beyond")
            .with(Range::positive)
            .otherwise("0.7 rad"),
        quantity("join", number,
                 "part of those angles (and of the error) below which two elements are joined again")
            .with(Range::positive)
            .otherwise("0.4"),
        quantity(
            "error", length,
            "of a thread's midline at most, by an estimate: elements are split for it too; 0: by angles only")
            .with(Range::non_negative)
            .otherwise("0")},
       {},
       "",
       "run: {method: thread, time: 2 s, step: 1 ms, thread: {levels: 3, bend: 20 deg}}\n"},
  };
}

}  // namespace limber::scene::keys
