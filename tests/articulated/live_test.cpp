// What a live view asks of the method: a handle that is a spring, stress along a beam, poses of another
// method, a scene of now.
#include "limber/articulated/live.h"

#include <gtest/gtest.h>

#include "limber/articulated/statics.h"
#include "limber/elastic/section_constants.h"
#include "tests/support/random_tree.h"

namespace limber::articulated {
namespace {

using limber::testing::Random;

const double E = 2e11, load = 3, length = 1.2;

// A strip along x, clamped to the world, pushed down at its tip.
Model cantilever(int elements) {
  ModelBuilder b("cantilever");
  Material material;
  material.name = "steel";
  material.E = E;
  material.G = E / 2.6;
  material.nu = 0.3;
  material.density = 7850;
  const MaterialId steel = b.add(material);
  const SectionId strip = b.add(Section{"strip", Rectangle{0.03, 0.005}});
  Beam beam;
  beam.name = "strip";
  beam.path = PolylinePath{{{0, 0, 0}, {length, 0, 0}}};
  beam.material = steel;
  beam.section = strip;
  beam.elements = elements;
  const BeamId id = b.add(beam);
  PointLoad push;
  push.name = "push";
  push.at.beam = id;
  push.at.s = 1;
  push.force = VectorFunction::constant({0, 0, -load});
  b.add(push);
  b.parts.gravity = VectorFunction::constant({0, 0, 0});
  return std::move(b).build();
}

System oscillator(double m, Integrator integrator) {
  ModelBuilder b;
  Body ball;
  ball.name = "ball";
  ball.inertia = Inertia::about_com(m, Vec3::Zero(), math::sphere_inertia(m, 0.1));
  b.add(ball);
  b.parts.gravity = VectorFunction::constant({0, 0, 0});
  return compile(std::move(b).build(), Options{.integrator = integrator});
}

// A free ball on a handle is a damped oscillator: linearly implicit Euler and midpoint are 2×2 recurrences.
TEST(Handle, IsASpringAndADamper) {
  const double m = 2, k = 50, d = 0.7, h = 0.02;
  const Vec3 target(0.3, -0.2, 0.5);
  for (const Integrator integrator : {Integrator::euler, Integrator::midpoint}) {
    const System s = oscillator(m, integrator);
    State state = s.rest();
    Workspace w(s);
    ASSERT_TRUE(hold(s, w, {result::Hand::On::frame, 0, Vec3::Zero(), target, k, d}));
    Vec3 x = Vec3::Zero(), v = Vec3::Zero();
    result::Snapshot snapshot;
    for (int i = 0; i < 100; ++i) {
      ASSERT_TRUE(step(s, state, w, h).ok());
      if (integrator == Integrator::euler) {
        v = (m * v + h * k * (target - x)) / (m + h * d + h * h * k);
        x += h * v;
      } else {
        const Vec3 mid = (m * v + h / 2 * k * (target - x)) / (m + h / 2 * d + h * h / 4 * k);
        x += h * mid;
        v = 2 * mid - v;
      }
      observe(s, state, w, snapshot);
      ASSERT_LT((snapshot.positions[0] - x).norm(), 1e-12) << i;  // rounding of 100 steps
    }
    const result::Pull now = pull(s, state, w);
    EXPECT_LT((now.force - (k * (target - x) - d * v)).norm(), 1e-10);
    EXPECT_LT((now.point - x).norm(), 1e-12);
  }
}

// What was held and let go again leaves no trace.
TEST(Handle, ReleasedItChangesNoBit) {
  const System s = compile(cantilever(6));
  State plain = s.rest(), other = s.rest();
  Workspace w(s), w2(s);
  ASSERT_TRUE(hold(s, w2, {result::Hand::On::point, 5, Vec3::Zero(), Vec3(1, 1, 1), 1e4, 3}));
  release(s, w2);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(step(s, plain, w, 1e-3).ok());
    ASSERT_TRUE(step(s, other, w2, 1e-3).ok());
  }
  EXPECT_EQ(plain.save(), other.save());
}

TEST(Handle, RefusesWhatIsNotThere) {
  const System s = compile(cantilever(4));
  Workspace w(s);
  for (const int index : {-1, 1000})
    for (const auto on : {result::Hand::On::frame, result::Hand::On::point})
      EXPECT_FALSE(hold(s, w, {on, index, Vec3::Zero(), Vec3::Zero(), 1, 1}));
}

// Small load: the moment at a distance x from the clamp is P (L − x), the stress M c / I. Points carry the
// moment of their link's joint, at most one element before them.
TEST(Fields, StressOfACantilever) {
  const int elements = 40;
  const System s = compile(cantilever(elements));
  State state = s.rest();
  Workspace w(s);
  ASSERT_TRUE(solve_static(s, state, w).report.ok());
  const result::Fields found = fields(s, state, w);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].name, "bending stress");
  EXPECT_EQ(found[0].unit, "Pa");
  const auto c = elastic::section_constants(Rectangle{0.03, 0.005});
  result::Snapshot snapshot;
  observe(s, state, w, snapshot);
  ASSERT_EQ(found[0].values.size(), snapshot.points.size());
  const double reach = snapshot.points.back().x(), largest = load * reach * c.z_max / c.I_y;
  for (std::size_t i = 0; i < snapshot.points.size(); ++i) {
    const double moment = load * (reach - snapshot.points[i].x());
    EXPECT_NEAR(found[0].values[i], moment * c.z_max / c.I_y, largest * 1.1 / elements) << i;
  }
}

TEST(Fields, LoadsComeOnByShares) {
  const System s = compile(cantilever(10));
  Workspace w(s);
  double before = 0;
  for (const double share : {0.0, 0.25, 0.5, 1.0}) {
    State state = s.rest();
    StaticOptions options;
    options.load = options.weight = share;
    ASSERT_TRUE(solve_static(s, state, w, options).report.ok());
    const double stress = fields(s, state, w)[0].values[0];
    if (share == 0) {
      EXPECT_LT(stress, 1e-3);
    }
    if (share > 0.25) {
      EXPECT_NEAR(stress / before, 2, 0.02);  // bends little
    }
    before = stress;
  }
}

// A tree of all kinds of joints, thrown about: poses alone give its coordinates back, two moments its rates.
TEST(Adopt, GivesCoordinatesBack) {
  Random random(5);
  for (int trial = 0; trial < 10; ++trial) {
    ModelParts parts = limber::testing::random_tree(random, 12, 3);
    for (Joint& joint : parts.joints)
      for (int k = 0; k < 6; ++k) {
        joint.position[k] = random.uniform(-0.8, 0.8);
        joint.velocity[k] = random.uniform(-1, 1);
      }
    const System s = compile(Model(std::move(parts)));
    State state = s.rest();
    Workspace w(s);
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(step(s, state, w, 1e-4).ok());
    result::Snapshot before, now;
    observe(s, state, w, before);
    ASSERT_TRUE(step(s, state, w, 1e-4).ok());
    observe(s, state, w, now);
    State other = s.rest();
    ASSERT_TRUE(adopt(s, other, s.layout(), before, now));
    result::Snapshot again;
    observe(s, other, w, again);
    for (std::size_t i = 0; i < now.positions.size(); ++i) {
      EXPECT_LT((again.positions[i] - now.positions[i]).norm(), 1e-9);
      EXPECT_LT((again.rotations[i].coeffs() - now.rotations[i].coeffs()).norm(), 1e-7);
    }
    for (std::size_t i = 0; i < state.v.size(); ++i)  // a difference over a step of 1e-4 s
      EXPECT_NEAR(other.v[i], state.v[i], 1e-2 * (1 + std::abs(state.v[i]))) << i;
    EXPECT_DOUBLE_EQ(other.t, now.time);
    result::Layout nothing;
    EXPECT_FALSE(adopt(s, other, nothing, before, now));
  }
}

TEST(ModelAt, StartsWhereTheStateIs) {
  const System s = compile(cantilever(6));
  State state = s.rest();
  Workspace w(s);
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(step(s, state, w, 1e-3).ok());
  const System again = compile(model_at(s, state));
  const State start = again.rest();
  ASSERT_EQ(start.q.size(), state.q.size());
  for (std::size_t i = 0; i < state.q.size(); ++i) EXPECT_NEAR(start.q[i], state.q[i], 1e-14);
  for (std::size_t i = 0; i < state.v.size(); ++i) EXPECT_DOUBLE_EQ(start.v[i], state.v[i]);
}

}  // namespace
}  // namespace limber::articulated
