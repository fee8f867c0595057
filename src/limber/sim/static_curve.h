// Rests one after the other: as the loads come on, along the path of equilibria, in the course of time.
//
//   const sim::StaticCurve curve = sim::equilibrium_path(model);
//   for (const sim::CurvePoint& p : curve.points) plot(p.load, p.snapshot.scalars);
#pragma once

#include "limber/sim/equilibrium.h"

namespace limber::sim {

struct CurvePoint {
  enum class Kind : std::uint8_t { regular, limit, bifurcation };
  double load = 1;            // factor of the loads that grow
  double time = 0;            // [s] whose loads act
  int negative = 0;           // directions in which it would leave
  Kind kind = Kind::regular;  // limit: the load turns here; bifurcation: another branch crosses
  double deflection =
      0;  // [m] of the place of the only load, along it, since the first point; or the way moved
  double reaction = 0;        // [N or N·m] where a way grows: what it takes, along it
  double largest_stress = 0;  // [Pa] von Mises', of a history or a path
  std::string stressed;       // the beam of a path's largest stress …
  double stressed_at = 0;     // … where on it, 0…1 …
  double safety = 0;          // … and yield stress over it; infinite where it has none
  std::size_t severed = 0;    // branches that have come off, of a history
  result::Snapshot snapshot;  // without `shapes` its scalars alone
  result::Fields fields;
};
const char* to_string(CurvePoint::Kind kind);

struct StaticCurve {
  StaticJob job = StaticJob::ramp;
  std::string method;
  result::SolveReport report;  // not ok: the curve ends early, and why
  result::Layout layout;
  std::vector<CurvePoint> points;
  std::vector<CurvePoint> other;  // of a path that a branch crosses: the other way there, without poses
  double force = 0;               // [N] of the only load at factor 1; 0: there are several, or none
  double stiffness = 0;           // [N/m] against that load at the first point; 0: not known
  double way = 0;                 // [m or rad] that grows instead of loads, at factor 1; 0: none, or several
  bool turns = false;             // … and is a turn
  std::string moved;              // the joint or tie whose way it is
  std::vector<chain::StabilityLoss> lost;
  std::vector<double>
      lost_error;  // of each one's load factor, where an estimate was asked for; NaN: not known
  std::vector<std::string> events;    // of a history: "2 s: beam "limb" is cut …"
  std::vector<std::string> warnings;  // what makes the numbers worth less
  bool ok() const { return report.ok(); }
};

// Of what is asked of every curve: options.load has no meaning here.
struct CurveOptions {
  StaticOptions statics;
  bool shapes = true;  // keep poses and fields of every point, not its probes alone
};

// What grows with the load factor: all that acts, or the loads alone, with the weight in full from the start.
// Where there are no loads the weight grows. Loads alone are known to method chain, and to the others where
// there is no weight.
enum class Growth : std::uint8_t { everything, loads };

// Loads in even steps from none to all, each rest from the one before. By all methods.
StaticCurve load_curve(const Model& model, const RunOptions& run, int steps, Growth growth,
                       const CurveOptions& options = {});

// Which way a path goes where others cross it: through, off at the first one to either side, or always where
// the fewest directions are unstable, as a structure does that is led slowly.
enum class Branch : std::int8_t { other_side = -1, straight = 0, one_side = 1, stable = 2 };

// The path of equilibria from no load to all of it, past limit points. By methods chain and articulated.
StaticCurve equilibrium_path(const Model& model, Branch branch = Branch::straight,
                             const CurveOptions& options = {}, const RunOptions& run = {});

// Through time, at rest at `steps` even times, with the model's changes, creep, fatigue and breaking. By
// method chain. options.time has no meaning here.
StaticCurve static_history(const Model& model, double until, int steps, const CurveOptions& options = {});

// How a rest is come to, to be drawn: its history where it has a past, else all that acts in even steps.
StaticCurve way_to_rest(const Model& model, const RunOptions& run, int steps,
                        const CurveOptions& options = {});

std::vector<Statement> describe(const StaticCurve& curve);

}  // namespace limber::sim
