// Bodies that touch, by the default method, against closed forms.
#include "tests/validation/contact_world.h"

namespace limber {
namespace {

using articulated::Integrator;
using articulated::State;
using articulated::Workspace;
using testing::g;
using testing::on_slope;
using testing::World;

const Integrator carrying[] = {Integrator::midpoint, Integrator::euler, Integrator::implicit_euler,
                               Integrator::sdirk,    Integrator::gauss, Integrator::rk4,
                               Integrator::sdirk4};

TEST(Contact, ABoxOnASlopeSticksBelowAndSlidesAbove) {
  for (const Integrator by : carrying) {
    SCOPED_TRACE(articulated::to_string(by));
    World stick(on_slope(30, 0.6, "at: [0, 0, 0.1], box: [0.2, 0.2, 0.2], mass: 3"), by);
    stick.run(0.5, 2e-3);
    EXPECT_LT((stick.pose("it").p - Vec3(0, 0, 0.1)).norm(), 1e-9);
    World slide(on_slope(30, 0.4, "at: [0, 0, 0.1], box: [0.2, 0.2, 0.2], mass: 3"), by);
    slide.run(0.5, 2e-3);
    const double a = g * (0.5 - 0.4 * std::sqrt(3) / 2);
    EXPECT_NEAR(slide.velocity("it").x() / (0.5 * a), 1, 1e-6);
    EXPECT_NEAR(slide.pose("it").p.z(), 0.1, 1e-9);
  }
}

// Rolling at k g sin.
double rolling_error(const std::string& body, double share, double h) {
  World roll(on_slope(30, 0.6, body));
  roll.run(0.5, h);
  return roll.velocity("it").x() / (0.5 * share * g * 0.5) - 1;
}

TEST(Contact, BallsAndRollersRoll) {
  const std::string ball = "at: [0, 0, 0.1], sphere: {radius: 0.1}, mass: 1",
                    roller =
                        "at: [0, 0, 0.1], rotate: [90 deg, 0, 0], "
                        "cylinder: {radius: 0.1, length: 0.3}, mass: 1";
  // Constant forces: what iterations of contact leave over.
  EXPECT_LT(std::abs(rolling_error(ball, 5. / 7, 2e-3)), 1e-7);
  EXPECT_LT(std::abs(rolling_error(roller, 2. / 3, 1e-3)), 1e-4);
}

// A ball whose weight is beside its middle rocks as it rolls: second order by the midpoint rule.
TEST(Contact, RollingIsOfSecondOrder) {
  const auto at_end = [](double h) {
    World it(on_slope(10, 0.8,
                      "at: [0, 0, 0.1], sphere: {radius: 0.1}, mass: 1, com: [0.03, 0, 0.01], inertia: "
                      "[0.004, 0.004, 0.004]"));
    it.run(0.5, h);
    return it.pose("it").p.x();
  };
  const double coarse = at_end(4e-3), middle = at_end(2e-3), fine = at_end(1e-3);
  EXPECT_NEAR(std::log2((coarse - middle) / (middle - fine)), 2, 0.1);
}

TEST(Contact, ABallBouncesToESquaredOfItsHeight) {
  World ball(
      "bodies:\n  ball: {at: [0, 0, 1.1], sphere: {radius: 0.1}, mass: 1}\n"
      "contact: {restitution: 0.8, planes: [{at: [0, 0, 0]}]}\n");
  double height = 1, last = 1;
  for (int bounce = 0; bounce < 4; ++bounce) {
    const double fall = std::sqrt(2 * last / g), rise = 0.8 * fall;  // then it is at its highest
    ball.run(ball.state.t + std::round((fall + rise) / 1e-3) * 1e-3, 1e-3);
    const double z = ball.pose("ball").p.z() - 0.1, v = ball.velocity("ball").z();
    height = z + v * v / (2 * g);
    last *= 0.64;
    EXPECT_NEAR(height / last, 1, 1e-5);
  }
}

TEST(Contact, ABoxTipsWhereItsCentreLeavesItsEdge) {
  // Twice as high as wide: at tan α = 1/2, with friction enough.
  const auto tilt = [](double degrees) {
    World box(on_slope(degrees, 5, "at: [0, 0, 0.2], box: [0.2, 0.2, 0.4], mass: 1"));
    box.run(1, 2e-3);
    return std::acos(std::clamp(box.pose("it").R(2, 2), -1.0, 1.0));
  };
  EXPECT_LT(tilt(26), 1e-6);  // atan(1/2) = 26.565°
  EXPECT_GT(tilt(27.2), 0.01);
}

TEST(Contact, NewtonsCradleSwingsOneBallForOne) {
  std::string text = "gravity: [0, 0, 0]\nbodies:\n";
  for (int i = 0; i < 5; ++i)
    text += fmt::format("  b{}: {{at: [{}, 0, 0], sphere: {{radius: 0.05}}, mass: 1{}}}\n", i,
                        0.1 * i - (i == 0 ? 0.0305 : 0), i == 0 ? ", velocity: [1, 0, 0]" : "");
  World cradle(text + "contact: {restitution: 1, friction: 0}\n");
  cradle.run(0.1, 1e-3);
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(cradle.velocity(fmt::format("b{}", i)).x(), 0, 1e-9) << i;
  EXPECT_NEAR(cradle.velocity("b4").x(), 1, 1e-9);
}

TEST(Contact, AStackStands) {
  std::string text = "bodies:\n";
  for (int i = 0; i < 20; ++i)
    text +=
        fmt::format("  b{}: {{at: [0, 0, {}], box: [0.1, 0.1, 0.1], density: 1000}}\n", i, 0.05 + 0.1 * i);
  World stack(text + "contact: {friction: 0.5, planes: [{at: [0, 0, 0]}]}\n");
  stack.run(0.5, 5e-3);
  for (int i = 0; i < 20; ++i)
    EXPECT_LT((stack.pose(fmt::format("b{}", i)).p - Vec3(0, 0, 0.05 + 0.1 * i)).norm(), 1e-8) << i;
  // Each interface carries what is above it.
  EXPECT_EQ(stack.state.touching.size() / State::touching_width, 80u);
  double on_floor = 0;
  for (std::size_t k = 0; k < stack.state.touching.size(); k += State::touching_width)
    if (stack.state.touching[k] == 0) on_floor -= stack.state.touching[k + 8];
  EXPECT_NEAR(on_floor, 20 * g, 1e-6 * g);
}

TEST(Contact, ThinPlatesStopWhatIsThrown) {
  for (const char* shape :
       {"sphere: {radius: 0.02}", "box: [0.03, 0.04, 0.05]", "capsule: {radius: 0.01, length: 0.05}"})
    for (const double speed : {5.0, 30.0, 100.0})
      for (const double start : {0.5, 0.513, 0.5471}) {
        World throw_it(
            fmt::format("bodies:\n  plate: {{fixed: true, box: [60, 60, 1 mm]}}\n"
                        "  it: {{at: [0.1, 0, {}], rotate: [0.3, 0.2, 0.1], {}, velocity: [0, 0, -{}], "
                        "angular_velocity: [3, 40, 5]}}\ncontact: {{restitution: 0.2}}\n",
                        start, shape, speed));
        throw_it.run(0.3, 2e-3);
        EXPECT_GT(throw_it.pose("it").p.z(), 0) << shape << " at " << speed << " from " << start;
      }
}

// A mechanism that leans: a rod on a hinge falls on a post and rests, and the floor of a driven table lifts.
TEST(Contact, JointsSpringsAndDrivesFeelIt) {
  World rod(
      "bodies:\n  post: {fixed: true, at: [0.8, 0, -0.3], box: [0.1, 0.2, 0.2]}\n"
      "  rod: {at: [0.5, 0, 0], box: [1, 0.04, 0.04], mass: 2}\n"
      "joints:\n  hinge: {type: revolute, child: rod, at: [0, 0, 0], axis: [0, 1, 0]}\ncontact: {friction: "
      "0}\n");
  rod.run(2, 2e-3);
  EXPECT_LT(rod.velocity("rod").norm(), 1e-8);
  double moment = 0;
  for (std::size_t k = 0; k < rod.state.touching.size(); k += State::touching_width) {
    const double* x = &rod.state.touching[k];
    moment += std::abs(x[8] * x[3] - x[6] * x[5]);
  }
  // About the hinge: weight at the centre against the post.
  EXPECT_NEAR(moment, 2 * g * rod.pose("rod").p.x(), 1e-4);
  World lift(
      "bodies:\n  table: {at: [0, 0, 0], box: [1, 1, 0.1], mass: 1}\n"
      "  it: {at: [0, 0, 0.1], box: [0.1, 0.1, 0.1], mass: 1}\n"
      "joints:\n  slide: {type: prismatic, child: table, at: [0, 0, 0], axis: [0, 0, 1], motion: 0.2*t^2}\n"
      "contact: {friction: 0.3}\n");
  lift.run(0.5, 2e-3);
  EXPECT_NEAR(lift.pose("it").p.z(), 0.1 + 0.05, 1e-6);
  double up = 0;
  for (std::size_t k = 0; k < lift.state.touching.size(); k += State::touching_width)
    up += std::abs(lift.state.touching[k + 8]);
  EXPECT_NEAR(up, g + 0.4, 1e-4);
}

// A table that is lifted by a coupled crank and struck: what moves it pays, and the books close.
TEST(Contact, WhatMovesAJointPaysForImpacts) {
  World lift(
      "bodies:\n  wheel: {cylinder: {radius: 0.05, length: 0.02}, mass: 0.5}\n"
      "  table: {at: [0, 0, 0.3], box: [0.4, 0.3, 0.02], mass: 1}\n"
      "  it: {at: [-0.05, 0.02, 0.345], box: [0.06, 0.05, 0.05], mass: 0.2}\n"
      "joints:\n  spin: {type: revolute, child: wheel, at: [0, 0, 0], axis: [0, 1, 0], motion: 3*t}\n"
      "  lift: {type: prismatic, child: table, at: [0, 0, 0.3], axis: [0.1, 0, 1]}\n"
      "couplings:\n  rack: {rack: [spin, lift], radius: 20 mm}\ncontact: {friction: 0.5, restitution: "
      "0.2}\n");
  const double start = lift.energy();
  lift.run(0.5, 2e-3);
  EXPECT_NEAR(lift.energy() + lift.state.dissipated - lift.state.work, start, 1e-8);
  EXPECT_GT(lift.state.work, 0.1);
}

// The same bits whether a run is kept and taken up again, and on any number of threads.
TEST(Contact, AStateIsAllThatTheNextStepDependsOn) {
  const std::string text =
      "bodies:\n  a: {at: [0, 0, 0.3], rotate: [0.2, 0.1, 0], box: [0.2, 0.1, 0.3]}\n"
      "  b: {at: [0.05, 0, 0.7], sphere: {radius: 0.1}}\ncontact: {friction: 0.4, restitution: 0.3, planes: "
      "[{at: [0, 0, 0]}]}\n";
  World one(text), two(text);
  one.run(0.8, 2e-3);
  two.run(0.4, 2e-3);
  State again = two.system.rest();
  again.load(two.state.save());
  two.state = again;
  two.w.fill_with_nan();
  two.run(0.8, 2e-3);
  EXPECT_EQ(one.state.q, two.state.q);
  EXPECT_EQ(one.state.touching, two.state.touching);
}

TEST(Contact, TumblingBodiesGainNothing) {
  for (const double e : {0.0, 0.5, 1.0}) {
    std::string text = "gravity: [0, 0, 0]\nbodies:\n";  // walls all round: only impacts act
    for (int i = 0; i < 8; ++i)
      text += fmt::format(
          "  b{}: {{at: [{}, {}, {}], {}, velocity: [{}, {}, {}], angular_velocity: [{}, 2, 1]}}\n", i,
          0.4 * (i % 2) - 0.2, 0.4 * (i / 2 % 2) - 0.2, 0.4 * (i / 4) - 0.2,
          i % 3 == 0   ? "box: [0.1, 0.15, 0.2]"
          : i % 3 == 1 ? "sphere: {radius: 0.08}"
                       : "capsule: {radius: 0.05, length: 0.1}",
          1 - 0.3 * i, 0.5 * (i % 3) - 0.4, 0.7 - 0.2 * i, i - 3);
    text += fmt::format("contact: {{friction: 0.4, restitution: {}, planes: [", e);
    for (const char* wall :
         {"{at: [0.5, 0, 0], normal: [-1, 0, 0]}", "{at: [-0.5, 0, 0], normal: [1, 0, 0]}",
          "{at: [0, 0.5, 0], normal: [0, -1, 0]}", "{at: [0, -0.5, 0], normal: [0, 1, 0]}",
          "{at: [0, 0, 0.5], normal: [0, 0, -1]}", "{at: [0, 0, -0.5], normal: [0, 0, 1]}"})
      text += std::string(wall) + ", ";
    World bin(text + "]}\n");
    const double start = bin.energy();
    double before = start;
    for (int i = 0; i < 50; ++i) {
      bin.run(0.02 * (i + 1), 2e-3);
      const double now = bin.energy();
      EXPECT_LT(now - before, 2e-8 * start) << e << " at " << bin.state.t;  // 1e-6 a second
      before = now;
    }
  }
}

TEST(Contact, OverlapAtTheStartIsToldAndTakenBackGently) {
  World two(
      "bodies:\n  a: {at: [0, 0, 0.05], box: [0.1, 0.1, 0.1]}\n  b: {at: [0, 0, 0.14], box: [0.1, 0.1, "
      "0.1]}\n"
      "contact: {planes: [{at: [0, 0, 0]}]}\n");
  const auto report = articulated::step(two.system, two.state, two.w, 2e-3);
  ASSERT_TRUE(report.ok());
  EXPECT_NE(report.warning.find("overlaps"), std::string::npos) << report.warning;
  two.run(0.5, 2e-3);
  EXPECT_NEAR(two.pose("b").p.z(), 0.15, 1e-5);
  EXPECT_LT(two.velocity("b").norm(), 1e-6);
}

}  // namespace
}  // namespace limber
