// Places where things press on each other, as drivers tell them: their forces carry what lies on the ground.
#include <gtest/gtest.h>

#include "limber/scene/scene.h"
#include "limber/sim/driver.h"

namespace limber::sim {
namespace {

struct Lying {
  Vec3 force = Vec3::Zero();
  result::Touches touches;
  std::vector<std::string> on;  // what each pushes at
};

// At the end of a run in which it settles.
Lying settled(const std::string& text) {
  const scene::Scene scene = scene::parse("limber: 1\n" + text, "touch.yaml", ".");
  Driver driver(scene.model, scene.run);
  for (std::int64_t k = 0; k < scene.run.steps(); ++k) {
    driver.set_clock(k, static_cast<double>(k) * scene.run.step);
    const result::SolveReport r = driver.step(scene.run.step);
    EXPECT_TRUE(r.ok()) << r.message;
  }
  Lying out;
  driver.touches(out.touches);
  for (const result::Touch& t : out.touches) {
    out.force += t.force;
    out.on.push_back(t.a < 0 ? "" : driver.layout().frames[static_cast<std::size_t>(t.a)].name);
  }
  return out;
}

constexpr char ground[] = "contact: {friction: 0.5, planes: [{at: [0, 0, 0]}]}\n";

TEST(Touches, OfABoxAreAtItsCornersAndCarryIt) {
  for (const std::string method : {"articulated", "rom"}) {
    // rom wants an end effector: an arm far away.
    const bool rom = method == "rom";
    const Lying box = settled(
        std::string("bodies: {box: {box: [0.2, 0.1, 0.06], mass: 2, at: [0, 0, 0.03]}") +
        (rom ? ", arm: {sphere: 0.05, at: [5, 0, 1]}" : "") + "}\n" +
        (rom ? "joints: {pin: {type: revolute, child: arm, at: [5, 0, 2], axis: [0, 1, 0], stiffness: 10}}\n"
             : "") +
        ground + "run: {time: 0.2, step: 0.002, method: " + method + (rom ? ", rom: {ends: [arm]}" : "") +
        "}\n");
    ASSERT_EQ(box.touches.size(), 4u) << method;
    for (const std::string& name : box.on) EXPECT_EQ(name, "box") << method;  // not the ground
    for (const result::Touch& t : box.touches) {
      EXPECT_EQ(t.b, -1) << method;
      // Where it lies within what contacts of rom may overlap at rest.
      EXPECT_NEAR(std::abs(t.at.x()), 0.1, 1e-6) << method;
      EXPECT_NEAR(std::abs(t.at.y()), 0.05, 1e-6) << method;
      EXPECT_NEAR(t.at.z(), 0, 1e-5) << method;
    }
    // To the residual of the contact solvers, 1e-8 of the force.
    EXPECT_NEAR(box.force.z(), 2 * 9.81, 1e-6) << method;
    EXPECT_NEAR(box.force.head<2>().norm(), 0, 1e-6) << method;
  }
}

// A thread that lies along the ground: 1 m of 5 mm radius, 1000 kg/m3.
TEST(Touches, OfAThreadAreOnItsMidlineAndCarryIt) {
  const Lying rope = settled(
      std::string(
          "materials: {m: {E: 1 MPa, nu: 0.3, density: 1000}}\nsections: {s: {circle: {radius: 5 mm}}}\n"
          "beams: {rope: {path: [[0, 0, 0.005], [1, 0, 0.005]], material: m, section: s, elements: 16, "
          "root: free, air_damping: 5}}\n") +
      ground + "run: {time: 1, step: 0.002, method: thread}\n");
  ASSERT_GE(rope.touches.size(), 2u);
  for (const result::Touch& t : rope.touches) EXPECT_NEAR(t.at.z(), 0.005, 2e-4);
  // It has come to rest but for what air damping leaves: a thousandth.
  const double weight = pi * 0.005 * 0.005 * 1000 * 9.81;
  EXPECT_NEAR(rope.force.z(), weight, 1e-3 * weight);
}

TEST(Touches, NothingWhereNothingTouches) {
  EXPECT_TRUE(settled("bodies: {box: {sphere: 0.1, at: [0, 0, 1]}}\nrun: {time: 0.01, step: 0.002}\n")
                  .touches.empty());
}

}  // namespace
}  // namespace limber::sim
