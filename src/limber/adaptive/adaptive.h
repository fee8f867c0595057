// What moves at all, within this error: quasi-statics of trees of up to 10⁶ joints (Redon and Lin 2005). See
// docs/theory/adaptive.md.
//
//   auto sys = adaptive::compile(model, options);   // const: tree, assembly tree, compiled forces
//   adaptive::State s = sys.rest();                 // all that the next step depends on
//   adaptive::Workspace w(sys);                     // coefficients and scratch
//   SolveReport r = adaptive::step(sys, s, w, h);
//   adaptive::observe(sys, s, w, snapshot);
//
// A step solves (M + hD + h²K) a = forces from rest and moves the joints by σh²a, 0 < σ ≤ 1: only the joints
// that are needed for the asked error, the others stay. σ is halved where the last step went too far and
// grows back: the structure comes to rest where forces balance.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "limber/model/model.h"
#include "limber/result/fields.h"
#include "limber/result/report.h"
#include "limber/result/snapshot.h"

namespace limber::adaptive {

// Of the joints' accelerations that a step may leave out (Redon and Lin 2005, definition 2).
enum class Measure : std::uint8_t { relative_joint, absolute_joint, relative_linkage, absolute_linkage };
inline constexpr Measure all_measures[] = {Measure::relative_joint, Measure::absolute_joint,
                                           Measure::relative_linkage, Measure::absolute_linkage};
const char* to_string(Measure measure);

// What an acceleration that is left out counts for: as it is; times the reach of what hangs on the joint over
// that of its own link (at least 1), so that displacements keep the error as well; times the root of the
// inertia that it moves, over that of its own link.
enum class Weights : std::uint8_t { none, reach, inertia };
inline constexpr Weights all_weights[] = {Weights::none, Weights::reach, Weights::inertia};
const char* to_string(Weights weights);

struct Options {
  Measure measure = Measure::relative_joint;
  double error = 1e-6;  // allowed in the measure; 0: none
  double budget = 0;    // [s] of wall clock that a step may take instead; 0: none. Results then depend on it
  Weights weights = Weights::reach;
  double settle = 1e-9;  // settled when the largest acceleration has fallen to this part of the largest ever
  double turn = 0.2;     // [rad or m] a joint may move in a step; longer ones are shortened
  bool fallback = true;  // to the plain articulated-body pass where that is cheaper; where the error asks for
                         // more than the tree's rounding allows the pass steps in whatever this says
  int cpu_threads = 1;   // results do not depend on it

  // Each by its key in scenes (sim/option.h); a new one is here and where it is used, nowhere else.
  template <class Table>
  static void describe(Table& t) {
    t.add("error", &Options::error, "allowed in a step, in the `measure`; 0: none")
        .at_least(0)
        .on_command_line();
    t.choice("measure", &Options::measure, all_measures, "of what the error is")
        .meaning(
            "The largest acceleration left out or the root of the sum of their squares, as it is or over "
            "that "
            "of all joints")
        .on_command_line();
    t.choice("weights", &Options::weights, all_weights, "what an acceleration left out counts for")
        .meaning(
            "As it is, by the reach of what hangs on the joint (displacements then keep the error too), by "
            "its "
            "inertia")
        .on_command_line();
    t.add("budget", &Options::budget, "wall-clock time that a step may take, instead of an error; 0: none")
        .measured_in("s")
        .at_least(0)
        .like("200 us")
        .on_command_line();
    t.add("settle", &Options::settle,
          "settled when the largest acceleration has fallen to this part of the largest ever")
        .above(0)
        .below(1);
    t.add("turn", &Options::turn, "the most a joint may move in a step, in rad or m").above(0).at_most(1);
    t.add("fallback", &Options::fallback, "compute all joints where that is cheaper");
    t.add("cpu_threads", &Options::cpu_threads, "that share a step, at most; results do not depend on it")
        .formerly("threads")
        .at_least(1)
        .at_most(1024)
        .of_machine()
        .on_command_line();
  }
};

// All that the next step depends on. Copyable; `save` and `load` keep every bit.
struct State {
  double t = 0;           // [s]
  std::int64_t step = 0;  // finished
  std::vector<double> q;  // joint coordinates in tree order, as in multibody::Tree
  std::vector<double> a;  // accelerations of the last step; 0 where it took a joint for being at rest
  std::vector<std::uint32_t> active_steps;  // (links) in how many steps its joint moved

  std::uint8_t tree = 0;         // 1: by the assembly tree, 0: by the articulated-body pass
  std::int32_t patience = 0;     // steps by the pass before the assembly tree is tried again
  std::int32_t stayed = 0;       // steps since the last change between the two
  std::int32_t streak = 0;       // steps in which σ proved small enough
  std::int32_t caution = 4;      // so many are needed for it to grow
  std::int32_t grown = 1 << 20;  // steps since it grew
  double fraction = 1;           // σ
  double noise = 0;              // of total accelerations (refine.h)
  double accuracy = 0;           // what rounding may do to the tree's accelerations, in the measure
  std::int32_t check_after = 1;  // steps by the tree until it is held against the pass again
  std::int32_t checked = 0;      // steps by the tree since it was held against the pass
  double largest_ever = 0;       // acceleration
  double norm2 = 0;              // of the last accelerations, weighted, squared

  // What the last step found, to show.
  double active = 0;       // joints that moved
  double bound = 0;        // of the error, in the measure; 0 by the articulated-body pass
  double total = 0;        // root of the sum of squares of all accelerations, weighted
  double largest = 0;      // acceleration
  double distance = 0;     // [rad or m] the largest step of a joint: how far from equilibrium
  double gap = 0;          // [m] the farthest that a loop stood open before it; angles times the size
  double settled_at = -1;  // [s]; negative: not settled

  std::uint64_t stamp = 0;     // the workspace that has this state's coefficients; not saved. 0: none
  void touch() { stamp = 0; }  // after q has been changed by hand

  std::string save() const;             // bytes
  void load(const std::string& bytes);  // throws std::invalid_argument if they are no state of this size
};

struct SystemData;
struct WorkspaceData;

class System {
 public:
  explicit System(std::shared_ptr<const SystemData> data) : data_(std::move(data)) {}
  State rest() const;                    // initial positions of the model
  const Model& model() const;            // beams replaced by links
  const result::Layout& layout() const;  // what observe() fills
  int joint_count() const;
  int dof_count() const;
  int depth() const;  // of the assembly tree
  const SystemData& data() const { return *data_; }

 private:
  std::shared_ptr<const SystemData> data_;
};

// Throws ModelError for what this method cannot run, with names.
System compile(const Model& model, const Options& options = {});

class Workspace {
 public:
  explicit Workspace(const System& system);
  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) noexcept;
  ~Workspace();
  WorkspaceData& data() { return *data_; }
  void forget();  // the coefficients: the next step builds them again, with the same bits

 private:
  std::unique_ptr<WorkspaceData> data_;
};

result::SolveReport step(const System& system, State& state, Workspace& workspace, double h);

// World pose of a body without those of the others: O(log n) if the workspace has the state's coefficients.
Pose body_pose(const System& system, const State& state, Workspace& workspace, BodyId body);

// Activity: the share of the steps so far in which a body's joint moved, of every body. The live view colors
// by it; recordings have it as Snapshot::values.
result::Fields fields(const System& system, const State& state);

void observe(const System& system, const State& state, Workspace& workspace, result::Snapshot& snapshot);

}  // namespace limber::adaptive
