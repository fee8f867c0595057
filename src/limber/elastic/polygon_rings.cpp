// Is this a polygon? All tests in coordinates scaled to order 1, so that one tolerance fits.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "limber/elastic/triangulate.h"

namespace limber::elastic {
namespace {

using Ring = std::vector<Vec2>;

// Points closer than this part of the polygon's size coincide.
constexpr double tolerance = 1e-9;

template <class... Args>
[[noreturn]] void reject(fmt::format_string<Args...> text, Args&&... args) {
  throw std::invalid_argument("polygon: " + fmt::format(text, std::forward<Args>(args)...));
}

std::string ring_name(std::size_t r) { return r == 0 ? "the outline" : fmt::format("hole {}", r); }

double signed_area(const Ring& ring) {
  double sum = 0;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const Vec2 a = ring[i] - ring[0], b = ring[(i + 1) % ring.size()] - ring[0];
    sum += a[0] * b[1] - a[1] * b[0];
  }
  return 0.5 * sum;
}

double distance_to_segment(const Vec2& p, const Vec2& a, const Vec2& b) {
  const Vec2 d = b - a;
  const double f = std::clamp((p - a).dot(d) / d.squaredNorm(), 0.0, 1.0);
  return (p - (a + f * d)).norm();
}

bool contains(const Ring& ring, const Vec2& p) {
  bool inside = false;
  for (std::size_t i = 0, j = ring.size() - 1; i < ring.size(); j = i++) {
    const Vec2 &a = ring[i], &b = ring[j];
    if ((a[1] > p[1]) != (b[1] > p[1]) && p[0] < a[0] + (p[1] - a[1]) / (b[1] - a[1]) * (b[0] - a[0]))
      inside = !inside;
  }
  return inside;
}

// Segments ab and cd have a point in common, or nearly.
bool segments_meet(const Vec2& a, const Vec2& b, const Vec2& c, const Vec2& d) {
  const Vec2 gap = (a.cwiseMin(b) - c.cwiseMax(d)).cwiseMax(c.cwiseMin(d) - a.cwiseMax(b));
  if (gap.maxCoeff() > tolerance) return false;
  const bool apart_cd = (orientation(a, b, c) > 0) == (orientation(a, b, d) > 0);
  const bool apart_ab = (orientation(c, d, a) > 0) == (orientation(c, d, b) > 0);
  if (!apart_cd && !apart_ab) return true;
  return std::min({distance_to_segment(c, a, b), distance_to_segment(d, a, b), distance_to_segment(a, c, d),
                   distance_to_segment(b, c, d)}) < tolerance;
}

void check_points(const Ring& ring, std::size_t r) {
  if (ring.size() < 3) reject("{} needs at least three points, got {}", ring_name(r), ring.size());
  for (std::size_t i = 0; i < ring.size(); ++i) {
    if (!ring[i].allFinite()) reject("point {} of {} is not finite", i + 1, ring_name(r));
    const std::size_t j = (i + 1) % ring.size();
    if ((ring[j] - ring[i]).norm() < tolerance)
      reject("points {} and {} of {} coincide{}", i + 1, j + 1, ring_name(r),
             j == 0 ? " (the outline closes by itself: leave out the repeated point)" : "");
  }
}

// Corners at which the ring turns; a turn straight back is an error.
Ring without_straight_points(const Ring& ring, std::size_t r) {
  Ring out;
  const std::size_t n = ring.size();
  for (std::size_t i = 0; i < n; ++i) {
    const Vec2 &a = ring[(i + n - 1) % n], &b = ring[i], &c = ring[(i + 1) % n];
    const double turn = static_cast<double>(orientation(a, b, c)) / ((b - a).norm() * (c - b).norm());
    if (std::abs(turn) > 1e-12) {
      out.push_back(b);
    } else if ((b - a).dot(c - b) < 0) {
      reject("{} turns straight back at point {}", ring_name(r), i + 1);
    }
  }
  if (out.size() < 3) reject("{} has no area", ring_name(r));
  return out;
}

void check_crossings(const std::vector<Ring>& rings) {
  for (std::size_t r = 0; r < rings.size(); ++r)
    for (std::size_t q = r; q < rings.size(); ++q)
      for (std::size_t i = 0; i < rings[r].size(); ++i)
        for (std::size_t j = r == q ? i + 1 : 0; j < rings[q].size(); ++j) {
          const std::size_t n = rings[r].size(), m = rings[q].size();
          const bool adjacent = r == q && (j == i + 1 || (i == 0 && j == n - 1));
          if (adjacent ||
              !segments_meet(rings[r][i], rings[r][(i + 1) % n], rings[q][j], rings[q][(j + 1) % m]))
            continue;
          if (r != q) reject("{} touches or crosses {}", ring_name(q), ring_name(r));
          reject("{} crosses or touches itself: its sides {} and {} meet", ring_name(r), i + 1, j + 1);
        }
}

void check_nesting(const std::vector<Ring>& rings) {
  for (std::size_t r = 1; r < rings.size(); ++r) {
    if (!contains(rings[0], rings[r][0])) reject("{} lies outside the outline", ring_name(r));
    for (std::size_t q = 1; q < rings.size(); ++q)
      if (q != r && contains(rings[q], rings[r][0])) reject("{} lies inside {}", ring_name(r), ring_name(q));
  }
}

}  // namespace

std::vector<Ring> polygon_rings(const Polygon& polygon) {
  std::vector<Ring> rings{polygon.outline};
  rings.insert(rings.end(), polygon.holes.begin(), polygon.holes.end());
  std::size_t count = 0;
  for (const Ring& ring : rings) count += ring.size();
  if (count > static_cast<std::size_t>(max_polygon_points))
    reject("at most {} points, got {}", max_polygon_points, count);

  // Scale to order 1 about the outline's middle for the tests, and back at the end.
  Vec2 low = Vec2::Constant(1e300), high = -low;
  for (const Vec2& p : polygon.outline) {
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  }
  const Vec2 middle = 0.5 * (low + high);
  const double size = 0.5 * (high - low).maxCoeff();
  if (polygon.outline.size() >= 3 && !(size > 0)) reject("the outline has no area");
  for (std::size_t r = 0; r < rings.size(); ++r) {
    for (Vec2& p : rings[r]) p = (p - middle) / size;
    check_points(rings[r], r);
    rings[r] = without_straight_points(rings[r], r);
  }
  check_crossings(rings);
  check_nesting(rings);
  for (std::size_t r = 0; r < rings.size(); ++r) {
    const double area = signed_area(rings[r]);
    if (std::abs(area) < 1e-12) reject("{} has no area", ring_name(r));
    if ((area > 0) != (r == 0)) std::reverse(rings[r].begin(), rings[r].end());
    for (Vec2& p : rings[r]) p = middle + size * p;
  }
  return rings;
}

}  // namespace limber::elastic
