// Joint kinds: names and the pose for given coordinates (table in joint.h).
#include "limber/model/joint.h"

namespace limber {

const char* to_string(JointKind kind) {
  constexpr const char* names[] = {"fixed",  "revolute",  "prismatic", "universal",
                                   "planar", "spherical", "free"};
  return names[static_cast<int>(kind)];
}

bool is_rotational(JointKind kind, int dof) {
  switch (kind) {
    case JointKind::fixed:
    case JointKind::prismatic:
      return false;
    case JointKind::planar:
      return dof == 2;
    case JointKind::free:
      return dof < 3;
    case JointKind::revolute:
    case JointKind::universal:
    case JointKind::spherical:
      return true;
  }
  return false;
}

Pose joint_pose(JointKind kind, const DofArray& q) {
  switch (kind) {
    case JointKind::fixed:
      return Pose::identity();
    case JointKind::revolute:
      return Pose::rotation(math::rotation_z(q[0]));
    case JointKind::prismatic:
      return Pose::translation({0, 0, q[0]});
    case JointKind::universal:
      return Pose::rotation(math::rotation_x(q[0]) * math::rotation_y(q[1]));
    case JointKind::planar:
      return {math::rotation_z(q[2]), Vec3(q[0], q[1], 0)};
    case JointKind::spherical:
      return Pose::rotation(math::so3_exp({q[0], q[1], q[2]}));
    case JointKind::free:
      return {math::so3_exp({q[0], q[1], q[2]}), Vec3(q[3], q[4], q[5])};
  }
  return Pose::identity();
}

}  // namespace limber
