// Last step's impulses, for this step's first guess: a point of the same two solids with the same feature,
// else the nearest one that nobody else claims.
#pragma once

#include <cstdint>
#include <vector>

#include "limber/contact/manifold.h"

namespace limber::contact {

struct CachedContact {
  std::int32_t a = 0, b = 0;  // the solids, as the caller numbers them
  std::uint32_t feature = 0;
  Vec3 at = Vec3::Zero();       // on b, in the world [m]
  Vec3 impulse = Vec3::Zero();  // on a, in world axes [N·s]
};

class ContactCache {
 public:
  // The step before is over: what add() gave becomes what match() finds.
  void turn();
  void add(int a, int b, const ContactPoint& point, const Vec3& impulse_W);
  // Guesses for all points of a manifold, zero where there is none. A point farther than `within` [m] is not
  // the same.
  void match(int a, int b, const Manifold& manifold, double within, Vec3* impulses_W);

  // For whoever saves the state of a simulation: what match() finds now, or after the next turn().
  const std::vector<CachedContact>& last() const { return last_; }
  std::vector<CachedContact>& next() { return next_; }
  void clear() { last_.clear(), next_.clear(); }

 private:
  std::vector<CachedContact> last_, next_;
  std::vector<unsigned char> taken_;
};

}  // namespace limber::contact
