#include "limber/chain/statics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/chain/path.h"
#include "limber/chain/stretch.h"
#include "limber/math/stop.h"

namespace limber::chain {
namespace {

constexpr double largest_turn = 0.7;  // [rad] of a joint in one iteration
constexpr double on_the_way = 1e-4;   // residual of load steps before the last
constexpr double rounding = 1e-14;    // of a joint's moment per radian: no moments are known better

double largest(const std::vector<Vec3>& v) {
  double most = 0;
  for (const Vec3& x : v) most = std::max(most, x.cwiseAbs().maxCoeff());
  return most;
}

double norm(const std::vector<Vec3>& v) {
  double sum = 0;
  for (const Vec3& x : v) sum += x.squaredNorm();
  return std::sqrt(sum);
}

}  // namespace

Rest at_rest(const Structure& s) {
  Rest rest;
  rest.shape.resize(s.links.count());
  int rows = 0;
  for (const Closure& c : s.closures) rows += row_count(c.kind);
  rest.lambda.assign(static_cast<std::size_t>(rows), 0.0);
  return rest;
}

void Solver::stiffness_changed() {
  stiffest_ = 0;
  for (const Vec3& k : s_->links.stiffness) stiffest_ = std::max(stiffest_, k.maxCoeff());
}

Solver::Solver(const Structure& s) : s_(&s) {
  stiffness_changed();
  now_.resize(s.links.count());
  trial_.resize(s.links.count());
}

void Solver::weigh_at(const Rest& rest, bool tangent, Balance& b, Ties& ties) const {
  stand(*s_, rest.shape, rest.factor, rest.lambda, b);
  ties.build(*s_, b, rest.factor, rest.lambda);
  weigh(*s_, rest.shape, rest.factor, ties.tugs(), tangent, b);
  if (thick_ > 0) resist(rest, tangent, b);
}

void Solver::measure(const Balance& b, const Ties& ties) {
  double most = 0;
  worst_ = -1;
  for (int k = 0; k < s_->links.count(); ++k) {
    const double r = b.r[k].norm();
    if (!(r <= most)) most = r, worst_ = k;
  }
  // Where nothing acts, what is left over of rounding is no share of anything.
  force_ = std::max(b.scale, 1e-300);
  residual_ = most == 0 || force_ <= rounding * stiffest_ ? 0 : most / force_;
  gap_size_ = ties.worst_gap() / s_->size;
}

void Solver::evaluate(const Rest& rest, bool tangent) {
  weigh_at(rest, tangent, now_, ties_);
  measure(now_, ties_);
  if (tangent) tangent_.factor(*s_, now_, ties_);
}

void Solver::place_links(const Rest& rest) {
  if (s_->links.stretch) return evaluate(rest, false);  // they stretch by what hangs on them
  turn(*s_, rest.shape, now_);
  place(*s_, now_);
}

bool Solver::newton(Rest& rest, const StaticOptions& options, StaticReport& report, int negative) {
  before_ = rest;
  const int n = s_->links.count();
  t_.resize(static_cast<std::size_t>(n));
  body_.resize(static_cast<std::size_t>(n));
  double last_turn = 1e300;
  const auto fail = [&] {
    rest = before_;
    return false;
  };
  weigh_at(rest, true, now_, ties_);
  for (int iteration = 0;; ++iteration) {
    stop_if_requested();
    measure(now_, ties_);
    const bool small = residual_ <= options.tolerance && gap_size_ <= 1e-12;
    const bool still = last_turn < 1e-12 && residual_ < 1e-6 && gap_size_ <= 1e-9;
    if (small || still) {
      report.residual = residual_;
      report.gap = gap_size_;
      return true;
    }
    if (!std::isfinite(residual_) || iteration == 60 || iterations_ >= options.max_iterations) return fail();
    ++iterations_;
    tangent_.factor(*s_, now_, ties_);
    if (negative >= 0 && tangent_.symmetric() && tangent_.negative() != negative) return fail();
    for (int k = 0; k < n; ++k) t_[k] = -now_.r[k];
    tangent_.solve(*s_, t_, ties_.gap(), delta_, dlambda_);
    const double length = norm(delta_), turn = largest(delta_);
    if (!std::isfinite(length)) return fail();
    double part = std::min(1.0, largest_turn / std::max(turn, 1e-300));
    Rest& trial = trial_rest_;
    double next = 0;
    for (bool accepted = false; !accepted;) {
      trial = rest;
      for (int k = 0; k < n; ++k) body_[k] = now_.R[k].transpose() * delta_[k];
      advance(s_->links, trial.shape, body_, part);
      for (std::size_t i = 0; i < trial.lambda.size(); ++i) trial.lambda[i] += part * dlambda_[i];
      weigh_at(trial, false, trial_, trial_ties_);
      // What the old tangent would do next, as seen from the old place.
      for (int k = 0; k < n; ++k) t_[k] = now_.R[k] * (trial_.R[k].transpose() * -trial_.r[k]);
      gap_ = trial_ties_.gap();
      tangent_.solve(*s_, t_, gap_, next_, next_lambda_);
      next = norm(next_);
      accepted = next <= (1 - part / 4) * length || length < 1e-11;
      if (!accepted) {
        // Where the parabola through both has its least.
        const double bend = std::abs(next - (1 - part) * length) > 0
                                ? part * part * length / (2 * (next - (1 - part) * length))
                                : part / 2;
        part = std::isfinite(bend) && bend > 0 ? std::clamp(bend, part / 10, part / 2) : part / 4;
        if (part < 1e-4) return fail();
      }
    }
    // The old tangent still serves well: its next correction is at hand, and worth more than its price.
    if (part == 1 && next < 0.1 * length) {
      for (int k = 0; k < n; ++k) body_[k] = now_.R[k].transpose() * next_[k];
      advance(s_->links, trial.shape, body_, 1);
      for (std::size_t i = 0; i < trial.lambda.size(); ++i) trial.lambda[i] += next_lambda_[i];
    }
    std::swap(rest, trial);
    last_turn = part * turn;
    weigh_at(rest, true, now_, ties_);
  }
}

StaticReport Solver::solve(Rest& rest, double factor, const StaticOptions& options) {
  StaticReport report;
  iterations_ = 0;
  const Rest start = rest;
  const auto end = [&](const std::string& message) {
    report.report.iterations = iterations_;
    report.report.total_iterations = iterations_;
    if (!message.empty()) {
      report.report.status = result::Status::not_converged;
      report.report.message = message;
      if (worst_ >= 0) report.report.worst = s_->links.name[worst_];
      rest = start;
      return report;
    }
    evaluate(rest, true);
    report.residual = residual_;
    report.gap = gap_size_;
    report.negative = tangent_.symmetric() ? tangent_.negative() : 0;
    report.symmetric = tangent_.symmetric();
    report.redundant_rows = tangent_.redundant();
    report.report.residual = residual_;
    report.report.loop_gap = gap_size_;
    report.report.redundant_rows = report.redundant_rows;
    if (worst_ >= 0) report.report.worst = s_->links.name[worst_];
    return report;
  };

  // What acts before the loads grow (weight, springs, closures that are not closed yet).
  if (!newton(rest, options, report))
    return end("no equilibrium was found under what acts before the loads grow; " +
               fmt::format("{:.1e} of the moments were left over", residual_));
  evaluate(rest, true);
  int negative = tangent_.negative();
  const double way = factor - rest.factor;
  double part = options.load_steps > 0 ? 1.0 / options.load_steps : 0.5, done = 0;
  const double first = rest.factor;
  while (done < 1 && way != 0) {
    const Rest from = rest;
    const double to = options.load_steps > 0 && 1 - done < 1.5 * part ? 1 : std::min(1.0, done + part);
    rest.factor = to == 1 ? factor : first + to * way;
    // On the way a coarse answer serves. A new direction of instability may be a jump to another branch: it
    // is believed only when it has been come close to.
    StaticOptions coarse = options;
    if (to < 1) coarse.tolerance = std::max(options.tolerance, on_the_way);
    const int before = iterations_;
    const bool strict = options.load_steps == 0 && part > 1.0 / 256;
    bool ok = newton(rest, coarse, report, strict ? negative : -1);
    if (ok) evaluate(rest, true);
    if (ok) {
      done = to;
      ++report.load_steps;
      if (tangent_.symmetric() && tangent_.negative() != negative) {
        double low = from.factor, high = rest.factor;
        Rest between = from;
        const int after = tangent_.negative();
        for (int i = 0; i < 30 && std::abs(high - low) > 1e-9 * std::abs(way); ++i) {
          Rest middle = between;
          middle.factor = 0.5 * (low + high);
          if (!newton(middle, options, report)) break;
          evaluate(middle, true);
          (tangent_.negative() == negative ? low : high) = middle.factor;
          if (tangent_.negative() == negative) between = middle;
        }
        report.lost.push_back(
            {0.5 * (low + high), after, false, s_->links.name[most_turned(*this, between)]});
        negative = after;
      }
      if (options.load_steps == 0 && iterations_ - before <= 5) part *= 2;
      continue;
    }
    rest = from;
    if (iterations_ >= options.max_iterations) return end("the iterations are used up");
    part = 0.5 * (to - done);
    if (options.load_steps > 0 || part < 1e-4) {
      if (options.load_steps > 0)
        return end(fmt::format("no equilibrium was found at {:.6g} of the load; try more load steps",
                               first + to * way));
      if (!options.follow)
        return end(fmt::format(
            "no equilibrium beyond {:.6g} of the load was found: a limit point may lie there", rest.factor));
      PathOptions path;
      path.end = factor;
      path.branching = Branching::least_unstable, path.end_stable = true;
      path.statics = options;
      PathReport followed = follow(*this, rest, path, nullptr);
      iterations_ += followed.iterations;
      report.lost.insert(report.lost.end(), followed.lost.begin(), followed.lost.end());
      if (!followed.reached)
        return end(
            fmt::format("beyond {:.6g} of the load the path of equilibria did not come back to the full "
                        "load: {}",
                        from.factor, followed.message));
      break;
    }
  }
  return end("");
}

}  // namespace limber::chain
