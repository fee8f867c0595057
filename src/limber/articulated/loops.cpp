// Loop closures: a joint between two links that already hang on the tree; its rows are in
// multibody/closing_joint.h.
#include <algorithm>
#include <cmath>

#include "limber/articulated/system.h"
#include "limber/multibody/closing_joint.h"

namespace limber::articulated {
void place_loops(const SystemData& s, const double* q, const std::vector<LinkMotion>& links,
                 std::vector<LoopState>& loops) {
  for (std::size_t l = 0; l < s.loops.size(); ++l) {
    const CompiledLoop& loop = s.loops[l];
    LoopState& at = loops[l];
    if (loop.coupling >= 0) {
      at.gap.setZero();
      const CompiledCoupling& c = s.couplings[loop.coupling];
      if (!c.released) at.gap[0] = coupling_gap(c, q);
      at.profile = profile_at(c, q);
      continue;
    }
    const Pose X_WF = loop.a >= 0 ? links[loop.a].X_WM * loop.X_AF : loop.X_AF;
    const Pose X_WM = loop.b >= 0 ? links[loop.b].X_WM * loop.X_BM : loop.X_BM;
    at.X_FM = {X_WF.R.transpose() * X_WM.R, X_WF.R.transpose() * (X_WM.p - X_WF.p)};
    at.R_WM = X_WM.R;
    at.p_W = X_WM.p;
    multibody::closing_coordinates(loop.joint(), at.X_FM, at.q, at.x);
    Mat6 T;
    multibody::closing_rows(loop.joint(), at.X_FM, T, at.gap);
  }
}

multibody::LoopRows loop_rows(const CompiledLoop& loop, const LoopState& at, const Vec3& origin_a,
                              const Vec3& origin_b) {
  multibody::LoopRows rows;
  Mat6 T;
  Vec6 gap;
  rows.rows = multibody::closing_rows(loop.joint(), at.X_FM, T, gap);
  for (int r = 0; r < rows.rows; ++r) {
    Vec6 wrench;
    wrench << at.R_WM * T.row(r).head<3>().transpose(), at.R_WM * T.row(r).tail<3>().transpose();
    rows.on_b.row(r) = multibody::shift_wrench(wrench, at.p_W - origin_b).transpose();
    rows.on_a.row(r) = -multibody::shift_wrench(wrench, at.p_W - origin_a).transpose();
  }
  return rows;
}

void put_loop_rows(const SystemData& s, const std::vector<LoopState>& loops, multibody::BlockSystem& m) {
  const auto origin = [&](int link) { return link >= 0 ? m.origin[link] : Vec3(Vec3::Zero()); };
  for (std::size_t l = 0; l < s.loops.size(); ++l) {
    const CompiledLoop& loop = s.loops[l];
    if (loop.coupling < 0) {
      m.loops[l] = loop_rows(loop, loops[l], origin(loop.a), origin(loop.b));
      continue;
    }
    const CompiledCoupling& c = s.couplings[loop.coupling];
    m.loops[l].rows = c.released ? 0 : 1;
    if (c.released)
      for (Vec6& on : m.loops[l].more) on.setZero();
    else
      put_coupling_row(s, c, loops[l].profile, m, m.loops[l].more);
  }
}

double largest_gap(const SystemData& s, const std::vector<LoopState>& loops, int* worst) {
  double largest = 0;
  const auto take = [&](std::size_t l, double size) {
    if (size <= largest) return;  // takes NaN along
    largest = size;
    if (worst) *worst = static_cast<int>(l);
  };
  for (std::size_t l = 0; l < s.loops.size(); ++l) {
    if (const int c = s.loops[l].coupling; c >= 0) {
      take(l, std::abs(loops[l].gap[0]) * (s.couplings[c].turns ? s.size : 1));
      continue;
    }
    Mat6 T;
    Vec6 gap;
    const int n = multibody::closing_rows(s.loops[l].joint(), loops[l].X_FM, T, gap);
    for (int r = 0; r < n; ++r) {
      const bool turn = T.row(r).tail<3>().isZero(0);
      take(l, std::abs(gap[r]) * (turn ? s.size : 1));
    }
  }
  return largest;
}

elastic::JointConfiguration loop_configuration(const CompiledLoop& loop, const LoopState& at) {
  elastic::JointConfiguration c;
  if (has_rotation_vector(loop.kind)) c.R = at.X_FM.R;
  c.q = at.x;
  return c;
}

Vec6 twist_seen_in(const Mat3& R, const Vec3& at, int link, const std::vector<LinkMotion>& links) {
  if (link < 0) return Vec6::Zero();
  const LinkMotion& m = links[link];
  const Vec3 omega = m.X_WM.R * m.V.head<3>();
  const Vec3 v = m.X_WM.R * m.V.tail<3>() + omega.cross(at - m.X_WM.p);
  Vec6 out;
  out << R.transpose() * omega, R.transpose() * v;
  return out;
}

Vec6 closing_rates(const CompiledLoop& loop, const multibody::ClosingJoint& joint, const LoopState& at,
                   const std::vector<LinkMotion>& links) {
  const Vec6 relative =
      twist_seen_in(at.R_WM, at.p_W, loop.b, links) - twist_seen_in(at.R_WM, at.p_W, loop.a, links);
  const multibody::Subspace P = multibody::closing_axes(joint, at.q);
  Vec6 rates = Vec6::Zero();
  const int d = dof_count(joint.kind);
  rates.head(d) = P.leftCols(d).transpose() * relative;
  return rates;
}

Vec6 loop_rates(const SystemData& s, int l, const LoopState& at, const std::vector<LinkMotion>& links) {
  return closing_rates(s.loops[l], s.loops[l].joint(), at, links);
}

// M moves with b: seen from it a's twist changes by −V_rel × V_a beside a's own rate.
Vec6 loop_acceleration_bias(const SystemData& s, int l, const LoopState& at,
                            const std::vector<LinkMotion>& links) {
  const CompiledLoop& loop = s.loops[l];
  const Vec6 V_a = twist_seen_in(at.R_WM, at.p_W, loop.a, links);
  const Vec6 relative = twist_seen_in(at.R_WM, at.p_W, loop.b, links) - V_a;
  Mat6 T;
  Vec6 gap;
  multibody::closing_rows(loop.joint(), at.X_FM, T, gap);
  return T * cross_motion(relative, V_a) -
         multibody::closing_row_rates(loop.joint(), at.X_FM, at.q, T, relative);
}

Vec6 loop_force(const SystemData& s, int l, const LoopState& at, const Vec6& rates) {
  const CompiledLoop& loop = s.loops[l];
  Vec6 force = -elastic::joint_energy_gradient(loop.kind, loop.law, loop_configuration(loop, at)).gradient;
  for (int k = 0; k < dof_count(loop.kind); ++k)
    force[k] -= damper_force(loop.law, k, at.x[k], rates[k]).value;
  return force;
}

Vec6 loop_law_wrench(const SystemData& s, int l, const LoopState& at, const Vec6& rates) {
  const CompiledLoop& loop = s.loops[l];
  if (!loop.has_law) return Vec6::Zero();
  const Vec6 force = loop_force(s, l, at, rates);
  return loop_wrench(loop, at, force);
}

Vec6 loop_wrench(const CompiledLoop& loop, const LoopState& at, const Vec6& force) {
  const int d = dof_count(loop.kind);
  const Vec6 F = multibody::closing_axes(loop.joint(), at.q).leftCols(d) * force.head(d);
  Vec6 out;
  out << at.R_WM * F.head<3>(), at.R_WM * F.tail<3>();
  return out;
}

void push_loop(const SystemData& s, int l, int dof, double force, const LoopState& at, WorkspaceData& w) {
  const CompiledLoop& loop = s.loops[l];
  const Vec6 F = loop_wrench(loop, at, force * Vec6::Unit(dof));
  const auto push = [&](int link, double side) {
    if (link < 0) return;
    const Pose& X = w.links[link].X_WM;
    const Vec6 there = side * multibody::shift_wrench(F, at.p_W - X.p);
    w.wrench[link].head<3>() += X.R.transpose() * there.head<3>();
    w.wrench[link].tail<3>() += X.R.transpose() * there.tail<3>();
  };
  push(loop.b, 1);
  push(loop.a, -1);
}

double loop_energy(const SystemData& s, int l, const LoopState& at) {
  return elastic::joint_energy(s.loops[l].kind, s.loops[l].law, loop_configuration(s.loops[l], at));
}

}  // namespace limber::articulated
