// One time step. A stage with unknown accelerations a stands at v = v_b + γh a, q = q₀ ⊕ (u_b + γh v) and
// asks for M(q) a + bias(q, v) + Gᵀλ = f(q, v, t); it is solved by
//
//   (M + γhD + γ²h²K) a⁺ + Gᵀλ = f − bias + (γhD + γ²h²K) a      until a stands still:
//
// springs and dampers enter by Newton, velocity terms by fixed point, each iteration is one linear solve.
//
//   euler           (Baxter 2019, eq. 2.13) the same solve once, at (q₀, v₀), with f(q₀, v₀) − hK v₀
//   implicit_euler  γ = 1, the step ends at the stage
//   midpoint        γ = ½, v₁ = v₀ + h a, q₁ = q₀ ⊕ h v; loops hold q₁, then v₁ is projected
//   sdirk           γ = 1 − 1/√2, two stages: v_b = v₀ + h(1−γ) a₁, u_b = h(1−γ) v₁ in the second, which ends
//                   the step; loops hold the stages' velocities, then q and v are projected
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "limber/articulated/stepper.h"
#include "limber/math/stop.h"
#include "limber/result/warnings.h"

namespace limber::articulated {

using result::SolveReport;
using result::Status;

namespace {
constexpr int max_rounds = 30;     // of the active set
constexpr double most_turn = 0.1;  // [rad] by velocity terms that a single solve takes as they were
constexpr double stalled =
    1e-7;  // a residual that no longer falls is accepted below this (rounding of stiff systems)
// What an iteration may leave over, of the velocities: a hundred-thousandth of the step's own error, which is
// of third order in h, within these bounds.
constexpr double share_of_error = 1e-4, least_tolerance = 1e-12, most_tolerance = 1e-6;
constexpr double of_contacts = 1e-8;       // their forces are known so well
constexpr double least_of_fourth = 1e-14;  // stages are weighted by up to 8
}  // namespace

bool Stepper::advance(double t, double h, int depth) {
  stop_if_requested();
  depth_ = depth;
  if (w_.contacts) {
    if (depth == 0) w_.contacts->splits = 0, w_.contacts->whole = h;
    return advance_touching(t, h, depth);
  }
  return advance_or_halve(t, h, depth);
}

bool Stepper::advance_or_halve(double t, double h, int depth) {
  recall_start();
  bool good = attempt(t, h);
  if (split_at_ > 0) {  // what slides stops there
    const double part = split_at_ * h;
    ++splits_;
    return advance(t, part, depth) && advance(t + part, h - part, depth);
  }
  if (!good && has_loops() && order_of(s_.options.integrator) > 1) {
    // Perhaps the step crosses a pose where loops lose a row: closed at its stages, it converges there too.
    report_.status = Status::ok;
    closed_stages_ = true;
    good = attempt(t, h);
    closed_stages_ = false;
  }
  good = good && !makes_energy(t, h, depth);
  if (good) {
    if (w_.trace) keep_trace(t, h);
    commit();
    return true;
  }
  if (depth == max_split_depth) return false;
  give_links_back();
  ++report_.substeps;
  report_.status = Status::ok;
  return advance(t, h / 2, depth + 1) && advance(t + h / 2, h / 2, depth + 1);
}

// The whole step from state_ into q_end, v_end, a.
bool Stepper::attempt(double t, double h) {
  h_ = h;
  w_.cable_from = state_.cables;
  std::fill(w_.limit_active.begin(), w_.limit_active.end(), 0);
  std::fill(w_.limit_changes.begin(), w_.limit_changes.end(), 0);
  std::fill(w_.servo.begin(), w_.servo.end(), ServoState::linear);
  now_ = closed_stages_ ? Integrator::sdirk : s_.options.integrator;
  start_rubs();
  if (w_.contacts && !begin_touches(t, h)) return false;
  if (high_order() && any_sticks()) now_ = Integrator::sdirk;
  if (high_order() && !smooth_in_time(t, h)) now_ = Integrator::midpoint;  // books a jump exactly
  for (int round = 0; round < max_rounds; ++round) {
    if (!solve(t, h)) return false;
    if (!check_finite(t + h)) return false;
    if (!update_active_set(t, h)) {
      if (s_.limits.empty() && s_.rubs.empty() && !w_.contacts) return true;
      rest_what_sticks();
      apply_impacts();
      if (w_.contacts && !finish_touches(t + h, h)) return false;
      if (w_.contacts && !close_touch_books(t + h)) return false;
      return check_finite(t + h);
    }
    if (split_at_ > 0) return false;
    if (high_order()) now_ = Integrator::sdirk;  // what is held or cut is not smooth
  }
  return fail(Status::not_converged, t,
              "the set of joint limits, cut drives and what sticks does not settle; a smaller step may help",
              -1);
}

bool Stepper::solve(double t, double h) {
  clear_books();
  start_controls();
  if (w_.contacts) w_.contacts->work = 0;
  tension_ = false;
  estimate_ = -1;
  if (!leave_contradicting_rows_out(t, h)) return fail_pivot(t);
  return solve_by_integrator(t, h);
}

bool Stepper::solve_by_integrator(double t, double h) {
  switch (now_) {
    case Integrator::euler:
      return solve_euler(t, h);
    case Integrator::midpoint:
      return solve_midpoint(t, h);
    case Integrator::implicit_euler:
      return solve_implicit_euler(t, h);
    case Integrator::sdirk:
      return solve_sdirk(t, h);
    case Integrator::gauss:
      return solve_gauss(t, h);
    case Integrator::rk4:
    case Integrator::sdirk4:
      return solve_by_stages(t, h);
  }
  return false;
}

bool Stepper::solve_euler(double t, double h) {
  const double* q0 = state_.q.data();
  const double* v0 = state_.v.data();
  set_locks(t, h, 1, h);
  evaluate(s_, q0, v0, t + h, {h, h * h, h}, w_);
  if (touches()) touch_at_stage(1), add_touch_wrenches();
  q_at_ = q0;
  if (w_.blocks) {
    std::fill(w_.a.begin(), w_.a.end(), 0.0);
    Stage stage{t + h, h, 1, true, h};
    if (!solve_accelerations(stage, true)) return false;
    std::swap(w_.a, w_.a_new);
  } else {
    input_ = make_input();
    if (!multibody::aba(tree_, q0, input_, w_.aba, w_.a.data(), w_.workers.get())) return fail_pivot(t);
  }
  for (std::size_t k = 0; k < w_.v_end.size(); ++k) w_.v_end[k] = v0[k] + h * w_.a[k];
  for (const double x : w_.v_end)
    if (!std::isfinite(x)) return fail_non_finite(t + h);
  end_controls_of_euler(t, h);
  if (const int link = too_much_at_once(h); link >= 0)
    return fail(Status::not_converged, t, "it turns or slides too far in one step; a smaller step may help",
                link);
  multibody::integrate(tree_, q0, w_.v_end.data(), h, w_.q_end.data());
  follow_motions(t + h);
  report_.iterations = std::max(report_.iterations, 1);
  ++report_.total_iterations;
  book_energy(h);
  if (field_changes()) book_field(t, t + h, moved_mass(state_.q));
  return !has_loops() || (close_positions(h, 1) && (!any_closing_sticks() || project_velocities()));
}

// Velocity terms are explicit in a single solve: where velocities change by more than most_turn a step, the
// link whose velocity terms at the end would turn it by more than that in the next one; −1: none. With a
// radian instead of a tenth, light twigs that whip about pumped themselves up until no step was short enough.
int Stepper::too_much_at_once(double h) {
  double largest = 0;
  for (const double a : w_.a) largest = std::max(largest, std::abs(a));
  if (h * h * largest <= most_turn) return -1;
  w_.links_of_start = false;
  multibody::kinematics(tree_, state_.q.data(), w_.v_end.data(), w_.links, w_.workers.get());
  for (int i = 0; i < tree_.size(); ++i)
    if (h * h * w_.links[i].c.head<3>().norm() > most_turn) return i;
  return -1;
}

// Those of the step before; where something touches that may have been an impact's.
void Stepper::guess_accelerations() {
  if (touches())
    std::fill(w_.a.begin(), w_.a.end(), 0.0);
  else
    std::copy(state_.a.begin(), state_.a.end(), w_.a.begin());
}

bool Stepper::solve_midpoint(double t, double h) {
  guess_accelerations();
  std::copy(state_.v.begin(), state_.v.end(), w_.v_base.begin());
  std::fill(w_.u_base.begin(), w_.u_base.end(), 0.0);
  if (!solve_stage({t + h / 2, h, 0.5, false, h})) return false;
  for (std::size_t k = 0; k < w_.v_end.size(); ++k) {
    w_.v_mid[k] = state_.v[k] + h / 2 * w_.a[k];
    w_.v_end[k] = state_.v[k] + h * w_.a[k];
  }
  book_energy(h);
  integrate_controls(state_.control, h, w_.control_end);
  multibody::integrate(tree_, state_.q.data(), w_.v_mid.data(), h, w_.q_end.data());
  follow_motions(t + h);
  if (has_loops() && !(close_positions(h, 0) && project_velocities())) return false;
  if (field_changes()) {
    book_field(t, t + h / 2, moved_mass(state_.q));
    book_field(t + h / 2, t + h, moved_mass(w_.q_end));
  }
  return true;
}

// Near rest nothing is left to compare with but the rounding of the coordinates themselves: radians, and
// metres of the structure's size.
static bool within_rounding(const SystemData& s, const std::vector<double>& before,
                            const std::vector<double>& now, double h) {
  for (const multibody::Link& link : s.tree.links())
    for (int n = link.v; n < link.v + link.dofs; ++n)
      if (!(std::abs(now[n] - before[n]) * s.rate_unit[n] * h * h <= 1e-13)) return false;
  return true;
}

bool Stepper::solve_implicit_euler(double t, double h) {
  guess_accelerations();
  std::copy(state_.v.begin(), state_.v.end(), w_.v_base.begin());
  std::fill(w_.u_base.begin(), w_.u_base.end(), 0.0);
  if (!solve_stage({t + h, h, 1, true, h})) return false;
  w_.v_end = w_.v_mid;
  w_.q_end = w_.q_mid;
  integrate_controls(state_.control, h, w_.control_end);
  follow_motions(t + h);
  book_energy(h);
  if (field_changes()) book_field(t, t + h, moved_mass(state_.q));
  return !has_loops() || (close_positions(h, 1) && (!any_closing_sticks() || project_velocities()));
}

bool Stepper::solve_sdirk(double t, double h) {
  const double gamma = 1 - 1 / std::sqrt(2.0), rest = 1 - gamma;
  const Rows rows = closed_stages_ ? Rows::position : Rows::velocity;
  guess_accelerations();
  std::copy(state_.v.begin(), state_.v.end(), w_.v_base.begin());
  std::fill(w_.u_base.begin(), w_.u_base.end(), 0.0);
  if (!solve_stage({t + gamma * h, h, gamma, true, h, rows})) return false;
  integrate_controls(state_.control, rest * h, w_.control);
  book_energy(rest * h);
  if (field_changes()) {  // m c: at the start, and where the first stage takes it
    const Vec3 way = rest * h * multibody::momentum_in_world(tree_, w_.links).tail<3>();
    const Vec3 start = moved_mass(state_.q);
    book_field(t, t + gamma * h, start);
    book_field(t + gamma * h, t + h, start + way);
  }
  for (std::size_t k = 0; k < w_.v_base.size(); ++k) {
    w_.v_base[k] += h * rest * w_.a[k];
    w_.u_base[k] = h * rest * w_.v_mid[k];
  }
  if (!solve_stage({t + h, h, gamma, true, gamma * h, rows})) return false;
  integrate_controls(w_.control, gamma * h, w_.control_end);
  book_energy(gamma * h);
  w_.v_end = w_.v_mid;
  w_.q_end = w_.q_mid;
  follow_motions(t + h);
  if (!has_loops()) return true;
  return close_positions(h, 0) && project_velocities();
}

// first: the first change of an iteration that starts with the accelerations of the step before, of the
// velocities. It is of second order in h, the error of a step of one more than its own.
double Stepper::tolerance_of(double first) const {
  if (s_.options.tolerance > 0) return s_.options.tolerance;
  const double error = first * std::sqrt(first) * (high_order() ? first : 1);
  return std::clamp(share_of_error * error, high_order() ? least_of_fourth : least_tolerance, most_tolerance);
}

// Nothing more is to be had: rounding of stiff systems, or of the coordinates themselves.
bool Stepper::stands_still(int iteration, double change, double previous, double scale, double h) const {
  return iteration > 3 && change > previous / 2 &&
         (change <= stalled * scale || within_rounding(s_, w_.a, w_.a_new, h));
}

// Iterates on w_.a; leaves q_mid, v_mid at the stage.
bool Stepper::solve_stage(const Stage& stage) {
  const double h = stage.h, c = stage.gamma * h;
  set_locks(stage.t - c, h, stage.gamma, stage.to_end);
  double previous = 0, tolerance = 0;
  bool factor = true;  // anew, where the one at hand no longer halves what is left
  w_.anderson.restart();
  for (int iteration = 1; iteration <= s_.options.max_iterations; ++iteration) {
    stop_if_requested();
    place_stage(stage);
    evaluate(s_, w_.q_mid.data(), w_.v_mid.data(), stage.t, {c, c * c, 0, factor}, w_);
    if (touches()) touch_at_stage(iteration), add_touch_wrenches();
    q_at_ = w_.q_mid.data();
    if (iteration == 1 && (tension_ = takes_tension())) set_tension(q_at_, c * c);
    if (!solve_accelerations(stage, false, factor)) return false;
    const double change = h * largest_change(), scale = velocity_scale(stage.t, h);
    ++report_.total_iterations;
    report_.iterations = std::max(report_.iterations, iteration);
    if (!std::isfinite(change)) return fail_non_finite(stage.t);
    if (iteration == 1) tolerance = tolerance_of(scale > 0 ? change / scale : 0);
    if (touches()) tolerance = std::max(tolerance, of_contacts);
    const bool done = change <= tolerance * scale || stands_still(iteration, change, previous, scale, h);
    if (!done && !touches()) w_.anderson.next(w_.a, w_.a_new);
    std::swap(w_.a, w_.a_new);
    if (done) {
      if (scale > 0) report_.residual = std::max(report_.residual, change / scale);
      if (stage.ends_there) place_stage(stage);
      return true;
    }
    factor = !can_keep_factor() || (iteration > 1 && change > 0.5 * previous);
    previous = change;
  }
  return fail_iteration(stage.t);
}

bool Stepper::fail_iteration(double t) {
  return fail(
      Status::not_converged, t,
      fmt::format("the iteration of a step does not converge in {} iterations; a smaller step may help",
                  s_.options.max_iterations),
      worst_link());
}

// v and q of the stage for the accelerations in w_.a; prescribed joints stand where they must.
void Stepper::place_stage(const Stage& stage) {
  const double c = stage.gamma * stage.h;
  for (std::size_t k = 0; k < w_.v_mid.size(); ++k) w_.v_mid[k] = w_.v_base[k] + c * w_.a[k];
  for (std::size_t k = 0; k < w_.u.size(); ++k) w_.u[k] = w_.u_base[k] + c * w_.v_mid[k];
  if (high_order() && c > 0) {  // u = u_base + c u̇(u, v): each round gains a factor of c v / 2
    for (int round = 0; round < 5; ++round) {
      if (!rates_along(w_.u, w_.v_mid, w_.stage_u[0])) break;
      for (std::size_t k = 0; k < w_.u.size(); ++k) w_.u[k] = w_.u_base[k] + c * w_.stage_u[0][k];
    }
  }
  put_stage(stage.t);
}

// q of the stage from u; prescribed joints stand where they must.
void Stepper::put_stage(double t) {
  multibody::integrate(tree_, state_.q.data(), w_.u.data(), 1, w_.q_mid.data());
  for (const CompiledMotion& m : s_.motions) {
    const Link& link = tree_[m.link];
    prescribed(m, link, t, w_.q_mid.data() + link.q, w_.v_mid.data() + link.v);
  }
}

// A factor of an earlier iterate serves where forces act through the joints alone: loops act through their
// rows, and of locks it holds what they gave to that iterate.
bool Stepper::can_keep_factor() const {
  return w_.blocks && w_.blocks->gaba && !has_loops() && s_.order.cuts == 0 && w_.locks.empty();
}

// a_new from w_.a and what evaluate() found. Without `factor`: by the one at hand.
bool Stepper::solve_accelerations(const Stage& stage, bool euler, bool factor) {
  if (!w_.blocks) {
    add_implicit_forces();
    input_ = make_input();
    if (!multibody::aba(tree_, q_at_, input_, w_.aba, w_.a_new.data(), w_.workers.get()))
      return fail_pivot(stage.t);
    return true;
  }
  Blocks& b = *w_.blocks;
  const double h = stage.h, c = stage.gamma * h;
  set_block_rhs(euler, factor);
  if (tension_ && factor) add_tension_to_blocks();
  if (has_loops()) {
    if (stage.rows == Rows::acceleration) {  // T (S a + …) = 0; b.twist: φ̇ of the iterate before
      for (std::size_t l = 0; l < s_.loops.size(); ++l) {
        const int rows = closing_row_count(s_.loops[l].kind);
        if (const int k = s_.loops[l].coupling; k >= 0) {
          const CompiledCoupling& coupling = s_.couplings[k];
          b.rhs.g[l][0] = -coupling_rate(coupling, b.loops[l].profile, w_.a.data()) -
                          coupling_bias(coupling, b.loops[l].profile, w_.v_mid.data());
          continue;
        }
        const Vec6 rate = multibody::loop_times(b.system, static_cast<int>(l), b.twist.data());
        const Vec6 bias = loop_acceleration_bias(s_, static_cast<int>(l), b.loops[l], w_.links);
        b.rhs.g[l].head(rows) = -(rate + bias).head(rows);
      }
    } else if (euler || stage.rows == Rows::velocity) {  // G v = 0 at the end of the solve
      const std::vector<double>& v = euler ? state_.v : w_.v_mid;
      multibody::jacobian_times(b.system, v.data(), b.twist.data());
      for (std::size_t l = 0; l < s_.loops.size(); ++l) {
        const int rows = closing_row_count(s_.loops[l].kind);
        const Vec6 rate = multibody::loop_times(b.system, static_cast<int>(l), b.twist.data());
        b.rhs.g[l].head(rows) = -rate.head(rows) / c;
        if (euler) b.rhs.g[l].head(rows) -= b.loops[l].gap.head(rows) / (h * h);
      }
    } else if (stage.ends_there) {
      for (std::size_t l = 0; l < s_.loops.size(); ++l) {
        const int rows = closing_row_count(s_.loops[l].kind);
        b.rhs.g[l].head(rows) = -b.loops[l].gap.head(rows) / (c * c);
      }
    } else {  // midpoint: q₁ = q₀ ⊕ h v
      multibody::integrate(tree_, state_.q.data(), w_.v_mid.data(), h, w_.q_end.data());
      follow_motions(stage.t + h / 2);
      place_end();
      for (std::size_t l = 0; l < s_.loops.size(); ++l) {
        const int rows = closing_row_count(s_.loops[l].kind);
        b.rhs.g[l].head(rows) = -2 * b.loops_end[l].gap.head(rows) / (h * h);
      }
    }
    add_loop_limits(stage, euler);
    hold_sticking(stage, euler);
  }
  for (JointLock& lock : w_.locks)  // given rows, for the change
    for (int r = 0; r < lock.rows; ++r) {
      double now = 0;
      for (int k = 0; k < tree_[lock.link].dofs; ++k) now += lock.C(r, k) * w_.a[tree_[lock.link].v + k];
      lock.g[r] -= now;
    }
  bool good = !factor || factor_blocks(s_, w_);
  if (good && s_.rows_contradict && stage.rows != Rows::position &&
      b.gaba->dropped_rows() > report_.redundant_rows) {
    b.gaba->leave_none_out();  // the start stood where more rows hang on others: they are of no use here
    good = factor_blocks(s_, w_);
  }
  if (good && b.pcg) std::fill(b.x.a.begin(), b.x.a.end(), 0.0);
  const bool solved = good && solve_blocks(s_, w_, b.x, false);
  if (w_.contacts && factor) w_.contacts->response.forget();
  const bool touched = !solved || !touches() || solve_touches(stage);
  for (JointLock& lock : w_.locks)
    for (int r = 0; r < lock.rows; ++r)
      for (int k = 0; k < tree_[lock.link].dofs; ++k)
        lock.g[r] += lock.C(r, k) * w_.a[tree_[lock.link].v + k];
  if (!good) return fail_pivot(stage.t);
  if (!solved) return fail(Status::not_converged, stage.t, "the linear solver did not converge", -1);
  if (!touched) return false;
  if (b.many) report_.solver_iterations = std::max(report_.solver_iterations, b.many->iterations());
  if (b.pcg) report_.solver_iterations = std::max(report_.solver_iterations, b.pcg->iterations());
  for (std::size_t k = 0; k < w_.a.size(); ++k) w_.a_new[k] = w_.a[k] + b.x.a[k];
  if (has_loops()) note_redundant_rows();
  keep_limit_forces();
  return true;
}

void Stepper::follow_motions(double t) {
  for (const CompiledMotion& m : s_.motions) {
    const Link& link = tree_[m.link];
    double rates[6];
    prescribed(m, link, t, w_.q_end.data() + link.q, rates);
    if (midpoint() || high_order()) std::copy_n(rates, link.dofs, w_.v_end.data() + link.v);
  }
}

Stepper::AbaInput Stepper::make_input() const {
  AbaInput in;
  in.links = &w_.links;
  in.tau = w_.tau.data();
  in.wrench = w_.wrench.data();
  in.joint_block = w_.joint_block.data();
  in.body_block = w_.body_block.empty() ? nullptr : w_.body_block.data();
  in.body_block_index = w_.body_block_index.data();
  in.turn_block = tension_ ? w_.tension_block.data() : nullptr;
  in.locks = w_.locks.empty() ? nullptr : w_.locks.data();
  in.lock_index = w_.locks.empty() ? nullptr : w_.lock_index.data();
  return in;
}

double Stepper::largest_change() const {
  double change = 0;
  for (std::size_t k = 0; k < w_.a.size(); ++k) {
    const double c = std::abs(w_.a_new[k] - w_.a[k]) * s_.rate_unit[k];
    if (!(c <= change)) change = c;  // takes NaN along
  }
  return change;
}

// Speeds in the step, and what the weight would give in it: a floor for what is nearly at rest.
double Stepper::velocity_scale(double t, double h) const {
  double speed = 0, acceleration = s_.model.gravity().value(t).norm() / s_.size;
  for (std::size_t k = 0; k < w_.a.size(); ++k) {
    speed = std::max(speed, std::abs(w_.v_mid[k]) * s_.rate_unit[k]);
    acceleration = std::max(acceleration, std::abs(w_.a_new[k]) * s_.rate_unit[k]);
  }
  return speed + h * acceleration;
}

bool Stepper::check_finite(double t) {
  for (const double x : w_.v_end)
    if (!std::isfinite(x)) return fail_non_finite(t);
  for (const double x : w_.q_end)
    if (!std::isfinite(x)) return fail_non_finite(t);
  return true;
}

bool Stepper::fail_non_finite(double t) {
  for (std::size_t i = 0; i < s_.cables.size(); ++i)
    if (!w_.cables[i].exists) {
      report_.worst = s_.cables[i].name;
      return fail(
          Status::diverged, t,
          fmt::format("cable \"{}\" finds no way round its guides: one has come to stand inside a pulley, or "
                      "more than 60° beside its plane",
                      s_.cables[i].name),
          -1);
    }
  // The deepest link that is spoilt is the one nearest to the cause.
  int bad = 0;
  for (int i = 0; i < tree_.size(); ++i) {
    const Link& link = tree_[i];
    for (int k = 0; k < link.dofs; ++k)
      if (!std::isfinite(w_.a_new[link.v + k]) || !std::isfinite(w_.a[link.v + k]) ||
          !std::isfinite(w_.v_end[link.v + k]) || !std::isfinite(w_.tau[link.v + k]))
        bad = std::max(bad, i);
    if (!w_.wrench[i].allFinite()) bad = std::max(bad, i);
  }
  return fail(Status::diverged, t, "a value is no longer finite", bad);
}

bool Stepper::fail_pivot(double t) {
  return fail(Status::diverged, t, "the inertia of the joint is no longer positive definite",
              w_.aba.bad_link);
}

int Stepper::worst_link() const {
  int worst = -1;
  double largest = -1;
  for (int i = 0; i < tree_.size(); ++i)
    for (int k = 0; k < tree_[i].dofs; ++k)
      if (const double c = std::abs(w_.a_new[tree_[i].v + k] - w_.a[tree_[i].v + k]); c > largest) {
        largest = c;
        worst = i;
      }
  return worst;
}

bool Stepper::fail(Status status, double t, std::string what, int link) {
  report_.status = status;
  report_.time = t;
  if (link >= 0) report_.worst = s_.model.bodies()[link].name;
  report_.message = link >= 0 ? fmt::format("at t = {:.9g} s, body \"{}\": {}", t, report_.worst, what)
                              : fmt::format("at t = {:.9g} s: {}", t, what);
  return false;
}

SolveReport step(const System& system, State& state, Workspace& workspace, double h,
                 std::span<State> between) {
  const SystemData& s = system.data();
  WorkspaceData& w = workspace.data();
  if (!between.empty() && !(s.options.error > 0))
    throw std::invalid_argument("step: states within a step are found only by an error");
  SolveReport report;
  const double t0 = state.t;
  w.before = state;
  if (state.step == 0) result::add_warning(report, s.warning);
  bool good = false;
  try {
    good = s.options.error > 0 ? advance_adaptively(s, state, w, report, h, between)
                               : Stepper(s, state, w, report).advance(t0, h, 0);
  } catch (const Stopped&) {
    std::swap(state, w.before);
    throw;
  }
  if (!good) {  // parts of it may have succeeded
    std::swap(state, w.before);
    if (report.ok()) {  // whoever gave up knew no reason
      report.status = Status::not_converged;
      report.time = t0;
      report.message =
          fmt::format("at t = {:.9g} s: the step does not converge; a smaller step may help", t0);
    }
    return report;
  }
  report.worst.clear();  // of attempts that failed before one succeeded
  report.message.clear();
  state.t = t0 + h;
  ++state.step;
  report.time = state.t;
  report.steps = 1;
  return report;
}

}  // namespace limber::articulated
