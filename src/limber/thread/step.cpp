// One step: backward Euler, BDF2, generalised-α (alpha.cpp) or collocation (lobatto.cpp), linearised where
// the last step ended (section 6.1), with contact.
//
//   e = ê + ch v,  v = v̂ + ch a     (Euler: ê = e_n, c = 1; BDF2 with ω = h/h_before:
//                                    ê = ((1+ω)² e_n − ω² e_{n−1})/(1+2ω), c = (1+ω)/(1+2ω), v̂ likewise)
//   (w M + K) δ = f − ∇V(e) − M (w (e − ê) − v̂/(ch)),      w = 1/(ch)² + α/(ch)
//
// with the exact tangent K. One Newton iteration is enough while directions change little in a step; another
// one follows when they do. A step that fails (turned inside out, not positive definite, contact not kept
// apart) is divided in two, again and again down to 1/256.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "limber/math/stop.h"
#include "limber/result/warnings.h"
#include "limber/thread/stepper.h"

namespace limber::thread {
namespace {

constexpr double enough = 0.02;  // [rad] change of direction in an iteration after which it is the last
// The same where a direction is given that turns: it strains its neighbours before they follow, and the
// reaction, whose work is counted, shows what is left of that.
constexpr double enough_given = 2e-4;
constexpr int most_iterations = 12;
constexpr int most_switches = 4;          // iterations in which a spring may go slack or taut
constexpr double least_part = 1.0 / 256;  // of a step that is divided
// Residuals of contact forces: more is no answer, and the step is divided so far for it; then that much is
// taken.
constexpr double no_answer = 1e-3, divided_for_forces = 0.2, worst_answer = 0.1;
constexpr double least_planned =
    1e-4;  // of a step whose parts are as short as the motion asks: beyond that it stalls

Scheme scheme(const SystemData& s, const State& state, double h, bool touching) {
  const Integrator kind = s.options.integrator;
  if (kind == Integrator::lobatto && state.h_before > 0 && !touching) {
    const double tau = Collocation(s.options.rho).tau;
    return {h / std::sqrt(tau), 1, 0, tau / (h * h), true};
  }
  if (kind == Integrator::alpha && state.h_before > 0 && !touching) {
    const Alpha k(s.options.rho);
    return {h * k.beta / k.gamma, 1, 0, k.mass(h), true};
  }
  if (kind != Integrator::bdf2 || state.h_before == 0 || touching) return {h, 1, 0, 1 / (h * h)};
  const double w = h / state.h_before, ch = h * (1 + w) / (1 + 2 * w);
  return {ch, (1 + w) * (1 + w) / (1 + 2 * w), -w * w / (1 + 2 * w), 1 / (ch * ch)};
}

}  // namespace

// Largest change of a direction: the length of a vector, so that it does not depend on the world's axes.
double change_of_node(const double* delta) {
  double most = 0;
  for (int k = 3; k < 12; k += 3) most = std::max(most, Eigen::Map<const Vec3>(delta + k).norm());
  return most;
}
double change_of(int nodes, const double* delta) {
  double most = 0;
  for (int j = 0; j < nodes; ++j) most = std::max(most, change_of_node(delta + 12 * j));
  return most;
}

void Stepper::remember_strains() {
  for (int j = 0; j < state.node_count(); ++j)
    for (int i = 0; i < 6; ++i) {
      state.strain_before[12 * j + i] = w.length[j] > 0 ? w.elements.z[i][j] : 0;
      state.strain_before[12 * j + 6 + i] = w.elements.strain[i][j];
    }
}

// The right-hand side at w.e: what is left of the equation of motion.
void Stepper::residual(const Scheme& k, double t, bool tangent) {
  const int nodes = state.node_count();
  external_forces(s, state, w.e.data(), t, 1, k.ch, tangent, w);
  for (int j = 0; j < nodes; ++j) {
    const double air = s.threads[w.thread_of[j]].rod.air / k.ch;
    for (int i = 12 * j; i < 12 * j + 12; ++i)
      w.scratch[i] = k.keeps ? k.mass * (w.e[i] - w.v_hat[i]) + air * (w.e[i] - w.e_hat[i])
                             : (k.mass + air) * (w.e[i] - w.e_hat[i]) - w.v_hat[i] / k.ch;
  }
  mass_times(w, nodes, w.scratch.data(), w.rhs.data());
  for (int i = 0; i < 12 * nodes; ++i) w.rhs[i] = w.external[i] - w.rhs[i];
  if (s.options.element == Element::log) to_node_axes(w, nodes, w.rhs.data(), w.rhs.data());
  for (int i = 0; i < 12 * nodes; ++i) w.rhs[i] -= w.elements.g[i];
}

bool Stepper::advance(double h) {
  const int nodes = state.node_count();
  if (keeps_accelerations() && state.h_before == 0 && !damped_only()) start_accelerations(h);
  const Scheme k = scheme(s, state, h, damped_only());
  const bool collocated = k.keeps && s.options.integrator == Integrator::lobatto;
  const std::size_t n = 12 * static_cast<std::size_t>(nodes);
  for (std::size_t i = 0; i < n && !k.keeps; ++i) {
    w.e_hat[i] = k.now * state.e[i] + k.before * state.e_before[i];
    w.v_hat[i] = k.now * state.v[i] + k.before * state.v_before[i];
  }
  if (k.keeps && !collocated) predict(h);
  std::copy_n(state.e.begin(), n, w.e.begin());
  if (s.damps) {
    set_damping(s, state, 0, w);
    if (!evaluate(s, w.e.data(), w)) return false;
    remember_strains();
    set_damping(s, state, h, w);
  }
  const double t = state.t + h;
  if (s.contact) prepare_contacts(s, state, h, w);
  if (collocated) {
    if (!collocate(k, h)) return false;
    if (s.contact && overlaps()) return calmly(h);
  } else {
    if (k.keeps && s.moving_fixes()) predict_given(k, t, h);
    place_fixes(s, state, t, w.e.data(), w);
    // A body that turns about its node pulls at it: known after an iteration.
    const bool sharply = !w.carried.empty() || given_turn() > 1e-3;
    if (!iterate(k, t, sharply ? enough_given : k.keeps ? enough_kept : enough)) return false;
  }
  const double work = state.work, dissipated = state.dissipated;
  if (s.damps || s.moving_fixes() || s.has_loads()) account(k, t);
  if (s.changing_fields()) take_fields(t);
  state.dissipated += tether_losses(s, state, w.e.data(), k.ch, w);
  if (k.keeps && makes_energy(k, t, state.work - work)) {
    state.work = work, state.dissipated = dissipated;
    return calmly(h);
  }
  if (k.keeps) take_accelerations(k);
  for (std::size_t i = 0; i < n; ++i) {
    state.e_before[i] = state.e[i];
    state.v_before[i] = state.v[i];
    state.v[i] = (w.e[i] - w.e_hat[i]) / k.ch;
    state.e[i] = w.e[i];
  }
  state.h_before = k.keeps || !keeps_accelerations() ? h : 0;
  state.t = t;
  take_air(h);
  if (s.contact) finish_contacts();
  return true;
}

// Backward Euler takes what was made, or meets what touches, and the next step finds its accelerations anew.
bool Stepper::calmly(double h) {
  calm = true;
  const bool good = advance(h);
  calm = false;
  if (good) state.made = state.energy_before = 0;
  return good;
}

// Whether anything would at the end of a step that did not look for contacts.
bool Stepper::overlaps() {
  double moved = 0;
  for (int j = 0; j < state.node_count(); ++j)
    moved = std::max(
        moved, (Eigen::Map<const Vec3>(w.e.data() + 12 * j) - Eigen::Map<const Vec3>(state.e.data() + 12 * j))
                   .norm());
  if (moved > w.contact.bound) {  // farther than was looked: as a step with contact, if something is there
    look_within(s, 1.1 * moved, w.contact);
    return !w.contact.pairs.empty();
  }
  if (w.contact.pairs.empty()) return false;
  return deepest_overlap(s, state, w.e.data(), w).depth > 0;
}

// Largest change of a direction that is given.
double Stepper::given_turn() const {
  double most = 0;
  for (const Fix& f : s.fixes) {
    if (f.body < 0 || !s.bodies[f.body].moves || !holds(f, state)) continue;
    const int at = 12 * node_at(state, f.thread, f.place);
    double change[12];
    for (int i = 0; i < 12; ++i) change[i] = w.e[at + i] - state.e[at + i];
    most = std::max(most, change_of_node(change));
  }
  return most;
}

bool Stepper::iterate(const Scheme& k, double t, double last) {
  const int nodes = state.node_count();
  const int most = s.options.iterations > 0 ? s.options.iterations : most_iterations;
  const MassWeight weight{k.mass, k.ch};
  for (int iteration = 1; iteration <= most; ++iteration) {
    stop_if_requested();
    if (!evaluate_tangent(s, w.e.data(), weight, w)) return false;
    residual(k, t, true);
    hold(w, nodes, w.rhs.data(), true, w.elements);
    if (s.contact) keep_matrix(nodes, w);
    const int top = s.contact && w.contact.high >= 0 ? (w.contact.low + w.contact.high) / 2 : nodes / 2;
    if (factor(s, nodes, top, w) >= 0) return false;
    std::copy_n(w.rhs.begin(), 12 * nodes, w.delta.begin());
    solve(s, nodes, w.delta.data(), w);
    report.solver_iterations = std::max(report.solver_iterations, w.cg_iterations);
    if (s.contact && !resolve_contacts(s, state, w)) return false;
    const double change = change_of(nodes, w.delta.data());
    if (!(change < too_much)) return false;
    if (s.options.element == Element::log) {
      if (change > least_turn || !w.carried.empty()) turn_sections(w, nodes, w.delta.data());
      to_world(w, nodes, w.delta.data(), w.delta.data());
    }
    for (int i = 0; i < 12 * nodes; ++i) w.e[i] += w.delta[i];
    report.iterations = std::max(report.iterations, iteration);
    ++report.total_iterations;
    const bool settled = iteration >= most_switches || tethers_settled(s, state, w.e.data(), k.ch, w);
    if (s.options.iterations == 0 && change < last && settled) return true;
  }
  return s.options.iterations > 0;
}

// Keeps the forces of contacts for the next step, what friction took and what moving solids gave.
void Stepper::finish_contacts() {
  ContactWork& c = w.contact;
  state.touch.clear();
  for (const LastTouch& t : c.last)
    for (const double v : {double(t.a), double(t.b), t.xi_a, t.xi_b, t.force[0], t.force[1], t.force[2]})
      state.touch.push_back(v);
  state.dissipated += c.friction_work;
  state.work += c.solid_work;
  c.active = static_cast<int>(state.touch.size()) / LastTouch::size;
  report.contact_residual = std::max(report.contact_residual, c.residual);
  report.cone_violation = std::max(report.cone_violation, c.cone_violation);
  report.contact_overlap = std::max(report.contact_overlap, c.overlap);
  if (c.residual > no_answer)
    result::add_warning(report, "contact forces of a step did not converge: the report tells their residual");
}

// A step of size h, in as many parts as it takes. A part that fails leaves the state as it was and is
// halved; after one that does not the next may be twice as long.
bool Stepper::divided(double h) {
  double left = h, part = h;
  while (left > 1e-12 * h) {
    w.contact.worst_taken = part > h * divided_for_forces ? no_answer : worst_answer;
    if (advance(std::min(part, left))) {
      left -= std::min(part, left);
      part *= 2;
      continue;
    }
    if (part == h) keep_start();
    part = std::min(part, left) / 2;
    if (part < h * least_part) return false;
    ++report.substeps;
  }
  return true;
}

// Steps in several parts need the beginning when a later part fails.
void Stepper::keep_start() {
  if (started) return;
  w.start = state;
  started = true;
}

// Where something may touch a step is at most `substep`, and nothing moves farther than a radius. `left` is
// to be gone.
double Stepper::longest(double left) const {
  if (!s.contact) return std::numeric_limits<double>::infinity();
  double fastest = 0;
  for (int j = 0; j < state.node_count(); ++j) {
    const Eigen::Map<const Vec3> v(state.v.data() + 12 * j);
    fastest = std::max(fastest, v.squaredNorm());
  }
  fastest = std::sqrt(fastest);
  const double reach = 0.8 * s.smallest_radius;
  const double limit = fastest * s.options.substep > reach ? reach / fastest : s.options.substep;
  if (limit >= left) return std::min(limit, longest_beside_solids(s, state, left, fastest, w));
  if (longest_beside_solids(s, state, left, fastest, w) >= left && nothing_near(s, state, left, w))
    return left;
  return longest_beside_solids(s, state, limit, fastest, w);
}

result::SolveReport step(const System& system, State& state, Workspace& workspace, double h) {
  const SystemData& s = system.data();
  WorkspaceData& w = workspace.data();
  result::SolveReport report;
  report.warning = s.warning;
  make_cuts(s, state, w);
  let_go(s, state);
  set_mesh(s, state, w);
  if (s.damps || w.scale_h != 0) {
    set_damping(s, state, 0, w);
    w.scale_h = s.damps ? -1 : 0;
  }
  const double end = state.t + h;
  const std::int64_t number = state.step;
  Stepper stepper{s, state, w, report};
  const auto go_back = [&] {
    if (stepper.started) state = w.start;
  };
  double left = h;
  w.contact.active = static_cast<int>(state.touch.size()) / LastTouch::size;
  while (left > 1e-12 * h) {
    // Clamps that let go and cuts divide the step.
    const double change = next_change(s, state) - state.t;
    const double limit = stepper.longest(left);
    if (limit < left && !(limit > least_planned * h)) {
      go_back();
      report.status = result::Status::not_converged;
      report.time = state.t;
      report.message = fmt::format(
          "at t = {:.6g} s something moves by more than the radius of a thread in {:.2g} s: no step is short "
          "enough",
          state.t, least_planned * h);
      return report;
    }
    const double rest = change < left * (1 - 1e-9) ? change : left;
    const double part = rest <= limit ? rest : rest / std::ceil(rest / limit);
    if (part < left) stepper.keep_start();
    bool good = false;
    try {
      good = stepper.divided(part);
    } catch (const Stopped&) {
      go_back();
      throw;
    }
    if (!good) {
      go_back();
      report.status = result::Status::not_converged;
      report.time = state.t;
      const std::string deep = s.contact ? overlap_text(s, state, w) : "";
      report.message = fmt::format("the step at t = {:.6g} s did not converge, divided into {:.0f}{}",
                                   state.t, 1 / least_part,
                                   deep.empty() ? "; a shorter step or a finer mesh may help" : ": " + deep);
      return report;
    }
    left -= part;
    if (left > 1e-12 * h) {
      make_cuts(s, state, w);
      let_go(s, state);
      set_mesh(s, state, w);
    }
    adapt(s, state, w);
  }
  state.t = end;
  state.step = number + 1;
  report.time = end;
  report.steps = 1;
  return report;
}

}  // namespace limber::thread
