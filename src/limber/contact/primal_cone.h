// Forces of contacts with Coulomb friction in the space of what moves, for islands of hundreds of contacts.
//
// With A the matrix of what moves, x its motion and u = free + J x,
//
//   minimise ½ xᵀAx + Σ |P_K(λ̂ − ρ(u + s))|²/2ρ,      λ̂ ← P_K(λ̂ − ρ(u + s)),   s ← μ|u_t| e_n
//
// the augmented Lagrangian of the convex problem that a given s makes of Coulomb's law (De Saxcé, Feng 1998;
// Acary, Cadoux 2011), by Newton's method with line search. Its matrix A + Σ Jᵀ K J, K = ρP', is that of
// springs at the contacts. Whoever knows A solves with it: neither A nor x is seen here. An iterate is its
// velocities u at the contacts and forces p with Ax = Jᵀp; of a step along (A + JᵀKJ)⁻¹ Jᵀ(p − λ), which
// moves the contacts by w,
//
//   u ← u − t w,      p ← (1 − t) p + t (λ + K w).
//
// s, the slip's own part, is a fixed point of s ← μ|u_t(s)|: by Anderson's acceleration.
#pragma once

#include <array>
#include <vector>

#include "limber/contact/friction.h"
#include "limber/math/types.h"

namespace limber::contact {

// How contacts move by forces f at all of them (contacts x 3): u = J A⁻¹ Jᵀ f.
class ContactAnswer {
 public:
  virtual ~ContactAnswer() = default;
  virtual void move(const std::vector<Vec3>& f, std::vector<Vec3>& u) = 0;
  // The same with A + JᵀKJ, K symmetric: factors it (false: there is no factor); solves.
  virtual bool stiffen(const std::vector<Mat3>& K) = 0;
  virtual void move_stiff(const std::vector<Vec3>& f, std::vector<Vec3>& u) = 0;
};

// Contacts of islands that do not answer for each other, one island after the other.
struct ManyContacts {
  std::vector<int> first{0};     // (islands + 1) contact
  std::vector<Vec3> free;        // (contacts)
  std::vector<double> friction;  // (contacts)
  std::vector<double> mobility;  // (contacts) a third of the trace of its own block of W
  std::vector<Vec3> moved;       // (contacts) by the first guess, where that is known; else empty
  void clear();
};

class PrimalCone {
 public:
  // Improves `lambda` (contacts), in all islands at once: they share factors. A report each.
  const std::vector<FrictionReport>& solve(const ManyContacts& problem, ContactAnswer& answer,
                                           double tolerance, int max_iterations, std::vector<Vec3>& lambda);

 private:
  struct Island {
    bool done = false, updates = false;  // … its λ̂ is new
    int stalled = 0;                     // updates that gained little
    int round = 0;                       // of Newton's method since the last update
    double first = 0;                    // how far p was from λ then
    double force_off = 0, slip_off = 0;  // [m/s] by which λ̂ and s of the last update missed
    bool told = false, known = false;    // the last update was solved; the one before as well
    int columns = 0, newest = 0;         // of dF_, dG_
  };
  static constexpr int depth = 5;  // updates that next_shift() looks back
  void judge(int island, const std::vector<Vec3>& moved, double tolerance, std::vector<Vec3>& lambda);
  double dot(int island, const std::vector<double>& a, const std::vector<double>& b) const;
  void next_shift(int island);
  void take_forces(int island, bool solved);
  void begin_update(int island);
  void forces_at(int island, double t);
  double slope_at(int island, double t);
  bool newton_step(ContactAnswer& answer);
  void go_along(int island);
  double miss(int island) const;

  const ManyContacts* problem_ = nullptr;
  std::vector<Island> islands_;
  std::vector<FrictionReport> reports_;
  std::vector<double> rho_;                                      // (contacts)
  std::vector<Vec3> hat_, shift_, u_, p_, trial_;                // (contacts) trial: λ
  std::vector<Vec3> step_u_, step_p_, from_u_, from_p_, moved_;  // (contacts)
  std::vector<Mat3> K_;                                          // (contacts)
  std::vector<double> off_, slip_, left_;                        // (contacts) g − s, g of the update before
  std::array<std::vector<double>, depth> dF_, dG_, Q_;           // (contacts)
};

}  // namespace limber::contact
