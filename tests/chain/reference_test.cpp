// Chains against exact rods: the reference files A1–A5, A7, A8.
#include <gtest/gtest.h>

#include <functional>

#include "limber/chain/elements.h"
#include "limber/chain/path.h"
#include "tests/chain/models.h"

namespace limber::chain_test {
namespace {

// Shows every solved case of a file and where the exact rod's tip is.
using Visit = std::function<void(const Solved&, const Vec3& exact)>;
const Visit unseen = [](const Solved&, const Vec3&) {};

// Largest error over the cases of a planar file, of the length.
template <class Each>
double worst(const nlohmann::json& file, Each each) {
  double most = 0;
  for (const auto& r : file["reference"]) most = std::max(most, each(r));
  return most;
}

double a1(int n, Recipe recipe, const Visit& visit) {
  return worst(reference("A1_cantilever_end_force.json"), [&](const nlohmann::json& r) {
    auto b = unit_cantilever(n, recipe);
    b.load(1, {0, -r["PL2_over_EI"].get<double>(), 0});
    const Solved s = solve(b.builder.build());
    EXPECT_TRUE(s.report.stable()) << s.report.report.message;
    const Vec3 exact(r["tip_x_over_L"].get<double>(), -r["tip_deflection_over_L"].get<double>(), 0);
    visit(s, exact);
    return (s.tip() - exact).norm();
  });
}

double a2(int n, Recipe recipe, const Visit& visit) {
  return worst(reference("A2_cantilever_tip_moment.json"), [&](const nlohmann::json& r) {
    auto b = unit_cantilever(n, recipe);
    b.load(1, Vec3::Zero(), {0, 0, r["ML_over_EI"].get<double>()});
    const Solved s = solve(b.builder.build());
    EXPECT_TRUE(s.report.report.ok()) << s.report.report.message;
    const Vec3 exact(r["tip_x_over_L"].get<double>(), r["tip_y_over_L"].get<double>(), 0);
    visit(s, exact);
    return (s.tip() - exact).norm();
  });
}

double a3(int n, Recipe recipe, const Visit& visit) {
  return worst(reference("A3_cantilever_force_plus_moment.json"), [&](const nlohmann::json& r) {
    auto b = unit_cantilever(n, recipe);
    b.load(1, {r["Fx"].get<double>(), r["Fy"].get<double>(), 0}, {0, 0, r["M_tip"].get<double>()});
    const Solved s = solve(b.builder.build());
    EXPECT_TRUE(s.report.report.ok()) << s.report.report.message;
    const Vec3 exact(r["tip_x"].get<double>(), r["tip_y"].get<double>(), 0);
    visit(s, exact);
    return (s.tip() - exact).norm();
  });
}

double a8(int n, Recipe recipe, const Visit& visit) {
  return worst(reference("A8_cantilever_self_weight.json"), [&](const nlohmann::json& r) {
    auto b = unit_cantilever(n, recipe);
    DistributedLoad load;
    load.name = "weight", load.beam = b.beam;
    load.force_per_length = VectorFunction::constant({0, -r["gammaL3_over_EI"].get<double>(), 0});
    b.builder.add(load);
    const Solved s = solve(b.builder.build());
    EXPECT_TRUE(s.report.stable()) << s.report.report.message;
    const Vec3 exact(r["tip_x"].get<double>(), r["tip_y"].get<double>(), 0);
    visit(s, exact);
    double most = (s.tip() - exact).norm();
    // And along the rod, where the file's stations are nodes.
    const auto& at = r["centreline_s"];
    const std::size_t points = s.shot.points.size() - 1;
    for (std::size_t i = 0; i < at.size(); ++i) {
      const double k = at[i].get<double>() * static_cast<double>(points);
      if (std::abs(k - std::round(k)) > 1e-9) continue;
      if (points != static_cast<std::size_t>(n) && static_cast<int>(std::lround(k)) % 2)
        continue;  // not a node
      const Vec3 x(r["centreline_xy"][i][0].get<double>(), r["centreline_xy"][i][1].get<double>(), 0);
      most = std::max(most, (s.shot.points[static_cast<std::size_t>(std::lround(k))] - x).norm());
    }
    return most;
  });
}

double a4(int n, Recipe recipe, const Visit& visit) {
  const auto file = reference("A4_bathe_45deg_bend.json");
  double most = 0;
  for (const auto& [P, r] : file["reference"]["kirchhoff_inextensible_J_StVenant"].items()) {
    ArcPath arc;
    arc.direction = Vec3::UnitY(), arc.towards = Vec3::UnitX(), arc.radius = 100, arc.angle = pi / 4;
    OneBeam b(arc, 1e7, 5e6, Rectangle{1, 1}, n, recipe);
    b.load(1, {0, 0, std::stod(P)});
    const Solved s = solve(b.builder.build());
    EXPECT_TRUE(s.report.stable()) << s.report.report.message;
    visit(s, to_vec3(r["tip"]));
    most = std::max(most, (s.tip() - to_vec3(r["tip"])).norm() / (100 * pi / 4));
  }
  return most;
}

OneBeam helix(int n, Recipe recipe) {
  HelixPath path;
  path.radius = 0.01, path.pitch = 0.006, path.turns = 4;
  return OneBeam(path, 200e9, 200e9 / 2.6, Circle{0.001}, n, recipe);
}

double a7_free(int n, Recipe recipe, const Visit& visit) {
  const auto file = reference("A7_helix_spring.json");
  double most = 0;
  for (const auto& [F, r] : file["reference"]["free_tip"].items()) {
    auto b = helix(n, recipe);
    b.load(1, {0, 0, std::stod(F)});
    const Solved s = solve(b.builder.build());
    EXPECT_TRUE(s.report.stable()) << s.report.report.message;
    visit(s, to_vec3(r["tip"]));
    most = std::max(most, (s.tip() - to_vec3(r["tip"])).norm() / 0.25247072734670034);
  }
  return most;
}

double a7_guided(int n, Recipe recipe, const Visit& visit) {
  const auto file = reference("A7_helix_spring.json");
  double most = 0;
  for (const auto& [F, r] : file["reference"]["guided"].items()) {
    auto b = helix(n, recipe);
    b.load(1, {0, 0, std::stod(F)});
    Tie guide;
    guide.name = "guide", guide.kind = JointKind::prismatic, guide.on = b.at(1);
    b.builder.add(guide);
    const Solved s = solve(b.builder.build());
    EXPECT_TRUE(s.report.stable()) << s.report.report.message;
    EXPECT_LT(s.report.gap, 1e-11);
    visit(s, to_vec3(r["tip"]));
    most = std::max(most, (s.tip() - to_vec3(r["tip"])).norm() / 0.25247072734670034);
  }
  return most;
}

// Error at every station of the file that is a node, of the length; both loads.
double a5_error(int n, Recipe recipe, const Visit& visit = unseen) {
  double most = 0;
  const auto file = reference("A5_lateral_torsional_buckling.json");
  for (const auto& r : file["reference"]) {
    const Solved s = solve(a5(n, recipe, r["P_down_lbf"].get<double>(), r["P_lateral_lbf"].get<double>()));
    EXPECT_TRUE(s.report.stable()) << s.report.report.message;
    visit(s, to_vec3(r["tip_position_in"]));
    const auto& at = r["stations_s_in"];
    const auto& x = r["centreline_in"];
    const double step = 100.0 / n;
    const std::size_t each = (s.shot.points.size() - 1) / static_cast<std::size_t>(n);
    for (std::size_t i = 0; i < at.size(); ++i) {
      const double k = at[i].get<double>() / step;
      if (std::abs(k - std::round(k)) > 1e-9) continue;
      most = std::max(
          most,
          (s.shot.points[each * static_cast<std::size_t>(std::lround(k))] - to_vec3(x[i])).norm() / 100);
    }
  }
  return most;
}

struct Case {
  const char* name;
  double (*error)(int, Recipe, const Visit&);
  int coarse;
};
const Case cases[] = {{"A1", a1, 20},       {"A2", a2, 20},
                      {"A3", a3, 20},       {"A4", a4, 20},
                      {"A5", a5_error, 20}, {"A7 free", a7_free, 100},
                      {"A8", a8, 20},       {"A7 guided", a7_guided, 100}};

TEST(ChainReference, ConsistentRecipesConvergeAtSecondOrder) {
  for (const Case& c : cases)
    for (const Recipe recipe : {Recipe::consistent_3r, Recipe::consistent_1r}) {
      const double coarse = c.error(c.coarse, recipe, unseen), fine = c.error(2 * c.coarse, recipe, unseen);
      // Second order: a ratio of 4; 3.5 leaves room for the next order at these sizes, 2 would be first
      // order.
      EXPECT_GT(coarse / fine, 3.5) << c.name << " recipe " << static_cast<int>(recipe) << " " << coarse;
      EXPECT_LT(coarse / fine, 4.6) << c.name << " recipe " << static_cast<int>(recipe) << " " << coarse;
      std::printf("%-10s %s  n = %d: %.2e  2n: %.2e  ratio %.2f\n", c.name,
                  recipe == Recipe::consistent_3r ? "3R" : "1R", c.coarse, coarse, fine, coarse / fine);
    }
}

TEST(ChainReference, LateralBucklingWithinTheAskedError) {
  // Asked: 0.15 % with 10 elements, 0.01 % with 40, everywhere.
  const double ten = a5_error(10, Recipe::consistent_3r), forty = a5_error(40, Recipe::consistent_3r);
  std::printf("A5 3R consistent: 10 elements %.2e, 40 elements %.2e of the length\n", ten, forty);
  EXPECT_LT(ten, 1.5e-3);
  EXPECT_LT(forty, 1e-4);
}

TEST(ChainReference, PublishedRecipesShowTheirFirstOrder) {
  const double coarse = a5_error(20, Recipe::published_3r), fine = a5_error(40, Recipe::published_3r);
  EXPECT_GT(coarse / fine, 1.7) << coarse;  // a ratio of 2
  EXPECT_LT(coarse / fine, 2.3) << coarse;
  // The published 1R by its sweeps: first order as well.
  const auto r = reference("A5_lateral_torsional_buckling.json")["reference"][0];
  const auto sweep = [&](int n) {
    const auto m = chain::elements_of(
        a5(n, Recipe::published_1r, r["P_down_lbf"].get<double>(), r["P_lateral_lbf"].get<double>()));
    chain::Sweeper s(m.elements);
    EXPECT_TRUE(s.solve({}).converged);
    return (s.tip(m.tips[0]) - to_vec3(r["tip_position_in"])).norm() / 100;
  };
  const double one = sweep(40), two = sweep(80);
  std::printf("A5 published: 3R %.2e, %.2e; 1R %.2e, %.2e\n", coarse, fine, one, two);
  EXPECT_GT(one / two, 1.7);
  EXPECT_LT(one / two, 2.3);
}

TEST(ChainReference, TheErrorEstimateHolds) {
  // Never smaller than the true error by more than a factor 3 (asked), and not idle either.
  for (const Case& c : cases)
    for (const Recipe recipe : {Recipe::consistent_3r, Recipe::consistent_1r, Recipe::published_3r})
      for (const int n : {c.coarse / 2, c.coarse}) {
        double least = 1e9, most = 0;
        c.error(n, recipe, [&](const Solved& s, const Vec3& exact) {
          const auto e = chain::estimate_error(s.system, s.rest, {});
          ASSERT_TRUE(e.ok);
          const double ratio = e.tip * s.system.structure().size / (s.tip() - exact).norm();
          least = std::min(least, ratio), most = std::max(most, ratio);
        });
        EXPECT_GT(least, 1.0 / 3) << c.name << " n = " << n << " recipe " << static_cast<int>(recipe);
        EXPECT_LT(most, 3) << c.name << " n = " << n << " recipe " << static_cast<int>(recipe);
        std::printf("%-10s recipe %d n = %3d: estimate over error %.2f to %.2f\n", c.name,
                    static_cast<int>(recipe), n, least, most);
      }
}

TEST(ChainReference, TheErrorEstimateHoldsOnCoarseMeshes) {
  // One to four elements: never smaller than the true error by more than a third, nor twice as large.
  for (const Case& c : cases) {
    if (std::string(c.name) != "A4" && std::string(c.name) != "A5") continue;
    for (const int n : {1, 2, 4})
      c.error(n, Recipe::consistent_3r, [&](const Solved& s, const Vec3& exact) {
        const auto e = chain::estimate_error(s.system, s.rest, {});
        ASSERT_TRUE(e.ok);
        const double ratio = e.tip * s.system.structure().size / (s.tip() - exact).norm();
        EXPECT_GT(ratio, 2.0 / 3) << c.name << " n = " << n;
        EXPECT_LT(ratio, 2) << c.name << " n = " << n;
      });
  }
}

TEST(ChainReference, AColumnBucklesAtItsLoads) {
  // Clamped and free: π²EI/4L² under an end load; (9/4) j² EI/L³ under its own weight (A8).
  auto b = unit_cantilever(40, Recipe::consistent_3r);
  b.builder.parts.beams[0].path = PolylinePath{{{0, 0, 0}, {0, 0, 1}}};
  b.builder.parts.beams[0].up = Vec3::UnitX();
  b.builder.parts.sections[0].shape = Rectangle{1, 0.5};  // one direction weaker: a simple bifurcation
  const double EI = 12 * 1 * 0.125 / 12;
  auto heavy = b;
  b.load(1, {0, 0, -10 * EI});
  Solved s = solve(b.builder.build());
  ASSERT_TRUE(s.report.report.ok());
  ASSERT_FALSE(s.report.lost.empty());
  EXPECT_EQ(s.report.lost[0].negative, 1);
  EXPECT_FALSE(s.report.lost[0].limit);
  // 40 elements: second order, 1.3e-5.
  EXPECT_NEAR(s.report.lost[0].factor * 10, pi * pi / 4, 5e-5);

  DistributedLoad load;
  load.name = "weight", load.beam = heavy.beam;
  load.force_per_length = VectorFunction::constant({0, 0, -20 * EI});
  heavy.builder.add(load);
  s = solve(heavy.builder.build());
  ASSERT_FALSE(s.report.lost.empty());
  EXPECT_NEAR(s.report.lost[0].factor * 20,
              reference("A8_cantilever_self_weight.json")["heavy_column"]["value"].get<double>(), 1e-3);
}

TEST(ChainReference, BothBranchesOfABuckledColumn) {
  auto b = unit_cantilever(20, Recipe::consistent_3r);
  b.builder.parts.sections[0].shape = Rectangle{0.5, 1};  // soft about z: bends in y
  const double EI = 0.125 * 1;
  b.load(1, {-2 * pi * pi / 4 * EI * 12 / 12, 0, 0});
  Vec3 tips[2];
  for (const int branch : {-1, 1}) {
    const chain::System system = chain::compile(b.builder.build());
    chain::Solver solver(system.structure());
    chain::Rest rest = system.rest();
    chain::PathOptions path;
    path.branching = chain::Branching::first, path.side = branch;
    const auto report = chain::follow(solver, rest, path, nullptr);
    ASSERT_TRUE(report.reached) << report.message;
    solver.evaluate(rest, true);
    EXPECT_EQ(solver.tangent().negative(), 0);
    result::Snapshot shot;
    chain::observe(system, solver, rest, shot);
    tips[branch < 0 ? 0 : 1] = shot.points.back();
  }
  EXPECT_NEAR(tips[0].y(), -tips[1].y(), 1e-8);
  EXPECT_NEAR(tips[0].x(), tips[1].x(), 1e-8);
  // The elastica under twice its critical load, elliptic integrals: K(k) = √2 π/2, x/L = 2 E/K − 1,
  // y/L = 2 k / (K √…): k = 0.83889, tip at (0.01775…, 0.79…) — checked by the file A1's own solver is not
  // possible for an axial load, so by the closed form below.
  const double K = std::sqrt(2.0) * pi / 2;
  double low = 0.1, high = 0.999;
  const auto integrals = [](double k) {
    double first = 0, second = 0;
    const int n = 2000;
    for (int i = 0; i < n; ++i) {  // the midpoint rule is spectral for these periodic integrands
      const double x = (i + 0.5) * pi / 2 / n, d = std::sqrt(1 - k * k * std::sin(x) * std::sin(x));
      first += pi / 2 / n / d, second += pi / 2 / n * d;
    }
    return std::pair(first, second);
  };
  for (int i = 0; i < 80; ++i) ((integrals(0.5 * (low + high)).first < K) ? low : high) = 0.5 * (low + high);
  const double k = 0.5 * (low + high), E = integrals(k).second;
  // 20 elements: second order, the error of A1 at this bend is 2e-4.
  EXPECT_NEAR(tips[1].x(), 2 * E / K - 1, 1e-3);
  EXPECT_NEAR(std::abs(tips[1].y()), 2 * k / K, 1e-3);
}

// A trunk of 1 m and, from its tip, a branch of 1 m across, EI = 1, in a plane, a force on the branch's tip:
// the exact rods by shooting for the root's moment (Runge–Kutta of fourth order, 2,000 steps a rod).
Vec3 exact_branch(const Vec3& F) {
  Vec3 x;
  const auto miss = [&](double root) {
    double theta = 0, M = root;
    x.setZero();
    for (int rod = 0; rod < 2; ++rod) {
      const int n = 2000;
      const double h = 1.0 / n;
      struct Rate {
        double theta, M, x, y;
      };
      const auto rate = [&](double t, double m) {
        // M(s) = (x_tip − x) × F: its derivative is −(cos, sin) × F.
        return Rate{m, -(std::cos(t) * F.y() - std::sin(t) * F.x()), std::cos(t), std::sin(t)};
      };
      for (int i = 0; i < n; ++i) {
        const Rate a = rate(theta, M), b = rate(theta + h / 2 * a.theta, M + h / 2 * a.M),
                   c = rate(theta + h / 2 * b.theta, M + h / 2 * b.M),
                   d = rate(theta + h * c.theta, M + h * c.M);
        theta += h / 6 * (a.theta + 2 * b.theta + 2 * c.theta + d.theta);
        M += h / 6 * (a.M + 2 * b.M + 2 * c.M + d.M);
        x.x() += h / 6 * (a.x + 2 * b.x + 2 * c.x + d.x);
        x.y() += h / 6 * (a.y + 2 * b.y + 2 * c.y + d.y);
      }
      if (rod == 0) theta += pi / 2;
    }
    return M;
  };
  double a = 0, b = 0.1, fa = miss(a), fb = miss(b);
  for (int i = 0; i < 60 && std::abs(fb) > 1e-13; ++i) {
    const double next = b - fb * (b - a) / (fb - fa);
    a = b, fa = fb, b = next, fb = miss(b);
  }
  return x;
}

TEST(ChainReference, ABranchLikeTheExactRods) {
  const Vec3 F(0.4, -0.7, 0);
  const Vec3 exact = exact_branch(F);
  double last = 0;
  for (const int n : {5, 10, 20}) {
    auto b = unit_cantilever(n, Recipe::consistent_3r);
    Beam branch = b.builder.parts.beams[0];
    branch.name = "branch", branch.from = b.at(1);
    branch.path = PolylinePath{{{0, 0, 0}, {0, 1, 0}}};
    PointLoad l;
    l.name = "push", l.at.beam = b.builder.add(branch), l.at.s = 1, l.force = VectorFunction::constant(F);
    b.builder.add(l);
    const Solved s = solve(b.builder.build());
    ASSERT_TRUE(s.report.stable());
    const double error = (s.tip() - exact).norm();
    EXPECT_LT(error, 3e-3 * 25 / (n * n)) << n;  // second order from 3e-3 at n = 5
    if (last > 0) {
      EXPECT_NEAR(last / error, 4, 0.3) << n;
    }
    last = error;
  }
  std::printf("branch: %.1e of a rod's length with 20 elements\n", last);
}

}  // namespace
}  // namespace limber::chain_test
