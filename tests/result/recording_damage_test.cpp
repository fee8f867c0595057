// Files cut off at any byte, with any bit turned, and made up to do harm.
#include <gtest/gtest.h>

#include "limber/result/frame_record.h"
#include "tests/result/small_recording.h"

namespace limber::result::testing {
namespace {

constexpr int frames = 4;

class Damage : public ::testing::Test {
 protected:
  Damage() {
    write_small(folder / "good", frames);
    good = read_file(folder / "good");
    head = encode_head(layout).size();
    record = frame_record_size(layout);
  }
  std::uint64_t whole_frames(std::size_t size) const { return size < head ? 0 : (size - head) / record; }

  const TemporaryFolder folder{fast_base()};
  const Layout layout = small_layout();
  std::string good;
  std::size_t head = 0, record = 0;
};

TEST_F(Damage, ReopenKeepsEveryFinishedFrameOfAFileCutAnywhere) {
  ASSERT_EQ(good.size(), head + frames * record);
  for (std::size_t size = 0; size <= good.size(); ++size) {
    put_file(folder / "cut", good.substr(0, size));
    {
      RecordingWriter writer = RecordingWriter::reopen(folder / "cut", layout);
      ASSERT_EQ(writer.frame_count(), whole_frames(size)) << size;
      // The run goes on from its last checkpoint, a frame earlier.
      const std::uint64_t from = writer.frame_count() > 0 ? writer.frame_count() - 1 : 0;
      for (std::uint64_t i = from; i < frames; ++i)
        writer.append(i, small_snapshot(layout, static_cast<int>(i)));
    }
    ASSERT_EQ(read_file(folder / "cut"), good) << size;
  }
}

TEST_F(Damage, ReaderSeesEveryFinishedFrameOfAFileCutAnywhere) {
  for (std::size_t size = 0; size <= good.size(); ++size) {
    put_file(folder / "cut", good.substr(0, size));
    if (size < head) {
      ASSERT_NE(io_error([&] { RecordingReader reader(folder / "cut"); }), "") << size;
      continue;
    }
    RecordingReader reader(folder / "cut");
    ASSERT_EQ(reader.frame_count(), whole_frames(size)) << size;
    ASSERT_EQ(reader.torn(), (size - head) % record != 0) << size;
    Snapshot back;
    for (std::uint64_t i = 0; i < reader.frame_count(); ++i) {
      reader.read(i, back);
      ASSERT_TRUE(same_bits(back, small_snapshot(layout, static_cast<int>(i))));
    }
  }
}

TEST_F(Damage, EveryTurnedBitIsSeen) {
  const std::size_t last = head + (frames - 1) * record;
  for (std::size_t byte = 0; byte < good.size(); ++byte) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[byte] = static_cast<char>(bad[byte] ^ (1 << bit));
      put_file(folder / "bad", bad);
      if (byte < last) {
        ASSERT_NE(io_error([&] { RecordingReader reader(folder / "bad"); }), "") << byte << " " << bit;
        ASSERT_NE(io_error([&] { RecordingWriter::reopen(folder / "bad", layout); }), "")
            << byte << " " << bit;
        ASSERT_EQ(read_file(folder / "bad"), bad) << "a refused file stays as it is";
      } else {
        // In the last record it looks like a power cut: that frame is gone, the others stay.
        RecordingReader reader(folder / "bad");
        ASSERT_TRUE(reader.torn()) << byte << " " << bit;
        ASSERT_EQ(reader.frame_count(), frames - 1u);
      }
    }
  }
}

TEST_F(Damage, IsNamedWithRecordAndByte) {
  std::string bad = good;
  bad[head + record + 40] ^= 1;  // frame 1; record 0 is the layout
  put_file(folder / "frames", bad);
  const std::string expected =
      (folder / "frames").string() + ": record 2 at byte " + std::to_string(head + record) + " is damaged";
  EXPECT_EQ(io_error([&] { RecordingReader reader(folder / "frames"); }), expected);
  EXPECT_EQ(io_error([&] { RecordingWriter::reopen(folder / "frames", layout); }), expected);
}

TEST_F(Damage, ZerosAfterAPowerCutAreATornTail) {
  std::string bad = good.substr(0, head + 2 * record + 33);
  bad.resize(head + 5 * record + 7, '\0');
  put_file(folder / "frames", bad);
  EXPECT_EQ(RecordingReader(folder / "frames").frame_count(), 2u);
  EXPECT_EQ(RecordingWriter::reopen(folder / "frames", layout).frame_count(), 2u);
  EXPECT_EQ(std::filesystem::file_size(folder / "frames"), head + 2 * record);
}

TEST_F(Damage, AMissingByteIsNoTornTail) {
  std::string bad = good;
  bad.erase(head + record + 20, 1);
  put_file(folder / "frames", bad);
  EXPECT_NE(io_error([&] { RecordingWriter::reopen(folder / "frames", layout); }), "");
  EXPECT_EQ(read_file(folder / "frames"), bad);
}

TEST_F(Damage, FramesInTheWrongPlaceAreSeen) {
  // Each is right in itself: frame 2 in the place of frame 1.
  std::string bad = good;
  bad.replace(head + record, record, good.substr(head + 2 * record, record));
  put_file(folder / "frames", bad);
  EXPECT_NE(io_error([&] { RecordingReader reader(folder / "frames"); }).find("record 2"), std::string::npos);
}

TEST_F(Damage, AFrameSpoiltAfterOpeningIsSeen) {
  RecordingReader reader(folder / "good");
  std::string bad = good;
  bad[head + record + 40] ^= 1;
  put_file(folder / "good", bad);
  Snapshot snapshot;
  reader.read(0, snapshot);
  EXPECT_NE(io_error([&] { reader.read(1, snapshot); }).find("damaged"), std::string::npos);
}

// A file whose layout is `text`, checksum right, its length `length`.
std::string file_with_layout(const std::string& text, std::uint64_t length) {
  const RecordHeader header{1, crc32c(text.data(), text.size()), length};
  return std::string(file_magic, magic_size) +
         std::string(reinterpret_cast<const char*>(&header), sizeof header) + text;
}

TEST_F(Damage, LengthsAreNotBelieved) {
  const std::string text = R"({"title":"","frames":[],"polylines":[],"scalars":[]})";
  for (const std::uint64_t length : {std::uint64_t{1} << 40, ~std::uint64_t{0}, ~std::uint64_t{0} - 24,
                                     std::uint64_t{text.size() + 1}, std::uint64_t{0}}) {
    put_file(folder / "frames", file_with_layout(text, length));
    EXPECT_NE(io_error([&] { RecordingReader reader(folder / "frames"); }), "") << length;
  }
  put_file(folder / "frames", file_with_layout(text, text.size()));
  EXPECT_EQ(RecordingReader(folder / "frames").frame_count(), 0u);
}

TEST_F(Damage, LayoutsThatAreNoneAreRefused) {
  for (const std::string text : {"", "{", "[1,2]", "{\"title\":\"\"}"}) {
    put_file(folder / "frames", file_with_layout(text, text.size()));
    EXPECT_NE(io_error([&] { RecordingReader reader(folder / "frames"); }).find("layout"), std::string::npos)
        << text;
  }
  // A frame of 2³¹ points would take 48 GiB.
  const std::string huge =
      R"({"title":"","frames":[],"polylines":[{"name":"a","points":2147483647,"radius":0}],"scalars":[]})";
  put_file(folder / "frames", file_with_layout(huge, huge.size()));
  EXPECT_NE(io_error([&] { RecordingReader reader(folder / "frames"); }).find("4 GiB"), std::string::npos);
  // Nesting far deeper than any stack.
  const std::string deep = std::string(1'000'000, '[');
  put_file(folder / "frames", file_with_layout(deep, deep.size()));
  EXPECT_NE(io_error([&] { RecordingReader reader(folder / "frames"); }), "");
}

TEST_F(Damage, OtherFilesAreRefused) {
  put_file(folder / "frames", "time [s],x [m]\n0,1\n");
  EXPECT_NE(
      io_error([&] { RecordingReader reader(folder / "frames"); }).find("not a file of limber's frames"),
      std::string::npos);
  EXPECT_NE(io_error([&] { RecordingWriter::reopen(folder / "frames", layout); }), "");
}

}  // namespace
}  // namespace limber::result::testing
