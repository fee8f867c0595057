// Forces of a tree at (q, v, t) with their implicit blocks. With D = −∂f/∂v and K = −∂f/∂q (symmetric,
// positive semidefinite parts), a joint contributes τ = f − ahead·K v and B = d·D + k·K; a body likewise with
// its twist.
#include <algorithm>

#include "limber/articulated/system.h"
#include "limber/elastic/joint_law.h"
#include "limber/math/so3.h"
#include "limber/multibody/inertia_rows.h"

namespace limber::articulated {
namespace {

using multibody::Link;

elastic::JointConfiguration configuration(const Link& link, const double* q) {
  return elastic::configuration_of(link.kind, q);
}

// Adds −gradient − ahead·H v to tau and k·H to the block, for a law with rotations.
void add_rotation_law(const Link& link, const JointLaw& law, const double* q, const double* v,
                      const Weights& weights, double* tau, double* block) {
  const elastic::JointConfiguration c = configuration(link, q);
  const Vec6 gradient = elastic::joint_energy_gradient(link.kind, law, c).gradient;
  const Mat6 H = elastic::joint_hessian_psd(link.kind, law, c);
  for (int i = 0; i < link.dofs; ++i) {
    double force = -gradient[i];
    for (int j = 0; j < link.dofs; ++j) {
      force -= weights.ahead * H(i, j) * v[j];
      block[j * link.dofs + i] += weights.k * H(i, j);
    }
    tau[i] += force;
  }
}

// Damper, and spring of plain coordinates (their stiffness is zero for rotations) or of a rotation.
void add_joint_law(const SystemData& s, int i, const double* q, const double* v, const Weights& weights,
                   WorkspaceData& w) {
  const Link& link = s.tree[i];
  const bool plain = !has_rotation_vector(link.kind);
  double *tau = w.tau.data() + link.v, *block = w.joint_block.data() + link.block;
  std::fill_n(block, link.dofs * link.dofs, 0.0);
  for (int k = 0; k < link.dofs; ++k) {
    const int n = link.v + k;
    tau[k] = -s.damping[n] * v[n];
    block[k * link.dofs + k] = weights.d * s.damping[n];
    if (!plain) continue;
    tau[k] -= s.stiffness[n] * (q[link.q + k] - s.rest[n] + weights.ahead * v[n]);
    block[k * link.dofs + k] += weights.k * s.stiffness[n];
  }
  if (!plain && s.has_rotation_law[i])
    add_rotation_law(link, s.model.joints()[i].law, q + link.q, v + link.v, weights, tau, block);
}

// Of a joint with plain coordinates.
double plain_joint_energy(const SystemData& s, const Link& link, const double* q) {
  double sum = 0;
  for (int k = 0; k < link.dofs; ++k) {
    const double x = q[link.q + k] - s.rest[link.v + k];
    sum += 0.5 * (s.stiffness[link.v + k] * x) * x;
  }
  return sum;
}

void add_drive(const CompiledDrive& d, const ServoState* servo, const Link& link, const double* q,
               const double* v, double t, const Weights& weights, double* tau, double* block) {
  if (d.drive.kind == Drive::Kind::force) {
    for (int k = 0; k < link.dofs; ++k) tau[k] += d.drive.target[k].value(t);
    return;
  }
  for (int k = 0; k < link.dofs; ++k) {
    if (servo[k] != ServoState::linear) {
      tau[k] += servo[k] == ServoState::at_maximum ? d.drive.max_force[k] : -d.drive.max_force[k];
      continue;
    }
    // A rotation's servo acts on each component of its error alone; its exact coupling is left to the
    // iteration.
    tau[k] += servo_force(d, link, k, q, v, t) - weights.ahead * d.drive.kp[k] * v[k];
    block[k * link.dofs + k] += weights.d * d.drive.kd[k] + weights.k * d.drive.kp[k];
  }
}

using multibody::rows::load3;
using multibody::rows::Pack;

// Weight at the centre of mass, in M: (h × Rᵀg; m Rᵀg).
LIMBER_INLINE void set_weight(const Inertia& I, const LinkMotion& link, const Vec3& g, double* F) {
  const double* R = link.X_WM.R.data();
  const Pack columns[3] = {load3(R), load3(R + 3), load3(R + 6)};
  Pack turn[3];
  multibody::rows::transpose(columns, turn);
  const Pack g_M = (turn[0] * math::pack(g[0]) + turn[1] * math::pack(g[1])) + turn[2] * math::pack(g[2]);
  multibody::rows::store(F, multibody::rows::cross(load3(I.h.data()), g_M));
  multibody::rows::store3(F + 3, math::pack(I.m) * g_M);
}

LIMBER_KERNEL void set_weights(const multibody::Tree& tree, const LinkMotion* links, const Vec3& g, int begin,
                               int end, Vec6* wrench) {
  for (int i = begin; i < end; ++i) set_weight(tree[i].inertia, links[i], g, wrench[i].data());
}

using Mat3x6 = Eigen::Matrix<double, 3, 6>;

// Velocity of a point at r for a twist at the origin.
Mat3x6 point_jacobian(const Vec3& r) {
  Mat3x6 J;
  J << -math::skew(r), Mat3::Identity();
  return J;
}

Vec6 force_at(const Vec3& r, const Vec3& f) {
  Vec6 F;
  F << r.cross(f), f;
  return F;
}

// Jᵀ Q J' for two points: [[r]Q[r']ᵀ, [r]Q; Q[r']ᵀ, Q].
Mat6 between_points(const Vec3& r, const Mat3& Q, const Vec3& r2) {
  Mat6 out;
  const Mat3 rQ = math::skew(r) * Q, Qr = -Q * math::skew(r2);
  out << -rQ * math::skew(r2), rQ, Qr, Q;
  return out;
}

void add_ground_springs(const SystemData& s, const Weights& weights, WorkspaceData& w) {
  for (const GroundSpring& g : s.ground_springs) {
    const LinkMotion& m = w.links[g.at.link];
    const Vec3 v = m.V.tail<3>() + m.V.head<3>().cross(g.at.p);  // in M, as all here
    const Vec3 d = m.X_WM.R.transpose() * (g.anchor_W - m.X_WM.p) - g.at.p;
    const auto line = elastic::spring_line(g.law, d, -v, true);
    w.wrench[g.at.link] += force_at(g.at.p, line.pull - weights.ahead * line.K_times(v));
    w.body_block[g.block] += between_points(g.at.p, line.blend(weights.k, weights.d), g.at.p);
    w.dissipated_power += line.power;
  }
}

// A spring of no length to where the hand is.
void add_held_point(const Weights& weights, WorkspaceData& w) {
  if (!w.held) return;
  const Held& held = *w.held;
  const LinkMotion& m = w.links[held.at.link];
  const Vec3 v = m.V.tail<3>() + m.V.head<3>().cross(held.at.p);  // in M, as all here
  const Vec3 d = m.X_WM.R.transpose() * (held.hand.target - m.X_WM.p) - held.at.p;
  const Vec3 f = held.hand.force(d, v);
  w.wrench[held.at.link] += force_at(held.at.p, f - weights.ahead * held.hand.stiffness * v);
  const Mat3 Q = (weights.d * held.hand.damping + weights.k * held.hand.stiffness) * Mat3::Identity();
  w.body_block[held.block] += between_points(held.at.p, Q, held.at.p);
  w.work_power += f.dot(v);
}

// World axes from here on: the blocks of what ties two links.
Vec6 to_link_axes(const Mat3& R, const Vec6& F) {
  Vec6 out;
  out << R.transpose() * F.head<3>(), R.transpose() * F.tail<3>();
  return out;
}

// Springs and dampers of closing joints: on the relative twist at M.
void add_loop_laws(const SystemData& s, const Weights& weights, WorkspaceData& w) {
  Blocks& blocks = *w.blocks;
  for (std::size_t l = 0; l < s.loops.size(); ++l) {
    const CompiledLoop& loop = s.loops[l];
    if (!loop.has_law) continue;
    const LoopState& at = blocks.loops[l];
    const int d = dof_count(loop.kind);
    const Vec6 rates = loop_rates(s, static_cast<int>(l), at, w.links);
    Vec6 force = loop_force(s, static_cast<int>(l), at, rates);
    Mat6 H = elastic::joint_hessian_psd(loop.kind, loop.law, loop_configuration(loop, at));
    force.head(d) -= weights.ahead * (H.topLeftCorner(d, d) * rates.head(d));
    Mat6 Q = Mat6::Zero();
    for (int i = 0; i < d; ++i) {
      const math::Dual damper = damper_force(loop.law, i, at.x[i], rates[i]);
      w.dissipated_power += damper.value * rates[i];
      for (int j = 0; j < d; ++j)
        Q(i, j) = weights.k * H(i, j) + (i == j ? weights.d * std::max(damper.rate, 0.0) : 0);
    }
    multibody::Subspace S = multibody::closing_axes(loop.joint(), at.q);  // into world axes
    for (int k = 0; k < d; ++k) {
      S.col(k).head<3>() = at.R_WM * S.col(k).head<3>().eval();
      S.col(k).tail<3>() = at.R_WM * S.col(k).tail<3>().eval();
    }
    const auto columns = [&](int link) {  // S brought to the link's origin
      Mat6 out = Mat6::Zero();
      for (int k = 0; k < d; ++k)
        out.col(k) = multibody::shift_wrench(S.col(k), at.p_W - w.links[link].X_WM.p);
      return out;
    };
    Mat6 on_a, on_b;
    if (loop.a >= 0) {
      on_a = columns(loop.a);
      w.wrench[loop.a] -= to_link_axes(w.links[loop.a].X_WM.R, on_a * force);
      blocks.system.diagonal[loop.a] += on_a * Q * on_a.transpose();
    }
    if (loop.b >= 0) {
      on_b = columns(loop.b);
      w.wrench[loop.b] += to_link_axes(w.links[loop.b].X_WM.R, on_b * force);
      blocks.system.diagonal[loop.b] += on_b * Q * on_b.transpose();
    }
    if (loop.pair >= 0)
      blocks.system.off[loop.pair] -=
          loop.a < loop.b ? Mat6(on_a * Q * on_b.transpose()) : Mat6(on_b * Q * on_a.transpose());
  }
}

// The links' inertias and own blocks in world axes, the joints' blocks, and the rows of the loops.
void start_blocks(const SystemData& s, const double* q, const Weights& weights, WorkspaceData& w) {
  multibody::BlockSystem& m = w.blocks->system;
  multibody::set_kinematics(q, w.links, m);
  multibody::set_diagonal(w.links,
                          {w.body_block_index.data(), s.drag.data(), s.body_blocks, weights.d,
                           w.body_block.data(), w.block_used.data()},
                          m);
  m.joint = w.joint_block;
  if (!m.off.empty()) std::fill_n(m.off.front().data(), 36 * m.off.size(), 0.0);
  place_loops(s, q, w.links, w.blocks->loops);
  put_loop_rows(s, w.blocks->loops, m);
}

void add_riders(const SystemData& s, double t, const Vec3& g, WorkspaceData& w) {
  for (const CompiledRider& rider : s.riders) {
    RiderShare shares[2];
    const int n = rider_shares(rider, t, shares);
    for (int k = 0; k < n; ++k) {
      const LinkMotion& m = w.links[shares[k].link];
      const Vec3 f = m.X_WM.R.transpose() * (shares[k].share * rider.mass * g);
      const Vec6 F = force_at(shares[k].p, f);
      w.wrench[shares[k].link] += F;
      w.work_power += F.dot(m.V);
    }
  }
}

// Where there is only drag it goes from its inertia straight into the diagonal of `blocks`.
void start_body_blocks(const SystemData& s, const Weights& weights, bool drag, WorkspaceData& w) {
  for (std::size_t b = 0; b < w.body_block.size(); ++b) {
    const bool has_drag = drag && b < s.drag.size();
    const bool held = w.held && w.held->block == static_cast<int>(b);
    w.block_used[b] = !w.blocks || !has_drag || s.beyond_drag[b] || held;
    if (has_drag && !w.blocks)
      w.body_block[b] = weights.d * s.drag[b].matrix();
    else if (w.block_used[b])
      w.body_block[b].setZero();
  }
}

// Returns the power that drag takes.
LIMBER_INLINE double add_drag(const Inertia& drag, const Vec6& V, double* F) {
  const Pack w = load3(V.data()), v = load3(V.data() + 3);
  Pack moment, force;
  multibody::rows::momentum(drag, w, v, moment, force);
  multibody::rows::store3(F, load3(F) - moment);
  multibody::rows::store3(F + 3, load3(F + 3) - force);
  return multibody::rows::dot(w, moment) + multibody::rows::dot(v, force);
}

LIMBER_KERNEL double add_all_drag(const SystemData& s, const LinkMotion* links, Vec6* wrench) {
  double power = 0;
  for (int i = 0; i < s.tree.size(); ++i)
    if (const int b = s.body_block_index[i]; b >= 0)
      power += add_drag(s.drag[b], links[i].V, wrench[i].data());
  return power;
}

// Both in one pass, where nothing comes between them.
LIMBER_KERNEL double set_weights_and_drag(const SystemData& s, const LinkMotion* links, const Vec3& g,
                                          Vec6* wrench) {
  double power = 0;
  for (int i = 0; i < s.tree.size(); ++i) {
    set_weight(s.tree[i].inertia, links[i], g, wrench[i].data());
    if (const int b = s.body_block_index[i]; b >= 0)
      power += add_drag(s.drag[b], links[i].V, wrench[i].data());
  }
  return power;
}

void add_loads(const SystemData& s, double t, WorkspaceData& w) {
  for (const CompiledLoad& l : s.loads) {
    const Mat3& R_WM = w.links[l.at.link].X_WM.R;
    const Mat3 turn = l.follows ? l.R_MB : Mat3(R_WM.transpose());
    const Vec3 f = turn * (w.load * l.force.value(t)), m = turn * (w.load * l.moment.value(t));
    const Vec3 moment = l.at.p.cross(f) + m;
    w.wrench[l.at.link].head<3>() += moment;
    w.wrench[l.at.link].tail<3>() += f;
    const Vec6& V = w.links[l.at.link].V;
    const double power = moment.dot(V.head<3>()) + f.dot(V.tail<3>());
    w.work_power += power;
    if (!w.powers.empty()) w.powers[l.of] += power;
  }
}

// F = ½ ρ C A(û) |u| u at the shape's centre; −∂F/∂v ≈ ½ ρ C A (|u| I + u uᵀ/|u|), positive semidefinite.
void add_wind(const SystemData& s, double t, const Weights& weights, WorkspaceData& w) {
  if (s.wind_shapes.empty()) return;
  const Wind& wind = *s.model.wind();
  const Vec3 air = wind.velocity.value(t);
  for (const WindShape& shape : s.wind_shapes) {
    const LinkMotion& m = w.links[shape.link];
    const Vec3 r = shape.X_MG.p;
    const Vec3 u = m.X_WM.R.transpose() * air - m.V.tail<3>() - m.V.head<3>().cross(r);
    const double speed = u.norm();
    if (speed == 0) continue;
    const double area = projected_area(shape.geometry, shape.X_MG.R.transpose() * u / speed);
    const double c = w.load * 0.5 * wind.air_density * wind.drag_coefficient * area;
    const Vec3 f = c * speed * u;
    w.wrench[shape.link].head<3>() += r.cross(f);
    w.wrench[shape.link].tail<3>() += f;
    w.work_power += f.dot(m.V.tail<3>() + m.V.head<3>().cross(r));
    const Mat3x6 J = point_jacobian(r);
    const Mat3 D = c * (speed * Mat3::Identity() + u * u.transpose() / speed);
    w.body_block[s.body_block_index[shape.link]] += weights.d * (J.transpose() * D * J);
  }
}

}  // namespace

double servo_force(const CompiledDrive& d, const Link& link, int k, const double* q, const double* v,
                   double t) {
  const Drive& drive = d.drive;
  if (!has_rotation_vector(link.kind))
    return drive.kp[k] * (drive.target[k].value(t) - q[k]) + drive.kd[k] * (drive.target[k].rate(t) - v[k]);
  const elastic::JointConfiguration c = configuration(link, q);
  const auto at = [&](int i) { return drive.target[i].value(t); };
  const auto rate = [&](int i) { return drive.target[i].rate(t); };
  if (k < 3) {  // error θ = log(R_tᵀ R), target rate turned into M
    const Vec3 target(at(0), at(1), at(2));
    const Mat3 R_error = math::so3_exp(target).transpose() * c.R;
    const Vec3 theta = math::so3_log(R_error);
    const Vec3 omega = R_error.transpose() * (math::so3_jacobian(target) * Vec3(rate(0), rate(1), rate(2)));
    return -drive.kp[k] * theta[k] + drive.kd[k] * (omega[k] - v[k]);
  }
  return drive.kp[k] * (at(k) - c.q[k]) + drive.kd[k] * (rate(k) - v[k]);
}

// Where the last step ended its links were placed already, for its energy: taken over, unless the state is
// another.
static void place_links(const SystemData& s, const double* q, const double* v, WorkspaceData& w) {
  KnownEnergy& known = w.at_start;
  w.links_of_start = known.has_links && known.is_of(q, v);
  if (!w.links_of_start) return multibody::kinematics(s.tree, q, v, w.links, w.workers.get());
  std::swap(w.links, known.links);
  known.has_links = false;
}

void evaluate(const SystemData& s, const double* q, const double* v, double t, const Weights& weights,
              WorkspaceData& w) {
  place_links(s, q, v, w);
  evaluate_placed(s, q, v, t, weights, w);
}

void evaluate_placed(const SystemData& s, const double* q, const double* v, double t, const Weights& weights,
                     WorkspaceData& w, const Acting& acting) {
  const Vec3 g = w.weight * s.model.gravity().value(t);
  start_body_blocks(s, weights, acting.own, w);
  w.dissipated_power = w.work_power = 0;
  std::fill(w.powers.begin(), w.powers.end(), 0.0);

  const bool at_once =
      acting.own && !w.workers && s.ground_springs.empty() && s.bushings.empty() && !s.drag.empty();
  const double drag = at_once ? set_weights_and_drag(s, w.links.data(), g, w.wrench.data()) : 0;
  multibody::walk_ranges_forward(s.tree, w.workers.get(), [&](int begin, int end) {
    if (!acting.own)
      std::fill(w.wrench.begin() + begin, w.wrench.begin() + end, Vec6::Zero());
    else if (!at_once)
      set_weights(s.tree, w.links.data(), g, begin, end, w.wrench.data());
    if (acting.laws)
      for (int i = begin; i < end; ++i) add_joint_law(s, i, q, v, weights, w);
  });
  if (!acting.laws) {
    std::fill(w.tau.begin(), w.tau.end(), 0.0);
    std::fill(w.joint_block.begin(), w.joint_block.end(), 0.0);
  }
  for (int n = 0; n < s.tree.v_count(); ++n) w.dissipated_power += s.damping[n] * v[n] * v[n];
  for (std::size_t d = 0; d < s.drives.size() && acting.actuators; ++d) {
    const Link& link = s.tree[s.drives[d].link];
    double power = 0;
    for (int k = 0; k < link.dofs; ++k) w.work_power -= w.tau[link.v + k] * v[link.v + k];
    for (int k = 0; k < link.dofs; ++k) power -= w.tau[link.v + k] * v[link.v + k];
    double *tau = w.tau.data() + link.v, *block = w.joint_block.data() + link.block;
    if (s.drives[d].control >= 0)
      add_control(s.drives[d], w.servo[6 * d], q + link.q, v + link.v, t, weights, w, tau, block, link.dofs);
    else
      add_drive(s.drives[d], w.servo.data() + 6 * d, link, q + link.q, v + link.v, t, weights, tau, block);
    for (int k = 0; k < link.dofs; ++k) w.work_power += w.tau[link.v + k] * v[link.v + k];
    for (int k = 0; k < link.dofs; ++k) power += w.tau[link.v + k] * v[link.v + k];
    if (!w.powers.empty()) w.powers[s.work_of_drive(d)] = power;
  }
  if (acting.actuators) {
    add_coupling_forces(s, q, v, weights, w);
    add_extra_laws(s, q, v, weights, w);
    add_friction(s, v, w);
  }
  if (acting.elements) {
    add_ground_springs(s, weights, w);
    add_ground_bushings(s, weights, w);
  }
  if (acting.own) w.dissipated_power += at_once ? drag : add_all_drag(s, w.links.data(), w.wrench.data());
  if (acting.elements) {
    add_loads(s, t, w);
    add_riders(s, t, g, w);
    add_wind(s, t, weights, w);
    add_held_point(weights, w);
  }
  if (!w.blocks) return;
  if (weights.matrix)
    start_blocks(s, q, weights, w);
  else
    multibody::set_kinematics(q, w.links, w.blocks->end);
  if (acting.elements) {
    add_pair_springs(s, weights, w);
    add_pair_bushings(s, weights, w);
    add_loop_laws(s, weights, w);
    add_closing_friction(s, w);
    add_cables(s, t, weights, w);
  }
  if (weights.matrix)
    add_coupling_blocks(s, q, weights.d, weights.k, w.blocks->system, w.blocks->coupling_row);
}

Vec6 joint_force(const SystemData& s, int i, const State& state) {
  const Link& link = s.tree[i];
  const double *q = state.q.data(), *v = state.v.data();
  Vec6 force =
      -elastic::joint_energy_gradient(link.kind, s.model.joints()[i].law, configuration(link, q + link.q))
           .gradient;
  const JointLaw& law = s.model.joints()[i].law;
  const bool plain = !has_rotation_vector(link.kind);
  for (int k = 0; k < link.dofs; ++k)
    force[k] -= damper_force(law, k, plain ? q[link.q + k] : 0, v[link.v + k]).value;
  if (!s.rubs.empty()) force += sliding_force(s, i, -1, v + link.v);
  for (const CompiledDrive& d : s.drives)
    if (d.link == i) force += drive_force(d, link, state);
  return force;
}

Vec6 drive_force(const CompiledDrive& d, const Link& link, const State& state) {
  Vec6 force = Vec6::Zero();
  const double *q = state.q.data() + link.q, *v = state.v.data() + link.v, t = state.t;
  if (d.control >= 0) {
    const double u = state.control[d.control];
    force[d.law.dof] =
        d.reads == ControllerReads::samples
            ? u
            : std::clamp(control_force(d, q[d.law.dof], v[d.law.dof], t, u), d.law.lower, d.law.upper);
    return force;
  }
  for (int k = 0; k < link.dofs; ++k) {
    const double max = d.drive.max_force[k];
    force[k] = d.drive.kind == Drive::Kind::force ? d.drive.target[k].value(t)
                                                  : std::clamp(servo_force(d, link, k, q, v, t), -max, max);
  }
  return force;
}

double elastic_energy(const SystemData& s, const double* q, const std::vector<LinkMotion>& links, double t,
                      WorkspaceData& w, std::vector<LoopState>* scratch) {
  double sum = coupling_energy(s, q) + extra_energy(s, q) + bushing_energy(s, links);
  if (!s.cables.empty()) sum += cable_energy(s, links, t, w.cable_from, w.cables);
  for (int i = 0; i < s.tree.size(); ++i)
    if (!has_rotation_vector(s.tree[i].kind))
      sum += plain_joint_energy(s, s.tree[i], q);
    else
      sum += elastic::joint_energy(s.tree[i].kind, s.model.joints()[i].law,
                                   configuration(s.tree[i], q + s.tree[i].q));
  for (const GroundSpring& g : s.ground_springs)
    sum += elastic::spring_energy(g.law, links[g.at.link].X_WM, g.at.p, Pose{}, g.anchor_W);
  for (const PairSpring& p : s.pair_springs)
    sum += elastic::spring_energy(p.law, links[p.a.link].X_WM, p.a.p, links[p.b.link].X_WM, p.b.p);
  if (std::any_of(s.loops.begin(), s.loops.end(), [](const CompiledLoop& l) { return l.has_law; })) {
    std::vector<LoopState> own(scratch ? 0 : s.loops.size());
    std::vector<LoopState>& loops = scratch ? *scratch : own;
    place_loops(s, q, links, loops);
    for (std::size_t l = 0; l < s.loops.size(); ++l) sum += loop_energy(s, static_cast<int>(l), loops[l]);
  }
  return sum;
}

// The two stretches whose middles stand around the rider share its weight; before the first middle and after
// the last one a single link bears it.
int rider_shares(const CompiledRider& r, double t, RiderShare out[2]) {
  const double x = r.position.value(t);
  if (!(x >= r.road.front().begin && x <= r.road.back().end)) return 0;
  const auto middle = [&](std::size_t k) { return 0.5 * (r.road[k].begin + r.road[k].end); };
  std::size_t k = 0;
  while (k + 1 < r.road.size() && middle(k + 1) <= x) ++k;
  const auto put = [&](int n, std::size_t stretch, double share) {
    const CompiledRider::Stretch& s = r.road[stretch];
    const double along = (x - s.begin) / (s.end - s.begin);
    out[n] = {s.link, s.from + along * (s.to - s.from), share};
  };
  if (x <= middle(k) || k + 1 == r.road.size()) {
    put(0, k, 1);
    return 1;
  }
  const double share = (x - middle(k)) / (middle(k + 1) - middle(k));
  put(0, k, 1 - share);
  put(1, k + 1, share);
  return 2;
}

void prescribed(const CompiledMotion& m, const Link& link, double t, double* q, double* v, double share) {
  DofArray x{}, rate{};
  for (int k = 0; k < link.dofs; ++k) {
    x[k] = share * m.position[k].value(t);
    rate[k] = share * m.position[k].rate(t);
  }
  multibody::set_coordinates(link, x, q);
  std::copy_n(rate.begin(), link.dofs, v);
  if (!has_rotation_vector(link.kind)) return;
  const Vec3 theta(x[0], x[1], x[2]);
  const Vec3 omega = math::so3_jacobian(theta) * Vec3(rate[0], rate[1], rate[2]);
  std::copy_n(omega.data(), 3, v);
}

}  // namespace limber::articulated
