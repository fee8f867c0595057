#include "limber/articulated/static_walker.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "limber/math/dense.h"
#include "limber/math/stop.h"

namespace limber::articulated {
namespace {

constexpr double on_the_path = 1e-8;      // forces left over at points on the way, of those that act
constexpr double closed_on_path = 1e-11;  // gap of loops, of the size
constexpr double turn_at_most = 0.7;      // [rad] of a joint in one correction; of the size where it slides
constexpr int most_corrections = 12;
constexpr double heaviest = 1e16;  // w: a response of 1e-8 of the size to all of the load

double sum_of_products(const std::vector<Vec6>& a, const std::vector<Vec6>& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k].dot(b[k]);
  return sum;
}

}  // namespace

PathWalker::PathWalker(const SystemData& s, const State& state, WorkspaceData& w, const PathOptions& options)
    : s_(s), options_(options), e_(s, state, w, options.statics), rate_(e_.K_) {
  for (const multibody::Link& link : s_.tree.links()) moving_ += link.parent >= 0 || link.dofs > 0;
  weight_ = 1.0 / std::max(1, moving_);
}

// Shares of what acts, and given motions, at a factor.
void PathWalker::give(double factor) {
  const StaticOptions& own = options_.statics;
  e_.w_.load = options_.loads_grow ? factor : own.load;
  e_.w_.weight = options_.weight_grows ? factor : own.weight;
  place_given(options_.motions_grow ? factor : own.motion, false);
}

// Given joints at their share; or the rates of their coordinates by the factor as what their locks give.
void PathWalker::place_given(double share, bool rates) {
  for (const CompiledMotion& m : s_.motions) {
    const multibody::Link& link = s_.tree[m.link];
    double q[7], v[6];
    if (rates) {
      JointLock& lock = e_.locks_[static_cast<std::size_t>(e_.lock_index_[m.link])];
      for (int k = 0; k < link.dofs; ++k) lock.g[k] = m.position[k].value(e_.t_);
    } else {
      prescribed(m, link, e_.t_, q, v, share);
      std::copy_n(q, multibody::coordinate_count(link.kind), e_.q_.data() + link.q);
    }
  }
}

void PathWalker::put(const Place& at) {
  e_.q_ = at.q, e_.lambda_ = at.lambda;
  give(at.factor);
  e_.assemble(0);
  for (const CompiledMotion& m : s_.motions) e_.locks_[e_.lock_index_[m.link]].g.setZero();
}

bool PathWalker::factored(const Place& at) {
  put(at);
  return e_.gaba_.factor(e_.K_, true);
}

// ∂f/∂factor: forces are linear in the shares. What stands still (springs, joint laws) cancels to the bit but
// for the sums it stands in.
void PathWalker::find_rate() {
  rate_.clear();
  if (!options_.loads_grow && !options_.weight_grows) return;
  const std::vector<double> still(s_.tree.v_count(), 0.0);
  const double load = e_.w_.load, weight = e_.w_.weight;
  for (const double share : {0.0, 1.0}) {
    if (options_.loads_grow) e_.w_.load = share;
    if (options_.weight_grows) e_.w_.weight = share;
    evaluate(s_, e_.q_.data(), still.data(), e_.t_, {0, 0, 0}, e_.w_);
    const double sign = share == 1 ? 1 : -1;
    for (int i = 0; i < s_.tree.size(); ++i) {
      const Mat3& R = e_.w_.links[i].X_WM.R;
      rate_.wrench[i].head<3>() += sign * (R * e_.w_.wrench[i].head<3>());
      rate_.wrench[i].tail<3>() += sign * (R * e_.w_.wrench[i].tail<3>());
    }
    for (std::size_t k = 0; k < rate_.tau.size(); ++k) rate_.tau[k] += sign * e_.w_.tau[k];
  }
  e_.w_.load = load, e_.w_.weight = weight;
}

PathDirection PathWalker::direction_of(const std::vector<double>& rate) {
  Direction d;
  d.rate = rate;
  d.twist.resize(static_cast<std::size_t>(s_.tree.size()));
  multibody::jacobian_times(e_.K_, rate.data(), d.twist.data());
  for (Vec6& x : d.twist) x.tail<3>() /= s_.size;
  d.lambda.assign(s_.loops.size(), Vec6::Zero());
  return d;
}

// x_: what a unit of the factor does, by the factor at hand. d: as a direction, of factor 1.
void PathWalker::respond(Direction& d) {
  find_rate();
  for (JointLock& lock : e_.locks_) lock.g.setZero();
  if (options_.motions_grow) place_given(1, true);
  if (!e_.locks_.empty()) e_.gaba_.take_given();
  e_.rhs_ = rate_;
  e_.gaba_.solve(e_.rhs_, e_.scratch_, e_.x_);
  if (e_.circulatory_) e_.complete_step(0);
  d = direction_of(e_.x_.a);
  d.lambda = e_.x_.lambda;
  d.factor = 1;
}

// The unit direction of the path at a place with its tangent factored: the way `last` goes, or, without, the
// way of the factor.
void PathWalker::describe(Station& at, const Direction* last, double way) {
  Direction& d = at.d;
  at.negative = e_.circulatory_ ? 0 : e_.gaba_.directions().negative;
  respond(d);
  double work = 0;
  for (std::size_t i = 0; i < d.twist.size(); ++i)
    work += rate_.wrench[i].head<3>().dot(d.twist[i].head<3>()) +
            s_.size * rate_.wrench[i].tail<3>().dot(d.twist[i].tail<3>());
  for (std::size_t k = 0; k < rate_.tau.size(); ++k) work += rate_.tau[k] * d.rate[k];
  if (options_.motions_grow) work = 1;  // the way itself, which is held
  at.held = at.negative - (at.negative > 0 && work < 0 ? 1 : 0);
  double scale = 1 / std::sqrt(inner(d, d));
  if (last ? inner(d, *last) < 0 : way < 0) scale = -scale;
  d.scale(scale);
  d.work = work * scale;
}

bool PathWalker::begin(Place& out, double factor) {
  give(factor);
  out.q = e_.q_;
  out.lambda.assign(s_.loops.size(), Vec6::Zero());
  out.factor = factor;
  const std::vector<double> values = e_.limit_values(e_.q_);
  for (std::size_t l = 0; l < s_.limits.size(); ++l)
    e_.touched_[l] = std::abs(values[l] - s_.limits[l].bound) <= 1e-9 * (1 + std::abs(s_.limits[l].bound));
  e_.update_servos();
  e_.set_augment();
  if (!factored(out)) return false;
  e_.gaba_.solve(e_.rhs_, e_.scratch_, e_.x_);  // at rest: what the loops carry, whatever K is
  out.lambda = e_.x_.lambda;
  Station polished;
  if (!correct(out, nullptr, polished) || !factored(out)) return false;
  if (e_.gaba_.directions().moved > 0) return false;
  // What acts in all: sums of what pulls on a link may vanish.
  e_.factor_metric();
  Direction first;
  respond(first);
  std::vector<double> tau(rate_.tau.size());
  std::vector<Vec6> F = rate_.wrench;
  multibody::jacobian_transpose_times(e_.K_, F.data(), tau.data());
  acting_ = 0;
  for (std::size_t k = 0; k < tau.size(); ++k) acting_ = std::max(acting_, std::abs(tau[k] + rate_.tau[k]));
  const double response = std::sqrt(sum_of_products(first.twist, first.twist) / std::max(1, moving_));
  if (response > 0) weight_ = std::clamp(1 / (response * response), 1.0, heaviest) / std::max(1, moving_);
  return let_go_of_stops(out);
}

// What stands at a bound but does not lean on it may leave it.
bool PathWalker::let_go_of_stops(const Place& at) {
  if (std::ranges::none_of(e_.touched_, [](char t) { return t != 0; })) return true;
  if (!factored(at)) return false;
  e_.gaba_.solve(e_.rhs_, e_.scratch_, e_.x_);
  e_.find_limit_forces();
  for (std::size_t l = 0; l < e_.touched_.size(); ++l)
    if ((s_.limits[l].upper ? 1 : -1) * e_.limit_force_[l] > -1e-9 * acting_) e_.touched_[l] = 0;
  return factored(at) && e_.gaba_.directions().moved == 0;
}

double PathWalker::inner(const Direction& a, const Direction& b) const {
  return weight_ * sum_of_products(a.twist, b.twist) + a.factor * b.factor;
}

PathWalker::Station PathWalker::start(const Place& rest, double way) {
  Station out;
  out.rest = rest;
  out.ok = factored(rest);
  describe(out, nullptr, way);
  return out;
}

// Onto the path: across `d`, or without it at the place's own factor.
bool PathWalker::correct(Place& at, const Direction* d, Station& out) {
  const int n = s_.tree.v_count();
  off_.assign(static_cast<std::size_t>(s_.tree.size()), Vec6::Zero());
  std::vector<double> moved(at.q.size());
  double off_factor = 0, last = 1e300;
  const double tolerance =
      exact_ || !d ? options_.statics.tolerance : std::max(options_.statics.tolerance, on_the_path);
  for (out.iterations = 0; out.iterations < most_corrections; ++out.iterations) {
    stop_if_requested();
    put(at);
    ++iterations_;
    double acting = 0;
    const double left = e_.leftover(acting), gap = e_.gap();
    acting = std::max(acting, acting_);
    const double residual = acting > 0 ? left / acting : 0;
    const bool still = last < 1e-11 && (residual < 1e-6 || left <= e_.rounding_of_forces());
    if (!std::isfinite(residual)) return false;
    if ((residual <= tolerance || still) && gap <= closed_on_path) {
      at.q = e_.q_;  // with given coordinates as they are given
      out.offset = std::sqrt(weight_ * sum_of_products(off_, off_) + off_factor * off_factor);
      return true;
    }
    if (!e_.gaba_.factor(e_.K_, true)) return false;
    e_.gaba_.solve(e_.rhs_, e_.scratch_, e_.x_);
    if (e_.circulatory_) e_.complete_step(0);
    Direction back = direction_of(e_.x_.a);
    back.lambda = e_.x_.lambda;
    double df = 0;
    if (d) {
      Direction along;
      respond(along);
      const double below = weight_ * sum_of_products(d->twist, along.twist) + d->factor;
      df = -weight_ * sum_of_products(d->twist, back.twist) / below;
      if (!std::isfinite(df)) return false;
      back.add(df, along);
    }
    e_.x_.a = back.rate;
    last = e_.step_size();
    if (!(last <= turn_at_most)) return false;
    for (std::size_t i = 0; i < off_.size(); ++i) off_[i] += back.twist[i];
    off_factor += df;
    if (n > 0) {
      multibody::integrate(s_.tree, at.q.data(), back.rate.data(), 1, moved.data());
      std::swap(at.q, moved);
    }
    at.lambda = back.lambda;  // multipliers are found whole
    at.factor += df;
  }
  return false;
}

// Whether free stops are not passed, touched ones push, and servos push as they did. With K_ factored.
bool PathWalker::stops_hold() {
  const auto name = [&](const Limit& l) {
    return l.loop >= 0 ? s_.loops[l.loop].name : s_.model.joints()[l.link].name;
  };
  if (!s_.limits.empty()) {
    const std::vector<double> values = e_.limit_values(e_.q_);
    for (std::size_t l = 0; l < values.size(); ++l)
      if (const Limit& x = s_.limits[l];
          !e_.touched_[l] && (x.upper ? 1 : -1) * (values[l] - x.bound) > 1e-9 * (1 + std::abs(x.bound)))
        why_ = fmt::format("joint \"{}\" comes to its stop", name(x));
    if (std::ranges::any_of(e_.touched_, [](char t) { return t != 0; })) {
      e_.gaba_.solve(e_.rhs_, e_.scratch_, e_.x_);
      e_.find_limit_forces();
      for (std::size_t l = 0; l < values.size(); ++l)
        if (e_.touched_[l] && (s_.limits[l].upper ? 1 : -1) * e_.limit_force_[l] > 1e-9 * acting_)
          why_ = fmt::format("joint \"{}\" leaves its stop", name(s_.limits[l]));
    }
    if (!why_.empty()) return false;
  }
  if (s_.drives.empty()) return true;
  const std::vector<ServoState> before = e_.w_.servo;
  if (!e_.update_servos()) return true;
  e_.w_.servo = before;
  why_ = "a servo comes to its largest force";
  return false;
}

PathWalker::Station PathWalker::step(const Place& from, const Direction& d, double s) {
  Station out;
  out.rest = from;
  out.s = s;
  multibody::integrate(s_.tree, from.q.data(), d.rate.data(), s, out.rest.q.data());
  for (std::size_t l = 0; l < out.rest.lambda.size(); ++l) out.rest.lambda[l] += s * d.lambda[l];
  out.rest.factor += s * d.factor;
  why_.clear();
  if (!correct(out.rest, &d, out) || !factored(out.rest) || !stops_hold()) return out;
  describe(out, &d, 1);
  out.ok = true;
  return out;
}

PathWalker::Station PathWalker::land(const Station& near, double factor) {
  Station out;
  out.rest = near.rest;
  out.rest.factor = factor;
  if (!correct(out.rest, nullptr, out) || !factored(out.rest)) return out;
  describe(out, &near.d, 1);
  out.ok = true;
  return out;
}

double PathWalker::distance(const Place& a, const Place& b) {
  const std::vector<double> still(s_.tree.v_count(), 0.0);
  std::vector<LinkMotion> at_a(s_.tree.size()), at_b(s_.tree.size());
  multibody::kinematics(s_.tree, a.q.data(), still.data(), at_a);
  multibody::kinematics(s_.tree, b.q.data(), still.data(), at_b);
  double sum = 0;
  for (std::size_t i = 0; i < at_a.size(); ++i)
    sum += 0.5 * (at_a[i].X_WM.R - at_b[i].X_WM.R).squaredNorm() +
           (at_a[i].X_WM.p - at_b[i].X_WM.p).squaredNorm() / (s_.size * s_.size);
  return std::sqrt(weight_ * sum + (a.factor - b.factor) * (a.factor - b.factor));
}

// K⁻¹τ within loops and locks.
void PathWalker::solve_for(const std::vector<double>& tau, std::vector<double>& rate) {
  e_.rhs_.clear();
  e_.rhs_.tau = tau;
  e_.gaba_.solve(e_.rhs_, e_.scratch_, e_.x_, true);
  rate = e_.x_.a;
}

double PathWalker::pivot_along(const Place& rest, const Direction& b) {
  if (!factored(rest)) return 0;
  std::vector<double> tau(b.rate), answer;
  for (std::size_t k = 0; k < tau.size(); ++k) {
    const double unit = e_.way(static_cast<int>(k));
    tau[k] /= unit * unit;
  }
  solve_for(tau, answer);
  double sum = 0;
  for (std::size_t k = 0; k < tau.size(); ++k) sum += tau[k] * answer[k];
  return 1 / sum;
}

// Inverse iteration on a few directions at once, of K x = μ W x with W = 1/unit² of each coordinate; Rayleigh
// and Ritz on K⁻¹ at the end of each round.
PathWalker::Weak PathWalker::weakest(const Place& rest, int count) {
  constexpr int rounds = 10;
  Weak out;
  factored(rest);
  const auto n = static_cast<std::size_t>(s_.tree.v_count());
  count = std::min(count, static_cast<int>(n));
  const auto m = static_cast<std::size_t>(count);
  std::vector<double> W(n);
  for (std::size_t k = 0; k < n; ++k) {
    const double unit = e_.way(static_cast<int>(k));
    W[k] = 1 / (unit * unit);
  }
  const auto dot = [&](const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t k = 0; k < n; ++k) sum += W[k] * a[k] * b[k];
    return sum;
  };
  std::vector<std::vector<double>> v(m, std::vector<double>(n)), w(m);
  for (std::size_t j = 0; j < m; ++j)
    for (std::size_t k = 0; k < n; ++k)
      v[j][k] = (1 - 0.3 * static_cast<double>((k + 2 * j) % (3 + j)) +
                 0.1 * static_cast<double>((k * (j + 1)) % 7)) /
                std::sqrt(W[k]);
  std::vector<double> tau(n);
  for (int round = 0; round <= rounds; ++round) {
    for (std::size_t j = 0; j < m; ++j) {  // orthonormal
      for (int twice = 0; twice < 2; ++twice)
        for (std::size_t i = 0; i < j; ++i) {
          const double part = dot(v[i], v[j]);
          for (std::size_t k = 0; k < n; ++k) v[j][k] -= part * v[i][k];
        }
      const double scale = 1 / std::sqrt(std::max(dot(v[j], v[j]), 1e-300));
      for (double& x : v[j]) x *= scale;
    }
    if (round == rounds) break;
    MatX H(count, count);
    for (std::size_t j = 0; j < m; ++j) {
      for (std::size_t k = 0; k < n; ++k) tau[k] = W[k] * v[j][k];
      solve_for(tau, w[j]);
    }
    for (int i = 0; i < count; ++i)
      for (int j = 0; j < count; ++j) H(i, j) = dot(v[i], w[j]);
    const math::SymmetricEigen eigen = math::symmetric_eigen(0.5 * (H + H.transpose()));
    std::vector<int> order(m);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [&](int a, int b) { return std::abs(eigen.values[a]) > std::abs(eigen.values[b]); });
    out.stiffness.clear();
    for (std::size_t j = 0; j < m; ++j) {
      out.stiffness.push_back(1 / eigen.values[order[j]]);
      v[j].assign(n, 0.0);
      for (std::size_t i = 0; i < m; ++i)
        for (std::size_t k = 0; k < n; ++k) v[j][k] += eigen.vectors(static_cast<int>(i), order[j]) * w[i][k];
    }
  }
  for (const auto& one : v) out.directions.push_back(direction_of(one));
  while (out.stiffness.size() < 4) out.stiffness.push_back(INFINITY);  // there are no more directions
  return out;
}

const std::string& PathWalker::moves_most(const Direction& d) const {
  std::size_t most = 0;
  double largest = 0;
  for (std::size_t k = 0; k < d.rate.size(); ++k)
    if (const double share = std::abs(d.rate[k]) / e_.way(static_cast<int>(k)); share > largest)
      largest = share, most = k;
  for (int i = 0; i < s_.tree.size(); ++i)
    if (s_.tree[i].v <= static_cast<int>(most) && static_cast<int>(most) < s_.tree[i].v + s_.tree[i].dofs)
      return s_.model.joints()[i].name;
  return s_.model.joints()[0].name;
}

StaticResult PathWalker::told(const Place& rest) {
  StaticResult out;
  put(rest);
  double acting = 0;
  const double left = e_.leftover(acting);
  out.residual = out.report.residual = acting > 0 ? left / acting : 0;
  out.gap = e_.gap();
  out.circulatory = e_.circulatory_;
  const double augment = e_.augment_;
  e_.reactions(out);
  e_.augment_ = augment;
  return out;
}

}  // namespace limber::articulated
