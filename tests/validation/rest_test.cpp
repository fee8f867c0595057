// Rests at bounds, under servos that are too weak, and under loads without a potential: closed forms, the
// same mechanism cut elsewhere, and the statics of chains.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "limber/articulated/statics.h"
#include "limber/chain/chain.h"
#include "limber/math/so3.h"
#include "limber/scene/scene.h"
#include "limber/sim/compare.h"

namespace limber::articulated {
namespace {

struct Rest {
  System system;
  State state;
  StaticResult result;
  result::Snapshot shot;
};

Rest rest_of(const std::string& text) {
  const scene::Scene scene = scene::parse("limber: 1\n" + text, "test.yaml");
  System system = compile(scene.model);
  State state = system.rest();
  Workspace w(system);
  StaticResult r = solve_static(system, state, w);
  EXPECT_TRUE(r.report.ok()) << r.report.message;
  result::Snapshot shot;
  observe(system, state, w, shot);
  return {std::move(system), std::move(state), std::move(r), std::move(shot)};
}

result::Snapshot by_chain(const std::string& text) {
  const scene::Scene scene = scene::parse(text, "test.yaml");
  const chain::System system = chain::compile(scene.model);
  chain::Solver solver(system.structure());
  chain::Rest rest = system.rest();
  EXPECT_TRUE(solver.solve(rest, 1).report.ok());
  result::Snapshot shot;
  chain::observe(system, solver, rest, shot);
  return shot;
}

const std::string bar = "gravity: [0, 0, -10]\nbodies: {a: {box: [1, 0.1, 0.1], mass: 2, at: [0.5, 0, 0]}}\n";

// A four-bar of space with a slide on it, its lengths times L and its torques times L²: the same mechanism,
// in another unit of length. From a millimetre's thousandth to a kilometre.
TEST(RestOfAnySize, ALoopOfMicrometresRestsAsOneOfMetres) {
  const auto at_size = [](double L) {
    const auto at = [&](double x, double y, double z) {
      return fmt::format("[{}, {}, {}]", x * L, y * L, z * L);
    };
    const double turn = L * L;
    return rest_of(fmt::format(
        "gravity: [0, 0, {}]\n"
        "bodies: {{a: {{mass: 1, sphere: {}}}, b: {{mass: 2, sphere: {}}}, c: {{mass: 0.9, sphere: {}}}, "
        "d: {{mass: 0.6, sphere: {}}}}}\n"
        "joints:\n"
        "  one: {{type: revolute, child: a, at: {}, axis: [0.1, -0.4, 0.9], stiffness: {}, rest: -0.2}}\n"
        "  two: {{type: universal, parent: a, child: b, at: {}, axis: [0, -0.8, -0.6], "
        "axis2: [1, 0, 0]}}\n"
        "  three: {{type: spherical, parent: b, child: c, at: {}}}\n"
        "  four: {{type: prismatic, parent: c, child: d, at: {}, axis: [0, 1, 0], stiffness: 3000}}\n"
        "loops: {{close: {{type: revolute, a: c, b: world, at: {}, axis: [-0.8, 0.43, -0.42]}}}}\n",
        -5 * L, 0.02 * L, 0.03 * L, 0.03 * L, 0.02 * L, at(-0.03, -0.02, -0.02), 20 * turn,
        at(-0.01, 0.03, 0.22), at(0.3, 0.13, 0.27), at(0.3, 0.05, 0.15), at(0.3, -0.03, 0.02)));
  };
  const Rest metres = at_size(1);
  ASSERT_EQ(metres.result.modes.size(), 2u);
  for (const double L : {0x1p-20, 0x1p-10, 0x1p-4, 0x1p10}) {
    const Rest other = at_size(L);
    ASSERT_EQ(other.result.modes.size(), 2u) << L;
    for (int k = 0; k < 2; ++k) {
      const double wanted = metres.result.modes[k].eigenvalue;
      // Lengths are written in decimals: 1e-16 of them, times what the loop makes of it.
      EXPECT_NEAR(other.result.modes[k].eigenvalue, wanted, 1e-10 * wanted) << L;
      EXPECT_EQ(other.result.modes[k].moves, metres.result.modes[k].moves) << L;
    }
    for (std::size_t i = 0; i < 4; ++i)
      EXPECT_LT((other.shot.positions[i] / L - metres.shot.positions[i]).norm(), 1e-10) << L;
  }
}

TEST(RestAtAStop, APendulumLiesOnItsStop) {
  const Rest r = rest_of(
      bar + "joints: {j: {type: revolute, child: a, at: [0, 0, 0], axis: [0, 1, 0], limits: [-1, 0.5]}}\n");
  EXPECT_DOUBLE_EQ(r.state.q[0], 0.5);
  ASSERT_EQ(r.result.stops.size(), 1u);
  EXPECT_EQ(r.result.stops[0].joint, "j");
  EXPECT_NEAR(r.result.stops[0].force, -2 * 10 * 0.5 * std::cos(0.5), 1e-12);  // rounding of 10 N·m
  EXPECT_TRUE(r.result.stable());
}

TEST(RestAtAStop, ABallJointLeansOnItsCone) {
  const Rest r = rest_of(bar + "joints: {j: {type: spherical, child: a, at: [0, 0, 0], limits: 0.4}}\n");
  // The end hangs 0.4 rad below the horizontal.
  EXPECT_NEAR((r.shot.positions[0] - Vec3(0.5 * std::cos(0.4), 0, -0.5 * std::sin(0.4))).norm(), 0, 1e-9);
  ASSERT_EQ(r.result.stops.size(), 1u);
  EXPECT_NEAR(r.result.stops[0].force, -10 * std::cos(0.4), 1e-8);
}

TEST(RestAtAStop, AStopThatWouldPullIsLetGo) {
  // From 1.2 rad the first step of Newton goes to 1.59, past the bound; the rest is at π/2, short of it.
  const Rest r = rest_of(bar +
                         "joints: {j: {type: revolute, child: a, at: [0, 0, 0], axis: [0, 1, 0], limits: "
                         "[-1, 1.58], position: 1.2}}\n");
  EXPECT_NEAR(r.state.q[0], pi / 2, 1e-12);
  EXPECT_TRUE(r.result.stops.empty());
}

TEST(RestAtAStop, AClosingJointStopsAsATreeJointDoes) {
  // A four-bar whose bound stands on the closing hinge, and the same one opened at another hinge.
  const std::string bodies =
      "gravity: [0, 0, -10]\n"
      "bodies:\n"
      "  crank: {box: [0.1, 0.1, 1], mass: 1, at: [0, 0, 0.5]}\n"
      "  coupler: {box: [2, 0.1, 0.1], mass: 2, at: [1, 0, 1]}\n"
      "  rocker: {box: [0.1, 0.1, 1], mass: 1.5, at: [2, 0, 0.5]}\n"
      "loads: {push: {on: coupler, force: [5, 0, 0]}}\n";
  const std::string at = "axis: [0, 1, 0], at: ";
  const Rest one = rest_of(bodies +
                           "joints:\n"
                           "  o: {type: revolute, child: crank, " +
                           at +
                           "[0, 0, 0]}\n"
                           "  p: {type: revolute, parent: crank, child: coupler, " +
                           at +
                           "[0, 0, 1]}\n"
                           "  q: {type: revolute, parent: coupler, child: rocker, " +
                           at +
                           "[2, 0, 1]}\n"
                           "loops: {d: {type: revolute, a: world, b: rocker, " +
                           at + "[2, 0, 0], limits: [-0.7, 0.7]}}\n");
  const Rest two = rest_of(bodies +
                           "joints:\n"
                           "  d: {type: revolute, child: rocker, " +
                           at +
                           "[2, 0, 0], limits: [-0.7, 0.7]}\n"
                           "  q: {type: revolute, parent: rocker, child: coupler, " +
                           at +
                           "[2, 0, 1]}\n"
                           "  p: {type: revolute, parent: coupler, child: crank, " +
                           at +
                           "[0, 0, 1]}\n"
                           "loops: {o: {type: revolute, a: world, b: crank, " +
                           at + "[0, 0, 0]}}\n");
  ASSERT_EQ(one.result.stops.size(), 1u);
  ASSERT_EQ(two.result.stops.size(), 1u);
  for (int i = 0; i < 3; ++i)  // bodies stand in tree order
    EXPECT_LT((one.shot.positions[i] - two.shot.positions[2 - i]).norm(), 1e-9) << i;
  // The work of the weights and the push on a parallelogram that turns by φ about y: all arms are 1 m.
  const double phi = 0.7, weight = 10 * (0.5 * 1 + 2 + 0.5 * 1.5);
  const double moment = weight * std::sin(phi) + 5 * std::cos(phi);
  EXPECT_NEAR(one.result.stops[0].force, -moment, 1e-8);
  EXPECT_NEAR(two.result.stops[0].force, -moment, 1e-8);
}

TEST(RestOfAServo, PushesAsHardAsItCan) {
  const std::string arm =
      "gravity: [0, 0, 0]\nbodies: {a: {box: [1, 0.1, 0.1], mass: 2, at: [0.5, 0, 0]}}\n"
      "joints: {j: {type: revolute, child: a, at: [0, 0, 0], axis: [0, 1, 0], stiffness: 20, drive: {servo: "
      "{target: 1, "
      "kp: 100, max_force: ";
  EXPECT_NEAR(rest_of(arm + "5}}}}\n").state.q[0], 5.0 / 20, 1e-12);
  EXPECT_NEAR(rest_of(arm + "50}}}}\n").state.q[0], 100.0 / 120, 1e-12);
}

TEST(RestInTheWind, APlateLeansUntilItsWeightHoldsIt) {
  // Hinged at its upper edge, a plate of 1 m × 1 m × 0.1 m shows the wind A = cos θ + 0.1 sin θ:
  // ½ ρ C A u² cos θ = m g sin θ, arms alike.
  const Rest r = rest_of(
      "gravity: [0, 0, -10]\n"
      "bodies: {a: {box: [0.1, 1, 1], mass: 5, at: [0, 0, -0.5]}}\n"
      "joints: {j: {type: revolute, child: a, at: [0, 0, 0], axis: [0, -1, 0]}}\n"
      "wind: {velocity: [6, 0, 0], air_density: 1.2, drag_coefficient: 1.1}\n");
  double low = 0, high = pi / 2;
  for (int i = 0; i < 60; ++i) {
    const double x = 0.5 * (low + high);
    const double push = 0.5 * 1.2 * 1.1 * 36 * (std::cos(x) + 0.1 * std::sin(x)) * std::cos(x);
    (push > 50 * std::sin(x) ? low : high) = x;
  }
  EXPECT_NEAR(r.state.q[0], low, 1e-10);
  EXPECT_TRUE(r.result.circulatory);
  EXPECT_LT(r.result.report.iterations, 12);  // quadratic: differences of the area are in the tangent
}

TEST(RestUnderAFollower, AgreesWithTheChain) {
  // A force that turns with the tip and a moment: a stiffness that is not symmetric, exact in chain/.
  const std::string text =
      "limber: 1\ngravity: [0, 0, -9.81]\n"
      "materials: {m: {E: 1 GPa, nu: 0.3, density: 1000}}\nsections: {s: {rectangle: {width: 4 mm, height: 6 "
      "mm}}}\n"
      "beams: {b: {path: [[0, 0, 0], [0.5, 0, 0]], material: m, section: s, elements: 6}}\n"
      "loads: {f: {on: b.tip, force: [0.1, 0.3, -0.5], moment: [0.01, 0, 0.02], follows: true}}\n";
  const Rest r = rest_of(text.substr(10));
  const result::Snapshot shot = by_chain(text);
  ASSERT_EQ(shot.points.size(), r.shot.points.size());
  for (std::size_t i = 0; i < shot.points.size(); ++i)
    EXPECT_LT((shot.points[i] - r.shot.points[i]).norm(), 1e-9) << i;
  EXPECT_GT((shot.points.back() - Vec3(0.5, 0, 0)).norm(), 0.1);
  EXPECT_LT(r.result.report.iterations, 30);
}

// A sprung four-bar whose plane is turned: rows across the plane act on nothing, which rounding must not
// hide. The same linkage, gravity turned with it, rests at the same energy whatever the plane.
std::string turned_four_bar(const Mat3& R, const std::string& more = "") {
  const auto v = [&](double x, double y, double z) {
    const Vec3 p = R * Vec3(x, y, z);
    return fmt::format("[{:.17g}, {:.17g}, {:.17g}]", p.x(), p.y(), p.z());
  };
  const Vec3 turn = math::so3_log(R);
  const std::string rotate = fmt::format("[{:.17g}, {:.17g}, {:.17g}]", turn.x(), turn.y(), turn.z());
  const auto body = [&](const char* name, double mass, double x, double z) {
    return fmt::format("  {}: {{box: [0.03, 0.02, 0.02], mass: {}, at: {}, rotate: {}}}\n", name, mass,
                       v(x, 0, z), rotate);
  };
  const std::string axis = v(0, 1, 0);
  return fmt::format("gravity: {}\nbodies:\n", v(0, 0, -9.81)) + body("a", 0.26, 0, 0.1) +
         body("b", 0.34, 0.15, 0.25) + body("c", 0.44, 0.35, 0.15) + more +
         fmt::format(
             "joints:\n  j0: {{type: revolute, child: a, at: [0, 0, 0], axis: {0}}}\n"
             "  j1: {{type: revolute, parent: a, child: b, at: {1}, axis: {0}, stiffness: 1.6}}\n"
             "  j2: {{type: revolute, parent: b, child: c, at: {2}, axis: {0}}}\n"
             "loops: {{lo: {{type: revolute, a: c, b: world, at: {3}, axis: {0}}}}}\n",
             axis, v(0, 0, 0.2), v(0.3, 0, 0.3), v(0.4, 0, 0));
}

TEST(RestOfALoop, DoesNotDependOnItsPlane) {
  const Rest flat = rest_of(turned_four_bar(Mat3::Identity()));
  ASSERT_LT(flat.result.residual, 1e-9);
  for (int i = 1; i <= 20; ++i) {
    const Vec3 turn(0.7 * std::sin(i), 1.1 * std::cos(2.3 * i), 0.9 * std::sin(3.1 * i + 1));
    const Rest r = rest_of(turned_four_bar(math::so3_exp(turn)));
    EXPECT_LT(r.result.residual, 1e-9) << i;
    EXPECT_EQ(r.result.redundant_rows, 3) << i;
    EXPECT_TRUE(r.result.stable()) << i;
    // Energies near 1 J, known to the square of a Newton that ends at 1e-9 of the forces.
    EXPECT_NEAR(r.result.energy.total(), flat.result.energy.total(), 1e-11) << i;
  }
}

TEST(RestOfParts, KnowNothingOfEachOther) {
  // Far, large and heavy: it would give another size, other shifts and other tolerances.
  const Rest alone = rest_of(turned_four_bar(Mat3::Identity()));
  std::string text =
      turned_four_bar(Mat3::Identity(), "  far: {box: [50, 2, 2], mass: 1e6, at: [1000, 0, 0]}\n");
  text.replace(
      text.find("joints:\n"), 8,
      "joints:\n  far: {type: revolute, child: far, at: [975, 0, 0], axis: [0, 1, 0], limits: [-3, 1]}\n");
  const Rest both = rest_of(text);
  std::size_t k = 0;
  for (std::size_t i = 0; i < both.system.layout().frames.size(); ++i) {
    if (both.system.layout().frames[i].name == "far") continue;
    EXPECT_LT((both.shot.positions[i] - alone.shot.positions[k++]).norm(), 1e-12);
  }
  ASSERT_EQ(both.result.stops.size(), 1u);  // and the far one lies on its stop
  EXPECT_NEAR(both.result.stops[0].force, -1e6 * 9.81 * 25 * std::cos(1.0), 1e-4);
}

TEST(RestOfAnUmbrella, IsWhereDynamicsComesToRest) {
  const scene::Scene scene = scene::load(LIMBER_SCENES "/umbrella.yaml");
  const System system = compile(scene.model);
  State state = system.rest();
  Workspace w(system);
  const StaticResult r = solve_static(system, state, w);
  ASSERT_TRUE(r.stable()) << r.report.message;
  result::Snapshot shot;
  observe(system, state, w, shot);
  // By damped dynamics to rest, printed to seven digits.
  EXPECT_NEAR(shot.scalars[0], 49.44058, 1e-5);
  EXPECT_NEAR(r.energy.elastic, 49.31868, 1e-5);
  EXPECT_LE(r.report.iterations, 200);
}

TEST(RestOfAFlatBeam, BentInItsPlaneFarBeyondItsBuckling) {
  // 80 times the load at which it would buckle out of its plane, in which nothing pushes: the planar shape,
  // as `chain` finds it, and unstable.
  const std::string text =
      "limber: 1\ngravity: [0, 0, 0]\nmaterials: {m: {E: 307200 Pa, nu: 0.3, density: 1000}}\n"
      "sections: {s: {rectangle: {width: 0.02, height: 0.125}}}\n"
      "beams: {b: {path: [[0, 0, 0], [1, 0, 0]], material: m, section: s, elements: 40}}\n"
      "loads: {f: {on: b.tip, force: [0, 0, -10]}}\n";
  const Rest r = rest_of(text.substr(10));
  const result::Snapshot shot = by_chain(text);
  // Both solve the same links: rounding of forces of 10 N over 40 soft joints.
  EXPECT_LT((shot.points.back() - r.shot.points.back()).norm(), 1e-9);
  EXPECT_GT(r.result.negative, 0);
  EXPECT_LE(r.result.report.iterations, 12);
}

// A rod so soft and heavy that the loads brought up in steps lead to another of its many equilibria.
TEST(ExactRod, IsTheOneThatTheMethodsFind) {
  const std::string text =
      "limber: 1\nmaterials: {rubber: {E: 1 MPa, nu: 0.3, density: 1100}}\n"
      "sections: {round: {circle: 4 mm}}\n"
      "beams: {t: {path: [[0, 0, 0], [0.5, 0, 0]], material: rubber, section: round, elements: 32}}\n";
  const scene::Scene scene = scene::parse(text, "test.yaml");
  const sim::Comparison c = sim::compare_statics(scene.model, scene.run, 0);
  EXPECT_NE(c.reference.find("exact rod"), std::string::npos) << c.reference;
  for (const sim::Candidate& k : c.candidates)
    // A mesh of 4 is off by 0.03 at most, eight times as many by a 64th of it; and threads stretch by 0.3 %.
    EXPECT_LT(k.error, k.setting == "32 elements" ? 0.005 : 0.1) << k.method << k.setting;
  // Held at both ends its tips say nothing; the middle does: a coarse mesh is off.
  const scene::Scene held = scene::parse(
      "limber: 1\nmaterials: {steel: {E: 200 GPa, nu: 0.3, density: 7850}}\n"
      "sections: {round: {circle: 1 mm}}\n"
      "beams: {t: {path: {arc: {direction: [1, 0, 1], towards: [1, 0, -1], radius: 0.35, angle: 90 deg}}, "
      "material: steel, section: "
      "round, elements: 16}}\nties: {end: {on: t.tip, type: fixed}}\nloads: {f: {on: t@0.5, force: [0, 0, "
      "-1]}}\n",
      "held.yaml");
  const sim::Comparison h = sim::compare_statics(held.model, held.run, 0);
  double coarse = 0, fine = 0;
  for (const sim::Candidate& k : h.candidates) {
    if (k.method == "chain" && k.setting == "4 elements") coarse = k.error;
    if (k.method == "chain" && k.setting == "32 elements") fine = k.error;
  }
  EXPECT_GT(coarse, 1e-6);  // the tip is where it is held to 1e-12
  EXPECT_LT(fine, 0.1 * coarse);
}

}  // namespace
}  // namespace limber::articulated
