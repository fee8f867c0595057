// A polygon with holes as triangles: constrained Delaunay, refined by longest-edge midpoints.
#pragma once

#include <span>

#include "limber/elastic/triangle_mesh.h"
#include "limber/model/material.h"

namespace limber::elastic {

// The polygon's rings ready to triangulate: outline (first) counter-clockwise, holes clockwise, points on
// straight lines left out. Throws std::invalid_argument if the polygon is none: fewer than three corners, too
// many points, points that coincide, an outline that crosses or touches itself, holes that are not apart from
// it and from each other.
std::vector<std::vector<Vec2>> polygon_rings(const Polygon& polygon);
inline constexpr int max_polygon_points = 2000;

// Constrained Delaunay triangulation (incremental insertion, edges recovered by flips: Sloan 1993) of rings
// from polygon_rings, scaled to order 1. Edges on ring k carry k.
TriangleMesh triangulate(std::span<const std::vector<Vec2>> rings);

// Longest-edge Delaunay refinement (Rivara 1997): a triangle leads along ever longer edges to one that is the
// longest of both its sides; its middle becomes a point. refine_angles stops when no angle is below
// asin(least_sine), those between two edges of the polygon excepted, or at max_triangles. refine_marked
// splits the given triangles once.
void refine_angles(TriangleMesh& mesh, double least_sine, int max_triangles);
void refine_marked(TriangleMesh& mesh, std::span<const int> marked);

}  // namespace limber::elastic
