// A surface of triangles that bodies touch from outside: of a mesh, or of a height field with ground below.
//
// Who shares which edge and corner is kept, so that contact can tell a real edge from one between two
// triangles of the same plane (normal_fits). A tree of boxes, halved at the median of the longest side, finds
// triangles.
#pragma once

#include <array>
#include <vector>

#include "limber/contact/bounds.h"

namespace limber::contact {

struct SurfaceNode {
  Bounds box;
  int first = 0, count = 0;  // leaf: into order; count 0: children are the next node and `right`
  int right = 0;
};

struct TriangleSurface {
  std::vector<Vec3> vertices;                 // in G [m]
  std::vector<std::array<int, 3>> triangles;  // counter-clockwise seen from outside
  std::vector<Vec3> normals;                  // (triangles) unit, outwards
  std::vector<std::array<int, 3>> opposite;   // (triangles) corner beyond the edge i – i+1; −1: a border
  std::vector<Vec3> edge_normals;             // (3 triangles) of the edge i – i+1, for the side of a point
  std::vector<Vec3> vertex_normals;           // (vertices) weighted by angle, for the side of a point
  std::vector<int> around_start, around;      // (vertices + 1) into around: corners joined by an edge
  std::vector<SurfaceNode> nodes;
  std::vector<int> order;  // (triangles)
  Bounds box;
  bool closed = false;  // no triangle has a border
  bool below = false;   // all below the surface is solid, however deep (a height field)

  // Calls hit(triangle) for every one whose box overlaps `bounds` (in G), in a fixed order.
  template <class Hit>
  void query(const Bounds& bounds, Hit hit) const {
    int stack[64], top = 0;
    if (!nodes.empty()) stack[top++] = 0;
    while (top > 0) {
      const int at = stack[--top];
      const SurfaceNode& n = nodes[at];
      if (!overlap(n.box, bounds)) continue;
      for (int i = 0; i < n.count; ++i) hit(order[n.first + i]);
      if (n.count == 0) stack[top++] = n.right, stack[top++] = at + 1;
    }
  }
};

// Triangles without area are left out. Throws std::invalid_argument if an index is out of range or none is
// left.
TriangleSurface make_surface(std::vector<Vec3> vertices, const std::vector<std::array<int, 3>>& triangles);

// Heights over a grid centred on the origin: heights[row·columns + column], columns along x, rows along y.
TriangleSurface make_height_field(double size_x, double size_y, int columns, int rows,
                                  const std::vector<double>& heights);

// Whether a body that touches triangle t with this outward normal n touches the surface's own corner or edge
// there: nothing of the surface next to it may stand out along n.
bool normal_fits(const TriangleSurface& surface, int t, const Vec3& n);

struct SurfacePoint {
  double distance = 0;  // [m], negative inside
  Vec3 normal = Vec3::UnitZ();
};
SurfacePoint distance(const TriangleSurface& surface, const Vec3& p_G);

// Of a triangle, the point closest to p; `corners` gets a bit for every corner that it depends on.
Vec3 closest_on_triangle(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& p, int& corners);

}  // namespace limber::contact
