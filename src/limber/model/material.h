// Materials and cross-sections as they are described; elastic/ computes what follows from them.
#pragma once

#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "limber/math/types.h"

namespace limber {

// How a material gives way under a stress held for long: rate · (stress / `stress`)^exponent a second.
struct Aging {
  double rate = 0;      // [1/s]; 0: none
  double stress = 1;    // [Pa]
  double exponent = 1;  // at least 0
};

struct Material {
  std::string name;
  double E = 0;        // Young's modulus [Pa]
  double G = 0;        // shear modulus [Pa]
  double nu = 0;       // Poisson's ratio; G = E / (2 (1 + nu)) unless given on its own
  double density = 0;  // [kg/m³]
  double yield = std::numeric_limits<double>::infinity();     // yield stress [Pa]
  double strength = std::numeric_limits<double>::infinity();  // it breaks beyond this stress [Pa]
  Aging creep;    // the unloaded shape follows the loaded one, that part of the bend a second
  Aging fatigue;  // E and G fall, that part of them a second
};

// A section lies in the plane of the beam's local y and z axes, x along the beam. Coordinates are (y, z) [m].
struct Circle {
  double radius = 0;
};
struct Tube {
  double outer_radius = 0, inner_radius = 0;
};
struct Rectangle {
  double width = 0, height = 0;  // full sides along y and z
};
struct Ellipse {
  double a = 0, b = 0;  // semi-axes along y and z
};
struct Polygon {
  std::vector<Vec2> outline;  // either sense; not closed by repeating the first point
  std::vector<std::vector<Vec2>> holes;
};
using SectionShape = std::variant<Circle, Tube, Rectangle, Ellipse, Polygon>;

struct Section {
  std::string name;
  SectionShape shape;
};

}  // namespace limber
