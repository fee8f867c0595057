// The generalised articulated-body algorithm: a direct solver for BlockSystem, body by body in 6×6 blocks,
// linear in the number of bodies for structures of bounded width. With no springs and no loops it is the
// articulated-body algorithm. See docs/theory/articulated.md.
//
// A body i along its joint to q, φ_i = X φ_q + S a, with neighbours k (q among them):
//   U_i = W_ii S,  U_k = W_ikᵀ S (+ Xᵀ U_i for k = q),  D = Sᵀ U_i + B
//   W_kl −= U_k D⁻¹ U_lᵀ,  W_qk += Xᵀ W_ik,  W_qq += Xᵀ W_ii X + Xᵀ W_iq + W_iqᵀ X
// A body afloat and a multiplier are the same with S = I and no q; an elastic row's is one number. Loops are
// left to one dense block Λ = −G H⁻¹ Gᵀ, scaled to unit diagonal and factored with pivoting: rows that hang
// on others are dropped.
//
// `exact` is for statics: the matrix may be indefinite. Pivots are then split by their eigenvalues, their
// signs counted (directions()), and a pivot too small to divide by is moved away and brought back by a
// bordered system, so that no accident of the order decides. Along a direction whose stiffness is rounding of
// what stands behind it, nothing moves.
#pragma once

#include <vector>

#include "limber/math/numbers.h"
#include "limber/multibody/elimination_order.h"

namespace limber::multibody {

class Gaba {
 public:
  // Give allow_cuts = false to use `exact`.
  Gaba(const Tree& tree, const Pattern& pattern, bool allow_cuts = true);
  Gaba(const Tree& tree, const Pattern& pattern, EliminationOrder order);

  // False if a pivot is not positive definite (exact: if more than most_borders pivots had to be moved):
  // bad_link() names the link.
  bool factor(const BlockSystem& system, bool exact = false);
  // Scratch of a solve; several threads may solve with the same factor.
  struct Scratch {
    explicit Scratch(const Gaba& gaba);
    std::vector<double> y, t;  // per column: D_c(τ + SᵀF) + a_g, τ + SᵀF
    std::vector<Vec6> F, phi;  // (nodes) right-hand sides; twists and multipliers
    VecX loops_g, loops_x, loops_y;
    void fit(const Gaba& gaba);  // after retie()
  };
  // `homogeneous`: rows that locks give are zero.
  void solve(const BlockRhs& rhs, Scratch& scratch, BlockSolution& x, bool homogeneous = false) const;

  // The last factor, with other values in the rows that locks give.
  void take_given();

  // How every body answers to a wrench on itself alone: φ_i = Y_ii F_i, homogeneous, by the last factor (not
  // of `exact`). About as dear as the factor (gaba_answers.cpp).
  struct Answers {
    std::vector<Mat6> of_body;    // (n) Y_ii
    std::vector<Mat6> blocks, T;  // scratch: (slots) of Y; (neighbours) of one step
    MatX loops;                   // scratch: Λ⁻¹
  };
  void answers(Scratch& scratch, Answers& out) const;

  // Another pattern of ties on the same tree, for the factors to come. Allocates only where it has more.
  void retie(const Pattern& pattern, OrderFinder& finder);

  int bad_link() const { return bad_link_; }
  const EliminationOrder& order() const { return order_; }

  // The force on the rates of a locked joint that its lock needed in the last solve, (dofs).
  Vec6 lock_force(int link, const Scratch& scratch, const BlockSolution& x) const;

  // exact: negative directions of the reduced matrix within the loops, pivots that had to be moved, and the
  // least pivot relative to what it was made of (0: a limit point).
  struct Directions {
    int negative = 0;
    int moved = 0;
    double least = 1;
    int least_link = -1;
  };
  Directions directions() const { return directions_; }
  int dropped_rows() const { return loop_rows_ - loop_rank_ + static_cast<int>(left_out_.size()); }
  // The rows that the last factor dropped are left out of those to come, whatever they would find. Rows of a
  // loop that hang on others only where it is closed contradict them elsewhere.
  void leave_dropped_out() { left_out_.assign(loops_order_.begin() + loop_rank_, loops_order_.end()); }
  void leave_none_out() { left_out_.clear(); }

  // A row of a loop is dropped when less than this is left of its (unit) diagonal.
  static constexpr double drop_below = 1e-11;
  static constexpr int most_borders = 300;
  // exact: of the stiffness behind a pivot, sums over a hundred bodies.
  static constexpr double rounding_of_pivots = 1e-13;

 private:
  struct Pivot {
    int dofs = 0;    // columns of S: joint dofs, or 6
    int column = 0;  // first column in S_, y_, t_
    int square = 0;  // first entry in D_, D_inverse_
    int U = 0;       // first column in U_
  };
  struct Border {  // a pivot that was moved: D + shift e eᵀ
    int joint = 0;
    Vec6 e;
    double shift = 0;
  };

  void make_room();
  void prepare();
  void prepare_cut(int joint);
  void prepare_elastic();
  void prepare_loops();
  bool reaches_a_joint(int loop, int row) const;
  void eliminate_all();
  void bear(const BlockBirth& birth);
  void set_subspace(int s);
  template <int D>
  void eliminate(int s);
  void eliminate_wide(int s);
  template <int D>
  Eigen::Matrix<double, D, D> invert(int s, Eigen::Matrix<double, D, D>& pivot, double scale);
  template <int D>
  Eigen::Matrix<double, D, D> invert_exactly(int s, Eigen::Matrix<double, D, D>& pivot, double scale);
  template <int D>
  void apply_lock(int s, const JointLock& lock, const Eigen::Matrix<double, D, D>& pivot, double scale,
                  Eigen::Matrix<double, D, D>& inverse);
  template <int D>
  void update_neighbours(int s);
  void update_loops(int s, const double* V);
  void factor_loops();
  void factor_loops_exact();
  void solve_loops(Scratch& w) const;
  void invert_loops(Answers& out, Scratch& scratch) const;
  void transfers(int s, Mat6* T, double* own) const;
  void forward(const BlockRhs& rhs, Scratch& w, bool homogeneous) const;
  template <int D>
  void forward_step(int s, const BlockRhs& rhs, Scratch& w, bool homogeneous) const;
  template <int D>
  void backward_step(int s, Scratch& w, BlockSolution& x) const;
  void solve_plain(const BlockRhs& rhs, Scratch& w, BlockSolution& x, bool homogeneous) const;
  void make_border();
  void note_pivot(int s, double value, double scale);
  void find_units();
  void find_stiffness_behind();
  double* block(int slot);
  friend void eliminate_all_kernel(Gaba& gaba);
  friend void forward_kernel(const Gaba& gaba, const BlockRhs& rhs, bool homogeneous, Scratch& w);
  friend void answers_kernel(const Gaba& gaba, Answers& out);
  friend void backward_kernel(const Gaba& gaba, Scratch& w, BlockSolution& x);

  const Tree* tree_;
  const Pattern* pattern_;
  const BlockSystem* system_ = nullptr;
  EliminationOrder order_;
  std::vector<Pivot> pivots_;          // (steps)
  math::Numbers blocks_;               // (slots x block6::stride) W
  std::vector<Mat6> prepared_;         // blocks to which cuts and loops add
  std::vector<double> S_, U_, V_;      // columns of 6
  std::vector<double> D_, D_inverse_;  // per step
  std::vector<double> given_;          // per column: a_g
  std::vector<Vec3> shift_;            // (steps) from the far end's origin to the node's
  std::vector<int> cut_rows_;          // (n)
  std::vector<Mat6> cut_basis_;        // (n) rows of a cut joint (and of its lock), at the child
  std::vector<Mat6> cut_axes_;         // (n) P of a cut joint, PᵀS = I; S itself where it is orthonormal
  MatX loops_, loops_factor_;          // Λ; factor of the scaled −Λ (exact: eigenvectors of Λ)
  VecX loops_scale_, loops_noise_, loops_values_;
  std::vector<int> loops_active_;  // rows in use
  std::vector<int> loops_order_;   // pivoting
  std::vector<int> left_out_;      // rows
  int loop_rows_ = 0, loop_rank_ = 0;
  bool exact_ = false;
  int bad_link_ = -1;
  std::vector<double> unit_;  // exact: (v_count) of each coordinate
  double largest_ = 1;        // exact: of the diagonal of the reduced matrix, in these units
  // exact: (steps) stiffness on the joint's rates of all that is eliminated before and turns with it, as if
  // nothing of it cancelled: pivots are rounded to a small part of that. Scratch: (n) [N/m, N·m]
  std::vector<double> behind_;
  std::vector<Eigen::Vector2d> carried_;
  Directions directions_;
  std::vector<Border> borders_;
  std::vector<BlockSolution> border_columns_;
  std::vector<Scratch> border_scratch_;
  MatX border_inverse_;
};

}  // namespace limber::multibody
