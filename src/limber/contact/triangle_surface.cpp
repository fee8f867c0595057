#include "limber/contact/triangle_surface.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <utility>

#include "limber/math/trig.h"

namespace limber::contact {
namespace {

constexpr int leaf_size = 4;

Bounds box_of(const TriangleSurface& s, int t) {
  const auto& v = s.triangles[t];
  const Vec3 &a = s.vertices[v[0]], &b = s.vertices[v[1]], &c = s.vertices[v[2]];
  return {a.cwiseMin(b).cwiseMin(c), a.cwiseMax(b).cwiseMax(c)};
}

Bounds around(const Bounds& a, const Bounds& b) { return {a.low.cwiseMin(b.low), a.high.cwiseMax(b.high)}; }

void build(TriangleSurface& s, int first, int count) {
  const int at = static_cast<int>(s.nodes.size());
  Bounds box = box_of(s, s.order[first]);
  for (int i = 1; i < count; ++i) box = around(box, box_of(s, s.order[first + i]));
  s.nodes.push_back({box, first, count, 0});
  if (count <= leaf_size) return;
  int side = 0;
  (box.high - box.low).maxCoeff(&side);
  const auto middle = [&](int t) {
    const auto& v = s.triangles[t];
    return s.vertices[v[0]][side] + s.vertices[v[1]][side] + s.vertices[v[2]][side];
  };
  const auto begin = s.order.begin() + first;
  std::nth_element(begin, begin + count / 2, begin + count,
                   [&](int a, int b) { return middle(a) != middle(b) ? middle(a) < middle(b) : a < b; });
  s.nodes[at].count = 0;
  build(s, first, count / 2);
  s.nodes[at].right = static_cast<int>(s.nodes.size());
  build(s, first + count / 2, count - count / 2);
}

double angle_at(const Vec3& corner, const Vec3& a, const Vec3& b) {
  const Vec3 u = a - corner, v = b - corner;
  return math::atan2(u.cross(v).norm(), u.dot(v));
}

void connect(TriangleSurface& s) {
  std::map<std::pair<int, int>, std::pair<int, int>>
      owner;  // edge as its triangle runs it → (triangle, edge)
  std::vector<std::vector<int>> joined(s.vertices.size());
  s.vertex_normals.assign(s.vertices.size(), Vec3::Zero());
  for (std::size_t t = 0; t < s.triangles.size(); ++t)
    for (int i = 0; i < 3; ++i) {
      const int a = s.triangles[t][i], b = s.triangles[t][(i + 1) % 3], c = s.triangles[t][(i + 2) % 3];
      owner.insert({{a, b}, {static_cast<int>(t), i}});
      joined[a].push_back(b), joined[b].push_back(a);
      s.vertex_normals[a] += angle_at(s.vertices[a], s.vertices[b], s.vertices[c]) * s.normals[t];
    }
  for (std::size_t t = 0; t < s.triangles.size(); ++t) {
    s.opposite.push_back({-1, -1, -1});
    for (int i = 0; i < 3; ++i) {
      const auto found = owner.find({s.triangles[t][(i + 1) % 3], s.triangles[t][i]});
      s.edge_normals.push_back(s.normals[t]);
      if (found == owner.end()) continue;
      const auto [other, edge] = found->second;
      s.opposite[t][i] = s.triangles[other][(edge + 2) % 3];
      s.edge_normals.back() += s.normals[other];
    }
  }
  s.around_start.push_back(0);
  for (auto& list : joined) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    s.around.insert(s.around.end(), list.begin(), list.end());
    s.around_start.push_back(static_cast<int>(s.around.size()));
  }
}

double squared_distance(const Bounds& box, const Vec3& p) {
  return (p - p.cwiseMax(box.low).cwiseMin(box.high)).squaredNorm();
}

}  // namespace

TriangleSurface make_surface(std::vector<Vec3> vertices, const std::vector<std::array<int, 3>>& triangles) {
  TriangleSurface s;
  s.vertices = std::move(vertices);
  for (const auto& t : triangles) {
    for (const int v : t)
      if (v < 0 || v >= static_cast<int>(s.vertices.size()))
        throw std::invalid_argument("a triangle's corner " + std::to_string(v) + " does not exist");
    const Vec3 u = s.vertices[t[1]] - s.vertices[t[0]], v = s.vertices[t[2]] - s.vertices[t[0]];
    const Vec3 n = u.cross(v);
    if (!(n.norm() > 1e-14 * (u.squaredNorm() + v.squaredNorm()))) continue;
    s.triangles.push_back(t);
    s.normals.push_back(n.normalized());
  }
  if (s.triangles.empty()) throw std::invalid_argument("a surface needs a triangle with an area");
  connect(s);
  s.closed =
      std::ranges::all_of(s.opposite, [](const auto& beyond) { return std::ranges::min(beyond) >= 0; });
  for (std::size_t t = 0; t < s.triangles.size(); ++t) s.order.push_back(static_cast<int>(t));
  build(s, 0, static_cast<int>(s.order.size()));
  s.box = s.nodes[0].box;
  return s;
}

TriangleSurface make_height_field(double size_x, double size_y, int columns, int rows,
                                  const std::vector<double>& heights) {
  if (columns < 2 || rows < 2 || heights.size() != static_cast<std::size_t>(columns) * rows)
    throw std::invalid_argument("a height field needs at least two rows of two heights");
  std::vector<Vec3> vertices;
  std::vector<std::array<int, 3>> triangles;
  for (int j = 0; j < rows; ++j)
    for (int i = 0; i < columns; ++i)
      vertices.emplace_back((static_cast<double>(i) / (columns - 1) - 0.5) * size_x,
                            (static_cast<double>(j) / (rows - 1) - 0.5) * size_y, heights[j * columns + i]);
  for (int j = 0; j + 1 < rows; ++j)
    for (int i = 0; i + 1 < columns; ++i) {
      const int a = j * columns + i, b = a + 1, c = a + columns, d = c + 1;
      triangles.push_back({a, b, d});
      triangles.push_back({a, d, c});
    }
  TriangleSurface s = make_surface(std::move(vertices), triangles);
  s.below = true;
  return s;
}

bool normal_fits(const TriangleSurface& s, int t, const Vec3& n) {
  constexpr double slack = 1e-4;  // rad: more than the noise of a normal, less than an edge worth having
  if (n.dot(s.normals[t]) <= 0) return false;
  const auto& v = s.triangles[t];
  double h[3], top = -std::numeric_limits<double>::infinity(), size = 0;
  for (int i = 0; i < 3; ++i) {
    h[i] = n.dot(s.vertices[v[i]] - s.vertices[v[0]]);
    top = std::max(top, h[i]);
    size = std::max(size, (s.vertices[v[i]] - s.vertices[v[0]]).norm());
  }
  const auto stands_out = [&](int other, int corner) {
    const Vec3 d = s.vertices[other] - s.vertices[corner];
    return n.dot(d) > slack * d.norm();
  };
  bool on[3];
  for (int i = 0; i < 3; ++i) on[i] = h[i] >= top - slack * size;
  if (on[0] && on[1] && on[2]) return true;
  for (int i = 0; i < 3; ++i) {
    const int k = (i + 1) % 3;
    if (on[i] && on[k])
      return s.opposite[t][i] < 0 ||
             !(stands_out(s.opposite[t][i], v[i]) || stands_out(s.opposite[t][i], v[k]));
  }
  for (int i = 0; i < 3; ++i)
    if (on[i])
      for (int e = s.around_start[v[i]]; e < s.around_start[v[i] + 1]; ++e)
        if (stands_out(s.around[e], v[i])) return false;
  return true;
}

// Ericson, Real-Time Collision Detection (2005), 5.1.5: the Voronoi regions of a triangle.
Vec3 closest_on_triangle(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& p, int& corners) {
  const Vec3 ab = b - a, ac = c - a, ap = p - a, bp = p - b, cp = p - c;
  const double d1 = ab.dot(ap), d2 = ac.dot(ap), d3 = ab.dot(bp), d4 = ac.dot(bp), d5 = ab.dot(cp),
               d6 = ac.dot(cp);
  if (d1 <= 0 && d2 <= 0) return corners = 1, a;
  if (d3 >= 0 && d4 <= d3) return corners = 2, b;
  if (d6 >= 0 && d5 <= d6) return corners = 4, c;
  const double vc = d1 * d4 - d3 * d2, vb = d5 * d2 - d1 * d6, va = d3 * d6 - d5 * d4;
  if (vc <= 0 && d1 >= 0 && d3 <= 0) return corners = 3, a + d1 / (d1 - d3) * ab;
  if (vb <= 0 && d2 >= 0 && d6 <= 0) return corners = 5, a + d2 / (d2 - d6) * ac;
  if (va <= 0 && d4 >= d3 && d5 >= d6) {
    const double w = (d4 - d3) / ((d4 - d3) + (d5 - d6));
    return corners = 6, b + w * (c - b);
  }
  const double sum = va + vb + vc;
  return corners = 7, a + vb / sum * ab + vc / sum * ac;
}

// Nearest triangle by the tree; the side from the normal of the feature (Bærentzen, Aanæs 2005).
SurfacePoint distance(const TriangleSurface& s, const Vec3& p) {
  double best = std::numeric_limits<double>::infinity();
  Vec3 at = Vec3::Zero(), side = Vec3::UnitZ();
  int stack[64], top = 0;
  stack[top++] = 0;
  while (top > 0) {
    const int i = stack[--top];
    const SurfaceNode& node = s.nodes[i];
    if (squared_distance(node.box, p) > best) continue;
    for (int k = 0; k < node.count; ++k) {
      const int t = s.order[node.first + k];
      const auto& v = s.triangles[t];
      int corners = 0;
      const Vec3 q = closest_on_triangle(s.vertices[v[0]], s.vertices[v[1]], s.vertices[v[2]], p, corners);
      const double d = (p - q).squaredNorm();
      if (!(d < best)) continue;
      best = d, at = q;
      side = corners == 7   ? s.normals[t]
             : corners == 3 ? s.edge_normals[3 * t]
             : corners == 6 ? s.edge_normals[3 * t + 1]
             : corners == 5 ? s.edge_normals[3 * t + 2]
                            : s.vertex_normals[v[corners == 1   ? 0
                                                 : corners == 2 ? 1
                                                                : 2]];
    }
    if (node.count > 0) continue;
    const int left = i + 1, right = node.right;
    const bool left_first = squared_distance(s.nodes[left].box, p) <= squared_distance(s.nodes[right].box, p);
    stack[top++] = left_first ? right : left;
    stack[top++] = left_first ? left : right;
  }
  const double d = std::sqrt(best), sign = (p - at).dot(side) < 0 ? -1 : 1;
  if (!(d > 1e-12)) return {sign * d, side.normalized()};
  return {sign * d, sign * (p - at) / d};
}

}  // namespace limber::contact
