// Poses of many links from their twist maps, four links at a time: X_l = X_l⁰ exp(Σ B_l x). The exponential
// is three power series in |θ|², which need no range reduction up to half a turn; a link that has turned
// further takes the plain way.
#pragma once

#include <vector>

#include "limber/math/spatial.h"

namespace limber::rom {

// Twists of one point in blocks of four links: [block][column][6][4], and the poses [block][12][4].
struct LinkMaps {
  int links = 0, columns = 0;
  std::vector<double> map, pose;
  const double* map_of(int block) const {
    return map.data() + static_cast<std::size_t>(block) * columns * 24;
  }
  const double* pose_of(int block) const { return pose.data() + static_cast<std::size_t>(block) * 48; }
};
LinkMaps make_maps(const std::vector<Pose>& X, const std::vector<double>& map, int columns);

// What one point adds to the twists: its columns times these.
struct BlendPart {
  const LinkMaps* maps = nullptr;
  const double* x = nullptr;  // (columns)
};

// Fills X (links): poses of the first part's maps, moved by the exponential of the sum; [begin, end) in
// blocks.
void pose_blocks(const std::vector<BlendPart>& parts, int begin, int end, Pose* X);

}  // namespace limber::rom
