// Springs, loads, riders, gravity, wind.
#include <fmt/format.h>

#include <cmath>

#include "limber/scene/fields.h"
#include "limber/scene/suggest.h"

namespace limber::scene {

namespace {

void read_point_load(const Fields& fields, std::string_view name, double ramp) {
  PointLoad load;
  load.name = name;
  const auto at = fields.place("on");
  load.force = fields.vector_function("force", ramp);
  load.moment = fields.vector_function("moment", ramp);
  load.follows = fields.boolean("follows");
  if (!fields.has("force") && !fields.has("moment"))
    fields.reader.error(fields.mark(), fields.path(), "needs a force or a moment");
  for (const char* key : {"force_per_length", "between"})
    if (fields.has(key)) fields.error(key, "is for a load along a beam");
  if (!at) return;
  load.at = *at;
  fields.reader.parts.point_loads.push_back(std::move(load));
}

void read_distributed_load(const Fields& fields, std::string_view name, double ramp) {
  Reader& reader = fields.reader;
  DistributedLoad load;
  load.name = name;
  load.force_per_length = fields.vector_function("force_per_length", ramp);
  load.follows = fields.boolean("follows");
  if (!fields.has("force_per_length")) reader.error(fields.mark(), fields.path(), "needs a force_per_length");
  for (const char* key : {"force", "moment"})
    if (fields.has(key)) fields.error(key, "is for a load on a place; along a beam give force_per_length");
  if (const auto between = fields.numbers("between")) load.s0 = (*between)[0], load.s1 = (*between)[1];
  const Node& node = fields.node("along");
  const auto found = node.is_scalar() ? reader.beam_names.find(node.text) : reader.beam_names.end();
  if (found == reader.beam_names.end()) {
    Suggestion suggestion(node.text);
    for (const auto& [known, index] : reader.beam_names) suggestion.offer(known);
    return fields.error(
        "along", fmt::format("there is no beam {}{}", node.is_scalar() ? quoted(node.text) : describe(node),
                             suggestion.text()));
  }
  load.beam = BeamId{found->second};
  reader.parts.distributed_loads.push_back(std::move(load));
}

// The stiffness of a cable with this EA; its rest length may be its length at t = 0.
double cable_stiffness(const Fields& fields, const Spring& spring) {
  Reader& reader = fields.reader;
  double length = spring.rest_length;
  if (length < 0 && (spring.a.beam.valid() || spring.b.beam.valid())) {
    fields.error("EA", "with an end on a beam, give the rest_length too");
    return 0;
  }
  const auto at = [&](const Attachment& a) { return reader.start_pose(a.body) * a.p; };
  if (length < 0) length = (at(spring.b) - at(spring.a)).norm();
  if (length > 0 && std::isfinite(length)) return fields.quantity("EA", 0) / length;
  fields.error("EA", "the cable has no length");
  return 0;
}

// The road of a rider: the links of a chain in order, or pieces as given.
void read_road(const Fields& fields, Rider& rider) {
  Reader& reader = fields.reader;
  const auto add = [&](BodyId id, const Vec3& from, const Vec3& to) {
    rider.bodies.push_back(id);
    rider.from.push_back({id, {}, 0, from});
    rider.to.push_back({id, {}, 0, to});
  };
  const Node& on = fields.node("on");
  if (on.is_scalar()) {
    const Series* series = reader.find_series(on.text);
    if (!series || series->first_leaf >= 0) {
      fields.error("on",
                   fmt::format("there is no chain {}{}", quoted(on.text), reader.suggest_chain(on.text)));
      return;
    }
    for (int i = 0; i < series->count; ++i) {
      const BodyId id{series->first_body + i};
      for (const NamedPoint& point : reader.parts.bodies[id.value].points)
        if (point.name == "tip") add(id, Vec3::Zero(), point.p);
    }
    return;
  }
  for_each_item(fields, "on", ObjectType::stretch, [&](const Fields& item) {
    if (!item.has("body")) return;
    const auto id = reader.body(item.node("body"), item.path("body"), false);
    if (id) add(*id, item.vector("from"), item.vector("to"));
  });
}

}  // namespace

void read_springs(const Fields& scene) {
  Reader& reader = scene.reader;
  for_each_entry(scene, "springs", ObjectType::spring, [&](const Fields& fields, std::string_view name) {
    if (!reader.claim_entities(1, fields.mark(), fields.path())) return;
    Spring spring;
    spring.name = name;
    spring.stiffness = fields.quantity("stiffness", 0);
    spring.damping = fields.quantity("damping", 0);
    spring.rest_length = fields.quantity("rest_length", -1);
    spring.tension_only = fields.boolean("tension_only");
    spring.force = fields.law("spring_force", {"x", dimension::length});
    spring.damper = fields.law("damping_force", {"v", dimension::velocity});
    spring.preload = fields.quantity("preload", 0);
    // Registered even if its ends are wrong, so that probes of it are not reported as well.
    reader.spring_names.emplace(name, static_cast<int>(reader.parts.springs.size()));
    reader.remember("spring", name, fields.self(), fields.mark(), fields.path());
    if (fields.has("between")) {
      const Node& node = fields.node("between");
      const Path path = fields.path("between");
      if (!node.is_sequence() || node.items.size() != 2) {
        fields.error("between", "expected a list of two places");
      } else {
        spring.a = reader.place(*node.items[0], {&path, {}, 0}).value_or(Attachment{});
        spring.b = reader.place(*node.items[1], {&path, {}, 1}).value_or(Attachment{});
      }
    }
    if (fields.has("EA") && !fields.has("stiffness")) spring.stiffness = cable_stiffness(fields, spring);
    reader.parts.springs.push_back(std::move(spring));
  });
}

void read_loads(const Fields& scene) {
  Reader& reader = scene.reader;
  reader.reading = "gravity";
  if (scene.has("gravity")) reader.parts.gravity = scene.vector_function("gravity");
  reader.reading = {};
  for_each_entry(scene, "loads", ObjectType::load, [&](const Fields& fields, std::string_view name) {
    if (!reader.claim_entities(1, fields.mark(), fields.path())) return;
    reader.remember("load", name, fields.self(), fields.mark(), fields.path());
    const double ramp = fields.quantity("ramp", 0);
    if (fields.has("along"))
      read_distributed_load(fields, name, ramp);
    else if (fields.has("on"))
      read_point_load(fields, name, ramp);
  });
  if (!scene.has("wind")) return;
  const Fields fields(reader, scene.node("wind"), ObjectType::wind, scene.path("wind"), scene.mark("wind"));
  Wind wind;
  wind.velocity = fields.vector_function("velocity", fields.quantity("ramp", 0));
  wind.air_density = fields.quantity("air_density", wind.air_density);
  wind.drag_coefficient = fields.quantity("drag_coefficient", wind.drag_coefficient);
  reader.remember("wind", "", fields.self(), fields.mark(), fields.path());
  reader.parts.wind = wind;
}

void read_riders(const Fields& scene) {
  Reader& reader = scene.reader;
  for_each_entry(scene, "riders", ObjectType::rider, [&](const Fields& fields, std::string_view name) {
    if (!reader.claim_entities(1, fields.mark(), fields.path())) return;
    Rider rider;
    rider.name = name;
    rider.mass = fields.quantity("mass", 0);
    rider.position = fields.function("position");
    rider.shapes = read_shapes(fields);
    rider.color = read_color(fields);
    reader.rider_names.emplace(name, static_cast<int>(reader.parts.riders.size()));
    reader.remember("rider", name, fields.self(), fields.mark(), fields.path());
    if (fields.has("on")) read_road(fields, rider);
    reader.parts.riders.push_back(std::move(rider));
  });
}

}  // namespace limber::scene
