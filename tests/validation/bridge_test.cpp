// The sag of the 30-link bridge three ways: by `solve_static`, by running the dynamics to rest, and by a
// dense Newton iteration on a planar model written here, in absolute angles, with the loop as two
// multipliers.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>

#include "limber/articulated/statics.h"
#include "limber/scene/scene.h"

namespace limber::articulated {
namespace {

struct PlanarBridge {
  static constexpr int n = 30;
  double span = 24, arc = 20 * std::numbers::pi / 180, bank = 3, tower = 5, height = 10, low = 6, g = 9.8;
  double L = span * std::sin(arc / (2 * n)) / std::sin(arc / 2), mass = 1000 * 0.25 * L, k = 10, EA = 1e7;
  VecX start{n};
  std::vector<Vec2> anchor{n};
  VecX rest{n};

  PlanarBridge() {
    for (int i = 0; i < n; ++i) start[i] = arc * (n - 1) / (2 * n) - i * arc / n;
    for (int i = 0; i < n; ++i) {
      const double x = span * ((i + 0.5) / n - 0.5);
      anchor[i] = {i < n / 2 ? -tower : tower,
                   low + (height - low) * std::abs(std::abs(x) - tower) / (span / 2 - tower)};
      rest[i] = (anchor[i] - middle(start, i)).norm();
    }
  }
  Vec2 node(const VecX& a, int i) const {
    Vec2 p(-span / 2, bank);
    for (int j = 0; j < i; ++j) p += L * Vec2(std::cos(a[j]), std::sin(a[j]));
    return p;
  }
  Vec2 middle(const VecX& a, int i) const {
    return node(a, i) + 0.5 * L * Vec2(std::cos(a[i]), std::sin(a[i]));
  }
  // ∂(force · middle_i)/∂a, added to grad.
  void pull(const VecX& a, int i, const Vec2& f, VecX& grad) const {
    for (int j = 0; j <= i; ++j) {
      const double length = j < i ? L : 0.5 * L;
      grad[j] += length * f.dot(Vec2(-std::sin(a[j]), std::cos(a[j])));
    }
  }
  VecX gradient(const VecX& a) const {
    VecX grad = VecX::Zero(n);
    for (int i = 0; i < n; ++i) {
      pull(a, i, Vec2(0, mass * g), grad);
      const Vec2 d = middle(a, i) - anchor[i];
      pull(a, i, EA / rest[i] * (d.norm() - rest[i]) * d.normalized(), grad);
      if (i == 0) continue;
      const double bend = (a[i] - a[i - 1]) - (start[i] - start[i - 1]);
      grad[i] += k * bend;
      grad[i - 1] -= k * bend;
    }
    return grad;
  }
  MatX rows(const VecX& a) const {
    MatX G(2, n);
    for (int j = 0; j < n; ++j) G.col(j) = L * Vec2(-std::sin(a[j]), std::cos(a[j]));
    return G;
  }
  // z of the joint in the middle, at rest.
  double solve() const {
    VecX x = VecX::Zero(n + 2);
    x.head(n) = start;
    const auto residual = [&](const VecX& y) {
      const VecX a = y.head(n);
      VecX r(n + 2);
      r.head(n) = gradient(a) + rows(a).transpose() * y.tail(2);
      r.tail(2) = node(a, n) - Vec2(span / 2, bank);
      return r;
    };
    for (int round = 0; round < 100; ++round) {
      MatX K(n + 2, n + 2);
      for (int c = 0; c < n + 2; ++c) {
        const double eps = c < n ? 1e-6 : 1e-3;
        K.col(c) =
            (residual(x + eps * VecX::Unit(n + 2, c)) - residual(x - eps * VecX::Unit(n + 2, c))) / (2 * eps);
      }
      const VecX step = K.fullPivLu().solve(-residual(x));
      double share = 1;
      while (share > 1e-4 && residual(x + share * step).head(n).norm() > residual(x).head(n).norm())
        share /= 2;
      x += share * step;
      if (step.head(n).norm() < 1e-13) break;
    }
    return node(x.head(n), n / 2).y();
  }
};

scene::Scene bridge() { return scene::load(std::string(LIMBER_SCENES) + "/bridge.yaml", {}); }

double middle_height(const System& system, const State& state, Workspace& w) {
  result::Snapshot at;
  observe(system, state, w, at);
  return at.scalars[2];  // middle.z
}

TEST(Bridge, SagThreeWays) {
  const scene::Scene scene = bridge();
  Options options = scene.run.articulated;
  options.integrator = Integrator::implicit_euler;
  const System system = compile(scene.model, options);
  Workspace w(system);
  State state = system.rest();
  const double start = middle_height(system, state, w);

  StaticResult found = solve_static(system, state, w);
  ASSERT_TRUE(found.report.ok()) << found.report.message;
  EXPECT_TRUE(found.stable());
  EXPECT_LT(found.gap, 1e-12);
  const double by_statics = middle_height(system, state, w);

  State moving = system.rest();
  double speed = 1;
  for (int i = 0; i < 4000 && (i < 100 || speed > 1e-13); ++i) {
    const auto report = step(system, moving, w, 0.05);
    ASSERT_TRUE(report.ok()) << report.message;
    EXPECT_LT(report.loop_gap, 1e-9);
    speed = 0;
    for (const double v : moving.v) speed = std::max(speed, std::abs(v));
  }
  const double by_dynamics = middle_height(system, moving, w);
  const double by_plane = PlanarBridge().solve();

  const double sag = std::abs(start - by_statics);  // the arch pushes its crown up a little
  RecordProperty("sag_m", std::to_string(sag));
  EXPECT_GT(sag, 1e-5);
  EXPECT_NEAR(by_dynamics, by_statics, 1e-8 * sag);
  EXPECT_NEAR(by_plane, by_statics, 1e-8 * sag);
}

// A run that starts at rest stays there.
TEST(Bridge, StartsAtRest) {
  const scene::Scene scene = bridge();
  Options options = scene.run.articulated;
  options.integrator = Integrator::midpoint;
  const System system = compile(scene.model, options);
  Workspace w(system);
  State state = system.rest();
  ASSERT_TRUE(solve_static(system, state, w).report.ok());
  const double z = middle_height(system, state, w);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(step(system, state, w, 0.01).ok());
  EXPECT_NEAR(middle_height(system, state, w), z, 1e-9);  // of 24 m: forces of 1e-10 of the weight are left
}

}  // namespace
}  // namespace limber::articulated
