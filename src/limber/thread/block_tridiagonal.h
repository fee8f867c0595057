// LDLᵀ factor of a symmetric block-tridiagonal matrix with 12 x 12 blocks, eliminated from both ends
// towards one block `top` ("twisted").
//
//   forward  j < top:  A_j = L_j D_j L_jᵀ,  X_j = D_j⁻¹ L_j⁻¹ O_j,       A_{j+1} −= X_jᵀ D_j X_j
//   backward j > top:  A_j = L_j D_j L_jᵀ,  X_j = D_j⁻¹ L_j⁻¹ O_{j−1}ᵀ,   A_{j−1} −= X_jᵀ D_j X_j
//
// Both ends in step, all in rows of twelve, that is three packs: no pivoting, no tolerance, O(n). Negative
// pivots are counted: a matrix of statics may have some.
#pragma once

#include <cstddef>
#include <vector>

namespace limber::thread {

class BlockTridiagonal {
 public:
  void resize(int capacity);
  // Factors (nodes) blocks of D (upper triangles are read) and O in place; they belong to the factor from
  // then on. Returns the first node with a pivot that is not positive, or −1.
  int factor(int nodes, int top, double* D, double* O);
  void solve(double* x) const;  // (nodes x 12) in place

  int nodes() const { return nodes_; }
  int top() const { return top_; }
  int negative() const { return negative_; }  // pivots
  // Of xᵀAx = Σ d (Lᵀx)², what the negative pivots d take, over what the positive ones give.
  double negative_share(const double* x) const;
  // Of block j: L_jᵀ (unit upper triangle in rows of 12), 1/D_j and X_j (not of the top).
  const double* upper(int j) const { return U_ + 144 * static_cast<std::ptrdiff_t>(j); }
  const double* pivots(int j) const { return inverse_.data() + 12 * static_cast<std::ptrdiff_t>(j); }
  const double* coupling(int j) const { return X_ + 144 * static_cast<std::ptrdiff_t>(j < top_ ? j : j - 1); }

 private:
  int nodes_ = 0, top_ = 0, negative_ = 0;
  double *U_ = nullptr, *X_ = nullptr;  // (nodes x 144) L_jᵀ where D was, X_j where O was
  std::vector<double> inverse_;         // (nodes x 12) 1 / pivots
};

// y += S x for the unfactored matrix.
void block_multiply(int nodes, const double* D, const double* O, const double* x, double* y);

}  // namespace limber::thread
