// Mechanisms of beams and rigid parts drawn at random, by two methods with two tangents, two ways to a rest
// and two kinds of coordinates; and frames of the textbooks with rigid parts in them, by articulated.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "limber/scene/scene.h"
#include "limber/sim/static_curve.h"

namespace limber::sim {
namespace {

const char* const head =
    "limber: 1\ngravity: [0, 0, 0]\nmaterials: {m: {E: 1e12, nu: 0, density: 1}}\n"
    "sections: {s: {rectangle: {width: 1 mm, height: 1 mm}}}\n";

Equilibrium rest_of(const std::string& text, Method method) {
  const scene::Scene scene = scene::parse(text, "test.yaml");
  StaticOptions o;
  o.method = method;
  if (method == Method::articulated) o.modes = 0;
  return find_equilibrium(scene.model, scene.run, o);
}

double probe(const Equilibrium& e, const std::string& name) {
  for (std::size_t i = 0; i < e.layout.scalars.size(); ++i)
    if (e.layout.scalars[i].name == name) return e.after.scalars[i];
  ADD_FAILURE() << "no probe " << name;
  return NAN;
}

double moment_of(const Equilibrium& e, const std::string& name) {
  for (const Reaction& r : e.reactions)
    if (r.name == name) return r.moment.y();
  ADD_FAILURE() << "no reaction " << name;
  return NAN;
}

constexpr double EI = 1e12 * 1e-12 / 12, P = 1e-6 * EI;  // so little that nothing turns

// Two halves of a beam welded to a block of no length between them: clamped at both ends, δ = P l³/(192 EI).
TEST(RigidParts, InABeamClampedAtBothEnds) {
  for (const Method method : {Method::chain, Method::articulated}) {
    const Equilibrium e = rest_of(
        head + fmt::format("bodies: {{block: {{at: [0.5, 0, 0], sphere: 1 mm, mass: 1 g}}}}\nbeams:\n"
                           "  a: {{path: [[0, 0, 0], [0.5, 0, 0]], material: m, section: s, elements: 20}}\n"
                           "  b: {{path: [[1, 0, 0], [0.5, 0, 0]], material: m, section: s, elements: 20}}\n"
                           "joints: {{weld: {{type: fixed, parent: a.tip, child: block}}}}\n"
                           "ties: {{other: {{on: b.tip, to: block}}}}\n"
                           "loads: {{f: {{on: block, force: [0, 0, {}]}}}}\nprobes: [block.position]\n",
                           -P),
        method);
    ASSERT_TRUE(e.ok()) << e.report.message;
    EXPECT_NEAR(probe(e, "block.position.z") / (-P / (192 * EI)), 1, 1e-4) << info_of(method).name();
    EXPECT_NEAR(moment_of(e, "a") / (-P / 8), 1, 1e-4);
    EXPECT_NEAR(moment_of(e, "b") / (P / 8), 1, 1e-4);
  }
}

// Clamped and pinned: the block turns on a hinge of the ground. 7 P l³/(768 EI), root moment 3 P l/16.
TEST(RigidParts, InABeamClampedAndPinned) {
  const Equilibrium e = rest_of(
      head + fmt::format("bodies: {{block: {{at: [1, 0, 0], sphere: 1 mm, mass: 1 g}}}}\nbeams:\n"
                         "  a: {{path: [[0, 0, 0], [1, 0, 0]], material: m, section: s, elements: 20}}\n"
                         "joints: {{pin: {{type: revolute, child: block, at: [1, 0, 0], axis: [0, 1, 0]}}}}\n"
                         "ties: {{end: {{on: a.tip, to: block}}}}\n"
                         "loads: {{f: {{on: a@0.5, force: [0, 0, {}]}}}}\nprobes: [a@0.5.position]\n",
                         -P),
      Method::articulated);
  ASSERT_TRUE(e.ok()) << e.report.message;
  EXPECT_NEAR(probe(e, "a@0.5.position.z") / (-7 * P / (768 * EI)), 1, 1e-4);
  EXPECT_NEAR(moment_of(e, "a") / (-3 * P / 16), 1, 1e-4);
}

// Columns h = 1 under a girder L = 1.5 of the same section, joined by blocks at the corners, pushed aside:
// H h³ (3k + 2)/(12 EI (6k + 1)), k = h/L; feet H h (3k + 1)/(2 (6k + 1)).
TEST(RigidParts, InAPortal) {
  const double k = 1 / 1.5;
  for (const Method method : {Method::chain, Method::articulated}) {
    const Equilibrium e = rest_of(
        head + fmt::format("bodies:\n  left: {{at: [0, 0, 1], sphere: 1 mm, mass: 1 g}}\n"
                           "  right: {{at: [1.5, 0, 1], sphere: 1 mm, mass: 1 g}}\nbeams:\n"
                           "  a: {{path: [[0, 0, 0], [0, 0, 1]], up: [1, 0, 0], {0}}}\n"
                           "  b: {{path: [[1.5, 0, 0], [1.5, 0, 1]], up: [1, 0, 0], {0}}}\n"
                           "  top: {{from: left, path: [[0, 0, 0], [1.5, 0, 0]], up: [0, 0, 1], {0}}}\n"
                           "joints:\n  l: {{type: fixed, parent: a.tip, child: left}}\n"
                           "  r: {{type: fixed, parent: b.tip, child: right}}\n"
                           "ties: {{corner: {{on: top.tip, to: right}}}}\n"
                           "loads: {{f: {{on: left, force: [{1}, 0, 0]}}}}\nprobes: [left.position]\n",
                           "material: m, section: s, elements: 20", P),
        method);
    ASSERT_TRUE(e.ok()) << e.report.message;
    EXPECT_NEAR(probe(e, "left.position.x") / (P * (3 * k + 2) / (12 * EI * (6 * k + 1))), 1, 1e-4);
    EXPECT_NEAR(moment_of(e, "a") / (-P * (3 * k + 1) / (2 * (6 * k + 1))), 1, 1e-4);
    EXPECT_NEAR(moment_of(e, "b") / (-P * (3 * k + 1) / (2 * (6 * k + 1))), 1, 1e-4);
  }
}

// Beams from the ground or from parts that are there, welds, ball joints and ties to parts; small loads, so
// that there is one rest to be found.
class Drawn {
 public:
  explicit Drawn(unsigned seed) : random_(seed) {
    const int parts = 1 + whole(3);
    for (int k = 0; k < parts; ++k) add_part(k);
    for (int k = 0; k < 1 + whole(3); ++k) add_brace(k, whole(parts));
  }
  std::string text(const char* stretch) const {
    return "limber: 1\ngravity: [0, 0, 0]\nmaterials: {m: {E: 200 GPa, nu: 0.3, density: 7850 kg/m3}}\n"
           "sections: {s: {rectangle: {width: 8 mm, height: 1 mm}}}\nbodies:\n" +
           bodies_ + "beams:\n" + beams_ + "joints:\n" + joints_ + "ties:\n" + ties_ +
           "loads:\n  f: {on: p0, force: " + vector(push_) + "}\nprobes: [p0.position]\n" + stretch;
  }
  std::string with(bool stretch) const {
    std::string out = text("");
    if (stretch) return out;
    for (std::size_t at = 0; (at = out.find("elements: 6", at)) != std::string::npos; at += 30)
      out.insert(at, "stretch: false, ");
    return out;
  }

 private:
  double number() { return std::uniform_real_distribution<double>(-1, 1)(random_); }
  int whole(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  Vec3 draw() { return {number(), number(), number()}; }
  static std::string vector(const Vec3& v) {
    return fmt::format("[{:.12g}, {:.12g}, {:.12g}]", v.x(), v.y(), v.z());
  }
  std::string beam(const std::string& name, const std::string& from, const Vec3& a, const Vec3& b) {
    const Vec3 t = (b - a).normalized();
    Vec3 up = draw();
    while (up.cross(t).norm() < 0.3) up = draw();
    return fmt::format("  {}: {{{}path: [{}, {}], up: {}, material: m, section: s, elements: 6}}\n", name,
                       from, vector(a), vector(b), vector(up));
  }
  // Each on a beam from the ground or from the one before.
  void add_part(int k) {
    const Vec3 at = 0.3 * draw() + Vec3(0, 0, 0.15 * k);
    const bool on_ground = k == 0 || whole(2) == 0;
    const Vec3 foot = on_ground ? Vec3(at + 0.12 * (draw() + Vec3(0, 0, -1.2))) : at_.back();
    bodies_ += fmt::format("  p{}: {{at: {}, sphere: 8 mm, mass: 20 g}}\n", k, vector(at));
    beams_ += on_ground
                  ? beam(fmt::format("b{}", k), "", foot, at)
                  : beam(fmt::format("b{}", k), fmt::format("from: p{}, ", k - 1), Vec3::Zero(), at - foot);
    joints_ += fmt::format("  j{0}: {{type: fixed, parent: b{0}.tip, child: p{0}}}\n", k);
    at_.push_back(at);
    if (k == 0) push_ = 0.02 * draw();
  }
  void add_brace(int k, int to) {
    const Vec3& at = at_[static_cast<std::size_t>(to)];
    beams_ += beam(fmt::format("c{}", k), "", at + 0.15 * draw() + Vec3(0, 0, -0.1), at);
    ties_ += fmt::format("  t{0}: {{on: c{0}.tip, to: p{1}, type: {2}}}\n", k, to,
                         whole(2) == 0 ? "fixed" : "spherical");
  }

  std::mt19937 random_;
  std::vector<Vec3> at_;
  Vec3 push_ = Vec3::Zero();
  std::string bodies_, beams_, joints_, ties_;
};

// Same links, so the same rests: to what both leave over. Where a beam is held, stretch decides.
TEST(RigidParts, DrawnAtRandomByTwoMethods) {
  int found = 0, decisive = 0;
  double worst = 0;
  constexpr int many = 200;
  for (unsigned seed = 1; seed <= many; ++seed) {
    const Drawn drawn(seed);
    const Equilibrium c = rest_of(drawn.with(true), Method::chain),
                      a = rest_of(drawn.with(true), Method::articulated);
    ASSERT_TRUE(c.ok() && a.ok()) << seed << ": " << c.report.message << a.report.message << "\n"
                                  << drawn.with(true);
    ++found;
    const auto moved = [](const Equilibrium& e) {
      return Vec3(e.after.positions[0] - e.before.positions[0]);
    };
    double off = 0, most = 0;
    for (std::size_t i = 0; i < c.beams.size(); ++i) {
      off = std::max(off, (c.beams[i].tip - a.beams[i].tip).norm());
      most = std::max(most, c.beams[i].moved.norm());
    }
    worst = std::max(worst, off / most);
    EXPECT_LT(off, 1e-7 * most + 1e-12) << seed << "\n" << drawn.with(true);
    EXPECT_EQ(c.stability.negative, a.stability.negative) << seed;
    const Equilibrium stiff = rest_of(drawn.with(false), Method::chain);
    if (!stiff.ok() ||
        std::abs(probe(stiff, "p0.position.x") - probe(c, "p0.position.x")) > 0.01 * moved(c).norm())
      ++decisive;
  }
  std::printf("%d mechanisms: worst %.2g of what moved, stretch decides %d\n", found, worst, decisive);
  EXPECT_GE(decisive, many / 4);
}

}  // namespace
}  // namespace limber::sim
