// What follows from a rest: the unloaded shape, stress, and histories of creep, fatigue, breaking and growth.
#include "limber/chain/history.h"

#include <gtest/gtest.h>

#include "limber/chain/inverse.h"
#include "limber/chain/stress.h"
#include "tests/chain/models.h"

namespace limber::chain_test {
namespace {

// --- unloaded shapes

TEST(Chain, TheUnloadedShapeComesBackUnderLoad) {
  std::mt19937 random(4);
  const Model model = random_tree(random, 100, 20, Recipe::consistent_3r, 0.01, 0.1);  // 2,000 elements
  chain::System system = chain::compile(model);
  chain::Solver given(system.structure());
  result::Snapshot wanted, back, guess;
  chain::observe(system, given, system.rest(), wanted);
  // The published guess: the load run backwards.
  chain::Rest opposite = system.rest();
  ASSERT_TRUE(chain::opposite_load(given, opposite).report.ok());
  chain::observe(system, given, opposite, guess);
  system.structure() = chain::unloaded(system.structure());
  chain::Solver solver(system.structure());
  chain::Rest rest = system.rest();
  result::Snapshot unloaded;
  chain::observe(system, solver, rest, unloaded);
  ASSERT_TRUE(solver.solve(rest, 1).report.ok());
  chain::observe(system, solver, rest, back);
  double off = 0, moved = 0, guessed = 0;
  for (std::size_t i = 0; i < wanted.points.size(); ++i) {
    off = std::max(off, (wanted.points[i] - back.points[i]).norm());
    moved = std::max(moved, (wanted.points[i] - unloaded.points[i]).norm());
    guessed = std::max(guessed, (guess.points[i] - unloaded.points[i]).norm());
  }
  const double size = system.structure().size;
  std::printf("inverse: off by %.1e of the size; it moved by %.3f, the opposite load misses by %.1e\n",
              off / size, moved / size, guessed / size);
  EXPECT_LT(off / size, 1e-8);  // asked
  EXPECT_GT(moved / size, 0.01);
  EXPECT_LT(guessed, moved);
}

// --- stress

TEST(Chain, StressesOfSections) {
  const auto circle = elastic::section_constants(Circle{0.01});
  auto s = chain::section_stress(Circle{0.01}, circle, 100, 2, 3, 4);
  const double I = pi * 1e-8 / 4;
  EXPECT_NEAR(s.bending / (5 * 0.01 / I), 1, 1e-12);
  EXPECT_NEAR(s.torsion / (2 * 0.01 / (2 * I)), 1, 1e-12);
  EXPECT_NEAR(s.combined / std::sqrt(std::pow(s.bending + s.axial, 2) + 3 * s.torsion * s.torsion), 1, 1e-12);
  // Square: τ = T / (0.2082 a³) (Timoshenko and Goodier, table of section 109).
  const auto square = elastic::section_constants(Rectangle{0.02, 0.02});
  s = chain::section_stress(Rectangle{0.02, 0.02}, square, 0, 5, 0, 0);
  EXPECT_NEAR(s.torsion * 0.2082 * 8e-6 / 5, 1, 1e-3);
  // A strip of 1 : 10: τ = T / (0.312 · a b²).
  const auto strip = elastic::section_constants(Rectangle{0.002, 0.02});
  s = chain::section_stress(Rectangle{0.002, 0.02}, strip, 0, 1, 0, 0);
  EXPECT_NEAR(s.torsion * 0.312 * 0.02 * 4e-6, 1, 3e-3);
  // Corner of a rectangle under both bends.
  s = chain::section_stress(Rectangle{0.01, 0.03}, elastic::section_constants(Rectangle{0.01, 0.03}), 0, 0, 2,
                            1);
  EXPECT_NEAR(s.combined, 2 / (0.01 * 9e-4 / 6) + 1 / (0.03 * 1e-4 / 6), 1e-3);
}

TEST(Chain, StressAtTheRootOfACantilever) {
  auto b = unit_cantilever(20, Recipe::consistent_3r);
  b.builder.parts.materials[0].yield = 5e-3;
  b.load(1, {0, 0, -1e-3});
  const Solved s = solve(b.builder.build());
  chain::Solver solver(s.system.structure());
  const auto stations = chain::stresses(s.system, solver, s.rest);
  EXPECT_EQ(stations[0].s, 0);
  EXPECT_NEAR(stations[0].stress.combined, 6e-3, 1e-6);  // 6 F L / (w h²)
  EXPECT_TRUE(stations[0].yields);
  EXPECT_FALSE(stations.back().yields);
  EXPECT_NEAR(stations[0].safety, 5.0 / 6, 1e-3);
}

TEST(Chain, ElementsOutOfTheirRangeAreNamed) {
  auto b = unit_cantilever(2, Recipe::consistent_3r);
  b.load(1, Vec3::Zero(), {0, 0, 4});
  Solved s = solve(b.builder.build());
  chain::Solver solver(s.system.structure());
  EXPECT_EQ(chain::out_of_range(s.system, chain::stresses(s.system, solver, s.rest), s.rest).size(), 2u);
  auto p = unit_cantilever(1, Recipe::published_3r);
  p.load(1, {0, 4, 0}, {0, 0, -2});  // inflection inside
  s = solve(p.builder.build());
  chain::Solver other(s.system.structure());
  const auto w = chain::out_of_range(s.system, chain::stresses(s.system, other, s.rest), s.rest);
  ASSERT_EQ(w.size(), 1u);
  EXPECT_NE(w[0].why.find("inflection"), std::string::npos);
}

// --- histories

TEST(Chain, CreepGrowsAtItsRate) {
  auto b = unit_cantilever(10, Recipe::consistent_3r);
  b.builder.parts.materials[0].creep = {0.01, 1, 0};  // a hundredth of the bend a second, whatever the stress
  b.load(1, {0, 0, -1e-4});
  chain::History h(b.builder.build());
  result::Snapshot shot;
  const auto tip = [&] {
    chain::observe(h.system(), h.solver(), h.rest(), shot);
    return shot.points.back().z();
  };
  ASSERT_TRUE(h.advance_to(0).report.ok());
  const double first = tip();
  for (int i = 1; i <= 50; ++i) ASSERT_TRUE(h.advance_to(i).report.ok());
  // The elastic bend stays, a hundredth of it is added every second.
  EXPECT_NEAR(tip() / first, 1.5, 1e-6);
}

TEST(Chain, FatigueSoftens) {
  auto b = unit_cantilever(10, Recipe::consistent_3r);
  b.builder.parts.materials[0].fatigue = {0.01, 1, 0};
  b.load(1, {0, 0, -1e-4});
  chain::History h(b.builder.build());
  result::Snapshot shot;
  ASSERT_TRUE(h.advance_to(0).report.ok());
  chain::observe(h.system(), h.solver(), h.rest(), shot);
  const double first = shot.points.back().z();
  for (int i = 1; i <= 20; ++i) ASSERT_TRUE(h.advance_to(i).report.ok());
  chain::observe(h.system(), h.solver(), h.rest(), shot);
  EXPECT_NEAR(shot.points.back().z() / first, std::pow(0.99, -20), 1e-6);
}

TEST(Chain, ABranchBreaksAndTheRestGoesOn) {
  auto b = unit_cantilever(10, Recipe::consistent_3r);
  b.builder.parts.materials[0].density = 1e-9;
  Material weak = b.builder.parts.materials[0];
  weak.name = "weak", weak.strength = 6e-4;
  Beam branch = b.builder.parts.beams[0];
  branch.name = "branch", branch.material = b.builder.add(weak);
  branch.from = b.at(0.5);
  branch.path = PolylinePath{{{0, 0, 0}, {0, 1, 0}}};
  const BeamId id = b.builder.add(branch);
  PointLoad l;
  l.name = "push", l.at.beam = id, l.at.s = 1;
  l.force.c[2] = TimeFunction::table({0, 10}, {0, -2e-4});
  b.builder.add(l);
  chain::History h(b.builder.build());
  for (int i = 0; i <= 10; ++i) ASSERT_TRUE(h.advance_to(i).report.ok());
  ASSERT_EQ(h.severed().size(), 1u);
  EXPECT_EQ(h.severed()[0].beam, "branch");
  // 6 F L / (w h²) passes 6e-4 at F = 1e-4: half way. The lever is shorter by 1e-9 then; the stem twists.
  EXPECT_NEAR(h.severed()[0].time, 5, 1e-3);
  EXPECT_EQ(h.severed()[0].s, 0);
  EXPECT_EQ(h.severed()[0].structure.links.count(), 30);
  // Nothing hangs on the stem any more.
  result::Snapshot shot;
  chain::observe(h.system(), h.solver(), h.rest(), shot);
  EXPECT_LT(std::abs(shot.points[20].z()), 1e-9);
}

TEST(Chain, GrowthCutAndChangeOfMaterial) {
  auto b = unit_cantilever(10, Recipe::consistent_3r);
  Material soft = b.builder.parts.materials[0];
  soft.name = "soft", soft.E *= 0.5, soft.G *= 0.5;
  const MaterialId half = b.builder.add(soft);
  b.load(1, {0, 0, -1e-4});
  Beam shoot = b.builder.parts.beams[0];
  shoot.name = "shoot", shoot.from = b.at(1);
  shoot.path = PolylinePath{{{0, 0, 0}, {1, 0, 0}}};
  const BeamId id = b.builder.add(shoot);
  PointLoad l;
  l.name = "leaf", l.at.beam = id, l.at.s = 1, l.force = VectorFunction::constant({0, 0, -1e-5});
  b.builder.add(l);
  Change change;
  change.at = 1, change.kind = Change::Kind::material, change.beam = b.beam, change.material = half;
  b.builder.add(change);
  change = {};
  change.at = 2, change.kind = Change::Kind::grow, change.beam = id;
  b.builder.add(change);
  change.at = 3, change.kind = Change::Kind::cut, change.s = 0;
  b.builder.add(change);
  chain::History h(b.builder.build());
  std::vector<double> tip;
  result::Snapshot shot;
  for (int i = 0; i <= 3; ++i) {
    ASSERT_TRUE(h.advance_to(i).report.ok());
    chain::observe(h.system(), h.solver(), h.rest(), shot);
    tip.push_back(shot.points[20].z());
  }
  EXPECT_NEAR(tip[1] / tip[0], 2, 1e-6);
  // The leaf's force and its moment 1e-5 · 1 m on a cantilever of half the stiffness: F/3 + M/2.
  EXPECT_NEAR((tip[2] - tip[1]) / (-2 * (1e-5 / 3 + 1e-5 / 2)), 1, 2e-3);
  EXPECT_NEAR(tip[3] / tip[1], 1, 1e-9);
  ASSERT_EQ(h.severed().size(), 1u);
  EXPECT_EQ(h.severed()[0].structure.links.count(), 30);
}

// Two cantilevers beside each other, the second of its own material.
struct TwoBeams {
  OneBeam first = unit_cantilever(10, Recipe::consistent_3r);
  BeamId second;
  MaterialId stiff;
  TwoBeams() {
    Material m = first.builder.parts.materials[0];
    m.name = "own";
    const MaterialId own = first.builder.add(m);
    m.name = "stiff", m.E *= 2, m.G *= 2;
    stiff = first.builder.add(m);
    Beam b = first.builder.parts.beams[0];
    b.name = "second", b.material = own, b.path = PolylinePath{{{0, 5, 0}, {1, 5, 0}}};
    second = first.builder.add(b);
  }
};

TEST(Chain, FatigueOutlivesAChangeOfAnotherBeam) {
  double tip[2] = {};
  for (const bool change : {false, true}) {
    TwoBeams two;
    two.first.builder.parts.materials[0].fatigue = {0.05, 1, 0};
    two.first.load(1, {0, 0, -1e-4});
    if (change) {
      Change c;
      c.at = 2, c.kind = Change::Kind::material, c.beam = two.second, c.material = two.stiff;
      two.first.builder.add(c);
    }
    chain::History h(two.first.builder.build());
    for (int i = 0; i <= 4; ++i) ASSERT_TRUE(h.advance_to(i).report.ok());
    result::Snapshot shot;
    chain::observe(h.system(), h.solver(), h.rest(), shot);
    tip[change] = shot.points[10].z();
  }
  EXPECT_NEAR(tip[1] / tip[0], 1, 1e-9);
}

TEST(Chain, TiesKeepTheirPlacesAfterACut) {
  TwoBeams two;
  Tie tie;  // free along the beams, which do not stretch; y of the joint is the world's
  tie.name = "of the first", tie.on = two.first.at(1), tie.kind = JointKind::prismatic,
  tie.axis = Vec3::UnitX();
  two.first.builder.add(tie);
  tie.name = "of the second", tie.on.beam = two.second;
  tie.shift = VectorFunction{{TimeFunction(0.0), TimeFunction::table({0, 2}, {0, 0.02}), TimeFunction(0.0)}};
  two.first.builder.add(tie);
  Change c;
  c.at = 1, c.kind = Change::Kind::cut, c.beam = two.first.beam, c.s = 0.3;
  two.first.builder.add(c);
  chain::History h(two.first.builder.build());
  result::Snapshot shot;
  for (int i = 0; i <= 2; ++i) {
    const auto report = h.advance_to(i).report;
    ASSERT_TRUE(report.ok()) << report.message;
    chain::observe(h.system(), h.solver(), h.rest(), shot);
    EXPECT_NEAR(shot.points.back().y(), 5 + 0.01 * i, 1e-9);
  }
}

TEST(Chain, ATieHoldsABeamFromItsGrowthOn) {
  TwoBeams two;
  Tie tie;
  tie.name = "stake", tie.on.beam = two.second, tie.on.s = 1;
  tie.kind = JointKind::prismatic, tie.axis = Vec3::UnitX();
  two.first.builder.add(tie);
  PointLoad l;
  l.name = "wind", l.at.beam = two.second, l.at.s = 0.5;
  l.force = VectorFunction{{TimeFunction(0.0), TimeFunction::table({1, 2}, {0, 0.01}), TimeFunction(0.0)}};
  two.first.builder.add(l);
  Change c;
  c.at = 1, c.kind = Change::Kind::grow, c.beam = two.second;
  two.first.builder.add(c);
  chain::History h(two.first.builder.build());
  result::Snapshot shot;
  for (int i = 0; i <= 2; ++i) {
    const auto report = h.advance_to(i).report;
    ASSERT_TRUE(report.ok()) << report.message;
  }
  chain::observe(h.system(), h.solver(), h.rest(), shot);
  EXPECT_NEAR(shot.points.back().y(), 5, 1e-9);
}

}  // namespace
}  // namespace limber::chain_test
