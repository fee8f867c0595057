// The linear system of a step of a structure whose bodies are tied by more than their tree:
//
//   minimise ½ φᵀAφ − Fᵀφ + ½ aᵀBa − τᵀa   subject to   φ_i = X φ_parent + S_i a_i   and   G φ = g,
//
// for the twists φ of the bodies and the rates a of the joints. A is block-sparse over bodies (6×6 on the
// diagonal, and one more for every pair of bodies that a spring or a sprung loop ties), B block-diagonal over
// joints, G the rows of the loop closures. In joint coordinates: (JᵀAJ + B) a + JᵀGᵀλ = τ + JᵀF, GJa = g.
// A holds a rank-one term besides for every elastic row (a cable over many bodies): A += Σ r rᵀ, never
// formed. Rows of single joints can be given (JointLock). Twists and wrenches have world axes and stand at
// the origin of the link's frame M, so that X is a plain shift: v_i = v_p + ω × (p_i − p_p).
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "limber/multibody/aba.h"

namespace limber::multibody {

struct LinkPair {
  int a = 0, b = 0;  // links, a < b
};

struct LoopSite {
  int a = -1, b = -1;     // links; −1: the world
  int capacity = 6;       // most rows it may have
  std::vector<int> more;  // further links, of a single row (a coupling of joints)
};

// Links of an elastic row: each once, in order.
struct ElasticSite {
  std::vector<int> links;
};

// What is tied to what. Fixed for a run.
struct Pattern {
  std::vector<LinkPair> pairs;
  std::vector<LoopSite> loops;
  std::vector<ElasticSite> elastic = {};
};

// Rows of one loop: on_a φ_a + on_b φ_b = g; and Σ more·φ in the first row.
struct LoopRows {
  int rows = 0;
  Mat6 on_a = Mat6::Zero(), on_b = Mat6::Zero();  // top `rows` rows used
  std::vector<Vec6> more;                         // (site.more)
};

struct BlockSystem {
  BlockSystem(const Tree& tree, const Pattern& pattern);

  const Tree* tree;
  const Pattern* pattern;
  std::vector<Vec3> origin;  // (size)
  std::vector<double>
      S;  // (6 × v_count) columns of each joint, orthonormal but for screws and constant velocity joints
  std::vector<Mat6> diagonal;    // (size)
  std::vector<Mat6> off;         // (pairs) rows of a, columns of b
  std::vector<double> joint;     // (block_count)
  std::vector<double> coupling;  // statics: (6 × v_count) c of the terms a_k c_k·φ_parent; empty: none
  std::vector<LoopRows> loops;   // (loops)
  std::vector<std::vector<Vec6>> elastic;  // (elastic, links of each) r
  const JointLock* locks = nullptr;        // null: none
  const int* lock_index = nullptr;         // (size)
  double length = 0;                       // [m] of the structure, over which forces turn it: for rounding

  using Columns = Eigen::Matrix<double, 6, Eigen::Dynamic, 0, 6, 6>;  // never on the heap
  Eigen::Map<const Columns> subspace(int link) const {
    const Link& l = (*tree)[link];
    return {S.data() + 6 * l.v, 6, l.dofs};
  }
  const JointLock* lock(int link) const {
    return lock_index && lock_index[link] >= 0 ? &locks[lock_index[link]] : nullptr;
  }
};

struct BlockRhs {
  explicit BlockRhs(const BlockSystem& s);
  std::vector<Vec6> wrench;  // (size) F
  std::vector<double> tau;   // (v_count)
  std::vector<Vec6> g;       // (loops)
  void clear() {
    for (Vec6& f : wrench) f.setZero();
    std::fill(tau.begin(), tau.end(), 0.0);
    for (Vec6& x : g) x.setZero();
  }
};

struct BlockSolution {
  explicit BlockSolution(const BlockSystem& s);
  std::vector<double> a;      // (v_count)
  std::vector<Vec6> twist;    // (size) φ
  std::vector<Vec6> lambda;   // (loops)
  std::vector<char> dropped;  // (6 × loops) rows that hang on the others and carry no force
};

// Origins and motion subspaces from the links' poses.
void set_kinematics(const double* q, const std::vector<LinkMotion>& links, BlockSystem& s);

// A body's inertia in world axes at its link's origin.
inline Mat6 world_inertia(const Inertia& I, const Mat3& R) {
  const Mat3 h = math::skew(R * I.h);
  Mat6 M;
  M << R * I.I * R.transpose(), h, -h, Mat3(Vec3::Constant(I.m).asDiagonal());
  return M;
}

// What acts on a link by itself, in M about its origin: weight times an inertia, and a block where it is
// used.
struct OwnBlocks {
  const int* index = nullptr;  // (size) into the others; −1: none
  const Inertia* like_inertia = nullptr;
  int like_inertias = 0;  // indices beyond have none
  double weight = 0;
  const Mat6* block = nullptr;
  const char* used = nullptr;
};
// Inertias and the links' own blocks, turned into world axes, into the diagonal.
void set_diagonal(const std::vector<LinkMotion>& links, const OwnBlocks& own, BlockSystem& s);

// φ = J x, O(n) (Baxter 2019, alg. 2).
void jacobian_times(const BlockSystem& s, const double* x, Vec6* twist);
// The rest of the acceleration, φ̇ = J ẍ + J̇ v: what the links' accelerations are at ẍ = 0.
void jacobian_rate_times(const BlockSystem& s, const std::vector<LinkMotion>& links, Vec6* acceleration);
// x = Jᵀ y, O(n) (alg. 3); y is used up.
void jacobian_transpose_times(const BlockSystem& s, Vec6* y, double* x);
// y = A φ.
void blocks_times(const BlockSystem& s, const Vec6* twist, Vec6* y);
// φ̇ as above and y = A φ̇, in one pass over the links.
void jacobian_rate_and_blocks_times(const BlockSystem& s, const std::vector<LinkMotion>& links,
                                    Vec6* acceleration, Vec6* y);
// y = B x.
void joint_blocks_times(const BlockSystem& s, const double* x, double* y);
// G φ of one loop.
Vec6 loop_times(const BlockSystem& s, int loop, const Vec6* twist);
// y −= Gᵀλ.
void subtract_loop_forces(const BlockSystem& s, const Vec6* lambda, Vec6* y);

// τ + Jᵀ(F − Aφ − Gᵀλ) − B a, with what locked rows take removed: (v_count). Scratch: one twist a link.
void reduced_residual(const BlockSystem& s, const BlockRhs& rhs, const BlockSolution& x,
                      std::vector<Vec6>& scratch, double* residual);

// Shift of a twist and of a wrench by r: the twist at the far end, the wrench brought to the near end.
inline Vec6 shift_twist(const Vec6& twist, const Vec3& r) {
  Vec6 out = twist;
  out.tail<3>() += twist.head<3>().cross(r);
  return out;
}
inline Vec6 shift_wrench(const Vec6& wrench, const Vec3& r) {
  Vec6 out = wrench;
  out.head<3>() += r.cross(wrench.tail<3>());
  return out;
}

}  // namespace limber::multibody
