// Boxes have six faces of their own, hulls, meshes and ground their triangles. All else is a surface of
// revolution about z: a profile of (radius, height, normal) points from the bottom to the top, turned around;
// neighbouring rings are joined by a strip, and a ring of radius zero is a single point. The profile's points
// inscribe the sphere, they do not circumscribe it.
#include "limber/export/mesh.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "limber/math/trig.h"

namespace limber::exporting {
namespace {

// ---- boxes

Mesh box_mesh(const Vec3& size) {
  Mesh mesh;
  const Vec3 half = size.cwiseAbs() / 2;
  for (int axis = 0; axis < 3; ++axis) {
    for (const double sign : {-1.0, 1.0}) {
      // n, u, v right-handed, so that the corners run counter-clockwise seen from outside
      const Vec3 n = sign * Vec3::Unit(axis);
      const Vec3 u = Vec3::Unit((axis + 1) % 3), v = n.cross(u);
      const auto first = static_cast<std::uint32_t>(mesh.positions.size());
      for (const auto& [a, b] : {std::pair{-1, -1}, {1, -1}, {1, 1}, {-1, 1}}) {
        mesh.positions.push_back((n + a * u + b * v).cwiseProduct(half));
        mesh.normals.push_back(n);
      }
      mesh.triangles.push_back({first, first + 1, first + 2});
      mesh.triangles.push_back({first, first + 2, first + 3});
    }
  }
  return mesh;
}

// ---- surfaces of revolution

struct ProfilePoint {
  double radius, height;     // [m]
  double n_radial, n_axial;  // unit normal
};

struct Ring {
  std::uint32_t first;
  bool point;  // on the axis, one vertex
};

class Revolution {
 public:
  explicit Revolution(int sides) {
    for (int i = 0; i < sides; ++i) directions_.push_back(math::sincos(2 * pi * i / sides));
  }

  // One smooth strip along the profile; consecutive calls share no vertices.
  void add(const std::vector<ProfilePoint>& profile) {
    std::vector<Ring> rings;
    for (const ProfilePoint& point : profile) rings.push_back(add_ring(point));
    for (std::size_t i = 1; i < rings.size(); ++i) join(rings[i - 1], rings[i]);
  }

  Mesh take() { return std::move(mesh_); }

 private:
  Ring add_ring(const ProfilePoint& point) {
    const auto first = static_cast<std::uint32_t>(mesh_.positions.size());
    const bool on_axis = point.n_radial == 0 && point.radius == 0;
    for (std::size_t i = 0; i < (on_axis ? 1 : directions_.size()); ++i) {
      const auto [s, c] = directions_[i];
      mesh_.positions.emplace_back(point.radius * c, point.radius * s, point.height);
      mesh_.normals.emplace_back(point.n_radial * c, point.n_radial * s, point.n_axial);
    }
    return {first, on_axis};
  }

  void join(const Ring& low, const Ring& high) {
    const auto n = static_cast<std::uint32_t>(directions_.size());
    for (std::uint32_t i = 0; i < n; ++i) {
      const std::uint32_t j = (i + 1) % n;
      const std::uint32_t a = low.first + (low.point ? 0 : i), b = low.first + (low.point ? 0 : j);
      const std::uint32_t c = high.first + (high.point ? 0 : i), d = high.first + (high.point ? 0 : j);
      if (!low.point) mesh_.triangles.push_back({a, b, d});
      if (!high.point) mesh_.triangles.push_back({a, d, c});
    }
  }

  std::vector<math::SinCos> directions_;
  Mesh mesh_;
};

// From the lower pole to the upper, the two halves moved apart by `length`.
Mesh capsule_mesh(double radius, double length, int sides) {
  const int quarter = std::max(2, sides / 4);  // rings from the equator to a pole
  std::vector<ProfilePoint> profile;
  const auto add_half = [&](int from, int to, double centre) {
    for (int i = from; i <= to; ++i) {
      const bool pole = i == -quarter || i == quarter;
      const auto [s, c] = math::sincos(pi / 2 * i / quarter);
      profile.push_back({pole ? 0 : radius * c, centre + radius * s, pole ? 0 : c, s});
    }
  };
  if (length == 0) {
    add_half(-quarter, quarter, 0);
  } else {
    add_half(-quarter, 0, -length / 2);
    add_half(0, quarter, length / 2);
  }
  Revolution surface(sides);
  surface.add(profile);
  return surface.take();
}

Mesh cylinder_mesh(double radius, double length, int sides) {
  const double h = length / 2;
  Revolution surface(sides);
  surface.add({{radius, -h, 1, 0}, {radius, h, 1, 0}});
  // Caps with vertices of their own: their edges stay sharp.
  surface.add({{0, -h, 0, -1}, {radius, -h, 0, -1}});
  surface.add({{radius, h, 0, 1}, {0, h, 0, 1}});
  return surface.take();
}

// ---- triangles

// Edges of a hull or a mesh stay sharp: every triangle has vertices of its own.
Mesh sharp_mesh(const TriangleMesh& from) {
  Mesh mesh;
  for (const auto& t : from.triangles) {
    const Vec3 &a = from.vertices[t[0]], &b = from.vertices[t[1]], &c = from.vertices[t[2]];
    const Vec3 n = (b - a).cross(c - a);
    if (!(n.norm() > 0)) continue;
    const auto first = static_cast<std::uint32_t>(mesh.positions.size());
    for (const Vec3& p : {a, b, c}) mesh.positions.push_back(p), mesh.normals.push_back(n.normalized());
    mesh.triangles.push_back({first, first + 1, first + 2});
  }
  return mesh;
}

// Ground is smooth: vertices are shared, normals are the sums of their triangles'.
Mesh smooth_mesh(const TriangleMesh& from) {
  Mesh mesh;
  mesh.positions = from.vertices;
  mesh.normals.assign(from.vertices.size(), Vec3::Zero());
  for (const auto& t : from.triangles) {
    const Vec3& a = from.vertices[t[0]];
    const Vec3 n = (from.vertices[t[1]] - a).cross(from.vertices[t[2]] - a);
    for (const int v : t) mesh.normals[v] += n;
    mesh.triangles.push_back({static_cast<std::uint32_t>(t[0]), static_cast<std::uint32_t>(t[1]),
                              static_cast<std::uint32_t>(t[2])});
  }
  for (Vec3& n : mesh.normals) n.normalize();
  return mesh;
}

double farthest(const std::vector<Vec3>& points) {
  double r = 0;
  for (const Vec3& p : points) r = std::max(r, p.norm());
  return r;
}

}  // namespace

Mesh mesh_of(const ShapeGeometry& geometry, int sides) {
  return std::visit(
      [&](const auto& g) {
        using G = std::decay_t<decltype(g)>;
        if constexpr (std::is_same_v<G, BoxShape>)
          return box_mesh(g.size);
        else if constexpr (std::is_same_v<G, SphereShape>)
          return capsule_mesh(std::abs(g.radius), 0, sides);
        else if constexpr (std::is_same_v<G, CylinderShape>)
          return cylinder_mesh(std::abs(g.radius), std::abs(g.length), sides);
        else if constexpr (std::is_same_v<G, HullShape>)
          return sharp_mesh(triangles_of(*g.hull));
        else if constexpr (std::is_same_v<G, MeshShape>)
          return sharp_mesh(*g.mesh);
        else if constexpr (std::is_same_v<G, HeightFieldShape>)
          return smooth_mesh(triangles_of(g));
        else
          return capsule_mesh(std::abs(g.radius), std::abs(g.length), sides);
      },
      geometry);
}

double bounding_radius(const ShapeGeometry& geometry) {
  return std::visit(
      [](const auto& g) {
        using G = std::decay_t<decltype(g)>;
        if constexpr (std::is_same_v<G, BoxShape>)
          return g.size.norm() / 2;
        else if constexpr (std::is_same_v<G, SphereShape>)
          return std::abs(g.radius);
        else if constexpr (std::is_same_v<G, CylinderShape>)
          return std::sqrt(g.radius * g.radius + g.length * g.length / 4);
        else if constexpr (std::is_same_v<G, HullShape>)
          return farthest(g.hull->vertices);
        else if constexpr (std::is_same_v<G, MeshShape>)
          return farthest(g.mesh->vertices);
        else if constexpr (std::is_same_v<G, HeightFieldShape>)
          return farthest(triangles_of(g).vertices);
        else
          return std::abs(g.radius) + std::abs(g.length) / 2;
      },
      geometry);
}

}  // namespace limber::exporting
