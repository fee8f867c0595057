// Contact with a surface of triangles, touched from outside only.
//
// A convex body and a triangle touch along a normal as two convex bodies do; but a normal that belongs to an
// edge or corner counts only if the surface really stands out there (normal_fits): on a flat floor cut into
// triangles, and in a valley, it does not, and the body rests on the triangle's plane instead, with the part
// of its lower facet that lies over the triangle. So nothing catches on inner edges, and a body that is a
// little inside is pushed out along the normal of the face it is under.
#include <algorithm>
#include <cmath>

#include "limber/contact/collide.h"
#include "limber/contact/gjk.h"

namespace limber::contact {
namespace {

struct Against {
  const TriangleSurface& surface;
  const Pose& X;  // of the surface
  double margin;
  Collider& s;
  double allowed_behind = 0;   // how far a thin body may be behind a sheet and still be pushed out
  Vec3 inside = Vec3::Zero();  // a place of s.a that must be in front of a sheet that it touches

  Vec3 corner(int t, int i) const { return X * surface.vertices[surface.triangles[t][i]]; }
  Vec3 normal(int t) const { return X.R * surface.normals[t]; }
  void add(int t) const;
  void rest_on_plane(int t, const Vec3& n) const;
};

// s.a stands over (or hangs below) triangle t: its lower facet, cut to the triangle.
void Against::rest_on_plane(int t, const Vec3& n) const {
  Convex& a = s.a;
  facet(s.b, n, s.clip.b);
  facet(a, -n, s.clip.a);
  const double slack = 1e-9 * (a.size + s.b.size);
  const Vec3 low = support(a, -n),
             up = surface.below ? Vec3(X.R.col(2)) : n;  // a column of ground is upright
  // A cylinder's or a tilted facet's lowest point, if the facet does not have it.
  bool found = false;
  for (const Vec3& p : s.clip.a.points) found = found || (p - low).squaredNorm() < slack * slack;
  const auto put = [&](const Vec3& x, std::uint32_t id) {
    const double core = n.dot(x - s.clip.b.points[0]), gap = core - a.radius;
    if (gap < margin)
      s.points.push_back(
          {x - a.radius * n, x - core * n, n, gap, mix(mix(static_cast<std::uint32_t>(t), 7), id)});
  };
  cut_to_prism(s.clip.a, s.clip.b.points, s.clip.b.ids, up, slack, s.clip);
  for (std::size_t i = 0; i < s.clip.polygon.size(); ++i) put(s.clip.polygon[i], s.clip.ids[i]);
  if (found) return;
  s.clip.a.points.assign(1, low), s.clip.a.ids.assign(1, 99);
  cut_to_prism(s.clip.a, s.clip.b.points, s.clip.b.ids, up, slack, s.clip);
  if (!s.clip.polygon.empty()) put(low, 99);
}

void Against::add(int t) const {
  const Vec3 n = normal(t);
  place_triangle(corner(t, 0), corner(t, 1), corner(t, 2), n, s.b);
  const Convex& a = s.a;
  const double above = reach(a, n) - n.dot(s.b.vertices[0]);  // its highest point over the plane
  // Wholly behind: only ground that goes all the way down pushes it out.
  if (above + a.radius < 0) {
    if (surface.below || above + a.radius > -allowed_behind) rest_on_plane(t, n);
    return;
  }
  // From behind a sheet of a mesh nothing is touched.
  if (!surface.below && n.dot(inside - s.b.vertices[0]) < -allowed_behind) return;
  Separation found;
  if (!separate(a, s.b, margin + a.radius, s.moved, found)) {
    // Apart from the triangle itself, yet below it in the ground.
    if (surface.below && -reach(a, -n) - n.dot(s.b.vertices[0]) < 0) rest_on_plane(t, n);
    return;
  }
  if (normal_fits(surface, t, X.R.transpose() * found.n))
    touching_points(a, s.b, found, margin, static_cast<std::uint32_t>(t), s.clip, s.points);
  else if (surface.below || found.gap <= a.radius)
    rest_on_plane(t, n);
}

// The middle of a says on which side it is of each triangle of a surface. Where a is larger than the surface,
// a plate under a stone, its middle may be far aside: then it is what lies under the place nearest to the
// surface's middle.
Vec3 place_inside(const Convex& a, const TriangleSurface& surface, const Pose& X, Convex& scratch) {
  const double other = (surface.box.high - surface.box.low).norm();
  if (surface.below || a.size + a.radius <= other) return a.centre;
  place(Sphere{0}, {Mat3::Identity(), X * Vec3(0.5 * (surface.box.low + surface.box.high))}, scratch);
  const Apart apart = gjk(a, scratch);
  if (apart.overlap) return a.centre;
  const Vec3 up = (apart.on_b - apart.on_a) / apart.distance;
  const double thickness = reach(a, up) + reach(a, -up);
  return apart.on_a - std::min(0.5 * thickness, other) * up;
}

// The same place by two triangles counts once.
void drop_twins(std::vector<ContactPoint>& points, double size) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    bool twin = false;
    for (std::size_t k = 0; k < kept && !twin; ++k)
      twin = (points[i].on_b - points[k].on_b).squaredNorm() < 1e-12 * size * size &&
             points[i].normal.dot(points[k].normal) > 1 - 1e-6;
    if (!twin) points[kept++] = points[i];
  }
  points.resize(kept);
}

// In the surface's frame.
Bounds seen_from(const Bounds& box, const Pose& X) {
  const Vec3 middle = X.R.transpose() * (0.5 * (box.low + box.high) - X.p),
             half = X.R.cwiseAbs().transpose() * (0.5 * (box.high - box.low));
  return {middle - half, middle + half};
}

}  // namespace

void collide_surface(const Geometry& geometry, const Pose& X_a, const TriangleSurface& surface,
                     const Pose& X_b, double margin, Collider& s) {
  const Vec3 origin = X_a.p;
  const Pose here{X_a.R, Vec3::Zero()}, there{X_b.R, X_b.p - origin};
  place(geometry, here, s.a);
  Bounds box = seen_from(bounds({geometry, here}), there);
  box.low.array() -= margin, box.high.array() += margin;
  if (surface.below) box.high.z() = std::max(box.high.z(), surface.box.high.z());
  const Against against{surface, there, margin, s, 0, place_inside(s.a, surface, there, s.b)};
  surface.query(box, [&](int t) { against.add(t); });
  drop_twins(s.points, s.a.size + s.a.radius);
  for (ContactPoint& p : s.points) p.on_a += origin, p.on_b += origin;
}

// Each triangle of a, as a body, on the surface b.
void collide_meshes(const TriangleSurface& a, const Pose& X_a, const TriangleSurface& b, const Pose& X_b,
                    double margin, Collider& s) {
  const Vec3 origin = X_a.p;
  const Pose here{X_a.R, Vec3::Zero()}, there{X_b.R, X_b.p - origin};
  const double thin_a = (a.box.high - a.box.low).minCoeff(), thin_b = (b.box.high - b.box.low).minCoeff();
  // Less than b is thick: what is on its one side is not behind the other.
  Against against{b, there, margin, s, b.closed ? std::min(0.05 * thin_a, 0.3 * thin_b) : 0.05 * thin_a, {}};
  const Pose X_ab = here.inverse() * there;
  Bounds common{X_ab * Vec3(0.5 * (b.box.low + b.box.high)),
                X_ab.R.cwiseAbs() * (0.5 * (b.box.high - b.box.low))};
  common = {common.low - common.high, common.low + common.high};
  common.low.array() -= margin + against.allowed_behind,
      common.high.array() += margin + against.allowed_behind;
  if (b.below) common = a.box;
  a.query(common, [&](int i) {
    const auto& v = a.triangles[i];
    const Vec3 p = here * a.vertices[v[0]], q = here * a.vertices[v[1]], r = here * a.vertices[v[2]],
               n = here.R * a.normals[i];
    Bounds box{p.cwiseMin(q).cwiseMin(r), p.cwiseMax(q).cwiseMax(r)};
    box.low.array() -= margin + against.allowed_behind, box.high.array() += margin + against.allowed_behind;
    box = seen_from(box, there);
    if (b.below) box.high.z() = std::max(box.high.z(), b.box.high.z());
    place_triangle(p, q, r, n, s.a);
    s.a.one_sided = false;
    against.inside = place_inside(s.a, b, there, s.b);
    b.query(box, [&](int t) {
      if (n.dot(there.R * b.normals[t]) >= 0) return;  // they look the same way: not at each other
      const std::size_t before = s.points.size();
      against.add(t);
      for (std::size_t k = before; k < s.points.size(); ++k)
        s.points[k].feature = mix(s.points[k].feature, static_cast<std::uint32_t>(i));
    });
  });
  drop_twins(s.points, (a.box.high - a.box.low).norm());
  for (ContactPoint& p : s.points) p.on_a += origin, p.on_b += origin;
}

}  // namespace limber::contact
