#include "limber/result/touch.h"

#include <fcntl.h>

#include <cstring>
#include <string>

#include "limber/result/frame_record.h"

namespace limber::result {
namespace {

constexpr char touch_magic[] = "LIMBTCH1";
constexpr std::uint64_t place_size = 2 * sizeof(std::int32_t) + 6 * sizeof(double);
constexpr std::uint64_t index_size = sizeof(std::uint64_t);
constexpr std::uint32_t touch_kind = 3;

// Where each whole record begins, in order, and where the last one ends. What follows is torn.
struct Records {
  std::vector<std::uint64_t> offsets;
  std::uint64_t end = magic_size;
};

// Lengths are believed only as far as the file reaches.
bool read_record(const File& file, std::uint64_t at, std::uint64_t size, std::uint64_t index,
                 std::vector<std::byte>& record) {
  RecordHeader header;
  if (size - at < sizeof header || file.read_at(at, &header, sizeof header) < sizeof header) return false;
  if (header.kind != touch_kind || header.length < index_size || header.length > size - at - sizeof header ||
      (header.length - index_size) % place_size != 0)
    return false;
  record.resize(static_cast<std::size_t>(header.length));
  if (file.read_at(at + sizeof header, record.data(), record.size()) < record.size()) return false;
  std::uint64_t stored = 0;
  std::memcpy(&stored, record.data(), sizeof stored);
  return stored == index && header.crc == crc32c(record.data(), record.size());
}

Records records_of(const File& file, std::uint64_t most) {
  Records out;
  char magic[magic_size];
  if (file.read_at(0, magic, magic_size) < magic_size || std::memcmp(magic, touch_magic, magic_size) != 0)
    throw IoError(file.path(), "not a file of limber's places of contact");
  std::vector<std::byte> record;
  const std::uint64_t size = file.size();
  while (out.offsets.size() < most && read_record(file, out.end, size, out.offsets.size(), record)) {
    out.offsets.push_back(out.end);
    out.end += sizeof(RecordHeader) + record.size();
  }
  return out;
}

void put(std::vector<std::byte>& out, const void* data, std::size_t size) {
  const auto* bytes = static_cast<const std::byte*>(data);
  out.insert(out.end(), bytes, bytes + size);
}

}  // namespace

TouchWriter::TouchWriter(const std::filesystem::path& path, std::uint64_t frames)
    : file_(path, O_RDWR | O_CREAT), count_(frames) {
  if (frames == 0) {
    file_.truncate(0);
    file_.write_at(0, touch_magic, magic_size);
    end_ = magic_size;
    return;
  }
  const Records known = records_of(file_, frames);
  if (known.offsets.size() < frames)
    throw IoError(path, "has " + std::to_string(known.offsets.size()) + " whole records, expected " +
                            std::to_string(frames));
  file_.truncate(known.end);
  end_ = known.end;
}

void TouchWriter::append(const Touches& touches) {
  record_.resize(sizeof(RecordHeader));
  put(record_, &count_, sizeof count_);
  for (const Touch& t : touches) {
    const std::int32_t sides[] = {t.a, t.b};
    put(record_, sides, sizeof sides);
    put(record_, t.at.data(), sizeof(Vec3));
    put(record_, t.force.data(), sizeof(Vec3));
  }
  const std::size_t length = record_.size() - sizeof(RecordHeader);
  const RecordHeader header{touch_kind, crc32c(record_.data() + sizeof(RecordHeader), length), length};
  std::memcpy(record_.data(), &header, sizeof header);
  file_.write_at(end_, record_.data(), record_.size());
  end_ += record_.size();
  ++count_;
}

TouchReader::TouchReader(const std::filesystem::path& path) : file_(path, O_RDONLY) {
  offsets_ = records_of(file_, UINT64_MAX).offsets;
}

void TouchReader::read(std::uint64_t index, Touches& out) {
  if (index >= offsets_.size() || !read_record(file_, offsets_[index], file_.size(), index, record_))
    throw IoError(file_.path(), "record " + std::to_string(index) + " is damaged or missing");
  out.resize((record_.size() - index_size) / place_size);
  const std::byte* from = record_.data() + index_size;
  const auto get = [&](void* data, std::size_t size) {
    std::memcpy(data, from, size);
    from += size;
  };
  for (Touch& t : out) {
    std::int32_t sides[2];
    get(sides, sizeof sides);
    t.a = sides[0], t.b = sides[1];
    get(t.at.data(), sizeof(Vec3));
    get(t.force.data(), sizeof(Vec3));
  }
}

}  // namespace limber::result
