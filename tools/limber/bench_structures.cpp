// Suite `articulated`, second part: the scenes of Baxter 2019 at 30…10,000 bodies. Solve against solve in one
// run: the generalised ABA, the published PCG (tolerance 1e-6, warm start, one solve a loop row), PCG with
// the loops projected, and the plain ABA on the same tree (which leaves out springs and loops) as the floor.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <stdexcept>

#include "allocations.h"
#include "bench.h"
#include "bench_timing.h"
#include "limber/articulated/stepper.h"
#include "limber/multibody/dense_solver.h"
#include "limber/scene/scene.h"

namespace limber::cli {
namespace {

using namespace limber::articulated;
using multibody::BlockRhs;
using multibody::BlockSolution;
using multibody::Gaba;
using multibody::Pcg;

constexpr double h_structures = 0.01;
constexpr int most_dense_rows = 1200;  // of loops: what is cubic in them is left out above

struct Subject {
  const char* key;
  const char* file;
  const char* parameter;
  int (*value)(int bodies);     // of the parameter, for about so many bodies
  double warm = h_structures;   // [s] of the 20 steps that bring it into motion
  const char* stiff = nullptr;  // EA of springs with about k = 1e6, which are measured too
};

int tree_levels(int bodies) {
  int best = 1;
  for (int levels = 1; levels <= 13; ++levels)
    if (std::abs(3 * ((1 << levels) - 1) - bodies) < std::abs(3 * ((1 << best) - 1) - bodies)) best = levels;
  return best;
}

constexpr Subject subjects[] = {
    {"bridge", "bridge.yaml", "links", [](int n) { return n; }},
    {"bridge_flexible", "bridge-flexible.yaml", "links", [](int n) { return (n + 1) / 3; }},
    {"bridge_many", "bridge-many.yaml", "links", [](int n) { return (n + 1) / 3; }},
    {"tree", "tree.yaml", "levels", tree_levels, h_structures, "2e6"},
    {"tree_leaves", "tree-leaves.yaml", "levels", tree_levels},
    {"umbrella", "umbrella.yaml", "n", [](int n) { return std::max(2, 2 * ((n + 12) / 24)); }, h_structures,
     "4e6"},
    // A loop for every third body. It falls too violently for long steps at once.
    {"rope_ladder", "rope-ladder.yaml", "rungs", [](int n) { return n / 3; }, h_structures / 10},
};

template <class F>
double best_seconds(F&& call) {
  return measure_call(call).seconds;
}

struct Timing {
  int bodies = 0, dofs = 0;
  double aba = 0, gaba = 0, pcg_rows = 0, pcg = 0, dense = 0;  // [s] a solve
  double step = 0, step_pcg = 0;                               // [s]
  int pcg_iterations = 0, pcg_rows_iterations = 0, loop_iterations = 0;
  double dense_loops = 0;  // [s] a solve with the loops in one dense block, where they are iterated
  double flops_per_body = 0;
  int cuts = 0, widest = 0;
  double allocations = 0;
};

System make(const scene::Scene& scene, Solver solver) {
  Options options = scene.run.articulated;
  options.integrator = Integrator::euler;
  options.solver = solver;
  options.pcg_tolerance = 1e-6;
  return compile(scene.model, options);
}

void run_steps(const System& system, State& state, Workspace& w, int steps, double length = h_structures) {
  for (int i = 0; i < steps; ++i) {
    const auto report = step(system, state, w, length);
    if (!report.ok()) throw std::runtime_error("bench: " + report.message);
  }
}

// The system of a step at the state, with velocities as unknowns: H v = h (τ + JᵀF) + H v₀, as published.
void velocity_form(const SystemData& s, const State& state, Blocks& b, BlockRhs& rhs) {
  const int v = s.tree.v_count();
  std::vector<Vec6> twist(s.tree.size()), wrench(s.tree.size());
  VecX reduced(v), Hv(v), joint(v);
  multibody::jacobian_times(b.system, state.v.data(), twist.data());
  multibody::blocks_times(b.system, twist.data(), wrench.data());
  multibody::jacobian_transpose_times(b.system, wrench.data(), Hv.data());
  multibody::joint_blocks_times(b.system, state.v.data(), joint.data());
  wrench = b.rhs.wrench;
  multibody::jacobian_transpose_times(b.system, wrench.data(), reduced.data());
  for (int k = 0; k < v; ++k) rhs.tau[k] = h_structures * (reduced[k] + b.rhs.tau[k]) + Hv[k] + joint[k];
  for (Vec6& f : rhs.wrench) f.setZero();
  for (Vec6& g : rhs.g) g.setZero();
}

// baselines: PCG and dense solvers too.
Timing measure(const Subject& subject, int size, const char* strength = nullptr, bool baselines = true) {
  const auto file = scene_folder() / subject.file;
  scene::LoadOptions load;
  load.set = {{subject.parameter, fmt::format("{}", subject.value(size))}};
  if (strength) load.set.emplace_back("strength", strength);
  const scene::Scene scene = scene::load(file, load);
  Timing t;

  const System system = make(scene, Solver::gaba);
  const SystemData& s = system.data();
  State state = system.rest();
  Workspace workspace(system);
  WorkspaceData& w = workspace.data();
  // In motion: after the 20 steps over which the published program was measured.
  run_steps(system, state, workspace, 20, subject.warm);
  t.bodies = s.tree.size();
  t.dofs = s.tree.v_count();
  int loop_rows = 0;
  for (const multibody::LoopSite& loop : s.pattern.loops) loop_rows += loop.capacity;
  const multibody::EliminationOrder& order = s.loop_plan ? s.loop_plan->order : s.order;
  t.flops_per_body = order.flops / s.tree.size();
  t.cuts = order.cuts;
  t.widest = order.widest;

  const State at = state;
  if (counting_allocations()) {
    const auto before = allocation_count();
    run_steps(system, state, workspace, 5, subject.warm);
    t.allocations = static_cast<double>(allocation_count() - before) / 5;
  }
  state = at;
  t.step = best_seconds([&] {
    state = at;
    run_steps(system, state, workspace, 1);
  });

  // The linear system of one more step from there.
  evaluate(s, at.q.data(), at.v.data(), at.t + h_structures,
           {h_structures, h_structures * h_structures, h_structures}, w);
  Blocks& b = *w.blocks;
  BlockRhs rhs(b.system);
  std::copy(w.tau.begin(), w.tau.end(), b.rhs.tau.begin());
  for (int i = 0; i < s.tree.size(); ++i) {
    const Mat3& R = w.links[i].X_WM.R;
    b.rhs.wrench[i] << R * w.wrench[i].head<3>(), R * w.wrench[i].tail<3>();
  }
  velocity_form(s, at, b, rhs);
  BlockSolution x(b.system), y(b.system);
  const auto direct = [&](Gaba& gaba, Gaba::Scratch& scratch) {
    if (!gaba.factor(b.system)) throw std::runtime_error("bench: not positive definite");
    gaba.solve(rhs, scratch, x);
  };
  t.gaba = best_seconds([&] {
    if (b.gaba) return direct(*b.gaba, *b.scratch);
    if (!b.many->factor(b.system)) throw std::runtime_error("bench: not positive definite");
    b.many->solve(rhs, x);
  });
  if (b.many) t.loop_iterations = b.many->iterations();
  if (b.many && baselines && loop_rows <= most_dense_rows) {
    Gaba gaba(s.tree, s.pattern);
    Gaba::Scratch scratch(gaba);
    t.dense_loops = best_seconds([&] { direct(gaba, scratch); });
  }

  multibody::AbaInput in;
  in.links = &w.links;
  in.tau = w.tau.data();
  in.wrench = w.wrench.data();
  in.joint_block = w.joint_block.data();
  std::vector<double> a(s.tree.v_count());
  t.aba = best_seconds([&] { multibody::aba(s.tree, at.q.data(), in, w.aba, a.data()); });

  const auto time_pcg = [&](Pcg::Loops form, int& iterations) {
    Pcg pcg(s.tree, s.pattern, form);
    const auto solve = [&] {
      std::copy(at.v.begin(), at.v.end(), y.a.begin());  // warm start
      if (!pcg.factor(b.system) || !pcg.solve(rhs, y, 1e-6, 20 * s.tree.v_count() + 1000))
        throw std::runtime_error("bench: PCG did not converge");
    };
    const double seconds = best_seconds(solve);
    iterations = pcg.iterations();
    double difference = 0, scale = 1e-9;
    for (std::size_t k = 0; k < x.a.size(); ++k) {
      difference = std::max(difference, std::abs(x.a[k] - y.a[k]));
      scale = std::max(scale, std::abs(x.a[k]));
    }
    if (!(difference <= 0.2 * scale)) throw std::runtime_error("bench: PCG and the direct solver differ");
    return seconds;
  };
  if (baselines &&
      loop_rows <= most_dense_rows) {  // both have a dense block of the loops, and one solve a row
    t.pcg_rows = time_pcg(Pcg::Loops::per_row, t.pcg_rows_iterations);
    t.pcg = time_pcg(Pcg::Loops::projected, t.pcg_iterations);
  }
  if (baselines && t.dofs <= 320) t.dense = best_seconds([&] { multibody::solve_dense(b.system, rhs, y); });
  return t;
}

}  // namespace

std::filesystem::path scene_folder() {
  if (const char* given = std::getenv("LIMBER_SCENES")) return given;
  return LIMBER_SCENE_FOLDER;
}

void bench_structures(std::vector<Figure>& figures, bool full) {
  for (const Subject& subject : subjects) {
    const std::string S = subject.key;
    std::vector<std::pair<int, double>> fit;
    for (const int size : {30, 100, 300, 1000, 3000, 10000}) {
      if (!full && size != 100 && size != 1000 && size != 10000) continue;
      const Timing t = measure(subject, size, nullptr, full || size == 1000);
      if (size >= 100) fit.emplace_back(t.bodies, t.gaba);
      const std::string n = fmt::format("{}", size);
      const std::string at = fmt::format("{} bodies, {} dofs", t.bodies, t.dofs);
      figures.push_back({S + "_gaba_ms_" + n, 1e3 * t.gaba, "ms", at + ", a solve"});
      figures.push_back({S + "_aba_ms_" + n, 1e3 * t.aba, "ms", "the plain ABA on the same tree"});
      if (t.pcg_rows > 0) {
        figures.push_back({S + "_pcg_rows_ms_" + n, 1e3 * t.pcg_rows, "ms", "the published PCG"});
        figures.push_back({S + "_pcg_ms_" + n, 1e3 * t.pcg, "ms", "PCG with the loops projected"});
      }
      if (t.dense_loops > 0)
        figures.push_back(
            {S + "_dense_loops_ms_" + n, 1e3 * t.dense_loops, "ms", "loops in one dense block"});
      if (t.loop_iterations > 0)
        figures.push_back({S + "_loop_iterations_" + n, static_cast<double>(t.loop_iterations), "",
                           "of the loops' multipliers, in a solve"});
      if (t.dense > 0) figures.push_back({S + "_dense_ms_" + n, 1e3 * t.dense, "ms", "one dense matrix"});
      figures.push_back({S + "_step_ms_" + n, 1e3 * t.step, "ms", "a whole step, Euler, h = 10 ms"});
      if (t.pcg_rows > 0)
        figures.push_back({S + "_pcg_iterations_" + n, static_cast<double>(t.pcg_rows_iterations), "",
                           "of the published PCG, all its solves"});
      figures.push_back({S + "_flops_per_body_" + n, t.flops_per_body, "", "of the order, estimated"});
      figures.push_back({S + "_widest_" + n, static_cast<double>(t.widest), "", "most neighbours of a body"});
      figures.push_back({S + "_cuts_" + n, static_cast<double>(t.cuts), "", "joints cut by the order"});
      if (size != 1000) continue;
      figures.push_back({S + "_ratio_to_aba_1000", t.gaba / t.aba, "x", "the plain ABA on the same tree"});
      if (t.pcg_rows > 0)
        figures.push_back({S + "_speedup_over_pcg_1000", t.pcg_rows / t.gaba, "x", "the published PCG"});
      figures.push_back({S + "_step_over_solve_1000", t.step / t.gaba, "x", "its own solve"});
      if (S == "bridge_flexible" || S == "tree")
        figures.push_back({"step_over_solve_" + S, t.step / t.gaba, "x", "the same, 1,000 bodies"});
      if (subject.stiff) {
        const Timing k = measure(subject, size, subject.stiff);
        const std::string springs = fmt::format("the published PCG, springs with EA = {}", subject.stiff);
        figures.push_back({S + "_stiff_speedup_over_pcg_1000", k.pcg_rows / k.gaba, "x", springs});
        figures.push_back(
            {S + "_stiff_pcg_iterations_1000", static_cast<double>(k.pcg_rows_iterations), "", springs});
      }
      figures.push_back({S + "_allocations_per_step_1000", t.allocations, "", "calls of the allocator"});
    }
    figures.push_back({S + "_exponent", growth_exponent(fit), "", "over 100 … 10,000 bodies; 1 is linear"});
  }
}

}  // namespace limber::cli
