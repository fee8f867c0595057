// What compile() makes of a model, and what a workspace keeps. Internal to adaptive/.
#pragma once

#include <memory>
#include <vector>

#include "limber/adaptive/adaptive.h"
#include "limber/adaptive/refine.h"
#include "limber/adaptive/ties.h"
#include "limber/elastic/beam_links.h"
#include "limber/elastic/joint_law.h"
#include "limber/multibody/aba.h"
#include "limber/observe/columns.h"
#include "limber/observe/layout.h"

namespace limber::adaptive {

struct LinkPoint {
  int link = -1;          // −1: the world
  Vec3 p = Vec3::Zero();  // in M (the world's frame)
};

struct CompiledLoad {
  LinkPoint at;
  Mat3 R_MB;  // turns a follower's components into M
  VectorFunction force, moment;
  bool follows = false;
  int body = 0;  // index into SystemData::loaded
};

// The method's own columns, after those of probes and energies.
struct OwnColumn {
  const char *name, *unit;
  double (*value)(const State& state);
  bool of_loops = false;
};
inline constexpr OwnColumn own_columns[] = {
    {"adaptive.active_joints", "", [](const State& s) -> double { return s.active; }},
    {"adaptive.error_bound", "", [](const State& s) { return s.bound; }},
    {"adaptive.total_acceleration", "rad/s2", [](const State& s) { return s.total; }},
    {"adaptive.largest_move", "rad", [](const State& s) { return s.distance; }},
    {"adaptive.settled", "", [](const State& s) -> double { return s.settled_at >= 0; }},
    {"adaptive.by_pass", "", [](const State& s) -> double { return s.tree == 0; }},
    {"adaptive.loop_gap", "m", [](const State& s) { return s.gap; }, true}};

// A node on the way from a root to a loaded body; parents first.
struct PathNode {
  int node = -1;
  int parent = -1;     // in the list; −1: a root
  int a = -1, b = -1;  // halves that are in the list as well
  bool in_b = false;
};

struct SystemData {
  SystemData(elastic::LinkedModel linked, const Options& opts);

  Model model;
  std::vector<elastic::BeamTrace> traces;
  Options options;
  multibody::Tree tree;
  AssemblyTree assembly;

  std::vector<double> q0;
  std::vector<double> weight;  // (v_count)
  std::vector<char> has_law;   // (links) a spring, a damper or a drive
  std::vector<int> drive_of;   // (links) index into model.drives(), −1: none
  std::vector<int> driven;     // links whose drive changes with time
  bool any_law = false;
  std::vector<CompiledLoad> loads;  // by body
  std::vector<int> load_begin;      // (loaded + 1) in `loads`
  std::vector<int> loaded;          // links with loads on them
  std::vector<PathNode> paths;      // to them
  std::vector<int> path_end;        // (loaded) where each one's leaf stands in `paths`
  int joints = 0;                   // with freedoms
  std::vector<TiedSpring> tied_springs;
  std::vector<TiedLoop> tied_loops;
  double size = 1;  // [m] of the structure at the start
  int hand = -1;    // the last of tied_springs, if it is the hand of a live view; −1: none
  bool tied() const { return !tied_springs.empty() || !tied_loops.empty(); }
  bool only_held() const { return hand == 0 && tied_loops.empty(); }  // no tie but a hand

  result::Layout layout;
  std::vector<Probe> columns;  // of the layout's scalars, before the method's own

  LinkPoint link_point(const Attachment& a) const {
    if (a.on_world()) return {-1, a.p};
    return {a.body.value, tree[a.body.value].X_MB * a.p};
  }
};

struct WorkspaceData {
  explicit WorkspaceData(const SystemData& s);

  Coefficients coefficients;
  Refinement refine;
  std::unique_ptr<multibody::Workers> workers;
  std::unique_ptr<BackSubstitution> full;  // made when first needed

  std::uint64_t stamp = 0;             // of the state whose coefficients these are
  double h = 0;                        // of κ
  std::vector<double> tau;             // (v_count)
  std::vector<double> kappa;           // (block_count)
  std::vector<double> qdd;             // (v_count) of the step at hand
  std::vector<int> active;             // nodes whose joint moved in the last step, parents first
  std::vector<int> nonzero;            // entries of State::a that are not zero
  bool moved_all = true;               // every joint moved: rebuild
  std::vector<Pose> path_pose;         // (paths) top body of each node
  std::vector<Vec6> load_wrench;       // (loaded) with the ties' forces; by solve_ties()
  std::unique_ptr<TieWorkspace> ties;  // null: none
  Vec3 hand_target = Vec3::Zero();     // [m] where the hand pulls to
  std::vector<std::uint8_t> mark;      // (nodes) 1: in `dirty`, 2: in `active`
  std::vector<int> dirty;              // nodes above whose forces changed
  int biased = 0;                      // nodes that were updated for forces alone
  std::vector<std::vector<int>> by_level;
  double seconds_per_joint = 1e-6;  // that updating costs, for budgets

  // Of the articulated-body pass
  std::vector<multibody::LinkMotion> links;
  std::vector<double> exact;       // (v_count) accelerations by it, to hold the tree's against
  std::vector<double> rest_rates;  // (v_count) zeros
  std::vector<Vec6> wrench;        // (links)
  std::unique_ptr<multibody::AbaWorkspace> aba;
};

// Spring, damper and drive of one joint at time t: force on its rates, and κ = hc + h²k.
void joint_law(const SystemData& s, int link, const double* q, double t, double h, double* tau,
               double* kappa);
// Of joints, springs between bodies and closing joints, bodies standing at `links`.
double elastic_energy(const SystemData& s, const double* q, const std::vector<multibody::LinkMotion>& links);

// The wrench of all loads on body s.loaded[index], standing at X_WM.
Vec6 load_on(const SystemData& s, int index, const Pose& X_WM, double t);

JointInput joint_input(const SystemData& s, const State& state, const WorkspaceData& w, double t);

// From loads and ties: the bodies with forces on them, and the ways to them. Again after a tie has come or
// gone.
void find_paths(SystemData& s);

// Brings the coefficients up to date with q and the loads at time t.
void bring_up_to_date(const SystemData& s, const State& state, WorkspaceData& w, double t, double h);
// All of them from nothing.
void rebuild(const SystemData& s, const State& state, WorkspaceData& w, double t, double h);

}  // namespace limber::adaptive
