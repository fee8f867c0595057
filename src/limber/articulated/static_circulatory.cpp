// Loads without a potential (wind, forces that turn with a body, moments) have a stiffness that is not
// symmetric. The elimination takes its symmetric part P; the rest, K − P, is known by differences of the
// forces. A step (P + (K − P)) δ = r is then found by GMRES (Saad and Schultz 1986) with P for a
// preconditioner, within loops and locks.
#include <algorithm>
#include <cmath>

#include "limber/articulated/equilibrium.h"
#include "limber/math/dense.h"

namespace limber::articulated {

// τ + Jᵀ(F − Gᵀλ) at q.
void Equilibrium::forces_at(const std::vector<double>& q, std::vector<double>& out) {
  const std::vector<double> zero(s_.tree.v_count(), 0.0);
  evaluate(s_, q.data(), zero.data(), t_, {0, 0, 0}, w_);
  multibody::set_kinematics(q.data(), w_.links, moved_);
  place_loops(s_, q.data(), w_.links, loops_moved_);
  put_loop_rows(s_, loops_moved_, moved_);
  for (std::size_t k = 0; k < s_.limits.size(); ++k)
    if (s_.limits[k].loop >= 0 && touched_[k])
      add_limit_row(s_, s_.limits[k], loops_moved_[s_.limits[k].loop], moved_);
  std::vector<Vec6> F(s_.tree.size());
  for (int i = 0; i < s_.tree.size(); ++i) {
    const Mat3& R = w_.links[i].X_WM.R;
    F[i] << R * w_.wrench[i].head<3>(), R * w_.wrench[i].tail<3>();
  }
  multibody::subtract_loop_forces(moved_, lambda_.data(), F.data());
  multibody::jacobian_transpose_times(moved_, F.data(), out.data());
  for (std::size_t k = 0; k < out.size(); ++k) out[k] += w_.tau[k];
}

void Equilibrium::complete_step(double sigma) {
  const auto n = static_cast<Eigen::Index>(s_.tree.v_count());
  if (n == 0) return;  // nothing can move: no stiffness, and vectors without a largest entry
  const std::vector<double> still(s_.tree.v_count(), 0.0);
  std::vector<double> up(still), down(still), P(still), M(still);
  std::vector<Vec6> twist(s_.tree.size()), wrench(s_.tree.size());

  // (K − P) y
  const auto rest_times = [&](const VecX& y) {
    VecX out = VecX::Zero(n);
    const double size = y.cwiseAbs().maxCoeff();
    if (!(size > 0)) return out;
    const double h = 1e-6 / size;  // differences of second order: 1e-12, and rounding of 1e-10
    stiffness_times(K_, y.data(), P.data());
    for (std::size_t k = 0; k < P.size(); ++k) out[static_cast<Eigen::Index>(k)] = -P[k];
    if (sigma > 0) {
      stiffness_times(D_, y.data(), M.data());
      for (std::size_t k = 0; k < M.size(); ++k) out[static_cast<Eigen::Index>(k)] += sigma * M[k];
    }
    if (!s_.loops.empty()) {  // and without ρ GᵀG
      multibody::jacobian_times(K_, y.data(), twist.data());
      std::vector<Vec6> G(s_.loops.size());
      for (std::size_t l = 0; l < G.size(); ++l)
        G[l] = -augment_weights(s_, static_cast<int>(l), K_.loops[l], augment_)
                    .cwiseProduct(multibody::loop_times(K_, static_cast<int>(l), twist.data()));
      for (Vec6& f : wrench) f.setZero();
      multibody::subtract_loop_forces(K_, G.data(), wrench.data());
      multibody::jacobian_transpose_times(K_, wrench.data(), M.data());
      for (std::size_t k = 0; k < M.size(); ++k) out[static_cast<Eigen::Index>(k)] += M[k];
    }
    multibody::integrate(s_.tree, q_.data(), y.data(), h, trial_.data());
    forces_at(trial_, up);
    multibody::integrate(s_.tree, q_.data(), y.data(), -h, trial_.data());
    forces_at(trial_, down);
    for (std::size_t k = 0; k < up.size(); ++k)
      out[static_cast<Eigen::Index>(k)] -= (up[k] - down[k]) / (2 * h);
    multibody::kinematics(s_.tree, q_.data(), still.data(), w_.links);
    std::vector<double> free(out.data(), out.data() + n);
    without_locked(free);
    return VecX(Eigen::Map<const VecX>(free.data(), n));
  };
  multibody::BlockRhs load(K_);
  multibody::BlockSolution solved(K_);
  const auto preconditioned = [&](const VecX& y) {  // P⁻¹ (K − P) y
    const VecX f = rest_times(y);
    std::copy_n(f.data(), n, load.tau.begin());
    gaba_.solve(load, scratch_, solved, true);
    return VecX(Eigen::Map<const VecX>(solved.a.data(), n));
  };

  const VecX first = Eigen::Map<const VecX>(x_.a.data(), n);
  VecX b = -preconditioned(first);  // z + P⁻¹(K − P) z = b, δ = first + z
  const double size = b.norm();
  VecX z = VecX::Zero(n);
  if (size > 1e-9 * first.norm()) {
    constexpr int most = 40;
    std::vector<VecX> V{b / size};
    MatX H = MatX::Zero(most + 1, most);
    VecX y;
    for (int k = 0; k < most; ++k) {
      VecX w = V[k] + preconditioned(V[k]);
      for (int i = 0; i <= k; ++i) {
        H(i, k) = V[i].dot(w);
        w -= H(i, k) * V[i];
      }
      H(k + 1, k) = w.norm();
      VecX e = VecX::Zero(k + 2);
      e[0] = size;
      const MatX h = H.topLeftCorner(k + 2, k + 1);
      y = math::solve_least_squares(h, e);
      if ((h * y - e).norm() <= 1e-9 * size || !(H(k + 1, k) > 1e-14 * size)) break;
      V.push_back(w / H(k + 1, k));
    }
    for (Eigen::Index i = 0; i < y.size(); ++i) z += y[i] * V[static_cast<std::size_t>(i)];
  }
  // The step and its multipliers: P δ + Gᵀλ = r − (K − P) δ.
  const VecX f = rest_times(first + z);
  load = rhs_;
  for (Eigen::Index k = 0; k < n; ++k) load.tau[static_cast<std::size_t>(k)] -= f[k];
  gaba_.solve(load, scratch_, x_);
}

}  // namespace limber::articulated
