// The system of a step as one dense matrix: the oracle of the tests, and the quickest way for a handful of
// bodies. H = JᵀAJ + B; rows of loops and locks C x = d are split off by a rank-revealing QR of Cᵀ:
// x = x_p + Z z, ZᵀHZ z = Zᵀ(b − H x_p). Works for indefinite H too.
#pragma once

#include "limber/multibody/block_system.h"

namespace limber::multibody {

struct DenseSystem {
  MatX H;  // (v × v)
  MatX J;  // (6n × v)
  MatX C;  // rows: loops first, then locks
};
DenseSystem assemble_dense(const BlockSystem& s);
// False if ZᵀHZ is singular to rounding.
bool solve_dense(const BlockSystem& s, const BlockRhs& rhs, BlockSolution& x);
// Eigenvalues of ZᵀHZ, ascending: its signs are those of the structure within its loops.
VecX dense_directions(const BlockSystem& s);

}  // namespace limber::multibody
