// Equations of contacts among themselves, three numbers a contact: A = L V within the envelope of the matrix,
// blocks of 3 x 3, no pivoting beyond a block. Those that move each other stand near each other in the order
// (Cuthill, McKee 1969, reversed), so that chains and heaps fill little.
//
//   V_qp = A_qp − Σ L_qk V_kp,    L_pq = (A_pq − Σ L_pk V_kq) D_q⁻¹,    D_p = A_pp − Σ L_pk V_kp
#pragma once

#include <vector>

#include "limber/math/numbers.h"
#include "limber/math/types.h"

namespace limber::contact {

struct ContactMatrix;

class Envelope {
 public:
  // The order of a matrix' contacts, whichever of them come to be in the equations.
  void find_order(const ContactMatrix& W);
  // Equations of the contacts for which taken[c] is not 0, all zero.
  void start(const ContactMatrix& W, const std::vector<unsigned char>& taken);

  int rows() const { return static_cast<int>(contact_.size()); }
  int contact(int row) const { return contact_[row]; }
  int row(int contact) const { return row_[contact]; }  // −1: not in them
  void set_block(int p, int q, const Mat3& block);
  bool factor();          // in place; false: a block on the diagonal has no inverse
  void solve(double* x);  // (rows x 4) in place; the fourth is zero

 private:
  std::vector<int> order_, seen_, row_;  // (contacts)
  std::vector<int> contact_, first_;     // (rows) whose they are; the first block within the envelope
  std::vector<std::ptrdiff_t> start_;    // (rows) of the row's three lines of blocks, four numbers each
  math::Numbers L_, V_;                  // rows of L, columns of V
  std::vector<Mat3> D_;                  // (rows), then their inverses
};

}  // namespace limber::contact
