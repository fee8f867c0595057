// Integrators of fourth order: energy over a thousand periods, what is not smooth, steps by error.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "limber/articulated/articulated.h"
#include "limber/scene/scene.h"

namespace limber::articulated {
namespace {

constexpr Integrator fourth[] = {Integrator::rk4, Integrator::gauss, Integrator::sdirk4};

Model parse(const std::string& text) { return scene::parse("limber: 1\n" + text, "high_order.yaml").model; }

// Two rods of 1 m, 1 kg, let go from the side: a period is 1.7 s or so, and no two are alike.
Model double_pendulum() {
  return parse(
      "bodies:\n"
      "  upper: {mass: 1, inertia: [0.001, 0.08, 0.08], at: [0.5, 0, 0]}\n"
      "  lower: {mass: 1, inertia: [0.001, 0.08, 0.08], at: [1.5, 0, 0]}\n"
      "joints:\n"
      "  a: {type: revolute, child: upper, axis: [0, 1, 0], at: [0, 0, 0], position: 0.9}\n"
      "  b: {type: revolute, parent: upper, child: lower, axis: [0, 1, 0], at: [1, 0, 0], position: 0.4}\n");
}

// Largest error of the energy in each of `windows` equal parts of a run, of the largest kinetic energy.
std::vector<double> energy_errors(const Model& model, Integrator integrator, double h, int steps,
                                  int windows) {
  const System s = compile(model, {.integrator = integrator});
  State state = s.rest();
  Workspace w(s);
  const double start = energy(s, state, w).total();
  std::vector<double> out(windows, 0.0);
  double kinetic = 0;
  for (int i = 0; i < steps; ++i) {
    const auto report = step(s, state, w, h);
    EXPECT_TRUE(report.ok()) << report.message;
    if (!report.ok()) break;
    const auto e = energy(s, state, w);
    double& worst = out[static_cast<std::size_t>(i) * windows / steps];
    worst = std::max(worst, std::abs(e.total() - start));
    kinetic = std::max(kinetic, e.kinetic);
  }
  for (double& e : out) e /= kinetic;
  return out;
}

// Symmetric methods keep the energy: over a thousand periods the error is no larger at the end than it was in
// the first tenth, but for what a chaotic motion meets only later (a factor of 3).
TEST(HighOrder, SymmetricMethodsKeepTheEnergyForAThousandPeriods) {
  for (const Integrator integrator : {Integrator::midpoint, Integrator::gauss}) {
    const double h = 0.02;
    const auto e = energy_errors(double_pendulum(), integrator, h, 85'000, 10);
    RecordProperty(to_string(integrator), std::to_string(e.front()) + " " + std::to_string(e.back()));
    EXPECT_LT(*std::max_element(e.begin(), e.end()), 3 * e.front()) << to_string(integrator);
    EXPECT_LT(e.front(), integrator == Integrator::gauss ? 1e-5 : 2e-3);
  }
}

// A pendulum that falls on its stop and is thrown back by half its speed: h = v²/2g, so a quarter of the
// height.
TEST(HighOrder, StopsAreHitAsInSdirk) {
  const Model model = parse(
      "bodies: {bob: {mass: 1, inertia: [0.1, 0.1, 0.1]}}\n"
      "joints: {drop: {type: prismatic, child: bob, axis: [0, 0, 1], position: 1, limits: [0, 10], "
      "restitution: 0.5}}\n");
  for (const Integrator integrator : fourth) {
    const System s = compile(model, {.integrator = integrator});
    State state = s.rest();
    Workspace w(s);
    const double h = 1e-3, fall = std::sqrt(2 / 9.81);
    double top = 0;
    while (state.t < 1.9 * fall) {
      ASSERT_TRUE(step(s, state, w, h).ok());
      EXPECT_GE(state.q[0], -1e-12);
      if (state.t > fall + 2 * h) top = std::max(top, state.q[0]);
    }
    EXPECT_NEAR(top, 0.25, 0.5 * std::sqrt(2 * 9.81) * h) << to_string(integrator);  // its speed, a step late
  }
}

// A joint that a table moves jumps in its speed at the corners: there steps are sdirk's, elsewhere fourth
// order.
TEST(HighOrder, MotionsWithCornersEndWhereTheyMust) {
  const Model model = parse(
      "bodies:\n"
      "  arm: {mass: 1, inertia: [0.01, 0.1, 0.1], at: [0.5, 0, 0]}\n"
      "  bob: {mass: 1, inertia: [0.01, 0.1, 0.1], at: [1, 0, -0.5]}\n"
      "joints:\n"
      "  drive: {type: revolute, child: arm, axis: [0, 1, 0], at: [0, 0, 0], motion: {table: [[0, 0], [0.1, "
      "0.05], [0.2, 0]]}}\n"
      "  swing: {type: revolute, parent: arm, child: bob, axis: [0, 1, 0], at: [1, 0, 0]}\n");
  const auto run = [&](Integrator integrator, int steps) {
    const System s = compile(model, {.integrator = integrator});
    State state = s.rest();
    Workspace w(s);
    for (int i = 0; i < steps; ++i) {
      const auto report = step(s, state, w, 0.2 / steps);
      EXPECT_TRUE(report.ok()) << to_string(integrator) << ": " << report.message;
    }
    return state.q[1];
  };
  const double limit = run(Integrator::midpoint, 6400);
  for (const Integrator integrator : fourth)  // first order at the corner: half a step late with 0.5 rad/s
    EXPECT_NEAR(run(integrator, 400), limit, 1.0 * 0.2 / 400) << to_string(integrator);
}

// Steps by error: what was asked for, within a factor of 10, and with fewer solves than midpoint.
TEST(HighOrder, StepsByErrorKeepIt) {
  const Model model = double_pendulum();
  const auto end = [&](Integrator integrator, double error, int steps, long long& solves) {
    const System s = compile(model, {.integrator = integrator, .error = error});
    State state = s.rest();
    Workspace w(s);
    for (int i = 0; i < steps; ++i) {
      const auto report = step(s, state, w, 1.0 / steps);
      EXPECT_TRUE(report.ok()) << report.message;
      solves += report.total_iterations;
    }
    return VecX(Eigen::Vector2d(state.q[0], state.q[1]));
  };
  long long none = 0, midpoint = 0;
  const VecX truth = end(Integrator::gauss, 0, 20'000, none);
  end(Integrator::midpoint, 1e-8, 20, midpoint);
  for (const Integrator integrator : fourth) {
    long long solves = 0;
    // 20 steps may be off by 1e-8 of the size (2 m) each, and angles double what positions are off by.
    EXPECT_LT((end(integrator, 1e-8, 20, solves) - truth).norm(), 20 * 1e-8 * 4) << to_string(integrator);
    EXPECT_LT(4 * solves, midpoint) << to_string(integrator);
  }
  // By the estimate of its own stages: one step a part, of third order.
  long long own = 0;
  EXPECT_LT((end(Integrator::sdirk4, 1e-6, 20, own) - truth).norm(), 20 * 1e-6 * 4);
}

}  // namespace
}  // namespace limber::articulated
