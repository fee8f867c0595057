// A planar triangle mesh with neighbours, and the moves that keep it valid: flips and splits.
#pragma once

#include <array>
#include <vector>

#include "limber/math/types.h"

namespace limber::elastic {

// Counter-clockwise. Edge i lies opposite corner i, from corner i+1 to corner i+2.
struct Triangle {
  std::array<int, 3> v{};                   // corners
  std::array<int, 3> neighbor{-1, -1, -1};  // across edge i; −1: none
  std::array<int, 3> ring{-1, -1, -1};  // the outline (0) or hole (1, 2, …) that edge i is part of; −1: none
};

// Twice the area of a, b, c: positive when counter-clockwise. In long double, the coordinates being of
// order 1.
long double orientation(const Vec2& a, const Vec2& b, const Vec2& c);

struct TriangleMesh {
  std::vector<Vec2> points;
  std::vector<Triangle> triangles;

  double area(int t) const;
  double edge_length(int t, int i) const;
  int longest_edge(int t) const;
  double smallest_angle_sine(int t) const;
  int edge_towards(int t, int other) const;  // the edge of t across which `other` lies

  void flip(int t, int i);                   // the diagonal of the two triangles at edge i
  bool flip_keeps_area(int t, int i) const;  // their quadrilateral is strictly convex
  int split_edge(int t, int i,
                 const Vec2& p);  // p on edge i; returns the new point, the mesh is Delaunay around it again
  int split_triangle(int t, const Vec2& p);  // p inside; likewise

  // Lawson: flips edges that are in no ring until every one is locally Delaunay.
  void make_delaunay();

 private:
  bool wants_flip(int t, int i) const;
  void link(int t, int i, int other);
  void legalize_around(int point, std::vector<int> triangles);
};

inline constexpr int next3(int i) { return i == 2 ? 0 : i + 1; }
inline constexpr int previous3(int i) { return i == 0 ? 2 : i - 1; }

}  // namespace limber::elastic
