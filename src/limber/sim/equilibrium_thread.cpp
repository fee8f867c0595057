// Equilibria of method thread.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/math/trig.h"
#include "limber/sim/static_parts.h"
#include "limber/thread/live.h"

namespace limber::sim {
namespace {

double angle_between(const Vec3& a, const Vec3& b) { return math::atan2(a.cross(b).norm(), a.dot(b)); }

// At the nodes; of shear a thread says nothing but at its root, where it bears what holds it.
void take_beams(const Model& model, const thread::System& system, const thread::State& before,
                const thread::State& after, thread::Workspace& w, Equilibrium& e) {
  const SectionForces forces(model);
  for (std::size_t b = 0; b < model.beams().size(); ++b) {
    const int thread = static_cast<int>(b), nodes = model.beams()[b].elements + 1;
    const thread::Station was = thread::station(system, before, w, thread, 1);
    const auto now = thread::stations(system, after, w, thread, nodes);
    BeamRest& rest = e.beams.emplace_back();
    rest.name = model.beams()[b].name;
    rest.tip = now.back().x, rest.moved = now.back().x - was.x;
    rest.slope = angle_between(was.tangent, now.back().tangent);
    for (int k = 0; k < nodes; ++k) {
      const thread::Station& x = now[k];
      SectionForce s = forces.at(thread, static_cast<double>(k) / (nodes - 1), {x.tension, 0, 0},
                                 {x.torque, x.moment[0], x.moment[1]});
      s.force.y() = s.force.z() = NAN;
      rest.sections.push_back(s);
    }
  }
}

// The moments of an element hold in its middle; at the root the reaction is exact.
void take_roots(const Model& model, const thread::System& system, const thread::State& state,
                thread::Workspace& w, Equilibrium& e) {
  const SectionForces forces(model);
  for (const Reaction& r : e.reactions) {
    if (r.of != "root") continue;
    const auto beam = std::ranges::find(e.beams, r.name, &BeamRest::name) - e.beams.begin();
    const thread::Station x = thread::station(system, state, w, static_cast<int>(beam), 0);
    Mat3 axes;
    axes << x.d_y.cross(x.d_z).normalized(), x.d_y.normalized(), x.d_z.normalized();
    e.beams[beam].sections.front() =
        forces.at(static_cast<int>(beam), 0, -(axes.transpose() * r.force), -(axes.transpose() * r.moment));
  }
}

thread::StaticOptions thread_options(const StaticOptions& options) {
  thread::StaticOptions out;
  out.load_steps = options.load_steps.value_or(out.load_steps);
  out.max_iterations = options.max_iterations.value_or(out.max_iterations);
  out.load = options.load;
  return out;
}

Equilibrium find_by_thread(const Model& model, const RunOptions& run, const StaticOptions& options) {
  Equilibrium e;
  e.method = "thread";
  e.time = options.time, e.load = options.load;
  require(model, Question::thread_static);
  const thread::System system = thread::compile(model, run.thread);
  thread::State state = system.rest();
  state.t = options.time;
  const thread::State before = state;
  thread::Workspace w(system);
  e.layout = system.layout();
  thread::observe(system, state, w, e.before);
  const thread::StaticResult r = thread::solve_static(system, state, w, thread_options(options));
  thread::observe(system, state, w, e.after);
  e.report = r.report;
  e.residual = r.residual;
  e.load_steps = options.load_steps.value_or(1);
  e.joints = static_cast<std::size_t>(state.node_count()), e.dofs = 12 * e.joints;
  e.stability.negative = r.negative, e.stability.pushes = r.pushes;
  e.stability.counted = run.thread.solver == thread::Solver::direct;
  if (!e.ok()) return e;
  e.energy = r.energy;
  e.fields = thread::fields(system, state, w);
  take_beams(model, system, before, state, w, e);
  for (const thread::Reaction& x : thread::reactions(system, state, w, options.load))
    e.reactions.push_back({x.name, x.root ? "root" : "clamp", x.at, x.force, x.moment, {}});
  for (const thread::ContactForce& c : thread::contact_forces(system, state, w))
    e.reactions.push_back({c.on + " on " + c.by, "contact", c.at, c.force, Vec3::Zero(), {}});
  take_roots(model, system, state, w, e);
  for (const auto& [name, length, tension] : thread::spring_tensions(system, state, w))
    e.springs.push_back({name, length, tension});
  return e;
}

Follower follow_thread(const Model& model, const RunOptions& run, Growth growth,
                       const StaticOptions& options) {
  refuse_weight(model, growth, "thread", options.time);
  require(model, Question::thread_static);
  return follow_state<thread::State, thread::Workspace>(thread::compile(model, run.thread),
                                                        thread_options(options), options.time);
}

}  // namespace

const StaticAbility thread_statics{rest_and_ramp, false, find_by_thread, follow_thread, nullptr};

}  // namespace limber::sim
