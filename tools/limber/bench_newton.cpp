// Suite `articulated`, fourth part: iterations of an implicit step, and what a second-order step costs beside
// the single solve of Euler's. A soft beam of 64 elements as links, clamped level and let go (a metre long, 5
// mm thick, E = 1 MPa: its weight bends it down in half a second), and the tree of 765 joints, both at 10 ms.
#include <fmt/format.h>

#include <stdexcept>

#include "bench.h"
#include "bench_timing.h"
#include "limber/articulated/articulated.h"
#include "limber/scene/scene.h"

namespace limber::cli {
namespace {

using articulated::Integrator;

struct Stepped {
  double seconds = 0;     // CPU time of all steps
  double iterations = 0;  // a step
};

Stepped run(const Model& model, Integrator integrator, int steps) {
  articulated::Options options;
  options.integrator = integrator;
  const auto system = articulated::compile(model, options);
  articulated::State state = system.rest();
  articulated::Workspace w(system);
  Stepped out;
  const auto begin = CpuClock::now();
  for (int i = 0; i < steps; ++i) {
    const auto report = articulated::step(system, state, w, 0.01);
    if (!report.ok()) throw std::runtime_error("bench: " + report.message);
    out.iterations += static_cast<double>(report.total_iterations) / steps;
  }
  out.seconds = seconds_since(begin);
  return out;
}

}  // namespace

void bench_newton(std::vector<Figure>& figures) {
  const Model beam =
      scene::parse(
          "limber: 1\ngravity: [0, 0, -9.81]\n"
          "materials: {m: {E: 1 MPa, nu: 0.4, density: 1100}}\nsections: {s: {circle: 5 mm}}\n"
          "beams: {b: {path: [[0, 0, 0], [1, 0, 0]], material: m, section: s, elements: 64}}\n",
          "beam64.yaml")
          .model;
  const Stepped falling = run(beam, Integrator::midpoint, 100);
  figures.push_back(
      {"newton_iterations_beam64", falling.iterations, "", "a midpoint step of 10 ms, over 1 s"});
  figures.push_back({"beam64_over_real_time", falling.seconds, "x", "CPU time over simulated time"});
  scene::LoadOptions load;
  load.set = {{"levels", "8"}};
  const Model tree = scene::load(scene_folder() / "tree.yaml", load).model;
  const Stepped euler = run(tree, Integrator::euler, 100), midpoint = run(tree, Integrator::midpoint, 100);
  figures.push_back(
      {"newton_iterations_tree", midpoint.iterations, "", "a midpoint step of 10 ms, 765 joints"});
  figures.push_back({"step_ms_euler_tree", 10 * euler.seconds, "ms", "a whole step, 765 joints, over 1 s"});
  figures.push_back({"midpoint_over_euler_tree", midpoint.seconds / euler.seconds, "x", "all steps of 1 s"});
}

}  // namespace limber::cli
