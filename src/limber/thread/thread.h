// Threads: slender continua that stretch, shear, bend and twist, with contact (Larsson, Wallgren, Larson
// 2010). See docs/theory/thread.md.
//
//   auto sys = thread::compile(model, options);   // const: rods, rest shapes, clamps, matrices of every
//   level thread::State s = sys.rest();                 // all that the next step depends on, the mesh too
//   thread::Workspace w(sys);                     // scratch
//   SolveReport r = thread::step(sys, s, w, h);
//   thread::observe(sys, s, w, snapshot);
//
// Every beam of the model is a thread. Bodies are fixed or follow given motions: threads are clamped to them
// and touch their shapes. A body without a joint is carried by the thread that is clamped to it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "limber/model/model.h"
#include "limber/result/report.h"
#include "limber/result/snapshot.h"

namespace limber::thread {

// euler: backward Euler as published, first order, damps. bdf2: second order, damps little; the first step is
// Euler's. alpha: generalised-α, second order, damps what a step does not resolve by `rho`. lobatto:
// collocation at two stages, third order (fourth with rho = 1), damps by `rho` too. Steps with contact are
// Euler steps.
enum class Integrator : std::uint8_t { bdf2, euler, alpha, lobatto };
inline constexpr Integrator all_integrators[] = {Integrator::bdf2, Integrator::euler, Integrator::alpha,
                                                 Integrator::lobatto};
const char* to_string(Integrator integrator);

// log: gradients through log and stretch, split elasticity, exact tangent (element.h). printed: the paper's,
// frozen rotation. green: full nonlinear (Green–Lagrange) strain with the split elasticity.
enum class Element : std::uint8_t { log, printed, green };
inline constexpr Element all_elements[] = {Element::log, Element::printed, Element::green};
const char* to_string(Element element);

// Of the printed element's frame: chord: along the nodes (the paper's eq. 10–12); polar: of the gradient in
// the middle.
enum class Frame : std::uint8_t { chord, polar };
inline constexpr Frame all_frames[] = {Frame::chord, Frame::polar};
const char* to_string(Frame frame);

// direct: block-tridiagonal. cg: conjugate gradients with a block-Jacobi preconditioner, the paper's kind.
enum class Solver : std::uint8_t { direct, cg };
inline constexpr Solver all_solvers[] = {Solver::direct, Solver::cg};
const char* to_string(Solver solver);

struct Options {
  Integrator integrator = Integrator::bdf2;
  double rho = 0.8;  // of alpha and lobatto: what a step leaves of motions far too fast for it; 1: all
  Element element = Element::log;
  Frame frame = Frame::chord;
  Solver solver = Solver::direct;
  double cg_tolerance = 1e-8;  // of the residual, relative
  int iterations = 0;          // Newton iterations a step; 1: the paper's; 0: as many as the step needs
  double substep = 1e-3;       // [s] longest step with contact; longer ones are divided
  int levels = 0;              // an element may be split so many times over; 0: fixed mesh
  double bend = 0.35;          // [rad] in an element: split beyond, join below `join` of it
  double twist = 0.7;          // [rad]
  double join = 0.4;
  double error = 0;  // [m] of the mesh by mesh_error(): elements are split for it too; 0: by angles only

  // Each by its key in scenes (sim/option.h); a new one is here and where it is used, nowhere else.
  template <class Table>
  static void describe(Table& t) {
    t.say("", "run: {method: thread, time: 2 s, step: 1 ms, thread: {levels: 3, bend: 20 deg}}\n");
    t.choice("integrator", &Options::integrator, all_integrators, "how a step is taken")
        .meaning(
            "bdf2: second order, damps little; euler: as published, damps; alpha: generalised-alpha, second "
            "order, "
            "a third of the error of bdf2, damps by rho; lobatto: two stages, third order (fourth with rho "
            "1), "
            "for long steps, damps by rho")
        .on_command_line();
    t.add("rho", &Options::rho,
          "of alpha and lobatto (from 0.1): what a step leaves of motions far too fast for it; 1: all, 0: "
          "nothing")
        .at_least(0)
        .at_most(1)
        .on_command_line();
    t.choice("element", &Options::element, all_elements, "how an element measures its strain")
        .meaning(
            "log: exact tangent, no locking; printed: the paper's, with frozen rotations; green: "
            "Green-Lagrange strain");
    t.choice("frame", &Options::frame, all_frames, "of the printed element")
        .meaning("chord: along its nodes; polar: of the gradient in its middle");
    t.choice("solver", &Options::solver, all_solvers, "of the linear systems").on_command_line();
    t.add("cg_tolerance", &Options::cg_tolerance, "of conjugate gradients, relative").above(0);
    t.add("iterations", &Options::iterations, "Newton iterations a step; 0: as many as it needs").at_least(0);
    t.add("substep", &Options::substep, "longest step with contact; longer ones are divided")
        .measured_in("s")
        .above(0);
    t.add("levels", &Options::levels, "an element may be split so many times over; 0: fixed mesh")
        .at_least(0)
        .at_most(12);
    t.add("bend", &Options::bend, "of an element: it is split beyond").measured_in("rad").above(0).below(2);
    t.add("twist", &Options::twist, "of an element: it is split beyond").measured_in("rad").above(0).below(3);
    t.add("join", &Options::join,
          "part of those angles (and of the error) below which two elements are joined again")
        .above(0)
        .below(1);
    t.add("error", &Options::error,
          "of a thread's midline at most, by an estimate: elements are split for it too; 0: by angles only")
        .measured_in("m")
        .at_least(0)
        .on_command_line();
  }
};

// All that the next step depends on. Copyable; `save` and `load` keep every bit.
struct State {
  double t = 0;                            // [s]
  std::int64_t step = 0;                   // finished
  std::vector<std::int32_t> first;         // (threads + 1) first node of each thread
  std::vector<std::int32_t> place;         // (nodes) in units of the finest element from the thread's root
  std::vector<std::int32_t> coarse;        // (threads) places of a coarsest element; not saved, checks load()
  std::vector<double> e, v;                // (nodes x 12) x, x_,x, x_,y, x_,z and their rates
  std::vector<double> e_before, v_before;  // (nodes x 12) one step ago, for bdf2
  double h_before = 0;                     // [s] that step; 0: none, and no accelerations
  std::vector<double> a, a_mean;  // (nodes x 12) of alpha, lobatto: accelerations, and as alpha averages them
  double made = 0, energy_before = 0;  // [J] of both: made by steps; total after the last (0: not known)
  std::vector<double> strain_before;   // (slots x 24) strains of the last two steps, where a thread damps
  std::vector<double> touch;           // (contacts x 7) the places and the force of each contact: warm start
  double energy0 = 0;                  // [J] total that it started from
  double dissipated = 0,
         work = 0;  // [J] since then: by dampers and friction, by loads and given motions
  int node_count() const { return static_cast<int>(place.size()); }
  std::string save() const;             // bytes
  void load(const std::string& bytes);  // throws std::invalid_argument if they are no state of this system
};

struct SystemData;
struct WorkspaceData;

class System {
 public:
  explicit System(std::shared_ptr<const SystemData> data) : data_(std::move(data)) {}
  State rest() const;
  const Model& model() const;
  const result::Layout& layout() const;  // what observe() fills
  int thread_count() const;
  int dof_count() const;  // of the mesh at the start
  std::string solver() const;
  double radius(int thread) const;  // [m] that contact sees
  double length(int thread) const;  // [m]
  const SystemData& data() const { return *data_; }

 private:
  std::shared_ptr<const SystemData> data_;
};

// Throws ModelError for what this method cannot run, with names.
System compile(const Model& model, const Options& options = {});

// The system of the model as `compile` made it with the clamps that these actions released let go then.
System after(const System& compiled, std::span<const Done> actions);

class Workspace {
 public:
  explicit Workspace(const System& system);
  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) noexcept;
  ~Workspace();
  WorkspaceData& data() { return *data_; }
  void fill_with_nan();

 private:
  std::unique_ptr<WorkspaceData> data_;
};

// One step of size h. On failure the state is left as it was and the report says where and why.
result::SolveReport step(const System& system, State& state, Workspace& workspace, double h);

void observe(const System& system, const State& state, Workspace& workspace, result::Snapshot& snapshot);
result::Energy energy(const System& system, const State& state, Workspace& workspace);
// The balance of energy starts here: rest() does it for the model's start, who puts the state elsewhere does
// it again.
void open_ledger(const System& system, State& state, Workspace& workspace);

struct StaticOptions {
  double tolerance = 1e-10;   // of what is still to come: displacements of the size, turns in rad
  int max_iterations = 5000;  // in all
  int load_steps = 1;
  double load = 1;  // share of loads and weight that acts
};
struct StaticResult {
  result::SolveReport report;
  double residual = 0;  // forces left over before the last iteration, of those that act
  int negative = 0;     // directions in which it is not stable
  int pushes = 0;  // of what leans on something: so many were tried instead of counting; negative: 1 grew
  result::Energy energy;
};
// Where the threads come to rest under the loads of the state's time. The state is left there, at rest; on
// failure as it was. What they lean on holds them, with friction: of the rests that it allows the one that is
// met on the way from the state.
StaticResult solve_static(const System& system, State& state, Workspace& workspace,
                          const StaticOptions& options = {});

// What holds a thread at its root or at a clamp, at rest under a share of its loads: on the thread, world
// axes.
struct Reaction {
  std::string name;        // of the thread; of a clamp with its place: "cord@0.5"
  bool root = true;        // else a clamp
  Vec3 at, force, moment;  // [m, N, N·m]
};
std::vector<Reaction> reactions(const System& system, const State& state, Workspace& workspace,
                                double load = 1);

struct SpringTension {
  std::string name;
  double length = 0, tension = 0;  // [m], [N]
};
std::vector<SpringTension> spring_tensions(const System& system, const State& state, Workspace& workspace);

// The midline and section at a fraction s of a thread's length.
struct Station {
  Vec3 x, tangent;       // [m], dx/ds of the unstrained length
  Vec3 d_y, d_z;         // the section's directions
  double tension = 0;    // [N]
  double twist = 0;      // [1/m], of the strains
  Vec2 curvature{0, 0};  // [1/m] about the section's y and z, of the strains
  double torque = 0;     // [N·m]
  Vec2 moment{0, 0};     // [N·m] about y and z
};
Station station(const System& system, const State& state, Workspace& workspace, int thread, double s);
// `count` of them from end to end.
std::vector<Station> stations(const System& system, const State& state, Workspace& workspace, int thread,
                              int count);

// An estimate of how far the mesh's midline is from that of a much finer mesh, at most along the thread [m]
// (mesh_error.cpp), at rest under its present loads. Of the log element.
double mesh_error(const System& system, const State& state, Workspace& workspace, int thread);

// What the contact of the last step looked like.
struct ContactReport {
  int contacts = 0;
  double deepest = 0;  // [m] overlap left
};
// What presses on a thread at rest.
struct ContactForce {
  std::string on, by;
  Vec3 at, force;  // [m], [N] on `on`
};
std::vector<ContactForce> contact_forces(const System& system, const State& state, Workspace& workspace);
ContactReport contact_report(const System& system, const State& state, Workspace& workspace);

}  // namespace limber::thread
