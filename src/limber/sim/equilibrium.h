// Where a structure comes to rest: one question and one answer for all methods.
//
//   const sim::Equilibrium e = sim::find_equilibrium(model);
//   if (e.ok() && e.stable()) use(e.after, e.reactions);
//
// What a method does not know it leaves empty: modes (articulated alone), shear in the sections of a thread,
// stability where the chain has loads without a potential.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "limber/articulated/statics.h"
#include "limber/chain/chain.h"
#include "limber/chain/stress.h"
#include "limber/model/features.h"
#include "limber/result/fields.h"
#include "limber/result/report.h"
#include "limber/result/snapshot.h"
#include "limber/sim/method_table.h"

namespace limber::sim {

struct StaticOptions {
  std::optional<Method> method;       // empty: the scene's, chain where it applies
  double time = 0;                    // [s] whose loads act
  double load = 1;                    // share of loads and weight that acts
  std::optional<int> load_steps;      // loads and weight come on in so many; empty: as the method likes
  std::optional<int> max_iterations;  // Newton steps in all; empty: as the method likes
  std::optional<int> modes;           // lowest ones wanted; empty: 3 of a method that finds them
  bool estimate = false;              // of the error, by twice as many elements
  double error = 0;                   // wanted, of the structure's size; 0: elements as the model says
};

// What can be asked of a structure at rest.
enum class StaticJob : std::uint8_t { rest, ramp, path, history, inverse, sweeps };
const char* to_string(StaticJob job);

struct Equilibrium;
struct Follower;  // static_parts.h
struct PathWork;
enum class Growth : std::uint8_t;

// What a method of the table (method_table.h) does of it.
struct StaticAbility {
  std::span<const StaticJob> jobs;
  bool modes;  // honours StaticOptions::modes; all else is honoured by all
  Equilibrium (*find)(const Model&, const RunOptions&, const StaticOptions&);
  Follower (*follow)(const Model&, const RunOptions&, Growth, const StaticOptions&);  // loads that grow
  PathWork (*path)(const Model&, const RunOptions&, const StaticOptions&);            // null: knows none
};

// The method that answers: the one that is asked for, else rest_method() (methods.h), else the first that
// does the job. Throws std::invalid_argument for a job or an option that the method does not know.
const MethodInfo& static_method(const Model& model, const RunOptions& run, const StaticOptions& options,
                                StaticJob job = StaticJob::rest);

// What holds a place: on the beam (root, tie, clamp), on what hangs on the joint, on b of the loop, on the
// first of two that touch.
struct Reaction {
  std::string name, of;        // of: "root", "tie", "clamp", "joint", "loop", "contact"
  Vec3 at, force, moment;      // world axes [m, N, N·m]
  std::vector<double> torque;  // of a joint's springs and drives, per dof [N·m or N]
};

// At a fraction of a beam's length, in the section's principal axes, x along the beam: what the part beyond
// pulls and turns with.
struct SectionForce {
  double s = 0;
  Vec3 force, moment;  // [N, N·m]; shear is NaN where the method does not know it
  chain::Stress stress;
  double safety = 0;  // yield stress over the combined one; infinite without load or yield stress
  bool yields = false, breaks = false;
};
struct BeamRest {
  std::string name;
  Vec3 tip = Vec3::Zero(), moved = Vec3::Zero();  // [m]
  double slope = 0;                               // [rad] that the tangent at the tip has turned
  std::vector<SectionForce> sections;             // from root to tip
  const SectionForce* worst() const;              // of the largest stress; null without sections
};

struct Stability {
  bool counted = true;                // false: loads without a potential, and the method does not count them
  int negative = 0;                   // directions in which it would leave
  int pushes = 0;                     // of what leans on something: so many were tried instead of counting
  bool circulatory = false;           // loads without a potential: counted of the tangent's symmetric part
  std::optional<double> least_pivot;  // relative; near zero: a limit point
  std::vector<chain::StabilityLoss> lost;  // on the way to the full load
};

// What was found in words, the same in the terminal, in JSON and in the report: ("stability", "stable").
struct Statement {
  std::string label, text;
};

struct Equilibrium {
  std::string method;
  double time = 0, load = 1;
  result::SolveReport report;  // status, message, iterations, the worst place
  double residual = 0;         // forces left over, relative to those that act
  double gap = 0;              // of loops and ties, of the structure's size
  int load_steps = 1, redundant_rows = 0;
  double refinement = 1;             // so many times the model's elements, for a wanted error
  std::size_t joints = 0, dofs = 0;  // of what was solved
  Stability stability;
  std::vector<Statement> snap;      // in words, where it loses its stability on the way (chain, one load)
  std::optional<double> stiffness;  // [N/m] against the only load, at the rest
  std::vector<articulated::StaticMode> modes;
  std::vector<Reaction> reactions;                     // of supports, joints of the scene, loops and ties
  std::vector<articulated::JointReaction> all_joints;  // of a tree method, inside the beams too
  std::vector<articulated::StopReaction> stops;
  std::vector<articulated::SpringTension> springs;
  std::vector<BeamRest> beams;
  chain::ErrorEstimate error;
  result::Energy energy;  // [J] weight and strain
  result::Layout layout;
  result::Snapshot before, after;                 // unloaded and at rest
  result::Fields fields;                          // at rest
  std::vector<std::string> events;                // of its past: "2 s: beam "limb" is cut …"
  std::vector<chain::RangeWarning> out_of_range;  // elements that left the range of their recipe
  std::vector<std::string> warnings;              // all that makes the numbers worth less

  bool ok() const { return report.ok(); }
  bool stable() const { return ok() && stability.counted && stability.negative == 0; }
};

// Throws ModelError for what the method cannot take, at its place; std::invalid_argument for options. A
// search that fails is no exception: `report` says why.
Equilibrium find_equilibrium(const Model& model, const RunOptions& run = {},
                             const StaticOptions& options = {});

std::vector<Statement> describe(const Equilibrium& e);
Statement describe(const chain::StabilityLoss& lost);

}  // namespace limber::sim
