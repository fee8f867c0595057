#include "templates.h"

namespace limber::cli {

namespace {

constexpr char chain[] = R"(limber: 1
title: A sprung chain that falls and swings
# Lengths in m, angles in rad, or with a unit: 5 cm, 30 deg. '=name' is a parameter, 'span/links' arithmetic.

parameters:                     # limber run FILE --set links=40 changes them
  links: 12
  span: 1.2 m
  stiffness: 0.5 N*m/rad

linkages:
  arm:                          # links arm.0, arm.1, …; joints arm.0.joint, …; the free end is arm.tip
    links: =links
    length: span/links
    radius: 1 cm
    density: 1240 kg/m3
    direction: [1, 0, 0]
    joint: revolute
    axis: [0, 1, 0]
    stiffness: =stiffness
    damping: 1 mN*m*s/rad

probes: [arm.tip.position, energy.total]

run: {time: 5 s, step: 5 ms}
)";

constexpr char pendulum[] = R"(limber: 1
title: A double pendulum
# Bodies stand as they are written; a joint turns them from there.

bodies:
  upper:                        # from its joint at z = 2 m down to z = 1 m
    capsule: {radius: 2 cm, from: [0, 0, 0], to: [0, 0, -1 m]}
    mass: 1 kg
    at: [0, 0, 2 m]
  lower:
    capsule: {radius: 2 cm, from: [0, 0, 0], to: [0, 0, -1 m]}
    mass: 1 kg
    at: [0, 0, 1 m]
    points: {tip: [0, 0, -1 m]}

joints:
  shoulder: {type: revolute, child: upper, axis: [0, 1, 0], position: 90 deg}
  elbow: {type: revolute, parent: upper, child: lower, axis: [0, 1, 0], position: 30 deg}

probes: [lower.tip.position, shoulder.angle, energy.kinetic, energy.total]

run: {time: 10 s, step: 2 ms, integrator: midpoint}    # midpoint keeps the energy, euler damps
)";

constexpr char beam[] = R"(limber: 1
title: A cantilever that a load bends
# A beam needs a material, a section and a path; its root is clamped to what it starts from.

parameters:
  length: 300 mm
  load: 2 N

materials:
  pla: {E: 3.2 GPa, nu: 0.35, density: 1240 kg/m3, yield: 55 MPa}

sections:
  strip: {rectangle: {width: 20 mm, height: 3 mm}}     # width along y, height along z

beams:
  flexure:
    path: [[0, 0, 0], [=length, 0, 0]]
    material: pla
    section: strip
    elements: 10
    damping: 5 ms

loads:
  weight: {on: flexure.tip, force: [0, 0, -load], ramp: 0.5 s}

probes: [flexure.tip.position, energy.total]

run: {time: 2 s, step: 2 ms}
)";

constexpr char mobile[] = R"(limber: 1
title: A mobile that hangs on a spring
# Places: world, a body, a point of a body ('ball.centre'), or {on: …, at: [x, y, z]} with an offset.

parameters:
  stiffness: 300 N/m

bodies:
  rod:                          # no joint: it floats, and hangs on the spring below
    capsule: {radius: 5 mm, from: [-30 cm, 0, 0], to: [30 cm, 0, 0]}
    mass: 0.2 kg
    at: [0, 0, 1.5 m]
  ball:                         # a thread and a ball, in one body
    shapes:
      - {capsule: {radius: 1 mm, from: [0, 0, 0], to: [0, 0, -25 cm]}}
      - {sphere: 5 cm, at: [0, 0, -30 cm]}
    mass: 0.5 kg
    at: [-30 cm, 0, 1.5 m]
    points: {centre: [0, 0, -30 cm]}
    color: "#c04020"
  cube:
    shapes:
      - {capsule: {radius: 1 mm, from: [0, 0, 0], to: [0, 0, -35 cm]}}
      - {box: [8 cm, 8 cm, 8 cm], at: [0, 0, -39 cm]}
    mass: 0.5 kg
    at: [30 cm, 0, 1.5 m]
    points: {centre: [0, 0, -39 cm]}
    color: "#2060c0"

joints:
  left: {type: spherical, parent: rod, child: ball, damping: 2 N*mm*s/rad}
  right: {type: spherical, parent: rod, child: cube, damping: 2 N*mm*s/rad}

springs:
  hanger: {between: [{on: world, at: [0, 0, 2 m]}, rod], stiffness: =stiffness, damping: 1 N*s/m}

loads:
  push: {on: ball.centre, force: {table: [[0 s, 0, 1 N, 0], [0.5 s, 0, 0, 0]]}}

probes: [ball.centre.position, cube.centre.position, hanger.tension, energy.total]

run: {time: 8 s, step: 5 ms}
)";

constexpr char tree[] = R"(limber: 1
title: A tree in a gust of wind
# Branches on branches, each on a sprung joint.

parameters:
  levels: 5
  gust: 12 m/s

trees:
  oak:
    levels: =levels
    branches: 2
    length: 1 m
    radius: 5 cm
    angle: 30 deg
    twist: 90 deg
    density: 700 kg/m3
    joint: spherical
    stiffness: 3000 N*m/rad
    damping: 40 N*m*s/rad

wind:
  velocity: [gust * sin(pi*t/2)^2, 0, 0]

probes: [oak.leaf.0.position, energy.elastic, energy.total]

run: {time: 6 s, step: 5 ms, integrator: euler}
)";

}  // namespace

std::span<const Template> templates() {
  static constexpr Template list[] = {
      {"chain", "a row of links on sprung joints", chain},
      {"pendulum", "two rods on hinges", pendulum},
      {"beam", "an elastic cantilever under a load", beam},
      {"mobile", "weights on a rod that hangs on a spring", mobile},
      {"tree", "branches in the wind", tree},
  };
  return list;
}

}  // namespace limber::cli
