// What touches in a state, by name.
#pragma once

#include <vector>

#include "limber/articulated/statics.h"

namespace limber::articulated {

struct SystemData;
// touching: as a state keeps it.
std::vector<TouchReaction> touch_reactions(const SystemData& s, const std::vector<double>& touching);

// With the forces of the last step; empty before the first.
std::vector<TouchReaction> touches(const System& system, const State& state);

}  // namespace limber::articulated
