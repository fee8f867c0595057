#include "limber/scene/write_controls.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/scene/expression.h"
#include "limber/scene/flow.h"
#include "limber/scene/write_text.h"

namespace limber::scene {

std::string function(const TimeFunction& f) {
  if (f.is_constant()) return number(f.value(0));
  if (!f.is_table()) return text_scalar(program_text(f.program()));
  std::string rows;
  for (std::size_t i = 0; i < f.times().size(); ++i)
    rows += fmt::format("{}[{}, {}]", i == 0 ? "" : ", ", number(f.times()[i]), number(f.values()[i]));
  return Flow().add("table", "[" + rows + "]").add_if(f.is_periodic(), "periodic", "true").str();
}
std::string functions_of_time(const std::array<TimeFunction, 6>& f, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("{}{}", i == 0 ? "" : ", ", function(f[i]));
  return "[" + text + "]";
}
std::string vector_function(const VectorFunction& f) {
  return fmt::format("[{}, {}, {}]", function(f.c[0]), function(f.c[1]), function(f.c[2]));
}

namespace {

std::string controller_text(const Model& model, const Controller& c) {
  Flow flow;
  flow.add("joint", model[c.joint].name)
      .add_if(c.dof != 0, "coordinate", fmt::format("{}", c.dof))
      .add("reads", text_scalar(c.reads))
      .add("target", function(c.target))
      .add("kp", number(c.kp))
      .add("ki", number(c.ki))
      .add("kd", number(c.kd));
  if (std::isfinite(c.lower) || std::isfinite(c.upper))
    flow.add("limits", fmt::format("[{}, {}]", number(c.lower), number(c.upper)));
  return flow.add_if(c.period > 0, "period", number(c.period)).str();
}

std::string switch_text(const Model& model, const Action& a) {
  Flow flow;
  flow.add(to_string(a.on), a.name);
  if (a.kind != Action::Kind::retarget)
    return flow.add("on", a.kind == Action::Kind::switch_on ? "true" : "false").str();
  const int joint = tree_joint_of(model.parts(), a);
  return flow
      .add("target", joint < 0 ? function(a.target[0])
                               : functions_of_time(a.target, dof_count(model.joints()[joint].kind)))
      .str();
}

std::string event_text(const Model& model, const Event& e) {
  constexpr const char* ways[] = {"above", "below", "passes"};
  Flow flow, release;
  if (e.reads.empty())
    flow.add("at", number(e.at));
  else
    flow.add(
        "when",
        Flow().add("reads", text_scalar(e.reads)).add(ways[static_cast<int>(e.way)], number(e.value)).str());
  flow.add_if(e.delay > 0, "delay", number(e.delay)).add_if(!e.once, "again", "true");
  bool releases = false;
  for (const Action& a : e.actions) {
    if (a.kind != Action::Kind::release) continue;
    releases = true;
    release.add(a.on == Action::On::clamp ? "beam" : to_string(a.on), a.name)
        .add_if(a.clamp >= 0, "clamp", fmt::format("{}", a.clamp));
  }
  flow.add_if(releases, "release", release.str());
  for (const Action& a : e.actions) {
    if (a.kind == Action::Kind::stop)
      flow.add("stop", "true");
    else if (a.kind != Action::Kind::release)
      flow.add("switch", switch_text(model, a));
  }
  return flow.str();
}

}  // namespace

std::vector<std::string> control_lines(const Model& model) {
  std::vector<std::string> out;
  if (!model.controllers().empty()) out.emplace_back("controllers:");
  for (const Controller& c : model.controllers())
    out.push_back(fmt::format("  {}: {}", c.name, controller_text(model, c)));
  if (!model.events().empty()) out.emplace_back("events:");
  for (const Event& e : model.events()) out.push_back(fmt::format("  {}: {}", e.name, event_text(model, e)));
  return out;
}

}  // namespace limber::scene
