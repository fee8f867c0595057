// Joints. Every body hangs on exactly one joint; a joint that would close a loop is a Loop.
//
// The joint moves frame M of the child against frame F of the parent: X_PB = X_PF · X_FM(q) · X_BM⁻¹.
//
//   kind        dofs  coordinates q                          X_FM(q)
//   fixed       0
//   revolute    1     angle about z                          Rz(q)
//   prismatic   1     shift along z                          Trans(0,0,q)
//   universal   2     angle about x, then about the new y    Rx(q0) Ry(q1)
//   planar      3     shifts along x and y, angle about z    Trans(q0,q1,0) Rz(q2)
//   spherical   3     rotation vector θ                      exp(θ)
//   free        6     rotation vector θ, shift p             Trans(p) exp(θ)
//
// Rates are dq/dt, except for spherical and free, whose rates are the angular (and linear) velocity of M
// against F seen in M. Stiffness acts on the coordinates: V = ½ Σ k_i (q_i − rest_i)²; the rotational part of
// spherical and free measures θ = log(R_restᵀ R).
#pragma once

#include <array>
#include <limits>
#include <string>

#include "limber/model/body.h"
#include "limber/model/time_function.h"

namespace limber {

enum class JointKind : std::uint8_t { fixed, revolute, prismatic, universal, planar, spherical, free };
inline constexpr std::array<JointKind, 7> all_joint_kinds{
    JointKind::fixed,  JointKind::revolute,  JointKind::prismatic, JointKind::universal,
    JointKind::planar, JointKind::spherical, JointKind::free};
constexpr int dof_count(JointKind kind) {
  constexpr int n[] = {0, 1, 1, 2, 3, 3, 6};
  return n[static_cast<int>(kind)];
}
const char* to_string(JointKind kind);
bool is_rotational(JointKind kind, int dof);  // else the coordinate is a length

using DofArray = std::array<double, 6>;  // first dof_count(kind) entries used
constexpr DofArray dofs(double value) { return {value, value, value, value, value, value}; }

struct JointLaw {
  DofArray stiffness{};  // [N·m/rad or N/m]
  DofArray damping{};    // [N·m·s/rad or N·s/m]
  DofArray rest{};       // [rad or m]
  // Limits of the coordinates. The rotation of spherical and free is limited as a whole, |θ| ≤ upper[0]
  // measured from q = 0; their entries 1, 2 and lower[0…2] are not used.
  DofArray lower = dofs(-std::numeric_limits<double>::infinity());
  DofArray upper = dofs(std::numeric_limits<double>::infinity());
  double restitution = 0;  // of a hit on a limit: speed after / speed before
};

struct Joint {
  std::string name;
  JointKind kind = JointKind::fixed;
  BodyId parent = world;
  BodyId child;
  Pose X_PF;  // on the parent (the world: in world coordinates)
  Pose X_BM;  // on the child
  JointLaw law;
  DofArray position{};  // at t = 0
  DofArray velocity{};  // at t = 0
};

// The frames' pose for given coordinates, as in the table above.
Pose joint_pose(JointKind kind, const DofArray& q);

// A motor or servo on a joint, one function a dof.
struct Drive {
  enum class Kind : std::uint8_t { force, servo };
  JointId joint;
  Kind kind = Kind::force;
  std::array<TimeFunction, 6>
      target;           // force: the joint force itself [N·m or N]; servo: the wanted coordinate
  DofArray kp{}, kd{};  // servo: force = kp (target − q) + kd (target rate − q̇) …
  DofArray max_force = dofs(std::numeric_limits<double>::infinity());  // … cut at ± this
};

// A joint whose coordinates follow given functions of time.
struct PrescribedMotion {
  JointId joint;
  std::array<TimeFunction, 6> position;
};

// A joint between two bodies that already hang on the tree: a loop closure.
struct Loop {
  std::string name;
  JointKind kind = JointKind::spherical;
  BodyId a = world, b = world;
  Pose X_AF, X_BM;
  JointLaw law;
  VectorFunction shift, turn;  // of F in its own axes [m, rad]: the place moves; `a` must be the world
};

// A place on a beam or body held where it is when nothing acts: to the world, or to another place. What the
// joint's kind leaves free stays free. Becomes a Loop when beams become links.
struct Tie {
  std::string name;
  JointKind kind = JointKind::fixed;
  Attachment on;
  Attachment to;               // the world: where `on` is at rest
  Vec3 axis = Vec3::UnitZ();   // z of the joint, world axes
  VectorFunction shift, turn;  // as in Loop; of a tie to the world
};

// A straight spring between two points.
struct Spring {
  std::string name;
  Attachment a, b;
  double stiffness = 0;     // [N/m]
  double damping = 0;       // along the line [N·s/m]
  double rest_length = -1;  // [m]; negative: the distance at t = 0
  bool tension_only = false;
};

}  // namespace limber
