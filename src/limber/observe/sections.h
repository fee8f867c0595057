// Sections of beams that are links: what a cut carries, from what the beam's joints carry.
#pragma once

#include "limber/observe/source.h"

namespace limber::observe {

// A joint of a beam: what the part beyond pulls and turns with there.
struct SectionStation {
  double s = 0;              // along the beam, 0…1
  Vec3 at, force, moment;    // world axes [m, N, N·m]
  Vec3 bend = Vec3::Zero();  // rotation a metre: twist, and about the principal axes [1/m]
};

// Between two joints (s within theirs) in proportion; before the first and beyond the last one, where both
// are the same, the force is the joint's and its moment is carried to x. `axes`: of the section.
SectionReading section_between(const SectionStation& before, const SectionStation& after, double s,
                               const Vec3& x, const Mat3& axes);

// The joints of a beam around s: [first, second], the same one outside of them. `joints` ascends.
std::pair<std::size_t, std::size_t> joints_around(const std::vector<double>& joints, double s);

}  // namespace limber::observe
