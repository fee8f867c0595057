// Closed loops and springs between bodies against reference solutions: a four-bar linkage (B3a), two four-bar
// linkages in a row (B3b), Andrews' squeezing mechanism (B3c), two pendulums and a spring (B4). The shipped
// scenes are the references' problems. Errors must fall at the method's order and reach 1e-6 of the scene's
// size at the smallest step.
#include <fmt/format.h>

#include <cmath>

#include "limber/articulated/system.h"
#include "limber/scene/scene.h"
#include "tests/support/reference.h"

namespace limber {
namespace {

using articulated::Integrator;
using articulated::State;
using articulated::System;
using limber::testing::numbers;
using limber::testing::reference;
using limber::testing::run_samples;

// A shipped scene beside its reference: points[k][i] are the coordinates of `columns` at sample k.
struct Problem {
  std::string file;
  std::vector<std::string> columns;
  double interval = 0;  // [s] between samples
  std::vector<std::vector<double>> points;
};

std::vector<double> flat(const nlohmann::json& j) {
  std::vector<double> out;
  for (const auto& x : j.flatten()) out.push_back(x.get<double>());
  return out;
}

Problem problem(const std::string& file, std::vector<std::string> columns, const nlohmann::json& t,
                const nlohmann::json& points) {
  Problem p{file, std::move(columns), t[1].get<double>() - t[0].get<double>(), {}};
  for (const auto& row : points) p.points.push_back(flat(row));
  return p;
}

// The scenes stand in x, z where the references stand in x, y.
Problem four_bar() {
  const auto r = reference("B3a_four_bar")["reference"];
  return problem("four-bar", {"rocker.end.position.x", "rocker.end.position.z"}, r["t"], r["C"]);
}
Problem n_four_bar() {
  const auto r = reference("B3b_N_four_bar")["reference"];
  return problem("n-four-bar", {"crank.0.top.position.x", "crank.0.top.position.z"}, r["t"], r["B0"]);
}
Problem squeezer() {
  const auto r = reference("B3c_andrews_squeezer")["reference"];
  return problem("squeezer", {"K1.F.position.x", "K1.F.position.y"}, r["t"], r["point_F"]);
}
Problem coupled_pendulums() {
  const auto r = reference("B4_spring_coupled_bodies")["reference"]["case_a"];
  std::vector<std::string> columns;
  for (const char* end : {"one.end", "two.end"})
    for (const char* axis : {"x", "y", "z"}) columns.push_back(fmt::format("{}.position.{}", end, axis));
  return problem("coupled-pendulums", columns, r["t"], r["spring_ends"]);
}

System compile(const Problem& p, Integrator integrator) {
  const scene::Scene s = scene::load(fmt::format("{}/{}.yaml", LIMBER_SCENES, p.file));
  return articulated::compile(s.model, {.integrator = integrator});
}

std::vector<std::size_t> indices(const System& system, const std::vector<std::string>& columns) {
  std::vector<std::size_t> out;
  const auto& scalars = system.layout().scalars;
  for (const std::string& name : columns) {
    const auto at =
        std::find_if(scalars.begin(), scalars.end(), [&](const auto& s) { return s.name == name; });
    EXPECT_NE(at, scalars.end()) << name;
    out.push_back(static_cast<std::size_t>(at - scalars.begin()));
  }
  return out;
}

// Largest error of a coordinate over the first `samples` samples, of the scene's size.
double error(const Problem& p, Integrator integrator, int samples, int per_sample) {
  const System system = compile(p, integrator);
  const auto at = indices(system, p.columns);
  articulated::Workspace w(system);
  result::Snapshot snapshot;
  snapshot.resize(system.layout());
  double largest = 0;
  run_samples(system, p.interval, samples, per_sample, [&](int k, const State& s) {
    articulated::observe(system, s, w, snapshot);
    for (std::size_t i = 0; i < at.size(); ++i)
      largest = std::max(largest, std::abs(snapshot.scalars[at[i]] - p.points[k][i]));
  });
  return largest / system.data().size;
}

// Errors at h, h/2 and h/4, over as many samples as the errors stay small enough to be asymptotic.
struct Convergence {
  Integrator integrator;
  int samples, per_sample;
  double order;
};

void check_order(const Problem& p, const std::vector<Convergence>& list) {
  for (const Convergence& c : list) {
    double e[3];
    for (int i = 0; i < 3; ++i) e[i] = error(p, c.integrator, c.samples, c.per_sample << i);
    for (int i = 0; i < 2; ++i) {
      fmt::print("  {:<18} {:<14} h {:.3e}: error {:.3e}, at h/2 {:.3e}, ratio {:.3f}\n", p.file,
                 to_string(c.integrator), p.interval / (c.per_sample << i), e[i], e[i + 1], e[i] / e[i + 1]);
      EXPECT_NEAR(std::log2(e[i] / e[i + 1]), c.order, c.order == 4 ? 0.1 : 0.05)
          << p.file << ", " << to_string(c.integrator);
    }
  }
}

void check_finest(const Problem& p, int samples, int per_sample) {
  const double e = error(p, Integrator::midpoint, samples, per_sample);
  fmt::print("  {:<18} midpoint       h {:.3e}, {} samples: error {:.3e}\n", p.file, p.interval / per_sample,
             samples, e);
  EXPECT_LT(e, 1e-6) << p.file;
}

TEST(Loops, FourBar) {
  const Problem p = four_bar();
  check_order(p, {{Integrator::rk4, 20, 48, 4},
                  {Integrator::gauss, 40, 8, 4},
                  {Integrator::sdirk4, 40, 8, 4},
                  {Integrator::midpoint, 40, 10, 2},
                  {Integrator::sdirk, 20, 80, 2},
                  {Integrator::euler, 10, 40, 1},
                  {Integrator::implicit_euler, 10, 40, 1}});
  check_finest(p, 100, 400);
}

// Up to t = 1.5 s, with one singular pose. Euler starts at the upright pose, where the only term of first
// order, the acceleration, vanishes: it converges at second order here. SDIRK only up to 0.7 s, before the
// singular pose: at some steps it folds the other way there (docs/theory/articulated.md).
TEST(Loops, NFourBar) {
  const Problem p = n_four_bar();
  check_order(p, {{Integrator::rk4, 14, 4, 4},
                  {Integrator::gauss, 14, 4, 4},
                  {Integrator::sdirk4, 14, 4, 4},
                  {Integrator::midpoint, 30, 10, 2},
                  {Integrator::sdirk, 14, 10, 2},
                  {Integrator::euler, 30, 10, 2},
                  {Integrator::implicit_euler, 30, 10, 1}});
}

// All 10 s, with ten singular poses, where the linkage could fold another way.
TEST(Loops, NFourBarStaysAParallelogram) { check_finest(n_four_bar(), 200, 200); }

TEST(Loops, AndrewsSqueezer) {
  const Problem p = squeezer();
  check_order(p, {{Integrator::rk4, 15, 20, 4},
                  {Integrator::gauss, 15, 8, 4},
                  {Integrator::sdirk4, 15, 8, 4},
                  {Integrator::midpoint, 30, 10, 2},
                  {Integrator::sdirk, 15, 40, 2},
                  {Integrator::euler, 8, 20, 1},
                  {Integrator::implicit_euler, 8, 20, 1}});
  check_finest(p, 50, 200);
}

// Two seconds: later on the motion is too sensitive (see the reference's own uncertainty).
// Two rails on hinges along the rung between them: where both stand alike the rung's length has no gradient,
// so that what pushes one rail alone meets an infinite force. No step may say that it is done and leave
// everything where it was.
TEST(Loops, LadderPushedOnOneSideMovesOrFails) {
  const scene::Scene scene = scene::load(LIMBER_TEST_DATA "/ladder-pushed-on-one-side.yaml");
  for (const Integrator by : {Integrator::euler, Integrator::implicit_euler, Integrator::midpoint,
                              Integrator::sdirk, Integrator::gauss, Integrator::sdirk4, Integrator::rk4}) {
    articulated::Options options;
    options.integrator = by;
    const System system = articulated::compile(scene.model, options);
    State state = system.rest();
    articulated::Workspace workspace(system);
    for (int k = 0; k < 5; ++k) {
      const State before = state;
      const auto report = articulated::step(system, state, workspace, 2e-3);
      if (!report.ok()) {
        EXPECT_FALSE(report.message.empty());
        break;
      }
      EXPECT_NE(state.q, before.q) << "done without a motion, integrator " << static_cast<int>(by);
    }
  }
}

TEST(Loops, CoupledPendulums) {
  const Problem p = coupled_pendulums();
  check_order(p, {{Integrator::rk4, 40, 32, 4},
                  {Integrator::gauss, 40, 8, 4},
                  {Integrator::sdirk4, 40, 8, 4},
                  {Integrator::midpoint, 40, 10, 2},
                  {Integrator::sdirk, 40, 10, 2},
                  {Integrator::euler, 6, 80, 1},
                  {Integrator::implicit_euler, 6, 80, 1}});
  check_finest(p, 40, 1600);
}

}  // namespace
}  // namespace limber
