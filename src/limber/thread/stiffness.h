// The constant stiffness and mass of an element of given length, from material and section.
//
// The paper's field, eq. 4: u = cubic Hermite along the midline, directors d_y, d_z linear between the nodes.
// Its element matrix as printed (eq. 17) uses full three-dimensional elasticity over the section; since the
// section cannot contract unevenly under bending, bending is then stiffer by (1−ν)/((1+ν)(1−2ν)) on any mesh.
// Here diag(E, E, E, G, G, G) is integrated over the section and the rest, the Poisson coupling, on the
// midline. Torsion uses the section's constant J and shear its factor k, since the field cannot warp.
// The rotation of the section may bulge inside an element by b·6ξ(1−ξ) (b eliminated), so that a straight
// element is exact for any load at its ends, as the Timoshenko beam's.
#pragma once

#include "limber/elastic/section_constants.h"
#include "limber/model/material.h"
#include "limber/thread/element.h"

namespace limber::thread {

// A section about its centroid and principal axes, with its material.
struct Rod {
  double E = 0, G = 0, nu = 0, density = 0;
  double A = 0, I_y = 0, I_z = 0, J = 0;  // I_y = ∫z², I_z = ∫y²
  double shear_y = 1, shear_z = 1;
  double angle = 0;     // of the principal axes against the section's own, about x [rad]
  Vec2 centroid{0, 0};  // in the section's own axes
  double radius = 0;    // for contact: of the smallest circle about the centroid that holds the section
  double damping = 0;   // stress a rate of strain over stress a strain [s]
  double air = 0;       // mass-proportional damping [1/s]
};
Rod make_rod(const Material& material, const SectionShape& shape);

struct ElementStiffness {
  double k[slot::rest] = {};                       // rows axial … skew_yz of the slots' constants
  double off_mass[6] = {};                         // xx, xs, sx, ss, yy, zz between the nodes
  double first_mass[5] = {}, second_mass[5] = {};  // shares of the nodes' own: xx, xs, ss, yy, zz
};
ElementStiffness element_stiffness(const Rod& rod, double length);

}  // namespace limber::thread
