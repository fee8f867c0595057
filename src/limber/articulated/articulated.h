// Dynamics of a tree of bodies with sprung joints, implicit, O(n) a step. See docs/theory/articulated.md.
//
//   auto sys = articulated::compile(model, options);   // const: tree, dof map, compiled forces
//   articulated::State s = sys.rest();                 // all that the next step depends on
//   articulated::Workspace w(sys);                     // scratch
//   SolveReport r = articulated::step(sys, s, w, h);
//   articulated::observe(sys, s, w, snapshot);
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "limber/model/model.h"
#include "limber/result/report.h"
#include "limber/result/snapshot.h"

namespace limber::articulated {

// euler: linearly implicit Euler, one linear solve a step, first order, damps (Baxter 2019, eq. 2.13).
// midpoint: implicit midpoint on the configuration manifold, second order, symmetric, does not damp a free
// swing.
// implicit_euler: Euler iterated to the end, first order, damps most, takes the largest steps.
// sdirk: two stages with γ = 1 − 1/√2 (Alexander 1977), second order and L-stable: damps what is too fast for
// the step and little else.
// Fourth order, for smooth motion (step_high_order.cpp):
// rk4: explicit, four plain solves a step; for what is not stiff.
// gauss: collocation at two points, symmetric, does not damp.
// sdirk4: five stages, L-stable, for what is stiff.
enum class Integrator : std::uint8_t { euler, midpoint, implicit_euler, sdirk, rk4, gauss, sdirk4 };
inline constexpr Integrator all_integrators[] = {
    Integrator::midpoint, Integrator::euler, Integrator::implicit_euler, Integrator::sdirk,
    Integrator::rk4,      Integrator::gauss, Integrator::sdirk4};
int order_of(Integrator integrator);
const char* to_string(Integrator integrator);

// Of the linear system of a step when springs or loops tie bodies beyond their tree (docs/theory).
// automatic: gaba, or pcg where the elimination would be too wide.
enum class Solver : std::uint8_t { automatic, gaba, pcg, pcg_rows, dense };
inline constexpr Solver all_solvers[] = {Solver::automatic, Solver::gaba, Solver::pcg, Solver::pcg_rows,
                                         Solver::dense};
const char* to_string(Solver solver);

// Of the forces of many places that touch (docs/theory/contact.md): by the answers of the touched links to
// unit wrenches; by eliminations of the step's own system. automatic: what is cheaper.
enum class ContactWay : std::uint8_t { automatic, links, elimination };

struct Options {
  Integrator integrator = Integrator::midpoint;
  Solver solver = Solver::automatic;
  double tolerance = 0;  // change of the velocities in an iteration, relative; 0: by the step's own error
  double pcg_tolerance = 1e-9;     // of the residual, relative
  double error = 0;                // asked for in a step, of the scene's size; 0: steps as given
  int max_iterations = 40;         // then the step is split
  int cpu_threads = 1;             // results do not depend on it
  int parallel_min_bodies = 4000;  // smaller subtrees are not worth a second thread; not described: for tests
  bool halves = false;             // parts by error always in halves; not described: to compare with
  ContactWay contact_way = ContactWay::automatic;  // not described: to compare with

  // Each by its key in scenes (sim/option.h); a new one is here and where it is used, nowhere else.
  template <class Table>
  static void describe(Table& t) {
    t.choice("integrator", &Options::integrator, all_integrators, "how a step is taken")
        .meaning(
            "midpoint: second order, does not damp; euler: one solve a step, first order, damps; "
            "implicit_euler: the same, iterated; sdirk: second order, damps what is too fast for the step; "
            "gauss: fourth order, does not damp; rk4: fourth order, explicit, for what is not stiff; "
            "sdirk4: fourth order, damps what is too fast for the step")
        .on_command_line();
    t.choice("solver", &Options::solver, all_solvers,
             "of the linear systems, where springs or loops tie bodies beyond their tree")
        .on_command_line();
    t.add("error", &Options::error,
          "allowed in a step, of the scene's size: steps are split as needed; 0: as given")
        .at_least(0)
        .on_command_line();
    t.add("tolerance", &Options::tolerance,
          "of a step's iteration, of the velocities; 0: far below the step's own error")
        .at_least(0);
    t.add("pcg_tolerance", &Options::pcg_tolerance, "of the iterations of solver pcg, relative").above(0);
    t.add("max_iterations", &Options::max_iterations, "of a step; then the step is split").at_least(1);
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
  std::vector<double>
      q;  // joint coordinates in tree order; spherical and free store unit quaternions (w,x,y,z)
  std::vector<double> v;            // joint rates in tree order
  std::vector<double> a;            // last accelerations: the first guess of the next step
  double part = 0;                  // [s] last part of an adaptive step
  double energy0 = 0;               // [J] total that it started from
  double dissipated = 0, work = 0;  // [J] since then: taken by dampers, given by loads and drives
  double made = 0;                  // [J] out of nothing by the integrator, less what it lost by mistake
  double at_stake = 0;              // [J] most that moved in a step so far
  std::vector<double> works;        // [J] of each load as written, drive and given motion; empty: not asked
  // Of each controller: ∫e dt of one that reads its own coordinate or rate; else the force that acts, which
  // whoever steps sets (sim/conductor.h).
  std::vector<double> control;
  // What touches, touching_width numbers each: two solids, the feature, where, the force [N], the normal, the
  // gap in the world.
  std::vector<double> touching;
  static constexpr std::size_t touching_width = 13;
  double overlap = 0;                   // [m] the deepest that the last step left
  std::vector<double> cables;           // of each cable's guides what carries over (CompiledCable::state)
  std::string save() const;             // bytes
  void load(const std::string& bytes);  // throws std::invalid_argument if they are no state of this size
};

struct SystemData;
struct WorkspaceData;

class System {
 public:
  explicit System(std::shared_ptr<const SystemData> data) : data_(std::move(data)) {}
  State rest() const;                    // initial positions and velocities of the model
  const Model& model() const;            // beams replaced by links
  const result::Layout& layout() const;  // what observe() fills
  int body_count() const;
  int dof_count() const;
  std::string solver() const;  // what solves its linear systems, for people
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
  void fill_with_nan();  // for tests: no step may depend on what an earlier one left behind

 private:
  std::unique_ptr<WorkspaceData> data_;
};

// One step of size h. On failure the state is left as it was before the step and the report says where and
// why. `between`: states at equal distances within the step, to be filled; only where steps go by an error
// (Options::error), and of no use where the step fails.
result::SolveReport step(const System& system, State& state, Workspace& workspace, double h,
                         std::span<State> between = {});

// The system of the model as `compile` made it after these actions of events, in their order. States fit
// both.
System after(const System& compiled, std::span<const Done> actions);
// Goes on with another such system: what it lacks of the energy of springs, or has more of it, is work.
void take_over(const System& before, const System& now, State& state, Workspace& workspace);

struct StaticResult;  // statics.h
// `rest`: of the search that found the state, whose reactions it then tells; null: those of the motion.
void observe(const System& system, const State& state, Workspace& workspace, result::Snapshot& snapshot,
             const StaticResult* rest = nullptr);
result::Energy energy(const System& system, const State& state, Workspace& workspace);
// The balance of energy starts here: rest() does it for the model's start, who puts the state elsewhere does
// it again.
void open_ledger(const System& system, State& state, Workspace& workspace);

}  // namespace limber::articulated
