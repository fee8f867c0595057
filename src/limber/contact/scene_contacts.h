// What of a scene may touch what: the shapes of its bodies and planes, and the pairs that contact looks at.
//
// Not looked at: two that stand still; two shapes of one body or of bodies that are welded together; bodies
// that a joint, a loop or a tie joins, which are drawn through each other, and of one that is joined to what
// stands, what it overlaps at the start; pieces of one beam that are nearer along it than a bend of its own
// thickness, and those near its root against what it starts from.
#pragma once

#include <vector>

#include "limber/contact/solid.h"
#include "limber/model/model.h"

namespace limber::contact {

struct Collidable {
  BodyId body = world;
  Geometry geometry;
  Pose X_BG;
  double size = 0;   // [m] across; 0: without end
  double reach = 0;  // [m] of its farthest point from the body's origin
};

// A row of links that stands for a beam, in order, the root first.
struct BeamLinks {
  std::vector<BodyId> pieces;
  double radius = 0, length = 0;  // [m] of the section, of the whole
};

class SceneContacts {
 public:
  SceneContacts() = default;
  // Of a model without beams: `beams` says which bodies are links of one. Nothing without `contact:`.
  SceneContacts(const Model& model, const std::vector<BeamLinks>& beams);

  const std::vector<Collidable>& solids() const { return solids_; }
  bool empty() const { return solids_.empty(); }
  bool may_touch(int i, int k) const;
  double friction(const Model& model, int i, int k) const;
  std::string name_of(const Model& model, int i) const;  // "box" in quotes, or a plane

 private:
  void leave_out_drawn_through(const Model& model);
  bool joined(int group_a, int group_b) const;
  bool near_on_beam(BodyId a, BodyId b) const;

  struct OnBeam {
    int beam = -1;
    double from = 0, to = 0;  // [m] along it
  };
  std::vector<Collidable> solids_;
  std::vector<int> group_;                          // (bodies) what is welded together; 0: the world
  std::vector<std::pair<int, int>> neighbours_;     // groups that something joins, sorted
  std::vector<std::pair<int, int>> drawn_through_;  // solids, sorted
  std::vector<OnBeam> on_beam_;                     // (bodies)
  std::vector<double> apart_;                       // (beams) [m] along it: nearer pieces do not touch
  std::vector<int> root_group_;                     // (beams)
};

}  // namespace limber::contact
