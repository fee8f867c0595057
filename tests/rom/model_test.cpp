// The file of a reduced model, refusals by name, points chosen by error, blending without a jump, contact and
// limits.
#include <gtest/gtest.h>

#include <cmath>

#include "limber/elastic/beam_links.h"
#include "limber/rom/live.h"
#include "limber/rom/statics.h"
#include "limber/scene/scene.h"
#include "limber/sim/driver.h"
#include "limber/sim/reduce.h"

namespace limber::rom {
namespace {

scene::Scene shipped(const char* name) {
  return scene::load(std::string(LIMBER_SCENES) + "/" + name + ".yaml");
}

std::string refusal(const std::string& text) {
  const scene::Scene scene = scene::parse(text, "test.yaml");
  try {
    sim::reduce(scene.model, scene.run.rom);
  } catch (const ModelError& e) {
    return e.what();
  }
  return "";
}

const std::string two_links =
    "limber: 1\nbodies:\n  a: {box: [1, 1, 1]}\n  b: {box: [1, 1, 1], at: [2, 0, 0]}\njoints:\n  j: {type: "
    "revolute, "
    "child: a, axis: [0, 1, 0], stiffness: 5}\n";

TEST(Refuses, WhatCannotBeReduced) {
  const auto with = [&](const std::string& more, const std::string& ends) {
    return refusal(two_links + more + "run: {method: rom, rom: {ends: " + ends + "}}\n");
  };
  // b is not connected with a: it flies, and is not the mechanism's.
  EXPECT_NE(with("", "[b]").find("\"b\""), std::string::npos) << with("", "[b]");
  EXPECT_NE(with("", "[c]").find("no body \"c\""), std::string::npos);
  EXPECT_NE(with("  k: {type: revolute, parent: a, child: b, axis: [0, 1, 0]}\ngravity: [0, 0, 0]\n", "[b]")
                .find("free"),
            std::string::npos)
      << with("  k: {type: revolute, parent: a, child: b, axis: [0, 1, 0]}\ngravity: [0, 0, 0]\n", "[b]");
  EXPECT_NE(with("  k: {type: fixed, parent: world, child: b}\n", "[b]").find("base"), std::string::npos);
  EXPECT_NE(with("wind: {velocity: [1, 0, 0]}\n", "[a]").find("wind"), std::string::npos);
}

TEST(File, ComesBackWithEveryBit) {
  const scene::Scene scene = shipped("compliant-loop");
  ModelFile file{sim::reduce(scene.model, scene.run.rom), "limber: 1\n"};
  const std::string bytes = save(file);
  const ModelFile back = load(bytes);
  EXPECT_EQ(save(back), bytes);
  EXPECT_EQ(back.scene, file.scene);
  EXPECT_EQ(back.model.mechanisms[0].points[1].chart, file.model.mechanisms[0].points[1].chart);
  std::string wrong = bytes;
  wrong[bytes.size() / 2] = static_cast<char>(wrong[bytes.size() / 2] ^ 1);
  EXPECT_THROW(load(wrong), std::invalid_argument);
  EXPECT_THROW(load(bytes.substr(0, bytes.size() - 1)), std::invalid_argument);
  EXPECT_THROW(load("limber: 1"), std::invalid_argument);
  wrong = bytes;
  wrong[11] = 99;  // version
  EXPECT_THROW(load(wrong), std::invalid_argument);
}

// Under 2 % of the size within the asked range, on loads that were not used to make it.
TEST(Points, ChosenByError) {
  const scene::Scene scene = shipped("y-mechanism");
  Options options = scene.run.rom;
  options.build.modes = 0;
  options.force = 4;
  options.most_points = 40;
  const ReducedModel one = sim::reduce(scene.model, scene.run.rom);
  const ReducedModel many = sim::reduce(scene.model, options);
  const Mechanism& m = many.mechanisms[0];
  std::printf("%zu points, end %.4f gap %.4f of %d tested\n", m.points.size(), m.quality.end, m.quality.gap,
              m.quality.tested);
  EXPECT_LT(m.quality.end, 0.02);
  EXPECT_LT(m.quality.gap, options.gap_error);
  EXPECT_GE(m.quality.tested, 437);
  EXPECT_GT(m.quality.share, 0.9899);
}

// Along a line of coordinates neither the force nor where a link is ever jumps.
TEST(Blend, NothingJumps) {
  const scene::Scene scene = shipped("y-mechanism");
  Options options = scene.run.rom;
  options.build.modes = 0;
  for (int k = 1; k <= 10; ++k) {
    const Vec3 f(0.3 * k, 0.2 * (k % 3), 0.1 * (k % 2));
    options.points.push_back({0, {{k % 2 ? "left.2" : "right.2", f, Vec3::Zero()}}});
  }
  const ReducedModel reduced = sim::reduce(scene.model, options);
  const Mechanism& m = reduced.mechanisms[0];
  Blend blend(m);
  const auto jump = [&](int steps) {
    VecX last;
    MatX last_J;
    double worst = 0, worst_J = 0;
    for (int k = 0; k <= steps; ++k) {
      for (int c = 0; c < m.coordinates(); ++c) blend.at[c] = 0.1 * (c % 3 - 1.2) * k / steps;
      blend_at(m, blend);
      const MatX J = link_map(m, blend, 3);
      if (k > 0) {
        worst = std::max(worst, (blend.force - last).norm());
        worst_J = std::max(worst_J, (J - last_J).norm());
      }
      last = blend.force, last_J = J;
    }
    return std::pair(worst, worst_J);
  };
  // Steps are halved; what is continuous halves.
  const auto coarse = jump(2000), fine = jump(4000);
  EXPECT_LT(fine.first, 0.7 * coarse.first);
  EXPECT_LT(fine.second, 0.7 * coarse.second);
}

struct Ran {
  std::vector<result::Snapshot> frames;
  result::Layout layout;
  double value(std::size_t frame, const std::string& name) const {
    for (std::size_t k = 0; k < layout.scalars.size(); ++k)
      if (layout.scalars[k].name == name) return frames[frame].scalars[k];
    ADD_FAILURE() << name;
    return 0;
  }
};

std::size_t frame_of(const Ran& r, const std::string& body) {
  for (std::size_t f = 0; f < r.layout.frames.size(); ++f)
    if (r.layout.frames[f].name == body) return f;
  ADD_FAILURE() << body;
  return 0;
}

Ran run(const scene::Scene& scene, double time, int every) {
  sim::Driver driver(scene.model, scene.run);
  Ran out;
  out.layout = driver.layout();
  const int steps = static_cast<int>(std::llround(time / scene.run.step));
  for (int k = 0; k <= steps; ++k) {
    if (k % every == 0) {
      out.frames.emplace_back();
      driver.observe(out.frames.back());
    }
    const auto report = driver.step(scene.run.step);
    EXPECT_TRUE(report.ok()) << report.message;
    if (!report.ok()) break;
    driver.set_clock(k + 1, (k + 1) * scene.run.step);
  }
  return out;
}

// A minute: after the weight has come on, at 1.5 s, the ball stays, and no force leaves its cone at any time.
TEST(Hand, HoldsTheBall) {
  const Ran r = run(shipped("hand"), 61.5, 50);
  const std::size_t start = 15, n = r.frames.size();
  double drift = 0, violation = 0, overlap = 0;
  for (std::size_t k = start; k < n; ++k)
    for (const char* axis : {"x", "y", "z"}) {
      const std::string name = std::string("ball.position.") + axis;
      drift = std::max(drift, std::abs(r.value(k, name) - r.value(start, name)));
    }
  for (std::size_t k = 0; k < n; ++k) {
    violation = std::max(violation, r.value(k, "contact.cone_violation"));
    overlap = std::max(overlap, r.value(k, "contact.overlap"));
  }
  std::printf("60 s: drift %.2e m, cone violated by %.2e, at z = %.4f m, overlap up to %.2e m\n", drift,
              violation, r.value(n - 1, "ball.position.z"), overlap);
  EXPECT_GE(r.value(n - 1, "contact.count"), 3);
  EXPECT_LT(violation, 1e-6);
  EXPECT_LT(drift, 1e-3);
  EXPECT_GT(r.value(n - 1, "ball.position.z"), -0.03);
}

// A point asked for while it runs is the point that would have been asked for at the start.
TEST(Points, AddedLater) {
  const scene::Scene scene = shipped("y-mechanism");
  rom::Options options = scene.run.rom;
  ReducedModel later = sim::reduce(scene.model, options);
  options.points.push_back({0.3, {{"left.2", Vec3(1, 0.5, 0), Vec3(0, 0.1, 0)}}});
  sim::add_point(scene.model, later, options.points.back(), options.build);
  EXPECT_EQ(save({later, ""}), save({sim::reduce(scene.model, options), ""}));
  EXPECT_THROW(
      sim::add_point(scene.model, later, {0, {{"trunk.0", Vec3(1, 0, 0), Vec3::Zero()}}}, options.build),
      ModelError);
}

TEST(Points, LeavingTheirRangeIsSaid) {
  for (const double pull : {0.5, 4.0}) {  // along x and y; swinging, it comes to 1.4 N
    scene::LoadOptions load;
    load.set.emplace_back("pull", std::to_string(pull) + " N");
    scene::Scene scene = scene::load(std::string(LIMBER_SCENES) + "/y-mechanism.yaml", load);
    scene.run.rom.force = 2;
    scene.run.rom.most_points = 3;
    sim::Driver driver(scene.model, scene.run);
    std::string warning;
    for (int k = 0; k < 100 && warning.empty(); ++k) {
      driver.set_clock(k, k * scene.run.step);
      warning = driver.step(scene.run.step).warning;
    }
    EXPECT_EQ(!warning.empty(), pull > 2) << pull << " " << warning;
  }
}

// Slender fingers with points far apart, of different rank (a straight beam cannot be shortened): the run
// comes to rest where the whole does, which has no point of its own (within the claim of such points, 2 %).
TEST(Points, FarApartOnSlenderFingers) {
  for (const double pull : {1.0, 2.0}) {  // 0.3 and 0.6 N on either tip
    scene::LoadOptions load;
    load.set.emplace_back("pull", std::to_string(pull) + " N");
    scene::Scene scene = scene::load(std::string(LIMBER_SCENES) + "/gripper.yaml", load);
    for (const double f : {0.45, 0.9})
      scene.run.rom.points.push_back(
          {0, {{"left.tip", Vec3(f, 0, 0), Vec3::Zero()}, {"right.tip", Vec3(-f, 0, 0), Vec3::Zero()}}});
    const Ran r = run(scene, 4, 100);
    const ReducedModel reduced = sim::reduce(scene.model, scene.run.rom);
    const Mechanism& m = reduced.mechanisms[0];
    Vec6 w = Vec6::Zero();
    w[3] = 0.3 * pull;
    const auto whole = sim::settle(elastic::beams_to_links(scene.model).model, m, {w}, 0, {});
    ASSERT_TRUE(whole.ok);
    const Vec3 tip = whole.point.X[m.ends[0]].p;
    std::printf("gripper, %.1f N: tip moved by %.3f radii\n", 0.3 * pull,
                (tip - m.points[0].X[m.ends[0]].p).norm() / m.radius);
    const std::size_t last = r.frames.size() - 1;
    const std::size_t body = frame_of(r, m.names[m.ends[0]]);
    EXPECT_LT((r.frames[last].positions[body] - tip).norm(), 0.02 * m.radius) << pull;
  }
}

// A constant load on an inner link is in the points' equilibrium; twice as much of all loads moves the end
// twice as far (the springs are stiff enough for that, to a thousandth).
TEST(Loads, OnInnerLinksAreScaled) {
  const scene::Scene scene = scene::parse(
      "limber: 1\ngravity: [0, 0, 0]\nbodies:\n  a: {box: [10 cm, 2 cm, 2 cm], mass: 0.1 kg}\n  b: {box: [10 "
      "cm, 2 cm, 2 cm], "
      "mass: 0.1 kg, at: [20 cm, 0, 0]}\njoints:\n  j: {type: revolute, child: a, axis: [0, 1, 0], "
      "stiffness: 1000, damping: 20}\n  "
      "k: {type: revolute, parent: a, child: b, at: [10 cm, 0, 0], axis: [0, 1, 0], stiffness: 1000, "
      "damping: 20}\nloads:\n  push: {on: a, moment: [0, 5 N*m, 0]}\nrun: {method: rom, rom: {ends: [b]}}\n",
      "inner.yaml");
  const auto reduced = sim::reduce(scene.model, scene.run.rom);
  const auto sys = compile(scene.model, reduced, scene.run.rom);
  const auto settled = [&](double loads) {
    State state = sys.rest();
    Workspace w(sys);
    scale_loads(w, loads);
    for (int k = 0; k < 500; ++k) EXPECT_TRUE(step(sys, state, w, 1e-2).ok());
    return update_links(sys, state, w)[1].p.z();
  };
  const double once = settled(1), twice = settled(2);
  EXPECT_GT(std::abs(once), 1e-4);
  EXPECT_NEAR(twice / once, 2, 2e-3);
}

// A servo that is not strong enough: as in the whole mechanism, joint by joint. The arm is one link, so that
// its reduction is exact; what is left is the rounding of two ways to compute the same step.
TEST(Servo, IsCutAtItsLargestForce) {
  const auto angles = [](const char* method, const char* most) {
    const std::string text =
        std::string(
            "limber: 1\ngravity: [0, 0, 0]\nbodies:\n  arm: {box: [20 cm, 2 cm, 2 cm], mass: 0.5 kg, com: "
            "[10 cm, 0, 0], inertia: [1e-4, "
            "2e-3, 2e-3]}\njoints:\n  hinge: {type: revolute, child: arm, axis: [0, 1, 0], drive: {servo: "
            "{target: "
            "\"0.8*sin(3*t)\", kp: 40 N*m/rad, kd: 0.4 N*m*s/rad, max_force: ") +
        most + "}}}\nprobes: [hinge.position, hinge.velocity, hinge.force]\nrun: {method: " + method +
        ", step: 1 ms, integrator: implicit_euler, rom: {ends: [arm], integrator: euler}}\n";
    return run(scene::parse(text, "servo.yaml"), 1.5, 50);
  };
  for (const char* most :
       {"2 N*m", "0.1 N*m", "0.03 N*m"}) {  // it needs 0.05 N·m to follow, 1 N·m at the start
    const Ran whole = angles("articulated", most), reduced = angles("rom", most);
    ASSERT_EQ(whole.frames.size(), reduced.frames.size());
    double off = 0, forces = 0, size = 0;
    for (std::size_t k = 0; k < whole.frames.size(); ++k) {
      off = std::max(off, std::abs(whole.value(k, "hinge.position") - reduced.value(k, "hinge.position")));
      size = std::max(size, std::abs(whole.value(k, "hinge.position")));
      forces = std::max(forces, std::abs(reduced.value(k, "hinge.force")));
    }
    std::printf("at most %s: angle up to %.3f rad, off by %.2e; force up to %.4f N m\n", most, size, off,
                forces);
    EXPECT_LT(off, 1e-9 * size) << most;
    EXPECT_LE(forces, std::stod(most) + 1e-9);
  }
}

TEST(Hexapod, ComesToRestOnItsFeet) {
  const Ran r = run(shipped("hexapod"), 3, 100);
  const std::size_t n = r.frames.size();
  EXPECT_GE(r.value(n - 1, "contact.count"), 3);
  EXPECT_NEAR(r.value(n - 1, "trunk.position.z"), r.value(n - 2, "trunk.position.z"), 1e-3);
  EXPECT_GT(r.value(n - 1, "trunk.position.z"), 0.2);
}

TEST(Trampoline, Catches) {
  const Ran r = run(shipped("trampoline"), 3, 20);
  const std::size_t n = r.frames.size();
  double lowest = 10;
  for (std::size_t k = 0; k < n; ++k) lowest = std::min(lowest, r.value(k, "bunny.position.z"));
  EXPECT_GT(lowest, 0.9);  // never through the sheet
  EXPECT_LT(lowest, 1.3);
}

// A range in which the whole mechanism has no stable rest is refused, with what of it can be had.
TEST(Points, ARangeWithoutARestIsRefused) {
  const auto chain = [](const char* range) {
    return std::string(
               "limber: 1\nchains:\n  c: {links: 10, length: 5 cm, radius: 5 mm, direction: [1,0,0], joint: "
               "revolute, axis: [0,1,0], stiffness: 0.5, damping: 0.02}\ngravity: [0,0,0]\nrun: {method: "
               "rom, "
               "rom: {ends: [c.9], most_points: 4, range: {force: ") +
           range + "}}}\n";
  };
  EXPECT_EQ(refusal(chain("0.2 N")), "");
  const std::string said = refusal(chain("200 N"));
  EXPECT_NE(said.find("cannot be reduced for this range"), std::string::npos) << said;
  EXPECT_NE(said.find("have one up to"), std::string::npos) << said;
}

// Joints that are stiff only by their servos, stretched out: they bend by a radian, with one point and with
// points on the way; compared with the whole while it moves (of the radius).
TEST(Servo, StraightArmBends) {
  const auto text = [](const char* method, const char* points) {
    return std::string(
               "limber: 1\nbodies:\n  l.${i}: {repeat: {i: 3}, capsule: {radius: 1 cm, from: [0,0,0], to: "
               "[0.2,0,0]}, at: [0.2*i,0,0], mass: 0.3 kg}\njoints:\n  j.0: {type: revolute, child: l.0, "
               "axis: "
               "[0,1,0], damping: 0.1, drive: {servo: {target: \"-min(t/1,1)\", kp: 60, kd: 2}}}\n  j.1: "
               "{type: "
               "revolute, parent: l.0, child: l.1, axis: [0,1,0], at: [0.2,0,0], damping: 0.1, drive: "
               "{servo: "
               "{target: \"min(t/1,1)\", kp: 40, kd: 1}}}\n  j.2: {type: revolute, parent: l.1, child: l.2, "
               "axis: "
               "[0,1,0], at: [0.4,0,0], damping: 0.1, drive: {servo: {target: \"-0.5*sin(3*t)\", kp: 20, kd: "
               "0.5}}}\nrun: {method: ") +
           method + ", time: 3 s, step: 1 ms, integrator: implicit_euler, rom: {ends: [l.2]" + points +
           "}}\n";
  };
  const Ran whole = run(scene::parse(text("articulated", ""), "arm.yaml"), 2, 20);
  const auto off = [&](const char* points) {
    const Ran r = run(scene::parse(text("rom", points), "arm.yaml"), 2, 20);
    double worst = 0;
    if (r.frames.size() != whole.frames.size()) return 1e9;
    for (std::size_t k = 0; k < r.frames.size(); ++k)
      worst = std::max(worst, (r.frames[k].positions[2] - whole.frames[k].positions[2]).norm());
    return worst / 0.3;
  };
  const double one = off(""),
               several = off(", points: [{time: 0.25}, {time: 0.5}, {time: 0.75}, {time: 1}, {time: 1.5}]");
  std::printf("straight arm: off by %.4f radii with one point, %.4f with six\n", one, several);
  // A radian is far for one point; each joint follows its servo all the same.
  EXPECT_LT(one, 1);
  EXPECT_LT(several, 0.25 * one);
}

// An inner link meets a ball that stands, and a flying trunk the floor, as in the whole mechanism.
TEST(Contact, InnerLinksAndTheBaseTouch) {
  const auto between = [](const char* method) {
    return std::string(
               "limber: 1\nbodies:\n  a: {box: [20 cm, 2 cm, 2 cm], at: [10 cm, 0, 0]}\n  b: {box: [20 cm, 2 "
               "cm, "
               "2 cm], at: [30 cm, 0, 0]}\n  stop: {fixed: true, sphere: 3 cm, at: [10 cm, 0, -5 "
               "cm]}\njoints:\n  "
               "j1: {type: revolute, child: a, at: [0, 0, 0], axis: [0, 1, 0], stiffness: 1 N*m/rad, "
               "damping: "
               "0.05 N*m*s/rad}\n  j2: {type: revolute, parent: a, child: b, at: [20 cm, 0, 0], axis: [0, 1, "
               "0], "
               "stiffness: 1 N*m/rad, damping: 0.05 N*m*s/rad}\ncontact: {friction: 0.3}\nloads: {down: {on: "
               "b, "
               "force: [0, 0, \"-2*min(t/(0.5 s),1)\"]}}\nrun: {time: 2 s, step: 1 ms, method: ") +
           method + ", rom: {ends: [b]}}\n";
  };
  const Ran whole = run(scene::parse(between("articulated"), "inner.yaml"), 2, 100);
  const Ran reduced = run(scene::parse(between("rom"), "inner.yaml"), 2, 100);
  const std::size_t last = whole.frames.size() - 1;
  const Vec3 a = whole.frames[last].positions[0], b = reduced.frames[last].positions[0];
  std::printf("inner link on a ball: z %.5f m, whole %.5f m\n", b.z(), a.z());
  EXPECT_NEAR(a.z(), -0.01, 2e-3);  // the ball's top is 1 cm below its axis: it may go down by that
  EXPECT_LT((a - b).norm(), 2e-3);

  const std::string robot =
      "limber: 1\nbodies:\n  trunk: {box: [0.3,0.2,0.1], at: [0,0,0.3], mass: 5 kg}\n  leg.${i}: {repeat: "
      "{i: 2}, "
      "capsule: {radius: 2 cm, from: [0,0,0], to: [0.25,0,-0.15]}, at: [0.1, \"(2*i-1)*0.1\", 0.25], mass: 1 "
      "kg}\njoints:\n  hip.${i}: {repeat: {i: 2}, type: revolute, parent: trunk, child: \"leg.${i}\", axis: "
      "[0,1,0], stiffness: 2, damping: 0.3}\ncontact: {friction: 0.8, planes: [{}]}\nrun: {time: 2 s, step: "
      "2 ms, "
      "method: rom, rom: {ends: [leg.0, leg.1]}}\n";
  const Ran fallen = run(scene::parse(robot, "robot.yaml"), 3, 100);
  const double z = fallen.frames.back().positions[0].z();
  std::printf("a robot's trunk lies at %.4f m\n", z);
  EXPECT_GT(z, 0.045);  // half its height, if flat
  EXPECT_LT(z, 0.2);
}

}  // namespace
}  // namespace limber::rom
