// Beams that stretch and shear, against closed forms, an exact rod of its own, and the articulated method.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "limber/articulated/statics.h"
#include "limber/chain/chain.h"
#include "limber/scene/scene.h"

namespace limber::chain_test {
namespace {

constexpr double E = 200e9, nu = 0.3, G = E / (2 * (1 + nu)), width = 0.01, height = 0.001, L = 0.1;
constexpr double A = width * height, I = width * height * height * height / 12;
constexpr double shear =
    5.0 / 6;  // of a rectangle without nu: the project's own factor is taken from its section

std::string blade(const std::string& rest) {
  return fmt::format(
      "limber: 1\ngravity: [0, 0, 0]\nmaterials: {{steel: {{E: 200 GPa, nu: 0.3, density: 7850}}}}\n"
      "sections: {{blade: {{rectangle: {{width: 10 mm, height: 1 mm}}}}}}\n{}",
      rest);
}

struct Found {
  chain::StaticReport report;
  result::Snapshot shot;
  double probe(int k) const { return shot.scalars[k]; }
};

Found by_chain(const std::string& text) {
  const scene::Scene scene = scene::parse(text, "stretch.yaml");
  chain::System system = chain::compile(scene.model);
  chain::Solver solver(system.structure());
  chain::Rest rest = system.rest();
  Found out;
  out.report = solver.solve(rest, 1);
  EXPECT_TRUE(out.report.report.ok()) << out.report.report.message;
  chain::observe(system, solver, rest, out.shot);
  return out;
}

// A quarter of a beam that is clamped at both ends and loaded by P in its middle (each half is the same when
// turned about its own middle, where it does not bend): Reissner's rod, shot from there with tension H and
// slope −θ until it is level again after L/4.
struct HalfBeam {
  // θ and x − L/4 at the end, and its height.
  static Eigen::Vector3d shoot(double P, double H, double slope) {
    using State = Eigen::Vector4d;  // x, z, θ, M
    const auto rate = [&](const State& y) -> State {
      const double c = std::cos(y[2]), s = std::sin(y[2]), V = -P / 2;
      const double along = (H * c + V * s) / (E * A), across = (-H * s + V * c) / (shear * G * A);
      const double x = (1 + along) * c - across * s, z = (1 + along) * s + across * c;
      return {x, z, y[3] / (E * I), -(x * V - z * H)};
    };
    constexpr int n = 100;
    State y(0, 0, -slope, 0);
    const double h = L / 4 / n;
    for (int i = 0; i < n; ++i) {
      const State a = rate(y), b = rate(y + h / 2 * a), c = rate(y + h / 2 * b), d = rate(y + h * c);
      y += h / 6 * (a + 2 * b + 2 * c + d);
    }
    return {y[2], y[0] - L / 4, y[1]};
  }
  // Loads grow from one that bends alone, each from the answer before.
  static double deflection(double load) {
    double H = 0, slope = 0, P = std::min(load, 0.1);
    for (slope = P * L * L / (64 * E * I);; P = std::min(load, 1.03 * P)) {
      for (int i = 0; i < 100; ++i) {
        const Eigen::Vector3d at = shoot(P, H, slope);
        const double dH = 1e-6 * (1 + std::abs(H)), d_slope = 1e-9;
        const Eigen::Vector3d by_H = (shoot(P, H + dH, slope) - at) / dH,
                              by_slope = (shoot(P, H, slope + d_slope) - at) / d_slope;
        Eigen::Matrix2d J;
        J << by_H[0], by_slope[0], by_H[1], by_slope[1];
        const Eigen::Vector2d step = J.inverse() * -at.head<2>();
        const auto left = [&](double part) {
          const Eigen::Vector3d then = shoot(P, H + part * step[0], slope + part * step[1]);
          return std::hypot(then[0], then[1] / L);
        };
        double part = 1;
        // Tension: with pressure the rod has other shapes, bent upwards.
        while (part > 1e-6 && (H + part * step[0] < 0 || !(left(part) < left(0)))) part /= 2;
        if (part <= 1e-6) break;  // as good as rounding lets it be
        H += part * step[0], slope += part * step[1];
        if (std::abs(step[0]) < 1e-10 * (1 + std::abs(H))) break;
      }
      if (P == load) return -2 * shoot(P, H, slope)[2];
    }
  }
};

std::string clamped_both_ends(double P, int elements) {
  return blade(fmt::format(
      "beams: {{b: {{path: [[0, 0, 0], [0.1, 0, 0]], material: steel, section: blade, elements: {}}}}}\n"
      "ties: {{foot: {{on: b.tip}}}}\nloads: {{f: {{on: b@0.5, force: [0, 0, {}]}}}}\n"
      "probes: [b@0.5.position]\n",
      elements, -P));
}

// Up to five thicknesses, where tension carries nearly all.
TEST(Stretch, ABeamClampedAtBothEndsStiffensAsTheExactRod) {
  struct Case {
    double P;
    int elements;
  };
  double last = 0;
  for (const auto& [P, elements] : {Case{0.1, 20}, {10, 20}, {300, 20}, {1000, 20}, {2500, 24}, {2700, 40}}) {
    const double exact = last = HalfBeam::deflection(P);
    EXPECT_NEAR(-by_chain(clamped_both_ends(P, elements)).probe(2), exact, 1e-3 * exact) << P;
    if (P == 0.1) {
      EXPECT_NEAR(exact, P * L * L * L / (192 * E * I) + P * L / (4 * shear * G * A), 1e-9);
    }
  }
  EXPECT_GT(last, 5 * height);
  EXPECT_LT(by_chain(clamped_both_ends(10, 20)).report.report.total_iterations, 12);
}

TEST(Stretch, ItsErrorFallsWithTheSquareOfTheElements) {
  const double exact = HalfBeam::deflection(100);
  const double coarse = by_chain(clamped_both_ends(100, 10)).probe(2) + exact,
               fine = by_chain(clamped_both_ends(100, 40)).probe(2) + exact;
  EXPECT_LT(std::abs(fine), std::abs(coarse) / 8) << coarse << " " << fine;
}

// A thick cantilever: bending and shear.
TEST(Stretch, AThickCantileverShearsAsTimoshenkos) {
  const double h = 0.025, I_h = width * h * h * h / 12, force = 1, long_factor = shear;
  const auto tip = [&](bool stretch) {
    return -by_chain(fmt::format("limber: 1\ngravity: [0, 0, 0]\nmaterials: {{steel: {{E: 200 GPa, nu: 0.3, "
                                 "density: 7850}}}}\n"
                                 "sections: {{thick: {{rectangle: {{width: 10 mm, height: 25 mm}}}}}}\n"
                                 "beams: {{b: {{path: [[0, 0, 0], [0.1, 0, 0]], material: steel, section: "
                                 "thick, elements: 20, "
                                 "stretch: {}}}}}\nloads: {{f: {{on: b.tip, force: [0, 0, {}]}}}}\nprobes: "
                                 "[b.tip.position]\n",
                                 stretch, -force))
                .probe(2);
  };
  const double bent = force * L * L * L / (3 * E * I_h), sheared = force * L / (long_factor * G * width * h);
  EXPECT_NEAR(tip(false), bent, 1e-3 * bent);
  EXPECT_GT(sheared, 0.04 * bent);  // else it would not be seen
  EXPECT_NEAR(tip(true), bent + sheared, 1e-3 * (bent + sheared));
}

TEST(Stretch, AHangingBarGrowsByItsOwnWeightAndByWhatHangsOnIt) {
  const double g = 1e4, rho = 7850;
  const Found found = by_chain(
      "limber: 1\ngravity: [0, 0, -1e4]\nmaterials: {steel: {E: 200 GPa, nu: 0.3, density: 7850}}\n"
      "sections: {blade: {rectangle: {width: 10 mm, height: 1 mm}}}\n"
      "beams: {b: {path: [[0, 0, 0], [0, 0, -0.1]], up: [0, 1, 0], material: steel, section: blade, "
      "elements: 4, "
      "stretch: true}}\nloads: {f: {on: b.tip, force: [0, 0, -500]}}\nprobes: [b.tip.position]\n");
  const double grown = rho * g * L * L / (2 * E) + 500 * L / (E * A);
  // The weight of a link stands at its middle: the quadrature over its joints is exact for a force that is
  // linear.
  EXPECT_NEAR(-found.probe(2) - L, grown, 1e-3 * rho * g * L * L / (2 * E) + 1e-9 * grown);
}

// The same links and shifts: the two methods agree as far as they converge.
TEST(Stretch, ArticulatedFindsTheSameRest) {
  const auto by_articulated = [](const std::string& text) {
    const scene::Scene scene = scene::parse(text, "stretch.yaml");
    articulated::System system = articulated::compile(scene.model);
    articulated::State state = system.rest();
    articulated::Workspace w(system);
    const articulated::StaticResult r = articulated::solve_static(system, state, w);
    EXPECT_TRUE(r.report.ok()) << r.report.message;
    result::Snapshot shot;
    articulated::observe(system, state, w, shot);
    return shot;
  };
  const std::string arch = blade(
      "beams: {b: {path: {spline: [[0, 0, 0], [0.03, 0.01, 0.004], [0.07, 0, 0.006], [0.1, 0, 0]]}, "
      "material: steel, "
      "section: blade, elements: 8}}\nties: {foot: {on: b.tip, type: spherical}}\n"
      "springs: {s: {between: [b@0.5, {on: world, at: [0.05, 0, -0.1]}], stiffness: 2000, rest_length: "
      "0.1}}\n"
      "loads: {f: {on: b@0.25, force: [3, 2, -5]}}\nprobes: [b@0.5.position, b@0.25.position]\n");
  const std::string planar = blade(
      "beams: {b: {path: [[0, 0, 0], [0.1, 0, 0]], material: steel, section: blade, elements: 6, planar: "
      "true}}\n"
      "ties: {foot: {on: b.tip}}\nloads: {f: {on: b@0.5, force: [20, 0, -10]}}\n"
      "probes: [b@0.5.position, b@0.75.position]\n");
  for (const std::string& text : {arch, planar}) {
    const result::Snapshot one = by_chain(text).shot, other = by_articulated(text);
    ASSERT_EQ(one.scalars.size() >= 6, true);
    for (int k = 0; k < 6; ++k) EXPECT_NEAR(one.scalars[k], other.scalars[k], 1e-9) << text << k;
  }
}

}  // namespace
}  // namespace limber::chain_test
