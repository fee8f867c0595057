#include "limber/elastic/exact_rod.h"

#include <cmath>

#include "limber/math/so3.h"

namespace limber::elastic {
namespace {

struct Section {  // of the rod at s
  Vec3 r, m;
  Mat3 R;
};

struct Rate {
  Vec3 r, m, kappa;
};

class Shooter {
 public:
  Shooter(const RodProblem& p, int points, int steps)
      : p_(p), points_(points), steps_((steps + points - 2) / (points - 1) * (points - 1)) {}

  // From the clamp with moment m0 to the tip; keeps the shape if asked to.
  Section shoot(const Vec3& m0, double load, RodShape* shape) const {
    Section at{p_.clamp.p, m0, p_.clamp.R};
    const double h = p_.length / steps_;
    const int every = steps_ / (points_ - 1);
    for (int i = 0; i < steps_; ++i) {
      if (shape && i % every == 0) keep(at, *shape);
      at = step(at, i * h, h, load);
    }
    if (shape) keep(at, *shape);
    return at;
  }

 private:
  static void keep(const Section& at, RodShape& shape) {
    shape.points.push_back(at.r);
    shape.axes.push_back(at.R);
  }

  Rate rate(const Section& at, double s, double load) const {
    const Vec3 t = at.R.col(0), n = load * (p_.tip_force + (p_.length - s) * p_.line_load);
    return {t, -t.cross(n), p_.curvature + (at.R.transpose() * at.m).cwiseQuotient(p_.stiffness)};
  }

  static Section moved(const Section& at, const Rate& k, double h) {
    return {at.r + h * k.r, at.m + h * k.m, at.R * math::so3_exp(h * k.kappa)};
  }

  // Runge–Kutta of fourth order on the group (Munthe-Kaas 1999): stages turn R by exp, the last sum has one
  // commutator.
  Section step(const Section& at, double s, double h, double load) const {
    const Rate k1 = rate(at, s, load);
    const Rate k2 = rate(moved(at, k1, h / 2), s + h / 2, load);
    Rate third = k2;
    third.kappa -= h / 4 * k2.kappa.cross(k1.kappa) / 2;
    const Rate k3 = rate(moved(at, third, h / 2), s + h / 2, load);
    const Rate k4 = rate(moved(at, k3, h), s + h, load);
    const Vec3 turn =
        h / 6 * (k1.kappa + 2 * (k2.kappa + k3.kappa) + k4.kappa) + h * h / 12 * k1.kappa.cross(k4.kappa);
    return {at.r + h / 6 * (k1.r + 2 * (k2.r + k3.r) + k4.r),
            at.m + h / 6 * (k1.m + 2 * (k2.m + k3.m) + k4.m), at.R * math::so3_exp(turn)};
  }

  const RodProblem& p_;
  int points_, steps_;
};

// m0 such that the tip carries its moment; false after too many iterations.
bool newton(const RodProblem& p, const Shooter& shooter, double load, Vec3& m0) {
  const double reach = p.length * (p.tip_force.norm() + p.length * p.line_load.norm()) + p.tip_moment.norm();
  const double scale = std::max(load * reach, 1e-300);
  const auto miss = [&](const Vec3& m) -> Vec3 {
    return shooter.shoot(m, load, nullptr).m - load * p.tip_moment;
  };
  for (int i = 0; i < 60; ++i) {
    const Vec3 f = miss(m0);
    if (!f.allFinite()) return false;
    if (f.norm() <= 1e-12 * scale) return true;
    Mat3 J;
    for (int k = 0; k < 3; ++k) {
      const Vec3 d = 1e-6 * scale * Vec3::Unit(k);
      J.col(k) = (miss(m0 + d) - miss(m0 - d)) / (2e-6 * scale);
    }
    Vec3 delta = J.inverse() * -f;
    if (!delta.allFinite()) return false;
    for (int cut = 0; cut < 8 && miss(m0 + delta).norm() > f.norm(); ++cut) delta /= 2;
    m0 += delta;
    if (delta.norm() <= 1e-14 * scale) return true;
  }
  return false;
}

// What the loads make of a moment at the clamp where the rod has this shape.
Vec3 moment_of(const RodProblem& p, const std::vector<Vec3>& line) {
  Vec3 m = p.tip_moment + (line.back() - line.front()).cross(p.tip_force);
  double length = 0;
  for (std::size_t i = 1; i < line.size(); ++i) length += (line[i] - line[i - 1]).norm();
  for (std::size_t i = 1; i < line.size(); ++i) {
    const double share = (line[i] - line[i - 1]).norm() / length;
    m += (0.5 * (line[i] + line[i - 1]) - line.front()).cross(share * p.length * p.line_load);
  }
  return m;
}

RodShape shape_of(const Shooter& shooter, const Vec3& m0) {
  RodShape shape;
  shape.root_moment = m0;
  shooter.shoot(m0, 1, &shape);
  return shape;
}

}  // namespace

std::optional<RodShape> solve_rod(const RodProblem& problem, int points, int steps) {
  const Shooter shooter(problem, points, steps);
  Vec3 m0 = Vec3::Zero();
  double load = 0, part = 1;
  while (load < 1) {
    Vec3 trial = m0;
    const double next = std::min(1.0, load + part);
    if (newton(problem, shooter, next, trial)) {
      m0 = trial;
      load = next;
      part *= 1.5;
    } else if ((part /= 4) < 1e-4) {
      return std::nullopt;
    }
  }
  return shape_of(shooter, m0);
}

std::optional<RodShape> solve_rod_near(const RodProblem& problem, const std::vector<Vec3>& line, int points,
                                       int steps) {
  const Shooter shooter(problem, points, steps);
  Vec3 m0 = moment_of(problem, line);
  if (!newton(problem, shooter, 1, m0)) return std::nullopt;
  return shape_of(shooter, m0);
}

}  // namespace limber::elastic
