// Dry friction of joints: on a coordinate with rate v
//
//   v ≠ 0   −sign(v) F(|v|),   F(v) = F_d + (F_s − F_d) exp(−(v/v_s)²)       it slides
//   v = 0   whatever keeps it there, up to F_s                               it sticks
//
// by an active set, as limits are: what sticks has its rate locked at zero (a row of the solve, so that it
// truly stands), and is let go the way the lock pushed against where it would need more than F_s; what slides
// has a given force. A step in which something that slides comes to a stop is divided there, so that its
// friction acts while it moves and no longer: the stop is at its place to the order of the integrator.
//
// A closing joint that sticks gives its loop one row more, with the gap x − (where the step takes x) and the
// rate that goes to zero: velocities at the end obey it to rounding, which is how the next step knows it.
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

static void compile_closing_friction(SystemData& s) {
  for (std::size_t l = 0; l < s.loops.size(); ++l) {
    const CompiledLoop& loop = s.loops[l];
    for (int k = 0; loop.coupling < 0 && k < dof_count(loop.kind); ++k)
      if (loop.law.rubs(k))
        s.rubs.push_back({-1, k, -1, static_cast<int>(l), loop.law.extras->friction_static[k],
                          loop.law.extras->friction_dynamic[k], loop.law.extras->friction_velocity[k]});
  }
}

void compile_friction(SystemData& s) {
  for (int i = 0; i < s.tree.size(); ++i) {
    const multibody::Link& link = s.tree[i];
    const JointLaw& law = s.model.joints()[i].law;
    const bool given = std::any_of(s.motions.begin(), s.motions.end(),
                                   [&](const CompiledMotion& m) { return law.extras && m.link == i; });
    for (int k = 0; k < link.dofs; ++k)
      if (law.rubs(k))
        s.rubs.push_back({i, k, link.v + k, -1, law.extras->friction_static[k],
                          law.extras->friction_dynamic[k], law.extras->friction_velocity[k], given});
  }
  compile_closing_friction(s);
}

void add_friction(const SystemData& s, const double* v, WorkspaceData& w) {
  for (std::size_t r = 0; r < s.rubs.size(); ++r) {
    const Rub& rub = s.rubs[r];
    if (rub.loop >= 0) continue;
    const double rate = v[rub.v];
    const int way = rub.given ? sign_of(rate) : w.rub[r];
    if (way == 0) continue;
    const double force = -way * rub.level(std::max(way * rate, 0.0));
    w.tau[rub.v] += force;
    w.dissipated_power -= force * rate;
  }
}

void add_closing_friction(const SystemData& s, WorkspaceData& w) {
  for (std::size_t r = 0; r < s.rubs.size(); ++r) {
    const Rub& rub = s.rubs[r];
    if (rub.loop < 0 || w.rub[r] == 0) continue;
    const LoopState& at = w.blocks->loops[rub.loop];
    const double rate = loop_rates(s, rub.loop, at, w.links)[rub.dof];
    const double force = -w.rub[r] * rub.level(std::max(w.rub[r] * rate, 0.0));
    push_loop(s, rub.loop, rub.dof, force, at, w);
    w.dissipated_power -= force * rate;
  }
}

Vec6 sliding_force(const SystemData& s, int link, int loop, const double* rates) {
  Vec6 out = Vec6::Zero();
  for (const Rub& rub : s.rubs)
    if (rub.link == link && rub.loop == loop)
      out[rub.dof] -= sign_of(rates[rub.dof]) * rub.level(std::abs(rates[rub.dof]));
  return out;
}

double mean_step(const State& state) {
  return state.step > 0 ? state.t / static_cast<double>(state.step) : 0;
}

double standing_rate(const SystemData& s, const std::vector<LinkMotion>& links, double h) {
  constexpr double rounding = 1e-11;   // velocities obey the loops to 1e-13 of the fastest …
  constexpr double least_way = 1e-13;  // … and places to rounding: in a whole step, rad or of the size
  double fastest = 0;
  for (const LinkMotion& m : links)
    fastest = std::max({fastest, m.V.head<3>().norm(), m.V.tail<3>().norm() / s.size});
  return std::max(rounding * fastest, h > 0 ? least_way / h : 0);
}

bool Stepper::rubs_close() const {
  return std::any_of(s_.rubs.begin(), s_.rubs.end(), [](const Rub& r) { return r.loop >= 0; });
}

// Of all that rubs. Of a closing joint a rate is the difference of two twists: rounding is none.
void Stepper::find_rates(const double* q, const double* v, std::vector<double>& rates) {
  for (std::size_t r = 0; r < s_.rubs.size(); ++r)
    if (s_.rubs[r].loop < 0) rates[r] = v[s_.rubs[r].v];
  if (!rubs_close()) return;
  longest_ = std::max({longest_, h_, mean_step(state_)});
  Blocks& b = *w_.blocks;
  multibody::kinematics(tree_, q, v, w_.links_other, w_.workers.get());
  place_loops(s_, q, w_.links_other, b.loops_end);
  const double standing = standing_rate(s_, w_.links_other, longest_);
  for (std::size_t r = 0; r < s_.rubs.size(); ++r) {
    const Rub& rub = s_.rubs[r];
    if (rub.loop < 0) continue;
    const bool turns = is_rotational(s_.loops[rub.loop].kind, rub.dof);
    rates[r] = loop_rates(s_, rub.loop, b.loops_end[rub.loop], w_.links_other)[rub.dof];
    if (std::abs(rates[r]) <= standing * (turns ? 1 : s_.size)) rates[r] = 0;
  }
}

// What stands sticks until its lock needs too much; what moves slides.
void Stepper::start_rubs() {
  if (s_.rubs.empty()) return;
  find_rates(state_.q.data(), state_.v.data(), w_.rub_start);
  for (std::size_t r = 0; r < s_.rubs.size(); ++r)
    w_.rub[r] = static_cast<std::int8_t>(sign_of(w_.rub_start[r]));
  if (rubs_close())
    for (std::size_t r = 0; r < s_.rubs.size(); ++r)
      if (const Rub& rub = s_.rubs[r]; rub.loop >= 0)
        w_.blocks->rub_place[r] = w_.blocks->loops_end[rub.loop].x[rub.dof];
  std::fill(w_.rub_changes.begin(), w_.rub_changes.end(), 0);
  std::fill(w_.rub_force.begin(), w_.rub_force.end(), 0.0);
  split_at_ = 0;
}

bool Stepper::any_closing_sticks() const {
  for (std::size_t r = 0; r < s_.rubs.size(); ++r)
    if (s_.rubs[r].loop >= 0 && is_locked(r)) return true;
  return false;
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
    if (w_.limit_active[l] && s_.limits[l].link == rub.link && s_.limits[l].loop == rub.loop &&
        s_.limits[l].dof == rub.dof)
      return false;
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
    if (s_.rubs[r].loop >= 0 || !is_locked(r)) continue;
    JointLock& lock = new_lock_row(s_.rubs[r]);
    const double start = w_.rub_start[r];
    if (sdirk())
      lock.g[lock.rows] = ((to_end == h ? (1 - gamma) * start : 0) - w_.v_base[s_.rubs[r].v]) / (gamma * h);
    else
      lock.g[lock.rows] = -start / h;
    ++lock.rows;
  }
}

// A closing joint's, after all other rows of its loop.
void Stepper::add_sticking_rows() {
  for (std::size_t r = 0; r < s_.rubs.size(); ++r) {
    const Rub& rub = s_.rubs[r];
    if (rub.loop < 0) continue;
    w_.blocks->rub_row[r] = -1;
    if (!is_locked(r)) continue;
    const Limit row{-1, rub.dof, rub.loop};
    w_.blocks->rub_row[r] = add_limit_row(s_, row, w_.blocks->loops[rub.loop], w_.blocks->system);
  }
}

// How far a coordinate is from where it is to end: where the step starts, and as far as it goes while its
// rate falls to zero along a straight line.
double Stepper::sticking_gap(std::size_t r, const LoopState& at) const {
  const Rub& rub = s_.rubs[r];
  const double gamma = 1 - 1 / std::sqrt(2.0);
  const double share = midpoint() ? 0.5 : sdirk() ? (1 - gamma) * (1 - gamma) : 0;
  const double gap = at.x[rub.dof] - w_.blocks->rub_place[r] - share * h_ * w_.rub_start[r];
  return is_rotational(s_.loops[rub.loop].kind, rub.dof) ? std::remainder(gap, 2 * pi) : gap;
}

// Rows of what sticks with their right-hand sides, for the change of the accelerations at hand.
void Stepper::hold_sticking(const Stage& stage, bool euler) {
  if (!rubs_close()) return;
  Blocks& b = *w_.blocks;
  add_sticking_rows();
  const double h = stage.h, c = stage.gamma * h;
  for (std::size_t r = 0; r < s_.rubs.size(); ++r) {
    const Rub& rub = s_.rubs[r];
    if (rub.loop < 0 || b.rub_row[r] < 0) continue;
    double& g = b.rhs.g[rub.loop][b.rub_row[r]];
    if (euler) {
      g = -w_.rub_start[r] / h;
    } else if (midpoint()) {
      g = -2 * sticking_gap(r, b.loops_end[rub.loop]) / (h * h);
    } else if (sdirk()) {
      const double wanted = stage.to_end == h ? (1 - stage.gamma) * w_.rub_start[r] : 0;
      g = (wanted - loop_rates(s_, rub.loop, b.loops[rub.loop], w_.links)[rub.dof]) / c;
    } else {
      g = -sticking_gap(r, b.loops[rub.loop]) / (c * c);
    }
  }
}

// While q_end is brought onto the loops …
void Stepper::add_sticking_gaps() {
  Blocks& b = *w_.blocks;
  for (std::size_t r = 0; r < s_.rubs.size(); ++r)
    if (const int l = s_.rubs[r].loop; l >= 0 && b.rub_row[r] >= 0)
      b.rhs.g[l][b.rub_row[r]] = -sticking_gap(r, b.loops_end[l]);
}

// … and v_end: all that sticks stands.
void Stepper::add_sticking_rates() {
  Blocks& b = *w_.blocks;
  for (std::size_t r = 0; r < s_.rubs.size(); ++r) {
    const Rub& rub = s_.rubs[r];
    if (rub.loop < 0 || b.rub_row[r] < 0) continue;
    const int row = add_limit_row(s_, {-1, rub.dof, rub.loop}, b.loops_end[rub.loop], b.end);
    b.rhs.g[rub.loop][b.rub_row[r]] = -multibody::loop_times(b.end, rub.loop, b.twist.data())[row];
  }
}

double Stepper::force_of_lock(std::size_t r) const {
  const Rub& rub = s_.rubs[r];
  if (rub.loop >= 0) {
    const int row = w_.blocks->rub_row[r];
    return row < 0 ? 0 : -w_.blocks->x.lambda[rub.loop][row];
  }
  const Vec6 force = w_.blocks ? block_lock_force(s_, w_, rub.link)
                               : multibody::lock_force(tree_, q_at_, input_, w_.aba, w_.a.data(), rub.link);
  return force[rub.dof];
}

// While a solution is at hand: what locks push with, and what that takes out where a rate is still on its way
// to zero.
void Stepper::book_rubs() {
  for (std::size_t r = 0; r < s_.rubs.size(); ++r) {
    const Rub& rub = s_.rubs[r];
    if (!is_locked(r)) continue;
    w_.rub_force[r] = force_of_lock(r);
    const double rate = rub.loop < 0 ? (euler() ? w_.v_end : w_.v_mid)[rub.v]
                        : euler()    ? 0
                                  : loop_rates(s_, rub.loop, w_.blocks->loops[rub.loop], w_.links)[rub.dof];
    w_.dissipated_power -= w_.rub_force[r] * rate;
  }
}

// So little that it is no motion: the rate that another lock takes a coordinate of a loop to, or rounding of
// one that begins to slide.
bool Stepper::hardly_moves(std::size_t r) const {
  const Rub& rub = s_.rubs[r];
  const bool turns = rub.loop >= 0 && is_rotational(s_.loops[rub.loop].kind, rub.dof);
  const double unit = rub.loop < 0 ? s_.rate_unit[rub.v] : turns ? 1 : 1 / s_.size;
  const double rate = std::abs(w_.rub_end[r]);
  return rate <= 1e-8 * std::abs(w_.rub_start[r]) || rate * unit * h_ <= 1e-13;
}

// A coordinate of a loop may turn round while the structure goes on, and a lock there could not hold it: such
// a one may end a little beyond, and is first tried the other way.
bool Stepper::turns_round(std::size_t r) const {
  const double start = w_.rub_start[r], end = w_.rub_end[r];
  if (!(w_.rub[r] * end < 0) || hardly_moves(r)) return false;
  return !(has_loops() && w_.rub[r] * start > 0 && std::abs(end) < 2 * shortest_share * std::abs(start));
}

// Whether what slides comes to a stop well within the step: where, by a straight line.
bool Stepper::stops_within(std::size_t r) {
  const double start = w_.rub_start[r], end = w_.rub_end[r];
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
  if (s_.rubs.empty()) return false;
  find_rates(w_.q_end.data(), w_.v_end.data(), w_.rub_end);
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
    const double worth = turns ? first * (1 + std::abs(w_.rub_end[r])) : excess > 1 ? excess : 0;
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
    if (const Rub& rub = s_.rubs[r]; rub.loop < 0 && !rub.given && (w_.rub[r] == 0 || hardly_moves(r)))
      w_.v_end[rub.v] = 0;
}

// At a frame: what stands is locked, …
void Stepper::rub_at_frame() {
  for (std::size_t r = 0; r < s_.rubs.size(); ++r) {
    if (s_.rubs[r].loop >= 0 || !is_locked(r)) continue;
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
    w_.rub_force[r] = force_of_lock(r);
    if (const double share = std::abs(w_.rub_force[r]) / (beyond * rub.sticking); share > most)
      most = share, worst = r;
  }
  if (most > 1) w_.rub[worst] = static_cast<std::int8_t>(-sign_of(w_.rub_force[worst]));
  return most > 1;
}

}  // namespace limber::articulated
