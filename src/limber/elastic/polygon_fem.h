// Torsion and shear of a meshed section by quadratic finite elements (coordinates y, z from the centroid).
//
// Torsion (St Venant), unit twist rate and G = 1, two ways:
//   warping ω:   τ = ∇ω + (−z, y),      J ≤ ∫|τ_ω|²   for any ω, least for the solution (Dirichlet's
//   principle) stress φ:    τ = (∂φ/∂z, −∂φ/∂y),   J ≥ 4∫φ − ∫|∇φ|²  for any φ that is 0 on the outline and a
//   constant on each
//                hole's edge, the integral of φ running over the holes too (Thomson's principle)
// Both bounds hold exactly for the discrete fields, and their difference is the sum over triangles of ∫|τ_ω −
// τ_φ|² (Prager and Synge 1947): an error estimate without constants, and the mark where to refine.
//
// Shear, ν = 0: a shear force (V_y, V_z) lets the axial stress change by a·(y, z) a unit of length, a = I⁻¹V;
// then τ = ∇ψ, ∇²ψ = −a·(y, z), ∂ψ/∂n = 0, and the factor follows from equal energy, ∫|τ|² = V²/(factor·A).
#pragma once

#include <vector>

#include "limber/elastic/triangle_mesh.h"

namespace limber::elastic {

struct TorsionBounds {
  double lower = 0, upper = 0;
  std::vector<double> gap;  // of each triangle; adds up to upper − lower
};

// hole_areas[k] is the area inside ring k + 1.
TorsionBounds torsion_bounds(const TriangleMesh& mesh, const std::vector<double>& hole_areas);

struct ShearEnergies {
  Vec2 energy{0, 0};          // ∫|∇ψ|² for the two fields; from below
  std::vector<double> error;  // of each triangle, to mark by: h²∫(∇²ψ + a·x)² / energy, both fields added
};

// For ∇²ψ_k = −a_k·(y, z), a_k column k.
ShearEnergies shear_energies(const TriangleMesh& mesh, const Eigen::Matrix2d& a);

}  // namespace limber::elastic
