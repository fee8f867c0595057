// Quantities: everything that a probe can write down, in one table. A row is all that the scene language, its
// reference page, the checks of a model and the columns of a run know of a quantity; only
// observe/columns.cpp, which asks a method for the numbers, has a line for it besides.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace limber {

enum class Quantity : std::uint8_t {
  position,
  velocity,
  speed,
  rotation,
  angular_velocity,
  joint_position,
  joint_velocity,
  joint_force,
  spring_length,
  spring_tension,
  kinetic_energy,
  gravity_energy,
  elastic_energy,
  total_energy,
  rider_position,
  dissipated_energy,
  work_energy,
  remainder_energy,
  tension,
  curvature,
  twist,
  bending_moment,
  torque,
  contact_count,
  overlap,
  acceleration,
  angular_acceleration,
  momentum,
  angular_momentum,
  total_momentum,
  total_angular_momentum,
  reaction_force,
  reaction_torque,
  reaction_force_local,
  reaction_torque_local,
  motion_force,
  motion_work,
  drive_power,
  drive_work,
  load_work,
  section_force,
  section_moment,
  contact_force,
  contact_slip,
  contact_normal,
  contact_places,
  contact_depth,
  coupling_force,
  coupling_gap,
  cable_length,
  cable_tension,
  cable_wrap,
  cable_slip,
  winch_power
};

// What a method must know to tell a quantity: methods differ by these, never by single quantities
// (model/features.cpp has a row for each).
enum class Told : std::uint8_t {
  pose,           // where a place is
  motion,         // how it moves
  acceleration,   // how that changes
  momentum,       // of a body
  section,        // moments, tension and strains of a beam at a place
  section_force,  // the whole force there
  joint,          // coordinates, rates and forces of a joint
  closing_joint,  // … of one that closes a loop
  reaction,       // all that a joint carries
  closing_reaction,
  tie_reaction,
  root_reaction,  // of a beam
  given_motion,   // what moves a joint whose motion is given
  drive,
  load_work,
  spring,
  rider,
  potential,  // energies of where things stand
  kinetic,
  ledger,  // what was given and taken since the start
  total_momentum,
  contact,
  touch,     // what touches a body
  coupling,  // of joints
  cable
};

// What a probe names: the key of its mapping; `whole`: nothing. A support is a joint, a tie or a beam.
enum class Subject : std::uint8_t { place, joint, support, spring, rider, load, coupling, cable, whole };

enum class Components : std::uint8_t {
  one,         // a column with the probe's name
  xyz,         // three: .x, .y, .z, world axes unless the row says others
  coordinates  // one each coordinate of the joint: .0, .1, …, no number if there is one
};

struct QuantityInfo {
  Quantity quantity;
  const char* name;  // as in {quantity: spring_length}
  const char*
      words;  // in texts: "length" as in "rope.length", "reaction.force" as in "hinge.reaction.force",
              // blanks between several; of the whole: all of it, which is also the column's usual name
  Told told;
  Components components;
  const char* unit;        // "m", "rad/s", "" for a pure number; of a joint's angle
  const char* unit_along;  // of a joint's length
  const char* doc;
};

// clang-format off
inline constexpr QuantityInfo quantity_table[] = {
  {Quantity::position, "position", "position", Told::pose, Components::xyz, "m", "", "of the place"},
  {Quantity::velocity, "velocity", "velocity", Told::motion, Components::xyz, "m/s", "", "of the place, world axes"},
  {Quantity::speed, "speed", "speed", Told::motion, Components::one, "m/s", "", "of the place: the length of its velocity"},
  {Quantity::rotation, "rotation", "rotation", Told::pose, Components::xyz, "rad", "", "rotation vector of the body, or of the beam's section, in the world"},
  {Quantity::angular_velocity, "angular_velocity", "angular_velocity", Told::motion, Components::xyz, "rad/s", "", "of the body or section, world axes"},
  {Quantity::joint_position, "joint_position", "angle position", Told::joint, Components::coordinates, "rad", "m", "the joint's coordinates"},
  {Quantity::joint_velocity, "joint_velocity", "velocity", Told::joint, Components::coordinates, "rad/s", "m/s", "their rates"},
  {Quantity::joint_force, "joint_force", "force", Told::joint, Components::coordinates, "N m", "N", "on each coordinate, of its spring, damper and drive"},
  {Quantity::spring_length, "spring_length", "length", Told::spring, Components::one, "m", "", "from end to end"},
  {Quantity::spring_tension, "spring_tension", "tension", Told::spring, Components::one, "N", "", "of spring and damper, positive where it pulls"},
  {Quantity::kinetic_energy, "kinetic_energy", "energy.kinetic", Told::kinetic, Components::one, "J", "", "of all that moves"},
  {Quantity::gravity_energy, "gravity_energy", "energy.gravity", Told::potential, Components::one, "J", "", "of all weights"},
  {Quantity::elastic_energy, "elastic_energy", "energy.elastic", Told::potential, Components::one, "J", "", "of joints, springs, beams and threads"},
  {Quantity::total_energy, "total_energy", "energy.total", Told::potential, Components::one, "J", "", "the sum of the three"},
  {Quantity::rider_position, "rider_position", "position", Told::rider, Components::xyz, "m", "", "of the rider on its road"},
  {Quantity::dissipated_energy, "dissipated_energy", "energy.dissipated", Told::ledger, Components::one, "J", "", "taken by dampers, friction and drag since the start"},
  {Quantity::work_energy, "work_energy", "energy.work", Told::ledger, Components::one, "J", "", "given by loads, drives and given motions since the start"},
  {Quantity::remainder_energy, "remainder_energy", "energy.remainder", Told::ledger, Components::one, "J", "", "what the balance lacks: the integrator's own gain or loss"},
  {Quantity::tension, "tension", "tension", Told::section, Components::one, "N", "", "of the beam there"},
  {Quantity::curvature, "curvature", "curvature", Told::section, Components::one, "1/m", "", "of the beam there, its natural one taken off"},
  {Quantity::twist, "twist", "twist", Told::section, Components::one, "rad/m", "", "of the beam there, its natural one taken off"},
  {Quantity::bending_moment, "bending_moment", "bending_moment", Told::section, Components::one, "N m", "", "of the beam there"},
  {Quantity::torque, "torque", "torque", Told::section, Components::one, "N m", "", "of the beam there"},
  {Quantity::contact_count, "contact_count", "contact.count", Told::contact, Components::one, "", "", "places where something touches"},
  {Quantity::overlap, "overlap", "contact.overlap", Told::contact, Components::one, "m", "", "the deepest that is left"},
  {Quantity::acceleration, "acceleration", "acceleration", Told::acceleration, Components::xyz, "m/s2", "", "of the place, world axes"},
  {Quantity::angular_acceleration, "angular_acceleration", "angular_acceleration", Told::acceleration, Components::xyz, "rad/s2", "", "of the body or section, world axes"},
  {Quantity::momentum, "momentum", "momentum", Told::momentum, Components::xyz, "kg m/s", "", "of the body, world axes"},
  {Quantity::angular_momentum, "angular_momentum", "angular_momentum", Told::momentum, Components::xyz, "kg m2/s", "", "of the body about the world's origin, world axes"},
  {Quantity::total_momentum, "total_momentum", "total.momentum", Told::total_momentum, Components::xyz, "kg m/s", "", "of all that moves"},
  {Quantity::total_angular_momentum, "total_angular_momentum", "total.angular_momentum", Told::total_momentum, Components::xyz, "kg m2/s", "", "of all that moves, about the world's origin"},
  {Quantity::reaction_force, "reaction_force", "reaction.force", Told::reaction, Components::xyz, "N", "", "all that the joint carries: on the child (`b`, the beam) from the parent (`a`, what holds it), at the child's frame, world axes"},
  {Quantity::reaction_torque, "reaction_torque", "reaction.torque", Told::reaction, Components::xyz, "N m", "", "the same, about the origin of the child's joint frame"},
  {Quantity::reaction_force_local, "reaction_force_local", "reaction.force.local", Told::reaction, Components::xyz, "N", "", "in the axes of the child's joint frame"},
  {Quantity::reaction_torque_local, "reaction_torque_local", "reaction.torque.local", Told::reaction, Components::xyz, "N m", "", "in the axes of the child's joint frame"},
  {Quantity::motion_force, "motion_force", "motion.force", Told::given_motion, Components::coordinates, "N m", "N", "on each coordinate, of what makes the joint follow its given motion"},
  {Quantity::motion_work, "motion_work", "motion.work", Told::given_motion, Components::one, "J", "", "of the same, since the start"},
  {Quantity::drive_power, "drive_power", "drive.power", Told::drive, Components::one, "W", "", "that the joint's drive gives"},
  {Quantity::drive_work, "drive_work", "drive.work", Told::drive, Components::one, "J", "", "of the joint's drive since the start"},
  {Quantity::load_work, "load_work", "work", Told::load_work, Components::one, "J", "", "of the load since the start"},
  {Quantity::section_force, "section_force", "section.force", Told::section_force, Components::xyz, "N", "", "that the part beyond pulls with, in the axes of `rotation`: tension, shear, shear"},
  {Quantity::section_moment, "section_moment", "section.moment", Told::section, Components::xyz, "N m", "", "that the part beyond turns with, in the axes of `rotation`: torque, bending, bending"},
  {Quantity::contact_force, "contact_force", "contact.force", Told::touch, Components::xyz, "N", "", "of all that touches the body, on it, world axes"},
  {Quantity::contact_slip, "contact_slip", "contact.slip", Told::touch, Components::one, "m/s", "", "the fastest of what slides along the body"},
  {Quantity::contact_normal, "contact_normal", "contact.normal", Told::touch, Components::one, "N", "", "how hard the body is pressed: the sum of all normal forces"},
  {Quantity::contact_places, "contact_places", "contact.places", Told::touch, Components::one, "", "", "places where something pushes the body"},
  {Quantity::contact_depth, "contact_depth", "contact.depth", Told::touch, Components::one, "m", "", "the deepest overlap of these; of soft surfaces how far they give"},
  {Quantity::coupling_force, "coupling_force", "force", Told::coupling, Components::one, "N m", "N", "of the coupling on its last coordinate (the follower of a cam, the first of a `sum`): what teeth, belt or profile push with"},
  {Quantity::coupling_gap, "coupling_gap", "gap", Told::coupling, Components::one, "rad", "m", "how far that coordinate is ahead of where the coupling has it; 0 of a rigid one"},
  {Quantity::cable_length, "cable_length", "length", Told::cable, Components::one, "m", "", "of the cable off its drums, along its route"},
  {Quantity::cable_tension, "cable_tension", "tension", Told::cable, Components::one, "N", "", "of the cable where it begins; `rope.2.tension`: behind guide 2 of its route, counted from 0"},
  {Quantity::cable_wrap, "cable_wrap", "wrap", Told::cable, Components::one, "rad", "", "angle of the cable round guide 2 of `rope.2.wrap`; of a drum how far it has turned up since t = 0"},
  {Quantity::cable_slip, "cable_slip", "slip", Told::cable, Components::one, "m", "", "that has slid over guide 2 of `rope.2.slip` against friction since t = 0, along the route"},
  {Quantity::winch_power, "winch_power", "winch.power", Told::cable, Components::one, "W", "", "that the winch of the cable gives"},
};
// clang-format on

// Row q is that of quantity q.
constexpr bool rows_are_in_order() {
  std::size_t at = 0;
  for (const QuantityInfo& row : quantity_table)
    if (static_cast<std::size_t>(row.quantity) != at++) return false;
  return at == static_cast<std::size_t>(Quantity::winch_power) + 1;
}
static_assert(rows_are_in_order());

constexpr const QuantityInfo& info_of(Quantity quantity) {
  return quantity_table[static_cast<std::size_t>(quantity)];
}
constexpr Subject subject_of(Told told) {
  switch (told) {
    case Told::pose:
    case Told::motion:
    case Told::acceleration:
    case Told::momentum:
    case Told::touch:
    case Told::section:
    case Told::section_force:
      return Subject::place;
    case Told::joint:
    case Told::closing_joint:
    case Told::given_motion:
    case Told::drive:
      return Subject::joint;
    case Told::reaction:
    case Told::closing_reaction:
    case Told::tie_reaction:
    case Told::root_reaction:
      return Subject::support;
    case Told::load_work:
      return Subject::load;
    case Told::spring:
      return Subject::spring;
    case Told::rider:
      return Subject::rider;
    case Told::coupling:
      return Subject::coupling;
    case Told::cable:
      return Subject::cable;
    default:
      return Subject::whole;
  }
}
constexpr Subject subject_of(Quantity quantity) { return subject_of(info_of(quantity).told); }
// What every run writes down that knows it.
constexpr bool is_usual(Told told, bool has_contact) {
  return told == Told::kinetic || told == Told::potential || told == Told::ledger ||
         (told == Told::contact && has_contact);
}
constexpr bool is_of_section(Told told) { return told == Told::section || told == Told::section_force; }

// "on", "joint", "spring", "rider", "load", "coupling", "cable", "": the keys of a probe's mapping that say
// of what it is, blanks between several of which one is needed.
const char* keys_of(Subject subject);

bool has_word(const QuantityInfo& row, std::string_view word);
// The word of the row that the text ends with, after a dot; empty: none.
std::string_view word_at_end(const QuantityInfo& row, std::string_view text);
std::string quantity_names();     // "position velocity …", of all rows
std::string quantity_markdown();  // the table of the reference page

}  // namespace limber
