// Steps by an error: what is asked is kept, also between the parts that are taken; bits stay the same.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "limber/articulated/system.h"
#include "limber/scene/scene.h"

namespace limber::articulated {
namespace {

Model shipped(const std::string& name) {
  return scene::load(fmt::format("{}/{}.yaml", LIMBER_SCENES, name)).model;
}

// A free body, ball joints, a shaft that bends, and a joint that is moved: every kind of coordinate.
Model driven_chain() {
  const char* text = R"(limber: 1
bodies:
  arm: {mass: 1, inertia: [0.01, 0.1, 0.1], at: [0.5, 0, 0]}
  bob: {mass: 1, inertia: [0.02, 0.1, 0.09], at: [1.5, 0, 0]}
  tail: {mass: 0.5, inertia: [0.02, 0.04, 0.03], at: [2.3, 0, 0], points: {end: [0.2, 0, 0]}}
  kite: {mass: 0.7, inertia: [0.03, 0.05, 0.06], at: [0, 2, 1], points: {eye: [0.1, 0, 0]}}
joints:
  drive: {type: revolute, child: arm, axis: [0, 1, 0], at: [0, 0, 0], motion: 0.5*sin(3*t)}
  ball: {type: spherical, parent: arm, child: bob, at: [1, 0, 0], velocity: [1, 2, 3], damping: 0.05}
  shaft: {type: constant_velocity, parent: bob, child: tail, at: [2, 0, 0], axis: [1, 0, 0], stiffness: 3, velocity: [1, -1]}
  flight: {type: free, child: kite, velocity: [2, -3, 1, 0.5, 0, 2]}
springs:
  rope: {between: [kite.eye, tail.end], stiffness: 4, rest_length: 1.5}
)";
  return scene::parse(text, "driven_chain.yaml").model;
}

// Snapshots at equal distances, over `steps` steps of h with n frames in each.
struct Told {
  std::vector<result::Snapshot> frames;
  std::vector<State> states;
  long parts = 0, rejected = 0;
};

Told run(const Model& model, const Options& options, double h, int steps, int n) {
  const System system = compile(model, options);
  Workspace w(system);
  State state = system.rest();
  std::vector<State> between(options.error > 0 ? n - 1 : 0);
  Told out;
  const auto tell = [&](const State& s) {
    out.states.push_back(s);
    observe(system, s, w, out.frames.emplace_back());
  };
  for (int i = 0; i < steps; ++i) {
    if (options.error > 0) {
      const auto report = step(system, state, w, h, between);
      EXPECT_TRUE(report.ok()) << report.message;
      if (!report.ok()) break;
      out.parts += report.parts, out.rejected += report.rejected;
      for (const State& s : between) tell(s);
    } else {  // the truth: fine steps, the frames their ends
      for (int k = 0; k < 40 * n; ++k) {
        const auto report = step(system, state, w, h / (40 * n));
        EXPECT_TRUE(report.ok()) << report.message;
        if ((k + 1) % 40 == 0 && k + 1 < 40 * n) tell(state);
      }
    }
    tell(state);
  }
  return out;
}

// The largest distance of a body from where it should be, of the structure's size, over what was allowed
// until then.
double over_allowance(const Told& told, const Told& truth, const Model& model, double error, int n) {
  const double size = compile(model).data().size;
  double worst = 0;
  for (std::size_t k = 0; k < truth.frames.size(); ++k) {
    double off = 0;
    for (std::size_t b = 0; b < truth.frames[k].positions.size(); ++b)
      off = std::max(off, (told.frames[k].positions[b] - truth.frames[k].positions[b]).norm() / size);
    const double allowed = error * static_cast<double>((k + n) / n);  // whole steps that began
    worst = std::max(worst, off / allowed);
  }
  return worst;
}

struct Case {
  const char* name;
  Model model;
  double most;  // times what was allowed, at most: what the motion itself makes of errors over 2 s
};

std::vector<Case> cases() {
  return {{"double pendulum", shipped("double-pendulum"), 4},
          {"four-bar", shipped("four-bar"), 1},
          {"Bricard", shipped("bricard"), 1},
          {"governor", shipped("flyball-governor"), 1},
          {"driven chain", driven_chain(), 1}};
}

// At frames of 10 ms in steps of 0.1 s: the ends of parts stand anywhere, most frames between them.
TEST(StepsByError, KeepItAtEveryFrame) {
  for (const Case& c : cases()) {
    const Told truth = run(c.model, {.integrator = Integrator::gauss}, 0.1, 20, 10);
    for (const Integrator integrator : {Integrator::rk4, Integrator::gauss, Integrator::sdirk4})
      for (const double error : {1e-4, 1e-6, 1e-8}) {
        if (integrator == Integrator::sdirk4 && error < 1e-6) continue;  // in halves
        const Told told = run(c.model, {.integrator = integrator, .error = error}, 0.1, 20, 10);
        ASSERT_EQ(told.frames.size(), truth.frames.size());
        const double ratio = over_allowance(told, truth, c.model, error, 10);
        fmt::print("  {}, {}, {:.0e}: {:.2g} of what is allowed, {} parts, {} too long\n", c.name,
                   to_string(integrator), error, ratio, told.parts, told.rejected);
        EXPECT_LT(ratio, c.most) << c.name << ", " << to_string(integrator) << ", " << error;
      }
  }
}

// A tame pendulum over a period in one step: two hundred frames, a few dozen parts, and every frame is as
// good as the parts' ends: positions, and the energy, which nothing takes.
TEST(StepsByError, FramesCostNoParts) {
  scene::LoadOptions load;
  load.set = {{"release", "20 deg"}};
  const Model model = scene::load(std::string(LIMBER_SCENES) + "/double-pendulum.yaml", load).model;
  const Told truth = run(model, {.integrator = Integrator::gauss}, 1.0, 1, 1000);
  const System system = compile(model);
  Workspace w(system);
  const double start = energy(system, system.rest(), w).total();
  double kinetic = 0;
  for (const State& s : truth.states) kinetic = std::max(kinetic, energy(system, s, w).kinetic);
  for (const Integrator integrator : {Integrator::rk4, Integrator::gauss, Integrator::sdirk4})
    for (const double error : {1e-4, 1e-6}) {
      const Told told = run(model, {.integrator = integrator, .error = error}, 1.0, 1, 1000);
      EXPECT_LT(told.parts, 300) << to_string(integrator) << ", " << error;
      EXPECT_LT(over_allowance(told, truth, model, error, 1000), 1) << to_string(integrator) << ", " << error;
      double worst = 0;
      for (const State& s : told.states)
        worst = std::max(worst, std::abs(energy(system, s, w).total() - start) / kinetic);
      // Places of 1e-4 of the size are speeds of ω times that: 10 of the energy, for ω up to 10/s.
      EXPECT_LT(worst, 10 * error) << to_string(integrator) << ", " << error;
    }
}

// Loops at frames within parts are open by no more than the error that is asked for.
TEST(StepsByError, LoopsStayClosedBetweenParts) {
  for (const char* name : {"four-bar", "bricard", "flyball-governor"}) {
    const Model model = shipped(name);
    const System system = compile(model);
    std::vector<LinkMotion> links(system.data().tree.size());
    std::vector<LoopState> loops(system.data().loops.size());
    for (const Integrator integrator : {Integrator::rk4, Integrator::gauss, Integrator::sdirk4})
      for (const double error : {1e-4, 1e-6}) {
        const Told told = run(model, {.integrator = integrator, .error = error}, 0.2, 10, 40);
        double gap = 0;
        for (const State& s : told.states) {
          multibody::poses(system.data().tree, s.q.data(), links);
          place_loops(system.data(), s.q.data(), links, loops);
          gap = std::max(gap, largest_gap(system.data(), loops) / system.data().size);
        }
        EXPECT_LT(gap, error) << name << ", " << to_string(integrator);
        // sdirk4 takes shorter parts than its error would need.
        EXPECT_LT(told.parts, integrator == Integrator::sdirk4 ? 1000 : 400)
            << name << ", " << to_string(integrator);
      }
  }
}

// A stop that is hit within the step: parts that hit it end at frames, and none of these stands beyond it.
TEST(StepsByError, FramesAroundAStopAreComputed) {
  const Model model =
      scene::parse(
          "limber: 1\n"
          "bodies: {bob: {mass: 1, inertia: [0.1, 0.1, 0.1]}}\n"
          "joints: {drop: {type: prismatic, child: bob, axis: [0, 0, 1], position: 1, limits: "
          "[0, 10], restitution: 0.5}}\n",
          "drop.yaml")
          .model;
  const double fall = std::sqrt(2 / 9.81), speed = std::sqrt(2 * 9.81);
  for (const Integrator integrator : {Integrator::rk4, Integrator::gauss, Integrator::sdirk4}) {
    const double error = 1e-3;
    const Told told = run(model, {.integrator = integrator, .error = error}, 0.8, 1, 80);
    for (std::size_t k = 0; k < told.states.size(); ++k) {
      const double t = 0.01 * static_cast<double>(k + 1), after = t - fall;
      const double exact = t < fall ? 1 - 4.905 * t * t : 0.5 * speed * after - 4.905 * after * after;
      EXPECT_GE(told.states[k].q[0], -1e-12) << to_string(integrator);
      EXPECT_NEAR(told.states[k].q[0], exact, 2 * error) << to_string(integrator) << ", t = " << t;
    }
  }
}

// What the books say within parts: what a damper takes and a drive gives, against the energies there.
TEST(StepsByError, BooksCloseBetweenParts) {
  const Model model = driven_chain();
  const System system = compile(model, {.integrator = Integrator::gauss});
  Workspace w(system);
  const double start = energy(system, system.rest(), w).total();
  for (const Integrator integrator : {Integrator::rk4, Integrator::gauss, Integrator::sdirk4}) {
    const double error = 1e-6;
    const Told told = run(model, {.integrator = integrator, .error = error}, 0.2, 10, 40);
    double worst = 0, most = 0;
    for (const State& s : told.states) {
      const auto e = energy(system, s, w);
      worst = std::max(worst, std::abs(e.total() - start + s.dissipated - s.work));
      most = std::max(most, e.kinetic);
    }
    fmt::print("  {}: the books are off by {:.2g} of the kinetic energy\n", to_string(integrator),
               worst / most);
    // Ten steps of 1e-6 of the size each, energies go with ω ≈ 10/s of that, and books with their square.
    EXPECT_LT(worst / most, 100 * error) << to_string(integrator);
  }
}

// A state that is saved and loaded goes on with the same bits, and no step knows what an earlier one left in
// its scratch; with frames or without the parts are the same.
TEST(StepsByError, GoOnWithTheSameBits) {
  for (const Model& model : {shipped("bricard"), driven_chain()})
    for (const Integrator integrator : {Integrator::rk4, Integrator::gauss, Integrator::sdirk4}) {
      const System system = compile(model, {.integrator = integrator, .error = 1e-6});
      State one = system.rest(), two = system.rest(), bare = system.rest();
      Workspace w(system), other(system), third(system);
      std::vector<State> between(7), again(7);
      for (int i = 0; i < 8; ++i) {
        ASSERT_TRUE(step(system, one, w, 0.1, between).ok());
        Workspace fresh(system);
        State loaded = system.rest();
        loaded.load(two.save());
        other.fill_with_nan();
        ASSERT_TRUE(step(system, loaded, i % 2 ? fresh : other, 0.1, again).ok());
        two = loaded;
        ASSERT_EQ(one.save(), two.save()) << i;
        for (std::size_t k = 0; k < between.size(); ++k) ASSERT_EQ(between[k].save(), again[k].save());
        if (integrator == Integrator::sdirk4) continue;  // looks at its start where frames ask for it
        ASSERT_TRUE(step(system, bare, third, 0.1).ok());
        ASSERT_EQ(one.q, bare.q);
      }
    }
}

TEST(StepsByError, StatesWithinAStepNeedAnError) {
  const System system = compile(shipped("double-pendulum"));
  Workspace w(system);
  State state = system.rest();
  std::vector<State> between(3);
  EXPECT_THROW(step(system, state, w, 0.1, between), std::invalid_argument);
}

}  // namespace
}  // namespace limber::articulated
