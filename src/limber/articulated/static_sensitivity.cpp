#include "limber/articulated/static_sensitivity.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "limber/articulated/equilibrium.h"
#include "limber/articulated/tangent.h"
#include "limber/elastic/joint_law.h"
#include "limber/math/so3.h"

namespace limber::articulated {

struct StaticSensitivity::Side {
  std::vector<double> force;  // (v_count)
  std::vector<Vec6> gap;      // (loops) −gap, of the rows in their order
  std::vector<Vec6> locked;   // (locks) where their rows want the coordinates
};

StaticSensitivity::StaticSensitivity(const System& system, const State& rest, const StaticOptions& options)
    : system_(system), rest_(rest), workspace_(system), options_(options) {
  if (!rest.touching.empty())
    throw std::invalid_argument("what leans on something has no gradient: its contacts may slide or open");
  const SystemData& s = system_.data();
  if (!s.cables.empty()) throw std::invalid_argument("a scene with cables over guides has no gradient");
  at_ = std::make_unique<Equilibrium>(s, rest_, workspace_.data(), options_);
  Equilibrium& e = *at_;
  e.set_shares(1);
  const std::vector<double> values = e.limit_values(e.q_);
  for (std::size_t l = 0; l < s.limits.size(); ++l)
    e.touched_[l] = std::abs(values[l] - s.limits[l].bound) <= 1e-9 * (1 + std::abs(s.limits[l].bound));
  e.update_servos();
  e.set_augment();
  e.assemble(0);  // without the stiffness of the multipliers, which vanishes with the step: they are found
  e.gaba_.factor(e.K_, true);
  e.gaba_.solve(e.rhs_, e.scratch_, e.x_);
  e.lambda_ = e.x_.lambda;
  e.assemble(0);
  if (!e.gaba_.factor(e.K_, true) || e.gaba_.directions().moved > 0)
    throw std::invalid_argument(
        "no gradient here: the tangent is singular (a limit point, or a direction that nothing holds)");
  links_ = e.w_.links;
}

StaticSensitivity::~StaticSensitivity() = default;

Workspace StaticSensitivity::workspace_of(const System& system) const {
  Workspace out(system);
  out.data().load = at_->w_.load, out.data().weight = at_->w_.weight;
  out.data().servo = at_->w_.servo;
  return out;
}

StaticSensitivity::Side StaticSensitivity::left_over(const System& system,
                                                     const std::vector<double>& q) const {
  const SystemData& s = system.data();
  const Equilibrium& e = *at_;
  const auto same = [&](auto get) { return get(s) == get(e.s_); };
  if (!same([](const auto& x) { return x.tree.size(); }) ||
      !same([](const auto& x) { return x.tree.q_count(); }) ||
      !same([](const auto& x) { return x.loops.size(); }) ||
      !same([](const auto& x) { return x.limits.size(); }) ||
      !same([](const auto& x) { return x.drives.size(); }) ||
      !same([](const auto& x) { return x.motions.size(); }))
    throw std::invalid_argument("the parameter changes what the structure is made of: there is no gradient");
  Workspace workspace = workspace_of(system);
  WorkspaceData& w = workspace.data();
  const std::vector<double> still(s.tree.v_count(), 0.0);
  evaluate(s, q.data(), still.data(), e.t_, {0, 0, 0}, w);
  multibody::BlockSystem geometry(s.tree, e.pattern_);
  geometry.length = e.K_.length;
  multibody::set_kinematics(q.data(), w.links, geometry);
  std::vector<LoopState> loops(s.loops.size());
  place_loops(s, q.data(), w.links, loops);
  put_loop_rows(s, loops, geometry);
  Side out;
  out.gap.assign(s.loops.size(), Vec6::Zero());
  for (std::size_t l = 0; l < loops.size(); ++l) out.gap[l] = -loops[l].gap;
  for (std::size_t k = 0; k < s.limits.size(); ++k) {
    const Limit& limit = s.limits[k];
    if (!e.touched_[k] || limit.loop < 0) continue;
    const int row = add_limit_row(s, limit, loops[limit.loop], geometry);
    if (row >= 0) out.gap[limit.loop][row] = limit.bound - limit_coordinate(s, limit, q.data(), &loops);
  }
  std::vector<Vec6> F(s.tree.size());
  for (int i = 0; i < s.tree.size(); ++i) {
    const Mat3& R = w.links[i].X_WM.R;
    F[i] << R * w.wrench[i].head<3>(), R * w.wrench[i].tail<3>();
  }
  multibody::subtract_loop_forces(geometry, e.lambda_.data(), F.data());
  out.force.resize(s.tree.v_count());
  multibody::jacobian_transpose_times(geometry, F.data(), out.force.data());
  for (std::size_t k = 0; k < out.force.size(); ++k) out.force[k] += w.tau[k];

  out.locked.assign(e.locks_.size(), Vec6::Zero());
  std::vector<int> rows(e.locks_.size(), 0);
  std::vector<double> wanted = q;
  for (const CompiledMotion& m : s.motions) {
    const multibody::Link& link = s.tree[m.link];
    double rates[6];
    prescribed(m, link, e.t_, wanted.data() + link.q, rates, e.options_.motion);
    const auto given = wanted.begin() + link.q;
    if (has_rotation_vector(link.kind) &&
        !std::equal(given, given + multibody::coordinate_count(link.kind), q.begin() + link.q))
      throw std::invalid_argument("the parameter turns a given motion in space: there is no gradient");
    const int lock = e.lock_index_[m.link];
    if (!has_rotation_vector(link.kind))
      for (int k = 0; k < link.dofs; ++k)
        out.locked[lock][k] = given[k] - q[static_cast<std::size_t>(link.q + k)];
    rows[lock] = link.dofs;
  }
  for (std::size_t k = 0; k < s.limits.size(); ++k)
    if (const Limit& limit = s.limits[k]; e.touched_[k] && limit.loop < 0) {
      const int lock = e.lock_index_[limit.link];
      out.locked[lock][rows[lock]++] = limit.bound - limit_coordinate(s, limit, q.data(), nullptr);
    }
  return out;
}

// x: rates of the coordinates by p, from the differences of two sides.
void StaticSensitivity::solve(const Side& up, const Side& down, double delta, bool forces,
                              std::vector<double>& rates) {
  Equilibrium& e = *at_;
  const double scale = 1 / (2 * delta);
  e.rhs_.clear();
  if (forces)
    for (std::size_t k = 0; k < up.force.size(); ++k) e.rhs_.tau[k] = scale * (up.force[k] - down.force[k]);
  for (std::size_t l = 0; l < up.gap.size(); ++l) e.rhs_.g[l] = scale * (up.gap[l] - down.gap[l]);
  if (!up.gap.empty()) {  // as the tangent has ρ GᵀG
    std::vector<Vec6> scaled = e.rhs_.g;
    for (std::size_t l = 0; l < scaled.size(); ++l)
      scaled[l].array() *= -augment_weights(e.s_, static_cast<int>(l), e.K_.loops[l], e.augment_).array();
    multibody::subtract_loop_forces(e.K_, scaled.data(), e.rhs_.wrench.data());
  }
  for (std::size_t l = 0; l < e.locks_.size(); ++l) e.locks_[l].g = scale * (up.locked[l] - down.locked[l]);
  e.gaba_.take_given();
  e.gaba_.solve(e.rhs_, e.scratch_, e.x_);
  if (e.circulatory_) e.complete_step(0);
  for (std::size_t k = 0; k < rates.size(); ++k) rates[k] += e.x_.a[k];
}

StaticSensitivity::Moved StaticSensitivity::move(const System& up, const System& down, double delta) {
  const Equilibrium& e = *at_;
  std::vector<double> rates(e.s_.tree.v_count(), 0.0);
  Moved out{rest_, rest_};
  const auto go = [&] {
    multibody::integrate(e.s_.tree, e.q_.data(), rates.data(), delta, out.up.q.data());
    multibody::integrate(e.s_.tree, e.q_.data(), rates.data(), -delta, out.down.q.data());
  };
  if (!e.s_.loops.empty() || !e.locks_.empty()) {
    solve(left_over(up, e.q_), left_over(down, e.q_), delta, false, rates);
    go();
  }
  solve(left_over(up, out.up.q), left_over(down, out.down.q), delta, true, rates);
  go();
  return out;
}

// On every link, about its origin, world axes: of loads and of weight.
std::vector<Vec6> StaticSensitivity::wrenches(const elastic::NumberRates& rates) const {
  const Equilibrium& e = *at_;
  const SystemData& s = e.s_;
  const std::vector<LinkMotion>& links = links_;
  std::vector<Vec6> out(s.tree.size(), Vec6::Zero());
  const auto add_weight = [&](int i, double share, const Vec3& g) {
    const Inertia& I = s.tree[i].inertia;
    out[i].head<3>() += share * (links[i].X_WM.R * I.h).cross(g);
    out[i].tail<3>() += share * I.m * g;
  };
  const Vec3 g = e.w_.weight * s.model.gravity().value(e.t_);
  for (const elastic::BeamRates& b : rates.beams)
    for (const BodyId piece : s.traces[b.beam].pieces) add_weight(piece.value, b.mass, g);
  if (!rates.gravity.isZero(0))
    for (int i = 0; i < s.tree.size(); ++i) add_weight(i, e.w_.weight, rates.gravity);
  for (const elastic::LoadRate& l : rates.loads)
    for (const CompiledLoad& load : s.loads) {
      if (load.of != l.load) continue;
      const Vec3 arm = links[load.at.link].X_WM.R * load.at.p;
      out[load.at.link].head<3>() += e.w_.load * (arm.cross(l.force) + l.moment);
      out[load.at.link].tail<3>() += e.w_.load * l.force;
    }
  return out;
}

// τ = −K (q − rest), of rotations −J_r⁻ᵀ K θ: linear in K.
void StaticSensitivity::add_joint_forces(const elastic::NumberRates& rates,
                                         std::vector<double>& force) const {
  const Equilibrium& e = *at_;
  const SystemData& s = e.s_;
  for (const elastic::BeamRates& b : rates.beams)
    for (const BodyId piece : s.traces[b.beam].pieces) {
      const multibody::Link& link = s.tree[piece.value];
      const JointLaw& law = s.model.joints()[piece.value].law;
      const DofArray rate = elastic::joint_rates(b, link.kind);
      const elastic::JointConfiguration c = elastic::configuration_of(link.kind, e.q_.data() + link.q);
      const bool turns = has_rotation_vector(link.kind);
      for (int k = turns ? 3 : 0; k < link.dofs; ++k)
        force[link.v + k] -= rate[k] * law.stiffness[k] * (c.q[k] - law.rest[k]);
      if (!turns) continue;
      const Mat3 R_0 = math::so3_exp({law.rest[0], law.rest[1], law.rest[2]});
      const Vec3 theta = math::so3_log(R_0.transpose() * c.R);
      const Vec3 K(rate[0] * law.stiffness[0], rate[1] * law.stiffness[1], rate[2] * law.stiffness[2]);
      const Vec3 moment = math::so3_jacobian_inverse(theta).transpose() * K.cwiseProduct(theta);
      for (int k = 0; k < 3; ++k) force[link.v + k] -= moment[k];
    }
}

StaticSensitivity::Moved StaticSensitivity::move(const elastic::NumberRates& rates, double turn,
                                                 double& delta) {
  const Equilibrium& e = *at_;
  Side up, none;
  std::vector<Vec6> F = wrenches(rates);
  up.force.resize(e.s_.tree.v_count());
  multibody::jacobian_transpose_times(e.K_, F.data(), up.force.data());
  add_joint_forces(rates, up.force);
  none.force.assign(up.force.size(), 0.0);
  up.gap.assign(e.s_.loops.size(), Vec6::Zero()), up.locked.assign(e.locks_.size(), Vec6::Zero());
  none.gap = up.gap, none.locked = up.locked;
  std::vector<double> way(up.force.size(), 0.0);
  solve(up, none, 0.5, true, way);
  double most = 0;
  for (std::size_t k = 0; k < way.size(); ++k) most = std::max(most, std::abs(way[k]) * e.s_.rate_unit[k]);
  delta = most > 0 ? turn / most : 1;
  Moved out{rest_, rest_};
  multibody::integrate(e.s_.tree, e.q_.data(), way.data(), delta, out.up.q.data());
  multibody::integrate(e.s_.tree, e.q_.data(), way.data(), -delta, out.down.q.data());
  return out;
}

}  // namespace limber::articulated
