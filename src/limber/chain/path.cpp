#include "limber/chain/path.h"

#include "limber/chain/path_walker.h"

namespace limber::chain {

PathReport follow(Solver& solver, Rest& rest, const PathOptions& options, const PathObserver& observer) {
  PathWalker walker(solver, options);
  return math::PathFollower<PathWalker>(walker, options).run(rest, observer);
}

}  // namespace limber::chain
