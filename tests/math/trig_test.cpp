// The elementary functions against the C library's 80-bit ones, whose own error is about 2⁻¹¹ of our ulp.
#include "limber/math/trig.h"

#include <gtest/gtest.h>

#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <vector>

namespace {

namespace m = limber::math;
using Long = long double;
static_assert(LDBL_MANT_DIG >= 64, "the reference needs long double wider than double");

constexpr double inf = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double pi = 3.14159265358979323846;

double ulps(double got, Long expected) {
  int e = 0;
  std::frexp(static_cast<double>(expected), &e);
  const Long ulp = std::ldexp(Long(1), std::max(e - 53, -1074));
  return static_cast<double>(std::fabs(got - expected) / ulp);
}

class Sample {
 public:
  double uniform(double lo, double hi) { return std::uniform_real_distribution<double>(lo, hi)(bits_); }
  // ±2^uniform
  double binade(double lo, double hi) { return std::copysign(std::exp2(uniform(lo, hi)), uniform(-1, 1)); }
  // Doubles next to multiples of π/2, where the reduction cancels most.
  double near_quadrant(double most) {
    const double x = static_cast<double>(std::floor(uniform(-most, most)) * 1.57079632679489661923132L);
    return x * (1 + std::floor(uniform(-3, 4)) * 0x1p-53);
  }

 private:
  std::mt19937_64 bits_{7};
};

constexpr int samples = 200000;

// Worst error over the samples of one argument.
void expect_ulps(const char* name, double bound, const std::function<double(double)>& f,
                 const std::function<Long(Long)>& reference, const std::function<double()>& draw) {
  double worst = 0, where = 0;
  for (int k = 0; k < samples; ++k) {
    const double x = draw();
    const double e = ulps(f(x), reference(x));
    if (!(e <= worst)) worst = e, where = x;
    if (std::isnan(e)) break;
  }
  EXPECT_LE(worst, bound) << name << " at " << where;
  EXPECT_GE(worst, 0.4) << name << ": no sample came close to half an ulp, so the measure is broken";
}

bool same_bits(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) ||
         std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

// Bounds are the worst of 3·10⁶ samples a row, rounded up to the next 0.05.
TEST(Trig, SinAndCosWithinOneUlp) {
  Sample s;
  const auto sinl = [](Long x) { return std::sin(x); };
  const auto cosl = [](Long x) { return std::cos(x); };
  expect_ulps("sin small", 0.85, m::sin, sinl, [&] { return s.uniform(-0.79, 0.79); });
  expect_ulps("sin turns", 0.85, m::sin, sinl, [&] { return s.uniform(-10, 10); });
  expect_ulps("cos turns", 0.90, m::cos, cosl, [&] { return s.uniform(-10, 10); });
  expect_ulps("sin binades", 0.85, m::sin, sinl, [&] { return s.binade(-40, 20); });
  expect_ulps("cos binades", 0.90, m::cos, cosl, [&] { return s.binade(-20, 20); });
  expect_ulps("sin near quadrants", 0.85, m::sin, sinl, [&] { return s.near_quadrant(667543); });
  expect_ulps("cos near quadrants", 0.90, m::cos, cosl, [&] { return s.near_quadrant(667543); });
  expect_ulps("sin of few quadrants", 0.85, m::sin, sinl, [&] { return s.near_quadrant(50); });
}

// Four at a time: the same bits as one by one, whatever stands beside it.
TEST(Trig, SinAndCosOfManyHaveTheSameBits) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> small(-0.8, 0.8), wide(-1e3, 1e3);
  std::vector<double> x = {0.0, -0.0, 1e-9, -1e-300, 0.7853981633974483, -0.7853981633974484,
                           1e7, nan,  inf,  0.5};
  for (int i = 0; i < 4001; ++i) x.push_back(i % 97 == 0 ? wide(random) : small(random));
  std::vector<m::SinCos> many(x.size());
  m::sincos(x.data(), static_cast<int>(x.size()), many.data());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const m::SinCos one = m::sincos(x[i]);
    if (std::isnan(one.sin)) {
      EXPECT_TRUE(std::isnan(many[i].sin) && std::isnan(many[i].cos)) << x[i];
      continue;
    }
    EXPECT_EQ(std::bit_cast<std::uint64_t>(one.sin), std::bit_cast<std::uint64_t>(many[i].sin)) << x[i];
    EXPECT_EQ(std::bit_cast<std::uint64_t>(one.cos), std::bit_cast<std::uint64_t>(many[i].cos)) << x[i];
  }
}

TEST(Trig, TanWithinOneUlp) {
  Sample s;
  const auto tanl = [](Long x) { return std::tan(x); };
  expect_ulps("tan", 1.0, m::tan, tanl, [&] { return s.uniform(-2, 2); });
  expect_ulps("tan binades", 1.0, m::tan, tanl, [&] { return s.binade(-26, 20); });
  expect_ulps("tan near quadrants", 1.0, m::tan, tanl, [&] { return s.near_quadrant(667543); });
}

TEST(Trig, InverseFunctionsAreNearlyRoundedOnce) {
  Sample s;
  const auto atanl = [](Long x) { return std::atan(x); };
  const auto asinl = [](Long x) { return std::asin(x); };
  const auto acosl = [](Long x) { return std::acos(x); };
  expect_ulps("atan", 0.55, m::atan, atanl, [&] { return s.uniform(-3, 3); });
  expect_ulps("atan binades", 0.55, m::atan, atanl, [&] { return s.binade(-20, 40); });
  expect_ulps("asin", 0.55, m::asin, asinl, [&] { return s.uniform(-1, 1); });
  expect_ulps("acos", 0.55, m::acos, acosl, [&] { return s.uniform(-1, 1); });
  expect_ulps("asin near 1", 0.55, m::asin, asinl, [&] { return 1 - std::fabs(s.binade(-52, -1)); });
  expect_ulps("acos near 1", 0.55, m::acos, acosl, [&] { return 1 - std::fabs(s.binade(-52, -1)); });
  expect_ulps("acos near -1", 0.55, m::acos, acosl, [&] { return std::fabs(s.binade(-52, -1)) - 1; });
  for (double x : {1.7, -1.7, 1e-300, -1e-300, 1e300, -1e300, 4e-324, 1.7e308})
    expect_ulps(
        "atan2", 0.55, [&](double y) { return m::atan2(y, x); },
        [&](Long y) { return std::atan2(y, Long(x)); },
        [&] { return x * s.binade(x > 0 ? -15 : -8, 15) * (std::fabs(x) > 1e305 ? 0x1p-15 : 1); });
}

TEST(Trig, ExpAndLogAreNearlyRoundedOnce) {
  Sample s;
  const auto expl = [](Long x) { return std::exp(x); };
  const auto logl = [](Long x) { return std::log(x); };
  expect_ulps("exp", 0.70, m::exp, expl, [&] { return s.uniform(-708, 709.7); });
  expect_ulps("exp small", 0.70, m::exp, expl, [&] { return s.uniform(-1, 1); });
  // A subnormal result is rounded twice: once to 53 bits, once by ldexp.
  expect_ulps("exp subnormal", 1.0, m::exp, expl, [&] { return s.uniform(-745, -708); });
  expect_ulps("log", 0.505, m::log, logl, [&] { return std::fabs(s.binade(-1074, 1023)); });
  expect_ulps("log near 1", 0.505, m::log, logl, [&] { return 1 + s.binade(-52, -3); });
}

TEST(Trig, PowersAreNearlyRoundedOnce) {
  Sample s;
  double exponent = 0;
  const auto power = [&](double x) { return m::pow(x, exponent); };
  const auto powl = [&](Long x) { return std::pow(x, Long(exponent)); };
  expect_ulps("pow", 0.70, power, powl, [&] {
    exponent = s.uniform(-30, 30);
    return std::fabs(s.binade(-30, 30));
  });
  expect_ulps("pow large exponent", 0.70, power, powl, [&] {
    exponent = s.binade(5, 40);
    return std::exp(s.uniform(-700, 700) / exponent);
  });
  expect_ulps("pow integer", 0.55, power, powl, [&] {
    exponent = std::floor(s.uniform(-64, 65));
    return s.binade(-15, 15);
  });
}

TEST(Trig, HyperbolicFunctionsWithinOneUlp) {
  Sample s;
  const auto sinhl = [](Long x) { return std::sinh(x); };
  const auto coshl = [](Long x) { return std::cosh(x); };
  const auto tanhl = [](Long x) { return std::tanh(x); };
  expect_ulps("sinh", 0.70, m::sinh, sinhl, [&] { return s.uniform(-3, 3); });
  expect_ulps("sinh binades", 0.70, m::sinh, sinhl, [&] { return s.binade(-26, 9.4); });
  expect_ulps("cosh", 0.70, m::cosh, coshl, [&] { return s.uniform(-30, 30); });
  expect_ulps("tanh", 0.65, m::tanh, tanhl, [&] { return s.uniform(-3, 3); });
  expect_ulps("tanh binades", 0.65, m::tanh, tanhl, [&] { return s.binade(-26, 4); });
}

TEST(Trig, SincosIsSinAndCos) {
  Sample s;
  for (int k = 0; k < samples; ++k) {
    const double x = s.binade(-60, 40);
    const m::SinCos t = m::sincos(x);
    ASSERT_TRUE(same_bits(t.sin, m::sin(x)) && same_bits(t.cos, m::cos(x))) << x;
  }
}

// The header's promise beyond 2²⁰: the argument's own rounding, |x| 2⁻⁵³, and one ulp of the result.
TEST(Trig, LargeArgumentsKeepTheErrorOfTheArgument) {
  Sample s;
  for (int k = 0; k < samples; ++k) {
    const double x = s.binade(20, 60), bound = std::fabs(x) * 0x1p-53 + 0x1p-53;
    ASSERT_LE(std::fabs(m::sin(x) - std::sin(Long(x))), bound) << x;
    ASSERT_LE(std::fabs(m::cos(x) - std::cos(Long(x))), bound) << x;
  }
}

struct Case {
  double got, expected;
  const char* what;
};

void expect_bits(const std::vector<Case>& cases) {
  for (const Case& c : cases)
    EXPECT_TRUE(same_bits(c.got, c.expected)) << c.what << ": " << c.got << " for " << c.expected;
}
#define CASE(call, expected) \
  Case { call, expected, #call }

TEST(Trig, SpecialArguments) {
  expect_bits({CASE(m::sin(0.0), 0.0), CASE(m::sin(-0.0), -0.0), CASE(m::cos(-0.0), 1),
               CASE(m::tan(-0.0), -0.0), CASE(m::sin(inf), nan), CASE(m::cos(-inf), nan),
               CASE(m::tan(inf), nan), CASE(m::sin(nan), nan), CASE(m::sin(5e-324), 5e-324),
               CASE(m::tan(-5e-324), -5e-324),
               // the sine of the double nearest to π is what that double lacks
               CASE(m::sin(pi), 0x1.1a62633145c07p-53), CASE(m::cos(pi), -1),
               CASE(m::cos(pi / 2), 0x1.1a62633145c07p-54), CASE(m::sin(-pi / 2), -1),
               CASE(m::atan(-0.0), -0.0), CASE(m::atan(inf), pi / 2), CASE(m::atan(-inf), -pi / 2),
               CASE(m::atan(nan), nan), CASE(m::atan(1), pi / 4), CASE(m::asin(1), pi / 2),
               CASE(m::asin(-1), -pi / 2), CASE(m::asin(-0.0), -0.0), CASE(m::asin(1.0000000001), nan),
               CASE(m::asin(nan), nan), CASE(m::acos(1), 0), CASE(m::acos(-1), pi), CASE(m::acos(0), pi / 2),
               CASE(m::acos(-1.1), nan), CASE(m::acos(nan), nan)});
}

TEST(Trig, Atan2KeepsC99Corners) {
  expect_bits({CASE(m::atan2(0.0, 1), 0.0),
               CASE(m::atan2(-0.0, 1), -0.0),
               CASE(m::atan2(0.0, -1), pi),
               CASE(m::atan2(-0.0, -1), -pi),
               CASE(m::atan2(0.0, 0.0), 0.0),
               CASE(m::atan2(-0.0, 0.0), -0.0),
               CASE(m::atan2(0.0, -0.0), pi),
               CASE(m::atan2(-0.0, -0.0), -pi),
               CASE(m::atan2(1, 0.0), pi / 2),
               CASE(m::atan2(-1, -0.0), -pi / 2),
               CASE(m::atan2(1, 1), pi / 4),
               CASE(m::atan2(1, -1), 3 * pi / 4),
               CASE(m::atan2(-1, 1), -pi / 4),
               CASE(m::atan2(inf, inf), pi / 4),
               CASE(m::atan2(inf, -inf), 3 * pi / 4),
               CASE(m::atan2(-inf, inf), -pi / 4),
               CASE(m::atan2(-inf, -inf), -3 * pi / 4),
               CASE(m::atan2(1, inf), 0.0),
               CASE(m::atan2(-1, inf), -0.0),
               CASE(m::atan2(1, -inf), pi),
               CASE(m::atan2(-1, -inf), -pi),
               CASE(m::atan2(inf, 3), pi / 2),
               CASE(m::atan2(-inf, -3), -pi / 2),
               CASE(m::atan2(nan, 1), nan),
               CASE(m::atan2(1, nan), nan),
               CASE(m::atan2(1e-300, 1e300), 0.0),
               CASE(m::atan2(-1e-300, 1e300), -0.0),
               CASE(m::atan2(1e-300, -1e300), pi),
               CASE(m::atan2(3e-310, 1.5), 2e-310),
               CASE(m::atan2(5e-324, 5e-324), pi / 4),
               CASE(m::atan2(1.7e308, 1.7e308), pi / 4)});
}

TEST(Trig, ExpAndLogAtTheirEnds) {
  expect_bits({CASE(m::exp(0.0), 1),
               CASE(m::exp(-0.0), 1),
               CASE(m::exp(inf), inf),
               CASE(m::exp(-inf), 0),
               CASE(m::exp(nan), nan),
               CASE(m::exp(709.79), inf),
               CASE(m::exp(-745.2), 0),
               CASE(m::exp(-744.5), 5e-324),
               CASE(m::exp(1e300), inf),
               CASE(m::exp(-1e300), 0),
               CASE(m::exp(1), 0x1.5bf0a8b145769p+1),
               CASE(m::log(1), 0),
               CASE(m::log(0), -inf),
               CASE(m::log(-0.0), -inf),
               CASE(m::log(-1), nan),
               CASE(m::log(inf), inf),
               CASE(m::log(nan), nan),
               CASE(m::log(2), 0x1.62e42fefa39efp-1),
               CASE(m::log(0.5), -0x1.62e42fefa39efp-1),
               CASE(m::sinh(-0.0), -0.0),
               CASE(m::sinh(-inf), -inf),
               CASE(m::sinh(711), inf),
               CASE(m::sinh(nan), nan),
               CASE(m::cosh(-inf), inf),
               CASE(m::cosh(0), 1),
               CASE(m::cosh(nan), nan),
               CASE(m::tanh(-0.0), -0.0),
               CASE(m::tanh(inf), 1),
               CASE(m::tanh(-inf), -1),
               CASE(m::tanh(nan), nan),
               CASE(m::tanh(19.1), 1)});
  EXPECT_LT(m::exp(709.78), inf);
  EXPECT_LT(m::sinh(710.4), inf);
}

TEST(Trig, PowKeepsC99Corners) {
  expect_bits({CASE(m::pow(nan, 0), 1),
               CASE(m::pow(1, nan), 1),
               CASE(m::pow(nan, 1), nan),
               CASE(m::pow(2, nan), nan),
               CASE(m::pow(0.0, 3), 0.0),
               CASE(m::pow(-0.0, 3), -0.0),
               CASE(m::pow(-0.0, 4), 0.0),
               CASE(m::pow(-0.0, 0.5), 0.0),
               CASE(m::pow(0.0, -2), inf),
               CASE(m::pow(-0.0, -3), -inf),
               CASE(m::pow(-0.0, -4), inf),
               CASE(m::pow(-1, inf), 1),
               CASE(m::pow(-1, -inf), 1),
               CASE(m::pow(0.5, inf), 0),
               CASE(m::pow(0.5, -inf), inf),
               CASE(m::pow(-2, inf), inf),
               CASE(m::pow(2, -inf), 0),
               CASE(m::pow(inf, 2.5), inf),
               CASE(m::pow(inf, -1), 0),
               CASE(m::pow(-inf, 3), -inf),
               CASE(m::pow(-inf, 2), inf),
               CASE(m::pow(-inf, -3), -0.0),
               CASE(m::pow(-inf, -2), 0.0),
               CASE(m::pow(-8, 1.0 / 3), nan),
               CASE(m::pow(-2, 65), -0x1p65),
               CASE(m::pow(-1, 1e305), 1),
               CASE(m::pow(-1, 9007199254740991.0), -1),
               CASE(m::pow(2, 1023), 0x1p1023),
               CASE(m::pow(2, 1024), inf),
               CASE(m::pow(2, -1074), 5e-324),
               CASE(m::pow(2, -1076), 0),
               CASE(m::pow(1e300, 2), inf),
               CASE(m::pow(1e-200, 3), 0),
               CASE(m::pow(10, -1), 0.1),
               CASE(m::pow(10, 22), 1e22),
               CASE(m::pow(4, 0.5), 2),
               CASE(m::pow(5e-324, -1), inf),
               CASE(m::pow(1.0000001, 1e300), inf),
               CASE(m::pow(2, 3), 8)});
}

}  // namespace
