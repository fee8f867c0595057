// Cables: one elastic length over guides, tension T = k max(L − L0, 0) plus damping; see
// docs/theory/cables.md.
//
// A guide is a point that the cable slides through (an eyelet), or a pulley: a circle on a body about its
// axis, round which the cable runs in a sense. A cable slides over its guides without friction, unless they
// grip or rub. A pulley at an end is a drum: the cable is fixed to its rim and winds up on it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "limber/model/body.h"
#include "limber/model/time_function.h"

namespace limber {

struct CableGuide {
  Attachment at;              // the eyelet, or the centre of the pulley
  double radius = 0;          // [m] of a pulley; 0: an eyelet
  Vec3 axis = Vec3::UnitZ();  // of a pulley, in the axes of its body
  int sense = 1;              // +1: the cable runs counter-clockwise about the axis, −1: clockwise
  int turns = 0;              // full turns of wrap beyond the least one at t = 0
  bool grip = false;          // the cable does not slide on it
  double friction = 0;        // Coulomb's coefficient; 0: none
  bool holds() const { return grip || friction > 0; }  // tensions on its two sides differ
};

struct Cable {
  std::string name;
  std::vector<CableGuide> route;  // from its start to its end
  bool closed = false;            // the end is tied to the start: a belt
  double stiffness = 0;           // [N/m] of the whole length; 0: by EA
  double EA = 0;                  // [N]
  double damping = 0;             // [N·s/m] of the whole length
  double rest_length = -1;        // [m] of what is off the drums at t = 0; negative: by the pretension
  double pretension = 0;          // [N] at t = 0
  TimeFunction winch;             // [m] taken in at its start
  std::optional<Color> color;
};

// Whether the cable is fixed to the guide: a drum at an end.
inline bool is_drum(const Cable& cable, std::size_t guide) {
  return !cable.closed && cable.route[guide].radius > 0 && (guide == 0 || guide + 1 == cable.route.size());
}

}  // namespace limber
