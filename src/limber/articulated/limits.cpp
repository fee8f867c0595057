// Bounds of joint coordinates: their value, their row in rates, and their row beside a loop's own; locks and
// servos, which steps and statics share.
#include "limber/articulated/system.h"
#include "limber/math/so3.h"
#include "limber/multibody/joint_kinematics.h"

namespace limber::articulated {

// The row of a closing joint's coordinate; −1 when the loop has no room (it then holds all six already).
int add_limit_row(const SystemData& s, const Limit& limit, const LoopState& at,
                  multibody::BlockSystem& system) {
  const CompiledLoop& loop = s.loops[limit.loop];
  multibody::LoopRows& rows = system.loops[limit.loop];
  if (rows.rows == 6) return -1;
  Vec6 along;
  if (has_rotation_vector(loop.kind) && limit.dof == 0) {
    const Vec3 theta(at.x[0], at.x[1], at.x[2]);
    along << (theta.norm() > 0 ? Vec3(theta.normalized()) : Vec3(Vec3::UnitX())), Vec3::Zero();
  } else {
    along = multibody::closing_axes(loop.joint(), at.q).col(limit.dof);
  }
  Vec6 wrench;
  wrench << at.R_WM * along.head<3>(), at.R_WM * along.tail<3>();
  const int r = rows.rows++;
  if (loop.a >= 0)
    rows.on_a.row(r) = -multibody::shift_wrench(wrench, at.p_W - system.origin[loop.a]).transpose();
  if (loop.b >= 0)
    rows.on_b.row(r) = multibody::shift_wrench(wrench, at.p_W - system.origin[loop.b]).transpose();
  return r;
}

double limit_coordinate(const SystemData& s, const Limit& limit, const double* q,
                        const std::vector<LoopState>* loops) {
  if (limit.loop >= 0) {
    const DofArray& x = (*loops)[limit.loop].x;
    if (has_rotation_vector(s.loops[limit.loop].kind) && limit.dof == 0) return Vec3(x[0], x[1], x[2]).norm();
    return x[limit.dof];
  }
  const multibody::Link& link = s.tree[limit.link];
  const double* x = q + link.q;
  const bool rotation = has_rotation_vector(link.kind);
  if (!rotation) return x[limit.dof];
  if (limit.dof == 0) return math::quat_log(Quat(x[0], x[1], x[2], x[3])).norm();
  return x[4 + limit.dof - 3];
}

// The coordinate's rate is row · v. Angle φ = |θ|: dφ/dt = θ/φ · ω.
Vec6 limit_row(const SystemData& s, const Limit& limit, const double* q) {
  const multibody::Link& link = s.tree[limit.link];
  const double* x = q + link.q;
  Vec6 row = Vec6::Zero();
  const bool rotation = has_rotation_vector(link.kind);
  if (rotation && limit.dof == 0) {
    const Vec3 theta = math::quat_log(Quat(x[0], x[1], x[2], x[3]));
    row.head<3>() = theta.norm() > 0 ? Vec3(theta.normalized()) : Vec3::UnitX();
  } else {
    row[limit.dof] = 1;
  }
  return row;
}

JointLock& lock_of(int link, std::vector<JointLock>& locks, std::vector<int>& lock_index) {
  int& index = lock_index[link];
  if (index < 0) {
    index = static_cast<int>(locks.size());
    locks.emplace_back();
    locks.back().link = link;
    locks.back().rows = 0;
    locks.back().C.setZero();
    locks.back().g.setZero();
  }
  return locks[index];
}

ServoState servo_state(double force, double max_force) {
  if (force > max_force) return ServoState::at_maximum;
  return force < -max_force ? ServoState::at_minimum : ServoState::linear;
}

}  // namespace limber::articulated
