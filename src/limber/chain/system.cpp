// compile(): a model of beams becomes a structure of links.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/chain/chain.h"
#include "limber/elastic/pseudo_rigid_body.h"
#include "limber/math/enclosing_ball.h"
#include "limber/model/features.h"

namespace limber::chain {
namespace {

std::vector<Problem> refusals(const Model& m) {
  std::vector<Problem> out;
  const std::string instead = "; method articulated takes it";
  for (const Joint& j : m.joints()) {
    const auto refuse = [&](const char* field, const std::string& why) {
      out.push_back({"joint", j.name, field, why + instead});
    };
    switch (j.kind) {
      case JointKind::fixed:
        continue;
      case JointKind::free:
        out.push_back({"body", m[j.child].name, "",
                       "moves freely: a chain comes to rest only if everything "
                       "hangs on a fixed root" +
                           instead});
        continue;
      case JointKind::revolute:
      case JointKind::spherical:
        break;
      default:
        refuse("type", "a chain has ball joints, hinges and welds only");
        continue;
    }
    for (int i = 0; i < dof_count(j.kind); ++i) {
      if (j.law.stiffness[i] > 0) continue;
      refuse("stiffness", "has no stiffness: a mechanism with a free motion has no rest of its own");
      break;
    }
  }
  for (const Loop& l : m.loops()) {
    const bool slides = l.kind == JointKind::prismatic || l.kind == JointKind::planar;
    if (slides && l.a.valid())
      out.push_back(
          {"loop", l.name, "type", "a guide of a chain must stand on the world: make the world `a`"});
    if (l.a.valid() && (!l.shift.is_zero() || !l.turn.is_zero()))
      out.push_back({"loop", l.name, "shift", "only a tie to the world can be moved"});
  }
  return out;
}

}  // namespace

System compile(const Model& model, const Options& options) {
  require(model, Question::chain_static);
  return System(model, options);
}

System::System(const Model& model, const Options& options)
    : written_(model),
      linked_(elastic::beams_to_links(model, elastic::Stretch::held, elastic::StretchAs::traces)),
      options_(options) {
  if (auto problems = refusals(linked_.model); !problems.empty()) throw ModelError(std::move(problems));
  link_bodies();
  if (structure_.links.count() == 0)
    throw ModelError(
        {{"scene", model.title(), "", "nothing can bend: there is no beam and no sprung joint"}});
  place_joints();
  let_stretch();
  refuse_untold_reactions();
  structure_.resize_loads();
  Balance b;
  b.resize(structure_.links.count());
  turn(structure_, rest().shape, b);
  place(structure_, b);
  std::vector<Vec3> points;  // of what can move
  const auto add = [&](const BodyPlace& at, const Vec3& p) {
    if (at.link >= 0) points.emplace_back(b.in.c[at.link] + b.R[at.link] * p);
  };
  for (const BodyPlace& at : bodies_) add(at, at.X.p);
  for (const elastic::BeamTrace& trace : linked_.traces)
    for (std::size_t k = 0; k < trace.points.size(); ++k) {
      const BodyPlace& at = bodies_[trace.bodies[k].value];
      add(at, at.X * trace.points[k]);
    }
  structure_.size = std::max(2 * math::enclosing_ball(points).radius, 1e-300);
  tie();
  set_time(options_.time);
  lay_out();
}

void System::link_bodies() {
  const Model& m = linked_.model;
  bodies_.resize(m.bodies().size());
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const Joint& j = m.joints()[i];
    const BodyPlace parent = j.parent.valid() ? bodies_[j.parent.value] : BodyPlace{};
    const Pose F = parent.X * j.X_PF;
    if (j.kind == JointKind::fixed) {
      bodies_[i] = {parent.link, F * j.X_BM.inverse()};
      continue;
    }
    // θ counts from where the spring has no moment.
    Pose rest = F;
    const bool hinge = j.kind == JointKind::revolute;
    rest.R = F.R * joint_pose(j.kind, j.pitch, j.law.rest).R;
    const Vec3 k = hinge ? Vec3(j.law.stiffness[0], j.law.stiffness[0], j.law.stiffness[0])
                         : Vec3(j.law.stiffness[0], j.law.stiffness[1], j.law.stiffness[2]);
    bodies_[i] = {structure_.links.add(parent.link, rest, k, hinge, j.name), j.X_BM.inverse()};
  }
}

void System::let_stretch() {
  for (const elastic::BeamTrace& trace : linked_.traces)
    for (std::size_t k = 0; k < trace.give.size(); ++k) {
      const BodyPlace& before = bodies_[trace.pieces[k].value];
      structure_.links.set_compliance(bodies_[trace.pieces[k + 1].value].link,
                                      before.X.R * trace.give[k] * before.X.R.transpose());
    }
}

Rest System::start() const {
  Rest out = rest();
  std::vector<Vec3> turn(out.shape.theta.size(), Vec3::Zero());
  for (const elastic::BeamTrace& trace : linked_.traces)
    for (std::size_t k = 1; k < trace.pieces.size(); ++k) {
      const int body = trace.pieces[k].value, link = bodies_[body].link;
      const DofArray& ease = linked_.model.joints()[body].law.rest;
      turn[link] = structure_.links.hinge[link] ? Vec3(0, 0, -ease[0]) : Vec3(-ease[0], -ease[1], -ease[2]);
    }
  advance(structure_.links, out.shape, turn, 1);
  return out;
}

void System::place_joints() {
  joints_.assign(structure_.links.parent.size(), BeamJoint{});
  sections_.resize(written_.beams().size());
  root_beam_.assign(linked_.model.bodies().size(), -1);
  for (std::size_t b = 0; b < written_.beams().size(); ++b) {
    const Beam& beam = written_.beams()[b];
    const std::vector<BodyId>& pieces = linked_.traces[b].pieces;
    if (bodies_[pieces[0].value].link < 0) root_beam_[pieces[0].value] = static_cast<int>(b);
    sections_[b] = elastic::section_constants(written_[beam.section].shape);
    const auto recipe = elastic::recipe_joints(beam.recipe);
    const double element = path_length(beam.path) / beam.elements;
    for (std::size_t k = 1; k < pieces.size(); ++k) {
      const auto& j = recipe[(k - 1) % recipe.size()];
      const auto number = static_cast<double>((k - 1) / recipe.size());
      joints_[bodies_[pieces[k].value].link] = {static_cast<int>(b), (number + j.x) / beam.elements,
                                                j.bend_compliance * element};
    }
  }
}

DeadLoad System::root_load(int beam, double factor) const {
  const DeadLoad &fixed = root_fixed_[beam], &ramped = root_ramped_[beam];
  return {fixed.F + factor * ramped.F, Mat3::Zero(), fixed.M + factor * ramped.M};
}

// Something beside the beam itself hangs on its root piece, or the wind blows at it.
bool System::bears_more(int beam) const {
  const Model& m = linked_.model;
  const std::vector<BodyId>& pieces = linked_.traces[beam].pieces;
  const BodyId root = pieces[0];
  return pieces.size() < 2 || m.wind() ||
         std::ranges::any_of(m.joints(),
                             [&](const Joint& j) { return j.parent == root && j.child != pieces[1]; }) ||
         std::ranges::any_of(m.springs(),
                             [&](const Spring& s) { return s.a.body == root || s.b.body == root; }) ||
         std::ranges::any_of(m.loops(), [&](const Loop& l) { return l.a == root || l.b == root; });
}

int System::reaction_link(int body) const {
  if (root_beam_[body] >= 0) {
    if (bears_more(root_beam_[body])) return -1;
    return bodies_[linked_.traces[root_beam_[body]].pieces[1].value].link;
  }
  return linked_.model.joints()[body].kind == JointKind::fixed ? -1 : bodies_[body].link;
}

// What is welded to a link is one with it: what the weld carries is known at the world alone.
void System::refuse_untold_reactions() const {
  std::vector<Problem> problems;
  for (const Probe& p : linked_.model.probes())
    if (p.told() == Told::reaction && reaction_link(p.joint.value) < 0)
      problems.push_back(
          {"probe", p.name, "",
           "a rest by method chain knows no reaction of a fixed joint, nor of the root of a beam "
           "that starts on another or bears more than its own first link; articulated does"});
  if (!problems.empty()) throw ModelError(std::move(problems));
}

void System::tie() {
  const auto end = [&](BodyId body, const Pose& X) -> std::pair<int, Pose> {
    if (!body.valid()) return {-1, X};
    const BodyPlace& at = bodies_[body.value];
    return {at.link, at.X * X};
  };
  for (const Loop& l : linked_.model.loops()) {
    Closure c;
    c.name = l.name;
    c.loop = static_cast<int>(structure_.closures.size());
    c.kind = l.kind;
    std::tie(c.a, c.X_A) = end(l.a, l.X_AF);
    std::tie(c.b, c.X_B) = end(l.b, l.X_BM);
    structure_.closures.push_back(std::move(c));
  }
  for (const Spring& s : linked_.model.springs()) {
    SpringTie t;
    t.name = s.name;
    const auto at = [&](const Attachment& a) { return end(a.body, Pose::translation(a.p)); };
    const auto [a, X_a] = at(s.a);
    const auto [b, X_b] = at(s.b);
    t.a = a, t.b = b, t.p_a = X_a.p, t.p_b = X_b.p;
    t.law = elastic::law_of(s);
    t.law.damping = 0;  // nothing moves
    structure_.springs.push_back(std::move(t));
  }
}

void System::set_time(double t) {
  options_.time = t;
  const Model& m = linked_.model;
  Structure& s = structure_;
  std::fill(s.fixed.begin(), s.fixed.end(), DeadLoad{});
  std::fill(s.ramped.begin(), s.ramped.end(), DeadLoad{});
  s.turning_fixed.clear(), s.turning_ramped.clear(), s.wind.clear();

  root_fixed_.assign(written_.beams().size(), DeadLoad{});
  root_ramped_ = root_fixed_;
  const auto on_root = [&](std::size_t body, bool ramps, const Vec3& x, const Vec3& f, const Vec3& moment) {
    if (root_beam_[body] < 0) return;
    DeadLoad& to = (ramps ? root_ramped_ : root_fixed_)[root_beam_[body]];
    to.F += f;
    to.M += x.cross(f) + moment;
  };
  const Vec3 g = m.gravity().value(t);
  auto& weights = options_.weight_ramps ? s.ramped : s.fixed;
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const BodyPlace& at = bodies_[i];
    if (at.link < 0)
      on_root(i, options_.weight_ramps, at.X * m.bodies()[i].inertia.com(), m.bodies()[i].inertia.m * g,
              Vec3::Zero());
    if (at.link < 0 || g.isZero(0)) continue;
    const Inertia inertia = m.bodies()[i].inertia.in_frame(at.X);
    weights[at.link].F += inertia.m * g;
    weights[at.link].S += g * inertia.h.transpose();
  }
  for (const PointLoad& l : m.point_loads()) {
    if (!l.at.body.valid()) continue;
    const BodyPlace& at = bodies_[l.at.body.value];
    const Vec3 f = l.force.value(t), moment = l.moment.value(t), p = at.X * l.at.p;
    if (at.link < 0) {
      const Mat3 turn = l.follows ? at.X.R : Mat3::Identity().eval();
      on_root(static_cast<std::size_t>(l.at.body.value), true, p, turn * f, turn * moment);
      continue;
    }
    if (!l.follows) {
      s.ramped[at.link].F += f;
      s.ramped[at.link].S += f * p.transpose();
      s.ramped[at.link].M += moment;
    } else {
      const Vec3 own = at.X.R * f;
      s.turning_ramped.push_back({at.link, own, own * p.transpose(), at.X.R * moment});
    }
  }
  if (m.wind()) {
    s.air = m.wind()->velocity.value(t);
    s.air_pressure = 0.5 * m.wind()->air_density * m.wind()->drag_coefficient;
    for (std::size_t i = 0; i < bodies_.size(); ++i)
      if (bodies_[i].link >= 0)
        for (const limber::Shape& shape : m.bodies()[i].shapes)
          s.wind.push_back({bodies_[i].link, shape.geometry, bodies_[i].X * shape.X_BG});
  }
  for (Closure& c : s.closures) {
    c.shift = m.loops()[c.loop].shift.value(t);
    c.turn = m.loops()[c.loop].turn.value(t);
  }
  s.loads_changed();
}

Model refined(const Model& model, double factor) {
  ModelParts parts = model.parts();
  for (Beam& b : parts.beams) b.elements = std::max(1, static_cast<int>(std::lround(b.elements * factor)));
  return Model(std::move(parts));
}

Rest guess_from(const System& coarse, const Rest& solved, const System& fine) {
  // Rotation a metre at the coarse joints of each beam, in order along it.
  struct Sample {
    double s;
    Vec3 rate;
  };
  std::vector<std::vector<Sample>> samples(coarse.written().beams().size());
  for (int k = 0; k < coarse.structure().links.count(); ++k) {
    const BeamJoint& j = coarse.joints()[k];
    if (j.beam >= 0) samples[j.beam].push_back({j.s, solved.shape.theta[k] / j.share});
  }
  for (auto& list : samples)
    std::sort(list.begin(), list.end(), [](const Sample& a, const Sample& b) { return a.s < b.s; });
  Rest guess = fine.rest();
  guess.lambda = solved.lambda;
  guess.factor = solved.factor;
  std::vector<Vec3> delta(guess.shape.theta.size(), Vec3::Zero());
  int own = 0;
  std::vector<int> own_coarse;  // joints of the scene's own keep their order
  for (int k = 0; k < coarse.structure().links.count(); ++k)
    if (coarse.joints()[k].beam < 0) own_coarse.push_back(k);
  for (int k = 0; k < fine.structure().links.count(); ++k) {
    const BeamJoint& j = fine.joints()[k];
    if (j.beam < 0) {
      delta[k] = solved.shape.theta[own_coarse[own++]];
      continue;
    }
    const auto& list = samples[j.beam];
    auto after =
        std::upper_bound(list.begin(), list.end(), j.s, [](double s, const Sample& x) { return s < x.s; });
    if (list.size() == 1) {
      delta[k] = j.share * list[0].rate;
      continue;
    }
    if (after == list.begin()) ++after;
    if (after == list.end()) --after;
    const Sample &a = *(after - 1), &b = *after;
    const double w = (j.s - a.s) / (b.s - a.s);
    delta[k] = j.share * ((1 - w) * a.rate + w * b.rate);
  }
  advance(fine.structure().links, guess.shape, delta, 1);
  return guess;
}

StaticReport solve_from_coarse(System& system, Solver& solver, Rest& rest, const StaticOptions& options) {
  // Worth it only from rest and with many elements; the coarse answer decides the branch.
  int most = 0;
  for (const Beam& b : system.written().beams()) most = std::max(most, b.elements);
  constexpr int few = 12;
  const bool untouched = std::all_of(rest.shape.theta.begin(), rest.shape.theta.end(),
                                     [](const Vec3& t) { return t.isZero(0); });
  if (options.load_steps > 0 || most < 4 * few || rest.factor != 0 || !untouched)
    return solver.solve(rest, 1, options);
  const System coarse = compile(refined(system.written(), static_cast<double>(few) / most), system.options());
  Solver coarse_solver(coarse.structure());
  Rest solved = coarse.rest();
  StaticOptions loose = options;
  loose.tolerance = std::max(options.tolerance, 1e-6);
  const StaticReport first = coarse_solver.solve(solved, 1, loose);
  if (first.report.ok()) {
    Rest guess = guess_from(coarse, solved, system);
    StaticReport report;
    if (solver.newton(guess, options, report, first.symmetric ? first.negative : -1)) {
      // From its own end: nothing is left to do but to report.
      StaticReport done = solver.solve(guess, 1, options);
      if (done.report.ok()) {
        rest = guess;
        done.lost = first.lost;
        done.load_steps = first.load_steps;
        done.report.iterations += first.report.iterations;
        done.report.total_iterations += first.report.total_iterations;
        return done;
      }
    }
  }
  return solver.solve(rest, 1, options);
}

ErrorEstimate estimate_error(const System& system, const Rest& solved, const StaticOptions& options) {
  ErrorEstimate e;
  // error(n) − error(m n) = (1 − 1/m²) error(n) holds where the order has set in: of few elements, against
  // four times as many, whose own error is a sixteenth at most of what it should be.
  constexpr int few = 8;
  int most = 0;
  for (const Beam& b : system.written().beams()) most = std::max(most, b.elements);
  const int times = most <= few ? 4 : 2;
  ModelParts parts = refined(system.written(), times).parts();
  for (Beam& beam : parts.beams)
    if (beam.recipe == Recipe::published_3r) beam.recipe = Recipe::consistent_3r;
  const System fine = compile(Model(std::move(parts)), system.options());
  Solver solver(fine.structure());
  Rest rest = guess_from(system, solved, fine);
  StaticReport report;
  if (!solver.newton(rest, options, report)) {
    rest = fine.rest();
    if (!solver.solve(rest, 1, options).report.ok()) return e;
  }
  Solver coarse(system.structure());
  result::Snapshot a, b;
  observe(system, coarse, solved, a);
  observe(fine, solver, rest, b);
  std::size_t i = 0, j = 0;
  for (std::size_t t = 0; t < system.traces().size(); ++t) {
    const std::size_t n = system.traces()[t].points.size(), m = fine.traces()[t].points.size();
    const std::size_t ratio = (m - 1) / (n - 1);
    for (std::size_t k = 0; k < n; ++k) {
      const double d = (a.points[i + k] - b.points[j + k * ratio]).norm();
      if (d > e.largest) e.largest = d, e.where = system.traces()[t].name;
      if (k + 1 == n) e.tip = std::max(e.tip, d);
    }
    i += n, j += m;
  }
  const double whole = 1 / (1 - 1.0 / (times * times)) / system.structure().size;
  e.largest *= whole;
  e.tip *= whole;
  e.ok = true;
  return e;
}

}  // namespace limber::chain
