// The generalised articulated-body algorithm: its dense block of loops, its solves, and its borders.
#include <algorithm>
#include <cmath>
#include <limits>

#include "limber/math/dense.h"
#include "limber/multibody/block6_kernels.h"
#include "limber/multibody/gaba.h"

namespace limber::multibody {
namespace {

using Kind = Elimination::Kind;
template <int D>
using MatD = Eigen::Matrix<double, D, D>;
template <int D>
using VecD = Eigen::Matrix<double, D, 1>;
template <int D>
using Mat6D = Eigen::Matrix<double, 6, D>;

}  // namespace

// Whether a row's force does work on any joint on the way to the world. In a planar loop out of the axes'
// planes the rows across the plane do not, up to rounding: as stiff as nothing in K makes them, they would be
// taken for rows that hold.
bool Gaba::reaches_a_joint(int l, int r) const {
  const BlockSystem& m = *system_;
  const LoopSite& site = pattern_->loops[l];
  const LoopRows& rows = m.loops[l];
  std::vector<Vec6> f{rows.on_a.row(r).transpose(), rows.on_b.row(r).transpose()};
  std::vector<int> at{site.a, site.b};
  f.insert(f.end(), rows.more.begin(), rows.more.end());
  at.insert(at.end(), site.more.begin(), site.more.end());
  const int sides = static_cast<int>(at.size());
  for (int i; (i = *std::max_element(at.begin(), at.end())) >= 0;) {  // children stand behind their parents
    const Link& link = (*tree_)[i];
    Vec6 total = Vec6::Zero();
    double size[2] = {0, 0};  // of the force, of the moment before anything cancels
    for (int side = 0; side < sides; ++side)
      if (at[side] == i) {
        total += f[side];
        size[0] += f[side].tail<3>().norm(), size[1] += f[side].head<3>().norm();
      }
    const JointLock* lock = m.lock(i);
    const auto S = m.subspace(i);
    for (int k = 0; !(lock && lock->rows == link.dofs) && k < link.dofs; ++k) {
      const double most = S.col(k).head<3>().norm() * size[1] + S.col(k).tail<3>().norm() * size[0];
      if (std::abs(S.col(k).dot(total)) > 1e-12 * most) return true;
    }
    for (int side = 0; side < sides; ++side)
      if (at[side] == i) {
        if (link.parent >= 0) f[side] = shift_wrench(f[side], m.origin[i] - m.origin[link.parent]);
        at[side] = link.parent;
      }
  }
  return false;
}

// An elastic row: (λ, λ) = −1, (link, λ) = r.
void Gaba::prepare_elastic() {
  for (std::size_t c = 0; c < pattern_->elastic.size(); ++c) {
    prepared_[order_.elastic_own[c]](0, 0) -= 1;
    for (std::size_t k = 0; k < pattern_->elastic[c].links.size(); ++k) {
      Mat6& block = prepared_[order_.elastic_on[c][k]];
      if (order_.elastic_turned[c][k])
        block.row(0) += system_->elastic[c][k].transpose();
      else
        block.col(0) += system_->elastic[c][k];
    }
  }
}

void Gaba::prepare_loops() {
  const BlockSystem& m = *system_;
  loops_.setZero();
  loops_active_.clear();
  for (std::size_t l = 0; l < pattern_->loops.size(); ++l) {
    const LoopRows& rows = m.loops[l];
    const auto top = rows.rows;
    if (const int b = order_.loop_block[0][l]; b >= 0)
      prepared_[b].leftCols(top) += rows.on_a.topRows(top).transpose();
    if (const int b = order_.loop_block[1][l]; b >= 0)
      prepared_[b].leftCols(top) += rows.on_b.topRows(top).transpose();
    for (std::size_t k = 0; k < rows.more.size() && top > 0; ++k)
      prepared_[order_.loop_more[l][k]].col(0) += rows.more[k];
    // What the row would move if its bodies were free: a row that moves next to nothing of it is noise.
    for (int r = 0; r < top; ++r) {
      const int row = order_.loop_offset[l] + r;
      if (std::ranges::find(left_out_, row) != left_out_.end()) continue;
      double reference = 0;
      const LoopSite& site = pattern_->loops[l];
      for (int k = 0; k < 6; ++k) {
        if (site.a >= 0 && m.diagonal[site.a](k, k) > 0)
          reference += rows.on_a(r, k) * rows.on_a(r, k) / m.diagonal[site.a](k, k);
        if (site.b >= 0 && m.diagonal[site.b](k, k) > 0)
          reference += rows.on_b(r, k) * rows.on_b(r, k) / m.diagonal[site.b](k, k);
        for (std::size_t e = 0; e < site.more.size(); ++e)
          if (const double d = m.diagonal[site.more[e]](k, k); d > 0)
            reference += rows.more[e][k] * rows.more[e][k] / d;
      }
      loops_noise_[row] = exact_ && !reaches_a_joint(static_cast<int>(l), r)
                              ? std::numeric_limits<double>::infinity()
                              : 1e-12 * reference;
      loops_active_.push_back(row);
    }
  }
  loop_rows_ = static_cast<int>(loops_active_.size());
}

// Turns by one, shifts by the structure's length: pivots in these units are energies, and which of them are
// small does not hang on the unit of length. Powers of two: nothing is rounded.
void Gaba::find_units() {
  const BlockSystem& m = *system_;
  unit_.resize(m.S.size() / 6);
  for (std::size_t k = 0; k < unit_.size(); ++k) {
    const Eigen::Map<const Vec6> S(m.S.data() + 6 * k);
    const double way = S.head<3>().norm() + (m.length > 0 ? S.tail<3>().norm() / m.length : 0);
    unit_[k] = way > 0 ? std::ldexp(1.0, -std::ilogb(way)) : 1;
  }
}

void Gaba::find_stiffness_behind() {
  const BlockSystem& m = *system_;
  carried_.resize(m.diagonal.size());
  behind_.resize(order_.steps.size());
  for (std::size_t i = 0; i < carried_.size(); ++i) {
    const Mat6& A = m.diagonal[i];
    carried_[i] = {A.bottomRightCorner<3, 3>().norm(), A.topLeftCorner<3, 3>().norm()};
  }
  for (std::size_t s = 0; s < order_.steps.size(); ++s) {
    const Elimination& e = order_.steps[s];
    if (e.kind != Kind::along_joint) continue;
    const Eigen::Vector2d& own = carried_[e.node];
    behind_[s] = 0;
    for (int k = 0; k < (*tree_)[e.joint].dofs; ++k) {
      const auto S = m.subspace(e.joint).col(k);
      const double turn = S.head<3>().norm(), move = turn * m.length + S.tail<3>().norm();
      const double unit = unit_[(*tree_)[e.joint].v + k];
      behind_[s] = std::max(behind_[s], unit * unit * (own[0] * move * move + own[1] * turn * turn));
    }
    if (e.toward >= 0) carried_[e.toward] += own;
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
    if (!(loops_factor_(best, best) > drop_below)) break;
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
  const math::SymmetricEigen eigen = math::symmetric_eigen(L);
  loop_rank_ = 0;
  loops_factor_.topLeftCorner(m, m) = eigen.vectors;
  const double top = eigen.values.cwiseAbs().maxCoeff();
  for (int a = 0; a < m; ++a) {
    const double value = eigen.values[a];
    const bool kept = std::abs(value) > drop_below * top;
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
LIMBER_INLINE void Gaba::forward_step(int s, const BlockRhs& rhs, Scratch& w, bool homogeneous) const {
  using namespace block6;
  const Elimination& e = order_.steps[s];
  const Pivot& p = pivots_[s];
  const Six F = load6(w.F[e.node].data());
  Eigen::Map<VecD<D>> t(w.t.data() + p.column), y(w.y.data() + p.column);
  if (e.kind == Kind::along_joint) {
    const double *S = S_.data() + 6 * p.column, *tau = rhs.tau.data() + (*tree_)[e.joint].v;
    for (int j = 0; j < D; ++j) t[j] = tau[j] + sum(load6(S + 6 * j) * F);
  } else if constexpr (D == 6) {
    store6(t.data(), F);
  } else if constexpr (D == 1) {
    t[0] = w.F[e.node][0];
  }
  const Eigen::Map<const MatD<D>> inverse(D_inverse_.data() + p.square);
  y.noalias() = inverse * t;
  if (!homogeneous) y += Eigen::Map<const VecD<D>>(given_.data() + p.column);
  const int* around = order_.neighbours.data() + e.neighbours;
  const double* U = U_.data() + 6 * p.U;
  for (int k = 0; k < e.neighbour_count; ++k, U += 6 * D) {
    double* Fk = w.F[around[k]].data();
    Six sum = load6(Fk);
    for (int j = 0; j < D; ++j) sum = sum - y[j] * load6(U + 6 * j);
    store6(Fk, sum);
  }
  if (e.toward < 0) return;
  double* Fq = w.F[e.toward].data();
  store6(Fq, load6(Fq) + shifted(shift_[s], F));
}

LIMBER_KERNEL void forward_kernel(const Gaba& g, const BlockRhs& rhs, bool homogeneous, Gaba::Scratch& w) {
  for (std::size_t i = 0; i < g.order_.steps.size(); ++i) {
    const int s = static_cast<int>(i);
    switch (g.pivots_[i].dofs) {
      case 0:
        g.forward_step<0>(s, rhs, w, homogeneous);
        break;
      case 1:
        g.forward_step<1>(s, rhs, w, homogeneous);
        break;
      case 2:
        g.forward_step<2>(s, rhs, w, homogeneous);
        break;
      case 3:
        g.forward_step<3>(s, rhs, w, homogeneous);
        break;
      case 4:
        g.forward_step<4>(s, rhs, w, homogeneous);
        break;
      case 5:
        g.forward_step<5>(s, rhs, w, homogeneous);
        break;
      default:
        g.forward_step<6>(s, rhs, w, homogeneous);
    }
  }
}

void Gaba::forward(const BlockRhs& rhs, Scratch& w, bool homogeneous) const {
  const int n = tree_->size();
  std::vector<Vec6>& F = w.F;
  std::copy(rhs.wrench.begin(), rhs.wrench.end(), F.begin());
  for (int k = 2 * n; k < order_.first_loop; ++k) F[k].setZero();
  for (std::size_t l = 0; l < pattern_->loops.size(); ++l) F[order_.first_loop + l] = rhs.g[l];
  if (order_.cuts > 0)
    for (int i = 0; i < n; ++i) {
      if (order_.cut[i] < 0) continue;
      const Link& link = (*tree_)[i];
      F[n + i].setZero();
      if (const JointLock* lock = homogeneous ? nullptr : system_->lock(i))
        F[n + i].segment(6 - link.dofs, lock->rows) = lock->g.head(lock->rows);
      Vec6 f = Vec6::Zero();
      for (int k = 0; k < link.dofs; ++k) f += cut_axes_[i].col(k) * rhs.tau[link.v + k];
      F[i] += f;
      if (link.parent >= 0)
        F[link.parent] -= shift_wrench(f, system_->origin[i] - system_->origin[link.parent]);
    }
  forward_kernel(*this, rhs, homogeneous, w);
}

template <int D>
LIMBER_INLINE void Gaba::backward_step(int s, Scratch& w, BlockSolution& x) const {
  using namespace block6;
  const Elimination& e = order_.steps[s];
  const Pivot& p = pivots_[s];
  const int* around = order_.neighbours.data() + e.neighbours;
  const double* U = U_.data() + 6 * p.U;
  Six sums[D > 0 ? D : 1];
  for (int j = 0; j < D; ++j) sums[j] = {pack(0), Two{0, 0}};
  for (int k = 0; k < e.neighbour_count; ++k, U += 6 * D) {
    const Six phi = load6(w.phi[around[k]].data());
    for (int j = 0; j < D; ++j) sums[j] = sums[j] + load6(U + 6 * j) * phi;
  }
  VecD<D> total;
  for (int j = 0; j < D; ++j) total[j] = sum(sums[j]);
  const VecD<D> a = Eigen::Map<const VecD<D>>(w.y.data() + p.column) -
                    Eigen::Map<const MatD<D>>(D_inverse_.data() + p.square) * total;
  double* phi = w.phi[e.node].data();
  if (e.kind == Kind::along_joint) {
    // What the joint's own motion balances, for lock_force.
    Eigen::Map<VecD<D>>{w.t.data() + p.column} -= total;
    Eigen::Map<VecD<D>>{x.a.data() + (*tree_)[e.joint].v} = a;
    Six twist =
        e.toward >= 0 ? load6(shift_twist(w.phi[e.toward], shift_[s]).data()) : Six{pack(0), Two{0, 0}};
    for (int j = 0; j < D; ++j) twist = twist + a[j] * load6(S_.data() + 6 * (p.column + j));
    store6(phi, twist);
  } else if constexpr (D == 6) {
    store6(phi, load6(a.data()));
  } else if constexpr (D == 1) {
    w.phi[e.node] = a[0] * Vec6::Unit(0);
  }
}

LIMBER_KERNEL void backward_kernel(const Gaba& g, Gaba::Scratch& w, BlockSolution& x) {
  for (int s = static_cast<int>(g.order_.steps.size()) - 1; s >= 0; --s) switch (g.pivots_[s].dofs) {
      case 0:
        g.backward_step<0>(s, w, x);
        break;
      case 1:
        g.backward_step<1>(s, w, x);
        break;
      case 2:
        g.backward_step<2>(s, w, x);
        break;
      case 3:
        g.backward_step<3>(s, w, x);
        break;
      case 4:
        g.backward_step<4>(s, w, x);
        break;
      case 5:
        g.backward_step<5>(s, w, x);
        break;
      default:
        g.backward_step<6>(s, w, x);
    }
}

void Gaba::solve_plain(const BlockRhs& rhs, Scratch& w, BlockSolution& x, bool homogeneous) const {
  const int n = tree_->size();
  std::vector<Vec6>& phi = w.phi;
  forward(rhs, w, homogeneous);
  for (std::size_t l = 0; l < pattern_->loops.size(); ++l) {
    const int cap = pattern_->loops[l].capacity;
    w.loops_g.segment(order_.loop_offset[l], cap) = w.F[order_.first_loop + l].head(cap);
  }
  if (!pattern_->loops.empty()) solve_loops(w);
  for (std::size_t l = 0; l < pattern_->loops.size(); ++l) {
    const int cap = pattern_->loops[l].capacity;
    phi[order_.first_loop + l].setZero();
    phi[order_.first_loop + l].head(cap) = w.loops_x.segment(order_.loop_offset[l], cap);
    x.lambda[l] = phi[order_.first_loop + l];
  }
  backward_kernel(*this, w, x);
  std::copy_n(phi.begin(), n, x.twist.begin());
  if (order_.cuts > 0)
    for (int i = 0; i < n; ++i) {
      if (order_.cut[i] < 0) continue;
      const Link& link = (*tree_)[i];
      Vec6 relative = phi[i];
      if (link.parent >= 0)
        relative -= shift_twist(phi[link.parent], system_->origin[i] - system_->origin[link.parent]);
      for (int k = 0; k < link.dofs; ++k) x.a[link.v + k] = cut_axes_[i].col(k).dot(relative);
    }
}

void Gaba::solve(const BlockRhs& rhs, Scratch& w, BlockSolution& x, bool homogeneous) const {
  solve_plain(rhs, w, x, homogeneous);
  std::fill(x.dropped.begin(), x.dropped.end(), 0);
  const auto drop = [&](int which) {
    for (std::size_t l = 0; l < pattern_->loops.size(); ++l) {
      const int row = which - order_.loop_offset[l];
      if (row >= 0 && row < pattern_->loops[l].capacity) x.dropped[6 * l + row] = 1;
    }
  };
  if (!exact_ && loop_rank_ < loop_rows_)
    for (int k = loop_rank_; k < loop_rows_; ++k) drop(loops_order_[k]);
  for (const int row : left_out_) drop(row);
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
    for (std::size_t k = 0; k < w.t.size(); ++k)
      w.t[k] += weight[i] * border_scratch_[i].t[k];  // for lock_force
  }
}

// The columns K'⁻¹e of the moved pivots and the small matrix 1 − √δ eᵀK'⁻¹e √δ, whose signs complete the
// count.
void Gaba::make_border() {
  const int m = static_cast<int>(borders_.size());
  border_columns_.clear();
  border_scratch_.clear();
  MatX C(m, m);
  BlockRhs rhs(*system_);
  Scratch scratch(*this);
  for (const Border& b : borders_) {
    const Link& link = (*tree_)[b.joint];
    std::fill(rhs.tau.begin(), rhs.tau.end(), 0.0);
    for (int k = 0; k < link.dofs; ++k) rhs.tau[link.v + k] = b.e[k];
    border_columns_.emplace_back(*system_);
    solve_plain(rhs, scratch, border_columns_.back(), true);
    border_scratch_.push_back(scratch);
  }
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j) {
      const Link& link = (*tree_)[borders_[i].joint];
      C(i, j) = borders_[i].e.head(link.dofs).dot(
          Eigen::Map<const VecX>(border_columns_[j].a.data() + link.v, link.dofs));
    }
  VecX root(m);
  for (int i = 0; i < m; ++i) root[i] = std::sqrt(borders_[i].shift);
  const MatX small =
      MatX::Identity(m, m) - 0.5 * (root.asDiagonal() * (C + C.transpose()) * root.asDiagonal());
  const math::SymmetricEigen eigen = math::symmetric_eigen(small);
  VecX inverse(m);
  for (int i = 0; i < m; ++i) {
    const double value = eigen.values[i];
    const bool zero = std::abs(value) <= rounding_of_pivots;  // nothing holds this direction
    inverse[i] = zero ? 0 : 1 / value;
    if (zero)
      directions_.least = 0;
    else if (value < 0)
      ++directions_.negative;
  }
  const MatX scaled = root.asDiagonal() * eigen.vectors;
  border_inverse_ = scaled * inverse.asDiagonal() * scaled.transpose();
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

// Other values in the rows of locks than the factor had.
void Gaba::take_given() {
  for (std::size_t s = 0; s < order_.steps.size(); ++s) {
    const auto& e = order_.steps[s];
    if (e.kind != Kind::along_joint) continue;
    const JointLock* lock = system_->lock(e.joint);
    if (!lock || lock->rows == 0) continue;
    const Pivot& p = pivots_[s];
    const Eigen::Map<const MatX> pivot(D_.data() + p.square, p.dofs, p.dofs),
        inverse(D_inverse_.data() + p.square, p.dofs, p.dofs);
    const VecX g = lock->C.topLeftCorner(lock->rows, p.dofs).transpose() * lock->g.head(lock->rows);
    Eigen::Map<VecX>(given_.data() + p.column, p.dofs) = g - inverse * (pivot * g);
  }
}

}  // namespace limber::multibody
