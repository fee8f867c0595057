// Rests that lean on something. Internal to thread/.
#pragma once

#include "limber/thread/system.h"

namespace limber::thread {

// Steps from rest to rest, on the mesh at hand and under a share of the load, until nothing moves any more:
// the state is left there, with its contacts, and `out` has what was done and whether it is stable.
bool settle_touching(const SystemData& s, State& state, double load, StaticResult& out);

}  // namespace limber::thread
