// Boxes along the axes.
#pragma once

#include "limber/math/types.h"

namespace limber::contact {

struct Bounds {
  Vec3 low, high;
};

inline bool overlap(const Bounds& a, const Bounds& b) {
  return (a.low.array() <= b.high.array()).all() && (b.low.array() <= a.high.array()).all();
}

}  // namespace limber::contact
