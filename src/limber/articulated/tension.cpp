// The stiffness of tension, for the matrix of an iteration. A force g that pulls at r on a link keeps its
// direction while the link turns by ω:
//
//   −g · (exp(ω) r) = −g · r − g · (ω × r) + ½ ωᵀ ((g · r) I − sym(g rᵀ)) ω + …
//
// so a rod under tension resists its turning although no spring does. g is what hangs on the link, the
// weight and inertia of all that its joints carry, known from the iterate before. Of the matrix only the
// part along r is taken, and where it pulls: (g · r)₊ (I − r rᵀ/r²) is positive semidefinite and a block of
// one body, so the tree stays a tree. It decides how fast an iteration converges, not what it converges to:
// a hanging beam's convergence follows γh N/(2√(EI ρA)), N its tension, whatever the mesh.
#include "limber/articulated/stepper.h"
#include "limber/multibody/inertia_rows.h"

namespace limber::articulated {
namespace {

using multibody::rows::load3;
using multibody::rows::Pack;

// Forces that links need to move as they do beyond what acts on them, in M.
LIMBER_KERNEL void needed_forces(const multibody::Tree& tree, const LinkMotion* links, const Vec6* a,
                                 const Vec6* wrench, Vec3* out) {
  for (int i = 0; i < tree.size(); ++i) {
    Pack moment, force, turn, bias;
    multibody::rows::momentum(tree[i].inertia, load3(a[i].data()), load3(a[i].data() + 3), moment, force);
    multibody::rows::bias_force(tree[i].inertia, links[i].V, turn, bias);
    multibody::rows::store3(out[i].data(), force + bias - load3(wrench[i].data() + 3));
  }
}

// Adds k (g · r)₊ (I − r rᵀ/r²).
void add_pull(double k, const Vec3& g, const Vec3& r, Mat3& block) {
  const double pull = k * g.dot(r);
  if (!(pull > 0)) return;
  const double share = pull / r.squaredNorm();
  block.diagonal().array() += pull;
  block.noalias() -= share * (r * r.transpose());
}

}  // namespace

// Accelerations of the links at the iterate w_.a, in M.
void Stepper::place_accelerations(const double* q) {
  for (int i = 0; i < tree_.size(); ++i) {
    const Link& link = tree_[i];
    Vec6& a = w_.a_body[i];
    a = w_.links[i].c;
    if (link.parent >= 0) a += w_.links[i].X_PM.inverse_motion(w_.a_body[link.parent]);
    a += multibody::joint_twist(link.kind, link.lead, q + link.q, w_.a.data() + link.v);  // S a
  }
}

// From what evaluate() found at q; k: the weight of stiffness.
void Stepper::set_tension(const double* q, double k) {
  place_accelerations(q);
  needed_forces(tree_, w_.links.data(), w_.a_body.data(), w_.wrench.data(), w_.carried.data());
  for (int i = 0; i < tree_.size(); ++i) {
    const Inertia& I = tree_[i].inertia;
    w_.tension_block[i].setZero();
    if (I.m > 0) add_pull(k, -w_.carried[i], I.h / I.m, w_.tension_block[i]);
  }
  for (int i = tree_.size() - 1; i >= 0; --i) {
    const int p = tree_[i].parent;
    if (p < 0) continue;
    const Pose& X = w_.links[i].X_PM;
    const Vec3 f = X.R * w_.carried[i];
    w_.carried[p] += f;
    add_pull(k, -f, X.p, w_.tension_block[p]);
  }
}

// The right-hand side's share of the implicit blocks: + B a, and + A a_body of the iterate before.
void Stepper::add_implicit_forces() {
  for (const Link& link : tree_.links()) {
    const double* B = w_.joint_block.data() + link.block;
    for (int i = 0; i < link.dofs; ++i)
      for (int j = 0; j < link.dofs; ++j) w_.tau[link.v + i] += B[j * link.dofs + i] * w_.a[link.v + j];
  }
  if (w_.body_block.empty() && !tension_) return;
  place_accelerations(q_at_);
  for (int i = 0; i < tree_.size(); ++i) {
    if (tension_) w_.wrench[i].head<3>() += w_.tension_block[i] * w_.a_body[i].head<3>();
    if (const int b = w_.body_block_index[i]; b >= 0) w_.wrench[i] += w_.body_block[b] * w_.a_body[i];
  }
}

void Stepper::add_tension_to_blocks() {
  for (int i = 0; i < tree_.size(); ++i) {
    const Mat3& R = w_.links[i].X_WM.R;
    w_.blocks->system.diagonal[i].topLeftCorner<3, 3>() += R * w_.tension_block[i] * R.transpose();
  }
}

}  // namespace limber::articulated
