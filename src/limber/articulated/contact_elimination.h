// How places that touch answer to forces, by the elimination that a step's linear system goes through anyway
// (docs/theory/contact.md): springs at contacts with what stands add to a link's own block and cost nothing,
// those between two links tie them as springs do. Linear in the links. Internal to articulated/.
#pragma once

#include <memory>
#include <vector>

#include "limber/contact/primal_cone.h"
#include "limber/multibody/gaba.h"
#include "limber/multibody/many_loops.h"

namespace limber::articulated {

struct SystemData;
struct WorkspaceData;

// One of the two links of a place that touches: what the link's twist, in world axes at its origin, adds to
// u.
struct TouchSide {
  int link = -1;  // −1: stands
  Eigen::Matrix<double, 3, 6> G;
};

// u = scale G A⁻¹ Gᵀ f of places with two sides each, by the factor at hand.
void answer_at_places(const SystemData& s, WorkspaceData& w, const std::vector<TouchSide>& sides,
                      double scale, const std::vector<Vec3>& f, std::vector<Vec3>& u);

class ContactElimination final : public contact::ContactAnswer {
 public:
  // Which links may touch each other in the step at hand: whatever of them does is tied in the same way, so
  // that the order of elimination is found once.
  void tie(std::vector<multibody::LinkPair>& pairs);

  // Places, two sides each, that answer by `scale` times the factor at hand.
  void begin(const SystemData& s, WorkspaceData& w, double scale);
  std::vector<TouchSide> sides;

  void move(const std::vector<Vec3>& f, std::vector<Vec3>& u) override;
  bool stiffen(const std::vector<Mat3>& K) override;
  void move_stiff(const std::vector<Vec3>& f, std::vector<Vec3>& u) override;

  long factors() const { return factors_; }  // since the start, for tests

 private:
  struct Stiff;  // the matrix with its springs, and who solves with it
  void find_order();
  int pair_of(int a, int b) const;

  std::vector<multibody::LinkPair> wanted_;  // sorted
  std::shared_ptr<Stiff> stiff_;             // made when it is first asked for
  std::vector<int> pair_;                    // (places) of the pattern; −1: one side stands
  const SystemData* s_ = nullptr;
  WorkspaceData* w_ = nullptr;
  double scale_ = 1;
  long factors_ = 0;
};

}  // namespace limber::articulated
