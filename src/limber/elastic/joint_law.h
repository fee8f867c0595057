// Joint springs and dampers as energy, gradient and Hessian in the joint's rates
// (docs/theory/articulated.md).
//
// Coordinates with a plain rate (all but rotation vectors): V = ½ k (q − q₀)², g = k (q − q₀), H = k.
// Rotation vectors, θ = log(R₀ᵀ R), K = diag(k): V = ½ θᵀKθ; with rates on the right (in M),
//   g = J_r⁻ᵀ(θ) K θ,   H = [∂(J_r⁻ᵀ w)/∂θ |_{w=Kθ} + J_r⁻ᵀ K] J_r⁻¹   (not symmetric away from equilibrium)
//   H₊ = J_r⁻ᵀ K J_r⁻¹  symmetric, positive semidefinite: what a time step uses.
// Damping: force −D·rate, D = diag(d), on the rates themselves.
// Extras (model/joint.h) add to each coordinate's k (q − q₀) the force of its law, its preload and its stop;
// for rotation vectors Kθ becomes w(θ) component by component, and K its slopes.
#pragma once

#include "limber/model/joint.h"

namespace limber::elastic {

// Configuration of a joint as the solver holds it: plain coordinates, and a rotation as a matrix.
struct JointConfiguration {
  DofArray q{};               // plain coordinates, in their places
  Mat3 R = Mat3::Identity();  // of kinds with a rotation vector
};
// From a tree joint's coordinates (rotations as quaternions).
JointConfiguration configuration_of(JointKind kind, const double* q);

struct JointLawValue {
  double energy = 0;
  Vec6 gradient = Vec6::Zero();  // first dof_count entries; the force on the rates is −gradient
};

double joint_energy(JointKind kind, const JointLaw& law, const JointConfiguration& c);
JointLawValue joint_energy_gradient(JointKind kind, const JointLaw& law, const JointConfiguration& c);
// What extras add: to a spring at x = q − rest (or a component of θ), to a stop at q; energy, force against
// the coordinate, slope.
struct CoordinateLaw {
  double energy = 0, force = 0, slope = 0;
};
CoordinateLaw extra_spring(const JointExtras& extras, int dof, double x);
CoordinateLaw extra_stop(const JointLaw& law, int dof, double q);
// Force against the rate, of dampers and of stops; a stop does not pull back.
math::Dual extra_damper(const JointLaw& law, int dof, double q, double rate);

Mat6 joint_hessian(JointKind kind, const JointLaw& law,
                   const JointConfiguration& c);  // exact, top-left block
Mat6 joint_hessian_psd(JointKind kind, const JointLaw& law, const JointConfiguration& c);  // H₊

}  // namespace limber::elastic
