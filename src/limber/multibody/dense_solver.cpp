#include "limber/multibody/dense_solver.h"

#include "limber/math/dense.h"

namespace limber::multibody {
DenseSystem assemble_dense(const BlockSystem& s) {
  const Tree& tree = *s.tree;
  const int n = tree.size(), v = tree.v_count();
  DenseSystem d;
  d.J.setZero(6 * n, v);
  VecX e = VecX::Zero(v);
  std::vector<Vec6> twist(n);
  for (int k = 0; k < v; ++k) {
    e[k] = 1;
    jacobian_times(s, e.data(), twist.data());
    for (int i = 0; i < n; ++i) d.J.block<6, 1>(6 * i, k) = twist[i];
    e[k] = 0;
  }
  MatX A = MatX::Zero(6 * n, 6 * n);
  for (int i = 0; i < n; ++i) A.block<6, 6>(6 * i, 6 * i) = s.diagonal[i];
  for (std::size_t k = 0; k < s.off.size(); ++k) {
    const LinkPair& p = s.pattern->pairs[k];
    A.block<6, 6>(6 * p.a, 6 * p.b) += s.off[k];
    A.block<6, 6>(6 * p.b, 6 * p.a) += s.off[k].transpose();
  }
  d.H = d.J.transpose() * A * d.J;
  for (std::size_t c = 0; c < s.elastic.size(); ++c) {
    VecX row = VecX::Zero(v);
    for (std::size_t k = 0; k < s.elastic[c].size(); ++k)
      row += d.J.middleRows(6 * s.pattern->elastic[c].links[k], 6).transpose() * s.elastic[c][k];
    d.H += row * row.transpose();
  }
  for (const Link& link : tree.links())
    d.H.block(link.v, link.v, link.dofs, link.dofs) +=
        Eigen::Map<const MatX>(s.joint.data() + link.block, link.dofs, link.dofs);

  if (!s.coupling.empty())
    for (const Link& link : tree.links()) {
      if (link.parent < 0) continue;
      for (int k = 0; k < link.dofs; ++k) {
        const VecX row = d.J.middleRows(6 * link.parent, 6).transpose() *
                         Eigen::Map<const Vec6>(s.coupling.data() + 6 * (link.v + k));
        d.H.row(link.v + k) += row.transpose();
        d.H.col(link.v + k) += row;
      }
    }

  int rows = 0;
  for (const LoopRows& l : s.loops) rows += l.rows;
  for (int i = 0; i < n; ++i)
    if (const JointLock* lock = s.lock(i)) rows += lock->rows;
  d.C.setZero(rows, v);
  int row = 0;
  for (std::size_t l = 0; l < s.loops.size(); ++l) {
    const LoopSite& site = s.pattern->loops[l];
    const int r = s.loops[l].rows;
    if (site.a >= 0) d.C.middleRows(row, r) += s.loops[l].on_a.topRows(r) * d.J.middleRows(6 * site.a, 6);
    if (site.b >= 0) d.C.middleRows(row, r) += s.loops[l].on_b.topRows(r) * d.J.middleRows(6 * site.b, 6);
    for (std::size_t k = 0; k < site.more.size(); ++k)
      d.C.row(row) += s.loops[l].more[k].transpose() * d.J.middleRows(6 * site.more[k], 6);
    for (int k = 0; k < r; ++k) {  // rounding is no row
      double size = s.loops[l].on_a.row(k).norm() + s.loops[l].on_b.row(k).norm();
      for (const Vec6& on : s.loops[l].more) size += on.norm();
      if (d.C.row(row + k).norm() < 1e-12 * size) d.C.row(row + k).setZero();
    }
    row += r;
  }
  for (int i = 0; i < n; ++i)
    if (const JointLock* lock = s.lock(i)) {
      d.C.block(row, tree[i].v, lock->rows, tree[i].dofs) = lock->C.topLeftCorner(lock->rows, tree[i].dofs);
      row += lock->rows;
    }
  return d;
}

bool solve_dense(const BlockSystem& s, const BlockRhs& rhs, BlockSolution& x) {
  const Tree& tree = *s.tree;
  const int n = tree.size(), v = tree.v_count();
  const DenseSystem d = assemble_dense(s);
  VecX b = Eigen::Map<const VecX>(rhs.tau.data(), v);
  for (int i = 0; i < n; ++i) b += d.J.middleRows(6 * i, 6).transpose() * rhs.wrench[i];
  VecX g(d.C.rows());
  int row = 0;
  for (std::size_t l = 0; l < s.loops.size(); ++l) {
    g.segment(row, s.loops[l].rows) = rhs.g[l].head(s.loops[l].rows);
    row += s.loops[l].rows;
  }
  for (int i = 0; i < n; ++i)
    if (const JointLock* lock = s.lock(i)) {
      g.segment(row, lock->rows) = lock->g.head(lock->rows);
      row += lock->rows;
    }
  const math::RowSpace q = math::row_space(d.C);
  const auto Y = q.Q.leftCols(q.rank), Z = q.Q.rightCols(v - q.rank);
  VecX a = VecX::Zero(v);
  if (q.rank > 0) a = Y * math::solve_least_squares(d.C * Y, g);
  if (Z.cols() > 0) {
    const auto z = math::solve_full_rank(Z.transpose() * d.H * Z, Z.transpose() * (b - d.H * a));
    if (!z) return false;
    a += Z * *z;
  }
  std::copy_n(a.data(), v, x.a.data());
  jacobian_times(s, x.a.data(), x.twist.data());
  const VecX lambda = d.C.rows() > 0 ? math::solve_least_norm(d.C.transpose(), b - d.H * a) : VecX();
  row = 0;
  for (std::size_t l = 0; l < s.loops.size(); ++l) {
    x.lambda[l].setZero();
    x.lambda[l].head(s.loops[l].rows) = lambda.segment(row, s.loops[l].rows);
    row += s.loops[l].rows;
  }
  std::fill(x.dropped.begin(), x.dropped.end(), 0);
  return true;
}

VecX dense_directions(const BlockSystem& s) {
  const DenseSystem d = assemble_dense(s);
  const math::RowSpace q = math::row_space(d.C);
  if (q.rank == q.Q.cols()) return {};
  const auto Z = q.Q.rightCols(q.Q.cols() - q.rank);
  return math::symmetric_eigen(Z.transpose() * d.H * Z).values;
}

}  // namespace limber::multibody
