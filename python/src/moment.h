// One moment of a structure as numpy sees it, and what its columns are called.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "limber/result/snapshot.h"

namespace limber::python {

using LayoutPtr = std::shared_ptr<const result::Layout>;

inline constexpr std::size_t pose_width = 7;  // x, y, z [m], then the unit quaternion w, x, y, z

// Seven numbers a frame, from poses + 0 on.
inline void write_poses(const result::Snapshot& s, double* poses) {
  for (std::size_t i = 0; i < s.positions.size(); ++i, poses += pose_width) {
    const Vec3& x = s.positions[i];
    const Quat& q = s.rotations[i];
    poses[0] = x[0], poses[1] = x[1], poses[2] = x[2];
    poses[3] = q.w(), poses[4] = q.x(), poses[5] = q.y(), poses[6] = q.z();
  }
}
inline void write_points(const result::Snapshot& s, double* points) {
  for (const Vec3& p : s.points)
    for (int k = 0; k < 3; ++k) *points++ = p[k];
}

struct Moment {
  LayoutPtr layout;
  result::Snapshot snapshot;
};

}  // namespace limber::python
