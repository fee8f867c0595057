#include "limber/scene/write_cables.h"

#include "limber/scene/flow.h"
#include "limber/scene/write_controls.h"
#include "limber/scene/write_text.h"

namespace limber::scene {
namespace {

std::string guide_text(const Model& model, const CableGuide& g) {
  std::string on = g.at.body.valid() ? model[g.at.body].name : "world";
  if (g.at.beam.valid()) on = fmt::format("{}@{}", model[g.at.beam].name, number(g.at.s));
  const auto list = [](const Vec3& v) {
    return fmt::format("[{}, {}, {}]", number(v[0]), number(v[1]), number(v[2]));
  };
  Flow flow;
  flow.add(g.radius > 0 ? "pulley" : "on", on).add_if(g.at.p != Vec3::Zero(), "at", list(g.at.p));
  if (g.radius > 0) {
    flow.add("radius", number(g.radius)).add("axis", list(g.axis));
    flow.add("turn", g.sense > 0 ? "positive" : "negative");
  }
  flow.add_if(g.turns > 0, "turns", fmt::format("{}", g.turns));
  flow.add_if(g.grip, "grip", "true").add_if(g.friction > 0, "friction", number(g.friction));
  return flow.str();
}

}  // namespace

std::string cable_text(const Model& model, const Cable& c) {
  std::string route;
  for (const CableGuide& g : c.route) route += (route.empty() ? "" : ", ") + guide_text(model, g);
  Flow flow;
  flow.add("route", "[" + route + "]").add_if(c.closed, "closed", "true");
  flow.add_if(c.EA == 0, "stiffness", number(c.stiffness)).add_if(c.EA > 0, "EA", number(c.EA));
  flow.add_if(c.damping > 0, "damping", number(c.damping));
  flow.add_if(c.rest_length >= 0, "rest_length", number(c.rest_length));
  flow.add_if(c.pretension > 0, "pretension", number(c.pretension));
  flow.add_if(!c.winch.is_zero(), "winch", function(c.winch));
  if (c.color) flow.add("color", fmt::format("[{}, {}, {}]", (*c.color)[0], (*c.color)[1], (*c.color)[2]));
  return flow.str();
}

}  // namespace limber::scene
