// What a live view needs of the method beyond steps: a handle to pull at, numbers to colour by, numbers of
// one part, and a state from the lines of another method.
#pragma once

#include <optional>

#include "limber/result/fields.h"
#include "limber/result/hand.h"
#include "limber/result/touch.h"
#include "limber/thread/thread.h"

namespace limber::thread {

// A hand on a place of a thread, from the next step on: f = k (target − x) − d ẋ, implicit. False if there is
// no thread there.
bool hold(const System& system, Workspace& workspace, const result::Hand& hand);
void release(Workspace& workspace);
result::Pull pull(const System& system, const State& state, Workspace& workspace);  // zero if nothing is held

// What would cut a thread now at the node that is nearest to a point of the snapshot; none if there is no
// thread, or no node inside it that could be cut.
std::optional<Change> cut_at(const System& system, const State& state, int point);

// "tension", "bending moment" and "twist" along every thread.
result::Fields fields(const System& system, const State& state, Workspace& workspace);

// Length, largest tension, moment, curvature and twist of a thread, by name.
std::vector<result::Reading> readings(const System& system, const State& state, Workspace& workspace,
                                      const std::string& name);

// Where threads press on each other and on solids: places on their midlines, the force on the thread.
void touches(const System& system, const State& state, Workspace& workspace, result::Touches& out);

// Threads laid along the lines of their names, without twist, with the rates between two moments. False if a
// thread has no line there, or is cut.
bool adopt(const System& system, State& state, const result::Layout& layout, const result::Snapshot& before,
           const result::Snapshot& now);

}  // namespace limber::thread
