// Controllers and events against closed forms: linear plants by the exponential of their matrix, sampled
// controllers by their exact recurrence, what is released by its free flight; and resumed to the last bit.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <string>

#include "limber/scene/scene.h"
#include "limber/sim/driver.h"

namespace limber {
namespace {

using articulated::Integrator;

struct Ran {
  sim::Driver driver;
  result::Snapshot shot;
  double at(const std::string& column) {
    driver.observe(shot);
    for (std::size_t i = 0; i < driver.layout().scalars.size(); ++i)
      if (driver.layout().scalars[i].name == column) return shot.scalars[i];
    ADD_FAILURE() << "no column " << column;
    return NAN;
  }
};

sim::Driver driver_of(const std::string& text, Integrator integrator = Integrator::midpoint) {
  scene::Scene scene = scene::parse("limber: 1\n" + text, "controls.yaml");
  scene.run.articulated.integrator = integrator;
  return {scene.model, scene.run};
}

void advance(sim::Driver& driver, double h, int steps) {
  for (int i = 0; i < steps; ++i) {
    const auto report = driver.step(h);
    ASSERT_TRUE(report.ok()) << report.message;
    if (driver.conductor() && driver.conductor()->stopped_at()) return;
    driver.set_clock(driver.steps(), static_cast<double>(driver.steps()) * h);
  }
}

Ran ran(const std::string& text, double h, int steps, Integrator integrator = Integrator::midpoint) {
  Ran out{driver_of(text, integrator), {}};
  advance(out.driver, h, steps);
  return out;
}

// A mass of 2 kg on a slide along x; no weight.
std::string slide(const std::string& joint, const std::string& more) {
  return "gravity: [0, 0, 0]\nbodies: {m: {mass: 2 kg, sphere: 1 cm}}\n"
         "joints: {s: {type: prismatic, child: m, axis: [1, 0, 0], " +
         joint + "}}\nprobes: [s.position, s.velocity]\n" + more;
}

using Matrix = Eigen::Matrix4d;
// exp(A t) by its series, of A t/1024 and squared ten times: exact to rounding.
Eigen::Vector4d flow(const Matrix& A, double t, const Eigen::Vector4d& x) {
  const Matrix B = A * (t / 1024);
  Matrix E = Matrix::Identity(), power = E;
  for (int k = 1; k < 20; ++k) power = power * B / k, E += power;
  for (int k = 0; k < 10; ++k) E = (E * E).eval();
  return E * x;
}

constexpr Integrator all[] = {
    Integrator::euler, Integrator::implicit_euler, Integrator::midpoint, Integrator::sdirk,
    Integrator::rk4,   Integrator::gauss,          Integrator::sdirk4};

// Errors with h and h/2 fall by the order of the integrator, to a tenth of an order.
void expect_order(const std::string& text, double exact, double h, const char* column) {
  for (const Integrator by : all) {
    const int n = static_cast<int>(std::lround(1 / h));
    const double e1 = std::abs(ran(text, h, n, by).at(column) - exact);
    const double e2 = std::abs(ran(text, h / 2, 2 * n, by).at(column) - exact);
    EXPECT_GT(std::log2(e1 / e2), articulated::order_of(by) - 0.25)
        << to_string(by) << " " << e1 << " " << e2;
    EXPECT_LT(e2, 0.05) << to_string(by);
  }
}

TEST(Controllers, PDOnAMassIsADampedOscillator) {
  const double w = std::sqrt(50.0 / 2 - 0.5 * 0.5), d = 0.5;  // k/m − (c/2m)², c/2m
  const double exact = 0.3 * std::exp(-d) * (std::cos(w) + d / w * std::sin(w));
  expect_order(slide("position: 0.3 m", "controllers: {c: {joint: s, reads: s.position, kp: 50, kd: 2}}\n"),
               exact, 0.02, "s.position");
}

// m ẍ = kp (r − x) + ki ∫(r − x) dt − kd ẋ; of (x, ẋ, I, 1).
TEST(Controllers, PIDStepResponseOfADoubleIntegrator) {
  const double kp = 40, ki = 30, kd = 8, r = 0.2, m = 2;
  Matrix A = Matrix::Zero();
  A(0, 1) = 1;
  A.row(1) << -kp / m, -kd / m, ki / m, kp * r / m;
  A.row(2) << -1, 0, 0, r;
  const double exact = flow(A, 1, {0, 0, 0, 1})[0];
  expect_order(
      slide("", "controllers: {c: {joint: s, reads: s.position, target: 0.2, kp: 40, ki: 30, kd: 8}}\n"),
      exact, 0.02, "s.position");
}

// … and by steps that an error chooses: 1e-7 of the size (1 m: what it is measured by has no other) in each
// of 20.
TEST(Controllers, PIDKeepsAWantedError) {
  const double kp = 40, ki = 30, kd = 8, r = 0.2, m = 2;
  Matrix A = Matrix::Zero();
  A(0, 1) = 1;
  A.row(1) << -kp / m, -kd / m, ki / m, kp * r / m;
  A.row(2) << -1, 0, 0, r;
  const double exact = flow(A, 1, {0, 0, 0, 1})[0];
  for (const Integrator by : {Integrator::midpoint, Integrator::rk4, Integrator::gauss, Integrator::sdirk4}) {
    Ran it = ran(slide("",
                       "controllers: {c: {joint: s, reads: s.position, target: 0.2, kp: 40, ki: 30, kd: 8}}\n"
                       "run: {time: 1, step: 50 ms, error: 1e-7}\n"),
                 0.05, 20, by);
    EXPECT_NEAR(it.at("s.position"), exact, 20 * 1e-7) << to_string(by);
  }
}

// A plant of first order: m v̇ = −c v + kp (r − v) + ki ∫(r − v) dt.
TEST(Controllers, PIOnTheRateOfAPlantOfFirstOrder) {
  const double kp = 4, ki = 12, c = 3, r = 0.5, m = 2;
  Matrix A = Matrix::Zero();
  A(0, 1) = 1;
  A.row(1) << 0, -(kp + c) / m, ki / m, kp * r / m;
  A.row(2) << 0, -1, 0, r;
  const double exact = flow(A, 1, {0, 0, 0, 1})[1];
  expect_order(slide("damping: 3 N*s/m",
                     "controllers: {c: {joint: s, reads: s.velocity, target: 0.5, kp: 4, ki: 12}}\n"),
               exact, 0.02, "s.velocity");
}

// Stiff gains with a long step: as implicit as a servo, whose force is the same.
TEST(Controllers, PDIsTheServo) {
  const std::string servo = slide("drive: {servo: {target: 0.1*sin(3*t), kp: 2e6, kd: 3e3}}", "");
  const std::string pid =
      slide("", "controllers: {c: {joint: s, reads: s.position, target: 0.1*sin(3*t), kp: 2e6, kd: 3e3}}\n");
  for (const Integrator by :
       {Integrator::euler, Integrator::midpoint, Integrator::sdirk, Integrator::gauss}) {
    Ran a = ran(servo, 0.01, 50, by), b = ran(pid, 0.01, 50, by);
    EXPECT_NEAR(a.at("s.position"), b.at("s.position"), 1e-13) << to_string(by);
  }
}

// u_k = kp e_k + ki I_k + kd (e_k − e_{k−1})/T held over T: constant acceleration, which every integrator of
// second order has exactly. Samples do not fall on steps.
TEST(Controllers, SampledByTheExactRecurrence) {
  const double T = 0.05, kp = 20, ki = 10, kd = 6, m = 2, r = 0.1, limit = 1.2;
  double x = 0, v = 0, I = 0, last = 0;
  for (int k = 0; k < 20; ++k) {
    const double e = r - x, u = kp * e + ki * I + kd * (k == 0 ? 0 : (e - last) / T);
    const double f = std::min(u, limit);
    x += v * T + 0.5 * f / m * T * T, v += f / m * T;
    if (!(u > limit && e > 0)) I += T * e;
    last = e;
  }
  const std::string keys = ", target: 0.1, kp: 20, ki: 10, kd: 6, limits: 1.2 N, period: 50 ms}}\n";
  for (const char* reads : {"s.position", "m.position.x"})
    for (const Integrator by : {Integrator::midpoint, Integrator::gauss, Integrator::rk4}) {
      Ran a = ran(slide("", "controllers: {c: {joint: s, reads: " + std::string(reads) + keys), 0.02, 50, by);
      EXPECT_NEAR(a.at("s.position"), x, 1e-13) << reads << " " << to_string(by);
      EXPECT_NEAR(a.at("s.velocity"), v, 1e-12) << reads << " " << to_string(by);
      EXPECT_NEAR(a.at("energy.remainder"), 0, 1e-13) << "its work is booked";
    }
}

// Without a period, another probe is read where steps start: a period of one step.
TEST(Controllers, AnotherProbeIsReadWhereStepsStart) {
  const std::string text = "controllers: {c: {joint: s, reads: m.position.x, target: 0.1, kp: 20, kd: 6";
  Ran a = ran(slide("", text + "}}\n"), 0.02, 50), b = ran(slide("", text + ", period: 20 ms}}\n"), 0.02, 50);
  EXPECT_NEAR(a.at("s.position"), b.at("s.position"), 1e-14);
  EXPECT_NEAR(a.at("s.position"), 0.1, 0.05);
}

// A target far off with a force of 3 N at most: x = ½ (3/2) t² while it is cut, and no integral grows.
TEST(Controllers, CutForcesWindNothingUp) {
  Ran a = ran(
      slide("", "controllers: {c: {joint: s, reads: s.position, target: 10, kp: 5, ki: 4, limits: 3 N}}\n"),
      0.01, 100);
  EXPECT_NEAR(a.at("s.position"), 0.75, 1e-12);
  Ran b = ran(
      slide(
          "",
          "controllers: {c: {joint: s, reads: s.position, target: 1, kp: 20, ki: 8, kd: 12, limits: 3 N}}\n"),
      0.01, 800);
  EXPECT_NEAR(b.at("s.position"), 1, 0.02) << "settles; wound up it would still be beyond";
}

TEST(Controllers, WorkIsBookedAsTheDrives) {
  std::string text =
      slide("position: 0.3 m", "controllers: {c: {joint: s, reads: s.position, kp: 50, ki: 3, kd: 2}}\n");
  text.insert(text.find("s.velocity]"), "s.drive.work, ");
  Ran a = ran(text, 0.001, 500, Integrator::gauss);
  EXPECT_NEAR(a.at("s.drive.work"), a.at("energy.kinetic"), 1e-9);
}

// --- events

// A bar of 1 m, 3 kg, hung at the origin and let go from the side: released on its way.
std::string pendulum(const std::string& events) {
  return "bodies: {bar: {mass: 3 kg, inertia: [0.01, 0.25, 0.25], at: [0.5, 0, 0]}}\n"
         "joints: {hinge: {type: revolute, child: bar, at: [0, 0, 0], axis: [0, 1, 0]}}\n"
         "probes: [hinge.angle, bar.position, bar.velocity, bar.angular_velocity, bar.momentum, "
         "bar.angular_momentum, hinge.reaction.force]\n" +
         events;
}
const std::string let_go =
    "events: {let_go: {when: {reads: hinge.angle, above: 60 deg}, release: {joint: hinge}}}\n";

TEST(Events, APendulumThatIsReleasedFliesAParabola) {
  Ran a = ran(pendulum(let_go), 0.0025, 1, Integrator::gauss);
  while (a.driver.conductor()->happened().empty()) advance(a.driver, 0.0025, 1);
  const double t0 = a.driver.conductor()->happened()[0].acted;
  // ½ J ω² = m g ½ sin 60°, J = I + m/4.
  const double J = 0.25 + 0.75, speed = std::sqrt(2 * 3 * 9.81 * 0.5 * std::sin(pi / 3) / J);
  const double t = a.driver.time() - t0;  // of flight so far
  EXPECT_GT(t, 0);
  EXPECT_LT(t, 0.0025);
  // The centre turns at ½ m: it leaves at right angles to the bar.
  const Vec3 v0(-0.5 * speed * std::sin(pi / 3), 0, -0.5 * speed * std::cos(pi / 3));
  const Vec3 x0(0.5 * std::cos(pi / 3), 0, -0.5 * std::sin(pi / 3));
  for (int i = 0; i < 2; ++i) {
    const double s = a.driver.time() - t0;
    EXPECT_NEAR(a.at("bar.velocity.x"), v0.x(), 1e-8);
    EXPECT_NEAR(a.at("bar.velocity.z"), v0.z() - 9.81 * s, 1e-8);
    EXPECT_NEAR(a.at("bar.position.x"), x0.x() + v0.x() * s, 1e-8);
    EXPECT_NEAR(a.at("bar.position.z"), x0.z() + v0.z() * s - 0.5 * 9.81 * s * s, 1e-8);
    EXPECT_NEAR(a.at("bar.angular_velocity.y"), speed, 1e-8);
    advance(a.driver, 0.0025, 200);
  }
  EXPECT_NEAR(a.at("energy.remainder"), 0, 1e-8);
}

// From the moment before to the one after nothing jumps: the same as where it is still held.
TEST(Events, MomentumIsKept) {
  const auto pendulum_until = [](const char* at) {
    return pendulum(std::string("events: {let_go: {at: ") + at + ", release: {joint: hinge}}}\n");
  };
  for (const Integrator by : all) {
    Ran free = ran(pendulum_until("0.2 s"), 0.01, 20, by), held = ran(pendulum_until("9 s"), 0.01, 20, by);
    ASSERT_EQ(free.driver.conductor()->happened().size(), 1u);
    for (const char* column :
         {"bar.momentum.x", "bar.momentum.z", "bar.angular_momentum.y", "bar.position.x"})
      EXPECT_NEAR(free.at(column), held.at(column), 1e-12) << to_string(by) << " " << column;
    EXPECT_LT(std::abs(free.at("hinge.reaction.force.x")) + std::abs(free.at("hinge.reaction.force.z")),
              1e-12);
    EXPECT_GT(std::abs(held.at("hinge.reaction.force.z")), 1);
  }
}

// The order of the integrator stands over the release.
TEST(Events, TheOrderStands) {
  const auto end = [](double h, Integrator by) {
    return ran(pendulum(let_go), h, static_cast<int>(std::lround(0.8 / h)), by).at("bar.position.x");
  };
  const double exact = end(0.8 / 2048, Integrator::gauss);
  for (const Integrator by : {Integrator::midpoint, Integrator::gauss, Integrator::rk4}) {
    const double e1 = std::abs(end(0.02, by) - exact), e2 = std::abs(end(0.01, by) - exact);
    EXPECT_GT(std::log2(e1 / e2), articulated::order_of(by) - 0.4) << to_string(by) << " " << e1 << " " << e2;
  }
}

TEST(Events, ATimeOfAStopIsThatOfTheFall) {
  const std::string fall =
      "bodies: {ball: {mass: 1 kg, sphere: 1 cm, at: [0, 0, 1]}}\n"
      "events: {landed: {when: {reads: ball.position.z, below: 0}, stop: true}}\n";
  for (const Integrator by : {Integrator::gauss, Integrator::rk4, Integrator::midpoint}) {
    const Ran a = ran(fall, 0.01, 100, by);
    ASSERT_TRUE(a.driver.conductor()->stopped_at());
    EXPECT_NEAR(*a.driver.conductor()->stopped_at(), std::sqrt(2 / 9.81), 1e-12) << to_string(by);
  }
}

// x = 0.1 cos 5t passes 0.05 downwards at π/15, and back up at 5π/15.
TEST(Events, ATimeOfAnOscillator) {
  const auto stop_at = [](const std::string& how) {
    const Ran a = ran(slide("position: 0.1 m, stiffness: 50 N/m",
                            "events: {e: {when: {reads: s.position, " + how + ": 5 cm}, stop: true}}\n"),
                      0.005, 400, Integrator::gauss);
    return a.driver.conductor()->stopped_at().value_or(0);
  };
  EXPECT_NEAR(stop_at("below"), pi / 15, 1e-9);
  EXPECT_NEAR(stop_at("passes"), pi / 15, 1e-9);
  EXPECT_NEAR(stop_at("above"), pi / 3, 1e-9);
}

// Pulled out by 10 cm, released at x = 0: v = 0.1 ω from then on, and the spring has given all it had.
TEST(Events, AMassLeavesItsSpring) {
  Ran a =
      ran("gravity: [0, 0, 0]\nbodies: {m: {mass: 2 kg, sphere: 1 cm, at: [1.1, 0, 0]}}\n"
          "springs: {k: {between: [world, m], stiffness: 50 N/m, rest_length: 1 m}}\n"
          "probes: [m.position, m.velocity, k.tension]\n"
          "events: {off: {when: {reads: m.position.x, below: 1.05}, release: {spring: k}}}\n",
          0.005, 200, Integrator::gauss);
  const double t = pi / 15;  // cos = ½
  const double v = -0.5 * std::sin(pi / 3);
  EXPECT_NEAR(a.at("m.velocity.x"), v, 1e-9);
  EXPECT_NEAR(a.at("m.position.x"), 1.05 + v * (1 - t), 1e-9);
  EXPECT_EQ(a.at("k.tension"), 0);
  EXPECT_NEAR(a.at("energy.work"), -0.5 * 50 * 0.05 * 0.05, 1e-9)
      << "what is left in the spring is taken away";
  EXPECT_NEAR(a.at("energy.remainder"), 0, 1e-9);
}

TEST(Events, AMotorIsSwitchedOffAndOn) {
  Ran a = ran(slide("drive: {force: 4 N}",
                    "events:\n  off: {at: 0.1237 s, switch: {drive: s, on: false}}\n"
                    "  on: {at: 0.5 s, delay: 0.0111 s, switch: {drive: s, on: true}}\n"
                    "  other: {at: 0.6 s, switch: {drive: s, target: -1 N}}\n"),
              0.01, 100);
  EXPECT_NEAR(a.at("s.velocity"), 2 * 0.1237 + 2 * (0.6 - 0.5111) - 0.5 * 0.4, 1e-12);
  ASSERT_EQ(a.driver.conductor()->happened().size(), 3u);
  EXPECT_NEAR(a.driver.conductor()->happened()[1].acted, 0.5111, 1e-12);
}

TEST(Events, LoadsAndControllersAreSwitched) {
  Ran a = ran(slide("",
                    "loads: {f: {on: m, force: [4 N, 0, 0]}}\n"
                    "events:\n  off: {at: 0.1237 s, switch: {load: f, on: false}}\n"),
              0.01, 100);
  EXPECT_NEAR(a.at("s.velocity"), 2 * 0.1237, 1e-12);
  Ran b = ran(
      slide(
          "",
          "controllers: {c: {joint: s, reads: m.position.x, target: 1, kp: 4, period: 10 ms, limits: 2 N}}\n"
          "events:\n  off: {at: 0.125 s, switch: {controller: c, on: false}}\n"),
      0.01, 100);
  EXPECT_NEAR(b.at("s.velocity"), 0.125, 1e-12);
}

// Twice a period, up and down.
TEST(Events, AgainAndAgain) {
  const Ran a = ran(slide("position: 0.1 m, stiffness: 50 N/m",
                          "loads: {f: {on: m, force: [0, 0, 0]}}\n"
                          "events: {e: {when: {reads: s.position, passes: 5 cm}, again: true, switch: {load: "
                          "f, on: false}}}\n"),
                    0.005, 600, Integrator::gauss);
  EXPECT_EQ(a.driver.conductor()->happened().size(), 5u);  // 3 s: 2.39 periods
}

// A closing joint, a tie and a coupling: the parts go on alone.
TEST(Events, LoopsAndCouplingsAreReleased) {
  const std::string arms =
      "gravity: [0, 0, 0]\nbodies: {a: {mass: 1 kg, inertia: [0.01, 0.01, 0.01]}, b: {mass: 1 kg, inertia: "
      "[0.01, 0.01, 0.01], at: [1, 0, 0]}}\n"
      "joints: {ja: {type: revolute, child: a, axis: [0, 1, 0], velocity: 3 rad/s},\n"
      "  jb: {type: revolute, child: b, axis: [0, 1, 0], drive: {force: 1 N*m}}}\nprobes: [ja.velocity, "
      "jb.velocity]\n";
  Ran a = ran(arms +
                  "couplings: {g: {gear: [ja, jb], ratio: 1}}\n"
                  "events: {e: {at: 0.1 s, release: {coupling: g}}}\n",
              0.01, 20, Integrator::gauss);
  // Together they gain 50 rad/s², then b alone 100.
  const double v0 = a.at("ja.velocity");
  EXPECT_NEAR(a.at("jb.velocity"), v0 + 10, 1e-9);
  advance(a.driver, 0.01, 10);
  EXPECT_NEAR(a.at("ja.velocity"), v0, 1e-12);
  Ran b =
      ran("bodies: {m: {mass: 1 kg, sphere: 5 cm}}\nties: {hold: {on: m, type: fixed}}\n"
          "probes: [m.position, m.velocity, hold.reaction.force]\n"
          "events: {e: {at: 0.305 s, release: {tie: hold}}}\n",
          0.01, 30, Integrator::gauss);
  EXPECT_NEAR(b.at("hold.reaction.force.z"), 9.81, 1e-9);
  EXPECT_NEAR(b.at("m.position.z"), 0, 1e-12);
  advance(b.driver, 0.01, 70);
  EXPECT_NEAR(b.at("m.position.z"), -0.5 * 9.81 * 0.695 * 0.695, 1e-11);
  EXPECT_NEAR(b.at("hold.reaction.force.z"), 0, 1e-12);
}

// A thread that an event lets go moves as one whose clamp has that `until`.
TEST(Events, AClampOfAThreadLetsGo) {
  const auto text = [](const std::string& clamp, const std::string& more) {
    return "materials: {rubber: {E: 10 MPa, density: 1000 kg/m3}}\nsections: {round: {circle: 3 mm}}\n"
           "beams: {cord: {path: [[0, 0, 0], [30 cm, 0, 0]], material: rubber, section: round, elements: 8, "
           "clamps: [{at: 1" +
           clamp + "}]}}\nprobes: [cord.tip.position]\n" + more + "run: {method: thread, step: 1 ms}\n";
  };
  scene::Scene a = scene::parse("limber: 1\n" + text(", until: 50 ms", ""), "a.yaml");
  scene::Scene b = scene::parse(
      "limber: 1\n" + text("", "events: {e: {at: 50 ms, release: {beam: cord, clamp: 0}}}\n"), "b.yaml");
  Ran x{sim::Driver(a.model, a.run), {}}, y{sim::Driver(b.model, b.run), {}};
  advance(x.driver, 0.001, 120), advance(y.driver, 0.001, 120);
  EXPECT_LT(x.at("cord.tip.position.z"), -0.01);
  // The one divides a step at 50 ms as its sum of steps has it, the other where k · h is: rounding of a time.
  EXPECT_NEAR(x.at("cord.tip.position.z"), y.at("cord.tip.position.z"), 1e-12);
}

// Saved before, between and after events, and loaded into a run that has seen none of them.
TEST(Events, AStateIsResumedBitForBit) {
  const std::string text =
      "bodies: {bar: {mass: 3 kg, inertia: [0.01, 0.25, 0.25], at: [0.5, 0, 0]}, cart: {mass: 1 kg, sphere: "
      "5 cm, at: [0, 1, 0]}}\n"
      "joints: {hinge: {type: revolute, child: bar, at: [0, 0, 0], axis: [0, 1, 0]},\n"
      "  s: {type: prismatic, child: cart, axis: [1, 0, 0]}}\n"
      "controllers:\n  c: {joint: s, reads: bar.position.x, target: 0.2, kp: 5, ki: 3, kd: 1, period: 7 ms}\n"
      "  d: {joint: s, reads: s.position, kp: 3, ki: 2}\n"
      "events:\n  let_go: {when: {reads: hinge.angle, above: 60 deg}, delay: 0.03 s, release: {joint: "
      "hinge}}\n"
      "  off: {at: 0.2 s, switch: {controller: c, on: false}}\n  on: {at: 0.4 s, switch: {controller: c, on: "
      "true}}\n"
      "  goal: {at: 0.5 s, switch: {controller: d, target: 1}}\n";
  for (const int cut : {5, 25, 45, 70}) {
    sim::Driver whole = driver_of(text), first = driver_of(text), second = driver_of(text);
    advance(whole, 0.01, 100), advance(first, 0.01, cut);
    second.load(first.save());
    second.set_clock(cut, cut * 0.01);
    advance(second, 0.01, 100 - cut);
    EXPECT_EQ(whole.save(), second.save()) << cut;
  }
}

}  // namespace
}  // namespace limber
