#include "limber/chain/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/chain/ties.h"
#include "limber/math/so3.h"
#include "limber/math/trig.h"

namespace limber::chain {
namespace {

// Part that goes in a time: cut at one half, so that a step too long for its rule does not overshoot.
double part_gone(const Aging& rule, double stress, double dt) {
  if (rule.rate == 0 || stress <= 0) return 0;
  return std::min(0.5, dt * rule.rate * math::exp(rule.exponent * math::log(stress / rule.stress)));
}

}  // namespace

History::History(const Model& model, const StaticOptions& options) : model_(model), options_(options) {
  begin();
}

void History::begin() {
  const Model& model = model_;
  time_ = 0, started_ = false;
  made_.assign(model.changes().size(), 0);
  held_.clear(), severed_.clear(), events_.clear();
  system_.reset();
  rebuild(model);
  rest_ = system_->rest();
  left_.assign(static_cast<std::size_t>(system_->structure().links.count()), 1.0);
  for (std::size_t i = 0; i < ties_.size(); ++i) held_.push_back(i);
  // Beams that grow later are not there yet, nor is what starts from them.
  Links& links = system_->structure().links;
  for (const Change& c : model.changes())
    if (c.kind == Change::Kind::grow)
      for (int k = 0; k < links.count(); ++k)
        if (system_->joints()[k].beam == c.beam.value) links.active[k] = 0;
  for (int k = 0; k < links.count(); ++k)
    if (links.parent[k] >= 0 && !links.active[links.parent[k]]) links.active[k] = 0;
  hold();
}

void History::rebuild(const Model& model) {
  Options o;
  o.time = time_;
  auto next = std::make_unique<System>(compile(model, o));
  if (system_) {  // the same joints: what has crept, grown and broken stays so
    const Links& old = system_->structure().links;
    Links& now = next->structure().links;
    now.R_f = old.R_f;
    now.straight = old.straight;
    now.active = old.active;
    next->take_fallen(system_->all_fallen());
    for (int k = 0; k < now.count(); ++k) now.stiffness[k] *= left_[k];
  }
  ties_ = next->structure().closures;
  system_ = std::move(next);
  solver_ = std::make_unique<Solver>(system_->structure());
}

void History::hold() {
  Structure& s = system_->structure();
  std::vector<std::vector<double>> of(ties_.size());
  auto row = rest_.lambda.begin();
  for (const std::size_t i : held_) {
    const auto end = row + row_count(ties_[i].kind);
    of[i].assign(row, end);
    row = end;
  }
  const auto there = [&](int link) { return link < 0 || s.links.active[link]; };
  held_.clear(), s.closures.clear(), rest_.lambda.clear();
  for (std::size_t i = 0; i < ties_.size(); ++i) {
    if (!there(ties_[i].a) || !there(ties_[i].b)) continue;
    held_.push_back(i);
    s.closures.push_back(ties_[i]);
    of[i].resize(static_cast<std::size_t>(row_count(ties_[i].kind)), 0.0);
    rest_.lambda.insert(rest_.lambda.end(), of[i].begin(), of[i].end());
  }
  system_->set_time(time_);  // they were read at another time
}

void History::change_beam(const Change& c, ModelParts& parts) const {
  if (c.kind == Change::Kind::material) parts.beams[c.beam.value].material = c.material;
  if (c.kind == Change::Kind::section) parts.beams[c.beam.value].section = c.section;
}

bool History::make_changes(double t) {
  const auto changes = system_->written().changes();
  std::vector<std::size_t> due;
  for (std::size_t i = 0; i < changes.size(); ++i)
    if (!made_[i] && changes[i].at <= t) due.push_back(i);
  std::sort(due.begin(), due.end(),
            [&](std::size_t a, std::size_t b) { return changes[a].at < changes[b].at; });
  const std::vector<Change> list(changes.begin(), changes.end());
  for (const std::size_t i : due) {
    const Change& c = list[i];
    made_[i] = 1;
    const std::string beam = system_->written()[c.beam].name;
    Links& links = system_->structure().links;
    switch (c.kind) {
      case Change::Kind::material:
      case Change::Kind::section: {
        ModelParts parts = system_->written().parts();
        const bool material = c.kind == Change::Kind::material;
        change_beam(c, parts);
        events_.push_back(
            {t, fmt::format("beam \"{}\" is of {} \"{}\" now", beam, material ? "material" : "section",
                            material ? parts.materials[c.material.value].name
                                     : parts.sections[c.section.value].name)});
        for (int k = 0; k < links.count() && material; ++k)  // what is new is not tired
          if (system_->joints()[k].beam == c.beam.value) left_[k] = 1;
        rebuild(Model(std::move(parts)));
        hold();
        break;
      }
      case Change::Kind::grow: {
        std::vector<char> waits(system_->written().beams().size(), 0);
        for (std::size_t j = 0; j < list.size(); ++j)
          if (!made_[j] && list[j].kind == Change::Kind::grow) waits[list[j].beam.value] = 1;
        for (int k = 0; k < links.count(); ++k) {
          const bool hangs = links.parent[k] < 0 || links.active[links.parent[k]];
          const int own = system_->joints()[k].beam;
          if (own == c.beam.value && hangs && (own < 0 || !waits[own])) links.active[k] = 1;
        }
        hold();
        events_.push_back({t, fmt::format("beam \"{}\" has grown", beam)});
        break;
      }
      case Change::Kind::cut: {
        int at = -1;
        const auto off = [&](int k) { return std::abs(system_->joints()[k].s - c.s); };
        for (int k = 0; k < links.count(); ++k)
          if (system_->joints()[k].beam == c.beam.value && links.active[k] && (at < 0 || off(k) < off(at)))
            at = k;
        if (at >= 0)
          sever(at, system_->joints()[at].s, t, 0, c.s);
        else
          events_.push_back({t, fmt::format("beam \"{}\" is not there to be cut", beam)});
        break;
      }
    }
  }
  return !due.empty();
}

void History::sever(int link, double at, double t, double stress, double asked) {
  Structure& s = system_->structure();
  solver_->evaluate(rest_, false);
  const Balance& b = solver_->balance();
  Severed off;
  off.time = t;
  off.stress = stress;
  const BeamJoint& j = system_->joints()[link];
  off.beam = j.beam >= 0 ? system_->written().beams()[j.beam].name : s.links.name[link];
  off.s = at;
  const Vec3 g = system_->model().gravity().value(t);
  std::vector<int> number(static_cast<std::size_t>(s.links.count()), -1);
  for (int k = link; k < s.links.count(); ++k) {
    if (!s.links.active[k]) continue;
    const int p = s.links.parent[k];
    if (k != link && (p < 0 || number[p] < 0)) continue;
    const Pose X = k == link ? Pose{b.R[k] * rest_.shape.R[k].transpose(), b.in.c[k]}
                             : Pose{s.links.R_f[k], s.links.p_f[k] + b.R[p].transpose() * b.shift[k]};
    number[k] = off.structure.links.add(k == link ? -1 : number[p], X, s.links.stiffness[k],
                                        s.links.hinge[k] != 0, s.links.name[k]);
    off.rest.shape.theta.push_back(rest_.shape.theta[k]);
    off.rest.shape.q.push_back(rest_.shape.q[k]);
    off.rest.shape.R.push_back(rest_.shape.R[k]);
    s.links.active[k] = 0;
    system_->let_fall(k, {Pose{b.R[k], b.in.c[k]}, g, t});
  }
  off.structure.resize_loads();
  off.structure.size = s.size;
  off.structure.loads_changed();
  hold();  // nothing that is gone; springs look for themselves
  const std::string where = off.s == 0 ? "its root" : fmt::format("{:.4g} of its length", off.s);
  events_.push_back(
      {t, stress > 0
              ? fmt::format("beam \"{}\" breaks at {}, under {:.4g} Pa", off.beam, where, stress)
              : fmt::format(
                    "beam \"{}\" is cut at {}{}", off.beam, where,
                    std::abs(asked - off.s) < 1e-9 ? "" : fmt::format(", the joint next to {:.4g}", asked))});
  severed_.push_back(std::move(off));
  if (std::ranges::none_of(s.links.active, [](auto there) { return there != 0; }))
    events_.push_back({t, "nothing is left that stands"});
}

void History::age(double dt) {
  if (dt <= 0) return;
  const Model& model = system_->written();
  const bool ages = std::any_of(model.materials().begin(), model.materials().end(),
                                [](const Material& m) { return m.creep.rate > 0 || m.fatigue.rate > 0; });
  if (!ages) return;
  Links& links = system_->structure().links;
  for (const Station& s : stresses(*system_, *solver_, rest_)) {
    if (s.link < 0) continue;
    const Material& m = model[model.beams()[s.beam].material];
    const double creeps = part_gone(m.creep, s.stress.combined, dt);
    const double tires = part_gone(m.fatigue, s.stress.combined, dt);
    if (creeps > 0) {
      const Vec3 rested = creeps * rest_.shape.theta[s.link];
      links.set_rest(s.link, links.R_f[s.link] * math::so3_exp(rested));
      // About the same axis: what is left of θ.
      const Vec3 left = (1 - creeps) * rest_.shape.theta[s.link];
      rest_.shape.theta[s.link] = left;
      rest_.shape.q[s.link] = math::quat_exp(left);
      rest_.shape.R[s.link] = math::so3_exp(left);
    }
    if (tires > 0) links.stiffness[s.link] *= 1 - tires, left_[s.link] *= 1 - tires;
  }
  solver_->stiffness_changed();
}

History::Overload History::overload() {
  Overload most;
  const Model& model = system_->written();
  const auto& links = system_->structure().links;
  for (const Station& s : stresses(*system_, *solver_, rest_)) {
    const double ratio = s.stress.combined / model[model.beams()[s.beam].material].strength;
    if (!(ratio > most.ratio)) continue;
    most = {ratio, s.stress.combined, s.s, s.link};
    for (int k = 0; k < links.count() && most.link < 0; ++k)  // the root: all beyond its first joint
      if (links.active[k] && system_->joints()[k].beam == s.beam) most.link = k;
  }
  return most;
}

// From the loads, supports and wind before to those of now, in as many steps as it takes.
StaticReport History::settle(const Structure& before) {
  Structure& s = system_->structure();
  const std::vector<DeadLoad> now = s.ramped;
  const std::vector<TurningLoad> turning_now = s.turning_ramped;
  s.fixed = before.ramped;
  for (std::size_t k = 0; k < now.size(); ++k) {
    s.ramped[k].F -= before.ramped[k].F;
    s.ramped[k].S -= before.ramped[k].S;
    s.ramped[k].M -= before.ramped[k].M;
  }
  s.turning_fixed = before.turning_ramped;
  for (TurningLoad t : before.turning_ramped) {
    t.F = -t.F, t.S = -t.S, t.M = -t.M;
    s.turning_ramped.push_back(t);
  }
  s.wind_ramped = false;
  s.air_before = before.air;
  for (Closure& c : s.closures) {
    const auto was = std::ranges::find(before.closures, c.loop, &Closure::loop);
    if (was != before.closures.end())
      c.shift_before = was->shift, c.turn_before = was->turn;
    else
      take_hold(c);
  }
  s.loads_changed();
  rest_.factor = 0;
  const StaticReport r = lead();
  s.fixed.assign(now.size(), DeadLoad{});
  s.ramped = now;
  s.turning_fixed.clear();
  s.turning_ramped = turning_now;
  stand_still();
  s.loads_changed();
  rest_.factor = 1;
  return r;
}

// A tie that was not there holds what is where it is, and brings it to its place.
void History::take_hold(Closure& c) {
  solver_->evaluate(rest_, false);
  const Balance& b = solver_->balance();
  const auto pose = [&](int link, const Pose& X) { return link < 0 ? X : Pose{b.R[link], b.in.c[link]} * X; };
  const Pose off = pose(c.a, c.X_A).inverse() * pose(c.b, c.X_B);
  c.shift_before = off.p, c.turn_before = math::so3_log(off.R);
}

// Along the loads that change; where they lead to no stable rest, on by slow motion.
StaticReport History::lead() {
  StaticOptions steady = options_;
  steady.follow = false;  // a structure that snaps does not go back with its load
  constexpr int most_snaps = 20;
  StaticReport r;
  bool told = false;
  for (int snaps = 0; snaps < most_snaps; ++snaps) {
    r = solver_->solve(rest_, 1, steady);
    const bool leaves = r.report.ok() && r.symmetric && r.negative > 0;
    if (r.report.ok() && !leaves) return r;
    if (!leaves) {  // as far as they do lead
      double low = rest_.factor, high = 1;
      while (high - low > 1e-4) {
        Rest trial = rest_;
        const double middle = 0.5 * (low + high);
        const bool ok = solver_->solve(trial, middle, steady).report.ok();
        (ok ? low : high) = middle;
        if (ok) rest_ = std::move(trial);
      }
      rest_.factor = high;
    }
    Rest end = rest_;
    const StaticReport slow = solver_->relax(end, leaves, options_);
    if (!slow.report.ok()) return leaves ? r : slow;
    rest_ = std::move(end);
    if (!told)
      events_.push_back({time_, leaves ? "the rest is unstable: it goes on to a stable one"
                                       : "no rest is near the last one: it goes on to a stable one"});
    told = true;
    if (rest_.factor == 1) return slow;
  }
  return r;
}

StaticReport History::go(double t) {
  Structure before;
  if (started_) {
    before = system_->structure();
  } else {
    before.ramped.resize(system_->structure().ramped.size());
  }
  age(started_ ? t - time_ : 0);
  time_ = t;
  system_->set_time(t);
  const StaticReport r = settle(before);
  started_ = true;
  return r;
}

History::Saved History::as_it_stands() const {
  return {time_, started_, rest_, system_->structure().links, left_, events_.size()};
}

void History::restore(const Saved& at) {
  time_ = at.time, started_ = at.started, rest_ = at.rest, left_ = at.left;
  system_->structure().links = at.links;
  system_->set_time(at.time);
  stand_still();
  events_.resize(at.events);
}

// With the wind of now, and supports in their places.
void History::stand_still() {
  Structure& s = system_->structure();
  s.air_before = s.air, s.wind_ramped = false;
  for (Closure& c : s.closures) c.shift_before = c.shift, c.turn_before = c.turn;
}

StaticReport History::step(double t) {
  const Saved from = as_it_stands();
  StaticReport r = go(t);
  if (!r.report.ok() || overload().ratio <= 1) return r;
  double low = from.time, high = t;
  constexpr double close = 1e-9;
  while (from.started && high - low > close * std::max(1.0, std::abs(t))) {
    const double middle = 0.5 * (low + high);
    restore(from);
    r = go(middle);
    (r.report.ok() && overload().ratio <= 1 ? low : high) = middle;
  }
  if (high < t) {
    restore(from);
    r = go(high);
  }
  return break_off(std::move(r));
}

// One after the other, the most overloaded first.
StaticReport History::break_off(StaticReport r) {
  while (r.report.ok()) {
    const Overload over = overload();
    if (over.ratio <= 1) break;
    sever(over.link, over.s, time_, over.stress, over.s);
    r = settle(Structure(system_->structure()));
  }
  return r;
}

double History::next_change(double t) const {
  const auto changes = system_->written().changes();
  double next = t;
  for (std::size_t i = 0; i < changes.size(); ++i)
    if (!made_[i] && changes[i].at > time_ && changes[i].at < next) next = changes[i].at;
  return next;
}

StaticReport History::advance_to(double t) {
  StaticReport r;
  if (!started_) {
    make_changes(t);
    r = step(t);
  } else if (t <= time_) {
    r = settle(Structure(system_->structure()));
  }
  while (started_ && time_ < t && r.report.ok()) {
    const double end = next_change(t);
    r = step(end);
    if (r.report.ok() && time_ == end && make_changes(end))
      r = break_off(settle(Structure(system_->structure())));
  }
  return r;
}

}  // namespace limber::chain
