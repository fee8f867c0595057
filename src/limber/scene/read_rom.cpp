// The options of method rom.
#include "limber/scene/fields.h"

namespace limber::scene {

void read_rom_run(const Fields& run, rom::Options& o) {
  if (!run.has("rom")) return;
  const Fields fields(run.reader, run.node("rom"), ObjectType::rom_run, run.path("rom"), run.mark("rom"));
  o.ends = fields.names("ends");
  o.build.inertia = rom::all_inertia_kinds[fields.choice("inertia", 0)];
  o.build.construction = rom::all_constructions[fields.choice("construction", 0)];
  o.build.modes = fields.integer("modes", o.build.modes);
  if (o.build.modes < 0 || o.build.modes > 100) fields.error("modes", "expected 0 to 100");
  for_each_item(fields, "points", ObjectType::rom_point, [&](const Fields& point) {
    rom::PointRequest request;
    request.time = point.quantity("time", 0);
    for_each_item(point, "loads", ObjectType::rom_load, [&](const Fields& load) {
      request.loads.push_back({load.has("on") ? std::string(load.node("on").text) : "", load.vector("force"),
                               load.vector("moment")});
    });
    o.points.push_back(std::move(request));
  });
  if (fields.has("range")) {
    const Fields range(run.reader, fields.node("range"), ObjectType::rom_range, fields.path("range"),
                       fields.mark("range"));
    o.force = range.quantity("force", 0);
    o.moment = range.quantity("moment", 0);
  }
  o.end_error = fields.quantity("end_error", o.end_error);
  o.gap_error = fields.quantity("gap_error", o.gap_error);
  o.most_points = fields.integer("most_points", o.most_points);
  if (o.most_points > 1000) fields.error("most_points", "expected at most 1000");
  o.integrator = rom::all_integrators[fields.choice("integrator", 0)];
  o.solver = rom::all_contact_solvers[fields.choice("solver", 0)];
  o.sweeps = fields.integer("sweeps", o.sweeps);
}

}  // namespace limber::scene
