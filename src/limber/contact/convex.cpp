#include "limber/contact/convex.h"

#include <algorithm>
#include <cmath>

namespace limber::contact {
namespace {

const math::ConvexHull& unit_box() {
  static const math::ConvexHull box = [] {
    std::vector<Vec3> corners;
    for (int i = 0; i < 8; ++i) corners.emplace_back(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1);
    return math::convex_hull(corners);
  }();
  return box;
}

constexpr int triangle_loops[] = {0, 1, 2, 0, 2, 1};
const math::HullFace triangle_faces[] = {{0, 3, Vec3::UnitZ()}, {3, 3, -Vec3::UnitZ()}};
constexpr math::HullEdge triangle_edges[] = {{0, 1, 0, 1}, {1, 2, 0, 1}, {2, 0, 0, 1}};
constexpr math::HullEdge segment_edge[] = {{0, 1, -1, -1}};

// In a face with normal n, left of an edge along e lies n × e.
void lay_edges(Convex& c) {
  c.edges.clear();
  for (const math::HullEdge& e : c.ends) {
    const Vec3 along = c.vertices[e.b] - c.vertices[e.a];
    c.edges.push_back(along);
    c.edges.push_back(e.left < 0 ? Vec3(Vec3::Zero()) : c.normals[e.left].cross(along));
    c.edges.push_back(e.right < 0 ? Vec3(Vec3::Zero()) : Vec3(-c.normals[e.right].cross(along)));
  }
}

void place_polytope(const math::ConvexHull& hull, const Vec3& scale, const Pose& X, Convex& out) {
  for (const Vec3& v : hull.vertices) out.vertices.push_back(X * Vec3(scale.cwiseProduct(v)));
  for (const math::HullFace& f : hull.faces) out.normals.push_back(X.R * f.normal);
  out.loops = hull.loops, out.faces = hull.faces, out.ends = hull.edges;
  out.centre = X * Vec3(scale.cwiseProduct(hull.inside));
  for (const Vec3& v : out.vertices) out.size = std::max(out.size, (v - out.centre).norm());
  lay_edges(out);
}

void clear(Convex& out) {
  out.vertices.clear(), out.normals.clear(), out.edges.clear();
  out.loops = {}, out.faces = {}, out.ends = {};
  out.cylinder = out.one_sided = false;
  out.radius = out.size = 0;
}

struct Place {
  const Pose& X;
  Convex& out;
  void operator()(const Sphere& s) const {
    out.vertices.push_back(X.p);
    out.radius = s.radius;
  }
  void operator()(const Capsule& c) const {
    out.vertices.push_back(X.p - 0.5 * c.length * X.R.col(2));
    out.vertices.push_back(X.p + 0.5 * c.length * X.R.col(2));
    out.ends = segment_edge;
    out.radius = c.radius;
    out.size = 0.5 * c.length;
    lay_edges(out);
  }
  void operator()(const Cylinder& c) const {
    out.cylinder = true;
    out.x = X.R.col(0), out.y = X.R.col(1), out.axis = X.R.col(2);
    out.cylinder_radius = c.radius, out.half_length = 0.5 * c.length;
    out.size = std::sqrt(c.radius * c.radius + out.half_length * out.half_length);
  }
  void operator()(const Box& b) const { place_polytope(unit_box(), b.half, X, out); }
  void operator()(const Hull& h) const { place_polytope(*h.hull, Vec3::Ones(), X, out); }
  template <class Other>
  void operator()(const Other&) const {}
};

int farthest(const Convex& c, const Vec3& d) {
  int best = 0;
  double most = c.vertices[0].dot(d);
  for (std::size_t i = 1; i < c.vertices.size(); ++i)
    if (const double h = c.vertices[i].dot(d); h > most) most = h, best = static_cast<int>(i);
  return best;
}

void cylinder_facet(const Convex& c, const Vec3& d, Facet& out) {
  const double along = d.dot(c.axis), sign = along < 0 ? -1 : 1;
  const Vec3 across = d.dot(c.x) * c.x + d.dot(c.y) * c.y;
  if (std::abs(along) > across.norm()) {
    // Eight points of the rim that stay on the body; counter-clockwise seen from outside.
    constexpr double h = 0.70710678118654752;
    constexpr double ring[8][2] = {{1, 0}, {h, h}, {0, 1}, {-h, h}, {-1, 0}, {-h, -h}, {0, -1}, {h, -h}};
    out.face = true;
    out.normal = sign * c.axis;
    for (int i = 0; i < 8; ++i) {
      const int k = sign > 0 ? i : 7 - i;
      out.points.push_back(c.centre + sign * c.half_length * c.axis +
                           c.cylinder_radius * (ring[k][0] * c.x + ring[k][1] * c.y));
      out.ids.push_back(static_cast<std::uint32_t>(k + (sign > 0 ? 8 : 0)));
    }
    return;
  }
  const Vec3 side = c.centre + c.cylinder_radius * across.normalized();
  out.normal = d;
  out.points = {side - c.half_length * c.axis, side + c.half_length * c.axis};
  out.ids = {16, 17};
}

}  // namespace

void place(const Geometry& geometry, const Pose& X, Convex& out) {
  clear(out);
  out.centre = X.p;
  std::visit(Place{X, out}, geometry);
}

void place_triangle(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& normal, Convex& out) {
  clear(out);
  out.vertices.push_back(a), out.vertices.push_back(b), out.vertices.push_back(c);
  out.normals.push_back(normal), out.normals.push_back(-normal);
  out.loops = triangle_loops, out.faces = triangle_faces, out.ends = triangle_edges;
  out.centre = (a + b + c) / 3;
  for (const Vec3& v : out.vertices) out.size = std::max(out.size, (v - out.centre).norm());
  out.one_sided = true;
  lay_edges(out);
}

Vec3 support(const Convex& c, const Vec3& d) {
  if (!c.cylinder) return c.vertices[farthest(c, d)];
  // By the section's own axes: what is left of d without its part along the axis could lean out of the
  // section.
  const double along = d.dot(c.axis), dx = d.dot(c.x), dy = d.dot(c.y), l = std::sqrt(dx * dx + dy * dy);
  Vec3 p = c.centre + (along < 0 ? -c.half_length : c.half_length) * c.axis;
  if (l > 1e-14 * (l + std::abs(along))) p += c.cylinder_radius / l * (dx * c.x + dy * c.y);
  return p;
}

double reach(const Convex& c, const Vec3& d) { return support(c, d).dot(d); }

void facet(const Convex& c, const Vec3& d, Facet& out) {
  out.points.clear(), out.ids.clear();
  out.face = false;
  if (c.cylinder) return cylinder_facet(c, d, out);
  if (c.faces.empty()) {
    out.normal = d;
    for (std::size_t i = 0; i < c.vertices.size(); ++i)
      out.points.push_back(c.vertices[i]), out.ids.push_back(static_cast<std::uint32_t>(i));
    return;
  }
  std::size_t best = 0;
  for (std::size_t f = 1; f < c.normals.size(); ++f)
    if (c.normals[f].dot(d) > c.normals[best].dot(d)) best = f;
  out.face = true;
  out.normal = c.normals[best];
  for (int i = 0; i < c.faces[best].count; ++i) {
    const int v = c.loops[c.faces[best].first + i];
    out.points.push_back(c.vertices[v]);
    out.ids.push_back(static_cast<std::uint32_t>(v));
  }
}

}  // namespace limber::contact
