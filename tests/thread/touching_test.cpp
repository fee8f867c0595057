// Contact of threads: where they cross, how far its forces are from the law, what overlaps at the start, long
// steps beside nothing, and rests that lean on something.
#include "limber/thread/system.h"
#include "thread_support.h"

namespace limber::thread {
namespace {

Beam straight_beam(const char* name, const Vec3& from, const Vec3& to, int elements, Hold root) {
  Beam beam;
  beam.name = name;
  beam.path = PolylinePath{{from, to}};
  beam.elements = elements;
  beam.root = root;
  if (std::abs((to - from).normalized().z()) > 0.9) beam.up = Vec3::UnitX();
  return beam;
}

double fastest_node(const State& state) {
  double most = 0;
  for (int j = 0; j < state.node_count(); ++j)
    most = std::max(most, Eigen::Map<const Vec3>(state.v.data() + 12 * j).norm());
  return most;
}

// A soft rope laid over a stiff one, both held at their ends, without friction and 4 mm beside the middle.
System crossed_ropes(int elements) {
  ModelBuilder b("crossed");
  Material stiff = material_of(1e8, 0.4, 1100);
  stiff.name = "stiff";
  const auto section = b.add(Section{"s", Circle{5e-3}});
  const MaterialId matter[2] = {b.add(stiff), b.add(material_of(1e6, 0.4, 1100))};
  for (int k = 0; k < 2; ++k) {
    Beam beam = k == 0
                    ? straight_beam("low", {-0.5, 0, 0}, {0.5, 0, 0}, elements, Hold::clamped)
                    : straight_beam("up", {0.004, -0.5, 0.011}, {0.004, 0.5, 0.011}, elements, Hold::clamped);
    beam.material = matter[k], beam.section = section, beam.air_damping = 20;
    beam.clamps.push_back(BeamClamp{});
    b.add(beam);
  }
  b.parts.contact = Contact{0, true, {}};
  return compile(std::move(b).build());
}

// Along the straight pieces they would stay half an element apart, at a node.
TEST(Crossing, RestsAtTheSamePlaceOnAnyMesh) {
  for (const int elements : {64, 65, 100, 101}) {
    const System system = crossed_ropes(elements);
    State state = system.rest();
    Workspace w(system);
    while (state.t < 1.5) ASSERT_TRUE(step(system, state, w, 1e-3).ok());
    const auto forces = contact_forces(system, state, w);
    ASSERT_GE(forces.size(), 1u) << elements;
    for (const ContactForce& f : forces)
      EXPECT_NEAR(f.at.x(), 3.927e-3, 2e-5) << elements;  // an element: 10 mm
    EXPECT_LT(fastest_node(state), 1e-6) << elements;     // heavily damped, it comes to rest
  }
}

System heap_of(int threads) {
  ModelBuilder b("heap");
  const auto matter = b.add(material_of(1e6, 0.4, 1100));
  const auto section = b.add(Section{"s", Circle{5e-3}});
  for (int k = 0; k < threads; ++k) {
    const double a = 2.4 * k;  // golden angle
    const Vec3 d(0.125 * std::cos(a), 0.125 * std::sin(a), 0),
        middle(0.02 * std::cos(3 * a), 0.02 * std::sin(5 * a), 0.006 + 0.0115 * k);
    Beam beam = straight_beam(("t" + std::to_string(k)).c_str(), middle - d, middle + d, 16, Hold::free);
    beam.material = matter, beam.section = section, beam.damping = 1e-3;
    b.add(beam);
  }
  b.parts.contact = Contact{0.4, true, {{"floor", Vec3::Zero(), Vec3::UnitZ()}}};
  return compile(std::move(b).build());
}

TEST(Heap, ForcesObeyTheirLawAndTheReportSaysHowWell) {
  const System system = heap_of(8);
  State state = system.rest();
  Workspace w(system);
  bool touched = false;
  for (int k = 0; k < 250; ++k) {
    const result::SolveReport r = step(system, state, w, 1e-3);
    ASSERT_TRUE(r.ok()) << r.message;
    EXPECT_EQ(r.warning, "");
    EXPECT_LE(r.contact_residual, 1e-3) << k;  // more is no answer, and the step is divided
    EXPECT_LE(r.cone_violation, 1e-12) << k;
    EXPECT_LT(r.contact_overlap, 0.02) << k;
    touched = touched || r.contact_residual > 0;
  }
  EXPECT_TRUE(touched);
}

TEST(Overlap, AtTheStartIsNamedAndTakenBackGently) {
  ModelBuilder b("overlap");
  const auto matter = b.add(material_of(1e6, 0.4, 1100));
  const auto section = b.add(Section{"s", Circle{5e-3}});
  for (int k = 0; k < 2; ++k) {
    Beam beam = k == 0 ? straight_beam("one", {-0.1, 0, 0}, {0.1, 0, 0}, 8, Hold::free)
                       : straight_beam("two", {0, -0.1, 5e-3}, {0, 0.1, 5e-3}, 8, Hold::free);
    beam.material = matter, beam.section = section;
    b.add(beam);
  }
  b.parts.gravity = VectorFunction::constant(Vec3::Zero());
  b.parts.contact = Contact{0, true, {}};
  const System system = compile(std::move(b).build());
  State state = system.rest();
  Workspace w(system);
  const result::SolveReport first = step(system, state, w, 1e-3);
  ASSERT_TRUE(first.ok()) << first.message;
  EXPECT_NE(first.warning.find("\"one\" overlaps \"two\" by 0.005 m at (0, 0, 0) m"), std::string::npos)
      << first.warning;
  EXPECT_LT(fastest_node(state), 0.25);  // a fiftieth of the radius a step is 0.1 m/s
  for (int k = 0; k < 200; ++k) ASSERT_TRUE(step(system, state, w, 1e-3).ok());
  EXPECT_EQ(contact_report(system, state, w).deepest, 0);
}

TEST(Overlap, OfThreadsThatRunThroughEachOtherIsRefused) {
  ModelBuilder b("through");
  const auto matter = b.add(material_of(1e6, 0.4, 1100));
  const auto section = b.add(Section{"s", Circle{5e-3}});
  for (int k = 0; k < 2; ++k) {
    Beam beam = k == 0 ? straight_beam("one", {-0.1, 0, 0}, {0.1, 0, 0}, 8, Hold::free)
                       : straight_beam("two", {0, -0.1, 0}, {0, 0.1, 0}, 8, Hold::free);
    beam.material = matter, beam.section = section;
    b.add(beam);
  }
  b.parts.contact = Contact{0, true, {}};
  const Model model = std::move(b).build();
  EXPECT_THROW(compile(model), ModelError);
}

// Far from everything a step is what was asked for: the same bits as without contact at all.
TEST(Steps, AreThoseAskedForWhereNothingCanTouch) {
  const auto swing = [](bool floor) {
    ModelBuilder b("swing");
    Beam beam = straight_beam("thread", {0, 0, 0}, {0.5, 0, 0}, 16, Hold::clamped);
    beam.material = b.add(material_of(1e6, 0.4, 1100)), beam.section = b.add(Section{"s", Circle{2e-3}});
    b.add(beam);
    if (floor) b.parts.contact = Contact{0.3, false, {{"floor", Vec3(0, 0, -2), Vec3::UnitZ()}}};
    const System system = compile(std::move(b).build());
    State state = system.rest();
    Workspace w(system);
    for (int k = 0; k < 60; ++k) EXPECT_TRUE(step(system, state, w, 5e-3).ok());
    return state.e;
  };
  EXPECT_EQ(swing(true), swing(false));
}

// A thread over a peg, free at both ends.
System over_a_peg(double mu, double shift) {
  ModelBuilder b("peg");
  Body rod;
  rod.name = "rod", rod.inertia.m = 1;
  rod.shapes.push_back({CylinderShape{0.03, 0.2}, {math::rotation_from_z(Vec3::UnitY()), Vec3::Zero()}});
  Joint joint;
  joint.name = "rod.joint", joint.child = b.add(rod);
  b.add(joint);
  Beam beam = straight_beam("thread", {shift - 0.3, 0, 0.033}, {shift + 0.3, 0, 0.033}, 48, Hold::free);
  beam.straight = true, beam.damping = 1e-3, beam.air_damping = 3;
  beam.material = b.add(material_of(2e6, 0.3, 1200)), beam.section = b.add(Section{"s", Circle{3e-3}});
  b.add(beam);
  b.parts.contact = Contact{mu, true, {}};
  return compile(std::move(b).build());
}

// It hangs with all its weight on the peg, and stays there when it is let go.
TEST(Rest, OverAPegCarriesItsWeightAndStays) {
  const System system = over_a_peg(0.4, 0);
  State state = system.rest();
  Workspace w(system);
  const StaticResult r = solve_static(system, state, w);
  ASSERT_TRUE(r.report.ok()) << r.report.message;
  EXPECT_EQ(r.negative, 0);
  EXPECT_GT(r.pushes, 0);
  EXPECT_LT(r.residual, 1e-8);
  Vec3 sum = Vec3::Zero();
  for (const ContactForce& f : contact_forces(system, state, w)) {
    sum += f.force;
    EXPECT_EQ(f.by, "rod");
  }
  const double weight = 1200 * pi * 9e-6 * 0.6 * 9.81;
  EXPECT_NEAR(sum.z(), weight, 1e-5 * weight);
  EXPECT_NEAR(sum.x(), 0, 1e-5 * weight);
  const std::vector<double> rest = state.e;
  for (int k = 0; k < 200; ++k) ASSERT_TRUE(step(system, state, w, 1e-3).ok());
  for (std::size_t i = 0; i < rest.size(); i += 12)
    for (int n = 0; n < 3; ++n) EXPECT_NEAR(state.e[i + n], rest[i + n], 1e-5);
}

TEST(Rest, WhatSlidesOffAPegIsHeldByNothing) {
  const System system = over_a_peg(0, 0.1);
  State state = system.rest();
  Workspace w(system);
  const StaticResult r = solve_static(system, state, w);
  EXPECT_FALSE(r.report.ok());
  EXPECT_NE(r.report.message.find("nothing holds it"), std::string::npos) << r.report.message;
}

// On a plane each node presses with its weight, and at a clamp the reaction is what the plane does not carry.
TEST(Rest, OnAPlaneIsCarriedByItAndTheClamp) {
  ModelBuilder b("plane");
  Beam beam = straight_beam("thread", {0, 0, 0.05}, {0.6, 0, 0.05}, 32, Hold::clamped);
  beam.material = b.add(material_of(2e6, 0.3, 1200)), beam.section = b.add(Section{"s", Circle{3e-3}});
  b.add(beam);
  b.parts.contact = Contact{0.4, true, {{"floor", Vec3::Zero(), Vec3::UnitZ()}}};
  const System system = compile(std::move(b).build());
  State state = system.rest();
  Workspace w(system);
  const StaticResult r = solve_static(system, state, w);
  ASSERT_TRUE(r.report.ok()) << r.report.message;
  Vec3 sum = Vec3::Zero();
  for (const ContactForce& f : contact_forces(system, state, w)) sum += f.force;
  EXPECT_GT(sum.z(), 0);
  for (const Reaction& q : reactions(system, state, w)) sum += q.force;
  const double weight = 1200 * pi * 9e-6 * 0.6 * 9.81;
  EXPECT_NEAR(sum.z(), weight, 1e-5 * weight);
  EXPECT_NEAR(sum.x(), 0, 1e-5 * weight);
}

}  // namespace
}  // namespace limber::thread
