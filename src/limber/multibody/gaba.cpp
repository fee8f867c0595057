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
    const Eigen::Map<const MatX> B(m.joint.data() + link.block, d, d);
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

// −Λ is positive semidefinite: Cholesky with diagonal pivoting of the matrix scaled to unit diagonal.
void Gaba::factor_loops() {
  const int m = loop_rows_;
  loops_order_ = loops_active_;
  loop_rank_ = 0;
  for (const int i : loops_active_) {
    const double d = -loops_(i, i);
    loops_scale_[i] = d > loops_noise_[i] ? 1 / std::sqrt(d) : 0;
  }
  // The upper triangle of Λ is filled; the factor is held by rows of the permuted order.
  for (int a = 0; a < m; ++a)
    for (int b = 0; b <= a; ++b) {
      const int i = loops_active_[a], j = loops_active_[b];
      const double value = -loops_(std::min(i, j), std::max(i, j)) * loops_scale_[i] * loops_scale_[j];
      loops_factor_(a, b) = value;
    }
  for (int k = 0; k < m; ++k) {
    int best = k;
    for (int i = k + 1; i < m; ++i)
      if (loops_factor_(i, i) > loops_factor_(best, best)) best = i;
    if (!(loops_factor_(best, best) > drop_)) break;
    if (best != k) {  // swap rows and columns k and best of the lower triangle
      std::swap(loops_order_[k], loops_order_[best]);
      std::swap(loops_factor_(k, k), loops_factor_(best, best));
      for (int j = 0; j < k; ++j) std::swap(loops_factor_(k, j), loops_factor_(best, j));
      for (int i = k + 1; i < best; ++i) std::swap(loops_factor_(i, k), loops_factor_(best, i));
      for (int i = best + 1; i < m; ++i) std::swap(loops_factor_(i, k), loops_factor_(i, best));
    }
    const double pivot = std::sqrt(loops_factor_(k, k));
    loops_factor_(k, k) = pivot;
    for (int i = k + 1; i < m; ++i) loops_factor_(i, k) /= pivot;
    for (int j = k + 1; j < m; ++j) {
      const double x = loops_factor_(j, k);
      for (int i = j; i < m; ++i) loops_factor_(i, j) -= loops_factor_(i, k) * x;
    }
    ++loop_rank_;
  }
}

// Λ may be indefinite: by eigenvalues, those near zero left out.
void Gaba::factor_loops_exact() {
  const int m = loop_rows_;
  MatX L(m, m);
  for (const int i : loops_active_) {
    const double d = std::abs(loops_(i, i));
    loops_scale_[i] = d > loops_noise_[i] ? 1 / std::sqrt(d) : 0;
  }
  for (int a = 0; a < m; ++a)
    for (int b = 0; b < m; ++b) {
      const int i = loops_active_[a], j = loops_active_[b];
      L(a, b) = loops_(std::min(i, j), std::max(i, j)) * loops_scale_[i] * loops_scale_[j];
    }
  const Eigen::SelfAdjointEigenSolver<MatX> eigen(L);
  loop_rank_ = 0;
  loops_factor_.topLeftCorner(m, m) = eigen.eigenvectors();
  const double top = eigen.eigenvalues().cwiseAbs().maxCoeff();
  for (int a = 0; a < m; ++a) {
    const double value = eigen.eigenvalues()[a];
    const bool kept = std::abs(value) > drop_ * top;
    loops_values_[a] = kept ? 1 / value : 0;
    if (!kept) continue;
    ++loop_rank_;
    if (value < 0) ++directions_.negative;
  }
  directions_.negative -= loop_rank_;  // every row that holds adds one negative and one positive direction
}

void Gaba::solve_loops(Scratch& w) const {
  const int m = loop_rows_, k = loop_rank_;
  w.loops_x.setZero();
  if (exact_) {
    VecX g(m);
    for (int a = 0; a < m; ++a) g[a] = w.loops_g[loops_active_[a]] * loops_scale_[loops_active_[a]];
    const auto Q = loops_factor_.topLeftCorner(m, m);
    const VecX x = Q * (loops_values_.head(m).cwiseProduct(Q.transpose() * g));
    for (int a = 0; a < m; ++a) w.loops_x[loops_active_[a]] = x[a] * loops_scale_[loops_active_[a]];
    return;
  }
  double* x = w.loops_y.data();
  for (int a = 0; a < k; ++a) {
    double sum = -w.loops_g[loops_order_[a]] * loops_scale_[loops_order_[a]];
    for (int b = 0; b < a; ++b) sum -= loops_factor_(a, b) * x[b];
    x[a] = sum / loops_factor_(a, a);
  }
  for (int a = k - 1; a >= 0; --a) {
    for (int b = a + 1; b < k; ++b) x[a] -= loops_factor_(b, a) * x[b];
    x[a] /= loops_factor_(a, a);
  }
  for (int a = 0; a < k; ++a) w.loops_x[loops_order_[a]] = x[a] * loops_scale_[loops_order_[a]];
}

template <int D>
void Gaba::forward_step(int s, const BlockRhs& rhs, Scratch& w, bool homogeneous) const {
  const Elimination& e = order_.steps[s];
  const Pivot& p = pivots_[s];
  const Vec6& F = w.F[e.node];
  Eigen::Map<VecD<D>> t(w.t.data() + p.column), y(w.y.data() + p.column);
  if (e.kind == Kind::along_joint) {
    const Eigen::Map<const Mat6D<D>> S(S_.data() + 6 * p.column);
    t = Eigen::Map<const VecD<D>>(rhs.tau.data() + (*tree_)[e.joint].v) + S.transpose() * F;
  } else if constexpr (D == 6) {
    t = F;
  }
  const Eigen::Map<const MatD<D>> inverse(D_inverse_.data() + p.square);
  y.noalias() = inverse * t;
  if (!homogeneous) y += Eigen::Map<const VecD<D>>(given_.data() + p.column);
  const int* around = order_.neighbours.data() + e.neighbours;
  const double* U = U_.data() + 6 * p.U;
  for (int k = 0; k < e.neighbour_count; ++k)
    w.F[around[k]].noalias() -= Eigen::Map<const Mat6D<D>>(U + 6 * D * k) * y;
}

void Gaba::forward(const BlockRhs& rhs, Scratch& w, bool homogeneous) const {
  const int n = tree_->size();
  std::vector<Vec6>& F = w.F;
  std::copy(rhs.wrench.begin(), rhs.wrench.end(), F.begin());
  for (std::size_t l = 0; l < pattern_->loops.size(); ++l) F[2 * n + l] = rhs.g[l];
  if (order_.cuts > 0)
    for (int i = 0; i < n; ++i) {
      if (order_.cut[i] < 0) continue;
      const Link& link = (*tree_)[i];
      F[n + i].setZero();
      if (const JointLock* lock = homogeneous ? nullptr : system_->lock(i))
        F[n + i].segment(6 - link.dofs, lock->rows) = lock->g.head(lock->rows);
      Vec6 f = Vec6::Zero();
      for (int k = 0; k < link.dofs; ++k)
        f += Eigen::Map<const Vec6>(system_->S.data() + 6 * (link.v + k)) * rhs.tau[link.v + k];
      F[i] += f;
      if (link.parent >= 0)
        F[link.parent] -= shift_wrench(f, system_->origin[i] - system_->origin[link.parent]);
    }
  for (std::size_t s = 0; s < order_.steps.size(); ++s) {
    const int step = static_cast<int>(s);
    switch (pivots_[s].dofs) {
      case 0:
        break;
      case 1:
        forward_step<1>(step, rhs, w, homogeneous);
        break;
      case 2:
        forward_step<2>(step, rhs, w, homogeneous);
        break;
      case 3:
        forward_step<3>(step, rhs, w, homogeneous);
        break;
      default:
        forward_step<6>(step, rhs, w, homogeneous);
    }
    const Elimination& e = order_.steps[s];
    if (e.toward >= 0) F[e.toward] += shift_wrench(F[e.node], shift_[s]);
  }
}

template <int D>
void Gaba::backward_step(int s, Scratch& w, BlockSolution& x) const {
  const Elimination& e = order_.steps[s];
  const Pivot& p = pivots_[s];
  VecD<D> sum = VecD<D>::Zero();
  const int* around = order_.neighbours.data() + e.neighbours;
  const double* U = U_.data() + 6 * p.U;
  for (int k = 0; k < e.neighbour_count; ++k)
    sum.noalias() += Eigen::Map<const Mat6D<D>>(U + 6 * D * k).transpose() * w.phi[around[k]];
  const VecD<D> a = Eigen::Map<const VecD<D>>(w.y.data() + p.column) -
                    Eigen::Map<const MatD<D>>(D_inverse_.data() + p.square) * sum;
  if (e.kind == Kind::along_joint) {
    Eigen::Map<VecD<D>>(w.t.data() + p.column) -=
        sum;  // what the joint's own motion balances, for lock_force
    Eigen::Map<VecD<D>>(x.a.data() + (*tree_)[e.joint].v) = a;
    w.phi[e.node] += Eigen::Map<const Mat6D<D>>(S_.data() + 6 * p.column) * a;
  } else if constexpr (D == 6) {
    w.phi[e.node] = a;
  }
}

void Gaba::solve_plain(const BlockRhs& rhs, Scratch& w, BlockSolution& x, bool homogeneous) const {
  const int n = tree_->size();
  std::vector<Vec6>& phi = w.phi;
  forward(rhs, w, homogeneous);
  for (std::size_t l = 0; l < pattern_->loops.size(); ++l) {
    const int cap = pattern_->loops[l].capacity;
    w.loops_g.segment(order_.loop_offset[l], cap) = w.F[2 * n + l].head(cap);
  }
  if (!pattern_->loops.empty()) solve_loops(w);
  for (std::size_t l = 0; l < pattern_->loops.size(); ++l) {
    const int cap = pattern_->loops[l].capacity;
    phi[2 * n + l].setZero();
    phi[2 * n + l].head(cap) = w.loops_x.segment(order_.loop_offset[l], cap);
    x.lambda[l] = phi[2 * n + l];
  }
  for (int s = static_cast<int>(order_.steps.size()) - 1; s >= 0; --s) {
    const Elimination& e = order_.steps[s];
    if (e.kind == Kind::along_joint)
      phi[e.node] = e.toward >= 0 ? shift_twist(phi[e.toward], shift_[s]) : Vec6(Vec6::Zero());
    switch (pivots_[s].dofs) {
      case 0:
        break;
      case 1:
        backward_step<1>(s, w, x);
        break;
      case 2:
        backward_step<2>(s, w, x);
        break;
      case 3:
        backward_step<3>(s, w, x);
        break;
      default:
        backward_step<6>(s, w, x);
    }
  }
  std::copy_n(phi.begin(), n, x.twist.begin());
  if (order_.cuts > 0)
    for (int i = 0; i < n; ++i) {
      if (order_.cut[i] < 0) continue;
      const Link& link = (*tree_)[i];
      Vec6 relative = phi[i];
      if (link.parent >= 0)
        relative -= shift_twist(phi[link.parent], system_->origin[i] - system_->origin[link.parent]);
      for (int k = 0; k < link.dofs; ++k)
        x.a[link.v + k] = Eigen::Map<const Vec6>(system_->S.data() + 6 * (link.v + k)).dot(relative);
    }
}

void Gaba::solve(const BlockRhs& rhs, Scratch& w, BlockSolution& x, bool homogeneous) const {
  solve_plain(rhs, w, x, homogeneous);
  std::fill(x.dropped.begin(), x.dropped.end(), 0);
  if (!exact_ && loop_rank_ < loop_rows_)
    for (int k = loop_rank_; k < loop_rows_; ++k)
      for (std::size_t l = 0; l < pattern_->loops.size(); ++l) {
        const int row = loops_order_[k] - order_.loop_offset[l];
        if (row >= 0 && row < pattern_->loops[l].capacity) x.dropped[6 * l + row] = 1;
      }
  if (borders_.empty()) return;
  // x += Σ δ z c with (1/δ − C) (δ z) = z₀.
  const int m = static_cast<int>(borders_.size());
  VecX z(m);
  for (int i = 0; i < m; ++i) {
    const Link& link = (*tree_)[borders_[i].joint];
    z[i] = borders_[i].e.head(link.dofs).dot(Eigen::Map<const VecX>(x.a.data() + link.v, link.dofs));
  }
  const VecX weight = border_inverse_ * z;
  for (int i = 0; i < m; ++i) {
    const BlockSolution& c = border_columns_[i];
    for (std::size_t k = 0; k < x.a.size(); ++k) x.a[k] += weight[i] * c.a[k];
    for (std::size_t k = 0; k < x.twist.size(); ++k) x.twist[k] += weight[i] * c.twist[k];
    for (std::size_t k = 0; k < x.lambda.size(); ++k) x.lambda[k] += weight[i] * c.lambda[k];
  }
}

// The columns K'⁻¹e of the moved pivots and the small matrix 1/δ − eᵀK'⁻¹e, whose signs complete the count.
void Gaba::make_border() {
  const int m = static_cast<int>(borders_.size());
  border_columns_.clear();
  MatX C(m, m);
  BlockRhs rhs(*system_);
  Scratch scratch(*this);
  for (const Border& b : borders_) {
    const Link& link = (*tree_)[b.joint];
    std::fill(rhs.tau.begin(), rhs.tau.end(), 0.0);
    for (int k = 0; k < link.dofs; ++k) rhs.tau[link.v + k] = b.e[k];
    border_columns_.emplace_back(*system_);
    solve_plain(rhs, scratch, border_columns_.back(), true);
  }
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j) {
      const Link& link = (*tree_)[borders_[i].joint];
      C(i, j) = borders_[i].e.head(link.dofs).dot(
          Eigen::Map<const VecX>(border_columns_[j].a.data() + link.v, link.dofs));
    }
  MatX small = -0.5 * (C + C.transpose());
  double largest = 0;
  for (int i = 0; i < m; ++i) {
    small(i, i) += 1 / borders_[i].shift;
    largest = std::max(largest, 1 / borders_[i].shift);
  }
  const Eigen::SelfAdjointEigenSolver<MatX> eigen(small);
  VecX inverse(m);
  for (int i = 0; i < m; ++i) {
    const double value = eigen.eigenvalues()[i];
    const bool zero = std::abs(value) <= 1e-13 * largest;  // truly singular: nothing holds this direction
    inverse[i] = zero ? 0 : 1 / value;
    if (zero)
      directions_.least = 0;
    else if (value < 0)
      ++directions_.negative;
  }
  border_inverse_ = eigen.eigenvectors() * inverse.asDiagonal() * eigen.eigenvectors().transpose();
}

Vec6 Gaba::lock_force(int joint, const Scratch& w, const BlockSolution& x) const {
  const Link& link = (*tree_)[joint];
  Vec6 force = Vec6::Zero();
  for (std::size_t s = 0; s < order_.steps.size(); ++s) {
    const Elimination& e = order_.steps[s];
    if (e.joint != joint) continue;
    if (e.kind == Kind::along_joint) {
      const Pivot& p = pivots_[s];
      for (int i = 0; i < link.dofs; ++i) {
        force[i] = -w.t[p.column + i];
        for (int j = 0; j < link.dofs; ++j) force[i] += D_[p.square + j * link.dofs + i] * x.a[link.v + j];
      }
      return force;
    }
    if (e.kind == Kind::cut)  // its multipliers, turned back into the joint's dofs
      if (const JointLock* lock = system_->lock(joint))
        for (int r = 0; r < lock->rows; ++r)
          force -= lock->C.row(r).transpose() * w.phi[tree_->size() + joint][6 - link.dofs + r];
  }
  return force;
}

}  // namespace limber::multibody
