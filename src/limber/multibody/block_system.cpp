// Products with the Jacobian and the blocks, all O(n).
#include "limber/multibody/block_system.h"

#include <algorithm>

namespace limber::multibody {

BlockSystem::BlockSystem(const Tree& t, const Pattern& p)
    : tree(&t),
      pattern(&p),
      origin(t.size(), Vec3::Zero()),
      S(6 * static_cast<std::size_t>(t.v_count())),
      diagonal(t.size(), Mat6::Zero()),
      off(p.pairs.size(), Mat6::Zero()),
      joint(t.block_count()),
      loops(p.loops.size()) {}

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
    const Subspace local = motion_subspace(link.kind, q + link.q);
    for (int k = 0; k < link.dofs; ++k)
      Eigen::Map<Vec6>{S + 6 * k} << R * local.col(k).head<3>(), R * local.col(k).tail<3>();
  }
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

void jacobian_rate_times(const Tree& tree, const std::vector<LinkMotion>& links, Vec6* acceleration) {
  for (int i = 0; i < tree.size(); ++i) {
    acceleration[i] = links[i].c;
    if (const int p = tree[i].parent; p >= 0)
      acceleration[i] += links[i].X_PM.inverse_motion(acceleration[p]);
  }
}

void jacobian_transpose_times(const BlockSystem& s, Vec6* y, double* x) {
  for (int i = s.tree->size() - 1; i >= 0; --i) {
    const Link& link = (*s.tree)[i];
    for (int k = 0; k < link.dofs; ++k)
      x[link.v + k] = Eigen::Map<const Vec6>(s.S.data() + 6 * (link.v + k)).dot(y[i]);
    if (link.parent >= 0) y[link.parent] += shift_wrench(y[i], s.origin[i] - s.origin[link.parent]);
  }
}

void blocks_times(const BlockSystem& s, const Vec6* twist, Vec6* y) {
  for (int i = 0; i < s.tree->size(); ++i) y[i].noalias() = s.diagonal[i] * twist[i];
  for (std::size_t k = 0; k < s.off.size(); ++k) {
    const LinkPair& p = s.pattern->pairs[k];
    y[p.a].noalias() += s.off[k] * twist[p.b];
    y[p.b].noalias() += s.off[k].transpose() * twist[p.a];
  }
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
  return out;
}

void subtract_loop_forces(const BlockSystem& s, const Vec6* lambda, Vec6* y) {
  for (std::size_t l = 0; l < s.loops.size(); ++l) {
    const LoopSite& site = s.pattern->loops[l];
    const LoopRows& rows = s.loops[l];
    const auto top = rows.rows;
    if (site.a >= 0) y[site.a] -= rows.on_a.topRows(top).transpose() * lambda[l].head(top);
    if (site.b >= 0) y[site.b] -= rows.on_b.topRows(top).transpose() * lambda[l].head(top);
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
