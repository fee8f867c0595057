#include "limber/articulated/linear_dynamics.h"

#include <algorithm>
#include <cmath>

#include "limber/elastic/joint_law.h"
#include "limber/math/so3.h"

namespace limber::articulated {

using multibody::Link;

namespace {

// Ways of central differences: poses in radians and sizes, twists in radians a second and sizes a second.
// Their own error is the square of it, rounding's 1e-16 over it.
constexpr double pose_way = 3e-6, twist_way = 1e-4;

bool has_elements(const SystemData& s) {
  return !s.ground_springs.empty() || !s.loads.empty() || !s.wind_shapes.empty() || !s.riders.empty() ||
         !s.bushings.empty() || !s.pair_springs.empty();
}

}  // namespace

std::string no_gradient_of(const SystemData& s) {
  if (!s.loops.empty()) return "loops";
  if (!s.couplings.empty()) return "couplings of joints";
  if (!s.cables.empty()) return "cables over guides";
  if (!s.rubs.empty()) return "dry friction";
  if (!s.model.controllers().empty()) return "controllers";
  if (!s.model.events().empty()) return "events";
  if (s.options.error > 0) return "steps by an error";
  return {};
}

LinearDynamics::LinearDynamics(const System& system)
    : system_(system),
      s_(system_.data()),
      workspace_(system_),
      w_(workspace_.data()),
      links_(s_.tree.size()),
      S_(s_.tree.size()),
      A_(s_.tree.size()),
      psi_(A_),
      f_(A_),
      V_bar_(A_),
      A_bar_(A_),
      psi_bar_(A_),
      pose_bar_(A_),
      rho_bar_(A_),
      axes_of_(s_.tree.size(), -1),
      tau_q_(s_.tree.block_count()),
      tau_v_(s_.tree.block_count()),
      given_(s_.tree.v_count()),
      F_(A_),
      F_up_(A_),
      F_down_(A_),
      tau_(s_.tree.v_count()),
      tau_up_(tau_),
      tau_down_(tau_),
      actuators_(!s_.drives.empty() || !s_.extra_laws.empty()),
      elements_(has_elements(s_)) {
  for (int i = 0; i < s_.tree.size(); ++i) {
    const Link& link = s_.tree[i];
    most_dofs_ = std::max(most_dofs_, link.dofs);
    if (!multibody::axes_turn(link.kind)) continue;
    axes_of_[i] = static_cast<int>(axes_.size());
    axes_.emplace_back().link = i;
  }
  for (const CompiledMotion& m : s_.motions) {
    const Link& link = s_.tree[m.link];
    std::fill_n(given_.begin() + link.v, link.dofs, char{1});
    JointLock& lock = articulated::lock_of(m.link, w_.locks, w_.lock_index);
    lock.rows = link.dofs;
    lock.C.setIdentity();
    lock.g.setZero();
  }
  find_seen_links();
  color_links();
}

void LinearDynamics::find_seen_links() {
  seen_.assign(s_.tree.size(), 0);
  const auto see = [&](int link) {
    if (link >= 0) seen_[static_cast<std::size_t>(link)] = 1;
  };
  for (const GroundSpring& g : s_.ground_springs) see(g.at.link);
  for (const PairSpring& p : s_.pair_springs) see(p.a.link), see(p.b.link);
  for (const CompiledBushing& b : s_.bushings) see(b.a), see(b.b);
  for (const CompiledLoad& l : s_.loads) see(l.at.link);
  for (const WindShape& shape : s_.wind_shapes) see(shape.link);
  for (const CompiledRider& r : s_.riders)
    for (const CompiledRider::Stretch& stretch : r.road) see(stretch.link);
}

// Two links are moved at once where no force sees both: greedily, in their order.
void LinearDynamics::color_links() {
  const auto n = static_cast<std::size_t>(s_.tree.size());
  neighbours_.resize(n);
  for (std::size_t i = 0; i < n; ++i) neighbours_[i] = {static_cast<int>(i)};
  for (const multibody::LinkPair& p : s_.pattern.pairs) {
    neighbours_[static_cast<std::size_t>(p.a)].push_back(p.b);
    neighbours_[static_cast<std::size_t>(p.b)].push_back(p.a);
  }
  std::vector<std::vector<char>> taken;  // (colors, size) links whose force sees one of the color
  for (std::size_t i = 0; i < n; ++i) {
    if (!seen_[i]) continue;
    std::size_t c = 0;
    const auto free = [&](std::size_t color) {
      return std::ranges::none_of(neighbours_[i],
                                  [&](int k) { return taken[color][static_cast<std::size_t>(k)]; });
    };
    while (c < taken.size() && !free(c)) ++c;
    if (c == taken.size()) taken.emplace_back(n, char{0}), colors_.emplace_back();
    for (const int k : neighbours_[i]) taken[c][static_cast<std::size_t>(k)] = 1;
    colors_[c].push_back(static_cast<int>(i));
  }
}

// Poses, twists and accelerations.
void LinearDynamics::walk(const MotionPoint& p) {
  multibody::kinematics(s_.tree, p.q, p.v, links_);
  for (int i = 0; i < s_.tree.size(); ++i) {
    const Link& link = s_.tree[i];
    S_[i] = multibody::motion_subspace(link, p.q + link.q);
    A_[i] = links_[i].c;
    for (int k = 0; k < link.dofs; ++k) A_[i] += S_[i].col(k) * p.a[link.v + k];
    if (link.parent >= 0) A_[i] += links_[i].X_PM.inverse_motion(A_[link.parent]);
  }
}

// Forces on the bodies (in M) and on the rates, with the links as they stand in w_.links; of Euler's method
// those of its implicit blocks too.
void LinearDynamics::find_forces(const MotionPoint& p, const std::vector<Vec6>& A, const Acting& acting,
                                 std::vector<Vec6>& F, std::vector<double>& tau) {
  const double h = p.ahead;
  evaluate_placed(s_, p.q, p.v, p.t, {h, h * h, h, h > 0}, w_, acting);
  std::copy(w_.wrench.begin(), w_.wrench.end(), F.begin());
  std::copy(w_.tau.begin(), w_.tau.end(), tau.begin());
  if (h == 0) return;
  if (acting.laws || acting.actuators)
    for (const Link& link : s_.tree.links())
      for (int i = 0; i < link.dofs; ++i)
        for (int j = 0; j < link.dofs; ++j)
          tau[link.v + i] -= w_.joint_block[link.block + j * link.dofs + i] * p.a[link.v + j];
  if (!w_.blocks) {
    for (int i = 0; i < s_.tree.size(); ++i)
      if (const int b = w_.body_block_index[i]; b >= 0) F[i] -= w_.body_block[b] * A[i];
    return;
  }
  Blocks& b = *w_.blocks;
  for (int i = 0; i < s_.tree.size(); ++i) {
    const Mat3& R = w_.links[i].X_WM.R;
    b.twist[i] << R * A[i].head<3>(), R * A[i].tail<3>();
  }
  multibody::blocks_times(b.system, b.twist.data(), b.scratch_twist.data());
  for (int i = 0; i < s_.tree.size(); ++i) {
    const Mat3& R = w_.links[i].X_WM.R;
    const Vec6& y = b.scratch_twist[i];
    F[i].head<3>() -= R.transpose() * y.head<3>();
    F[i].tail<3>() -= R.transpose() * y.tail<3>();
    F[i] += s_.tree[i].inertia.momentum(A[i]);
    if (const int k = s_.body_block_index[i]; !acting.own && k >= 0 && k < static_cast<int>(s_.drag.size()))
      F[i] += h * s_.drag[k].momentum(A[i]);  // the diagonal has it
  }
}

void LinearDynamics::place_virtual(const double* lambda) {
  for (int i = 0; i < s_.tree.size(); ++i) {
    const Link& link = s_.tree[i];
    psi_[i].setZero();
    for (int k = 0; k < link.dofs; ++k) psi_[i] += S_[i].col(k) * lambda[link.v + k];
    if (link.parent >= 0) psi_[i] += links_[i].X_PM.inverse_motion(psi_[link.parent]);
  }
}

double LinearDynamics::power(const MotionPoint& p, const std::vector<signed char>& servo,
                             const double* lambda) {
  for (std::size_t k = 0; k < servo.size(); ++k) w_.servo[k] = static_cast<ServoState>(servo[k]);
  walk(p);
  w_.links = links_;
  find_forces(p, A_, {}, F_, tau_);
  place_virtual(lambda);
  double sum = 0;
  for (int i = 0; i < s_.tree.size(); ++i) {
    const Inertia& I = s_.tree[i].inertia;
    const Vec6& V = links_[i].V;
    sum += psi_[i].dot(I.momentum(A_[i]) + cross_force(V, I.momentum(V)) - F_[i]);
  }
  for (std::size_t k = 0; k < tau_.size(); ++k) sum -= lambda[k] * tau_[k];
  return sum;
}

void LinearDynamics::at(const MotionPoint& p, const std::vector<signed char>& servo) {
  at_ = p;
  for (std::size_t k = 0; k < servo.size(); ++k) w_.servo[k] = static_cast<ServoState>(servo[k]);
  walk(p);
  w_.links = links_;
  find_forces(p, A_, {.laws = false, .actuators = false}, F_, tau_);
  for (int i = 0; i < s_.tree.size(); ++i) {
    const Inertia& I = s_.tree[i].inertia;
    const Vec6& V = links_[i].V;
    f_[i] = I.momentum(A_[i]) + cross_force(V, I.momentum(V)) - F_[i];
  }
  find_axes(p);
  find_link_blocks(p);
  find_joint_blocks(p);
}

// How S and S̊ v change with the joint's own coordinates.
void LinearDynamics::find_axes(const MotionPoint& p) {
  for (TurningAxes& x : axes_) {
    const Link& link = s_.tree[x.link];
    const double *q = p.q + link.q, *v = p.v + link.v;
    const double d = pose_way, speed = twist_way;
    x.rate_q.setZero(), x.rate_v.setZero();
    for (int k = 0; k < link.dofs; ++k) {
      double way[6] = {}, up[7], down[7], v_up[6], v_down[6];
      way[k] = 1;
      multibody::integrate_joint(link.kind, q, way, d, up);
      multibody::integrate_joint(link.kind, q, way, -d, down);
      x.S_q[k] = (multibody::motion_subspace(link, up) - multibody::motion_subspace(link, down)) / (2 * d);
      x.rate_q.col(k) =
          (multibody::joint_twist_rate(link.kind, up, v) - multibody::joint_twist_rate(link.kind, down, v)) /
          (2 * d);
      std::copy_n(v, link.dofs, v_up), std::copy_n(v, link.dofs, v_down);
      v_up[k] += speed, v_down[k] -= speed;
      x.rate_v.col(k) = (multibody::joint_twist_rate(link.kind, q, v_up) -
                         multibody::joint_twist_rate(link.kind, q, v_down)) /
                        (2 * speed);
    }
  }
}

// ∂F of elements by poses and twists of links; of weight and drag transpose_times() knows them.
void LinearDynamics::find_link_blocks(const MotionPoint& p) {
  blocks_.clear();
  if (!elements_) return;
  double turning = 0, sliding = 0;
  for (const LinkMotion& m : links_) {
    turning = std::max(turning, m.V.head<3>().norm());
    sliding = std::max(sliding, m.V.tail<3>().norm());
  }
  const double ways[4] = {pose_way, pose_way * s_.size, twist_way * (1 + turning),
                          twist_way * (s_.size + sliding)};
  for (const std::vector<int>& color : colors_) {
    const std::size_t first = blocks_.size();
    for (const int j : color)
      for (const int i : neighbours_[static_cast<std::size_t>(j)]) blocks_.push_back({i, j, Block::Zero()});
    for (int d = 0; d < 12; ++d) {
      const double way = ways[d / 3];
      const auto moved = [&](double by, std::vector<Vec6>& F) {
        for (const int j : color) {
          LinkMotion& m = w_.links[j] = links_[j];
          Vec6 twist = Vec6::Zero();
          twist[d % 6] = by;
          if (d < 6)
            m.X_WM = m.X_WM * math::se3_exp(twist);
          else
            m.V += twist;
        }
        find_forces(p, A_, {.laws = false, .actuators = false, .own = false}, F, tau_up_);
      };
      moved(way, F_up_);
      moved(-way, F_down_);
      for (std::size_t b = first; b < blocks_.size(); ++b)
        blocks_[b].F.col(d) = (F_up_[blocks_[b].on] - F_down_[blocks_[b].on]) / (2 * way);
    }
    for (const int j : color) w_.links[j] = links_[j];
  }
}

// Of ∂V + H y, y = h v + h² a, by the coordinates of a joint that turns freely, and H itself, the positive
// part of the Hessian. Of a plain spring that is J⁻ᵀ K (θ + J⁻¹ y), H = J⁻ᵀ K J⁻¹, and J⁻¹(θ) = J⁻ᵀ(−θ).
LinearDynamics::SpringSlopes LinearDynamics::spring_slopes(const MotionPoint& p, int i) const {
  const Link& link = s_.tree[i];
  const JointLaw& law = s_.model.joints()[i].law;
  Vec6 y = Vec6::Zero();
  for (int k = 0; k < link.dofs; ++k) y[k] = p.ahead * (p.v[link.v + k] + p.ahead * p.a[link.v + k]);
  if (law.extras) return curved_spring_slopes(p, i, y);
  SpringSlopes out{Mat6::Zero(), Mat6::Zero()};
  const elastic::JointConfiguration c = elastic::configuration_of(link.kind, p.q + link.q);
  const Vec3 theta = math::so3_log(math::so3_exp({law.rest[0], law.rest[1], law.rest[2]}).transpose() * c.R);
  const Vec3 K(law.stiffness[0], law.stiffness[1], law.stiffness[2]);
  const Mat3 J_inverse = math::so3_jacobian_inverse(theta), stiff = J_inverse.transpose() * K.asDiagonal();
  const Vec3 w = K.cwiseProduct(theta + J_inverse * y.head<3>());
  const Mat3 turn = Mat3::Identity() - math::so3_jacobian_inverse_transpose_derivative(-theta, y.head<3>());
  out.by_q.topLeftCorner<3, 3>() =
      (math::so3_jacobian_inverse_transpose_derivative(theta, w) + stiff * turn) * J_inverse;
  out.H.topLeftCorner<3, 3>() = stiff * J_inverse;
  for (int k = 3; k < link.dofs; ++k) out.by_q(k, k) = out.H(k, k) = law.stiffness[k];
  return out;
}

// The same of laws that are not linear, by differences.
LinearDynamics::SpringSlopes LinearDynamics::curved_spring_slopes(const MotionPoint& p, int i,
                                                                  const Vec6& y) const {
  const Link& link = s_.tree[i];
  const JointLaw& law = s_.model.joints()[i].law;
  SpringSlopes out{Mat6::Zero(), Mat6::Zero()};
  const auto hessian = [&](const double* q) {
    return elastic::joint_hessian_psd(link.kind, law, elastic::configuration_of(link.kind, q));
  };
  const auto force = [&](int k, double by) {
    double way[6] = {}, q[7];
    way[k] = by;
    multibody::integrate_joint(link.kind, p.q + link.q, way, 1, q);
    const elastic::JointConfiguration c = elastic::configuration_of(link.kind, q);
    return Vec6(elastic::joint_energy_gradient(link.kind, law, c).gradient + hessian(q) * y);
  };
  for (int k = 0; k < link.dofs; ++k) {
    const double d = pose_way / s_.rate_unit[link.v + k];
    out.by_q.col(k) = (force(k, d) - force(k, -d)) / (2 * d);
  }
  out.H = hessian(p.q + link.q);
  return out;
}

// Springs and dampers of joints: τ = −∂V − D (v + h a) − H (h v + h² a).
void LinearDynamics::find_law_blocks(const MotionPoint& p) {
  std::fill(tau_q_.begin(), tau_q_.end(), 0.0);
  std::fill(tau_v_.begin(), tau_v_.end(), 0.0);
  for (int i = 0; i < s_.tree.size(); ++i) {
    const Link& link = s_.tree[i];
    const bool plain = !has_rotation_vector(link.kind);
    for (int k = 0; k < link.dofs; ++k) {
      tau_v_[link.block + k * link.dofs + k] = -s_.damping[link.v + k];
      if (!plain) continue;
      tau_q_[link.block + k * link.dofs + k] = -s_.stiffness[link.v + k];
      tau_v_[link.block + k * link.dofs + k] -= p.ahead * s_.stiffness[link.v + k];
    }
    if (plain || !s_.has_rotation_law[i]) continue;
    const SpringSlopes spring =
        p.ahead > 0 ? spring_slopes(p, i)
                    : SpringSlopes{elastic::joint_hessian(link.kind, s_.model.joints()[i].law,
                                                          elastic::configuration_of(link.kind, p.q + link.q)),
                                   Mat6::Zero()};
    for (int k = 0; k < link.dofs; ++k)
      for (int n = 0; n < link.dofs; ++n) {
        tau_q_[link.block + k * link.dofs + n] = -spring.by_q(n, k);
        tau_v_[link.block + k * link.dofs + n] -= p.ahead * spring.H(n, k);
      }
  }
}

// ∂τ by a joint's own coordinates and rates: of what is not known otherwise by differences, one coordinate of
// all joints at a time.
void LinearDynamics::find_joint_blocks(const MotionPoint& p) {
  find_law_blocks(p);
  if (!actuators_) return;
  const Acting acting{.laws = false, .actuators = true, .own = false, .elements = false};
  w_.links = links_;
  std::vector<double> q(p.q, p.q + s_.tree.q_count()), v(p.v, p.v + s_.tree.v_count()), way(v.size());
  const auto differ = [&](int k, double scale_turn, double scale_slide, bool of_rates,
                          std::vector<double>& out) {
    const auto moved = [&](double sign, std::vector<double>& tau) {
      std::fill(way.begin(), way.end(), 0.0);
      for (const Link& link : s_.tree.links())
        if (k < link.dofs)
          way[link.v + k] = sign * (s_.rate_unit[link.v + k] == 1 ? scale_turn : scale_slide);
      MotionPoint at = p;
      if (of_rates) {
        for (std::size_t n = 0; n < v.size(); ++n) v[n] = p.v[n] + way[n];
        at.v = v.data();
      } else {
        multibody::integrate(s_.tree, p.q, way.data(), 1, q.data());
        at.q = q.data();
      }
      find_forces(at, A_, acting, F_up_, tau);
    };
    moved(1, tau_up_);
    moved(-1, tau_down_);
    for (const Link& link : s_.tree.links()) {
      if (k >= link.dofs) continue;
      const double d = s_.rate_unit[link.v + k] == 1 ? scale_turn : scale_slide;
      for (int i = 0; i < link.dofs; ++i)
        out[link.block + k * link.dofs + i] += (tau_up_[link.v + i] - tau_down_[link.v + i]) / (2 * d);
    }
  };
  double fastest = 0;
  for (std::size_t n = 0; n < v.size(); ++n) fastest = std::max(fastest, std::abs(p.v[n]) * s_.rate_unit[n]);
  for (int k = 0; k < most_dofs_; ++k) {
    differ(k, pose_way, pose_way * s_.size, false, tau_q_);
    differ(k, twist_way * (1 + fastest), twist_way * (1 + fastest) * s_.size, true, tau_v_);
  }
}

// What the implicit blocks of Euler's method add to an inertia; factor() has found them.
void LinearDynamics::add_block_powers() {
  if (!w_.blocks) {
    for (int i = 0; i < s_.tree.size(); ++i)
      if (const int b = w_.body_block_index[i]; b >= 0) A_bar_[i] += w_.body_block[b] * psi_[i];
    return;
  }
  Blocks& b = *w_.blocks;
  for (int i = 0; i < s_.tree.size(); ++i) {
    const Mat3& R = links_[i].X_WM.R;
    b.twist[i] << R * psi_[i].head<3>(), R * psi_[i].tail<3>();
  }
  multibody::blocks_times(b.system, b.twist.data(), b.scratch_twist.data());
  for (int i = 0; i < s_.tree.size(); ++i) {
    const Mat3& R = links_[i].X_WM.R;
    const Vec6& y = b.scratch_twist[i];
    A_bar_[i] << R.transpose() * y.head<3>(), R.transpose() * y.tail<3>();  // the inertia is among them
  }
}

void LinearDynamics::transpose_times(const double* lambda, double* q_bar, double* v_bar, double* a_bar) {
  place_virtual(lambda);
  const Vec3 g = w_.weight * s_.model.gravity().value(at_.t);
  for (int i = 0; i < s_.tree.size(); ++i) {
    const Inertia& I = s_.tree[i].inertia;
    const Vec6 &V = links_[i].V, &psi = psi_[i];
    A_bar_[i] = I.momentum(psi);
    V_bar_[i] = -I.momentum(cross_motion(V, psi)) - cross_force(psi, I.momentum(V));
    psi_bar_[i] = f_[i];
    pose_bar_[i].setZero();
    const Vec3 fall = links_[i].X_WM.R.transpose() * g;
    const Vec3 y = psi.head<3>().cross(I.h) + I.m * psi.tail<3>();  // of ψ·weight by g in M
    pose_bar_[i].head<3>() = -y.cross(fall);
    if (const int b = s_.body_block_index[i]; b >= 0) V_bar_[i] += s_.drag[b].momentum(psi);
  }
  if (at_.ahead > 0) add_block_powers();
  for (const ForceBlock& b : blocks_) {
    const Eigen::Matrix<double, 12, 1> out = b.F.transpose() * psi_[b.on];
    pose_bar_[b.by] -= out.head<6>();
    V_bar_[b.by] -= out.tail<6>();
  }
  for (int i = s_.tree.size() - 1; i >= 0; --i) {
    const Link& link = s_.tree[i];
    const LinkMotion& m = links_[i];
    const multibody::Subspace& S = S_[i];
    const double *v = at_.v + link.v, *a = at_.a + link.v, *l = lambda + link.v;
    Vec6 s = Vec6::Zero(), l_twist = s;
    for (int k = 0; k < link.dofs; ++k) s += S.col(k) * v[k], l_twist += S.col(k) * l[k];
    // c = V × s + S̊ v, then V = V' + s.
    V_bar_[i] += cross_force(s, A_bar_[i]);
    const Vec6 s_bar = V_bar_[i] - cross_force(m.V, A_bar_[i]);
    const Vec6 V_in = m.V - s, psi_in = psi_[i] - l_twist;
    Vec6 A_in = A_[i] - m.c;
    for (int k = 0; k < link.dofs; ++k) A_in -= S.col(k) * a[k];
    const Vec6 rho_bar = pose_bar_[i] - cross_force(V_in, V_bar_[i]) - cross_force(A_in, A_bar_[i]) -
                         cross_force(psi_in, psi_bar_[i]);
    rho_bar_[i] = rho_bar;
    for (int k = 0; k < link.dofs; ++k) {
      q_bar[link.v + k] = S.col(k).dot(rho_bar);
      v_bar[link.v + k] = S.col(k).dot(s_bar);
      a_bar[link.v + k] = S.col(k).dot(A_bar_[i]);
    }
    if (axes_of_[i] >= 0) {
      const TurningAxes& x = axes_[static_cast<std::size_t>(axes_of_[i])];
      for (int k = 0; k < link.dofs; ++k) {
        Vec6 by_v = Vec6::Zero(), by_a = by_v, by_l = by_v;
        for (int n = 0; n < link.dofs; ++n)
          by_v += x.S_q[k].col(n) * v[n], by_a += x.S_q[k].col(n) * a[n], by_l += x.S_q[k].col(n) * l[n];
        q_bar[link.v + k] +=
            by_v.dot(s_bar) + by_a.dot(A_bar_[i]) + by_l.dot(psi_bar_[i]) + x.rate_q.col(k).dot(A_bar_[i]);
        v_bar[link.v + k] += x.rate_v.col(k).dot(A_bar_[i]);
      }
    }
    for (int k = 0; k < link.dofs; ++k)
      for (int n = 0; n < link.dofs; ++n) {
        q_bar[link.v + k] -= tau_q_[link.block + k * link.dofs + n] * l[n];
        v_bar[link.v + k] -= tau_v_[link.block + k * link.dofs + n] * l[n];
      }
    if (at_.ahead > 0)
      for (int k = 0; k < link.dofs; ++k)
        for (int n = 0; n < link.dofs; ++n)
          a_bar[link.v + k] += w_.joint_block[link.block + k * link.dofs + n] * l[n];
    if (link.parent < 0) continue;
    V_bar_[link.parent] += m.X_PM.force(V_bar_[i]);
    A_bar_[link.parent] += m.X_PM.force(A_bar_[i]);
    psi_bar_[link.parent] += m.X_PM.force(psi_bar_[i]);
    pose_bar_[link.parent] += m.X_PM.force(pose_bar_[i]);
  }
}

bool LinearDynamics::factor(double d, double k) {
  w_.links = links_;
  evaluate_placed(s_, at_.q, at_.v, at_.t, {d, k, 0}, w_);
  still_ = links_;
  for (LinkMotion& m : still_) m.V.setZero(), m.c.setZero();
  solved_.resize(s_.tree.v_count());
  return !w_.blocks || factor_blocks(s_, w_);
}

void LinearDynamics::solve(double* x) {
  for (std::size_t k = 0; k < given_.size(); ++k)
    if (given_[k]) x[k] = 0;
  if (!w_.blocks) {
    multibody::AbaInput in;
    in.links = &still_;
    in.tau = x;
    in.joint_block = w_.joint_block.data();
    in.body_block = w_.body_block.empty() ? nullptr : w_.body_block.data();
    in.body_block_index = w_.body_block_index.data();
    in.locks = w_.locks.empty() ? nullptr : w_.locks.data();
    in.lock_index = w_.locks.empty() ? nullptr : w_.lock_index.data();
    multibody::aba(s_.tree, at_.q, in, w_.aba, solved_.data());
    std::copy(solved_.begin(), solved_.end(), x);
    return;
  }
  Blocks& b = *w_.blocks;
  b.rhs.clear();
  std::copy_n(x, b.rhs.tau.size(), b.rhs.tau.begin());
  solve_blocks(s_, w_, b.x, true);
  std::copy(b.x.a.begin(), b.x.a.end(), x);
}

}  // namespace limber::articulated
