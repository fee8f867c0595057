// Inside sim/: what each method contributes to equilibria and curves.
#pragma once

#include <functional>
#include <memory>

#include "limber/chain/history.h"
#include "limber/elastic/beam_links.h"
#include "limber/sim/static_curve.h"
#include "limber/thread/thread.h"

namespace limber::sim {

extern const StaticAbility chain_statics, articulated_statics, thread_statics;
inline constexpr StaticJob rest_and_ramp[] = {StaticJob::rest, StaticJob::ramp};

// A rest that follows a load: solved from where it stands.
struct Follower {
  struct Rest {
    result::SolveReport report;
    int negative = 0;
    std::vector<chain::StabilityLoss> lost;
  };
  result::Layout layout;
  std::function<Rest(double load)> solve;
  std::function<void(CurvePoint&, bool shapes)> observe;  // snapshot, deflection, stress; with shapes fields
};

// By a method with a state in time, whose weight grows with its loads.
template <class State, class Workspace, class System, class Options>
Follower follow_state(System compiled, const Options& statics, double time) {
  struct Work {
    System system;
    State state;
    Workspace workspace;
    Options options;
    decltype(solve_static(system, state, workspace, options)) found;
    Work(System s, const Options& o)
        : system(std::move(s)), state(system.rest()), workspace(system), options(o) {}
  };
  const auto work = std::make_shared<Work>(std::move(compiled), statics);
  work->state.t = time;
  return {work->system.layout(),
          [work](double load) {
            work->options.load = load;
            work->found = solve_static(work->system, work->state, work->workspace, work->options);
            return Follower::Rest{work->found.report, work->found.negative, {}};
          },
          [work](CurvePoint& p, bool shapes) {
            observe(work->system, work->state, work->workspace, p.snapshot);
            if (shapes) p.fields = fields(work->system, work->state, work->workspace);
          }};
}

// A path of equilibria from no load on, as often as it is walked.
struct PathWork {
  using Observer = std::function<void(const math::PathPoint&, CurvePoint&)>;
  struct Walk {
    result::SolveReport first;  // of the rest without load; the path is empty where it fails
    math::PathReport path;
  };
  result::Layout layout;
  std::function<Walk(const math::PathOptions&, bool shapes, const Observer&)> walk;
};

// The place of the only load, and how far it went along it since the first time that it was asked.
class LoadedPlace {
 public:
  // `linked`: the model whose bodies the snapshots' frames are.
  LoadedPlace(const Model& linked, double time, bool weight_grows);
  double along(const result::Snapshot& at);

 private:
  const PointLoad* load_ = nullptr;
  double time_;
  std::optional<Vec3> first_;
};

// The largest stress of a point, of sections of beams by their names.
void take_stress(double stress, double safety, const std::string& beam, double s, CurvePoint& p);

// What a rest does not look at, and what it moves to close loops and ties.
std::vector<std::string> static_notes(const Model& model, Question question);

Model with_twice_the_elements(const Model& model);
// Throws std::invalid_argument where there are no elements, or a past.
void refuse_estimate(const Model& model, const StaticOptions& options);

bool has_loads(const Model& model);  // beside the weight
// What a load factor multiplies: the loads; without any the way of given motions and moved supports; without
// these the weight. The others are there in full.
enum class Grows : std::uint8_t { loads, moves, weight };
Grows what_grows(const Model& model, double time);
// The only joint or tie that is moved, and how far; way 0: there is none, or several.
struct MovedPlace {
  std::string name;
  double way = 0;  // [m], or [rad]
  bool turns = false;
};
MovedPlace only_moved(const Model& model, double time);
// Of a curve whose factor is a share of that way.
void take_way(const MovedPlace& moved, double factor, double work, CurvePoint& p);
// Throws ModelError where loads grow and a weight stays.
void refuse_weight(const Model& model, Growth growth, const char* method, double time);

// Throws std::invalid_argument where the method does not do the job, or not with these options.
const MethodInfo& require_job(const MethodInfo& method, StaticJob job, const StaticOptions& options);
// For a job that chain alone does.
const MethodInfo& chain_method(StaticJob job, const StaticOptions& options);

// With stress, safety and what the material says of it.
class SectionForces {
 public:
  explicit SectionForces(const Model& model);
  SectionForce at(int beam, double s, const Vec3& force, const Vec3& moment) const;

 private:
  const Model& model_;
  std::vector<elastic::SectionConstants> constants_;  // one a beam
};

// Beams made of links: where their tips went. Frames are the bodies of the links, lines the traces, in order.
std::vector<BeamRest> linked_beams(const std::vector<elastic::BeamTrace>& traces,
                                   const result::Snapshot& before, const result::Snapshot& after);

chain::StaticOptions chain_options(const StaticOptions& options);

// "stress" [Pa] along the beams and "tension" of the springs, to colour by.
result::Fields chain_fields(const chain::System& system, chain::Solver& solver, const chain::Rest& rest);

// What the structure is at a time depends on what came before: changes, creep, fatigue.
bool has_past(const Model& model, double time);
// Throws ModelError at the first change, or at the material, for a job that knows no past.
void refuse_past(const Model& model, double time, const std::string& what);
// Beams of the published 1R recipe, which has no potential; the other throws ModelError for them.
bool solved_by_sweeps(const Model& model);
void refuse_without_potential(const Model& model);
// Times at which a history comes to rest to reach `time`: of each change, and `steps` even ones if it ages.
std::vector<double> history_times(const Model& model, double time, int steps);

}  // namespace limber::sim
