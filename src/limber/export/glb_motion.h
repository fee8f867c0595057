// How the drawn things of a recording move, as single-precision samples for glTF.
#pragma once

#include <cstdint>
#include <vector>

#include "limber/export/glb.h"
#include "limber/export/sweep.h"
#include "limber/math/types.h"

namespace limber::exporting {

// Within what every viewer can multiply in single precision.
float to_float(double x);

// One node's samples: finite, quaternions of unit length and without jumps in sign.
class Track {
 public:
  std::vector<float> translation;  // (n x 3)
  std::vector<float> rotation;     // (n x 4) x y z w
  std::vector<float> scale;        // (n x 3), or empty for 1

  // A sample that is not finite repeats the one before it (no move, no turn, at the start).
  void add_pose(const Vec3& p, const Quat& q);
  void add_scale(const Vec3& s);
};

struct MovingFrame {
  std::size_t frame = 0;  // index in the layout
  Track track;
};

// A piece of a polyline, drawn as a cylinder of unit radius and length along z, scaled.
struct Segment {
  std::size_t polyline = 0;         // index in the layout
  std::size_t first = 0, last = 0;  // points in the snapshot
  double radius = 0;                // [m]
  Vec3 direction = Vec3::Zero();    // of the sample before, and how it was turned
  Quat turn = Quat::Identity();
  Track track;
};

// A section swept along a polyline: rings of corners, each moved by a joint. The joint's frame has x along
// the line, y and z in the section, scaled so that the outline's corners are its coordinates.
struct SweptLine {
  Sweep sweep;
  std::vector<std::size_t> rings;  // points of the line
  std::vector<Track> tracks;       // (rings)
};

struct Motion {
  std::vector<float> times;         // since the first frame, increasing [s]; empty if nothing was recorded
  std::vector<MovingFrame> frames;  // those with shapes
  std::vector<Segment> segments;
  std::vector<SweptLine> swept;
  std::size_t point_stride = 1;  // a segment spans so many pieces of the polyline
};

Motion read_motion(result::RecordingReader& recording, const GlbLimits& limits);

}  // namespace limber::exporting
