// LDLᵀ factor of a symmetric block-tridiagonal matrix with 12 x 12 blocks, eliminated from both ends
// towards one block `top` ("twisted"), so that a right-hand side that acts between two nodes only fills the
// blocks from there to `top`.
//
//   forward  j < top:  A_j = L_j D_j L_jᵀ,  X_j = D_j⁻¹ L_j⁻¹ O_j,       A_{j+1} −= X_jᵀ D_j X_j
//   backward j > top:  A_j = L_j D_j L_jᵀ,  X_j = D_j⁻¹ L_j⁻¹ O_{j−1}ᵀ,   A_{j−1} −= X_jᵀ D_j X_j
//
// Both ends in step, all in rows of twelve, that is three packs: no pivoting, no tolerance, O(n). Negative
// pivots are counted: a matrix of statics may have some.
#pragma once

#include <vector>

namespace limber::thread {

class BlockTridiagonal {
 public:
  void resize(int capacity);
  // Factors (nodes) blocks of D (upper triangles are read) and O. Returns the first node with a pivot that
  // is not positive, or −1.
  int factor(int nodes, int top, const double* D, const double* O);
  void solve(double* x) const;  // (nodes x 12) in place

  int nodes() const { return nodes_; }
  int top() const { return top_; }
  int negative() const { return negative_; }  // pivots
  // Solves for four right-hand sides side by side that are zero outside nodes [first, last]; y (nodes x 48)
  // is zero elsewhere. Leaves the solution in nodes [from, to], as far as it is wanted (low … high, with the
  // top and the right-hand side in it) and has not died away to 1e-6.
  void solve4(double* y, int first, int last, int low, int high, int& from, int& to) const;

 private:
  int nodes_ = 0, top_ = 0, negative_ = 0;
  std::vector<double> U_, X_;    // (nodes x 144)
  std::vector<double> inverse_;  // (nodes x 12) 1 / pivots
};

// y += S x for the unfactored matrix.
void block_multiply(int nodes, const double* D, const double* O, const double* x, double* y);

}  // namespace limber::thread
