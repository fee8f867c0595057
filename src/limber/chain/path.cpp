#include "limber/chain/path.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/math/stop.h"

namespace limber::chain {
namespace {

double dot(const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i].dot(b[i]);
  return sum;
}

// A direction along the path: joint rotations in the links' own axes, and the load factor.
struct Direction {
  std::vector<Vec3> turn;
  std::vector<double> lambda;
  double factor = 0;
};

}  // namespace

// Named in statics.h as a friend: works on the solver's scratch.
class PathFollower {
 public:
  PathFollower(Solver& solver, const PathOptions& options)
      : solver_(solver), s_(solver.structure()), options_(options), weight_(s_.links.count()) {}

  PathReport run(Rest& rest, const PathObserver& observer);

 private:
  struct Corrected {
    bool ok = false;
    int iterations = 0;
  };
  double inner(const Direction& a, const Direction& b) const {
    return weight_ * dot(a.turn, b.turn) + a.factor * b.factor;
  }
  void to_body(std::vector<Vec3>& v) const {
    for (int k = 0; k < s_.links.count(); ++k) v[k] = solver_.now_.R[k].transpose() * v[k];
  }
  // The unit direction of the path at an equilibrium, the way `last` goes. Leaves the tangent factored.
  Direction direction_at(const Rest& rest, const Direction* last);
  void move(Rest& rest, const Direction& d, double length) const {
    advance(s_.links, rest.shape, d.turn, length);
    for (std::size_t i = 0; i < rest.lambda.size(); ++i) rest.lambda[i] += length * d.lambda[i];
    rest.factor += length * d.factor;
  }
  Corrected correct(Rest& rest, const Direction& d);
  // Halves [0, step] from `from` along d until the change lies within a small length; `changed` decides.
  template <class Changed>
  Rest locate(const Rest& from, const Direction& d, double step, Changed changed);

  Solver& solver_;
  const Structure& s_;
  const PathOptions& options_;
  double weight_;
  std::vector<Vec3> shift_;
};

Direction PathFollower::direction_at(const Rest& rest, const Direction* last) {
  solver_.evaluate(rest, true);
  Direction d;
  std::vector<Vec3> t;
  load_rate(s_, rest.factor, solver_.now_, t, shift_);
  solver_.tangent_.solve(s_, solver_.now_, t, solver_.ties_.gap_rate(shift_), d.turn, d.lambda);
  to_body(d.turn);
  d.factor = 1;
  double scale = 1 / std::sqrt(inner(d, d));
  if (last) {
    if (inner(d, *last) < 0) scale = -scale;
  } else if (options_.end < rest.factor) {
    scale = -scale;
  }
  for (Vec3& v : d.turn) v *= scale;
  for (double& v : d.lambda) v *= scale;
  d.factor *= scale;
  return d;
}

PathFollower::Corrected PathFollower::correct(Rest& rest, const Direction& d) {
  Corrected out;
  const int n = s_.links.count();
  std::vector<Vec3> t(static_cast<std::size_t>(n)), back, along;
  std::vector<double> back_lambda, along_lambda;
  double last = 1e300;
  for (; out.iterations < 15; ++out.iterations) {
    stop_if_requested();
    solver_.evaluate(rest, true);
    ++solver_.iterations_;
    const bool still = last < 1e-12 && solver_.residual_ < 1e-6;
    if ((solver_.residual_ <= options_.statics.tolerance || still) && solver_.gap_size_ <= 1e-11) {
      out.ok = true;
      return out;
    }
    if (!std::isfinite(solver_.residual_)) return out;
    for (int k = 0; k < n; ++k) t[k] = -solver_.now_.r[k];
    solver_.tangent_.solve(s_, solver_.now_, t, solver_.ties_.gap(), back, back_lambda);
    load_rate(s_, rest.factor, solver_.now_, t, shift_);
    solver_.tangent_.solve(s_, solver_.now_, t, solver_.ties_.gap_rate(shift_), along, along_lambda);
    to_body(back), to_body(along);
    const double below = weight_ * dot(d.turn, along) + d.factor;
    const double df = -weight_ * dot(d.turn, back) / below;
    if (!std::isfinite(df)) return out;
    double most = 0;
    for (int k = 0; k < n; ++k) {
      back[k] += df * along[k];
      most = std::max(most, back[k].cwiseAbs().maxCoeff());
    }
    if (most > 0.7) return out;
    last = most;
    advance(s_.links, rest.shape, back, 1);
    for (std::size_t i = 0; i < rest.lambda.size(); ++i)
      rest.lambda[i] += back_lambda[i] + df * along_lambda[i];
    rest.factor += df;
  }
  return out;
}

template <class Changed>
Rest PathFollower::locate(const Rest& from, const Direction& d, double step, Changed changed) {
  double low = 0, high = step;
  Rest best = from;
  for (int i = 0; i < 40 && high - low > 1e-7 * step; ++i) {
    const double middle = 0.5 * (low + high);
    Rest trial = from;
    move(trial, d, middle);
    if (!correct(trial, d).ok) break;
    const bool after = changed(trial);
    (after ? high : low) = middle;
    if (!after || i == 0) best = trial;
  }
  return best;
}

PathReport PathFollower::run(Rest& rest, const PathObserver& observer) {
  PathReport report;
  double step = options_.step, length = 0;
  const auto note = [&](const Rest& at, PathPoint::Kind kind, int negative) {
    PathPoint p{length, at.factor, negative, kind};
    report.points.push_back(p);
    if (observer) observer(p, at);
  };
  Direction d = direction_at(rest, nullptr);
  int negative = solver_.tangent_.negative();
  note(rest, PathPoint::Kind::regular, negative);
  const double sign = options_.end < rest.factor ? -1 : 1;
  bool branched = options_.branch == 0;

  while (static_cast<int>(report.points.size()) < options_.max_points) {
    if (solver_.iterations_ >= options_.statics.max_iterations * 20) {
      report.message = "the iterations are used up";
      return report;
    }
    Rest next = rest;
    move(next, d, step);
    const Corrected c = correct(next, d);
    Direction after;
    bool ok = c.ok;
    if (ok) {
      after = direction_at(next, &d);
      ok = inner(after, d) > 0.9;  // a corner: come closer
    }
    if (!ok) {
      step /= 3;
      if (step < options_.least_step) {
        report.message = fmt::format("stuck at {:.6g} of the load", rest.factor);
        return report;
      }
      continue;
    }
    const int now = solver_.tangent_.negative();
    const bool turned = after.factor * d.factor < 0;

    if (solver_.tangent_.symmetric() && (now != negative || turned)) {
      const Direction ahead = d;
      const Rest at = locate(rest, d, step, [&](const Rest& r) {
        const Direction there = direction_at(r, &ahead);
        return turned ? there.factor * ahead.factor < 0 : solver_.tangent_.negative() != negative;
      });
      const auto kind = turned ? PathPoint::Kind::limit : PathPoint::Kind::bifurcation;
      const double whole = length;
      length += 0.5 * step;
      note(at, kind, now);
      length = whole;
      report.lost.push_back({at.factor, now, turned, s_.links.name[most_turned(solver_, at)]});
      if (!turned && !branched) {
        // Leave along the null direction; the plane of the step stands on it.
        branched = true;
        Direction away;
        away.turn = weakest_direction(solver_, at);
        away.lambda.assign(at.lambda.size(), 0.0);
        const double scale = options_.branch / std::sqrt(inner(away, away));
        for (Vec3& v : away.turn) v *= scale;
        bool left = false;
        for (double reach = std::max(step, 0.01); reach > 1e-6 && !left; reach /= 2) {
          Rest trial = at;
          move(trial, away, reach);
          if (!correct(trial, away).ok) continue;
          left = true;
          length += reach;
          rest = trial;
          d = direction_at(rest, &away);
          negative = solver_.tangent_.negative();
          step = std::min(step, reach);
          note(rest, PathPoint::Kind::regular, negative);
        }
        if (left) continue;
      }
    }

    // The wanted load lies within this step: land on it.
    if (!options_.pass_end && (rest.factor - options_.end) * (next.factor - options_.end) <= 0 &&
        sign * (next.factor - rest.factor) > 0) {
      Rest landed = next;
      landed.factor = options_.end;
      StaticReport ignored;
      if (solver_.newton(landed, options_.statics, ignored)) {
        rest = landed;
        solver_.evaluate(rest, true);
        length += step;
        note(rest, PathPoint::Kind::regular, solver_.tangent_.negative());
        report.reached = true;
        return report;
      }
    }
    rest = next;
    d = after;
    negative = now;
    length += step;
    note(rest, PathPoint::Kind::regular, negative);
    if (rest.factor < options_.least || rest.factor > options_.most || length > options_.length) {
      report.message = fmt::format("left the asked range at {:.6g} of the load", rest.factor);
      report.reached = options_.pass_end;
      return report;
    }
    if (c.iterations <= 3) step = std::min(step * 1.5, options_.largest_step);
    if (c.iterations >= 7) step *= 0.6;
  }
  report.message =
      fmt::format("stopped after {} points at {:.6g} of the load", report.points.size(), rest.factor);
  report.reached = options_.pass_end;
  return report;
}

PathReport follow(Solver& solver, Rest& rest, const PathOptions& options, const PathObserver& observer) {
  return PathFollower(solver, options).run(rest, observer);
}

std::vector<Vec3> weakest_direction(Solver& solver, const Rest& rest) {
  // Inverse iteration on the tangent at rest; a few rounds are plenty near a null direction.
  solver.evaluate(rest, true);
  const Structure& s = solver.structure();
  const int n = s.links.count();
  std::vector<Vec3> v(static_cast<std::size_t>(n)), t;
  std::vector<double> gap(rest.lambda.size(), 0.0), dlambda;
  for (int k = 0; k < n; ++k) v[k] = Vec3(1, 0.7 + 0.1 * (k % 7), -0.4 + 0.1 * (k % 5));
  for (int i = 0; i < 8; ++i) {
    t = v;
    for (int k = 0; k < n; ++k) {
      if (!s.links.active[k]) t[k].setZero();
      if (s.links.hinge[k]) t[k] = solver.balance().in.axis[k] * solver.balance().in.axis[k].dot(t[k]);
    }
    solver.tangent().solve(s, solver.balance(), t, gap, v, dlambda);
    double sum = 0;
    for (const Vec3& x : v) sum += x.squaredNorm();
    const double scale = 1 / std::sqrt(std::max(sum, 1e-300));
    for (Vec3& x : v) x *= scale;
  }
  for (int k = 0; k < n; ++k) v[k] = solver.balance().R[k].transpose() * v[k];
  return v;
}

int most_turned(Solver& solver, const Rest& rest) {
  const std::vector<Vec3> v = weakest_direction(solver, rest);
  int most = 0;
  for (int k = 1; k < static_cast<int>(v.size()); ++k)
    if (v[k].norm() > v[most].norm()) most = k;
  return most;
}

}  // namespace limber::chain
