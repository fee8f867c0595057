#include "limber/contact/solid.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "limber/contact/segments.h"

namespace limber::contact {
namespace {

Distance away(const Vec3& d, double radius, const Vec3& fallback) {
  const double l = d.norm();
  return {l - radius, l > 1e-12 ? Vec3(d / l) : fallback};
}

Distance of(const HalfSpace&, const Vec3& p) { return {p.z(), Vec3::UnitZ()}; }
Distance of(const Sphere& s, const Vec3& p) { return away(p, s.radius, Vec3::UnitZ()); }
Distance of(const Capsule& c, const Vec3& p) {
  return away(p - Vec3(0, 0, std::clamp(p.z(), -0.5 * c.length, 0.5 * c.length)), c.radius, Vec3::UnitX());
}
Distance of(const Cylinder& c, const Vec3& p) {
  const double rho = std::sqrt(p.x() * p.x() + p.y() * p.y());
  const Vec3 radial = rho > 1e-12 ? Vec3(p.x() / rho, p.y() / rho, 0) : Vec3(Vec3::UnitX());
  const Vec3 axial(0, 0, p.z() < 0 ? -1 : 1);
  const double dr = rho - c.radius, dz = std::abs(p.z()) - 0.5 * c.length;
  if (dr > 0 && dz > 0) {
    const double l = std::sqrt(dr * dr + dz * dz);
    return {l, (dr * radial + dz * axial) / l};
  }
  return dr > dz ? Distance{dr, radial} : Distance{dz, axial};
}
Distance of(const Box& b, const Vec3& p) {
  const Vec3 inside = p.cwiseMax(-b.half).cwiseMin(b.half), out = p - inside;
  if (const double l = out.norm(); l > 1e-12) return {l, out / l};
  int face = 0;
  for (int i = 1; i < 3; ++i)
    if (std::abs(p[i]) - b.half[i] > std::abs(p[face]) - b.half[face]) face = i;
  Vec3 n = Vec3::Zero();
  n[face] = p[face] < 0 ? -1 : 1;
  return {std::abs(p[face]) - b.half[face], n};
}

// Inside: the nearest face. Outside: the nearest of all triangles of the faces.
Distance of(const Hull& h, const Vec3& p) {
  const math::ConvexHull& hull = *h.hull;
  Distance deepest{-std::numeric_limits<double>::infinity(), Vec3::UnitZ()};
  for (const math::HullFace& f : hull.faces) {
    const double d = f.normal.dot(p - hull.vertices[hull.loops[f.first]]);
    if (d > deepest.value) deepest = {d, f.normal};
  }
  if (deepest.value <= 1e-12) return deepest;
  double best = std::numeric_limits<double>::infinity();
  Vec3 at = p;
  for (const math::HullFace& f : hull.faces) {
    const int* loop = hull.loops.data() + f.first;
    if (f.normal.dot(p - hull.vertices[loop[0]]) < 0) continue;  // seen from behind
    for (int i = 1; i + 1 < f.count; ++i) {
      int corners = 0;
      const Vec3 q = closest_on_triangle(hull.vertices[loop[0]], hull.vertices[loop[i]],
                                         hull.vertices[loop[i + 1]], p, corners);
      if ((p - q).squaredNorm() < best) best = (p - q).squaredNorm(), at = q;
    }
  }
  return away(p - at, 0, deepest.normal);
}
Distance of(const HeightField& f, const Vec3& p) {
  const SurfacePoint d = distance(*f.surface, p);
  return {d.distance, d.normal};
}
Distance of(const Mesh& m, const Vec3& p) {
  const SurfacePoint d = distance(*m.surface, p);
  return {d.distance, d.normal};
}

// Distance to a convex solid is convex along a segment: golden-section search.
double lowest(const Geometry& g, const Vec3& a, const Vec3& b) {
  constexpr double ratio = 0.6180339887498949;
  const auto value = [&](double s) { return distance(g, a + s * (b - a)).value; };
  double lo = 0, hi = 1, x1 = 1 - ratio, x2 = ratio, f1 = value(x1), f2 = value(x2);
  for (int i = 0; i < 30; ++i) {
    if (f1 <= f2) {
      hi = x2, x2 = x1, f2 = f1, x1 = hi - ratio * (hi - lo), f1 = value(x1);
    } else {
      lo = x1, x1 = x2, f1 = f2, x2 = lo + ratio * (hi - lo), f2 = value(x2);
    }
  }
  return 0.5 * (lo + hi);
}

// Else the lowest of so many pieces, each searched as if it were.
double lowest_of_pieces(const Geometry& g, const Vec3& a, const Vec3& b) {
  constexpr int pieces = 6;
  double best = std::numeric_limits<double>::infinity(), at = 0.5;
  for (int i = 0; i < pieces; ++i) {
    const Vec3 p = a + static_cast<double>(i) / pieces * (b - a), q = p + (b - a) / pieces;
    const double s = lowest(g, p, q), d = distance(g, p + s * (q - p)).value;
    if (d < best) best = d, at = (i + s) / pieces;
  }
  return at;
}

struct Closest {
  const Vec3 &a, &b;
  double operator()(const HalfSpace&) const {
    const double slope = b.z() - a.z();
    if (std::abs(slope) <= 1e-9 * (b - a).norm()) return 0.5;  // along the plane
    return slope < 0 ? 1 : 0;
  }
  double operator()(const Sphere&) const { return closest(a, b, Vec3::Zero()); }
  double operator()(const Capsule& c) const {
    return closest(a, b, Vec3(0, 0, -0.5 * c.length), Vec3(0, 0, 0.5 * c.length)).s;
  }
  double operator()(const Cylinder& c) const { return lowest(Geometry(c), a, b); }
  double operator()(const Box& box) const { return lowest(Geometry(box), a, b); }
  double operator()(const Hull& hull) const { return lowest(Geometry(hull), a, b); }
  double operator()(const HeightField& field) const { return lowest_of_pieces(Geometry(field), a, b); }
  double operator()(const Mesh& mesh) const { return lowest_of_pieces(Geometry(mesh), a, b); }
};

Vec3 half_extent(const Geometry& geometry, const Mat3& R) {
  if (const auto* s = std::get_if<Sphere>(&geometry)) return Vec3::Constant(s->radius);
  if (const auto* b = std::get_if<Box>(&geometry)) return R.cwiseAbs() * b->half;
  if (const auto* c = std::get_if<Capsule>(&geometry))
    return 0.5 * c->length * R.col(2).cwiseAbs() + Vec3::Constant(c->radius);
  if (const auto* c = std::get_if<Cylinder>(&geometry))
    return R.cwiseAbs() * Vec3(c->radius, c->radius, 0.5 * c->length);
  return Vec3::Constant(0.5 *
                        std::numeric_limits<double>::max());  // finite: the empty boxes of a tree miss it
}

}  // namespace

Distance distance(const Geometry& geometry, const Vec3& p) {
  return std::visit([&](const auto& g) { return of(g, p); }, geometry);
}

Distance distance(const Solid& solid, const Vec3& p) {
  Distance d = distance(solid.geometry, solid.X_WG.R.transpose() * (p - solid.X_WG.p));
  d.normal = solid.X_WG.R * d.normal;
  return d;
}

SegmentTouch closest(const Solid& solid, const Vec3& a_W, const Vec3& b_W) {
  const Vec3 a = solid.X_WG.R.transpose() * (a_W - solid.X_WG.p),
             b = solid.X_WG.R.transpose() * (b_W - solid.X_WG.p);
  SegmentTouch out;
  out.s = std::visit(Closest{a, b}, solid.geometry);
  out.distance = distance(solid.geometry, a + out.s * (b - a));
  out.distance.normal = solid.X_WG.R * out.distance.normal;
  return out;
}

namespace {

Bounds turned(const Bounds& box, const Pose& X) {
  const Vec3 middle = X * Vec3(0.5 * (box.low + box.high)),
             half = X.R.cwiseAbs() * (0.5 * (box.high - box.low));
  return {middle - half, middle + half};
}

Bounds hull_bounds(const math::ConvexHull& hull, const Pose& X) {
  Bounds out{X * hull.vertices[0], X * hull.vertices[0]};
  for (const Vec3& v : hull.vertices) {
    const Vec3 p = X * v;
    out = {out.low.cwiseMin(p), out.high.cwiseMax(p)};
  }
  return out;
}

}  // namespace

Bounds bounds(const Solid& solid) {
  if (const auto* h = std::get_if<Hull>(&solid.geometry)) return hull_bounds(*h->hull, solid.X_WG);
  if (const auto* m = std::get_if<Mesh>(&solid.geometry)) return turned(m->surface->box, solid.X_WG);
  if (const auto* f = std::get_if<HeightField>(&solid.geometry)) {
    // The ground goes down without end.
    Bounds box = f->surface->box;
    box.low.z() = std::min(box.low.z(), -1e6);
    return turned(box, solid.X_WG);
  }
  const Vec3 half = half_extent(solid.geometry, solid.X_WG.R);
  return {solid.X_WG.p - half, solid.X_WG.p + half};
}

}  // namespace limber::contact
