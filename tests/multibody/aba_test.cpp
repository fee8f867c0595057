// aba() against dense oracles on random trees of every joint kind.
#include "limber/multibody/aba.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <cstring>

#include "limber/multibody/inverse_dynamics.h"
#include "limber/multibody/mass_matrix.h"
#include "limber/multibody/parallel_walk.h"
#include "tests/support/random_tree.h"

namespace limber::multibody {
namespace {

using limber::testing::Random;
using limber::testing::random_coordinates;
using limber::testing::random_tree;

struct Case {
  Tree tree;
  VecX q, v, tau;
  std::vector<Vec6> wrench;
};

Case random_case(unsigned seed) {
  Random random(seed);
  const int n = 1 + random.integer(40);
  const int reach = random.integer(3) == 0 ? 1 : 1 + random.integer(10);
  Case c;
  c.tree = Tree(Model(random_tree(random, n, reach)));
  c.q = random_coordinates(random, c.tree);
  c.v = random.vector_n(c.tree.v_count(), 3);
  c.tau = random.vector_n(c.tree.v_count(), 5);
  for (int i = 0; i < n; ++i) {
    Vec6 F;
    F << random.vector(3), random.vector(3);
    c.wrench.push_back(F);
  }
  return c;
}

VecX solve_aba(const Case& c, AbaInput in, AbaWorkspace& w, Workers* workers = nullptr) {
  std::vector<LinkMotion> links(c.tree.size());
  kinematics(c.tree, c.q.data(), c.v.data(), links, workers);
  in.links = &links;
  in.tau = c.tau.data();
  in.wrench = c.wrench.data();
  VecX a = VecX::Constant(c.tree.v_count(), std::nan(""));
  EXPECT_TRUE(aba(c.tree, c.q.data(), in, w, a.data(), workers)) << "link " << w.bad_link;
  return a;
}

constexpr double tolerance = 1e-10;

// 1e-10, or what rounding alone may do to the dense solution where the matrix is badly conditioned.
double dense_tolerance(const MatX& M) {
  const VecX e = Eigen::SelfAdjointEigenSolver<MatX>(M, Eigen::EigenvaluesOnly).eigenvalues();
  return std::max(tolerance, 100 * 2.2e-16 * e.tail(1)[0] / e[0]);
}

TEST(Aba, AgreesWithDenseSolveOnTrees) {
  int within = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    const Case c = random_case(seed);
    if (c.tree.v_count() == 0) {
      ++within;
      continue;
    }
    AbaWorkspace w(c.tree);
    const VecX a = solve_aba(c, {}, w);
    const MatX M = mass_matrix(c.tree, c.q);
    const VecX bias = inverse_dynamics(c.tree, c.q, c.v, VecX::Zero(c.tree.v_count()), c.wrench);
    const VecX dense = M.ldlt().solve(c.tau - bias);
    ASSERT_LT((a - dense).norm(), dense_tolerance(M) * (1 + dense.norm())) << "seed " << seed;
    within += (a - dense).norm() < tolerance * (1 + dense.norm());
  }
  EXPECT_GE(within, 990);  // the few others have a condition number above 1e6
}

TEST(Aba, InverseDynamicsReturnsTheForces) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    const Case c = random_case(seed);
    AbaWorkspace w(c.tree);
    const VecX a = solve_aba(c, {}, w);
    const VecX tau = inverse_dynamics(c.tree, c.q, c.v, a, c.wrench);
    ASSERT_LT((tau - c.tau).norm(), tolerance * (1 + c.tau.norm() + a.norm())) << "seed " << seed;
  }
}

TEST(Aba, TwoMassMatricesAgree) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const Case c = random_case(seed);
    const MatX M = mass_matrix(c.tree, c.q), N = mass_matrix_by_composite_bodies(c.tree, c.q);
    // Sums of at most 40 products of order-one numbers, in two orders.
    ASSERT_LT((M - N).norm(), 1e-12 * (1 + M.norm())) << "seed " << seed;
  }
}

// Implicit terms: joint blocks, body blocks, and given rows, against the bordered dense system.
TEST(Aba, AgreesWithDenseSolveWithImplicitTermsAndLocks) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    const Case c = random_case(seed);
    const int n = c.tree.size(), nv = c.tree.v_count();
    if (nv == 0) continue;
    Random random(seed + 77777);
    std::vector<double> B(c.tree.block_count(), 0.0);
    std::vector<Mat6> blocks;
    std::vector<int> block_index(n, -1), lock_index(n, -1);
    std::vector<JointLock> locks;
    MatX B_dense = MatX::Zero(nv, nv);
    for (int i = 0; i < n; ++i) {
      const Link& link = c.tree[i];
      const MatX r = MatX(Eigen::Map<const MatX>(random.vector_n(36, 2).data(), 6, 6));
      const MatX spd = (r * r.transpose()).topLeftCorner(link.dofs, link.dofs);
      Eigen::Map<MatX>(B.data() + link.block, link.dofs, link.dofs) = spd;
      B_dense.block(link.v, link.v, link.dofs, link.dofs) = spd;
      if (random.integer(2)) {
        block_index[i] = static_cast<int>(blocks.size());
        blocks.push_back(r * r.transpose());
      }
      if (link.dofs > 0 && random.integer(3) == 0) {
        JointLock lock;
        lock.link = i;
        lock.rows = 1 + random.integer(link.dofs);
        const MatX Q = Eigen::HouseholderQR<MatX>(MatX(r.topLeftCorner(link.dofs, link.dofs))).householderQ();
        lock.C.setZero();
        lock.C.topLeftCorner(lock.rows, link.dofs) = Q.topRows(lock.rows);
        lock.g = random.vector_n(6, 4);
        lock_index[i] = static_cast<int>(locks.size());
        locks.push_back(lock);
      }
    }
    AbaInput in;
    in.joint_block = B.data();
    in.body_block = blocks.data();
    in.body_block_index = block_index.data();
    in.locks = locks.data();
    in.lock_index = lock_index.data();
    AbaWorkspace w(c.tree);
    const VecX a = solve_aba(c, in, w);

    // Dense: M + Σ JᵀAJ + B, the blocks' share of the velocity-dependent acceleration, and the given rows
    // bordered.
    const auto J = link_jacobians(c.tree, c.q);
    std::vector<LinkMotion> links(n);
    kinematics(c.tree, c.q.data(), c.v.data(), links);
    MatX H = mass_matrix(c.tree, c.q) + B_dense;
    VecX rhs = c.tau - inverse_dynamics(c.tree, c.q, c.v, VecX::Zero(nv), c.wrench);
    std::vector<Vec6> bias(n);
    for (int i = 0; i < n; ++i) {
      bias[i] = links[i].c;
      if (const int p = c.tree[i].parent; p >= 0) bias[i] += links[i].X_PM.inverse_motion(bias[p]);
      if (block_index[i] < 0) continue;
      H += J[i].transpose() * blocks[block_index[i]] * J[i];
      rhs -= J[i].transpose() * (blocks[block_index[i]] * bias[i]);
    }
    int rows = 0;
    for (const JointLock& l : locks) rows += l.rows;
    MatX K = MatX::Zero(nv + rows, nv + rows);
    VecX b = VecX::Zero(nv + rows);
    K.topLeftCorner(nv, nv) = H;
    b.head(nv) = rhs;
    int at = nv;
    for (const JointLock& l : locks) {
      const Link& link = c.tree[l.link];
      K.block(at, link.v, l.rows, link.dofs) = l.C.topLeftCorner(l.rows, link.dofs);
      K.block(link.v, at, link.dofs, l.rows) = l.C.topLeftCorner(l.rows, link.dofs).transpose();
      b.segment(at, l.rows) = l.g.head(l.rows);
      at += l.rows;
    }
    const VecX dense = K.partialPivLu().solve(b);
    ASSERT_LT((a - dense.head(nv)).norm(), tolerance * (1 + dense.head(nv).norm())) << "seed " << seed;

    // The force that each lock needed is its multiplier (with the other sign: Cᵀλ stands on the left).
    in.links = &links;
    in.tau = c.tau.data();
    in.wrench = c.wrench.data();
    at = nv;
    for (const JointLock& l : locks) {
      const Vec6 f = lock_force(c.tree, c.q.data(), in, w, a.data(), l.link);
      const int d = c.tree[l.link].dofs;
      const VecX expected = -l.C.topLeftCorner(l.rows, d).transpose() * dense.segment(at, l.rows);
      ASSERT_LT((f.head(d) - expected).norm(), 1e-9 * (1 + dense.norm())) << "seed " << seed;
      at += l.rows;
    }
  }
}

TEST(Aba, SameBitsOnSeveralThreads) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Random random(seed);
    Case c;
    c.tree = Tree(Model(random_tree(random, 2000, 5 + random.integer(200))));
    c.q = random_coordinates(random, c.tree);
    c.v = random.vector_n(c.tree.v_count(), 1);
    c.tau = random.vector_n(c.tree.v_count(), 1);
    c.wrench.assign(2000, Vec6::Ones());
    AbaWorkspace w(c.tree), w2(c.tree);
    const VecX one = solve_aba(c, {}, w);
    for (const int threads : {2, 4}) {
      Workers workers(threads);
      const VecX many = solve_aba(c, {}, w2, &workers);
      ASSERT_EQ(0, std::memcmp(one.data(), many.data(), sizeof(double) * one.size())) << "seed " << seed;
    }
  }
}

TEST(Aba, NamesAMasslessBodyThatCanMove) {
  ModelBuilder b;
  const BodyId heavy = b.add([] {
    Body body;
    body.name = "heavy";
    body.inertia = Inertia::about_com(1, {0, 0, 0}, math::sphere_inertia(1, 0.1));
    return body;
  }());
  Body nothing;
  nothing.name = "nothing";
  const BodyId light = b.add(nothing);
  Joint j;
  j.kind = JointKind::revolute;
  j.name = "a", j.child = heavy;
  b.add(j);
  j.name = "b", j.parent = heavy, j.child = light;
  b.add(j);
  const Tree tree{b.build()};
  VecX q = VecX::Zero(2), v = q, tau = q, a = q;
  std::vector<LinkMotion> links(2);
  kinematics(tree, q.data(), v.data(), links);
  AbaInput in;
  in.links = &links;
  in.tau = tau.data();
  AbaWorkspace w(tree);
  EXPECT_FALSE(aba(tree, q.data(), in, w, a.data()));
  EXPECT_EQ(w.bad_link, 1);
}

}  // namespace
}  // namespace limber::multibody
