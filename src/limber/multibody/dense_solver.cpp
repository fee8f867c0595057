#include "limber/multibody/dense_solver.h"

#include <Eigen/Dense>

namespace limber::multibody {
namespace {

// Orthonormal columns: the first `rank` span the rows of C, the others its null space.
struct Split {
  MatX Q;
  int rank = 0;
};
Split split(const MatX& C) {
  const int v = static_cast<int>(C.cols());
  Split out;
  if (C.rows() == 0) {
    out.Q = MatX::Identity(v, v);
    return out;
  }
  const Eigen::ColPivHouseholderQR<MatX> qr(C.transpose());
  const VecX diagonal = qr.matrixR().diagonal().cwiseAbs();
  const double largest = diagonal.size() > 0 ? diagonal.maxCoeff() : 0;
  for (int i = 0; i < diagonal.size(); ++i)
    if (diagonal[i] > 1e-9 * largest && diagonal[i] > 0) ++out.rank;
  out.Q = qr.householderQ() * MatX::Identity(v, v);
  return out;
}

}  // namespace

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
    for (int k = 0; k < r; ++k) {  // rounding is no row
      const double size = s.loops[l].on_a.row(k).norm() + s.loops[l].on_b.row(k).norm();
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
  const Split q = split(d.C);
  const auto Y = q.Q.leftCols(q.rank), Z = q.Q.rightCols(v - q.rank);
  VecX a = VecX::Zero(v);
  if (q.rank > 0) a = Y * (d.C * Y).colPivHouseholderQr().solve(g);
  if (Z.cols() > 0) {
    const Eigen::FullPivLU<MatX> lu(Z.transpose() * d.H * Z);
    if (lu.rank() < Z.cols()) return false;
    a += Z * lu.solve(Z.transpose() * (b - d.H * a));
  }
  std::copy_n(a.data(), v, x.a.data());
  jacobian_times(s, x.a.data(), x.twist.data());
  const VecX lambda =
      d.C.rows() > 0 ? VecX(d.C.transpose().completeOrthogonalDecomposition().solve(b - d.H * a)) : VecX();
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
  const Split q = split(d.C);
  if (q.rank == q.Q.cols()) return {};
  const auto Z = q.Q.rightCols(q.Q.cols() - q.rank);
  return Eigen::SelfAdjointEigenSolver<MatX>(Z.transpose() * d.H * Z).eigenvalues();
}

}  // namespace limber::multibody
