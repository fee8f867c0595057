// The exact tangent of a chain at rest, factored in O(n) (docs/theory/chain.md).
//
// Unknown is a small rotation δ_k of every joint, in world axes; Ω_k = Ω_p + δ_k turns link k. Dead loads on
// links that cannot stretch make a potential whose second derivative knows rotations alone, joint k seeing
// its ancestors only through the rotation Ω_p of its parent:
//
//   row k:    (A_k + sym M_k + E_k − ½[μ_k]) δ_k + (A_k + M_k − [μ_k]) Ω_p + r_k + b_k = 0
//   M_k = tr(S_k) I − S_k,   S_k = Σ f_j (x_j − c_k)ᵀ over the forces on what hangs on joint k
//
// with E_k the spring, μ_k the moments on what hangs on the joint, A_k and b_k what elimination of the
// children left. So the generalised articulated-body elimination needs 3×3 blocks here instead of 6×6. Forces
// that turn with their link (followers, wind) add the force B_k Ω_k + n_k that a subtree hands to its parent;
// without them the matrix is symmetric, and the signs of its pivots count the directions of instability.
// Links that stretch (stretch.h) add −[N]ᵀB[N] to A of the link before the joint, and nothing else.
#pragma once

#include <vector>

#include "limber/chain/links.h"

namespace limber::chain {

// What the elimination reads of every link, in the world.
struct TangentInput {
  std::vector<Vec3> c;   // joint [m]
  std::vector<Mat3> E;   // spring's second derivative
  std::vector<Mat3> S;   // Σ f rᵀ of all that hangs on the joint, about the joint
  std::vector<Vec3> mu;  // Σ moments
  std::vector<Mat3> A,
      B;  // own derivative of minus torque and of force by Ω; used where `general` or stretched
  std::vector<Mat3> lever;  // [N] B of the stretch before the joint: a change of force moves its own lever
  std::vector<Vec3> axis;   // of hinges
  bool general = false;     // moments or turning forces: not symmetric
  void resize(int links);
};

// A pivot too small to divide by, or of a joint that all but turns freely, is made larger by `by` along
// `along`; whoever solves takes that back.
struct MovedPivot {
  int link = 0;
  Vec3 along = Vec3::Zero();
  double by = 0;
};

class Tangent {
 public:
  void factor(const Links& links, const TangentInput& in);
  // K δ = t for torques t on the joints, in world axes. δ may be t.
  void solve(const Links& links, const std::vector<Vec3>& t, std::vector<Vec3>& delta);

  int negative() const { return negative_; }  // pivots below zero (symmetric only)
  const std::vector<MovedPivot>& moved() const { return moved_; }
  // How links turn by the last solution, Ω.
  const std::vector<Vec3>& turns() const { return omega_; }

  // Of a force f and a moment w about its joint that act on link k, the joint keeps w: K⁻¹ has the part
  // wᵀ kept(k) w there. What elimination hands to the parent, about the same point, is w − Gᵀw; of what is
  // right of K⁻¹, where the matrix is not symmetric, w − H w and f + J w.
  const Mat3& kept(int k) const { return Pi_[k]; }
  const Mat3& G(int k) const { return G_[k]; }
  const Mat3& H(int k) const { return H_[k]; }
  const Mat3& J(int k) const { return J_[k]; }
  bool general() const { return general_; }

 private:
  bool general_ = false;
  int negative_ = 0;
  std::vector<MovedPivot> moved_;
  std::vector<Mat3> A_, B_, Pi_, G_, H_, J_, D_;
  std::vector<Vec3> c_, b_, n_, omega_;
  std::vector<double> hangs_;  // stiffest joint next beyond
};

}  // namespace limber::chain
