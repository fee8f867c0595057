#include "limber/elastic/spring_law.h"

#include <algorithm>
#include <cmath>

#include "limber/math/so3.h"

namespace limber::elastic {
namespace {

using math::skew;
using Mat3x6 = Eigen::Matrix<double, 3, 6>;
using Mat3x12 = Eigen::Matrix<double, 3, 12>;

// The line of the spring. A spring of (nearly) no length has no direction: n = 0, and with it no force unless
// its rest length is zero, when V = ½ k |d|² is smooth and needs no n.
struct Line {
  Vec3 d = Vec3::Zero();  // x_b − x_a [m]
  Vec3 n = Vec3::Zero();
  double l = 0;
  bool slack = false;  // tension-only and not stretched: no elastic force, no damping

  Line(const SpringParameters& s, const Pose& X_WA, const Vec3& p_A, const Pose& X_WB, const Vec3& p_B)
      : Line(s, X_WB * p_B - X_WA * p_A) {}
  Line(const SpringParameters& s, const Vec3& along) : d(along), l(d.norm()) {
    if (l > 1e-12 * s.rest_length) n = d / l;
    slack = s.tension_only && l <= s.rest_length;
  }
};

// ∂x/∂(ω, v) = R [−[r]ₓ, I].
Mat3x6 point_jacobian(const Mat3& R, const Vec3& r) {
  Mat3x6 J;
  J << -R * skew(r), R;
  return J;
}

// ∂d/∂(twist of A, twist of B).
Mat3x12 line_jacobian(const Pose& X_WA, const Vec3& p_A, const Pose& X_WB, const Vec3& p_B) {
  Mat3x12 J;
  J << -point_jacobian(X_WA.R, p_A), point_jacobian(X_WB.R, p_B);
  return J;
}

// Jᵀ f: −f at a, f at b as wrenches in the bodies' own frames.
Vec12 to_bodies(const Vec3& f, const Pose& X_WA, const Vec3& p_A, const Pose& X_WB, const Vec3& p_B) {
  const Vec3 f_A = X_WA.R.transpose() * f, f_B = X_WB.R.transpose() * f;
  Vec12 g;
  g << -p_A.cross(f_A), -f_A, p_B.cross(f_B), f_B;
  return g;
}

// What curves add to k (l − L), with its slope.
math::Dual curve_tension(const SpringCurves& c, double stretch) {
  math::Dual out = c.force.at(stretch);
  out.value += c.preload;
  return out;
}
// The damper's tension and its slope.
math::Dual damper_tension(const SpringParameters& s, double rate) {
  if (!s.curves || !s.curves->damper) return {s.damping * rate, s.damping};
  const math::Dual more = s.curves->damper.at(rate);
  return {s.damping * rate + more.value, s.damping + more.rate};
}

// ∂V/∂d = k (1 − L/l) d.
Vec3 elastic_pull(const SpringParameters& s, const Line& line) {
  if (line.slack) return Vec3::Zero();
  const double stretch = line.l - s.rest_length;
  if (s.curves) return (s.stiffness * stretch + curve_tension(*s.curves, stretch).value) * line.n;
  if (s.rest_length == 0) return s.stiffness * line.d;
  return s.stiffness * stretch * line.n;
}

// ∂²V/∂d² = k n nᵀ + (T/l)(I − n nᵀ), k and T/l. Without a direction k I bounds k n nᵀ for every n.
struct LineStiffness {
  double along = 0, across = 0;
  LineStiffness(const SpringParameters& s, const Line& line, bool clamp) {
    if (line.slack) return;
    if (s.curves) {
      of_curves(s, line, clamp);
      return;
    }
    along = across = s.stiffness;
    if (s.rest_length == 0 || line.n.isZero(0)) return;
    across = s.stiffness * (1 - s.rest_length / line.l);
    if (clamp) across = std::max(across, 0.0);
  }

 private:
  void of_curves(const SpringParameters& s, const Line& line, bool clamp) {
    const double stretch = line.l - s.rest_length;
    const math::Dual more = curve_tension(*s.curves, stretch);
    along = across = s.stiffness + more.rate;
    if (!line.n.isZero(0)) across = (s.stiffness * stretch + more.value) / line.l;
    if (clamp) along = std::max(along, 0.0), across = std::max(across, 0.0);
  }
};
Mat3 line_stiffness(const SpringParameters& s, const Line& line, bool clamp) {
  const LineStiffness k(s, line, clamp);
  return k.across * Mat3::Identity() + (k.along - k.across) * line.n * line.n.transpose();
}

}  // namespace

SpringParameters law_of(const Spring& spring) {
  SpringParameters out{spring.stiffness, spring.damping, spring.rest_length, spring.tension_only};
  if (spring.force || spring.damper || spring.preload != 0)
    out.curves =
        std::make_shared<const SpringCurves>(SpringCurves{spring.force, spring.damper, spring.preload});
  return out;
}

double rest_length_of(const Spring& spring, const Vec3& a_at_start, const Vec3& b_at_start) {
  return spring.rest_length >= 0 ? spring.rest_length : (a_at_start - b_at_start).norm();
}

double spring_tension(const SpringParameters& s, double length, double rate) {
  if (s.tension_only && length <= s.rest_length) return 0;
  double tension = s.stiffness * (length - s.rest_length) + damper_tension(s, rate).value;
  if (s.curves) tension += curve_tension(*s.curves, length - s.rest_length).value;
  // A cable that shortens quickly goes slack rather than push.
  return s.tension_only ? std::max(tension, 0.0) : tension;
}

double spring_energy(const SpringParameters& s, double length) {
  const double stretch = length - s.rest_length;
  const double linear = s.tension_only && stretch <= 0 ? 0.0 : 0.5 * s.stiffness * stretch * stretch;
  if (!s.curves) return linear;
  return linear + s.curves->force.integral(stretch) + s.curves->preload * stretch;
}

SpringLine spring_line(const SpringParameters& s, const Vec3& d, const Vec3& rate, bool clamp) {
  const Line line(s, d);
  SpringLine out;
  if (line.slack) return out;
  const LineStiffness k(s, line, clamp);
  out.n = line.n, out.along = k.along, out.across = k.across;
  const double speed = line.n.dot(rate);
  const Vec3 elastic = elastic_pull(s, line);
  const math::Dual damper = damper_tension(s, speed);
  out.pull = elastic + damper.value * line.n;
  if (s.tension_only && out.pull.dot(line.n) < 0) {  // shortens too quickly: slack rather than push
    out.pull.setZero();
    out.power = -elastic.dot(line.n) * speed;
    return out;
  }
  out.power = damper.value * speed;
  out.damping = clamp ? std::max(damper.rate, 0.0) : damper.rate;
  return out;
}

SpringState spring_state(const SpringParameters& s, const Pose& X_WA, const Vec3& p_A, const Vec6& V_A,
                         const Pose& X_WB, const Vec3& p_B, const Vec6& V_B) {
  const Line line(s, X_WA, p_A, X_WB, p_B);
  const auto velocity = [](const Pose& X, const Vec3& p, const Vec6& V) -> Vec3 {
    return X.R * (V.tail<3>() + V.head<3>().cross(p));
  };
  SpringState out;
  out.length = line.l;
  out.rate = line.n.dot(velocity(X_WB, p_B, V_B) - velocity(X_WA, p_A, V_A));
  if (line.slack) return out;

  out.energy = spring_energy(s, line.l);
  out.tension = spring_tension(s, line.l, out.rate);
  out.force = to_bodies(-out.tension * line.n, X_WA, p_A, X_WB, p_B);
  return out;
}

double spring_energy(const SpringParameters& s, const Pose& X_WA, const Vec3& p_A, const Pose& X_WB,
                     const Vec3& p_B) {
  return spring_energy(s, (X_WB * p_B - X_WA * p_A).norm());
}

Vec12 spring_gradient(const SpringParameters& s, const Pose& X_WA, const Vec3& p_A, const Pose& X_WB,
                      const Vec3& p_B) {
  return to_bodies(elastic_pull(s, Line(s, X_WA, p_A, X_WB, p_B)), X_WA, p_A, X_WB, p_B);
}

// With f = ∂V/∂d and G_B = ([r]ₓ; I) R_Bᵀ f:  ∂G_B = ([r]ₓ; I) ([R_Bᵀ f]ₓ ω_B + R_Bᵀ ∂f), and likewise −f on
// A.
Mat12 spring_hessian(const SpringParameters& s, const Pose& X_WA, const Vec3& p_A, const Pose& X_WB,
                     const Vec3& p_B) {
  const Line line(s, X_WA, p_A, X_WB, p_B);
  const Mat3x12 J = line_jacobian(X_WA, p_A, X_WB, p_B);
  Mat12 H = J.transpose() * line_stiffness(s, line, false) * J;
  const Vec3 f = elastic_pull(s, line);
  const Mat3 f_A = skew(X_WA.R.transpose() * f), f_B = skew(X_WB.R.transpose() * f);
  H.block<3, 3>(0, 0) -= skew(p_A) * f_A;
  H.block<3, 3>(3, 0) -= f_A;
  H.block<3, 3>(6, 6) += skew(p_B) * f_B;
  H.block<3, 3>(9, 6) += f_B;
  return H;
}

Mat12 spring_hessian_psd(const SpringParameters& s, const Pose& X_WA, const Vec3& p_A, const Pose& X_WB,
                         const Vec3& p_B) {
  const Mat3x12 J = line_jacobian(X_WA, p_A, X_WB, p_B);
  return J.transpose() * line_stiffness(s, Line(s, X_WA, p_A, X_WB, p_B), true) * J;
}

// D = c Jᵀ n nᵀ J; none while slack.
Mat12 spring_damping(const SpringParameters& s, const Pose& X_WA, const Vec3& p_A, const Pose& X_WB,
                     const Vec3& p_B) {
  const Line line(s, X_WA, p_A, X_WB, p_B);
  if (line.slack) return Mat12::Zero();
  const Vec12 g = to_bodies(line.n, X_WA, p_A, X_WB, p_B);
  return damper_tension(s, 0).rate * g * g.transpose();
}

}  // namespace limber::elastic
