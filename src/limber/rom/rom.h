// Reduced compliant models: a whole mechanism at the price of its end effectors, with contact. See
// docs/theory/rom.md.
//
//   rom::ReducedModel reduced = sim::reduce(model, options);       // once; or rom::load(path)
//   auto sys = rom::compile(model, reduced, options);              // const
//   rom::State s = sys.rest();
//   rom::Workspace w(sys);
//   SolveReport r = rom::step(sys, s, w, h);
//   rom::observe(sys, s, w, snapshot);
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "limber/model/model.h"
#include "limber/result/fields.h"
#include "limber/result/hand.h"
#include "limber/result/report.h"
#include "limber/result/snapshot.h"
#include "limber/rom/reduced_model.h"

namespace limber::rom {

// euler: backward Euler as published, damps. midpoint: second order, does not damp; steps with contact are
// Euler's.
enum class Integrator : std::uint8_t { euler, midpoint };
inline constexpr Integrator all_integrators[] = {Integrator::euler, Integrator::midpoint};
const char* to_string(Integrator integrator);

// Of the forces of contact. cone: Coulomb's cone to rounding. pgs: projected Gauss–Seidel as published, a
// given number of sweeps.
enum class ContactSolver : std::uint8_t { cone, pgs };
inline constexpr ContactSolver all_contact_solvers[] = {ContactSolver::cone, ContactSolver::pgs};
const char* to_string(ContactSolver solver);

struct EndLoad {
  std::string end;
  Vec3 force = Vec3::Zero(), moment = Vec3::Zero();  // dead, world axes, at the body's origin [N, N·m]

  template <class Table>
  static void describe(Table& t) {
    t.add("on", &EndLoad::end, "an end effector").naming("body").needed();
    t.add("force", &EndLoad::force, "world axes, at the body's origin").measured_in("N");
    t.add("moment", &EndLoad::moment, "world axes").measured_in("N*m");
  }
};

// A linearisation point asked for by hand: where the mechanism rests under these loads beside those of time
// t.
struct PointRequest {
  double time = 0;
  std::vector<EndLoad> loads;

  template <class Table>
  static void describe(Table& t) {
    t.add("time", &PointRequest::time, "whose loads and drives act").measured_in("s").at_least(0);
    t.add("loads", &PointRequest::loads, "on the ends, beside the scene's own");
  }
};

struct Options {
  std::vector<std::string> ends;
  BuildOptions build;
  std::vector<PointRequest> points;  // beside the one at rest
  // Points chosen by error: for loads on each end up to these, until errors are below the bounds.
  double force = 0, moment = 0;  // [N], [N·m]; both 0: none
  double end_error = 0.02;       // of the mechanism's radius
  double gap_error = 0.05;       // joint gaps summed, of the radius
  int most_points = 16;
  Integrator integrator = Integrator::euler;
  ContactSolver solver = ContactSolver::cone;
  int sweeps = 50;      // of pgs
  int cpu_threads = 1;  // results do not depend on it

  // Each by its key in scenes (sim/option.h); a new one is here and where it is used, nowhere else.
  template <class Table>
  static void describe(Table& t) {
    t.say(
        "Everything that hangs together and has end effectors is reduced to them; single free bodies stay as "
        "they are.",
        "run: {method: rom, time: 2 s, step: 1 ms, rom: {ends: [hand], range: {force: 20 N}}}\n");
    t.add("ends", &Options::ends,
          "the bodies that are touched and loaded; of a beam its last link, `finger.tip`")
        .naming("body")
        .needed()
        .like("[finger1, finger2]")
        .on_command_line("reduce");
    t.choice(
         "inertia", [](auto& o) -> auto& { return o.build.inertia; }, all_inertia_kinds,
         "how the links' inertia is seen from the ends")
        .meaning(
            "condensed: all links move as the static maps move them; operational: what moves in the first "
            "instant; published: single inertias added up. The last two ring too fast")
        .on_command_line("reduce");
    t.choice(
         "construction", [](auto& o) -> auto& { return o.build.construction; }, all_constructions,
         "how the reduced model is found")
        .meaning(
            "exact: one solve of the whole, loops anywhere; walk: link by link from the base, as published")
        .on_command_line("reduce");
    t.add(
         "modes", [](auto& o) -> auto& { return o.build.modes; }, "internal vibrations beside the ends")
        .at_least(0)
        .at_most(100)
        .on_command_line("reduce");
    t.add("points", &Options::points, "further linearisation points: where it rests under these loads");
    t.add("range.force", &Options::force,
          "linearisation points chosen by error, for forces up to this on every end")
        .measured_in("N")
        .at_least(0)
        .on_command_line("reduce");
    t.add("range.moment", &Options::moment, "the same for moments")
        .measured_in("N*m")
        .at_least(0)
        .on_command_line("reduce");
    t.add("end_error", &Options::end_error,
          "allowed with `range`: of an end's pose, of the mechanism's radius")
        .above(0)
        .on_command_line("reduce");
    t.add("gap_error", &Options::gap_error,
          "allowed with `range`: of the joints' gaps, summed, of the radius")
        .above(0)
        .on_command_line("reduce");
    t.add("most_points", &Options::most_points, "that may be taken")
        .at_least(1)
        .at_most(1000)
        .on_command_line("reduce");
    t.choice("integrator", &Options::integrator, all_integrators, "how a step is taken")
        .meaning("euler: damps, as published; midpoint: does not; where there is contact, steps are Euler's")
        .on_command_line();
    t.choice("solver", &Options::solver, all_contact_solvers, "of contact")
        .meaning("cone: Coulomb's cone to rounding; pgs: a given number of sweeps")
        .on_command_line();
    t.add("sweeps", &Options::sweeps, "of pgs").at_least(1);
    t.add("cpu_threads", &Options::cpu_threads, "that share a step, at most; results do not depend on it")
        .formerly("threads")
        .at_least(1)
        .at_most(1024)
        .of_machine()
        .on_command_line();
  }
};

// All that the next step depends on.
struct State {
  double t = 0;
  std::int64_t step = 0;
  std::vector<double>
      q;  // per mechanism: its base (pose 7, centre of mass 3; if free), coordinates; then 7 a free body
  std::vector<double> v;  // their rates; of a free base twist, speed of the centre of mass, angular momentum
  std::vector<double> impulse;  // contacts of the last step: body, body, feature, place, impulse
  static constexpr int impulse_width = 9;
  std::string save() const;
  void load(const std::string& bytes);
};

struct SystemData;
struct WorkspaceData;

class System {
 public:
  explicit System(std::shared_ptr<const SystemData> data) : data_(std::move(data)) {}
  State rest() const;
  const Model& model() const;  // beams replaced by links
  const ReducedModel& reduced() const;
  const result::Layout& layout() const;
  int dof_count() const;  // of the reduced model
  std::string solver() const;
  const SystemData& data() const { return *data_; }

 private:
  std::shared_ptr<const SystemData> data_;
};

// `model` as the scene gives it. Throws ModelError where the reduced model is of another mechanism.
System compile(const Model& model, const ReducedModel& reduced, const Options& options);

class Workspace {
 public:
  explicit Workspace(const System& system);
  Workspace(Workspace&&) noexcept;
  ~Workspace();
  WorkspaceData& data() { return *data_; }

 private:
  std::unique_ptr<WorkspaceData> data_;
};

result::SolveReport step(const System& system, State& state, Workspace& workspace, double h);
void observe(const System& system, const State& state, Workspace& workspace, result::Snapshot& snapshot);
// Poses of all bodies in the world, (bodies); valid until the workspace is used again.
const std::vector<Pose>& update_links(const System& system, const State& state, Workspace& workspace);

// Of each body: which mechanism it is of (−1: none), and whether contact looks at its shapes: at ends, free
// bodies and what is fixed.
struct ContactPart {
  int mechanism = -1;
  bool looked_at = true;
};
std::vector<ContactPart> contact_parts(const System& system);

// The file of a reduced model: versioned, with a checksum, and with the scene it was made from, so that it
// can be run alone. load throws std::invalid_argument, with what is wrong.
struct ModelFile {
  ReducedModel model;
  std::string scene;  // text
};
std::string save(const ModelFile& file);
ModelFile load(const std::string& bytes);

}  // namespace limber::rom
