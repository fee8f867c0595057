// The paper's construction: from the base on, link by link (Andrews et al., section 4). All twists stand at
// the world's origin in world axes, so that every adjoint is the identity:
//
//   chain  C_bb = S C_θ Sᵀ + C_aa,  C_bj = C_aj        (eq. 10; split, eq. 12, is the same line for siblings)
//   merge  link b reached a second time, over a joint from a: the two must agree, d = φ_a + S θ − φ_b = 0,
//          C ← C − C_d (C_dd)⁺ C_dᵀ                     (eq. 14 for b, and at once for every other link)
#include <cmath>
#include <stdexcept>

#include "limber/math/dense.h"
#include "limber/rom/reduced_model.h"

namespace limber::rom {
namespace {

using multibody::SmallMotion;
using Block = Eigen::Ref<MatX>;

// The joint's compliance, or the inverse of its link's own inertia about it.
enum class Of { stiffness, inertia };

class Walk {
 public:
  Walk(SmallMotion& motion, Of of) : motion_(motion), of_(of), n_(motion.tree.size()) {
    C_ = MatX::Zero(6 * n_, 6 * n_);
  }

  MatX run(const std::vector<int>& ends) {
    for (int i = 0; i < n_; ++i) chain(i);
    for (std::size_t l = 0; l < motion_.pattern.loops.size(); ++l) merge(static_cast<int>(l));
    MatX out(6 * ends.size(), 6 * ends.size());
    for (std::size_t e = 0; e < ends.size(); ++e)
      for (std::size_t f = 0; f < ends.size(); ++f)
        out.block<6, 6>(6 * e, 6 * f) =
            to_body(ends[e]) * C_.block<6, 6>(6 * ends[e], 6 * ends[f]) * to_body(ends[f]).transpose();
    return 0.5 * (out + out.transpose());
  }

 private:
  // From the world's origin to the body's own frame.
  Mat6 to_body(int link) const { return (motion_.X_WM[link] * motion_.tree[link].X_MB).inverse().adjoint(); }

  void chain(int i) {
    const multibody::Link& link = motion_.tree[i];
    if (link.parent >= 0)
      for (int j = 0; j < i; ++j) {
        C_.block<6, 6>(6 * i, 6 * j) = C_.block<6, 6>(6 * link.parent, 6 * j);
        C_.block<6, 6>(6 * j, 6 * i) = C_.block<6, 6>(6 * j, 6 * link.parent);
      }
    Mat6 own = Mat6::Zero();
    if (link.parent >= 0) own = C_.block<6, 6>(6 * link.parent, 6 * link.parent);
    if (link.dofs > 0) {
      MatX S(6, link.dofs), at(6, link.dofs);
      for (int k = 0; k < link.dofs; ++k) {
        at.col(k) = Eigen::Map<const Vec6>(motion_.K.S.data() + 6 * (link.v + k));
        S.col(k) = multibody::shift_twist(at.col(k), -motion_.K.origin[i]);
      }
      MatX law =
          of_ == Of::inertia
              ? MatX(at.transpose() * motion_.mass[i] * at)
              : MatX(Eigen::Map<const MatX>(motion_.K.joint.data() + link.block, link.dofs, link.dofs));
      const MatX inverse = math::inverse(law);
      if (!inverse.allFinite())
        throw std::invalid_argument("a joint of it has no stiffness: the walk cannot pass it");
      own += S * inverse * S.transpose();
    }
    C_.block<6, 6>(6 * i, 6 * i) = own;
  }

  void merge(int l) {
    const multibody::LoopSite& site = motion_.pattern.loops[l];
    const Mat6& closing = motion_.closing_compliance[l];
    if (of_ == Of::stiffness && !closing.allFinite())
      throw std::invalid_argument("a joint that closes a loop has no stiffness: the walk cannot pass it");
    MatX Cd = MatX::Zero(6 * n_, 6);
    if (site.a >= 0) Cd += C_.middleCols<6>(6 * site.a);
    if (site.b >= 0) Cd -= C_.middleCols<6>(6 * site.b);
    Mat6 Cdd = Mat6::Zero();
    if (site.a >= 0) Cdd += Cd.middleRows<6>(6 * site.a);
    if (site.b >= 0) Cdd -= Cd.middleRows<6>(6 * site.b);
    VecX scale = VecX::Ones(6);
    scale.tail<3>().setConstant(reach());
    if (of_ == Of::stiffness) {
      Cdd += closing;
      C_ -= Cd * invert_in_range(Cdd, scale, 6).inverse * Cd.transpose();
      return;
    }
    // Only what the joint holds: its rows at the world's origin.
    const int rows = motion_.K.loops[l].rows;
    const int on = site.b >= 0 ? site.b : site.a;
    const Mat6& at = site.b >= 0 ? motion_.K.loops[l].on_b : motion_.K.loops[l].on_a;
    MatX T(rows, 6);
    for (int r = 0; r < rows; ++r)
      T.row(r) = multibody::shift_wrench(at.row(r).transpose(), motion_.K.origin[on]).transpose();
    const MatX TC = Cd * T.transpose(), W = T * Cdd * T.transpose();
    C_ -= TC * invert_in_range(W, VecX::Ones(rows), rows).inverse * TC.transpose();
  }

  double reach() const {
    double out = 1e-9;
    for (const Pose& X : motion_.X_WM) out = std::max(out, X.p.norm());
    return out;
  }

  SmallMotion& motion_;
  Of of_;
  int n_;
  MatX C_;
};

}  // namespace

MatX walk_compliance(SmallMotion& motion, const std::vector<int>& ends) {
  if (!motion.joints_only)
    throw std::invalid_argument("springs between its bodies are no joints: the walk cannot pass them");
  return Walk(motion, Of::stiffness).run(ends);
}

MatX walk_accelerability(SmallMotion& motion, const std::vector<int>& ends) {
  return Walk(motion, Of::inertia).run(ends);
}

}  // namespace limber::rom
