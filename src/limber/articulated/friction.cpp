// Dry friction of joints: on a coordinate with rate v
//
//   v ≠ 0   −sign(v) F(|v|),   F(v) = F_d + (F_s − F_d) exp(−(v/v_s)²)       it slides
//   v = 0   whatever keeps it there, up to F_s                               it sticks
//
// by an active set, as limits are: what sticks has its rate locked at zero (a row of the solve, so that it
// truly stands), and is let go the way the lock pushed against where it would need more than F_s; what slides
// has a given force. A step in which something that slides comes to a stop is divided there, so that its
// friction acts while it moves and no longer: the stop is at its place to the order of the integrator.
#include <algorithm>
#include <cmath>

#include "limber/articulated/stepper.h"
#include "limber/math/trig.h"

namespace limber::articulated {
namespace {

int sign_of(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
constexpr int most_changes = 4;          // of one coordinate in a step
constexpr double shortest_share = 0.01;  // of a step that is divided at a stop
constexpr int most_divisions = 40;       // of a step
constexpr double beyond = 1 + 1e-12;     // of a level: rounding of a lock's force

}  // namespace

double Rub::level(double speed) const {
  if (sticking == sliding || velocity == 0) return sliding;
  const double x = speed / velocity;
  return sliding + (sticking - sliding) * math::exp(-x * x);
}

void compile_friction(SystemData& s) {
  for (int i = 0; i < s.tree.size(); ++i) {
    const multibody::Link& link = s.tree[i];
    const JointLaw& law = s.model.joints()[i].law;
    const bool given = std::any_of(s.motions.begin(), s.motions.end(),
                                   [&](const CompiledMotion& m) { return law.extras && m.link == i; });
    for (int k = 0; k < link.dofs; ++k)
      if (law.rubs(k))
        s.rubs.push_back({i, k, link.v + k, law.extras->friction_static[k], law.extras->friction_dynamic[k],
                          law.extras->friction_velocity[k], given});
  }
}

void add_friction(const SystemData& s, const double* v, WorkspaceData& w) {
  for (std::size_t r = 0; r < s.rubs.size(); ++r) {
    const Rub& rub = s.rubs[r];
    const double rate = v[rub.v];
    const int way = rub.given ? sign_of(rate) : w.rub[r];
    if (way == 0) continue;
    const double force = -way * rub.level(std::max(way * rate, 0.0));
    w.tau[rub.v] += force;
    w.dissipated_power -= force * rate;
  }
}

Vec6 sliding_force(const SystemData& s, int link, const double* v) {
  Vec6 out = Vec6::Zero();
  for (const Rub& rub : s.rubs)
    if (rub.link == link) out[rub.dof] -= sign_of(v[rub.v]) * rub.level(std::abs(v[rub.v]));
  return out;
}

// What stands sticks until its lock needs too much; what moves slides.
void Stepper::start_rubs() {
  for (std::size_t r = 0; r < s_.rubs.size(); ++r)
    w_.rub[r] = static_cast<std::int8_t>(sign_of(state_.v[s_.rubs[r].v]));
  std::fill(w_.rub_changes.begin(), w_.rub_changes.end(), 0);
  std::fill(w_.rub_force.begin(), w_.rub_force.end(), 0.0);
  split_at_ = 0;
}

bool Stepper::any_sticks() const {
  for (std::size_t r = 0; r < s_.rubs.size(); ++r)
    if (w_.rub[r] == 0 && !s_.rubs[r].given) return true;
  return false;
}

// It sticks, and no bound holds it already.
bool Stepper::is_locked(std::size_t r) const {
  const Rub& rub = s_.rubs[r];
  if (w_.rub[r] != 0 || rub.given) return false;
  for (std::size_t l = 0; l < s_.limits.size(); ++l)
    if (w_.limit_active[l] && s_.limits[l].link == rub.link && s_.limits[l].dof == rub.dof) return false;
  return true;
}

// The row of its coordinate, lock.rows: the caller gives its value and counts it.
JointLock& Stepper::new_lock_row(const Rub& rub) {
  JointLock& lock = lock_of(rub.link);
  lock.C.row(lock.rows).setZero();
  lock.C(lock.rows, rub.dof) = 1;
  return lock;
}

// The rate of what sticks goes to zero along a straight line, at every stage.
void Stepper::lock_rubs(double h, double gamma, double to_end) {
  for (std::size_t r = 0; r < s_.rubs.size(); ++r) {
    if (!is_locked(r)) continue;
    JointLock& lock = new_lock_row(s_.rubs[r]);
    const double start = state_.v[s_.rubs[r].v];
    if (sdirk())
      lock.g[lock.rows] = ((to_end == h ? (1 - gamma) * start : 0) - w_.v_base[s_.rubs[r].v]) / (gamma * h);
    else
      lock.g[lock.rows] = -start / h;
    ++lock.rows;
  }
}

// While a solution is at hand: what locks push with, and what that takes out where a rate is still on its way
// to zero.
void Stepper::book_rubs() {
  for (std::size_t r = 0; r < s_.rubs.size(); ++r) {
    const Rub& rub = s_.rubs[r];
    if (!is_locked(r)) continue;
    const Vec6 force = w_.blocks ? block_lock_force(s_, w_, rub.link)
                                 : multibody::lock_force(tree_, q_at_, input_, w_.aba, w_.a.data(), rub.link);
    w_.rub_force[r] = force[rub.dof];
    w_.dissipated_power -= force[rub.dof] * (euler() ? w_.v_end : w_.v_mid)[rub.v];
  }
}

// So little that it is no motion: the rate that another lock takes a coordinate of a loop to, or rounding of
// one that begins to slide.
bool Stepper::hardly_moves(std::size_t r) const {
  const int v = s_.rubs[r].v;
  const double rate = std::abs(w_.v_end[v]);
  return rate <= 1e-8 * std::abs(state_.v[v]) || rate * s_.rate_unit[v] * h_ <= 1e-13;
}

// A coordinate of a loop may turn round while the structure goes on, and a lock there could not hold it: such
// a one may end a little beyond, and is first tried the other way.
bool Stepper::turns_round(std::size_t r) const {
  const double start = state_.v[s_.rubs[r].v], end = w_.v_end[s_.rubs[r].v];
  if (!(w_.rub[r] * end < 0) || hardly_moves(r)) return false;
  return !(has_loops() && w_.rub[r] * start > 0 && std::abs(end) < 2 * shortest_share * std::abs(start));
}

// Whether what slides comes to a stop well within the step: where, by a straight line.
bool Stepper::stops_within(std::size_t r) {
  const double start = state_.v[s_.rubs[r].v], end = w_.v_end[s_.rubs[r].v];
  if (splits_ >= most_divisions || start * end >= 0) return false;
  const double share = start / (start - end);
  if (share < shortest_share || share > 1 - shortest_share) return false;
  split_at_ = split_at_ > 0 ? std::min(split_at_, share) : share;
  return true;
}

// Coordinates of a loop hang on each other: a second lock beside one that holds them all would contradict it,
// and one that is let go may spare the others. So of a structure with loops one changes at a time, what turns
// round before what sticks too hard.
bool Stepper::update_rubs() {
  bool changed = false;
  if (!has_loops()) {
    for (std::size_t r = 0; r < s_.rubs.size(); ++r) changed |= update_rub(r);
    return changed;
  }
  std::size_t which = s_.rubs.size();
  double most = 0;
  for (std::size_t r = 0; r < s_.rubs.size(); ++r) {
    const Rub& rub = s_.rubs[r];
    if (rub.given || w_.rub_changes[r] > most_changes) continue;
    const bool turns = w_.rub[r] != 0 && turns_round(r);
    const double excess = w_.rub[r] == 0 ? std::abs(w_.rub_force[r]) / (beyond * rub.sticking) : 0;
    constexpr double first = 1e100;
    const double worth = turns ? first * (1 + std::abs(w_.v_end[rub.v])) : excess > 1 ? excess : 0;
    if (worth > most) most = worth, which = r;
  }
  return most > 0 && update_rub(which);
}

bool Stepper::update_rub(std::size_t r) {
  const Rub& rub = s_.rubs[r];
  if (rub.given || w_.rub_changes[r] > most_changes) return false;
  if (w_.rub[r] == 0) {
    if (!(std::abs(w_.rub_force[r]) > beyond * rub.sticking)) return false;
    w_.rub[r] = static_cast<std::int8_t>(-sign_of(w_.rub_force[r]));
  } else {
    if (!turns_round(r)) return false;
    if (!stops_within(r))
      w_.rub[r] = static_cast<std::int8_t>(has_loops() && w_.rub_changes[r] == 0 ? -w_.rub[r] : 0);
  }
  ++w_.rub_changes[r];
  return true;
}

// To the last bit, so that the next step knows that it stands.
void Stepper::rest_what_sticks() {
  for (std::size_t r = 0; r < s_.rubs.size(); ++r)
    if (!s_.rubs[r].given && (w_.rub[r] == 0 || hardly_moves(r))) w_.v_end[s_.rubs[r].v] = 0;
}

// At a frame: what stands is locked, …
void Stepper::rub_at_frame() {
  for (std::size_t r = 0; r < s_.rubs.size(); ++r) {
    if (!is_locked(r)) continue;
    JointLock& lock = new_lock_row(s_.rubs[r]);
    lock.g[lock.rows++] = 0;
  }
}

// … and the one whose lock would need most beyond its level slides.
bool Stepper::let_one_slip() {
  std::size_t worst = 0;
  double most = 1;
  for (std::size_t r = 0; r < s_.rubs.size(); ++r) {
    const Rub& rub = s_.rubs[r];
    if (!is_locked(r)) continue;
    const Vec6 force = w_.blocks ? block_lock_force(s_, w_, rub.link)
                                 : multibody::lock_force(tree_, q_at_, input_, w_.aba, w_.a.data(), rub.link);
    w_.rub_force[r] = force[rub.dof];
    if (const double share = std::abs(force[rub.dof]) / (beyond * rub.sticking); share > most)
      most = share, worst = r;
  }
  if (most > 1) w_.rub[worst] = static_cast<std::int8_t>(-sign_of(w_.rub_force[worst]));
  return most > 1;
}

}  // namespace limber::articulated
