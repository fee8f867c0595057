#include "limber/contact/interior_cone.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "limber/contact/lorentz.h"

namespace limber::contact {
namespace {

using lorentz::Scaling;

constexpr double frictionless = 1e-8;  // coefficients below it have no tangents
constexpr double most_of_the_way = 0.99;
constexpr int most_steps_stalled = 6;

bool slips_freely(double mu) { return !(mu > frictionless); }
// (λ_n, λ_t) and (ũ_n, ũ_t) as x and y, and back. w: the mobility, so that both are velocities.
Vec3 scaled_force(double mu, double w, const Vec3& f) { return Vec3(mu * f[0], f[1], f[2]) * w; }
Vec3 force_of(double mu, double w, const Vec3& x) { return Vec3(x[0] / mu, x[1], x[2]) / w; }
Vec3 scaled_velocity(double mu, const Vec3& u) { return {u[0] / mu, u[1], u[2]}; }
double cone(double mu) { return slips_freely(mu) ? 1 : mu; }

}  // namespace

void InteriorCone::start(int island, std::vector<Vec3>& lambda) {
  const ManyContacts& p = *problem_;
  double speed = 0;
  for (int c = p.first[island]; c < p.first[island + 1]; ++c)
    speed = std::max(speed, p.free[c].cwiseAbs().maxCoeff());
  Island& state = islands_[island];
  state.done = !(speed > 0);
  for (int c = p.first[island]; c < p.first[island + 1]; ++c) {
    x_[c] = y_[c] = Vec3(speed, 0, 0);
    if (state.done || !(p.mobility[c] > 0)) x_[c].setZero();
    now_[c] = p.mobility[c] > 0 ? force_of(cone(p.friction[c]), p.mobility[c], x_[c]) : Vec3(Vec3::Zero());
    if (state.done) lambda[c].setZero();
  }
}

// r and ν of the place at hand, and what it is worth; the best is kept in lambda.
void InteriorCone::judge(int island, double tolerance, std::vector<Vec3>& lambda) {
  const ManyContacts& p = *problem_;
  Island& state = islands_[island];
  ContactMeasure all;
  state.nu = state.off = 0;
  for (int c = p.first[island]; c < p.first[island + 1]; ++c) {
    const double mu = p.friction[c];
    const Vec3 u = p.free[c] + moved_[c];
    all.add(mu, p.mobility[c], p.free[c].data(), u.data(), now_[c].data());
    const Vec3 target =
        slips_freely(mu) ? Vec3(u[0], 0, 0) : scaled_velocity(mu, u + Vec3(mu * u.tail<2>().norm(), 0, 0));
    r_[c] = target - y_[c];
    state.off = std::max(state.off, r_[c].cwiseAbs().maxCoeff());
    state.nu += x_[c].dot(y_[c]);
  }
  state.nu /= p.first[island + 1] - p.first[island];
  FrictionReport found;
  all.tell(found);
  FrictionReport& best = reports_[island];
  ++state.stalled;
  if (found.residual < 0.9 * best.residual) state.stalled = 0;
  if (found.residual < best.residual) {
    found.iterations = best.iterations;
    best = found;
    std::copy(now_.begin() + p.first[island], now_.begin() + p.first[island + 1],
              lambda.begin() + p.first[island]);
  }
  state.done = best.residual <= tolerance || state.stalled >= most_steps_stalled;
}

void InteriorCone::set_scaling(int island) {
  const ManyContacts& p = *problem_;
  for (int c = p.first[island]; c < p.first[island + 1]; ++c) {
    K_[c].setZero();
    const double mu = cone(p.friction[c]), w = p.mobility[c];
    if (islands_[island].done || !(w > 0)) continue;
    if (slips_freely(p.friction[c])) {
      K_[c](0, 0) = x_[c][0] / y_[c][0] / w;
      continue;
    }
    double H[9];
    Scaling(x_[c].data(), y_[c].data()).square(H);
    const double by[3] = {1 / mu, 1, 1};
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) K_[c](i, k) = by[i] * by[k] * H[3 * i + k] / w;
  }
}

// a of the step: straight at the solution, or with the corrector of the step before and ν as it shall be.
void InteriorCone::aim(int island, bool corrector) {
  const ManyContacts& p = *problem_;
  const Island& state = islands_[island];
  for (int c = p.first[island]; c < p.first[island + 1]; ++c) {
    a_[c].setZero();
    const double mu = cone(p.friction[c]), w = p.mobility[c];
    if (state.done || !(w > 0)) continue;
    const double aimed =
        corrector ? std::max(state.sigma * state.nu, std::min(state.nu, state.off * state.off)) : 0;
    if (slips_freely(p.friction[c])) {
      const double second = corrector ? dx_[c][0] * dy_[c][0] : 0;
      a_[c][0] = ((aimed - second) / y_[c][0] - x_[c][0]) / w;
      continue;
    }
    const Scaling scaling(x_[c].data(), y_[c].data());
    double d[3] = {0, 0, 0};
    if (corrector) {
      double a[3], b[3], rhs[3];
      scaling.undo(dx_[c].data(), a);
      scaling.apply(dy_[c].data(), b);
      rhs[0] = aimed - (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
      for (int i = 1; i < 3; ++i) rhs[i] = -(a[0] * b[i] + b[0] * a[i]);
      lorentz::divide(scaling.lambda, rhs, d);
    }
    for (int i = 0; i < 3; ++i) d[i] -= scaling.lambda[i];
    Vec3 x;
    scaling.apply(d, x.data());
    a_[c] = force_of(mu, w, x);
  }
}

// Steps of λ, x and y for a_ and r_ at hand.
bool InteriorCone::solve_step(ContactAnswer& answer) {
  const ManyContacts& p = *problem_;
  const auto of_velocity = [&](std::size_t c, const Vec3& y) {  // a scaled one in m/s
    return slips_freely(p.friction[c]) ? y : Vec3(p.friction[c] * y[0], y[1], y[2]);
  };
  for (std::size_t c = 0; c < a_.size(); ++c) f_[c] = a_[c] - K_[c] * of_velocity(c, r_[c]);
  answer.move_stiff(f_, du_);
  for (std::size_t c = 0; c < a_.size(); ++c) {
    if (!du_[c].allFinite()) return false;
    const double mu = p.friction[c];
    const Vec3 change = du_[c] + of_velocity(c, r_[c]);
    dnow_[c] = a_[c] - K_[c] * change;
    if (slips_freely(mu)) {
      dx_[c] = Vec3(dnow_[c][0] * p.mobility[c], 0, 0);
      dy_[c] = Vec3(change[0], 0, 0);
    } else {
      dx_[c] = scaled_force(mu, p.mobility[c], dnow_[c]);
      dy_[c] = scaled_velocity(mu, change);
    }
  }
  return true;
}

double InteriorCone::reach(int island) const {
  const ManyContacts& p = *problem_;
  double t = 1;
  for (int c = p.first[island]; c < p.first[island + 1]; ++c) {
    if (!(p.mobility[c] > 0)) continue;
    t = std::min(t, lorentz::longest_step(x_[c].data(), dx_[c].data()));
    t = std::min(t, lorentz::longest_step(y_[c].data(), dy_[c].data()));
  }
  return t;
}

void InteriorCone::advance(int island, double t) {
  const ManyContacts& p = *problem_;
  for (int c = p.first[island]; c < p.first[island + 1]; ++c) {
    x_[c] += t * dx_[c];
    y_[c] += t * dy_[c];
    now_[c] += t * dnow_[c];
  }
}

const std::vector<FrictionReport>& InteriorCone::solve(const ManyContacts& p, ContactAnswer& answer,
                                                       const std::vector<char>& wanted, double tolerance,
                                                       int max_iterations, std::vector<Vec3>& lambda) {
  problem_ = &p;
  const std::size_t n = p.free.size(), islands = p.first.size() - 1;
  for (auto* list : {&x_, &y_, &dx_, &dy_, &moved_, &r_, &a_, &f_, &du_, &now_, &dnow_})
    list->assign(n, Vec3::Zero());
  K_.assign(n, Mat3::Zero());
  islands_.assign(islands, {});
  reports_.assign(islands, {});
  for (FrictionReport& r : reports_) r.residual = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < islands; ++i)
    if (wanted[i]) start(static_cast<int>(i), lambda);
  const auto open = [&] { return std::ranges::any_of(islands_, [](const Island& i) { return !i.done; }); };
  for (int round = 0; round <= max_iterations && open(); ++round) {
    answer.move(now_, moved_);
    for (std::size_t i = 0; i < islands; ++i)
      if (!islands_[i].done) judge(static_cast<int>(i), tolerance, lambda);
    if (round == max_iterations || !open()) break;
    for (std::size_t i = 0; i < islands; ++i) {
      set_scaling(static_cast<int>(i)), aim(static_cast<int>(i), false);
      if (islands_[i].done)
        for (int c = p.first[i]; c < p.first[i + 1]; ++c) r_[c].setZero();
    }
    if (!answer.stiffen(K_) || !solve_step(answer)) break;
    for (std::size_t i = 0; i < islands; ++i) {
      Island& island = islands_[i];
      if (island.done) continue;
      ++reports_[i].iterations;
      const double left = 1 - reach(static_cast<int>(i));
      island.sigma = std::max(1e-3, left * left * left);
      aim(static_cast<int>(i), true);
    }
    if (!solve_step(answer)) break;
    for (std::size_t i = 0; i < islands; ++i)
      if (!islands_[i].done) advance(static_cast<int>(i), most_of_the_way * reach(static_cast<int>(i)));
  }
  for (FrictionReport& r : reports_) r.converged = r.residual <= tolerance;
  return reports_;
}

}  // namespace limber::contact
