#include "limber/result/frame_record.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "limber/result/layout_json.h"

namespace limber::result {
namespace {

static_assert(std::endian::native == std::endian::little, "the frames file is little endian");
static_assert(sizeof(Vec3) == 3 * sizeof(double));

constexpr std::size_t payload_head = sizeof(std::uint64_t) + sizeof(double);  // index, time
constexpr std::uint64_t largest_layout = std::uint64_t{1} << 30;
constexpr std::size_t scan_buffer = std::size_t{1} << 20;

class Writer {
 public:
  explicit Writer(std::byte* at) : at_(at) {}
  void put(const void* data, std::size_t size) {
    if (size > 0) std::memcpy(at_, data, size);
    at_ += size;
  }
  void put(double x) { put(&x, sizeof x); }

 private:
  std::byte* at_;
};

class Reader {
 public:
  explicit Reader(const std::byte* at) : at_(at) {}
  void get(void* data, std::size_t size) {
    if (size > 0) std::memcpy(data, at_, size);
    at_ += size;
  }
  double get() {
    double x;
    get(&x, sizeof x);
    return x;
  }

 private:
  const std::byte* at_;
};

RecordHeader header_of(RecordKind kind, const std::byte* payload, std::size_t length) {
  return {static_cast<std::uint32_t>(kind), crc32c(payload, length), length};
}

void expect_size(const char* what, std::size_t expected, std::size_t came) {
  if (expected != came)
    throw std::invalid_argument(std::string("snapshot: expected ") + std::to_string(expected) + " " + what +
                                " as in the layout, got " + std::to_string(came));
}

[[noreturn]] void damaged(const File& file, std::uint64_t record, std::uint64_t offset) {
  throw IoError(file.path(),
                "record " + std::to_string(record) + " at byte " + std::to_string(offset) + " is damaged");
}

bool all_zero(const std::byte* data, std::size_t size) {
  return std::all_of(data, data + size, [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace

std::size_t frame_record_size(const Layout& layout) {
  // No overflow: every count is bounded by memory or, for a file's layout, by 2³¹ points a polyline of ≥ 30
  // bytes JSON.
  const std::uint64_t doubles = 7 * std::uint64_t{layout.frames.size()} +
                                3 * std::uint64_t{layout.point_count()} +
                                std::uint64_t{layout.scalars.size()} +
                                (layout.frame_value.empty() ? 0 : std::uint64_t{layout.frames.size()});
  const std::uint64_t size = sizeof(RecordHeader) + payload_head + sizeof(double) * doubles;
  if (size > largest_record) throw std::invalid_argument("layout: a frame would take more than 4 GiB");
  return static_cast<std::size_t>(size);
}

void encode_frame(std::uint64_t index, const Snapshot& snapshot, const Layout& layout,
                  std::vector<std::byte>& record) {
  expect_size("rotations", layout.frames.size(), snapshot.rotations.size());
  expect_size("positions", layout.frames.size(), snapshot.positions.size());
  expect_size("points", layout.point_count(), snapshot.points.size());
  expect_size("scalars", layout.scalars.size(), snapshot.scalars.size());
  expect_size("values", layout.frame_value.empty() ? 0 : layout.frames.size(), snapshot.values.size());
  std::byte* payload = record.data() + sizeof(RecordHeader);
  Writer out(payload);
  out.put(&index, sizeof index);
  out.put(snapshot.time);
  for (const Quat& q : snapshot.rotations) {
    out.put(q.w());
    out.put(q.x());
    out.put(q.y());
    out.put(q.z());
  }
  out.put(snapshot.positions.data(), snapshot.positions.size() * sizeof(Vec3));
  out.put(snapshot.points.data(), snapshot.points.size() * sizeof(Vec3));
  out.put(snapshot.scalars.data(), snapshot.scalars.size() * sizeof(double));
  out.put(snapshot.values.data(), snapshot.values.size() * sizeof(double));
  const RecordHeader header = header_of(RecordKind::frame, payload, record.size() - sizeof(RecordHeader));
  std::memcpy(record.data(), &header, sizeof header);
}

bool valid_frame(const std::byte* record, std::size_t record_size, std::uint64_t index) {
  RecordHeader header;
  std::memcpy(&header, record, sizeof header);
  const std::byte* payload = record + sizeof header;
  std::uint64_t stored_index;
  std::memcpy(&stored_index, payload, sizeof stored_index);
  return header.kind == static_cast<std::uint32_t>(RecordKind::frame) &&
         header.length == record_size - sizeof header && stored_index == index &&
         header.crc == crc32c(payload, record_size - sizeof header);
}

void decode_frame(const std::byte* record, const Layout& layout, Snapshot& snapshot) {
  snapshot.resize(layout);
  Reader in(record + sizeof(RecordHeader) + sizeof(std::uint64_t));
  snapshot.time = in.get();
  for (Quat& q : snapshot.rotations) {
    q.w() = in.get();
    q.x() = in.get();
    q.y() = in.get();
    q.z() = in.get();
  }
  in.get(snapshot.positions.data(), snapshot.positions.size() * sizeof(Vec3));
  in.get(snapshot.points.data(), snapshot.points.size() * sizeof(Vec3));
  in.get(snapshot.scalars.data(), snapshot.scalars.size() * sizeof(double));
  in.get(snapshot.values.data(), snapshot.values.size() * sizeof(double));
}

std::vector<std::byte> encode_head(const Layout& layout) {
  const std::string text = layout_to_json(layout);
  const auto* payload = reinterpret_cast<const std::byte*>(text.data());
  const RecordHeader header = header_of(RecordKind::layout, payload, text.size());
  std::vector<std::byte> head(magic_size + sizeof header + text.size());
  Writer out(head.data());
  out.put(file_magic, magic_size);
  out.put(&header, sizeof header);
  out.put(payload, text.size());
  return head;
}

Head read_head(const File& file) {
  const std::uint64_t size = file.size();
  char magic[magic_size];
  RecordHeader header;
  if (file.read_at(0, magic, magic_size) < magic_size || std::memcmp(magic, file_magic, magic_size) != 0)
    throw IoError(file.path(), "not a file of limber's frames");
  if (file.read_at(magic_size, &header, sizeof header) < sizeof header)
    throw IoError(file.path(), "ends before its layout does");

  // Lengths are believed only as far as the file reaches.
  const std::uint64_t begin = magic_size + sizeof header;
  if (header.kind != static_cast<std::uint32_t>(RecordKind::layout)) damaged(file, 0, magic_size);
  if (size < begin || header.length > size - begin) throw IoError(file.path(), "ends before its layout does");
  if (header.length > largest_layout) throw IoError(file.path(), "its layout takes more than 1 GiB");
  std::string text(static_cast<std::size_t>(header.length), '\0');
  if (file.read_at(begin, text.data(), text.size()) < text.size())
    throw IoError(file.path(), "ends before its layout does");
  if (header.crc != crc32c(text.data(), text.size())) damaged(file, 0, magic_size);
  try {
    Head head{layout_from_json(text), begin + header.length};
    frame_record_size(head.layout);
    return head;
  } catch (const std::invalid_argument& error) {
    throw IoError(file.path(), std::string("its layout cannot be understood: ") + error.what());
  }
}

Frames check_frames(const File& file, std::uint64_t begin, std::size_t record_size) {
  const std::uint64_t size = std::max(file.size(), begin);
  const std::uint64_t records = (size - begin) / record_size;  // room for so many
  const std::uint64_t batch = std::max<std::uint64_t>(1, scan_buffer / record_size);
  std::vector<std::byte> buffer(static_cast<std::size_t>(std::min(records, batch)) * record_size);

  std::optional<std::uint64_t> bad;
  for (std::uint64_t first = 0; first < records; first += batch) {
    const auto count = static_cast<std::size_t>(std::min(batch, records - first));
    const std::uint64_t offset = begin + first * record_size;
    if (file.read_at(offset, buffer.data(), count * record_size) < count * record_size)
      throw IoError(file.path(), "became shorter while it was read");
    for (std::size_t k = 0; k < count; ++k) {
      const std::byte* record = buffer.data() + k * record_size;
      if (bad) {
        if (!all_zero(record, record_size)) damaged(file, *bad + 1, begin + *bad * record_size);
      } else if (!valid_frame(record, record_size, first + k)) {
        bad = first + k;
      }
    }
  }

  // What remains is shorter than a record.
  const std::uint64_t end = begin + records * record_size;
  if (bad && end < size) {
    buffer.resize(static_cast<std::size_t>(size - end));
    if (!all_zero(buffer.data(), file.read_at(end, buffer.data(), buffer.size())))
      damaged(file, *bad + 1, begin + *bad * record_size);
  }
  return {bad.value_or(records), bad.has_value() || end < size};
}

}  // namespace limber::result
