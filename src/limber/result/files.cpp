#include "limber/result/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

namespace limber::result {
namespace {

constexpr std::size_t buffer_size = std::size_t{1} << 18;
// Linux transfers at most 2³¹ − 4096 bytes a call; stay below it.
constexpr std::size_t largest_transfer = std::size_t{1} << 30;

[[noreturn]] void fail(const std::filesystem::path& path, const char* action, int error) {
  throw IoError(path, std::string("cannot ") + action + ": " + std::strerror(error));
}

int open_retrying(const std::filesystem::path& path, int flags, mode_t mode) {
  int descriptor;
  do descriptor = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

// A name for a temporary file in the folder of `path`, never used before by this process.
std::filesystem::path temporary_name(const std::filesystem::path& path) {
  static std::atomic<unsigned> counter{0};
  if (!path.has_filename()) throw IoError(path, "cannot write: not the name of a file");
  std::string name = "." + path.filename().string();
  name.resize(std::min<std::size_t>(name.size(), 200));  // NAME_MAX is 255
  name += ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
  return folder_of(path) / name;
}

}  // namespace

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

IoError::IoError(const std::filesystem::path& path, const std::string& what)
    : std::runtime_error(path.string() + ": " + what) {}

File::File(std::filesystem::path path, int flags, mode_t mode) : path_(std::move(path)) {
  descriptor_ = open_retrying(path_, flags, mode);
  if (descriptor_ < 0) fail(path_, (flags & O_CREAT) ? "create" : "open", errno);
}

File::File(std::filesystem::path path, const std::filesystem::path& temporary) : path_(std::move(path)) {
  // O_EXCL: neither follows a planted link nor meets another writer. What is in the way was left by a killed
  // process that had our id.
  ::unlink(temporary.c_str());
  descriptor_ = open_retrying(temporary, O_WRONLY | O_CREAT | O_EXCL, 0666);
  if (descriptor_ < 0) fail(path_, "write", errno);
}

File::File(File&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

File& File::operator=(File&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

File::~File() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::uint64_t File::size() const {
  struct stat status;
  if (::fstat(descriptor_, &status) != 0) fail(path_, "read", errno);
  if (!S_ISREG(status.st_mode)) throw IoError(path_, "cannot read: not a regular file");
  return static_cast<std::uint64_t>(status.st_size);
}

void File::write_at(std::uint64_t offset, const void* data, std::size_t size) {
  const auto* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t done =
        ::pwrite(descriptor_, at, std::min(size, largest_transfer), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail(path_, "write", errno);
    if (done == 0) fail(path_, "write", EIO);
    at += done;
    size -= static_cast<std::size_t>(done);
    offset += static_cast<std::uint64_t>(done);
  }
}

std::size_t File::read_at(std::uint64_t offset, void* data, std::size_t size) const {
  auto* at = static_cast<char*>(data);
  std::size_t total = 0;
  while (total < size) {
    const ssize_t done = ::pread(descriptor_, at + total, std::min(size - total, largest_transfer),
                                 static_cast<off_t>(offset + total));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail(path_, "read", errno);
    if (done == 0) break;
    total += static_cast<std::size_t>(done);
  }
  return total;
}

std::size_t File::read_some(void* data, std::size_t size) const {
  ssize_t done;
  do done = ::read(descriptor_, data, std::min(size, largest_transfer));
  while (done < 0 && errno == EINTR);
  if (done < 0) fail(path_, "read", errno);
  return static_cast<std::size_t>(done);
}

void File::truncate(std::uint64_t size) {
  int status;
  do status = ::ftruncate(descriptor_, static_cast<off_t>(size));
  while (status != 0 && errno == EINTR);
  if (status != 0) fail(path_, "truncate", errno);
}

void File::sync(bool with_metadata) {
  int status;
  do status = with_metadata ? ::fsync(descriptor_) : ::fdatasync(descriptor_);
  while (status != 0 && errno == EINTR);
  // EINVAL: something without a disk behind it.
  if (status != 0 && errno != EINVAL) fail(path_, "write", errno);
}

void File::lock() {
  int status;
  do status = ::flock(descriptor_, LOCK_EX | LOCK_NB);
  while (status != 0 && errno == EINTR);
  // A file system without locks only loses the warning.
  if (status != 0 && errno == EWOULDBLOCK) throw IoError(path_, "another process is writing to it");
}

void File::close() {
  const int descriptor = std::exchange(descriptor_, -1);
  // After EINTR the descriptor is closed all the same (Linux).
  if (descriptor >= 0 && ::close(descriptor) != 0 && errno != EINTR) fail(path_, "write", errno);
}

void sync_folder(const std::filesystem::path& folder) {
  const int descriptor = open_retrying(folder, O_RDONLY | O_DIRECTORY, 0);
  // A folder that may be written but not read cannot be synced; nothing is lost unless the power fails.
  if (descriptor < 0) return;
  int status;
  do status = ::fsync(descriptor);
  while (status != 0 && errno == EINTR);
  const int error = status != 0 ? errno : 0;
  ::close(descriptor);
  if (error == EIO) fail(folder, "write", error);
}

AtomicFile::AtomicFile(std::filesystem::path path)
    : path_(std::move(path)), temporary_(temporary_name(path_)), file_(path_, temporary_) {
  buffer_.reserve(buffer_size);
}

AtomicFile::~AtomicFile() {
  if (!committed_) ::unlink(temporary_.c_str());
}

void AtomicFile::write(const void* data, std::size_t size) {
  const auto* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const std::size_t part = std::min(size, buffer_size - buffer_.size());
    buffer_.insert(buffer_.end(), bytes, bytes + part);
    bytes += part;
    size -= part;
    if (buffer_.size() == buffer_size) flush();
  }
}

void AtomicFile::flush() {
  file_.write_at(written_, buffer_.data(), buffer_.size());
  written_ += buffer_.size();
  buffer_.clear();
}

void AtomicFile::commit() {
  flush();
  file_.sync();
  file_.close();
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail(path_, "write", errno);
  committed_ = true;
  sync_folder(folder_of(path_));
}

void write_atomically(const std::filesystem::path& path, const void* data, std::size_t size) {
  AtomicFile file(path);
  file.write(data, size);
  file.commit();
}

void write_atomically(const std::filesystem::path& path, const std::string& text) {
  write_atomically(path, text.data(), text.size());
}

std::string read_file(const std::filesystem::path& path) {
  const File file(path, O_RDONLY);
  std::string text;
  // To the end, whatever size is announced: pipes and /proc announce none.
  for (std::size_t done = 0;;) {
    text.resize(std::max(2 * done, buffer_size));
    const std::size_t part = file.read_some(text.data() + done, text.size() - done);
    done += part;
    if (part == 0) {
      text.resize(done);
      return text;
    }
  }
}

}  // namespace limber::result
