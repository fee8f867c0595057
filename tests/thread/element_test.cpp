// The element: its gradient and its tangent against differences, rigid motions, the linear solver.
#include <Eigen/LU>
#include <random>

#include "limber/math/so3.h"
#include "limber/thread/block_inverse.h"
#include "limber/thread/stiffness.h"
#include "thread_support.h"

namespace limber::thread {
namespace {

constexpr int n = 7;  // one pack and a part of another

struct Case {
  ElementArrays a{n};
  std::vector<double> e = std::vector<double>(12 * n);

  // fold > 0: with walls, and nodes that turn far enough to lean on them.
  explicit Case(double strain, double fold = 0) {
    const Material m = material_of(1e6, 0.3, 1100);
    Rod rod = make_rod(m, Rectangle{0.02, 0.03});
    const ElementStiffness k = element_stiffness(rod, 0.1);
    for (int j = 0; j + 1 < n; ++j) {
      if (j == 3) continue;  // an empty slot: two threads
      for (int i = 0; i < slot::rest; ++i) a.constants[i][j] = k.k[i];
      a.constants[slot::rest][j] = 0.1;
      a.constants[slot::rest + 4][j] = 0.1;  // curved and twisted at ease
      a.constants[slot::rest + 3][j] = 0.05;
      a.constants[slot::scale][j] = 1;
      a.constants[slot::rest_strain_1 + 3][j] = 0.02;
      a.constants[slot::fold][j] = fold;
    }
    std::mt19937 engine(3);
    std::normal_distribution<double> normal;
    const auto vec = [&] { return Vec3(normal(engine), normal(engine), normal(engine)); };
    for (int j = 0; j < n; ++j) {
      Mat3 F = Mat3::Identity();
      for (int i = 0; i < 9; ++i) F(i % 3, i / 3) += strain * normal(engine);
      Vec3 turn = (fold > 0 ? 0.05 : 0.6) * vec();
      if (fold > 0)
        turn += j == 1 ? Vec3(0, 0, 1.0) : j > 4 ? Vec3(0, j == 5 ? -1.05 : 1.05, 0) : Vec3(0, 0, 0);
      F = math::so3_exp(turn) * F;
      const Vec3 x = Vec3(0.1 * j, 0, 0) + 0.3 * strain * vec();
      for (int i = 0; i < 3; ++i) e[12 * j + i] = x[i];
      for (int i = 0; i < 9; ++i) e[12 * j + 3 + i] = F(i % 3, i / 3);
    }
  }
  double energy(const std::vector<double>& x, bool tangent = false) {
    gather(x.data(), n, a);
    EXPECT_TRUE(polar(n, a));
    elements(n, tangent, a);
    double sum = 0;
    for (int j = 0; j < n; ++j) sum += a.energy[0][j];
    return sum;
  }
  std::vector<double> turned(const std::vector<double>& local, const Table& P) {
    std::vector<double> out(12 * n);
    for (int j = 0; j < n; ++j)
      for (int b = 0; b < 4; ++b)
        for (int i = 0; i < 3; ++i)
          for (int k = 0; k < 3; ++k) out[12 * j + 3 * b + i] += P[3 * i + k][j] * local[12 * j + 3 * b + k];
    return out;
  }
};

TEST(Element, GradientIsTheEnergys) {
  for (const auto& [strain, fold] : {std::pair{0.01, 0.0}, {0.1, 0.0}, {0.03, 1.0}}) {
    Case c(strain, fold);
    c.energy(c.e);
    const std::vector<double> g = c.turned({c.a.g.begin(), c.a.g.end()}, c.a.P);
    double largest = 0, worst = 0;
    for (int i = 0; i < 12 * n; ++i) {
      std::vector<double> p = c.e, m = c.e;
      p[i] += 1e-6, m[i] -= 1e-6;
      const double slope = (c.energy(p) - c.energy(m)) / 2e-6;
      worst = std::max(worst, std::abs(slope - g[i]));
      largest = std::max(largest, std::abs(slope));
    }
    EXPECT_LT(worst, 1e-8 * largest);  // central differences at 1e-6
  }
}

void tangent_is_the_gradients(double strain, double fold) {
  Case c(strain, fold);
  c.energy(c.e, true);
  const Table P = c.a.P;
  const Numbers D = c.a.D, O = c.a.O;
  std::mt19937 engine(5);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 3; ++trial) {
    std::vector<double> x(12 * n), y(12 * n, 0.0);
    for (double& v : x) v = normal(engine);
    block_multiply(n, D.data(), O.data(), x.data(), y.data());
    const std::vector<double> dx = c.turned(x, P), wanted = c.turned(y, P);
    std::vector<double> p = c.e, m = c.e;
    for (int i = 0; i < 12 * n; ++i) p[i] += 1e-6 * dx[i], m[i] -= 1e-6 * dx[i];
    c.energy(p);
    const auto gp = c.turned({c.a.g.begin(), c.a.g.end()}, c.a.P);
    c.energy(m);
    const auto gm = c.turned({c.a.g.begin(), c.a.g.end()}, c.a.P);
    double largest = 0, worst = 0;
    for (int i = 0; i < 12 * n; ++i) {
      worst = std::max(worst, std::abs((gp[i] - gm[i]) / 2e-6 - wanted[i]));
      largest = std::max(largest, std::abs(wanted[i]));
    }
    EXPECT_LT(worst, 1e-7 * largest);
  }
}
TEST(Element, TangentIsTheGradients) { tangent_is_the_gradients(0.1, 0); }

// Both walls take part: one sees the turn of an element, the other the slope at a node.
TEST(Element, TangentAtTheWalls) {
  Case with(0.03, 1), without(0.03, 1);
  for (int j = 0; j < n; ++j) without.a.constants[slot::fold][j] = 0;
  with.energy(with.e), without.energy(with.e);
  bool turned = false, leans = false;
  for (int j = 0; j + 1 < n; ++j) {
    const double more = with.a.energy[0][j] - without.a.energy[0][j];
    double S = 0;
    for (int i = 3; i < 6; ++i) S += with.a.z[i][j] * with.a.z[i][j];
    (S > fold_begins ? turned : leans) |= more > 0;
    EXPECT_TRUE(j == 3 || with.a.gap[0][j] > 0) << j;
  }
  EXPECT_TRUE(turned && leans);
  tangent_is_the_gradients(0.03, 1);
}

TEST(Element, RigidMotionChangesNothing) {
  Case c(0.1);
  const double before = c.energy(c.e);
  const Mat3 R = math::so3_exp({0.7, -1.1, 2.0});
  std::vector<double> moved = c.e;
  for (int j = 0; j < n; ++j)
    for (int b = 0; b < 4; ++b) {
      const Vec3 v = R * Vec3(c.e[12 * j + 3 * b], c.e[12 * j + 3 * b + 1], c.e[12 * j + 3 * b + 2]) +
                     (b == 0 ? Vec3(1, 2, 3) : Vec3(0, 0, 0));
      for (int i = 0; i < 3; ++i) moved[12 * j + 3 * b + i] = v[i];
    }
  EXPECT_NEAR(c.energy(moved), before, 1e-12 * before);
}

TEST(BlockTridiagonal, SolvesFromAnyTop) {
  const int nodes = 9;
  std::mt19937 engine(11);
  std::normal_distribution<double> normal;
  Numbers D(144 * nodes), O(144 * nodes);
  std::vector<double> x(12 * nodes), b(12 * nodes, 0.0);
  for (double& v : O) v = normal(engine);
  for (double& v : x) v = normal(engine);
  for (int j = 0; j < nodes; ++j)
    for (int i = 0; i < 12; ++i)
      for (int k = 0; k <= i; ++k)
        D[144 * j + 12 * i + k] = D[144 * j + 12 * k + i] = normal(engine) + (i == k ? 80 : 0);
  block_multiply(nodes, D.data(), O.data(), x.data(), b.data());
  BlockTridiagonal solver;
  BlockInverse inverse;
  solver.resize(nodes);
  inverse.resize(nodes);
  for (int top = 0; top < nodes; ++top) {
    Numbers D1 = D, O1 = O;
    EXPECT_EQ(solver.factor(nodes, top, D1.data(), O1.data()), -1);
    std::vector<double> y = b;
    solver.solve(y.data());
    for (int i = 0; i < 12 * nodes; ++i) ASSERT_NEAR(y[i], x[i], 1e-12);
    // Three forces at each node in turn: what moves at the node itself and at all on its way to the top.
    inverse.reset();
    inverse.cover(solver, 0, nodes - 1);
    for (int j = 0; j < nodes; ++j) {
      const int way = j <= top ? 1 : -1;
      double carried[36 * nodes] = {}, size = 0;
      for (int i = 0; i < 36; ++i) carried[i] = normal(engine);
      std::vector<double> moved[3];
      for (int r = 0; r < 3; ++r) {
        moved[r].assign(12 * nodes, 0.0);
        std::copy_n(carried + 12 * r, 12, moved[r].begin() + 12 * j);
        solver.solve(moved[r].data());
      }
      EXPECT_EQ(carry_forces(inverse, j, top, way, false, carried, size), top);
      for (int k = j; way * (top - k) >= 0; k += way) {
        double out[36];
        apply3(inverse.diagonal(k), carried + 36 * (way * (k - j)), out);
        for (int i = 0; i < 36; ++i)
          ASSERT_NEAR(out[i], moved[i / 12][12 * k + i % 12], 1e-14) << top << " " << j;
      }
      // The node beyond it follows.
      const int beyond = j - way;
      if (beyond < 0 || beyond >= nodes || (j == top && way * (beyond - top) > 0)) continue;
      double follows[36] = {}, here[36];
      for (int i = 0; i < 36; ++i) here[i] = moved[i / 12][12 * j + i % 12];
      add_follow3(inverse.transfer(beyond), here, follows);
      for (int i = 0; i < 36; ++i) ASSERT_NEAR(follows[i], moved[i / 12][12 * beyond + i % 12], 1e-14);
    }
  }
  D[144 * 4] = -5;
  EXPECT_GE(solver.factor(nodes, 3, D.data(), O.data()), 0);
  EXPECT_GT(solver.negative(), 0);
}

TEST(Stiffness, BendingHasNoPoissonLocking) {
  // One straight element under a moment: EI/l, whatever ν. (The printed element has (1−ν)/((1+ν)(1−2ν)) times
  // it.)
  for (const double nu : {0.0, 0.3, 0.4, 0.49}) {
    const Rod rod = make_rod(material_of(1e6, nu, 1000), Rectangle{0.02, 0.02});
    const ElementStiffness k = element_stiffness(rod, 0.1);
    EXPECT_NEAR(k.k[slot::bend_z], 1e6 * std::pow(0.02, 4) / 12 / 0.1, 1e-12);
    // Stretch with a free section: EA/l from the axial block by elimination of the strains.
    Eigen::MatrixXd K(7, 7);
    for (int i = 0, at = 0; i < 7; ++i)
      for (int j = i; j < 7; ++j, ++at) K(i, j) = K(j, i) = k.k[slot::axial + at];
    const Eigen::MatrixXd S = K.bottomRightCorner(6, 6);
    const double stiffness = K(0, 0) - K.row(0).tail(6).dot(S.inverse() * K.col(0).tail(6));
    EXPECT_NEAR(stiffness, 1e6 * 4e-4 / 0.1, 1e-6 * 4000) << nu;
  }
}

}  // namespace
}  // namespace limber::thread
