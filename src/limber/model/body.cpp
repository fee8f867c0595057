// Volumes, inertias and projected areas of solid shapes.
#include "limber/model/body.h"

#include <cmath>
#include <set>
#include <utility>

#include "limber/model/overload.h"

namespace limber {
namespace {

// Mass 1 a volume: the tetrahedra between the origin and each triangle (divergence theorem).
//   V = Σ det/6,   ∫x = Σ det/24 (a + b + c),   ∫xxᵀ = Σ det/120 (aaᵀ + bbᵀ + ccᵀ + ssᵀ),  s = a + b + c
Inertia unit_inertia(const TriangleMesh& mesh) {
  Inertia out;
  Mat3 xx = Mat3::Zero();
  for (const auto& t : mesh.triangles) {
    const Vec3 &a = mesh.vertices[t[0]], &b = mesh.vertices[t[1]], &c = mesh.vertices[t[2]], s = a + b + c;
    const double det = a.dot(b.cross(c));
    out.m += det / 6;
    out.h += det / 24 * s;
    xx += det / 120 * (a * a.transpose() + b * b.transpose() + c * c.transpose() + s * s.transpose());
  }
  out.I = xx.trace() * Mat3::Identity() - xx;
  return out;
}

double mesh_area(const TriangleMesh& mesh, const Vec3& u) {
  double area = 0;
  for (const auto& t : mesh.triangles) {
    const Vec3& a = mesh.vertices[t[0]];
    area += std::abs(u.dot((mesh.vertices[t[1]] - a).cross(mesh.vertices[t[2]] - a)));
  }
  return area / 4;
}

double hull_area(const math::ConvexHull& hull, const Vec3& u) {
  double area = 0;
  for (const math::HullFace& f : hull.faces) {
    const int* loop = hull.loops.data() + f.first;
    const Vec3& a = hull.vertices[loop[0]];
    for (int i = 1; i + 1 < f.count; ++i)
      area += std::abs(u.dot((hull.vertices[loop[i]] - a).cross(hull.vertices[loop[i + 1]] - a)));
  }
  return area / 4;
}

}  // namespace

TriangleMesh triangles_of(const math::ConvexHull& hull) {
  TriangleMesh mesh;
  mesh.vertices = hull.vertices;
  for (const math::HullFace& f : hull.faces) {
    const int* loop = hull.loops.data() + f.first;
    for (int i = 1; i + 1 < f.count; ++i) mesh.triangles.push_back({loop[0], loop[i], loop[i + 1]});
  }
  return mesh;
}

TriangleMesh triangles_of(const HeightFieldShape& field) {
  TriangleMesh mesh;
  for (int j = 0; j < field.rows; ++j)
    for (int i = 0; i < field.columns; ++i)
      mesh.vertices.emplace_back((static_cast<double>(i) / (field.columns - 1) - 0.5) * field.size_x,
                                 (static_cast<double>(j) / (field.rows - 1) - 0.5) * field.size_y,
                                 field.heights[j * field.columns + i]);
  for (int j = 0; j + 1 < field.rows; ++j)
    for (int i = 0; i + 1 < field.columns; ++i) {
      const int a = j * field.columns + i, b = a + 1, c = a + field.columns, d = c + 1;
      mesh.triangles.push_back({a, b, d});
      mesh.triangles.push_back({a, d, c});
    }
  return mesh;
}

bool is_closed(const TriangleMesh& mesh) {
  std::set<std::pair<int, int>> edges;
  for (const auto& t : mesh.triangles)
    for (int i = 0; i < 3; ++i)
      if (!edges.insert({t[i], t[(i + 1) % 3]}).second) return false;
  for (const auto& [a, b] : edges)
    if (!edges.count({b, a})) return false;
  return true;
}

double volume(const ShapeGeometry& shape) {
  return std::visit(
      Overload{
          [](const BoxShape& s) { return s.size.prod(); },
          [](const SphereShape& s) { return 4.0 / 3 * pi * s.radius * s.radius * s.radius; },
          [](const CylinderShape& s) { return pi * s.radius * s.radius * s.length; },
          [](const CapsuleShape& s) { return pi * s.radius * s.radius * (s.length + 4.0 / 3 * s.radius); },
          [](const HullShape& s) { return unit_inertia(triangles_of(*s.hull)).m; },
          [](const MeshShape& s) { return unit_inertia(*s.mesh).m; },
          [](const HeightFieldShape&) { return 0.0; }},
      shape);
}

namespace {

// Of a shape, in the axes of its body; R I Rᵀ is symmetric up to rounding, and here to the last bit.
Inertia in_body(const Inertia& inertia, const Pose& X_BG) {
  Inertia out = inertia.in_frame(X_BG);
  out.I(1, 0) = out.I(0, 1), out.I(2, 0) = out.I(0, 2), out.I(2, 1) = out.I(1, 2);
  return out;
}

}  // namespace

Inertia solid_inertia(const Shape& shape, double density) {
  const auto of_mesh = [&](const TriangleMesh& mesh) {
    Inertia unit = unit_inertia(mesh);
    unit.m *= density, unit.h *= density, unit.I *= density;
    return in_body(unit, shape.X_BG);
  };
  if (const auto* hull = std::get_if<HullShape>(&shape.geometry)) return of_mesh(triangles_of(*hull->hull));
  if (const auto* mesh = std::get_if<MeshShape>(&shape.geometry)) return of_mesh(*mesh->mesh);
  if (std::holds_alternative<HeightFieldShape>(shape.geometry)) return {};
  const double m = density * volume(shape.geometry);
  const Mat3 I_G = std::visit(
      Overload{[&](const BoxShape& s) { return math::box_inertia(m, s.size); },
               [&](const SphereShape& s) { return math::sphere_inertia(m, s.radius); },
               [&](const CylinderShape& s) { return math::cylinder_inertia(m, s.radius, s.length); },
               [&](const CapsuleShape& s) { return math::capsule_inertia(m, s.radius, s.length); },
               [](const auto&) { return Mat3(Mat3::Zero()); }},
      shape.geometry);
  return in_body(Inertia::about_com(m, Vec3::Zero(), I_G), shape.X_BG);
}

Inertia point_inertia(const PointMass& point) {
  return Inertia::about_com(point.mass, point.p, Mat3::Zero());
}

void add_point_mass(Body& body, PointMass point) {
  if (!body.without_points) body.without_points = body.inertia;
  body.inertia += point_inertia(point);
  body.point_masses.push_back(std::move(point));
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
                             },
                             [&](const HullShape& s) { return hull_area(*s.hull, u); },
                             [&](const MeshShape& s) { return mesh_area(*s.mesh, u); },
                             [](const HeightFieldShape&) { return 0.0; }},
                    shape);
}

}  // namespace limber
