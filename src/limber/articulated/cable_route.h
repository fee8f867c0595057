// One straight stretch of a cable between two guides, each a point or a circle on a body.
//
// A circle has its centre c, axis n and radius r; ρ(φ) = cos φ e₁ + sin φ e₂ in its plane, τ = n × ρ, and the
// cable runs along σ τ on it. A stretch from A to B leaves A at T_A = c_A + r_A ρ_A and meets B at T_B where
// its shadow in each circle's plane touches that circle, d = T_B − T_A:
//
//   d·ρ_A = 0,   d·ρ_B = 0,   d·σ_A τ_A > 0,   d·σ_B τ_B > 0.
//
// With angles counted in the bodies' own axes, the length of cable from a mark on A to one on B changes as
//
//   f = |d| + r_A σ_A φ_A − r_B σ_B φ_B,
//
// which is what a sum of stretches adds to the length of a cable that slides round a circle (its wrap is
// φ_out − φ_in) and of one that is fixed to it alike. In one plane ∂f/∂φ = 0 and
// δf = u·(δT_B − δT_A), u = d/|d|; out of it the angles follow by the two conditions, and
//
//   δf = w·(δT_B − δT_A) + m_A·ω_A + m_B·ω_B,   w = u − μ_A ρ_A − μ_B ρ_B,   m = −μ ρ × d,   Jᵀμ = ∂f/∂φ,
//
// J the conditions' derivative by the angles. So forces have a potential whatever the planes; they differ
// from the cable's own direction by the square of the angle between it and the plane.
#pragma once

#include "limber/math/spatial.h"

namespace limber::articulated {

struct GuideFrame {  // in the world
  Vec3 c = Vec3::Zero();
  Vec3 n = Vec3::UnitZ(), e1 = Vec3::UnitX(), e2 = Vec3::UnitY();
  double radius = 0;  // 0: a point
  double sense = 1;   // σ
};

struct Stretch {
  bool exists = false;                                                // else no line touches both
  Vec3 from = Vec3::Zero(), to = Vec3::Zero(), along = Vec3::Zero();  // T_A, T_B, u
  double length = 0;                                                  // |d|
  double leaves = 0, meets = 0;                                       // φ_A, φ_B, in (−π, π] or near
  Vec3 w = Vec3::Zero(), m_A = Vec3::Zero(), m_B = Vec3::Zero();      // of δf
};

Stretch find_stretch(const GuideFrame& A, const GuideFrame& B);

// Moments and forces of δf about fixed points o_A and o_B: (on A; on B).
Vec6 gradient_on_start(const Stretch& s, const Vec3& o_A);
Vec6 gradient_on_end(const Stretch& s, const Vec3& o_B);

// How these change when the guides move with their bodies by a twist about the same points: the second
// derivative of f, by central differences of its gradient, symmetric part.
struct StretchCurvature {
  Mat6 AA, AB, BB;
};
StretchCurvature curvature_of(const GuideFrame& A, const Vec3& o_A, const GuideFrame& B, const Vec3& o_B);

}  // namespace limber::articulated
