// Surfaces with terms of their own: what gives, what bounces, what rubs, what does not touch at all.
#include <cmath>

#include "limber/math/so3.h"
#include "tests/validation/contact_world.h"

namespace limber {
namespace {

using articulated::ContactWay;
using articulated::Integrator;
using testing::g;
using testing::World;

const std::string soft_floor =
    "surfaces:\n  mat: {stiffness: 5 kN/m}\ncontact: {friction: 0.5, planes: [{surfaces: [mat]}]}\n";

// A box of 2 kg on four places of 5 kN/m: a mass on a spring of 20 kN/m.
TEST(SoftSurface, LetsABoxSwingAsOnASpring) {
  const double m = 2, k = 20e3, omega = std::sqrt(k / m), sag = m * g / k, pressed = 0.4 * sag;
  double error[2];
  for (const int fine : {0, 1}) {
    World world(fmt::format("bodies:\n  box: {{box: [0.2, 0.2, 0.1], mass: 2, at: [0, 0, {:.17g}]}}\n",
                            0.05 - sag - pressed) +
                soft_floor);
    const double h = fine ? 0.5e-3 : 1e-3, until = 0.2;
    const double start = world.energy();
    double worst = 0;
    while (world.state.t < until - h / 2) {
      ASSERT_TRUE(articulated::step(world.system, world.state, world.w, h).ok());
      worst = std::max(worst, std::abs(world.pose("box").p.z() -
                                       (0.05 - sag - pressed * std::cos(omega * world.state.t))));
    }
    error[fine] = worst;
    EXPECT_NEAR(world.state.dissipated, 0, 1e-9 * start);
    EXPECT_NEAR(world.state.work, 0, 1e-9 * start);
    // The energy that the floor had from the start is booked with it.
    EXPECT_NEAR(world.energy(), world.state.energy0, 1e-9 * start);
  }
  // Its period is longer by (ω h)²/12 of itself: after 20 rad that is 4.2e-3 of a swing.
  EXPECT_LT(error[1], 4.5e-3 * pressed);
  EXPECT_NEAR(error[0] / error[1], 4, 0.2);  // second order
}

TEST(SoftSurface, BringsABoxToRestWhereItsWeightSays) {
  World world("bodies:\n  box: {box: [0.2, 0.2, 0.1], mass: 2, at: [0, 0, 0.08]}\n" + soft_floor);
  const auto rest = articulated::solve_static(world.system, world.state, world.w);
  ASSERT_TRUE(rest.report.ok()) << rest.report.message;
  EXPECT_NEAR(world.pose("box").p.z(), 0.05 - 2 * g / 20e3, 1e-9);
}

// Friction acts half-way through the overlap: what steps find is what the exact forces balance.
TEST(SoftSurface, HoldsABlockOnASlope) {
  World world(
      "surfaces:\n  mat: {stiffness: 2 kN/m, damping: 100 N*s/m}\n"
      "gravity: [-4.905, 0, -8.495709211125344]\nbodies:\n  block: {box: [0.3, 0.2, 0.1], mass: 2, at: [0, "
      "0, "
      "0.05]}\ncontact: {friction: 0.7, planes: [{surfaces: [mat]}]}\n");
  const auto rest = articulated::solve_static(world.system, world.state, world.w);
  ASSERT_TRUE(rest.report.ok()) << rest.report.message;
  EXPECT_LT(rest.residual, 1e-9);
  EXPECT_TRUE(rest.stable());
  Vec3 sum = Vec3::Zero();
  for (const auto& t : rest.touches) sum += t.a == "\"block\"" ? t.force : Vec3(-t.force);
  EXPECT_LT((sum - Vec3(9.81, 0, 16.991418422250688)).norm(), 1e-6);
}

// Damped: λ = k δ + d δ' ≥ 0 for a ball that comes at v₀, by a fine integration beside it.
TEST(SoftSurface, TakesWhatItsDamperTakes) {
  const double m = 0.5, k = 8e3, d = 12, h = 2e-4;
  World world(
      "surfaces:\n  mat: {stiffness: 8 kN/m, damping: 12 N*s/m}\nbodies:\n"
      "  ball: {sphere: 0.05, mass: 0.5, at: [0, 0, 0.0501], velocity: [0, 0, -2]}\n"
      "contact: {planes: [{surfaces: [mat]}]}\n");
  double z = 1e-4, v = -2;
  const double dt = 1e-7;
  for (int i = 0; i < 400000; ++i) {
    const double force = z < 0 ? std::max(0.0, -k * z - d * v) : 0;
    v += dt * (force / m - g), z += dt * v;
  }
  const double start = world.energy();
  world.run(0.04, h);
  EXPECT_GT(v, 1);  // it has left
  EXPECT_NEAR(world.velocity("ball").z(), v, 2e-3 * v);
  EXPECT_NEAR(world.energy() + world.state.dissipated - world.state.work, start, 1e-6 * start);
}

// Two that give are one spring behind the other.
TEST(SoftSurface, TwoThatGiveAreSoftTogether) {
  World world(
      "surfaces:\n  mat: {stiffness: 20 kN/m, damping: 300 N*s/m}\n  sole: {stiffness: 5 kN/m, damping: 100 "
      "N*s/m}\nbodies:\n"
      "  ball: {sphere: 0.05, mass: 2, at: [0, 0, 0.05], surfaces: [sole]}\n"
      "contact: {planes: [{surfaces: [mat]}]}\n");
  world.run(1.0, 2e-3);
  EXPECT_NEAR(world.pose("ball").p.z(), 0.05 - 2 * g / 4e3, 1e-8);
}

// Both ways to the forces of contacts know what gives.
TEST(SoftSurface, IsTheSameByLinksAndByElimination) {
  std::string text = "surfaces:\n  mat: {stiffness: 20 kN/m, damping: 30 N*s/m}\nbodies:\n";
  for (int i = 0; i < 4; ++i)
    text += fmt::format("  b{}: {{box: [0.1, 0.1, 0.1], at: [{}, 0, {}], surfaces: [mat]}}\n", i, 0.01 * i,
                        0.05 + 0.101 * i);
  text += "contact: {friction: 0.5, planes: [{}]}\n";
  Vec3 at[2];
  for (const int k : {0, 1}) {
    const scene::Scene s = scene::parse("limber: 1\n" + text, "contact.yaml", ".");
    articulated::Options options;
    options.contact_way = k == 0 ? ContactWay::links : ContactWay::elimination;
    const auto system = articulated::compile(s.model, options);
    auto state = system.rest();
    articulated::Workspace w(system);
    for (int i = 0; i < 100; ++i) {
      const auto report = articulated::step(system, state, w, 2e-3);
      ASSERT_TRUE(report.ok()) << report.message;
      EXPECT_LT(report.contact_residual, 1e-8);
    }
    at[k] = Vec3(state.q[3], state.q[4], state.q[5]);
    for (const double q : state.q) at[k][0] += q * q;
  }
  EXPECT_LT((at[0] - at[1]).norm(), 1e-7);  // residuals of 1e-8 over 100 steps
}

TEST(Surfaces, PairsComeBeforeSurfacesAndThoseBeforeTheScene) {
  // On a slope of 30 degrees a block with 0.7 stays, with 0.2 slides by g (sin − μ cos).
  const auto slides = [](const std::string& surfaces, const std::string& pairs) {
    World world(
        surfaces +
        "gravity: [-4.905, 0, -8.495709211125344]\nbodies:\n  block: {box: [0.2, 0.2, 0.05], at: [0, 0, "
        "0.025], surfaces: [wood]}\ncontact:\n  friction: 0.7\n" +
        pairs + "  planes: [{surfaces: [ice]}]\n");
    world.run(0.2, 2e-3);
    return world.velocity("block").norm() / 0.2;
  };
  const double slip = g * (0.5 - 0.2 * std::cos(pi / 6));
  const std::string plain = "surfaces:\n  wood: {}\n  ice: {}\n";
  EXPECT_LT(slides(plain, ""), 1e-9);
  EXPECT_NEAR(slides("surfaces:\n  wood: {friction: 0.4}\n  ice: {friction: 0.1}\n", ""), slip, 1e-8);
  EXPECT_NEAR(slides(plain, "  pairs: [{between: [wood, ice], friction: 0.2}]\n"), slip, 1e-8);
  EXPECT_NEAR(
      slides("surfaces:\n  wood: {friction: 1}\n  ice: {friction: 1}\n",
             "  pairs: [{between: [block, world], friction: 0.2}, {between: [wood, ice], friction: 1}]\n"),
      slip, 1e-8);
  EXPECT_LT(slides("surfaces:\n  wood: {friction: 0.1}\n  ice: {friction: 0.1}\n",
                   "  pairs: [{between: [block, ice], friction: 0.7}]\n"),
            1e-9);
}

// The larger restitution of two counts, and every pair has its own.
TEST(Surfaces, BallsBounceAsTheyAre) {
  World world(
      "surfaces:\n  rubber: {restitution: 0.9}\nbodies:\n"
      "  a: {sphere: 0.05, at: [0, 0, 1.05], surfaces: [rubber]}\n"
      "  b: {sphere: 0.05, at: [1, 0, 1.05], restitution: 0.5}\n"
      "  c: {sphere: 0.05, at: [2, 0, 1.05]}\n"
      "  d: {sphere: 0.05, at: [3, 0, 1.05], restitution: 0.9}\n"
      "contact: {pairs: [{between: [d, world], restitution: 0.2}], planes: [{}]}\n");
  const double fall = std::sqrt(2 / g);
  world.run(1.2 * fall, 1e-3);
  const double t = world.state.t - fall, v = std::sqrt(2 * g);
  for (const auto& [name, e] :
       {std::pair{"a", 0.9}, std::pair{"b", 0.5}, std::pair{"c", 0.0}, std::pair{"d", 0.2}}) {
    const double up = e * v * t - 0.5 * g * t * t;
    EXPECT_NEAR(world.pose(name).p.z() - 0.05, std::max(0.0, up), 1e-5) << name;
  }
}

TEST(Surfaces, SomeDoNotTouch) {
  World world(
      "surfaces:\n  ghost: {}\nbodies:\n"
      "  floor: {box: [4, 4, 0.1], at: [0, 0, -0.05], fixed: true}\n"
      "  a: {sphere: 0.05, at: [0, 0, 0.05], collide: false}\n"
      "  b: {sphere: 0.05, at: [1, 0, 0.05], surfaces: [ghost]}\n"
      "  c: {sphere: 0.05, at: [1, 0, 0.2], surfaces: [ghost]}\n"
      "  d: {sphere: 0.05, at: [-1, 0, 0.05]}\n"
      "contact: {pairs: [{between: [ghost, ghost], collide: false}]}\n");
  world.run(0.4, 2e-3);
  EXPECT_NEAR(world.pose("a").p.z(), 0.05 - 0.5 * g * 0.16, 1e-6);
  for (const char* name : {"b", "c", "d"}) EXPECT_NEAR(world.pose(name).p.z(), 0.05, 1e-8) << name;
}

// Two rods on one hinge fold until they meet, if they are told to.
TEST(Surfaces, NeighboursTouchIfTheyAreTold) {
  const auto folded = [](const std::string& pairs) {
    World world(
        "gravity: [0, 0, 0]\nbodies:\n"
        "  a: {capsule: {radius: 0.02, length: 0.4}, rotate: [0, 90 deg, 0], at: [0.25, 0, 0], mass: 1e6}\n"
        "  b: {capsule: {radius: 0.02, length: 0.4}, rotate: [0, 90 deg, 0], at: [0.25, 0, 0.1]}\n"
        "joints:\n  hinge: {type: revolute, parent: a, child: b, at: [0, 0, 0.05], axis: [0, 1, 0], "
        "velocity: 0.5}\n"
        "contact: {" +
        pairs + "}\n");
    world.run(0.5, 2e-3);
    const Mat3 R = world.pose("a").R.transpose() * world.pose("b").R;
    return std::abs(math::so3_log(R).norm());
  };
  EXPECT_NEAR(folded(""), 0.25, 1e-3);
  EXPECT_LT(folded("pairs: [{between: [a, b], collide: true}]"), 0.16);
}

// What one thing does to another, of bodies and of a whole beam.
TEST(ContactProbes, TellWhatOneDoesToAnother) {
  World world(
      "materials:\n  steel: {E: 200 GPa, density: 7850}\nsections:\n  bar: {rectangle: {width: 20 mm, "
      "height: "
      "10 mm}}\n"
      "bodies:\n"
      "  low: {box: [0.1, 0.1, 0.1], mass: 3, at: [0, 0, 0.05]}\n"
      "  high: {box: [0.1, 0.1, 0.1], mass: 2, at: [0, 0, 0.15]}\n"
      "  egg: {sphere: 0.02, mass: 0.1, at: [2, 0, 0.525]}\n"
      "joints:\n  guide: {type: prismatic, child: egg, axis: [0, 0, 1], at: [2, 0, 0.525]}\n"
      "beams:\n  shelf: {path: [[1.9, 0, 0.5], [2.1, 0, 0.5]], material: steel, section: bar, elements: 8, "
      "damping: 1 ms}\n"
      "contact: {friction: 0.5, planes: [{}], pairs: [{between: [shelf, egg], friction: 0}]}\n"
      "probes: [low.high.contact.force, low.world.contact.normal, high.contact.normal, low.contact.places, "
      "shelf.contact.force, {name: by, quantity: contact_normal, on: egg, against: shelf}, "
      "egg.world.contact.places]\n");
  world.run(1.0, 2e-3);
  result::Snapshot shot;
  articulated::observe(world.system, world.state, world.w, shot);
  const std::vector<double> wanted{0, 0, -2 * g, 5 * g, 2 * g, 8, 0, 0, -0.1 * g, 0.1 * g, 0};
  // 1e-4: the shelf's slope under its weight and the egg's, which still swing a little.
  for (std::size_t k = 0; k < wanted.size(); ++k) EXPECT_NEAR(shot.scalars[k], wanted[k], 1e-4) << k;
}

}  // namespace
}  // namespace limber
