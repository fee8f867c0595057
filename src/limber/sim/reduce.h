// Reduced models of a scene's mechanisms: settles the whole mechanism under loads (method articulated),
// linearises it there, and chooses the points by hand or by error (docs/theory/rom.md).
#pragma once

#include <functional>

#include "limber/rom/partition.h"
#include "limber/rom/rom.h"

namespace limber::sim {

using ReduceProgress = std::function<void(const std::string& what, int done)>;

// Throws ModelError for what cannot be reduced, with its reason.
rom::ReducedModel reduce(const Model& model, const rom::Options& options,
                         const ReduceProgress& progress = {});

// Throws what reduce() would throw for the scene itself: also where a mechanism of not too many links cannot
// be linearised at rest or where the scene asks for it. Chooses no points.
void check_reducible(const Model& model, const rom::Options& options);

// One point more, where the whole mechanism rests under the request's loads: in every mechanism that has one
// of its ends, or in all if it names none. Throws ModelError where there is no such rest.
void add_point(const Model& model, rom::ReducedModel& reduced, const rom::PointRequest& request,
               const rom::BuildOptions& options);

// The whole mechanism at rest under wrenches on its ends (dead, base's axes, at their origins), and
// linearised; not ok where it finds no rest or cannot be linearised there.
struct Settled {
  bool ok = false;
  std::string message;
  rom::Point point;
};
Settled settle(const Model& linked, const rom::Mechanism& mechanism, const std::vector<Vec6>& wrenches,
               double t, const rom::BuildOptions& options);

}  // namespace limber::sim
