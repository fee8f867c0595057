// A joint that closes a loop, between two links that already hang on the tree. With X_FM = (R, p) the pose of
// M against F, a joint of kind K has 6 − d rows that must vanish, written so that on the closed loop their
// rate is T times the relative twist in M (T ⊥ S):
//
//   spherical  Rᵀp                     revolute   (u_y, −u_x), Rᵀp        with u = Rᵀe_z
//   fixed      log R, Rᵀp              planar     (u_y, −u_x), p_z
//   prismatic  log R, (p_x, p_y)       universal  −R₀₁, Rᵀp
//   point_on_line   (p_x, p_y)         cylindrical  (u_y, −u_x), (p_x, p_y)
//   point_on_plane  p_z                screw  those of cylindrical, p_z − lead (α + 2πk)
//   distance   |p| − length            constant_velocity  2 z, Rᵀp
//
// α = atan2(R₁₀ − R₀₁, R₀₀ + R₁₁) and the turns k of a screw are those that come nearest to p_z: no state. A
// constant velocity joint, R = exp((θ_x, θ_y, 0)), has the quaternion (w, x, y, z) of R with z = 0, and 2 ż =
// (−y, x, w)·ω.
#pragma once

#include "limber/math/spatial.h"
#include "limber/model/joint.h"
#include "limber/multibody/joint_kinematics.h"

namespace limber::multibody {

struct ClosingJoint {
  JointKind kind = JointKind::spherical;
  double lead = 0;    // of a screw: shift a radian [m]
  double length = 0;  // of a distance [m]
};

// Coordinates of the closing joint from its frames: as a tree joint's (q), and with rotation vectors (x).
void closing_coordinates(const ClosingJoint& joint, const Pose& X_FM, double* q, DofArray& x);

// Rows T in M's axes, (6 − dofs) × 6, and the gap. Returns how many.
int closing_rows(const ClosingJoint& joint, const Pose& X_FM, Mat6& T, Vec6& gap);

// Columns P with PᵀS = I: rates are Pᵀ times the relative twist, forces on them the wrench P f.
Subspace closing_axes(const ClosingJoint& joint, const double* q);

// T V̇ of a relative twist V that stays on the loop, V̇ its rate seen in M: T S̊ v, V = S v.
Vec6 closing_row_rates(const ClosingJoint& joint, const Pose& X_FM, const double* q, const Mat6& T,
                       const Vec6& V);

}  // namespace limber::multibody
