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
  overlap
};

// What a method must know to tell a quantity: methods differ by these, never by single quantities
// (model/features.cpp has a row for each).
enum class Told : std::uint8_t {
  pose,           // where a place is
  motion,         // how it moves
  section,        // forces and strains of a thread at a place
  joint,          // coordinates, rates and forces of a joint
  closing_joint,  // … of one that closes a loop
  spring,
  rider,
  potential,  // energies of where things stand
  kinetic,
  ledger,  // what was given and taken since the start
  contact
};

// What a probe names: the key of its mapping; `whole`: nothing.
enum class Subject : std::uint8_t { place, joint, spring, rider, whole };

enum class Components : std::uint8_t {
  one,         // a column with the probe's name
  xyz,         // three: .x, .y, .z, world axes
  coordinates  // one each coordinate of the joint: .0, .1, …, no number if there is one
};

struct QuantityInfo {
  Quantity quantity;
  const char* name;   // as in {quantity: spring_length}
  const char* words;  // in texts: "length" as in "rope.length", blanks between several; of the whole: all of
                      // it, which is also the column's usual name
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
  {Quantity::tension, "tension", "tension", Told::section, Components::one, "N", "", "of the thread there"},
  {Quantity::curvature, "curvature", "curvature", Told::section, Components::one, "1/m", "", "of the thread there, its natural one taken off"},
  {Quantity::twist, "twist", "twist", Told::section, Components::one, "rad/m", "", "of the thread there, its natural one taken off"},
  {Quantity::bending_moment, "bending_moment", "bending_moment", Told::section, Components::one, "N m", "", "of the thread there"},
  {Quantity::torque, "torque", "torque", Told::section, Components::one, "N m", "", "of the thread there"},
  {Quantity::contact_count, "contact_count", "contact.count", Told::contact, Components::one, "", "", "places where something touches"},
  {Quantity::overlap, "overlap", "contact.overlap", Told::contact, Components::one, "m", "", "the deepest that is left"},
};
// clang-format on

// Row q is that of quantity q.
constexpr bool rows_are_in_order() {
  std::size_t at = 0;
  for (const QuantityInfo& row : quantity_table)
    if (static_cast<std::size_t>(row.quantity) != at++) return false;
  return at == static_cast<std::size_t>(Quantity::overlap) + 1;
}
static_assert(rows_are_in_order());

constexpr const QuantityInfo& info_of(Quantity quantity) {
  return quantity_table[static_cast<std::size_t>(quantity)];
}
constexpr Subject subject_of(Told told) {
  switch (told) {
    case Told::pose:
    case Told::motion:
    case Told::section:
      return Subject::place;
    case Told::joint:
    case Told::closing_joint:
      return Subject::joint;
    case Told::spring:
      return Subject::spring;
    case Told::rider:
      return Subject::rider;
    default:
      return Subject::whole;
  }
}
constexpr Subject subject_of(Quantity quantity) { return subject_of(info_of(quantity).told); }

// "on", "joint", "spring", "rider", "": the key of a probe's mapping that says of what it is.
const char* key_of(Subject subject);

bool has_word(const QuantityInfo& row, std::string_view word);
std::string quantity_names();     // "position velocity …", of all rows
std::string quantity_markdown();  // the table of the reference page

}  // namespace limber
