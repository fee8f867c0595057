// Joint by joint: see the header for the equations.
#include "limber/multibody/joint_kinematics.h"

#include "limber/math/trig.h"

namespace limber::multibody {
namespace {

Quat quat_at(const double* q) { return Quat(q[0], q[1], q[2], q[3]); }
void store(const Quat& r, double* q) { q[0] = r.w(), q[1] = r.x(), q[2] = r.y(), q[3] = r.z(); }

}  // namespace

Pose joint_transform(JointKind kind, const double* q) {
  switch (kind) {
    case JointKind::fixed:
      break;
    case JointKind::revolute:
      return Pose::rotation(math::rotation_z(q[0]));
    case JointKind::prismatic:
      return Pose::translation({0, 0, q[0]});
    case JointKind::universal:
      return Pose::rotation(math::rotation_x(q[0]) * math::rotation_y(q[1]));
    case JointKind::planar:
      return {math::rotation_z(q[2]), Vec3(q[0], q[1], 0)};
    case JointKind::spherical:
      return Pose::rotation(math::to_matrix(quat_at(q)));
    case JointKind::free:
      return {math::to_matrix(quat_at(q)), Vec3(q[4], q[5], q[6])};
  }
  return Pose::identity();
}

Subspace motion_subspace(JointKind kind, const double* q) {
  Subspace S = Subspace::Zero();
  switch (kind) {
    case JointKind::fixed:
      break;
    case JointKind::revolute:
      S(2, 0) = 1;
      break;
    case JointKind::prismatic:
      S(5, 0) = 1;
      break;
    case JointKind::universal: {
      const auto [s, c] = math::sincos(q[1]);
      S(0, 0) = c;
      S(2, 0) = s;
      S(1, 1) = 1;
      break;
    }
    case JointKind::planar: {
      const auto [s, c] = math::sincos(q[2]);
      S(3, 0) = c;
      S(4, 0) = -s;
      S(3, 1) = s;
      S(4, 1) = c;
      S(2, 2) = 1;
      break;
    }
    case JointKind::spherical:
      S.topLeftCorner<3, 3>().setIdentity();
      break;
    case JointKind::free:
      S.setIdentity();
      break;
  }
  return S;
}

Vec6 joint_twist(JointKind kind, const double* q, const double* v) {
  Vec6 V = Vec6::Zero();
  switch (kind) {
    case JointKind::fixed:
      break;
    case JointKind::revolute:
      V[2] = v[0];
      break;
    case JointKind::prismatic:
      V[5] = v[0];
      break;
    case JointKind::universal: {
      const auto [s, c] = math::sincos(q[1]);
      V.head<3>() = Vec3(c * v[0], v[1], s * v[0]);
      break;
    }
    case JointKind::planar: {
      const auto [s, c] = math::sincos(q[2]);
      V[2] = v[2];
      V[3] = c * v[0] + s * v[1];
      V[4] = -s * v[0] + c * v[1];
      break;
    }
    case JointKind::spherical:
      V.head<3>() = Vec3(v[0], v[1], v[2]);
      break;
    case JointKind::free:
      V << v[0], v[1], v[2], v[3], v[4], v[5];
      break;
  }
  return V;
}

Vec6 joint_twist_rate(JointKind kind, const double* q, const double* v) {
  Vec6 a = Vec6::Zero();
  if (kind == JointKind::universal) {
    const auto [s, c] = math::sincos(q[1]);
    a[0] = -s * v[0] * v[1];
    a[2] = c * v[0] * v[1];
  } else if (kind == JointKind::planar) {
    const auto [s, c] = math::sincos(q[2]);
    a[3] = v[2] * (-s * v[0] + c * v[1]);
    a[4] = v[2] * (-c * v[0] - s * v[1]);
  }
  return a;
}

void integrate_joint(JointKind kind, const double* q, const double* v, double h, double* q_out) {
  if (kind == JointKind::spherical) {
    store(math::normalized(math::multiply(quat_at(q), math::quat_exp(Vec3(h * v[0], h * v[1], h * v[2])))),
          q_out);
  } else if (kind == JointKind::free) {
    Vec6 step;
    step << h * v[0], h * v[1], h * v[2], h * v[3], h * v[4], h * v[5];
    const Quat r = quat_at(q);
    const Vec3 shift = math::to_matrix(r) * math::se3_exp(step).p;
    store(math::normalized(math::multiply(r, math::quat_exp(step.head<3>()))), q_out);
    for (int k = 0; k < 3; ++k) q_out[4 + k] = q[4 + k] + shift[k];
  } else {
    for (int k = 0; k < dof_count(kind); ++k) q_out[k] = q[k] + h * v[k];
  }
}

void rates_between(JointKind kind, const double* q, const double* q_end, double h, double* v) {
  if (kind == JointKind::spherical) {
    const Vec3 theta = math::quat_log(math::multiply(quat_at(q).conjugate(), quat_at(q_end)));
    for (int k = 0; k < 3; ++k) v[k] = theta[k] / h;
  } else if (kind == JointKind::free) {
    const Vec6 step = math::se3_log(joint_transform(kind, q).inverse() * joint_transform(kind, q_end));
    for (int k = 0; k < 6; ++k) v[k] = step[k] / h;
  } else {
    for (int k = 0; k < dof_count(kind); ++k) v[k] = (q_end[k] - q[k]) / h;
  }
}

}  // namespace limber::multibody
