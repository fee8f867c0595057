#include "limber/contact/separation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "limber/contact/gjk.h"
#include "limber/contact/segments.h"

namespace limber::contact {
namespace {

constexpr double nowhere = -std::numeric_limits<double>::infinity();

struct Axis {
  double s = nowhere;
  Vec3 n = Vec3::UnitZ();
  int edge_a = -1, edge_b = -1;  // of a pair of edges
};

double value(const Convex& a, const Convex& b, const Vec3& n) { return -reach(a, -n) - reach(b, n); }

// Is n on the side that a one-sided triangle shows? n points from b to a.
bool allowed(const Convex& a, const Convex& b, const Vec3& n) {
  return !(b.one_sided && n.dot(b.normals[0]) <= 1e-9) && !(a.one_sided && n.dot(a.normals[0]) >= -1e-9);
}

void try_axis(const Convex& a, const Convex& b, const Vec3& n, Axis& best) {
  if (!allowed(a, b, n)) return;
  if (const double s = value(a, b, n); s > best.s) best = {s, n, -1, -1};
}

void try_faces(const Convex& a, const Convex& b, Axis& best) {
  for (const Vec3& n : b.normals) try_axis(a, b, n, best);
  for (const Vec3& n : a.normals) try_axis(a, b, -n, best);
}

// Edge e of a (f of b) is the lowest (highest) along m if neither of its faces goes further that way.
void try_edges(const Convex& a, const Convex& b, double bias, Axis& best) {
  Axis found = best;
  found.s += bias;  // faces go first: their manifold is wide
  for (std::size_t i = 0; i < a.ends.size(); ++i) {
    const Vec3* e = &a.edges[3 * i];
    for (std::size_t k = 0; k < b.ends.size(); ++k) {
      const Vec3* f = &b.edges[3 * k];
      const Vec3 m = e[0].cross(f[0]);
      const double a0 = m.dot(e[1]), a1 = m.dot(e[2]), b0 = m.dot(f[1]), b1 = m.dot(f[2]);
      double sign = 0;
      if (a0 >= 0 && a1 >= 0 && b0 <= 0 && b1 <= 0) sign = 1;
      if (a0 <= 0 && a1 <= 0 && b0 >= 0 && b1 >= 0) sign = sign != 0 ? 0 : -1;
      const double mm = m.squaredNorm();
      if (sign == 0 || !(mm > 1e-12 * e[0].squaredNorm() * f[0].squaredNorm())) continue;
      const Vec3 n = sign / std::sqrt(mm) * m;
      const double s = n.dot(a.vertices[a.ends[i].a] - b.vertices[b.ends[k].a]);
      if (s > found.s && allowed(a, b, n)) found = {s, n, static_cast<int>(i), static_cast<int>(k)};
    }
  }
  if (found.edge_a >= 0) best = found;
}

// The points of two lines that are closest.
void touch_edges(const Convex& a, const Convex& b, const Axis& axis, Separation& out) {
  const Vec3 &u = a.edges[3 * axis.edge_a], &v = b.edges[3 * axis.edge_b];
  const Vec3 &p = a.vertices[a.ends[axis.edge_a].a], &q = b.vertices[b.ends[axis.edge_b].a];
  const Vec3 w = q - p, m = u.cross(v);
  const double mm = m.squaredNorm();
  const double s = std::clamp(w.cross(v).dot(m) / mm, 0.0, 1.0),
               t = std::clamp(w.cross(u).dot(m) / mm, 0.0, 1.0);
  out.on_a = p + s * u;
  out.on_b = q + t * v;
}

// The farthest points of c along d: one, or the two ends of a line; 3 for a whole face.
int farthest_points(const Convex& c, const Vec3& d, Vec3* p) {
  const double close = 1e-7 * c.size;
  p[0] = p[1] = support(c, d);
  if (c.cylinder) {
    const double along = d.dot(c.axis);
    if (std::abs(along) > 1 - 1e-9) return 3;
    if (std::abs(along) > 1e-7) return 1;
    const Vec3 side = p[0] - (p[0] - c.centre).dot(c.axis) * c.axis;
    p[0] = side - c.half_length * c.axis, p[1] = side + c.half_length * c.axis;
    return 2;
  }
  const double top = p[0].dot(d);
  int count = 0;
  for (const Vec3& v : c.vertices) {
    if (v.dot(d) < top - close) continue;
    p[std::min(count, 1)] = v;
    ++count;
  }
  return std::min(count, 3);
}

// One touching pair: a corner of one under n, or where two lines cross.
void touch_support(const Convex& a, const Convex& b, Separation& out) {
  Vec3 p[2], q[2];
  const int on_a = farthest_points(a, -out.n, p), on_b = farthest_points(b, out.n, q);
  if (on_a == 1 || on_b == 3) {
    out.on_a = p[0], out.on_b = p[0] - out.gap * out.n;
  } else if (on_b == 1 || on_a == 3) {
    out.on_b = q[0], out.on_a = q[0] + out.gap * out.n;
  } else {
    const SegmentPair pair = closest(p[0], p[1], q[0], q[1]);
    out.on_a = p[0] + pair.s * (p[1] - p[0]);
    out.on_b = out.on_a - out.gap * out.n;
  }
}

// Moves a out along n until it is clear of b by `room`, and takes the direction of the closest points from
// there as the next n. With t = room − s(n), their distance D = s(n') + t n·n' is at least room, so that
// s(n') ≥ room − t n·n' ≥ s(n): never worse, and n' = n only where s has a maximum.
Axis climb(const Convex& a, const Convex& b, Axis at, Convex& moved) {
  const double size = a.size + b.size, room = 0.1 * size;
  moved = a;
  for (int round = 0; round < 60; ++round) {
    const Vec3 shift = (room - at.s) * at.n;
    moved.centre = a.centre + shift;
    for (std::size_t i = 0; i < a.vertices.size(); ++i) moved.vertices[i] = a.vertices[i] + shift;
    const Apart apart = gjk(moved, b);
    if (apart.overlap || !(apart.distance > 0.5 * room)) break;
    const Vec3 n = (apart.on_a - apart.on_b) / apart.distance;
    const double before = at.s;
    try_axis(a, b, n, at);
    if (!(at.s > before + 1e-15 * size)) break;
  }
  return at;
}

Vec3 unit_or_zero(const Vec3& v) {
  const double l = v.norm();
  return l > 1e-9 ? Vec3(v / l) : Vec3(Vec3::Zero());
}

// Normals at which a cylinder often touches.
Axis cylinder_axis(const Convex& a, const Convex& b, Convex& moved) {
  Axis first;
  Axis found[3];  // of caps and faces; of edges and axes; of corners and centres
  const auto both = [&](const Vec3& n, Axis& best) {
    if (!(n.squaredNorm() > 0.5)) return;
    try_axis(a, b, n, best), try_axis(a, b, -n, best);
  };
  try_faces(a, b, found[0]);
  for (const Convex* c : {&a, &b})
    if (c->cylinder) both(c->axis, found[0]);
  for (const auto& [c, d] : {std::pair{&a, &b}, {&b, &a}}) {
    if (!c->cylinder) continue;
    if (d->cylinder) both(unit_or_zero(c->axis.cross(d->axis)), found[1]);
    for (std::size_t i = 0; i < d->ends.size(); ++i)
      both(unit_or_zero(c->axis.cross(d->edges[3 * i].normalized())), found[1]);
    const auto radial = [&](const Vec3& p) {
      const Vec3 r = p - c->centre;
      both(unit_or_zero(r - r.dot(c->axis) * c->axis), found[2]);
    };
    radial(d->centre);
    for (const Vec3& v : d->vertices) radial(v);
  }
  both(unit_or_zero(a.centre - b.centre), found[2]);
  // What no search betters by much is exact and kept.
  for (const Axis& f : found)
    if (f.s > first.s) first = f;
  Axis best = first;
  for (const Axis& f : found) {
    if (f.s == nowhere) continue;
    if (const Axis top = climb(a, b, f, moved); top.s > best.s) best = top;
  }
  return best.s > first.s + 1e-9 * (a.size + b.size) ? best : first;
}

}  // namespace

bool separate(const Convex& a, const Convex& b, double margin, Convex& moved, Separation& out) {
  const double size = a.size + b.size;
  Axis axis;
  const bool corners = !a.cylinder && !b.cylinder;
  if (corners) {
    try_faces(a, b, axis);
    if (axis.s > margin) return false;
    try_edges(a, b, 1e-9 * size, axis);
    if (axis.s > margin) return false;
  }
  const bool no_axis = axis.s == nowhere;  // a cylinder; or two cores without faces
  Apart apart;
  // Of a one-sided triangle the axes behind it were left out, so that overlap is not yet certain.
  if (no_axis || axis.s > 0 || a.one_sided || b.one_sided) {
    apart = gjk(a, b);
    if (!apart.overlap && apart.distance > margin) return false;
    if (!apart.overlap && apart.distance > 1e-7 * size) {
      const Vec3 n = (apart.on_a - apart.on_b) / apart.distance;
      // The exact normal of a face, unless gjk found more room along another.
      if (no_axis || apart.distance > std::max(0.0, axis.s) * (1 + 1e-9)) axis = {apart.distance, n, -1, -1};
      out = {axis.s, axis.n, apart.on_a, apart.on_b};
      return true;
    }
  }
  if (no_axis) axis = cylinder_axis(a, b, moved);
  out.gap = axis.s, out.n = axis.n;
  if (axis.edge_a >= 0)
    touch_edges(a, b, axis, out);
  else
    touch_support(a, b, out);
  return out.gap <= margin;
}

}  // namespace limber::contact
