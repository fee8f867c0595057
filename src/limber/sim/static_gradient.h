// Derivatives of what a rest says by what its scene is made of: of every column of its probes at once.
//
//   sim::StaticGradient g(model, run, options);          // finds the rest and keeps its factored tangent
//   auto dJ = g.derivative(model_up, model_down, delta); // two scenes that differ in one parameter by ±
//   delta
//
// Implicit differentiation: articulated/static_sensitivity.h, chain/static_sensitivity.h. A parameter takes
// two compilations, two evaluations of forces at a fixed place and one solve; no search. One that changes
// numbers alone (elastic/number_rates.h) takes no compilation.
#pragma once

#include <memory>
#include <vector>

#include "limber/elastic/number_rates.h"
#include "limber/sim/equilibrium.h"

namespace limber::sim {

class StaticGradient {
 public:
  // By method articulated or chain. Throws ModelError and std::invalid_argument where there is no gradient:
  // another method, a rest with a past, contact, a singular tangent. StaticFailure where there is no rest.
  StaticGradient(const Model& model, const RunOptions& run, const StaticOptions& options);
  ~StaticGradient();
  StaticGradient(StaticGradient&&) noexcept;

  const result::Layout& layout() const;
  const result::Snapshot& rest() const;
  // (scalars of the layout) per unit of the parameter. Throws std::invalid_argument where the parameter
  // changes more than numbers.
  std::vector<double> derivative(const Model& up, const Model& down, double delta);
  // The same by rates of numbers, for less: of columns that tell where things stand; NaN of all others.
  // `delta`: of the parameter.
  std::vector<double> derivative(const elastic::NumberRates& rates, double delta);
  double time() const { return time_; }  // [s] whose loads act

  class Way;  // of a method

 private:
  std::unique_ptr<Way> way_;
  double time_ = 0;
};

}  // namespace limber::sim
