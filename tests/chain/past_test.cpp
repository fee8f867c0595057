// Histories against closed forms and against rests without the history machinery.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "limber/chain/history.h"
#include "limber/chain/path.h"
#include "limber/scene/scene.h"
#include "tests/chain/models.h"

namespace limber::chain_test {
namespace {

scene::Scene history_scene(const std::string& text) {
  return scene::parse("limber: 1\n" + text, "history.yaml");
}

result::Snapshot shot_of(chain::History& h) {
  result::Snapshot out;
  chain::observe(h.system(), h.solver(), h.rest(), out);
  return out;
}

bool tells(const chain::History& h, const std::string& words) {
  return std::ranges::any_of(h.events(),
                             [&](const auto& e) { return e.text.find(words) != std::string::npos; });
}

// A cantilever whose tip load grows by 1 N a second: M = P L at the root, at the root it breaks, and when is
// known.
TEST(History, ACantileverBreaksAtItsRootWhenItsStrengthIsReached) {
  const double r = 5e-3, L = 1, strength = 10e6, when = strength * pi * r * r * r / (4 * L);
  for (const int elements : {2, 5, 16})
    for (const int steps : {1, 7}) {
      const auto scene = history_scene(fmt::format(
          "gravity: [0, 0, -9.81]\nmaterials: {{m: {{E: 1000 GPa, density: 1e-6, strength: 10 "
          "MPa}}}}\nsections: {{s: {{circle: 5 mm}}}}\n"
          "beams: {{one: {{path: [[0, 0, 0], [1, 0, 0]], material: m, section: s, elements: {}}}}}\n"
          "loads: {{f: {{on: one.tip, force: [0, 0, \"-1 N*t/(1 s)\"]}}}}\nprobes: [one.tip.position]\n",
          elements));
      chain::History h(scene.model);
      ASSERT_TRUE(h.advance_to(0).report.ok());
      for (int i = 1; i <= steps; ++i) ASSERT_TRUE(h.advance_to(2.0 * i / steps).report.ok());
      ASSERT_EQ(h.severed().size(), 1u) << elements;
      EXPECT_EQ(h.severed()[0].s, 0);
      // The rod of 1000 GPa bends by 0.05 %: the lever is shorter by 1e-6.
      EXPECT_NEAR(h.severed()[0].time / when, 1, 1e-5) << elements << " elements, " << steps << " steps";
      EXPECT_TRUE(tells(h, "nothing is left that stands"));
      // It falls from where it was: ½ g t² below.
      const double fell = 0.5 * 9.81 * std::pow(2.0 - h.severed()[0].time, 2);
      EXPECT_NEAR(shot_of(h).scalars[2], -fell, 1e-3);
      ASSERT_TRUE(h.advance_to(3).report.ok());
      EXPECT_NEAR(shot_of(h).scalars[2], -0.5 * 9.81 * std::pow(3.0 - h.severed()[0].time, 2), 1e-3);
    }
}

TEST(History, ACutFallsOnTheNextJointAndSaysSo) {
  const auto scene = history_scene(
      "gravity: [0, 0, 0]\nmaterials: {m: {E: 1 GPa, density: 1000}}\nsections: {s: {circle: 5 mm}}\n"
      "beams: {one: {path: [[0, 0, 0], [1, 0, 0]], material: m, section: s, elements: 8}}\n"
      "loads: {f: {on: one.tip, force: [0, 0, -0.1]}}\nchanges: [{at: 1 s, beam: one, cut: 0.999}]\n"
      "probes: [one@0.5.position]\n");
  chain::History h(scene.model);
  ASSERT_TRUE(h.advance_to(0).report.ok());
  EXPECT_LT(shot_of(h).scalars[2], -1e-3);
  ASSERT_TRUE(h.advance_to(1).report.ok());
  EXPECT_NEAR(shot_of(h).scalars[2], 0, 1e-9);  // the load has gone with the tip
  ASSERT_EQ(h.severed().size(), 1u);
  EXPECT_GT(h.severed()[0].s, 0.97);
  EXPECT_TRUE(tells(h, "the joint next to 0.999"));
}

// Compressed, pushed through and let go: each rest against one that knows no past but starts where the
// history is.
TEST(History, AStripThatIsPushedThroughStaysOnItsBranch) {
  const auto scene = history_scene(
      "gravity: [0, 0, 0]\nparameters: {a: 0.1}\nmaterials: {steel: {E: 200 GPa, density: 7850}}\n"
      "sections: {s: {rectangle: {width: 10 mm, height: 0.5 mm}}}\n"
      "beams:\n  strip: {planar: true, path: {arc: {direction: [\"cos(a/2)\", 0, \"sin(a/2)\"], towards: "
      "[\"sin(a/2)\", 0, \"-cos(a/2)\"], "
      "radius: 0.2 m/a, angle: =a}}, material: steel, section: s, elements: 20}\n"
      "ties:\n  end: {on: strip.tip, type: fixed, shift: [\"-5 mm*min(t/(1 s),1)\", 0, 0]}\n"
      "loads:\n  bias: {on: strip@0.45, force: [0, 0, \"if(t<1.5 s, 0 N, if(t<2.5 s, -60 N*min(1,(t-1.4 "
      "s)/(0.5 s)), 0 N))\"]}\n"
      "probes: [strip@0.5.position, strip.tip.position]\n");
  chain::History h(scene.model);
  std::vector<double> middle;
  for (int i = 0; i <= 40; ++i) {
    const auto r = h.advance_to(0.1 * i);
    ASSERT_TRUE(r.report.ok()) << 0.1 * i << ": " << r.report.message;
    EXPECT_TRUE(r.stable()) << 0.1 * i;
    middle.push_back(shot_of(h).scalars[2]);
    EXPECT_NEAR(shot_of(h).scalars[3], 0.2 * std::sin(0.05) / 0.05 - 5e-3 * std::min(0.1 * i, 1.0), 1e-9);
  }
  EXPECT_GT(middle[10], 0.015);   // bowed up by the pressure
  EXPECT_LT(middle[20], -0.015);  // through
  EXPECT_TRUE(tells(h, "it goes on to a stable one"));
  EXPECT_LT(middle[40], -0.015);  // and it stays there
  EXPECT_NEAR(middle[40], middle[26], 1e-9);
  // The same rest, loaded at once from where the history has come to.
  chain::Options now;
  now.time = 4;
  chain::System system = chain::compile(scene.model, now);
  chain::Solver solver(system.structure());
  chain::Rest rest = h.rest();
  chain::StaticReport report;
  ASSERT_TRUE(solver.newton(rest, {}, report));
  result::Snapshot shot;
  chain::observe(system, solver, rest, shot);
  EXPECT_NEAR(shot.scalars[2], middle[40], 1e-9);
}

// No past: many steps or one, the same rest.
TEST(History, SupportsAndWindGoFromWhereTheyWere) {
  const std::string text =
      "gravity: [0, 0, -9.81]\nmaterials: {m: {E: 1 GPa, density: 1000}}\nsections: {s: {circle: 5 mm}}\n"
      "beams:\n  one: {path: {arc: {direction: [1, 0, 1], towards: [1, 0, -1], radius: 1, angle: 90 deg}}, "
      "material: m, section: s, elements: 10}\n"
      "  two: {path: [[0, 1, 0], [0, 1, 1]], up: [1, 0, 0], material: m, section: s, elements: 10}\n"
      "ties: {foot: {on: one.tip, type: spherical, shift: [\"0.03 m*t/(1 s)\", \"0.1 m*t/(1 s)\", 0]}}\n"
      "wind: {velocity: [\"3 m/s*t/(1 s)\", 0, 0], drag_coefficient: 1}\nprobes: [one@0.5.position, "
      "two.tip.position]\n";
  const auto scene = history_scene(text);
  chain::History h(scene.model);
  for (int i = 0; i <= 8; ++i) ASSERT_TRUE(h.advance_to(0.25 * i).report.ok());
  chain::Options now;
  now.time = 2;
  chain::System system = chain::compile(scene.model, now);
  chain::Solver solver(system.structure());
  chain::Rest rest = system.rest();
  const auto report = solver.solve(rest, 1);
  ASSERT_TRUE(report.stable() || !report.symmetric) << report.report.message;
  result::Snapshot shot;
  chain::observe(system, solver, rest, shot);
  const auto other = shot_of(h);
  for (int k = 0; k < 6; ++k) EXPECT_NEAR(shot.scalars[k], other.scalars[k], 1e-8) << k;
}

// A shallow arch under a load that grows past its limit: the history says so and goes where the path does.
TEST(History, AnArchThatSnapsGoesOnToTheStableRest) {
  const auto scene = history_scene(
      "gravity: [0, 0, 0]\nmaterials: {steel: {E: 200 GPa, nu: 0.3, density: 7850}}\n"
      "sections: {blade: {rectangle: {width: 10 mm, height: 1 mm}}}\nparameters: {R: 626 mm, a: 0.16}\n"
      "beams:\n  b: {path: {arc: {direction: [\"cos(a/2)\", 0, \"sin(a/2)\"], towards: [\"sin(a/2)\", 0, "
      "\"-cos(a/2)\"], radius: =R, angle: =a}}, "
      "material: steel, section: blade, elements: 16, planar: true}\n"
      "ties: {foot: {on: b.tip}}\nloads: {f: {on: b@0.5, force: [0, 0, \"-100 N*t/(1 s)\"]}}\nprobes: "
      "[b@0.5.position]\n");
  chain::Options at;
  at.time = 1;
  const chain::System system = chain::compile(scene.model, at);
  chain::Solver solver(system.structure());
  chain::Rest rest = system.rest();
  chain::PathOptions path;
  path.branching = chain::Branching::least_unstable, path.end_stable = true;
  const auto followed = chain::follow(solver, rest, path, nullptr);
  ASSERT_TRUE(followed.reached) << followed.message;
  ASSERT_GE(followed.lost.size(), 2u);
  const double limit = followed.lost[0].factor;
  chain::History h(scene.model);
  for (int i = 0; i <= 20; ++i) ASSERT_TRUE(h.advance_to(0.05 * i).stable()) << i;
  ASSERT_TRUE(tells(h, "it goes on to a stable one"));
  EXPECT_NEAR(h.events()[0].time, limit, 0.05);  // the first step past it
  EXPECT_GE(h.events()[0].time, limit);
  result::Snapshot shot;
  chain::observe(system, solver, rest, shot);
  EXPECT_NEAR(shot_of(h).scalars[2], shot.scalars[2], 1e-9);
}

// A perfect column under a load that grows past Euler's: straight is a rest, but not one that stays.
TEST(History, AColumnLeavesItsUnstableRest) {
  auto b = unit_cantilever(20, Recipe::consistent_3r);
  b.builder.parts.sections[0].shape = Rectangle{0.5, 1};
  PointLoad l;
  l.name = "push", l.at = b.at(1);
  const double euler = pi * pi / 4 * 12 * 0.125 / 12;
  l.force.c[0] = TimeFunction::table({0, 1}, {0, -2 * euler});
  b.builder.add(l);
  chain::History h(b.builder.build());
  for (const double t : {0.0, 0.4}) {
    ASSERT_TRUE(h.advance_to(t).stable());
    EXPECT_NEAR(shot_of(h).points.back().x(), 1, 1e-9);
  }
  ASSERT_TRUE(h.advance_to(1).stable());
  EXPECT_TRUE(tells(h, "the rest is unstable"));
  // The elastica under twice Euler's load: K(k) = √2 π/2, k = 0.88520157, x/L = 2 E/K − 1; 20 elements:
  // second order.
  EXPECT_NEAR(shot_of(h).points.back().x(), 0.07086182, 1e-3);
}

TEST(History, AStakeHoldsAShootFromItsGrowthOn) {
  const auto scene = history_scene(
      "gravity: [0, 0, 0]\nmaterials: {m: {E: 1 GPa, density: 1000}}\nsections: {s: {circle: 5 mm}}\n"
      "beams:\n  stem: {path: [[0, 0, 0], [0, 0, 1]], up: [1, 0, 0], material: m, section: s}\n"
      "  shoot: {from: stem.tip, path: [[0, 0, 0], [0.5, 0, 0]], material: m, section: s}\n"
      "ties: {stake: {on: shoot.tip, type: spherical}}\nloads: {f: {on: stem.tip, force: [1, 0.2, 0]}}\n"
      "changes: [{at: 2 s, beam: shoot, grow: true}]\nprobes: [stem.tip.position, shoot.tip.position]\n");
  chain::History h(scene.model);
  ASSERT_TRUE(h.advance_to(1).report.ok());
  const double free = shot_of(h).scalars[0];
  ASSERT_TRUE(h.advance_to(3).report.ok());
  EXPECT_GT(free, 0.05);
  const auto held = shot_of(h);
  EXPECT_NEAR(held.scalars[3], 0, 1e-9);  // at the stake
  EXPECT_NEAR(held.scalars[5], 1.5, 1e-9);
}

}  // namespace
}  // namespace limber::chain_test
