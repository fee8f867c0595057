// Joint kinematics against finite differences, and the motion along constant rates.
#include "limber/multibody/kinematics.h"

#include <gtest/gtest.h>

#include "tests/support/random_tree.h"

namespace limber::multibody {
namespace {

using limber::testing::Random;
using limber::testing::random_coordinates;
using limber::testing::random_tree;

// V of a link is the twist by which its pose changes when the coordinates move along v.
TEST(Kinematics, VelocityIsTheRateOfThePose) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const Tree tree{Model(random_tree(random, 12, 4))};
    const VecX q = random_coordinates(random, tree), v = random.vector_n(tree.v_count(), 1);
    std::vector<LinkMotion> at(tree.size()), before(tree.size()), after(tree.size());
    kinematics(tree, q.data(), v.data(), at);
    const double h = 1e-5;
    VecX q_before(q.size()), q_after(q.size());
    integrate(tree, q.data(), v.data(), -h, q_before.data());
    integrate(tree, q.data(), v.data(), h, q_after.data());
    kinematics(tree, q_before.data(), v.data(), before);
    kinematics(tree, q_after.data(), v.data(), after);
    for (int i = 0; i < tree.size(); ++i) {
      const Vec6 V = (math::se3_log(at[i].X_WM.inverse() * after[i].X_WM) -
                      math::se3_log(at[i].X_WM.inverse() * before[i].X_WM)) /
                     (2 * h);
      // Central difference: h² = 1e-10 times third derivatives (up to about 100), rounding 1e-16/1e-5.
      ASSERT_LT((V - at[i].V).norm(), 2e-8 * (1 + V.norm())) << "seed " << seed << " link " << i;
    }
  }
}

// With zero joint acceleration the twist in the link's own axes changes at the rate Σ c carried down the
// tree.
TEST(Kinematics, BiasIsTheRateOfTheVelocity) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const Tree tree{Model(random_tree(random, 12, 4))};
    const VecX q = random_coordinates(random, tree), v = random.vector_n(tree.v_count(), 1);
    std::vector<LinkMotion> at(tree.size()), before(tree.size()), after(tree.size());
    kinematics(tree, q.data(), v.data(), at);
    const double h = 1e-5;
    VecX q_before(q.size()), q_after(q.size());
    integrate(tree, q.data(), v.data(), -h, q_before.data());
    integrate(tree, q.data(), v.data(), h, q_after.data());
    kinematics(tree, q_before.data(), v.data(), before);
    kinematics(tree, q_after.data(), v.data(), after);
    std::vector<Vec6> a(tree.size());
    for (int i = 0; i < tree.size(); ++i) {
      a[i] = at[i].c;
      if (const int p = tree[i].parent; p >= 0) a[i] += at[i].X_PM.inverse_motion(a[p]);
      const Vec6 rate = (after[i].V - before[i].V) / (2 * h);
      ASSERT_LT((rate - a[i]).norm(), 1e-7 * (1 + rate.norm())) << "seed " << seed << " link " << i;
    }
  }
}

TEST(Kinematics, RatesBetweenInvertsIntegrate) {
  Random random(3);
  for (const JointKind kind : all_joint_kinds) {
    Link link;
    link.kind = kind;
    link.dofs = dof_count(kind);
    for (int k = 0; k < 100; ++k) {
      double q[7], q_end[7], back[6];
      DofArray d{};
      for (double& x : d) x = random.uniform(-1, 1);
      set_coordinates(link, d, q);
      const VecX v = random.vector_n(6, 3);
      integrate_joint(kind, q, v.data(), 0.3, q_end);
      rates_between(kind, q, q_end, 0.3, back);
      for (int i = 0; i < link.dofs; ++i) EXPECT_NEAR(back[i], v[i], 1e-13) << to_string(kind);
    }
  }
}

TEST(Tree, SubtreesAreContiguousAndCutOnce) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    Random random(seed);
    const Tree tree{Model(random_tree(random, 700, 1 + random.integer(60)))};
    std::vector<int> seen(tree.size(), 0);
    for (const int i : tree.top()) ++seen[i];
    for (const Range r : tree.subtrees()) {
      for (int i = r.begin; i < r.end; ++i) ++seen[i];
      for (int i = r.begin + 1; i < r.end; ++i) ASSERT_GE(tree[i].parent, r.begin);
    }
    for (const int s : seen) ASSERT_EQ(s, 1);
  }
}

}  // namespace
}  // namespace limber::multibody
