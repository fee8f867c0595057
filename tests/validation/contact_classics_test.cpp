// Contact with friction in classic problems, against closed forms and limit analysis.
#include "tests/validation/contact_world.h"

namespace limber {
namespace {

using articulated::State;
using testing::g;
using testing::World;

// Steps a world and watches what contacts give: nothing else works in these scenes.
struct Watched {
  double given = 0, rise = 0;  // [J] by contacts, in all; of the total energy above its least so far
  double overlap = 0;          // of the size
  std::string failed;
};
Watched watch(World& world, double seconds, double h) {
  Watched out;
  double least = world.energy();
  while (world.state.t < seconds - h / 2) {
    const auto report = articulated::step(world.system, world.state, world.w, h);
    if (!report.ok()) {
      out.failed = report.message;
      break;
    }
    const double now = world.energy();
    out.rise = std::max(out.rise, now - least);
    least = std::min(least, now);
    out.overlap = std::max(out.overlap, report.contact_overlap);
  }
  out.given = world.state.work;
  return out;
}

// A rod of half length l at an angle to the floor whose tip slides ahead of it: pushed along like a chalk.
std::string painleve_rod(double degrees, double friction, double speed, double turning) {
  const double a = degrees * pi / 180, l = 0.5, r = 1e-3, x = l * std::cos(a), z = l * std::sin(a);
  return fmt::format(
      "bodies:\n  rod: {{at: [{:.17g}, 0, {:.17g}], rotate: [0, {:.17g}, 0], capsule: {{radius: {}, length: "
      "{}}}, "
      "mass: 1, velocity: [{:.17g}, 0, {:.17g}], angular_velocity: [0, {}, 0]}}\n"
      "contact: {{friction: {}, planes: [{{at: [0, 0, 0]}}]}}\n",
      x, z + r, pi / 2 - a, r, 2 * l, turning * z - speed, -turning * x, turning, friction);
}

// Painlevé (1895): above μ = (1 + 3 cos²) / (3 sin cos), at least 4/3, no finite force keeps the tip sliding
// (or several do). The tip jams within a step, and the run goes on.
TEST(ContactClassics, PainlevesRodJamsAndGoesOn) {
  for (const double degrees : {50.0, 63.4349, 75.0})
    for (const double friction : {1.0, 1.4, 2.0, 5.0})
      for (const double turning : {-2.0, 0.0, 3.0})
        for (const double speed : {0.3, 3.0}) {
          SCOPED_TRACE(
              fmt::format("{}°, friction {}, turning {}, {} m/s", degrees, friction, turning, speed));
          World rod(painleve_rod(degrees, friction, speed, turning));
          const double start = rod.energy();
          const Watched seen = watch(rod, 1, 2e-3);
          EXPECT_EQ(seen.failed, "");
          EXPECT_LT(seen.rise, 1e-6 * start);
        }
}

// A disk on its rim, turning with `w` (in world axes; it leans in the plane of x and z).
World disk_on_its_rim(double tilt, double radius, double thickness, const Vec3& w, double friction) {
  return World(
      fmt::format("bodies:\n  disk: {{at: [0, 0, {:.17g}], rotate: [0, {}, 0], cylinder: {{radius: {}, "
                  "length: {}}}, density: 7800, "
                  "angular_velocity: [{:.17g}, {:.17g}, {:.17g}]}}\ncontact: {{friction: {}, planes: [{{at: "
                  "[0, 0, 0]}}]}}\n",
                  radius * std::sin(tilt) + thickness / 2 * std::cos(tilt), tilt, radius, thickness, w.x(),
                  w.y(), w.z(), friction));
}

// Euler's disk rolls round and round with its centre at rest, turning about the line to the place where it
// touches:
//
//   Ω² sin α (I_t cos α − I_a sin α b/2a) = m g (a cos α − b/2 sin α)
//
// of radius a, thickness b and tilt α; 4g = Ω² a sin α of a thin one. Rigid and without rolling friction it
// loses nothing.
TEST(ContactClassics, EulersDiskRollsRoundAtItsRate) {
  const double a = 0.0375, b = 0.0126, tilt = 0.5, s = std::sin(tilt), c = std::cos(tilt);
  const double I_t = a * a / 4 + b * b / 12, I_a = a * a / 2;  // over the mass
  const double round = std::sqrt(g * (a * c - b / 2 * s) / (s * (I_t * c - I_a * s * b / (2 * a))));
  const Vec3 d(c, 0, -s), n(s, 0, c);
  World disk = disk_on_its_rim(tilt, a, b, -round * s * d + round * s * b / (2 * a) * n, 0.5);
  const double start = disk.energy(), turn = 2 * pi / round;
  const int steps = 200;
  const Watched seen = watch(disk, turn, turn / steps);
  EXPECT_EQ(seen.failed, "");
  EXPECT_NEAR(disk.energy() / start, 1, 1e-6);
  // Second order: an angle of 2π/200 a step.
  EXPECT_NEAR(disk.pose("disk").p.z(), a * s + b / 2 * c, 1e-3 * a);
  EXPECT_NEAR(std::atan2(disk.pose("disk").R(1, 2), disk.pose("disk").R(0, 2)), 0, 5e-3);
}

// From any start, with friction, nearly and wholly without: no energy is made.
TEST(ContactClassics, ADiskOnItsRimGainsNothing) {
  for (const double friction : {0.3, 1e-3, 0.0})
    for (const double tilt : {0.2, 0.5, 1.0, 1.5})
      for (const double spin : {0.0, 50.0}) {
        SCOPED_TRACE(fmt::format("friction {}, tilt {}, spin {}", friction, tilt, spin));
        World disk = disk_on_its_rim(tilt, 0.0375, 0.0126, Vec3(30 * std::cos(tilt), 3, spin), friction);
        const double start = disk.energy();
        const Watched seen = watch(disk, 1, 1e-3);
        EXPECT_EQ(seen.failed, "");
        // An overlap of 1e-6 of the size, as one place follows on another, is taken back by the weight: 3e-7
        // of the energy each time, a score of times in a second at worst (6e-6 seen).
        EXPECT_LT(seen.rise, 1e-5 * start);
      }
}

// It comes to rest by what it loses: a disk that falls flat with friction.
TEST(ContactClassics, ADiskThatFallsFlatRests) {
  World disk = disk_on_its_rim(0.3, 0.0375, 0.0126, Vec3::Zero(), 0.3);
  EXPECT_EQ(watch(disk, 1, 1e-3).failed, "");
  EXPECT_NEAR(disk.pose("disk").p.z(), 0.0063, 1e-9);
  EXPECT_LT(disk.velocity("disk").norm(), 1e-9);
}

// A semicircular arch of n stones between radial joints, R = 1 the mean radius.
std::string stone_arch(int n, double thickness) {
  std::string text = "bodies:\n";
  for (int k = 0; k < n; ++k) {
    const double from = pi * k / n, to = pi * (k + 1) / n, x = std::cos((from + to) / 2),
                 z = std::sin((from + to) / 2);
    std::string points;
    for (const double y : {-0.15, 0.15})
      for (const double r : {1 - thickness / 2, 1 + thickness / 2})
        for (const double a : {from, to})
          points += fmt::format("[{:.17g}, {}, {:.17g}], ", r * std::cos(a) - x, y, r * std::sin(a) - z);
    text += fmt::format("  s{}: {{at: [{:.17g}, 0, {:.17g}], hull: {{points: [{}]}}, density: 2000}}\n", k, x,
                        z, points);
  }
  return text + "contact: {friction: 1, planes: [{at: [0, 0, 0]}]}\n";
}

// Couplet (1729), Milankovitch (1907): the least thickness of a semicircular arch, where a line of thrust
// just fits into it, is 0.10748 of its mean radius. Of 21 stones that are trapezoids a linear programme over
// the lines of thrust (the moment at each joint within half the thickness times its normal force) gives
// 0.1066948.
TEST(ContactClassics, AnArchStandsAtItsLeastThickness) {
  const double least = 0.1066948;
  World stands(stone_arch(21, 1.005 * least));
  EXPECT_EQ(watch(stands, 1, 5e-3).failed, "");
  EXPECT_NEAR(stands.pose("s10").p.z(), 1, 1e-8);
  World falls(stone_arch(21, 0.995 * least));
  EXPECT_EQ(watch(falls, 0.6, 2e-3).failed, "");
  EXPECT_LT(falls.pose("s10").p.z(), 0.99);
}

// A house of cards: pairs that lean at 25° against each other, roofs on them.
std::string card_house(int storeys, double friction) {
  const double a = 25 * pi / 180, s = std::sin(a), c = std::cos(a), l = 0.088, w = 0.063, t = 0.001,
               span = 2 * l * s + 0.03, high = l * c + t * s;
  std::string text = "bodies:\n";
  const auto card = [&](const std::string& name, double x, double z, double turn, double dx, double dz) {
    text += fmt::format(
        "  {}: {{at: [{:.17g}, 0, {:.17g}], rotate: [0, {:.17g}, 0], box: [{:.17g}, {}, {:.17g}]}}\n", name,
        x, z, turn, dx, w, dz);
  };
  double z = 0;
  for (int k = 0; k < storeys; ++k, z += high + t) {
    const int pairs = storeys - k;
    for (int i = 0; i < pairs; ++i) {
      const double x = (i - (pairs - 1) / 2.0) * span;
      for (const int side : {-1, 1})
        card(fmt::format("c{}_{}{}", k, i, side < 0 ? "l" : "r"), x + side * (l * s + t * c) / 2,
             z + (l * c + t * s) / 2, -side * a, t, l);
      if (i > 0) card(fmt::format("r{}_{}", k, i), x - span / 2, z + high + t / 2, 0, span - 0.0005, t);
    }
    if (pairs == 1) card("top", 0, z + high + t / 2, 0, l, t);
  }
  std::string pairs;  // cards that lean on each other do not slip there
  for (int k = 0; k < storeys; ++k)
    for (int i = 0; i < storeys - k; ++i)
      pairs += fmt::format("{{between: [c{0}_{1}l, c{0}_{1}r], friction: 2}}, ", k, i);
  return text + fmt::format("contact: {{friction: {}, pairs: [{}], planes: [{{at: [0, 0, 0]}}]}}\n", friction,
                            pairs);
}

// One pair and its roof: about the inner lower edge of a card of weight W, with half a roof on its outer
// upper edge, H l cos = W (l/2 sin − t/2 cos) + W/2 (l sin − t cos) + T (l cos + t sin) at the other card, F
// = H − T on the floor and |T| ≤ μ W/2 on the roof: the least μ for F ≤ μ 3/2 W.
TEST(ContactClassics, AHouseOfCardsStandsByItsFriction) {
  const double a = 25 * pi / 180, s = std::sin(a), c = std::cos(a), l = 0.088, t = 0.001;
  const double push = ((l * s - t * c) / 2 + (l * s - t * c) / 2) / (l * c),
               least = push / (1.5 + 0.5 * t * s / (l * c));
  for (const auto& [storeys, friction] : {std::pair{1, 1.02 * least}, {1, 0.8}, {3, 0.6}}) {
    World house(card_house(storeys, friction));
    const double z = house.pose("top").p.z();
    EXPECT_EQ(watch(house, 1, 5e-3).failed, "");
    EXPECT_NEAR(house.pose("top").p.z(), z, 1e-8) << storeys;
  }
  World falls(card_house(1, 0.98 * least));
  const double z = falls.pose("top").p.z();
  EXPECT_EQ(watch(falls, 0.1, 2e-3).failed, "");
  EXPECT_LT(falls.pose("top").p.z(), z - 1e-5);
}

// A chain over a fixed drum, pulled at both ends: `on_drum` links touch it with their middles, twenty hang on
// each side. Its parts stand at R + r, and friction acts at R.
constexpr double drum_radius = 0.1, half_link = 1e-3;
std::string chain_on_drum(double friction, double ratio, int on_drum) {
  const double angle = pi / on_drum, rho = (drum_radius + half_link) / std::cos(angle / 2),
               l = 2 * rho * std::sin(angle / 2);
  std::vector<std::pair<double, double>> pins;
  for (int k = 20; k > 0; --k) pins.emplace_back(rho, -l * k);
  for (int k = 0; k <= on_drum; ++k) pins.emplace_back(rho * std::cos(k * angle), rho * std::sin(k * angle));
  for (int k = 1; k <= 20; ++k) pins.emplace_back(-rho, -l * k);
  const int n = static_cast<int>(pins.size()) - 1;
  std::string bodies = fmt::format(
      "gravity: [0, 0, 0]\nbodies:\n  drum: {{fixed: true, rotate: [90 deg, 0, 0], cylinder: {{radius: {}, "
      "length: 0.05}}}}\n",
      drum_radius);
  std::string joints = "joints:\n  j0: {type: planar, child: l0, axis: [0, 1, 0]}\n";
  for (int i = 0; i < n; ++i) {
    const auto [x0, z0] = pins[i];
    const auto [x1, z1] = pins[i + 1];
    bodies += fmt::format(
        "  l{}: {{at: [{:.17g}, 0, {:.17g}], rotate: [0, {:.17g}, 0], capsule: {{radius: {}, length: "
        "{:.17g}}}, mass: 0.001, "
        "points: {{a: [0, 0, {:.17g}], b: [0, 0, {:.17g}]}}}}\n",
        i, (x0 + x1) / 2, (z0 + z1) / 2, std::atan2(x1 - x0, z1 - z0), half_link, l, -l / 2, l / 2);
    if (i > 0)
      joints += fmt::format(
          "  j{}: {{type: revolute, parent: l{}, child: l{}, at: [{:.17g}, 0, {:.17g}], axis: [0, 1, 0]}}\n",
          i, i - 1, i, x0, z0);
  }
  return bodies + joints +
         fmt::format(
             "loads:\n  hold: {{on: l0.a, force: [0, 0, -10]}}\n  pull: {{on: l{}.b, force: [0, 0, "
             "{:.17g}]}}\n"
             "contact: {{friction: {}}}\n",
             n - 1, -10 * ratio, friction);
}

// Pull over hold where all links are about to slip. On each (along T, inwards a at its first pin, N and μN at
// distance r below the line of its pins): N = 2a/(1 + 2rμ/l), along the next pin T + μN, inwards a − 2rμN/l;
// then turned by the angle to the next link. Euler's e^{μπ} is the limit of fine and thin ones.
double capstan_ratio(double friction, int on_drum) {
  const double angle = pi / on_drum, l = 2 * (drum_radius + half_link) * std::tan(angle / 2), r = half_link;
  double along = std::cos(angle / 2), inwards = std::sin(angle / 2);
  for (int k = 0; k < on_drum; ++k) {
    const double N = 2 * inwards / (1 + 2 * r * friction / l), T = along + friction * N,
                 a = inwards - 2 * r * friction * N / l;
    along = T * std::cos(angle) + a * std::sin(angle);
    inwards = T * std::sin(angle) - a * std::cos(angle);
  }
  return std::hypot(along, inwards);
}

TEST(ContactClassics, AChainHoldsByTheCapstansRatio) {
  EXPECT_NEAR(capstan_ratio(0.25, 20) / std::exp(0.25 * pi), 1, 0.02);
  const double ratio = capstan_ratio(0.25, 20);
  World holds(chain_on_drum(0.25, 0.98 * ratio, 20)), slips(chain_on_drum(0.25, 1.02 * ratio, 20));
  const double z = holds.pose("l59").p.z();
  EXPECT_EQ(watch(holds, 0.05, 1e-3).failed, "");
  EXPECT_NEAR(holds.pose("l59").p.z(), z, 1e-8);  // what the iterations leave over: 2e-9
  EXPECT_EQ(watch(slips, 0.05, 1e-3).failed, "");
  EXPECT_LT(slips.pose("l59").p.z(), z - 1e-3);
}

// A wall of bricks that a ball goes through: several hundred contacts that open and close at once, most of
// which say what their neighbours say. Forces are found for all steps, and nothing gains energy.
TEST(Wall, IsStruckByABall) {
  std::string text =
      "bodies:\n  ball: {at: [-0.3, 0.02, 0.25], velocity: [6, 0, 1], sphere: {radius: 0.08}}\n";
  for (int row = 0; row < 4; ++row)
    for (int k = 0; k < 4; ++k)
      text += fmt::format("  b{}_{}: {{at: [0, {:.4f}, {:.4f}], box: [0.1, 0.2, 0.1]}}\n", row, k,
                          0.201 * (k - 1.5) + (row % 2 == 0 ? 0 : 0.1), 0.05 + 0.1 * row);
  World world(text + "contact: {friction: 0.6, planes: [{at: [0, 0, 0]}]}\n");
  const double energy = world.energy();
  double residual = 0;
  while (world.state.t < 0.05) {
    const auto report = articulated::step(world.system, world.state, world.w, 2e-3);
    ASSERT_TRUE(report.ok()) << report.message;
    residual = std::max(residual, report.contact_residual);
    EXPECT_LT(world.energy(), energy * (1 + 1e-6));
  }
  EXPECT_LT(world.energy(), 0.999 * energy);  // it was struck
  EXPECT_LT(residual, 0.02);                  // of the speeds, in the worst moment of the impact
  EXPECT_GT(world.pose("ball").p.x(), -0.2);
}

}  // namespace
}  // namespace limber
