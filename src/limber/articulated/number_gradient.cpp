// Derivatives by the numbers that a system is compiled into: inertias, frames of joints, stiffness, damping
// and ease of their springs. One pass a stage serves every parameter; what a parameter does to these numbers
// two systems tell once. All else that acts (loads, springs between bodies, drives, gravity) is looked at of
// both systems at each stage, on the links of the motion at hand, which costs as much as there is of it.
#include <algorithm>

#include "limber/articulated/linear_dynamics.h"
#include "limber/elastic/joint_law.h"
#include "limber/math/so3.h"

namespace limber::articulated {

using multibody::Link;

NumberGradient::NumberGradient(const SystemData& s)
    : inertia(s.tree.size()),
      drag(s.tree.size()),
      frame(s.tree.size(), Vec6::Zero()),
      stiffness(s.tree.v_count()),
      damping(stiffness),
      rest(stiffness) {}

// ψ·I A = ψ_w·(I A_w + h × A_v) + ψ_v·(m A_v − h × A_w).
void NumberGradient::Bilinear::add(const Vec6& psi, const Vec6& A) {
  const Vec3 w = psi.head<3>(), v = psi.tail<3>(), a = A.head<3>(), b = A.tail<3>();
  m += v.dot(b);
  h += b.cross(w) + v.cross(a);
  I += w * a.transpose();
}

double NumberGradient::Bilinear::times(const Inertia& up, const Inertia& down) const {
  return m * (up.m - down.m) + h.dot(up.h - down.h) + I.cwiseProduct(up.I - down.I).sum();
}

double NumberGradient::between(const SystemData& up, const SystemData& down,
                               const std::vector<int>& apart) const {
  double sum = 0;
  auto next = apart.begin();
  for (int i = 0; i < up.tree.size(); ++i) {
    const bool is_apart = next != apart.end() && *next == i;
    if (is_apart) ++next;
    sum += inertia[i].times(up.tree[i].inertia, down.tree[i].inertia);
    const Pose moved = down.tree[i].X_PF.inverse() * up.tree[i].X_PF;
    sum += frame[i].dot(math::se3_log(moved));
    if (const int b = up.body_block_index[i]; b >= 0) sum += drag[i].times(up.drag[b], down.drag[b]);
    const bool plain = !has_rotation_vector(up.tree[i].kind);
    const JointLaw &a = up.model.joints()[i].law, &b = down.model.joints()[i].law;
    for (int k = 0; k < up.tree[i].dofs; ++k) {
      const int n = up.tree[i].v + k;
      sum += damping[n] * (up.damping[n] - down.damping[n]);
      if (is_apart) continue;
      sum += stiffness[n] * (plain ? up.stiffness[n] - down.stiffness[n] : a.stiffness[k] - b.stiffness[k]);
      if (plain) sum += rest[n] * (up.rest[n] - down.rest[n]);
    }
  }
  return sum;
}

bool differ_beyond_numbers(const SystemData& up, const SystemData& down) {
  if (up.body_block_index != down.body_block_index || up.drag.size() != down.drag.size()) return true;
  for (int i = 0; i < up.tree.size(); ++i) {
    if (up.tree[i].lead != down.tree[i].lead) return true;
    if (!has_rotation_vector(up.tree[i].kind)) continue;
    const JointLaw &a = up.model.joints()[i].law, &b = down.model.joints()[i].law;
    if (a.extras || b.extras) return true;
    if (up.has_rotation_law[i] != down.has_rotation_law[i]) return true;
  }
  return false;
}

std::vector<int> springs_apart(const SystemData& up, const SystemData& down) {
  std::vector<int> out;
  for (int i = 0; i < up.tree.size(); ++i)
    if (has_rotation_vector(up.tree[i].kind) &&
        up.model.joints()[i].law.rest != down.model.joints()[i].law.rest)
      out.push_back(i);
  return out;
}

namespace {

// What is not a number is told apart by where it is kept: two that are equal may count as different.
bool same(const TimeFunction& a, const TimeFunction& b) {
  return a.is_constant() && b.is_constant() && a.value(0) == b.value(0);
}
bool same(const VectorFunction& a, const VectorFunction& b) {
  return same(a.c[0], b.c[0]) && same(a.c[1], b.c[1]) && same(a.c[2], b.c[2]);
}
bool same(const LinkPoint& a, const LinkPoint& b) { return a.link == b.link && a.p == b.p; }
bool same(const elastic::SpringParameters& a, const elastic::SpringParameters& b) {
  return a.stiffness == b.stiffness && a.damping == b.damping && a.rest_length == b.rest_length &&
         a.tension_only == b.tension_only && a.curves == b.curves;
}
bool same(const CompiledLoad& a, const CompiledLoad& b) {
  return same(a.at, b.at) && a.R_MB == b.R_MB && same(a.force, b.force) && same(a.moment, b.moment) &&
         a.follows == b.follows;
}
bool same(const GroundSpring& a, const GroundSpring& b) {
  return same(a.at, b.at) && a.anchor_W == b.anchor_W && same(a.law, b.law);
}
bool same(const PairSpring& a, const PairSpring& b) {
  return same(a.a, b.a) && same(a.b, b.b) && same(a.law, b.law);
}

}  // namespace

bool elements_may_differ(const SystemData& up, const SystemData& down) {
  const bool others = !up.bushings.empty() || !up.riders.empty() || !up.wind_shapes.empty() ||
                      !up.drives.empty() || !up.extra_laws.empty();
  const auto equal = [](const auto& a, const auto& b) {
    return std::ranges::equal(a, b, [](const auto& x, const auto& y) { return same(x, y); });
  };
  return others || !equal(up.loads, down.loads) || !equal(up.ground_springs, down.ground_springs) ||
         !equal(up.pair_springs, down.pair_springs);
}

// τ = −∂V − H (h v + h² a), H the positive part of the Hessian.
double LinearDynamics::power_of_springs(const std::vector<int>& links, const SystemData& of,
                                        const double* lambda) const {
  const double h = at_.ahead;
  double sum = 0;
  for (const int i : links) {
    const Link& link = s_.tree[i];
    if (!of.has_rotation_law[i]) continue;
    const JointLaw& law = of.model.joints()[i].law;
    const elastic::JointConfiguration c = elastic::configuration_of(link.kind, at_.q + link.q);
    Vec6 force = elastic::joint_energy_gradient(link.kind, law, c).gradient;
    if (h > 0) {
      const Mat6 H = elastic::joint_hessian_psd(link.kind, law, c);
      for (int k = 0; k < link.dofs; ++k) force += h * H.col(k) * (at_.v[link.v + k] + h * at_.a[link.v + k]);
    }
    for (int k = 0; k < link.dofs; ++k) sum += lambda[link.v + k] * force[k];
  }
  return sum;
}

// τ = −K (q − rest + h v) − D v − (hD + h²K) a, of rotations −J_r⁻ᵀ diag(k) (θ + J_r⁻¹ (h v + h² a)).
void LinearDynamics::add_to(NumberGradient& out, const double* lambda) const {
  const double h = at_.ahead;
  const Vec3 g = w_.weight * s_.model.gravity().value(at_.t);
  for (int i = 0; i < s_.tree.size(); ++i) {
    const Link& link = s_.tree[i];
    const LinkMotion& m = links_[i];
    Vec6 falling = A_[i];
    falling.tail<3>() -= m.X_WM.R.transpose() * g;
    out.inertia[i].add(psi_[i], falling);
    out.inertia[i].add(-cross_motion(m.V, psi_[i]), m.V);
    if (s_.body_block_index[i] >= 0) out.drag[i].add(psi_[i], m.V + h * A_[i]);
    out.frame[i] += multibody::joint_transform(link, at_.q + link.q).force(rho_bar_[i]);
    const bool plain = !has_rotation_vector(link.kind);
    for (int k = 0; k < link.dofs; ++k) {
      const int n = link.v + k;
      out.damping[n] += lambda[n] * (at_.v[n] + h * at_.a[n]);
      if (!plain) continue;
      out.stiffness[n] += lambda[n] * (at_.q[link.q + k] - s_.rest[n] + h * (at_.v[n] + h * at_.a[n]));
      out.rest[n] -= lambda[n] * s_.stiffness[n];
    }
    if (plain) continue;
    const JointLaw& law = s_.model.joints()[i].law;
    const elastic::JointConfiguration c = elastic::configuration_of(link.kind, at_.q + link.q);
    const Mat3 R_0 = math::so3_exp({law.rest[0], law.rest[1], law.rest[2]});
    const Vec3 theta = math::so3_log(R_0.transpose() * c.R);
    const Mat3 J_inverse = math::so3_jacobian_inverse(theta);
    const Vec3 along = J_inverse * Vec3(lambda[link.v], lambda[link.v + 1], lambda[link.v + 2]);
    const auto ahead = [&](int k) { return h * (at_.v[link.v + k] + h * at_.a[link.v + k]); };
    const Vec3 turn = theta + J_inverse * Vec3(ahead(0), ahead(1), ahead(2));
    for (int k = 0; k < 3; ++k) out.stiffness[link.v + k] += along[k] * turn[k];
    for (int k = 3; k < link.dofs; ++k)
      out.stiffness[link.v + k] += lambda[link.v + k] * (c.q[k] - law.rest[k] + ahead(k));
  }
}

double LinearDynamics::power_of_elements(LinearDynamics& other, const std::vector<signed char>& servo,
                                         const double* lambda) {
  double sum = 0;
  const Vec3 g = s_.model.gravity().value(other.at_.t), g_other = other.s_.model.gravity().value(other.at_.t);
  if (g != g_other)
    for (int i = 0; i < s_.tree.size(); ++i) {
      const Inertia& I = other.s_.tree[i].inertia;
      const Vec6& psi = other.psi_[i];
      sum -= (g - g_other).dot(other.links_[i].X_WM.R * (psi.head<3>().cross(I.h) + I.m * psi.tail<3>()));
    }
  if (!elements_ && !actuators_) return sum;
  for (std::size_t k = 0; k < servo.size(); ++k) w_.servo[k] = static_cast<ServoState>(servo[k]);
  std::swap(w_.links, other.links_);
  find_forces(other.at_, other.A_, {.laws = false, .own = false}, F_, tau_);
  std::swap(w_.links, other.links_);
  for (int i = 0; i < s_.tree.size(); ++i) sum -= other.psi_[i].dot(F_[i]);
  for (std::size_t k = 0; k < tau_.size(); ++k) sum -= lambda[k] * tau_[k];
  return sum;
}

}  // namespace limber::articulated
