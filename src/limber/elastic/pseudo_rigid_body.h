// Pseudo-rigid-body recipes: an elastic element of length l as rigid links and sprung joints at x_m l.
//
// Published: 1R for a moment load (Hall 2013, eq. 3.1–3.4) and 3R for combined load (eq. 3.6–3.8, 4.10).
// Consistent: the joints' compliances c_m (in units of l/EI, and the same for twist, l/GJ) satisfy Σc = 1, Σc
// x = ½, which makes a chain of elements approach the rod at second order; the published ones do not, and
// reach first order only.
//
// published_1r's own rule turns the element's tip by c_θ times its joint's angle, so that the moment it
// balances is not the gradient of any potential. As links that rule is lost: what is left is its joint, c_θ
// = 1.5164 times as stiff in bending as the rod whatever the number of elements. Only the published sweeps
// (chain/sweeps.cpp) follow the rule; the table of features refuses it everywhere else.
#pragma once

#include <vector>

#include "limber/model/beam.h"

namespace limber::elastic {

struct RecipeJoint {
  double x = 0;                 // position along the element, in 0…1
  double bend_compliance = 0;   // joint stiffness = (EI/l) / this
  double twist_compliance = 0;  // joint stiffness = (GJ/l) / this
};

std::vector<RecipeJoint> recipe_joints(Recipe recipe);
const char* to_string(Recipe recipe);

}  // namespace limber::elastic
