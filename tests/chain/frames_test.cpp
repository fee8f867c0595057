// Frames of beams under small loads, 20 elements a beam, against what textbooks say: 1e-4.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "limber/chain/chain.h"
#include "limber/chain/stress.h"
#include "limber/scene/scene.h"
#include "tests/chain/models.h"
#include "tests/support/planar_rods.h"

namespace limber::chain_test {
namespace {

using testing::PlanarRods;

// So slender that stretch and shear are below 1e-5 of the bending, and loads so small that nothing turns.
constexpr double E = 1e12, thick = 1e-3, EI = E * thick * thick * thick * thick / 12, P = 1e-6 * EI;

struct Frame {
  result::Snapshot shot;
  std::vector<chain::Reaction> reactions;
  chain::StaticReport report;
  chain::Reaction of(const std::string& name) const {
    for (const auto& r : reactions)
      if (r.name == name) return r;
    ADD_FAILURE() << name;
    return {};
  }
};

Frame rest_of(const std::string& text) {
  const scene::Scene scene = scene::parse(
      "limber: 1\ngravity: [0, 0, 0]\nmaterials: {m: {E: 1e12, nu: 0, density: 1}}\n"
      "sections: {s: {rectangle: {width: 1 mm, height: 1 mm}}}\n" +
          text,
      "frame.yaml");
  const chain::System system = chain::compile(scene.model);
  chain::Solver solver(system.structure());
  chain::Rest rest = system.rest();
  Frame out;
  out.report = solver.solve(rest, 1);
  EXPECT_TRUE(out.report.stable()) << out.report.report.message;
  chain::observe(system, solver, rest, out.shot);
  out.reactions = chain::reactions(system, solver, rest);
  return out;
}

const char* const beam = "material: m, section: s, elements: 20";

TEST(Frames, ABeamClampedAtBothEnds) {
  const Frame f = rest_of(
      fmt::format("beams: {{b: {{path: [[0, 0, 0], [1, 0, 0]], {}}}}}\nties: {{foot: {{on: b.tip}}}}\n"
                  "loads: {{f: {{on: b@0.5, force: [0, 0, {}]}}}}\nprobes: [b@0.5.position]\n",
                  beam, -P));
  EXPECT_NEAR(f.shot.scalars[2] / (-P / (192 * EI)), 1, 1e-4);
  EXPECT_NEAR(f.of("b").moment.y() / (-P / 8), 1, 1e-4);
  EXPECT_NEAR(f.of("foot").moment.y() / (P / 8), 1, 1e-4);
}

TEST(Frames, ABeamClampedAndPinned) {
  const Frame f = rest_of(fmt::format(
      "beams: {{b: {{path: [[0, 0, 0], [1, 0, 0]], {}}}}}\nties: {{pin: {{on: b.tip, type: spherical}}}}\n"
      "loads: {{f: {{on: b@0.5, force: [0, 0, {}]}}}}\nprobes: [b@0.5.position]\n",
      beam, -P));
  EXPECT_NEAR(f.shot.scalars[2] / (-7 * P / (768 * EI)), 1, 1e-4);
  EXPECT_NEAR(f.of("b").moment.y() / (-3 * P / 16), 1, 1e-4);
  EXPECT_NEAR(f.of("pin").force.z() / (5 * P / 16), 1, 1e-4);
}

TEST(Frames, APortalPushedAside) {
  // Columns h = 1, beam L = 1.5, the same section: k = h/L. Feet: M = H h (3k' + 1) / (2 (6k' + 1)) with k' =
  // (I_b/L)/(I_c/h); drift H h³/(12 EI) (3k' + 2)/(6k' + 1)·… by slope and deflection:
  //   Δ = H h³ (3k' + 2) / (12 EI (6k' + 1)).
  const double k = 1 / 1.5;
  const Frame f = rest_of(fmt::format(
      "beams:\n  left: {{path: [[0, 0, 0], [0, 0, 1]], up: [1, 0, 0], {0}}}\n"
      "  top: {{from: left.tip, path: [[0, 0, 0], [0, 0, 1.5]], up: [1, 0, 0], {0}}}\n"
      "  right: {{path: [[1.5, 0, 0], [1.5, 0, 1]], up: [1, 0, 0], {0}}}\n"
      "ties: {{corner: {{on: top.tip, to: right.tip}}}}\nloads: {{f: {{on: left.tip, force: [{1}, 0, 0]}}}}\n"
      "probes: [left.tip.position, right.tip.position]\n",
      beam, P));
  const double drift = P * (3 * k + 2) / (12 * EI * (6 * k + 1)), foot = P * (3 * k + 1) / (2 * (6 * k + 1));
  EXPECT_NEAR(f.shot.scalars[0] / drift, 1, 1e-4);
  EXPECT_NEAR((f.shot.scalars[3] - 1.5) / drift, 1, 1e-4);
  EXPECT_NEAR(f.of("left").moment.y() / -foot, 1, 1e-4);
  EXPECT_NEAR(f.of("right").moment.y() / -foot, 1, 1e-4);
  EXPECT_NEAR(f.of("left").force.x() / (-P / 2), 1, 1e-4);
}

TEST(Frames, AVierendeelLadder) {
  // A cantilever of three square panels, 0.5 each, loaded at its end: against dense rods.
  constexpr int panels = 3;
  constexpr double a = 0.5;
  PlanarRods rods;
  const testing::RodSection s{E * thick * thick, 5.0 / 6 * E / 2 * thick * thick, EI};
  std::vector<PlanarRods::Node> low, high;
  for (int i = 0; i <= panels; ++i)
    low.push_back(rods.node(i * a, 0, 0)), high.push_back(rods.node(i * a, a, 0));
  for (int i = 0; i < panels; ++i) {
    rods.rod(
        s, [&](double t) { return Eigen::Vector3d((i + t) * a, 0, 0); }, a, 2, low[i], low[i + 1]);
    rods.rod(
        s, [&](double t) { return Eigen::Vector3d((i + t) * a, a, 0); }, a, 2, high[i], high[i + 1]);
    rods.rod(
        s, [&](double t) { return Eigen::Vector3d((i + 1) * a, t * a, pi / 2); }, a, 2,
        rods.turned(low[i + 1], pi / 2), rods.turned(high[i + 1], pi / 2));
  }
  rods.hold(low[0], true, true, true), rods.hold(high[0], true, true, true);
  rods.load(high[panels], 0, -P);
  const auto exact = rods.at_load(rods.start(), 1);

  std::string beams, ties;
  for (int i = 0; i < panels; ++i) {
    const auto from = [&](const char* name, double z) {
      return i == 0 ? fmt::format("path: [[0, 0, {}], [{}, 0, {}]]", z, a, z)
                    : fmt::format("from: {}{}.tip, path: [[0, 0, 0], [{}, 0, 0]]", name, i - 1, a);
    };
    beams += fmt::format(
        "  l{0}: {{{1}, {2}}}\n  h{0}: {{{3}, {2}}}\n"
        "  r{0}: {{from: l{0}.tip, path: [[0, 0, 0], [0, 0, {4}]], up: [1, 0, 0], {2}}}\n",
        i, from("l", 0), beam, from("h", a), a);
    ties += fmt::format("  t{0}: {{on: r{0}.tip, to: h{0}.tip}}\n", i);
  }
  const Frame f =
      rest_of(fmt::format("beams:\n{}ties:\n{}loads: {{f: {{on: h2.tip, force: [0, 0, {}]}}}}\nprobes: "
                          "[h2.tip.position, l1.tip.position]\n",
                          beams, ties, -P));
  EXPECT_NEAR((f.shot.scalars[2] - a) / (rods.value(exact, high[3], 1) - a), 1, 1e-4);
  EXPECT_NEAR(f.shot.scalars[5] / rods.value(exact, low[2], 1), 1, 1e-4);
  // Far from a cantilever whose chords are held together by a web.
  EXPECT_GT(a - f.shot.scalars[2], 2 * P * 1.5 * 1.5 * 1.5 / (3 * (E * thick * thick * a * a / 2)));
}

}  // namespace
}  // namespace limber::chain_test
