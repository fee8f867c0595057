// Scenes that ask for much of contact, or for nothing that there is: a right answer, or a clear refusal.
#include "tests/validation/contact_world.h"

namespace limber {
namespace {

using testing::g;
using testing::World;

const std::string floor_below = "contact: {planes: [{at: [0, 0, 0]}]}\n";

// The warnings of all steps; a step that fails ends the test.
std::string warnings_of_run(World& world, double seconds, double h) {
  std::string all;
  while (world.state.t < seconds - h / 2) {
    const auto report = articulated::step(world.system, world.state, world.w, h);
    EXPECT_TRUE(report.ok()) << report.message;
    if (!report.ok()) break;
    if (all.find(report.warning) == std::string::npos) all += report.warning + "\n";
  }
  return all;
}

TEST(ContactInput, WhatOverlapsAtTheStartIsNamedAndParts) {
  World it(
      "bodies:\n  a: {at: [0, 0, 0.05], box: [0.1, 0.1, 0.1]}\n  b: {at: [0.02, 0, 0.13], box: [0.1, 0.1, "
      "0.1]}\n" +
      floor_below);
  const std::string told = warnings_of_run(it, 1, 5e-3);
  EXPECT_NE(told.find("at the start \"a\" overlaps \"b\" by 0.02 m"), std::string::npos) << told;
  EXPECT_NEAR(it.pose("b").p.z(), 0.15, 1e-4);  // overlaps of a thousandth are left
  EXPECT_LT(it.velocity("b").norm(), 1e-3);
}

TEST(ContactInput, FrictionOfNothingAndOfAMillion) {
  for (const double friction : {0.0, 1e6}) {
    World box(
        fmt::format("gravity: [3, 0, -9.81]\nbodies: {{it: {{at: [0, 0, 0.05], box: [0.4, 0.1, 0.1]}}}}\n"
                    "contact: {{friction: {}, planes: [{{at: [0, 0, 0]}}]}}\n",
                    friction));
    box.run(0.05, 5e-3);
    // By an answer that obeys the law to 1e-8 of the speeds.
    EXPECT_NEAR(box.pose("it").p.x(), friction > 0 ? 0 : 0.5 * 3 * 0.0025, 1e-7);
    EXPECT_NEAR(box.pose("it").p.z(), 0.05, 1e-7);
  }
}

TEST(ContactInput, WhatAWeldHoldsDoesNotTouchItself) {
  World it(
      "bodies:\n  a: {at: [0, 0, 0.05], box: [0.1, 0.1, 0.1]}\n  b: {at: [0.05, 0, 0.12], box: [0.1, 0.1, "
      "0.1]}\n"
      "joints: {w: {type: fixed, parent: a, child: b, at: [0.03, 0, 0.08]}}\n" +
      floor_below);
  EXPECT_EQ(warnings_of_run(it, 0.2, 5e-3).find("overlaps"), std::string::npos);
  EXPECT_LT((it.pose("b").p - Vec3(0.05, 0, 0.12)).norm(), 1e-7);
  for (std::size_t k = 0; k < it.state.touching.size(); k += articulated::State::touching_width)
    EXPECT_LT(it.state.touching[k + 5], 1e-6);  // on the floor, all of them
}

// What moves by a law meets what cannot move: nothing can be found, and the run says so.
TEST(ContactInput, NothingGivesWayBetweenADriveAndAWall) {
  World it(
      "bodies:\n  wall: {fixed: true, box: [0.1, 0.1, 0.1], at: [0.3, 0, 0]}\n  ram: {box: [0.1, 0.1, 0.1]}\n"
      "joints: {push: {type: prismatic, child: ram, axis: [1, 0, 0], motion: 0.3*t}}\ncontact: {}\n");
  const std::string told = warnings_of_run(it, 0.8, 5e-3);
  EXPECT_NE(told.find("\"ram\" goes into \"wall\""), std::string::npos) << told;
}

std::string refusal(const std::string& text) {
  try {
    World it(text);
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

TEST(ContactInput, SurfacesWithoutAreaAreRefused) {
  const auto ground = [](const std::string& shape) {
    return "bodies:\n  ground: {fixed: true, " + shape +
           "}\n  it: {at: [0, 0, 0.2], sphere: 0.05}\ncontact: {}\n";
  };
  EXPECT_NE(refusal(ground("mesh: {vertices: [[0, 0, 0], [1, 0, 0], [2, 0, 0]], triangles: [[0, 1, 2]]}"))
                .find("no triangle has an area"),
            std::string::npos);
  EXPECT_NE(refusal(ground("height_field: {size: [4, 4], rows: [[0, 0, 0]]}")).find("at least two rows"),
            std::string::npos);
  EXPECT_NE(refusal("bodies: {it: {at: [0, 0, 1], mesh: {vertices: [[0, 0, 0], [1, 0, 0], [0, 1, 0]], "
                    "triangles: [[0, 1, 2]]}}}\n")
                .find("is not closed"),
            std::string::npos);
}

// Triangles without area among others, one along a diagonal and one of two corners: they push nothing.
TEST(ContactInput, EmptyTrianglesOfAFloorDoNotMatter) {
  World it(
      "bodies:\n  ground: {fixed: true, mesh: {vertices: [[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0], "
      "[0, "
      "0, 0]], triangles: [[0, 1, 2], [0, 2, 3], [0, 0, 1], [0, 4, 2]]}}\n"
      "  it: {at: [0, 0, 0.07], box: [0.1, 0.1, 0.1]}\ncontact: {}\n");
  it.run(0.4, 5e-3);
  EXPECT_NEAR(it.pose("it").p.z(), 0.05, 1e-7);
}

}  // namespace
}  // namespace limber
