#include "limber/result/snapshot.h"

namespace limber::result {

std::size_t Layout::point_count() const {
  std::size_t count = 0;
  for (const PolylineInfo& line : polylines) count += static_cast<std::size_t>(line.points);
  return count;
}

void Snapshot::resize(const Layout& layout) {
  rotations.resize(layout.frames.size(), Quat::Identity());
  positions.resize(layout.frames.size(), Vec3::Zero());
  points.resize(layout.point_count(), Vec3::Zero());
  scalars.resize(layout.scalars.size(), 0.0);
  values.resize(layout.frame_value.empty() ? 0 : layout.frames.size(), 0.0);
}

}  // namespace limber::result
