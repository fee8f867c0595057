// Preconditioned conjugate gradients for BlockSystem: Baxter 2019, chapter 3. The preconditioner keeps the
// 6×6 diagonal blocks of A and drops what ties two bodies (eq. 3.1), so that it is an O(n) pass over the
// tree.
//
// Loops, in one of two forms: `projected` puts their rows into the preconditioner, so that every iterate
// obeys them and one solve is enough; `per_row` is the published form (3.2): one solve for every row, in
// parallel, one for the right-hand side and one for the result.
#pragma once

#include <memory>

#include "limber/multibody/gaba.h"

namespace limber::multibody {

class Pcg {
 public:
  enum class Loops { projected, per_row };
  Pcg(const Tree& tree, const Pattern& pattern, Loops loops);

  bool factor(const BlockSystem& system);  // the preconditioner
  // x.a is the first guess. False if the tolerance ‖r‖ ≤ tolerance·‖b‖ was not met in max_iterations.
  bool solve(const BlockRhs& rhs, BlockSolution& x, double tolerance, int max_iterations,
             Workers* workers = nullptr);

  int bad_link() const { return preconditioner_.bad_link(); }
  int iterations() const { return iterations_; }  // of the last solve, all rows together
  const Gaba& preconditioner() const { return preconditioner_; }

 private:
  struct Run {  // scratch of one solve
    Run(const Gaba& factor, const BlockSystem& s) : gaba(factor), rhs(s), z(s), twist(s.tree->size()) {
      for (VecX* x : {&r, &p, &Hp, &zv}) x->setZero(s.tree->v_count());
    }
    Gaba::Scratch gaba;
    BlockRhs rhs;
    BlockSolution z;
    std::vector<Vec6> twist;
    VecX r, p, Hp, zv;
  };
  int iterate(const VecX& b, const std::vector<Vec6>& g, bool with_loops, BlockSolution& x, double tolerance,
              int max_iterations, Run& run) const;
  void multiply(const VecX& x, VecX& y, std::vector<Vec6>& twist, std::vector<Vec6>& wrench) const;
  void remove_locked(VecX& r) const;
  bool solve_rows(const VecX& b, const BlockRhs& rhs, BlockSolution& x, double tolerance, int max_iterations,
                  Workers* workers);

  Pattern pattern_;  // no pairs; loops only if projected
  Loops loops_;
  Gaba preconditioner_;
  const BlockSystem* system_ = nullptr;
  std::vector<std::unique_ptr<Run>> runs_;
  int iterations_ = 0;
};

}  // namespace limber::multibody
