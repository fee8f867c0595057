#include "limber/articulated/static_path.h"

#include <algorithm>
#include <stdexcept>

#include "limber/articulated/static_walker.h"

namespace limber::articulated {

std::optional<double> give_of(const System& system, const State& rest, const PathOptions& options) {
  if (!rest.touching.empty()) return std::nullopt;
  Workspace workspace(system);
  PathWalker walker(system.data(), rest, workspace.data(), options);
  PathPlace place;
  if (!walker.begin(place, 1)) return std::nullopt;
  const auto at = walker.start(place, 1);
  return at.d.work / at.d.factor;
}

Path follow(const System& system, State& state, const PathOptions& options, const PathObserver& observer) {
  const SystemData& s = system.data();
  if (!s.contacts.empty())
    throw std::invalid_argument("path: what leans on something has no path: contacts close and open on it");
  Path out;
  StaticOptions first = options.statics;
  first.modes = 0;
  if (options.loads_grow) first.load = 0;
  if (options.weight_grows) first.weight = 0;
  if (options.motions_grow) first.motion = 0;
  Workspace workspace(system);
  State at = state;
  out.first = solve_static(system, at, workspace, first);
  if (!out.first.report.ok()) return out;
  PathWalker walker(s, at, workspace.data(), options);
  PathPlace place;
  if (!walker.begin(place)) {
    out.first.report.status = result::Status::not_converged;
    out.first.report.message = "nothing holds it before the loads grow: there is no path from there";
    return out;
  }
  const auto tell = [&](const math::PathPoint& point, const PathPlace& there) {
    const StaticResult rest = walker.told(there);
    at.q = there.q;
    observer({point, at, rest});
  };
  math::PathFollower<PathWalker> follower(walker, options);
  out.report = observer ? follower.run(place, tell) : follower.run(place, nullptr);
  state = at, state.q = place.q;
  std::fill(state.v.begin(), state.v.end(), 0.0);
  std::fill(state.a.begin(), state.a.end(), 0.0);
  return out;
}

}  // namespace limber::articulated
