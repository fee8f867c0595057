// The energy of a reduced model: the force is its gradient, the step's matrix its curvature, nothing is
// gained on closed ways, and energy is kept in motion, with any points.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "limber/rom/blend.h"
#include "limber/rom/statics.h"
#include "limber/scene/scene.h"
#include "limber/sim/reduce.h"
#include "tests/support/mechanism_file.h"

namespace limber::rom {
namespace {

struct Subject {
  const char* name;
  double force;  // [N] of random loads that make the points
};

Model model_of_subject(const std::string& name, Options& options) {
  if (name.starts_with("C_")) {
    const auto file = limber::testing::reference(name);
    ModelParts parts = limber::testing::mechanism_of(file).parts();
    parts.point_loads.clear();
    options.ends = {"b" + std::to_string(file["end_effector"]["body"].get<int>())};
    return Model(std::move(parts));
  }
  const scene::Scene scene = scene::load(std::string(LIMBER_SCENES) + "/" + name + ".yaml");
  ModelParts parts = scene.model.parts();
  parts.point_loads.clear();
  options.ends = scene.run.rom.ends;
  return Model(std::move(parts));
}

// Reduced with points under random forces on every end.
ReducedModel with_points(const Model& model, Options& options, int points, double force, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  for (int k = 1; k < points; ++k) {
    PointRequest request;
    for (const std::string& end : options.ends) {
      Vec3 f;
      for (int c = 0; c < 3; ++c) f[c] = normal(random);
      request.loads.push_back({end, force * f / std::max(1.0, f.norm()), Vec3::Zero()});
    }
    options.points.push_back(request);
  }
  return sim::reduce(model, options);
}

class Energies : public ::testing::TestWithParam<Subject> {};

// Central differences of a smooth function: 1e-6 of the curvature at a step of 1e-5.
TEST_P(Energies, ForceAndCurvatureAreDerivatives) {
  Options options;
  const Model model = model_of_subject(GetParam().name, options);
  const ReducedModel reduced = with_points(model, options, 9, GetParam().force, 3);
  const Mechanism& m = reduced.mechanisms[0];
  const int n = m.coordinates();
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  Blend b(m), ahead(m), behind(m);
  for (int k = 0; k < 5; ++k) {
    for (int c = 0; c < n; ++c) b.at[c] = 0.1 * normal(random);
    blend_at(m, b, true);
    const MatX J = link_map(m, b, m.ends[0]);
    for (int c = 0; c < n; ++c) {
      constexpr double h = 1e-5;
      ahead.at = behind.at = b.at;
      ahead.at[c] += h, behind.at[c] -= h;
      blend_at(m, ahead), blend_at(m, behind);
      const double size = b.curve.norm();
      EXPECT_NEAR((ahead.energy - behind.energy) / (2 * h), b.force[c], 1e-6 * size);
      EXPECT_LT(((ahead.force - behind.force) / (2 * h) - b.curve.col(c)).norm(), 1e-5 * size);
      const Vec6 moved =
          math::se3_log(link_pose(m, behind, m.ends[0]).inverse() * link_pose(m, ahead, m.ends[0])) / (2 * h);
      EXPECT_LT((moved - J.col(c)).norm(), 1e-6 * J.norm());
    }
  }
}

// Round smooth closed ways through the region of the points the force does no work: below 1e-10 of what it
// does forth and back. The trapezoidal rule is exact to rounding for periodic functions that are smooth on
// its scale.
TEST_P(Energies, NoWorkRoundClosedWays) {
  Options options;
  const Model model = model_of_subject(GetParam().name, options);
  const ReducedModel reduced = with_points(model, options, 9, GetParam().force, 3);
  const Mechanism& m = reduced.mechanisms[0];
  const int n = m.coordinates();
  double span = 0;
  for (const Point& p : m.points) span = std::max(span, p.at.norm());
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  Blend b(m);
  double worst = 0;
  for (int way = 0; way < 50; ++way) {
    MatX wave(n, 4);
    for (int c = 0; c < n; ++c)
      for (int k = 0; k < 4; ++k) wave(c, k) = 0.5 * span / std::sqrt(n) * normal(random) / (1 + k / 2);
    constexpr int steps = 4000;
    double work = 0, size = 0;
    for (int i = 0; i < steps; ++i) {
      const double x = 2 * pi * i / steps;
      b.at.head(n) = wave.col(0) * std::sin(x) + wave.col(1) * std::cos(x) + wave.col(2) * std::sin(2 * x) +
                     wave.col(3) * std::cos(2 * x);
      const VecX rate = wave.col(0) * std::cos(x) - wave.col(1) * std::sin(x) +
                        2 * wave.col(2) * std::cos(2 * x) - 2 * wave.col(3) * std::sin(2 * x);
      blend_at(m, b);
      const double power = b.force.dot(rate);
      work += power, size += std::abs(power);
    }
    worst = std::max(worst, std::abs(work) / size);
  }
  std::printf("%s: work round closed ways %.1e of what is done\n", GetParam().name, worst);
  EXPECT_LT(worst, 1e-10);
}

// Undamped, under a constant force that comes on at once, by the midpoint rule: what the force gave is there.
// Steps of up to a fortieth of the first period, 1 to 30 points, none of them where it moves on purpose.
TEST(Energy, IsKeptWithAnyPoints) {
  double worst = 0;
  for (unsigned run = 0; run < 12; ++run) {
    std::mt19937 random(100 + run);
    Options options;
    options.integrator = Integrator::midpoint;
    const bool chain = run % 2 == 0;
    const double force = chain ? 0.6 : 4;
    const Model plain = model_of_subject(chain ? "C_serial_chain_7R" : "C_closed_loop_4bar", options);
    const int points = 1 + static_cast<int>(random() % 30);
    const ReducedModel reduced = with_points(plain, options, points, force, run);
    ModelParts parts = plain.parts();
    PointLoad load;
    load.name = "push";
    load.at.body = BodyId{reduced.mechanisms[0].bodies[reduced.mechanisms[0].ends[0]]};
    const Vec3 f = 0.4 * force * Vec3(std::cos(run), std::sin(run), 0.5).normalized();
    load.force = VectorFunction::constant(f);
    // The points are those of the mechanism without it.
    parts.point_loads = {load};
    const Model model(std::move(parts));
    const Mechanism& m = reduced.mechanisms[0];
    const auto system = compile(model, reduced, options);
    State state = system.rest();
    Workspace w(system);
    const double h = std::pow(10.0, -4 + 1.7 * static_cast<double>(random() % 1000) / 1000);  // 0.1 … 5 ms
    const int steps = std::min(4000, static_cast<int>(3 / h));
    double start = 0, off = 0, most = 0;
    const auto energies = [&] {
      Blend b(m);
      const int n = m.coordinates();
      b.at = Eigen::Map<const VecX>(state.q.data(), n);
      blend_at(m, b), blend_inertia(m, b);
      const Eigen::Map<const VecX> rate(state.v.data(), n);
      const double kinetic = 0.5 * rate.dot(b.M * rate);
      most = std::max(most, kinetic);
      return kinetic + b.energy - f.dot(link_pose(m, b, m.ends[0]).p);
    };
    start = energies();
    for (int k = 0; k < steps; ++k) {
      const auto report = step(system, state, w, h);
      ASSERT_TRUE(report.ok()) << report.message;
      state.t = (k + 1) * h;
      off = std::max(off, std::abs(energies() - start));
    }
    std::printf("run %u: %d points, %.2f ms: energy off by %.2e of the largest\n", run, points, 1e3 * h,
                off / most);
    worst = std::max(worst, off / most);
  }
  EXPECT_LT(worst, 0.01);
}

INSTANTIATE_TEST_SUITE_P(Subjects, Energies,
                         ::testing::Values(Subject{"C_serial_chain_7R", 1.5},
                                           Subject{"C_closed_loop_4bar", 10}, Subject{"y-mechanism", 4},
                                           Subject{"gripper", 0.5}));

}  // namespace
}  // namespace limber::rom
