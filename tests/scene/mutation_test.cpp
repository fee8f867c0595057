// Every shipped scene loads; broken in a random place in a way that must hurt, it says where.
#include <gtest/gtest.h>

#include <algorithm>

#include "scene_support.h"

namespace limber::scene {
namespace {

TEST(Shipped, LoadsWithASchemaLineAndAComment) {
  const auto scenes = shipped_scenes();
  EXPECT_GE(scenes.size(), 5u);
  for (const auto& path : scenes) {
    EXPECT_TRUE(slurp(path).starts_with("# yaml-language-server: $schema=limber.schema.json\n#")) << path;
    try {
      const Scene scene = load(path);
      EXPECT_FALSE(scene.model.title().empty()) << path;
      EXPECT_FALSE(scene.model.probes().empty()) << path;
      EXPECT_FALSE(scene.parameters.empty()) << path;
    } catch (const SceneError& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

TEST(Shipped, ParametersCanBeSet) {
  const std::filesystem::path scenes = LIMBER_SCENES;
  EXPECT_EQ(load(scenes / "sprung-chain.yaml", {{{"links", "300"}}, {}}).model.bodies().size(), 300u);
  EXPECT_EQ(load(scenes / "swinging-tree.yaml", {{{"levels", "9"}}, {}}).model.bodies().size(), 511u);
}

using Lines = std::vector<std::string>;

Lines split(const std::string& text) {
  Lines lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Replaces the k-th occurrence of `what` outside comments; false if there is none.
bool replace(std::string& text, const std::string& what, const std::string& with, Random& random) {
  std::vector<std::size_t> places;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) {
    const std::size_t line = text.rfind('\n', at) + 1;
    const std::size_t comment = text.find('#', line);
    if (comment > at || text[comment - 1] == '"') places.push_back(at);
  }
  if (places.empty()) return false;
  text.replace(places[random.below(places.size())], what.size(), with);
  return true;
}

// One of many ways to break a scene for sure; false if this scene has nothing of the kind.
bool mutate(std::string& text, Random& random) {
  static const std::pair<const char*, const char*> swaps[] = {
      {"limber: 1", "limber: 2"},
      {"limber: 1\n", ""},
      {"limber: 1", "limbr: 1"},
      {"limber: 1", "limber: one"},
      {"run: {", "run: {stpe: 1 ms, "},
      {"run: {", "run: {method: magic, "},
      {"run: {time: ", "run: {time: -"},
      {"step: 5 ms", "step: 5 mm"},
      {"step: 2 ms", "step: 2 ms ms"},
      {"step: 2 ms", "step: 0"},
      {"step: 5 ms", "step: [5 ms]"},
      {"probes: [", "probes: [nobody.position, "},
      {"probes: [", "probes: [energy.lost, "},
      {"probes: [", "probes: [{name: x}, "},
      {"probes: [", "probes: {"},
      {"parameters:", "paramters:"},
      {"parameters: {", "parameters: {sin: 1, "},
      {"parameters: {", "parameters: {loop_a: loop_b, loop_b: loop_a, "},
      {"parameters: {", "parameters: {no-name: 1, "},
      {"kg/m3", "kg/m2"},
      {"kg/m3", "kgg/m3"},
      {"density: ", "density: -"},
      {"type: revolute", "type: revolut"},
      {"type: universal", "type: ball"},
      {"type: spherical", "type: 3"},
      {"axis: [0, 1, 0]", "axis: [0, 0, 0]"},
      {"axis: [0, 1, 0]", "axis: [0, 1]"},
      {"axis: [1, 0, 0]", "axis: [1, 0, 0, 0]"},
      {"axis2: [0, 1, 0]", "axis2: [1, 1, 0]"},
      {"child: ", "child: no_"},
      {"parent: ", "parent: no_"},
      {"at: [", "at: [1 s, "},
      {"at: [", "at: {"},
      {"radius: ", "radius: -1*"},
      {"radius: ", "radius: 1 kg + "},
      {"links: =links", "links: 2.5"},
      {"links: =links", "links: -3"},
      {"links: =links", "links: =lnks"},
      {"levels: =levels", "levels: 1000000000"},
      {"levels: =levels", "levels: true"},
      {"length: ", "length: -1*"},
      {"length: ", "lenght: "},
      {"joint: universal", "joint: unversal"},
      {"joint: spherical", "joint: free"},
      {"damping: ", "damping: -1 - "},
      {"velocity: [", "velocity: [1 m, "},
      {"material: aluminium", "material: alumnium"},
      {"section: plank", "section: plnk"},
      {"on: board.tip", "on: board.top"},
      {"on: board.tip", "on: board"},
      {"on: board.tip", "on: board@1.5"},
      {"from: stand.edge", "from: stand.corner"},
      {"path: [[", "path: [[0, "},
      {"E: 70 GPa", "E: 70 GN"},
      {"nu: 0.33", "nu: 0.7"},
      {"fixed: true", "fixed: yes"},
      {"color: \"#", "color: \"#x"},
      {"capsule: {", "capsule: {width: 1, "},
      {"capsule: {radius: ", "capsule: {radus: "},
      {"sphere: ", "spere: "},
      {"mass: =", "mass: =-"},
      {"points: {", "points: {7: [0, 0, 0], "},
      {"elements: =elements", "elements: 0"},
      {"ramp: 0.5 s", "ramp: 0.5 m"},
      {"title: ", "title: [] "},
      {"bodies:\n", "bodies:\n\t"},
      {"joints:\n", "joints:\n  twice: {type: fixed, child: upper}\n  twice: {type: fixed, child: upper}\n"},
      {"probes: [", "probes: [*nothing, "},
      {"probes: [", "probes: [[[[[, "},
      {"run: ", "run: &r [*r] # "},
      {"linkages:\n", "linkages: 7\nchain:\n"},
      {"trees:\n", "trees:\n  - 1\n"},
      {"stiffness: ", "stiffness: [1, 2, 3, 4, 5, 6, 7] # "},
      {"position: =release", "position: [1, 2]"},
      {"position: =release", "position: 3 kg"},
  };
  const auto& [what, with] = swaps[random.below(std::size(swaps))];
  return replace(text, what, with, random);
}

TEST(Shipped, BrokenOnesSayWhere) {
  const auto scenes = shipped_scenes();
  Random random(20240917);
  int broken = 0;
  for (int tries = 0; broken < 400 && tries < 20'000; ++tries) {
    std::string text = slurp_small(scenes[random.below(scenes.size())]);
    if (!mutate(text, random)) continue;
    ++broken;
    const auto list = diagnose(text);
    EXPECT_FALSE(list.empty()) << "this scene should not load:\n" << text;
    for (const Diagnostic& d : list) {
      EXPECT_TRUE(d.line >= 1 && d.column >= 1 && d.line <= static_cast<int>(split(text).size()) + 1)
          << to_string(d);
      EXPECT_FALSE(d.message.empty());
    }
    EXPECT_TRUE(std::is_sorted(list.begin(), list.end(), [](const Diagnostic& a, const Diagnostic& b) {
      return std::pair(a.line, a.column) < std::pair(b.line, b.column);
    }));
  }
  EXPECT_EQ(broken, 400);
}

TEST(Shipped, AMisspeltKeyAnywhereIsReported) {
  // Every key of every shipped scene in turn gets a letter too many.
  for (const auto& path : shipped_scenes()) {
    const std::string text = slurp_small(path);
    int count = 0;
    for (std::size_t at = text.find("limber: 1"); (at = text.find(": ", at)) != std::string::npos; ++at) {
      const std::size_t line = text.rfind('\n', at) + 1;
      const std::size_t comment = text.find(" #", line);
      if (comment < at || text[line] == '#' || text[at - 1] == '"') continue;
      std::string broken = text;
      broken.insert(at, "xyzzy");
      const auto list = diagnose(broken);
      // Names that the author chose (parameters, bodies) may be renamed; then what refers to them is what
      // breaks.
      count += !list.empty();
      for (const Diagnostic& d : list) EXPECT_TRUE(d.line >= 1 && d.column >= 1) << to_string(d);
    }
    EXPECT_GT(count, 10) << path;
  }
}

}  // namespace
}  // namespace limber::scene
