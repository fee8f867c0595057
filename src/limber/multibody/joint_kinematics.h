// One joint: pose, motion subspace and its rate, and motion along its rates. Table in model/joint.h.
//
//   V_FM = S(q) v (in M);  c = V_M × S v + S̊ v, S̊ the rate of S seen in M (Featherstone 2008, eq. 3.42)
//   universal: S = [(cos q₁, 0, sin q₁); e_y],   S̊ v = v₀ v₁ (−sin q₁, 0, cos q₁)
//   planar:    S = [Rᵀe_x; Rᵀe_y | e_z],         S̊ v = v₂ (v₀ (−s, −c) + v₁ (c, −s)) in the plane
//   point on line or plane, free: S = [I, 0; 0, Rᵀe],  S̊ v = (0; (Rᵀṗ) × ω), ṗ the shift's rate in F: what
//   flies without forces flies straight at any step, however it spins
//   constant velocity: S = J_r(θ) [e_x, e_y],    S̊ v = ∂(J_r(θ) θ̇)/∂θ θ̇
//   screw: S = (e_z; lead e_z). S is orthonormal but for these two.
#pragma once

#include "limber/multibody/tree.h"

namespace limber::multibody {

using Subspace = Eigen::Matrix<double, 6, 6>;  // first `dofs` columns

// `lead`: a screw's shift a radian [m].
Pose joint_transform(JointKind kind, double lead, const double* q);
Subspace motion_subspace(JointKind kind, double lead, const double* q);
Vec6 joint_twist(JointKind kind, double lead, const double* q, const double* v);  // S v
Vec6 joint_twist_rate(JointKind kind, const double* q, const double* v);          // S̊ v
inline Pose joint_transform(const Link& link, const double* q) {
  return joint_transform(link.kind, link.lead, q);
}
inline Subspace motion_subspace(const Link& link, const double* q) {
  return motion_subspace(link.kind, link.lead, q);
}

// Turns freely, and slides along axes of F.
constexpr bool slides_on_axes(JointKind kind) {
  return kind == JointKind::point_on_line || kind == JointKind::point_on_plane || kind == JointKind::free;
}
// S changes with q, seen in M.
constexpr bool axes_turn(JointKind kind) {
  return kind == JointKind::universal || kind == JointKind::planar || kind == JointKind::constant_velocity ||
         slides_on_axes(kind);
}
constexpr bool has_orthonormal_axes(JointKind kind) {
  return kind != JointKind::screw && kind != JointKind::constant_velocity;
}
// The dual P of the first `dofs` columns: rates of a twist S v are Pᵀ S v = v, forces act as P f. A
// screw's force is a torque alone: its turn is its coordinate, and S (SᵀS)⁻¹ would add radians² to metres².
Subspace dual_axes(const Subspace& S, int dofs);

// q_out = q moved along v for a time h: sums for plain coordinates, exp on the right for rotations.
void integrate_joint(JointKind kind, const double* q, const double* v, double h, double* q_out);
// The constant rates that take q to q_end in a time h.
void rates_between(JointKind kind, const double* q, const double* q_end, double h, double* v);

}  // namespace limber::multibody
