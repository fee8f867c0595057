// Springs between bodies and closed loops, against the implicit step and the statics of `articulated`, which
// eliminates bodies one by one and knows nothing of assembly trees.
#include <gtest/gtest.h>

#include <cmath>

#include "limber/adaptive/adaptive.h"
#include "limber/adaptive/live.h"
#include "limber/articulated/statics.h"
#include "limber/math/so3.h"
#include "limber/multibody/kinematics.h"
#include "tests/adaptive/linkages.h"

namespace limber::testing {
namespace {

ModelParts sprung(unsigned seed, int n, Shape shape, double stiffness) {
  Random random(seed);
  ModelParts parts = linkage(random, shape, n).parts();
  parts.gravity = VectorFunction::constant({0, 1, -9.81});
  for (Joint& j : parts.joints) j.law.stiffness = dofs(stiffness);
  PointLoad load;
  load.name = "pull";
  load.at.body = BodyId{n - 1};
  load.force = VectorFunction::constant({5, -3, 2});
  parts.point_loads.push_back(load);
  return parts;
}

// Ties to other bodies and to the world: stretched, slack, damped, of no rest length, on one body.
void add_springs(ModelParts& parts, Random& random, int count) {
  const int n = static_cast<int>(parts.bodies.size());
  for (int k = 0; k < count; ++k) {
    Spring spring;
    spring.name = "spring" + std::to_string(k);
    spring.a.body = BodyId{random.integer(n)};
    spring.b.body = BodyId{k % 3 == 0 ? -1 : random.integer(n)};
    spring.a.p = random.vector(0.1);
    spring.b.p = random.vector(k % 3 == 0 ? 1 : 0.1);
    spring.stiffness = std::pow(10.0, random.uniform(0, 4));
    spring.damping = k % 4 == 1 ? 3 : 0;
    spring.rest_length = k % 5 == 2 ? 0 : k % 5 == 3 || k % 7 == 4 ? 0.05 : -1;
    spring.tension_only = k % 7 == 4;
    parts.springs.push_back(spring);
  }
}

// Closes a loop of the kind between two bodies where they stand: at b's origin.
Loop loop_between(const ModelParts& parts, int a, int b, JointKind kind, const std::string& name) {
  const std::vector<Pose> X = Model(parts).initial_poses();
  Loop loop;
  loop.name = name;
  loop.kind = kind;
  loop.a = BodyId{a};
  loop.b = BodyId{b};
  loop.X_AF = a < 0 ? X[b] : X[a].inverse() * X[b];
  return loop;
}

// The accelerations of a step from rest: articulated's linearly implicit Euler step solves the same system.
VecX by_articulated(const Model& model, double h) {
  articulated::Options options;
  options.integrator = articulated::Integrator::euler;
  const auto system = articulated::compile(model, options);
  articulated::State state = system.rest();
  articulated::Workspace w(system);
  const auto report = articulated::step(system, state, w, h);
  EXPECT_TRUE(report.ok()) << report.message;
  EXPECT_EQ(report.substeps, 0);
  return Eigen::Map<const VecX>(state.v.data(), static_cast<Eigen::Index>(state.v.size())) / h;
}

VecX by_tree(const Model& model, double h, double error = 0) {
  adaptive::Options options;
  options.error = error;
  options.weights = adaptive::Weights::none;
  const auto system = adaptive::compile(model, options);
  adaptive::State state = system.rest();
  adaptive::Workspace w(system);
  const auto report = adaptive::step(system, state, w, h);
  EXPECT_TRUE(report.ok()) << report.message;
  EXPECT_LE(state.bound, std::max(error, 1e-9));
  return Eigen::Map<const VecX>(state.a.data(), static_cast<Eigen::Index>(state.a.size()));
}

TEST(AdaptiveTies, SpringsActAsInAnImplicitStep) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    Random random(seed);
    ModelParts parts = sprung(seed, 40, static_cast<Shape>(seed % 5), seed % 2 ? 20 : 0);
    add_springs(parts, random, 1 + static_cast<int>(seed));
    const Model model(std::move(parts));
    for (const double h : {1e-4, 1e-3}) {  // short enough that articulated takes it as one step
      const VecX a = by_tree(model, h), expected = by_articulated(model, h);
      EXPECT_LE((a - expected).norm(), 1e-8 * expected.norm()) << seed << " " << h;
    }
  }
}

// Loops that are closed stay closed: accelerations along them, against articulated's at a small step (its
// loops end closed at the end of the step, ours to first order: they differ by O(h²)).
TEST(AdaptiveTies, LoopsActAsInAnImplicitStep) {
  for (const JointKind kind : {JointKind::spherical, JointKind::revolute, JointKind::universal,
                               JointKind::prismatic, JointKind::planar, JointKind::fixed}) {
    ModelParts parts = sprung(7, 30, Shape::polymer, 0);
    parts.loops.push_back(loop_between(parts, 12, 29, kind, "inner"));
    parts.loops.push_back(loop_between(parts, -1, 20, JointKind::spherical, "ground"));
    if (kind == JointKind::revolute) parts.loops[0].law.stiffness = dofs(50);
    if (kind == JointKind::revolute) parts.loops[0].law.rest = dofs(0.3);
    const Model model(std::move(parts));
    const VecX a = by_tree(model, 1e-5), expected = by_articulated(model, 1e-5);
    EXPECT_LE((a - expected).norm(), 1e-5 * expected.norm()) << static_cast<int>(kind);
  }
}

// Springs and loops, in space and in a plane (where rows of a revolute loop hang on each other), at the rest
// that articulated's statics finds.
TEST(AdaptiveTies, SettleWhereArticulatedRests) {
  for (const bool planar : {false, true}) {
    ModelParts parts = sprung(5, 30, planar ? Shape::straight : Shape::polymer, 200);
    Random random(3);
    if (planar) {
      parts.gravity = VectorFunction::constant({0, -9.81, 0});
      parts.point_loads[0].force = VectorFunction::constant({-8, 3, 0});
      for (Joint& j : parts.joints) j.position[0] = 0.1;  // an arch: a straight row could not sag
      parts.loops.push_back(loop_between(parts, -1, 25, JointKind::revolute, "pin"));
    } else {
      add_springs(parts, random, 6);
      parts.loops.push_back(loop_between(parts, 10, 29, JointKind::spherical, "inner"));
      parts.loops.push_back(loop_between(parts, -1, 20, JointKind::spherical, "ground"));
    }
    const Model model(std::move(parts));
    adaptive::Options options;
    options.error = 1e-7;
    const auto system = adaptive::compile(model, options);
    adaptive::State state = system.rest();
    adaptive::Workspace w(system);
    result::SolveReport report;
    for (int step = 0; step < 5000 && state.settled_at < 0; ++step) {
      report = adaptive::step(system, state, w, 0.3);
      ASSERT_TRUE(report.ok()) << report.message;
    }
    ASSERT_GE(state.settled_at, 0) << state.largest << " of " << state.largest_ever;
    EXPECT_EQ(report.redundant_rows, planar ? 3 : 0);
    EXPECT_LE(state.gap, 1e-9);
    const auto other = articulated::compile(model);
    articulated::State rest = other.rest();
    articulated::Workspace v(other);
    ASSERT_TRUE(articulated::solve_static(other, rest, v).report.ok());
    for (std::size_t k = 0; k < state.q.size(); ++k) EXPECT_NEAR(state.q[k], rest.q[k], 1e-6) << k;
    result::Snapshot mine, others;
    adaptive::observe(system, state, w, mine);
    articulated::observe(other, rest, v, others);
    const auto energy = [](const auto& s, const result::Snapshot& shot) {
      for (std::size_t k = 0; k < shot.scalars.size(); ++k)
        if (s.layout().scalars[k].name == "energy.elastic") return shot.scalars[k];
      return -1.0;
    };
    EXPECT_NEAR(energy(system, mine), energy(other, others), 1e-5);
    EXPECT_EQ(mine.points.size(), others.points.size());
  }
}

// A long polymer with ties: only some joints move, within the asked error of all of them; the lazy update has
// the bits of a rebuild.
TEST(AdaptiveTies, KeepTheAskedErrorAndTheBits) {
  ModelParts parts = sprung(9, 3000, Shape::polymer, 0);
  parts.gravity = {};
  Random random(4);
  add_springs(parts, random, 4);
  parts.loops.push_back(loop_between(parts, 2500, 2999, JointKind::spherical, "inner"));
  const Model model(std::move(parts));
  const VecX exact = by_tree(model, 1e-3), some = by_tree(model, 1e-3, 1e-4);
  EXPECT_LE((some - exact).cwiseAbs().maxCoeff(), 1e-4 * exact.cwiseAbs().maxCoeff());
  EXPECT_GT((some.array() == 0).count(), 1500);
  adaptive::Options options;
  options.error = 1e-3;
  const auto system = adaptive::compile(model, options);
  adaptive::State alone = system.rest(), disturbed = system.rest();
  adaptive::Workspace w(system), v(system);
  for (int step = 0; step < 30; ++step) {
    ASSERT_TRUE(adaptive::step(system, alone, w, 1e-3).ok());
    ASSERT_TRUE(adaptive::step(system, disturbed, v, 1e-3).ok());
    if (step % 7 == 0) v.forget();
    if (step % 11 == 0) disturbed.load(disturbed.save());
    if (step % 5 == 0) adaptive::body_pose(system, disturbed, v, BodyId{step * 17});
    ASSERT_EQ(alone.save(), disturbed.save()) << step;
  }
}

// There is no exact pass to fall back to: an error below the rounding is refused, with what can be had.
TEST(AdaptiveTies, RefuseAnErrorBelowTheRounding) {
  Random random(2);
  ModelParts parts = linkage(random, Shape::polymer, 300, 1e6).parts();
  PointLoad load;
  load.name = "pull";
  load.at.body = BodyId{299};
  load.force = VectorFunction::constant({5, -3, 2});
  parts.point_loads.push_back(load);
  add_springs(parts, random, 2);
  adaptive::Options options;
  options.error = 1e-13;
  const auto system = adaptive::compile(Model(std::move(parts)), options);
  adaptive::State state = system.rest();
  adaptive::Workspace w(system);
  const auto report = adaptive::step(system, state, w, 1e-3);
  EXPECT_EQ(report.status, result::Status::not_converged);
  EXPECT_NE(report.message.find("rounding alone"), std::string::npos) << report.message;
  EXPECT_EQ(state.step, 0);
}

// A hand at the end of a chain of sprung joints, in the plane: at rest every joint's spring has the moment of
// the hand's force, and let go the chain is straight again. The layout stays what it was.
TEST(Hand, BalancesTheSpringsOfAChain) {
  Random random(5);
  ModelParts parts = linkage(random, Shape::chain, 12).parts();
  parts.gravity = VectorFunction::constant({0, 0, 0});
  for (Joint& j : parts.joints) j.law.stiffness = dofs(3), j.position = {}, j.law.rest = {};
  const Model model(std::move(parts));
  for (const bool fallback : {false, true}) {
    adaptive::Options options;
    options.error = 1e-9;
    options.fallback = fallback;
    adaptive::System system = adaptive::compile(model, options);
    adaptive::State state = system.rest();
    adaptive::Workspace workspace(system);
    result::Snapshot at;
    adaptive::observe(system, state, workspace, at);
    const std::size_t points = at.points.size(), scalars = at.scalars.size();
    const Vec3 tip = at.positions.back() + math::to_matrix(at.rotations.back()) * Vec3(0.1, 0, 0);
    result::Hand handle;
    handle.index = static_cast<int>(model.bodies().size()) - 1;
    handle.p = {0.1, 0, 0};
    handle.stiffness = 40;
    handle.damping = 0.1;
    handle.target = tip;
    ASSERT_TRUE(adaptive::hold(system, state, workspace, handle));
    const auto settle = [&] {
      for (int k = 0; k < 1000; ++k) {  // of 1 s: inertia hardly matters, and steps are nearly Newton's
        ASSERT_TRUE(adaptive::step(system, state, workspace, 1).ok());
        state.t = static_cast<double>(++state.step);
      }
      adaptive::observe(system, state, workspace, at);
    };
    handle.target = tip + Vec3(0.1, 0.15, -0.2);
    ASSERT_TRUE(adaptive::hold(system, state, workspace, handle));
    settle();
    EXPECT_EQ(at.points.size(), points);
    EXPECT_EQ(at.scalars.size(), scalars);
    const result::Pull pull = adaptive::pull(system, state, workspace);
    EXPECT_GT(pull.force.norm(), 0.1);
    EXPECT_LT((pull.point - (at.positions.back() + math::to_matrix(at.rotations.back()) * handle.p)).norm(),
              1e-12);
    // Joint by joint: spring moment against that of the force about the joint's axis, by the bodies' poses.
    const multibody::Tree tree(system.model());
    std::vector<multibody::LinkMotion> links(tree.size());
    const std::vector<double> still(tree.v_count(), 0.0);
    multibody::kinematics(tree, state.q.data(), still.data(), links);
    double largest = 0;
    for (int i = 0; i < tree.size(); ++i) {
      const multibody::Link& link = tree[i];
      const multibody::Subspace S = multibody::motion_subspace(link, state.q.data() + link.q);
      const Pose& X = links[i].X_WM;
      Vec6 force;
      force << X.R.transpose() * (pull.point - X.p).cross(pull.force), X.R.transpose() * pull.force;
      if (link.dofs != 1) continue;
      const double moment = S.col(0).dot(force), spring = 3 * state.q[link.q];
      largest = std::max(largest, std::abs(spring));
      EXPECT_NEAR(spring, moment, 1e-6) << "joint " << i;
    }
    EXPECT_GT(largest, 0.05);
    adaptive::release(system, state, workspace);
    EXPECT_EQ(adaptive::pull(system, state, workspace).force.norm(), 0);
    settle();
    for (const double q : state.q) EXPECT_NEAR(q, 0, 1e-6);
  }
}

TEST(Hand, CannotHoldWhatDoesNotMove) {
  Random random(6);
  const Model model = linkage(random, Shape::chain, 5);
  adaptive::System system = adaptive::compile(model, {});
  adaptive::State state = system.rest();
  adaptive::Workspace workspace(system);
  result::Hand handle;
  handle.index = 99;
  EXPECT_FALSE(adaptive::hold(system, state, workspace, handle));
  handle.on = result::Hand::On::point;
  handle.index = 0;
  EXPECT_FALSE(adaptive::hold(system, state, workspace, handle));
}

}  // namespace
}  // namespace limber::testing
