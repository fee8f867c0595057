// The way to a rest: few iterations whatever the slenderness, the mesh and the load, and the right rest.
#include "thread_support.h"

namespace limber::thread {
namespace {

constexpr double thin = 5e-5;  // [m] radius of a rod of 1 m

struct Found {
  StaticResult result;
  int iterations = 0;
  Vec3 middle, tip;
};
Found rest_of(const System& system) {
  State state = system.rest();
  Workspace w(system);
  Found out;
  out.result = solve_static(system, state, w);
  out.iterations = out.result.report.iterations;
  EXPECT_TRUE(out.result.report.ok()) << out.result.report.message;
  out.middle = station(system, state, w, 0, 0.5).x;
  out.tip = node_of(state, state.node_count() - 1);
  return out;
}

Rope steel(double radius, int elements) {
  Rope rope;
  rope.E = 210e9, rope.nu = 0.3, rope.density = 7800, rope.section = Circle{radius}, rope.elements = elements;
  return rope;
}

// A cantilever of steel bent far by a force at its tip, against the elastica (A1). What is left is shear and
// stretch, 3.6 (r/L)², and of ten elements another 1e-5. Eight iterations were measured in every case.
TEST(StaticSearch, SlendernessCostsNothing) {
  const auto data = reference("A1_cantilever_end_force");
  const auto& ref = data["reference"].back();
  ASSERT_EQ(ref["PL2_over_EI"].get<double>(), 10);
  const Vec3 wanted(ref["tip_x_over_L"].get<double>(), -ref["tip_deflection_over_L"].get<double>(), 0);
  for (const int elements : {10, 200})
    for (const double radius : {5e-3, 5e-4, thin, 5e-6}) {
      Rope rope = steel(radius, elements);
      rope.tip_force = Vec3(0, -10 * rope.E * rope.I(), 0);
      const Found found = rest_of(rope.build());
      EXPECT_LE(found.iterations, 10) << elements << " " << radius;
      const double allowed = 4 * radius * radius + (elements == 10 ? 2e-5 : 1e-9);
      EXPECT_LT((found.tip - wanted).norm(), allowed) << elements << " " << radius;
    }
}

// Clamped straight on, under a weight of 100 to 1e6 EI/L³: a rod turns down within a few lengths ε =
// (EI/qL)^½ and hangs there. An elastica under tension qL that turns from horizontal to vertical moves aside
// by √2 ε (its first integral, EI κ²/2 = qL (1 − cos)), the weight that grows towards the clamp makes it a
// little more.
TEST(StaticSearch, HeavyThreadsHang) {
  for (const double weight : {1e2, 1e3, 1e4, 1e5, 1e6}) {
    Rope rope = steel(thin, 200);
    rope.gravity = Vec3(0, -weight * rope.E * rope.I() / (rope.density * rope.A()), 0);
    const Found found = rest_of(rope.build());
    EXPECT_LE(found.iterations, 20) << weight;  // measured 9 to 16
    EXPECT_EQ(found.result.negative, 0) << weight;
    const double layer = 1 / std::sqrt(weight);
    EXPECT_GT(found.tip.x(), layer) << weight;
    EXPECT_LT(found.tip.x(), 2.1 * layer) << weight;
    EXPECT_NEAR(found.tip.y(), -1, layer) << weight;
  }
}

// Euler's column beyond its load: with α the angle at the tip and p = sin(α/2), P/P_cr = (2K/π)²,
// x/L = 2E/K − 1, y/L = 2p/K (Timoshenko and Gere 1961, 2.7). A push of 1e-6 EI/L² to the side chooses the
// way; what it adds is seen where the column has hardly buckled.
TEST(StaticSearch, ColumnsBuckle) {
  for (const double alpha : {20.0, 60.0, 120.0, 160.0})
    for (const int elements : {32, 200}) {
      const double p = std::sin(alpha * pi / 360), K = std::comp_ellint_1(p), E = std::comp_ellint_2(p);
      Rope rope = steel(thin, elements);
      const double EI = rope.E * rope.I();
      rope.tip_force = Vec3(-K * K * EI, 1e-6 * EI, 0);
      const Found found = rest_of(rope.build());
      EXPECT_LE(found.iterations, 40) << alpha << " " << elements;  // measured 13 to 26
      EXPECT_LT((found.tip - Vec3(2 * E / K - 1, 2 * p / K, 0)).norm(), alpha < 30 ? 1e-4 : 1e-5) << alpha;
    }
}

// Nothing pushes it to a side: the straight column is at rest, and told to be unstable in both planes.
TEST(StaticSearch, ARestThatIsNotStableIsTold) {
  Rope rope = steel(thin, 32);
  rope.tip_force = Vec3(-2 * pi * pi / 4 * rope.E * rope.I(), 0, 0);
  const Found found = rest_of(rope.build());
  EXPECT_EQ(found.result.negative, 2);
  EXPECT_LT((found.tip - Vec3(1, 0, 0)).norm(), 1e-8);
}

// Pinned at its root a thread turns by half a circle at most, and hangs: longer by ρgL²/2E. No strain holds
// it at the start.
TEST(StaticSearch, PinnedThreadsSwingDown) {
  for (const double radius : {5e-3, thin})
    for (const double up : {0.0, 0.7}) {
      Rope rope = steel(radius, 32);
      rope.path = PolylinePath{{Vec3::Zero(), Vec3(std::sqrt(1 - up * up), 0, up)}};
      rope.up = Vec3::UnitY();
      rope.gravity = Vec3(0, 0, -9.81);
      Beam beam = rope.beam();
      beam.root = Hold::pinned;
      const Found found = rest_of(rope.build(beam));
      const double length = 1 + rope.density * 9.81 / (2 * rope.E);
      EXPECT_LT((found.tip - Vec3(0, 0, -length)).norm(), 1e-9) << radius << " " << up;
      EXPECT_LE(found.iterations, 80) << radius << " " << up;  // measured 14 to 53
    }
}

// A thin wire between two walls sags by (3 q L⁴/64 EA)^⅓ under a weight q: a string that is strained by
// nothing else. The clamps bend 2 (EI/N)^½ of it at either end, 1 % here.
TEST(StaticSearch, AWireBetweenWallsSags) {
  for (const int elements : {16, 200}) {
    Rope rope = steel(thin, elements);
    rope.gravity = Vec3(0, 0, -9.81);
    Beam beam = rope.beam();
    beam.clamps.push_back({1, world, Hold::clamped});
    const Found found = rest_of(rope.build(beam));
    const double sag = std::cbrt(3 * rope.density * 9.81 / (64 * rope.E));
    EXPECT_NEAR(-found.middle.z(), sag, 0.015 * sag);
    EXPECT_LE(found.iterations, 15);  // measured 5 and 6
  }
}

// A mesh far too coarse for its weight (the layer above is a twentieth of an element) is pressed into the
// walls of its elements: slow, but found, and told.
TEST(StaticSearch, ACoarseMeshIsTold) {
  Rope rope = steel(thin, 16);
  rope.gravity = Vec3(0, -1e5 * rope.E * rope.I() / (rope.density * rope.A()), 0);
  const Found found = rest_of(rope.build());
  EXPECT_NE(found.result.report.warning.find("slowly"), std::string::npos);
  EXPECT_LT(found.tip.y(), -0.95);
}

}  // namespace
}  // namespace limber::thread
