// The articulated-body algorithm; equations in the header. Backward it works on rows of four numbers
// (inertia_rows.h).
#include "limber/multibody/aba.h"

#include <atomic>
#include <cmath>

#include "limber/multibody/inertia_rows.h"
#include "limber/multibody/invert_spd.h"
#include "limber/multibody/parallel_walk.h"

namespace limber::multibody {
namespace {

using rows::all;
using rows::Pack;
using rows::Rows;
template <int D>
using VecD = Eigen::Matrix<double, D, 1>;
template <int D>
using Mat6D = Eigen::Matrix<double, 6, D>;

struct Acceleration {
  Pack w, v;
};

// Columns of U = I^A S, angular and linear parts.
template <int D>
struct Columns {
  Pack w[D], v[D];
};

constexpr bool picks_rows(JointKind kind) {
  return kind == JointKind::revolute || kind == JointKind::prismatic || kind == JointKind::spherical;
}

// U for the joint kinds whose S picks rows, and with the stored S for the others. A row of A is also its
// column; columns of B are needed where S has a linear part.
template <JointKind K, int D>
LIMBER_INLINE Columns<D> times_subspace(const Rows& I, const double* S) {
  Columns<D> U;
  if constexpr (K == JointKind::revolute) {
    U.w[0] = I.A[2], U.v[0] = I.B[2];
  } else if constexpr (K == JointKind::spherical) {
    for (int k = 0; k < 3; ++k) U.w[k] = I.A[k], U.v[k] = I.B[k];
  } else {
    Pack B_columns[3];
    rows::transpose(I.B, B_columns);
    if constexpr (K == JointKind::prismatic) {
      U.w[0] = B_columns[2], U.v[0] = I.C[2];
    } else {
      for (int k = 0; k < D; ++k, S += 6) {
        U.w[k] = U.v[k] = rows::pack(0);
        for (int j = 0; j < 3; ++j) {
          U.w[k] += rows::pack(S[j]) * I.A[j] + rows::pack(S[3 + j]) * B_columns[j];
          U.v[k] += rows::pack(S[j]) * I.B[j] + rows::pack(S[3 + j]) * I.C[j];
        }
      }
    }
  }
  return U;
}

// Sᵀx of every column of x.
template <JointKind K, int D, class X>
LIMBER_INLINE auto subspace_transpose_times(const X& x, const double* S_stored) {
  using Result = Eigen::Matrix<double, D, X::ColsAtCompileTime>;
  if constexpr (K == JointKind::revolute)
    return Result(x.row(2));
  else if constexpr (K == JointKind::prismatic)
    return Result(x.row(5));
  else if constexpr (K == JointKind::spherical)
    return Result(x.template topRows<3>());
  else
    return Result(Eigen::Map<const Mat6D<D>>(S_stored).transpose() * x);
}

template <JointKind K, int D>
LIMBER_INLINE Vec6 subspace_times(const VecD<D>& x, const double* S_stored) {
  Vec6 out = Vec6::Zero();
  if constexpr (K == JointKind::revolute)
    out[2] = x[0];
  else if constexpr (K == JointKind::prismatic)
    out[5] = x[0];
  else if constexpr (K == JointKind::spherical)
    out.template head<3>() = x;
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
      : tree_(tree), q_(q), in_(in), w_(w), links_(in.links->data()), a_(a) {}

  // I^A of link i from its body and what its children gave, without its joint: what its parent gets, in I.
  LIMBER_INLINE void backward(int i, Rows& I) {
    const Link& link = tree_[i];
    if (tree_.subtree_end(i) > i + 1)
      rows::load(w_.inertia[i], I);
    else
      rows::clear(I);
    rows::add_body(link.inertia, links_[i].V, in_.wrench ? in_.wrench + i : nullptr, I);
    if (in_.body_block && in_.body_block_index[i] >= 0)
      rows::add_block(in_.body_block[in_.body_block_index[i]], I);
    if (in_.turn_block) rows::add_turn_block(in_.turn_block[i], I);
    switch (link.kind) {
      case JointKind::fixed:
      case JointKind::distance:
        break;
      case JointKind::revolute:
        eliminate<JointKind::revolute, 1>(i, I);
        break;
      case JointKind::prismatic:
        eliminate<JointKind::prismatic, 1>(i, I);
        break;
      case JointKind::universal:
        eliminate<JointKind::universal, 2>(i, I);
        break;
      case JointKind::planar:
        eliminate<JointKind::planar, 3>(i, I);
        break;
      case JointKind::spherical:
        eliminate<JointKind::spherical, 3>(i, I);
        break;
      case JointKind::free:
        eliminate<JointKind::free, 6>(i, I);
        break;
      case JointKind::cylindrical:
        eliminate<JointKind::cylindrical, 2>(i, I);
        break;
      case JointKind::screw:
        eliminate<JointKind::screw, 1>(i, I);
        break;
      case JointKind::point_on_line:
        eliminate<JointKind::point_on_line, 4>(i, I);
        break;
      case JointKind::point_on_plane:
        eliminate<JointKind::point_on_plane, 5>(i, I);
        break;
      case JointKind::constant_velocity:
        eliminate<JointKind::constant_velocity, 2>(i, I);
        break;
    }
    if (link.parent >= 0) rows::pass(links_[i].X_PM, links_[i].c, I);
  }

  // The last child, which comes first, begins the sum.
  LIMBER_INLINE void push(int i, const Rows& I) {
    const int p = tree_[i].parent;
    if (p < 0) return;
    if (tree_.subtree_end(i) == tree_.subtree_end(p))
      rows::store(I, w_.inertia[p]);
    else
      rows::add(I, w_.inertia[p]);
  }
  LIMBER_INLINE void keep(int i, const Rows& I) { rows::store(I, w_.inertia[i]); }
  LIMBER_INLINE void push_kept(int i) {
    Rows I;
    rows::load(w_.inertia[i], I);
    push(i, I);
  }

  // a = X⁻¹ a_p + c + S q̈; a holds that of the link before.
  LIMBER_INLINE void forward(int i, Acceleration& a) {
    const Link& link = tree_[i];
    const LinkMotion& m = links_[i];
    const double* c = m.c.data();
    if (link.parent < 0) {
      a = {rows::load3(c), rows::load3(c + 3)};
    } else {
      if (link.parent != i - 1) a = load(link.parent);
      const double* R = m.X_PM.R.data();
      const Pack columns[3] = {rows::load(R), rows::load(R + 3), rows::load(R + 6)};
      Pack turn[3];
      rows::transpose(columns, turn);
      const Pack v = a.v - rows::cross(rows::load3(m.X_PM.p.data()), a.w);
      a.w = rows::load3(c) + ((turn[0] * all(a.w, 0) + turn[1] * all(a.w, 1)) + turn[2] * all(a.w, 2));
      a.v = rows::load3(c + 3) + ((turn[0] * all(v, 0) + turn[1] * all(v, 1)) + turn[2] * all(v, 2));
    }
    switch (link.kind) {
      case JointKind::fixed:
      case JointKind::distance:
        break;
      case JointKind::revolute:
        forward_revolute(link, a);
        break;
      case JointKind::prismatic:
        forward_joint<JointKind::prismatic, 1>(link, a);
        break;
      case JointKind::universal:
        forward_joint<JointKind::universal, 2>(link, a);
        break;
      case JointKind::planar:
        forward_joint<JointKind::planar, 3>(link, a);
        break;
      case JointKind::spherical:
        forward_joint<JointKind::spherical, 3>(link, a);
        break;
      case JointKind::free:
        forward_joint<JointKind::free, 6>(link, a);
        break;
      case JointKind::cylindrical:
        forward_joint<JointKind::cylindrical, 2>(link, a);
        break;
      case JointKind::screw:
        forward_joint<JointKind::screw, 1>(link, a);
        break;
      case JointKind::point_on_line:
        forward_joint<JointKind::point_on_line, 4>(link, a);
        break;
      case JointKind::point_on_plane:
        forward_joint<JointKind::point_on_plane, 5>(link, a);
        break;
      case JointKind::constant_velocity:
        forward_joint<JointKind::constant_velocity, 2>(link, a);
        break;
    }
    rows::store(w_.a_body[i].data(), a.w), rows::store3(w_.a_body[i].data() + 3, a.v);
  }
  // What forward(i) expects: of the link before it, where that is its parent.
  LIMBER_INLINE Acceleration before(int i) const {
    if (tree_[i].parent >= 0 && tree_[i].parent == i - 1) return load(i - 1);
    return {rows::pack(0), rows::pack(0)};
  }
  LIMBER_INLINE Acceleration load(int i) const {
    const double* a = w_.a_body[i].data();
    return {rows::load3(a), rows::load3(a + 3)};
  }

  int bad_link() const { return bad_link_.load(); }

 private:
  template <JointKind K, int D>
  LIMBER_INLINE void eliminate(int i, Rows& I) {
    const Link& link = tree_[i];
    double* S = w_.S.data() + 6 * link.v;
    if constexpr (!picks_rows(K))
      Eigen::Map<Mat6D<D>>{S} = motion_subspace(K, link.lead, q_ + link.q).template leftCols<D>();

    // U = I^A S, D = SᵀU + B
    const Columns<D> U = times_subspace<K, D>(I, S);
    double* stored = w_.U.data() + 6 * link.v;
    for (int k = 0; k < D; ++k) {
      rows::store(stored + 6 * k, U.w[k]);
      rows::store3(stored + 6 * k + 3, U.v[k]);
    }
    MatD<D> pivot = subspace_transpose_times<K, D>(Eigen::Map<const Mat6D<D>>(stored), S);
    if (in_.joint_block) pivot += Eigen::Map<const MatD<D>>(in_.joint_block + link.block);
    MatD<D> inverse;
    VecD<D> a_g = VecD<D>::Zero();
    const bool good = invert_spd<D>(pivot, inverse);
    const JointLock* lock =
        in_.lock_index && in_.lock_index[i] >= 0 ? &in_.locks[in_.lock_index[i]] : nullptr;
    if (!good && !(lock && lock->rows == D)) report_bad(i);
    if (lock) a_g = lock_rows<D>(*lock, inverse);
    Eigen::Map<MatD<D>>(w_.D_inverse.data() + link.block) = inverse;

    // u = D_c (τ − Sᵀp) + a_g
    Vec6 p;
    for (int r = 0; r < 3; ++r) p[r] = I.B[r][3], p[3 + r] = I.C[r][3];
    const VecD<D> t = Eigen::Map<const VecD<D>>(in_.tau + link.v) - subspace_transpose_times<K, D>(p, S);
    const VecD<D> u = inverse * t + a_g;
    Eigen::Map<VecD<D>>(w_.t.data() + link.v) = t;
    Eigen::Map<VecD<D>>(w_.u.data() + link.v) = u;
    if (link.parent < 0) return;

    // I^a = I^A − U D_c Uᵀ, p^A + U u
    Columns<D> W;
    for (int k = 0; k < D; ++k) {
      W.w[k] = rows::pack(inverse(0, k)) * U.w[0], W.v[k] = rows::pack(inverse(0, k)) * U.v[0];
      for (int j = 1; j < D; ++j)
        W.w[k] += rows::pack(inverse(j, k)) * U.w[j], W.v[k] += rows::pack(inverse(j, k)) * U.v[j];
      W.v[k] = rows::with_fourth(W.v[k], rows::pack(-u[k]));
    }
    for (int k = 0; k < D; ++k)
#pragma GCC unroll 3
      for (int r = 0; r < 3; ++r) {
        I.A[r] -= all(U.w[k], r) * W.w[k];
        I.B[r] -= all(U.w[k], r) * W.v[k];
        I.C[r] -= all(U.v[k], r) * W.v[k];
      }
  }

  LIMBER_INLINE void forward_revolute(const Link& link, Acceleration& a) {
    const double* U = w_.U.data() + 6 * link.v;
    const Pack sum = rows::load(U) * a.w + rows::load(U + 3) * a.v;
    const double qdd = w_.u[link.v] - w_.D_inverse[link.block] * ((sum[0] + sum[1]) + sum[2]);
    a_[link.v] = qdd;
    a.w += Pack{0, 0, qdd, 0};
  }

  template <JointKind K, int D>
  LIMBER_INLINE void forward_joint(const Link& link, Acceleration& at) {
    Vec6 a;
    rows::store3(a.data(), at.w), rows::store3(a.data() + 3, at.v);
    const Eigen::Map<const Mat6D<D>> U(w_.U.data() + 6 * link.v);
    const Eigen::Map<const MatD<D>> D_c(w_.D_inverse.data() + link.block);
    const VecD<D> qdd = Eigen::Map<const VecD<D>>(w_.u.data() + link.v) - D_c * (U.transpose() * a);
    Eigen::Map<VecD<D>>(a_ + link.v) = qdd;
    a += subspace_times<K, D>(qdd, w_.S.data() + 6 * link.v);
    at = {rows::load3(a.data()), rows::load3(a.data() + 3)};
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
  const LinkMotion* links_;
  double* a_;
  std::atomic<int> bad_link_{-1};
};

// Links [begin, end), the last one first; what the first one gives is kept unless it is to be pushed.
LIMBER_KERNEL void backward_links(Pass& pass, int begin, int end, bool push_first) {
  for (int i = end - 1; i >= begin; --i) {
    Rows I;
    pass.backward(i, I);
    if (i > begin || push_first)
      pass.push(i, I);
    else
      pass.keep(i, I);
  }
}

LIMBER_KERNEL void forward_links(Pass& pass, int begin, int end) {
  Acceleration a = pass.before(begin);
  for (int i = begin; i < end; ++i) pass.forward(i, a);
}

}  // namespace

AbaWorkspace::AbaWorkspace(const Tree& tree)
    : inertia(tree.size()),
      U(6 * static_cast<std::size_t>(tree.v_count()) + 1),
      D_inverse(tree.block_count()),
      u(tree.v_count()),
      t(tree.v_count()),
      S(6 * static_cast<std::size_t>(tree.v_count())),
      a_body(tree.size()) {}

bool aba(const Tree& tree, const double* q, const AbaInput& in, AbaWorkspace& w, double* a,
         Workers* workers) {
  Pass pass(tree, q, in, w, a);
  walk_ranges_backward(
      tree, workers, [&](int begin, int end, bool push) { backward_links(pass, begin, end, push); },
      [&](int i) { pass.push_kept(i); });
  w.bad_link = pass.bad_link();
  if (w.bad_link >= 0) return false;
  walk_ranges_forward(tree, workers, [&](int begin, int end) { forward_links(pass, begin, end); });
  return true;
}

Vec6 lock_force(const Tree& tree, const double*, const AbaInput& in, const AbaWorkspace& w, const double* a,
                int i) {
  const Link& link = tree[i];
  const int d = link.dofs;
  const Eigen::Map<const Eigen::Matrix<double, 6, Eigen::Dynamic>> U(w.U.data() + 6 * link.v, 6, d);
  Vec6 force = Vec6::Zero();
  for (int k = 0; k < d; ++k) {
    force[k] = U.col(k).dot(w.a_body[i]) - w.t[link.v + k];
    if (in.joint_block)
      for (int l = 0; l < d; ++l) force[k] += in.joint_block[link.block + l * d + k] * a[link.v + l];
  }
  return force;
}

}  // namespace limber::multibody
