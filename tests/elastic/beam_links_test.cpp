#include "limber/elastic/beam_links.h"

#include <gtest/gtest.h>

#include <cmath>

#include "limber/elastic/beam_frames.h"
#include "limber/elastic/section_constants.h"
#include "tests/elastic/beam_scene.h"

namespace limber::elastic {
namespace {

using namespace limber::testing;  // NOLINT: Scene and its helpers

// Linear compliance of a straight beam along x, read off the joints: position and stiffness of each.
struct Compliance {
  double deflection = 0, slope = 0,
         twist = 0;  // at the tip: of a unit force along z (two) and a unit torque about x
  Compliance(const Model& m, double L) {
    const auto X_WB = m.initial_poses();
    for (std::size_t i = 0; i < m.joints().size(); ++i) {
      const Joint& j = m.joints()[i];
      if (j.kind != JointKind::spherical) continue;
      const double arm = L - (X_WB[i] * j.X_BM).p[0];
      deflection += arm * arm / j.law.stiffness[1];
      slope += arm / j.law.stiffness[1];
      twist += 1 / j.law.stiffness[0];
    }
  }
};

TEST(BeamLinks, NamesCountsAndMass) {
  Scene s;
  s.beam("finger", straight, 4);
  const LinkedModel out = s.links();
  EXPECT_TRUE(out.model.beams().empty());
  ASSERT_EQ(out.model.bodies().size(), 13u);
  EXPECT_EQ(out.model.bodies()[0].name, "finger.root");
  EXPECT_EQ(out.model.joints()[0].kind, JointKind::fixed);
  EXPECT_EQ(out.model.bodies()[12].name, "finger.11");
  EXPECT_EQ(out.model.joints()[12].name, "finger.11.joint");
  Inertia all;
  const auto X = out.model.initial_poses();
  for (std::size_t i = 0; i < X.size(); ++i) all += out.model.bodies()[i].inertia.in_frame(X[i]);
  // Together the pieces are the solid block, rotary inertia included.
  const double m = density * 0.02 * 0.01 * 1.5;
  EXPECT_NEAR(all.m, m, 1e-13);
  EXPECT_LT((all.com() - Vec3(0.75, 0, 0)).norm(), 1e-13);
  EXPECT_LT((all.about_com() - math::box_inertia(m, {1.5, 0.02, 0.01})).norm(), 1e-13);
}

TEST(BeamLinks, CurvedPiecesCarryTheirOwnCurve) {
  Scene s(Circle{0.01});
  s.beam("arc", quarter, 5);
  const LinkedModel out = s.links();
  Inertia all;
  const auto X = out.model.initial_poses();
  for (std::size_t i = 0; i < X.size(); ++i) all += out.model.bodies()[i].inertia.in_frame(X[i]);
  EXPECT_NEAR(all.m, density * pi * 1e-4 * 0.4 * pi, 1e-12);
  // Centroid of a quarter circle: 2r/π from its centre along each axis.
  EXPECT_LT((all.com() - Vec3(0.1 + 1.6 / pi, 0.8 - 1.6 / pi, 0)).norm(), 1e-9);
}

TEST(BeamLinks, TheUnloadedShapeIsThePath) {
  for (const Path& path :
       {Path(straight), Path(quarter), Path(HelixPath{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, 0.2, 0.1, 1.5})}) {
    Scene s;
    const BeamId id = s.beam("beam", path, 6, Recipe::consistent_3r);
    s.b.parts.beams[id.value].from.p = {0.3, -0.2, 0.1};
    const LinkedModel out = s.links();
    const auto X = out.model.initial_poses();
    const BeamFrames frames(path, {0, 0, 1});
    const auto& trace = out.traces[0];
    ASSERT_EQ(trace.points.size(), 13u);
    EXPECT_EQ(trace.s.front(), 0);
    EXPECT_EQ(trace.s.back(), 1);
    for (std::size_t i = 0; i < trace.points.size(); ++i)
      EXPECT_LT((in_world(X, trace.bodies[i], trace.points[i]) - Vec3(0.3, -0.2, 0.1) -
                 path_point(path, trace.s[i]))
                    .norm(),
                1e-13);
    // A link's frame has the local axes at its joint.
    const Pose at = frames.at((2 + 0.4755) / 6);
    const Pose got = X[find(out.model, "beam.7").value];
    EXPECT_LT((got.R - at.R).norm(), 1e-13);
    EXPECT_LT((got.p - Vec3(0.3, -0.2, 0.1) - at.p).norm(), 1e-13);
    EXPECT_NEAR(trace.radius, std::sqrt(0.0002 / pi), 1e-15);
  }
}

TEST(BeamLinks, ConsistentRecipesApproachBeamTheoryAtSecondOrder) {
  const double L = 1.5, I = 0.02 * 1e-6 / 12, J = section_constants(Rectangle{0.02, 0.01}).J;
  for (const Recipe recipe : {Recipe::consistent_3r, Recipe::consistent_1r}) {
    double last = 0;
    for (const int n : {1, 2, 4, 8, 16}) {
      Scene s;
      s.beam("beam", straight, n, recipe);
      const Compliance c(s.links().model, L);
      EXPECT_NEAR(c.slope / (L * L / (2 * E * I)), 1, 1e-12);
      EXPECT_NEAR(c.twist / (L / (G * J)), 1, 1e-12);
      const double error = c.deflection / (L * L * L / (3 * E * I)) - 1;
      if (recipe == Recipe::consistent_3r) {
        EXPECT_NEAR(error, 0, 1e-12);  // Σc x² = ⅓: exact for a tip force
      } else {
        EXPECT_NEAR(error, -0.25 / (n * n), 1e-12);
        EXPECT_NEAR(last == 0 ? 4 : last / error, 4, 1e-9);
      }
      last = error;
    }
  }
}

TEST(BeamLinks, UniformLoadConvergesAtSecondOrder) {
  // δ = Σ_m M(x_m)(L − x_m)/k_m with M = w(L − x)²/2 against wL⁴/8EI: not exact for the 3R recipe, so the
  // order shows.
  const double L = 1.5, EI = E * 0.02 * 1e-6 / 12;
  const auto error = [&](int n, Recipe recipe) {
    Scene s;
    s.beam("beam", straight, n, recipe);
    const LinkedModel out = s.links();
    const auto X = out.model.initial_poses();
    double tip = 0;
    for (std::size_t i = 1; i < X.size(); ++i) {
      const double arm = L - X[i].p[0];
      tip += arm * arm * arm / 2 / out.model.joints()[i].law.stiffness[1];
    }
    return tip / (L * L * L * L / (8 * EI)) - 1;
  };
  for (const Recipe recipe : {Recipe::consistent_3r, Recipe::consistent_1r})
    EXPECT_GT(std::abs(error(8, recipe) / error(16, recipe)), 3.8);
  // The published recipe stops at first order and keeps its 0.12 %.
  EXPECT_LT(std::abs(error(8, Recipe::published_3r) / error(16, Recipe::published_3r)), 2.1);
  EXPECT_GT(std::abs(error(64, Recipe::published_3r)), 1e-3);
}

TEST(BeamLinks, PublishedStiffness) {
  Scene s;
  BeamId id = s.beam("beam", straight, 3, Recipe::published_3r);
  s.b.parts.beams[id.value].damping = 0.02;
  const LinkedModel out = s.links();
  const SectionConstants c = section_constants(Rectangle{0.02, 0.01});
  const JointLaw& law = out.model.joints()[2].law;  // second joint of the first element
  const double l = 0.5;
  EXPECT_NEAR(law.stiffness[1], 2.84 * E * c.I_y / l, 1e-9);
  EXPECT_NEAR(law.stiffness[2], 2.84 * E * c.I_z / l, 1e-9);
  EXPECT_NEAR(law.stiffness[0], G * c.J * (1 - 0.12525) / 0.38825 / l, 1e-9);
  for (int i = 0; i < 3; ++i) EXPECT_DOUBLE_EQ(law.damping[i], 0.02 * law.stiffness[i]);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(law.rest[i], 0);
}

TEST(BeamLinks, JointsTurnToPrincipalAxesLinksDoNot) {
  const Polygon L{{{0, 0}, {0.03, 0}, {0.03, 0.002}, {0.002, 0.002}, {0.002, 0.02}, {0, 0.02}}, {}};
  Scene s(L);
  s.beam("beam", straight, 2);
  const LinkedModel out = s.links();
  const SectionConstants c = section_constants(L);
  const PrincipalMoments p = principal_moments(c);
  ASSERT_GT(std::abs(p.angle), 0.1);
  const Joint& j = out.model.joints()[2];
  EXPECT_LT((j.X_BM.R - math::rotation_x(p.angle)).norm(), 1e-14);
  EXPECT_LT((out.model.initial_poses()[2].R - Mat3::Identity()).norm(), 1e-14);
  // Seen in section axes, the stiffness is that of the tensor [I_y, −I_yz; −I_yz, I_z].
  const Mat3 K = j.X_BM.R * Vec3(j.law.stiffness[0], j.law.stiffness[1], j.law.stiffness[2]).asDiagonal() *
                 j.X_BM.R.transpose();
  const double f = K(1, 1) / c.I_y;
  EXPECT_NEAR(K(2, 2), f * c.I_z, 1e-9 * K(2, 2));
  EXPECT_NEAR(K(1, 2), -f * c.I_yz, 1e-9 * K(2, 2));
}

TEST(BeamLinks, ShapesRunFromJointToJoint) {
  for (const SectionShape& shape : {SectionShape(Rectangle{0.02, 0.01}), SectionShape(Tube{0.02, 0.01})}) {
    Scene s(shape);
    s.beam("beam", quarter, 3);
    const LinkedModel out = s.links();
    const auto X = out.model.initial_poses();
    for (std::size_t i = 0; i < X.size(); ++i) {
      const auto& shapes = out.model.bodies()[i].shapes;
      ASSERT_EQ(shapes.size(), 1u);
      const Pose& G0 = shapes[0].X_BG;
      Vec3 half;
      if (const auto* box = std::get_if<BoxShape>(&shapes[0].geometry)) {
        half = 0.5 * box->size[0] * G0.R.col(0);
        EXPECT_DOUBLE_EQ(box->size[1], 0.02);
        EXPECT_DOUBLE_EQ(box->size[2], 0.01);
      } else {
        const auto& cylinder = std::get<CylinderShape>(shapes[0].geometry);
        half = 0.5 * cylinder.length * G0.R.col(2);
        EXPECT_DOUBLE_EQ(cylinder.radius, 0.02);
      }
      EXPECT_LT((G0.p - half).norm(), 1e-14);
      const Vec3 end = i + 1 < X.size() ? X[i + 1].p : Vec3(0.9, 0.8, 0);
      EXPECT_LT((X[i] * (G0.p + half) - end).norm(), 1e-13);
      EXPECT_NEAR(G0.R.determinant(), 1, 1e-13);
    }
  }
}

TEST(BeamLinks, AttachmentsKeepTheirPlaceAndJointsBelongToTheLinkAfter) {
  Scene s;
  const BeamId beam = s.beam("beam", quarter, 2, Recipe::consistent_1r);  // joints at s = ¼, ¾
  Attachment at;
  at.beam = beam;
  at.p = {0.01, 0.02, 0.03};
  const BeamFrames frames(quarter, {0, 0, 1});
  const std::vector<std::pair<double, std::string>> expected{{0, "beam.root"}, {0.2, "beam.root"},
                                                             {0.25, "beam.0"}, {0.5, "beam.0"},
                                                             {0.75, "beam.1"}, {1, "beam.1"}};
  for (const auto& [place, body] : expected) {
    at.s = place;
    Probe probe;
    probe.name = "probe";
    probe.at = at;
    s.b.parts.probes = {probe};
    Spring spring;
    spring.name = "spring";
    spring.a = at;
    spring.b.p = {5, 5, 5};
    s.b.parts.springs = {spring};
    PointLoad load;
    load.name = "load";
    load.at = at;
    load.force = VectorFunction::constant({1, 2, 3});
    load.moment = VectorFunction::constant({4, 5, 6});
    load.follows = true;
    s.b.parts.point_loads = {load};
    const LinkedModel out = s.links();
    const auto X = out.model.initial_poses();
    const Attachment& moved = out.model.probes()[0].at;
    EXPECT_FALSE(moved.beam.valid());
    EXPECT_EQ(out.model[moved.body].name, body) << place;
    EXPECT_LT((in_world(X, moved.body, moved.p) - frames.at(place) * at.p).norm(), 1e-13);
    EXPECT_EQ(out.model.springs()[0].a.body, moved.body);
    EXPECT_TRUE(out.model.springs()[0].b.on_world());
    // The follower's components were in the beam's axes at its place.
    const PointLoad& l = out.model.point_loads()[0];
    EXPECT_TRUE(l.follows);
    EXPECT_LT((X[l.at.body.value].R * l.force.value(0) - frames.at(place).R * Vec3(1, 2, 3)).norm(), 1e-13);
    EXPECT_LT((X[l.at.body.value].R * l.moment.value(0) - frames.at(place).R * Vec3(4, 5, 6)).norm(), 1e-13);
  }
}

TEST(BeamLinks, BranchesHangOnTheLinkThatHoldsTheirRoot) {
  Scene s;
  // Declared before the beam that it starts from.
  Attachment on_trunk;
  on_trunk.beam = BeamId{1};
  on_trunk.s = 0.5;
  on_trunk.p = {0, 0, 0.02};
  s.beam("twig", PolylinePath{{{0, 0, 0}, {0, 0.3, 0}}}, 2, Recipe::consistent_1r, on_trunk);
  s.beam("trunk", PolylinePath{{{0, 0, 0}, {0, 0, 2}}}, 3, Recipe::consistent_1r);
  s.b.parts.beams[1].up = {1, 0, 0};
  const LinkedModel out = s.links();
  const BodyId root = find(out.model, "twig.root");
  EXPECT_EQ(out.model[out.model.joints()[root.value].parent].name, "trunk.1");  // joints at 1/6, 1/2, 5/6
  // Local axes of the trunk: x up along world z, z = world x, y = z × x = −world y.
  const auto X = out.model.initial_poses();
  EXPECT_LT((X[root.value].p - Vec3(0.02, 0, 1)).norm(), 1e-13);
  EXPECT_EQ(out.traces[0].name, "twig");
  EXPECT_LT(
      (in_world(X, out.traces[0].bodies.back(), out.traces[0].points.back()) - Vec3(0.02, -0.3, 1)).norm(),
      1e-13);
}

TEST(BeamLinks, ARingOfBeamsIsNamed) {
  Scene s;
  Attachment a, b;
  a.beam = BeamId{1};
  b.beam = BeamId{0};
  s.beam("one", straight, 1, Recipe::consistent_1r, a);
  s.beam("two", straight, 1, Recipe::consistent_1r, b);
  try {
    s.links();
    FAIL() << "no error";
  } catch (const ModelError& e) {
    const std::string what = e.what();
    EXPECT_NE(what.find("one"), std::string::npos) << what;
    EXPECT_NE(what.find("two"), std::string::npos) << what;
  }
}

TEST(BeamLinks, ABadSectionIsNamed) {
  Scene s(Polygon{{{0, 0}, {1, 1}, {1, 0}, {0, 1}}, {}});
  s.beam("beam", straight, 1);
  try {
    s.links();
    FAIL() << "no error";
  } catch (const ModelError& e) {
    EXPECT_EQ(e.problems()[0].kind, "section");
    EXPECT_EQ(e.problems()[0].name, "section");
  }
}

TEST(BeamLinks, OtherPartsKeepTheirReferences) {
  Scene s;
  const auto body = [](const std::string& name) {
    Body out;
    out.name = name;
    out.inertia = Inertia::about_com(1, Vec3::Zero(), math::sphere_inertia(1, 0.1));
    return out;
  };
  const BodyId hand = s.b.add(body("hand")), arm = s.b.add(body("arm"));  // child first: the model reorders
  Joint wrist;
  wrist.name = "wrist";
  wrist.kind = JointKind::revolute;
  wrist.parent = arm;
  wrist.child = hand;
  wrist.position[0] = 0.3;
  const JointId wrist_id = s.b.add(wrist);
  Joint shoulder;
  shoulder.name = "shoulder";
  shoulder.kind = JointKind::revolute;
  shoulder.child = arm;
  s.b.add(shoulder);
  Attachment on_hand;
  on_hand.body = hand;
  on_hand.p = {0.1, 0, 0};
  const BeamId finger = s.beam("finger", straight, 2, Recipe::consistent_3r, on_hand);
  Drive drive;
  drive.joint = wrist_id;
  s.b.add(drive);
  Loop loop;
  loop.name = "loop";
  loop.a = arm;
  s.b.add(loop);
  Probe probe;
  probe.quantity = Quantity::joint_position;
  probe.joint = wrist_id;
  s.b.add(probe);
  Spring spring;
  spring.name = "tendon";
  spring.a.body = arm;
  spring.b.beam = finger;
  spring.b.s = 1;
  s.b.add(spring);

  const LinkedModel out = s.links();
  const Model& m = out.model;
  EXPECT_EQ(m[m.drives()[0].joint].name, "wrist");
  EXPECT_EQ(m[m.probes()[0].joint].name, "wrist");
  EXPECT_EQ(m[m.loops()[0].a].name, "arm");
  EXPECT_EQ(m[m.springs()[0].a.body].name, "arm");
  EXPECT_EQ(m[m.springs()[0].b.body].name, "finger.5");
  EXPECT_EQ(m[m.joints()[find(m, "finger.root").value].parent].name, "hand");
  // The beam starts where the hand is, turned as it is.
  const auto X = m.initial_poses();
  const Pose expected = X[find(m, "hand").value] * Pose::translation({0.1, 0, 0});
  EXPECT_LT(
      (in_world(X, out.traces[0].bodies.back(), out.traces[0].points.back()) - expected * Vec3(1.5, 0, 0))
          .norm(),
      1e-13);
}

TEST(BeamLinks, ACornerInsideALinkIsDrawnAndWeighed) {
  Scene s;
  s.beam("beam", PolylinePath{{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}}}, 1, Recipe::consistent_1r);
  // The joint lies at the corner: the root piece is the first leg, the link the second.
  const LinkedModel out = s.links();
  const auto X = out.model.initial_poses();
  EXPECT_LT((X[1].R.col(0) - Vec3::UnitY()).norm(), 1e-14);
  EXPECT_LT((X[1].p - Vec3(1, 0, 0)).norm(), 1e-14);
  Scene corner;
  corner.beam("beam", PolylinePath{{{0, 0, 0}, {0.6, 0, 0}, {0.6, 0.4, 0}}}, 1, Recipe::consistent_1r);
  const LinkedModel bent = corner.links();
  EXPECT_EQ(bent.model.bodies()[1].shapes.size(), 2u);
  const double per_length = density * 0.0002;
  EXPECT_NEAR(bent.model.bodies()[1].inertia.m, 0.5 * per_length, 1e-14);
  EXPECT_LT(
      (bent.model.bodies()[1].inertia.h - per_length * Vec3(0.1 * 0.05 + 0.4 * 0.1, 0.4 * 0.2, 0)).norm(),
      1e-14);
}

// Springs know their rest lengths from here on: as given, or as things stand at t = 0, where a given motion
// counts and not the joint's position.
TEST(BeamLinks, SpringsAreAtEaseAtTheStart) {
  ModelBuilder b;
  Body body;
  body.name = "a";
  body.inertia = Inertia::about_com(1, Vec3::Zero(), Mat3::Identity());
  Joint slide;
  slide.name = "slide", slide.kind = JointKind::prismatic, slide.child = b.add(body);
  slide.position[0] = 7;
  const JointId joint = b.add(slide);
  for (const double length : {-1.0, 0.25}) {
    Spring spring;
    spring.name = length < 0 ? "at ease" : "given";
    spring.a.body = BodyId{0}, spring.b.p = Vec3(0, 0, 1);
    spring.stiffness = 1, spring.rest_length = length;
    b.add(spring);
  }
  EXPECT_EQ(beams_to_links(b.build()).model.springs()[0].rest_length, 6);
  PrescribedMotion motion;
  motion.joint = joint, motion.position[0] = TimeFunction(5);
  b.add(motion);
  const LinkedModel moved = beams_to_links(b.build());
  EXPECT_EQ(moved.model.springs()[0].rest_length, 4);
  EXPECT_EQ(moved.model.springs()[1].rest_length, 0.25);
}

}  // namespace
}  // namespace limber::elastic
