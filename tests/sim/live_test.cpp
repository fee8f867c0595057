// A simulation that people pull at, without anybody: back in time, on by another method, held, restarted.
#include "limber/sim/live.h"

#include <gtest/gtest.h>

#include "tests/sim/sim_support.h"

namespace limber::sim {
namespace {

struct Watched {
  std::vector<std::string> notes;
  Live live;
  explicit Watched(const RunOptions& options = {})
      : live(testing::chain(5), options, [this](const std::string& text) { notes.push_back(text); }) {}
  void go(int steps) {
    for (int i = 0; i < steps; ++i) {
      ASSERT_TRUE(live.step());
      live.look();
    }
  }
};

TEST(Live, RewindsAndGoesOnWithTheSameBits) {
  Watched w;
  w.go(10);
  const auto there = w.live.snapshot().positions;
  const double time = w.live.time();
  w.go(10);
  const auto later = w.live.snapshot().positions;
  w.live.rewind(time);
  EXPECT_EQ(w.live.steps(), 10);
  EXPECT_EQ(w.live.snapshot().positions, there);
  w.go(10);
  EXPECT_EQ(w.live.snapshot().positions, later);
}

TEST(Live, RestartsAtTheStart) {
  Watched w;
  const auto start = w.live.snapshot().positions;
  w.go(5);
  EXPECT_NE(w.live.snapshot().positions, start);
  const int starts = w.live.starts();
  w.live.restart();
  EXPECT_EQ(w.live.starts(), starts + 1);
  EXPECT_EQ(w.live.time(), 0);
  EXPECT_EQ(w.live.snapshot().positions, start);
}

TEST(Live, GoesOnByAnotherIntegratorFromWhereItIs) {
  Watched w;
  w.go(5);
  const auto there = w.live.snapshot().positions;
  w.live.switch_method("articulated:euler");
  EXPECT_EQ(w.live.steps(), 5);
  EXPECT_EQ(w.live.snapshot().positions, there);
  EXPECT_TRUE(w.notes.empty());
  w.go(1);
  EXPECT_THROW(w.live.switch_method("magic"), std::invalid_argument);
  EXPECT_EQ(w.live.steps(), 6);
}

TEST(Live, AHandPullsWhereItHolds) {
  Watched w;
  result::Hand hand;
  hand.on = result::Hand::On::frame;
  hand.index = 4;
  hand.target = w.live.snapshot().positions[4] + Vec3(0, 0, 0.1);
  w.live.grab(hand);
  ASSERT_TRUE(w.live.held());
  w.go(1);
  EXPECT_GT(w.live.pull().force.z(), 0);
  w.live.release();
  EXPECT_FALSE(w.live.held());
  EXPECT_FALSE(w.live.cut(0));  // nothing here can be cut
  EXPECT_FALSE(w.live.is_cut());
  EXPECT_THROW(w.live.add_point(), std::invalid_argument);  // it names no end effectors
}

}  // namespace
}  // namespace limber::sim
