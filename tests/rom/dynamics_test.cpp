// Reduced against whole mechanisms in motion: step response, frequencies, momentum of a free base.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "limber/articulated/articulated.h"
#include "limber/sim/reduce.h"

namespace limber::rom {
namespace {

// Links of 0.1 m along x on hinges about alternating axes (planar: all about y), sprung.
ModelParts chain(int links, bool planar, double stiffness) {
  ModelBuilder b;
  b.parts.gravity = VectorFunction::constant({0, 0, 0});
  for (int i = 0; i < links; ++i) {
    Body body;
    body.name = "link" + std::to_string(i);
    body.inertia = Inertia::about_com(0.1, Vec3(0.05, 0, 0), math::box_inertia(0.1, {0.1, 0.02, 0.02}));
    const BodyId id = b.add(body);
    Joint joint;
    joint.name = "joint" + std::to_string(i);
    joint.kind = JointKind::revolute;
    joint.child = id;
    joint.parent = BodyId{i - 1};
    joint.X_PF = joint.X_BM =
        Pose::rotation(math::rotation_from_z(planar || i % 2 == 0 ? Vec3::UnitY() : Vec3::UnitX()));
    if (!planar && i % 3 == 2) joint.X_PF = joint.X_BM = Pose::rotation(math::rotation_from_z(Vec3::UnitZ()));
    if (i > 0) joint.X_PF.p = Vec3(0.1, 0, 0);
    joint.law.stiffness[0] = stiffness;
    b.add(joint);
  }
  return std::move(b.parts);
}

// z of the end under a force that acts from t = 0, every `h`.
template <class System, class State, class Workspace>
std::vector<double> response(const System& system, State state, Workspace w, int body, double h, int steps) {
  std::vector<double> out;
  result::Snapshot at;
  for (int k = 0; k < steps; ++k) {
    observe(system, state, w, at);
    out.push_back(at.positions[body].z());
    EXPECT_TRUE(step(system, state, w, h).ok());
    state.t = (k + 1) * h;
  }
  return out;
}

// The highest place before the first return, and the time between two upward crossings of half of it:
// vibrations on top do not count.
struct Peaks {
  double first = 0, period = 0;
};
Peaks peaks(const std::vector<double>& z, double h) {
  Peaks out;
  const double most = *std::max_element(z.begin(), z.end());
  std::vector<double> up;
  for (std::size_t k = 1; k < z.size(); ++k) {
    if (up.size() == 1) out.first = std::max(out.first, z[k]);
    if (z[k - 1] < most / 2 && z[k] >= most / 2)
      up.push_back((static_cast<double>(k) - (z[k] - most / 2) / (z[k] - z[k - 1])) * h);
  }
  if (up.size() >= 2) out.period = up[1] - up[0];
  return out;
}

// A slowly pushed end (its static map is what moves): a force that grows over the first period, then stays.
TEST(StepResponse, FirstPeakAndPeriod) {
  for (const int modes : {0, 4}) {
    ModelParts parts = chain(12, true, 20);
    PointLoad load;
    load.name = "push";
    load.at.body = BodyId{11};
    load.at.p = Vec3(0.1, 0, 0);
    load.force.c[2] = TimeFunction::table({-1, 0, 1e-9}, {0, 0, 0.2});
    parts.point_loads.push_back(load);
    const Model model(std::move(parts));
    Options options;
    options.ends = {"link11"};
    options.build.modes = modes;
    options.integrator = Integrator::midpoint;
    const auto reduced = sim::reduce(model, options);
    const double h = 1e-3;
    const int steps = 5000;
    const auto sys = compile(model, reduced, options);
    const auto full = articulated::compile(model);
    const auto a = response(sys, sys.rest(), Workspace(sys), 11, h, steps);
    const auto b = response(full, full.rest(), articulated::Workspace(full), 11, h, steps);
    const Peaks pa = peaks(a, h), pb = peaks(b, h);
    std::printf("modes %d: first peak %.6f against %.6f (%.2f %%), period %.5f against %.5f (%.2f %%)\n",
                modes, pa.first, pb.first, 100 * (pa.first / pb.first - 1), pa.period, pb.period,
                100 * (pa.period / pb.period - 1));
    EXPECT_NEAR(pa.first / pb.first, 1, 0.03);
    EXPECT_NEAR(pa.period / pb.period, 1, 0.03);
  }
}

// Frequencies of the reduced matrices against those of the whole chain.
TEST(Frequencies, FirstCondensedSecondWithModes) {
  ModelParts parts = chain(20, true, 20);
  const Model model(std::move(parts));
  Options options;
  options.ends = {"link19"};
  const auto frequencies = [&](const BuildOptions& build) {
    options.build = build;
    const auto reduced = sim::reduce(model, options);
    const Point& p = reduced.mechanisms[0].points[0];
    const Eigen::GeneralizedSelfAdjointEigenSolver<MatX> eigen(p.response, p.M);
    return VecX(eigen.eigenvalues().cwiseMax(0).cwiseSqrt());
  };
  // The whole chain by a reduction to all of its links' motions: as many modes as it has freedoms left.
  const VecX all = frequencies({InertiaKind::condensed, Construction::exact, 14});
  const VecX none = frequencies({}), four = frequencies({InertiaKind::condensed, Construction::exact, 4});
  std::printf("whole %.4f %.4f, condensed %.4f %.4f, four modes %.4f %.4f\n", all[0], all[1], none[0],
              none[1], four[0], four[1]);
  EXPECT_NEAR(none[0] / all[0], 1, 0.01);
  EXPECT_NEAR(four[0] / all[0], 1, 1e-3);
  EXPECT_NEAR(four[1] / all[1], 1, 0.03);
  // By name: they ring too fast.
  const VecX operational = frequencies({InertiaKind::operational, Construction::exact, 0});
  const VecX published = frequencies({InertiaKind::published, Construction::exact, 0});
  std::printf("operational %.4f published %.4f\n", operational[0], published[0]);
  EXPECT_GT(operational[0], 1.5 * all[0]);
  EXPECT_GT(published[0], operational[0]);
}

// A chain that flies and swings: nothing outside pushes it.
TEST(FreeBase, KeepsItsMomenta) {
  ModelParts parts = chain(9, false, 5);
  parts.joints[0].kind = JointKind::free;
  parts.joints[0].X_PF = parts.joints[0].X_BM = Pose{};
  parts.joints[0].law = JointLaw{};
  parts.joints[0].velocity = {0.3, 0.1, 0.2, 1, 0.5, 0.2};
  parts.bodies[0].inertia = Inertia::about_com(3, Vec3(0.05, 0, 0), 0.05 * Mat3::Identity());
  PointLoad kick;  // for a tenth of a second, then nothing
  kick.name = "kick";
  kick.at.body = BodyId{8};
  kick.force.c[1] = TimeFunction::table({0, 0.1, 0.1000001}, {1, 1, 0});
  parts.point_loads.push_back(kick);
  const Model model(std::move(parts));
  Options options;
  options.ends = {"link8"};
  const auto reduced = sim::reduce(model, options);
  ASSERT_TRUE(reduced.mechanisms[0].free_base);
  const auto sys = compile(model, reduced, options);
  State state = sys.rest();
  Workspace w(sys);
  result::Snapshot at, before;
  const double h = 1e-3;
  const Mechanism& m = reduced.mechanisms[0];
  const auto com = [&](const result::Snapshot& s) {
    Vec3 sum = Vec3::Zero();
    double mass = 0;
    for (std::size_t l = 0; l < m.bodies.size(); ++l) {
      sum += m.inertias[l].m * (s.positions[l] + math::to_matrix(s.rotations[l]) * m.inertias[l].com());
      mass += m.inertias[l].m;
    }
    return Vec3(sum / mass);
  };
  Vec3 reference = Vec3::Zero(), spin0 = Vec3::Zero();
  double worst = 0, spin = 0;
  for (int k = 0; k < 2000; ++k) {
    before = at;
    ASSERT_TRUE(step(sys, state, w, h).ok());
    state.t = (k + 1) * h;
    observe(sys, state, w, at);
    if (k < 105) continue;
    const Vec3 speed = (com(at) - com(before)) / h;
    const std::size_t n = at.scalars.size();
    const Vec3 L(at.scalars[n - 3], at.scalars[n - 2], at.scalars[n - 1]);
    if (k == 105) reference = speed, spin0 = L;
    worst = std::max(worst, (speed - reference).norm() / reference.norm());
    spin = std::max(spin, (L - spin0).norm() / spin0.norm());
  }
  std::printf("linear momentum to %.1e, angular to %.1e\n", worst, spin);
  EXPECT_LT(worst, 1e-10);
  EXPECT_LT(spin, 1e-10);  // to rounding: nothing turns it
}

}  // namespace
}  // namespace limber::rom
