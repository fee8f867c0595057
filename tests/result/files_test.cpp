#include "limber/result/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/result/small_recording.h"

namespace limber::result::testing {
namespace {

TEST(Files, WriteAtomicallyMakesAndReplaces) {
  const TemporaryFolder folder;
  const std::string large(3'000'001, 'y');  // more than the writer's buffer, and no multiple of it
  write_atomically(folder / "a.txt", large + '\0' + large);
  EXPECT_EQ(read_file(folder / "a.txt"), large + '\0' + large);
  write_atomically(folder / "a.txt", "");
  EXPECT_EQ(read_file(folder / "a.txt"), "");
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(Files, AnUncommittedFileVanishes) {
  const TemporaryFolder folder;
  {
    AtomicFile file(folder / "a.txt");
    file.write("text");
    EXPECT_FALSE(std::filesystem::exists(folder / "a.txt"));
  }
  EXPECT_EQ(folder.entries(), 0u);
}

TEST(Files, LongNamesFit) {
  const TemporaryFolder folder;
  const std::string name(255, 'n');  // NAME_MAX
  write_atomically(folder / name, "x");
  EXPECT_EQ(read_file(folder / name), "x");
}

TEST(Files, FailuresNamePathAndReason) {
  const TemporaryFolder folder;
  const auto path = folder / "no" / "a.txt";
  EXPECT_EQ(io_error([&] { write_atomically(path, "x"); }),
            path.string() + ": cannot write: No such file or directory");
  EXPECT_EQ(io_error([&] { read_file(path); }), path.string() + ": cannot open: No such file or directory");
  EXPECT_EQ(io_error([&] { read_file(folder.path()); }),
            folder.path().string() + ": cannot read: Is a directory");
  EXPECT_NE(io_error([&] { write_atomically("", "x"); }), "");
}

TEST(Files, AFolderInTheWayStaysAndNoTemporaryRemains) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "a");
  put_file(folder / "a" / "inside", "x");
  EXPECT_NE(io_error([&] { write_atomically(folder / "a", "x"); }), "");
  EXPECT_EQ(folder.entries(), 1u);
  EXPECT_TRUE(std::filesystem::exists(folder / "a" / "inside"));
}

TEST(Files, ReadsWhatAnnouncesNoSize) {
  EXPECT_NE(read_file("/proc/self/status").find("Name:"), std::string::npos);
}

TEST(Files, ANewFileIsReadableAsTheUserWants) {
  const TemporaryFolder folder;
  const mode_t before = ::umask(022);
  write_atomically(folder / "a.txt", "x");
  ::umask(before);
  struct stat status;
  ASSERT_EQ(::stat((folder / "a.txt").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0644u);
}

}  // namespace
}  // namespace limber::result::testing
