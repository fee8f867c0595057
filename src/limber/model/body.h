// Bodies: a frame, an inertia, shapes to look at (and to take the inertia from), named points to attach to.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "limber/math/convex_hull.h"
#include "limber/math/spatial.h"
#include "limber/model/ids.h"

namespace limber {

struct BoxShape {
  Vec3 size = Vec3::Zero();  // full sides [m]
};
struct SphereShape {
  double radius = 0;
};
struct CylinderShape {
  double radius = 0, length = 0;  // axis z, centred
};
struct CapsuleShape {
  double radius = 0, length = 0;  // axis z, centred, length without the caps
};
struct TriangleMesh {
  std::vector<Vec3> vertices;                 // [m]
  std::vector<std::array<int, 3>> triangles;  // counter-clockwise seen from outside
};
struct HullShape {
  std::shared_ptr<const math::ConvexHull> hull;  // never null
};
struct MeshShape {
  std::shared_ptr<const TriangleMesh> mesh;  // never null; closed, if it shall have a volume
};
// Ground: heights over a grid centred on G's origin, solid below. It has no mass and stands still.
struct HeightFieldShape {
  double size_x = 0, size_y = 0;  // [m]
  int columns = 0, rows = 0;      // along x and y
  std::vector<double> heights;    // (rows x columns) along z [m]
};
using ShapeGeometry =
    std::variant<BoxShape, SphereShape, CylinderShape, CapsuleShape, HullShape, MeshShape, HeightFieldShape>;

TriangleMesh triangles_of(const math::ConvexHull& hull);
TriangleMesh triangles_of(const HeightFieldShape& field);
bool is_closed(const TriangleMesh& mesh);  // every edge belongs to two triangles that run it in opposite ways

struct Shape {
  ShapeGeometry geometry;
  Pose X_BG;  // the shape's frame G in the body's frame B
};

double volume(const ShapeGeometry& shape);                  // [m³]
Inertia solid_inertia(const Shape& shape, double density);  // in B
// Seen along a unit direction [m²]. Of a mesh half the sum of its triangles', which counts what a hollow
// hides.
double projected_area(const ShapeGeometry& shape, const Vec3& direction_G);

using Color = std::array<float, 3>;  // linear RGB in 0…1

struct NamedPoint {
  std::string name;
  Vec3 p = Vec3::Zero();  // in B [m]
};

struct PointMass {
  std::string name;       // may be empty
  double mass = 0;        // [kg]
  Vec3 p = Vec3::Zero();  // in B [m]
};

struct Body {
  std::string name;
  Inertia inertia;  // about B's origin; all of it
  std::vector<Shape> shapes;
  std::vector<NamedPoint> points;
  std::optional<Color> color;
  double linear_drag = 0;                   // force −c v at the centre of mass [N·s/m]
  double angular_drag = 0;                  // torque −c ω [N·m·s]
  std::optional<double> friction;           // Coulomb's coefficient of its surface; else the scene's
  std::optional<double> restitution{};      // of its surface; else the scene's
  std::vector<int> surfaces{};              // of ModelParts::surfaces
  bool collide = true;                      // touches anything
  std::vector<PointMass> point_masses{};    // in `inertia` already: put there by add_point_mass()
  std::optional<Inertia> without_points{};  // the inertia before that, to write it down again
};

Inertia point_inertia(const PointMass& point);  // in B
void add_point_mass(Body& body, PointMass point);

// A place on the world, on a body, or on a beam at a fraction of its length (0 root, 1 tip).
struct Attachment {
  BodyId body = world;
  BeamId beam{};  // valid: on this beam at s, `body` is ignored
  double s = 0;
  Vec3 p = Vec3::Zero();  // in the body's (world's) frame; with a beam, offset in the beam's local axes [m]
  bool on_world() const { return !body.valid() && !beam.valid(); }
};

}  // namespace limber
