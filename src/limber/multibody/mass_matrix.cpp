// Two independent ways to the joint-space inertia matrix.
#include "limber/multibody/mass_matrix.h"

namespace limber::multibody {
namespace {

std::vector<LinkMotion> at_rest(const Tree& tree, const VecX& q) {
  std::vector<LinkMotion> links(tree.size());
  const VecX zero = VecX::Zero(tree.v_count());
  kinematics(tree, q.data(), zero.data(), links);
  return links;
}

}  // namespace

std::vector<MatX> link_jacobians(const Tree& tree, const VecX& q) {
  const auto links = at_rest(tree, q);
  std::vector<MatX> J(tree.size());
  for (int i = 0; i < tree.size(); ++i) {
    const Link& link = tree[i];
    J[i] = MatX::Zero(6, tree.v_count());
    if (link.parent >= 0) J[i] = links[i].X_PM.inverse().adjoint() * J[link.parent];
    J[i].middleCols(link.v, link.dofs) += motion_subspace(link, q.data() + link.q).leftCols(link.dofs);
  }
  return J;
}

MatX mass_matrix(const Tree& tree, const VecX& q) {
  const auto J = link_jacobians(tree, q);
  MatX M = MatX::Zero(tree.v_count(), tree.v_count());
  for (int i = 0; i < tree.size(); ++i) M += J[i].transpose() * tree[i].inertia.matrix() * J[i];
  return M;
}

MatX mass_matrix_by_composite_bodies(const Tree& tree, const VecX& q) {
  const auto links = at_rest(tree, q);
  std::vector<Inertia> composite(tree.size());
  for (int i = 0; i < tree.size(); ++i) composite[i] = tree[i].inertia;
  for (int i = tree.size() - 1; i >= 0; --i)
    if (const int p = tree[i].parent; p >= 0) composite[p] += composite[i].in_frame(links[i].X_PM);

  MatX M = MatX::Zero(tree.v_count(), tree.v_count());
  for (int i = 0; i < tree.size(); ++i) {
    const Link& link = tree[i];
    if (link.dofs == 0) continue;
    const Subspace S = motion_subspace(link, q.data() + link.q);
    MatX F = composite[i].matrix() * S.leftCols(link.dofs);
    M.block(link.v, link.v, link.dofs, link.dofs) = S.leftCols(link.dofs).transpose() * F;
    for (int j = i; tree[j].parent >= 0; j = tree[j].parent) {
      for (int k = 0; k < F.cols(); ++k) F.col(k) = links[j].X_PM.force(F.col(k));
      const Link& up = tree[tree[j].parent];
      const Subspace S_up = motion_subspace(up, q.data() + up.q);
      M.block(link.v, up.v, link.dofs, up.dofs) = F.transpose() * S_up.leftCols(up.dofs);
      M.block(up.v, link.v, up.dofs, link.dofs) = M.block(link.v, up.v, link.dofs, up.dofs).transpose();
    }
  }
  return M;
}

}  // namespace limber::multibody
