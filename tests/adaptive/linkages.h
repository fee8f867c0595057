// Linkages to test the assembly tree on, and the full articulated-body pass that everything is held against.
#pragma once

#include <cstdlib>

#include "limber/adaptive/refine.h"
#include "limber/multibody/aba.h"
#include "tests/support/random_tree.h"

namespace limber::testing {

// How many of something a test tries: few in a test run, many in `make adaptive-campaign`.
inline unsigned tries(unsigned few, unsigned many) {
  return std::getenv("LIMBER_ADAPTIVE_CAMPAIGN") ? many : few;
}

enum class Shape { chain, polymer, random, star, caterpillar, straight };

// n bodies on revolute joints; masses 1, or 1 and `ratio` at random.
inline Model linkage(Random& random, Shape shape, int n, double ratio = 1) {
  ModelBuilder b;
  b.parts.gravity = VectorFunction::constant({0, 0, 0});
  for (int i = 0; i < n; ++i) {
    Body body;
    body.name = "body" + std::to_string(i);
    const double m = random.integer(2) == 0 ? 1 : ratio;
    body.inertia = Inertia::about_com(m, {0.05, 0, 0}, math::box_inertia(m, {0.1, 0.03, 0.03}));
    const BodyId child = b.add(std::move(body));
    Joint j;
    j.name = "joint" + std::to_string(i);
    j.kind = JointKind::revolute;
    int parent = i - 1;
    if (shape == Shape::polymer) parent = std::max(0, i - 1 - random.integer(4));
    if (shape == Shape::random && i > 0) parent = random.integer(i);
    if (shape == Shape::star) parent = 0;
    if (shape == Shape::caterpillar) parent = i % 2 ? i - 1 : i - 2;  // a spine of even bodies, a leg on each
    j.parent = BodyId{i == 0 ? -1 : std::max(0, parent)};
    j.child = child;
    j.X_PF.p = Vec3(i == 0 ? 0 : 0.1, 0, 0);
    if (shape != Shape::straight) {
      j.X_PF.R = math::so3_exp(random.vector(2));
      j.X_BM.R = math::so3_exp(random.vector(2));
    }
    b.add(std::move(j));
  }
  return std::move(b).build();
}

// Everything that acts on a linkage, and its accelerations by the plain articulated-body pass.
struct Case {
  explicit Case(const Model& model)
      : tree(model),
        q(VecX::Zero(tree.q_count())),
        tau(VecX::Zero(tree.v_count())),
        weight(VecX::Ones(tree.v_count())),
        kappa(static_cast<std::size_t>(tree.block_count()), 0.0),
        wrench(tree.size(), Vec6::Zero()),
        assembly(tree),
        c(tree, assembly),
        links(tree.size()),
        w(tree) {
    for (const multibody::Link& link : tree.links()) multibody::set_coordinates(link, {}, q.data() + link.q);
  }
  Case(const Case&) = delete;

  adaptive::JointInput input() const {
    adaptive::JointInput in;
    in.q = q.data();
    in.tau = tau.data();
    in.kappa = kappa.data();
    in.weight = weight.data();
    in.gravity = gravity;
    return in;
  }
  // Where a state stands, and what the model's loads are there.
  void stand(const Model& model, const std::vector<double>& at) {
    q = Eigen::Map<const VecX>(at.data(), static_cast<Eigen::Index>(at.size()));
    const VecX v = VecX::Zero(tree.v_count());
    multibody::kinematics(tree, q.data(), v.data(), links);
    for (Vec6& f : wrench) f.setZero();
    for (const PointLoad& l : model.point_loads()) {
      const int i = l.at.body.value;
      const Mat3 R = l.follows ? tree[i].X_MB.R : Mat3(links[i].X_WM.R.transpose());
      const Vec3 force = R * l.force.value(0), p = tree[i].X_MB * l.at.p;
      wrench[i].head<3>() += p.cross(force);
      wrench[i].tail<3>() += force;
    }
  }
  void random_forces(Random& random, int count) {
    for (Vec6& f : wrench) f.setZero();
    for (int k = 0; k < count; ++k)
      for (double& x : wrench[random.integer(tree.size())]) x = random.uniform(-1, 1);
  }
  void assemble(bool totals = true, multibody::Workers* workers = nullptr) {
    for (int i = 0; i < tree.size(); ++i) c.set_wrench(i, wrench[i]);
    c.update_all(input(), totals, workers);
  }
  VecX oracle() {
    const VecX v = VecX::Zero(tree.v_count());
    multibody::kinematics(tree, q.data(), v.data(), links);
    std::vector<Vec6> forces = wrench;
    for (int i = 0; i < tree.size(); ++i) {
      const Vec3 g = links[i].X_WM.R.transpose() * gravity;
      forces[i].head<3>() += tree[i].inertia.h.cross(g);
      forces[i].tail<3>() += tree[i].inertia.m * g;
    }
    multibody::AbaInput in;
    in.links = &links;
    in.tau = tau.data();
    in.wrench = forces.data();
    in.joint_block = kappa.data();
    VecX a(tree.v_count());
    EXPECT_TRUE(multibody::aba(tree, q.data(), in, w, a.data()));
    return a;
  }
  VecX full(multibody::Workers* workers = nullptr) {
    adaptive::BackSubstitution back(c);
    VecX a(tree.v_count());
    back(c, a.data(), workers);
    return a;
  }
  double total() const {
    double sum = 0;
    for (const int root : assembly.roots) sum += c.data(root)[adaptive::at::eta];
    return sum;
  }

  multibody::Tree tree;
  VecX q, tau, weight;
  std::vector<double> kappa;
  std::vector<Vec6> wrench;
  Vec3 gravity = Vec3::Zero();
  adaptive::AssemblyTree assembly;
  adaptive::Coefficients c;
  std::vector<multibody::LinkMotion> links;
  multibody::AbaWorkspace w;
};

}  // namespace limber::testing
