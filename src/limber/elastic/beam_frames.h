// The local axes of a beam along its path: x along, y and z of the section, as untwisted as the path allows.
//
// At the root z is `up` made orthogonal to the tangent. From there the axes follow without turning about the
// tangent (rotation-minimising): by double reflection along curves (Wang, Jüttler, Zheng, Liu 2008, 4th order
// in the step), by the smallest rotation across a polyline's corner, and not at all along its straight
// segments.
#pragma once

#include <vector>

#include "limber/math/spatial.h"
#include "limber/model/beam.h"

namespace limber::elastic {

class BeamFrames {
 public:
  BeamFrames(const Path& path, const Vec3& up);

  double length() const { return length_; }  // [m]
  Pose at(double s) const;                   // local axes at s, in the frame that the path is given in
  // Places where the tangent jumps, rising, 0 and 1 included: between them the path is smooth.
  const std::vector<double>& breaks() const { return breaks_; }

 private:
  struct Station {
    double s;
    Vec3 point, tangent, z;
  };
  Station follow(const Station& from, double s) const;

  Path path_;
  double length_ = 0;
  std::vector<Station> stations_;
  std::vector<double> breaks_;
};

}  // namespace limber::elastic
