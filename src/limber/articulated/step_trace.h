// What a step was made of: its parts with the accelerations of their stages, from which its derivatives
// follow (step_adjoint.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace limber::articulated {

enum class Integrator : std::uint8_t;

// One application of an integrator, from its start to its end.
struct StepPart {
  double t = 0, h = 0;                 // [s] start and length
  Integrator by{};                     // that took it; another than asked for where motion is not smooth
  std::vector<double> q, v;            // where it starts
  std::vector<std::vector<double>> a;  // (stages) accelerations
  std::vector<signed char> servo;      // (6 × drives) as WorkspaceData::servo
  std::string not_smooth;              // why it has no derivative; empty: it has one
};

}  // namespace limber::articulated
