// Structures of beams that are tied: limit loads against an elastica of its own, ties and springs against
// closed forms.
#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "limber/chain/path.h"
#include "limber/chain/stress.h"
#include "tests/chain/models.h"

namespace limber::chain_test {
namespace {

// --- snap-through against a planar elastica of its own: angles of N straight cells, dense Newton

// Feet clamped at `left` and at distance X, Y; unloaded angles `rest`; a load P down at the middle node.
// Displacement control: for every height of the middle node, the shape and the load.
struct Elastica {
  int n;
  double h, EI, X, Y;
  std::vector<double> rest;  // n cells; the feet have rest[0] and rest[n − 1] as written by `left`, `right`
  double left, right;

  double load_at(double height, Eigen::VectorXd& z) const {  // z: angles, λx, λy, P
    for (int it = 0; it < 60; ++it) {
      Eigen::VectorXd r = Eigen::VectorXd::Zero(n + 3);
      Eigen::MatrixXd K = Eigen::MatrixXd::Zero(n + 3, n + 3);
      const double k = EI / h;
      for (int i = 0; i + 1 < n; ++i) {
        const double m = k * (z[i + 1] - z[i] - (rest[i + 1] - rest[i]));
        r[i] -= m, r[i + 1] += m;
        K(i, i) += k, K(i + 1, i + 1) += k, K(i, i + 1) -= k, K(i + 1, i) -= k;
      }
      // Half a cell to the clamps.
      r[0] += 2 * k * (z[0] - left - (rest[0] - left)), K(0, 0) += 2 * k;
      r[n - 1] += 2 * k * (z[n - 1] - right - (rest[n - 1] - right)), K(n - 1, n - 1) += 2 * k;
      double x = 0, y = 0, mid = 0;
      for (int i = 0; i < n; ++i) {
        const double c = h * std::cos(z[i]), s = h * std::sin(z[i]);
        x += c, y += s;
        if (i < n / 2) mid += s;
        const double dy = z[n + 1] + (i < n / 2 ? z[n + 2] : 0);  // P · y_mid is added to the energy
        r[i] += -s * z[n] + c * dy;
        K(i, i) += -c * z[n] - s * dy;
        K(i, n) -= s, K(n, i) -= s, K(i, n + 1) += c, K(n + 1, i) += c;
        if (i < n / 2) K(i, n + 2) += c, K(n + 2, i) += c;
      }
      r[n] = x - X, r[n + 1] = y - Y, r[n + 2] = mid - height;
      const Eigen::VectorXd d = -K.partialPivLu().solve(r);
      z += d;
      if (d.cwiseAbs().maxCoeff() < 1e-11 * std::max(1.0, z.cwiseAbs().maxCoeff())) return z[n + 2];
    }
    return NAN;
  }

  // The first maximum of the load on the way down.
  double limit(double from, double to) const {
    Eigen::VectorXd z = Eigen::VectorXd::Zero(n + 3);
    for (int i = 0; i < n; ++i) z[i] = rest[i];
    double last = 0, before = 0;
    const int steps = 120;
    for (int i = 1; i <= steps; ++i) {
      const double P = load_at(from + (to - from) * i / steps, z);
      if (i > 2 && P < last) {  // the parabola through three points
        const double a = before - 2 * last + P, b = 0.5 * (P - before);
        return last - b * b / (2 * a);
      }
      before = last, last = P;
    }
    return NAN;
  }
};

chain::PathReport snap(const Model& model, double end = 1) {
  const chain::System system = chain::compile(model);
  chain::Solver solver(system.structure());
  chain::Rest rest = system.rest();
  chain::PathOptions path;
  path.end = end, path.pass_end = true, path.most = 3, path.max_points = 400;
  return chain::follow(solver, rest, path, nullptr);
}

double first_limit(const chain::PathReport& r) {
  for (const auto& l : r.lost)
    if (l.limit) return l.factor;
  return NAN;
}

TEST(Chain, AShallowArchSnapsAtItsLimitLoad) {
  // Radius 1 m, 60 degrees in all, clamped at both feet, pushed in the middle.
  constexpr double half = pi / 6;
  ArcPath arc;
  arc.direction = {std::cos(half), 0, std::sin(half)};
  arc.towards = Vec3(std::sin(half), 0, -std::cos(half));
  arc.radius = 1, arc.angle = 2 * half;
  OneBeam b(arc, 12, 6, Rectangle{1, 1}, 20, Recipe::consistent_3r, Vec3::UnitZ());
  b.builder.parts.beams[0].planar = true;
  const double unit = 100;
  b.load(0.5, {0, 0, -unit});
  Tie foot;
  foot.name = "foot", foot.on = b.at(1);
  b.builder.add(foot);
  const auto report = snap(b.builder.build());

  Elastica e;
  e.n = 160, e.EI = 1, e.h = 2 * half / e.n, e.left = half, e.right = -half;
  for (int i = 0; i < e.n; ++i) e.rest.push_back(half - (i + 0.5) * e.h);
  e.X = e.Y = 0;
  for (const double a : e.rest) e.X += e.h * std::cos(a), e.Y += e.h * std::sin(a);
  const double top = 1 - std::cos(half);
  const double limit = e.limit(top, -top);
  std::printf("arch: limit load %.6g, reference %.6g, off %.1e\n", first_limit(report) * unit, limit,
              first_limit(report) * unit / limit - 1);
  EXPECT_NEAR(first_limit(report) * unit / limit, 1, 5e-3);  // asked: 0.5 %
}

TEST(Chain, AVonMisesTrussOfBeamsSnapsAtItsLimitLoad) {
  // Two beams, 1 m each, rising by 20 degrees, clamped at their feet, welded at the top. They cannot be
  // shortened, so straight ones would stand until they buckle: these are bowed upwards by 6 degrees at each
  // end.
  constexpr double rise = pi / 9, bow = pi / 30;
  ArcPath path;
  path.direction = {std::cos(rise + bow), 0, std::sin(rise + bow)};
  path.towards = {std::sin(rise + bow), 0, -std::cos(rise + bow)};
  path.angle = 2 * bow, path.radius = 1 / path.angle;
  OneBeam b(path, 12, 6, Rectangle{1, 1}, 16, Recipe::consistent_3r);
  Beam right = b.builder.parts.beams[0];
  right.name = "right";
  ArcPath mirrored = path;
  const double chord = 2 * path.radius * std::sin(bow);
  mirrored.start = {2 * chord * std::cos(rise), 0, 0};
  mirrored.direction.x() *= -1, mirrored.towards.x() *= -1;
  right.path = mirrored;
  const BeamId other = b.builder.add(right);
  for (Beam& beam : b.builder.parts.beams) beam.planar = true;
  const double unit = 100;
  b.load(1, {0, 0, -unit});
  Tie top;
  top.name = "top", top.on = b.at(1), top.to.beam = other, top.to.s = 1;
  b.builder.add(top);
  const auto report = snap(b.builder.build());

  Elastica e;
  e.n = 160, e.EI = 1, e.h = 2.0 / e.n, e.left = rise + bow, e.right = -rise - bow;
  for (int i = 0; i < e.n / 2; ++i) e.rest.push_back(rise + bow - 2 * bow * (i + 0.5) * e.h);
  for (int i = e.n / 2; i-- > 0;) e.rest.push_back(-e.rest[i]);
  e.X = e.Y = 0;
  for (const double a : e.rest) e.X += e.h * std::cos(a), e.Y += e.h * std::sin(a);
  const double top_height = chord * std::sin(rise);
  const double limit = e.limit(top_height, -top_height);
  std::printf("truss: limit load %.6g, reference %.6g, off %.1e\n", first_limit(report) * unit, limit,
              first_limit(report) * unit / limit - 1);
  EXPECT_NEAR(first_limit(report) * unit / limit, 1, 5e-3);  // asked: 0.5 %
}

// --- ties and springs

TEST(Chain, AProppedCantileverCarriesThreeEighths) {
  auto b = unit_cantilever(20, Recipe::consistent_3r);
  DistributedLoad load;
  load.name = "weight", load.beam = b.beam;
  const double w = 1e-3;  // small: linear theory, error of the order of w²
  load.force_per_length = VectorFunction::constant({0, 0, -w});
  b.builder.add(load);
  Tie prop;
  prop.name = "prop", prop.kind = JointKind::planar, prop.on = b.at(1);
  b.builder.add(prop);
  const Solved s = solve(b.builder.build());
  ASSERT_TRUE(s.report.stable());
  chain::Solver solver(s.system.structure());
  const auto held = chain::reactions(s.system, solver, s.rest);
  ASSERT_EQ(held.size(), 2u);
  // planar holds rotations about x and y too: the tip stays level, and each end carries half.
  EXPECT_NEAR(held[1].force.z() / w, 0.5, 2e-4);  // 20 elements, second order
  EXPECT_NEAR(held[0].force.z() / w, 0.5, 2e-4);
  EXPECT_NEAR(held[0].moment.y() / w, -1.0 / 12, 2e-4);
}

TEST(Chain, APrescribedTipIsWhereItWasPut) {
  auto b = unit_cantilever(20, Recipe::consistent_3r);
  Tie hand;
  hand.name = "hand", hand.on = b.at(1), hand.shift = VectorFunction::constant({-0.2, 0, 0.3});
  hand.turn = VectorFunction::constant({0, -0.4, 0});
  b.builder.add(hand);
  const Solved s = solve(b.builder.build());
  ASSERT_TRUE(s.report.report.ok()) << s.report.report.message;
  EXPECT_LT((s.tip() - Vec3(0.8, 0, 0.3)).norm(), 1e-11);
  EXPECT_LT((s.tip_frame().col(0) - Vec3(std::cos(0.4), 0, std::sin(0.4))).norm(), 1e-10);
}

TEST(Chain, ASpringAtTheTipTakesItsShare) {
  // Small load: F = (3EI/L³ + k) δ.
  auto b = unit_cantilever(20, Recipe::consistent_3r);
  b.load(1, {0, 0, -1e-4});
  Spring spring;
  spring.name = "spring", spring.a.p = {1, 0, 2}, spring.b = b.at(1), spring.stiffness = 5;
  b.builder.add(spring);
  const Solved s = solve(b.builder.build());
  EXPECT_NEAR(s.tip().z() / (-1e-4 / 8), 1, 1e-3);  // 20 elements: 3EI/L³ within 1e-3
  EXPECT_TRUE(s.report.stable());
}

TEST(Chain, RedundantTiesAreHarmless) {
  auto b = unit_cantilever(10, Recipe::consistent_3r);
  b.load(0.5, {0, 0, -3});
  Tie foot;
  foot.name = "foot", foot.on = b.at(1), foot.kind = JointKind::prismatic, foot.axis = Vec3::UnitX();
  b.builder.add(foot);
  const Solved one = solve(b.builder.build());
  foot.name = "twice";
  b.builder.add(foot);
  const Solved two = solve(b.builder.build());
  ASSERT_TRUE(two.report.report.ok()) << two.report.report.message;
  EXPECT_EQ(two.report.redundant_rows - one.report.redundant_rows, 5);
  EXPECT_LT((one.shot.points[10] - two.shot.points[10]).norm(), 1e-9);
}

}  // namespace
}  // namespace limber::chain_test
