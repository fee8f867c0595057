#include "limber/elastic/spring_law.h"

#include <gtest/gtest.h>

#include "tests/elastic/fd_check.h"
#include "tests/elastic/random.h"

namespace limber::elastic {
namespace {

using testing::Numbers;

struct Pair {
  Pose A, B;
};

Pair moved_pair(const Pair& at, const VecX& delta) {
  return {at.A * math::se3_exp(delta.head<6>()), at.B * math::se3_exp(delta.tail<6>())};
}

void check(const SpringParameters& s, const Vec3& a, const Vec3& b, const Pair& at, double scale = 0) {
  testing::check_derivatives(
      at, 12, [&](const Pair& x) { return spring_energy(s, x.A, a, x.B, b); },
      [&](const Pair& x) -> VecX { return spring_gradient(s, x.A, a, x.B, b); },
      [&](const Pair& x) -> MatX { return spring_hessian(s, x.A, a, x.B, b); }, moved_pair, {.scale = scale});
  EXPECT_TRUE(testing::is_psd(spring_hessian_psd(s, at.A, a, at.B, b)));
  EXPECT_TRUE(testing::is_psd(spring_damping(s, at.A, a, at.B, b)));
}

// A spring by a law, with a preload.
TEST(SpringLaw, DerivativesOfCurvesMatchDifferences) {
  math::Program sinh;
  sinh.push_variable(0), sinh.push(math::Op::sinh);
  SpringCurves curves{Law::expression(sinh), {}, 0.4};
  for (unsigned seed = 0; seed < 50; ++seed) {
    Numbers random(seed);
    const Vec3 a = random.vector(1), b = random.vector(1);
    const Pair at{random.pose(1), random.pose(1)};
    const double l = (at.B * b - at.A * a).norm();
    if (l < 0.2) continue;
    SCOPED_TRACE(seed);
    for (const double share : {0.0, 0.5, 1.5})
      check({0.7, 0.3, share * l, false, std::make_shared<const SpringCurves>(curves)}, a, b, at);
  }
}

TEST(SpringLaw, DerivativesMatchDifferences) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    Numbers random(seed);
    const Vec3 a = random.vector(1), b = random.vector(1);
    const Pair at{random.pose(1), random.pose(1)};
    const double l = (at.B * b - at.A * a).norm();
    if (l < 0.2) continue;  // the fifth derivative grows as l⁻⁴, and the difference with it
    SCOPED_TRACE(seed);
    check({2, 0.3, 0, false}, a, b, at);
    check({2, 0.3, 0.5 * l, false}, a, b, at);  // in tension
    check({2, 0.3, 1.5 * l, false}, a, b, at);  // in compression
    check({2, 0.3, 0.5 * l, true}, a, b, at);   // a taut cable
    check({2, 0.3, 1.5 * l, true}, a, b, at);   // a slack one
  }
}

TEST(SpringLaw, TheSignsOfThePapersStiffnessBlocks) {
  // Zero rest length, B the world: V = ½k|x₂ − x₁|². In A's axes, with e = R₁ᵀ(x₂ − p₁), the force is k(e −
  // r) and ∂(R₁ᵀ(x₂ − x₁))/∂ω₁ = [e]ₓ, ∂/∂v₁ = −I; the gradient is minus the force, so the block reads −k[e]ₓ
  // and +kI.
  Numbers random(5);
  const Pose A = random.pose(1);
  const Vec3 r = random.vector(1), x2 = random.vector(2);
  const double k = 3;
  const Vec3 e = A.R.transpose() * (x2 - A.p);
  const Mat12 H = spring_hessian({k, 0, 0, false}, A, r, Pose::identity(), x2);
  EXPECT_LT((H.block<3, 3>(3, 0) + k * math::skew(e)).norm(), 1e-14);
  EXPECT_LT((H.block<3, 3>(3, 3) - k * Mat3::Identity()).norm(), 1e-14);
}

TEST(SpringLaw, ZeroLength) {
  const Vec3 a(0.1, 0.2, 0.3);
  const Pose X = Numbers(2).pose(1);
  // Zero rest length: smooth, a stiffness in every direction.
  check({2, 0.1, 0, false}, a, a, {X, X}, 2);
  EXPECT_TRUE(spring_gradient({2, 0, 0, false}, X, a, X, a).isZero(1e-15));
  // A strut pressed to nothing has no direction: no force, energy and Hessian finite.
  for (const double rest : {0.5, 1e-3}) {
    const SpringParameters s{2, 0.1, rest, false};
    EXPECT_TRUE(spring_gradient(s, X, a, X, a).isZero(0));
    EXPECT_DOUBLE_EQ(spring_energy(s, X, a, X, a), rest * rest);
    EXPECT_TRUE(spring_hessian(s, X, a, X, a).allFinite());
    EXPECT_TRUE(testing::is_psd(spring_hessian_psd(s, X, a, X, a)));
    EXPECT_TRUE(spring_state(s, X, a, Vec6::Ones(), X, a, Vec6::Zero()).force.allFinite());
  }
}

TEST(SpringLaw, StateAgreesWithTheGradientAtRestAndWithPowerInMotion) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    Numbers random(seed);
    const Vec3 a = random.vector(1), b = random.vector(1);
    const Pose A = random.pose(1), B = random.pose(1);
    const SpringParameters s{2, 0.7, 0.4, false};
    const SpringState still = spring_state(s, A, a, Vec6::Zero(), B, b, Vec6::Zero());
    EXPECT_LT((still.force + spring_gradient(s, A, a, B, b)).norm(), 1e-13);
    EXPECT_DOUBLE_EQ(still.energy, spring_energy(s, A, a, B, b));

    Vec12 v;
    v << random.vector(1), random.vector(1), random.vector(1), random.vector(1);
    const SpringState moving = spring_state(s, A, a, v.head<6>(), B, b, v.tail<6>());
    // The power of the wrenches is −T l̇, and damping adds −D v.
    EXPECT_NEAR(moving.force.dot(v), -moving.tension * moving.rate, 1e-12);
    EXPECT_LT((moving.force - still.force + spring_damping(s, A, a, B, b) * v).norm(), 1e-13);
    // l̇ by differences.
    const double h = 1e-5;
    const auto length = [&](double t) {
      return (B * math::se3_exp(t * v.tail<6>()) * b - A * math::se3_exp(t * v.head<6>()) * a).norm();
    };
    EXPECT_NEAR(moving.rate, (length(h) - length(-h)) / (2 * h), 1e-8);
  }
}

TEST(SpringLaw, ACableNeverPushes) {
  const SpringParameters cable{10, 5, 1, true};
  const Pose A;
  const auto at = [&](double length, double rate) {
    Vec6 V = Vec6::Zero();
    V[3] = rate;
    return spring_state(cable, A, Vec3::Zero(), Vec6::Zero(), Pose::translation({length, 0, 0}), Vec3::Zero(),
                        V);
  };
  EXPECT_DOUBLE_EQ(at(1.2, 0).tension, 10 * (1.2 - 1));
  EXPECT_DOUBLE_EQ(at(1.2, 0.1).tension, 10 * (1.2 - 1) + 0.5);
  EXPECT_EQ(at(1.2, -3).tension, 0);  // shortening quickly: elastic 2 N, damping −15 N
  EXPECT_TRUE(at(1.2, -3).force.isZero(0));
  EXPECT_EQ(at(0.9, 3).tension, 0);  // slack: lengthening does not pull
  EXPECT_EQ(at(0.9, 3).energy, 0);
  EXPECT_GT(at(1.2, -3).energy, 0);
  EXPECT_TRUE(spring_damping(cable, A, Vec3::Zero(), Pose::translation({0.9, 0, 0}), Vec3::Zero()).isZero(0));
}

}  // namespace
}  // namespace limber::elastic
