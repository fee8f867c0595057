// Suite `contact`: piles of boxes in a bin, a chain that lies on the floor beside the same chain hanging, a
// hand that holds a ball, and with --full balls in a funnel and a brick wall hit by a ball. CPU time a step,
// contacts, iterations of the solver of their forces, and how good these are. scripts/peers/contact_scenes.py
// has the same scenes for another program.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

#include "allocations.h"
#include "bench.h"
#include "bench_timing.h"
#include "limber/articulated/articulated.h"
#include "limber/scene/scene.h"

namespace limber::cli {
namespace {

constexpr double h = 5e-3;

struct Ran {
  double seconds = 0;  // a step, of the last ones
  double contacts = 0, worst = 0, allocations = 0;
  double iterations = 0;  // of the slowest island, mean of the last steps
};

// Boxes on a grid that fall a finger's width, turned a little each, between four walls.
std::string pile(int count) {
  const int side = std::max(1, static_cast<int>(std::lround(std::cbrt(count / 2.0))));
  std::string text = "limber: 1\nbodies:\n";
  for (int k = 0; k < count; ++k) {
    const int i = k % side, j = k / side % side, layer = k / (side * side);
    text += fmt::format(
        "  b{}: {{at: [{:.6f}, {:.6f}, {:.6f}], rotate: [0, 0, {:.6f}], box: [0.1, 0.1, 0.1]}}\n", k,
        0.16 * (i - 0.5 * side) + 0.01 * std::sin(7.0 * k),
        0.16 * (j - 0.5 * side) + 0.01 * std::sin(11.0 * k), 0.055 + 0.115 * layer, 0.4 * std::sin(3.0 * k));
  }
  const double wall = 0.08 * side + 0.1;
  return text + fmt::format(
                    "contact:\n  friction: 0.5\n  planes: [{{at: [0, 0, 0]}}, {{at: [{0}, 0, 0], normal: "
                    "[-1, 0, 0]}}, "
                    "{{at: [-{0}, 0, 0], normal: [1, 0, 0]}}, {{at: [0, {0}, 0], normal: [0, -1, 0]}}, "
                    "{{at: [0, -{0}, 0], normal: [0, 1, 0]}}]\n",
                    wall);
}

std::string chain(int links, bool floor) {
  std::string text = "limber: 1\nbodies:\n", joints = "joints:\n";
  for (int i = 0; i < links; ++i) {
    text += fmt::format(
        "  l{}: {{at: [{:.3f}, 0, 0.02], rotate: [0, 90 deg, 0], capsule: {{radius: 0.02, length: 0.06}}, "
        "mass: "
        "0.1}}\n",
        i, 0.1 * i);
    if (i > 0 || !floor)
      joints += fmt::format("  j{}: {{type: spherical, child: l{}{}, at: [{:.3f}, 0, 0.02]}}\n", i, i,
                            i > 0 ? fmt::format(", parent: l{}", i - 1) : "", 0.1 * i - 0.05);
  }
  return text + joints + (floor ? "contact: {friction: 0.5, planes: [{at: [0, 0, 0]}]}\n" : "");
}

// Five fingers of four links around a ball, closed by springs. Joints stand on a circle around it.
std::string hand() {
  constexpr double ball = 0.05, thick = 0.008, reach = ball + thick + 0.001, step = 0.55;
  std::string text = fmt::format(
                  "limber: 1\nbodies:\n  ball: {{at: [0, 0, 0], sphere: {{radius: {}}}, mass: 0.3}}\n", ball),
              joints = "joints:\n";
  for (int f = 0; f < 5; ++f) {
    const double a = 2 * std::numbers::pi * f / 5, x = std::cos(a), y = std::sin(a);
    for (int i = 0; i < 4; ++i) {
      // From below the equator up; the middle of the link touches the ball.
      const double middle = -0.9 + step * i, joint = middle - step / 2;
      const double out = reach * std::cos(middle), up = reach * std::sin(middle),
                   root = reach / std::cos(step / 2);
      text += fmt::format(
          "  f{}_{}: {{at: [{:.9f}, {:.9f}, {:.9f}], rotate: {{axis: [{:.9f}, {:.9f}, 0], angle: {:.9f}}}, "
          "capsule: {{radius: {}, "
          "length: 0.02}}, mass: 0.02}}\n",
          f, i, x * out, y * out, up, y, -x, middle, thick);
      joints += fmt::format(
          "  j{0}_{1}: {{type: revolute, child: f{0}_{1}{2}, at: [{3:.9f}, {4:.9f}, {5:.9f}], axis: "
          "[{6:.9f}, {7:.9f}, 0], "
          "stiffness: 2, damping: 0.01, rest: -0.3}}\n",
          f, i, i > 0 ? fmt::format(", parent: f{}_{}", f, i - 1) : "", x * root * std::cos(joint),
          y * root * std::cos(joint), root * std::sin(joint), y, -x);
    }
  }
  return text + joints + "contact: {friction: 0.6}\n";
}

std::string wall() {
  std::string text =
      "limber: 1\nbodies:\n  ball: {at: [-0.6, 0.02, 0.35], velocity: [6, 0, 1], sphere: {radius: 0.08}}\n";
  for (int row = 0; row < 8; ++row)
    for (int k = 0; k < 6; ++k)
      text += fmt::format("  b{}_{}: {{at: [0, {:.4f}, {:.4f}], box: [0.1, 0.2, 0.1]}}\n", row, k,
                          0.201 * (k - 2.5) + (row % 2 == 0 ? 0 : 0.1), 0.05 + 0.1 * row);
  return text + "contact: {friction: 0.6, planes: [{at: [0, 0, 0]}]}\n";
}

// Balls of 4 cm above eight planes that lean inwards, of 45°, and fall into it.
std::string funnel(int count) {
  std::string text = "limber: 1\nbodies:\n", planes;
  for (int k = 0; k < count; ++k)
    text += fmt::format("  s{}: {{at: [{:.6f}, {:.6f}, {:.6f}], sphere: {{radius: 0.02}}}}\n", k,
                        0.045 * (k % 10 - 4.5) + 0.002 * std::sin(7.0 * k),
                        0.045 * (k / 10 % 10 - 4.5) + 0.002 * std::sin(11.0 * k), 0.35 + 0.045 * (k / 100));
  for (int k = 0; k < 8; ++k) {
    const double a = std::numbers::pi * (k + 0.5) / 4;
    planes += fmt::format("{}{{normal: [{:.9f}, {:.9f}, 1]}}", k > 0 ? ", " : "", -std::cos(a), -std::sin(a));
  }
  return text + fmt::format("contact: {{friction: 0.3, planes: [{}]}}\n", planes);
}

Ran run(const std::string& text, double settle, int steps) {
  const scene::Scene s = scene::parse(text, "bench.yaml", ".");
  const articulated::System system = articulated::compile(s.model);
  articulated::State state = system.rest();
  articulated::Workspace w(system);
  Ran out;
  const auto one = [&] {
    const auto report = articulated::step(system, state, w, h);
    if (!report.ok()) throw std::runtime_error("bench contact: " + report.message);
    out.worst = std::max(out.worst, report.contact_residual);
    out.iterations += report.solver_iterations;
  };
  while (state.t < settle - h / 2) one();
  out.iterations = 0;
  const auto before = allocation_count();
  const auto begin = CpuClock::now();
  for (int i = 0; i < steps; ++i) one();
  out.seconds = seconds_since(begin) / steps;
  out.allocations = static_cast<double>(allocation_count() - before) / steps;
  out.iterations /= steps;
  out.contacts = static_cast<double>(state.touching.size() / articulated::State::touching_width);
  return out;
}

}  // namespace

std::vector<Figure> bench_contact(bool full) {
  std::vector<Figure> out;
  std::vector<std::pair<int, double>> points;
  double worst = 0, allocations = 0;
  const auto note = [&](const Ran& r) {
    worst = std::max(worst, r.worst);
    allocations = std::max(allocations, r.allocations);
  };
  // How many touch and how long their forces take, of every scene.
  const auto tell = [&](const std::string& name, const Ran& r) {
    note(r);
    out.push_back({name + "_contacts", r.contacts, "", "", 0});
    out.push_back({name + "_iterations", r.iterations, "", "of the slowest island", 0});
  };
  std::vector<int> sizes{10, 30, 100, 300};
  if (full) sizes.insert(sizes.end(), {1000, 3000, 5000});
  for (const int n : sizes) {
    const Ran r = run(pile(n), 0.4, 20);
    points.emplace_back(n, r.seconds);
    const std::string name = fmt::format("pile_{}", n);
    out.push_back({name + "_ms", 1e3 * r.seconds, "ms", "a step of boxes that have fallen", 0});
    tell(name, r);
  }
  out.push_back({"pile_exponent", growth_exponent(points), "", "of the time a step over the boxes", 0});
  for (const int n : {20, 100, 1000}) {
    const Ran lying = run(chain(n, true), 0.05, 20), hanging = run(chain(n, false), 0.05, 20);
    const std::string name = fmt::format("chain_floor_{}", n), ratio = "chain_floor_ratio_to_free";
    out.push_back({name + "_ms", 1e3 * lying.seconds, "ms", "every link on the floor", 0});
    tell(name, lying);
    out.push_back({n < 1000 ? fmt::format("{}_{}", ratio, n) : ratio, lying.seconds / hanging.seconds, "",
                   fmt::format("the same chain of {} hanging", n), 0});
  }
  const Ran held = run(hand(), 0.4, 100);
  out.push_back({"hand_us", 1e6 * held.seconds, "us", "20 links hold a ball", 0});
  tell("hand", held);
  const auto add_struck = [&](const std::string& name, const Ran& r, const char* what) {
    out.push_back({name + "_ms", 1e3 * r.seconds, "ms", what, 0});
    tell(name, r);
  };
  if (full) {  // many minutes: hundreds of contacts that open and close at once
    add_struck("funnel_30", run(funnel(30), 0.25, 20), "balls that fall into a funnel");
    add_struck("funnel_1000", run(funnel(1000), 0.2, 10), "balls that fall into a funnel");
    add_struck("wall", run(wall(), 0.1, 40), "48 bricks while a ball goes through");
  }
  out.push_back({"worst_residual", worst, "", "of all contacts in all steps", 0});
  out.push_back({"allocations_per_step", allocations, "1/step", "", 0});
  return out;
}

}  // namespace limber::cli
