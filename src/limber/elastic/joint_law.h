// Joint springs and dampers as energy, gradient and Hessian in the joint's rates
// (docs/theory/articulated.md).
//
// Coordinates with a plain rate (all but rotation vectors and the shift of free): V = ½ k (q − q₀)², g = k (q
// − q₀), H = k. Rotation vectors, θ = log(R₀ᵀ R), K = diag(k): V = ½ θᵀKθ; with rates on the right (in M),
//   g = J_r⁻ᵀ(θ) K θ,   H = [∂(J_r⁻ᵀ w)/∂θ |_{w=Kθ} + J_r⁻ᵀ K] J_r⁻¹   (not symmetric away from equilibrium)
//   H₊ = J_r⁻ᵀ K J_r⁻¹  symmetric, positive semidefinite: what a time step uses.
// The shift of a free joint, p in F with rate v in M, ṗ = R v: V = ½ Σ k_i (p_i − p₀_i)², g = Rᵀ K (p − p₀),
// H₊ = Rᵀ K R;
//   H adds ∂(Rᵀ w)/∂ω = [Rᵀ w]ₓ.
// Damping: force −D·rate, D = diag(d), on the rates themselves.
#pragma once

#include "limber/model/joint.h"

namespace limber::elastic {

// Configuration of a joint as the solver holds it: plain coordinates, or rotation matrix and shift.
struct JointConfiguration {
  DofArray q{};               // plain coordinates, in their places
  Mat3 R = Mat3::Identity();  // of kinds with a rotation vector
  Vec3 p = Vec3::Zero();      // free
};
// From a tree joint's coordinates (rotations as quaternions).
JointConfiguration configuration_of(JointKind kind, const double* q);

struct JointLawValue {
  double energy = 0;
  Vec6 gradient = Vec6::Zero();  // first dof_count entries; the force on the rates is −gradient
};

double joint_energy(JointKind kind, const JointLaw& law, const JointConfiguration& c);
JointLawValue joint_energy_gradient(JointKind kind, const JointLaw& law, const JointConfiguration& c);
Mat6 joint_hessian(JointKind kind, const JointLaw& law,
                   const JointConfiguration& c);  // exact, top-left block
Mat6 joint_hessian_psd(JointKind kind, const JointLaw& law, const JointConfiguration& c);  // H₊

}  // namespace limber::elastic
