#include "limber/articulated/statics.h"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "limber/articulated/stepper.h"
#include "limber/articulated/tangent.h"
#include "limber/multibody/dense_solver.h"

namespace limber::articulated {
namespace {

using multibody::BlockRhs;
using multibody::BlockSolution;
using multibody::BlockSystem;
using multibody::Gaba;
using result::Status;

class Equilibrium {
 public:
  Equilibrium(const SystemData& s, const State& state, WorkspaceData& w, const StaticOptions& options)
      : s_(s),
        w_(w),
        options_(options),
        t_(state.t),
        pattern_(static_pattern(s)),
        K_(s.tree, pattern_),
        rhs_(K_),
        x_(K_),
        gaba_(s.tree, pattern_, false),
        scratch_(gaba_),
        loops_(s.loops.size()),
        q_(state.q),
        trial_(state.q),
        lambda_(s.loops.size(), Vec6::Zero()),
        residual_(s.tree.v_count()),
        twist_(s.tree.size()) {
    lock_motions();
  }

  bool solve(StaticResult& out) {
    const std::vector<double> start = q_;
    for (int parts = std::max(1, options_.load_steps); parts <= 64; parts *= 4) {
      q_ = start;
      for (Vec6& l : lambda_) l.setZero();
      bool good = true;
      for (int k = 1; good && k <= parts; ++k) {
        w_.load = options_.load * (static_cast<double>(k) / parts);
        good = find(out, k == parts);
      }
      w_.load = options_.load;
      if (good) return true;
      if (iterations_ >= options_.max_iterations * 4) break;
    }
    return false;
  }

  const std::vector<double>& q() const { return q_; }

  void finish(StaticResult& out) {
    assemble(0);
    gaba_.factor(K_, true);
    const auto d = gaba_.directions();
    out.negative = d.negative;
    out.least_pivot = d.least;
    out.moved_pivots = d.moved;
    out.redundant_rows = gaba_.dropped_rows();
    out.gap = s_.loops.empty() ? 0 : largest_gap(s_, loops_) / s_.size;
    find_modes(out);
    reactions(out);
  }

 private:
  void lock_motions() {
    lock_index_.assign(s_.tree.size(), -1);
    for (const CompiledMotion& m : s_.motions) {
      const multibody::Link& link = s_.tree[m.link];
      double v[6];
      prescribed(m, link, t_, q_.data() + link.q, v);
      JointLock lock;
      lock.link = m.link;
      lock.rows = link.dofs;
      lock.C.setIdentity();
      lock.g.setZero();
      lock_index_[m.link] = static_cast<int>(locks_.size());
      locks_.push_back(lock);
    }
    K_.locks = locks_.data();
    K_.lock_index = locks_.empty() ? nullptr : lock_index_.data();
  }

  void assemble(double sigma) {
    assemble_tangent(s_, q_.data(), t_, lambda_, sigma, s_.loops.empty() ? 0 : augment_, w_, loops_, K_,
                     rhs_);
  }

  // Forces left over at q for the best multipliers at hand, and what acts in all.
  double leftover(double& acting) {
    std::vector<Vec6> F = rhs_.wrench;
    if (augment_ > 0 && !s_.loops.empty()) {  // without ρ Gᵀ g
      std::vector<Vec6> scaled = rhs_.g;
      for (Vec6& g : scaled) g *= augment_;
      multibody::subtract_loop_forces(K_, scaled.data(), F.data());
    }
    acting = 0;
    for (const Vec6& f : F)
      acting = std::max({acting, f.head<3>().norm(), f.tail<3>().norm() * 1e-3 * s_.size});
    multibody::subtract_loop_forces(K_, lambda_.data(), F.data());
    for (const Vec6& f : F) acting = std::max(acting, f.head<3>().norm());
    multibody::jacobian_transpose_times(K_, F.data(), residual_.data());
    double largest = 0;
    for (const multibody::Link& link : s_.tree.links()) {
      const int i = static_cast<int>(&link - s_.tree.links().data());
      if (lock_index_[i] >= 0) continue;
      for (int k = 0; k < link.dofs; ++k) {
        acting = std::max(acting, std::abs(rhs_.tau[link.v + k]));
        largest = std::max(largest, std::abs(residual_[link.v + k] + rhs_.tau[link.v + k]));
      }
    }
    return largest;
  }

  // One load level. Quadratic at the end; `last` iterates until rounding stops it.
  bool find(StaticResult& out, bool last) {
    double sigma = 0, best = std::numeric_limits<double>::infinity();
    int still = 0;
    for (int k = 0; k < options_.max_iterations; ++k, ++iterations_) {
      if (k % 10 == 0) set_augment();
      assemble(sigma);
      double acting = 0;
      const double gap = s_.loops.empty() ? 0 : largest_gap(s_, loops_) / s_.size;
      if (!std::isfinite(gap) || !std::isfinite(w_.tau.empty() ? 0.0 : w_.tau[0]))
        return failed(out, "a value is no longer finite");
      if (!gaba_.factor(K_, true)) return failed(out, "the tangent cannot be factored");
      while (gaba_.directions().negative > 0) {  // raise σ until every direction is held
        sigma = sigma > 0 ? 4 * sigma : lowest_sigma();
        if (sigma > 1e30) return failed(out, "no shift makes the tangent positive");
        assemble(sigma);
        gaba_.factor(K_, true);
      }
      gaba_.solve(rhs_, scratch_, x_);
      lambda_ = x_.lambda;
      const double left = leftover(acting);
      out.residual = acting > 0 ? left / acting : 0;
      double step = 0;
      for (const double a : x_.a) step = std::max(step, std::abs(a));
      if (!std::isfinite(step)) return failed(out, "a value is no longer finite");
      const double measure = std::max(out.residual, gap);
      if (measure <= options_.tolerance && gap <= 1e-12 && (sigma == 0 || step < 1e-10)) {
        // At rounding: one more step costs little, and stops when it no longer helps.
        if (!last || measure >= 0.5 * best || measure == 0 || ++still > 2) return report_done(out);
      }
      // A step below rounding: nothing more to gain, whatever rounding leaves of stiff springs' forces.
      if (sigma == 0 && step <= 1e-12 * std::max(1.0, s_.size) && gap <= 1e-11) {
        multibody::integrate(s_.tree, q_.data(), x_.a.data(), 1, trial_.data());
        std::swap(q_, trial_);
        return report_done(out);
      }
      best = std::min(best, measure);
      const double largest_turn = 0.5;
      double share = step > largest_turn ? largest_turn / step : 1;
      if (!move(share, sigma, measure)) {
        if (measure <= 1e-9) return report_done(out);
        sigma = sigma > 0 ? 10 * sigma : lowest_sigma();
        if (sigma > 1e20) break;
        continue;
      }
      sigma = sigma > 10 * lowest_sigma() ? sigma / 10 : 0;
    }
    return failed(
        out,
        fmt::format("no equilibrium found in {} iterations: forces of {:.2g} of those that act are left over",
                    iterations_, out.residual));
  }

  bool report_done(StaticResult& out) {
    out.residual = measure_at();
    out.report.status = Status::ok;
    out.report.iterations = iterations_;
    out.report.residual = out.residual;
    return true;
  }

  // Takes as much of the step as lowers the energy or the forces left over.
  bool move(double share, double sigma, double before) {
    const double energy0 = potential(q_);
    for (int halving = 0; halving < 12; ++halving, share /= 2) {
      multibody::integrate(s_.tree, q_.data(), x_.a.data(), share, trial_.data());
      if (sigma > 0) close(trial_);
      const double energy1 = potential(trial_);
      if (!std::isfinite(energy1)) continue;
      std::swap(q_, trial_);
      const double after = measure_at();
      if (after < before || (sigma > 0 && energy1 < energy0) ||
          (share == 1 && before > 1e-3 && after < 10 * before))
        return true;
      std::swap(q_, trial_);
    }
    return false;
  }

  // Back onto the loops, so that energies compare: a chord iteration with the factor at hand.
  void close(std::vector<double>& q) {
    if (s_.loops.empty()) return;
    const std::vector<double> zero(s_.tree.v_count(), 0.0);
    std::vector<double> moved(q.size());
    BlockRhs open(K_);
    BlockSolution back(K_);
    for (int round = 0; round < 8; ++round) {
      multibody::kinematics(s_.tree, q.data(), zero.data(), w_.links);
      place_loops(s_, w_.links, loops_);
      if (largest_gap(s_, loops_) <= 1e-12 * s_.size) return;
      for (std::size_t l = 0; l < s_.loops.size(); ++l) open.g[l] = -loops_[l].gap;
      gaba_.solve(open, scratch_, back, true);
      multibody::integrate(s_.tree, q.data(), back.a.data(), 1, moved.data());
      std::swap(q, moved);
    }
  }

  // Forces left over at q_ with the multipliers at hand.
  double measure_at() {
    assemble(0);
    double acting = 0;
    const double left = leftover(acting);
    const double gap = s_.loops.empty() ? 0 : largest_gap(s_, loops_) / s_.size;
    return std::max(acting > 0 ? left / acting : 0, gap);
  }

  double potential(const std::vector<double>& q) {
    const std::vector<double> zero(s_.tree.v_count(), 0.0);
    multibody::kinematics(s_.tree, q.data(), zero.data(), w_.links);
    const Vec3 g = w_.load * s_.model.gravity().value(t_);
    double sum = multibody::gravity_energy(s_.tree, w_.links, g) + elastic_energy(s_, q.data(), w_.links);
    for (const CompiledLoad& l : s_.loads)
      if (!l.follows) sum -= w_.load * l.force.value(t_).dot(w_.links[l.at.link].X_WM * l.at.p);
    return sum;
  }

  // ρ of the size of the stiffness that stands on the diagonal.
  void set_augment() {
    if (s_.loops.empty()) return;
    augment_ = 0;
    assemble(0);
    double largest = 0;
    for (const double b : K_.joint) largest = std::max(largest, std::abs(b));
    for (const Mat6& A : K_.diagonal)
      largest = std::max(largest, A.topLeftCorner<3, 3>().cwiseAbs().maxCoeff());
    augment_ = largest > 0 ? largest / (s_.size * s_.size) : 1;
  }

  // A shift that is small against stiffness over inertia.
  double lowest_sigma() {
    double stiffness = 0, inertia = 0;
    for (const double b : K_.joint) stiffness = std::max(stiffness, std::abs(b));
    for (const Mat6& A : K_.diagonal)
      stiffness = std::max(stiffness, A.diagonal().head<3>().cwiseAbs().maxCoeff());
    for (const multibody::Link& link : s_.tree.links())
      inertia = std::max(inertia, link.inertia.m * s_.size * s_.size);
    return inertia > 0 ? std::max(1e-6 * stiffness / inertia, 1e-12) : 1;
  }

  bool failed(StaticResult& out, std::string what) {
    out.report.status = Status::not_converged;
    out.report.time = t_;
    out.report.iterations = iterations_;
    out.report.residual = out.residual;
    int worst = -1;
    double largest = 0;
    for (int i = 0; i < s_.tree.size(); ++i)
      for (int k = 0; k < s_.tree[i].dofs; ++k)
        if (const double r = std::abs(residual_[s_.tree[i].v + k] + rhs_.tau[s_.tree[i].v + k]); r > largest)
          largest = r, worst = i;
    if (worst >= 0) out.report.worst = s_.model.joints()[worst].name;
    out.report.message = worst >= 0 ? fmt::format("{}; worst at joint \"{}\"", what, out.report.worst) : what;
    return false;
  }

  // Lowest eigenvalues of K x = μ M x within loops and locks, by subspace iteration with the factor of K +
  // σM.
  void find_modes(StaticResult& out) {
    const int v = s_.tree.v_count();
    const int wanted = std::min(options_.modes, v);
    if (wanted <= 0) return;
    // Small structures: dense, and no doubt about what was missed.
    if (v <= 300) return dense_modes(out, wanted);
    double sigma = 0;
    assemble(0);
    gaba_.factor(K_, true);
    for (int tries = 0; gaba_.directions().negative > 0 || gaba_.directions().moved > 0; ++tries) {
      if (tries > 60) return;
      sigma = sigma > 0 ? 4 * sigma : lowest_sigma();
      assemble(sigma);
      gaba_.factor(K_, true);
    }
    const int m = std::min(v, 2 * wanted + 6);
    MatX X(v, m), MX(v, m);
    unsigned seed = 1;
    for (int c = 0; c < m; ++c)
      for (int r = 0; r < v; ++r) {
        seed = seed * 1664525u + 1013904223u;
        X(r, c) = (seed >> 8) * (2.0 / 16777216) - 1;
      }
    BlockRhs load(K_);
    VecX values = VecX::Zero(m);
    for (int round = 0; round < 100; ++round) {
      for (int c = 0; c < m; ++c) {
        mass_times(X.col(c).data(), load.tau.data());
        gaba_.solve(load, scratch_, x_, true);
        X.col(c) = Eigen::Map<const VecX>(x_.a.data(), v);
      }
      // Rayleigh–Ritz: (K + σM) is known by its action: XᵀKX from the right-hand sides.
      for (int c = 0; c < m; ++c) mass_times(X.col(c).data(), MX.col(c).data());
      const MatX mass = X.transpose() * MX;
      MatX KX(v, m);
      for (int c = 0; c < m; ++c) stiffness_times(X.col(c).data(), KX.col(c).data());
      MatX stiff = X.transpose() * KX;
      const Eigen::GeneralizedSelfAdjointEigenSolver<MatX> ritz(0.5 * (stiff + stiff.transpose()),
                                                                0.5 * (mass + mass.transpose()));
      const VecX next = ritz.eigenvalues();
      X = X * ritz.eigenvectors();
      const double change = (next - values).head(wanted).cwiseAbs().maxCoeff();
      values = next;
      if (round > 2 && change <= 1e-10 * values.head(wanted).cwiseAbs().maxCoeff()) break;
    }
    for (int k = 0; k < wanted; ++k) add_mode(out, values[k] - sigma, X.col(k));
  }

  void dense_modes(StaticResult& out, int wanted) {
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
      const Eigen::ColPivHouseholderQR<MatX> qr(stiff.C.transpose());
      int rank = 0;
      const auto R = qr.matrixR().diagonal().cwiseAbs();
      for (int i = 0; i < R.size(); ++i) rank += R[i] > 1e-9 * R.maxCoeff() && R[i] > 0;
      Z = (qr.householderQ() * Z).rightCols(Z.cols() - rank).eval();
    }
    if (Z.cols() == 0) return;
    const Eigen::GeneralizedSelfAdjointEigenSolver<MatX> eigen(Z.transpose() * stiff.H * Z,
                                                               Z.transpose() * mass * Z);
    for (int k = 0; k < std::min<int>(wanted, static_cast<int>(Z.cols())); ++k)
      add_mode(out, eigen.eigenvalues()[k], Z * eigen.eigenvectors().col(k));
  }

  Mat6 world_inertia(int i) const {
    const Inertia& I = s_.tree[i].inertia;
    const Mat3& R = w_.links[i].X_WM.R;
    const Mat3 h = math::skew(R * I.h);
    Mat6 M;
    M << R * I.I * R.transpose(), h, -h, Mat3(Vec3::Constant(I.m).asDiagonal());
    return M;
  }
  void mass_times(const double* x, double* y) {
    multibody::jacobian_times(K_, x, twist_.data());
    for (int i = 0; i < s_.tree.size(); ++i) twist_[i] = world_inertia(i) * twist_[i];
    multibody::jacobian_transpose_times(K_, twist_.data(), y);
  }
  void stiffness_times(const double* x, double* y) {
    std::vector<Vec6> wrench(s_.tree.size());
    multibody::jacobian_times(K_, x, twist_.data());
    multibody::blocks_times(K_, twist_.data(), wrench.data());
    for (const multibody::Link& link : s_.tree.links())
      for (int k = 0; link.parent >= 0 && k < link.dofs; ++k)
        wrench[link.parent] += Eigen::Map<const Vec6>(K_.coupling.data() + 6 * (link.v + k)) * x[link.v + k];
    multibody::jacobian_transpose_times(K_, wrench.data(), y);
    for (const multibody::Link& link : s_.tree.links())
      for (int i = 0; i < link.dofs; ++i) {
        for (int j = 0; j < link.dofs; ++j)
          y[link.v + i] += K_.joint[link.block + j * link.dofs + i] * x[link.v + j];
        if (link.parent >= 0)
          y[link.v + i] +=
              Eigen::Map<const Vec6>(K_.coupling.data() + 6 * (link.v + i)).dot(twist_[link.parent]);
      }
  }

  void add_mode(StaticResult& out, double eigenvalue, const VecX& shape) const {
    StaticMode mode;
    mode.eigenvalue = eigenvalue;
    Eigen::Index at = 0;
    const double largest = shape.cwiseAbs().maxCoeff(&at);
    const VecX unit = largest > 0 ? VecX(shape / shape[at]) : shape;
    mode.shape.assign(unit.data(), unit.data() + unit.size());
    for (int i = 0; i < s_.tree.size(); ++i)
      if (s_.tree[i].v <= at && at < s_.tree[i].v + s_.tree[i].dofs) mode.moves = s_.model.joints()[i].name;
    out.modes.push_back(std::move(mode));
  }

  // What every joint carries: the sum of all wrenches on what hangs on it, turned round.
  void reactions(StaticResult& out) {
    augment_ = 0;
    assemble(0);
    std::vector<Vec6> F = rhs_.wrench;
    multibody::subtract_loop_forces(K_, lambda_.data(), F.data());
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
    for (std::size_t l = 0; l < s_.loops.size(); ++l) {
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
      out.loops.push_back(r);
    }
  }

  const SystemData& s_;
  WorkspaceData& w_;
  StaticOptions options_;
  double t_;
  multibody::Pattern pattern_;
  BlockSystem K_;
  BlockRhs rhs_;
  BlockSolution x_;
  Gaba gaba_;
  Gaba::Scratch scratch_;
  std::vector<LoopState> loops_;
  std::vector<double> q_, trial_;
  std::vector<Vec6> lambda_;
  std::vector<double> residual_;
  std::vector<Vec6> twist_;
  std::vector<JointLock> locks_;
  std::vector<int> lock_index_;
  double augment_ = 1;
  int iterations_ = 0;
};

}  // namespace

std::vector<SpringTension> spring_tensions(const System& system, const State& state) {
  const SystemData& s = system.data();
  std::vector<LinkMotion> links(s.tree.size());
  multibody::kinematics(s.tree, state.q.data(), state.v.data(), links);
  const auto pose = [&](const LinkPoint& at) { return at.link < 0 ? Pose{} : links[at.link].X_WM; };
  const auto twist = [&](const LinkPoint& at) { return at.link < 0 ? Vec6(Vec6::Zero()) : links[at.link].V; };
  std::vector<SpringTension> out;
  for (std::size_t k = 0; k < s.springs.size(); ++k) {
    const SpringEnds& e = s.springs[k];
    const auto at = elastic::spring_state(e.law, pose(e.a), e.a.p, twist(e.a), pose(e.b), e.b.p, twist(e.b));
    out.push_back({s.model.springs()[k].name, at.length, at.tension});
  }
  return out;
}

StaticResult solve_static(const System& system, State& state, Workspace& workspace,
                          const StaticOptions& options) {
  const SystemData& s = system.data();
  WorkspaceData& w = workspace.data();
  StaticResult out;
  Equilibrium equilibrium(s, state, w, options);
  const bool found = equilibrium.solve(out);
  if (found) equilibrium.finish(out);
  w.load = 1;
  if (!found) return out;
  state.q = equilibrium.q();
  std::fill(state.v.begin(), state.v.end(), 0.0);
  std::fill(state.a.begin(), state.a.end(), 0.0);
  out.energy = energy(system, state, workspace);
  return out;
}

}  // namespace limber::articulated
