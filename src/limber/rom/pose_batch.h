// Poses of many links from their twist maps, four links at a time: X_l = X_l⁰ exp(B_l u). The exponential is
// three power series in |θ|², which need no range reduction up to half a turn; a link that has turned further
// takes the plain way.
#pragma once

#include "limber/math/spatial.h"

namespace limber::rom {

// The maps of one point in blocks of four links: [block][column][6][4], and the poses [block][12][4].
struct LinkMaps {
  int links = 0, columns = 0;
  std::vector<double> map, pose;
};
LinkMaps make_maps(const std::vector<Pose>& X, const std::vector<double>& map, int columns);

// Fills X (links) for coordinates u (columns); [begin, end) in blocks.
void pose_blocks(const LinkMaps& maps, const double* u, int begin, int end, Pose* X);

}  // namespace limber::rom
