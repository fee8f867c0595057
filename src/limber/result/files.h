// Files by their POSIX descriptor: whole reads and writes or an IoError, and files that appear only when
// complete.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "limber/result/recording.h"

namespace limber::result {

// An open file. Interrupted and short transfers are continued; every failure is an IoError with path and
// reason.
class File {
 public:
  File(std::filesystem::path path, int flags, mode_t mode = 0666);
  // A new file `temporary`; messages say `path`.
  File(std::filesystem::path path, const std::filesystem::path& temporary);
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const;
  void write_at(std::uint64_t offset, const void* data, std::size_t size);
  // Returns less than `size` only at the end of the file.
  std::size_t read_at(std::uint64_t offset, void* data, std::size_t size) const;
  std::size_t read_some(void* data, std::size_t size) const;  // from where the last one ended; 0 at the end
  void truncate(std::uint64_t size);
  void sync(bool with_metadata = true);
  void lock();   // against a second writer; throws if another one holds it
  void close();  // reports what a delayed write may still have to say

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

std::filesystem::path folder_of(const std::filesystem::path& path);  // "." for a bare name

// Makes a created or renamed name in `folder` survive a power cut.
void sync_folder(const std::filesystem::path& folder);

// Written under a temporary name in the same folder; commit() gives it its own, otherwise it vanishes.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void write(const void* data, std::size_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }
  void commit();

 private:
  void flush();

  std::filesystem::path path_, temporary_;
  File file_;
  std::vector<char> buffer_;
  std::uint64_t written_ = 0;
  bool committed_ = false;
};

}  // namespace limber::result
