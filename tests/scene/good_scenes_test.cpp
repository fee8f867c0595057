// Good scenes give the right numbers.
#include <gtest/gtest.h>

#include <cmath>

#include "limber/math/trig.h"
#include "scene_support.h"

namespace limber::scene {
namespace {

const double inf = std::numeric_limits<double>::infinity();

TEST(Bodies, TakeMassFromDensityMassOrMaterial) {
  const Scene s = parse_text(
      "materials: {steel: {E: 200 GPa, density: 7850 kg/m3}}\n"
      "bodies:\n"
      "  a: {box: [1, 2, 3], density: 10}\n"
      "  b: {sphere: 10 cm, mass: 2 kg}\n"
      "  c: {cylinder: {radius: 1, length: 2}, material: steel}\n"
      "  d: {mass: 3, com: [0, 0, 1], inertia: [2, 2, 1]}\n"
      "  d_again: {mass: 3, first_moment: [0, 0, 3 kg*m], inertia: [5, 5, 1]}\n"
      "  e: {shapes: [{box: [1, 1, 1], at: [1, 0, 0]}, {box: [1, 1, 1], at: [-1, 0, 0]}], mass: 4}\n"
      "  f: {capsule: {radius: 1, from: [0, 0, 0], to: [2, 0, 0]}}\n");
  const auto bodies = s.model.bodies();
  EXPECT_DOUBLE_EQ(bodies[0].inertia.m, 60);
  EXPECT_NEAR(bodies[0].inertia.I(0, 0), 60 * (4 + 9) / 12.0, 1e-12);
  EXPECT_NEAR(bodies[1].inertia.m, 2, 1e-15);
  EXPECT_NEAR(bodies[1].inertia.I(1, 1), 0.4 * 2 * 0.01, 1e-15);
  EXPECT_NEAR(bodies[2].inertia.m, 7850 * 2 * pi, 1e-9);
  EXPECT_DOUBLE_EQ(bodies[3].inertia.m, 3);
  EXPECT_DOUBLE_EQ(bodies[3].inertia.I(0, 0), 5);  // 2 + m c²
  EXPECT_EQ(bodies[4].inertia.h, bodies[3].inertia.h);
  EXPECT_EQ(bodies[4].inertia.I, bodies[3].inertia.I);
  EXPECT_NEAR(bodies[5].inertia.m, 4, 1e-15);
  EXPECT_NEAR(bodies[5].inertia.I(2, 2), 4 * (1.0 / 6 + 1), 1e-12);
  EXPECT_NEAR(bodies[6].inertia.com().x(), 1, 1e-12);
  EXPECT_NEAR(bodies[6].inertia.m, 1000 * pi * (2 + 4.0 / 3), 1e-9);
  EXPECT_NEAR(s.model.materials()[0].G, 200e9 / 2.6, 1);
}

TEST(Bodies, StandWhereTheyAreWrittenAndMove) {
  const Scene s = parse_text(
      "bodies:\n"
      "  a: {box: [1, 1, 1], at: [1, 2, 3], rotate: {axis: [0, 0, 2], angle: 90 deg}, velocity: [1, 0, 0],\n"
      "      angular_velocity: [0, 3 rad/s, 0]}\n"
      "  b: {box: [1, 1, 1], at: [0, 0, 1], fixed: true}\n"
      "  c: {mass: 1, com: [1, 0, 0], inertia: [1, 1, 1], rotate: [0, 0, 90 deg]}\n");
  const auto poses = s.model.initial_poses();
  EXPECT_LT((poses[0].p - Vec3(1, 2, 3)).norm(), 1e-15);
  EXPECT_LT((poses[0].R * Vec3::UnitX() - Vec3::UnitY()).norm(), 1e-15);
  const auto joints = s.model.joints();
  EXPECT_EQ(joints[0].kind, JointKind::free);
  EXPECT_EQ(joints[0].name, "a.joint");
  // Seen in the turned body: world x is −y, world y is x.
  EXPECT_NEAR(joints[0].velocity[4], -1, 1e-15);
  EXPECT_NEAR(joints[0].velocity[0], 3, 1e-15);
  EXPECT_EQ(joints[1].kind, JointKind::fixed);
  EXPECT_LT((joints[2].X_BM.p - Vec3(1, 0, 0)).norm(), 1e-15);
  EXPECT_LT((poses[2] * Vec3(1, 0, 0) - Vec3(0, 1, 0)).norm(), 1e-15);
}

TEST(Bodies, HavePointsColorsAndDrag) {
  const Scene s = parse_text(
      "bodies: {a: {sphere: 1, points: {tip: [0, 0, 5 cm]}, color: \"#ff0080\", linear_drag: 2, "
      "angular_drag: 3}}\n");
  const Body& a = s.model.bodies()[0];
  ASSERT_EQ(a.points.size(), 1u);
  EXPECT_EQ(a.points[0].name, "tip");
  EXPECT_DOUBLE_EQ(a.points[0].p.z(), 0.05);
  ASSERT_TRUE(a.color);
  EXPECT_EQ((*a.color)[0], 1);
  EXPECT_EQ((*a.color)[1], 0);
  EXPECT_NEAR((*a.color)[2], 0.2158605, 1e-6);  // sRGB 128/255
  EXPECT_EQ(a.linear_drag, 2);
  EXPECT_EQ(a.angular_drag, 3);
}

TEST(Joints, LeaveBodiesWhereTheyAreAtZero) {
  const Scene s = parse_text(
      "bodies:\n"
      "  thigh: {box: [0.1, 0.1, 0.5], at: [0, 0, 0.75], rotate: [0, 20 deg, 0]}\n"
      "  shin: {box: [0.1, 0.1, 0.5], at: [0, 0.1, 0.25], rotate: [10 deg, 0, 5 deg], points: {knee: [0, 0, "
      "0.25]}}\n"
      "joints:\n"
      "  hip: {type: spherical, child: thigh, at: [0, 0, 1]}\n"
      "  knee: {type: revolute, parent: thigh, child: shin, at: shin.knee, axis: [0, 2, 0], stiffness: 20 "
      "N*m/rad,\n"
      "         damping: 0.5, rest: 10 deg, limits: [0, 140 deg], restitution: 0.2, velocity: 30 rpm}\n");
  const auto poses = s.model.initial_poses();
  EXPECT_LT((poses[0].p - Vec3(0, 0, 0.75)).norm(), 1e-14);
  EXPECT_LT((poses[1].p - Vec3(0, 0.1, 0.25)).norm(), 1e-14);
  const Joint& knee = s.model.joints()[1];
  EXPECT_LT(((poses[0] * knee.X_PF).R.col(2) - Vec3::UnitY()).norm(), 1e-14);
  EXPECT_LT(((poses[1] * knee.X_BM).p - poses[1] * Vec3(0, 0, 0.25)).norm(), 1e-14);
  EXPECT_DOUBLE_EQ(knee.law.stiffness[0], 20);
  EXPECT_DOUBLE_EQ(knee.law.rest[0], 10 * (pi / 180));
  EXPECT_DOUBLE_EQ(knee.law.upper[0], 140 * (pi / 180));
  EXPECT_DOUBLE_EQ(knee.law.lower[0], 0);
  EXPECT_DOUBLE_EQ(knee.law.restitution, 0.2);
  EXPECT_DOUBLE_EQ(knee.velocity[0], pi);
}

TEST(Joints, TakeOneValueForAllCoordinatesOrAList) {
  const Scene s = parse_text(
      "bodies: {a: {sphere: 1}, b: {sphere: 1}, c: {sphere: 1}, d: {sphere: 1}}\n"
      "joints:\n"
      "  u: {type: universal, child: a, axis: [0, 1, 0], axis2: [1, 0, 0], stiffness: 3, position: [10 deg, "
      "20 deg], limits: 1}\n"
      "  p: {type: planar, child: b, stiffness: [1 N/m, 2 N/m, 3 N*m/rad], limits: [[-1, 1], [-inf, 2 m], "
      "[0, 1 rad]]}\n"
      "  s: {type: spherical, child: c, damping: [1, 2, 3], limits: 60 deg}\n"
      "  f: {type: free, child: d, limits: [1 rad, [-1, 1], [-2, 2], [-3, 3]]}\n");
  const auto joints = s.model.joints();
  EXPECT_EQ(joints[0].law.stiffness[1], 3);
  EXPECT_DOUBLE_EQ(joints[0].position[1], 20 * (pi / 180));
  EXPECT_EQ(joints[0].law.lower[1], -1);
  EXPECT_LT((joints[0].X_PF.R.col(0) - Vec3::UnitY()).norm(), 1e-15);
  EXPECT_LT((joints[0].X_PF.R.col(1) - Vec3::UnitX()).norm(), 1e-15);
  EXPECT_EQ(joints[1].law.stiffness[2], 3);
  EXPECT_EQ(joints[1].law.lower[1], -inf);
  EXPECT_EQ(joints[1].law.upper[1], 2);
  EXPECT_DOUBLE_EQ(joints[2].law.upper[0], 60 * (pi / 180));
  EXPECT_EQ(joints[2].law.damping[2], 3);
  EXPECT_EQ(joints[3].law.upper[0], 1);
  EXPECT_EQ(joints[3].law.lower[5], -3);
}

TEST(Joints, TakeFramesInTheBodies) {
  const Scene s = parse_text(
      "bodies: {a: {sphere: 1}, b: {sphere: 1}, c: {sphere: 1, at: [0, 0, 5]}}\n"
      "joints:\n"
      "  j: {type: revolute, child: a, parent_frame: {at: [0, 0, 3]}, child_frame: {at: [0, 0, 1]}}\n"
      "  k: {type: revolute, parent: a, child: b, parent_frame: {at: [0, 0, 2]}}\n"
      "  l: {type: revolute, parent: b, child: c}\n");  // a world joint on a body placed by frames
  const auto poses = s.model.initial_poses();
  EXPECT_LT((poses[0].p - Vec3(0, 0, 2)).norm(), 1e-15);
  EXPECT_LT((poses[1].p - Vec3(0, 0, 4)).norm(), 1e-15);
  EXPECT_LT((poses[2].p - Vec3(0, 0, 5)).norm(), 1e-15);
}

TEST(Joints, HaveDrivesAndMotions) {
  const Scene s = parse_text(
      "bodies: {a: {sphere: 1}, b: {sphere: 1}, c: {sphere: 1}}\n"
      "joints:\n"
      "  j: {type: revolute, child: a, drive: {servo: {target: 30 deg * sin(t), kp: 5, kd: 1, max_force: 3 "
      "N*m}}}\n"
      "  k: {type: prismatic, child: b, drive: {force: 2 N}}\n"
      "  l: {type: revolute, child: c, motion: {table: [[0, 0], [1 s, 90 deg]], periodic: true}}\n");
  ASSERT_EQ(s.model.drives().size(), 2u);
  const Drive& servo = s.model.drives()[0];
  EXPECT_EQ(servo.kind, Drive::Kind::servo);
  EXPECT_DOUBLE_EQ(servo.target[0].value(1), 30 * (pi / 180) * math::sin(1));
  EXPECT_EQ(servo.max_force[0], 3);
  EXPECT_EQ(s.model.drives()[1].target[0].value(7), 2);
  EXPECT_EQ(s.model.drives()[1].max_force[0], inf);
  ASSERT_EQ(s.model.motions().size(), 1u);
  EXPECT_NEAR(s.model.motions()[0].position[0].value(0.5), pi / 4, 1e-15);
  EXPECT_NEAR(s.model.motions()[0].position[0].value(2.5), pi / 4, 1e-12);
}

TEST(Beams, AreReadWithSectionsPathsAndPlaces) {
  const Scene s = parse_text(
      "materials: {pla: {E: 3.2 GPa, nu: 0.35, density: 1240 kg/m3, yield: 55 MPa}}\n"
      "sections:\n"
      "  r: {rectangle: {width: 12 mm, height: 1.2 mm}}\n"
      "  c: {circle: 2 mm}\n"
      "  t: {tube: {outer: 2 mm, inner: 1 mm}}\n"
      "  e: {ellipse: {a: 2 mm, b: 1 mm}}\n"
      "  p: {polygon: {outline: [[0, 0], [1, 0], [1, 1], [0, 1]], holes: [[[0.2, 0.2], [0.4, 0.2], [0.2, "
      "0.4]]]}}\n"
      "bodies: {palm: {box: [4 cm, 4 cm, 1 cm], fixed: true, points: {left: [-15 mm, 0, 0]}}}\n"
      "beams:\n"
      "  finger: {from: palm, path: [[0, 0, 0], [0, 0, 80 mm]], up: [1, 0, 0], material: pla, section: r, "
      "elements: 12}\n"
      "  second: {from: third.tip, path: {arc: {radius: 1, angle: 90 deg}}, material: pla, section: c, "
      "recipe: published_1r}\n"
      "  third: {path: {helix: {radius: 1, pitch: 0.1, turns: 3}}, material: pla, section: p, damping: 2 "
      "ms}\n"
      "springs: {tendon: {between: [palm.left, finger@0.5], stiffness: 4 kN/m, tension_only: true, "
      "rest_length: 1 cm}}\n"
      "loads:\n"
      "  pull: {on: finger.tip, force: [20 N, 0, 0], moment: [0, 1 N*m, 0], ramp: 2 s, follows: true}\n"
      "  snow: {along: third, force_per_length: [0, 0, -5 N/m], between: [0.2, 0.7]}\n"
      "probes: [finger.tip.position, tendon.tension, tendon.length, second@0.25.velocity, "
      "palm.left.position]\n");
  const auto beams = s.model.beams();
  ASSERT_EQ(beams.size(), 3u);
  EXPECT_EQ(beams[0].from.body, BodyId{0});
  EXPECT_EQ(beams[0].elements, 12);
  EXPECT_EQ(beams[1].from.beam, BeamId{2});
  EXPECT_EQ(beams[1].from.s, 1);
  EXPECT_EQ(beams[1].recipe, Recipe::published_1r);
  EXPECT_NEAR(path_length(beams[1].path), pi / 2, 1e-14);
  EXPECT_EQ(beams[2].damping, 2e-3);
  EXPECT_EQ(std::get<Polygon>(s.model.sections()[4].shape).holes.size(), 1u);
  const Spring& tendon = s.model.springs()[0];
  EXPECT_DOUBLE_EQ(tendon.a.p.x(), -15e-3);
  EXPECT_EQ(tendon.b.beam, BeamId{0});
  EXPECT_EQ(tendon.b.s, 0.5);
  EXPECT_TRUE(tendon.tension_only);
  const PointLoad& pull = s.model.point_loads()[0];
  EXPECT_EQ(pull.force.value(0)[0], 0);
  EXPECT_DOUBLE_EQ(pull.force.value(1)[0], 10);
  EXPECT_DOUBLE_EQ(pull.force.value(5)[0], 20);
  EXPECT_TRUE(pull.follows);
  EXPECT_EQ(s.model.distributed_loads()[0].s1, 0.7);
  EXPECT_EQ(s.model.probes()[3].at.s, 0.25);
}

TEST(Probes, FindPlacesJointsSpringsAndEnergies) {
  const Scene s = parse_text(
      "bodies: {a: {sphere: 1}, b: {sphere: 1, at: [3, 0, 0]}}\n"
      "joints: {hinge: {type: revolute, child: a}}\n"
      "springs: {cord: {between: [a, b], stiffness: 1}}\n"
      "probes: [a.position, hinge.position, hinge.angle, hinge.velocity, hinge.force, cord.length, "
      "energy.total, b.joint.velocity,\n"
      "         b.speed, energy.remainder, {name: middle, quantity: velocity, on: {on: a, at: [1 cm, 0, "
      "0]}}]\n");
  const auto p = s.model.probes();
  EXPECT_EQ(p[0].quantity, Quantity::position);
  EXPECT_EQ(p[1].quantity, Quantity::joint_position);
  EXPECT_EQ(p[2].quantity, Quantity::joint_position);
  EXPECT_EQ(p[2].name, "hinge.angle");
  EXPECT_EQ(p[3].quantity, Quantity::joint_velocity);
  EXPECT_EQ(p[4].quantity, Quantity::joint_force);
  EXPECT_EQ(p[5].spring, SpringId{0});
  EXPECT_EQ(p[6].quantity, Quantity::total_energy);
  EXPECT_EQ(p[7].joint, JointId{1});
  EXPECT_EQ(p[8].quantity, Quantity::speed);
  EXPECT_EQ(p[9].quantity, Quantity::remainder_energy);
  EXPECT_EQ(p[10].name, "middle");
  EXPECT_DOUBLE_EQ(p[10].at.p.x(), 0.01);
}

TEST(Parameters, ReferToEachOtherAndAreOverridden) {
  const std::string text =
      "parameters: {pitch: span/count, span: 2 m, count: 4, angle: 30 deg}\n"
      "bodies: {a: {sphere: =pitch, at: [pitch*2, \"max(span, 1 m)\", cos(angle)]}}\n";
  const Scene s = parse_text(text);
  EXPECT_DOUBLE_EQ(std::get<SphereShape>(s.model.bodies()[0].shapes[0].geometry).radius, 0.5);
  EXPECT_DOUBLE_EQ(s.model.initial_poses()[0].p.y(), 2);
  ASSERT_EQ(s.parameters.size(), 4u);
  EXPECT_EQ(s.parameters[0].name, "pitch");
  EXPECT_EQ(s.parameters[0].text, "span/count");
  EXPECT_DOUBLE_EQ(s.parameters[0].value, 0.5);
  EXPECT_EQ(s.parameters[0].unit, "m");
  EXPECT_EQ(s.parameters[2].unit, "");
  LoadOptions options;
  options.set = {{"span", "300 cm"}, {"count", "2"}};
  const Scene t = parse_text(text, options);
  EXPECT_DOUBLE_EQ(std::get<SphereShape>(t.model.bodies()[0].shapes[0].geometry).radius, 1.5);
}

TEST(Functions, GravityAndWindMayChange) {
  const Scene s = parse_text(
      "gravity: [0, 0, \"-9.81 m/s2 * if(t < 1, 1, 0)\"]\n"
      "bodies: {a: {sphere: 1}}\n"
      "wind: {velocity: {table: [[0, 0, 0, 0], [2 s, 8 m/s, 4 m/s, 0]]}, air_density: 1.2}\n");
  EXPECT_EQ(s.model.gravity().value(0.5)[2], -9.81);
  EXPECT_EQ(s.model.gravity().value(1.5)[2], 0);
  ASSERT_TRUE(s.model.wind());
  EXPECT_DOUBLE_EQ(s.model.wind()->velocity.value(1)[0], 4);
  EXPECT_DOUBLE_EQ(s.model.wind()->air_density, 1.2);
}

TEST(Run, OptionsAreRead) {
  const Scene s = parse_text(
      "bodies: {a: {sphere: 1}}\n"
      "run: {method: articulated, time: 3 s, step: 5 ms, frame: 20 ms, integrator: euler, tolerance: 1e-9, "
      "max_iterations: 7, cpu_threads: 2}\n");
  EXPECT_EQ(s.run.time, 3);
  EXPECT_EQ(s.run.step, 5e-3);
  EXPECT_EQ(s.run.frame, 20e-3);
  EXPECT_EQ(s.run.articulated.integrator, articulated::Integrator::euler);
  EXPECT_EQ(s.run.articulated.tolerance, 1e-9);
  EXPECT_EQ(s.run.articulated.max_iterations, 7);
  EXPECT_EQ(s.run.articulated.cpu_threads, 2);
}

}  // namespace
}  // namespace limber::scene
