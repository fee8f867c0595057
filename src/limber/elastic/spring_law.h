// A straight spring between point a on body A and point b on body B, in the bodies' own frames.
//
//   l = |x_b − x_a|, n = (x_b − x_a)/l, V = ½ k (l − L)² (0 when slack and tension-only), tension T = k (l −
//   L) + c l̇ with twists on the right (body axes), x = p + R r: ∂x/∂(ω, v) = R [−[r]ₓ, I].
//   Curves add f(l − L) + preload + d(l̇), and ∫f + preload (l − L) to V.
// Gradient: the generalised force on each body is minus it. Hessian: derivative of the gradient by the two
// bodies' twists, 12×12, exact (not symmetric away from equilibrium); the safe one keeps k n nᵀ and, in
// tension only, the geometric part T/l (I − n nᵀ): symmetric, positive semidefinite.
#pragma once

#include "limber/math/spatial.h"
#include "limber/model/joint.h"

namespace limber::elastic {

// What few springs have; none of them with tension_only but the damper.
struct SpringCurves {
  Law force, damper;  // by the stretch l − L, by its rate
  double preload = 0;
};
struct SpringParameters {
  double stiffness = 0, damping = 0, rest_length = 0;
  bool tension_only = false;
  std::shared_ptr<const SpringCurves> curves{};  // null: none
};
// Of a spring that knows its rest length: of a model that beams_to_links() made.
SpringParameters law_of(const Spring& spring);
// The length at which it is at ease: the given one, or the distance of its ends at t = 0.
double rest_length_of(const Spring& spring, const Vec3& a_at_start, const Vec3& b_at_start);

// Of a spring of this length, which changes at this rate: T, never negative if tension-only; V.
double spring_tension(const SpringParameters& s, double length, double rate);
double spring_energy(const SpringParameters& s, double length);

using Vec12 = Eigen::Matrix<double, 12, 1>;
using Mat12 = Eigen::Matrix<double, 12, 12>;

struct SpringState {
  double length = 0, rate = 0,
         tension = 0;           // [m], [m/s], [N] (elastic + damping, never negative if tension-only)
  double energy = 0;            // [J]
  Vec12 force = Vec12::Zero();  // wrench on A, then on B, in their own frames (elastic + damping)
};

// The same law by its line alone: d = x_b − x_a and its rate, in any axes. The pull acts on a towards b (and
// against it on b). Its derivatives by d and its rate are across I + (along − across) n nᵀ and damping n nᵀ;
// with `clamp` positive semidefinite.
struct SpringLine {
  Vec3 pull = Vec3::Zero(), n = Vec3::Zero();  // [N] elastic + damping; from a to b
  double across = 0, along = 0;                // [N/m]
  double damping = 0;                          // [N·s/m]
  double power = 0;                            // [W] that the damper takes out
  Mat3 K() const { return blend(1, 0); }
  Mat3 D() const { return blend(0, 1); }
  Mat3 blend(double k, double d) const {  // k K + d D
    return (k * across) * Mat3::Identity() + (k * (along - across) + d * damping) * n * n.transpose();
  }
  Vec3 K_times(const Vec3& x) const { return across * x + ((along - across) * n.dot(x)) * n; }
};
SpringLine spring_line(const SpringParameters& s, const Vec3& d, const Vec3& rate, bool clamp);

SpringState spring_state(const SpringParameters& s, const Pose& X_WA, const Vec3& p_A, const Vec6& V_A,
                         const Pose& X_WB, const Vec3& p_B, const Vec6& V_B);
double spring_energy(const SpringParameters& s, const Pose& X_WA, const Vec3& p_A, const Pose& X_WB,
                     const Vec3& p_B);
Vec12 spring_gradient(const SpringParameters& s, const Pose& X_WA, const Vec3& p_A, const Pose& X_WB,
                      const Vec3& p_B);
Mat12 spring_hessian(const SpringParameters& s, const Pose& X_WA, const Vec3& p_A, const Pose& X_WB,
                     const Vec3& p_B);
Mat12 spring_hessian_psd(const SpringParameters& s, const Pose& X_WA, const Vec3& p_A, const Pose& X_WB,
                         const Vec3& p_B);
Mat12 spring_damping(const SpringParameters& s, const Pose& X_WA, const Vec3& p_A, const Pose& X_WB,
                     const Vec3& p_B);

}  // namespace limber::elastic
