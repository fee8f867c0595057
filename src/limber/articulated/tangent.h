// The exact stiffness of a structure at rest: K = −∂τ/∂q, with the geometric terms of weight, loads, springs
// and loop forces, symmetric part. May be indefinite. Internal to articulated/; docs/theory/articulated.md.
#pragma once

#include "limber/articulated/system.h"

namespace limber::articulated {

// Springs of the system and, beside them, the two bodies of every loop: room for ρ GᵀG.
multibody::Pattern static_pattern(const SystemData& s);

// What stands for ρ in the rows of a loop: ρ [N/m] where they shift, times the size squared where they turn.
// Zero for couplings, which are not augmented.
Vec6 augment_weights(const SystemData& s, int loop, const multibody::LoopRows& rows, double rho);

// Forces at (q, 0, t) and the exact tangent there, with the loops' multipliers λ. Fills w as evaluate() does,
// K's blocks, and rhs: F and τ without the multipliers' forces, g = −gap.
// `touched` limits of closing joints are rows beside their loop's own; limit_rows says which.
// `mass` adds that much of the inertia; `augment` adds ρ GᵀG (and ρ Gᵀg to the right-hand side).
void assemble_tangent(const SystemData& s, const double* q, double t, const std::vector<Vec6>& lambda,
                      double mass, double augment, WorkspaceData& w, std::vector<LoopState>& loops,
                      multibody::BlockSystem& K, multibody::BlockRhs& rhs,
                      const std::vector<char>* touched = nullptr, std::vector<int>* limit_rows = nullptr);

// A metric of steps, positive semidefinite: the stiffness of springs and joint laws, and `mass` of the
// inertia. After assemble_tangent at the same q; fills D's blocks only.
void assemble_metric(const SystemData& s, const double* q, double mass, WorkspaceData& w,
                     const std::vector<LoopState>& loops, multibody::BlockSystem& D);

// Takes the loads on `links` out of K's blocks, as if their wrenches followed the links' own twists: the
// stiffness in coordinates exp(ξ) of those links (docs/theory/rom.md).
void remove_load_blocks(const SystemData& s, const std::vector<int>& links, double t, WorkspaceData& w,
                        multibody::BlockSystem& K);

}  // namespace limber::articulated
