// Paths of equilibria of bodies, joints, springs, loops and beams: closed forms, and chain where it takes the
// same structure.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "limber/scene/scene.h"
#include "limber/sim/static_curve.h"

namespace limber::sim {
namespace {

StaticCurve path_of(const std::string& text, Method method, Branch branch = Branch::straight) {
  const scene::Scene scene = scene::parse(text, "test.yaml");
  CurveOptions options;
  options.statics.method = method;
  options.shapes = false;
  return equilibrium_path(scene.model, branch, options, scene.run);
}

double probe(const StaticCurve& curve, const CurvePoint& p, const std::string& name) {
  for (std::size_t i = 0; i < curve.layout.scalars.size(); ++i)
    if (curve.layout.scalars[i].name == name) return p.snapshot.scalars[i];
  return NAN;
}

// A point on a slider between two springs of rest length L₀ to the points (±a, 0): pushed down by
// P = 2 k z (L₀/L − 1), L² = a² + z², which has its extremes where L³ = L₀ a².
TEST(Paths, TrussOfTwoSprings) {
  const double k = 3000, a = 0.1, h = 0.04;
  const std::string text = fmt::format(R"(
limber: 1
gravity: [0, 0, 0]
bodies: {{knot: {{at: [0, 0, {1}], sphere: 5 mm, mass: 0.1 kg}}}}
joints: {{guide: {{type: prismatic, child: knot, axis: [0, 0, 1]}}}}
springs:
  left: {{between: [{{on: world, at: [-{2}, 0, 0]}}, knot], stiffness: {0} N/m}}
  right: {{between: [{{on: world, at: [{2}, 0, 0]}}, knot], stiffness: {0} N/m}}
loads: {{push: {{on: knot, force: [0, 0, -60 N]}}}}
probes: [knot.position]
)",
                                       k, h, a);
  const StaticCurve curve = path_of(text, Method::articulated);
  ASSERT_TRUE(curve.ok()) << curve.report.message;
  const double L0 = std::sqrt(a * a + h * h), L = std::cbrt(L0 * a * a), z = std::sqrt(L * L - a * a);
  const double most = 2 * k * z * (L0 / L - 1);
  ASSERT_EQ(curve.lost.size(), 2u);
  for (const int i : {0, 1}) {
    EXPECT_TRUE(curve.lost[i].limit);
    EXPECT_EQ(curve.lost[i].negative, 1 - i);
    // Located where the load's rate is 1e-8 of what it was: its square.
    EXPECT_NEAR(curve.lost[i].factor * 60, (i == 0 ? 1 : -1) * most, 1e-9 * most);
  }
  for (const CurvePoint& p : curve.points) {
    const double at = probe(curve, p, "knot.position.z"), l = std::sqrt(a * a + at * at);
    EXPECT_NEAR(60 * p.load, 2 * k * at * (L0 / l - 1), 1e-6 * most);  // 1e-8 of the springs' pull
    EXPECT_NEAR(p.deflection, h - at, 1e-12);
  }
  EXPECT_NEAR(curve.stiffness, 2 * k * h * h / (L0 * L0), 1e-9 * k);
}

const char* column = R"(
limber: 1
gravity: [0, 0, 0]
bodies: {rod: {at: [0, 0, 0], cylinder: {radius: 5 mm, from: [0, 0, 0], to: [0, 0, 0.5]}, mass: 1 kg, points: {top: [0, 0, 0.5]}}}
joints: {foot: {type: revolute, child: rod, at: [0, 0, 0], axis: [0, 1, 0], stiffness: 20 N*m/rad}}
loads: {push: {on: rod.top, force: [0, 0, -80 N]}}
probes: [foot.angle]
)";

// A rigid column on a sprung hinge buckles at k/L; on its branches P L sin θ = k θ.
TEST(Paths, ColumnOnASprungHinge) {
  const double k = 20, length = 0.5;
  const StaticCurve straight = path_of(column, Method::articulated);
  ASSERT_TRUE(straight.ok()) << straight.report.message;
  ASSERT_EQ(straight.lost.size(), 1u);
  EXPECT_FALSE(straight.lost[0].limit);
  EXPECT_NEAR(straight.lost[0].factor * 80, k / length, 1e-7 * k / length);
  EXPECT_EQ(straight.points.back().negative, 1);
  for (const Branch side : {Branch::one_side, Branch::other_side, Branch::stable}) {
    const StaticCurve branch = path_of(column, Method::articulated, side);
    ASSERT_TRUE(branch.ok()) << branch.report.message;
    const CurvePoint& end = branch.points.back();
    const double angle = probe(branch, end, "foot.angle");
    EXPECT_NEAR(end.load, 1, 1e-12);
    EXPECT_EQ(end.negative, 0);
    EXPECT_GT(std::abs(angle), 1);
    EXPECT_NEAR(80 * length * std::sin(angle), k * angle, 1e-8 * k);
  }
  const double one =
      probe(straight, path_of(column, Method::articulated, Branch::one_side).points.back(), "foot.angle");
  const double other =
      probe(straight, path_of(column, Method::articulated, Branch::other_side).points.back(), "foot.angle");
  EXPECT_NEAR(one, -other, 1e-9);
}

// A switch whose middle is held by a guide: a tie of chain, or a rigid block on a slider that the beam is
// tied to. The links are the same, so both paths are, to what is left over on them.
std::string bistable(const std::string& middle, const std::string& load) {
  return fmt::format(R"(
limber: 1
gravity: [0, 0, 0]
parameters: {{span: 100 mm, rise: 4 mm}}
materials: {{pla: {{E: 3.2 GPa, nu: 0.35, density: 1240 kg/m3, yield: 55 MPa}}}}
sections: {{blade: {{rectangle: {{width: 10 mm, height: 0.5 mm}}}}}}
beams:
  b: {{path: {{spline: [[0, 0, 0], ["span/4", 0, "rise/2"], ["span/2", 0, =rise], ["3*span/4", 0, "rise/2"], [=span, 0, 0]]}}, material: pla, section: blade, elements: 16}}
{}
loads: {{f: {{on: {}, force: [0, 0, -3 N]}}}}
probes: [b@0.5.position]
)",
                     middle, load);
}

TEST(Paths, ARigidBlockInASwitchTakesNothingAway) {
  const StaticCurve tied = path_of(
      bistable("ties: {foot: {on: b.tip}, guide: {on: b@0.5, type: prismatic, axis: [0, 0, 1]}}", "b@0.5"),
      Method::chain);
  const StaticCurve block = path_of(bistable(R"(
bodies: {block: {at: ["span/2", 0, =rise], box: [4 mm, 4 mm, 4 mm], mass: 1 g}}
joints: {guide: {type: prismatic, child: block, axis: [0, 0, 1]}}
ties: {foot: {on: b.tip}, middle: {on: b@0.5, to: block}}
)",
                                             "block"),
                                    Method::articulated);
  ASSERT_TRUE(tied.ok()) << tied.report.message;
  ASSERT_TRUE(block.ok()) << block.report.message;
  ASSERT_EQ(tied.lost.size(), 2u);
  ASSERT_EQ(block.lost.size(), 2u);
  for (const int i : {0, 1}) {
    EXPECT_NEAR(block.lost[i].factor, tied.lost[i].factor, 1e-8);
    EXPECT_EQ(block.lost[i].negative, tied.lost[i].negative);
    EXPECT_EQ(block.lost[i].limit, tied.lost[i].limit);
  }
  const CurvePoint &a = block.points.back(), &b = tied.points.back();
  EXPECT_NEAR(a.snapshot.scalars[2], b.snapshot.scalars[2], 1e-9);
  EXPECT_NEAR(a.deflection, b.deflection, 1e-9);
  EXPECT_NEAR(a.largest_stress, b.largest_stress, 1e-6 * b.largest_stress);
  EXPECT_EQ(a.stressed, b.stressed);
  EXPECT_NEAR(block.stiffness, tied.stiffness, 1e-6 * tied.stiffness);
}

// Beams alone: two methods, two tangents, two measures of length.
TEST(Paths, ArticulatedFollowsBeamsAsChainDoes) {
  const std::string text =
      bistable("ties: {foot: {on: b.tip}, guide: {on: b@0.5, type: prismatic, axis: [0, 0, 1]}}", "b@0.5");
  for (const Branch branch : {Branch::straight, Branch::stable}) {
    const StaticCurve a = path_of(text, Method::articulated, branch),
                      c = path_of(text, Method::chain, branch);
    ASSERT_TRUE(a.ok() && c.ok()) << a.report.message << c.report.message;
    ASSERT_EQ(a.lost.size(), c.lost.size());
    for (std::size_t i = 0; i < a.lost.size(); ++i) EXPECT_NEAR(a.lost[i].factor, c.lost[i].factor, 1e-8);
    EXPECT_NEAR(a.points.back().snapshot.scalars[2], c.points.back().snapshot.scalars[2], 1e-9);
  }
}

// Stops are not followed: the path ends on one and says which.
TEST(Paths, EndAtAStop) {
  std::string text = column;
  text.replace(text.find("stiffness: 20 N*m/rad"), 21, "stiffness: 20 N*m/rad, limits: [-0.5, 0.5]");
  const StaticCurve branch = path_of(text, Method::articulated, Branch::one_side);
  EXPECT_FALSE(branch.ok());
  EXPECT_NE(branch.report.message.find("joint \"foot\" comes to its stop"), std::string::npos);
  EXPECT_NEAR(std::abs(probe(branch, branch.points.back(), "foot.angle")), 0.5, 1e-6);
}

// The way of a joint or a support grows where there are no loads. What it takes is dV/dx.
TEST(Ways, OfAGuideBetweenTwoSprings) {
  const double k = 3000, a = 0.1, h = 0.04;
  const std::string text = R"(
limber: 1
gravity: [0, 0, 0]
bodies: {knot: {at: [0, 0, 0.04], sphere: 5 mm, mass: 0.1 kg}}
joints: {guide: {type: prismatic, child: knot, axis: [0, 0, 1], motion: -0.09 m*t/(1 s)}}
springs:
  left: {between: [{on: world, at: [-0.1, 0, 0]}, knot], stiffness: 3000 N/m}
  right: {between: [{on: world, at: [0.1, 0, 0]}, knot], stiffness: 3000 N/m}
probes: [guide.position, guide.motion.force]
)";
  const double L0 = std::sqrt(a * a + h * h);
  const auto check = [&](const StaticCurve& curve) {
    ASSERT_TRUE(curve.ok()) << curve.report.message;
    EXPECT_EQ(curve.moved, "guide");
    EXPECT_NEAR(curve.way, 0.09, 1e-15);
    EXPECT_GT(curve.points.size(), 4u);
    for (const CurvePoint& p : curve.points) {
      const double z = h - 0.09 * p.load, l = std::sqrt(a * a + z * z);
      EXPECT_NEAR(probe(curve, p, "guide.position"), -0.09 * p.load, 1e-12);
      EXPECT_NEAR(p.deflection, 0.09 * p.load, 1e-15);
      EXPECT_NEAR(p.reaction, 2 * k * z * (L0 / l - 1), 1e-9 * k * a);
      EXPECT_NEAR(p.reaction, -probe(curve, p, "guide.motion.force"), 1e-9 * k * a);
    }
  };
  const scene::Scene scene = scene::parse(text, "test.yaml");
  CurveOptions at_end;
  at_end.statics.time = 1;
  const StaticCurve path = equilibrium_path(scene.model, Branch::straight, at_end, scene.run);
  check(path);
  check(load_curve(scene.model, scene.run, 5, Growth::loads, at_end));
  // In words: the extremes of the closed form, by parabolas through three points each.
  bool most = false, stays = false;
  for (const Statement& s : describe(path)) {
    most = most || s.text.starts_with("at most 6.8");
    if (s.label == "bistable" && s.text.starts_with("yes: let go, it stays at ")) {
      EXPECT_NEAR(std::stod(s.text.substr(25)), 80, 0.4);  // [mm]
      stays = true;
    }
  }
  EXPECT_TRUE(most);
  EXPECT_TRUE(stays);
}

TEST(Ways, ATurnTakesATorque) {
  const StaticCurve curve = path_of(R"(
limber: 1
gravity: [0, 0, 0]
bodies: {rod: {cylinder: {radius: 5 mm, from: [0, 0, 0], to: [0, 0, 0.5]}, mass: 1 kg}}
joints: {foot: {type: revolute, child: rod, at: [0, 0, 0], axis: [0, 1, 0], stiffness: 20 N*m/rad, motion: 2 rad}}
)",
                                    Method::articulated);
  ASSERT_TRUE(curve.ok()) << curve.report.message;
  EXPECT_TRUE(curve.turns);
  for (const CurvePoint& p : curve.points) EXPECT_NEAR(p.reaction, 20 * p.deflection, 1e-12);
  EXPECT_NEAR(curve.points.back().reaction, 40, 1e-12);
}

// The middle of a switch is led down: a support of chain that moves, or a block on a slider that does.
TEST(Ways, ASwitchIsLedThroughByASupportOrASlider) {
  std::string held = bistable("ties: {foot: {on: b.tip}, push: {on: b@0.5, shift: [0, 0, -8 mm]}}", "b@0.5"),
              led = bistable(R"(
bodies: {block: {at: ["span/2", 0, =rise], box: [4 mm, 4 mm, 4 mm], mass: 1 g}}
joints: {push: {type: prismatic, child: block, axis: [0, 0, 1], motion: -8 mm}}
ties: {foot: {on: b.tip}, middle: {on: b@0.5, to: block}}
)",
                             "block");
  for (std::string* text : {&held, &led})
    text->erase(text->find("loads:"), text->find("probes:") - text->find("loads:"));
  const scene::Scene by_support = scene::parse(held, "held.yaml"), by_slider = scene::parse(led, "led.yaml");
  const StaticCurve a = load_curve(by_support.model, by_support.run, 16, Growth::loads),
                    b = load_curve(by_slider.model, by_slider.run, 16, Growth::loads);
  ASSERT_TRUE(a.ok() && b.ok()) << a.report.message << b.report.message;
  EXPECT_EQ(a.method, "chain");
  EXPECT_EQ(b.method, "articulated");
  double least = 0, energy = 0;
  for (std::size_t i = 0; i < a.points.size(); ++i) {
    EXPECT_NEAR(a.points[i].deflection, b.points[i].deflection, 1e-15);
    EXPECT_NEAR(a.points[i].reaction, b.points[i].reaction, 1e-7);  // of 1 N: to what is left over
    EXPECT_NEAR(a.points[i].largest_stress, b.points[i].largest_stress, 1.0);
    least = std::min(least, a.points[i].reaction);
    if (i > 0) energy += 0.5 * (a.points[i].reaction + a.points[i - 1].reaction) * 0.5e-3;
  }
  EXPECT_LT(least, -0.1);
  EXPECT_GT(energy, 0);
}

// Loads grow while the weight, and what is moved, stay: chain and articulated mean the same.
TEST(Ways, LoadsGrowWhileWeightAndSupportsStay) {
  const std::string text = R"(
limber: 1
materials: {pla: {E: 3.2 GPa, nu: 0.35, density: 1240 kg/m3}}
sections: {blade: {rectangle: {width: 10 mm, height: 1 mm}}}
beams: {b: {path: [[0, 0, 0], [200 mm, 0, 0]], material: pla, section: blade, elements: 8}}
loads: {f: {on: b.tip, force: [0, 0, -0.2 N]}}
probes: [b.tip.position]
)";
  const scene::Scene scene = scene::parse(text, "test.yaml");
  CurveOptions by;
  by.statics.method = Method::articulated;
  const StaticCurve c = load_curve(scene.model, scene.run, 4, Growth::loads),
                    a = load_curve(scene.model, scene.run, 4, Growth::loads, by);
  ASSERT_TRUE(a.ok() && c.ok());
  for (std::size_t i = 0; i < a.points.size(); ++i)
    EXPECT_NEAR(a.points[i].snapshot.scalars[2], c.points[i].snapshot.scalars[2], 1e-9);
  EXPECT_LT(a.points[0].snapshot.scalars[2], -1e-3);  // its weight
}

}  // namespace
}  // namespace limber::sim
