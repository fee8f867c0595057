// The distance of two convex cores that do not overlap (Gilbert, Johnson, Keerthi 1988): the point of their
// difference a − b nearest to the origin, by simplices of support points. The nearest point of a simplex is
// found among all its corners, edges, triangles: slower than the usual signed volumes, and never wrong about
// which.
#pragma once

#include "limber/contact/convex.h"

namespace limber::contact {

struct Apart {
  bool overlap = false;  // or so close that no direction can be told
  double distance = 0;
  Vec3 on_a = Vec3::Zero(), on_b = Vec3::Zero();
};
Apart gjk(const Convex& a, const Convex& b);

}  // namespace limber::contact
