// Repetitions and ${…}.
#include <gtest/gtest.h>

#include <ctime>

#include "limber/math/trig.h"
#include "scene_support.h"

namespace limber::scene {
namespace {

std::vector<std::string> names_of(std::span<const Body> bodies) {
  std::vector<std::string> names;
  for (const Body& b : bodies) names.push_back(b.name);
  return names;
}
using Names = std::vector<std::string>;

TEST(Repeat, MakesOneForEveryIndex) {
  const Scene s = parse_text(
      "parameters: {n: 3, span: 2 m}\n"
      "bodies:\n"
      "  ball.${i}: {repeat: {i: =n}, sphere: 10 cm * (i + 1), at: [i*span/n, 0, 0], density: 5}\n");
  EXPECT_EQ(names_of(s.model.bodies()), (Names{"ball.0", "ball.1", "ball.2"}));
  for (int i = 0; i < 3; ++i) {
    EXPECT_DOUBLE_EQ(std::get<SphereShape>(s.model.bodies()[i].shapes[0].geometry).radius, 0.1 * (i + 1));
    EXPECT_DOUBLE_EQ(s.model.initial_poses()[i].p.x(), i * 2.0 / 3);
  }
}

TEST(Repeat, FromFirstToLast) {
  const Scene s = parse_text("bodies: {\"b${k}\": {repeat: {k: [2, 4]}, sphere: 1}, c: {sphere: 1}}\n");
  EXPECT_EQ(names_of(s.model.bodies()), (Names{"b2", "b3", "b4", "c"}));
}

TEST(Repeat, OfNothingMakesNothing) {
  const Scene s = parse_text(
      "bodies: {\"b${k}\": {repeat: {k: [2, 1]}, sphere: 1}, \"d${k}\": {repeat: {k: 0}, sphere: 1}, c: "
      "{sphere: 1}}\n");
  EXPECT_EQ(names_of(s.model.bodies()), Names{"c"});
}

TEST(Repeat, NestsTheFirstIndexOutermost) {
  const Scene s = parse_text(
      "bodies: {\"b.${l}.${k}\": {repeat: {l: 3, k: 2^l}, sphere: 1, mass: 1 + l + 10*k}}\n"
      "joints:\n"
      "  j.${l}.${k}: {repeat: {l: [1, 2], k: 2^l}, type: revolute, parent: \"b.${l - 1}.${floor(k/2)}\", "
      "child: \"b.${l}.${k}\"}\n");
  EXPECT_EQ(names_of(s.model.bodies()),
            (Names{"b.0.0", "b.1.0", "b.2.0", "b.2.1", "b.1.1", "b.2.2", "b.2.3"}));
  EXPECT_DOUBLE_EQ(s.model.bodies()[3].inertia.m, 13);
}

TEST(Repeat, WorksInListsAndInShortForms) {
  const Scene s = parse_text(
      "parameters: {n: 4}\n"
      "linkages: {\"arm.${i}\": {repeat: {i: 2}, links: n + i, length: 1, start: [i, 0, 0]}}\n"
      "springs: {\"s${i}\": {repeat: {i: [1, n - 1]}, between: [\"arm.0.${i}\", \"arm.1.${i}.tip\"], "
      "stiffness: "
      "2}}\n"
      "drives: [{repeat: {i: 2}, joint: \"arm.${i}.0.joint\", force: (1 + i) * sin(t)}]\n"
      "probes: [energy.total, {repeat: {i: 2}, name: \"end${i}\", quantity: position, on: \"arm.${i}.tip\"}, "
      "\"arm.1.${n}.velocity\"]\n");
  ASSERT_EQ(s.model.bodies().size(), 9u);
  ASSERT_EQ(s.model.springs().size(), 3u);
  EXPECT_EQ(s.model[s.model.springs()[2].b.body].name, "arm.1.3");
  ASSERT_EQ(s.model.drives().size(), 2u);
  EXPECT_DOUBLE_EQ(s.model.drives()[1].target[0].value(1), 2 * math::sin(1));
  ASSERT_EQ(s.model.probes().size(), 4u);
  EXPECT_EQ(s.model.probes()[2].name, "end1");
  EXPECT_EQ(s.model.probes()[3].name, "arm.1.4.velocity");
}

TEST(Repeat, NestsListsInEntries) {
  const Scene s = parse_text(
      "bodies: {\"b${i}\": {repeat: {i: 2}, shapes: [{repeat: {k: i + 1}, sphere: 1 + k + 10*i}], points: "
      "{\"p${i}\": [0, 0, i]}}}\n");
  EXPECT_EQ(s.model.bodies()[0].shapes.size(), 1u);
  ASSERT_EQ(s.model.bodies()[1].shapes.size(), 2u);
  EXPECT_EQ(std::get<SphereShape>(s.model.bodies()[1].shapes[1].geometry).radius, 12);
  EXPECT_EQ(s.model.bodies()[1].points[0].name, "p1");
}

TEST(Substitution, WritesValuesThatReadBack) {
  const Scene s = parse_text(
      "parameters: {span: 1 ft, n: 3, third: 1/3}\n"
      "bodies: {\"b${n}\": {sphere: \"${span/n}\", mass: \"2*${third}\", at: [\"2*${span} + 1 m\", "
      "\"${-n}\", "
      "\"${span*span/(1 m)}\"]}}\n"
      "probes: [\"b${2*n - 3}.position\"]\n");
  const Body& b = s.model.bodies()[0];
  EXPECT_EQ(b.name, "b3");
  EXPECT_EQ(std::get<SphereShape>(b.shapes[0].geometry).radius, 0.3048 / 3);
  EXPECT_NEAR(b.inertia.m, 2.0 / 3, 1e-15);
  EXPECT_DOUBLE_EQ(s.model.initial_poses()[0].p.x(), 2 * 0.3048 + 1);
  EXPECT_DOUBLE_EQ(s.model.initial_poses()[0].p.y(), -3);
}

TEST(Substitution, KeepsUnits) {
  const std::string said =
      all_text(diagnose("limber: 1\nparameters: {wait: 2 s}\nbodies: {a: {sphere: \"${wait/2}\"}}\n"));
  EXPECT_EQ(said, "test.yaml:3:22: bodies.a.sphere.radius: expected a length, got a time (\"1 s\")\n");
}

struct Bad {
  const char* text;
  const char* said;
};
// clang-format off
const Bad table[] = {
    {"bodies:\n  b.${i}: {repeat: {i: 3}, sphere: 1 - i}\n",
     "3:36: bodies.b.1.sphere.radius: expected a positive length, got 1 - i (i = 1)\n"
     "3:36: bodies.b.2.sphere.radius: expected a positive length, got 1 - i (i = 2)\n"},
    {"bodies:\n  b.${i}: {repeat: {i: 2, j: 2}, sphere: 1}\n",
     "3:3: bodies.b.${i}: makes \"b.0\" again; first on line 3 (i = 0, j = 1)\n"},
    {"bodies:\n  b1: {sphere: 1}\n  b${i}: {repeat: {i: 2}, sphere: 1}\n",
     "4:3: bodies.b${i}: makes \"b1\" again; first on line 3 (i = 1)\n"},
    {"bodies:\n  b.${i + k}: {repeat: {i: 1}, sphere: 1}\n",
     "3:11: bodies.b.${i + k}: in \"b.${i + k}\": \"k\" is no parameter (i = 0)\n"},
    {"bodies:\n  b.${i: {repeat: {i: 1}, sphere: 1}\n",
     "3:3: bodies.b.${i: in \"b.${i\": a ${ is not closed (i = 0)\n"},
    {"bodies:\n  a: {sphere: 1}\nprobes: [\"a${1/0}.position\"]\n",
     "4:10: probes[0]: in \"a${1/0}.position\": expected a number, got inf\n"},
    {"bodies:\n  b: {repeat: 3, sphere: 1}\n",
     "3:15: bodies.b.repeat: expected 1 to 4 indices, as in {i: 30} or {i: [1, 29], j: 4}\n"},
    {"bodies:\n  b: {repeat: {sin: 3}, sphere: 1}\n",
     "3:16: bodies.b.repeat.sin: \"sin\" cannot name an index: letters, digits and _, and no function\n"},
    {"parameters: {n: 3}\nbodies:\n  b: {repeat: {n: 3}, sphere: 1}\n",
     "4:16: bodies.b.repeat.n: \"n\" is a parameter already\n"},
    {"bodies:\n  b: {repeat: {i: 2.5}, sphere: 1}\n",
     "3:19: bodies.b.repeat.i: expected a whole number, at most 1e+09, got 2.5\n"},
    {"bodies:\n  b: {repeat: {i: -1}, sphere: 1}\n",
     "3:19: bodies.b.repeat.i: a count cannot be negative, got -1\n"},
    {"bodies:\n  b: {repeat: {i: [1]}, sphere: 1}\n",
     "3:19: bodies.b.repeat.i: expected a count or [first, last]\n"},
    {"bodies:\n  b: {repeat: {i: 3 s}, sphere: 1}\n",
     "3:19: bodies.b.repeat.i: expected a number, got a time (\"3 s\")\n"},
    {"bodies:\n  b.${i}: {repeat: {i: 2}, spere: 1}\n",
     "3:28: bodies.b.0: unknown key \"spere\"; did you mean \"sphere\"?\n"},
    {"bodies: {a: {sphere: 1, repet: {i: 3}}}\n",
     "2:25: bodies.a: unknown key \"repet\"; did you mean \"repeat\"?\n"},
    {"run: {repeat: {i: 3}}\nbodies: {a: {sphere: 1}}\n",
     "2:7: run: unknown key \"repeat\"\n"},
    {"bodies: {a: {sphere: 1}}\nsprings:\n  s${i}: {repeat: {i: 2}, between: [a, \"b${i}\"], stiffness: 1}\n",
     "4:40: springs.s0.between[1]: there is no body or beam \"b0\" (i = 0)\n"
     "4:40: springs.s1.between[1]: there is no body or beam \"b1\" (i = 1)\n"},
    {"bodies: {a: {sphere: 1, at: [0, 0, 1]}}\nsprings:\n  s${i}: {repeat: {i: 2}, between: [world, world], "
     "stiffness: 1}\n",
     "4:36: springs.s0.between: both ends are on the same body (i = 0)\n"
     "4:36: springs.s1.between: both ends are on the same body (i = 1)\n"},
    {"parameters: {n: 3 +}\nbodies: {\"b${i}\": {repeat: {i: =n}, sphere: 1}}\nprobes: [b2.position]\n",
     "2:20: parameters.n: expected a number: the expression ends too early\n"},
};
// clang-format on

TEST(Repeat, ErrorsHaveThePlaceInTheFileAndTheIndices) {
  for (const Bad& bad : table) {
    std::string expected;
    const std::string lines = bad.said;
    for (std::size_t at = 0; at < lines.size(); at = lines.find('\n', at) + 1)
      expected += "test.yaml:" + lines.substr(at, lines.find('\n', at) + 1 - at);
    EXPECT_EQ(all_text(diagnose(std::string("limber: 1\n") + bad.text)), expected) << bad.text;
  }
}

TEST(Repeat, StaysWithinTheLimits) {
  const char* const texts[] = {
      "bodies: {\"b${i}\": {repeat: {i: 1e9}, sphere: 1}}\n",
      "bodies: {\"b${i}\": {repeat: {i: 1e9, j: 0}, sphere: 1}}\n",
      "bodies: {\"b${i}\": {repeat: {i: 30000, j: 30000}, sphere: 1}}\n",
      "bodies: {b: {shapes: [{repeat: {i: 3000, j: i, k: j}, sphere: 1}]}}\n",
      "bodies: {b: {sphere: 1}}\nprobes: [{repeat: {i: [-1e9, 1e9]}, name: x, quantity: total_energy}]\n",
  };
  for (const char* text : texts) {
    const std::clock_t start = std::clock();
    const std::string said = all_text(diagnose(std::string("limber: 1\n") + text));
    EXPECT_NE(said.find("the limit for a scene is 4000000"), std::string::npos) << text << said;
    EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 5) << text;
  }
  LoadOptions options;
  options.limits.entities = 50;
  const std::string said =
      all_text(diagnose("limber: 1\nbodies: {\"b${i}\": {repeat: {i: 51}, sphere: 1}}\n", options));
  EXPECT_NE(said.find("the limit for a scene is 50 (i = 50)"), std::string::npos) << said;
}

}  // namespace
}  // namespace limber::scene
