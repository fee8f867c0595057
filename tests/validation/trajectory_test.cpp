// Trajectories against reference solutions: planar pendulums (B1), a 3D chain of universal joints (B2), a
// free-floating chain (B6). Errors must fall at the method's order and reach 1e-6 at the smallest step.
#include <fmt/format.h>

#include <cmath>

#include "limber/articulated/system.h"
#include "limber/multibody/kinematics.h"
#include "tests/support/reference.h"

namespace limber {
namespace {

using articulated::Integrator;
using articulated::State;
using articulated::System;
using limber::testing::numbers;
using limber::testing::reference;
using limber::testing::run_samples;
using limber::testing::vector3;

// From errors at steps h and h/factor: log(e1/e2)/log(factor).
double order(double coarse, double fine, double factor) { return std::log(coarse / fine) / std::log(factor); }

// Fourth order: errors at h, h/2 and h/4.
template <class Error>
void check_fourth_order(const char* what, int per_sample, const Error& error) {
  for (const Integrator integrator : {Integrator::rk4, Integrator::gauss, Integrator::sdirk4}) {
    double e[3];
    for (int i = 0; i < 3; ++i) e[i] = error(integrator, per_sample << i);
    fmt::print("  {:<28} {:<7} steps per sample {:>4}: error {:.2e}, {:.2e}, {:.2e}; order {:.3f}, {:.3f}\n",
               what, to_string(integrator), per_sample, e[0], e[1], e[2], order(e[0], e[1], 2),
               order(e[1], e[2], 2));
    EXPECT_NEAR(order(e[1], e[2], 2), 4, 0.1) << what << ", " << to_string(integrator);
  }
}

void print(const char* what, int per_sample, double error) {
  fmt::print("  {:<28} steps per sample {:>6}  error {:.3e}\n", what, per_sample, error);
}

// Rods hang along −y at θ = 0; joint z axes along +z, relative angles.
Model pendulum(const nlohmann::json& data) {
  ModelBuilder b("pendulum");
  b.parts.gravity = VectorFunction::constant({0, -9.81, 0});
  const auto lengths = numbers(data["lengths"]), masses = numbers(data["masses"]),
             theta = numbers(data["theta0"]);
  BodyId parent = world;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    Body rod;
    rod.name = fmt::format("rod{}", i);
    const double inertia = masses[i] * lengths[i] * lengths[i] / 12;
    // Slender: no inertia about its own axis y.
    rod.inertia =
        Inertia::about_com(masses[i], {0, -lengths[i] / 2, 0}, Vec3(inertia, 0, inertia).asDiagonal());
    const BodyId child = b.add(rod);
    Joint j;
    j.name = fmt::format("joint{}", i);
    j.kind = JointKind::revolute;
    j.parent = parent;
    j.child = child;
    if (i > 0) j.X_PF = Pose::translation({0, -lengths[i - 1], 0});
    j.position[0] = i == 0 ? theta[0] : theta[i] - theta[i - 1];
    b.add(j);
    parent = child;
  }
  return b.build();
}

// Largest error of the absolute angles over the first 2 s.
double pendulum_error(const nlohmann::json& data, Integrator integrator, int per_sample) {
  const System system = articulated::compile(pendulum(data), {.integrator = integrator});
  const auto t = numbers(data["t"]);
  const double interval = t[1] - t[0];
  double error = 0;
  run_samples(system, interval, static_cast<int>(std::lround(2 / interval)), per_sample,
              [&](int k, const State& s) {
                double absolute = 0;
                for (std::size_t i = 0; i < s.q.size(); ++i) {
                  absolute += s.q[i];
                  error = std::max(error, std::abs(absolute - data["theta"][k][i].get<double>()));
                }
              });
  return error;
}

void check_pendulum(const char* name) {
  const auto data = reference("B1_planar_pendulums")["reference"][name];
  const int coarse = 200, fine = 800, finest = 4000;
  const double e1 = pendulum_error(data, Integrator::midpoint, coarse);
  const double e2 = pendulum_error(data, Integrator::midpoint, fine);
  const double e3 = pendulum_error(data, Integrator::midpoint, finest);
  print(name, coarse, e1), print(name, fine, e2), print(name, finest, e3);
  EXPECT_NEAR(order(e1, e2, 4), 2, 0.1);
  EXPECT_LT(e3, 1e-6);
  const double f1 = pendulum_error(data, Integrator::euler, 1600),
               f2 = pendulum_error(data, Integrator::euler, 6400);
  fmt::print("  {:<28} Euler's order {:.3f}\n", name, order(f1, f2, 4));
  EXPECT_NEAR(order(f1, f2, 4), 1, 0.15);
  check_fourth_order(name, 20, [&](Integrator integrator, int per_sample) {
    return pendulum_error(data, integrator, per_sample);
  });
}

TEST(Trajectory, DoublePendulum) { check_pendulum("double"); }
TEST(Trajectory, TriplePendulum) { check_pendulum("triple"); }

Model universal_chain(const nlohmann::json& data) {
  ModelBuilder b("universal chain");
  const auto q0 = numbers(data["q0"]);
  // Joint axes x, y of the universal are the problem's y, z: columns are the joint's axes in the link.
  Mat3 R;
  R.col(0) = Vec3::UnitY();
  R.col(1) = Vec3::UnitZ();
  R.col(2) = Vec3::UnitX();
  BodyId parent = world;
  for (int i = 0; i < 5; ++i) {
    Body link;
    link.name = fmt::format("link{}", i);
    link.inertia = Inertia::about_com(0.5, {0.15, 0, 0}, math::box_inertia(0.5, {0.3, 0.04, 0.02}));
    const BodyId child = b.add(link);
    Joint j;
    j.name = fmt::format("joint{}", i);
    j.kind = JointKind::universal;
    j.parent = parent;
    j.child = child;
    j.X_PF = {R, i == 0 ? Vec3(0, 0, 0) : Vec3(0.3, 0, 0)};
    j.X_BM = Pose::rotation(R);
    j.position = {q0[2 * i], q0[2 * i + 1]};
    b.add(j);
    parent = child;
  }
  return b.build();
}

double universal_error(const nlohmann::json& data, Integrator integrator, int per_sample) {
  const System system = articulated::compile(universal_chain(data), {.integrator = integrator});
  const auto t = numbers(data["reference"]["t"]);
  double error = 0;
  run_samples(system, t[1] - t[0], static_cast<int>(t.size()) - 1, per_sample, [&](int k, const State& s) {
    for (std::size_t i = 0; i < s.q.size(); ++i)
      error = std::max(error, std::abs(s.q[i] - data["reference"]["q"][k][i].get<double>()));
  });
  return error;
}

TEST(Trajectory, UniversalChain3D) {
  const auto data = reference("B2_universal_chain_3D");
  const int coarse = 200, fine = 800, finest = 3200;
  const double e1 = universal_error(data, Integrator::midpoint, coarse);
  const double e2 = universal_error(data, Integrator::midpoint, fine);
  const double e3 = universal_error(data, Integrator::midpoint, finest);
  print("universal chain", coarse, e1), print("universal chain", fine, e2),
      print("universal chain", finest, e3);
  check_fourth_order("universal chain", 40, [&](Integrator integrator, int per_sample) {
    return universal_error(data, integrator, per_sample);
  });
  EXPECT_NEAR(order(e1, e2, 4), 2, 0.1);
  EXPECT_LT(e3, 1e-6);
}

Model free_chain(const nlohmann::json& data) {
  ModelBuilder b("free chain");
  b.parts.gravity = VectorFunction::constant({0, 0, 0});
  const double masses[] = {0.5, 0.7, 0.9, 1.1};
  const Vec3 axes[] = {Vec3::UnitY(), Vec3::UnitZ(), Vec3(1, 0, 1).normalized()};
  const auto& initial = data["initial"];
  for (int i = 0; i < 4; ++i) {
    Body link;  // origin at the centre of mass
    link.name = fmt::format("link{}", i);
    link.inertia = Inertia::about_com(masses[i], {0, 0, 0}, math::box_inertia(masses[i], {0.3, 0.06, 0.03}));
    const BodyId child = b.add(link);
    Joint j;
    j.name = fmt::format("joint{}", i);
    j.child = child;
    if (i == 0) {
      j.kind = JointKind::free;
      j.position = {0, 0, 0, 0.15, 0, 0};
      const Vec3 omega = vector3(initial["link1_angular_velocity_world"]),
                 v = vector3(initial["link1_com_velocity"]);
      j.velocity = {omega[0], omega[1], omega[2], v[0], v[1], v[2]};
    } else {
      j.kind = JointKind::revolute;
      j.parent = BodyId{i - 1};
      const Mat3 R = math::rotation_from_z(axes[i - 1]);
      j.X_PF = {R, {0.15, 0, 0}};
      j.X_BM = {R, {-0.15, 0, 0}};
      j.velocity[0] = initial["joint_rates"][i - 1];
    }
    b.add(j);
  }
  return b.build();
}

struct FreeChainErrors {
  double position = 0, energy = 0, linear = 0, angular = 0;
};

FreeChainErrors free_chain_errors(const nlohmann::json& data, int per_sample,
                                  Integrator integrator = Integrator::midpoint) {
  const System system = articulated::compile(free_chain(data), {.integrator = integrator});
  const auto& r = data["reference"];
  const auto t = numbers(r["t"]);
  const multibody::Tree& tree = system.data().tree;
  std::vector<multibody::LinkMotion> links(4);
  const double E = r["kinetic_energy_J"];
  const Vec3 P = vector3(r["linear_momentum"]), L = vector3(r["angular_momentum_about_origin"]);
  FreeChainErrors e;
  run_samples(system, t[1] - t[0], static_cast<int>(std::lround(2 / (t[1] - t[0]))), per_sample,
              [&](int k, const State& s) {
                multibody::kinematics(tree, s.q.data(), s.v.data(), links);
                for (int i = 0; i < 4; ++i) {
                  const Vec3 com = links[i].X_WM * tree[i].inertia.com();
                  e.position = std::max(e.position, (com - vector3(r["link_com"][k][i])).norm());
                }
                const Vec6 momentum = multibody::momentum_in_world(tree, links);
                e.energy = std::max(e.energy, std::abs(multibody::kinetic_energy(tree, links) - E) / E);
                e.linear = std::max(e.linear, (momentum.tail<3>() - P).norm() / P.norm());
                e.angular = std::max(e.angular, (momentum.head<3>() - L).norm() / L.norm());
              });
  return e;
}

TEST(Trajectory, FreeChainKeepsEnergyAndMomentum) {
  const auto data = reference("B6_free_floating_chain");
  const auto e1 = free_chain_errors(data, 200), e2 = free_chain_errors(data, 800),
             e3 = free_chain_errors(data, 3200);
  for (const auto& [n, e] : {std::pair{100, e1}, {400, e2}, {3200, e3}})
    fmt::print(
        "  free chain, steps per sample {:>6}: position {:.2e} energy {:.2e} momentum {:.2e} angular "
        "{:.2e}\n",
        n, e.position, e.energy, e.linear, e.angular);
  check_fourth_order("free chain", 10, [&](Integrator integrator, int per_sample) {
    return free_chain_errors(data, per_sample, integrator).position;
  });
  EXPECT_NEAR(order(e1.position, e2.position, 4), 2, 0.1);
  EXPECT_NEAR(order(e1.energy, e2.energy, 4), 2, 0.1);
  EXPECT_NEAR(order(e1.linear, e2.linear, 4), 2, 0.1);
  EXPECT_NEAR(order(e1.angular, e2.angular, 4), 2, 0.1);
  EXPECT_LT(e3.position, 1e-6);
  EXPECT_LT(e3.energy, 1e-7);
  EXPECT_LT(e3.linear, 1e-7);
  EXPECT_LT(e3.angular, 1e-7);
}

}  // namespace
}  // namespace limber
