#include "limber/result/recording.h"

#include <gtest/gtest.h>

#include <limits>
#include <utility>

#include "limber/result/report.h"
#include "tests/result/allocation_counter.h"
#include "tests/result/small_recording.h"

namespace limber::result::testing {
namespace {

TEST(Recording, ComesBackWithEveryBit) {
  const TemporaryFolder folder;
  const Layout layout = small_layout();
  std::vector<Snapshot> written;
  for (int i = 0; i < 7; ++i) written.push_back(small_snapshot(layout, i));
  written[3].scalars[0] = std::numeric_limits<double>::quiet_NaN();
  written[4].points[1] = {-0.0, std::numeric_limits<double>::infinity(), 5e-324};
  {
    RecordingWriter writer = RecordingWriter::create(folder / "frames", layout);
    for (std::size_t i = 0; i < written.size(); ++i) writer.append(i, written[i]);
    writer.sync();
    EXPECT_EQ(writer.frame_count(), 7u);
  }
  RecordingReader opened(folder / "frames");
  RecordingReader reader = std::move(opened);
  EXPECT_EQ(reader.frame_count(), 7u);
  EXPECT_FALSE(reader.torn());
  EXPECT_EQ(reader.layout().title, layout.title);
  Snapshot back;
  for (const std::size_t i : {6, 0, 3, 4, 1, 2, 5}) {
    reader.read(i, back);
    EXPECT_TRUE(same_bits(back, written[i])) << i;
  }
  EXPECT_THROW(reader.read(7, back), std::invalid_argument);
}

TEST(Recording, OfNothingHasOnlyTimes) {
  const TemporaryFolder folder;
  Snapshot snapshot;
  {
    RecordingWriter writer = RecordingWriter::create(folder / "frames", Layout{});
    snapshot.time = 2;
    writer.append(0, snapshot);
  }
  RecordingReader reader(folder / "frames");
  ASSERT_EQ(reader.frame_count(), 1u);
  reader.read(0, snapshot);
  EXPECT_EQ(snapshot.time, 2);
}

TEST(Recording, ReaderSeesARunningWritersFrames) {
  const TemporaryFolder folder;
  const Layout layout = small_layout();
  RecordingWriter writer = RecordingWriter::create(folder / "frames", layout);
  EXPECT_EQ(RecordingReader(folder / "frames").frame_count(), 0u);
  writer.append(0, small_snapshot(layout, 0));
  EXPECT_EQ(RecordingReader(folder / "frames").frame_count(), 1u);
}

TEST(Recording, CreateKeepsWhatExists) {
  const TemporaryFolder folder;
  write_small(folder / "frames", 2);
  const std::string message = io_error([&] { RecordingWriter::create(folder / "frames", small_layout()); });
  EXPECT_NE(message.find((folder / "frames").string()), std::string::npos) << message;
  EXPECT_NE(message.find("File exists"), std::string::npos) << message;
  EXPECT_EQ(RecordingReader(folder / "frames").frame_count(), 2u);
  EXPECT_NE(io_error([&] { RecordingWriter::create(folder / "no" / "frames", small_layout()); }), "");
  EXPECT_NE(io_error([&] { RecordingWriter::reopen(folder / "nothing", small_layout()); }), "");
  EXPECT_NE(io_error([&] { RecordingReader reader(folder.path()); }), "");
}

TEST(Recording, ReopenedGoesOn) {
  const TemporaryFolder folder;
  const Layout layout = small_layout();
  write_small(folder / "whole", 5);
  write_small(folder / "parts", 2);
  {
    RecordingWriter writer = RecordingWriter::reopen(folder / "parts", layout);
    EXPECT_EQ(writer.frame_count(), 2u);
    for (int i = 0; i < 5; ++i) writer.append(static_cast<std::uint64_t>(i), small_snapshot(layout, i));
  }
  EXPECT_EQ(read_file(folder / "parts"), read_file(folder / "whole"));
}

TEST(Recording, ARepeatedFrameMustBeTheSame) {
  const TemporaryFolder folder;
  const Layout layout = small_layout();
  write_small(folder / "frames", 3);
  const std::string before = read_file(folder / "frames");
  RecordingWriter writer = RecordingWriter::reopen(folder / "frames", layout);
  Snapshot other = small_snapshot(layout, 1);
  other.scalars[1] = std::nextafter(other.scalars[1], 10);
  const std::string message = io_error([&] { writer.append(1, other); });
  EXPECT_NE(message.find("frame 1 differs"), std::string::npos) << message;
  writer.append(1, small_snapshot(layout, 1));
  EXPECT_EQ(read_file(folder / "frames"), before);
}

TEST(Recording, RefusesMisuse) {
  const TemporaryFolder folder;
  const Layout layout = small_layout();
  RecordingWriter writer = RecordingWriter::create(folder / "frames", layout);
  EXPECT_THROW(writer.append(1, small_snapshot(layout, 1)), std::invalid_argument);  // a gap
  Snapshot snapshot = small_snapshot(layout, 0);
  snapshot.points.pop_back();
  EXPECT_THROW(writer.append(0, snapshot), std::invalid_argument);
  EXPECT_EQ(writer.frame_count(), 0u);
}

TEST(Recording, RefusesAnotherLayout) {
  const TemporaryFolder folder;
  write_small(folder / "frames", 2);
  Layout other = small_layout();
  other.scalars[0].name = "tip.position.y";
  EXPECT_NE(io_error([&] { RecordingWriter::reopen(folder / "frames", other); }).find("another layout"),
            std::string::npos);
  other.scalars.push_back({"more", "J"});
  EXPECT_NE(io_error([&] {
              RecordingWriter::reopen(folder / "frames", other);
            }).find("this run has 2 frames, 5 points, 3 scalars"),
            std::string::npos);
  EXPECT_EQ(RecordingReader(folder / "frames").frame_count(), 2u);
}

TEST(Recording, HasOneWriterAtATime) {
  const TemporaryFolder folder;
  const Layout layout = small_layout();
  RecordingWriter writer = RecordingWriter::create(folder / "frames", layout);
  EXPECT_NE(io_error([&] { RecordingWriter::reopen(folder / "frames", layout); }).find("another process"),
            std::string::npos);
}

TEST(Recording, AppendAllocatesNothing) {
  const TemporaryFolder folder;
  const Layout layout = small_layout();
  RecordingWriter writer = RecordingWriter::create(folder / "frames", layout);
  const Snapshot snapshot = small_snapshot(layout, 0);
  writer.append(0, snapshot);
  const long before = allocation_count();
  for (std::uint64_t i = 1; i < 50; ++i) writer.append(i, snapshot);
  writer.append(20, snapshot);  // compares
  EXPECT_EQ(allocation_count(), before);
}

TEST(Report, SaysItsStatus) {
  EXPECT_STREQ(to_string(Status::ok), "ok");
  EXPECT_STREQ(to_string(Status::not_converged), "not converged");
  EXPECT_STREQ(to_string(Status::diverged), "diverged");
  EXPECT_TRUE(SolveReport{}.ok());
}

}  // namespace
}  // namespace limber::result::testing
