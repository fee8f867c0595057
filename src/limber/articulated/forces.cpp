// Forces of a tree at (q, v, t) with their implicit blocks. With D = −∂f/∂v and K = −∂f/∂q (symmetric,
// positive semidefinite parts), a joint contributes τ = f − ahead·K v and B = d·D + k·K; a body likewise with
// its twist.
#include "limber/articulated/system.h"
#include "limber/elastic/joint_law.h"
#include "limber/math/so3.h"

namespace limber::articulated {
namespace {

using multibody::Link;

bool has_rotation_vector(JointKind kind) { return kind == JointKind::spherical || kind == JointKind::free; }

elastic::JointConfiguration configuration(const Link& link, const double* q) {
  elastic::JointConfiguration c;
  if (has_rotation_vector(link.kind)) {
    c.R = math::to_matrix(Quat(q[0], q[1], q[2], q[3]));
    if (link.kind == JointKind::free) c.p = Vec3(q[4], q[5], q[6]);
  } else {
    std::copy_n(q, link.dofs, c.q.begin());
  }
  return c;
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

Vec6 gravity_wrench(const Link& link, const LinkMotion& m, const Vec3& g) {
  const Vec3 g_M = m.X_WM.R.transpose() * g;
  Vec6 F;
  F << link.inertia.h.cross(g_M), link.inertia.m * g_M;
  return F;
}

void add_ground_springs(const SystemData& s, const Weights& weights, WorkspaceData& w) {
  for (const GroundSpring& g : s.ground_springs) {
    const LinkMotion& m = w.links[g.at.link];
    const Pose ground;
    const auto state = elastic::spring_state(g.law, m.X_WM, g.at.p, m.V, ground, g.anchor_W, Vec6::Zero());
    const Mat6 K =
        elastic::spring_hessian_psd(g.law, m.X_WM, g.at.p, ground, g.anchor_W).topLeftCorner<6, 6>();
    const Mat6 D = elastic::spring_damping(g.law, m.X_WM, g.at.p, ground, g.anchor_W).topLeftCorner<6, 6>();
    w.wrench[g.at.link] += state.force.head<6>() - weights.ahead * (K * m.V);
    w.body_block[g.block] += weights.d * D + weights.k * K;
  }
}

void add_drag(const SystemData& s, const Weights& weights, WorkspaceData& w) {
  for (int i = 0; i < s.tree.size(); ++i) {
    const int b = s.body_block_index[i];
    if (b < 0) continue;
    w.wrench[i] -= s.drag[b] * w.links[i].V;
    w.body_block[b] += weights.d * s.drag[b];
  }
}

void add_loads(const SystemData& s, double t, WorkspaceData& w) {
  for (const CompiledLoad& l : s.loads) {
    const Mat3& R_WM = w.links[l.at.link].X_WM.R;
    const Mat3 turn = l.follows ? l.R_MB : Mat3(R_WM.transpose());
    const Vec3 f = turn * l.force.value(t), m = turn * l.moment.value(t);
    w.wrench[l.at.link].head<3>() += l.at.p.cross(f) + m;
    w.wrench[l.at.link].tail<3>() += f;
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
    const double c = 0.5 * wind.air_density * wind.drag_coefficient * area;
    const Vec3 f = c * speed * u;
    w.wrench[shape.link].head<3>() += r.cross(f);
    w.wrench[shape.link].tail<3>() += f;
    Eigen::Matrix<double, 3, 6> J;
    J << -math::skew(r), Mat3::Identity();
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
  const Vec3 error = c.R.transpose() * (Vec3(at(3), at(4), at(5)) - c.p);
  const Vec3 speed = c.R.transpose() * Vec3(rate(3), rate(4), rate(5));
  return drive.kp[k] * error[k - 3] + drive.kd[k] * (speed[k - 3] - v[k]);
}

void evaluate(const SystemData& s, const double* q, const double* v, double t, const Weights& weights,
              WorkspaceData& w) {
  multibody::kinematics(s.tree, q, v, w.links, w.workers.get());
  const Vec3 g = s.model.gravity().value(t);
  std::fill(w.joint_block.begin(), w.joint_block.end(), 0.0);
  for (Mat6& block : w.body_block) block.setZero();

  // Weight, joint dampers, and springs of plain coordinates (their stiffness is zero for rotations).
  multibody::walk_forward(s.tree, w.workers.get(), [&](int i) {
    const Link& link = s.tree[i];
    w.wrench[i] = gravity_wrench(link, w.links[i], g);
    const bool plain = !has_rotation_vector(link.kind);
    for (int k = 0; k < link.dofs; ++k) {
      const int n = link.v + k;
      w.tau[n] = -s.damping[n] * v[n];
      w.joint_block[link.block + k * link.dofs + k] = weights.d * s.damping[n];
      if (!plain) continue;
      w.tau[n] -= s.stiffness[n] * (q[link.q + k] - s.rest[n] + weights.ahead * v[n]);
      w.joint_block[link.block + k * link.dofs + k] += weights.k * s.stiffness[n];
    }
    if (!plain && s.has_rotation_law[i])
      add_rotation_law(link, s.model.joints()[i].law, q + link.q, v + link.v, weights, w.tau.data() + link.v,
                       w.joint_block.data() + link.block);
  });
  for (std::size_t d = 0; d < s.drives.size(); ++d) {
    const Link& link = s.tree[s.drives[d].link];
    add_drive(s.drives[d], w.servo.data() + 6 * d, link, q + link.q, v + link.v, t, weights,
              w.tau.data() + link.v, w.joint_block.data() + link.block);
  }
  add_ground_springs(s, weights, w);
  add_drag(s, weights, w);
  add_loads(s, t, w);
  add_wind(s, t, weights, w);
}

Vec6 joint_force(const SystemData& s, int i, const double* q, const double* v, double t) {
  const Link& link = s.tree[i];
  Vec6 force =
      -elastic::joint_energy_gradient(link.kind, s.model.joints()[i].law, configuration(link, q + link.q))
           .gradient;
  for (int k = 0; k < link.dofs; ++k) force[k] -= s.damping[link.v + k] * v[link.v + k];
  for (const CompiledDrive& d : s.drives) {
    if (d.link != i) continue;
    for (int k = 0; k < link.dofs; ++k) {
      const double max = d.drive.max_force[k];
      force[k] += d.drive.kind == Drive::Kind::force
                      ? d.drive.target[k].value(t)
                      : std::clamp(servo_force(d, link, k, q + link.q, v + link.v, t), -max, max);
    }
  }
  return force;
}

double elastic_energy(const SystemData& s, const double* q, const std::vector<LinkMotion>& links) {
  double sum = 0;
  for (int i = 0; i < s.tree.size(); ++i)
    if (s.tree[i].dofs > 0)
      sum += elastic::joint_energy(s.tree[i].kind, s.model.joints()[i].law,
                                   configuration(s.tree[i], q + s.tree[i].q));
  for (const GroundSpring& g : s.ground_springs)
    sum += elastic::spring_energy(g.law, links[g.at.link].X_WM, g.at.p, Pose{}, g.anchor_W);
  return sum;
}

void prescribed(const CompiledMotion& m, const Link& link, double t, double* q, double* v) {
  DofArray x{}, rate{};
  for (int k = 0; k < link.dofs; ++k) {
    x[k] = m.position[k].value(t);
    rate[k] = m.position[k].rate(t);
  }
  multibody::set_coordinates(link, x, q);
  std::copy_n(rate.begin(), link.dofs, v);
  if (!has_rotation_vector(link.kind)) return;
  const Vec3 theta(x[0], x[1], x[2]);
  const Vec3 omega = math::so3_jacobian(theta) * Vec3(rate[0], rate[1], rate[2]);
  std::copy_n(omega.data(), 3, v);
  if (link.kind != JointKind::free) return;
  const Vec3 speed = math::so3_exp(theta).transpose() * Vec3(rate[3], rate[4], rate[5]);
  std::copy_n(speed.data(), 3, v + 3);
}

}  // namespace limber::articulated
