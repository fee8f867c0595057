// A written model reads back as the same model.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "scene_support.h"

namespace limber::scene {
namespace {

void same(const Pose& a, const Pose& b) {
  EXPECT_EQ(a.R, b.R);
  EXPECT_EQ(a.p, b.p);
}
void same(const TimeFunction& a, const TimeFunction& b) {
  EXPECT_EQ(a.is_constant(), b.is_constant());
  for (double t : {0.0, 0.3, 1.0, 2.5, 17.0}) {
    EXPECT_EQ(a.value(t), b.value(t));
    EXPECT_EQ(a.rate(t), b.rate(t));
  }
}
void same(const VectorFunction& a, const VectorFunction& b) {
  for (int i = 0; i < 3; ++i) same(a.c[i], b.c[i]);
}
void same(const Attachment& a, const Attachment& b) {
  if (!a.beam.valid()) {
    EXPECT_EQ(a.body, b.body);
  }
  EXPECT_EQ(a.beam, b.beam);
  EXPECT_EQ(a.s, b.s);
  EXPECT_EQ(a.p, b.p);
}
void same(const JointLaw& a, const JointLaw& b, JointKind kind) {
  for (int i = 0; i < dof_count(kind); ++i) {
    EXPECT_EQ(a.stiffness[i], b.stiffness[i]);
    EXPECT_EQ(a.damping[i], b.damping[i]);
    EXPECT_EQ(a.rest[i], b.rest[i]);
    EXPECT_EQ(a.lower[i], b.lower[i]);
    EXPECT_EQ(a.upper[i], b.upper[i]);
  }
  EXPECT_EQ(a.restitution, b.restitution);
}
void same(const TouchTerms& a, const TouchTerms& b) {
  EXPECT_EQ(std::tuple(a.friction, a.restitution, a.stiffness, a.damping),
            std::tuple(b.friction, b.restitution, b.stiffness, b.damping));
}
void same(const Body& a, const Body& b) {
  EXPECT_EQ(std::tuple(a.restitution, a.surfaces, a.collide),
            std::tuple(b.restitution, b.surfaces, b.collide));
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.inertia.m, b.inertia.m);
  EXPECT_EQ(a.inertia.h, b.inertia.h);
  EXPECT_EQ(a.inertia.I, b.inertia.I);
  ASSERT_EQ(a.shapes.size(), b.shapes.size());
  for (std::size_t i = 0; i < a.shapes.size(); ++i) {
    EXPECT_EQ(a.shapes[i].geometry.index(), b.shapes[i].geometry.index());
    EXPECT_EQ(volume(a.shapes[i].geometry), volume(b.shapes[i].geometry));
    same(a.shapes[i].X_BG, b.shapes[i].X_BG);
  }
  ASSERT_EQ(a.points.size(), b.points.size());
  for (std::size_t i = 0; i < a.points.size(); ++i) EXPECT_EQ(a.points[i].p, b.points[i].p);
  EXPECT_EQ(a.color, b.color);
  EXPECT_EQ(a.linear_drag, b.linear_drag);
  EXPECT_EQ(a.angular_drag, b.angular_drag);
}
void same(const Joint& a, const Joint& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.parent, b.parent);
  EXPECT_EQ(a.child, b.child);
  same(a.X_PF, b.X_PF);
  same(a.X_BM, b.X_BM);
  same(a.law, b.law, a.kind);
  for (int i = 0; i < dof_count(a.kind); ++i) {
    EXPECT_EQ(a.position[i], b.position[i]);
    EXPECT_EQ(a.velocity[i], b.velocity[i]);
  }
}
void same(const Beam& a, const Beam& b) {
  EXPECT_EQ(a.surfaces, b.surfaces);
  EXPECT_EQ(a.name, b.name);
  same(a.from, b.from);
  EXPECT_EQ(a.path.index(), b.path.index());
  for (double s : {0.0, 0.37, 1.0}) EXPECT_EQ(path_point(a.path, s), path_point(b.path, s));
  EXPECT_EQ(a.material, b.material);
  EXPECT_EQ(a.section, b.section);
  EXPECT_EQ(a.up, b.up);
  EXPECT_EQ(a.elements, b.elements);
  EXPECT_EQ(a.recipe, b.recipe);
  EXPECT_EQ(a.damping, b.damping);
  EXPECT_EQ(std::tuple(a.planar, a.root, a.straight, a.air_damping, a.velocity),
            std::tuple(b.planar, b.root, b.straight, b.air_damping, b.velocity));
  ASSERT_EQ(a.rest.has_value(), b.rest.has_value());
  if (a.rest) {
    EXPECT_EQ(std::tuple(a.rest->length, a.rest->up, a.rest->path.has_value()),
              std::tuple(b.rest->length, b.rest->up, b.rest->path.has_value()));
    for (double s : a.rest->path ? std::vector{0.0, 0.37, 1.0} : std::vector<double>{})
      EXPECT_EQ(path_point(*a.rest->path, s), path_point(*b.rest->path, s));
  }
  ASSERT_EQ(a.clamps.size(), b.clamps.size());
  for (std::size_t i = 0; i < a.clamps.size(); ++i)
    EXPECT_EQ(std::tuple(a.clamps[i].s, a.clamps[i].body, a.clamps[i].hold, a.clamps[i].until),
              std::tuple(b.clamps[i].s, b.clamps[i].body, b.clamps[i].hold, b.clamps[i].until));
}
void same(const Aging& a, const Aging& b) {
  EXPECT_EQ(std::tuple(a.rate, a.stress, a.exponent), std::tuple(b.rate, b.stress, b.exponent));
}

template <class List, class Compare>
void each(const List& a, const List& b, Compare compare) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) compare(a[i], b[i]);
}

void same(const Model& a, const Model& b) {
  EXPECT_EQ(a.title(), b.title());
  same(a.gravity(), b.gravity());
  each(a.materials(), b.materials(), [](const Material& x, const Material& y) {
    EXPECT_EQ(std::tuple(x.name, x.E, x.G, x.nu, x.density, x.yield, x.strength),
              std::tuple(y.name, y.E, y.G, y.nu, y.density, y.yield, y.strength));
    same(x.creep, y.creep);
    same(x.fatigue, y.fatigue);
  });
  each(a.sections(), b.sections(), [](const Section& x, const Section& y) {
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.shape.index(), y.shape.index());
  });
  each(a.bodies(), b.bodies(), [](const Body& x, const Body& y) { same(x, y); });
  each(a.joints(), b.joints(), [](const Joint& x, const Joint& y) { same(x, y); });
  each(a.beams(), b.beams(), [](const Beam& x, const Beam& y) { same(x, y); });
  each(a.springs(), b.springs(), [](const Spring& x, const Spring& y) {
    EXPECT_EQ(std::tuple(x.name, x.stiffness, x.damping, x.rest_length, x.tension_only),
              std::tuple(y.name, y.stiffness, y.damping, y.rest_length, y.tension_only));
    same(x.a, y.a);
    same(x.b, y.b);
  });
  each(a.loops(), b.loops(), [](const Loop& x, const Loop& y) {
    EXPECT_EQ(std::tuple(x.name, x.kind, x.a, x.b), std::tuple(y.name, y.kind, y.a, y.b));
    same(x.X_AF, y.X_AF);
    same(x.X_BM, y.X_BM);
    same(x.law, y.law, x.kind);
  });
  each(a.ties(), b.ties(), [](const Tie& x, const Tie& y) {
    EXPECT_EQ(std::tuple(x.name, x.kind, x.axis), std::tuple(y.name, y.kind, y.axis));
    same(x.on, y.on);
    same(x.to, y.to);
    same(x.shift, y.shift);
    same(x.turn, y.turn);
  });
  each(a.changes(), b.changes(), [](const Change& x, const Change& y) {
    EXPECT_EQ(std::tuple(x.at, x.kind, x.beam, x.material, x.section, x.s),
              std::tuple(y.at, y.kind, y.beam, y.material, y.section, y.s));
  });
  ASSERT_EQ(a.contact().has_value(), b.contact().has_value());
  if (a.contact()) {
    EXPECT_EQ(std::tuple(a.contact()->friction, a.contact()->self),
              std::tuple(b.contact()->friction, b.contact()->self));
    each(a.contact()->planes, b.contact()->planes, [](const Plane& x, const Plane& y) {
      EXPECT_EQ(x.at, y.at);
      EXPECT_EQ(x.normal, y.normal);
      EXPECT_EQ(x.surfaces, y.surfaces);
    });
    each(a.contact()->pairs, b.contact()->pairs, [](const SurfacePair& x, const SurfacePair& y) {
      EXPECT_TRUE(x.a == y.a && x.b == y.b);
      EXPECT_EQ(x.collide, y.collide);
      same(x.terms, y.terms);
    });
  }
  each(a.surfaces(), b.surfaces(), [](const SurfaceKind& x, const SurfaceKind& y) {
    EXPECT_EQ(x.name, y.name);
    same(x.terms, y.terms);
  });
  each(a.point_loads(), b.point_loads(), [](const PointLoad& x, const PointLoad& y) {
    EXPECT_EQ(std::tuple(x.name, x.follows), std::tuple(y.name, y.follows));
    same(x.at, y.at);
    same(x.force, y.force);
    same(x.moment, y.moment);
  });
  each(a.distributed_loads(), b.distributed_loads(), [](const DistributedLoad& x, const DistributedLoad& y) {
    EXPECT_EQ(std::tuple(x.name, x.beam, x.s0, x.s1, x.follows),
              std::tuple(y.name, y.beam, y.s0, y.s1, y.follows));
    same(x.force_per_length, y.force_per_length);
  });
  each(a.drives(), b.drives(), [](const Drive& x, const Drive& y) {
    EXPECT_EQ(std::tuple(x.joint, x.kind, x.kp[0], x.kd[0], x.max_force[0]),
              std::tuple(y.joint, y.kind, y.kp[0], y.kd[0], y.max_force[0]));
    for (int i = 0; i < 6; ++i) same(x.target[i], y.target[i]);
  });
  each(a.motions(), b.motions(), [](const PrescribedMotion& x, const PrescribedMotion& y) {
    EXPECT_EQ(x.joint, y.joint);
    for (int i = 0; i < 6; ++i) same(x.position[i], y.position[i]);
  });
  each(a.probes(), b.probes(), [](const Probe& x, const Probe& y) {
    EXPECT_TRUE(x.touching == y.touching && x.against == y.against);
    EXPECT_EQ(std::tuple(x.name, x.quantity, x.joint, x.spring),
              std::tuple(y.name, y.quantity, y.joint, y.spring));
    same(x.at, y.at);
  });
  ASSERT_EQ(a.wind().has_value(), b.wind().has_value());
  if (a.wind()) same(a.wind()->velocity, b.wind()->velocity);
}

void round_trip(const Scene& scene) {
  const std::string text = write_yaml(scene.model, scene.run);
  try {
    const Scene again = parse(text, "written.yaml");
    same(scene.model, again.model);
    EXPECT_EQ(scene.run.time, again.run.time);
    EXPECT_EQ(scene.run.frame, again.run.frame);
    EXPECT_EQ(scene.run.articulated.integrator, again.run.articulated.integrator);
    EXPECT_EQ(scene.run.method, again.run.method);
    if (scene.run.method == sim::Method::adaptive) {
      EXPECT_EQ(scene.run.adaptive.error, again.run.adaptive.error);
      EXPECT_EQ(scene.run.adaptive.fallback, again.run.adaptive.fallback);
      EXPECT_EQ(scene.run.adaptive.weights, again.run.adaptive.weights);
    }
    if (scene.run.method == sim::Method::thread) {
      const thread::Options &x = scene.run.thread, &y = again.run.thread;
      EXPECT_EQ(std::tuple(x.integrator, x.element, x.frame, x.solver, x.cg_tolerance, x.iterations,
                           x.substep, x.levels, x.bend, x.twist, x.join),
                std::tuple(y.integrator, y.element, y.frame, y.solver, y.cg_tolerance, y.iterations,
                           y.substep, y.levels, y.bend, y.twist, y.join));
    }
    EXPECT_EQ(text.substr(0, text.find("bodies:")),
              write_yaml(again.model, again.run).substr(0, text.find("bodies:")));
  } catch (const SceneError& error) {
    ADD_FAILURE() << error.what() << "\n" << text;
  }
}

TEST(WriteYaml, ShippedScenesComeBack) {
  for (const auto& path : shipped_scenes()) {
    SCOPED_TRACE(path);
    round_trip(parse(slurp_small(path), path.filename().string(), path.parent_path()));
  }
}

TEST(WriteYaml, EverythingComesBack) {
  round_trip(parse_text(
      "title: 'all \"of\" it\\'\n"
      "gravity: [0, 0, -9.81*cos(t/7)]\n"
      "materials: {m: {E: 3.2 GPa, nu: 0.35, density: 1240, yield: 55 MPa, strength: 70 MPa, creep: {rate: "
      "1e-7 Hz, stress: "
      "20 MPa, exponent: 3}, fatigue: {rate: 2e-7 Hz, stress: 30 MPa}}, n: {E: 1, density: 1, G: 0.7}}\n"
      "sections:\n"
      "  r: {rectangle: {width: 12 mm, height: 1.2 mm}}\n"
      "  c: {circle: 2 mm}\n"
      "  t: {tube: {outer: 2 mm, inner: 1 mm}}\n"
      "  e: {ellipse: {a: 2 mm, b: 1 mm}}\n"
      "  p: {polygon: {outline: [[0, 0], [1, 0], [1, 1], [0, 1]], holes: [[[0.2, 0.2], [0.4, 0.2], [0.2, "
      "0.4]]]}}\n"
      "bodies:\n"
      "  a: {box: [1, 2, 3], rotate: [0.1, 0.2, 0.3], at: [1, 2, 3], points: {x: [1, 0, 0], y: [0, 0.1, 0]}, "
      "color: \"#123456\"}\n"
      "  b: {cylinder: {radius: 0.1, from: [0, 0, 0], to: [1, 1, 1]}, at: [0, 0, 4], linear_drag: 0.1, "
      "angular_drag: 0.2}\n"
      "  c: {sphere: 1, velocity: [1, 2, 3], angular_velocity: [3, 2, 1], rotate: [1, 0, 0]}\n"
      "  d: {box: [1, 1, 1], fixed: true, at: [5, 0, 0]}\n"
      "  e: {box: [1, 1, 1], at: [6, 0, 0]}\n"
      "joints:\n"
      "  j: {type: revolute, child: a, axis: [1, 2, 3], stiffness: 3, rest: 0.1, limits: [-1, 2], "
      "restitution: 0.3, position: 0.4,\n"
      "      drive: {servo: {target: sin(t)^2, kp: 3, kd: 0.1, max_force: 7}}}\n"
      "  k: {type: planar, parent: a, child: b, axis: [0, 1, 0], limits: [[-1, 1], [-inf, 2], [0, 1]], "
      "motion: [0, {table: [[0, 0], [1, 2]], periodic: true}, t/3]}\n"
      "  l: {type: spherical, parent: d, child: e, limits: 1, position: [0.1, 0.2, 0.3], velocity: [1, 2, "
      "3]}\n"
      "loops: {o: {type: revolute, a: b, b: e, at: [1, 0, 0], axis: [0, 1, 0], damping: 0.3}}\n"
      "linkages: {arm: {from: a.x, links: 3, length: 0.7, joint: universal, stiffness: [1, 2], direction: "
      "[1, "
      "1, 0]}}\n"
      "trees: {oak: {levels: 3, length: 1, stiffness: 10}}\n"
      "ladders: {rope: {rungs: 2, spacing: 0.3, width: 0.4}}\n"
      "helices: {coil: {links: 5, coil: 0.1, pitch: 0.04, turns: 1}}\n"
      "beams:\n"
      "  f: {from: a.y, path: [[0, 0, 0], [0, 0, 1], [0, 1, 1]], up: [1, 0, 0], material: m, section: r}\n"
      "  g: {from: f.tip, path: {arc: {radius: 1, angle: 1}}, material: n, section: t, recipe: "
      "consistent_1r, planar: true}\n"
      "  h: {from: {on: f@0.25, at: [0, 0, 0.1]}, path: {helix: {radius: 1, pitch: 0.1, turns: -3}}, "
      "material: m, section: p, damping: 0.1}\n"
      "ties:\n"
      "  foot: {on: g.tip, type: prismatic, axis: [0, 1, 0], shift: [0, t/9, 0], turn: [0, 0, 0.1]}\n"
      "  across: {on: h.tip, to: f@0.5, type: spherical}\n"
      "changes:\n"
      "  - {at: 1 s, beam: f, material: n}\n"
      "  - {at: 2 s, beam: f, section: c}\n"
      "  - {at: 3 s, beam: h, grow: true}\n"
      "  - {at: 4 s, beam: g, cut: 0.3}\n"
      "springs: {s: {between: [g.tip, arm.tip], stiffness: 4}, u: {between: [a.x, world], stiffness: 1, "
      "rest_length: 0.1, tension_only: true}}\n"
      "loads:\n"
      "  p: {on: f.tip, force: [1, t^2, {table: [[0, 0], [2, 5]]}], moment: [0, 0, \"if(t < 1, 2, -3)\"], "
      "follows: true}\n"
      "  q: {on: b, force: [1, sin(3*t), 0], ramp: 2 s}\n"
      "  r: {along: g, force_per_length: [0, 0, -2], between: [0.1, 0.9]}\n"
      "wind: {velocity: [exp(-t), 0, 0], air_density: 1.1, drag_coefficient: 0.7}\n"
      "drives: [{joint: arm.1.joint, force: [0.1*t, 2]}]\n"
      "probes: [f.tip.position, j.angle, s.tension, energy.total, arm.tip.velocity, c.angular_velocity, "
      "g@0.5.rotation]\n"
      "run: {time: 1/3, step: 1 ms, frame: 1/60, integrator: euler, cpu_threads: 2}\n"));
}

TEST(WriteYaml, ThreadsComeBack) {
  round_trip(parse_text(
      "materials: {m: {E: 1 MPa, nu: 0.4, density: 1100}}\n"
      "sections: {c: {circle: 2 mm}}\n"
      "bodies: {hand: {sphere: 0.1, fixed: true, at: [1, 0, 0]}}\n"
      "beams:\n"
      "  cord: {path: [[0, 0, 0], [1, 0, 0]], material: m, section: c, elements: 8, root: pinned, straight: "
      "true,\n"
      "    clamps: [{at: 0.5, hold: welded, until: 0.3 s}, {at: 1, to: hand}], air_damping: 0.2 Hz, "
      "velocity: [0, 1, "
      "2]}\n"
      "  bow: {path: [[0, 0, 1], [1, 0, 1]], material: m, section: c, rest: {path: {arc: {radius: 2, angle: "
      "0.5}}, "
      "up: [0, 1, 1]}}\n"
      "  taut: {path: [[0, 0, 2], [1, 0, 2]], material: m, section: c, rest: {length: 0.9}}\n"
      "contact: {friction: 0.7, self: false, planes: [{at: [0, 0, -1], normal: [0, 1, 1]}], combine: "
      "average,\n"
      "  pairs: [{between: [cord, hand], friction: 0.1}, {between: [world, bow], friction: 0.2}]}\n"
      "probes: [cord@0.5.tension, cord@0.5.curvature, cord@0.5.twist, cord.root.bending_moment, "
      "contact.count]\n"
      "run: {time: 1, method: thread, thread: {integrator: euler, element: printed, frame: polar, solver: "
      "cg,\n"
      "  cg_tolerance: 1e-7, iterations: 1, substep: 2 ms, levels: 2, bend: 0.3, twist: 0.6, join: 0.5}}\n"));
}

TEST(WriteYaml, SurfacesComeBackAsTheyWere) {
  round_trip(parse_text(
      "materials: {m: {E: 1 GPa, density: 1000}}\nsections: {c: {circle: 1 cm}}\n"
      "surfaces:\n  rubber: {friction: 0.9, stiffness: 2 kN/m, damping: 3}\n  ice: {friction: 0.02, "
      "restitution: "
      "0.4}\n  plain: {}\n"
      "bodies:\n  a: {sphere: 1, surfaces: [rubber, ice]}\n  b: {sphere: 1, at: [3, 0, 0], collide: false, "
      "restitution: 0.3}\n"
      "beams:\n  rod: {path: [[0, 0, 9], [1, 0, 9]], material: m, section: c, surfaces: [plain]}\n"
      "contact:\n  planes: [{at: [0, 0, -9], surfaces: [ice]}]\n  pairs: [{between: [a, ice], restitution: "
      "0.1}, "
      "{between: [rubber, rubber], collide: false}, {between: [rod, world], stiffness: 1 kN/m, damping: 2, "
      "friction: "
      "0, collide: true}]\n"
      "probes: [a.world.contact.force, rod.a.contact.normal, a.contact.depth]\n"));
}

// Most first moments are no product of the mass and a number, and off-diagonal moments about the origin may
// be far smaller than those about the centre of mass that they come from.
TEST(WriteYaml, InertiasComeBackToTheLastBit) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> any(-1, 1);
  std::string text = "bodies:\n";
  for (int i = 0; i < 400; ++i) {
    const double m = 1.5 + any(random);
    const Vec3 com = 0.1 * Vec3(any(random), any(random), any(random));
    Mat3 I = 0.1 * Mat3::Identity();
    for (int k = 0; k < 3; ++k) I(k, k) += 0.01 * any(random);
    I(0, 1) = I(1, 0) = m * com.x() * com.y() * (1 + 1e-6 * any(random));  // nearly cancels
    const Inertia inertia = Inertia::about_com(m, com * (1 + 1e-15 * any(random)), I);
    text += fmt::format(
        "  b{}: {{mass: {}, first_moment: [{}, {}, {}], inertia: [{}, {}, {}, {}, {}, {}]}}\n", i, m,
        inertia.h.x() * (1 + 2e-16 * any(random)), inertia.h.y(), inertia.h.z(), inertia.I(0, 0),
        inertia.I(1, 1), inertia.I(2, 2), inertia.I(0, 1), inertia.I(0, 2), inertia.I(1, 2));
  }
  const Scene scene = parse_text(text);
  const std::string written = write_yaml(scene.model, scene.run);
  EXPECT_NE(written.find("com:"), std::string::npos);  // where it says the same, in plain words
  EXPECT_NE(written.find("first_moment:"), std::string::npos);
  round_trip(scene);
}

}  // namespace
}  // namespace limber::scene
