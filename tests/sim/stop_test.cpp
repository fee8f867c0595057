// The flag that asks what computes to leave: everything that may take long looks at it, and nothing is lost.
#include "limber/math/stop.h"

#include <gtest/gtest.h>

#include <thread>

#include "limber/articulated/statics.h"
#include "limber/chain/chain.h"
#include "limber/sim/driver.h"
#include "limber/sim/reduce.h"
#include "limber/thread/thread.h"
#include "sim_support.h"

namespace limber::sim {
namespace {

using namespace testing;

class Stop : public ::testing::Test {
 protected:
  ~Stop() override { withdraw_stop(); }
};

// A chain with a spring across: it needs an order of elimination.
Model tied_chain() {
  ModelParts parts = chain(12).parts();
  Spring spring;
  spring.name = "stay";
  spring.a.body = BodyId{2};
  spring.b.body = BodyId{9};
  spring.stiffness = 10;
  parts.springs.push_back(spring);
  return Model(std::move(parts));
}

Model cantilever() {
  ModelBuilder b("cantilever");
  Material m;
  m.name = "rubber", m.E = 1e6, m.nu = 0.3, m.G = m.E / 2.6, m.density = 1100;
  Beam beam;
  beam.name = "beam";
  beam.path = PolylinePath{{Vec3::Zero(), Vec3::UnitX()}};
  beam.material = b.add(m);
  beam.section = b.add(Section{"round", Circle{5e-3}});
  b.add(beam);
  b.parts.gravity = VectorFunction::constant({0, 0, -9.81});
  return std::move(b).build();
}

TEST_F(Stop, Compiling) {
  request_stop();
  EXPECT_THROW(articulated::compile(tied_chain()), Stopped);
  withdraw_stop();
  EXPECT_NO_THROW(articulated::compile(tied_chain()));
}

TEST_F(Stop, Statics) {
  const auto links = articulated::compile(chain(3));
  const auto cord = thread::compile(cantilever());
  const auto beam = chain::compile(cantilever());
  articulated::State a = links.rest();
  thread::State t = cord.rest();
  chain::Rest r = beam.rest();
  articulated::Workspace wa(links);
  thread::Workspace wt(cord);
  request_stop();
  EXPECT_THROW(articulated::solve_static(links, a, wa), Stopped);
  EXPECT_THROW(thread::solve_static(cord, t, wt), Stopped);
  EXPECT_THROW(chain::Solver(beam.structure()).solve(r, 1), Stopped);
}

TEST_F(Stop, Reducing) {
  rom::Options options;
  options.ends = {"link2"};
  ModelParts parts = chain(3).parts();
  for (Joint& joint : parts.joints) joint.position = {};
  const Model straight(std::move(parts));
  request_stop();
  EXPECT_THROW(reduce(straight, options), Stopped);
}

TEST_F(Stop, AStepLeavesItsState) {
  RunOptions one, divided, cord;
  divided.articulated.error = 1e-9;
  cord.method = Method::thread;
  for (const RunOptions& options : {one, divided, cord}) {
    Driver driver(options.method == Method::thread ? cantilever() : chain(3), options);
    ASSERT_TRUE(driver.step(1e-3).ok());
    const std::string before = driver.save();
    request_stop();
    EXPECT_THROW(driver.step(1e-3), Stopped);
    EXPECT_EQ(driver.save(), before);
    withdraw_stop();
    EXPECT_TRUE(driver.step(1e-3).ok());
  }
}

TEST_F(Stop, WhileItCompilesNoFolderIsMade) {
  const TemporaryFolder t;
  request_stop();
  EXPECT_THROW(run(tied_chain(), request_for(t / "run")), Stopped);
  EXPECT_FALSE(fs::exists(t / "run"));
}

// The flag is set in the middle of a step that is divided some thousand times; the run goes on later as if
// nothing had been.
TEST_F(Stop, InTheMiddleOfAStep) {
  const TemporaryFolder t;
  RunRequest request = request_for(t / "reference", 0.5);
  request.options.step = request.options.frame = 0.25;
  request.options.articulated.error = 1e-7;
  ASSERT_EQ(run(chain(3), request).outcome, Outcome::done);
  request.folder = t / "run";
  std::thread other([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    request_stop();
  });
  const Outcome outcome = run(chain(3), request).outcome;
  other.join();
  withdraw_stop();
  ASSERT_EQ(outcome, Outcome::interrupted);
  request.resume = true;
  EXPECT_EQ(run(chain(3), request).outcome, Outcome::done);
  EXPECT_EQ(contents(t / "run"), contents(t / "reference"));
}

// A run's own flag stops that run, in its thread, and nothing else.
TEST_F(Stop, OfOneRun) {
  const TemporaryFolder t;
  const std::atomic<bool> stop{true};
  RunRequest request = request_for(t / "run");
  request.stop = &stop;
  EXPECT_EQ(run(chain(3), request).outcome, Outcome::interrupted);
  EXPECT_EQ(run(chain(3), request_for(t / "other")).outcome, Outcome::done);
}

// No part of a step is short enough for an error below rounding: it ends, and says why.
TEST(StepByError, OutOfReach) {
  RunOptions options;
  options.articulated.error = 1e-17;
  Driver driver(chain(3), options);
  const std::string before = driver.save();
  const result::SolveReport report = driver.step(0.01);
  EXPECT_EQ(report.status, result::Status::not_converged);
  EXPECT_NE(report.message.find("out of reach"), std::string::npos) << report.message;
  EXPECT_EQ(driver.save(), before);
}

}  // namespace
}  // namespace limber::sim
