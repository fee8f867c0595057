// Where threads come to rest by the paper's elements, by conjugate gradients and where the search along arcs
// gives up: Newton with a mass term that
// fades (pseudo-transient continuation): (σM + K) δ = f − ∇V. σ is raised where the tangent is not positive
// definite or where a direction would turn too far, and lowered otherwise; at the end σ = 0 and the iteration
// is Newton's.
#include "limber/thread/static_relaxation.h"

#include <algorithm>
#include <cmath>

#include "limber/math/stop.h"

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

}  // namespace

bool relax(const SystemData& s, State& state, WorkspaceData& w, const StaticOptions& options, double load,
           StaticResult& out) {
  return Relaxation{s, state, w, options, out, load}.relax();
}

}  // namespace limber::thread
