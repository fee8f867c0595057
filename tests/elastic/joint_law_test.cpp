#include "limber/elastic/joint_law.h"

#include <gtest/gtest.h>

#include "tests/elastic/fd_check.h"
#include "tests/elastic/random.h"

namespace limber::elastic {
namespace {

using testing::check_derivatives;
using testing::FdOptions;
using testing::Numbers;

// Along the rates of model/joint.h: plain coordinates add up, rotations move in M.
JointConfiguration retract(JointKind kind, JointConfiguration c, const VecX& delta) {
  if (!has_rotation_vector(kind)) {
    for (int i = 0; i < dof_count(kind); ++i) c.q[i] += delta[i];
    return c;
  }
  for (int i = 3; i < dof_count(kind); ++i) c.q[i] += delta[i];
  c.R = c.R * math::so3_exp(delta.head<3>());
  return c;
}

void check(JointKind kind, const JointLaw& law, const JointConfiguration& at, const FdOptions& options = {}) {
  const int n = dof_count(kind);
  check_derivatives(
      at, n, [&](const JointConfiguration& c) { return joint_energy(kind, law, c); },
      [&](const JointConfiguration& c) -> VecX {
        return joint_energy_gradient(kind, law, c).gradient.head(n);
      },
      [&](const JointConfiguration& c) -> MatX { return joint_hessian(kind, law, c).topLeftCorner(n, n); },
      [&](const JointConfiguration& c, const VecX& delta) { return retract(kind, c, delta); }, options);
  EXPECT_TRUE(testing::is_psd(joint_hessian_psd(kind, law, at).topLeftCorner(n, n)));
}

JointLaw random_law(Numbers& random, bool with_rest) {
  JointLaw law;
  for (int i = 0; i < 6; ++i) {
    law.stiffness[i] = random.uniform(0.5, 2);
    law.rest[i] = with_rest ? random.uniform(-0.4, 0.4) : 0;
  }
  return law;
}

class JointLawOfKind : public ::testing::TestWithParam<JointKind> {};
INSTANTIATE_TEST_SUITE_P(All, JointLawOfKind, ::testing::ValuesIn(all_joint_kinds),
                         [](const auto& kind) { return std::string(to_string(kind.param)); });

TEST_P(JointLawOfKind, DerivativesMatchDifferences) {
  const JointKind kind = GetParam();
  if (dof_count(kind) == 0) {
    EXPECT_EQ(joint_energy(kind, {}, {}), 0);
    EXPECT_TRUE(joint_hessian(kind, {}, {}).isZero());
    return;
  }
  for (unsigned seed = 0; seed < 50; ++seed) {
    Numbers random(seed);
    const JointLaw law = random_law(random, seed % 2 == 1);
    JointConfiguration c;
    for (double& q : c.q) q = random.uniform(-2, 2);
    c.R = math::so3_exp(random.uniform(0, 2.5) * random.unit());
    SCOPED_TRACE(seed);
    check(kind, law, c);
  }
}

// Springs by laws, preloads and stops that give, beside the stiffness.
TEST_P(JointLawOfKind, DerivativesOfExtrasMatchDifferences) {
  const JointKind kind = GetParam();
  for (unsigned seed = 0; seed < 30 && dof_count(kind) > 0; ++seed) {
    Numbers random(seed);
    JointLaw law = random_law(random, seed % 2 == 1);
    JointExtras extras;
    math::Program sinh;
    sinh.push_variable(0), sinh.push(math::Op::sinh);
    for (int i = 0; i < 6; ++i) {
      extras.spring[i] = Law::expression(sinh);
      extras.preload[i] = random.uniform(-1, 1);
      if (has_rotation_vector(kind)) continue;
      extras.stop_stiffness[i] = random.uniform(1, 5);
      law.lower[i] = -0.5, law.upper[i] = 0.3;
    }
    law.extras = std::make_shared<const JointExtras>(extras);
    JointConfiguration c;
    for (double& q : c.q) q = random.uniform(-2, 2);
    c.R = math::so3_exp(random.uniform(0, 2.5) * random.unit());
    SCOPED_TRACE(seed);
    // A stop's force has a corner: none of the steps of 1e-3 passes it.
    const auto near_corner = [&](double q) { return std::abs(q + 0.5) < 0.01 || std::abs(q - 0.3) < 0.01; };
    if (std::any_of(c.q.begin(), c.q.end(), near_corner)) continue;
    check(kind, law, c);
  }
}

TEST_P(JointLawOfKind, DerivativesAtRest) {
  const JointKind kind = GetParam();
  const int n = dof_count(kind);
  if (n == 0) return;
  Numbers random(7);
  const JointLaw law = random_law(random, false);
  const JointConfiguration rest;
  // At rest energy and gradient vanish: differences of order h² of the stiffness are compared with the
  // stiffness.
  check(kind, law, rest, {.scale = 2});
  EXPECT_EQ(joint_energy(kind, law, rest), 0);
  EXPECT_TRUE(joint_energy_gradient(kind, law, rest).gradient.isZero(0));
  // There, and only there, the exact Hessian and the safe one agree: both are K.
  EXPECT_TRUE(joint_hessian(kind, law, rest).isApprox(joint_hessian_psd(kind, law, rest), 1e-15));
  for (int i = 0; i < n; ++i) EXPECT_NEAR(joint_hessian(kind, law, rest)(i, i), law.stiffness[i], 1e-15);
}

TEST(JointLaw, RotationsNearHalfATurn) {
  for (const double angle : {3.0, 3.1, pi - 1e-2, pi - 3e-3})
    for (unsigned seed = 0; seed < 20; ++seed) {
      Numbers random(seed);
      JointConfiguration c;
      c.R = math::so3_exp(angle * random.unit());
      SCOPED_TRACE(angle);
      // The step must not cross π, where θ jumps to −θ and the energy has a kink.
      check(JointKind::free, random_law(random, false), c, {.step = std::min(1e-3, (pi - angle) / 8)});
    }
}

TEST(JointLaw, TinyRotationsLoseNothing) {
  Numbers random(3);
  const JointLaw law = random_law(random, false);
  for (const double angle : {1e-4, 1e-8, 1e-12}) {
    const Vec3 theta = angle * random.unit();
    JointConfiguration c;
    c.R = math::so3_exp(theta);
    const Vec3 k(law.stiffness[0], law.stiffness[1], law.stiffness[2]);
    const Vec3 g = joint_energy_gradient(JointKind::spherical, law, c).gradient.head<3>();
    // g = Kθ + O(θ²).
    EXPECT_LT((g - k.cwiseProduct(theta)).norm(), 2 * angle * angle + 1e-15 * angle + 1e-16) << angle;
  }
}

TEST(JointLaw, IsotropicBallSpringPullsAlongTheRotationVector) {
  // J_r⁻ᵀ(θ) θ = θ: with equal stiffness the moment is k θ however large the rotation.
  JointLaw law;
  law.stiffness = dofs(3);
  const Vec3 theta(0.9, -1.7, 1.1);
  JointConfiguration c;
  c.R = math::so3_exp(theta);
  EXPECT_TRUE(
      joint_energy_gradient(JointKind::spherical, law, c).gradient.head<3>().isApprox(3 * theta, 1e-13));
  EXPECT_NEAR(joint_energy(JointKind::spherical, law, c), 1.5 * theta.squaredNorm(), 1e-13);
}

TEST(JointLaw, UnsprungJointGivesZeroEverywhere) {
  JointConfiguration c;
  c.R = math::so3_exp({1, 2, 0.3});
  c.q = {0, 0, 0, 1, 2, 3};
  for (const JointKind kind : all_joint_kinds) {
    EXPECT_EQ(joint_energy(kind, {}, c), 0);
    EXPECT_TRUE(joint_energy_gradient(kind, {}, c).gradient.isZero(0));
    EXPECT_TRUE(joint_hessian(kind, {}, c).isZero(0));
    EXPECT_TRUE(joint_hessian_psd(kind, {}, c).isZero(0));
  }
}

}  // namespace
}  // namespace limber::elastic
