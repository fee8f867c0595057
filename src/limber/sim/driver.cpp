#include "limber/sim/driver.h"

#include <algorithm>
#include <cmath>

namespace limber::sim {

bool ArticulatedDriver::finite() const {
  const auto is_finite = [](double x) { return std::isfinite(x); };
  return std::ranges::all_of(state.q, is_finite) && std::ranges::all_of(state.v, is_finite);
}

Driver::Variant Driver::make(const Model& model, const RunOptions& options) {
  switch (options.method) {
    case Method::articulated:
      break;
  }
  return Variant(std::in_place_type<ArticulatedDriver>, model, options.articulated);
}

}  // namespace limber::sim
