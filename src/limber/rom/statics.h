// Where a reduced mechanism rests under loads on its ends, and how far its links come apart there.
#pragma once

#include "limber/rom/blend.h"

namespace limber::rom {

struct ReducedRest {
  bool ok = false;
  VecX a;               // coordinates
  std::vector<Pose> X;  // (links)
  double distance = 0;  // of the ends from the rest point: half turns and radii
};

// Wrenches: dead, axes of the base's frame, at the ends' origins.
ReducedRest rest_under(const Mechanism& mechanism, const std::vector<Vec6>& wrenches, const VecX& input);

// Distances of the joints' two halves, summed, of the radius (Andrews et al., section 8.2).
double joint_gap(const Mechanism& mechanism, const std::vector<Pose>& X);

// Distance of two sets of ends: rotations over π, places over the radius, the largest of all ends.
double end_error(const Mechanism& mechanism, const std::vector<Pose>& a, const std::vector<Pose>& b);

}  // namespace limber::rom
