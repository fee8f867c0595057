// The books of a step: work of given motions, loads and fields that change, what dampers and the air take.
#include <algorithm>

#include "limber/math/so3.h"
#include "limber/thread/stepper.h"

namespace limber::thread {

bool SystemData::has_loads() const { return !loads.empty() || !line_loads.empty() || !body_loads.empty(); }

bool SystemData::moving_fixes() const {
  return std::ranges::any_of(fixes, [&](const Fix& f) { return f.body >= 0 && bodies[f.body].moves; });
}

// Potentials that are functions of time too: gravity, and springs whose other end is driven.
bool SystemData::changing_fields() const {
  return !model.gravity().is_constant() ||
         std::ranges::any_of(tethers, [&](const Tether& k) { return k.body >= 0 && bodies[k.body].moves; });
}

// Forces that stay as they are act on numbers of the nodes: what they do in a step is known exactly. Others,
// and what moves a thread by its ends, bring energy that the books know to the order of the scheme only.
bool SystemData::energy_enters() const {
  const auto turns = [](const auto& l) { return l.follows || !l.force.is_constant() || !l.moment.is_zero(); };
  return moving_fixes() || changing_fields() ||
         std::ranges::any_of(loads, [&](const ThreadLoad& l) { return turns(l) || !l.arm.isZero(0); }) ||
         std::ranges::any_of(body_loads, turns) || std::ranges::any_of(line_loads, [](const LineLoad& l) {
           return l.follows || !l.force.is_constant();
         });
}

// Σ stress · change of strain in the step. With damping less without is what the dampers took: of strains,
// not of nodes on their chords, which a thread that spins would make much of.
double Stepper::stress_times_strain() const {
  const ElementArrays& a = w.elements;
  double sum = 0;
  for (int j = 0; j < state.node_count(); ++j) {
    if (w.length[j] == 0) continue;
    const double* before = state.strain_before.data() + 12 * j;
    for (int i = 0; i < 6; ++i)
      sum += a.stress[i][j] * (a.z[i][j] - before[i]) + a.force[6 + i][j] * (a.strain[i][j] - before[6 + i]) +
             a.force[18 + i][j] * (a.strain[i][j + 1] - before[18 + i]);
  }
  return sum;
}

// Work of given motions: the force at the end of the step goes with the body along the screw between its
// two poses. Along the chord the part of it that only holds the section in shape would do work in every
// turn.
void Stepper::take_given_motions(double t) {
  s.poses(state.t, w.X_before);
  s.poses(t, w.X_WB);
  for (const Fix& f : s.fixes) {
    if (f.body < 0 || !s.bodies[f.body].moves || !holds(f, state)) continue;
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

// dE = ∂V/∂t dt: what the fields change in the step, in the mean of its two ends. That is second order, as
// the scheme.
void Stepper::take_fields(double t) {
  s.poses(state.t, w.X_WB);
  const double first = potential(s, state, state.e.data(), state.t, 1, w);
  const double last = potential(s, state, w.e.data(), state.t, 1, w);
  s.poses(t, w.X_WB);
  state.work += 0.5 * (potential(s, state, state.e.data(), t, 1, w) - first);
  state.work += 0.5 * (potential(s, state, w.e.data(), t, 1, w) - last);
}

// Work of given motions and of dampers in the step: from the forces at its end.
void Stepper::account(const Scheme& k, double t) {
  const int nodes = state.node_count();
  if (!evaluate(s, w.e.data(), w)) return;
  residual(k, t, false);
  if (s.options.element == Element::log) to_world(w, nodes, w.rhs.data(), w.rhs.data());
  if (s.moving_fixes()) take_given_motions(t);
  // Loads: all external forces but weight and springs, which have energies of their own.
  if (s.has_loads()) {
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
void Stepper::take_air(double h) {
  const int nodes = state.node_count();
  if (std::ranges::none_of(s.threads, [](const ThreadInfo& t) { return t.rod.air > 0; })) return;
  mass_times(w, nodes, state.v.data(), w.scratch.data());
  for (int j = 0; j < nodes; ++j)
    for (int i = 12 * j; i < 12 * j + 12; ++i)
      state.dissipated += h * s.threads[w.thread_of[j]].rod.air * state.v[i] * w.scratch[i];
}

}  // namespace limber::thread
