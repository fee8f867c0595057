#include "limber/articulated/cable_route.h"

#include <algorithm>
#include <cmath>

#include "limber/math/so3.h"
#include "limber/math/trig.h"

namespace limber::articulated {
namespace {

Vec3 radial(const GuideFrame& g, double phi) {
  const math::SinCos a = math::sincos(phi);
  return a.cos * g.e1 + a.sin * g.e2;
}

// Where a line through a point touches the circle; away: it runs from the circle to the point. NaN: nowhere.
double touching_angle(const GuideFrame& g, const Vec3& point, double away) {
  const Vec3 d = point - g.c;
  const double x = d.dot(g.e1), y = d.dot(g.e2), distance = std::sqrt(x * x + y * y);
  return math::atan2(y, x) - away * g.sense * math::acos(g.radius / distance);
}

// The same for a line that touches another circle too: exact in one plane.
double touching_angle(const GuideFrame& g, const GuideFrame& other, double away) {
  const Vec3 d = other.c - g.c;
  const double x = d.dot(g.e1), y = d.dot(g.e2), distance = std::sqrt(x * x + y * y);
  const double same = g.sense * other.sense * g.n.dot(other.n);
  const double least = distance > 0 ? (g.radius - same * other.radius) / distance : 0;
  return math::atan2(y, x) - away * g.sense * math::acos(std::clamp(least, -1.0, 1.0));
}

struct Touching {
  Vec3 rho_A, rho_B, tau_A, tau_B, d;
  void set(const GuideFrame& A, double phi_A, const GuideFrame& B, double phi_B) {
    rho_A = radial(A, phi_A), rho_B = radial(B, phi_B);
    tau_A = A.n.cross(rho_A), tau_B = B.n.cross(rho_B);
    d = (B.c + B.radius * rho_B) - (A.c + A.radius * rho_A);
  }
};

// Of both conditions by both angles; of a point the angle stands still.
Eigen::Matrix2d jacobian(const GuideFrame& A, const GuideFrame& B, const Touching& t) {
  Eigen::Matrix2d J = Eigen::Matrix2d::Identity();
  if (A.radius > 0) J(0, 0) = t.d.dot(t.tau_A);
  if (B.radius > 0) J(1, 1) = t.d.dot(t.tau_B);
  if (A.radius > 0 && B.radius > 0) {
    J(0, 1) = B.radius * t.tau_B.dot(t.rho_A);
    J(1, 0) = -A.radius * t.tau_A.dot(t.rho_B);
  }
  return J;
}

Vec2 solve(const Eigen::Matrix2d& J, const Vec2& b) {
  const double det = J(0, 0) * J(1, 1) - J(0, 1) * J(1, 0);
  return {(J(1, 1) * b[0] - J(0, 1) * b[1]) / det, (J(0, 0) * b[1] - J(1, 0) * b[0]) / det};
}

// Newton from the angles of one plane.
bool improve(const GuideFrame& A, const GuideFrame& B, double& phi_A, double& phi_B, Touching& t) {
  constexpr int most = 60;
  constexpr double largest = 0.5, done = 4e-16;  // [rad] of a step
  double before = 1;
  for (int k = 0; k < most; ++k) {
    t.set(A, phi_A, B, phi_B);
    const Vec2 open(t.d.dot(t.rho_A), t.d.dot(t.rho_B));
    Vec2 step = solve(jacobian(A, B, t), -open);
    const double size = step.cwiseAbs().maxCoeff();
    if (!std::isfinite(size)) return false;
    if (size > largest) step *= largest / size;
    phi_A += step[0], phi_B += step[1];
    if (size <= done || (size < 1e-12 && size >= before)) {
      t.set(A, phi_A, B, phi_B);
      return true;
    }
    before = size;
  }
  return false;
}

void set_gradient(const GuideFrame& A, const GuideFrame& B, const Touching& t, Stretch& s) {
  const Vec2 by_angle(A.radius > 0 ? A.radius * (A.sense - s.along.dot(t.tau_A)) : 0,
                      B.radius > 0 ? B.radius * (s.along.dot(t.tau_B) - B.sense) : 0);
  const Vec2 mu = solve(jacobian(A, B, t).transpose(), by_angle);
  s.w = s.along - mu[0] * t.rho_A - mu[1] * t.rho_B;
  s.m_A = -mu[0] * t.rho_A.cross(t.d);
  s.m_B = -mu[1] * t.rho_B.cross(t.d);
}

// Points and axes of a guide after a small motion of its body about o.
GuideFrame moved(const GuideFrame& g, const Vec3& o, const Vec6& twist) {
  const Mat3 R = math::so3_exp(twist.head<3>());
  GuideFrame out = g;
  out.c = o + R * (g.c - o) + twist.tail<3>();
  out.n = R * g.n, out.e1 = R * g.e1, out.e2 = R * g.e2;
  return out;
}

}  // namespace

Stretch find_stretch(const GuideFrame& A, const GuideFrame& B) {
  Stretch s;
  Touching t;
  const bool on_A = A.radius > 0, on_B = B.radius > 0;
  if (on_A) s.leaves = on_B ? touching_angle(A, B, 1) : touching_angle(A, B.c, 1);
  if (on_B) s.meets = on_A ? touching_angle(B, A, -1) : touching_angle(B, A.c, -1);
  if (!std::isfinite(s.leaves) || !std::isfinite(s.meets)) return s;
  if (on_A && on_B) {
    if (!improve(A, B, s.leaves, s.meets, t)) return s;
  } else {
    t.set(A, s.leaves, B, s.meets);
  }
  s.from = A.c + A.radius * t.rho_A, s.to = B.c + B.radius * t.rho_B;
  s.length = t.d.norm();
  if (!(s.length > 0)) return s;
  s.along = t.d / s.length;
  if (on_A && !(s.along.dot(t.tau_A) * A.sense > 0)) return s;
  if (on_B && !(s.along.dot(t.tau_B) * B.sense > 0)) return s;
  set_gradient(A, B, t, s);
  s.exists = true;
  return s;
}

Vec6 gradient_on_start(const Stretch& s, const Vec3& o) {
  Vec6 out;
  out << s.m_A - (s.from - o).cross(s.w), -s.w;
  return out;
}

Vec6 gradient_on_end(const Stretch& s, const Vec3& o) {
  Vec6 out;
  out << s.m_B + (s.to - o).cross(s.w), s.w;
  return out;
}

StretchCurvature curvature_of(const GuideFrame& A, const Vec3& o_A, const GuideFrame& B, const Vec3& o_B) {
  using Mat12 = Eigen::Matrix<double, 12, 12>;
  using Vec12 = Eigen::Matrix<double, 12, 1>;
  const Stretch here = find_stretch(A, B);
  const double h = 1e-5, reach = here.length + A.radius + B.radius;  // [rad], [m] a radian
  Mat12 K;
  const auto gradient = [&](int column, double by) {
    const double step = column % 6 < 3 ? by : by * reach;
    const Vec6 twist = step * Vec6::Unit(column % 6);
    const Stretch s =
        column < 6 ? find_stretch(moved(A, o_A, twist), B) : find_stretch(A, moved(B, o_B, twist));
    Vec12 out;
    out << gradient_on_start(s, o_A), gradient_on_end(s, o_B);
    return out;
  };
  for (int c = 0; c < 12; ++c)
    K.col(c) = (gradient(c, h) - gradient(c, -h)) / (2 * h * (c % 6 < 3 ? 1 : reach));
  K = (0.5 * (K + K.transpose())).eval();
  return {K.topLeftCorner<6, 6>(), K.topRightCorner<6, 6>(), K.bottomRightCorner<6, 6>()};
}

}  // namespace limber::articulated
