#include "limber/contact/manifold.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "limber/contact/segments.h"

namespace limber::contact {
namespace {

constexpr double aligned = 1 - 1e-6;  // cosine between a normal and a face's that it belongs to

// Keeps the part with d·x ≤ limit.
void cut(const Vec3& d, double limit, double slack, std::uint32_t plane, ClipScratch& s) {
  const std::size_t n = s.polygon.size();
  s.cut.clear(), s.cut_ids.clear();
  const std::size_t sides = n == 2 ? 1 : n;  // a line has one side, a polygon as many as corners
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t k = (i + 1) % n;
    const double hi = d.dot(s.polygon[i]) - limit, hk = d.dot(s.polygon[k]) - limit;
    if (hi <= slack) s.cut.push_back(s.polygon[i]), s.cut_ids.push_back(s.ids[i]);
    if (i >= sides || (hi <= slack) == (hk <= slack)) continue;
    const double t = std::clamp(hi / (hi - hk), 0.0, 1.0);
    s.cut.push_back(s.polygon[i] + t * (s.polygon[k] - s.polygon[i]));
    s.cut_ids.push_back(
        mix(mix(std::min(s.ids[i], s.ids[k]), std::max(s.ids[i], s.ids[k])), plane | 0x40000000u));
  }
  std::swap(s.polygon, s.cut), std::swap(s.ids, s.cut_ids);
}

void add_point(const Vec3& x_a, const Vec3& x_b, const Vec3& n, double gap, double r_a, double r_b,
               std::uint32_t feature, std::vector<ContactPoint>& out) {
  out.push_back({x_a - r_a * n, x_b + r_b * n, n, gap, feature});
}

double area(const std::vector<Vec3>& loop) {
  Vec3 twice = Vec3::Zero();
  for (std::size_t i = 1; i + 1 < loop.size(); ++i) twice += (loop[i] - loop[0]).cross(loop[i + 1] - loop[0]);
  return 0.5 * twice.norm();
}

// Two lines side by side: the ends of where they run together.
bool touching_lines(const Convex& a, const Convex& b, const Separation& s, double margin, std::uint32_t tag,
                    const ClipScratch& f, std::vector<ContactPoint>& out) {
  const Vec3 &p = f.a.points[0], &q = f.b.points[0];
  const Vec3 u = f.a.points[1] - p, v = f.b.points[1] - q;
  if (!(u.cross(v).squaredNorm() < 1e-6 * u.squaredNorm() * v.squaredNorm())) return false;
  const double uu = u.squaredNorm(), t0 = u.dot(q - p) / uu, t1 = t0 + u.dot(v) / uu;
  const double lo = std::clamp(std::min(t0, t1), 0.0, 1.0), hi = std::clamp(std::max(t0, t1), 0.0, 1.0);
  if (!(hi > lo)) return false;
  std::uint32_t end = 0;
  for (const double t : {lo, hi}) {
    const Vec3 x = p + t * u, y = q + closest(q, Vec3(q + v), x) * v;
    const double gap = (x - y).dot(s.n) - a.radius - b.radius;
    if (gap < margin) add_point(x, y, s.n, gap, a.radius, b.radius, mix(tag, ++end), out);
  }
  return true;
}

// Axes that turn with the points: z along the normal of one of them, x to the one farthest from it across z.
Mat3 axes_of(const std::vector<ContactPoint>& points, std::size_t from, double alike) {
  const Vec3 z = points[from].normal;
  Vec3 x = Vec3::Zero();
  for (const ContactPoint& p : points) {
    const Vec3 way = p.on_b - points[from].on_b, across = way - z.dot(way) * z;
    if (across.norm() > x.norm() + alike) x = across;
  }
  if (!(x.norm() > 0)) return Mat3::Identity();  // one above the other
  Mat3 out;
  out << x.normalized(), z.cross(x.normalized()), z;
  return out;
}

}  // namespace

void cut_to_prism(const Facet& facet, const std::vector<Vec3>& loop,
                  const std::vector<std::uint32_t>& loop_ids, const Vec3& normal, double slack,
                  ClipScratch& s) {
  s.polygon.assign(facet.points.begin(), facet.points.end());
  s.ids.assign(facet.ids.begin(), facet.ids.end());
  for (std::size_t i = 0; i < loop.size() && !s.polygon.empty(); ++i) {
    const std::size_t k = (i + 1) % loop.size();
    const Vec3 outwards = (loop[k] - loop[i]).cross(normal).normalized();
    cut(outwards, outwards.dot(loop[i]), slack, mix(loop_ids[i], loop_ids[k]), s);
  }
}

void touching_points(const Convex& a, const Convex& b, const Separation& s, double margin, std::uint32_t tag,
                     ClipScratch& f, std::vector<ContactPoint>& out) {
  const double size = a.size + b.size + a.radius + b.radius, radii = a.radius + b.radius;
  facet(a, -s.n, f.a);
  facet(b, s.n, f.b);
  const double on_a = f.a.face ? -s.n.dot(f.a.normal) : -1, on_b = f.b.face ? s.n.dot(f.b.normal) : -1;
  const std::size_t before = out.size();
  if (std::max(on_a, on_b) > aligned) {
    // Both flat on each other: the larger face, so that the smaller one's corners are the points.
    const bool both = std::min(on_a, on_b) > aligned;
    const bool by_b = both ? area(f.b.points) >= area(f.a.points) * (1 - 1e-9) : on_b >= on_a;
    const Facet &face = by_b ? f.b : f.a, &other = by_b ? f.a : f.b;
    cut_to_prism(other, face.points, face.ids, face.normal, 1e-9 * size, f);
    const Vec3 n = by_b ? face.normal : Vec3(-face.normal);
    for (std::size_t i = 0; i < f.polygon.size(); ++i) {
      const Vec3& x = f.polygon[i];
      const double core = face.normal.dot(x - face.points[0]);
      if (!(core - radii < margin)) continue;
      const Vec3 foot = x - core * face.normal;
      bool again = false;
      for (std::size_t k = before; k < out.size(); ++k)
        again = again || ((by_b ? out[k].on_a : out[k].on_b) -
                          (by_b ? Vec3(x - a.radius * n) : Vec3(x + b.radius * n)))
                                 .squaredNorm() < 1e-16 * size * size;
      if (again) continue;
      add_point(by_b ? x : foot, by_b ? foot : x, n, core - radii, a.radius, b.radius,
                mix(mix(tag, by_b ? 1 : 2), f.ids[i]), out);
    }
  } else if (f.a.points.size() == 2 && f.b.points.size() == 2) {
    touching_lines(a, b, s, margin, tag, f, out);
  }
  // The deepest place, where no corner of the cut is as deep.
  double deepest = std::numeric_limits<double>::infinity();
  for (std::size_t k = before; k < out.size(); ++k) deepest = std::min(deepest, out[k].gap);
  if (s.gap - radii < margin && s.gap - radii < deepest - 1e-7 * size)
    add_point(s.on_a, s.on_b, s.n, s.gap - radii, a.radius, b.radius, mix(tag, 3), out);
}

void reduce(std::vector<ContactPoint>& points, Manifold& out) {
  constexpr int directions = 26;
  out.count = 0;
  if (points.size() <= out.points.size()) {
    for (const ContactPoint& p : points) out.points[out.count++] = p;
    return;
  }
  double extent = 0;
  for (const ContactPoint& p : points) extent = std::max(extent, (p.on_b - points[0].on_b).norm());
  const double alike = 1e-9 * extent;  // of several as good the first is taken, whatever rounding says
  std::size_t next = 0;
  for (std::size_t i = 1; i < points.size(); ++i)
    if (points[i].gap < points[next].gap - alike) next = i;
  const Mat3 axes = axes_of(points, next, alike);
  Vec3 d[directions];
  double reached[directions];
  for (int k = 0; k < directions; ++k) {
    const int c = k < 13 ? k : k + 1;  // without (0, 0, 0)
    d[k] = axes * Vec3(c % 3 - 1, c / 3 % 3 - 1, c / 9 - 1).normalized();
    reached[k] = -std::numeric_limits<double>::infinity();
  }
  while (true) {
    out.points[out.count++] = points[next];
    if (out.count == static_cast<int>(out.points.size())) return;
    for (int k = 0; k < directions; ++k) reached[k] = std::max(reached[k], d[k].dot(points[next].on_b));
    double most = -1;
    for (std::size_t i = 0; i < points.size(); ++i) {
      double gain = -1, nearest = std::numeric_limits<double>::infinity();
      for (int k = 0; k < directions; ++k) gain = std::max(gain, d[k].dot(points[i].on_b) - reached[k]);
      for (int k = 0; k < out.count; ++k)
        nearest = std::min(nearest, (points[i].on_b - out.points[k].on_b).norm());
      // Once nothing reaches out any more, fill the inside.
      gain = std::max(gain, 1e-3 * nearest);
      if (gain > most + alike) most = gain, next = i;
    }
  }
}

}  // namespace limber::contact
