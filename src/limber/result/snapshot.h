// What output and viewer see of a simulation: named frames, polylines and scalars. Nothing here knows of a
// method.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "limber/math/spatial.h"
#include "limber/model/body.h"

namespace limber::result {

// A named frame that moves (a body), with the shapes drawn in it.
struct FrameInfo {
  std::string name;
  std::vector<Shape> shapes;
  std::optional<Color> color;
  bool fixed = false;  // never moves
};

// A named line of points that moves (a beam, a spring, a thread).
struct PolylineInfo {
  std::string name;
  int points = 0;
  double radius = 0;  // to draw it with [m]; 0: a thin line
  std::optional<Color> color;
  // Corners (a, b) of a section that is swept along the line, counter-clockwise; empty: round, of the radius.
  // A corner stands at x + a (y − x) + b (z − x), with x a point of the line and y and z those of the two
  // polylines that follow it, which are as long: stripes along the surface.
  std::vector<Vec2> outline = {};
};

struct ScalarInfo {
  std::string name;  // "finger.tip.position.x", "energy.total"
  std::string unit;  // "m", "J", "" for a pure number
};

// Fixed for a whole run.
struct Layout {
  std::string title;
  std::vector<FrameInfo> frames;
  std::vector<PolylineInfo> polylines;
  std::vector<ScalarInfo> scalars;
  std::string frame_value;  // name of a number in 0 … 1 that every frame carries, to color it by; empty: none
  std::size_t point_count() const;
};

// One moment. Sizes follow the Layout; a polyline's points stand one after the other, in the layout's order.
struct Snapshot {
  double time = 0;              // [s]
  std::vector<Quat> rotations;  // of each frame in the world, unit, w ≥ 0
  std::vector<Vec3> positions;  // of each frame's origin [m]
  std::vector<Vec3> points;     // [m]
  std::vector<double> scalars;
  std::vector<double> values;  // of each frame, if the layout has a frame_value
  void resize(const Layout& layout);
};

}  // namespace limber::result
