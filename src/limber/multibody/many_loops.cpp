#include "limber/multibody/many_loops.h"

#include <algorithm>
#include <cmath>

#include "limber/math/stop.h"

namespace limber::multibody {

LoopPlan::LoopPlan(const Tree& tree, const Pattern& pattern, OrderFinder* finder) : tied{pattern.pairs, {}} {
  std::vector<std::pair<LinkPair, int>> known;  // sorted: where a pair stands
  const auto before = [](const std::pair<LinkPair, int>& x, const std::pair<LinkPair, int>& y) {
    return std::pair(x.first.a, x.first.b) < std::pair(y.first.a, y.first.b);
  };
  for (std::size_t k = 0; k < tied.pairs.size(); ++k) known.push_back({tied.pairs[k], static_cast<int>(k)});
  std::sort(known.begin(), known.end(), before);
  for (const LoopSite& site : pattern.loops) {
    turned.push_back(site.a > site.b);
    if (site.a < 0 || site.b < 0) {
      pair.push_back(-1);
      continue;
    }
    const std::pair<LinkPair, int> wanted{{std::min(site.a, site.b), std::max(site.a, site.b)},
                                          static_cast<int>(tied.pairs.size())};
    const auto at = std::lower_bound(known.begin(), known.end(), wanted, before);
    if (at != known.end() && !before(wanted, *at)) {
      pair.push_back(at->second);
      continue;
    }
    pair.push_back(wanted.second);
    known.insert(at, wanted);
    tied.pairs.push_back(wanted.first);
  }
  if (finder)
    finder->find(tree, tied, order);
  else
    order = find_order(tree, tied, false);  // the digits that a cut costs are needed here
}

ManyLoops::ManyLoops(const Tree& tree, const Pattern& pattern, std::shared_ptr<const LoopPlan> plan)
    : plan_(std::move(plan)),
      tied_(tree, plan_->tied),
      gaba_(tree, plan_->tied, plan_->order),
      scratch_(gaba_),
      rho_(pattern.loops.size(), Vec6::Zero()),
      r_(rho_),
      p_(rho_),
      lambda_(rho_),
      closed_(rho_),
      load_(tied_),
      left_(tied_),
      move_(tied_),
      correction_(tied_),
      scratch_twist_(tree.size()),
      residual_(tree.v_count()) {
  left_.g.resize(pattern.loops.size(), Vec6::Zero());
  correction_.lambda.resize(pattern.loops.size(), Vec6::Zero());
}

bool ManyLoops::factor(const BlockSystem& system) {
  // Ten thousand times as stiff as the two bodies alone would be in that direction: more would close the
  // loops in fewer iterations, but the elimination loses the digits of (R over the least inertia)², and a
  // slender rod has next to none about its axis.
  constexpr double stiff = 1e4;
  system_ = &system;
  tied_.origin = system.origin, tied_.S = system.S, tied_.diagonal = system.diagonal;
  tied_.joint = system.joint, tied_.coupling = system.coupling;
  tied_.locks = system.locks, tied_.lock_index = system.lock_index;
  std::copy(system.off.begin(), system.off.end(), tied_.off.begin());
  std::fill(tied_.off.begin() + static_cast<std::ptrdiff_t>(system.off.size()), tied_.off.end(),
            Mat6::Zero());
  for (std::size_t l = 0; l < system.loops.size(); ++l) {
    const LoopSite& site = system.pattern->loops[l];
    const LoopRows& rows = system.loops[l];
    Vec6& rho = rho_[l];
    rho.setZero();
    for (int r = 0; r < rows.rows; ++r) {
      double mobility = 0;
      for (int k = 0; k < 6; ++k) {
        if (site.a >= 0 && system.diagonal[site.a](k, k) > 0)
          mobility += rows.on_a(r, k) * rows.on_a(r, k) / system.diagonal[site.a](k, k);
        if (site.b >= 0 && system.diagonal[site.b](k, k) > 0)
          mobility += rows.on_b(r, k) * rows.on_b(r, k) / system.diagonal[site.b](k, k);
      }
      rho[r] = mobility > 0 ? stiff / mobility : 0;
    }
    const auto R = rho.asDiagonal();
    if (site.a >= 0) tied_.diagonal[site.a] += rows.on_a.transpose() * R * rows.on_a;
    if (site.b >= 0) tied_.diagonal[site.b] += rows.on_b.transpose() * R * rows.on_b;
    if (const int k = plan_->pair[l]; k >= 0)
      tied_.off[k] += plan_->turned[l] ? Mat6(rows.on_b.transpose() * R * rows.on_a)
                                       : Mat6(rows.on_a.transpose() * R * rows.on_b);
  }
  return gaba_.factor(tied_);
}

void ManyLoops::open(const std::vector<Vec6>& twist, const std::vector<Vec6>& g) {
  size_ = 0;
  for (std::size_t l = 0; l < r_.size(); ++l) {
    const LoopSite& site = system_->pattern->loops[l];
    const LoopRows& rows = system_->loops[l];
    r_[l].setZero();
    for (int k = 0; k < rows.rows; ++k) {
      const double a = site.a >= 0 ? rows.on_a.row(k).dot(twist[site.a]) : 0;
      const double b = site.b >= 0 ? rows.on_b.row(k).dot(twist[site.b]) : 0;
      r_[l][k] = a + b - g[l][k];
      size_ += rho_[l][k] * (a * a + b * b + g[l][k] * g[l][k]);
    }
  }
}

double ManyLoops::weighted(const std::vector<Vec6>& a, const std::vector<Vec6>& b) const {
  double sum = 0;
  for (std::size_t l = 0; l < a.size(); ++l) sum += a[l].dot(rho_[l].cwiseProduct(b[l]));
  return sum;
}

void ManyLoops::solve_once(const BlockRhs& rhs, BlockSolution& x, bool homogeneous) {
  constexpr int most = 100;
  constexpr double closed = 1e-28;  // of the squares: 1e-14
  constexpr double stuck = 1e-8;    // of RS: a direction in which loops move 1e-12 of what their bodies would
  const std::size_t loops = r_.size();
  load_.tau = rhs.tau, load_.wrench = rhs.wrench;
  for (std::size_t l = 0; l < loops; ++l) closed_[l] = -rho_[l].cwiseProduct(rhs.g[l]);
  subtract_loop_forces(*system_, closed_.data(), load_.wrench.data());
  gaba_.solve(load_, scratch_, x, homogeneous);
  std::fill(load_.tau.begin(), load_.tau.end(), 0.0);
  for (Vec6& lambda : lambda_) lambda.setZero();
  open(x.twist, rhs.g);
  double rz = weighted(r_, r_), least = rz;
  for (std::size_t l = 0; l < loops; ++l) p_[l] = rho_[l].cwiseProduct(r_[l]);
  int idle = 0;
  enough_ = std::max(enough_, closed * size_);
  for (int k = 0; k < most && rz > enough_ && idle < 10; ++k, ++iterations_) {
    stop_if_requested();
    for (Vec6& f : load_.wrench) f.setZero();
    for (std::size_t l = 0; l < loops; ++l) closed_[l] = -p_[l];
    subtract_loop_forces(*system_, closed_.data(), load_.wrench.data());
    gaba_.solve(load_, scratch_, move_, true);
    double pSp = 0, pp = 0;
    for (std::size_t l = 0; l < loops; ++l) {
      pSp += p_[l].dot(loop_times(*system_, static_cast<int>(l), move_.twist.data()));
      for (int r = 0; r < system_->loops[l].rows; ++r)
        if (rho_[l][r] > 0) pp += p_[l][r] * p_[l][r] / rho_[l][r];
    }
    if (!(pSp > stuck * pp)) break;  // what is left is rounding, or rows that contradict each other
    const double step = rz / pSp;
    for (std::size_t l = 0; l < loops; ++l) lambda_[l] += step * p_[l];
    for (std::size_t i = 0; i < x.a.size(); ++i) x.a[i] -= step * move_.a[i];
    for (std::size_t i = 0; i < x.twist.size(); ++i) x.twist[i] -= step * move_.twist[i];
    open(x.twist, rhs.g);
    const double next = weighted(r_, r_);
    for (std::size_t l = 0; l < loops; ++l) p_[l] = rho_[l].cwiseProduct(r_[l]) + next / rz * p_[l];
    rz = next;
    idle = next < 0.5 * least ? 0 : idle + 1;
    least = std::min(least, next);
  }
  for (std::size_t l = 0; l < loops; ++l) x.lambda[l] = lambda_[l] + rho_[l].cwiseProduct(r_[l]);
}

void ManyLoops::solve(const BlockRhs& rhs, BlockSolution& x, bool homogeneous) {
  iterations_ = 0;
  enough_ = 0;
  std::fill(x.dropped.begin(), x.dropped.end(), 0);
  solve_once(rhs, x, homogeneous);
  double scale = 0;
  for (const double tau : rhs.tau) scale = std::max(scale, std::abs(tau));
  for (const Vec6& f : rhs.wrench) scale = std::max(scale, f.cwiseAbs().maxCoeff());
  for (const Vec6& lambda : x.lambda) scale = std::max(scale, lambda.cwiseAbs().maxCoeff());
  double last = INFINITY;
  for (int round = 0; round < 3; ++round) {
    reduced_residual(*system_, rhs, x, scratch_twist_, residual_.data());
    double largest = 0;
    for (const double f : residual_) largest = std::max(largest, std::abs(f));
    if (largest <= 1e-12 * scale || !(largest < 0.5 * last)) break;
    last = largest;
    left_.tau = residual_;
    for (Vec6& f : left_.wrench) f.setZero();
    for (std::size_t l = 0; l < r_.size(); ++l) {
      left_.g[l] = -loop_times(*system_, static_cast<int>(l), x.twist.data());
      left_.g[l].head(system_->loops[l].rows) += rhs.g[l].head(system_->loops[l].rows);
    }
    solve_once(left_, correction_, true);
    for (std::size_t k = 0; k < x.a.size(); ++k) x.a[k] += correction_.a[k];
    for (std::size_t k = 0; k < x.twist.size(); ++k) x.twist[k] += correction_.twist[k];
    for (std::size_t k = 0; k < x.lambda.size(); ++k) x.lambda[k] += correction_.lambda[k];
  }
}

}  // namespace limber::multibody
