// Where a structure comes to rest: Newton on the exact tangent, with loops, from where the state stands.
//
//   articulated::StaticResult r = articulated::solve_static(system, state, workspace, options);
//
// A step solves [K + σM, Gᵀ; G, 0] (δ, λ) = (f, −gap). σ is zero near a stable equilibrium; where K has
// negative directions it is raised until it has none, so that the structure rolls downhill and does not stop
// on a saddle. Where that fails the loads are applied in steps.
#pragma once

#include <memory>

#include "limber/articulated/articulated.h"
#include "limber/multibody/small_motion.h"

namespace limber::articulated {

struct StaticOptions {
  double tolerance = 1e-12;     // of the forces left over, relative to those that act
  int max_iterations = 300;     // in all
  int load_steps = 1;           // loads and weight are applied in so many steps
  int modes = 3;                // lowest eigenvalues wanted
  double load = 1, weight = 1;  // shares that act: of loads and wind; of weight and riders
  double motion = 1;            // share of the way that given motions have put joints
};

struct StaticMode {
  double eigenvalue = 0;      // [1/s²] of K x = μ M x within the loops; negative: the way it would go
  std::vector<double> shape;  // (dofs) joint rates, largest 1
  std::string moves;          // the joint that moves most
};

struct LoopReaction {
  std::string loop;
  Vec3 at, force, moment;  // on b from a, in the world, at the closing joint [m, N, N·m]
};

struct JointReaction {
  std::string joint;
  Vec3 at, force, moment;      // on the child from the parent, in the world, at the joint
  std::vector<double> torque;  // of its springs and drives, per dof [N·m or N]
};

// A joint that stands at a bound of its coordinate.
struct StopReaction {
  std::string joint;  // or loop
  int dof = 0;
  double bound = 0, force = 0;  // [rad or m], [N·m or N] on the coordinate
};

// A place where something leans on something.
struct TouchReaction {
  std::string a, b;        // bodies, or a plane
  Vec3 at, force, normal;  // on a [m, N], from b to a
};

struct StaticResult {
  result::SolveReport report;
  double residual = 0;     // forces left over, relative
  double gap = 0;          // of loops, of the structure's size
  int negative = 0;        // directions in which it is unstable; where `pushes` were tried: whether it is
  int pushes = 0;          // of a rest that leans on something: so many were tried, no direction counted
  double least_pivot = 0;  // relative; near zero: a limit point
  int moved_pivots = 0;    // pivots too small to divide by
  int redundant_rows = 0;
  bool stable() const { return report.ok() && negative == 0; }
  std::vector<StaticMode> modes;
  std::vector<LoopReaction> loops;
  std::vector<JointReaction> joints;    // all joints, in tree order
  std::vector<double> coupling_forces;  // (couplings) of the rigid ones on their gaps [N·m or N]
  std::vector<StopReaction> stops;
  std::vector<TouchReaction> touches;
  double work_of_motions = 0;  // [J] of the forces that given motions take, along their whole way
  bool circulatory = false;    // some loads have no potential: `negative` is of the tangent's symmetric part
  result::Energy energy;
};

struct SpringTension {
  std::string name;
  double length = 0, tension = 0;  // [m], [N]
};
std::vector<SpringTension> spring_tensions(const System& system, const State& state);

// The state is left at the equilibrium, at rest; on failure as it was.
StaticResult solve_static(const System& system, State& state, Workspace& workspace,
                          const StaticOptions& options = {});

// The same, and how the structure moves about that equilibrium. Loads on `ends` (bodies) are taken to keep
// their components in the coordinates exp(ξ) of those bodies: what is left is the Hessian of the energy.
struct StaticMotion {
  StaticResult result;
  std::unique_ptr<multibody::SmallMotion> motion;  // null: no equilibrium
};
StaticMotion solve_static_motion(const System& system, State& state, Workspace& workspace,
                                 const std::vector<int>& ends, const StaticOptions& options = {});

}  // namespace limber::articulated
