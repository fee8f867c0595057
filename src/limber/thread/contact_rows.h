// What a contact sees of nodes' motions and gives them as forces, in node axes. Internal to thread/.
#pragma once

#include "limber/thread/system.h"

namespace limber::thread {

// J x of a motion in node axes: gap and two slips. The normal looks at the midline, friction at the surface.
void touch_motion(const TouchRows& r, const double* x, double* out);
// x += Jᵀλ
void add_touch_force(const TouchRows& r, const double* lambda, double* x);
// The unit forces of a contact at its node k: three rows of twelve. The normal's acts at the midline.
void unit_forces(const TouchRows& r, int k, double* y);

}  // namespace limber::thread
