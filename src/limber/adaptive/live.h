// What a live view needs of the method beyond steps: a handle to pull at, and numbers of one part.
#pragma once

#include "limber/adaptive/adaptive.h"
#include "limber/result/hand.h"

namespace limber::adaptive {

// A hand on a body, from the next step on: f = k (target − p), as a spring to the ground is one of the ties
// (ties.h). Where it holds decides which paths of the assembly tree a step looks at, so that a new place
// makes a new system and workspace; a new target does not. False if there is no such part, or it cannot move.
bool hold(System& system, State& state, Workspace& workspace, const result::Hand& hand);
void release(System& system, State& state, Workspace& workspace);
result::Pull pull(const System& system, const State& state, Workspace& workspace);  // zero if nothing is held

// Coordinates of a body's joint, its last move, and in how many of the steps it moved, by name.
std::vector<result::Reading> readings(const System& system, const State& state, const std::string& name);

}  // namespace limber::adaptive
