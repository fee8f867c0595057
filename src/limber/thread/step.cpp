// One step: backward Euler, BDF2 or generalised-α, linearised where the last step ended (section 6.1), with
// contact.
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

#include "limber/math/so3.h"
#include "limber/math/stop.h"
#include "limber/thread/system.h"

namespace limber::thread {
namespace {

constexpr double enough = 0.02;  // [rad] change of direction in an iteration after which it is the last
// The same where a direction is given that turns: it strains its neighbours before they follow, and the
// reaction, whose work is counted, shows what is left of that.
constexpr double enough_given = 2e-4;
// … and of generalised-α: what one iteration leaves, a stretch of half the square of a turn, is larger than
// its own error and takes energy.
constexpr double enough_alpha = 1e-6;
constexpr double most_made =
    0.01;  // of the energy that moves: what generalised-α may make before it is calmed
constexpr double least_turn = 1e-5;  // [rad] that is done along an arc
constexpr double too_much = 1.5;     // … and beyond which the step is divided
constexpr int most_iterations = 12;
constexpr int most_switches = 4;          // iterations in which a spring may go slack or taut
constexpr double least_part = 1.0 / 256;  // of a step that is divided
constexpr double least_planned =
    1e-4;  // of a step whose parts are as short as the motion asks: beyond that it stalls

struct Scheme {
  double ch = 0;
  double now = 1, before = 0;  // ê = now e_n + before e_{n−1}
  double mass = 0;             // of M: the acceleration's share of e
  bool alpha = false;
};

// Generalised-α (Chung and Hulbert 1993) with accelerations kept apart from their mean (Arnold and Brüls
// 2007).
struct Alpha {
  double m, f, beta, gamma;
  explicit Alpha(double rho)
      : m((2 * rho - 1) / (rho + 1)),
        f(rho / (rho + 1)),
        beta(0.25 * (1 + f - m) * (1 + f - m)),
        gamma(0.5 + f - m) {}
  double mass(double h) const { return (1 - m) / ((1 - f) * beta * h * h); }
};

Scheme scheme(const SystemData& s, const State& state, double h, bool touching) {
  const Integrator kind = s.options.integrator;
  if (kind == Integrator::alpha && state.h_before > 0 && !touching) {
    const Alpha k(s.options.rho);
    return {h * k.beta / k.gamma, 1, 0, k.mass(h), true};
  }
  if (kind != Integrator::bdf2 || state.h_before == 0 || touching) return {h, 1, 0, 1 / (h * h)};
  const double w = h / state.h_before, ch = h * (1 + w) / (1 + 2 * w);
  return {ch, (1 + w) * (1 + w) / (1 + 2 * w), -w * w / (1 + 2 * w), 1 / (ch * ch)};
}

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

struct Stepper {
  const SystemData& s;
  State& state;
  WorkspaceData& w;
  result::SolveReport& report;
  bool started = false;  // w.start is kept

  bool calm = false;  // the step is Euler's, because generalised-α made energy

  bool touching() const { return s.contact && w.contact.active > 0; }
  bool damped_only() const { return calm || touching(); }

  void remember_strains() {
    for (int j = 0; j < state.node_count(); ++j)
      for (int i = 0; i < 6; ++i) {
        state.strain_before[12 * j + i] = w.length[j] > 0 ? w.elements.z[i][j] : 0;
        state.strain_before[12 * j + 6 + i] = w.elements.strain[i][j];
      }
  }

  // The right-hand side at w.e: what is left of the equation of motion.
  void residual(const Scheme& k, double t, bool tangent) {
    const int nodes = state.node_count();
    external_forces(s, state, w.e.data(), t, 1, k.ch, tangent, w);
    for (int j = 0; j < nodes; ++j) {
      const double air = s.threads[w.thread_of[j]].rod.air / k.ch;
      for (int i = 12 * j; i < 12 * j + 12; ++i)
        w.scratch[i] = k.alpha ? k.mass * (w.e[i] - w.v_hat[i]) + air * (w.e[i] - w.e_hat[i])
                               : (k.mass + air) * (w.e[i] - w.e_hat[i]) - w.v_hat[i] / k.ch;
    }
    mass_times(w, nodes, w.scratch.data(), w.rhs.data());
    for (int i = 0; i < 12 * nodes; ++i) w.rhs[i] = w.external[i] - w.rhs[i];
    if (s.options.element == Element::log) to_node_axes(w, nodes, w.rhs.data(), w.rhs.data());
    for (int i = 0; i < 12 * nodes; ++i) w.rhs[i] -= w.elements.g[i];
  }

  bool advance(double h) {
    const int nodes = state.node_count();
    if (s.options.integrator == Integrator::alpha && state.h_before == 0 && !damped_only())
      start_accelerations(h);
    const Scheme k = scheme(s, state, h, damped_only());
    const std::size_t n = 12 * static_cast<std::size_t>(nodes);
    for (std::size_t i = 0; i < n && !k.alpha; ++i) {
      w.e_hat[i] = k.now * state.e[i] + k.before * state.e_before[i];
      w.v_hat[i] = k.now * state.v[i] + k.before * state.v_before[i];
    }
    if (k.alpha) predict(h);
    std::copy_n(state.e.begin(), n, w.e.begin());
    if (s.damps) {
      set_damping(s, state, 0, w);
      if (!evaluate(s, w.e.data(), w)) return false;
      remember_strains();
      set_damping(s, state, h, w);
    }
    const double t = state.t + h;
    if (k.alpha && moving_fixes()) predict_given(k, t, h);
    place_fixes(s, state, t, w.e.data(), w);
    if (s.contact) prepare_contacts(s, state, h, w);
    // A body that turns about its node pulls at it: known after an iteration.
    const bool sharply = !w.carried.empty() || given_turn() > 1e-3;
    if (!iterate(k, t, sharply ? enough_given : k.alpha ? enough_alpha : enough)) return false;
    if (k.alpha && makes_energy(k, t)) return calmly(h);
    if (s.damps || moving_fixes() || has_loads()) account(k, t);
    if (changing_fields()) take_fields(t);
    state.dissipated += tether_losses(s, state, w.e.data(), k.ch, w);
    if (k.alpha) take_accelerations(k);
    for (std::size_t i = 0; i < n; ++i) {
      state.e_before[i] = state.e[i];
      state.v_before[i] = state.v[i];
      state.v[i] = (w.e[i] - w.e_hat[i]) / k.ch;
      state.e[i] = w.e[i];
    }
    state.h_before = k.alpha || s.options.integrator != Integrator::alpha ? h : 0;
    state.t = t;
    take_air(h);
    if (s.contact) finish_contacts();
    return true;
  }

  // Where v and the acceleration are nought, for generalised-α:
  //   e = e_n + h v_n + h² ((½ − β) b_n + β b),  v = v_n + h ((1 − γ) b_n + γ b),
  //   (1 − α_m) b + α_m b_n = (1 − α_f) a + α_f a_n
  // with b the mean of accelerations a that the scheme keeps: v = (e − ê)/ch, a = w (e − v̂).
  void predict(double h) {
    const Alpha k(s.options.rho);
    const double w_a = k.mass(h), ch = h * k.beta / k.gamma;
    for (std::size_t i = 0; i < state.e.size(); ++i) {
      const double b = state.a_mean[i], step = h * (state.v[i] + h * (0.5 - k.beta) * b);
      w.e_hat[i] = state.e[i] + step - ch * (state.v[i] + h * (1 - k.gamma) * b);
      w.v_hat[i] = state.e[i] + step - (k.m * b - k.f * state.a[i]) / ((1 - k.f) * w_a);
    }
  }

  // Of what is given the rates are known: differences over a step to either side.
  void predict_given(const Scheme& k, double t, double h) {
    std::copy_n(w.e.begin(), state.e.size(), w.e_start.begin());
    std::copy_n(w.e.begin(), state.e.size(), w.e_try.begin());
    std::copy_n(w.e.begin(), state.e.size(), w.scratch.begin());
    place_fixes(s, state, t - h, w.e_start.data(), w);
    place_fixes(s, state, t, w.scratch.data(), w);
    place_fixes(s, state, t + h, w.e_try.data(), w);
    for (const Fix& f : s.fixes) {
      const int at = 12 * node_at(state, f.thread, f.place);
      if (f.body < 0 || !s.bodies[f.body].moves) continue;
      for (int i = at; i < at + 12; ++i) {
        if (!(f.held >> ((i - at) / 3) & 1u)) continue;
        const double rate = (w.e_try[i] - w.e_start[i]) / (2 * h);
        const double change = (w.e_try[i] - 2 * w.scratch[i] + w.e_start[i]) / (h * h);
        w.e_hat[i] = w.scratch[i] - k.ch * rate;
        w.v_hat[i] = w.scratch[i] - change / k.mass;
      }
    }
  }

  void take_accelerations(const Scheme& k) {
    const Alpha c(s.options.rho);
    for (std::size_t i = 0; i < state.e.size(); ++i) {
      const double a = k.mass * (w.e[i] - w.v_hat[i]);
      state.a_mean[i] = ((1 - c.f) * a + c.f * state.a[i] - c.m * state.a_mean[i]) / (1 - c.m);
      state.a[i] = a;
    }
  }

  // M a = f − ∇V where the state is.
  void start_accelerations(double h) {
    const int nodes = state.node_count();
    const std::size_t n = state.e.size();
    if (s.options.element != Element::log) return;
    std::copy_n(state.e.begin(), n, w.e.begin());
    place_fixes(s, state, state.t, w.e.data(), w);
    if (s.damps) set_damping(s, state, 0, w);
    if (!evaluate(s, w.e.data(), w)) return;
    for (std::size_t i = 0; i < n; ++i) w.e_hat[i] = w.e[i] - h * state.v[i];
    external_forces(s, state, w.e.data(), state.t, 1, h, false, w);
    to_node_axes(w, nodes, w.external.data(), w.delta.data());
    for (std::size_t i = 0; i < n; ++i) w.delta[i] -= w.elements.g[i];
    // A tangent without stiffness is the mass.
    double* scale = w.elements.constants[slot::scale];
    std::copy_n(scale, nodes, w.scratch.begin());
    std::fill_n(scale, nodes, 0.0);
    const bool good = evaluate_tangent(s, w.e.data(), {1, 0}, w);
    std::copy_n(w.scratch.begin(), nodes, scale);
    if (!good) return;
    hold(w, nodes, w.delta.data(), true, w.elements);
    if (factor(s, nodes, nodes / 2, w) >= 0) return;
    solve(s, nodes, w.delta.data(), w);
    to_world(w, nodes, w.delta.data(), w.delta.data());
    for (std::size_t i = 0; i < n; ++i)
      state.a[i] = state.a_mean[i] = w.delta[i] - s.threads[w.thread_of[i / 12]].rod.air * state.v[i];
    state.h_before = h;
  }

  // Energy at coordinates e with rates (e − ê)/ch, or those of the state; and what of it moves.
  struct Energies {
    double total = 0, moving = 0;
  };
  Energies energies(const double* e, const Scheme* k, double t) {
    const int nodes = state.node_count();
    Energies out;
    if (!evaluate(s, e, w)) return {std::numeric_limits<double>::infinity(), 0};
    for (int j = 0; j < nodes; ++j)
      if (w.length[j] > 0) out.moving += w.elements.energy[0][j];
    for (int i = 0; i < 12 * nodes; ++i) w.delta[i] = k != nullptr ? (e[i] - w.e_hat[i]) / k->ch : state.v[i];
    mass_times(w, nodes, w.delta.data(), w.scratch.data());
    for (int i = 0; i < 12 * nodes; ++i) out.moving += 0.5 * w.delta[i] * w.scratch[i];
    out.total = out.moving + potential(s, state, e, t, 1, w);
    return out;
  }

  // Whether the step, with what steps before it made and did not lose again, makes energy: it may, since it
  // is not dissipative where motions are large. Not asked where energy comes from outside.
  bool makes_energy(const Scheme& k, double t) {
    if (moving_fixes() || changing_fields() || has_loads() || w.held_by_hand || s.damps) return false;
    if (state.energy_before == 0) state.energy_before = energies(state.e.data(), nullptr, state.t).total;
    const Energies now = energies(w.e.data(), &k, t);
    const double made = std::max(0.0, state.made + now.total - state.energy_before);
    if (!(made < most_made * now.moving)) return true;
    state.made = made;
    state.energy_before = now.total;
    return false;
  }

  // Backward Euler takes what was made, and the next step finds its accelerations anew.
  bool calmly(double h) {
    calm = true;
    const bool good = advance(h);
    calm = false;
    if (good) state.made = state.energy_before = 0;
    return good;
  }

  // Largest change of a direction that is given.
  double given_turn() const {
    double most = 0;
    for (const Fix& f : s.fixes) {
      if (f.body < 0 || !s.bodies[f.body].moves) continue;
      const int at = 12 * node_at(state, f.thread, f.place);
      double change[12];
      for (int i = 0; i < 12; ++i) change[i] = w.e[at + i] - state.e[at + i];
      most = std::max(most, change_of_node(change));
    }
    return most;
  }

  bool iterate(const Scheme& k, double t, double last) {
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

  bool has_loads() const { return !s.loads.empty() || !s.line_loads.empty() || !s.body_loads.empty(); }

  bool moving_fixes() const {
    return std::ranges::any_of(s.fixes, [&](const Fix& f) { return f.body >= 0 && s.bodies[f.body].moves; });
  }

  // Σ stress · change of strain in the step. With damping less without is what the dampers took: of strains,
  // not of nodes on their chords, which a thread that spins would make much of.
  double stress_times_strain() const {
    const ElementArrays& a = w.elements;
    double sum = 0;
    for (int j = 0; j < state.node_count(); ++j) {
      if (w.length[j] == 0) continue;
      const double* before = state.strain_before.data() + 12 * j;
      for (int i = 0; i < 6; ++i)
        sum += a.stress[i][j] * (a.z[i][j] - before[i]) +
               a.force[6 + i][j] * (a.strain[i][j] - before[6 + i]) +
               a.force[18 + i][j] * (a.strain[i][j + 1] - before[18 + i]);
    }
    return sum;
  }

  // Work of given motions: the force at the end of the step goes with the body along the screw between its
  // two poses. Along the chord the part of it that only holds the section in shape would do work in every
  // turn.
  void take_given_motions(double t) {
    s.poses(state.t, w.X_before);
    s.poses(t, w.X_WB);
    for (const Fix& f : s.fixes) {
      if (f.body < 0 || !s.bodies[f.body].moves) continue;
      const Pose X = w.X_WB[f.body] * w.X_before[f.body].inverse();
      const Vec3 turn = math::so3_log(X.R);
      const Vec3 shift = math::so3_jacobian_inverse(-turn) * X.p;  // a point moves by shift + turn × x
      const int at = 12 * node_at(state, f.thread, f.place);
      for (int b = 0; b < 4; ++b) {
        if (!(f.held >> b & 1u)) continue;
        const Eigen::Map<const Vec3> x(w.e.data() + at + 3 * b), force(w.rhs.data() + at + 3 * b);
        state.work -= force.dot(turn.cross(x) + (b == 0 ? shift : Vec3(Vec3::Zero())));
      }
    }
  }

  // Potentials that are functions of time too: gravity, and springs whose other end is driven.
  bool changing_fields() const {
    return !s.model.gravity().is_constant() || std::ranges::any_of(s.tethers, [&](const Tether& k) {
      return k.body >= 0 && s.bodies[k.body].moves;
    });
  }

  // dE = ∂V/∂t dt: what the fields change in the step, in the mean of its two ends. That is second order, as
  // the scheme.
  void take_fields(double t) {
    s.poses(state.t, w.X_WB);
    const double first = potential(s, state, state.e.data(), state.t, 1, w);
    const double last = potential(s, state, w.e.data(), state.t, 1, w);
    s.poses(t, w.X_WB);
    state.work += 0.5 * (potential(s, state, state.e.data(), t, 1, w) - first);
    state.work += 0.5 * (potential(s, state, w.e.data(), t, 1, w) - last);
  }

  // Work of given motions and of dampers in the step: from the forces at its end.
  void account(const Scheme& k, double t) {
    const int nodes = state.node_count();
    if (!evaluate(s, w.e.data(), w)) return;
    residual(k, t, false);
    if (s.options.element == Element::log) to_world(w, nodes, w.rhs.data(), w.rhs.data());
    if (moving_fixes()) take_given_motions(t);
    // Loads: all external forces but weight and springs, which have energies of their own.
    if (has_loads()) {
      std::fill_n(w.scratch.begin(), 12 * nodes, 0.0);
      std::swap(w.external, w.scratch);
      load_forces(s, state, t, 1, w);
      for (int i = 0; i < 12 * nodes; ++i) state.work += w.external[i] * (w.e[i] - state.e[i]);
    }
    if (!s.damps) return;
    state.dissipated += stress_times_strain();
    set_damping(s, state, 0, w);
    if (evaluate(s, w.e.data(), w)) state.dissipated -= stress_times_strain();
  }

  // What the air took: α vᵀM v.
  void take_air(double h) {
    const int nodes = state.node_count();
    if (std::ranges::none_of(s.threads, [](const ThreadInfo& t) { return t.rod.air > 0; })) return;
    mass_times(w, nodes, state.v.data(), w.scratch.data());
    for (int j = 0; j < nodes; ++j)
      for (int i = 12 * j; i < 12 * j + 12; ++i)
        state.dissipated += h * s.threads[w.thread_of[j]].rod.air * state.v[i] * w.scratch[i];
  }

  // Keeps the forces of contacts for the next step, what friction took and what moving solids gave.
  void finish_contacts() {
    ContactWork& c = w.contact;
    state.touch.clear();
    for (const LastTouch& t : c.last)
      for (const double v : {double(t.a), double(t.b), t.xi_a, t.xi_b, t.force[0], t.force[1], t.force[2]})
        state.touch.push_back(v);
    state.dissipated += c.friction_work;
    state.work += c.solid_work;
    c.active = static_cast<int>(state.touch.size()) / LastTouch::size;
  }

  // A step of size h, in as many parts as it takes. A part that fails leaves the state as it was and is
  // halved; after one that does not the next may be twice as long.
  bool divided(double h) {
    double left = h, part = h;
    while (left > 1e-12 * h) {
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
  void keep_start() {
    if (started) return;
    w.start = state;
    started = true;
  }

  // With contact a step is at most `substep`, and nothing moves farther than a radius. `left` is to be gone.
  double longest(double left) const {
    if (!s.contact) return std::numeric_limits<double>::infinity();
    double fastest = 0;
    for (int j = 0; j < state.node_count(); ++j) {
      const Eigen::Map<const Vec3> v(state.v.data() + 12 * j);
      fastest = std::max(fastest, v.squaredNorm());
    }
    fastest = std::sqrt(fastest);
    const double reach = 0.8 * s.smallest_radius;
    const double limit = fastest * s.options.substep > reach ? reach / fastest : s.options.substep;
    return std::min(limit, longest_beside_solids(s, state, std::min(limit, left), fastest, w));
  }
};

}  // namespace

result::SolveReport step(const System& system, State& state, Workspace& workspace, double h) {
  const SystemData& s = system.data();
  WorkspaceData& w = workspace.data();
  result::SolveReport report;
  report.warning = s.warning;
  make_cuts(s, state, w);
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
    const double part = left <= limit ? left : left / std::ceil(left / limit);
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
      report.message = fmt::format(
          "the step at t = {:.6g} s did not converge, divided into {:.0f}; a shorter step or a finer mesh "
          "may "
          "help",
          state.t, 1 / least_part);
      return report;
    }
    left -= part;
    adapt(s, state, w);
  }
  state.t = end;
  state.step = number + 1;
  report.time = end;
  report.steps = 1;
  return report;
}

}  // namespace limber::thread
