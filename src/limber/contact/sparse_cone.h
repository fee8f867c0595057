// Forces of contacts with Coulomb friction to a tolerance, in heaps and knots: sweeps of Gauss–Seidel
// (cone_solver.h), and between them Newton's method on what the contacts are taken for, open, sticking or
// sliding as they stand, by the sparse equations of envelope.h. What comes closer is kept; what does not is
// tried again with shorter steps: each contact gets a compliance of its own.
#pragma once

#include <vector>

#include "limber/contact/cone_solver.h"
#include "limber/contact/envelope.h"

namespace limber::contact {

class SparseCone {
 public:
  // Improves `lambda` (contacts x 4) until no gap changes by more than `tolerance` [m] in a sweep; by more,
  // up to 1e5 times as much, where that takes many. `change` says how much.
  ConeReport solve(const ConeProblem& problem, double tolerance, int max_sweeps, double* lambda);

 private:
  bool step(const ConeProblem& problem, double* lambda);
  void classify(const ConeProblem& problem, const double* lambda);
  void soften(const ConeProblem& problem, int contact, const double* lambda, Mat3& block) const;

  Envelope envelope_;
  double soft_ = 0;                   // of a contact's own motion, added to it
  std::vector<unsigned char> taken_;  // (contacts) 0: open, 1: sticks, 2: slides
  std::vector<Mat3> basis_, rows_;    // (contacts) of its force's change; of its equations
  std::vector<double> rhs_;           // (rows x 4)
  std::vector<double> best_;          // λ before a step
};

}  // namespace limber::contact
