// Divergence and full disks: what was recorded stays, and the report says where and when.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "limber/sim/watches.h"
#include "sim_support.h"

namespace limber::sim {
namespace {

using namespace testing;

// A torque that grows beyond all bounds at 0.5 s.
Model exploding_chain() {
  ModelParts parts = chain(3).parts();
  Drive drive;
  drive.joint = JointId{2};
  drive.target[0] = TimeFunction::table({0.5, 0.6}, {0, 1e308});
  parts.drives.push_back(std::move(drive));
  return Model(std::move(parts));
}

TEST(Failure, DivergenceNamesBodyAndTimeAndKeepsTheFrames) {
  const TemporaryFolder t;
  const RunResult r = run(exploding_chain(), request_for(t / "run"));
  EXPECT_TRUE(r.outcome == Outcome::diverged || r.outcome == Outcome::not_converged);
  EXPECT_FALSE(r.report.ok());
  EXPECT_GE(r.report.time, 0.5);
  EXPECT_LE(r.report.time, 0.6);
  EXPECT_NE(r.report.worst.find('2'), std::string::npos) << r.report.worst;  // link2 or joint2
  EXPECT_NE(r.report.message.find(r.report.worst), std::string::npos) << r.report.message;
  EXPECT_GE(r.frames, 17u);  // 0 … 0.48 s

  const StoredRun stored = read_run(t / "run");
  EXPECT_EQ(stored.outcome, to_string(r.outcome));
  EXPECT_EQ(stored.report.message, r.report.message);
  EXPECT_FALSE(fs::exists(t / "run" / "checkpoint"));
  result::RecordingReader reader(t / "run" / "frames");
  EXPECT_EQ(reader.frame_count(), r.frames);
}

// Two links without a damper keep their energy: at 50 ms a midpoint rule nearly does, and the two Eulers,
// which damp a third of it and more away in 10 s, have computed another motion. Their frames are kept.
TEST(Failure, EnergyThatNothingTakesIsNotLostInSilence) {
  ModelParts parts = chain(2).parts();
  for (Joint& j : parts.joints) j.law.stiffness = j.law.damping = dofs(0), j.position[0] = 1.0;
  for (const double damping : {0.0, 1e-4})
    for (const auto integrator : articulated::all_integrators) {
      for (Joint& j : parts.joints) j.law.damping = dofs(damping);
      const TemporaryFolder t;
      RunRequest request = request_for(t / "run", 10);
      request.options.step = request.options.frame = 0.05;
      request.options.articulated.integrator = integrator;
      const RunResult r = run(Model(parts), request);
      const bool euler = integrator == articulated::Integrator::euler ||
                         integrator == articulated::Integrator::implicit_euler;
      const std::string name = articulated::to_string(integrator);
      EXPECT_EQ(r.outcome, euler && damping == 0 ? Outcome::not_converged : Outcome::done) << name;
      EXPECT_EQ(r.frames, 201u) << name;
      std::string told = r.report.message;  // with a damper it is a warning
      for (const std::string& w : r.warnings) told += w;
      EXPECT_EQ(told.find("the integrator itself lost") != std::string::npos, euler) << name << told;
    }
}

// An element that snaps makes energy and loses it again: what counts is the worst frame, not the last.
TEST(Failure, EnergyThatComesAndGoesIsNotSilent) {
  const Model model = chain(1);
  result::Layout layout;
  for (const char* name : {"energy.kinetic", "energy.dissipated", "energy.remainder"})
    layout.scalars.push_back({name, "J"});
  const auto verdict = [&](double worst) {
    EnergyWatch watch(model, layout);
    double kinetic = 0;
    for (const double remainder : {0.0, worst, 0.01}) {
      result::Snapshot s;
      s.scalars = {kinetic++, 0.1, remainder};
      watch.look(s);
    }
    return watch.verdict();
  };
  EXPECT_NE(verdict(0.5).find("itself made 0.5 J, 25 %"), std::string::npos) << verdict(0.5);
  EXPECT_NE(verdict(-0.5).find("itself lost 0.5 J, 25 %"), std::string::npos) << verdict(-0.5);
  EXPECT_EQ(verdict(0.05), "");
}

TEST(Failure, DivergenceIsTheSameAfterAKill) {
  const TemporaryFolder t;
  run(exploding_chain(), request_for(t / "reference"));
  RunRequest request = request_for(t / "run");
  request.checkpoint_interval = 0;
  kill_after(request, 30);
  EXPECT_THROW(run(exploding_chain(), request), Killed);
  request = request_for(t / "run");
  request.resume = true;
  run(exploding_chain(), request);
  EXPECT_EQ(contents(t / "run"), contents(t / "reference"));
}

// In a child with a limit on the size of files, as a full disk would have it: the error names the file.
std::string run_with_file_limit(const fs::path& folder, rlim_t bytes) {
  int channel[2];
  EXPECT_EQ(::pipe(channel), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, bytes};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    std::string what = "no error";
    try {
      run(chain(3), request_for(folder, 20));
    } catch (const result::IoError& e) {
      what = e.what();
    }
    const bool sent = ::write(channel[1], what.data(), what.size()) == static_cast<ssize_t>(what.size());
    ::_exit(sent ? 0 : 1);
  }
  ::close(channel[1]);
  std::string what(1000, '\0');
  const ssize_t n = ::read(channel[0], what.data(), what.size());
  what.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  ::close(channel[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  return what;
}

TEST(Failure, AFullDiskNamesTheFileAndTheRunGoesOnLater) {
  const TemporaryFolder t;
  const std::string what = run_with_file_limit(t / "run", 20000);
  EXPECT_NE(what.find((t / "run" / "frames").string()), std::string::npos) << what;
  EXPECT_NE(what.find(std::strerror(EFBIG)), std::string::npos) << what;

  RunRequest request = request_for(t / "run", 20);
  request.resume = true;
  EXPECT_EQ(run(chain(3), request).outcome, Outcome::done);
  run(chain(3), request_for(t / "reference", 20));
  EXPECT_EQ(contents(t / "run"), contents(t / "reference"));
}

// Full at the first source, and at run.json: nothing is left in the way of the next try.
TEST(Failure, NotEvenRunJsonFits) {
  const TemporaryFolder t;
  EXPECT_NE(run_with_file_limit(t / "run", 5).find("chain.yaml"), std::string::npos);
  EXPECT_FALSE(fs::exists(t / "run"));
  fs::create_directory(t / "run");
  const std::string what = run_with_file_limit(t / "run", 100);
  EXPECT_NE(what.find("run.json"), std::string::npos) << what;
  EXPECT_TRUE(fs::is_empty(t / "run"));
  EXPECT_EQ(run(chain(3), request_for(t / "run")).outcome, Outcome::done);
}

TEST(Failure, AFolderThatCannotBeMadeIsNamed) {
  const TemporaryFolder t;
  result::write_atomically(t / "file", std::string("x"));
  try {
    run(chain(1), request_for(t.path() / "file" / "run"));
    FAIL();
  } catch (const result::IoError& e) {
    EXPECT_NE(std::string(e.what()).find((t.path() / "file").string()), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace limber::sim
