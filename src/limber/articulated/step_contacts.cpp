// Contacts in a step (docs/theory/contact.md). Forces act through the step's stage, in its own iteration:
//
//   A δa = r + Gᵀλ,   gap at the end of the step ≥ 0 ⟂ λ_n ≥ 0,   λ_t in Coulomb's disk against the mean slip
//
// Velocities at its end: step_impacts.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "limber/articulated/stepper.h"
#include "limber/result/warnings.h"

namespace limber::articulated {

using result::Status;

namespace {

constexpr double noted_overlap = 0.01;  // of the smaller of two: more than this at the start is told
constexpr double slack = 1e-3;          // of its size: how near something is looked at
constexpr double smooth_way = 0.1;      // of its size in a step: slower places follow the surfaces
constexpr double recovery = 0.2;        // of a larger one a step,
constexpr double gentle = 5e-3;         // and of the size at most: what pushes apart gives speed
constexpr double worst_taken = 0.1;     // residual of forces
constexpr int deepest_for_forces = 3;   // a step is halved for them so often
constexpr int most_detections = 3;      // in the iteration of a stage; then places keep to their points
constexpr double least_turn = 1e-7;     // [rad] in a step: less moves no place
constexpr double most_shift = 0.05;     // of its size: of a place, along the surface
constexpr double far_off = 1e-3;        // of the size: what was found in another motion is looked at again
constexpr int most_splits = 12;         // of a step at impacts
constexpr double shortest = 1e-3;       // of a step: no impact is waited for less
constexpr double before_hit = 1e-6;     // of the way: so that nothing pushes before it bounces

Touch make_touch(const SystemData& s, int a, int b, const contact::ContactPoint& point,
                 const std::vector<LinkMotion>& links) {
  Touch t;
  t.a = a, t.b = b;
  t.feature = point.feature;
  const auto link_of = [&](int solid) {
    const BodyId body = s.contacts.solids()[solid].body;
    return body.valid() && s.part_of[body.value] >= 0 ? body.value : -1;
  };
  t.link_a = link_of(a), t.link_b = link_of(b);
  t.p_a = t.link_a < 0 ? point.on_a : links[t.link_a].X_WM.inverse() * point.on_a;
  t.p_b = t.link_b < 0 ? point.on_b : links[t.link_b].X_WM.inverse() * point.on_b;
  t.at = 0.5 * (point.on_a + point.on_b);
  const Vec3& n = point.normal;
  const Vec3 t1 = n.unitOrthogonal();
  t.axes << n, t1, n.cross(t1);
  t.gap = point.gap;
  const TouchLaw law = s.contacts.law(s.model, a, b);
  t.friction = law.friction;
  t.stiffness = law.stiffness, t.damping = law.damping;
  t.restitution = t.soft() ? 0 : law.restitution;
  const double one = s.contacts.solids()[a].size, other = s.contacts.solids()[b].size;
  t.size = one > 0 && other > 0 ? std::min(one, other) : std::max(one, other);
  return t;
}

}  // namespace

double Stepper::bounce_threshold() const {
  return 2 * w_.contacts->whole * s_.model.gravity().value(state_.t).norm();
}

void Stepper::place_solids(const std::vector<LinkMotion>& links, std::vector<contact::Solid>& solids) {
  for (std::size_t i = 0; i < solids.size(); ++i) {
    const contact::Collidable& solid = s_.contacts.solids()[i];
    if (!solid.body.valid()) continue;
    solids[i].X_WG = links[solid.body.value].X_WM * (tree_[solid.body.value].X_MB * solid.X_BG);
  }
}

// Appends the places of a pair where the solids stand; forces by what the cache has.
void Stepper::find_touches(const CandidatePair& pair, const std::vector<LinkMotion>& links,
                           std::vector<Touch>& out) {
  Contacts& c = *w_.contacts;
  contact::collide(c.solids[pair.a], c.solids[pair.b], pair.margin, c.collider, c.manifold);
  if (c.manifold.count == 0) return;
  Vec3 guess[8];
  const std::size_t first = out.size();
  for (int k = 0; k < c.manifold.count; ++k)
    out.push_back(make_touch(s_, pair.a, pair.b, c.manifold.points[k], links));
  c.cache.match(pair.a, pair.b, c.manifold, 0.1 * out[first].size, guess);
  for (int k = 0; k < c.manifold.count; ++k) {
    Touch& t = out[first + k];
    t.force = t.axes.transpose() * guess[k];
    contact::project_on_cone(t.friction, t.force.data());
  }
}

// What the cache has from now on: the forces of these places.
void Stepper::remember(const std::vector<Touch>& touches, double scale) {
  Contacts& c = *w_.contacts;
  c.cache.clear();
  for (const Touch& t : touches) {
    contact::ContactPoint point;
    point.feature = t.feature;
    point.on_b = t.at - 0.5 * t.gap * t.axes.col(0);
    c.cache.add(t.a, t.b, point, scale * (t.axes * t.force));
  }
  c.cache.turn();
}

void Stepper::recall() {
  Contacts& c = *w_.contacts;
  c.cache.clear();
  for (std::size_t k = 0; k < state_.touching.size(); k += State::touching_width) {
    const double* x = state_.touching.data() + k;
    c.cache.next().push_back({static_cast<std::int32_t>(x[0]), static_cast<std::int32_t>(x[1]),
                              static_cast<std::uint32_t>(x[2]), Vec3(x[3], x[4], x[5]),
                              Vec3(x[6], x[7], x[8])});
  }
  c.cache.turn();
}

// Who may touch whom in the next h seconds, and where they are nearest now.
void Stepper::look_around(double h) {
  Contacts& c = *w_.contacts;
  multibody::kinematics(tree_, state_.q.data(), state_.v.data(), c.links, w_.workers.get());
  place_solids(c.links, c.solids);
  const double fall = h * s_.model.gravity().value(state_.t).norm();
  const auto speed = [&](int i) {
    const BodyId body = s_.contacts.solids()[i].body;
    if (!body.valid() || s_.part_of[body.value] < 0) return 0.0;
    const LinkMotion& m = c.links[body.value];
    const Vec3 w = m.V.head<3>(), v = m.V.tail<3>() + w.cross(tree_[body.value].X_MB.p);
    return v.norm() + w.norm() * s_.contacts.solids()[i].reach + fall;
  };
  const auto room = [&](int i) {
    const double size = s_.contacts.solids()[i].size;
    return slack * (size > 0 ? size : s_.size) + 1.5 * h * speed(i);
  };
  for (std::size_t i = 0; i < c.solids.size(); ++i) {
    const contact::Bounds box = contact::bounds(c.solids[i]);
    const Vec3 around = Vec3::Constant(room(static_cast<int>(i)));
    c.broad.box(static_cast<int>(i)) = {box.low - around, box.high + around};
  }
  recall();
  c.pairs.clear(), c.start.clear(), c.tied.clear();
  for (const auto& [i, other] : c.broad.pairs([&](int a, int b) { return s_.contacts.may_touch(a, b); })) {
    CandidatePair pair{i, other, room(i) + room(other), false};
    const std::size_t first = c.start.size();
    find_touches(pair, c.links, c.start);
    if (c.start.size() == first) continue;
    double nearest = c.start[first].gap;
    for (std::size_t k = first; k < c.start.size(); ++k) {
      Touch& t = c.start[k];
      nearest = std::min(nearest, t.gap);
      t.found_at = touch_velocity(t, c.links)[0];
      t.gap_end = t.gap + h * t.found_at;
    }
    const double size = c.start[first].size, way = h * (speed(i) + speed(other));
    pair.smooth = nearest < slack * size + way && way < smooth_way * size;
    c.pairs.push_back(pair);
    const int a = c.start[first].link_a, b = c.start[first].link_b;
    if (a >= 0 && b >= 0) c.tied.push_back({std::min(a, b), std::max(a, b)});
  }
  c.elimination.tie(c.tied);
  c.now = c.start;
}

std::string Stepper::overlap_at_start() const {
  const Touch* deepest = nullptr;
  for (const Touch& t : w_.contacts->start)
    if (!t.soft() && (!deepest || t.gap < deepest->gap)) deepest = &t;
  if (!deepest || !(-deepest->gap > noted_overlap * deepest->size)) return "";
  return fmt::format(
      "at the start {} overlaps {} by {:.3g} m: they are pushed apart, at most a fifth of it a step",
      s_.contacts.name_of(s_.model, deepest->a), s_.contacts.name_of(s_.model, deepest->b), -deepest->gap);
}

// What is soft and overlaps from the start has its energy from there.
void Stepper::begin_with_overlaps() {
  result::add_warning(report_, overlap_at_start());
  if (!state_.touching.empty()) return;
  for (const Touch& t : w_.contacts->start) state_.energy0 += t.stored();
}

// Next to something a step is linear in the turns: not for large ones.
int Stepper::turns_too_far(double h) const {
  const Contacts& c = *w_.contacts;
  for (const Touch& t : c.start)
    for (const int link : {t.link_a, t.link_b})
      if (link >= 0 && h * c.links[link].V.head<3>().norm() > most_turn_beside) return link;
  return -1;
}

// [s] until something first hits that shall bounce; h if nothing does.
double Stepper::time_of_impact(double h) {
  Contacts& c = *w_.contacts;
  if (c.start.empty() || !s_.bounces || c.splits >= most_splits) return h;
  const double threshold = bounce_threshold();
  multibody::BlockSystem& m = w_.blocks->end;
  multibody::set_kinematics(state_.q.data(), c.links, m);
  multibody::jacobian_times(m, state_.a.data(), w_.blocks->twist.data());
  double first = h;
  for (const Touch& t : c.start) {
    const double u = touch_velocity(t, c.links)[0];
    if (!(u < -threshold) || t.gap <= 0 || !(t.restitution > 0)) continue;
    // gap + u τ + a τ²/2 = 0
    const double a = touch_velocity(t, c.links, w_.blocks->twist.data())[0], d = u * u - 2 * a * t.gap;
    if (d < 0) continue;
    const double tau = 2 * t.gap / (-u + std::sqrt(d));
    if (tau > shortest * c.whole) first = std::min(first, (1 - before_hit) * tau);
  }
  return first < (1 - shortest) * h ? first : h;
}

// A step, cut in two where something first hits that shall bounce.
bool Stepper::advance_touching(double t, double h, int depth) {
  look_around(h);
  if (state_.step == 0 && t == 0) begin_with_overlaps();
  const double tau = time_of_impact(h);
  if (!(tau < h)) return advance_or_halve(t, h, depth);
  ++w_.contacts->splits;
  look_around(tau);
  if (!advance_or_halve(t, tau, depth)) return false;
  return advance_touching(t + tau, h - tau, depth);
}

// Of a step that starts where look_around() looked; what touches is not smooth.
bool Stepper::begin_touches(double t, double h) {
  Contacts& c = *w_.contacts;
  c.now = c.start;
  if (c.pairs.empty()) return true;
  if (order_of(now_) > 1) now_ = Integrator::midpoint;
  if (depth_ >= deepest_halving) return true;
  const int link = turns_too_far(h);
  return link < 0 || fail(Status::not_converged, t, "it turns too far in a step next to something", link);
}

// Gaps of the pair at the step's end, for its places `from` on: by feature, else the nearest.
void Stepper::find_gaps_at_end(const CandidatePair& pair, std::size_t from) {
  Contacts& c = *w_.contacts;
  contact::collide(c.solids_end[pair.a], c.solids_end[pair.b], pair.margin, c.collider, c.manifold);
  for (std::size_t k = from; k < c.end.size(); ++k) {
    Touch& t = c.end[k];
    const Vec3 there = t.at + (t.axes * (0.5 * h_ * touch_velocity(t, w_.links)));
    double nearest = 0.1 * t.size;
    for (int i = 0; i < c.manifold.count; ++i) {
      const contact::ContactPoint& p = c.manifold.points[i];
      if (p.normal.dot(t.axes.col(0)) < 0.5) continue;
      const double d = p.feature == t.feature ? -1 : (0.5 * (p.on_a + p.on_b) - there).norm();
      if (d < nearest) nearest = d, t.gap_end = p.gap;
    }
  }
}

// The place of a pair's start that this one goes on from: by feature, else the nearest; none: it is new.
const Touch* Stepper::place_at_start(const Touch& t) const {
  const Vec3 there = t.at - t.axes * (0.5 * h_ * touch_velocity(t, w_.links));
  const Touch* found = nullptr;
  double nearest = 0.1 * t.size;
  for (const Touch& s : places_of_pair(w_.contacts->start, t.a, t.b)) {
    if (s.axes.col(0).dot(t.axes.col(0)) < 0.5) continue;
    const double d = s.feature == t.feature ? -1 : (s.at - there).norm();
    if (d < nearest) nearest = d, found = &s;
  }
  return found;
}

// A normal force works by the way of the gap. The midpoint's place does not know it: what touches a rolling
// rim moves along it within the step. The place is put along the surface to where the normal velocity of the
// stage is the gap's mean rate, so that a force takes only what friction takes.
void Stepper::put_where_the_gap_goes(Touch& t) const {
  const Touch* start = place_at_start(t);
  if (!start) return;
  const auto turn = [&](int link) -> Vec3 {
    return link < 0 ? Vec3(Vec3::Zero()) : Vec3(w_.links[link].X_WM.R * w_.links[link].V.head<3>());
  };
  const Vec3 across = t.axes.col(0).cross(turn(t.link_a) - turn(t.link_b));
  if (!(h_ * across.norm() > least_turn)) return;
  const Vec3 shift = ((t.gap_end - start->gap) / h_ - t.found_at) / across.squaredNorm() * across;
  if (!(shift.norm() < most_shift * t.size)) return;
  const auto put = [&](int link, Vec3& p) {
    p += link < 0 ? shift : Vec3(w_.links[link].X_WM.R.transpose() * shift);
  };
  put(t.link_a, t.p_a), put(t.link_b, t.p_b);
  t.at += shift;
  t.found_at = touch_velocity(t, w_.links)[0];
}

// Places of the stage at hand, w_.links; forces go on from the iterate before.
void Stepper::touch_at_stage(int iteration) {
  Contacts& c = *w_.contacts;
  if (c.pairs.empty()) return;
  const bool any =
      std::any_of(c.pairs.begin(), c.pairs.end(), [](const CandidatePair& p) { return p.smooth; });
  const bool far = std::any_of(c.now.begin(), c.now.end(), [&](const Touch& t) {
    return h_ * std::abs(touch_velocity(t, w_.links)[0] - t.found_at) > far_off * t.size;
  });
  if (!any || iteration > (far ? 3 : 1) * most_detections) {
    for (Touch& t : c.now) follow(t, w_.links);
    return;
  }
  place_solids(w_.links, c.solids);
  if (midpoint()) {
    multibody::integrate(tree_, state_.q.data(), w_.v_mid.data(), h_, w_.q_end.data());
    multibody::poses(tree_, w_.q_end.data(), c.links_end, w_.workers.get());
    place_solids(c.links_end, c.solids_end);
  }
  remember(c.now, 1);
  c.end.clear();  // scratch
  std::size_t k = 0;
  for (const CandidatePair& pair : c.pairs) {
    const std::size_t first = c.end.size();
    if (pair.smooth) find_touches(pair, w_.links, c.end);
    for (std::size_t i = first; i < c.end.size(); ++i) {
      Touch& t = c.end[i];
      t.found_at = touch_velocity(t, w_.links)[0];
      t.gap_end = t.gap + (euler() ? h_ : midpoint() ? 0.5 * h_ : 0) * t.found_at;
    }
    if (pair.smooth && midpoint()) {
      find_gaps_at_end(pair, first);
      for (std::size_t i = first; i < c.end.size(); ++i) put_where_the_gap_goes(c.end[i]);
    }
    // An iterate may be so deep inside a mesh that no side is to be seen any more.
    const bool found = c.end.size() > first;
    for (; k < c.now.size() && (c.now[k].a < pair.a || (c.now[k].a == pair.a && c.now[k].b <= pair.b)); ++k) {
      if (found) continue;
      c.end.push_back(c.now[k]);
      follow(c.end.back(), w_.links);
    }
  }
  std::swap(c.now, c.end);
}

// Adds the places' forces to w_.wrench.
void Stepper::add_touch_wrenches() {
  for (const Touch& t : w_.contacts->now) {
    if (t.force.isZero(0)) continue;
    const Vec3 force = t.axes * t.force;
    const auto put = [&](int link, const Vec3& f) {
      if (link < 0) return;
      const Pose& X = w_.links[link].X_WM;
      w_.wrench[link].head<3>() += X.R.transpose() * (t.at - X.p).cross(f);
      w_.wrench[link].tail<3>() += X.R.transpose() * f;
    };
    put(t.link_a, force), put(t.link_b, -force);
  }
}

// b.rhs += Gᵀ x of the places.
void Stepper::push_rhs(const std::vector<Touch>& touches, const std::vector<Vec3>& x) {
  Blocks& b = *w_.blocks;
  for (std::size_t k = 0; k < touches.size(); ++k) {
    const Touch& t = touches[k];
    const Vec3 force = t.axes * x[k];
    const auto put = [&](int link, const Vec3& f) {
      if (link < 0) return;
      b.rhs.wrench[link].head<3>() += (t.at - b.system.origin[link]).cross(f);
      b.rhs.wrench[link].tail<3>() += f;
    };
    put(t.link_a, force), put(t.link_b, -force);
  }
}

// The least gap of a touch's pair where the step begins; a large one if it had no place then.
double Stepper::deepest_at_start(const Touch& t) const {
  double least = t.size;
  for (const Touch& s : places_of_pair(w_.contacts->start, t.a, t.b)) least = std::min(least, s.gap);
  return least;
}

// A surface that gives pushes with λ = k δ + d δ', δ = −gap: by its mean over the step (midpoint), or by what
// it is at its end. λ = −(k₁ gap_end + k₀ gap_start) ≥ 0, a gap at the start counting where it is none.
Stepper::SoftLaw Stepper::soft_law(const Touch& t, double h) const {
  const double share = midpoint() ? 0.5 * t.stiffness : t.stiffness, rate = t.damping / h;
  return {share + rate, t.stiffness - share - rate};
}

// Of the step's linear solution b.x: the velocity at which a place's gap closes at the end, its slip.
Vec3 Stepper::closing_velocity(const Touch& t, const Stage& stage) const {
  const double h = stage.h;
  const Vec3 was = touch_velocity(t, w_.links),
             change = stage.gamma * h * touch_velocity(t, w_.links, w_.blocks->x.twist.data());
  const double at_end = t.gap_end + h * (was[0] - t.found_at);
  if (t.soft()) {
    const SoftLaw law = soft_law(t, h);
    const Touch* start = place_at_start(t);
    const double at_start = std::min(0.0, start ? start->gap : at_end - h * was[0]);
    Vec3 u = was + change;
    u[0] = (at_end + law.start / law.end * at_start) / h + change[0];
    return u;
  }
  // Deeper than the pair was where the step began it was nowhere, wherever a straight way back would lead.
  const double at_start = std::max(at_end - h * was[0], deepest_at_start(t));
  // By the whole step, not by what it was divided into: what overlaps was there before.
  const double back = std::min(-recovery * at_start, gentle * t.size) * h / w_.contacts->whole;
  const double wanted = at_start > -slight_overlap * t.size ? 0 : at_start + back;
  Vec3 u = was + change;
  u[0] = (at_end - wanted) / h + change[0];
  return u;
}

// The stage's linear solution b.x knows the places' forces of the iterate before: finds those that it needs,
// and solves once more. Most of what is near stays open: forces are found for the places that push or would
// close, then for those too that these forces would close.
bool Stepper::solve_touches(const Stage& stage) {
  Contacts& c = *w_.contacts;
  const std::size_t n = c.now.size();
  c.base.resize(n), c.chosen.assign(n, 0);
  bool idle = true;
  for (std::size_t k = 0; k < n; ++k) {
    c.base[k] = closing_velocity(c.now[k], stage);
    c.now[k].u = touch_velocity(c.now[k], w_.links) +
                 stage.gamma * stage.h * touch_velocity(c.now[k], w_.links, w_.blocks->x.twist.data());
    c.chosen[k] = !c.now[k].force.isZero(0) || c.base[k][0] < 0;
    idle = idle && !c.chosen[k];
  }
  if (idle) return true;
  while (true) {
    if (!solve_chosen(stage)) return false;
    bool more = false;
    for (std::size_t k = 0; k < n; ++k) {
      if (c.chosen[k] || stage.h * closing_velocity(c.now[k], stage)[0] > -unnoticed * c.now[k].size)
        continue;
      c.chosen[k] = 1;
      more = true;
    }
    if (!more) return true;
  }
}

// Forces of the chosen places, and b.x with them.
bool Stepper::solve_chosen(const Stage& stage) {
  Contacts& c = *w_.contacts;
  Blocks& b = *w_.blocks;
  const double step = stage.gamma * stage.h;
  c.solved.clear(), c.free.clear(), c.before.clear(), c.push.clear();
  for (std::size_t k = 0; k < c.now.size(); ++k) {
    if (!c.chosen[k]) continue;
    c.solved.push_back(c.now[k]);
    if (c.now[k].soft()) c.solved.back().give = 1 / (soft_law(c.now[k], stage.h).end * stage.h);
    c.free.push_back(c.base[k]);
    c.before.push_back(c.now[k].force);
  }
  c.forces.begin(s_, w_, c.solved);
  c.forces.add_motion(-step, c.before, c.free);
  const ContactReport found = c.forces.solve(step, c.free, c.solved);
  report_.solver_iterations = std::max(report_.solver_iterations, found.iterations);
  if (!accept(found))
    return fail(Status::not_converged, stage.t,
                fmt::format("the forces of {} places that touch do not converge (residual {:.1e}); a smaller "
                            "step may help",
                            c.solved.size(), found.residual),
                -1);
  for (std::size_t k = 0; k < c.solved.size(); ++k) c.push.push_back(c.solved[k].force - c.before[k]);
  // The forces that were may be the answer. What locks hold is told by the last solve, which must be the
  // step's own.
  const bool again = !w_.locks.empty() ||
                     std::any_of(c.push.begin(), c.push.end(), [](const Vec3& f) { return !f.isZero(0); });
  if (again) push_rhs(c.solved, c.push);
  if (again && !solve_blocks(s_, w_, b.x, false))
    return fail(Status::not_converged, stage.t, "the linear solver did not converge", -1);
  std::size_t next = 0;
  for (std::size_t k = 0; k < c.now.size(); ++k) {
    Touch& t = c.now[k];
    if (c.chosen[k]) t.force = c.solved[next++].force;
    t.u = touch_velocity(t, w_.links) + step * touch_velocity(t, w_.links, b.x.twist.data());
    c.base[k] = closing_velocity(t, stage);
  }
  return true;
}

// False: the forces are no answer, the step is to be halved. Where that has not helped often enough the best
// that was found is taken, and told.
bool Stepper::accept(const ContactReport& found) {
  if (!found.converged && (depth_ < deepest_for_forces || !(found.residual < worst_taken)))
    return fail(Status::not_converged, state_.t,
                "the forces of what touches do not converge; a smaller step may help", -1);
  if (!found.converged)
    result::add_warning(report_,
                        "contact forces of a step did not converge: the report tells their residual");
  report_.contact_residual = std::max(report_.contact_residual, found.residual);
  report_.cone_violation = std::max(report_.cone_violation, found.cone_violation);
  return true;
}

// What contacts did in a step along the velocities of its stage.
void Stepper::book_touches(double h) {
  double power = 0;
  for (const Touch& t : w_.contacts->now) power += t.force.dot(t.u);
  w_.contacts->work += h * power;
}

}  // namespace limber::articulated
