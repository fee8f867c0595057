// The smallest ball around points: a size that does not depend on how the world is turned, on the order of
// the points or on points in between, as a box along the axes does.
#pragma once

#include <vector>

#include "limber/math/types.h"

namespace limber::math {

struct Ball {
  Vec3 center = Vec3::Zero();
  double radius = 0;
};

// O(n) a round; rounds are few, because each takes the point farthest outside. No points: a ball of radius 0.
Ball enclosing_ball(const std::vector<Vec3>& points);

}  // namespace limber::math
