// What a cross-section does in bending, torsion and shear.
#pragma once

#include "limber/model/material.h"

namespace limber::elastic {

struct SectionConstants {
  double A = 0;                     // area [m²]
  Vec2 centroid{0, 0};              // in the section's own coordinates (y, z) [m]; all below is about it
  double I_y = 0, I_z = 0;          // ∫z² dA, ∫y² dA [m⁴]
  double I_yz = 0;                  // ∫yz dA [m⁴]
  double J = 0;                     // torsion constant: torque = G J · twist rate [m⁴]
  double shear_y = 1, shear_z = 1;  // Timoshenko factors: shear force = factor · G A · shear angle
  double y_max = 0, z_max = 0;      // largest distance of the outline from the centroid along each axis [m]
  double radius = 0;                // of the circle of equal area, to draw a polyline [m]
};

// Circle, tube, rectangle, ellipse by closed form or series; polygons by finite elements on a triangulation.
// Throws std::invalid_argument for a shape that is none (crossing outline, hole outside, zero area).
SectionConstants section_constants(const SectionShape& shape);

// The axes without ∫yz dA: the section's own, turned about x by `angle` in −45°…45°.
struct PrincipalMoments {
  double angle = 0;         // [rad]
  double I_y = 0, I_z = 0;  // about the turned axes [m⁴]
};
PrincipalMoments principal_moments(const SectionConstants& c);

}  // namespace limber::elastic
