// The energy of a step: what it books, and the guard against energy out of nothing. A step (or part of one)
// makes
//
//   gain = E(t₁, q₁, v₁) − E(t₀, q₀, v₀) + dissipated − work.
//
// What dampers take and loads give in a step is known at its stages only, and stiff dampers and servos change
// their power by orders of magnitude within a step: the gain is counted with the powers in the step's favour.
// Not with explicit steps: they go wrong where they do not follow a damper, and books say so.
//
// A step is split when it makes more than 5 % of the energy that moves in it, kinetic and what springs take
// or give (a part its part of that), and when all that was made comes near 2 % (single-solve Euler: 5 %) of
// the most that moved so far: the first half may be spent at once, a hundredth of the rest a step; where no
// part is short enough for that, until it is spent. So a motion that gains without end is refined or fails,
// and one that wavers about the true energy is left alone. Losses count alike where the integrator is not
// made to lose: else steps that gain would be refined, steps that lose not, and the structure would come to
// rest.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "limber/articulated/stepper.h"

namespace limber::articulated {

using result::Status;

namespace {
constexpr double most_gain = 0.05;  // in a step, of the energy that moves
// In all, of the most that moved in a step so far. A single solve swings widely about the true energy.
constexpr double most_in_all = 0.02, most_in_all_of_euler = 0.05;
constexpr double horizon = 100;  // steps that share what is left of it
}  // namespace

void Stepper::measure(const std::vector<double>& q, const std::vector<double>& v, double t,
                      KnownEnergy& out) {
  const Vec3 g = s_.model.gravity().value(t);
  out.links.resize(tree_.size());
  multibody::kinematics(tree_, q.data(), v.data(), out.links, w_.workers.get());
  out.q = q, out.v = v, out.t = t, out.measured = out.has_links = true;
  Vec3 moved;
  out.kinetic = multibody::kinetic_energy(tree_, out.links, &moved);
  out.elastic = elastic_energy(s_, q.data(), out.links, t, w_, w_.blocks ? &w_.blocks->loops_end : nullptr);
  const double gravity = -g.dot(moved);
  out.total = out.kinetic + out.elastic + gravity;
  // [J] of all loads over the structure's size.
  double loads = s_.moving_mass * g.norm() * s_.size;
  for (const CompiledLoad& l : s_.loads)
    loads += l.force.value(t).norm() * s_.size + l.moment.value(t).norm();
  // Positions hold to 1e-12 or so, iterations end at 1e-10, of what the structure itself has: where the
  // world's origin is counts for no more than the rounding of a sum.
  out.rounding = 1e-9 * (out.kinetic + std::abs(out.elastic)) + 1e-12 * loads + 1e-15 * std::abs(gravity);
}

const KnownEnergy& Stepper::energy_at_start(double t) {
  KnownEnergy& known = w_.at_start;
  if (!known.is_of(state_.q.data(), state_.v.data()) || ((field_changes() || has_winch()) && known.t != t)) {
    measure(state_.q, state_.v, t, known);
    w_.links_of_start = false;
  }
  return known;
}

// [J] that the attempt made of nothing, or lost (negative), as far as that is beyond doubt.
double Stepper::gain_of(double t, double h) {
  const KnownEnergy& start = energy_at_start(t);
  measure(w_.q_end, w_.v_end, t + h, w_.at_end);
  if (!s_.cables.empty()) w_.dissipated += slip_loss(s_, state_.cables, w_.cables);
  const double stored = w_.contacts ? w_.contacts->stored : 0;
  const double change = w_.at_end.total - start.total + stored - w_.field_work;
  // At rest without weight nothing else is left: velocities are no better than positions over the step.
  const double noise = 1e-12 * s_.size / h;
  const double rounding = start.rounding + w_.at_end.rounding + s_.moving_mass * noise * noise;
  const double booked = change + w_.dissipated - (w_.work - w_.field_work);
  if (now_ == Integrator::rk4) return std::abs(booked) > rounding ? booked : 0;
  const auto least = [&] { return std::min(booked, change + h * (w_.taken.least - w_.given.most)); };
  if (euler() && least() > rounding) {
    // A single solve knows powers at its start; dampers and loads act along the velocities at its end.
    evaluate(s_, state_.q.data(), w_.v_end.data(), t + h, {0, 0, 0}, w_);
    w_.taken.add(w_.dissipated_power);
    w_.given.add(w_.work_power);
  }
  if (least() > rounding) return least();
  const double most = std::max(booked, change + h * (w_.taken.most - w_.given.least));
  return most < -rounding ? most : 0;
}

// Of a loss, what the integrator is for: Euler damps everything, sdirk springs that are too fast for the
// step; stops take what hits them.
double Stepper::rightly_lost() const {
  const bool hit = std::ranges::any_of(w_.limit_active, [](char on) { return on != 0; }) ||
                   (w_.contacts && !w_.contacts->end.empty());
  if (hit || order_of(now_) == 1) return std::numeric_limits<double>::infinity();
  const bool damps = now_ == Integrator::sdirk || now_ == Integrator::sdirk4;
  // Of laws and preloads the energy counts from x = 0, and may be negative.
  return damps ? std::max(std::abs(w_.at_start.elastic), std::abs(w_.at_end.elastic)) : 0;
}

bool Stepper::makes_energy(double t, double h, int depth) {
  gain_ = gain_of(t, h);
  moving_ =
      std::max(w_.at_start.kinetic, w_.at_end.kinetic) + std::abs(w_.at_end.elastic - w_.at_start.elastic);
  if (w_.contacts) moving_ += std::abs(w_.contacts->stored);
  if (gain_ < 0 && gain_ + rightly_lost() >= 0) {  // makes good what was made before, and no more
    gain_ = -std::min(-gain_, std::max(0.0, state_.made));
    return false;
  }
  if (gain_ < 0) gain_ += rightly_lost();
  if (gain_ == 0) return false;
  const double size = std::abs(gain_), before = gain_ > 0 ? state_.made : -state_.made;
  const double part = 1.0 / (1 << depth);
  const double most = (euler() ? most_in_all_of_euler : most_in_all) * std::max(state_.at_stake, moving_);
  const double left = std::max(most / 2 - before, (most - before) / horizon);
  if (size <= part * std::min(most_gain * moving_, left)) return false;
  if (depth < max_split_depth) return true;
  if (size <= part * most_gain * moving_ && size <= most - before) return false;
  fail(
      Status::diverged, t,
      fmt::format("step {} {} {:.3g} J {} nothing, in parts of {:.3g} s, where {:.3g} J move (after {:.3g} J "
                  "before): a shorter step may help",
                  state_.step + 1, gain_ > 0 ? "makes" : "loses", size, gain_ > 0 ? "out of" : "into", h,
                  moving_, before),
      -1);
  return true;
}

void Stepper::clear_books() {
  w_.dissipated = w_.work = w_.field_work = 0;
  w_.taken = w_.given = {};
  std::fill(w_.works.begin(), w_.works.end(), 0.0);
}

// Of loads, drives and given motions at the last evaluation; one by one in w_.powers.
double Stepper::given_power() {
  double power = w_.work_power;
  for (std::size_t i = 0; i < s_.motions.size();
       ++i) {  // what moves a prescribed joint works on the structure
    const CompiledMotion& m = s_.motions[i];
    const Link& link = tree_[m.link];
    const Vec6 force = w_.blocks ? block_lock_force(s_, w_, m.link)
                                 : multibody::lock_force(tree_, q_at_, input_, w_.aba, w_.a.data(), m.link);
    const std::vector<double>& v = euler() ? w_.v_end : w_.v_mid;
    for (int k = 0; k < link.dofs; ++k) power += force[k] * v[link.v + k];
    if (w_.powers.empty()) continue;
    double& own = w_.powers[s_.work_of_motion(i)];
    own = 0;
    for (int k = 0; k < link.dofs; ++k) own += force[k] * v[link.v + k];
  }
  return power;
}

// Powers of the last evaluation, over h.
void Stepper::book_energy(double h) {
  book_rubs();
  w_.dissipated += h * w_.dissipated_power;
  const double power = given_power();
  w_.work += h * power;
  for (std::size_t i = 0; i < w_.works.size(); ++i) w_.works[i] += h * w_.powers[i];
  w_.taken.add(w_.dissipated_power);
  w_.given.add(power);
  if (touches()) book_touches(h);
}

// … those that are known at a node.
void Stepper::book_node(const Node& node, double h) {
  w_.dissipated += h * node.taken;
  w_.work += h * (node.given + node.field);
  w_.field_work += h * node.field;
  for (std::size_t i = 0; i < w_.works.size(); ++i) w_.works[i] += h * node.powers[i];
  w_.taken.add(node.taken);
  w_.given.add(node.given);
}

// Σ m c at q.
Vec3 Stepper::moved_mass(const std::vector<double>& q) {
  multibody::poses(tree_, q.data(), w_.links_other, w_.workers.get());
  return multibody::moved_mass(tree_, w_.links_other);
}

// A step knows gravity at its stages alone: to it the field stands still in between and changes at once, with
// the masses where they are then. That change is the work of what changes the field, V = −g · Σ m c.
void Stepper::book_field(double from, double to, const Vec3& mass_at) {
  const double work = -(s_.model.gravity().value(to) - s_.model.gravity().value(from)).dot(mass_at);
  w_.work += work;
  w_.field_work += work;
}

// The same step may be taken once more, or in parts.
void Stepper::give_links_back() {
  if (!w_.links_of_start) return;
  std::swap(w_.links, w_.at_start.links);
  w_.at_start.has_links = true;
  w_.links_of_start = false;
}

// A step may be taken once more from where the last one started.
void Stepper::recall_start() {
  const double *q = state_.q.data(), *v = state_.v.data();
  if (!w_.at_start.is_of(q, v) && w_.at_end.is_of(q, v)) std::swap(w_.at_start, w_.at_end);
}

void Stepper::commit() {
  if (!s_.cables.empty()) carry_cables_over(s_, w_.at_end.links, w_.at_end.t, w_.cables, state_.cables);
  state_.q.swap(w_.q_end);
  state_.v.swap(w_.v_end);
  state_.a.swap(w_.a);
  if (!state_.control.empty()) state_.control = w_.control_end;
  state_.dissipated += w_.dissipated;
  state_.work += w_.work;
  for (std::size_t i = 0; i < w_.works.size(); ++i) state_.works[i] += w_.works[i];
  if (w_.contacts) keep_touches(h_);
  state_.made += gain_;
  state_.at_stake = std::max(state_.at_stake, moving_);
  give_links_back();
  std::swap(w_.at_start, w_.at_end);
}

}  // namespace limber::articulated
