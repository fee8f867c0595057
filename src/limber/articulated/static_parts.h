// Parts of a structure that come to rest each by itself. Internal to articulated/.
#pragma once

#include <vector>

#include "limber/articulated/system.h"

namespace limber::articulated {

struct StaticPart {
  System system;          // its links and what stands still under them
  std::vector<int> link;  // (links of system) the same link of the whole
};

// None if all bodies hang together; what stands still beside the only part that moves is left out of it.
std::vector<StaticPart> static_parts(const SystemData& s);

}  // namespace limber::articulated
