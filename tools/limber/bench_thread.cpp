// Suite `thread`: steps a second of a hanging thread of 16…4,096 elements (15.6 mm each, radius 5 mm, E = 1
// MPa, 1 ms, one linear solve a step), the same lying on a floor, a tight overhand knot of 64 elements with
// friction, and the rest of the hanging thread. Baseline: conjugate gradients to 1e-8 on the same matrix in
// the same run.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "allocations.h"
#include "bench.h"
#include "bench_timing.h"
#include "limber/thread/thread.h"
#include "overhand.h"

namespace limber::cli {
namespace {

constexpr double h_thread = 1e-3;

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

struct Timed {
  double seconds = 0;  // a step, best of five batches or more
  double allocations = 0;
};

Timed time_steps(const thread::System& system, const thread::State& start, int steps) {
  using clock = CpuClock;
  thread::Workspace w(system);
  thread::State state = start;
  const auto batch = [&] {
    state = start;
    const auto begin = clock::now();
    for (int i = 0; i < steps; ++i)
      if (const auto r = thread::step(system, state, w, h_thread); !r.ok())
        throw std::runtime_error("bench thread: " + r.message);
    return std::chrono::duration<double>(clock::now() - begin).count() / steps;
  };
  Timed out;
  out.seconds = batch();  // warm-up too
  // For a third of a second: other programs take the core for shorter than that, most of the time.
  const auto begin = clock::now();
  for (int i = 0; i < 5 || clock::now() - begin < std::chrono::milliseconds(333); ++i) {
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
  while (state.t < time - h_thread / 2)
    if (const auto r = thread::step(system, state, w, h_thread); !r.ok())
      throw std::runtime_error("bench thread: " + r.message);
  return state;
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

// A rod of steel of 1 m and 0.1 mm across, bent far by a force at its tip, P L²/EI = 10.
void bench_thread_statics(std::vector<Figure>& figures) {
  for (const int elements : {10, 200}) {
    const double radius = 5e-5, E = 210e9, I = pi * radius * radius * radius * radius / 4;
    ModelBuilder b = rubber(radius, E);
    Beam beam;
    beam.name = "rod";
    beam.path = PolylinePath{{Vec3::Zero(), Vec3::UnitX()}};
    beam.material = MaterialId{0};
    beam.section = SectionId{0};
    beam.elements = elements;
    PointLoad load;
    load.name = "load", load.at.beam = b.add(beam), load.at.s = 1;
    load.force = VectorFunction::constant(Vec3(0, 0, -10 * E * I));
    b.add(load);
    b.parts.gravity = VectorFunction::constant(Vec3::Zero());
    const auto system = thread::compile(std::move(b).build());
    thread::Workspace w(system);
    int iterations = 0;
    const Measured t = measure_call([&] {
      thread::State state = system.rest();
      const auto found = thread::solve_static(system, state, w);
      if (!found.report.ok()) throw std::runtime_error("bench thread: " + found.report.message);
      iterations = found.report.iterations;
    });
    figures.push_back({fmt::format("static_iterations_slender_{}", elements), static_cast<double>(iterations),
                       "", "Newton iterations; radius/length 5e-5, P L2/EI = 10"});
    figures.push_back({fmt::format("static_ms_slender_{}", elements), 1e3 * t.seconds, "ms", ""});
  }
}

// The hanging thread released straight on, 0.4 s: where its tip is every 10 ms.
std::vector<Vec3> swing(const thread::Options& options, double h) {
  const auto system = thread::compile(hanging(64, false), options);
  thread::State state = system.rest();
  thread::Workspace w(system);
  std::vector<Vec3> out;
  const int each = static_cast<int>(std::lround(0.01 / h));
  for (int k = 1; k <= 40 * each; ++k) {
    if (const auto r = thread::step(system, state, w, h); !r.ok())
      throw std::runtime_error("bench thread: " + r.message);
    if (k % each == 0) out.push_back(thread::station(system, state, w, 0, 1).x);
  }
  return out;
}

void bench_swing(std::vector<Figure>& figures) {
  thread::Options lobatto, alpha, bdf2;
  lobatto.integrator = thread::Integrator::lobatto;
  alpha.integrator = thread::Integrator::alpha;
  bdf2.integrator = thread::Integrator::bdf2;
  const std::vector<Vec3> fine = swing(lobatto, 5e-4);
  const auto error = [&](const thread::Options& options, double h) {
    const std::vector<Vec3> tip = swing(options, h);
    double most = 0;
    for (std::size_t i = 0; i < tip.size(); ++i) most = std::max(most, (tip[i] - fine[i]).norm());
    return 1e3 * most;
  };
  figures.push_back({"swing_error_5ms_mm", error(lobatto, 5e-3), "mm", "lobatto, 0.4 s, against 0.5 ms"});
  figures.push_back({"swing_error_10ms_mm", error(lobatto, 1e-2), "mm", "lobatto"});
  figures.push_back({"swing_error_5ms_alpha_mm", error(alpha, 5e-3), "mm", "alpha"});
  figures.push_back({"swing_error_5ms_bdf2_mm", error(bdf2, 5e-3), "mm", "bdf2"});
}

}  // namespace

std::vector<Figure> bench_thread(bool /*full*/) {
  std::vector<Figure> figures;
  thread::Options options;
  options.iterations = 1;
  double allocations = 0, direct_64 = 0;
  for (const bool floor : {false, true}) {
    std::vector<std::pair<int, double>> times;
    for (const int n : {16, 64, 256, 1024, 4096}) {
      const auto system = thread::compile(hanging(n, floor), options);
      const Timed t = time_steps(system, run_to(system, 0.02), std::clamp(4000 / n, 4, 200));
      times.emplace_back(n, t.seconds);
      if (!floor) allocations = std::max(allocations, t.allocations);
      if (n == 64 && !floor) direct_64 = t.seconds;
      figures.push_back(
          {fmt::format("steps_per_s_{}{}", n, floor ? "_floor" : ""), 1 / t.seconds, "1/s", ""});
    }
    figures.push_back(
        {floor ? "exponent_floor" : "exponent", growth_exponent(times), "", "time against elements"});
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
    Overhand knot;
    knot.tail = 0.02, knot.pull = 0.065, knot.seconds = 0.4;
    const auto system = thread::compile(overhand_model(knot));
    const thread::State tight = run_to(system, knot.seconds + 0.1);
    thread::Workspace w(system);
    const Timed t = time_steps(system, tight, 50);
    allocations = std::max(allocations, t.allocations);
    figures.push_back({"steps_per_s_64_knot", 1 / t.seconds, "1/s", "self-contact and friction"});
    figures.push_back(
        {"contacts_64_knot", static_cast<double>(thread::contact_report(system, tight, w).contacts), "", ""});
  }
  figures.push_back({"allocations_per_step", counting_allocations() ? allocations : -1, "1/step", ""});
  figures.push_back({"hanging_tip_error_mm", hanging_error(), "mm", "against (0.03456, -0.99147) m"});
  bench_thread_statics(figures);
  bench_swing(figures);
  return figures;
}

}  // namespace limber::cli
