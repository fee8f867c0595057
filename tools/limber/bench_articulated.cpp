// Suite `articulated`: the plain articulated-body pass on chains and binary trees of 10…100,000 bodies, whole
// steps, allocations, two threads against one. Baseline: the dense mass matrix and its Cholesky factorisation
// in the same run.
#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "allocations.h"
#include "bench.h"
#include "bench_timing.h"
#include "limber/articulated/articulated.h"
#include "limber/multibody/aba.h"
#include "limber/multibody/inverse_dynamics.h"
#include "limber/multibody/mass_matrix.h"
#include "limber/multibody/parallel_walk.h"

namespace limber::cli {
namespace {

using multibody::Tree;

// Body i hangs on body i − 1 (a chain) or (i − 1)/2 (a binary tree), by a revolute joint with a spring and a
// damper.
Model structure(bool binary, int n) {
  ModelBuilder b(binary ? "binary tree" : "chain");
  for (int i = 0; i < n; ++i) {
    Body body;
    body.name = fmt::format("link{}", i);
    body.inertia = Inertia::about_com(0.1, {0.05, 0, 0}, Vec3(1e-5, 1e-4, 1e-4).asDiagonal());
    const BodyId child = b.add(std::move(body));
    Joint joint;
    joint.name = fmt::format("joint{}", i);
    joint.kind = JointKind::revolute;
    joint.parent = i == 0 ? world : BodyId{binary ? (i - 1) / 2 : i - 1};
    joint.child = child;
    const double lean = binary ? (i % 2 ? 0.5 : -0.5) : 0.0;  // children of a fork lean apart
    if (i > 0) joint.X_PF = {math::rotation_y(lean), Vec3(0.1, 0, 0)};
    joint.law.stiffness = dofs(1);
    joint.law.damping = dofs(1e-2);
    joint.position[0] = 0.3 / n;
    b.add(std::move(joint));
  }
  b.parts.gravity = VectorFunction::constant({0, -9.81, 0});
  return std::move(b).build();
}

struct AbaCase {
  explicit AbaCase(const Model& model)
      : tree(model),
        q(VecX::Zero(tree.q_count())),
        v(VecX::Zero(tree.v_count())),
        tau(v),
        a(v),
        links(tree.size()),
        w(tree) {
    for (int i = 0; i < tree.v_count(); ++i) {  // any pose and forces, the same in every run
      q[i] = 0.1 * ((i * 37) % 11 - 5) / 5.0;
      v[i] = 0.1 * ((i * 53) % 13 - 6) / 6.0;
      tau[i] = 0.1 * ((i * 29) % 7 - 3) / 3.0;
    }
  }
  void solve(multibody::Workers* workers = nullptr) {
    multibody::kinematics(tree, q.data(), v.data(), links, workers);
    multibody::AbaInput in;
    in.links = &links;
    in.tau = tau.data();
    if (!multibody::aba(tree, q.data(), in, w, a.data(), workers))
      throw std::runtime_error("bench: aba failed");
  }
  Tree tree;
  VecX q, v, tau, a;
  std::vector<multibody::LinkMotion> links;
  multibody::AbaWorkspace w;
};

void bench_aba(std::vector<Figure>& figures) {
  double worst_exponent = 0;
  for (const bool binary : {false, true}) {
    const char* kind = binary ? "tree" : "chain";
    std::vector<std::pair<int, double>> fit;
    for (const int n : {10, 100, 1000, 10000, 100000}) {
      AbaCase c(structure(binary, n));
      const auto [seconds, spread] = measure_call([&] { c.solve(); });
      figures.push_back({fmt::format("aba_ns_per_body_{}_{}", kind, n), 1e9 * seconds / n, "ns", "", spread});
      if (n == 1000)
        figures.push_back({binary ? "aba_tree_ns_per_body_1000" : "aba_ns_per_body_1000", 1e9 * seconds / n,
                           "ns", binary ? "the binary tree's" : "the chain's", spread});
      if (n >= 100 && n <= 10000) fit.emplace_back(n, seconds);
    }
    const double slope = growth_exponent(fit);
    figures.push_back(
        {fmt::format("aba_exponent_{}", kind), slope, "", "over 100 … 10,000 bodies; 1 is linear"});
    worst_exponent = std::max(worst_exponent, slope);
  }
  figures.push_back({"aba_exponent", worst_exponent, "", "the larger of the two"});
}

void bench_dense_baseline(std::vector<Figure>& figures) {
  AbaCase c(structure(false, 100));
  const double fast = measure_call([&] { c.solve(); }).seconds;
  VecX dense;
  const Measured slow = measure_call([&] {
    const MatX M = multibody::mass_matrix_by_composite_bodies(c.tree, c.q);
    dense =
        M.llt().solve(c.tau - multibody::inverse_dynamics(c.tree, c.q, c.v, VecX::Zero(c.tree.v_count())));
  });
  if (!((dense - c.a).norm() <= 1e-6 * dense.norm()))
    throw std::runtime_error("bench: aba and the dense solve differ");
  figures.push_back({"aba_speedup_over_dense_100", slow.seconds / fast, "x",
                     "composite bodies + Cholesky, 100-link chain"});
}

void bench_threads(std::vector<Figure>& figures) {
  AbaCase c(structure(true, 100000));
  // By the clock on the wall: CPU time is the same on any number of cores.
  using Wall = std::chrono::steady_clock;
  const double one = measure_call<Wall>([&] { c.solve(); }).seconds;
  const VecX alone = c.a;
  multibody::Workers workers(2);
  const double two = measure_call<Wall>([&] { c.solve(&workers); }).seconds;
  if (std::memcmp(alone.data(), c.a.data(), sizeof(double) * static_cast<std::size_t>(alone.size())) != 0)
    throw std::runtime_error("bench: two threads gave other bits than one");
  figures.push_back({"aba_two_threads_speedup_tree_100000", one / two, "x", "one thread; same bits"});
}

// A whole step of 1,000 bodies; returns its allocations.
double bench_step(bool binary, articulated::Integrator integrator, std::vector<Figure>& figures) {
  articulated::Options options;
  options.integrator = integrator;
  const auto system = articulated::compile(structure(binary, 1000), options);
  articulated::Workspace workspace(system);
  const articulated::State start = system.rest();
  articulated::State state = start;
  const auto run = [&] {
    const auto report = articulated::step(system, state, workspace, 1e-3);
    if (!report.ok()) throw std::runtime_error("bench: " + report.message);
  };
  for (int i = 0; i < 10; ++i) run();
  const auto before = allocation_count();
  for (int i = 0; i < 100; ++i) run();
  const double allocations = static_cast<double>(allocation_count() - before) / 100;
  state = start;
  const auto [seconds, spread] = measure_call(run);
  const std::string key =
      fmt::format("{}_{}_1000", articulated::to_string(integrator), binary ? "tree" : "chain");
  figures.push_back({"step_us_" + key, 1e6 * seconds, "us", "a whole step, h = 1 ms", spread});
  figures.push_back({"step_ns_per_body_" + key, 1e9 * seconds / 1000, "ns", "the same", spread});
  return allocations;
}

// A step with all reactions of 1,000 bodies told after it, over the step alone: both in turn, in short
// stretches.
void bench_reactions(std::vector<Figure>& figures) {
  const Model bare = structure(false, 1000);
  ModelParts parts = bare.parts();
  for (std::size_t i = 0; i < parts.joints.size(); ++i)
    for (const Quantity quantity : {Quantity::reaction_force, Quantity::reaction_torque}) {
      Probe p;
      p.name = fmt::format("{}.{}", parts.joints[i].name, info_of(quantity).words);
      p.quantity = quantity, p.joint = JointId{static_cast<std::int32_t>(i)};
      parts.probes.push_back(std::move(p));
    }
  const auto system = articulated::compile(Model(std::move(parts)));
  articulated::Workspace workspace(system);
  articulated::State state = system.rest();
  result::Snapshot snapshot;
  const auto step = [&] {
    if (!articulated::step(system, state, workspace, 1e-3).ok())
      throw std::runtime_error("bench: a step failed");
  };
  const auto told = [&] {
    step();
    articulated::observe(system, state, workspace, snapshot);
  };
  std::vector<double> ratios;
  for (int k = 0; k < 9; ++k) {
    const double with = measure_call(told).seconds;
    ratios.push_back(with / measure_call(step).seconds);
  }
  std::ranges::sort(ratios);
  figures.push_back({"reactions_over_step", ratios[ratios.size() / 2], "x",
                     "a midpoint step of 1,000 bodies with all joints' reactions told, over the step alone"});
}

void bench_steps(std::vector<Figure>& figures) {
  using articulated::Integrator;
  double allocations = 0;
  for (const bool binary : {false, true})
    for (const auto integrator : {Integrator::euler, Integrator::midpoint})
      allocations = std::max(allocations, bench_step(binary, integrator, figures));
  if (counting_allocations())
    figures.push_back({"allocations_per_step", allocations, "", "calls of the allocator, after warm-up"});
}

}  // namespace

std::vector<Figure> bench_articulated(bool full) {
  std::vector<Figure> figures;
  bench_aba(figures);
  bench_dense_baseline(figures);
  bench_threads(figures);
  bench_steps(figures);
  bench_reactions(figures);
  bench_structures(figures, full);
  bench_statics(figures);
  bench_newton(figures);
  bench_error(figures);
  return figures;
}

}  // namespace limber::cli
