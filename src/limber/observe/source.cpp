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
SectionReading Source::section(const Attachment&) const { untold("forces of a section"); }
JointReading Source::joint(JointId) const { untold("a joint"); }
JointReading Source::closing_joint(LoopId) const { untold("a closing joint"); }
Vec3 Source::rider(RiderId) const { untold("a rider"); }
Ledger Source::ledger() const { untold("work and losses"); }
ContactReading Source::contact() const { untold("contacts"); }

}  // namespace limber::observe
