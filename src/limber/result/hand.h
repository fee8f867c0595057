// The hand of a live view: a spring of no length and a damper that pull a point of a structure towards a
// place. Set between steps; no part of a scene.
#pragma once

#include <cstdint>

#include "limber/math/types.h"

namespace limber::result {

struct Hand {
  enum class On : std::uint8_t { frame, point };
  On on = On::frame;
  int index = 0;               // of the layout's frames, or of the snapshot's points
  Vec3 p = Vec3::Zero();       // in the frame [m]
  Vec3 target = Vec3::Zero();  // in the world [m]
  double stiffness = 0;        // [N/m]
  double damping = 0;          // [N·s/m]

  // On a point that is `away` = target − x from where the hand is and moves with v, in any axes.
  Vec3 force(const Vec3& away, const Vec3& v) const { return stiffness * away - damping * v; }
};

struct Pull {
  Vec3 point = Vec3::Zero();  // where it pulls [m]
  Vec3 force = Vec3::Zero();  // on the structure [N]
};

}  // namespace limber::result
