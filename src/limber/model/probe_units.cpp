#include "limber/model/probe_units.h"

namespace limber {

const char* unit_of(Quantity quantity, bool rotational) {
  switch (quantity) {
    case Quantity::position:
    case Quantity::rider_position:
    case Quantity::spring_length:
    case Quantity::overlap:
      return "m";
    case Quantity::velocity:
      return "m/s";
    case Quantity::rotation:
      return "rad";
    case Quantity::angular_velocity:
      return "rad/s";
    case Quantity::joint_position:
      return rotational ? "rad" : "m";
    case Quantity::joint_velocity:
      return rotational ? "rad/s" : "m/s";
    case Quantity::joint_force:
      return rotational ? "N m" : "N";
    case Quantity::spring_tension:
    case Quantity::tension:
      return "N";
    case Quantity::bending_moment:
    case Quantity::torque:
      return "N m";
    case Quantity::curvature:
      return "1/m";
    case Quantity::twist:
      return "rad/m";
    case Quantity::kinetic_energy:
    case Quantity::gravity_energy:
    case Quantity::elastic_energy:
    case Quantity::total_energy:
    case Quantity::dissipated_energy:
    case Quantity::work_energy:
    case Quantity::remainder_energy:
      return "J";
    case Quantity::contact_count:
      break;
  }
  return "";
}

}  // namespace limber
