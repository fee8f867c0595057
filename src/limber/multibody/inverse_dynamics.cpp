// a_i = X⁻¹ a_p + S a + c;  f_i = I a_i + V ×* I V − F_i + Σ_children X f;  τ = Sᵀ f.
#include "limber/multibody/inverse_dynamics.h"

namespace limber::multibody {

VecX inverse_dynamics(const Tree& tree, const VecX& q, const VecX& v, const VecX& a,
                      const std::vector<Vec6>& wrench) {
  std::vector<LinkMotion> links(tree.size());
  kinematics(tree, q.data(), v.data(), links);
  std::vector<Vec6> acceleration(tree.size()), force(tree.size());
  for (int i = 0; i < tree.size(); ++i) {
    const Link& link = tree[i];
    const Subspace S = motion_subspace(link, q.data() + link.q);
    Vec6 A = links[i].c + S.leftCols(link.dofs) * a.segment(link.v, link.dofs);
    if (link.parent >= 0) A += links[i].X_PM.inverse_motion(acceleration[link.parent]);
    acceleration[i] = A;
    force[i] = link.inertia.momentum(A) + cross_force(links[i].V, link.inertia.momentum(links[i].V));
    if (!wrench.empty()) force[i] -= wrench[i];
  }
  VecX tau(tree.v_count());
  for (int i = tree.size() - 1; i >= 0; --i) {
    const Link& link = tree[i];
    const Subspace S = motion_subspace(link, q.data() + link.q);
    tau.segment(link.v, link.dofs) = S.leftCols(link.dofs).transpose() * force[i];
    if (link.parent >= 0) force[link.parent] += links[i].X_PM.force(force[i]);
  }
  return tau;
}

}  // namespace limber::multibody
