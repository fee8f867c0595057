#include "limber/observe/source.h"

#include <stdexcept>

namespace limber::observe {
namespace {

// The table of features lets a probe through that its method has no answer for: our own mistake.
[[noreturn]] void untold(const char* what) {
  throw std::logic_error(std::string("this method is asked for ") + what + ", which it does not know");
}

}  // namespace

Vec3 Source::velocity(const Attachment&) const { untold("a velocity"); }
Vec3 Source::angular_velocity(const Attachment&) const { untold("an angular velocity"); }
Vec3 Source::acceleration(const Attachment&) const { untold("an acceleration"); }
Vec3 Source::angular_acceleration(const Attachment&) const { untold("an angular acceleration"); }
SectionReading Source::section(const Probe&) const { untold("forces of a section"); }
MomentumReading Source::momentum(BodyId) const { untold("a momentum"); }
TouchReading Source::touch(const Probe&) const { untold("what touches a body"); }
MomentumReading Source::total_momentum() const { untold("the momentum of all"); }
JointReading Source::joint(JointId) const { untold("a joint"); }
JointReading Source::closing_joint(LoopId) const { untold("a closing joint"); }
ReactionReading Source::reaction(JointId) const { untold("a reaction"); }
ReactionReading Source::closing_reaction(LoopId) const { untold("the reaction of a closing joint"); }
MotionReading Source::given_motion(JointId) const { untold("what moves a joint"); }
DriveReading Source::drive(JointId) const { untold("a drive"); }
double Source::load_work(LoadId) const { untold("the work of a load"); }
Vec3 Source::rider(RiderId) const { untold("a rider"); }
CouplingReading Source::coupling(CouplingId) const { untold("a coupling"); }
CableReading Source::cable(CableId, int) const { untold("a cable"); }
Ledger Source::ledger() const { untold("work and losses"); }
ContactReading Source::contact() const { untold("contacts"); }

}  // namespace limber::observe
