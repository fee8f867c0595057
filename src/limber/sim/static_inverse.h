// The unloaded shape of what was measured under load, and the published sweeps. Both of method chain.
#pragma once

#include "limber/chain/sweeps.h"
#include "limber/sim/equilibrium.h"

namespace limber::sim {

struct UnloadedShape {
  result::SolveReport report;  // of loading it again: not ok, and the shape does not come back
  result::Layout layout;
  result::Snapshot unloaded, loaded;
  std::vector<std::vector<double>> s;  // of each beam's points, along it
  double off = 0;                      // of the loaded shape from the given one, of its size
  bool stable = true;                  // the given shape, under these loads
  std::vector<std::string> warnings;
  bool ok() const { return report.ok(); }
};

// The model shows the loaded shape: the unloaded one is found and loaded again. Throws ModelError at a tie:
// what it carries does not follow from the shape.
UnloadedShape unloaded_shape(const Model& model, const StaticOptions& options = {});

std::vector<Statement> describe(const UnloadedShape& shape);

struct SweptTip {
  std::string beam;
  Vec3 tip = Vec3::Zero();  // [m]
};
struct SweepResult {
  chain::SweepReport report;
  chain::SweepAlgorithm algorithm = chain::SweepAlgorithm::linear_12;
  std::vector<SweptTip> tips;
  std::vector<std::string> warnings;
};
// `algorithm` by its name: quadratic, linear_16 or linear_12.
SweepResult published_sweeps(const Model& model, const std::string& algorithm, int increments, double time);
std::vector<Statement> describe(const SweepResult& result);

}  // namespace limber::sim
