#include "limber/contact/segments.h"

#include <algorithm>
#include <cmath>

namespace limber::contact {

double closest(const Vec3& a, const Vec3& b, const Vec3& p) {
  const Vec3 u = b - a;
  const double l2 = u.squaredNorm();
  return l2 > 0 ? std::clamp(u.dot(p - a) / l2, 0.0, 1.0) : 0;
}

SegmentPair closest(const Vec3& a0, const Vec3& a1, const Vec3& b0, const Vec3& b1) {
  const Vec3 u = a1 - a0, v = b1 - b0, w = a0 - b0;
  const double uu = u.dot(u), vv = v.dot(v), uv = u.dot(v), uw = u.dot(w), vw = v.dot(w);
  const double det = uu * vv - uv * uv;
  SegmentPair out;
  if (uu <= 0 || vv <= 0) {
    out.s = vv <= 0 ? closest(a0, a1, b0) : 0;
    out.t = closest(b0, b1, a0 + out.s * u);
  } else if (det > 1e-10 * uu * vv) {
    // Inside the square of (s, t), or on the edge that the free minimum lies beyond.
    out.s = std::clamp((uv * vw - vv * uw) / det, 0.0, 1.0);
    out.t = (uv * out.s + vw) / vv;
    if (out.t < 0 || out.t > 1) {
      out.t = std::clamp(out.t, 0.0, 1.0);
      out.s = std::clamp((uv * out.t - uw) / uu, 0.0, 1.0);
    }
  } else {
    // Side by side: the middle of the overlap of b's shadow on a.
    const double t0 = -uw / uu, t1 = t0 + uv / uu;
    const double lo = std::clamp(std::min(t0, t1), 0.0, 1.0), hi = std::clamp(std::max(t0, t1), 0.0, 1.0);
    out.s = 0.5 * (lo + hi);
    out.t = closest(b0, b1, a0 + out.s * u);
    out.s = closest(a0, a1, b0 + out.t * v);
  }
  out.apart = w + out.s * u - out.t * v;
  out.distance = out.apart.norm();
  return out;
}

double time_of_impact(const MovingSegment& p, const MovingSegment& q, double distance) {
  // The common motion changes no distance.
  const Vec3 common = 0.25 * (p.a1 - p.a0 + p.b1 - p.b0 + q.a1 - q.a0 + q.b1 - q.b0);
  const auto speed = [&](const MovingSegment& m) {
    return std::max((m.a1 - m.a0 - common).norm(), (m.b1 - m.b0 - common).norm());
  };
  const double fastest = speed(p) + speed(q);
  double t = 0;
  for (int i = 0; i < 64; ++i) {
    const auto at = [&](const Vec3& x0, const Vec3& x1) -> Vec3 { return x0 + t * (x1 - x0); };
    const double d =
        closest(at(p.a0, p.a1), at(p.b0, p.b1), at(q.a0, q.a1), at(q.b0, q.b1)).distance - distance;
    if (d <= 1e-9 * distance) return t;
    if (fastest * (1 - t) < d) return 2;
    t += d / fastest;
    if (t > 1) return 2;
  }
  return t;
}

}  // namespace limber::contact
