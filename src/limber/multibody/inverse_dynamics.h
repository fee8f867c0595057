// Inverse dynamics by the recursive Newton–Euler algorithm (Featherstone 2008, table 5.1): the joint forces
// that give the accelerations a, τ = M a + bias − Jᵀ F. Written on its own, as an oracle for aba().
#pragma once

#include <vector>

#include "limber/multibody/kinematics.h"

namespace limber::multibody {

VecX inverse_dynamics(const Tree& tree, const VecX& q, const VecX& v, const VecX& a,
                      const std::vector<Vec6>& wrench = {});

}  // namespace limber::multibody
