// Events in a run: its outcome, run.json and last frame; stopped and resumed on either side of them.
#include <gtest/gtest.h>

#include <atomic>

#include "sim_support.h"

namespace limber::sim {
namespace {

using namespace testing;

// The chain swings from the side; its second joint is let go at 0.3 s, and the tip stops the run on its way.
Model chain_with_events(double below) {
  ModelParts parts = chain(3).parts();
  Event let_go, down;
  let_go.name = "let_go", let_go.at = 0.3;
  let_go.actions = {{Action::Kind::release, Action::On::joint, "joint1", -1, {}}};
  down.name = "down", down.reads = "tip.y", down.value = below, down.way = Event::Way::falling;
  down.actions.emplace_back();
  parts.events = {let_go, down};
  return Model(std::move(parts));
}

TEST(EventsOfARun, AStopIsSaid) {
  const TemporaryFolder t;
  const RunResult r = run(chain_with_events(-1.5), request_for(t / "run", 3));
  EXPECT_EQ(r.outcome, Outcome::done);
  EXPECT_EQ(r.stopped_by, "down");
  ASSERT_EQ(r.events.size(), 2u);
  EXPECT_EQ(r.events[0].what, "release joint \"joint1\"");
  EXPECT_NEAR(r.events[0].acted, 0.3, 1e-12);
  const auto json = run_json_of(t / "run");
  EXPECT_EQ(json["outcome"], "done");
  EXPECT_EQ(json["stopped_by"], "down");
  EXPECT_EQ(json["events"][1]["event"], "down");
  EXPECT_EQ(json["report"]["time"], json["events"][1]["acted"]);
  EXPECT_EQ(read_run(t / "run").events.size(), 2u);
  // The last frame is of that moment, and there the column has the value.
  result::RecordingReader frames(t / "run" / "frames");
  result::Snapshot last;
  last.resize(frames.layout());
  frames.read(frames.frame_count() - 1, last);
  EXPECT_EQ(last.time, r.events[1].acted);
  EXPECT_LT(last.time, 3);
  for (std::size_t i = 0; i < frames.layout().scalars.size(); ++i)
    if (frames.layout().scalars[i].name == "tip.y") {
      EXPECT_LE(last.scalars[i], -1.5);
      EXPECT_NEAR(last.scalars[i], -1.5, 1e-10);
    }
}

TEST(EventsOfARun, GoOnBitForBit) {
  const TemporaryFolder t;
  const Model model = chain_with_events(-1.5);
  run(model, request_for(t / "reference", 3));
  RunRequest r = request_for(t / "run", 3);
  int left = 7;
  for (Outcome outcome = Outcome::interrupted; outcome == Outcome::interrupted;) {
    std::atomic<bool> stop{false};
    r.stop = &stop;
    int here = left;
    r.progress = [&](const Progress&) { stop = here-- <= 0; };
    outcome = run(model, r).outcome;
    r = request_for(t / "run", 3);
    r.resume = true;
    left += 6;
  }
  EXPECT_EQ(contents(t / "run"), contents(t / "reference"));
}

TEST(EventsOfARun, AColumnThatIsNotToldIsRefused) {
  ModelParts parts = chain_with_events(-1).parts();
  parts.events[1].reads = "tip.q";
  EXPECT_THROW(Model(std::move(parts)), ModelError);
}

}  // namespace
}  // namespace limber::sim
