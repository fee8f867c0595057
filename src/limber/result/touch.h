// Places where two things press on each other, to be drawn and to be read by a program that controls them.
//
// The `touches` file of a run: for every frame one record, as those of `frames` (recording.h),
//
//   file   = "LIMBTCH1" record*
//   record = u32 kind (3), u32 crc32c of the payload, u64 payload length, payload       (little endian)
//   payload: u64 index of the frame, then for each place i32 a, i32 b, at (3 f64), force (3 f64)
//
// Only runs in which something may touch have one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "limber/math/spatial.h"
#include "limber/result/files.h"

namespace limber::result {

struct Touch {
  int a = -1, b = -1;         // frames of the layout; −1: a line, or what has no frame
  Vec3 at = Vec3::Zero();     // [m] in the world
  Vec3 force = Vec3::Zero();  // [N] on a
};
using Touches = std::vector<Touch>;

class TouchWriter {
 public:
  // A new file, or one whose first `frames` records are kept; those beyond are written again. Throws IoError
  // where fewer are whole.
  TouchWriter(const std::filesystem::path& path, std::uint64_t frames);
  void append(const Touches& touches);
  void sync() { file_.sync(false); }

 private:
  File file_;
  std::uint64_t end_ = 0, count_ = 0;
  std::vector<std::byte> record_;
};

class TouchReader {
 public:
  explicit TouchReader(const std::filesystem::path& path);  // throws IoError
  std::uint64_t frame_count() const { return offsets_.size(); }
  void read(std::uint64_t index, Touches& out);

 private:
  File file_;
  std::vector<std::uint64_t> offsets_;
  std::vector<std::byte> record_;
};

}  // namespace limber::result
