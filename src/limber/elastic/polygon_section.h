// The constants of a polygon: area and moments exactly by boundary integrals, torsion and shear by finite
// elements.
#pragma once

#include "limber/elastic/section_constants.h"

namespace limber::elastic {

struct PolygonSection {
  SectionConstants constants;       // J: the mean of the two bounds
  double J_lower = 0, J_upper = 0;  // [m⁴]; the true J of this polygon lies between
  int triangles = 0;                // of the last mesh
};

PolygonSection polygon_section(const Polygon& polygon);

}  // namespace limber::elastic
