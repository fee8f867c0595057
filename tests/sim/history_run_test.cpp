// Histories as run folders: the same rests as the curve, the same bytes however often it was stopped, and
// each against a closed form or a rest without the history.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "limber/chain/history.h"
#include "limber/scene/scene.h"
#include "limber/sim/static_curve.h"
#include "sim_support.h"

namespace limber::sim {
namespace {

using testing::TemporaryFolder;
namespace fs = std::filesystem;

struct Asked {
  const char* name;
  double until;
  int steps;
};
constexpr Asked asked[] = {{"fatigue-forgotten", 8, 16},
                           {"loses-branch", 4, 40},
                           {"root-never-breaks", 3, 12},
                           {"tie-after-cut", 5, 10},
                           {"tie-on-growth", 4, 8}};

scene::Scene history_of(const char* name) {
  return scene::load(fmt::format("{}/histories/{}.yaml", LIMBER_TEST_DATA, name));
}

RunRequest history_request(const Asked& a, const fs::path& folder) {
  RunRequest r;
  r.folder = folder;
  r.history = true;
  r.scene_file = "history.yaml";
  r.sources = {{"history.yaml", "limber: 1\n"}};
  r.options.method = Method::chain;
  r.options.time = a.until;
  r.options.step = r.options.frame = a.until / a.steps;
  return r;
}

double read_scalar(const result::Layout& layout, const result::Snapshot& at, const std::string& name) {
  for (std::size_t i = 0; i < layout.scalars.size(); ++i)
    if (layout.scalars[i].name == name) return at.scalars[i];
  ADD_FAILURE() << "no column " << name;
  return NAN;
}

TEST(HistoryRun, HoldsTheRestsOfTheCurve) {
  for (const Asked& a : asked) {
    SCOPED_TRACE(a.name);
    const TemporaryFolder t;
    const scene::Scene scene = history_of(a.name);
    const RunResult result = run(scene.model, history_request(a, t / "run"));
    ASSERT_EQ(result.outcome, Outcome::done) << result.report.message;
    const StaticCurve curve = static_history(scene.model, a.until, a.steps);
    ASSERT_TRUE(curve.ok());
    EXPECT_EQ(result.events.size(), curve.events.size());
    result::RecordingReader frames(t / "run" / "frames");
    ASSERT_EQ(frames.frame_count(), curve.points.size());
    result::Snapshot at;
    for (std::size_t i = 0; i < curve.points.size(); ++i) {
      frames.read(i, at);
      const CurvePoint& p = curve.points[i];
      // Times are i·h here and until·i/n there: the last digit, times a speed of some m/s.
      EXPECT_NEAR(at.time, p.time, 1e-14 * a.until);
      for (std::size_t k = 0; k < p.snapshot.scalars.size(); ++k)
        EXPECT_NEAR(at.scalars[k], p.snapshot.scalars[k], 1e-8 * std::max(1.0, std::abs(at.scalars[k]))) << i;
      EXPECT_NEAR(read_scalar(frames.layout(), at, "largest_stress") / std::max(p.largest_stress, 1.0),
                  p.largest_stress / std::max(p.largest_stress, 1.0), 1e-6);
      EXPECT_EQ(read_scalar(frames.layout(), at, "severed"), static_cast<double>(p.severed));
    }
  }
}

// At each of its steps: creep, fatigue, cuts, growth, snaps and all that has come off are in the checkpoint.
TEST(HistoryRun, StoppedAndResumedWritesTheSameBytes) {
  for (const Asked& a : asked) {
    SCOPED_TRACE(a.name);
    const TemporaryFolder t;
    const scene::Scene scene = history_of(a.name);
    run(scene.model, history_request(a, t / "reference"));
    for (const int every : {1, 3}) {
      fs::remove_all(t / "run");
      RunRequest r = history_request(a, t / "run");
      int parts = 0;
      for (Outcome outcome = Outcome::interrupted; outcome == Outcome::interrupted; ++parts) {
        std::atomic<bool> stop{false};
        int left = every;
        r.stop = &stop;
        r.progress = [&](const Progress&) { stop = left-- <= 0; };
        outcome = run(scene.model, r).outcome;
        r = history_request(a, t / "run");
        r.history = false, r.resume = true;  // the folder knows what it is
      }
      EXPECT_GE(parts, a.steps / every);
      EXPECT_EQ(testing::contents(t / "run"), testing::contents(t / "reference"));
    }
  }
}

TEST(HistoryRun, LoadsItsOwnBytesAlone) {
  const scene::Scene scene = history_of("tie-after-cut"), other = history_of("fatigue-forgotten");
  chain::History a(scene.model), b(other.model);
  ASSERT_TRUE(a.advance_to(4).report.ok());
  const std::string bytes = a.save();
  EXPECT_THROW(b.load(bytes), std::invalid_argument);
  for (std::size_t n = 0; n < bytes.size(); n += 1 + bytes.size() / 200) {
    chain::History c(scene.model);
    EXPECT_THROW(c.load(bytes.substr(0, n)), std::invalid_argument) << n;
  }
  chain::History c(scene.model);
  c.load(bytes);
  EXPECT_EQ(c.save(), bytes);
}

// Of a scene as it is written, but for some words.
Model changed(const char* name, const std::vector<std::pair<std::string, std::string>>& words) {
  std::string text = result::read_file(fmt::format("{}/histories/{}.yaml", LIMBER_TEST_DATA, name));
  for (const auto& [from, to] : words) {
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
  }
  return scene::parse(text, "changed.yaml").model;
}

double at_the_end(const char* name, double until, int steps, const std::string& column) {
  const TemporaryFolder t;
  const scene::Scene scene = history_of(name);
  EXPECT_EQ(run(scene.model, history_request({name, until, steps}, t / "run")).outcome, Outcome::done);
  result::RecordingReader frames(t / "run" / "frames");
  result::Snapshot at;
  frames.read(frames.frame_count() - 1, at);
  return read_scalar(frames.layout(), at, column);
}

double at_rest(const Model& model, double time, const std::string& column) {
  StaticOptions o;
  o.method = Method::chain, o.time = time;
  const Equilibrium e = find_equilibrium(model, {}, o);
  EXPECT_TRUE(e.ok()) << e.report.message;
  return read_scalar(e.layout, e.after, column);
}

// Exponent 0: each joint that bears anything loses 0.05/s · ½ s of its stiffness a step. So the beam is one
// of a softer material, whatever happened to the other.
TEST(HistoryRun, FatigueIsAsASofterMaterial) {
  const double softer = 1e9 * std::pow(1 - 0.05 * 0.5, 16);
  const Model model = changed("fatigue-forgotten",
                              {{"{E: 1 GPa, density: 1000 kg/m3, fatigue: {rate: 0.05 Hz, stress: 1 MPa, "
                                "exponent: 0}}",
                                fmt::format("{{E: {:.17g}, density: 1000 kg/m3}}", softer)},
                               {"changes: [{at: =when, beam: far, material: other2}]\n", ""}});
  const std::string column = "one.tip.position.z";
  EXPECT_NEAR(at_the_end("fatigue-forgotten", 8, 16, column), at_rest(model, 8, column), 1e-9);
}

// The arch that was not cut knows nothing of the other.
TEST(HistoryRun, ASupportGoesOnAfterACut) {
  const Model model = changed("tie-after-cut", {{"changes: [{at: 3 s, beam: one, cut: 0.3}]\n", ""}});
  for (const char* column : {"two@0.5.position.x", "two@0.5.position.z"})
    EXPECT_NEAR(at_the_end("tie-after-cut", 5, 10, column), at_rest(model, 5, column), 1e-9) << column;
}

// Grown without load and led to its stake: where it would stand if it had always been there.
TEST(HistoryRun, AShootAtItsStakeStandsAsIfItAlwaysHad) {
  const Model model = changed("tie-on-growth", {{"changes: [{at: 2 s, beam: shoot, grow: true}]\n", ""}});
  for (const char* column : {"stem.tip.position.x", "stem.tip.position.y", "shoot.tip.position.z"})
    EXPECT_NEAR(at_the_end("tie-on-growth", 4, 8, column), at_rest(model, 4, column), 1e-9) << column;
}

// M = P t x c/I reaches the strength, x the lever of the load on the bent rod: L (1 − α²/15), α = P t L²/EI,
// and α⁴ for what is left out (2e-3 times a number below 1/50).
TEST(HistoryRun, ABeamBreaksAtItsRootWhenItsStrengthIsReached) {
  const TemporaryFolder t;
  const Asked a{"root-never-breaks", 3, 12};
  const RunResult result = run(history_of(a.name).model, history_request(a, t / "run"));
  ASSERT_EQ(result.events.size(), 2u);
  const double r = 5e-3, straight = 10e6 * pi * r * r * r / 4, EI = 10e9 * pi * r * r * r * r / 4;
  const double when = result.events[0].acted, alpha = when / EI;
  EXPECT_NEAR(when * (1 - alpha * alpha / 15) / straight, 1, 4e-5);
  EXPECT_NE(result.events[0].what.find("breaks at its root"), std::string::npos) << result.events[0].what;
}

TEST(HistoryRun, AMethodThatOnlyRestsIsResumedAsAHistoryAlone) {
  const TemporaryFolder t;
  RunRequest r = history_request(asked[0], t / "run");
  r.history = false;
  EXPECT_THROW(run(history_of(asked[0].name).model, r), ModelError);
}

}  // namespace
}  // namespace limber::sim
