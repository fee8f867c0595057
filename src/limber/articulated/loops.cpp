// Loop closures: a joint between two links that already hang on the tree. With X_FM = (R, p) the pose of M
// against F, a joint of kind K has 6 − d rows that must vanish, written so that on the closed loop their rate
// is Tᵀ times the relative twist in M (T ⊥ S):
//
//   spherical  Rᵀp                     revolute   (u_y, −u_x), Rᵀp        with u = Rᵀe_z
//   fixed      log R, Rᵀp              planar     (u_y, −u_x), p_z
//   prismatic  log R, (p_x, p_y)       universal  −R₀₁, Rᵀp
#include <algorithm>
#include <cmath>

#include "limber/articulated/system.h"
#include "limber/math/so3.h"
#include "limber/math/trig.h"

namespace limber::articulated {
namespace {

// Coordinates of the closing joint from its frames.
void coordinates(JointKind kind, const Pose& X, double* q, DofArray& x) {
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

// Rows T in M's axes, (6 − dofs) × 6, and the gap.
int rows_and_gap(JointKind kind, const Pose& X, Mat6& T, Vec6& gap) {
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

}  // namespace

void place_loops(const SystemData& s, const std::vector<LinkMotion>& links, std::vector<LoopState>& loops) {
  for (std::size_t l = 0; l < s.loops.size(); ++l) {
    const CompiledLoop& loop = s.loops[l];
    LoopState& at = loops[l];
    const Pose X_WF = loop.a >= 0 ? links[loop.a].X_WM * loop.X_AF : loop.X_AF;
    const Pose X_WM = loop.b >= 0 ? links[loop.b].X_WM * loop.X_BM : loop.X_BM;
    at.X_FM = {X_WF.R.transpose() * X_WM.R, X_WF.R.transpose() * (X_WM.p - X_WF.p)};
    at.R_WM = X_WM.R;
    at.p_W = X_WM.p;
    coordinates(loop.kind, at.X_FM, at.q, at.x);
    Mat6 T;
    rows_and_gap(loop.kind, at.X_FM, T, at.gap);
  }
}

multibody::LoopRows loop_rows(const CompiledLoop& loop, const LoopState& at, const Vec3& origin_a,
                              const Vec3& origin_b) {
  multibody::LoopRows rows;
  Mat6 T;
  Vec6 gap;
  rows.rows = rows_and_gap(loop.kind, at.X_FM, T, gap);
  for (int r = 0; r < rows.rows; ++r) {
    Vec6 wrench;
    wrench << at.R_WM * T.row(r).head<3>().transpose(), at.R_WM * T.row(r).tail<3>().transpose();
    rows.on_b.row(r) = multibody::shift_wrench(wrench, at.p_W - origin_b).transpose();
    rows.on_a.row(r) = -multibody::shift_wrench(wrench, at.p_W - origin_a).transpose();
  }
  return rows;
}

double largest_gap(const SystemData& s, const std::vector<LoopState>& loops, int* worst) {
  double largest = 0;
  for (std::size_t l = 0; l < s.loops.size(); ++l) {
    Mat6 T;
    Vec6 gap;
    const int n = rows_and_gap(s.loops[l].kind, loops[l].X_FM, T, gap);
    for (int r = 0; r < n; ++r) {
      const bool turn = T.row(r).head<3>().cwiseAbs().maxCoeff() > 0;
      const double size = std::abs(gap[r]) * (turn ? s.size : 1);
      if (!(size <= largest)) {
        largest = size;
        if (worst) *worst = static_cast<int>(l);
      }
    }
  }
  return largest;
}

elastic::JointConfiguration loop_configuration(const CompiledLoop& loop, const LoopState& at) {
  elastic::JointConfiguration c;
  if (loop.kind == JointKind::spherical)
    c.R = at.X_FM.R;
  else
    c.q = at.x;
  return c;
}

Vec6 loop_rates(const SystemData& s, int l, const LoopState& at, const std::vector<LinkMotion>& links) {
  const CompiledLoop& loop = s.loops[l];
  const auto twist = [&](int link) -> Vec6 {  // at M's origin, in M's axes
    if (link < 0) return Vec6::Zero();
    const LinkMotion& m = links[link];
    const Vec3 omega = m.X_WM.R * m.V.head<3>();
    const Vec3 v = m.X_WM.R * m.V.tail<3>() + omega.cross(at.p_W - m.X_WM.p);
    Vec6 out;
    out << at.R_WM.transpose() * omega, at.R_WM.transpose() * v;
    return out;
  };
  const Vec6 relative = twist(loop.b) - twist(loop.a);
  const multibody::Subspace S = multibody::motion_subspace(loop.kind, at.q);
  Vec6 rates = Vec6::Zero();
  const int d = dof_count(loop.kind);
  rates.head(d) = S.leftCols(d).transpose() * relative;
  return rates;
}

Vec6 loop_force(const SystemData& s, int l, const LoopState& at, const Vec6& rates) {
  const CompiledLoop& loop = s.loops[l];
  Vec6 force = -elastic::joint_energy_gradient(loop.kind, loop.law, loop_configuration(loop, at)).gradient;
  for (int k = 0; k < dof_count(loop.kind); ++k) force[k] -= loop.law.damping[k] * rates[k];
  return force;
}

double loop_energy(const SystemData& s, int l, const LoopState& at) {
  return elastic::joint_energy(s.loops[l].kind, s.loops[l].law, loop_configuration(s.loops[l], at));
}

}  // namespace limber::articulated
