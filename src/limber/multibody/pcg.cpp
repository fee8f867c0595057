#include "limber/multibody/pcg.h"

#include <tbb/parallel_for.h>

#include <algorithm>

#include "limber/math/stop.h"
#include "limber/multibody/parallel_walk.h"

namespace limber::multibody {

Pcg::Pcg(const Tree& tree, const Pattern& pattern, Loops loops)
    : pattern_{{}, loops == Loops::projected ? pattern.loops : std::vector<LoopSite>{}},
      loops_(loops),
      preconditioner_(tree, pattern_) {}

bool Pcg::factor(const BlockSystem& system) {
  system_ = &system;
  if (runs_.empty()) runs_.push_back(std::make_unique<Run>(preconditioner_, system));
  return preconditioner_.factor(system);
}

// y = (JᵀAJ + B) x
void Pcg::multiply(const VecX& x, VecX& y, std::vector<Vec6>& twist, std::vector<Vec6>& wrench) const {
  jacobian_times(*system_, x.data(), twist.data());
  blocks_times(*system_, twist.data(), wrench.data());
  jacobian_transpose_times(*system_, wrench.data(), y.data());
  for (const Link& link : system_->tree->links())
    for (int i = 0; i < link.dofs; ++i)
      for (int j = 0; j < link.dofs; ++j)
        y[link.v + i] += system_->joint[link.block + j * link.dofs + i] * x[link.v + j];
}

void Pcg::remove_locked(VecX& r) const {
  const Tree& tree = *system_->tree;
  for (int i = 0; system_->lock_index && i < tree.size(); ++i) {
    const JointLock* lock = system_->lock(i);
    if (!lock) continue;
    const Link& link = tree[i];
    for (int k = 0; k < lock->rows; ++k) {
      double along = 0;
      for (int j = 0; j < link.dofs; ++j) along += lock->C(k, j) * r[link.v + j];
      for (int j = 0; j < link.dofs; ++j) r[link.v + j] -= lock->C(k, j) * along;
    }
  }
}

// Iterations used; −1 if it did not converge.
int Pcg::iterate(const VecX& b, const std::vector<Vec6>& g, bool with_loops, BlockSolution& x,
                 double tolerance, int max_iterations, Run& w) const {
  const BlockSystem& s = *system_;
  Eigen::Map<VecX> a(x.a.data(), static_cast<Eigen::Index>(x.a.size()));
  for (Vec6& f : w.rhs.wrench) f.setZero();

  // z = P⁻¹ r within the loops; what their multipliers carry leaves r.
  if (with_loops)
    for (Vec6& l : x.lambda) l.setZero();
  const auto apply = [&] {
    std::copy_n(w.r.data(), w.r.size(), w.rhs.tau.data());
    preconditioner_.solve(w.rhs, w.gaba, w.z, true);
    w.zv = Eigen::Map<const VecX>(w.z.a.data(), w.r.size());
    if (!with_loops) return;
    for (Vec6& f : w.twist) f.setZero();
    subtract_loop_forces(s, w.z.lambda.data(), w.twist.data());
    jacobian_transpose_times(s, w.twist.data(), w.Hp.data());
    remove_locked(w.Hp);
    w.r += w.Hp;
    for (std::size_t l = 0; l < s.loops.size(); ++l) x.lambda[l] += w.z.lambda[l];
  };
  const auto residual = [&] {
    w.p = a;
    multiply(w.p, w.r, w.twist, w.z.twist);
    w.r = b - w.r;
    remove_locked(w.r);
  };

  residual();
  if (with_loops) {  // onto the loops first
    jacobian_times(s, x.a.data(), w.twist.data());
    for (std::size_t l = 0; l < s.loops.size(); ++l)
      w.rhs.g[l] = g[l] - loop_times(s, static_cast<int>(l), w.twist.data());
    apply();
    a += w.zv;
    for (Vec6& row : w.rhs.g) row.setZero();
    for (Vec6& l : x.lambda) l.setZero();
    residual();
  }
  constexpr double rounding = 1e-15;
  const double target = std::max(tolerance * b.norm(), rounding * w.r.norm());
  apply();
  double rz = w.r.dot(w.zv);
  w.p = w.zv;
  int k = 0;
  while (!(w.r.norm() <= target)) {
    stop_if_requested();
    if (k == max_iterations) return -1;
    ++k;
    multiply(w.p, w.Hp, w.twist, w.z.twist);
    remove_locked(w.Hp);
    const double curvature = w.p.dot(w.Hp);
    if (!(curvature > 0)) break;  // nothing left to gain: rounding
    const double alpha = rz / curvature;
    a += alpha * w.p;
    w.r -= alpha * w.Hp;
    apply();
    const double next = w.r.dot(w.zv);
    w.p = w.zv + (next / rz) * w.p;
    rz = next;
  }
  return k;
}

bool Pcg::solve(const BlockRhs& rhs, BlockSolution& x, double tolerance, int max_iterations,
                Workers* workers) {
  const BlockSystem& s = *system_;
  const Tree& tree = *s.tree;
  Run& w = *runs_[0];
  VecX b(tree.v_count());
  w.twist = rhs.wrench;
  jacobian_transpose_times(s, w.twist.data(), b.data());
  b += Eigen::Map<const VecX>(rhs.tau.data(), b.size());
  for (int i = 0; s.lock_index && i < tree.size(); ++i)  // locked rows as they must be
    if (const JointLock* lock = s.lock(i))
      for (int k = 0; k < lock->rows; ++k) {
        double along = lock->g[k];
        for (int j = 0; j < tree[i].dofs; ++j) along -= lock->C(k, j) * x.a[tree[i].v + j];
        for (int j = 0; j < tree[i].dofs; ++j) x.a[tree[i].v + j] += lock->C(k, j) * along;
      }
  std::fill(x.dropped.begin(), x.dropped.end(), 0);
  bool good = true;
  // Loops that were released have none.
  const bool rows = std::any_of(s.loops.begin(), s.loops.end(), [](const LoopRows& l) { return l.rows > 0; });
  if (loops_ == Loops::per_row && rows) {
    good = solve_rows(b, rhs, x, tolerance, max_iterations, workers);
  } else {
    const int k = iterate(b, rhs.g, rows, x, tolerance, max_iterations, w);
    good = k >= 0;
    iterations_ = good ? k : max_iterations;
  }
  jacobian_times(s, x.a.data(), x.twist.data());
  return good;
}

// (3.2): columns H⁻¹Gᵀ by one solve a row, in parallel; S λ = G H⁻¹ b − g; H x = b − Gᵀλ.
bool Pcg::solve_rows(const VecX& b, const BlockRhs& rhs, BlockSolution& x, double tolerance,
                     int max_iterations, Workers* workers) {
  const BlockSystem& s = *system_;
  const int v = s.tree->v_count();
  std::vector<std::pair<int, int>> rows;
  for (std::size_t l = 0; l < s.loops.size(); ++l)
    for (int r = 0; r < s.loops[l].rows; ++r) rows.emplace_back(static_cast<int>(l), r);
  const int m = static_cast<int>(rows.size());
  while (static_cast<int>(runs_.size()) < m + 1) runs_.push_back(std::make_unique<Run>(preconditioner_, s));

  MatX G(m, v), Y(v, m);
  std::vector<int> counts(m);
  const auto one_row = [&](int i) {
    Run& w = *runs_[i + 1];
    std::vector<Vec6> lambda(s.loops.size(), Vec6::Zero()), y(s.tree->size(), Vec6::Zero());
    lambda[rows[i].first][rows[i].second] = -1;
    subtract_loop_forces(s, lambda.data(), y.data());
    VecX column(v);
    jacobian_transpose_times(s, y.data(), column.data());
    G.row(i) = column.transpose();
    remove_locked(column);
    BlockSolution z(s);
    counts[i] = iterate(column, rhs.g, false, z, tolerance, max_iterations, w);
    Y.col(i) = Eigen::Map<const VecX>(z.a.data(), v);
  };
  if (workers)
    workers->arena.execute([&] { tbb::parallel_for(0, m, one_row); });
  else
    for (int i = 0; i < m; ++i) one_row(i);

  int total = iterate(b, rhs.g, false, x, tolerance, max_iterations, *runs_[0]);
  bool good = total >= 0;
  VecX gap(m);
  for (int i = 0; i < m; ++i)
    gap[i] = G.row(i).dot(Eigen::Map<const VecX>(x.a.data(), v)) - rhs.g[rows[i].first][rows[i].second];
  const MatX S = G * Y;
  const VecX lambda = (0.5 * (S + S.transpose())).completeOrthogonalDecomposition().solve(gap);
  const int last = iterate(b - G.transpose() * lambda, rhs.g, false, x, tolerance, max_iterations, *runs_[0]);
  good = good && last >= 0;
  total += last;
  for (const int k : counts) {
    good = good && k >= 0;
    total += k;
  }
  for (Vec6& l : x.lambda) l.setZero();
  for (int i = 0; i < m; ++i) x.lambda[rows[i].first][rows[i].second] = lambda[i];
  iterations_ = good ? total : max_iterations;
  return good;
}

}  // namespace limber::multibody
