// Units and expressions by themselves.
#include "limber/scene/expression.h"

#include <gtest/gtest.h>

#include <clocale>
#include <cmath>

#include "limber/math/trig.h"
#include "limber/math/types.h"

namespace limber::scene {
namespace {

std::optional<Quantified> parameters(std::string_view name, std::string&) {
  if (name == "span") return Quantified{2, dimension::length, false};
  if (name == "n") return Quantified{4, {}, true};
  if (name == "g") return Quantified{9.81, dimension::acceleration, false};
  return std::nullopt;
}

Expression compile(const std::string& text, bool allow_time = false) {
  const ExpressionResult result = compile_expression(text, parameters, allow_time);
  EXPECT_TRUE(result.expression) << text << ": " << result.error;
  return result.expression.value_or(Expression{});
}
std::string error_of(const std::string& text, bool allow_time = false) {
  const ExpressionResult result = compile_expression(text, parameters, allow_time);
  EXPECT_FALSE(result.expression) << text;
  return result.error;
}

TEST(Units, ConvertToSi) {
  const std::tuple<const char*, double, Dimension> cases[] = {
      {"2 mm", 2e-3, dimension::length},
      {"2mm", 2e-3, dimension::length},
      {"30 deg", 30 * (pi / 180), dimension::angle},
      {"200 GPa", 200e9, dimension::pressure},
      {"1240 kg/m3", 1240, dimension::density},
      {"1240 kg/m^3", 1240, dimension::density},
      {"1240 kg/m³", 1240, dimension::density},
      {"4 N*m/rad", 4, dimension::torsional_stiffness},
      {"4 N m", 4, dimension::torque},
      {"4 N·m", 4, dimension::torque},
      {"4 kN/m", 4000, dimension::stiffness},
      {"9.81 m/s^2", 9.81, dimension::acceleration},
      {"9.81 m s^-2", 9.81, dimension::acceleration},
      {"60 rpm", 60 * (2 * pi / 60), dimension::angular_velocity},
      {"5 kg", 5, dimension::mass},
      {"5 g", 5e-3, dimension::mass},
      {"3 µm", 3e-6, dimension::length},
      {"1 ft", 0.3048, dimension::length},
      {"0.5 N*mm*s/rad", 0.5e-3, dimension::torsional_damping},
  };
  for (const auto& [text, value, dimension] : cases) {
    const Expression e = compile(text);
    EXPECT_DOUBLE_EQ(e.value, value) << text;
    EXPECT_EQ(e.dimension, dimension) << text;
    EXPECT_FALSE(e.loose) << text;
  }
}

TEST(Units, UnknownOnesGetASuggestion) {
  EXPECT_NE(error_of("3 mmm").find("did you mean \"mm\""), std::string::npos);
  EXPECT_NE(error_of("3 kpa").find("did you mean \"kPa\""), std::string::npos);
  EXPECT_NE(error_of("3 furlong").find("\"furlong\" is no unit"), std::string::npos);
}

TEST(Expressions, FollowPrecedence) {
  const std::pair<const char*, double> cases[] = {
      {"1 + 2*3", 7},
      {"(1 + 2)*3", 9},
      {"2^3^2", 512},
      {"-2^2", -4},
      {"2^-1", 0.5},
      {"7 - 2 - 1", 4},
      {"8/4/2", 1},
      {"=1+1", 2},
      {"1 < 2 && 2 < 3", 1},
      {"1 > 2 || 0", 0},
      {"if(1 < 2, 5, 6)", 5},
      {"max(1, 2)", 2},
      {"min(1, 2)", 1},
      {"abs(-3)", 3},
      {"mod(7, 4)", 3},
      {"!0", 1},
      {"1 != 2", 1},
      {"1 == 2", 0},
      {"floor(2.7)", 2},
      {"round(2.5)", 3},
      {"span/n", 0.5},
      {"+3", 3},
      {"sqrt(16)", 4},
      {"1e3", 1000},
      {".5", 0.5},
      {"sign(-2)", -1},
      {"step(1)", 1},
      {"2 m * 3", 6},
      {"10 mm + span", 2.01},
      {"ceil(0.2)", 1},
  };
  for (const auto& [text, value] : cases) EXPECT_DOUBLE_EQ(compile(text).value, value) << text;
}

TEST(Expressions, FoldWithTheFunctionsOfARun) {
  EXPECT_EQ(compile("sin(0.7)").value, math::sin(0.7));
  EXPECT_EQ(compile("exp(0.7)").value, math::exp(0.7));
  EXPECT_EQ(compile("cos(30 deg)").value, math::cos(30 * (pi / 180)));
  EXPECT_EQ(compile("atan2(1, 3)").value, math::atan2(1, 3));
}

TEST(Expressions, CheckDimensions) {
  EXPECT_EQ(compile("span*3").dimension, dimension::length);
  EXPECT_EQ(compile("span*span").dimension, dimension::area);
  EXPECT_EQ(compile("sqrt(span/g)").dimension, dimension::time);
  EXPECT_EQ(compile("span^2").dimension, dimension::area);
  EXPECT_EQ(compile("span + 3").dimension, dimension::length);
  EXPECT_NE(error_of("span + 3 s").find("a length and a time do not combine"), std::string::npos);
  EXPECT_NE(error_of("sin(span)").find("expects an angle"), std::string::npos);
  EXPECT_NE(error_of("exp(2 m)").find("expects a pure number"), std::string::npos);
  EXPECT_NE(error_of("2^(3 m)").find("exponent"), std::string::npos);
  EXPECT_NE(error_of("max(1 m, 2 s)").find("do not combine"), std::string::npos);
}

TEST(Expressions, UseTimeOnlyWhereAllowed) {
  const Expression e = compile("3 N * sin(2*pi*t)", true);
  EXPECT_FALSE(e.constant);
  const double t = 0.1;
  EXPECT_EQ(e.program.evaluate(&t), 3 * math::sin(2 * pi * t));
  EXPECT_TRUE(compile("2 m/s * t", true).loose);
  EXPECT_NE(error_of("2*t").find("t, the time"), std::string::npos);
}

TEST(Expressions, SayWhatIsWrongAndWhere) {
  EXPECT_EQ(compile_expression("1 + foo", parameters, false).offset, 4u);
  EXPECT_NE(error_of("1 +").find("ends too early"), std::string::npos);
  EXPECT_NE(error_of("(1").find("not closed"), std::string::npos);
  EXPECT_NE(error_of("1 $ 2").find("does not belong here"), std::string::npos);
  EXPECT_NE(error_of("sni(1)").find("did you mean \"sin\""), std::string::npos);
  EXPECT_NE(error_of("max(1)").find("takes 2 arguments"), std::string::npos);
  EXPECT_NE(error_of("sin(1, 2)").find("takes 1 argument"), std::string::npos);
  EXPECT_NE(error_of("1e999").find("too large"), std::string::npos);
  EXPECT_NE(error_of(std::string(101, '(')).find("nested too deeply"), std::string::npos);
  EXPECT_NE(error_of(std::string(5000, ' ')).find("at most"), std::string::npos);
  EXPECT_NE(error_of("").find("ends too early"), std::string::npos);
  EXPECT_NE(error_of("5 m/g * 2").find("is a unit and a parameter"), std::string::npos);
}

TEST(Expressions, NumbersDoNotDependOnTheLocale) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  std::setlocale(LC_ALL, "de_DE.UTF-8");  // if it is installed
  EXPECT_DOUBLE_EQ(compile("1.5 + 0.25").value, 1.75);
  std::setlocale(LC_ALL, before.c_str());
  EXPECT_FALSE(parse_number("1,5"));
  EXPECT_FALSE(parse_number("nan"));
  EXPECT_FALSE(parse_number("inf"));
  EXPECT_FALSE(parse_number("0x10"));
  EXPECT_FALSE(parse_number("1e999"));
  EXPECT_EQ(parse_number("-2.5e3"), -2500);
}

TEST(Expressions, TextOfAProgramCompilesToIt) {
  for (const char* text :
       {"t", "3*sin(2*pi*t) - 4", "(t - 1)^2 - (2 - (t - 3))",
        "if(t < 1 && !(t == 0.5), -t^2, min(t, 2)/(3/t))", "-(-t)", "(-t)^2", "2^(-t)",
        "exp(-((t - 1)/0.4)^2)", "max(atan2(t, 2), mod(t, 3)) + 1e-300*t", "1 - (t < 2)"}) {
    const math::Program first = compile(text, true).program;
    const std::string written = program_text(first);
    const math::Program second = compile(written, true).program;
    ASSERT_EQ(first.size(), second.size()) << text << " → " << written;
    for (std::size_t i = 0; i < first.size(); ++i) {
      EXPECT_EQ(first.code()[i].op, second.code()[i].op) << text << " → " << written;
      EXPECT_EQ(first.code()[i].constant, second.code()[i].constant) << text << " → " << written;
    }
  }
}

}  // namespace
}  // namespace limber::scene
