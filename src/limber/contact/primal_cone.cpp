#include "limber/contact/primal_cone.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace limber::contact {
namespace {

constexpr double stiff = 1e4;       // ρ over a contact's own mobility
constexpr double soft = 1e2;        // … from far off, where a stiff one makes Newton's steps short
constexpr double worth = 0.3;       // of the slip's error: smaller ones of forces can wait
constexpr double stiffest = 1e7;    // … where updates gain little: more would cost the digits of the factor
constexpr double close_by = 1e-3;   // residual
constexpr int most_stalled = 5;     // updates that gain little
constexpr double dependent = 1e-7;  // a column that keeps less of itself tells nothing new
constexpr int most_rounds = 30;     // of Newton's method between two updates
constexpr double rounding = 1e-12;  // of the largest force

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

void ManyContacts::clear() {
  first.assign(1, 0);
  free.clear(), friction.clear(), mobility.clear(), moved.clear();
}

// What λ̂ is worth, `moved` being what it moves: the residual of friction.h. The best is kept in lambda.
void PrimalCone::judge(int island, const std::vector<Vec3>& moved, double tolerance,
                       std::vector<Vec3>& lambda) {
  const ManyContacts& p = *problem_;
  FrictionReport now;
  ContactMeasure all;
  for (int c = p.first[island]; c < p.first[island + 1]; ++c) {
    const Vec3 u = p.free[c] + moved[c];
    all.add(p.friction[c], p.mobility[c], p.free[c].data(), u.data(), hat_[c].data());
  }
  all.tell(now);
  FrictionReport& best = reports_[island];
  Island& state = islands_[island];
  state.stalled = now.residual < 0.7 * best.residual ? 0 : state.stalled + 1;
  if (now.residual < best.residual) {
    now.iterations = best.iterations;
    best = now;
    std::copy(hat_.begin() + p.first[island], hat_.begin() + p.first[island + 1],
              lambda.begin() + p.first[island]);
  }
  // An update leaves 1/(1 + ρW) of an error: some motion has a W far below the mobilities. Far from a
  // solution, or where the slip is further off than the forces, that is not what holds updates up, and
  // stiffer ones only make Newton's way longer.
  if (state.stalled > 0 && best.residual < close_by && state.force_off > state.slip_off)
    for (int c = p.first[island]; c < p.first[island + 1]; ++c)
      if (p.mobility[c] > 0) rho_[c] = std::min(10 * rho_[c], stiffest / p.mobility[c]);
  state.done = best.residual <= tolerance || state.stalled >= most_stalled;
}

// λ at u.
void PrimalCone::forces_at(int island, double t) {
  const ManyContacts& p = *problem_;
  for (int c = p.first[island]; c < p.first[island + 1]; ++c) {
    if (t > 0) u_[c] = from_u_[c] - t * step_u_[c], p_[c] = (1 - t) * from_p_[c] + t * step_p_[c];
    trial_[c] = hat_[c] - rho_[c] * (u_[c] + shift_[c]);
    project_on_cone(p.friction[c], trial_[c].data());
  }
}

double PrimalCone::miss(int island) const {
  double largest = 0;
  for (int c = problem_->first[island]; c < problem_->first[island + 1]; ++c)
    largest = std::max(largest, (p_[c] - trial_[c]).cwiseAbs().maxCoeff());
  return largest;
}

double PrimalCone::dot(int island, const std::vector<double>& a, const std::vector<double>& b) const {
  double sum = 0;
  for (int c = problem_->first[island]; c < problem_->first[island + 1]; ++c) sum += a[c] * b[c];
  return sum;
}

// s of the next update: the fixed point of s ← g(s) = μ|u_t(s)|, by Anderson's acceleration (Walker, Ni
// 2011) of the updates that were solved: s = g − ΔG θ with |g − s − ΔF θ| least, by ΔF = Q R.
void PrimalCone::next_shift(int island) {
  const ManyContacts& p = *problem_;
  Island& state = islands_[island];
  const auto each = [&](auto f) {
    for (int c = p.first[island]; c < p.first[island + 1]; ++c) f(c);
  };
  const bool known = state.known;
  if (known) state.newest = (state.newest + 1) % depth, state.columns = std::min(state.columns + 1, depth);
  const int newest = state.newest;
  each([&](int c) {
    const double g = p.friction[c] * u_[c].tail<2>().norm(), off = g - shift_[c][0];
    if (known) dF_[newest][c] = off - off_[c], dG_[newest][c] = g - slip_[c];
    off_[c] = left_[c] = off, slip_[c] = g, shift_[c][0] = g;
  });
  double R[depth][depth], theta[depth];
  int used = 0, column[depth];
  for (int k = 0; k < state.columns; ++k) {
    column[used] = (newest - k + depth) % depth;
    std::vector<double>& q = Q_[used];
    each([&](int c) { q[c] = dF_[column[used]][c]; });
    const double before = std::sqrt(dot(island, q, q));
    for (int j = 0; j < used; ++j) {
      R[j][used] = dot(island, Q_[j], q);
      each([&](int c) { q[c] -= R[j][used] * Q_[j][c]; });
    }
    const double after = R[used][used] = std::sqrt(dot(island, q, q));
    if (!(after > dependent * before)) continue;
    each([&](int c) { q[c] /= after; });
    theta[used] = dot(island, q, left_);
    each([&](int c) { left_[c] -= theta[used] * q[c]; });
    ++used;
  }
  for (int k = used - 1; k >= 0; --k) {
    for (int j = k + 1; j < used; ++j) theta[k] -= R[k][j] * theta[j];
    theta[k] /= R[k][k];
    each([&](int c) { shift_[c][0] -= theta[k] * dG_[column[k]][c]; });
  }
  each([&](int c) { shift_[c][0] = std::max(shift_[c][0], 0.0); });
}

// Goes on with a new λ̂ from the iterate at hand.
void PrimalCone::begin_update(int island) {
  next_shift(island);
  forces_at(island, 0);
  islands_[island].first = miss(island);
  islands_[island].round = 0;
}

// Where a whole step leads: step_u_, step_p_.
bool PrimalCone::newton_step(ContactAnswer& answer) {
  const ManyContacts& p = *problem_;
  for (std::size_t i = 0; i < islands_.size(); ++i)
    for (int c = p.first[i]; c < p.first[i + 1]; ++c) {
      const Vec3 v = hat_[c] - rho_[c] * (u_[c] + shift_[c]);
      K_[c] = islands_[i].done ? Mat3(Mat3::Zero())
                               : Mat3(rho_[c] * projection_rate(p.friction[c], v, trial_[c]));
      step_p_[c] = islands_[i].done ? Vec3(Vec3::Zero()) : Vec3(p_[c] - trial_[c]);
    }
  if (!answer.stiffen(K_)) return false;
  answer.move_stiff(step_p_, step_u_);
  for (std::size_t c = 0; c < K_.size(); ++c) {
    if (!step_u_[c].allFinite()) return false;
    step_p_[c] = trial_[c] + K_[c] * step_u_[c];
  }
  return true;
}

double PrimalCone::slope_at(int island, double t) {
  forces_at(island, t);
  double slope = 0;
  for (int c = problem_->first[island]; c < problem_->first[island + 1]; ++c)
    slope += (p_[c] - trial_[c]).dot(step_u_[c]);
  return slope;
}

// To where the slope along the step, which only rises, has gone to a small part of what it was.
void PrimalCone::go_along(int island) {
  const ManyContacts& p = *problem_;
  for (int c = p.first[island]; c < p.first[island + 1]; ++c) from_u_[c] = u_[c], from_p_[c] = p_[c];
  const double slope = slope_at(island, 0);
  double low = 0, high = 1, t = 1;
  for (int round = 0; round < 12; ++round) {
    const double there = slope_at(island, t);  // positive: further down
    if (std::abs(there) <= 0.3 * slope || (there > 0 && high == 1 && t == 1)) break;
    (there > 0 ? low : high) = t;
    t = 0.5 * (low + high);
  }
}

// λ̂ of the next update, and how far the last was off; if it was solved it tells the slip of its s.
void PrimalCone::take_forces(int island, bool solved) {
  const ManyContacts& p = *problem_;
  Island& state = islands_[island];
  state.force_off = state.slip_off = 0;
  for (int c = p.first[island]; c < p.first[island + 1]; ++c) {
    const double slip = p.friction[c] * u_[c].tail<2>().norm();
    state.slip_off = std::max(state.slip_off, std::abs(slip - shift_[c][0]));
    if (rho_[c] > 0)
      state.force_off = std::max(state.force_off, (trial_[c] - hat_[c]).cwiseAbs().maxCoeff() / rho_[c]);
    hat_[c] = trial_[c];
  }
  if (state.force_off > worth * state.slip_off)
    for (int c = p.first[island]; c < p.first[island + 1]; ++c)
      if (rho_[c] * p.mobility[c] < 0.5 * stiff) rho_[c] *= 10;
  state.known = solved && state.told;
  state.told = solved;
  if (!state.known) state.columns = 0;
}

const std::vector<FrictionReport>& PrimalCone::solve(const ManyContacts& p, ContactAnswer& answer,
                                                     double tolerance, int max_iterations,
                                                     std::vector<Vec3>& lambda) {
  problem_ = &p;
  const std::size_t n = p.free.size(), islands = p.first.size() - 1;
  rho_.resize(n), K_.resize(n);
  for (auto* list : {&shift_, &u_, &p_, &trial_, &step_u_, &step_p_, &from_u_, &from_p_, &moved_})
    list->assign(n, Vec3::Zero());
  for (auto* list : {&off_, &slip_, &left_}) list->assign(n, 0.0);
  for (auto* lists : {&dF_, &dG_, &Q_})
    for (auto& list : *lists) list.resize(n);
  bool known = !p.moved.empty();
  for (std::size_t c = 0; c < n; ++c) {
    rho_[c] = p.mobility[c] > 0 ? stiff / p.mobility[c] : 0;
    const Vec3 guess = lambda[c];
    project_on_cone(p.friction[c], lambda[c].data());
    known = known && guess == lambda[c];
  }
  hat_ = lambda;
  islands_.assign(islands, {});
  reports_.assign(islands, {});
  for (FrictionReport& r : reports_) r.residual = std::numeric_limits<double>::infinity();
  if (known)
    moved_ = p.moved;
  else
    answer.move(hat_, moved_);
  p_ = hat_;
  for (std::size_t c = 0; c < n; ++c) u_[c] = p.free[c] + moved_[c];
  for (std::size_t i = 0; i < islands; ++i) {
    judge(static_cast<int>(i), moved_, tolerance, lambda);
    if (islands_[i].done) continue;
    if (reports_[i].residual > close_by)
      for (int c = p.first[i]; c < p.first[i + 1]; ++c) rho_[c] *= soft / stiff;
    begin_update(static_cast<int>(i));
  }
  const auto open = [&] {
    return std::any_of(islands_.begin(), islands_.end(), [](const Island& i) { return !i.done; });
  };
  for (int round = 0; round < max_iterations && open(); ++round) {
    if (!newton_step(answer)) break;
    bool any = false;
    for (std::size_t i = 0; i < islands; ++i) {
      Island& island = islands_[i];
      island.updates = false;
      if (island.done) continue;
      ++reports_[i].iterations;
      go_along(static_cast<int>(i));
      double largest = 0;
      for (int c = p.first[i]; c < p.first[i + 1]; ++c)
        largest = std::max(largest, hat_[c].cwiseAbs().maxCoeff());
      const bool solved = miss(static_cast<int>(i)) <= std::max(1e-3 * island.first, rounding * largest);
      if (!solved && ++island.round < most_rounds && round + 1 < max_iterations) continue;
      take_forces(static_cast<int>(i), solved);
      island.updates = any = true;
    }
    if (!any) continue;
    answer.move(hat_, moved_);
    for (std::size_t i = 0; i < islands; ++i) {
      if (!islands_[i].updates) continue;
      judge(static_cast<int>(i), moved_, tolerance, lambda);
      if (!islands_[i].done) begin_update(static_cast<int>(i));
    }
  }
  for (FrictionReport& r : reports_) r.converged = r.residual <= tolerance;
  return reports_;
}

}  // namespace limber::contact
