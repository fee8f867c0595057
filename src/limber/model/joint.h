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
//   cylindrical 2     angle about z, shift along z           Trans(0,0,q1) Rz(q0)
//   screw       1     angle about z                          Trans(0,0,pitch q/2π) Rz(q)
//   point_on_line      4  θ, shift along z of F              Trans(0,0,q3) exp(θ)
//   point_on_plane     5  θ, shifts along x and y of F       Trans(q3,q4,0) exp(θ)
//   constant_velocity  2  rotation vector (q0, q1, 0)        exp((q0,q1,0))
//   distance    none  a massless rod: closes a loop only     |p| = length
//
// Rates are dq/dt, except for rotation vectors θ, whose rates are the angular velocity of M against F seen in
// M. Stiffness acts on the coordinates: V = ½ Σ k_i (q_i − rest_i)²; rotation vectors θ measure log(R_restᵀ
// R).
#pragma once

#include <array>
#include <limits>
#include <memory>
#include <string>

#include "limber/model/body.h"
#include "limber/model/law.h"
#include "limber/model/time_function.h"

namespace limber {

enum class JointKind : std::uint8_t {
  fixed,
  revolute,
  prismatic,
  universal,
  planar,
  spherical,
  free,
  cylindrical,
  screw,
  point_on_line,
  point_on_plane,
  constant_velocity,
  distance
};
inline constexpr std::array<JointKind, 13> all_joint_kinds{
    JointKind::fixed,   JointKind::revolute,      JointKind::prismatic,      JointKind::universal,
    JointKind::planar,  JointKind::spherical,     JointKind::free,           JointKind::cylindrical,
    JointKind::screw,   JointKind::point_on_line, JointKind::point_on_plane, JointKind::constant_velocity,
    JointKind::distance};
constexpr int dof_count(JointKind kind) {  // coordinates; the rod of distance has none
  constexpr int n[] = {0, 1, 1, 2, 3, 3, 6, 2, 1, 4, 5, 2, 0};
  return n[static_cast<int>(kind)];
}
constexpr int closing_row_count(JointKind kind) {  // what it holds where it closes a loop
  return kind == JointKind::distance ? 1 : 6 - dof_count(kind);
}
// Its first three coordinates are a rotation vector θ.
constexpr bool has_rotation_vector(JointKind kind) {
  return kind == JointKind::spherical || kind == JointKind::free || kind == JointKind::point_on_line ||
         kind == JointKind::point_on_plane;
}
const char* to_string(JointKind kind);
bool is_rotational(JointKind kind, int dof);  // else the coordinate is a length

using DofArray = std::array<double, 6>;  // first dof_count(kind) entries used
constexpr DofArray dofs(double value) { return {value, value, value, value, value, value}; }

// What few joints have beside plain springs and dampers, one entry a coordinate. x = q − rest, of rotation
// vectors the components of θ.
struct JointExtras {
  std::array<Law, 6> spring;  // force against x, beside that of the stiffness: V = ∫ f dx
  std::array<Law, 6> damper;  // force against the rate, beside that of the damping
  DofArray preload{};         // force on the coordinate at rest: V = −preload · x [N·m or N]
  // Beyond the limits: a spring and damper that push and never pull; 0: rigid stops.
  DofArray stop_stiffness{}, stop_damping{};
  // Dry friction: at most the first while it sticks, the second at high rates; between them
  // dynamic + (static − dynamic) exp(−(rate/velocity)²); velocity 0: dynamic at any rate.
  DofArray friction_static{}, friction_dynamic{}, friction_velocity{};
};

struct JointLaw {
  DofArray stiffness{};  // [N·m/rad or N/m]
  DofArray damping{};    // [N·m·s/rad or N·s/m]
  DofArray rest{};       // [rad or m]
  // Limits of the coordinates. A rotation vector is limited as a whole, |θ| ≤ upper[0] measured from q = 0;
  // its entries 1, 2 and lower[0…2] are not used.
  DofArray lower = dofs(-std::numeric_limits<double>::infinity());
  DofArray upper = dofs(std::numeric_limits<double>::infinity());
  double restitution = 0;                       // of a hit on a limit: speed after / speed before
  std::shared_ptr<const JointExtras> extras{};  // null: none
  bool stops_softly(int dof) const { return extras && extras->stop_stiffness[dof] > 0; }
  bool rubs(int dof) const { return extras && extras->friction_static[dof] > 0; }
};

struct Joint {
  std::string name;
  JointKind kind = JointKind::fixed;
  BodyId parent = world;
  BeamId beam{};  // valid: it hangs on this beam at s instead; X_PF is in the world when nothing acts
  double s = 0;   // along that beam, 0…1
  BodyId child;
  Pose X_PF;         // on the parent (the world: in world coordinates)
  Pose X_BM;         // on the child
  double pitch = 0;  // of a screw: shift a full turn [m]; negative: left-handed
  JointLaw law;
  DofArray position{};  // at t = 0
  DofArray velocity{};  // at t = 0
};

// The frames' pose for given coordinates, as in the table above.
Pose joint_pose(JointKind kind, double pitch, const DofArray& q);

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
  double pitch = 0;   // of a screw, as in Joint
  double length = 0;  // of a distance, between the frames' origins [m]
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
  Law force{};         // tension by the stretch length − rest_length, beside that of the stiffness
  Law damper{};        // tension by the rate, beside that of the damping
  double preload = 0;  // tension at rest_length [N]
};

// A bushing between frame F of a and frame M of b: with x = (θ, p), θ = log R_FM and p the origin of M in F,
//
//   V = ½ xᵀ K x,   dampers take ẋᵀ C ẋ.
//
// Rows and columns: three turns [rad], three shifts [m], along the axes of F. Between two such matrices and
// forces stand the derivatives of θ, which are those of a small turn up to its first order.
struct Bushing {
  std::string name;
  BodyId a = world, b = world;
  Pose X_AF, X_BM;
  Mat6 stiffness = Mat6::Zero(), damping = Mat6::Zero();  // symmetric, positive semidefinite
};

}  // namespace limber
