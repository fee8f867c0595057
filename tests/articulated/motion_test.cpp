// Prescribed motions: every integrator converges to the same motion of what they carry, at its order.
#include <gtest/gtest.h>

#include <cmath>

#include "limber/articulated/system.h"

namespace limber::articulated {
namespace {

// factor · sin(rate t), or of 1 − cos(rate t): a motion that starts at rest.
TimeFunction swaying(double factor, double rate, bool from_rest = false) {
  math::Program p;
  p.push_constant(factor);
  if (from_rest) p.push_constant(1);
  p.push_constant(rate);
  p.push_variable(0);
  p.push(math::Op::multiply);
  p.push(from_rest ? math::Op::cos : math::Op::sin);
  if (from_rest) p.push(math::Op::subtract);
  p.push(math::Op::multiply);
  return TimeFunction::expression(p);
}

// A chain of bars of 0.2 m along x, joints at their ends; the first joint is of `kind` and driven.
ModelBuilder driven_chain(JointKind kind, int bars) {
  ModelBuilder b;
  b.parts.gravity = VectorFunction::constant({0, -2, 0});
  for (int i = 0; i < bars; ++i) {
    Body bar;
    bar.name = "bar" + std::to_string(i);
    bar.inertia = Inertia::about_com(0.5, Vec3(0.1, 0, 0), math::box_inertia(0.5, Vec3(0.2, 0.03, 0.02)));
    const BodyId id = b.add(bar);
    Joint j;
    j.name = "joint" + std::to_string(i);
    j.kind = i == 0 ? kind : JointKind::revolute;
    j.parent = BodyId{i - 1};
    j.child = id;
    if (i > 0) j.X_PF = Pose::translation({0.2, 0, 0});
    if (i == 0 && kind == JointKind::prismatic)
      j.X_PF = j.X_BM = Pose::rotation(math::rotation_from_z(Vec3::UnitY()));
    b.add(j);
  }
  return b;
}

struct DrivenCase {
  std::string name;
  Model model;
};

std::vector<DrivenCase> driven_cases() {
  std::vector<DrivenCase> out;
  const auto add = [&](const std::string& name, ModelBuilder b, std::array<TimeFunction, 6> position) {
    PrescribedMotion m;
    m.joint = JointId{0};
    m.position = std::move(position);
    b.add(m);
    out.push_back({name, b.build()});
  };
  add("hinge", driven_chain(JointKind::revolute, 2), {swaying(0.36, 20)});
  add("hinge from rest", driven_chain(JointKind::revolute, 2), {swaying(0.2, 12, true)});
  add("slide", driven_chain(JointKind::prismatic, 2), {swaying(0.05, 15)});
  add("ball", driven_chain(JointKind::spherical, 2), {swaying(0.3, 9), swaying(0.2, 14), swaying(0.25, 11)});
  // Five bars: four that hang on each other, the last one on the ground, 2 freedoms of which one is given.
  ModelBuilder loop = driven_chain(JointKind::revolute, 4);
  loop.parts.joints[1].position[0] = 1.0;
  loop.parts.joints[2].position[0] = -1.4;
  loop.parts.joints[3].position[0] = -0.8;
  Loop closing;
  closing.name = "closing";
  closing.kind = JointKind::revolute;
  closing.a = BodyId{3};
  closing.X_AF = Pose::translation({0.2, 0, 0});
  const double heading[4] = {0, 1.0, -0.4, -1.2};
  Vec3 end = Vec3::Zero();
  for (const double angle : heading) end += 0.2 * Vec3(std::cos(angle), std::sin(angle), 0);
  closing.X_BM = {math::so3_exp(Vec3(0, 0, -1.2)), end};
  loop.add(closing);
  add("loop", std::move(loop), {swaying(0.15, 12)});
  return out;
}

VecX driven_end(const Model& model, Integrator integrator, int steps) {
  const System s = compile(model, {.integrator = integrator});
  State state = s.rest();
  Workspace w(s);
  for (int i = 0; i < steps; ++i) {
    const auto report = step(s, state, w, 0.2 / steps);
    EXPECT_TRUE(report.ok()) << report.message;
  }
  return VecX(Eigen::Vector2d(state.q.back(), state.v.back() / 20));  // of the last joint, which is free
}

TEST(Motion, AllIntegratorsAgreeInTheLimit) {
  for (const DrivenCase& c : driven_cases()) {
    const VecX limit = driven_end(c.model, Integrator::gauss, 3200);  // its own error: 1e-11 and less
    for (const Integrator integrator : all_integrators) {
      SCOPED_TRACE(c.name + ", " + to_string(integrator));
      const int order = order_of(integrator), steps = order == 4 ? 50 : 400;
      const double coarse = (driven_end(c.model, integrator, steps) - limit).norm();
      const double fine = (driven_end(c.model, integrator, 2 * steps) - limit).norm();
      EXPECT_NEAR(std::log2(coarse / fine), order, 0.2);  // the next order, of h ω = 0.01 (fourth: 0.08)
      // rad: ω h = 0.005 (fourth: 0.04), times what the bars make of it
      EXPECT_LT(fine, order == 1 ? 0.05 : order == 2 ? 1e-3 : 1e-5);
      RecordProperty(c.name + to_string(integrator), std::to_string(fine));
    }
  }
}

// A point mass on a hinge and nothing else, let go at 90°: a quarter of T = 4 √(L/g) K(sin 45°), with K by
// the arithmetic-geometric mean, until it hangs (Lima and Arun 2006).
TEST(PointMass, PendulumHasItsPeriod) {
  const double L = 0.7, g = 9.81;
  double a = 1, b = std::cos(pi / 4);
  for (int i = 0; i < 6; ++i) {
    const double mean = 0.5 * (a + b);
    b = std::sqrt(a * b), a = mean;
  }
  const double quarter = std::sqrt(L / g) * pi / (2 * a);
  ModelBuilder builder;
  builder.parts.gravity = VectorFunction::constant({0, 0, -g});
  Body bob;
  bob.name = "bob";
  add_point_mass(bob, {"", 3, {L, 0, 0}});
  Joint hinge;
  hinge.name = "hinge", hinge.kind = JointKind::revolute;
  hinge.X_PF.R = hinge.X_BM.R = math::rotation_from_z(Vec3::UnitY());
  hinge.child = builder.add(bob);
  builder.add(hinge);
  const System system = compile(builder.build(), {.integrator = Integrator::gauss});
  State state = system.rest();
  Workspace w(system);
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(step(system, state, w, quarter / 200).ok());
  EXPECT_NEAR(state.q[0], pi / 2, 1e-9);  // of fourth order: (1/200)⁴
  EXPECT_NEAR(state.v[0], std::sqrt(2 * g / L), 1e-9);
}

}  // namespace
}  // namespace limber::articulated
