#include "limber/chain/path_walker.h"

#include <algorithm>
#include <cmath>

#include "limber/math/dense.h"
#include "limber/math/so3.h"
#include "limber/math/stop.h"

namespace limber::chain {
namespace {

constexpr double on_the_path = 1e-8;  // residual of points on the way, of the largest moment
constexpr double turn_at_most = 0.7;  // [rad] of a joint in one correction
constexpr int most_corrections = 12;

double dot(const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i].dot(b[i]);
  return sum;
}

}  // namespace

void Direction::scale(double a) {
  for (Vec3& v : turn) v *= a;
  for (double& v : lambda) v *= a;
  factor *= a;
}

void Direction::add(double a, const Direction& other) {
  for (std::size_t k = 0; k < turn.size(); ++k) turn[k] += a * other.turn[k];
  for (std::size_t k = 0; k < lambda.size(); ++k) lambda[k] += a * other.lambda[k];
  factor += a * other.factor;
}

PathWalker::PathWalker(Solver& solver, const PathOptions& options)
    : solver_(solver), s_(solver.structure()), options_(options), weight_(s_.links.count()) {}

double PathWalker::inner(const Direction& a, const Direction& b) const {
  return weight_ * dot(a.turn, b.turn) + a.factor * b.factor;
}

double PathWalker::distance(const Rest& a, const Rest& b) const {
  const auto squared = [](double x) { return x * x; };
  double sum = 0;
  for (int k = 0; k < s_.links.count(); ++k)
    sum += s_.links.hinge[k] ? squared(a.shape.theta[k].z() - b.shape.theta[k].z())
                             : 4 * math::multiply(a.shape.q[k].conjugate(), b.shape.q[k]).vec().squaredNorm();
  return std::sqrt(weight_ * sum + squared(a.factor - b.factor));
}

void PathWalker::to_body(std::vector<Vec3>& v) const {
  for (int k = 0; k < s_.links.count(); ++k) v[k] = solver_.now_.R[k].transpose() * v[k];
}

// The unit direction of the path at the equilibrium that the solver stands at, with its tangent factored: the
// way `last` goes, or, without, the way of the load.
void PathWalker::describe(Waypoint& at, const Direction* last, double way) {
  Direction& d = at.d;
  const double give = load_rate(s_, at.rest.factor, solver_.now_, t_, shift_);
  const std::vector<double> rate = solver_.ties_.gap_rate(shift_);
  solver_.tangent_.solve(s_, t_, rate, d.turn, d.lambda);
  double work = give + dot(t_, d.turn);
  for (std::size_t i = 0; i < d.lambda.size(); ++i) work -= rate[i] * d.lambda[i];
  const bool led = std::ranges::all_of(t_, [](const Vec3& t) { return t.isZero(0); }) &&
                   std::ranges::any_of(rate, [](double g) { return g != 0; });
  if (led) work = 1;  // the way of supports, which is held
  at.negative = solver_.tangent_.symmetric() ? solver_.tangent_.negative() : 0;
  at.held = at.negative - (at.negative > 0 && work < 0 ? 1 : 0);
  to_body(d.turn);
  d.factor = 1;
  double scale = 1 / std::sqrt(inner(d, d));
  if (last ? inner(d, *last) < 0 : way < 0) scale = -scale;
  for (Vec3& v : d.turn) v *= scale;
  for (double& v : d.lambda) v *= scale;
  d.factor *= scale;
  d.work = work * scale;
}

Waypoint PathWalker::start(const Rest& rest, double way) {
  Waypoint out;
  out.rest = rest;
  solver_.evaluate(rest, true);
  describe(out, nullptr, way);
  out.ok = true;
  return out;
}

bool PathWalker::correct(Rest& rest, const Direction& d, Waypoint& out) {
  const int n = s_.links.count();
  off_.assign(static_cast<std::size_t>(n), Vec3::Zero());
  t_.resize(static_cast<std::size_t>(n));
  double off_factor = 0, last = 1e300;
  const double tolerance =
      exact_ ? options_.statics.tolerance : std::max(options_.statics.tolerance, on_the_path);
  for (out.iterations = 0; out.iterations < most_corrections; ++out.iterations) {
    stop_if_requested();
    solver_.evaluate(rest, true);
    ++iterations_;
    const bool still = last < 1e-11 && solver_.residual_ < 1e-6;
    if ((solver_.residual_ <= tolerance || still) && solver_.gap_size_ <= 1e-11) {
      out.offset = std::sqrt(weight_ * dot(off_, off_) + off_factor * off_factor);
      return true;
    }
    if (!std::isfinite(solver_.residual_)) return false;
    for (int k = 0; k < n; ++k) t_[k] = -solver_.now_.r[k];
    solver_.tangent_.solve(s_, t_, solver_.ties_.gap(), back_, back_lambda_);
    load_rate(s_, rest.factor, solver_.now_, t_, shift_);
    solver_.tangent_.solve(s_, t_, solver_.ties_.gap_rate(shift_), along_, along_lambda_);
    to_body(back_), to_body(along_);
    const double below = weight_ * dot(d.turn, along_) + d.factor;
    const double df = -weight_ * dot(d.turn, back_) / below;
    if (!std::isfinite(df)) return false;
    double most = 0;
    for (int k = 0; k < n; ++k) {
      back_[k] += df * along_[k];
      off_[k] += back_[k];
      most = std::max(most, back_[k].cwiseAbs().maxCoeff());
    }
    if (most > turn_at_most) return false;
    last = most;
    off_factor += df;
    advance(s_.links, rest.shape, back_, 1);
    for (std::size_t i = 0; i < rest.lambda.size(); ++i)
      rest.lambda[i] += back_lambda_[i] + df * along_lambda_[i];
    rest.factor += df;
  }
  return false;
}

Waypoint PathWalker::step(const Rest& from, const Direction& d, double s) {
  Waypoint out;
  out.rest = from;
  out.s = s;
  advance(s_.links, out.rest.shape, d.turn, s);
  for (std::size_t i = 0; i < out.rest.lambda.size(); ++i) out.rest.lambda[i] += s * d.lambda[i];
  out.rest.factor += s * d.factor;
  if (!correct(out.rest, d, out)) return out;
  describe(out, &d, 1);
  out.ok = true;
  return out;
}

Waypoint PathWalker::land(const Waypoint& near, double factor) {
  Waypoint out;
  out.rest = near.rest;
  out.rest.factor = factor;
  StaticReport ignored;
  out.ok = solver_.newton(out.rest, options_.statics, ignored);
  if (!out.ok) return out;
  solver_.evaluate(out.rest, true);
  describe(out, &near.d, 1);
  return out;
}

double PathWalker::pivot_along(const Rest& rest, const Direction& b) {
  solver_.evaluate(rest, true);
  t_ = b.turn;
  for (int k = 0; k < s_.links.count(); ++k) t_[k] = solver_.now_.R[k] * b.turn[k];
  solver_.tangent_.solve(s_, t_, std::vector<double>(rest.lambda.size(), 0.0), back_, back_lambda_);
  return 1 / dot(t_, back_);
}

// Inverse iteration on a few directions at once; Rayleigh and Ritz on K⁻¹ at the end of each round.
PathWalker::Weak PathWalker::weakest(const Rest& rest, int count) {
  constexpr int rounds = 10;
  solver_.evaluate(rest, true);
  const int n = s_.links.count();
  const std::vector<double> gap(rest.lambda.size(), 0.0);
  const auto allowed = [&](std::vector<Vec3>& v) {
    for (int k = 0; k < n; ++k) {
      if (!s_.links.active[k]) v[k].setZero();
      if (s_.links.hinge[k]) v[k] = solver_.now_.in.axis[k] * solver_.now_.in.axis[k].dot(v[k]);
    }
  };
  const auto m = static_cast<std::size_t>(count);
  std::vector<std::vector<Vec3>> v(m, std::vector<Vec3>(static_cast<std::size_t>(n))), w(m);
  for (std::size_t j = 0; j < m; ++j) {
    const int a = static_cast<int>(j);
    for (int k = 0; k < n; ++k)
      v[j][k] = Vec3(1 - 0.3 * ((k + 2 * a) % (3 + a)), 0.7 + 0.1 * ((k * (a + 1)) % 7),
                     -0.4 + 0.1 * ((k + a) % (5 + a)));
    allowed(v[j]);
  }
  Weak out;
  for (int round = 0; round <= rounds; ++round) {
    for (std::size_t j = 0; j < m; ++j) {  // orthonormal
      for (int twice = 0; twice < 2; ++twice)
        for (std::size_t i = 0; i < j; ++i) {
          const double part = dot(v[i], v[j]);
          for (int k = 0; k < n; ++k) v[j][k] -= part * v[i][k];
        }
      const double scale = 1 / std::sqrt(std::max(dot(v[j], v[j]), 1e-300));
      for (Vec3& x : v[j]) x *= scale;
    }
    if (round == rounds) break;
    MatX H(count, count);
    for (std::size_t j = 0; j < m; ++j) {
      t_ = v[j];
      solver_.tangent_.solve(s_, t_, gap, w[j], back_lambda_);
      allowed(w[j]);
    }
    for (int i = 0; i < count; ++i)
      for (int j = 0; j < count; ++j) H(i, j) = dot(v[i], w[j]);
    const math::SymmetricEigen eigen = math::symmetric_eigen(0.5 * (H + H.transpose()));
    std::vector<int> order(m);
    for (int i = 0; i < count; ++i) order[i] = i;
    std::sort(order.begin(), order.end(),
              [&](int a, int b) { return std::abs(eigen.values[a]) > std::abs(eigen.values[b]); });
    out.stiffness.clear();
    for (std::size_t j = 0; j < m; ++j) {
      out.stiffness.push_back(1 / eigen.values[order[j]]);
      v[j].assign(static_cast<std::size_t>(n), Vec3::Zero());
      for (std::size_t i = 0; i < m; ++i)
        for (int k = 0; k < n; ++k) v[j][k] += eigen.vectors(static_cast<int>(i), order[j]) * w[i][k];
    }
  }
  for (auto& one : v) {
    to_body(one);
    out.directions.push_back({std::move(one), gap});
  }
  return out;
}

static int most_turned(const Direction& d) {
  int most = 0;
  for (int k = 1; k < static_cast<int>(d.turn.size()); ++k)
    if (d.turn[k].norm() > d.turn[most].norm()) most = k;
  return most;
}

const std::string& PathWalker::moves_most(const Direction& d) const {
  return s_.links.name[static_cast<std::size_t>(most_turned(d))];
}

std::vector<Vec3> weakest_direction(Solver& solver, const Rest& rest) {
  const PathOptions options;
  return PathWalker(solver, options).weakest(rest, 1).directions[0].turn;
}

int most_turned(Solver& solver, const Rest& rest) {
  const PathOptions options;
  return most_turned(PathWalker(solver, options).weakest(rest, 1).directions[0]);
}

}  // namespace limber::chain
