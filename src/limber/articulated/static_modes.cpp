// Modes of an equilibrium (K x = μ M x within loops and locks) and what its joints carry.
#include <algorithm>
#include <cmath>

#include "limber/articulated/equilibrium.h"
#include "limber/articulated/tangent.h"
#include "limber/math/dense.h"
#include "limber/math/stop.h"
#include "limber/multibody/dense_solver.h"

namespace limber::articulated {

using multibody::BlockRhs;
using multibody::BlockSystem;

namespace {

constexpr int largest_dense = 60;        // freedoms: dense, and no doubt about what was missed
constexpr int dense_where_needed = 300;  // … where the iteration does not come to its end
constexpr double settled = 1e-7;  // residual of a mode, of its eigenvalue, which is then known to the square

// Vectors that are M-orthonormal, and T: what the operator makes of those that were taken, along all of them.
struct ModeBasis {
  std::vector<VecX> X = {}, MX = {};
  MatX T = {};

  int size() const { return static_cast<int>(X.size()); }

  // What x is along the basis goes to a column of T (−1: none); what is left joins it, unless it is rounding.
  void join(VecX x, VecX Mx, int column) {
    const double before = std::sqrt(std::max(0.0, x.dot(Mx)));
    for (int pass = 0; pass < 2; ++pass)
      for (int k = 0; k < size(); ++k) {
        const double along = MX[k].dot(x);
        if (column >= 0) T(k, column) += along;
        x -= along * X[k];
        Mx -= along * MX[k];
      }
    const double left = std::sqrt(std::max(0.0, x.dot(Mx)));
    if (!(left > 1e-12 * before)) return;
    if (column >= 0) T(size(), column) = left;
    X.push_back(x / left);
    MX.push_back(Mx / left);
  }

  // Eigenvectors of the first `taken`, ascending, and the most that one of the last `count` leaves over, of
  // its eigenvalue.
  math::SymmetricEigen ritz(int taken, int count, double& residual) const {
    const MatX square = T.topLeftCorner(taken, taken);
    const math::SymmetricEigen out = math::symmetric_eigen(0.5 * (square + square.transpose()));
    residual = 0;
    for (int k = taken - count; k < taken; ++k)
      residual = std::max(residual, (T.block(taken, 0, T.rows() - taken, taken) * out.vectors.col(k)).norm() /
                                        std::abs(out.values[k]));
    return out;
  }
};

}  // namespace

void Equilibrium::find_modes(StaticResult& out) {
  const int v = s_.tree.v_count();
  const int wanted = std::min(options_.modes, v);
  if (wanted <= 0) return;
  if (v <= largest_dense) return dense_modes(out, wanted);
  assemble(0);
  if (!lanczos_modes(out, wanted) && v <= dense_where_needed) dense_modes(out, wanted);
}

// K + σM with the least σ that leaves no direction negative, factored; −1: none.
double Equilibrium::factor_for_modes() {
  double sigma = 0;
  gaba_.factor(K_, true);
  for (int tries = 0; gaba_.directions().negative > 0 || gaba_.directions().moved > 0; ++tries) {
    if (tries > 60) return -1;
    sigma = sigma > 0 ? 4 * sigma : lowest_sigma();
    assemble(sigma);
    gaba_.factor(K_, true);
  }
  return sigma;
}

// Lowest eigenvalues of K x = μ M x within loops and locks, by Lanczos' method on (K + σM)⁻¹M with as many
// starts as modes are wanted, so that equal ones are found as often as they are there.
bool Equilibrium::lanczos_modes(StaticResult& out, int wanted) {
  const int v = s_.tree.v_count(), most = std::min(v, 20 * wanted + 60);
  const double sigma = factor_for_modes();
  if (sigma < 0) return false;
  std::vector<Mat6> inertia(s_.tree.size());
  for (int i = 0; i < s_.tree.size(); ++i) inertia[i] = world_inertia(i);
  const auto mass_times = [&](const VecX& x) {
    VecX y(v);
    multibody::jacobian_times(K_, x.data(), twist_.data());
    for (int i = 0; i < s_.tree.size(); ++i) twist_[i] = inertia[i] * twist_[i];
    multibody::jacobian_transpose_times(K_, twist_.data(), y.data());
    return y;
  };
  BlockRhs load(K_);
  const auto solved = [&](const VecX& Mx) {
    std::copy_n(Mx.data(), v, load.tau.begin());
    gaba_.solve(load, scratch_, x_, true);
    return VecX(Eigen::Map<const VecX>(x_.a.data(), v));
  };
  ModeBasis basis{.T = MatX::Zero(most + wanted, most)};
  const auto take = [&](const VecX& Mx, int column) {
    const VecX x = solved(Mx);
    basis.join(x, mass_times(x), column);
  };
  unsigned seed = 1;
  for (int c = 0; c < wanted; ++c) {
    VecX x(v);
    for (int r = 0; r < v; ++r) {
      seed = seed * 1664525u + 1013904223u;
      x[r] = (seed >> 8) * (2.0 / 16777216) - 1;
    }
    take(mass_times(x), -1);
  }
  for (int taken = 1; taken <= std::min(most, basis.size()); ++taken) {
    stop_if_requested();
    take(VecX(basis.MX[taken - 1]), taken - 1);
    const bool all = basis.size() == taken;  // there are no more
    if (!all && (taken < 3 * wanted || taken % 2)) continue;
    const int count = std::min(wanted, taken);
    double residual = 0;
    const math::SymmetricEigen ritz = basis.ritz(taken, count, residual);
    if (!all && residual > settled) continue;
    for (int k = taken - 1; k >= taken - count; --k) {
      VecX shape = VecX::Zero(v);
      for (int i = 0; i < taken; ++i) shape += ritz.vectors(i, k) * basis.X[i];
      add_mode(out, 1 / ritz.values[k] - sigma, shape);
    }
    return true;
  }
  return false;
}

void Equilibrium::dense_modes(StaticResult& out, int wanted) {
  assemble(0);
  const auto stiff = multibody::assemble_dense(K_);
  const std::vector<Vec6> lambda = lambda_;
  BlockSystem M = K_;
  M.coupling.clear();
  for (Mat6& A : M.diagonal) A.setZero();
  for (Mat6& A : M.off) A.setZero();
  std::fill(M.joint.begin(), M.joint.end(), 0.0);
  for (int i = 0; i < s_.tree.size(); ++i) M.diagonal[i] = world_inertia(i);
  const MatX mass = multibody::assemble_dense(M).H;
  MatX Z = MatX::Identity(s_.tree.v_count(), s_.tree.v_count());
  if (stiff.C.rows() > 0) {
    const math::RowSpace seen = math::row_space(stiff.C);
    Z = seen.Q.rightCols(Z.cols() - seen.rank);
  }
  if (Z.cols() == 0) return;
  const math::SymmetricEigen eigen =
      math::symmetric_eigen(Z.transpose() * stiff.H * Z, Z.transpose() * mass * Z);
  for (int k = 0; k < std::min<int>(wanted, static_cast<int>(Z.cols())); ++k)
    add_mode(out, eigen.values[k], Z * eigen.vectors.col(k));
}

Mat6 Equilibrium::world_inertia(int i) const {
  return multibody::world_inertia(s_.tree[i].inertia, w_.links[i].X_WM.R);
}

// y = A x in the links' geometry at q_; A without couplings: D.
void Equilibrium::stiffness_times(const BlockSystem& A, const double* x, double* y) {
  std::vector<Vec6> wrench(s_.tree.size());
  multibody::jacobian_times(K_, x, twist_.data());
  multibody::blocks_times(A, twist_.data(), wrench.data());
  const bool coupled = !A.coupling.empty();
  const auto coupling = [&](int column) { return Eigen::Map<const Vec6>(A.coupling.data() + 6 * column); };
  for (const multibody::Link& link : s_.tree.links())
    for (int k = 0; coupled && link.parent >= 0 && k < link.dofs; ++k)
      wrench[link.parent] += coupling(link.v + k) * x[link.v + k];
  multibody::jacobian_transpose_times(K_, wrench.data(), y);
  for (const multibody::Link& link : s_.tree.links())
    for (int i = 0; i < link.dofs; ++i) {
      for (int j = 0; j < link.dofs; ++j)
        y[link.v + i] += A.joint[link.block + j * link.dofs + i] * x[link.v + j];
      if (coupled && link.parent >= 0) y[link.v + i] += coupling(link.v + i).dot(twist_[link.parent]);
    }
}

void Equilibrium::add_mode(StaticResult& out, double eigenvalue, const VecX& shape) const {
  StaticMode mode;
  mode.eigenvalue = eigenvalue;
  Eigen::Index at = 0;
  double largest = 0;
  for (Eigen::Index k = 0; k < shape.size(); ++k)
    if (const double share = std::abs(shape[k]) / way(static_cast<int>(k)); share > largest)
      largest = share, at = k;
  const VecX unit = largest > 0 ? VecX(shape / shape[at]) : shape;
  mode.shape.assign(unit.data(), unit.data() + unit.size());
  for (int i = 0; i < s_.tree.size(); ++i)
    if (s_.tree[i].v <= at && at < s_.tree[i].v + s_.tree[i].dofs) mode.moves = s_.model.joints()[i].name;
  out.modes.push_back(std::move(mode));
}

std::unique_ptr<multibody::SmallMotion> Equilibrium::small_motion(const std::vector<int>& ends) {
  auto out = std::make_unique<multibody::SmallMotion>(s_.tree, pattern_);
  set_augment();
  assemble(0);
  remove_load_blocks(s_, ends, t_, w_, K_);
  out->K.origin = K_.origin, out->K.S = K_.S, out->K.diagonal = K_.diagonal, out->K.off = K_.off;
  out->K.joint = K_.joint, out->K.coupling = K_.coupling, out->K.loops = K_.loops;
  out->K.length = K_.length;
  out->set_locks(locks_.data(), static_cast<int>(locks_.size()));
  // Dampers: what evaluate() makes of them alone.
  const std::vector<double> zero(s_.tree.v_count(), 0.0);
  evaluate(s_, q_.data(), zero.data(), t_, {1, 0, 0}, w_);
  multibody::BlockSystem& D = out->D;
  D.origin = K_.origin, D.S = K_.S;
  D.joint = w_.joint_block;
  for (int i = 0; i < s_.tree.size(); ++i) {
    out->X_WM[i] = w_.links[i].X_WM;
    out->mass[i] = world_inertia(i);
    D.diagonal[i].setZero();
    if (w_.blocks) {
      D.diagonal[i] = w_.blocks->system.diagonal[i] - out->mass[i];
    } else if (const int b = w_.body_block_index[i]; b >= 0) {
      Mat6 turn = Mat6::Zero();
      turn.topLeftCorner<3, 3>() = turn.bottomRightCorner<3, 3>() = w_.links[i].X_WM.R;
      D.diagonal[i] = turn * w_.body_block[b] * turn.transpose();
    }
  }
  out->joints_only = s_.springs.empty() && s_.bushings.empty();
  for (std::size_t l = 0; l < s_.loops.size(); ++l) {
    const CompiledLoop& loop = s_.loops[l];
    const int d = dof_count(loop.kind);
    const Mat6 H = elastic::joint_hessian_psd(loop.kind, loop.law, loop_configuration(loop, loops_[l]));
    const multibody::Subspace S = multibody::motion_subspace(loop.kind, loop.lead, loops_[l].q);
    Mat6 axes = Mat6::Zero();
    for (int k = 0; k < d; ++k) {
      Vec6 axis;
      axis << loops_[l].R_WM * S.col(k).head<3>(), loops_[l].R_WM * S.col(k).tail<3>();
      axes.col(k) = multibody::shift_twist(axis, -loops_[l].p_W);
    }
    const MatX inverse = math::inverse(H.topLeftCorner(d, d));
    out->closing_compliance[l] =
        d > 0 ? Mat6(axes.leftCols(d) * inverse * axes.leftCols(d).transpose()) : Mat6(Mat6::Zero());
  }
  for (Mat6& A : D.off) A.setZero();
  if (w_.blocks) std::copy(w_.blocks->system.off.begin(), w_.blocks->system.off.end(), D.off.begin());
  return out;
}

// What holds given motions where they are, times their way: by K_ and rhs_ at hand.
double Equilibrium::work_of_motions() const {
  if (s_.motions.empty()) return 0;
  std::vector<Vec6> F = rhs_.wrench;
  multibody::subtract_loop_forces(K_, lambda_.data(), F.data());
  std::vector<double> tau(rhs_.tau.size());
  multibody::jacobian_transpose_times(K_, F.data(), tau.data());
  double sum = 0;
  for (const CompiledMotion& m : s_.motions)
    for (int k = 0; k < s_.tree[m.link].dofs; ++k) {
      const int at = s_.tree[m.link].v + k;
      sum -= (tau[at] + rhs_.tau[at]) * m.position[k].value(t_);
    }
  return sum;
}

// What every joint carries: the sum of all wrenches on what hangs on it, turned round.
void Equilibrium::reactions(StaticResult& out) {
  augment_ = 0;
  assemble(0);
  out.work_of_motions = work_of_motions();
  std::vector<Vec6> F = rhs_.wrench;
  std::vector<Vec6> carried =
      lambda_;  // what couples coordinates pushes them as a drive does: joints carry it
  for (std::size_t l = 0; l < s_.loops.size(); ++l)
    if (s_.loops[l].coupling >= 0) carried[l].setZero();
  multibody::subtract_loop_forces(K_, carried.data(), F.data());
  out.joints.resize(s_.tree.size());
  for (int i = s_.tree.size() - 1; i >= 0; --i) {
    const multibody::Link& link = s_.tree[i];
    JointReaction& r = out.joints[i];
    r.joint = s_.model.joints()[i].name;
    r.at = K_.origin[i];
    r.moment = -F[i].head<3>();
    r.force = -F[i].tail<3>();
    r.torque.assign(rhs_.tau.begin() + link.v, rhs_.tau.begin() + link.v + link.dofs);
    if (link.parent >= 0)
      F[link.parent] += multibody::shift_wrench(F[i], K_.origin[i] - K_.origin[link.parent]);
  }
  out.coupling_forces.assign(s_.couplings.size(), 0.0);
  for (std::size_t l = 0; l < s_.loops.size(); ++l) {
    if (const int k = s_.loops[l].coupling; k >= 0) {
      out.coupling_forces[k] = -lambda_[l][0];
      continue;
    }
    const multibody::LoopRows& rows = K_.loops[l];
    const int n = rows.rows;
    const CompiledLoop& loop = s_.loops[l];
    LoopReaction r;
    r.loop = loop.name;
    r.at = loops_[l].p_W;
    const int on = loop.b >= 0 ? loop.b : loop.a;
    const double side = loop.b >= 0 ? -1 : 1;
    const Vec6 wrench =
        side * (loop.b >= 0 ? rows.on_b : rows.on_a).topRows(n).transpose() * lambda_[l].head(n);
    const Vec3 arm = r.at - K_.origin[on];
    r.force = wrench.tail<3>();
    r.moment = wrench.head<3>() - arm.cross(r.force);
    const Vec6 sprung = loop_law_wrench(s_, static_cast<int>(l), loops_[l], Vec6::Zero());
    r.force += sprung.tail<3>(), r.moment += sprung.head<3>();
    out.loops.push_back(r);
  }
}

}  // namespace limber::articulated
