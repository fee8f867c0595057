// Laws of springs and joints, friction and bushings as scenes say them.
#include "scene_support.h"

namespace limber::scene {
namespace {

const std::string head = "limber: 1\nbodies: {a: {sphere: 1 cm}, b: {sphere: 1 cm, at: [1, 0, 0]}}\n";
std::string joint(const std::string& law, const std::string& type = "revolute") {
  return head + "joints: {j: {type: " + type + ", child: a,\n" + law + "}}\n";
}
std::string spring(const std::string& law) {
  return head + "springs: {s: {between: [a, b],\n" + law + "}}\n";
}
std::string bushing(const std::string& keys) { return head + "bushings: {m: {a: a, b: b,\n" + keys + "}}\n"; }
// What is said, at line 4 where the laws stand.
std::string said(const std::string& text) { return all_text(diagnose(text)); }

TEST(Laws, ExpressionAndPointsAreRead) {
  const Scene scene = parse(
      joint("spring_force: \"5 N*m * sin(x) + 2*x^3\", damping_force: {table: [[-1, -2], [0, 0], [1, 3]]}, "
            "preload: 2 N*m, friction: {static: 3 N*m, dynamic: 1 N*m, velocity: 2 rad/s}"),
      "test.yaml");
  const JointExtras& e = *scene.model.joints()[0].law.extras;
  EXPECT_DOUBLE_EQ(e.spring[0].value(0.5), 5 * std::sin(0.5) + 0.25);
  EXPECT_DOUBLE_EQ(e.damper[0].value(-1), -2);
  EXPECT_DOUBLE_EQ(e.preload[0], 2);
  EXPECT_DOUBLE_EQ(e.friction_static[0], 3);
  EXPECT_DOUBLE_EQ(e.friction_dynamic[0], 1);
  EXPECT_DOUBLE_EQ(e.friction_velocity[0], 2);
}

TEST(Laws, ALevelOfFrictionIsBothLevels) {
  const Scene one = parse(joint("friction: 2 N*m"), "test.yaml");
  EXPECT_DOUBLE_EQ(one.model.joints()[0].law.extras->friction_dynamic[0], 2);
  const Scene two = parse(joint("friction: [2 N*m, 3 N]", "cylindrical"), "test.yaml");
  EXPECT_DOUBLE_EQ(two.model.joints()[0].law.extras->friction_static[1], 3);
}

TEST(Laws, MatricesOfBushingsAreDiagonalOrWhole) {
  const Scene plain = parse(bushing("stiffness: [1 N*m/rad, 2, 3, 4 N/m, 5, 6 kN/m]"), "test.yaml");
  EXPECT_DOUBLE_EQ(plain.model.bushings()[0].stiffness(5, 5), 6000);
  EXPECT_DOUBLE_EQ(plain.model.bushings()[0].stiffness(0, 1), 0);
  const Scene whole = parse(
      bushing("stiffness: [[3, 0, 0, 1 N, 0, 0], [0, 3, 0, 0, 0, 0], [0, 0, 3, 0, 0, 0], [1, 0, 0, 3, 0, 0], "
              "[0, 0, 0, 0, 3, 0], [0, 0, 0, 0, 0, 3]], damping: [1, 1, 1, 1, 1, 1]"),
      "test.yaml");
  EXPECT_DOUBLE_EQ(whole.model.bushings()[0].stiffness(3, 0), 1);
  EXPECT_DOUBLE_EQ(whole.model.bushings()[0].damping(5, 5), 1);
}

TEST(Laws, SurviveARoundTrip) {
  for (const std::string& text :
       {joint("spring_force: \"5*sin(x) + 2*x^3\", damping_force: {table: [[-1, -2], [0, 0], [1, 3]]}, "
              "preload: 2, friction: {static: 3, dynamic: 1, velocity: 2}"),
        joint("limits: 1, stop_stiffness: [3, 4], stop_damping: 1, spring_force: [3*x, 0]", "cylindrical"),
        spring("spring_force: {table: [[-1, -2], [0, 0.5], [1, 3]]}, damping_force: 3*v, preload: -2"),
        bushing("stiffness: [1, 2, 3, 4, 5, 6], damping: [1, 1, 1, 1, 1, 1], at: [0.5, 0, 0], rotate: [0, "
                "0.3, 0]")}) {
    const Scene first = parse(text, "first.yaml");
    const std::string written = write_yaml(first.model, first.run);
    const Scene second = parse(written, "second.yaml");
    EXPECT_EQ(written, write_yaml(second.model, second.run));
  }
}

TEST(Laws, BadOnesAreToldAtTheirPlace) {
  const auto expect = [](const std::string& text, const std::string& words) {
    const std::string all = said(text);
    EXPECT_NE(all.find(words), std::string::npos) << "expected: " << words << "\ngot: " << all;
    EXPECT_NE(all.find(":4:"), std::string::npos) << all;
  };
  expect(joint("spring_force: {table: [[0, 0], [0, 1]]}"), "stretches must increase from row to row");
  expect(joint("damping_force: {table: [[1, 0], [0, 1]]}"), "rates must increase from row to row");
  expect(joint("spring_force: {table: [[0, 0]]}"), "two rows or more");
  expect(joint("spring_force: {table: [[0, 1, 2]]}"), "the stretch and a value");
  expect(joint("spring_force: {table: [[0, 1 m], [1, 2]]}"), "expected a torque");
  expect(joint("spring_force: 1/x"), "got inf at x = 0");
  expect(joint("spring_force: 3*v"), "\"v\" is no parameter");
  expect(joint("spring_force: 3*t"), "t, the time, can be used only where a value may change with time");
  expect(joint("damping_force: 1 + v"), "must be 0 where the rate is 0, got 1");
  expect(joint("spring_force: [x, x]"), "a revolute joint has 1 coordinate");
  expect(joint("spring_force: x", "cylindrical"), "a list with one law each");
  expect(joint("friction: -1 N*m"), "expected");
  expect(joint("friction: {static: 1, dynamic: 2}"), "static must not be less than dynamic, got 1 and 2");
  expect(joint("friction: 1", "spherical"), "it has no dry friction");
  expect(joint("stop_stiffness: 3"), "needs limits");
  expect(joint("limits: 1, stop_damping: 3"), "needs a stop_stiffness");
  expect(joint("limits: 1, stop_stiffness: 3, restitution: 0.5"), "is of rigid stops");
  expect(joint("limits: 1, stop_stiffness: 3", "spherical"), "the stops of a spherical joint are rigid");
  expect(spring("spring_force: 3*x, tension_only: true"), "max(0, …)");
  expect(spring("stiffness: 3, preload: 1, tension_only: true"), "shorter rest_length");
  expect(spring("spring_force: 3*x, stiffness: 2"), "give only one of stiffness, EA and spring_force");
  expect(bushing("stiffness: [1, 2, 3]"), "six numbers");
  expect(bushing("stiffness: [1, 2, 3, -4, 5, 6]"), "positive semidefinite");
  expect(
      bushing("stiffness: [[3, 1, 0, 0, 0, 0], [0, 3, 0, 0, 0, 0], [0, 0, 3, 0, 0, 0], [0, 0, 0, 3, 0, 0], "
              "[0, 0, 0, 0, 3, 0], [0, 0, 0, 0, 0, 3]]"),
      "must be symmetric: row 1 column 2 is 1, row 2 column 1 0");
  expect(
      bushing("stiffness: [[3, 4, 0, 0, 0, 0], [4, 3, 0, 0, 0, 0], [0, 0, 3, 0, 0, 0], [0, 0, 0, 3, 0, 0], "
              "[0, 0, 0, 0, 3, 0], [0, 0, 0, 0, 0, 3]]"),
      "positive semidefinite");
}

TEST(Laws, AParameterOfTheSameNameIsToldApart) {
  const std::string all = said(joint("spring_force: 3*x") + "parameters: {x: 2}\n");
  EXPECT_NE(all.find("\"x\" is the variable here and a parameter"), std::string::npos) << all;
}

// Friction goes with the tree: of two joints the other closes the loop.
TEST(Laws, AJointWithFrictionStaysInTheTree) {
  const Scene scene = parse(
      "limber: 1\nbodies: {a: {sphere: 1 cm}}\njoints:\n  first: {type: revolute, child: a, stiffness: 3, "
      "limits: 1}\n"
      "  second: {type: revolute, child: a, friction: 1 N*m}\n",
      "test.yaml");
  EXPECT_EQ(scene.model.joints()[0].name, "second");
}

}  // namespace
}  // namespace limber::scene
