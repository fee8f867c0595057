#include "limber/chain/links.h"

#include <cmath>

#include "limber/math/so3.h"

namespace limber::chain {

int Links::add(int parent_link, const Pose& X_PF, const Vec3& k, bool is_hinge, std::string label) {
  parent.push_back(parent_link);
  R_f.push_back(X_PF.R);
  p_f.push_back(X_PF.p);
  stiffness.push_back(k);
  compliance.push_back(Mat3::Zero());
  hinge.push_back(is_hinge ? 1 : 0);
  straight.push_back(X_PF.R.isIdentity(0) ? 1 : 0);
  active.push_back(1);
  name.push_back(std::move(label));
  return count() - 1;
}

void Links::set_rest(int link, const Mat3& R) {
  R_f[link] = R;
  straight[link] = R.isIdentity(0) ? 1 : 0;
}

void Links::set_compliance(int link, const Mat3& C) {
  compliance[link] = C;
  stretch = stretch || !C.isZero(0);
}

namespace {

// sin(x)/x and cos(x) as series in x², good to rounding for x² ≤ 0.02: most joints turn little in a step.
Quat small_turn(const Vec3& v) {
  const double s = 0.25 * v.squaredNorm();  // half the angle, squared
  if (s > 0.02) return math::quat_exp(v);
  const double sine = 1 - s / 6 * (1 - s / 20 * (1 - s / 42 * (1 - s / 72 * (1 - s / 110))));
  const double cosine = 1 - s / 2 * (1 - s / 12 * (1 - s / 30 * (1 - s / 56 * (1 - s / 90 * (1 - s / 132)))));
  const Vec3 h = 0.5 * sine * v;
  return {cosine, h.x(), h.y(), h.z()};
}

// 2 asin(|v|)/|v| as a series in |v|², good to rounding below 0.01.
Vec3 angle_of(const Quat& q) {
  const Vec3 v = q.vec();
  const double s = v.squaredNorm();
  if (s > 0.01 || q.w() < 0) return math::quat_log(q);
  const double a =
      1 + s * (1.0 / 6 +
               s * (3.0 / 40 + s * (15.0 / 336 +
                                    s * (105.0 / 3456 +
                                         s * (945.0 / 42240 + s * (10395.0 / 599040 + s * 0.01396484375))))));
  return 2 * a * v;
}

// J_r⁻¹(θ) = I + ½[θ] + c(|θ|²) [θ]²; c and its derivative, good to rounding for |θ| ≤ ½.
struct Coefficient {
  double c, slope;
};
Coefficient inverse_coefficient(double s) {
  constexpr double a0 = 1.0 / 12, a1 = 1.0 / 720, a2 = 1.0 / 30240, a3 = 1.0 / 1209600, a4 = 1.0 / 47900160,
                   a5 = 691.0 / 1307674368000.0, a6 = 1.0 / 74724249600.0;
  return {a0 + s * (a1 + s * (a2 + s * (a3 + s * (a4 + s * (a5 + s * a6))))),
          a1 + s * (2 * a2 + s * (3 * a3 + s * (4 * a4 + s * (5 * a5 + s * 6 * a6))))};
}

// The derivative of J_r⁻ᵀ(θ) K θ by θ; for small angles by the series.
struct Derivative {
  Vec3 moment;
  Mat3 by_theta, inverse;
};
Derivative derivative(const Vec3& k, const Vec3& theta) {
  const Vec3 w = k.cwiseProduct(theta);
  const double s = theta.squaredNorm();
  Derivative d;
  if (s > 0.25) {
    d.inverse = math::so3_jacobian_inverse(theta);
    d.moment.noalias() = d.inverse.transpose() * w;
    d.by_theta = math::so3_jacobian_inverse_transpose_derivative(theta, w);
    d.by_theta.noalias() += d.inverse.transpose() * k.asDiagonal();
    return d;
  }
  const auto [c, slope] = inverse_coefficient(s);
  const double tw = theta.dot(w);
  const Vec3 twice = tw * theta - s * w;  // θ × (θ × w)
  d.moment = w - 0.5 * theta.cross(w) + c * twice;
  // J_r⁻¹ = (1 − c s) I + ½[θ] + c θθᵀ;  ∂m/∂θ with w held: ½[w] + c ((θ·w) I + θwᵀ − 2wθᵀ) + 2c' (θ×(θ×w))
  // θᵀ, and with w = Kθ: + J_r⁻ᵀ K.
  const Vec3 a = c * theta, e = 2 * slope * twice - 2 * c * w;
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 3; ++i) {
      d.inverse(i, j) = a[i] * theta[j];
      d.by_theta(i, j) = a[i] * (w[j] + theta[j] * k[j]) + e[i] * theta[j];
    }
  const double one = 1 - c * s;
  for (int i = 0; i < 3; ++i) {
    const int j = i == 2 ? 0 : i + 1, l = j == 2 ? 0 : j + 1;  // i, j, l cyclic
    d.inverse(i, i) += one;
    d.by_theta(i, i) += c * tw + one * k[i];
    const double t = 0.5 * theta[i], u = 0.5 * w[i];
    d.inverse(l, j) += t, d.inverse(j, l) -= t;
    d.by_theta(l, j) += u - t * k[j], d.by_theta(j, l) += t * k[l] - u;
  }
  return d;
}

}  // namespace

void Shape::resize(int links) {
  theta.assign(static_cast<std::size_t>(links), Vec3::Zero());
  q.assign(static_cast<std::size_t>(links), Quat(1, 0, 0, 0));
  R.assign(static_cast<std::size_t>(links), Mat3::Identity());
}

void advance(const Links& links, Shape& shape, const std::vector<Vec3>& delta, double factor) {
  for (int i = 0; i < links.count(); ++i) {
    if (!links.active[i]) continue;
    if (links.hinge[i]) {
      shape.theta[i].z() += factor * delta[i].z();
      shape.R[i] = math::rotation_z(shape.theta[i].z());
    } else {
      Quat q = math::multiply(shape.q[i], small_turn(factor * delta[i]));
      q.coeffs() *= 1.5 - 0.5 * q.squaredNorm();  // to unit length: it is nearly that already
      shape.q[i] = q;
      shape.theta[i] = angle_of(q);
      shape.R[i] = math::to_matrix(q);
    }
  }
}

JointMoment joint_moment(const Vec3& k, const Vec3& theta, bool hinge, bool with_K) {
  JointMoment out;
  const Vec3 w = k.cwiseProduct(theta);
  out.energy = 0.5 * theta.dot(w);
  if (hinge) {
    out.moment = {0, 0, w.z()};
    out.K(2, 2) = k.z();
    return out;
  }
  if (!with_K) {
    const double s = theta.squaredNorm();
    if (s > 0.25) {
      out.moment.noalias() = math::so3_jacobian_inverse(theta).transpose() * w;
    } else {
      const double c = inverse_coefficient(s).c;
      out.moment = w - 0.5 * theta.cross(w) + c * (theta.dot(w) * theta - s * w);
    }
    return out;
  }
  const Derivative d = derivative(k, theta);
  out.moment = d.moment;
  const Mat3 H = d.by_theta.lazyProduct(d.inverse);
  out.K(0, 0) = H(0, 0), out.K(1, 1) = H(1, 1), out.K(2, 2) = H(2, 2);
  out.K(0, 1) = out.K(1, 0) = 0.5 * (H(0, 1) + H(1, 0));
  out.K(0, 2) = out.K(2, 0) = 0.5 * (H(0, 2) + H(2, 0));
  out.K(1, 2) = out.K(2, 1) = 0.5 * (H(1, 2) + H(2, 1));
  return out;
}

Vec3 joint_angle(const Vec3& k, const Vec3& m, bool hinge) {
  if (hinge) return {0, 0, m.z() / k.z()};
  // J_r⁻ᵀ(θ) K θ = m. Newton from the small-angle answer, cut back where it would overshoot.
  Vec3 theta = m.cwiseQuotient(k);
  if (theta.norm() > 1) theta *= 1 / theta.norm();
  const double scale = m.norm();
  double last = (joint_moment(k, theta, false, false).moment - m).norm();
  for (int i = 0; i < 60 && last > 1e-16 * scale; ++i) {
    const Derivative d = derivative(k, theta);
    const Vec3 step = d.by_theta.inverse() * (m - d.moment);
    double part = 1;
    for (; part > 1e-6; part /= 2) {
      const Vec3 trial = theta + part * step;
      const double rest = (joint_moment(k, trial, false, false).moment - m).norm();
      if (rest < last) {
        theta = trial;
        last = rest;
        break;
      }
    }
    if (part <= 1e-6) break;
  }
  return theta;
}

}  // namespace limber::chain
