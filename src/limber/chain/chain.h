// Where an elastic tree of beams comes to rest. Hall 2013; docs/theory/chain.md.
//
//   auto sys = chain::compile(model);              // const: links, loads, ties, where everything sits
//   chain::Rest s = sys.rest();                    // unloaded
//   chain::Solver solver(sys.structure());
//   StaticReport r = solver.solve(s, 1);           // all loads on
//   chain::observe(sys, solver, s, snapshot);
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "limber/chain/path.h"
#include "limber/chain/statics.h"
#include "limber/elastic/beam_links.h"
#include "limber/elastic/section_constants.h"
#include "limber/model/model.h"
#include "limber/result/snapshot.h"

namespace limber::chain {

struct Options {
  double time = 0;           // [s] whose loads act
  bool weight_ramps = true;  // the load factor multiplies the weight too; false: it always acts in full
};

// A joint of a beam: where it sits and what it stands for.
struct BeamJoint {
  int beam = -1;     // in the model as written; −1: a joint of the scene's own
  double s = 0;      // along the beam, 0…1
  double share = 0;  // [m] of the beam that bends here: stiffness = EI / share
};

// Pose of a body in its link (link −1: in the world).
struct BodyPlace {
  int link = -1;
  Pose X;
};

// A link that has come off falls freely from where it was, without turning.
struct Fallen {
  Pose X;
  Vec3 g = Vec3::Zero();
  double time = 0;
};

class System {
 public:
  const Model& written() const { return written_; }     // with its beams
  const Model& model() const { return linked_.model; }  // beams replaced by links
  const Structure& structure() const { return structure_; }
  Structure& structure() { return structure_; }
  const result::Layout& layout() const { return layout_; }
  const std::vector<Probe>& columns() const { return columns_; }  // of the layout's scalars
  const std::vector<BodyPlace>& bodies() const { return bodies_; }
  const std::vector<BeamJoint>& joints() const { return joints_; }
  const std::vector<elastic::BeamTrace>& traces() const { return linked_.traces; }
  const std::vector<elastic::SectionConstants>& sections() const { return sections_; }  // one a beam
  Rest rest() const { return at_rest(structure_); }
  Rest start() const;  // where it stands at t = 0: beams that are not at ease there on their paths
  // Loads on the piece of a beam that is welded to the world: force, and moment about the world's origin.
  // They go straight into the reaction.
  DeadLoad root_load(int beam, double factor) const;
  void set_time(double t);  // loads, moved supports and wind of that time
  // The beam whose root piece a body is, on the world; −1: none.
  int root_beam(int body) const { return root_beam_[body]; }
  // The link whose joint tells what the joint of a body carries: its own, or the first one of a beam on the
  // world; −1: none does.
  int reaction_link(int body) const;
  const Options& options() const { return options_; }
  void let_fall(int link, const Fallen& from) { fallen_[link] = from; }
  const std::map<int, Fallen>& all_fallen() const { return fallen_; }
  void take_fallen(std::map<int, Fallen> all) { fallen_ = std::move(all); }
  // Where a link has fallen to; nothing if it has not come off.
  std::optional<Pose> fallen(int link) const;

 private:
  friend System compile(const Model& model, const Options& options);
  System(const Model& model, const Options& options);
  void link_bodies();
  void place_joints();
  void let_stretch();
  void tie();
  bool bears_more(int beam) const;
  void refuse_untold_reactions() const;
  void lay_out();

  Model written_;
  elastic::LinkedModel linked_;
  Options options_;
  Structure structure_;
  std::vector<BodyPlace> bodies_;
  std::vector<BeamJoint> joints_;  // of each link
  std::vector<elastic::SectionConstants> sections_;
  std::vector<DeadLoad> root_fixed_, root_ramped_;  // one a beam
  std::vector<int> root_beam_;  // of each body: the beam whose root piece it is, on the world; else −1
  std::map<int, Fallen> fallen_;
  result::Layout layout_;
  std::vector<Probe> columns_;
};

// Throws ModelError for what a chain cannot be, with names: joints that slide or float, joints without
// stiffness, drives, riders.
System compile(const Model& model, const Options& options = {});

// Poses, lines and probes at `rest`.
void observe(const System& system, Solver& solver, const Rest& rest, result::Snapshot& snapshot);

// The probes alone; right are those that tell where things stand.
void observe_places(const System& system, Solver& solver, const Rest& rest, result::Snapshot& snapshot);

// Every beam cut into `factor` times as many elements.
Model refined(const Model& model, double factor);

// A first guess for a fine structure from the solution of a coarse one of the same scene: curvature and twist
// along each beam, read between the coarse joints.
Rest guess_from(const System& coarse, const Rest& solved, const System& fine);

// Brings all loads on; large structures are solved with few elements first.
StaticReport solve_from_coarse(System& system, Solver& solver, Rest& rest, const StaticOptions& options);

// How far the answer is from that of ever more elements, by the answer with twice as many, four times where
// there are few (Richardson). The published 3R approaches another rod than the given one: it is held against
// consistent elements. The largest over the beams' nodes, of the structure's size; `tip` is the same for the
// beams' tips alone.
struct ErrorEstimate {
  double largest = 0, tip = 0;
  std::string where;  // beam
  bool ok = false;
};
ErrorEstimate estimate_error(const System& system, const Rest& solved, const StaticOptions& options);

}  // namespace limber::chain
