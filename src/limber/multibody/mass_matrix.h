// Dense oracles: the Jacobian of every link, and the joint-space matrix M + Σ JᵀAJ + B built from them.
#pragma once

#include <vector>

#include "limber/multibody/kinematics.h"

namespace limber::multibody {

// J_i (6 × v_count): twist of link i in its own frame for unit joint rates.
std::vector<MatX> link_jacobians(const Tree& tree, const VecX& q);
MatX mass_matrix(const Tree& tree, const VecX& q);                      // Σ J_iᵀ I_i J_i
MatX mass_matrix_by_composite_bodies(const Tree& tree, const VecX& q);  // Featherstone 2008, table 6.2

}  // namespace limber::multibody
