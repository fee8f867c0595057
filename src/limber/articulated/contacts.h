// Where links touch in a step, how they answer to forces there, and the forces (docs/theory/contact.md).
// Internal to articulated/.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "limber/articulated/contact_elimination.h"
#include "limber/contact/broad_phase.h"
#include "limber/contact/collide.h"
#include "limber/contact/compliant_answer.h"
#include "limber/contact/contact_cache.h"
#include "limber/contact/friction.h"
#include "limber/contact/interior_cone.h"
#include "limber/contact/scene_contacts.h"
#include "limber/multibody/block_system.h"

namespace limber::articulated {

struct SystemData;
struct WorkspaceData;

inline constexpr double most_turn_beside = 0.5;  // [rad] in a step, next to something
inline constexpr double slight_overlap = 1e-5;   // of the size: is taken back at once
inline constexpr double unnoticed = 1e-10;       // of the size: overlap that is none
inline constexpr int deepest_halving = 8;        // a step is halved for what touches so often at most

// One place. Its axes are the normal, from b to a, and two tangents.
struct Touch {
  int a = 0, b = 0;                             // solids
  int link_a = -1, link_b = -1;                 // −1: stands
  std::uint32_t feature = 0;                    // the same from step to step
  Vec3 p_a = Vec3::Zero(), p_b = Vec3::Zero();  // on the links, in M (where it stands: in the world)
  Vec3 at = Vec3::Zero();                       // in the world, where forces act
  Mat3 axes = Mat3::Identity();
  double gap = 0;                    // [m] now
  double gap_end = 0, found_at = 0;  // [m] at the step's end if it moves at this normal velocity [m/s]
  double friction = 0, size = 0, restitution = 0;
  double stiffness = 0, damping = 0;  // 0: hard
  double give = 0;                    // [m/s/N] of the closing velocity by its own force, where it is soft
  double rebound = 0;                 // [m/s] it shall part with
  Vec3 u = Vec3::Zero();              // [m/s] of a against b, in axes
  Vec3 force = Vec3::Zero();          // on a, in axes [N]; in impacts: impulse [N·s]

  bool soft() const { return stiffness > 0; }
  double stored() const { return gap < 0 ? 0.5 * stiffness * gap * gap : 0; }  // [J]
};

// Of a list that is sorted by pairs, as those of a step's start and of its stages are.
inline std::span<const Touch> places_of_pair(const std::vector<Touch>& places, int a, int b) {
  const auto of = [](const Touch& t) { return std::pair(t.a, t.b); };
  const auto found = std::ranges::equal_range(places, std::pair(a, b), {}, of);
  return {found.begin(), found.end()};
}

// The links' answer to wrenches on those that are touched: twist = Y wrench, in world axes at their origins,
// with the factor at hand. Links of parts of the structure that nothing ties to each other do not answer for
// each other, so that one solve serves a column of every part.
class Response {
 public:
  // links: ascending; what is known of them stays known until forget().
  void find(const SystemData& s, WorkspaceData& w, const std::vector<int>& links);
  // The same for wrenches on the link itself alone; in linear time where the step's solver eliminates.
  void find_own(const SystemData& s, WorkspaceData& w, const std::vector<int>& links);
  void forget() { valid_ = own_valid_ = false; }
  const Mat6& operator()(int link, int by) const {
    const int p = place_[link], q = place_[by], k = part_[p];
    return Y_[first_[k] + static_cast<std::size_t>(order_[p]) * count_[k] + order_[q]];
  }
  const Mat6& own(int link) const { return own_valid_ ? own_.of_body[link] : (*this)(link, link); }

 private:
  void number(const SystemData& s);

  bool valid_ = false, own_valid_ = false;
  std::vector<int> links_;          // touched, ascending
  std::vector<int> place_;          // (size) in links_
  std::vector<int> part_, order_;   // (links_) numbered as they come; place within the part
  std::vector<int> count_;          // (parts) links that are touched
  std::vector<std::size_t> first_;  // (parts) in Y_
  std::vector<int> number_;         // scratch: (parts of the structure)
  std::vector<Mat6> Y_;
  multibody::Gaba::Answers own_;
};

struct ContactReport {
  bool converged = true;
  int iterations = 0;
  double residual = 0, cone_violation = 0;
};

// Forces of all places from u = free + scale · W force, island by island.
class ContactForces {
 public:
  // Before all others: who touches whom.
  void begin(const SystemData& s, WorkspaceData& w, const std::vector<Touch>& touches);
  // free: (touches x 3). Improves the touches' forces, which are the first guess.
  ContactReport solve(double scale, const std::vector<Vec3>& free, std::vector<Touch>& touches);
  // u += scale · W x for forces x of all places.
  void add_motion(double scale, const std::vector<Vec3>& x, std::vector<Vec3>& u);

 private:
  void find_islands();
  void find_links(std::span<const int> islands);
  bool by_elimination(int island);
  void assemble(const std::vector<int>& members, double scale, const std::vector<Vec3>& free,
                const std::vector<Touch>& touches);
  contact::FrictionReport solve_assembled();
  double mobility(std::size_t touch) const;
  bool guess_is_known(const std::vector<Touch>& touches) const;
  void solve_many(double scale, const std::vector<Vec3>& free, std::vector<Touch>& touches);
  void solve_by_interior();
  int part_of(const TouchSide& side) const;

  const SystemData* s_ = nullptr;
  WorkspaceData* w_ = nullptr;
  std::vector<TouchSide> sides_;           // (2 x touches)
  std::vector<std::vector<int>> of_part_;  // touches of each part
  std::vector<int> parent_;                // of parts, in islands
  std::vector<std::vector<int>> islands_;
  int island_count_ = 0;
  std::vector<int> by_links_, by_elimination_;    // islands that are solved, and how
  std::vector<contact::FrictionReport> reports_;  // (by_elimination_)
  contact::ContactMatrix W_;                      // of an island, scaled
  std::vector<int> place_;                        // (touches) in its island
  std::vector<int> found_, links_;
  std::vector<double> free_, mu_, lambda_;
  std::vector<Vec3> moved_, moved_by_;  // (touches) the last that add_motion() told, and of which forces
  double moved_scale_ = 0;
  contact::ManyContacts many_;
  std::vector<Vec3> many_force_, interior_force_;
  std::vector<char> unsolved_;  // (by_elimination_)
  contact::FrictionSolver friction_;
  contact::CompliantAnswer soft_;  // where something gives
  contact::ContactAnswer* answer_ = nullptr;
  contact::PrimalCone primal_;
  contact::InteriorCone interior_;
  contact::ConeSolver sweeps_;
};

// Two solids that may touch in the step.
struct CandidatePair {
  int a = 0, b = 0;
  double margin = 0;
  bool smooth = false;  // touching already and slow: its places are those of the stage
};

// Scratch of a step.
struct Contacts {
  Contacts(const SystemData& s, const multibody::BlockSystem& system);

  std::vector<contact::Solid> solids, solids_end;
  contact::BroadPhase broad;
  contact::Collider collider;
  contact::Manifold manifold;
  contact::ContactCache cache;
  std::vector<multibody::LinkMotion> links, links_end;  // where the step starts and ends
  std::vector<CandidatePair> pairs;
  std::vector<Touch> start, now, end;         // places where the step starts, those of the stage, at the end
  std::vector<Touch> solved;                  // those of `now` whose forces are found
  std::vector<char> chosen;                   // (now) which
  std::vector<Vec3> base;                     // (now) closing velocity and slip with the forces at hand
  std::vector<Vec3> free, before, push, was;  // (solved); of impacts: (hits)
  std::vector<Touch> hits, soft;
  Response response;
  ContactElimination elimination;
  std::vector<multibody::LinkPair> tied;  // links of `pairs`
  ContactForces forces, hit_forces;
  long solves = 0;                  // by the step's factor, since the start: for tests
  multibody::BlockRhs kept;         // of the stage, while responses are found
  multibody::BlockSolution answer;  // to a unit wrench
  double overlap = 0;               // [m] at the end
  double overlap_share = 0;         // … of the size of the smaller of two
  double work = 0, stored = 0;      // [J] in the step at hand; what soft ones stored
  int splits = 0;                   // of the whole step at impacts
  double whole = 0;                 // [s] of it
};

// Velocity of a's side against b's in the touch's axes; with links' twists V in M.
Vec3 touch_velocity(const Touch& t, const std::vector<multibody::LinkMotion>& links);
// … of twists in world axes at the links' origins.
Vec3 touch_velocity(const Touch& t, const std::vector<multibody::LinkMotion>& links, const Vec6* twist);
// Puts `at` where the links stand, by the two material points.
void follow(Touch& t, const std::vector<multibody::LinkMotion>& links);

}  // namespace limber::articulated
