// Derivatives of equations of motion and of runs by the adjoint, against central differences.
#include "limber/articulated/step_adjoint.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>

#include "tests/support/random_tree.h"

namespace limber::articulated {
namespace {

using testing::Random;

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

std::vector<double> random_numbers(Random& random, int n, double size) {
  std::vector<double> out;
  for (int i = 0; i < n; ++i) out.push_back(random.uniform(-size, size));
  return out;
}

// Every kind of joint, sprung and damped; with `elements` also springs between bodies and to the ground,
// loads, a bushing, drag and wind.
ModelParts random_structure(unsigned seed, bool elements, int bodies = 7) {
  Random random(seed);
  ModelParts parts = testing::random_tree(random, bodies, 2);
  parts.gravity = VectorFunction::constant({0.3, -0.2, -9.81});
  for (Joint& j : parts.joints) {
    for (int k = 0; k < dof_count(j.kind); ++k) {
      j.law.stiffness[k] = random.uniform(1, 30), j.law.damping[k] = random.uniform(0.1, 1);
      j.law.rest[k] = random.uniform(-0.3, 0.3);
      j.position[k] = random.uniform(-0.5, 0.5), j.velocity[k] = random.uniform(-1, 1);
    }
    if (has_rotation_vector(j.kind)) j.law.stiffness[1] = j.law.stiffness[2] = j.law.stiffness[0];
  }
  if (!elements) return parts;
  const auto on = [&](int body) { return Attachment{.body = BodyId{body}, .p = random.vector(0.3)}; };
  for (int k = 0; k < 3; ++k) {
    Spring s;
    s.name = "spring" + std::to_string(k);
    s.a = on(random.integer(bodies));
    s.b = on(k == 0 ? -1 : (s.a.body.value + 1 + random.integer(bodies - 1)) % bodies);
    s.stiffness = random.uniform(5, 50), s.damping = random.uniform(0, 1);
    s.rest_length = random.uniform(0.1, 0.6);
    parts.springs.push_back(s);
  }
  PointLoad load;
  load.name = "load";
  load.at = on(bodies - 1);
  load.force = VectorFunction::constant(random.vector(5));
  load.moment = VectorFunction::constant(random.vector(1));
  parts.point_loads.push_back(load);
  load.name = "follower", load.follows = true, load.at = on(bodies / 2);
  parts.point_loads.push_back(load);
  parts.wind = Wind{VectorFunction::constant(random.vector(4)), 1.2, 1};
  for (Body& b : parts.bodies) {
    b.linear_drag = random.uniform(0, 0.2), b.angular_drag = random.uniform(0, 0.05);
    if (random.integer(2) == 0) b.shapes.push_back({SphereShape{0.2}, Pose::translation(random.vector(0.1))});
  }
  return parts;
}

const Options exact_by(Integrator integrator) { return {.integrator = integrator, .tolerance = 1e-14}; }

// λᵀ∂r/∂(q, v, a) times a way, against differences of λ·r along it.
void compare_products(const System& system, double ahead, unsigned seed) {
  Random random(1000 + seed);
  const SystemData& s = system.data();
  const int n = s.tree.v_count();
  const State state = system.rest();
  const std::vector<double> a = random_numbers(random, n, 5), lambda = random_numbers(random, n, 1);
  LinearDynamics at(system), other(system);
  const std::vector<signed char> servo;
  const MotionPoint here{state.q.data(), state.v.data(), a.data(), 0.1, ahead};
  at.at(here, servo);
  ASSERT_TRUE(at.factor(ahead, ahead * ahead));
  std::vector<double> q_bar(n), v_bar(n), a_bar(n);
  at.transpose_times(lambda.data(), q_bar.data(), v_bar.data(), a_bar.data());
  for (int which = 0; which < 3; ++which) {
    const std::vector<double> way = random_numbers(random, n, 1);
    const auto power = [&](double by) {
      std::vector<double> q = state.q, v = state.v, acc = a;
      if (which == 0) multibody::integrate(s.tree, state.q.data(), way.data(), by, q.data());
      for (int k = 0; k < n; ++k) {
        if (which == 1) v[k] += by * way[k];
        if (which == 2) acc[k] += by * way[k];
      }
      return other.power({q.data(), v.data(), acc.data(), 0.1, ahead}, servo, lambda.data());
    };
    const double d = 1e-3;
    const double wanted = (8 * (power(d) - power(-d)) - (power(2 * d) - power(-2 * d))) / (12 * d);
    const double found = dot(which == 0 ? q_bar : which == 1 ? v_bar : a_bar, way);
    double size = std::abs(power(0));  // of what is differentiated
    for (int k = 0; k < n; ++k)
      size += std::abs((which == 0 ? q_bar : which == 1 ? v_bar : a_bar)[k] * way[k]);
    EXPECT_NEAR(found, wanted, 1e-8 * size) << "by "
                                            << (which == 0   ? "q"
                                                : which == 1 ? "v"
                                                             : "a")
                                            << " seed " << seed;
  }
}

TEST(LinearDynamics, ProductsAreDifferencesOfPower) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Model plain(random_structure(seed, false)), full(random_structure(seed, true));
    for (const Model* m : {&plain, &full}) {
      compare_products(compile(*m), 0, seed);
      compare_products(compile(*m, {.integrator = Integrator::euler}), 0.01, seed);
    }
  }
}

struct Recorded {
  State end;
  std::vector<StepPart> parts;
};
Recorded run(const System& system, State state, double h, int steps) {
  Workspace w(system);
  Recorded out;
  w.data().trace = &out.parts;
  for (int i = 0; i < steps; ++i) {
    const auto report = step(system, state, w, h);
    EXPECT_TRUE(report.ok()) << report.message;
  }
  out.end = state;
  return out;
}

// A number of the end: weights of rates and, by the rates that lead there from a fixed place, of coordinates.
struct Outcome {
  std::vector<double> q, v;
  std::vector<double> from;
  double of(const System& system, const State& s) const {
    std::vector<double> way(v.size());
    for (const multibody::Link& link : system.data().tree.links())
      multibody::rates_between(link.kind, from.data() + link.q, s.q.data() + link.q, 1, way.data() + link.v);
    return dot(way, q) + dot(s.v, v);
  }
};

void compare_runs(Integrator integrator, unsigned seed, bool elements, double h, int steps) {
  Random random(2000 + seed);
  const System system = compile(Model(random_structure(seed, elements, 5)), exact_by(integrator));
  const State start = system.rest();
  const int n = system.data().tree.v_count();
  const Recorded here = run(system, start, h, steps);
  const Outcome outcome{random_numbers(random, n, 1), random_numbers(random, n, 0.3), here.end.q};
  std::vector<double> q_bar = outcome.q, v_bar = outcome.v;
  StepAdjoint adjoint(system);
  for (auto part = here.parts.rbegin(); part != here.parts.rend(); ++part) adjoint.back(*part, q_bar, v_bar);
  for (const bool of_rates : {false, true}) {
    const std::vector<double> way = random_numbers(random, n, 1);
    const auto at = [&](double by) {
      State s = start;
      if (of_rates)
        for (int k = 0; k < n; ++k) s.v[k] += by * way[k];
      else
        multibody::integrate(system.data().tree, start.q.data(), way.data(), by, s.q.data());
      return outcome.of(system, run(system, s, h, steps).end);
    };
    const double d = 2e-4;
    const double wanted = (8 * (at(d) - at(-d)) - (at(2 * d) - at(-2 * d))) / (12 * d);
    double size = 0;
    for (int k = 0; k < n; ++k) size = std::max(size, std::abs((of_rates ? v_bar : q_bar)[k]));
    // 1e-7 of the gradient's own size: what the differences are good for.
    EXPECT_NEAR(dot(of_rates ? v_bar : q_bar, way), wanted, 1e-7 * size)
        << to_string(integrator) << " seed " << seed << (of_rates ? " rates" : " coordinates");
  }
}

TEST(StepAdjoint, RunsOfAllIntegratorsAgainstDifferences) {
  for (const Integrator integrator : all_integrators)
    for (unsigned seed = 0; seed < 8; ++seed) compare_runs(integrator, seed, seed % 2 == 1, 0.01, 12);
}

// A structure's end by a mass, a stiffness, a length, and a spring of a joint that turns freely with its
// ease: one multiplier serves them all.
TEST(StepAdjoint, ParametersAgainstDifferences) {
  for (const Integrator integrator : all_integrators) {
    const auto model = [](const std::array<double, 5>& x) {
      const double mass = x[0], stiffness = x[1], reach = x[2];
      ModelParts parts = random_structure(3, true, 5);
      parts.bodies[2].inertia = Inertia::about_com(mass, {0.1, 0, 0.2}, math::sphere_inertia(mass, 0.2));
      parts.joints[1].law.stiffness[0] = stiffness;
      parts.joints[3].X_PF.p[1] = reach;
      Joint& free = parts.joints[2];
      free.kind = JointKind::spherical, free.law = {}, free.position = {0.3, -0.2, 0.1};
      free.law.stiffness = {x[3], 7, 7}, free.law.rest[1] = x[4];
      return Model(std::move(parts));
    };
    const std::array<double, 5> p{1.2, 12, 0.3, 9, 0.2};
    const auto with = [&](int k, double by) {
      std::array<double, 5> x = p;
      x[static_cast<std::size_t>(k)] += by;
      return compile(model(x), exact_by(integrator));
    };
    const System system = with(0, 0);
    const Recorded here = run(system, system.rest(), 0.01, 15);
    Random random(7);
    const int n = system.data().tree.v_count();
    const Outcome outcome{random_numbers(random, n, 1), random_numbers(random, n, 0.3), here.end.q};
    for (int k = 0; k < 5; ++k) {
      const double size = p[static_cast<std::size_t>(k)], d = 3e-5 * size;
      const System more = with(k, d), less = with(k, -d);
      const std::vector<int> apart = springs_apart(more.data(), less.data());
      EXPECT_EQ(!apart.empty(), k == 4);
      LinearDynamics up(with(k, d)), down(with(k, -d));
      std::vector<double> q_bar = outcome.q, v_bar = outcome.v;
      StepAdjoint adjoint(system);
      NumberGradient numbers(system.data());
      double found = 0, by_numbers = 0;
      for (auto part = here.parts.rbegin(); part != here.parts.rend(); ++part) {
        adjoint.back(*part, q_bar, v_bar);
        found += (adjoint.power(up) - adjoint.power(down)) / (2 * d);
        adjoint.add_to(numbers);
        by_numbers += (adjoint.power_of_elements(up) - adjoint.power_of_elements(down)) / (2 * d);
        by_numbers +=
            (adjoint.power_of_springs(apart, more.data()) - adjoint.power_of_springs(apart, less.data())) /
            (2 * d);
      }
      by_numbers += numbers.between(more.data(), less.data(), apart) / (2 * d);
      ASSERT_FALSE(differ_beyond_numbers(more.data(), less.data()));
      // Powers of whole links, of which the difference is a part: rounding.
      EXPECT_NEAR(by_numbers, found, 1e-8 * std::abs(found) + 1e-9)
          << to_string(integrator) << " parameter " << k;
      const auto at = [&](double by) {
        const System other = with(k, by * size);
        return outcome.of(other, run(other, other.rest(), 0.01, 15).end);
      };
      const double e = 1e-3;
      const double wanted = (8 * (at(e) - at(-e)) - (at(2 * e) - at(-2 * e))) / (12 * e * size);
      EXPECT_NEAR(found, wanted, 1e-7 * std::abs(wanted) + 1e-9)
          << to_string(integrator) << " parameter " << k;
    }
  }
}

}  // namespace
}  // namespace limber::articulated
