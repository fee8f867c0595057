// The articulated-body algorithm with implicit terms: solves, in O(n),
//
//   (M(q) + Σ J_iᵀ A_i J_i + B) a = τ + Jᵀ(F − A c̃) − bias(q, v)      for the joint accelerations a,
//
// with B block-diagonal over joints (joint springs and dampers, e.g. hD + h²K), A_i a symmetric 6×6 block on
// body i (drag, springs to the ground) that acts on the body's whole acceleration, F_i wrenches on the
// bodies. Rows of a joint's acceleration can be given instead: C a = g for orthonormal rows C (prescribed
// motion, limits). With B = A = 0 and no rows this is Featherstone's algorithm (2008, table 7.1).
//
// Backward, U = I^A S, D = SᵀU + B, D_c = D⁻¹ − D⁻¹Cᵀ(C D⁻¹ Cᵀ)⁻¹ C D⁻¹, a_g = D⁻¹Cᵀ(C D⁻¹ Cᵀ)⁻¹ g:
//   I^a = I^A − U D_c Uᵀ,  p^a = p^A + I^a c + U (D_c (τ − Sᵀp^A) + a_g)
// Forward, a' = X⁻¹ a_p + c:  a = D_c (τ − Sᵀp^A − Uᵀa') + a_g.
#pragma once

#include <vector>

#include "limber/multibody/kinematics.h"

namespace limber::multibody {

// Rows of one joint's acceleration that are given.
struct JointLock {
  int link = 0;
  int rows = 0;
  Eigen::Matrix<double, 6, 6, Eigen::RowMajor> C;  // (rows × dofs), orthonormal
  Vec6 g;                                          // (rows)
};

struct AbaInput {
  const std::vector<LinkMotion>* links = nullptr;
  const double* tau = nullptr;          // (v_count) force on the rates
  const Vec6* wrench = nullptr;         // (size) on each body, in M about M's origin; null: none
  const double* joint_block = nullptr;  // (block_count) B, column-major blocks; null: none
  const Mat6* body_block = nullptr;     // A of links with body_block_index ≥ 0; null: none
  const int* body_block_index = nullptr;
  const Mat3* turn_block = nullptr;  // (size) more of A, on the turn alone; null: none
  const JointLock* locks = nullptr;  // null: none
  const int* lock_index = nullptr;   // (size) index into locks, −1: none
};

namespace rows {
// An articulated inertia as it is stored between a link and its parent (inertia_rows.h).
struct alignas(32) Stored {
  double A[12], B[12], C[12];
};
}  // namespace rows

struct AbaWorkspace {
  explicit AbaWorkspace(const Tree& tree);
  std::vector<rows::Stored> inertia;  // (size) what the children gave
  std::vector<double> U;              // (6 × v_count, and one behind them)
  std::vector<double> D_inverse;      // (block_count) D_c
  std::vector<double> u;              // (v_count) D_c (τ − Sᵀp^A) + a_g
  std::vector<double> t;              // (v_count) τ − Sᵀp^A
  std::vector<double> S;              // (6 × v_count) of universal and planar joints
  std::vector<Vec6> a_body;           // (size) accelerations of the links
  int bad_link = -1;                  // where D is not positive definite
};

// Fills a (v_count) and w.a_body. False if a joint's D is not positive definite: a massless body that can
// move freely; w.bad_link names it.
bool aba(const Tree& tree, const double* q, const AbaInput& in, AbaWorkspace& w, double* a,
         Workers* workers = nullptr);

// After aba(): the force on the rates of link i that its lock needed, Uᵀa + Sᵀp^A + B a_i − τ (dofs entries).
Vec6 lock_force(const Tree& tree, const double* q, const AbaInput& in, const AbaWorkspace& w, const double* a,
                int link);

}  // namespace limber::multibody
