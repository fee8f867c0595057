// Rotations: SO(3) with exp, log and their derivatives, perturbed on the right.
//
//   exp(θ + δ) = exp(θ) exp(J_r(θ) δ) + O(δ²),   log(R exp(δ)) = log R + J_r⁻¹(log R) δ + O(δ²)
//   J_r(θ)  = I − (1−cos φ)/φ² [θ] + (φ−sin φ)/φ³ [θ]²,        φ = |θ|
//   J_r⁻¹(θ) = I + ½[θ] + (1/φ² − (1+cos φ)/(2 φ sin φ)) [θ]²
// (Chirikjian 2012, 10.86.) The left Jacobian is the transpose. Coefficients are series near φ = 0 and
// rewritten with half angles elsewhere, so that nothing cancels; log goes through the quaternion, so that π
// is no special place. log returns |θ| ≤ π.
#pragma once

#include "limber/math/types.h"

namespace limber::math {

Mat3 skew(const Vec3& a);  // skew(a) b = a × b

Mat3 rotation_x(double angle);
Mat3 rotation_y(double angle);
Mat3 rotation_z(double angle);

Mat3 so3_exp(const Vec3& theta);
Quat quat_exp(const Vec3& theta);  // unit quaternion of so3_exp
Vec3 so3_log(const Mat3& R);
Vec3 quat_log(const Quat& q);  // q and −q give the same result

Quat to_quat(const Mat3& R);    // w ≥ 0
Mat3 to_matrix(const Quat& q);  // q of unit length
Quat multiply(const Quat& a, const Quat& b);
Quat normalized(const Quat& q);

Mat3 so3_jacobian(const Vec3& theta);          // J_r
Mat3 so3_jacobian_inverse(const Vec3& theta);  // J_r⁻¹

// ∂(J_r(θ) w)/∂θ and ∂(J_r⁻ᵀ(θ) w)/∂θ: the second derivatives that Hessians of rotational springs need.
Mat3 so3_jacobian_derivative(const Vec3& theta, const Vec3& w);
Mat3 so3_jacobian_inverse_transpose_derivative(const Vec3& theta, const Vec3& w);

// A rotation that takes the unit vector z (or x) to the unit vector `axis`; continuous except at −z (−x).
Mat3 rotation_from_z(const Vec3& axis);
Mat3 rotation_from_x(const Vec3& axis);

}  // namespace limber::math
