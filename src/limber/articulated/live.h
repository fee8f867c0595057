// What a live view needs of the method beyond steps: a handle to pull at, numbers to colour by, numbers of
// one part, and a state from the poses of another method.
#pragma once

#include "limber/articulated/articulated.h"
#include "limber/result/fields.h"
#include "limber/result/hand.h"
#include "limber/result/touch.h"

namespace limber::articulated {

// A hand on a link, from the next step on: f = k (target − p) − d ṗ, implicit as a spring to the ground is.
// False if there is no such part, or it cannot be held (the car of a rider).
bool hold(const System& system, Workspace& workspace, const result::Hand& hand);
void release(const System& system, Workspace& workspace);
int held_body(Workspace& workspace);                                                // −1: none
result::Pull pull(const System& system, const State& state, Workspace& workspace);  // zero if nothing is held

// All weight, loads, wind and riders times this, from the next step on.
void scale_loads(Workspace& workspace, double factor);

// "tension" of springs, "bending stress" along beams: |M_y| z/I_y + |M_z| y/I_z at the section's edge, about
// its principal axes, from the moment of the link's joint.
result::Fields fields(const System& system, const State& state, Workspace& workspace);

// Coordinates, rates and forces of the joint of a body, or length and tension of a spring, by name.
std::vector<result::Reading> readings(const System& system, const State& state, Workspace& workspace,
                                      const std::string& name);

// Where things press on each other now, the force on the one that can move.
void touches(const System& system, const State& state, result::Touches& out);

// The model with the state as its start: what a scene file of this moment says.
Model model_at(const System& system, const State& state);

// Joints turned as near to the poses of the layout's frames as they can, rates from the poses a time before;
// frames are found by their names. False if a body has no frame there.
bool adopt(const System& system, State& state, const result::Layout& layout, const result::Snapshot& before,
           const result::Snapshot& now);

}  // namespace limber::articulated
