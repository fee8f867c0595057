// Blocks of the inverse of a block-tridiagonal matrix, from its factor (block_tridiagonal.h): what a force at
// one node moves at another, without a substitution for each.
//
//   T_j = −A_j⁻¹ O_j (O_{j−1}ᵀ beyond the top): node j follows its neighbour on the side of the top by T_j
//   G_top = A_top⁻¹,   G_j = A_j⁻¹ + T_j G_k T_jᵀ      k: that neighbour
//
// G_j are the diagonal blocks of the inverse. For i farther from the top than j, on the same side of it, the
// block (i, j) is T_i … T_k G_j over the nodes between; on two sides of it the way leads through G_top.
#pragma once

#include <cstddef>

#include "limber/thread/block_tridiagonal.h"
#include "limber/thread/pack.h"

namespace limber::thread {

class BlockInverse {
 public:
  void resize(int capacity);
  void reset() { low_ = 0, high_ = -1; }  // of a new factor
  // Makes T and G of the nodes from `low` to `high` and of those between them and the top.
  void cover(const BlockTridiagonal& factor, int low, int high);
  const double* transfer(int j) const { return T_.data() + 144 * static_cast<std::ptrdiff_t>(j); }
  const double* diagonal(int j) const { return G_.data() + 144 * static_cast<std::ptrdiff_t>(j); }

 private:
  int low_ = 0, high_ = -1;  // nodes that are there
  Numbers T_, G_;            // (nodes x 144) in rows of 12
};

// Three forces at node j (y, twelve numbers each), as the nodes from there to `end` feel them, one after
// the other behind y. `way`: 1 or −1, towards the top. With `may_end` the walk ends where nothing is left of
// them (1e-6 of `size`, the largest number on the way). Returns the node that it came to.
int carry_forces(const BlockInverse& inverse, int j, int end, int way, bool may_end, double* y, double& size);
// out = G y of three.
void apply3(const double* G, const double* y, double* out);
void add_follow3(const double* T, const double* y, double* out);  // out += T y

}  // namespace limber::thread
