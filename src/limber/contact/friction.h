// Impulses of contacts between rigid bodies: two solvers for one problem, and how good a solution is.
//
//   u = W λ + free,   0 ≤ u_n ⟂ λ_n ≥ 0,   |λ_t| ≤ μ λ_n,   u_t ≠ 0 ⇒ λ_t = −μ λ_n u_t / |u_t|
//
// per contact, with rows (normal, two tangents), u velocities [m/s] (or what `free` is given in) and λ
// impulses. With De Saxcé's ũ = u + μ|u_t| e_n this is one complementarity of cones, K ∋ λ ⟂ ũ ∈ K*: the
// residual below measures that.
//
//   pgs   projected Gauss–Seidel as published by Erleben (2007): each tangent bounded by μ times the last
//   normal
//         impulse (a pyramid), a fixed number of sweeps. Cheap, not converged, as in games.
//   cone  the circular cone, to a tolerance, however unequal the masses and however many contacts say the
//   same:
//         Newton's method, and an interior-point method where that fails (friction_cone.cpp).
#pragma once

#include <vector>

#include "limber/contact/cone_solver.h"

namespace limber::contact {

enum class FrictionMethod : unsigned char { pgs, cone };

struct FrictionOptions {
  FrictionMethod method = FrictionMethod::cone;
  int sweeps = 50;           // pgs: all of them are done
  int max_iterations = 200;  // cone: of the interior-point method
  double tolerance = 1e-10;  // cone: of the residual
};

struct FrictionReport {
  bool converged = false;  // pgs: whether the sweeps happened to reach the tolerance
  int iterations = 0;
  int solves = 0;       // cone: of linear systems
  double residual = 0;  // largest of |λ − P_K(λ − ũ/w)| w over contacts, as a part of the largest |free|
  double cone_violation = 0;   // largest of |λ_t| − μ λ_n, and of −λ_n, as a part of the largest |λ|
  double complementarity = 0;  // largest of |λ·ũ|, as a part of the largest |λ| and |free|
};

// Every contact with every other: zeroes the matrix and gives it all blocks.
void make_dense(int contacts, ContactMatrix& W);
// Block (c, b) of a dense matrix, by columns of four: entry (i, k) is [4k + i].
inline double* dense_block(ContactMatrix& W, int contacts, int c, int b) {
  return W.values.data() + 16 * (static_cast<std::size_t>(c) * contacts + b);
}

// Moves x = (normal, two tangents) to the nearest point of the cone |x_t| ≤ μ x_n.
void project_on_cone(double mu, double* x);

// How good forces are, contact by contact: the figures of FrictionReport.
class ContactMeasure {
 public:
  // (normal, two tangents) of free and of the velocities u that the forces x make; w: the contact's mobility.
  void add(double mu, double w, const double* free, const double* u, const double* x);
  void tell(FrictionReport& report) const;

 private:
  double free_ = 0, force_ = 0, miss_ = 0, outside_ = 0, work_ = 0;
};

// What the solution is worth; λ has (contacts x 4).
void measure(const ConeProblem& problem, const double* lambda, FrictionReport& report);

// The interior-point method of the cone solver, on the scaled problem (friction_interior.cpp).
class InteriorPoint {
 public:
  // `force`: the first guess of scaled impulses over scaled velocities.
  void start(const ConeProblem& problem, const std::vector<double>& G, const std::vector<double>& g, int n,
             double force);
  // Until the mean of x·y has fallen to `close` of where it began, or nothing moves any more.
  void run(double close, int max_iterations, FrictionReport& report);
  void forces(double* x) const;  // (n) in the scaled problem, as (normal, two tangents)

 private:
  bool factor();
  void back_solve(double* x) const;
  double longest_step(const std::vector<double>& x, const std::vector<double>& dx) const;
  void residual();

  int n_ = 0;
  double follow_ =
      1;  // the part of the change of s that a step takes into account: less where steps get short
  double first_ = 0;                                 // mean of x·y at the start
  std::vector<double> mu_;                           // (contacts)
  std::vector<double> G_, L_;                        // (n x n) Ĝ; factors of Ĝ + H and the change of s
  std::vector<int> pivot_;                           // (n)
  std::vector<double> H_;                            // (contacts x 9)
  std::vector<double> g_, x_, y_, r_, dx_, dy_, d_;  // (n); r = Ĝx̂ + ĝ + ŝ
};

class FrictionSolver {
 public:
  // Improves `lambda` (contacts x 4), which is the first guess. Allocates only when the problem grows.
  FrictionReport solve(const ConeProblem& problem, const FrictionOptions& options, double* lambda);

 private:
  void sweep_pyramid(const ConeProblem& problem, double* lambda) const;
  void solve_cone(const ConeProblem& problem, const FrictionOptions& options, double* lambda,
                  FrictionReport& report);
  void scale(const ConeProblem& problem);
  double natural_map(const ConeProblem& problem, const double* q, bool derivative);
  bool gauss();
  void newton(const ConeProblem& problem, double goal, int rounds, bool bold, FrictionReport& report);

  int n_ = 0;                                         // unknowns: 3 a contact
  double soft_ = 0;                                   // added to the scaled matrix in Newton's derivative
  std::vector<double> scale_;                         // (contacts)
  std::vector<double> G_, J_;                         // (n x n) scaled W; Newton's matrix
  std::vector<double> g_, y_, rhs_;                   // (n) scaled free; a guess; F, then Newton's step
  std::vector<double> q_, step_, trial_, at_, kept_;  // (n)
  InteriorPoint interior_;
};

// The velocity that a contact shall have at least after an impact: free_n as it must enter the problem so
// that u_n = 0 means the bodies part at `restitution` times their speed of approach. Slower impacts than
// `threshold` [m/s] do not bounce. `approach` is the normal velocity before the impact, negative when they
// approach.
double with_restitution(double free_n, double approach, double restitution, double threshold);

}  // namespace limber::contact
