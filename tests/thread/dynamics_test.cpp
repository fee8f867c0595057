// Motion: natural frequencies, energy, determinism, saving, no hidden state.
#include "limber/math/so3.h"
#include "limber/thread/live.h"
#include "limber/thread/system.h"
#include "thread_support.h"

namespace limber::thread {
namespace {

// Frequency by zero crossings of coordinate `at` of the tip, which starts moving from rest by `start`.
template <class Start>
double frequency(Rope rope, double expected, int at, Start start) {
  const System system = rope.build();
  State state = system.rest();
  Workspace w(system);
  for (int j = 0; j < state.node_count(); ++j) start(state, j, double(j) / (state.node_count() - 1));
  const double h = 1 / (expected * 200), rest = state.e[12 * (state.node_count() - 1) + at];
  double last = 0, first_time = 0, last_time = 0;
  int crossings = 0;
  for (int k = 0; k < 200 * 4; ++k) {
    EXPECT_TRUE(step(system, state, w, h).ok());
    const double x = state.e[12 * (state.node_count() - 1) + at] - rest;
    if (last < 0 && x >= 0) {
      last_time = state.t - h * x / (x - last);
      if (crossings++ == 0) first_time = last_time;
    }
    last = x;
  }
  return (crossings - 1) / (last_time - first_time);
}

TEST(Motion, CantileverFrequencies) {
  Rope rope;
  const double rA = rope.density * rope.A(), G = rope.E / (2 * (1 + rope.nu));
  const double bending = 1.87510407 * 1.87510407 / (2 * pi) * std::sqrt(rope.E * rope.I() / rA);
  const double torsion = std::sqrt(G / rope.density) / 4, stretch = std::sqrt(rope.E / rope.density) / 4;
  // BDF2 with 200 steps a period is 0.03 % low.
  EXPECT_NEAR(
      frequency(rope, bending, 2,
                [](State& s, int j, double x) { s.v[12 * j + 2] = 0.01 * x * x * (6 - 4 * x + x * x) / 3; }) /
          bending,
      1, 5e-3);
  EXPECT_NEAR(frequency(rope, stretch, 0,
                        [](State& s, int j, double x) { s.v[12 * j] = 1e-3 * std::sin(pi / 2 * x); }) /
                  stretch,
              1, 5e-3);
  EXPECT_NEAR(frequency(rope, torsion, 8,
                        [](State& s, int j, double x) {  // y' = ω z, z' = −ω y
                          const double w = 0.1 * std::sin(pi / 2 * x);
                          s.v[12 * j + 8] = w, s.v[12 * j + 10] = -w;
                        }) /
                  torsion,
              1, 5e-3);
}

TEST(Motion, EnergyNeverGrows) {
  for (const Integrator integrator : all_integrators)
    for (const double h : {1e-3, 1.0 / 60}) {
      Rope rope;
      rope.gravity = Vec3(0, 0, -9.81);
      rope.options.integrator = integrator;
      const Gained gained = gained_in(rope.build(), h, 0.5);
      EXPECT_LT(gained.most, 1e-3 * gained.kinetic) << to_string(integrator) << " " << h;
      EXPECT_GT(gained.kinetic, 0.01);
    }
}

TEST(Motion, FreeThreadKeepsMomentum) {
  Rope rope;
  Beam beam = rope.beam();
  beam.root = Hold::free;
  beam.velocity = Vec3(1, 2, 3);
  const System system = rope.build(beam);
  State state = system.rest();
  Workspace w(system);
  state.v[12 * 10 + 2] += 2;  // a pluck
  for (int k = 0; k < 200; ++k) ASSERT_TRUE(step(system, state, w, 1e-3).ok());
  // The middle of mass: the sum of forces of all elements is nought, so the mean velocity stays.
  const auto mean = [&](const State& s) {
    Vec3 sum = Vec3::Zero();
    const int n = s.node_count();
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < 3; ++i) {
        sum[i] += s.v[12 * j + i] * (j == 0 || j == n - 1 ? 0.5 : 1) / (n - 1);
        if (j == 0 || j == n - 1) sum[i] += (j == 0 ? 1 : -1) * s.v[12 * j + 3 + i] / (n - 1) / (n - 1) / 12;
      }
    return sum;
  };
  State start = system.rest();
  start.v[12 * 10 + 2] += 2;
  EXPECT_LT((mean(state) - mean(start)).norm(), 1e-9);
}

TEST(Motion, StateIsAllThatMatters) {
  Rope rope;
  rope.gravity = Vec3(0, 0, -9.81);
  Beam beam = rope.beam();
  beam.damping = 1e-3;
  const System system = rope.build(beam);
  State a = system.rest();
  Workspace w(system);
  for (int k = 0; k < 20; ++k) ASSERT_TRUE(step(system, a, w, 2e-3).ok());
  State b = system.rest();
  b.load(a.save());
  Workspace fresh(system);
  for (int k = 0; k < 20; ++k) {
    ASSERT_TRUE(step(system, a, w, 2e-3).ok());
    fresh.fill_with_nan();
    ASSERT_TRUE(step(system, b, fresh, 2e-3).ok());
  }
  EXPECT_EQ(a.save(), b.save());
  EXPECT_THROW(b.load("short"), std::invalid_argument);
}

TEST(Motion, DampingTakesEnergy) {
  Rope rope;
  Beam beam = rope.beam();
  beam.damping = 0.05;
  const System system = rope.build(beam);
  State state = system.rest();
  Workspace w(system);
  for (int j = 0; j < state.node_count(); ++j) state.v[12 * j + 2] = std::sin(6.0 * j / 32);
  const double start = energy(system, state, w).total();
  for (int k = 0; k < 300; ++k) ASSERT_TRUE(step(system, state, w, 1e-3).ok());
  const double end = energy(system, state, w).total();
  EXPECT_LT(end, 0.9 * start);
  // The ledger takes the dampers' force at the end of each step: first order in the step.
  EXPECT_NEAR(state.dissipated, start - end, 0.1 * (start - end));
}

// An end is turned three times in a second: ½ GJ/L θ² are stored, and the ledger closes to the loss of the
// method, first order in the step. (A reaction from an iteration too few is off by a third.)
TEST(Motion, WorkOfATurnedEnd) {
  Rope rope;
  rope.section = Circle{2e-3}, rope.elements = 20;
  rope.path = PolylinePath{{Vec3::Zero(), Vec3(0.5, 0, 0)}};
  Beam beam = rope.beam();
  beam.damping = 2e-3, beam.air_damping = 5;
  Body hand;
  hand.name = "hand", hand.inertia.m = 1;
  Joint joint;
  joint.name = "turn", joint.kind = JointKind::revolute;
  joint.child = rope.builder.add(hand);
  joint.X_PF = {math::rotation_from_z(Vec3::UnitX()), Vec3(0.5, 0, 0)};
  PrescribedMotion motion;
  motion.joint = rope.builder.add(joint);
  motion.position[0] = TimeFunction::table({0, 1}, {0, 6 * pi});
  rope.builder.add(motion);
  beam.clamps.push_back({1, BodyId{0}, Hold::clamped});
  const System system = rope.build(beam);
  State state = system.rest();
  Workspace w(system);
  for (int k = 0; k < 500; ++k) ASSERT_TRUE(step(system, state, w, 1e-3).ok());
  const double GJ = rope.E / (2 * (1 + rope.nu)) * 2 * rope.I(), stored = 0.5 * GJ / 0.5 * 9 * pi * pi;
  const result::Energy e = energy(system, state, w);
  EXPECT_NEAR(e.elastic, stored, 2e-3 * stored);
  EXPECT_NEAR(e.total() + state.dissipated - state.work, 0, 3e-3 * stored);
}

TEST(Motion, ConjugateGradientsGiveTheSame) {
  State end[2];
  for (int k = 0; k < 2; ++k) {
    Rope rope;
    rope.gravity = Vec3(0, 0, -9.81);
    rope.options.solver = all_solvers[k];
    rope.options.cg_tolerance = 1e-12;
    const System system = rope.build();
    end[k] = system.rest();
    Workspace w(system);
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(step(system, end[k], w, 1e-3).ok());
  }
  for (std::size_t i = 0; i < end[0].e.size(); ++i) ASSERT_NEAR(end[0].e[i], end[1].e[i], 1e-7);
}

TEST(Mesh, SplitsWhereItBendsAndKeepsTheShape) {
  Rope fine, adaptive;
  for (Rope* rope : {&fine, &adaptive}) {
    rope->gravity = Vec3(0, 0, -9.81);
    rope->section = Circle{2e-3};
  }
  fine.elements = 64;
  adaptive.elements = 8;
  adaptive.options.levels = 3;
  adaptive.options.bend = 0.25;
  const System a = fine.build(), b = adaptive.build();
  State x = a.rest(), y = b.rest();
  Workspace wa(a), wb(b);
  for (int k = 0; k < 400; ++k) {
    ASSERT_TRUE(step(a, x, wa, 1e-3).ok());
    ASSERT_TRUE(step(b, y, wb, 1e-3).ok());
  }
  EXPECT_GT(y.node_count(), 9);
  EXPECT_LE(y.node_count(), 33);
  double worst = 0;
  for (int i = 0; i <= 20; ++i)
    worst = std::max(worst, (station(a, x, wa, 0, i / 20.0).x - station(b, y, wb, 0, i / 20.0).x).norm());
  EXPECT_LT(worst, 0.01);
}

// A hand on the tip of a cantilever: at rest its pull is the tip's load, 3EI w/L³ for a small deflection w.
TEST(Live, AHandPullsAsASpring) {
  Rope rope;
  rope.E = 1e9;
  Beam beam = rope.beam();
  beam.damping = 0.05;
  beam.air_damping = 3;
  const System system = rope.build(beam);
  State state = system.rest();
  Workspace w(system);
  const int tip = system.layout().polylines[0].points - 1;
  const double EI = rope.E * rope.I(), k = 6 * EI;
  result::Hand handle;
  handle.on = result::Hand::On::point, handle.index = tip;
  handle.target = Vec3(1, 0, 0.015), handle.stiffness = k, handle.damping = 0.02 * k;
  ASSERT_TRUE(hold(system, w, handle));
  for (int i = 0; i < 1500; ++i) ASSERT_TRUE(step(system, state, w, 5e-3).ok());
  const result::Pull at = pull(system, state, w);
  // k (0.015 − w) = 3EI w: w = 10 mm. The shortening by 0.6 w²/L and shear stay below 1 %.
  EXPECT_NEAR(at.point.z(), 0.01, 1e-4);
  EXPECT_NEAR(at.force.z(), 3 * EI * 0.01, 0.01 * 3 * EI * 0.01);
  EXPECT_NEAR(readings(system, state, w, "rope")[0].value, 1, 1e-3);
  const result::Fields f = fields(system, state, w);
  ASSERT_EQ(f[1].values.size(), system.layout().point_count());
  EXPECT_NEAR(f[1].values[0], 3 * EI * 0.01, 0.03 * 3 * EI * 0.01);  // the moment at the clamp
  release(w);
  EXPECT_EQ(pull(system, state, w).force.norm(), 0);
  handle.on = result::Hand::On::frame;
  EXPECT_FALSE(hold(system, w, handle));
}

// Cut by hand: the same model with one change more goes on from the state.
TEST(Live, CutsAtTheNearestNode) {
  Rope rope;
  rope.elements = 8, rope.gravity = Vec3(0, 0, -9.81);
  const System system = rope.build();
  State state = system.rest();
  Workspace w(system);
  for (int k = 0; k < 50; ++k) ASSERT_TRUE(step(system, state, w, 1e-3).ok());
  const int n = system.layout().polylines[0].points;
  EXPECT_FALSE(cut_at(system, state, 0).has_value());  // held there
  EXPECT_FALSE(cut_at(system, state, static_cast<int>(system.layout().point_count())).has_value());
  const auto change = cut_at(system, state, static_cast<int>(0.37 * n));
  ASSERT_TRUE(change.has_value());
  EXPECT_EQ(change->s, 0.375);
  EXPECT_EQ(change->at, state.t);
  ModelParts parts = system.model().parts();
  parts.changes.push_back(*change);
  const System cut = compile(Model(std::move(parts)));
  EXPECT_EQ(cut.layout().polylines.size(), 2 * system.layout().polylines.size());
  State next = cut.rest();
  next.load(state.save());
  Workspace w2(cut);
  for (int k = 0; k < 50; ++k) ASSERT_TRUE(step(cut, next, w2, 1e-3).ok());
  EXPECT_EQ(next.node_count(), 10);
  EXPECT_FALSE(cut_at(cut, next, static_cast<int>(0.37 * n)).has_value());
}

// The way of a live view: cut under a hand while it moves, go on with both pieces, cut one of them again,
// pull it.
TEST(Live, CutsAndGoesOn) {
  Rope rope;
  rope.elements = 16, rope.gravity = Vec3(0, 0, -9.81);
  rope.path = PolylinePath{{Vec3::Zero(), Vec3(0, 0, -1)}};
  rope.up = Vec3::UnitX();
  System system = rope.build();
  State state = system.rest();
  auto w = std::make_unique<Workspace>(system);
  ASSERT_TRUE(solve_static(system, state, *w).report.ok());
  const auto go = [&](int steps) {
    for (int k = 0; k < steps; ++k) ASSERT_TRUE(step(system, state, *w, 1e-3).ok());
  };
  const auto cut = [&](int point) {
    const auto change = cut_at(system, state, point);
    ASSERT_TRUE(change.has_value());
    ModelParts parts = system.model().parts();
    parts.changes.push_back(*change);
    const double before = energy(system, state, *w).total();
    const std::string bytes = state.save();
    system = compile(Model(std::move(parts)), system.data().options);
    state = system.rest();
    state.load(bytes);
    w = std::make_unique<Workspace>(system);
    EXPECT_NEAR(energy(system, state, *w).total(), before, 1e-12 * std::abs(before));
  };
  const auto centre = [&](int piece) {  // of the piece's line, and its first point in the snapshot
    result::Snapshot snapshot;
    observe(system, state, *w, snapshot);
    int first = 0;
    for (int i = 0; i < 4 * piece; ++i) first += system.layout().polylines[i].points;
    const int n = system.layout().polylines[4 * piece].points;
    Vec3 sum = Vec3::Zero();
    for (int i = 0; i < n; ++i)
      sum += snapshot.points[first + i] * (i == 0 || i == n - 1 ? 0.5 : 1) / (n - 1);
    return std::pair{sum, first + n / 2};
  };
  go(20);
  cut(system.layout().polylines[0].points / 2);
  const double z0 = centre(1).first.z(), t0 = state.t;
  go(100);
  // The lower half has nothing but its weight.
  const double fall = 0.5 * 9.81 * (state.t - t0) * (state.t - t0);
  EXPECT_NEAR(centre(1).first.z(), z0 - fall, 1e-3);
  EXPECT_EQ(state.node_count(), 18);
  cut(centre(1).second);
  EXPECT_EQ(system.layout().polylines.size(), 12u);
  go(20);
  EXPECT_EQ(state.node_count(), 19);
  // A hand stops the last piece and leaves the one above it alone: that flies on with the speed it has from
  // the cut, which waves in the half that was cut have made another one than that of the fall.
  const double z_cut = centre(1).first.z(), t_cut = state.t;
  go(20);
  const double z1 = centre(1).first.z(), t1 = state.t;
  const double v1 = (z1 - z_cut) / (t1 - t_cut) - 0.5 * 9.81 * (t1 - t_cut), mass = 1100 * rope.A() * 0.25;
  result::Hand handle;
  const auto [at, point] = centre(2);
  handle.on = result::Hand::On::point, handle.index = point;
  handle.target = at, handle.stiffness = 40 * mass * 9.81, handle.damping = 5 * mass * 9.81;
  ASSERT_TRUE(hold(system, *w, handle));
  go(100);
  const double t = state.t - t1;
  EXPECT_NEAR(centre(1).first.z(), z1 + v1 * t - 0.5 * 9.81 * t * t,
              1e-3);  // t/20 ms times the points' waves
  EXPECT_GT(centre(2).first.z(), at.z() + v1 * t - 0.5 * 9.81 * t * t + 0.05);
  EXPECT_GT(pull(system, state, *w).force.z(), mass * 9.81);
  const State copy = state;  // bytes go on, as a checkpoint would
  State loaded = system.rest();
  loaded.load(copy.save());
  EXPECT_EQ(loaded.save(), copy.save());
}

TEST(Live, GoesOnFromALine) {
  Rope rope;
  rope.gravity = Vec3(0, 0, -9.81);
  const System system = rope.build();
  State state = system.rest();
  Workspace w(system);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(step(system, state, w, 2e-3).ok());
  result::Snapshot before, now;
  observe(system, state, w, before);
  ASSERT_TRUE(step(system, state, w, 2e-3).ok());
  observe(system, state, w, now);
  State other = system.rest();
  ASSERT_TRUE(adopt(system, other, system.layout(), before, now));
  EXPECT_EQ(other.t, state.t);
  for (int j = 0; j < state.node_count(); ++j) {
    // The line is divided by its stretched length: 1 % at the top, ρgL/E.
    EXPECT_LT((node_of(other, j) - node_of(state, j)).norm(), 3e-3);
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(other.v[12 * j + i], state.v[12 * j + i], 0.1);
  }
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(step(system, other, w, 2e-3).ok());
  result::Layout empty;
  EXPECT_FALSE(adopt(system, other, empty, before, now));
}

// A hanging thread is cut half way: one half stays, the other falls freely; nothing jumps, and a checkpoint
// in between does not show.
TEST(Cut, BothPiecesGoOn) {
  for (const int levels : {0, 1}) {
    Rope rope;
    rope.gravity = Vec3(0, 0, -9.81);
    rope.path = PolylinePath{{Vec3::Zero(), Vec3(0, 0, -1)}};
    rope.up = Vec3::UnitX();
    rope.elements = 16;
    rope.options.levels = levels, rope.options.bend = 0.2;
    Beam beam = rope.beam();
    rope.builder.add(Change{0.1, Change::Kind::cut, BeamId{0}, {}, {}, 0.5});
    const System system = rope.build(beam);
    ASSERT_EQ(system.layout().polylines.size(), 8u);  // two pieces: line, two stripes, rings
    EXPECT_EQ(system.layout().polylines[4].name, "rope.2");
    State state = system.rest();
    Workspace w(system);
    ASSERT_TRUE(solve_static(system, state, w).report.ok());
    const double start = energy(system, state, w).total();
    for (int k = 0; k < 100; ++k) ASSERT_TRUE(step(system, state, w, 1e-3).ok());
    EXPECT_EQ(state.node_count(), 17);
    EXPECT_NEAR(energy(system, state, w).total(), start, 1e-9 * std::abs(start));
    ASSERT_TRUE(step(system, state, w, 1e-3).ok());
    EXPECT_EQ(state.node_count(), 18);
    State copy = system.rest();
    copy.load(state.save());
    const double t0 = state.t - 1e-3;
    for (int k = 0; k < 200; ++k) {
      ASSERT_TRUE(step(system, state, w, 1e-3).ok());
      ASSERT_TRUE(step(system, copy, w, 1e-3).ok());
    }
    EXPECT_EQ(copy.save(), state.save());
    result::Snapshot s;
    observe(system, state, w, s);
    const int n = system.layout().polylines[0].points, second = n * 3 + system.layout().polylines[3].points;
    EXPECT_NEAR(s.points[n - 1].z(), -0.5, 0.02);  // springs back a little: ρgL²/2E is 5 mm
    // The centre of the lower half falls by ½ g t²: no force but its weight.
    double centre = 0;
    const int m = system.layout().polylines[4].points;
    for (int i = 0; i < m; ++i)
      centre += s.points[second + i].z() * (i == 0 || i == m - 1 ? 0.5 : 1) / (m - 1);
    const double fall = 0.5 * 9.81 * (state.t - t0) * (state.t - t0);
    // At the start it hung a little below -0.75, by its stretch.
    EXPECT_NEAR(centre, -0.75 - fall, 6e-3);
    EXPECT_EQ(readings(system, state, w, "rope").back().value, 16);
    EXPECT_NEAR(energy(system, state, w).total() + state.dissipated - state.work, start,
                0.01 * std::abs(start));
  }
}

TEST(Compile, RefusesByName) {
  const auto problems = [](auto change) {
    Rope rope;
    Beam beam = rope.beam();
    change(rope, beam);
    try {
      rope.build(beam);
    } catch (const ModelError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(problems([](Rope&, Beam& b) {
              b.clamps.push_back({0.51, world, Hold::clamped});
            }).find("clamps"),
            std::string::npos);
  EXPECT_NE(problems([](Rope& r, Beam&) {
              r.builder.add(Change{0.1, Change::Kind::cut, BeamId{0}, {}, {}, 0.51});
            }).find("cut"),
            std::string::npos);
  EXPECT_NE(problems([](Rope& r, Beam&) {
              Body body;
              body.name = "ball";
              body.inertia.m = 1;
              r.builder.add(body);
            }).find("ball"),
            std::string::npos);
  EXPECT_EQ(problems([](Rope&, Beam&) {}), "");
}

// A thread that spins about itself goes on to, soft or stiff: a section that turned along its chord would be
// stretched, and stress of E A of it against inertia of ρ I.
TEST(Spin, GoesOnInOneIteration) {
  for (const double E : {1e6, 1e9}) {
    ModelBuilder b("spin");
    Beam beam;
    beam.name = "thread";
    beam.path = PolylinePath{{Vec3::Zero(), Vec3(0.24, 0, 0)}};
    beam.root = Hold::free;
    beam.material = b.add(material_of(E, 0.3, 1100));
    beam.section = b.add(Section{"s", Circle{5e-3}});
    beam.elements = 12;
    b.add(beam);
    b.parts.gravity = VectorFunction::constant(Vec3::Zero());
    const System system = compile(std::move(b).build());
    State state = system.rest();
    Workspace w(system);
    const double omega = 20;
    for (int j = 0; j < state.node_count(); ++j) state.v[12 * j + 8] = omega, state.v[12 * j + 10] = -omega;
    const double start = energy(system, state, w).kinetic;
    for (int k = 0; k < 1000; ++k) {
      ASSERT_TRUE(step(system, state, w, 5e-4).ok());
      ASSERT_LT(energy(system, state, w).kinetic, (1 + 1e-9) * start) << k;
    }
    // The first step is Euler's and takes (ωh)² = 1e-4 of the spin.
    EXPECT_NEAR(energy(system, state, w).kinetic, start, 5e-4 * start) << E;
  }
}

}  // namespace
}  // namespace limber::thread
