#include "limber/contact/sparse_cone.h"

#include <algorithm>
#include <cmath>

namespace limber::contact {
namespace {

// Sweeps before a step of Newton's method, which costs as much as so many more where contacts are many.
constexpr int sweeps_between = 3, contacts_a_sweep = 8;
// Of a contact's own motion, its compliance in a step: less after a step that came closer, more after one
// that did not. The least makes contacts that say the same agree.
constexpr double first_soft = 1e-4, least_soft = 1e-8, most_soft = 1, softer_after = 0.03, stiffer_after = 10;
constexpr double most_worse = 1.5;  // after a step that is kept
// What is hard to find may be off by more, tenfold a sweep: most of it is slip that changes in the
// next step anyway. At rest a first guess is near, and the tolerance itself is met.
constexpr double most_leave = 1e5;

Mat3 block_of(const ContactMatrix& W, int e) {
  const double* v = W.values.data() + 16 * static_cast<std::size_t>(e);
  Mat3 out;
  out << v[0], v[4], v[8], v[1], v[5], v[9], v[2], v[6], v[10];
  return out;
}

double tenfold(int times) {
  double out = 1;
  while (times-- > 0 && out < most_leave) out *= 10;
  return out;
}

}  // namespace

// Newton's method on the guess. What sticks has no gap and no slip, what slides no gap and a force against
// its slip, what is open no force. With e along a force that slides its change is a (1, μe) + τ (0, e⊥);
// turned by τ/(μλ_n) it is along the slip where e⊥·u_t + |u_t| τ/(μλ_n) = 0.
void SparseCone::classify(const ConeProblem& p, const double* lambda) {
  const auto n = static_cast<std::size_t>(p.contacts);
  taken_.assign(n, 0);
  basis_.resize(n), rows_.resize(n);
  for (int c = 0; c < p.contacts; ++c) {
    const double* x = lambda + 4 * c;
    if (!(x[0] > 0)) continue;
    const double t2 = x[1] * x[1] + x[2] * x[2], limit = p.friction[c] * x[0];
    const bool slides = t2 >= 0.9999 * limit * limit;
    taken_[c] = slides ? 2 : 1;
    basis_[c].setIdentity(), rows_[c].setIdentity();
    if (!slides) continue;
    basis_[c].setZero(), rows_[c].setZero();
    basis_[c].col(0) = Vec3(1, x[1] / x[0], x[2] / x[0]);
    rows_[c](0, 0) = 1;
    if (!(t2 > 0)) continue;
    const double t = std::sqrt(t2);
    rows_[c].row(1) = Eigen::RowVector3d(0, -x[2] / t, x[1] / t);
    basis_[c].col(1) = rows_[c].row(1).transpose();
  }
}

bool SparseCone::step(const ConeProblem& p, double* lambda) {
  const ContactMatrix& W = *p.W;
  classify(p, lambda);
  envelope_.start(W, taken_);
  if (envelope_.rows() == 0) return false;
  rhs_.assign(4 * static_cast<std::size_t>(envelope_.rows()), 0.0);
  for (int row = 0; row < envelope_.rows(); ++row) {
    const int c = envelope_.contact(row);
    for (int e = W.start[c]; e < W.start[c + 1]; ++e) {
      const int b = W.columns[e], column = envelope_.row(b);
      if (column < 0) continue;
      Mat3 block = rows_[c].lazyProduct((block_of(W, e).lazyProduct(basis_[b])).eval());
      if (b == c) soften(p, c, lambda, block);
      envelope_.set_block(row, column, block);
    }
    double u[4];
    contact_motion(p, c, lambda, u);
    const Vec3 left = rows_[c] * Vec3(u[0], u[1], u[2]);
    for (int i = 0; i < 3; ++i) rhs_[4 * static_cast<std::size_t>(row) + i] = -left[i];
  }
  if (!envelope_.factor()) return false;
  envelope_.solve(rhs_.data());
  for (int row = 0; row < envelope_.rows(); ++row) {
    const int c = envelope_.contact(row);
    double* x = lambda + 4 * c;
    const Vec3 change =
        basis_[c] * Eigen::Map<const Vec3>(rhs_.data() + 4 * static_cast<std::ptrdiff_t>(row));
    for (int i = 0; i < 3; ++i) x[i] += change[i];
    x[0] = std::max(0.0, x[0]);
    const double size = std::sqrt(x[1] * x[1] + x[2] * x[2]), limit = p.friction[c] * x[0];
    const double to = size > limit || (taken_[c] == 2 && size > 0) ? limit / size : 1;
    x[1] *= to, x[2] *= to;
  }
  return true;
}

// A contact's own block: a little of its own motion, so that contacts that say the same agree; how a force
// that slides turns; and what has no equation.
void SparseCone::soften(const ConeProblem& p, int c, const double* lambda, Mat3& block) const {
  const double* d = p.W->values.data() + 16 * static_cast<std::size_t>(p.W->diagonal[c]);
  for (int i = 0; i < 3; ++i) block(i, i) += soft_ * d[5 * i];
  if (taken_[c] != 2) return;
  block(2, 2) = 1;
  const double* x = lambda + 4 * c;
  const double t2 = x[1] * x[1] + x[2] * x[2];
  if (!(t2 > 0)) {
    block(1, 1) = 1;
    return;
  }
  double u[4];
  contact_motion(p, c, lambda, u);
  block(1, 1) += std::max(0.0, -(u[1] * x[1] + u[2] * x[2]) / t2);
}

ConeReport SparseCone::solve(const ConeProblem& p, double tolerance, int max_sweeps, double* lambda) {
  ConeReport report;
  const auto size = 4 * static_cast<std::size_t>(p.contacts);
  bool ordered = false;
  const int between = sweeps_between + p.contacts / contacts_a_sweep;
  soft_ = first_soft;
  const auto done = [&] { return report.change <= tolerance * std::min(most_leave, tenfold(report.sweeps)); };
  const auto swept = [&] {
    ++report.sweeps;
    report.change = sweep_contacts(p, lambda);
    return done();
  };
  while (report.sweeps < max_sweeps) {
    for (int k = 0; k < between; ++k)
      if (swept()) return report;
    if (!ordered) envelope_.find_order(*p.W);
    ordered = true;
    best_.assign(lambda, lambda + size);
    const double best = report.change;
    ++report.solves;
    const bool stepped = step(p, lambda);
    if (stepped && swept()) return report;
    if (stepped && report.change < most_worse * best) {
      soft_ = std::max(least_soft, softer_after * soft_);
      continue;
    }
    std::copy(best_.begin(), best_.end(), lambda);
    report.change = best;
    soft_ = std::min(most_soft, stiffer_after * soft_);
  }
  return report;
}

}  // namespace limber::contact
