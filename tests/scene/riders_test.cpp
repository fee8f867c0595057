// Riders, cables by EA, chains on a circle.
#include <gtest/gtest.h>

#include <cmath>

#include "limber/math/trig.h"
#include "scene_support.h"

namespace limber::scene {
namespace {

TEST(Rider, CrossesAChain) {
  const Scene s = parse_text(
      "linkages: {deck: {links: 3, length: 2, direction: [1, 0, 0]}}\n"
      "riders: {car: {on: deck, mass: 1500 kg, position: 5 m/s * t, box: [4, 2, 1], color: \"#ff0000\"}}\n"
      "probes: [car.position]\n");
  ASSERT_EQ(s.model.riders().size(), 1u);
  const Rider& car = s.model.riders()[0];
  ASSERT_EQ(car.bodies.size(), 3u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(s.model[car.bodies[i]].name, "deck." + std::to_string(i));
    EXPECT_EQ(car.from[i].p, Vec3::Zero());
    EXPECT_EQ(car.to[i].p, Vec3(2, 0, 0));
    EXPECT_EQ(car.to[i].body, car.bodies[i]);
  }
  EXPECT_EQ(car.mass, 1500);
  EXPECT_EQ(car.position.value(0.5), 2.5);
  EXPECT_EQ(car.shapes.size(), 1u);
  EXPECT_TRUE(car.color);
  EXPECT_EQ(s.model.probes()[0].quantity, Quantity::rider_position);
  EXPECT_EQ(s.model.probes()[0].rider, RiderId{0});
}

TEST(Rider, CrossesGivenBodiesInItsOrder) {
  const Scene s = parse_text(
      "bodies: {\"b${i}\": {repeat: {i: 3}, box: [1, 1, 1], at: [i, 0, 0], fixed: true}}\n"
      "riders:\n"
      "  car:\n"
      "    on: [{repeat: {i: 3}, body: \"b${2 - i}\", from: [0.5, 0, 0.5], to: [-0.5, 0, 0.5]}]\n"
      "    mass: 1\n"
      "    position: {table: [[0, 0], [1, 3 m]]}\n"
      "probes: [{name: where, quantity: rider_position, rider: car}]\n");
  const Rider& car = s.model.riders()[0];
  EXPECT_EQ(s.model[car.bodies[0]].name, "b2");
  EXPECT_EQ(car.from[2].p, Vec3(0.5, 0, 0.5));
}

TEST(Rider, SurvivesBeingWritten) {
  const Scene s = parse_text(
      "linkages: {b: {from: deck.0, links: 1, length: 1}, deck: {links: 3, length: 2, direction: [1, 0, 0], "
      "bend: 3 "
      "deg}}\n"
      "riders: {car: {on: deck, mass: 1500 kg, position: \"if(t < 1, 0, 5*(t - 1))\", sphere: 1, color: [1, "
      "0, "
      "0.5]}}\n"
      "probes: [car.position]\n");
  const std::string text = write_yaml(s.model, s.run);
  const Scene again = parse(text, "written.yaml");
  const Rider &a = s.model.riders()[0], &b = again.model.riders()[0];
  ASSERT_EQ(a.bodies, b.bodies);
  EXPECT_EQ(a.to[2].p, b.to[2].p);
  EXPECT_EQ(a.position.value(1.5), b.position.value(1.5));
  EXPECT_EQ(a.color, b.color);
}

TEST(Rider, ErrorsNameTheirPlace) {
  const std::string chain =
      "limber: 1\nchains: {deck: {links: 3, length: 2}}\ntrees: {oak: {levels: 2, length: 1}}\n";
  EXPECT_EQ(all_text(diagnose(chain + "riders: {car: {on: dek, mass: -1, position: 1 s}}\n")),
            "test.yaml:4:20: riders.car.on: there is no chain \"dek\"; did you mean \"deck\"?\n"
            "test.yaml:4:31: riders.car.mass: expected a mass, zero or positive, got -1\n"
            "test.yaml:4:45: riders.car.position: expected a length, got a time (\"1 s\")\n");
  EXPECT_EQ(all_text(diagnose(chain + "riders: {car: {on: oak, mass: 1, position: 0}}\n")),
            "test.yaml:4:20: riders.car.on: there is no chain \"oak\"\n");
  EXPECT_EQ(all_text(diagnose(chain + "riders: {car: {on: [], mass: 1, position: 0}}\n")),
            "test.yaml:4:20: riders.car.on: needs at least one body\n");
  EXPECT_EQ(
      all_text(diagnose(chain + "riders: {car: {on: [{body: world, from: [0, 0, 0], to: [1, 0, 0]}], mass: "
                                "1, position: 0}}\n")),
      "test.yaml:4:28: riders.car.on[0].body: the world cannot be used here\n");
}

TEST(Spring, TakesItsStiffnessFromEA) {
  const Scene s = parse_text(
      "bodies: {a: {sphere: 1, at: [3, 4, 0], fixed: true}, b: {sphere: 1, at: [0, 0, 5]}}\n"
      "joints: {j: {type: prismatic, child: b, axis: [0, 0, 1], position: 1 m}}\n"
      "springs: {s: {between: [a, world], EA: 10 kN}, r: {between: [a, world], EA: 10 kN, rest_length: 4 m}, "
      "q: "
      "{between: [b, world], EA: 12 N}}\n");
  EXPECT_DOUBLE_EQ(s.model.springs()[0].stiffness, 2000);
  EXPECT_DOUBLE_EQ(s.model.springs()[1].stiffness, 2500);
  EXPECT_DOUBLE_EQ(s.model.springs()[2].stiffness, 2);  // 6 m at t = 0
  const std::string head = "limber: 1\nbodies: {a: {sphere: 1}}\n";
  EXPECT_EQ(all_text(diagnose(head + "springs: {s: {between: [a, world]}}\n")),
            "test.yaml:3:11: springs.s: needs one of stiffness, EA and spring_force\n");
  EXPECT_EQ(all_text(diagnose(
                head + "springs: {s: {between: [{on: a, at: [1, 0, 0]}, world], EA: 1, stiffness: 2}}\n")),
            "test.yaml:3:64: springs.s: give only one of stiffness, EA and spring_force\n");
  EXPECT_EQ(all_text(diagnose(head + "springs: {s: {between: [a, world], EA: 1}}\n")),
            "test.yaml:3:40: springs.s.EA: the cable has no length\n");
}

// Its length at t = 0 is that of where the given motion begins, wherever that is written.
TEST(Cables, StiffnessByWhereMotionsBegin) {
  const Scene s = parse_text(
      "bodies: {a: {sphere: 1}}\njoints: {slide: {type: prismatic, child: a, axis: [0, 0, 1], position: 9}}\n"
      "springs: {s: {between: [a, {on: world, at: [0, 0, 1]}], EA: 12 N}}\n"
      "motions: [{joint: slide, position: 5 m}]\n");
  EXPECT_DOUBLE_EQ(s.model.springs()[0].stiffness, 3);
}

TEST(Chain, BendsOntoACircle) {
  // 40 chords of an arc over 24 m that turns by 30 degrees end where the arc does.
  const Scene s = parse_text(
      "parameters: {n: 40, span: 24 m, arc: 30 deg, rise: arc*(n - 1)/(2*n)}\n"
      "linkages:\n"
      "  deck: {links: =n, length: span*sin(arc/(2*n))/sin(arc/2), direction: [cos(rise), 0, sin(rise)], "
      "axis: "
      "[0, 1, 0], bend: arc/n,\n"
      "         stiffness: 10, damping: 1, first_joint: {stiffness: 0, position: 0}}\n");
  const auto poses = s.model.initial_poses();
  const Vec3 tip = poses[39] * s.model.bodies()[39].points[0].p;
  EXPECT_LT((tip - Vec3(24, 0, 0)).norm(), 1e-12);
  const Vec3 middle = poses[20].p;
  EXPECT_NEAR(middle.z(), 12 / math::sin(pi / 12) * (1 - math::cos(pi / 12)), 1e-12);
  EXPECT_EQ(s.model.joints()[0].law.stiffness[0], 0);
  EXPECT_EQ(s.model.joints()[0].law.damping[0], 1);
  EXPECT_EQ(s.model.joints()[1].law.stiffness[0], 10);
}

}  // namespace
}  // namespace limber::scene
