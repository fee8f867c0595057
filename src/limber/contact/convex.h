// A convex solid placed in the world, as the general search for contact sees it: a core, and a radius around
// it. Sphere: a point; capsule: a segment; box, hull, triangle: their corners, edges and faces, no radius;
// cylinder: itself. Holds its buffers, so that placing another solid in it allocates nothing once they are
// large enough.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "limber/contact/solid.h"

namespace limber::contact {

struct Convex {
  // Corners and what joins them; empty for a cylinder.
  std::vector<Vec3> vertices, normals;  // normals: of faces, unit, outwards
  std::vector<Vec3> edges;              // (edges x 3) direction, then into the left and the right face
  std::span<const int> loops;
  std::span<const math::HullFace> faces;  // their loops; the normals there are those of G
  std::span<const math::HullEdge> ends;
  bool one_sided = false;  // a triangle that is touched on the side of normals[0] only

  // A cylinder.
  bool cylinder = false;
  Vec3 axis = Vec3::UnitZ(), x = Vec3::UnitX(), y = Vec3::UnitY();
  double cylinder_radius = 0, half_length = 0;

  double radius = 0;  // around the core [m]
  double size = 0;    // of the core, about [m]
  Vec3 centre = Vec3::Zero();
};

// Sphere, capsule, cylinder, box or hull.
void place(const Geometry& geometry, const Pose& X, Convex& out);
void place_triangle(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& normal, Convex& out);

Vec3 support(const Convex& c, const Vec3& d);  // the core's farthest point along d
double reach(const Convex& c, const Vec3& d);  // how far along d that is

// The face, or line, or point of the core that looks along d most.
struct Facet {
  std::vector<Vec3> points;  // 1, 2, or a loop
  std::vector<std::uint32_t> ids;
  Vec3 normal = Vec3::UnitZ();  // of a face; else d
  bool face = false;
};
void facet(const Convex& c, const Vec3& d, Facet& out);

}  // namespace limber::contact
