#include "limber/contact/primal_cone.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

namespace limber::contact {
namespace {

constexpr double stiff = 1e4;        // ρ over a contact's own mobility
constexpr int most_stalled = 5;      // updates that gain little
constexpr int most_rounds = 30;      // of Newton's method between two updates
constexpr double rounding = 1e-12;   // of the largest force
constexpr double compliant = 1e-10;  // of the mean answer, added where a body is held in some direction

// P' of the projection at v onto the cone of μ, symmetric; P = P(v).
Mat3 projection_rate(double mu, const Vec3& v, const Vec3& P) {
  const double t = v.tail<2>().norm();
  if (v[0] >= 0 && t <= mu * v[0]) return Mat3::Identity();
  Mat3 D = Mat3::Zero();
  if (!(mu * t > -v[0])) return D;
  const double k = 1 / (1 + mu * mu);
  D(0, 0) = k;
  if (!(t > 0)) return D;
  const Vec2 d = v.tail<2>() / t;
  const double turn = P[0] * mu / t;
  D.block<1, 2>(0, 1) = k * mu * d.transpose();
  D.block<2, 1>(1, 0) = k * mu * d;
  D.block<2, 2>(1, 1) =
      k * mu * mu * d * d.transpose() + turn * (Eigen::Matrix2d::Identity() - d * d.transpose());
  return D;
}

}  // namespace

void PrimalCone::begin(int bodies) {
  bodies_ = bodies;
  parts_.clear();
  contacts_.clear();
  analysed_ = false;
}

void PrimalCone::add_part(int first, int count, const Mat6* Y, double scale) {
  const int n = 6 * count;
  MatX answer(n, n);
  for (int i = 0; i < count; ++i)
    for (int k = 0; k < count; ++k)
      answer.block<6, 6>(6 * i, 6 * k) = scale * Y[static_cast<std::size_t>(i) * count + k];
  // Turns and shifts are evened out before a little is added to both.
  VecX d(n);
  for (int i = 0; i < n; i += 3) d.segment<3>(i).setConstant(answer.diagonal().segment<3>(i).mean());
  for (int i = 0; i < n; ++i) d[i] = d[i] > 0 ? std::sqrt(d[i]) : 1;
  MatX even =
      d.cwiseInverse().asDiagonal() * (0.5 * (answer + answer.transpose())) * d.cwiseInverse().asDiagonal();
  even.diagonal().array() += compliant;
  Part part{first, count, even.ldlt().solve(MatX::Identity(n, n))};
  part.A = d.cwiseInverse().asDiagonal() * (0.5 * (part.A + part.A.transpose())).eval() *
           d.cwiseInverse().asDiagonal();
  parts_.push_back(std::move(part));
}

void PrimalCone::motions(const VecX& x) {
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    const MovedContact& m = contacts_[c];
    Vec3 u(problem_->free[4 * c], problem_->free[4 * c + 1], problem_->free[4 * c + 2]);
    if (m.a >= 0) u += m.G_a * x.segment<6>(6 * m.a);
    if (m.b >= 0) u += m.G_b * x.segment<6>(6 * m.b);
    u_[c] = u;
  }
}

// g = A x − Jᵀλ, λ = P_K(λ̂ − ρ(u + s)) into trial_.
void PrimalCone::gradient(const VecX& x) {
  motions(x);
  for (const Part& p : parts_)
    g_.segment(6 * p.first, 6 * p.count) = p.A * x.segment(6 * p.first, 6 * p.count);
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    const MovedContact& m = contacts_[c];
    trial_[c] = hat_[c] - rho_[c] * (u_[c] + shift_[c]);
    project_on_cone(problem_->friction[c], trial_[c].data());
    if (m.a >= 0) g_.segment<6>(6 * m.a) -= m.G_a.transpose() * trial_[c];
    if (m.b >= 0) g_.segment<6>(6 * m.b) -= m.G_b.transpose() * trial_[c];
  }
}

bool PrimalCone::newton_step() {
  entries_.clear();
  const auto put = [&](int row, int column, const Mat6& block) {
    for (int i = 0; i < 6; ++i)
      for (int k = 0; k < 6; ++k)
        if (6 * row + i >= 6 * column + k) entries_.emplace_back(6 * row + i, 6 * column + k, block(i, k));
  };
  for (const Part& p : parts_)
    for (int i = 0; i < p.count; ++i)
      for (int k = 0; k <= i; ++k) put(p.first + i, p.first + k, p.A.block<6, 6>(6 * i, 6 * k));
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    const MovedContact& m = contacts_[c];
    const Vec3 v = hat_[c] - rho_[c] * (u_[c] + shift_[c]);
    const Mat3 D = rho_[c] * projection_rate(problem_->friction[c], v, trial_[c]);
    if (m.a >= 0) put(m.a, m.a, m.G_a.transpose() * D * m.G_a);
    if (m.b >= 0) put(m.b, m.b, m.G_b.transpose() * D * m.G_b);
    if (m.a < 0 || m.b < 0) continue;
    if (m.a > m.b)
      put(m.a, m.b, m.G_a.transpose() * D * m.G_b);
    else
      put(m.b, m.a, m.G_b.transpose() * D * m.G_a);
  }
  H_.resize(6 * bodies_, 6 * bodies_);
  H_.setFromTriplets(entries_.begin(), entries_.end());
  if (!analysed_) factor_.analyzePattern(H_);
  analysed_ = true;
  factor_.factorize(H_);
  if (factor_.info() != Eigen::Success) return false;
  step_ = factor_.solve(g_);
  return step_.allFinite();
}

// To where the slope along the step, which only rises, has gone to a small part of what it was.
void PrimalCone::go_along() {
  const double slope = g_.dot(step_);
  double low = 0, high = 1, t = 1;
  for (int round = 0; round < 12; ++round) {
    next_ = x_ - t * step_;
    gradient(next_);
    const double there = g_.dot(step_);  // positive: further down
    if (std::abs(there) <= 0.3 * slope || (there > 0 && high == 1 && t == 1)) break;
    (there > 0 ? low : high) = t;
    t = 0.5 * (low + high);
  }
  x_ = next_;
}

FrictionReport PrimalCone::solve(const ConeProblem& p, double tolerance, int max_iterations, double* lambda) {
  problem_ = &p;
  const std::size_t n = contacts_.size();
  rho_.resize(n);
  for (auto* list : {&hat_, &shift_, &u_, &trial_}) list->assign(n, Vec3::Zero());
  for (std::size_t c = 0; c < n; ++c) {
    const double* d = p.W->values.data() + 16 * static_cast<std::size_t>(p.W->diagonal[c]);
    const double w = (d[0] + d[5] + d[10]) / 3;
    rho_[c] = w > 0 ? stiff / w : 0;
    hat_[c] = Vec3(lambda[4 * c], lambda[4 * c + 1], lambda[4 * c + 2]);
    project_on_cone(p.friction[c], hat_[c].data());
  }
  // Where the first guess would move them.
  g_ = VecX::Zero(6 * bodies_);
  x_ = VecX::Zero(6 * bodies_);
  for (std::size_t c = 0; c < n; ++c) {
    const MovedContact& m = contacts_[c];
    if (m.a >= 0) g_.segment<6>(6 * m.a) += m.G_a.transpose() * hat_[c];
    if (m.b >= 0) g_.segment<6>(6 * m.b) += m.G_b.transpose() * hat_[c];
  }
  for (const Part& part : parts_) {
    const auto f = g_.segment(6 * part.first, 6 * part.count);
    x_.segment(6 * part.first, 6 * part.count) = part.A.ldlt().solve(f);
  }
  FrictionReport report, best;
  best.residual = std::numeric_limits<double>::infinity();
  std::vector<Vec3> kept = hat_;
  const auto judge = [&] {
    for (std::size_t c = 0; c < n; ++c)
      for (int i = 0; i < 3; ++i) lambda[4 * c + i] = hat_[c][i];
    FrictionReport now;
    measure(p, lambda, now);
    if (now.residual < best.residual) best = now, kept = hat_;
    return now.residual;
  };
  judge();
  int stalled = 0;
  while (best.residual > tolerance && report.iterations < max_iterations && stalled < most_stalled) {
    motions(x_);
    for (std::size_t c = 0; c < n; ++c) shift_[c][0] = p.friction[c] * u_[c].tail<2>().norm();
    gradient(x_);
    double largest = 0;
    for (const Vec3& f : hat_) largest = std::max(largest, f.norm());
    const double first = g_.norm();
    bool solved = false;
    for (int round = 0; round < most_rounds && report.iterations < max_iterations && !solved; ++round) {
      ++report.iterations;
      if (!newton_step()) break;
      go_along();
      solved = g_.norm() <= std::max(1e-3 * first, rounding * largest);
    }
    const double before = best.residual;
    for (std::size_t c = 0; c < n; ++c) hat_[c] = trial_[c];
    judge();
    stalled = best.residual < 0.7 * before ? 0 : stalled + 1;
  }
  for (std::size_t c = 0; c < n; ++c)
    for (int i = 0; i < 3; ++i) lambda[4 * c + i] = kept[c][i];
  best.iterations = report.iterations;
  best.converged = best.residual <= tolerance;
  return best;
}

}  // namespace limber::contact
