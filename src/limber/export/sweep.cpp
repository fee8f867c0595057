#include "limber/export/sweep.h"

namespace limber::exporting {

Vec3 Sweep::at(const result::Snapshot& snapshot, std::size_t ring, const Vec2& corner) const {
  const Vec3& x = snapshot.points[line + ring];
  return x + corner[0] * (snapshot.points[y + ring] - x) + corner[1] * (snapshot.points[z + ring] - x);
}

std::vector<Sweep> sweeps_of(const result::Layout& layout) {
  std::vector<Sweep> out;
  std::size_t first = 0;
  for (std::size_t k = 0; k < layout.polylines.size(); ++k) {
    const auto n = static_cast<std::size_t>(layout.polylines[k].points);
    if (!layout.polylines[k].outline.empty() && n >= 2)
      out.push_back({k, first, first + n, first + 2 * n, n, layout.polylines[k].outline});
    first += n;
  }
  return out;
}

std::vector<RingCorner> ring_of(const std::vector<Vec2>& outline) {
  constexpr double smooth = 0.75;  // cosine between two faces that look like one, about 40 degrees
  const std::size_t n = outline.size();
  const auto normal = [&](std::size_t i) {  // of the face from corner i on; counter-clockwise
    const Vec2 d = outline[(i + 1) % n] - outline[i % n];
    return d.squaredNorm() > 0 ? Vec2(Vec2(d[1], -d[0]).normalized()) : Vec2(1, 0);
  };
  std::vector<RingCorner> out;
  for (std::size_t i = 0; i < n; ++i) {
    const Vec2 before = normal(i + n - 1), after = normal(i);
    if (before.dot(after) > smooth) {
      out.push_back({outline[i], (before + after).normalized(), true});
      continue;
    }
    out.push_back({outline[i], before, false});
    out.push_back({outline[i], after, true});
  }
  return out;
}

}  // namespace limber::exporting
