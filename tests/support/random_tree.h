// Random structures for property tests: every joint kind, random frames and inertias, reproducible from a
// seed.
#pragma once

#include <random>

#include "limber/model/model.h"
#include "limber/multibody/tree.h"

namespace limber::testing {

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  double uniform(double a, double b) { return a + (b - a) * (static_cast<double>(engine_()) / 4294967296.0); }
  int integer(int below) { return static_cast<int>(engine_() % static_cast<unsigned>(below)); }
  Vec3 vector(double size) { return {uniform(-size, size), uniform(-size, size), uniform(-size, size)}; }
  Pose pose(double size) { return {math::so3_exp(vector(2)), vector(size)}; }
  VecX vector_n(int n, double size) {
    VecX x(n);
    for (int i = 0; i < n; ++i) x[i] = uniform(-size, size);
    return x;
  }

 private:
  std::mt19937 engine_;  // 32 random bits a call, the same on every platform
};

inline Body random_body(Random& random, const std::string& name) {
  Body body;
  body.name = name;
  const double m = random.uniform(0.1, 3);
  body.inertia = Inertia::about_com(m, random.vector(0.3),
                                    math::box_inertia(m, random.vector(0.5).cwiseAbs() + Vec3::Constant(0.1)))
                     .in_frame(Pose::rotation(math::so3_exp(random.vector(2))));
  return body;
}

// n bodies; `reach` bounds how far back a parent may be (1: a chain); the first `kinds` of all_joint_kinds at
// random: all but the last, distance, which hangs no body; fixed to free are the first seven.
inline ModelParts random_tree(Random& random, int n, int reach, int kinds = 12) {
  ModelBuilder b;
  b.parts.gravity = VectorFunction::constant({0, 0, 0});
  for (int i = 0; i < n; ++i) {
    const BodyId child = b.add(random_body(random, "body" + std::to_string(i)));
    Joint j;
    j.name = "joint" + std::to_string(i);
    j.kind = all_joint_kinds[random.integer(kinds)];
    const int back = 1 + random.integer(std::min(reach, i + 1));
    j.parent = BodyId{i - back};  // −1: the world
    j.child = child;
    j.X_PF = random.pose(0.5);
    j.X_BM = random.pose(0.5);
    if (j.kind == JointKind::screw) j.pitch = random.uniform(0.5, 3) * (random.integer(2) ? 1 : -1);
    b.add(std::move(j));
  }
  return std::move(b.parts);
}

inline VecX random_coordinates(Random& random, const multibody::Tree& tree) {
  VecX q(tree.q_count());
  for (const multibody::Link& link : tree.links()) {
    DofArray d{};
    for (double& x : d) x = random.uniform(-1.5, 1.5);
    multibody::set_coordinates(link, d, q.data() + link.q);
  }
  return q;
}

}  // namespace limber::testing
