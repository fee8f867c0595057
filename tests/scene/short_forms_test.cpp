// Chains, trees, ladders and helices, counted and measured.
#include <gtest/gtest.h>

#include <cmath>

#include "scene_support.h"

namespace limber::scene {
namespace {

TEST(Linkage, ItsOldWordIsReadWithANote) {
  const std::string entry = "{arm: {links: 3, length: 0.1, radius: 0.01, axis: [0, 1, 0]}}\n";
  const Scene old = parse_text("chains: " + entry), now = parse_text("linkages: " + entry);
  EXPECT_EQ(write_yaml(old.model, old.run), write_yaml(now.model, now.run));
  EXPECT_TRUE(now.notes.empty());
  ASSERT_EQ(old.notes.size(), 1u);
  EXPECT_NE(old.notes[0].find(":2:1: chains: is called linkages: now"), std::string::npos) << old.notes[0];
  EXPECT_THROW(parse_text("chains: " + entry + "linkages: " + entry), SceneError);  // one of them
}

TEST(Run, ItsOldWordIsReadWithANote) {
  const std::string body = "bodies: {a: {sphere: 1}}\nrun: ";
  const Scene old = parse_text(body + "{threads: 2}\n"), now = parse_text(body + "{cpu_threads: 2}\n");
  EXPECT_EQ(old.run.articulated.cpu_threads, 2);
  EXPECT_EQ(write_yaml(old.model, old.run), write_yaml(now.model, now.run));
  EXPECT_TRUE(now.notes.empty());
  ASSERT_EQ(old.notes.size(), 1u);
  EXPECT_NE(old.notes[0].find(":3:7: threads: is called cpu_threads: now"), std::string::npos)
      << old.notes[0];
  EXPECT_THROW(parse_text(body + "{threads: 2, cpu_threads: 2}\n"), SceneError);
}

TEST(Chain, LinksFollowEachOther) {
  const Scene s = parse_text(
      "parameters: {span: 2 m, links: 4}\n"
      "bodies: {base: {box: [1, 1, 1], at: [0, 0, 3], fixed: true, points: {hook: [0, 0, -0.5]}}}\n"
      "linkages:\n"
      "  arm: {from: base.hook, links: =links, length: span/links, radius: 1 cm, mass: 0.2 kg, joint: "
      "universal, axis: [0, 1, 0],\n"
      "        stiffness: 2, damping: 0.1, direction: [0, 0, -1], start: [0.1, 0, 0]}\n"
      "springs: {s: {between: [arm.tip, world], stiffness: 3}}\n"
      "probes: [arm.tip.position, arm.2.joint.angle, arm.1.tip.position, arm.base.position, "
      "arm.last.rotation]\n");
  ASSERT_EQ(s.model.bodies().size(), 5u);
  const auto poses = s.model.initial_poses();
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(s.model.bodies()[i + 1].name, "arm." + std::to_string(i));
    EXPECT_EQ(s.model.joints()[i + 1].name, "arm." + std::to_string(i) + ".joint");
    EXPECT_LT((poses[i + 1].p - Vec3(0.1, 0, 2.5 - 0.5 * i)).norm(), 1e-14);
    EXPECT_NEAR(s.model.bodies()[i + 1].inertia.m, 0.2, 1e-15);
    EXPECT_LT((s.model.bodies()[i + 1].inertia.com() - Vec3(0, 0, -0.25)).norm(), 1e-15);
  }
  const Attachment& tip = s.model.springs()[0].a;
  EXPECT_EQ(tip.body, BodyId{4});
  EXPECT_DOUBLE_EQ(tip.p.z(), -0.5);
  EXPECT_EQ(s.model.probes()[1].joint, JointId{3});
  EXPECT_EQ(s.model.joints()[2].kind, JointKind::universal);
  EXPECT_LT((s.model.joints()[2].X_PF.R.col(0) - Vec3::UnitY()).norm(), 1e-15);
  EXPECT_LT(std::abs(s.model.joints()[2].X_PF.R.col(1).dot(Vec3::UnitZ())), 1e-15);
}

TEST(Chain, AxesMayAlternate) {
  const Scene s = parse_text(
      "linkages: {c: {links: 3, length: 1, joint: revolute, axis: [0, 1, 0], alternate: true, box: [2 cm, 3 "
      "cm]}}\n");
  EXPECT_LT((s.model.joints()[0].X_PF.R.col(2) - Vec3::UnitY()).norm(), 1e-15);
  EXPECT_LT(std::abs(s.model.joints()[1].X_PF.R.col(2).x()) - 1, 1e-15);
  EXPECT_LT((s.model.joints()[2].X_PF.R.col(2) - Vec3::UnitY()).norm(), 1e-15);
  EXPECT_DOUBLE_EQ(std::get<BoxShape>(s.model.bodies()[0].shapes[0].geometry).size.y(), 0.03);
}

TEST(Chain, MayHangOnOneThatComesLater) {
  const Scene s = parse_text(
      "linkages:\n"
      "  b: {from: a.tip, links: 2, length: 1}\n"
      "  a: {from: oak.leaf.1.tip, links: 2, length: 1}\n"
      "trees: {oak: {levels: 2, length: 1}}\n");
  EXPECT_EQ(s.model.bodies().size(), 7u);
}

TEST(Tree, HasItsLevels) {
  const Scene s = parse_text(
      "trees: {oak: {levels: 3, branches: 3, length: 1, radius: 0.1, length_ratio: 0.5, radius_ratio: 0.5, "
      "angle: 30 deg, twist: 0,\n"
      "              stiffness: 16, fixed_trunk: true}}\n"
      "probes: [oak.leaf.8.tip.position, oak.trunk.position]\n");
  ASSERT_EQ(s.model.bodies().size(), 13u);
  int fixed = 0, leaves = 0;
  for (std::size_t i = 0; i < 13; ++i) {
    const Joint& j = s.model.joints()[i];
    fixed += j.kind == JointKind::fixed;
    const double length = std::get<CapsuleShape>(s.model.bodies()[i].shapes[0].geometry).length;
    leaves += length == 0.25;
    if (length == 0.5) {
      EXPECT_DOUBLE_EQ(j.law.stiffness[0], 16 * 0.0625 / 0.5);
    }
  }
  EXPECT_EQ(fixed, 1);
  EXPECT_EQ(leaves, 9);
  // The tip of the first leaf: both bends go the same way.
  const auto poses = s.model.initial_poses();
  const double a = pi / 6;
  for (std::size_t i = 0; i < 13; ++i) {
    if (s.model.bodies()[i].name != "oak.4") continue;
    const Vec3 tip = poses[i] * Vec3(0, 0, 0.25);
    EXPECT_NEAR(tip.x(), 0.5 * std::sin(a) + 0.25 * std::sin(2 * a), 1e-14);
    EXPECT_NEAR(tip.z(), 1 + 0.5 * std::cos(a) + 0.25 * std::cos(2 * a), 1e-14);
  }
}

TEST(Ladder, RungsCloseLoopsWhereTheyAre) {
  const Scene s = parse_text(
      "ladders: {rope: {rungs: 3, spacing: 0.3, width: 0.4, start: [0, 0, 2]}}\nprobes: "
      "[rope.rung.1.position, rope.left.tip.position]\n");
  EXPECT_EQ(s.model.bodies().size(), 9u);
  ASSERT_EQ(s.model.loops().size(), 3u);
  const auto poses = s.model.initial_poses();
  for (const Loop& loop : s.model.loops())
    EXPECT_LT((poses[loop.a.value] * loop.X_AF.p - poses[loop.b.value] * loop.X_BM.p).norm(), 1e-14)
        << loop.name;
}

TEST(Helix, LinksEndWhereTheNextBegins) {
  const Scene s = parse_text(
      "helices: {coil: {links: 40, coil: 10 cm, pitch: 4 cm, turns: 5, start: [0, 0, 1]}}\nprobes: "
      "[coil.tip.position]\n");
  ASSERT_EQ(s.model.bodies().size(), 40u);
  const auto poses = s.model.initial_poses();
  EXPECT_LT((poses[0].p - Vec3(0, 0, 1)).norm(), 1e-14);
  for (std::size_t i = 0; i + 1 < 40; ++i)
    EXPECT_LT((poses[i] * s.model.bodies()[i].points[0].p - poses[i + 1].p).norm(), 1e-13);
  EXPECT_NEAR((poses[39] * s.model.bodies()[39].points[0].p).z(), 1.2, 1e-12);  // 5 turns of 4 cm
}

}  // namespace
}  // namespace limber::scene
