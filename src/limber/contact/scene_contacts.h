// What of a scene may touch what: the shapes of its bodies and planes, and the pairs that contact looks at.
//
// Not looked at: two that stand still; two shapes of one body or of bodies that are welded together; bodies
// that a joint, a loop or a tie joins, which are drawn through each other, and of one that is joined to what
// stands, what it overlaps at the start; pieces of one beam that are nearer along it than a bend of its own
// thickness, and those near its root against what it starts from. Bodies that do not `collide` are not there;
// a pair that says whether it does is taken at its word, but where a weld holds it.
#pragma once

#include <vector>

#include "limber/contact/solid.h"
#include "limber/model/model.h"

namespace limber::contact {

struct Collidable {
  BodyId body = world;
  int plane = -1;
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

// Of elastic::BeamTrace, which this folder does not see.
template <class Trace>
std::vector<BeamLinks> beam_links(const std::vector<Trace>& traces) {
  std::vector<BeamLinks> out;
  for (const Trace& trace : traces) {
    double length = 0;
    for (const auto& share : trace.shares) length += share[1];
    out.push_back({trace.pieces, trace.radius, length});
  }
  return out;
}

class SceneContacts {
 public:
  SceneContacts() = default;
  // Of a model without beams: `beams` says which bodies are links of one. Nothing without `contact:`.
  SceneContacts(const Model& model, const std::vector<BeamLinks>& beams);

  const std::vector<Collidable>& solids() const { return solids_; }
  bool empty() const { return solids_.empty(); }
  bool may_touch(int i, int k) const;
  TouchLaw law(const Model& model, int i, int k) const;
  bool is_of(int solid, BodyId body, BeamId beam) const;  // of the body, or of a link of the beam
  std::string name_of(const Model& model, int i) const;   // "box" in quotes, or a plane

 private:
  void leave_out_drawn_through(const Model& model);
  void ask_pairs(const Model& model);
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
  std::vector<std::pair<int, int>> told_;           // solids, sorted: a pair says whether they touch,
  std::vector<char> told_to_touch_;                 // … and what
  std::vector<OnBeam> on_beam_;                     // (bodies)
  std::vector<double> apart_;                       // (beams) [m] along it: nearer pieces do not touch
  std::vector<int> root_group_;                     // (beams)
};

}  // namespace limber::contact
