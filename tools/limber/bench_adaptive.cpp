// Suite `adaptive`: Table 1 and Figure 5 of Redon and Lin 2005 on our molecule and millipede, each beside our
// full divide-and-conquer pass and our articulated-body pass in the same run, and growth with the number of
// joints.
//
// A "step" is all that is needed to go on: accelerations, new coordinates, and what the next step reads.
// Forces are constant in the world, so every step has to place them anew. Times of the adaptive method are
// averages over whole runs; those that speed-ups are made of leave out the first ten steps, in which the tree
// is built once.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

#include "allocations.h"
#include "bench.h"
#include "bench_timing.h"
#include "limber/adaptive/adaptive.h"
#include "limber/adaptive/back_substitution.h"
#include "limber/multibody/aba.h"
#include "limber/scene/scene.h"

namespace limber::cli {
namespace {

using Clock = CpuClock;
constexpr double h_adaptive = 1e-3;  // [s]

// kind as in the scenes: 0 polymer, 1 protein, 2 random, 3 chain. One force pulls at the last body, more at
// random ones.
std::string molecule(int kind, int bodies, int forces, int seed = 7) {
  std::string text = fmt::format(
      "limber: 1\ngravity: [0, 0, 0]\nmolecules: {{m: {{bodies: {}, kind: {}, seed: {}, length: 0.1, radius: "
      "0.015, "
      "mass: 1}}}}\nloads:\n",
      bodies, kind, seed);
  std::uint32_t dice = 12345;
  for (int k = 0; k < forces; ++k) {
    double x[3];
    for (double& c : x) {
      dice = dice * 1664525u + 1013904223u;
      c = static_cast<double>(dice) / 2147483648.0 - 1;
    }
    dice = dice * 1664525u + 1013904223u;
    const int body =
        forces == 1 ? bodies - 1 : static_cast<int>((static_cast<std::uint64_t>(dice) * bodies) >> 32);
    text += fmt::format("  f{}: {{on: m.{}, force: [{}, {}, {}]}}\n", k, body, x[0], x[1], x[2]);
  }
  return text;
}

std::string millipede() {
  return "limber: 1\ngravity: [0, 0, 0]\nchains:\n"
         "  spine: {links: 3000, length: 0.05, radius: 0.01, direction: [1, 0, 0], axis: [0, 0, 1], "
         "alternate: true, "
         "position: 0.02}\n"
         "  leg.${i}: {repeat: {i: 1000}, from: \"spine.${3*i + 1}\", links: 10, length: 0.02, radius: "
         "0.003, "
         "direction: [0, 1, 0], axis: [1, 0, 0], alternate: true, position: 0.1}\n"
         "loads: {pull: {on: leg.500.tip, force: [0, 0, 1]}}\n";
}

Model model_of(const std::string& text) {
  scene::LoadOptions options;
  options.limits.entities = 4'000'000;  // a million bodies, their joints and the loads
  return scene::parse(text, "bench.yaml", {}, options).model;
}

// The two full solvers, stepping: accelerations of all joints, then q += h² q̈.
class Full {
 public:
  explicit Full(const Model& model)
      : model_(&model),
        tree_(model),
        q_(tree_.q_count()),
        rest_(tree_.v_count(), 0.0),
        a_(tree_.v_count()),
        links_(tree_.size()),
        wrench_(tree_.size(), Vec6::Zero()),
        aba_(tree_) {
    for (int i = 0; i < tree_.size(); ++i)
      multibody::set_coordinates(tree_[i], model.joints()[i].position, q_.data() + tree_[i].q);
  }
  void step_by_aba() {
    multibody::kinematics(tree_, q_.data(), rest_.data(), links_);
    for (const PointLoad& l : model_->point_loads()) wrench_[l.at.body.value].setZero();
    for (const PointLoad& l : model_->point_loads()) {
      const int i = l.at.body.value;
      const Vec3 force = links_[i].X_WM.R.transpose() * l.force.value(0);
      wrench_[i].head<3>() += (tree_[i].X_MB * l.at.p).cross(force);
      wrench_[i].tail<3>() += force;
    }
    multibody::AbaInput in;
    in.links = &links_;
    in.tau = rest_.data();
    in.wrench = wrench_.data();
    if (!multibody::aba(tree_, q_.data(), in, aba_, a_.data())) throw std::runtime_error("bench: aba failed");
    multibody::integrate(tree_, q_.data(), a_.data(), h_adaptive * h_adaptive, q_.data());
  }
  // Both passes over the assembly tree; loads stay as the last step_by_aba() placed them.
  double dca_seconds(int repeats) {
    if (!assembly_) {
      assembly_ = std::make_unique<adaptive::AssemblyTree>(tree_);
      coefficients_ = std::make_unique<adaptive::Coefficients>(tree_, *assembly_);
      back_ = std::make_unique<adaptive::BackSubstitution>(*coefficients_);
      for (int i = 0; i < tree_.size(); ++i) coefficients_->set_wrench(i, wrench_[i]);
    }
    const std::vector<double> weight(tree_.v_count(), 1.0);
    adaptive::JointInput in;
    in.q = q_.data();
    in.tau = rest_.data();
    in.weight = weight.data();
    std::vector<double> a(tree_.v_count()), q(q_);
    double best = 1e300;
    for (int k = 0; k <= repeats; ++k) {  // the first touches the memory
      const auto begin = Clock::now();
      coefficients_->update_all(in, false);
      (*back_)(*coefficients_, a.data());
      multibody::integrate(tree_, q_.data(), a.data(), h_adaptive * h_adaptive, q.data());
      if (k > 0) best = std::min(best, seconds_since(begin));
    }
    return best;
  }
  double aba_seconds(int steps) {  // an average, as the adaptive method's
    const auto begin = Clock::now();
    for (int k = 0; k < steps; ++k) step_by_aba();
    return seconds_since(begin) / steps;
  }
  std::vector<Vec3> positions() {
    multibody::kinematics(tree_, q_.data(), rest_.data(), links_);
    std::vector<Vec3> out;
    for (int i = 0; i < tree_.size(); ++i) out.push_back(links_[i].X_WM * tree_[i].inertia.com());
    return out;
  }

 private:
  const Model* model_;
  multibody::Tree tree_;
  std::vector<double> q_, rest_, a_;
  std::vector<multibody::LinkMotion> links_;
  std::vector<Vec6> wrench_;
  multibody::AbaWorkspace aba_;
  std::unique_ptr<adaptive::AssemblyTree> assembly_;
  std::unique_ptr<adaptive::Coefficients> coefficients_;
  std::unique_ptr<adaptive::BackSubstitution> back_;
};

struct Outcome {
  double whole = 0, steady = 0;   // [s] a step: over the whole run, and without its first ten steps
  double joints = 0;              // computed a step
  double bound = 0;               // largest
  std::uint64_t allocations = 0;  // in the second half
  std::vector<Vec3> positions;    // of the centres of mass
};

Outcome run(const Model& model, int k, int steps, adaptive::Weights weights = adaptive::Weights::none) {
  adaptive::Options options;
  options.error = std::ldexp(1, -k);
  options.weights = weights;
  const auto system = adaptive::compile(model, options);
  adaptive::State state = system.rest();
  adaptive::Workspace w(system);
  Outcome out;
  const auto begin = Clock::now();
  auto steady = begin;
  std::uint64_t allocations = 0;
  for (int i = 0; i < steps; ++i) {
    if (i == 10) steady = Clock::now();
    if (i == steps / 2) allocations = allocation_count();
    const auto report = adaptive::step(system, state, w, h_adaptive);
    if (!report.ok()) throw std::runtime_error("bench: " + report.message);
    out.joints += state.active / steps;
    out.bound = std::max(out.bound, state.bound);
  }
  out.whole = seconds_since(begin) / steps;
  out.steady = seconds_since(steady) / std::max(1, steps - 10);
  out.allocations = allocation_count() - allocations;
  if (out.bound > options.error) throw std::runtime_error("bench: the bound exceeds the asked error");
  result::Snapshot snapshot;
  adaptive::observe(system, state, w, snapshot);
  for (std::size_t i = 0; i < snapshot.positions.size(); ++i)
    out.positions.push_back(Pose{math::to_matrix(snapshot.rotations[i]), snapshot.positions[i]} *
                            model.bodies()[i].inertia.com());
  return out;
}

// max ‖d(ε) − d‖ / max ‖d‖ of the centres of mass.
double displacement_error(const std::vector<Vec3>& found, const std::vector<Vec3>& exact,
                          const std::vector<Vec3>& start) {
  double error = 0, moved = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    error = std::max(error, (found[i] - exact[i]).norm());
    moved = std::max(moved, (exact[i] - start[i]).norm());
  }
  return error / moved;
}

class Bench {
 public:
  std::vector<Figure> operator()(bool full) {
    chain();
    table(full);
    if (full) figure5();
    growth();
    add("worst_over_aba", worst_, "x", "largest average time of a step over ABA's, in all runs above");
    if (counting_allocations())
      add("adaptive_allocations", static_cast<double>(allocations_), "",
          "in the second halves of all runs by the tree");
    return std::move(figures_);
  }

 private:
  void add(std::string key, double value, const char* unit, const char* baseline = "") {
    figures_.push_back({std::move(key), value, unit, baseline});
  }

  void chain() {
    const Model model = model_of(molecule(3, 50000, 1));
    Full full(model);
    const double before = full.aba_seconds(10), dca = full.dca_seconds(5);
    const Outcome r = run(model, 19, 2000);
    const double aba = 0.5 * (before + full.aba_seconds(10));
    add("chain_us", 1e6 * r.steady, "us", "50,000 links, 1 force, 2^-19");
    add("chain_joints", r.joints, "");
    add("chain_dca_ms", 1e3 * dca, "ms");
    add("chain_aba_ms", 1e3 * aba, "ms");
    add("chain_speedup_over_dca", dca / r.steady, "x", "full divide-and-conquer passes");
    add("chain_speedup_over_aba", aba / r.steady, "x", "articulated-body pass");
    worst_ = std::max(worst_, r.whole / aba);
  }

  // Table 1: the polymer. Displacements over 4,000 steps for one force, 200 for more.
  void table(bool all) {
    for (const int forces : {1, 10, 100, 1000}) {
      if (forces > 1 && !all) continue;
      const Model model = model_of(molecule(0, 50000, forces));
      const int steps = forces == 1 ? 4000 : 200;
      Full full(model);
      const std::vector<Vec3> start = full.positions();
      const double aba = full.aba_seconds(steps), dca = full.dca_seconds(5);
      const std::vector<Vec3> exact = full.positions();
      const std::string name = fmt::format("molecule_{}", forces);
      add(name + "_dca_ms", 1e3 * dca, "ms");
      add(name + "_aba_ms", 1e3 * aba, "ms");
      for (const int k : {3, 7, 11, 15, 19}) {
        const Outcome r = run(model, k, steps);
        const std::string key = fmt::format("{}_2e-{}", name, k);
        const double now = full.aba_seconds(10);
        add(key + "_us", 1e6 * r.steady, "us");
        add(key + "_joints", r.joints, "");
        add(key + "_displacement_error", displacement_error(r.positions, exact, start), "");
        add(key + "_over_aba", r.whole / std::max(aba, now), "x");
        worst_ = std::max(worst_, r.whole / std::max(aba, now));
        if (r.joints < 25000) allocations_ += r.allocations;
        if (forces == 1 && (k == 7 || k == 19)) {
          add(fmt::format("polymer{}_speedup_over_dca", k), dca / r.steady, "x",
              "full divide-and-conquer passes");
          add(fmt::format("polymer{}_speedup_over_aba", k), std::min(aba, now) / r.steady, "x",
              "articulated-body pass");
        }
      }
      if (forces > 1) continue;
      const Outcome r = run(model, 19, steps, adaptive::Weights::reach);
      add("displacement_error_1", displacement_error(r.positions, exact, start), "",
          "4,000 steps at 2^-19, one force, weights: reach");
      add("displacement_joints_1", r.joints, "");
      add("displacement_us_1", 1e6 * r.steady, "us");
    }
  }

  void figure5() {
    const Model model = model_of(millipede());
    Full full(model);
    const double aba = full.aba_seconds(40), dca = full.dca_seconds(5);
    add("millipede_dca_ms", 1e3 * dca, "ms");
    add("millipede_aba_ms", 1e3 * aba, "ms");
    for (int k = 1; k <= 19; k += 2) {
      const Outcome r = run(model, k, 200);
      const double now = full.aba_seconds(20);
      add(fmt::format("millipede_2e-{}_us", k), 1e6 * r.steady, "us");
      add(fmt::format("millipede_2e-{}_joints", k), r.joints, "");
      add(fmt::format("millipede_2e-{}_over_aba", k), r.whole / std::max(aba, now), "x");
      worst_ = std::max(worst_, r.whole / std::max(aba, now));
    }
  }

  void growth() {
    std::map<int, double> seconds;
    for (const int n : {1000, 10000, 100000, 1000000}) {
      const Model model = model_of(molecule(0, n, 1));
      const Outcome r = run(model, 7, 400);
      seconds[n] = r.steady;
      add(fmt::format("growth_{}_us", n), 1e6 * r.steady, "us", "polymer, 1 force, 2^-7");
      add(fmt::format("growth_{}_joints", n), r.joints, "");
    }
    rusage use{};
    getrusage(RUSAGE_SELF, &use);
    add("memory_1m_gb", static_cast<double>(use.ru_maxrss) * 1024 / 1e9, "GB",
        "the most this process had, with the scene, the model and the tree of 1,000,000 joints");
    add("growth_1m_over_10k", seconds[1000000] / seconds[10000], "x",
        "a step of 1,000,000 joints over one of 10,000");
  }

  std::vector<Figure> figures_;
  double worst_ = 0;
  std::uint64_t allocations_ = 0;
};

}  // namespace

std::vector<Figure> bench_adaptive(bool full) { return Bench()(full); }

}  // namespace limber::cli
