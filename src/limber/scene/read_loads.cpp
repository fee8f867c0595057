// Springs, loads, gravity, wind, probes and the options of a run.
#include <fmt/format.h>

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
    reader.parts.springs.push_back(std::move(spring));
  });
}

void read_loads(const Fields& scene) {
  Reader& reader = scene.reader;
  if (scene.has("gravity")) reader.parts.gravity = scene.vector_function("gravity");
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

void read_run(const Fields& scene) {
  if (!scene.has("run")) return;
  const Fields fields(scene.reader, scene.node("run"), ObjectType::run, scene.path("run"), scene.mark("run"));
  sim::RunOptions& run = scene.reader.run;
  fields.choice("method", 0);
  run.time = fields.quantity("time", run.time);
  run.step = fields.quantity("step", run.step);
  run.frame = fields.quantity("frame", run.frame);
  run.articulated.integrator = fields.choice("integrator", 0) == 0 ? articulated::Integrator::midpoint
                                                                   : articulated::Integrator::euler;
  run.articulated.tolerance = fields.quantity("tolerance", run.articulated.tolerance);
  run.articulated.max_iterations = fields.integer("max_iterations", run.articulated.max_iterations);
  run.articulated.threads = fields.integer("threads", run.articulated.threads);
  if (run.step > run.time) fields.error("step", "is longer than the whole run");
}

}  // namespace limber::scene
