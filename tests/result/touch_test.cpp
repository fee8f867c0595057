// The file of places of contact: what is written is read, a torn or forged one is not believed.
#include "limber/result/touch.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/result/small_recording.h"

namespace limber::result {
namespace {

using testing::TemporaryFolder;

// So many places as the frame's number, all of their numbers told apart.
Touches touches_of(int frame) {
  Touches out;
  for (int k = 0; k < frame; ++k)
    out.push_back({frame, k - 1, Vec3(frame, k, 0.25), Vec3(-k, 1e-300 * k, 1e9 + frame)});
  return out;
}

void write(const std::filesystem::path& file, int from, int to) {
  TouchWriter out(file, static_cast<std::uint64_t>(from));
  for (int frame = from; frame < to; ++frame) out.append(touches_of(frame));
}

std::string bytes_of(const std::filesystem::path& file) { return read_file(file); }

void expect_frames(const std::filesystem::path& file, std::uint64_t count) {
  TouchReader in(file);
  ASSERT_EQ(in.frame_count(), count);
  Touches found;
  for (std::uint64_t i = 0; i < count; ++i) {
    in.read(i, found);
    const Touches expected = touches_of(static_cast<int>(i));
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t k = 0; k < found.size(); ++k) {
      EXPECT_EQ(found[k].a, expected[k].a);
      EXPECT_EQ(found[k].b, expected[k].b);
      EXPECT_EQ(found[k].at, expected[k].at);
      EXPECT_EQ(found[k].force, expected[k].force);
    }
  }
}

TEST(TouchFile, HoldsWhatWasWritten) {
  const TemporaryFolder folder;
  write(folder / "touches", 0, 4);
  expect_frames(folder / "touches", 4);
}

TEST(TouchFile, GoesOnAfterTheFramesThatAreKept) {
  const TemporaryFolder folder;
  write(folder / "whole", 0, 5);
  write(folder / "parts", 0, 4);
  write(folder / "parts", 2, 5);
  EXPECT_EQ(bytes_of(folder / "parts"), bytes_of(folder / "whole"));
}

TEST(TouchFile, AWriterKilledWithinARecordLosesThatOneAlone) {
  const TemporaryFolder folder;
  write(folder / "touches", 0, 4);
  std::filesystem::resize_file(folder / "touches", std::filesystem::file_size(folder / "touches") - 5);
  expect_frames(folder / "touches", 3);
  EXPECT_THROW(TouchWriter(folder / "touches", 4), IoError);
  write(folder / "touches", 3, 4);
  expect_frames(folder / "touches", 4);
}

TEST(TouchFile, ADamagedRecordEndsIt) {
  const TemporaryFolder folder;
  write(folder / "touches", 0, 4);
  std::string bytes = bytes_of(folder / "touches");
  bytes[bytes.size() - 20] = static_cast<char>(bytes[bytes.size() - 20] ^ 1);
  std::ofstream(folder / "touches", std::ios::binary) << bytes;
  expect_frames(folder / "touches", 3);
}

// A length is believed only as far as the file reaches.
TEST(TouchFile, AForgedLengthTakesNoMemory) {
  const TemporaryFolder folder;
  write(folder / "touches", 0, 1);
  std::string bytes = bytes_of(folder / "touches");
  bytes[8 + 8 + 5] = 0x7f;  // magic, kind and checksum, high bytes of the length
  std::ofstream(folder / "touches", std::ios::binary) << bytes;
  expect_frames(folder / "touches", 0);
  std::ofstream(folder / "touches", std::ios::binary) << "LIMBFRM1";
  EXPECT_THROW(TouchReader(folder / "touches"), IoError);
}

}  // namespace
}  // namespace limber::result
