// The places where two convex solids touch along a given normal.
//
// If the normal belongs to a face of one, the facet of the other that looks at it is cut to the prism over
// that face (Sutherland, Hodgman 1974), and each corner of what remains is a point of contact: a box at rest
// has its four corners whatever its last tilt. Else the one touching pair is all.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "limber/contact/separation.h"

namespace limber::contact {

struct ContactPoint {
  Vec3 on_a = Vec3::Zero(), on_b = Vec3::Zero();  // in the world [m]
  Vec3 normal = Vec3::UnitZ();                    // unit, from b to a
  double gap = 0;                                 // negative: overlap [m]
  std::uint32_t feature = 0;                      // which corners and edges meet; the same from step to step
};

struct Manifold {
  int count = 0;
  std::array<ContactPoint, 8> points;
};

struct ClipScratch {
  Facet a, b;
  std::vector<Vec3> polygon, cut;
  std::vector<std::uint32_t> ids, cut_ids;
};

inline std::uint32_t mix(std::uint32_t h, std::uint32_t x) {
  h ^= x + 0x9e3779b9u + (h << 6) + (h >> 2);
  h *= 0x85ebca6bu;
  return h ^ h >> 13;
}

// Appends the points with a gap below `margin`.
void touching_points(const Convex& a, const Convex& b, const Separation& s, double margin, std::uint32_t tag,
                     ClipScratch& scratch, std::vector<ContactPoint>& out);

// Cuts `facet` to the prism over a loop with this normal; scratch.polygon and ids hold what remains.
void cut_to_prism(const Facet& facet, const std::vector<Vec3>& loop,
                  const std::vector<std::uint32_t>& loop_ids, const Vec3& normal, double slack,
                  ClipScratch& scratch);

// At most eight of them: the deepest, then each time the one that reaches out most beyond those taken.
void reduce(std::vector<ContactPoint>& points, Manifold& out);

}  // namespace limber::contact
