// Small motions of a structure about a pose where it rests: for wrenches F on bodies and forces τ on joints,
//
//   K x + Jᵀ Gᵀ λ = τ + Jᵀ F,   G J x = 0,   φ = J x,
//
// with its exact stiffness K (weight, loads and multipliers included), its inertia and its dampers there. The
// method that knows the forces fills it; who reduces or shakes the structure asks it. Twists and wrenches
// have world axes and stand at the origin of the link's frame M, as in block_system.h.
#pragma once

#include <memory>

#include "limber/multibody/gaba.h"

namespace limber::multibody {

class SmallMotion {
 public:
  SmallMotion(const Tree& tree, const Pattern& pattern);
  SmallMotion(const SmallMotion&) = delete;

  const Tree tree;
  const Pattern pattern;
  BlockSystem K;           // with its loops and locks
  BlockSystem D;           // dampers: diagonal, off, joint
  std::vector<Mat6> mass;  // (size)
  std::vector<Pose> X_WM;  // (size)
  // (loops) S k⁻¹ Sᵀ of the closing joints, world axes at the world's origin; NaN where a freedom has no
  // stiffness.
  std::vector<Mat6> closing_compliance;
  bool joints_only = true;  // no springs beside those of joints

  void set_locks(const JointLock* locks, int count);  // copied

  // False if something is held by nothing. Call it after K is filled, before solve().
  bool factor();
  Gaba::Directions directions() const { return gaba_.directions(); }
  int redundant_rows() const { return gaba_.dropped_rows(); }
  int bad_link() const { return bad_link_; }

  struct Response {
    std::vector<Vec6> twist;    // (size) φ
    std::vector<double> rates;  // (v_count) x
  };
  void solve(const std::vector<Vec6>& wrench, const std::vector<double>& tau, Response& out);

  // Inertia and dampers: sums over all bodies (and joints) of a's motion against b's.
  double kinetic(const Response& a, const Response& b) const;
  double damping(const Response& a, const Response& b);

  // Between world axes at M and the body's own frame B.
  Vec6 body_twist(int link, const Vec6& twist) const;
  Vec6 world_wrench(int link, const Vec6& wrench_B) const;

 private:
  std::vector<JointLock> locks_;
  std::vector<int> lock_index_;
  Gaba gaba_;
  Gaba::Scratch scratch_;
  BlockRhs rhs_;
  BlockSolution x_;
  std::vector<Vec6> product_;
  int bad_link_ = -1;
};

}  // namespace limber::multibody
