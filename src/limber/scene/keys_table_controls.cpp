// Keys of controllers and events.
#include "limber/scene/keys_parts.h"

namespace limber::scene::keys {

std::vector<Object> control_objects() {
  using T = ObjectType;
  return {
      {T::controller,
       "controller",
       "A controller",
       "A force on a coordinate of a joint by e = target − what it reads: u = kp e + ki ∫e dt + kd de/dt, "
       "cut "
       "to `limits`; while it is cut, the integral takes no e that would cut it further. Gains are in the "
       "unit of the force over that of the column (`N/m`, `N*m/rad`), for ki over a second more, for kd "
       "times "
       "a second.\n\n"
       "*When it reads.* With a `period`, at every multiple of it exactly (steps are divided there), and the "
       "force is held in between: u_k = kp e_k + ki I_k + kd (e_k − e_(k−1))/period, I_(k+1) = I_k + period "
       "e_k, the first difference 0. Without a period, a controller that reads the coordinate of its own "
       "joint, or the rate of it, acts at every moment, as implicit as a servo and with the order of the "
       "integrator (of a rate there is no kd); one that reads anything else is sampled where every `step` of "
       "the run starts, with the step as its period.\n\n"
       "Several controllers on a joint add up. To move the target of a servo of stiffness k by u, give the "
       "gains times k: the force is the same. The work of a controller counts as that of the joint's drive.",
       {
           refer("joint", "joint", "that it moves; one of the tree").needed(),
           integer("coordinate", "of the joint, from 0").otherwise("0"),
           text("reads", "a column of the probes; what is not probed yet is from then on")
               .needed()
               .like("pole.angle"),
           Key{"target", Type::function, "wanted of the column"}.otherwise("0").like("10 deg * sin(t)"),
           Key{"kp", Type::quantity, "by e"}.otherwise("0").like("40 N*m/rad"),
           Key{"ki", Type::quantity, "by its integral"}.otherwise("0").like("20 N*m/rad/s"),
           Key{"kd", Type::quantity, "by its rate"}.otherwise("0").like("3 N*m*s/rad"),
           Key{"limits", Type::joint_limits, "of the force: `x` for ±x, or `[lower, upper]`"}.like(
               "[0, 20 N]"),
           quantity("period", time, "from sample to sample").with(Range::positive).like("10 ms"),
       },
       {},
       "",
       "controllers:\n  balance: {joint: slide, reads: pole.angle, kp: -300 N/rad, kd: -40 N*s/rad, limits: "
       "80 "
       "N, period: 5 ms}\n"},
      {T::event,
       "event",
       "An event",
       "What happens at a time, or when a column of the probes passes a value. Columns are looked at where "
       "steps end; the moment of a passing is then found within the step, to 1e-12 of it, and the step is "
       "divided there, so that the integrator keeps its order. What passes a value and comes back within one "
       "step is not seen, and what is beyond it at t = 0 has not passed it.\n\n"
       "A joint that an event releases is solved as one that closes a loop, from the start: its angle is "
       "counted within half a turn, it has no drive and no coupling, and its two bodies do not touch "
       "each other after the release either. Velocities stay as they are. The energy of a spring "
       "that is released or switched counts as work.",
       {
           quantity("at", time, "when").with(Range::non_negative).like("2 s"),
           object("when", T::passing, "a column passes a value"),
           quantity("delay", time, "from then to what happens").with(Range::non_negative).otherwise("0"),
           boolean("again", "at every passing, not at the first alone"),
           object("release", T::release, "lets things go, for good"),
           object("switch", T::switching, "turns things off and on, or gives them another target"),
           boolean("stop", "ends the run there"),
       },
       {{{"at", "when"}, true}},
       "",
       "events:\n"
       "  let_go: {when: {reads: arm.angle, above: 40 deg}, release: {joint: sling}}\n"
       "  motor_off: {at: 2 s, switch: {drive: hip, on: false}}\n"
       "  landed: {when: {reads: ball.position.z, below: 0}, delay: 0.1 s, stop: true}\n"},
      {T::passing,
       "passing",
       "Passing a value",
       "",
       {
           text("reads", "a column of the probes; what is not probed yet is from then on")
               .needed()
               .like("ball.position.z"),
           Key{"above", Type::quantity, "it rises to this"},
           Key{"below", Type::quantity, "it falls to this"},
           Key{"passes", Type::quantity, "it rises or falls to this"},
       },
       {{{"above", "below", "passes"}, true}},
       "",
       ""},
      {T::release,
       "release",
       "What is released",
       "",
       {
           refer("joint", "joint", "of the tree, or one that closes a loop"),
           refer("tie", "tie", ""),
           refer("coupling", "coupling", ""),
           refer("spring", "spring", ""),
           refer("beam", "beam", "of which `clamp` lets go; method thread"),
           integer("clamp", "of the beam's `clamps`, from 0").with(Range::non_negative).otherwise("0"),
       },
       {},
       "",
       ""},
      {T::switching,
       "switching",
       "What is switched",
       "",
       {
           refer("drive", "joint", "the drive of this joint"),
           refer("spring", "spring", ""),
           refer("load", "load", ""),
           refer("controller", "controller", "begins anew when it is switched on"),
           boolean("on", "false: off"),
           Key{"target", Type::functions,
               "of the drive (of a motor its force) or controller from then on, by the time of the run",
               number, Range::any, Role::coordinate},
       },
       {{{"drive", "spring", "load", "controller"}, true}, {{"on", "target"}, true}},
       "",
       ""},
  };
}

}  // namespace limber::scene::keys
