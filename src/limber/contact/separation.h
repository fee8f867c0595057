// How far two convex cores are apart, or how deep one is in the other, and along which normal.
//
//   gap = max over unit n of s(n),   s(n) = min_{x in a} n·x − max_{y in b} n·y
//
// positive apart, negative overlapping (then −gap is the shortest way out). For cores with corners the
// maximum of an overlap lies at a face's normal or at the normal of an edge of each (separating axes; pairs
// of edges that make no face of the difference are skipped by their neighbours' directions), so it is exact.
// Apart, gjk gives it. A cylinder has infinitely many normals: those of its caps, of the other's faces and
// edges, and a climb from the best of them to the next maximum. Any n bounds the depth from above, so that
// moving out by −s(n) always frees the bodies.
#pragma once

#include "limber/contact/convex.h"

namespace limber::contact {

struct Separation {
  double gap = 0;                                 // of the cores
  Vec3 n = Vec3::UnitZ();                         // unit, from b to a
  Vec3 on_a = Vec3::Zero(), on_b = Vec3::Zero();  // on the cores, one pair of touching points
};

// False: the gap is more than `margin`, and nothing else is known.
bool separate(const Convex& a, const Convex& b, double margin, Convex& scratch, Separation& out);

}  // namespace limber::contact
