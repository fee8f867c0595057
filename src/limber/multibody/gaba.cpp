// The generalised articulated-body algorithm; equations in the header.
#include "limber/multibody/gaba.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace limber::multibody {
namespace {

using Kind = Elimination::Kind;
template <int D>
using MatD = Eigen::Matrix<double, D, D>;
template <int D>
using VecD = Eigen::Matrix<double, D, 1>;
template <int D>
using Mat6D = Eigen::Matrix<double, 6, D>;

// Rows of a wrench-like block brought from the node to the far end: Xᵀ W.
template <class M>
void shift_rows(const Vec3& r, M& W) {
  for (int c = 0; c < W.cols(); ++c)
    W.col(c).template head<3>() += r.cross(Vec3(W.col(c).template tail<3>()));
}

// Xᵀ W X of a symmetric block.
Mat6 shift_block(const Vec3& r, const Mat6& W) {
  const Mat3 P = math::skew(r);
  const Mat3 A = W.topLeftCorner<3, 3>(), B = W.topRightCorner<3, 3>(), C = W.bottomRightCorner<3, 3>();
  const Mat3 BP = B * P, PC = P * C;
  Mat6 out;
  out.topLeftCorner<3, 3>() = A - BP - BP.transpose() - PC * P;
  out.topRightCorner<3, 3>() = B + PC;
  out.bottomLeftCorner<3, 3>() = out.topRightCorner<3, 3>().transpose();
  out.bottomRightCorner<3, 3>() = C;
  return out;
}

// Inverse by Cholesky; false when a pivot has lost all its digits.
template <int D>
bool invert_spd(const MatD<D>& M, MatD<D>& inverse) {
  if constexpr (D == 1) {
    inverse(0, 0) = 1 / M(0, 0);
    return M(0, 0) > 0 && M(0, 0) < 1e300;
  } else {
    MatD<D> L = MatD<D>::Zero();
    for (int j = 0; j < D; ++j) {
      double pivot = M(j, j);
      for (int k = 0; k < j; ++k) pivot -= L(j, k) * L(j, k);
      if (!(pivot > 1e-13 * M(j, j)) || !(M(j, j) < 1e300)) return false;
      L(j, j) = std::sqrt(pivot);
      for (int i = j + 1; i < D; ++i) {
        double sum = M(i, j);
        for (int k = 0; k < j; ++k) sum -= L(i, k) * L(j, k);
        L(i, j) = sum / L(j, j);
      }
    }
    const MatD<D> L_inverse = L.template triangularView<Eigen::Lower>().solve(MatD<D>::Identity());
    inverse.noalias() = L_inverse.transpose() * L_inverse;
    return true;
  }
}

// Orthonormal columns that complete the rows C (r × d).
Eigen::Matrix<double, 6, 6> complement(const JointLock& lock, int d) {
  Eigen::Matrix<double, 6, 6> N = Eigen::Matrix<double, 6, 6>::Zero();
  int found = 0;
  for (int k = 0; k < d && found < d - lock.rows; ++k) {
    Vec6 x = Vec6::Unit(k);
    for (int pass = 0; pass < 2; ++pass) {
      for (int r = 0; r < lock.rows; ++r)
        x.head(d) -= lock.C.row(r).head(d).transpose() * lock.C.row(r).head(d).dot(x.head(d));
      for (int j = 0; j < found; ++j) x -= N.col(j) * N.col(j).dot(x);
    }
    if (x.norm() < 1e-3) continue;  // among d unit vectors enough are far from the span of fewer than d
    N.col(found++) = x.normalized();
  }
  return N;
}

// Rows T of a joint, orthonormal to its S, in world axes at the child's origin: T (φ_c − X φ_p) = 0.
int constraint_rows(const BlockSystem& s, int link, Mat6& rows) {
  const Link& l = (*s.tree)[link];
  const auto S = s.subspace(link);
  int found = 0;
  Mat6 basis;
  for (int k = 0; k < 6 && found < 6 - l.dofs; ++k) {
    Vec6 x = Vec6::Unit(k);
    for (int pass = 0; pass < 2; ++pass) {
      for (int j = 0; j < l.dofs; ++j) x -= S.col(j) * S.col(j).dot(x);
      for (int j = 0; j < found; ++j) x -= basis.col(j) * basis.col(j).dot(x);
    }
    if (x.norm() < 0.1) continue;
    basis.col(found++) = x.normalized();
  }
  rows.setZero();
  rows.topRows(found) = basis.leftCols(found).transpose();
  return found;
}

}  // namespace

Gaba::Gaba(const Tree& tree, const Pattern& pattern, bool allow_cuts)
    : Gaba(tree, pattern, find_order(tree, pattern, allow_cuts)) {}

Gaba::Gaba(const Tree& tree, const Pattern& pattern, EliminationOrder order)
    : tree_(&tree), pattern_(&pattern), order_(std::move(order)) {
  int columns = 0, squares = 0, U = 0;
  for (const Elimination& e : order_.steps) {
    Pivot p;
    p.dofs = e.kind == Kind::along_joint ? tree[e.joint].dofs : 6;
    p.column = columns;
    p.square = squares;
    p.U = U;
    columns += p.dofs;
    squares += p.dofs * p.dofs;
    U += p.dofs * e.neighbour_count;
    pivots_.push_back(p);
  }
  blocks_.resize(order_.blocks);
  S_.resize(6 * static_cast<std::size_t>(columns));
  U_.resize(6 * static_cast<std::size_t>(U));
  V_.resize(36 * static_cast<std::size_t>(order_.widest + 1));
  D_.resize(squares);
  D_inverse_.resize(squares);
  given_.resize(columns);
  shift_.resize(order_.steps.size(), Vec3::Zero());
  cut_rows_.resize(tree.size());
  cut_basis_.resize(order_.cuts > 0 ? tree.size() : 0);
  const int rows = order_.loop_rows;
  loops_.resize(rows, rows);
  loops_factor_.resize(rows, rows);
  loops_scale_.setZero(rows);
  loops_values_.setZero(rows);
  loops_noise_.setZero(rows);
  loops_active_.reserve(rows);
  loops_order_.reserve(rows);
}

Gaba::Scratch::Scratch(const Gaba& g)
    : y(g.given_.size()),
      t(g.given_.size()),
      F(2 * static_cast<std::size_t>(g.tree_->size()) + g.pattern_->loops.size()),
      phi(F.size()),
      loops_g(VecX::Zero(g.order_.loop_rows)),
      loops_x(loops_g),
      loops_y(loops_g) {}

bool Gaba::factor(const BlockSystem& system, bool exact) {
  system_ = &system;
  exact_ = exact;
  bad_link_ = -1;
  directions_ = {};
  borders_.clear();
  scatter();
  for (std::size_t s = 0; s < order_.steps.size(); ++s) eliminate_any(static_cast<int>(s));
  if (bad_link_ >= 0) return false;
  if (!pattern_->loops.empty()) exact ? factor_loops_exact() : factor_loops();
  if (static_cast<int>(borders_.size()) > most_borders) {  // a structure that nothing holds
    bad_link_ = borders_[0].joint;
    return false;
  }
  if (!borders_.empty()) make_border();
  return true;
}

void Gaba::scatter() {
  const BlockSystem& m = *system_;
  for (Mat6& block : blocks_) block.setZero();
  for (int i = 0; i < tree_->size(); ++i) blocks_[order_.diagonal[i]] = m.diagonal[i];
  for (std::size_t k = 0; k < pattern_->pairs.size(); ++k)
    blocks_[order_.pair_block[k]] = order_.pair_turned[k] ? Mat6(m.off[k].transpose()) : m.off[k];
  if (order_.cuts > 0)
    for (int i = 0; i < tree_->size(); ++i)
      if (order_.cut[i] >= 0) scatter_cut(i);
  scatter_loops();
  if (!exact_) return;
  largest_ = 0;
  for (int i = 0; i < tree_->size(); ++i) {
    const Link& link = (*tree_)[i];
    const auto S = m.subspace(i);
    for (int k = 0; k < link.dofs; ++k)
      largest_ = std::max(largest_, std::abs(S.col(k).dot(m.diagonal[i] * S.col(k))) +
                                        std::abs(m.joint[link.block + k * link.dofs + k]));
  }
  if (!(largest_ > 0)) largest_ = 1;
}

// A cut joint: its rows, and its own stiffness as a block between its two bodies.
void Gaba::scatter_cut(int joint) {
  const BlockSystem& m = *system_;
  const Link& link = (*tree_)[joint];
  const int d = link.dofs, n = tree_->size(), parent = link.parent;
  const auto S = m.subspace(joint);
  Mat6& rows = cut_basis_[joint];
  int count = constraint_rows(m, joint, rows);
  if (const JointLock* lock = m.lock(joint))
    for (int r = 0; r < lock->rows; ++r)
      rows.row(count++) = (S * lock->C.row(r).head(d).transpose()).transpose();
  cut_rows_[joint] = count;

  Mat6 K = Mat6::Zero();
  if (d > 0) {
    using Block = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 6, 6>;
    const Eigen::Map<const Block> B(m.joint.data() + link.block, d, d);
    K = S * B * S.transpose();
  }
  blocks_[order_.diagonal[joint]] += K;
  Mat6& mu = blocks_[order_.diagonal[n + joint]];
  for (int r = count; r < 6; ++r) mu(r, r) = -1;  // rows not in use
  const auto add = [&](int which, const Mat6& block) {
    Mat6& to = blocks_[order_.cut_block[which][joint]];
    if (order_.cut_turned[which][joint])
      to += block.transpose();
    else
      to += block;
  };
  add(0, rows.transpose());
  if (parent < 0) return;
  const Vec3 r = m.origin[joint] - m.origin[parent];
  Mat6 at_parent = -rows.transpose();
  shift_rows(r, at_parent);
  add(1, at_parent);
  if (d == 0) return;
  blocks_[order_.diagonal[parent]] += shift_block(r, K);
  Mat6 between = -K;  // (parent, child) = −Xᵀ K
  shift_rows(r, between);
  add(2, between.transpose());
}

void Gaba::scatter_loops() {
  const BlockSystem& m = *system_;
  loops_.setZero();
  loops_active_.clear();
  for (std::size_t l = 0; l < pattern_->loops.size(); ++l) {
    const LoopRows& rows = m.loops[l];
    const auto top = rows.rows;
    if (const int b = order_.loop_block[0][l]; b >= 0)
      blocks_[b].leftCols(top) += rows.on_a.topRows(top).transpose();
    if (const int b = order_.loop_block[1][l]; b >= 0)
      blocks_[b].leftCols(top) += rows.on_b.topRows(top).transpose();
    // What the row would move if its bodies were free: a row that moves next to nothing of it is noise.
    for (int r = 0; r < top; ++r) {
      const int row = order_.loop_offset[l] + r;
      double reference = 0;
      const LoopSite& site = pattern_->loops[l];
      for (int k = 0; k < 6; ++k) {
        if (site.a >= 0 && m.diagonal[site.a](k, k) > 0)
          reference += rows.on_a(r, k) * rows.on_a(r, k) / m.diagonal[site.a](k, k);
        if (site.b >= 0 && m.diagonal[site.b](k, k) > 0)
          reference += rows.on_b(r, k) * rows.on_b(r, k) / m.diagonal[site.b](k, k);
      }
      loops_noise_[row] = 1e-12 * reference;
      loops_active_.push_back(row);
    }
  }
  loop_rows_ = static_cast<int>(loops_active_.size());
}

void Gaba::eliminate_any(int s) {
  set_subspace(s);
  switch (pivots_[s].dofs) {
    case 0:
      break;
    case 1:
      eliminate<1>(s);
      break;
    case 2:
      eliminate<2>(s);
      break;
    case 3:
      eliminate<3>(s);
      break;
    default:
      eliminate<6>(s);
  }
  if (order_.steps[s].toward >= 0) transfer(s);
}

void Gaba::set_subspace(int s) {
  const Elimination& e = order_.steps[s];
  if (e.kind != Kind::along_joint) return;
  const BlockSystem& m = *system_;
  shift_[s] = e.toward >= 0 ? Vec3(m.origin[e.node] - m.origin[e.toward]) : Vec3(Vec3::Zero());
  const int d = pivots_[s].dofs;
  double* S = S_.data() + 6 * pivots_[s].column;
  const double* own = m.S.data() + 6 * (*tree_)[e.joint].v;
  if (!e.reversed) {
    std::copy_n(own, 6 * d, S);
    return;
  }
  for (int k = 0; k < d; ++k)
    Eigen::Map<Vec6>{S + 6 * k} = -shift_twist(Eigen::Map<const Vec6>(own + 6 * k), shift_[s]);
}

template <int D>
void Gaba::eliminate(int s) {
  const Elimination& e = order_.steps[s];
  const Pivot& p = pivots_[s];
  const Mat6& W = blocks_[order_.diagonal[e.node]];
  Eigen::Map<Mat6D<D>> S(S_.data() + 6 * p.column);
  Mat6D<D> U_own;
  MatD<D> pivot;
  double scale = 0;
  if (e.kind == Kind::along_joint) {
    U_own.noalias() = W * S;
    pivot.noalias() = S.transpose() * U_own;
    if (exact_) scale = (S.cwiseAbs().transpose() * W.cwiseAbs() * S.cwiseAbs()).diagonal().maxCoeff();
    const Eigen::Map<const MatD<D>> B(system_->joint.data() + (*tree_)[e.joint].block);
    pivot += B;
    if (exact_) scale += B.cwiseAbs().maxCoeff();
  } else if constexpr (D == 6) {
    U_own = W;
    pivot = W;
  }
  MatD<D> inverse;
  Eigen::Map<VecD<D>> given(given_.data() + p.column);
  given.setZero();
  const JointLock* lock = e.kind == Kind::along_joint ? system_->lock(e.joint) : nullptr;
  if (lock && lock->rows > 0)
    apply_lock<D>(s, *lock, pivot, scale, inverse);
  else
    inverse = invert<D>(s, pivot, scale);
  Eigen::Map<MatD<D>>(D_.data() + p.square) = pivot;
  Eigen::Map<MatD<D>>(D_inverse_.data() + p.square) = inverse;

  // U_k of all neighbours, V_k = U_k D⁻¹
  const int count = e.neighbour_count;
  double* U = U_.data() + 6 * p.U;
  for (int k = 0; k < count; ++k) {
    Eigen::Map<Mat6D<D>> Uk(U + 6 * D * k);
    if (e.kind != Kind::along_joint) {
      if constexpr (D == 6) Uk = blocks_[e.block + k].transpose();
    } else if (k != e.toward_slot) {
      Uk.noalias() = blocks_[e.block + k].transpose() * S;
    } else {
      shift_rows(shift_[s], U_own);
      if (e.tied) U_own.noalias() += blocks_[e.block + k].transpose() * S;
      if (!system_->coupling.empty())
        U_own += Eigen::Map<const Mat6D<D>>(system_->coupling.data() + 6 * (*tree_)[e.joint].v);
      Uk = U_own;
    }
    Eigen::Map<Mat6D<D>>(V_.data() + 6 * D * k).noalias() = Uk * inverse;
  }

  const int inner = count - e.loop_count;
  const int* target = order_.targets.data() + e.target;
  for (int k = 0; k < inner; ++k) {
    const Eigen::Map<const Mat6D<D>> Vk(V_.data() + 6 * D * k);
    for (int l = k; l < count; ++l) {
      const Eigen::Map<const Mat6D<D>> Ul(U + 6 * D * l);
      blocks_[*target++].noalias() -= Vk * Ul.transpose();
    }
  }
  if (e.loop_count > 0) update_loops(s, V_.data());
}

void Gaba::update_loops(int s, const double* V) {
  const Elimination& e = order_.steps[s];
  const int d = pivots_[s].dofs, n = tree_->size();
  const double* U = U_.data() + 6 * pivots_[s].U;
  using Columns = Eigen::Map<const Eigen::Matrix<double, 6, Eigen::Dynamic, 0, 6, 6>>;
  const int* around = order_.neighbours.data() + e.neighbours;
  for (int k = e.neighbour_count - e.loop_count; k < e.neighbour_count; ++k) {
    const int row = order_.loop_offset[around[k] - 2 * n];
    const int rows = pattern_->loops[around[k] - 2 * n].capacity;
    const Columns Vk(V + 6 * d * k, 6, d);
    for (int l = k; l < e.neighbour_count; ++l) {
      const int column = order_.loop_offset[around[l] - 2 * n];
      const int columns = pattern_->loops[around[l] - 2 * n].capacity;
      const Columns Ul(U + 6 * d * l, 6, d);
      for (int c = 0; c < columns; ++c)
        for (int r = 0; r < rows; ++r) {
          double sum = 0;
          for (int j = 0; j < d; ++j) sum += Vk(r, j) * Ul(c, j);
          loops_(row + r, column + c) -= sum;
        }
    }
  }
}

void Gaba::note_pivot(int s, double value, double scale) {
  const double relative = scale > 0 ? std::abs(value) / scale : 0;
  if (relative < directions_.least) {
    directions_.least = relative;
    directions_.least_link = order_.steps[s].joint;
  }
  if (value < 0) ++directions_.negative;
}

template <int D>
MatD<D> Gaba::invert(int s, MatD<D>& pivot, double scale) {
  const Elimination& e = order_.steps[s];
  MatD<D> inverse;
  if (!exact_) {
    const bool cut = e.kind == Kind::cut;
    const bool good = cut ? invert_spd<D>(MatD<D>(-pivot), inverse) : invert_spd<D>(pivot, inverse);
    if (cut) inverse = -inverse;
    if (!good) {
      if (bad_link_ < 0) bad_link_ = e.joint >= 0 ? e.joint : e.node;
      inverse.setZero();
    }
    return inverse;
  }
  constexpr double too_small = 1e-9;
  const Eigen::SelfAdjointEigenSolver<MatD<D>> eigen(pivot);
  VecD<D> values = eigen.eigenvalues();
  for (int k = 0; k < D; ++k) {
    if (!(std::abs(values[k]) <= too_small * scale)) {
      note_pivot(s, values[k], scale);
      continue;
    }
    Border border;
    border.joint = e.joint;
    border.e.setZero();
    border.e.template head<D>() = eigen.eigenvectors().col(k);
    border.shift = std::max(scale, largest_ * 1e-3);
    note_pivot(s, 0, scale);
    pivot += border.shift * eigen.eigenvectors().col(k) * eigen.eigenvectors().col(k).transpose();
    values[k] += border.shift;
    borders_.push_back(border);
    ++directions_.moved;
  }
  return eigen.eigenvectors() * values.cwiseInverse().asDiagonal() * eigen.eigenvectors().transpose();
}

// Rows of the joint that are given: motion is left along N only, D_c = N (Nᵀ D N)⁻¹ Nᵀ.
template <int D>
void Gaba::apply_lock(int s, const JointLock& lock, const MatD<D>& pivot, double scale, MatD<D>& inverse) {
  const int free = D - lock.rows;
  Eigen::Map<VecD<D>> given(given_.data() + pivots_[s].column);
  given = lock.C.topLeftCorner(lock.rows, D).transpose() * lock.g.head(lock.rows);
  inverse.setZero();
  if (free == 0) return;
  const Eigen::Matrix<double, 6, 6> N = complement(lock, D);
  const auto Nd = N.topLeftCorner<D, 6>();
  for (int k = 0; k < free; ++k) {  // one direction at a time, made orthogonal in D to those before
    VecD<D> x = Nd.col(k);
    x -= inverse * (pivot * x);
    const double value = x.dot(pivot * x);
    if (exact_) {
      note_pivot(s, value, scale);
    } else if (!(value > 0)) {
      if (bad_link_ < 0) bad_link_ = order_.steps[s].joint;
      continue;
    }
    if (value != 0) inverse += x * x.transpose() / value;
  }
  given -= inverse * (pivot * given);
}

// What the body still carries goes to the far end of its joint.
void Gaba::transfer(int s) {
  const Elimination& e = order_.steps[s];
  const Vec3& r = shift_[s];
  const int q = e.toward_slot, count = e.neighbour_count;
  const int* targets = order_.targets.data() + e.target;
  const auto target = [&](int k, int l) {  // k ≤ l
    return targets[k * count - k * (k - 1) / 2 + (l - k)];
  };
  Mat6& own = blocks_[target(q, q)];
  own += shift_block(r, blocks_[order_.diagonal[e.node]]);
  for (int k = 0; k < count; ++k) {
    if (k == q && !e.tied) continue;
    Mat6 Z = blocks_[e.block + k];
    shift_rows(r, Z);
    if (k == q)
      own += Z + Z.transpose();
    else if (q < k)
      blocks_[target(q, k)] += Z;
    else
      blocks_[target(k, q)] += Z.transpose();
  }
}

}  // namespace limber::multibody
