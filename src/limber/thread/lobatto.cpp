// Collocation at 0, c and 1 of a step (Lobatto IIIA, Hairer and Wanner 1996, IV.5, where c = ½): the equation
// of motion holds at both stages, M a_i = f − ∇V(e_i), accelerations are the parabola through a_n, a_c and
// a_1, velocities and coordinates its integrals. With a_ij = ∫₀^{c_i} ℓ_j of the nodes' polynomials and B =
// A²:
//
//   e_i = ê_i + h² Σ_j B_ij a_j,  ê_i = e_n + h c_i v_n + h² B_i0 a_n,  v_i = v_n + h (A_i0 a_n + Σ_j A_ij
//   a_j)
//
// The stability function tends to (1 − c)/c: c = 1/(1 + ρ) leaves ρ of motions that are far too fast. Order 4
// with ρ = 1, else 3 with the small constant (2c − 1)/72. The end of the step is a stage.
//
// Both stages are found by one factor of τM/h² + K. With S = B⁻¹, whose eigenvalues are |s| exp(±iφ), a shear
// of the stages (1 q; 0 1), q = (s₁₁ − τ)/s₂₁, τ = |s|, makes s₁₁ = τ; then of S the lower triangle with τ on
// its diagonal is kept (as van der Houwen and de Swart 1997 do with A). An iteration leaves (1 − cos φ) 2
// τμ/(τ + μ)² of an error, μ = h²ω²: nothing of the slow and of the fast, and a quarter at most (φ = 60° with
// ρ = 1).
#include <algorithm>
#include <cmath>

#include "limber/math/stop.h"
#include "limber/thread/stepper.h"

namespace limber::thread {
namespace {

constexpr int most_sweeps = 32;
constexpr double part_of_motion = 1e-4;  // squared, that an iteration may leave
constexpr int sweeps_a_factor = 8;       // then the matrix is made anew

void invert(const double (&m)[2][2], double (&out)[2][2]) {
  const double d = m[0][0] * m[1][1] - m[0][1] * m[1][0];
  out[0][0] = m[1][1] / d, out[0][1] = -m[0][1] / d;
  out[1][0] = -m[1][0] / d, out[1][1] = m[0][0] / d;
}

}  // namespace

Collocation::Collocation(double rho) : node{1 / (1 + rho), 1} {
  const double c = node[0];
  for (int i = 0; i < 2; ++i) {
    const double x = node[i], x2 = x * x / 2, x3 = x * x * x / 3;
    A0[i] = (x3 - (1 + c) * x2 + c * x) / c;
    A[i][0] = (x3 - x2) / (c * (c - 1));
    A[i][1] = (x3 - c * x2) / (1 - c);
  }
  double B[2][2];
  for (int i = 0; i < 2; ++i) {
    B0[i] = A[i][0] * A0[0] + A[i][1] * A0[1];
    for (int j = 0; j < 2; ++j) B[i][j] = A[i][0] * A[0][j] + A[i][1] * A[1][j];
  }
  invert(A, R);
  invert(B, S);
  tau = std::sqrt(S[0][0] * S[1][1] - S[0][1] * S[1][0]);
  q = (S[0][0] - tau) / S[1][0];
}

// First guesses: on with the rates of the state, sections along arcs.
bool Stepper::begin_stages(const Collocation& c, double h) {
  const int nodes = state.node_count();
  const std::size_t n = state.e.size();
  if (!evaluate(s, state.e.data(), w)) return false;
  for (int k = 0; k < 2; ++k) {
    const double x = c.node[k] * h;
    for (std::size_t i = 0; i < n; ++i) {
      w.stage_hat[k][i] = state.e[i] + x * state.v[i] + h * h * c.B0[k] * state.a[i];
      w.scratch[i] = x * (state.v[i] + 0.5 * x * state.a[i]);
    }
    to_node_axes(w, nodes, w.scratch.data(), w.delta.data());
    turn_sections(w, nodes, w.delta.data());
    to_world(w, nodes, w.delta.data(), w.delta.data());
    for (std::size_t i = 0; i < n; ++i) w.stage[k][i] = state.e[i] + w.delta[i];
    place_fixes(s, state, state.t + x, w.stage[k].data(), w);
  }
  return true;
}

bool Stepper::factor_stages(const Scheme& k, const Collocation& c, double h) {
  const int nodes = state.node_count();
  if (!put_stage(0, k, c, h) || !evaluate_tangent(s, w.e.data(), {k.mass, k.ch}, w)) return false;
  external_forces(s, state, w.e.data(), state.t + c.node[0] * h, 1, k.ch, true, w);
  hold(w, nodes, w.rhs.data(), true, w.elements);
  return factor(s, nodes, nodes / 2, w) < 0;
}

// Stage i as the coordinates and rates of a scheme: v = (e − ê)/ch, a = mass (e − v̂).
bool Stepper::put_stage(int i, const Scheme& k, const Collocation& c, double h) {
  const double t = state.t + c.node[i] * h;
  for (std::size_t j = 0; j < state.e.size(); ++j) {
    const double d0 = w.stage[0][j] - w.stage_hat[0][j], d1 = w.stage[1][j] - w.stage_hat[1][j];
    const double v = state.v[j] + h * c.A0[i] * state.a[j] + (c.R[i][0] * d0 + c.R[i][1] * d1) / h;
    const double a = (c.S[i][0] * d0 + c.S[i][1] * d1) / (h * h);
    w.e[j] = w.stage[i][j];
    w.e_hat[j] = w.e[j] - k.ch * v;
    w.v_hat[j] = w.e[j] - a / k.mass;
  }
  if (s.moving_fixes()) predict_given(k, t, h);
  s.poses(t, w.X_WB);
  return evaluate(s, w.e.data(), w);
}

// One iteration; returns the largest change of a direction.
double Stepper::sweep_stages(const Scheme& k, const Collocation& c, double h) {
  const int nodes = state.node_count();
  const std::size_t n = state.e.size();
  for (int i = 0; i < 2; ++i) {
    if (!put_stage(i, k, c, h)) return HUGE_VAL;
    residual(k, state.t + c.node[i] * h, false);
    std::copy_n(w.rhs.begin(), n, w.stage_rhs[i].begin());
  }
  // In the axes of each stage's own nodes, which turn with them: the second's are at hand.
  std::vector<double>&first = w.delta, &second = w.stage_rhs[1];
  for (std::size_t i = 0; i < n; ++i) first[i] = w.stage_rhs[0][i] - c.q * second[i];
  hold(w, nodes, first.data(), false, w.elements);
  solve(s, nodes, first.data(), w);
  to_world(w, nodes, first.data(), w.scratch.data());
  mass_times(w, nodes, w.scratch.data(), w.rhs.data());
  to_node_axes(w, nodes, w.rhs.data(), w.rhs.data());
  for (std::size_t i = 0; i < n; ++i) second[i] -= c.S[1][0] / (h * h) * w.rhs[i];
  hold(w, nodes, second.data(), false, w.elements);
  solve(s, nodes, second.data(), w);
  for (std::size_t i = 0; i < n; ++i) first[i] += c.q * second[i];
  const double change = std::max(change_of(nodes, first.data()), change_of(nodes, second.data()));
  if (!(change < too_much)) return change;
  for (int i = 1; i >= 0; --i) {
    std::vector<double>& delta = i == 0 ? first : second;
    if (i == 0 && !section_axes_at(w.stage[0].data(), nodes, w)) return HUGE_VAL;
    if (change > least_turn || !w.carried.empty()) turn_sections(w, nodes, delta.data());
    to_world(w, nodes, delta.data(), delta.data());
    for (std::size_t j = 0; j < n; ++j) w.stage[i][j] += delta[j];
  }
  return change;
}

// Accelerations are what is left of coordinates over h², and of an error in them the next step begins: an
// iteration's error is small against the motion of the step, not only against 1.
bool Stepper::collocate(const Scheme& k, double h) {
  const Collocation c(s.options.rho);
  if (!begin_stages(c, h)) return false;
  const int given = s.options.iterations, most = given > 0 ? given : most_sweeps;
  double last = HUGE_VAL;
  for (int sweep = 0; sweep < most; ++sweep) {
    stop_if_requested();
    if (sweep % sweeps_a_factor == 0 && !factor_stages(k, c, h)) return false;
    const double change = sweep_stages(k, c, h);
    if (!(change < too_much)) return false;
    report.iterations = std::max(report.iterations, sweep + 1);
    ++report.total_iterations;
    // All that rounding lets it.
    const bool still = sweep >= sweeps_a_factor && change < enough_kept && change > 0.5 * last;
    const bool done = given > 0 ? sweep + 1 == given : change < sharpness(h) || still;
    if (done) return put_stage(1, k, c, h);
    last = change;
  }
  return false;
}

// By the square of the largest turn in the step, so that accelerations are as sharp in short steps.
double Stepper::sharpness(double h) {
  for (std::size_t i = 0; i < state.e.size(); ++i) w.scratch[i] = h * (state.v[i] + 0.5 * h * state.a[i]);
  const double turn = change_of(state.node_count(), w.scratch.data());
  return std::min(enough_kept, part_of_motion * turn * turn);
}

}  // namespace limber::thread
