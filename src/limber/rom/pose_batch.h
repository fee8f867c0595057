// Poses of many links from their twist maps, four links at a time: X_l = X_l⁰ exp(B_l u). The exponential is
// three power series in |θ|², which need no range reduction up to half a turn; a link that has turned further
// takes the plain way.
#pragma once

#include <vector>

#include "limber/math/spatial.h"

namespace limber::rom {

// The maps of one point in blocks of four links: [block][column][6][4], and the poses [block][12][4].
struct LinkMaps {
  int links = 0, columns = 0;
  std::vector<double> map, pose;
  const double* map_of(int block) const {
    return map.data() + static_cast<std::size_t>(block) * columns * 24;
  }
  const double* pose_of(int block) const { return pose.data() + static_cast<std::size_t>(block) * 48; }
};
LinkMaps make_maps(const std::vector<Pose>& X, const std::vector<double>& map, int columns);

// Fills X (links) for coordinates u (columns); [begin, end) in blocks.
void pose_blocks(const LinkMaps& maps, const double* u, int begin, int end, Pose* X);

// A weighted mean of poses that are near each other: quaternions of one sign, and places.
struct PoseMean {
  Eigen::Vector4d q = Eigen::Vector4d::Zero();
  Vec3 p = Vec3::Zero();
  void add(double weight, const Pose& X);
  Pose pose() const;
};

// What one point adds to a blend: its poses at u with a weight, and its part of the twist B bend that moves
// the mean.
struct BlendPart {
  const LinkMaps* maps = nullptr;
  double weight = 0;
  const double *u = nullptr, *bend = nullptr;  // (columns)
};
void blended_blocks(const std::vector<BlendPart>& parts, int begin, int end, Pose* X);

}  // namespace limber::rom
