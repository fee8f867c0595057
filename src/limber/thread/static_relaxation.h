// Rests of the paper's elements and by conjugate gradients (static_relaxation.cpp). Internal to thread/.
#pragma once

#include "limber/thread/system.h"

namespace limber::thread {

// From w.e to a rest under a share of the loads, in w.e.
bool relax(const SystemData& s, State& state, WorkspaceData& w, const StaticOptions& options, double load,
           StaticResult& out);

}  // namespace limber::thread
