// The assembly tree and the divide-and-conquer passes: shape, against reference files and against ABA.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/adaptive/linkages.h"

namespace limber::testing {
namespace {

using adaptive::AssemblyTree;

// Every link is a leaf and a joint exactly once, children come first, nobody has more than two handles, and
// the depth stays within 3 log(n) / log(3/2) + 3 (assembly_tree.h) on linkages of every shape.
TEST(Assembly, IsShallowForEveryShape) {
  for (const Shape shape : {Shape::chain, Shape::polymer, Shape::random, Shape::star, Shape::caterpillar}) {
    for (const int n : {1, 2, 3, 10, 1000, 20000}) {
      Random random(static_cast<unsigned>(n));
      const multibody::Tree tree(linkage(random, shape, n));
      const AssemblyTree a(tree);
      std::vector<int> joints(n, 0), bodies(n, 0);
      for (int i = 0; i < static_cast<int>(a.nodes.size()); ++i) {
        const auto& node = a.nodes[i];
        ASSERT_LE(node.handles, 2);
        if (node.is_leaf()) {
          bodies[node.link] += a.leaf_of[node.link] == i;
        } else {
          ASSERT_LT(node.b, i);
          ASSERT_EQ(a.nodes[node.b].parent, i);
          if (node.link >= 0) ++joints[node.link];
        }
      }
      for (int i = 0; i < n; ++i) ASSERT_TRUE(joints[i] == 1 && bodies[i] == 1) << i;
      EXPECT_LE(a.depth, 3 * std::log(2.0 * n) / std::log(1.5) + 3) << static_cast<int>(shape) << " " << n;
      if (n == 20000) {
        EXPECT_LE(a.depth, 30) << static_cast<int>(shape);  // what the cuts find: 16 to 26
      }
    }
  }
}

nlohmann::json reference(const std::string& name) {
  std::ifstream in(std::string(LIMBER_TEST_DATA) + "/" + name + ".json");
  return nlohmann::json::parse(in);
}

Vec3 vec(const nlohmann::json& j) { return {j[0].get<double>(), j[1].get<double>(), j[2].get<double>()}; }

// The random linkages of tests/data: accelerations under point forces, with and without gravity, as an
// independent program found them. Gravity goes through the root.
TEST(Assembly, SolvesTheReferenceLinkages) {
  for (const char* name : {"D_random_linkage_50", "D_random_linkage_500"}) {
    const auto data = reference(name);
    ModelBuilder b;
    std::vector<Vec3> at;
    for (const auto& j : data["bodies"]) {
      const Vec3 p = vec(j["joint_point"]), z = vec(j["joint_axis"]).normalized();
      Mat3 I;
      for (int r = 0; r < 3; ++r) I.row(r) = vec(j["inertia_com"][r]).transpose();
      Body body;
      body.name = "body" + std::to_string(at.size());
      body.inertia = Inertia::about_com(j["mass"].get<double>(), vec(j["com"]) - p, I);
      const BodyId child = b.add(std::move(body));
      Joint joint;
      joint.name = "joint" + std::to_string(at.size());
      joint.kind = JointKind::revolute;
      const int parent = j["parent"].get<int>() - 1;
      joint.parent = BodyId{parent};
      joint.child = child;
      joint.X_PF = {math::rotation_from_z(z), p - (parent < 0 ? Vec3::Zero().eval() : at[parent])};
      joint.X_BM.R = joint.X_PF.R;
      b.add(std::move(joint));
      at.push_back(p);
    }
    const Model model = std::move(b).build();
    Case c(model);
    for (const auto& f : data["forces"]) {
      // The model may have renumbered its bodies.
      const std::string body = "body" + std::to_string(f["body"].get<int>() - 1);
      int link = 0;
      while (model.bodies()[link].name != body) ++link;
      const Vec3 force = vec(f["force"]), arm = vec(f["point"]) - at[f["body"].get<int>() - 1];
      Vec6 wrench;
      wrench << arm.cross(force), force;
      c.wrench[link] += c.tree[link].X_MB.force(wrench);
    }
    for (const char* with : {"no_gravity", "gravity"}) {
      const auto& expected = data["reference"][with];
      c.gravity = vec(expected["gravity"]);
      c.assemble();
      const VecX a = c.full();
      double worst = 0;
      for (int i = 0; i < c.tree.size(); ++i) {
        const int id = std::stoi(model.bodies()[i].name.substr(4));
        worst = std::max(worst, std::abs(a[c.tree[i].v] - expected["qdd"][id].get<double>()));
      }
      EXPECT_LE(worst, 1e-9 * expected["max_abs_qdd"].get<double>()) << name << " " << with;
    }
  }
}

// Every joint kind, branches, several roots, free and fixed bases, springs: accelerations and the total,
// against ABA. 1e-9: some of these random linkages are conditioned so that ABA itself is good to 1e-10.
TEST(Assembly, AgreesWithAbaOnEveryJointKind) {
  for (unsigned seed = 0; seed < 120; ++seed) {
    Random random(seed);
    const int n = 1 + random.integer(40);
    Case c(Model(random_tree(random, n, 1 + random.integer(20))));
    if (c.tree.v_count() == 0) continue;
    c.q = random_coordinates(random, c.tree);
    c.tau = random.vector_n(c.tree.v_count(), 1);
    c.random_forces(random, n);
    c.gravity = random.vector(5);
    if (seed % 2)
      for (const auto& link : c.tree.links())
        for (int k = 0; k < link.dofs; ++k) c.kappa[link.block + k * link.dofs + k] = random.uniform(0, 2);
    c.assemble();
    const VecX a = c.full(), expected = c.oracle();
    EXPECT_LE((a - expected).norm(), 1e-9 * expected.norm()) << seed;
    EXPECT_NEAR(c.total(), a.squaredNorm(), 1e-9 * a.squaredNorm()) << seed;
  }
}

// ABA with 64 instead of 53 bits: along 5,000 joints of all kinds ABA itself is good to 1e-8 only.
VecX extended(const Case& c) {
  const multibody::Tree& tree = c.tree;
  using Real = long double;
  using V6 = Eigen::Matrix<Real, 6, 1>;
  using M6 = Eigen::Matrix<Real, 6, 6>;
  using Small = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, 6, 6>;
  struct Pass {
    M6 F, I;
    V6 p;
    Small S, U, D_inverse, u;
  };
  std::vector<Pass> pass(tree.size());
  for (int i = 0; i < tree.size(); ++i) {
    const Pose X = tree[i].X_PF * multibody::joint_transform(tree[i], c.q.data() + tree[i].q);
    Mat3 p_cross;
    p_cross << 0, -X.p.z(), X.p.y(), X.p.z(), 0, -X.p.x(), -X.p.y(), X.p.x(), 0;
    const Eigen::Matrix<Real, 3, 3> R = X.R.cast<Real>();
    pass[i].F.setZero();
    pass[i].F.block<3, 3>(0, 0) = pass[i].F.block<3, 3>(3, 3) = R;
    pass[i].F.block<3, 3>(0, 3) = p_cross.cast<Real>() * R;
    pass[i].I = tree[i].inertia.matrix().cast<Real>();
    pass[i].p = -c.wrench[i].cast<Real>();
    pass[i].S =
        multibody::motion_subspace(tree[i], c.q.data() + tree[i].q).leftCols(tree[i].dofs).cast<Real>();
  }
  for (int i = tree.size() - 1; i >= 0; --i) {
    Pass& b = pass[i];
    const int d = tree[i].dofs;
    b.U = b.I * b.S;
    Small D = b.S.transpose() * b.U;
    D += Eigen::Map<const MatX>(c.kappa.data() + tree[i].block, d, d).cast<Real>();
    b.D_inverse = d ? Small(D.llt().solve(Small::Identity(d, d))) : Small(0, 0);
    b.u = c.tau.segment(tree[i].v, d).cast<Real>() - b.S.transpose() * b.p;
    if (tree[i].parent < 0) continue;
    Pass& a = pass[tree[i].parent];
    a.I += b.F * (b.I - b.U * b.D_inverse * b.U.transpose()) * b.F.transpose();
    a.p += b.F * (b.p + b.U * (b.D_inverse * b.u));
  }
  VecX out(tree.v_count());
  std::vector<V6> a(tree.size());
  V6 ground = V6::Zero();
  ground.tail<3>() = -c.gravity.cast<Real>();
  for (int i = 0; i < tree.size(); ++i) {
    const Pass& b = pass[i];
    a[i] = b.F.transpose() * (tree[i].parent < 0 ? ground : a[tree[i].parent]);
    const Small x = b.D_inverse * (b.u - b.U.transpose() * a[i]);
    a[i] += b.S * x;
    out.segment(tree[i].v, tree[i].dofs) = x.cast<double>();
  }
  return out;
}

void expect_agreement(Case& c, const std::string& what) {
  c.assemble();
  const VecX a = c.full(), expected = extended(c);
  EXPECT_LE((a - expected).cwiseAbs().maxCoeff(), 1e-9 * expected.cwiseAbs().maxCoeff()) << what;
  EXPECT_NEAR(c.total(), a.squaredNorm(), 1e-9 * a.squaredNorm()) << what;
  // With no error allowed the partial back-substitution opens all that moves, with the same bits; what is
  // left out is so small that its square is zero.
  adaptive::Refinement refine(c.c);
  VecX qdd = VecX::Zero(c.tree.v_count());
  EXPECT_EQ(refine(c.c, c.input(), {}, 1e3, qdd.data()).bound, 0) << what;
  EXPECT_LE((qdd - a).cwiseAbs().maxCoeff(), 1e-150) << what;
}

// 5,000 joints of every shape, and 5,000 of all kinds.
TEST(Assembly, AgreesWithAbaOnLargeLinkages) {
  for (unsigned seed = 11; seed < 11 + tries(1, 12); ++seed) {
    for (const Shape shape : {Shape::chain, Shape::polymer, Shape::random, Shape::star, Shape::caterpillar}) {
      Random random(seed);
      Case c(linkage(random, shape, 5000));
      c.q = random.vector_n(c.tree.q_count(), 1);
      c.random_forces(random, 20);
      expect_agreement(c, fmt::format("shape {} seed {}", static_cast<int>(shape), seed));
    }
    for (const int reach : {1, 4, 5000}) {
      Random random(seed);
      Case c(Model(random_tree(random, 5000, reach)));
      c.q = random_coordinates(random, c.tree);
      c.random_forces(random, 20);
      expect_agreement(c, fmt::format("all kinds, reach {} seed {}", reach, seed));
    }
  }
}

// Gravity through the root is gravity as a force on every body, on a fixed base and on a floating one.
TEST(Assembly, GravityThroughTheRootIsAForceOnEveryBody) {
  for (const JointKind base : {JointKind::revolute, JointKind::free}) {
    Random random(17);
    ModelParts parts = linkage(random, Shape::polymer, 200).parts();
    parts.joints[0].kind = base;
    Case c{Model(std::move(parts))};
    for (const auto& link : c.tree.links())
      if (link.kind == JointKind::revolute) c.q[link.q] = random.uniform(-1, 1);
    c.random_forces(random, 2);
    c.gravity = Vec3(1, -2, -9.81);
    c.assemble();
    const VecX by_root = c.full();
    const VecX rest = VecX::Zero(c.tree.v_count());
    multibody::kinematics(c.tree, c.q.data(), rest.data(), c.links);
    for (int i = 0; i < c.tree.size(); ++i) {
      const Vec3 g = c.links[i].X_WM.R.transpose() * c.gravity;
      c.wrench[i].head<3>() += c.tree[i].inertia.h.cross(g);
      c.wrench[i].tail<3>() += c.tree[i].inertia.m * g;
    }
    c.gravity.setZero();
    c.assemble();
    EXPECT_LE((by_root - c.full()).norm(), 1e-9 * by_root.norm());
  }
}

TEST(Assembly, GivesTheSameBitsOnTwoThreads) {
  Random random(3);
  Case c(linkage(random, Shape::polymer, 5000));
  c.q = random.vector_n(c.tree.q_count(), 1);
  c.random_forces(random, 100);
  c.assemble();
  const VecX alone = c.full();
  const double total = c.total();
  multibody::Workers workers(2);
  c.assemble(true, &workers);
  const VecX together = c.full(&workers);
  EXPECT_TRUE(alone == together);
  EXPECT_EQ(total, c.total());
}

}  // namespace
}  // namespace limber::testing
