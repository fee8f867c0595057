// The interior-point method in the space of what moves, where the problem is convex. With friction: the wall
// of tests/validation/contact_classics_test.cpp.
#include "limber/contact/interior_cone.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

namespace limber::contact {
namespace {

// What moves: a dense A; contacts by a dense J.
class Dense final : public ContactAnswer {
 public:
  Dense(Eigen::MatrixXd a, Eigen::MatrixXd j) : A(std::move(a)), J(std::move(j)), plain(A) {}

  void move(const std::vector<Vec3>& f, std::vector<Vec3>& u) override { solve(plain, f, u); }
  bool stiffen(const std::vector<Mat3>& K) override {
    Eigen::MatrixXd stiff = A;
    for (std::size_t c = 0; c < K.size(); ++c) {
      const auto rows = J.middleRows<3>(3 * static_cast<Eigen::Index>(c));
      stiff += rows.transpose() * K[c] * rows;
    }
    stiffened.compute(stiff);
    return stiffened.info() == Eigen::Success;
  }
  void move_stiff(const std::vector<Vec3>& f, std::vector<Vec3>& u) override { solve(stiffened, f, u); }

  Eigen::MatrixXd A, J;

 private:
  void solve(const Eigen::LLT<Eigen::MatrixXd>& by, const std::vector<Vec3>& f, std::vector<Vec3>& u) const {
    Eigen::VectorXd flat(3 * static_cast<Eigen::Index>(f.size()));
    for (std::size_t c = 0; c < f.size(); ++c) flat.segment<3>(3 * static_cast<Eigen::Index>(c)) = f[c];
    const Eigen::VectorXd moved = J * by.solve(J.transpose() * flat);
    u.resize(f.size());
    for (std::size_t c = 0; c < f.size(); ++c) u[c] = moved.segment<3>(3 * static_cast<Eigen::Index>(c));
  }
  Eigen::LLT<Eigen::MatrixXd> plain, stiffened;
};

// Twenty contacts where ten can be told apart: many forces, one motion.
TEST(InteriorCone, GoesAllTheWayWithoutFriction) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 from(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    Eigen::MatrixXd root(10, 10), J(3 * 20, 10);
    for (double& x : root.reshaped()) x = uniform(from);
    for (double& x : J.reshaped()) x = uniform(from);
    Dense answer(root * root.transpose() + 0.1 * Eigen::MatrixXd::Identity(10, 10), J);
    Eigen::VectorXd v(10);
    for (double& x : v) x = uniform(from);
    const Eigen::VectorXd free = J * v;
    ManyContacts p;
    p.first = {0, 20};
    for (int c = 0; c < 20; ++c) {
      p.free.push_back(free.segment<3>(3 * c));
      p.friction.push_back(0);
      p.mobility.push_back(1);
    }
    std::vector<Vec3> lambda(20, Vec3::Zero());
    InteriorCone solver;
    const FrictionReport found = solver.solve(p, answer, {1}, 1e-9, 60, lambda)[0];
    EXPECT_LT(found.residual, 1e-9) << "seed " << seed;
    EXPECT_EQ(found.cone_violation, 0);  // all places on the way are inside
  }
}

}  // namespace
}  // namespace limber::contact
