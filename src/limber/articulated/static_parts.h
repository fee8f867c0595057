// Parts of a structure that come to rest each by itself. Internal to articulated/.
#pragma once

#include <vector>

#include "limber/articulated/system.h"

namespace limber::articulated {

struct StaticPart {
  System system;          // its links and what stands still under them
  std::vector<int> link;  // (links of system) the same link of the whole
};

// Two parts or more; none if all that can move hangs together.
std::vector<StaticPart> static_parts(const SystemData& s);

}  // namespace limber::articulated
