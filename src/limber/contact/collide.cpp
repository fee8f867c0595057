#include "limber/contact/collide.h"

#include <algorithm>
#include <cmath>

#include "limber/contact/segments.h"

namespace limber::contact {
namespace {

// ---- order: kinds by their place in the variant, meshes by size (the larger is what the other lies on),
// equals by their place in the world

double size_of_mesh(const Geometry& g) {
  const auto* m = std::get_if<Mesh>(&g);
  return m ? (m->surface->box.high - m->surface->box.low).norm() : 0;
}

int order(const Solid& a, const Solid& b) {
  if (a.geometry.index() != b.geometry.index()) return a.geometry.index() < b.geometry.index() ? -1 : 1;
  if (const double x = size_of_mesh(a.geometry), y = size_of_mesh(b.geometry); x != y) return x > y ? -1 : 1;
  for (int i = 0; i < 3; ++i)
    if (a.X_WG.p[i] != b.X_WG.p[i]) return a.X_WG.p[i] < b.X_WG.p[i] ? -1 : 1;
  for (int i = 0; i < 9; ++i) {
    const double x = a.X_WG.R.data()[i], y = b.X_WG.R.data()[i];
    if (x != y) return x < y ? -1 : 1;
  }
  return 0;
}

const TriangleSurface* surface_of(const Geometry& g) {
  if (const auto* h = std::get_if<HeightField>(&g)) return h->surface.get();
  if (const auto* m = std::get_if<Mesh>(&g)) return m->surface.get();
  return nullptr;
}

bool is_ground(const Geometry& g) {
  return std::holds_alternative<HalfSpace>(g) || std::holds_alternative<HeightField>(g);
}

// ---- half space a (z ≤ 0 in its frame) and points of a solid b around which it has a radius

struct OnPlane {
  const Pose& X;  // of the half space
  double margin;
  std::vector<ContactPoint>& out;

  void point(const Vec3& x, double radius, std::uint32_t feature) const {
    const Vec3 n = X.R.col(2);
    const double h = n.dot(x - X.p);
    if (h - radius < margin) out.push_back({x - h * n, x - radius * n, -n, h - radius, feature});
  }
  void cylinder(const Cylinder& c, const Pose& B) const;
};

// Six places of the lower rim that stay on the body, and the lowest of each rim.
void OnPlane::cylinder(const Cylinder& c, const Pose& B) const {
  constexpr double h = 0.86602540378443865;
  constexpr double ring[6][2] = {{1, 0}, {0.5, h}, {-0.5, h}, {-1, 0}, {-0.5, -h}, {0.5, -h}};
  const Vec3 n = X.R.col(2), axis = B.R.col(2);
  const double along = n.dot(axis), low = along > 0 ? -1 : 1;
  const Vec3 across = n.dot(B.R.col(0)) * B.R.col(0) + n.dot(B.R.col(1)) * B.R.col(1),
             end = B.p + 0.5 * low * c.length * axis;
  const double l = across.norm();
  const Vec3 down = l > 1e-12 ? Vec3(-c.radius / l * across) : Vec3(c.radius * B.R.col(0));
  for (std::uint32_t i = 0; i < 6 && std::abs(along) > 0.5; ++i) {  // one that lies rolls over its rims
    const Vec3 at = c.radius * (ring[i][0] * B.R.col(0) + ring[i][1] * B.R.col(1));
    if ((at - down).squaredNorm() > 1e-6 * c.radius * c.radius) point(end + at, 0, i + (low > 0 ? 6 : 0));
  }
  // By rim, not by which is lower: one that stands up goes from one to the other.
  point(end + down, 0, low < 0 ? 20 : 21);
  point(B.p - 0.5 * low * c.length * axis + down, 0, low < 0 ? 21 : 20);
}

void on_plane(const Pose& X, const Solid& b, double margin, Collider& s) {
  const OnPlane plane{X, margin, s.points};
  if (const auto* c = std::get_if<Cylinder>(&b.geometry)) return plane.cylinder(*c, b.X_WG);
  if (const TriangleSurface* m = surface_of(b.geometry)) {
    for (std::size_t i = 0; i < m->vertices.size(); ++i)
      plane.point(b.X_WG * m->vertices[i], 0, static_cast<std::uint32_t>(i));
    return;
  }
  place(b.geometry, b.X_WG, s.b);
  for (std::size_t i = 0; i < s.b.vertices.size(); ++i)
    plane.point(s.b.vertices[i], s.b.radius, static_cast<std::uint32_t>(i));
}

// ---- spheres and capsules

// Sphere a and any convex b.
void on_sphere(const Sphere& ball, const Vec3& centre, const Solid& b, double margin, Collider& s) {
  const Distance d = distance(b, centre);
  if (!(d.value - ball.radius < margin)) return;
  s.points.push_back(
      {centre - ball.radius * d.normal, centre - d.value * d.normal, d.normal, d.value - ball.radius, 0});
}

struct Line {
  Vec3 a, b;
  double radius;
};
Line line_of(const Capsule& c, const Pose& X) {
  const Vec3 h = 0.5 * c.length * X.R.col(2);
  return {X.p - h, X.p + h, c.radius};
}

// The closest places, and the ends of each where it lies over the other.
void capsules(const Line& a, const Line& b, double margin, Collider& s) {
  const double same = 1e-3 * (a.radius + b.radius);
  const auto add = [&](const Vec3& x, const Vec3& y, std::uint32_t feature) {
    const Vec3 d = x - y;
    const double l = d.norm(), gap = l - a.radius - b.radius;
    if (!(gap < margin)) return;
    Vec3 n = l > 1e-12 ? Vec3(d / l) : Vec3((a.b - a.a).cross(b.b - b.a));
    if (!(l > 1e-12)) n = n.norm() > 1e-12 ? Vec3(n.normalized()) : Vec3(Vec3::UnitZ());
    for (const ContactPoint& p : s.points)
      if ((p.on_a - (x - a.radius * n)).squaredNorm() < same * same) return;
    s.points.push_back({x - a.radius * n, y + b.radius * n, n, gap, feature});
  };
  const SegmentPair pair = closest(a.a, a.b, b.a, b.b);
  const Vec3 u = a.b - a.a, v = b.b - b.a;
  const auto over = [](const Vec3& p, const Vec3& d, const Vec3& x) {  // x lies over the inside of p … p + d
    const double t = d.dot(x - p), l = d.squaredNorm();
    return t > 0 && t < l;
  };
  std::uint32_t feature = 1;
  for (const Vec3* x : {&a.a, &a.b}) {
    if (over(b.a, v, *x)) add(*x, b.a + closest(b.a, b.b, *x) * v, feature);
    ++feature;
  }
  for (const Vec3* y : {&b.a, &b.b}) {
    if (over(a.a, u, *y)) add(a.a + closest(a.a, a.b, *y) * u, *y, feature);
    ++feature;
  }
  // Side by side the two ends say it all; else the closest pair is the contact.
  const bool parallel = u.cross(v).squaredNorm() < 1e-10 * u.squaredNorm() * v.squaredNorm();
  if (!(parallel && s.points.size() >= 2)) add(a.a + pair.s * u, b.a + pair.t * v, 0);
}

// ---- everything, a before b in order

void ordered(const Solid& a, const Solid& b, double margin, Collider& s) {
  if (const auto* m = std::get_if<Mesh>(&b.geometry)) {
    if (const TriangleSurface* of_a = surface_of(a.geometry))
      return collide_meshes(*m->surface, b.X_WG, *of_a, a.X_WG, margin, s);
  }
  if (std::holds_alternative<HalfSpace>(a.geometry)) return on_plane(a.X_WG, b, margin, s);
  if (const TriangleSurface* surface = surface_of(b.geometry))
    return collide_surface(a.geometry, a.X_WG, *surface, b.X_WG, margin, s);
  if (const auto* ball = std::get_if<Sphere>(&a.geometry)) return on_sphere(*ball, a.X_WG.p, b, margin, s);
  const auto *c = std::get_if<Capsule>(&a.geometry), *d = std::get_if<Capsule>(&b.geometry);
  if (c && d) return capsules(line_of(*c, a.X_WG), line_of(*d, b.X_WG), margin, s);
  // Seen from the middle between the two, so that their place in the world costs no digits.
  const Vec3 origin = 0.5 * (a.X_WG.p + b.X_WG.p);
  place(a.geometry, {a.X_WG.R, a.X_WG.p - origin}, s.a);
  place(b.geometry, {b.X_WG.R, b.X_WG.p - origin}, s.b);
  Separation found;
  if (!separate(s.a, s.b, margin + s.a.radius + s.b.radius, s.moved, found)) return;
  touching_points(s.a, s.b, found, margin, 0, s.clip, s.points);
  for (ContactPoint& p : s.points) p.on_a += origin, p.on_b += origin;
}

}  // namespace

void collide(const Solid& a, const Solid& b, double margin, Collider& scratch, Manifold& out) {
  out.count = 0;
  if (is_ground(a.geometry) && is_ground(b.geometry)) return;
  scratch.points.clear();
  const bool swapped = order(b, a) < 0;
  const Solid &first = swapped ? b : a, &second = swapped ? a : b;
  ordered(first, second, margin, scratch);
  // Two surfaces were taken the other way round.
  const bool turned = surface_of(first.geometry) && std::holds_alternative<Mesh>(second.geometry);
  reduce(scratch.points, out);
  if (swapped == turned) return;
  for (int i = 0; i < out.count; ++i) {
    ContactPoint& p = out.points[i];
    std::swap(p.on_a, p.on_b), p.normal = -p.normal;
  }
}

}  // namespace limber::contact
