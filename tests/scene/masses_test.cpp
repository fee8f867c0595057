// Masses as scenes say them: shapes with densities of their own, holes, meshes, point masses.
#include "scene_support.h"

namespace limber::scene {
namespace {

std::string body(const std::string& keys) { return "limber: 1\nbodies: {a: {\n" + keys + "}}\n"; }

Inertia inertia_of(const std::string& keys) {
  return parse(body(keys), "test.yaml").model.bodies()[0].inertia;
}

void expect_same(const Inertia& a, const Inertia& b) {
  EXPECT_NEAR(a.m, b.m, 1e-14 * b.m);
  EXPECT_LT((a.h - b.h).norm(), 1e-14 * b.m);
  EXPECT_LT((a.I - b.I).norm(), 1e-14 * b.I.norm());
}

// A rod and a ball on its end, by parallel axes: each with its own density, or one with a mass.
TEST(Masses, ShapesHaveDensitiesOfTheirOwn) {
  const double rod = 700 * pi * 0.01 * 0.01 * 0.4, ball = 7850 * 4.0 / 3 * pi * 1e-3 * 0.027;
  const Inertia expected = [&] {
    Inertia out = Inertia::about_com(rod, Vec3::Zero(), math::cylinder_inertia(rod, 0.01, 0.4));
    out += Inertia::about_com(ball, Vec3(0, 0, 0.2), math::sphere_inertia(ball, 0.03));
    return out;
  }();
  const std::string stick =
      "shapes: [{cylinder: {radius: 1 cm, length: 40 cm}}, {sphere: 3 cm, at: [0, 0, 20 cm], ";
  expect_same(inertia_of(stick + "density: 7850}], density: 700"), expected);
  expect_same(inertia_of(stick + fmt::format("mass: {:.17g}}}], density: 700", ball)), expected);
  // The rest of the mass is the rod's.
  expect_same(inertia_of(stick + fmt::format("density: 7850}}], mass: {:.17g}", rod + ball)), expected);
  EXPECT_NEAR(inertia_of(stick + "density: 1000}]").m, rod / 0.7 + ball / 7.85, 1e-14);
}

TEST(Masses, MaterialsGiveDensitiesToShapes) {
  const Scene s = parse(
      "limber: 1\nmaterials: {oak: {E: 10 GPa, density: 700}}\n"
      "bodies: {a: {shapes: [{box: [1, 1, 1], material: oak}, {box: [1, 1, 1], at: [2, 0, 0]}], density: "
      "100}}\n",
      "test.yaml");
  EXPECT_DOUBLE_EQ(s.model.bodies()[0].inertia.m, 800);
  EXPECT_DOUBLE_EQ(s.model.bodies()[0].inertia.h.x(), 200);
}

// A tube: I = m (R² + r²)/2 about its axis. A hole is not drawn.
TEST(Masses, AHoleIsTakenOut) {
  const std::string tube =
      "shapes: [{cylinder: {radius: 5 cm, length: 20 cm}}, {cylinder: {radius: 4 cm, length: 20 cm}, hole: "
      "true}], ";
  const Scene s = parse(body(tube + "density: 2700"), "test.yaml");
  const Body& b = s.model.bodies()[0];
  EXPECT_EQ(b.shapes.size(), 1u);
  const double m = 2700 * pi * (25e-4 - 16e-4) * 0.2;
  EXPECT_NEAR(b.inertia.m, m, 1e-14 * m);
  EXPECT_NEAR(b.inertia.I(2, 2), m * (25e-4 + 16e-4) / 2, 1e-14 * m);
  EXPECT_NEAR(inertia_of(tube + "mass: 2 kg").I(2, 2), 2 * (25e-4 + 16e-4) / 2, 1e-14);
}

// A mass beside a density that agrees to the digits written counts; else both are told.
TEST(Masses, MassAndDensityMustAgree) {
  EXPECT_DOUBLE_EQ(inertia_of("box: [10 cm, 10 cm, 10 cm], density: 2700, mass: 2.701").m, 2.701);
  const auto expect = [](const std::string& keys, const std::string& words) {
    const std::string all = all_text(diagnose(body(keys)));
    EXPECT_NE(all.find(words), std::string::npos) << "expected: " << words << "\ngot: " << all;
    EXPECT_NE(all.find(":3:"), std::string::npos) << all;
  };
  expect("box: [10 cm, 10 cm, 10 cm], density: 2700, mass: 2.71",
         "the shapes have 2.7 kg by their densities, and the mass is 2.71 kg");
  expect("shapes: [{box: [1, 1, 1], mass: 3}], mass: 4",
         "the shapes have 3 kg by their densities, and the mass is 4 kg");
  expect("shapes: [{box: [1, 1, 1], mass: 3}, {sphere: 1}], mass: 2",
         "the shapes with a density or mass of their own have 3 kg already, and all together 2 kg");
  expect("shapes: [{box: [1, 1, 1], mass: 3}], mass: 3, inertia: [1, 1, 1]",
         "the body has an inertia already");
  expect("shapes: [{box: [1, 1, 1], mass: 3, hole: true}]", "hole");
  expect("shapes: [{box: [1, 1, 1]}, {box: [2, 2, 2], hole: true}]", "its holes take out more than there is");
  expect("shapes: [{box: [1, 1, 1], mass: 3}], density: 3", "every shape has a density or mass of its own");
  expect("shapes: [{box: [1, 1, 1], material: oak}]", "there is no material \"oak\"");
  expect("point_masses: [{mass: 0}]", "positive");
  expect("point_masses: [{mass: 1, at: [0, 0, 0], nmae: x}]", "name");
  expect("point_masses: [{mass: 1}], mass: 2", "point masses have their own");
}

TEST(Masses, AnOpenMeshIsToldAtItsShape) {
  const std::string all =
      all_text(diagnose("limber: 1\nbodies:\n  a:\n    shapes:\n      - {box: [1, 1, 1]}\n"
                        "      - {mesh: {vertices: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], "
                        "triangles: [[0, 2, 1], [0, 1, 3], [1, 2, 3]]}}\n"
                        "      - {mesh: {vertices: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], "
                        "triangles: [[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]]}}\n"));
  EXPECT_NE(all.find(":6:"), std::string::npos) << all;
  EXPECT_NE(all.find("the mesh is not closed"), std::string::npos) << all;
  EXPECT_NE(all.find(":7:"), std::string::npos) << all;
  EXPECT_NE(all.find("the mesh is inside out"), std::string::npos) << all;
}

TEST(Masses, SurviveARoundTripToTheBit) {
  for (const char* keys :
       {"box: [0.1, 0.2, 0.3], point_masses: [{name: tag, mass: 0.1, at: [0.3, 0.7, -0.11]}, {mass: 3e-3}]",
        "point_masses: [{mass: 0.1, at: [1, 0, 0]}, {mass: 0.7, at: [0, 1.3, 0]}, {mass: 0.4, at: [0, 0, "
        "1.7]}]",
        "shapes: [{sphere: 0.1, density: 77, at: [1, 0.3, 0]}, {box: [1, 2, 3], rotate: [0.1, 0.2, 0.3]}], "
        "mass: 3, point_masses: [{mass: 0.1, at: [0.3, 0, 0]}]"}) {
    const Scene first = parse(body(keys), "first.yaml");
    const std::string written = write_yaml(first.model, first.run);
    const Scene second = parse(written, "second.yaml");
    EXPECT_EQ(written, write_yaml(second.model, second.run));
    const Inertia &a = first.model.bodies()[0].inertia, &b = second.model.bodies()[0].inertia;
    EXPECT_EQ(a.m, b.m);
    EXPECT_EQ(a.h, b.h);
    EXPECT_EQ(a.I, b.I);
  }
}

// Couplings by a profile, as scenes say them.
std::string cam(const std::string& keys) {
  return "limber: 1\nbodies: {a: {sphere: 1 cm}, b: {sphere: 1 cm, at: [1, 0, 0]}}\n"
         "joints: {shaft: {type: revolute, child: a}, stem: {type: prismatic, child: b}}\n"
         "couplings: {valve: {\n" +
         keys + "}}\n";
}

TEST(Cams, AreReadAndSurviveARoundTrip) {
  for (const char* keys :
       {"cam: [shaft, stem], profile: 4 mm * (1 - cos(2*x))",
        "cam: [shaft, stem], profile: 2 mm * x^2, offset: 1 mm, stiffness: 3 kN/m, "
        "damping: 2 N*s/m, backlash: 0.1 mm",
        "cam: [stem, shaft], profile: {table: [[0, 0], [1 cm, 20 deg], [3 cm, 0]], periodic: true}"}) {
    const Scene first = parse(cam(keys), "first.yaml");
    ASSERT_EQ(first.model.couplings().size(), 1u);
    EXPECT_TRUE(first.model.couplings()[0].profile);
    const std::string written = write_yaml(first.model, first.run);
    const Scene second = parse(written, "second.yaml");
    EXPECT_EQ(written, write_yaml(second.model, second.run));
    for (const double x : {-2.0, 0.3, 5.0})
      EXPECT_EQ(first.model.couplings()[0].profile.value(x), second.model.couplings()[0].profile.value(x));
  }
}

TEST(Cams, BadOnesAreToldAtTheirPlace) {
  const auto expect = [](const std::string& keys, const std::string& words) {
    const std::string all = all_text(diagnose(cam(keys)));
    EXPECT_NE(all.find(words), std::string::npos) << "expected: " << words << "\ngot: " << all;
    EXPECT_NE(all.find(":5:"), std::string::npos) << all;
  };
  expect("cam: [shaft, stem]", "needs a profile");
  expect("cam: [shaft, stem], profile: 3 mm", "a constant moves nothing");
  expect("cam: [shaft, stem], profile: 0", "a constant moves nothing");
  expect("cam: [shaft, stem], profile: {table: [[0, 0], [1, 1 s]]}", "expected a length");
  expect("cam: [shaft, stem], profile: 1 mm * y", "\"y\"");
  expect("cam: [shaft, stem], profile: {table: [[0, 0], [1, 1 mm]], periodic: true}",
         "a periodic law ends with the value that it begins with, got 0 and 0.001");
  expect("cam: [shaft], profile: 1 mm * x", "a list of 2 joints");
  expect("gear: [shaft, stem], ratio: 2, profile: 1 mm * x", "goes with cam only");
  expect("cam: [shaft, stem], profile: 1 mm * sqrt(x)", "must have a value, a slope and a curvature at 0");
}

}  // namespace
}  // namespace limber::scene
