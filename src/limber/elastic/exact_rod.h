// A clamped elastic rod under dead loads, solved as a differential equation: the reference that pseudo-rigid
// links are measured against. Kirchhoff's rod (inextensible, unshearable; Love 1927, chapter XVIII):
//
//   r' = R e_x,   R' = R [κ]ₓ,   m' = −r' × n,   κ = κ₀ + diag(GJ, EI_y, EI_z)⁻¹ Rᵀ m
//
// Under dead loads the force n(s) = F + w (L − s) is known before the shape is, so the only unknowns are the
// three components of the moment at the clamp: Newton on m(L) = M, and Runge–Kutta of fourth order along the
// rod. A soft, heavy rod has many equilibria: brought up with the loads in steps Newton may end in any of
// them, from the moment of a shape that is known it ends in that shape's.
#pragma once

#include <optional>
#include <vector>

#include "limber/math/spatial.h"

namespace limber::elastic {

struct RodProblem {
  double length = 1;               // [m]
  Pose clamp;                      // x along the rod, y and z the principal axes of its section
  Vec3 stiffness = Vec3::Ones();   // GJ, EI_y, EI_z [N·m²]
  Vec3 curvature = Vec3::Zero();   // κ₀ of the unloaded rod, constant along it [1/m]
  Vec3 tip_force = Vec3::Zero();   // [N], world
  Vec3 tip_moment = Vec3::Zero();  // [N·m], world
  Vec3 line_load = Vec3::Zero();   // [N/m], world; the weight
};

struct RodShape {
  std::vector<Vec3> points;  // at equal distances along the rod, both ends included
  std::vector<Mat3> axes;
  Vec3 root_moment;  // [N·m], world
};

// `points` ≥ 2. Nothing if Newton does not converge.
std::optional<RodShape> solve_rod(const RodProblem& problem, int points, int steps = 2000);
// The one near a shape: points along the rod, the clamp first.
std::optional<RodShape> solve_rod_near(const RodProblem& problem, const std::vector<Vec3>& line, int points,
                                       int steps = 2000);

}  // namespace limber::elastic
