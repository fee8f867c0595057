#include "limber/chain/static_sensitivity.h"

#include <algorithm>
#include <stdexcept>

namespace limber::chain {

StaticSensitivity::StaticSensitivity(const System& system, const Rest& rest)
    : system_(system),
      rest_(rest),
      solver_(system.structure()),
      varied_(system.structure()),
      of_varied_(varied_) {
  solver_.evaluate(rest_, true);
  of_varied_.evaluate(rest_, false);
  here_ = {of_varied_.balance().r, of_varied_.ties().gap()};
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

// Turns of the joints (t_) and multipliers (dlambda_) by the parameter.
void StaticSensitivity::solve(const Side& up, const Side& down, double delta) {
  const double scale = 1 / (2 * delta);
  const auto n = up.r.size();
  t_.resize(n), delta_.resize(n), gap_.resize(up.gap.size());
  for (std::size_t k = 0; k < n; ++k) t_[k] = -scale * (up.r[k] - down.r[k]);
  for (std::size_t k = 0; k < gap_.size(); ++k) gap_[k] = scale * (up.gap[k] - down.gap[k]);
  solver_.tangent().solve(system_.structure(), t_, gap_, delta_, dlambda_);
  for (std::size_t k = 0; k < n; ++k) t_[k] = solver_.balance().R[k].transpose() * delta_[k];
}

StaticSensitivity::Moved StaticSensitivity::apart(double delta) const {
  Moved out{rest_, rest_};
  advance(system_.structure().links, out.up.shape, t_, delta);
  advance(system_.structure().links, out.down.shape, t_, -delta);
  for (std::size_t i = 0; i < rest_.lambda.size(); ++i) {
    out.up.lambda[i] += delta * dlambda_[i];
    out.down.lambda[i] -= delta * dlambda_[i];
  }
  return out;
}

StaticSensitivity::Moved StaticSensitivity::move(const System& up, const System& down, double delta) {
  solve(left_over(up), left_over(down), delta);
  return apart(delta);
}

void StaticSensitivity::touch(int link) {
  touched_.push_back(link);
  varied_.loaded[link] = 1;
}

void StaticSensitivity::take_back() {
  const Structure& s = system_.structure();
  for (const int link : touched_) {
    varied_.links.stiffness[link] = s.links.stiffness[link];
    varied_.links.compliance[link] = s.links.compliance[link];
    varied_.fixed[link] = s.fixed[link], varied_.ramped[link] = s.ramped[link];
  }
  touched_.clear();
}

Solver& StaticSensitivity::with_numbers(const elastic::NumberRates& rates, double by) {
  take_back();
  const Structure& s = system_.structure();
  const Model& m = system_.model();
  std::vector<DeadLoad>& weights = system_.options().weight_ramps ? varied_.ramped : varied_.fixed;
  const double t = system_.options().time;
  const auto add_weight = [&](std::size_t body, double share, const Vec3& g) {
    const BodyPlace& at = system_.bodies()[body];
    if (at.link < 0) return;
    touch(at.link);
    const Inertia& I = m.bodies()[body].inertia;
    weights[at.link].F += share * I.m * g;
    weights[at.link].S += share * g * (at.X.R * I.h + I.m * at.X.p).transpose();
  };
  for (const elastic::BeamRates& b : rates.beams) {
    const elastic::BeamTrace& trace = system_.traces()[b.beam];
    for (std::size_t k = 0; k < trace.pieces.size(); ++k) {
      const int body = trace.pieces[k].value;
      add_weight(static_cast<std::size_t>(body), by * b.mass, m.gravity().value(t));
      if (k == 0) continue;
      const int link = system_.bodies()[body].link;
      const Joint& joint = m.joints()[body];
      const DofArray rate = elastic::joint_rates(b, joint.kind);
      const bool hinge = joint.kind == JointKind::revolute;
      const Vec3 stiff = hinge ? Vec3(rate[0], rate[0], rate[0]) : Vec3(rate[0], rate[1], rate[2]);
      varied_.links.stiffness[link] = s.links.stiffness[link].cwiseProduct(Vec3::Ones() + by * stiff);
      if (trace.give.empty()) continue;
      const Vec3 give = hinge ? Vec3(b.give[0], b.give[2], 0) : b.give;
      const Mat3 R = system_.bodies()[trace.pieces[k - 1].value].X.R * joint.X_PF.R;
      const Vec3 base = (R.transpose() * s.links.compliance[link] * R).diagonal();
      varied_.links.compliance[link] += by * R * base.cwiseProduct(give).asDiagonal() * R.transpose();
    }
  }
  if (!rates.gravity.isZero(0))
    for (std::size_t i = 0; i < system_.bodies().size(); ++i) add_weight(i, by, rates.gravity);
  for (const elastic::LoadRate& l : rates.loads)
    for (const PointLoad& load : m.point_loads()) {
      if (load.of.value != l.load || !load.at.body.valid()) continue;
      const BodyPlace& at = system_.bodies()[load.at.body.value];
      if (at.link < 0) continue;
      touch(at.link);
      varied_.ramped[at.link].F += by * l.force;
      varied_.ramped[at.link].S += by * l.force * (at.X * load.at.p).transpose();
      varied_.ramped[at.link].M += by * l.moment;
    }
  return of_varied_;
}

StaticSensitivity::Side StaticSensitivity::left_over(const elastic::NumberRates& rates, double by) {
  Solver& solver = with_numbers(rates, by);
  solver.evaluate(rest_, false);
  return {solver.balance().r, solver.ties().gap()};
}

StaticSensitivity::Moved StaticSensitivity::move(const elastic::NumberRates& rates, double turn,
                                                 double& delta) {
  if (system_.structure().links.stretch)
    solve(left_over(rates, delta), left_over(rates, -delta), delta);
  else
    solve(left_over(rates, delta), here_, 0.5 * delta);  // moments are linear in stiffness, loads and weight
  double most = 0;
  for (const Vec3& x : t_) most = std::max(most, x.cwiseAbs().maxCoeff());
  delta = most > 0 ? std::min(turn / most, 10 * delta) : delta;
  return apart(delta);
}

}  // namespace limber::chain
