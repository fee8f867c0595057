// A run that stops and goes on, in every way it can, writes the same bytes as one that never stopped.
#include <gtest/gtest.h>

#include <atomic>
#include <random>

#include "limber/sim/checkpoint.h"
#include "sim_support.h"

namespace limber::sim {
namespace {

using namespace testing;

class Resume : public ::testing::Test {
 protected:
  void SetUp() override { run(model, request_for(t / "reference")); }

  RunRequest again() {
    RunRequest r = request_for(t / "run");
    r.resume = true;
    r.note = [this](const std::string& text) { notes.push_back(text); };
    return r;
  }
  void kill_at(std::int64_t step, double checkpoint_interval) {
    RunRequest r = fs::exists(t / "run" / "run.json") ? again() : request_for(t / "run");
    r.checkpoint_interval = checkpoint_interval;
    kill_after(r, step);
    EXPECT_THROW(run(model, r), Killed);
    EXPECT_EQ(read_run(t / "run").outcome, "running");
  }
  void expect_same() { EXPECT_EQ(contents(t / "run"), contents(t / "reference")); }

  TemporaryFolder t;
  Model model = chain(5);
  std::vector<std::string> notes;
};

TEST_F(Resume, AfterStopsAtRandomSteps) {
  std::mt19937 random(1);
  for (int round = 0; round < 20; ++round) {
    fs::remove_all(t / "run");
    RunRequest r = request_for(t / "run");
    int parts = 0;
    for (Outcome outcome = Outcome::interrupted; outcome == Outcome::interrupted; ++parts) {
      std::atomic<bool> stop{false};
      std::int64_t left = static_cast<std::int64_t>(random() % 60);
      r.stop = &stop;
      r.progress = [&](const Progress&) { stop = left-- <= 0; };
      outcome = run(model, r).outcome;
      ASSERT_EQ(read_run(t / "run").outcome, to_string(outcome));
      r = again();
    }
    EXPECT_EQ(read_run(t / "run").wall_clock.resumed, parts - 1);
    expect_same();
  }
}

TEST_F(Resume, AStopAtOnceCostsNothing) {
  const std::atomic<bool> stop{true};
  RunRequest r = request_for(t / "run");
  r.stop = &stop;
  const RunResult result = run(model, r);
  EXPECT_EQ(result.outcome, Outcome::interrupted);
  EXPECT_EQ(result.frames, 1u);
  EXPECT_EQ(run(model, again()).outcome, Outcome::done);
  expect_same();
}

TEST_F(Resume, AfterAKillBeforeTheFirstCheckpoint) {
  kill_at(50, 1e9);
  EXPECT_FALSE(fs::exists(t / "run" / "checkpoint"));
  const RunResult result = run(model, again());
  EXPECT_EQ(result.first_step, 0);
  EXPECT_EQ(notes.size(), 1u);  // says that it starts again
  expect_same();
}

TEST_F(Resume, AfterKillsBetweenCheckpoints) {
  for (const std::int64_t step : {7, 20, 55, 90}) kill_at(step, 0);
  EXPECT_TRUE(fs::exists(t / "run" / "checkpoint"));
  EXPECT_GT(run(model, again()).first_step, 0);
  EXPECT_TRUE(notes.empty());
  expect_same();
}

// Frames that stand within steps by an error, killed and stopped at any of them.
TEST(ResumeByError, WritesTheSameBytes) {
  TemporaryFolder t;
  const Model model = chain(4);
  const auto request = [&](const char* name, bool again) {
    RunRequest r = request_for(t / name, 2);
    r.options.articulated.integrator = articulated::Integrator::gauss;
    r.options.articulated.error = 1e-6;
    r.options.step = 0.1, r.options.frame = 0.02;
    r.resume = again;
    r.checkpoint_interval = 0;
    return r;
  };
  EXPECT_EQ(run(model, request("reference", false)).frames, 101u);
  bool again = false;
  for (const std::int64_t step : {3, 4, 11, 17}) {
    RunRequest r = request("run", again);
    kill_after(r, step);
    EXPECT_THROW(run(model, r), Killed);
    again = true;
  }
  EXPECT_GT(run(model, request("run", true)).first_step, 0);
  EXPECT_EQ(contents(t / "run"), contents(t / "reference"));
}

TEST_F(Resume, ATornFrameAtTheEndIsMadeAgain) {
  kill_at(50, 0);
  const fs::path frames = t / "run" / "frames";
  fs::resize_file(frames, fs::file_size(frames) - 3);
  run(model, again());
  expect_same();
}

TEST_F(Resume, ADamagedCheckpointIsSaidAndNotUsed) {
  kill_at(50, 0);
  std::string bytes = result::read_file(t / "run" / "checkpoint");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  result::write_atomically(t / "run" / "checkpoint", bytes);
  EXPECT_EQ(run(model, again()).first_step, 0);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("checksum"), std::string::npos) << notes[0];
  expect_same();
}

TEST_F(Resume, ACheckpointOfOtherOptionsIsNotUsed) {
  kill_at(50, 0);
  Checkpoint c = decode(result::read_file(t / "run" / "checkpoint"));
  c.hash ^= 1;
  write_checkpoint(t / "run" / "checkpoint", c);
  EXPECT_EQ(run(model, again()).first_step, 0);
  EXPECT_EQ(notes.size(), 1u);
  expect_same();
}

TEST_F(Resume, FramesLostBeforeTheCheckpointAreMadeAgain) {
  kill_at(50, 0);
  fs::remove(t / "run" / "frames");
  EXPECT_EQ(run(model, again()).first_step, 0);
  EXPECT_EQ(notes.size(), 1u);
  expect_same();
}

TEST_F(Resume, AFramesFileCutInItsHeadIsMadeAgain) {
  kill_at(5, 1e9);
  for (const std::uintmax_t size : {0, 5, 12, 30}) {
    fs::resize_file(t / "run" / "frames", size);
    RunRequest r = again();
    kill_after(r, 5);
    EXPECT_THROW(run(model, r), Killed) << size;
  }
  run(model, again());
  expect_same();
}

// Frames that do not come out the same again mean that something changed underneath: an error, never a
// mixture.
TEST_F(Resume, OtherFramesAreAnError) {
  kill_at(50, 1e9);
  EXPECT_THROW(run(chain(5, 0.1), again()), result::IoError);
}

// Its scene was edited: refused before anything is touched.
TEST_F(Resume, AnEditedSceneIsRefused) {
  kill_at(50, 0);
  const auto before = contents(t / "run");
  result::write_atomically(t / "run" / "scene" / "chain.yaml", std::string("limber: 1\n# other\n"));
  EXPECT_THROW(run(model, again()), std::invalid_argument);
  EXPECT_TRUE(fs::exists(t / "run" / "checkpoint"));
  result::write_atomically(t / "run" / "scene" / "chain.yaml", std::string("limber: 1\n"));
  EXPECT_EQ(contents(t / "run"), before);
  run(model, again());
  expect_same();
}

TEST_F(Resume, LeftoversGoAway) {
  kill_at(50, 0);
  result::write_atomically(t / "run" / ".run.json.tmp-1-0", std::string("{"));
  run(model, again());
  expect_same();
}

TEST_F(Resume, CleanUpAfterAKillAtTheVeryEnd) {
  run(model, request_for(t / "run"));
  result::write_atomically(t / "run" / "checkpoint", std::string("x"));
  clean_up(t / "run");
  EXPECT_FALSE(fs::exists(t / "run" / "checkpoint"));
  expect_same();
}

// Saving takes at most 1 % of the time, however often it is asked for; the first checkpoint comes in any
// case.
TEST_F(Resume, CheckpointsAreStretched) {
  RunRequest r = request_for(t / "run");
  r.checkpoint_interval = 0;
  run(model, r);
  const WallClock wall = read_run(t / "run").wall_clock;
  EXPECT_GE(wall.checkpoints, 1u);
  EXPECT_LT(wall.checkpoints, 50u);
}

}  // namespace
}  // namespace limber::sim
