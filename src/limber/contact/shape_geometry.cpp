#include "limber/contact/shape_geometry.h"

namespace limber::contact {
namespace {

Geometry of(const BoxShape& s) { return Box{0.5 * s.size}; }
Geometry of(const SphereShape& s) { return Sphere{s.radius}; }
Geometry of(const CylinderShape& s) { return Cylinder{s.radius, s.length}; }
Geometry of(const CapsuleShape& s) { return Capsule{s.radius, s.length}; }
Geometry of(const HullShape& s) { return Hull{s.hull}; }
Geometry of(const MeshShape& s) {
  return Mesh{std::make_shared<const TriangleSurface>(make_surface(s.mesh->vertices, s.mesh->triangles))};
}
Geometry of(const HeightFieldShape& s) {
  return HeightField{std::make_shared<const TriangleSurface>(
      make_height_field(s.size_x, s.size_y, s.columns, s.rows, s.heights))};
}

}  // namespace

Geometry geometry_of(const ShapeGeometry& shape) {
  return std::visit([](const auto& s) { return of(s); }, shape);
}

}  // namespace limber::contact
