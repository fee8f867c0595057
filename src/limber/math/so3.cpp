// Rotations by Rodrigues' formula and unit quaternions. The coefficients A, B, C, D are those of
// so3_coefficients.h.
//
//   exp θ = I + A [θ] + B [θ]²,    q = (cos φ/2, sin(φ/2)/φ θ)
//   log q = 2 atan2(|v|, w)/|v| v for q = (w, v), w ≥ 0
//   [θ]² = θ θᵀ − φ² I,            ∂(θ × (θ × w))/∂θ = (θ·w) I + θ wᵀ − 2 w θᵀ
#include "limber/math/so3.h"

#include <cmath>

#include "limber/math/so3_coefficients.h"
#include "limber/math/trig.h"

namespace limber::math {
namespace {

// Sums in a written order, so that no build can reassociate them.
double dot(const Vec3& a, const Vec3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

// I + a [θ] + b [θ]²
Mat3 rodrigues(const Vec3& t, double a, double b) {
  const double xx = b * t[0] * t[0], yy = b * t[1] * t[1], zz = b * t[2] * t[2];
  const double xy = b * t[0] * t[1], yz = b * t[1] * t[2], zx = b * t[2] * t[0];
  const Vec3 s = a * t;
  Mat3 M;
  M << 1 - (yy + zz), xy - s[2], zx + s[1],  //
      xy + s[2], 1 - (zz + xx), yz - s[0],   //
      zx - s[1], yz + s[0], 1 - (xx + yy);
  return M;
}

// ∂(θ × (θ × w))/∂θ
Mat3 double_cross_derivative(const Vec3& theta, const Vec3& w) {
  Mat3 M = theta * w.transpose() - 2 * w * theta.transpose();
  M.diagonal().array() += dot(theta, w);
  return M;
}

// The unit vector along (x, y), without underflow; (1, 0) for the zero vector.
Vec2 direction(double x, double y) {
  const double size = std::fmax(std::fabs(x), std::fabs(y));
  if (size == 0) return {1, 0};
  const double u = x / size, v = y / size, norm = std::sqrt(u * u + v * v);
  return {u / norm, v / norm};
}

}  // namespace

Mat3 skew(const Vec3& a) {
  Mat3 M;
  M << 0, -a[2], a[1],  //
      a[2], 0, -a[0],   //
      -a[1], a[0], 0;
  return M;
}

Mat3 rotation_x(double angle) {
  const SinCos t = sincos(angle);
  Mat3 R;
  R << 1, 0, 0,          //
      0, t.cos, -t.sin,  //
      0, t.sin, t.cos;
  return R;
}

Mat3 rotation_y(double angle) {
  const SinCos t = sincos(angle);
  Mat3 R;
  R << t.cos, 0, t.sin,  //
      0, 1, 0,           //
      -t.sin, 0, t.cos;
  return R;
}

Mat3 rotation_z(double angle) {
  const SinCos t = sincos(angle);
  Mat3 R;
  R << t.cos, -t.sin, 0,  //
      t.sin, t.cos, 0,    //
      0, 0, 1;
  return R;
}

Mat3 so3_exp(const Vec3& theta) {
  const So3Coefficients f(dot(theta, theta));
  return rodrigues(theta, f.A, f.B);
}

Quat quat_exp(const Vec3& theta) {
  const HalfAngle t = half_angle(dot(theta, theta));
  const double k = 0.5 * t.s;
  return {t.c, k * theta[0], k * theta[1], k * theta[2]};
}

Vec3 so3_log(const Mat3& R) { return quat_log(to_quat(R)); }

Vec3 quat_log(const Quat& q) {
  Vec3 v(q.x(), q.y(), q.z());
  double w = q.w();
  // Of q and −q take w > 0; at w = 0 the one whose first component that is not 0 is positive.
  const double lead = w != 0 ? w : v[0] != 0 ? v[0] : v[1] != 0 ? v[1] : v[2];
  if (lead < 0) v = -v, w = -w;
  const double nn = dot(v, v), t = nn / (w * w);
  if (t < 0x1p-10) {  // 2 atan(√t)/√t / w
    const double sum = 1 + t * (-1.0 / 3 + t * (1.0 / 5 + t * (-1.0 / 7 + t * (1.0 / 9 + t * (-1.0 / 11)))));
    return v * (2 * sum / w);
  }
  const double n = std::sqrt(nn);
  return v * (2 * atan2(n, w) / n);
}

// Shepperd 1978: divide by the largest of the four components.
Quat to_quat(const Mat3& R) {
  const double a = R(0, 0), b = R(1, 1), c = R(2, 2);
  const double four[4] = {1 + a + b + c, 1 + a - b - c, 1 - a + b - c, 1 - a - b + c};
  int largest = 0;
  for (int k = 1; k < 4; ++k)
    if (four[k] > four[largest]) largest = k;
  const double x = R(2, 1) - R(1, 2), y = R(0, 2) - R(2, 0), z = R(1, 0) - R(0, 1);
  const double xy = R(1, 0) + R(0, 1), yz = R(2, 1) + R(1, 2), zx = R(0, 2) + R(2, 0);
  const double f = four[largest];
  Quat q;
  switch (largest) {
    case 0:
      q = Quat(f, x, y, z);
      break;
    case 1:
      q = Quat(x, f, xy, zx);
      break;
    case 2:
      q = Quat(y, xy, f, yz);
      break;
    default:
      q = Quat(z, zx, yz, f);
      break;
  }
  if (q.w() < 0) q.coeffs() = -q.coeffs();
  return normalized(q);
}

Mat3 to_matrix(const Quat& q) {
  const double w = q.w(), x = q.x(), y = q.y(), z = q.z();
  Mat3 R;
  R << 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),  //
      2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),   //
      2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y);
  return R;
}

Quat multiply(const Quat& a, const Quat& b) {
  return {a.w() * b.w() - a.x() * b.x() - a.y() * b.y() - a.z() * b.z(),
          a.w() * b.x() + a.x() * b.w() + a.y() * b.z() - a.z() * b.y(),
          a.w() * b.y() - a.x() * b.z() + a.y() * b.w() + a.z() * b.x(),
          a.w() * b.z() + a.x() * b.y() - a.y() * b.x() + a.z() * b.w()};
}

Quat normalized(const Quat& q) {
  const double n = std::sqrt(q.w() * q.w() + q.x() * q.x() + q.y() * q.y() + q.z() * q.z());
  return {q.w() / n, q.x() / n, q.y() / n, q.z() / n};
}

Mat3 so3_jacobian(const Vec3& theta) {
  const So3Coefficients f(dot(theta, theta));
  return rodrigues(theta, -f.B, f.C());
}

Mat3 so3_jacobian_inverse(const Vec3& theta) {
  const So3Coefficients f(dot(theta, theta));
  return rodrigues(theta, 0.5, f.D());
}

// J_r w = w − B θ×w + C θ×(θ×w)
Mat3 so3_jacobian_derivative(const Vec3& theta, const Vec3& w) {
  const So3Coefficients f(dot(theta, theta));
  const Vec3 tw = theta.cross(w), ttw = theta.cross(tw);
  const Vec3 along = f.C_slope() * ttw - f.B_slope() * tw;
  return f.B * skew(w) + f.C() * double_cross_derivative(theta, w) + along * theta.transpose();
}

// J_r⁻ᵀ w = w − ½ θ×w + D θ×(θ×w)
Mat3 so3_jacobian_inverse_transpose_derivative(const Vec3& theta, const Vec3& w) {
  const So3Coefficients f(dot(theta, theta));
  const Vec3 ttw = theta.cross(theta.cross(w));
  const Vec3 along = f.D_slope() * ttw;
  return 0.5 * skew(w) + f.D() * double_cross_derivative(theta, w) + along * theta.transpose();
}

// R = I + [v] + [v]²/(1+c), v = z × a, c = z·a. For c < 0 the quotient is written v v/(1+c) = (1−c)
// (v/|v|)(v/|v|).
Mat3 rotation_from_z(const Vec3& axis) {
  const double x = axis[0], y = axis[1], c = axis[2];
  double xx = 0, xy = 0, yy = 0;
  if (c >= 0) {
    const double k = 1 / (1 + c);
    xx = k * x * x, xy = k * x * y, yy = k * y * y;
  } else {
    const Vec2 u = direction(x, y);
    xx = (1 - c) * u[0] * u[0], xy = (1 - c) * u[0] * u[1], yy = (1 - c) * u[1] * u[1];
  }
  Mat3 R;
  R << 1 - xx, -xy, x,  //
      -xy, 1 - yy, y,   //
      -x, -y, c;
  return R;
}

// The same with the axes renamed x → y → z → x.
Mat3 rotation_from_x(const Vec3& axis) {
  const Mat3 Z = rotation_from_z({axis[1], axis[2], axis[0]});
  Mat3 R;
  R << Z(2, 2), Z(2, 0), Z(2, 1),  //
      Z(0, 2), Z(0, 0), Z(0, 1),   //
      Z(1, 2), Z(1, 0), Z(1, 1);
  return R;
}

}  // namespace limber::math
