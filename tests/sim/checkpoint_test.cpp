#include "limber/sim/checkpoint.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "sim_support.h"

namespace limber::sim {
namespace {

Checkpoint sample() {
  Checkpoint c;
  c.hash = 0x0123456789abcdefu;
  c.step = 4711;
  c.frames = 158;
  c.wall_seconds = 12.5;
  c.saved = 3;
  c.report.time = 47.11;
  c.report.iterations = 7;
  c.report.total_iterations = 12345678901;
  c.report.steps = 4711;
  c.report.substeps = 2;
  c.report.parts = 31, c.report.rejected = 5;
  c.report.residual = std::nextafter(1e-13, 1);
  c.report.worst = "link7";
  c.state = std::string("\0\x01\xff state", 9);
  return c;
}

TEST(Checkpoint, RoundTrip) {
  const Checkpoint a = sample(), b = decode(encode(a));
  EXPECT_EQ(a.hash, b.hash);
  EXPECT_EQ(a.step, b.step);
  EXPECT_EQ(a.frames, b.frames);
  EXPECT_EQ(a.wall_seconds, b.wall_seconds);
  EXPECT_EQ(a.saved, b.saved);
  EXPECT_EQ(a.report.time, b.report.time);
  EXPECT_EQ(a.report.iterations, b.report.iterations);
  EXPECT_EQ(a.report.total_iterations, b.report.total_iterations);
  EXPECT_EQ(a.report.steps, b.report.steps);
  EXPECT_EQ(a.report.substeps, b.report.substeps);
  EXPECT_EQ(a.report.parts, b.report.parts);
  EXPECT_EQ(a.report.rejected, b.report.rejected);
  EXPECT_EQ(a.report.residual, b.report.residual);
  EXPECT_EQ(a.report.worst, b.report.worst);
  EXPECT_EQ(a.state, b.state);
}

TEST(Checkpoint, EveryFlippedBitIsNoticed) {
  const std::string good = encode(sample());
  for (std::size_t i = 0; i < good.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ (1 << bit));
      EXPECT_THROW(decode(bad), std::invalid_argument) << "byte " << i << " bit " << bit;
    }
}

TEST(Checkpoint, EveryShorterOrLongerFileIsNoticed) {
  const std::string good = encode(sample());
  for (std::size_t n = 0; n < good.size(); ++n)
    EXPECT_THROW(decode(good.substr(0, n)), std::invalid_argument) << n;
  EXPECT_THROW(decode(good + '\0'), std::invalid_argument);
}

// Reference values of the FNV authors' test vectors (isthe.com/chongo/tech/comp/fnv).
TEST(Checkpoint, Fnv1a) {
  EXPECT_EQ(fnv1a(""), 0xcbf29ce484222325u);
  EXPECT_EQ(fnv1a("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(fnv1a("foobar"), 0x85944171f73967e8u);
}

}  // namespace
}  // namespace limber::sim
