// Forces of contacts with Coulomb friction: find λ with, for every contact c,
//
//   gap_c + (Wλ)_n ≥ 0 ⟂ λ_n ≥ 0,      slip_c + (Wλ)_t opposite to λ_t,  |λ_t| ≤ μ λ_n
//
// by projected Gauss–Seidel over contacts: the normal force, then both tangents onto the disk. W = J A⁻¹ Jᵀ,
// the motion that forces give, comes in blocks of one contact by another; those that are zero are left out.
#pragma once

#include <vector>

namespace limber::contact {

// Rows of three (normal, two tangents) padded to four. A block is stored by columns of four.
struct ContactMatrix {
  std::vector<int> start;      // (contacts + 1) into columns and, times 16, into values
  std::vector<int> columns;    // in rising order within a row
  std::vector<double> values;  // (entries x 16)
  std::vector<int> diagonal;   // (contacts) entry of the block (c, c)
};

struct ConeProblem {
  int contacts = 0;
  const ContactMatrix* W = nullptr;
  const double* free = nullptr;      // (contacts x 4) gap and slips with no force, 0
  const double* friction = nullptr;  // (contacts) coefficients
};

struct ConeReport {
  int sweeps = 0;
  int solves = 0;     // of all equations at once
  double change = 0;  // of the last sweep: largest change of a gap or slip [m]
};

// One sweep over all contacts; returns the largest change of a gap or slip [m].
double sweep_contacts(const ConeProblem& problem, double* lambda);
// u (4) of a contact: its gap and slips with the forces λ.
void contact_motion(const ConeProblem& problem, int contact, const double* lambda, double* u);

class ConeSolver {
 public:
  // Improves `lambda` (contacts x 4) until no gap changes by more than `tolerance` [m] in a sweep. Sweeps are
  // extrapolated from the last few (Anderson 1965; Walker, Ni 2011), projected onto the cones and taken back
  // where that leads away.
  ConeReport solve_many(const ConeProblem& problem, double tolerance, int max_sweeps, double* lambda);

 private:
  void extrapolate(const ConeProblem& problem, double* lambda);

  static constexpr int depth = 8;
  int history_ = 0, newest_ = 0;               // entries of the rings below
  std::vector<double> weight_;                 // (contacts) mobilities, which make forces comparable
  std::vector<double> before_, after_;         // λ of the last sweep: what went in, what came out
  std::vector<double> out_[depth], f_[depth];  // differences of what came out, and of the changes
  std::vector<double> last_out_, last_f_, best_;
};

}  // namespace limber::contact
