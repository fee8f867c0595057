// Reduced against whole mechanisms at rest: first order in the load for one point, exact at the points,
// better between them.
#include "limber/rom/statics.h"

#include <gtest/gtest.h>

#include "limber/sim/reduce.h"
#include "tests/support/mechanism_file.h"

namespace limber::rom {
namespace {

using limber::testing::mechanism_of;
using limber::testing::vec3;

struct Case {
  Model model;
  Options options;
  Vec6 wrench;  // at the end body's origin
};

Case case_of(const char* name) {
  const auto file = limber::testing::reference(name);
  ModelParts parts = mechanism_of(file).parts();
  parts.point_loads.clear();
  Options options;
  options.ends = {"b" + std::to_string(file["end_effector"]["body"].get<int>())};
  const Vec3 f = vec3(file["static_case"]["load"]["F"]), m = vec3(file["static_case"]["load"]["M"]);
  Vec6 w;
  w << m, f;
  return {Model(std::move(parts)), options, w};
}

class Mechanisms : public ::testing::TestWithParam<const char*> {};

// Halving the load divides the error by four (up to the next order, a tenth here).
TEST_P(Mechanisms, ErrorFallsWithTheSquareOfTheLoad) {
  const Case c = case_of(GetParam());
  const ReducedModel reduced = sim::reduce(c.model, c.options);
  const Mechanism& m = reduced.mechanisms[0];
  double last = 0;
  for (const double share : {0.02, 0.01, 0.005}) {
    const std::vector<Vec6> w{share * c.wrench};
    const auto whole = sim::settle(c.model, m, w, 0, {});
    const ReducedRest at = rest_under(m, w, VecX(0));
    ASSERT_TRUE(whole.ok && at.ok);
    const double error = end_error(m, at.X, whole.point.X);
    std::printf("%s load %.3f error %.3e gap %.3e\n", GetParam(), share, error, joint_gap(m, at.X));
    if (last > 0) {
      EXPECT_NEAR(last / error, 4, 0.4);
    }
    last = error;
  }
}

// With a point at the load, pose and gap there are the whole's.
TEST_P(Mechanisms, ExactAtItsPoints) {
  Case c = case_of(GetParam());
  c.options.points = {{0, {{c.options.ends[0], c.wrench.tail<3>(), c.wrench.head<3>()}}}};
  const ReducedModel reduced = sim::reduce(c.model, c.options);
  const Mechanism& m = reduced.mechanisms[0];
  const ReducedRest at = rest_under(m, {c.wrench}, VecX(0));
  ASSERT_TRUE(at.ok);
  EXPECT_LT(end_error(m, at.X, m.points[1].X), 1e-9);
  EXPECT_LT(joint_gap(m, at.X), 1e-8);
}

// A load in one direction, growing until the end has moved by its whole size: one point against points on the
// way (at 1/3, 2/3 and 1 of the range), between which the gaps are looked at.
TEST_P(Mechanisms, PointsOnTheWay) {
  Case c = case_of(GetParam());
  const ReducedModel one = sim::reduce(c.model, c.options);
  const Mechanism& m = one.mechanisms[0];
  double full = 0;  // of the load
  for (double share = 0.25; share < 400 && full == 0; share *= 1.15) {
    const auto whole = sim::settle(c.model, m, {share * c.wrench}, 0, {});
    if (!whole.ok) break;
    const Vec6 xi = math::se3_log(m.points[0].X[m.ends[0]].inverse() * whole.point.X[m.ends[0]]);
    if (std::hypot(xi.head<3>().norm() / pi, xi.tail<3>().norm() / m.radius) >= 1) full = share;
  }
  std::printf("%s full load %.2f\n", GetParam(), full);
  if (full == 0) GTEST_SKIP() << "does not move that far";
  for (const double share : {1.0 / 3, 2.0 / 3, 1.0})
    c.options.points.push_back(
        {0, {{c.options.ends[0], share * full * c.wrench.tail<3>(), share * full * c.wrench.head<3>()}}});
  const ReducedModel many = sim::reduce(c.model, c.options);
  double worst_one = 0, worst_many = 0;
  for (int k = 1; k <= 12; ++k) {
    const std::vector<Vec6> w{k / 12.0 * full * c.wrench};
    const auto whole = sim::settle(c.model, m, w, 0, {});
    const ReducedRest a = rest_under(m, w, VecX(0)), b = rest_under(many.mechanisms[0], w, VecX(0));
    std::printf("  %2d distance %.3f/%.3f/%.3f gap %.4f %.4f end %.4f %.4f ok %d %d\n", k, a.distance,
                b.distance, 1.0 * whole.ok, joint_gap(m, a.X), joint_gap(m, b.X),
                end_error(m, a.X, whole.point.X), end_error(m, b.X, whole.point.X), a.ok, b.ok);
    worst_one = std::max(worst_one, joint_gap(m, a.X));
    worst_many = std::max(worst_many, joint_gap(m, b.X));
  }
  std::printf("  worst gap %.5f with one point, %.5f with four\n", worst_one, worst_many);
  EXPECT_LT(5 * worst_many, worst_one);
}

// The energy at a point is the work of a load that grows until the mechanism rests there (steps of it,
// trapezoidal).
TEST(Energy, IsTheWorkOfTheLoad) {
  Case c = case_of("C_serial_chain_7R");
  c.options.points = {{0, {{c.options.ends[0], 0.4 * c.wrench.tail<3>(), Vec3::Zero()}}}};
  const ReducedModel reduced = sim::reduce(c.model, c.options);
  const Mechanism& m = reduced.mechanisms[0];
  const Vec3 full = 0.4 * c.wrench.tail<3>();
  const int steps = 100;
  double work = 0;
  Vec3 last = m.points[0].X[m.ends[0]].p;
  for (int k = 1; k <= steps; ++k) {
    Vec6 w = Vec6::Zero();
    w.tail<3>() = full * k / steps;
    const Vec3 now = sim::settle(c.model, m, {w}, 0, {}).point.X[m.ends[0]].p;
    work += full.dot(now - last) * (k - 0.5) / steps;
    last = now;
  }
  Blend blend(m);
  blend.at = m.points[1].at;
  blend_at(m, blend);
  EXPECT_NEAR(blend.energy, work, 1e-4 * work);
  blend.at = m.points[0].at;
  blend_at(m, blend);
  EXPECT_NEAR(blend.energy, 0, 1e-9 * work);
}

// Points chosen by error, and what they are worth on 437 loads that had no part in it: the claim says how
// many are beyond the bound and how far the range was reached, and others drawn afterwards agree with it.
TEST(Automatic, TheClaimHoldsOnOtherLoads) {
  struct Range {
    const char* name;
    double force;
  };
  for (const Range& range : {Range{"C_serial_chain_7R", 1.0}, Range{"C_closed_loop_4bar", 8},
                             Range{"C_ladder_6_rungs_pinned_stack", 20}}) {
    Case c = case_of(range.name);
    c.options.force = range.force;
    c.options.most_points = 30;
    const ReducedModel reduced = sim::reduce(c.model, c.options);
    const Mechanism& m = reduced.mechanisms[0];
    const Quality& q = m.quality;
    unsigned seed = 12345;
    const auto next = [&] {
      seed = seed * 1664525u + 1013904223u;
      return (seed >> 8) * (2.0 / 16777216) - 1;
    };
    int beyond = 0, tried = 0;
    double worst = 0, reach = 0;
    while (tried < 100) {
      Vec6 w = Vec6::Zero();
      for (int k = 0; k < 3; ++k) w[3 + k] = next();
      if (w.norm() > 1) continue;
      w *= range.force;
      const auto whole = sim::settle(c.model, m, {w}, 0, {});
      ASSERT_TRUE(whole.ok);
      const ReducedRest at = rest_under(m, {w}, VecX(0));
      ++tried;
      const double end = at.ok ? end_error(m, at.X, whole.point.X) : 1e3;
      reach = std::max(reach, (whole.point.X[m.ends[0]].p - m.points[0].X[m.ends[0]].p).norm() / m.radius);
      worst = std::max(worst, end);
      beyond += end > q.end;
    }
    std::printf(
        "%s up to %.2f N: %zu points, moved by %.2f; claimed %.4f (%d of %d beyond 2 %%), others %.4f\n",
        range.name, range.force, m.points.size(), reach, q.end, q.beyond, q.tested, worst);
    EXPECT_LE(beyond, 3) << range.name;  // of 100, where 1 % may be
    EXPECT_LE(worst, 1.5 * q.end) << range.name;
    EXPECT_EQ(q.beyond == 0, q.end <= q.end_bound && q.gap <= q.gap_bound) << range.name;
  }
}

INSTANTIATE_TEST_SUITE_P(C, Mechanisms,
                         ::testing::Values("C_serial_chain_7R", "C_Y_split", "C_closed_loop_4bar",
                                           "C_ladder_6_rungs_pinned_stack"));

}  // namespace
}  // namespace limber::rom
