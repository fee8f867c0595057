#include "limber/sim/folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>

#include "sim_support.h"

namespace limber::sim {
namespace {

using testing::TemporaryFolder;
namespace fs = std::filesystem;

void touch(const fs::path& file, const std::string& text = "x") {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

TEST(Folder, TakesTheNextFreeName) {
  const TemporaryFolder t;
  EXPECT_EQ(claim_free_name(t / "runs" / "arm"), t / "runs" / "arm");
  EXPECT_EQ(claim_free_name(t / "runs" / "arm"), t / "runs" / "arm-2");
  touch(t / "runs" / "arm-3");
  EXPECT_EQ(claim_free_name(t / "runs" / "arm"), t / "runs" / "arm-4");
}

TEST(Folder, OnlyOneProcessMayWrite) {
  const TemporaryFolder t;
  {
    const RunLock lock(t.path());
    try {
      const RunLock second(t.path());
      FAIL() << "a second lock was given";
    } catch (const result::IoError& e) {
      EXPECT_NE(std::string(e.what()).find("limber process " + std::to_string(::getpid())), std::string::npos)
          << e.what();
    }
  }
  EXPECT_FALSE(fs::exists(t / "lock"));
  EXPECT_FALSE(RunLock(t.path()).left_behind());
}

TEST(Folder, AKilledRunsLockIsTakenOver) {
  const TemporaryFolder t;
  touch(t / "lock", "limber process 12345\n");
  EXPECT_TRUE(RunLock(t.path()).left_behind());
}

TEST(Folder, RefusesWhatIsNotOurs) {
  const TemporaryFolder t;
  touch(t / "thesis.tex");
  EXPECT_THROW(prepare_folder(t.path(), false), std::invalid_argument);
  EXPECT_TRUE(fs::exists(t / "thesis.tex"));
  EXPECT_FALSE(fs::exists(t / "lock"));
  prepare_folder(t.path(), true);
  EXPECT_TRUE(fs::exists(t / "thesis.tex"));
}

TEST(Folder, ForceDoesNotOverwriteForeignFilesOfTheSameName) {
  const TemporaryFolder t;
  touch(t / "scene" / "drawing.blend");
  EXPECT_THROW(prepare_folder(t.path(), true), std::invalid_argument);
  EXPECT_TRUE(fs::exists(t / "scene" / "drawing.blend"));
}

TEST(Folder, ReplacesARunOnlyWithForce) {
  const TemporaryFolder t;
  touch(t / "run.json", R"({"limber": "0.1.0"})");
  touch(t / "frames");
  touch(t / "vtk" / "frame_000000.vtp");
  touch(t / "notes.txt");
  EXPECT_THROW(prepare_folder(t.path(), false), std::invalid_argument);
  EXPECT_TRUE(fs::exists(t / "frames"));
  prepare_folder(t.path(), true);
  EXPECT_FALSE(fs::exists(t / "frames"));
  EXPECT_FALSE(fs::exists(t / "vtk"));
  EXPECT_TRUE(fs::exists(t / "notes.txt"));
}

TEST(Folder, LeftoversOfARunThatNeverBeganAreNoObstacle) {
  const TemporaryFolder t;
  touch(t / "lock", "limber process 12345\n");
  touch(t / "scene" / "arm.yaml");
  touch(t / ".run.json.tmp-12345-0");
  prepare_folder(t.path(), false);
  EXPECT_FALSE(fs::exists(t / "scene"));
  EXPECT_FALSE(fs::exists(t / ".run.json.tmp-12345-0"));
}

TEST(Folder, SourcesStayInside) {
  const TemporaryFolder t;
  write_sources(t.path(), {{"arm.yaml", "a"}, {"tables/f.csv", "b"}});
  EXPECT_EQ(result::read_file(t / "scene" / "tables" / "f.csv"), "b");
  for (const char* bad : {"../x", "/etc/x", "a/../../x", ""})
    EXPECT_THROW(write_sources(t.path(), {{bad, "x"}}), std::invalid_argument) << bad;
}

}  // namespace
}  // namespace limber::sim
