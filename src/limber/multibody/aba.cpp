// The articulated-body algorithm; equations in the header.
#include "limber/multibody/aba.h"

#include <atomic>
#include <cmath>

#include "limber/multibody/invert_spd.h"
#include "limber/multibody/parallel_walk.h"

namespace limber::multibody {
namespace {

template <int D>
using VecD = Eigen::Matrix<double, D, 1>;
template <int D>
using Mat6D = Eigen::Matrix<double, 6, D>;

// U = I^A S and Sᵀx for the joint kinds whose S picks rows, and with the stored S for the others.
template <JointKind K, int D>
Mat6D<D> times_subspace(const ArticulatedInertia& I, const double* S_stored) {
  Mat6D<D> U;
  if constexpr (K == JointKind::revolute) {
    U.template topRows<3>() = I.A.col(2);
    U.template bottomRows<3>() = I.B.row(2).transpose();
  } else if constexpr (K == JointKind::prismatic) {
    U.template topRows<3>() = I.B.col(2);
    U.template bottomRows<3>() = I.C.col(2);
  } else if constexpr (K == JointKind::spherical) {
    U.template topRows<3>() = I.A;
    U.template bottomRows<3>() = I.B.transpose();
  } else if constexpr (K == JointKind::free) {
    U << I.A, I.B, I.B.transpose(), I.C;
  } else {
    const Eigen::Map<const Mat6D<D>> S(S_stored);
    U.template topRows<3>() = I.A * S.template topRows<3>() + I.B * S.template bottomRows<3>();
    U.template bottomRows<3>() = I.B.transpose() * S.template topRows<3>() + I.C * S.template bottomRows<3>();
  }
  return U;
}

template <JointKind K, int D, class X>
auto subspace_transpose_times(const X& x, const double* S_stored) {
  using Result = Eigen::Matrix<double, D, X::ColsAtCompileTime>;
  if constexpr (K == JointKind::revolute)
    return Result(x.row(2));
  else if constexpr (K == JointKind::prismatic)
    return Result(x.row(5));
  else if constexpr (K == JointKind::spherical)
    return Result(x.template topRows<3>());
  else if constexpr (K == JointKind::free)
    return Result(x);
  else
    return Result(Eigen::Map<const Mat6D<D>>(S_stored).transpose() * x);
}

template <JointKind K, int D>
Vec6 subspace_times(const VecD<D>& x, const double* S_stored) {
  Vec6 out = Vec6::Zero();
  if constexpr (K == JointKind::revolute)
    out[2] = x[0];
  else if constexpr (K == JointKind::prismatic)
    out[5] = x[0];
  else if constexpr (K == JointKind::spherical)
    out.template head<3>() = x;
  else if constexpr (K == JointKind::free)
    out = x;
  else
    out = Eigen::Map<const Mat6D<D>>(S_stored) * x;
  return out;
}

// Replaces D⁻¹ by D_c and returns a_g, for the rows that are given.
template <int D>
VecD<D> lock_rows(const JointLock& lock, MatD<D>& D_inverse) {
  if (lock.rows == D) {  // all given: C is square and orthonormal
    D_inverse.setZero();
    return lock.C.topLeftCorner<D, D>().transpose() * lock.g.head<D>();
  }
  if constexpr (D > 1) {
    // One row at a time: the rows stay independent, since C has full rank and D is positive definite.
    VecD<D> a_g = VecD<D>::Zero();
    for (int r = 0; r < lock.rows; ++r) {
      const VecD<D> c = lock.C.row(r).head<D>().transpose();
      const VecD<D> y = D_inverse * c;
      const double scale = 1 / c.dot(y);
      a_g += y * (scale * (lock.g[r] - c.dot(a_g)));
      D_inverse -= scale * y * y.transpose();
    }
    return a_g;
  }
  return VecD<D>::Zero();
}

class Pass {
 public:
  Pass(const Tree& tree, const double* q, const AbaInput& in, AbaWorkspace& w, double* a)
      : tree_(tree), q_(q), in_(in), w_(w), links_(*in.links), a_(a) {}

  // I^A and p^A of the body alone; children add theirs before it is visited.
  void start(int i) {
    const Link& link = tree_[i];
    const LinkMotion& m = links_[i];
    ArticulatedInertia& I = w_.inertia[i];
    I.A = link.inertia.I;
    I.B = math::skew(link.inertia.h);
    I.C = Vec3::Constant(link.inertia.m).asDiagonal();
    I.p = cross_force(m.V, link.inertia.momentum(m.V));
    if (in_.wrench) I.p -= in_.wrench[i];
    if (in_.body_block && in_.body_block_index[i] >= 0) {
      const Mat6& block = in_.body_block[in_.body_block_index[i]];
      I.A += block.topLeftCorner<3, 3>();
      I.B += block.topRightCorner<3, 3>();
      I.C += block.bottomRightCorner<3, 3>();
    }
  }

  void backward(int i) {
    switch (tree_[i].kind) {
      case JointKind::fixed:
        return pass_fixed(i);
      case JointKind::revolute:
        return backward_joint<JointKind::revolute, 1>(i);
      case JointKind::prismatic:
        return backward_joint<JointKind::prismatic, 1>(i);
      case JointKind::universal:
        return backward_joint<JointKind::universal, 2>(i);
      case JointKind::planar:
        return backward_joint<JointKind::planar, 3>(i);
      case JointKind::spherical:
        return backward_joint<JointKind::spherical, 3>(i);
      case JointKind::free:
        return backward_joint<JointKind::free, 6>(i);
    }
  }

  void push(int i) {
    const int p = tree_[i].parent;
    if (p < 0) return;
    ArticulatedInertia& parent = w_.inertia[p];
    const ArticulatedInertia& mine = w_.passed[i];
    parent.A += mine.A;
    parent.B += mine.B;
    parent.C += mine.C;
    parent.p += mine.p;
  }

  void forward(int i) {
    const Link& link = tree_[i];
    const LinkMotion& m = links_[i];
    Vec6& a = w_.a_body[i];
    a = m.c;
    if (link.parent >= 0) a += m.X_PM.inverse_motion(w_.a_body[link.parent]);
    switch (link.kind) {
      case JointKind::fixed:
        return;
      case JointKind::revolute:
        return forward_joint<JointKind::revolute, 1>(link, a);
      case JointKind::prismatic:
        return forward_joint<JointKind::prismatic, 1>(link, a);
      case JointKind::universal:
        return forward_joint<JointKind::universal, 2>(link, a);
      case JointKind::planar:
        return forward_joint<JointKind::planar, 3>(link, a);
      case JointKind::spherical:
        return forward_joint<JointKind::spherical, 3>(link, a);
      case JointKind::free:
        return forward_joint<JointKind::free, 6>(link, a);
    }
  }

  int bad_link() const { return bad_link_.load(); }

 private:
  template <JointKind K, int D>
  void backward_joint(int i) {
    const Link& link = tree_[i];
    const ArticulatedInertia& I = w_.inertia[i];
    double* S = w_.S.data() + 6 * link.v;
    if constexpr (K == JointKind::universal || K == JointKind::planar)
      Eigen::Map<Mat6D<D>>{S} = motion_subspace(K, q_ + link.q).template leftCols<D>();

    // U = I^A S, D = SᵀU + B
    Eigen::Map<Mat6D<D>> U(w_.U.data() + 6 * link.v);
    U = times_subspace<K, D>(I, S);
    MatD<D> pivot = subspace_transpose_times<K, D>(U, S);
    if (in_.joint_block) pivot += Eigen::Map<const MatD<D>>(in_.joint_block + link.block);
    Eigen::Map<MatD<D>> D_c(w_.D_inverse.data() + link.block);
    MatD<D> inverse;
    VecD<D> a_g = VecD<D>::Zero();
    const bool good = invert_spd<D>(pivot, inverse);
    const JointLock* lock =
        in_.lock_index && in_.lock_index[i] >= 0 ? &in_.locks[in_.lock_index[i]] : nullptr;
    if (!good && !(lock && lock->rows == D)) report_bad(i);
    if (lock) a_g = lock_rows<D>(*lock, inverse);
    D_c = inverse;

    // u = D_c (τ − Sᵀp) + a_g
    const VecD<D> tau = Eigen::Map<const VecD<D>>(in_.tau + link.v);
    const VecD<D> u = inverse * (tau - subspace_transpose_times<K, D>(I.p, S)) + a_g;
    Eigen::Map<VecD<D>>(w_.u.data() + link.v) = u;
    if (link.parent < 0) return;

    // I^a = I^A − U D_c Uᵀ
    const Eigen::Matrix<double, 3, D> U_w = U.template topRows<3>(), U_v = U.template bottomRows<3>();
    const Eigen::Matrix<double, 3, D> W_w = U_w * inverse, W_v = U_v * inverse;
    const Mat3 A = I.A - W_w * U_w.transpose();
    const Mat3 B = I.B - W_w * U_v.transpose();
    const Mat3 C = I.C - W_v * U_v.transpose();
    pass(i, A, B, C, I.p + U * u);
  }

  void pass_fixed(int i) {
    if (tree_[i].parent < 0) return;
    const ArticulatedInertia& I = w_.inertia[i];
    pass(i, I.A, I.B, I.C, I.p);
  }

  // p^a = p + I^a c, both seen in the parent: with P = [p]ₓ after turning by R,
  //   A' = A − B P + P Bᵀ − P C P,  B' = B + P C,  C' = C
  void pass(int i, const Mat3& A, const Mat3& B, const Mat3& C, const Vec6& p) {
    const LinkMotion& m = links_[i];
    const Vec3 c_w = m.c.head<3>(), c_v = m.c.tail<3>();
    Vec6 force = p;
    force.head<3>() += A * c_w + B * c_v;
    force.tail<3>() += B.transpose() * c_w + C * c_v;

    ArticulatedInertia& out = w_.passed[i];
    const Mat3& R = m.X_PM.R;
    const Mat3 P = math::skew(m.X_PM.p);
    const Mat3 A_r = R * A * R.transpose(), B_r = R * B * R.transpose(), C_r = R * C * R.transpose();
    const Mat3 PC = P * C_r, BP = B_r * P;
    out.A = A_r - BP - BP.transpose() - PC * P;
    out.B = B_r + PC;
    out.C = C_r;
    out.p = m.X_PM.force(force);
  }

  template <JointKind K, int D>
  void forward_joint(const Link& link, Vec6& a) {
    const Eigen::Map<const Mat6D<D>> U(w_.U.data() + 6 * link.v);
    const Eigen::Map<const MatD<D>> D_c(w_.D_inverse.data() + link.block);
    const VecD<D> qdd = Eigen::Map<const VecD<D>>(w_.u.data() + link.v) - D_c * (U.transpose() * a);
    Eigen::Map<VecD<D>>(a_ + link.v) = qdd;
    a += subspace_times<K, D>(qdd, w_.S.data() + 6 * link.v);
  }

  // The deepest one: what stands above it is spoilt by it.
  void report_bad(int i) {
    int seen = bad_link_.load();
    while (i > seen && !bad_link_.compare_exchange_weak(seen, i)) {
    }
  }

  const Tree& tree_;
  const double* q_;
  const AbaInput& in_;
  AbaWorkspace& w_;
  const std::vector<LinkMotion>& links_;
  double* a_;
  std::atomic<int> bad_link_{-1};
};

}  // namespace

AbaWorkspace::AbaWorkspace(const Tree& tree)
    : inertia(tree.size()),
      passed(tree.size()),
      U(6 * static_cast<std::size_t>(tree.v_count())),
      D_inverse(tree.block_count()),
      u(tree.v_count()),
      S(6 * static_cast<std::size_t>(tree.v_count())),
      a_body(tree.size()) {}

bool aba(const Tree& tree, const double* q, const AbaInput& in, AbaWorkspace& w, double* a,
         Workers* workers) {
  Pass pass(tree, q, in, w, a);
  walk_forward(tree, workers, [&](int i) { pass.start(i); });
  walk_backward(
      tree, workers, [&](int i) { pass.backward(i); }, [&](int i) { pass.push(i); });
  w.bad_link = pass.bad_link();
  if (w.bad_link >= 0) return false;
  walk_forward(tree, workers, [&](int i) { pass.forward(i); });
  return true;
}

Vec6 lock_force(const Tree& tree, const double* q, const AbaInput& in, const AbaWorkspace& w, const double* a,
                int i) {
  const Link& link = tree[i];
  const int d = link.dofs;
  const Eigen::Map<const Eigen::Matrix<double, 6, Eigen::Dynamic>> U(w.U.data() + 6 * link.v, 6, d);
  const Subspace S = motion_subspace(link.kind, q + link.q);
  Vec6 force = Vec6::Zero();
  for (int k = 0; k < d; ++k) {
    force[k] = U.col(k).dot(w.a_body[i]) + S.col(k).dot(w.inertia[i].p) - in.tau[link.v + k];
    if (in.joint_block)
      for (int l = 0; l < d; ++l) force[k] += in.joint_block[link.block + l * d + k] * a[link.v + l];
  }
  return force;
}

}  // namespace limber::multibody
