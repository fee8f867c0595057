// The shipped compliant mechanisms, each against a closed form, a sum of its parts or an independent rod.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "limber/scene/scene.h"
#include "limber/sim/static_curve.h"
#include "tests/support/planar_rods.h"

namespace limber::sim {
namespace {

using testing::PlanarRods;

scene::Scene shipped(const std::string& file, std::vector<std::pair<std::string, std::string>> set = {}) {
  scene::LoadOptions options;
  for (auto& one : set) options.set.push_back(one);
  return scene::load(std::string(LIMBER_SCENES) + "/" + file, options);
}

StaticOptions by(Method method, double time = 0) {
  StaticOptions o;
  o.method = method, o.time = time;
  return o;
}

double value(const result::Layout& layout, const result::Snapshot& at, const std::string& name) {
  for (std::size_t i = 0; i < layout.scalars.size(); ++i)
    if (layout.scalars[i].name == name) return at.scalars[i];
  ADD_FAILURE() << "no probe " << name;
  return NAN;
}
double value(const Equilibrium& e, const std::string& name) { return value(e.layout, e.after, name); }

const SectionForce& most_stressed(const Equilibrium& e) {
  const SectionForce* worst = nullptr;
  for (const BeamRest& b : e.beams)
    if (const SectionForce* w = b.worst(); !worst || w->stress.combined > worst->stress.combined) worst = w;
  return *worst;
}

// Two leaves, each clamped and guided: k = 24 EI/L³, root stress (F/2)(L/2) c/I, and the stage sinks by
// 0.6 y²/L. A weld on a beam's tip is one: chain has it as a link, articulated as a joint.
TEST(Mechanisms, ParallelStage) {
  const double E = 200e9, L = 0.1, b = 0.02, h = 0.5e-3, I = b * h * h * h / 12;
  for (const Method method : {Method::chain, Method::articulated}) {
    const scene::Scene s = shipped("parallel-stage.yaml", {{"force", "0.1 N"}, {"elements", "20"}});
    const Equilibrium e = find_equilibrium(s.model, s.run, by(method));
    ASSERT_TRUE(e.ok()) << e.report.message;
    const double y = value(e, "stage.position.x") - 0.03, sinks = 0.105 - value(e, "stage.position.z");
    // Shear (1e-4), 20 elements (1e-4), and what y/L = 1e-3 makes of it.
    EXPECT_NEAR(0.1 / y, 24 * E * I / (L * L * L), 5e-4 * 1000) << info_of(method).name();
    EXPECT_NEAR(sinks, 0.6 * y * y / L, 1e-2 * 0.6 * y * y / L);
    EXPECT_NEAR(most_stressed(e).stress.bending, 0.025 * 0.1 * (h / 2) / I, 5e-3 * 0.0025 * (h / 2) / I);
    EXPECT_TRUE(most_stressed(e).s < 1e-9 || most_stressed(e).s > 0.98);  // at an end
    EXPECT_NEAR(value(e, "stage.rotation.y"), 0, 1e-6);
    EXPECT_EQ(e.stability.negative, 0);
    ASSERT_TRUE(e.stiffness);
    EXPECT_NEAR(*e.stiffness, 24 * E * I / (L * L * L), 5e-4 * 1000);
  }
}

// Large ways: both methods the same, and stiffer than at first as the leaves are drawn.
TEST(Mechanisms, ParallelStageFar) {
  const scene::Scene s = shipped("parallel-stage.yaml", {{"force", "30 N"}});
  CurveOptions c, a;
  c.statics = by(Method::chain), a.statics = by(Method::articulated);
  const StaticCurve chain = equilibrium_path(s.model, Branch::straight, c, s.run),
                    tree = equilibrium_path(s.model, Branch::straight, a, s.run);
  ASSERT_TRUE(chain.ok() && tree.ok()) << chain.report.message << tree.report.message;
  const CurvePoint &p = chain.points.back(), &q = tree.points.back();
  EXPECT_NEAR(p.deflection, q.deflection, 1e-9);
  EXPECT_NEAR(p.largest_stress, q.largest_stress, 1e-6 * p.largest_stress);
  EXPECT_LT(p.deflection, 0.03);
  EXPECT_GT(p.deflection, 0.02);
}

// Leaves that cross: in the plane two rods between the ground and a rigid arm (a hundred thousand times
// stiffer), cubic elements.
TEST(Mechanisms, CrossedPivot) {
  const double E = 200e9, nu = 0.3, b = 8e-3, h = 0.4e-3, A = b * h, I = b * h * h * h / 12,
               a = 0.04 / std::sqrt(2.0);
  const double G = E / (2 * (1 + nu)), kappa = 10 * (1 + nu) / (12 + 11 * nu);
  const testing::RodSection leaf{E * A, kappa * G * A, E * I}, rigid{1e5 * E * A, 1e5 * G * A, 1e5 * E * I};
  PlanarRods rods;
  const double up = std::atan(1.0);
  const auto foot = rods.node(0, 0, up), other = rods.node(a, 0, 3 * up);
  rods.hold(foot, true, true, true), rods.hold(other, true, true, true);
  const auto right = rods.node(a, a, up), left = rods.node(0, a, 3 * up);
  rods.rod(
      leaf, [&](double s) { return Eigen::Vector3d(a * s, a * s, up); }, 0.04, 12, foot, right);
  rods.rod(
      leaf, [&](double s) { return Eigen::Vector3d(a - a * s, a * s, 3 * up); }, 0.04, 12, other, left);
  rods.rod(
      rigid, [&](double s) { return Eigen::Vector3d(a * s, a, 0); }, a, 2, rods.turned(left, -3 * up),
      rods.turned(right, -up));
  rods.load(right, 0, 0, -0.15);  // θ turns x towards z, a moment about y the other way
  auto point = rods.start();
  double factor = 0.2;
  for (const double turn : {5.0, 10.0, 20.0}) {
    // The load at which the independent one has turned so far: secants.
    double last = 0, was = 0;
    for (int i = 0; i < 12; ++i) {
      point = rods.at_load(point, factor);
      const double off = (up - rods.value(point, right, 2)) - turn * pi / 180;
      const double next = i == 0 ? factor * 1.2 : factor - off * (factor - last) / (off - was);
      if (std::abs(off) < 1e-9) break;
      last = factor, was = off, factor = next;
    }
    const double torque = 0.15 * factor;
    const scene::Scene s = shipped("crossed-pivot.yaml", {{"torque", fmt::format("{:.17g} N*m", torque)}});
    const Equilibrium e = find_equilibrium(s.model, s.run, by(Method::articulated));
    ASSERT_TRUE(e.ok()) << e.report.message;
    const double angle = value(e, "arm.rotation.y") * 180 / pi;
    std::printf("pivot: %.4g N m turn it by %.6f deg, independent rods by %.6f\n", torque, angle, turn);
    EXPECT_NEAR(angle, turn, 5e-3 * turn);
    EXPECT_NEAR(value(e, "arm.rotation.x"), 0, 1e-9);  // halves outside: nothing out of the plane
  }
}

// m a L³/(24 EI), with what the trusses and the beams weigh: half of a guided beam's weight counts as if it
// hung at its end.
TEST(Mechanisms, Accelerometer) {
  const double E = 169e9, rho = 2330, L = 200e-6, w = 2e-6, t = 25e-6, I = t * w * w * w / 12, a = 100;
  const double mass = rho * 400e-6 * 400e-6 * t, truss = rho * 160e-6 * 10e-6 * t, beam = rho * L * w * t;
  const double fold = 48 * E * I / (L * L * L);
  const double expected = a * ((mass + 2 * beam) + (mass + 4 * beam + 2 * truss + 2 * beam)) / fold;
  const scene::Scene s = shipped("accelerometer.yaml");
  for (const Method method : {Method::chain, Method::articulated}) {
    const Equilibrium e = find_equilibrium(s.model, s.run, by(method));
    ASSERT_TRUE(e.ok()) << e.report.message;
    // Eight elements a beam (1e-3), shear, and trusses that tilt as their beams stretch.
    EXPECT_NEAR(value(e, "mass.position.x"), expected, 5e-3 * expected) << info_of(method).name();
    EXPECT_NEAR(value(e, "mass.position.y"), 0, 1e-3 * expected);
  }
}

// Two curved beams and a shuttle that cannot turn, by both methods, and what theory says of one such beam.
TEST(Mechanisms, BistableSwitch) {
  const scene::Scene s = shipped("bistable-switch.yaml");
  const auto path = [](const Model& model, const RunOptions& run, Method method) {
    CurveOptions o;
    o.statics = by(method), o.shapes = false;
    return equilibrium_path(model, Branch::straight, o, run);
  };
  const StaticCurve shuttle = path(s.model, s.run, Method::articulated),
                    links = path(s.model, s.run, Method::chain);
  ASSERT_TRUE(shuttle.ok() && links.ok()) << shuttle.report.message << links.report.message;
  const auto limits = [](const StaticCurve& curve) {
    std::vector<double> out;  // [N]
    for (const auto& l : curve.lost)
      if (l.limit) out.push_back(l.factor * curve.force);
    return out;
  };
  const std::vector<double> a = limits(shuttle), b = limits(links);
  ASSERT_EQ(a.size(), 2u);
  ASSERT_EQ(b.size(), 2u);
  const double EI = 3.2e9 * 0.01 * std::pow(0.5e-3, 3) / 12, unit = EI * 5e-3 / 1e-3;  // EI h / L³
  for (const int i : {0, 1}) {
    EXPECT_NEAR(a[i], b[i], 1e-7);
    std::printf("switch: limit %g N, %.4g EI h/L^3 a beam\n", a[i], 0.5 * a[i] / unit);
  }
  // Qiu, Lang and Slocum: about 740 and −370 for large h/t of shallow beams. Here h/t = 10 and h/L = 1/20; a
  // shuttle that can tilt a little (bifurcations just before) leaves the limit points as they are.
  EXPECT_NEAR(0.5 * a[0] / unit, 740, 0.03 * 740);
  EXPECT_NEAR(0.5 * a[1] / unit, -370, 0.04 * 370);
}

// A cantilever under an arm: for small ways k = 3 EI/l³ at its tip, the hand's lever squared less.
TEST(Mechanisms, Stapler) {
  const double EI = 200e9 * 0.01 * std::pow(0.8e-3, 3) / 12, l = 0.06, lever = (0.01 + l) / 0.15;
  const scene::Scene s = shipped("stapler.yaml", {{"force", "0.05 N"}});
  const Equilibrium e = find_equilibrium(s.model, s.run, by(Method::articulated));
  ASSERT_TRUE(e.ok()) << e.report.message;
  const double down = 0.02 - value(e, "arm.hand.position.z");
  EXPECT_NEAR(0.05 / down, 3 * EI / (l * l * l) * lever * lever, 5e-3 * 3 * EI / (l * l * l) * lever * lever);
  // The pin stands at its stop, and leaves it: the path does as the rest.
  CurveOptions o;
  o.shapes = false;
  const StaticCurve path = equilibrium_path(s.model, Branch::straight, o, s.run);
  ASSERT_TRUE(path.ok()) << path.report.message;
  EXPECT_NEAR(path.points.back().deflection, down, 1e-9);
  const SectionForce& root = most_stressed(e);
  EXPECT_EQ(root.s, 0);
  EXPECT_NEAR(root.stress.bending, 0.05 / lever * l * 0.4e-3 * 200e9 / EI,
              5e-3 * 0.05 / lever * l * 0.4e-3 * 200e9 / EI);
}

StaticCurve ramp_of(const Model& model, const RunOptions& run) {
  CurveOptions o;
  o.statics.time = 1, o.shapes = false;
  return load_curve(model, run, 40, Growth::loads, o);
}

// A beam that nothing ties to the slider does nothing.
Model without(const Model& model, const std::string& ties) {
  ModelParts parts = model.parts();
  std::erase_if(parts.ties, [&](const Tie& t) { return ties.find(t.name) != std::string::npos; });
  return Model(std::move(parts));
}

// On a slider forces add: those of the parts that snap and of those that do not; and each is dV/dx.
TEST(Mechanisms, ConstantForce) {
  const scene::Scene s = shipped("constant-force.yaml");
  const StaticCurve whole = ramp_of(s.model, s.run), snap = ramp_of(without(s.model, "cd"), s.run),
                    springs = ramp_of(without(s.model, "ab"), s.run);
  ASSERT_TRUE(whole.ok() && snap.ok() && springs.ok()) << whole.report.message;
  double most = 0, least = 1e9;
  for (std::size_t i = 0; i < whole.points.size(); ++i) {
    const double f = whole.points[i].reaction;
    EXPECT_NEAR(f, snap.points[i].reaction + springs.points[i].reaction, 1e-6);
    if (whole.points[i].deflection < 0.99e-3 || whole.points[i].deflection > 6.01e-3) continue;
    most = std::max(most, f), least = std::min(least, f);
  }
  // The leaves buckle at 0.1 mm and are straight again at 6.5: a path that leaves where it should does as
  // ramps do.
  CurveOptions o;
  o.statics.time = 1, o.shapes = false;
  const StaticCurve path = equilibrium_path(s.model, Branch::stable, o, s.run);
  ASSERT_TRUE(path.ok()) << path.report.message;
  EXPECT_EQ(path.lost.size(), 2u);
  EXPECT_NEAR(path.points.back().reaction, whole.points.back().reaction, 1e-6);
  for (const CurvePoint& p : path.points)
    if (p.deflection > 0.99e-3 && p.deflection < 6.01e-3) {
      EXPECT_GT(p.reaction, least - 1e-4);
      EXPECT_LT(p.reaction, most + 1e-4);
    }
  std::printf("constant force: %.4g to %.4g N from 1 to 6 mm\n", least, most);
  EXPECT_LT(most - least, 0.01 * most);
}

// What the slider's way takes is what the leaves store; the jaws mirror each other.
TEST(Mechanisms, CompliantGripper) {
  const scene::Scene s = shipped("compliant-gripper.yaml");
  const StaticCurve c = ramp_of(s.model, s.run);
  ASSERT_TRUE(c.ok()) << c.report.message;
  double work = 0;
  for (std::size_t i = 0; i < c.points.size(); ++i) {
    const CurvePoint& p = c.points[i];
    const auto at = [&](const char* name) { return value(c.layout, p.snapshot, name); };
    EXPECT_NEAR(at("upper.tip.position.z"), -at("lower.tip.position.z"), 1e-9);
    EXPECT_NEAR(at("upper.tip.position.x"), at("lower.tip.position.x"), 1e-9);
    if (i > 0)
      work += 0.5 * (p.reaction + c.points[i - 1].reaction) * (p.deflection - c.points[i - 1].deflection);
  }
  const double stored = value(c.layout, c.points.back().snapshot, "energy.elastic");
  EXPECT_GT(stored, 0);
  EXPECT_NEAR(work, stored, 2e-3 * stored);  // of forty trapezoids
  EXPECT_LT(value(c.layout, c.points.back().snapshot, "upper.tip.position.z"), 0.0199);  // they close
}

}  // namespace
}  // namespace limber::sim
