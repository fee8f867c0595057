// The unit of what a probe writes down.
#pragma once

#include "limber/model/model.h"

namespace limber {

// "m", "rad/s", "" for a pure number. `rotational` is of the joint's coordinate, for quantities of joints.
const char* unit_of(Quantity quantity, bool rotational = false);

}  // namespace limber
