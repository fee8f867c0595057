// Every operation of a program: its value, and its rate against the closed form and a finite difference.
#include "limber/math/program.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

#include "limber/math/trig.h"
#include "tests/math/generators.h"

namespace limber::test {
namespace {

using namespace limber::math;

constexpr double inf = std::numeric_limits<double>::infinity();

Program constant(double value) {
  Program p;
  p.push_constant(value);
  return p;
}

double unary(Op op, double x) {
  Program p = constant(x);
  p.push(op);
  return p.evaluate(nullptr);
}

double binary(Op op, double a, double b) {
  Program p = constant(a);
  p.push_constant(b);
  p.push(op);
  return p.evaluate(nullptr);
}

// op(t)
Dual unary_dual(Op op, double t) {
  Program p;
  p.push_variable(0);
  p.push(op);
  return p.evaluate_dual(&t);
}

// op(a + b t, c + d t) at t
Dual binary_dual(Op op, double a, double b, double c, double d, double t) {
  Program p;
  for (auto [offset, slope] : {std::pair{a, b}, std::pair{c, d}}) {
    p.push_constant(offset);
    p.push_constant(slope);
    p.push_variable(0);
    p.push(Op::multiply);
    p.push(Op::add);
  }
  p.push(op);
  return p.evaluate_dual(&t);
}

TEST(Program, StepwiseFunctions) {
  EXPECT_EQ(unary(Op::round, 2.5), 3);
  EXPECT_EQ(unary(Op::round, -2.5), -3);
  EXPECT_EQ(unary(Op::round, 0.49999999999999994), 0);
  EXPECT_EQ(unary(Op::floor, -0.5), -1);
  EXPECT_EQ(unary(Op::ceil, -0.5), 0);
  EXPECT_EQ(unary(Op::sign, -3), -1);
  EXPECT_EQ(unary(Op::sign, 0), 0);
  EXPECT_EQ(unary(Op::sign, 7), 1);
  EXPECT_EQ(unary(Op::step, 0), 1);
  EXPECT_EQ(unary(Op::step, -1e-300), 0);
  EXPECT_EQ(unary(Op::logical_not, 0), 1);
  EXPECT_EQ(unary(Op::logical_not, 0.1), 0);
  EXPECT_EQ(unary(Op::abs, -4), 4);
}

TEST(Program, ModuloTakesTheSignOfTheDivisor) {
  EXPECT_EQ(binary(Op::modulo, 7, 3), 1);
  EXPECT_EQ(binary(Op::modulo, -7, 3), 2);
  EXPECT_EQ(binary(Op::modulo, 7, -3), -2);
  EXPECT_EQ(binary(Op::modulo, -7, -3), -1);
  EXPECT_EQ(binary(Op::modulo, -6, 3), 0);
  EXPECT_EQ(binary(Op::modulo, 5.5, 2), 1.5);
  EXPECT_TRUE(std::isnan(binary(Op::modulo, 1, 0)));
}

TEST(Program, ComparisonsAndLogic) {
  const auto row = [](Op op) { return Vec3(binary(op, 1, 2), binary(op, 2, 2), binary(op, 3, 2)); };
  EXPECT_EQ(row(Op::less), Vec3(1, 0, 0));
  EXPECT_EQ(row(Op::less_equal), Vec3(1, 1, 0));
  EXPECT_EQ(row(Op::greater), Vec3(0, 0, 1));
  EXPECT_EQ(row(Op::greater_equal), Vec3(0, 1, 1));
  EXPECT_EQ(row(Op::equal), Vec3(0, 1, 0));
  EXPECT_EQ(row(Op::not_equal), Vec3(1, 0, 1));
  EXPECT_EQ(binary(Op::logical_and, 2, 0), 0);
  EXPECT_EQ(binary(Op::logical_and, 2, -1), 1);
  EXPECT_EQ(binary(Op::logical_or, 0, 0), 0);
  EXPECT_EQ(binary(Op::logical_or, 0, -1), 1);
  for (Op op : {Op::less, Op::greater_equal, Op::equal, Op::logical_or})
    EXPECT_EQ(binary_dual(op, 1, 2, 3, 4, 0.5).rate, 0);
}

TEST(Program, MinAndMaxPassNanOn) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(binary(Op::min, 2, 1), 1);
  EXPECT_EQ(binary(Op::max, 2, 1), 2);
  for (Op op : {Op::min, Op::max}) {
    EXPECT_TRUE(std::isnan(binary(op, nan, 1)));
    EXPECT_TRUE(std::isnan(binary(op, 1, nan)));
  }
}

// f″ of f(g(t)), g = 0.4 + 0.3 t + 0.2 t², against a difference of f′: 1e-5 has h² f⁗/6 and rounding of
// 1e-11.
TEST(Program, SecondDerivativesAreThoseOfTheRates) {
  const auto inner = [](Program& p, double a) {
    p.push_constant(a), p.push_constant(0.3), p.push_variable(0), p.push(Op::multiply), p.push(Op::add);
    p.push_constant(0.2), p.push_variable(0), p.push_variable(0), p.push(Op::multiply), p.push(Op::multiply);
    p.push(Op::add);
  };
  const auto check = [](const Program& p, Op op) {
    for (const double t : {-0.8, 0.1, 0.7}) {
      const double h = 1e-5, up = t + h, down = t - h;
      const Jet jet = p.evaluate_jet(&t);
      const Dual dual = p.evaluate_dual(&t);
      EXPECT_EQ(jet.value, dual.value);
      EXPECT_EQ(jet.rate, dual.rate);
      const double expected = (p.evaluate_dual(&up).rate - p.evaluate_dual(&down).rate) / (2 * h);
      EXPECT_NEAR(jet.second, expected, 1e-9 * (1 + std::fabs(expected)))
          << "operation " << static_cast<int>(op) << " at " << t;
    }
  };
  for (const Op op : {Op::negate, Op::sin, Op::cos, Op::tan, Op::asin, Op::acos, Op::atan, Op::sinh, Op::cosh,
                      Op::tanh, Op::exp, Op::log, Op::sqrt, Op::abs, Op::floor}) {
    Program p;
    inner(p, 0.4), p.push(op);
    check(p, op);
  }
  for (const Op op : {Op::add, Op::subtract, Op::multiply, Op::divide, Op::power, Op::modulo, Op::atan2,
                      Op::min, Op::max}) {
    Program p;
    inner(p, 0.4), inner(p, 1.7), p.push(Op::exp), p.push(op);
    check(p, op);
  }
  Program cube;
  inner(cube, 0), cube.push_constant(3), cube.push(Op::power);
  check(cube, Op::power);
}

// Values are those of math/trig.h to the bit; rates are closed forms of the C library, within a few ulp of
// ours.
TEST(Program, UnaryRatesHaveTheirClosedForms) {
  const auto check = [](Op op, double t, double value, double rate) {
    const Dual d = unary_dual(op, t);
    EXPECT_EQ(d.value, value);
    EXPECT_NEAR(d.rate, rate, 8e-16 * (1 + std::fabs(rate)))
        << "operation " << static_cast<int>(op) << " at " << t;
  };
  for (double t : {0.3, -0.7, 0.9}) {
    check(Op::negate, t, -t, -1);
    check(Op::sin, t, math::sin(t), std::cos(t));
    check(Op::cos, t, math::cos(t), -std::sin(t));
    check(Op::tan, t, math::tan(t), 1 / (std::cos(t) * std::cos(t)));
    check(Op::asin, t, math::asin(t), 1 / std::sqrt(1 - t * t));
    check(Op::acos, t, math::acos(t), -1 / std::sqrt(1 - t * t));
    check(Op::atan, t, math::atan(t), 1 / (1 + t * t));
    check(Op::sinh, t, math::sinh(t), std::cosh(t));
    check(Op::cosh, t, math::cosh(t), std::sinh(t));
    check(Op::tanh, t, math::tanh(t), 1 / (std::cosh(t) * std::cosh(t)));
    check(Op::exp, t, math::exp(t), std::exp(t));
    check(Op::abs, t, std::fabs(t), t > 0 ? 1 : -1);
    for (Op op : {Op::floor, Op::ceil, Op::round, Op::sign, Op::step, Op::logical_not})
      EXPECT_EQ(unary_dual(op, t).rate, 0);
  }
  check(Op::log, 2.5, math::log(2.5), 0.4);
  check(Op::sqrt, 2.25, 1.5, 1.0 / 3);
}

// Six-point difference of the value: h⁶ f⁽⁷⁾/140 and rounding 1e-16/h meet near h = 1e-2 at about 1e-13 for
// these smooth functions, whose seventh derivatives stay below 1e4 on the ranges drawn.
RC_GTEST_PROP(Program, BinaryRatesAreSlopesOfTheValue, ()) {
  const Op op = *rc::gen::element(Op::add, Op::subtract, Op::multiply, Op::divide, Op::power, Op::atan2);
  const double a = *real(1, 2), b = *real(-0.5, 0.5), c = *real(1, 2), d = *real(-0.5, 0.5),
               t = *real(-0.5, 0.5);
  const auto f = [&](double s) { return binary_dual(op, a, b, c, d, s).value; };
  const double h = 4e-3;
  const double slope =
      (45 * (f(t + h) - f(t - h)) - 9 * (f(t + 2 * h) - f(t - 2 * h)) + (f(t + 3 * h) - f(t - 3 * h))) /
      (60 * h);
  RC_ASSERT(std::fabs(binary_dual(op, a, b, c, d, t).rate - slope) <= 1e-11);
}

TEST(Program, ModuloRate) {
  // (1 + 5t) mod (2 + t) at t = 1.1 is 6.5 − 2·3.1 = 0.3, its rate 5 − 2·1; the mirror image subtracts −3
  // divisors
  EXPECT_DOUBLE_EQ(binary_dual(Op::modulo, 1, 5, 2, 1, 1.1).rate, 3);
  EXPECT_DOUBLE_EQ(binary_dual(Op::modulo, -1, -5, 2, 1, 1.1).rate, -5 + 3);
}

TEST(Program, CornersTakeTheRateToTheRight) {
  EXPECT_EQ(unary_dual(Op::abs, 0).rate, 1);
  EXPECT_EQ(binary_dual(Op::min, 0, 2, 0, -1, 0).rate, -1);
  EXPECT_EQ(binary_dual(Op::max, 0, 2, 0, -1, 0).rate, 2);
  EXPECT_EQ(binary_dual(Op::max, 0, 2, 1, -1, 0).rate, -1);
  EXPECT_EQ(binary_dual(Op::min, 0, 2, 1, -1, 0).rate, 2);
}

TEST(Program, ConstantsHaveNoRateEvenAtSingularPoints) {
  for (Op op : {Op::sqrt, Op::log, Op::asin, Op::acos}) {
    Program p = constant(op == Op::asin || op == Op::acos ? 1 : 0);
    p.push(op);
    EXPECT_EQ(p.evaluate_dual(nullptr).rate, 0);
  }
  EXPECT_EQ(binary_dual(Op::power, 0, 0, 0.5, 0, 1).rate, 0);  // 0^½
  EXPECT_EQ(binary_dual(Op::power, 0, 1, 0, 0, 0).rate, 0);    // t⁰ at 0
  EXPECT_EQ(binary_dual(Op::power, 0, 1, 2, 0, 0).rate, 0);    // t² at 0
  EXPECT_EQ(binary_dual(Op::power, -2, 1, 3, 0, 0).rate, 12);  // (t−2)³: no logarithm of a negative base
  EXPECT_EQ(binary_dual(Op::power, 0, 0, 2, 1, 0).rate, 0);    // 0^(2+t)
  EXPECT_EQ(binary_dual(Op::atan2, 0, 0, 0, 0, 1).rate, 0);
  EXPECT_EQ(unary_dual(Op::sqrt, 0).rate, inf);
}

// select(t < 1, 3t, t²)
TEST(Program, SelectTakesTheBranchsDual) {
  Program p;
  p.push_variable(0);
  p.push_constant(1);
  p.push(Op::less);
  p.push_constant(3);
  p.push_variable(0);
  p.push(Op::multiply);
  p.push_variable(0);
  p.push_constant(2);
  p.push(Op::power);
  p.push(Op::select);
  ASSERT_TRUE(p.complete());
  const double before = 0.5, after = 2;
  EXPECT_EQ(p.evaluate_dual(&before).value, 1.5);
  EXPECT_EQ(p.evaluate_dual(&before).rate, 3);
  EXPECT_EQ(p.evaluate_dual(&after).value, 4);
  EXPECT_EQ(p.evaluate_dual(&after).rate, 4);
  EXPECT_EQ(p.evaluate(&after), 4);
}

// x₁ sin(t²): the derivative is by variable 0 alone.
TEST(Program, SeveralVariables) {
  Program p;
  p.push_variable(3);
  p.push_variable(0);
  p.push_constant(2);
  p.push(Op::power);
  p.push(Op::sin);
  p.push(Op::multiply);
  const double x[4] = {0.8, 0, 0, 2.5};
  EXPECT_NEAR(p.evaluate(x), 2.5 * std::sin(0.64), 1e-15);
  EXPECT_NEAR(p.evaluate_dual(x).rate, 2.5 * 1.6 * std::cos(0.64), 2e-15);  // 3 roundings of a value near 3
  EXPECT_EQ(p.evaluate(x), p.evaluate_dual(x).value);
  EXPECT_TRUE(p.depends_on(0));
  EXPECT_TRUE(p.depends_on(3));
  EXPECT_FALSE(p.depends_on(1));
  EXPECT_EQ(p.variable_count(), 4);
  EXPECT_EQ(p.size(), 6u);
}

TEST(Program, CompleteMeansOneValueAndNoUnderflow) {
  Program p;
  EXPECT_FALSE(p.complete());
  p.push_constant(1);
  EXPECT_TRUE(p.complete());
  p.push_constant(2);
  EXPECT_FALSE(p.complete());
  EXPECT_THROW(p.evaluate(nullptr), std::logic_error);
  p.push(Op::add);
  EXPECT_TRUE(p.complete());
  p.push(Op::add);  // lacks an operand; a later constant does not mend it
  EXPECT_FALSE(p.complete());
  p.push_constant(1);
  EXPECT_FALSE(p.complete());
  EXPECT_THROW(p.evaluate_dual(nullptr), std::logic_error);
}

TEST(Program, StackIsBounded) {
  const auto nested = [](int depth) {
    Program p;
    for (int k = 0; k < depth; ++k) p.push_constant(1);
    for (int k = 1; k < depth; ++k) p.push(Op::add);
    return p;
  };
  EXPECT_TRUE(nested(Program::max_stack).complete());
  EXPECT_EQ(nested(Program::max_stack).stack_needed(), Program::max_stack);
  EXPECT_EQ(nested(Program::max_stack).evaluate(nullptr), Program::max_stack);
  EXPECT_EQ(nested(Program::max_stack).evaluate_dual(nullptr).value, Program::max_stack);
  EXPECT_FALSE(nested(Program::max_stack + 1).complete());
}

TEST(Program, MisuseIsRefused) {
  Program p;
  EXPECT_THROW(p.push(Op::constant), std::invalid_argument);
  EXPECT_THROW(p.push(Op::variable), std::invalid_argument);
  EXPECT_THROW(p.push_variable(-1), std::invalid_argument);
}

}  // namespace
}  // namespace limber::test
