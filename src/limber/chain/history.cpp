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

History::History(const Model& model, const StaticOptions& options)
    : options_(options), made_(model.changes().size(), 0) {
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
}

void History::make_changes(double t) {
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
        Beam& b = parts.beams[c.beam.value];
        const bool material = c.kind == Change::Kind::material;
        if (material)
          b.material = c.material;
        else
          b.section = c.section;
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
        for (int k = 0; k < links.count(); ++k) {
          const BeamJoint& j = system_->joints()[k];
          if (j.beam == c.beam.value && links.active[k] && j.s >= c.s &&
              (at < 0 || j.s < system_->joints()[at].s))
            at = k;
        }
        if (at >= 0) sever(at, t, 0);
        break;
      }
    }
  }
}

void History::sever(int link, double t, double stress) {
  Structure& s = system_->structure();
  solver_->evaluate(rest_, false);
  const Balance& b = solver_->balance();
  Severed off;
  off.time = t;
  off.stress = stress;
  const BeamJoint& j = system_->joints()[link];
  off.beam = j.beam >= 0 ? system_->written().beams()[j.beam].name : s.links.name[link];
  off.s = j.s;
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
  }
  off.structure.resize_loads();
  off.structure.size = s.size;
  off.structure.loads_changed();
  hold();  // nothing that is gone; springs look for themselves
  events_.push_back({t, stress > 0
                            ? fmt::format("beam \"{}\" breaks at {:.4g} of its length, under {:.4g} Pa",
                                          off.beam, off.s, stress)
                            : fmt::format("beam \"{}\" is cut at {:.4g} of its length", off.beam, off.s)});
  severed_.push_back(std::move(off));
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
}

bool History::break_off(double t) {
  double most = 1;
  int at = -1;
  double stress = 0;
  const Model& model = system_->written();
  for (const Station& s : stresses(*system_, *solver_, rest_)) {
    if (s.link < 0) continue;  // the root is its first joint's neighbour
    const double over = s.stress.combined / model[model.beams()[s.beam].material].strength;
    if (over > most) most = over, at = s.link, stress = s.stress.combined;
  }
  if (at < 0) return false;
  sever(at, t, stress);
  return true;
}

StaticReport History::settle(const std::vector<DeadLoad>& before,
                             const std::vector<TurningLoad>& turning_before) {
  // From the loads before to those of now, in as many steps as it takes.
  Structure& s = system_->structure();
  const std::vector<DeadLoad> now = s.ramped;
  const std::vector<TurningLoad> turning_now = s.turning_ramped;
  s.fixed = before;
  for (std::size_t k = 0; k < now.size(); ++k) {
    s.ramped[k].F -= before[k].F;
    s.ramped[k].S -= before[k].S;
    s.ramped[k].M -= before[k].M;
  }
  s.turning_fixed = turning_before;
  for (TurningLoad t : turning_before) {
    t.F = -t.F, t.S = -t.S, t.M = -t.M;
    s.turning_ramped.push_back(t);
  }
  s.wind_ramped = false;
  s.loads_changed();
  rest_.factor = 0;
  const StaticReport r = solver_->solve(rest_, 1, options_);
  s.fixed.assign(now.size(), DeadLoad{});
  s.ramped = now;
  s.turning_fixed.clear();
  s.turning_ramped = turning_now;
  s.loads_changed();
  rest_.factor = 1;
  return r;
}

StaticReport History::advance_to(double t) {
  std::vector<DeadLoad> before(system_->structure().ramped.size());
  std::vector<TurningLoad> turning;
  if (started_) {
    before = system_->structure().ramped;
    turning = system_->structure().turning_ramped;
  }
  const double dt = started_ ? t - time_ : 0;
  age(dt);
  make_changes(t);
  time_ = t;
  system_->set_time(t);
  StaticReport r = settle(before, turning);
  started_ = true;
  while (r.report.ok() && break_off(t))
    r = settle(system_->structure().ramped, system_->structure().turning_ramped);
  return r;
}

}  // namespace limber::chain
