// Rigid poses, spatial vectors and inertias (Featherstone 2008, chapter 2), angular part first.
//
// Pose X_AB: frame B seen from A, x_A = R x_B + p.
//   motion  V_A = Ad(X) V_B:    ω_A = R ω,  v_A = R v + p × R ω
//   force   F_A = Ad(X)⁻ᵀ F_B:  f_A = R f,  τ_A = R τ + p × R f
// Inertia about a frame's origin: mass m, first moment h = m c, rotational inertia I about the origin,
//   momentum (I ω + h × v ; m v − h × ω).
#pragma once

#include "limber/math/so3.h"
#include "limber/math/types.h"

namespace limber {

struct Pose {
  Mat3 R = Mat3::Identity();
  Vec3 p = Vec3::Zero();

  static Pose identity() { return {}; }
  static Pose translation(const Vec3& p) { return {Mat3::Identity(), p}; }
  static Pose rotation(const Mat3& R) { return {R, Vec3::Zero()}; }

  Pose operator*(const Pose& X) const { return {R * X.R, p + R * X.p}; }
  Vec3 operator*(const Vec3& x) const { return p + R * x; }
  Pose inverse() const { return {R.transpose(), -(R.transpose() * p)}; }

  Vec6 motion(const Vec6& V) const {  // V_A of V_B
    Vec6 out;
    out.head<3>() = R * V.head<3>();
    out.tail<3>() = R * V.tail<3>() + p.cross(out.head<3>());
    return out;
  }
  Vec6 inverse_motion(const Vec6& V) const {  // V_B of V_A
    Vec6 out;
    out.head<3>() = R.transpose() * V.head<3>();
    out.tail<3>() = R.transpose() * (V.tail<3>() - p.cross(V.head<3>()));
    return out;
  }
  Vec6 force(const Vec6& F) const {  // F_A of F_B
    Vec6 out;
    out.tail<3>() = R * F.tail<3>();
    out.head<3>() = R * F.head<3>() + p.cross(out.tail<3>());
    return out;
  }
  Vec6 inverse_force(const Vec6& F) const {  // F_B of F_A
    Vec6 out;
    out.tail<3>() = R.transpose() * F.tail<3>();
    out.head<3>() = R.transpose() * (F.head<3>() - p.cross(F.tail<3>()));
    return out;
  }
  Mat6 adjoint() const;  // the matrix of motion()
};

// V × W for motions (ad_V W) and V ×* F for forces (−ad_Vᵀ F).
inline Vec6 cross_motion(const Vec6& V, const Vec6& W) {
  Vec6 out;
  out.head<3>() = V.head<3>().cross(W.head<3>());
  out.tail<3>() = V.head<3>().cross(W.tail<3>()) + V.tail<3>().cross(W.head<3>());
  return out;
}
inline Vec6 cross_force(const Vec6& V, const Vec6& F) {
  Vec6 out;
  out.head<3>() = V.head<3>().cross(F.head<3>()) + V.tail<3>().cross(F.tail<3>());
  out.tail<3>() = V.head<3>().cross(F.tail<3>());
  return out;
}
Mat6 ad(const Vec6& V);  // the matrix of cross_motion(V, ·)

struct Inertia {
  double m = 0;           // [kg]
  Vec3 h = Vec3::Zero();  // m·c [kg·m]
  Mat3 I = Mat3::Zero();  // about the frame's origin [kg·m²]

  // From the mass, the centre of mass and the inertia about it, both in this frame.
  static Inertia about_com(double m, const Vec3& com, const Mat3& I_com);

  Vec3 com() const { return m > 0 ? Vec3(h / m) : Vec3::Zero().eval(); }
  Mat3 about_com() const;
  Vec6 momentum(const Vec6& V) const {
    Vec6 out;
    out.head<3>() = I * V.head<3>() + h.cross(V.tail<3>());
    out.tail<3>() = m * V.tail<3>() - h.cross(V.head<3>());
    return out;
  }
  Inertia in_frame(const Pose& X_AB) const;  // this inertia, of B's frame, seen in A's
  Mat6 matrix() const;
  Inertia& operator+=(const Inertia& other);
};
inline Inertia operator+(Inertia a, const Inertia& b) { return a += b; }

namespace math {

// SE(3): exp of a twist held constant for unit time, V = (ω; v); X exp(V) moves X along its own twist V.
Pose se3_exp(const Vec6& V);
Vec6 se3_log(const Pose& X);
Mat6 se3_jacobian(const Vec6& V);  // right Jacobian: exp(V + δ) ≈ exp(V) exp(J_r δ)
Mat6 se3_jacobian_inverse(const Vec6& V);

// Inertias of solids of mass m about their centre, axes along the frame's.
Mat3 box_inertia(double m, const Vec3& size);
Mat3 sphere_inertia(double m, double radius);
Mat3 cylinder_inertia(double m, double radius, double length);  // axis z
Mat3 capsule_inertia(double m, double radius, double length);   // axis z, length without the caps

}  // namespace math
}  // namespace limber
