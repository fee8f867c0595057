#include "limber/multibody/closing_joint.h"

#include <algorithm>
#include <cmath>

#include "limber/math/so3.h"
#include "limber/math/trig.h"

namespace limber::multibody {

void closing_coordinates(JointKind kind, const Pose& X, double* q, DofArray& x) {
  const Mat3& R = X.R;
  x = {};
  switch (kind) {
    case JointKind::fixed:
    case JointKind::free:
      return;
    case JointKind::revolute:
      x[0] = q[0] = math::atan2(R(1, 0) - R(0, 1), R(0, 0) + R(1, 1));
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
      x[2] = q[2] = math::atan2(R(1, 0) - R(0, 1), R(0, 0) + R(1, 1));
      return;
    case JointKind::spherical: {
      const Quat quat = math::to_quat(R);
      q[0] = quat.w(), q[1] = quat.x(), q[2] = quat.y(), q[3] = quat.z();
      const Vec3 theta = math::so3_log(R);
      std::copy_n(theta.data(), 3, x.begin());
      return;
    }
  }
}

int closing_rows(JointKind kind, const Pose& X, Mat6& T, Vec6& gap) {
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
  switch (kind) {
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
    case JointKind::free:
      break;
  }
  return n;
}

}  // namespace limber::multibody
