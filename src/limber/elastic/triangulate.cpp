#include "limber/elastic/triangulate.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <stdexcept>
#include <utility>

namespace limber::elastic {
namespace {

class Builder {
 public:
  explicit Builder(std::span<const std::vector<Vec2>> rings) : rings_(rings) {}

  TriangleMesh run() {
    start_with_a_square();
    for (const auto& ring : rings_)
      for (const Vec2& p : ring) insert(p);
    int first = 4;
    for (std::size_t r = 0; r < rings_.size(); ++r) {
      const int n = static_cast<int>(rings_[r].size());
      for (int i = 0; i < n; ++i) recover(first + i, first + (i + 1) % n, static_cast<int>(r));
      first += n;
    }
    keep_inside();
    mesh_.make_delaunay();
    return std::move(mesh_);
  }

 private:
  // Two triangles far around everything.
  void start_with_a_square() {
    mesh_.points = {{-8, -8}, {8, -8}, {8, 8}, {-8, 8}};
    mesh_.triangles = {{{0, 1, 2}, {-1, 1, -1}, {-1, -1, -1}}, {{0, 2, 3}, {-1, -1, 0}, {-1, -1, -1}}};
  }

  const Vec2& point(int v) const { return mesh_.points[v]; }

  // How far p lies inside edge i of t.
  double depth(int t, int i, const Vec2& p) const {
    const auto& v = mesh_.triangles[t].v;
    const Vec2 &b = point(v[next3(i)]), &c = point(v[previous3(i)]);
    return static_cast<double>(orientation(b, c, p)) / (c - b).norm();
  }

  // Walk towards p, across the edge that it is furthest beyond.
  int locate(const Vec2& p) const {
    int t = static_cast<int>(mesh_.triangles.size()) - 1;
    for (std::size_t step = 0; step < 4 * mesh_.triangles.size() + 16; ++step) {
      int across = -1;
      double furthest = -1e-15;
      for (int i = 0; i < 3; ++i)
        if (const double d = depth(t, i, p); d < furthest) {
          furthest = d;
          across = i;
        }
      if (across < 0) return t;
      t = mesh_.triangles[t].neighbor[across];
      if (t < 0) break;
    }
    throw std::invalid_argument(
        "polygon: could not be triangulated (its points are too close to each other)");
  }

  void insert(const Vec2& p) {
    const int t = locate(p);
    int nearest = 0;
    for (int i = 1; i < 3; ++i)
      if (depth(t, i, p) < depth(t, nearest, p)) nearest = i;
    if (depth(t, nearest, p) < 1e-12)
      mesh_.split_edge(t, nearest, p);
    else
      mesh_.split_triangle(t, p);
  }

  // The triangle left of a→b, and its edge; t = −1 if there is none.
  std::pair<int, int> find_edge(int a, int b) const {
    for (int t = 0; t < static_cast<int>(mesh_.triangles.size()); ++t) {
      const auto& v = mesh_.triangles[t].v;
      for (int i = 0; i < 3; ++i)
        if (v[next3(i)] == a && v[previous3(i)] == b) return {t, i};
    }
    return {-1, 0};
  }

  bool crosses(int a, int b, int p, int q) const {
    if (p == a || p == b || q == a || q == b) return false;
    const auto side = [&](int v) { return orientation(point(a), point(b), point(v)) > 0; };
    const auto side_pq = [&](int v) { return orientation(point(p), point(q), point(v)) > 0; };
    return side(p) != side(q) && side_pq(a) != side_pq(b);
  }

  std::deque<std::pair<int, int>> edges_across(int a, int b) const {
    std::deque<std::pair<int, int>> found;
    for (const Triangle& t : mesh_.triangles)
      for (int i = 0; i < 3; ++i) {
        const int p = t.v[next3(i)], q = t.v[previous3(i)];
        if (p < q && crosses(a, b, p, q)) found.push_back({p, q});
      }
    return found;
  }

  // Make a→b an edge: flip what crosses it, later if its quadrilateral is not convex yet.
  void recover(int a, int b, int ring) {
    auto edge = find_edge(a, b);
    if (edge.first < 0) {
      auto crossing = edges_across(a, b);
      const std::size_t limit = 1000 + 20 * crossing.size() * crossing.size();
      for (std::size_t step = 0; !crossing.empty(); ++step) {
        if (step > limit) throw std::invalid_argument("polygon: could not be triangulated");
        const auto [p, q] = crossing.front();
        crossing.pop_front();
        const auto [t, i] = find_edge(p, q);
        if (t < 0) continue;
        if (!mesh_.flip_keeps_area(t, i)) {
          crossing.push_back({p, q});
          continue;
        }
        const int u = mesh_.triangles[t].neighbor[i];
        const int c = mesh_.triangles[t].v[i], d = mesh_.triangles[u].v[mesh_.edge_towards(u, t)];
        mesh_.flip(t, i);
        if (crosses(a, b, c, d)) crossing.push_back({c, d});
      }
      edge = find_edge(a, b);
      if (edge.first < 0) throw std::invalid_argument("polygon: could not be triangulated");
    }
    const auto [t, i] = edge;
    mesh_.triangles[t].ring[i] = ring;
    const int u = mesh_.triangles[t].neighbor[i];
    mesh_.triangles[u].ring[mesh_.edge_towards(u, t)] = ring;
    inside_.push_back({a, b});
  }

  // The inside lies left of every ring edge; flood it from there, drop the rest.
  void keep_inside() {
    const int n = static_cast<int>(mesh_.triangles.size());
    std::vector<int> number(n, -1), stack;
    for (const auto& [a, b] : inside_) stack.push_back(find_edge(a, b).first);
    while (!stack.empty()) {
      const int t = stack.back();
      stack.pop_back();
      if (number[t] >= 0) continue;
      number[t] = 0;
      for (int i = 0; i < 3; ++i)
        if (mesh_.triangles[t].ring[i] < 0) stack.push_back(mesh_.triangles[t].neighbor[i]);
    }
    std::vector<Triangle> kept;
    for (int t = 0; t < n; ++t)
      if (number[t] >= 0) {
        number[t] = static_cast<int>(kept.size());
        kept.push_back(mesh_.triangles[t]);
      }
    for (Triangle& t : kept)
      for (int i = 0; i < 3; ++i) {
        t.neighbor[i] = t.ring[i] >= 0 ? -1 : number[t.neighbor[i]];
        t.v[i] -= 4;
      }
    mesh_.triangles = std::move(kept);
    mesh_.points.erase(mesh_.points.begin(), mesh_.points.begin() + 4);
  }

  std::span<const std::vector<Vec2>> rings_;
  TriangleMesh mesh_;
  std::vector<std::pair<int, int>> inside_;  // ring edges
};

// The edge of t, other than `except`, that is part of a ring and has p inside the circle on it as diameter;
// −1: none.
int encroached_edge(const TriangleMesh& mesh, int t, int except, const Vec2& p) {
  const Triangle& T = mesh.triangles[t];
  for (int i = 0; i < 3; ++i) {
    if (i == except || T.ring[i] < 0) continue;
    if ((mesh.points[T.v[next3(i)]] - p).dot(mesh.points[T.v[previous3(i)]] - p) < 0) return i;
  }
  return -1;
}

void split_in_the_middle(TriangleMesh& mesh, int t, int i) {
  const auto& v = mesh.triangles[t].v;
  mesh.split_edge(t, i, 0.5 * (mesh.points[v[next3(i)]] + mesh.points[v[previous3(i)]]));
}

// One point at the end of the longest-edge path from t; on the rings instead if it would come too near to
// them.
void split_along_path(TriangleMesh& mesh, int t) {
  for (;;) {
    const int i = mesh.longest_edge(t), u = mesh.triangles[t].neighbor[i];
    if (u < 0) return split_in_the_middle(mesh, t, i);
    // 1e-9: equal lengths end the path, whatever their rounding.
    if (mesh.edge_length(u, mesh.longest_edge(u)) <= mesh.edge_length(t, i) * (1 + 1e-9)) {
      const auto& v = mesh.triangles[t].v;
      const Vec2 p = 0.5 * (mesh.points[v[next3(i)]] + mesh.points[v[previous3(i)]]);
      if (const int e = encroached_edge(mesh, t, i, p); e >= 0) return split_in_the_middle(mesh, t, e);
      if (const int e = encroached_edge(mesh, u, mesh.edge_towards(u, t), p); e >= 0)
        return split_in_the_middle(mesh, u, e);
      return split_in_the_middle(mesh, t, i);
    }
    t = u;
  }
}

// The smallest angle lies between two edges of the polygon: no refinement opens it.
bool is_corner_of_polygon(const TriangleMesh& mesh, int t) {
  int shortest = 0;
  for (int i = 1; i < 3; ++i)
    if (mesh.edge_length(t, i) < mesh.edge_length(t, shortest)) shortest = i;
  const auto& ring = mesh.triangles[t].ring;
  return ring[next3(shortest)] >= 0 && ring[previous3(shortest)] >= 0;
}

}  // namespace

TriangleMesh triangulate(std::span<const std::vector<Vec2>> rings) { return Builder(rings).run(); }

void refine_angles(TriangleMesh& mesh, double least_sine, int max_triangles) {
  // Beside a sharp corner splitting would go on for ever: not below a part of the polygon's shortest side.
  double floor = 1e300;
  for (int t = 0; t < static_cast<int>(mesh.triangles.size()); ++t)
    for (int i = 0; i < 3; ++i)
      if (mesh.triangles[t].ring[i] >= 0) floor = std::min(floor, 0.05 * mesh.edge_length(t, i));
  bool changed = true;
  while (changed) {
    changed = false;
    for (int t = 0; t < static_cast<int>(mesh.triangles.size()); ++t) {
      if (static_cast<int>(mesh.triangles.size()) >= max_triangles) return;
      if (mesh.smallest_angle_sine(t) >= least_sine || is_corner_of_polygon(mesh, t)) continue;
      if (mesh.edge_length(t, mesh.longest_edge(t)) < floor) continue;
      split_along_path(mesh, t);
      changed = true;
    }
  }
}

void refine_marked(TriangleMesh& mesh, std::span<const int> marked) {
  std::vector<std::array<int, 3>> corners;
  for (const int t : marked) corners.push_back(mesh.triangles[t].v);
  // A marked triangle that a flip or split has changed already is done.
  for (std::size_t k = 0; k < marked.size(); ++k)
    while (mesh.triangles[marked[k]].v == corners[k]) split_along_path(mesh, marked[k]);
}

}  // namespace limber::elastic
