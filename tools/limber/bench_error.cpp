// Suite `articulated`, fifth part: what steps by an error cost by the estimate of the step's own stages,
// beside parts taken once whole and once in halves, at the same true error. Four scenes over 2 s in steps of
// 0.1 s; each is run with errors from 1e-4 to 1e-9, and the time at a true error of 1e-6 is read off the line
// between the two runs around it (logarithms of both).
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "bench.h"
#include "bench_timing.h"
#include "limber/articulated/articulated.h"
#include "limber/scene/scene.h"

namespace limber::cli {
namespace {

using articulated::Integrator;

constexpr double seconds_simulated = 2, true_error = 1e-6;
constexpr int steps = 20;

struct Ran {
  std::vector<double> q = {};
  double seconds = 0;  // CPU time, the best of some
};

Ran run(const Model& model, const articulated::Options& options, int count, int turns) {
  const auto system = articulated::compile(model, options);
  articulated::Workspace w(system);
  Ran out{.seconds = 1e9};
  for (int turn = 0; turn < turns; ++turn) {
    articulated::State state = system.rest();
    const auto begin = CpuClock::now();
    for (int i = 0; i < count; ++i)
      if (const auto report = articulated::step(system, state, w, seconds_simulated / count); !report.ok())
        throw std::runtime_error("bench: " + report.message);
    out.seconds = std::min(out.seconds, seconds_since(begin));
    out.q = state.q;
  }
  return out;
}

// Seconds at the true error, of a method of steps by error.
double seconds_at(const Model& model, Integrator integrator, bool halves, const std::vector<double>& truth) {
  double before_error = 0, before_seconds = 0;
  for (int tenths = -40; tenths >= -90; tenths -= 5) {
    const articulated::Options options{
        .integrator = integrator, .error = std::pow(10.0, 0.1 * tenths), .halves = halves};
    const Ran ran = run(model, options, steps, 3);
    double error = 1e-15;
    for (std::size_t k = 0; k < truth.size(); ++k) error = std::max(error, std::abs(ran.q[k] - truth[k]));
    if (error <= true_error) {
      if (before_error == 0) return ran.seconds;
      const double x = std::log(true_error / error) / std::log(before_error / error);
      return std::exp((1 - x) * std::log(ran.seconds) + x * std::log(before_seconds));
    }
    before_error = error, before_seconds = ran.seconds;
  }
  throw std::runtime_error("bench: no step by error reaches 1e-6");
}

}  // namespace

void bench_error(std::vector<Figure>& figures) {
  for (const Integrator integrator : {Integrator::rk4, Integrator::gauss}) {
    double sum = 0;
    const std::vector<const char*> names = {"double-pendulum", "four-bar", "bricard", "flyball-governor"};
    for (const char* name : names) {
      const Model model = scene::load(scene_folder() / (std::string(name) + ".yaml")).model;
      const auto truth = run(model, {.integrator = Integrator::gauss}, 4000, 1).q;
      sum +=
          std::log(seconds_at(model, integrator, false, truth) / seconds_at(model, integrator, true, truth));
    }
    figures.push_back({std::string("error_cost_") + articulated::to_string(integrator),
                       std::exp(sum / static_cast<double>(names.size())), "x",
                       "time by its own estimate over that in halves at a true error of 1e-6, four scenes"});
  }
}

}  // namespace limber::cli
