// Equilibria against the solved problems of tests/data/C_*.json (other methods, other coordinates), and the
// exact tangent against finite differences.
#include "limber/articulated/statics.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "limber/articulated/tangent.h"
#include "limber/math/so3.h"
#include "limber/multibody/dense_solver.h"
#include "tests/support/mechanism_file.h"
#include "tests/support/random_tree.h"
#include "tests/support/reference.h"

namespace limber::articulated {
namespace {

using limber::testing::Json;
using limber::testing::mechanism_of;
using limber::testing::Random;
using limber::testing::vec3;

class Mechanism : public ::testing::TestWithParam<const char*> {};

// The files' own uncertainty is 1e-9; 1e-8 is asked.
TEST_P(Mechanism, PoseUnderLoad) {
  const Json file = limber::testing::reference(GetParam());
  const Model model = mechanism_of(file);
  const System system = compile(model);
  State state = system.rest();
  Workspace w(system);
  const StaticResult r = solve_static(system, state, w);
  ASSERT_TRUE(r.report.ok()) << r.report.message;
  EXPECT_EQ(r.negative, 0);
  result::Snapshot at;
  observe(system, state, w, at);
  const Json& expected = file["static_case"];
  const Vec3 end(at.scalars[0], at.scalars[1], at.scalars[2]);
  EXPECT_LT((end - vec3(expected["ee_position"])).norm(), 1e-8);
  for (std::size_t i = 0; i < expected["body_rotation_matrices"].size(); ++i) {
    const std::string name = "b" + std::to_string(i + 1);
    const auto body = std::find_if(model.bodies().begin(), model.bodies().end(),
                                   [&](const Body& x) { return x.name == name; });
    const auto k = body - model.bodies().begin();
    Mat3 R;
    for (int c = 0; c < 3; ++c) R.row(c) = vec3(expected["body_rotation_matrices"][i][c]).transpose();
    EXPECT_LT((math::to_matrix(at.rotations[k]) - R).norm(), 1e-8) << name;
    EXPECT_LT((at.positions[k] - vec3(expected["body_translations"][i])).norm(), 1e-8) << name;
  }
  EXPECT_LT(r.gap, 1e-11);
}
INSTANTIATE_TEST_SUITE_P(C, Mechanism,
                         ::testing::Values("C_serial_chain_7R", "C_Y_split", "C_closed_loop_4bar",
                                           "C_ladder_6_rungs_pinned_stack"));

// −∂τ/∂q by central differences of the reduced forces, symmetric part, against the assembled tangent.
void check_tangent(const ModelParts& parts, unsigned seed) {
  const System system = compile(Model(parts));
  const SystemData& s = system.data();
  if (s.tree.v_count() == 0) return;
  const State state = system.rest();
  Workspace workspace(system);
  WorkspaceData& w = workspace.data();
  const multibody::Pattern pattern = static_pattern(s);
  multibody::BlockSystem K(s.tree, pattern);
  multibody::BlockRhs rhs(K);
  std::vector<LoopState> loops;
  const auto force = [&](const VecX& shift) {
    std::vector<double> q(state.q.size());
    multibody::integrate(s.tree, state.q.data(), shift.data(), 1, q.data());
    assemble_tangent(s, q.data(), 0, {}, 0, 0, w, loops, K, rhs);
    VecX f(s.tree.v_count());
    multibody::jacobian_transpose_times(K, rhs.wrench.data(), f.data());
    return VecX(f + Eigen::Map<const VecX>(rhs.tau.data(), f.size()));
  };
  const int v = s.tree.v_count();
  MatX numeric(v, v);
  const double eps = 1e-5;
  for (int k = 0; k < v; ++k)
    numeric.col(k) = -(force(eps * VecX::Unit(v, k)) - force(-eps * VecX::Unit(v, k))) / (2 * eps);
  force(VecX::Zero(v));
  const MatX exact = multibody::assemble_dense(K).H;
  const MatX symmetric = 0.5 * (numeric + numeric.transpose());
  // Central differences: eps² times third derivatives, and rounding 1e-16 / eps of the forces.
  EXPECT_LT((exact - symmetric).norm(), 1e-7 * (1 + symmetric.norm())) << "seed " << seed;
}

ModelParts drawn_parts(Random& random) {
  const int n = 2 + random.integer(8);
  ModelParts parts = limber::testing::random_tree(random, n, 3);
  parts.gravity = VectorFunction::constant(random.vector(10));
  for (Joint& j : parts.joints) {
    for (int k = 0; k < 6; ++k)
      j.law.stiffness[k] = random.uniform(0, 5), j.law.rest[k] = random.uniform(-0.3, 0.3);
    for (int k = 0; k < 6; ++k) j.position[k] = random.uniform(-0.6, 0.6);
  }
  const auto place = [&] { return Attachment{BodyId{random.integer(n)}, {}, 0, random.vector(0.4)}; };
  for (int k = 0; k < 3; ++k) {
    Spring spring;
    spring.name = "s" + std::to_string(k);
    spring.a = place();
    spring.b = k == 0 ? Attachment{world, {}, 0, random.vector(1)} : place();
    spring.stiffness = random.uniform(1, 50);
    spring.rest_length = random.uniform(0.1, 0.5);
    if (!(spring.a.body == spring.b.body)) parts.springs.push_back(spring);
    PointLoad load;
    load.name = "l" + std::to_string(k);
    load.at = place();
    load.force = VectorFunction::constant(random.vector(5));
    load.follows = k == 2;
    parts.point_loads.push_back(load);
  }
  return parts;
}

TEST(Tangent, AgreesWithFiniteDifferences) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    Random random(seed);
    check_tangent(drawn_parts(random), seed);
  }
}

// Springs of joints and between bodies by laws, preloads, and bushings far from where they are at ease.
TEST(Tangent, OfLawsAndBushingsAgreesWithFiniteDifferences) {
  math::Program sinh;
  sinh.push_variable(0), sinh.push(math::Op::sinh);
  for (unsigned seed = 0; seed < 40; ++seed) {
    Random random(seed);
    ModelParts parts = drawn_parts(random);
    for (Joint& j : parts.joints) {
      JointExtras extras;
      for (int k = 0; k < 6; ++k)
        extras.spring[k] = Law::expression(sinh), extras.preload[k] = random.uniform(-2, 2);
      j.law.extras = std::make_shared<const JointExtras>(extras);
    }
    for (Spring& s : parts.springs) s.stiffness = 0, s.force = Law::expression(sinh), s.preload = 3;
    const int n = static_cast<int>(parts.bodies.size());
    for (int k = 0; k < 3; ++k) {
      Bushing b;
      b.name = "b" + std::to_string(k);
      b.a = k == 0 ? world : BodyId{random.integer(n)};
      b.b = BodyId{random.integer(n)};
      if (k == 1) b.a = b.b, b.b = world;
      b.X_AF = {math::so3_exp(random.vector(1)), random.vector(0.3)};
      b.X_BM = {math::so3_exp(random.vector(1)), random.vector(0.3)};
      Mat6 A;
      for (int i = 0; i < 36; ++i) A.data()[i] = random.uniform(-1, 1);
      b.stiffness = A * A.transpose();
      if (!(b.a == b.b)) parts.bushings.push_back(b);
    }
    check_tangent(parts, seed);
  }
}

}  // namespace
}  // namespace limber::articulated
