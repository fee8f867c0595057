// One scene through every method: the same probes make the same columns and, where all answer one question,
// the same numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "limber/chain/chain.h"
#include "limber/scene/scene.h"
#include "limber/sim/driver.h"

namespace limber {
namespace {

// A cord that is pulled aside by a spring and swings.
const std::string cord = R"(limber: 1
materials: {rubber: {E: 100 MPa, nu: 0.3, density: 1000 kg/m3}}
sections: {round: {circle: 5 mm}}
beams:
  cord: {path: [[0, 0, 0], [20 cm, 0, 0]], material: rubber, section: round, elements: 8, damping: 2 ms}
springs:
  string: {between: [cord.tip, {on: world, at: [20 cm, 10 cm, 5 cm]}], stiffness: 20 N/m, rest_length: 8 cm}
probes:
  - cord.tip.position
  - cord.tip.rotation
  - {name: middle, quantity: position, on: {on: cord@0.5, at: [0, 1 cm, 2 cm]}}
  - string.length
  - string.tension
  - {name: all, quantity: total_energy}
)";
const std::string rates = R"(  - cord.tip.velocity
  - cord.tip.speed
  - cord.tip.angular_velocity
)";

std::map<std::string, double> numbers(const result::Layout& layout, const result::Snapshot& now) {
  std::map<std::string, double> out;
  for (std::size_t k = 0; k < layout.scalars.size(); ++k) out[layout.scalars[k].name] = now.scalars[k];
  return out;
}

std::map<std::string, double> after(const scene::Scene& scene, sim::Method method, int steps) {
  sim::RunOptions options = scene.run;
  options.method = method;
  options.step = 5e-4;
  sim::Driver driver(scene.model, options);
  for (int k = 0; k < steps; ++k) EXPECT_TRUE(driver.step(options.step).ok());
  result::Snapshot now;
  driver.observe(now);
  return numbers(driver.layout(), now);
}

const sim::Method methods[] = {sim::Method::articulated, sim::Method::thread, sim::Method::rom,
                               sim::Method::adaptive};

TEST(Probes, MakeTheSameColumnsInEveryMethod) {
  const scene::Scene scene = scene::parse(cord + rates + "run: {rom: {ends: [cord.tip]}}\n", "cord.yaml");
  std::vector<std::pair<std::string, std::string>> first;
  for (const sim::Method method : methods) {
    sim::RunOptions options = scene.run;
    options.method = method;
    const sim::Driver driver(scene.model, options);
    std::vector<std::pair<std::string, std::string>> columns;
    for (const result::ScalarInfo& c : driver.layout().scalars)
      if (c.name.starts_with("cord") || c.name.starts_with("middle") || c.name.starts_with("string") ||
          c.name == "all")
        columns.emplace_back(c.name, c.unit);
    EXPECT_EQ(columns.size(), 19u);
    if (first.empty()) first = columns;
    EXPECT_EQ(columns, first);
  }
}

// At t = 0 all stand where the scene says: to rounding.
TEST(Probes, TellTheSameAtTheStart) {
  const scene::Scene scene = scene::parse(cord + rates + "run: {rom: {ends: [cord.tip]}}\n", "cord.yaml");
  const auto reference = after(scene, sim::Method::articulated, 0);
  EXPECT_NEAR(reference.at("string.length"), std::hypot(0.1, 0.05), 1e-15);
  EXPECT_NEAR(reference.at("middle.z"), 0.02, 1e-15);
  for (const sim::Method method : {sim::Method::thread, sim::Method::adaptive}) {
    const auto other = after(scene, method, 0);
    for (const auto& [name, value] : reference)
      if (!name.starts_with("energy") && name != "all") {
        EXPECT_NEAR(other.at(name), value, 1e-14) << name;
      }
  }
}

// Two methods of dynamics, one motion: as far as their meshes agree.
TEST(Probes, TellTheSameOfAMotion) {
  const scene::Scene scene = scene::parse(cord + rates, "cord.yaml");
  const auto a = after(scene, sim::Method::articulated, 60), b = after(scene, sim::Method::thread, 60);
  EXPECT_GT(a.at("cord.tip.speed"), 0.1);
  // Eight elements each, which differ by some 1 % in a bent cord's frequency.
  for (const char* name : {"cord.tip.speed", "string.tension", "string.length"})
    EXPECT_NEAR(b.at(name), a.at(name), 0.03 * std::abs(a.at(name))) << name;
  const double v =
      std::hypot(b.at("cord.tip.velocity.x"), b.at("cord.tip.velocity.y"), b.at("cord.tip.velocity.z"));
  EXPECT_NEAR(b.at("cord.tip.speed"), v, 1e-14 * v);
}

// At rest the chain tells what the thread tells; of velocities it makes no column.
TEST(Probes, TellTheSameOfARest) {
  const scene::Scene scene = scene::parse(cord + rates, "cord.yaml");
  chain::System system = chain::compile(scene.model);
  chain::Solver solver(system.structure());
  chain::Rest rest = system.rest();
  ASSERT_TRUE(solver.solve(rest, 1, {}).report.ok());
  result::Snapshot now;
  chain::observe(system, solver, rest, now);
  const auto a = numbers(system.layout(), now);
  EXPECT_FALSE(a.contains("cord.tip.speed"));
  const thread::System threads = thread::compile(scene.model);
  thread::State state = threads.rest();
  thread::Workspace w(threads);
  ASSERT_TRUE(thread::solve_static(threads, state, w).report.ok());
  thread::observe(threads, state, w, now);
  const auto b = numbers(threads.layout(), now);
  for (const auto& [name, value] : a)
    if (name != "all") {
      EXPECT_NEAR(b.at(name), value, 2e-3 * std::max(std::abs(value), 0.1)) << name;
    }
}

// A run that starts at rest under its loads starts its balance of energy there.
TEST(Ledger, StartsWhereTheRunStarts) {
  const scene::Scene scene = scene::parse(cord, "cord.yaml");
  for (const sim::Method method : {sim::Method::articulated, sim::Method::thread}) {
    sim::RunOptions options = scene.run;
    options.method = method;
    options.from_static = true;
    sim::Driver driver(scene.model, options);
    result::Snapshot now;
    driver.observe(now);
    const auto start = numbers(driver.layout(), now);
    EXPECT_EQ(start.at("energy.remainder"), 0);
    for (int k = 0; k < 20; ++k) ASSERT_TRUE(driver.step(1e-3).ok());
    driver.observe(now);
    const auto end = numbers(driver.layout(), now);
    // Nothing moves, and the total is known to rounding.
    EXPECT_NEAR(end.at("energy.remainder"), 0, 1e-9 * std::abs(start.at("energy.elastic")));
  }
}

// Follower loads beside the axis of a bar whose principal axes are not the section's, and whose corners are
// not about its centroid: as with the chain, in the section's own axes, from the line of centroids.
TEST(Loads, BesideTheAxisOfATurnedSection) {
  const std::string bar = R"(limber: 1
materials: {steel: {E: 50 MPa, nu: 0.3, density: 1000 kg/m3}}
sections: {angle: {polygon: {outline: [[0, 0], [16 mm, 0], [16 mm, 2 mm], [2 mm, 2 mm], [2 mm, 8 mm], [0, 8 mm]]}}}
beams:
  bar: {path: [[0, 0, 0], [40 cm, 0, 0]], material: steel, section: angle, elements: 24}
gravity: [0, 0, 0]
loads:
  end: {on: {on: bar.tip, at: [0, 3 cm, -1 cm]}, force: [-20 mN, 5 mN, 8 mN], moment: ["1 mN*m", 0, 0], follows: true}
  line: {along: bar, force_per_length: [0, 10 mN/m, -5 mN/m], follows: true}
probes: [bar.tip.position, bar.tip.rotation]
)";
  const scene::Scene scene = scene::parse(bar, "bar.yaml");
  chain::System system = chain::compile(scene.model);
  chain::Solver solver(system.structure());
  chain::Rest rest = system.rest();
  ASSERT_TRUE(solver.solve(rest, 1, {}).report.ok());
  result::Snapshot a, b;
  chain::observe(system, solver, rest, a);
  const thread::System threads = thread::compile(scene.model);
  thread::State state = threads.rest();
  thread::Workspace w(threads);
  ASSERT_TRUE(thread::solve_static(threads, state, w).report.ok());
  thread::observe(threads, state, w, b);
  const Vec3 tip(a.scalars[0], a.scalars[1], a.scalars[2]), tip_b(b.scalars[0], b.scalars[1], b.scalars[2]);
  EXPECT_GT((tip - Vec3(0.4, 0, 0)).norm(), 0.02);
  EXPECT_LT((tip - tip_b).norm(), 1e-3 * 0.4);
  for (int k = 3; k < 6; ++k) EXPECT_NEAR(b.scalars[k], a.scalars[k], 5e-3) << k;
}

}  // namespace
}  // namespace limber
