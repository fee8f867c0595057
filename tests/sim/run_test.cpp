#include "limber/sim/run.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "limber/sim/folder.h"
#include "sim_support.h"

namespace limber::sim {
namespace {

using namespace testing;

std::vector<double> frame_times(const fs::path& folder) {
  result::RecordingReader reader(folder / "frames");
  std::vector<double> times;
  result::Snapshot snapshot;
  snapshot.resize(reader.layout());
  for (std::uint64_t i = 0; i < reader.frame_count(); ++i) {
    reader.read(i, snapshot);
    times.push_back(snapshot.time);
  }
  return times;
}

TEST(Run, RecordsTheFirstEveryNthAndTheLastStep) {
  const TemporaryFolder t;
  const RunResult r = run(chain(3), request_for(t / "run", 0.1));  // 10 steps, a frame every 3
  EXPECT_EQ(r.outcome, Outcome::done);
  EXPECT_EQ(r.frames, 5u);
  // i · h, not a sum: equal to the last bit.
  EXPECT_EQ(frame_times(t / "run"), (std::vector<double>{0, 3 * 0.01, 6 * 0.01, 9 * 0.01, 10 * 0.01}));
}

// By an error frames stand within steps, at equal distances; what a step ends with is the same as without
// them.
TEST(Run, RecordsFramesWithinStepsByError) {
  const TemporaryFolder t;
  RunRequest r = request_for(t / "run", 0.6);
  r.options.articulated.integrator = articulated::Integrator::rk4;
  r.options.articulated.error = 1e-5;
  r.options.step = 0.2, r.options.frame = 0.05;
  const RunResult result = run(chain(3), r);
  EXPECT_EQ(result.outcome, Outcome::done);
  const std::vector<double> times = frame_times(t / "run");
  ASSERT_EQ(times.size(), 13u);
  for (std::size_t k = 0; k < times.size(); ++k) EXPECT_NEAR(times[k], 0.05 * static_cast<double>(k), 1e-15);
  EXPECT_EQ(times[8], 2 * 0.2);  // the end of a step: to the last bit
  EXPECT_GE(result.report.parts, 3);
  EXPECT_EQ(result.report.steps, 3);
  const auto json = run_json_of(t / "run");
  EXPECT_EQ(json["report"]["parts"], result.report.parts);
  EXPECT_EQ(json["report"]["rejected"], result.report.rejected);
  r.folder = t / "coarse";
  r.options.frame = 0.2;
  run(chain(3), r);
  result::RecordingReader fine(t / "run" / "frames"), coarse(t / "coarse" / "frames");
  result::Snapshot a, b;
  for (std::uint64_t k = 0; k < 4; ++k) {
    fine.read(4 * k, a), coarse.read(k, b);
    EXPECT_EQ(a.scalars, b.scalars) << k;
  }
}

TEST(Run, ALastStepThatIsAFrameIsRecordedOnce) {
  const TemporaryFolder t;
  EXPECT_EQ(run(chain(2), request_for(t / "run", 0.09)).frames, 4u);
}

TEST(Run, NoTimeAtAllIsOneFrame) {
  const TemporaryFolder t;
  const RunResult r = run(chain(2), request_for(t / "run", 0));
  EXPECT_EQ(r.outcome, Outcome::done);
  EXPECT_EQ(r.frames, 1u);
  EXPECT_EQ(r.report.steps, 0);
}

TEST(Run, ReportsTotals) {
  const TemporaryFolder t;
  const RunResult r = run(chain(3), request_for(t / "run", 1));
  EXPECT_EQ(r.report.steps, 100);
  EXPECT_EQ(r.report.time, 1.0);
  EXPECT_GE(r.report.total_iterations, r.report.steps);
  EXPECT_EQ(r.sizes.bodies, 3u);
  EXPECT_EQ(r.sizes.dofs, 3u);
  EXPECT_DOUBLE_EQ(r.sizes.mass, 1.5);
}

TEST(Run, ProgressIsToldAfterEveryStep) {
  const TemporaryFolder t;
  RunRequest request = request_for(t / "run", 0.1);
  std::vector<std::int64_t> steps;
  request.progress = [&](const Progress& p) {
    steps.push_back(p.step);
    EXPECT_EQ(p.steps, 10);
  };
  run(chain(1), request);
  EXPECT_EQ(steps, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
}

TEST(Run, RunJsonSaysWhatRan) {
  const TemporaryFolder t;
  const RunRequest request = request_for(t / "run", 0.1);
  run(chain(3), request);
  const auto json = run_json_of(t / "run");
  EXPECT_EQ(json["limber"], version());
  EXPECT_EQ(json["scene"], "chain.yaml");
  EXPECT_EQ(json["outcome"], "done");
  EXPECT_EQ(json["frames"], 5);
  EXPECT_EQ(json["options"]["frame"].get<double>(), 0.03);
  EXPECT_EQ(json["model"]["dofs"], 3);
  EXPECT_FALSE(json["wall_clock"]["started"].get<std::string>().empty());
  EXPECT_FALSE(fs::exists(t / "run" / "checkpoint"));
  EXPECT_FALSE(fs::exists(t / "run" / "lock"));

  const StoredRun stored = read_run(t / "run");
  EXPECT_EQ(stored.set, request.set);
  EXPECT_EQ(stored.sources.at(1).path, "tables/force.csv");
  EXPECT_EQ(stored.sources.at(1).text, "0, 1\n");
  EXPECT_EQ(stored.options.step, request.options.step);
  EXPECT_EQ(stored.options.articulated.tolerance, request.options.articulated.tolerance);
  EXPECT_EQ(stored.files, request.files);
}

TEST(Run, SameBytesEveryTimeAndOnAnyNumberOfThreads) {
  const TemporaryFolder t;
  RunRequest request = request_for(t / "a");
  run(chain(6), request);
  for (const int threads : {1, 2, 4}) {
    request.folder = t / "b";
    request.force = true;
    request.options.articulated.cpu_threads = threads;
    request.options.articulated.parallel_min_bodies = 2;
    run(chain(6), request);
    EXPECT_EQ(contents(t / "a"), contents(t / "b")) << threads << " threads";
  }
}

TEST(Run, BadOptionsAndModelsLeaveNoFolder) {
  const TemporaryFolder t;
  RunRequest request = request_for(t / "run");
  request.options.step = 0;
  EXPECT_THROW(run(chain(1), request), std::invalid_argument);
  EXPECT_FALSE(fs::exists(t / "run"));
}

TEST(Run, AFolderWithoutARunIsNamed) {
  const TemporaryFolder t;
  try {
    read_run(t.path());
    FAIL();
  } catch (const result::IoError& e) {
    EXPECT_NE(std::string(e.what()).find(t.path().string()), std::string::npos);
  }
}

}  // namespace
}  // namespace limber::sim
