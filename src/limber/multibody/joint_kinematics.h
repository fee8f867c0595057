// One joint: pose, motion subspace and its rate, and motion along its rates. Table in model/joint.h.
//
//   V_FM = S(q) v (in M);  c = V_M × S v + S̊ v, S̊ the rate of S seen in M (Featherstone 2008, eq. 3.42)
//   universal: S = [(cos q₁, 0, sin q₁); e_y],   S̊ v = v₀ v₁ (−sin q₁, 0, cos q₁)
//   planar:    S = [Rᵀe_x; Rᵀe_y | e_z],         S̊ v = v₂ (v₀ (−s, −c) + v₁ (c, −s)) in the plane
#pragma once

#include "limber/multibody/tree.h"

namespace limber::multibody {

using Subspace = Eigen::Matrix<double, 6, 6>;  // first `dofs` columns

Pose joint_transform(JointKind kind, const double* q);
Subspace motion_subspace(JointKind kind, const double* q);
Vec6 joint_twist(JointKind kind, const double* q, const double* v);       // S v
Vec6 joint_twist_rate(JointKind kind, const double* q, const double* v);  // S̊ v

// q_out = q moved along v for a time h: sums for plain coordinates, exp on the right for rotations and poses.
void integrate_joint(JointKind kind, const double* q, const double* v, double h, double* q_out);
// The constant rates that take q to q_end in a time h.
void rates_between(JointKind kind, const double* q, const double* q_end, double h, double* v);

}  // namespace limber::multibody
