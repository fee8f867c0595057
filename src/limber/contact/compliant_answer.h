// Contacts that give, for solvers of contacts that do not.
//
// u = W f + c f_n e_n is the answer of a structure with one spring more at each contact, v = J x + y,
// y = c f_n e_n. With it A' = diag(A, 1/c), and the spring of A' + J'ᵀKJ' is eliminated at the contact itself
// (Sherman, Morrison 1950):
//
//   A + JᵀK̂J,   K̂ = K − c (K e_n)(K e_n)ᵀ/(1 + c K_nn),
//   J x from f̂ = f − c K e_n f_n/(1 + c K_nn),   y = c (f − K J x)_n/(1 + c K_nn).
#pragma once

#include "limber/contact/primal_cone.h"

namespace limber::contact {

class CompliantAnswer final : public ContactAnswer {
 public:
  std::vector<double> give;  // (contacts) c, of the velocity along the normal by the force; 0: hard
  ContactAnswer* stiff = nullptr;

  void move(const std::vector<Vec3>& f, std::vector<Vec3>& u) override;
  bool stiffen(const std::vector<Mat3>& K) override;
  void move_stiff(const std::vector<Vec3>& f, std::vector<Vec3>& u) override;

 private:
  std::vector<Mat3> K_, softened_;
  std::vector<Vec3> force_;
};

}  // namespace limber::contact
