// Rests that lean on things, against closed forms.
#include "tests/validation/contact_world.h"

namespace limber {
namespace {

using articulated::solve_static;
using articulated::StaticResult;
using testing::g;
using testing::on_slope;
using testing::World;

// The sum of what touches body `name` [N].
Vec3 force_on(const StaticResult& r, const std::string& name) {
  Vec3 sum = Vec3::Zero();
  for (const articulated::TouchReaction& t : r.touches)
    sum += t.a == "\"" + name + "\""   ? t.force
           : t.b == "\"" + name + "\"" ? Vec3(-t.force)
                                       : Vec3(Vec3::Zero());
  return sum;
}

// What steps from rest to rest leave over is 1e-8 of the forces and below.
constexpr double close = 1e-7;

TEST(ContactRest, ABoxFallsAndLiesOnTheFloor) {
  World it(
      "bodies:\n  box: {at: [0, 0, 1], rotate: [0.1, 0.05, 0.3], box: [0.2, 0.3, 0.1], mass: 2}\n"
      "contact: {restitution: 0.5, planes: [{at: [0, 0, 0]}]}\n");
  const StaticResult r = solve_static(it.system, it.state, it.w);
  ASSERT_TRUE(r.report.ok()) << r.report.message;
  EXPECT_TRUE(r.stable());
  EXPECT_EQ(r.touches.size(), 4u);
  EXPECT_NEAR(it.pose("box").p.z(), 0.05, 1e-7);
  EXPECT_LT((force_on(r, "box") - Vec3(0, 0, 2 * g)).norm(), close * 2 * g);
  // And stays there in a run.
  const Vec3 at = it.pose("box").p;
  it.run(0.2, 2e-3);
  EXPECT_LT((it.pose("box").p - at).norm(), 1e-8);
}

TEST(ContactRest, ABlockOnASlopeRestsBelowTheAngleOfFrictionOnly) {
  World stick(on_slope(30, 0.6, "at: [0, 0, 0.1], box: [0.2, 0.2, 0.2], mass: 3"));
  const StaticResult r = solve_static(stick.system, stick.state, stick.w);
  ASSERT_TRUE(r.report.ok()) << r.report.message;
  EXPECT_TRUE(r.stable());
  EXPECT_LT((stick.pose("it").p - Vec3(0, 0, 0.1)).norm(), 1e-9);
  EXPECT_NEAR(force_on(r, "it").x(), -3 * g / 2, close * 3 * g);
  World slide(on_slope(30, 0.57, "at: [0, 0, 0.1], box: [0.2, 0.2, 0.2], mass: 3"));  // tan 30° = 0.577
  const StaticResult gone = solve_static(slide.system, slide.state, slide.w);
  EXPECT_FALSE(gone.report.ok());
  EXPECT_NE(gone.report.message.find("nothing holds it"), std::string::npos) << gone.report.message;
}

TEST(ContactRest, ABallInAGrooveLeansOnBothSides) {
  World it(
      "bodies:\n  ball: {at: [0.02, 0, 0.3], sphere: 0.1, mass: 1}\n"
      "contact: {friction: 0, planes: [{at: [0, 0, 0], normal: [1, 0, 1]}, {at: [0, 0, 0], normal: [-1, 0, "
      "2]}]}\n");
  const StaticResult r = solve_static(it.system, it.state, it.w);
  ASSERT_TRUE(r.report.ok()) << r.report.message;
  EXPECT_TRUE(r.stable());
  ASSERT_EQ(r.touches.size(), 2u);
  // N₁ (1, 1)/√2 + N₂ (−1, 2)/√5 = (0, m g)
  double forces[2] = {r.touches[0].force.norm(), r.touches[1].force.norm()};
  if (std::abs(r.touches[0].normal.normalized().x()) < 0.6) std::swap(forces[0], forces[1]);
  EXPECT_NEAR(forces[0], g * std::sqrt(2) / 3, close * g);
  EXPECT_NEAR(forces[1], g * std::sqrt(5) / 3, close * g);
}

// A ladder on a rough floor against a smooth wall: N at the wall = W L cos θ/(2 (L sin θ + r)), which the
// floor's friction must hold.
std::string ladder(double friction) {
  const double L = 2, r = 0.03, a = 60 * pi / 180;
  return fmt::format(
      "bodies:\n"
      "  wall: {{fixed: true, at: [{:.17g}, 0, 2], box: [0.2, 2, 4], friction: 0}}\n"
      "  ladder: {{at: [{:.17g}, 0, {:.17g}], rotate: [0, {:.17g}, 0], capsule: {{radius: {}, length: {}}}, "
      "mass: 10}}\n"
      "joints: {{upright: {{type: planar, child: ladder, at: [0, 0, 0], axis: [0, 1, 0]}}}}\n"  // else it
                                                                                                // rolls along
                                                                                                // the wall
      "contact: {{friction: {}, planes: [{{at: [0, 0, 0]}}]}}\n",
      L * std::cos(a) + r + 0.1, L / 2 * std::cos(a), L / 2 * std::sin(a) + r, pi / 2 - a, r, L, friction);
}

TEST(ContactRest, ALadderStandsWhereItsFloorIsRoughEnough) {
  const double L = 2, r = 0.03, a = 60 * pi / 180, weight = 10 * g;
  const double needed = L * std::cos(a) / (2 * (L * std::sin(a) + r));  // 0.2838 of its weight
  World stands(ladder(1.02 * needed));
  const Pose start = stands.pose("ladder");
  const StaticResult found = solve_static(stands.system, stands.state, stands.w);
  ASSERT_TRUE(found.report.ok()) << found.report.message;
  EXPECT_TRUE(found.stable());
  EXPECT_LT((stands.pose("ladder").p - start.p).norm(), 1e-6);
  EXPECT_NEAR(force_on(found, "wall").x(), needed * weight, 1e-5 * weight);
  World falls(ladder(0.98 * needed));
  const StaticResult down = solve_static(falls.system, falls.state, falls.w);
  if (down.report.ok()) {
    EXPECT_LT(falls.pose("ladder").p.z(), 0.5 * start.p.z());
  }
}

TEST(ContactRest, ABoxOnItsEdgeIsNotStable) {
  World it(
      "bodies:\n  box: {at: [0, 0, 0.1414213562373095], rotate: [0, 45 deg, 0], box: [0.2, 0.2, 0.2], mass: "
      "2}\n"
      "contact: {planes: [{at: [0, 0, 0]}]}\n");
  const StaticResult r = solve_static(it.system, it.state, it.w);
  // On the edge and unstable, or fallen on a face: not balanced and called stable.
  if (r.report.ok() && r.stable()) {
    EXPECT_NEAR(it.pose("box").p.z(), 0.1, 1e-6);
  }
}

// A beam that bends onto a peg under its tip: 3/8 of its weight on the peg.
double propped(int elements) {
  World it(fmt::format(
      "materials: {{steel: {{E: 200 GPa, nu: 0.3, density: 7800}}}}\nsections: {{round: {{circle: 5 mm}}}}\n"
      "beams: {{arm: {{material: steel, section: round, path: [[0, 0, 0], [1, 0, 0]], elements: {}}}}}\n"
      "bodies: {{peg: {{fixed: true, at: [0.999, 0, -0.055], rotate: [90 deg, 0, 0], cylinder: {{radius: "
      "0.05, length: 0.4}}}}}}\n"
      "contact: {{friction: 0}}\n",
      elements));
  const StaticResult r = solve_static(it.system, it.state, it.w);
  EXPECT_TRUE(r.report.ok()) << r.report.message;
  EXPECT_TRUE(r.stable());
  const double weight = 7800 * pi * 25e-6 * g;
  // P a³/3 = w (6 a² L² − 4 a³ L + a⁴)/24 with the peg at a
  const double a = 0.999, exact = (6 * a * a - 4 * a * a * a + a * a * a * a) / (8 * a * a * a);
  return -force_on(r, "peg").z() / weight - exact;
}

TEST(ContactRest, ABeamLeansOnAPeg) {
  // Its slope of 1.3e-3 carries the place where it touches by 6e-5 of its length round the peg and the beam.
  for (const int elements : {4, 10, 20}) EXPECT_LT(std::abs(propped(elements)), elements < 10 ? 5e-4 : 1e-4);
}

// What it carries elsewhere knows the contact: an arm on a hinge that lies on a post bears half its weight.
TEST(ContactRest, ReactionsOfJointsKnowWhatIsLeantOn) {
  World it(
      "bodies:\n  arm: {at: [0.5, 0, 0], box: [1, 0.1, 0.1], mass: 4}\n"
      "  post: {fixed: true, at: [1, 0, -0.55], sphere: 0.5}\n"
      "joints:\n  hinge: {type: revolute, child: arm, at: [0, 0, 0], axis: [0, 1, 0]}\n"
      "contact: {friction: 0}\n");
  const StaticResult r = solve_static(it.system, it.state, it.w);
  ASSERT_TRUE(r.report.ok()) << r.report.message;
  EXPECT_NEAR(-force_on(r, "post").z(), 2 * g, 1e-6 * g);
  for (const articulated::JointReaction& j : r.joints)
    if (j.joint == "hinge") {
      EXPECT_LT((j.force - Vec3(0, 0, 2 * g)).norm(), 1e-6 * g);
    }
}

// A servo whose target moves pushes by kd times its rate too, whether something touches or not.
TEST(ContactRest, AServoThatLeadsIsTheSameWithContact) {
  const std::string arm =
      "bodies:\n  arm: {box: [0.4, 0.1, 0.1], mass: 1, at: [0.2, 0, 1]}\n  box: {box: [0.1, 0.1, 0.1], at: "
      "[2, 0, "
      "0.05]}\njoints:\n  h: {type: revolute, child: arm, at: [0, 0, 1], axis: [0, 1, 0], drive: {servo: "
      "{target: "
      "3*t, kp: 20, kd: 2}}}\n";
  World touching(arm + "contact: {planes: [{}]}\n");
  ASSERT_TRUE(solve_static(touching.system, touching.state, touching.w).report.ok());
  World hinge(
      "bodies:\n  arm: {box: [0.4, 0.1, 0.1], mass: 1, at: [0.2, 0, 1]}\njoints:\n  h: {type: revolute, "
      "child: arm, at: [0, 0, 1], axis: [0, 1, 0], drive: {servo: {target: 3*t, kp: 20, kd: 2}}}\n");
  ASSERT_TRUE(solve_static(hinge.system, hinge.state, hinge.w).report.ok());
  EXPECT_LT((touching.pose("arm").p - hinge.pose("arm").p).norm(), 1e-7);
}

}  // namespace
}  // namespace limber
