// The generalised articulated-body algorithm; equations in the header.
#include "limber/multibody/gaba.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "limber/math/dense.h"
#include "limber/multibody/block6_kernels.h"
#include "limber/multibody/invert_spd.h"

namespace limber::multibody {
namespace {

using Kind = Elimination::Kind;
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

Subspace axes_of(const BlockSystem& s, int link) {
  Subspace S = Subspace::Zero();
  S.leftCols((*s.tree)[link].dofs) = s.subspace(link);
  return S;
}

// A basis of the joint's motions; S itself for most kinds.
Subspace orthonormal_axes(const BlockSystem& s, int link) {
  Subspace S = axes_of(s, link);
  if (has_orthonormal_axes((*s.tree)[link].kind)) return S;
  for (int k = 0; k < (*s.tree)[link].dofs; ++k) {
    for (int j = 0; j < k; ++j) S.col(k) -= S.col(j) * S.col(j).dot(S.col(k));
    S.col(k).normalize();
  }
  return S;
}

// Rows T of a joint, orthonormal to its S, in world axes at the child's origin: T (φ_c − X φ_p) = 0.
int constraint_rows(const BlockSystem& s, int link, Mat6& rows) {
  const Link& l = (*s.tree)[link];
  const Subspace S = orthonormal_axes(s, link);
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
  make_room();
}

void Gaba::retie(const Pattern& pattern, OrderFinder& finder) {
  pattern_ = &pattern;
  finder.find(*tree_, pattern, order_);
  make_room();
}

void Gaba::make_room() {
  const Tree& tree = *tree_;
  int columns = 0, squares = 0, U = 0;
  pivots_.clear();
  for (const Elimination& e : order_.steps) {
    Pivot p;
    p.dofs = e.kind == Kind::along_joint ? tree[e.joint].dofs : e.kind == Kind::elastic ? 1 : 6;
    p.column = columns;
    p.square = squares;
    p.U = U;
    columns += p.dofs;
    squares += p.dofs * p.dofs;
    U += p.dofs * e.neighbour_count;
    pivots_.push_back(p);
  }
  blocks_.assign(block6::stride * static_cast<std::size_t>(order_.slots), 0.0);
  prepared_.resize(order_.prepared.size());
  S_.resize(6 * static_cast<std::size_t>(columns));
  U_.resize(6 * static_cast<std::size_t>(U));
  V_.resize(36 * static_cast<std::size_t>(order_.widest + 1));
  D_.resize(squares);
  D_inverse_.resize(squares);
  given_.resize(columns);
  shift_.resize(order_.steps.size(), Vec3::Zero());
  cut_rows_.resize(tree.size());
  cut_basis_.resize(order_.cuts > 0 ? tree.size() : 0);
  cut_axes_.resize(order_.cuts > 0 ? tree.size() : 0);
  const int rows = order_.loop_rows;
  loops_.resize(rows, rows);
  loops_factor_.resize(rows, rows);
  loops_scale_.setZero(rows);
  loops_values_.setZero(rows);
  loops_noise_.setZero(rows);
  loops_active_.reserve(rows);
  loops_order_.reserve(rows);
  left_out_.reserve(rows);
}

Gaba::Scratch::Scratch(const Gaba& g) { fit(g); }

void Gaba::Scratch::fit(const Gaba& g) {
  y.resize(g.given_.size());
  t.resize(g.given_.size());
  F.resize(g.order_.first_loop + g.pattern_->loops.size());
  phi.resize(F.size());
  for (VecX* x : {&loops_g, &loops_x, &loops_y}) x->setZero(g.order_.loop_rows);
}

bool Gaba::factor(const BlockSystem& system, bool exact) {
  system_ = &system;
  exact_ = exact;
  bad_link_ = -1;
  directions_ = {};
  borders_.clear();
  prepare();
  eliminate_all();
  if (bad_link_ >= 0) return false;
  if (!pattern_->loops.empty()) exact ? factor_loops_exact() : factor_loops();
  if (static_cast<int>(borders_.size()) > most_borders) {  // a structure that nothing holds
    bad_link_ = borders_[0].joint;
    return false;
  }
  if (!borders_.empty()) make_border();
  return true;
}

// What cuts and loops add to blocks; all others are born as the system has them.
void Gaba::prepare() {
  const BlockSystem& m = *system_;
  for (std::size_t k = 0; k < prepared_.size(); ++k) {
    const BlockSource& source = order_.prepared[k];
    Mat6& block = prepared_[k];
    switch (source.kind) {
      case BlockSource::Kind::body:
        block = m.diagonal[source.index];
        break;
      case BlockSource::Kind::pair:
        block = m.off[source.index];
        break;
      case BlockSource::Kind::pair_turned:
        block = m.off[source.index].transpose();
        break;
      default:
        block.setZero();
    }
  }
  if (order_.cuts > 0)
    for (int i = 0; i < tree_->size(); ++i)
      if (order_.cut[i] >= 0) prepare_cut(i);
  prepare_elastic();
  prepare_loops();
  if (!exact_) return;
  find_units();
  largest_ = 0;
  for (int i = 0; i < tree_->size(); ++i) {
    const Link& link = (*tree_)[i];
    const auto S = m.subspace(i);
    for (int k = 0; k < link.dofs; ++k)
      largest_ = std::max(largest_, unit_[link.v + k] * unit_[link.v + k] *
                                        (std::abs(S.col(k).dot(m.diagonal[i] * S.col(k))) +
                                         std::abs(m.joint[link.block + k * link.dofs + k])));
  }
  if (!(largest_ > 0)) largest_ = 1;
  find_stiffness_behind();
}

// A cut joint: its rows, and its own stiffness as a block between its two bodies.
void Gaba::prepare_cut(int joint) {
  const BlockSystem& m = *system_;
  const Link& link = (*tree_)[joint];
  const int d = link.dofs, parent = link.parent;
  Mat6& P = cut_axes_[joint];
  P = axes_of(m, joint);
  if (!has_orthonormal_axes(link.kind)) P = dual_axes(P, d);
  const auto S = P.leftCols(d);
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
  const auto piece = [&](int which) -> Mat6& { return prepared_[order_.cut_block[which][joint]]; };
  piece(3) += K;
  Mat6& mu = piece(5);
  for (int r = count; r < 6; ++r) mu(r, r) = -1;  // rows not in use
  const auto add = [&](int which, const Mat6& block) {
    Mat6& to = piece(which);
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
  piece(4) += shift_block(r, K);
  Mat6 between = -K;  // (parent, child) = −Xᵀ K
  shift_rows(r, between);
  add(2, between.transpose());
}

LIMBER_INLINE double* Gaba::block(int slot) {
  return blocks_.data() + block6::stride * static_cast<std::ptrdiff_t>(slot);
}

LIMBER_INLINE void Gaba::bear(const BlockBirth& birth) {
  double* to = block(birth.slot);
  const BlockSystem& m = *system_;
  switch (birth.source.kind) {
    case BlockSource::Kind::zero:
      block6::clear(to);
      break;
    case BlockSource::Kind::body:
      block6::copy(m.diagonal[birth.source.index].data(), to);
      break;
    case BlockSource::Kind::pair:
      block6::copy(m.off[birth.source.index].data(), to);
      break;
    case BlockSource::Kind::pair_turned:
      Eigen::Map<Mat6>{to} = m.off[birth.source.index].transpose();
      break;
    case BlockSource::Kind::prepared:
      block6::copy(prepared_[birth.source.index].data(), to);
  }
}

// Bodies are eliminated in an order that no memory controller guesses: what a step a little later needs of
// the system is asked for now.
LIMBER_INLINE void fetch(const EliminationOrder& order, const BlockSystem& m, std::size_t s) {
  const Elimination& e = order.steps[s];
  for (int k = 0; k < e.birth_count; ++k) {
    const BlockSource& source = order.births[e.births + k].source;
    const bool body = source.kind == BlockSource::Kind::body;
    if (!body && source.kind != BlockSource::Kind::pair && source.kind != BlockSource::Kind::pair_turned)
      continue;
    const double* from = body ? m.diagonal[source.index].data() : m.off[source.index].data();
    for (int line = 0; line < 40; line += 8) __builtin_prefetch(from + line);
  }
}

LIMBER_INLINE void Gaba::set_subspace(int s) {
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
LIMBER_INLINE void Gaba::eliminate(int s) {
  const Elimination& e = order_.steps[s];
  const Pivot& p = pivots_[s];
  const double* W = block(order_.own[e.own]);
  const double* S = S_.data() + 6 * p.column;
  double U_own[6 * D + 1];  // one more is read and not used
  MatD<D> pivot;
  double scale = 0;
  if (e.kind == Kind::along_joint) {
    block6::times<D>(W, S, U_own);
    const Eigen::Map<const Mat6D<D>> Sm(S), Um(U_own);
    const Eigen::Map<const MatD<D>> B(system_->joint.data() + (*tree_)[e.joint].block);
    pivot.noalias() = Sm.transpose() * Um;
    pivot += B;
    if (exact_) {
      const VecD<D> unit = Eigen::Map<const VecD<D>>(unit_.data() + (*tree_)[e.joint].v);
      const Mat6D<D> way = Sm.cwiseAbs() * unit.asDiagonal();
      const Mat6 size = Eigen::Map<const Mat6>(W).cwiseAbs();
      scale = (way.transpose() * size * way).diagonal().maxCoeff() +
              (unit.asDiagonal() * B.cwiseAbs() * unit.asDiagonal()).eval().maxCoeff();
    }
  } else if constexpr (D == 6) {
    pivot = Eigen::Map<const Mat6>(W);
  } else if constexpr (D == 1) {
    pivot(0, 0) = W[0];
  }
  MatD<D> inverse;
  Eigen::Map<VecD<D>>{given_.data() + p.column}.setZero();
  const JointLock* lock = e.kind == Kind::along_joint ? system_->lock(e.joint) : nullptr;
  if (lock && lock->rows > 0)
    apply_lock<D>(s, *lock, pivot, scale, inverse);
  else
    inverse = invert<D>(s, pivot, scale);
  Eigen::Map<MatD<D>>{D_.data() + p.square} = pivot;
  Eigen::Map<MatD<D>>{D_inverse_.data() + p.square} = inverse;

  // U_k of all neighbours, V_k = U_k D⁻¹
  double* U = U_.data() + 6 * p.U;
  for (int k = 0; k < e.neighbour_count; ++k, U += 6 * D) {
    const double* Wk = block(order_.own[e.own + 1 + k]);
    if (e.kind != Kind::along_joint) {
      if constexpr (D == 6) Eigen::Map<Mat6>{U} = Eigen::Map<const Mat6>(Wk).transpose();
      if constexpr (D == 1)
        for (int c = 0; c < 6; ++c) U[c] = Wk[6 * c];
    } else if (k != e.toward_slot) {
      block6::transpose_times<D>(Wk, S, U);
    } else {
      Eigen::Map<Mat6D<D>> Uq(U);
      if (e.tied)
        block6::transpose_times<D>(Wk, S, U);
      else
        Uq.setZero();
      for (int j = 0; j < D; ++j)
        block6::store6(U + 6 * j, block6::load6(U + 6 * j) + block6::shifted(shift_[s], U_own + 6 * j));
      if (!system_->coupling.empty())
        Uq += Eigen::Map<const Mat6D<D>>(system_->coupling.data() + 6 * (*tree_)[e.joint].v);
    }
    Eigen::Map<Mat6D<D>>(V_.data() + 6 * D * k).noalias() = Eigen::Map<const Mat6D<D>>(U) * inverse;
  }
  update_neighbours<D>(s);
}

// Λ_kl −= V_k U_lᵀ, six rows a loop whatever it has.
LIMBER_INLINE void Gaba::update_loops(int s, const double* V) {
  const Elimination& e = order_.steps[s];
  const int d = pivots_[s].dofs;
  const double* U = U_.data() + 6 * pivots_[s].U;
  const int* around = order_.neighbours.data() + e.neighbours;
  for (int l = e.neighbour_count - e.loop_count; l < e.neighbour_count; ++l) {
    const int loop = around[l] - order_.first_loop;
    for (int c = 0; c < pattern_->loops[loop].capacity; ++c) {
      double* column = loops_.data() + (order_.loop_offset[loop] + c) * loops_.rows();
      for (int k = e.neighbour_count - e.loop_count; k <= l; ++k) {
        double* to = column + order_.loop_offset[around[k] - order_.first_loop];
        block6::Six sum = block6::load6(to);
        for (int j = 0; j < d; ++j) sum = sum - U[6 * (d * l + j) + c] * block6::load6(V + 6 * (d * k + j));
        block6::store6(to, sum);
      }
    }
  }
}

// W_kl −= U_k D⁻¹ U_lᵀ, and what the body still carries goes to the far end q of its joint. Of a loop only as
// many columns as it has rows.
template <int D>
LIMBER_INLINE void Gaba::update_neighbours(int s) {
  const Elimination& e = order_.steps[s];
  const Vec3& r = shift_[s];
  const double *V = V_.data(), *U = U_.data() + 6 * pivots_[s].U;
  const int q = e.toward_slot, inner = e.neighbour_count - e.loop_count;
  const int *own = order_.own.data() + e.own, *target = order_.targets.data() + e.target;
  const int* loop = order_.neighbours.data() + e.neighbours + inner;
  for (int k = 0; k < inner; ++k)
    for (int l = k; l < e.neighbour_count; ++l) {
      const double *Vk = V + 6 * D * k, *Ul = U + 6 * D * l;
      double* W = block(*target++);
      if (k != q && l != q) {
        const int columns = l < inner ? loop[l - inner] >= 2 * tree_->size() ? 1 : 6
                                      : pattern_->loops[loop[l - inner] - order_.first_loop].capacity;
        block6::subtract_product<D>(Vk, Ul, (columns + 1) / 2, W);
      } else if (k != l) {
        if (k == q)
          block6::add_shifted<D>(r, block(own[1 + l]), Vk, Ul, W);
        else
          block6::add_shifted_turned<D>(r, block(own[1 + k]), Vk, Ul, W);
      } else {
        block6::add_shifted_both<D>(r, block(own[0]), Vk, Ul, W);
        if (!e.tied) continue;
        block6::add_shifted<0>(r, block(own[1 + q]), Vk, Ul, W);
        block6::add_shifted_turned<0>(r, block(own[1 + q]), Vk, Ul, W);
      }
    }
  if (D > 0 && e.loop_count > 0) update_loops(s, V);
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
    const bool cut = e.kind == Kind::cut || e.kind == Kind::elastic;
    const bool good = cut ? invert_spd<D>(MatD<D>(-pivot), inverse) : invert_spd<D>(pivot, inverse);
    if (cut) inverse = -inverse;
    if (!good) {
      if (bad_link_ < 0) bad_link_ = e.joint >= 0 ? e.joint : e.node < tree_->size() ? e.node : 0;
      inverse.setZero();
    }
    return inverse;
  }
  return invert_exactly<D>(s, pivot, scale);
}

// Rare, and kept out of the kernel: by eigenvalues, those near zero shifted and put right by a border.
template <int D>
__attribute__((noinline)) MatD<D> Gaba::invert_exactly(int s, MatD<D>& pivot, double scale) {
  const Elimination& e = order_.steps[s];
  constexpr double too_small = 1e-9;
  // Each row adds one negative direction that is no motion's. Zero only by accident: then it is moved by
  // rounding.
  if (e.kind == Kind::elastic) {
    const double value = std::abs(pivot(0, 0)) > too_small ? pivot(0, 0) : -too_small;
    directions_.negative += value < 0 ? 0 : -1;
    return MatD<D>::Constant(1 / value);
  }
  const double rounding = rounding_of_pivots * behind_[s];
  VecD<D> unit = VecD<D>::Ones();
  if (e.kind == Kind::along_joint) unit = Eigen::Map<const VecD<D>>(unit_.data() + (*tree_)[e.joint].v);
  const math::SmallEigen<D> eigen =
      math::small_eigen<D>(MatD<D>(unit.asDiagonal() * pivot * unit.asDiagonal()));
  VecD<D> values = eigen.values;
  for (int k = 0; k < D; ++k) {
    if (!(std::abs(values[k]) <= std::max(too_small * scale, rounding))) {
      note_pivot(s, values[k], scale);
      continue;
    }
    Border border;
    border.joint = e.joint;
    border.e.setZero();
    const VecD<D> way = eigen.vectors.col(k).cwiseQuotient(unit);
    border.e.template head<D>() = way;
    border.shift = std::max({scale, behind_[s], largest_ * 1e-3});
    note_pivot(s, 0, scale);
    pivot += border.shift * way * way.transpose();
    values[k] += border.shift;
    borders_.push_back(border);
    ++directions_.moved;
  }
  const MatD<D> ways = unit.asDiagonal() * eigen.vectors;
  return ways * values.cwiseInverse().asDiagonal() * ways.transpose();
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
      const Eigen::Map<const VecD<D>> units(unit_.data() + (*tree_)[order_.steps[s].joint].v);
      const double unit = 1 / x.cwiseQuotient(units).norm(), energy = unit * unit * value;
      if (std::abs(energy) <= rounding_of_pivots * behind_[s]) {
        note_pivot(s, 0, scale);
        continue;
      }
      note_pivot(s, energy, scale);
    } else if (!(value > 0)) {
      if (bad_link_ < 0) bad_link_ = order_.steps[s].joint;
      continue;
    }
    inverse += x * x.transpose() / value;
  }
  given -= inverse * (pivot * given);
}

constexpr std::size_t ahead = 8;  // steps

// Rare: points on lines and planes; bodies afloat, multipliers, free joints.
void Gaba::eliminate_wide(int s) {
  switch (pivots_[s].dofs) {
    case 4:
      return eliminate<4>(s);
    case 5:
      return eliminate<5>(s);
    default:
      return eliminate<6>(s);
  }
}

LIMBER_KERNEL void eliminate_all_kernel(Gaba& g) {
  const std::size_t steps = g.order_.steps.size();
  for (std::size_t i = 0; i < steps; ++i) {
    const int s = static_cast<int>(i);
    const Elimination& e = g.order_.steps[i];
    if (i + ahead < steps) fetch(g.order_, *g.system_, i + ahead);
    for (int k = 0; k < e.birth_count; ++k) g.bear(g.order_.births[e.births + k]);
    g.set_subspace(s);
    switch (g.pivots_[i].dofs) {
      case 0:
        g.update_neighbours<0>(s);
        break;
      case 1:
        g.eliminate<1>(s);
        break;
      case 2:
        g.eliminate<2>(s);
        break;
      case 3:
        g.eliminate<3>(s);
        break;
      default:
        g.eliminate_wide(s);
    }
  }
}

void Gaba::eliminate_all() { eliminate_all_kernel(*this); }

}  // namespace limber::multibody
