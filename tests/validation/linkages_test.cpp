// Shipped linkages: energy that stays put, loops that stay closed at any step, a strip that rings at the
// frequencies of Euler and Bernoulli.
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "limber/articulated/system.h"
#include "limber/scene/scene.h"
#include "tests/support/reference.h"

namespace limber {
namespace {

using articulated::Integrator;
using articulated::State;
using articulated::System;
using articulated::Workspace;

// A shipped scene with some of its text replaced.
scene::Scene load(const std::string& name,
                  const std::vector<std::pair<std::string, std::string>>& replace = {}) {
  const std::string file = fmt::format("{}/{}.yaml", LIMBER_SCENES, name);
  std::stringstream in;
  in << std::ifstream(file).rdbuf();
  std::string text = in.str();
  for (const auto& [from, to] : replace) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << name << ": " << from;
    if (at != std::string::npos) text.replace(at, from.size(), to);
  }
  return scene::parse(text, file, LIMBER_SCENES);
}

// Over 10 s with midpoint: energy within 1e-5 of the largest kinetic energy, and the loops with rows to spare
// named.
void check_energy(const scene::Scene& s, double h, const std::string& redundant) {
  const System system = articulated::compile(s.model, {.integrator = Integrator::midpoint});
  State state = system.rest();
  Workspace w(system);
  const double start = articulated::energy(system, state, w).total();
  double error = 0, kinetic = 0;
  std::string named;
  for (int i = 0; i * h < 10; ++i) {
    const auto report = articulated::step(system, state, w, h);
    ASSERT_TRUE(report.ok()) << report.message;
    if (named.empty()) named = report.redundant;
    const auto e = articulated::energy(system, state, w);
    error = std::max(error, std::abs(e.total() - start));
    kinetic = std::max(kinetic, e.kinetic);
  }
  fmt::print("  {}: h {:.1e} s, energy error {:.2e} of {:.3g} J, redundant: {}\n", s.model.title(), h,
             error / kinetic, kinetic, named);
  EXPECT_LT(error / kinetic, 1e-5);
  EXPECT_EQ(named, redundant);
}

TEST(Linkages, BricardKeepsItsEnergy) { check_energy(load("bricard"), 1e-3, "hinge.6 (1)"); }

// Without motor, bearing and collar friction, set spinning instead: the balls swing in and out.
TEST(Linkages, GovernorKeepsItsEnergy) {
  const auto s =
      load("flyball-governor",
           {{"damping: 1 N*m*s/rad, drive: {force: \"torque*min(t/(1 s), 1)\"}", "velocity: 8 rad/s"},
            {", damping: 10 N*s/m", ""}});
  check_energy(s, 1e-3, "rod.0 (3), rod.1 (3)");
}

// Coordinates at ten moments of the first second.
std::vector<std::vector<double>> motion(const Model& model, Integrator integrator, int per_sample) {
  const System system = articulated::compile(model, {.integrator = integrator});
  State state = system.rest();
  Workspace w(system);
  std::vector<std::vector<double>> out;
  for (int k = 0; k < 10; ++k) {
    for (int i = 0; i < per_sample; ++i) {
      const auto report = articulated::step(system, state, w, 0.1 / per_sample);
      EXPECT_TRUE(report.ok()) << to_string(integrator) << ": " << report.message;
      EXPECT_EQ(report.substeps, 0) << to_string(integrator) << ", t = " << state.t;
    }
    out.push_back(state.q);
  }
  return out;
}

double difference(const std::vector<std::vector<double>>& a, const std::vector<std::vector<double>>& b) {
  double largest = 0;
  for (std::size_t k = 0; k < a.size(); ++k)
    for (std::size_t i = 0; i < a[k].size(); ++i) largest = std::max(largest, std::abs(a[k][i] - b[k][i]));
  return largest;
}

struct OrderAt {
  Integrator integrator;
  int per_sample, halvings, order;
};

// Errors at h, h/2, … against a fine step of gauss, which rk4 confirms.
void check_orders(const std::string& scene, const std::vector<OrderAt>& list) {
  const Model model = load(scene).model;
  const auto truth = motion(model, Integrator::gauss, 640);
  const double doubt = difference(motion(model, Integrator::rk4, 640), truth);
  fmt::print("  {:<16} the fine steps differ by {:.1e}\n", scene, doubt);
  EXPECT_LT(doubt, 3e-12) << scene;
  for (const OrderAt& c : list) {
    double before = difference(motion(model, c.integrator, c.per_sample), truth);
    for (int i = 1; i <= c.halvings; ++i) {
      const double error = difference(motion(model, c.integrator, c.per_sample << i), truth);
      fmt::print("  {:<16} {:<14} h {:.2e}: error {:.3e}, order {:.3f}\n", scene, to_string(c.integrator),
                 0.1 / (c.per_sample << i), error, std::log2(before / error));
      EXPECT_NEAR(std::log2(before / error), c.order, 0.1) << scene << ", " << to_string(c.integrator);
      before = error;
    }
  }
}

// Six rows of which one is to spare only where the loop is closed: stages stand off it.
TEST(Linkages, OrdersOnBricard) {
  check_orders("bricard", {{Integrator::euler, 20, 2, 1},
                           {Integrator::implicit_euler, 20, 2, 1},
                           {Integrator::midpoint, 8, 2, 2},
                           {Integrator::sdirk, 8, 2, 2},
                           {Integrator::rk4, 8, 2, 4},
                           {Integrator::gauss, 4, 2, 4},
                           {Integrator::sdirk4, 4, 2, 4}});
}

// With its motor, up to the moment where the motor's torque no longer grows.
TEST(Linkages, OrdersOnTheGovernor) {
  check_orders("flyball-governor", {{Integrator::euler, 20, 2, 1},
                                    {Integrator::implicit_euler, 20, 2, 1},
                                    {Integrator::midpoint, 8, 2, 2},
                                    {Integrator::sdirk, 8, 2, 2},
                                    {Integrator::rk4, 64, 1, 4},
                                    {Integrator::gauss, 16, 2, 4},
                                    {Integrator::sdirk4, 16, 2, 4}});
}

// The gap of a hinge or universal joint, from the poses of the bodies it joins: lengths, and turns times
// size.
double hinge_gap(const Loop& loop, const result::Snapshot& snapshot, double size) {
  const auto pose = [&](BodyId id) {
    return id.valid() ? Pose{snapshot.rotations[id.value].toRotationMatrix(), snapshot.positions[id.value]}
                      : Pose::identity();
  };
  const Pose A = pose(loop.a) * loop.X_AF, B = pose(loop.b) * loop.X_BM;
  const double turn = loop.kind == JointKind::revolute ? A.R.col(2).cross(B.R.col(2)).norm()
                                                       : std::abs(A.R.col(0).dot(B.R.col(1)));
  return std::max((A.p - B.p).norm(), size * turn);
}

struct Period {
  const char* scene;
  double time;   // [s] characteristic
  double until;  // [s]
};

void check_closed(const Period& p, Integrator integrator, double h) {
  const scene::Scene s = load(p.scene);
  const System system = articulated::compile(s.model, {.integrator = integrator});
  State state = system.rest();
  Workspace w(system);
  result::Snapshot snapshot;
  snapshot.resize(system.layout());
  const double size = system.data().size;
  double reported = 0, measured = 0;
  for (int i = 0; i * h < p.until; ++i) {
    const auto report = articulated::step(system, state, w, h);
    ASSERT_TRUE(report.ok()) << p.scene << ", " << to_string(integrator) << ", h " << h << ": "
                             << report.message;
    reported = std::max(reported, report.loop_gap);
    articulated::observe(system, state, w, snapshot);
    for (const Loop& loop : system.model().loops())
      measured = std::max(measured, hinge_gap(loop, snapshot, size) / size);
  }
  fmt::print("  {:<18} {:<14} h {:.2e}: gap {:.1e} (reported {:.1e})\n", p.scene, to_string(integrator), h,
             measured, reported);
  EXPECT_LE(measured, 1e-9) << p.scene << ", " << to_string(integrator) << ", h " << h;
  EXPECT_LE(reported, 1e-9) << p.scene << ", " << to_string(integrator) << ", h " << h;
}

// Characteristic times: a turn at the fastest (four-bar 13.4 rad/s, squeezer 1216 rad/s, governor 8 rad/s), a
// turn of the cranks, a swing of the deck on its cables, and a third of the umbrella's opening.
TEST(Linkages, LoopsStayClosedAtAnyStep) {
  const Period periods[] = {
      {"four-bar", 0.47, 5},         {"n-four-bar", 1.94, 5},     {"squeezer", 5.2e-3, 0.03},
      {"flyball-governor", 0.79, 5}, {"bridge", 0.1, 0.5},        {"bridge-flexible", 0.12, 0.25},
      {"bridge-car", 0.12, 0.25},    {"bridge-many", 0.12, 0.03}, {"umbrella", 1, 1},
  };
  for (const Period& p : periods)
    for (const Integrator integrator : articulated::all_integrators) {
      // Explicit: steps a tenth of the slow swing are thousands of times those of the stiffest cable.
      const std::string_view scene = p.scene;
      const bool stiff = scene.starts_with("bridge") || scene == "umbrella";
      if (integrator == Integrator::rk4 && stiff) continue;
      for (const double parts : {100, 10}) check_closed(p, integrator, p.time / parts);
    }
}

// Bricard's linkage turns at 8.3 rad/s. Left alone, first-order methods gain energy in it without end; a step
// that gains is split.
TEST(Linkages, BricardStaysClosed) {
  const Period p{"bricard", 0.76, 5};
  for (const Integrator integrator : articulated::all_integrators)
    for (const double parts : {100, 10}) check_closed(p, integrator, p.time / parts);
}

// The frequency near `guess` where the signal is strongest, under a Hann window. [Hz]
double peak(const std::vector<double>& x, double h, double guess) {
  const auto power = [&](double f) {
    double re = 0, im = 0;
    const int n = static_cast<int>(x.size());
    for (int i = 0; i < n; ++i) {
      const double window = 1 - std::cos(2 * M_PI * (i + 0.5) / n);
      re += window * x[i] * std::cos(2 * M_PI * f * i * h);
      im += window * x[i] * std::sin(2 * M_PI * f * i * h);
    }
    return re * re + im * im;
  };
  double lower = 0.95 * guess, upper = 1.05 * guess;
  for (int round = 0; round < 25; ++round) {
    const double a = lower + (upper - lower) / 3, b = upper - (upper - lower) / 3;
    (power(a) < power(b) ? lower : upper) = power(a) < power(b) ? a : b;
  }
  return (lower + upper) / 2;
}

// β L of a clamped-free beam (Euler–Bernoulli: cos βL cosh βL = −1); ω = β² √(EI/ρA).
TEST(Linkages, CantileverRingsAsEulerAndBernoulliSay) {
  // A small pluck, no damping, and let go at once: a step of force excites every mode.
  const scene::Scene s = load("cantilever", {{"pull: 2 N", "pull: 20 mN"},
                                             {", damping: 0.1 ms", ""},
                                             {"if(t < 1 s, -pull*t/(1 s), 0)", "if(t < 2 ms, -pull, 0)"}});
  const System system = articulated::compile(s.model, {.integrator = Integrator::midpoint});
  State state = system.rest();
  Workspace w(system);
  result::Snapshot snapshot;
  snapshot.resize(system.layout());
  const double h = 1e-4;  // (ωh)²/12 = 1.7e-4 of the third frequency
  std::vector<double> tip;
  for (int i = 0; i < 20000; ++i) {
    ASSERT_TRUE(articulated::step(system, state, w, h).ok());
    if (state.t < 0.005) continue;
    articulated::observe(system, state, w, snapshot);
    ASSERT_EQ(system.layout().scalars[2].name, "strip.tip.position.z");
    tip.push_back(snapshot.scalars[2]);
  }
  const double beta[] = {1.875104069, 4.694091133, 7.854757438};
  const double E = 200e9, density = 7850, thickness = 5e-3, length = 1;
  for (int k = 0; k < 3; ++k) {
    const double exact = beta[k] * beta[k] / (2 * M_PI * length * length) *
                         std::sqrt(E * thickness * thickness / 12 / density);
    const double found = peak(tip, h, exact);
    fmt::print("  mode {}: {:.4f} Hz, Euler-Bernoulli {:.4f} Hz, off by {:.3f} %\n", k + 1, found, exact,
               100 * (found / exact - 1));
    EXPECT_NEAR(found, exact, 0.005 * exact);
  }
}

}  // namespace
}  // namespace limber
