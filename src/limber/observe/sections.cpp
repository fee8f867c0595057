// A chain of links carries its forces at its joints: F_k and M_k there are those of the structure. Between
// two of them F and M are taken in proportion, which is exact under forces at the joints; at the beam's ends
// M = M_k + (c_k − x) × F_k.
#include "limber/observe/sections.h"

#include <algorithm>

namespace limber::observe {

std::pair<std::size_t, std::size_t> joints_around(const std::vector<double>& joints, double s) {
  const auto beyond = static_cast<std::size_t>(std::ranges::upper_bound(joints, s) - joints.begin());
  if (beyond == 0) return {0, 0};
  return {beyond - 1, std::min(beyond, joints.size() - 1)};
}

SectionReading section_between(const SectionStation& before, const SectionStation& after, double s,
                               const Vec3& x, const Mat3& axes) {
  Vec3 force = before.force, moment = before.moment, bend = before.bend;
  if (before.s < after.s) {
    const double f = (s - before.s) / (after.s - before.s);
    force += f * (after.force - before.force);
    moment += f * (after.moment - before.moment);
    bend += f * (after.bend - before.bend);
  } else {
    moment += (before.at - x).cross(force);
  }
  SectionReading out;
  out.force = axes.transpose() * force, out.moment = axes.transpose() * moment;
  out.tension = out.force.x(), out.torque = out.moment.x();
  out.bending_moment = out.moment.tail<2>().norm();
  out.twist = bend.x(), out.curvature = bend.tail<2>().norm();
  return out;
}

}  // namespace limber::observe
