// The convex hull of points in space, with its faces as polygons.
//
// Incremental (Clarkson, Shor 1989, without the conflict lists): the point farthest outside is taken next,
// the faces that it sees and those it lies in the plane of are removed, and their rim is joined to it. Taking
// the coplanar ones too leaves no sliver triangles. At the end triangles of one plane are merged.
#pragma once

#include <string>
#include <vector>

#include "limber/math/types.h"

namespace limber::math {

struct HullFace {
  int first = 0, count = 0;     // into loops
  Vec3 normal = Vec3::UnitZ();  // unit, outwards
};
struct HullEdge {
  int a = 0, b = 0;           // vertices
  int left = -1, right = -1;  // faces: left has a before b in its loop; −1: none
};

struct ConvexHull {
  std::vector<Vec3> vertices;  // corners only, in the order in which they were given [m]
  std::vector<int> loops;      // of faces one after the other, counter-clockwise seen from outside
  std::vector<HullFace> faces;
  std::vector<HullEdge> edges;
  Vec3 inside = Vec3::Zero();  // a point well inside
};

// Throws std::invalid_argument if the points lie in a plane, or are not finite.
ConvexHull convex_hull(const std::vector<Vec3>& points);

}  // namespace limber::math
