// Validation of controllers and events.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "limber/model/validate.h"

namespace limber {
namespace {

class ControlChecker {
 public:
  ControlChecker(const ModelParts& parts, std::vector<Problem>& problems)
      : parts_(parts), problems_(problems) {}

  void run() {
    check_names(parts_.controllers, "controller");
    check_names(parts_.events, "event");
    for (const Controller& c : parts_.controllers) check(c);
    for (const Event& e : parts_.events) check(e);
  }

 private:
  void add(const char* kind, const std::string& name, const char* field, std::string message) {
    problems_.push_back({kind, name, field, std::move(message)});
  }

  template <class T>
  void check_names(const std::vector<T>& list, const char* kind) {
    std::unordered_set<std::string_view> seen;
    for (const T& item : list)
      if (item.name.empty() || !seen.insert(item.name).second)
        add(kind, item.name, "", item.name.empty() ? "needs a name" : "name is used twice");
  }

  template <class T>
  static bool has(const std::vector<T>& list, const std::string& name) {
    return std::ranges::find(list, name, &T::name) != list.end();
  }
  bool is_moved(int joint) const {
    return std::ranges::any_of(parts_.motions, [&](const auto& m) { return m.joint.value == joint; });
  }

  void check(const Controller& c) {
    const auto wrong = [&](const char* field, std::string why) {
      add("controller", c.name, field, std::move(why));
    };
    if (c.joint.value < 0 || c.joint.value >= static_cast<int>(parts_.joints.size()))
      return wrong("joint", "refers to a joint that does not exist");
    const Joint& j = parts_.joints[c.joint.value];
    if (has_rotation_vector(j.kind))
      wrong("joint", fmt::format("a {} joint turns by a rotation vector, whose parts no controller moves",
                                 to_string(j.kind)));
    else if (c.dof < 0 || c.dof >= dof_count(j.kind))
      wrong("coordinate", fmt::format("joint \"{}\" has {} coordinates", j.name, dof_count(j.kind)));
    if (is_moved(c.joint.value)) wrong("joint", "the joint's motion is prescribed already");
    for (const auto& [field, gain] : {std::pair{"kp", c.kp}, std::pair{"ki", c.ki}, std::pair{"kd", c.kd}})
      if (!std::isfinite(gain)) wrong(field, "must be finite");
    if (c.kp == 0 && c.ki == 0 && c.kd == 0) wrong("", "needs one of kp, ki and kd");
    if (!(c.lower < c.upper)) wrong("limits", "the lower limit must be below the upper one");
    if (!(c.period >= 0) || !std::isfinite(c.period)) wrong("period", "must be zero or positive");
    if (!find_column(parts_, c.reads)) wrong("reads", fmt::format("no probe gives \"{}\"", c.reads));
    if (c.kd != 0 && what_it_reads(parts_, c) == ControllerReads::rate)
      wrong("kd", "of a rate it would be by the acceleration; give a period, or read the coordinate");
  }

  void check(const Event& e) {
    const auto wrong = [&](const char* field, std::string why) {
      add("event", e.name, field, std::move(why));
    };
    if (!e.reads.empty() && !find_column(parts_, e.reads))
      wrong("when", fmt::format("no probe gives \"{}\"", e.reads));
    if (!std::isfinite(e.value)) wrong("when", "the value must be finite");
    for (const auto& [field, time] : {std::pair{"at", e.at}, std::pair{"delay", e.delay}})
      if (!(time >= 0) || !std::isfinite(time)) wrong(field, "must be zero or positive");
    if (e.actions.empty()) wrong("", "does nothing: give release, switch or stop");
    for (const Action& a : e.actions) check(e, a);
  }

  void check(const Event& e, const Action& a) {
    using K = Action::Kind;
    using On = Action::On;
    const char* field = a.kind == K::release ? "release" : a.kind == K::stop ? "stop" : "switch";
    const auto wrong = [&](std::string why) { add("event", e.name, field, std::move(why)); };
    if (a.kind == K::stop) return;
    if (!exists(a)) return wrong(fmt::format("there is no {} \"{}\"", to_string(a.on), a.name));
    const bool held = a.on == On::joint || a.on == On::tie || a.on == On::coupling || a.on == On::clamp;
    if (a.kind == K::release ? !(held || a.on == On::spring) : held)
      wrong(
          fmt::format("a {} cannot be {}", to_string(a.on), a.kind == K::release ? "released" : "switched"));
    if (a.kind == K::retarget && a.on != On::drive && a.on != On::controller)
      wrong(fmt::format("a {} has no target", to_string(a.on)));
    if (a.kind == K::release && a.on == On::joint)
      if (const int joint = tree_joint_of(parts_, a); joint >= 0) check_released(joint, wrong);
  }

  // A joint of the tree that is let go becomes a closing joint of a body that floats.
  template <class Wrong>
  void check_released(int joint, const Wrong& wrong) {
    const Joint& j = parts_.joints[joint];
    const auto of_it = [&](const auto& x) { return x.joint.value == joint; };
    if (j.kind == JointKind::free) wrong(fmt::format("joint \"{}\" is free already", j.name));
    if (is_moved(joint)) wrong(fmt::format("the motion of joint \"{}\" is given", j.name));
    if (std::ranges::any_of(parts_.drives, of_it) || std::ranges::any_of(parts_.controllers, of_it))
      wrong(fmt::format("joint \"{}\" is driven, and only joints that are not can be released", j.name));
    for (const Coupling& c : parts_.couplings)
      if (std::ranges::any_of(c.terms, of_it))
        wrong(fmt::format("joint \"{}\" is coupled by \"{}\", and only joints that are not can be released",
                          j.name, c.name));
  }

  bool exists(const Action& a) const {
    switch (a.on) {
      case Action::On::joint:
        return has(parts_.joints, a.name) || has(parts_.loops, a.name);
      case Action::On::tie:
        return has(parts_.ties, a.name);
      case Action::On::coupling:
        return has(parts_.couplings, a.name);
      case Action::On::spring:
        return has(parts_.springs, a.name);
      case Action::On::load:
        return has(parts_.point_loads, a.name) || has(parts_.distributed_loads, a.name);
      case Action::On::controller:
        return has(parts_.controllers, a.name);
      case Action::On::drive: {
        const int joint = tree_joint_of(parts_, a);
        return std::ranges::any_of(parts_.drives, [&](const Drive& d) { return d.joint.value == joint; });
      }
      case Action::On::clamp:
        return std::ranges::any_of(parts_.beams, [&](const Beam& b) {
          return b.name == a.name && a.clamp >= 0 && a.clamp < static_cast<int>(b.clamps.size());
        });
      case Action::On::run:
        break;
    }
    return true;
  }

  const ModelParts& parts_;
  std::vector<Problem>& problems_;
};

}  // namespace

void find_control_problems(const ModelParts& parts, std::vector<Problem>& problems) {
  ControlChecker(parts, problems).run();
}

}  // namespace limber
