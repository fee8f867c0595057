// The `frames` file of a run: an append-only list of records, each with its checksum, so that a killed run
// keeps every finished frame.
//
//   file   = "LIMBFRM1" record(layout) record(frame)*
//   record = u32 kind, u32 crc32c of the payload, u64 payload length, payload       (little endian)
//   layout payload: JSON text (a Layout); frame payload: u64 index, f64 time, then rotations (w,x,y,z),
//   positions, points, scalars as f64.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include "limber/result/snapshot.h"

namespace limber::result {

// Cannot read or write: always names the path and the reason. The command ends with exit code 4.
class IoError : public std::runtime_error {
 public:
  IoError(const std::filesystem::path& path, const std::string& what);
};

// What was recorded is not what this run would record: it cannot be continued.
class OtherRun : public IoError {
 public:
  using IoError::IoError;
};

std::uint32_t crc32c(const void* data, std::size_t size, std::uint32_t seed = 0);

class RecordingWriter {
 public:
  // A new file; fails if it exists.
  static RecordingWriter create(const std::filesystem::path& path, const Layout& layout);
  // An existing file, checked record by record; a torn record at its end is cut off, finished frames stay.
  // Throws IoError if the layout differs, the damage is not at the end, or another process is writing to it.
  static RecordingWriter reopen(const std::filesystem::path& path, const Layout& layout);
  RecordingWriter(RecordingWriter&&) noexcept;
  RecordingWriter& operator=(RecordingWriter&&) noexcept;
  ~RecordingWriter();

  std::uint64_t frame_count() const;
  // Writes frame `index`. If the file already has it (a resumed run catching up), compares the bytes instead
  // and throws IoError when they differ. Index must not leave a gap. No allocation after the first call.
  void append(std::uint64_t index, const Snapshot& snapshot);
  void sync();  // data is on the disk

 private:
  struct Impl;
  explicit RecordingWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

class RecordingReader {
 public:
  explicit RecordingReader(const std::filesystem::path& path);  // throws IoError
  RecordingReader(RecordingReader&&) noexcept;
  ~RecordingReader();

  const Layout& layout() const;
  std::uint64_t frame_count() const;  // complete frames with a right checksum
  bool torn() const;                  // bytes follow that are no complete record (a killed or running writer)
  void read(std::uint64_t index, Snapshot& snapshot);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Writes so that the final name appears only when complete: temporary name, fsync, rename, fsync of the
// folder.
void write_atomically(const std::filesystem::path& path, const void* data, std::size_t size);
void write_atomically(const std::filesystem::path& path, const std::string& text);
std::string read_file(const std::filesystem::path& path);

}  // namespace limber::result
