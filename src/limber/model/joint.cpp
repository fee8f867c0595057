// Joint kinds: names and the pose for given coordinates (table in joint.h).
#include "limber/model/joint.h"

namespace limber {

const char* to_string(JointKind kind) {
  constexpr const char* names[] = {"fixed",   "revolute",      "prismatic",      "universal",
                                   "planar",  "spherical",     "free",           "cylindrical",
                                   "screw",   "point_on_line", "point_on_plane", "constant_velocity",
                                   "distance"};
  return names[static_cast<int>(kind)];
}

bool is_rotational(JointKind kind, int dof) {
  switch (kind) {
    case JointKind::fixed:
    case JointKind::prismatic:
    case JointKind::distance:
      return false;
    case JointKind::planar:
      return dof == 2;
    case JointKind::cylindrical:
      return dof == 0;
    case JointKind::free:
    case JointKind::point_on_line:
    case JointKind::point_on_plane:
      return dof < 3;
    case JointKind::revolute:
    case JointKind::universal:
    case JointKind::spherical:
    case JointKind::screw:
    case JointKind::constant_velocity:
      return true;
  }
  return false;
}

Pose joint_pose(JointKind kind, double pitch, const DofArray& q) {
  switch (kind) {
    case JointKind::fixed:
    case JointKind::distance:
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
    case JointKind::cylindrical:
      return {math::rotation_z(q[0]), Vec3(0, 0, q[1])};
    case JointKind::screw:
      return {math::rotation_z(q[0]), Vec3(0, 0, pitch * (q[0] / (2 * pi)))};
    case JointKind::point_on_line:
      return {math::so3_exp({q[0], q[1], q[2]}), Vec3(0, 0, q[3])};
    case JointKind::point_on_plane:
      return {math::so3_exp({q[0], q[1], q[2]}), Vec3(q[3], q[4], 0)};
    case JointKind::constant_velocity:
      return Pose::rotation(math::so3_exp({q[0], q[1], 0}));
  }
  return Pose::identity();
}

}  // namespace limber
