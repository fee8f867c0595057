#include "limber/sim/checkpoint.h"

#include <bit>
#include <cstring>
#include <stdexcept>

#include "limber/result/recording.h"

namespace limber::sim {

namespace {

static_assert(std::endian::native == std::endian::little, "files are little endian");
constexpr char tag[] = "LIMBCHK2";
constexpr std::size_t tag_size = 8;

class Writer {
 public:
  template <class T>
  void put(T value) {
    static_assert(std::is_arithmetic_v<T>);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put(const std::string& text) {
    put<std::uint64_t>(text.size());
    bytes += text;
  }
  std::string bytes;
};

class Reader {
 public:
  Reader(const std::string& bytes, std::size_t begin, std::size_t end)
      : bytes_(bytes), at_(begin), end_(end) {}
  template <class T>
  T get() {
    T value;
    std::memcpy(&value, take(sizeof value), sizeof value);
    return value;
  }
  std::string get_string() {
    const auto size = get<std::uint64_t>();
    const char* data = take(size);
    return {data, size};
  }
  bool at_end() const { return at_ == end_; }

 private:
  const char* take(std::size_t size) {
    if (size > end_ - at_) throw std::invalid_argument("it ends too early");
    const char* data = bytes_.data() + at_;
    at_ += size;
    return data;
  }
  const std::string& bytes_;
  std::size_t at_, end_;
};

}  // namespace

std::string encode(const Checkpoint& c) {
  Writer w;
  w.bytes.assign(tag, tag_size);
  w.put(c.hash);
  w.put(c.step);
  w.put(c.frames);
  w.put(c.wall_seconds);
  w.put(c.saved);
  w.put(c.report.time);
  w.put<std::int64_t>(c.report.iterations);
  w.put<std::int64_t>(c.report.total_iterations);
  w.put<std::int64_t>(c.report.steps);
  w.put<std::int64_t>(c.report.substeps);
  w.put(c.report.residual);
  w.put(c.report.loop_gap);
  w.put<std::int64_t>(c.report.redundant_rows);
  w.put(c.report.redundant);
  w.put<std::int64_t>(c.report.solver_iterations);
  w.put(c.report.worst);
  w.put(c.report.warning);
  w.put(c.state);
  w.put<std::uint32_t>(result::crc32c(w.bytes.data(), w.bytes.size()));
  return std::move(w.bytes);
}

Checkpoint decode(const std::string& bytes) {
  if (bytes.size() < tag_size + sizeof(std::uint32_t)) throw std::invalid_argument("it ends too early");
  if (bytes.compare(0, tag_size, tag) != 0)
    throw std::invalid_argument("it is no checkpoint of this version");
  const std::size_t end = bytes.size() - sizeof(std::uint32_t);
  const auto crc = Reader(bytes, end, bytes.size()).get<std::uint32_t>();
  if (crc != result::crc32c(bytes.data(), end)) throw std::invalid_argument("its checksum is wrong");

  Reader r(bytes, tag_size, end);
  Checkpoint c;
  c.hash = r.get<std::uint64_t>();
  c.step = r.get<std::int64_t>();
  c.frames = r.get<std::uint64_t>();
  c.wall_seconds = r.get<double>();
  c.saved = r.get<std::uint64_t>();
  c.report.time = r.get<double>();
  c.report.iterations = static_cast<int>(r.get<std::int64_t>());
  c.report.total_iterations = static_cast<long>(r.get<std::int64_t>());
  c.report.steps = static_cast<long>(r.get<std::int64_t>());
  c.report.substeps = static_cast<long>(r.get<std::int64_t>());
  c.report.residual = r.get<double>();
  c.report.loop_gap = r.get<double>();
  c.report.redundant_rows = static_cast<int>(r.get<std::int64_t>());
  c.report.redundant = r.get_string();
  c.report.solver_iterations = static_cast<int>(r.get<std::int64_t>());
  c.report.worst = r.get_string();
  c.report.warning = r.get_string();
  c.state = r.get_string();
  if (!r.at_end()) throw std::invalid_argument("it has bytes too many");
  return c;
}

void write_checkpoint(const std::filesystem::path& file, const Checkpoint& checkpoint) {
  result::write_atomically(file, encode(checkpoint));
}

std::uint64_t fnv1a(const std::string& bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace limber::sim
