// Relations between coordinates of joints: gears, belts, racks, differentials, mimics. All are one sum,
//
//   gap = Σ factor_i q_i − offset,
//
// and a cam is one of two coordinates, follower − f(cam) − offset with its profile f.
//
// Rigid, the gap is zero. With a stiffness it is the stretch of a spring: V = ½ k g² with g the gap beyond
// ± half the backlash, within which nothing acts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "limber/model/ids.h"
#include "limber/model/law.h"

namespace limber {

struct Coupling {
  struct Term {
    JointId joint;  // in the tree
    int dof = 0;    // of its coordinates; no part of a rotation vector
    double factor = 1;
  };
  std::string name;
  std::vector<Term> terms;
  Law profile{};                    // of a cam: terms are the follower, 1, and the cam, −1
  std::optional<double> offset;     // none: the gap is zero where the joints stand at t = 0
  std::optional<double> stiffness;  // [N·m/rad or N/m] by the gap; none: rigid
  double damping = 0;               // of the gap's rate, where the stiffness acts
  double backlash = 0;              // [rad or m]
  bool rigid() const { return !stiffness; }
};

}  // namespace limber
