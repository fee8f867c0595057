// Machines whose parts push each other, and rests of what leans against damped runs of it.
#include "tests/validation/contact_world.h"

namespace limber {
namespace {

using testing::World;

// Radial plates on a hub that turns about y.
std::string plate_gear(const std::string& name, double x, int teeth, double outer, double first) {
  std::string shapes;
  for (int k = 0; k < teeth; ++k) {
    const double a = first + 2 * pi * k / teeth, middle = 0.6 * outer;
    shapes +=
        fmt::format("{}{{box: [{:.17g}, 0.02, 0.012], at: [{:.17g}, 0, {:.17g}], rotate: [0, {:.17g}, 0]}}",
                    k > 0 ? ", " : "", 0.8 * outer, middle * std::cos(a), middle * std::sin(a), -a);
  }
  return fmt::format("  {}: {{at: [{}, 0, 0], shapes: [{}], density: 2700}}\n", name, x, shapes);
}

// Eight plates drive twelve: the second turns at −8/12 of the first, give or take the play of half a pitch at
// any time, so that in the mean that is its speed.
TEST(ContactMachines, GearsOfPlatesTurnByTheirTeeth) {
  World gears("gravity: [0, 0, 0]\nbodies:\n" + plate_gear("one", 0, 8, 0.1, 0) +
              plate_gear("two", 0.2, 12, 0.14, pi / 12) +
              "joints:\n"
              "  drive: {type: revolute, child: one, at: [0, 0, 0], axis: [0, -1, 0], motion: 2*t}\n"
              "  turn: {type: revolute, child: two, at: [0.2, 0, 0], axis: [0, -1, 0], damping: 0.05}\n"
              "contact: {friction: 0.1}\n");
  const auto angle = [&](const std::string& name) {
    const Mat3 R = gears.pose(name).R;
    return std::atan2(R(2, 0), R(0, 0));
  };
  double turned = 0, before = angle("two"), worst = 0;
  for (int i = 1; i <= 1500; ++i) {
    gears.run(2e-3 * i, 2e-3);
    const double now = angle("two");
    turned += std::remainder(now - before, 2 * pi);
    before = now;
    worst = std::max(worst, std::abs(turned + 8.0 / 12 * 2 * gears.state.t));
  }
  EXPECT_LT(worst, pi / 12);
  EXPECT_NEAR(turned / (2 * 3.0), -8.0 / 12, pi / 12 / 6);
}

// Where a damped run ends, statics ends: without friction that is one place.
void expect_rest_is_where_a_run_ends(const std::string& text, const std::string& body, double seconds) {
  World run(text), rest(text);
  run.run(seconds, 5e-3);
  const auto found = articulated::solve_static(rest.system, rest.state, rest.w);
  ASSERT_TRUE(found.report.ok()) << found.report.message;
  EXPECT_LT(run.velocity(body).norm(), 1e-7);
  EXPECT_LT((rest.pose(body).p - run.pose(body).p).norm(), 1e-6);
  // What presses: touching has the force on its first body from column 6 on.
  const auto pressed = [](const articulated::State& s) {
    double sum = 0;
    for (std::size_t k = 0; k < s.touching.size(); k += articulated::State::touching_width)
      sum += Vec3(s.touching[k + 6], s.touching[k + 7], s.touching[k + 8]).norm();
    return sum;
  };
  double sum = 0;
  for (const auto& touch : found.touches) sum += touch.force.norm();
  EXPECT_NEAR(sum / pressed(run.state), 1, 1e-5);
}

TEST(ContactMachines, ABallRestsInAGrooveAsItsDampedRunDoes) {
  expect_rest_is_where_a_run_ends(
      "bodies: {ball: {at: [0.02, 0, 0.2], sphere: 0.1, mass: 1, linear_drag: 10, angular_drag: 1}}\n"
      "joints: {flat: {type: planar, child: ball, at: [0, 0, 0], axis: [0, 1, 0]}}\n"
      "contact: {friction: 0, planes: [{normal: [1, 0, 1]}, {normal: [-1, 0, 2]}]}\n",
      "ball", 8);
}

TEST(ContactMachines, ASprungArmLeansOnABallAsItsDampedRunDoes) {
  expect_rest_is_where_a_run_ends(
      "bodies:\n  arm: {at: [0.5, 0, 0], rotate: [0, 90 deg, 0], capsule: {radius: 0.02, length: 1}, mass: "
      "1}\n"
      "  peg: {fixed: true, at: [0.7, 0, -0.2], sphere: 0.05}\n"
      "joints: {hinge: {type: revolute, child: arm, at: [0, 0, 0], axis: [0, 1, 0], stiffness: 3, damping: "
      "2}}\n"
      "contact: {friction: 0}\n",
      "arm", 8);
}

TEST(ContactMachines, TwoArmsLeanOnEachOtherAsTheirDampedRunDoes) {
  expect_rest_is_where_a_run_ends(
      "bodies:\n"
      "  long: {at: [0.4, 0, 0.3], rotate: [0, 53.130102354 deg, 0], capsule: {radius: 0.02, length: 0.96}, "
      "mass: 1}\n"
      "  short: {at: [0.7, 0, 0.12], capsule: {radius: 0.03, length: 0.18}, mass: 0.5}\n"
      "joints:\n"
      "  a: {type: revolute, child: long, at: [0, 0, 0], axis: [0, 1, 0], damping: 1}\n"
      "  b: {type: revolute, child: short, at: [0.7, 0, 0], axis: [0, 1, 0], stiffness: 40, damping: 1}\n"
      "contact: {friction: 0}\n",
      "long", 8);
}

}  // namespace
}  // namespace limber
