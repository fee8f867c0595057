#include "limber/elastic/joint_law.h"

#include <algorithm>

#include "limber/math/so3.h"

namespace limber::elastic {
namespace {

using math::skew;
using math::so3_exp;
using math::so3_jacobian_inverse;
using math::so3_log;

Vec3 triple(const DofArray& a, int first) { return {a[first], a[first + 1], a[first + 2]}; }

// θ = log(R₀ᵀ R).
Vec3 rotation_from_rest(const JointLaw& law, const JointConfiguration& c) {
  const Vec3 rest = triple(law.rest, 0);
  return rest.isZero(0) ? so3_log(c.R) : so3_log(so3_exp(rest).transpose() * c.R);
}

}  // namespace

JointConfiguration configuration_of(JointKind kind, const double* q) {
  JointConfiguration c;
  if (!has_rotation_vector(kind)) {
    std::copy_n(q, dof_count(kind), c.q.begin());
    return c;
  }
  c.R = math::to_matrix(Quat(q[0], q[1], q[2], q[3]));
  if (kind == JointKind::free)
    c.p = Vec3(q[4], q[5], q[6]);
  else
    std::copy_n(q + 4, dof_count(kind) - 3, c.q.begin() + 3);
  return c;
}

double joint_energy(JointKind kind, const JointLaw& law, const JointConfiguration& c) {
  return joint_energy_gradient(kind, law, c).energy;
}

JointLawValue joint_energy_gradient(JointKind kind, const JointLaw& law, const JointConfiguration& c) {
  JointLawValue out;
  if (!has_rotation_vector(kind)) {
    for (int i = 0; i < dof_count(kind); ++i) {
      const double x = c.q[i] - law.rest[i];
      out.gradient[i] = law.stiffness[i] * x;
      out.energy += 0.5 * out.gradient[i] * x;
    }
    return out;
  }

  // Rotation: V = ½ θᵀKθ, g = J_r⁻ᵀ K θ. A joint without a spring skips the logarithm.
  const Vec3 k = triple(law.stiffness, 0);
  if (!k.isZero(0)) {
    const Vec3 theta = rotation_from_rest(law, c);
    const Vec3 w = k.cwiseProduct(theta);
    out.energy = 0.5 * theta.dot(w);
    out.gradient.head<3>() = so3_jacobian_inverse(theta).transpose() * w;
  }

  // Shift: V = ½ Σ k (p − p₀)², g = Rᵀ K (p − p₀).
  if (kind == JointKind::free) {
    const Vec3 x = c.p - triple(law.rest, 3);
    const Vec3 w = triple(law.stiffness, 3).cwiseProduct(x);
    out.energy += 0.5 * x.dot(w);
    out.gradient.tail<3>() = c.R.transpose() * w;
    return out;
  }
  for (int i = 3; i < dof_count(kind); ++i) {
    const double x = c.q[i] - law.rest[i];
    out.gradient[i] = law.stiffness[i] * x;
    out.energy += 0.5 * out.gradient[i] * x;
  }
  return out;
}

Mat6 joint_hessian(JointKind kind, const JointLaw& law, const JointConfiguration& c) {
  Mat6 H = Mat6::Zero();
  if (!has_rotation_vector(kind)) {
    for (int i = 0; i < dof_count(kind); ++i) H(i, i) = law.stiffness[i];
    return H;
  }
  const Vec3 k = triple(law.stiffness, 0);
  if (!k.isZero(0)) {
    const Vec3 theta = rotation_from_rest(law, c);
    const Mat3 Ji = so3_jacobian_inverse(theta);
    const Mat3 dJw = math::so3_jacobian_inverse_transpose_derivative(theta, k.cwiseProduct(theta));
    const Mat3 JtK = Ji.transpose() * k.asDiagonal();
    H.topLeftCorner<3, 3>() = (dJw + JtK) * Ji;
  }
  if (kind == JointKind::free) {
    const Vec3 kp = triple(law.stiffness, 3);
    const Vec3 w = kp.cwiseProduct(c.p - triple(law.rest, 3));
    const Mat3 KR = kp.asDiagonal() * c.R;
    H.block<3, 3>(3, 0) = skew(c.R.transpose() * w);
    H.block<3, 3>(3, 3) = c.R.transpose() * KR;
    return H;
  }
  for (int i = 3; i < dof_count(kind); ++i) H(i, i) = law.stiffness[i];
  return H;
}

Mat6 joint_hessian_psd(JointKind kind, const JointLaw& law, const JointConfiguration& c) {
  Mat6 H = Mat6::Zero();
  if (!has_rotation_vector(kind)) {
    for (int i = 0; i < dof_count(kind); ++i) H(i, i) = law.stiffness[i];
    return H;
  }
  const Vec3 k = triple(law.stiffness, 0);
  if (!k.isZero(0)) {
    const Mat3 Ji = so3_jacobian_inverse(rotation_from_rest(law, c));
    const Mat3 KJ = k.asDiagonal() * Ji;
    H.topLeftCorner<3, 3>() = Ji.transpose() * KJ;
  }
  if (kind == JointKind::free) {
    const Mat3 KR = triple(law.stiffness, 3).asDiagonal() * c.R;
    H.block<3, 3>(3, 3) = c.R.transpose() * KR;
    return H;
  }
  for (int i = 3; i < dof_count(kind); ++i) H(i, i) = law.stiffness[i];
  return H;
}

}  // namespace limber::elastic
