#include <gtest/gtest.h>

#include <charconv>
#include <cstring>
#include <limits>
#include <sstream>

#include "limber/export/export.h"
#include "tests/export/sample.h"

namespace limber::exporting::testing {
namespace {

std::string csv_of(const std::filesystem::path& folder) {
  result::RecordingReader recording(folder / "frames");
  write_csv(recording, folder / "probes.csv");
  return result::read_file(folder / "probes.csv");
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<double> numbers_of(const std::string& line) {
  std::vector<double> numbers;
  for (const char *at = line.data(), *end = at + line.size(); at < end; ++at) {
    numbers.push_back(std::numeric_limits<double>::quiet_NaN());
    at = std::from_chars(at, end, numbers.back()).ptr;
  }
  return numbers;
}

TEST(Csv, HeaderNamesUnitsAndQuotes) {
  const TemporaryFolder folder;
  write_sample(folder.path(), 0);
  EXPECT_EQ(csv_of(folder.path()),
            "time [s],arm.angle [rad],\"force, \"\"pulled\"\" [N]\",arm angle [rad],arm/angle\n");
}

TEST(Csv, EveryNumberReadsBackToTheSameBits) {
  const TemporaryFolder folder;
  result::Layout layout;
  layout.scalars = {{"x", "m"}, {"y", ""}};
  std::vector<result::Snapshot> snapshots;
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double x : {0.0, -0.0, 0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, -2.2250738585072014e-308,
                         123456789.123456789, 1e22, 9007199254740993.0, infinity, -infinity}) {
    result::Snapshot s;
    s.resize(layout);
    s.time = static_cast<double>(snapshots.size()) * 0.1;
    s.scalars = {x, std::nextafter(x, 1)};
    snapshots.push_back(s);
  }
  write_recording(folder.path(), layout, snapshots);
  const auto lines = lines_of(csv_of(folder.path()));
  ASSERT_EQ(lines.size(), snapshots.size() + 1);
  for (std::size_t i = 0; i < snapshots.size(); ++i) {
    const std::vector<double> expected = {snapshots[i].time, snapshots[i].scalars[0],
                                          snapshots[i].scalars[1]};
    const std::vector<double> back = numbers_of(lines[i + 1]);
    ASSERT_EQ(back.size(), 3u) << lines[i + 1];
    EXPECT_EQ(std::memcmp(back.data(), expected.data(), 3 * sizeof(double)), 0) << lines[i + 1];
  }
}

TEST(Csv, IsShortAndPlain) {
  const TemporaryFolder folder;
  result::Layout layout;
  layout.scalars = {{"x", "m"}};
  result::Snapshot s;
  s.time = 0.005;
  s.scalars = {-std::numeric_limits<double>::quiet_NaN()};
  write_recording(folder.path(), layout, {s});
  EXPECT_EQ(csv_of(folder.path()), "time [s],x [m]\n0.005,nan\n");
}

}  // namespace
}  // namespace limber::exporting::testing
