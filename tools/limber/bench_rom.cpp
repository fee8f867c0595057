// Suite `rom`: a step of reduced models of a helix (50 … 400 links), a ladder (36, 48) and a robot arm (20),
// with one, two and four linearisation points, ends alone and with the poses of all links on one and two
// threads. Baseline: a step of the whole mechanism by method articulated (linearly implicit Euler, its
// default solver) in the same run.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "allocations.h"
#include "bench.h"
#include "bench_timing.h"
#include "limber/scene/scene.h"
#include "limber/sim/reduce.h"

namespace limber::cli {
namespace {

constexpr double h_rom = 1e-3;

// The load shrinks as the helix grows softer.
std::string helix(int links) {
  const double f = std::pow(50.0 / links, 3);
  return fmt::format(
      "limber: 1\nhelices:\n  m: {{links: {}, coil: 10 cm, pitch: 8 cm, turns: {}, radius: 4 mm, joint: "
      "spherical, "
      "stiffness: 60 N*m/rad, damping: 0.01 N*m*s/rad, density: 1000 kg/m3}}\n"
      "loads:\n  pull: {{on: m.tip, force: [0, {}, {}]}}\ngravity: [0, 0, 0]\n"
      "run: {{method: rom, rom: {{ends: [m.tip]}}}}\n",
      links, links / 25, 0.1 * f, 0.3 * f);
}

// `links` counts rails and rungs: three a bay.
std::string ladder(int links) {
  const int bays = links / 3;
  std::string bodies = "limber: 1\nbodies:\n", joints = "joints:\n", loops = "loops:\n";
  const char* rod =
      "{{capsule: {{radius: 1 cm, from: [0, 0, 0], to: [{}, 0, {}]}}, at: [{}, 0, {}], density: 1000 "
      "kg/m3}}\n";
  const char* spring = "axis: [0, 1, 0], stiffness: 50 N*m/rad";
  for (int i = 0; i < bays; ++i) {
    const double z = 0.1 * i;
    bodies += fmt::format("  left{}: ", i) + fmt::format(fmt::runtime(rod), 0, 0.1, 0, z);
    bodies += fmt::format("  right{}: ", i) + fmt::format(fmt::runtime(rod), 0, 0.1, 0.3, z);
    bodies += fmt::format("  rung{}: ", i) + fmt::format(fmt::runtime(rod), 0.3, 0, 0, z + 0.1);
    const std::string below = i == 0 ? "world" : fmt::format("rung{}", i - 1);
    joints += fmt::format("  l{0}: {{type: revolute, parent: {1}, child: left{0}, {2}}}\n", i, below, spring);
    joints +=
        fmt::format("  r{0}: {{type: revolute, parent: {1}, child: right{0}, {2}}}\n", i, below, spring);
    joints += fmt::format("  h{0}: {{type: revolute, parent: left{0}, child: rung{0}, {1}}}\n", i, spring);
    loops += fmt::format("  c{0}: {{type: revolute, a: right{0}, b: rung{0}, at: [0.3, 0, {1}], {2}}}\n", i,
                         z + 0.1, spring);
  }
  return bodies + joints + loops +
         fmt::format(
             "loads:\n  pull: {{on: rung{0}, force: [3, 0, 0]}}\ngravity: [0, 0, 0]\n"
             "run: {{method: rom, rom: {{ends: [rung{0}]}}}}\n",
             bays - 1);
}

std::string arm(int links) {
  std::string text = "limber: 1\nbodies:\n";
  for (int i = 0; i < links; ++i)
    text += fmt::format(
        "  l{}: {{capsule: {{radius: 2 cm, from: [0, 0, 0], to: [0, 0, 10 cm]}}, at: [0, 0, {}], density: "
        "1000 kg/m3}}\n",
        i, 0.1 * i);
  text += "joints:\n";
  const char* axes[] = {"[0, 0, 1]", "[0, 1, 0]", "[1, 0, 0]"};
  for (int i = 0; i < links; ++i)
    text += fmt::format(
        "  j{}: {{type: revolute, parent: {}, child: l{}, axis: {}, stiffness: 80 N*m/rad, damping: 0.1 "
        "N*m*s/rad}}\n",
        i, i == 0 ? "world" : fmt::format("l{}", i - 1), i, axes[i % 3]);
  return text +
         fmt::format(
             "loads:\n  pull: {{on: l{0}, force: [1, 0.5, 0]}}\ngravity: [0, 0, 0]\nrun: {{method: rom, rom: "
             "{{ends: [l{0}]}}}}\n",
             links - 1);
}

struct RomTimes {
  double ends = 0, all = 0;  // [s]
  double allocations = 0;
};

RomTimes time_rom(const scene::Scene& scene, int points, int threads) {
  // Points under a few times the scene's own load.
  const Vec3 load = scene.model.point_loads()[0].force.value(0);
  rom::Options options = scene.run.rom;
  options.cpu_threads = threads;
  for (int k = 1; k < points; ++k) {
    const Vec3 push = load * k + 0.3 * load.norm() * Vec3::Unit(k % 3);
    options.points.push_back({0, {{options.ends[0], push, Vec3::Zero()}}});
  }
  const auto system = rom::compile(scene.model, sim::reduce(scene.model, options), options);
  rom::State state = system.rest();
  rom::Workspace w(system);
  const auto step = [&] {
    if (const auto r = rom::step(system, state, w, h_rom); !r.ok())
      throw std::runtime_error("bench rom: " + r.message);
  };
  for (int i = 0; i < 200; ++i) step();
  RomTimes out;
  const auto before = allocation_count();
  for (int i = 0; i < 100; ++i) step();
  out.allocations = static_cast<double>(allocation_count() - before) / 100;
  // With threads by the clock on the wall: CPU time is the same on any number of cores.
  const auto seconds_of = [&](int calls, const auto& call) {
    return (threads > 1 ? measure_calls<std::chrono::steady_clock>(call, calls) : measure_calls(call, calls))
        .seconds;
  };
  out.ends = seconds_of(2000, step);
  out.all = seconds_of(1000, [&] {
    step();
    rom::update_links(system, state, w);
  });
  return out;
}

double time_full(const scene::Scene& scene) {
  articulated::Options options;
  options.integrator = articulated::Integrator::euler;
  const auto system = articulated::compile(scene.model, options);
  articulated::State state = system.rest();
  articulated::Workspace w(system);
  const auto step = [&] {
    if (const auto r = articulated::step(system, state, w, h_rom); !r.ok())
      throw std::runtime_error("bench rom: " + r.message);
  };
  for (int i = 0; i < 20; ++i) step();
  return measure_calls(step, 100).seconds;
}

}  // namespace

std::vector<Figure> bench_rom(bool full) {
  std::vector<Figure> figures;
  const auto add = [&](std::string key, double value, const char* unit, std::string baseline = "") {
    figures.push_back({std::move(key), value, unit, std::move(baseline)});
  };
  struct Case {
    std::string name;
    std::string text;
  };
  std::vector<Case> cases;
  for (const int n : {50, 100, 200, 400}) cases.push_back({fmt::format("helix{}", n), helix(n)});
  for (const int n : {36, 48}) cases.push_back({fmt::format("ladder{}", n), ladder(n)});
  cases.push_back({"arm20", arm(20)});
  double ends50 = 0, ends400 = 0, all400 = 0, full400 = 0, allocations = 0;
  for (const Case& c : cases) {
    const scene::Scene scene = scene::parse(c.text, c.name + ".yaml");
    const double whole = time_full(scene);
    add(c.name + "_full_us", 1e6 * whole, "us", "the whole mechanism");
    for (const int points : {1, 2, 4}) {
      if (points > 1 && !full) continue;
      const RomTimes one = time_rom(scene, points, 1);
      add(fmt::format("{}_{}_ends_us", c.name, points), 1e6 * one.ends, "us",
          fmt::format("{:.0f} times faster", whole / one.ends));
      add(fmt::format("{}_{}_all_us", c.name, points), 1e6 * one.all, "us",
          fmt::format("{:.1f} times faster", whole / one.all));
      if (points == 1) {
        const RomTimes two = time_rom(scene, points, 2);
        add(fmt::format("{}_{}_all_2_threads_us", c.name, points), 1e6 * two.all, "us");
        allocations = std::max(allocations, one.allocations);
        if (c.name == "helix50") ends50 = one.ends;
        if (c.name == "helix400") ends400 = one.ends, all400 = one.all, full400 = whole;
      }
    }
  }
  add("end_step_us", 1e6 * ends400, "us", "400 links, ends alone; at most 2");
  add("helix400_us", 1e6 * all400, "us", "all poses; at most 20");
  add("helix400_speedup_over_full", full400 / all400, "", "at least 8");
  add("helix400_speedup_ends_only", full400 / ends400, "", "at least 75");
  add("end_step_growth", ends400 / ends50, "", "400 links over 50");
  if (counting_allocations()) add("allocations_per_step", allocations, "1/step", "one point");
  return figures;
}

}  // namespace limber::cli
