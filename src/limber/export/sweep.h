// Sections swept along polylines (PolylineInfo::outline): where their corners are, and the corners of a ring
// with normals.
#pragma once

#include <vector>

#include "limber/result/snapshot.h"

namespace limber::exporting {

struct Sweep {
  std::size_t polyline = 0;            // index in the layout
  std::size_t line = 0, y = 0, z = 0;  // first points in a snapshot
  std::size_t points = 0;              // rings
  std::vector<Vec2> outline;
  Vec3 at(const result::Snapshot& snapshot, std::size_t ring, const Vec2& corner) const;
};
std::vector<Sweep> sweeps_of(const result::Layout& layout);  // of two points and more

// A corner with the normal of the surface beside it, in the section's plane. Sharp ones stand there twice; a
// strip joins each corner to the next but for the second of a pair to the first.
struct RingCorner {
  Vec2 at, normal;
  bool joined = true;  // to the next, the last to the first
};
std::vector<RingCorner> ring_of(const std::vector<Vec2>& outline);

}  // namespace limber::exporting
