// The stiffness of tension in an iteration's matrix: it saves iterations and does not move what they end at.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "limber/articulated/system.h"

namespace limber::articulated {
namespace {

// A rope of bars on soft universal joints, level and let go: its own weight is its only tension.
Model rope(int bars) {
  const double length = 1.0 / bars, mass = 0.1 / bars;
  ModelBuilder b;
  for (int i = 0; i < bars; ++i) {
    Body bar;
    bar.name = "bar" + std::to_string(i);
    bar.inertia =
        Inertia::about_com(mass, Vec3(length / 2, 0, 0), math::box_inertia(mass, Vec3(length, 0.01, 0.01)));
    Joint j;
    j.name = "joint" + std::to_string(i);
    j.kind = JointKind::universal;
    j.parent = BodyId{i - 1};
    j.child = b.add(bar);
    j.law.stiffness = dofs(1e-4 * bars);
    // Axes of the joint, x and y of F, across the rope.
    j.X_BM = Pose::rotation(math::rotation_from_z(Vec3::UnitX()));
    j.X_PF = {j.X_BM.R, Vec3(i > 0 ? length : 0, 0, 0)};
    b.add(j);
  }
  return std::move(b).build();
}

struct Ended {
  std::vector<double> q;
  double iterations = 0;  // a step
};

Ended fall(const Model& model, double h, double tolerance) {
  Options options;
  options.integrator = Integrator::midpoint;
  options.tolerance = tolerance;
  const System system = compile(model, options);
  State state = system.rest();
  Workspace w(system);
  Ended out;
  const int steps = static_cast<int>(std::lround(0.5 / h));
  for (int i = 0; i < steps; ++i) {
    const auto report = step(system, state, w, h);
    EXPECT_TRUE(report.ok()) << report.message;
    out.iterations += static_cast<double>(report.total_iterations) / steps;
  }
  out.q = state.q;
  return out;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

TEST(Tension, WhatAnIterationLeavesOverIsFarBelowTheStepsError) {
  const Model model = rope(32);
  const Ended usual = fall(model, 0.005, 0), exact = fall(model, 0.005, 1e-13),
              finer = fall(model, 0.0025, 0);
  // A ten-thousandth of a step's error each: that of 100 steps, if all of them went the same way, is 1e-2 of
  // the error of one, and errors of steps add up as well.
  EXPECT_LE(distance(usual.q, exact.q), 1e-4 * distance(exact.q, finer.q));
}

TEST(Tension, SavesIterationsOfAHangingRope) { EXPECT_LE(fall(rope(32), 0.005, 0).iterations, 6); }

}  // namespace
}  // namespace limber::articulated
