// What a step of fourth order is off by, told by its own stages and the acceleration at its end, which is the
// first of the next part.
//
//   rk4    k₅ at the end: any share of k₄ may stand at k₅, so that e₄ = h (k₅ − k₄) is of fourth order in h,
//          and e₃ = h (k₃ − k₂) of third, for k = u̇ and for k = a. e₄²/√(e₄² + (c e₃)²) is of fifth order as
//          the step's own error is (as Hairer, Nørsett and Wanner 1993, II.10, join two estimates of theirs).
//          For ẏ = λy, z = hλ: e₄ = z⁴/12, e₃ = z³/4, the step's error z⁵/120: twice that for c = 5/3.
//   gauss  a companion, the step of rk4 from the same start: three explicit solves, which pay for themselves
//   as
//          first guesses of the stages. What both differ by is of fifth order: for ẏ = λy the companion is
//          off by six times as much as the step (z⁵/120 and z⁵/720), for pendulums by twice as much or so.
//          (What stages and ends of gauss tell of themselves is of third order, or nothing at all: their
//          third difference k₅ − k₀ − √3 (k₂ − k₁) vanishes for every linear system.) Where springs are too
//          fast for an explicit step the companion says nothing, and step_error.cpp takes halves.
//   sdirk4 weights of third order for its own stages (Hairer and Wanner 1996, table IV.6.5): the error of
//          the lower one, more than that of the step
#include <algorithm>
#include <array>
#include <cmath>

#include "limber/articulated/stepper.h"

namespace limber::articulated {

namespace {
constexpr double share_of_lower = 5.0 / 3;  // c
constexpr std::array<double, 5> sdirk4_lower = {59.0 / 48, -17.0 / 96, 225.0 / 32, -85.0 / 12, 0};
constexpr int end_rates = 4;  // of w.stage_u, which no such step uses
}  // namespace

// Of the last evaluation and solve, whose accelerations are w_.a.
void Stepper::keep_node(double t, const std::vector<double>& q, const std::vector<double>& v, Node& out) {
  out.q = q, out.v = v, out.a = w_.a, out.t = t, out.known = true;
  out.taken = w_.dissipated_power;
  out.given = given_power();
  out.powers = w_.powers;
  out.field = 0;
  if (!field_changes()) return;
  const Vec3 mass = multibody::moved_mass(tree_, w_.links);
  for (int k = 0; k < 3; ++k) out.field -= s_.model.gravity().c[k].rate(t) * mass[k];
}

// Accelerations there; of sdirk4 as its stages find them, from the guess in w_.a: what is stiff has none of
// its own.
bool Stepper::look_at_node(double t, double h, const std::vector<double>& q, const std::vector<double>& v,
                           Node& out) {
  w_.q_mid = q;
  w_.v_mid = v;
  if (now_ != Integrator::sdirk4) {
    if (!solve_explicitly(t, h)) return false;
  } else {
    const double c = 0.25 * h;
    set_locks(t, h, 0, h);
    evaluate(s_, q.data(), v.data(), t, {c, c * c, 0}, w_);
    q_at_ = w_.q_mid.data();
    if (!solve_accelerations({t, h, 0, true, h, Rows::acceleration}, false)) return false;
    std::swap(w_.a, w_.a_new);
    ++report_.total_iterations;
  }
  keep_node(t, q, v, out);
  return true;
}

// At the start of the part: from the end of the one before, or looked at.
bool Stepper::know_start(double t, double h) {
  if (w_.node.is_of(state_, t)) return true;
  w_.a = state_.a;
  return look_at_node(t, h, state_.q, state_.v, w_.node);
}

// rk4: e₄ into w_.higher and e₃ into w_.lower, of k at the stages and at the end.
void Stepper::differences(const std::vector<std::vector<double>>& k, const std::vector<double>& last,
                          double h) {
  w_.higher.resize(last.size());
  w_.lower.resize(last.size());
  for (std::size_t i = 0; i < last.size(); ++i) {
    w_.higher[i] = h * (last[i] - k[3][i]);
    w_.lower[i] = h * (k[2][i] - k[1][i]);
  }
}

// The most that a link moves by w_.higher.
double Stepper::largest_motion() {
  multibody::kinematics(tree_, w_.q_end.data(), w_.higher.data(), w_.links_other, w_.workers.get());
  double largest = 0;
  for (const LinkMotion& m : w_.links_other)
    if (const double x = std::max(m.V.tail<3>().norm(), s_.size * m.V.head<3>().norm()); !(x <= largest))
      largest = x;  // takes NaN along
  return largest;
}

// gauss: the step of rk4 from the same start into w_.companion_u and _v; stages' first guesses by parabolas
// through its accelerations and rates.
bool Stepper::take_companion(double t, double h) {
  constexpr int of[] = {2, 3, 4};  // its stages, beside the two of gauss
  const std::size_t n = state_.v.size();
  for (int i = 0; i < 3; ++i) {
    const double c = i < 2 ? h / 2 : h;
    const std::vector<double>& a = i == 0 ? w_.node.a : w_.stage_a[of[i - 1]];
    const std::vector<double>& k = i == 0 ? state_.v : w_.stage_k[of[i - 1]];
    for (std::size_t j = 0; j < n; ++j) w_.v_mid[j] = state_.v[j] + c * a[j], w_.u[j] = c * k[j];
    put_stage(t + c);
    if (!solve_explicitly(t + c, h)) return false;
    w_.stage_a[of[i]] = w_.a;
    rates_along(w_.u, w_.v_mid, w_.stage_k[of[i]]);
  }
  w_.companion_u.resize(n), w_.companion_v.resize(n);
  const auto end = [&](const std::vector<double>& first, const std::vector<std::vector<double>>& x,
                       std::size_t j) { return h / 6 * (first[j] + 2 * (x[2][j] + x[3][j]) + x[4][j]); };
  const auto guess = [&](const std::vector<double>& first, std::vector<std::vector<double>>& x,
                         std::size_t j) {
    const double middle = 0.5 * (x[2][j] + x[3][j]), slope = x[4][j] - first[j],
                 bend = first[j] - 2 * middle + x[4][j], away = std::sqrt(3.0) / 6;
    x[0][j] = middle - away * slope + 2 * away * away * bend;
    x[1][j] = middle + away * slope + 2 * away * away * bend;
  };
  for (std::size_t j = 0; j < n; ++j) {
    w_.companion_u[j] = end(state_.v, w_.stage_k, j);
    w_.companion_v[j] = state_.v[j] + end(w_.node.a, w_.stage_a, j);
    guess(w_.node.a, w_.stage_a, j);
    guess(state_.v, w_.stage_k, j);
    if (!std::isfinite(w_.companion_u[j]) || !std::isfinite(w_.companion_v[j])) return false;
  }
  return true;
}

// Of gauss, before loops are closed.
void Stepper::estimate_by_companion(double h) {
  if (!companion_) return;
  w_.higher.resize(w_.u.size());
  for (std::size_t j = 0; j < w_.u.size(); ++j) w_.higher[j] = w_.u[j] - w_.companion_u[j];
  estimate_ = largest_motion();
  for (std::size_t j = 0; j < w_.u.size(); ++j) w_.higher[j] = h * (w_.v_end[j] - w_.companion_v[j]);
  estimate_ = std::max(estimate_, largest_motion());
}

// The most that a link is off by, for both together: of each link by itself, so that one that swings far and
// slowly does not hide what another does.
double Stepper::combined_motion() {
  const auto size_of = [&](const Vec6& V) {
    return std::max(V.tail<3>().norm(), s_.size * V.head<3>().norm());
  };
  w_.motion_of.resize(tree_.size());
  multibody::kinematics(tree_, w_.q_end.data(), w_.higher.data(), w_.links_other, w_.workers.get());
  for (int i = 0; i < tree_.size(); ++i) w_.motion_of[i] = size_of(w_.links_other[i].V);
  multibody::kinematics(tree_, w_.q_end.data(), w_.lower.data(), w_.links_other, w_.workers.get());
  double largest = 0;
  for (int i = 0; i < tree_.size(); ++i) {
    const double high = w_.motion_of[i], low = share_of_lower * size_of(w_.links_other[i].V);
    if (!std::isfinite(high)) return high;
    if (high > 0) largest = std::max(largest, high * high / std::sqrt(high * high + low * low));
  }
  return largest;
}

// sdirk4, before loops are closed.
void Stepper::estimate_by_weights(double h) {
  combine(nullptr, h, sdirk4_lower, w_.stage_k, 5, w_.u);
  multibody::integrate(tree_, state_.q.data(), w_.u.data(), 1, w_.q_mid.data());
  estimate_ = distance(s_, w_.q_end, w_.q_mid, w_);
}

bool Stepper::estimate_at_end(double t, double h) {
  if (now_ == Integrator::sdirk4) {  // its node is that of the last stage, which loops moved a little
    w_.node_end.q = w_.q_end, w_.node_end.v = w_.v_end;
    return true;
  }
  if (now_ == Integrator::rk4) rates_along(w_.u, w_.v_end, w_.stage_u[end_rates]);
  if (!look_at_node(t + h, h, w_.q_end, w_.v_end, w_.node_end)) return false;
  if (now_ == Integrator::gauss) return true;
  differences(w_.stage_k, w_.stage_u[end_rates], h);
  estimate_ = combined_motion();
  differences(w_.stage_a, w_.node_end.a, h);
  estimate_ = std::max(estimate_, h * combined_motion());  // what such a velocity does in the next part
  return true;
}

}  // namespace limber::articulated
