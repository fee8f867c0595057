// Generalised-α (Chung and Hulbert 1993) with accelerations kept apart from their mean (Arnold and Brüls
// 2007):
//
//   e = e_n + h v_n + h² ((½ − β) b_n + β b),  v = v_n + h ((1 − γ) b_n + γ b),
//   (1 − α_m) b + α_m b_n = (1 − α_f) a + α_f a_n
//
// with b the mean of accelerations a that the scheme keeps: v = (e − ê)/ch, a = w (e − v̂). And what it shares
// with collocation (lobatto.cpp): the first accelerations, the rates of what is given, the guard of energy.
#include <algorithm>
#include <limits>

#include "limber/thread/stepper.h"

namespace limber::thread {
namespace {

constexpr double most_made = 0.01;  // of the energy that moves: what steps may make before one is calmed

}  // namespace

Alpha::Alpha(double rho)
    : m((2 * rho - 1) / (rho + 1)),
      f(rho / (rho + 1)),
      beta(0.25 * (1 + f - m) * (1 + f - m)),
      gamma(0.5 + f - m) {}

// Where v and the acceleration are nought.
void Stepper::predict(double h) {
  const Alpha k(s.options.rho);
  const double w_a = k.mass(h), ch = h * k.beta / k.gamma;
  for (std::size_t i = 0; i < state.e.size(); ++i) {
    const double b = state.a_mean[i], step = h * (state.v[i] + h * (0.5 - k.beta) * b);
    w.e_hat[i] = state.e[i] + step - ch * (state.v[i] + h * (1 - k.gamma) * b);
    w.v_hat[i] = state.e[i] + step - (k.m * b - k.f * state.a[i]) / ((1 - k.f) * w_a);
  }
}

// Of what is given the rates are known: differences over a step to either side.
void Stepper::predict_given(const Scheme& k, double t, double h) {
  for (auto* list : {&w.e_start, &w.e_try, &w.scratch})
    std::copy_n(w.e.begin(), state.e.size(), list->begin());
  place_fixes(s, state, t - h, w.e_start.data(), w);
  place_fixes(s, state, t + h, w.e_try.data(), w);
  place_fixes(s, state, t, w.scratch.data(), w);
  for (const Fix& f : s.fixes) {
    const int at = 12 * node_at(state, f.thread, f.place);
    if (f.body < 0 || !s.bodies[f.body].moves || !holds(f, state)) continue;
    for (int i = at; i < at + 12; ++i) {
      if (!(f.held >> ((i - at) / 3) & 1u)) continue;
      const double rate = (w.e_try[i] - w.e_start[i]) / (2 * h);
      const double change = (w.e_try[i] - 2 * w.scratch[i] + w.e_start[i]) / (h * h);
      w.e_hat[i] = w.scratch[i] - k.ch * rate;
      w.v_hat[i] = w.scratch[i] - change / k.mass;
    }
  }
}

void Stepper::take_accelerations(const Scheme& k) {
  const Alpha c(s.options.rho);
  const bool own = s.options.integrator == Integrator::alpha;
  for (std::size_t i = 0; i < state.e.size(); ++i) {
    const double a = k.mass * (w.e[i] - w.v_hat[i]);
    state.a_mean[i] = !own ? a : ((1 - c.f) * a + c.f * state.a[i] - c.m * state.a_mean[i]) / (1 - c.m);
    state.a[i] = a;
  }
}

// M a = f − ∇V where the state is.
void Stepper::start_accelerations(double h) {
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
Stepper::Energies Stepper::energies(const double* e, const Scheme* k, double t) {
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

// Whether the step, with what steps before it made and did not lose again, makes energy beyond the work that
// forces did in it: it may, since it is not dissipative where motions are large. Not asked where energy comes
// from outside in ways that are not known exactly.
bool Stepper::makes_energy(const Scheme& k, double t, double work) {
  if (s.energy_enters() || w.held_by_hand) return false;
  if (state.energy_before == 0) state.energy_before = energies(state.e.data(), nullptr, state.t).total;
  const Energies now = energies(w.e.data(), &k, t);
  const double made = std::max(0.0, state.made + now.total - work - state.energy_before);
  if (!(made < most_made * now.moving)) return true;
  state.made = made;
  state.energy_before = now.total;
  return false;
}

}  // namespace limber::thread
