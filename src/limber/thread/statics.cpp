// Where threads come to rest: Newton on the exact tangent with a mass term that fades (pseudo-transient
// continuation): (σM + K) δ = f − ∇V. σ is raised where the tangent is not positive definite
// or where a direction would turn too far, and lowered otherwise; at the end σ = 0 and the
// iteration is Newton's. Loads may be applied in steps.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/math/stop.h"
#include "limber/thread/system.h"

namespace limber::thread {
namespace {

struct Relaxation {
  const SystemData& s;
  State& state;
  WorkspaceData& w;
  const StaticOptions& options;
  StaticResult& out;
  double load = 1;

  int nodes() const { return state.node_count(); }

  // Forces left over, in node axes, as a length-weighted norm: x_,x and the directors act over an element.
  double norm(const double* r) const {
    double sum = 0;
    for (int j = 0; j < nodes(); ++j) {
      const double l = w.length[j] > 0 ? w.length[j] : w.length[j - 1];
      for (int i = 0; i < 3; ++i) sum += r[12 * j + i] * r[12 * j + i];
      for (int i = 3; i < 12; ++i) sum += r[12 * j + i] * r[12 * j + i] / (l * l);
    }
    return std::sqrt(sum);
  }

  // Negative pivots of the tangent at rest, without the mass term.
  void count_unstable(double sigma) {
    if (s.options.solver != Solver::direct) return;
    if (sigma != 0) {
      evaluate_tangent(s, w.e.data(), {}, w);
      external_forces(s, state, w.e.data(), state.t, load, 0, true, w);
      hold(w, nodes(), w.rhs.data(), true, w.elements);
    }
    factor(s, nodes(), nodes() / 2, w);
    out.negative = w.solver.negative();
  }

  // With bodies: long steps are cut, then all sections turn along arcs. Returns the largest turn as it was.
  double turn_bodies() {
    double most = 0;
    for (int i = 0; i < 12 * nodes(); ++i)
      if (i % 12 >= 3) most = std::max(most, std::abs(w.delta[i]));
    for (int i = 0; i < 12 * nodes() && most > 0.5; ++i) w.delta[i] *= 0.5 / most;
    turn_sections(w, nodes(), w.delta.data());
    return most;
  }

  bool relax() {
    double sigma = 0;
    bool settled = false;  // the last step was Newton's and moved nothing: what is left is rounding
    const int n = 12 * nodes();
    // A mass weight that belongs to the slowest motion: one turn of the whole thread in a unit of its own
    // time.
    const ThreadInfo& t = s.threads[0];
    const double unit = t.rod.E * std::max(t.rod.I_y, t.rod.I_z) /
                        (t.rod.density * t.rod.A * t.length * t.length * t.length * t.length);
    while (out.report.total_iterations < options.max_iterations) {
      stop_if_requested();
      ++out.report.total_iterations;
      place_fixes(s, state, state.t, w.e.data(), w);
      if (!evaluate_tangent(s, w.e.data(), {sigma}, w)) return false;
      external_forces(s, state, w.e.data(), state.t, load, 0, true, w);
      std::copy_n(w.external.begin(), n, w.rhs.begin());
      const bool local = s.options.element == Element::log;
      if (local) to_node_axes(w, nodes(), w.rhs.data(), w.rhs.data());
      const double acting = norm(w.rhs.data()) + 1e-12 * t.rod.E * t.rod.A + norm(w.elements.g.data()) * 1e-3;
      for (int i = 0; i < n; ++i) w.rhs[i] -= w.elements.g[i];
      hold(w, nodes(), w.rhs.data(), true, w.elements);
      const double left = norm(w.rhs.data());
      out.residual = left / acting;
      if (out.residual < options.tolerance || settled) {
        count_unstable(sigma);
        return true;
      }
      // Far from rest the way leads downhill only where the tangent has no negative direction. Near it Newton
      // may go on: an equilibrium that is not stable is one too, and the report says so.
      if (factor(s, nodes(), nodes() / 2, w) >= 0 && out.residual > 1e-3) {
        sigma = std::max(4 * sigma, unit);
        continue;
      }
      std::copy_n(w.rhs.begin(), n, w.delta.begin());
      thread::solve(s, nodes(), w.delta.data(), w);
      const double bodies_turn = w.carried.empty() ? 0 : turn_bodies();
      if (local) to_world(w, nodes(), w.delta.data(), w.delta.data());
      double turn = 0;
      for (int i = 0; i < n; ++i)
        if (i % 12 >= 3) turn = std::max(turn, std::abs(w.delta[i]));
      if (bodies_turn > 0) turn = bodies_turn;
      settled = sigma == 0 && turn < 1e-9;
      // Long steps are cut; what they stretch is taken back by the next ones.
      const double cut = turn > 0.5 && bodies_turn == 0 ? 0.5 / turn : 1;
      std::copy_n(w.e.begin(), n, w.e_start.begin());
      for (int i = 0; i < n; ++i) w.e[i] += cut * w.delta[i];
      if (!(turn < 1e8) || !evaluate(s, w.e.data(), w)) {
        std::copy_n(w.e_start.begin(), n, w.e.begin());
        sigma = std::max(4 * sigma, unit);
        continue;
      }
      if (turn > 0.5)
        sigma = std::max(1.5 * sigma, 0.1 * unit);
      else
        sigma = turn < 0.1 ? (sigma < 1e-4 * unit ? 0 : 0.2 * sigma) : 0.7 * sigma;
    }
    return false;
  }
};

// Forces of contact are those of a step: here what overlaps would be called a rest.
void refuse_contact(const SystemData& s) {
  if (!s.contact || (s.solids.empty() && !s.self_contact)) return;
  throw ModelError({Problem{"scene", "", "contact",
                            "statics of threads knows no contact: a run with damping (`damping`, "
                            "`air_damping`) finds where they come to rest"}});
}

// On the mesh as it is; the state is left there, at rest.
bool rest_on_mesh(const SystemData& s, State& state, WorkspaceData& w, const StaticOptions& options,
                  int load_steps, StaticResult& out) {
  set_mesh(s, state, w);
  set_damping(s, state, 0, w);
  w.scale_h = s.damps ? -1 : 0;
  Relaxation solver{s, state, w, options, out};
  std::copy_n(state.e.begin(), state.e.size(), w.e.begin());
  for (int k = 1; k <= load_steps; ++k) {
    solver.load = options.load * k / load_steps;
    if (solver.relax()) continue;
    out.report.status = result::Status::not_converged;
    out.report.message = fmt::format(
        "no equilibrium found in {} iterations at {:.0f} % of the load: forces of {:.2g} of those that act "
        "are left",
        out.report.total_iterations, 100 * solver.load, out.residual);
    return false;
  }
  std::copy_n(w.e.begin(), state.e.size(), state.e.begin());
  std::fill(state.v.begin(), state.v.end(), 0.0);
  state.e_before = state.e;
  state.v_before = state.v;
  state.h_before = 0;
  return true;
}

bool would_adapt(const SystemData& s, const State& state, WorkspaceData& w) {
  State next = state;
  const bool changes = adapt(s, next, w);
  set_mesh(s, state, w);
  return changes;
}

}  // namespace

StaticResult solve_static(const System& system, State& state, Workspace& workspace,
                          const StaticOptions& options) {
  const SystemData& s = system.data();
  WorkspaceData& w = workspace.data();
  refuse_contact(s);
  StaticResult out;
  const State before = state;
  make_cuts(s, state, w);
  bool found = rest_on_mesh(s, state, w, options, options.load_steps, out);
  // The mesh is chosen at rest and rest found on it, until it stays. A round splits an element once.
  const int most_rounds = 4 * s.options.levels;
  int round = 0;
  for (; found && round < most_rounds && adapt(s, state, w); ++round)
    found = rest_on_mesh(s, state, w, options, 1, out);
  if (found && round > 0 && round == most_rounds && would_adapt(s, state, w))
    out.report.warning = fmt::format(
        "the mesh of the threads still changes after {} rounds of refinement: the rest is that of the last "
        "one; a smaller `join`, or more elements with fewer `levels`, may settle it",
        round);
  if (!found) {
    state = before;
    return out;
  }
  out.energy = energy(system, state, workspace);
  out.report.iterations = static_cast<int>(out.report.total_iterations);
  return out;
}

}  // namespace limber::thread
