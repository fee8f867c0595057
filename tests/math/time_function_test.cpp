// Tables and expressions of time: values, rates to the right, periods, and the tables that are refused.
#include "limber/model/time_function.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace limber {
namespace {

const std::vector<double> times{1, 2, 4}, values{10, 20, 0};

TEST(TimeFunction, Constant) {
  const TimeFunction f = 3.5;
  EXPECT_EQ(f.value(-7), 3.5);
  EXPECT_EQ(f.rate(2), 0);
  EXPECT_TRUE(f.is_constant());
  EXPECT_FALSE(f.is_zero());
  EXPECT_TRUE(TimeFunction().is_zero());
}

TEST(TimeFunction, TableIsLinearAndHeldOutside) {
  const TimeFunction f = TimeFunction::table(times, values);
  EXPECT_FALSE(f.is_constant());
  for (auto [t, value, rate] : {std::array{0.0, 10.0, 0.0},
                                {1, 10, 10},
                                {1.5, 15, 10},
                                {2, 20, -10},
                                {3.5, 5, -10},
                                {4, 0, 0},
                                {9, 0, 0}}) {
    EXPECT_EQ(f.value(t), value) << t;
    EXPECT_EQ(f.rate(t), rate) << t;
  }
}

TEST(TimeFunction, PeriodicTableRepeats) {
  const TimeFunction f = TimeFunction::table(times, values, true);
  for (int turn : {-1000, -2, -1, 0, 1, 2, 1000})
    for (auto [t, value, rate] : {std::array{1.0, 10.0, 10.0}, {1.5, 15, 10}, {2, 20, -10}, {3.5, 5, -10}}) {
      EXPECT_EQ(f.value(t + 3 * turn), value) << t << " turn " << turn;
      EXPECT_EQ(f.rate(t + 3 * turn), rate) << t << " turn " << turn;
    }
  EXPECT_EQ(f.value(4), 10);  // the end of one period is the start of the next
  // Just before a period starts, also where adding the period rounds up to its end.
  EXPECT_NEAR(f.value(std::nextafter(1.0, 0.0)), 0, 1e-14);  // slope 10, one ulp away
  const TimeFunction saw = TimeFunction::table({0, 1}, {0, 1}, true);
  EXPECT_EQ(saw.value(-1e-300), 1);
  EXPECT_EQ(saw.rate(-1e-300), 1);
  EXPECT_EQ(saw.value(0), 0);
}

TEST(TimeFunction, ManyPointsAgainstLinearSearch) {
  std::vector<double> ts, vs;
  for (int k = 0; k < 257; ++k) ts.push_back(k * k * 0.01 + k), vs.push_back(std::cos(1.7 * k));
  const TimeFunction f = TimeFunction::table(ts, vs);
  std::size_t i = 0;
  for (double t = 0.005; t < ts.back(); t += 0.37) {
    while (t >= ts[i + 1]) ++i;
    const double slope = (vs[i + 1] - vs[i]) / (ts[i + 1] - ts[i]);
    EXPECT_NEAR(f.value(t), vs[i] + slope * (t - ts[i]),
                1e-15);  // two roundings of values up to 1, other order
    EXPECT_EQ(f.rate(t), slope);
  }
}

TEST(TimeFunction, OnePointIsConstant) {
  const TimeFunction f = TimeFunction::table({2}, {7});
  EXPECT_TRUE(f.is_constant());
  EXPECT_EQ(f.value(0), 7);
  EXPECT_EQ(f.value(3), 7);
}

TEST(TimeFunction, NanStaysInsideTheTable) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isnan(TimeFunction::table(times, values).value(nan)));
  EXPECT_TRUE(std::isnan(TimeFunction::table(times, values, true).value(inf)));
}

// 2 exp(−t)
TEST(TimeFunction, ExpressionHasValueAndExactRate) {
  math::Program p;
  p.push_constant(2);
  p.push_variable(0);
  p.push(math::Op::negate);
  p.push(math::Op::exp);
  p.push(math::Op::multiply);
  const TimeFunction f = TimeFunction::expression(p);
  EXPECT_NEAR(f.value(0.7), 2 * std::exp(-0.7), 4e-16);  // 1 ulp of 1 and the library's own
  EXPECT_EQ(f.rate(0.7), -f.value(0.7));
  EXPECT_FALSE(f.is_constant());
}

template <typename Make>
std::string message_of(Make make) {
  try {
    make();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

void expect_refused(std::vector<double> t, std::vector<double> v, bool periodic, const std::string& reason) {
  const std::string message = message_of([&] { return TimeFunction::table(t, v, periodic); });
  EXPECT_NE(message.find(reason), std::string::npos) << message;
}

TEST(TimeFunction, BadTablesAreRefused) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  expect_refused({1, 2}, {1}, false, "2 times and 1 values");
  expect_refused({}, {}, false, "at least 1 point, got 0");
  expect_refused({1}, {1}, true, "at least 2 points when periodic, got 1");
  expect_refused({1, 3, 3}, {1, 2, 3}, false, "strictly increasing times, got times[2]");
  expect_refused({1, 3, 2}, {1, 2, 3}, false, "strictly increasing times, got times[2]");
  expect_refused({1, nan}, {1, 2}, false, "finite times, got times[1]");
  expect_refused({1, inf}, {1, 2}, false, "finite times, got times[1]");
  expect_refused({1, 2}, {nan, 2}, false, "finite values, got values[0]");
  expect_refused({-1.5e308, 1.5e308}, {1, 2}, false, "finite span");
}

TEST(TimeFunction, BadExpressionsAreRefused) {
  math::Program empty, other;
  other.push_variable(2);
  EXPECT_NE(message_of([&] { return TimeFunction::expression(empty); }).find("leaves one value"),
            std::string::npos);
  EXPECT_NE(message_of([&] { return TimeFunction::expression(other); }).find("got variable 2"),
            std::string::npos);
}

TEST(VectorFunction, IsThreeFunctions) {
  VectorFunction f = VectorFunction::constant({1, 2, 3});
  EXPECT_TRUE(f.is_constant());
  EXPECT_FALSE(f.is_zero());
  f.c[1] = TimeFunction::table(times, values);
  EXPECT_EQ(f.value(1.5), Vec3(1, 15, 3));
  EXPECT_FALSE(f.is_constant());
}

}  // namespace
}  // namespace limber
