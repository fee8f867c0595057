// What a path of equilibria tells who designs a switch: where it snaps, where it comes back, whether it
// stays.
#pragma once

#include <optional>

#include "limber/sim/static_curve.h"

namespace limber::sim {

struct Turn {
  double load = 0;        // factor
  double deflection = 0;  // [m]
  bool limit = true;      // false: another branch crosses
};

struct Snap {
  std::optional<Turn> snaps;          // it leaves its rest there as the load grows
  std::optional<Turn> comes_back;     // … and the other side there as it falls
  std::optional<double> stays;        // [m] where it rests on the other side without load: bistable
  const CurvePoint* worst = nullptr;  // of the largest stress
};
Snap snap_of(const StaticCurve& path);

// Newtons and millimetres where the curve has one load, else its share.
std::vector<Statement> describe(const Snap& snap, const StaticCurve& path);

// Where stability is lost, in newtons where there is one load of `force`, else (0) as a share of the load.
Statement describe(const chain::StabilityLoss& lost, double force);
Statement describe(const chain::StabilityLoss& lost, const StaticCurve& path);
Statement describe(const chain::StabilityLoss& lost, const std::string& at);

// [N] of the only load, at a time; 0 where there are several, or the weight grows with it.
double only_force(const Model& model, double time, bool weight_grows);

}  // namespace limber::sim
