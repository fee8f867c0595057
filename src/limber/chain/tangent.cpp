#include "limber/chain/tangent.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "limber/math/dense.h"
#include "limber/math/so3.h"

namespace limber::chain {
namespace {

using math::skew;

constexpr double smallest = 1e-11;   // of the joint's own stiffness: below it a pivot is moved
constexpr double soft_joint = 1e-6;  // of the stiffness of what hangs on it: it is moved by that

// Inverse of a symmetric 3×3 by cofactors; 0 when the determinant vanishes against the entries.
bool invert(const Mat3& P, Mat3& out) {
  const double c00 = P(1, 1) * P(2, 2) - P(1, 2) * P(2, 1);
  const double c10 = P(1, 2) * P(2, 0) - P(1, 0) * P(2, 2);
  const double c20 = P(1, 0) * P(2, 1) - P(1, 1) * P(2, 0);
  const double det = P(0, 0) * c00 + P(0, 1) * c10 + P(0, 2) * c20;
  const double size = P.cwiseAbs().maxCoeff();
  if (!(std::abs(det) > 1e-14 * size * size * size)) return false;
  const double s = 1 / det;
  out(0, 0) = s * c00, out(1, 0) = s * c10, out(2, 0) = s * c20;
  out(0, 1) = s * (P(0, 2) * P(2, 1) - P(0, 1) * P(2, 2));
  out(1, 1) = s * (P(0, 0) * P(2, 2) - P(0, 2) * P(2, 0));
  out(2, 1) = s * (P(0, 1) * P(2, 0) - P(0, 0) * P(2, 1));
  out(0, 2) = s * (P(0, 1) * P(1, 2) - P(0, 2) * P(1, 1));
  out(1, 2) = s * (P(0, 2) * P(1, 0) - P(0, 0) * P(1, 2));
  out(2, 2) = s * (P(0, 0) * P(1, 1) - P(0, 1) * P(1, 0));
  return true;
}

// Signs by leading minors where they are clear; eigenvalues where not.
bool clearly_positive(const Mat3& P, double scale) {
  const double margin = 1e-3 * scale;
  const double a = P(0, 0) - margin;
  if (!(a > 0)) return false;
  const double l1 = P(1, 0) / a, l2 = P(2, 0) / a;
  const double b = P(1, 1) - margin - l1 * P(1, 0);
  if (!(b > 0)) return false;
  const double e = P(2, 1) - l1 * P(2, 0);
  return P(2, 2) - margin - l2 * P(2, 0) - e * e / b > 0;
}

}  // namespace

void TangentInput::resize(int links) {
  const auto n = static_cast<std::size_t>(links);
  c.resize(n), E.resize(n), S.resize(n), mu.resize(n), A.resize(n), B.resize(n), axis.resize(n);
  lever.assign(n, Mat3::Zero());
}

void Tangent::factor(const Links& links, const TangentInput& in) {
  const int n = links.count();
  const auto size = static_cast<std::size_t>(n);
  general_ = in.general;
  negative_ = 0;
  moved_.clear();
  hangs_.assign(size, 0.0);
  Pi_.resize(size), G_.resize(size), b_.resize(size), omega_.resize(size);
  c_ = in.c;
  if (general_) {
    A_ = in.A, B_ = in.B;
    H_.resize(size), J_.resize(size), D_.resize(size), n_.resize(size);
  } else if (links.stretch) {
    A_ = in.A;
  } else {
    A_.assign(size, Mat3::Zero());
  }

  for (int k = n - 1; k >= 0; --k) {
    if (!links.active[k]) continue;
    const Mat3& E = in.E[k];
    Mat3 M = -in.S[k];
    M.diagonal().array() += in.S[k].trace();
    Mat3 P = A_[k] + E + 0.5 * (M + M.transpose());
    Mat3 C = A_[k] + M;
    if (general_) {
      const Mat3 turn = skew(in.mu[k]);
      P -= 0.5 * turn;
      C -= turn;
    }
    const double scale = E.diagonal().cwiseAbs().maxCoeff(), hangs = hangs_[k];
    if (const int p = links.parent[k]; p >= 0) hangs_[p] = std::max(hangs_[p], scale);
    // A hinge of a mechanism that is held elsewhere: the tree without its ties is all but free there.
    const auto stiffen = [&](const Vec3& along) {
      moved_.push_back({k, along, hangs});
      P += hangs * along * along.transpose();
    };

    if (links.hinge[k]) {
      const Vec3& a = in.axis[k];
      const bool loose = a.dot(E * a) < soft_joint * hangs;
      if (loose) stiffen(a);
      double p = a.dot(P * a);
      const double relative = p / (loose ? hangs : a.dot(E * a));
      if (!(std::abs(relative) > smallest)) {
        moved_.push_back({k, a, scale});
        p += scale;
      } else if (relative < 0) {
        ++negative_;
      }
      Pi_[k] = a * (a / p).transpose();
    } else {
      double unit = 0;
      if (std::min({E(0, 0), E(1, 1), E(2, 2)}) < 10 * soft_joint * hangs) {
        const math::SmallEigen<3> own = math::small_eigen<3>(E);
        for (int i = 0; i < 3; ++i)
          if (own.values[i] < soft_joint * hangs) stiffen(own.vectors.col(i)), unit = hangs;
      }
      // Away from trouble: no eigenvalues needed. The margin is of the softest direction.
      const double soft = E.trace() > 0 ? std::min({E(0, 0), E(1, 1), E(2, 2)}) : scale;
      if (!clearly_positive(0.5 * (P + P.transpose()), 0.1 * soft) || !invert(P, Pi_[k])) {
        const math::SmallEigen<3> eigen = math::small_eigen<3>(0.5 * (P + P.transpose()));
        if (unit == 0) unit = std::max(math::small_eigenvalues(E)[0], 1e-300);
        bool moved = false;
        for (int i = 0; i < 3; ++i) {
          const double relative = eigen.values[i] / unit;
          if (std::abs(relative) > smallest) {
            if (relative < 0) ++negative_;
            continue;
          }
          const Vec3 along = eigen.vectors.col(i);
          moved_.push_back({k, along, unit});
          P += unit * along * along.transpose();
          moved = true;
        }
        if (moved || !invert(P, Pi_[k])) Pi_[k] = P.inverse();
      }
    }

    G_[k] = Pi_[k].lazyProduct(C);
    const int p = links.parent[k];
    if (!general_) {
      if (p >= 0) {
        // Cᵀ P⁻¹ C is symmetric: six entries.
        const Mat3& G = G_[k];
        Mat3& to = A_[p];
        for (int j = 0; j < 3; ++j)
          for (int i = 0; i <= j; ++i) {
            const double left = A_[k](i, j) - (C(0, i) * G(0, j) + C(1, i) * G(1, j) + C(2, i) * G(2, j));
            to(i, j) += left;
            if (i != j) to(j, i) += left;
          }
      }
      continue;
    }
    Mat3& D = D_[k];
    D.setZero();
    if (p >= 0) D = skew(c_[k] - c_[p]) - in.lever[k];
    const Mat3 DB = D * B_[k];
    const Mat3 L = A_[k] + M.transpose() - DB;
    H_[k].noalias() = L * Pi_[k];
    J_[k].noalias() = B_[k] * Pi_[k];
    if (p >= 0) {
      A_[p] += A_[k] - DB;
      A_[p].noalias() -= H_[k] * C;
      B_[p] += B_[k];
      B_[p].noalias() -= J_[k] * C;
    }
  }
}

void Tangent::solve(const Links& links, const std::vector<Vec3>& t, std::vector<Vec3>& delta) {
  const int n = links.count();
  delta.resize(static_cast<std::size_t>(n));
  for (int k = 0; k < n; ++k) b_[k] = -t[k];  // r + b
  if (general_) {
    // b gathers what children hand over; the joint's own r must not be handed on, so it is kept apart.
    for (auto& f : n_) f.setZero();
    for (auto& o : omega_) o.setZero();  // here: b alone
    for (int k = n - 1; k >= 0; --k) {
      if (!links.active[k]) continue;
      const Vec3 both = b_[k] + omega_[k];
      const int p = links.parent[k];
      if (p >= 0) {
        omega_[p] += omega_[k] - D_[k] * n_[k] - H_[k] * both;
        n_[p] += n_[k] - J_[k] * both;
      }
      b_[k] = both;
    }
  } else {
    for (auto& o : omega_) o.setZero();
    for (int k = n - 1; k >= 0; --k) {
      if (!links.active[k]) continue;
      const Vec3 both = b_[k] + omega_[k];
      const int p = links.parent[k];
      if (p >= 0) omega_[p] += omega_[k] - G_[k].transpose() * both;
      b_[k] = both;
    }
  }
  for (int k = 0; k < n; ++k) {
    const int p = links.parent[k];
    if (!links.active[k]) {
      delta[k].setZero();
      omega_[k] = p >= 0 ? omega_[p] : Vec3::Zero();
      continue;
    }
    const Vec3 above = p >= 0 ? omega_[p] : Vec3::Zero();
    delta[k] = -(Pi_[k] * b_[k]) - G_[k] * above;
    omega_[k] = above + delta[k];
  }
}

}  // namespace limber::chain
