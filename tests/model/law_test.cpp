// Laws by points and by expression: values, slopes and integrals.
#include "limber/model/law.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace limber {
namespace {

using math::Op;
using math::Program;

// 100 x + 2e4 x³
Program duffing() {
  Program p;
  p.push_constant(100), p.push_variable(0), p.push(Op::multiply);
  p.push_constant(2e4), p.push_variable(0), p.push_constant(3), p.push(Op::power), p.push(Op::multiply);
  p.push(Op::add);
  return p;
}

Program of(Op op) {  // op(x)
  Program p;
  p.push_variable(0), p.push(op);
  return p;
}

TEST(Law, NoneIsZero) {
  const Law none;
  EXPECT_FALSE(none);
  EXPECT_EQ(none.value(3), 0);
  EXPECT_EQ(none.at(3).rate, 0);
  EXPECT_EQ(none.integral(3), 0);
}

// By hand, from the slopes 0, 3/2, 15/4, 6 that Fritsch and Butland's formulas give for these points.
TEST(Law, PointsGiveTheCubicsOfPchip) {
  const Law law = Law::table({0, 1, 2, 3}, {0, 1, 4, 9});
  EXPECT_DOUBLE_EQ(law.value(1.5), 2.21875);
  EXPECT_DOUBLE_EQ(law.at(1).rate, 1.5);
  EXPECT_DOUBLE_EQ(law.at(2).rate, 3.75);
  EXPECT_DOUBLE_EQ(law.value(4), 15);  // straight on with slope 6
  EXPECT_DOUBLE_EQ(law.value(-1), 0);  // and with slope 0
  EXPECT_DOUBLE_EQ(law.integral(4) - law.integral(3), 12);
}

// Repeated, with one slope where the periods join, and its integral goes on.
TEST(Law, PeriodicPointsRepeat) {
  const Law law = Law::table({1, 2, 4, 5}, {0, 1, -1, 0}, true);
  for (double x = 1; x < 5; x += 0.11)
    for (const double turns : {-3.0, 1.0, 7.0}) {
      EXPECT_NEAR(law.value(x + 4 * turns), law.value(x), 1e-13);
      EXPECT_NEAR(law.jet_at(x + 4 * turns).second, law.jet_at(x).second, 1e-12);
    }
  EXPECT_NEAR(law.at(5 - 1e-15).rate, law.at(5).rate, 1e-14);
  EXPECT_DOUBLE_EQ(law.at(1).rate, 1);  // both neighbours rise by 1 in 1
  const double whole = law.integral(5) - law.integral(1);
  EXPECT_NEAR(law.integral(9) - law.integral(1), 2 * whole, 1e-14);
  EXPECT_NEAR(law.integral(-3) - law.integral(1), -whole, 1e-14);
  EXPECT_THROW(Law::table({0, 1}, {0, 1}, true), std::invalid_argument);
}

TEST(Law, CurvatureIsThatOfTheSlope) {
  const Law laws[] = {Law::table({-2, -1, 0.2, 0.5, 1.5}, {-3, -2.5, 0, 4, 3.5}), Law::expression(duffing())};
  for (const Law& law : laws)
    for (double x = -3.05; x < 3; x += 0.17) {  // no point lies within h of one of these
      const double h = 1e-6, expected = (law.at(x + h).rate - law.at(x - h).rate) / (2 * h);
      EXPECT_NEAR(law.jet_at(x).second, expected, 1e-7 * (1 + std::abs(expected)));
    }
}

TEST(Law, PointsOnALineGiveTheLine) {
  const Law law = Law::table({-0.3, 0.1, 0.7, 0.9}, {-0.6, 0.2, 1.4, 1.8});
  for (double x = -2; x < 2; x += 0.07) {
    EXPECT_NEAR(law.value(x), 2 * x, 1e-14);
    EXPECT_NEAR(law.at(x).rate, 2, 1e-13);
    EXPECT_NEAR(law.integral(x), x * x, 1e-14);
  }
}

TEST(Law, IntegralAndSlopeAreThoseOfTheValues) {
  const Law laws[] = {Law::table({-2, -1, 0.2, 0.5, 1.5}, {-3, -2.5, 0, 4, 3.5}), Law::expression(duffing()),
                      Law::expression(of(Op::sinh)), Law::expression(of(Op::tanh))};
  for (const Law& law : laws)
    for (double x = -2.53; x < 2; x += 0.19) {
      constexpr double h = 1e-4;  // errors of h² third derivatives, of an integral h² second ones
      const double size = 1e-6 * (1 + std::abs(law.value(x)) + std::abs(law.at(x).rate));
      EXPECT_NEAR((law.integral(x + h) - law.integral(x - h)) / (2 * h), law.value(x), size) << x;
      EXPECT_NEAR((law.value(x + h) - law.value(x - h)) / (2 * h), law.at(x).rate, size) << x;
    }
}

TEST(Law, MonotonePointsGiveAMonotoneCurve) {
  const Law law = Law::table({0, 1, 1.01, 2, 5}, {0, 0.001, 10, 10.001, 10.5});
  for (double x = -1; x < 6; x += 0.001) EXPECT_GE(law.at(x).rate, 0) << x;
}

TEST(Law, IntegralsAreExact) {
  const Law cubic = Law::expression(duffing());
  EXPECT_NEAR(cubic.integral(0.1), 0.5 + 0.5, 1e-15);
  EXPECT_NEAR(Law::expression(of(Op::exp)).integral(3), std::exp(3) - 1, 1e-13);
  EXPECT_NEAR(Law::expression(of(Op::exp)).integral(-30), std::exp(-30) - 1, 1e-15);
  EXPECT_NEAR(Law::expression(of(Op::cos)).integral(40), std::sin(40), 1e-13);
  // Corners, and a jump.
  Program corner;  // |x − 0.3|
  corner.push_variable(0), corner.push_constant(0.3), corner.push(Op::subtract), corner.push(Op::abs);
  EXPECT_NEAR(Law::expression(corner).integral(1), (0.09 + 0.49) / 2, 1e-14);
  Program jump;  // step(x − 0.3)
  jump.push_variable(0), jump.push_constant(0.3), jump.push(Op::subtract), jump.push(Op::step);
  EXPECT_NEAR(Law::expression(jump).integral(1), 0.7, 1e-13);
}

TEST(Law, BadPointsAreRefused) {
  EXPECT_THROW(Law::table({0}, {1}), std::invalid_argument);
  EXPECT_THROW(Law::table({0, 0}, {1, 2}), std::invalid_argument);
  EXPECT_THROW(Law::table({0, 1}, {1, std::nan("")}), std::invalid_argument);
  EXPECT_THROW(Law::expression(Program{}), std::invalid_argument);
}

}  // namespace
}  // namespace limber
