// Compiling a model into links, and cutting the tree for two or more threads.
#include "limber/multibody/tree.h"

#include <algorithm>

namespace limber::multibody {

Tree::Tree(const Model& model) {
  const auto bodies = model.bodies();
  const auto joints = model.joints();
  links_.resize(bodies.size());
  subtree_end_.resize(bodies.size());
  for (int i = 0; i < size(); ++i) {
    const Joint& j = joints[i];
    Link& link = links_[i];
    link.kind = j.kind;
    link.parent = j.parent.value;
    link.dofs = dof_count(j.kind);
    link.lead = j.pitch / (2 * pi);
    link.q = q_count_;
    link.v = v_count_;
    link.block = block_count_;
    q_count_ += coordinate_count(j.kind);
    v_count_ += link.dofs;
    block_count_ += link.dofs * link.dofs;
    link.X_MB = j.X_BM.inverse();
    link.X_PF = link.parent >= 0 ? links_[link.parent].X_MB * j.X_PF : j.X_PF;
    link.inertia = bodies[i].inertia.in_frame(link.X_MB);
    subtree_end_[i] = i + 1;
  }
  for (int i = size() - 1; i >= 0; --i)
    if (const int p = links_[i].parent; p >= 0) subtree_end_[p] = std::max(subtree_end_[p], subtree_end_[i]);
  cut_subtrees();
}

// The largest subtrees of at most 1/8 of the links: enough pieces for a few threads to share evenly.
void Tree::cut_subtrees() {
  const int grain = std::max(64, size() / 8);
  int in_subtrees = 0;
  for (int i = 0; i < size();) {
    if (subtree_end_[i] - i <= grain) {
      top_and_roots_.push_back(-1 - static_cast<int>(subtrees_.size()));
      subtrees_.push_back({i, subtree_end_[i]});
      in_subtrees += subtree_end_[i] - i;
      i = subtree_end_[i];
    } else {
      top_.push_back(i);
      top_and_roots_.push_back(i);
      ++i;
    }
  }
  worth_parallel_ = subtrees_.size() >= 2 && 2 * in_subtrees >= size();
}

void set_coordinates(const Link& link, const DofArray& dofs, double* q) {
  if (!has_rotation_vector(link.kind)) {
    std::copy_n(dofs.begin(), link.dofs, q);
    return;
  }
  const Quat r = math::quat_exp({dofs[0], dofs[1], dofs[2]});
  q[0] = r.w(), q[1] = r.x(), q[2] = r.y(), q[3] = r.z();
  std::copy_n(dofs.begin() + 3, link.dofs - 3, q + 4);
}

DofArray get_coordinates(const Link& link, const double* q) {
  DofArray dofs{};
  if (!has_rotation_vector(link.kind)) {
    std::copy_n(q, link.dofs, dofs.begin());
    return dofs;
  }
  const Vec3 theta = math::quat_log(Quat(q[0], q[1], q[2], q[3]));
  std::copy_n(theta.data(), 3, dofs.begin());
  std::copy_n(q + 4, link.dofs - 3, dofs.begin() + 3);
  return dofs;
}

}  // namespace limber::multibody
