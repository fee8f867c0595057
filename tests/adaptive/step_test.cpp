// Whole steps: the same bits however the coefficients came about, the asked error, settling, falling back.
#include <gtest/gtest.h>

#include <cmath>

#include "limber/adaptive/adaptive.h"
#include "limber/articulated/statics.h"
#include "tests/adaptive/linkages.h"
#include "tests/result/allocation_counter.h"

namespace limber::testing {
namespace {

Model loaded(Shape shape, int n, int forces, unsigned seed, double ratio = 1) {
  Random random(seed);
  ModelParts parts = linkage(random, shape, n, ratio).parts();
  for (int k = 0; k < forces; ++k) {
    PointLoad load;
    load.name = "force" + std::to_string(k);
    load.at.body = BodyId{forces == 1 ? n - 1 : random.integer(n)};
    load.at.p = Vec3(0.1, 0, 0);
    load.force = VectorFunction::constant(random.vector(1));
    load.follows = k % 3 == 1;
    parts.point_loads.push_back(std::move(load));
  }
  return Model(std::move(parts));
}

// A run by the assembly tree, with the coefficients forgotten now and then, saved and loaded, observed and
// asked for poses in between: the same bits as one that was left alone.
TEST(AdaptiveStep, DependsOnNothingButTheState) {
  adaptive::Options options;
  options.error = 1e-2;
  const auto system = adaptive::compile(loaded(Shape::polymer, 3000, 1, 5), options);
  adaptive::State alone = system.rest(), disturbed = system.rest();
  adaptive::Workspace w(system), v(system);
  result::Snapshot snapshot;
  bool tree = false;
  for (int step = 0; step < 60; ++step) {
    ASSERT_TRUE(adaptive::step(system, alone, w, 1e-2).ok());
    ASSERT_TRUE(adaptive::step(system, disturbed, v, 1e-2).ok());
    tree = tree || alone.tree;
    if (step % 7 == 0) v.forget();
    if (step % 11 == 0) disturbed.load(disturbed.save());
    if (step % 5 == 0) adaptive::observe(system, disturbed, v, snapshot);
    if (step % 3 == 0) adaptive::body_pose(system, disturbed, v, BodyId{step * 17});
    ASSERT_EQ(alone.save(), disturbed.save()) << step;
  }
  EXPECT_TRUE(tree);
}

TEST(AdaptiveStep, PosesOfSingleBodiesAreThoseOfAll) {
  adaptive::Options options;
  options.error = 1e-3;
  const auto system = adaptive::compile(loaded(Shape::polymer, 3000, 1, 9), options);
  adaptive::State state = system.rest();
  adaptive::Workspace w(system);
  result::Snapshot snapshot;
  for (int step = 0; step < 5; ++step) ASSERT_TRUE(adaptive::step(system, state, w, 1e-2).ok());
  adaptive::observe(system, state, w, snapshot);
  for (int body = 0; body < 3000; body += 97) {
    const Pose X = adaptive::body_pose(system, state, w, BodyId{body});
    EXPECT_LE((X.p - snapshot.positions[body]).norm(), 1e-10)
        << body;  // of 100 m: rounding along 3,000 joints
  }
}

// Of a step's accelerations against the full solution in the same state, in the measure.
double error_of(const Case& c, adaptive::Measure measure, const adaptive::State& state, const VecX& exact) {
  double worst = 0, largest = 0;
  const VecX left = exact - Eigen::Map<const VecX>(state.a.data(), exact.size());
  for (const auto& link : c.tree.links()) {
    worst = std::max(worst, left.segment(link.v, link.dofs).norm());
    largest = std::max(largest, exact.segment(link.v, link.dofs).norm());
  }
  switch (measure) {
    case adaptive::Measure::relative_joint:
      return worst / largest;
    case adaptive::Measure::absolute_joint:
      return worst;
    case adaptive::Measure::relative_linkage:
      return left.norm() / exact.norm();
    default:
      return left.norm();
  }
}

// Random linkages of all shapes and of all kinds of joints, with masses of one and up to a million, forces,
// thresholds and measures: three steps each, by the tree wherever rounding lets it.
TEST(AdaptiveStep, NeverExceedsTheAskedError) {
  int by_tree = 0, by_pass = 0;
  for (unsigned seed = 0; seed < tries(150, 5000); ++seed) {
    Random random(1000 + seed);
    const int n = 2 + random.integer(seed % 25 == 0 ? 2000 : 150);
    const double ratio = std::pow(10.0, random.uniform(0, 6));
    Model model = loaded(static_cast<Shape>(random.integer(6)), n, 1 + random.integer(5), seed, ratio);
    if (seed % 5 == 0) {
      ModelParts parts = random_tree(random, std::min(n, 60), 1 + random.integer(10), 7);
      parts.point_loads = model.parts().point_loads;
      for (PointLoad& load : parts.point_loads)
        load.at.body = BodyId{random.integer(static_cast<int>(parts.bodies.size()))};
      model = Model(std::move(parts));
    }
    Case c(model);
    c.stand(model, std::vector<double>(c.q.data(), c.q.data() + c.q.size()));
    const VecX first = c.oracle();
    if (first.size() == 0 || first.norm() == 0) continue;
    for (const auto measure : adaptive::all_measures) {
      adaptive::Options options;
      options.measure = measure;
      options.weights = adaptive::all_weights[seed % 3];  // at least 1: they only make it stricter
      options.fallback = false;
      options.error = std::pow(2.0, -random.uniform(0, 26));
      if (measure == adaptive::Measure::absolute_joint) options.error *= first.cwiseAbs().maxCoeff();
      if (measure == adaptive::Measure::absolute_linkage) options.error *= first.norm();
      const auto system = adaptive::compile(model, options);
      adaptive::State state = system.rest();
      adaptive::Workspace w(system);
      for (int step = 0; step < 3; ++step) {
        c.stand(model, state.q);
        const VecX exact = c.oracle();
        ASSERT_TRUE(adaptive::step(system, state, w, 1e-3).ok());
        const double error = error_of(c, measure, state, exact);
        EXPECT_LE(error, options.error) << seed << " ratio " << ratio << " " << to_string(measure);
        // What is left out is counted by its size, of which the pass knows only 1e-6 at these masses; a step
        // by the pass has the bits of the oracle, which is the same algorithm.
        EXPECT_LE(error, state.tree ? state.bound * (1 + 1e-6) : 0) << seed << " ratio " << ratio;
        ++(state.tree ? by_tree : by_pass);
      }
    }
  }
  EXPECT_GT(by_tree, by_pass);
  EXPECT_GT(by_pass, 0);
  RecordProperty("by_tree", by_tree);
  RecordProperty("by_pass", by_pass);
}

// 50,000 links in a straight row, of equal masses and of masses of one and a million.
TEST(AdaptiveStep, NeverExceedsTheAskedErrorOnALongStraightChain) {
  for (const double ratio : {1.0, 1e6}) {
    const Model model = loaded(Shape::straight, 50000, 1, 3, ratio);
    Case c(model);
    for (unsigned k = 0; k < tries(1, 4); ++k) {
      const auto measure = adaptive::all_measures[k];
      adaptive::Options options;
      options.measure = measure;
      options.weights = adaptive::Weights::none;
      options.error = std::ldexp(1, -19);
      const auto system = adaptive::compile(model, options);
      adaptive::State state = system.rest();
      adaptive::Workspace w(system);
      for (int step = 0; step < 3; ++step) {
        c.stand(model, state.q);
        const VecX exact = c.oracle();
        ASSERT_TRUE(adaptive::step(system, state, w, 1e-3).ok());
        EXPECT_LE(error_of(c, measure, state, exact), options.error) << ratio << " " << to_string(measure);
        EXPECT_LE(state.bound, options.error);
      }
    }
  }
}

// Masses of one and a million cost the tree ten digits of its accelerations. An error that is asked for below
// that is not missed silently: the exact pass computes the step, says so, and has no error to report, whether
// a fallback for speed is wanted or not. Above it the tree does the work.
TEST(AdaptiveStep, AnErrorBelowTheRoundingIsComputedExactly) {
  const Model model = loaded(Shape::polymer, 500, 1, 4, 1e6);
  Case c(model);
  for (const bool fallback : {false, true})
    for (const double error : {1e-12, 0.1}) {
      adaptive::Options options;
      options.error = error;
      options.weights = adaptive::Weights::none;
      options.fallback = fallback;
      const auto system = adaptive::compile(model, options);
      adaptive::State state = system.rest();
      adaptive::Workspace w(system);
      for (int step = 0; step < 5; ++step) {
        c.stand(model, state.q);
        const VecX exact = c.oracle();
        ASSERT_TRUE(adaptive::step(system, state, w, 1e-3).ok());
        EXPECT_TRUE(fallback || state.accuracy > 1e-12);  // measured
        if (error > 1e-6) {
          EXPECT_LE(state.bound, error);
          EXPECT_TRUE(fallback || state.tree);
          continue;
        }
        EXPECT_EQ(state.tree, 0);
        EXPECT_EQ(state.bound, 0);
        EXPECT_EQ(state.active, 500);
        EXPECT_TRUE(exact == Eigen::Map<const VecX>(state.a.data(), exact.size()));
        result::Snapshot snapshot;
        adaptive::observe(system, state, w, snapshot);
        const auto& names = system.layout().scalars;
        const auto at = std::find_if(names.begin(), names.end(),
                                     [](const auto& s) { return s.name == "adaptive.by_pass"; });
        EXPECT_EQ(snapshot.scalars[static_cast<std::size_t>(at - names.begin())], 1);
      }
    }
}

// At every step of a run, for every measure, also with masses of one and a million: what was taken for being
// at rest stays within the asked error of the full solution in the same state.
TEST(AdaptiveStep, KeepsTheAskedErrorOnTheWay) {
  for (const double ratio : {1.0, 1e6})
    for (const auto measure : adaptive::all_measures)
      for (const Shape shape : {Shape::chain, Shape::polymer, Shape::caterpillar}) {
        adaptive::Options options;
        options.measure = measure;
        options.weights = adaptive::Weights::none;
        options.error = 1e-5;
        const Model model = loaded(shape, 2000, 1, 3, ratio);
        const auto system = adaptive::compile(model, options);
        adaptive::State state = system.rest();
        adaptive::Workspace w(system);
        Case c(model);
        for (int step = 0; step < 12; ++step) {
          c.stand(model, state.q);
          const VecX exact = c.oracle();
          ASSERT_TRUE(adaptive::step(system, state, w, 1e-3).ok());
          EXPECT_LE(error_of(c, measure, state, exact), options.error)
              << static_cast<int>(shape) << " " << ratio << " " << to_string(measure);
          EXPECT_LE(state.bound, options.error);
        }
      }
}

// With weights for reach, displacements keep the asked error too, and at fewer joints than it takes without.
TEST(AdaptiveStep, WeightsForReachBoundDisplacements) {
  const Model model = loaded(Shape::polymer, 10000, 1, 8);
  const auto run = [&](adaptive::Weights weights, double error) {
    adaptive::Options options;
    options.weights = weights;
    options.error = error;
    const auto system = adaptive::compile(model, options);
    adaptive::State state = system.rest();
    adaptive::Workspace w(system);
    double joints = 0;
    for (int step = 0; step < 20; ++step) {
      EXPECT_TRUE(adaptive::step(system, state, w, 1e-3).ok());
      joints += state.active / 20;
    }
    result::Snapshot snapshot;
    adaptive::observe(system, state, w, snapshot);
    return std::pair{joints, snapshot.positions};
  };
  const auto exact = run(adaptive::Weights::none, 0).second;
  const std::vector<Pose> start = model.initial_poses();
  double moved = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) moved = std::max(moved, (exact[i] - start[i].p).norm());
  const auto error_of = [&](const std::vector<Vec3>& at) {
    double worst = 0;
    for (std::size_t i = 0; i < at.size(); ++i) worst = std::max(worst, (at[i] - exact[i]).norm());
    return worst / moved;
  };
  const double asked = std::ldexp(1, -15);
  const auto [joints, by_reach] = run(adaptive::Weights::reach, asked);
  EXPECT_LE(error_of(by_reach), asked);
  const auto [same, plain] = run(adaptive::Weights::none, asked);
  EXPECT_GT(error_of(plain), asked);
  const auto [more, finer] = run(adaptive::Weights::none, asked / 1024);
  EXPECT_TRUE(error_of(finer) > error_of(by_reach) || more > joints)
      << more << " joints " << error_of(finer) << " against " << joints << " " << error_of(by_reach);
}

// One sprung link in gravity: k q = m g l cos q.
TEST(AdaptiveStep, SettlesWhereTheMomentsBalance) {
  ModelBuilder b;
  Body body;
  body.name = "arm";
  body.inertia = Inertia::about_com(2, {0.3, 0, 0}, Vec3(1e-3, 2e-2, 2e-2).asDiagonal());
  Joint joint;
  joint.name = "hinge";
  joint.kind = JointKind::revolute;
  joint.child = b.add(std::move(body));
  joint.X_PF.R = joint.X_BM.R = math::rotation_x(pi / 2);  // about −y: gravity turns it in the positive sense
  joint.law.stiffness = dofs(8);
  b.add(std::move(joint));
  b.parts.gravity = VectorFunction::constant({0, 0, -9.81});
  for (const double h : {0.05, 1.0, 100.0}) {  // from small steps to Newton's
    const auto system = adaptive::compile(std::as_const(b).build());
    adaptive::State state = system.rest();
    adaptive::Workspace w(system);
    int steps = 0;
    while (state.settled_at < 0 && ++steps < 20000) ASSERT_TRUE(adaptive::step(system, state, w, h).ok());
    ASSERT_GE(state.settled_at, 0) << h;
    const double q = state.q[0];
    EXPECT_NEAR(8 * q, -2 * 9.81 * 0.3 * std::cos(q), 1e-7) << h;  // 1e-9 of the first torque, 6 N·m
  }
}

// A sprung branched structure under weight and a tip load: the same rest as the statics of `articulated`.
TEST(AdaptiveStep, SettlesWhereArticulatedRests) {
  Random random(21);
  ModelParts parts = linkage(random, Shape::polymer, 60).parts();
  parts.gravity = VectorFunction::constant({0, 0, -9.81});
  for (Joint& j : parts.joints) j.law.stiffness = dofs(300);
  PointLoad load;
  load.name = "pull";
  load.at.body = BodyId{59};
  load.force = VectorFunction::constant({5, -3, 2});
  parts.point_loads.push_back(load);
  const Model model(std::move(parts));
  adaptive::Options options;
  options.error = 1e-7;
  options.fallback = false;
  const auto system = adaptive::compile(model, options);
  adaptive::State state = system.rest();
  adaptive::Workspace w(system);
  for (int step = 0; step < 3000 && state.settled_at < 0; ++step)
    ASSERT_TRUE(adaptive::step(system, state, w, 1.0).ok());
  ASSERT_GE(state.settled_at, 0) << state.largest << " of " << state.largest_ever;
  const auto other = articulated::compile(model);
  articulated::State rest = other.rest();
  articulated::Workspace v(other);
  ASSERT_TRUE(articulated::solve_static(other, rest, v).report.ok());
  for (std::size_t k = 0; k < state.q.size(); ++k) EXPECT_NEAR(state.q[k], rest.q[k], 1e-6) << k;
}

// Many joints move: the articulated-body pass does it, and the tree is tried again when few do.
TEST(AdaptiveStep, FallsBackAndReturns) {
  Random random(31);
  ModelParts parts = linkage(random, Shape::polymer, 3000).parts();
  for (int k = 0; k < 3000; k += 3) {  // a thousand forces that fade, and one that stays
    PointLoad load;
    load.name = "force" + std::to_string(k);
    load.at.body = BodyId{k};
    const double x = random.uniform(-1, 1);
    for (auto& f : load.force.c)
      f = k == 0 ? TimeFunction(x) : TimeFunction::table({0, 0.095, 0.0951}, {x, x, 0});
    parts.point_loads.push_back(std::move(load));
  }
  adaptive::Options options;
  options.weights = adaptive::Weights::none;
  options.error = 1e-3;
  const auto system = adaptive::compile(Model(std::move(parts)), options);
  adaptive::State state = system.rest();
  adaptive::Workspace w(system);
  for (int step = 0; step < 90; ++step) {
    ASSERT_TRUE(adaptive::step(system, state, w, 1e-3).ok());
    state.t = (step + 1) * 1e-3;
    EXPECT_EQ(state.tree, 0);
  }
  for (int step = 90; step < 400 && !state.tree; ++step) {
    ASSERT_TRUE(adaptive::step(system, state, w, 1e-3).ok());
    state.t = (step + 1) * 1e-3;
  }
  EXPECT_EQ(state.tree, 1);
}

TEST(AdaptiveStep, ABudgetStopsEarlyAndSaysWhatItReached) {
  adaptive::Options options;
  options.error = 0;
  options.budget = 1e-9;
  const auto system = adaptive::compile(loaded(Shape::polymer, 2000, 5, 6), options);
  adaptive::State state = system.rest();
  adaptive::Workspace w(system);
  ASSERT_TRUE(adaptive::step(system, state, w, 1e-3).ok());
  EXPECT_LE(state.active, 8);  // the clock is read every eighth joint
  EXPECT_GT(state.bound, 0);
}

TEST(AdaptiveStep, AllocatesNothingAfterTheFirstOnes) {
  adaptive::Options options;
  options.error = 1e-2;
  const auto system = adaptive::compile(loaded(Shape::polymer, 3000, 1, 5), options);
  adaptive::State state = system.rest();
  adaptive::Workspace w(system);
  for (int step = 0; step < 30; ++step) ASSERT_TRUE(adaptive::step(system, state, w, 1e-2).ok());
  EXPECT_EQ(state.tree, 1);
  const auto before = allocation_count();
  for (int step = 0; step < 30; ++step) adaptive::step(system, state, w, 1e-2);
  EXPECT_EQ(allocation_count(), before) << allocation_count() - before;
}

// What the method cannot run is refused, by name.
TEST(AdaptiveStep, RefusesWhatItHasNoEquationFor) {
  Random random(1);
  ModelParts parts = linkage(random, Shape::chain, 3).parts();
  Spring spring;
  spring.name = "tie";
  spring.a.body = BodyId{0};
  spring.b.body = BodyId{2};
  spring.stiffness = 1;
  for (int k = 0; k < 201; ++k) parts.springs.push_back(spring);
  for (int k = 0; k < 201; ++k) parts.springs[k].name += std::to_string(k);
  parts.joints[1].law.upper = dofs(1);
  try {
    adaptive::compile(Model(std::move(parts)));
    FAIL();
  } catch (const ModelError& e) {
    ASSERT_EQ(e.problems().size(), 2u);
    EXPECT_EQ(e.problems()[0].name, "joint1");
    EXPECT_EQ(e.problems()[1].name, "tie200");
  }
}

}  // namespace
}  // namespace limber::testing
