// SE(3) as rotations with dual angles: the twist (ω; v) acts like ω + εv with ε² = 0, so the lower-left block
// of a 6×6 Jacobian is the derivative of its 3×3 block along v (the block Q of Barfoot 2017, eq. 7.86, in one
// line):
//
//   J_r(V) = [ J_r(ω)      0    ]     Q = −B [v] + C ([ω][v] + [v][ω]) + (ω·v) (C′/φ [ω]² − B′/φ [ω])
//            [ Q        J_r(ω)  ]
//   J_r⁻¹(V) likewise with        Q = ½ [v] + D ([ω][v] + [v][ω]) + (ω·v) D′/φ [ω]²
//   exp V = (exp ω, J_l(ω) v),    J_l = J_rᵀ
#include "limber/math/spatial.h"

#include "limber/math/so3_coefficients.h"

namespace limber {

using math::skew;

Mat6 Pose::adjoint() const {
  Mat6 M;
  M << R, Mat3::Zero(), skew(p) * R, R;
  return M;
}

Mat6 ad(const Vec6& V) {
  const Mat3 w = skew(V.head<3>()), v = skew(V.tail<3>());
  Mat6 M;
  M << w, Mat3::Zero(), v, w;
  return M;
}

Inertia Inertia::about_com(double m, const Vec3& com, const Mat3& I_com) {
  const Mat3 c = skew(com);
  return {m, m * com, I_com - m * c * c};
}

Mat3 Inertia::about_com() const {
  const Mat3 c = skew(com());
  return I + m * c * c;
}

// −m [c′]² with c′ = R c + p, multiplied out so that m = 0 needs no centre.
Inertia Inertia::in_frame(const Pose& X_AB) const {
  const Vec3 Rh = X_AB.R * h;
  const Mat3 P = skew(X_AB.p), H = skew(Rh);
  const Mat3 PH = P * H;
  return {m, Rh + m * X_AB.p, X_AB.R * I * X_AB.R.transpose() - PH - PH.transpose() - m * P * P};
}

Mat6 Inertia::matrix() const {
  const Mat3 H = skew(h);
  Mat6 M;
  M << I, H, -H, m * Mat3::Identity();
  return M;
}

Inertia& Inertia::operator+=(const Inertia& other) {
  m += other.m;
  h += other.h;
  I += other.I;
  return *this;
}

namespace math {
namespace {

Mat6 block_lower(const Mat3& J, const Mat3& Q) {
  Mat6 M;
  M << J, Mat3::Zero(), Q, J;
  return M;
}

Mat3 anticommutator(const Mat3& a, const Mat3& b) { return a * b + b * a; }

}  // namespace

Pose se3_exp(const Vec6& V) {
  const Vec3 w = V.head<3>(), v = V.tail<3>();
  return {so3_exp(w), so3_jacobian(w).transpose() * v};
}

Vec6 se3_log(const Pose& X) {
  Vec6 V;
  const Vec3 w = so3_log(X.R);
  V << w, so3_jacobian_inverse(w).transpose() * X.p;
  return V;
}

Mat6 se3_jacobian(const Vec6& V) {
  const Vec3 w = V.head<3>(), v = V.tail<3>();
  const So3Coefficients f(w.dot(w));
  const Mat3 W = skew(w), N = skew(v);
  const Mat3 Q =
      f.C() * anticommutator(W, N) - f.B * N + w.dot(v) * (f.C_slope() * (W * W) - f.B_slope() * W);
  return block_lower(so3_jacobian(w), Q);
}

Mat6 se3_jacobian_inverse(const Vec6& V) {
  const Vec3 w = V.head<3>(), v = V.tail<3>();
  const So3Coefficients f(w.dot(w));
  const Mat3 W = skew(w), N = skew(v);
  const Mat3 Q = 0.5 * N + f.D() * anticommutator(W, N) + (w.dot(v) * f.D_slope()) * (W * W);
  return block_lower(so3_jacobian_inverse(w), Q);
}

Mat3 box_inertia(double m, const Vec3& size) {
  const Vec3 s = size.cwiseProduct(size);
  return (m / 12) * Vec3(s[1] + s[2], s[2] + s[0], s[0] + s[1]).asDiagonal().toDenseMatrix();
}

Mat3 sphere_inertia(double m, double radius) { return (0.4 * m * radius * radius) * Mat3::Identity(); }

Mat3 cylinder_inertia(double m, double radius, double length) {
  const double rr = radius * radius, across = m * (3 * rr + length * length) / 12;
  return Vec3(across, across, 0.5 * m * rr).asDiagonal();
}

// A cylinder and a sphere cut in two, each half moved out by L/2; a half's centre lies 3r/8 from its face.
Mat3 capsule_inertia(double m, double radius, double length) {
  const double r = radius, L = length, volume = L + 4 * r / 3;  // over π r²
  const double cylinder = volume > 0 ? m * (L / volume) : 0, caps = m - cylinder;
  const double across = caps * (L * L / 4 + 3 * L * r / 8);
  return cylinder_inertia(cylinder, r, L) + sphere_inertia(caps, r) +
         Vec3(across, across, 0).asDiagonal().toDenseMatrix();
}

}  // namespace math
}  // namespace limber
