// Where threads come to rest: under loads that may be applied in steps, on a mesh that is chosen at rest. How
// one rest is found stands in static_search.cpp, and for the paper's elements in static_relaxation.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "limber/thread/static_contact.h"
#include "limber/thread/static_relaxation.h"
#include "limber/thread/static_search.h"

namespace limber::thread {
namespace {

// Under a share of the load, from w.e. What the search along arcs gives up (a thread that is pressed into the
// walls of a mesh far too coarse for it) is left to the relaxation.
bool rest_under(const SystemData& s, State& state, WorkspaceData& w, const StaticOptions& options,
                double load, StaticSearch* search, StaticResult& out) {
  if (search == nullptr) return relax(s, state, w, options, load, out);
  const std::vector<double> start(w.e.begin(), w.e.begin() + static_cast<std::ptrdiff_t>(state.e.size()));
  if (search->find(load)) return true;
  std::ranges::copy(start, w.e.begin());
  out.report.warning = fmt::format(
      "the threads come to rest slowly ({}): they may be far from it, or their mesh too coarse for their "
      "loads; "
      "load steps or more elements may help",
      search->why().empty() ? "too many iterations" : search->why());
  return relax(s, state, w, options, load, out);
}

// On the mesh as it is; the state is left there, at rest.
bool rest_on_mesh(const SystemData& s, State& state, WorkspaceData& w, const StaticOptions& options,
                  int load_steps, StaticResult& out) {
  set_mesh(s, state, w);
  set_damping(s, state, 0, w);
  w.scale_h = s.damps ? -1 : 0;
  std::copy_n(state.e.begin(), state.e.size(), w.e.begin());
  std::optional<StaticSearch> search;
  if (s.options.element == Element::log && s.options.solver == Solver::direct)
    search.emplace(s, state, w, options, out);
  for (int k = 1; k <= load_steps; ++k) {
    const double load = options.load * k / load_steps;
    if (s.contact) {
      if (!settle_touching(s, state, load, out)) return false;
      if (!state.touch.empty()) continue;
      std::copy_n(state.e.begin(), state.e.size(), w.e.begin());  // nothing touches: as without contact
    }
    if (rest_under(s, state, w, options, load, search ? &*search : nullptr, out)) continue;
    const std::string why = search ? search->why() : "";
    out.report.status = result::Status::not_converged;
    out.report.message = fmt::format(
        "no equilibrium found in {} iterations at {:.0f} % of the load{}: forces of {:.2g} of those that act "
        "are left",
        out.report.total_iterations, 100 * load, why.empty() ? "" : " (" + why + ")", out.residual);
    return false;
  }
  if (state.touch.empty()) std::copy_n(w.e.begin(), state.e.size(), state.e.begin());
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
