// A joint that closes a loop, between two links that already hang on the tree. With X_FM = (R, p) the pose of
// M against F, a joint of kind K has 6 − d rows that must vanish, written so that on the closed loop their
// rate is T times the relative twist in M (T ⊥ S):
//
//   spherical  Rᵀp                     revolute   (u_y, −u_x), Rᵀp        with u = Rᵀe_z
//   fixed      log R, Rᵀp              planar     (u_y, −u_x), p_z
//   prismatic  log R, (p_x, p_y)       universal  −R₀₁, Rᵀp
#pragma once

#include "limber/math/spatial.h"
#include "limber/model/joint.h"

namespace limber::multibody {

// Coordinates of the closing joint from its frames: as a tree joint's (q), and with rotation vectors (x).
void closing_coordinates(JointKind kind, const Pose& X_FM, double* q, DofArray& x);

// Rows T in M's axes, (6 − dofs) × 6, and the gap. Returns how many.
int closing_rows(JointKind kind, const Pose& X_FM, Mat6& T, Vec6& gap);

}  // namespace limber::multibody
