// Keeps what a part of a step was made of, while its workspace still holds it.
#include "limber/articulated/step_trace.h"

#include <algorithm>
#include <cmath>

#include "limber/articulated/stepper.h"

namespace limber::articulated {

// The accelerations of sdirk's first stage stand in what its second starts from.
void Stepper::keep_trace(double t, double h) const {
  StepPart part;
  part.t = t, part.h = h, part.by = now_;
  part.q = state_.q, part.v = state_.v;
  if (high_order()) {
    const int stages = now_ == Integrator::rk4 ? 4 : now_ == Integrator::gauss ? 2 : 5;
    part.a.assign(w_.stage_a.begin(), w_.stage_a.begin() + stages);
  } else {
    if (sdirk()) {
      std::vector<double>& first = part.a.emplace_back(w_.v_base);
      for (std::size_t k = 0; k < first.size(); ++k)
        first[k] = (w_.v_base[k] - state_.v[k]) / (h / std::sqrt(2.0));
    }
    part.a.push_back(w_.a);
  }
  for (const ServoState s : w_.servo) part.servo.push_back(static_cast<signed char>(s));
  const auto any = [](const std::vector<char>& x) {
    return std::any_of(x.begin(), x.end(), [](char c) { return c != 0; });
  };
  if (any(w_.limit_active)) part.not_smooth = "a coordinate is on its limit";
  if (touches()) part.not_smooth = "something touches";
  w_.trace->push_back(std::move(part));
}

}  // namespace limber::articulated
