// Friction solvers on problems whose answer is known, and on hard ones by their residual.
#include "limber/contact/friction.h"

#include <gtest/gtest.h>

#include <cmath>

#include "random.h"
#include "rigid_world.h"

namespace limber::contact {
namespace {

// A plane inclined by `angle`, falling towards +x.
Pose incline(double angle) { return {math::rotation_y(angle), Vec3::Zero()}; }

TEST(Friction, BlockOnAnIncline) {
  const double mu = 0.5, g = 10;
  for (const double angle : {0.3, 0.4636, 0.47, 0.8}) {
    RigidWorld world;
    world.friction = mu;
    const Pose X = incline(angle);
    world.bodies = {fixed_body(HalfSpace{}, X),
                    box_body(Vec3(0.2, 0.2, 0.1), 2, X * Pose::translation({0, 0, 0.1}))};
    for (int i = 0; i < 500; ++i) {
      world.step();
      ASSERT_TRUE(world.report.converged) << i << " " << world.report.residual;
    }
    const Vec3 down = X.R.col(0);
    const double a = g * (std::sin(angle) - mu * std::cos(angle)), t = 0.5;
    // tan⁻¹ 0.5 = 0.46365. Euler's steps give t² (1 + h/t) / 2 exactly.
    const double s = a > 0 ? 0.5 * a * t * t * (1 + 1e-3 / t) : 0;
    EXPECT_NEAR(down.dot(world.bodies[1].X.p - X * Vec3(0, 0, 0.1)), s, 1e-7) << angle;
    EXPECT_NEAR(world.bodies[1].w.norm(), 0, 1e-7);
  }
}

TEST(Friction, BallRollsDown) {
  const double angle = 0.3, g = 10;
  RigidWorld world;
  const Pose X = incline(angle);
  world.bodies = {fixed_body(HalfSpace{}, X), ball_body(0.1, 1, X * Pose::translation({0, 0, 0.1}))};
  for (int i = 0; i < 1000; ++i) world.step();
  const double v = 5.0 / 7 * g * std::sin(angle);  // after one second
  EXPECT_NEAR(X.R.col(0).dot(world.bodies[1].v), v, 1e-6);
  EXPECT_NEAR(world.bodies[1].w.norm(), v / 0.1, 1e-5);
}

TEST(Friction, BouncesToAQuarter) {
  RigidWorld world;
  world.restitution = 0.5;
  world.h = 1e-4;
  world.bodies = {fixed_body(HalfSpace{}, {}), ball_body(0.1, 1, Pose::translation({0, 0, 1.1}))};
  world.options.tolerance = 1e-12;
  double highest = 0;
  bool bounced = false;
  world.friction = 0;
  for (int i = 0; i < 8000; ++i) {
    world.step();
    bounced = bounced || world.bodies[1].v.z() > 0.1;
    if (bounced) highest = std::max(highest, world.bodies[1].X.p.z() - 0.1);
    if (bounced && world.bodies[1].v.z() < -0.1) break;
  }
  EXPECT_NEAR(highest, 0.25, 2e-3);  // a step of the fall is 0.4 mm
}

TEST(Friction, StackWithTheHeavyOnTop) {
  for (const double ratio : {0.01, 1.0, 100.0}) {
    RigidWorld world;
    world.bodies = {fixed_body(HalfSpace{}, {})};
    for (int i = 0; i < 5; ++i)
      world.bodies.push_back(
          box_body(Vec3(0.2, 0.2, 0.1), i == 4 ? ratio : 1, Pose::translation({0, 0, 0.1 + 0.2 * i})));
    double worst = 0;
    for (int i = 0; i < 300; ++i) {
      world.step();
      ASSERT_TRUE(world.report.converged) << ratio << " " << i << " " << world.report.residual;
      worst = std::max({worst, world.report.cone_violation, world.report.complementarity});
    }
    for (int i = 0; i < 5; ++i)
      EXPECT_NEAR((world.bodies[i + 1].X.p - Vec3(0, 0, 0.1 + 0.2 * i)).norm(), 0, 1e-6) << ratio << " " << i;
    EXPECT_LT(worst, 1e-8);
    RecordProperty("iterations", world.iterations);
    // The floor bears all of it.
    double floor = 0;
    for (std::size_t c = 0; c < world.rows.size(); ++c)
      if (world.rows[c].a == 0) floor += world.lambda[4 * c];
    EXPECT_NEAR(floor, (4 + ratio) * 10 * world.h, 1e-6 * (4 + ratio));
  }
}

TEST(Friction, BallHeldByTwoBlocks) {
  // μ 2 F ≥ m g: held with 20 % to spare; falls with 20 % too little, at g − 2 μ F / m.
  for (const double share : {1.2, 0.8}) {
    RigidWorld world;
    world.friction = 0.4;
    const double F = share * 10 / (2 * 0.4);
    world.bodies = {ball_body(0.1, 1, {}),
                    box_body(Vec3::Constant(0.1), 1e4, Pose::translation({-0.2, 0, 0})),
                    box_body(Vec3::Constant(0.1), 1e4, Pose::translation({0.2, 0, 0}))};
    world.bodies[1].inertia = world.bodies[2].inertia = Vec3::Constant(1e9);
    world.bodies[1].force = {F, 0, 1e5};  // borne; the blocks are very heavy and hardly move
    world.bodies[2].force = {-F, 0, 1e5};
    for (int i = 0; i < 200; ++i) {
      world.step();
      ASSERT_TRUE(world.report.converged) << i << " " << world.report.residual;
      ASSERT_LT(world.report.cone_violation, 1e-12);
    }
    const double fall = share > 1 ? 0 : 10 * (1 - share) * 0.2;
    EXPECT_NEAR(world.bodies[0].v.z(), -fall, 1e-3);
  }
}

// A light ball between heavy fingers, each touching it at several points that nearly say the same.
TEST(Friction, RedundantGraspConverges) {
  Random random;
  for (const double ratio : {1.0, 1e-4, 1e2, 1e3, 1e4})
    for (int k = 0; k < 20; ++k) {
      const int fingers = 3, each = 4, n = fingers * each;
      const double spreads[] = {0.05, 1e-3, 0};
      ContactMatrix W;
      make_dense(n, W);
      std::vector<Vec3> at, axes;
      for (int f = 0; f < fingers; ++f)
        for (int i = 0; i < each; ++i) {
          const double t = 2 * pi * f / fingers;
          const Vec3 p = Vec3(std::cos(t), std::sin(t), 0) + spreads[k % 3] * random.point(1);
          at.push_back(0.1 * p.normalized());
          const Mat3 R = math::rotation_from_z(-p.normalized());
          for (const int c : {2, 0, 1}) axes.push_back(R.col(c));
        }
      const double m = 0.1, inertia = 0.4 * m * 0.01;
      const auto row = [&](int r) {  // of the Jacobian of the ball; a finger's is its negative
        Vec6 j;
        j << at[r / 3].cross(axes[r]), axes[r];
        return j;
      };
      for (int r = 0; r < 3 * n; ++r)
        for (int c = 0; c < 3 * n; ++c) {
          const Vec6 a = row(r), b = row(c);
          double w = a.head<3>().dot(b.head<3>()) / inertia + a.tail<3>().dot(b.tail<3>()) / m;
          if (r / (3 * each) == c / (3 * each))
            w += (a.head<3>().dot(b.head<3>()) / inertia + a.tail<3>().dot(b.tail<3>()) / m) / ratio;
          dense_block(W, n, r / 3, c / 3)[4 * (c % 3) + r % 3] = w;
        }
      std::vector<double> free(4 * n), mu(n, 0.6), lambda(4 * n, 0.0);
      const Vec3 velocity(0, 0, -0.01);
      for (int c = 0; c < n; ++c) {
        const double t = 2 * pi * (c / each) / fingers;
        const Vec3 finger = -0.02 * Vec3(std::cos(t), std::sin(t), 0);  // presses
        for (int i = 0; i < 3; ++i) free[4 * c + i] = axes[3 * c + i].dot(velocity - finger);
      }
      FrictionSolver solver;
      FrictionOptions options;
      options.tolerance = 1e-9;
      const FrictionReport r = solver.solve({n, &W, free.data(), mu.data()}, options, lambda.data());
      EXPECT_TRUE(r.converged) << ratio << " " << k << " " << r.residual << " after " << r.iterations;
      EXPECT_LT(r.cone_violation, 1e-14);
      EXPECT_LT(r.complementarity, 1e-8);
    }
}

// The pyramid holds a sticking block like the cone and errs where both tangents slide: known, and as
// published.
TEST(Friction, PgsOnABlock) {
  RigidWorld world;
  world.options.method = FrictionMethod::pgs;
  const Pose X = incline(0.3);
  world.bodies = {fixed_body(HalfSpace{}, X),
                  box_body(Vec3(0.2, 0.2, 0.1), 2, X * Pose::translation({0, 0, 0.1}))};
  for (int i = 0; i < 500; ++i) world.step();
  EXPECT_NEAR((world.bodies[1].X.p - X * Vec3(0, 0, 0.1)).norm(), 0, 1e-4);
  EXPECT_EQ(world.report.iterations, 50);
}

TEST(Friction, RestitutionHasAThreshold) {
  EXPECT_EQ(with_restitution(-1.1, -1, 0.5, 0.05), -1.6);
  EXPECT_EQ(with_restitution(-0.1, -0.01, 0.5, 0.05), -0.1);
  EXPECT_EQ(with_restitution(0.3, 0.2, 0.5, 0.05), 0.3);
}

TEST(BroadPhase, FindsWhatBruteForceFinds) {
  Random random;
  BroadPhase broad;
  broad.resize(60);
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 60; ++i) {
      const Vec3 p = random.point(1);
      broad.box(i) = {p, p + Vec3::Constant(0.3)};
    }
    broad.box(17) = bounds({HalfSpace{}, {}});
    std::vector<std::pair<int, int>> wanted;
    for (int i = 0; i < 60; ++i)
      for (int k = i + 1; k < 60; ++k)
        if (overlap(broad.box(i), broad.box(k)) && (i + k) % 3 != 0) wanted.push_back({i, k});
    EXPECT_EQ(broad.pairs([](int i, int k) { return (i + k) % 3 != 0; }), wanted);
  }
}

TEST(ContactCache, FindsByFeatureThenByPlace) {
  ContactCache cache;
  ContactPoint p, q;
  p.feature = 1, p.on_b = Vec3(0, 0, 0);
  q.feature = 2, q.on_b = Vec3(1, 0, 0);
  cache.add(3, 4, p, Vec3(1, 0, 0));
  cache.add(3, 4, q, Vec3(2, 0, 0));
  cache.add(1, 4, p, Vec3(9, 0, 0));
  cache.turn();
  Manifold m;
  m.count = 3;
  m.points[0].feature = 7, m.points[0].on_b = Vec3(0.01, 0, 0);  // new name, old place
  m.points[1].feature = 2, m.points[1].on_b = Vec3(0.99, 0, 0);
  m.points[2].feature = 8, m.points[2].on_b = Vec3(5, 0, 0);
  Vec3 found[8];
  cache.match(3, 4, m, 0.1, found);
  EXPECT_EQ(found[0], Vec3(1, 0, 0));
  EXPECT_EQ(found[1], Vec3(2, 0, 0));
  EXPECT_EQ(found[2], Vec3(0, 0, 0));
  cache.turn();
  cache.match(3, 4, m, 0.1, found);
  EXPECT_EQ(found[0], Vec3(0, 0, 0));
}

}  // namespace
}  // namespace limber::contact
