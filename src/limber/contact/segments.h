// Closest points of segments and points, and when two moving segments come within a distance. A capsule is a
// segment with a radius, so this is all that capsules need.
#pragma once

#include "limber/math/types.h"

namespace limber::contact {

struct SegmentPair {
  double s = 0, t = 0;        // along the first and the second segment, 0 … 1
  double distance = 0;        // [m]
  Vec3 apart = Vec3::Zero();  // from the second's point to the first's [m]
};

// The closest points of a0–a1 and b0–b1; parallel ones give the middle of where they run side by side.
SegmentPair closest(const Vec3& a0, const Vec3& a1, const Vec3& b0, const Vec3& b1);

// Along a–b, the place closest to p.
double closest(const Vec3& a, const Vec3& b, const Vec3& p);

struct MovingSegment {
  Vec3 a0, b0;  // at the beginning
  Vec3 a1, b1;  // at the end; points move on straight lines
};

// The first time in 0 … 1 when the segments are within `distance`, by conservative advancement: they cannot
// come closer faster than their fastest points. 2 if they never are.
double time_of_impact(const MovingSegment& first, const MovingSegment& second, double distance);

}  // namespace limber::contact
