// Forces of contacts with Coulomb friction in the space of what moves, for islands of hundreds of contacts.
//
// With A the inverse of the answer Y of the touched bodies, x their motion and u = free + J x,
//
//   minimise ½ xᵀAx + Σ |P_K(λ̂ − ρ(u + s))|²/2ρ,      λ̂ ← P_K(λ̂ − ρ(u + s)),   s ← μ|u_t| e_n
//
// the augmented Lagrangian of the convex problem that a given s makes of Coulomb's law (De Saxcé, Feng 1998;
// Acary, Cadoux 2011), by Newton's method with line search. Its matrix A + Σ ρ JᵀP'J has one 6×6 block pair a
// contact, as springs have, and is factored by sparse Cholesky: a body's contacts add no rows to it.
#pragma once

#include <Eigen/SparseCholesky>
#include <vector>

#include "limber/contact/friction.h"
#include "limber/math/types.h"

namespace limber::contact {

using Rows36 = Eigen::Matrix<double, 3, 6>;

struct MovedContact {
  int a = -1, b = -1;  // bodies, by their place; −1: stands
  Rows36 G_a, G_b;     // u = G_a x_a + G_b x_b + free
};

class PrimalCone {
 public:
  // Bodies that answer for each other: `count` of them from `first` on, Y by rows of 6×6 blocks.
  void begin(int bodies);
  void add_part(int first, int count, const Mat6* Y, double scale);
  void add_contact(const MovedContact& contact) { contacts_.push_back(contact); }

  // Improves `lambda` (contacts x 4). problem.W tells how good it is, and the contacts' own mobility.
  FrictionReport solve(const ConeProblem& problem, double tolerance, int max_iterations, double* lambda);

 private:
  using Sparse = Eigen::SparseMatrix<double>;
  struct Part {
    int first = 0, count = 0;
    MatX A;
  };
  void gradient(const VecX& x);
  bool newton_step();
  void go_along();
  void motions(const VecX& x);

  std::vector<Part> parts_;
  std::vector<MovedContact> contacts_;
  int bodies_ = 0;
  const ConeProblem* problem_ = nullptr;
  std::vector<double> rho_;                    // (contacts)
  std::vector<Vec3> hat_, shift_, u_, trial_;  // (contacts)
  VecX x_, step_, next_, g_;
  std::vector<Eigen::Triplet<double>> entries_;
  Sparse H_;
  Eigen::SimplicialLDLT<Sparse, Eigen::Lower> factor_;
  bool analysed_ = false;
};

}  // namespace limber::contact
