// What docs/scene.md promises about axes, signs and times, measured from outside.
#include <cmath>
#include <map>

#include "limber/sim/driver.h"
#include "scene_support.h"

namespace limber::scene {
namespace {

// Every number of the scene after so many of its steps.
std::map<std::string, double> numbers_of(const std::string& text, int steps = 0) {
  const Scene scene = parse_text(text);
  sim::Driver driver(scene.model, scene.run);
  for (int k = 0; k < steps; ++k) {
    driver.set_clock(k, k * scene.run.step);
    EXPECT_TRUE(driver.step(scene.run.step).ok());
  }
  result::Snapshot s;
  s.resize(driver.layout());
  driver.observe(s);
  std::map<std::string, double> out;
  for (std::size_t i = 0; i < s.scalars.size(); ++i) out[driver.layout().scalars[i].name] = s.scalars[i];
  return out;
}

Vec3 vector_of(const std::map<std::string, double>& n, const std::string& name) {
  return {n.at(name + ".x"), n.at(name + ".y"), n.at(name + ".z")};
}

constexpr char beam_stuff[] =
    "gravity: [0, 0, 0]\n"
    "materials: {m: {E: 1 GPa, nu: 0.3, density: 1000 kg/m3}}\n"
    "sections: {s: {rectangle: {width: 4 mm, height: 2 mm}}}\n";

TEST(Conventions, ABeamOnABeamHasItsSectionsAxes) {
  const auto n =
      numbers_of(std::string(beam_stuff) +
                 "beams:\n"
                 "  a: {path: [[0, 0, 0], [0, 0, 1]], up: [1, 0, 0], material: m, section: s}\n"
                 "  along: {from: a.tip, path: [[0, 0, 0], [0.5, 0, 0]], material: m, section: s}\n"
                 "  y: {from: a.tip, path: [[0, 0, 0], [0, 0.5, 0]], material: m, section: s}\n"
                 "  up: {from: a@0.5, path: [[0, 0, 0], [0, 0, 0.5]], material: m, section: s}\n"
                 "probes: [along.tip.position, y.tip.position, up.tip.position]\n");
  EXPECT_LT((vector_of(n, "along.tip.position") - Vec3(0, 0, 1.5)).norm(), 1e-12);
  EXPECT_LT((vector_of(n, "y.tip.position") - Vec3(0, -0.5, 1)).norm(), 1e-12);  // up × along
  EXPECT_LT((vector_of(n, "up.tip.position") - Vec3(0.5, 0, 0.5)).norm(), 1e-12);
}

TEST(Conventions, ASplineGoesThroughItsPointsAndBeginsAlongItsChord) {
  const auto n =
      numbers_of(std::string(beam_stuff) +
                 "beams: {b: {path: {spline: [[0, 0, 0], [1, 0, 0], [1, 1, 0]]}, material: m, section: s, "
                 "elements: 200}}\n"
                 "probes: [b.tip.position, b@0.5.position, b@0.01.position, b.tip.rotation]\n");
  EXPECT_LT((vector_of(n, "b.tip.position") - Vec3(1, 1, 0)).norm(), 0.01);  // links cut corners
  EXPECT_LT((vector_of(n, "b@0.5.position") - Vec3(1, 0, 0)).norm(), 0.01);  // by symmetry
  const Vec3 start = vector_of(n, "b@0.01.position");
  EXPECT_LT(std::abs(start.y()), 0.05 * start.x());
  EXPECT_NEAR(vector_of(n, "b.tip.rotation").z(), pi / 2, 0.05);
}

// α = I⁻¹ (3, 0, 0) with I = [2 1; 1 2]: (2, −1).
TEST(Conventions, ProductsOfInertiaAreTheTensors) {
  const auto n = numbers_of(
      "gravity: [0, 0, 0]\n"
      "bodies: {a: {mass: 1, inertia: [2, 2, 2, 1, 0, 0]}}\n"
      "loads: {t: {on: a, moment: [3, 0, 0]}}\n"
      "probes: [a.angular_velocity]\n"
      "run: {step: 1 ms}\n",
      1);
  EXPECT_LT((vector_of(n, "a.angular_velocity") / 1e-3 - Vec3(2, -1, 0)).norm(), 1e-5);
}

TEST(Conventions, RotationsAreOneActiveTurn) {
  const auto n = numbers_of(
      "bodies:\n"
      "  vector: {sphere: 1, rotate: [0.3, 0.4, 0.5]}\n"
      "  matrix: {sphere: 1, rotate: [[0, -1, 0], [1, 0, 0], [0, 0, 1]], points: {p: [1, 0, 0]}}\n"
      "  axis: {sphere: 1, rotate: {axis: [0, 0, 2], angle: 30 deg}}\n"
      "probes: [vector.rotation, matrix.rotation, matrix.p.position, axis.rotation]\n");
  EXPECT_LT((vector_of(n, "vector.rotation") - Vec3(0.3, 0.4, 0.5)).norm(), 1e-14);
  EXPECT_LT((vector_of(n, "matrix.rotation") - Vec3(0, 0, pi / 2)).norm(), 1e-14);
  EXPECT_LT((vector_of(n, "matrix.p.position") - Vec3(0, 1, 0)).norm(), 1e-14);
  EXPECT_LT((vector_of(n, "axis.rotation") - Vec3(0, 0, pi / 6)).norm(), 1e-14);
}

// A force t² on 1 kg in one step of 1 s from rest gives Σ b c² of speed, with the weights b and times c of
// the integrator.
TEST(Conventions, WhenLoadsAreTaken) {
  const std::string body =
      "gravity: [0, 0, 0]\nbodies: {b: {sphere: 1 cm, mass: 1 kg}}\nloads: {f: {on: b, force: [t^2, 0, 0]}}\n"
      "joints: {j: {type: prismatic, child: b, axis: [1, 0, 0]}}\nprobes: [j.velocity]\n";
  const double gamma = 1 - 1 / std::sqrt(2.0);
  const std::map<std::string, double> expected = {
      {"euler", 1},       {"implicit_euler", 1},
      {"midpoint", 0.25}, {"sdirk", (1 - gamma) * gamma * gamma + gamma},
      {"rk4", 1.0 / 3},   {"gauss", 1.0 / 3},
      {"sdirk4", 1.0 / 3}};
  for (const auto& [integrator, speed] : expected)
    EXPECT_NEAR(numbers_of(body + "run: {step: 1 s, integrator: " + integrator + "}\n", 1).at("j.velocity"),
                speed, 1e-9)
        << integrator;
  const auto thread = numbers_of(
      "gravity: [t^2, 0, 0]\nmaterials: {m: {E: 1 MPa, nu: 0.3, density: 1000 kg/m3}}\nsections: {s: "
      "{circle: 5 mm}}\n"
      "beams: {b: {path: [[0, 0, 0], [0, 0, 1]], root: free, material: m, section: s, elements: 4}}\n"
      "probes: [b@0.5.velocity]\nrun: {method: thread, step: 1 ms}\n",
      1);
  EXPECT_NEAR(thread.at("b@0.5.velocity.x"), 1e-9, 1e-15);
}

}  // namespace
}  // namespace limber::scene
