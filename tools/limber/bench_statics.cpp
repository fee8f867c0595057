// Suite `articulated`, third part: Newton's steps to an equilibrium. A cantilever that an end force bends by
// P L²/(EI) = 10, of 10 to 200 elements, past the load at which its flat section buckles sideways; and the
// umbrella, which a force opens by 39 of its 60 units.
#include <fmt/format.h>

#include <ctime>
#include <stdexcept>

#include "bench.h"
#include "limber/articulated/statics.h"
#include "limber/scene/scene.h"

namespace limber::cli {
namespace {

struct Solved {
  int iterations = 0;
  double ms = 0;  // CPU time
};

Solved solve(const Model& model) {
  const auto system = articulated::compile(model);
  articulated::State state = system.rest();
  articulated::Workspace w(system);
  articulated::StaticOptions options;
  options.modes = 0;
  const std::clock_t begin = std::clock();
  const auto r = articulated::solve_static(system, state, w, options);
  const std::clock_t end = std::clock();
  if (!r.report.ok()) throw std::runtime_error("bench: " + r.report.message);
  return {r.report.iterations, 1e3 * static_cast<double>(end - begin) / CLOCKS_PER_SEC};
}

Model cantilever(int elements) {
  // EI = E b h³/12 = 1 N·m²
  const std::string text = fmt::format(
      "limber: 1\ngravity: [0, 0, 0]\nmaterials: {{m: {{E: 307200 Pa, nu: 0.3, density: 1000}}}}\n"
      "sections: {{s: {{rectangle: {{width: 0.02, height: 0.125}}}}}}\n"
      "beams: {{b: {{path: [[0, 0, 0], [1, 0, 0]], material: m, section: s, elements: {}}}}}\n"
      "loads: {{f: {{on: b.tip, force: [0, 0, -10]}}}}\n",
      elements);
  return scene::parse(text, "cantilever.yaml").model;
}

}  // namespace

void bench_statics(std::vector<Figure>& figures) {
  for (const int n : {10, 40, 200}) {
    const Solved s = solve(cantilever(n));
    figures.push_back({fmt::format("static_iterations_cantilever_{}", n), static_cast<double>(s.iterations),
                       "", "Newton's steps from straight"});
    figures.push_back({fmt::format("static_ms_cantilever_{}", n), s.ms, "ms", "CPU time"});
  }
  const Solved u = solve(scene::load(scene_folder() / "umbrella.yaml").model);
  figures.push_back({"static_iterations_umbrella", static_cast<double>(u.iterations), "",
                     "Newton's steps to its rest, opened by the load"});
  figures.push_back({"static_ms_umbrella", u.ms, "ms", "CPU time"});
}

}  // namespace limber::cli
