#include "limber/sim/options.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

namespace limber::sim {
namespace {

RunOptions options(double time, double step, double frame = 0.1) {
  RunOptions o;
  o.time = time, o.step = step, o.frame = frame;
  return o;
}

TEST(Options, StepsReachTheTime) {
  EXPECT_EQ(options(5, 0.01).steps(), 500);
  EXPECT_EQ(options(0.25, 0.1).steps(), 3);  // rounds up
  EXPECT_EQ(options(0, 0.1).steps(), 0);
  EXPECT_EQ(options(1e-9, 0.1).steps(), 1);
}

// k·0.1 / 0.1 is often not k: 1.1 / 0.1 = 11.000000000000002, 0.7 / 0.1 = 6.999999999999999.
TEST(Options, WholeNumbersOfStepsSurviveRounding) {
  for (int k = 1; k < 2000; ++k) {
    EXPECT_EQ(options(k * 0.1, 0.1).steps(), k);
    EXPECT_EQ(options(k / 10.0, 0.1).steps(), k);
    EXPECT_EQ(options(k * (1.0 / 60), 1.0 / 60).steps(), k);
  }
}

TEST(Options, FramesAreWholeSteps) {
  EXPECT_EQ(options(1, 0.01, 0.1).steps_per_frame(), 10);
  EXPECT_EQ(options(1, 0.01, 1.0 / 30).steps_per_frame(), 3);
  EXPECT_EQ(options(1, 0.01, 1e-6).steps_per_frame(), 1);
  EXPECT_GT(options(1, 1e-300, 1e300).steps_per_frame(), 1);
}

// Frames within steps only where steps go by an error, and where frames are closer than steps by half.
TEST(Options, FramesWithinSteps) {
  RunOptions o = options(1, 0.1, 0.01);
  EXPECT_EQ(o.frames_per_step(), 1);
  o.articulated.error = 1e-6;
  EXPECT_EQ(o.frames_per_step(), 10);
  EXPECT_DOUBLE_EQ(o.frame_interval(), 0.01);
  EXPECT_EQ(options(1, 0.1, 0.3).frames_per_step(), 1);
  o.frame = 0.08;
  EXPECT_EQ(o.frames_per_step(), 1);
  EXPECT_EQ(o.frame_interval(), 0.1);
  o.frame = 1e-9;
  EXPECT_THROW(validate(o), ModelError);
  o.method = Method::thread;  // has no such steps
  EXPECT_EQ(o.frames_per_step(), 1);
}

TEST(Options, ValidateNamesTheOption) {
  const auto message = [](const RunOptions& o) -> std::string {
    try {
      validate(o);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message(options(1, 0.1)), "");
  EXPECT_EQ(message(options(1, -0.1)), "step: expected a number in s, positive, got -0.1");
  EXPECT_EQ(message(options(-1, 0.1)), "time: expected a number in s, zero or positive, got -1");
  EXPECT_EQ(message(options(1, 0.1, 0)), "frame: expected a number in s, positive, got 0");
  EXPECT_NE(message(options(1e300, 1e-300)), "");
  EXPECT_NE(message(options(std::numeric_limits<double>::quiet_NaN(), 0.1)), "");
  RunOptions o = options(1, 0.1);
  o.articulated.cpu_threads = 0;
  EXPECT_EQ(message(o), "cpu_threads: expected a whole number, within 1 … 1024, got 0");
}

}  // namespace
}  // namespace limber::sim
