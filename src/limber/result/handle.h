// A soft handle: a spring and a damper that pull a point of a structure towards a place, as a hand would. Set
// between steps; no part of a scene.
#pragma once

#include <cstdint>

#include "limber/math/types.h"

namespace limber::result {

struct Handle {
  enum class On : std::uint8_t { frame, point };
  On on = On::frame;
  int index = 0;               // of the layout's frames, or of the snapshot's points
  Vec3 p = Vec3::Zero();       // in the frame [m]
  Vec3 target = Vec3::Zero();  // in the world [m]
  double stiffness = 0;        // [N/m]
  double damping = 0;          // [N·s/m]
};

struct Pull {
  Vec3 point = Vec3::Zero();  // where it pulls [m]
  Vec3 force = Vec3::Zero();  // on the structure [N]
};

}  // namespace limber::result
