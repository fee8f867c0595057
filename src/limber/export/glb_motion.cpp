// Segments turn by parallel transport from frame to frame: q' = (shortest rotation that takes the old
// direction to the new) q, so that a cylinder never spins about its own axis between two frames.
#include "limber/export/glb_motion.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "limber/export/mesh.h"
#include "limber/math/so3.h"

namespace limber::exporting {
namespace {

using result::Layout;
using result::Snapshot;

constexpr double thin_line = 0.003;        // radius of a line without one, as a part of the scene's size
constexpr double shortest_segment = 1e-4;  // as a part of its radius: a zero scale would have no inverse
constexpr double largest_number = 1e30;    // its products still are far from 3e38
constexpr std::size_t pose_bytes = 7 * sizeof(float), scale_bytes = 3 * sizeof(float);

// The shortest rotation between unit vectors.
Quat rotation_between(const Vec3& a, const Vec3& b) {
  const double c = a.dot(b);
  // Opposite within rounding: half a turn about any axis across.
  if (c < -1 + 1e-12) {
    const Vec3 axis = a.cross(std::abs(a.x()) < 0.5 ? Vec3::UnitX() : Vec3::UnitY()).normalized();
    return Quat(0, axis.x(), axis.y(), axis.z());
  }
  const Vec3 v = a.cross(b);
  return Quat(1 + c, v.x(), v.y(), v.z()).normalized();
}

double scene_size(const Layout& layout, const Snapshot& snapshot) {
  Eigen::AlignedBox3d box;
  for (std::size_t f = 0; f < layout.frames.size(); ++f) {
    const Vec3& p = snapshot.positions[f];
    if (!p.allFinite()) continue;
    box.extend(p);
    for (const Shape& shape : layout.frames[f].shapes) {
      const double r = bounding_radius(shape.geometry) + shape.X_BG.p.norm();
      box.extend(p + Vec3::Constant(r));
      box.extend(p - Vec3::Constant(r));
    }
  }
  for (const Vec3& p : snapshot.points)
    if (p.allFinite()) box.extend(p);
  const double size = box.isEmpty() ? 0 : box.diagonal().norm();
  return size > 0 && size < largest_number ? size : 1;
}

std::vector<Segment> make_segments(const Layout& layout, std::size_t stride) {
  std::vector<Segment> segments;
  std::size_t begin = 0;
  for (std::size_t k = 0; k < layout.polylines.size(); ++k) {
    const auto points = static_cast<std::size_t>(layout.polylines[k].points);
    const bool swept = !layout.polylines[k].outline.empty();
    for (std::size_t i = 0; !swept && i + 1 < points; i += stride) {
      Segment segment;
      segment.polyline = k;
      segment.first = begin + i;
      segment.last = begin + std::min(i + stride, points - 1);
      segment.radius = layout.polylines[k].radius;
      segments.push_back(std::move(segment));
    }
    begin += points;
  }
  return segments;
}

// Every stride-th point is a ring, fewer where their corners would be more than 16-bit indices reach.
std::vector<SweptLine> make_swept(const Layout& layout, std::size_t stride) {
  constexpr std::size_t most_corners = 60'000;
  std::vector<SweptLine> out;
  for (const Sweep& sweep : sweeps_of(layout)) {
    const std::size_t room = std::max<std::size_t>(2, most_corners / (2 * sweep.outline.size()) - 2);
    const std::size_t step = std::max(stride, (sweep.points - 1 + room - 1) / room);
    SweptLine line{sweep, {}, {}};
    for (std::size_t i = 0; i < sweep.points - 1; i += step) line.rings.push_back(i);
    line.rings.push_back(sweep.points - 1);
    line.tracks.resize(line.rings.size());
    out.push_back(std::move(line));
  }
  return out;
}

void add_sample(SweptLine& line, const Snapshot& snapshot) {
  for (std::size_t i = 0; i < line.rings.size(); ++i) {
    const std::size_t ring = line.rings[i];
    const Vec3& x = snapshot.points[line.sweep.line + ring];
    const Vec3 y = snapshot.points[line.sweep.y + ring] - x, z = snapshot.points[line.sweep.z + ring] - x;
    const Vec3 normal = y.cross(z);
    Track& track = line.tracks[i];
    if (!(normal.squaredNorm() > 1e-60)) {  // no section: as it was
      track.add_pose(x, Quat(std::numeric_limits<double>::quiet_NaN(), 0, 0, 0));
      track.add_scale(Vec3::Constant(std::numeric_limits<double>::quiet_NaN()));
      continue;
    }
    Mat3 R;
    R.col(0) = normal.normalized();
    R.col(1) = y.normalized();
    R.col(2) = R.col(0).cross(R.col(1));
    track.add_pose(x, math::to_quat(R));
    track.add_scale({y.norm(), y.norm(), z.dot(R.col(2))});
  }
}

std::size_t segment_count(const Layout& layout) {
  std::size_t count = 0;
  for (const result::PolylineInfo& line : layout.polylines)
    count += static_cast<std::size_t>(std::max(line.points - 1, 0));
  return count;
}

// Every stride-th frame fits into the budget; the first and the last are always among them.
std::uint64_t frame_stride(std::uint64_t recorded, std::size_t bytes_per_frame, std::size_t budget) {
  const std::uint64_t room = std::max<std::uint64_t>(2, budget / std::max<std::size_t>(bytes_per_frame, 1));
  return recorded <= room ? 1 : (recorded - 1 + room - 2) / (room - 1);
}

void add_sample(Segment& segment, const Snapshot& snapshot) {
  const Vec3& a = snapshot.points[segment.first];
  const Vec3& b = snapshot.points[segment.last];
  const Vec3 d = b - a;
  const double length = d.norm(), shortest = shortest_segment * segment.radius;
  // A direction that stays keeps its turn to the last bit: no channel for what does not move.
  if (std::isfinite(length) && length > shortest && d / length != segment.direction) {
    segment.direction = d / length;
    const Vec3 before = math::to_matrix(segment.turn).col(2);
    segment.turn =
        math::normalized(math::multiply(rotation_between(before, segment.direction), segment.turn));
  }
  segment.track.add_pose(0.5 * (a + b), segment.turn);
  segment.track.add_scale({segment.radius, segment.radius, std::max(length, shortest)});
}

}  // namespace

float to_float(double x) { return static_cast<float>(std::clamp(x, -largest_number, largest_number)); }

void Track::add_pose(const Vec3& p, const Quat& q) {
  const bool first = translation.empty();
  const std::size_t n3 = translation.size(), n4 = rotation.size();
  for (int i = 0; i < 3; ++i) {
    const float before = first ? 0.0f : translation[n3 - 3 + static_cast<std::size_t>(i)];
    translation.push_back(std::isfinite(p[i]) ? to_float(p[i]) : before);
  }
  const Eigen::Vector4f before =
      first ? Eigen::Vector4f(0, 0, 0, 1) : Eigen::Vector4f(Eigen::Map<Eigen::Vector4f>(&rotation[n4 - 4]));
  const double norm = q.coeffs().norm();
  Eigen::Vector4f now = before;
  if (std::isfinite(norm) && norm > 0) now = (q.coeffs() / norm).cast<float>();
  if (!first && now.dot(before) < 0) now = -now;
  rotation.insert(rotation.end(), now.data(), now.data() + 4);
}

void Track::add_scale(const Vec3& s) {
  const std::size_t n = scale.size();
  for (int i = 0; i < 3; ++i) {
    const float before = n == 0 ? 1.0f : scale[n - 3 + static_cast<std::size_t>(i)];
    scale.push_back(std::isfinite(s[i]) ? to_float(s[i]) : before);
  }
}

Motion read_motion(result::RecordingReader& recording, const GlbLimits& limits) {
  const Layout& layout = recording.layout();
  const std::uint64_t recorded = recording.frame_count();
  Motion motion;
  if (recorded == 0) return motion;

  const std::size_t segments = segment_count(layout), most = std::max<std::size_t>(limits.segments, 1);
  motion.point_stride = std::max<std::size_t>(1, (segments + most - 1) / most);
  motion.segments = make_segments(layout, motion.point_stride);
  motion.swept = make_swept(layout, motion.point_stride);
  std::size_t moving = motion.segments.size();
  for (const SweptLine& line : motion.swept) moving += line.rings.size();
  std::size_t bytes_per_frame = moving * (pose_bytes + scale_bytes);
  for (std::size_t f = 0; f < layout.frames.size(); ++f) {
    if (layout.frames[f].shapes.empty()) continue;
    motion.frames.push_back({f, {}});
    if (!layout.frames[f].fixed) bytes_per_frame += pose_bytes;
  }

  const std::uint64_t stride = frame_stride(recorded, bytes_per_frame, limits.animation_bytes);
  std::optional<double> start;
  Snapshot snapshot;
  for (std::uint64_t i = 0;; i = std::min(i + stride, recorded - 1)) {
    recording.read(i, snapshot);
    if (!start) {
      start = std::isfinite(snapshot.time) ? snapshot.time : 0;
      const double thin = thin_line * scene_size(layout, snapshot);
      for (Segment& segment : motion.segments)
        if (!(segment.radius > 0)) segment.radius = thin;
    }
    // glTF wants increasing times, also after rounding.
    const float time = to_float(snapshot.time - *start);
    if (motion.times.empty() || time > motion.times.back()) {
      const bool first = motion.times.empty();
      motion.times.push_back(first ? 0.0f : time);
      for (MovingFrame& frame : motion.frames)
        if (first || !layout.frames[frame.frame].fixed)
          frame.track.add_pose(snapshot.positions[frame.frame], snapshot.rotations[frame.frame]);
      for (Segment& segment : motion.segments) add_sample(segment, snapshot);
      for (SweptLine& line : motion.swept) add_sample(line, snapshot);
    }
    if (i == recorded - 1) return motion;
  }
}

}  // namespace limber::exporting
