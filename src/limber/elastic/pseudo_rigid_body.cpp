// The numbers of the recipes.
//
// Published 3R (Su 2009, Chen 2011; Hall 2013 eq. 4.10): links γ, bending stiffness κ_m EI/l, twist GJ/(l
// λ_m) with λ_m = γ_{m+1}/(γ₂ + γ₃ + γ₄). Σ1/κ = 0.9988 and Σλx = 0.396 instead of 1 and ½: first order only.
// Published 1R (Howell 2001; Hall 2013 eq. 3.1–3.5, 3.9): joint at γ₁, stiffness c_θ EI/l with c_θ = γ₂ κ,
// twist GJ/l. Consistent 3R: the published joint positions, with the compliances of the quadrature rule that
// is exact to second degree there: Σc = 1, Σc x = ½, Σc x² = ⅓. Consistent 1R: the midpoint rule.
#include "limber/elastic/pseudo_rigid_body.h"

#include <array>

namespace limber::elastic {
namespace {

constexpr std::array<double, 4> gamma_3r{0.12525, 0.35025, 0.38825, 0.13625};
constexpr std::array<double, 3> kappa_3r{3.25, 2.84, 2.95};
constexpr std::array<double, 3> x_3r{gamma_3r[0], gamma_3r[0] + gamma_3r[1],
                                     gamma_3r[0] + gamma_3r[1] + gamma_3r[2]};
constexpr double gamma1_1r = 0.2654, gamma2_1r = 0.7346, kappa_1r = 2.0643;

// ∫₀¹ of the Lagrange polynomial that is 1 at x_m and 0 at the two others.
constexpr double interpolatory_weight(int m) {
  const double a = x_3r[(m + 1) % 3], b = x_3r[(m + 2) % 3];
  return (1.0 / 3 - (a + b) / 2 + a * b) / ((x_3r[m] - a) * (x_3r[m] - b));
}

}  // namespace

std::vector<RecipeJoint> recipe_joints(Recipe recipe) {
  std::vector<RecipeJoint> joints;
  switch (recipe) {
    case Recipe::consistent_3r:
      for (int m = 0; m < 3; ++m)
        joints.push_back({x_3r[m], interpolatory_weight(m), interpolatory_weight(m)});
      break;
    case Recipe::consistent_1r:
      joints.push_back({0.5, 1, 1});
      break;
    case Recipe::published_3r:
      for (int m = 0; m < 3; ++m)
        joints.push_back({x_3r[m], 1 / kappa_3r[m], gamma_3r[m + 1] / (1 - gamma_3r[0])});
      break;
    case Recipe::published_1r:
      joints.push_back({gamma1_1r, 1 / (gamma2_1r * kappa_1r), 1});
      break;
  }
  return joints;
}

const char* to_string(Recipe recipe) {
  switch (recipe) {
    case Recipe::consistent_3r:
      return "consistent_3r";
    case Recipe::consistent_1r:
      return "consistent_1r";
    case Recipe::published_3r:
      return "published_3r";
    case Recipe::published_1r:
      return "published_1r";
  }
  return "";
}

}  // namespace limber::elastic
