// Bad scenes and what is said about them: every diagnostic, with line and column.
#include <gtest/gtest.h>

#include "scene_support.h"

namespace limber::scene {
namespace {

struct Bad {
  const char* text;
  const char* said;  // all lines, without the file's name
};

// clang-format off
const Bad table[] = {
    {"limber: 1\nbodies:\n\ta: 1\n",
     "3:3: a tab in the indentation; use spaces"},
    {"limber: 1\nbodies: {a: {sphere: 1}\n",
     "3:1: a { is not closed, or a ',' is missing"},
    {"limber: 1\nbodies: [1, 2\n",
     "3:1: a [ is not closed, or a ',' is missing"},
    {"limber: 1\ntitle: \"open\n",
     "2:8: the quote is not closed"},
    {"limber: 1\na: b: c\n",
     "2:5: a ':' does not belong here; quote text that contains one"},
    {"limber: 1\nbodies: *nowhere\n",
     "2:9: the alias refers to an anchor that does not exist before it"},
    {"limber: 1\nbodies: &x {a: *x}\n",
     "2:16: the alias refers to something that contains it"},
    {"limber: 1\nbodies:\n  a: {sphere: 1}\n  b: {sphere: 1}\n  a: {sphere: 2}\n",
     "5:3: \"a\" is given twice; first on line 3"},
    {"limber: 1\nbodies: !!map {a: {sphere: 1}}\n",
     "2:9: tags like tag:yaml.org,2002:map are not used in scenes"},
    {"limber: 1\n? [a, b]\n: 1\n",
     "2:3: a key must be a name, not a list"},
    {"limber: 1\n<<: 3\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\n",
     "2:1: << takes a mapping (an alias of one), not text"},
    {"limber: 1\nbdies: {}\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\n",
     "2:1: unknown key \"bdies\"; did you mean \"bodies\"?"},
    {"limber: 1\ngravty: [0, 0, 0]\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\n",
     "2:1: unknown key \"gravty\"; did you mean \"gravity\"?"},
    {"limber: 1\nbodies: {a: {spere: 1}}\n",
     "2:14: bodies.a: unknown key \"spere\"; did you mean \"sphere\"?"},
    {"limber: 1\nbodies: {a: {sphere: 1, densty: 3}}\n",
     "2:25: bodies.a: unknown key \"densty\"; did you mean \"density\"?"},
    {"limber: 1\nbodies: {a: {box: [1, 1, 1]}, w: {sphere: 0.1, at: [0, 0, 3]}, v: {sphere: 0.1, at: [2, 0, 3]}}\ncables:\n  r: {route: [nowhere, a], EA: 1 kN}\n",
     "4:15: cables.r.route[0].on: there is no body or beam \"nowhere\""},
    {"limber: 1\nbodies: {a: {box: [1, 1, 1]}, w: {sphere: 0.1, at: [0, 0, 3]}, v: {sphere: 0.1, at: [2, 0, 3]}}\ncables:\n  r: {route: [w, {pulley: v, radius: 0, axis: [0, 1, 0], turn: positive}, a], EA: 1 kN}\n",
     "4:38: cables.r.route[1].radius: expected a positive length, got 0"},
    {"limber: 1\nbodies: {a: {box: [1, 1, 1]}, w: {sphere: 0.1, at: [0, 0, 3]}, v: {sphere: 0.1, at: [2, 0, 3]}}\ncables:\n  r: {route: [w, {pulley: v, radius: 1, axis: [0, 1, 0], turn: left}, {on: a, at: [4, 0, 0]}], EA: 1 kN}\n",
     "4:64: cables.r.route[1].turn: expected over, under, positive or negative, got \"left\""},
    {"limber: 1\nbodies: {a: {box: [1, 1, 1]}, w: {sphere: 0.1, at: [0, 0, 3]}, v: {sphere: 0.1, at: [2, 0, 3]}}\ncables:\n  r: {route: [w, {pulley: v, axis: [0, 1, 0], turn: positive}, a], EA: 1 kN}\n",
     "4:27: cables.r.route[1].pulley: needs its radius"},
    {"limber: 1\nbodies: {a: {box: [1, 1, 1]}, w: {sphere: 0.1, at: [0, 0, 3]}, v: {sphere: 0.1, at: [2, 0, 3]}}\ncables:\n  r: {route: [w, {pulley: v, radius: 1}, a], EA: 1 kN}\n",
     "4:18: cables.r.route[1]: which way the cable runs over or under it is not clear: say turn: positive or turn: negative, seen against its axis"},
    {"limber: 1\nbodies: {a: {box: [1, 1, 1]}, w: {sphere: 0.1, at: [0, 0, 3]}, v: {sphere: 0.1, at: [2, 0, 3]}}\ncables:\n  r: {route: [w, {on: v, radius: 3}, a], EA: 1 kN}\n",
     "4:34: cables.r.route[1].radius: is of a pulley; this guide is a point"},
    {"limber: 1\nbodies: {a: {box: [1, 1, 1]}, w: {sphere: 0.1, at: [0, 0, 3]}, v: {sphere: 0.1, at: [2, 0, 3]}}\ncables:\n  r: {route: [w, a], EA: 1 kN, stiffness: 3 kN/m}\n",
     "4:32: cables.r: give only one of stiffness and EA"},
    {"limber: 1\nbodies: {a: {box: [1, 1, 1]}, w: {sphere: 0.1, at: [0, 0, 3]}, v: {sphere: 0.1, at: [2, 0, 3]}}\ncables:\n  r: {route: [w], EA: 1 kN}\n",
     "4:14: cables.r.route: runs over two guides or more"},
    {"limber: 1\nbodies: {a: {box: [1, 1, 1]}, w: {sphere: 0.1, at: [0, 0, 3]}, v: {sphere: 0.1, at: [2, 0, 3]}}\ncables:\n  r: {route: [w, a], EA: 1 kN, closed: true}\n",
     "4:40: cables.r.closed: cannot close: between two points there is no way round"},
    {"limber: 1\nbodies: {a: {box: [1, 1, 1]}, w: {sphere: 0.1, at: [0, 0, 3]}, v: {sphere: 0.1, at: [2, 0, 3]}}\ncables:\n  r: {route: [w, {on: v, friction: 0.1}, a], EA: 1 kN, damping: 3}\n",
     "4:65: cables.r.damping: goes without friction at its guides, which damps it"},
    {"limber: 1\nbodies: 7\n",
     "2:9: bodies: expected a mapping of names, got text"},
    {"limber: 1\nbodies: {a: 7}\n",
     "2:13: bodies.a: expected a mapping, got text"},
    {"limber: 1\nbodies: {7a: {sphere: 1}}\n",
     "2:10: bodies.7a: \"7a\" is no name: letters, digits, _ and -, beginning with a letter"},
    {"limber: 1\nbodies: {world: {sphere: 1}}\n",
     "2:10: bodies.world: \"world\" is taken: it is the ground"},
    {"limber: 1\nbodies: {'': {sphere: 1}}\n",
     "2:10: bodies: \"\" is no name: letters, digits, _ and -, beginning with a letter"},
    {"limber: 1\ntitle: [1]\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\n",
     "2:8: title: expected text, got a list"},
    {"limber: 1\nbodies: {a: {sphere: -1}}\n",
     "2:22: bodies.a.sphere.radius: expected a positive length, got -1"},
    {"limber: 1\nbodies: {a: {sphere: 0}}\n",
     "2:22: bodies.a.sphere.radius: expected a positive length, got 0"},
    {"limber: 1\nbodies: {a: {sphere: 3 s}}\n",
     "2:22: bodies.a.sphere.radius: expected a length, got a time (\"3 s\")"},
    {"limber: 1\nbodies: {a: {sphere: 30 deg}}\n",
     "2:22: bodies.a.sphere.radius: expected a length, got an angle (\"30 deg\")"},
    {"limber: 1\nbodies: {a: {sphere: 3 mmm}}\n",
     "2:23: bodies.a.sphere.radius: expected a length: \"mmm\" is no unit; did you mean \"mm\"?"},
    {"limber: 1\nbodies: {a: {sphere: wide}}\n",
     "2:22: bodies.a.sphere.radius: expected a length: \"wide\" is no parameter"},
    {"limber: 1\nbodies: {a: {sphere: 1/0}}\n",
     "2:22: bodies.a.sphere.radius: expected a positive length, got inf from \"1/0\""},
    {"limber: 1\nbodies: {a: {sphere: 1e999}}\n",
     "2:22: bodies.a.sphere.radius: expected a length: the number is too large or too small"},
    {"limber: 1\nbodies: {a: {sphere: nan}}\n",
     "2:22: bodies.a.sphere.radius: expected a length: \"nan\" is no parameter"},
    {"limber: 1\nbodies: {a: {sphere: [1]}}\n",
     "2:22: bodies.a.sphere: expected a mapping, got a list"},
    {"limber: 1\nbodies: {a: {sphere: 1 +}}\n",
     "2:25: bodies.a.sphere.radius: expected a length: the expression ends too early"},
    {"limber: 1\nbodies: {a: {sphere: 2*t}}\n",
     "2:24: bodies.a.sphere.radius: expected a length: t, the time, can be used only where a value may change with time"},
    {"limber: 1\nbodies: {a: {box: [1, 2]}}\n",
     "2:19: bodies.a.box: expected a list of 3 numbers, got 2 items"},
    {"limber: 1\nbodies: {a: {box: [1, 2, 3 kg]}}\n",
     "2:26: bodies.a.box[2]: expected a length, got a mass (\"3 kg\")"},
    {"limber: 1\nbodies: {a: {box: [1, \"max(1, 2\", 3]}}\n",
     "2:23: bodies.a.box[1]: expected a length: a ( is not closed; inside [ ] or { } put quotes around an expression with commas"},
    {"limber: 1\nbodies: {a: {sphere: 1, fixed: yes}}\n",
     "2:32: bodies.a.fixed: expected true or false, got \"yes\""},
    {"limber: 1\nbodies: {a: {sphere: sin(2 m)}}\n",
     "2:22: bodies.a.sphere.radius: expected a length: sin expects an angle, got a length"},
    {"limber: 1\nbodies: {a: {sphere: 1 m + 1 s}}\n",
     "2:26: bodies.a.sphere.radius: expected a length: a length and a time do not combine"},
    {"limber: 1\nparameters: {p: q, q: p}\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\n",
     "2:23: parameters.q: expected a number: parameters \"q\" and \"p\" refer to each other"},
    {"limber: 1\nparameters: {p: p + 1}\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\n",
     "2:17: parameters.p: expected a number: parameter \"p\" refers to itself"},
    {"limber: 1\nparameters: {sin: 1}\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\n",
     "2:14: parameters.sin: \"sin\" cannot name a parameter: expressions would read it differently"},
    {"limber: 1\nparameters: {p: [1]}\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\n",
     "2:17: parameters.p: expected a number, got a list"},
    {"limber: 1\nparameters: {width: 1}\nbodies: {a: {sphere: widht}}\n",
     "3:22: bodies.a.sphere.radius: expected a length: \"widht\" is no parameter; did you mean \"width\"?"},
    {"limber: 1\nparameters: [1]\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\n",
     "2:13: parameters: expected a mapping of names to numbers, got a list"},
    {"limber: 1\nparameters: {p: 1 mmm}\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\n",
     "2:18: parameters.p: expected a number: \"mmm\" is no unit; did you mean \"mm\"?"},
    {"limber: 1\nparameters: {p: }\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\n",
     "2:14: parameters.p: expected a number, got nothing"},
    {"limber: 1\nbodies: {a: {}}\n",
     "2:10: bodies.a: needs a shape (box, sphere, …), or mass and inertia, or point_masses"},
    {"limber: 1\nbodies: {a: {sphere: 1, box: [1, 1, 1]}}\n",
     "2:25: bodies.a: give only one of box, sphere, cylinder, capsule, hull, mesh, height_field and shapes"},
    {"limber: 1\nbodies: {a: {sphere: 1, mass: 1, density: 1}}\n",
     "2:31: bodies.a.mass: the shapes have 4.18879 kg by their densities, and the mass is 1 kg"},
    {"limber: 1\nbodies: {a: {sphere: 1, material: steel}}\n",
     "2:35: bodies.a.material: there is no material \"steel\""},
    {"limber: 1\nbodies: {a: {cylinder: {radius: 1}}}\n",
     "2:24: bodies.a.cylinder: needs one of length and from\n2:24: bodies.a.cylinder: needs one of length and to"},
    {"limber: 1\nbodies: {a: {cylinder: {radius: 1, from: [0, 0, 0], to: [0, 0, 0]}}}\n",
     "2:57: bodies.a.cylinder.to: the two ends must be apart"},
    {"limber: 1\nbodies: {a: {inertia: [1, 1, 1]}}\n",
     "2:23: bodies.a.inertia: an inertia needs a mass beside it"},
    {"limber: 1\nbodies: {a: {sphere: 1, first_moment: [0, 0, 1]}}\n",
     "2:39: bodies.a.first_moment: a centre of mass needs an inertia beside it; else it follows from the "
     "shapes"},
    {"limber: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1], com: [0, 0, 1], first_moment: [0, 0, 1]}}\n",
     "2:59: bodies.a: give only one of com and first_moment"},
    {"limber: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1], first_moment: [0, 0, 2 m]}}\n",
     "2:64: bodies.a.first_moment[2]: expected a first moment, got a length (\"2 m\")"},
    {"limber: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 9]}}\n",
     "2:32: bodies.a.inertia: no mass has these principal moments (1 + 1 < 9)"},
    {"limber: 1\nbodies: {a: {mass: 1e-320, inertia: [1, 1, 1]}}\n",
     "2:20: bodies.a.mass: must be zero or within 1e-150…1e150 kg, got 9.99989e-321"},
    {"limber: 1\nbodies: {a: {mass: 1, inertia: [1e-320, 1e-320, 1e-320]}}\n",
     "2:32: bodies.a.inertia: must be zero or within 1e-150…1e150 kg m2, got 9.99989e-321"},
    {"limber: 1\nbodies: {a: {sphere: 1e-60}}\n",
     "2:10: bodies.a: mass: must be zero or within 1e-150…1e150 kg, got 4.18879e-177"},
    {"limber: 1\nbodies: {a: {sphere: 1, rotate: [[1, 0, 0], [0, 1, 0], [0, 0, -1]]}}\n",
     "2:33: bodies.a.rotate: expected a rotation matrix: orthonormal rows, determinant 1"},
    {"limber: 1\nbodies: {a: {sphere: 1, color: red}}\n",
     "2:32: bodies.a.color: expected \"#rrggbb\" (in quotes) or [r, g, b]"},
    {"limber: 1\nbodies: {a: {sphere: 1, points: [1]}}\n",
     "2:33: bodies.a.points: expected a mapping of names, got a list"},
    {"limber: 1\nbodies: {a: {sphere: 1, fixed: true, velocity: [1, 0, 0]}}\n",
     "2:48: bodies.a.velocity: the body is fixed"},
    {"limber: 1\nbodies: {a: {shapes: [{at: [0, 0, 0]}]}}\n",
     "2:23: bodies.a.shapes[0]: needs one of box, sphere, cylinder, capsule, hull, mesh and height_field"},
    {"limber: 1\nbodies: {a: {sphere: 1, rotate: {axis: [0, 0, 0], angle: 1}}}\n",
     "2:40: bodies.a.rotate.axis: expected a direction, got three zeros"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\njoints: {j: {type: revolut, child: a}}\n",
     "3:20: joints.j.type: expected fixed, revolute, prismatic, universal, planar, spherical, free, cylindrical, screw, point_on_line, point_on_plane, constant_velocity or distance, got \"revolut\"; did you mean \"revolute\"?"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\njoints: {j: {child: a}}\n",
     "3:10: joints.j: needs the key \"type\""},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\njoints: {j: {type: revolute}}\n",
     "3:10: joints.j: needs the key \"child\""},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\njoints: {j: {type: revolute, child: aa}}\n",
     "3:37: joints.j.child: there is no body \"aa\"; did you mean \"a\"?"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\njoints: {j: {type: revolute, child: world}}\n",
     "3:37: joints.j.child: the world cannot be used here"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\njoints: {j: {type: revolute, child: a, axis: [0, 0, 0]}}\n",
     "3:46: joints.j.axis: expected a direction, got three zeros"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\njoints: {j: {type: spherical, child: a, axis: [0, 0, 1]}}\n",
     "3:47: joints.j.axis: a spherical joint has no axis"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\njoints: {j: {type: universal, child: a, axis: [1, 0, 0], axis2: [1, 1, 0]}}\n",
     "3:65: joints.j.axis2: the two axes of a universal joint must be perpendicular"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\njoints: {j: {type: revolute, child: a, stiffness: [1, 2]}}\n",
     "3:51: joints.j.stiffness: a revolute joint has 1 coordinate: expected one number, got 2 items"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\njoints: {j: {type: universal, child: a, position: 1}}\n",
     "3:51: joints.j.position: a universal joint has 2 coordinates: expected a list of 2, got one value"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\njoints: {j: {type: revolute, child: a, stiffness: 3 N/m}}\n",
     "3:51: joints.j.stiffness: expected a torsional stiffness, got a stiffness (\"3 N/m\")"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\njoints: {j: {type: revolute, child: a, stiffness: -3}}\n",
     "3:51: joints.j.stiffness: expected a torsional stiffness, zero or positive, got -3"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\njoints: {j: {type: revolute, child: a, limits: [1, -1]}}\n",
     "3:10: joints.j: position: 0 is outside the limits 1 … -1\n3:48: joints.j.limits: lower 1 is above upper -1"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\njoints: {j: {type: revolute, child: a, limits: [0, 1], position: 2}}\n",
     "3:66: joints.j.position: 2 is outside the limits 0 … 1"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\njoints: {j: {type: revolute, child: a, restitution: 2}}\n",
     "3:53: joints.j.restitution: expected a number, within 0 … 1, got 2"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\njoints: {j: {type: fixed, child: a, stiffness: 1}}\n",
     "3:48: joints.j.stiffness: a fixed joint has no coordinates"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\njoints:\n  j: {type: revolute, child: a, motion: 1 rad * t}\n  k: {type: revolute, child: a, motion: 2 rad * t}\n",
     "5:41: joints.k.motion: the joint closes a loop (\"a\" hangs on joint \"j\" already), and one that does cannot have a motion"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\njoints:\n  j: {type: revolute, parent: b, child: a, velocity: 1}\n  k: {type: revolute, parent: a, child: b, velocity: 1}\n",
     "4:54: joints.j.velocity: the joint closes a loop (a ring of joints), and one that does cannot have a velocity"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\njoints:\n  j: {type: revolute, child: a, position: 1}\n  k: {type: revolute, child: a}\ndrives: [{joint: k, force: 1}]\n",
     "5:30: joints.k.child: the joint closes a loop (\"a\" hangs on joint \"j\" already), and one that does cannot have a drive"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\njoints: {j: {type: screw, child: a}}\n",
     "3:10: joints.j: pitch: must be finite and not zero, got 0"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\njoints: {j: {type: revolute, child: a, pitch: 1 mm}}\n",
     "3:47: joints.j.pitch: only a screw has a pitch"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\njoints: {j: {type: revolute, child: a, length: 1 mm}}\n",
     "3:48: joints.j.length: only a distance has a length"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\njoints: {j: {type: distance, child: a}}\n",
     "3:10: joints.j: length: must be positive, got 0"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\njoints: {j: {type: distance, child: a, at: [1, 0, 0]}}\n",
     "3:44: joints.j.at: a distance has two ends: give parent_frame and child_frame"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\njoints: {j: {type: distance, child: a, length: 1, motion: 1}}\n",
     "3:59: joints.j.motion: a distance joint has no coordinates"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\njoints: {j: {type: distance, child: a, length: 1, stiffness: 1}}\n",
     "3:62: joints.j.stiffness: a distance joint has no coordinates"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\nties: {t: {on: a, type: screw}}\n",
     "3:25: ties.t.type: a tie has no pitch: put it under loops"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\njoints: {j: {type: point_on_line, child: a, limits: [1, 2, 3]}}\n",
     "3:53: joints.j.limits: expected one angle and one [lower, upper]"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\njoints: {j: {type: fixed, parent: a, child: a}}\n",
     "3:35: joints.j.parent: body \"a\" hangs on itself through a ring of joints; close rings under loops\n3:45: joints.j.child: \"a\" cannot hang on itself"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\njoints: {j: {type: revolute, child: a, drive: {}}}\n",
     "3:47: joints.j.drive: needs one of force and servo"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\njoints: {j: {type: revolute, child: a, drive: {force: 1 m}}}\n",
     "3:55: joints.j.drive.force: expected a torque, got a length (\"1 m\")"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\njoints: {j: {type: universal, child: a, motion: t}}\n",
     "3:49: joints.j.motion: a universal joint has 2 coordinates: expected a list with one function each"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\njoints: {j: {type: revolute, child: a, at: b.top}}\n",
     "3:44: joints.j.at: body \"b\" has no point \"top\""},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\njoints: {j: {type: revolute, child: a, at: [0, 0, 0], child_frame: {}}}\n",
     "3:44: joints.j.at: give either parent_frame and child_frame, or this"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\ndrives: [{joint: nope, force: 1}]\n",
     "3:18: drives[0].joint: there is no joint \"nope\""},
    {"limber: 1\nbodies: {a: {sphere: 1, fixed: true}}\njoints: {j: {type: free, child: a}}\n",
     "2:32: bodies.a.fixed: the body hangs on joint \"j\""},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\nloops: {l: {type: revolute, a: a, b: a}}\n",
     "3:9: loops.l: joins a body to itself"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\nloops: {l: {type: free, a: a, b: b}}\n",
     "3:19: loops.l.type: a free joint closes nothing"},
    {"limber: 1\nchains: {c: {links: 2.5, length: 1}}\n",
     "2:21: linkages.c.links: expected a whole number, at least 1, got 2.5"},
    {"limber: 1\nchains: {c: {links: 0, length: 1}}\n",
     "2:21: linkages.c.links: expected a whole number, at least 1, got 0"},
    {"limber: 1\nchains: {c: {links: 3}}\n",
     "2:10: linkages.c: needs the key \"length\""},
    {"limber: 1\nchains: {c: {links: 3, length: 1, from: nowhere}}\n",
     "2:41: linkages.c.from: there is no body or beam \"nowhere\""},
    {"limber: 1\nchains: {c: {links: 3, length: 1, joint: ball}}\n",
     "2:42: linkages.c.joint: expected revolute, universal, spherical, fixed or prismatic, got \"ball\""},
    {"limber: 1\nchains: {c: {links: 3, length: 1, stiffness: -2}}\n",
     "2:46: linkages.c.stiffness: expected a torsional stiffness, zero or positive, got -2"},
    {"limber: 1\nchains: {c: {links: 3, length: 1}}\ntrees: {c: {levels: 1, length: 1}}\n",
     "3:9: trees.c: the name \"c\" is used twice"},
    {"limber: 1\nchains: {c: {links: 3, length: 1, from: d.tip}, d: {links: 3, length: 1, from: c.tip}}\n",
     "2:41: linkages.c.from: there is no body or beam \"d.tip\""},
    {"limber: 1\nbodies: {c.0: {sphere: 1}}\nchains: {c: {links: 3, length: 1}}\n",
     "2:10: bodies.c.0: joint \"c.0.joint\": name is used twice\n2:10: bodies.c.0: name is used twice"},
    {"limber: 1\nladders: {l: {rungs: 3, spacing: 1, width: 1, across: [0, 0, 1]}}\n",
     "2:55: ladders.l.across: must be perpendicular to direction"},
    {"limber: 1\ntrees: {t: {levels: 50, length: 1}}\n",
     "2:21: trees.t.levels: makes 2.2e+12 bodies and joints; the limit for a scene is 2000000"},
    {"limber: 1\nchains: {c: {links: 3, length: 1}}\nprobes: [c.7.position]\n",
     "3:10: probes[0]: nothing called \"c.7\" has a position"},
    {"limber: 1\nchains: {c: {links: 3, length: 1}}\nprobes: [c.position]\n",
     "3:10: probes[0]: c has many bodies: say c.first, c.last or c.1"},
    {"limber: 1\nbeams: {f: {path: [[0, 0, 0], [1, 0, 0]], material: m, section: s}}\n",
     "2:53: beams.f.material: there is no material \"m\"\n2:65: beams.f.section: there is no section \"s\""},
    {"limber: 1\nmaterials: {m: {E: 1 GPa, density: 1000}}\nsections: {s: {circle: 1 mm}}\nbeams: {f: {path: [[0, 0, 0]], material: m, section: s, up: [0, 0, 1]}}\n",
     "4:19: beams.f.path: a path has at least two points"},
    {"limber: 1\nmaterials: {m: {E: 1 GPa, density: 1000}}\nsections: {s: {circle: 1 mm}}\nbeams: {f: {path: [[0, 0, 0], [0, 0, 1]], material: m, section: s, up: [0, 0, 1]}}\n",
     "4:72: beams.f.up: must not point along the beam at its root"},
    {"limber: 1\nmaterials: {m: {E: 1 GPa, density: 1000}}\nsections: {s: {circle: 1 mm}}\nbeams: {f: {path: {arc: {radius: 1}}, material: m, section: s}}\n",
     "4:20: beams.f.path.arc: needs the key \"angle\""},
    {"limber: 1\nmaterials: {m: {E: 1 GPa, density: 1000}}\nsections: {s: {circle: 1 mm}}\nbeams: {f: {path: {bezier: {}}, material: m, section: s}}\n",
     "4:19: beams.f.path: expected a list of points, {arc: …}, {helix: …} or {spline: …}"},
    {"limber: 1\nmaterials: {m: {E: 1 GPa, density: 1000}}\nsections: {s: {circle: 1 mm}}\nbeams: {f: {path: [[0, 0, 0], [0, 0, 0]], material: m, section: s}}\n",
     "4:19: beams.f.path: must have a positive length, got 0"},
    {"limber: 1\nmaterials: {m: {E: 1, density: 1, nu: 0.6}}\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\n",
     "2:39: materials.m.nu: expected a number between -1 and 0.5, got 0.6"},
    {"limber: 1\nsections: {s: {tube: {outer: 1, inner: 2}}}\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\n",
     "2:40: sections.s.tube.inner: must be less than the outer radius"},
    {"limber: 1\nsections: {s: {}}\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\n",
     "2:12: sections.s: needs one of circle, tube, rectangle, ellipse and polygon"},
    {"limber: 1\nsections: {s: {polygon: {outline: [[0, 0], [1, 1]]}}}\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\n",
     "2:35: sections.s.polygon.outline: expected a list of at least three corners [y, z]"},
    {"limber: 1\nmaterials: {m: {E: 1 GPa, density: 1000}}\nsections: {s: {circle: 1 mm}}\nbeams: {f: {path: [[0, 0, 0], [1, 0, 0]], material: m, section: s, recipe: best}}\n",
     "4:76: beams.f.recipe: expected consistent_3r, consistent_1r, published_3r or published_1r, got \"best\""},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\nsprings: {s: {between: [a, c], stiffness: 1}}\n",
     "3:28: springs.s.between[1]: there is no body or beam \"c\""},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\nsprings: {s: {between: [a], stiffness: 1}}\n",
     "3:24: springs.s.between: expected a list of two places"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\nsprings: {s: {between: [a, a], stiffness: 1}}\n",
     "3:24: springs.s.between: both ends are on the same body"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\nsprings: {s: {between: [a, b.tip], stiffness: 1}}\n",
     "3:28: springs.s.between[1]: body \"b\" has no point \"tip\""},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\nloads: {f: {on: a}}\n",
     "3:9: loads.f: needs a force or a moment"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\nloads: {f: {force: [1, 0, 0]}}\n",
     "3:9: loads.f: needs one of on and along"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\nloads: {f: {on: world, force: [1, 0, 0]}}\n",
     "3:17: loads.f.on: pushes on the world, which does not move"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\nloads: {f: {on: a, force: 3}}\n",
     "3:27: loads.f.force: expected a list of three (a force each), or a table or file, got text"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\nloads: {f: {on: a, force: [{table: [[1, 0], [0, 1]]}, 0, 0]}}\n",
     "3:45: loads.f.force[0].table[1]: times must increase from row to row"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\nloads: {f: {on: a, force: [{table: [[0, 0, 0]]}, 0, 0]}}\n",
     "3:37: loads.f.force[0].table[0]: expected a row of 2 numbers: the time and a value"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\nloads: {f: {on: a, force: [{file: none.csv}, 0, 0]}}\n",
     "3:35: loads.f.force[0].file: cannot read \"none.csv\": No such file or directory"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\nloads: {f: {on: a, force: [1/t, 0, 0]}}\n",
     "3:28: loads.f.force[0]: expected a force, got inf at t = 0"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\nloads: {f: {along: a, force_per_length: [0, 0, 1]}}\n",
     "3:20: loads.f.along: there is no beam \"a\""},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\nwind: {}\n",
     "3:7: wind: needs the key \"velocity\""},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\nprobes: [a.postion]\n",
     "3:10: probes[0]: \"postion\" cannot be probed (position, velocity, speed, rotation, angular_velocity, angle, force, length, tension, curvature, twist, bending_moment, torque, acceleration, angular_acceleration, momentum, angular_momentum, reaction.force, reaction.torque, reaction.force.local, reaction.torque.local, motion.force, motion.work, drive.power, drive.work, work, section.force, section.moment, contact.force, contact.slip, gap, wrap, slip, winch.power can); did you mean \"position\"?"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\nprobes:\n  - a.position\n  - {name: a.position, quantity: speed, on: b}\n",
     "5:5: probes[1]: \"a.position\" is probed already, on line 4"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\nprobes: [c.position]\n",
     "3:10: probes[0]: nothing called \"c\" has a position"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\nprobes: [position]\n",
     "3:10: probes[0]: expected thing.quantity, as in finger.tip.position, got \"position\""},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\nprobes: [energy.lost]\n",
     "3:10: probes[0]: energy has kinetic, gravity, elastic, total, dissipated, work, remainder, not \"lost\""},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\nprobes: [{name: x, quantity: joint_force, on: a}]\n",
     "3:47: probes[0].on: does not fit the quantity"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\nprobes: [a.reaction.force]\n",
     "3:10: probes[0]: nothing called \"a\" has a reaction.force"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\nprobes: [{name: x, quantity: reaction_force}]\n",
     "3:10: probes[0]: this quantity needs one of the keys \"joint\", \"tie\" and \"beam\""},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\nprobes: [{name: x, quantity: load_work, load: f}]\n",
     "3:47: probes[0].load: there is no load \"f\""},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\njoints: {j: {type: revolute, child: a}}\nprobes: [j.drive.power]\n",
     "4:10: probes[0]: the joint has no drive"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\njoints: {j: {type: revolute, child: a}}\nprobes: [j.motion.force]\n",
     "4:10: probes[0]: the motion of the joint is not given"},
    {"limber: 1\nbodies: {a: {sphere: 1, points: {p: [1, 0, 0]}}, b: {sphere: 1}}\nprobes: [{name: x, quantity: momentum, on: a.p}]\n",
     "3:10: probes[0]: must be of a whole body"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\nprobes: 3\n",
     "3:9: probes: expected a list, got text"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\nrun: {time: -1}\n",
     "3:13: run.time: expected a time, zero or positive, got -1"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\nrun: {step: 10, time: 1}\n",
     "3:13: run.step: is longer than the whole run"},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\nrun: {integrator: verlet}\n",
     "3:19: run.integrator: expected midpoint, euler, implicit_euler, sdirk, rk4, gauss or sdirk4, got \"verlet\""},
    {"limber: 1\nbodies: {a: {sphere: 1}, b: {sphere: 1}}\nrun: {frame: 1/30 s}\n",
     "3:14: run.frame: expected a time, got a frequency (\"1/30 s\")"},
    {"limber: 1\n",
     "1:1: the scene has no bodies and no beams"},
    {"limber: 1\n# nothing\n",
     "1:1: the scene has no bodies and no beams"},
    {"bodies: {a: {sphere: 1}}\n",
     "1:1: needs the key \"limber\""},
    {"limber: 2\nbodies: {a: {sphere: 1}}\n",
     "1:9: limber: this limber reads version 1 of the scene language, not 2"},
    {"limber: x\n",
     "1:9: limber: expected a number: \"x\" is no parameter"},
    {"- 1\n",
     "1:1: expected a mapping, got a list"},
    {"hello\n",
     "1:1: expected a mapping, got text"},
    {"",
     "1:1: the file is empty; a scene begins with \"limber: 1\""},
};
// clang-format on

TEST(BadScenes, SayWhatIsWrongAndWhere) {
  for (const Bad& bad : table) {
    std::string said;
    for (const Diagnostic& d : diagnose(bad.text)) {
      Diagnostic short_one = d;
      EXPECT_EQ(short_one.file, "test.yaml");
      short_one.file.clear();
      said += (said.empty() ? "" : "\n") + to_string(short_one).substr(d.line > 0 ? 1 : 0);
    }
    EXPECT_EQ(said, bad.said) << bad.text;
  }
}

TEST(BadScenes, AreManyAndAllErrorsComeAtOnce) {
  EXPECT_GE(std::size(table), 100u);
  const auto list = diagnose(
      "limber: 1\n"
      "gravty: [0, 0, 0]\n"
      "bodies:\n"
      "  a: {sphere: -1}\n"
      "  b: {box: [1, 2, 3 s], densty: 3}\n"
      "joints:\n"
      "  j: {type: revolut, parent: a, child: c}\n"
      "run: {time: 3 m}\n");
  std::vector<int> lines;
  for (const Diagnostic& d : list) lines.push_back(d.line);
  EXPECT_EQ(lines, (std::vector<int>{2, 4, 5, 5, 7, 7, 8})) << all_text(list);
}

TEST(BadScenes, AreCutAtFifty) {
  std::string text = "limber: 1\nbodies:\n";
  for (int i = 0; i < 120; ++i) text += "  b" + std::to_string(i) + ": {sphere: -1}\n";
  const auto list = diagnose(text);
  ASSERT_EQ(list.size(), 51u);
  EXPECT_EQ(list[50].message, "and 70 more");
}

// What is found only when a method takes the model: the value, the entry, or the short form that made it.
TEST(BadScenes, WhatAMethodRefusesHasAPlace) {
  LoadOptions options;
  options.set = {{"n", "3"}};
  const Scene scene = parse_text(
      "parameters: {n: 2}\n"
      "bodies: {\"b${i}\": {repeat: {i: n}, sphere: 1, mass: 2}}\n"
      "linkages:\n"
      "  \"c\": {links: 4, length: 1}  # µ\n"
      "springs: {s: {between: [b0, b1], stiffness: 1}}\n",
      options);
  const ModelError error({{"scene", "", "", "is odd"},
                          {"spring", "s", "between", "is not allowed"},
                          {"body", "b2", "mass", "is missing"},
                          {"body", "c.3", "mass", "is missing"},
                          {"joint", "b1.joint", "", "cannot move"}});
  EXPECT_EQ(all_text(locate(scene, error)),
            "test.yaml:1:1: scene: is odd\n"
            "test.yaml:3:10: bodies.b1: joint \"b1.joint\": cannot move (i = 1)\n"
            "test.yaml:3:53: bodies.b2.mass: is missing (i = 2)\n"
            "test.yaml:5:3: linkages.c: body \"c.3\".mass: is missing\n"
            "test.yaml:6:24: springs.s.between: is not allowed\n");
}

TEST(BadScenes, CommandLineParametersAreChecked) {
  const std::string text =
      "limber: 1\nparameters: {links: 3, span: 1 m}\nchains: {c: {links: =links, length: span/links}}\n";
  const auto said = [&](std::vector<std::pair<std::string, std::string>> set) {
    LoadOptions options;
    options.set = std::move(set);
    return all_text(diagnose(text, options));
  };
  EXPECT_EQ(said({{"links", "5"}}), "");
  EXPECT_EQ(said({{"lnks", "5"}}), "--set lnks: the scene has no such parameter; did you mean \"links\"?\n");
  EXPECT_EQ(said({{"links", "5 mmm"}}),
            "--set links: expected a number: \"mmm\" is no unit; did you mean \"mm\"?\n");
  EXPECT_EQ(said({{"links", "2.5"}}),
            "test.yaml:3:21: linkages.c.links: expected a whole number, at least 1, got =links\n");
}

}  // namespace
}  // namespace limber::scene
