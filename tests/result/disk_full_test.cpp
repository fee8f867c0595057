// A disk that is full, played by a limit on the size of files (EFBIG takes the same way as ENOSPC) and by
// /dev/full. The limit holds for a whole process, so each test runs in a child.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "limber/result/files.h"
#include "limber/result/frame_record.h"
#include "tests/result/small_recording.h"

namespace limber::result::testing {
namespace {

// Runs `body` with files limited to `bytes`; true if it returned true.
bool in_child_with_limit(std::size_t bytes, const std::function<bool()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, bytes};
    bool good = ::setrlimit(RLIMIT_FSIZE, &limit) == 0;
    try {
      good = good && body();
    } catch (...) {
      good = false;
    }
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(DiskFull, KeepsFinishedFramesAndNothingElse) {
  const Layout layout = small_layout();
  const std::size_t head = encode_head(layout).size(), record = frame_record_size(layout);
  // Full at the end of a record, one byte after it, within the next, and just before its end.
  for (const std::size_t rest : {std::size_t{0}, std::size_t{1}, record / 2, record - 1}) {
    const TemporaryFolder folder;
    EXPECT_TRUE(in_child_with_limit(head + 3 * record + rest, [&] {
      RecordingWriter writer = RecordingWriter::create(folder / "frames", layout);
      for (int i = 0; i < 3; ++i) writer.append(static_cast<std::uint64_t>(i), small_snapshot(layout, i));
      const std::string message = io_error([&] { writer.append(3, small_snapshot(layout, 3)); });
      return contains(message, (folder / "frames").string()) && contains(message, "File too large") &&
             writer.frame_count() == 3;
    })) << rest;
    // The half-written record is cut off, and with room again the run goes on.
    EXPECT_EQ(std::filesystem::file_size(folder / "frames"), head + 3 * record) << rest;
    RecordingWriter writer = RecordingWriter::reopen(folder / "frames", layout);
    EXPECT_EQ(writer.frame_count(), 3u);
    writer.append(3, small_snapshot(layout, 3));
  }
}

TEST(DiskFull, AWriterGoesOnWhenThereIsRoomAgain) {
  const TemporaryFolder folder;
  const Layout layout = small_layout();
  const std::size_t head = encode_head(layout).size(), record = frame_record_size(layout);
  EXPECT_TRUE(in_child_with_limit(head + 10 * record, [&] {
    RecordingWriter writer = RecordingWriter::create(folder / "frames", layout);
    const rlimit full{head + record / 2, head + 10 * record}, room{head + 10 * record, head + 10 * record};
    if (::setrlimit(RLIMIT_FSIZE, &full) != 0) return false;
    const bool failed = io_error([&] { writer.append(0, small_snapshot(layout, 0)); }) != "";
    if (::setrlimit(RLIMIT_FSIZE, &room) != 0) return false;
    writer.append(0, small_snapshot(layout, 0));
    return failed && writer.frame_count() == 1;
  }));
  RecordingReader reader(folder / "frames");
  EXPECT_EQ(reader.frame_count(), 1u);
  EXPECT_FALSE(reader.torn());
}

TEST(DiskFull, CreateLeavesNoFile) {
  const TemporaryFolder folder;
  EXPECT_TRUE(in_child_with_limit(20, [&] {
    return contains(io_error([&] { RecordingWriter::create(folder / "frames", small_layout()); }),
                    "File too large");
  }));
  EXPECT_EQ(folder.entries(), 0u);
}

TEST(DiskFull, WriteAtomicallyKeepsTheOldFile) {
  const TemporaryFolder folder;
  write_atomically(folder / "run.json", "old");
  EXPECT_TRUE(in_child_with_limit(1000, [&] {
    const std::string message =
        io_error([&] { write_atomically(folder / "run.json", std::string(5000, 'x')); });
    return contains(message, (folder / "run.json").string() + ": cannot write: File too large");
  }));
  EXPECT_EQ(read_file(folder / "run.json"), "old");
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(DiskFull, NoSpaceIsNamed) {
  File full("/dev/full", O_WRONLY);
  EXPECT_EQ(io_error([&] { full.write_at(0, "x", 1); }), "/dev/full: cannot write: No space left on device");
}

}  // namespace
}  // namespace limber::result::testing
