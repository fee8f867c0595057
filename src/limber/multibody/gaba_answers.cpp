// How each body answers to a wrench on itself: the diagonal blocks of the inverse, in one pass backwards over
// the elimination (Takahashi, Fagan, Chin 1973). With φ_i = Σ T_k φ_k + S D⁻¹ …, T_k = −S D⁻¹ U_kᵀ (+ X for k
// = q),
//
//   Y_il = Σ T_k Y_kl,   Y_ii = S D⁻¹ Sᵀ + Σ Y_il T_lᵀ
//
// over the neighbours k, l, which are eliminated later and tied to each other: what is needed is known. A
// block of Y lives where that of the elimination did, from the step that eliminates its first node back to
// the one that was the first to touch it: the same few places do.
#include <algorithm>

#include "limber/multibody/block6_kernels.h"
#include "limber/multibody/gaba.h"

namespace limber::multibody {
namespace {

using Kind = Elimination::Kind;
using block6::load6;
using block6::Six;
using block6::store6;

// C += A B.
LIMBER_INLINE void add_product(const double* A, const double* B, double* C) {
  for (int c = 0; c < 6; ++c) {
    Six sum = load6(C + 6 * c);
    for (int k = 0; k < 6; ++k) sum = sum + B[6 * c + k] * load6(A + 6 * k);
    store6(C + 6 * c, sum);
  }
}

// C += A Bᵀ, with as many columns as A and B have.
LIMBER_INLINE void add_product_turned(const double* A, const double* B, int columns, double* C) {
  for (int c = 0; c < 6; ++c) {
    Six sum = load6(C + 6 * c);
    for (int k = 0; k < columns; ++k) sum = sum + B[6 * k + c] * load6(A + 6 * k);
    store6(C + 6 * c, sum);
  }
}

}  // namespace

// Λ⁻¹, without the rows that are dropped.
void Gaba::invert_loops(Answers& out, Scratch& scratch) const {
  out.loops.resize(order_.loop_rows, order_.loop_rows);
  for (int row = 0; row < order_.loop_rows; ++row) {
    scratch.loops_g.setZero();
    scratch.loops_g[row] = 1;
    solve_loops(scratch);
    out.loops.col(row) = scratch.loops_x;
  }
}

// T_k of all neighbours of a step, and S D⁻¹ Sᵀ into `own`.
LIMBER_INLINE void Gaba::transfers(int s, Mat6* T, double* own) const {
  const Elimination& e = order_.steps[s];
  const Pivot& p = pivots_[s];
  const int d = p.dofs;
  Mat6 S = Mat6::Identity();
  if (e.kind == Kind::along_joint) std::copy_n(S_.data() + 6 * p.column, 6 * d, S.data());
  const double *inverse = D_inverse_.data() + p.square, *U = U_.data() + 6 * p.U;
  double V[36];
  const auto times_inverse = [&](const double* from) LIMBER_LAMBDA {
    for (int j = 0; j < d; ++j) {
      Six sum{math::pack(0), block6::Two{0, 0}};
      for (int i = 0; i < d; ++i) sum = sum + inverse[d * j + i] * load6(from + 6 * i);
      store6(V + 6 * j, sum);
    }
  };
  for (int k = 0; k < e.neighbour_count; ++k, U += 6 * d) {
    times_inverse(U);
    for (double& x : V) x = -x;
    T[k].setZero();
    if (k == e.toward_slot && e.kind == Kind::along_joint) {
      T[k].setIdentity();
      T[k].bottomLeftCorner<3, 3>() = -math::skew(shift_[s]);
    }
    add_product_turned(S.data(), V, d, T[k].data());
  }
  times_inverse(S.data());
  block6::clear(own);
  add_product_turned(S.data(), V, d, own);
}

LIMBER_KERNEL void answers_kernel(const Gaba& g, Gaba::Answers& out) {
  const EliminationOrder& order = g.order_;
  const int n = g.tree_->size();
  const auto at = [&](int slot) LIMBER_LAMBDA { return out.blocks[slot].data(); };
  for (int s = static_cast<int>(order.steps.size()) - 1; s >= 0; --s) {
    const Elimination& e = order.steps[s];
    const int m = e.neighbour_count, inner = m - e.loop_count;
    const int *own = order.own.data() + e.own, *target = order.targets.data() + e.target,
              *around = order.neighbours.data() + e.neighbours;
    Mat6 self;
    g.transfers(s, out.T.data(), self.data());
    for (int l = 0; l < m; ++l) {
      double* Y = at(own[1 + l]);
      block6::clear(Y);
      for (int k = 0; k < m; ++k) {
        const int first = std::min(k, l), second = std::max(k, l);
        if (first >= inner) {  // both are loops
          const Mat6 block = out.loops.block<6, 6>(order.loop_offset[around[k] - order.first_loop],
                                                   order.loop_offset[around[l] - order.first_loop]);
          add_product(out.T[k].data(), block.data(), Y);
          continue;
        }
        const double* Ykl = at(target[first * m - first * (first - 1) / 2 + second - first]);
        if (k <= l)
          add_product(out.T[k].data(), Ykl, Y);
        else
          add_product_turned(out.T[k].data(), Ykl, 6, Y);
      }
      add_product_turned(Y, out.T[l].data(), 6, self.data());
    }
    self = 0.5 * (self + self.transpose()).eval();
    out.blocks[own[0]] = self;
    if (e.node < n) out.of_body[e.node] = self;
  }
}

void Gaba::answers(Scratch& scratch, Answers& out) const {
  out.of_body.resize(static_cast<std::size_t>(tree_->size()));
  out.blocks.resize(static_cast<std::size_t>(order_.slots));
  out.T.resize(static_cast<std::size_t>(order_.widest));
  if (order_.loop_rows > 0) invert_loops(out, scratch);
  answers_kernel(*this, out);
}

}  // namespace limber::multibody
