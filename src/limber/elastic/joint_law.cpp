#include "limber/elastic/joint_law.h"

#include <algorithm>

#include "limber/math/so3.h"

namespace limber::elastic {
namespace {

using math::so3_exp;
using math::so3_jacobian_inverse;
using math::so3_log;

Vec3 turning(const DofArray& a) { return {a[0], a[1], a[2]}; }

// θ = log(R₀ᵀ R).
Vec3 rotation_from_rest(const JointLaw& law, const JointConfiguration& c) {
  const Vec3 rest = turning(law.rest);
  return rest.isZero(0) ? so3_log(c.R) : so3_log(so3_exp(rest).transpose() * c.R);
}

// Of a coordinate with a plain rate, all of its springs.
CoordinateLaw plain_law(const JointLaw& law, int i, double q) {
  const double x = q - law.rest[i];
  CoordinateLaw out;
  out.force = law.stiffness[i] * x;
  out.energy = 0.5 * out.force * x;
  out.slope = law.stiffness[i];
  if (!law.extras) return out;
  for (const CoordinateLaw& more : {extra_spring(*law.extras, i, x), extra_stop(law, i, q)})
    out.energy += more.energy, out.force += more.force, out.slope += more.slope;
  return out;
}

// w(θ) of the rotation vector's components, their slopes and their energy.
struct TurningLaw {
  Vec3 w, slope;
  double energy = 0;
  TurningLaw(const JointLaw& law, const Vec3& x) : slope(turning(law.stiffness)) {
    w = slope.cwiseProduct(x);
    energy = 0.5 * x.dot(w);
    if (!law.extras) return;
    for (int i = 0; i < 3; ++i) {
      const CoordinateLaw more = extra_spring(*law.extras, i, x[i]);
      w[i] += more.force, slope[i] += more.slope, energy += more.energy;
    }
  }
};

// A joint without a spring skips the logarithm.
bool has_turning_spring(const JointLaw& law) {
  return law.extras != nullptr || !turning(law.stiffness).isZero(0);
}

Vec3 safe_slopes(const JointLaw& law, const Vec3& x) {
  return law.extras ? Vec3(TurningLaw(law, x).slope.cwiseMax(0.0)) : turning(law.stiffness);
}

}  // namespace

CoordinateLaw extra_spring(const JointExtras& extras, int dof, double x) {
  const math::Dual f = extras.spring[dof].at(x);
  return {extras.spring[dof].integral(x) - extras.preload[dof] * x, f.value - extras.preload[dof], f.rate};
}

CoordinateLaw extra_stop(const JointLaw& law, int dof, double q) {
  const double k = law.extras->stop_stiffness[dof];
  const double over = std::max(q - law.upper[dof], 0.0) + std::min(q - law.lower[dof], 0.0);
  if (over == 0 || k == 0) return {};
  return {0.5 * k * over * over, k * over, k};
}

math::Dual extra_damper(const JointLaw& law, int dof, double q, double rate) {
  math::Dual out = law.extras->damper[dof].at(rate);
  const CoordinateLaw stop = extra_stop(law, dof, q);
  if (stop.force == 0) return out;
  const double c = law.extras->stop_damping[dof];
  if ((stop.force + c * rate) * stop.force <= 0) return {out.value - stop.force, out.rate};  // it would pull
  return {out.value + c * rate, out.rate + c};
}

JointConfiguration configuration_of(JointKind kind, const double* q) {
  JointConfiguration c;
  if (!has_rotation_vector(kind)) {
    std::copy_n(q, dof_count(kind), c.q.begin());
    return c;
  }
  c.R = math::to_matrix(Quat(q[0], q[1], q[2], q[3]));
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
      const CoordinateLaw at = plain_law(law, i, c.q[i]);
      out.gradient[i] = at.force;
      out.energy += at.energy;
    }
    return out;
  }

  // Rotation: V = ½ θᵀKθ, g = J_r⁻ᵀ K θ.
  if (has_turning_spring(law)) {
    const Vec3 theta = rotation_from_rest(law, c);
    const TurningLaw at(law, theta);
    out.energy = at.energy;
    out.gradient.head<3>() = so3_jacobian_inverse(theta).transpose() * at.w;
  }
  for (int i = 3; i < dof_count(kind); ++i) {
    const CoordinateLaw at = plain_law(law, i, c.q[i]);
    out.gradient[i] = at.force;
    out.energy += at.energy;
  }
  return out;
}

Mat6 joint_hessian(JointKind kind, const JointLaw& law, const JointConfiguration& c) {
  Mat6 H = Mat6::Zero();
  const auto put_plain = [&](int first) {
    for (int i = first; i < dof_count(kind); ++i) H(i, i) = plain_law(law, i, c.q[i]).slope;
  };
  if (!has_rotation_vector(kind)) {
    put_plain(0);
    return H;
  }
  if (has_turning_spring(law)) {
    const Vec3 theta = rotation_from_rest(law, c);
    const TurningLaw at(law, theta);
    const Mat3 Ji = so3_jacobian_inverse(theta);
    const Mat3 dJw = math::so3_jacobian_inverse_transpose_derivative(theta, at.w);
    const Mat3 JtK = Ji.transpose() * at.slope.asDiagonal();
    H.topLeftCorner<3, 3>() = (dJw + JtK) * Ji;
  }
  put_plain(3);
  return H;
}

Mat6 joint_hessian_psd(JointKind kind, const JointLaw& law, const JointConfiguration& c) {
  Mat6 H = Mat6::Zero();
  const auto put_plain = [&](int first) {
    for (int i = first; i < dof_count(kind); ++i)
      H(i, i) = law.extras ? std::max(plain_law(law, i, c.q[i]).slope, 0.0) : law.stiffness[i];
  };
  if (!has_rotation_vector(kind)) {
    put_plain(0);
    return H;
  }
  if (has_turning_spring(law)) {
    const Vec3 theta = rotation_from_rest(law, c);
    const Mat3 Ji = so3_jacobian_inverse(theta);
    const Mat3 KJ = safe_slopes(law, theta).asDiagonal() * Ji;
    H.topLeftCorner<3, 3>() = Ji.transpose() * KJ;
  }
  put_plain(3);
  return H;
}

}  // namespace limber::elastic
