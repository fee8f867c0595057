// Suite `thread`: steps a second of a hanging thread of 16…4,096 elements (15.6 mm each, radius 5 mm, E = 1
// MPa, 1 ms, one linear solve a step), the same lying on a floor, a tight overhand knot of 64 elements with
// friction, and the rest of the hanging thread. Baseline: conjugate gradients to 1e-8 on the same matrix in
// the same run.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>

#include "allocations.h"
#include "bench.h"
#include "limber/thread/thread.h"

namespace limber::cli {
namespace {

constexpr double h = 1e-3;

ModelBuilder rubber(double radius, double E) {
  ModelBuilder b("thread");
  Material m;
  m.name = "rubber", m.E = E, m.nu = 0.4, m.G = E / 2.8, m.density = 1100;
  b.add(m);
  b.add(Section{"round", Circle{radius}});
  return b;
}

Model hanging(int elements, bool floor) {
  ModelBuilder b = rubber(5e-3, 1e6);
  Beam beam;
  beam.name = "thread";
  const double length = elements / 64.0, z = floor ? 4.99e-3 : 0;
  beam.path = PolylinePath{{Vec3(0, 0, z), Vec3(length, 0, z)}};
  beam.material = MaterialId{0};
  beam.section = SectionId{0};
  beam.elements = elements;
  if (floor) beam.root = Hold::free;
  b.add(beam);
  if (floor) b.parts.contact = Contact{0.3, false, {{"floor", Vec3::Zero(), Vec3::UnitZ()}}};
  return std::move(b).build();
}

// Shastri's long trefoil, its ends held by two hands that go apart.
Model overhand(double pull, double seconds) {
  ModelBuilder b = rubber(4e-3, 1e6);
  std::vector<Vec3> points;
  constexpr int n = 200;
  for (int i = 0; i <= n; ++i) {
    const double t = -2.15 + 4.3 * i / n, t2 = t * t;
    points.push_back(0.02 * Vec3(t * (t2 - 3), t2 * (t2 - 4), 0.2 * t * (t2 * t2 - 10)));
  }
  const Vec3 out = (points.back() - points.front()).normalized();
  points.insert(points.begin(), points.front() - 0.15 * out);
  points.push_back(points.back() + 0.15 * out);
  Beam beam;
  beam.name = "thread";
  beam.path = PolylinePath{points};
  beam.up = Vec3(0.3, 0.2, 1);
  beam.material = MaterialId{0};
  beam.section = SectionId{0};
  beam.elements = 64;
  beam.straight = true;
  beam.root = Hold::free;
  beam.air_damping = 5;
  for (int k = 0; k < 2; ++k) {
    Body hand;
    hand.name = k == 0 ? "left" : "right";
    hand.inertia.m = 1;
    const BodyId body = b.add(hand);
    Joint joint;
    joint.name = hand.name + ".slide";
    joint.kind = JointKind::prismatic;
    joint.child = body;
    joint.X_PF = {math::rotation_from_z(k == 0 ? Vec3(-out) : out), k == 0 ? points.front() : points.back()};
    PrescribedMotion motion;
    motion.joint = b.add(joint);
    motion.position[0] = TimeFunction::table({0, seconds}, {0, pull});
    b.add(motion);
    beam.clamps.push_back({static_cast<double>(k), body, Hold::clamped});
  }
  b.add(beam);
  b.parts.gravity = VectorFunction::constant(Vec3::Zero());
  b.parts.contact = Contact{0.3, true, {}};
  return std::move(b).build();
}

struct Timed {
  double seconds = 0;  // a step, best of five batches
  double allocations = 0;
};

Timed time_steps(const thread::System& system, const thread::State& start, int steps) {
  using clock = std::chrono::steady_clock;
  thread::Workspace w(system);
  thread::State state = start;
  const auto batch = [&] {
    state = start;
    const auto begin = clock::now();
    for (int i = 0; i < steps; ++i)
      if (const auto r = thread::step(system, state, w, h); !r.ok())
        throw std::runtime_error("bench thread: " + r.message);
    return std::chrono::duration<double>(clock::now() - begin).count() / steps;
  };
  Timed out;
  out.seconds = batch();  // warm-up too
  for (int i = 0; i < 5; ++i) {
    state = start;
    const auto before = allocation_count();
    out.seconds = std::min(out.seconds, batch());
    if (i > 0)
      out.allocations = std::max(out.allocations, static_cast<double>(allocation_count() - before) / steps);
  }
  return out;
}

thread::State run_to(const thread::System& system, double time) {
  thread::State state = system.rest();
  thread::Workspace w(system);
  while (state.t < time - h / 2)
    if (const auto r = thread::step(system, state, w, h); !r.ok())
      throw std::runtime_error("bench thread: " + r.message);
  return state;
}

// Slope of log time against log size, least squares.
double exponent(const std::vector<double>& n, const std::vector<double>& t) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (std::size_t i = 0; i < n.size(); ++i) {
    const double x = std::log(n[i]), y = std::log(t[i]);
    sx += x, sy += y, sxx += x * x, sxy += x * y;
  }
  const auto m = static_cast<double>(n.size());
  return (m * sxy - sx * sy) / (m * sxx - sx * sx);
}

double hanging_error() {
  ModelBuilder b = rubber(5e-3, 1e6);
  Beam beam;
  beam.name = "thread";
  beam.path = PolylinePath{{Vec3::Zero(), Vec3::UnitX()}};
  beam.material = MaterialId{0};
  beam.section = SectionId{0};
  beam.elements = 64;
  b.add(beam);
  const auto system = thread::compile(std::move(b).build());
  thread::State state = system.rest();
  thread::Workspace w(system);
  if (!thread::solve_static(system, state, w).report.ok())
    throw std::runtime_error("bench thread: no rest found");
  const Vec3 tip = thread::station(system, state, w, 0, 1).x;
  return 1e3 * std::hypot(tip.x() - 0.03456, tip.z() + 0.99147);
}

}  // namespace

std::vector<Figure> bench_thread() {
  std::vector<Figure> figures;
  thread::Options options;
  options.iterations = 1;
  double allocations = 0, direct_64 = 0;
  for (const bool floor : {false, true}) {
    std::vector<double> sizes, times;
    for (const int n : {16, 64, 256, 1024, 4096}) {
      const auto system = thread::compile(hanging(n, floor), options);
      const Timed t = time_steps(system, run_to(system, 0.02), std::clamp(4000 / n, 4, 200));
      sizes.push_back(n);
      times.push_back(t.seconds);
      if (!floor) allocations = std::max(allocations, t.allocations);
      if (n == 64 && !floor) direct_64 = t.seconds;
      figures.push_back(
          {fmt::format("steps_per_s_{}{}", n, floor ? "_floor" : ""), 1 / t.seconds, "1/s", ""});
    }
    figures.push_back(
        {floor ? "exponent_floor" : "exponent", exponent(sizes, times), "", "time against elements"});
  }
  {
    thread::Options cg = options;
    cg.solver = thread::Solver::cg;
    const auto system = thread::compile(hanging(64, false), cg);
    const Timed t = time_steps(system, run_to(thread::compile(hanging(64, false), options), 0.02), 10);
    figures.push_back({"steps_per_s_64_cg", 1 / t.seconds, "1/s", "conjugate gradients to 1e-8"});
    figures.push_back(
        {"speedup_over_cg_64", t.seconds / direct_64, "", "direct against conjugate gradients"});
  }
  {
    constexpr double pull = 0.185, seconds = 0.6;
    const auto system = thread::compile(overhand(pull, seconds));
    const thread::State tight = run_to(system, seconds + 0.1);
    thread::Workspace w(system);
    const Timed t = time_steps(system, tight, 50);
    allocations = std::max(allocations, t.allocations);
    figures.push_back({"steps_per_s_64_knot", 1 / t.seconds, "1/s", "self-contact and friction"});
    figures.push_back(
        {"contacts_64_knot", static_cast<double>(thread::contact_report(system, tight, w).contacts), "", ""});
  }
  figures.push_back({"allocations_per_step", counting_allocations() ? allocations : -1, "1/step", ""});
  figures.push_back({"hanging_tip_error_mm", hanging_error(), "mm", "against (0.03456, -0.99147) m"});
  return figures;
}

}  // namespace limber::cli
