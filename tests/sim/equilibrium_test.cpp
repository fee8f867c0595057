// One equilibrium by three methods: a cantilever against the elastica, what it says of it, curves, changes.
#include "limber/sim/equilibrium.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "limber/scene/scene.h"
#include "limber/sim/compare.h"
#include "limber/sim/static_curve.h"
#include "limber/sim/static_inverse.h"

namespace limber::sim {
namespace {

constexpr Method three[] = {Method::chain, Method::articulated, Method::thread};
constexpr double length = 1, radius = 2.5e-3, E = 200e9;

// A steel rod of 1 m, clamped along x, weightless, with a force on its tip.
struct Cantilever {
  ModelBuilder builder;
  BeamId beam;
  double EI = E * pi * radius * radius * radius * radius / 4;

  Cantilever(int elements, double P, double r = radius) {
    builder.parts.gravity = VectorFunction::constant(Vec3::Zero());
    Material m;
    m.name = "steel", m.E = E, m.G = 80e9, m.density = 7850, m.yield = 400e6;
    Section s;
    s.name = "rod", s.shape = Circle{r};
    Beam b;
    b.name = "rod", b.material = builder.add(m), b.section = builder.add(s), b.elements = elements;
    PolylinePath path;
    path.points = {{0, 0, 0}, {length, 0, 0}};
    b.path = path;
    beam = builder.add(b);
    PointLoad l;
    l.name = "tip", l.at.beam = beam, l.at.s = 1, l.force = VectorFunction::constant({0, 0, -P});
    builder.add(l);
    Probe p;
    p.name = "end", p.at = l.at;
    builder.add(p);
  }
  Model build() const { return ModelBuilder(builder).build(); }
};

StaticOptions by(Method method) {
  StaticOptions o;
  o.method = method;
  return o;
}

nlohmann::json elastica() {
  std::ifstream file(std::string(LIMBER_TEST_DATA) + "/A1_cantilever_end_force.json");
  return nlohmann::json::parse(file)["reference"];
}

// The closed form by elliptic integrals (tests/data/A1), 32 elements. Chain and articulated have an error of
// second order in the elements, 1.4e-5 of the length at the largest load. A thread also shears and stretches,
// which the elastica does not: 2.2e-5. The bound is about twice that.
TEST(Equilibrium, ACantileverIsTheElastica) {
  for (const Method method : three) {
    double worst = 0, worst_moment = 0, worst_slope = 0;
    for (const auto& r : elastica()) {
      const double unit = Cantilever(1, 0).EI / (length * length);
      const Cantilever c(32, r["PL2_over_EI"].get<double>() * unit);
      const Equilibrium e = find_equilibrium(c.build(), {}, by(method));
      ASSERT_TRUE(e.ok()) << e.report.message;
      EXPECT_TRUE(e.stable());
      ASSERT_EQ(e.beams.size(), 1u);
      const Vec3 exact(r["tip_x_over_L"].get<double>(), 0, -r["tip_deflection_over_L"].get<double>());
      worst = std::max(worst, (e.beams[0].tip - exact).norm());
      worst_slope = std::max(worst_slope, std::abs(e.beams[0].slope - r["tip_slope_rad"].get<double>()));
      ASSERT_EQ(e.reactions.size(), 1u);
      EXPECT_EQ(e.reactions[0].name, "rod");
      EXPECT_EQ(e.reactions[0].of, "root");
      const double P = r["PL2_over_EI"].get<double>() * unit;
      EXPECT_NEAR(e.reactions[0].force.z(), P, 1e-6 * P) << info_of(method).name();
      const double M = r["base_moment_over_EI_per_L"].get<double>() * c.EI;
      worst_moment = std::max(worst_moment, std::abs(-e.reactions[0].moment.y() / M - 1));
      // M c / I at the root, within the error of the arm.
      const double stress = M * radius / (c.EI / E);
      EXPECT_NEAR(e.beams[0].worst()->stress.combined, stress, 1e-3 * stress) << info_of(method).name();
      EXPECT_EQ(e.beams[0].worst()->s, 0);
    }
    RecordProperty(info_of(method).name(), fmt::format("{:.2e}", worst));
    EXPECT_LT(worst, 5e-5) << info_of(method).name();
    EXPECT_LT(worst_moment, 1e-4) << info_of(method).name();
    EXPECT_LT(worst_slope, 1e-3) << info_of(method).name();
  }
}

TEST(Equilibrium, AllMethodsSayTheSameWords) {
  const Model model = Cantilever(16, 10).build();
  std::vector<std::string> first, common;
  for (const Method method : three) {
    StaticOptions o = by(method);
    if (info_of(method).statics->modes) o.modes = 0;
    o.estimate = true;
    std::vector<std::string> labels;
    for (const Statement& s : describe(find_equilibrium(model, {}, o))) labels.push_back(s.label);
    if (method != Method::thread) {
      EXPECT_EQ(std::erase(labels, "stiffness"), 1u);  // against its only load, which thread does not know
    }
    if (first.empty()) first = common = labels;
    EXPECT_EQ(labels, common) << info_of(method).name();
  }
  EXPECT_EQ(common, (std::vector<std::string>{"method", "equilibrium", "stability", "stress", "error"}));
}

// The estimate is of the distance from the exact tip: within a factor of 4 of it for elements of second
// order, from above or not far below; the wanted error is then kept.
TEST(Equilibrium, EstimatesItsError) {
  const auto r = elastica()[3];
  const Cantilever c(4, r["PL2_over_EI"].get<double>() * Cantilever(1, 0).EI);
  const Vec3 exact(r["tip_x_over_L"].get<double>(), 0, -r["tip_deflection_over_L"].get<double>());
  for (const Method method : {Method::chain, Method::articulated}) {
    StaticOptions o = by(method);
    o.estimate = true;
    const Equilibrium e = find_equilibrium(c.build(), {}, o);
    ASSERT_TRUE(e.error.ok);
    const double truth = (e.beams[0].tip - exact).norm();
    EXPECT_GT(e.error.tip, truth / 4) << info_of(method).name();
    EXPECT_LT(e.error.tip, 4 * truth) << info_of(method).name();
    o.error = 1e-5;
    const Equilibrium fine = find_equilibrium(c.build(), {}, o);
    EXPECT_GT(fine.refinement, 1) << info_of(method).name();
    EXPECT_LE(fine.error.largest, 1e-5);
  }
}

TEST(Equilibrium, OptionsAreHonouredOrRefused) {
  const Model model = Cantilever(8, 10).build();
  for (const Method method : three) {
    StaticOptions o = by(method);
    o.max_iterations = 1;  // a bent rod takes more
    EXPECT_FALSE(find_equilibrium(model, {}, o).ok()) << info_of(method).name();
    o = by(method);
    o.load = 0.5;
    StaticOptions half = by(method);
    const Equilibrium a = find_equilibrium(model, {}, o),
                      b = find_equilibrium(Cantilever(8, 5).build(), {}, half);
    EXPECT_LT((a.beams[0].tip - b.beams[0].tip).norm(), 1e-9) << info_of(method).name();
    o = by(method);
    o.modes = 2;
    if (info_of(method).statics->modes)
      EXPECT_EQ(find_equilibrium(model, {}, o).modes.size(), 2u);
    else
      EXPECT_THROW(find_equilibrium(model, {}, o), std::invalid_argument);
  }
  EXPECT_THROW(find_equilibrium(model, {}, by(Method::rom)), std::invalid_argument);
  EXPECT_EQ(find_equilibrium(model).method, "chain");
}

TEST(Equilibrium, RampsEndAtTheRest) {
  const Model model = Cantilever(8, 10).build();
  for (const Method method : three) {
    CurveOptions o;
    o.statics = by(method);
    const StaticCurve curve = load_curve(model, {}, 5, Growth::loads, o);
    ASSERT_TRUE(curve.ok()) << curve.report.message;
    ASSERT_EQ(curve.points.size(), 6u);
    const Equilibrium e = find_equilibrium(model, {}, o.statics);
    EXPECT_EQ(curve.points.front().load, 0);
    for (std::size_t i = 0; i < e.after.points.size(); ++i)  // both to rounding of their solves
      EXPECT_LT((curve.points.back().snapshot.points[i] - e.after.points[i]).norm(), 1e-7);
    o.statics.time = 0;
    if (method == Method::chain) continue;
    if (method == Method::thread) {
      EXPECT_THROW(equilibrium_path(model, Branch::straight, o), std::invalid_argument);
    }
    EXPECT_THROW(static_history(model, 1, 2, o), std::invalid_argument);
  }
}

TEST(Equilibrium, LoadsThatGrowBesideAWeightAreRefusedWhereBothWouldGrow) {
  Cantilever c(8, 10);
  c.builder.parts.gravity = VectorFunction::constant({0, 0, -9.81});
  for (const Method method : three) {
    CurveOptions o;
    o.statics = by(method);
    if (method != Method::thread) {
      // Bent by its weight before the load comes.
      EXPECT_LT(load_curve(c.build(), {}, 2, Growth::loads, o).points[0].snapshot.scalars[2], -1e-3);
    } else {
      EXPECT_THROW(load_curve(c.build(), {}, 2, Growth::loads, o), ModelError);
    }
    EXPECT_NEAR(load_curve(c.build(), {}, 2, Growth::everything, o).points[0].snapshot.scalars[2], 0, 1e-12);
  }
}

// A change that is due at the time is made, a beam that grows later is not there yet.
TEST(Equilibrium, ChangesAreHonouredAtTheirTime) {
  Cantilever c(8, 10);
  Section thick;
  thick.name = "thick", thick.shape = Circle{2 * radius};
  Change change;
  change.at = 2, change.kind = Change::Kind::section, change.beam = c.beam,
  change.section = c.builder.add(thick);
  c.builder.add(change);
  StaticOptions o = by(Method::chain);
  o.time = 1;
  const double before = find_equilibrium(c.build(), {}, o).beams[0].tip.z();
  o.time = 2;
  const Equilibrium e = find_equilibrium(c.build(), {}, o);
  ASSERT_EQ(e.events.size(), 1u);
  // The joints' springs are at ease where they were: it bends as if it had always been thick. To rounding.
  const Equilibrium thick_one =
      find_equilibrium(Cantilever(8, 10, 2 * radius).build(), {}, by(Method::chain));
  EXPECT_NEAR(e.beams[0].tip.z(), thick_one.beams[0].tip.z(), 1e-9);
  EXPECT_NEAR(static_history(c.build(), 2, 2).points.back().snapshot.scalars[2], e.after.scalars[2], 1e-9);
  EXPECT_EQ(find_equilibrium(Cantilever(8, 10).build(), {}, by(Method::chain)).beams[0].tip.z(), before);
  CurveOptions curve;
  curve.statics = o;
  EXPECT_THROW(load_curve(c.build(), {}, 4, Growth::loads, curve), ModelError);
  EXPECT_THROW(equilibrium_path(c.build(), Branch::straight, curve), ModelError);
  EXPECT_THROW(unloaded_shape(c.build(), o), ModelError);
  EXPECT_THROW(published_sweeps(c.build(), "linear_12", 1, 2), ModelError);
}

// What the part beyond a section bears, along the beam: chain and articulated have the same joints; a
// thread's moments are interpolated between the middles of its elements, 1e-3 of the root's with 32 of them.
TEST(Equilibrium, SectionsBearTheSameByEveryMethod) {
  const Model model = Cantilever(32, 10).build();
  const Equilibrium chain = find_equilibrium(model, {}, by(Method::chain));
  const Equilibrium tree = find_equilibrium(model, {}, by(Method::articulated));
  const Equilibrium thread = find_equilibrium(model, {}, by(Method::thread));
  const auto& a = chain.beams[0].sections;
  const auto& b = tree.beams[0].sections;
  ASSERT_EQ(a.size(), b.size());
  const double root = a[0].moment.norm();
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(a[i].s, b[i].s, 1e-12);
    EXPECT_LT((a[i].moment - b[i].moment).norm(), 1e-8 * root);
    EXPECT_LT((a[i].force - b[i].force).norm(), 1e-8 * 10);
  }
  for (const SectionForce& s : thread.beams[0].sections) {
    const auto after = std::ranges::lower_bound(a, s.s, {}, &SectionForce::s);
    if (after == a.begin() || after == a.end())
      continue;  // the root is the reaction's, the tip bears nothing
    const SectionForce &x = *(after - 1), &y = *after;
    const double w = (s.s - x.s) / (y.s - x.s);
    EXPECT_LT((s.moment - (1 - w) * x.moment - w * y.moment).norm(), 2e-3 * root) << s.s;
  }
}

// A cord between two clamps: what holds it bears its weight, and turns it as little as the weight does.
TEST(Equilibrium, ClampsOfAThreadBearItsWeight) {
  Cantilever c(16, 0);
  c.builder.parts.gravity = VectorFunction::constant({0, 0, -9.81});
  c.builder.parts.beams[0].clamps.push_back({1, world, Hold::clamped});
  const Equilibrium e = find_equilibrium(c.build(), {}, by(Method::thread));
  ASSERT_TRUE(e.ok()) << e.report.message;
  ASSERT_EQ(e.reactions.size(), 2u);
  EXPECT_EQ(e.reactions[0].of, "root");
  EXPECT_EQ(e.reactions[1].of, "clamp");
  EXPECT_EQ(e.reactions[1].name, "rod@1");
  const double weight = 7850 * pi * radius * radius * length * 9.81;
  const Vec3 held = e.reactions[0].force + e.reactions[1].force;
  EXPECT_LT((held - Vec3(0, 0, weight)).norm(), 1e-6 * weight);         // the residual is 1e-9 of EA's share
  Vec3 turn = -0.5 * length * Vec3::UnitX().cross(Vec3(0, 0, weight));  // about the root; both ends are level
  for (const Reaction& r : e.reactions) turn += r.at.cross(r.force) + r.moment;
  EXPECT_LT(turn.norm(), 1e-6 * weight * length);
}

TEST(Equilibrium, TheUnloadedShapeComesBack) {
  const UnloadedShape shape = unloaded_shape(Cantilever(8, 10).build());
  ASSERT_TRUE(shape.ok());
  EXPECT_LT(shape.off, 1e-9);  // of the size; Newton's tolerance is 1e-10 of the moments
  EXPECT_GT(shape.unloaded.points.back().z(), 0.05);  // bent upwards
}

// Pushed up and down at its quarters: its middle and its ends stay where they are, whatever the mesh.
TEST(Compare, SeesTheWholeShape) {
  const scene::Scene scene = scene::parse(
      "limber: 1\ngravity: [0, 0, 0]\nmaterials: {m: {E: 200 GPa, nu: 0.3, density: 7850}}\n"
      "sections: {s: {circle: 5 mm}}\n"
      "beams: {b: {path: [[0, 0, 0], [1, 0, 0]], material: m, section: s, elements: 16}}\n"
      "ties: {end: {on: b.tip}}\nloads:\n  up: {on: b@0.25, force: [0, 0, 100]}\n"
      "  down: {on: b@0.75, force: [0, 0, -100]}\n",
      "s.yaml");
  const Comparison c = compare_statics(scene.model, scene.run, 0);
  const auto error = [&](const char* setting) {
    for (const Candidate& k : c.candidates)
      if (k.method == "chain" && k.setting == setting) return k.error;
    return 0.0;
  };
  // Where it is not looked at but in the middle and at the end, all are off by rounding alone. Each doubling
  // takes three quarters of the error away; the reference has 128 elements, 1/64 of the error of 16.
  EXPECT_GT(error("4 elements"), 1e-7);
  EXPECT_NEAR(error("8 elements") / error("16 elements"), 4, 0.4);
  EXPECT_NEAR(error("16 elements") / error("32 elements"), 4, 0.4);

  // Drawn a thousand times as far from the reference: the quarter of four elements, an end of one, at the
  // places of the reference.
  for (const Candidate& k : c.candidates) {
    if (k.method != "chain" || k.setting != "4 elements") continue;
    const auto quarter = [](const result::Layout& layout, const result::Snapshot& s, const Vec3& near) {
      EXPECT_EQ(layout.polylines[0].name, "b");
      const auto* end = s.points.data() + layout.polylines[0].points;
      return *std::min_element(s.points.data(), end, [&](const Vec3& a, const Vec3& b) {
        return (a - near).norm() < (b - near).norm();
      });
    };
    const std::vector<result::Snapshot> far = exaggerated(scene.model, k, c, 1000);
    const Vec3 own = quarter(k.layout, k.moments[0], {0.25, 0, 0});
    const Vec3 there = quarter(c.layout, c.moments[0], {0.25, 0, 0});
    const std::size_t i = std::ranges::find(k.moments[0].points, own) - k.moments[0].points.begin();
    ASSERT_NEAR(own.x(), 0.25, 1e-6);
    EXPECT_NEAR((far[0].points[i] - there).z() / (own - there).z(), 1000, 1);
  }
}

}  // namespace
}  // namespace limber::sim
