// An overhand knot to be pulled tight, for the benchmark and the tests: an open trefoil between two hands
// that go apart.
#pragma once

#include <cmath>

#include "limber/model/model.h"

namespace limber {

struct Overhand {
  double E = 1e6, nu = 0.4, density = 1100;  // [Pa, –, kg/m³]
  double radius = 4e-3;                      // [m]
  int elements = 64;
  double friction = 0.3;
  double tail = 0.06;     // [m] of straight thread at either hand
  double pull = 0.03;     // [m] of either hand
  double seconds = 0.25;  // that it takes
  double damping = 0;     // [s] of the material
};

inline Model overhand_model(const Overhand& knot) {
  ModelBuilder b("overhand");
  Material matter;
  matter.name = "rubber", matter.E = knot.E, matter.nu = knot.nu, matter.G = knot.E / (2 * (1 + knot.nu));
  matter.density = knot.density;
  std::vector<Vec3> points;
  // One lobe of the trefoil is opened; its ends bend out to the hands. The strands start 1.15 thicknesses
  // apart.
  const double unit = 1.15 * 2 * knot.radius / 1.345, gap = 0.5;
  const auto at = [](double t) {
    return Vec3(std::sin(t) + 2 * std::sin(2 * t), std::cos(t) - 2 * std::cos(2 * t), -1.2 * std::sin(3 * t));
  };
  const auto rate = [](double t) {
    return Vec3(std::cos(t) + 4 * std::cos(2 * t), -std::sin(t) + 4 * std::sin(2 * t),
                -3.6 * std::cos(3 * t));
  };
  const Vec3 out[2] = {Vec3(1, -0.4, 0).normalized(), Vec3(-1, -0.4, 0).normalized()};
  const auto tail = [&](double t, double direction, const Vec3& to, double x) {  // a cubic, x = 0 at the knot
    const Vec3 p = at(t), q = to * 6 - Vec3(0, 3.5, 0), u = 1.5 * direction * rate(t), v = 5 * to;
    const double x2 = x * x, x3 = x2 * x;
    return Vec3((1 - 3 * x2 + 2 * x3) * p + (x - 2 * x2 + x3) * u + (3 * x2 - 2 * x3) * q + (x3 - x2) * v);
  };
  constexpr int n = 200, k = 40;
  points.push_back(unit * tail(pi + gap, -1, out[0], 1) + knot.tail * out[0]);
  for (int i = k; i > 0; --i) points.push_back(unit * tail(pi + gap, -1, out[0], static_cast<double>(i) / k));
  for (int i = 0; i <= n; ++i) points.push_back(unit * at(pi + gap + (2 * pi - 2 * gap) * i / n));
  for (int i = 1; i <= k; ++i)
    points.push_back(unit * tail(3 * pi - gap, 1, out[1], static_cast<double>(i) / k));
  points.push_back(points.back() + knot.tail * out[1]);
  Beam beam;
  beam.name = "thread";
  beam.path = PolylinePath{points};
  beam.up = Vec3(0.3, 0.2, 1);
  beam.material = b.add(matter);
  beam.section = b.add(Section{"round", Circle{knot.radius}});
  beam.elements = knot.elements;
  beam.straight = true;
  beam.root = Hold::free;
  beam.air_damping = 5;
  beam.damping = knot.damping;
  for (int side = 0; side < 2; ++side) {
    Body hand;
    hand.name = side == 0 ? "left" : "right";
    hand.inertia.m = 1;
    // A rod as thick as the thread leads on from it: a loop cannot slip over the end.
    Shape rod;
    rod.geometry = CapsuleShape{knot.radius, 0.5};
    rod.X_BG = Pose::translation(Vec3(0, 0, 0.25));
    hand.shapes.push_back(rod);
    const BodyId body = b.add(hand);
    Joint joint;
    joint.name = hand.name + ".slide";
    joint.kind = JointKind::prismatic;
    joint.child = body;
    joint.X_PF = {math::rotation_from_z(out[side]), side == 0 ? points.front() : points.back()};
    PrescribedMotion motion;
    motion.joint = b.add(joint);
    motion.position[0] = TimeFunction::table({0, knot.seconds}, {0, knot.pull});
    b.add(motion);
    beam.clamps.push_back({static_cast<double>(side), body, Hold::clamped});
  }
  b.add(beam);
  b.parts.gravity = VectorFunction::constant(Vec3::Zero());
  b.parts.contact = Contact{knot.friction, true, {}};
  return std::move(b).build();
}

}  // namespace limber
