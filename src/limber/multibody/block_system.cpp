// Products with the Jacobian and the blocks, all O(n).
#include "limber/multibody/block_system.h"

#include <algorithm>

#include "limber/multibody/block6_kernels.h"
#include "limber/multibody/inertia_rows.h"

namespace limber::multibody {
namespace {

using rows::all;
using rows::load3;
using rows::Pack;

// (A, B; Bᵀ, C) by columns, from rows of A (symmetric), B and C (symmetric). Front to back: the fourth number
// of a pack is overwritten by what follows.
LIMBER_INLINE void store_block(const Pack (&A)[3], const Pack (&B)[3], const Pack (&C)[3], double* to) {
  Pack B_columns[3];
  rows::transpose(B, B_columns);
  rows::store(to, A[0]), rows::store(to + 3, B[0]), rows::store(to + 6, A[1]), rows::store(to + 9, B[1]);
  rows::store(to + 12, A[2]), rows::store(to + 15, B[2]), rows::store(to + 18, B_columns[0]);
  rows::store(to + 21, C[0]), rows::store(to + 24, B_columns[1]), rows::store(to + 27, C[1]);
  rows::store(to + 30, B_columns[2]), rows::store3(to + 33, C[2]);
}

LIMBER_INLINE Pack turned_by(const Pack (&R)[3], Pack x) {
  return (R[0] * all(x, 0) + R[1] * all(x, 1)) + R[2] * all(x, 2);
}

// An inertia turned from M into world axes.
LIMBER_INLINE void turn_inertia(const Inertia& I, const Inertia* more, double weight, const Mat6* block,
                                const double* R, double* to) {
  const Pack turn[3] = {load3(R), load3(R + 3), load3(R + 6)}, by = rows::pack(weight), zero = rows::pack(0);
  const double* J = I.I.data();
  Pack A[3] = {load3(J), load3(J + 3), load3(J + 6)}, B[3] = {zero, zero, zero}, C[3] = {zero, zero, zero};
  Pack h = load3(I.h.data());
  double m = I.m;
  if (more) {
    J = more->I.data();
    A[0] += by * load3(J), A[1] += by * load3(J + 3), A[2] += by * load3(J + 6);
    h += by * load3(more->h.data()), m += weight * more->m;
  }
  if (block) {
#pragma GCC unroll 3
    for (int r = 0; r < 3; ++r) {
      const double* column = block->data() + 6 * r;
      A[r] += load3(column), B[r] = load3(column + 3), C[r] = load3(column + 21);
    }
    rows::turn(R, turn, B);
    rows::turn(R, turn, C);
  }
  rows::turn(R, turn, A);
  h = turned_by(turn, h);
  B[0] += Pack{0, -h[2], h[1], 0}, B[1] += Pack{h[2], 0, -h[0], 0}, B[2] += Pack{-h[1], h[0], 0, 0};
  C[0] += Pack{m, 0, 0, 0}, C[1] += Pack{0, m, 0, 0}, C[2] += Pack{0, 0, m, 0};
  store_block(A, B, C, to);
}

LIMBER_KERNEL void set_diagonal_kernel(const LinkMotion* links, const OwnBlocks& own, BlockSystem& s) {
  for (int i = 0; i < s.tree->size(); ++i) {
    const int b = own.index[i];
    turn_inertia((*s.tree)[i].inertia, b >= 0 && b < own.like_inertias ? own.like_inertia + b : nullptr,
                 own.weight, b >= 0 && own.used[b] ? own.block + b : nullptr, links[i].X_WM.R.data(),
                 s.diagonal[i].data());
  }
}

// a = X a_p + R c; y = A_ii a where it is asked for.
template <bool product>
LIMBER_INLINE void add_rates(const BlockSystem& s, const LinkMotion* links, Vec6* acceleration, Vec6* y) {
  Pack w = rows::pack(0), v = w;
  for (int i = 0; i < s.tree->size(); ++i) {
    const double *R = links[i].X_WM.R.data(), *c = links[i].c.data();
    const Pack turn[3] = {load3(R), load3(R + 3), load3(R + 6)};
    const int p = (*s.tree)[i].parent;
    if (p < 0) {
      w = v = rows::pack(0);
    } else {
      if (p != i - 1) w = load3(acceleration[p].data()), v = load3(acceleration[p].data() + 3);
      v += rows::cross(w, load3(s.origin[i].data()) - load3(s.origin[p].data()));
    }
    w += turned_by(turn, load3(c));
    v += turned_by(turn, load3(c + 3));
    rows::store(acceleration[i].data(), w), rows::store3(acceleration[i].data() + 3, v);
    if constexpr (product) block6::times<1>(s.diagonal[i].data(), acceleration[i].data(), y[i].data());
  }
}

LIMBER_KERNEL void rates_kernel(const BlockSystem& s, const LinkMotion* links, Vec6* acceleration) {
  add_rates<false>(s, links, acceleration, nullptr);
}
LIMBER_KERNEL void rates_and_blocks_kernel(const BlockSystem& s, const LinkMotion* links, Vec6* acceleration,
                                           Vec6* y) {
  add_rates<true>(s, links, acceleration, y);
}

}  // namespace

BlockSystem::BlockSystem(const Tree& t, const Pattern& p)
    : tree(&t),
      pattern(&p),
      origin(t.size(), Vec3::Zero()),
      S(6 * static_cast<std::size_t>(t.v_count())),
      diagonal(t.size(), Mat6::Zero()),
      off(p.pairs.size(), Mat6::Zero()),
      joint(t.block_count()),
      loops(p.loops.size()) {
  for (std::size_t l = 0; l < loops.size(); ++l) loops[l].more.assign(p.loops[l].more.size(), Vec6::Zero());
  for (const ElasticSite& site : p.elastic) elastic.emplace_back(site.links.size(), Vec6::Zero());
}

BlockRhs::BlockRhs(const BlockSystem& s)
    : wrench(s.tree->size(), Vec6::Zero()), tau(s.tree->v_count()), g(s.loops.size(), Vec6::Zero()) {}

BlockSolution::BlockSolution(const BlockSystem& s)
    : a(s.tree->v_count()),
      twist(s.tree->size(), Vec6::Zero()),
      lambda(s.loops.size(), Vec6::Zero()),
      dropped(6 * s.loops.size()) {}

void set_kinematics(const double* q, const std::vector<LinkMotion>& links, BlockSystem& s) {
  for (int i = 0; i < s.tree->size(); ++i) {
    const Link& link = (*s.tree)[i];
    const Mat3& R = links[i].X_WM.R;
    s.origin[i] = links[i].X_WM.p;
    double* S = s.S.data() + 6 * link.v;
    if (link.kind == JointKind::revolute) {
      Eigen::Map<Vec6>{S} << R.col(2), Vec3::Zero();
      continue;
    }
    if (link.dofs == 0) continue;
    const Subspace local = motion_subspace(link, q + link.q);
    for (int k = 0; k < link.dofs; ++k)
      Eigen::Map<Vec6>{S + 6 * k} << R * local.col(k).head<3>(), R * local.col(k).tail<3>();
  }
}

void set_diagonal(const std::vector<LinkMotion>& links, const OwnBlocks& own, BlockSystem& s) {
  set_diagonal_kernel(links.data(), own, s);
}

void jacobian_times(const BlockSystem& s, const double* x, Vec6* twist) {
  for (int i = 0; i < s.tree->size(); ++i) {
    const Link& link = (*s.tree)[i];
    Vec6 phi = Vec6::Zero();
    if (link.parent >= 0) phi = shift_twist(twist[link.parent], s.origin[i] - s.origin[link.parent]);
    for (int k = 0; k < link.dofs; ++k)
      phi += Eigen::Map<const Vec6>(s.S.data() + 6 * (link.v + k)) * x[link.v + k];
    twist[i] = phi;
  }
}

void jacobian_rate_times(const BlockSystem& s, const std::vector<LinkMotion>& links, Vec6* acceleration) {
  rates_kernel(s, links.data(), acceleration);
}

void jacobian_transpose_times(const BlockSystem& s, Vec6* y, double* x) {
  for (int i = s.tree->size() - 1; i >= 0; --i) {
    const Link& link = (*s.tree)[i];
    for (int k = 0; k < link.dofs; ++k)
      x[link.v + k] = Eigen::Map<const Vec6>(s.S.data() + 6 * (link.v + k)).dot(y[i]);
    if (link.parent >= 0) y[link.parent] += shift_wrench(y[i], s.origin[i] - s.origin[link.parent]);
  }
}

namespace {

LIMBER_KERNEL void diagonal_times(const BlockSystem& s, const Vec6* twist, Vec6* y) {
  for (int i = 0; i < s.tree->size(); ++i)
    block6::times<1>(s.diagonal[i].data(), twist[i].data(), y[i].data());
}

// y_a += A x_b, y_b += Aᵀ x_a of every pair.
LIMBER_KERNEL void add_pairs_times(const BlockSystem& s, const Vec6* twist, Vec6* y) {
  using block6::load6;
  using block6::Six;
  using block6::Two;
  for (std::size_t k = 0; k < s.off.size(); ++k) {
    const LinkPair& p = s.pattern->pairs[k];
    const double *A = s.off[k].data(), *x_b = twist[p.b].data();
    double *y_a = y[p.a].data(), *y_b = y[p.b].data();
    const Six x_a = load6(twist[p.a].data());
    Six sum = x_b[0] * load6(A);
    double along[6];
#pragma GCC unroll 6
    for (int c = 0; c < 6; ++c) {
      const Six column = load6(A + 6 * c), m = column * x_a;
      if (c > 0) sum = sum + x_b[c] * column;
      const Two even = Two{m.a[0], m.a[1]} + (Two{m.a[2], m.a[3]} + m.b);
      along[c] = even[0] + even[1];
    }
    block6::store6(y_a, load6(y_a) + sum);
    block6::store6(y_b, load6(y_b) + load6(along));
  }
}

// y += Σ r (rᵀ x).
void add_elastic_times(const BlockSystem& s, const Vec6* twist, Vec6* y) {
  for (std::size_t c = 0; c < s.elastic.size(); ++c) {
    const std::vector<int>& links = s.pattern->elastic[c].links;
    double along = 0;
    for (std::size_t k = 0; k < links.size(); ++k) along += s.elastic[c][k].dot(twist[links[k]]);
    for (std::size_t k = 0; k < links.size(); ++k) y[links[k]] += along * s.elastic[c][k];
  }
}

}  // namespace

void blocks_times(const BlockSystem& s, const Vec6* twist, Vec6* y) {
  diagonal_times(s, twist, y);
  add_pairs_times(s, twist, y);
  add_elastic_times(s, twist, y);
}

void jacobian_rate_and_blocks_times(const BlockSystem& s, const std::vector<LinkMotion>& links,
                                    Vec6* acceleration, Vec6* y) {
  rates_and_blocks_kernel(s, links.data(), acceleration, y);
  add_pairs_times(s, acceleration, y);
  add_elastic_times(s, acceleration, y);
}

void joint_blocks_times(const BlockSystem& s, const double* x, double* y) {
  for (const Link& link : s.tree->links())
    for (int i = 0; i < link.dofs; ++i) {
      double sum = 0;
      for (int j = 0; j < link.dofs; ++j) sum += s.joint[link.block + j * link.dofs + i] * x[link.v + j];
      y[link.v + i] = sum;
    }
}

Vec6 loop_times(const BlockSystem& s, int loop, const Vec6* twist) {
  const LoopSite& site = s.pattern->loops[loop];
  const LoopRows& rows = s.loops[loop];
  Vec6 out = Vec6::Zero();
  const auto top = rows.rows;
  if (site.a >= 0) out.head(top) += rows.on_a.topRows(top) * twist[site.a];
  if (site.b >= 0) out.head(top) += rows.on_b.topRows(top) * twist[site.b];
  for (std::size_t k = 0; k < site.more.size(); ++k) out[0] += rows.more[k].dot(twist[site.more[k]]);
  return out;
}

void subtract_loop_forces(const BlockSystem& s, const Vec6* lambda, Vec6* y) {
  for (std::size_t l = 0; l < s.loops.size(); ++l) {
    const LoopSite& site = s.pattern->loops[l];
    const LoopRows& rows = s.loops[l];
    const auto top = rows.rows;
    if (site.a >= 0) y[site.a] -= rows.on_a.topRows(top).transpose() * lambda[l].head(top);
    if (site.b >= 0) y[site.b] -= rows.on_b.topRows(top).transpose() * lambda[l].head(top);
    for (std::size_t k = 0; k < site.more.size(); ++k) y[site.more[k]] -= lambda[l][0] * rows.more[k];
  }
}

void reduced_residual(const BlockSystem& s, const BlockRhs& rhs, const BlockSolution& x,
                      std::vector<Vec6>& scratch, double* residual) {
  blocks_times(s, x.twist.data(), scratch.data());
  for (int i = 0; i < s.tree->size(); ++i) scratch[i] = rhs.wrench[i] - scratch[i];
  subtract_loop_forces(s, x.lambda.data(), scratch.data());
  jacobian_transpose_times(s, scratch.data(), residual);
  for (const Link& link : s.tree->links())
    for (int i = 0; i < link.dofs; ++i) {
      double& r = residual[link.v + i];
      r += rhs.tau[link.v + i];
      for (int j = 0; j < link.dofs; ++j) r -= s.joint[link.block + j * link.dofs + i] * x.a[link.v + j];
    }
  for (int i = 0; s.lock_index && i < s.tree->size(); ++i) {
    const JointLock* lock = s.lock(i);
    if (!lock) continue;
    const Link& link = (*s.tree)[i];
    double* r = residual + link.v;
    for (int k = 0; k < lock->rows; ++k) {
      double along = 0;
      for (int j = 0; j < link.dofs; ++j) along += lock->C(k, j) * r[j];
      for (int j = 0; j < link.dofs; ++j) r[j] -= lock->C(k, j) * along;
    }
  }
}

}  // namespace limber::multibody
