// Joint by joint: see the header for the equations.
#include "limber/multibody/joint_kinematics.h"

#include "limber/math/so3.h"
#include "limber/math/trig.h"

namespace limber::multibody {
namespace {

Quat quat_at(const double* q) { return Quat(q[0], q[1], q[2], q[3]); }
void store(const Quat& r, double* q) { q[0] = r.w(), q[1] = r.x(), q[2] = r.y(), q[3] = r.z(); }

// Axes of F along which a point slides, in M.
Vec3 shift_axis(JointKind kind, const double* q, int k) {
  return math::to_matrix(quat_at(q)).row(kind == JointKind::point_on_line ? 2 : k).transpose();
}

// Rᵀṗ, the rate of the shift in M.
Vec3 shift_rate(JointKind kind, const double* q, const double* v) {
  const Vec3 rate = kind == JointKind::point_on_line ? Vec3(0, 0, v[3])
                    : kind == JointKind::free        ? Vec3(v[3], v[4], v[5])
                                                     : Vec3(v[3], v[4], 0);
  return math::to_matrix(quat_at(q)).transpose() * rate;
}

}  // namespace

Pose joint_transform(JointKind kind, double lead, const double* q) {
  switch (kind) {
    case JointKind::fixed:
    case JointKind::distance:
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
    case JointKind::cylindrical:
      return {math::rotation_z(q[0]), Vec3(0, 0, q[1])};
    case JointKind::screw:
      return {math::rotation_z(q[0]), Vec3(0, 0, lead * q[0])};
    case JointKind::point_on_line:
      return {math::to_matrix(quat_at(q)), Vec3(0, 0, q[4])};
    case JointKind::point_on_plane:
      return {math::to_matrix(quat_at(q)), Vec3(q[4], q[5], 0)};
    case JointKind::constant_velocity:
      return Pose::rotation(math::so3_exp({q[0], q[1], 0}));
  }
  return Pose::identity();
}

Subspace motion_subspace(JointKind kind, double lead, const double* q) {
  Subspace S = Subspace::Zero();
  switch (kind) {
    case JointKind::fixed:
    case JointKind::distance:
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
    case JointKind::cylindrical:
      S(2, 0) = S(5, 1) = 1;
      break;
    case JointKind::screw:
      S(2, 0) = 1;
      S(5, 0) = lead;
      break;
    case JointKind::free:
    case JointKind::point_on_line:
    case JointKind::point_on_plane:
      S.topLeftCorner<3, 3>().setIdentity();
      for (int k = 3; k < dof_count(kind); ++k) S.col(k).tail<3>() = shift_axis(kind, q, k - 3);
      break;
    case JointKind::constant_velocity:
      S.topLeftCorner<3, 2>() = math::so3_jacobian({q[0], q[1], 0}).leftCols<2>();
      break;
  }
  return S;
}

Vec6 joint_twist(JointKind kind, double lead, const double* q, const double* v) {
  Vec6 V = Vec6::Zero();
  switch (kind) {
    case JointKind::fixed:
    case JointKind::distance:
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
    case JointKind::cylindrical:
      V[2] = v[0];
      V[5] = v[1];
      break;
    case JointKind::screw:
      V[2] = v[0];
      V[5] = lead * v[0];
      break;
    case JointKind::free:
    case JointKind::point_on_line:
    case JointKind::point_on_plane:
      V.head<3>() = Vec3(v[0], v[1], v[2]);
      V.tail<3>() = shift_rate(kind, q, v);
      break;
    case JointKind::constant_velocity:
      V.head<3>() = math::so3_jacobian({q[0], q[1], 0}) * Vec3(v[0], v[1], 0);
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
  } else if (slides_on_axes(kind)) {
    a.tail<3>() = shift_rate(kind, q, v).cross(Vec3(v[0], v[1], v[2]));
  } else if (kind == JointKind::constant_velocity) {
    const Vec3 rate(v[0], v[1], 0);
    a.head<3>() = math::so3_jacobian_derivative({q[0], q[1], 0}, rate) * rate;
  }
  return a;
}

Subspace dual_axes(const Subspace& S, int dofs) {
  Subspace P = Subspace::Zero();
  if (dofs == 1) {
    P.col(0).head<3>() = S.col(0).head<3>() / S.col(0).head<3>().squaredNorm();
  } else if (dofs == 2) {
    const double a = S.col(0).squaredNorm(), b = S.col(0).dot(S.col(1)), c = S.col(1).squaredNorm();
    const double d = a * c - b * b;
    P.col(0) = (c / d) * S.col(0) - (b / d) * S.col(1);
    P.col(1) = (a / d) * S.col(1) - (b / d) * S.col(0);
  }
  return P;
}

void integrate_joint(JointKind kind, const double* q, const double* v, double h, double* q_out) {
  if (has_rotation_vector(kind)) {
    store(math::normalized(math::multiply(quat_at(q), math::quat_exp(Vec3(h * v[0], h * v[1], h * v[2])))),
          q_out);
    for (int k = 3; k < dof_count(kind); ++k) q_out[k + 1] = q[k + 1] + h * v[k];
  } else {
    for (int k = 0; k < dof_count(kind); ++k) q_out[k] = q[k] + h * v[k];
  }
}

void rates_between(JointKind kind, const double* q, const double* q_end, double h, double* v) {
  if (has_rotation_vector(kind)) {
    const Vec3 theta = math::quat_log(math::multiply(quat_at(q).conjugate(), quat_at(q_end)));
    for (int k = 0; k < 3; ++k) v[k] = theta[k] / h;
    for (int k = 3; k < dof_count(kind); ++k) v[k] = (q_end[k + 1] - q[k + 1]) / h;
  } else {
    for (int k = 0; k < dof_count(kind); ++k) v[k] = (q_end[k] - q[k]) / h;
  }
}

}  // namespace limber::multibody
