// Paths by arc length. With φ the angle turned, e₁ ⊥ e₂ unit vectors:
//   arc    x = start + r (sin φ · direction + (1 − cos φ) · towards),        φ = s · angle, length r · angle
//   helix  x = center + r (cos φ e₁ + sin φ e₂) + s · pitch · |turns| · axis,  φ = s · 2π · turns,
//          length |turns| √((2πr)² + pitch²)
#include "limber/model/beam.h"

#include <algorithm>
#include <cmath>

#include "limber/math/trig.h"
#include "limber/model/overload.h"

namespace limber {
namespace {

// v less its part along the unit vector n, made a unit vector.
Vec3 unit_across(const Vec3& v, const Vec3& n) { return (v - n * n.dot(v)).normalized(); }

struct ArcAxes {
  Vec3 along, inward;
  explicit ArcAxes(const ArcPath& a)
      : along(a.direction.normalized()), inward(unit_across(a.towards, along)) {}
};

struct HelixAxes {
  Vec3 axis, e1, e2;
  explicit HelixAxes(const HelixPath& h)
      : axis(h.axis.normalized()), e1(unit_across(h.start_direction, axis)), e2(axis.cross(e1)) {}
};

double polyline_length(const PolylinePath& p) {
  double length = 0;
  for (std::size_t i = 1; i < p.points.size(); ++i) length += (p.points[i] - p.points[i - 1]).norm();
  return length;
}

// The segment from points[index − 1] to points[index] that holds s, and how far along it.
struct PolylinePlace {
  std::size_t index = 1;
  double fraction = 0;
};

// At a corner the segment that follows; segments without length hold nothing.
PolylinePlace locate(const PolylinePath& p, double s) {
  const double wanted = std::clamp(s, 0.0, 1.0) * polyline_length(p);
  // A corner written as the fraction of the length before it is found within rounding.
  const double slack = 1e-14 * polyline_length(p);
  PolylinePlace last;
  double before = 0;
  for (std::size_t i = 1; i < p.points.size(); ++i) {
    const double l = (p.points[i] - p.points[i - 1]).norm();
    if (l == 0) continue;
    last = {i, std::clamp((wanted - before) / l, 0.0, 1.0)};
    before += l;
    if (wanted < before - slack) break;
  }
  return last;
}

}  // namespace

double path_length(const Path& path) {
  return std::visit(Overload{[](const PolylinePath& p) { return polyline_length(p); },
                             [](const ArcPath& a) { return a.radius * std::abs(a.angle); },
                             [](const HelixPath& h) {
                               const double around = 2 * pi * h.radius;
                               return std::abs(h.turns) * std::sqrt(around * around + h.pitch * h.pitch);
                             }},
                    path);
}

Vec3 path_point(const Path& path, double s) {
  return std::visit(Overload{[&](const PolylinePath& p) -> Vec3 {
                               if (p.points.size() < 2)
                                 return p.points.empty() ? Vec3(Vec3::Zero()) : p.points[0];
                               const auto [i, f] = locate(p, s);
                               return p.points[i - 1] + f * (p.points[i] - p.points[i - 1]);
                             },
                             [&](const ArcPath& a) -> Vec3 {
                               const ArcAxes e(a);
                               const auto half = math::sincos(0.5 * s * std::abs(a.angle));
                               return a.start +
                                      2 * a.radius * half.sin * (half.cos * e.along + half.sin * e.inward);
                             },
                             [&](const HelixPath& h) -> Vec3 {
                               const HelixAxes e(h);
                               const auto [sin, cos] = math::sincos(2 * pi * h.turns * s);
                               return h.center + h.radius * (cos * e.e1 + sin * e.e2) +
                                      s * h.pitch * std::abs(h.turns) * e.axis;
                             }},
                    path);
}

Vec3 path_tangent(const Path& path, double s) {
  return std::visit(Overload{[&](const PolylinePath& p) -> Vec3 {
                               if (p.points.size() < 2) return Vec3::UnitX();
                               const std::size_t i = locate(p, s).index;
                               return (p.points[i] - p.points[i - 1]).normalized();
                             },
                             [&](const ArcPath& a) -> Vec3 {
                               const ArcAxes e(a);
                               const auto [sin, cos] = math::sincos(s * std::abs(a.angle));
                               return cos * e.along + sin * e.inward;
                             },
                             [&](const HelixPath& h) -> Vec3 {
                               const HelixAxes e(h);
                               const auto [sin, cos] = math::sincos(2 * pi * h.turns * s);
                               const double sense = h.turns < 0 ? -1 : 1;
                               const Vec3 v =
                                   2 * pi * h.radius * sense * (cos * e.e2 - sin * e.e1) + h.pitch * e.axis;
                               return v.normalized();
                             }},
                    path);
}

const char* to_string(Hold hold) {
  constexpr const char* names[] = {"clamped", "pinned", "welded", "free"};
  return names[static_cast<int>(hold)];
}

bool can_stretch(Recipe recipe) { return recipe == Recipe::consistent_3r || recipe == Recipe::consistent_1r; }

double rest_length(const Beam& beam) {
  if (!beam.rest) return path_length(beam.path);
  return beam.rest->path ? path_length(*beam.rest->path) : beam.rest->length;
}

bool changes_length(const Beam& beam) {
  const double length = path_length(beam.path);
  return std::abs(rest_length(beam) - length) > 1e-6 * length;
}

}  // namespace limber
