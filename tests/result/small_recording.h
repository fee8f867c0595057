// A small recording for the tests of result/, and a folder that cleans up after itself.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "limber/math/so3.h"
#include "limber/result/recording.h"

namespace limber::result::testing {

class TemporaryFolder {
 public:
  TemporaryFolder() : TemporaryFolder(std::filesystem::temp_directory_path()) {}
  explicit TemporaryFolder(const std::filesystem::path& base) {
    std::string name = (base / "limber_result_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator()));
  }

 private:
  std::filesystem::path path_;
};

// For tests that write thousands of files: in memory where there is such a place.
inline std::filesystem::path fast_base() {
  const std::filesystem::path memory = "/dev/shm";
  return ::access(memory.c_str(), W_OK) == 0 ? memory : std::filesystem::temp_directory_path();
}

inline Layout small_layout() {
  Layout layout;
  layout.title = "Two \"links\", µ = 0.3";
  layout.frames.push_back(
      {"base", {{BoxShape{{0.1, 0.2, 0.3}}, Pose::translation({0, 0, 0.1})}}, Color{0.2f, 0.4f, 0.6f}, true});
  layout.frames.push_back(
      {"link",
       {{CapsuleShape{0.01, 0.2}, {math::rotation_x(0.3), {0.1, 0, 0}}}, {SphereShape{0.02}, {}}},
       {},
       false});
  layout.polylines.push_back({"cable", 3, 0, std::nullopt});
  layout.polylines.push_back({"beam", 2, 0.004, Color{1, 0, 0}});
  layout.scalars = {{"tip.position.x", "m"}, {"iterations", ""}};
  layout.frame_value = "activity";
  return layout;
}

inline Snapshot small_snapshot(const Layout& layout, int index) {
  Snapshot s;
  s.resize(layout);
  s.time = 0.1 * index;
  for (std::size_t f = 0; f < s.rotations.size(); ++f) {
    s.rotations[f] = math::quat_exp({0.1 * index, 0.2 * static_cast<double>(f), 0.3});
    s.positions[f] = Vec3(index, static_cast<double>(f), 1.0 / 3);
  }
  for (std::size_t p = 0; p < s.points.size(); ++p)
    s.points[p] = Vec3(static_cast<double>(p), 0.7 * index, -1);
  for (std::size_t i = 0; i < s.scalars.size(); ++i)
    s.scalars[i] = 1.0 / (1 + index) + static_cast<double>(i);
  for (std::size_t i = 0; i < s.values.size(); ++i) s.values[i] = 0.1 * index + 0.01 * static_cast<double>(i);
  return s;
}

inline void write_small(const std::filesystem::path& path, int frames) {
  const Layout layout = small_layout();
  RecordingWriter writer = RecordingWriter::create(path, layout);
  for (int i = 0; i < frames; ++i) writer.append(static_cast<std::uint64_t>(i), small_snapshot(layout, i));
}

// Bits, so that NaN and −0 count as well.
inline bool same_bits(const Snapshot& a, const Snapshot& b) {
  const auto same = [](const auto& x, const auto& y) {
    return x.size() == y.size() &&
           (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof x[0]) == 0);
  };
  return std::memcmp(&a.time, &b.time, sizeof a.time) == 0 && same(a.rotations, b.rotations) &&
         same(a.positions, b.positions) && same(a.points, b.points) && same(a.scalars, b.scalars) &&
         same(a.values, b.values);
}

inline void put_file(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// The message of the IoError that `action` throws; empty if it throws none.
template <class Action>
std::string io_error(Action&& action) {
  try {
    action();
  } catch (const IoError& error) {
    return error.what();
  }
  return "";
}

}  // namespace limber::result::testing
