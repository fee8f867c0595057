#include "limber/chain/static_sensitivity.h"

#include <stdexcept>

namespace limber::chain {

StaticSensitivity::StaticSensitivity(const System& system, const Rest& rest)
    : system_(system), rest_(rest), solver_(system.structure()) {
  solver_.evaluate(rest_, true);
}

StaticSensitivity::Side StaticSensitivity::left_over(const System& system) const {
  const Structure& s = system.structure();
  if (s.links.count() != system_.structure().links.count())
    throw std::invalid_argument("the parameter changes what the structure is made of: there is no gradient");
  Solver solver(s);
  solver.evaluate(rest_, false);
  if (solver.ties().gap().size() != solver_.ties().gap().size())
    throw std::invalid_argument("the parameter changes what the structure is made of: there is no gradient");
  return {solver.balance().r, solver.ties().gap()};
}

StaticSensitivity::Moved StaticSensitivity::move(const System& up, const System& down, double delta) {
  const Side a = left_over(up), b = left_over(down);
  const double scale = 1 / (2 * delta);
  const auto n = a.r.size();
  t_.resize(n), delta_.resize(n), gap_.resize(a.gap.size());
  for (std::size_t k = 0; k < n; ++k) t_[k] = -scale * (a.r[k] - b.r[k]);
  for (std::size_t k = 0; k < gap_.size(); ++k) gap_[k] = scale * (a.gap[k] - b.gap[k]);
  solver_.tangent().solve(system_.structure(), t_, gap_, delta_, dlambda_);
  for (std::size_t k = 0; k < n; ++k) t_[k] = solver_.balance().R[k].transpose() * delta_[k];
  Moved out{rest_, rest_};
  advance(system_.structure().links, out.up.shape, t_, delta);
  advance(system_.structure().links, out.down.shape, t_, -delta);
  for (std::size_t i = 0; i < rest_.lambda.size(); ++i) {
    out.up.lambda[i] += delta * dlambda_[i];
    out.down.lambda[i] -= delta * dlambda_[i];
  }
  return out;
}

}  // namespace limber::chain
