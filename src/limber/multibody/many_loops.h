// Structures with hundreds of closed loops in linear time. In the generalised ABA (gaba.h) the loops' rows
// end in one dense block, which costs the cube of their number. Here a loop is first a stiff spring between
// its two bodies, which the elimination takes like any other, and the multipliers follow by iteration:
//
//   H_ρ = H + GᵀRG,   φ(λ) = H_ρ⁻¹ (f + GᵀRg − Gᵀλ),   S λ = G φ(0) − g,   S = G H_ρ⁻¹ Gᵀ = (R + Λ⁻¹)⁻¹
//
// with Λ = G H⁻¹ Gᵀ: the augmented Lagrangian of Hestenes and Powell (for mechanisms Bayo, García de Jalón
// and Serna 1988), its multipliers by conjugate gradients preconditioned with R instead of one update a
// round. The eigenvalues of RS are 1/(1 + (RΛ)⁻¹): near 1, but for directions in which the loops can hardly
// move. Rows that hang on others do no harm: they share the force. See docs/theory/articulated.md.
#pragma once

#include <memory>
#include <vector>

#include "limber/multibody/gaba.h"

namespace limber::multibody {

// Once per topology: loops as pairs of tied bodies, and the order for them.
struct LoopPlan {
  // `finder`: by its one rule, for ties that change; null: the best order.
  LoopPlan(const Tree& tree, const Pattern& pattern, OrderFinder* finder = nullptr);
  Pattern tied;
  std::vector<int> pair;     // (loops) of the tied pattern; −1: a loop on the world
  std::vector<char> turned;  // (loops) its bodies stand the other way round there
  EliminationOrder order;
};

class ManyLoops {
 public:
  ManyLoops(const Tree& tree, const Pattern& pattern, std::shared_ptr<const LoopPlan> plan);
  ManyLoops(const ManyLoops&) = delete;
  ManyLoops& operator=(const ManyLoops&) = delete;

  // False if a pivot is not positive definite: bad_link() names the link.
  bool factor(const BlockSystem& system);
  // `homogeneous`: rows that locks give are zero. What contradicting rows leave open stays open.
  void solve(const BlockRhs& rhs, BlockSolution& x, bool homogeneous = false);

  int bad_link() const { return gaba_.bad_link(); }
  int iterations() const { return iterations_; }  // of the last solve

 private:
  void solve_once(const BlockRhs& rhs, BlockSolution& x, bool homogeneous);
  void open(const std::vector<Vec6>& twist, const std::vector<Vec6>& g);  // r = Gφ − g, and its size
  double weighted(const std::vector<Vec6>& a, const std::vector<Vec6>& b) const;

  std::shared_ptr<const LoopPlan> plan_;
  const BlockSystem* system_ = nullptr;
  BlockSystem tied_;
  Gaba gaba_;
  Gaba::Scratch scratch_;
  std::vector<Vec6> rho_;                      // (loops) R
  std::vector<Vec6> r_, p_, lambda_, closed_;  // (loops)
  double size_ = 0;                            // of what r_ is the difference of, weighted
  double enough_ = 0;                          // rounding of the solve at hand, in the same measure
  BlockRhs load_, left_;
  BlockSolution move_, correction_;
  std::vector<Vec6> scratch_twist_;
  std::vector<double> residual_;
  int iterations_ = 0;
};

}  // namespace limber::multibody
