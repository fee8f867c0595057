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
};

Vec3 half_extent(const Geometry& geometry, const Mat3& R) {
  if (const auto* s = std::get_if<Sphere>(&geometry)) return Vec3::Constant(s->radius);
  if (const auto* b = std::get_if<Box>(&geometry)) return R.cwiseAbs() * b->half;
  if (const auto* c = std::get_if<Capsule>(&geometry))
    return 0.5 * c->length * R.col(2).cwiseAbs() + Vec3::Constant(c->radius);
  if (const auto* c = std::get_if<Cylinder>(&geometry))
    return R.cwiseAbs() * Vec3(c->radius, c->radius, 0.5 * c->length);
  return Vec3::Constant(std::numeric_limits<double>::infinity());
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

Bounds bounds(const Solid& solid) {
  const Vec3 half = half_extent(solid.geometry, solid.X_WG.R);
  return {solid.X_WG.p - half, solid.X_WG.p + half};
}

}  // namespace limber::contact
