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
  // Forward substitution of four right-hand sides side by side that are zero outside nodes [first, last]; y
  // (48 a node) points to where node 0 would be. Fills nodes from `first` up to the returned one: up to top,
  // or to where nothing is left of them; nodes between last and top must be zero before.
  int forward4(double* y, int first, int last) const;

 private:
  int nodes_ = 0, top_ = 0, negative_ = 0;
  std::vector<double> U_, X_;           // (nodes x 144)
  std::vector<double> inverse_, root_;  // (nodes x 12) 1 / pivots, and the roots of their sizes
};

// (4 x 4, by columns) Σ a_iᵀ b_i over nodes [from, to] of two such fields.
void cross_products(const double* a, const double* b, int from, int to, double* out);

// y += S x for the unfactored matrix.
void block_multiply(int nodes, const double* D, const double* O, const double* x, double* y);

}  // namespace limber::thread
