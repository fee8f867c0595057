// Locks of a step: prescribed joints wholly, active limits a row each. Limits are an active set: a coordinate
// that would pass its bound is made to end on it; one whose bound would pull is let go. After the step the
// active ones get their speed by an impulse: zero, or −e times the speed of the hit.
#include <algorithm>
#include <cmath>

#include "limber/articulated/stepper.h"

namespace limber::articulated {

// Locks: prescribed joints wholly, active limits a row each.
void Stepper::set_locks(double t, double h, double gamma, double to_end) {
  for (const JointLock& lock : w_.locks) w_.lock_index[lock.link] = -1;
  w_.locks.clear();
  for (const CompiledMotion& m : s_.motions) lock_motion(m, t, h, gamma);
  for (std::size_t l = 0; l < s_.limits.size(); ++l)
    if (w_.limit_active[l] && s_.limits[l].loop < 0) lock_limit(s_.limits[l], h, gamma, to_end);
  lock_rubs(h, gamma, to_end);
  if (sdirk() && has_loops()) place_loops_at_start();
}

// Coordinates of closing joints where the step starts, for those on their bounds.
void Stepper::place_loops_at_start() {
  Blocks& b = *w_.blocks;
  bool placed = false;
  for (std::size_t k = 0; k < s_.limits.size(); ++k) {
    if (s_.limits[k].loop < 0 || !w_.limit_active[k]) continue;
    if (!placed) {
      multibody::poses(tree_, state_.q.data(), w_.links_other, w_.workers.get());
      place_loops(s_, state_.q.data(), w_.links_other, b.loops_end);
      placed = true;
    }
    b.limit_start[k] = limit_coordinate(s_, s_.limits[k], nullptr, &b.loops_end);
  }
}

JointLock& Stepper::lock_of(int link) { return articulated::lock_of(link, w_.locks, w_.lock_index); }

void Stepper::lock_motion(const CompiledMotion& m, double t, double h, double gamma) {
  const Link& link = tree_[m.link];
  JointLock& lock = lock_of(m.link);
  lock.rows = link.dofs;
  lock.C.setIdentity();
  double q1[7], v1[6];
  if (high_order()) {
    lock.g = prescribed_acceleration(m, t + gamma * h, h);
    return;
  }
  if (sdirk()) {
    prescribed(m, link, t + gamma * h, q1, v1);
    for (int k = 0; k < link.dofs; ++k) lock.g[k] = (v1[k] - w_.v_base[link.v + k]) / (gamma * h);
    return;
  }
  // Accelerations follow from the velocities that the step starts and ends with: the function's own rates,
  // but for the single solve, which moves along the mean rate and ends with it. One of each would give half
  // the acceleration, at any step size.
  prescribed(m, link, t + h, q1, v1);
  if (euler()) multibody::rates_between(link.kind, state_.q.data() + link.q, q1, h, v1);
  for (int k = 0; k < link.dofs; ++k) lock.g[k] = (v1[k] - state_.v[link.v + k]) / h;
}

// A coordinate that is to end on its bound goes there at one speed. With sdirk that is so at both stages: to
// reach the bound at the first already would give it three times the speed it has, out of nothing.
void Stepper::lock_limit(const Limit& limit, double h, double gamma, double to_end) {
  const Link& link = tree_[limit.link];
  JointLock& lock = lock_of(limit.link);
  const Vec6 row = limit_row(s_, limit, state_.q.data());
  const auto along = [&](const std::vector<double>& x) {
    return row.head(link.dofs).dot(Eigen::Map<const VecX>(x.data() + link.v, link.dofs));
  };
  const double left = limit.bound - limit_coordinate(s_, limit, state_.q.data(), nullptr);
  lock.C.row(lock.rows) = row.transpose();
  if (sdirk())
    lock.g[lock.rows] = ((left - along(w_.u_base)) / to_end - along(w_.v_base)) / (gamma * h);
  else
    lock.g[lock.rows] = (midpoint() ? 2 : 1) * (left / h - along(state_.v)) / h;
  ++lock.rows;
}

// Rows of closing joints' active limits, after the loop's own.
void Stepper::add_loop_limits(const Stage& stage, bool euler) {
  Blocks& b = *w_.blocks;
  const double h = stage.h, c = stage.gamma * h;
  for (std::size_t k = 0; k < s_.limits.size(); ++k) {
    const Limit& limit = s_.limits[k];
    if (limit.loop < 0 || !w_.limit_active[k]) continue;
    const int r = add_limit_row(s_, limit, b.loops[limit.loop], b.system);
    if (r < 0) continue;
    b.limit_row[k] = r;
    double& g = b.rhs.g[limit.loop][r];
    if (euler) {
      multibody::jacobian_times(b.system, state_.v.data(), b.twist.data());
      const double rate = multibody::loop_times(b.system, limit.loop, b.twist.data())[r];
      g = ((limit.bound - limit_coordinate(s_, limit, nullptr, &b.loops)) / h - rate) / h;
    } else if (midpoint()) {
      g = 2 * (limit.bound - limit_coordinate(s_, limit, nullptr, &b.loops_end)) / (h * h);
    } else {
      double there = limit.bound;
      if (sdirk() && stage.to_end == h)  // the first of two stages
        there = b.limit_start[k] + stage.gamma * (limit.bound - b.limit_start[k]);
      g = (there - limit_coordinate(s_, limit, nullptr, &b.loops)) / (c * c);
    }
  }
}

// Forces of the active limits, while the solution of the step is at hand.
void Stepper::keep_limit_forces() {
  Blocks& b = *w_.blocks;
  for (std::size_t k = 0; k < s_.limits.size(); ++k) {
    if (!w_.limit_active[k]) continue;
    const Limit& limit = s_.limits[k];
    b.limit_force[k] = limit.loop >= 0
                           ? -b.x.lambda[limit.loop][b.limit_row[k]]
                           : limit_row(s_, limit, state_.q.data()).dot(block_lock_force(s_, w_, limit.link));
  }
}

// True if a limit or a servo changed its side and the step has to be solved again.
bool Stepper::update_active_set(double t, double h) {
  bool changed = false;
  for (std::size_t l = 0; l < s_.limits.size(); ++l) changed |= update_limit(l);
  for (std::size_t d = 0; d < s_.drives.size(); ++d)
    if (s_.drives[d].control >= 0)
      changed |= update_control(d, t, h);
    else if (s_.drives[d].drive.kind == Drive::Kind::servo)
      changed |= update_servo(d, t, h);
  changed |= update_rubs();
  return changed || keep_first_limit();
}

// Bounds that one motion would pass in one step cannot all be met where a loop ties their joints: that which
// is met first stays, others come back if they are still passed. False: all that are taken up are met.
bool Stepper::keep_first_limit() {
  if (!w_.blocks) return false;
  const auto left = [&](std::size_t l, const std::vector<double>& q, const std::vector<LoopState>& loops) {
    const Limit& limit = s_.limits[l];
    return (limit.upper ? 1 : -1) * (limit.bound - limit_coordinate(s_, limit, q.data(), &loops));
  };
  constexpr double unmet = 1e-8;
  int active = 0;
  bool met = true;
  for (std::size_t l = 0; l < s_.limits.size(); ++l) {
    if (!w_.limit_active[l]) continue;
    ++active;
    met = met && left(l, w_.q_end, w_.blocks->loops_end) > -unmet * (1 + std::abs(s_.limits[l].bound));
  }
  if (met || active < 2) return false;
  std::vector<LoopState> start(s_.loops.size());
  multibody::kinematics(tree_, state_.q.data(), state_.v.data(), w_.links_other, w_.workers.get());
  place_loops(s_, state_.q.data(), w_.links_other, start);
  std::size_t first = s_.limits.size();
  double soonest = 0;
  for (std::size_t l = 0; l < s_.limits.size(); ++l) {
    if (!w_.limit_active[l] || w_.limit_changes[l] > 3) continue;
    const double way = std::max(0.0, left(l, state_.q, start)), time = way / (way + w_.limit_over[l]);
    if (first == s_.limits.size() || time < soonest) first = l, soonest = time;
  }
  if (first == s_.limits.size()) return false;
  for (std::size_t l = 0; l < s_.limits.size(); ++l)
    if (w_.limit_active[l] && l != first) w_.limit_active[l] = 0, ++w_.limit_changes[l];
  return true;
}

bool Stepper::update_limit(std::size_t l) {
  const Limit& limit = s_.limits[l];
  const double side = limit.upper ? 1 : -1;
  if (!w_.limit_active[l]) {
    const std::vector<LoopState>* loops = w_.blocks ? &w_.blocks->loops_end : nullptr;
    const double over = side * (limit_coordinate(s_, limit, w_.q_end.data(), loops) - limit.bound);
    // Rounding of a coordinate that already ended on its bound is no violation.
    if (over <= 1e-13 * (1 + std::abs(limit.bound)) || w_.limit_changes[l] > 4) return false;
    w_.limit_active[l] = 1;
    w_.limit_over[l] = over;
    ++w_.limit_changes[l];
    return true;
  }
  const double force =
      w_.blocks ? w_.blocks->limit_force[l]
                : limit_row(s_, limit, state_.q.data())
                      .dot(multibody::lock_force(tree_, q_at_, input_, w_.aba, w_.a.data(), limit.link));
  if (side * force <= 0) return false;  // pushes back
  if (w_.limit_changes[l] > 3) return false;
  w_.limit_active[l] = 0;
  ++w_.limit_changes[l];
  return true;
}

bool Stepper::update_servo(std::size_t d, double t, double h) {
  const CompiledDrive& drive = s_.drives[d];
  const Link& link = tree_[drive.link];
  // The force the step used: at its end (Euler) or its middle.
  const double* q = (midpoint() ? w_.q_mid : w_.q_end).data() + link.q;
  const double* v = (midpoint() ? w_.v_mid : w_.v_end).data() + link.v;
  bool changed = false;
  for (int k = 0; k < link.dofs; ++k) {
    const double force = servo_force(drive, link, k, q, v, midpoint() ? t + h / 2 : t + h);
    const ServoState wanted = servo_state(force, drive.drive.max_force[k]);
    ServoState& state = w_.servo[6 * d + k];
    // Within a step a servo only goes from linear to cut: it may be cut a step too long, never flicker.
    if (state != ServoState::linear || wanted == state) continue;
    state = wanted;
    changed = true;
  }
  return changed;
}

// Locks of given motions, and no others.
void Stepper::hold_motions() {
  for (const JointLock& lock : w_.locks) w_.lock_index[lock.link] = -1;
  w_.locks.clear();
  for (const CompiledMotion& m : s_.motions) {
    JointLock& lock = lock_of(m.link);
    lock.rows = tree_[m.link].dofs;
    lock.C.setIdentity();
  }
}

// Locks while impulses act at the step's end: given motions, and coordinates on their bounds.
void Stepper::hold_for_impacts() {
  hold_motions();
  for (std::size_t l = 0; l < s_.limits.size(); ++l) {
    if (!w_.limit_active[l] || s_.limits[l].loop >= 0) continue;
    JointLock& lock = lock_of(s_.limits[l].link);
    lock.C.row(lock.rows++) = limit_row(s_, s_.limits[l], w_.q_end.data()).transpose();
  }
}

// Gives the coordinates on their bounds the speed after the hit, by an impulse through the whole tree.
void Stepper::apply_impacts() {
  if (std::none_of(w_.limit_active.begin(), w_.limit_active.end(), [](char on) { return on != 0; })) return;
  hold_motions();
  for (std::size_t l = 0; l < s_.limits.size(); ++l) {
    if (!w_.limit_active[l] || s_.limits[l].loop >= 0) continue;
    const Limit& limit = s_.limits[l];
    const Link& link = tree_[limit.link];
    const double side = limit.upper ? 1 : -1;
    const Vec6 row = limit_row(s_, limit, w_.q_end.data());
    const auto rate = [&](const std::vector<double>& v) {
      return row.head(link.dofs).dot(Eigen::Map<const VecX>(v.data() + link.v, link.dofs));
    };
    JointLock& lock = lock_of(limit.link);
    lock.C.row(lock.rows) = row.transpose();
    lock.g[lock.rows] = -side * limit.restitution * std::max(0.0, side * rate(state_.v)) - rate(w_.v_end);
    ++lock.rows;
  }
  std::fill(w_.v_mid.begin(), w_.v_mid.end(), 0.0);
  if (w_.blocks) {
    if (impact_in_blocks())
      for (std::size_t k = 0; k < w_.v_end.size(); ++k) w_.v_end[k] += w_.blocks->x.a[k];
    return;
  }
  std::fill(w_.tau.begin(), w_.tau.end(), 0.0);
  w_.links_of_start = false;
  multibody::kinematics(tree_, w_.q_end.data(), w_.v_mid.data(), w_.links, w_.workers.get());
  AbaInput in;
  in.links = &w_.links;
  in.tau = w_.tau.data();
  in.locks = w_.locks.data();
  in.lock_index = w_.lock_index.data();
  if (!multibody::aba(tree_, w_.q_end.data(), in, w_.aba, w_.a_new.data(), w_.workers.get())) return;
  for (std::size_t k = 0; k < w_.v_end.size(); ++k) w_.v_end[k] += w_.a_new[k];
}

// The same with loops: M Δv + Gᵀλ = 0, G Δv as the hits of closing joints ask.
bool Stepper::impact_in_blocks() {
  Blocks& b = *w_.blocks;
  evaluate(s_, w_.q_end.data(), w_.v_mid.data(), state_.t, {0, 0, 0}, w_);
  for (Vec6& f : b.rhs.wrench) f.setZero();
  for (Vec6& g : b.rhs.g) g.setZero();
  std::fill(b.rhs.tau.begin(), b.rhs.tau.end(), 0.0);
  for (std::size_t k = 0; k < s_.limits.size(); ++k) {
    const Limit& limit = s_.limits[k];
    if (limit.loop < 0 || !w_.limit_active[k]) continue;
    const int r = add_limit_row(s_, limit, b.loops[limit.loop], b.system);
    if (r < 0) continue;
    const double side = limit.upper ? 1 : -1;
    const auto rate = [&](const std::vector<double>& v) {
      multibody::jacobian_times(b.system, v.data(), b.twist.data());
      return multibody::loop_times(b.system, limit.loop, b.twist.data())[r];
    };
    b.rhs.g[limit.loop][r] =
        -side * limit.restitution * std::max(0.0, side * rate(state_.v)) - rate(w_.v_end);
  }
  return factor_blocks(s_, w_) && solve_blocks(s_, w_, b.x, false);
}

}  // namespace limber::articulated
