#include "limber/elastic/triangle_mesh.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace limber::elastic {

long double orientation(const Vec2& a, const Vec2& b, const Vec2& c) {
  using L = long double;
  return (L(b[0]) - a[0]) * (L(c[1]) - a[1]) - (L(b[1]) - a[1]) * (L(c[0]) - a[0]);
}

double TriangleMesh::area(int t) const {
  const auto& v = triangles[t].v;
  return static_cast<double>(0.5L * orientation(points[v[0]], points[v[1]], points[v[2]]));
}

double TriangleMesh::edge_length(int t, int i) const {
  const auto& v = triangles[t].v;
  return (points[v[previous3(i)]] - points[v[next3(i)]]).norm();
}

int TriangleMesh::longest_edge(int t) const {
  const double l0 = edge_length(t, 0), l1 = edge_length(t, 1), l2 = edge_length(t, 2);
  return l0 >= l1 && l0 >= l2 ? 0 : l1 >= l2 ? 1 : 2;
}

double TriangleMesh::smallest_angle_sine(int t) const {
  // 2A = (longest)(middle) sin(smallest).
  std::array<double, 3> l{edge_length(t, 0), edge_length(t, 1), edge_length(t, 2)};
  std::sort(l.begin(), l.end());
  return 2 * area(t) / (l[1] * l[2]);
}

int TriangleMesh::edge_towards(int t, int other) const {
  const auto& n = triangles[t].neighbor;
  return n[0] == other ? 0 : n[1] == other ? 1 : 2;
}

// Tells the triangle across edge i of t that t is its neighbour now, in place of `other`.
void TriangleMesh::link(int t, int i, int other) {
  const int u = triangles[t].neighbor[i];
  if (u >= 0) triangles[u].neighbor[edge_towards(u, other)] = t;
}

void TriangleMesh::flip(int t, int i) {
  const int u = triangles[t].neighbor[i], j = edge_towards(u, t);
  const Triangle T = triangles[t], U = triangles[u];
  const int i1 = next3(i), i2 = previous3(i), j1 = next3(j), j2 = previous3(j);
  // T = (a, b, c), U = (d, c, b) become (a, b, d) and (a, d, c).
  const int a = T.v[i], b = T.v[i1], c = T.v[i2], d = U.v[j];
  triangles[t] = {{a, b, d}, {U.neighbor[j1], u, T.neighbor[i2]}, {U.ring[j1], -1, T.ring[i2]}};
  triangles[u] = {{a, d, c}, {U.neighbor[j2], T.neighbor[i1], t}, {U.ring[j2], T.ring[i1], -1}};
  link(t, 0, u);
  link(u, 1, t);
}

bool TriangleMesh::flip_keeps_area(int t, int i) const {
  const int u = triangles[t].neighbor[i];
  if (u < 0) return false;
  const auto& v = triangles[t].v;
  const Vec2 &a = points[v[i]], &b = points[v[next3(i)]], &c = points[v[previous3(i)]];
  const Vec2& d = points[triangles[u].v[edge_towards(u, t)]];
  // Relative to the quadrilateral's size: a sliver of 1e-13 is none.
  const double tiny = 1e-13 * ((a - d).squaredNorm() + (b - c).squaredNorm());
  return orientation(a, b, d) > tiny && orientation(a, d, c) > tiny;
}

// d lies inside the circle through a, b, c, beyond rounding.
bool TriangleMesh::wants_flip(int t, int i) const {
  const int u = triangles[t].neighbor[i];
  if (u < 0 || triangles[t].ring[i] >= 0) return false;
  const auto& v = triangles[t].v;
  const Vec2& d = points[triangles[u].v[edge_towards(u, t)]];
  using L = long double;
  std::array<L, 3> x, y, q;
  L size = 0;
  for (int k = 0; k < 3; ++k) {
    x[k] = L(points[v[k]][0]) - d[0];
    y[k] = L(points[v[k]][1]) - d[1];
    q[k] = x[k] * x[k] + y[k] * y[k];
    size += q[k];
  }
  const L det = q[0] * (x[1] * y[2] - x[2] * y[1]) + q[1] * (x[2] * y[0] - x[0] * y[2]) +
                q[2] * (x[0] * y[1] - x[1] * y[0]);
  return det > 1e-13L * size * size && flip_keeps_area(t, i);
}

void TriangleMesh::legalize_around(int point, std::vector<int> pending) {
  while (!pending.empty()) {
    const int t = pending.back();
    pending.pop_back();
    const auto& v = triangles[t].v;
    const auto corner = std::find(v.begin(), v.end(), point);
    if (corner == v.end()) continue;
    const int i = static_cast<int>(corner - v.begin());
    if (!wants_flip(t, i)) continue;
    pending.push_back(t);
    pending.push_back(triangles[t].neighbor[i]);
    flip(t, i);
  }
}

int TriangleMesh::split_triangle(int t, const Vec2& p) {
  const int point = static_cast<int>(points.size());
  points.push_back(p);
  const Triangle T = triangles[t];
  const int n = static_cast<int>(triangles.size());
  const std::array<int, 3> id{t, n, n + 1};
  triangles.resize(n + 2);
  for (int k = 0; k < 3; ++k) {
    const int k1 = next3(k), k2 = previous3(k);
    triangles[id[k]] = {{point, T.v[k1], T.v[k2]}, {T.neighbor[k], id[k1], id[k2]}, {T.ring[k], -1, -1}};
    if (id[k] != t) link(id[k], 0, t);
  }
  legalize_around(point, {id.begin(), id.end()});
  return point;
}

int TriangleMesh::split_edge(int t, int i, const Vec2& p) {
  const int point = static_cast<int>(points.size());
  points.push_back(p);
  const Triangle T = triangles[t];
  const int u = T.neighbor[i], t2 = static_cast<int>(triangles.size()), u2 = u < 0 ? -1 : t2 + 1;
  const int i1 = next3(i), i2 = previous3(i), r = T.ring[i];
  // (a, b, c) becomes (a, b, p) and (a, p, c).
  const int a = T.v[i], b = T.v[i1], c = T.v[i2];
  triangles.resize(triangles.size() + (u < 0 ? 1 : 2));
  triangles[t] = {{a, b, point}, {u2, t2, T.neighbor[i2]}, {r, -1, T.ring[i2]}};
  triangles[t2] = {{a, point, c}, {u, T.neighbor[i1], t}, {r, T.ring[i1], -1}};
  link(t2, 1, t);
  if (u < 0) {
    legalize_around(point, {t, t2});
    return point;
  }
  // (d, c, b) becomes (d, c, p), beside t2, and (d, p, b), beside t.
  const Triangle U = triangles[u];
  const int j = edge_towards(u, t), j1 = next3(j), j2 = previous3(j), d = U.v[j];
  triangles[u] = {{d, c, point}, {t2, u2, U.neighbor[j2]}, {r, -1, U.ring[j2]}};
  triangles[u2] = {{d, point, b}, {t, U.neighbor[j1], u}, {r, U.ring[j1], -1}};
  link(u2, 1, u);
  legalize_around(point, {t, t2, u, u2});
  return point;
}

void TriangleMesh::make_delaunay() {
  // Each flip raises the smallest angles, so the sweeps end; the count only guards against rounding.
  bool changed = true;
  for (int sweep = 0; changed && sweep < 1000; ++sweep) {
    changed = false;
    for (int t = 0; t < static_cast<int>(triangles.size()); ++t)
      for (int i = 0; i < 3; ++i)
        if (wants_flip(t, i)) {
          flip(t, i);
          changed = true;
        }
  }
}

}  // namespace limber::elastic
