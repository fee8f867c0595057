// What a method can tell of a moment. Probes (columns.h) and drawings (layout.h) are made of these few
// answers, the same way for every method; what a method does not answer it refuses or tells in
// model/features.cpp, and is never asked.
#pragma once

#include "limber/model/model.h"
#include "limber/result/report.h"

namespace limber::observe {

// A joint of the tree, or one that closes a loop: the first dof_count() numbers are used.
struct JointReading {
  DofArray position{};           // coordinates [rad or m]
  Vec6 velocity = Vec6::Zero();  // rates
  Vec6 force = Vec6::Zero();     // on them, of spring, damper and drive [N·m or N]
};

// What the parent does to the child (a to b) at the origin of the child's joint frame M, world axes.
struct ReactionReading {
  Vec3 force = Vec3::Zero(), torque = Vec3::Zero();  // [N, N·m]
  Mat3 axes = Mat3::Identity();                      // of M
};

struct MotionReading {
  Vec6 force = Vec6::Zero();  // on the coordinates, of what makes the joint follow [N·m or N]
  double work = 0;            // [J] since the start
};

struct DriveReading {
  double power = 0, work = 0;  // [W], [J] since the start
};

struct MomentumReading {
  Vec3 linear = Vec3::Zero(), angular = Vec3::Zero();  // about the world's origin, world axes
};

struct SpringReading {
  double length = 0;   // [m]
  double tension = 0;  // [N] of spring and damper
};

struct CouplingReading {
  double force = 0;  // on its first term's coordinate [N·m or N]
  double gap = 0;    // how far that is ahead [rad or m]
};

struct CableReading {
  double length = 0;       // [m] off its drums
  double tension = 0;      // [N] behind the guide that is asked, with its damper
  double most = 0;         // [N] of all its runs
  double wrap = 0;         // [rad] round that guide
  double slip = 0;         // [m] over it since the start
  double winch_power = 0;  // [W]
};

// Of a beam at a place: what the part beyond pulls and turns with.
struct SectionReading {
  double tension = 0, curvature = 0, twist = 0, bending_moment = 0, torque = 0;
  Vec3 force = Vec3::Zero(), moment = Vec3::Zero();  // in the section's axes, as axes() tells them
};

// Given and taken since the start [J].
struct Ledger {
  double dissipated = 0, work = 0;
  double start = 0;  // total energy that the run started from
};

struct ContactReading {
  int count = 0;
  double overlap = 0;  // [m] deepest
};

// Of all that touches a body or a beam, or of what another one does.
struct TouchReading {
  Vec3 force = Vec3::Zero();  // [N] on it, world axes
  double slip = 0;            // [m/s] the fastest
  double normal = 0;          // [N] sum of the normal forces
  int places = 0;
  double depth = 0;  // [m] the deepest overlap
};

class Source {
 public:
  virtual ~Source() = default;

  // Of places that are not on the world, in the world's axes; axes(): of the body, or of the beam's section.
  virtual Vec3 position(const Attachment& at) const = 0;
  virtual Mat3 axes(const Attachment& at) const = 0;
  virtual Vec3 velocity(const Attachment& at) const;
  virtual Vec3 angular_velocity(const Attachment& at) const;
  virtual Vec3 acceleration(const Attachment& at) const;
  virtual Vec3 angular_acceleration(const Attachment& at) const;
  virtual SectionReading section(const Probe& p) const;
  virtual MomentumReading momentum(BodyId id) const;
  virtual MomentumReading total_momentum() const;

  virtual JointReading joint(JointId id) const;
  virtual JointReading closing_joint(LoopId id) const;
  virtual ReactionReading reaction(JointId id) const;         // beams of links: their roots are joints too
  virtual ReactionReading closing_reaction(LoopId id) const;  // … and ties are closing joints
  virtual MotionReading given_motion(JointId id) const;
  virtual DriveReading drive(JointId id) const;
  virtual double load_work(LoadId id) const;
  virtual SpringReading spring(SpringId id) const = 0;
  virtual Vec3 rider(RiderId id) const;
  virtual CouplingReading coupling(CouplingId id) const;
  virtual CableReading cable(CableId id, int guide) const;  // −1: where it begins

  virtual result::Energy energy() const = 0;
  virtual Ledger ledger() const;
  virtual ContactReading contact() const;
  virtual TouchReading touch(const Probe& p) const;

  Vec3 point(const Attachment& at) const { return at.on_world() ? at.p : position(at); }
};

}  // namespace limber::observe
