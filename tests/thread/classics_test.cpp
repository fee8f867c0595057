// Two classics: the twist at which a ring writhes, and the friction of a thread around a cylinder.
#include <cstdlib>

#include "limber/math/so3.h"
#include "thread_support.h"

namespace limber::thread {
namespace {

// A body that follows `motion`, with its joint's z axis along `axis` at p.
BodyId driven(ModelBuilder& b, const std::string& name, JointKind kind, const Vec3& p, const Vec3& axis,
              const TimeFunction& motion) {
  Body body;
  body.name = name;
  body.inertia.m = 1;
  const BodyId id = b.add(body);
  Joint joint;
  joint.name = name + ".joint";
  joint.kind = kind;
  joint.child = id;
  joint.X_PF = {math::rotation_from_z(axis), p};
  PrescribedMotion given;
  given.joint = b.add(joint);
  given.position[0] = motion;
  b.add(given);
  return id;
}

// A straight thread of 1 m closed to a ring, one end turned against the other by `twist`: its elastic energy
// at rest over that of the flat ring. A ring whose end is held in space may swing about its tangent there at
// no cost: a spring far softer than the ring keeps it from that.
double energy_of_ring(double nu, double twist) {
  Rope rope;
  rope.nu = nu, rope.section = Circle{2e-3}, rope.elements = 64;
  ArcPath ring;
  ring.direction = Vec3::UnitX(), ring.towards = Vec3::UnitY();
  ring.radius = 1 / (2 * pi), ring.angle = 2 * pi;
  rope.path = ring;
  Beam beam = rope.beam();
  beam.straight = true;
  const BodyId end = driven(rope.builder, "end", JointKind::revolute, Vec3::Zero(), Vec3::UnitX(),
                            TimeFunction::table({0, 1}, {0, twist}));
  beam.clamps.push_back({1, end, Hold::clamped});
  Spring spring;
  spring.name = "soft";
  spring.a.beam = rope.builder.add(beam), spring.a.s = 0.5;
  spring.b.p = Vec3(0, 2 * ring.radius, 10);
  spring.stiffness = 1e-3 * rope.E * rope.I();
  rope.builder.add(spring);
  rope.builder.parts.gravity = VectorFunction::constant(Vec3::Zero());
  const System system = compile(std::move(rope.builder).build());
  State state = system.rest();
  Workspace w(system);
  double energy = 0;
  constexpr int parts = 20;  // so that no element turns by much at once
  for (int k = 1; k <= parts; ++k) {
    state.t = static_cast<double>(k) / parts;
    const StaticResult r = solve_static(system, state, w);
    EXPECT_TRUE(r.report.ok()) << r.report.message;
    EXPECT_EQ(r.negative, 0);
    energy = r.energy.elastic;
  }
  const double EI = rope.E * rope.I(), GJ = EI / (1 + nu);
  return energy / (0.5 * GJ * twist * twist + 0.5 * EI * 4 * pi * pi);
}

// Michell 1889, Zajac 1962: the flat ring is stable below a twist of 2π√3 EI/GJ and not above.
TEST(Ring, WrithesAtTheTwistOfMichellAndZajac) {
  for (const double nu : {0.0, 0.4}) {
    const double threshold = 2 * pi * std::sqrt(3.0) * (1 + nu);  // EI/GJ of a circle
    EXPECT_NEAR(energy_of_ring(nu, 0.99 * threshold), 1, 2e-3) << nu;
    EXPECT_LT(energy_of_ring(nu, 1.01 * threshold), 0.5) << nu;  // it has folded to a figure of eight
  }
}

// Half a turn around a fixed rod, one end pulled slowly by a hand, F at the other: all of it slides. Friction
// acts at the surface, a radius r inside the midline, so the tension grows by e^{μθR/(R+r)} (moments about
// the rod).
void capstan(bool by_pair) {
  // `make thread-campaign` takes 64 elements, ten times as long; the same law holds on 16, to the same 2 %.
  const int elements = std::getenv("LIMBER_CAMPAIGN") ? 64 : 16;
  const double r = 1e-3, R = 0.1, mu = 0.3, F = 10;
  Rope rope;
  rope.E = 1e8, rope.nu = 0.3, rope.section = Circle{r};
  std::vector<Vec3> p{Vec3(-(R + r), 0, -0.08)};
  for (int i = 0; i <= 100; ++i) {
    const double a = pi * i / 100;
    p.push_back((R + r) * Vec3(-std::cos(a), 0, std::sin(a)));
  }
  p.push_back(Vec3(R + r, 0, -0.08));
  rope.path = PolylinePath{p};
  rope.up = Vec3::UnitY();
  rope.elements = elements;
  Beam beam = rope.beam();
  beam.straight = true;
  beam.root = Hold::free;
  beam.damping = 1e-3;
  beam.air_damping = 20;
  Body rod;
  rod.name = "rod";
  rod.inertia.m = 1;
  Shape shape;
  shape.geometry = CylinderShape{R, 0.1};
  shape.X_BG = {math::rotation_from_z(Vec3::UnitY()), Vec3::Zero()};
  rod.shapes.push_back(shape);
  Joint joint;
  joint.name = "rod.joint";
  joint.child = rope.builder.add(rod);
  rope.builder.add(joint);
  const BodyId hand = driven(rope.builder, "hand", JointKind::prismatic, p.back(), -Vec3::UnitZ(),
                             TimeFunction::table({0, 2}, {0, 0.2}));
  beam.clamps.push_back({1, hand, Hold::pinned});
  Contact contact{by_pair ? 0.05 : mu, false, {}};
  if (by_pair) {
    SurfacePair& pair = contact.pairs.emplace_back();
    pair.a.beam = BeamId{0}, pair.b.body = BodyId{0};
    pair.terms.friction = mu;
  }
  rope.builder.parts.contact = contact;
  PointLoad load;
  load.name = "load";
  load.at.beam = rope.builder.add(beam);
  load.at.s = 0;
  load.force.c[2] = TimeFunction::table({0, 0.05}, {0, -F});
  rope.builder.add(load);
  rope.builder.parts.gravity = VectorFunction::constant(Vec3::Zero());
  const System system = compile(std::move(rope.builder).build());
  State state = system.rest();
  Workspace w(system);
  double mean = 0;
  int count = 0;
  for (int k = 0; k < 290; ++k) {
    const result::SolveReport report = step(system, state, w, 1e-3);
    ASSERT_TRUE(report.ok()) << report.message;
    if (k < 260 || k % 5 != 0) continue;
    mean += station(system, state, w, 0, 0.98).tension / station(system, state, w, 0, 0.02).tension;
    ++count;
    EXPECT_LT(contact_report(system, state, w).deepest, 0.02 * 2 * r);
  }
  EXPECT_NEAR(mean / count / std::exp(mu * pi * R / (R + r)), 1, 0.02);
}
// By the friction of thread and rod as a pair, where the scene's is another; `make thread-campaign`: by that
// too.
TEST(Capstan, TensionGrowsExponentially) {
  capstan(true);
  if (std::getenv("LIMBER_CAMPAIGN")) capstan(false);
}

}  // namespace
}  // namespace limber::thread
