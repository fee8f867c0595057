// Stress along the beams of a chain at rest, at the section's worst point, and which elements left the range
// of their recipe.
#pragma once

#include <string>
#include <vector>

#include "limber/chain/chain.h"

namespace limber::chain {

struct Stress {
  double bending = 0, torsion = 0, axial = 0;  // largest of each in the section [Pa]; axial with its sign
  double combined = 0;                         // von Mises at the worst point
};

// Of a section under force and moments: N along x, T about x, M_y and M_z about the principal axes. Circles,
// tubes and ellipses: exact for St Venant's torsion, ellipses combined from above. Rectangles: exact at the
// corners and the middles of the sides, where the extremes are. Polygons: bending exact, torsion from above.
Stress section_stress(const SectionShape& shape, const elastic::SectionConstants& constants, double N,
                      double T, double M_y, double M_z);

struct Station {
  int beam = 0;
  double s = 0;        // along the beam
  int link = -1;       // the joint there; −1: the root
  Vec3 force, moment;  // on what lies beyond, section's principal axes [N, N·m]
  Stress stress;
  double safety = 0;  // yield / combined; inf without load or yield stress
  bool yields = false, breaks = false;
};

// Every joint of every beam, and the roots, in the order of the beams. solver.evaluate() is called.
std::vector<Station> stresses(const System& system, Solver& solver, const Rest& rest);

struct RangeWarning {
  std::string beam;
  int element = 0;  // from 0
  std::string why;
};
std::vector<RangeWarning> out_of_range(const System& system, const std::vector<Station>& stations,
                                       const Rest& rest);

// What holds a beam's root and the ties.
struct Reaction {
  std::string name;        // beam or tie
  Vec3 at, force, moment;  // on the beam, world axes [m, N, N·m]
};
std::vector<Reaction> reactions(const System& system, Solver& solver, const Rest& rest);
// One of them, as the solver stands: of the link's joint, at a beam's first joint of the beam's root; of a
// closure.
Reaction joint_reaction(const System& system, const Solver& solver, const Rest& rest, int link);
Reaction root_reaction(const System& system, const Solver& solver, const Rest& rest, int link);
Reaction closure_reaction(const System& system, const Solver& solver, int closure);

}  // namespace limber::chain
