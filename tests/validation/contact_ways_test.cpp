// Two ways to the forces of what touches, by the answers of links and by eliminations
// (docs/theory/contact.md): they agree where both can, and the second does work in proportion to the links.
#include "tests/validation/contact_world.h"

namespace limber::testing {
namespace {

using articulated::ContactWay;
using articulated::State;

struct Way : World {
  Way(const std::string& text, ContactWay way, int threads = 1,
      articulated::Integrator by = articulated::Integrator::midpoint)
      : World(text) {
    articulated::Options options;
    options.cpu_threads = threads, options.parallel_min_bodies = 1, options.contact_way = way;
    options.integrator = by;
    system = articulated::compile(scene.model, options);
    state = system.rest();
    w = articulated::Workspace(system);
  }
  long solves() { return w.data().contacts->solves; }
  long factors() { return w.data().contacts->elimination.factors(); }
};

std::string ball(int i, double x, double y) {
  return fmt::format("  b{}: {{at: [{:.6f}, {:.6f}, 0.0201], sphere: {{radius: 0.02}}, mass: {}}}\n", i, x, y,
                     0.1 + 0.02 * (i % 3));
}
std::string hinge(int i, int parent, double x, double y) {
  return fmt::format("  j{0}: {{type: spherical, child: b{0}, parent: b{1}, at: [{2:.6f}, {3:.6f}, 0.03]}}\n",
                     i, parent, x, y);
}
// Leaning gravity, so that with little friction all slides; or upright.
std::string on_floor(double friction, bool leans = true) {
  return fmt::format("gravity: {}\ncontact: {{friction: {}, planes: [{{at: [0, 0, 0]}}]}}\n",
                     leans ? "[1.5, 2, -9.5]" : "[0, 0, -9.81]", friction);
}

// Balls in a zigzag, each on the floor. Not in a straight line, where forces along it hang on others: both
// ways then find forces that obey the law to 1e-13, and not the same ones.
std::string row(int count, double friction, const std::string& more = "", bool leans = true) {
  std::string text = "bodies:\n", joints = "joints:\n";
  for (int i = 0; i < count; ++i) {
    text += ball(i, 0.1 * i, 0.04 * (i % 2));
    if (i > 0) joints += hinge(i, i - 1, 0.1 * i - 0.05, 0.02);
  }
  return text + joints + more + on_floor(friction, leans);
}

// The same in a ring, which closes by a loop.
std::string ring(int count, double friction) {
  std::string text = "bodies:\n", joints = "joints:\n";
  const double step = 2 * pi / count, radius = 0.3;
  for (int i = 0; i < count; ++i) {
    text += ball(i, radius * std::cos(step * i), radius * std::sin(step * i));
    const double between = step * (i + 0.5);
    joints += hinge(i, (i + 1) % count, radius * std::cos(between), radius * std::sin(between));
  }
  return text + joints +
         "springs:\n  s: {between: [b0, b3], stiffness: 50, damping: 0.2, rest_length: 0.2}\n" +
         on_floor(friction);
}

double largest(const std::vector<double>& x, std::size_t from = 0, std::size_t every = 1,
               std::size_t count = 1) {
  double most = 0;
  for (std::size_t k = 0; k < x.size(); k += every)
    for (std::size_t c = from; c < from + count; ++c) most = std::max(most, std::abs(x[k + c]));
  return most;
}

// Step by step from the same states: velocities, and with `forces` the forces of all places.
void expect_agreement(const std::string& text, int steps, bool forces) {
  // One solve a step: iterations of others find places anew, and end where these are near enough.
  constexpr auto once = articulated::Integrator::euler;
  Way links(text, ContactWay::links, 1, once), elimination(text, ContactWay::elimination, 1, once);
  constexpr double h = 2e-3;
  int touching = 0;
  for (int i = 0; i < steps; ++i) {
    elimination.state = links.state;
    ASSERT_TRUE(articulated::step(links.system, links.state, links.w, h).ok());
    ASSERT_TRUE(articulated::step(elimination.system, elimination.state, elimination.w, h).ok());
    const State &a = links.state, &b = elimination.state;
    const double scale = largest(a.v) + g * h;
    for (std::size_t k = 0; k < a.v.size(); ++k)
      ASSERT_NEAR(a.v[k], b.v[k], 1e-8 * scale) << "rate " << k << " at " << a.t;
    ASSERT_EQ(a.touching.size(), b.touching.size()) << a.t;
    touching += !a.touching.empty();
    const double most = largest(a.touching, 6, State::touching_width, 3);
    for (std::size_t k = 0; forces && k < a.touching.size(); k += State::touching_width)
      for (std::size_t c = 6; c < 9; ++c)
        ASSERT_NEAR(a.touching[k + c], b.touching[k + c], 1e-8 * most) << "place " << k << " at " << a.t;
  }
  EXPECT_GT(touching, steps / 2);
  EXPECT_GT(elimination.factors(), 0);
  EXPECT_EQ(links.factors(), 0);
}

TEST(ContactWays, AgreeOnAChainOnTheFloor) { expect_agreement(row(12, 0.1), 60, true); }

// Without friction the problem is convex: velocities are unique, whatever hangs on what.
TEST(ContactWays, AgreeWithALoopAndASpring) { expect_agreement(ring(8, 0), 60, false); }

// The first ball is moved on a rail: what is given of a joint is given to both.
TEST(ContactWays, AgreeWithAGivenMotion) {
  expect_agreement(
      row(8, 0.1,
          "  rail: {type: prismatic, child: b0, at: [0, 0, 0.0201], axis: [0, 1, 0], motion: 0.1*t^2}\n"),
      60, true);
}

// Links on each other, on free boxes and on the floor, without friction for the same reason.
TEST(ContactWays, AgreeWhereLinksTouchEachOther) {
  std::string text = "bodies:\n  x: {at: [0.25, 0, 0.03], box: [0.1, 0.2, 0.06], mass: 1}\n",
              joints = "joints:\n";
  for (int i = 0; i < 8; ++i) {
    const bool back = i >= 4;  // folded onto itself
    text += fmt::format(
        "  l{}: {{at: [{}, 0, {}], rotate: [0, 90 deg, 0], capsule: {{radius: 0.02, length: 0.06}}, mass: "
        "0.2}}\n",
        i, back ? 0.1 * (7 - i) : 0.1 * i, back ? 0.15 : 0.085);
    if (i > 0)
      joints +=
          fmt::format("  j{0}: {{type: spherical, child: l{0}, parent: l{1}, at: [{2}, 0, {3}]}}\n", i, i - 1,
                      i == 4 ? 0.35
                      : back ? 0.1 * (7 - i) + 0.05
                             : 0.1 * i - 0.05,
                      i == 4 ? 0.12
                      : back ? 0.15
                             : 0.085);
  }
  expect_agreement(text + joints + on_floor(0), 60, false);
}

// By counting, not by the clock: solves and factors of a step do not grow with the links of a chain that
// falls on the floor and lies there.
TEST(ContactWays, WorkOnTheFloorGrowsWithTheLinks) {
  long work[2];
  for (int i = 0; i < 2; ++i) {
    Way chain(row(i == 0 ? 40 : 160, 0.5, "", false), ContactWay::automatic);
    chain.run(0.06, 2e-3);
    ASSERT_EQ(chain.state.touching.size() / State::touching_width, i == 0 ? 40u : 160u);
    EXPECT_GT(chain.factors(), 0);
    work[i] = chain.solves() + chain.factors();
  }
  EXPECT_LT(work[1], 2 * work[0]);  // 16 times of them by links: 4 times as many, each 4 times as dear
}

// The same bits on any number of threads, and where a run is taken up again.
TEST(ContactWays, BitsOfAPileDependOnItsStateAlone) {
  std::string text = "bodies:\n";
  for (int k = 0; k < 16; ++k)
    text +=
        fmt::format("  b{}: {{at: [{:.3f}, {:.3f}, {:.3f}], rotate: [0, 0, {:.3f}], box: [0.1, 0.1, 0.1]}}\n",
                    k, 0.16 * (k % 2) + 0.01 * std::sin(7.0 * k), 0.16 * (k / 2 % 2),
                    0.0505 + 0.101 * (k / 4), 0.4 * std::sin(3.0 * k));
  text += "contact: {friction: 0.5, planes: [{at: [0, 0, 0]}]}\n";
  Way one(text, ContactWay::elimination), two(text, ContactWay::elimination, 2);
  one.run(0.1, 5e-3);
  two.run(0.05, 5e-3);
  State again = two.system.rest();
  again.load(two.state.save());
  two.state = again;
  two.w = articulated::Workspace(two.system);
  two.run(0.1, 5e-3);
  EXPECT_GT(two.factors(), 0);
  EXPECT_EQ(one.state.q, two.state.q);
  EXPECT_EQ(one.state.touching, two.state.touching);
}

}  // namespace
}  // namespace limber::testing
