// Volumes, inertias and projected areas of solid shapes.
#include "limber/model/body.h"

#include <cmath>

namespace limber {
namespace {

template <class... F>
struct Overload : F... {
  using F::operator()...;
};
template <class... F>
Overload(F...) -> Overload<F...>;

}  // namespace

double volume(const ShapeGeometry& shape) {
  return std::visit(
      Overload{
          [](const BoxShape& s) { return s.size.prod(); },
          [](const SphereShape& s) { return 4.0 / 3 * pi * s.radius * s.radius * s.radius; },
          [](const CylinderShape& s) { return pi * s.radius * s.radius * s.length; },
          [](const CapsuleShape& s) { return pi * s.radius * s.radius * (s.length + 4.0 / 3 * s.radius); }},
      shape);
}

Inertia solid_inertia(const Shape& shape, double density) {
  const double m = density * volume(shape.geometry);
  const Mat3 I_G = std::visit(
      Overload{[&](const BoxShape& s) { return math::box_inertia(m, s.size); },
               [&](const SphereShape& s) { return math::sphere_inertia(m, s.radius); },
               [&](const CylinderShape& s) { return math::cylinder_inertia(m, s.radius, s.length); },
               [&](const CapsuleShape& s) { return math::capsule_inertia(m, s.radius, s.length); }},
      shape.geometry);
  return Inertia::about_com(m, Vec3::Zero(), I_G).in_frame(shape.X_BG);
}

// Convex solids seen along the unit direction u: a box shows Σ |u_i| A_i; a cylinder its disc and its side.
double projected_area(const ShapeGeometry& shape, const Vec3& u) {
  const double along = std::abs(u.z());
  const double across = std::sqrt(std::max(0.0, 1 - along * along));
  return std::visit(Overload{[&](const BoxShape& s) {
                               const Vec3 a = u.cwiseAbs();
                               return a.x() * s.size.y() * s.size.z() + a.y() * s.size.z() * s.size.x() +
                                      a.z() * s.size.x() * s.size.y();
                             },
                             [&](const SphereShape& s) { return pi * s.radius * s.radius; },
                             [&](const CylinderShape& s) {
                               return along * pi * s.radius * s.radius + across * 2 * s.radius * s.length;
                             },
                             [&](const CapsuleShape& s) {
                               return pi * s.radius * s.radius + across * 2 * s.radius * s.length;
                             }},
                    shape);
}

}  // namespace limber
