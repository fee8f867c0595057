// What touches at the end of a step (docs/theory/contact.md): impulses p give the velocities their due.
// Places that the step closed do not approach, with λh + p in the cone (Gear, Gupta, Leimkuhler 1985 with
// inequalities; Brüls, Acary, Cardona 2014). What hits faster than weight makes it in two steps bounces: the
// step was cut where it hits, and those that hit part at e times their speed, one generation after the other
// (Smith, Kaufman, Vouga, Tamstorf, Grinspun 2012).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "limber/articulated/stepper.h"
#include "limber/result/warnings.h"

namespace limber::articulated {

using result::Status;

namespace {

constexpr double unforeseen = 1e-6;       // of the size: an overlap at the end is looked at again
constexpr double most_overlap = 0.02;     // of the size: more than that in a step is one too long
constexpr double careful_overlap = 2e-4;  // … in steps that were not halved often: it was not foreseen
constexpr int careful_halving = 4;
constexpr double closed = 1e-9;       // of the size: a gap that is none
constexpr double most_given = 1e-8;   // of the energy that moves: by contacts that part nothing
constexpr int most_generations = 40;  // of impacts at one time
constexpr double still = 1e-10;       // of the speeds: is no velocity

}  // namespace

// Impulses x at the places of the step's end: on v_end and on all their velocities. Books what they take.
bool Stepper::strike(const std::vector<Touch>& touches, const std::vector<Vec3>& x) {
  Contacts& c = *w_.contacts;
  Blocks& b = *w_.blocks;
  b.rhs.clear();
  push_rhs(touches, x);
  if (!solve_blocks(s_, w_, b.x, true)) return false;
  double work = 0;
  for (std::size_t k = 0; k < touches.size(); ++k)
    work += x[k].dot(touches[k].u + 0.5 * touch_velocity(touches[k], w_.links, b.x.twist.data()));
  c.work += work;
  book_struck_motions();
  for (std::size_t k = 0; k < w_.v_end.size(); ++k) w_.v_end[k] += b.x.a[k];
  for (Touch& t : c.end) t.u += touch_velocity(t, w_.links, b.x.twist.data());
  return true;
}

// What moves a joint that is struck goes on at its rate, and works by that.
void Stepper::book_struck_motions() {
  for (std::size_t i = 0; i < s_.motions.size(); ++i) {
    const Link& link = tree_[s_.motions[i].link];
    const Vec6 impulse = block_lock_force(s_, w_, s_.motions[i].link);
    double work = 0;
    for (int k = 0; k < link.dofs; ++k) work += impulse[k] * w_.v_end[link.v + k];
    w_.work += work;
    if (!w_.works.empty()) w_.works[s_.work_of_motion(i)] += work;
  }
}

// Impacts of what came freely, one generation after the other: those that approach part, which may set others
// on their way. By Newton's rule; where friction would make that gain energy, the impulse that stops them
// times 1 + e, which never does (docs/theory/contact.md).
bool Stepper::bounce(double threshold) {
  Contacts& c = *w_.contacts;
  if (!s_.bounces) return true;
  for (int generation = 0; generation < most_generations; ++generation) {
    c.hits.clear();
    for (const Touch& t : c.end)
      if (!(t.force[0] > 0) && t.u[0] < -threshold) c.hits.push_back(t);
    const std::size_t n = c.hits.size();
    if (n == 0) return true;
    c.hit_forces.begin(s_, w_, c.hits);
    c.free.resize(n), c.push.resize(n);
    const auto impulses = [&](bool rebound) {
      for (std::size_t k = 0; k < n; ++k) {
        c.free[k] = c.hits[k].u;
        if (rebound) c.free[k][0] *= 1 + c.hits[k].restitution;
        c.hits[k].force.setZero();
      }
      const bool good = accept(c.hit_forces.solve(1, c.free, c.hits));
      for (std::size_t k = 0; k < n; ++k) c.push[k] = c.hits[k].force;
      return good;
    };
    if (!impulses(true)) return false;
    c.before.assign(n, Vec3::Zero());
    c.hit_forces.add_motion(1, c.push, c.before);
    double gain = 0, most = 0;
    for (std::size_t k = 0; k < n; ++k) {
      gain += c.push[k].dot(c.hits[k].u + 0.5 * c.before[k]);
      most += std::abs(c.push[k].dot(c.hits[k].u));
    }
    if (gain > 1e-12 * most) {
      double e = 1;  // one for all: what friction ties together does not take several
      for (const Touch& t : c.hits) e = std::min(e, t.restitution);
      if (!impulses(false)) return false;
      for (Vec3& p : c.push) p *= 1 + e;
    }
    if (!strike(c.hits, c.push)) return false;
  }
  return true;
}

// All places at the step's end at rest against each other; what was stopped within the step parts at e times
// the speed it came with, unless that would gain energy. What pushed in the step counts to their impulse.
bool Stepper::settle(double threshold) {
  Contacts& c = *w_.contacts;
  bool rebounds = false;
  for (Touch& t : c.end) {
    t.rebound = 0;
    if (!s_.bounces || !(t.restitution > 0) || !(t.force[0] > 0)) continue;
    const double approach = velocity_at_start(t);
    if (approach < -threshold) t.rebound = -t.restitution * approach, rebounds = true;
  }
  c.before.resize(c.end.size());
  for (std::size_t k = 0; k < c.end.size(); ++k) c.before[k] = c.end[k].force;
  if (!find_settling()) return false;
  if (rebounds) {
    c.was.assign(c.end.size(), Vec3::Zero());
    c.forces.add_motion(1, c.push, c.was);
    double gain = c.work, most = std::abs(c.work);
    for (std::size_t k = 0; k < c.end.size(); ++k) {
      const double work = c.push[k].dot(c.end[k].u + 0.5 * c.was[k]);
      gain += work, most += std::abs(work);
    }
    if (gain > 1e-12 * most) {
      for (std::size_t k = 0; k < c.end.size(); ++k) c.end[k].rebound = 0, c.end[k].force = c.before[k];
      if (!find_settling()) return false;
    }
  }
  return strike(c.end, c.push);
}

// Impulses of all places so that none approaches, into their forces; what they add to c.before into c.push.
bool Stepper::find_settling() {
  Contacts& c = *w_.contacts;
  const std::size_t n = c.end.size();
  c.free.resize(n), c.push.resize(n);
  for (std::size_t k = 0; k < n; ++k) {
    c.free[k] = c.end[k].u;
    c.free[k][0] -= c.end[k].rebound;
  }
  c.forces.add_motion(-1, c.before, c.free);
  const ContactReport found = c.forces.solve(1, c.free, c.end);
  for (std::size_t k = 0; k < n; ++k) c.push[k] = c.end[k].force - c.before[k];
  return accept(found);
}

// Along the normal that it has at the end.
double Stepper::velocity_at_start(const Touch& t) const {
  const Contacts& c = *w_.contacts;
  const auto of = [&](int link, const Vec3& p) -> Vec3 {
    if (link < 0) return Vec3::Zero();
    const LinkMotion& m = c.links[link];
    return m.X_WM.R * (m.V.tail<3>() + m.V.head<3>().cross(p));
  };
  return t.axes.col(0).dot(of(t.link_a, t.p_a) - of(t.link_b, t.p_b));
}

// What contacts did in the step, all in all: a force and the impulse that makes good for it go together. They
// give only where they push apart what overlaps; a step in which they give otherwise is no step.
bool Stepper::close_touch_books(double t) {
  Contacts& c = *w_.contacts;
  double work = std::exchange(c.work, 0.0);
  c.stored = 0;
  for (const Touch& x : c.start) c.stored -= x.stored();
  for (const Touch& x : c.end) c.stored += x.stored();
  work += c.stored;
  (work < 0 ? w_.dissipated : w_.work) += std::abs(work);
  if (!(work > 0) || depth_ >= deepest_halving) return true;
  double pushed = 0;  // what forces give that push apart what overlaps, or seems to by rounding
  for (const Touch& x : c.now) {
    double before = unnoticed * x.size;
    for (const Touch& s : places_of_pair(c.start, x.a, x.b)) before = std::max(before, -s.gap);
    pushed += x.force[0] * before;
  }
  const double kinetic = energy_at_start(state_.t).kinetic, g = s_.model.gravity().value(t).norm();
  const double fall = s_.moving_mass * g * g * h_ * c.whole;
  if (work <= most_given * (kinetic + fall) + pushed) return true;
  return fail(Status::not_converged, t, "contacts would make energy; a smaller step may help", -1);
}

// Velocities at the end: nothing that the step closed approaches, what hits bounces.
bool Stepper::finish_touches(double t, double h) {
  Contacts& c = *w_.contacts;
  c.end.clear();
  c.overlap = c.overlap_share = 0;
  if (c.pairs.empty()) return true;
  for (const Touch& x : c.now)
    for (const int link : {x.link_a, x.link_b})
      if (link >= 0 && x.force[0] > 0 && depth_ < deepest_halving &&
          h * w_.links[link].V.head<3>().norm() > most_turn_beside)
        return fail(Status::not_converged, t, "it turns too far in a step while it touches something", link);
  remember(c.now, h);
  multibody::kinematics(tree_, w_.q_end.data(), w_.v_end.data(), c.links_end, w_.workers.get());
  place_solids(c.links_end, c.solids);
  bool surprised = false;
  for (CandidatePair& pair : c.pairs) {
    const std::size_t first = c.end.size();
    find_touches(pair, c.links_end, c.end);
    for (std::size_t k = first; k < c.end.size() && !pair.smooth; ++k)
      if (-c.end[k].gap > unforeseen * c.end[k].size) surprised = pair.smooth = true;
  }
  if (const int link = went_through(); link >= 0)
    return fail(Status::not_converged, t, "it goes through something", link);
  if (const int link = lost_touch(); link >= 0)
    return fail(Status::not_converged, t, "it loses what it pushes within a step", link);
  if (surprised && !second_look_) return look_again(t - h, h);
  double speed = h * s_.model.gravity().value(t).norm();
  for (Touch& x : c.end) {
    x.u = touch_velocity(x, c.links_end);
    speed = std::max(speed, x.u.norm());
    if (x.soft()) continue;
    c.overlap = std::max(c.overlap, -x.gap);
    c.overlap_share = std::max(c.overlap_share, -x.gap / x.size);
    if (went_in(x)) return fail(Status::not_converged, t, "it goes into what it touches", x.link_a);
  }
  const double quiet = still * speed;
  // Of interest: what pushed in the step, and what is there and goes on.
  std::erase_if(c.end, [&](const Touch& x) {
    if (x.force[0] > 0 || x.stored() > 0) return false;
    const bool hits = x.u[0] < -quiet && x.gap <= 1e-3 * c.whole * -x.u[0];
    return !(hits || x.gap <= closed * x.size);
  });
  const bool due = std::any_of(c.end.begin(), c.end.end(), [&](const Touch& x) {
    if (x.soft()) return false;
    const bool sticks = x.force.tail<2>().norm() < x.friction * x.force[0] * (1 - 1e-9);
    return std::abs(x.u[0]) > quiet || (sticks && x.u.tail<2>().norm() > quiet);
  });
  if (!due) return true;
  set_soft_aside();
  hold_for_impacts();
  if (!factor_at_end()) return fail_pivot(t);
  c.response.forget();
  c.forces.begin(s_, w_, c.end);
  const double threshold = bounce_threshold();
  const bool good = bounce(threshold) && settle(threshold);
  c.response.forget();  // the next stage has another factor
  take_soft_back();
  if (good) return true;
  return fail(Status::not_converged, t, "the impulses of what touches do not converge", -1);
}

// What gives takes no impulses.
void Stepper::set_soft_aside() {
  Contacts& c = *w_.contacts;
  c.soft.clear();
  for (const Touch& x : c.end)
    if (x.soft()) c.soft.push_back(x);
  std::erase_if(c.end, [](const Touch& x) { return x.soft(); });
}

void Stepper::take_soft_back() {
  Contacts& c = *w_.contacts;
  if (c.soft.empty()) return;
  c.end.insert(c.end.end(), c.soft.begin(), c.soft.end());
  std::ranges::sort(c.end, {}, [](const Touch& x) { return std::tuple(x.a, x.b, x.feature); });
}

// Where a step began was no guide to where it ended: once more, by the places that it comes to.
bool Stepper::look_again(double t, double h) {
  second_look_ = true;
  const bool good = attempt(t, h);
  second_look_ = false;
  return good;
}

// A link that a step brought to the other side of what was in front of it; −1: none. Seen from the middle of
// the solids: what only passes by costs shorter steps, no more.
int Stepper::went_through() const {
  const Contacts& c = *w_.contacts;
  if (depth_ >= deepest_halving) return -1;
  const auto middle = [&](int solid, const std::vector<LinkMotion>& links) -> Vec3 {
    const contact::Collidable& s = s_.contacts.solids()[solid];
    return s.body.valid() ? Vec3(links[s.body.value].X_WM * (tree_[s.body.value].X_MB * s.X_BG.p)) : s.X_BG.p;
  };
  for (const Touch& t : c.start) {
    const Vec3 n = t.axes.col(0);
    const double before = n.dot(middle(t.a, c.links) - middle(t.b, c.links)),
                 after = n.dot(middle(t.a, c.links_end) - middle(t.b, c.links_end));
    if (before > 0 && t.gap > 0 && after < -1e-3 * t.size) return t.link_a >= 0 ? t.link_a : t.link_b;
  }
  return -1;
}

// A link that was pushed in the step by something that is nowhere near it at the end: it left over an edge,
// or it is so deep inside that neither knows the other's side any more; −1: none.
int Stepper::lost_touch() const {
  const Contacts& c = *w_.contacts;
  if (depth_ >= deepest_halving) return -1;
  for (const Touch& t : c.now)
    if (t.force[0] > 0 && places_of_pair(c.end, t.a, t.b).empty()) return t.link_a >= 0 ? t.link_a : t.link_b;
  return -1;
}

// Deeper than where the step began, which a shorter one would have seen: in its first halvings a little is
// much.
bool Stepper::went_in(const Touch& t) const {
  if (depth_ >= deepest_halving) return false;
  const double most = (depth_ < careful_halving ? careful_overlap : most_overlap) * t.size;
  return -t.gap > most && -t.gap > most + std::max(0.0, -deepest_at_start(t));
}

// The forces of the last step on the links as they stand, w.links.
void add_kept_wrenches(const SystemData& s, const std::vector<double>& touching, WorkspaceData& w) {
  for (std::size_t k = 0; k < touching.size(); k += State::touching_width) {
    const double* x = touching.data() + k;
    // Kept is the place on b; forces act half-way through what overlaps.
    const Vec3 at = Vec3(x[3], x[4], x[5]) + 0.5 * x[12] * Vec3(x[9], x[10], x[11]), force(x[6], x[7], x[8]);
    for (int side = 0; side < 2; ++side) {
      const BodyId body = s.contacts.solids()[static_cast<std::size_t>(x[side])].body;
      if (!body.valid()) continue;
      const Pose& X = w.links[body.value].X_WM;
      const Vec3 f = X.R.transpose() * (side == 0 ? force : Vec3(-force));
      w.wrench[body.value].head<3>() += (X.R.transpose() * (at - X.p)).cross(f);
      w.wrench[body.value].tail<3>() += f;
    }
  }
}

double stored_in_touches(const SystemData& s, const std::vector<double>& touching) {
  double sum = 0;
  for (std::size_t k = 0; k < touching.size(); k += State::touching_width) {
    const double* x = touching.data() + k;
    const double gap = x[State::touching_width - 1];
    if (!(gap < 0)) continue;
    const auto law = s.contacts.law(s.model, static_cast<int>(x[0]), static_cast<int>(x[1]));
    sum += 0.5 * law.stiffness * gap * gap;
  }
  return sum;
}

void Stepper::keep_touches(double h) {
  state_.touching.clear();
  state_.overlap = w_.contacts->overlap;
  report_.contact_overlap = std::max(report_.contact_overlap, w_.contacts->overlap_share);
  for (const Touch& t : w_.contacts->end) {
    if (!t.soft() && -t.gap > most_overlap * t.size && -t.gap > -deepest_at_start(t) + 1e-6 * t.size)
      result::add_warning(
          report_, fmt::format("{} goes into {}: what moves or holds them leaves no way out",
                               s_.contacts.name_of(s_.model, t.a), s_.contacts.name_of(s_.model, t.b)));
    const Vec3 at = t.at - 0.5 * t.gap * t.axes.col(0), force = t.axes * t.force / h;
    for (const double x :
         {static_cast<double>(t.a), static_cast<double>(t.b), static_cast<double>(t.feature), at[0], at[1],
          at[2], force[0], force[1], force[2], t.axes(0, 0), t.axes(1, 0), t.axes(2, 0), t.gap})
      state_.touching.push_back(x);
  }
}

}  // namespace limber::articulated
