// Triangulated shapes, for every format that knows only triangles.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "limber/model/body.h"

namespace limber::exporting {

struct Mesh {
  std::vector<Vec3> positions;                          // in the shape's frame G [m]
  std::vector<Vec3> normals;                            // unit, outwards; vertices on sharp edges are doubled
  std::vector<std::array<std::uint32_t, 3>> triangles;  // counter-clockwise seen from outside
};

// Round shapes get `sides` corners around.
inline constexpr int default_sides = 24;
Mesh mesh_of(const ShapeGeometry& geometry, int sides = default_sides);

// A ball around G's origin that holds the shape [m].
double bounding_radius(const ShapeGeometry& geometry);

}  // namespace limber::exporting
