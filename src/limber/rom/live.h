// A reduced model in a live view: held at a point, read, and taken over from another method.
#pragma once

#include "limber/result/touch.h"
#include "limber/rom/rom.h"

namespace limber::rom {

// A hand on a body, from the next step on: f = k (target − p) − d ṗ, implicit. False: it cannot be held
// there.
bool hold(const System& system, Workspace& workspace, const result::Hand& hand);
void release(Workspace& workspace);
int held_body(Workspace& workspace);                                                // −1: none
result::Pull pull(const System& system, const State& state, Workspace& workspace);  // zero if nothing is held

// All weight of free bodies and all loads times this, from the next step on.
void scale_loads(Workspace& workspace, double factor);

// Speed of a body; what holds an end where it is.
std::vector<result::Reading> readings(const System& system, const State& state, Workspace& workspace,
                                      const std::string& name);

// Where things press on each other, the force on the one that can move.
void touches(const System& system, const State& state, Workspace& workspace, result::Touches& out);

// Ends and free bodies put where the layout's frames are. False if a body has no frame there.
bool adopt(const System& system, State& state, const result::Layout& layout, const result::Snapshot& before,
           const result::Snapshot& now);

}  // namespace limber::rom
