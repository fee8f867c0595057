// A cantilever under a load on its tip, by every method that finds rests.
#include <cstdio>

#include "limber/sim/equilibrium.h"

using namespace limber;

int main() {
  ModelBuilder builder("cantilever");
  builder.parts.gravity = VectorFunction::constant({0, 0, 0});
  Material steel;
  steel.name = "steel", steel.E = 200e9, steel.G = 80e9, steel.density = 7850;
  Section rod;
  rod.name = "rod", rod.shape = Circle{0.005};
  Beam beam;
  beam.name = "beam", beam.material = builder.add(steel), beam.section = builder.add(rod), beam.elements = 20;
  beam.path = PolylinePath{{{0, 0, 0}, {1, 0, 0}}};
  PointLoad load;
  load.name = "load", load.at.beam = builder.add(beam), load.at.s = 1;
  load.force = VectorFunction::constant({0, 0, -1});  // [N]
  builder.add(load);
  const Model model = std::move(builder).build();

  for (const sim::MethodInfo& method : sim::method_table()) {
    if (!method.statics) continue;
    sim::StaticOptions options;
    options.method = method.method;
    const sim::Equilibrium e = sim::find_equilibrium(model, {}, options);
    if (!e.stable()) return 3;
    std::printf("%s: %.6f mm, %.4f N m at the root\n", method.name(), 1000 * e.beams[0].moved.z(),
                e.reactions[0].moment.y());
  }
  return 0;
}
