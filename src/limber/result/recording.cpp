#include "limber/result/recording.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

#include "limber/result/files.h"
#include "limber/result/frame_record.h"

namespace limber::result {
namespace {

std::string sizes(const Layout& layout) {
  return std::to_string(layout.frames.size()) + " frames, " + std::to_string(layout.point_count()) +
         " points, " + std::to_string(layout.scalars.size()) + " scalars";
}

// A writer killed while it wrote the head leaves a beginning of it and no frame.
bool holds_only_part_of(const File& file, const std::vector<std::byte>& head) {
  const std::uint64_t size = file.size();
  if (size >= head.size()) return false;
  std::vector<std::byte> present(static_cast<std::size_t>(size));
  return file.read_at(0, present.data(), present.size()) == present.size() &&
         std::equal(present.begin(), present.end(), head.begin());
}

bool holds(const File& file, std::uint64_t offset, const std::vector<std::byte>& expected) {
  std::array<std::byte, 4096> chunk;
  for (std::size_t done = 0; done < expected.size();) {
    const std::size_t part = std::min(chunk.size(), expected.size() - done);
    if (file.read_at(offset + done, chunk.data(), part) < part) return false;
    if (std::memcmp(chunk.data(), expected.data() + done, part) != 0) return false;
    done += part;
  }
  return true;
}

}  // namespace

struct RecordingWriter::Impl {
  File file;
  Layout layout;
  std::uint64_t begin = 0;  // of the first frame
  std::uint64_t frames = 0;
  std::vector<std::byte> record;

  Impl(File f, Layout l) : file(std::move(f)), layout(std::move(l)), record(frame_record_size(layout)) {}

  std::uint64_t offset(std::uint64_t index) const { return begin + index * record.size(); }

  // All of `bytes` at the end, or the file as it was.
  void write_or_undo(std::uint64_t at, const std::vector<std::byte>& bytes) {
    try {
      file.write_at(at, bytes.data(), bytes.size());
    } catch (const IoError&) {
      // A part that cannot be cut off is a torn tail; the next write or reopen() replaces it.
      try {
        file.truncate(at);
      } catch (const IoError&) {
      }
      throw;
    }
  }

  void write_head(const std::vector<std::byte>& head) {
    write_or_undo(0, head);
    file.sync();
    sync_folder(folder_of(file.path()));
    begin = head.size();
  }
};

RecordingWriter::RecordingWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RecordingWriter::RecordingWriter(RecordingWriter&&) noexcept = default;
RecordingWriter& RecordingWriter::operator=(RecordingWriter&&) noexcept = default;
RecordingWriter::~RecordingWriter() = default;

RecordingWriter RecordingWriter::create(const std::filesystem::path& path, const Layout& layout) {
  // Before the file exists: throws for a layout that cannot be stored.
  const std::vector<std::byte> head = encode_head(layout);
  frame_record_size(layout);
  auto impl = std::make_unique<Impl>(File(path, O_RDWR | O_CREAT | O_EXCL), layout);
  try {
    impl->file.lock();
    impl->write_head(head);
  } catch (const IoError&) {
    ::unlink(path.c_str());
    throw;
  }
  return RecordingWriter(std::move(impl));
}

RecordingWriter RecordingWriter::reopen(const std::filesystem::path& path, const Layout& layout) {
  const std::vector<std::byte> expected = encode_head(layout);
  auto impl = std::make_unique<Impl>(File(path, O_RDWR), layout);
  impl->file.lock();
  if (holds_only_part_of(impl->file, expected)) {
    impl->write_head(expected);
    return RecordingWriter(std::move(impl));
  }
  const Head head = read_head(impl->file);
  if (head.end != expected.size() || !holds(impl->file, 0, expected))
    throw OtherRun(path, "was recorded with another layout (" + sizes(head.layout) + ", this run has " +
                             sizes(layout) + ")");
  impl->begin = head.end;
  const Frames frames = check_frames(impl->file, head.end, impl->record.size());
  impl->frames = frames.count;
  if (frames.torn) impl->file.truncate(impl->offset(frames.count));
  return RecordingWriter(std::move(impl));
}

std::uint64_t RecordingWriter::frame_count() const { return impl_->frames; }

void RecordingWriter::append(std::uint64_t index, const Snapshot& snapshot) {
  Impl& w = *impl_;
  if (index > w.frames)
    throw std::invalid_argument("index: expected at most " + std::to_string(w.frames) +
                                ", the next frame, got " + std::to_string(index));
  encode_frame(index, snapshot, w.layout, w.record);
  if (index < w.frames) {
    if (!holds(w.file, w.offset(index), w.record))
      throw OtherRun(w.file.path(),
                     "frame " + std::to_string(index) +
                         " differs from the one recorded earlier; the run cannot be continued");
    return;
  }
  w.write_or_undo(w.offset(index), w.record);
  ++w.frames;
}

void RecordingWriter::sync() { impl_->file.sync(false); }

struct RecordingReader::Impl {
  File file;
  Head head;
  Frames frames;
  std::vector<std::byte> record;
};

RecordingReader::RecordingReader(const std::filesystem::path& path) {
  File file(path, O_RDONLY);
  Head head = read_head(file);
  const std::size_t record_size = frame_record_size(head.layout);
  const Frames frames = check_frames(file, head.end, record_size);
  impl_ = std::make_unique<Impl>(Impl{std::move(file), std::move(head), frames, {}});
  // A layout may announce any size; only a frame that is there is worth the memory.
  if (frames.count > 0) impl_->record.resize(record_size);
}

RecordingReader::RecordingReader(RecordingReader&&) noexcept = default;
RecordingReader::~RecordingReader() = default;

const Layout& RecordingReader::layout() const { return impl_->head.layout; }
std::uint64_t RecordingReader::frame_count() const { return impl_->frames.count; }
bool RecordingReader::torn() const { return impl_->frames.torn; }

void RecordingReader::read(std::uint64_t index, Snapshot& snapshot) {
  Impl& r = *impl_;
  if (index >= r.frames.count)
    throw std::invalid_argument("index: expected less than " + std::to_string(r.frames.count) + ", got " +
                                std::to_string(index));
  const std::uint64_t offset = r.head.end + index * r.record.size();
  if (r.file.read_at(offset, r.record.data(), r.record.size()) < r.record.size() ||
      !valid_frame(r.record.data(), r.record.size(), index))
    throw IoError(r.file.path(), "record " + std::to_string(index + 1) + " at byte " +
                                     std::to_string(offset) + " is damaged");
  decode_frame(r.record.data(), r.head.layout, snapshot);
}

}  // namespace limber::result
