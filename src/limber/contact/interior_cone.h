// Forces of many contacts with Coulomb friction by an interior-point method in the space of what moves
// (primal_cone.h): for islands where Newton's method on the augmented Lagrangian does not get there.
//
// With ũ = u + μ|u_t| e_n Coulomb's law is K ∋ λ ⟂ ũ ∈ K*. Scaled, x = (μ λ_n, λ_t) and y = (ũ_n/μ, ũ_t),
// both are in the cone of lorentz.h, and the way to x∘y = 0 goes through x∘y = ν e, ν ↘ 0 (Nesterov, Todd
// 1997; Mehrotra's corrector). A step is linear,
//
//   Δũ = W Δλ + r,    Δλ = a − K Δũ,    r = W λ + free + μ|u_t| e_n − ũ,
//
// K the square of the scaling, symmetric: (A + JᵀKJ) δ = Jᵀ(a − K r) gives J δ = W Δλ, two solves with one
// factor. The change of μ|u_t| within a step is left to the next one (followed at once, it cut steps short);
// ν falls no faster than r² does, so that the place stays far enough from the cones' walls for that.
#pragma once

#include <vector>

#include "limber/contact/primal_cone.h"

namespace limber::contact {

class InteriorCone {
 public:
  // Of the islands that are wanted, from nothing, into `lambda` (contacts). A report each; residual: of
  // friction.h.
  const std::vector<FrictionReport>& solve(const ManyContacts& problem, ContactAnswer& answer,
                                           const std::vector<char>& wanted, double tolerance,
                                           int max_iterations, std::vector<Vec3>& lambda);

 private:
  struct Island {
    bool done = true;
    double nu = 0;     // mean of x·y
    double off = 0;    // largest |r|
    double sigma = 0;  // of ν that the step aims at
    int stalled = 0;   // steps that did not make it better
  };
  void start(int island, std::vector<Vec3>& lambda);
  void judge(int island, double tolerance, std::vector<Vec3>& lambda);
  void set_scaling(int island);
  bool solve_step(ContactAnswer& answer);
  void aim(int island, bool corrector);
  double reach(int island) const;
  void advance(int island, double t);

  const ManyContacts* problem_ = nullptr;
  std::vector<Island> islands_;
  std::vector<FrictionReport> reports_;
  std::vector<Vec3> x_, y_, dx_, dy_;         // (contacts) scaled
  std::vector<Vec3> moved_, r_, a_, f_, du_;  // (contacts) moved: W λ
  std::vector<Vec3> now_, dnow_;              // (contacts) λ and its step
  std::vector<Mat3> K_;                       // (contacts)
};

}  // namespace limber::contact
