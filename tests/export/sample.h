// A recording with every shape and both kinds of lines, its motion known in closed form.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>

#include "limber/result/recording.h"

namespace limber::exporting::testing {

inline constexpr std::uint64_t sample_frames = 12;

// Frames: fixed base, an arm of two shapes, a ball, a rod (same ball shape and color twice), one without
// shapes. Polylines: a thick beam, a thin cable, one of a single point. Scalars with names that need quoting.
result::Layout sample_layout();
result::Snapshot sample_snapshot(const result::Layout& layout, std::uint64_t index);

// A rectangle swept along a line of five points, which bends, twists and thins.
result::Layout swept_layout();
std::vector<result::Snapshot> swept_snapshots(std::uint64_t count);

// Writes folder/frames with so many frames of the sample.
void write_sample(const std::filesystem::path& folder, std::uint64_t frames);
void write_recording(const std::filesystem::path& folder, const result::Layout& layout,
                     const std::vector<result::Snapshot>& snapshots);

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "limber_export_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace limber::exporting::testing
