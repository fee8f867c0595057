// Solids that threads and bodies touch, and the closest place of a segment to them.
//
// A solid is a shape in its frame G with a pose in the world; distance is negative inside. To add a shape,
// add it to the variant and give it a `distance` (solid.cpp), and for contact between bodies a place in
// collide.cpp.
#pragma once

#include <memory>
#include <variant>

#include "limber/contact/bounds.h"
#include "limber/contact/triangle_surface.h"
#include "limber/math/convex_hull.h"
#include "limber/math/spatial.h"

namespace limber::contact {

struct HalfSpace {};  // z ≤ 0
struct Sphere {
  double radius = 0;
};
struct Capsule {
  double radius = 0, length = 0;  // axis z, centred, length without the caps
};
struct Cylinder {
  double radius = 0, length = 0;  // axis z, centred
};
struct Box {
  Vec3 half = Vec3::Zero();  // half sides
};
struct Hull {
  std::shared_ptr<const math::ConvexHull> hull;
};
struct HeightField {
  std::shared_ptr<const TriangleSurface> surface;  // of make_height_field
};
struct Mesh {
  std::shared_ptr<const TriangleSurface> surface;  // of make_surface
};
using Geometry = std::variant<HalfSpace, Sphere, Capsule, Cylinder, Box, Hull, HeightField, Mesh>;

struct Solid {
  Geometry geometry;
  Pose X_WG;
};

struct Distance {
  double value = 0;             // [m] of a point from the surface, negative inside
  Vec3 normal = Vec3::UnitZ();  // unit, away from the solid
};
Distance distance(const Geometry& geometry, const Vec3& p_G);  // in G
Distance distance(const Solid& solid, const Vec3& p_W);        // in the world

// The place of a–b that is closest to the solid (deepest in it).
struct SegmentTouch {
  double s = 0;  // 0 … 1
  Distance distance;
};
SegmentTouch closest(const Solid& solid, const Vec3& a, const Vec3& b);

Bounds bounds(const Solid& solid);  // of the world's axes; a half space is unbounded

}  // namespace limber::contact
