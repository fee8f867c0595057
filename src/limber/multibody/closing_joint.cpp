#include "limber/multibody/closing_joint.h"

#include <algorithm>
#include <cmath>

#include "limber/math/so3.h"
#include "limber/math/trig.h"

namespace limber::multibody {
namespace {

double angle_about_z(const Mat3& R) { return math::atan2(R(1, 0) - R(0, 1), R(0, 0) + R(1, 1)); }

// With the full turns that bring it nearest to where the thread stands.
double screw_angle(const ClosingJoint& joint, const Pose& X) {
  const double angle = angle_about_z(X.R);
  return angle + 2 * pi * std::round((X.p.z() / joint.lead - angle) / (2 * pi));
}

void put_rotation(const Mat3& R, double* q, DofArray& x) {
  const Quat quat = math::to_quat(R);
  q[0] = quat.w(), q[1] = quat.x(), q[2] = quat.y(), q[3] = quat.z();
  const Vec3 theta = math::so3_log(R);
  std::copy_n(theta.data(), 3, x.begin());
}

}  // namespace

void closing_coordinates(const ClosingJoint& joint, const Pose& X, double* q, DofArray& x) {
  const Mat3& R = X.R;
  x = {};
  switch (joint.kind) {
    case JointKind::fixed:
    case JointKind::distance:
      return;
    case JointKind::revolute:
      x[0] = q[0] = angle_about_z(R);
      return;
    case JointKind::cylindrical:
      x[0] = q[0] = angle_about_z(R);
      x[1] = q[1] = X.p.z();
      return;
    case JointKind::screw:
      x[0] = q[0] = screw_angle(joint, X);
      return;
    case JointKind::prismatic:
      x[0] = q[0] = X.p.z();
      return;
    case JointKind::universal:
      x[0] = q[0] = math::atan2(R(2, 1), R(1, 1));
      x[1] = q[1] = math::atan2(R(0, 2), R(0, 0));
      return;
    case JointKind::planar:
      x[0] = q[0] = X.p.x();
      x[1] = q[1] = X.p.y();
      x[2] = q[2] = angle_about_z(R);
      return;
    case JointKind::constant_velocity: {
      const Vec3 theta = math::so3_log(R);
      x[0] = q[0] = theta.x();
      x[1] = q[1] = theta.y();
      return;
    }
    case JointKind::spherical:
      put_rotation(R, q, x);
      return;
    case JointKind::free:
      put_rotation(R, q, x);
      for (int k = 0; k < 3; ++k) x[3 + k] = q[4 + k] = X.p[k];
      return;
    case JointKind::point_on_line:
      put_rotation(R, q, x);
      x[3] = q[4] = X.p.z();
      return;
    case JointKind::point_on_plane:
      put_rotation(R, q, x);
      x[3] = q[4] = X.p.x();
      x[4] = q[5] = X.p.y();
      return;
  }
}

int closing_rows(const ClosingJoint& joint, const Pose& X, Mat6& T, Vec6& gap) {
  const Mat3& R = X.R;
  T.setZero();
  gap.setZero();
  int n = 0;
  const auto row = [&](int k, double value) {
    T(n, k) = 1;
    gap[n++] = value;
  };
  const Vec3 u = R.transpose().col(2);  // z of F in M
  const Vec3 p_M = R.transpose() * X.p;
  const auto all_turns = [&] {
    const Vec3 theta = math::so3_log(R);
    for (int k = 0; k < 3; ++k) row(k, theta[k]);
  };
  const auto tilt = [&] {
    row(0, u.y());
    row(1, -u.x());
  };
  const auto all_shifts = [&] {
    for (int k = 0; k < 3; ++k) row(3 + k, p_M[k]);
  };
  const auto shift_in_F = [&](int k) {  // p_k has the rate (Rᵀe_k)·v
    T.row(n).tail<3>() = R.row(k);
    gap[n++] = X.p[k];
  };
  switch (joint.kind) {
    case JointKind::fixed:
      all_turns();
      all_shifts();
      break;
    case JointKind::revolute:
      tilt();
      all_shifts();
      break;
    case JointKind::prismatic:
      all_turns();
      row(3, X.p.x());
      row(4, X.p.y());
      break;
    case JointKind::universal: {
      const double c = R(0, 0), s = R(0, 2), size = std::sqrt(c * c + s * s);
      T.row(0) << -s / size, 0, c / size, 0, 0, 0;
      gap[n++] = -R(0, 1);
      all_shifts();
      break;
    }
    case JointKind::planar:
      tilt();
      row(5, X.p.z());
      break;
    case JointKind::spherical:
      all_shifts();
      break;
    case JointKind::screw:
    case JointKind::cylindrical:
      tilt();
      shift_in_F(0);
      shift_in_F(1);
      if (joint.kind != JointKind::screw) break;
      T(n, 2) = -joint.lead;
      T(n, 5) = 1;
      gap[n++] = X.p.z() - joint.lead * screw_angle(joint, X);
      break;
    case JointKind::point_on_line:
      shift_in_F(0);
      shift_in_F(1);
      break;
    case JointKind::point_on_plane:
      shift_in_F(2);
      break;
    case JointKind::constant_velocity: {
      const Quat quat = math::to_quat(R);
      T.row(0) << -quat.y(), quat.x(), quat.w(), 0, 0, 0;
      gap[n++] = 2 * quat.z();
      all_shifts();
      break;
    }
    case JointKind::distance:
      T.row(n).tail<3>() = p_M.normalized().transpose();
      gap[n++] = X.p.norm() - joint.length;
      break;
    case JointKind::free:
      break;
  }
  return n;
}

Subspace closing_axes(const ClosingJoint& joint, const double* q) {
  const Subspace S = motion_subspace(joint.kind, joint.lead, q);
  return has_orthonormal_axes(joint.kind) ? S : dual_axes(S, dof_count(joint.kind));
}

Vec6 closing_row_rates(const ClosingJoint& joint, const Pose& X, const double* q, const Mat6& T,
                       const Vec6& V) {
  if (joint.kind == JointKind::distance) {  // n·v = 0, so n·v̇ = −ṅ·v, ḋ = v − ω × d
    const Vec3 d = X.R.transpose() * X.p, rate = V.tail<3>() - V.head<3>().cross(d);
    const Vec3 n = d.normalized();
    Vec6 out = Vec6::Zero();
    out[0] = -(rate - n * n.dot(rate)).dot(V.tail<3>()) / d.norm();
    return out;
  }
  const Vec6 rates = closing_axes(joint, q).transpose() * V;
  return T * joint_twist_rate(joint.kind, q, rates.data());
}

}  // namespace limber::multibody
