// Loads: what pushes on the structure from outside. Each is a constant or a function of time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "limber/model/body.h"
#include "limber/model/time_function.h"

namespace limber {

struct PointLoad {
  std::string name;
  Attachment at;
  VectorFunction force;   // [N]
  VectorFunction moment;  // [N·m]
  bool follows = false;   // components in the body's axes (a follower load) instead of the world's
  LoadId of;              // of links: the load as written that it is a part of
};

struct DistributedLoad {
  std::string name;
  BeamId beam;
  double s0 = 0, s1 = 1;            // between these fractions of the length
  VectorFunction force_per_length;  // [N/m]
  bool follows = false;             // in the beam's local axes
};

// A vehicle that crosses a row of bodies. At every moment its weight stands on the two bodies whose middles
// are nearest around it, shared so that it passes from one to the next without a jump.
struct Rider {
  std::string name;
  std::vector<BodyId> bodies;        // in order of travel
  std::vector<Attachment> from, to;  // where each body's stretch of road begins and ends, on that body
  double mass = 0;                   // [kg]
  TimeFunction position;  // [m] along the road from the first body's beginning; outside the road: not there
  std::vector<Shape> shapes;  // drawn on the road: origin on it, x along it, z as near to up as can be
  std::optional<Color> color;
};

// What changes while the structure stands under load (quasi-static histories).
struct Change {
  enum class Kind : std::uint8_t { material, section, grow, cut };
  double at = 0;  // [s]
  Kind kind = Kind::material;
  BeamId beam;
  MaterialId material;
  SectionId section;
  double s = 0;  // cut: where along the beam
};

// Drag of moving air on every body with a shape (beams: their links): F = ½ ρ C_d A |u| u at the centre of
// the shape, u the wind less the body's velocity, A the shape's area seen along u.
struct Wind {
  VectorFunction velocity;     // [m/s]
  double air_density = 1.225;  // [kg/m³]
  double drag_coefficient = 1;
};

}  // namespace limber
