// Joints beyond a tree: which of them close loops, whatever their order, and what they keep.
#include <gtest/gtest.h>

#include <algorithm>

#include "limber/articulated/articulated.h"
#include "scene_support.h"

namespace limber::scene {
namespace {

const std::string bars =
    "limber: 1\nbodies:\n"
    "  crank: {box: [2 cm, 2 cm, 20 cm], mass: 1 kg, at: [0, 0, 10 cm]}\n"
    "  coupler: {box: [40 cm, 2 cm, 2 cm], mass: 2 kg, at: [20 cm, 0, 20 cm]}\n"
    "  rocker: {box: [2 cm, 2 cm, 20 cm], mass: 1 kg, at: [40 cm, 0, 10 cm]}\n";
const std::vector<std::string> four = {
    "  a: {type: revolute, child: crank, at: [0, 0, 0], axis: [0, 1, 0], stiffness: 3 N*m/rad, rest: 20 "
    "deg}\n",
    "  b: {type: revolute, parent: crank, child: coupler, at: [0, 0, 20 cm], axis: [0, 1, 0]}\n",
    "  c: {type: spherical, parent: coupler, child: rocker, at: [40 cm, 0, 20 cm]}\n",
    "  d: {type: revolute, child: rocker, at: [40 cm, 0, 0], axis: [0, 1, 0]}\n"};
const std::string end = "probes: [d.angle, c.position]\nrun: {step: 5 ms}\n";

Scene parse_all(const std::string& text) { return parse(text, "test.yaml"); }

std::string with(const std::vector<std::string>& joints, const std::string& more = "") {
  std::string text = bars + "joints:\n";
  for (const std::string& j : joints) text += j;
  return text + more + end;
}

std::vector<std::string> closing(const Model& model) {
  std::vector<std::string> names;
  for (const Loop& l : model.loops()) names.push_back(l.name);
  return names;
}

Vec3 coupler_after(const Model& model, int steps) {
  const articulated::System s = articulated::compile(model, {.integrator = articulated::Integrator::gauss});
  articulated::State state = s.rest();
  articulated::Workspace w(s);
  for (int i = 0; i < steps; ++i) EXPECT_TRUE(articulated::step(s, state, w, 2e-3).ok());
  result::Snapshot shot;
  articulated::observe(s, state, w, shot);
  for (std::size_t i = 0; i < s.layout().frames.size(); ++i)
    if (s.layout().frames[i].name == "coupler") return shot.positions[i];
  return Vec3::Zero();
}

// The ball joint holds the fewest rows, and so it closes the loop; in any order of the entries.
TEST(CutJoints, OneClosesWhateverTheOrder) {
  std::vector<std::string> joints = four;
  std::string first;
  do {
    const Model model = parse_all(with(joints)).model;
    ASSERT_EQ(closing(model), std::vector<std::string>{"c"});
    const Probe& probe = model.probes()[1];
    EXPECT_TRUE(probe.loop.valid());
  } while (std::next_permutation(joints.begin(), joints.end()));
}

TEST(CutJoints, MovesAsOneThatIsPutUnderLoops) {
  const Model found = parse_all(with(four)).model;
  const std::string loop = "loops:\n  c: {type: spherical, a: coupler, b: rocker, at: [40 cm, 0, 20 cm]}\n";
  const Model written = parse_all(with({four[0], four[1], four[3]}, loop)).model;
  EXPECT_EQ(coupler_after(found, 100), coupler_after(written, 100));
  // Opened elsewhere it is the same motion in other coordinates: 0.2 s at fourth order.
  const std::string other =
      "loops:\n  d: {type: revolute, b: rocker, a: world, at: [40 cm, 0, 0], axis: [0, 1, 0]}\n";
  const Model opened = parse_all(with({four[0], four[1], four[2]}, other)).model;
  EXPECT_LT((coupler_after(found, 100) - coupler_after(opened, 100)).norm(), 1e-8);
  EXPECT_GT((coupler_after(found, 100) - Vec3(0.2, 0, 0.2)).norm(), 1e-3);
}

TEST(CutJoints, WhatIsDrivenStaysInTheTree) {
  const std::string list = "drives: [{joint: c, force: [0, 1 N*m, 0]}]\n";
  EXPECT_EQ(closing(parse_all(with(four, list)).model), std::vector<std::string>{"d"});
  std::vector<std::string> joints = four;
  joints[2] =
      "  c: {type: spherical, parent: coupler, child: rocker, at: [40 cm, 0, 20 cm], velocity: [0, 1, 0]}\n";
  EXPECT_EQ(closing(parse_all(with(joints)).model), std::vector<std::string>{"d"});
  joints[2] = "  c: {type: spherical, parent: coupler, child: rocker, at: [40 cm, 0, 20 cm], limits: 1}\n";
  EXPECT_EQ(closing(parse_all(with(joints)).model), std::vector<std::string>{"d"});
}

TEST(CutJoints, AreWrittenAsTheyWereFound) {
  const Scene scene = parse_all(with(four, "  e: {type: distance, parent: crank, child: rocker}\n"));
  ASSERT_EQ(closing(scene.model), (std::vector<std::string>{"c", "e"}));
  EXPECT_NEAR(scene.model.loops()[1].length, 0.4, 1e-15);
  const std::string text = write_yaml(scene.model, scene.run);
  const Scene again = parse_all(text);
  EXPECT_EQ(closing(again.model), closing(scene.model));
  EXPECT_EQ(write_yaml(again.model, again.run), text);
}

// A ring that hangs on nothing floats by one of its bodies, at the place where that is written.
TEST(CutJoints, ARingOfBodiesFloats) {
  const std::string text =
      "limber: 1\ngravity: [0, 0, 0]\nbodies:\n"
      "  a: {sphere: 1 cm, mass: 1 kg, at: [1 m, 0, 0]}\n  b: {sphere: 1 cm, mass: 1 kg, at: [0, 1 m, 0]}\n"
      "  c: {sphere: 1 cm, mass: 1 kg}\njoints:\n"
      "  ab: {type: revolute, parent: a, child: b}\n  bc: {type: revolute, parent: b, child: c}\n"
      "  ca: {type: spherical, parent: c, child: a}\n";
  const Model model = parse_all(text).model;
  EXPECT_EQ(closing(model), std::vector<std::string>{"ca"});
  const std::vector<Pose> poses = model.initial_poses();
  for (std::size_t i = 0; i < poses.size(); ++i) {
    const Vec3 at = model.bodies()[i].name == "a"   ? Vec3(1, 0, 0)
                    : model.bodies()[i].name == "b" ? Vec3(0, 1, 0)
                                                    : Vec3(0, 0, 0);
    EXPECT_LT((poses[i].p - at).norm(), 1e-15) << model.bodies()[i].name;
  }
}

// A body that only a rod holds floats, and the rod is its loop.
TEST(CutJoints, ABodyOnARodFloats) {
  const Model model = parse_all(
                          "limber: 1\nbodies: {bob: {sphere: 1 cm, at: [30 cm, 0, 40 cm]}}\njoints:\n  rod: "
                          "{type: distance, child: bob}\n")
                          .model;
  ASSERT_EQ(model.loops().size(), 1u);
  EXPECT_EQ(model.joints()[0].kind, JointKind::free);
  EXPECT_NEAR(model.loops()[0].length, 0.5, 1e-15);
}

}  // namespace
}  // namespace limber::scene
