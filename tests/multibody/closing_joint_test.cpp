// Rows, coordinates and axes of closing joints against differences along motions of the joint and off it.
#include "limber/multibody/closing_joint.h"

#include <gtest/gtest.h>

#include "limber/math/so3.h"
#include "tests/support/random_tree.h"

namespace limber::multibody {
namespace {

using limber::testing::Random;

class ClosingJointOfKind : public ::testing::TestWithParam<JointKind> {
 protected:
  // A pose on the loop that moves with constant rates v.
  struct Motion {
    ClosingJoint joint;
    double q[7] = {};
    Vec6 v = Vec6::Zero();
    Pose X0;          // distance: where it is, and how it goes on
    Vec3 spin, turn;  // distance
    Pose at(double t) const {
      if (joint.kind == JointKind::distance)
        return {X0.R * math::so3_exp(t * turn), math::so3_exp(t * spin) * X0.p};
      double moved[7] = {};
      integrate_joint(joint.kind, q, v.data(), t, moved);
      return joint_transform(joint.kind, joint.lead, moved);
    }
    // The twist of M against F, in M.
    Vec6 twist(double t) const {
      const double h = 1e-4;
      const Pose X = at(t);
      return (8 * (math::se3_log(X.inverse() * at(t + h)) - math::se3_log(X.inverse() * at(t - h))) -
              (math::se3_log(X.inverse() * at(t + 2 * h)) - math::se3_log(X.inverse() * at(t - 2 * h)))) /
             (12 * h);
    }
  };
  static Motion random_motion(Random& random, JointKind kind) {
    Motion m;
    m.joint = {kind, random.uniform(0.1, 0.6) * (random.integer(2) ? 1 : -1), random.uniform(0.5, 2)};
    Link link;
    link.kind = kind;
    link.dofs = dof_count(kind);
    DofArray d{};
    for (double& x : d) x = random.uniform(-1, 1);
    if (kind == JointKind::screw) d[0] *= 20;  // several turns
    set_coordinates(link, d, m.q);
    m.v = random.vector_n(6, 1);
    m.X0 = {math::so3_exp(random.vector(1)), m.joint.length * random.vector(1).normalized()};
    m.spin = random.vector(1);
    m.turn = random.vector(1);
    return m;
  }
};
INSTANTIATE_TEST_SUITE_P(All, ClosingJointOfKind, ::testing::ValuesIn(all_joint_kinds),
                         [](const auto& kind) { return std::string(to_string(kind.param)); });

TEST_P(ClosingJointOfKind, RowsVanishOnTheLoopAndTHoldsTheirRates) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    Random random(seed);
    const Motion m = random_motion(random, GetParam());
    const Pose X = m.at(0);
    Mat6 T, unused;
    Vec6 gap, before, after;
    ASSERT_EQ(closing_rows(m.joint, X, T, gap), closing_row_count(GetParam()));
    EXPECT_LT(gap.norm(), 1e-13);
    const Vec6 V = random.vector_n(6, 1);
    const double h = 1e-5;
    closing_rows(m.joint, X * math::se3_exp(h * V), unused, after);
    closing_rows(m.joint, X * math::se3_exp(-h * V), unused, before);
    // Central difference: h² = 1e-10 times third derivatives, rounding 1e-15/1e-5.
    EXPECT_LT(((after - before) / (2 * h) - T * V).norm(), 1e-8) << seed;
    EXPECT_LT((T * m.twist(0)).norm(), 1e-10) << seed;  // fourth-order difference, rounding 1e-15/1e-4
  }
}

TEST_P(ClosingJointOfKind, CoordinatesAxesAndRates) {
  const JointKind kind = GetParam();
  const int n = dof_count(kind);
  for (unsigned seed = 0; seed < 50; ++seed) {
    Random random(seed);
    const Motion m = random_motion(random, kind);
    const Pose X = m.at(0);
    double q[7] = {};
    DofArray x;
    closing_coordinates(m.joint, X, q, x);
    for (int k = 0; k < coordinate_count(kind); ++k) {
      const double sign = has_rotation_vector(kind) && k < 4 && q[0] * m.q[0] < 0 ? -1 : 1;
      EXPECT_NEAR(q[k], sign * m.q[k], 1e-12) << k;
    }
    if (n == 0) continue;
    const Subspace S = motion_subspace(kind, m.joint.lead, m.q), P = closing_axes(m.joint, m.q);
    EXPECT_LT((P.leftCols(n).transpose() * S.leftCols(n) - MatX::Identity(n, n)).norm(), 1e-14);
    EXPECT_LT((P.leftCols(n).transpose() * m.twist(0) - m.v.head(n)).norm(), 1e-10) << seed;
  }
}

TEST_P(ClosingJointOfKind, RowRatesAreThoseOfAMotionOnTheLoop) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    Random random(seed);
    const Motion m = random_motion(random, GetParam());
    Mat6 T;
    Vec6 gap;
    closing_rows(m.joint, m.at(0), T, gap);
    const double h = 1e-3;
    const Vec6 rate = (8 * (m.twist(h) - m.twist(-h)) - (m.twist(2 * h) - m.twist(-2 * h))) / (12 * h);
    const Vec6 expected = T * rate;
    // Differences of differences: 1e-15/1e-4/1e-3.
    EXPECT_LT((closing_row_rates(m.joint, m.at(0), m.q, T, m.twist(0)) - expected).norm(), 1e-8) << seed;
  }
}

}  // namespace
}  // namespace limber::multibody
