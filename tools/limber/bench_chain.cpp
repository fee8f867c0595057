// Suite `chain`: the experiment of Hall 2013, chapter 5, on a buckled cantilever strip of the same kind (100
// in of polypropylene, 4 in × 0.25 in, 0.6 lbf down and 0.005 lbf aside at the tip): time and error of the
// four published cases and of Newton's method at 1…200 elements, then 1,000…100,000 for the linear ones.
//
// The exact rod is stood in for by consistent 3R chains of 1,600 and 3,200 elements, extrapolated
// (Richardson); the tests compare both with the exact solution. Baseline of every ratio: the published
// algorithm, in the same run. ε_P is eq. 5.1, against 200 published 1R elements; error_exact is the largest
// over the nodes, of the length.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "bench.h"
#include "bench_timing.h"
#include "limber/chain/chain.h"
#include "limber/chain/stretch.h"
#include "limber/chain/sweeps.h"
#include "limber/elastic/pseudo_rigid_body.h"
#include "limber/math/trig.h"

namespace limber::cli {
namespace {

constexpr double length = 100;
const Vec3 stiffness(1429.478341119717, 266666.6666666666, 1041.6666666666665);  // GJ, EI_y, EI_z [lbf in²]
const Vec3 tip_force(0, 0.005, -0.6);

// Least of several runs, in seconds: what the machine can do, not what disturbed it.
double seconds(const std::function<void()>& work, double budget = 0.2) {
  double best = 1e300, spent = 0;
  for (int i = 0; i < 50 && (i < 3 || spent < budget); ++i) {
    const auto t0 = CpuClock::now();
    work();
    const double t = seconds_since(t0);
    best = std::min(best, t);
    spent += t;
    if (t > 5) break;
  }
  return best;
}

std::vector<chain::Element> elements(int n, Recipe recipe) {
  std::vector<chain::Element> list(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    list[i].parent = i - 1;
    list[i].length = length / n;
    list[i].stiffness = stiffness;
    list[i].recipe = recipe;
  }
  list.back().F = tip_force;
  return list;
}

chain::Structure structure(int n, Recipe recipe, bool stretch = false) {
  chain::Structure s;
  double at = 0;
  int last = -1;
  for (int e = 0; e < n; ++e)
    for (const auto& j : elastic::recipe_joints(recipe)) {
      const double x = (e + j.x) * length / n, l = length / n;
      last = s.links.add(last, Pose::translation({x - at, 0, 0}),
                         {stiffness.x() / (l * j.twist_compliance), stiffness.y() / (l * j.bend_compliance),
                          stiffness.z() / (l * j.bend_compliance)});
      // Of 4 in × 0.25 in, 200 ksi: EA = 2e5 lbf, shear about a third of that.
      if (stretch)
        s.links.set_compliance(last, Vec3(l * j.bend_compliance * Vec3(5e-6, 1.6e-5, 1.6e-5)).asDiagonal());
      at = x;
    }
  s.resize_loads();
  s.size = length;
  s.ramped[last].F = tip_force;
  s.ramped[last].S = tip_force * Vec3(length - at, 0, 0).transpose();
  s.loads_changed();
  return s;
}

// A pre-bent blade, clamped at both ends, its middle guided: pushed through, it snaps.
Model bistable_switch(int n) {
  ModelBuilder b("switch");
  b.parts.gravity = VectorFunction::constant(Vec3::Zero());
  Material m;
  m.name = "pla", m.E = 3.2e9, m.G = 3.2e9 / 2.7;
  Section section;
  section.name = "blade", section.shape = Rectangle{0.01, 0.5e-3};
  constexpr double span = 0.1, rise = 5e-3;
  PolylinePath path;
  for (int i = 0; i <= n; ++i)
    path.points.emplace_back(i * span / n, 0, 0.5 * rise * (1 - math::cos(2 * pi * i / n)));
  Beam beam;
  beam.name = "blade", beam.path = path;
  beam.material = b.add(m), beam.section = b.add(section), beam.elements = n;
  Tie foot;
  foot.name = "foot", foot.on.beam = b.add(beam), foot.on.s = 1;
  Tie guide = foot;
  guide.name = "guide", guide.on.s = 0.5, guide.kind = JointKind::prismatic, guide.axis = Vec3::UnitZ();
  PointLoad load;
  load.name = "push", load.at = guide.on, load.force = VectorFunction::constant({0, 0, -5});
  b.add(foot), b.add(guide), b.add(load);
  return std::move(b).build();
}

// Four stages on top of each other, each on two leaves, the last one held from both sides by two more: ten
// beams, four rigid parts, six ties.
Model stack_of_stages(int elements) {
  ModelBuilder b("stages");
  b.parts.gravity = VectorFunction::constant(Vec3::Zero());
  Material m;
  m.name = "steel", m.E = 200e9, m.G = 200e9 / 2.6, m.density = 7850;
  Section section;
  section.name = "leaf", section.shape = Rectangle{0.02, 0.5e-3};
  Beam leaf;
  leaf.material = b.add(m), leaf.section = b.add(section), leaf.elements = elements, leaf.up = Vec3::UnitX();
  std::vector<BodyId> stages;
  for (int k = 0; k < 4; ++k) {
    Body stage;
    stage.name = fmt::format("stage.{}", k);
    stage.inertia = Inertia::about_com(0.1, Vec3::Zero(), 1e-5 * Mat3::Identity());
    stages.push_back(b.add(stage));
  }
  const auto tie_to = [&](BeamId on, BodyId to, const Vec3& p) {
    Tie tie;
    tie.name = fmt::format("tie.{}", on.value);
    tie.on.beam = on, tie.on.s = 1, tie.to.body = to, tie.to.p = p;
    b.add(tie);
  };
  for (int k = 0; k < 4; ++k)
    for (const double x : {-0.03, 0.03}) {
      leaf.name = fmt::format("leaf.{}.{}", k, x < 0 ? "left" : "right");
      leaf.from = {};
      if (k > 0) leaf.from.body = stages[k - 1], leaf.from.p = {x, 0, 0};
      const double foot = k > 0 ? 0 : x;
      leaf.path = PolylinePath{{{foot, 0, 0}, {foot, 0, 0.1}}};
      const BeamId beam = b.add(leaf);
      if (x > 0) {
        tie_to(beam, stages[k], {x, 0, 0});
        continue;
      }
      Joint weld;
      weld.name = fmt::format("weld.{}", k);
      weld.child = stages[k], weld.beam = beam, weld.s = 1;
      weld.X_PF = Pose::translation({x, 0, 0.1 * (k + 1)}), weld.X_BM = Pose::translation({x, 0, 0});
      b.add(weld);
    }
  for (const double y : {-0.2, 0.2}) {
    leaf.name = y < 0 ? "front" : "back";
    leaf.from = {};
    leaf.path = PolylinePath{{{0, y, 0.4}, {0, 0.15 * y, 0.4}}};
    tie_to(b.add(leaf), stages[3], {0, 0.15 * y, 0});
  }
  PointLoad load;
  load.name = "push", load.at.body = stages[3], load.force = VectorFunction::constant({5, 0, 0});
  b.add(load);
  return std::move(b).build();
}

// Nodes of a solved chain: the ends of the elements.
std::vector<Vec3> nodes(const chain::Structure& s, const chain::Rest& rest, int n, Recipe recipe) {
  chain::Balance b;
  b.resize(s.links.count());
  chain::stand(s, rest.shape, rest.factor, rest.lambda, b);
  const auto joints = elastic::recipe_joints(recipe);
  std::vector<Vec3> out;
  for (int e = 0; e < n; ++e) {
    const int k = (e + 1) * static_cast<int>(joints.size()) - 1;
    out.push_back(b.in.c[k] + b.R[k] * Vec3((1 - joints.back().x) * length / n, 0, 0));
  }
  return out;
}

std::vector<Vec3> nodes(const chain::Sweeper& s, int n) {
  std::vector<Vec3> out;
  for (int e = 0; e < n; ++e) out.push_back(s.tip(e));
  return out;
}

struct NewtonRun {
  double time = 0;
  std::vector<Vec3> at;
  chain::StaticReport report;
};
NewtonRun newton(int n, Recipe recipe, bool stretch = false) {
  NewtonRun out;
  const chain::Structure s = structure(n, recipe, stretch);
  chain::Rest rest;
  out.time = seconds([&] {
    chain::Solver solver(s);
    rest = chain::at_rest(s);
    out.report = solver.solve(rest, 1);
  });
  out.at = nodes(s, rest, n, recipe);
  return out;
}

struct SweepRun {
  double time = 0;
  std::vector<Vec3> at;
  chain::SweepReport report;
};
SweepRun sweep(int n, Recipe recipe, chain::SweepAlgorithm algorithm, chain::JointUpdate update) {
  SweepRun out;
  const auto list = elements(n, recipe);
  out.time = seconds(
      [&] {
        chain::Sweeper s(list);
        chain::SweepOptions o;
        o.algorithm = algorithm;
        o.update = update;
        out.report = s.solve(o);
        out.at = nodes(s, n);
      },
      0.1);
  return out;
}

// Eq. 5.1; and the largest distance, of the length. n must divide the other's number.
double epsilon(const std::vector<Vec3>& at, const std::vector<Vec3>& other) {
  double sum = 0;
  const std::size_t ratio = other.size() / at.size();
  for (std::size_t i = 0; i < at.size(); ++i) sum += (at[i] - other[(i + 1) * ratio - 1]).squaredNorm();
  return sum / static_cast<double>(at.size());
}
double largest(const std::vector<Vec3>& at, const std::vector<Vec3>& other) {
  double most = 0;
  const std::size_t ratio = other.size() / at.size();
  for (std::size_t i = 0; i < at.size(); ++i)
    most = std::max(most, (at[i] - other[(i + 1) * ratio - 1]).norm() / length);
  return most;
}

}  // namespace

std::vector<Figure> bench_chain(bool full) {
  using chain::JointUpdate;
  using chain::SweepAlgorithm;
  std::vector<Figure> out;
  const auto add = [&](const std::string& key, double value, const char* unit, const std::string& note = "") {
    out.push_back({key, value, unit, note});
  };

  std::vector<Vec3> exact;
  {
    const auto coarse = newton(1600, Recipe::consistent_3r), fine = newton(3200, Recipe::consistent_3r);
    for (std::size_t i = 0; i < coarse.at.size(); ++i)
      exact.push_back((4 * fine.at[2 * i + 1] - coarse.at[i]) / 3);
  }
  const auto expected =
      sweep(200, Recipe::published_1r, SweepAlgorithm::quadratic, JointUpdate::differences).at;

  struct Published {
    const char* name;
    Recipe recipe;
    SweepAlgorithm algorithm;
  };
  const Published cases[] = {{"case1_1r_quadratic", Recipe::published_1r, SweepAlgorithm::quadratic},
                             {"case2_1r_linear", Recipe::published_1r, SweepAlgorithm::linear_16},
                             {"case3_3r_quadratic", Recipe::published_3r, SweepAlgorithm::quadratic},
                             {"case4_3r_linear", Recipe::published_3r, SweepAlgorithm::linear_16}};
  double sweep_200 = 0, newton_200 = 0;
  for (const int n : {1, 2, 4, 5, 8, 10, 20, 25, 40, 50, 100, 200}) {
    if (!full && n != 10 && n != 40 && n != 200) continue;
    for (const Published& c : cases) {
      const auto r = sweep(n, c.recipe, c.algorithm, JointUpdate::differences);
      const std::string key = fmt::format("{}_{}", c.name, n);
      add(key + "_ms", 1e3 * r.time, "ms",
          r.report.converged ? fmt::format("{} sweeps", r.report.sweeps) : "did not converge");
      if (!r.report.converged) continue;
      add(key + "_epsilon", epsilon(r.at, expected), "in2");
      add(key + "_error", largest(r.at, exact), "");
      if (n == 200 && c.recipe == Recipe::published_1r && c.algorithm == SweepAlgorithm::linear_16)
        add("error_exact_200_1r", largest(r.at, exact), "");
    }
    for (const Recipe recipe : {Recipe::published_3r, Recipe::consistent_3r, Recipe::consistent_1r}) {
      const auto r = newton(n, recipe);
      const std::string key = fmt::format("newton_{}_{}", elastic::to_string(recipe), n);
      add(key + "_ms", 1e3 * r.time, "ms", fmt::format("{} iterations", r.report.report.iterations));
      add(key + "_epsilon", epsilon(r.at, expected), "in2");
      add(key + "_error", largest(r.at, exact), "");
      if (recipe == Recipe::consistent_3r && (n == 10 || n == 40))
        add(fmt::format("error_exact_{}_3r_consistent", n), largest(r.at, exact), "");
      if (recipe == Recipe::published_3r && n == 40) add("error_exact_40_3r", largest(r.at, exact), "");
      if (recipe == Recipe::published_3r && n == 200) newton_200 = r.time;
    }
    if (n == 200) {
      const auto fast = sweep(n, Recipe::published_3r, SweepAlgorithm::linear_12, JointUpdate::differences);
      sweep_200 = fast.time;
      add("sweep_ms_200", 1e3 * fast.time, "ms", fmt::format("appendix A, {} sweeps", fast.report.sweeps));
      const auto coordinates =
          sweep(n, Recipe::published_3r, SweepAlgorithm::linear_12, JointUpdate::coordinates);
      add("sweep_coordinates_ms_200", 1e3 * coordinates.time, "ms",
          fmt::format("pose by coordinates, {} sweeps", coordinates.report.sweeps));
    }
  }
  // Sweeps alone, without the look at the moments after each.
  const auto pass = [](SweepAlgorithm algorithm) {
    chain::Sweeper s(elements(200, Recipe::published_3r));
    chain::SweepOptions o;
    o.algorithm = algorithm;
    return seconds([&] { s.sweep(o, 1); }, 0.5);
  };
  const double quadratic = pass(SweepAlgorithm::quadratic), linear_16 = pass(SweepAlgorithm::linear_16),
               linear_12 = pass(SweepAlgorithm::linear_12);
  add("sweep_us_200_quadratic", 1e6 * quadratic, "us", "algorithm 3.1, 200 3R elements");
  add("sweep_us_200_linear_16", 1e6 * linear_16, "us", "algorithm 4.1");
  add("sweep_us_200_linear_12", 1e6 * linear_12, "us", "appendix A");
  add("linear_over_quadratic_200", quadratic / linear_12, "",
      "a sweep of algorithm 3.1 by one of appendix A");

  // As a scene is solved: with few elements first.
  {
    ModelBuilder b("strip");
    b.parts.gravity = VectorFunction::constant(Vec3::Zero());
    Material m;
    m.name = "polypropylene", m.E = 200e3, m.G = 200e3 / 2.8;
    Section section;
    section.name = "strip", section.shape = Rectangle{0.25, 4};
    Beam beam;
    beam.name = "beam", beam.path = PolylinePath{{{0, 0, 0}, {length, 0, 0}}};
    beam.material = b.add(m), beam.section = b.add(section), beam.elements = 200,
    beam.recipe = Recipe::published_3r;
    PointLoad load;
    load.name = "tip", load.at.beam = b.add(beam), load.at.s = 1,
    load.force = VectorFunction::constant(tip_force);
    b.add(load);
    chain::System system = chain::compile(std::move(b).build());
    chain::StaticReport report;
    const double t = seconds([&] {
      chain::Solver solver(system.structure());
      chain::Rest rest = system.rest();
      report = chain::solve_from_coarse(system, solver, rest, {});
    });
    newton_200 = std::min(newton_200, t);
    add("newton_ms_200", 1e3 * newton_200, "ms", fmt::format("{} iterations", report.report.iterations));
  }
  add("newton_over_sweep_200", sweep_200 / newton_200, "",
      "time of the published linear sweeps by Newton's, 200 3R elements, residual 1e-8");

  {
    // In turn, so that both see the same machine.
    std::vector<double> ratios;
    for (int i = 0; i < 5; ++i)
      ratios.push_back(newton(200, Recipe::consistent_3r, true).time /
                       newton(200, Recipe::consistent_3r).time);
    std::sort(ratios.begin(), ratios.end());
    add("stretch_cost", ratios[2], "", "200 elements that stretch by 200 that do not");
  }
  {
    const chain::System system = chain::compile(bistable_switch(40));
    chain::PathReport path;
    const double t = seconds([&] {
      chain::Solver solver(system.structure());
      chain::Rest rest = system.rest();
      chain::PathOptions stable;
      stable.branching = math::Branching::least_unstable;
      path = chain::follow(solver, rest, stable, nullptr);
    });
    add("path_100_ms", 1e3 * t * 100 / static_cast<double>(path.points.size()), "ms",
        fmt::format("a switch of 40 elements, pushed through: {} points, {} located, {} iterations{}",
                    path.points.size(), path.lost.size(), path.iterations,
                    path.reached ? "" : ", not reached"));
  }

  {
    const chain::System system = chain::compile(stack_of_stages(20));
    chain::Solver solver(system.structure());
    chain::Rest half = system.rest(), rest;
    chain::StaticReport report = solver.solve(half, 0.5);
    const bool good = report.report.ok();
    bool found = false;
    const double t = seconds([&] {
      rest = half;
      rest.factor = 0.6;
      found = solver.newton(rest, {}, report);
    });
    add("mechanism_step_ms", 1e3 * t, "ms",
        fmt::format("10 beams of 20 elements and 4 rigid parts, from 0.5 to 0.6 of the load{}",
                    good && found ? "" : ", not found"));
  }

  double first_time = 0, last_time = 0;
  for (const int n : {1000, 10000, 100000}) {
    const auto r = newton(n, Recipe::consistent_3r);
    add(fmt::format("newton_consistent_3r_{}_ms", n), 1e3 * r.time, "ms",
        fmt::format("{} iterations", r.report.report.iterations));
    if (n == 1000) first_time = r.time;
    last_time = r.time;
    const auto s = sweep(n, Recipe::published_3r, SweepAlgorithm::linear_12, JointUpdate::differences);
    add(fmt::format("case4_3r_linear_{}_ms", n), 1e3 * s.time, "ms",
        s.report.converged ? fmt::format("{} sweeps", s.report.sweeps) : "did not converge");
  }
  add("newton_exponent", std::log10(last_time / first_time) / 2, "",
      "of the time over 1,000…100,000 elements");
  return out;
}

}  // namespace limber::cli
