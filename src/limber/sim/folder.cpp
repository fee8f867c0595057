#include "limber/sim/folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "limber/result/recording.h"

namespace limber::sim {

namespace fs = std::filesystem;
using result::IoError;

namespace {

constexpr std::array own_names{"run.json",   "frames",    "touches",   "checkpoint", "scene",
                               "probes.csv", "scene.glb", "scene.pvd", "vtk",        "report.html"};
constexpr char lock_text[] = "limber process ";

bool is_temporary(const fs::path& file) {  // as result::write_atomically names it
  const std::string name = file.filename().string();
  return name.starts_with('.') && name.find(".tmp-") != std::string::npos;
}

void remove_temporary_in(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (is_temporary(it->path()) && it->is_regular_file(ignored)) fs::remove(it->path(), ignored);
  }
}

void remove_run(const fs::path& folder) {
  for (const char* name : own_names) {
    std::error_code error;
    fs::remove_all(folder / name, error);
    if (error) throw IoError(folder / name, "cannot remove: " + error.message());
  }
  remove_temporary_files(folder);
}

// What stands in the way of a new run, "" if nothing does.
std::string first_obstacle(const fs::path& folder, bool only_own_names) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    const bool own = std::ranges::find(own_names, name) != own_names.end();
    if (name != "lock" && !is_temporary(it->path()) && (own || !only_own_names)) return name;
  }
  if (error) throw IoError(folder, "cannot read: " + error.message());
  return {};
}

std::string read_lock(int descriptor) {
  std::array<char, 64> text{};
  const ssize_t n = ::pread(descriptor, text.data(), text.size(), 0);
  std::string line(text.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
  return line.substr(0, line.find('\n'));
}

bool same_file(int descriptor, const fs::path& file) {
  struct stat a {
  }, b{};
  return ::fstat(descriptor, &a) == 0 && ::stat(file.c_str(), &b) == 0 && a.st_ino == b.st_ino &&
         a.st_dev == b.st_dev;
}

}  // namespace

RunLock::RunLock(const fs::path& folder) : file_(folder / "lock") {
  // The holder removes the file when it leaves: a lock on a removed file is worth nothing, so look again.
  for (;;) {
    descriptor_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (descriptor_ < 0) throw IoError(file_, fmt::format("cannot create: {}", std::strerror(errno)));
    const int status = ::flock(descriptor_, LOCK_EX | LOCK_NB);
    if (status != 0 && errno == EWOULDBLOCK) {
      const std::string holder = read_lock(descriptor_);
      ::close(descriptor_);
      throw IoError(folder, fmt::format("another process is writing this run{}",
                                        holder.empty() ? "" : fmt::format(" ({})", holder)));
    }
    if (same_file(descriptor_, file_)) break;
    ::close(descriptor_);
  }
  left_behind_ = read_lock(descriptor_).starts_with(lock_text);
  const std::string text = fmt::format("{}{}\n", lock_text, ::getpid());
  // The id is a help for people; a full disk is met again at the first file that matters.
  if (::ftruncate(descriptor_, 0) == 0) std::ignore = ::pwrite(descriptor_, text.data(), text.size(), 0);
}

RunLock::~RunLock() {
  ::unlink(file_.c_str());
  ::close(descriptor_);
}

bool holds_run(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_regular_file(folder / "run.json", error)) return false;
  const auto json = nlohmann::json::parse(result::read_file(folder / "run.json"), nullptr, false);
  return json.is_object() && json.contains("limber");
}

std::unique_ptr<RunLock> prepare_folder(const fs::path& folder, bool force) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw IoError(folder, "cannot create: " + error.message());
  auto lock = std::make_unique<RunLock>(folder);

  // A run killed before its run.json was written left only its lock, scene and temporary files.
  const bool run = holds_run(folder), never_began = !run && lock->left_behind();
  if (run && !force)
    throw std::invalid_argument(
        fmt::format("{} holds a run already: continue it with 'limber resume {}', or replace it with --force",
                    folder.string(), folder.string()));
  if (run || never_began) remove_run(folder);
  const std::string obstacle = first_obstacle(folder, force);
  if (!obstacle.empty())
    throw std::invalid_argument(fmt::format(
        "{} is not empty ('{}'): {}", folder.string(), obstacle,
        force ? "the run would overwrite it" : "choose another folder, or write into it with --force"));
  return lock;
}

void abandon(const fs::path& folder, std::unique_ptr<RunLock> lock, bool and_folder) {
  std::error_code error;
  for (const char* name : own_names) fs::remove_all(folder / name, error);
  remove_temporary_files(folder);
  lock.reset();
  if (and_folder) fs::remove(folder, error);  // if nothing else is in it
}

fs::path claim_free_name(const fs::path& folder) {
  std::error_code error;
  if (folder.has_parent_path()) fs::create_directories(folder.parent_path(), error);
  for (int i = 1;; ++i) {
    const fs::path candidate = i == 1 ? folder : fs::path(fmt::format("{}-{}", folder.string(), i));
    if (fs::create_directory(candidate, error)) return candidate;
    if (error && error != std::errc::file_exists)
      throw IoError(candidate, "cannot create: " + error.message());
  }
}

bool stays_inside(const fs::path& path) {
  const fs::path normal = path.lexically_normal();
  return !normal.empty() && !normal.is_absolute() && *normal.begin() != "..";
}

void write_sources(const fs::path& folder, const std::vector<SourceFile>& sources) {
  for (const SourceFile& source : sources) {
    if (!stays_inside(source.path))
      throw std::invalid_argument(
          fmt::format("source '{}': expected a path inside the scene's folder", source.path));
    const fs::path file = folder / "scene" / source.path;
    std::error_code error;
    fs::create_directories(file.parent_path(), error);
    if (error) throw IoError(file.parent_path(), "cannot create: " + error.message());
    result::write_atomically(file, source.text);
  }
}

void remove_temporary_files(const fs::path& folder) {
  remove_temporary_in(folder);
  remove_temporary_in(folder / "vtk");
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder / "scene", error), end; !error && it != end;
       it.increment(error))
    if (it->is_directory()) remove_temporary_in(it->path());
  remove_temporary_in(folder / "scene");
}

}  // namespace limber::sim
